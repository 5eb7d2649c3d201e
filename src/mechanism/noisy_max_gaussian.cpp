// SPDX-License-Identifier: Apache-2.0
#include "mechanism/noisy_max_gaussian.h"

#include <algorithm>
#include <cmath>
#include <queue>

#include "numeric/arithmetic.h"
#include "numeric/normal.h"

namespace tradeoff::detail {
namespace {

constexpr double search_width = 1e-5;      // relative: of the largest value over all events
constexpr int most_halvings = 4000;        // of one search; what is left is a wider bound
constexpr std::uint64_t most_splits = 12;  // splits of the candidates that are bounded one by one; more are bounded in groups
constexpr int guarantee_count = 240;
constexpr double least_delta = 1e-20;
constexpr double farthest_epsilon = 700;

/// The event has `in` candidates, and `out` are outside it; at most so many of each.
struct Split {
  double in;
  double out;
};

/// [noisy-max-gaussian] The chance of the event as a function of time: of the largest of `out` others it falls at most as fast as Phi(w -
/// u)^out, up to the time 0, and of the largest of `in` candidates at most as fast as 1 - Phi(z + u)^in, from then on.
class Fall {
 public:
  explicit Fall(const Split& split) : split_(split), turn_(turning_place(split)) {
    const Interval log_miss = log1p(-falling(Interval::exactly(turn_))) / split_.in;
    rise_ = middle_of(log_miss) > -0.5 ? normal_quantile_of_complement(-expm1(log_miss)).hi : normal_quantile_of_log(log_miss).hi;
  }

  /// Bounds of the chance at a time: from above before time 0 and at it, and from below.
  [[nodiscard]] double above(double time) const { return time <= 0 ? falling(turn_ - Interval::exactly(time)).hi : rising(time).hi; }
  [[nodiscard]] double below(Interval time) const {
    return std::max(0.0, time.hi < 0 ? falling(turn_ - Interval::exactly(time.hi)).lo : rising(time.hi).lo);
  }

  /// How fast it falls at any time of an interval that does not contain 0.
  [[nodiscard]] Interval rate(Interval time) const {
    const Interval place = time.hi < 0 ? turn_ - time : rise_ + time;
    const double count = time.hi < 0 ? split_.out : split_.in;
    return count * exp((count - 1) * log_normal_cdf(place)) * normal_density(place);
  }

 private:
  [[nodiscard]] Interval falling(Interval place) const { return exp(split_.out * log_normal_cdf(place)); }
  [[nodiscard]] Interval rising(double time) const { return -expm1(split_.in * log_normal_cdf(rise_ + Interval::exactly(time))); }

  /// A place w at which the two bounds on the density are about equal. Any place gives valid bounds.
  [[nodiscard]] static double turning_place(const Split& split) {
    const auto log_density = [](double x, double count) {
      return std::log(count) + (count - 1) * middle_of(log_normal_cdf(x)) - 0.5 * x * x;
    };
    const auto first_is_smaller = [&](double w) {  // in doubles
      const double log_miss = middle_of(log1p(-exp(split.out * log_normal_cdf(w)))) / split.in;
      const double z = middle_of(log_miss > -0.5 ? normal_quantile_of_complement(-std::expm1(log_miss)) : normal_quantile_of_log(log_miss));
      return log_density(z, split.in) < log_density(w, split.out);
    };
    double low = -8, high = 8 + std::sqrt(2 * std::log(split.out));
    for (int i = 0; i < 40; ++i) {
      const double middle = 0.5 * (low + high);
      (first_is_smaller(middle) ? low : high) = middle;
    }
    return 0.5 * (low + high);
  }

  Split split_;
  double turn_;
  double rise_ = 0;
};

/// The largest chance(u) - e^epsilon chance(u + shift) over all times u, by halving cells of u.
class EventSearch {
 public:
  EventSearch(const Fall& fall, Interval shift, double epsilon) : fall_(fall), shift_(shift), factor_(exp(Interval::exactly(epsilon))) {}

