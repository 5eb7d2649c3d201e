// SPDX-License-Identifier: Apache-2.0
#include "transform/nodes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "numeric/arithmetic.h"
#include "transform/characteristic_function.h"

namespace tradeoff::detail {
namespace {

// First-order error counts below are multiplied by this factor, which covers products of two errors, each far below 1e-3.
constexpr double slack = 1.1;
// libm errors of libm_bounds.h as relative errors: one unit in the last place is at most 2u.
constexpr double exp_error = 2 * numeric::libm_ulps::exp * unit_roundoff;
constexpr double log_error_units = 2 * numeric::libm_ulps::log * unit_roundoff;
constexpr double log1p_error = 2 * numeric::libm_ulps::log1p * unit_roundoff;
constexpr double expm1_error = 2 * numeric::libm_ulps::expm1 * unit_roundoff;
constexpr double tail_error = 20 * unit_roundoff;  // the relative error of exponential_tail
// Below this value log M is computed from M - 1 (no cancellation); above, from the plain sum, whose error does not grow with the number of
// steps.
constexpr double small_log_moment = 0.5;
constexpr double no_quadrature = 1e-30;  // the error of a sum that is the expectation itself
constexpr double most_beyond = 1e-3;     // of the weight of nodes whose angles are too large

/// Neumaier's sum: error 2u of the result plus n^2 u^2 of the sum of moduli, which `slack` covers.
class CompensatedSum {
 public:
  void add(double term) {
    const double next = sum_ + term;
    compensation_ += std::abs(sum_) >= std::abs(term) ? (sum_ - next) + term : (term - next) + sum_;
    sum_ = next;
  }
  [[nodiscard]] double value() const { return sum_ + compensation_; }

 private:
  double sum_ = 0;
  double compensation_ = 0;
};

}  // namespace

double log_tail_above(double x) {
  if (x < 5) return std::log(0.5 * std::erfc(x * std::numbers::sqrt2 / 2)) + 1e-9;
  return -0.5 * x * x - log_root_two_pi - std::log(x) + 1e-9;
}

double log_sum(double a, double b) {
  const double larger = std::max(a, b);
  return larger == -infinity ? larger : larger + std::log1p(std::exp(std::min(a, b) - larger));
}

double exponential_tail(double x) {
  if (std::abs(x) > 1.5) return std::expm1(x) - x;  // |expm1 x| <= 1.8 (expm1 x - x) here
  // x^2/2 (1 + x/3 (1 + x/4 (...))): 20 terms leave 1.5^20 2/22! < 2^-57, and 12 terms 0.25^13 2/15! where x is small.
  static constexpr auto inverses = [] {
    std::array<double, 23> inverse{};
    for (std::size_t k = 3; k < inverse.size(); ++k) inverse[k] = 1 / static_cast<double>(k);
    return inverse;
  }();
  double nested = 1;
  for (std::size_t k = std::abs(x) < 0.25 ? 14 : 22; k >= 3; --k) nested = 1 + nested * (x * inverses[k]);
  return 0.5 * x * x * nested;
}

void NodeLaw::sort_by_loss() {
  std::vector<std::size_t> order(nodes_.loss.size());
  for (std::size_t j = 0; j < order.size(); ++j) order[j] = j;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return nodes_.loss[a] < nodes_.loss[b]; });
  for (auto* column : {&nodes_.log_weight, &nodes_.log_weight_error, &nodes_.weight, &nodes_.loss, &nodes_.loss_error, &nodes_.loss_tail}) {
    std::vector<double> sorted;
    sorted.reserve(order.size());
    for (const std::size_t j : order) sorted.push_back((*column)[j]);
    *column = std::move(sorted);
  }
}

Cumulant NodeLaw::cumulant(double power) const {
  const std::size_t count = nodes_.loss.size();
  double largest = -infinity;
  for (std::size_t j = 0; j < count; ++j) largest = std::max(largest, nodes_.log_weight[j] + power * nodes_.loss[j]);
  double mass = 0, first = 0, second = 0;
  for (std::size_t j = 0; j < count; ++j) {
    const double tilted = std::exp(nodes_.log_weight[j] + power * nodes_.loss[j] - largest);
    mass += tilted;
    first += tilted * nodes_.loss[j];
    second += tilted * nodes_.loss[j] * nodes_.loss[j];
  }
  const double mean = first / mass;
  return {largest + std::log(mass), mean, std::max(second / mass - mean * mean, 0.0)};
}

