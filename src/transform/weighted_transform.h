// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "loss/transform.h"

namespace tradeoff::detail {

/// A component of a mixture whose choice is public.
struct WeightedTransform {
  Interval weight;
  std::shared_ptr<const Transform> transform;
};

/// The transform of the mixture. The true weights lie in the given intervals and add up to 1. Null if a transform is missing, or a weight
/// is not known well enough. [mixed-transform]
[[nodiscard]] std::shared_ptr<const Transform> mixed_transform(std::vector<WeightedTransform> components);

/// The transform of N(0,1) against N(mu,1), for mixtures; a plan of Gaussians alone needs none. Requires mu > 0. [mixed-transform]
[[nodiscard]] std::shared_ptr<const Transform> gaussian_transform(Interval mu);

}  // namespace tradeoff::detail
