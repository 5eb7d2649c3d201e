// SPDX-License-Identifier: Apache-2.0
#include "mechanism/stopping_game.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "loss/gaussian_profile.h"
#include "numeric/arithmetic.h"

namespace tradeoff::detail {
namespace {

/// A query of which "above" has the probability p with the record and e^-above_loss p without it, "below" 1 - p and e^below_loss (1 - p).
struct Query {
  Interval p;             // above, with the record
  Interval not_p;         // below, with the record
  double above_loss = 0;  // infinite if "above" cannot happen without the record
  double below_loss = 0;
};

/// Two losses determine the probabilities. Larger losses dominate.
Query query_of_losses(double above_loss, double below_loss) {
  if (below_loss == infinity) return {Interval::exactly(1), Interval::exactly(0), above_loss, below_loss};
  if (above_loss == infinity) return {-expm1(-Interval::exactly(below_loss)), exp(-Interval::exactly(below_loss)), above_loss, below_loss};
  const Interval up = expm1(Interval::exactly(below_loss)), down = -expm1(-Interval::exactly(above_loss));
  return {up / (up + down), down / (up + down), above_loss, below_loss};
}

/// A query as weights of grid nodes. The value after "above" is read at x e^-above_loss, between the nodes i - above - 1 and i - above;
/// after "below" it is read at x e^below_loss, between i + below and i + below + 1.
struct Stencil {
  std::int64_t above = 0;
  double above_far = 0, above_near = 0;  // weights of i - above - 1 and i - above
  std::int64_t below = 0;
  double below_near = 0, below_far = 0;  // weights of i + below and i + below + 1
  double revealed = 0;                   // the chance of an infinite loss
};

/// The weight of the right node in the chord at x = e^z, from below: z lies between the nodes `left` and `left` + 1.
double right_weight(double step, std::int64_t left, double z) {
  const Interval offset = Interval::exactly(z) - Interval::exactly(step) * Interval::exactly(left);
  return (expm1(offset) / expm1(Interval::exactly(step))).lo;
}

/// The node left of z, and the weight of the one after it. A smaller weight is an upper bound, because values fall.
struct Place {
  std::int64_t left = 0;
  double weight = 0;
};
Place place_of(double step, double z) {
  std::int64_t left = static_cast<std::int64_t>(std::floor(z / step));
  while (right_weight(step, left, z) < 0) --left;
  return {left, std::min(1.0, right_weight(step, left, z))};
}

/// [sparse-vector] [sparse-vector-gaussian]
Stencil stencil_of(const Query& query, double step) {
  Stencil stencil;
  const auto product = [](Interval chance, double weight) { return (chance * Interval::exactly(weight)).hi; };
  if (query.above_loss < infinity) {
    const Place place = place_of(step, -query.above_loss);
    stencil.above = -place.left - 1;
    stencil.above_near = product(query.p, place.weight);
    stencil.above_far = product(query.p, numeric::add_up(1, -place.weight));
  }
  if (query.above_loss == infinity) stencil.revealed = query.p.hi;
  if (query.below_loss < infinity) {
    const Place place = place_of(step, query.below_loss);
    stencil.below = place.left;
    stencil.below_far = product(query.not_p, place.weight);
    stencil.below_near = product(query.not_p, numeric::add_up(1, -place.weight));
  }
  return stencil;
}

/// [sparse-vector] The corners of a polygon of tangents below the curve of Laplace noise, p' = e^-s/(4 (1 - p)) between its straight ends.
std::vector<Query> laplace_corners(double shift, std::size_t count) {
  std::vector<Interval> t;  // e^a at the points of tangency, from a = -shift to 0
  for (std::size_t i = 0; i <= count; ++i)
    t.push_back(exp(-Interval::exactly(shift) * Interval::exactly(count - i) / Interval::exactly(count)));
  std::vector<Query> corners;
  for (std::size_t i = 0; i < count; ++i) {
    const Interval not_p = t[i] * t[i + 1] / (t[i] + t[i + 1]);
    const Interval other_p = t.front() / (t[i] + t[i + 1]);
    double above = log((1.0 - not_p) / other_p).hi, below = log((1.0 - other_p) / not_p).hi;
    if (i + 1 == count) above = std::max(above, shift);
    if (i == 0) below = std::max(below, shift);
    corners.push_back(query_of_losses(above, below));
  }
  return corners;
}

constexpr double rounding = 1 + 16 * 0x1p-52;  // more than the roundings of one update
constexpr double least_value = 1e-300;         // covers products that underflow

/// The values of the game with so many answers "above" left, on the nodes first..last of a grid, with nodes to the left that continue
/// them by the line to 1 at x = 0.
class Level {
 public:
  Level(double step, std::int64_t first, std::int64_t last, std::int64_t margin) : first_(first), last_(last), margin_(margin) {
    for (std::int64_t i = 0; i <= margin; ++i) grown_.push_back((-expm1(-Interval::exactly(step) * Interval::exactly(i))).hi);
    values_.assign(static_cast<std::size_t>(last - first + margin + 1), 1.0);
  }
  [[nodiscard]] double at(std::int64_t i) const {
    return values_[static_cast<std::size_t>(std::clamp(i, first_ - margin_, last_) - first_ + margin_)];
  }
  void set(std::int64_t i, double value) { values_[static_cast<std::size_t>(i - first_ + margin_)] = value; }
  /// [sparse-vector] 1 - x is no bound there: the value stays above it for every x > 0.
  void continue_to_the_left() {
    const double missing = 1 - at(first_);
    for (std::int64_t i = 1; i <= margin_; ++i)
      set(first_ - i, std::min(1.0, (at(first_) + grown_[static_cast<std::size_t>(i)] * missing) * rounding));
  }
  [[nodiscard]] ProfileGrid grid(double step) const { return {step, first_, {values_.begin() + margin_, values_.end()}}; }

