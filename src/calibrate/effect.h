// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "plan/unknown.h"

namespace tradeoff {

/// What a parameter that may be a `?` does to privacy. [parameter-calibration]
struct Effect {
  std::string_view call;
  std::string_view parameter;
  bool more_is_safer;  ///< more noise: the smallest value is wanted. Otherwise the largest
  bool whole;          ///< it is a count
  bool monotone;       ///< proved on the theorem page; where it is not, nothing is concluded from one value about another
  double largest;      ///< the largest value that makes sense
};

/// Throws UnsupportedError if the place is none that can be calibrated.
[[nodiscard]] const Effect& effect_of(const UnknownPlace& place);

}  // namespace tradeoff
