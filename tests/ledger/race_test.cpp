// SPDX-License-Identifier: Apache-2.0
// Many processes at once, killed at random: nothing is overspent, lost or charged twice. A ledger without locks fails this.
#include "race.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "support/scale.h"

namespace tradeoff::detail::test {
namespace {

using testing::IsEmpty;
using testing::Not;

class RaceOn : public OnStores {
 protected:
  std::string log = (std::filesystem::temp_directory_path() / ("ledger_race_" + std::to_string(getpid()))).string();
};
INSTANTIATE_TEST_SUITE_P(Stores, RaceOn, testing::ValuesIn(tested_stores()), [](const auto& one) { return one.param; });

TEST_P(RaceOn, KeepsThePromiseWhileClientsAreKilled) {
  const RaceResult result = run_race(place, {.clients = 8, .kills = scaled(60), .spends = 40}, log, 1);
  EXPECT_THAT(result.violations, IsEmpty());
  EXPECT_GT(result.acknowledged, 20U);
}

// Two charges, at 10 to 20 and at 30 to 40; a cap for both and no more.
TEST(Linearity, IsChecked) {
  const Log log = {{2, {{"a", "k", 5}}}, {3, {{"a", "l", 5}}}};
  const auto faults = [&](std::vector<Operation> more, std::uint64_t first = 2, std::uint64_t second = 3) {
    more.push_back({10, 20, "k", {"a"}, 5, Answer::charged, first});
    more.push_back({30, 40, "l", {"a"}, 5, Answer::charged, second});
    return faults_of_history(more, log, 10);
  };
  EXPECT_THAT(faults({}), IsEmpty());
  EXPECT_THAT(faults({}, 3, 2), Not(IsEmpty()));  // against time
  EXPECT_THAT(faults({}, 2, 2), Not(IsEmpty()));  // twice
  EXPECT_THAT(faults({{25, 29, "m", {"a"}, 6, Answer::refused, 0}}), IsEmpty());
  EXPECT_THAT(faults({{25, 29, "m", {"a"}, 5, Answer::refused, 0}}), Not(IsEmpty()));  // there was budget
  EXPECT_THAT(faults({{25, 35, "m", {"a"}, 5, Answer::refused, 0}}), IsEmpty());       // the second charge may have come first
  EXPECT_THAT(faults({{25, 29, "l", {"a"}, 5, Answer::conflict, 0}}), Not(IsEmpty()));
  EXPECT_THAT(faults({{25, 35, "l", {"a"}, 5, Answer::conflict, 0}}), IsEmpty());
  EXPECT_THAT(faults({{25, 29, "l", {"a"}, 5, Answer::replayed, 3}}), Not(IsEmpty()));
  EXPECT_THAT(faults({{41, 42, "l", {"a"}, 5, Answer::replayed, 3}}), IsEmpty());
  EXPECT_THAT(faults({{1, 5, "m", {"a"}, 5, Answer::none, 0}}), IsEmpty());
}

TEST_P(RaceOn, KeepsThePromiseUpToTheLastUnit) {
  const RaceResult result = run_race(place, {.clients = 6, .kills = 0, .spends = 120, .batch = 10}, log, 2);
  EXPECT_THAT(result.violations, IsEmpty());
  EXPECT_GT(result.refused, 20U);  // the accounts were exhausted
}

/// A store whose transactions do nothing: every statement stands alone.
class UnlockedStore final : public ledger::Store {
 public:
  explicit UnlockedStore(std::unique_ptr<ledger::Store> real) : real_(std::move(real)) {}
  std::vector<ledger::Row> run(const std::string& sql, const std::vector<std::string>& parameters) override {
    return real_->run(sql, parameters);
  }
  ledger::Row begin_write() override { return real_->run(ledger::select_head)[0]; }
  void begin_read() override {}
  void commit() override {}
  void make_durable() override {}
  void roll_back() noexcept override {}
  bool has_tables() override { return real_->has_tables(); }
  std::vector<std::string> schema() const override { return real_->schema(); }
  std::string own_check() override { return real_->own_check(); }
  void reconnect() override { real_->reconnect(); }

 private:
  std::unique_ptr<ledger::Store> real_;
};

TEST_P(RaceOn, FindsALedgerWithoutLocks) {
  const auto start = std::chrono::steady_clock::now();
  const RaceResult result =
      run_race(place,
               {.clients = 4,
                .spends = 20,
                .open =
                    [](const std::string& url) {
                      return Ledger(std::make_unique<UnlockedStore>(ledger::open_store(url, false)), Ledger::Open::existing);
                    }},
               log, 3);
  EXPECT_THAT(result.violations, Not(IsEmpty()));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST_P(RaceOn, ServesThreadsOfOneProcess) {
  Ledger ledger = place.open();
  ledger.create(account("a", mu_cap("0.5")));
  std::vector<std::thread> threads;
  std::atomic<int> charged = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int j = 0; j < 8; ++j) {
        try {
          charged += ledger.spend({{"a"}, std::to_string(i) + "." + std::to_string(j), "gaussian(sigma=10)"}).replayed ? 0 : 1;
        } catch (const BudgetError&) {
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(charged, 25);
  EXPECT_EQ(ledger.account("a").spent, "0.25");
  EXPECT_TRUE(ledger.verify().intact);
}

TEST_P(RaceOn, WorksInAChildProcess) {
  Ledger ledger = place.open();
  ledger.create(account("a", mu_cap("1")));
  const pid_t child = fork();
  if (child == 0) {
    try {
      ledger.spend({{"a"}, "child", "gaussian(sigma=10)"});
    } catch (...) {
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  ledger.spend({{"a"}, "parent", "gaussian(sigma=10)"});
  EXPECT_EQ(ledger.account("a").spent, "0.02");
}

}  // namespace
}  // namespace tradeoff::detail::test
