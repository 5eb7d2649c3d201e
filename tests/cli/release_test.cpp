// SPDX-License-Identifier: Apache-2.0
// `tradeoff release`: rows in, noisy rows on the grid out, and a certificate whose numbers are the accountant's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "noise/digest.h"
#include "run_command.h"

namespace tradeoff::detail::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

Outcome release(std::vector<std::string> arguments, const std::string& input) {
  arguments.insert(arguments.begin(), "release");
  return run_command(arguments, {.input = input});
}

double number(const json& text) { return std::stod(text.get<std::string>()); }

TEST(Release, PrintsRowsAndACertificate) {
  const Outcome run = release({"discrete_laplace(scale=2)"}, "1000\n");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NEAR(std::stod(run.out), 1000, 200);
  const json certificate = json::parse(run.err);
  EXPECT_EQ(certificate["drawn"][0]["law"], "discrete laplace");
  EXPECT_EQ(certificate["drawn"][0]["norm"], "l1");
  EXPECT_EQ(certificate["released"], noise::sha256(run.out));
}

TEST(Release, CertifiesWhatTheAccountantSays) {
  const Outcome run = release({"gaussian(sigma=3)", "--inputs", "grid", "--json"}, "1,2\n3,4\n5,6\n7,8\n");
  ASSERT_EQ(run.code, 0) << run.err;
  const json all = json::parse(run.out);
  EXPECT_EQ(all["rows"].size(), 4U);
  EXPECT_EQ(all["rows"][0].size(), 2U);
  const Outcome asked = run_command({"epsilon", "--delta", "1e-5", "gaussian(sigma=3) | repeat(4)", "--json"}, {});
  const json expected = json::parse(asked.out)["answer"], found = all["certificate"]["guarantees"][1]["answer"];
  EXPECT_EQ(number(found["lo"]), expected["lo"]);
  EXPECT_EQ(number(found["hi"]), expected["hi"]);
  for (const auto& row : all["rows"])
    for (const auto& value : row) EXPECT_EQ(std::fmod(value.get<double>() * 0x1p19, 1), 0) << value;
}

TEST(Release, FindsTheNoiseForATarget) {
  const Outcome run = release({"gaussian(sigma=?)", "--epsilon", "1", "--delta", "1e-5", "--json"}, "1\n2\n");
  ASSERT_EQ(run.code, 0) << run.err;
  const json epsilon = json::parse(run.out)["certificate"]["guarantees"][1]["answer"];
  EXPECT_LE(number(epsilon["hi"]), 1 + 1e-12);
  EXPECT_GE(number(epsilon["lo"]), 0.999);
}

TEST(Release, MeetsEveryStatedTarget) {
  const auto unmet = [](std::vector<std::string> arguments) {
    const Outcome run = release(arguments, "1\n");
    EXPECT_EQ(run.code, 1) << arguments.back();
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, testing::AllOf(HasSubstr("the target"), HasSubstr("not met"), HasSubstr("nothing was released")));
  };
  unmet({"--epsilon", "0.1", "--delta", "1e-9", "--quiet", "gaussian(sigma=0.01)"});
  unmet({"--mu", "2", "--epsilon", "0.1", "--delta", "1e-5", "gaussian(sigma=1)"});
  unmet({"--advantage", "0.3", "gaussian(sigma=1)"});
  unmet({"--fpr", "0.01", "--tpr", "0.05", "gaussian(sigma=1)"});
  EXPECT_EQ(release({"--mu", "2", "--epsilon", "9", "--delta", "1e-5", "gaussian(sigma=1)"}, "1\n").code, 0);
  const Outcome half = release({"--epsilon", "1", "gaussian(sigma=100)"}, "1\n");
  EXPECT_EQ(half.code, 3);
  EXPECT_THAT(half.err, HasSubstr("--epsilon needs --delta"));
  const Outcome both = release({"--mu", "1", "--epsilon", "0.1", "--delta", "1e-5", "--json", "gaussian(sigma=?)"}, "1\n");
  ASSERT_EQ(both.code, 0) << both.err;
  const json drawn = json::parse(both.out);
  for (const json& one : drawn["certificate"]["guarantees"])
    EXPECT_TRUE(one["question"]["ask"] != "mu" || number(one["answer"]["hi"]) <= 0.04);
}

TEST(Release, ReleasesMeansAsASumAndACount) {
  std::string ages;
  for (int i = 0; i < 1000; ++i) ages += std::to_string(i % 100) + "\n";
  const Outcome run = release({"--records", "mean", "--low", "0", "--high", "100", "--neighbours", "add-remove", "--json",
                               "laplace(scale=10, sensitivity=100); discrete_laplace(scale=1)"},
                              ages);
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NEAR(json::parse(run.out)["mean"].get<double>(), 49.5, 3);
}

