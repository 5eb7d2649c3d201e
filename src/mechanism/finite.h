// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "loss/atoms.h"
#include "loss/loss.h"

namespace tradeoff::detail {

/// A loss that takes finitely many values, given by its distribution in the remove direction. `origin` is the theorem behind the
/// distribution; `tail` is what is known where atoms were cut off; `lattice` contains all losses, if it is known.
[[nodiscard]] LossPointer finite_loss(Atoms remove, std::string key, Citations origin, std::optional<Tail> tail = std::nullopt,
                                      std::optional<LossLattice> lattice = std::nullopt);

}  // namespace tradeoff::detail
