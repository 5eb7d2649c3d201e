// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

// Is a recorded history linearizable: could every operation have happened at one moment between its call and its answer? The log says in
// which order the charges happened, so the question is decided without a search. Balances only grow: a refusal, a conflict or a replay
// that holds at any allowed moment holds at the last one, which is before the first charge whose call came after the answer.
namespace tradeoff::detail::test {

enum class Answer { none, charged, replayed, conflict, refused };

struct Operation {
  std::int64_t called = 0, answered = std::numeric_limits<std::int64_t>::max();  ///< on one clock
  std::string key = {};
  std::vector<std::string> accounts = {};
  std::int64_t cost = 0;
  Answer answer = Answer::none;  ///< none if the client was killed
  std::uint64_t sequence = 0;    ///< of the receipt
};

struct LoggedCharge {
  std::string account, key;
  std::int64_t cost = 0;
};
using Log = std::map<std::uint64_t, std::vector<LoggedCharge>>;  ///< by sequence number

inline std::vector<std::string> faults_of_history(std::vector<Operation> operations, const Log& log, std::int64_t cap) {
  std::vector<std::string> faults;
  std::map<std::pair<std::string, std::string>, std::uint64_t> charged_at;           // account and key
  std::map<std::string, std::vector<std::pair<std::uint64_t, std::int64_t>>> spent;  // account: balance after each of its entries
  for (const auto& [sequence, charges] : log)
    for (const LoggedCharge& one : charges) {
      charged_at[{one.account, one.key}] = sequence;
      auto& balances = spent[one.account];
      balances.emplace_back(sequence, (balances.empty() ? 0 : balances.back().second) + one.cost);
    }
  const auto balance_at = [&](const std::string& account, std::uint64_t sequence) -> std::int64_t {
    const auto& balances = spent[account];
    const auto after = std::upper_bound(balances.begin(), balances.end(), std::pair(sequence, std::numeric_limits<std::int64_t>::max()));
    return after == balances.begin() ? 0 : std::prev(after)->second;
  };
  // A killed client may have charged: then its entry is in the log.
  for (Operation& one : operations)
    if (one.answer == Answer::none)
      if (const auto found = charged_at.find({one.accounts.front(), one.key}); found != charged_at.end()) one.sequence = found->second;

  std::vector<const Operation*> charges;
  std::set<std::uint64_t> owned;
  for (const Operation& one : operations)
    if (one.answer == Answer::charged) {
      charges.push_back(&one);
      if (!owned.insert(one.sequence).second)
        faults.push_back("two operations were told that they made entry " + std::to_string(one.sequence));
    }
  std::sort(charges.begin(), charges.end(), [](const auto* a, const auto* b) { return a->sequence < b->sequence; });
  std::int64_t latest_call = std::numeric_limits<std::int64_t>::min();
  for (const Operation* one : charges) {
    if (latest_call > one->answered)
      faults.push_back("entry " + std::to_string(one->sequence) + " was answered before an earlier entry was asked for");
    latest_call = std::max(latest_call, one->called);
  }

  // The last moment of each answer: before every charge that was asked for later.
  std::sort(charges.begin(), charges.end(), [](const auto* a, const auto* b) { return a->called < b->called; });
  std::vector<std::uint64_t> first_after(charges.size() + 1, std::numeric_limits<std::uint64_t>::max());
  for (std::size_t i = charges.size(); i-- > 0;) first_after[i] = std::min(first_after[i + 1], charges[i]->sequence);
  for (const Operation& one : operations) {
    const auto later =
        std::upper_bound(charges.begin(), charges.end(), one.answered, [](std::int64_t at, const Operation* x) { return at < x->called; });
    const std::uint64_t last = first_after[static_cast<std::size_t>(later - charges.begin())] - 1;
    const auto has_key = [&](const std::string& account) {
      const auto found = charged_at.find({account, one.key});
      return found != charged_at.end() && found->second <= last;
    };
    const auto is_exhausted = [&](const std::string& account) { return balance_at(account, last) + one.cost > cap; };
    if (one.answer == Answer::replayed && one.sequence > last) faults.push_back("key " + one.key + " was replayed before it was charged");
    if (one.answer == Answer::conflict && std::none_of(one.accounts.begin(), one.accounts.end(), has_key))
      faults.push_back("key " + one.key + " was in conflict with nothing");
    if (one.answer == Answer::refused && std::none_of(one.accounts.begin(), one.accounts.end(), is_exhausted))
      faults.push_back("key " + one.key + " was refused although there was budget");
  }
  return faults;
}

}  // namespace tradeoff::detail::test
