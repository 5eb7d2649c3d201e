// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tradeoff/interval.h"

namespace tradeoff::detail::allocation {

/// Encloses E (S - k)+ / T as lognormal_options does, for a strike that one large summand alone exceeds: closed forms, narrow if k is far
/// beyond T. [0, infinity] where they say nothing. [allocation-large-step]
[[nodiscard]] Interval large_step_call(Interval mu, double steps, double strike);

}  // namespace tradeoff::detail::allocation
