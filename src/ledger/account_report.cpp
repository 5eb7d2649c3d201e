// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <map>
#include <set>

#include "ledger/present.h"
#include "numeric/arithmetic.h"
#include "report/claim.h"
#include "tradeoff/analyze.h"
#include "tradeoff/gdp.h"

namespace tradeoff::detail::ledger {
namespace {

constexpr std::array<const char*, 4> reported_deltas = {"1e-5", "1e-6", "1e-7", "1e-9"};
constexpr std::size_t most_plans = 100;  // different plans that are composed for a report

std::vector<AccountReport::Epsilon> epsilons_of(const Curve& curve) {
  std::vector<AccountReport::Epsilon> found;
  for (const char* delta : reported_deltas) found.push_back({delta, curve.epsilon_at(read_number(delta))});
  return found;
}

/// All plans that were spent, equal ones counted: `(plan) | repeat(n)`. Empty if there are too many.
std::string composed_plan(const std::vector<HistoryEntry>& entries) {
  std::map<std::string, std::size_t> counts;
  for (const HistoryEntry& entry : entries) ++counts[entry.plan];
  if (counts.size() > most_plans) return {};
  std::string text;
  for (const auto& [plan, count] : counts) text += "(" + plan + ") | repeat(" + std::to_string(count) + ")\n";
  return text;
}

void write_epsilons(const std::vector<AccountReport::Epsilon>& all, report::JsonWriter& out) {
  out.begin_array();
  for (const auto& [delta, epsilon] : all) out.begin_object().key("delta").text(delta).key("epsilon").interval(epsilon).end_object();
  out.end_array();
}

std::string lines_of(const std::vector<AccountReport::Epsilon>& all) {
  std::string text;
  for (const auto& [delta, epsilon] : all)
    text += epsilon.hi < infinity ? "    epsilon <= " + report::claimed(epsilon, report::SafeEnd::hi) + " at delta = " + delta + "\n"
                                  : "    no epsilon at delta = " + delta + "\n";
  return text;
}

}  // namespace

namespace {

AccountReport report_of_caps(const std::string& name, const std::vector<Account>& accounts, const std::string& guarantee) {
  const Curve curve = analyze(parse(guarantee), accounts.front().neighbours);
  AccountReport report{name, accounts, guarantee, epsilons_of(curve), std::nullopt, report::find_risk(curve), std::nullopt, {}};
  if (const Interval mu = measure_mu(curve).mu; mu.hi < infinity) report.mu = mu;
  return report;
}

}  // namespace

// [gdp-filter] [renyi-filter] [pure-filter] [approximate-filter] The guarantee of the cap; no filter bounds what is spent so far.
AccountReport make_report(const Account& account, const std::vector<HistoryEntry>& entries) {
  AccountReport report = report_of_caps(account.name, {account}, account.guarantee);
  const std::string plan = composed_plan(entries);
  if (entries.empty())
    report.why_not = "nothing was spent";
  else if (plan.empty())
    report.why_not = "more than " + std::to_string(most_plans) + " different plans were spent";
  else
    report.in_advance = epsilons_of(analyze(parse(plan), account.neighbours));
  return report;
}

// [parallel-composition]
AccountReport make_report(const std::string& group, const std::vector<Account>& blocks) {
  std::set<std::string> caps;
  for (const Account& block : blocks) {
    if (block.neighbours != blocks.front().neighbours)
      throw DomainError("account: the blocks of '" + group + "' have different neighbours; report each of them");
    caps.insert("(" + block.guarantee + ")");
  }
  std::string list;
  for (const std::string& one : caps) list += (list.empty() ? "" : ", ") + one;
  AccountReport report = report_of_caps(group, blocks, caps.size() == 1 ? *caps.begin() : "weakest([" + list + "])");
  report.why_not = "report each block";
  return report;
}

void write_report(const AccountReport& report, report::JsonWriter& out) {
  out.begin_object().key("account");
  if (report.accounts.size() == 1 && report.accounts[0].name == report.name) {
    write_account(report.accounts[0], out);
  } else {
    out.begin_object().key("group").text(report.name).key("blocks").begin_array();
    for (const Account& block : report.accounts) write_account(block, out);
    out.end_array().end_object();
  }
  out.key("guaranteed").begin_object().key("plan").text(report.guarantee).key("epsilon");
  write_epsilons(report.guaranteed, out);
  out.key("mu");
  report.mu ? out.interval(*report.mu) : out.null();
  out.key("risk");
  write_json(report.risk, out);
  out.end_object().key("fixed_in_advance");
  if (report.in_advance)
    write_epsilons(*report.in_advance, out);
  else
    out.null();
  out.end_object();
}

std::string to_text(const AccountReport& report) {
  std::string text = to_text(report.accounts);
  if (report.accounts.front().name != report.name)
    text += "\n" + report.name + ": every record is in one of these blocks, as their owner states\n";
  text += "\nThe cap guarantees, however the plans were chosen after earlier outputs:\n" + lines_of(report.guaranteed);
  if (report.mu) text += "    mu <= " + report::claimed(*report.mu, report::SafeEnd::hi) + "\n";
  if (report.in_advance)
    text += "\nWhat was spent guarantees, only if every plan was fixed before the first output was seen:\n" + lines_of(*report.in_advance);
  else
    text += "\nWhat was spent is not composed: " + report.why_not + ".\n";
  text += std::string("\n") + report::plain_introduction + "\n";
  for (const std::string& sentence : plain_sentences(report.risk)) text += "- " + sentence + "\n";
  return text;
}

}  // namespace tradeoff::detail::ledger
