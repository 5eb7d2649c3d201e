// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "loss/loss.h"

namespace tradeoff::detail {

/// One epoch of `steps` steps with Gaussian noise in which every record takes part in one step, drawn uniformly: the pair of the mean of
/// N(mu e_t, I) over all steps t against N(0, I). `mu` is the norm bound of a record's contribution over the noise. `draws` says in
/// `explain` how often records are drawn. [random-allocation]
[[nodiscard]] LossPointer allocation_loss(Interval mu, std::uint64_t steps, std::string draws = {});

/// The same for a record that is replaced: the mean of N(mu e_t, I) over all steps t against the mean of N(-mu e_t, I).
/// [allocation-replace-one]
[[nodiscard]] LossPointer allocation_replace_loss(Interval mu, std::uint64_t steps, std::string draws = {});

/// The same loss, which also records a theorem by which it stands for a mechanism.
[[nodiscard]] LossPointer with_theorem(LossPointer loss, Citation citation);

}  // namespace tradeoff::detail