TEST(Release, KeepsTheLabelsOfRows) {
  const Outcome run = release({"discrete_laplace(scale=2)", "--labels", "--header", "--rows", "disjoint"},
                              "region,count\nNorth,1000\n\"South, \"\"inner\"\"\",2000\n\n 7 ,3000\n");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, testing::MatchesRegex("region,count\nNorth,[0-9]+\n\"South, \"\"inner\"\"\",[0-9]+\n7,[0-9]+\n"));
  EXPECT_EQ(json::parse(run.err)["released"], noise::sha256(run.out)) << "the labels are part of what is certified";
  const json all = json::parse(release({"gaussian(sigma=2)", "--labels", "--json"}, "a,1,2\nb,3,4\n").out);
  EXPECT_EQ(all["labels"], json::parse(R"(["a", "b"])"));
  EXPECT_EQ(all["rows"][1].size(), 2U);
  for (const char* input : {"1000\n", "a;1\n", "a,1\nb,x\n", "region,count\na,1\n", "a,1\nregion,count\n", "\"a,1\n", "a\x01,1\n"}) {
    const Outcome refused = release({"discrete_laplace(scale=2)", "--labels"}, input);
    EXPECT_EQ(refused.code, 3) << input;
    EXPECT_EQ(refused.out, "") << input;
    EXPECT_THAT(refused.err, HasSubstr("values, line ")) << input;
  }
  // What may be a value is never printed as a header.
  for (const char* input : {"North,12O3\nSouth,877\n", "North,\"1203\"\nSouth,877\n", "North,1203\nSouth,877\n"}) {
    const Outcome refused = release({"discrete_laplace(scale=2)", "--labels", "--header"}, input);
    EXPECT_EQ(refused.code, 3) << input;
    EXPECT_EQ(refused.out, "") << input;
  }
  EXPECT_EQ(release({"discrete_laplace(scale=2)", "--labels", "--records", "sum", "--low", "0", "--high", "9"}, "a,1\n").code, 3);
}

TEST(Release, RefusesWhatIsUnsafe) {
  const auto refuses = [](std::vector<std::string> arguments, const std::string& input, const std::string& why) {
    const Outcome run = release(std::move(arguments), input);
    EXPECT_EQ(run.code, 3) << input;
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, HasSubstr(why));
  };
  refuses({"laplace(1)"}, "nan\n", "not a finite decimal");
  refuses({"laplace(1)"}, "inf\n", "not a finite decimal");
  refuses({"laplace(1)"}, "1\n2,3\n", "line 2");
  refuses({"laplace(1)"}, "", "no values");
  refuses({"laplace(1)", "--low", "0", "--high", "1"}, "2\n", "out of the declared bounds");
  refuses({"laplace(1)", "--grid", "0.3"}, "2\n", "power of two");
  refuses({"laplace(1) | repeat(2)"}, "1\n2\n3\n", "2 runs");
  refuses({"gdp(1)"}, "1\n", "nothing can be drawn");
  refuses({"gaussian(sigma=?)"}, "1\n", "?");
  refuses({"discrete_laplace(1)"}, "1.5\n", "not on the grid");
  refuses({"laplace(1)"}, "1;2\n", "separated by commas");
  refuses({"laplace(1)", "--clip"}, "1\n", "--clip needs --low and --high");
  refuses({"laplace(1)"}, "1e400\n", "too large for the grid");
  refuses({"laplace(1)"}, "\x1b[31mred\x07\n", "'?[31mred?' is not a finite decimal");
  refuses({"laplace(1) | repeat(2) | rectify(1, 0, 10)"}, "1\n2\n", "write rectify before repeat");
  refuses(
      {"--records", "mean", "--low", "0", "--high", "1", "--neighbours", "add-remove", "gaussian(1) | repeat(0); gaussian(9) | repeat(2)"},
      "1\n", "times = 0 is not allowed");
  refuses({"--records", "sum", "--low", "0", "--high", "1", "gaussian(1) | group(3) | poisson(1/100)"}, "1\n", "write group after poisson");
  refuses({"--rows", "disjoint", "gaussian(1); gaussian(1000)"}, "1\n2\n3\n", "2 runs");
  // Every record is checked, whether it is sampled or not.
  refuses({"--records", "sum", "--low", "0", "--high", "1", "gaussian(1) | poisson(1/1000)"}, "1\n1\n5\n", "out of the declared bounds");
}

TEST(Release, ClipsWhateverLiesOutside) {
  const auto clipped = [](const char* plan, const char* high, const char* value, double expected) {
    const Outcome run = release({plan, "--low", "0", "--high", high, "--clip", "--quiet"}, std::string(value) + "\n");
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_NEAR(std::stod(run.out), expected, 0.1) << value;
  };
  clipped("laplace(0.001)", "1", "2", 1);
  clipped("laplace(0.001)", "1", "1e400", 1);
  clipped("laplace(0.001)", "1", "-1e400", 0);
  clipped("laplace(0.001)", "1", "1e-400", 0);
  clipped("discrete_laplace(0.02)", "10.5", "11", 10);  // the bound is not on the grid
  clipped("discrete_laplace(0.02)", "10.5", "1e400", 10);
  const Outcome off = release({"gaussian(0.001)", "--low", "0", "--high", "1", "--clip", "--quiet", "--inputs", "grid"}, "1.3\n");
  ASSERT_EQ(off.code, 0) << off.err;
  EXPECT_NEAR(std::stod(off.out), 1, 0.1);
}

TEST(Release, OfNarrowTruncatedNoiseTerminates) {
  const Outcome run = release({"truncated_discrete_laplace(scale=1e12, bound=1)", "--quiet"}, "1\n");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, testing::AnyOf("0\n", "1\n", "2\n"));
}

}  // namespace
}  // namespace tradeoff::detail::test
