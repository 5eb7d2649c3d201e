// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "loss/atoms.h"
#include "loss/loss.h"
#include "operators/runs_law.h"

namespace tradeoff::detail {

/// The events {L > e} of a pair for rising probability, with their probabilities with the record and without it; the last has both 1.
/// Empty if the loss has neither atoms nor threshold tests.
struct LevelSet {
  Interval with_record;
  Interval without_record;
};
[[nodiscard]] std::vector<LevelSet> level_sets(const Loss& base, Direction direction);

/// [best-of-runs] A finite law whose profile lies below that of the best of N runs, for the worst order of the outcomes at each epsilon.
[[nodiscard]] Atoms witness_of_orders(const std::vector<LevelSet>& sets, const RunsLaw& law);

/// [best-of-runs] A pair below that of the best of N runs if outcomes of larger loss score higher. It is one pair for every epsilon.
[[nodiscard]] Atoms best_of_rising_losses(const std::vector<LevelSet>& sets, const RunsLaw& law);

}  // namespace tradeoff::detail
