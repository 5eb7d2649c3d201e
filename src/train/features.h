// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/examples.h"

namespace tradeoff::detail::train {

/// Histograms of gradient orientations: 8 directions in cells of 4x4 pixels, square roots, each record scaled to the same norm. A fixed
/// function of one image, so it uses nothing about other records and costs no privacy. Throws DomainError if the records are not images.
[[nodiscard]] Examples orientation_histograms(const Examples& images);

}  // namespace tradeoff::detail::train
