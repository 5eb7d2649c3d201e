// SPDX-License-Identifier: Apache-2.0
#include "report/risk.h"

#include "bind.h"
#include "text.h"

namespace tradeoff::detail::python {
namespace {

using Row = std::pair<std::string, Ends>;

std::vector<Row> rows_of(const std::vector<report::RiskRow>& rows) {
  std::vector<Row> found;
  for (const report::RiskRow& row : rows) found.emplace_back(row.given, ends(row.value));
  return found;
}

auto risk(const Curve& curve) {
  const nb::gil_scoped_release unlocked;
  const report::Risk found = report::find_risk(curve);
  return std::make_tuple(ends(found.advantage), rows_of(found.rates), rows_of(found.accuracies), rows_of(found.posteriors),
                         rows_of(found.naming), rows_of(found.odds), Row(found.gaussian.given, ends(found.gaussian.value)),
                         plain_sentences(found), found.rare, rows_of(found.beliefs));
}

}  // namespace

void bind_risk(nb::module_& module) {
  using namespace nb::literals;
  module.def("risk", risk, "curve"_a);
}

}  // namespace tradeoff::detail::python
