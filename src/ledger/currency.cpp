// SPDX-License-Identifier: Apache-2.0
#include "ledger/currency.h"

#include <array>
#include <cmath>

#include "ledger/exact_cost.h"
#include "loss/gaussian_profile.h"
#include "numeric/arithmetic.h"
#include "numeric/number_text.h"
#include "plan/number.h"
#include "tradeoff/analyze.h"
#include "tradeoff/gdp.h"
#include "tradeoff/limit.h"

namespace tradeoff::detail::ledger {
namespace {

using numeric::Rational;

Interval enclose(const Rational& value) { return numeric::enclose(numeric::to_quotient(value)); }

Units charged(std::optional<Units> units, const char* quantity) {
  if (!units) throw BudgetError(std::string("the plan costs more than any account can hold: its ") + quantity + " has no useful bound");
  return *units;
}

/// Rounded up, for prices.
Units amount_above(Interval value, const char* quantity) { return charged(to_units(value.hi, amount_places, Round::up), quantity); }

void refuse_slack(const Order& order, const char* currency) {
  if (order.slack && order.slack->value.hi > 0)
    throw DomainError(std::string("slack: ") + order.slack->text + " is not allowed; a guarantee in " + currency + " has no exceptions");
}

/// The slack that the caller states, else the usual one; in units, and enclosed.
struct UsedSlack {
  Units units;
  Interval value;
};
UsedSlack slack_of(const Order& order) {
  if (!order.slack) return {order.usual_slack, *numeric::enclose_decimal(to_decimal(order.usual_slack, slack_places))};
  const auto units = to_units(*order.slack, slack_places, Round::down);
  if (!units || order.slack->value.hi >= 1)
    throw DomainError("slack: " + order.slack->text + " is not allowed; it must be at least 0 and below 1");
  return {*units, *numeric::enclose_decimal(to_decimal(*units, slack_places))};
}

// [gdp-filter] The squares of mu add, the slacks add.
Price measure_gdp(const Order& order) {
  const Curve curve = analyze(order.plan, order.neighbours);
  const bool states_slack = order.slack && order.slack->value.hi > 0;
  if (const auto square = exact_square(order.plan); square && !states_slack)
    if (const auto units = to_units(*square, amount_places, Round::up)) return {sqrt(enclose(*square)), *units, 0};
  const UsedSlack slack = slack_of(order);
  const GdpMeasurement found = measure_mu(curve, slack.units > 0 ? std::vector<Interval>{slack.value} : std::vector<Interval>{});
  const Interval alone = square(Interval::exactly(found.mu.hi));
  if (slack.units > 0) {
    const GdpPair& pair = found.with_slack.front();
    const Interval with = square(Interval::exactly(pair.mu.hi));
    // sampled training is mu-GDP only for a useless mu, so a slack that halves the cost is used without being asked for
    if (with.hi < infinity && (states_slack || !(alone.hi <= 2 * with.hi)))
      return {pair.mu, amount_above(with, "mu"),
              pair.slack.hi <= slack.value.hi ? slack.units : charged(to_units(pair.slack.hi, slack_places, Round::up), "slack")};
  }
  if (!(alone.hi < infinity))
    throw DomainError(std::string("plan: it is ") + (found.verdict == GdpVerdict::not_gdp ? "not" : "not known to be") +
                      " mu-GDP for any mu" + (slack.units > 0 ? " with this slack" : "") +
                      "; an account with a larger reserve for slack, or one in zcdp, rdp or approximate, may take it");
  return {found.mu, amount_above(alone, "mu"), 0};
}

// [renyi-filter] with every order at once.
Price measure_zcdp(const Order& order) {
  refuse_slack(order, "zcdp");
  static_cast<void>(analyze(order.plan, order.neighbours));
  if (const auto rho = exact_rho(order.plan))
    if (const auto units = to_units(*rho, amount_places, Round::up)) return {enclose(*rho), *units, 0};
  const auto rho = renyi_curve(order.plan, order.neighbours).zcdp();
  if (!rho || !(rho->hi < infinity))
    throw DomainError("plan: no rho is known for which it is rho-zCDP; an account in gdp, rdp or approximate may take it");
  return {*rho, amount_above(*rho, "rho"), 0};
}

// [pure-filter]
Price measure_pure(const Order& order) {
  refuse_slack(order, "pure");
  const Curve curve = analyze(order.plan, order.neighbours);
  if (const auto exact = curve.pure_epsilon())
    if (const auto units = to_units(*exact, amount_places, Round::up)) return {exact->value, *units, 0};
  const Interval epsilon = curve.epsilon_at(0.0);
  if (!(epsilon.hi < infinity))
    throw DomainError("plan: it is not known to be (epsilon, 0)-DP for any epsilon; an account in gdp or approximate may take it");
  return {epsilon, amount_above(epsilon, "epsilon"), 0};
}

// [renyi-filter] at one order.
Price measure_rdp(const Order& order) {
  refuse_slack(order, "rdp");
  static_cast<void>(analyze(order.plan, order.neighbours));
  const Interval divergence = renyi_curve(order.plan, order.neighbours).at(order.order);
  if (!(divergence.hi < infinity)) throw DomainError("plan: no bound on its Renyi divergence of the account's order is known");
  return {divergence, amount_above(divergence, "divergence"), 0};
}

// [approximate-filter] The squares of epsilon add, the deltas add.
Price measure_approximate(const Order& order) {
  const Curve curve = analyze(order.plan, order.neighbours);
  const bool states_slack = order.slack && order.slack->value.hi > 0;
  if (const auto exact = curve.pure_epsilon(); exact && !states_slack)
    return {exact->value, amount_above(square(exact->value), "epsilon"), 0};
  const UsedSlack slack = slack_of(order);
  const Interval epsilon = curve.epsilon_at(slack.value);
  if (!(epsilon.hi < infinity)) throw DomainError("plan: no epsilon is known at delta = " + to_decimal(slack.units, slack_places));
  return {epsilon, amount_above(square(Interval::exactly(epsilon.hi)), "epsilon"), slack.units};
}

[[noreturn]] void refuse_cap(const char* currency, const char* allowed) {
  throw DomainError(std::string("cap: an account in ") + currency + " is capped by " + allowed);
}

Units exact_down(const Number& value, const char* name) {
  const auto units = to_units(value, amount_places, Round::down);
  if (!units || *units == 0)
    throw DomainError(std::string(name) + ": " + value.text + " is not allowed; a cap must be at least 1e-12 and below 4e6");
  return *units;
}

Units found_down(double value, const std::string& what) {
  const auto units = to_units(value, amount_places, Round::down);
  if (!units || *units == 0) throw DomainError("cap: " + what + " leaves no budget, or more than an account can hold");
  return *units;
}

/// How many ways of stating a cap were used, (epsilon, delta) counted once.
int ways(const StatedCap& cap) {
  return int{cap.mu.has_value()} + int{cap.rho.has_value()} + int{cap.divergence.has_value()} + int{cap.advantage.has_value()} +
         int{cap.epsilon.has_value() || cap.delta.has_value()};
}

/// Checks that the pair is a guarantee; `slack` is what is kept back of delta.
struct StatedPair {
  Interval epsilon;
  Interval delta;
  Units slack;
  Interval rest;  ///< delta without the slack
  std::string text;
};
StatedPair read_pair(const StatedCap& cap, double share, Units most) {
  if (!cap.epsilon || !cap.delta) throw DomainError("cap: epsilon and delta go together");
  const Interval epsilon = cap.epsilon->value, delta = cap.delta->value;
  if (!(epsilon.lo >= 0 && epsilon.hi < infinity)) throw DomainError("epsilon: " + cap.epsilon->text + " must be at least 0 and finite");
  if (!(delta.lo > 0 && delta.hi < 1)) throw DomainError("delta: " + cap.delta->text + " must be above 0 and below 1");
  auto slack = cap.slack ? to_units(*cap.slack, slack_places, Round::down) : to_units(share * delta.lo, slack_places, Round::down);
  if (slack && !cap.slack) slack = std::min(*slack, most);
  const Interval kept = slack ? *numeric::enclose_decimal(to_decimal(*slack, slack_places)) : delta;
  if (!(kept.hi < delta.lo)) throw DomainError("slack: " + (cap.slack ? cap.slack->text : "it") + " must be at least 0 and below delta");
  return {epsilon, delta, *slack, (delta - kept) / (1.0 - kept), "epsilon = " + cap.epsilon->text + " at delta = " + cap.delta->text};
}

std::string with_slack(Units slack) { return slack == 0 ? "" : " with a reserve for slack of " + to_decimal(slack, slack_places); }

Units stated_slack(const StatedCap& cap) {
  if (!cap.slack) return 0;
  const auto units = to_units(*cap.slack, slack_places, Round::down);
  if (!units || cap.slack->value.hi >= 1) throw DomainError("slack: " + cap.slack->text + " must be at least 0 and below 1");
  return *units;
}

// [gdp-filter] The largest mu whose pair with the slack still keeps (epsilon, delta).
Cap cap_gdp_from_pair(const StatedCap& cap, const std::string& text) {
  constexpr Units most = 1'000'000'000'000;  // 1e-6
  constexpr double share = 0.25;             // kept back for slack: it costs little, and sampled training needs it
  const StatedPair pair = read_pair(cap, share, most);
  const Interval mu = gaussian_mu(pair.epsilon, pair.rest);
  const Units amount = found_down(square(Interval::exactly(mu.lo)).lo, text);
  return {amount, pair.slack, text + " is kept by mu <= " + numeric::to_text_below(mu.lo, 6) + with_slack(pair.slack)};
}

Cap cap_gdp(const StatedCap& cap, double) {
  const char* allowed = "mu, rho, advantage, or epsilon and delta";
  if (ways(cap) != 1 || cap.divergence) refuse_cap("gdp", allowed);
  if (cap.mu) {
    if (!(cap.mu->value.lo > 0)) throw DomainError("mu: " + cap.mu->text + " is not allowed; a cap must be above 0");
    const auto mu = exact_rational(*cap.mu);
    const Plan one = parse("gdp(mu=" + cap.mu->text + ")");
    const auto exact = mu ? exact_square(one) : std::nullopt;
    const auto units = exact ? to_units(*exact, amount_places, Round::down) : std::nullopt;
    const Units amount = units && *units > 0 ? *units : found_down(square(Interval::exactly(cap.mu->value.lo)).lo, "mu = " + cap.mu->text);
    return {amount, stated_slack(cap), "mu = " + cap.mu->text + with_slack(stated_slack(cap))};
  }
  if (cap.rho) {
    if (cap.slack) throw DomainError("slack: it does not go with rho");
    const Units half = exact_down(*cap.rho, "rho");
    if (half > most_units / 2) throw DomainError("rho: " + cap.rho->text + " is more than an account can hold");
    return {2 * half, 0, "rho = " + cap.rho->text + " is kept by mu squared <= 2 rho"};
  }
  if (cap.advantage) {
    StatedCap pair{.epsilon = exact_number(0), .delta = cap.advantage, .slack = cap.slack};
    if (!pair.slack) pair.slack = exact_number(0);
    return cap_gdp_from_pair(pair, "advantage = " + cap.advantage->text);
  }
  if (!cap.epsilon || !cap.delta) throw DomainError("cap: epsilon and delta go together");
  return cap_gdp_from_pair(cap, "epsilon = " + cap.epsilon->text + " at delta = " + cap.delta->text);
}

/// The largest rho whose zCDP implies (epsilon, delta), from below. [renyi-conversion]
double rho_below(Interval epsilon, Interval delta) {
  double good = 0, bad = 1e6;
  for (int i = 0; i < 200 && good < bad * (1 - 1e-12); ++i) {
    const double middle = good > 0 ? std::sqrt(good) * std::sqrt(bad) : bad * 1e-3;
    if (middle < 1e-13) break;
    (epsilon_of_zcdp(Interval::exactly(middle), delta).value.hi <= epsilon.lo ? good : bad) = middle;
  }
  return good;
}

Cap cap_zcdp(const StatedCap& cap, double) {
  if (ways(cap) != 1 || cap.mu || cap.divergence || cap.advantage) refuse_cap("zcdp", "rho, or epsilon and delta");
  if (cap.slack) throw DomainError("slack: an account in zcdp has none");
  if (cap.rho) return {exact_down(*cap.rho, "rho"), 0, "rho = " + cap.rho->text};
  const StatedPair pair = read_pair(cap, 0, 0);
  const double rho = rho_below(pair.epsilon, pair.delta);
  return {found_down(rho, pair.text), 0, pair.text + " is kept by rho <= " + numeric::to_text_below(rho, 6)};
}

Cap cap_pure(const StatedCap& cap, double) {
  if (ways(cap) != 1 || !cap.epsilon) refuse_cap("pure", "epsilon");
  if ((cap.delta && cap.delta->value.hi > 0) || cap.slack) throw DomainError("delta: an account in pure has delta 0; leave it out");
  return {exact_down(*cap.epsilon, "epsilon"), 0, "epsilon = " + cap.epsilon->text};
}

// [renyi-conversion]
Cap cap_rdp(const StatedCap& cap, double order) {
  if (ways(cap) != 1 || cap.mu || cap.rho || cap.advantage) refuse_cap("rdp", "divergence, or epsilon and delta");
  if (cap.slack) throw DomainError("slack: an account in rdp has none");
  if (cap.divergence) return {exact_down(*cap.divergence, "divergence"), 0, "divergence = " + cap.divergence->text};
  const StatedPair pair = read_pair(cap, 0, 0);
  const Interval a = Interval::exactly(order);
  const Interval divergence = pair.epsilon - log1p(-1.0 / a) + (log(pair.delta) + log(a)) / (a - 1.0);
  return {found_down(divergence.lo, pair.text), 0, pair.text + " is kept by a divergence <= " + numeric::to_text_below(divergence.lo, 6)};
}

// [approximate-filter] The sum of squares B is a rho of B/2.
Cap cap_approximate(const StatedCap& cap, double) {
  if (ways(cap) != 1 || !cap.epsilon) refuse_cap("approximate", "epsilon and delta");
  const StatedPair pair = read_pair(cap, 0.5, most_units);
  const double rho = rho_below(pair.epsilon, pair.rest);
  return {found_down(2 * rho, pair.text), pair.slack,
          pair.text + " is kept by a sum of epsilon squared <= " + numeric::to_text_below(2 * rho, 6) + with_slack(pair.slack)};
}

std::string with_exception(std::string plan, Units slack) {
  if (slack > 0) plan += "\ndp(epsilon=0, delta=" + to_decimal(slack, slack_places) + ")";
  return plan;
}
Interval of_units(Units amount) { return *numeric::enclose_decimal(to_decimal(amount, amount_places)); }

std::string guarantee_gdp(Units cap, Units slack, double) {
  return with_exception("gdp(mu=" + numeric::to_text_above(sqrt(of_units(cap)).hi) + ")", slack);
}
std::string guarantee_zcdp(Units cap, Units, double) { return "zcdp(rho=" + to_decimal(cap, amount_places) + ")"; }
std::string guarantee_pure(Units cap, Units, double) { return "dp(epsilon=" + to_decimal(cap, amount_places) + ")"; }
std::string guarantee_rdp(Units cap, Units, double order) {
  return "rdp(points=[(" + numeric::to_string(numeric::exact_decimal(order)) + ", " + to_decimal(cap, amount_places) + ")])";
}
std::string guarantee_approximate(Units cap, Units slack, double) {
  return with_exception("zcdp(rho=" + numeric::to_text_above((of_units(cap) / 2.0).hi) + ")", slack);
}

constexpr std::array<Currency, 5> all_currencies = {{
    {"gdp", "mu", "mu squared", "gdp-filter", measure_gdp, cap_gdp, guarantee_gdp},
    {"zcdp", "rho", "rho", "renyi-filter", measure_zcdp, cap_zcdp, guarantee_zcdp},
    {"pure", "epsilon", "epsilon", "pure-filter", measure_pure, cap_pure, guarantee_pure},
    {"rdp", "divergence", "divergence", "renyi-filter", measure_rdp, cap_rdp, guarantee_rdp},
    {"approximate", "epsilon", "epsilon squared", "approximate-filter", measure_approximate, cap_approximate, guarantee_approximate},
}};

}  // namespace

std::span<const Currency> currencies() { return all_currencies; }

AccountCurrency read_currency(const std::string& text) {
  const std::size_t mark = text.find('(');
  for (const Currency& one : all_currencies) {
    if (one.name != text.substr(0, mark)) continue;
    if ((one.name == "rdp") != (mark != std::string::npos)) break;
    if (one.name != "rdp") return {&one, 0};
    const std::string inside = text.back() == ')' ? text.substr(mark + 1, text.size() - mark - 2) : "";
    const auto order = numeric::enclose_decimal(inside);
    if (order && order->lo == order->hi && order->lo > 1 && order->hi < infinity) return {&one, order->lo};
    throw DomainError("currency: the order of '" + text.substr(0, 40) + "' must be above 1 and a binary fraction: rdp(8), rdp(2.5)");
  }
  throw DomainError("currency: '" + text.substr(0, 40) + "' is not one of gdp, zcdp, pure, rdp(ORDER), approximate");
}

}  // namespace tradeoff::detail::ledger
