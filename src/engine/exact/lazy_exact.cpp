// SPDX-License-Identifier: Apache-2.0
#include "engine/exact/lazy_exact.h"

#include <mutex>
#include <utility>

#include "engine/exact/exact.h"

namespace tradeoff::detail {
namespace {

/// Offers only what is cheap; any other capability would compose the list.
class LazyExactLoss final : public Loss, public ClosedForms {
 public:
  LazyExactLoss(Parts parts, Tolerance tolerance) : parts_(std::move(parts)), tolerance_(tolerance) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override { return loss().delta(direction, epsilon); }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override { return loss().log_delta(direction, epsilon); }
  [[nodiscard]] bool symmetric() const override { return loss().symmetric(); }
  [[nodiscard]] Capabilities capabilities(Direction) const override { return {.closed_forms = this}; }
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override {
    return loss().closed_epsilon(direction, delta);
  }
  [[nodiscard]] std::optional<Interval> log_complement(Direction direction, double epsilon) const override {
    return loss().log_complement(direction, epsilon);
  }
  [[nodiscard]] std::optional<std::vector<Guarantee>> guarantees(Direction direction) const override {
    return loss().guarantees(direction);
  }
  void cite() const override { record(citations_of_laws(parts_)); }

 private:
  [[nodiscard]] const Loss& loss() const {
    std::call_once(composed_, [this] {
      const Unrecorded in_advance;
      loss_ = compose_exactly(parts_, tolerance_);
    });
    return *loss_;
  }

  Parts parts_;
  Tolerance tolerance_;
  mutable std::once_flag composed_;
  mutable LossPointer loss_;
};

}  // namespace

LossPointer compose_exactly_when_asked(Parts parts, Tolerance tolerance) {
  return std::make_shared<LazyExactLoss>(std::move(parts), tolerance);
}

}  // namespace tradeoff::detail
