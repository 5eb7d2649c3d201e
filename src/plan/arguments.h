// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/vocabulary.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail {

/// Reads the arguments of one call and checks their ranges. Every error is a DomainError that names the call, the argument, the value and
/// the range. Ranges and defaults come from the vocabulary. The call and the vocabulary must outlive it.
class Arguments {
 public:
  explicit Arguments(const Call& call, const Vocabulary& vocabulary = tradeoff::detail::vocabulary())
      : call_(call), vocabulary_(vocabulary) {}

  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  /// A finite number within the range of the vocabulary.
  [[nodiscard]] Interval number(std::string_view name) const;
  /// A whole number within the range of the vocabulary; a larger one throws TooLargeError.
  [[nodiscard]] std::uint64_t whole(std::string_view name) const;

  // The same within a narrower range, for code that supports less than the analysis.
  [[nodiscard]] Interval positive(std::string_view name) const;
  [[nodiscard]] Interval non_negative(std::string_view name) const;
  /// A number between 0 and 1, both included.
  [[nodiscard]] Interval probability(std::string_view name) const;
  /// A whole number between `least` and `most`; a larger one throws TooLargeError.
  [[nodiscard]] std::uint64_t count(std::string_view name, std::uint64_t least, std::uint64_t most) const;

  [[nodiscard]] std::string word(std::string_view name) const;
  /// The chosen word of a choice, or its default.
  [[nodiscard]] std::string_view choice(std::string_view name) const;
  [[nodiscard]] const Value& value(std::string_view name) const;
  /// A list of numbers, and a list of pairs of numbers.
  [[nodiscard]] std::vector<Number> numbers(std::string_view name) const;
  [[nodiscard]] std::vector<std::pair<Number, Number>> pairs(std::string_view name) const;
  /// The number as written, for losses that can use its exact value.
  [[nodiscard]] Number written(std::string_view name) const;
  /// The same as a rational number; empty if it is negative or too long.
  [[nodiscard]] std::optional<numeric::Rational> exact(std::string_view name) const;

  [[nodiscard]] const Vocabulary& vocabulary() const { return vocabulary_; }
  /// The arguments of a call inside this one.
  [[nodiscard]] Arguments of(const Call& call) const { return Arguments(call, vocabulary_); }

  /// Throws the DomainError of this call: "gaussian: sigma = -1 is not allowed; it must be above 0".
  [[noreturn]] void refuse(std::string_view name, const std::string& shown, std::string_view allowed) const;

 private:
  [[nodiscard]] const Value* find(std::string_view name) const;
  /// The parameter of this call, or null if there is none.
  [[nodiscard]] const Parameter* parameter(std::string_view name) const;
  [[nodiscard]] bool default_of_form(const Parameter& known) const;
  [[nodiscard]] Interval within(std::string_view name, const Range& range) const;
  /// The default of the vocabulary for an omitted argument.
  [[nodiscard]] Number fallback(std::string_view name) const;

  const Call& call_;
  const Vocabulary& vocabulary_;
};

}  // namespace tradeoff::detail
