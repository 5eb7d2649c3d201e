// SPDX-License-Identifier: Apache-2.0
// The question `mu` in JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "run_command.h"

namespace tradeoff::detail::test {
namespace {

using nlohmann::json;

json ask(const std::string& plan, const std::string& more = "") {
  const Outcome run = run_command({"query"}, {.input = R"({"id":1,"ask":"mu","plan":")" + plan + "\"" + more + "}\n"});
  EXPECT_EQ(run.code, 0) << run.err;
  return json::parse(run.out);
}

TEST(AskMu, HasTheMembersOfTheContract) {
  const json answer = ask("laplace(scale=0.5)").at("answer");
  EXPECT_EQ(answer.at("verdict"), "gdp");
  EXPECT_LE(answer.at("mu").at("lo").get<double>(), 1.8009051932755807);
  EXPECT_GE(answer.at("mu").at("hi").get<double>(), 1.8009051932755806);
  EXPECT_TRUE(answer.at("at_epsilon").is_number());
  EXPECT_EQ(answer.at("tail").at("kind"), "zero");
  ASSERT_EQ(answer.at("with_slack").size(), 4u);
  EXPECT_EQ(answer.at("with_slack").at(0).at("slack"), 1e-5);
  EXPECT_EQ(answer.at("with_slack").at(3).at("slack"), 1e-15);
}

TEST(AskMu, SaysNotGaussianDp) {
  const json answer = ask("dp(1, 1e-5)").at("answer");
  EXPECT_EQ(answer.at("verdict"), "not_gdp");
  EXPECT_EQ(answer.at("mu").at("hi"), "inf");
}

TEST(AskMu, TakesOneSlackOrAHead) {
  const json slack = ask("gaussian(1) | poisson(0.01) | repeat(1000)", R"(,"slack":"1e-10")").at("answer");
  ASSERT_EQ(slack.at("with_slack").size(), 1u);
  EXPECT_NEAR(slack.at("with_slack").at(0).at("mu").at("hi").get<double>(), 0.515758, 1e-6);
  EXPECT_EQ(slack.at("at_epsilon"), "inf");
  const json head = ask("icea(4, 20)", R"(,"epsilon_max":5)").at("answer");
  EXPECT_EQ(head.at("verdict"), "head");
  EXPECT_NEAR(head.at("mu").at("hi").get<double>(), 2.3845503, 1e-6);
  EXPECT_NEAR(head.at("residual").at("hi").get<double>(), 0.1082682, 1e-6);
}

TEST(AskMu, RefusesADirectionAndBadNumbers) {
  EXPECT_EQ(ask("laplace(1)", R"(,"direction":"remove")").at("error").at("kind"), "domain");
  EXPECT_EQ(ask("laplace(1)", R"(,"epsilon_max":0)").at("error").at("kind"), "domain");
  EXPECT_EQ(ask("laplace(1)", R"(,"slack":1.5)").at("error").at("kind"), "domain");
  EXPECT_EQ(ask("laplace(1)", R"(,"slack":1)").at("error").at("kind"), "domain");
}

}  // namespace
}  // namespace tradeoff::detail::test
