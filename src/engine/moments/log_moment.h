// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/atoms.h"
#include "loss/loss.h"

namespace tradeoff::detail {

/// The digits of integrals over the profile, where nothing quicker gives the moment: about six, or about three.
enum class MomentDigits { usual, few };

/// Encloses log E_P exp(order_less_one L), one direction: (order - 1) times the Renyi divergence. [renyi-curve]
[[nodiscard]] Interval log_moment(const Loss& loss, Direction direction, double order_less_one, double steps,
                                  MomentDigits digits = MomentDigits::usual);

/// The logarithm of a bound of E_P[exp(sL); L truncated]: the part that a truncated finite distribution omits. -infinity if nothing is
/// omitted.
[[nodiscard]] double log_cut_moment(const Atoms& atoms, double s, const Tail& tail);

}  // namespace tradeoff::detail
