// SPDX-License-Identifier: Apache-2.0
// The algebra of curves from the command line: combined plans, their order, divergences and lists of guarantees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "run_command.h"

namespace tradeoff::detail::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

json ask(const json& request) {
  const json all = json::parse(run_command({"query"}, {.input = request.dump() + "\n"}).out);
  return all.contains("answer") ? all.at("answer") : all;
}

double low(const json& interval) { return interval.at("lo").get<double>(); }
double high(const json& interval) { return interval.at("hi").get<double>(); }

TEST(Order, ExitCodesAndSentences) {  // [privacy-order]
  const Outcome yes = run_command({"order", "gaussian(sigma=2)", "gaussian(sigma=1)"});
  EXPECT_EQ(yes.code, 0);
  EXPECT_THAT(yes.out, StartsWith("yes: the first plan is at least as private as the second"));
  const Outcome no = run_command({"order", "gaussian(sigma=1)", "gaussian(sigma=2)"});
  EXPECT_EQ(no.code, 1);
  EXPECT_THAT(no.out, HasSubstr("with type I error"));
  const Outcome quiet = run_command({"order", "--quiet", "gaussian(sigma=1)", "gaussian(sigma=2)"});
  EXPECT_EQ(quiet.out, "no: some attack does better against the first plan than any attack does against the second\n");
  const Outcome touching = run_command({"order", "weakest([gdp(mu=1), laplace(scale=1)])", "weakest([laplace(scale=1), gdp(mu=1)])"});
  EXPECT_EQ(touching.code, 4);
  EXPECT_THAT(touching.out, StartsWith("undecided"));
}

// [revealing-composition] With a tolerance D the second plan may also reveal everything with probability D.
TEST(Order, IgnoresWhatIsRarerThanTheTolerance) {
  const std::string sampled = "gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(1000)";
  const Outcome no = run_command({"order", sampled, "gdp(mu=1)"});
  EXPECT_EQ(no.code, 1);
  EXPECT_THAT(no.out, HasSubstr("the attack that decides: say \"took part\" where the loss is above epsilon"));
  EXPECT_THAT(no.out, HasSubstr("--tolerance ignores such differences"));
  const Outcome yes = run_command({"order", "--tolerance", "1e-12", sampled, "gdp(mu=1)"});
  EXPECT_EQ(yes.code, 0);
  EXPECT_THAT(
      yes.out,
      StartsWith(
          "yes: the first plan is at least as private as the second,\n  up to probability 1e-12; no attack does better against it\n"));
  // It is the order with the composed plan, also where the tolerance is too small.
  for (const char* tolerance : {"0.001", "0.5"}) {
    const int told = run_command({"order", "--tolerance", tolerance, "gdp(mu=1)", "gdp(mu=0.9)"}).code;
    EXPECT_EQ(told, run_command({"order", "gdp(mu=1)", std::string("gdp(mu=0.9); dp(0, ") + tolerance + ")"}).code) << tolerance;
    EXPECT_EQ(told, std::string(tolerance) == "0.5" ? 0 : 1);
  }
  EXPECT_EQ(ask({{"plan", "gdp(2)"}, {"ask", "order"}, {"other", "gdp(1)"}, {"tolerance", "1/3"}}).at("tolerance"), "1/3");
  EXPECT_EQ(run_command({"order", "--tolerance", "2", "gdp(1)", "gdp(2)"}).code, 3);
}

TEST(Order, FaultsOfEitherPlanAreNamed) {
  EXPECT_EQ(run_command({"order", "gdp(1)"}).code, 2);
  EXPECT_EQ(run_command({"order", "gdp(1)", "gdp(2)", "gdp(3)"}).code, 2);
  const Outcome second = run_command({"order", "gdp(1)", "gdpp(1)"});
  EXPECT_EQ(second.code, 3);
  EXPECT_THAT(second.err, HasSubstr("other: unknown source 'gdpp'"));
  const Outcome neighbours = run_command({"order", "gdp(1) | poisson(0.5)", "gdp(1) | sample(rate=0.5)"});
  EXPECT_EQ(neighbours.code, 3);
  EXPECT_THAT(neighbours.err, HasSubstr("neighbours"));
  EXPECT_THAT(run_command({"order", "--direction", "add", "gdp(1)", "gdp(1)"}).err, HasSubstr("direction"));
}

