// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cfloat>
#include <cmath>
#include <limits>

// exp, expm1, log and log1p of long double, accurate to 8 units of 2^-64 as the exact engine assumes. [outward-rounding]
//
// They are those of the C library, except in WebAssembly: its C library (musl) computes them in double although long double has 113 bits
// there. Its additions, multiplications and divisions are correctly rounded, so the functions are computed from these. ./test page compares
// them with MPFR.
namespace tradeoff::detail::exact {

#if defined(__wasm__)

static_assert(LDBL_MANT_DIG == 113);

/// log 2 in two parts: the first has 80 bits, so that its product with an exponent of up to 15 bits is exact.
inline constexpr long double log_2_high = 0xb17217f7d1cf79abc9e3p-80L;
inline constexpr long double log_2_low = 0x2ce600fcbdabd03cd0p-150L;

/// e^r - 1 for |r| < 0.36: the Taylor series of r/16 up to degree 13, then four times (1 + s)^2 - 1. The series is off by less than 2^-105
/// relative to the result, each of some 50 roundings by 2^-113.
[[nodiscard]] inline long double small_expm1(long double r) {
  const long double x = r / 16;
  long double sum = 0;
  for (int k = 13; k >= 1; --k) sum = x / static_cast<long double>(k) * (1 + sum);
  for (int i = 0; i < 4; ++i) sum = sum * (sum + 2);
  return sum;
}

/// The exponent k and the rest r of x = k log 2 + r, for |x| < 12000.
struct Reduced {
  int exponent;
  long double rest;
};
[[nodiscard]] inline Reduced reduced(long double x) {
  const double k = std::round(static_cast<double>(x) * 1.4426950408889634);
  const auto wide = static_cast<long double>(k);
  return {static_cast<int>(k), (x - wide * log_2_high) - wide * log_2_low};
}

[[nodiscard]] inline long double wide_exp(long double x) {
  if (!(x < 11357)) return x < 0 ? 0 : std::numeric_limits<long double>::infinity();  // e^11356.6 is the largest number
  if (x < -11500) return 0;                                                           // below the smallest number
  const Reduced parts = reduced(x);
  return std::scalbn(1 + small_expm1(parts.rest), parts.exponent);
}

[[nodiscard]] inline long double wide_expm1(long double x) {
  if (std::abs(x) < 0.34L) return small_expm1(x);
  return wide_exp(x) - 1;  // e^x differs from 1 by more than 0.28: the subtraction loses two bits
}

/// One step of Halley's method from the logarithm in double, whose error of less than 2^-45 becomes one of 2^-135.
[[nodiscard]] inline long double wide_log1p(long double x);

[[nodiscard]] inline long double wide_log(long double x) {
  if (!(x > 0)) return -std::numeric_limits<long double>::infinity();
  if (std::abs(x - 1) < 0.25L) return wide_log1p(x - 1);  // the difference is exact
  int exponent = 0;
  const long double mantissa = std::frexp(x, &exponent);  // in [1/2, 1)
  const auto start = static_cast<long double>(std::log(static_cast<double>(mantissa)));
  const long double there = 1 + small_expm1(start / 2), power = there * there;  // e^start
  const long double log_mantissa = start + 2 * (mantissa - power) / (mantissa + power);
  const auto wide = static_cast<long double>(exponent);
  return wide * log_2_high + (wide * log_2_low + log_mantissa);
}

[[nodiscard]] inline long double wide_log1p(long double x) {
  if (!(std::abs(x) < 0.3L)) return wide_log(1 + x);
  const auto start = static_cast<long double>(std::log1p(static_cast<double>(x)));
  const long double there = wide_expm1(start);
  return start + 2 * (x - there) / (2 + x + there);
}

#else

[[nodiscard]] inline long double wide_exp(long double x) { return std::exp(x); }
[[nodiscard]] inline long double wide_expm1(long double x) { return std::expm1(x); }
[[nodiscard]] inline long double wide_log(long double x) { return std::log(x); }
[[nodiscard]] inline long double wide_log1p(long double x) { return std::log1p(x); }

#endif

}  // namespace tradeoff::detail::exact
