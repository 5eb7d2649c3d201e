// SPDX-License-Identifier: Apache-2.0
#include "ledger/state.h"

#include <unistd.h>

#include <algorithm>
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

/// Whether what was priced for the one holds for the other.
bool has_price_of(const AccountRow& a, const AccountRow& b) {
  return a.currency == b.currency && a.neighbours == b.neighbours && a.slack_cap == b.slack_cap && a.block_of == b.block_of;
}

}  // namespace

AccountRow account_of(const Row& row) {
  return {row[0],        row[1],        row[2],        row[3],        row[4],         row[5],
          whole(row[6]), whole(row[7]), whole(row[8]), whole(row[9]), whole(row[10]), row[11]};
}

Neighbours neighbours_of(const AccountRow& row) { return read_neighbours_word(row.neighbours); }

Account to_account(const AccountRow& row) {
  const AccountCurrency currency = read_currency(row.currency);
  Account account;
  account.name = row.name;
  account.currency = row.currency;
  account.neighbours = read_neighbours_word(row.neighbours);
  account.unit = row.unit;
  account.block_of = row.block_of;
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
  if (!row.block_of.empty()) out.key("block_of").text(row.block_of);
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
  bool is_new = false;
  std::vector<Row> version;
  transact(Access::glance, [&] {
    is_new = !store->has_tables();
    if (!is_new) version = store->run("SELECT version FROM tradeoff_meta");
  });
  if (is_new) {
    if (!create) throw StoreError("the store holds no ledger; `tradeoff ledger create` makes one");
    transact(Access::write, [&] {
      if (!store->has_tables()) {  // otherwise another process was faster
        for (const std::string& statement : store->schema()) store->run(statement);
        store->run("INSERT INTO tradeoff_meta (version) VALUES ($1)", {schema_version});
        store->run("INSERT INTO tradeoff_chain (one, seq, hash) VALUES (1, 0, $1)", {first_hash()});
      }
      version = store->run("SELECT version FROM tradeoff_meta");
    });
  }
  if (version.size() != 1 || version[0][0] != schema_version)
    throw StoreError("the ledger has version " + (version.empty() ? "unknown" : version[0][0]) +
                     " of the tables; this program reads version " + schema_version);
}

/// Connects again, until the deadline.
void LedgerState::reach(std::chrono::steady_clock::time_point deadline, std::string why) {
  while (true) {
    if (std::chrono::steady_clock::now() > deadline)
      throw StoreError("the connection to the store was lost (" + why +
                       "); whether this was charged is unknown: repeat it with the same key");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    try {
      return store->reconnect();
    } catch (const std::exception& error) {
      why = error.what();
    }
  }
}

void LedgerState::transact(Access access, const std::function<void()>& work) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (true) {
    try {
      if (getpid() != process) {  // after a fork the connection belongs to the parent
        store->reconnect();
        process = getpid();
      }
      balances_.clear();
      charged_.clear();
      appended_ = false;
      if (access == Access::write) {
        const Row head = store->begin_write();
        sequence_ = head.empty() ? 0 : static_cast<std::uint64_t>(whole(head[0]));
        head_ = head.empty() ? "" : head[1];
      } else {
        store->begin_read();
      }
      work();
      write_balances();
      store->commit();
      if (access != Access::glance) store->make_durable();
      return;
    } catch (const ConnectionLost& lost) {
      store->roll_back();
      reach(deadline, lost.what());
    } catch (...) {
      store->roll_back();
      throw;
    }
  }
}

void LedgerState::charge_together(std::span<Waiting* const> all) {
  try {
    const std::lock_guard lock(mutex);
    transact(Access::write, [&] {
      for (Waiting* const one : all) {
        one->error = nullptr;  // the transaction may be repeated
        try {
          one->receipt = charge(*one->spend);  // a refusal is decided before anything is written
        } catch (const StoreError&) {
          throw;
        } catch (const ConnectionLost&) {
          throw;
        } catch (...) {
          one->error = std::current_exception();
        }
      }
    });
  } catch (...) {
    for (Waiting* const one : all) one->error = std::current_exception();
  }
}

