// SPDX-License-Identifier: Apache-2.0
#include "report/escape.h"

#include "report/label.h"

namespace tradeoff::detail::report {

std::string escaped_markup(const std::string& text) {
  std::string safe;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

}  // namespace tradeoff::detail::report
