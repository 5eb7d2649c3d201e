// SPDX-License-Identifier: Apache-2.0
#pragma once

// The largest error of each libm function, in units in the last place of its result. Measured worst cases on glibc 2.36 are at most half of
// these; the tests check every function against MPFR. [outward-rounding]
namespace tradeoff::detail::numeric::libm_ulps {

inline constexpr double exp = 2;
inline constexpr double log = 2;
inline constexpr double expm1 = 4;
inline constexpr double log1p = 4;
inline constexpr double erf = 4;
inline constexpr double erfc = 8;
inline constexpr double tanh = 4;
inline constexpr double sin = 2;
inline constexpr double cos = 2;
inline constexpr double atan2 = 2;
inline constexpr double lgamma = 8;  // relative to max(1, |lgamma|): the function crosses 0 at 1 and 2

}  // namespace tradeoff::detail::numeric::libm_ulps
