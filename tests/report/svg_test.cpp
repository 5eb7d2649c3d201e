// SPDX-License-Identifier: Apache-2.0
#include "report/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <regex>

#include "support/xml.h"

namespace tradeoff::detail::report {
namespace {

using test::is_well_formed;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

Picture falling() {
  return {
      "Falling", {"false positives α", Scale::linear, 0, 1}, {"misses β", Scale::linear, 0, 1}, {{"the line", {{0, {1, 1}}, {1, {0, 0}}}}}};
}

/// The coordinates of the first path of this class, in the order they are drawn.
std::vector<std::pair<double, double>> path_of(const std::string& svg, const std::string& kind) {
  std::smatch found;
  if (!std::regex_search(svg, found, std::regex("<path class=\"" + kind + "\" d=\"([^\"]*)\""))) return {};
  const std::string path = found[1];
  const std::regex pair("(-?[0-9.]+) (-?[0-9.]+)");
  std::vector<std::pair<double, double>> points;
  for (std::sregex_iterator i(path.begin(), path.end(), pair), end; i != end; ++i)
    points.emplace_back(std::stod((*i)[1]), std::stod((*i)[2]));
  return points;
}

struct Box {
  double left, top, right, bottom;
};
Box frame_of(const std::string& svg) {
  std::smatch m;
  const std::regex frame("<rect class=\"frame\" x=\"([0-9.]+)\" y=\"([0-9.]+)\" width=\"([0-9.]+)\" height=\"([0-9.]+)\"");
  if (!std::regex_search(svg, m, frame)) return {};
  return {std::stod(m[1]), std::stod(m[2]), std::stod(m[1]) + std::stod(m[3]), std::stod(m[2]) + std::stod(m[4])};
}

TEST(Svg, IsOneDocumentWithADescription) {
  const std::string svg = to_svg({"A title", "What it shows", {falling(), falling()}});
  EXPECT_TRUE(is_well_formed(svg));
  for (const char* part : {"<title>A title</title>", "<desc>What it shows</desc>", "role=\"img\"", ">Falling</text>",
                           ">false positives α</text>", ">misses β</text>", ">the line</text>", ">0.2</text>", "prefers-color-scheme:dark"})
    EXPECT_THAT(svg, HasSubstr(part));
  for (const char* part : {"<script", "href", "url(", "nan", "inf"}) EXPECT_THAT(svg, Not(HasSubstr(part)));
  EXPECT_EQ(svg, to_svg({"A title", "What it shows", {falling(), falling()}}));
}

// A mapping with an axis flipped or exchanged fails here: 1 at alpha 0 is the upper left corner.
TEST(Svg, DrawsUpwardsAndToTheRight) {
  const std::string svg = to_svg({"", "", {falling()}});
  const Box box = frame_of(svg);
  const auto line = path_of(svg, "line");
  ASSERT_EQ(line.size(), 2U);
  EXPECT_EQ(line[0], std::pair(box.left, box.top));
  EXPECT_EQ(line[1], std::pair(box.right, box.bottom));
}

TEST(Svg, PlacesTickLabelsWhereTheirValuesAre) {
  Picture picture = falling();
  picture.y = {"", Scale::logarithmic, 1e-4, 1};
  picture.series[0].spots = {{0.5, {0.01, 0.01}}, {1, {0.01, 0.01}}};
  const std::string svg = to_svg({"", "", {picture}});
  const auto line = path_of(svg, "line");
  ASSERT_EQ(line.size(), 2U);
  std::smatch m;
  ASSERT_TRUE(std::regex_search(svg, m, std::regex("y=\"([0-9.]+)\" text-anchor=\"end\">10⁻²<")));
  EXPECT_NEAR(std::stod(m[1]), line[0].second + 4, 0.02);  // a label stands four pixels below the middle of its text
  ASSERT_TRUE(std::regex_search(svg, m, std::regex("x=\"([0-9.]+)\" y=\"[0-9.]+\" text-anchor=\"middle\">1.0<")));
  EXPECT_NEAR(std::stod(m[1]), line[1].first, 0.02);
}

TEST(Svg, StaysInsideItsFrame) {
  Picture picture = falling();
  picture.series = {{"far", {{-5, {-10, 20}}, {0.5, {-3, 4}}, {9, {-1e300, 1e300}}}, Shape::area},
                    {"line", {{-5, {-10, -10}}, {0.5, {0.5, 0.5}}, {9, {1e300, 1e300}}}},
                    {"dots", {{2, {0, 0}}, {0.5, {0.5, 0.5}}}, Shape::markers}};
  const std::string svg = to_svg({"", "", {picture}});
  EXPECT_TRUE(is_well_formed(svg));
  const Box box = frame_of(svg);
  for (const char* kind : {"area", "line"}) {
    const auto points = path_of(svg, kind);
    EXPECT_GE(points.size(), 2U);
    for (const auto& [x, y] : points) {
      EXPECT_TRUE(box.left <= x && x <= box.right) << kind << x;
      EXPECT_TRUE(box.top <= y && y <= box.bottom) << kind << y;
    }
  }
}

TEST(Svg, LeavesOutWhatCannotBeDrawn) {
  for (const Scale scale : {Scale::linear, Scale::logarithmic}) {
    Picture picture{"", {"x", scale}, {"y", scale}, {}};
    for (const Shape shape : {Shape::line, Shape::steps, Shape::markers, Shape::area})
      picture.series.push_back(
          {"odd",
           {{0, {undefined, undefined}}, {undefined, {1, 1}}, {infinity, {1, 1}}, {1, Interval::whole()}, {2, {0, infinity}}, {3, {0, 0}}},
           shape});
    const std::string svg = to_svg({"", "", {picture, {}}});
    EXPECT_TRUE(is_well_formed(svg));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
  }
  EXPECT_TRUE(is_well_formed(to_svg({"", "", {}})));
}

TEST(Svg, EscapesEveryText) {
  const std::string odd = "</text><script>&\"'\x01\xff";
  Picture picture = falling();
  picture.title = picture.x.label = picture.y.label = picture.series[0].label = odd;
  const std::string svg = to_svg({odd, odd, {picture}});
  EXPECT_TRUE(is_well_formed(svg));
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  EXPECT_THAT(svg, HasSubstr("&lt;/text&gt;&lt;script&gt;&amp;&quot;'??"));
}

TEST(Svg, DrawsTheBandOnlyWhereItIsVisible) {
  Picture picture = falling();
  picture.series = {{"thin", {{0, {0.5, 0.5 + 1e-6}}, {1, {0.4, 0.4 + 1e-6}}}}};
  EXPECT_THAT(to_svg({"", "", {picture}}), Not(HasSubstr("class=\"area\"")));
  picture.series = {{"wide", {{0, {0.4, 0.6}}, {1, {0.3, 0.5}}}}};
  const std::string svg = to_svg({"", "", {picture}});
  EXPECT_THAT(svg, HasSubstr("class=\"area\""));
  EXPECT_THAT(svg, HasSubstr("class=\"edge\""));
}

TEST(Svg, CheckerDetectsFaults) {
  for (const char* bad :
       {"<a>", "<a></b>", "<a></a><b></b>", "<a x=1></a>", "<a>&nbsp;</a>", "<a>\x01</a>", "text", "<a x=\"<\"></a>", "<a></a>x"})
    EXPECT_FALSE(is_well_formed(bad)) << bad;
  EXPECT_TRUE(is_well_formed("<a x=\"1\"><b/>&amp;</a>\n"));
}

TEST(Svg, BreaksLongLabelsOfTheLegendInTwo) {
  const auto lines = [](const std::string& label) {
    Picture picture = falling();
    picture.series[0].label = label;
    const std::string svg = to_svg({"", "", {picture}});
    EXPECT_TRUE(is_well_formed(svg));
    return svg.substr(svg.find("class=\"frame\""));  // the legend stands below
  };
  std::string words;
  for (int i = 0; i < 40; ++i) words += (i > 0 ? " word" : "word") + std::to_string(i);
  const std::string two = lines(words);
  EXPECT_THAT(two, HasSubstr(">word0 word1 "));
  EXPECT_THAT(two, HasSubstr("…</text>"));               // the second line is cut
  EXPECT_THAT(two, Not(HasSubstr("word39")));            // which is why
  EXPECT_THAT(two, Not(HasSubstr(" </text>")));          // the space at the break is gone
  const std::string one = lines(std::string(300, 'x'));  // nowhere to break
  EXPECT_THAT(one, HasSubstr("xxx…</text>"));
  EXPECT_THAT(one, Not(HasSubstr(std::string(200, 'x'))));
}

}  // namespace
}  // namespace tradeoff::detail::report
