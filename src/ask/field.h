// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string_view>

#include "tradeoff/interval.h"

namespace tradeoff::detail::ask {

/// How the text of a field is read.
enum class Kind {
  number,              ///< a decimal, or a quotient of two; finite
  number_or_infinity,  ///< the same, or the word `inf`
  numbers,             ///< numbers separated by commas
  words,               ///< names separated by commas
  choice,              ///< one of a list of words
  plan,                ///< the text of a plan
};

/// The numbers that a field accepts, and the text of the error for others.
struct Range {
  std::string_view allowed = "a number";
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool includes_least = true;
  bool includes_most = true;
  bool is_whole = false;

  /// Whether the whole interval lies in the range; for whole numbers, whether it is a single one of them.
  [[nodiscard]] constexpr bool holds(Interval value) const {
    const bool above = includes_least ? value.lo >= least : value.lo > least;
    const bool below = includes_most ? value.hi <= most : value.hi < most;
    return above && below && (!is_whole || (value.lo == value.hi && value.lo == static_cast<double>(static_cast<long long>(value.lo))));
  }
};

inline constexpr Range any_number{};
inline constexpr Range at_least_zero{"at least 0", 0};
inline constexpr Range above_zero{.allowed = "above 0", .least = 0, .includes_least = false};
inline constexpr Range above_one{.allowed = "above 1", .least = 1, .includes_least = false};
inline constexpr Range probability{"between 0 and 1", 0, 1};
inline constexpr Range inner_probability{"strictly between 0 and 1", 0, 1, false, false};

/// Whole numbers, both ends included; at most 1e15, so that each is exact in a double.
[[nodiscard]] constexpr Range whole_numbers(std::string_view allowed, double least, double most) {
  return {allowed, least, most, true, true, true};
}

/// One argument of a question. JSON and Python use its name. The command line writes `--` before it and `-` for `_`, and omits `target.`.
struct Field {
  std::string_view name;  ///< a member of an object is `object.member`, as in `target.epsilon`
  std::string_view meaning;
  Kind kind = Kind::number;
  Range range = any_number;  ///< the range of each number
  bool required = false;
};

}  // namespace tradeoff::detail::ask
