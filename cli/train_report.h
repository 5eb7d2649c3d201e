// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "train/certificate.h"

namespace tradeoff::cli {

/// What a run guarantees, for people: for the steps that were done and, if it was stopped early, for the planned ones.
[[nodiscard]] std::string guarantee_text(const train::Progress& progress, const std::vector<std::string>& deltas, bool quiet);

}  // namespace tradeoff::cli
