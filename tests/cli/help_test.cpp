// SPDX-License-Identifier: Apache-2.0
// Help texts, the synonyms that people type, and the messages for typical mistakes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "names_of_verbs.h"
#include "report/label.h"
#include "run_command.h"

namespace tradeoff::detail::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Lines that take more than 80 columns. All help is ASCII, so that a byte is a column.
std::vector<std::string> long_lines(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.size() > 80) found.push_back(line);
  }
  return found;
}

TEST(Help, ListsVerbsInFiveGroups) {
  const std::string text = run_command({"--help"}).out;
  std::size_t last = 0;
  for (const char* title : {"Ask about a plan:\n  epsilon ", "Calibrate and train:\n  calibrate ", "Publish:\n  report ",
                            "Theory:\n  compare ", "Tools:\n  tour "}) {
    const std::size_t at = text.find(title);
    ASSERT_NE(at, std::string::npos) << title;
    EXPECT_GT(at, last);
    last = at;
  }
  EXPECT_GE(names_of_verbs().size(), 37u);
}

TEST(Help, HasNoLineOverEightyColumns) {
  EXPECT_THAT(long_lines(run_command({"--help"}).out), testing::IsEmpty());
  for (const std::string& verb : names_of_verbs()) {
    const Outcome help = run_command({verb, "--help"});
    EXPECT_EQ(help.code, 0) << verb;
    EXPECT_THAT(help.out, HasSubstr("Examples:\n  ")) << verb;
    EXPECT_THAT(long_lines(help.out), testing::IsEmpty()) << verb;
  }
}

TEST(Help, IsAVerb) {
  EXPECT_EQ(run_command({"help"}).out, run_command({"--help"}).out);
  EXPECT_EQ(run_command({"help", "mu"}).out, run_command({"mu", "--help"}).out);
  EXPECT_EQ(run_command({"-h"}).out, run_command({"--help"}).out);
  const Outcome unknown = run_command({"help", "epsilom"});
  EXPECT_EQ(unknown.code, 3);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean 'epsilon'?"));
}

TEST(Help, ShowsChoicesDefaultsAndAliases) {
  const std::string text = run_command({"epsilon", "--help"}).out;
  EXPECT_THAT(text, HasSubstr("--neighbours add-remove|replace-one|zero-out\n"));
  EXPECT_THAT(text, HasSubstr("also --neighbors"));
  EXPECT_THAT(text, HasSubstr("(default:"));
  EXPECT_THAT(text, Not(HasSubstr(":{")));
}

TEST(Synonyms, AreAcceptedOptions) {
  EXPECT_THAT(run_command({"advantage", "gdp(mu=1)", "--neighbors", "add-remove"}).out, HasSubstr("add-remove neighbours"));
  const std::vector<std::string> rest = {
      "--noise-multiplier", "1.1", "--examples", "60000", "--steps", "14063", "--delta", "1e-5", "--json", "--quiet"};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "sgd");
    words.insert(words.end(), rest.begin(), rest.end());
    return run_command(words);
  };
  const Outcome by_batch = with({"--batch", "240"});
  EXPECT_EQ(by_batch.code, 0) << by_batch.err;
  EXPECT_THAT(by_batch.out, HasSubstr("poisson(rate=240/60000) | repeat(14063)"));
  EXPECT_EQ(with({"--batch-size", "240"}).out, by_batch.out);
  EXPECT_EQ(with({"--sample-rate", "0.004"}).out, by_batch.out);
  EXPECT_EQ(with({"--sample-rate", "240/60000"}).out, by_batch.out);
}

TEST(Synonyms, OfTheBatchAreNotGivenTogether) {
  const std::vector<std::string> words = {"sgd", "--noise-multiplier", "4", "--examples", "1000", "--steps", "3", "--delta", "1e-5"};
  const auto complaint = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = words;
    all.insert(all.end(), more.begin(), more.end());
    const Outcome run = run_command(all);
    EXPECT_EQ(run.code, 3);
    return run.err;
  };
  EXPECT_THAT(complaint({}), HasSubstr("state either --batch M or --sample-rate Q"));
  EXPECT_THAT(complaint({"--batch", "10", "--sample-rate", "0.01"}), HasSubstr("state either --batch M or --sample-rate Q"));
  EXPECT_THAT(complaint({"--sample-rate", "0.0105", "--sampling", "fixed"}),
              HasSubstr("a whole number of the 1000 examples for fixed batches"));
  EXPECT_THAT(complaint({"--sample-rate", "2"}), HasSubstr("sample_rate = 2 is not allowed"));
}

