// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "tradeoff/interval.h"
#include "verb.h"

namespace tradeoff::detail::cli {

/// The verdict of the witness, a slow independent program, on an answer. See docs/witness.md.
struct Testimony {
  enum class Verdict { confirmed, contradicted, undecided } verdict = Verdict::undecided;
  std::string words;  ///< its output, one statement per line

  [[nodiscard]] const char* name() const {
    return verdict == Verdict::confirmed ? "confirmed" : verdict == Verdict::contradicted ? "contradicted" : "undecided";
  }
};

/// Runs the program `tradeoff-witness` on the plan and the question of `options`. Throws InputError if it is not found.
[[nodiscard]] Testimony ask_witness(std::string_view verb, const Options& options, Interval answer);

}  // namespace tradeoff::detail::cli
