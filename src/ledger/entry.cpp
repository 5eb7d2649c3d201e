// SPDX-License-Identifier: Apache-2.0
#include "ledger/entry.h"

#include <charconv>

#include "noise/digest.h"
#include "report/json.h"
#include "tradeoff/ledger.h"

namespace tradeoff::detail::ledger {

std::string first_hash() { return std::string(64, '0'); }

std::string body_of(const Entry& entry) {
  report::JsonWriter out;
  out.begin_object().key("sequence").integer(entry.sequence).key("previous").text(entry.previous).key("time").text(entry.time);
  out.key("kind").text(entry.kind).key("key").text(entry.key).key("digest").text(entry.digest).key("plan").text(entry.plan);
  out.key("detail").text(entry.detail).key("charges").begin_array();
  for (const StoredCharge& charge : entry.charges) {
    out.begin_object().key("account").text(charge.account).key("amount").text(std::to_string(charge.amount));
    out.key("slack").text(std::to_string(charge.slack)).key("low").text(charge.low).key("high").text(charge.high).end_object();
  }
  return out.end_array().end_object().str();
}

std::string hash_of(const Entry& entry) { return noise::sha256(body_of(entry)); }

std::int64_t whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw StoreError("the store holds '" + std::string(text.substr(0, 40)) + "' where a whole number belongs");
  return value;
}

StoredCharge charge_of(const Row& row) { return {row[1], whole(row[2]), whole(row[3]), row[4], row[5]}; }

}  // namespace tradeoff::detail::ledger
