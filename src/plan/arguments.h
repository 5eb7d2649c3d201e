// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tradeoff/plan.h"

namespace tradeoff {

/// The arguments of one call, read with their ranges. Every refusal is a DomainError that names call, argument, value and range.
/// Defaults come from the vocabulary.
class Arguments {
 public:
  explicit Arguments(const Call& call) : call_(call) {}

  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  /// Any finite number.
  [[nodiscard]] Interval number(std::string_view name) const;
  [[nodiscard]] Interval positive(std::string_view name) const;
  [[nodiscard]] Interval non_negative(std::string_view name) const;
  /// Between 0 and 1, both included.
  [[nodiscard]] Interval probability(std::string_view name) const;
  /// A whole number between `least` and `most`; above `most` it is too large.
  [[nodiscard]] std::uint64_t count(std::string_view name, std::uint64_t least, std::uint64_t most) const;
  [[nodiscard]] std::string word(std::string_view name) const;
  [[nodiscard]] const Value& value(std::string_view name) const;
  /// A list of numbers, and a list of pairs of numbers.
  [[nodiscard]] std::vector<Number> numbers(std::string_view name) const;
  [[nodiscard]] std::vector<std::pair<Number, Number>> pairs(std::string_view name) const;
  /// The number as it was written, for losses that can use its exact value.
  [[nodiscard]] Number written(std::string_view name) const;

  /// Throws the DomainError of this call: "gaussian: sigma = -1 is not allowed; it must be above 0".
  [[noreturn]] void refuse(std::string_view name, const std::string& shown, std::string_view allowed) const;

 private:
  [[nodiscard]] const Value* find(std::string_view name) const;
  /// What the vocabulary says is meant when the argument is left out.
  [[nodiscard]] Number fallback(std::string_view name) const;

  const Call& call_;
};

}  // namespace tradeoff
