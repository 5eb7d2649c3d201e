// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "bind.h"
#include "text.h"
#include "tradeoff/calibrate.h"

namespace tradeoff::python {
namespace {

using Text = std::optional<std::string>;

std::tuple<Ends, bool, std::string> calibrate_text(const std::string& text, const Text& epsilon, const Text& delta, const Text& mu,
                                                   const Text& slack, const Text& advantage, const Text& fpr, const Text& tpr,
                                                   const std::string& neighbours, const std::string& relative) {
  const std::map<std::string_view, const Text*> words = {{"epsilon", &epsilon},     {"delta", &delta}, {"mu", &mu},  {"slack", &slack},
                                                         {"advantage", &advantage}, {"fpr", &fpr},     {"tpr", &tpr}};
  const Targets targets = read_targets([&](std::string_view word) { return words.contains(word) ? *words.at(word) : std::nullopt; }, "");
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
  module.def("calibrate", calibrate_text, "text"_a, "epsilon"_a.none(), "delta"_a.none(), "mu"_a.none(), "slack"_a.none(),
             "advantage"_a.none(), "fpr"_a.none(), "tpr"_a.none(), "neighbours"_a, "relative"_a);
}

}  // namespace tradeoff::python
