// SPDX-License-Identifier: Apache-2.0
#include "report/label.h"

#include <gtest/gtest.h>

namespace tradeoff::detail::report {
namespace {

TEST(Label, KeepsTextAndReplacesWhatWouldBreakIt) {
  EXPECT_EQ(printable("ε = 1, <&>"), "ε = 1, <&>");
  EXPECT_EQ(printable("a\nb\tc"), "a b c");
  EXPECT_EQ(printable("\x1b[31mred"), "?[31mred");                                // no escape sequence reaches a terminal
  EXPECT_EQ(printable("\xff\xc3x\xe2\x82"), "??x??");                             // not UTF-8
  EXPECT_EQ(printable("\xc0\xaf \xed\xa0\x80 \xf5\x80\x80\x80"), "?? ??? ????");  // overlong, surrogate, beyond Unicode
  EXPECT_EQ(printable("\xc2\x85"), "??");                                         // a control character of two bytes
}

TEST(Label, IsCutBetweenCharacters) {
  EXPECT_EQ(length_of("δ(ε)"), 4U);
  EXPECT_EQ(shortened("δ(ε)", 4), "δ(ε)");
  EXPECT_EQ(shortened("δ(ε) = 1", 4), "δ(ε…");
  EXPECT_EQ(shortened("abc", 1), "…");
}

}  // namespace
}  // namespace tradeoff::detail::report
