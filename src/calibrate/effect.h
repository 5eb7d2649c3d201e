// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "plan/unknown.h"

namespace tradeoff {

/// The effect of a parameter that may be `?` on privacy. [parameter-calibration]
struct Effect {
  std::string_view call;
  std::string_view parameter;
  bool more_is_safer;  ///< true: more noise, so the smallest value is wanted; false: the largest value is wanted
  bool whole;          ///< the parameter is a count
  bool monotone;       ///< proved on the theorem page; otherwise one value says nothing about another
  double largest;      ///< the largest valid value
};

/// Throws UnsupportedError if this parameter cannot be calibrated.
[[nodiscard]] const Effect& effect_of(const UnknownPlace& place);

}  // namespace tradeoff
