// SPDX-License-Identifier: Apache-2.0
#include "tradeoff/operations.h"

#include <algorithm>
#include <cmath>

#include "curve/curve_state.h"
#include "engine/compose.h"
#include "engine/disclosure.h"
#include "loss/atoms.h"
#include "loss/key.h"
#include "loss/question_scope.h"
#include "loss/recording.h"
#include "mechanism/constraints.h"
#include "mechanism/pair.h"
#include "numeric/arithmetic.h"
#include "numeric/floating_point_guard.h"
#include "operators/algebra.h"
#include "operators/bracketed.h"
#include "operators/duality.h"
#include "operators/group.h"
#include "operators/mixture.h"
#include "operators/refine.h"
#include "operators/worst_profile.h"
#include "tradeoff/error.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

namespace {

LossPointer pair_of(const Curve& curve) { return loss_of(curve)->is_pair() ? loss_of(curve) : refine(loss_of(curve)); }
LossPointer symmetric_pair_of(const Curve& curve) { return symmetric_loss(pair_of(curve)); }

/// The neighbours that all of them have, and the smallest tolerance.
struct Common {
  Neighbours neighbours = Neighbours::unstated;
  Tolerance tolerance;

  void agree(const Curve& curve) {
    if (curve.neighbours() != Neighbours::unstated && neighbours != Neighbours::unstated && curve.neighbours() != neighbours)
      throw DomainError("neighbours: curves of different neighbours cannot be combined");
    if (neighbours == Neighbours::unstated) neighbours = curve.neighbours();
    tolerance.relative = std::min(tolerance.relative, curve.tolerance().relative);
  }
};

Common agreed(const std::vector<Curve>& curves) {
  if (curves.empty()) throw DomainError("curves: at least one is needed");
  Common common;
  for (const Curve& curve : curves) common.agree(curve);
  return common;
}

Curve make_curve(LossPointer loss, const Common& common) { return curve_from(std::move(loss), common.neighbours, common.tolerance); }

}  // namespace

Curve inverse(const Curve& curve) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return inverse(curve); });

  const LossPointer& loss = loss_of(curve);
  if (loss->symmetric()) return curve;
  return make_curve(inverse_loss(loss), agreed({curve}));
}

Curve symmetrized(const Curve& curve) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return symmetrized(curve); });
  return make_curve(symmetric_pair_of(curve), agreed({curve}));
}

Curve strongest(const std::vector<Curve>& curves) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return strongest(curves); });

  const Unrecorded in_advance;  // an answer records the part of this that it uses
  const QuestionScope question;
  const Common common = agreed(curves);
  std::vector<LossPointer> losses;
  for (const Curve& curve : curves) losses.push_back(pair_of(curve));
  return make_curve(strongest_loss(std::move(losses)), common);
}

Curve weakest(const std::vector<Curve>& curves) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return weakest(curves); });

  const Unrecorded in_advance;  // an answer records the part of this that it uses
  const QuestionScope question;
  const Common common = agreed(curves);
  std::vector<LossPointer> losses;
  // Under replace-one neighbours either order may occur, so only symmetric curves are used. Otherwise each direction has its own answer.
  for (const Curve& curve : curves)
    losses.push_back(common.neighbours == Neighbours::replace_one ? symmetric_pair_of(curve) : pair_of(curve));
  return make_curve(weakest_loss(std::move(losses)), common);
}

Curve mixture(const std::vector<std::pair<Interval, Curve>>& components) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return mixture(components); });

  const Unrecorded in_advance;  // an answer records the part of this that it uses
  const QuestionScope question;
  Common common;
  Parts pairs;
  for (const auto& [weight, curve] : components) {
    common.agree(curve);
    pairs.push_back({pair_of(curve), 1});
  }
  pairs = in_either_order(std::move(pairs), common.neighbours);
  std::vector<MixtureComponent> parts;
  for (std::size_t i = 0; i < components.size(); ++i) parts.push_back({components[i].first, pairs[i].loss});
  return make_curve(mixture_loss(std::move(parts)), common);
}

namespace {

/// The parts that a plan was composed of, with each of the pairs below, if every part is a pair; otherwise the curve is a single part.
struct CurveParts {
  Parts above;
  std::vector<Parts> below;
};

CurveParts parts_of(const Curve& curve) {
  const auto fits = [](const Parts& parts) {
    return std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.loss->is_pair(); });
  };
  if (const auto& known = detail::CurveState::of(curve).composition;
      known != nullptr && fits(known->parts) && std::all_of(known->below.begin(), known->below.end(), fits))
    return {known->parts, known->below};
  return {{{pair_of(curve), 1}}, {}};
}

}  // namespace

