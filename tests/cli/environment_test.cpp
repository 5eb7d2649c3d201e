// SPDX-License-Identifier: Apache-2.0
// The command line in a hostile environment: no partial file, no wrong number, a clear error. docs/faults.md lists the cases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "run_command.h"

namespace tradeoff::detail::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const std::string plan = "gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(100)";
const std::string old_text = "what was there before\n";

class Environment : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "tradeoff-environment-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] std::string path(const std::string& name) const { return directory_ + "/" + name; }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name), std::ios::binary) << text; }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) names.push_back(entry.path().filename());
    return names;
  }

  /// Runs a shell line in which $T is the command and $D the directory.
  [[nodiscard]] Outcome shell(const std::string& line, const std::string& input = {}) const {
    RunOptions options;
    options.input = input;
    options.command = "/bin/sh";
    options.environment = {{"T", tested_command()}, {"D", directory_}, {"PLAN", plan}};
    return run_command({"-c", line}, options);
  }

  static Outcome run_with(const std::string& fault, const std::vector<std::string>& arguments, const std::string& input = {}) {
    RunOptions options;
    options.input = input;
    options.environment = {{"LD_PRELOAD", TRADEOFF_FAULT_SHIM}, {"FAULT", fault}};
    return run_command(arguments, options);
  }

  /// The commands that write a file, each with the name of the file.
  struct Writer {
    std::string file;
    std::vector<std::string> arguments;
    std::string input = {};
  };
  [[nodiscard]] std::vector<Writer> writers() const {
    return {{"report.html", {"report", "--out", path("report.html"), "gdp(1)"}},
            {"curve.svg", {"curve", "--format", "svg", "--out", path("curve.svg"), "gdp(1)"}},
            {"answer.json", {"certify", "--delta", "1e-5", "--out", path("answer.json"), "gdp(1)"}},
            {"release.json", {"release", "--certificate", path("release.json"), "gaussian(sigma=2)"}, "1\n2\n"}};
  }
  /// Whether the file is complete: equal to what the same command writes without a fault.
  static bool is_whole(const std::string& name, const std::string& text) {
    if (name == "report.html") return text.ends_with("</html>\n");
    if (name == "curve.svg") return text.ends_with("</svg>\n");
    return nlohmann::json::accept(text);
  }

  [[nodiscard]] std::vector<std::string> training(const std::string& checkpoint) const {
    std::string records;
    for (int i = 0; i < 60; ++i) records += std::to_string(i % 7) + "," + std::to_string(i % 5) + "," + std::to_string(i % 2) + "\n";
    write("people.csv", records);
    return {"train",   "--data",  path("people.csv"), "--low",         "0",       "--high", "7",        "--classes", "2",
            "--noise", "2",       "--sampling",       "fixed",         "--batch", "60",     "--epochs", "24",        "--hidden",
            "0",       "--quiet", "--checkpoint",     path(checkpoint)};
  }

 private:
  std::string directory_;
};

TEST_F(Environment, AFullDiskOnStandardOutputIsAnError) {
  for (const char* line :
       {"exec $T epsilon --delta 1e-5 'gdp(1)' >/dev/full", "exec $T report 'gdp(1)' >/dev/full", "exec $T curve 'gdp(1)' >/dev/full",
        "exec $T mechanisms >/dev/full", "exec $T --help >/dev/full", "echo 1 | $T release 'gaussian(sigma=1)' >/dev/full",
        "echo '{\"plan\":\"gdp(1)\",\"ask\":\"mu\"}' | $T query >/dev/full"}) {
    const Outcome run = shell(line);
    EXPECT_EQ(run.code, 3) << line;
    EXPECT_THAT(run.err, HasSubstr("cannot write to standard output: No space left on device")) << line;
  }
}

TEST_F(Environment, NoValueIsPrintedWithoutItsCertificate) {
  for (const char* line : {"echo 1 | $T release 'gaussian(sigma=1)' 2>/dev/full", "echo 1 | $T release 'gaussian(sigma=1)' 2>&-"}) {
    const Outcome run = shell(line);
    EXPECT_EQ(run.code, 3) << line;
    EXPECT_EQ(run.out, "") << line;
  }
}

