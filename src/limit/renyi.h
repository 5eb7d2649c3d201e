// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/part.h"
#include "loss/atoms.h"
#include "tradeoff/limit.h"

namespace tradeoff {

/// Encloses log E_P exp(order_less_one L), one direction: (order - 1) times the Renyi divergence. [renyi-curve]
[[nodiscard]] Interval log_moment(const Loss& loss, Direction direction, double order_less_one, double steps);

/// log of a bound of E_P[exp(sL); L cut off]: what a finite law that was cut off at its largest loss leaves out. -infinity if nothing.
[[nodiscard]] double log_cut_moment(const Atoms& atoms, double s, const Tail& tail);

/// The mechanisms behind a curve of Renyi divergences.
struct RenyiCurve::Mechanisms {
  Parts parts;
  bool symmetric = true;  ///< so both directions have the same divergences
};

}  // namespace tradeoff
