// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/hyperbolic/integrand.h"

namespace tradeoff::hyperbolic {

/// A hyperbola, the strip around it and the distance of its nodes: what an integration has found and another may use again.
struct Contour {
  double place = 0;  ///< where it crosses the real axis
  double reach = 0;
  double angle = 0;
  double step = 0;
};

/// (1 / 2 pi i) times the integral of F over a contour right of the poles: value exp(log_scale), within error exp(log_scale).
struct Estimate {
  double log_scale = 0;
  double value = 0;
  double error = 0;
  double slope = 0;  ///< the derivative in epsilon, uncertified: for choosing the next epsilon
  int nodes = 0;
  double rounding = 0;  ///< the part of the error that no other contour would lessen much
  Contour contour = {};
};

/// The real point where F is least, to this precision of its logarithm: the contour crosses there.
struct Saddle {
  double place = 0;
  double log_value = 0;
};
[[nodiscard]] Saddle find_saddle(const Integrand& integrand, double most, double precision = 0.01, double least = 1e-5);
/// A point left of the saddle with a wider strip of analyticity, where F is little larger. If the saddle comes from the tail part of a
/// truncated law, F rises right of it at once and the strip is narrow: cross further left.
[[nodiscard]] Saddle find_crossing(const Integrand& integrand, Saddle saddle);

/// Integrates on a hyperbola that opens to the right (terms whose break lies below epsilon) or to the left.
/// `log_floor` is the logarithm of what is already known of the total: errors are judged against it. [bent-contour]
enum class Opening { left, right };
[[nodiscard]] Estimate integrate(Integrand& integrand, Opening opening, Saddle saddle, double tolerance, double log_floor,
                                 std::uint64_t most_work);
/// The same on a contour that was found for another epsilon: F there is known but for its exponential. As certain, if maybe wider.
[[nodiscard]] Estimate integrate_on(Integrand& integrand, Opening opening, const Contour& contour, double tolerance,
                                    std::uint64_t most_work);

}  // namespace tradeoff::hyperbolic
