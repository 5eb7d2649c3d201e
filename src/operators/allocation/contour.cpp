// SPDX-License-Identifier: Apache-2.0
#include "operators/allocation/contour.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "loss/work.h"
#include "numeric/arithmetic.h"
#include "numeric/normal.h"
#include "numeric/root.h"
#include "operators/allocation/jump.h"
#include "operators/allocation/laws.h"
#include "operators/allocation/sum_line.h"
#include "transform/nodes.h"

// [allocation-contour]
namespace tradeoff::detail::allocation {
namespace {

constexpr double copies_share = 0.02;  // of the wanted width, for copies and for the nodes left out
constexpr double beyond_share = 0.05;  // the same for what is cut off a summand
constexpr double most_line_nodes = 40'000;
constexpr double rough_left = -9.5, rough_fall_left = -14, rough_fall_right = 9;

/// An upper bound of E(X - X(x))+ of a rising summand. Of its negative part at most kappa exp(-s x - s^2/2) is gained beyond x.
double excess_beyond(const SumShape& shape, double x) {
  const Interval s = Interval::exactly(shape.s), at = Interval::exactly(x), half = square(s) / 2.0, beyond = normal_cdf(-at);
  const Interval gained = Interval::exactly(shape.kappa) * exp(-s * at - half) * beyond;
  return std::max(0.0, (normal_cdf(s - at) - exp(s * at - half) * beyond + gained).hi);
}

/// A point at which Y is at least `strike`.
double reach_of(double mu, double strike) {
  const Interval s = Interval::exactly(mu);
  return numeric::up_by((log(Interval::exactly(strike)) / s + s / 2.0).hi, 4);
}

/// The part of a rising summand that is summed for strikes up to `largest`: all of it below the strike with the jump in closed form, or
/// less of it if what lies beyond is negligible against `size`.
SumRange rising_range(const SumShape& shape, double largest, double negligible) {
  const auto is_small = [&](double x) { return excess_beyond(shape, x) <= negligible; };
  const double enough = numeric::bisect(is_small, {-5, 37.5}, 30).beyond;
  if (shape.kappa == 0)
    if (const double reach = reach_of(shape.s, largest); reach <= enough) return {rough_left, reach, false, false};
  return {rough_left, enough, true, false};
}

/// Everything of a line that a proof does not depend on.
struct LinePlan {
  std::vector<SumFactor> factors;
  SumLine::Setting setting;
};

/// Chooses a line for strikes between two.
class LineSearch {
 public:
  LineSearch(std::vector<SumFactor> factors, double low_strike, double high_strike, double wanted, double log_least)
      : factors_(std::move(factors)), rough_(factors_), wanted_(wanted) {
    ends_ = {End{low_strike, 0}, End{high_strike, 0}};
    for (End& end : ends_) end.log_value = std::max(rough_.saddle(end.strike).log_value, log_least);
  }
  [[nodiscard]] std::optional<LinePlan> plan();

 private:
  struct End {
    double strike, log_value;
  };
  struct Order {
    double order, period;
  };
  [[nodiscard]] Order best_order(double c, std::span<const double> shares) const;
  [[nodiscard]] std::optional<double> find_longest(double c, double step, double log_ratio) const;
  void set_range(double c, double accuracy);

