// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "train/examples.h"

namespace tradeoff::train {

/// Histograms of gradient orientations: 8 directions in cells of 4x4 pixels, square roots, each record scaled to the same norm. A fixed
/// function of one image at a time, so nothing about other records enters and nothing is charged. Throws DomainError if the records are
/// no images.
[[nodiscard]] Examples orientation_histograms(const Examples& images);

}  // namespace tradeoff::train
