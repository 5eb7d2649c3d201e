// SPDX-License-Identifier: Apache-2.0
#include "ledger/state.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <thread>

#include "plan/neighbours.h"
#include "report/json.h"

namespace tradeoff::detail::ledger {
namespace {

constexpr std::chrono::seconds patience{30};  // how long a lost connection is tried again: a server needs some seconds to restart

std::string time_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm fields = {};
  gmtime_r(&now, &fields);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &fields)};
}

Neighbours read_neighbours_word(const std::string& word) {
  for (const auto& [name, value] : neighbours_words)
    if (name == word) return value;
  throw StoreError("the store holds unknown neighbours '" + word.substr(0, 40) + "'");
}

}  // namespace

AccountRow account_of(const Row& row) {
  return {row[0], row[1], row[2], row[3], row[4], whole(row[5]), whole(row[6]), whole(row[7]), whole(row[8]), whole(row[9]), row[10]};
}

Account to_account(const AccountRow& row) {
  const AccountCurrency currency = read_currency(row.currency);
  Account account;
  account.name = row.name;
  account.currency = row.currency;
  account.neighbours = read_neighbours_word(row.neighbours);
  account.unit = row.unit;
  account.stated = row.stated;
  account.cap = to_decimal(row.cap, amount_places);
  account.spent = to_decimal(row.spent, amount_places);
  account.left = to_decimal(row.cap - row.spent, amount_places);
  account.slack_cap = to_decimal(row.slack_cap, slack_places);
  account.slack_spent = to_decimal(row.slack_spent, slack_places);
  account.entries = static_cast<std::uint64_t>(row.entries);
  account.head = row.head;
  account.guarantee = currency.row->guarantee(row.cap, row.slack_cap, currency.order);
  return account;
}

std::string detail_of(const AccountRow& row) {
  report::JsonWriter out;
  out.begin_object().key("account").text(row.name).key("currency").text(row.currency).key("neighbours").text(row.neighbours);
  out.key("unit").text(row.unit).key("stated").text(row.stated).key("cap").text(std::to_string(row.cap));
  return out.key("slack_cap").text(std::to_string(row.slack_cap)).end_object().str();
}

Charge to_charge(const StoredCharge& stored, const std::string& currency) {
  return {stored.account,
          currency,
          std::string(read_currency(currency).row->quantity),
          {std::strtod(stored.low.c_str(), nullptr), std::strtod(stored.high.c_str(), nullptr)},
          to_decimal(stored.amount, amount_places),
          to_decimal(stored.slack, slack_places)};
}

void LedgerState::prepare(bool create) {
  process = getpid();
  if (!store->has_tables()) {
    if (!create) throw StoreError("the store holds no ledger; `tradeoff ledger create` makes one");
    transact(true, [&] {
      if (store->has_tables()) return;  // another process was faster
      for (const std::string& statement : store->schema()) store->run(statement);
      store->run("INSERT INTO tradeoff_meta (version) VALUES ($1)", {schema_version});
      store->run("INSERT INTO tradeoff_chain (one, seq, hash) VALUES (1, 0, $1)", {first_hash()});
    });
  }
  const std::vector<Row> version = store->run("SELECT version FROM tradeoff_meta");
  if (version.size() != 1 || version[0][0] != schema_version)
    throw StoreError("the ledger has version " + (version.empty() ? "unknown" : version[0][0]) +
                     " of the tables; this program reads version " + schema_version);
}

void LedgerState::transact(bool writes, const std::function<void()>& work) {
  if (getpid() != process) {  // after a fork the connection belongs to the parent
    store->abandon();
    store->reconnect();
    process = getpid();
  }
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (true) {
    try {
      writes ? store->begin_write() : store->begin_read();
      work();
      store->commit();
      return;
    } catch (const ConnectionLost& lost) {
      store->roll_back();
      std::string why = lost.what();
      while (true) {
        if (std::chrono::steady_clock::now() > deadline)
          throw StoreError("the connection to the store was lost (" + why +
                           "); whether this was charged is unknown: repeat it with the same key");
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        try {
          store->reconnect();
          break;
        } catch (const std::exception& error) {
          why = error.what();
        }
      }
    } catch (...) {
      store->roll_back();
      throw;
    }
  }
}

std::optional<AccountRow> LedgerState::find_account(const std::string& name) {
  const std::vector<Row> rows = store->run(std::string("SELECT ") + account_columns + " FROM tradeoff_account WHERE name = $1", {name});
  return rows.empty() ? std::nullopt : std::optional(account_of(rows[0]));
}

AccountRow LedgerState::known_account(const std::string& name) {
  if (auto found = find_account(name)) return *found;
  std::string known;
  for (const Row& row : store->run("SELECT name FROM tradeoff_account ORDER BY name LIMIT 20"))
    known += (known.empty() ? "" : ", ") + row[0];
  throw DomainError("account: there is no account '" + name.substr(0, 60) + "'" + (known.empty() ? "" : ". Known: " + known));
}