  std::vector<SumFactor> factors_;
  RoughSum rough_;
  double wanted_;
  std::array<End, 2> ends_{};
};

/// The order at which the bound of the copies falls below its share with the shortest period.
LineSearch::Order LineSearch::best_order(double c, std::span<const double> shares) const {
  Order best{0, infinity};
  for (const double share : shares) {
    const double order = share * c, moment = rough_.moment(order).log;
    double period = 0;
    for (const End& end : ends_) {
      const double target = end.log_value + std::log(copies_share * wanted_);
      period = std::max(period, (moment - order * end.strike - 1 - std::log(order) - target) / std::abs(order - c));
    }
    if (period < best.period) best = {order, period};
  }
  return best;
}

/// The last node: there phi^T is so small that what follows is a small share of every value.
std::optional<double> LineSearch::find_longest(double c, double step, double log_ratio) const {
  constexpr double used = 0.8;  // of the decay at the last node, by the march
  double t = 4 * step;
  for (; t < most_line_nodes * step; t *= 1.2) {
    const double need = (-std::log(copies_share * wanted_) - log_ratio - std::log(std::numbers::pi * t)) / used;
    if (-factors_.front().times * rough_.log_modulus(c, t) > std::max(need, 2.0)) return t;
  }
  return std::nullopt;
}

/// The ends of the evaluated law: what is left out is below exp(-accuracy) of the moment.
void LineSearch::set_range(double c, double accuracy) {
  const double log_moment = rough_.log_moment_of(0, c);
  const SumShape& shape = factors_.front().shape;
  SumRange& range = factors_.front().range;
  if (!shape.falling) {
    range.left = std::min(range.right - 1, -std::sqrt(2 * (accuracy + 3 + std::max(0.0, -log_moment))));
    return;
  }
  range.left = -std::sqrt(2 * (accuracy + 3 + std::max(0.0, c - log_moment)));
  const auto is_small = [&](double x) { return log_tail_above(x) + c * shape.value(x) < log_moment - accuracy - 2; };
  range.right = numeric::bisect(is_small, {-5, 37.5}, 30).beyond;
}

std::optional<LinePlan> LineSearch::plan() {
  constexpr std::array below{0.02, 0.1, 0.25, 0.4, 0.6, 0.8};
  constexpr std::array beyond{1.05, 1.1, 1.2, 1.4, 1.7, 2.0, 3.0, 5.0, 10.0, 30.0};
  const double c = rough_.saddle((ends_[0].strike + ends_[1].strike) / 2).c, log_moment = rough_.moment(c).log;
  const Order left = best_order(c, below), right = best_order(c, beyond);
  const double period = std::max({left.period, right.period, 1e-300});
  if (!(left.order > 0 && right.order > 0 && period < infinity)) return std::nullopt;
  double log_ratio = infinity;
  for (const End& end : ends_) log_ratio = std::min(log_ratio, end.log_value - (log_moment - c * end.strike));
  const double step = short_step(2 * std::numbers::pi / period * 0.999);
  const auto longest = find_longest(c, step, log_ratio);
  if (!longest) return std::nullopt;
  const double accuracy = std::log(factors_.front().times) - std::log(wanted_) + 8 + std::max(0.0, -log_ratio - 2 * std::log(c) - 2);
  set_range(c, accuracy);
  return LinePlan{factors_, {c, step, *longest, left.order, right.order, accuracy}};
}

/// Strikes of options on a sum of lognormal variables, in terms of the sum of Y - 1 or of 1 - Y.
struct Group {
  Interval mu;
  double steps;
  bool put;
  std::span<const double> strikes;
  double wanted;
  double floor;

