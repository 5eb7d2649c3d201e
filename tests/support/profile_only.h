// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "loss/loss.h"

namespace tradeoff::detail::test {

/// Which functions of a loss are kept besides its profile; the others are those of a loss that says nothing.
struct Kept {
  bool log_delta = false;
  bool tail = false;
};

/// A loss known by its profile alone, as a user's own curve would be: closed forms, atoms and transforms are hidden.
class ProfileOnly final : public Loss {
 public:
  explicit ProfileOnly(LossPointer base, Kept kept = {}) : base_(std::move(base)), kept_(kept) {}
  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override { return base_->delta(direction, epsilon); }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    return kept_.log_delta ? base_->log_delta(direction, epsilon) : Loss::log_delta(direction, epsilon);
  }
  [[nodiscard]] bool symmetric() const override { return base_->symmetric(); }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override { return base_->infinite_mass(direction); }
  [[nodiscard]] Tail tail() const override { return kept_.tail ? base_->tail() : Loss::tail(); }

 private:
  LossPointer base_;
  Kept kept_;
};

}  // namespace tradeoff::detail::test
