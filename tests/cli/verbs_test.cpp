// SPDX-License-Identifier: Apache-2.0
// The verbs: their output, where errors go, and the exit codes that scripts use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "run_command.h"

namespace tradeoff::detail::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

struct Case {
  std::vector<std::string> arguments;
  int code;
  std::string part;  ///< of standard output if the code is not 2 or 3, of standard error otherwise
};

void PrintTo(const Case& run, std::ostream* out) { *out << json(run.arguments).dump(-1, ' ', true, json::error_handler_t::replace); }

class Command : public testing::TestWithParam<Case> {};

TEST_P(Command, ExitsAsPromised) {
  const Outcome run = run_command(GetParam().arguments);
  EXPECT_EQ(run.code, GetParam().code) << run.out << run.err;
  const bool refused = run.code == 2 || run.code == 3;
  EXPECT_THAT(refused ? run.err : run.out, HasSubstr(GetParam().part));
  EXPECT_EQ(refused ? run.out : run.err, "");
}

INSTANTIATE_TEST_SUITE_P(
    Done, Command,
    testing::Values(
        Case{{"epsilon", "--delta", "0", "laplace(scale=2)"}, 0, "epsilon <= 0.5 at delta = 0\n    exactly 0.5\n    "},
        Case{{"epsilon", "laplace(scale=2)", "--delta=0", "--quiet"}, 0, "epsilon <= 0.5 at delta = 0\n"},
        Case{{"epsilon", "laplace(scale=10) | repeat(3)", "--delta=0"}, 0, "epsilon <= 0.3 at delta = 0\n    exactly 0.3\n"},
        Case{{"check", "--epsilon", "2.5", "--delta", "0", "laplace(scale=20) | repeat(50)"},
             0,
             "certainly within the budget: delta <= 0 at"},
        Case{{"explain", "--delta", "0", "discrete_laplace(5.15) | repeat(1410)"}, 0, "epsilon at delta = 0 exactly 28200/103, by"},
        Case{{"epsilon", "--delta", "1e-5", "dp(1, 1e-5)", "--quiet"}, 0, "epsilon <= 1 at delta = 1e-5\n"},
        Case{{"check", "--epsilon", "0.1", "--delta", "1e-5", "dp(0.1, 1e-5)", "--quiet"}, 0, "certainly within the budget\n"},
        Case{{"delta", "--epsilon", "-1", "laplace(scale=1)"}, 0, "delta <= 0.632121 at epsilon = -1\n    between 0.63212"},
        Case{{"delta", "--epsilon", "100", "gdp(mu=1)"}, 0, "delta <= 10^-2154."},
        Case{{"beta", "--alpha", "0.5", "gdp(mu=1)"}, 0, "beta >= 0.158655 at alpha = 0.5\n    between 0.15865"},
        Case{{"tpr", "--fpr", "0.5", "gdp(mu=1)"}, 0, "tpr <= 0.841345 at fpr = 0.5"},
        Case{{"advantage", "gdp(mu=1)", "--neighbours", "add-remove"}, 0, "add-remove neighbours; closed form, "},
        Case{{"posterior", "--prior", "0.5", "gdp(mu=1)"}, 0, "accuracy of the best guess <= 0.691463 at prior = 0.5"},
        Case{{"gdpt", "--epsilon", "1", "gdp(mu=1)"}, 0, "mu <= 1"},
        Case{{"calibrate", "--epsilon", "1", "--delta", "1e-5", "gaussian(sigma=?)"}, 0, "sigma = 3.73063"},
        Case{{"risk", "gdp(mu=1)"}, 0, "advantage <= 0.382925"}, Case{{"explain", "gaussian(2)"}, 0, "[gaussian-profile]"},
        Case{{"mechanisms"}, 0, "truncated_laplace(scale, bound, sensitivity=1)"}, Case{{"version"}, 0, "tradeoff "},
        Case{{"--version"}, 0, "tradeoff "}, Case{{"--help"}, 0, "calibrate"}, Case{{"epsilon", "--help"}, 0, "Examples:"},
        Case{{"pair-is-no-verb", "--help"}, 2, "unknown verb"},
        Case{{"delta", "--epsilon", "0", "pair(p=[0.75, 0.25], q=[0.5, 0.5])"}, 0, "delta <= 0.25 at epsilon = 0\n    exactly 0.25"}));
