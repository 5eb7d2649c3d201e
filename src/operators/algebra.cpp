// SPDX-License-Identifier: Apache-2.0
#include "operators/algebra.h"

#include <algorithm>
#include <compare>
#include <utility>

#include "engine/compose.h"
#include "loss/atoms.h"
#include "loss/forwarding_loss.h"
#include "mechanism/constraints.h"
#include "numeric/arithmetic.h"
#include "numeric/rational.h"
#include "operators/group.h"
#include "operators/refine.h"
#include "operators/subsampled.h"
#include "operators/words.h"
#include "operators/worst_profile.h"
#include "plan/arguments.h"
#include "plan/exact_pair.h"

namespace tradeoff::detail {
namespace {

const Citation& exchanged() {
  static const Citation citation("curve-algebra", "both directions exchanged");
  return citation;
}
const Citation& strongest_of_all() {
  static const Citation citation("curve-algebra", "several guarantees of one mechanism: the strongest at each epsilon");
  return citation;
}
const Citation& weakest_of_all() {
  static const Citation citation("curve-algebra", "one of several mechanisms, unknown which: the weakest at each epsilon");
  return citation;
}

/// A value computed from other losses uses their theorems, which they have recorded, and this one.
template <class Value>
Value by(const Citation& citation, Value value) {
  record(citation);
  return value;
}

Cost cost_of_all(const std::vector<LossPointer>& losses) {
  Cost largest = Cost::formula;
  for (const LossPointer& loss : losses) largest = std::max(largest, loss->cost());
  return largest;
}

/// [curve-algebra] The swapped pair.
class InverseLoss final : public ForwardingLoss {
 public:
  explicit InverseLoss(LossPointer base) : ForwardingLoss(Order::swapped), base_(std::move(base)) {}
  [[nodiscard]] bool symmetric() const override { return false; }

 private:
  [[nodiscard]] const Loss& base() const override { return *base_; }
  void note() const override { record(exchanged()); }

  LossPointer base_;
};

/// [curve-algebra] The smaller profile at every epsilon. The larger trade-off function is that of its convex hull, which `refined` builds
/// from the parts.
class StrongestLoss final : public Loss {
 public:
  explicit StrongestLoss(std::vector<LossPointer> losses) : losses_(std::move(losses)) {
    for (const LossPointer& loss : losses_) parts_.push_back(loss.get());
  }
  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    Interval least = Interval::exactly(1);
    for (const LossPointer& loss : losses_) least = min(least, loss->delta(direction, epsilon));
    return by(strongest_of_all(), least);
  }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.minimum_of = parts_, .cost = cost_of_all(losses_), .is_pair = false};
  }
  void cite() const override {
    for (const LossPointer& loss : losses_) loss->cite();
    record(strongest_of_all());
  }

 private:
  std::vector<LossPointer> losses_;
  std::vector<const Loss*> parts_;
};

/// [curve-algebra] The larger profile at every epsilon: it is convex, so it is the profile of a pair.
class WeakestLoss final : public Loss {
 public:
  explicit WeakestLoss(std::vector<LossPointer> losses) : losses_(std::move(losses)) {}
  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    Interval largest = Interval::exactly(0);
    for (const LossPointer& loss : losses_) largest = max(largest, loss->delta(direction, epsilon));
    return by(weakest_of_all(), largest);
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    Interval largest = Interval::exactly(-infinity);
    for (const LossPointer& loss : losses_) largest = max(largest, loss->log_delta(direction, epsilon));
    return by(weakest_of_all(), largest);
  }
  [[nodiscard]] bool symmetric() const override {
    return std::all_of(losses_.begin(), losses_.end(), [](const LossPointer& loss) { return loss->symmetric(); });
  }
  [[nodiscard]] Tail tail() const override {
    Tail worst = zero_tail(0);
    worst.gdp_mu = 0;
    worst.limit = {0, Tail::nothing};
    for (const LossPointer& loss : losses_) {
      const Tail one = loss->tail();
      if (one.kind == TailKind::floor) return heavy_tail(TailKind::floor);
      worst.zero_from = std::max(worst.zero_from, one.zero_from);
      worst.largest = {max(worst.largest.remove, one.largest.remove), max(worst.largest.add, one.largest.add)};
      worst.gdp_mu = std::max(worst.gdp_mu, one.gdp_mu);
      if (one.gdp_origin) worst.gdp_origin = one.gdp_origin;
    }
    worst.kind = worst.zero_from < infinity ? TailKind::zero : worst.gdp_mu < infinity ? TailKind::gdp : TailKind::unknown;
    worst.gaussian.reset();
    return worst;
  }
  [[nodiscard]] Capabilities capabilities(Direction) const override { return {.cost = cost_of_all(losses_)}; }
  void cite() const override {
    for (const LossPointer& loss : losses_) loss->cite();
    record(weakest_of_all());
  }

 private:
  std::vector<LossPointer> losses_;
};

