// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "trial.h"

namespace tradeoff::detail::breaker {

/// A simpler trial that still fails: lines, operators, parts, repetitions and digits are removed while it fails. Stops after this many
/// attempts.
[[nodiscard]] Trial shrunk(Trial trial, const std::function<bool(const Trial&)>& fails, int attempts = 400);

}  // namespace tradeoff::detail::breaker
