// SPDX-License-Identifier: Apache-2.0
// `tradeoff audit`: verdicts, exit codes, pictures, and what is refused without a verdict.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "run_command.h"
#include "support/xml.h"

namespace tradeoff::detail::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Audit : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(directory);
    std::mt19937_64 words(11);
    std::normal_distribution<double> noise;
    std::ofstream with(file("with")), without(file("without")), broken(file("broken")), vectors(file("vectors")), others(file("others"));
    for (std::ofstream* out : {&with, &without, &broken, &vectors, &others}) out->precision(6);
    for (int i = 0; i < 3000; ++i) {
      with << 1 + noise(words) << "\n";
      without << noise(words) << "\n";
      broken << 2 + noise(words) << "\n";
      vectors << 1 + noise(words) << ", " << noise(words) << " " << 1 + noise(words) << "\n";
      others << noise(words) << "," << noise(words) << "," << noise(words) << "\n\n";
    }
  }
  void TearDown() override { std::filesystem::remove_all(directory); }
  [[nodiscard]] std::string file(const char* name) const { return (directory / name).string(); }
  [[nodiscard]] std::string write(const char* name, const std::string& text) const {
    std::ofstream(file(name)) << text;
    return file(name);
  }
  [[nodiscard]] Outcome audit(const std::string& with, const std::string& without, std::vector<std::string> more = {},
                              const char* plan = "gaussian(sigma=1)") const {
    std::vector<std::string> words = {"audit", plan, "--with", with, "--without", without};
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  }

  std::filesystem::path directory = std::filesystem::path(testing::TempDir()) / ("tradeoff_audit_" + std::to_string(getpid()));
};

TEST_F(Audit, RefutesABrokenProgramAndNotAnHonestOne) {
  const Outcome broken = audit(file("broken"), file("without"));
  EXPECT_EQ(broken.code, 1);
  EXPECT_THAT(broken.out, HasSubstr("refuted: with confidence 0.999"));
  const Outcome honest = audit(file("with"), file("without"), {"--margin", "0.15", "--json"});
  EXPECT_EQ(honest.code, 0) << honest.out;
  const json found = json::parse(honest.out);
  EXPECT_EQ(found["verdict"], "consistent");
  EXPECT_LE(found["mu_below"].get<double>(), 1);
  EXPECT_GT(found["mu_below"].get<double>(), 0.6);
  EXPECT_TRUE(found["refutation"].is_null());
  const Outcome few = audit(file("with"), file("without"), {"--samples", "200"});
  EXPECT_EQ(few.code, 4);
  EXPECT_THAT(few.out, HasSubstr("more pairs would"));
}

TEST_F(Audit, TestsVectorsByALearnedScore) {
  const Outcome run = audit(file("vectors"), file("others"), {"--json"});
  EXPECT_EQ(run.code, 1);  // sensitivity sqrt(2) where the plan says 1
  const json found = json::parse(run.out);
  EXPECT_EQ(found["columns"], 3);
  EXPECT_NE(audit(file("vectors"), file("others"), {}, "gaussian(sigma=0.5)").code, 1);
}

