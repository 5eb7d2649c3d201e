// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "train/dataset.h"
#include "verb.h"

namespace tradeoff::detail::cli {

/// The data of `tradeoff train`: protected records, and test records.
struct TrainingData {
  train::Examples records;
  std::optional<train::Examples> test;
  std::string test_name;  ///< where the test records come from
  std::string digest;     ///< SHA-256 of the protected records, if there is a checkpoint; as secret as the records
};

/// The directory of Debian's package dataset-fashion-mnist.
inline constexpr const char* default_data = "/usr/share/datasets/fashion-mnist";

/// Reads --data (a directory of IDX files or a CSV file), --test and --holdout, and turns images into --features. Throws InputError and
/// DomainError.
[[nodiscard]] TrainingData read_training_data(const Options& options, const std::string& features);

/// The records of --predict, which need no labels: a .csv file, or the test images in a directory of IDX files.
[[nodiscard]] train::Examples read_records_to_classify(const Options& options, const std::string& features);

/// Reads the whole file. Throws InputError.
[[nodiscard]] std::string read_data_file(const std::string& path);

/// A whole number of at least `least`, or `otherwise` if it was not given. Throws DomainError that names the option.
[[nodiscard]] std::uint64_t read_whole(const Options& options, std::string_view name, std::uint64_t least, std::uint64_t otherwise);

}  // namespace tradeoff::detail::cli