// [tensor-composition] [bracketed-pair]
Curve product(const std::vector<Curve>& curves) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return product(curves); });

  const Unrecorded in_advance;  // an answer records the part of this that it uses
  const QuestionScope question;
  const Common common = agreed(curves);
  if (curves.size() == 1) return curves.front();
  std::vector<CurveParts> listed;
  std::size_t pairs_below = 0;
  for (const Curve& curve : curves) {
    listed.push_back(parts_of(curve));
    pairs_below = std::max(pairs_below, listed.back().below.size());
  }
  const auto joined = [&](auto&& one_of) {
    Parts parts;
    for (const CurveParts& one : listed) {
      const Parts& more = one_of(one);
      parts.insert(parts.end(), more.begin(), more.end());
    }
    return parts;
  };
  const Parts above = joined([](const CurveParts& one) -> const Parts& { return one.above; });
  LossPointer loss = compose(in_either_order(above, common.neighbours), common.tolerance).loss;
  std::vector<LossPointer> below;
  for (std::size_t i = 0; i < pairs_below; ++i) {
    const Parts parts = joined([i](const CurveParts& one) -> const Parts& {
      return one.below.empty() ? one.above : one.below[std::min(i, one.below.size() - 1)];
    });
    below.push_back(compose(in_one_order(parts), common.tolerance).loss);
  }
  return make_curve(below.empty() ? std::move(loss) : bracketed(std::move(loss), std::move(below)), common);
}

Curve with_revealing(const Curve& curve, Interval probability) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return with_revealing(curve, probability); });

  if (!(probability.lo >= 0 && probability.hi <= 1)) throw DomainError("probability: it must be between 0 and 1");
  return make_curve(disclosure_loss(pair_of(curve), probability), agreed({curve}));
}

Curve grouped(const Curve& curve, std::uint64_t size) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return grouped(curve, size); });

  const Unrecorded in_advance;  // an answer records the part of this that it uses
  const QuestionScope question;
  return make_curve(group_loss(pair_of(curve), size), agreed({curve}));
}

Curve from_guarantees(const std::vector<Guarantee>& guarantees, Neighbours neighbours) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return from_guarantees(guarantees, neighbours); });

  return make_curve(std::make_shared<ConstraintsLoss>(guarantees), {neighbours, {}});
}

Curve from_tradeoff(const std::vector<std::pair<Interval, Interval>>& points, Neighbours neighbours) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return from_tradeoff(points, neighbours); });

  return make_curve(polygon_loss(points), {neighbours, {}});
}

std::vector<Guarantee> to_guarantees(const Curve& curve, const std::vector<double>& epsilons) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return to_guarantees(curve, epsilons); });

  std::vector<Guarantee> guarantees;
  for (const double epsilon : epsilons) {
    if (!(epsilon >= 0)) throw DomainError("epsilon: a guarantee needs an epsilon of at least 0");
    guarantees.push_back({Interval::exactly(epsilon), Interval::exactly(curve.delta_at(epsilon).hi)});
  }
  return guarantees;
}

std::vector<Guarantee> corners_of(const Curve& curve, Direction direction) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return corners_of(curve, direction); });

  const Loss& loss = *loss_of(curve);
  if (direction == Direction::worst && !loss.symmetric())
    throw UnsupportedError("guarantees: the two directions of this plan differ; ask for direction remove or add");
  auto found = loss.guarantees(direction == Direction::add ? Direction::add : Direction::remove);
  if (!found) throw UnsupportedError("guarantees: this plan is not composed exactly, so the corners of its curve are not known");
  return std::move(*found);
}

namespace {

/// [privacy-order] Compares two symmetric profiles cell by cell on epsilon >= 0.
class OrderSearch {
 public:
  OrderSearch(const LossPointer& one, const LossPointer& other)
      : one_(*one, Direction::worst), other_(*other, Direction::worst), one_loss_(*one), other_loss_(*other) {}

  [[nodiscard]] OrderAnswer run() {
    if (by_structure()) return {Order::yes, {}, {}};
    const double end = decided_from();
    const double reach = end < infinity ? end : 40;
    for (int i = 0; i <= 400; ++i) {  // one proved violation decides
      const double epsilon = reach * (std::exp(3.0 * i / 400) - 1) / (std::exp(3.0) - 1);
      if (exceeds(epsilon)) return {Order::no, witness(epsilon), epsilon};
    }
    if (at_corners()) return {Order::yes, {}, {}};
    if (!(end < infinity)) return {};
    return all_cells(0, end, 0) ? OrderAnswer{Order::yes, {}, {}} : OrderAnswer{};
  }

 private:
  [[nodiscard]] Interval delta_one(double e) const { return one_.delta(Interval::exactly(e)); }
  [[nodiscard]] Interval delta_other(double e) const { return other_.delta(Interval::exactly(e)); }
  [[nodiscard]] bool exceeds(double e) const { return delta_one(e).lo > delta_other(e).hi; }

