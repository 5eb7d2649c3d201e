// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ask/request.h"
#include "tradeoff/compare.h"

namespace tradeoff::ask {

/// What every method says at one delta.
struct Compared {
  Number delta;
  Comparison found;
};

[[nodiscard]] Compared compare_at(const Request& request, const Number& delta);
/// How many people `name_and_shame` is asked about; 0 if it is not.
[[nodiscard]] std::uint64_t people_of(const Request& request);

void write_compared(report::JsonWriter& out, const Compared& one, std::uint64_t people);
/// A row for each method, a column for each delta.
[[nodiscard]] std::string table_of(const std::vector<Compared>& columns, std::uint64_t people, const report::Style& style);

}  // namespace tradeoff::ask
