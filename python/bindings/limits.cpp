// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "text.h"
#include "tradeoff/compare.h"
#include "tradeoff/limit.h"
#include "tradeoff/operations.h"

namespace tradeoff::python {
namespace {

const char* to_word(RowKind kind) {
  switch (kind) {
    case RowKind::bound:
      return "bound";
    case RowKind::estimate:
      return "estimate";
    case RowKind::at_least:
      return "at_least";
    case RowKind::refused:
      break;
  }
  return "refused";
}

auto compare(const std::string& text, const std::string& delta, const std::vector<std::string>& methods, const std::string& neighbours,
             const std::string& relative) {
  const Interval at = read_argument("delta", delta);
  const Neighbours whose = read_neighbours(neighbours);
  const Tolerance tolerance = read_relative(relative);
  const nb::gil_scoped_release unlocked;
  return with_plan(text, [&](const Plan& plan) {
    const Comparison found = compare_methods(plan, at, whose, tolerance, methods);
    std::vector<std::tuple<std::string, std::string, Ends, std::string>> rows;
    for (const MethodRow& row : found.rows) rows.emplace_back(row.method, to_word(row.kind), ends(row.epsilon), row.remark);
    return std::make_tuple(rows, found.best, ends(found.epsilon), found.warnings);
  });
}

auto moments(const Curve& curve, const std::string& direction) {
  const Direction side = read_direction(direction);
  const nb::gil_scoped_release unlocked;
  const LossMoments found = moments_of(curve, side);
  return std::make_tuple(ends(found.kl), ends(found.kappa2), ends(found.kappa3), ends(found.kappa3bar), ends(found.chi2plus));
}

/// The estimate of the limit theorems, and beside it the bound of Theorem 5 or why there is none.
auto limit(const std::string& text, const std::string& neighbours, const std::string& relative) {
  const Neighbours whose = read_neighbours(neighbours);
  const Tolerance tolerance = read_relative(relative);
  const nb::gil_scoped_release unlocked;
  return with_plan(text, [&](const Plan& plan) {
    const CentralLimit found = central_limit(plan, whose, tolerance);
    std::optional<std::tuple<Ends, Ends, Ends>> proved;
    std::string refusal;
    try {
      const BerryEsseen bound = berry_esseen(plan, whose, tolerance);
      proved = std::make_tuple(ends(bound.mu()), ends(bound.gamma()), ends(bound.floor()));
    } catch (const UnsupportedError& error) {
      refusal = error.what();
    }
    return std::make_tuple(found.mu.value(), found.revealed.value(), found.theorems, proved, refusal);
  });
}

auto order(const Curve& one, const Curve& other) {
  const nb::gil_scoped_release unlocked;
  const OrderAnswer found = at_least_as_private(one, other);
  const char* verdict = found.verdict == Order::yes ? "yes" : found.verdict == Order::no ? "no" : "undecided";
  return std::make_tuple(std::string(verdict), found.alpha, found.epsilon);
}

Ends name_one_of(const Curve& curve, std::uint64_t people) {
  const nb::gil_scoped_release unlocked;
  return ends(naming_chance(curve, people));
}

Ends shift_odds(const Curve& curve, const std::string& chance) {
  const Interval at = read_argument("chance", chance);
  const nb::gil_scoped_release unlocked;
  return ends(odds_factor(curve, at));
}

}  // namespace

void bind_limits(nb::module_& module) {
  using namespace nb::literals;
  module.def("compare", compare, "text"_a, "delta"_a, "methods"_a, "neighbours"_a, "relative"_a);
  module.def("at_least_as_private", order, "one"_a, "other"_a);
  module.def("naming_chance", name_one_of, "curve"_a, "people"_a);
  module.def("odds_factor", shift_odds, "curve"_a, "chance"_a);
  module.def("moments", moments, "curve"_a, "direction"_a);
  module.def("limit", limit, "text"_a, "neighbours"_a, "relative"_a);
}

}  // namespace tradeoff::python
