// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "loss/loss.h"

namespace tradeoff::detail {

/// The distribution has about 80 sigma values; above this limit the table would be too large. Use the rounded Gaussian for wider noise.
inline constexpr double widest_discrete_gaussian = 10'000;

/// Noise on the integers with probabilities proportional to exp(-y^2 / (2 sigma^2)), for a scalar integer query. It is not rotation
/// invariant: for a vector state the l1 sensitivity; an l2 sensitivity would report more privacy than there is. `origin` names other
/// theorems than the usual one.
[[nodiscard]] LossPointer discrete_gaussian(Interval sigma, std::uint64_t sensitivity, Citations origin = {});

}  // namespace tradeoff::detail
