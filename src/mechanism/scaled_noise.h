// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "mechanism/whole_noise.h"
#include "numeric/arithmetic.h"
#include "tradeoff/interval.h"

namespace tradeoff::detail {

/// Additive noise X, of a scale that is not known yet, for which privacy is not monotone in the scale. X is symmetric, and |X| is
/// stochastically larger for a larger scale: calibration needs both. [parameter-calibration]
struct ScaledNoise {
  /// Bounds on P(X >= reach) for one scale; 0 <= reach <= bound.
  using Tail = std::function<Interval(double reach)>;

  bool whole = false;                            ///< X is an integer
  Interval bound = Interval::exactly(infinity);  ///< on |X|
  std::function<Tail(double scale)> tail;        ///< scale > 0
  /// For integers whose loss in several runs depends on the sum of X alone, falls with that sum, and falls with the scale where it is
  /// positive.
  struct Sums {
    WholeNoise (*law)(double scale, std::uint64_t runs) = nullptr;
    /// The loss of all runs together at this sum, if each run is moved by `shift`.
    Interval (*loss)(double shift, std::uint64_t runs, double scale, double sum) = nullptr;
  };
  std::optional<Sums> sums = std::nullopt;
  /// About where an output with the loss epsilon lies, if the answer is 0 or `sensitivity`. A guess: it makes calibration tight, not valid.
  double (*output_of_loss)(double sensitivity, double scale, double epsilon);
};

/// 1 - e^(-length/scale), or 0 for a negative length.
[[nodiscard]] inline Interval mass_below(Interval length, Interval scale) { return -expm1(-(max(length, Interval::exactly(0)) / scale)); }
[[nodiscard]] inline double laplace_output_of_loss(double sensitivity, double scale, double epsilon) {
  return (sensitivity - epsilon * scale) / 2;
}

}  // namespace tradeoff::detail
