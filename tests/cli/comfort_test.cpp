// SPDX-License-Identifier: Apache-2.0
// Theorems to browse, completion, the manual page, the progress line, wrapped errors and --quiet.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "names_of_verbs.h"
#include "run_command.h"
#include "tradeoff/version.h"

namespace tradeoff::detail::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

TEST(Theorems, AreThePagesOfTheTheory) {
  std::map<std::string, std::string> titles;
  for (const auto& page : std::filesystem::directory_iterator(TRADEOFF_GOLDEN_DIR "/../../docs/theory")) {
    std::string first;
    std::getline(std::ifstream(page.path()) >> std::ws, first);
    if (page.path().extension() == ".md" && page.path().stem() != "README") titles[page.path().stem()] = first.substr(2);
  }
  std::map<std::string, std::string> told;
  for (const json& theorem : json::parse(run_command({"theorems", "--json"}).out)) {
    told[theorem.at("id")] = theorem.at("title");
    EXPECT_NE(theorem.at("source"), "") << theorem.at("id");
  }
  EXPECT_EQ(told, titles);
}

TEST(Theorems, CanBeLookedFor) {
  EXPECT_THAT(run_command({"theorems", "gaussian-profile"}).out, HasSubstr("Source: Dong, Roth and Su"));
  EXPECT_THAT(run_command({"theorems", "subsampling"}).out, Not(HasSubstr("gaussian-profile")));
  // By a statement of a source, also inside a list of statements.
  EXPECT_THAT(run_command({"theorems", "Theorem 3"}).out, HasSubstr("group-privacy"));
  EXPECT_THAT(run_command({"theorems", "theorem 3"}).out, HasSubstr("Cadir, Najib and Shkel, Theorems 2 and 3"));
  EXPECT_THAT(run_command({"theorems", "Theorem 3"}).out, Not(HasSubstr("tail-model")));  // Theorems 3.2 and 3.3
  EXPECT_THAT(run_command({"theorems", "Dong, Roth and Su", "Theorem 3"}).out, testing::StartsWith("group-privacy"));
  EXPECT_THAT(run_command({"theorems", "Theorem 1"}).out, Not(HasSubstr("central-limit")));  // Theorem 11
  EXPECT_THAT(run_command({"theorems", "Theorem 11"}).out, testing::StartsWith("central-limit"));
  const Outcome unknown = run_command({"theorems", "gausian-profile"});
  EXPECT_EQ(unknown.code, 3);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean 'gaussian-profile'?"));
}

TEST(Completion, ListsEveryVerb) {
  const std::vector<std::string> names = names_of_verbs();
  ASSERT_GE(names.size(), 20u);
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Outcome run = run_command({"completion", shell});
    EXPECT_EQ(run.code, 0) << run.err;
    for (const std::string& name : names) EXPECT_THAT(run.out, HasSubstr(name)) << shell;
    EXPECT_THAT(run.out, HasSubstr("add-remove replace-one")) << shell;
    EXPECT_THAT(run.out, HasSubstr("gaussian-profile")) << shell;  // a theorem
    EXPECT_THAT(run.out, HasSubstr("fdp-training")) << shell;      // a figure
  }
  EXPECT_THAT(run_command({"completion", "zhs"}).err, HasSubstr("did you mean 'zsh'?"));
  EXPECT_EQ(run_command({"completion"}).code, 3);
}

TEST(Completion, WorksInBash) {
  const std::string script = "source <('" + tested_command() + "' completion bash)\n" +
                             "COMP_WORDS=(tradeoff curve --format s); COMP_CWORD=3; _tradeoff; echo \"${COMPREPLY[*]}\"\n"
                             "COMP_WORDS=(tradeoff rep); COMP_CWORD=1; _tradeoff; echo \"${COMPREPLY[*]}\"\n"
                             "COMP_WORDS=(tradeoff report --comp); COMP_CWORD=2; _tradeoff; echo \"${COMPREPLY[*]}\"\n";
  const auto file = std::filesystem::temp_directory_path() / ("tradeoff_completion_" + std::to_string(getpid()));
  std::ofstream(file) << script;
  FILE* pipe = popen(("bash " + file.string()).c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string out;
  for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) out += static_cast<char>(c);
  pclose(pipe);
  std::filesystem::remove(file);
  EXPECT_EQ(out, "svg\nreport\n--compare\n");
}

TEST(Man, ShowsEveryVerbAndItsExamples) {
  const std::string page = run_command({"man"}).out;
  EXPECT_THAT(page, testing::StartsWith(".TH TRADEOFF 1 "));
  for (const std::string& name : names_of_verbs()) EXPECT_THAT(page, HasSubstr(".SS \"tradeoff " + name));
  EXPECT_THAT(page, HasSubstr("tradeoff epsilon \\-\\-delta 1e\\-5 \\(aqgaussian(sigma=2)\\(aq"));
  EXPECT_THAT(page, HasSubstr("\\fBrandomized_response(epsilon, choices=2)\\fR"));
}

