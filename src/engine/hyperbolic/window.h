// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>

// Smooth cuts of the noise: the weights Phi(-(v - centre)/width) and Phi((v - centre)/width) add up to 1, are entire functions, and split a
// step into a bulk and a tail, each with its own saddle point. [bent-split]
namespace tradeoff::detail::hyperbolic {

/// log(erfc(z) / 2) and a bound of the error of that complex logarithm; if the bound is infinite, `real` is still an upper bound.
struct LogHalfErfc {
  double real = 0;
  double phase = 0;
  double error = 0;
};
[[nodiscard]] LogHalfErfc log_half_erfc(std::complex<double> z);

struct Window {
  enum class Side { bulk, tail };
  double centre = 0;
  double width = 1;
  Side side = Side::bulk;

  /// The argument of erfc at v, where the weight is erfc / 2.
  [[nodiscard]] std::complex<double> argument(double real, double imaginary) const {
    const double scale = (side == Side::bulk ? 1 : -1) / (width * 1.4142135623730951);
    return {(real - centre) * scale, imaginary * scale};
  }
};

}  // namespace tradeoff::detail::hyperbolic
