// SPDX-License-Identifier: Apache-2.0
// One behaviour on every store: accounts, spends, keys, tokens, the log, and a reference model with random histories.
#include "tradeoff/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "noise/digest.h"
#include "place.h"
#include "support/scale.h"

namespace tradeoff::detail::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

template <class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(error.kind()) + ": " + error.what();
  }
  return "no error";
}

class LedgerOn : public OnStores {};
INSTANTIATE_TEST_SUITE_P(Stores, LedgerOn, testing::ValuesIn(tested_stores()), [](const auto& one) { return one.param; });

TEST_P(LedgerOn, SpendsUpToTheCapAndNotBeyond) {
  Ledger ledger = place.open();
  ledger.create(account("a", mu_cap("1")));
  for (int i = 0; i < 100; ++i) ledger.spend({{"a"}, "k" + std::to_string(i), "gaussian(sigma=10)"});
  EXPECT_THAT(message_of([&] { ledger.spend({{"a"}, "one more", "gaussian(sigma=1e5)"}); }), HasSubstr("budget: account 'a' has 0 left"));
  const Account now = ledger.account("a");
  EXPECT_EQ(now.cap, "1");
  EXPECT_EQ(now.spent, "1");
  EXPECT_EQ(now.left, "0");
  EXPECT_EQ(now.entries, 100U);
  EXPECT_TRUE(ledger.verify(now.head).intact);
}

TEST_P(LedgerOn, ChargesAKeyOnce) {
  Ledger ledger = place.open();
  ledger.create(account("a", mu_cap("1")));
  ledger.create(account("b", mu_cap("1")));
  const Receipt first = ledger.spend({{"a"}, "k", "gaussian(sigma=2)"});
  EXPECT_FALSE(first.replayed);
  const Receipt again = ledger.spend({{"a"}, "k", "gaussian( 2 )"});
  EXPECT_TRUE(again.replayed);
  EXPECT_EQ(again.sequence, first.sequence);
  EXPECT_EQ(again.head, first.head);
  EXPECT_EQ(again.charges[0].value, first.charges[0].value);
  EXPECT_EQ(again.charges[0].amount, "0.25");
  EXPECT_THAT(message_of([&] { ledger.spend({{"a"}, "k", "gaussian(sigma=3)"}); }), HasSubstr("key: key 'k' was used"));
  EXPECT_THAT(message_of([&] { ledger.spend({{"a", "b"}, "k", "gaussian(sigma=2)"}); }), HasSubstr("key: "));
  EXPECT_THAT(message_of([&] { ledger.reserve({{"a"}, "k", "gaussian(sigma=2)"}); }), HasSubstr("key: "));
  EXPECT_FALSE(ledger.spend({{"b"}, "k", "gaussian(sigma=3)"}).replayed);  // another account has its own keys
  EXPECT_EQ(ledger.account("a").spent, "0.25");
}

TEST_P(LedgerOn, ChargesAllAccountsOrNone) {
  Ledger ledger = place.open();
  ledger.create(account("global", mu_cap("1")));
  ledger.create(account("team", mu_cap("0.5"), "gdp"));
  StatedCap rho;
  rho.rho = read_number("10");
  ledger.create(account("zcdp", rho, "zcdp"));
  const Receipt receipt = ledger.spend({{"zcdp", "team", "global"}, "k", "gaussian(sigma=2)"});
  ASSERT_EQ(receipt.charges.size(), 3U);
  EXPECT_EQ(receipt.charges[0].account, "global");
  EXPECT_EQ(receipt.charges[2].currency, "zcdp");
  EXPECT_EQ(receipt.charges[2].amount, "0.125");
  EXPECT_THAT(message_of([&] { ledger.spend({{"global", "team"}, "l", "gaussian(sigma=2)"}); }), HasSubstr("budget: account 'team'"));
  EXPECT_EQ(ledger.account("global").spent, "0.25");
  EXPECT_EQ(ledger.account("team").spent, "0.25");
  EXPECT_TRUE(ledger.verify(receipt.head).intact);
}

