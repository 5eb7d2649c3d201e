// SPDX-License-Identifier: Apache-2.0
#include "numeric/lane_loops.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "numeric/lane_trigonometry.h"

namespace tradeoff::detail::numeric {
namespace {

using HalfWords = std::uint64_t __attribute__((vector_size(sizeof(HalfLanes))));

double end_exponent(const Cells& cells, std::size_t j) {
  return cells.power * cells.modulus[j] + cells.t * cells.argument[j] - cells.square[j];
}

constexpr double lowest = -1e300;  // finite, so that sums of such terms are numbers

/// The exponents from j on, as many as there are lanes; beyond the last one `lowest`.
template <std::size_t slope_count>
[[gnu::always_inline]] inline void load_exponents(const Exponents& exponents, std::size_t j, HalfLanes& sum) {
  constexpr std::size_t lanes = lane_count / 2;
  if (j + lanes <= exponents.count) {
    std::memcpy(&sum, exponents.constant + j, sizeof sum);
    for (std::size_t i = 0; i < slope_count; ++i) {
      HalfLanes slope;
      std::memcpy(&slope, exponents.slopes[i] + j, sizeof slope);
      sum += exponents.factors[i] * slope;
    }
    return;
  }
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    double one = lowest;
    if (j + lane < exponents.count) {
      one = exponents.constant[j + lane];
      for (std::size_t i = 0; i < slope_count; ++i) one += exponents.factors[i] * exponents.slopes[i][j + lane];
    }
    sum[lane] = one;
  }
}

[[gnu::always_inline]] inline double total(const HalfLanes& lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }
[[gnu::always_inline]] inline double largest_lane(const HalfLanes& lanes) {
  return std::max(std::max(lanes[0], lanes[1]), std::max(lanes[2], lanes[3]));
}

template <std::size_t slope_count>
[[gnu::always_inline]] inline double largest(const Exponents& exponents) {
  HalfLanes most = HalfLanes{} + lowest;
  for (std::size_t j = 0; j < exponents.count; j += lane_count / 2) {
    HalfLanes here;
    load_exponents<slope_count>(exponents, j, here);
    most = here > most ? here : most;
  }
  return largest_lane(most);
}

// x = k log 2 + r with |r| < 0.35: the products of k with the first part of log 2 are exact, r is within 2^-54, and the next term of the
// Taylor series is below 2^-57 of the sum. With the roundings of the series that is less than 8 u. x is at least -700 and at most 700.
[[gnu::always_inline]] inline void exponential(const HalfLanes& x, HalfLanes& result) {
  constexpr double one_over_log_2 = 0x1.71547652b82fep+0;
  constexpr double log_2_high = 0x1.62e42feep-1;  // 32 bits
  constexpr double log_2_low = 0x1.a39ef35793c76p-33;
  constexpr double round_to_integer = 0x1.8p52;  // adding it rounds to the nearest integer, in the low bits
  const HalfLanes shifted = x * one_over_log_2 + round_to_integer;
  const HalfLanes k = shifted - round_to_integer;
  const HalfLanes r = (x - k * log_2_high) - k * log_2_low;
  HalfLanes series = HalfLanes{} + 1.0 / 6227020800.0;
  for (const double coefficient : {1.0 / 479001600.0, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
                                   1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2, 1.0, 1.0})
    series = series * r + coefficient;
  const HalfWords power = reinterpret_cast<HalfWords>(shifted) << 52;  // the low bits of k become the exponent
  result = reinterpret_cast<HalfLanes>(reinterpret_cast<HalfWords>(series) + power);
}

constexpr double most_exponent = 600;
constexpr double least_exponent = -700;
constexpr double any_angle = -60;  // smaller terms count with any angle

/// Remembers whether all numbers are below a bound and none is NaN.
struct Checked {
  HalfLanes largest = HalfLanes{} + lowest;
  HalfLanes all{};
  [[gnu::always_inline]] void see(const HalfLanes& x) {
    largest = x > largest ? x : largest;
    all += x;  // NaN stays
  }
  [[gnu::always_inline]] [[nodiscard]] bool at_most(double bound) const {
    const double sum = total(all);
    return largest_lane(largest) <= bound && sum == sum;
  }
};

template <std::size_t slope_count>
[[gnu::always_inline]] inline double sum_exponentials(const Exponents& exponents, double scale) {
  HalfLanes sum{};
  Checked seen;
  for (std::size_t j = 0; j < exponents.count; j += lane_count / 2) {
    HalfLanes x, term;
    load_exponents<slope_count>(exponents, j, x);
    x -= scale;
    seen.see(x);
    x = x > least_exponent ? x : HalfLanes{} + least_exponent;
    exponential(x, term);
    sum += term;
  }
  return seen.at_most(most_exponent) ? total(sum) : std::numeric_limits<double>::infinity();
}

/// Neumaier's sum in lanes, without its branch. [compensated-sum]
struct CompensatedLanes {
  HalfLanes sum{}, correction{};
  [[gnu::always_inline]] void add(const HalfLanes& term) {
    const HalfLanes next = sum + term;
    const HalfLanes taken = next - sum;
    correction += (sum - (next - taken)) + (term - taken);
    sum = next;
  }
  [[gnu::always_inline]] [[nodiscard]] double result() const {
    double high = 0, low = 0;
    for (std::size_t lane = 0; lane < lane_count / 2; ++lane) {
      const double next = high + sum[lane];
      const double taken = next - high;
      low += (high - (next - taken)) + (sum[lane] - taken) + correction[lane];
      high = next;
    }
    return high + low;
  }
};

}  // namespace

