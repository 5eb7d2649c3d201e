// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "loss/loss.h"

namespace tradeoff::detail {

/// The group of `size` records of a symmetric pair on a sample whose curve is known in closed form: Gaussian or Laplace noise, or what
/// rho-zCDP implies. Every value is a chain of as many steps, and the loss has a transform. Null for any other loss. [group-transform]
[[nodiscard]] LossPointer iterated_loss(const LossPointer& base, std::size_t size);

}  // namespace tradeoff::detail
