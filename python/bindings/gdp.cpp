// SPDX-License-Identifier: Apache-2.0
#include "tradeoff/gdp.h"

#include "bind.h"
#include "text.h"

namespace tradeoff::detail::python {
namespace {

const char* to_word(GdpVerdict verdict) {
  return verdict == GdpVerdict::gdp ? "gdp" : verdict == GdpVerdict::not_gdp ? "not_gdp" : "undecided";
}

auto measure(const Curve& curve, const std::vector<std::string>& slacks) {
  std::vector<Interval> values;
  for (const std::string& slack : slacks) {
    values.push_back(read_argument("slack", slack));
    if (!(values.back().lo >= 0 && values.back().hi <= 1))
      throw DomainError("slack = " + slack + " is not allowed; it must be between 0 and 1");
  }
  const nb::gil_scoped_release unlocked;
  const GdpMeasurement found = measure_mu(curve, values);
  std::vector<Ends> with_slack;
  for (const GdpPair& pair : found.with_slack) with_slack.push_back(ends(pair.mu));
  return std::make_tuple(std::string(to_word(found.verdict)), ends(found.mu), found.at_epsilon,
                         std::make_tuple(found.tail.kind, found.tail.from, ends(found.tail.limit)), with_slack, found.evaluations,
                         found.warnings);
}

auto measure_head(const Curve& curve, const std::string& epsilon_max) {
  const Interval last = read_argument("epsilon_max", epsilon_max);
  const nb::gil_scoped_release unlocked;
  const HeadMu head = measure_head_mu(curve, last);
  return std::make_tuple(ends(head.mu), ends(head.residual), head.at_epsilon, head.warnings);
}

}  // namespace

void bind_gdp(nb::module_& module) {
  using namespace nb::literals;
  module.def("measure_mu", measure, "curve"_a, "slacks"_a);
  module.def("measure_head_mu", measure_head, "curve"_a, "epsilon_max"_a);
}

}  // namespace tradeoff::detail::python