TEST_F(Audit, DrawsTheClaimAndWhatWasShown) {
  const Outcome drawn = audit(file("broken"), file("without"), {"--format", "svg", "--out", file("picture.svg")});
  EXPECT_EQ(drawn.code, 1);
  EXPECT_THAT(drawn.out, HasSubstr("refuted"));
  std::ifstream in(file("picture.svg"));
  const std::string svg((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_THAT(svg, HasSubstr("<svg"));
  EXPECT_THAT(svg, HasSubstr("shown by attacks"));
  EXPECT_THAT(audit(file("broken"), file("without"), {"--format", "term"}).out, HasSubstr("claimed: gaussian(sigma=1)"));
}

TEST_F(Audit, RunsCommandsAndStopsWhenItIsSure) {
  const std::string one = "awk 'BEGIN{srand(" + std::to_string(getpid()) + "); for(;;) print rand()}'", other = "seq 2 0.001 3";
  const Outcome endless = run_command({"audit", "dp(epsilon=1)", "--with-command", one, "--without-command", other, "--json"});
  EXPECT_EQ(endless.code, 1) << endless.err;
  EXPECT_LE(json::parse(endless.out)["pairs"].get<int>(), 2000);
  const Outcome again =
      run_command({"audit", "dp(epsilon=1)", "--with-command", "echo 1", "--without-command", "echo 0", "--samples", "150"});
  EXPECT_EQ(again.code, 1) << again.err;  // one output a run
}

TEST_F(Audit, GivesNoVerdictIfACommandFailsOrHangs) {
  const auto run = [&](const std::string& command) {
    return run_command(
        {"audit", "gdp(1)", "--with-command", command, "--without-command", "seq 1 500", "--samples", "400", "--seconds", "1"});
  };
  for (const auto& [command, what] : std::vector<std::pair<std::string, std::string>>{{"seq 1 300; exit 3", "exit code 3"},
                                                                                      {"seq 1 300; sleep 100", "1 seconds"},
                                                                                      {"sleep 100", "1 seconds"},
                                                                                      {"true", "without printing a row"},
                                                                                      {"echo nan", "'nan'"},
                                                                                      {"kill -9 $$", "signal 9"},
                                                                                      {"no-such-program-here", "exit code 127"}}) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.code, 3) << command;
    EXPECT_THAT(outcome.err, HasSubstr(what)) << command;
    EXPECT_EQ(outcome.out, "") << command;
  }
}

TEST_F(Audit, RefusesBadFiles) {
  std::string good;
  for (int i = 0; i < 200; ++i) good += std::to_string(i % 7) + "\n";
  const std::string fine = write("fine", good);
  for (const auto& [text, what] : std::vector<std::pair<std::string, std::string>>{{good + "nan\n", "line 201: 'nan'"},
                                                                                   {good + "1,2\n", "201 rows"},
                                                                                   {good.substr(2) + "1,2\n", "row 200"},
                                                                                   {good.substr(2) + "1,\n", "line 200"},
                                                                                   {good.substr(2) + "one\n", "'one'"},
                                                                                   {good.substr(2) + "inf\n", "'inf'"},
                                                                                   {"1\n2\n", "2 rows"},
                                                                                   {"", "0 rows"}}) {
    const bool same_length = what.find("line 201") == std::string::npos;
    const std::string other = same_length ? fine : write("longer", good + "1\n");
    const Outcome outcome = audit(write("bad", text), other);
    EXPECT_EQ(outcome.code, 3) << text.substr(0, 20);
    EXPECT_THAT(outcome.err, HasSubstr(what));
    EXPECT_EQ(outcome.out, "");
  }
  std::string constant;
  for (int i = 0; i < 200; ++i) constant += "5\n";
  EXPECT_THAT(audit(write("c1", constant), write("c2", constant)).err, HasSubstr("all outputs of both are the same"));
  EXPECT_EQ(audit(file("none"), fine).code, 3);
  EXPECT_EQ(audit(directory.string(), fine).code, 3);
  EXPECT_THAT(run_command({"audit", "gdp(1)", "--with", fine}).err, HasSubstr("--without FILE"));
  EXPECT_THAT(audit(fine, fine, {"--samples", "1000"}).err, HasSubstr("200 rows"));
  EXPECT_THAT(audit(fine, fine, {"--confidence", "1"}).err, HasSubstr("confidence"));
  EXPECT_EQ(audit(fine, fine, {"--out", file("x")}).code, 3);
}

TEST_F(Audit, AuditsOneRun) {
  EXPECT_EQ(run_command({"audit", "dp(epsilon=1, delta=1e-5)", "--guesses", "812,1000,1000"}).code, 1);
  EXPECT_EQ(run_command({"audit", "dp(epsilon=1, delta=1e-5)", "--guesses", "731,1000,1000"}).code, 4);
  std::string canaries;
  for (int i = 0; i < 1000; ++i) canaries += std::to_string(i % 2 + 0.001 * (i % 11)) + "," + std::to_string(i % 2) + "\n";
  const Outcome run = run_command({"audit", "gaussian(sigma=2)", "--canaries", write("canaries", canaries), "--json"});
  EXPECT_EQ(run.code, 1) << run.err;
  EXPECT_GT(json::parse(run.out)["epsilon_below"]["epsilon"].get<double>(), 3);
  for (const char* bad : {"1,2", "a,b,c", "5,4,10", "1,2,3,4", "-1,2,3", "1,0,0"})
    EXPECT_EQ(run_command({"audit", "gdp(1)", "--guesses", bad}).code, 3) << bad;
  EXPECT_EQ(run_command({"audit", "gdp(1)", "--canaries", write("few", "1,0\n2,1\n")}).code, 3);
  EXPECT_EQ(run_command({"audit", "gdp(1)", "--canaries", write("wide", "1,0,3\n")}).code, 3);
  EXPECT_EQ(run_command({"audit", "gdp(1)", "--canaries", write("coin", "1,0.5\n")}).code, 3);
}

