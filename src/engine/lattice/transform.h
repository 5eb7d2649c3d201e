// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/lattice/outline.h"
#include "engine/lattice/pair.h"
#include "tradeoff/interval.h"

namespace tradeoff::lattice {

/// Which of the two laws of every factor is meant. Both go through the same transforms, one as the real and one as the imaginary part.
enum class Side { above, below };

/// The tilted law of the sum of all losses, folded to a period of `law.size()` cells, with everything that bounds its errors. [tilted-fft]
struct Composed {
  double tilt = 0;
  double step = 0;
  std::int64_t origin = 0;  ///< lattice index of law[0], up to multiples of the period
  std::int64_t top = 0;     ///< no finite loss above this index
  std::vector<double> law;
  double entry_error = 0;      ///< each entry is wrong by at most this through the forward transforms and powers
  double norm_error = 0;       ///< and the whole vector by at most this, in Euclidean norm, through the inverse transform
  double log_input_error = 0;  ///< every value computed from the law may be wrong by exp of this through the rounding of tilted masses
  Interval log_scale;          ///< the law times exp(log_scale - tilt * loss) is the law of the sum
  Interval finite_total;       ///< its total mass
  Interval infinite_total;     ///< the mass at +infinity
  bool known = true;           ///< false if masses left the range of doubles; then nothing is known
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

/// Encloses log of sum of mass * (1 - exp(epsilon - loss))+ over the finite losses of the law, and says how much of the doubt is numerical.
struct Reading {
  Interval log_finite;
  double rounding = 0;  ///< relative to the value
  double alias = 0;     ///< likewise
};
[[nodiscard]] Reading read(const Composed& composed, double epsilon);

}  // namespace tradeoff::lattice
