// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tradeoff/interval.h"

// Correlated noise: C X + Z is released row by row, C lower triangular with columns c_t. A record moves row X_t by at most 1 in the steps t
// in which it takes part. The sensitivity is the largest norm of sum_t c_t u_t over the allowed sets of steps and |u_t| <= 1.
// [matrix-mechanism] [matrix-sensitivity]
namespace tradeoff::detail {

/// The steps in which one record may take part: at most `most` of the steps 0, ..., steps - 1, any two of them at least `separation` apart.
/// With `every`, they are i, i + separation, i + 2 separation, ... for some i. All numbers are at least 1.
struct Participation {
  std::uint64_t steps = 1;
  std::uint64_t most = 1;
  std::uint64_t separation = 1;
  bool every = false;

  /// The largest number of steps that an allowed set can have.
  [[nodiscard]] std::uint64_t largest_count() const;
};

/// An enclosure of the sensitivity, and how it was computed.
struct MatrixSensitivity {
  Interval value;
  std::string how;
};

/// The entries of a lower triangular matrix, row by row: row i has i + 1 of them.
class LowerTriangle {
 public:
  /// `entries` holds n (n + 1) / 2 numbers.
  explicit LowerTriangle(std::vector<Interval> entries, std::size_t rows);

  [[nodiscard]] std::size_t rows() const { return rows_; }
  /// The entry in this row and column, column <= row.
  [[nodiscard]] Interval at(std::size_t row, std::size_t column) const { return entries_[row * (row + 1) / 2 + column]; }
  /// One more than the last row in which the column is not exactly 0; at least column + 1.
  [[nodiscard]] std::size_t end_of(std::size_t column) const { return ends_[column]; }
  /// The least w with C_ij = 0 for all i - j >= w, on the given numbers.
  [[nodiscard]] std::size_t bandwidth() const { return bandwidth_; }

 private:
  std::vector<Interval> entries_;
  std::vector<std::size_t> ends_;
  std::size_t rows_;
  std::size_t bandwidth_ = 1;
};

/// The lower triangular Toeplitz matrix with C_ij = c_{i-j}; the coefficients that are not given are 0. `falling` says that c_0 >= c_1 >=
/// ... >= 0 holds for the exact numbers, not only for their enclosures. Throws TooLargeError.
[[nodiscard]] MatrixSensitivity toeplitz_sensitivity(std::span<const Interval> coefficients, bool falling, const Participation& allowed);

/// Any lower triangular matrix; `allowed.steps` is its number of rows. Throws TooLargeError.
[[nodiscard]] MatrixSensitivity triangle_sensitivity(const LowerTriangle& matrix, const Participation& allowed);

/// The sums over all nodes of a complete binary tree; `allowed.steps` is the number of its leaves, a power of two. Throws TooLargeError.
[[nodiscard]] MatrixSensitivity tree_sensitivity(const Participation& allowed);

/// c_0, ..., c_{count-1} of (1 - x)^(-1/2): c_j = binom(2j, j) / 4^j.
[[nodiscard]] std::vector<Interval> square_root_coefficients(std::size_t count);
/// c_0 = 1 and c_j = sum_i scales_i decays_i^(j-1). Both lists have the same length.
[[nodiscard]] std::vector<Interval> buffered_coefficients(std::span<const Interval> scales, std::span<const Interval> decays,
                                                          std::size_t count);

/// The norms of the columns of the Toeplitz matrix. They fall from column to column.
[[nodiscard]] std::vector<Interval> toeplitz_norms(std::span<const Interval> coefficients, std::size_t steps);
[[nodiscard]] std::vector<Interval> triangle_norms(const LowerTriangle& matrix);

}  // namespace tradeoff::detail
