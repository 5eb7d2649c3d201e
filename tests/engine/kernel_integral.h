// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/hyperbolic/path.h"
#include "numeric/arithmetic.h"

namespace tradeoff::detail::test {

/// The integral of exp(s y)/(s (s+1)) over a line right of 0: 1 - exp(-y) for y > 0, else 0.
inline hyperbolic::Estimate kernel_integral(double y, double place, double tolerance) {
  static const hyperbolic::Expansion plain = [] {
    hyperbolic::Expansion expansion;
    expansion.summands.resize(1);
    return expansion;
  }();
  hyperbolic::Integrand integrand(plain, {}, {{0, y, 0}});
  return hyperbolic::integrate(integrand, y > 0 ? hyperbolic::Opening::left : hyperbolic::Opening::right,
                               {place, integrand.log_real(place)}, tolerance, -infinity, 1'000'000'000);
}

}  // namespace tradeoff::detail::test
