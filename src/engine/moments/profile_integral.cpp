// SPDX-License-Identifier: Apache-2.0
#include "engine/moments/profile_integral.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "numeric/arithmetic.h"
#include "numeric/normal.h"

namespace tradeoff::detail {

Interval ProfileSamples::log_delta(double t) {
  const auto place = known_.find(t);
  if (place != known_.end()) return place->second;
  return known_.emplace(t, log_delta_(t)).first->second;
}

namespace {

constexpr std::size_t most_powers = 4;           // t^0 to t^3: enough for four moments
constexpr std::size_t most_first_cells = 20000;  // a wider range would take minutes with the slowest profiles
constexpr double unbounded_reach = 40;           // the end of the range without a tail bound; the upper end is infinite then
constexpr double log_negligible = -36;           // log of the share of the tail in the largest integrand that is below rounding

using PowerIntegrals = std::array<double, most_powers>;

/// Gauss' rule with eight points: points and weights on [0, 1], symmetric about 1/2.
struct GaussPoint {
  double at;
  double weight;
};
constexpr std::array<GaussPoint, 8> gauss_points = {{
    {0.019855071751231884, 0.050614268145188130},
    {0.10166676129318663, 0.11119051722668724},
    {0.23723379504183551, 0.15685332293894364},
    {0.40828267875217510, 0.18134189168918099},
    {0.59171732124782490, 0.18134189168918099},
    {0.76276620495816449, 0.15685332293894364},
    {0.89833323870681337, 0.11119051722668724},
    {0.98014492824876812, 0.050614268145188130},
}};

// [profile-integral] Relative errors: of the moments of a cell, rule and rounding; of a few operations after them.
constexpr double cell_error = 2e-14;
constexpr double few_roundings = 4e-15;

/// Integrals over a cell of length h, relative to its left end: of t^k exp(rate (t - start)) times the weights of both ends in a chord that
/// is linear in exp(t).
struct CellMoments {
  PowerIntegrals left{};
  PowerIntegrals right{};
};

CellMoments moments_of_cell(double start, double h, double rate, std::size_t highest) {
  CellMoments cell;
  const double growth = std::expm1(h);
  for (const GaussPoint& point : gauss_points) {
    const double t = start + h * point.at;
    const double weight = point.weight * h * (rate == 0 ? 1 : std::exp(rate * h * point.at)) / growth;
    double left = weight * -std::expm1(h * (point.at - 1)) * (1 + growth), right = weight * std::expm1(h * point.at);
    for (std::size_t k = 0; k <= highest; ++k, left *= t, right *= t) {
      cell.left[k] += left;
      cell.right[k] += right;
    }
  }
  return cell;
}

/// The same for rate < 0 from delta <= 1 alone: t^k <= k! 2^k exp(t/2).
double log_tail_of_weight(double from, double rate, std::size_t highest) {
  const Interval left = highest > 0 ? Interval::exactly(rate) + 0.5 : Interval::exactly(rate);
  if (!(left.hi < 0)) return infinity;
  const Interval factor = highest > 0 ? log(Interval::exactly(6 * 8)) : Interval::exactly(0);  // k! 2^k for the highest power
  return (factor + left * from - log(-left)).hi;
}

}  // namespace

double log_tail_integral(const Tail& tail, double from, double rate, std::size_t highest) {
  if (from >= tail.zero_from || tail.gdp_mu == 0) return -infinity;
  const double by_weight = log_tail_of_weight(from, rate, highest);
  std::optional<GaussianTail> model = tail.gaussian;
  if (tail.gdp_mu < infinity && tail.gdp_mu > 0) {  // delta_mu(e) <= exp(-(e/mu - mu/2)^2 / 2) for e >= mu^2/2
    const Interval mu = Interval::exactly(tail.gdp_mu);
    const GaussianTail gdp{(-square(mu) / 8.0).hi, 0.5, tail.gdp_mu, (square(mu) / 2.0).hi};
    if (!model || gdp.width <= model->width) model = gdp;
  }
  if (!model || from < model->from) return by_weight;
  // t^k <= k! e^t: one more unit of slope covers every power.
  const Interval slope = Interval::exactly(rate) + model->slope + (highest > 0 ? 1.0 : 0.0);
  const Interval width = Interval::exactly(model->width);
  const Interval factorial = Interval::exactly(6);  // 3! for the highest power
  const Interval log_root{0.91893853320467266, 0.91893853320467281};
  const Interval bound = log(factorial) + model->log_factor + square(slope * width) / 2.0 + log(width) + log_root +
                         log_normal_cdf(slope * width - Interval::exactly(from) / width);
  return std::min(bound.hi, by_weight);
}

bool ProfileSamples::has_tail(double rate) const {
  const bool exponential =
      std::any_of(exponential_.begin(), exponential_.end(), [=](const ExponentialTail& one) { return one.rate > rate + 1; });
  return exponential || tail_.gaussian || tail_.gdp_mu < infinity || tail_.zero_from < infinity;
}

double ProfileSamples::log_tail(double from, double rate, std::size_t highest) const {
  double best = log_tail_integral(tail_, from, rate, highest);
  for (const ExponentialTail& one : exponential_) {  // t^k <= k! e^t again
    const Interval fall = Interval::exactly(one.rate) - rate - (highest > 0 ? 1.0 : 0.0);
    if (!(fall.lo > 0)) continue;
    best = std::min(best, (log(Interval::exactly(6)) + one.log_factor - fall * from - log(fall)).hi);
  }
  return best;
}

namespace {

class Integration {
 public:
  Integration(ProfileSamples& profile, double rate, std::size_t highest, double end, const IntegralEffort& effort)
      : profile_(profile), rate_(rate), highest_(highest), effort_(effort) {
    double reach = end;
    if (end == infinity) {
      reach = find_reach();
      if (!(reach * (std::abs(rate) + 8) < most_first_cells)) {
        log_rest_ = infinity;
        return;
      }
      log_rest_ = profile.log_tail(reach, rate, highest);
    }
    first_cells(reach);
  }

