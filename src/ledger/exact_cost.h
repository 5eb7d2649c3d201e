// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "numeric/rational.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail::ledger {

/// The sum of mu^2 over the steps of a plan that consists of `gaussian` and `gdp` with `repeat` only, as an exact number; empty for any
/// other plan. Without it, a hundred spends of mu = 0.1 would not fit into a cap of mu = 1. [gaussian-composition]
[[nodiscard]] std::optional<numeric::Rational> exact_square(const Plan& plan);

/// The same for rho: half of `exact_square`, plus the rho of `zcdp`.
[[nodiscard]] std::optional<numeric::Rational> exact_rho(const Plan& plan);

}  // namespace tradeoff::detail::ledger
