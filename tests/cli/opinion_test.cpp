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
           {R"json({"what was run": "gdp(1)", "claimed": {"tightness": 1}})json", "mu (and slack), advantage"},
           {R"json({"what was run": "gdp(1)", "neighbors": "x", "claimed": {"epsilon": 1, "delta": 0.1}})json", "'neighbors'"},
           {R"json({"what was run": "gaus(1)", "claimed": {"epsilon": 1, "delta": 0.1}})json", "gaus"}}) {
    const Outcome outcome = opinion(text);
    EXPECT_EQ(outcome.code, 3) << text;
    EXPECT_THAT(outcome.err, HasSubstr(what)) << text;
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_EQ(run_command({"opinion", (directory / "none").string()}).code, 3);
  EXPECT_EQ(run_command({"opinion", (directory / "none.yaml").string()}).code, 3);
  EXPECT_EQ(run_command({"opinion"}).code, 2);
}

/// A Python that has the package, as far as this program can see: it tells what it was asked.
TEST_F(OpinionOnAClaim, OtherFormsAreAskedOfPython) {
  std::filesystem::create_directories(directory / "bin");
  const std::filesystem::path python = directory / "bin" / "python3";
  const char* const path = std::getenv("PATH");
  const std::string before = path == nullptr ? "" : path;
  const auto with = [&](const std::string& script, const std::string& text, const char* name) {
    std::ofstream(python) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(python, std::filesystem::perms::owner_all);
    setenv("PATH", ((directory / "bin").string() + ":" + before).c_str(), 1);
    const Outcome outcome = opinion(text, name);
    setenv("PATH", before.c_str(), 1);
    return outcome;
  };
  const std::string event = R"json({"what was run": {"class_name": "GaussianDpEvent"}, "claimed": {"epsilon": 1, "delta": 0.1}})json";
  const Outcome missing = with("exit 1\n", event, "claim.json");
  EXPECT_EQ(missing.code, 3);
  EXPECT_THAT(missing.err, HasSubstr("`pip install .`"));
  for (const auto& [text, name] :
       std::vector<std::pair<std::string, const char*>>{{event, "claim.json"},
                                                        {"what was run: gdp(1)\n", "claim.yaml"},
                                                        {"---\nprivacy:\n  what was run: gdp(1)\n---\n", "card.md"},
                                                        {R"json({"what was run": "gdp(1)", "claimed": {"mu": 1}})json", "claim.json"}}) {
    const Outcome asked = with("[ \"$1\" = -c ] && exit 0\necho \"$@\"\nexit 4\n", text, name);
    EXPECT_EQ(asked.code, 4) << name;
    EXPECT_THAT(asked.out, HasSubstr("-m tradeoff opinion " + (directory / name).string()));
  }
  EXPECT_EQ(with("[ \"$1\" = -c ] && exit 0\nexit 99\n", event, "claim.json").code, 3);  // no verdict
}

}  // namespace
}  // namespace tradeoff::detail::test
