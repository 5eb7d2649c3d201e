// SPDX-License-Identifier: Apache-2.0
// `compare` as text and as JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "run_command.h"

namespace tradeoff::detail::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json ask(const std::string& plan, const std::string& more) {
  const Outcome run = run_command({"query"}, {.input = R"({"id":1,"ask":"compare","plan":")" + plan + "\"" + more + "}\n"});
  EXPECT_EQ(run.code, 0) << run.err;
  return json::parse(run.out);
}

TEST(AskCompare, GivesEveryMethodAnIntervalAnEstimateOrARefusal) {
  const json answer = ask("dp(0.2) | repeat(50)", R"(,"delta":1e-4)").at("answer");
  EXPECT_NEAR(answer.at("exact").at("hi").get<double>(), 5.5641, 1e-4);
  EXPECT_NEAR(answer.at("basic").at("hi").get<double>(), 9.9999, 1e-4);
  EXPECT_THAT(answer.at("analytic_gaussian").at("refused").get<std::string>(), HasSubstr("Gaussian"));
  EXPECT_EQ(answer.at("best").at("method"), "exact");
  EXPECT_EQ(answer.at("best").at("epsilon"), answer.at("exact"));
}

TEST(AskCompare, TakesMethodsAndPeople) {
  const json answer = ask("gaussian(20)", R"(,"delta":1e-5,"method":"exact, gaussian_classical","people":1000)").at("answer");
  EXPECT_FALSE(answer.contains("basic"));
  EXPECT_GT(answer.at("gaussian_classical").at("lo").get<double>(), answer.at("exact").at("hi").get<double>());
  EXPECT_NEAR(answer.at("name_and_shame").at("hi").get<double>(), 0.00995, 1e-5);
}

TEST(AskCompare, RefusesWhatItCannotUnderstand) {
  EXPECT_THAT(ask("gdp(1)", R"(,"delta":0.1,"method":"bazic")").at("error").at("message").get<std::string>(), HasSubstr("'basic'"));
  EXPECT_EQ(ask("gdp(1)", R"(,"delta":2)").at("error").at("field"), "delta");
  EXPECT_EQ(ask("gdp(1)", R"(,"delta":0.1,"people":0.5)").at("error").at("field"), "people");
  EXPECT_EQ(ask("gdp(1)", R"(,"delta":0.1,"direction":"add")").at("error").at("field"), "direction");
}

TEST(VerbCompare, PrintsTheTableOfThePaper) {
  const Outcome run = run_command({"compare", "--delta", "0.1,0.01,0.001,0.0001", "dp(epsilon=0.2) | repeat(50)"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("exact               2.1147    3.63135   4.73114   5.56406"));
  EXPECT_THAT(run.out, HasSubstr("basic               9.89464   9.98995   9.999     9.9999"));
  EXPECT_THAT(run.out, HasSubstr("advanced            5.24889   6.50596   7.47055   8.28374"));
  EXPECT_THAT(run.out, HasSubstr("rdp                 12.1395   17.1678   21.0261   24.2789"));
  EXPECT_THAT(run.out, HasSubstr("gdp                 3.10497   5.05915   6.46865   7.62062"));
  EXPECT_THAT(run.out, HasSubstr("gdp_summary         2.13654   3.72861   4.87081   5.80197"));
  EXPECT_THAT(run.out, HasSubstr("epsilon <= 5.56406 at delta = 0.0001"));
  EXPECT_THAT(run.out, HasSubstr("by exact"));
  EXPECT_THAT(run.out, testing::Not(HasSubstr("refused:\n")));
  EXPECT_THAT(run.out, HasSubstr("methods do not cover this plan; --all says why\n"));
}

TEST(VerbCompare, SaysWhyAMethodIsMissingOnlyIfAsked) {
  const std::vector<std::string> ask = {"compare", "--delta", "1e-5", "dp(epsilon=0.2) | repeat(50)"};
  const auto with = [&](const char* more) {
    std::vector<std::string> all = ask;
    all.emplace_back(more);
    return run_command(all).out;
  };
  EXPECT_THAT(with("--all"), HasSubstr("refused:\n"));
  EXPECT_THAT(with("--all"), HasSubstr("covers only Gaussian noise without sampling"));
  EXPECT_THAT(with("--quiet"), testing::MatchesRegex("epsilon <= [0-9.]+ at delta = 1e-5\n"));
}

TEST(VerbCompare, ListsTheBoundsFromTheSmallestToTheLargest) {
  const std::string out = run_command({"compare", "--delta", "0.0001", "--method", "rdp,basic,exact", "dp(epsilon=0.2) | repeat(50)"}).out;
  const std::size_t exact = out.find("  exact "), basic = out.find("  basic "), rdp = out.find("  rdp ");
  ASSERT_NE(rdp, std::string::npos) << out;
  EXPECT_LT(exact, basic) << out;
  EXPECT_LT(basic, rdp) << out;
}

TEST(VerbCompare, WritesJsonAColumnEach) {
  const Outcome run = run_command({"compare", "--json", "--delta", "0.1, 1e-5", "--method", "exact", "gdp(1)"});
  const json answer = json::parse(run.out).at("answer");
  ASSERT_EQ(answer.size(), 2u);
  EXPECT_EQ(answer.at(1).at("delta"), "1e-5");
  EXPECT_GT(answer.at(1).at("epsilon").at("exact").at("lo").get<double>(), answer.at(0).at("epsilon").at("exact").at("hi").get<double>());
}

TEST(VerbCompare, NamesTheFieldAtFault) {
  const Outcome run = run_command({"compare", "--delta", "0.1,,0.2", "gdp(1)"});
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.err, HasSubstr("delta"));
}

}  // namespace
}  // namespace tradeoff::detail::test
