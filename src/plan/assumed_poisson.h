// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "tradeoff/plan.h"

namespace tradeoff::detail {

/// What an accountant computes that takes every sampler for Poisson sampling: `shuffle`, `allocate` and a largest batch are replaced by
/// Poisson sampling at the same rate for as many steps. It is no statement about the plan. Empty if the plan has no such word, or if there
/// would be more than 1e12 steps.
[[nodiscard]] std::optional<Plan> assumed_poisson(const Plan& plan);

}  // namespace tradeoff::detail
