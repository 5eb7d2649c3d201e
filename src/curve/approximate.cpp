// SPDX-License-Identifier: Apache-2.0
#include "curve/approximate.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "curve/curve_state.h"
#include "engine/exact/exact.h"
#include "engine/lattice/lattice.h"
#include "loss/question_scope.h"
#include "mechanism/constraints.h"
#include "numeric/arithmetic.h"
#include "numeric/floating_point_guard.h"
#include "numeric/normal.h"
#include "numeric/root.h"
#include "tradeoff/error.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

namespace {

using numeric::narrow_bracket;
using numeric::Verdict;

Verdict sign_of(Interval value) { return {value.lo > 0, value.hi < 0, middle_of(value)}; }

/// A point (x, f(x)) of the trade-off function.
struct Place {
  Interval x;
  Interval y;
};

/// A smooth symmetric trade-off function, parametrised by its slope: the line of slope -exp(epsilon) touches it at the point of the test
/// with that threshold.
class SmoothCurve {
 public:
  explicit SmoothCurve(const Loss& loss) : loss_(loss), start_(1 - loss.infinite_mass(Direction::remove)) {}

  [[nodiscard]] Interval delta(Interval epsilon) const { return loss_.delta(Direction::remove, epsilon); }
  [[nodiscard]] Place touch(Interval epsilon) const {
    const Loss::Test low = *loss_.test_at(Direction::remove, epsilon.lo);
    const Loss::Test high = *loss_.test_at(Direction::remove, epsilon.hi);
    return {{high.false_positive.lo, low.false_positive.hi}, 1 - Interval{high.true_positive.lo, low.true_positive.hi}};
  }
  /// f(0), and the fixed point f(c) = c.
  [[nodiscard]] Interval start() const { return start_; }
  [[nodiscard]] Interval fixed_point() const { return (1 - delta(Interval::exactly(0))) / 2.0; }
  /// The intercept of the tangent of this slope.
  [[nodiscard]] Interval tangent(Interval epsilon, Interval x) const { return 1 - delta(epsilon) - exp(epsilon) * x; }

  /// The approximate epsilon at which x - f(x) is this share of its range: 0 on the diagonal, 1 on the axis.
  [[nodiscard]] double epsilon_at_share(double share) const {
    const auto beyond = [&](double epsilon) {
      const Place place = touch(Interval::exactly(epsilon));
      return middle_of(place.y - place.x) > share * middle_of(start_);
    };
    double high = 1;
    while (high < 1e4 && !beyond(high)) high *= 2;
    return numeric::bisect(beyond, {0, high}, 60).beyond;
  }

 private:
  const Loss& loss_;
  Interval start_;
};

/// Area on [0, 1] under a symmetric polygon given by its corners from the axis to the diagonal.
Interval area_under(const std::vector<Place>& corners) {
  Interval half = Interval::exactly(0);
  for (std::size_t i = 1; i < corners.size(); ++i)
    half = half + (corners[i].x - corners[i - 1].x) * (corners[i].y + corners[i - 1].y) / 2.0;
  return 2.0 * half - corners.back().x * corners.back().y;
}

Approximation from_tangents(std::vector<Guarantee> pieces) {
  std::vector<Place> corners{{Interval::exactly(0), 1 - pieces.front().delta}};
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto& [epsilon, delta] = pieces[i];
    if (i + 1 == pieces.size()) {
      const Interval fixed = (1 - delta) / (1 + exp(epsilon));
      corners.push_back({fixed, fixed});
      continue;
    }
    const Interval x = (pieces[i + 1].delta - delta) / (exp(pieces[i + 1].epsilon) * expm1(epsilon - pieces[i + 1].epsilon));
    corners.push_back({x, 1 - delta - exp(epsilon) * x});
  }
  return {std::move(pieces), area_under(corners)};
}

Approximation from_chords(const std::vector<Place>& corners) {
  Approximation result{{}, area_under(corners)};
  for (std::size_t i = 1; i < corners.size(); ++i) {
    const Interval slope = (corners[i - 1].y - corners[i].y) / (corners[i].x - corners[i - 1].x);
    const Interval delta = clamp(1 - corners[i - 1].y - slope * corners[i - 1].x, 0, 1);
    result.pieces.push_back({max(log(slope), Interval::exactly(0)), delta});
  }
  return result;
}

