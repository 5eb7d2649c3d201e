// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ledger/currency.h"
#include "ledger/entry.h"
#include "ledger/store.h"
#include "tradeoff/ledger.h"

namespace tradeoff::detail::ledger {

/// A row of the table of accounts.
struct AccountRow {
  std::string name = {};
  std::string currency = {};
  std::string neighbours = {};
  std::string unit = {};
  std::string block_of = {};
  std::string stated = {};
  Units cap = 0;
  Units spent = 0;
  Units slack_cap = 0;
  Units slack_spent = 0;
  std::int64_t entries = 0;
  std::string head = {};
};
inline constexpr const char* account_columns =
    "name, currency, neighbours, unit, block_of, stated, cap, spent, slack_cap, slack_spent, entries, head";
[[nodiscard]] AccountRow account_of(const Row& row);
[[nodiscard]] Account to_account(const AccountRow& row);
[[nodiscard]] Neighbours neighbours_of(const AccountRow& row);

[[nodiscard]] Charge to_charge(const StoredCharge& stored, const std::string& currency);

/// The account as the log records it.
[[nodiscard]] std::string detail_of(const AccountRow& row);

/// A spend whose price is known: everything that is decided outside the transaction.
struct PricedSpend {
  std::string kind = {};
  std::string key = {};
  std::string digest = {};
  std::string plan = {};
  std::vector<std::string> names = {};     ///< as the caller wrote them, sorted: accounts and groups of blocks
  std::vector<AccountRow> accounts = {};   ///< as they were when the price was found, in the order of their names
  std::vector<StoredCharge> charges = {};  ///< of those accounts
  std::optional<std::string> step_by_step = {};
};

/// The accounts have changed since the price was found: find it again.
struct PriceIsOld final : std::exception {};

enum class Access {
  glance,  ///< reads what need not be durable, because nothing is told to anybody
  read,
  write,
};

/// What stands behind a Ledger.
struct LedgerState {
  explicit LedgerState(std::unique_ptr<Store> of) : store(std::move(of)) {}

  std::unique_ptr<Store> store;
  std::mutex mutex;  ///< of the connection and of what is remembered
  int process = 0;   ///< the process that opened the connection
  /// Prices of plans by everything they depend on, because many spends have the same plan; the same for plans step by step; and the
  /// accounts that a name stands for, whose terms hardly ever change.
  std::map<std::string, Price> prices;
  std::map<std::string, std::optional<std::string>> step_prices;
  std::map<std::string, std::vector<AccountRow>> terms;

  void prepare(bool create);
  /// Runs `work` in a transaction and commits it; what it wrote or read is durable afterwards. If the connection breaks, it connects again
  /// and repeats the whole transaction: every transaction of the ledger may be repeated.
  void transact(Access access, const std::function<void()>& work);

  /// Charges all of them with one write to the disk; each has its receipt or its error afterwards.
  struct Waiting {
    const PricedSpend* spend = nullptr;
    Receipt receipt = {};
    std::exception_ptr error = nullptr;
    bool is_settled = false;
  };
  void charge_together(std::span<Waiting* const> all);
  /// The same for one spend, together with those that other threads ask for while the disk is busy. Throws its error.
  Receipt charge_in_turn(const PricedSpend& spend);

  // The functions below run inside a transaction.
  [[nodiscard]] std::optional<AccountRow> find_account(const std::string& name);
  [[nodiscard]] AccountRow known_account(const std::string& name);
  /// The account of this name, or the blocks of the group of this name. Throws DomainError if there is neither.
  [[nodiscard]] std::vector<AccountRow> accounts_of(const std::string& name);
  /// Appends the entry to the chain and returns it with its number and hash.
  std::pair<Entry, std::string> append(Entry entry);
  [[nodiscard]] std::optional<Receipt> replay(const std::vector<AccountRow>& accounts, const std::string& key, const std::string& digest);
  [[nodiscard]] Receipt receipt_at(std::uint64_t sequence, bool replayed);
  [[nodiscard]] Receipt charge(const PricedSpend& spend);
  [[nodiscard]] TokenState token_at(std::uint64_t sequence);

 private:
  void reach(std::chrono::steady_clock::time_point deadline, std::string why);
  [[nodiscard]] AccountRow& balance_of(const std::string& name);
  void write_balances();

  /// The transaction that runs: the head of the log, and the accounts that it has read. They are written once, at its end.
  std::uint64_t sequence_ = 0;
  std::string head_;
  bool appended_ = false;
  std::map<std::string, AccountRow> balances_;
  std::vector<std::string> charged_;

  /// Spends that wait for the disk.
  std::mutex queue_mutex_;
  std::condition_variable settled_;
  std::vector<Waiting*> queue_;
  bool has_leader_ = false;
};

}  // namespace tradeoff::detail::ledger
