// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tradeoff/targets.h"

namespace tradeoff::detail {

/// The distance of a curve from a target: the quantity of the target, and its largest allowed value.
struct Margin {
  Interval value;
  Interval limit;
  bool logarithmic = false;  ///< both are natural logarithms, of a delta too small for a double

  [[nodiscard]] bool meets() const { return value.hi <= limit.lo; }
  [[nodiscard]] bool fails() const { return value.lo > limit.hi; }
  /// A smooth distance, positive if the target is missed, and its possible error. It only chooses the next trial.
  [[nodiscard]] double excess() const;
  [[nodiscard]] double doubt() const;
};

[[nodiscard]] Margin margin_of(const Curve& curve, const Target& target);

}  // namespace tradeoff::detail
