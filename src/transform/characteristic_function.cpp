// SPDX-License-Identifier: Apache-2.0
#include "transform/characteristic_function.h"

#include <cstdint>
#include <cstring>

#include "numeric/lane_trigonometry.h"
#include "numeric/lanes.h"

namespace tradeoff::detail {
namespace {

using numeric::Lanes;
using Words = std::uint64_t __attribute__((vector_size(sizeof(Lanes))));

}  // namespace

TRADEOFF_CLONES OscillationSum sum_oscillations(const double* weights, const double* losses, std::size_t count, double t) {
  Lanes cosine_sum{};
  Lanes sine_sum{};
  for (std::size_t j = 0; j < count; j += oscillation_lanes) {
    Lanes weight, loss;
    std::memcpy(&weight, weights + j, sizeof weight);
    std::memcpy(&loss, losses + j, sizeof loss);
    const Lanes x = loss * t;
    Lanes r, sine_tail, cosine_tail, sine, cosine;
    Words quadrant;
    numeric::reduce_angle(x, r, quadrant);
    numeric::trigonometric_tails(r, sine_tail, cosine_tail);
    numeric::turn_by_quadrant<Lanes>(quadrant, r + sine_tail, 1.0 + cosine_tail, sine, cosine);
    const Words turned = -((quadrant | -quadrant) >> 63);
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
