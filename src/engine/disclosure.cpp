// SPDX-License-Identifier: Apache-2.0
#include "engine/disclosure.h"

#include <algorithm>
#include <utility>

#include "loss/atoms.h"
#include "loss/evaluation.h"
#include "numeric/arithmetic.h"

namespace tradeoff::detail {
namespace {

bool reveals_all_or_nothing(const Part& part) {
  const Atoms* atoms = part.loss->atoms(Direction::remove);
  return atoms != nullptr && atoms->mirrored &&
         std::all_of(atoms->finite.begin(), atoms->finite.end(), [](const Atom& atom) { return atom.loss == Interval::exactly(0); });
}

// [revealing-composition] delta = d + (1 - d) delta_base at every epsilon, beta(a) = (1 - d) beta_base(a / (1 - d)).
class DisclosureLoss final : public Loss, public ClosedForms, public Evaluable {
 public:
  DisclosureLoss(LossPointer base, Interval probability) : base_(std::move(base)), revealed_(probability), kept_(1.0 - probability) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    return by_split(clamp(revealed_ + kept_ * base_->delta(direction, epsilon), 0, 1));
  }
  [[nodiscard]] std::optional<double> rough_delta(Direction direction, double epsilon) const override {
    return revealed_.hi + kept_.hi * base_->rough_delta(direction, epsilon);
  }
  [[nodiscard]] std::optional<Interval> log_complement(Direction direction, double epsilon) const override {
    return by_split(log(kept_) + base_->log_complement(direction, epsilon));
  }
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.closed_forms = this, .evaluable = this, .cost = base_->cost()};
  }
  [[nodiscard]] bool symmetric() const override { return base_->symmetric(); }
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override {
    if (!(delta.lo > revealed_.hi)) return std::nullopt;
    return by_split(base_->closed_epsilon(direction, clamp((delta - revealed_) / kept_, 0, 1)));
  }
  [[nodiscard]] std::optional<Interval> closed_beta(Direction direction, Interval alpha) const override {
    if (alpha.lo >= kept_.hi) return by_split(Interval::exactly(0));
    const auto base = base_->closed_beta(direction, clamp(alpha / kept_, 0, 1));
    if (!base) return std::nullopt;
    return by_split(kept_ * *base);
  }
  [[nodiscard]] std::optional<Test> test_at(Direction direction, double epsilon) const override {
    const auto base = base_->test_at(direction, epsilon);
    if (!base) return std::nullopt;
    return by_split(Test{kept_ * base->false_positive, revealed_ + kept_ * base->true_positive});
  }
  void cite() const override {
    base_->cite();
    record(split());
  }
  /// The description of the base: its errors, relative to delta, are scaled by the share of the base in delta.
  void evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const override {
    for (Evaluation& one : evaluations_of(*base_, direction, epsilon)) {
      const Interval of_base = log(kept_) + one.log_delta;
      one.log_delta = log_add_exp(of_base, log(revealed_));
      const bool resolved = of_base.lo > -infinity;
      if (!resolved) one.errors.clear();  // they would be relative to 0
      const double share = resolved ? exp(Interval::exactly(of_base.lo) - one.log_delta.lo).hi : 0;
      for (auto& [name, error] : one.errors) error = numeric::multiply_up(error, share);
      found.push_back(balanced(std::move(one), resolved ? "rounding" : "unresolved"));
    }
    record(split());
  }

 private:
  [[nodiscard]] static const Citation& split() {
    static const Citation citation("revealing-composition", "what may reveal everything is split off and multiplied exactly");
    return citation;
  }
  template <class Value>
  [[nodiscard]] static Value by_split(Value value) {
    record(split());
    return value;
  }

  LossPointer base_;
  Interval revealed_;
  Interval kept_;
};

}  // namespace

Interval split_off_disclosure(Parts& parts) {
  Interval log_kept = Interval::exactly(0);
  Parts others;
  for (Part& part : parts) {
    if (reveals_all_or_nothing(part))
      log_kept = log_kept + Interval::exactly(static_cast<double>(part.times)) * log1p(-part.loss->infinite_mass(Direction::remove));
    else
      others.push_back(std::move(part));
  }
  parts = std::move(others);
  return clamp(-expm1(log_kept), 0, 1);
}

LossPointer disclosure_loss(LossPointer base, Interval probability) {
  if (probability.hi == 0) return base;
  return std::make_shared<DisclosureLoss>(std::move(base), probability);
}

}  // namespace tradeoff::detail
