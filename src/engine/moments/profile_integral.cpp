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

using PowerIntegrals = std::array<Interval, most_powers>;

/// E_j(z) = integral over u in [0,1] of u^j exp(zu) = sum of z^n / (n! (n + j + 1)), |z| <= 1.
class ExponentialMoments {
 public:
  explicit ExponentialMoments(Interval z) {
    const double size = std::max(std::abs(z.lo), std::abs(z.hi));
    double n = 0;
    Interval term = Interval::exactly(1);
    for (double bound = 1; bound > 1e-18; bound *= size / n) {
      terms_.push_back(term);
      n += 1;
      term = term * z / n;
    }
    rest_ = 2 * std::max(std::abs(term.lo), std::abs(term.hi));  // from here on each term is at most half of the one before
  }
  [[nodiscard]] Interval at(std::size_t j) const {
    Interval sum{-rest_, rest_};
    double n = static_cast<double>(j);
    for (const Interval& term : terms_) sum = sum + term / (n += 1);
    return sum;
  }

 private:
  std::vector<Interval> terms_;
  double rest_;
};

/// Integrals over a cell of length h, relative to its left end: of t^k exp(rate (t - start)), and the same times s = expm1(t -
/// start)/expm1(h), the weight of the right end in a chord that is linear in exp(t).
struct CellMoments {
  PowerIntegrals whole;
  PowerIntegrals right;
};

CellMoments moments_of_cell(double start, double h, double rate, std::size_t highest) {
  constexpr std::size_t most_orders = 9;
  const Interval length = Interval::exactly(h);
  const Interval growth = expm1(length);
  const ExponentialMoments moments(length * rate);  // at most 1
  std::size_t orders = 1;                           // orders of h^m/m! below; the rest is added, so it only has to be small
  for (double factor = 1; factor > 1e-17 && orders < most_orders; ++orders) factor *= h / static_cast<double>(orders + 1);
  std::array<Interval, most_powers + most_orders> plain;
  for (std::size_t j = 0; j <= highest + orders; ++j) plain[j] = moments.at(j);
  const auto weighted = [&](std::size_t i) {  // integral of u^i exp(zu) expm1(hu), without cancellation
    Interval sum = Interval::exactly(0);
    Interval factor = Interval::exactly(1);
    for (std::size_t m = 1; m <= orders; ++m) {
      factor = factor * length / static_cast<double>(m);
      sum = sum + factor * plain[i + m];
    }
    return Interval{sum.lo, (sum + factor * length * plain[i + orders]).hi};  // omitted: at most h/(m + 1) (1 + h + ...) of the last term
  };
  CellMoments cell;
  for (std::size_t k = 0; k <= highest; ++k) {
    cell.whole[k] = cell.right[k] = Interval::exactly(0);
    double binomial = 1;
    for (std::size_t i = 0; i <= k; ++i) {
      const Interval part = Interval::exactly(binomial) * power(Interval::exactly(start), k - i) * power(length, i + 1);
      cell.whole[k] = cell.whole[k] + part * plain[i];
      cell.right[k] = cell.right[k] + part * weighted(i) / growth;
      binomial *= static_cast<double>(k - i) / static_cast<double>(i + 1);
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
    PowerIntegrals low, high;
    low.fill(Interval::exactly(0));
    high.fill(Interval::exactly(0));
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
    for (std::size_t k = 0; k <= highest_; ++k) result.powers.push_back({std::max(0.0, low[k].lo), numeric::add_up(high[k].hi, rest)});
    return result;
  }

 private:
  /// A cell [start, start + length]; values are in units of exp(scale - rate t).
  struct Cell {
    double start;
    double length;  // exact: neighbouring nodes are within a factor 2 of each other, or the first is 0
    Interval left, right;
    CellMoments moments;
    Interval growth;  // expm1(length)
    PowerIntegrals low, high;
    double score = 0;
    bool fresh = false;  // true if its weight is current: neither it nor a neighbour was split since
  };

  [[nodiscard]] Interval value_at(double t) {
    return exp(profile_.log_delta(t) + Interval::exactly(rate_) * t - Interval::exactly(scale_));
  }
  [[nodiscard]] Cell make_cell(double start, double end) {
    const double length = end - start;
    return {
        start, length, value_at(start), value_at(end), moments_of_cell(start, length, rate_, highest_), expm1(Interval::exactly(length)),
        {},    {}};
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

  /// The largest distance of the profile below the chord of cell i: the extended chords of the neighbours cross there.
  [[nodiscard]] double depth(std::size_t i, Interval left, Interval right) const {
    const Cell& cell = cells_[i];
    const Interval fall = right - left;
    // the slope is at least -1
    Interval before = -cell.growth * exp(Interval::exactly(cell.start) * (1.0 + Interval::exactly(rate_)) - scale_);
    if (i > 0) {
      const Interval run = Interval::exactly(cells_[i - 1].length);
      before = (left - cells_[i - 1].left * exp(run * rate_)) * cell.growth / -expm1(-run);
    }
    Interval after = Interval::exactly(0);
    if (i + 1 < cells_.size()) {
      const Interval h = Interval::exactly(cell.length);
      const Interval far = cells_[i + 1].right * exp(-(h + cells_[i + 1].length) * rate_);
      after = (far - right) * -expm1(-h) / cells_[i + 1].growth;
    }
    const Interval first = Interval::exactly(std::max(0.0, (fall - before).hi));
    const Interval second = Interval::exactly(std::max(0.0, (after - fall).hi));
    if (first.hi == 0 || second.hi == 0) return 0;
    if (first.hi == infinity || second.hi == infinity) return std::min(first.hi, second.hi);
    return (first * second / (first + second)).hi;
  }

  /// Computes both bounds of every cell that changed.
  void weigh() {
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      Cell& cell = cells_[i];
      if (cell.fresh) continue;
      const Interval right = cell.right * exp(-Interval::exactly(cell.length) * rate_);
      const Interval below = Interval::exactly(depth(i, cell.left, right));
      for (std::size_t k = 0; k <= highest_; ++k) {
        const Interval& whole = cell.moments.whole[k];
        const Interval& share = cell.moments.right[k];
        const Interval chord = cell.left * max(whole - share, Interval::exactly(0)) + right * share;
        cell.low[k] = Interval::exactly(std::max(0.0, (chord - below * whole).lo));
        cell.high[k] = Interval::exactly(chord.hi);
      }
      cell.fresh = true;
    }
  }

  /// Sums over all cells, lower and upper; the score of a cell is its share in the relative gap. Returns the total gap.
  [[nodiscard]] double sum(PowerIntegrals& low, PowerIntegrals& high) {
    low.fill(Interval::exactly(0));
    high.fill(Interval::exactly(0));
    for (const Cell& cell : cells_) {
      for (std::size_t k = 0; k <= highest_; ++k) {
        low[k] = low[k] + cell.low[k];
        high[k] = high[k] + cell.high[k];
      }
    }
    double total = 0;
    for (Cell& cell : cells_) {
      cell.score = 0;
      for (std::size_t k = 0; k <= highest_; ++k)
        if (high[k].hi > 0) cell.score = std::max(cell.score, (cell.high[k].hi - cell.low[k].lo) / high[k].hi);
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
