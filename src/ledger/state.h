// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
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
  std::string stated = {};
  Units cap = 0;
  Units spent = 0;
  Units slack_cap = 0;
  Units slack_spent = 0;
  std::int64_t entries = 0;
  std::string head = {};
};
inline constexpr const char* account_columns =
    "name, currency, neighbours, unit, stated, cap, spent, slack_cap, slack_spent, entries, head";
[[nodiscard]] AccountRow account_of(const Row& row);
[[nodiscard]] Account to_account(const AccountRow& row);

[[nodiscard]] Charge to_charge(const StoredCharge& stored, const std::string& currency);

/// The account as the log records it.
[[nodiscard]] std::string detail_of(const AccountRow& row);

/// A spend whose price is known: everything that is decided outside the transaction.
struct PricedSpend {
  std::string kind;
  std::string key;
  std::string digest;
  std::string plan;
  std::vector<StoredCharge> charges;  ///< in the order of the accounts' names
  std::optional<std::string> step_by_step = std::nullopt;
};

/// What stands behind a Ledger.
struct LedgerState {
  explicit LedgerState(std::unique_ptr<Store> of) : store(std::move(of)) {}

  std::unique_ptr<Store> store;
  std::mutex mutex;
  int process = 0;  ///< the process that opened the connection
  /// Prices of plans by everything they depend on, because many spends have the same plan; and the same for plans step by step.
  std::map<std::string, Price> prices;
  std::map<std::string, std::optional<std::string>> step_prices;

  void prepare(bool create);
  /// Runs `work` in a transaction and commits it. If the connection breaks, it connects again and repeats the whole transaction: every
  /// transaction of the ledger may be repeated.
  void transact(bool writes, const std::function<void()>& work);

  // The functions below run inside a transaction.
  [[nodiscard]] std::optional<AccountRow> find_account(const std::string& name);
  [[nodiscard]] AccountRow known_account(const std::string& name);
  /// Appends the entry to the chain and returns it with its number and hash.
  std::pair<Entry, std::string> append(Entry entry);
  [[nodiscard]] std::optional<Receipt> replay(const std::vector<std::string>& accounts, const std::string& key, const std::string& digest);
  [[nodiscard]] Receipt receipt_at(std::uint64_t sequence, bool replayed);
  [[nodiscard]] Receipt charge(const PricedSpend& spend);
  [[nodiscard]] TokenState token_at(std::uint64_t sequence);
};

}  // namespace tradeoff::detail::ledger
