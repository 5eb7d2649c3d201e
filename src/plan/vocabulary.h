// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tradeoff/curve.h"

namespace tradeoff {

/// What a word of the plan language is: where a line starts, what follows a `|`, or how a user's profile goes on beyond its last point.
enum class Role { source, operation, tail };

/// What an argument may be. `?` may stand for any number.
enum class Kind {
  number,      ///< 1.5, 1e-5, 256/60000
  integer,     ///< a number without fraction: 14062, 1e3
  numbers,     ///< [0.5, 0.5]
  pairs,       ///< [(1, 1e-5), (2, 1e-7)]
  components,  ///< [(0.3, gaussian(1)), (0.7, (laplace(1) | repeat(2)))]
  plans,       ///< [gaussian(1), (laplace(1) | repeat(2))]
  text,        ///< "file.csv"
  tail_word,   ///< a word whose role is tail: unknown, gaussian(k, s)
};

/// One parameter of a word; its place in the word's list is its position in a call.
struct Parameter {
  std::string_view name;
  Kind kind;
  std::string_view meaning;
  std::string_view fallback = {};  ///< what is meant when it is left out, as plan text; empty if it must be given
  int form = 0;                    ///< 0: part of every call; otherwise the call has the parameters of exactly one form
};

/// A name of the plan language. Names only: the mathematics behind them is found by analyze().
struct Word {
  Role role;
  std::string_view name;
  std::string_view meaning;
  std::vector<Parameter> parameters = {};
  Neighbours neighbours = Neighbours::unstated;  ///< the neighbours it speaks of; unstated for any
  std::string_view norm = {};                    ///< in which the sensitivity of a vector is measured; empty for single values
};

/// Every word there is, in the order of the manual. Parser, help texts and documentation all read this one table.
[[nodiscard]] std::span<const Word> vocabulary();

/// The word, or null.
[[nodiscard]] const Word* find_word(Role role, std::string_view name);

/// The parameter, or null.
[[nodiscard]] const Parameter* find_parameter(const Word& word, std::string_view name);

/// How calls look: `gaussian(sigma, sensitivity=1)`, `sample(size, of) or sample(rate)`.
[[nodiscard]] std::string usage(const Word& word);

/// Of the names, the one that was probably meant: a synonym, the nearest by insertions, deletions, substitutions and swaps if they are at
/// most a third of the letters, or one that starts with what was written. Empty if there is none.
[[nodiscard]] std::string_view nearest_name(std::string_view misspelt, std::span<const std::string_view> names);

}  // namespace tradeoff
