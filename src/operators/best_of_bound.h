// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "loss/loss.h"
#include "operators/runs_law.h"

namespace tradeoff::detail {

/// Upper values of the profile of a pair in one direction, at any real epsilon. It must not outlive the loss.
class ReadProfile {
 public:
  ReadProfile(const Loss& base, Direction direction) : base_(&base), direction_(direction) {}
  /// At least delta(epsilon).
  [[nodiscard]] double above(double epsilon);
  /// From now on it reads the loss at multiples of `step` only and takes chords between them, which lie above a convex function.
  void tabulate(double step) { step_ = step; }

 private:
  [[nodiscard]] double read(double epsilon) const;
  [[nodiscard]] double entry(long long place);

  const Loss* base_;
  Direction direction_;
  double step_ = 0;  // 0: no table
  std::map<long long, double> table_;
};

/// [best-of-runs] An upper bound of the profile of the best of N runs in one direction, for epsilon >= 0. Loss and law must outlive it.
class SelectionBound {
 public:
  SelectionBound(const Loss& base, Direction direction, const RunsLaw& law);

  /// At least delta(epsilon) of the best of N runs; `profile` reads the base.
  [[nodiscard]] double delta(double epsilon, ReadProfile& profile) const;
  /// At least log sup phi'(u)/phi'(w(u)); may be infinite. The best of N runs has no larger loss than one run and this together.
  [[nodiscard]] double excess() const;
  /// At most w(u), the least probability without the record of an event that has probability u with it.
  [[nodiscard]] double least_other(double u) const;
  /// An approximation of delta(epsilon) of the base, from values that are known anyway.
  [[nodiscard]] double rough_base(double epsilon) const;

 private:
  /// w(u) >= ratio (u - delta) for every u, with ratio = e^-epsilon and delta = delta(epsilon).
  struct Support {
    double epsilon;
    double ratio;
    double delta;
  };
  /// A range of u on which phi'(u) lies below the line from `above_left` to `above_right`, and phi'(w(u)) above the other line.
  struct Cell {
    double from, to;
    std::size_t support;
    double above_left, above_right;
    double below_left, below_right;
    [[nodiscard]] double largest_ratio() const;
  };
  /// weight (1 - z/ratio)+, whose mean is weight delta(epsilon - log ratio).
  struct Stick {
    double log_ratio;  // at least log ratio
    double weight;
    double weights_from_here;
  };
  /// For one z0: the integral of (phi'(u) - phi'(w(u)) z0)+ over u, and sticks whose sum bounds the rest.
  struct Split {
    double integral;
    std::vector<Stick> sticks;
  };

  void read_supports(const Loss& base, Direction direction);
  [[nodiscard]] double crossing(std::size_t left) const;
  [[nodiscard]] double weight_of_gap(std::size_t left) const;
  [[nodiscard]] std::vector<std::size_t> envelope() const;
  void cut_cells();
  void cut_piece(std::size_t support, double from, double to, double step);
  [[nodiscard]] double steepness(const Support& support, double u) const;
  [[nodiscard]] Cell make_cell(std::size_t support, double from, double to) const;
  void recut_near_largest();
  void make_splits();
  [[nodiscard]] Split split_at(double start) const;
  [[nodiscard]] double rough_sum(const Split& split, double epsilon) const;
  [[nodiscard]] static double proved_sum(const Split& split, double epsilon, double enough, ReadProfile& profile);

  const RunsLaw& law_;
  double mean_;
  std::vector<Support> supports_;  // by falling epsilon; the first says w >= 0
  std::vector<Cell> cells_;
  double largest_ratio_ = 0;
  std::vector<Split> splits_;
};

}  // namespace tradeoff::detail
