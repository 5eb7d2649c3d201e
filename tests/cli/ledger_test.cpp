// SPDX-License-Identifier: Apache-2.0
// `tradeoff ledger`, and releases that are charged to it: output for programs, exit codes, and every point at which a spend can be killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "run_command.h"

namespace tradeoff::detail::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

/// On a file, and also on PostgreSQL if a server is named.
std::vector<std::string> stores() {
  std::vector<std::string> kinds = {"sqlite"};
  if (std::getenv("TRADEOFF_TEST_POSTGRESQL") != nullptr) kinds.emplace_back("postgresql");
  return kinds;
}

class LedgerCommand : public testing::TestWithParam<std::string> {
 protected:
  LedgerCommand() {
    static int count = 0;
    const std::string name = "ledger_command_" + std::to_string(getpid()) + "_" + std::to_string(++count);
    directory_ = std::filesystem::temp_directory_path() / name;
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    url = "sqlite:" + (directory_ / "budget.db").string();
    if (GetParam() == "postgresql") {
      const std::string server = std::getenv("TRADEOFF_TEST_POSTGRESQL");
      EXPECT_EQ(run_command({"-q", "-c", "CREATE SCHEMA " + name, server}, {.command = "/usr/bin/psql"}).code, 0);
      url = server + "?options=-csearch_path%3D" + name;
    }
  }
  ~LedgerCommand() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] bool is_sqlite() const { return GetParam() == "sqlite"; }
  Outcome ledger(std::vector<std::string> words, const RunOptions& options = {}) const {
    words.insert(words.begin(), "ledger");
    words.insert(words.end(), {"--store", url});
    return run_command(words, options);
  }
  Outcome faulty(const std::vector<std::string>& words, const std::string& fault) const {
    return ledger(words, {.environment = {{"LD_PRELOAD", TRADEOFF_FAULT_SHIM}, {"FAULT", fault}}});
  }
  json status(const std::string& account) const { return json::parse(ledger({"status", account, "--json"}).out)["accounts"][0]; }
  void expect_code(const std::vector<std::string>& words, int code, const std::string& message) const {
    const Outcome run = ledger(words);
    EXPECT_EQ(run.code, code) << words[0] << run.err;
    EXPECT_EQ(run.out, "") << words[0];
    EXPECT_THAT(run.err, HasSubstr(message));
  }

  std::filesystem::path directory_;
  std::string url;
};

INSTANTIATE_TEST_SUITE_P(Stores, LedgerCommand, testing::ValuesIn(stores()), [](const auto& one) { return one.param; });