double NodeLaw::log_moment_above(double power) const {
  const std::size_t count = nodes_.loss.size();
  double largest = -infinity;
  for (std::size_t j = 0; j < count; ++j) largest = std::max(largest, nodes_.log_weight[j] + power * nodes_.loss[j]);
  // Each exponent is increased by its own error: parameters, weight, and the three roundings of the exponent.
  double mass = 0;
  for (std::size_t j = 0; j < count; ++j) {
    const double tilt = power * nodes_.loss[j];
    const double error = std::abs(power) * nodes_.loss_error[j] + nodes_.log_weight_error[j] +
                         3 * unit_roundoff * (std::abs(tilt) + std::abs(nodes_.log_weight[j]) + std::abs(largest));
    mass += std::exp(nodes_.log_weight[j] + tilt - largest + error);
  }
  mass *= 1 + exp_error + 2 * static_cast<double>(count) * unit_roundoff;
  const double sum = largest + std::log(mass) * (1 + log_error_units) + 4 * unit_roundoff * (1 + std::abs(largest));
  const double quadrature = std::exp(std::min(700.0, log_error(power, 0, {count, true, sum - 40}) - sum)) * (1 + 1e-9);
  const double above = sum + quadrature + 4 * unit_roundoff * (1 + std::abs(sum));
  return above < infinity ? above : infinity;  // NaN becomes no bound
}

NodeTilt::NodeTilt(const NodeLaw& law, double power, int sign, double negligible) : law_(law), power_(power), sign_(sign) {
  find_weights();
  const double rough = log_moment_;
  find_log_moment(rough);
  find_mean(rough);
  find_spread();
  keep(negligible);
}

double NodeTilt::relative(double log_bound) const {
  // Exponents are below 1e4 in absolute value wherever the bound is useful; 1e-9 covers their rounding.
  return std::exp(std::min(700.0, log_bound - log_moment_ + log_moment_error_)) * (1 + 1e-9);
}

void NodeTilt::find_weights() {
  const Nodes& nodes = law_.nodes();
  const std::size_t count = nodes.loss.size();
  tilted_.resize(count);
  tilted_error_.resize(count);
  double largest = -infinity;
  for (std::size_t j = 0; j < count; ++j) largest = std::max(largest, nodes.log_weight[j] + power_ * nodes.loss[j]);
  double mass = 0, error = 0;
  for (std::size_t j = 0; j < count; ++j) {
    const double tilt = power_ * nodes.loss[j];
    tilted_[j] = std::exp(nodes.log_weight[j] + tilt - largest);
    tilted_error_[j] = slack * (std::abs(power_) * nodes.loss_error[j] + nodes.log_weight_error[j] + exp_error +
                                2 * unit_roundoff * (std::abs(tilt) + std::abs(nodes.log_weight[j]) + std::abs(largest)));
    mass += tilted_[j];
    error += tilted_[j] * tilted_error_[j];
  }
  sum_error_ = slack * error / mass + static_cast<double>(count) * unit_roundoff;
  log_moment_ = largest + std::log(mass);
  log_moment_error_ =
      slack * (sum_error_ + log_error_units * std::abs(std::log(mass))) + 2 * unit_roundoff * (std::abs(largest) + std::abs(log_moment_));
  for (std::size_t j = 0; j < count; ++j) {
    tilted_[j] /= mass;
    tilted_error_[j] += sum_error_ + 2 * unit_roundoff;
  }
}