struct Mistake {
  std::vector<std::string> arguments;
  int code;
  std::string said;
  std::string not_said = "did you mean";
};
void PrintTo(const Mistake& mistake, std::ostream* out) { *out << testing::PrintToString(mistake.arguments); }

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, GetAUsefulAnswer) {
  const Outcome run = run_command(GetParam().arguments);
  EXPECT_EQ(run.code, GetParam().code) << run.out;
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr(GetParam().said));
  EXPECT_THAT(run.err, Not(HasSubstr(GetParam().not_said)));
}

INSTANTIATE_TEST_SUITE_P(
    OfUsage, Mistakes,
    testing::Values(
        Mistake{{"eps", "--delta", "1e-5", "gdp(1)"}, 2, "unknown verb 'eps'; did you mean 'epsilon'?", "tpr"},
        Mistake{{"frobnicate"}, 2, "unknown verb 'frobnicate'; see tradeoff --help"},
        Mistake{{"risk", "--delta", "1e-5", "gdp(1)"}, 2, "risk has no option --delta; see tradeoff risk --help"},
        Mistake{{"epsilon", "--dleta", "1e-5", "gdp(1)"}, 2, "did you mean '--delta'?", "help"},
        Mistake{{"beta", "-a", "0.1", "gdp(1)"}, 2, "beta has no option -a; did you mean '--alpha'?", "required"},
        Mistake{{"epsilon", "-d", "1e-5", "gdp(1)"}, 2, "epsilon has no option -d; did you mean '--delta'?", "required"},
        Mistake{{"--delta", "1e-5", "epsilon", "gdp(1)"}, 2, "a verb comes first, then its options", "required"},
        Mistake{{"epsilon", "--delta", "1e-5"}, 2, "plan is required, for example: tradeoff epsilon --delta 1e-5 'gaussian(sigma=2)'"},
        Mistake{{"epsilon", "--delta", "1e-5", "gdp(1)", "gdp(2)"}, 2, "unexpected argument 'gdp(2)'"},
        Mistake{{"epsilon", "--delta", "1e-5", "--neighbours", "swap", "gdp(1)"},
                2,
                "--neighbours: 'swap' is not one of add-remove, replace-one",
                "{"}));
INSTANTIATE_TEST_SUITE_P(OfNumbers, Mistakes,
                         testing::Values(Mistake{{"epsilon", "--delta", "0.001%", "gdp(1)"}, 3, "is not a decimal number; write 1e-5\n"},
                                         Mistake{{"epsilon", "--delta", "10^-5", "gdp(1)"}, 3, "write 0.00001 or 1e-5"},
                                         Mistake{{"epsilon", "--delta", "1,5e-5", "gdp(1)"}, 3, "write 0.00001 or 1e-5"}));
INSTANTIATE_TEST_SUITE_P(
    OfPlans, Mistakes,
    testing::Values(Mistake{{"epsilon", "--delta", "1e-5", "normal(1)"}, 3, "did you mean 'gaussian'?", "rdp'?"},
                    Mistake{{"epsilon", "--delta", "1e-5", "gaussian(noise_multiplier=2)"}, 3, "did you mean 'sigma'?", "'sensitivity'?"},
                    Mistake{{"epsilon", "--delta", "1e-5", "gaussian(1) | repeat(14,063)"}, 3, "without thousands separators"},
                    Mistake{{"epsilon", "--delta", "1e-5", ""},
                            3,
                            "tradeoff: plan: the plan is empty; write a source, for example gaussian(sigma=2)\n",
                            "^"},
                    Mistake{{"epsilon", "--delta", "1e-5", " \n"},
                            3,
                            "tradeoff: plan: the plan is empty; write a source, for example gaussian(sigma=2)\n",
                            "^"}));

