// SPDX-License-Identifier: Apache-2.0
#include "accountant.h"

#include <limits>

#include "tradeoff/analyze.h"
#include "tradeoff/gdp.h"
#include "tradeoff/operations.h"

namespace tradeoff::detail::breaker {
namespace {

class CurveAnswers final : public Answers {
 public:
  explicit CurveAnswers(Curve curve) : curve_(std::move(curve)) {}
  [[nodiscard]] Interval delta(double epsilon, Direction direction) const override {
    return curve_.delta_at(Interval::exactly(epsilon), direction);
  }
  [[nodiscard]] Interval log_delta(double epsilon, Direction direction) const override {
    return curve_.log_delta_at(Interval::exactly(epsilon), direction);
  }
  [[nodiscard]] Interval epsilon(double delta, Direction direction) const override {
    return curve_.epsilon_at(Interval::exactly(delta), direction);
  }
  [[nodiscard]] Interval beta(double alpha, Direction direction) const override {
    return curve_.beta_at(Interval::exactly(alpha), direction);
  }
  [[nodiscard]] Interval mu() const override { return measure_mu(curve_).mu; }
  [[nodiscard]] Claims claims(const ClaimsAt& at) const override {
    const Posterior posterior = curve_.posterior_at(Interval::exactly(at.prior));
    const Interval none{0, std::numeric_limits<double>::infinity()};
    return {curve_.advantage(),
            curve_.tpr_at(Interval::exactly(at.false_positives)),
            posterior.accuracy,
            posterior.largest,
            naming_chance(curve_, at.people),
            odds_factor(curve_, Interval::exactly(at.chance)),
            at.slack > 0 ? measure_mu(curve_, {Interval::exactly(at.slack)}).with_slack.front().mu : none};
  }

 private:
  Curve curve_;
};

class Library final : public Accountant {
 public:
  [[nodiscard]] AnswersPointer analyze(const Plan& plan, Neighbours neighbours, Tolerance tolerance) const override {
    return std::make_shared<CurveAnswers>(tradeoff::analyze(plan, neighbours, tolerance));
  }
  [[nodiscard]] AnswersPointer extended(const Plan& first, const Plan& more, Neighbours neighbours, Tolerance tolerance) const override {
    return std::make_shared<CurveAnswers>(extend(tradeoff::analyze(first, neighbours, tolerance), more));
  }
  [[nodiscard]] AnswersPointer multiplied(const Plan& one, const Plan& other, Neighbours neighbours, Tolerance tolerance) const override {
    return std::make_shared<CurveAnswers>(
        product({tradeoff::analyze(one, neighbours, tolerance), tradeoff::analyze(other, neighbours, tolerance)}));
  }
};

}  // namespace

const Accountant& library() {
  static const Library accountant;
  return accountant;
}

}  // namespace tradeoff::detail::breaker
