// SPDX-License-Identifier: Apache-2.0
#include "ledger/exact_cost.h"

#include <string_view>
#include <variant>

#include "numeric/number_text.h"

namespace tradeoff::detail::ledger {
namespace {

using Exact = std::optional<numeric::Rational>;

Exact multiply(const Exact& a, const Exact& b) {
  if (!b || b->numerator == 0) return b;
  return numeric::ratio(a, numeric::Rational{b->denominator, b->numerator});
}

/// The argument as an exact number; `otherwise` if it is not given.
Exact argument_of(const Call& call, std::string_view name, Exact otherwise = std::nullopt) {
  for (const Argument& one : call.arguments) {
    if (one.name != name) continue;
    const auto* number = std::get_if<Number>(&one.value.content);
    const auto quotient = number == nullptr ? std::nullopt : numeric::read_quotient(number->text);
    return quotient ? numeric::exact_rational(*quotient) : std::nullopt;
  }
  return otherwise;
}

using OfSource = Exact (*)(const Call& call);

/// The sum over the lines; `repeat` multiplies, any other operator ends it. [gaussian-composition]
Exact sum_over_steps(const Plan& plan, OfSource of_source) {
  Exact total = numeric::Rational{};
  for (const Line& line : plan.lines) {
    const Call* call = std::get_if<Call>(&line.source);
    Exact cost = call != nullptr ? of_source(*call) : sum_over_steps(std::get<Plan>(line.source), of_source);
    for (const Call& operation : line.operators)
      cost = operation.name == "repeat" ? multiply(cost, argument_of(operation, "times")) : std::nullopt;
    total = numeric::sum(total, cost);
  }
  return total;
}

bool has_only(const Call& call, std::string_view first, std::string_view second = {}) {
  for (const Argument& one : call.arguments)
    if (one.name != first && one.name != second) return false;
  return true;
}

Exact square_of_source(const Call& call) {
  Exact mu;
  if (call.name == "gaussian" && has_only(call, "sigma", "sensitivity"))
    mu = numeric::ratio(argument_of(call, "sensitivity", numeric::Rational{1, 1}), argument_of(call, "sigma"));
  if (call.name == "gdp" && has_only(call, "mu")) mu = argument_of(call, "mu");
  return multiply(mu, mu);
}

Exact rho_of_source(const Call& call) {
  if (call.name == "zcdp" && has_only(call, "rho")) return argument_of(call, "rho");
  return multiply(square_of_source(call), numeric::Rational{1, 2});
}

}  // namespace

Exact exact_square(const Plan& plan) { return sum_over_steps(plan, square_of_source); }
Exact exact_rho(const Plan& plan) { return sum_over_steps(plan, rho_of_source); }

}  // namespace tradeoff::detail::ledger