TEST_F(Environment, AFullDiskLeavesTheOldFile) {
  for (const Writer& writer : writers()) {
    for (const char* fault : {"full@1", "full@2", "sync"}) {
      write(writer.file, old_text);
      const Outcome run = run_with(fault, writer.arguments, writer.input);
      if (run.code == 0) {  // fewer writes than that
        EXPECT_STREQ(fault, "full@2");
        continue;
      }
      EXPECT_EQ(run.code, 3) << writer.file;
      EXPECT_THAT(run.err, HasSubstr("cannot write")) << writer.file;
      EXPECT_THAT(run.out, IsEmpty()) << writer.file;  // above all for a release: no noisy value without its certificate
      EXPECT_EQ(read(writer.file), old_text) << writer.file << ' ' << fault;
      EXPECT_EQ(files(), std::vector{writer.file}) << fault;
      std::filesystem::remove(path(writer.file));
    }
  }
}

TEST_F(Environment, AFileThatMayNotGrowIsAnError) {  // SIGXFSZ
  const Outcome run = shell("ulimit -f 1; exec $T report --out $D/report.html 'gdp(1)'");
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.err, HasSubstr("File too large"));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(Environment, AClosedPipeEndsTheWorkQuietly) {
  std::string lines;
  for (int i = 0; i < 20000; ++i) lines += "{\"id\":" + std::to_string(i) + ",\"plan\":\"gdp(1)\",\"ask\":\"delta\",\"epsilon\":1}\n";
  const Outcome run = shell("{ $T query; echo \"code $?\" >&2; } | head -n 1", lines);
  EXPECT_THAT(run.out, StartsWith("{\"id\":0,\"answer\":"));
  EXPECT_THAT(run.err, HasSubstr("code 3"));
  EXPECT_THAT(run.err, HasSubstr("cannot write to standard output: Broken pipe"));
}

TEST_F(Environment, ClosedStreamsAreErrorsAndNoFileTakesTheirPlace) {
  const Outcome out = shell("exec $T epsilon --delta 1e-5 'gdp(1)' >&-");
  EXPECT_EQ(out.code, 3);
  EXPECT_THAT(out.err, HasSubstr("cannot write to standard output"));
  EXPECT_EQ(shell("exec $T query <&-").code, 3);
  EXPECT_EQ(shell("exec $T epsilon --delta 1e-5 - <&-").code, 3);
  EXPECT_EQ(shell("exec $T nonsense 2>&-").code, 2);

  // The lock file of a training run would get the number of standard output.
  std::string command = "exec $T";
  for (const std::string& word : training("run.model")) command += " '" + word + "'";
  EXPECT_EQ(shell(command + " >&-").code, 3);
  EXPECT_THAT(read("run.model.lock"), IsEmpty());
  EXPECT_EQ(shell("exec $T train --resume --quiet --data $D/people.csv --low 0 --high 7 --classes 2 --checkpoint $D/run.model").code, 0);
}

TEST_F(Environment, AKilledProcessLeavesTheOldFileOrTheNewOne) {
  for (const Writer& writer : writers()) {
    for (const std::string kind : {"kill@", "torn@"}) {
      int killed = 0;
      for (int call = 1; call <= 12; ++call) {
        write(writer.file, old_text);
        const Outcome run = run_with(kind + std::to_string(call), writer.arguments, writer.input);
        const std::string found = read(writer.file);
        EXPECT_TRUE(found == old_text || is_whole(writer.file, found)) << writer.file << ", " << kind << call << ": " << found;
        if (run.code == 0) break;
        ++killed;
        EXPECT_TRUE(run.out.empty() || found != old_text) << "a value without its certificate";
      }
      EXPECT_GE(killed, kind == "kill@" ? 4 : 1) << writer.file;  // open, write, fsync, rename
    }
  }
}

TEST_F(Environment, AKilledTrainingRunCanBeResumed) {
  int killed = 0;
  for (int call = 3; call <= 40; call += 7) {
    std::filesystem::remove(path("run.model"));
    if (run_with((call % 2 == 0 ? "torn@" : "kill@") + std::to_string(call), training("run.model")).code == 0) break;
    ++killed;
    if (!std::filesystem::exists(path("run.model"))) continue;
    const Outcome resumed = run_command({"train", "--resume", "--quiet", "--data", path("people.csv"), "--low", "0", "--high", "7",
                                         "--classes", "2", "--checkpoint", path("run.model")});
    EXPECT_EQ(resumed.code, 0) << call << ": " << resumed.err;
    EXPECT_THAT(resumed.out, HasSubstr("24 of 24 steps"));
  }
  EXPECT_GE(killed, 3);
}

TEST_F(Environment, WithoutRandomnessNothingIsReleased) {
  const Outcome released = run_with("randomness", {"release", "--certificate", path("c.json"), "gaussian(sigma=2)"}, "1\n");
  EXPECT_EQ(released.code, 3);
  EXPECT_THAT(released.out, IsEmpty());
  EXPECT_THAT(released.err, HasSubstr("the operating system gives no randomness; nothing was released"));
  EXPECT_THAT(files(), IsEmpty());

  const Outcome trained = run_with("randomness", training("run.model"));
  EXPECT_EQ(trained.code, 3);
  EXPECT_THAT(trained.out, IsEmpty());
  EXPECT_THAT(trained.err, HasSubstr("no randomness"));
  EXPECT_FALSE(std::filesystem::exists(path("run.model")));
}

