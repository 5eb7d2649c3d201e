// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "calibrate/trial.h"
#include "tradeoff/interval.h"

namespace tradeoff::detail {

/// The smallest noise scale that meets the targets if privacy is not monotone in it: no value below the lower end meets them, and the upper
/// end does. Throws DomainError if no value up to `largest` is found that meets them. [parameter-calibration]
[[nodiscard]] Interval scan_noise(const Trial& trial, double largest);

}  // namespace tradeoff::detail
