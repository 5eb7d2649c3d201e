// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/hyperbolic/integrand.h"

namespace tradeoff::detail::hyperbolic {

/// A hyperbola, the strip around it and the distance of its nodes: found by one integration and reused by others.
struct Contour {
  double place = 0;  ///< where it crosses the real axis
  double reach = 0;
  double angle = 0;
  double step = 0;
};

/// (1 / 2 pi i) times the integral of F over a contour right of the poles: value exp(log_scale), with error at most error exp(log_scale).
struct Estimate {
  double log_scale = 0;
  double value = 0;
  double error = 0;
  double slope = 0;  ///< an approximate derivative in epsilon, for choosing the next epsilon
  int nodes = 0;
  double rounding = 0;  ///< the part of the error that no other contour would reduce much
  Contour contour = {};
};

/// The real point at which F is smallest, to this precision of its logarithm: the contour crosses the axis there.
struct Saddle {
  double place = 0;
  double log_value = 0;
};
[[nodiscard]] Saddle find_saddle(const Integrand& integrand, double most, double precision = 0.01, double least = 1e-5);
/// A point left of the saddle point with a wider strip of analyticity, where F is only slightly larger. If the saddle point comes from the
/// tail part of a truncated distribution, F increases sharply right of it and the strip is narrow; crossing further left is better.
[[nodiscard]] Saddle find_crossing(const Integrand& integrand, Saddle saddle);

/// Integrates on a hyperbola that opens to the right (terms whose break lies below epsilon) or to the left. `log_floor` is the logarithm of
/// the total known so far: errors are compared with it. [bent-contour]
enum class Opening { left, right };
[[nodiscard]] Estimate integrate(Integrand& integrand, Opening opening, Saddle saddle, double tolerance, double log_floor,
                                 std::uint64_t most_work);
/// The same on a contour that was found for another epsilon: F there is known except for its exponential factor. The result is proved, but
/// may be wider.
[[nodiscard]] Estimate integrate_on(Integrand& integrand, Opening opening, const Contour& contour, double tolerance,
                                    std::uint64_t most_work);

}  // namespace tradeoff::detail::hyperbolic
