// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ask/request.h"
#include "tradeoff/compare.h"

namespace tradeoff::detail::ask {

/// The answers of all methods at one delta.
struct Compared {
  Number delta;
  Comparison found;
  std::vector<std::string> exact;  ///< the exact number of each row, where the plan determines it; otherwise empty
  std::string exact_epsilon;       ///< of the answer
};

[[nodiscard]] Compared compare_at(const Request& request, const Number& delta);
/// The number of people for `name_and_shame`; 0 if it is not asked.
[[nodiscard]] std::uint64_t people_of(const Request& request);

void write_compared(report::JsonWriter& out, const Compared& one, std::uint64_t people);
/// A table with a row per method and a column per delta; the reasons of methods that do not cover the plan only if `refusals`.
[[nodiscard]] std::string table_of(const std::vector<Compared>& columns, std::uint64_t people, const report::Style& style,
                                   bool refusals = false);

}  // namespace tradeoff::detail::ask
