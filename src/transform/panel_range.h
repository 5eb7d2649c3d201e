// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace tradeoff::detail {

/// The powers for which a distribution is listed by panels, and the accuracy: panels are as wide as an error of exp(-accuracy) allows.
struct PanelRange {
  double least_power;
  double largest_power;
  double power;    ///< the power at which phi will be evaluated,
  double longest;  ///< up to this t
  double accuracy;
  double steps;
  bool rough = false;  ///< for searches: the nodes prove nothing
};

/// A panel must err by less than exp(level) at this power and t.
struct PanelDemand {
  double power;
  double t;
  double level;
};

inline constexpr double march_accuracy = 6;  ///< a march along the contour needs |phi| only to exp of minus this

/// For searches only: the t from which on the bound atoms + variation / t of a law makes the product of all steps negligible.
template <class Law>
[[nodiscard]] double end_of_march(const Law& law, const PanelRange& range) {
  if (!(range.longest > 0)) return 0;
  const double level = law.cumulant(range.power).value;
  const double atoms = std::exp(law.log_atoms(range.power) - level), variation = std::exp(law.log_variation(range.power) - level);
  const double wanted = std::exp(-36 / range.steps);
  return atoms < wanted ? std::min(variation / (wanted - atoms), 100 * range.longest) : 0;
}

/// What panels must meet: at the ends of the range, at the powers 0 and 1, where phi is evaluated, and at the end of the march.
template <class LogPeak>
[[nodiscard]] std::vector<PanelDemand> demands_of(const PanelRange& range, double furthest, LogPeak&& log_peak) {
  const double wanted = range.accuracy + 3;  // the panels share the error
  std::vector<PanelDemand> demands;
  for (const auto& [power, t] : {std::pair{range.least_power - 0.5, 0.5}, std::pair{range.largest_power + 0.5, 0.5}, std::pair{0.0, 0.0},
                                 std::pair{1.0, 0.0}, std::pair{range.power, range.longest}})
    demands.push_back({power, t, log_peak(power) - wanted});
  if (furthest > 0) demands.push_back({range.power, furthest, log_peak(range.power) - march_accuracy - 3});
  return demands;
}

}  // namespace tradeoff::detail