/// The corners of the larger of both profiles of a finite distribution, which is linear in e^e between them: 0, the losses of both
/// directions, and the points where the two profiles cross.
std::optional<std::vector<Guarantee>> corners_of(const Loss& loss) {
  std::vector<Interval> losses{Interval::exactly(0)};
  Interval first = Interval::exactly(0);  // losses that may be 0 are merged with this corner
  for (const Direction direction : {Direction::remove, Direction::add}) {
    const Atoms* atoms = loss.atoms(direction);
    if (atoms == nullptr || atoms->slack != 0) return std::nullopt;
    for (const Atom& atom : atoms->finite) {
      if (atom.loss.lo > 0) losses.push_back(atom.loss);
      if (atom.loss.lo <= 0 && atom.loss.hi > first.hi) first.hi = atom.loss.hi;
    }
  }
  std::sort(losses.begin(), losses.end(), [](Interval a, Interval b) { return a.lo < b.lo; });
  const Profile worst(loss, Direction::worst);
  std::vector<Guarantee> corners;
  const auto lead = [&](Interval e) { return loss.delta(Direction::remove, e) - loss.delta(Direction::add, e); };
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (i > 0 && !loss.symmetric()) {
      const Interval before = lead(losses[i - 1]), after = lead(losses[i]);
      if ((before.lo > 0 && after.hi < 0) || (before.hi < 0 && after.lo > 0)) {
        const Interval crossing = losses[i - 1] + log1p(before / (before - after) * expm1(losses[i] - losses[i - 1]));
        corners.push_back({crossing, clamp(worst.delta(crossing), 0, 1)});
      }
    }
    Interval corner = clamp(worst.delta(i == 0 ? first : losses[i]), 0, 1);
    // If rounding hides whether the two profiles cross next to this corner, the crossing is left out. The chord there lies above the truth
    // by at most the difference of the two, and the lower end allows for that.
    if (const Interval here = lead(losses[i]); here.lo <= 0 && here.hi >= 0)
      corner.lo = std::max(0.0, numeric::add_down(corner.lo, -std::max(-here.lo, here.hi)));
    corners.push_back({losses[i], corner});
  }
  if (losses.size() > 1) {  // at the largest loss only the infinite mass is left, exactly
    double largest = 0;
    for (const Interval& one : losses) largest = std::max(largest, one.hi);
    corners.back() = {{losses.back().lo, largest}, clamp(worst.infinite_mass(), 0, 1)};
  }
  return corners;
}

}  // namespace

LossPointer inverse_loss(LossPointer base) {
  if (const GroupSides* sides = group_sides_of(*base)) return exchanged_group(*sides);
  return base->symmetric() ? base : std::make_shared<InverseLoss>(std::move(base));
}

