// SPDX-License-Identifier: Apache-2.0
// What only PostgreSQL does: a server that restarts in the middle, and a role that cannot change entries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "race.h"

namespace tradeoff::detail::test {
namespace {

using testing::IsEmpty;

class Postgresql : public testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("TRADEOFF_TEST_POSTGRESQL") == nullptr)
      GTEST_SKIP() << "no PostgreSQL server: ./test ledger starts one where it is installed";
  }
};

TEST_F(Postgresql, KeepsThePromiseWhileTheServerRestarts) {
  const char *data = std::getenv("TRADEOFF_TEST_POSTGRESQL_DATA"), *control = std::getenv("TRADEOFF_TEST_POSTGRESQL_CONTROL");
  if (data == nullptr || control == nullptr) GTEST_SKIP() << "the server is not ours";
  Place place("postgresql");
  const std::string log = (std::filesystem::temp_directory_path() / ("ledger_restart_" + std::to_string(getpid()))).string();
  int failures = 0;
  const auto restart = [&] {
    for (const char* mode : {"fast", "immediate"}) {  // "immediate" is a crash
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      const std::string command =
          std::string("cd / && ") + control + " --pgdata=" + data + " --mode=" + mode + " --wait restart >/dev/null 2>&1";
      failures += std::system(command.c_str()) == 0 ? 0 : 1;
    }
  };
  const RaceResult result = run_race(place, {.clients = 4, .spends = 150, .beside = restart, .cap = "100"}, log, 5);
  EXPECT_EQ(failures, 0);
  EXPECT_THAT(result.violations, IsEmpty());
  EXPECT_GT(result.acknowledged, 100U);
}

TEST_F(Postgresql, WorksWithARoleThatCannotChangeEntries) {
  Place place("postgresql");
  {
    Ledger owner = place.open();
    owner.create(account("a", mu_cap("1")));
  }
  const auto raw = place.raw();
  const std::string role = "spender_" + std::to_string(getpid());
  raw->run("CREATE ROLE " + role + " LOGIN");
  raw->run("DO $$ BEGIN EXECUTE 'GRANT USAGE ON SCHEMA ' || current_schema() || ' TO " + role + "'; END $$");
  raw->run("GRANT SELECT, INSERT ON tradeoff_entry, tradeoff_charge TO " + role);
  raw->run("GRANT SELECT, INSERT, UPDATE ON tradeoff_token TO " + role);
  raw->run("GRANT SELECT, UPDATE ON tradeoff_account, tradeoff_chain TO " + role);
  raw->run("GRANT SELECT ON tradeoff_meta TO " + role);
  std::string url = place.url();
  url.replace(url.find("ledger@"), 6, role);
  Ledger spender(url);
  spender.reserve({{"a"}, "k", "gaussian(sigma=2)"});
  spender.use("a", "k");
  EXPECT_EQ(spender.account("a").spent, "0.25");
  EXPECT_TRUE(spender.verify().intact);
  const auto store = ledger::open_postgresql(url);
  EXPECT_THROW(store->run("UPDATE tradeoff_entry SET plan = ''"), StoreError);
  EXPECT_THROW(store->run("DELETE FROM tradeoff_charge"), StoreError);
  EXPECT_THROW(spender.create(account("b", mu_cap("1"))), StoreError);
}

TEST_F(Postgresql, CannotBeReached) {
  try {
    Ledger ledger("postgresql://ledger@%2Fnowhere/postgres");
    FAIL();
  } catch (const StoreError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("cannot be reached"));
  }
}

}  // namespace
}  // namespace tradeoff::detail::test
