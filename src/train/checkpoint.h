// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "train/trainer.h"

namespace tradeoff::detail::train {

/// A run as a file: lines of text, the weights as exact bits, and a SHA-256 of all of it. It contains only public terms and what the steps
/// released: no count of clipped records, no state of a generator that could be drawn from again.
[[nodiscard]] std::string to_text(const Progress& progress);
/// Throws DomainError that describes the error in the file.
[[nodiscard]] Progress read_progress(std::string_view text);

/// SHA-256 of the two lines of the file with the parameters, `weights = ...` and `average = ...`.
[[nodiscard]] std::string parameters_digest(const Progress& progress);

}  // namespace tradeoff::detail::train
