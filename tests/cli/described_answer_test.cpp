// SPDX-License-Identifier: Apache-2.0
// With --json an answer says what was asked, and an error is JSON as well.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "run_command.h"

namespace tradeoff::detail::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

TEST(DescribedAnswer, SaysWhatWasAsked) {
  const json found = json::parse(run_command({"epsilon", "--delta", "1e-5", "--json", "gaussian(1)|poisson(0.01)|repeat(10)"}).out);
  EXPECT_EQ(found["question"], (json{{"ask", "epsilon"}, {"delta", "1e-5"}}));
  EXPECT_EQ(found["plan"], "gaussian(sigma=1) | poisson(rate=0.01) | repeat(10)");
  EXPECT_EQ(found["neighbours"], "add-remove");
  EXPECT_EQ(found["direction"], "worst");
  EXPECT_EQ(found["safe_end"], "hi");
  EXPECT_EQ(found["version"], json::parse(run_command({"version", "--json"}).out)["version"]);
  EXPECT_TRUE(found.contains("answer") && found.contains("method") && found.contains("steps"));
}

TEST(DescribedAnswer, NamesTheSafeEndOfEachQuestion) {
  const auto safe_end = [](std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    return json::parse(run_command(arguments).out)["safe_end"];
  };
  EXPECT_EQ(safe_end({"beta", "--alpha", "0.1", "gdp(1)"}), "lo");
  EXPECT_EQ(safe_end({"delta", "--epsilon", "1", "gdp(1)"}), "hi");
  EXPECT_EQ(safe_end({"calibrate", "--epsilon", "1", "--delta", "1e-5", "gaussian(sigma=?)"}), "hi");
  EXPECT_EQ(safe_end({"calibrate", "--epsilon", "1", "--delta", "1e-5", "gdp(mu=?)"}), "lo");
}

TEST(DescribedAnswer, AnErrorIsJsonAsWell) {
  const auto error_of = [](std::vector<std::string> arguments, int code) {
    arguments.emplace_back("--json");
    const Outcome run = run_command(arguments);
    EXPECT_EQ(run.code, code) << run.out;
    EXPECT_THAT(run.err, HasSubstr("tradeoff: "));
    return json::parse(run.out)["error"];
  };
  const json parse = error_of({"epsilon", "--delta", "1e-5", "gausian(1)"}, 3);
  EXPECT_EQ(parse["kind"], "parse");
  EXPECT_EQ(parse["at"], 0);
  EXPECT_THAT(parse["message"].get<std::string>(), HasSubstr("did you mean 'gaussian'?"));
  EXPECT_EQ(error_of({"epsilon", "--delta", "1e-5", "gaussian(0)"}, 3)["kind"], "domain");
  EXPECT_EQ(error_of({"epsilon", "--delta", "2", "gaussian(1)"}, 3)["kind"], "domain");
  EXPECT_EQ(error_of({"epsilon", "--delta", "1e-5", "laplace(1) | shuffle(2)"}, 3)["kind"], "unsupported");
  EXPECT_EQ(error_of({"epsilon", "--dleta", "1e-5", "gaussian(1)"}, 2)["kind"], "usage");
  EXPECT_EQ(error_of({"epsilon", "gaussian(1)"}, 2)["kind"], "usage");
  EXPECT_EQ(error_of({"epsilon", "--delta", "1e-5", "@no such file"}, 3)["kind"], "input");
}

TEST(DescribedAnswer, ErrorsWithoutJsonAreTextAlone) {
  const Outcome run = run_command({"epsilon", "--delta", "1e-5", "gausian(1)"});
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("unknown source 'gausian'"));
}

TEST(DescribedAnswer, NoFiniteEpsilonIsSaidInWords) {
  EXPECT_THAT(run_command({"epsilon", "--delta", "0", "gaussian(1)"}).out, HasSubstr("no finite epsilon holds"));
}

}  // namespace
}  // namespace tradeoff::detail::test
