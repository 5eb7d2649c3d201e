// SPDX-License-Identifier: Apache-2.0
#include "delta_check.h"

#include "numeric/number_text.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail::cli {

std::string delta_warning(const std::string& delta, double records) {
  if (read_number(delta).value.hi * records < 1) return "";
  return "delta = " + delta + " is not below 1/" + numeric::to_text_below(records) +
         ": a mechanism that publishes one record as it is would have such a delta";
}

}  // namespace tradeoff::detail::cli
