// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "loss/loss.h"
#include "plan/arguments.h"

namespace tradeoff {

/// Makes the loss of a source from its arguments; throws DomainError for values out of range.
using SourceFactory = LossPointer (*)(const Arguments&);

/// The factory of a source of the vocabulary; null if its mathematics is not implemented.
[[nodiscard]] SourceFactory find_source(std::string_view name);

}  // namespace tradeoff
