// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "tradeoff/curve.h"
#include "tradeoff/error.h"
#include "tradeoff/plan.h"
#include "tradeoff/targets.h"

// Python and C++ exchange text and doubles: a plan is its text, a number the decimal that Python prints for it.
namespace tradeoff::detail::python {

/// A ParseError together with its text, so that Python can print a caret.
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

/// The result of `action` on the plan of the text.
template <typename Action>
auto with_plan(const std::string& text, const Action& action) {
  try {
    return action(parse(text));
  } catch (const ParseError& error) {
    throw TextError(error, text);
  }
}

/// The interval around a decimal or a quotient of two, read as in a plan. Throws DomainError that names the argument.
[[nodiscard]] Interval read_argument(const char* name, const std::string& text);

/// The same for the shortest decimal of the double, which is what a user who typed it meant, and for the double itself.
[[nodiscard]] Interval enclose_shortest(const char* name, double value);
/// Contains both, and at most one rounding more, if finding the decimal would take longer than the answer: for lists.
[[nodiscard]] Interval enclose_nearby(const char* name, double value);

/// The targets among these words, each with the text of its number.
using Texts = std::map<std::string, std::string>;
[[nodiscard]] Targets stated_targets(const Texts& stated);

[[nodiscard]] Neighbours read_neighbours(const std::string& word);
[[nodiscard]] const char* neighbours_word(Neighbours neighbours);
[[nodiscard]] Direction read_direction(const std::string& word);
[[nodiscard]] Tolerance read_relative(const std::string& text);

}  // namespace tradeoff::detail::python
