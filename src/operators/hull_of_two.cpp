// SPDX-License-Identifier: Apache-2.0
#include "operators/hull_of_two.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "loss/mirrored_delta.h"
#include "numeric/arithmetic.h"
#include "numeric/minimize.h"
#include "operators/duality.h"

namespace tradeoff::detail {
namespace {

// How finely the slopes are split where both trade-off functions nearly agree, and the number of slopes in total.
constexpr double finest_cell = 1e-7;
constexpr std::size_t most_slopes = 400;

/// Both trade-off functions at one slope -q of the profiles in x = e^e, that is at alpha = q.
struct Slope {
  double q;
  Interval first;
  Interval second;
  double line;  ///< the line p - q x with this p lies below both profiles
};

enum class Winner { first, second, unknown };

/// Which of the two trade-off functions is larger everywhere between two slopes. Both decrease.
Winner winner_between(const Slope& flat, const Slope& steep) {
  if (steep.first.lo >= flat.second.hi) return Winner::first;
  if (steep.second.lo >= flat.first.hi) return Winner::second;
  return Winner::unknown;
}

class HullOfTwo final : public Loss, public ClosedForms {
 public:
  HullOfTwo(LossPointer owner, const Loss& first, LossPointer second)
      : owner_(std::move(owner)), first_(first), kept_(std::move(second)), second_(*kept_), end_(second_.tail().zero_from) {
    const Recording own;  // the slopes are stored together with their theorems
    const double floor = first_.infinite_mass(Direction::remove).lo;
    second_floor_ = second_.infinite_mass(Direction::remove);
    // Slopes flatter than all that matter: the line through the end of the second profile, or through the point where it is far below the
    // infinite mass of the first one (or at the largest epsilon in use, if that mass is 0).
    const double far_below = second_floor_.hi + std::max(1e-3 * (floor - second_floor_.hi), 1e-12 + 1e-6 * second_floor_.hi);
    reach_ = end_;
    if (!(end_ < infinity))
      for (reach_ = 1; reach_ < 1e4 && second_.delta(Direction::remove, Interval::exactly(reach_)).hi > far_below; reach_ *= 1.25) continue;
    const double level = end_ < infinity ? std::exp(-20) : second_.delta(Direction::remove, Interval::exactly(reach_)).hi;
    slopes_.push_back(slope_at(std::max(level * std::exp(-reach_), 1e-290)));
    second_wins_flatter_ = slopes_.front().second.lo >= numeric::add_up(1, -floor);  // the first trade-off function never exceeds 1 - floor
    split(slope_at(0.5));
    find_bridges();
    owner_->cite();
    citations_ = own.citations();
    citations_.emplace_back("guarantee-hull",
                            "the convex hull of the smaller of both profiles, by " + std::to_string(slopes_.size()) + " slopes");
  }