/// The sweeps stop when no slope moves by more than this (at the optimum the area changes only to second order), or after so many sweeps.
constexpr double settled = 1e-11;
constexpr int most_sweeps = 2000;

/// The over-relaxation factor for so many slopes. With successive over-relaxation the number of sweeps grows linearly with the number of
/// slopes instead of quadratically.
double eagerness(std::size_t slopes) { return 2 / (1 + std::sin(3.14159265 / static_cast<double>(slopes + 1))); }

/// `count` slopes between the diagonal and the axis at equal shares of x - f(x), steepest first: the start of the sweeps.
std::vector<double> even_slopes(const SmoothCurve& curve, std::size_t count) {
  std::vector<double> slopes;
  for (std::size_t i = count; i > 0; --i)
    slopes.push_back(curve.epsilon_at_share((static_cast<double>(i) - 0.5) / static_cast<double>(count)));
  return slopes;
}

// --- tangents [tangent-approximation] ---

/// For more than two tangents: each in turn is moved until it touches in the middle of its edge. It is proved that the lines are tangents,
/// so the polygon lies below the curve; the optimality of the polygon is not proved.
class TangentSweep {
 public:
  TangentSweep(const SmoothCurve& curve, std::size_t pieces, bool turned) : curve_(curve), turned_(turned) {
    for (const double slope : even_slopes(curve, pieces)) lines_.push_back(line(slope));
  }

  [[nodiscard]] Approximation find() {
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
      double change = 0;
      for (std::size_t i = 0; i < lines_.size(); ++i) {
        const double before = lines_[i].epsilon;
        improve(i);
        change = std::max(change, std::abs(lines_[i].epsilon - before));
      }
      if (change < settled) break;
    }
    std::vector<Guarantee> pieces;
    for (const Line& one : lines_) pieces.push_back({Interval::exactly(one.epsilon), curve_.delta(Interval::exactly(one.epsilon))});
    return from_tangents(std::move(pieces));
  }

 private:
  struct Line {
    double epsilon;
    double slope;      // exp(epsilon)
    double intercept;  // 1 - delta
    double touch;      // x
  };
  [[nodiscard]] Line line(double epsilon) const {
    const Interval at = Interval::exactly(epsilon);
    return {epsilon, std::exp(epsilon), middle_of(1 - curve_.delta(at)), middle_of(curve_.touch(at).x)};
  }
  /// Positive if the tangent touches left of the middle of its edge; then it should be flatter.
  [[nodiscard]] double lag(const Line& own, std::size_t i) const {
    const auto crossing = [](const Line& a, const Line& b) { return (a.intercept - b.intercept) / (a.slope - b.slope); };
    const double axis = turned_ ? (own.intercept - middle_of(curve_.start())) / (1 + own.slope) : 0;
    const double from = i > 0 ? crossing(lines_[i - 1], own) : axis;
    const double to = i + 1 < lines_.size() ? crossing(own, lines_[i + 1]) : own.intercept / (1 + own.slope);
    return (from + to) / 2 - own.touch;
  }
  void improve(std::size_t i) {
    // Next to a neighbour the crossing is 0/0; the margin avoids that.
    const double steepest = i > 0 ? lines_[i - 1].epsilon : 2 * lines_[i].epsilon + 1;
    const double flattest = i + 1 < lines_.size() ? lines_[i + 1].epsilon : 0;
    const double margin = 1e-7 * (steepest - flattest);
    const auto lags = [&](double epsilon) { return lag(line(epsilon), i) > 0; };
    const auto [low, high] = numeric::bisect(lags, {flattest + margin, steepest - margin}, 50);
    const double eager = lines_[i].epsilon + eagerness(lines_.size()) * ((low + high) / 2 - lines_[i].epsilon);
    lines_[i] = line(std::clamp(eager, flattest + margin, steepest - margin));
  }

  const SmoothCurve& curve_;
  bool turned_;
  std::vector<Line> lines_;
};

/// One or two tangents, with proof. Each tangent touches in the middle of its edge, so the first slope determines the first corner, and the
/// corner the next tangent. `residual` measures how the last edge misses the diagonal: negative if the first slope is too steep.
struct TangentChain {
  std::vector<Guarantee> pieces;
  Interval residual;
};

class TangentSearch {
 public:
  TangentSearch(const SmoothCurve& curve, std::size_t pieces, bool turned) : curve_(curve), pieces_(pieces), turned_(turned) {}

