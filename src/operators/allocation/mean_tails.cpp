// SPDX-License-Identifier: Apache-2.0
#include "operators/allocation/mean_tails.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "numeric/arithmetic.h"
#include "numeric/normal.h"
#include "numeric/root.h"
#include "transform/nodes.h"

// [allocation-tails]
namespace tradeoff::detail::allocation {
namespace {

constexpr double cell_length = 0.2, farthest_end = 70;  // of the normal variable
constexpr double largest_exponent = 3000;
constexpr int order_steps = 60;

double end_of_cell(std::size_t k) { return -farthest_end + cell_length * static_cast<double>(k); }
double log_above_of(double z) { return middle_of(log_normal_cdf(-z)); }
/// log P(a < z <= b), b = a + cell_length.
double log_between(double a, double b) {
  const double near = a > 0 ? a : -b, far = a > 0 ? b : -a, log_near = log_above_of(near);
  return log_near + std::log1p(-std::exp(log_above_of(far) - log_near));
}

}  // namespace

// E psi(Y) of a convex psi is at most that of the spread law. What lies before the first cell is moved to 0, what lies beyond the last one
// to its end: that raises exp(-order Y), and log_above counts large Y apart.
MeanTails::MeanTails(double s) : s_(s) {
  const auto count = static_cast<std::size_t>(std::ceil((2 * farthest_end + s) / cell_length)) + 1;
  value_.push_back(0);
  for (std::size_t k = 0; k < count; ++k) value_.push_back(std::exp(s * end_of_cell(k) - s * s / 2));
  log_mass_.assign(value_.size(), -infinity);
  for (std::size_t k = 1; k < count; ++k) {
    const double from = end_of_cell(k - 1), to = end_of_cell(k), ratio = value_[k + 1] / value_[k];
    // The mean of the cell, in units of its left end, decides how its mass is shared.
    const double log_mass = log_between(from, to), mean = std::exp(log_between(from - s, to - s) - log_mass - (s * from - s * s / 2));
    const double right = std::clamp((mean - 1) / (ratio - 1), 0.0, 1.0);
    log_mass_[k] = log_sum(log_mass_[k], log_mass + std::log(1 - right));
    log_mass_[k + 1] = log_sum(log_mass_[k + 1], log_mass + std::log(right));
  }
  log_mass_.front() = log_above_of(farthest_end);
  log_mass_.back() = log_sum(log_mass_.back(), log_above_of(farthest_end));
  // Logarithms of up to 2,500 with a few roundings, and the division by a cell of length s cell_length.
  log_slack_ = 1e-11 + 1e-11 / std::min(1.0, s * cell_length);
}

MeanTails::Moment MeanTails::tilted(double order, std::size_t count) const {
  double top = -infinity;
  for (std::size_t k = 0; k < count; ++k) top = std::max(top, log_mass_[k] + order * value_[k]);
  double sum = 0, first = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const double exponent = log_mass_[k] + order * value_[k] - top;
    if (exponent < -60) continue;
    const double mass = std::exp(exponent);
    sum += mass, first += mass * value_[k];
  }
  return {top + std::log(sum) + 1e-20 * static_cast<double>(count), first / sum};
}

double MeanTails::Line::log_below(double n, double x) const {
  const double rise = order * std::exp(x), bound = n * (rise + log_moment + 1e-13 * (1 + std::abs(log_moment) + rise));
  return bound < 0 ? bound : 0;
}

MeanTails::Line MeanTails::line_below(double x) const {
  const double mean = std::exp(x);
  const auto is_steeper = [&](double order) { return tilted(-order, value_.size()).mean < mean; };
  const double order = numeric::bisect_ratio(is_steeper, {1e-6, largest_order()}, order_steps, 1.001).before;
  return {order, tilted(-order, value_.size()).log + log_slack_};
}

/// A bound of log E(mean; mean > m, all Y at most the last value) by E(mean exp(order (sum - n m))).
double MeanTails::log_bulk_above(double n, double mean, std::size_t count) const {
  const double highest = largest_exponent / value_[count - 1];  // beyond it the largest Y decides anyway
  const auto is_steeper = [&](double order) { return tilted(order, count).mean > mean; };
  const double order = numeric::bisect_ratio(is_steeper, {1e-12 * highest, highest}, order_steps, 1.01).before;
  const Moment at = tilted(order, count);
  const double slack = log_slack_ + 1e-15 * static_cast<double>(count) * (1 + order * (value_[count - 1] + mean));
  return n * (at.log - order * mean + slack) + std::log(std::max(at.mean, 1e-300)) + 1e-9;
}

double MeanTails::log_below(double n, double x) const {
  if (n == 1) return log_above_of(-(x / s_ + s_ / 2)) + 1e-6;
  return line_below(x).log_below(n, x);
}

double MeanTails::log_mean_above(double n, double x) const {
  if (n == 1) return log_above_of(x / s_ - s_ / 2) + 1e-6;
  const double mean = std::exp(x);
  if (!(mean > 1)) return 0;
  double best = 0;
  for (const double share : {0.0, 0.5, 0.9, 0.98}) {
    // Some Y beyond a: E(mean; that) <= E(Y; Y > a) + (n - 1) P(Y > a). With all of them at most `mean` the mean is not larger.
    const double wanted = share == 0 ? mean : 1 + share * n * (mean - 1);
    const auto place = static_cast<std::size_t>(std::upper_bound(value_.begin(), value_.end(), wanted) - value_.begin());
    if (place < 3) continue;
    const double z = end_of_cell(place - 2);
    const double jump = log_sum(log_above_of(z - s_), n > 1 ? std::log(n - 1) + log_above_of(z) : -infinity) + 1e-9;
    const double bulk = share == 0 ? -infinity : log_bulk_above(n, mean, place);
    const double bound = log_sum(jump, bulk);
    if (bound < best) best = bound;
  }
  return best;
}

double MeanTails::left_end(double n, double log_probability) const {
  if (n == 1) return -s_ * std::sqrt(-2 * log_probability) - s_ * s_ / 2;
  // Along the orders the place and the bound fall together.
  const auto is_beyond = [&](double order) {
    const Moment at = tilted(-order, value_.size());
    return n * (order * at.mean + at.log) < log_probability;
  };
  const double order = numeric::bisect_ratio(is_beyond, {1e-6, largest_order()}, order_steps, 1.01).beyond;
  return std::log(tilted(-order, value_.size()).mean);
}

double MeanTails::right_end(double n, double log_probability) const {
  return n == 1 ? s_ * std::sqrt(-2 * log_probability)
                : right_end_of_jump(n, std::sqrt(2 * (std::log(n) - log_probability)), log_probability);
}
double MeanTails::right_end_of_mean(double n, double log_mean) const {
  const double z = std::max(s_ + std::sqrt(-2 * log_mean), std::sqrt(2 * (std::log(n) - log_mean)));
  return n == 1 ? s_ * z : right_end_of_jump(n, z, log_mean);
}

/// One large Y, at the normal variable z, or the deviation of all of them.
double MeanTails::right_end_of_jump(double n, double z, double log_mass) const {
  const double jump = std::expm1(s_ * z - s_ * s_ / 2) / n;
  const double square = std::exp(std::min(s_ * s_ + log_above_of(2 * s_ - z), 600.0)), variance = std::max(square - 1, s_ * s_);
  const double bulk = std::sqrt(2 * -log_mass * variance / n);
  return std::log1p(std::max(jump, bulk) + 0.3 * std::min(jump, bulk));
}

}  // namespace tradeoff::detail::allocation
