// SPDX-License-Identifier: Apache-2.0
#include "operators/refine.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "loss/mirrored_delta.h"
#include "mechanism/renyi_bound.h"
#include "numeric/arithmetic.h"
#include "numeric/plain_text.h"
#include "numeric/root.h"
#include "operators/group.h"
#include "operators/hull_of_two.h"
#include "operators/subsampled.h"
#include "operators/words.h"
#include "plan/arguments.h"
#include "tradeoff/error.h"
#include "transform/zcdp_transform.h"

namespace tradeoff::detail {
namespace {

/// A segment that is linear in e^e, from an anchor at or left of e = 0 to the point where it touches the bound.
struct Segment {
  Interval touch;        ///< the epsilon where it ends
  Interval touch_value;  ///< delta there
  bool from_mirror;      ///< true: the anchor is (-1, 1), which the line through a point and its mirror contains; false: it is (1, first)
  Interval first;        ///< delta at e = 0 of the anchor, if it is not the mirror
};

/// [profile-refinement] delta_0 + (1 - delta_0)(1 - exp(e - t))/(1 + exp(-t)): no exponential overflows.
Interval value_on(const Segment& segment, double epsilon) {
  const Interval run = max(-expm1(epsilon - segment.touch), Interval::exactly(0));
  if (segment.from_mirror) return segment.touch_value + (1.0 - segment.touch_value) * run / (1.0 + exp(-segment.touch));
  return segment.touch_value + (segment.first - segment.touch_value) * run / -expm1(-segment.touch);
}

class RefinedLoss final : public Loss, public ClosedForms {
 public:
  /// Needs a bound with a known shape.
  explicit RefinedLoss(LossPointer bound) : bound_(std::move(bound)), shape_(*bound_->capabilities(Direction::remove).bound_shape) {
    find_lines();
    lines_ = lines();
    const RenyiBound* const stated = bound_->capabilities(Direction::remove).renyi_bound;
    // [zcdp-transform] The touching point is positive; where delta rounds to 1, only its upper end says so.
    if (stated == nullptr || other_ || !segment_.from_mirror || !(segment_.touch.hi > 0)) return;
    zcdp_rho_ = stated->rho();
    if (zcdp_rho_) transform_ = zcdp_transform(*zcdp_rho_, Interval::exactly(1), SampledBy::poisson, Direction::remove);
  }

  [[nodiscard]] Interval delta(Direction, Interval epsilon) const override {
    RefinedLoss::cite();
    return {mirrored(epsilon.hi).lo, mirrored(epsilon.lo).hi};
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    if (epsilon.lo < segment_.touch.hi || (other_ && epsilon.lo < other_->touch.hi)) return log(delta(direction, epsilon));
    RefinedLoss::cite();
    return bound_->log_delta(direction, epsilon);
  }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.transform = transform_.get(), .closed_forms = this, .zcdp_rho = zcdp_rho_};
  }
  /// [profile-refinement] On the line through (-1, 1) the complement is proportional to 1 + e^e.
  [[nodiscard]] std::optional<Interval> log_complement(Direction, double epsilon) const override {
    if (other_ || !segment_.from_mirror) return std::nullopt;
    const auto log_of_one_and_exp = [](Interval x) { return x + log1p(exp(-x)); };
    const Interval point = log_of_one_and_exp(Interval::exactly(epsilon));
    if (!is_wide(segment_.touch)) {
      if (!(epsilon < segment_.touch.lo)) return std::nullopt;
      RefinedLoss::cite();
      return log1p(-segment_.touch_value) - log_of_one_and_exp(segment_.touch) + point;
    }
    // Its factor is delta(t) s(t) exp(-t) at the touching point t, s(t) the best order. For rho-zCDP that is exp(-rho (s + 1)^2), which
    // falls with t from exp(-rho) on.
    const double last = segment_.touch.hi;
    if (!zcdp_rho_ || !(epsilon < last)) return std::nullopt;
    RefinedLoss::cite();
    const Interval end = Interval::exactly(last);
    const Interval least = log(value(end)) + log(shape_.relative_drop(end)) - end;
    return Interval{(least + point).lo, (point - *zcdp_rho_).hi};
  }
  /// Q(L > e) is minus the slope in e^e: that of the bound beyond the touching point, and that of the line between it and its mirror.
  [[nodiscard]] std::optional<Test> test_at(Direction, double epsilon) const override {
    if (other_ || (!segment_.from_mirror && !(epsilon > segment_.touch.hi))) return std::nullopt;
    if (epsilon < -segment_.touch.hi) {  // the loss has no atoms and is symmetric
      const auto mirrored = test_at(Direction::remove, -epsilon);
      return Test{1.0 - mirrored->true_positive, 1.0 - mirrored->false_positive};
    }
    if (!(std::abs(epsilon) > segment_.touch.hi) && !(std::abs(epsilon) < segment_.touch.lo)) return std::nullopt;
    RefinedLoss::cite();
    const Interval point = epsilon > segment_.touch.hi ? Interval::exactly(epsilon) : segment_.touch;
    const Interval delta = value(point), drop = shape_.relative_drop(point);
    return Test{clamp(delta * drop * exp(-point), 0, 1), clamp(delta * (1.0 + drop), 0, 1)};
  }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  [[nodiscard]] Tail tail() const override { return bound_->tail(); }  // unchanged beyond the touching point
  [[nodiscard]] std::string key() const override {
    const std::string inner = bound_->key();
    return inner.empty() ? inner : "refined(" + inner + ")";
  }
  void cite() const override {
    bound_->cite();
    record(lines_);
  }

