// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

namespace tradeoff::detail::test {

inline constexpr double largest_double = std::numeric_limits<double>::max();
inline constexpr double least_double = std::numeric_limits<double>::denorm_min();

}  // namespace tradeoff::detail::test