TEST_P(LedgerOn, ChargesTheSlackOfAPlan) {
  Ledger ledger = place.open();
  ledger.create(account("a", mu_cap("1", "1e-6")));
  Spend request{{"a"}, "k", "dp(epsilon=0, delta=1e-7)"};
  request.slack = read_number("2e-7");
  ledger.spend(request);
  EXPECT_EQ(ledger.account("a").slack_spent, "2e-7");
  request.key = "l";
  request.slack = read_number("9e-7");
  EXPECT_THAT(message_of([&] { ledger.spend(request); }), HasSubstr("budget: account 'a' has a slack of 8e-7 left"));
  EXPECT_EQ(ledger.account("a").spent, "0");
  EXPECT_TRUE(ledger.verify().intact);
}

// [parallel-composition] A spend on one block leaves the others alone; one on the group is charged to all or none.
TEST_P(LedgerOn, KeepsABudgetForEachBlock) {
  Ledger ledger = place.open();
  const auto block = [](const char* name, const char* mu) {
    AccountTerms terms = account(name, mu_cap(mu));
    terms.block_of = "visits";
    return terms;
  };
  ledger.create(block("january", "1"));
  ledger.create(block("february", "0.5"));
  for (const char* name : {"january", "february"}) ledger.spend({{name}, "k", "gaussian(sigma=4)"});
  EXPECT_EQ(ledger.account("january").spent, "0.0625");
  const Receipt both = ledger.spend({{"visits"}, "all", "gaussian(sigma=4)"});
  ASSERT_EQ(both.charges.size(), 2U);
  EXPECT_THAT(message_of([&] { ledger.spend({{"visits"}, "more", "gaussian(sigma=2)"}); }), HasSubstr("budget: account 'february'"));
  EXPECT_EQ(ledger.account("january").spent, "0.125");
  ledger.create(block("march", "1"));  // another program may make a block at any time
  EXPECT_TRUE(ledger.spend({{"visits"}, "all", "gaussian(sigma=4)"}).replayed);
  EXPECT_EQ(ledger.spend({{"visits"}, "three", "gaussian(sigma=8)"}).charges.size(), 3U);
  EXPECT_EQ(ledger.reserve({{"visits"}, "draw", "gaussian(sigma=8)"}).token, TokenState::open);
  EXPECT_EQ(ledger.account("march").planned, "0.015625");
  EXPECT_EQ(ledger.use("visits", "draw").token, TokenState::used);
  EXPECT_EQ(ledger.account("march").planned, "0");
  EXPECT_THAT(message_of([&] { ledger.use("visits", "draw"); }), HasSubstr("used up"));
  EXPECT_EQ(ledger.accounts("visits").size(), 3U);
  EXPECT_THAT(message_of([&] { ledger.spend({{"visits", "march"}, "x", "gaussian(sigma=8)"}); }), HasSubstr("named twice"));
  EXPECT_THAT(message_of([&] { ledger.create(account("visits", mu_cap("1"))); }), HasSubstr("name of a group"));
  AccountTerms wrong = block("april", "1");
  wrong.block_of = "march";
  EXPECT_THAT(message_of([&] { ledger.create(wrong); }), HasSubstr("'march' is an account"));
  wrong.block_of = "visits";
  wrong.neighbours = Neighbours::replace_one;
  EXPECT_THAT(message_of([&] { ledger.create(wrong); }), HasSubstr("add-remove or zero-out"));
  EXPECT_TRUE(ledger.verify().intact);
}

// A client that remembers prices sees what others do to the accounts in between.
TEST_P(LedgerOn, RemembersNoOldTerms) {
  Ledger one = place.open(), other = place.open();
  one.create(account("a", mu_cap("1", "1e-6")));
  const char* plan = "gaussian(sigma=10) | poisson(rate=0.01) | repeat(10)";
  const std::string slack = one.spend({{"a"}, "k", plan}).charges[0].slack;
  other.change_cap("a", mu_cap("1", "5e-7"));
  EXPECT_NE(one.spend({{"a"}, "l", plan}).charges[0].slack, slack);
  other.change_cap("a", mu_cap("0.2", "5e-7"));
  EXPECT_THAT(message_of([&] { one.spend({{"a"}, "m", "gaussian(sigma=2)"}); }), HasSubstr("budget"));
}