 private:
  void find_lines() {
    const double from = std::max(shape_.start().hi, shape_.convex_from().hi);
    segment_.from_mirror = true;
    segment_.touch =
        touch(from, [&](Interval t, Interval value) { return value * (1.0 + shape_.relative_drop(t) * (1.0 + exp(-t))) - 1.0; });
    segment_.touch_value = value(segment_.touch);
    if (segment_.touch.hi == 0) return;  // the tangent at e = 0 passes below (-1, 1), so the bound and its mirror are already convex
    // Compares H(0) with H at the touching point: the larger decides whether the hull follows the line through (-1, 1) or through (1,
    // delta(0)).
    const Interval first = value(Interval::exactly(0));
    const Interval at_zero = (1.0 - first) / 2.0;
    const Interval at_touch = (1.0 - segment_.touch_value) / (1.0 + exp(segment_.touch));
    // H rises up to the touching point of a bound that is convex from e = 0 on, so there H(0) is not the larger.
    if (from == 0 || at_zero.hi <= at_touch.lo) return;
    Segment flatter{{}, {}, false, first};
    flatter.touch = touch(from, [&](Interval t, Interval there) { return there * (1.0 - shape_.relative_drop(t) * expm1(-t)) - first; });
    flatter.touch_value = value(flatter.touch);
    if (at_zero.lo >= at_touch.hi)
      segment_ = flatter;
    else
      other_ = flatter;  // undecided: both lines are valid bounds, and one of them is the hull
  }

  [[nodiscard]] Interval value(Interval epsilon) const { return bound_->delta(Direction::remove, epsilon); }

  /// The point where the tangent of the convex part passes through the anchor: there `excess` changes from positive to negative.
  template <class Excess>
  [[nodiscard]] Interval touch(double from, Excess&& excess) const {
    const auto rising = [&](double t) { return -excess(Interval::exactly(t), value(Interval::exactly(t))); };
    Interval found = numeric::increasing_root(rising, Interval::exactly(0), from + 1, {from, 1e300});
    // Where delta rounds to 1 the sign of the excess is not known. The end of that range is where it is known first.
    if (is_wide(found)) found.hi = numeric::bisect([&](double t) { return rising(t).lo > 0; }, {found.lo, found.hi}, 64).beyond;
    return found;
  }
  /// Rounding hides the touching point in a range; delta is known well there.
  [[nodiscard]] static bool is_wide(Interval touch) { return touch.width() > 1e-3 * touch.hi; }

  [[nodiscard]] Interval on(const Segment& segment, double epsilon) const {
    if (epsilon >= segment.touch.hi) return value(Interval::exactly(epsilon));
    const Interval line = value_on(segment, epsilon);
    const Interval found = epsilon <= segment.touch.lo ? line : hull(line, value(Interval::exactly(epsilon)));
    if (!is_wide(segment.touch)) return found;
    // The hull is below the bound, and it decreases to the value at the end of the line. 1 - delta may be known better.
    const Interval here = value(Interval::exactly(epsilon)), end = value(Interval::exactly(segment.touch.hi));
    const auto rest = log_complement(Direction::remove, epsilon);
    const Interval all = rest ? 1.0 - exp(*rest) : Interval{0, 1};
    return {std::max({found.lo, end.lo, all.lo}), std::min({found.hi, here.hi, all.hi})};
  }
  [[nodiscard]] Interval at(double epsilon) const {
    const Interval one = on(segment_, epsilon);
    if (!other_) return one;
    const Interval two = on(*other_, epsilon);
    return {std::min(one.lo, two.lo), std::min(one.hi, two.hi)};
  }
  [[nodiscard]] Interval mirrored(double epsilon) const {
    const Interval there = clamp(at(std::abs(epsilon)), 0, 1);
    return epsilon >= 0 ? there : mirrored_delta(epsilon, there);
  }

