// SPDX-License-Identifier: Apache-2.0
// The risk as text and as JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "run_command.h"

namespace tradeoff::detail::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// The words of a text, with one blank between two of them: where lines break is not the point.
std::string words_of(const std::string& text) {
  std::istringstream words(text);
  std::string all;
  for (std::string word; words >> word;) all += (all.empty() ? "" : " ") + word;
  return all;
}

TEST(VerbRisk, PrintsPlainSentences) {
  const Outcome run = run_command({"risk", "gaussian(sigma=1)"});
  EXPECT_EQ(run.code, 0) << run.err;
  // The safe ends, rounded up: 1.8298, 69.146, 142.579, 0.99998.
  EXPECT_THAT(words_of(run.out), HasSubstr("wrongly accuses 1 person in 1000 finds at most 1.83 % of those who took part"));
  EXPECT_THAT(words_of(run.out), HasSubstr("the best guess about it is right at most 69.2 % of the time"));
  EXPECT_THAT(words_of(run.out), HasSubstr("an attacker picks you with probability at most 1.83 % (guessing: 0.1 %)"));
  EXPECT_THAT(words_of(run.out), HasSubstr("multiplies the odds that you took part by more than 143."));
  EXPECT_THAT(words_of(run.out), HasSubstr("telling one draw of N(0, 1) from one of N(1, 1)"));
  EXPECT_THAT(words_of(run_command({"risk", "dp(epsilon=1, delta=1e-4)"}).out), HasSubstr("an output may reveal whether you took part"));
}

TEST(VerbRisk, CoversBothDirections) {
  // In direction add the alternative is that the record is absent: the rate is then not a share of participants.
  const char* plan = "gaussian(sigma=0.5) | poisson(rate=0.1)";
  EXPECT_THAT(words_of(run_command({"risk", plan}).out), HasSubstr("finds at most 1.47 % of those who took part"));
  for (const char* direction : {"add", "remove"}) {
    for (const std::vector<std::string>& verb :
         std::vector<std::vector<std::string>>{{"risk"}, {"posterior", "--prior", "0.1"}, {"check", "--epsilon", "9", "--delta", "0.5"}}) {
      std::vector<std::string> arguments = verb;
      arguments.insert(arguments.end(), {"--direction", direction, plan});
      const Outcome run = run_command(arguments);
      EXPECT_EQ(run.code, 3) << verb[0];
      EXPECT_EQ(run.out, "") << verb[0];
      EXPECT_THAT(run.err, HasSubstr("direction = " + std::string(direction) + " is not allowed; it must be worst")) << verb[0];
    }
  }
}

TEST(VerbGuarantees, ListsConstraintsOnlyWhereTheyHoldInBothDirections) {
  const char* plan = "gaussian(sigma=0.5) | poisson(rate=0.1)";
  EXPECT_THAT(run_command({"guarantees", "--epsilon", "0.5,1", plan}).out, HasSubstr("all at once: constraints(["));
  const std::string one = run_command({"guarantees", "--epsilon", "0.5,1", "--direction", "add", plan}).out;
  EXPECT_THAT(one, testing::Not(HasSubstr("constraints")));
  EXPECT_THAT(one, HasSubstr("direction add only"));
}

TEST(Remarks, StateTheDirection) {
  for (const std::vector<std::string>& verb : std::vector<std::vector<std::string>>{
           {"delta", "--epsilon", "1"}, {"epsilon", "--delta", "1e-5"}, {"beta", "--alpha", "0.1"}, {"tpr", "--fpr", "0.1"}}) {
    std::vector<std::string> arguments = verb;
    arguments.emplace_back("gaussian(sigma=0.5) | poisson(rate=0.1)");
    EXPECT_THAT(run_command(arguments).out, testing::Not(HasSubstr("direction"))) << verb[0];
    arguments.insert(arguments.end(), {"--direction", "add"});
    EXPECT_THAT(run_command(arguments).out, HasSubstr("direction add only;")) << verb[0];
  }
}

TEST(Remarks, StateTheNeighbours) {
  EXPECT_THAT(run_command({"epsilon", "--delta", "1e-5", "gaussian(sigma=1)"}).out, HasSubstr("neighbours not stated;"));
  for (const auto& [plan, neighbours] : {std::pair{"gaussian(sigma=?) | poisson(rate=0.1)", "    add-remove neighbours;"},
                                         {"gaussian(sigma=?) | sample(rate=0.1)", "    replace-one neighbours;"},
                                         {"gaussian(sigma=?)", "    neighbours not stated;"}})
    EXPECT_THAT(run_command({"calibrate", "--epsilon", "1", "--delta", "1e-5", plan}).out, HasSubstr(neighbours)) << plan;
}

TEST(VerbRisk, EveryNumberIsAnInterval) {
  const json answer = json::parse(run_command({"risk", "--json", "gaussian(sigma=1)"}).out).at("answer");
  ASSERT_EQ(answer.at("naming").size(), 3u);
  EXPECT_EQ(answer.at("naming").at(1).at("people"), 1000);
  EXPECT_LE(answer.at("naming").at(1).at("chance").at("lo").get<double>(), 0.018298468405656598);
  EXPECT_GE(answer.at("naming").at(1).at("chance").at("hi").get<double>(), 0.018298468405656598);
  ASSERT_EQ(answer.at("odds").size(), 2u);
  EXPECT_EQ(answer.at("odds").at(1).at("except"), 1e-5);
  EXPECT_NEAR(answer.at("odds").at(1).at("factor").at("hi").get<double>(), 142.5794039447, 1e-6);
  EXPECT_EQ(answer.at("gaussian").at("slack"), 1e-5);
  EXPECT_LE(answer.at("gaussian").at("mu").at("hi").get<double>(), 1);
}

}  // namespace
}  // namespace tradeoff::detail::test