/// Runs a query whose input stays open for a while, with a terminal or a pipe as standard error; returns what was written there.
std::string error_of_slow_query(bool expected, bool terminal, const char* kind, std::vector<const char*> more = {}) {
  int in[2], err[2] = {-1, -1}, out = open("/dev/null", O_WRONLY);
  if (pipe(in) != 0) return "no pipe";
  if (terminal) {
    err[0] = posix_openpt(O_RDWR | O_NOCTTY);
    if (grantpt(err[0]) != 0 || unlockpt(err[0]) != 0) return "no terminal";
    err[1] = open(ptsname(err[0]), O_RDWR | O_NOCTTY);
  } else if (pipe(err) != 0) {
    return "no pipe";
  }
  const pid_t child = fork();
  if (child == 0) {
    dup2(in[0], STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    close(in[1]);
    setenv("TERM", kind, 1);
    std::vector<char*> words = {const_cast<char*>(TRADEOFF_COMMAND), const_cast<char*>("query")};
    for (const char* word : more) words.push_back(const_cast<char*>(word));
    words.push_back(nullptr);
    execv(TRADEOFF_COMMAND, words.data());
    _exit(127);
  }
  close(in[0]);
  close(err[1]);
  close(out);
  // If a line is expected, a busy machine gets enough time; if none is, we wait longer than the line would.
  const auto patience = std::chrono::milliseconds(expected ? 30000 : 1600);
  const auto deadline = std::chrono::steady_clock::now() + patience;
  std::string text;
  while (text.find("working") == std::string::npos && std::chrono::steady_clock::now() < deadline) {
    pollfd watched = {err[0], POLLIN, 0};
    if (poll(&watched, 1, 50) > 0 && !detail::drain(err[0], text)) break;
  }
  close(in[1]);
  while (detail::drain(err[0], text)) {
  }
  close(err[0]);
  waitpid(child, nullptr, 0);
  return text;
}

TEST(Progress, IsShownOnATerminalOnly) {
  const std::string shown = error_of_slow_query(true, true, "xterm");
  EXPECT_THAT(shown, HasSubstr("working, "));
  EXPECT_THAT(shown, testing::EndsWith("\r\x1b[K"));  // removed again
  EXPECT_EQ(error_of_slow_query(false, false, "xterm"), "");
  EXPECT_EQ(error_of_slow_query(false, true, "dumb"), "");
  EXPECT_EQ(error_of_slow_query(false, true, "xterm", {"--quiet"}), "");
}

TEST(Errors, WrapTheListOfKnownSources) {
  const std::string shown = run_command({"epsilon", "--delta", "1e-5", "gausian(1)"}).err;
  EXPECT_THAT(shown, HasSubstr("did you mean 'gaussian'? Known:\n    gaussian, laplace,"));
  std::istringstream lines(shown);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST(Quiet, LeavesOnlyTheBoundOfTheTour) { EXPECT_EQ(run_command({"tour", "--quiet"}).out, "epsilon <= 2.38169 at delta = 1e-5\n"); }

TEST(Quiet, LeavesOnlyTheBoundOfATrainingRun) {
  const std::vector<std::string> run = {"sgd", "--batch", "256", "--examples", "60000", "--epochs", "60", "--delta", "1e-5", "--quiet"};
  const auto with = [&](const char* option, const char* value) {
    std::vector<std::string> all = run;
    all.insert(all.end(), {option, value});
    return run_command(all).out;
  };
  EXPECT_EQ(with("--noise-multiplier", "1.1"), "epsilon <= 2.38169 at delta = 1e-5\n");
  EXPECT_THAT(with("--epsilon", "2.5"),
              testing::MatchesRegex("noise multiplier = 1\\.0[0-9]*\nepsilon <= 2\\.[45][0-9]* at delta = 1e-5\n"));
}

TEST(Paper, TheSentenceSaysEverythingThatMatters) {
  const Outcome run = run_command({"sgd", "--noise-multiplier", "1.1", "--batch", "256", "--examples", "60000", "--epochs", "60", "--delta",
                                   "1e-5", "--json", "--quiet"});
  EXPECT_EQ(
      json::parse(run.out)["sentence"].get<std::string>(),
      "We train with DP-SGD for T = 14063 steps on Poisson-sampled batches (rate q = 256/60000), with noise multiplier σ = 1.1 relative "
      "to the clipping norm. The run is (ε, δ)-differentially private with ε = 2.38169 and δ = 1e-5 for one example under add-remove "
      "neighbours, a certified bound of tradeoff " TRADEOFF_VERSION
      " for the plan `gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)`.");
  const auto sentence = [](std::vector<std::string> more) {
    std::vector<std::string> all = {
        "sgd", "--noise-multiplier", "2", "--batch", "10", "--examples", "100", "--epochs", "2", "--delta", "1e-5", "--json", "--quiet"};
    all.insert(all.end(), more.begin(), more.end());
    return json::parse(run_command(all).out)["sentence"].get<std::string>();
  };
  EXPECT_THAT(sentence({"--sampling", "fixed"}), HasSubstr("batches of 10 of the 100 examples, each a fresh sample without replacement"));
  EXPECT_THAT(sentence({"--sampling", "fixed"}), HasSubstr("under replace-one neighbours"));
  EXPECT_THAT(sentence({"--sampling", "shuffled"}), HasSubstr("shuffled before each epoch"));
  EXPECT_THAT(sentence({"--sampling", "allocated"}), HasSubstr("joins one random step of each epoch"));
  EXPECT_THAT(sentence({"--sampling", "cyclic", "--groups", "2"}), HasSubstr("from one of 2 groups in turn"));
  EXPECT_THAT(sentence({"--per-user", "3"}), HasSubstr("for one user, who owns at most 3 examples"));
}

TEST(Quiet, LeavesOnlyTheTheoremsOfExplain) {
  const std::string shown = run_command({"explain", "--quiet", "gaussian(2)"}).out;
  EXPECT_THAT(shown, HasSubstr("[gaussian-profile]"));
  EXPECT_THAT(shown, Not(HasSubstr("neighbours")));
  EXPECT_THAT(shown, Not(HasSubstr("evaluations of the profile")));
}

}  // namespace
}  // namespace tradeoff::detail::test