  /// The candidates for the line of the hull.
  [[nodiscard]] Citations lines() const {
    Citations used;
    for (const Segment* segment : {&segment_, other_ ? &*other_ : nullptr}) {
      if (segment == nullptr || segment->touch.hi == 0) continue;
      numeric::PlainText detail;
      detail << "a straight line in exp(epsilon) up to epsilon = " << segment->touch.hi << ", from there on the bound itself";
      used.emplace_back(segment->from_mirror ? "profile-refinement" : "guarantee-hull", detail.str());
    }
    return used;
  }

  LossPointer bound_;
  const BoundShape& shape_;
  Segment segment_;
  std::optional<Segment> other_;
  Citations lines_;
  std::optional<Interval> zcdp_rho_;  // of the pair, if the bound is that of zCDP
  std::unique_ptr<const Transform> transform_;
};

/// The hull of several profiles, two at a time; the one that falls furthest is always the second argument.
LossPointer hull_of_minimum(const LossPointer& loss, std::vector<const Loss*> parts) {
  const auto falls_further = [](const Loss* one, const Loss* other) {
    return std::pair(one->infinite_mass(Direction::remove).hi, one->tail().zero_from) <
           std::pair(other->infinite_mass(Direction::remove).hi, other->tail().zero_from);
  };
  std::stable_sort(parts.begin(), parts.end(), falls_further);
  LossPointer hull(loss, parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) hull = hull_of_two(loss, *parts[i], std::move(hull));
  return hull;
}

}  // namespace

LossPointer refine(LossPointer loss) {
  loss = mixed_changes_of(std::move(loss));
  const Capabilities known = loss->capabilities(Direction::remove);
  if (known.stand_in != nullptr) return refine(known.stand_in->pair());
  if (known.bound_shape != nullptr) return std::make_shared<RefinedLoss>(std::move(loss));
  if (known.minimum_of.size() == 1) return refine(LossPointer(loss, known.minimum_of.front()));
  if (known.minimum_of.size() >= 2) return hull_of_minimum(loss, {known.minimum_of.begin(), known.minimum_of.end()});
  if (known.pair_and_bound != nullptr)
    return hull_of_two(loss, *known.pair_and_bound->pair, std::make_shared<RefinedLoss>(known.pair_and_bound->bound));
  if (!known.is_pair) throw UnsupportedError("refine: the hull of this bound is not implemented; it can be the last step of a plan only");
  if (loss->symmetric()) return loss;
  return std::make_shared<SymmetrizedLoss>(std::move(loss));
}

// The line of the refinement ends where the tangent of a convex bound passes through (-1, 1); from there on the tangent is below that
// point.
bool may_be_refined(const Loss& bound, Interval epsilon) {
  const BoundShape* const shape = bound.capabilities(Direction::remove).bound_shape;
  if (epsilon.lo == infinity) return false;
  if (shape == nullptr || shape->convex_from().hi > 0 || !(epsilon.lo > shape->start().hi)) return true;
  const Unrecorded steers;
  const Interval point = Interval::exactly(epsilon.lo), value = bound.delta(Direction::remove, point);
  return !((value * (1.0 + shape->relative_drop(point) * (1.0 + exp(-point)))).hi < 1);
}

LossPointer convex_form(const LossPointer& loss) { return loss->is_pair() || !loss->minimum_of().empty() ? loss : refine(loss); }

namespace {

LossPointer apply_refine(const Arguments&, LossPointer base, const WordContext&) { return refine(std::move(base)); }

}  // namespace

Word refine_word() {
  return {.role = Role::operation,
          .name = "refine",
          .meaning = "the tightest symmetric profile that the given one implies",
          .apply = apply_refine};
}

}  // namespace tradeoff::detail