INSTANTIATE_TEST_SUITE_P(
    Check, Command,
    testing::Values(Case{{"check", "--epsilon", "1", "--delta", "0", "laplace(scale=1)"}, 0, "certainly within"},
                    Case{{"check", "--epsilon", "0.9", "--delta", "1e-3", "laplace(scale=1)"}, 1, "certainly not"},
                    // delta is exactly 1 - exp(-1/2), irrational, so no decimal of this length decides.
                    Case{{"check", "--epsilon", "0", "--delta", "0.393469340287366576396200465", "laplace(scale=1)"}, 4, "undecided"}));
INSTANTIATE_TEST_SUITE_P(BadUsage, Command,
                         testing::Values(Case{{}, 2, "Usage"}, Case{{"epsilom", "gdp(1)"}, 2, "did you mean 'epsilon'?"},
                                         Case{{"epsilon", "gdp(1)"}, 2, "--delta is required"},
                                         Case{{"epsilon", "--delta", "1e-5"}, 2, "plan"},
                                         Case{{"epsilon", "--delat", "1e-5", "gdp(1)"}, 2, "did you mean '--delta'?"},
                                         Case{{"epsilon", "--delta", "1e-5", "gdp(1)", "gdp(2)"}, 2, "gdp(2)"},
                                         Case{{"epsilon", "--delta", "1e-5", "--neighbours", "swap", "gdp(1)"}, 2, "add-remove"},
                                         Case{{"epsilon", "--delta", "1e-5", "--delta", "1e-6", "gdp(1)"}, 2, "delta"}));
INSTANTIATE_TEST_SUITE_P(
    BadInput, Command,
    testing::Values(
        Case{{"epsilon", "--delta", "2", "gdp(1)"}, 3, "tradeoff: delta = 2 is not allowed; it must be between 0 and 1\n"},
        Case{{"epsilon", "--delta", "nan", "gdp(1)"}, 3, "delta = nan is not a decimal number"},
        Case{{"epsilon", "--delta", "1e-5", "gausian(1)"}, 3, "\n  gausian(1)\n  ^\n"},
        Case{{"epsilon", "--delta", "1e-5", "gaussian(1) | repeat(2)\ngaussian(sigme=1)"}, 3, "\n  gaussian(sigme=1)\n           ^\n"},
        Case{{"epsilon", "--delta", "1e-5", "gaussian(sigma=-1)"}, 3, "gaussian: sigma = -1"},
        Case{{"check", "--epsilon", "-1", "--delta", "0", "gdp(1)"}, 3, "epsilon = -1 is not allowed"},
        Case{{"calibrate", "--epsilon", "1", "gaussian(?)"}, 3, "--epsilon needs --delta"}, Case{{"calibrate", "gaussian(?)"}, 3, "target"},
        Case{{"curve", "--points", "1", "gdp(1)"}, 3, "points"}, Case{{"curve", "--points", "1e9", "gdp(1)"}, 3, "points"},
        Case{{"epsilon", "--delta", "1e-5", "@/nonexistent"}, 3, "cannot open /nonexistent"},
        Case{{"epsilon", "--delta", "1e-5", "@/"}, 3, "is a directory"},
        Case{{"epsilon", "--delta", "1e-5", "@/dev/null"}, 3, "regular file"}, Case{{"epsilon", "--delta", "1e-5", "@"}, 3, "cannot open"},
        Case{{"epsilon", "--delta", "1e-5", ""}, 3, "empty"}));

