// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "engine/part.h"
#include "tradeoff/limit.h"

namespace tradeoff::detail {

/// The mechanisms of a curve of Renyi divergences.
struct RenyiMechanisms {
  Parts parts;
  bool symmetric = true;  ///< both directions have the same divergences

  [[nodiscard]] static RenyiCurve make(RenyiMechanisms mechanisms) {
    return RenyiCurve(std::make_shared<const RenyiMechanisms>(std::move(mechanisms)));
  }
};

}  // namespace tradeoff::detail
