// SPDX-License-Identifier: Apache-2.0
#include "report/pdf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

namespace tradeoff::detail::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Figure falling() {
  Picture picture{"Falling (10⁻²) <a & b>",
                  {"false positives α", Scale::linear, 0, 1},
                  {"misses β", Scale::linear, 0, 1},
                  {{"the line", {{0, {1, 1}}, {0.25, {0.5, 0.5}}, {1, {0, 0}}}}}};
  return {"Falling", "A line that falls.", {std::move(picture)}};
}

/// Every offset of the table of objects is the place where that object starts, and the stream has the stated length.
TEST(Pdf, HasATableThatFitsItsObjects) {
  const std::string pdf = to_pdf(falling());
  ASSERT_THAT(pdf, ::testing::StartsWith("%PDF-1.4\n"));
  ASSERT_THAT(pdf, ::testing::EndsWith("%%EOF\n"));
  const std::size_t start = std::stoul(pdf.substr(pdf.rfind("startxref\n") + 10));
  EXPECT_EQ(pdf.substr(start, 5), "xref\n");
  std::size_t objects = 0;
  for (std::size_t line = pdf.find(" 65535 f \n", start) + 10; pdf.substr(line + 10, 9) == " 00000 n "; line += 20) {
    const std::string named = std::to_string(++objects) + " 0 obj\n";
    EXPECT_EQ(pdf.substr(std::stoul(pdf.substr(line, 10)), named.size()), named);
  }
  EXPECT_EQ(objects, 8U);
  const std::size_t stated = std::stoul(pdf.substr(pdf.find("/Length ") + 8));
  const std::size_t stream = pdf.find("stream\n") + 7;
  EXPECT_EQ(pdf.find("endstream") - stream, stated);
}

TEST(Pdf, DrawsLinesLabelsAndSymbols) {
  const std::string pdf = to_pdf(falling());
  EXPECT_THAT(pdf, HasSubstr("/MediaBox [0 0 366"));
  EXPECT_TRUE(std::regex_search(pdf, std::regex("0 0\\.45 0\\.7 RG \n66 38 m\n166 208 l\n466 378 l\nS Q"))) << pdf;
  EXPECT_THAT(pdf, HasSubstr("/F3 12 Tf 0 Ts <61> Tj")) << "alpha is a letter of the font Symbol";
  EXPECT_THAT(pdf, HasSubstr("/F3 12 Tf 0 Ts <62> Tj")) << "beta";
  EXPECT_THAT(pdf, HasSubstr("/F2 9.8 Tf 4.67 Ts <2D32> Tj")) << "a raised -2 in the title";
  EXPECT_THAT(pdf, HasSubstr("3C61202620623E")) << "<a & b> without entities";
  EXPECT_THAT(pdf, Not(HasSubstr("nan")));
  EXPECT_THAT(pdf, Not(HasSubstr("inf")));
}

TEST(Pdf, IsTheSameEachTime) { EXPECT_EQ(to_pdf(falling()), to_pdf(falling())); }

}  // namespace
}  // namespace tradeoff::detail::report
