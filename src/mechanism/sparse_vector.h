// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "loss/loss.h"

namespace tradeoff::detail {

/// How the queries of a sparse vector move when a record is added.
enum class Movement { any, rising, falling, either };
enum class SparseNoise { laplace, exponential, gaussian };

/// A query is answered "above" if its value and fresh noise reach the threshold and its own noise, which is drawn once; only the answers
/// are released, and after `positives` answers "above" it stops. [sparse-vector]
struct SparseVector {
  Interval threshold_scale;
  Interval query_scale;
  std::uint64_t positives = 1;
  Interval sensitivity = Interval::exactly(1);
  Movement movement = Movement::any;
  SparseNoise noise = SparseNoise::laplace;
  std::uint64_t queries = 0;  ///< at most so many, for Gaussian noise

  [[nodiscard]] bool directed() const { return movement == Movement::rising || movement == Movement::falling; }
  /// How far the noise of the threshold is shifted, and the answers of a query after that, in units of their scales.
  [[nodiscard]] Interval threshold_shift() const;
  [[nodiscard]] Interval query_shift() const;
};

/// A pair that dominates it.
[[nodiscard]] LossPointer sparse_vector_above(const SparseVector& vector);
/// The pair of one stream of queries, made strong at `share` of the largest loss. `ordered`: the order of the neighbours is the same in
/// every step; otherwise the pair is symmetric. [sparse-vector-witness]
[[nodiscard]] LossPointer sparse_vector_witness(const SparseVector& vector, double share, bool ordered);
/// The pair of a stream of two kinds of queries at levels where answers "above" are rare: the kind of each such answer is a choice between
/// two, strong at `share` of the largest loss of the answers. For Laplace and exponential noise. [sparse-vector-witness]
[[nodiscard]] LossPointer sparse_vector_rare_answers(const SparseVector& vector, double share, bool ordered);
/// The pair of a stream of pairs of queries of two kinds near the threshold. For Laplace noise. [sparse-vector-witness]
[[nodiscard]] LossPointer sparse_vector_paired_queries(const SparseVector& vector, bool ordered);

}  // namespace tradeoff::detail
