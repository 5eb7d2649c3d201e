// SPDX-License-Identifier: Apache-2.0
#include "operators/bracketed.h"

#include <optional>
#include <utility>

#include "loss/recording.h"
#include "operators/group.h"

namespace tradeoff::detail {

void Bracket::cite() {
  static const Citation citation("bracketed-pair",
                                 "upper ends by a pair that dominates the mechanism, lower ends by one that it dominates");
  record(citation);
}

namespace {

// [bracketed-pair]
class BracketedLoss final : public Loss {
 public:
  explicit BracketedLoss(Bracket bracket) : bracket_(std::move(bracket)) {
    if (!any_group()) return;
    const auto one_kind = [](const LossPointer& loss) {
      const GroupSides* const sides = group_sides_of(*loss);
      return sides != nullptr ? sides->one_kind : loss;
    };
    sides_ = GroupSides{bracketed_each(mixed_changes_of), bracketed_each(one_kind)};
  }

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    return bracket_.grown([&](const Loss& loss) { return loss.delta(direction, epsilon); });
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    return bracket_.grown([&](const Loss& loss) { return loss.log_delta(direction, epsilon); });
  }
  [[nodiscard]] bool symmetric() const override {
    const auto is_symmetric = [](const LossPointer& loss) { return loss->symmetric(); };
    return bracket_.above->symmetric() && std::all_of(bracket_.below.begin(), bracket_.below.end(), is_symmetric);
  }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override {
    return bracket_.grown([&](const Loss& loss) { return loss.infinite_mass(direction); });
  }
  [[nodiscard]] Tail tail() const override;
  [[nodiscard]] Capabilities capabilities(Direction direction) const override {
    Cost cost = bracket_.above->capabilities(direction).cost;
    for (const LossPointer& loss : bracket_.below) cost = std::max(cost, loss->capabilities(direction).cost);
    return {.group_sides = sides_ ? &*sides_ : nullptr, .bracket = &bracket_, .cost = cost};
  }
  void cite() const override {
    bracket_.above->cite();
    for (const LossPointer& loss : bracket_.below) loss->cite();
    Bracket::cite();
  }

 private:
  [[nodiscard]] bool any_group() const {
    const auto is_group = [](const LossPointer& loss) { return group_sides_of(*loss) != nullptr; };
    return is_group(bracket_.above) || std::any_of(bracket_.below.begin(), bracket_.below.end(), is_group);
  }
  template <class Change>
  [[nodiscard]] LossPointer bracketed_each(Change&& change) const {
    std::vector<LossPointer> below;
    for (const LossPointer& loss : bracket_.below) below.push_back(change(loss));
    return bracketed(change(bracket_.above), std::move(below), bracket_.states_divergences);
  }

  Bracket bracket_;
  std::optional<GroupSides> sides_;
};

/// Upper bounds are those of the pair above; what is stated from below is the best of the pairs below.
Tail BracketedLoss::tail() const {
  Tail tail = bracket_.above->tail();
  tail.limit.lo = 0;
  tail.largest = tail.largest.as_bound();
  for (const LossPointer& loss : bracket_.below) {
    const Tail lower = loss->tail();
    if (lower.kind != tail.kind) tail.kind = TailKind::unknown;
    tail.limit.lo = std::max(tail.limit.lo, lower.limit.lo);
    tail.largest.remove.lo = std::max(tail.largest.remove.lo, lower.largest.remove.lo);
    tail.largest.add.lo = std::max(tail.largest.add.lo, lower.largest.add.lo);
  }
  return tail;
}

}  // namespace

LossPointer bracketed(LossPointer above, std::vector<LossPointer> below, bool states_divergences) {
  return std::make_shared<BracketedLoss>(Bracket{std::move(above), std::move(below), states_divergences});
}

}  // namespace tradeoff::detail