// [contour-rounding] M - 1 = E_Q[e2(pl) - p e2(l)] with e2(x) = e^x - 1 - x, because E_Q[1] = E_Q[w] = 1. Every term is of second order in
// the loss, so the error is a multiple of u log M and does not grow with the number of steps.
void NodeTilt::find_log_moment(double rough) {
  const double quadrature = relative(law_.log_error(power_, 0)) + (1 + 2 * std::abs(power_)) * relative(std::log(law_.unit_error()));
  if (rough < small_log_moment) {
    const Nodes& nodes = law_.nodes();
    CompensatedSum sum;
    double error = 0;
    for (std::size_t j = 0; j < nodes.loss.size(); ++j) {
      const double l = nodes.loss[j], weight = nodes.weight[j], exponent = power_ * l;
      const bool large = exponent > large_exponent || l > large_exponent;
      const double power_of_w = large ? std::exp(nodes.log_weight[j] + exponent) : weight * std::exp(exponent);
      const double w = large ? std::exp(nodes.log_weight[j] + l) : weight * std::exp(l);
      const double first = large ? power_of_w - weight * (1 + exponent) : weight * exponential_tail(exponent);
      const double second = power_ * (large ? w - weight * (1 + l) : weight * nodes.loss_tail[j]);
      sum.add(first - second);
      const double relative_weight = nodes.log_weight_error[j] + exp_error + 3 * unit_roundoff;
      const double dl = nodes.loss_error[j];
      error += relative_weight * std::abs(first - second) + (tail_error + 2 * unit_roundoff) * (std::abs(first) + std::abs(second)) +
               unit_roundoff * std::abs(exponent) * std::abs(power_of_w - weight) + std::abs(power_ * (power_of_w - w)) * dl +
               (power_ * power_ * power_of_w + std::abs(power_) * w) * dl * dl;
      if (large)
        error += (relative_weight + 3 * unit_roundoff * (std::abs(nodes.log_weight[j]) + std::abs(exponent))) * power_of_w +
                 (relative_weight + 3 * unit_roundoff * (std::abs(nodes.log_weight[j]) + std::abs(l))) * std::abs(power_) * w;
    }
    const double moment = 1 + sum.value();
    log_moment_ = std::log1p(sum.value());
    log_moment_error_ = slack * error / moment + (log1p_error + 4 * unit_roundoff) * std::abs(log_moment_);
  }
  log_moment_error_ += quadrature * 1.01;
  if (!(quadrature < 1e-3) || !(sum_error_ < 1e-3)) log_moment_error_ = infinity;  // the errors are those of first order
}

// [contour-rounding] M mean = E_Q[(w^p - 1) l - e2(l)] because E_Q[l] = -E_Q[e2(l)]; the node sums differ from the node mean only by sum_j
// W_j (w_j - 1), at most twice the unit error.
void NodeTilt::find_mean(double rough) {
  const Nodes& nodes = law_.nodes();
  const std::size_t count = nodes.loss.size();
  if (rough >= small_log_moment) {
    double near = 0, mean = 0;
    for (std::size_t j = 0; j < count; ++j) near += tilted_[j] * nodes.loss[j];
    for (std::size_t j = 0; j < count; ++j) mean += tilted_[j] * (nodes.loss[j] - near);
    mean += near;
    double error = 0, size = 0;
    for (std::size_t j = 0; j < count; ++j) {
      const double distance = std::abs(nodes.loss[j] - mean);
      error += tilted_[j] * (tilted_error_[j] * distance + nodes.loss_error[j]);
      size += tilted_[j] * distance;
    }
    mean_ = mean;
    // about `near`, from which the mean differs by the rounding of one sum
    const double away = 4 * static_cast<double>(count) * unit_roundoff * std::abs(near);
    mean_error_ = slack * (error + 2 * static_cast<double>(count) * unit_roundoff * (size + away) + 2 * unit_roundoff * std::abs(near));
    return;
  }
  CompensatedSum sum;
  double error = 0;
  for (std::size_t j = 0; j < count; ++j) {
    const double l = nodes.loss[j], weight = nodes.weight[j], exponent = power_ * l, dl = nodes.loss_error[j];
    const bool large = exponent > large_exponent || l > large_exponent;
    const double power_of_w = large ? std::exp(nodes.log_weight[j] + exponent) : weight * std::exp(exponent);
    const double w = large ? std::exp(nodes.log_weight[j] + l) : weight * std::exp(l);
    const double growth = large ? power_of_w - weight : weight * std::expm1(exponent);
    const double tail = large ? w - weight * (1 + l) : weight * nodes.loss_tail[j];
    sum.add(growth * l - tail);
    const double relative_weight = nodes.log_weight_error[j] + exp_error + 3 * unit_roundoff;
    error += relative_weight * std::abs(growth * l - tail) + (expm1_error + 3 * unit_roundoff) * std::abs(growth * l) +
             (tail_error + 3 * unit_roundoff) * tail + unit_roundoff * std::abs(exponent * l) * power_of_w +
             std::abs(power_ * power_of_w * l + growth - (w - weight)) * dl +
             (2 * std::abs(power_) * (1 + std::abs(exponent)) * power_of_w + w) * dl * dl;
    if (large)
      error += (relative_weight + 3 * unit_roundoff * (std::abs(nodes.log_weight[j]) + std::abs(exponent))) * power_of_w * std::abs(l) +
               (relative_weight + 3 * unit_roundoff * (std::abs(nodes.log_weight[j]) + std::abs(l))) * w;
  }
  const double moment = std::exp(log_moment_);
  mean_ = sum.value() / moment;
  mean_error_ = slack * error / moment + 2.02 * relative(std::log(law_.unit_error())) +
                std::abs(mean_) * (log_moment_error_ + exp_error + 4 * unit_roundoff);
}

