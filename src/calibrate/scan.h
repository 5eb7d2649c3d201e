// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "calibrate/trial.h"
#include "tradeoff/interval.h"

namespace tradeoff {

/// The smallest noise that meets the targets, where privacy is not monotone in it: no value below the lower end meets them, and the upper
/// end does. Throws DomainError if no value up to `largest` was found that does. [parameter-calibration]
[[nodiscard]] Interval scan_noise(const Trial& trial, double largest);

}  // namespace tradeoff
