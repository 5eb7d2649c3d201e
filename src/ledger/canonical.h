// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tradeoff/plan.h"

namespace tradeoff::detail::ledger {

/// The plan in one spelling: defaults are left out, 20/2 is 10, parentheses and `repeat(1)` that change nothing are dropped. Two texts of
/// the same spelling are the same request, so that repeating a spend in other words is not a conflict.
[[nodiscard]] std::string canonical_text(const Plan& plan);

}  // namespace tradeoff::detail::ledger
