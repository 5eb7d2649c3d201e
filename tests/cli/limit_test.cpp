// SPDX-License-Identifier: Apache-2.0
// Moments and limit theorems in JSON and as text. [central-limit] [berry-esseen] [loss-moments]
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "run_command.h"

namespace tradeoff::detail::test {
namespace {

using nlohmann::json;

json ask(const std::string& name, const std::string& plan) {
  const Outcome run = run_command({"query"}, {.input = R"({"id":1,"ask":")" + name + R"(","plan":")" + plan + "\"}\n"});
  EXPECT_EQ(run.code, 0) << run.err;
  return json::parse(run.out);
}

void expect_inside(const json& interval, double value) {
  EXPECT_LE(interval.at("lo").get<double>(), value);
  EXPECT_GE(interval.at("hi").get<double>(), value);
}

TEST(AskMoments, HasTheMembersOfTheContract) {
  const json answer = ask("moments", "dp(epsilon=0.5)").at("answer");
  expect_inside(answer.at("kl"), 0.5 * 0.24491866240370913);
  expect_inside(answer.at("kappa2"), 0.25);
  expect_inside(answer.at("kappa3"), 0.125);
  EXPECT_TRUE(answer.at("kappa3bar").contains("hi"));
  EXPECT_TRUE(answer.at("chi2plus").contains("lo"));
  EXPECT_EQ(ask("moments", "dp(1, 1e-6)").at("answer").at("kl").at("hi"), "inf");
}

TEST(AskClt, GivesAnEstimateAndABound) {
  const json answer = ask("clt", "gaussian(1) | sample(rate=0.01) | repeat(1000)").at("answer");
  EXPECT_NEAR(answer.at("mu").at("estimate").get<double>(), 0.540794534628016, 1e-12);
  EXPECT_FALSE(answer.at("mu").contains("hi"));
  expect_inside(answer.at("berry_esseen").at("mu"), 0.528878705359476);
  expect_inside(answer.at("berry_esseen").at("gamma"), 0.0888711826769909);
  const json stated = ask("clt", "dp(0.1, 1e-6) | repeat(100)").at("answer");
  EXPECT_NEAR(stated.at("mu").at("estimate").get<double>(), 1, 1e-12);
  EXPECT_NEAR(stated.at("berry_esseen").at("revealed").at("hi").get<double>(), 9.9995050161697e-5, 1e-15);
}

TEST(VerbLimit, SaysWhenTheLimitUnderReports) {
  const std::string plan = "gaussian(sigma=1) | poisson(rate=0.01) | repeat(1000)";
  const Outcome text = run_command({"limit", "--delta", "1e-5", plan});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, ::testing::HasSubstr("UNDER-REPORTS by 0.211 (11.5 %)"));
  EXPECT_THAT(text.out, ::testing::HasSubstr("below its floor"));
  const json answer = json::parse(run_command({"limit", "--delta", "1e-5", "--json", plan}).out).at("answer");
  EXPECT_EQ(answer.at("clt_verdict"), "under_reports");
  EXPECT_NEAR(answer.at("clt").at("estimate").get<double>(), 1.61771, 1e-5);
  EXPECT_EQ(answer.at("berry_esseen").at("hi"), "inf");
  expect_inside(answer.at("exact"), 1.82823666651657684);
  const json delta = json::parse(run_command({"limit", "--epsilon", "1", "--json", "dp(0.1) | repeat(100)"}).out).at("answer");
  EXPECT_GE(delta.at("berry_esseen").at("hi").get<double>(), delta.at("exact").at("lo").get<double>());
}

