// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tradeoff::detail::report {

/// The output of `point_at` of tradeoff/plan.h with both lines indented, for a terminal.
[[nodiscard]] std::string indented_point(std::string_view text, std::size_t offset);

}  // namespace tradeoff::detail::report
