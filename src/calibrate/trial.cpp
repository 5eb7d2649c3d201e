// SPDX-License-Identifier: Apache-2.0
#include "calibrate/trial.h"

#include <algorithm>
#include <cmath>

#include "calibrate/margin.h"
#include "curve/curve_state.h"
#include "loss/work.h"
#include "numeric/arithmetic.h"
#include "numeric/number_text.h"
#include "numeric/rational.h"
#include "plan/number.h"
#include "plan/unknown.h"
#include "plan/vocabulary.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

/// Whether the plan is Gaussian noise whose exact mu is at most the stated one. [gaussian-loss]
bool has_exact_mu(const Plan& plan, const Curve& curve, const StatedTarget& target) {
  const auto* wanted = std::get_if<MuTarget>(&target.target);
  if (wanted == nullptr || target.words.empty() || !loss_of(curve)->gaussian_mu()) return false;
  const auto rho = exact_rho(plan, vocabulary());
  if (!rho || !rho->is_exact) return false;
  const auto mu = exact_rational(target.words.front().second), square = product(mu, mu), own = product(rho->value, 2);
  return square && own && compare(*own, *square) <= 0;
}

}  // namespace

Outcome Trial::at(double value) const { return at(numeric::to_text_below(value)); }

Outcome Trial::at(const std::string& text) const {
  if (const auto known = known_.find(text); known != known_.end()) return known->second;
  const Recording own(Recording::When::if_wanted);
  const std::uint64_t begin = Work::now();
  const Plan plan = substitute(plan_, read_number(text));
  const Outcome found = of([&](Tolerance tolerance) { return analyze(plan, neighbours_, tolerance); }, &plan, rough_first_);
  most_work_ = std::max(most_work_, Work::since(begin));
  if (!own.citations().empty()) bases_.emplace_back(text, own.citations());
  known_.emplace(text, found);
  return found;
}

void Trial::record_proof(const std::vector<std::string>& decimals) const {
  for (const auto& [text, basis] : bases_)
    if (std::find(decimals.begin(), decimals.end(), text) != decimals.end()) record(basis);
}

Outcome Trial::of(const Plan& plan) const {
  RoughFirst always;
  return of([&](Tolerance tolerance) { return analyze(plan, neighbours_, tolerance); }, &plan, always);
}

Outcome Trial::of(const std::function<Curve(Tolerance)>& make) const {
  RoughFirst always;
  return of(make, nullptr, always);
}

Outcome Trial::of(const std::function<Curve(Tolerance)>& make, const Plan* plan, RoughFirst& rough_first) const {
  constexpr Tolerance rough{0.1};
  constexpr double sure = 0.2;                       // a larger share of the distance from the target would mislead the search
  constexpr double sharp = 1e-11;                    // no other answer would be better
  constexpr double nearly_sharp = 1e-9, slow = 2e4;  // the latter in the units of loss/work.h: a sharp answer would take longer still
  if (tolerance_.relative < rough.relative && rough_first.helps()) {
    const RecordedSince before;
    const std::uint64_t begin = Work::now();
    const Outcome found = of(make, plan, rough);
    const bool decides = found.meets || found.fails;
    if (found.doubt <= sharp || (decides && found.doubt <= sure * std::abs(found.excess))) return found;
    if (decides && found.doubt <= nearly_sharp && Work::since(begin) > slow) return found;
    static_cast<void>(before.take_out());
    const double in_vain = Work::since(begin);
    const std::uint64_t begin_sharp = Work::now();
    const Outcome answer = of(make, plan, tolerance_);
    rough_first.was_in_vain(in_vain, Work::since(begin_sharp));
    return answer;
  }
  return of(make, plan, tolerance_);
}

Outcome Trial::of(const std::function<Curve(Tolerance)>& make, const Plan* plan, Tolerance tolerance) const {
  Outcome all{true, false, -infinity, 0};
  try {
    const Curve curve = make(tolerance);
    for (const StatedTarget& target : targets_) {
      const Margin margin = margin_of(curve, target.target);
      all.meets =
          all.meets && (margin.meets() ||
                        (!margin.fails() && (is_exactly_met(curve, target) || (plan != nullptr && has_exact_mu(*plan, curve, target)))));
      all.fails = all.fails || margin.fails();
      if (all.excess >= margin.excess()) continue;
      all.excess = margin.excess();
      all.doubt = margin.doubt();
    }
  } catch (const TooLargeError& error) {
    too_large_ = error.what();
    return {false, false, 0, 0};
  }
  return all;
}

}  // namespace tradeoff::detail
