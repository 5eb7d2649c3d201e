// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/loss.h"
#include "tradeoff/gdp.h"

namespace tradeoff::detail {

/// Warnings for the reader of a measurement. `stated` is the loss of the plan before any refinement.
[[nodiscard]] std::vector<std::string> warnings_about(const GdpMeasurement& found, const Loss& stated);
[[nodiscard]] std::vector<std::string> warnings_about(const HeadMu& found, double epsilon_max, const Loss& stated);

}  // namespace tradeoff::detail
