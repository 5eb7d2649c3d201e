// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace tradeoff::detail::allocation {

/// One epoch for a record that is replaced: e^(l/2) times the density of the privacy loss under Q, an even function of the loss l, at
/// l = 0, step, 2 step, ... Every value is within its error of the truth; the first `good` errors are small against the values.
/// [allocation-replaced-law]
struct ReplacedLaw {
  std::vector<double> value, error;
  std::size_t good = 0;
};

/// Places as far as errors stay small, and at least so many more; none if there would be too many.
[[nodiscard]] ReplacedLaw replaced_law(double s, double steps, double step, std::size_t more);

}  // namespace tradeoff::detail::allocation
