// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "plan/neighbours.h"
#include "tradeoff/curve.h"
#include "tradeoff/interval.h"

// Answers as text: first the end that may be claimed, rounded to its safe side, then the proved interval.
namespace tradeoff::detail::report {

/// Which end of an interval may be claimed: `hi` for delta, epsilon, mu, advantage and true-positive rate, `lo` for beta.
enum class SafeEnd { lo, hi };

/// A quantity, its proved interval, and its condition: "epsilon", [2.38, 2.39], "at delta = 1e-5".
struct Claim {
  std::string quantity;
  Interval value;
  SafeEnd safe = SafeEnd::hi;
  std::string condition;
  std::optional<Interval> log10;  ///< of a value too small for a double
  std::string exact = {};         ///< the exact number, where it is known: 2.5 or 28200/103
  std::string instead = {};       ///< what to ask where no finite value holds
  std::string bound = {};         ///< a proved bound within the width of the interval; it is claimed instead of the safe end
};

/// What is printed besides the claim.
struct Style {
  bool quiet = false;      ///< only the claim
  std::string remark;      ///< how it was computed, e.g. "add-remove neighbours; contour, 0.6 ms"
  std::size_t indent = 0;  ///< blanks before each line
};

/// The claim on the first line, the proof below it, indented:
///
///     epsilon <= 2.38169 at delta = 1e-05
///         between 2.3816892 and 2.3816899
///         add-remove neighbours; contour, 0.6 ms
[[nodiscard]] std::string to_text(const Claim& claim, const Style& style);

/// "between 2.381690 and 2.381691", rounded outward, with enough digits to show the width; "exactly 0.5" if both ends are equal.
[[nodiscard]] std::string between(Interval value);

/// The same for a claim: "exactly 28200/103" if its exact number is known.
[[nodiscard]] std::string proof_of(const Claim& claim);

/// The safe end as it is claimed: all its digits if both ends are equal, otherwise at most six significant digits, as many as the width
/// supports, rounded to the safe side; ten where six would add a whole step to a bound just beyond a short decimal (0.99 + 1e-14).
[[nodiscard]] std::string claimed(Interval value, SafeEnd safe);

/// The same where an exact number is known that equals the value or bounds it: the number, if it is a decimal.
[[nodiscard]] std::string claimed(Interval value, SafeEnd safe, const std::string& exact);

/// The safe end as it is claimed, without regard to the width: six significant digits, or ten.
[[nodiscard]] std::string claimed_briefly(Interval value, SafeEnd safe);

/// The safe end with this many significant digits, rounded to the safe side.
[[nodiscard]] std::string safe_end(Interval value, SafeEnd safe, int digits);

/// log10 of a value below 1e-300, where doubles lose digits; empty for a larger value. `natural_log`, if known, is the logarithm of the
/// same value; it is accurate even if the value underflows.
[[nodiscard]] std::optional<Interval> log10_if_tiny(Interval value, const std::optional<Interval>& natural_log = std::nullopt);

using detail::to_word;  // of neighbours

}  // namespace tradeoff::detail::report
