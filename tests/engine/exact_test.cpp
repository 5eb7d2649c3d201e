// SPDX-License-Identifier: Apache-2.0
// [exact-composition] [atom-kernel] [multi-constraint-composition] against values made by explicit products of distributions.
#include "engine/exact.h"

#include <gtest/gtest.h>

#include "mechanism/constraints.h"
#include "support/matchers.h"

namespace tradeoff {
namespace {

using test::Encloses;
using test::golden_interval;
using test::IsTight;
using test::read_golden;

LossPointer constraints_from(const nlohmann::json& list) {
  std::vector<Constraint> constraints;
  for (const auto& one : list) {
    if (one.is_array()) {
      constraints.push_back({golden_interval(one[0]), golden_interval(one[1])});
    } else {
      constraints.push_back({golden_interval(one["eps"]), golden_interval(one["delta"])});
    }
  }
  return std::make_shared<ConstraintsLoss>(constraints);
}

LossPointer dp(Interval epsilon, Interval delta) { return std::make_shared<ConstraintsLoss>(std::vector<Constraint>{{epsilon, delta}}); }

void expect_profile(const Loss& loss, const nlohmann::json& expected, double width) {
  for (const auto& point : expected.at("delta")) {
    const Interval delta = loss.delta(Direction::remove, golden_interval(point["eps"]));
    EXPECT_THAT(delta, Encloses(point["delta"].get<std::string>())) << point;
    EXPECT_TRUE(delta.width() <= 1e-15 || ::testing::Value(delta, IsTight(width))) << point << delta.lo << " " << delta.hi;
  }
  if (!expected.contains("tradeoff")) return;
  for (const auto& point : expected.at("tradeoff")) {
    const Interval beta = *loss.closed_beta(Direction::remove, golden_interval(point["alpha"]));
    EXPECT_THAT(beta, Encloses(point["beta"].get<std::string>())) << point;
    EXPECT_TRUE(beta.width() <= 1e-15 || ::testing::Value(beta, IsTight(width))) << point << beta.lo << " " << beta.hi;
  }
}

Parts parts_from(const nlohmann::json& test) {
  const auto& inputs = test["inputs"];
  Parts parts;
  if (test["kind"] == "heterogeneous_composition") {
    for (const auto& group : inputs["groups"]) {
      const auto count = group["count"].get<std::uint64_t>();
      if (count > 0) parts.push_back({dp(golden_interval(group["eps"]), golden_interval(group["delta"])), count});
    }
  } else {
    parts.push_back({constraints_from(inputs["constraints"]), inputs["k"].get<std::uint64_t>()});
  }
  return parts;
}

TEST(ExactComposition, EnclosesTheGoldenCompositions) {
  const auto golden = read_golden("multiple_constraints.json");
  int cases = 0;
  for (const auto& test : golden["cases"]) {
    if (test["kind"] != "heterogeneous_composition" && test["kind"] != "multi_constraint_composition") continue;
    SCOPED_TRACE(test["id"].get<std::string>());
    const LossPointer composed = compose_exactly(parts_from(test), {});
    ASSERT_NE(composed, nullptr);
    expect_profile(*composed, test["expected"], 1e-10);
    ++cases;
  }
  EXPECT_EQ(cases, 43);
}

}  // namespace
}  // namespace tradeoff
