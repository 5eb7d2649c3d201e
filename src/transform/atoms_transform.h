// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/atoms.h"
#include "loss/transform.h"

namespace tradeoff::detail {

/// The transform of a loss with finitely many values. It does not decay, so a contour needs another part that does. Null if there are too
/// many atoms or they are too wide, or if the two distributions have different infinite masses. [atoms-transform]
[[nodiscard]] std::shared_ptr<const Transform> atoms_transform(const Atoms& atoms);

}  // namespace tradeoff::detail