std::pair<Entry, std::string> LedgerState::append(Entry entry) {
  const std::vector<Row> chain = store->run("SELECT seq, hash FROM tradeoff_chain WHERE one = 1");
  if (chain.size() != 1) throw StoreError("the store has lost the head of its log");
  entry.sequence = static_cast<std::uint64_t>(whole(chain[0][0])) + 1;
  entry.previous = chain[0][1];
  entry.time = time_now();
  const std::string hash = hash_of(entry), number = std::to_string(entry.sequence);
  store->run(std::string("INSERT INTO tradeoff_entry (") + entry_columns + ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
             {number, entry.time, entry.kind, entry.key, entry.digest, entry.plan, entry.detail, entry.previous, hash});
  for (std::size_t i = 0; i < entry.charges.size(); ++i) {
    const StoredCharge& charge = entry.charges[i];
    store->run(std::string("INSERT INTO tradeoff_charge (") + charge_columns + ", position) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
               {number, charge.account, std::to_string(charge.amount), std::to_string(charge.slack), charge.low, charge.high, entry.key,
                std::to_string(i)});
  }
  store->run("UPDATE tradeoff_chain SET seq = $1, hash = $2 WHERE one = 1", {number, hash});
  return {std::move(entry), hash};
}

TokenState LedgerState::token_at(std::uint64_t sequence) {
  const std::vector<Row> rows = store->run("SELECT state FROM tradeoff_token WHERE seq = $1", {std::to_string(sequence)});
  return rows.empty() ? TokenState::none : rows[0][0] == "open" ? TokenState::open : TokenState::used;
}

Receipt LedgerState::receipt_at(std::uint64_t sequence, bool replayed) {
  const std::string number = std::to_string(sequence);
  const std::vector<Row> entry = store->run("SELECT idem_key, hash FROM tradeoff_entry WHERE seq = $1", {number});
  if (entry.size() != 1) throw StoreError("the store has lost entry " + number + "; `tradeoff ledger verify` says more");
  Receipt receipt{.key = entry[0][0], .charges = {}, .sequence = sequence, .head = entry[0][1], .replayed = replayed};
  for (const Row& row :
       store->run(std::string("SELECT ") + charge_columns + " FROM tradeoff_charge WHERE seq = $1 ORDER BY position", {number}))
    receipt.charges.push_back(to_charge(charge_of(row), known_account(row[1]).currency));
  receipt.token = token_at(sequence);
  return receipt;
}

std::optional<Receipt> LedgerState::replay(const std::vector<std::string>& accounts, const std::string& key, const std::string& digest) {
  for (const std::string& account : accounts) {
    const std::vector<Row> rows = store->run(
        "SELECT e.seq, e.digest FROM tradeoff_charge c JOIN tradeoff_entry e ON e.seq = c.seq WHERE c.account = $1 AND c.idem_key = $2",
        {account, key});
    if (rows.empty()) continue;
    if (rows[0][1] != digest)
      throw KeyError("key '" + key.substr(0, 60) + "' was used on account '" + account + "' for something else (entry " + rows[0][0] +
                     "); nothing was charged. Another spend needs another key");
    return receipt_at(static_cast<std::uint64_t>(whole(rows[0][0])), true);
  }
  return std::nullopt;
}

// [gdp-filter] [renyi-filter] [pure-filter] [approximate-filter] Refuses what would exceed a cap; nothing is written before all agree.
Receipt LedgerState::charge(const PricedSpend& spend) {
  std::vector<std::string> names;
  for (const StoredCharge& one : spend.charges) names.push_back(one.account);
  if (auto before = replay(names, spend.key, spend.digest)) return *before;
  std::vector<AccountRow> accounts;
  for (const StoredCharge& one : spend.charges) {
    const AccountRow& account = accounts.emplace_back(known_account(one.account));
    if (one.amount > account.cap - account.spent)
      throw BudgetError("account '" + account.name + "' has " + to_decimal(account.cap - account.spent, amount_places) +
                        " left and the plan costs " + to_decimal(one.amount, amount_places) + " (" +
                        std::string(read_currency(account.currency).row->unit) + "); nothing was charged");
    if (one.slack > account.slack_cap - account.slack_spent)
      throw BudgetError("account '" + account.name + "' has a slack of " +
                        to_decimal(account.slack_cap - account.slack_spent, slack_places) + " left and the plan needs " +
                        to_decimal(one.slack, slack_places) + "; nothing was charged");
  }
  const auto [entry, hash] =
      append({.kind = spend.kind, .key = spend.key, .digest = spend.digest, .plan = spend.plan, .charges = spend.charges});
  const std::string number = std::to_string(entry.sequence);
  for (const StoredCharge& one : spend.charges)
    store->run(
        "UPDATE tradeoff_account SET spent = spent + $1, slack_spent = slack_spent + $2, entries = entries + 1, head = $3 WHERE name = $4",
        {std::to_string(one.amount), std::to_string(one.slack), hash, one.account});
  if (spend.kind == "reserve") store->run("INSERT INTO tradeoff_token (seq, state) VALUES ($1, 'open')", {number});
  Receipt receipt{.key = spend.key, .charges = {}, .sequence = entry.sequence, .head = hash, .replayed = false};
  for (std::size_t i = 0; i < accounts.size(); ++i) receipt.charges.push_back(to_charge(spend.charges[i], accounts[i].currency));
  receipt.token = spend.kind == "reserve" ? TokenState::open : TokenState::none;
  return receipt;
}

}  // namespace tradeoff::detail::ledger
