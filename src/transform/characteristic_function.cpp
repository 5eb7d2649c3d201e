// SPDX-License-Identifier: Apache-2.0
#include "transform/characteristic_function.h"

#include <cstdint>
#include <cstring>

#include "numeric/conversions.h"
#include "numeric/lanes.h"

namespace tradeoff::detail {
namespace {

using numeric::Lanes;
using Words = std::uint64_t __attribute__((vector_size(sizeof(Lanes))));

constexpr double two_over_pi = 0x1.45f306dc9c883p-1;
// pi/2 in three parts; the first two have 30 bits, so their products with an integer below 2^22 are exact.
constexpr double half_pi_1 = 0x1.921fb54p+0;
constexpr double half_pi_2 = 0x1.10b46118p-30;
constexpr double half_pi_3 = 0x1.313198a2e037p-61;
constexpr double round_to_integer = 0x1.8p52;  // adding it rounds to the nearest integer, in the low bits
constexpr auto integer_bits = numeric::bit_cast<std::uint64_t>(round_to_integer);

}  // namespace

TRADEOFF_CLONES OscillationSum sum_oscillations(const double* weights, const double* losses, std::size_t count, double t) {
  Lanes cosine_sum{};
  Lanes sine_sum{};
  for (std::size_t j = 0; j < count; j += oscillation_lanes) {
    Lanes weight, loss;
    std::memcpy(&weight, weights + j, sizeof weight);
    std::memcpy(&loss, losses + j, sizeof loss);
    const Lanes x = loss * t;
    const Lanes shifted = x * two_over_pi + round_to_integer;
    const Lanes quotient = shifted - round_to_integer;
    const Lanes r = ((x - quotient * half_pi_1) - quotient * half_pi_2) - quotient * half_pi_3;
    const Lanes z = r * r;
    // sin r - r and cos r - 1 by their Taylor series: on |r| <= pi/4 the next terms are below 2^-56 of the sum.
    const Lanes sine_tail =
        r * z *
        (-1.0 / 6 +
         z * (1.0 / 120 +
              z * (-1.0 / 5040 +
                   z * (1.0 / 362880 +
                        z * (-1.0 / 39916800 + z * (1.0 / 6227020800.0 + z * (-1.0 / 1307674368000.0 + z * (1.0 / 355687428096000.0))))))));
    const Lanes cosine_tail =
        z * (-1.0 / 2 +
             z * (1.0 / 24 + z * (-1.0 / 720 + z * (1.0 / 40320 +
                                                    z * (-1.0 / 3628800 + z * (1.0 / 479001600.0 + z * (-1.0 / 87178291200.0 +
                                                                                                        z * (1.0 / 20922789888000.0))))))));
    // Selects by bit masks, which every vector width supports; a comparison may be compiled lane by lane.
    const Words quadrant = reinterpret_cast<Words>(shifted) - integer_bits;
    const Words odd = -(quadrant & 1), turned = -((quadrant | -quadrant) >> 63);  // all bits set where it holds, none elsewhere
    const Words sine_r = reinterpret_cast<Words>(r + sine_tail), cosine_r = reinterpret_cast<Words>(1.0 + cosine_tail);
    const Lanes sine = reinterpret_cast<Lanes>(((cosine_r & odd) | (sine_r & ~odd)) ^ ((quadrant & 2) << 62));
    const Lanes cosine = reinterpret_cast<Lanes>(((sine_r & odd) | (cosine_r & ~odd)) ^ (((quadrant + 1) & 2) << 62));
    // For quadrant 0, r = x and the tails are the result, to full relative accuracy.
    const Words less_one = reinterpret_cast<Words>(cosine - 1.0), less_x = reinterpret_cast<Words>(sine - x);
    cosine_sum += weight * reinterpret_cast<Lanes>((less_one & turned) | (reinterpret_cast<Words>(cosine_tail) & ~turned));
    sine_sum += weight * reinterpret_cast<Lanes>((less_x & turned) | (reinterpret_cast<Words>(sine_tail) & ~turned));
  }
  OscillationSum sum{0, 0};
  for (std::size_t lane = 0; lane < oscillation_lanes; ++lane) {
    sum.cosine += cosine_sum[lane];
    sum.sine += sine_sum[lane];
  }
  return sum;
}

}  // namespace tradeoff::detail
