// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tradeoff/sgd.h"

namespace tradeoff::detail::report {

/// What a paper should say about a run of DP-SGD: sampling, noise multiplier, rate, steps, neighbours, (epsilon, delta), accountant and
/// version. `epsilon` is that of the plan of the run at `delta`.
[[nodiscard]] std::string sentence_for_paper(const SgdRun& run, Interval epsilon, const Number& delta);

}  // namespace tradeoff::detail::report