  [[nodiscard]] Approximation find() const {
    // The root may not be unique: scan, and among all sign changes keep the one with the largest area.
    constexpr int scans = 48;
    std::optional<Approximation> best;
    double flatter = curve_.epsilon_at_share(1.0 / (scans + 1));
    bool flatter_positive = middle_of(chain(Interval::exactly(flatter)).residual) > 0;
    for (int i = 2; i <= scans; ++i) {
      const double steeper = curve_.epsilon_at_share(static_cast<double>(i) / (scans + 1));
      const bool positive = middle_of(chain(Interval::exactly(steeper)).residual) > 0;
      if (flatter_positive && !positive) {
        const Approximation candidate = refine(flatter, steeper);
        if (!best || middle_of(candidate.area) > middle_of(best->area)) best = candidate;
      }
      flatter = steeper;
      flatter_positive = positive;
    }
    if (!best) throw UnsupportedError("approximate: no stationary polygon with " + std::to_string(pieces_) + " pieces was found");
    return *best;
  }

 private:
  [[nodiscard]] Approximation refine(double flatter, double steeper) const {
    const auto judge = [&](double epsilon) { return sign_of(chain(Interval::exactly(epsilon)).residual); };
    return from_tangents(chain(narrow_bracket(judge, flatter, steeper)).pieces);
  }

  [[nodiscard]] TangentChain chain(Interval first) const {
    TangentChain result;
    Interval epsilon = first;
    Place corner{Interval::exactly(0), Interval::exactly(0)};
    for (std::size_t i = 0;; ++i) {
      const Place touched = curve_.touch(epsilon);
      result.pieces.push_back({epsilon, curve_.delta(epsilon)});
      if (i + 1 == pieces_) {
        result.residual = last_residual(i, epsilon, touched, corner);
        return result;
      }
      corner = next_corner(i, epsilon, touched, corner);
      const auto next = next_tangent(corner, epsilon);
      if (!next) {
        result.residual = Interval::exactly(1);  // past the diagonal: the first slope is too flat
        return result;
      }
      epsilon = *next;
    }
  }

  /// 2 D(x) - D(corner) with D(x) = x - f(x): zero if the tangent point is half-way between the last corner and the diagonal.
  [[nodiscard]] Interval last_residual(std::size_t index, Interval epsilon, const Place& touched, const Place& corner) const {
    const Interval twice = 2.0 * (touched.x - touched.y);
    if (index > 0) return twice - (corner.x - corner.y);
    if (turned_) return twice + curve_.start();
    return 2.0 * touched.x - (1 - curve_.delta(epsilon)) / (1 + exp(epsilon));
  }

  [[nodiscard]] Place next_corner(std::size_t index, Interval epsilon, const Place& touched, const Place& corner) const {
    Interval x = 2.0 * touched.x - corner.x;  // the first edge starts on the axis
    if (index == 0 && turned_) {
      const Interval turned_end = 2.0 * (touched.x - touched.y) + curve_.start();  // ... or at the axis of the rotated graph
      x = (1 - curve_.delta(epsilon) + turned_end) / (1 + exp(epsilon));
    }
    return {x, curve_.tangent(epsilon, x)};
  }

  /// The flatter tangent through a point below the curve. Its value there increases with its slope while it touches to the right of the
  /// point.
  [[nodiscard]] std::optional<Interval> next_tangent(const Place& corner, Interval steeper) const {
    const auto touches_to_the_left = [&](double epsilon) {
      return !(middle_of(curve_.touch(Interval::exactly(epsilon)).x) > middle_of(corner.x));
    };
    const double high = numeric::bisect(touches_to_the_left, {0, steeper.hi}, 60).beyond;
    const auto judge = [&](double epsilon) { return sign_of(corner.y - curve_.tangent(Interval::exactly(epsilon), corner.x)); };
    if (!judge(0).before || !judge(high).after) return std::nullopt;
    return narrow_bracket(judge, 0, high);
  }

  const SmoothCurve& curve_;
  std::size_t pieces_;
  bool turned_;
};

// --- chords [chord-approximation] ---

