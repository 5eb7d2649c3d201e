// SPDX-License-Identifier: Apache-2.0
// [finite-pair]
#include "mechanism/pair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "numeric/number_text.h"
#include "support/matchers.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;
using ::testing::HasSubstr;

std::vector<Interval> decimals(const nlohmann::json& texts) {
  std::vector<Interval> values;
  for (const auto& text : texts) values.push_back(test::golden_interval(text));
  return values;
}

TEST(Pair, HockeySticksOfTheGoldenPairInBothOrders) {
  for (const auto& entry : test::golden_group("f_dp.json", "hs_discrete")) {
    const auto& in = entry["inputs"];
    const LossPointer loss = pair_loss(decimals(in["P"]), decimals(in["Q"]));
    const Interval epsilon = test::golden_interval(in["eps"]);
    EXPECT_THAT(loss->delta(Direction::remove, epsilon), Encloses(entry["value"]["PQ"].get<std::string>()));
    EXPECT_THAT(loss->delta(Direction::add, epsilon), Encloses(entry["value"]["QP"].get<std::string>()));
  }
}

std::vector<std::pair<Interval, Interval>> points(std::initializer_list<std::pair<double, double>> values) {
  std::vector<std::pair<Interval, Interval>> result;
  for (const auto& [alpha, beta] : values) result.emplace_back(Interval::exactly(alpha), Interval::exactly(beta));
  return result;
}

TEST(Polygon, IsTheCurveOfItsEdges) {
  const LossPointer loss = polygon_loss(points({{0, 0.9375}, {0.25, 0.25}, {0.75, 0}}));
  EXPECT_THAT(loss->infinite_mass(Direction::remove), Encloses(0.0625));
  EXPECT_THAT(loss->infinite_mass(Direction::add), Encloses(0.25));
  EXPECT_THAT(loss->delta(Direction::remove, Interval::exactly(0)), Encloses(0.5));  // 1 - min (alpha + beta)
}

TEST(Polygon, FaultsNameTheirRow) {
  const auto message = [](std::initializer_list<std::pair<double, double>> values) {
    try {
      (void)polygon_loss(points(values));
    } catch (const DomainError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(message({{0, 1}, {0.5, 0.6}, {1, 0}}), HasSubstr("row 2: beta lies above"));
  EXPECT_THAT(message({{0, 1}, {0.5, 0.2}, {0.6, 0.3}, {1, 0}}), HasSubstr("row 3: beta must not rise"));
  EXPECT_THAT(message({{0, 1}, {0.5, 0.4}, {0.5, 0.3}, {1, 0}}), HasSubstr("row 3: alpha must be larger"));
  EXPECT_THAT(message({{0, 0.75}, {0.25, 0.7}, {0.5, 0}}), HasSubstr("row 3: the curve is not convex"));
  EXPECT_THAT(message({{0.1, 0.75}, {0.5, 0}}), HasSubstr("row 1: the first alpha must be 0"));
  EXPECT_THAT(message({{0, 0.75}, {0.5, 0.1}}), HasSubstr("row 2: the last beta must be 0"));
  EXPECT_THAT(message({{0, 1.5}, {0.5, 0}}), HasSubstr("row 1: beta must be between 0 and 1"));
  EXPECT_THAT(message({{0, 1}}), HasSubstr("at least two points"));
}

}  // namespace
}  // namespace tradeoff::detail
