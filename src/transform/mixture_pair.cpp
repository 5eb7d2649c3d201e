// SPDX-License-Identifier: Apache-2.0
#include "transform/mixture_pair.h"

#include <algorithm>
#include <cmath>

#include "numeric/arithmetic.h"

namespace tradeoff::detail {
namespace {

constexpr double plain_exponent = 30;  // above it u is far from 1, and the sum is kept in logarithms

}  // namespace

MixtureSide::MixtureSide(Interval mu, Interval rate, std::uint64_t count) : mu_(mu), middle_mu_(middle_of(mu)) {
  const Interval odds = log(rate) - log1p(-rate);
  Interval log_weight = Interval::exactly(static_cast<double>(count)) * log1p(-rate);
  for (std::uint64_t k = 0; k <= count; ++k) {
    const Interval number = Interval::exactly(static_cast<double>(k));
    log_weights_.push_back(log_weight);
    plain_log_weights_.push_back(middle_of(log_weight));
    weights_.push_back(exp(log_weight));
    shifts_.push_back(number * mu);
    half_squares_.push_back(square(shifts_.back()) / 2.0);
    if (k < count)
      log_weight =
          log_weight + odds + log(Interval::exactly(static_cast<double>(count - k)) / Interval::exactly(static_cast<double>(k + 1)));
  }
}

Interval MixtureSide::log_ratio(std::size_t k, Interval x) const {
  if (k == 0) return Interval::exactly(0);
  return shifts_[k] * x - half_squares_[k];
}

// [gaussian-mixture-pair] The weights sum to 1, so u - 1 is the sum of a_k expm1(log ratio). Every term increases with x.
Interval MixtureSide::log_density(Interval x) const {
  if (count() == 0) return Interval::exactly(0);
  double largest = 0;
  for (std::size_t k = 1; k <= count(); ++k) largest = std::max(largest, log_ratio(k, x).hi);
  Interval sum = Interval::exactly(0);
  if (largest <= plain_exponent) {
    for (std::size_t k = 1; k <= count(); ++k) sum = sum + weights_[k] * expm1(log_ratio(k, x));
    return log1p(max(sum, Interval::exactly(-1)));
  }
  Interval level = Interval::exactly(-infinity);
  for (std::size_t k = 0; k <= count(); ++k) level = max(level, log_weights_[k] + log_ratio(k, x));
  const Interval top = Interval::exactly(level.hi);
  for (std::size_t k = 0; k <= count(); ++k) sum = sum + exp(log_weights_[k] + log_ratio(k, x) - top);
  // Rounding of far larger exponents hides which term is the largest; the sum lies between the largest term and their number times it.
  return intersect(top + log(sum), {level.lo, (level + log(Interval::exactly(static_cast<double>(count() + 1)))).hi});
}

MixtureSide::Rough MixtureSide::rough(double x) const {
  if (count() == 0) return {};
  const auto exponent = [&](std::size_t k) {
    const double shift = middle_mu_ * static_cast<double>(k);
    return plain_log_weights_[k] + shift * (x - 0.5 * shift);
  };
  double largest = -infinity;
  for (std::size_t k = 0; k <= count(); ++k) largest = std::max(largest, exponent(k));
  double mass = 0, first = 0, second = 0, first_level = exponent(1), first_scaled = 0;
  for (std::size_t k = 1; k <= count(); ++k) first_level = std::max(first_level, exponent(k));
  for (std::size_t k = 0; k <= count(); ++k) {
    const double number = static_cast<double>(k);
    mass += std::exp(exponent(k) - largest);
    if (k == 0) continue;
    const double scaled = number * std::exp(exponent(k) - first_level);
    first_scaled += scaled;
    second += number * scaled;
  }
  first = first_scaled * std::exp(first_level - largest);
  return {largest + std::log(mass), first / mass, second / first_scaled};
}

MixtureSide::Polar MixtureSide::rough(double x, double y) const {
  if (count() == 0) return {};
  double largest = -infinity;
  const auto exponent = [&](std::size_t k) {
    const double shift = middle_mu_ * static_cast<double>(k);
    return plain_log_weights_[k] + shift * (x - 0.5 * shift);
  };
  for (std::size_t k = 0; k <= count(); ++k) largest = std::max(largest, exponent(k));
  double real = 0, imaginary = 0;
  for (std::size_t k = 0; k <= count(); ++k) {
    const double size = std::exp(exponent(k) - largest), angle = middle_mu_ * static_cast<double>(k) * y;
    real += size * std::cos(angle);
    imaginary += size * std::sin(angle);
  }
  // The factor e^(k^2 mu^2/2 - (k mu)^2/2 ...) is in the exponent: |exp(k mu (x + iy))| = exp(k mu x).
  return {largest + 0.5 * std::log(real * real + imaginary * imaginary), std::atan2(imaginary, real)};
}

}  // namespace tradeoff::detail
