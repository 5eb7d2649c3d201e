// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

#include "tradeoff/curve.h"
#include "tradeoff/error.h"
#include "tradeoff/plan.h"

// What crosses the border to Python is text and doubles: a plan is its text, a number the decimal that Python prints for it.
namespace tradeoff::python {

/// A ParseError together with the text it speaks of, so that Python can point at the fault.
class TextError final : public std::runtime_error {
 public:
  TextError(const ParseError& error, std::string text)
      : std::runtime_error(error.what()), offset_(error.offset()), text_(std::move(text)) {}
  [[nodiscard]] std::size_t offset() const noexcept { return offset_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::size_t offset_;
  std::string text_;
};

/// What `action` makes of the plan that the text is.
template <typename Action>
auto with_plan(const std::string& text, const Action& action) {
  try {
    return action(parse(text));
  } catch (const ParseError& error) {
    throw TextError(error, text);
  }
}

/// The interval around a decimal or a quotient of two, as a plan would read it. Throws DomainError that names the argument.
[[nodiscard]] Interval read_argument(const char* name, const std::string& text);

/// The same for the shortest decimal that stands for the double: what a person who typed it meant, and the double itself.
[[nodiscard]] Interval enclose_shortest(const char* name, double value);
/// Both of these, and at most a rounding more, where finding out the decimal would take longer than the answer: for lists.
[[nodiscard]] Interval enclose_nearby(const char* name, double value);

[[nodiscard]] Neighbours read_neighbours(const std::string& word);
[[nodiscard]] const char* to_word(Neighbours neighbours);
[[nodiscard]] Direction read_direction(const std::string& word);
[[nodiscard]] Tolerance read_relative(const std::string& text);

}  // namespace tradeoff::python
