// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engine/part.h"
#include "loss/loss.h"

namespace tradeoff::detail {

/// How finite distributions are composed: their atoms are listed; or the atoms of two halves of the plan are listed and never multiplied
/// out [meet-in-the-middle]; or delta is computed from the transform, because the atoms of very many distinct distributions cannot be
/// listed [sum-inversion]. `none`: some part has no finite distribution, or the problem is too large for all of these.
enum class ExactWay { list, halves, inversion, none };

/// The method for a composition, an upper bound of its number of atoms and its number of multiplications. Cheap: nothing is composed.
struct ExactSize {
  ExactWay way = ExactWay::none;
  double atoms = 0;
  double terms = 0;
  bool fits = false;  ///< way is not `none`
};
[[nodiscard]] ExactSize exact_size(const Parts& parts);

/// [exact-composition] The distribution of the sum of the losses of all parts. Null if some part has no finite distribution. Throws
/// TooLargeError, before any work, if `exact_size(parts).way` is `none` for finite parts. Answers by listing and by halves are relatively
/// 1e-10 wide or better (unless parameters are less accurate than that); answers by inversion aim at the tolerance.
[[nodiscard]] LossPointer compose_exactly(const Parts& parts, Tolerance tolerance);

}  // namespace tradeoff::detail
