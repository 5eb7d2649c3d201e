// SPDX-License-Identifier: Apache-2.0
#include "report/terminal_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "report/label.h"

namespace tradeoff::detail::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Picture falling() {
  return {"title", {"alpha", Scale::linear, 0, 1}, {"beta", Scale::linear, 0, 1}, {{"", {{0, {1, 1}}, {0.5, {0.25, 0.25}}, {1, {0, 0}}}}}};
}

void expect_fits(const std::string& picture, std::size_t columns = 80) {
  std::istringstream lines(picture);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(length_of(line), columns) << line;
}

// An axis that is flipped fails here: the highest row starts with a dot in its first column, the lowest ends with one in its last.
TEST(TerminalPlot, NamesItsAxesAndDrawsUpwards) {
  const std::string picture = to_terminal(falling());
  expect_fits(picture);
  for (const char* part : {"title", "alpha", "beta", " 1.0 ┤⠉⠒", "0.2", "⢄\n     └┴"}) EXPECT_THAT(picture, HasSubstr(part));
  EXPECT_EQ(picture, to_terminal(falling()));
}

TEST(TerminalPlot, FitsTheGivenColumns) {
  Picture picture = falling();
  const std::string endless(300, 'x');
  picture.title = picture.x.label = picture.y.label = endless;
  picture.y = {endless, Scale::linear, -123456.0, 9e6};
  picture.x.high = 1e-7;
  for (int i = 0; i < 30; ++i) picture.series.push_back({endless, {{0, {0, 1}}, {1, {0, 1}}}, i % 2 == 0 ? Shape::line : Shape::area});
  expect_fits(to_terminal(picture));
  expect_fits(to_terminal(picture, {40, 5}), 40);
}

TEST(TerminalPlot, LeavesOutWhatCannotBeDrawn) {
  const double infinite = std::numeric_limits<double>::infinity();
  const double undefined = std::numeric_limits<double>::quiet_NaN();
  Picture picture{"", {"x"}, {"y", Scale::logarithmic}, {}};
  picture.series = {{"", {{0, {1, infinite}}, {undefined, {1, 1}}, {1, {0, 0}}, {2, {1e-9, 1e-9}}, {3, {1e-3, 1e-3}}}}};
  EXPECT_THAT(to_terminal(picture), HasSubstr("10⁻⁸"));
  expect_fits(to_terminal({}));
}

TEST(TerminalPlot, LabelsSeriesByLetters) {
  Picture picture = falling();
  EXPECT_THAT(to_terminal(picture), Not(HasSubstr("A  ")));
  picture.series = {{"one", {{0, {1, 1}}, {1, {0, 0}}}},
                    {"two", {{0, {0.2, 0.2}}, {1, {0.2, 0.2}}}},
                    {"risk", {{0.9, {0.9, 0.9}}}, Shape::markers},
                    {"\x1b[31mred", {{0, {0, 1}}, {1, {0, 1}}}, Shape::area}};
  const std::string text = to_terminal(picture);
  for (const char* part : {"  A  one\n", "  B  two\n", "  o  risk\n", "  ⠄  ?[31mred\n"}) EXPECT_THAT(text, HasSubstr(part));
  const std::string drawing = text.substr(0, text.find("└"));
  EXPECT_THAT(drawing, HasSubstr("A"));
  EXPECT_THAT(drawing, HasSubstr("B"));
  EXPECT_THAT(drawing, HasSubstr("o"));
}

TEST(TerminalPlot, FillsABandThatIsWide) {
  Picture picture = falling();
  picture.series = {{"", {{0, {0, 1}}, {1, {0, 1}}}}};
  EXPECT_THAT(to_terminal(picture), HasSubstr("⡪⡪⡪⡪"));
}

}  // namespace
}  // namespace tradeoff::detail::report
