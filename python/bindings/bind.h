// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "tradeoff/interval.h"

// Each part of the module adds its functions; the public names are defined in Python, with the documentation.
namespace tradeoff::detail::python {

namespace nb = nanobind;

/// An interval as a Python object.
using Ends = std::pair<double, double>;
[[nodiscard]] inline Ends ends(Interval value) { return {value.lo, value.hi}; }

void bind_errors(nb::module_& module);
void bind_plans(nb::module_& module);
void bind_curves(nb::module_& module);
void bind_gdp(nb::module_& module);
void bind_limits(nb::module_& module);
void bind_algebra(nb::module_& module);
void bind_risk(nb::module_& module);
void bind_calibration(nb::module_& module);
void bind_release(nb::module_& module);
void bind_ledger(nb::module_& module);
void bind_noise(nb::module_& module);
void bind_pictures(nb::module_& module);
void bind_questions(nb::module_& module);
void bind_audit(nb::module_& module);

}  // namespace tradeoff::detail::python
