// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tradeoff::detail::cli {

/// From this delta on, the value is refused unless the user confirms it.
inline constexpr double large_delta = 0.01;

/// A warning if delta is not below 1/records, where the number of records is public; empty otherwise.
[[nodiscard]] std::string delta_warning(const std::string& delta, double records);

}  // namespace tradeoff::detail::cli