LossPointer symmetric_loss(LossPointer base) {
  base = mixed_changes_of(std::move(base));
  if (base->symmetric()) return base;
  // [poisson-subsampling] Removal is the worse direction of a symmetric base on a Poisson sample, so the curve is that of the operator C_p.
  if (const auto sampled = base->capabilities(Direction::remove).sampled;
      sampled && sampled->sampling == SampledBy::poisson && sampled->base->symmetric()) {
    static const Citation removal("poisson-subsampling", "removal is the worse direction; its symmetric curve is that of the operator C_p");
    return std::make_shared<SampledLoss>(LossPointer(base, sampled->base), sampled->rate, removal);
  }
  if (auto corners = corners_of(*base)) {
    static const Citation worse("two-directions", "the worse of both orders stands for either");
    return std::make_shared<ConstraintsLoss>(std::move(*corners), true, citations_of([&] {
                                               base->cite();
                                               record(worse);
                                             }));
  }
  return refine(std::move(base));
}

Parts in_one_order(Parts parts) {
  std::erase_if(parts, [](const Part& part) { return part.times == 0; });
  if (is_one_step(parts)) return parts;
  for (Part& part : parts) part.loss = mixed_changes_of(std::move(part.loss));
  return parts;
}

Parts in_either_order(Parts parts, Neighbours neighbours) {
  parts = in_one_order(std::move(parts));
  std::uint64_t directed = 0;
  for (const Part& part : parts)
    if (part.loss->is_pair() && !part.loss->symmetric()) directed += part.times;
  if (directed < 2 || neighbours == Neighbours::add_remove || neighbours == Neighbours::zero_out) return parts;
  for (Part& part : parts)
    if (part.loss->is_pair()) part.loss = symmetric_loss(std::move(part.loss));
  return parts;
}

// [curve-algebra] Finite distributions are lists of guarantees, and several lists are merged into one. Otherwise the hull is computed by
// search.
LossPointer strongest_loss(std::vector<LossPointer> losses) {
  if (losses.size() == 1) return refine(std::move(losses.front()));
  std::vector<Guarantee> all;
  std::vector<LossPointer> others, listed;
  for (LossPointer& loss : losses) {
    loss = mixed_changes_of(std::move(loss));
    if (auto corners = corners_of(*loss)) {
      all.insert(all.end(), corners->begin(), corners->end());
      listed.push_back(std::move(loss));
    } else {
      others.push_back(refine(std::move(loss)));
    }
  }
  if (!all.empty())
    others.push_back(std::make_shared<ConstraintsLoss>(std::move(all), true, citations_of([&] {
                                                         for (const LossPointer& loss : listed) loss->cite();
                                                         record(strongest_of_all());
                                                       })));
  if (others.size() == 1) return others.front();
  return refine(std::make_shared<StrongestLoss>(std::move(others)));
}

LossPointer weakest_loss(std::vector<LossPointer> losses) {
  for (LossPointer& loss : losses) loss = mixed_changes_of(std::move(loss));
  return losses.size() == 1 ? losses.front() : std::make_shared<WeakestLoss>(std::move(losses));
}