TEST_F(Audit, TheBandIsPartOfAStatement) {
  const char* plan = "gaussian(sigma=1)";
  const std::string good = write("good.json", audit(file("with"), file("without"), {"--json"}).out);
  const std::string bad = write("bad.json", audit(file("broken"), file("without"), {"--json"}).out);
  const Outcome page = run_command({"report", plan, "--audit", good, "--format", "html"});
  ASSERT_EQ(page.code, 0) << page.err;
  EXPECT_THAT(page.out, HasSubstr("Audit of the program"));
  EXPECT_THAT(page.out, HasSubstr("Attacks seen in the audit, and the claim"));
  EXPECT_THAT(page.out, HasSubstr("3000 pairs of outputs, confidence 0.999"));
  EXPECT_THAT(page.out, testing::Not(HasSubstr("refuted this plan")));
  const Outcome text = run_command({"report", plan, "--audit", bad});
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("The audit refuted this plan"));
  EXPECT_THAT(text.out, HasSubstr("--audit"));  // the command that repeats the page
  const json found = json::parse(run_command({"report", plan, "--audit", bad, "--json"}).out);
  EXPECT_THAT(found.dump(), HasSubstr(R"("verdict":"refuted")"));
  EXPECT_EQ(run_command({"report", plan, "--audit", good, "--compare", "gaussian(sigma=2)"}).code, 0);
}

TEST_F(Audit, AStatementRefusesOtherAudits) {
  const std::string good = write("good.json", audit(file("with"), file("without"), {"--json"}).out);
  const auto complaint = [&](const std::string& path, const char* plan = "gaussian(sigma=1)") {
    const Outcome outcome = run_command({"report", plan, "--audit", path});
    EXPECT_EQ(outcome.code, 3) << path;
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  };
  EXPECT_THAT(complaint(good, "gaussian(sigma=2)"), HasSubstr("not about this plan"));
  EXPECT_THAT(complaint(file("none")), HasSubstr("none"));
  EXPECT_THAT(complaint(write("x.json", "{")), HasSubstr("no JSON object"));
  EXPECT_THAT(complaint(write("x.json", "{}")), HasSubstr("'verdict' is missing"));
  EXPECT_THAT(complaint(write("x.json", run_command({"audit", "gaussian(sigma=1)", "--guesses", "9,10,10", "--json"}).out)),
              HasSubstr("audit of canaries"));
  json changed = json::parse(audit(file("with"), file("without"), {"--json"}).out);
  changed["mu_below"] = -1;
  EXPECT_THAT(complaint(write("x.json", changed.dump())), HasSubstr("'mu_below'"));
  changed["mu_below"] = 0.5;
  changed["events"][0]["other_rate"]["hi"] = 2;
  EXPECT_THAT(complaint(write("x.json", changed.dump())), HasSubstr("'hi'"));
}

TEST_F(Audit, TheSameOutputsTwiceAreNoAudit) {
  const Outcome outcome = audit(file("with"), file("with"));
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("the outputs must be independent"));
  EXPECT_THAT(audit("python3 count.py", file("without")).err, HasSubstr("--with-command"));
}

TEST_F(Audit, CanariesWithEqualScoresRefuteNothing) {
  std::string rows;
  for (int i = 0; i < 1000; ++i) rows += i < 500 ? "0,1\n" : "0,0\n";
  EXPECT_EQ(run_command({"audit", "gaussian(sigma=4)", "--canaries", write("canaries", rows)}).code, 4);
}

}  // namespace
}  // namespace tradeoff::detail::test