void NodeTilt::find_spread() {
  const Nodes& nodes = law_.nodes();
  const std::size_t count = nodes.loss.size();
  double variance = 0, error = 0;
  const double sums =
      (oscillation_units + std::floor(static_cast<double>(count) / static_cast<double>(oscillation_lanes)) + 16) * unit_roundoff;
  for (std::size_t j = 0; j < count; ++j) {
    const double distance = std::abs(nodes.loss[j] - mean_), dl = nodes.loss_error[j] + 2.1 * unit_roundoff * distance;
    variance += tilted_[j] * distance * distance;
    // |e^(ix) - 1 - ix| <= x^2/2, and its derivative is at most 2|x|.
    error += tilted_[j] * ((0.5 * tilted_error_[j] + sums) * distance * distance + (2 * distance + dl) * dl);
  }
  quadratic_error_ = slack * error;
  deviation_above_ = std::sqrt(second_moment_above(variance, {count})) * (1 + 1e-9);
  constant_error_ = relative(law_.log_error(power_, 0));
}

// The second derivative of the quadrature error of M(p + x) e^(-x centre), by Cauchy's formula on a circle around 0: at most 2/r^2 times
// its largest value there, which for a small r is about that of M. The error is log-convex in the power, so its values at the ends bound
// it. [node-quadrature]
double NodeTilt::second_moment_above(double node_sum, const NodeLaw::Sum& sum) const {
  const double radius = 0.5 / std::max(1.0, std::abs(mean_));
  const double circle = std::max(law_.log_error(power_ + radius, radius, sum), law_.log_error(power_ - radius, radius, sum));
  return node_sum + 4 * quadratic_error_ + 2 / (radius * radius) * relative(circle + radius * std::abs(mean_));
}

// A dropped node contributes at most a_j |e^(ix) - 1 - ix| <= a_j (2 + |x|).
void NodeTilt::keep(double negligible) {
  const Nodes& nodes = law_.nodes();
  std::size_t last = nodes.loss.size();
  double mass = 0, moment = 0;
  const auto drop = [&](std::size_t j) {
    mass += tilted_[j];
    moment += tilted_[j] * std::abs(nodes.loss[j] - mean_);
  };
  while (first_kept_ + 1 < last && tilted_[first_kept_] < negligible) drop(first_kept_++);
  while (last > first_kept_ + 1 && tilted_[last - 1] < negligible) drop(--last);
  kept_weight_.assign(tilted_.begin() + static_cast<std::ptrdiff_t>(first_kept_), tilted_.begin() + static_cast<std::ptrdiff_t>(last));
  for (std::size_t j = first_kept_; j < last; ++j) {
    kept_loss_.push_back(nodes.loss[j] - mean_);
    kept_reach_ = std::max(kept_reach_, std::abs(kept_loss_.back()));
  }
  while (kept_weight_.size() % oscillation_lanes != 0) {
    kept_weight_.push_back(0);
    kept_loss_.push_back(0);
  }
  end_kept_ = last;
  constant_error_ = 1.01 * constant_error_ + 2.2 * mass;
  linear_error_ = mean_error_ + slack * moment;
  find_far();
}

