// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "loss/loss.h"

namespace tradeoff::detail {

/// The pair with the profile (1/n) E(xi_1 + ... + xi_n)+, where the xi are independent and take the values E - x and 1 - xE, each with
/// probability `share`, and values at most 0 otherwise; E = e^epsilon. All pairs of shuffled reports here have this form.
/// [shuffled-reports]
struct ReportLaw {
  Interval epsilon;  ///< of the local randomiser
  std::uint64_t users = 1;
  Interval share;
  /// The other values are -(x - 1) `cost` with probability `chance` of those reports, 0 otherwise.
  Interval cost{0, 0};
  Interval chance{0, 0};
};

/// Dominates n shuffled reports of any local randomiser that all users share. [shuffled-reports]
[[nodiscard]] ReportLaw clone_law(Interval epsilon, std::uint64_t users);
/// Dominates n shuffled answers by randomised response with so many choices. [shuffled-reports]
[[nodiscard]] ReportLaw blanket_law(Interval epsilon, std::uint64_t users, std::uint64_t choices);
/// Is dominated by them, for at least 3 choices: all other users have a third value. [shuffled-reports]
[[nodiscard]] ReportLaw witness_law(Interval epsilon, std::uint64_t users, std::uint64_t choices);

/// A loss with such a profile. Its finite form for compositions lies above it, or below it.
enum class ComposedBy { pair_above, pair_below };
[[nodiscard]] LossPointer shuffled_loss(const ReportLaw& law, ComposedBy side);

/// Is dominated by shuffled answers with 2 choices: the other users have the same value, and a fair public coin says which. A finite pair.
/// [shuffled-reports]
[[nodiscard]] LossPointer binary_witness(Interval epsilon, std::uint64_t users);

}  // namespace tradeoff::detail