  [[nodiscard]] ProfileIntegrals run() {
    PowerIntegrals low{}, high{};
    double least = infinity;
    for (int stalled = 0; !cells_.empty();) {
      weigh();
      const double total = sum(low, high);
      // Stops at the goal, at the limit, and if only rounding is left.
      stalled = total < 0.999 * least ? 0 : stalled + 1;
      if (total <= effort_.relative || cells_.size() >= effort_.points || stalled > 8) break;
      least = std::min(least, total);
      split();
    }
    ProfileIntegrals result{scale_, {}};
    const double rest = log_rest_ == -infinity ? 0 : exp(Interval::exactly(log_rest_) - scale_).hi;
    const double rounding = unit_roundoff * (static_cast<double>(cells_.size()) + 4);  // of sums of positive terms
    for (std::size_t k = 0; k <= highest_; ++k)
      result.powers.push_back({low[k] * (1 - rounding), numeric::add_up(high[k] * (1 + rounding), rest)});
    return result;
  }

 private:
  /// A cell [start, start + length]; values are in units of exp(scale - rate t).
  struct Cell {
    double start;
    double length;  // exact: neighbouring nodes are within a factor 2 of each other, or the first is 0
    Interval left, right;
    CellMoments moments;
    double growth;   // expm1(length)
    double shrink;   // -expm1(-length)
    double unscale;  // exp(-rate length)
    PowerIntegrals low{}, high{};
    double score = 0;
    bool fresh = false;  // true if its weight is current: neither it nor a neighbour was split since
  };

  [[nodiscard]] Interval value_at(double t) {
    return exp(profile_.log_delta(t) + Interval::exactly(rate_) * t - Interval::exactly(scale_));
  }
  [[nodiscard]] Cell make_cell(double start, double end) {
    const double length = end - start;
    return {.start = start,
            .length = length,
            .left = value_at(start),
            .right = value_at(end),
            .moments = moments_of_cell(start, length, rate_, highest_),
            .growth = std::expm1(length),
            .shrink = -std::expm1(-length),
            .unscale = std::exp(-rate_ * length)};
  }

  /// The point beyond which the rest is negligible against the largest integrand found so far.
  [[nodiscard]] double find_reach() {
    const Tail& tail = profile_.tail();
    if (tail.gdp_mu == 0) return 1;
    if (tail.zero_from < infinity) return tail.zero_from > 0 ? tail.zero_from : 1;
    double reach = 0x1p-20;
    double largest = profile_.log_delta(0).hi;
    for (; reach < 1e6; reach *= 1.25) {
      if (!profile_.has_tail(rate_) && rate_ >= 0 && reach > unbounded_reach) break;
      largest = std::max(largest, profile_.log_delta(reach).hi + rate_ * reach);
      if (profile_.log_tail(reach, rate_, highest_) < largest + log_negligible) break;
    }
    return reach;
  }

  void first_cells(double reach) {
    // Each cell is shorter than 1/8 and than 1/|rate|, as its series requires, and shorter near 0, where the profiles of sampled mechanisms
    // change fastest.
    const double longest = reach / std::max(32.0, std::ceil(reach * (std::abs(rate_) + 8)));
    std::vector<double> nodes{0};
    for (double t = std::min(longest, 1.0 / 1024); t < reach; t = std::min(1.5 * t, t + longest)) nodes.push_back(t);
    nodes.push_back(reach);
    scale_ = -infinity;
    for (const double t : nodes) scale_ = std::max(scale_, profile_.log_delta(t).hi + rate_ * t);
    if (!(scale_ > -infinity)) scale_ = 0;  // delta was 0 at every point
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i) cells_.push_back(make_cell(nodes[i], nodes[i + 1]));
  }

