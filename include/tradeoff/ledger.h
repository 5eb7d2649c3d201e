// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tradeoff/curve.h"
#include "tradeoff/error.h"
#include "tradeoff/plan.h"

// The budget ledger: accounts of privacy budget in a durable store that many programs use at once. It is a library of its own,
// tradeoff::ledger, because it needs SQLite; the accountant itself depends on nothing.
namespace tradeoff {

/// The store cannot be opened, read or written. Nothing was charged, unless the message says that the outcome is unknown.
class StoreError final : public Error {
 public:
  using Error::Error;
  [[nodiscard]] const char* kind() const noexcept override { return "store"; }
};

/// A spend that an account cannot afford. Nothing was charged.
class BudgetError final : public Error {
 public:
  using Error::Error;
  [[nodiscard]] const char* kind() const noexcept override { return "budget"; }
};

/// A key that was used for something else, or whose token is used up. Nothing was charged and nothing may be drawn.
class KeyError final : public Error {
 public:
  using Error::Error;
  [[nodiscard]] const char* kind() const noexcept override { return "key"; }
};

/// A cap as stated. `mu`, `rho`, `divergence` or `advantage` alone, or `epsilon` and `delta`; `slack` is the part of the account's
/// delta that is reserved for plans which keep their guarantee except with a small probability.
struct StatedCap {
  std::optional<Number> mu = {};
  std::optional<Number> rho = {};
  std::optional<Number> divergence = {};  ///< Renyi, of the order of the account
  std::optional<Number> advantage = {};
  std::optional<Number> epsilon = {};
  std::optional<Number> delta = {};
  std::optional<Number> slack = {};
};

struct AccountTerms {
  std::string name;
  std::string currency = "gdp";  ///< gdp, zcdp, pure, rdp(ORDER) or approximate
  StatedCap cap;
  Neighbours neighbours = Neighbours::add_remove;
  std::string unit;  ///< what is protected, in words: "one patient"
  /// A group of accounts for disjoint parts of the data: every record is in one block only, as the caller states. [parallel-composition]
  std::string block_of = {};
};

/// An account as it is now. Amounts are exact decimals in the additive unit of the currency: mu squared, rho, epsilon, the divergence,
/// epsilon squared.
struct Account {
  std::string name;
  std::string currency;
  Neighbours neighbours = Neighbours::add_remove;
  std::string unit;
  std::string block_of;  ///< the group of disjoint blocks that it belongs to; empty for none
  std::string stated;    ///< the cap as it was stated, and how it was converted
  std::string cap;
  std::string spent;
  std::string left;
  std::string planned = "0";  ///< the part of `spent` that is reserved, with noise that is not drawn yet
  std::string slack_cap;
  std::string slack_spent;
  std::uint64_t entries = 0;  ///< number of spends
  std::string head;           ///< hash of the last entry about this account
  std::string guarantee;      ///< a plan that states what the cap guarantees, however the spends were chosen
};

/// What was charged to one account.
struct Charge {
  std::string account;
  std::string currency;
  std::string quantity;  ///< what was measured: mu, rho, epsilon or divergence
  Interval value;        ///< of the plan; the upper end was charged
  std::string amount;    ///< exact decimal, in the additive unit
  std::string slack;     ///< exact decimal; "0" if the guarantee of the plan has no exception
};

enum class TokenState { none, open, used };

/// The proof of a spend. `head` is the hash of the log up to and including this entry.
struct Receipt {
  std::string key;
  std::vector<Charge> charges;
  std::uint64_t sequence = 0;
  std::string head;
  bool replayed = false;  ///< the key had been charged before; nothing was charged now
  TokenState token = TokenState::none;
  std::optional<std::string> step_by_step = {};  ///< what the first account would have paid for the same steps one by one
};

/// One entry of the history of an account.
struct HistoryEntry {
  std::uint64_t sequence = 0;
  std::string time;
  std::string kind;  ///< spend or reserve
  std::string key;
  std::string plan;
  Charge charge;
  std::string head;
  TokenState token = TokenState::none;
};

/// A spend: the plan is fixed before any of its outputs is seen. All accounts are charged, or none. The name of a group charges all its
/// blocks.
struct Spend {
  std::vector<std::string> accounts;
  std::string key;
  std::string plan;
  std::optional<Number> slack = std::nullopt;  ///< the exception of the guarantee; by default the ledger chooses it
};

struct Verification {
  bool intact = true;
  std::uint64_t entries = 0;
  std::string head;
  std::vector<std::string> faults;  ///< at most a hundred
};

namespace detail::ledger {
class Store;
struct LedgerState;
}  // namespace detail::ledger

/// A ledger at `sqlite:PATH` or `postgresql://...`. Its functions may be called from several threads, whose spends share
/// writes to the disk, and after a fork, unless another thread of the parent was inside one of them.
///
/// At every time spent <= cap in every account; a receipt is returned only after the store has made the entry durable; a key is charged at
/// most once; entries add up to the balances. [gdp-filter] [renyi-filter] [pure-filter] [approximate-filter]
class Ledger {
 public:
  enum class Open { existing, or_create };
  explicit Ledger(const std::string& url, Open open = Open::existing);
  explicit Ledger(std::unique_ptr<detail::ledger::Store> store, Open open);  ///< for tests
  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;
  ~Ledger();

  /// Throws DomainError if the account exists or the cap does not fit the currency.
  Account create(const AccountTerms& terms);
  /// Changes the cap and records it. Throws DomainError if more than the new cap is spent already.
  Account change_cap(const std::string& account, const StatedCap& cap);

  /// Charges a plan. The same key and request return the same receipt again. Throws BudgetError, KeyError, DomainError, StoreError.
  Receipt spend(const Spend& request);
  /// The same, and opens a token: permission to draw the noise of the plan once.
  Receipt reserve(const Spend& request);
  /// Charges several spends with one write to the disk. Each is accepted or refused by itself; the text of a refusal is its error.
  std::vector<std::variant<Receipt, std::string>> spend_all(const std::vector<Spend>& requests);
  /// Uses up the token of a reservation. Returns once for each reservation; afterwards it throws KeyError.
  Receipt use(const std::string& account, const std::string& key);

  [[nodiscard]] std::vector<Account> accounts();
  [[nodiscard]] Account account(const std::string& name);
  /// The blocks of a group; the account itself if the name is that of an account.
  [[nodiscard]] std::vector<Account> accounts(const std::string& name);
  [[nodiscard]] std::vector<HistoryEntry> history(const std::string& account);

  /// Recomputes every hash and every balance. With a head of an earlier receipt: also checks that the log still contains that entry.
  [[nodiscard]] Verification verify(const std::string& expected_head = {});
  /// Calls `line` with each entry as JSON: {"hash": ..., "body": ...}. The hash is the SHA-256 of the body; the body names the hash before.
  void export_lines(const std::function<void(std::string_view)>& line);

 private:
  std::unique_ptr<detail::ledger::LedgerState> state_;
};

}  // namespace tradeoff
