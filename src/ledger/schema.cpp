// SPDX-License-Identifier: Apache-2.0
#include "ledger/store.h"

namespace tradeoff::detail::ledger {

void Store::each(const std::string& sql, const std::vector<std::string>& parameters, const std::function<void(const RowView&)>& see) {
  for (const Row& row : run(sql, parameters)) see(RowView(row.begin(), row.end()));
}

std::vector<std::string> tables(const std::string& integer, const std::string& ending) {
  const std::string number = " " + integer + " NOT NULL", text = " TEXT NOT NULL";
  return {
      "CREATE TABLE tradeoff_meta (version" + text + ")" + ending,
      "CREATE TABLE tradeoff_chain (one" + number + " PRIMARY KEY CHECK (one = 1), seq" + number + ", hash" + text + ")" + ending,
      "CREATE TABLE tradeoff_account (name" + text + " PRIMARY KEY, currency" + text + ", neighbours" + text + ", unit" + text +
          ", block_of" + text + ", stated" + text + ", cap" + number + ", spent" + number + ", slack_cap" + number + ", slack_spent" +
          number + ", entries" + number + ", head" + text +
          ", CHECK (0 <= spent AND spent <= cap AND 0 <= slack_spent AND slack_spent <= slack_cap))" + ending,
      "CREATE TABLE tradeoff_entry (seq" + number + " PRIMARY KEY, time" + text + ", kind" + text + ", idem_key" + text + ", digest" +
          text + ", plan" + text + ", detail" + text + ", previous" + text + ", hash" + text + ")" + ending,
      "CREATE TABLE tradeoff_charge (seq" + number + ", position" + number + ", account" + text + ", idem_key" + text + ", amount" +
          number + ", slack" + number + ", low" + text + ", high" + text +
          ", PRIMARY KEY (seq, position), UNIQUE (account, idem_key), CHECK (amount >= 0 AND slack >= 0))" + ending,
      "CREATE TABLE tradeoff_token (seq" + number + " PRIMARY KEY, state" + text + " CHECK (state IN ('open', 'used')))" + ending,
      "CREATE INDEX tradeoff_token_open ON tradeoff_token (seq) WHERE state = 'open'",
  };
}

}  // namespace tradeoff::detail::ledger