/// The corners lie on the curve; the tangent at each is parallel to the chord between its neighbours. For two pieces that is one equation
/// with a closed solution. For more pieces each corner in turn is moved to its place between its neighbours; the resulting polygon is what
/// is proved.
Approximation best_chords(const SmoothCurve& curve, std::size_t pieces) {
  const Interval fixed = curve.fixed_point();
  const Place first{Interval::exactly(0), curve.start()};
  const Place last{fixed, fixed};
  if (pieces == 1) return from_chords({first, last});
  if (pieces == 2) return from_chords({first, curve.touch(log((curve.start() - fixed) / fixed)), last});
  std::vector<double> slopes = even_slopes(curve, pieces - 1);
  std::vector<Place> corners{first};
  for (const double slope : slopes) corners.push_back(curve.touch(Interval::exactly(slope)));
  corners.push_back(last);
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    double change = 0;
    for (std::size_t i = 1; i < pieces; ++i) {
      const double slope = std::log(middle_of(corners[i - 1].y - corners[i + 1].y) / middle_of(corners[i + 1].x - corners[i - 1].x));
      const double eager = slopes[i - 1] + eagerness(pieces - 1) * (slope - slopes[i - 1]);
      const double flattest = i < slopes.size() ? slopes[i] : 0;
      const double steepest = i > 1 ? slopes[i - 2] : 2 * slopes[i - 1] + 1;
      const double moved = eager > flattest && eager < steepest ? eager : slope;
      change = std::max(change, std::abs(moved - slopes[i - 1]));
      slopes[i - 1] = moved;
      corners[i] = curve.touch(Interval::exactly(slope));
    }
    if (change < settled) break;
  }
  return from_chords(corners);
}

// --- Laplace: everything in closed form ---

Approximations approximate_laplace(Interval epsilon, std::size_t pieces) {
  const double count = static_cast<double>(pieces);
  const Interval fixed = exp(-epsilon / 2.0) / 2.0;
  Approximations result;
  std::vector<Guarantee> tangents;
  for (double i = 0; i < count; ++i) {
    // The tangents of a hyperbola touch in the middle of their edges if the abscissae form a geometric sequence.
    const Interval share = Interval::exactly(2 * count - 1 - 2 * i) / Interval::exactly(2 * count - 1);
    const Interval slope = i == 0 ? epsilon : epsilon * share;
    tangents.push_back({slope, i == 0 ? Interval::exactly(0) : -expm1((share - 1) * epsilon / 2.0)});
  }
  result.below = from_tangents(tangents);
  result.below_published = result.below;
  // Corners c q^(m-i) with q^m = c (1 + q^2): the tangent at each is parallel to the chord between its neighbours.
  std::vector<Place> corners{{Interval::exactly(0), Interval::exactly(1)}};
  if (pieces > 1) {
    const auto judge = [&](double q) {
      const Interval point = Interval::exactly(q);
      return sign_of(fixed * (1 + square(point)) - power(point, pieces));
    };
    const Interval q = narrow_bracket(judge, 0, 1);
    for (std::size_t i = 1; i < pieces; ++i) {
      const Interval scale = power(q, pieces - i);
      corners.push_back({fixed * scale, fixed / scale});
    }
  }
  corners.push_back({fixed, fixed});
  result.above = from_chords(corners);
  result.area = square(fixed) * (2 + epsilon);
  return result;
}

void refuse_unless_symmetric(const Loss& loss, std::size_t pieces) {
  if (pieces == 0) throw DomainError("approximate: pieces = 0 is not allowed; at least 1 is needed");
  if (pieces > 64) throw TooLargeError("approximate: at most 64 pieces");
  if (!loss.symmetric()) throw UnsupportedError("approximate: the curve is not symmetric");
}

void refuse_unless_smooth(const Loss& loss) {
  if (loss.atoms(Direction::remove) != nullptr || !loss.test_at(Direction::remove, 0.0))
    throw UnsupportedError("approximate: the curve is not smooth, or its tests are not known");
}

/// The approximate smallest epsilon with delta(epsilon) at most this: the range that a lattice of slopes must cover.
double reach(const Loss& loss, double delta) {
  const auto beyond = [&](double epsilon) { return loss.delta(Direction::remove, Interval::exactly(epsilon)).hi <= delta; };
  double high = 1;
  while (high < 1e4 && !beyond(high)) high *= 2;
  return numeric::bisect(beyond, {0, high}, 20).beyond;
}

}  // namespace

