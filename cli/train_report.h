// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "train/certificate.h"

namespace tradeoff::detail::cli {

/// The guarantee of a run as text: for the steps that were done and, if it stopped early, for the planned steps.
[[nodiscard]] std::string guarantee_text(const train::Progress& progress, const std::vector<std::string>& deltas, bool quiet);

}  // namespace tradeoff::detail::cli