  /// Equal distributions, two ordered Gaussians, and any curve compared with a Gaussian that bounds it.
  [[nodiscard]] bool by_structure() const {
    const std::string key = one_loss_.key();
    if (&one_loss_ == &other_loss_ || (!key.empty() && is_exact_key(key) && key == other_loss_.key())) return true;
    const auto mu = other_loss_.gaussian_mu();
    return mu && one_loss_.tail().gdp_mu <= mu->lo;
  }

  /// If the second distribution is finite, its profile is linear in e^e between its losses. A convex profile that is below it at both ends
  /// of a segment is below it on the segment. So the corners decide; beyond the last one the profile is constant.
  [[nodiscard]] bool at_corners() const {
    std::vector<Interval> corners{Interval::exactly(0)};
    if (const Atoms* atoms = other_loss_.atoms(Direction::remove); atoms != nullptr && atoms->slack == 0) {
      for (const Atom& atom : atoms->finite) corners.push_back(atom.loss);
    } else if (const auto guarantees = other_loss_.guarantees(Direction::remove); guarantees && other_loss_.symmetric()) {
      for (const Guarantee& guarantee : *guarantees) corners.push_back(guarantee.epsilon);
    } else {
      return false;
    }
    const double zero_from = one_loss_.tail().zero_from;
    double last = 0;
    for (const Interval& corner : corners) last = std::max(last, corner.hi);
    const bool below = std::all_of(corners.begin(), corners.end(), [&](Interval corner) {
      if (corner.hi < 0 || zero_from <= corner.lo) return true;
      return corner.lo >= 0 && delta_one(corner.lo).hi <= delta_other(corner.hi).lo;
    });
    return below && (zero_from <= last || delta_one(last).hi <= other_.infinite_mass().lo);
  }

  /// The epsilon from which on the order is certain: there the first profile is 0, or below the infinite mass of the second.
  [[nodiscard]] double decided_from() const {
    const double zero_from = one_loss_.tail().zero_from;
    if (zero_from < infinity) return zero_from;
    const double floor = other_.infinite_mass().lo;
    if (!(floor > 0)) return infinity;
    for (double e = 1; e < 1024; e *= 2)
      if (delta_one(e).hi <= floor) return e;
    return infinity;
  }

  /// Both decrease: on a cell the first is at most its value at the left end, the second at least its value at the right end.
  [[nodiscard]] bool all_cells(double low, double high, int depth) {
    const Interval one_low = delta_one(low), other_low = delta_other(low);
    if (one_low.hi <= delta_other(high).lo) return true;
    if (!(one_low.hi <= other_low.lo)) return false;
    if (depth > 24 || ++visited_ > 20000) return false;
    const double middle = low + (high - low) / 2;
    return all_cells(low, middle, depth + 1) && all_cells(middle, high, depth + 1);
  }

  /// The point where the line of slope -e^epsilon touches the first curve, if it is a proved violation; otherwise a scan.
  [[nodiscard]] std::optional<double> witness(double epsilon) const {
    const auto lower = [&](double alpha) {
      if (!(alpha >= 0 && alpha <= 1)) return false;
      return dual_beta(one_, Interval::exactly(alpha)).hi < dual_beta(other_, Interval::exactly(alpha)).lo;
    };
    for (const double step : {1e-6, 1e-4, 1e-2}) {
      const double rise = (std::exp(step) - std::exp(-step)) * std::exp(epsilon);
      const double alpha = (delta_one(epsilon - step).lo - delta_one(epsilon + step).lo) / rise;
      if (lower(alpha)) return alpha;
    }
    for (int i = 0; i <= 200; ++i)
      if (const double alpha = std::exp(-0.1 * i); lower(alpha)) return alpha;
    return std::nullopt;
  }

  Profile one_;
  Profile other_;
  const Loss& one_loss_;
  const Loss& other_loss_;
  int visited_ = 0;
};

}  // namespace

namespace {

bool same_plan(const Curve& one, const Curve& other) {
  const auto plan_of = [](const Curve& curve) {
    return detail::CurveState::of(curve).composition != nullptr ? detail::CurveState::of(curve).composition->plan.get() : nullptr;
  };
  return plan_of(one) != nullptr && plan_of(other) != nullptr && *plan_of(one) == *plan_of(other);
}

}  // namespace

// [blackwell-order] Ordered curves are those of which one is a post-processing of the other.
OrderAnswer at_least_as_private(const Curve& one, const Curve& other) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return at_least_as_private(one, other); });

  const QuestionScope question;
  static const Citation used("blackwell-order", "ordered curves are those of which one is a post-processing of the other");
  record(used);
  (void)agreed({one, other});
  if (one.neighbours() == other.neighbours() && (loss_of(one) == loss_of(other) || same_plan(one, other))) return {Order::yes, {}, {}};
  const LossPointer first = symmetric_pair_of(one), second = symmetric_pair_of(other);
  return OrderSearch(first, second).run();
}

}  // namespace tradeoff
