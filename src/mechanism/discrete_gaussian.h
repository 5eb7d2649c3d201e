// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "loss/loss.h"

namespace tradeoff {

/// The law has about 80 sigma values; beyond this the table would no longer be small. Wider noise is what the rounded Gaussian is for.
inline constexpr double widest_discrete_gaussian = 10'000;

/// Noise on the integers with probabilities proportional to exp(-y^2 / (2 sigma^2)); a scalar integer query. Not rotation invariant:
/// for a vector the l1 sensitivity must be given, an l2 sensitivity would under-report.
[[nodiscard]] LossPointer discrete_gaussian(Interval sigma, std::uint64_t sensitivity);

}  // namespace tradeoff