TEST(Verb, EveryOneHasHelpWithAnExample) {
  const std::string overview = run_command({"--help"}).out;
  for (const char* verb : {"epsilon", "delta", "beta", "tpr", "advantage", "posterior", "gdpt", "calibrate", "check", "risk", "curve",
                           "explain", "query", "mechanisms", "version"}) {
    EXPECT_THAT(overview, HasSubstr(std::string("  ") + verb));
    const Outcome help = run_command({verb, "--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, HasSubstr(std::string("tradeoff ") + verb + " "));
    EXPECT_THAT(help.out, HasSubstr("Examples:"));
    EXPECT_THAT(help.out, HasSubstr("--json"));
  }
}

TEST(Verb, JsonIsTheAnswerOfQuery) {
  const json verb = json::parse(run_command({"epsilon", "--delta", "1e-5", "gaussian(sigma=2)", "--json"}).out);
  json query = json::parse(run_command({"query"}, {.input = "{\"plan\":\"gaussian(sigma=2)\",\"ask\":\"epsilon\",\"delta\":1e-5}\n"}).out);
  query.erase("id");
  for (const auto& [name, value] : query.items()) EXPECT_EQ(verb[name], value) << name;
  for (const char* name : {"check", "risk", "explain", "curve", "mechanisms", "version"}) {
    std::vector<std::string> arguments = {name, "--json"};
    if (arguments[0] == "check") arguments.insert(arguments.end(), {"--epsilon", "9", "--delta", "0.1"});
    if (arguments[0] != "mechanisms" && arguments[0] != "version") arguments.push_back("gdp(mu=1)");
    const Outcome run = run_command(arguments);
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_TRUE(json::accept(run.out)) << run.out;
  }
}

TEST(Verb, ReadsThePlanFromTextFileOrStandardInput) {
  const std::string path = testing::TempDir() + "tradeoff_plan.txt";
  std::ofstream(path) << "# two of them\nlaplace(scale=4)\n";
  const std::string from_file = run_command({"epsilon", "--delta", "0", "--quiet", "@" + path}).out;
  EXPECT_EQ(from_file, "epsilon <= 0.25 at delta = 0\n");
  EXPECT_EQ(run_command({"epsilon", "--delta", "0", "--quiet", "-"}, {.input = "laplace(scale=4)"}).out, from_file);
  EXPECT_EQ(run_command({"epsilon", "--delta", "0", "--quiet", "-"}, {.input = ""}).code, 3);
  std::filesystem::remove(path);
}

TEST(Verb, RefusesAPipeWithoutAWriterInsteadOfWaiting) {
  const std::string path = testing::TempDir() + "tradeoff_fifo";
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const Outcome run = run_command({"advantage", "@" + path}, {.patience = std::chrono::seconds(10)});
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.err, HasSubstr("not a regular file"));
  std::filesystem::remove(path);
}

TEST(Verb, ClosedOutputIsAnError) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"advantage", "gdp(1)"}, {"query"}, {"--help"}, {"curve", "gdp(1)"}}) {
    const Outcome run = run_command(arguments, {.input = "{}\n", .close_output = true});
    EXPECT_EQ(run.code, 3) << arguments[0];
    EXPECT_THAT(run.err, HasSubstr("cannot write to standard output"));
  }
}

TEST(Verb, IgnoresTheLocaleAndColourSettings) {
  const RunOptions european{.environment = {{"LC_ALL", "de_DE.UTF-8"}, {"LANG", "de_DE.UTF-8"}, {"NO_COLOR", "1"}}};
  const std::vector<std::string> arguments = {"delta", "--epsilon", "0.5", "--json", "gaussian(sigma=1.5)"};
  EXPECT_EQ(run_command(arguments, european).out, run_command(arguments).out);
  EXPECT_THAT(run_command({"advantage", "gdp(1.5)"}).out, Not(HasSubstr("\x1b")));
}

TEST(Verb, CurveIsATableThatOtherProgramsRead) {
  const Outcome csv = run_command({"curve", "--as", "profile", "--points", "3", "laplace(scale=1)"});
  EXPECT_THAT(csv.out, MatchesRegex("epsilon,delta_lo,delta_hi\n0,0\\.39346[0-9]*,0\\.39346[0-9]*\n[^\n]*\n[^\n]*\n"));
  const json table =
      json::parse(run_command({"curve", "--as", "tradeoff", "--format", "json", "--points", "5", "gdp(mu=1)"}).out)["answer"];
  ASSERT_EQ(table.size(), 5U);
  EXPECT_EQ(table[0]["alpha"], 0);
  EXPECT_EQ(table[4]["alpha"], 1);
  EXPECT_LE(table[0]["beta"]["lo"].get<double>(), 1);
  const json flat = json::parse(run_command({"curve", "--as", "gdpt", "--json", "--points", "4", "gdp(mu=1)"}).out)["answer"];
  for (const json& row : flat) {
    EXPECT_LE(row["mu"]["lo"].get<double>(), 1);
    EXPECT_GE(row["mu"]["hi"].get<double>(), 1);
  }
}

}  // namespace
}  // namespace tradeoff::detail::test
