// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tradeoff/targets.h"

namespace tradeoff::detail {

/// The distance of a curve from a target: the quantity of the target, and its largest allowed value.
struct Margin {
  Interval value;
  Interval limit;
  /// Both are a delta, or natural logarithms of a delta that is too small for a double, or something else.
  enum class Scale { plain, delta, log_delta } scale = Scale::plain;
  Interval epsilon = Interval::exactly(0);  ///< of a delta

  [[nodiscard]] bool meets() const { return value.hi <= limit.lo; }
  [[nodiscard]] bool fails() const { return value.lo > limit.hi; }
  /// A smooth distance, positive if the target is missed, and its possible error. It only chooses the next trial.
  [[nodiscard]] double excess() const;
  [[nodiscard]] double doubt() const;
};

[[nodiscard]] Margin margin_of(const Curve& curve, const Target& target);

/// Whether exact numbers prove what enclosures leave undecided: the plan states this guarantee, or its largest loss is this epsilon.
[[nodiscard]] bool is_exactly_met(const Curve& curve, const StatedTarget& target);

}  // namespace tradeoff::detail
