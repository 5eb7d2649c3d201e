// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "loss/transform.h"
#include "tradeoff/curve.h"
#include "transform/mixture_pair.h"

namespace tradeoff::detail {

/// The transform of a pair of Gaussian mixtures, which must outlive it; null if the parameters are too wide or too large.
/// [mixture-transform]
[[nodiscard]] std::unique_ptr<const Transform> mixture_transform(const MixturePair& pair, Direction direction);

}  // namespace tradeoff::detail
