// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "tradeoff/curve.h"
#include "tradeoff/plan.h"

// A plan and the questions about it, as one line of text, so that it can be printed, stored and repeated.
namespace tradeoff::detail::breaker {

struct Trial {
  Plan plan;
  Neighbours neighbours = Neighbours::add_remove;
  double epsilon = 1;
  double delta = 1e-6;
  double alpha = 0.1;
  double tolerance = 1e-3;  ///< requested relative width
};

/// `epsilon=1 delta=1e-06 alpha=0.1 tolerance=0.001 neighbours=add-remove : PLAN`, and back. Reading throws ParseError or DomainError.
[[nodiscard]] std::string to_text(const Trial& trial);
[[nodiscard]] Trial read_trial(const std::string& text);

/// Few digits, so that the printed number is the tested one.
[[nodiscard]] double rounded(double value, int digits = 4);

/// Plan number `index` of the run with this seed: the same on every machine, whatever was drawn before. Includes extreme plans. `epsilon`
/// is still a guess; `aimed` moves it near the answer.
[[nodiscard]] Trial draw(std::uint64_t seed, std::uint64_t index);

}  // namespace tradeoff::detail::breaker
