// SPDX-License-Identifier: Apache-2.0
#include "report/terminal_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <sstream>

namespace tradeoff::report {
namespace {

using ::testing::HasSubstr;

/// Characters on a line of UTF-8 text.
std::size_t characters(const std::string& line) {
  std::size_t count = 0;
  for (const char c : line) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  return count;
}

TEST(TerminalPlot, FitsATerminalAndNamesItsAxes) {
  const PlotSeries falling{"", {{0, {1, 1}}, {0.5, {0.25, 0.25}}, {1, {0, 0}}}};
  const std::string picture = terminal_plot({falling}, {"title", "alpha", "beta"});
  EXPECT_THAT(picture, HasSubstr("title"));
  EXPECT_THAT(picture, HasSubstr("alpha"));
  std::istringstream lines(picture);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(characters(line), 80U) << line;
  // The corners are dotted: the highest row starts with a dot in its first column, the lowest ends with one in its last.
  EXPECT_THAT(picture, HasSubstr("1 │⠉"));
  EXPECT_THAT(picture, HasSubstr("⢄\n          └"));
}

TEST(TerminalPlot, LeavesOutWhatCannotBeDrawn) {
  const double infinite = std::numeric_limits<double>::infinity();
  const PlotSeries odd{"", {{0, {1, infinite}}, {1, {0, 0}}, {2, {1e-9, 1e-9}}, {3, {1e-3, 1e-3}}}};
  PlotFrame frame{"", "x", "y"};
  frame.logarithmic_y = true;
  EXPECT_THAT(terminal_plot({odd}, frame), HasSubstr("1e-09"));
  EXPECT_THAT(terminal_plot({}, frame), HasSubstr("nothing to draw"));
}

}  // namespace
}  // namespace tradeoff::report
