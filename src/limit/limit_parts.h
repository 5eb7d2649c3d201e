// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "engine/part.h"
#include "operators/refine.h"

namespace tradeoff::detail {

/// The mechanisms for a limit theorem: those that are run at least once; bounds are replaced by their refinement.
[[nodiscard]] inline Parts limit_parts(Parts parts) {
  std::erase_if(parts, [](const Part& part) { return part.times == 0; });
  for (Part& part : parts)
    if (!part.loss->is_pair()) part.loss = refine(std::move(part.loss));
  return parts;
}

}  // namespace tradeoff::detail
