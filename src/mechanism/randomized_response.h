// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "loss/loss.h"

namespace tradeoff::detail {

/// k-ary randomised response: the true answer with probability e^eps / (e^eps + k - 1), every other one with 1 / (e^eps + k - 1).
[[nodiscard]] LossPointer randomized_response(Interval epsilon, std::uint64_t choices);

}  // namespace tradeoff::detail