TEST(Theorems, ShowTheStatementInEightyColumns) {
  const Outcome page = run_command({"theorems", "group-privacy"});
  EXPECT_THAT(page.out, testing::HasSubstr("\nStatement:\n\nIf a mechanism has the symmetric guarantee f"));
  EXPECT_THAT(page.out, testing::HasSubstr("\n* a finite law gives a finite law"));
  EXPECT_THAT(page.out, testing::HasSubstr("\nAssumptions:\n"));
  for (const std::string id : {"group-privacy", "break-point-expansion", "noisy-max-reduction", "gaussian-profile"}) {
    std::istringstream lines(run_command({"theorems", id}).out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(report::length_of(line), 80U) << id << ": " << line;
  }
  EXPECT_THAT(run_command({"theorems", "group-privacy", "--json"}).out, testing::HasSubstr("\"statement\""));
}

TEST(Answers, ShowNumbersThatAreNotMisread) {
  EXPECT_THAT(run_command({"epsilon", "--delta", "10e-5", "gdp(1)"}).out, testing::HasSubstr("at delta = 0.0001\n"));
  EXPECT_THAT(run_command({"epsilon", "--delta", "1e-5", "gdp(1)"}).out, testing::HasSubstr("at delta = 1e-5\n"));
  EXPECT_THAT(run_command({"epsilon", "--delta", "0", "gdp(1)"}).out, testing::HasSubstr("no finite epsilon holds; ask at a larger delta"));
  const std::string risk = run_command({"risk", "gdp(1)"}).out;
  EXPECT_THAT(risk, testing::HasSubstr("posterior <= 1 at every prior: a rare result may leave no doubt\n  posterior <= "));
  EXPECT_THAT(risk, testing::HasSubstr("at prior 0.01 (guessing: 0.99)"));
}

TEST(Sgd, TakesASampleRateAlone) {
  const auto plan_of = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"sgd", "--noise-multiplier", "1.1", "--delta", "1e-5"});
    const Outcome run = run_command(more);
    return run.code == 0 ? run.out.substr(0, run.out.find('\n')) : run.err;
  };
  EXPECT_EQ(plan_of({"--sample-rate", "0.00425531914893617", "--steps", "10"}),
            "Plan: gaussian(sigma=1.1) | poisson(rate=1/235) | repeat(10)");
  EXPECT_EQ(plan_of({"--sample-rate", "1/235", "--examples", "60000", "--epochs", "2"}),
            "Plan: gaussian(sigma=1.1) | poisson(rate=1/235) | repeat(470)");
  EXPECT_EQ(plan_of({"--sample-rate", "0.01", "--steps", "10"}), "Plan: gaussian(sigma=1.1) | poisson(rate=1/100) | repeat(10)");
  EXPECT_THAT(plan_of({"--sample-rate", "1/235", "--steps", "10", "--sampling", "fixed"}), testing::HasSubstr("examples is missing"));
  EXPECT_THAT(plan_of({"--sample-rate", "1/235", "--examples", "60000", "--steps", "10", "--sampling", "shuffled"}),
              testing::HasSubstr("a whole number of the 60000 examples"));
  EXPECT_THAT(plan_of({"--sample-rate", "2", "--steps", "10"}), testing::HasSubstr("above 0 and at most 1"));
  EXPECT_THAT(plan_of({"--batch", "256", "--steps", "10"}), testing::HasSubstr("--batch needs --examples"));
}

TEST(Calibration, HasItsProofBelowTheValue) {
  const Outcome run = run_command({"calibrate", "--epsilon", "1", "--delta", "1e-5", "gaussian(sigma=?)"});
  EXPECT_THAT(run.out, testing::MatchesRegex("sigma = [0-9.]+ meets epsilon = 1, delta = 1e-5\n    the smallest that does is between "
                                             "[0-9.]+ and [0-9.]+\n    neighbours not stated; [^\n]*\n"));
}

TEST(PlanFiles, AreNamedWithAnAt) {
  const auto file = std::filesystem::temp_directory_path() / ("tradeoff_plan_" + std::to_string(getpid()) + ".txt");
  std::ofstream(file) << "\xEF\xBB\xBFgaussian(sigma=2)\r\n";  // as Notepad saves it
  const Outcome forgotten = run_command({"epsilon", "--delta", "1e-5", file.string()});
  EXPECT_EQ(forgotten.code, 3);
  EXPECT_THAT(forgotten.err, HasSubstr("is a file; to read it, write @" + file.string()));
  const Outcome read = run_command({"epsilon", "--delta", "1e-5", "@" + file.string(), "--quiet"});
  EXPECT_EQ(read.out, run_command({"epsilon", "--delta", "1e-5", "gaussian(sigma=2)", "--quiet"}).out);
  EXPECT_EQ(run_command({"epsilon", "--delta", "1e-5", "-", "--quiet"}, {.input = "\xEF\xBB\xBFgaussian(sigma=2)"}).out, read.out);
  for (const auto& [text, complaint] : {std::pair("gausian(sigma=2)", "did you mean 'gaussian'?"), std::pair("", "plan")}) {
    std::ofstream(file) << text;
    const Outcome wrong = run_command({"epsilon", "--delta", "1e-5", "@" + file.string()});
    EXPECT_EQ(wrong.code, 3);
    EXPECT_THAT(wrong.err, HasSubstr(complaint));
    EXPECT_THAT(wrong.err, Not(HasSubstr("no such file"))) << "it was read";
  }
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace tradeoff::detail::test
