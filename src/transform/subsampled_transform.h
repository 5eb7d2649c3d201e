// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "loss/loss.h"
#include "loss/transform.h"
#include "transform/subsampled_nodes.h"

namespace tradeoff::detail {

/// The distribution of the base for sampling, if the base is Gaussian noise or Laplace noise, whole or truncated.
[[nodiscard]] std::optional<SampledBase> sampled_base(const Loss& base);

/// The transform of a sampled loss; null if the parameters are too wide or the base has none of these forms. For Poisson sampling of a
/// Gaussian see subsampled_gaussian. [subsampled-transform]
[[nodiscard]] std::unique_ptr<const Transform> subsampled_transform(const Loss& base, Interval rate, SampledBy sampling,
                                                                    Direction direction);

}  // namespace tradeoff::detail