/// Commands whose output must not depend on the environment: numbers, texts, files.
std::vector<std::vector<std::string>> questions() {
  return {{"epsilon", "--delta", "1e-5", "--json", plan},
          {"delta", "--epsilon", "3", "--json", plan},
          {"beta", "--alpha", "0.05", "--json", "laplace(scale=1.5) | repeat(3)"},
          {"mu", "--json", "laplace(scale=0.5)"},
          {"calibrate", "--epsilon", "1", "--delta", "1e-6", "--json", "gaussian(sigma=?)"},
          {"delta", "--epsilon", "38", "--json", "gdp(1)"},
          {"compare", "--delta", "1e-5", "--json", "laplace(scale=20) | repeat(100)"},
          {"report", "--format", "json", "gaussian(sigma=1234567.5, sensitivity=1000000)"},
          {"curve", "--as", "profile", "--format", "csv", "--points", "11", "dp(1, 1e-5)"},
          {"explain", "--json", "constraints([(0.5, 0.25), (1234.5, 1e-5)]) | refine()"}};
}

/// Without the time.
std::string answer_of(const Outcome& run) { return std::to_string(run.code) + "\n" + run.out; }

TEST_F(Environment, OtherArithmeticChangesNoAnswer) {
  for (const auto& question : questions()) {
    const std::string usual = answer_of(run_command(question));
    EXPECT_THAT(usual, StartsWith("0\n"));
    EXPECT_EQ(answer_of(run_with("upward", question)), usual) << question.front();
    EXPECT_EQ(answer_of(run_with("flush", question)), usual) << question.front();
  }
}

TEST_F(Environment, InterruptedAndShortWritesLoseNothing) {
  std::string lines;
  for (int i = 0; i < 300; ++i)
    lines += "{\"id\":" + std::to_string(i) + ",\"plan\":\"gdp(1)\",\"ask\":\"delta\",\"epsilon\":" + std::to_string(i) + "}\n";
  const Outcome usual = run_command({"query"}, {.input = lines});
  for (const char* fault : {"alarms", "short"}) {
    EXPECT_EQ(answer_of(run_with(fault, {"query"}, lines)), answer_of(usual)) << fault;
    for (const Writer& writer : writers()) {
      EXPECT_EQ(run_with(fault, writer.arguments, writer.input).code, 0) << writer.file << ' ' << fault;
      EXPECT_TRUE(is_whole(writer.file, read(writer.file))) << writer.file << ' ' << fault;
    }
    EXPECT_EQ(run_with(fault, training(std::string(fault) + ".model")).code, 0) << fault;
  }
}

TEST_F(Environment, OtherLocalesChangeNoAnswer) {
  // If the locale sources are not installed, only the names are tested.
  static_cast<void>(shell("for one in de_DE ar_EG; do localedef -i $one -f UTF-8 $D/$one.UTF-8; done >/dev/null 2>&1"));
  for (const auto& question : questions()) {
    const std::string usual = answer_of(run_command(question));
    for (const char* name : {"de_DE.UTF-8", "ar_EG.UTF-8"}) {
      RunOptions options;
      options.environment = {{"LC_ALL", name}, {"LANG", name}, {"LOCPATH", path("")}};
      EXPECT_EQ(answer_of(run_command(question, options)), usual) << question.front() << ' ' << name;
    }
  }
}

TEST_F(Environment, SignalsLeaveNoPartialFile) {
  for (const char* name : {"INT", "TERM", "HUP", "QUIT"}) {
    for (const char* delay : {"0.01", "0.03", "0.1"}) {
      write("report.html", old_text);
      // In its own process group, so that only the program receives the signal.
      const Outcome run = shell(std::string("timeout --signal=") + name + " " + delay +
                                " $T report --out $D/report.html \"$PLAN\" --compare 'laplace(scale=20) | repeat(100)'");
      const std::string found = read("report.html");
      EXPECT_TRUE(found == old_text || is_whole("report.html", found)) << name << ' ' << delay;
      EXPECT_THAT(run.code, AnyOf(0, 124, 128 + SIGINT, 128 + SIGTERM, 128 + SIGHUP, 128 + SIGQUIT)) << name;
    }
  }
}

}  // namespace
}  // namespace tradeoff::detail::test
