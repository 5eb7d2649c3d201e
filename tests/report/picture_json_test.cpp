// SPDX-License-Identifier: Apache-2.0
#include "report/picture_json.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace tradeoff::detail::report {
namespace {

using nlohmann::json;

TEST(PictureJson, ContainsTheWholeDescription) {
  const double infinite = std::numeric_limits<double>::infinity();
  const Picture picture{
      "A \"title\"",
      {"x", Scale::linear, 0},
      {"y", Scale::logarithmic, 1e-3, 1},
      {{"steps", {{0, {0.25, 0.5}}, {infinite, {0, infinite}}}, Shape::steps, Stroke::dashed, std::size_t{2}}, {"line", {}}},
      true};
  const json told = json::parse(to_json(picture));
  EXPECT_EQ(told.at("title"), "A \"title\"");
  EXPECT_EQ(told.at("square"), true);
  EXPECT_EQ(told.at("x"), (json{{"label", "x"}, {"scale", "linear"}, {"low", 0}, {"high", nullptr}}));
  EXPECT_EQ(told.at("y").at("scale"), "log");
  const json& steps = told.at("series").at(0);
  EXPECT_EQ(steps.at("shape"), "steps");
  EXPECT_EQ(steps.at("stroke"), "dashed");
  EXPECT_EQ(steps.at("colour"), 2);
  EXPECT_EQ(steps.at("x"), (json{0, nullptr}));
  EXPECT_EQ(steps.at("lo"), (json{0.25, 0}));
  EXPECT_EQ(steps.at("hi"), (json{0.5, nullptr}));
  EXPECT_TRUE(told.at("series").at(1).at("colour").is_null());
}

}  // namespace
}  // namespace tradeoff::detail::report
