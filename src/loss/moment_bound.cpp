// SPDX-License-Identifier: Apache-2.0
#include "loss/moment_bound.h"

#include <algorithm>
#include <cmath>

#include "numeric/arithmetic.h"

namespace tradeoff::detail {
namespace {

/// Gaussian moments: l (l + 1)/2 times mu^2.
Interval half_product(Interval order) { return order * (order + 1.0) / 2.0; }

}  // namespace

bool MomentBound::add(const Tail& tail, std::uint64_t runs) {
  const auto times = static_cast<double>(runs);
  const double mu = std::min(tail.gdp_mu, tail.moment_mu);
  if (runs == 0) return true;
  if (tail.moments != nullptr) return add(*tail.moments, times);
  if (tail.zero_from < infinity) {
    pure_.push_back({tail.zero_from, times});
  } else if (mu < infinity && (!tail.gaussian || mu <= tail.gaussian->width)) {
    if (tail.moment_rate < 1)
      sampled_.push_back({mu, tail.moment_rate, times});
    else
      squares_ = squares_ + Interval::exactly(times) * square(Interval::exactly(mu));
  } else if (tail.gaussian) {
    modelled_.push_back({*tail.gaussian, tail.largest_delta, times});
  } else {
    return false;
  }
  return true;
}

bool MomentBound::add(const MomentBound& other, double times) {
  squares_ = squares_ + times * other.squares_;
  for (Pure part : other.pure_) pure_.push_back({part.size, numeric::multiply_up(part.times, times)});
  for (Sampled part : other.sampled_) sampled_.push_back({part.mu, part.rate, numeric::multiply_up(part.times, times)});
  for (const Modelled& part : other.modelled_) modelled_.push_back({part.tail, part.largest, numeric::multiply_up(part.times, times)});
  return true;
}

// [moment-bound] (epsilon, 0)-DP is epsilon^2/2-zCDP.
Interval MomentBound::log_moment(const Pure& part, Interval order) {
  const Interval size = Interval::exactly(part.size);
  return min(order * size, half_product(order) * square(size));
}

// [moment-bound] Minkowski's inequality for the remove direction; the rest is at most l times the profile at 0, which is at most the rate.
Interval MomentBound::log_moment(const Sampled& part, Interval order) {
  const Interval rate = Interval::exactly(part.rate), half = square(Interval::exactly(part.mu)) / 2.0;
  const Interval norm = log_add_exp(log1p(-rate), log(rate) + half * order);
  return log_add_exp((order + 1.0) * norm, log(order * rate));
}

// [moment-bound] M <= 1 - d + d (l + 1) exp(l f) + l (l + 1) exp(k + (l + a)^2 s^2/2) s sqrt(2 pi), d the largest delta.
Interval MomentBound::log_moment(const Modelled& part, Interval order) {
  const GaussianTail& tail = part.tail;
  const Interval width = Interval::exactly(tail.width), above = order + 1.0;
  const Interval start = order * std::max(tail.from, 0.0);
  const Interval largest = Interval::exactly(part.largest), head = log(largest) + log(above) + start;
  const Interval rest =
      log(order) + log(above) + tail.log_factor + square((order + tail.slope) * width) / 2.0 + log(width) + log_sqrt_two_pi;
  return log_add_exp(log1p(-largest), log_add_exp(head, rest));
}

double MomentBound::above(double order) const {
  const Interval l = Interval::exactly(order);
  Interval sum = half_product(l) * squares_;
  for (const Pure& part : pure_) sum = sum + part.times * log_moment(part, l);
  for (const Sampled& part : sampled_)
    sum = sum + part.times * min(log_moment(part, l), half_product(l) * square(Interval::exactly(part.mu)));
  for (const Modelled& part : modelled_) sum = sum + part.times * log_moment(part, l);
  return sum.hi;
}

double MomentBound::log_chernoff(double order) const {
  const Interval l = Interval::exactly(order);
  return (Interval::exactly(above(order)) + l * log(l) - (l + 1.0) * log1p(l)).hi;
}

double MomentBound::order_near(double epsilon) const {
  // The slope of a convex bound passes epsilon there; where the bound is not convex, any order is valid.
  const auto slope = [this](double order) { return (above(order * 1.001) - above(order)) / (0.001 * order); };
  double low = 1e-6, high = 1;
  while (slope(high) < epsilon && high < 1e12) high *= 4;
  while (high > 1.02 * low) {
    const double middle = std::sqrt(low * high);
    (slope(middle) < epsilon ? low : high) = middle;
  }
  return low;
}

double MomentBound::width() const {
  Interval squares = squares_;
  for (const Sampled& part : sampled_) squares = squares + part.times * square(Interval::exactly(part.mu));
  for (const Modelled& part : modelled_) squares = squares + part.times * square(Interval::exactly(part.tail.width));
  return sqrt(squares).hi;
}

// [tail-composition] From the order l0 on, log M(l) <= S^2 l (l + 1)/2 + b l + a, and l = (e - b)/S^2 - 1/2 in Chernoff's bound.
GaussianTail MomentBound::model_from(double least) const {
  const Interval l0 = Interval::exactly(least);
  Interval slope = Interval::exactly(0), constant = Interval::exactly(0);
  for (const Pure& part : pure_) slope = slope + Interval::exactly(part.times) * part.size;
  for (const Sampled& part : sampled_) {
    // The excess over (l + 1)(log rate + mu^2 l/2) falls from l0 on; otherwise the moments of the Gaussian are all that is used.
    const Interval rate = Interval::exactly(part.rate), half = square(Interval::exactly(part.mu)) / 2.0;
    const Interval others = (1.0 - rate) / rate * exp(-half * l0);
    if (!(least >= 1) || !(((l0 + 1.0) * half).lo >= (1.0 + others).hi)) continue;
    const Interval log_rate = log(rate), excess = log_moment(part, l0) - (l0 + 1.0) * (log_rate + half * l0);
    slope = slope + part.times * log_rate;
    constant = constant + part.times * (log_rate + excess);
  }
  for (const Modelled& part : modelled_) {
    // Tangents of log(1 + l) and of the logarithm of exp(l f - l^2 s^2/2) + l A exp(a l).
    const GaussianTail& tail = part.tail;
    const Interval width = Interval::exactly(tail.width), variance = square(width), from = Interval::exactly(std::max(tail.from, 0.0));
    const Interval bend = Interval::exactly(tail.slope) * variance;
    const Interval head = l0 * from - square(l0) * variance / 2.0;
    const Interval rest = log(l0) + tail.log_factor + Interval::exactly(tail.slope) * bend / 2.0 + log(width) + log_sqrt_two_pi + bend * l0;
    const Interval tangent = 1.0 / (l0 + 1.0) + max(from - l0 * variance, bend + 1.0 / l0);
    slope = slope + part.times * (tangent - variance / 2.0);
    constant = constant + part.times * (log1p(l0) + log_add_exp(head, rest) - tangent * l0);
  }
  const Interval squares = square(Interval::exactly(width()));
  const Interval b = Interval::exactly(slope.hi);
  return {(constant - square(b) / (2.0 * squares) - b / 2.0 - squares / 8.0 - log1p(l0)).hi, (b / squares + 0.5).hi, width(),
          std::max(0.0, ((l0 + 0.5) * squares + b).hi)};
}

GaussianTail MomentBound::model() const {
  double runs = 0;
  for (const Modelled& part : modelled_) runs += part.times;
  if (runs == 0) return model_from(0);
  return model_from(std::max(1.0, std::sqrt(8 * runs) / width()));  // the tangents add about 2 runs/order to the slope
}

}  // namespace tradeoff::detail