  [[nodiscard]] Interval strike(std::size_t i) const {
    const Interval excess = Interval::exactly(strikes[i]) - Interval::exactly(steps);
    return put ? -excess : excess;
  }
  [[nodiscard]] double least() const { return middle_of(strike(put ? strikes.size() - 1 : 0)); }
  [[nodiscard]] double largest() const { return middle_of(strike(put ? 0 : strikes.size() - 1)); }
};

/// Adds `weight` times the values on a line to `values`: upper ends for mu.hi, lower ends for mu.lo. False if nothing is known.
bool add_line(const Group& group, const LinePlan& plan, Interval weight, std::vector<Interval>& values) {
  const auto line_for = [&](double mu) {
    std::vector<SumFactor> factors = plan.factors;
    for (SumFactor& factor : factors) factor.shape.s = mu;
    return SumLine(factors, plan.setting);
  };
  const SumLine upper = line_for(group.mu.hi);
  Work::count(200 + upper.work());
  if (!upper.known()) return false;
  std::optional<SumLine> lower;
  if (group.mu.lo != group.mu.hi) {
    lower.emplace(line_for(group.mu.lo));
    Work::count(200 + lower->work());
    if (!lower->known()) return false;
  }
  const Interval share = weight / Interval::exactly(group.steps);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Interval high = upper.at(group.strike(i)), low = lower ? lower->at(group.strike(i)) : high;
    values[i] = values[i] + share * Interval{std::min(low.lo, high.hi), high.hi};
  }
  return true;
}

/// What the law of a summand leaves out above: the jump in closed form, or what is beyond the cap.
void add_beyond(const Group& group, const SumRange& range, std::vector<Interval>& values) {
  if (range.capped) {
    const double beyond = excess_beyond({group.mu.hi, 0, false}, range.right);
    for (Interval& value : values) value = value + Interval{0, beyond};
    return;
  }
  const Jump upper(group.mu.hi, group.steps, range.right), lower(group.mu.lo, group.steps, range.right);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = values[i] + Interval{lower.at(group.strikes[i]).lo, upper.at(group.strikes[i]).hi};
}

/// The part of a rising summand for all strikes of a group, for either end of mu. `size` is about the value at the largest strike.
SumRange group_range(const Group& group, double size) {
  const double negligible = beyond_share * group.wanted * std::max(size, group.floor);
  SumRange range = rising_range({group.mu.hi, 0, false}, group.strikes.back(), negligible);
  if (!range.capped) range.right = std::max(range.right, reach_of(group.mu.lo, group.strikes.back()));
  return range;
}

bool add_one_line(const Group& group, std::vector<SumFactor> factors, Interval weight, double log_least, std::vector<Interval>& values) {
  const auto plan = LineSearch(std::move(factors), group.least(), group.largest(), group.wanted, log_least).plan();
  return plan && add_line(group, *plan, weight, values);
}

std::vector<Interval> nothing_known(const Group& group) { return std::vector<Interval>(group.strikes.size(), Interval{0, infinity}); }

std::vector<Interval> on_one_line(const Group& group, double size) {
  std::vector<Interval> values(group.strikes.size(), Interval::exactly(0));
  SumRange range{rough_fall_left, rough_fall_right, false, false};
  if (!group.put) range = group_range(group, size);
  const double log_least = std::log(std::max((group.put ? group.floor : std::max(group.floor, 0.5 * size)) * group.steps, 1e-300));
  if (!add_one_line(group, {{{group.mu.hi, 0, group.put}, range, group.steps}}, Interval::exactly(1), log_least, values))
    return nothing_known(group);
  if (!group.put) add_beyond(group, range, values);
  return values;
}

/// Calls by the number of summands beyond a point b, each with its own tilt; three or more are rare. [allocation-price]
std::vector<Interval> on_split_lines(const Group& group, double size) {
  const double mu = group.mu.hi, allowed = 0.02 * group.wanted * std::max(size, group.floor);
  const SumRange range = group_range(group, size);
  const auto is_rare = [&](double x) {
    const double many = group.steps * 0.5 * std::erfc(x / std::numbers::sqrt2), mean = 0.5 * std::erfc((x - mu) / std::numbers::sqrt2);
    return mean * many * many + many * many * many / 3 <= allowed;
  };
  const double b = numeric::bisect(is_rare, {-5, 37.5}, 30).beyond;
  if (!(b < range.right - 0.01) || group.steps < 3) return nothing_known(group);
  const SumShape shape{mu, 0, false};
  const SumRange small{range.left, b, false, false}, large{b, range.right, range.capped, true};
  const Interval count = Interval::exactly(group.steps);
  const std::array weights{Interval::exactly(1), count, count * (count - 1.0) / 2.0};
  std::vector<Interval> values(group.strikes.size(), Interval::exactly(0));
  for (std::size_t j = 0; j < weights.size(); ++j) {
    const auto times = static_cast<double>(j);
    std::vector<SumFactor> factors{{shape, small, group.steps - times}};
    if (j > 0) factors.push_back({shape, large, times});
    const double log_least = std::log(std::max(0.1 * std::max(group.floor, size) * group.steps / weights[j].hi, 1e-300));
    if (!add_one_line(group, std::move(factors), weights[j], log_least, values)) return nothing_known(group);
  }
  const Interval beyond = normal_cdf(-Interval::exactly(b)), mean = normal_cdf(Interval::exactly(mu) - Interval::exactly(b));
  const Interval many = count * beyond;
  const double rest = (mean * square(many) + square(many) * many / 3.0).hi;
  for (Interval& value : values) value = value + Interval{0, rest};
  add_beyond(group, range, values);
  return values;
}

}  // namespace

