// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "text.h"
#include "tradeoff/calibrate.h"

namespace tradeoff::python {
namespace {

/// An optional number of a target; which of them go together is decided in `read_target`.
using Text = std::optional<std::string>;

Interval at_least_zero(const char* name, const Text& text) {
  if (!text)
    throw DomainError(std::string("calibrate: ") + name + " is missing; a target is epsilon and delta, mu, advantage, or fpr and tpr");
  const Interval value = read_argument(name, *text);
  if (!(value.lo >= 0)) throw DomainError(std::string(name) + " = " + *text + " is not allowed; it must be at least 0");
  return value;
}

Interval probability(const char* name, const Text& text) {
  const Interval value = at_least_zero(name, text);
  if (!(value.hi <= 1)) throw DomainError(std::string(name) + " = " + *text + " is not allowed; it must be between 0 and 1");
  return value;
}

Target read_target(const Text& epsilon, const Text& delta, const Text& mu, const Text& advantage, const Text& fpr, const Text& tpr) {
  const int kinds = (epsilon || delta) + mu.has_value() + advantage.has_value() + (fpr || tpr);
  if (kinds != 1) throw DomainError("calibrate: give one target: epsilon and delta, or mu, or advantage, or fpr and tpr");
  if (epsilon || delta) return EpsilonDeltaTarget{at_least_zero("epsilon", epsilon), probability("delta", delta)};
  if (mu) return MuTarget{at_least_zero("mu", mu)};
  if (advantage) return AdvantageTarget{probability("advantage", advantage)};
  return AttackTarget{probability("fpr", fpr), probability("tpr", tpr)};
}

std::pair<Ends, bool> calibrate_text(const std::string& text, const Text& epsilon, const Text& delta, const Text& mu, const Text& advantage,
                                     const Text& fpr, const Text& tpr, const std::string& neighbours, const std::string& relative) {
  const Target target = read_target(epsilon, delta, mu, advantage, fpr, tpr);
  const Neighbours whose = read_neighbours(neighbours);
  const Tolerance tolerance = read_relative(relative);
  const nb::gil_scoped_release unlocked;
  return with_plan(text, [&](const Plan& plan) {
    const Calibration found = calibrate(plan, target, whose, tolerance);
    return std::pair(ends(found.value), found.safe_end_is_hi);
  });
}

}  // namespace

void bind_calibration(nb::module_& module) {
  using namespace nb::literals;
  module.def("calibrate", calibrate_text, "text"_a, "epsilon"_a.none(), "delta"_a.none(), "mu"_a.none(), "advantage"_a.none(),
             "fpr"_a.none(), "tpr"_a.none(), "neighbours"_a, "relative"_a);
}

}  // namespace tradeoff::python
