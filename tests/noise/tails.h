// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arb_hypgeom.h>

#include <cstdint>

#include "noise/grid_noise.h"
#include "support/ball.h"

namespace tradeoff::detail::test {

/// P(|K| >= m) for the law on the integers, by Arb's own functions.
inline Ball tail(noise::Law law, double scale, std::uint64_t m) {
  if (m == 0) return 1;
  const Ball steps = Ball::integer(m), s = scale;
  if (law == noise::Law::discrete_laplace) return Ball(2) * exp(Ball(0) - steps / s) / (Ball(1) + exp(Ball(-1) / s));
  const Ball z = (steps - Ball(0.5)) / s;
  if (law == noise::Law::rounded_laplace) return exp(Ball(0) - z);
  Ball root, result;
  arb_sqrt_ui(root.get(), 2, Ball::precision);
  const Ball argument = z / root;
  arb_hypgeom_erfc(result.get(), argument.get(), Ball::precision);
  return result;
}

}  // namespace tradeoff::detail::test
