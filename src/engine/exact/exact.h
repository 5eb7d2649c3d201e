// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engine/part.h"
#include "loss/loss.h"

namespace tradeoff {

/// How a composition of finite laws is done: its atoms are listed; or those of two halves of the plan are, and never multiplied out
/// [meet-in-the-middle]; or delta is found from the transform, because the atoms of a great many distinct laws cannot be listed at all
/// [sum-inversion]. `none`: some part has no finite law, or the problem is too large for each of these.
enum class ExactWay { list, halves, inversion, none };

/// How a composition would be done, how many atoms it has at most and how many multiplications it takes. Cheap: nothing is composed.
struct ExactSize {
  ExactWay way = ExactWay::none;
  double atoms = 0;
  double terms = 0;
  bool fits = false;  ///< way is not `none`
};
[[nodiscard]] ExactSize exact_size(const Parts& parts);

/// [exact-composition] The law of the sum of the losses of all parts. Null if some part has no finite law. Throws TooLargeError, before
/// any work, if `exact_size(parts).way` is `none` for parts that have one. Answers are relatively 1e-10 wide or better by listing and by
/// halves (unless parameters are uncertain by more than that), and aim at the tolerance by inversion.
[[nodiscard]] LossPointer compose_exactly(const Parts& parts, Tolerance tolerance);

}  // namespace tradeoff
