// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ledger/amount.h"
#include "tradeoff/ledger.h"
#include "tradeoff/plan.h"

// A currency is a quantity that adds up over adaptively chosen steps, with a theorem that says so.
namespace tradeoff::detail::ledger {

/// What a plan costs: an interval around the measured quantity, and what is charged.
struct Price {
  Interval value;
  Units amount = 0;
  Units slack = 0;
};

/// A cap in units, and how it was found.
struct Cap {
  Units amount = 0;
  Units slack = 0;
  std::string stated;
};

/// A plan to be measured.
struct Order {
  const Plan& plan;
  Neighbours neighbours;
  std::optional<Number> slack;  ///< as stated by the caller
  Units usual_slack = 0;        ///< what a plan may use that needs one and states none
  double order = 0;             ///< of the Renyi divergence, for rdp
};

/// One currency: everything the ledger knows about it.
struct Currency {
  std::string_view name;
  std::string_view quantity;  ///< the measured quantity
  std::string_view unit;      ///< what adds up
  std::string_view theorem;   ///< why a sum below the cap is a guarantee, however the steps are chosen
  /// Throws DomainError if the plan has no price in this currency.
  Price (*measure)(const Order& order) = nullptr;
  Cap (*cap)(const StatedCap& stated, double order) = nullptr;
  /// The plan whose guarantee is that of an account with this cap.
  std::string (*guarantee)(Units cap, Units slack, double order) = nullptr;
};

/// The currency of an account; `order` only for rdp.
struct AccountCurrency {
  const Currency* row = nullptr;
  double order = 0;
};

[[nodiscard]] std::span<const Currency> currencies();
/// Reads "gdp", "rdp(8)", ... Throws DomainError that lists the currencies.
[[nodiscard]] AccountCurrency read_currency(const std::string& text);

}  // namespace tradeoff::detail::ledger
