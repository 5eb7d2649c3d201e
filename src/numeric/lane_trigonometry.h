// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "numeric/conversions.h"

// Sines and cosines in vectors, in three parts. Vectors are passed by reference because their size is not part of the calling convention.
namespace tradeoff::detail::numeric {

/// x = quadrant pi/2 + r with |r| <= pi/4, valid up to this |x|.
inline constexpr double trigonometry_limit = 4e6;

template <class Vector, class Words>
[[gnu::always_inline]] inline void reduce_angle(const Vector& x, Vector& r, Words& quadrant) {
  constexpr double two_over_pi = 0x1.45f306dc9c883p-1;
  // pi/2 in three parts; the first two have 30 bits, so their products with an integer below 2^22 are exact.
  constexpr double half_pi_1 = 0x1.921fb54p+0;
  constexpr double half_pi_2 = 0x1.10b46118p-30;
  constexpr double half_pi_3 = 0x1.313198a2e037p-61;
  constexpr double round_to_integer = 0x1.8p52;  // adding it rounds to the nearest integer, in the low bits
  constexpr auto integer_bits = bit_cast<std::uint64_t>(round_to_integer);
  const Vector shifted = x * two_over_pi + round_to_integer;
  const Vector quotient = shifted - round_to_integer;
  r = ((x - quotient * half_pi_1) - quotient * half_pi_2) - quotient * half_pi_3;
  quadrant = reinterpret_cast<Words>(shifted) - integer_bits;
}

/// sin r - r and cos r - 1 by their Taylor series: on |r| <= pi/4 the next terms are below 2^-56 of the sum.
template <class Vector>
[[gnu::always_inline]] inline void trigonometric_tails(const Vector& r, Vector& sine_tail, Vector& cosine_tail) {
  const Vector z = r * r;
  sine_tail =
      r * z *
      (-1.0 / 6 +
       z * (1.0 / 120 + z * (-1.0 / 5040 +
                             z * (1.0 / 362880 + z * (-1.0 / 39916800 + z * (1.0 / 6227020800.0 + z * (-1.0 / 1307674368000.0 +
                                                                                                       z * (1.0 / 355687428096000.0))))))));
  cosine_tail =
      z * (-1.0 / 2 +
           z * (1.0 / 24 + z * (-1.0 / 720 +
                                z * (1.0 / 40320 + z * (-1.0 / 3628800 + z * (1.0 / 479001600.0 + z * (-1.0 / 87178291200.0 +
                                                                                                       z * (1.0 / 20922789888000.0))))))));
}

/// The sine and cosine of quadrant pi/2 + r. Selects by bit masks, which every vector width supports; a comparison may be compiled lane by
/// lane.
template <class Vector, class Words>
[[gnu::always_inline]] inline void turn_by_quadrant(const Words& quadrant, const Vector& sine_of_r, const Vector& cosine_of_r, Vector& sine,
                                                    Vector& cosine) {
  const Words odd = -(quadrant & 1);  // all bits set where it holds, none elsewhere
  const Words sine_r = reinterpret_cast<Words>(sine_of_r), cosine_r = reinterpret_cast<Words>(cosine_of_r);
  sine = reinterpret_cast<Vector>(((cosine_r & odd) | (sine_r & ~odd)) ^ ((quadrant & 2) << 62));
  cosine = reinterpret_cast<Vector>(((sine_r & odd) | (cosine_r & ~odd)) ^ (((quadrant + 1) & 2) << 62));
}

}  // namespace tradeoff::detail::numeric
