// SPDX-License-Identifier: Apache-2.0
#include "ledger/present.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "ledger/currency.h"
#include "numeric/number_text.h"
#include "numeric/rational.h"
#include "plan/neighbours.h"
#include "report/claim.h"
#include "report/escape.h"

namespace tradeoff::detail::ledger {
namespace {

const char* to_word(TokenState state) { return state == TokenState::open ? "open" : "used"; }

/// Which part of the cap is spent, and which part of that is only planned; for pictures only.
double share_of(const std::string& amount, const Account& account) {
  const double cap = std::strtod(account.cap.c_str(), nullptr), part = std::strtod(amount.c_str(), nullptr);
  return cap > 0 ? std::clamp(part / cap, 0.0, 1.0) : 0;
}

/// A bar of this length: how much of it is drawn for noise that was drawn, and for all that is spent. What is not nothing is seen.
struct Bar {
  int drawn, spent;
};
Bar bar_of(const Account& account, int length) {
  const int spent = static_cast<int>(std::ceil(share_of(account.spent, account) * length));
  const int planned = static_cast<int>(std::ceil(share_of(account.planned, account) * length));
  return {std::max(0, spent - planned), spent};
}

std::string percent(double share) { return numeric::to_text_above(100 * share, 3) + " %"; }

/// The exact number that was charged, if the enclosure of the quantity contains it: the root of the amount for mu. Empty otherwise.
std::string exact_of(const Charge& charge) {
  const auto quotient = numeric::read_quotient(charge.amount);
  const auto amount = quotient ? numeric::exact_rational(*quotient) : std::nullopt;
  const auto exact = charge.quantity == "mu" ? root(amount) : amount;
  if (!exact) return {};
  const numeric::Quotient number = numeric::to_quotient(*exact);
  const Interval value = numeric::enclose(number);
  return value.lo <= charge.value.hi && charge.value.lo <= value.hi ? to_string(number) : std::string();
}

/// "mu <= 0.1, charged 0.01 (mu squared)".
std::string sentence_of(const Charge& charge) {
  std::string text = charge.quantity + " <= " + report::claimed(charge.value, report::SafeEnd::hi, exact_of(charge)) + ", charged " +
                     charge.amount + " (" + unit_of(charge.currency) + ")";
  if (charge.slack != "0") text += " and a slack of " + charge.slack;
  return text;
}

}  // namespace

std::string unit_of(const std::string& currency) { return std::string(read_currency(currency).row->unit); }

void write_cost(const Charge& charge, report::JsonWriter& out) {
  out.begin_object().key("currency").text(charge.currency).key(charge.quantity).interval(charge.value);
  out.key("charged").text(charge.amount).key("slack").text(charge.slack).end_object();
}

void write_receipt(const Receipt& receipt, report::JsonWriter& out) {
  std::string names;
  for (const Charge& charge : receipt.charges) names += (names.empty() ? "" : ",") + charge.account;
  out.begin_object().key("account").text(names).key("key").text(receipt.key).key("sequence").integer(receipt.sequence);
  out.key("head").text(receipt.head).key("cost");
  write_cost(receipt.charges.front(), out);
  out.key("replayed").boolean(receipt.replayed);
  if (receipt.charges.size() > 1) {
    out.key("charges").begin_array();
    for (const Charge& charge : receipt.charges) {
      out.begin_object().key("account").text(charge.account).key("cost");
      write_cost(charge, out);
      out.end_object();
    }
    out.end_array();
  }
  if (receipt.token != TokenState::none) out.key("token").text(to_word(receipt.token));
  if (receipt.step_by_step) out.key("step_by_step").text(*receipt.step_by_step);
  out.end_object();
}

void write_account(const Account& account, report::JsonWriter& out) {
  out.begin_object().key("account").text(account.name).key("currency").text(account.currency).key("cap").text(account.cap);
  out.key("spent").text(account.spent).key("entries").integer(account.entries).key("head").text(account.head);
  out.key("left").text(account.left).key("slack_cap").text(account.slack_cap).key("slack_spent").text(account.slack_spent);
  out.key("planned").text(account.planned).key("block_of").text(account.block_of);
  out.key("neighbours").text(detail::to_word(account.neighbours)).key("unit").text(account.unit).key("stated").text(account.stated);
  out.key("guarantee").text(account.guarantee).end_object();
}

void write_history(const std::vector<HistoryEntry>& entries, report::JsonWriter& out) {
  out.begin_array();
  for (const HistoryEntry& entry : entries) {
    out.begin_object().key("key").text(entry.key).key("sequence").integer(entry.sequence).key("cost");
    write_cost(entry.charge, out);
    out.key("plan").text(entry.plan).key("kind").text(entry.kind).key("time").text(entry.time).key("head").text(entry.head);
    if (entry.token != TokenState::none) out.key("token").text(to_word(entry.token));
    out.end_object();
  }
  out.end_array();
}

std::string to_text(const Receipt& receipt) {
  std::string text;
  for (const Charge& charge : receipt.charges) text += charge.account + ": " + sentence_of(charge) + "\n";
  if (receipt.step_by_step && !receipt.charges.empty()) {
    const double alone = std::strtod(receipt.step_by_step->c_str(), nullptr);
    const double together = std::strtod(receipt.charges.front().amount.c_str(), nullptr);
    if (together < alone * 0.999)
      text += "    charged step by step it would cost " + *receipt.step_by_step + ": the plan fixed in advance saves " +
              numeric::to_text_below(100 * (1 - together / alone), 2) + " %\n";
  }
  text += "    entry " + std::to_string(receipt.sequence) + ", head " + receipt.head + "\n";
  if (receipt.replayed) text += "    this key was charged before; nothing was charged now\n";
  if (receipt.token != TokenState::none) text += std::string("    its token is ") + to_word(receipt.token) + "\n";
  return text;
}

std::string to_text(const std::vector<Account>& accounts) {
  constexpr int width = 50;
  std::string text;
  for (const Account& account : accounts) {
    const auto [drawn, filled] = bar_of(account, width);
    text += account.name + ": " + account.spent + " of " + account.cap + " spent (" + account.currency + ", " + unit_of(account.currency) +
            "), " + account.left + " left\n    [";
    text += std::string(static_cast<std::size_t>(drawn), '#') + std::string(static_cast<std::size_t>(filled - drawn), '+') +
            std::string(static_cast<std::size_t>(width - filled), '.') + "] " + percent(share_of(account.spent, account)) + ", " +
            std::to_string(account.entries) + " entries\n";
    if (account.planned != "0") text += "    " + account.planned + " of it is planned (+): reserved, and its noise is not drawn yet\n";
    if (account.slack_cap != "0") text += "    slack " + account.slack_spent + " of " + account.slack_cap + "\n";
    text += "    " + account.stated + "; " + detail::to_word(account.neighbours) + " neighbours" +
            (account.unit.empty() ? "" : "; protects " + account.unit) +
            (account.block_of.empty() ? "" : "; a block of " + account.block_of) + "\n";
  }
  return text.empty() ? "no accounts\n" : text;
}

std::string to_svg(const std::vector<Account>& accounts) {
  constexpr int row = 54, bar = 520;
  const int height = static_cast<int>(accounts.size()) * row + 20;
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"560\" height=\"" + std::to_string(height) + "\" viewBox=\"0 0 560 " +
                    std::to_string(height) + "\" role=\"img\">\n<title>Privacy budgets: spent, planned and left</title>\n" +
                    "<style>text{font:13px sans-serif;fill:#222}.left{fill:#ddd}.planned{fill:#e69f00}.spent{fill:#0072b2}" +
                    "@media (prefers-color-scheme: dark){text{fill:#eee}.left{fill:#444}.spent{fill:#56b4e9}}</style>\n";
  int top = 10;
  for (const Account& account : accounts) {
    const auto [drawn, filled] = bar_of(account, bar);
    svg += "<text x=\"20\" y=\"" + std::to_string(top + 14) + "\">" +
           report::escaped_markup(account.name + ": " + account.spent + " of " + account.cap + " spent, " + account.left + " left" +
                                  (account.planned == "0" ? "" : ", " + account.planned + " planned") + " (" + unit_of(account.currency) +
                                  ")") +
           "</text>\n";
    const std::string at = "x=\"20\" y=\"" + std::to_string(top + 22) + "\" height=\"16\" width=\"";
    svg += "<rect class=\"left\" " + at + std::to_string(bar) + "\"/>\n";
    if (drawn < filled) svg += "<rect class=\"planned\" " + at + std::to_string(filled) + "\"/>\n";
    svg += "<rect class=\"spent\" " + at + std::to_string(drawn) + "\"/>\n";
    top += row;
  }
  return svg + "</svg>\n";
}

}  // namespace tradeoff::detail::ledger
