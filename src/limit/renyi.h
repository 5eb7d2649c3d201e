// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "engine/part.h"
#include "loss/atoms.h"
#include "tradeoff/limit.h"

namespace tradeoff::detail {

/// Encloses log E_P exp(order_less_one L), one direction: (order - 1) times the Renyi divergence. [renyi-curve]
[[nodiscard]] Interval log_moment(const Loss& loss, Direction direction, double order_less_one, double steps);

/// The logarithm of a bound of E_P[exp(sL); L truncated]: the part that a truncated finite distribution omits. -infinity if nothing is
/// omitted.
[[nodiscard]] double log_cut_moment(const Atoms& atoms, double s, const Tail& tail);

/// The mechanisms of a curve of Renyi divergences.
struct RenyiMechanisms {
  Parts parts;
  bool symmetric = true;  ///< both directions have the same divergences

  [[nodiscard]] static RenyiCurve make(RenyiMechanisms mechanisms) {
    return RenyiCurve(std::make_shared<const RenyiMechanisms>(std::move(mechanisms)));
  }
};

}  // namespace tradeoff::detail
