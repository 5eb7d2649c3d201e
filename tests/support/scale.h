// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdlib>

namespace tradeoff::detail::test {

/// The value of TRADEOFF_TEST_SCALE: how many times the usual number of random cases a test runs. 1 by default, less under sanitizers.
inline double test_scale() {
  const char* scale = std::getenv("TRADEOFF_TEST_SCALE");
  return scale == nullptr ? 1 : std::max(0.01, std::atof(scale));
}

/// That many random cases, scaled; at least one.
inline int scaled(int count) { return std::max(1, static_cast<int>(count * test_scale())); }

}  // namespace tradeoff::detail::test
