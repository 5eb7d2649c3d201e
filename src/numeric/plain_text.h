// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <locale>
#include <sstream>

namespace tradeoff::detail::numeric {

/// Builds a text with numbers, independent of the locale.
class PlainText : public std::ostringstream {
 public:
  PlainText() { imbue(std::locale::classic()); }
};

}  // namespace tradeoff::detail::numeric
