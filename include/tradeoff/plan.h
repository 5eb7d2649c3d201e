// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tradeoff/interval.h"

namespace tradeoff {

/// A number as written: an exact decimal or a quotient of two. `text` is its canonical spelling; `value` encloses the exact number.
struct Number {
  std::string text;
  Interval value;
  friend bool operator==(const Number& a, const Number& b) { return a.text == b.text; }
};

/// `?`: the value that `calibrate` finds.
struct Unknown {
  friend bool operator==(const Unknown&, const Unknown&) = default;
};

struct Value;
struct Line;

/// Lines that are all run on the same data.
struct Plan {
  std::vector<Line> lines;
  friend bool operator==(const Plan&, const Plan&);
};

/// `(a, b)` or `[a, b]`.
struct Tuple {
  std::vector<Value> items;
  friend bool operator==(const Tuple&, const Tuple&);
};
struct List {
  std::vector<Value> items;
  friend bool operator==(const List&, const List&);
};

/// The value of one argument. A string may be quoted; a plain word need not be.
struct Value {
  std::variant<Number, Unknown, std::string, Plan, Tuple, List> content;
  std::size_t offset = 0;  ///< the byte offset in the text; not compared by ==
  friend bool operator==(const Value& a, const Value& b);
};

/// A named argument. After parsing, positional arguments have names too.
struct Argument {
  std::string name;
  Value value;
  friend bool operator==(const Argument&, const Argument&);
};

/// `name(arguments)`: a source or an operator, with its arguments in the order of the vocabulary.
struct Call {
  std::string name;
  std::vector<Argument> arguments;
  std::size_t offset = 0;  ///< the byte offset in the text; not compared by ==
  friend bool operator==(const Call& a, const Call& b);
};

/// A source, either a call or a whole plan in parentheses, and the operators applied to it from left to right.
struct Line {
  std::variant<Call, Plan> source;
  std::vector<Call> operators;
  friend bool operator==(const Line&, const Line&);
};

/// Reads a plan. Throws ParseError with the offset of the error and, for an unknown name, the nearest known one.
[[nodiscard]] Plan parse(std::string_view text);

/// Writes a plan so that `parse(to_string(plan)) == plan`.
[[nodiscard]] std::string to_string(const Plan& plan);

/// Reads one number as in a plan; `256/60000` is allowed. Throws ParseError.
[[nodiscard]] Number read_number(std::string_view text);

/// The exact decimal value of a finite double. Throws DomainError if it is not finite.
[[nodiscard]] Number exact_number(double value);

/// Whether a <= b as exact numbers. Their enclosures alone cannot decide this if they are equal. False if it cannot be decided.
[[nodiscard]] bool surely_at_most(const Number& a, const Number& b);

/// The line of the text that contains the byte at `offset`, and below it a caret under that byte; for error messages.
[[nodiscard]] std::string point_at(std::string_view text, std::size_t offset);

}  // namespace tradeoff
