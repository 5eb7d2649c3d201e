// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "loss/loss.h"
#include "mechanism/gaussian.h"

namespace tradeoff::detail {

/// A pair of Gaussian mixtures with binomial weights: P = sum_k Bin(ahead, rate)(k) N(k mu, 1) against
/// Q = sum_k Bin(behind, rate)(k) N(-k mu, 1). Requires 0 < mu < infinity, 0 < rate < 1 and ahead >= 1. Symmetric if ahead = behind.
/// [gaussian-comparison]
///   ahead = K, behind = 0: a user with K examples, each drawn with the rate, add-remove and zero-out neighbours. [user-level-poisson]
///   ahead = behind = K: the same under replace-one neighbours, mu = clip norm / sigma. [poisson-replace-one]
///   ahead = j, behind = K - j: a group in which j records leave and K - j enter.
/// `of`: with noise, a group of records has such a pair too. [sampled-group]
[[nodiscard]] LossPointer gaussian_mixture(Interval mu, Interval rate, std::uint64_t ahead, std::uint64_t behind, Citations origin,
                                           GaussianOf of = GaussianOf::curve);

}  // namespace tradeoff::detail