TEST_P(LedgerOn, TakesAPlanInOtherWordsForTheSame) {
  Ledger ledger = place.open();
  ledger.create(account("a", mu_cap("1")));
  ledger.create(account("b", mu_cap("1")));
  ledger.spend({{"a", "b"}, "k", "gaussian(sigma=10) | repeat(2)"});
  for (const char* same :
       {"gaussian(10) | repeat(2)", "gaussian(sigma=20/2) | repeat(times=2)", "gaussian(1e1, sensitivity=1) | repeat(2.0)",
        "(gaussian(sigma=10)) | repeat(2)", "(gaussian(10) | repeat(2)) | repeat(1) # in words", "\n gaussian(10)|repeat(2);\n"})
    EXPECT_TRUE(ledger.spend({{"b", "a"}, "k", same}).replayed) << same;
  for (const char* other : {"gaussian(10) | repeat(3)", "gaussian(10, 2) | repeat(2)", "gdp(0.1) | repeat(2)", "gaussian(10)"})
    EXPECT_THAT(message_of([&] { ledger.spend({{"a", "b"}, "k", other}); }), HasSubstr("was used")) << other;
}

TEST_P(LedgerOn, DrawsOnceForEachToken) {
  Ledger ledger = place.open();
  ledger.create(account("a", mu_cap("1")));
  EXPECT_EQ(ledger.reserve({{"a"}, "k", "gaussian(sigma=2)"}).token, TokenState::open);
  EXPECT_EQ(ledger.reserve({{"a"}, "k", "gaussian(sigma=2)"}).token, TokenState::open);
  EXPECT_EQ(ledger.use("a", "k").token, TokenState::used);
  EXPECT_THAT(message_of([&] { ledger.use("a", "k"); }), HasSubstr("key: the token of key 'k' is used up"));
  EXPECT_EQ(ledger.reserve({{"a"}, "k", "gaussian(sigma=2)"}).token, TokenState::used);
  ledger.spend({{"a"}, "plain", "gaussian(sigma=2)"});
  EXPECT_THAT(message_of([&] { ledger.use("a", "plain"); }), HasSubstr("without a token"));
  EXPECT_THAT(message_of([&] { ledger.use("a", "nothing"); }), HasSubstr("no reservation"));
  EXPECT_EQ(ledger.account("a").spent, "0.5");
  EXPECT_TRUE(ledger.verify().intact);
}

TEST_P(LedgerOn, ChangesCapsButNotBelowWhatIsSpent) {
  Ledger ledger = place.open();
  ledger.create(account("a", mu_cap("1")));
  ledger.spend({{"a"}, "k", "gaussian(sigma=2)"});
  EXPECT_THAT(message_of([&] { ledger.change_cap("a", mu_cap("0.4")); }), HasSubstr("0.25 is spent already"));
  EXPECT_EQ(ledger.change_cap("a", mu_cap("0.5")).cap, "0.25");
  EXPECT_EQ(ledger.change_cap("a", mu_cap("2")).left, "3.75");
  EXPECT_TRUE(ledger.verify().intact);
}

TEST_P(LedgerOn, RefusesBadInputAndChargesNothing) {
  Ledger ledger = place.open();
  ledger.create(account("a", mu_cap("1")));
  const std::string head = ledger.verify().head;
  const auto refused = [&](const Spend& request) { return message_of([&] { ledger.spend(request); }); };
  EXPECT_THAT(refused({{"b"}, "k", "gaussian(1)"}), HasSubstr("there is no account 'b'. Known: a"));
  EXPECT_THAT(refused({{"a"}, "", "gaussian(1)"}), HasSubstr("key: ''"));
  EXPECT_THAT(refused({{"a"}, std::string(201, 'x'), "gaussian(1)"}), HasSubstr("key: "));
  EXPECT_THAT(refused({{"a"}, "k\n", "gaussian(1)"}), HasSubstr("printable"));
  EXPECT_THAT(refused({{"a", "a"}, "k", "gaussian(1)"}), HasSubstr("named twice"));
  EXPECT_THAT(refused({{}, "k", "gaussian(1)"}), HasSubstr("account"));
  EXPECT_THAT(refused({{"a"}, "k", "gaussian(?)"}), HasSubstr("?"));
  EXPECT_THAT(refused({{"a"}, "k", "gausian(1)"}), HasSubstr("gaussian"));
  EXPECT_THAT(refused({{"a"}, "k", "gaussian(1) | sample(size=1, of=10)"}), HasSubstr("neighbours"));
  EXPECT_THAT(refused({{"a"}, "k", "gaussian(1e-200)"}), HasSubstr("mu"));
  EXPECT_THAT(refused({{"a"}, "k", "gaussian(1e-5)"}), HasSubstr("budget"));
  EXPECT_THAT(message_of([&] { ledger.create(account("a", mu_cap("2"))); }), HasSubstr("exists already"));
  EXPECT_THAT(message_of([&] { ledger.create(account("b,c", mu_cap("2"))); }), HasSubstr("without commas"));
  for (const char* mu : {"-1", "0", "-1e-300"})
    EXPECT_THAT(message_of([&] { ledger.create(account("b", mu_cap(mu))); }), HasSubstr("above 0")) << mu;
  EXPECT_THAT(message_of([&] { static_cast<void>(ledger.history("b")); }), HasSubstr("there is no account"));
  EXPECT_EQ(ledger.verify().head, head);
}

