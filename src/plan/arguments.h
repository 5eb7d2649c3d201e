// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "mechanism/vocabulary.h"
#include "tradeoff/plan.h"

// How an analysis reads the arguments of a call: by name, with the fallback of the vocabulary where one was left out.
namespace tradeoff {

/// The argument as written, or null if it was left out.
[[nodiscard]] const Value* find_argument(const Call& call, std::string_view name);

/// The number, or its fallback. Throws DomainError for a `?` (only calibrate may meet one) and if there is neither.
[[nodiscard]] Number number_argument(const Call& call, Role role, std::string_view name);

/// The same for an integer. Throws DomainError if it is negative, TooLargeError above 2^53, where doubles no longer hold every integer.
[[nodiscard]] std::int64_t count_argument(const Call& call, Role role, std::string_view name);

}  // namespace tradeoff
