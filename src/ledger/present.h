// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/json.h"
#include "report/risk.h"
#include "tradeoff/ledger.h"

// Accounts and receipts as JSON, as text and as pictures.
namespace tradeoff::detail::ledger {

/// {"currency": "gdp", "mu": {"lo": ..., "hi": ...}, "charged": "0.01", "slack": "0"}
void write_cost(const Charge& charge, report::JsonWriter& out);
void write_receipt(const Receipt& receipt, report::JsonWriter& out);
void write_account(const Account& account, report::JsonWriter& out);
void write_history(const std::vector<HistoryEntry>& entries, report::JsonWriter& out);

/// The unit in which the currency adds up: "mu squared".
[[nodiscard]] std::string unit_of(const std::string& currency);
/// The sentences of a receipt; `step_by_step` becomes a comparison.
[[nodiscard]] std::string to_text(const Receipt& receipt);
/// A line and a bar for each account: spent, planned (reserved, with noise that is not drawn yet) and left.
[[nodiscard]] std::string to_text(const std::vector<Account>& accounts);
/// The same as an SVG document.
[[nodiscard]] std::string to_svg(const std::vector<Account>& accounts);

/// What is known about an account: the guarantee of its cap holds however the spends were chosen; the composition of what was spent holds
/// only if every plan was fixed before the first output.
struct AccountReport {
  struct Epsilon {
    std::string delta;
    Interval epsilon;
  };
  std::string name;
  std::vector<Account> accounts;  ///< one, or the blocks of a group
  std::string guarantee;          ///< a plan with the guarantee of the caps
  std::vector<Epsilon> guaranteed;
  std::optional<Interval> mu;
  report::Risk risk;
  std::optional<std::vector<Epsilon>> in_advance;  ///< nothing if too many different plans were spent, or none
  std::string why_not;
};
[[nodiscard]] AccountReport make_report(const Account& account, const std::vector<HistoryEntry>& entries);
/// Of disjoint blocks: a record is in one of them, so that the weakest guarantee holds for all. [parallel-composition]
[[nodiscard]] AccountReport make_report(const std::string& group, const std::vector<Account>& blocks);
void write_report(const AccountReport& report, report::JsonWriter& out);
[[nodiscard]] std::string to_text(const AccountReport& report);

}  // namespace tradeoff::detail::ledger
