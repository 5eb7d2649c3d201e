// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "text.h"
#include "tradeoff/operations.h"

namespace tradeoff::detail::python {
namespace {

using Points = std::vector<std::pair<std::string, std::string>>;

Curve mixed(const std::vector<std::pair<std::string, Curve>>& components) {
  std::vector<std::pair<Interval, Curve>> read;
  for (const auto& [weight, curve] : components) read.emplace_back(read_argument("weight", weight), curve);
  const nb::gil_scoped_release unlocked;
  return mixture(read);
}

Curve revealing(const Curve& curve, const std::string& probability) {
  return with_revealing(curve, read_argument("probability", probability));
}

Curve guarantees_curve(const Points& points, const std::string& neighbours) {
  std::vector<Guarantee> read;
  for (const auto& [epsilon, delta] : points) read.push_back({read_argument("epsilon", epsilon), read_argument("delta", delta)});
  return from_guarantees(read, read_neighbours(neighbours));
}

Curve tradeoff_curve(const Points& points, const std::string& neighbours) {
  std::vector<std::pair<Interval, Interval>> read;
  for (const auto& [alpha, beta] : points) read.emplace_back(read_argument("alpha", alpha), read_argument("beta", beta));
  return from_tradeoff(read, read_neighbours(neighbours));
}

auto list_guarantees(const Curve& curve, const std::vector<double>& epsilons) {
  const nb::gil_scoped_release unlocked;
  std::vector<std::pair<Ends, Ends>> list;
  for (const auto& [epsilon, delta] : to_guarantees(curve, epsilons)) list.emplace_back(ends(epsilon), ends(delta));
  return list;
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

void bind_algebra(nb::module_& module) {
  using namespace nb::literals;
  using Unlocked = nb::call_guard<nb::gil_scoped_release>;
  module.def("inverse", inverse, "curve"_a, Unlocked());
  module.def("symmetrized", symmetrized, "curve"_a, Unlocked());
  module.def("strongest", strongest, "curves"_a, Unlocked());
  module.def("weakest", weakest, "curves"_a, Unlocked());
  module.def("product", product, "curves"_a, Unlocked());
  module.def("mixture", mixed, "components"_a);
  module.def("with_revealing", revealing, "curve"_a, "probability"_a);
  module.def("grouped", grouped, "curve"_a, "size"_a, Unlocked());
  module.def("from_guarantees", guarantees_curve, "points"_a, "neighbours"_a);
  module.def("from_tradeoff", tradeoff_curve, "points"_a, "neighbours"_a);
  module.def("to_guarantees", list_guarantees, "curve"_a, "epsilons"_a);
  module.def("at_least_as_private", order, "one"_a, "other"_a);
  module.def("naming_chance", name_one_of, "curve"_a, "people"_a);
  module.def("odds_factor", shift_odds, "curve"_a, "chance"_a);
}

}  // namespace tradeoff::detail::python
