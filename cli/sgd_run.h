// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "tradeoff/sgd.h"
#include "verb.h"

// The options that describe a run of DP-SGD, for the verbs that take one.
namespace tradeoff::detail::cli {

/// The number typed for an option, which must be given. Throws DomainError that names the option.
[[nodiscard]] Number read_run_number(const Options& options, std::string_view name);

/// The run that the options describe; its noise multiplier is "?" if none is stated. Throws DomainError that names the option.
[[nodiscard]] SgdRun read_run(const Options& options);

}  // namespace tradeoff::detail::cli
