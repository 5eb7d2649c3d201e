// SPDX-License-Identifier: Apache-2.0
// `tradeoff opinion`: verdicts on stated claims, exit codes, and files that are no claims.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "run_command.h"

namespace tradeoff::detail::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class OpinionOnAClaim : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(directory); }
  void TearDown() override { std::filesystem::remove_all(directory); }
  [[nodiscard]] Outcome opinion(const std::string& text, const char* name = "claim.json", std::vector<std::string> more = {}) const {
    std::ofstream(directory / name) << text;
    more.insert(more.begin(), {"opinion", (directory / name).string()});
    return run_command(more);
  }
  std::filesystem::path directory = std::filesystem::path(testing::TempDir()) / ("tradeoff_opinion_" + std::to_string(getpid()));
};

const char* training(const char* epsilon) {
  static std::string text;
  text = R"json({"what was run": "gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)", "claimed": {"epsilon": )json" +
         std::string(epsilon) + R"json(, "delta": 1e-5}})json";
  return text.c_str();
}

TEST_F(OpinionOnAClaim, HoldsOrFailsWithItsExitCode) {
  const Outcome good = opinion(training("2.39"));
  EXPECT_EQ(good.code, 0);
  EXPECT_THAT(good.out, HasSubstr("holds: the claim epsilon = 2.39 at delta = 1e-05"));
  EXPECT_THAT(good.out, HasSubstr("if the loader shuffles instead: epsilon <= "));
  EXPECT_THAT(good.out, HasSubstr("gaussian(sigma=1.1) | repeat(61)"));  // 14063 batches of 256 are a little more than 60 passes
  const Outcome bad = opinion(training("\"2.38\""), "claim.json", {"--json"});
  EXPECT_EQ(bad.code, 1);
  const json found = json::parse(bad.out);
  EXPECT_EQ(found["verdict"], "fails");
  EXPECT_NEAR(found["certified"]["epsilon"]["lo"].get<double>(), 2.38168972614, 1e-9);
  EXPECT_EQ(found["neighbours"], "add-remove");
}

TEST_F(OpinionOnAClaim, IsReadFromAModelCard) {
  const std::string block = std::string("# A model\n\n```json\n") + training("3") + "\n```\n";
  EXPECT_EQ(opinion(block + "```sh\nls\n```\n", "card.md").code, 0);
  EXPECT_EQ(opinion(block + block, "card.md").code, 3);
  EXPECT_EQ(opinion("# A model\n", "card.md").code, 3);
}

TEST_F(OpinionOnAClaim, RefusesWhatIsNoClaim) {
  for (const auto& [text, what] : std::vector<std::pair<std::string, std::string>>{
           {"", "not JSON"},
           {"[1]", "object"},
           {R"json({"claimed": {"epsilon": 1, "delta": 0}})json", "what was run"},
           {R"json({"what was run": "gdp(1)"})json", "epsilon and a delta"},
           {R"json({"what was run": "gdp(1)", "claimed": {"epsilon": 1}})json", "epsilon and a delta"},
           {R"json({"what was run": "gdp(1)", "claimed": {"epsilon": 1, "delta": 2}})json", "between 0 and 1"},
           {R"json({"what was run": "gdp(1)", "claimed": {"epsilon": -1, "delta": 0.1}})json", "at least 0"},
           {R"json({"what was run": "gdp(1)", "claimed": {"epsilon": true, "delta": 0.1}})json", "must be a number"},
           {R"json({"what was run": "gdp(1)", "claimed": {"rho": 1}})json", "'rho'"},
           {R"json({"what was run": {"class_name": "GaussianDpEvent"}, "claimed": {"epsilon": 1, "delta": 0.1}})json",
            "python -m tradeoff"},
           {R"json({"what was run": "gdp(1)", "neighbors": "x", "claimed": {"epsilon": 1, "delta": 0.1}})json", "'neighbors'"},
           {R"json({"what was run": "gaus(1)", "claimed": {"epsilon": 1, "delta": 0.1}})json", "gaus"}}) {
    const Outcome outcome = opinion(text);
    EXPECT_EQ(outcome.code, 3) << text;
    EXPECT_THAT(outcome.err, HasSubstr(what)) << text;
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_EQ(run_command({"opinion", (directory / "none").string()}).code, 3);
  EXPECT_EQ(run_command({"opinion"}).code, 2);
}

}  // namespace
}  // namespace tradeoff::detail::test
