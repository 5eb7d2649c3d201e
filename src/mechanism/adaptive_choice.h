// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "loss/forwarding_loss.h"

namespace tradeoff::detail {

/// One use of an adaptive mechanism, seen as a fixed pair: one that dominates each of its pairs, or one of them. [adaptive-block]
class AdaptiveChoice final : public ForwardingLoss {
 public:
  AdaptiveChoice(LossPointer pair, std::shared_ptr<const AdaptiveUses> uses) : pair_(std::move(pair)), uses_(std::move(uses)) {}

  [[nodiscard]] Capabilities capabilities(Direction direction) const override {
    Capabilities known = ForwardingLoss::capabilities(direction);
    known.adaptive = uses_.get();
    return known;
  }
  [[nodiscard]] std::string key() const override { return "choice " + uses_->name() + " " + pair_->key(); }
  [[nodiscard]] const LossPointer& pair() const { return pair_; }

 private:
  [[nodiscard]] const Loss& base() const override { return *pair_; }

  LossPointer pair_;
  std::shared_ptr<const AdaptiveUses> uses_;
};

/// The pair of one use that is fixed in advance; any other loss itself.
[[nodiscard]] inline LossPointer without_choice(LossPointer loss) {
  const auto* const choice = dynamic_cast<const AdaptiveChoice*>(loss.get());
  return choice == nullptr ? loss : choice->pair();
}

/// Uses of which only the worst case of a single one is known; several enter by their pairs. [adaptive-block]
class ChosenOnce final : public AdaptiveUses {
 public:
  ChosenOnce(std::string name, LossPointer worst) : name_(std::move(name)), worst_(std::move(worst)) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] LossPointer together(std::uint64_t uses) const override { return uses == 1 ? worst_ : nullptr; }
  [[nodiscard]] double gain(std::uint64_t) const override { return 0; }  // the block is the pair that stands for one use anyway

 private:
  std::string name_;
  LossPointer worst_;
};

}  // namespace tradeoff::detail
