// SPDX-License-Identifier: Apache-2.0
// Private training from the command line: certificates, targets, checkpoints, interruption, and what is refused.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>

#include "run_command.h"
#include "support/xml.h"

namespace tradeoff::detail::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Train : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(directory);
    std::ofstream out(data);
    for (int i = 0; i < 2000; ++i) {  // the label is whether the first value is above the middle
      const int a = i * 37 % 101, b = i * 53 % 97;
      out << a << "," << b << "," << (a > 50 ? 1 : 0) << "\n";
    }
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  /// A run on the table.
  [[nodiscard]] Outcome train(std::vector<std::string> more) const {
    std::vector<std::string> arguments = {"train", "--data", data, "--low", "0", "--high", "100", "--classes", "2"};
    const bool poisson =
        std::find(more.begin(), more.end(), "fixed") == more.end() && std::find(more.begin(), more.end(), "--resume") == more.end();
    if (poisson && std::find(more.begin(), more.end(), "--public-size") == more.end()) more.insert(more.begin(), {"--public-size", "2000"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_command(arguments);
  }
  [[nodiscard]] std::string file(const char* name) const { return (directory / name).string(); }

  std::filesystem::path directory = std::filesystem::path(testing::TempDir()) / ("tradeoff_train_" + std::to_string(getpid()));
  std::string data = (directory / "people.csv").string();
};

double upper(const json& interval) {
  const json& end = interval["hi"];
  return end.is_string() ? std::stod(end.get<std::string>()) : end.get<double>();
}

TEST_F(Train, TheCertificateIsTheAccountantsAnswer) {
  const Outcome run = train({"--noise", "2", "--sampling", "fixed", "--batch", "100", "--epochs", "10", "--hidden", "0", "--holdout", "200",
                             "--learning-rate", "2", "--json", "--certificate", file("certificate.json")});
  ASSERT_EQ(run.code, 0) << run.err;
  const json answer = json::parse(run.out), certificate = answer["certificate"];
  EXPECT_EQ(answer["steps"], 180);
  EXPECT_GT(answer["test"]["accuracy"], 0.8);
  EXPECT_EQ(certificate["neighbours"], "replace-one");
  EXPECT_EQ(certificate["settings"]["stated_plan"], "gaussian(sigma=2, sensitivity=2) | sample(size=100, of=1800) | repeat(180)");
  EXPECT_EQ(certificate["settings"]["records"], "1800");
  const Outcome accountant = run_command({"epsilon", "--delta", "1e-5", certificate["plan"], "--json"});
  ASSERT_EQ(accountant.code, 0) << accountant.err;
  EXPECT_NEAR(upper(certificate["guarantees"][0]["answer"]), upper(json::parse(accountant.out)["answer"]), 1e-8);
  std::ifstream kept(file("certificate.json"));
  EXPECT_EQ(json::parse(kept), certificate);
  EXPECT_TRUE(run.err.empty()) << run.err;  // no progress in a pipe
}

/// A stated noise is checked against every stated target.
TEST_F(Train, EveryStatedTargetMustBeMet) {
  const std::vector<std::string> run = {"--noise", "2", "--batch", "50", "--epochs", "0.1", "--hidden", "0", "--quiet"};
  const auto code = [&](std::vector<std::string> targets) {
    targets.insert(targets.begin(), run.begin(), run.end());
    return train(targets).code;
  };
  EXPECT_EQ(code({"--epsilon", "1", "--delta", "1e-5", "--advantage", "0.1"}), 0);
  EXPECT_EQ(code({"--epsilon", "0.1", "--delta", "1e-9"}), 1);
  EXPECT_EQ(code({"--epsilon", "1", "--delta", "1e-5,1e-20"}), 1);
  EXPECT_EQ(code({"--epsilon", "1", "--delta", "1e-5", "--advantage", "0.001"}), 1);
  EXPECT_EQ(code({"--mu", "0.01"}), 1);
}

TEST_F(Train, TargetsAreMet) {
  const Outcome run = train({"--epsilon", "1", "--delta", "1e-5", "--epochs", "5", "--batch", "50", "--hidden", "0", "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const json certificate = json::parse(run.out)["certificate"];
  EXPECT_EQ(certificate["neighbours"], "add-remove");
  EXPECT_LE(upper(certificate["guarantees"][0]["answer"]), 1);
  EXPECT_GT(upper(certificate["guarantees"][0]["answer"]), 0.999);
}

// Ctrl-C leaves a model and a certificate of both the steps done and the planned ones; the run can then be resumed to its end.
TEST_F(Train, AnInterruptedRunCanBeResumed) {
  const std::string model = file("run.model");
  // A signal before the first step ends the program with nothing released; a slow machine needs more time to get there.
  for (const char* seconds : {"2", "10", "40"}) {
    const std::string command = std::string("timeout --signal=INT ") + seconds + " " TRADEOFF_COMMAND " train --data " + data +
                                " --low 0 --high 100 --classes 2 --public-size 2000 --noise 2 --batch 20 --epochs 1000 --hidden 4000 "
                                "--delta 1e-5 --json --checkpoint " +
                                model + " > " + file("out.json");
    static_cast<void>(std::system(command.c_str()));
    if (std::filesystem::file_size(file("out.json")) > 0) break;
  }
  std::ifstream out(file("out.json"));
  const json stopped = json::parse(out);
  ASSERT_LT(stopped["steps"], stopped["planned"]) << "the machine is too fast for this test";
  EXPECT_EQ(stopped["planned"], 100000);
  EXPECT_EQ(stopped["certificate"]["settings"]["steps_done"], stopped["steps"].dump());
  EXPECT_THAT(stopped["certificate"]["planned"]["plan"].get<std::string>(), HasSubstr("repeat(100000)"));
  std::ifstream saved(model);
  EXPECT_THAT(std::string(std::istreambuf_iterator<char>(saved), {}), HasSubstr("steps_done = " + stopped["steps"].dump() + "\n"));
}

TEST_F(Train, ResumesWithoutChargingAgain) {
  const std::string model = file("run.model");
  const std::vector<std::string> terms = {"--noise",  "1.5", "--batch", "40",           "--epochs", "2",
                                          "--hidden", "3",   "--json",  "--checkpoint", model};
  ASSERT_EQ(train(terms).code, 0);
  EXPECT_EQ(train(terms).code, 3);  // the file exists
  const Outcome again = train({"--resume", "--checkpoint", model, "--json"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(json::parse(again.out)["steps"], 100);
  EXPECT_FALSE(json::parse(again.out)["certificate"].contains("planned"));
  EXPECT_FALSE(std::filesystem::exists(model + ".lock"));
  EXPECT_THAT(train({"--resume", "--checkpoint", model, "--noise", "3"}).err, HasSubstr("--noise was fixed when the run began"));
  EXPECT_THAT(train({"--resume"}).err, HasSubstr("--resume needs --checkpoint"));
  std::ofstream(model, std::ios::app) << "x";
  EXPECT_THAT(train({"--resume", "--checkpoint", model}).err, HasSubstr("damaged"));
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Held-out records must not become protected data, or the reverse, and all other data must be unchanged.
TEST_F(Train, ResumesOnTheSameDataOnly) {
  const std::string model = file("run.model");
  const auto resume = [&](const std::string& table, const char* high, const char* holdout) {
    return run_command({"train", "--data", table, "--low", "0", "--high", high, "--classes", "2", "--holdout", holdout, "--resume",
                        "--checkpoint", model, "--json"});
  };
  ASSERT_EQ(train({"--noise", "1.5", "--batch", "40", "--epochs", "1", "--hidden", "0", "--sampling", "poisson", "--public-size", "2500",
                   "--holdout", "10", "--checkpoint", model})
                .code,
            0);
  const std::string before = text_of(model);
  EXPECT_EQ(resume(data, "100", "10").code, 0);
  const std::string other = file("other.csv");
  std::ofstream(other) << text_of(data) << "1,2,0\n";
  for (const Outcome& run : {resume(data, "100", "1500"), resume(data, "99", "10"), resume(other, "100", "10")}) {
    EXPECT_EQ(run.code, 3);
    EXPECT_THAT(run.out, HasSubstr("\"error\":"));
    EXPECT_THAT(run.err, HasSubstr("the protected records are not those of the run"));
  }
  EXPECT_EQ(resume(other, "100", "11").code, 0);  // the same protected records
  EXPECT_EQ(text_of(model), before);
  EXPECT_EQ(std::filesystem::status(model + ".private").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::remove(model + ".private");
  EXPECT_THAT(resume(data, "100", "10").err, HasSubstr("--resume needs " + model + ".private"));
}

// Add-remove neighbours: no output reveals how many records there are.
TEST_F(Train, TheNumberOfRecordsIsNotRevealed) {
  const std::string table = file("few.csv"), model = file("run.model"), certificate = file("certificate.json");
  std::string lines = text_of(data);
  for (int i = 0; i < 223; ++i) lines.erase(0, lines.find('\n') + 1);  // 1777 are left
  std::ofstream(table) << lines;
  const std::vector<std::string> terms = {"train", "--data",   table, "--low",      "0",       "--high",        "100",  "--classes",
                                          "2",     "--noise",  "1.5", "--sampling", "poisson", "--public-size", "1900", "--epochs",
                                          "3",     "--hidden", "0",   "--batch",    "50",      "--holdout",     "77"};
  std::vector<std::string> kept = terms, shown = terms;
  kept.insert(kept.end(), {"--checkpoint", model, "--certificate", certificate});
  shown.emplace_back("--json");
  const Outcome first = run_command(kept), second = run_command(shown);
  ASSERT_EQ(first.code, 0) << first.err;
  ASSERT_EQ(second.code, 0) << second.err;
  for (const std::string& text : {first.out + first.err, second.out + second.err, text_of(certificate), text_of(model).substr(0, 400)})
    EXPECT_FALSE(std::regex_search(text, std::regex("(^|[^0-9.])(1700|1777)([^0-9]|$)"))) << text;
  EXPECT_EQ(text_of(model).find(text_of(model + ".private").substr(100, 64)), std::string::npos);
}

TEST_F(Train, LargeDeltasNeedConfirmation) {
  const std::vector<std::string> terms = {"--noise",  "1.5", "--batch",    "40",      "--epochs",      "3",
                                          "--hidden", "0",   "--sampling", "poisson", "--public-size", "2000"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), terms.begin(), terms.end());
    return train(more);
  };
  EXPECT_EQ(with({"--delta", "1e-5"}).err, "");
  EXPECT_THAT(with({"--delta", "0.0005"}).err, HasSubstr("warning: delta = 0.0005 is not below 1/2000"));
  const Outcome refused = with({"--delta", "1e-5,0.01"});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, HasSubstr("--delta = 0.01 must be below 0.01"));
  const Outcome allowed = with({"--delta", "0.1", "--allow-large-delta", "--json"});
  EXPECT_EQ(allowed.code, 0);
  EXPECT_THAT(json::parse(allowed.out)["warnings"][0].get<std::string>(), HasSubstr("delta = 0.1 is not below"));
  const Outcome sgd = run_command(
      {"sgd", "--noise-multiplier", "1", "--batch", "10", "--examples", "1000", "--epochs", "1", "--delta", "0.001", "--quiet"});
  EXPECT_EQ(sgd.err,
            "warning: delta = 0.001 is not below 1/1000: a mechanism that publishes one record as it is would have such a delta\n");
}

TEST_F(Train, NoFileIsUsedTwice) {
  const std::string model = file("run.model"), link = file("link.model");
  const std::vector<std::string> terms = {"--noise",  "1.5", "--batch",    "40",      "--epochs",      "3",
                                          "--hidden", "0",   "--sampling", "poisson", "--public-size", "2000"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), terms.begin(), terms.end());
    return train(more).err;
  };
  EXPECT_THAT(with({"--checkpoint", model, "--certificate", model}), HasSubstr("--checkpoint and --certificate are the same file"));
  EXPECT_THAT(with({"--checkpoint", model, "--certificate", file("../") + directory.filename().string() + "/run.model"}),
              HasSubstr("are the same file"));
  EXPECT_THAT(with({"--certificate", data}), HasSubstr("--certificate and --data are the same file"));
  EXPECT_THAT(with({"--test", data}), HasSubstr("--data and --test are the same file"));  // they would be scored
  EXPECT_THAT(with({"--certificate", file("nowhere/c.json")}), HasSubstr("there is no directory"));
  EXPECT_FALSE(std::filesystem::exists(model));
  EXPECT_EQ(with({"--checkpoint", model}), "");
  std::filesystem::create_symlink(model, link);
  const Outcome same = train({"--resume", "--checkpoint", model, "--certificate", link});
  EXPECT_THAT(same.err, HasSubstr("are the same file"));
  // The lock belongs to the file and not to its name.
  const int lock = ::open((model + ".lock").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  EXPECT_THAT(train({"--resume", "--checkpoint", link}).err, HasSubstr("another process is at work on"));
  ::close(lock);
  EXPECT_EQ(train({"--resume", "--checkpoint", link}).code, 0);
}

// A killed process may leave a partial file, and a later process may have the same id.
TEST_F(Train, LeftOverPartFilesAreIgnored) {
  const std::string command =
      "f=" + file("certificate.json") + "; touch $f.part-$$; exec " TRADEOFF_COMMAND " train --data " + data +
      " --low 0 --high 100 --classes 2 --noise 1.5 --epochs 3 --hidden 0 --batch 40 --sampling poisson --public-size "
      "2000 --certificate $f > /dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_TRUE(std::filesystem::exists(file("certificate.json")));
}

TEST_F(Train, BadOptionsAreNamed) {
  const auto complaint = [&](std::vector<std::string> more) {
    const Outcome run = train(std::move(more));
    EXPECT_EQ(run.code, 3);
    EXPECT_EQ(run.out, "");
    return run.err;
  };
  EXPECT_THAT(complaint({}), HasSubstr("state how private it should be"));
  EXPECT_THAT(complaint({"--noise", "1", "--slack", "1e-5"}), HasSubstr("--slack needs --mu"));
  EXPECT_THAT(complaint({"--noise", "1", "--epsilon", "3"}), HasSubstr("--epsilon needs --delta"));
  EXPECT_THAT(complaint({"--noise", "zero"}), HasSubstr("--noise = zero is not a number"));
  EXPECT_THAT(complaint({"--noise", "0"}), HasSubstr("--noise = 0 is not allowed; it must be between 0.001 and 1000000"));
  EXPECT_THAT(complaint({"--noise", "1", "--clip", "-1"}), HasSubstr("--clip must be between"));
  EXPECT_THAT(complaint({"--noise", "1", "--batch", "3000"}),
              HasSubstr("--batch must be a whole number between 1 and the number of records, 2000"));
  EXPECT_THAT(complaint({"--noise", "1", "--batch", "2.5"}), HasSubstr("--batch = 2.5 must be a whole number"));
  EXPECT_THAT(complaint({"--noise", "1", "--epochs", "0"}), HasSubstr("--epochs must be above 0"));
  EXPECT_THAT(complaint({"--noise", "1", "--holdout", "2000"}), HasSubstr("--holdout = 2000 must be below the number of records"));
  EXPECT_THAT(complaint({"--noise", "1", "--filters", "4"}), HasSubstr("a convolution needs images"));
  EXPECT_THAT(complaint({"--noise", "1", "--features", "orientation"}), HasSubstr("orientation features are of images"));
  EXPECT_THAT(complaint({"--epsilon", "1"}), HasSubstr("--epsilon needs --delta"));
  EXPECT_THAT(complaint({"--noise", "1", "--sampling", "fixed", "--public-size", "9"}),
              HasSubstr("--public-size goes with --sampling poisson"));
  EXPECT_THAT(complaint({"--mu", "1", "--slack", "0.05"}), HasSubstr("--slack = 0.05 must be below 0.01"));
  EXPECT_THAT(complaint({"--audit", "--noise", "1", "--checkpoint", file("x")}), HasSubstr("--checkpoint goes neither with --audit"));
  EXPECT_THAT(complaint({"--audit", "--noise", "1", "--audit-steps", "9"}), HasSubstr("--audit-steps = 9 must be"));
  EXPECT_THAT(complaint({"--noise", "1", "--delta", "1e-5,x"}), HasSubstr("--delta"));
  EXPECT_THAT(run_command({"train", "--data", data, "--noise", "1"}).err, HasSubstr("bounds that come from the data would reveal it"));
  EXPECT_THAT(run_command({"train", "--data", directory, "--noise", "1"}).err, HasSubstr("has no train-images-idx3-ubyte"));
  EXPECT_THAT(run_command({"train", "--data", "/nowhere.csv", "--noise", "1", "--low", "0", "--high", "1", "--classes", "2"}).err,
              HasSubstr("cannot read --data = /nowhere.csv"));
  EXPECT_THAT(run_command({"train", "--data", "/nowhere", "--noise", "1"}).err, HasSubstr("no such file or directory"));
}

/// The weights that --export writes give the classes that --predict prints.
TEST_F(Train, AModelIsExportedAndClassifies) {
  const Outcome run = train({"--noise", "0.5", "--hidden", "0", "--batch", "200", "--epochs", "10", "--learning-rate", "2", "--momentum",
                             "0.5", "--quiet", "--checkpoint", file("run.model"), "--export", file("run.safetensors")});
  ASSERT_EQ(run.code, 0) << run.err;
  std::ifstream in(file("run.safetensors"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  const json header = json::parse(bytes.substr(8, length));
  EXPECT_EQ(length % 8, 0U);
  EXPECT_EQ(header["__metadata__"]["module"], "Sequential(Linear(2, 2))");
  EXPECT_EQ(header["0.weight"]["shape"], json({2, 2}));
  ASSERT_EQ(header["0.bias"]["data_offsets"], json({16, 24}));
  ASSERT_EQ(bytes.size(), 8 + length + 24);
  std::array<float, 6> weights{};
  std::memcpy(weights.data(), bytes.data() + 8 + length, 24);
  std::ofstream(file("new.csv")) << "90,10\n10,90\n60,50\n1000,-5\n";
  const Outcome found = run_command(
      {"train", "--predict", file("new.csv"), "--checkpoint", file("run.model"), "--low", "0", "--high", "100", "--classes", "2"});
  ASSERT_EQ(found.code, 0) << found.err;
  std::string expected = "class,probability\n";
  for (const auto& [a, b] : {std::pair(90.0, 10.0), std::pair(10.0, 90.0), std::pair(60.0, 50.0), std::pair(100.0, 0.0)}) {
    std::array<double, 2> score{};
    for (std::size_t k = 0; k < 2; ++k) score[k] = weights[2 * k] * (a / 50 - 1) + weights[2 * k + 1] * (b / 50 - 1) + weights[4 + k];
    expected += std::to_string(score[1] > score[0] ? 1 : 0) + ",";
    const std::size_t at = expected.size();
    ASSERT_EQ(found.out.substr(0, at), expected);
    EXPECT_NEAR(std::stod(found.out.substr(at, 8)), 1 / (1 + std::exp(-std::abs(score[1] - score[0]))), 0.01);  // inputs are on a grid
    expected += found.out.substr(at, 8) + "\n";
  }
  EXPECT_EQ(found.out.substr(0, 40).substr(18, 1), "1");
  EXPECT_EQ(run_command({"verify", file("run.model")}).code, 3);  // no certificate
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"train", "--predict", file("new.csv")},
        {"train", "--predict", file("new.csv"), "--checkpoint", file("run.model"), "--low", "0", "--high", "100", "--classes", "2",
         "--noise", "1"},
        {"train", "--predict", data, "--checkpoint", file("run.model"), "--low", "0", "--high", "100", "--classes", "2"}})  // with labels
    EXPECT_EQ(run_command(wrong).code, 3);
}

TEST_F(Train, EveryColumnHasItsBounds) {
  const auto run = [&](const char* low, const char* high) {
    return run_command({"train", "--data",     data,  "--low",     low,   "--high",  high,  "--classes", "2", "--public-size",
                        "2000",  "--noise",    "1",   "--hidden",  "0",   "--batch", "200", "--epochs",  "5", "--learning-rate",
                        "2",     "--momentum", "0.9", "--holdout", "200", "--json"});
  };
  const Outcome both = run("0,0", "100,1e6");
  ASSERT_EQ(both.code, 0) << both.err;
  EXPECT_GT(json::parse(both.out)["test"]["accuracy"], 0.8);
  EXPECT_NEAR(std::stod(json::parse(both.out)["certificate"]["settings"]["momentum"].get<std::string>()), 0.9, 1e-12);
  for (const auto& [low, high] :
       {std::pair("0,0,0", "100"), std::pair("0", "100,100,100"), std::pair("0,100", "100,100"), std::pair("0,", "100")})
    EXPECT_EQ(run(low, high).code, 3) << low << " " << high;
  EXPECT_THAT(run("0,0,0", "100").err, HasSubstr("a record has 2 values, but --low has 3 numbers"));
}

TEST_F(Train, TheAuditFindsNothingWrong) {
  const Outcome run = train({"--audit", "--noise", "1.3", "--batch", "8", "--hidden", "0", "--audit-steps", "20000", "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const json found = json::parse(run.out);
  EXPECT_EQ(found["exposed"], false);
  EXPECT_EQ(found["checks"].size(), 9U);
  EXPECT_GT(found["mu_below"], 0.55);
  EXPECT_LT(found["mu_below"], 1 / 1.3);
  EXPECT_EQ(found["one_run"]["refuted"], false);
  EXPECT_EQ(found["one_run"]["canaries"], 0);  // too few weights
  const Outcome wider = train({"--audit", "--noise", "1.3", "--batch", "8", "--hidden", "8", "--audit-steps", "200", "--json"});
  ASSERT_EQ(wider.code, 0) << wider.err;
  const json whole = json::parse(wider.out)["one_run"];
  EXPECT_GE(whole["canaries"], 16);
  EXPECT_EQ(whole["steps"], 200);
  EXPECT_LE(whole["epsilon_below"]["epsilon"], whole["epsilon_below"]["certified"]["hi"]);
  EXPECT_THAT(train({"--audit", "--noise", "1.3", "--batch", "8", "--hidden", "8", "--audit-steps", "200"}).out,
              HasSubstr("one run of 200 steps: "));
  EXPECT_THAT(train({"--audit", "--noise", "1", "--delta", "1e-6"}).err, HasSubstr("--delta does not go with --audit"));
}

TEST_F(Train, TheSettingsOfThePaperBecomeATableAndAPicture) {
  const Outcome run = train({"--figure", file("figure"), "--runs", "2", "--hidden", "0", "--holdout", "100", "--quiet"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(std::count(run.out.begin(), run.out.end(), '\n'), 8);  // two lines of heading, three settings, two samplings
  EXPECT_THAT(run.out, HasSubstr("| 1.1 | 60 | 0.15 | 1 | poisson |"));
  std::ifstream picture(file("figure/training.svg")), table(file("figure/training.md"));
  EXPECT_TRUE(is_well_formed(std::string(std::istreambuf_iterator<char>(picture), {})));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(table), {}), run.out);
  EXPECT_THAT(train({"--figure", file("figure"), "--noise", "1"}).err, HasSubstr("--figure has its own settings"));
}

// Real data from Debian, with features that do not depend on the data.
TEST(TrainFashion, LearnsInAnEpoch) {
  const Outcome run = run_command({"train", "--noise", "1", "--epochs", "1", "--batch", "500", "--hidden", "0", "--json"},
                                  {.patience = std::chrono::minutes(4)});
  ASSERT_EQ(run.code, 0) << run.err;
  const json answer = json::parse(run.out);
  EXPECT_EQ(answer["steps"], 120);
  EXPECT_EQ(answer["test"]["records"], 10000);
  EXPECT_GT(answer["test"]["accuracy"], 0.6);
}

}  // namespace
}  // namespace tradeoff::detail::test
