// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/vocabulary.h"
#include "tradeoff/analyze.h"

namespace tradeoff::detail {

/// Analyses a plan with a vocabulary of the caller: `analyze(parse(text, words), words)` with `words = vocabulary().with(word)`. The
/// vocabulary need not outlive the curve. Throws what `analyze` throws, and UnsupportedError for a word that is not in the vocabulary.
[[nodiscard]] Curve analyze(const Plan& plan, const Vocabulary& vocabulary, Neighbours neighbours = Neighbours::unstated,
                            Tolerance tolerance = {});

}  // namespace tradeoff::detail