TEST_P(LedgerOn, SpendsManyWithOneWrite) {
  Ledger ledger = place.open();
  ledger.create(account("a", mu_cap("0.5")));
  std::vector<Spend> requests;
  for (int i = 0; i < 40; ++i) requests.push_back({{"a"}, "k" + std::to_string(i), i == 3 ? "gaussian(?)" : "gaussian(sigma=10)"});
  requests.push_back(requests[0]);
  const auto outcomes = ledger.spend_all(requests);
  int charged = 0;
  for (const auto& one : outcomes) charged += std::holds_alternative<Receipt>(one) && !std::get<Receipt>(one).replayed ? 1 : 0;
  EXPECT_EQ(charged, 25);
  EXPECT_TRUE(std::get<Receipt>(outcomes.back()).replayed);
  EXPECT_THAT(std::get<std::string>(outcomes[3]), HasSubstr("?"));
  EXPECT_THAT(std::get<std::string>(outcomes[39]), HasSubstr("0 left"));
  EXPECT_EQ(ledger.account("a").spent, "0.25");
  EXPECT_TRUE(ledger.verify().intact);
}

TEST_P(LedgerOn, ExportsALogThatAnotherProgramCanCheck) {
  Ledger ledger = place.open();
  ledger.create(account("a", mu_cap("1")));
  for (const char* key : {"k", "l", "a \"quoted\" key"}) ledger.spend({{"a"}, key, "gaussian(sigma=5)"});
  std::string previous(64, '0');
  std::uint64_t count = 0;
  ledger.export_lines([&](std::string_view line) {
    const json entry = json::parse(line);
    const std::string body = entry["body"];
    EXPECT_EQ(entry["hash"], noise::sha256(body));
    EXPECT_EQ(json::parse(body)["previous"], previous);
    EXPECT_EQ(json::parse(body)["sequence"], ++count);
    previous = entry["hash"];
  });
  EXPECT_EQ(count, 4U);
  EXPECT_EQ(previous, ledger.verify().head);
}

