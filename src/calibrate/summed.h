// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "loss/atoms.h"
#include "loss/loss.h"
#include "mechanism/scaled_noise.h"
#include "tradeoff/curve.h"
#include "tradeoff/plan.h"
#include "tradeoff/targets.h"

// A bound that holds for every noise scale between two values: where the sum of the noise of all runs lies. [parameter-calibration]
namespace tradeoff::detail {

/// Runs of a noise whose privacy is not monotone in its scale, and whose loss depends on the sum of all runs alone.
class SummedNoise {
 public:
  /// Empty if the noise has no such sum, or if anything but repetitions and groups is applied to it.
  [[nodiscard]] static std::optional<SummedNoise> of(const Plan& plan);
  /// The noise of a single run, for plans of any form. Empty if the noise has no such sum.
  [[nodiscard]] static std::optional<SummedNoise> one_run_of(const Plan& plan);

  /// A symmetric pair that is at most as revealing as all runs together, for every scale of [low, high] (low = 0: of (0, high]). Null if
  /// there is none. `fine` asks for many outcomes, which a plan with other lines needs.
  [[nodiscard]] LossPointer weaker_loss(double low, double high, const Targets& targets, bool fine);
  /// A pair like it as a source, which takes the place of the noise in a plan. Empty if there is none.
  [[nodiscard]] std::optional<Call> weaker_source(double low, double high, const Targets& targets);
  /// The plan with the runs of this noise replaced by that loss. Only the first call's neighbours and tolerance count for the other lines.
  [[nodiscard]] Curve weaker_curve(const LossPointer& loss, Neighbours neighbours, Tolerance tolerance);
  [[nodiscard]] bool is_alone() const { return others_.lines.empty(); }

 private:
  /// P(S = k) for k = first, first + 1, ...; each number is rounded down.
  struct Law {
    double first = 0;
    std::vector<double> mass;
    double up_to_zero = 0;  // P(S <= 0), rounded down
  };
  SummedNoise(ScaledNoise::Sums sums, std::uint64_t runs, double shift, Plan others)
      : sums_(sums), runs_(runs), shift_(shift), others_(std::move(others)) {}
  [[nodiscard]] const Law* law(double scale);
  [[nodiscard]] Law weaker_law(double low, double high);
  /// The outcomes of positive loss of a pair for [low, high], with their masses.
  [[nodiscard]] std::vector<Atom> weaker_outcomes(double low, double high, const Targets& targets, bool fine);

  ScaledNoise::Sums sums_;
  std::uint64_t runs_;
  double shift_;  // of one run
  Plan others_;   // the other lines
  std::map<double, std::optional<Law>> laws_;
  std::optional<bool> one_pair_;  // whether the other lines are a pair
  std::optional<Curve> beside_;   // of the other lines
};

}  // namespace tradeoff::detail
