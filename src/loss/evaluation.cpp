// SPDX-License-Identifier: Apache-2.0
#include "loss/evaluation.h"

#include <cmath>

#include "numeric/arithmetic.h"

namespace tradeoff::detail {

std::vector<Evaluation> evaluations_of(const Loss& loss, Direction direction, double epsilon) {
  std::vector<Evaluation> found;
  if (const Evaluable* engine = loss.capabilities(direction).evaluable)
    engine->evaluate(direction, epsilon, found);
  else
    found.push_back(balanced(whole_evaluation(loss, direction, epsilon), "rounding"));
  return found;
}

Evaluation whole_evaluation(const Loss& loss, Direction direction, double epsilon) {
  const Recording own;
  const Interval log_delta = loss.log_delta(direction, Interval::exactly(epsilon));
  own.pass_on();
  return {own.citations().empty() ? "" : own.citations().back().step().theorem, direction, epsilon, log_delta};
}

Evaluation balanced(Evaluation evaluation, const std::string& remainder) {
  double sum = 0;
  for (auto& [name, error] : evaluation.errors) {
    if (!(error >= 0)) error = infinity;  // NaN means that nothing is known
    sum = numeric::add_up(sum, error);
  }
  Interval& log = evaluation.log_delta;
  const double width = log.lo == log.hi ? 0 : log.lo > -infinity ? expm1(Interval::exactly(log.hi) - log.lo).lo : infinity;
  if (sum > width)
    log.hi = log.lo > -infinity && sum < infinity ? (Interval::exactly(log.lo) + log1p(Interval::exactly(sum))).hi : infinity;
  else if (!remainder.empty())
    evaluation.errors.emplace_back(remainder, width - sum > 0 ? (width < infinity ? (width - sum) * (1 - 0x1p-50) : infinity) : 0);
  if (sum == infinity) log.lo = -infinity;
  return evaluation;
}

}  // namespace tradeoff::detail