TEST(VerbLimit, TableOfTrainingSettings) {
  const json rows = json::parse(run_command({"limit", "table", "--json"}).out).at("answer");
  ASSERT_EQ(rows.size(), 10u);
  // sigma, q, T, delta as in the rows; exact remove, exact add, Poisson limit, exact samples (0: not computed), limit of Corollary 4.
  const double expected[10][5] = {{1.82824, 1.41666, 1.61771, 2.19891, 2.17581}, {2.69787, 1.87842, 2.21391, 3.09925, 2.94660},
                                  {4.53411, 3.79955, 4.23029, 5.89637, 5.99375}, {3.20875, 3.08953, 3.16442, 3.78424, 3.81435},
                                  {2.64820, 2.51466, 2.59327, 2.83210, 2.86567}, {7.04660, 3.98916, 6.00708, 0, 8.25700},
                                  {5.12310, 3.53984, 4.16479, 6.27012, 6.06715}, {0.864540, 0.801446, 0.834512, 1.06703, 1.06856},
                                  {2.38169, 2.24365, 2.32436, 3.06863, 3.08683}, {5.63968, 4.29442, 5.06619, 7.20834, 7.35461}};
  for (std::size_t i = 0; i < 10; ++i) {
    const json& row = rows.at(i);
    EXPECT_NEAR(row.at("remove").at("hi").get<double>(), expected[i][0], 1e-5) << i;
    EXPECT_NEAR(row.at("add").at("hi").get<double>(), expected[i][1], 1e-5) << i;
    EXPECT_NEAR(row.at("poisson_clt").at("estimate").get<double>(), expected[i][2], 1e-5) << i;
    if (expected[i][3] != 0) {
      EXPECT_NEAR(row.at("uniform").at("hi").get<double>(), expected[i][3], 1e-5) << i;
    }
    EXPECT_NEAR(row.at("uniform_clt").at("estimate").get<double>(), expected[i][4], 1e-5) << i;
    // Every Poisson limit is below the exact value.
    EXPECT_LT(row.at("poisson_clt").at("estimate").get<double>(), row.at("remove").at("lo").get<double>()) << i;
  }
  const Outcome text = run_command({"limit", "table"});
  EXPECT_THAT(text.out, ::testing::HasSubstr("1.61771 <"));
}

TEST(VerbLimit, RefusesBadUse) {
  EXPECT_EQ(run_command({"limit", "gdp(1)"}).code, 3);
  EXPECT_EQ(run_command({"limit", "--delta", "2", "gdp(1)"}).code, 3);
  EXPECT_EQ(run_command({"limit", "--delta", "1e-5", "--epsilon", "1", "gdp(1)"}).code, 3);
}

TEST(AskRenyi, DivergenceConversionAndZcdp) {  // [renyi-curve] [renyi-conversion]
  const auto answer = [](const json& more, const std::string& plan = "gaussian(sigma=2) | repeat(4)") {
    json request = {{"ask", "renyi"}, {"plan", plan}};
    request.update(more);
    return json::parse(run_command({"query"}, {.input = request.dump() + "\n"}).out);
  };
  const json at = answer({{"order", "1.1"}}).at("answer");
  expect_inside(at.at("divergence"), 1.1 * 4 * 0.125);
  expect_inside(at.at("zcdp"), 0.5);
  const json converted = answer({{"delta", "1e-5"}}).at("answer");
  EXPECT_NEAR(converted.at("epsilon").at("hi").get<double>(), 4.7285, 2e-3);
  EXPECT_GT(converted.at("order").get<double>(), 1);
  EXPECT_EQ(answer(json::object()).at("error").at("kind"), "parse");
  EXPECT_EQ(answer({{"order", 1}}).at("error").at("kind"), "domain");
  EXPECT_EQ(answer({{"order", 2}, {"delta", 0.1}}).at("error").at("kind"), "domain");
  const json stated = answer({{"order", 2}}, "dp(1, 1e-6)").at("answer");
  EXPECT_EQ(stated.at("divergence").at("lo"), "inf");
  EXPECT_TRUE(stated.at("zcdp").is_null());
}

}  // namespace
}  // namespace tradeoff::detail::test
