// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "loss/atoms.h"
#include "loss/loss.h"
#include "operators/runs_law.h"

namespace tradeoff::detail {

/// An event {L > e} of a pair: its probabilities with the record and without it.
struct LevelSet {
  Interval with_record;
  Interval without_record;
};
/// Such events for rising probability; the last has both 1. Empty if the loss has neither atoms nor threshold tests.
struct LevelSets {
  std::vector<LevelSet> sets;
  /// Outcomes of one loss can be told apart, so that each may have its own place: continuous noise, or any mechanism with a guarantee. Not
  /// so if the outcomes are listed.
  bool divisible = true;
};
[[nodiscard]] LevelSets level_sets(const Loss& base, Direction direction);

/// The outcomes of a pair in slices: those between two level sets, or a share of them that a coin decides.
struct SlicedPair {
  struct Slice {
    Interval with_record, without_record;
  };
  std::vector<LevelSet> sets;  // from probability 0 to 1
  std::vector<Slice> slices;   // slice i lies between the sets i and i + 1

  explicit SlicedPair(std::vector<LevelSet> all);
};

/// [best-of-runs] Explicit orders of the outcomes of a pair with these level sets, one for each epsilon. The law must outlive it.
class OrderWitness {
 public:
  OrderWitness(const LevelSets& levels, const RunsLaw& law);

  /// At most the largest delta(epsilon), epsilon >= 0, of the best of N runs over all orders.
  [[nodiscard]] double delta(double epsilon) const;

 private:
  /// Where a slice is moved, and about what it gains there for a probability of 1.
  struct Place {
    std::size_t set;
    double gain;
  };
  /// About phi after so many slices of the set `top` and so many others, with the record and without it.
  struct Merge {
    std::size_t top;
    std::vector<double> with_record, without_record;
  };

  [[nodiscard]] std::vector<Place> best_places(double x) const;
  [[nodiscard]] double inserted(std::size_t top, double x, const std::vector<Place>& places) const;
  [[nodiscard]] double best_inserted(double x) const;
  [[nodiscard]] double best_of_all(double x) const;
  [[nodiscard]] Merge merge_of(std::size_t top) const;
  [[nodiscard]] std::vector<std::size_t> best_order(const Merge& merge, double x) const;
  [[nodiscard]] double value(const std::vector<std::size_t>& order, double x) const;

  const RunsLaw& law_;
  SlicedPair fine_, coarse_;
  std::vector<double> slope_with_, slope_without_;  // about phi' at the fine sets; for searches
  std::vector<Merge> merges_;                       // of coarse slices
};

/// [best-of-runs] A pair below that of the best of N runs if outcomes of larger loss score higher. It is one pair for every epsilon.
[[nodiscard]] Atoms best_of_rising_losses(const std::vector<LevelSet>& sets, const RunsLaw& law);

}  // namespace tradeoff::detail
