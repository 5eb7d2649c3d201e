// SPDX-License-Identifier: Apache-2.0
#include "mechanism/noisy_max_gaussian.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <string>
#include <utility>

#include "loss/atoms.h"
#include "loss/key.h"
#include "mechanism/finite.h"
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

namespace {

constexpr double witness_step = 0.0025;               // of the grid, about: the lower ends are then within 1e-3 of the best event
constexpr double least_witness_shift = 1e-3;          // below it the grid has too many nodes
constexpr double witness_from = -9, witness_to = 12;  // a billion candidates have their largest noise in between

/// Chances of an event under both neighbours: at least p, and at most q.
struct EventChances {
  double p, q;
};

/// At least the largest slope, up or down, of the density of the largest of m standard normal variables.
double steepest_density(double m) {
  double most = 0;
  constexpr double width = 1.0 / 32;
  for (double left = witness_from - 1; left < witness_to + 1; left += width) {
    const Interval z{left, left + width},
        density =
            normal_density({z.lo < 0 && z.hi > 0 ? 0 : std::min(std::abs(z.lo), std::abs(z.hi)), std::max(std::abs(z.lo), std::abs(z.hi))});
    const Interval log_chance = log_normal_cdf(z), chance = exp(log_chance);
    const Interval slope = m * exp((m - 1) * log_chance) * density * ((m - 1) * density / chance - z);
    most = std::max({most, std::abs(slope.lo), std::abs(slope.hi)});
  }
  return most + 1e-10;  // beyond, the density of a billion of them has a slope below that
}

/// The chance that the largest noise of `in` candidates, raised by n steps, exceeds that of `out` others, as sums over the largest noise of
/// the first: between the values at both ends of every cell, and near their mean.
class EventTable {
 public:
  EventTable(double in, double out, double step)
      : error_((square(Interval::exactly(step)) * (Interval::exactly(steepest_density(in)) / 12.0 + steepest_density(out) / 8.0)).hi) {
    const auto nodes = static_cast<std::size_t>(std::ceil((witness_to - witness_from) / step)) + 1;
    Interval before = Interval::exactly(0);
    for (std::size_t i = 0; i < nodes; ++i) {
      const Interval log_chance = log_normal_cdf(witness_from + Interval::exactly(static_cast<double>(i)) * step);
      const Interval here = exp(in * log_chance), others = exp(out * log_chance);
      low_others_.push_back(std::max(0.0, others.lo));
      high_others_.push_back(std::min(1.0, others.hi));
      if (i > 0) {
        low_steps_.push_back(std::max(0.0, (here - before).lo));
        high_steps_.push_back(std::max(0.0, (here - before).hi));
      } else {
        outside_ = here.hi;
      }
      before = here;
    }
    outside_ = numeric::add_up(outside_, std::max(0.0, (1.0 - before).hi));
  }

  /// Raised by so many steps, which may be negative.
  [[nodiscard]] double low(std::ptrdiff_t raised) const {
    double left = 0, right = 0;
    for (std::size_t i = 0; i < low_steps_.size(); ++i) {
      left += low_steps_[i] * at(low_others_, i, raised, 0, low_others_.back());
      right += low_steps_[i] * at(low_others_, i + 1, raised, 0, low_others_.back());
    }
    return std::max(left, (left + right) / 2 - error_) * (1 - 1e-11);  // of up to 21000 roundings
  }
  [[nodiscard]] double high(std::ptrdiff_t raised) const {
    double left = 0, right = 0;
    for (std::size_t i = 0; i < high_steps_.size(); ++i) {
      left += high_steps_[i] * at(high_others_, i, raised, high_others_.front(), 1);
      right += high_steps_[i] * at(high_others_, i + 1, raised, high_others_.front(), 1);
    }
    return std::min(1.0, (std::min(right, (left + right) / 2 + error_) + outside_) * (1 + 1e-11));
  }

 private:
  [[nodiscard]] static double at(const std::vector<double>& values, std::size_t i, std::ptrdiff_t raised, double before, double after) {
    const std::ptrdiff_t place = static_cast<std::ptrdiff_t>(i) + raised;
    if (place < 0) return before;
    return place < static_cast<std::ptrdiff_t>(values.size()) ? values[static_cast<std::size_t>(place)] : after;
  }

  std::vector<double> low_others_, high_others_, low_steps_, high_steps_;
  double outside_ = 0;
  double error_;  // of the mean of the sums at both ends
};

/// The pair whose tests are the events and their mixtures: p as a function of q, its least concave majorant from (0, 0) to (1, 1).
LossPointer pair_of_events(std::vector<EventChances> events, std::string key, const Citations& origin) {
  events.push_back({0, 0});
  events.push_back({1, 1});
  std::sort(events.begin(), events.end(),
            [](const EventChances& a, const EventChances& b) { return std::pair(a.q, -a.p) < std::pair(b.q, -b.p); });
  std::vector<EventChances> hull;
  const auto below = [](const EventChances& a, const EventChances& b, const EventChances& c) {
    return (b.p - a.p) * (c.q - a.q) <= (c.p - a.p) * (b.q - a.q);
  };
  for (const EventChances& one : events) {
    if (!hull.empty() && !(one.q > hull.back().q && one.p > hull.back().p)) continue;
    while (hull.size() >= 2 && below(hull[hull.size() - 2], hull.back(), one)) hull.pop_back();
    hull.push_back(one);
  }
  if (hull.size() < 2 || hull.back().q < 1) return nullptr;
  std::vector<Interval> p, q;
  for (std::size_t i = 1; i < hull.size(); ++i) {
    p.push_back(Interval::exactly(hull[i].p) - hull[i - 1].p);
    q.push_back(Interval::exactly(hull[i].q) - hull[i - 1].q);
  }
  return finite_loss(atoms_of_pair(p, q), std::move(key), origin);
}

}  // namespace

LossPointer gaussian_noisy_max_witness(Interval shift, std::uint64_t candidates, const Citations& origin) {
  if (!(shift.lo >= least_witness_shift && shift.lo <= 40)) return nullptr;
  const auto steps = static_cast<std::ptrdiff_t>(std::ceil(shift.lo / witness_step));
  const double step = numeric::divide_down(shift.lo, static_cast<double>(steps));  // the utilities move by steps * step, at most the shift
  const auto reach = static_cast<std::ptrdiff_t>(8 / step);
  const std::uint64_t half = candidates / 2;
  std::vector<EventChances> events;
  const auto add = [&](std::uint64_t in, std::uint64_t out) {
    const EventTable table(static_cast<double>(in), static_cast<double>(out), step);
    const std::ptrdiff_t every = std::max<std::ptrdiff_t>(1, reach / 200);
    for (std::ptrdiff_t raised = -reach; raised <= reach + steps; raised += every) {
      const EventChances found{table.low(raised), table.high(raised - steps)};
      if (found.p > found.q && found.q > 0) events.push_back(found);
    }
  };
  add(half, candidates - half);
  if (2 * half != candidates) add(candidates - half, half);
  for (double t = -8; t <= 8; t += 0.05) {  // two candidates alone, all others far below
    const Interval mu = Interval::exactly(shift.lo) / sqrt(Interval::exactly(2));
    const EventChances found{normal_cdf(Interval::exactly(t)).lo, normal_cdf(t - mu).hi};
    if (found.p > found.q && found.q > 0) events.push_back(found);
  }
  return pair_of_events(std::move(events), make_key("noisy_max_witness", {shift, Interval::exactly(static_cast<double>(candidates))}),
                        origin);
}

}  // namespace tradeoff::detail