double rough_log_option(double mu, double steps, Option option, double strike) {
  if (option == Option::put)
    return RoughSum({{{mu, 0, true}, {rough_fall_left, rough_fall_right, false, false}, steps}}).saddle(steps - strike).log_value -
           std::log(steps);
  // A Gaussian sum or one large summand, then with what lies far beyond cut off.
  const SumShape shape{mu, 0, false};
  const double deviation = std::sqrt(steps * std::expm1(std::min(mu * mu, 600.0))), z = (strike - steps) / deviation;
  const double bulk = deviation / steps * (std::exp(-z * z / 2) / 2.5066282746310002 - z * 0.5 * std::erfc(z / std::numbers::sqrt2));
  const double rest = std::max(strike - steps + 1, 1e-6);
  const double one = excess_beyond(shape, std::log(rest) / mu + mu / 2);
  double size = std::max({bulk, one, 1e-250});
  for (int i = 0; i < 2; ++i) {
    const SumRange range = rising_range(shape, strike, 1e-3 * size);
    const double bounded = std::exp(RoughSum({{shape, range, steps}}).saddle(strike - steps).log_value) / steps;
    const double jump = range.capped ? 0 : middle_of(Jump(mu, steps, range.right).at(strike));
    size = std::max({bounded + jump, one, 1e-250});
  }
  return std::log(size);
}

std::vector<Interval> contour_options(Interval mu, double steps, Option option, std::span<const double> strikes, double wanted,
                                      double floor) {
  const Group group{mu, steps, option == Option::put, strikes, wanted, floor};
  const auto is_narrow = [&](Interval value) { return value.hi - value.lo <= wanted * std::max(value.lo, floor); };
  if (group.put) return on_one_line(group, 1);
  double size = std::exp(rough_log_option(mu.hi, steps, option, strikes.back()));
  std::vector<Interval> values = on_one_line(group, size);
  if (std::all_of(values.begin(), values.end(), is_narrow)) return values;
  if (const Interval last = values.back(); last.hi < infinity) size = last.lo > 0 ? last.lo : std::min(size, last.hi);
  Group finer = group;  // again, because the first guess of the value may have been poor
  finer.wanted *= 0.05;
  for (const auto& lines : {on_split_lines, on_one_line}) {
    if (lines == on_one_line && !(values.back().hi < infinity)) break;
    const std::vector<Interval> others = lines(finer, size);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = intersect(values[i], others[i]);
    if (std::all_of(values.begin(), values.end(), is_narrow)) break;
    if (values.back().lo > 0) size = values.back().lo;
  }
  return values;
}

Interval contour_excess(Interval mu, double steps, Interval kappa, double wanted) {
  // More of the negative part makes the excess smaller.
  const SumShape above{mu.hi, kappa.lo, false}, below{mu.lo, kappa.hi, false};
  double size = 1e-9;
  std::optional<LinePlan> plan;
  for (int i = 0; i < 4 && size > 1e-200; ++i) {
    const SumRange range = rising_range(above, 0, beyond_share * wanted * size);
    const std::vector<SumFactor> factors{{above, range, steps}};
    const double next = std::exp(RoughSum(factors).saddle(0).log_value) / steps;
    plan = LineSearch(factors, 0, 0, wanted, -600).plan();
    if (next > 0.5 * size && next < 2 * size) break;
    size = next;
  }
  if (!plan) return {0, infinity};
  const double beyond = excess_beyond(above, plan->factors.front().range.right);
  const Interval count = Interval::exactly(steps), zero = Interval::exactly(0);
  const SumLine upper(plan->factors, plan->setting);
  Work::count(200 + upper.work());
  Interval value = upper.at(zero) / count + Interval{0, beyond};
  if (mu.lo == mu.hi && kappa.lo == kappa.hi) return value;
  plan->factors.front().shape = below;
  const SumLine lower(plan->factors, plan->setting);
  Work::count(200 + lower.work());
  value.lo = std::min(value.hi, (lower.at(zero) / count).lo);
  return value;
}

}  // namespace tradeoff::detail::allocation
