// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/loss.h"

namespace tradeoff::detail {

/// What has this pair; see Capabilities.
enum class GaussianOf {
  curve,          ///< any mechanism with this curve
  clipped_sums,   ///< several noisy sums, with a bound on the norm of every record's contributions
  noise,          ///< Gaussian noise on a query
  clipped_noise,  ///< the same with a bound on the norm of every record's contribution
};

/// N(0,1) against N(mu,1): the Gaussian mechanism with mu = sensitivity / sigma, any mu-GDP mechanism, and perfect privacy (mu = 0).
[[nodiscard]] LossPointer gaussian_loss(Interval mu, Citations origin = {}, GaussianOf of = GaussianOf::curve);

}  // namespace tradeoff::detail