Approximations detail::approximate(const Loss& loss, std::size_t pieces) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return approximate(loss, pieces); });

  const QuestionScope question;
  refuse_unless_symmetric(loss, pieces);
  if (const auto epsilon0 = loss.capabilities(Direction::remove).laplace_epsilon) {
    if (!(epsilon0->lo > 0)) throw UnsupportedError("approximate: perfect privacy is its own approximation");
    return approximate_laplace(*epsilon0, pieces);
  }
  refuse_unless_smooth(loss);
  const SmoothCurve curve(loss);
  Approximations result;
  const auto tangents = [&](bool turned) {
    return pieces <= 2 ? TangentSearch(curve, pieces, turned).find() : TangentSweep(curve, pieces, turned).find();
  };
  result.below = tangents(false);
  result.below_published = tangents(true);
  result.above = best_chords(curve, pieces);
  if (const auto mu = loss.gaussian_mu()) result.area = normal_cdf(-*mu / sqrt(Interval::exactly(2)));
  return result;
}

std::vector<Guarantee> detail::lattice_tangents(const Loss& loss, Interval step, std::size_t count) {
  if (!loss.symmetric()) throw UnsupportedError("lattice tangents: the curve is not symmetric");
  std::vector<Guarantee> tangents;
  for (std::size_t i = 0; i <= count; ++i) {
    const Interval epsilon = Interval::exactly(static_cast<double>(i)) * step;
    tangents.push_back({epsilon, loss.delta(Direction::remove, epsilon)});
  }
  return tangents;
}

std::vector<Guarantee> detail::lattice_chords(const Loss& loss, Interval step, std::size_t count) {
  if (!loss.symmetric()) throw UnsupportedError("lattice chords: the curve is not symmetric");
  refuse_unless_smooth(loss);
  const SmoothCurve curve(loss);
  std::vector<Place> corners{{Interval::exactly(0), curve.start()}};
  for (std::size_t i = count; i > 0; --i) {
    const Place next = curve.touch(Interval::exactly(static_cast<double>(i)) * step);
    if (next.x.lo > corners.back().x.hi) corners.push_back(next);  // a corner that rounding cannot distinguish from the last one is dropped
  }
  const Interval fixed = curve.fixed_point();
  if (!(fixed.lo > corners.back().x.hi)) corners.pop_back();
  corners.push_back({fixed, fixed});
  return from_chords(corners).pieces;
}

Interval detail::composed_between_polygons(const LossPointer& loss, std::size_t pieces, std::uint64_t times, Interval epsilon) {
  if (!numeric::arithmetic_is_usual())
    return numeric::in_usual_arithmetic([&] { return composed_between_polygons(loss, pieces, times, epsilon); });

  const QuestionScope question;
  refuse_unless_symmetric(*loss, pieces);
  const auto below = [&](std::vector<Guarantee> tangents) {
    const Parts parts{{std::make_shared<ConstraintsLoss>(std::move(tangents)), times}};
    const LossPointer composed = exact_size(parts).fits ? compose_exactly(parts, {}) : compose_by_lattice(parts, {});
    return composed->delta(Direction::remove, epsilon).hi;  // symmetric, like every list of constraints
  };
  const auto above = [&](std::vector<Guarantee> chords) {
    constexpr Tolerance merging{1e-4};  // far smaller than the error of chords this coarse
    return compose_by_lattice({{std::make_shared<ConstraintsLoss>(std::move(chords)), times}}, merging)
        ->delta(Direction::remove, epsilon)
        .lo;
  };
  if (loss->capabilities(Direction::remove).laplace_epsilon) {  // its best tangents already lie on a lattice
    const Approximations polygons = approximate(*loss, pieces);
    return {above(polygons.above.pieces), below(polygons.below.pieces)};
  }
  // A long range makes the lattice coarser, a short one leaves mass at infinity. Which is better depends on epsilon; all results are valid.
  Interval delta{0, 1};
  for (const double left_out : {1e-1, 1e-2, 1e-4, 1e-6, 1e-9}) {
    const Interval step = Interval::exactly(reach(*loss, left_out / static_cast<double>(times)) / static_cast<double>(pieces));
    delta.hi = std::min(delta.hi, below(lattice_tangents(*loss, step, pieces)));
    delta.lo = std::max(delta.lo, above(lattice_chords(*loss, step, pieces)));
  }
  return delta;
}

Approximations approximate(const Curve& curve, std::size_t pieces) { return approximate(*loss_of(curve), pieces); }

Interval composed_between_polygons(const Curve& curve, std::size_t pieces, std::uint64_t times, Interval epsilon) {
  return composed_between_polygons(loss_of(curve), pieces, times, epsilon);
}

}  // namespace tradeoff
