// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "train/trainer.h"

namespace tradeoff::train {

/// A run as a file: lines of text, the weights as exact bits, and a SHA-256 over all of it. It holds what the steps released and public
/// terms, nothing else: no count of records that were clipped, no state of a generator that could be drawn from again.
[[nodiscard]] std::string to_text(const Progress& progress);
/// Throws DomainError that says what is wrong with the file.
[[nodiscard]] Progress read_progress(std::string_view text);

/// SHA-256 of the two lines of the file that hold the parameters, `weights = ...` and `average = ...`.
[[nodiscard]] std::string parameters_digest(const Progress& progress);

}  // namespace tradeoff::train