namespace {

/// The plans in a list argument.
std::vector<Plan> plans_of(const Arguments& arguments, std::string_view name) {
  std::vector<Plan> plans;
  const auto* list = std::get_if<List>(&arguments.value(name).content);
  if (list == nullptr || list->items.empty()) arguments.refuse(name, "that", "a list [source, ...]");
  for (const Value& item : list->items) {
    const auto* plan = std::get_if<Plan>(&item.content);
    if (plan == nullptr) arguments.refuse(name, "entry " + std::to_string(plans.size() + 1), "a source");
    plans.push_back(*plan);
  }
  return plans;
}

/// The pairs of plans that a word makes symmetric. The symmetric pair of a directed pair below need not be below in a composition; a pair
/// that shows nothing is. [bracketed-pair]
std::vector<LossPointer> pairs_of(const std::vector<Plan>& plans, const WordContext& context) {
  std::vector<LossPointer> pairs;
  for (const Plan& plan : plans) {
    LossPointer pair = context.pair_of(plan);
    const bool hidden = context.is_from_below() && !pair->symmetric();
    pairs.push_back(hidden ? compose({}, {}).loss : std::move(pair));
  }
  return pairs;
}

LossPointer make_strongest(const Arguments& arguments, const WordContext& context) {
  return strongest_loss(pairs_of(plans_of(arguments, "guarantees"), context));
}

std::vector<WrittenGuarantee> guarantees_of_strongest(const Arguments& arguments) {
  std::vector<WrittenGuarantee> guarantees;
  for (const Plan& plan : plans_of(arguments, "guarantees"))
    for (WrittenGuarantee& one : stated_guarantees(plan, arguments.vocabulary())) guarantees.push_back(std::move(one));
  return guarantees;
}

// [largest-loss] The smaller of two profiles has the smaller of two largest losses, the larger profile has the larger.
std::optional<numeric::Rational> extreme_largest_loss(const std::vector<Plan>& plans, const Vocabulary& vocabulary,
                                                      std::strong_ordering kept) {
  std::optional<numeric::Rational> found;
  for (const Plan& plan : plans) {
    const auto one = exact_largest_loss(plan, vocabulary);
    if (!one) return std::nullopt;
    if (!found || numeric::compare(*one, *found) == kept) found = one;
  }
  return found;
}

std::optional<numeric::Rational> largest_loss_of_strongest(const Arguments& arguments) {
  return extreme_largest_loss(plans_of(arguments, "guarantees"), arguments.vocabulary(), std::strong_ordering::less);
}

std::optional<numeric::Rational> largest_loss_of_weakest(const Arguments& arguments) {
  return extreme_largest_loss(plans_of(arguments, "mechanisms"), arguments.vocabulary(), std::strong_ordering::greater);
}

/// The corners of each plan in this direction, taken together.
template <class Join>
std::optional<ExactPair> joined_outcomes(const std::vector<Plan>& plans, const Vocabulary& vocabulary, Direction direction, Join&& join) {
  std::optional<ExactCorners> all;
  for (const Plan& plan : plans) {
    const auto pair = exact_pair(plan, vocabulary);
    auto corners = pair ? exact_corners(*pair, direction) : std::nullopt;
    if (!corners) return std::nullopt;
    all = all ? join(*all, *corners) : std::move(corners);
    if (!all) return std::nullopt;
  }
  return all ? pair_with(*all) : std::nullopt;
}

// [curve-algebra] The larger trade-off function, and the lower hull.
std::optional<ExactPair> outcomes_of_strongest(const Arguments& arguments) {
  return joined_outcomes(plans_of(arguments, "guarantees"), arguments.vocabulary(), Direction::worst, larger_of);
}
std::optional<ExactPair> outcomes_of_weakest(const Arguments& arguments) {
  return joined_outcomes(plans_of(arguments, "mechanisms"), arguments.vocabulary(), Direction::remove, hull_of);
}

LossPointer make_weakest(const Arguments& arguments, const WordContext& context) {
  return weakest_loss(pairs_of(plans_of(arguments, "mechanisms"), context));
}

LossPointer apply_invert(const Arguments&, LossPointer base, const WordContext&) { return inverse_loss(std::move(base)); }

}  // namespace

Word strongest_word() {
  return {.role = Role::source,
          .name = "strongest",
          .meaning = "one mechanism for which each of these is a guarantee: the larger trade-off function",
          .parameters = {{"guarantees", Kind::plans, "list of sources"}},
          .make = make_strongest,
          .guarantees = guarantees_of_strongest,
          .largest_loss = largest_loss_of_strongest,
          .outcomes = outcomes_of_strongest};
}

Word weakest_word() {
  return {.role = Role::source,
          .name = "weakest",
          .meaning = "one of these mechanisms, it is not known which: the smaller trade-off function, made convex",
          .parameters = {{"mechanisms", Kind::plans, "list of sources"}},
          .make = make_weakest,
          .largest_loss = largest_loss_of_weakest,
          .outcomes = outcomes_of_weakest};
}

Word invert_word() {
  return {.role = Role::operation,
          .name = "invert",
          .meaning = "the roles of both data sets exchanged: the inverse of the trade-off function",
          .apply = apply_invert};
}

}  // namespace tradeoff::detail