// [contour-rounding] Where t times the deviation is large, the errors of the summands a_j e^(ix_j) themselves: x_j is no longer subtracted.
void NodeTilt::find_far() {
  const Nodes& nodes = law_.nodes();
  const auto count = static_cast<double>(nodes.loss.size());
  double weights = 0, losses = 0, size = 0;
  for (std::size_t j = first_kept_; j < end_kept_; ++j) {
    const double distance = std::abs(kept_loss_[j - first_kept_]);
    residual_ += tilted_[j] * kept_loss_[j - first_kept_];
    weights += tilted_[j] * tilted_error_[j];
    losses += tilted_[j] * (nodes.loss_error[j] + 2.1 * unit_roundoff * distance);
    size += tilted_[j] * distance;
  }
  far_constant_ = slack * (weights + (count + 4) * unit_roundoff);
  far_linear_ = slack * (losses + (2 * count + 64) * unit_roundoff * size);
}

/// For a negative power the far right is negligible, and a large t there would only weaken the bound; for a positive power the integral
/// beyond the last node is smaller further out.
double NodeTilt::quadrature_error(double t, double enough) const {
  const std::size_t count = power_ < 0 ? end_kept_ : law_.nodes().loss.size();
  return 1.01 * relative(law_.log_error(power_, t, {count, true, log_enough(enough)}));
}

CharacteristicValue NodeTilt::sum_at(double t, double quadrature) const {
  if (!(t * kept_reach_ < oscillation_limit)) {
    if (quadrature < no_quadrature) return sum_near(t, quadrature);
    return {-1, 0, 1};  // only |phi| <= 1 is known
  }
  const OscillationSum sum = sum_oscillations(kept_weight_.data(), kept_loss_.data(), kept_weight_.size(), t);
  const double near = (quadratic_error_ * t + linear_error_) * t, far = far_constant_ + far_linear_ * t;
  if (far < near) return {sum.cosine, sign_ * (sum.sine + t * residual_), far + constant_error_ + quadrature};
  return {sum.cosine, sign_ * sum.sine, near + constant_error_ + quadrature};
}

/// The nodes whose angle is small enough for its sine alone; what the others have is an error.
CharacteristicValue NodeTilt::sum_near(double t, double quadrature) const {
  std::vector<double> weights, losses;
  double beyond = 0, residual = 0;
  for (std::size_t j = 0; j < kept_weight_.size(); ++j) {
    if (!(t * std::abs(kept_loss_[j]) < oscillation_limit)) {
      beyond += kept_weight_[j];
      continue;
    }
    weights.push_back(kept_weight_[j]);
    losses.push_back(kept_loss_[j]);
    residual += kept_weight_[j] * kept_loss_[j];
  }
  if (!(beyond < most_beyond)) return {-1, 0, 1};  // only |phi| <= 1 is known
  while (weights.size() % oscillation_lanes != 0) weights.push_back(0), losses.push_back(0);
  const OscillationSum sum = sum_oscillations(weights.data(), losses.data(), weights.size(), t);
  const double error = far_constant_ + far_linear_ * t + constant_error_ + quadrature;
  return {sum.cosine, sign_ * (sum.sine + t * residual), error + 2.2 * beyond};
}

CharacteristicValue NodeTilt::oscillation(double t, double enough) const {
  if (!(t * kept_reach_ < oscillation_limit)) return {-1, 0, 1};  // only |phi| <= 1 is known
  CharacteristicValue value = sum_at(t, 0);
  value.error += quadrature_error(t, enough * std::max(0.0, 1 - std::hypot(1 + value.real_less_one, value.imaginary)));
  return value;
}

void NodeTilt::characteristic_function(std::span<const double> times, std::span<CharacteristicValue> values) const {
  // The quadrature error increases with t, so its value at the last t bounds all of the list.
  const double quadrature = quadrature_error(times.back(), 0.1 * quadratic_error_ * times.front() * times.front());
  for (std::size_t k = 0; k < times.size(); ++k) values[k] = sum_at(times[k], quadrature);
}

}  // namespace tradeoff::detail