 private:
  std::int64_t first_, last_, margin_;
  std::vector<double> grown_;  // 1 - e^(-i step)
  std::vector<double> values_;
};

/// V_0 = (1 - x)+.
void start(Level& level, double step, std::int64_t first, std::int64_t last) {
  for (std::int64_t i = first; i <= last; ++i) level.set(i, i >= 0 ? 0 : (-expm1(Interval::exactly(step) * Interval::exactly(i))).hi);
  level.continue_to_the_left();
}

std::int64_t margin_of(const std::vector<Stencil>& stencils) {
  std::int64_t most = 1;
  for (const Stencil& one : stencils) most = std::max(most, one.above + 1);
  return most;
}

/// How fine the grid and the polygon are.
struct Fineness {
  std::int64_t steps = 1;   // of the grid in one shift
  std::size_t corners = 1;  // of the polygon
};

/// About 1e7 updates, some hundredths of a second.
Fineness fineness_for(double shift, std::uint64_t positives, std::int64_t most_steps) {
  const double count = static_cast<double>(positives), corners = std::clamp(std::ceil(6 + 12 * shift), 6.0, 60.0);
  const double steps = std::min(std::floor(1e7 / (2 * count * count * corners)), static_cast<double>(most_steps));
  if (steps < 4) return {};  // randomised response in the place of a query
  return {static_cast<std::int64_t>(std::min(steps, 256.0)), static_cast<std::size_t>(corners)};
}

}  // namespace

// [sparse-vector] The value at a node is at most the largest of the corners there, where the game goes on at nodes to the right that are
// known already. A corner that leads back to the node itself is solved for it.
ProfileGrid laplace_game(double shift, std::uint64_t positives, std::int64_t most_steps) {
  const Fineness fineness = fineness_for(shift, positives, most_steps);
  const double step = numeric::divide_up(shift, static_cast<double>(fineness.steps));
  std::vector<Stencil> stencils;
  for (const Query& query : laplace_corners(shift, fineness.corners)) stencils.push_back(stencil_of(query, step));
  const std::int64_t count = static_cast<std::int64_t>(positives);
  // twelve standard deviations of the loss, which moves by about one shift for each of about 2 `positives` queries
  const std::int64_t reach = static_cast<std::int64_t>(std::ceil(12 * std::sqrt(2 * static_cast<double>(positives)) + 2)) * fineness.steps;
  const std::int64_t last = std::min(count * fineness.steps, reach), first = -std::min((count + 1) * fineness.steps, reach);
  Level before(step, first, last, margin_of(stencils)), level = before;
  start(before, step, first, last);
  for (std::int64_t j = 1; j <= count; ++j) {
    const std::int64_t zero_from = j * fineness.steps;  // where x >= e^(j shift), the pure bound
    if (last < zero_from) level.set(last, before.at(last - margin_of(stencils)));
    for (std::int64_t i = last; i >= first; --i) {
      if (i >= zero_from) {
        level.set(i, 0);
        continue;
      }
      double largest = before.at(i);
      for (const Stencil& one : stencils) {
        const double ahead = one.below_far * level.at(i + one.below + 1);
        const double above = one.above_far * before.at(i - one.above - 1) + one.above_near * before.at(i - one.above);
        const double value =
            one.below > 0 ? above + ahead + one.below_near * level.at(i + one.below) : (above + ahead) / (1 - one.below_near) * rounding;
        largest = std::max(largest, value);
      }
      level.set(i, std::min(1.0, largest * rounding + least_value));
    }
    level.continue_to_the_left();
    std::swap(before, level);
  }
  return before.grid(step);
}

namespace {

/// [sparse-vector-gaussian] The corners of a polygon of tangents below the curve of Gaussian noise, Phi(Phi^-1(p) - s). The tangent at p =
/// Phi(-a) is p' = m (p - c), m = e^(-a s - s^2/2), c = delta_s(a s + s^2/2).
struct Tangent {
  Interval log_slope;
  Interval offset;
};
Tangent tangent_at(double shift, Interval a) {
  const Interval s = Interval::exactly(shift);
  const Interval epsilon = a * s + square(s) / 2.0;
  return {-epsilon, gaussian_delta(s, epsilon)};
}

/// Where the tangents at a < b cross: p and p'.
std::pair<Interval, Interval> crossing(const Tangent& steep, const Tangent& flat) {
  const Interval drop = max(steep.offset - flat.offset, Interval::exactly(0)) / expm1(steep.log_slope - flat.log_slope);
  return {steep.offset + drop, exp(steep.log_slope) * drop};
}

constexpr double far_answer = 9.5;  // a rarer answer is charged in full: fewer than 1e-20 for each query

std::vector<Query> gaussian_corners(double shift, std::size_t count) {
  std::vector<Interval> a;  // points of tangency, symmetric about -shift/2
  const Interval s = Interval::exactly(shift);
  for (std::size_t i = 0; i <= count; ++i)
    a.push_back((Interval::exactly(far_answer) + s) * (-1.0) + (2 * far_answer + s) * Interval::exactly(i) / Interval::exactly(count));
  std::vector<Query> corners;
  for (std::size_t i = 0; i < count; ++i) {
    const auto [p, other_p] = crossing(tangent_at(shift, a[i]), tangent_at(shift, a[i + 1]));
    // the curve is its own mirror image: (p, p') becomes (1 - p', 1 - p)
    const auto [other_not, not_p] = crossing(tangent_at(shift, -a[i + 1] - s), tangent_at(shift, -a[i] - s));
    corners.push_back(query_of_losses(log(p / other_p).hi, log(other_not / not_p).hi));
  }
  // the ends of the polygon: "above" only with the record, and "below" only without it
  const double rare = (-log1p(-tangent_at(shift, a.back()).offset)).hi;
  corners.push_back(query_of_losses(infinity, rare));
  corners.push_back(query_of_losses(rare, infinity));
  return corners;
}

/// [sparse-vector-gaussian] One more query: V_{j,k} from V_{j-1,k-1} and V_{j,k-1}.
void ask_once_more(const std::vector<Stencil>& stencils, const Level& fewer, const Level& same, Level& next, std::int64_t first,
                   std::int64_t last) {
  for (std::int64_t i = first; i <= last; ++i) {
    double largest = std::max(fewer.at(i), same.at(i));
    for (const Stencil& one : stencils) {
      const double above = one.above_far * fewer.at(i - one.above - 1) + one.above_near * fewer.at(i - one.above);
      const double below = one.below_near * same.at(i + one.below) + one.below_far * same.at(i + one.below + 1);
      largest = std::max(largest, one.revealed + above + below);
    }
    next.set(i, std::min(1.0, largest * rounding + least_value));
  }
  next.continue_to_the_left();
}

}  // namespace

ProfileGrid gaussian_game(double shift, std::uint64_t positives, std::uint64_t queries) {
  const std::uint64_t most = std::min(positives, queries);
  const double count = static_cast<double>(most), asked = static_cast<double>(queries);
  // the loss of k Gaussian answers, or of so many rare ones, whichever is smaller
  const double reach =
      std::min(shift * shift * asked / 2 + 9 * shift * std::sqrt(asked), (count + 1) * (far_answer * shift + shift * shift));
  const double corner_count = std::clamp(std::floor(6e7 / (count * asked * 40 * (reach / shift + 1))), 12.0, 64.0);
  const double fine = std::clamp(std::floor(6e7 / (count * asked * corner_count * 2 * (reach / shift + 1))), 2.0, 64.0);
  const double step = shift / fine;
  std::vector<Stencil> stencils;
  for (const Query& query : gaussian_corners(shift, static_cast<std::size_t>(corner_count + std::ceil(shift))))
    stencils.push_back(stencil_of(query, step));
  const std::int64_t last = static_cast<std::int64_t>(std::ceil(reach / step)) + 1, first = -last;
  const Level empty(step, first, last, margin_of(stencils));
  std::vector<Level> levels(static_cast<std::size_t>(most) + 1, empty);
  for (Level& level : levels) start(level, step, first, last);
  Level next = empty;
  for (std::uint64_t k = 1; k <= queries; ++k)
    for (std::size_t j = static_cast<std::size_t>(most); j >= 1; --j) {
      ask_once_more(stencils, levels[j - 1], levels[j], next, first, last);
      std::swap(levels[j], next);
    }
  return levels.back().grid(step);
}

}  // namespace tradeoff::detail
