// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ask/request.h"
#include "verb.h"

namespace tradeoff::detail::cli {

/// The request that a command line makes: the plan, and each option that fills a field of the question. A row without a function belongs to
/// a verb that asks more than one question; such a verb reads its other options itself.
[[nodiscard]] ask::Request to_request(const ask::Question& question, const Options& options, ask::CurveCache& curves);

}  // namespace tradeoff::detail::cli
