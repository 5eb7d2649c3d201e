// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "train/dataset.h"
#include "verb.h"

namespace tradeoff::cli {

/// What `tradeoff train` works on: protected records, and others to judge the model by.
struct TrainingData {
  train::Examples records;
  std::optional<train::Examples> test;
  std::string test_name;  ///< where the others come from
  std::string digest;     ///< SHA-256 of the protected records, if the run is kept: as secret as they are
};

/// Where Debian's dataset-fashion-mnist puts its files.
inline constexpr const char* default_data = "/usr/share/datasets/fashion-mnist";

/// Reads --data (a directory of IDX files or a CSV file), --test and --holdout, and turns images into --features. Throws InputError and
/// DomainError.
[[nodiscard]] TrainingData read_training_data(const Options& options, const std::string& features);

/// The whole file. Throws InputError.
[[nodiscard]] std::string read_data_file(const std::string& path);

/// A whole number of at least `least`, or `otherwise` if it was not given. Throws DomainError that names the option.
[[nodiscard]] std::uint64_t read_whole(const Options& options, std::string_view name, std::uint64_t least, std::uint64_t otherwise);

}  // namespace tradeoff::cli
