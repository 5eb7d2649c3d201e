// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <locale>
#include <sstream>

namespace tradeoff::numeric {

/// A text that is put together with numbers written the same way everywhere, whatever locale the program has chosen.
class PlainText : public std::ostringstream {
 public:
  PlainText() { imbue(std::locale::classic()); }
};

}  // namespace tradeoff::numeric