TEST_P(LedgerCommand, PrintsReceiptsForPrograms) {
  EXPECT_EQ(ledger({"create", "a", "--mu", "1"}).code, 0);
  const Outcome run = ledger({"spend", "a", "--key", "k", "gaussian(sigma=10)", "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  const json receipt = json::parse(run.out);
  EXPECT_EQ(receipt["account"], "a");
  EXPECT_EQ(receipt["key"], "k");
  EXPECT_EQ(receipt["sequence"], 2);
  EXPECT_EQ(receipt["head"].get<std::string>().size(), 64U);
  EXPECT_EQ(receipt["cost"]["currency"], "gdp");
  EXPECT_LE(receipt["cost"]["mu"]["lo"], 0.1);
  EXPECT_GE(receipt["cost"]["mu"]["hi"], 0.1);
  EXPECT_EQ(receipt["replayed"], false);
  const json again = json::parse(ledger({"spend", "a", "--key", "k", "gaussian(sigma=10)", "--json"}).out);
  EXPECT_EQ(again["replayed"], true);
  EXPECT_EQ(again["head"], receipt["head"]);

  const json account = status("a");
  EXPECT_EQ(account["currency"], "gdp");
  EXPECT_EQ(account["cap"], "1");
  EXPECT_EQ(account["spent"], "0.01");
  EXPECT_EQ(account["entries"], 1);
  EXPECT_EQ(account["head"], receipt["head"]);
  const json history = json::parse(ledger({"history", "a", "--json"}).out);
  ASSERT_EQ(history.size(), 1U);
  EXPECT_EQ(history[0]["key"], "k");
  EXPECT_EQ(history[0]["sequence"], 2);
  EXPECT_EQ(history[0]["plan"], "gaussian(sigma=10)");
  EXPECT_EQ(history[0]["cost"]["charged"], "0.01");
  EXPECT_EQ(ledger({"verify", "--expect-head", receipt["head"]}).code, 0);
  EXPECT_EQ(ledger({"verify", "--expect-head", std::string(64, '0')}).code, 1);
  EXPECT_EQ(json::parse(ledger({"verify", "--json"}).out)["head"], receipt["head"]);
}

TEST_P(LedgerCommand, SaysWhatABatchSaves) {
  EXPECT_EQ(ledger({"create", "a", "--mu", "2"}).code, 0);
  EXPECT_THAT(ledger({"spend", "a", "--key", "k", "dp(0.2) | repeat(50)"}).out,
              AllOf(HasSubstr("charged 2.0"), HasSubstr("step by step it would cost 3.1"), HasSubstr("saves 35 %")));
}

TEST_P(LedgerCommand, TakesEveryCurrency) {
  EXPECT_EQ(ledger({"create", "a", "--rho", "1", "--currency", "zcdp"}).code, 0);
  EXPECT_EQ(ledger({"create", "b", "--epsilon", "1", "--currency", "pure", "--unit", "one patient"}).code, 0);
  EXPECT_EQ(ledger({"create", "c", "--epsilon", "1", "--delta", "1e-5", "--currency", "approximate"}).code, 0);
  EXPECT_EQ(ledger({"create", "d", "--divergence", "1", "--currency", "rdp(8)"}).code, 0);
  EXPECT_EQ(ledger({"create", "e", "--advantage", "0.1"}).code, 0);
  EXPECT_EQ(ledger({"create", "f", "--epsilon", "1", "--delta", "1e-5", "--neighbours", "replace-one"}).code, 0);
  const Outcome run = ledger({"spend", "a,b,c,d,e,f", "--key", "k", "laplace(scale=100)", "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const json receipt = json::parse(run.out);
  EXPECT_EQ(receipt["charges"].size(), 6U);
  EXPECT_EQ(receipt["charges"][1]["cost"]["charged"], "0.01");
  EXPECT_TRUE(receipt["charges"][2]["cost"].contains("epsilon"));
  EXPECT_TRUE(receipt["charges"][3]["cost"].contains("divergence"));
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    const Outcome report = ledger({"report", name});
    EXPECT_EQ(report.code, 0) << report.err;
    EXPECT_THAT(report.out, AllOf(HasSubstr("The cap guarantees"), HasSubstr("only if every plan was fixed"), HasSubstr("plain words")));
    EXPECT_EQ(json::parse(ledger({"report", name, "--json"}).out)["guaranteed"]["epsilon"].size(), 4U);
  }
}

TEST_P(LedgerCommand, DrawsTheStatus) {
  EXPECT_EQ(ledger({"create", "<a>", "--mu", "1"}).code, 0);
  EXPECT_EQ(ledger({"spend", "<a>", "--key", "k", "gaussian(sigma=2)"}).code, 0);
  EXPECT_THAT(ledger({"status"}).out, AllOf(HasSubstr("0.25 of 1 spent"), HasSubstr("[#############......"), HasSubstr("25 %")));
  EXPECT_THAT(ledger({"status", "--format", "svg"}).out, AllOf(HasSubstr("<svg"), HasSubstr("&lt;a&gt;"), HasSubstr("width=\"130\"")));
}

TEST_P(LedgerCommand, RefusesBadInput) {
  expect_code({"status"}, 3, is_sqlite() ? "there is no ledger at" : "the store holds no ledger");
  EXPECT_EQ(ledger({"create", "a", "--mu", "1"}).code, 0);
  expect_code({"create", "a", "--mu", "2"}, 3, "exists already");
  expect_code({"create", "b"}, 3, "is capped by mu");
  expect_code({"create", "b", "--mu", "x"}, 3, "--mu = x is not a number");
  expect_code({"create", "b", "--epsilon", "1"}, 3, "epsilon and delta go together");
  expect_code({"create", "b", "--mu", "1", "--currency", "euro"}, 3, "'euro' is not one of gdp");
  expect_code({"spend", "a", "gaussian(1)"}, 3, "needs --key");
  expect_code({"spend", "a", "--key", "k"}, 3, "needs a plan");
  expect_code({"spend", "b", "--key", "k", "gaussian(1)"}, 3, "there is no account 'b'");
  expect_code({"spend", "a", "--key", "k", "gaussian(?)"}, 3, "?");
  expect_code({"spend", "a", "--key", "k", "gausian(1)"}, 3, "gaussian");
  expect_code({"spend", "a", "--key", "k", "gaussian(0.5)"}, 1, "account 'a' has 1 left and the plan costs 4");
  expect_code({"spend", "a", "--key", "k", "gaussian(1)", "--mu", "3"}, 3, "spend has no option --mu");
  expect_code({"spent", "a"}, 3, "did you mean 'spend'?");
  expect_code({"status", "a", "b"}, 3, "unexpected word 'b'");
  expect_code({"verify", "--expect-head", "12"}, 3, "64 hexadecimal digits");
  EXPECT_EQ(ledger({"spend", "a", "--key", "k", "gaussian(2)"}).code, 0);
  expect_code({"spend", "a", "--key", "k", "gaussian(3)"}, 3, "was used on account 'a' for something else");
  expect_code({"cap", "a", "--mu", "0.1"}, 3, "is spent already");
  EXPECT_EQ(status("a")["entries"], 1);
  EXPECT_EQ(run_command({"ledger", "status", "--store", "mysql:x"}).code, 3);
  EXPECT_EQ(run_command({"ledger"}).code, 3);
}

TEST_P(LedgerCommand, ReservesAndUsesATokenOnce) {
  EXPECT_EQ(ledger({"create", "a", "--mu", "1"}).code, 0);
  EXPECT_EQ(json::parse(ledger({"reserve", "a", "--key", "k", "gaussian(2)", "--json"}).out)["token"], "open");
  EXPECT_EQ(json::parse(ledger({"use", "a", "--key", "k", "--json"}).out)["token"], "used");
  expect_code({"use", "a", "--key", "k"}, 3, "is used up");
}

TEST_P(LedgerCommand, ChargesAReleaseBeforeItsValuesLeave) {
  EXPECT_EQ(ledger({"create", "a", "--mu", "1"}).code, 0);
  const auto release = [&](const std::string& key, const std::string& plan, const RunOptions& options = {.input = "5\n"}) {
    return run_command({"release", "--ledger", url, "--account", "a", "--key", key, "--quiet", "--json", plan}, options);
  };
  const Outcome run = release("k", "gaussian(sigma=2)");
  ASSERT_EQ(run.code, 0) << run.err;
  const json all = json::parse(run.out);
  EXPECT_EQ(all["ledger"]["token"], "used");
  EXPECT_EQ(all["rows"].size(), 1U);
  EXPECT_EQ(status("a")["entries"], 1);
  // The same key draws no second time, and another plan is a conflict.
  const Outcome again = release("k", "gaussian(sigma=2)");
  EXPECT_EQ(again.code, 3);
  EXPECT_EQ(json::parse(again.out)["error"]["kind"], "key");
  EXPECT_THAT(again.err, HasSubstr("is used up"));
  EXPECT_EQ(release("k", "gaussian(sigma=3)").code, 3);
  // Without budget nothing leaves.
  const Outcome refused = release("l", "gaussian(sigma=1)");
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(json::parse(refused.out)["error"]["kind"], "budget");
  EXPECT_EQ(run_command({"release", "--ledger", url, "gaussian(1)"}, {.input = "5\n"}).code, 3);
  // Killed at any point, a key gives values at most once.
  for (int at = 1; at < 200; at += 3) {
    const std::string key = "killed" + std::to_string(at);
    const RunOptions fault{
        .input = "5\n",
        .environment = {{"LD_PRELOAD", TRADEOFF_FAULT_SHIM}, {"FAULT", (is_sqlite() ? "kill@" : "send@") + std::to_string(at)}}};
    const Outcome killed = release(key, "gaussian(sigma=100)", fault);
    const Outcome after = release(key, "gaussian(sigma=100)");
    EXPECT_LE((killed.out.find("rows") == std::string::npos ? 0 : 1) + (after.code == 0 ? 1 : 0), 1) << at;
    if (killed.code == 0) break;
  }
  EXPECT_EQ(ledger({"verify"}).code, 0);
}

// A spend is killed before each of its calls that change a file, in the middle of a write, and by a power cut that undoes what was not
// synchronised; on PostgreSQL before each message, and its connection breaks at each. What was acknowledged is there; what is there adds
// up; and the same key then gives a receipt without a second charge.
TEST_P(LedgerCommand, SurvivesAFaultAtEveryPoint) {
  EXPECT_EQ(ledger({"create", "a", "--mu", "1"}).code, 0);
  const std::vector<std::string> kinds =
      is_sqlite() ? std::vector<std::string>{"kill@", "torn@", "power@"} : std::vector<std::string>{"send@", "drop@"};
  for (const std::string& kind : kinds) {
    bool finished = false;
    for (int at = 1; at < 200 && !finished; ++at) {
      const std::string key = kind + std::to_string(at);
      const std::vector<std::string> words = {"spend", "a", "--key", key, "gaussian(sigma=100)", "--json"};
      const Outcome faulted = faulty(words, key);
      // a broken connection is made again, except the first one
      finished = faulted.code == 0 && (kind != "drop@" || at > 60);
      if (kind == "drop@") {
        EXPECT_THAT(faulted.code, testing::AnyOf(0, 3)) << key << faulted.err;
      }
      const int before = status("a")["entries"];
      if (faulted.code == 0) {
        EXPECT_EQ(json::parse(faulted.out)["key"], key);
        EXPECT_EQ(json::parse(ledger({"history", "a", "--json"}).out).back()["key"], key) << key;
      }
      if (at % 4 == 0 || finished) {
        const Outcome verified = ledger({"verify"});
        EXPECT_EQ(verified.code, 0) << key << verified.out;
      }
      const json receipt = json::parse(ledger(words).out);
      EXPECT_TRUE(faulted.code != 0 || receipt["replayed"]) << key;
      EXPECT_EQ(status("a")["entries"].get<int>(), before + (receipt["replayed"] ? 0 : 1)) << key;
    }
    EXPECT_TRUE(finished) << kind;
  }
}

TEST_P(LedgerCommand, ReportsADiskThatFailsAndChargesNothing) {
  if (!is_sqlite()) GTEST_SKIP() << "the disk of the server is not ours";
  EXPECT_EQ(ledger({"create", "a", "--mu", "1"}).code, 0);
  int failed = 0;
  for (const char* kind : {"full@", "sync_at@"}) {
    for (int at = 1; at < 12; ++at) {
      const std::string key = kind + std::to_string(at);
      const std::vector<std::string> words = {"spend", "a", "--key", key, "gaussian(sigma=100)", "--json"};
      const Outcome run = faulty(words, key);
      EXPECT_THAT(run.code, testing::AnyOf(0, 3)) << key << run.err;
      failed += run.code == 3 ? 1 : 0;
      if (run.code == 3) {
        EXPECT_EQ(json::parse(run.out)["error"]["kind"], "store") << key;
      } else {
        EXPECT_EQ(json::parse(ledger(words).out)["replayed"], true) << key;
      }
      EXPECT_EQ(ledger({"verify"}).code, 0) << key;
    }
  }
  EXPECT_GE(failed, 2);
}

TEST_P(LedgerCommand, DependsOnNoClock) {
  EXPECT_EQ(ledger({"create", "a", "--mu", "1"}).code, 0);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(faulty({"spend", "a", "--key", "k" + std::to_string(i), "gaussian(sigma=2)"}, "clock").code, 0);
  EXPECT_EQ(faulty({"spend", "a", "--key", "k0", "gaussian(sigma=2)"}, "clock").code, 0);
  EXPECT_EQ(faulty({"spend", "a", "--key", "k4", "gaussian(sigma=2)"}, "clock").code, 1);
  EXPECT_EQ(status("a")["spent"], "1");
  EXPECT_EQ(faulty({"verify"}, "clock").code, 0);
  const json history = json::parse(ledger({"history", "a", "--json"}).out);
  std::set<std::string> years;
  for (const json& entry : history) years.insert(entry["time"].get<std::string>().substr(0, 4));
  EXPECT_GT(years.size(), 1U);  // the clock did jump
}

TEST_P(LedgerCommand, ChargesSeveralAccountsAndBlocksForARelease) {
  for (const char* name : {"january", "february"}) EXPECT_EQ(ledger({"create", name, "--mu", "1", "--block-of", "visits"}).code, 0);
  EXPECT_EQ(ledger({"create", "team", "--rho", "1", "--currency", "zcdp"}).code, 0);
  const auto release = [&](const std::string& accounts, const std::string& key) {
    return run_command({"release", "--ledger", url, "--account", accounts, "--key", key, "--quiet", "gaussian(sigma=2)"}, {.input = "5\n"});
  };
  EXPECT_EQ(release("team,visits", "k").code, 0);
  EXPECT_EQ(release("team,visits", "k").code, 3);
  EXPECT_EQ(release("january", "l").code, 0);
  EXPECT_EQ(release("nobody", "m").code, 3);
  EXPECT_THAT(status("january")["spent"].get<std::string>(), testing::StartsWith("0.50"));
  EXPECT_THAT(status("february")["spent"].get<std::string>(), testing::StartsWith("0.250"));
  EXPECT_THAT(status("team")["spent"].get<std::string>(), testing::StartsWith("0.1250"));
  EXPECT_THAT(ledger({"report", "visits"}).out, HasSubstr("every record is in one of these blocks"));
  EXPECT_EQ(ledger({"reserve", "visits", "--key", "n", "gaussian(sigma=2)"}).code, 0);
  EXPECT_THAT(ledger({"status", "february"}).out, AllOf(HasSubstr("[#############+++++++++++++...."), HasSubstr("0.25 of it is planned")));
  EXPECT_THAT(ledger({"status", "february", "--format", "svg"}).out, HasSubstr("class=\"planned\""));
  EXPECT_EQ(ledger({"verify"}).code, 0);
}

// All steps of a training run are charged before the first one; without budget, no step is taken.
TEST_P(LedgerCommand, ChargesATrainingRunBeforeItsFirstStep) {
  EXPECT_EQ(ledger({"create", "a", "--epsilon", "8", "--delta", "1e-5"}).code, 0);
  EXPECT_EQ(ledger({"create", "b", "--epsilon", "8", "--delta", "1e-5", "--neighbours", "replace-one"}).code, 0);
  EXPECT_EQ(ledger({"create", "small", "--mu", "0.01", "--slack", "1e-7"}).code, 0);
  const std::string data = (directory_ / "data.csv").string();
  {
    std::ofstream out(data);
    for (int i = 0; i < 60; ++i) out << i % 7 << "," << i % 5 << "," << i % 2 << "\n";
  }
  const auto train = [&](const std::string& account, const std::string& key) {
    return run_command({"train", "--data",        data,    "--low",   "0",  "--high",   "6",   "--classes", "2",  "--hidden",
                        "0",     "--public-size", "60",    "--batch", "10", "--epochs", "200", "--noise",   "40", "--ledger",
                        url,     "--account",     account, "--key",   key});
  };
  const Outcome run = train("a", "k");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("\"token\":\"used\""));
  const json history = json::parse(ledger({"history", "a", "--json"}).out);
  ASSERT_EQ(history.size(), 1U);
  EXPECT_THAT(history[0]["plan"].get<std::string>(), AllOf(HasSubstr("poisson"), HasSubstr("repeat(1200)")));
  EXPECT_EQ(history[0]["token"], "used");
  const Outcome again = train("a", "k");
  EXPECT_EQ(again.code, 3);
  EXPECT_THAT(again.err, HasSubstr("is used up"));
  EXPECT_THAT(train("b", "k").err, HasSubstr("protects replace-one neighbours"));
  const Outcome poor = train("small", "k");
  EXPECT_EQ(poor.code, 1) << poor.err;
  EXPECT_EQ(poor.out, "");
  EXPECT_EQ(status("small")["entries"], 0);
  EXPECT_EQ(status("a")["entries"], 1);
  EXPECT_EQ(ledger({"verify"}).code, 0);
}

}  // namespace
}  // namespace tradeoff::detail::test