/// Each change behind the ledger's back is found. Triggers are dropped first, as someone who owns the store could.
TEST_P(LedgerOn, FindsTampering) {
  const std::vector<std::string> changes = {
      "UPDATE tradeoff_charge SET amount = 1 WHERE seq = 3",
      "UPDATE tradeoff_charge SET account = 'b' WHERE seq = 3",
      "UPDATE tradeoff_charge SET high = '0.1' WHERE seq = 3",
      "UPDATE tradeoff_entry SET plan = 'gaussian(100)' WHERE seq = 3",
      "UPDATE tradeoff_entry SET idem_key = 'other' WHERE seq = 3",
      "UPDATE tradeoff_entry SET time = '1999' WHERE seq = 4",
      "UPDATE tradeoff_entry SET hash = previous WHERE seq = 4",
      "DELETE FROM tradeoff_entry WHERE seq = 4",
      "DELETE FROM tradeoff_charge WHERE seq = 4",
      "UPDATE tradeoff_entry SET seq = 100 WHERE seq = 4",
      "UPDATE tradeoff_account SET spent = 0 WHERE name = 'a'",
      "UPDATE tradeoff_account SET cap = cap + cap WHERE name = 'a'",
      "UPDATE tradeoff_account SET neighbours = 'replace-one' WHERE name = 'a'",
      "DELETE FROM tradeoff_account WHERE name = 'b'",
      "UPDATE tradeoff_account SET name = 'c' WHERE name = 'b'",
      "UPDATE tradeoff_token SET state = 'open'",
      "DELETE FROM tradeoff_token",
      "UPDATE tradeoff_chain SET seq = 4",
      "UPDATE tradeoff_charge SET position = 7 WHERE seq = 3",
      "UPDATE tradeoff_charge SET idem_key = 'other' WHERE seq = 3",
      "UPDATE tradeoff_account SET unit = 'nobody' WHERE name = 'a'",
      "UPDATE tradeoff_account SET block_of = 'b' WHERE name = 'a'",
      "UPDATE tradeoff_account SET entries = 9 WHERE name = 'a'",
      "UPDATE tradeoff_entry SET digest = hash WHERE seq = 3",
      "UPDATE tradeoff_entry SET previous = hash WHERE seq = 3",
      // two entries change places
      "UPDATE tradeoff_entry SET seq = CASE seq WHEN 3 THEN -4 WHEN 4 THEN -3 ELSE seq END",
  };
  for (const std::string& change : changes) {
    Place one(GetParam());
    std::string head;
    {
      Ledger ledger = one.open();
      for (const char* name : {"a", "b"}) ledger.create(account(name, mu_cap("1")));
      for (const char* key : {"k", "l", "m"}) ledger.spend({{"a"}, key, "gaussian(sigma=5)"});
      ledger.reserve({{"a"}, "n", "gaussian(sigma=5)"});
      ledger.use("a", "n");
      head = ledger.verify().head;
    }
    const auto raw = one.raw();
    for (const char* table : {"tradeoff_entry", "tradeoff_charge"}) {
      if (GetParam() == "sqlite") {
        EXPECT_THROW(raw->run(std::string("DELETE FROM ") + table), StoreError);
        for (const char* kind : {"_no_UPDATE", "_no_DELETE"}) raw->run(std::string("DROP TRIGGER ") + table + kind);
      } else {
        EXPECT_THROW(raw->run(std::string("DELETE FROM ") + table), StoreError);
        raw->run(std::string("DROP TRIGGER ") + table + "_kept ON " + table);
      }
    }
    EXPECT_TRUE(one.open().verify(head).intact);
    raw->run(change);
    EXPECT_FALSE(one.open().verify(head).intact) << change;
  }
}

/// A log that was cut at its end, with all balances made to fit, is found by the head of a receipt only.
TEST_P(LedgerOn, FindsACutLogByTheHeadOfAReceipt) {
  Ledger ledger = place.open();
  ledger.create(account("a", mu_cap("1")));
  const Receipt first = ledger.spend({{"a"}, "k", "gaussian(sigma=5)"});
  const Receipt last = ledger.spend({{"a"}, "l", "gaussian(sigma=5)"});
  EXPECT_TRUE(ledger.verify(first.head).intact);
  EXPECT_TRUE(ledger.verify(last.head).intact);
  EXPECT_FALSE(ledger.verify(std::string(64, 'a')).intact);
  const auto raw = place.raw();
  for (const char* table : {"tradeoff_entry", "tradeoff_charge"}) {
    if (GetParam() == "sqlite")
      raw->run(std::string("DROP TRIGGER ") + table + "_no_DELETE");
    else
      raw->run(std::string("DROP TRIGGER ") + table + "_kept ON " + table);
    raw->run(std::string("DELETE FROM ") + table + " WHERE seq = 3");
  }
  raw->run("UPDATE tradeoff_chain SET seq = 2, hash = $1", {first.head});
  raw->run("UPDATE tradeoff_account SET spent = 40000000000, entries = 1, head = $1", {first.head});
  EXPECT_TRUE(ledger.verify().intact);
  EXPECT_TRUE(ledger.verify(first.head).intact);
  EXPECT_FALSE(ledger.verify(last.head).intact);
}

/// The reference model: what a ledger in memory would do.
struct Model {
  struct Book {
    std::int64_t cap, spent = 0;
  };
  std::map<std::string, Book> books;
  std::map<std::pair<std::string, std::string>, std::string> keys;  // account and key: the request