Receipt LedgerState::charge_in_turn(const PricedSpend& spend) {
  Waiting mine{.spend = &spend};
  std::unique_lock lock(queue_mutex_);
  queue_.push_back(&mine);
  while (!mine.is_settled) {
    if (has_leader_) {
      settled_.wait(lock);
      continue;
    }
    // This thread charges for all that wait now; the others wait for the next turn.
    has_leader_ = true;
    std::vector<Waiting*> all;
    all.swap(queue_);
    lock.unlock();
    charge_together(all);
    lock.lock();
    for (Waiting* const one : all) one->is_settled = true;
    has_leader_ = false;
    settled_.notify_all();
  }
  lock.unlock();
  if (mine.error) std::rethrow_exception(mine.error);
  return std::move(mine.receipt);
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

std::vector<AccountRow> LedgerState::accounts_of(const std::string& name) {
  std::vector<AccountRow> blocks;
  for (const Row& row :
       store->run(std::string("SELECT ") + account_columns + " FROM tradeoff_account WHERE block_of = $1 ORDER BY name", {name}))
    blocks.push_back(account_of(row));
  if (blocks.empty()) blocks.push_back(known_account(name));
  return blocks;
}

AccountRow& LedgerState::balance_of(const std::string& name) {
  if (const auto found = balances_.find(name); found != balances_.end()) return found->second;
  return balances_[name] = known_account(name);
}

void LedgerState::write_balances() {
  for (const std::string& name : charged_) {
    const AccountRow& row = balances_.at(name);
    store->run_later("UPDATE tradeoff_account SET spent = $1, slack_spent = $2, entries = $3, head = $4 WHERE name = $5",
                     {std::to_string(row.spent), std::to_string(row.slack_spent), std::to_string(row.entries), row.head, row.name});
  }
  if (appended_) store->run_later("UPDATE tradeoff_chain SET seq = $1, hash = $2 WHERE one = 1", {std::to_string(sequence_), head_});
}

std::pair<Entry, std::string> LedgerState::append(Entry entry) {
  entry.sequence = sequence_ + 1;
  entry.previous = head_;
  entry.time = time_now();
  const std::string hash = hash_of(entry), number = std::to_string(entry.sequence);
  store->run_later(std::string("INSERT INTO tradeoff_entry (") + entry_columns + ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                   {number, entry.time, entry.kind, entry.key, entry.digest, entry.plan, entry.detail, entry.previous, hash});
  for (std::size_t i = 0; i < entry.charges.size(); ++i) {
    const StoredCharge& charge = entry.charges[i];
    store->run_later(std::string("INSERT INTO tradeoff_charge (") + charge_columns + ", position) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                     {number, charge.account, std::to_string(charge.amount), std::to_string(charge.slack), charge.low, charge.high,
                      entry.key, std::to_string(i)});
  }
  sequence_ = entry.sequence;
  head_ = hash;
  appended_ = true;
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

std::optional<Receipt> LedgerState::replay(const std::vector<AccountRow>& accounts, const std::string& key, const std::string& digest) {
  for (const AccountRow& account : accounts) {
    const std::vector<Row> rows = store->run(
        "SELECT e.seq, e.digest FROM tradeoff_charge c JOIN tradeoff_entry e ON e.seq = c.seq WHERE c.account = $1 AND c.idem_key = $2",
        {account.name, key});
    if (rows.empty()) continue;
    if (rows[0][1] != digest)
      throw KeyError("key '" + key.substr(0, 60) + "' was used on account '" + account.name + "' for something else (entry " + rows[0][0] +
                     "); nothing was charged. Another spend needs another key");
    return receipt_at(static_cast<std::uint64_t>(whole(rows[0][0])), true);
  }
  return std::nullopt;
}

// [gdp-filter] [renyi-filter] [pure-filter] [approximate-filter] Refuses what would exceed a cap; nothing is written before all agree.
Receipt LedgerState::charge(const PricedSpend& spend) {
  if (auto before = replay(spend.accounts, spend.key, spend.digest)) return *before;
  for (const std::string& name : spend.names) {
    const auto blocks =
        std::count_if(spend.accounts.begin(), spend.accounts.end(), [&](const AccountRow& one) { return one.block_of == name; });
    if (blocks > 0 && accounts_of(name).size() != static_cast<std::size_t>(blocks)) throw PriceIsOld();
  }
  for (std::size_t i = 0; i < spend.charges.size(); ++i) {
    const StoredCharge& one = spend.charges[i];
    const AccountRow& account = balance_of(one.account);
    if (!has_price_of(account, spend.accounts[i])) throw PriceIsOld();
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
  Receipt receipt{.key = spend.key, .charges = {}, .sequence = entry.sequence, .head = hash, .replayed = false};
  for (const StoredCharge& one : spend.charges) {
    AccountRow& account = balance_of(one.account);
    account.spent += one.amount;
    account.slack_spent += one.slack;
    ++account.entries;
    account.head = hash;
    if (std::find(charged_.begin(), charged_.end(), one.account) == charged_.end()) charged_.push_back(one.account);
    receipt.charges.push_back(to_charge(one, account.currency));
  }
  if (spend.kind == "reserve")
    store->run_later("INSERT INTO tradeoff_token (seq, state) VALUES ($1, 'open')", {std::to_string(entry.sequence)});
  receipt.token = spend.kind == "reserve" ? TokenState::open : TokenState::none;
  return receipt;
}

}  // namespace tradeoff::detail::ledger
