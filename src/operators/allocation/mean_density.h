// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "operators/allocation/log_mean_law.h"

namespace tradeoff::detail::allocation {

/// The density of log((Y_1 + ... + Y_n)/n) at index * step, index = first, first + 1, ...; Y = exp(s z - s^2/2) independent, z standard
/// normal. Every value is within its error of the truth. [allocation-mean-law]
struct MeanDensity {
  double step = 0;
  std::int64_t first = 0;
  std::vector<double> value, error;
};
/// As far as it is known. The step has few bits, so that places are exact.
[[nodiscard]] MeanDensity mean_density(double s, double steps, const LawRange& range);

}  // namespace tradeoff::detail::allocation