  /// "charged", "replayed", "conflict" or "refused".
  std::string spend(const Spend& request, std::int64_t cost) {
    std::string what = request.plan;
    for (const std::string& name : request.accounts) what += "," + name;
    for (const std::string& name : request.accounts)
      if (const auto found = keys.find({name, request.key}); found != keys.end()) return found->second == what ? "replayed" : "conflict";
    for (const std::string& name : request.accounts)
      if (books[name].spent + cost > books[name].cap) return "refused";
    for (const std::string& name : request.accounts) {
      books[name].spent += cost;
      keys[{name, request.key}] = what;
    }
    return "charged";
  }
};

TEST_P(LedgerOn, DoesWhatTheModelDoes) {
  std::mt19937 random(20261116);
  const int rounds = 2, steps = scaled(150);
  for (int round = 0; round < rounds; ++round) {
    Place one(GetParam());
    Model model;
    auto ledger = std::make_unique<Ledger>(one.open());
    for (const char* name : {"a", "b", "c"}) {
      ledger->create(account(name, mu_cap("2")));
      model.books[name] = {4'000'000'000'000};
    }
    for (int step = 0; step < steps; ++step) {
      Spend request;
      for (const char* name : {"a", "b", "c"})
        if (random() % 2 == 0) request.accounts.emplace_back(name);
      if (request.accounts.empty()) request.accounts.emplace_back("b");
      request.key = "k" + std::to_string(random() % 60);
      const int sigma = 1 << (1 + random() % 4);
      request.plan = "gaussian(sigma=" + std::to_string(sigma) + ")";
      std::string outcome;
      try {
        outcome = ledger->spend(request).replayed ? "replayed" : "charged";
      } catch (const KeyError&) {
        outcome = "conflict";
      } catch (const BudgetError&) {
        outcome = "refused";
      }
      ASSERT_EQ(outcome, model.spend(request, 1'000'000'000'000 / (sigma * sigma))) << step;
      if (random() % 40 == 0) ledger = std::make_unique<Ledger>(one.open());
    }
    for (const auto& [name, book] : model.books) EXPECT_EQ(std::stod(ledger->account(name).spent), static_cast<double>(book.spent) * 1e-12);
    EXPECT_TRUE(ledger->verify().intact);
  }
}

TEST(SqliteStore, RefusesWhatIsNoLedger) {
  Place place("sqlite");
  EXPECT_THAT(message_of([&] { Ledger ledger(place.url()); }), HasSubstr("there is no ledger at"));
  EXPECT_FALSE(std::filesystem::exists(place.file()));
  std::ofstream(place.file()) << "this is not a database, but it is long enough to look like one: " << std::string(2000, 'x');
  EXPECT_THAT(message_of([&] { Ledger ledger(place.url()); }), HasSubstr("not a ledger"));
  EXPECT_THAT(message_of([&] { Ledger ledger("budget.db"); }), HasSubstr("write sqlite:PATH"));
  EXPECT_THAT(message_of([&] { Ledger ledger("sqlite:"); }), HasSubstr("path of a file"));
  EXPECT_THAT(message_of([&] { Ledger ledger("sqlite:/nowhere/at/all.db", Ledger::Open::or_create); }), HasSubstr("store: "));
  EXPECT_THAT(message_of([&] { Ledger ledger("postgresql://nobody@127.0.0.1:1/nothing"); }), HasSubstr("store: "));
}

TEST(SqliteStore, RefusesAnotherVersionOfItsTables) {
  Place place("sqlite");
  static_cast<void>(place.open());
  place.raw()->run("UPDATE tradeoff_meta SET version = '0'");
  EXPECT_THAT(message_of([&] { Ledger ledger(place.url()); }), HasSubstr("version 0 of the tables"));
}

TEST(SqliteStore, FindsARestoredBackup) {
  Place place("sqlite");
  const std::string copy = place.file() + ".copy";
  {
    Ledger ledger = place.open();
    ledger.create(account("a", mu_cap("1")));
    ledger.spend({{"a"}, "k", "gaussian(sigma=5)"});
  }
  std::filesystem::copy_file(place.file(), copy);
  const std::string head = place.open().spend({{"a"}, "l", "gaussian(sigma=5)"}).head;
  EXPECT_TRUE(place.open().verify(head).intact);
  for (const char* ending : {"-wal", "-shm"}) std::filesystem::remove(place.file() + ending);
  std::filesystem::copy_file(copy, place.file(), std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(place.open().verify().intact);
  EXPECT_FALSE(place.open().verify(head).intact);
}

}  // namespace
}  // namespace tradeoff::detail::test
