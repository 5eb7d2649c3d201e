// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "text.h"
#include "tradeoff/compare.h"
#include "tradeoff/limit.h"

namespace tradeoff::detail::python {
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

/// The estimate of the limit theorems, and the bound of Theorem 5 or the reason why there is none.
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

auto divergences(const Curve& curve, const std::string& direction) {
  const Direction side = read_direction(direction);
  const nb::gil_scoped_release unlocked;
  const Divergences found = divergences_of(curve, side);
  return std::make_tuple(ends(found.total_variation), ends(found.kl), ends(found.chi_square));
}

using Converted = std::pair<Ends, double>;
Converted converted(const RenyiGuarantee& found) { return {ends(found.value), found.order}; }

RenyiCurve renyi(const std::string& text, const std::string& neighbours, const std::string& relative) {
  const Neighbours whose = read_neighbours(neighbours);
  const Tolerance tolerance = read_relative(relative);
  const nb::gil_scoped_release unlocked;
  return with_plan(text, [&](const Plan& plan) { return renyi_curve(plan, whose, tolerance); });
}

Edgeworth edgeworth_of(const std::string& text, const std::string& neighbours, const std::string& relative) {
  const Neighbours whose = read_neighbours(neighbours);
  const Tolerance tolerance = read_relative(relative);
  const nb::gil_scoped_release unlocked;
  return with_plan(text, [&](const Plan& plan) { return edgeworth(plan, whose, tolerance); });
}

void bind_renyi(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<RenyiCurve>(module, "RenyiCurve")
      .def(
          "at",
          [](const RenyiCurve& curve, double order, const std::string& direction) {
            const Direction side = read_direction(direction);
            const nb::gil_scoped_release unlocked;
            return ends(curve.at(order, side));
          },
          "order"_a, "direction"_a)
      .def(
          "epsilon",
          [](const RenyiCurve& curve, const std::string& delta, const std::string& direction) {
            const Interval at = read_argument("delta", delta);
            const Direction side = read_direction(direction);
            const nb::gil_scoped_release unlocked;
            return converted(curve.epsilon_at(at, side));
          },
          "delta"_a, "direction"_a)
      .def(
          "delta",
          [](const RenyiCurve& curve, const std::string& epsilon, const std::string& direction) {
            const Interval at = read_argument("epsilon", epsilon);
            const Direction side = read_direction(direction);
            const nb::gil_scoped_release unlocked;
            return converted(curve.delta_at(at, side));
          },
          "epsilon"_a, "direction"_a)
      .def("zcdp", [](const RenyiCurve& curve) -> std::optional<Ends> {
        const auto rho = curve.zcdp();
        if (!rho) return std::nullopt;
        return ends(*rho);
      });
  nb::class_<Edgeworth>(module, "Edgeworth")
      .def(
          "delta", [](const Edgeworth& found, double epsilon) { return found.delta_at(epsilon).value(); }, "epsilon"_a)
      .def("epsilon", [](const Edgeworth& found, double delta) { return found.epsilon_at(delta).value(); }, "delta"_a);
}

}  // namespace

void bind_limits(nb::module_& module) {
  using namespace nb::literals;
  module.def("compare", compare, "text"_a, "delta"_a, "methods"_a, "neighbours"_a, "relative"_a);
  module.def("moments", moments, "curve"_a, "direction"_a);
  module.def("limit", limit, "text"_a, "neighbours"_a, "relative"_a);
  module.def("divergences", divergences, "curve"_a, "direction"_a);
  module.def("renyi", renyi, "text"_a, "neighbours"_a, "relative"_a);
  module.def("edgeworth", edgeworth_of, "text"_a, "neighbours"_a, "relative"_a);
  bind_renyi(module);
}

}  // namespace tradeoff::detail::python
