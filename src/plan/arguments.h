// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/vocabulary.h"
#include "tradeoff/plan.h"

namespace tradeoff {

/// The arguments of one call, read with their ranges. Every refusal is a DomainError that names call, argument, value and range.
/// Ranges and defaults come from the vocabulary. Call and vocabulary must outlive it.
class Arguments {
 public:
  explicit Arguments(const Call& call, const Vocabulary& vocabulary = tradeoff::vocabulary()) : call_(call), vocabulary_(vocabulary) {}

  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  /// A finite number within the range that the vocabulary gives.
  [[nodiscard]] Interval number(std::string_view name) const;
  /// A whole number within the range that the vocabulary gives; above it, it is too large.
  [[nodiscard]] std::uint64_t whole(std::string_view name) const;

  // The same within a narrower range, for those who can do less than the analysis.
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

  [[nodiscard]] const Vocabulary& vocabulary() const { return vocabulary_; }
  /// Those of a call within this one.
  [[nodiscard]] Arguments of(const Call& call) const { return Arguments(call, vocabulary_); }

  /// Throws the DomainError of this call: "gaussian: sigma = -1 is not allowed; it must be above 0".
  [[noreturn]] void refuse(std::string_view name, const std::string& shown, std::string_view allowed) const;

 private:
  [[nodiscard]] const Value* find(std::string_view name) const;
  /// The parameter of this call, or null.
  [[nodiscard]] const Parameter* parameter(std::string_view name) const;
  [[nodiscard]] Interval within(std::string_view name, const Range& range) const;
  /// What the vocabulary says is meant when the argument is left out.
  [[nodiscard]] Number fallback(std::string_view name) const;

  const Call& call_;
  const Vocabulary& vocabulary_;
};

}  // namespace tradeoff
