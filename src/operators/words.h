// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/vocabulary.h"

// The sources that contain other plans, and the operators of the plan language. Each is defined at the end of the file of its loss.
namespace tradeoff::detail {

[[nodiscard]] Word mixture_word();
[[nodiscard]] Word strongest_word();
[[nodiscard]] Word weakest_word();

[[nodiscard]] Word poisson_word();
[[nodiscard]] Word sample_word();
[[nodiscard]] Word sample_with_replacement_word();
[[nodiscard]] Word repeat_word();
[[nodiscard]] Word group_word();
[[nodiscard]] Word rectify_word();
[[nodiscard]] Word invert_word();
[[nodiscard]] Word refine_word();

}  // namespace tradeoff::detail
