// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/amount.h"
#include "ledger/store.h"

// An entry of the log. Its body is one line of JSON that names the hash of the entry before it; its own hash is the SHA-256 of the body.
namespace tradeoff::detail::ledger {

struct StoredCharge {
  std::string account;
  Units amount = 0;
  Units slack = 0;
  std::string low;  ///< the measured interval, as decimals that read back as the same doubles
  std::string high;
};

struct Entry {
  std::uint64_t sequence = 0;
  std::string time = {};    ///< for people; nothing depends on it
  std::string kind = {};    ///< create, cap, spend, reserve or use
  std::string key = {};     ///< of a spend; empty otherwise
  std::string digest = {};  ///< of the request: the same key with another digest is a conflict
  std::string plan = {};
  std::string detail = {};  ///< create, cap: the account as JSON; use: the sequence number of the reservation
  std::string previous = {};
  std::vector<StoredCharge> charges = {};
};

/// The hash before the first entry.
[[nodiscard]] std::string first_hash();
[[nodiscard]] std::string body_of(const Entry& entry);
[[nodiscard]] std::string hash_of(const Entry& entry);

/// The columns of an entry, and those of a charge.
inline constexpr const char* entry_columns = "seq, time, kind, idem_key, digest, plan, detail, previous, hash";
inline constexpr const char* charge_columns = "seq, account, amount, slack, low, high, idem_key";
[[nodiscard]] StoredCharge charge_of(const Row& row);

/// A whole number of a column. Throws StoreError if it is none.
[[nodiscard]] std::int64_t whole(std::string_view text);

}  // namespace tradeoff::detail::ledger