  /// An upper bound; `reached` is about the value of some event by the same bounds, and grows.
  [[nodiscard]] double above(double& reached) {
    constexpr double least = -16, most = 48;  // beyond, chances are above 1 - 1e-16 for few others, and below 1e-300
    constexpr int first_cells = 64;           // one unit each; time 0 is an end
    cells_.push({bound(1, least), 0, 0});     // all earlier times
    cells_.push({fall_.above(most), 0, 0});   // all later times
    for (int i = 0; i < first_cells; ++i)
      add(least + (most - least) * i / first_cells, least + (most - least) * (i + 1) / first_cells, reached);
    for (int i = 0; i < most_halvings; ++i) {
      const Cell cell = cells_.top();
      if (cell.bound <= reached * (1 + search_width) + 1e-300 || !(cell.from < cell.to)) break;
      cells_.pop();
      const double middle = 0.5 * (cell.from + cell.to);
      add(cell.from, middle, reached);
      add(middle, cell.to, reached);
    }
    return std::max(0.0, cells_.top().bound);
  }

 private:
  struct Cell {
    double bound;
    double from;
    double to;
    bool operator<(const Cell& other) const { return bound < other.bound; }
  };
  /// Chances up to `chance`, and times up to `to`.
  [[nodiscard]] double bound(double chance, double to) const {
    return (Interval::exactly(chance) - factor_ * Interval::exactly(fall_.below(Interval::exactly(to) + shift_))).hi;
  }
  void add(double from, double to, double& reached) {
    const double chance = fall_.above(from);
    reached = std::max(reached, bound(chance, from));
    double most = bound(chance, to);
    if (most > reached) most = std::min(most, by_slope(from, to));
    cells_.push({most, from, to});
  }
  /// The value in the middle and the largest slope; infinite where the bounds are exchanged.
  [[nodiscard]] double by_slope(double from, double to) const {
    const Interval times{from, to}, later = times + shift_;
    if ((from <= 0 && to >= 0) || (later.lo <= 0 && later.hi >= 0)) return infinity;
    const double middle = 0.5 * (from + to);
    const Interval slope = factor_ * fall_.rate(later) - fall_.rate(times);
    const Interval most =
        Interval::exactly(std::max(std::abs(slope.lo), std::abs(slope.hi))) * Interval::exactly(0.5 * (to - from) * (1 + 1e-9));
    return (Interval::exactly(bound(fall_.above(middle), middle)) + most).hi;
  }

  const Fall& fall_;
  Interval shift_;
  Interval factor_;
  std::priority_queue<Cell> cells_;
};

/// Splits that together bound all: the first candidates of a group with the most on either side.
std::vector<Split> splits_of(std::uint64_t candidates) {
  std::vector<Split> splits;
  const std::uint64_t groups = std::min(most_splits, candidates - 1);
  for (std::uint64_t g = 0; g < groups; ++g) {
    const std::uint64_t first = 1 + (candidates - 1) / groups * g + std::min(g, (candidates - 1) % groups);
    const std::uint64_t next = 1 + (candidates - 1) / groups * (g + 1) + std::min(g + 1, (candidates - 1) % groups);
    splits.push_back({static_cast<double>(next - 1), static_cast<double>(candidates - first)});
  }
  const double half = 0.5 * static_cast<double>(candidates);  // the worst are likely in the middle: look there first
  std::sort(splits.begin(), splits.end(), [&](const Split& a, const Split& b) { return std::abs(a.in - half) < std::abs(b.in - half); });
  return splits;
}

}  // namespace

// [noisy-max-gaussian]
std::vector<Guarantee> gaussian_noisy_max(Interval shift, std::uint64_t candidates) {
  std::vector<Fall> falls;
  for (const Split& split : splits_of(candidates)) falls.emplace_back(split);
  const auto delta_at = [&](double epsilon) {
    double reached = 0, worst = 0;
    for (const Fall& fall : falls) worst = std::max(worst, EventSearch(fall, shift, epsilon).above(reached));
    return std::min(1.0, worst);
  };
  double far = 0.125;
  while (far < farthest_epsilon && delta_at(far) > least_delta) far *= 1.5;
  std::vector<Guarantee> found;
  for (int i = 0; i <= guarantee_count; ++i) {
    const double epsilon = far * i / guarantee_count;
    found.push_back({Interval::exactly(epsilon), Interval::exactly(delta_at(epsilon))});
  }
  return found;
}

}  // namespace tradeoff::detail
