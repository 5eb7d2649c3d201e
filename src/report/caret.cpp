// SPDX-License-Identifier: Apache-2.0
#include "report/caret.h"

#include "tradeoff/plan.h"

namespace tradeoff::detail::report {

std::string indented_point(std::string_view text, std::size_t offset) {
  const std::string lines = point_at(text, offset);
  const std::size_t end = lines.find('\n');
  return "  " + lines.substr(0, end) + "\n  " + lines.substr(end + 1) + "\n";
}

}  // namespace tradeoff::detail::report
