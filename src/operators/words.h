// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/vocabulary.h"

// The sources that contain other plans, and the operators of the plan language. Each is defined at the end of the file of its loss.
namespace tradeoff::detail {

[[nodiscard]] Word mixture_word();
[[nodiscard]] Word strongest_word();
[[nodiscard]] Word weakest_word();
[[nodiscard]] Word threshold_word();
[[nodiscard]] Word partition_selection_word();

[[nodiscard]] Word poisson_word();
[[nodiscard]] Word allocate_word();
[[nodiscard]] Word shuffle_word();
[[nodiscard]] Word cyclic_word();
[[nodiscard]] Word sample_word();
[[nodiscard]] Word sample_with_replacement_word();
[[nodiscard]] Word repeat_word();
[[nodiscard]] Word best_of_word();
[[nodiscard]] Word group_word();
[[nodiscard]] Word rectify_word();
[[nodiscard]] Word invert_word();
[[nodiscard]] Word refine_word();

// The laws of the number of runs. [best-of-runs]
[[nodiscard]] Word poisson_runs_word();
[[nodiscard]] Word poisson_positive_runs_word();
[[nodiscard]] Word geometric_runs_word();
[[nodiscard]] Word negative_binomial_runs_word();
[[nodiscard]] Word logarithmic_runs_word();
[[nodiscard]] Word binomial_runs_word();
[[nodiscard]] Word exact_runs_word();
[[nodiscard]] Word stated_runs_word();

}  // namespace tradeoff::detail
