// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <string>

#include "numeric/conversions.h"
#include "report/json.h"
#include "tradeoff/limit.h"

namespace tradeoff::detail::ask {

/// `{"estimate": x}`: not an interval, so that no reader mistakes it for a bound.
inline report::JsonWriter& write_estimate(report::JsonWriter& out, Estimate estimate) {
  out.begin_object().key("estimate");
  if (estimate.value() < Interval::whole().hi)
    out.number(estimate.value());
  else
    out.text("inf");
  return out.end_object();
}

/// With this many significant digits, or `inf`; rounded to nearest, so only for estimates.
[[nodiscard]] inline std::string significant(double value, int digits) {
  if (!(std::abs(value) < Interval::whole().hi)) return "inf";
  std::array<char, 32> buffer{};
  const auto end = numeric::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::general, digits).ptr;
  return {buffer.data(), end};
}

}  // namespace tradeoff::detail::ask
