// SPDX-License-Identifier: Apache-2.0
#include "report/ruler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tradeoff::detail::report {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> labels(const Ruler& ruler, int wanted = 6) {
  std::vector<std::string> found;
  for (const Tick& tick : ruler.ticks(wanted)) found.push_back(tick.label);
  return found;
}

TEST(Ruler, RunsFromTheLowEndToTheHighEnd) {
  const Ruler linear({"", Scale::linear, -1, 3}, {});
  EXPECT_EQ(linear.place(-1), 0);
  EXPECT_EQ(linear.place(3), 1);
  EXPECT_EQ(linear.place(0), 0.25);
  const Ruler logarithmic({"", Scale::logarithmic, 1e-4, 1}, {});
  EXPECT_EQ(logarithmic.place(1e-4), 0);
  EXPECT_NEAR(logarithmic.place(1e-3), 0.25, 1e-12);
  EXPECT_EQ(logarithmic.place(0), -infinity);
}

TEST(Ruler, TakesTheEndsOfTheDataAndIgnoresWhatIsNoPlace) {
  const Ruler ruler({}, {undefined, 2, infinity, 5, -infinity});
  EXPECT_EQ(ruler.low(), 2);
  EXPECT_EQ(ruler.high(), 5);
  const Ruler logarithmic({"", Scale::logarithmic}, {0, -3, 1e-9, 1});
  EXPECT_EQ(logarithmic.low(), 1e-9);
}

TEST(Ruler, NamesRoundValues) {
  EXPECT_THAT(labels(Ruler({"", Scale::linear, 0, 1}, {})), ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1.0"));
  EXPECT_THAT(labels(Ruler({"", Scale::linear, -3, 17}, {})), ElementsAre("0", "5", "10", "15"));
  EXPECT_THAT(labels(Ruler({"", Scale::linear, 0, 5e-6}, {})), ElementsAre("0", "1×10⁻⁶", "2×10⁻⁶", "3×10⁻⁶", "4×10⁻⁶", "5×10⁻⁶"));
  EXPECT_THAT(labels(Ruler({"", Scale::logarithmic, 1e-10, 1}, {})), ElementsAre("10⁻¹⁰", "10⁻⁸", "10⁻⁶", "10⁻⁴", "10⁻²", "1"));
  EXPECT_THAT(labels(Ruler({"", Scale::logarithmic, 0.05, 3}, {})), ElementsAre("0.05", "0.1", "0.2", "0.5", "1", "2"));
}

TEST(Ruler, KeepsTicksWithinAnyRange) {
  for (const auto& [low, high] : {std::pair{0.0, 0.0},
                                  {1e16, 1e16 + 2},
                                  {-1e300, 1e300},
                                  {-1e308, 1e308},
                                  {3.0, 3.0 + 1e-15},
                                  {1e-320, 1.0},
                                  {1e-300, 1e300},
                                  {5e-324, 1e-323},
                                  {1.7e308, 1.7e308},
                                  {5.0, -5.0},
                                  {0.123, 0.1231}}) {
    for (const Scale scale : {Scale::linear, Scale::logarithmic}) {
      const Ruler ruler({"", scale, low, high}, {});
      ASSERT_LT(ruler.low(), ruler.high());
      const auto ticks = ruler.ticks(6);
      EXPECT_LE(ticks.size(), 13U);
      for (const Tick& tick : ticks) {
        EXPECT_LE(ruler.low(), tick.at);
        EXPECT_GE(ruler.high(), tick.at);
        EXPECT_GE(ruler.place(tick.at), 0);
        EXPECT_LE(ruler.place(tick.at), 1);
      }
    }
  }
}

TEST(Runs, HaveGapsWhereNothingCanBeDrawn) {
  const Rulers rulers = {Ruler({"", Scale::linear, 0, 4}, {}), Ruler({"", Scale::logarithmic, 0.01, 1}, {})};
  const Series series{"", {{0, {1, 1}}, {1, {undefined, 1}}, {2, {0.01, infinity}}, {undefined, {1, 1}}, {3, {0.01, 0.1}}, {4, {0, 0}}}};
  const auto runs = runs_of(series, rulers);
  ASSERT_THAT(runs, SizeIs(2));
  ASSERT_THAT(runs[1], SizeIs(2));
  EXPECT_NEAR(runs[1][0].high, 0.5, 1e-12);
  EXPECT_LT(runs[1][1].high, 0);  // a 0 lies below everything
  EXPECT_THAT(runs_of(Series{"", {{0, Interval::whole()}}}, rulers), IsEmpty());
}

TEST(Runs, OfStepsHoldTheirValueUntilTheNext) {
  const Rulers rulers = {Ruler({"", Scale::linear, 0, 2}, {}), Ruler({"", Scale::linear, 0, 1}, {})};
  const auto runs = runs_of({"", {{0, {1, 1}}, {1, {0, 0}}, {2, {0, 0}}}, Shape::steps}, rulers);
  ASSERT_THAT(runs, SizeIs(1));
  ASSERT_THAT(runs[0], SizeIs(5));
  EXPECT_EQ(runs[0][1].x, 0.5);
  EXPECT_EQ(runs[0][1].low, 1);
  EXPECT_EQ(runs[0][2].low, 0);
}

TEST(Clip, KeepsWhatIsInside) {
  EXPECT_THAT(clip_line({{-1, 0.5}, {2, 0.5}}), ElementsAre(ElementsAre(Position{0, 0.5}, Position{1, 0.5})));
  EXPECT_THAT(clip_line({{-1, 2}, {2, 2}}), IsEmpty());
  EXPECT_THAT(clip_line({{0.5, 0.5}, {0.5, 3}, {0.75, 3}, {0.75, 0.5}}),
              ElementsAre(ElementsAre(Position{0.5, 0.5}, Position{0.5, 1}), ElementsAre(Position{0.75, 1}, Position{0.75, 0.5})));
  EXPECT_THAT(clip_polygon({{-1, -1}, {2, -1}, {2, 2}, {-1, 2}}), SizeIs(4));
  EXPECT_THAT(clip_polygon({{2, 2}, {3, 2}, {3, 3}}), IsEmpty());
  const auto triangle = clip_polygon({{0, 0}, {1, 0}, {0.5, 2}});
  for (const Position& p : triangle) EXPECT_LE(p.y, 1);
  EXPECT_THAT(triangle, SizeIs(4));
}

}  // namespace
}  // namespace tradeoff::detail::report