TEST(Order, TheWitnessShowsTheViolation) {
  const json answer = ask({{"plan", "laplace(scale=1)"}, {"ask", "order"}, {"other", "gdp(mu=1)"}});
  EXPECT_EQ(answer.at("verdict"), "no");
  EXPECT_LT(high(answer.at("beta")), low(answer.at("other_beta")));
  EXPECT_GT(low(answer.at("delta")), high(answer.at("other_delta")));
  EXPECT_EQ(ask({{"plan", "dp(0.5)"}, {"ask", "order"}, {"other", "dp(1)"}}), json({{"verdict", "yes"}}));
}

// [curve-algebra] max, min**, inverse and scaling by f_{0,d} of closed forms.
TEST(CombinedPlans, AnswerEveryQuestion) {
  const auto beta = [](const std::string& plan, const char* direction = "worst") {
    return ask({{"plan", plan}, {"ask", "beta"}, {"alpha", "0.05"}, {"direction", direction}});
  };
  const double gaussian = low(beta("gdp(mu=1)")), pure = low(beta("dp(epsilon=1)"));
  EXPECT_NEAR(low(beta("strongest([gdp(mu=1), dp(epsilon=1)])")), std::max(gaussian, pure), 1e-12);
  EXPECT_LE(low(beta("weakest([gdp(mu=1), dp(epsilon=1)])")), std::min(gaussian, pure) + 1e-12);
  EXPECT_NEAR(low(beta("gdp(mu=1); dp(epsilon=0, delta=0.1)")),
              0.9 * low(ask({{"plan", "gdp(mu=1)"}, {"ask", "beta"}, {"alpha", "0.05/0.9"}})), 1e-9);
  const std::string pair = "pair(p=[0.7, 0.3], q=[0.4, 0.6])";
  EXPECT_EQ(beta(pair, "remove"), beta(pair + " | invert()", "add"));
  EXPECT_NE(beta(pair, "remove"), beta(pair + " | invert()", "remove"));
  EXPECT_EQ(beta(pair), beta(pair + " | invert()"));
  const json mu = ask({{"plan", "strongest([gdp(mu=1), dp(epsilon=1)])"}, {"ask", "mu"}});
  EXPECT_LE(low(mu.at("mu")), 1);
  EXPECT_EQ(run_command({"epsilon", "--delta", "1e-5", "strongest([dp(1, 1e-5), dp(0.5, 1e-3)])", "--quiet"}).out,
            "epsilon <= 1 at delta = 1e-5\n");
  EXPECT_THAT(run_command({"beta", "--alpha", "0.1", "strongest([])"}).err, HasSubstr("source"));
  EXPECT_THAT(run_command({"beta", "--alpha", "0.1", "strongest([gdp(1) | repeat(2)])"}).err, HasSubstr("parentheses"));
}

// [renyi-conversion] Gaussian noise of mu = 1 is 1/2-zCDP; what that implies is weaker than the curve, and bounds of several runs add.
TEST(RenyiBounds, AreValidAndAdd) {
  const auto delta = [](const std::string& plan) { return ask({{"plan", plan}, {"ask", "delta"}, {"epsilon", 2}}); };
  EXPECT_GE(low(delta("zcdp(rho=0.5)")), high(delta("gdp(mu=1)")));
  EXPECT_LE(high(delta("zcdp(rho=0.5)")), high(delta("rdp([(2, 1), (3, 1.5), (4, 2)])")) + 1e-15);
  EXPECT_NEAR(high(delta("zcdp(rho=0.125) | repeat(4)")), high(delta("zcdp(rho=0.5)")), 1e-12);
  EXPECT_NEAR(high(delta("rdp([(2, 0.5), (3, 0.75)]); rdp([(2, 0.5), (3, 0.75)])")), high(delta("rdp([(2, 1), (3, 1.5)])")), 1e-12);
  EXPECT_EQ(ask({{"plan", "zcdp(rho=0.5)"}, {"ask", "renyi"}, {"order", 3}}).at("divergence"), json({{"lo", 1.5}, {"hi", 1.5}}));
  EXPECT_EQ(ask({{"plan", "rdp([(1, 1)])"}, {"ask", "delta"}, {"epsilon", 1}}).at("error").at("kind"), "domain");
  EXPECT_THAT(run_command({"calibrate", "--epsilon", "1", "--delta", "1e-6", "zcdp(rho=?)"}).out, StartsWith("rho = 0.024355"));
}

