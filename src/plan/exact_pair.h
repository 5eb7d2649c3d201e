// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "numeric/rational.h"
#include "tradeoff/curve.h"
#include "tradeoff/plan.h"

// Finite pairs of distributions whose probabilities are numbers of the plan, in exact arithmetic. What they determine is printed exactly.
// [finite-pair]
namespace tradeoff::detail {

class Vocabulary;
struct WrittenGuarantee;

/// The probabilities of an outcome with the record and without it.
struct ExactOutcome {
  numeric::Rational with;
  numeric::Rational without;
};
using ExactPair = std::vector<ExactOutcome>;

/// A trade-off function by its corners (alpha, beta): alpha increases from 0, beta falls to 0.
using ExactCorners = std::vector<std::pair<numeric::Rational, numeric::Rational>>;

/// The pair of a plan whose sources list their probabilities; empty if some source does not, or if numbers become too long.
[[nodiscard]] std::optional<ExactPair> exact_pair(const Plan& plan, const Vocabulary& vocabulary);

/// In the worst direction the lower hull of both.
[[nodiscard]] std::optional<ExactCorners> exact_corners(const ExactPair& pair, Direction direction);
/// The larger of two trade-off functions at every alpha.
[[nodiscard]] std::optional<ExactCorners> larger_of(const ExactCorners& one, const ExactCorners& other);
/// The lower hull of both.
[[nodiscard]] std::optional<ExactCorners> hull_of(ExactCorners one, const ExactCorners& other);
/// A pair with this trade-off function.
[[nodiscard]] std::optional<ExactPair> pair_with(const ExactCorners& corners);

[[nodiscard]] std::optional<numeric::Rational> exact_beta(const ExactCorners& corners, numeric::Rational alpha);
/// The largest 1 - beta - odds * alpha.
[[nodiscard]] std::optional<numeric::Rational> exact_delta(const ExactCorners& corners, numeric::Rational odds);
/// The largest ratio of both probabilities; empty if it is infinite.
[[nodiscard]] std::optional<numeric::Rational> largest_ratio(const ExactCorners& corners);
/// The ratios of both probabilities along the function, falling.
[[nodiscard]] std::vector<numeric::Rational> ratios_of(const ExactCorners& corners);
/// (0, the largest advantage) and (the largest finite loss, the probability of an infinite one), where the plan lists its probabilities.
[[nodiscard]] std::vector<WrittenGuarantee> computed_guarantees(const Plan& plan, const Vocabulary& vocabulary);
[[nodiscard]] std::optional<numeric::Rational> exact_chi_square(const ExactCorners& corners);

}  // namespace tradeoff::detail