TRADEOFF_CLONES TurnedSums turned_sums(const Turning& turning) {
  Lanes first_real, first_imaginary, profile_sum{}, fall_sum{};
  std::memcpy(&first_real, turning.first, sizeof first_real);
  std::memcpy(&first_imaginary, turning.first + lane_count, sizeof first_imaginary);
  Lanes real = first_real, imaginary = first_imaginary;
  const double turn_real = std::cos(turning.block_angle), turn_imaginary = std::sin(turning.block_angle);
  for (std::size_t block = 0; block < turning.blocks; ++block) {
    if (block % turns == 0 && block > 0) {
      const double angle = static_cast<double>(block) * turning.block_angle, cosine = std::cos(angle), sine = std::sin(angle);
      real = first_real * cosine - first_imaginary * sine;
      imaginary = first_real * sine + first_imaginary * cosine;
    }
    Lanes weight_real, weight_imaginary;
    std::memcpy(&weight_real, turning.profile + block * 2 * lane_count, sizeof weight_real);
    std::memcpy(&weight_imaginary, turning.profile + block * 2 * lane_count + lane_count, sizeof weight_imaginary);
    profile_sum += weight_real * real - weight_imaginary * imaginary;
    std::memcpy(&weight_real, turning.fall + block * 2 * lane_count, sizeof weight_real);
    std::memcpy(&weight_imaginary, turning.fall + block * 2 * lane_count + lane_count, sizeof weight_imaginary);
    fall_sum += weight_real * real - weight_imaginary * imaginary;
    const Lanes before = real;
    real = before * turn_real - imaginary * turn_imaginary;
    imaginary = before * turn_imaginary + imaginary * turn_real;
  }
  TurnedSums sums;
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    sums.profile += profile_sum[lane];
    sums.fall += fall_sum[lane];
  }
  return sums;
}

TRADEOFF_CLONES double largest_cell(const Cells& cells) {
  constexpr std::size_t half = lane_count / 2;
  std::size_t j = 0;
  HalfLanes most = HalfLanes{} - std::numeric_limits<double>::infinity();  // of each lane
  for (; j + half <= cells.count; j += half) {
    HalfLanes modulus, argument, square, curvature;
    std::memcpy(&modulus, cells.modulus + j, sizeof modulus);
    std::memcpy(&argument, cells.argument + j, sizeof argument);
    std::memcpy(&square, cells.square + j, sizeof square);
    std::memcpy(&curvature, cells.curvature + j, sizeof curvature);
    const HalfLanes left = cells.power * modulus + cells.t * argument - square;
    std::memcpy(&modulus, cells.modulus + j + 1, sizeof modulus);
    std::memcpy(&argument, cells.argument + j + 1, sizeof argument);
    std::memcpy(&square, cells.square + j + 1, sizeof square);
    const HalfLanes right = cells.power * modulus + cells.t * argument - square;
    const HalfLanes cell = (left > right ? left : right) + cells.bend * curvature;
    most = cell > most ? cell : most;
  }
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t lane = 0; lane < half; ++lane) largest = std::max(largest, most[lane]);
  for (; j < cells.count; ++j)
    largest = std::max(largest, std::max(end_exponent(cells, j), end_exponent(cells, j + 1)) + cells.bend * cells.curvature[j]);
  return largest;
}

TRADEOFF_CLONES double largest_exponent(const Exponents& exponents) {
  switch (exponents.slope_count) {
    case 1:
      return largest<1>(exponents);
    case 2:
      return largest<2>(exponents);
    default:
      return largest<3>(exponents);
  }
}

TRADEOFF_CLONES double sum_of_exponentials(const Exponents& exponents, double scale) {
  switch (exponents.slope_count) {
    case 1:
      return sum_exponentials<1>(exponents, scale);
    case 2:
      return sum_exponentials<2>(exponents, scale);
    default:
      return sum_exponentials<3>(exponents, scale);
  }
}

// A sine or cosine errs by less than 4 u: r by 2 u, the series and the sum by 2 u. With the exponential and the product that is 13 u.
TRADEOFF_CLONES PolarSum sum_of_polar_terms(const PolarTerms& terms) {
  CompensatedLanes real, imaginary;
  HalfLanes modulus_sum{}, first_sum{}, second_sum{};
  Checked exponents, angles;
  const std::size_t count = terms.exponents.count;
  for (std::size_t j = 0; j < count; j += lane_count / 2) {
    HalfLanes x, angle, modulus, r, sine_tail, cosine_tail, sine, cosine, first{}, second{};
    HalfWords quadrant;
    load_exponents<2>(terms.exponents, j, x);
    load_exponents<2>(terms.angles, j, angle);
    const std::size_t lanes = std::min(lane_count / 2, count - j);
    std::memcpy(&first, terms.first + j, lanes * sizeof(double));
    std::memcpy(&second, terms.second + j, lanes * sizeof(double));
    x -= terms.scale;
    exponents.see(x);
    angle = x > any_angle ? angle : HalfLanes{};
    angles.see(angle > 0 ? angle : -angle);
    x = x > least_exponent ? x : HalfLanes{} + least_exponent;
    exponential(x, modulus);
    reduce_angle(angle, r, quadrant);
    trigonometric_tails(r, sine_tail, cosine_tail);
    turn_by_quadrant<HalfLanes>(quadrant, r + sine_tail, 1.0 + cosine_tail, sine, cosine);
    real.add(modulus * cosine);
    imaginary.add(modulus * sine);
    modulus_sum += modulus;
    first_sum += modulus * first;
    second_sum += modulus * second;
  }
  if (!(exponents.at_most(most_exponent) && angles.at_most(trigonometry_limit)))
    return {.modulus = std::numeric_limits<double>::infinity()};
  return {real.result(), imaginary.result(), total(modulus_sum), total(first_sum), total(second_sum)};
}

}  // namespace tradeoff::detail::numeric
