// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/lattice/outline.h"
#include "engine/lattice/pair.h"
#include "tradeoff/interval.h"

namespace tradeoff::detail::lattice {

/// Selects one of the two distributions of every factor. Both go through the same transforms, one as the real and one as the imaginary
/// part.
enum class Side { above, below };

/// The tilted distribution of the sum of all losses, folded to a period of `law.size()` cells, with bounds of all its errors. [tilted-fft]
struct Composed {
  double tilt = 0;
  double step = 0;
  std::int64_t origin = 0;  ///< lattice index of law[0], up to multiples of the period
  std::int64_t top = 0;     ///< no finite loss above this index
  std::vector<double> law;
  double entry_error = 0;  ///< the error of each entry from the forward transforms and powers is at most this
  double norm_error = 0;   ///< the error of the whole vector, in Euclidean norm, from the inverse transform is at most this
  /// a value computed from the distribution may be wrong by a factor exp of this from the rounding of tilted masses
  double log_input_error = 0;
  Interval log_scale;       ///< the distribution of the sum is the stored one times exp(log_scale - tilt * loss)
  Interval finite_total;    ///< its total mass
  Interval infinite_total;  ///< the mass at +infinity
  bool known = true;        ///< false if masses left the range of doubles; then nothing is known
  struct Chernoff {
    double s = 0;
    double log_moment = 0;  ///< an upper bound
  };
  Chernoff left, right;

  [[nodiscard]] double period() const { return step * static_cast<double>(law.size()); }
};

struct ComposedPair {
  Composed above;
  Composed below;
};

[[nodiscard]] ComposedPair compose_tilted(std::span<const Factor> factors, double step, const Outline& outline, const Tilt& tilt,
                                          unsigned log2_size);

/// Encloses log of sum of mass * (1 - exp(epsilon - loss))+ over the finite losses of the distribution, and states the numerical part of
/// the error.
struct Reading {
  Interval log_finite;
  double rounding = 0;  ///< relative to the value
  double alias = 0;     ///< relative to the value
};
[[nodiscard]] Reading read(const Composed& composed, double epsilon);

}  // namespace tradeoff::detail::lattice
