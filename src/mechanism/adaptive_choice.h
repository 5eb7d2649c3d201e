// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
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

 private:
  [[nodiscard]] const Loss& base() const override { return *pair_; }

  LossPointer pair_;
  std::shared_ptr<const AdaptiveUses> uses_;
};

}  // namespace tradeoff::detail
