// SPDX-License-Identifier: Apache-2.0
// What people and programs are told about the risk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "run_command.h"

namespace tradeoff::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

TEST(VerbRisk, SpeaksPlainly) {
  const Outcome run = run_command({"risk", "gaussian(sigma=1)"});
  EXPECT_EQ(run.code, 0) << run.err;
  // The safe ends, rounded up: 1.8298, 69.146, 117.318, 0.99998.
  EXPECT_THAT(run.out, HasSubstr("wrongly accuses 1 person in 1000 finds at most 1.83 % of those who took part"));
  EXPECT_THAT(run.out, HasSubstr("the best guess about it is right at most 69.2 % of the time"));
  EXPECT_THAT(run.out, HasSubstr("names the right one with a chance of at most 1.83 %"));
  EXPECT_THAT(run.out, HasSubstr("multiplies the odds that you took part by more than 118."));
  EXPECT_THAT(run.out, HasSubstr("a bell curve around 0 or around 1, both of width 1"));
  EXPECT_THAT(run_command({"risk", "dp(epsilon=1, delta=1e-4)"}).out, HasSubstr("an output may reveal whether you took part"));
}

TEST(VerbRisk, EveryNumberIsAnInterval) {
  const json answer = json::parse(run_command({"risk", "--json", "gaussian(sigma=1)"}).out).at("answer");
  ASSERT_EQ(answer.at("naming").size(), 3u);
  EXPECT_EQ(answer.at("naming").at(1).at("people"), 1000);
  EXPECT_LE(answer.at("naming").at(1).at("chance").at("lo").get<double>(), 0.018298468405656598);
  EXPECT_GE(answer.at("naming").at(1).at("chance").at("hi").get<double>(), 0.018298468405656598);
  ASSERT_EQ(answer.at("odds").size(), 2u);
  EXPECT_EQ(answer.at("odds").at(1).at("except"), 1e-5);
  EXPECT_NEAR(answer.at("odds").at(1).at("factor").at("hi").get<double>(), 117.3183047, 1e-6);
  EXPECT_EQ(answer.at("gaussian").at("slack"), 1e-5);
  EXPECT_LE(answer.at("gaussian").at("mu").at("hi").get<double>(), 1);
}

}  // namespace
}  // namespace tradeoff::test
