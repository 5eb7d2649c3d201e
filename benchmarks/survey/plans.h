// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

// The plans of the survey: what people write, drawn from a stated generator.
namespace survey {

struct DrawnPlan {
  std::string text;
  /// The same plan with the first noise parameter unknown, for calibration; empty if the first source has no noise parameter.
  std::string unknown;
};

/// The same plans on every machine for a seed. One to three lines. Sources: Gaussian, Laplace and discrete noise, randomised response, and
/// what is known only as (epsilon, delta)-DP, mu-GDP or rho-zCDP. Two lines of five are sampled, all of a plan in the same way: Poisson
/// or a fixed share. One line of eight protects a group of 2 to 5 records. A line is run 1 to 30,000 times.
[[nodiscard]] std::vector<DrawnPlan> draw_plans(std::uint64_t seed, int count);

}  // namespace survey
