// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tradeoff::cli {

/// From here on a delta is refused unless its user says that it is meant.
inline constexpr double large_delta = 0.01;

/// A sentence about a delta that is not below 1/records, a public number; empty if it is.
[[nodiscard]] std::string delta_warning(const std::string& delta, double records);

}  // namespace tradeoff::cli