TEST(Divergences, OfALaplaceAndOfAPair) {  // [loss-moments]
  const json laplace = ask({{"plan", "laplace(scale=1)"}, {"ask", "divergences"}});
  EXPECT_NEAR(high(laplace.at("kl")), std::exp(-1), 1e-6);
  EXPECT_NEAR(high(laplace.at("total_variation")), 1 - std::exp(-0.5), 1e-12);
  EXPECT_EQ(laplace.at("lossless"), false);
  const json pair = ask({{"plan", "pair(p=[0.7, 0.3], q=[0.4, 0.6])"}, {"ask", "divergences"}, {"direction", "remove"}});
  EXPECT_NEAR(high(pair.at("chi_square")), 0.09 / 0.4 + 0.09 / 0.6, 1e-12);
  EXPECT_NEAR(high(pair.at("kl")), 0.7 * std::log(7.0 / 4) + 0.3 * std::log(0.5), 1e-12);
  const Outcome verb = run_command({"divergences", "laplace(scale=1)"});
  EXPECT_THAT(verb.out, HasSubstr("chi-square <= "));
  EXPECT_THAT(verb.out, HasSubstr("the curve cannot be computed from it"));
}

TEST(Guarantees, AListCanBeReadBack) {
  const json list = ask({{"plan", "gdp(mu=1)"}, {"ask", "guarantees"}, {"epsilon", "0.5, 1,2"}});
  EXPECT_EQ(list.at("lossless"), false);
  ASSERT_EQ(list.at("points").size(), 3U);
  EXPECT_NEAR(high(list.at("points")[1].at("delta")), 0.126936737506644, 1e-12);
  EXPECT_THAT(run_command({"guarantees", "--epsilon", "0.5,1", "gdp(mu=1)"}).out, HasSubstr("constraints([(0.5, 0.23842170"));
  EXPECT_EQ(ask({{"plan", "gdp(mu=1)"}, {"ask", "guarantees"}, {"epsilon", "1,x"}}).at("error").at("kind"), "parse");
  EXPECT_EQ(ask({{"plan", "gdp(mu=1)"}, {"ask", "guarantees"}, {"epsilon", -1}}).at("error").at("field"), "epsilon");
}

TEST(Query, AsksForRiskAndLimits) {
  EXPECT_NEAR(high(ask({{"plan", "gdp(mu=1)"}, {"ask", "naming"}, {"people", 2}})), 0.8413447460685429, 1e-9);
  EXPECT_EQ(ask({{"plan", "gdp(mu=1)"}, {"ask", "naming"}, {"people", 1.5}}).at("error").at("field"), "people");
  EXPECT_NEAR(high(ask({{"plan", "dp(epsilon=1)"}, {"ask", "odds"}, {"chance", 0.01}})), std::exp(1), 1e-9);
  EXPECT_TRUE(ask({{"plan", "gdp(mu=1)"}, {"ask", "risk"}}).contains("naming"));
  const json limit = ask({{"plan", "dp(epsilon=0.1) | repeat(100)"}, {"ask", "limit"}, {"epsilon", 1}});
  EXPECT_TRUE(limit.at("clt").contains("estimate"));
  EXPECT_TRUE(limit.at("exact").contains("hi"));
  // [berry-esseen] What reveals everything is split off.
  const json clt = ask({{"plan", "dp(epsilon=0.1, delta=1e-6) | repeat(300)"}, {"ask", "clt"}});
  EXPECT_NEAR(high(clt.at("berry_esseen").at("revealed")), 2.9995515e-4, 1e-10);
}

TEST(Verb, OrderAndDivergencesHaveHelp) {
  for (const char* verb : {"order", "divergences"}) {
    const Outcome help = run_command({verb, "--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, HasSubstr("Examples:"));
    EXPECT_THAT(help.out, HasSubstr("--json"));
  }
}

}  // namespace
}  // namespace tradeoff::detail::test
