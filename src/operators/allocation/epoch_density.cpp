// SPDX-License-Identifier: Apache-2.0
#include "operators/allocation/epoch_density.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "loss/work.h"
#include "numeric/arithmetic.h"
#include "operators/allocation/interpolation.h"
#include "operators/allocation/laws.h"
#include "operators/allocation/log_mean_law.h"
#include "operators/allocation/mean_tails.h"
#include "transform/nodes.h"

// [allocation-epochs] [allocation-profile] [allocation-mean-law]
namespace tradeoff::detail::allocation {
namespace {

constexpr double edge_deviations = 7;              // of the noise of an event, from the ends of the event to the last places
constexpr double farthest_normal = 60;             // no step has a normal variable beyond it: P < 1e-780
constexpr std::uint64_t contour_law_steps = 3000;  // doubling is faster for fewer, and loses fewer digits
constexpr double largest_contour_s = 3.4;          // with less noise its lines are long, and doubling is faster
constexpr double contour_share = 0.095;            // of the smoothing: the step of a law along a contour
constexpr double tails_work = 2000;                // of the bounds of tails
constexpr double rule_factor = 1e-22;              // of the error of the rule on a cell: (64/15) 20^-20 and kernels, see the theory
constexpr double cell_roundings = 200;             // of an integral over a cell, in units of roundoff

struct Abscissa {
  double place, weight;
};
/// The rule of Gauss and Legendre with ten points on [0, 1].
constexpr std::array<Abscissa, 10> rule{{{0.013046735741414140, 0.033335672154344069},
                                         {0.067468316655507745, 0.074725674575290297},
                                         {0.160295215850487797, 0.109543181257991022},
                                         {0.283302302935376405, 0.134633359654998178},
                                         {0.425562830509184395, 0.147762112357376435},
                                         {0.574437169490815605, 0.147762112357376435},
                                         {0.716697697064623595, 0.134633359654998178},
                                         {0.839704784149512203, 0.109543181257991022},
                                         {0.932531683344492255, 0.074725674575290297},
                                         {0.986953264258585860, 0.033335672154344069}}};

/// How far the noise moves the mass of a tail that falls at this rate.
double moved_by_noise(double noise, double slope) { return noise * (1 + 0.5 * noise * std::abs(slope)); }

}  // namespace

EpochDensity::EpochDensity(Interval mu, std::uint64_t steps, double log_mass) {
  const std::uint64_t begin = Work::now();
  const double s = middle_of(mu), n = static_cast<double>(steps);
  g_ = s / std::sqrt(n);
  const double noise = event_noise * g_;
  const MeanTails tails(s);
  const double low = tails.left_end(n, log_mass), high = tails.right_end_of_mean(n, log_mass);
  const double falls = (tails.log_mean_above(n, 0.9 * high) - tails.log_mean_above(n, high)) / (0.1 * high);
  const double rises = (tails.log_below(n, low) - tails.log_below(n, 0.9 * low)) / (0.1 * low);
  first_end_ = low - moved_by_noise(noise, rises);
  last_end_ = high + moved_by_noise(noise, falls);
  const LawRange range{first_end_ - edge_deviations * noise, last_end_ + edge_deviations * noise, longest_step * g_};
  const auto reaches = [&] {
    return place_.size() > 2 * taps && place_.front() <= first_end_ - 5 * noise && place_.back() >= last_end_ + 5 * noise;
  };
  if (steps >= contour_law_steps && s <= largest_contour_s)
    take(mean_density(s, n, {range.low, range.high, short_step(contour_share * g_)}));
  if (!reaches()) take(log_mean_law(s, steps, tails, range));
  Work::count(tails_work);
  if (reaches()) {
    place_error_ = (mu.hi - mu.lo) * (farthest_normal + s);
    bounds_.emplace(s, n, tails, place_.front(), step_, log_density_);
    const auto below = [&](double l) { return Tail{tails.log_below(n, l), tails.log_below(n, l) + l}; };
    const auto above = [&](double l) { return Tail{tails.log_above(n, l), tails.log_mean_above(n, l)}; };
    const double nearer = DensityBounds::nearer * g_;
    before_ = rest(below(place_.front()), below(place_.front() + nearer));
    beyond_ = rest(above(place_.back()), above(place_.back() - nearer));
    first_cell_ = taps_before;
    last_cell_ = place_.size() - 2 - taps / 2;
    integrate(below(place_[first_cell_]), above(place_[last_cell_ + 1]));
  } else {
    place_.clear();
  }
  work_ = Work::since(begin);
}

void EpochDensity::take(const LogMeanLaw& law) {
  clear_places();
  step_ = law.step;
  for (std::size_t i = 0; i < law.size(); ++i) {
    const double log_density = law.log_density(i);
    add_place(law.place(i), log_density, law.error[i / LogMeanLaw::block] + std::exp(law.log_floor - log_density));
  }
}

void EpochDensity::take(const MeanDensity& law) {
  clear_places();
  step_ = law.step;
  by_contour_ = true;
  for (std::size_t i = 0; i < law.value.size(); ++i)
    add_place(law.step * static_cast<double>(law.first + static_cast<std::int64_t>(i)), std::log(law.value[i]),
              law.error[i] / law.value[i]);
}

void EpochDensity::clear_places() {
  place_.clear();
  log_density_.clear();
  error_.clear();
  by_contour_ = false;
}

/// The error is that of the density, relative.
void EpochDensity::add_place(double place, double log_density, double error) {
  place_.push_back(place);
  log_density_.push_back(log_density);
  error_.push_back(1.01 * error + 4 * unit_roundoff * (1 + std::abs(log_density)));
}

namespace {

/// log of a bound of P(L > l) for a record that is replaced: the mean of the Y is large, or that of the others' 1/Y is small.
double log_replaced_above(const MeanTails& tails, double n, double l) {
  double least = 0;
  for (const double share : {0.45, 0.52, 0.6, 0.68, 0.74, 0.8, 0.86, 0.93, 0.97}) {
    const double below = (share - 1) * l + std::log(n / (n - 1));
    least = std::min(least, log_sum(tails.log_mean_above(n, share * l), tails.log_below(n - 1, below)));
  }
  return least + 1e-9;
}

}  // namespace

// The law is even up to the factor e^(-l/2): what is too small under P is too large under Q. [allocation-replaced-law]
EpochDensity::EpochDensity(Interval mu, std::uint64_t steps, double log_mass, ReplacedLaw& law) {
  const std::uint64_t begin = Work::now();
  const double s = middle_of(mu), n = static_cast<double>(steps);
  g_ = 2 * s / std::sqrt(n);
  step_ = law.step();
  const MeanTails tails(s);
  const double half = log_mass - std::numbers::ln2;
  const double end = tails.right_end_of_mean(n, half) - tails.left_end(n - 1, half) + std::log(n / (n - 1));
  // Beyond the event noise and the bounds of neighbours need places.
  const auto margin = static_cast<std::size_t>(std::ceil(std::max(edge_deviations * event_noise, rest_reach) * g_ / step_)) + taps;
  const double wanted = std::ceil(end / step_);
  const std::size_t places = (wanted < 1e6 ? static_cast<std::size_t>(wanted) : 1'000'000) + margin;
  law.reach(places);
  Work::count(tails_work);
  if (const std::size_t count = std::min(places, law.value().size()); count > 2 * margin) {
    // Another mu changes both likelihoods, and so the weight of every loss.
    const double moved = (mu.hi - mu.lo) * (farthest_normal + s);
    place_error_ = 2 * moved;
    const auto last = static_cast<std::int64_t>(count) - 1;
    for (std::int64_t i = -last; i <= last; ++i) {
      const auto at = static_cast<std::size_t>(std::abs(i));
      const double value = law.value()[at], error = law.error()[at];
      place_.push_back(step_ * static_cast<double>(i));
      log_density_.push_back(std::log(value) - place_.back() / 2);
      error_.push_back(1.1 * error / value + 1.01 * moved + 8 * unit_roundoff * (1 + std::abs(log_density_.back())));
    }
    std::vector<double> most;
    for (std::size_t i = 0; i < place_.size(); ++i) most.push_back(log_density_[i] + error_[i]);
    bounds_.emplace(g_, place_.front(), step_, std::move(most));
    const auto above = [&](double l) {
      const double log_mean = log_replaced_above(tails, n, l) + 1.01 * moved;
      return Tail{log_mean - l, log_mean};
    };
    const auto swapped = [](Tail tail) { return Tail{tail.log_mean, tail.log_mass}; };
    const Tail outside = above(place_.back()), nearer = above(place_.back() - DensityBounds::nearer * g_);
    beyond_ = rest(outside, nearer);
    before_ = rest(swapped(outside), swapped(nearer));
    last_end_ = place_.back() - edge_deviations * event_noise * g_;
    first_end_ = -last_end_;
    first_cell_ = margin;
    last_cell_ = place_.size() - 2 - margin;
    // Between the cells and the last place the density is at most the larger of two neighbours, up to the chord.
    Tail after = outside;
    for (std::size_t i = last_cell_ + 1; i + 1 < place_.size(); ++i) {
      const double log_mass_here = std::log(1.01 * step_) + std::max(log_density_[i] + error_[i], log_density_[i + 1] + error_[i + 1]);
      after = {log_sum(after.log_mass, log_mass_here), log_sum(after.log_mean, log_mass_here + place_[i + 1])};
    }
    integrate(swapped(after), after);
  }
  work_ = Work::since(begin);
}

EpochDensity::Rest EpochDensity::rest(Tail tail, Tail nearer) const {
  return {std::exp(tail.log_mass), std::exp(tail.log_mean), DensityBounds::from_probability(nearer.log_mass, g_)};
}

namespace {

/// The weights of an interpolation at the abscissas.
const std::array<std::array<double, taps>, rule.size()>& weights_of_rule() {
  static const auto weights = [] {
    std::array<std::array<double, taps>, rule.size()> all{};
    for (std::size_t k = 0; k < rule.size(); ++k) all[k] = interpolation_weights({rule[k].place, 0});
    return all;
  }();
  return weights;
}

}  // namespace

/// The density between a place and the next one, tilted so that both have the same value, which is 1 in these units.
struct EpochDensity::Cell {
  double log_value, tilt;             // of the first place; of a step
  std::array<double, taps> values{};  // tilted
  double error;                       // relative
  double log_most;                    // the density is at most this
};

EpochDensity::Cell EpochDensity::cell(std::size_t i) const {
  Cell cell{log_density_[i], log_density_[i + 1] - log_density_[i], {}, 0, 0};
  cell.log_most = std::max(log_density_[i] + error_[i], log_density_[i + 1] + error_[i + 1]) + 1.01 * step_ * step_ / (8 * g_ * g_);
  double inherited = 0;
  for (std::size_t t = 0; t < taps; ++t) {
    const std::size_t k = i + t - taps_before;
    cell.values[t] = std::exp(log_density_[k] - cell.log_value - cell.tilt * (static_cast<double>(t) - static_cast<double>(taps_before)));
    inherited = std::max(inherited, error_[k]);
  }
  // The mean of cosh(distance x) over the slopes x, at the worse end of the cell.
  const auto both = [&](double distance) {
    double most = 0;
    for (const double end : {0.0, 1.0}) {
      double sum = 0;
      for (const double away : {-distance / step_, distance / step_})
        sum +=
            std::exp(std::min(700.0, bounds_->log_above(static_cast<double>(i) + end + away) - cell.log_value - cell.tilt * (end + away)));
      most = std::max(most, sum / 2);
    }
    return most * std::exp(distance * distance / (2 * g_ * g_) + step_ * step_ / (8 * g_ * g_));
  };
  const double largest = 1 + 2 * inherited;  // the density over its value at the places
  const double steepest = std::exp(7 * (std::abs(cell.tilt) + step_)) * *std::max_element(cell.values.begin(), cell.values.end());
  cell.error = largest * (rule_factor * steepest +
                          (inherited + cell_roundings * unit_roundoff) * weight_sum * both(static_cast<double>(taps / 2) * step_) +
                          rest_factor * std::pow(step_ / g_, 16) * both(rest_reach * g_));
  return cell;
}

/// The integral over part of a cell of the density times a kernel, which is a function of the distance from its first place.
template <class Kernel>
EpochDensity::Sum EpochDensity::over(const Cell& cell, double from, double to, Kernel&& kernel) const {
  const double length = to - from;
  const bool whole = from == 0 && to == 1;
  Sum sum;
  if (!(cell.error < 0.5)) {  // between nothing and its bound
    for (const auto& [place, weight] : rule) sum.value += step_ * length * weight * kernel((from + length * place) * step_);
    const double most = 0.51 * std::exp(cell.log_most) * std::abs(sum.value);
    return {most, most};
  }
  for (std::size_t k = 0; k < rule.size(); ++k) {
    const double x = from + length * rule[k].place, share = step_ * length * rule[k].weight * kernel(x * step_) * std::exp(cell.tilt * x);
    const std::array<double, taps> weights = whole ? weights_of_rule()[k] : interpolation_weights({x, 0});
    double value = 0;
    for (std::size_t t = 0; t < taps; ++t) value += weights[t] * cell.values[t];
    sum.value += share * value;
    sum.error += std::abs(share);
  }
  const double scale = std::exp(cell.log_value);
  return {sum.value * scale, sum.error * scale * cell.error * (1 + 1e-6)};
}

/// From the last cell down and from the first one up: only positive terms are added.
void EpochDensity::integrate(Tail below, Tail above) {
  const std::size_t count = place_.size();
  above_.assign(count, {});
  excess_.assign(count, {});
  mean_below_.assign(count, {});
  deficit_.assign(count, {});
  // What lies beyond is between nothing and its bound.
  const auto unknown = [](double log_bound) { return Sum{std::exp(log_bound) / 2, std::exp(log_bound) / 2}; };
  above_[last_cell_ + 1] = unknown(above.log_mass);
  excess_[last_cell_ + 1] = unknown(above.log_mean);
  mean_below_[first_cell_] = unknown(below.log_mean);
  deficit_[first_cell_] = unknown(below.log_mass);
  const auto one = [](double) { return 1.0; };
  std::vector<Cell> cells;
  for (std::size_t i = first_cell_; i <= last_cell_; ++i) cells.push_back(cell(i));
  for (std::size_t i = last_cell_ + 1; i-- > first_cell_;) {
    const Cell& here = cells[i - first_cell_];
    const double unit = std::exp(place_[i]);
    above_[i] = above_[i + 1] + over(here, 0, 1, one);
    excess_[i] =
        excess_[i + 1] + above_[i + 1] * (unit * std::expm1(step_)) + over(here, 0, 1, [&](double x) { return unit * std::expm1(x); });
  }
  for (std::size_t i = first_cell_; i <= last_cell_; ++i) {
    const Cell& here = cells[i - first_cell_];
    const double unit = std::exp(place_[i]);
    mean_below_[i + 1] = mean_below_[i] + over(here, 0, 1, [&](double x) { return unit * std::exp(x); });
    deficit_[i + 1] =
        deficit_[i] + mean_below_[i] * (-std::expm1(-step_) / unit) + over(here, 0, 1, [&](double x) { return -std::expm1(x - step_); });
  }
}

EpochDensity::Read EpochDensity::read(Direction direction, double epsilon) const {
  const double at = direction == Direction::remove ? epsilon : -epsilon, index = std::floor((at - place_.front()) / step_);
  if (!(index >= static_cast<double>(first_cell_) && index <= static_cast<double>(last_cell_))) return {};
  const auto i = static_cast<std::size_t>(index);
  const Cell here = cell(i);
  const double x = std::clamp((at - place_[i]) / step_, 0.0, 1.0), unit = std::exp(at);
  const auto one = [](double) { return 1.0; };
  Read read{true, {}, {}, {}};
  if (direction == Direction::remove) {
    const double rise = unit * std::expm1(place_[i + 1] - at);
    read.q = above_[i + 1] + over(here, x, 1, one);
    read.delta = excess_[i + 1] + above_[i + 1] * rise + over(here, x, 1, [&](double d) { return unit * std::expm1(d - x * step_); });
    read.p = read.delta + read.q * unit;
  } else {
    const double fall = -std::expm1(place_[i] - at) / std::exp(place_[i]);
    read.q = mean_below_[i] + over(here, 0, x, [&](double d) { return std::exp(place_[i] + d); });
    read.delta = deficit_[i] + mean_below_[i] * fall + over(here, 0, x, [&](double d) { return -std::expm1(d - x * step_); });
    read.p = read.delta + read.q * (1 / unit);
  }
  // Thousands of sums; and the loss for another mu, which moves epsilon and the likelihood ratio.
  const double rounding = 4 * unit_roundoff * static_cast<double>(place_.size() + 64);
  const double moved = 2.1 * place_error_ * read.p.value;
  for (Sum* sum : {&read.delta, &read.p, &read.q}) sum->error = 1.001 * (sum->error + rounding * sum->value);
  read.delta.error += moved;
  // The rates change by the probability of losses that close to epsilon.
  const double crossing = 4 * place_error_ * std::exp(bounds_->log_above(index + x)) + 1e-300;
  const double factor = direction == Direction::remove ? unit : 1;
  read.p.error += moved + crossing * factor;
  read.q.error += moved + crossing * (direction == Direction::remove ? 1 : unit);
  return read;
}

namespace {

Interval around(double value, double error) { return clamp(Interval{value - error, value + error}, 0, 1); }

}  // namespace

Interval EpochDensity::delta(Direction direction, double epsilon) const {
  const Read found = read(direction, epsilon);
  return found.known ? around(found.delta.value, found.delta.error) : Interval{0, 1};
}

std::optional<LikelihoodRatioTest> EpochDensity::test_at(Direction direction, double epsilon) const {
  const Read found = read(direction, epsilon);
  if (!found.known) return std::nullopt;
  return LikelihoodRatioTest{around(found.q.value, found.q.error), around(found.p.value, found.p.error)};
}

double EpochDensity::rough_delta(Direction direction, double epsilon) const {
  const auto& sums = direction == Direction::remove ? excess_ : deficit_;
  const double at = ((direction == Direction::remove ? epsilon : -epsilon) - place_.front()) / step_;
  const double nearest = std::clamp(std::round(at), static_cast<double>(first_cell_), static_cast<double>(last_cell_));
  return sums[static_cast<std::size_t>(nearest)].value;
}

}  // namespace tradeoff::detail::allocation