  void split() {
    double largest = 0;
    for (const Cell& cell : cells_) largest = std::max(largest, cell.score);
    std::vector<Cell> finer;
    finer.reserve(2 * cells_.size());
    bool after_split = false;
    for (Cell& cell : cells_) {
      const double end = cell.start + cell.length;
      const double middle = cell.start + cell.length / 2;
      if (cell.score >= largest / 4 && middle > cell.start && middle < end) {
        if (!finer.empty()) finer.back().fresh = false;
        finer.push_back(make_cell(cell.start, middle));
        finer.push_back(make_cell(middle, end));
        after_split = true;
      } else {
        cell.fresh = cell.fresh && !after_split;
        finer.push_back(cell);
        after_split = false;
      }
    }
    cells_ = std::move(finer);
  }

  /// The largest distance of the profile below the chord of cell i, whose right end is `right` in the units of its left end: the extended
  /// chords of the neighbours cross there.
  [[nodiscard]] double depth(std::size_t i, Interval right) const {
    const Cell& cell = cells_[i];
    const Interval left = cell.left;
    double first = right.hi - left.lo, second = left.hi - right.lo, size = left.hi + right.hi;  // without neighbours: slopes 0
    if (i > 0) {
      const double before = cells_[i - 1].left.hi / cells_[i - 1].unscale, ratio = cell.growth / cells_[i - 1].shrink;
      first += (before - left.lo) * ratio;
      size += (before + left.hi) * ratio;
    } else {
      first += cell.growth * std::exp(-scale_) * (1 + cell_error);  // the slope is at least -1
    }
    if (i + 1 < cells_.size()) {
      const double far = cells_[i + 1].right.hi * cells_[i + 1].unscale * cell.unscale, ratio = cell.shrink / cells_[i + 1].growth;
      second += (far - right.lo) * ratio;
      size += (far + right.hi) * ratio;
    }
    first += cell_error * size;
    second += cell_error * size;
    if (!(first > 0 && second > 0)) return 0;
    if (first == infinity || second == infinity) return std::min(first, second);
    return first * (second / (first + second)) * (1 + few_roundings);
  }

  /// Computes both bounds of every cell that changed.
  void weigh() {
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      Cell& cell = cells_[i];
      if (cell.fresh) continue;
      const Interval right{cell.right.lo * cell.unscale * (1 - few_roundings), cell.right.hi * cell.unscale * (1 + few_roundings)};
      const double below = depth(i, right);
      for (std::size_t k = 0; k <= highest_; ++k) {
        const double left_share = cell.moments.left[k], right_share = cell.moments.right[k];
        const double chord = (cell.left.lo * left_share + right.lo * right_share) * (1 - cell_error);
        cell.low[k] = std::max(0.0, chord - below * (left_share + right_share) * (1 + cell_error)) * (1 - few_roundings);
        cell.high[k] = (cell.left.hi * left_share + right.hi * right_share) * (1 + cell_error);
      }
      cell.fresh = true;
    }
  }

  /// Sums over all cells, lower and upper; the score of a cell is its share in the relative gap. Returns the total gap.
  [[nodiscard]] double sum(PowerIntegrals& low, PowerIntegrals& high) {
    low.fill(0);
    high.fill(0);
    for (const Cell& cell : cells_) {
      for (std::size_t k = 0; k <= highest_; ++k) {
        low[k] += cell.low[k];
        high[k] += cell.high[k];
      }
    }
    double total = 0;
    for (Cell& cell : cells_) {
      cell.score = 0;
      for (std::size_t k = 0; k <= highest_; ++k)
        if (high[k] > 0) cell.score = std::max(cell.score, (cell.high[k] - cell.low[k]) / high[k]);
      total += cell.score;
    }
    return total;
  }

  ProfileSamples& profile_;
  double rate_;
  std::size_t highest_;
  IntegralEffort effort_;
  double scale_ = 0;
  double log_rest_ = -infinity;
  std::vector<Cell> cells_;
};

}  // namespace

// [profile-integral]
ProfileIntegrals integrate_profile(ProfileSamples& profile, double rate, std::size_t highest, double end, const IntegralEffort& effort) {
  if (end <= 0) return {0, std::vector<Interval>(highest + 1, Interval::exactly(0))};
  return Integration(profile, rate, highest, end, effort).run();
}

}  // namespace tradeoff::detail
