// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "train/examples.h"

namespace tradeoff::detail::train {

/// The two files of a data set in MNIST's format, each plain or gzipped: images (magic 2051) with bytes 0..255 read as 0..1, and labels
/// (magic 2049) below `classes`. Errors use `names`. Throws DomainError that states which file is wrong and why.
[[nodiscard]] Examples read_idx(std::string_view images, std::string_view labels, std::size_t classes, const std::string& image_name,
                                const std::string& label_name);

/// The public description of a table, fixed before the data are read.
struct TableTerms {
  std::vector<double> low{0};  ///< values are clipped to [low, high] and then mapped to [-1, 1]: one pair for all columns, or one for each
  std::vector<double> high{1};
  std::size_t classes = 2;
  bool has_labels = true;  ///< the last column is the label; false for records to be classified
};

/// Comma-separated values, one record per line, the label (0, 1, ...) last if there is one; a first line that is not a record is read as
/// names. Throws DomainError that names the line.
[[nodiscard]] Examples read_csv(std::string_view text, const TableTerms& terms, const std::string& name);

/// The first records, and the rest: a split that does not depend on the data.
[[nodiscard]] Examples slice(const Examples& all, std::size_t from, std::size_t to);

}  // namespace tradeoff::detail::train
