// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "noise/coin.h"
#include "noise/secret.h"
#include "tradeoff/curve.h"
#include "train/step.h"

// How batches are drawn: two types, because their theorems differ in neighbours, noise and plan. [private-step]
namespace tradeoff::detail::train {

/// The records that take part in a step: secret, because the guarantee depends on it.
using Batch = noise::SecretVector<std::size_t>;

/// Algorithm 1 of Dong, Roth and Su: exactly `size` of `of` records without replacement, every subset equally likely, drawn anew at each
/// step. Neighbours replace one record, so a clipped sum moves by at most twice the clipping norm.
class FixedSizeBatches {
 public:
  /// Throws DomainError unless 1 <= size <= of.
  FixedSizeBatches(std::uint64_t size, std::uint64_t of);
  void draw(noise::WordStream& words, Batch& batch);

  [[nodiscard]] static const char* name() { return "fixed"; }
  [[nodiscard]] static Neighbours neighbours() { return Neighbours::replace_one; }
  [[nodiscard]] static std::uint64_t sensitivity(const ClipGrid& grid) { return 2 * grid.bound(); }
  [[nodiscard]] std::string operation() const;  ///< the operator in the plan
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t of() const { return of_; }

 private:
  std::uint64_t size_;
  std::uint64_t of_;
  noise::SecretVector<std::uint32_t> order_;  // all records, in the order that earlier steps left
};

/// Every record joins with probability size/of, independently. Neighbours add or remove one record, so a clipped sum moves by at most the
/// clipping norm. `of` is a public number; the sum is divided by the public `size`, not by the number of records that joined.
class PoissonBatches {
 public:
  PoissonBatches(std::uint64_t size, std::uint64_t of);
  /// Draws from this many records: the actual number.
  void draw(noise::WordStream& words, Batch& batch, std::size_t records) const;

  [[nodiscard]] static const char* name() { return "poisson"; }
  [[nodiscard]] static Neighbours neighbours() { return Neighbours::add_remove; }
  [[nodiscard]] static std::uint64_t sensitivity(const ClipGrid& grid) { return grid.bound(); }
  [[nodiscard]] std::string operation() const;
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t of() const { return of_; }

 private:
  std::uint64_t size_;
  std::uint64_t of_;
  noise::Coin coin_;
};

using Batches = std::variant<FixedSizeBatches, PoissonBatches>;

}  // namespace tradeoff::detail::train
