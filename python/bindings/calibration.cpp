// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/map.h>

#include "bind.h"
#include "text.h"
#include "tradeoff/calibrate.h"

namespace tradeoff::detail::python {
namespace {

std::tuple<Ends, bool, std::string> calibrate_text(const std::string& text, const Texts& stated, const std::string& neighbours,
                                                   const std::string& relative) {
  const Targets targets = stated_targets(stated);
  if (targets.empty()) throw DomainError("calibrate: give a target: epsilon and delta, mu, advantage, or fpr and tpr");
  const Neighbours whose = read_neighbours(neighbours);
  const Tolerance tolerance = read_relative(relative);
  const nb::gil_scoped_release unlocked;
  return with_plan(text, [&](const Plan& plan) {
    const Calibration found = calibrate(plan, targets, whose, tolerance);
    return std::tuple(ends(found.value), found.safe_end_is_hi, found.printed);
  });
}

}  // namespace

void bind_calibration(nb::module_& module) {
  using namespace nb::literals;
  module.def("calibrate", calibrate_text, "text"_a, "targets"_a, "neighbours"_a, "relative"_a);
}

}  // namespace tradeoff::detail::python
