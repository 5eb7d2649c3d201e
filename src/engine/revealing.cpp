// SPDX-License-Identifier: Apache-2.0
#include "engine/revealing.h"

#include <algorithm>
#include <utility>

#include "mechanism/atoms.h"
#include "numeric/arithmetic.h"

namespace tradeoff {
namespace {

bool reveals_all_or_nothing(const Part& part) {
  const Atoms* atoms = part.loss->atoms(Direction::remove);
  return atoms != nullptr && atoms->mirrored &&
         std::all_of(atoms->finite.begin(), atoms->finite.end(), [](const Atom& atom) { return atom.loss == Interval::exactly(0); });
}

// [revealing-composition] delta = d + (1 - d) delta_base at every epsilon, beta(a) = (1 - d) beta_base(a / (1 - d)).
class RevealingLoss final : public Loss {
 public:
  RevealingLoss(LossPointer base, Interval probability) : base_(std::move(base)), revealed_(probability), kept_(1.0 - probability) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    return clamp(revealed_ + kept_ * base_->delta(direction, epsilon), 0, 1);
  }
  [[nodiscard]] bool symmetric() const override { return base_->symmetric(); }
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override {
    if (!(delta.lo > revealed_.hi)) return std::nullopt;
    return base_->closed_epsilon(direction, clamp((delta - revealed_) / kept_, 0, 1));
  }
  [[nodiscard]] std::optional<Interval> closed_beta(Direction direction, Interval alpha) const override {
    if (alpha.lo >= kept_.hi) return Interval::exactly(0);
    const auto base = base_->closed_beta(direction, clamp(alpha / kept_, 0, 1));
    if (!base) return std::nullopt;
    return kept_ * *base;
  }
  [[nodiscard]] std::optional<Test> test_at(Direction direction, double epsilon) const override {
    const auto base = base_->test_at(direction, epsilon);
    if (!base) return std::nullopt;
    return Test{kept_ * base->false_positive, revealed_ + kept_ * base->true_positive};
  }
  void explain(std::vector<Step>& steps) const override {
    base_->explain(steps);
    steps.push_back({"revealing-composition", "what may reveal everything is split off and multiplied exactly"});
  }

 private:
  LossPointer base_;
  Interval revealed_;
  Interval kept_;
};

}  // namespace

Interval take_revealing(Parts& parts) {
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

LossPointer revealing_loss(LossPointer base, Interval probability) {
  if (probability.hi == 0) return base;
  return std::make_shared<RevealingLoss>(std::move(base), probability);
}

}  // namespace tradeoff