  [[nodiscard]] Interval delta(Direction, Interval epsilon) const override {
    HullOfTwo::cite();
    const Interval first = mirrored(epsilon.lo);
    return epsilon.lo == epsilon.hi ? first : Interval{mirrored(epsilon.hi).lo, first.hi};
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    const bool far = epsilon.lo >= reach_ && epsilon.hi < infinity && wins(second_, Winner::second, epsilon.lo);
    HullOfTwo::cite();
    return far ? second_.log_delta(direction, epsilon) : log(delta(direction, epsilon));
  }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return min(second_floor_, first_.infinite_mass(Direction::remove)); }
  /// Every field of the second tail bounds the hull. Its limit is that of the hull only if the first profile does not fall further.
  [[nodiscard]] Tail tail() const override {
    Tail tail = second_.tail();
    tail.largest = smaller(first_.tail().largest, tail.largest);
    const bool second_is_last = end_ < infinity || first_.infinite_mass(Direction::remove).lo > second_floor_.hi;
    if (!second_is_last) tail.limit = {0, Tail::nothing};
    return tail;
  }
  /// Each of the two bounds limits every test.
  [[nodiscard]] std::optional<Interval> closed_beta(Direction, Interval alpha) const override {
    return max(dual_beta(Profile(first_, Direction::remove), alpha), dual_beta(Profile(second_, Direction::remove), alpha));
  }
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.closed_forms = this, .cost = std::max(first_.cost(), second_.cost())};
  }
  void cite() const override { record(citations_); }

 private:
  /// A straight segment of the hull, from a point of one profile to a point of the other.
  struct Bridge {
    double from, to;
    double above_from, above_to;
    Slope slope;
  };

  [[nodiscard]] Slope slope_at(double q) const {
    const Interval first = dual_beta(Profile(first_, Direction::remove), Interval::exactly(q));
    const Interval second = dual_beta(Profile(second_, Direction::remove), Interval::exactly(q));
    return {q, first, second, numeric::add_down(1, -std::max(first.hi, second.hi))};
  }

  /// Adds slopes up to `steep`, more densely where neither function is certainly larger; all such places are refined in turn.
  void split(const Slope& steep) {
    slopes_.push_back(steep);
    for (bool split_any = true; split_any && slopes_.size() <= most_slopes;) {
      split_any = false;
      std::vector<Slope> finer{slopes_.front()};
      for (std::size_t i = 1; i < slopes_.size(); ++i) {
        const Slope &flat = slopes_[i - 1], &next = slopes_[i];
        if (winner_between(flat, next) == Winner::unknown && next.q > flat.q * (1 + finest_cell)) {
          finer.push_back(slope_at(std::sqrt(flat.q) * std::sqrt(next.q)));
          split_any = true;
        }
        finer.push_back(next);
      }
      slopes_ = std::move(finer);
    }
  }

  /// Where the larger function changes, the hull follows the common tangent from one profile to the other.
  void find_bridges() {
    Winner before = Winner::unknown;
    for (std::size_t i = 1; i < slopes_.size(); ++i) {
      const Winner now = winner_between(slopes_[i - 1], slopes_[i]);
      if (now == Winner::unknown) continue;
      if (before != Winner::unknown && now != before) add_bridge(tangent_near(i));
      before = now;
    }
  }

  /// The slope where both trade-off functions agree within rounding, within the undecided cells before this one.
  [[nodiscard]] Slope tangent_near(std::size_t cell) const {
    const auto gap = [](const Slope& slope) { return std::abs((slope.first.lo - slope.second.lo) + (slope.first.hi - slope.second.hi)); };
    Slope best = slopes_[cell - 1];
    for (std::size_t i = cell - 1; i > 0 && winner_between(slopes_[i - 1], slopes_[i]) == Winner::unknown; --i)
      if (gap(slopes_[i - 1]) < gap(best)) best = slopes_[i - 1];
    return best;
  }

  void add_bridge(const Slope& slope) {
    const double one = touching(first_, slope.q), two = touching(second_, slope.q);
    const auto above = [](const Loss& loss, double e) { return loss.delta(Direction::remove, Interval::exactly(e)).hi; };
    if (one < two)
      bridges_.push_back({one, two, above(first_, one), above(second_, two), slope});
    else
      bridges_.push_back({two, one, above(second_, two), above(first_, one), slope});
  }

  /// The point where the line of this slope touches a profile: the minimum of delta(e) + q e^e, by golden section. Any point is a valid
  /// end.
  [[nodiscard]] double touching(const Loss& loss, double q) const {
    const auto value = [&](double e) {
      const Interval sum = loss.delta(Direction::remove, Interval::exactly(e)) + exp(Interval::exactly(e)) * q;
      return sum.lo + sum.hi;
    };
    const double inside = numeric::golden_section(value, 0, reach_, 1e-9 * (1 + reach_)).best;
    return value(reach_) < value(inside) ? reach_ : inside;
  }

  [[nodiscard]] Interval mirrored(double epsilon) const {
    const Interval there = clamp(at(std::abs(epsilon)), 0, 1);
    return epsilon >= 0 ? there : mirrored_delta(epsilon, there);
  }

  /// Upper end: the smaller profile, or a chord between two of its points. Lower end: the profile itself if it is certainly the hull at its
  /// own slope, otherwise the best line below both.
  [[nodiscard]] Interval at(double epsilon) const {
    if (epsilon == infinity) return infinite_mass(Direction::remove);  // end_ may be infinite too
    if (epsilon >= end_) return Interval::exactly(0.0);
    const Interval point = Interval::exactly(epsilon);
    const Interval one = first_.delta(Direction::remove, point), two = second_.delta(Direction::remove, point);
    const bool first_is_less = one.lo + one.hi < two.lo + two.hi;
    double above = std::min(one.hi, two.hi);
    for (const Bridge& bridge : bridges_)
      if (bridge.from < epsilon && epsilon < bridge.to) above = std::min(above, chord(bridge, epsilon));
    const double own = (first_is_less ? one : two).lo;
    if (wins(first_is_less ? first_ : second_, first_is_less ? Winner::first : Winner::second, epsilon))
      return {std::min(own, above), above};
    const double x = exp(point).hi;
    double below = 0;
    for (const Slope& slope : slopes_) below = std::max(below, numeric::add_down(slope.line, -numeric::multiply_up(slope.q, x)));
    return {std::min(below, above), above};
  }

  [[nodiscard]] static double chord(const Bridge& bridge, double epsilon) {
    const Interval share = clamp(expm1(Interval::exactly(epsilon) - bridge.to) / expm1(Interval::exactly(bridge.from) - bridge.to), 0, 1);
    return (Interval::exactly(bridge.above_to) + share * (Interval::exactly(bridge.above_from) - bridge.above_to)).hi;
  }

  /// Whether the profile's own tangents at epsilon lie below the other profile; secants on both sides enclose their slopes.
  [[nodiscard]] bool wins(const Loss& loss, Winner wanted, double epsilon) const {
    const double step = 1e-6 * (1 + epsilon);
    const std::array<Interval, 3> e{Interval::exactly(epsilon) - step, Interval::exactly(epsilon), Interval::exactly(epsilon) + step};
    std::array<Interval, 3> x, value;
    for (std::size_t i = 0; i < 3; ++i) {
      x[i] = exp(e[i]);
      value[i] = loss.delta(Direction::remove, e[i]);
    }
    const double flat = ((value[1] - value[2]) / (x[2] - x[1])).lo, steep = ((value[0] - value[1]) / (x[1] - x[0])).hi;
    const auto by_slope = [](const Slope& slope, double q) { return slope.q < q; };
    auto cell = std::lower_bound(slopes_.begin(), slopes_.end(), flat, by_slope);  // the first slope not below `flat`
    if (cell == slopes_.begin()) {
      if (!(wanted == Winner::second && second_wins_flatter_)) return false;
      if (cell->q >= steep) return true;
      ++cell;
    }
    for (; cell != slopes_.end(); ++cell) {
      if (winner_between(*(cell - 1), *cell) != wanted) return false;
      if (cell->q >= steep) return true;
    }
    return false;
  }

  LossPointer owner_;
  const Loss& first_;
  LossPointer kept_;
  const Loss& second_;
  Interval second_floor_;
  double end_;    // where the second profile becomes 0; may be infinite
  double reach_;  // no common tangent beyond this epsilon
  bool second_wins_flatter_ = false;
  std::vector<Slope> slopes_;  // from flat to steep
  std::vector<Bridge> bridges_;
  Citations citations_;
};

}  // namespace

// [guarantee-hull]
LossPointer hull_of_two(LossPointer owner, const Loss& first, LossPointer second) {
  return std::make_shared<HullOfTwo>(std::move(owner), first, std::move(second));
}

}  // namespace tradeoff::detail
