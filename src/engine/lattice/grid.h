// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/lattice/outline.h"
#include "engine/lattice/pair.h"
#include "engine/lattice/transform.h"
#include "engine/part.h"
#include "loss/evaluation.h"

namespace tradeoff::lattice {

/// log delta at a point from one lattice, and the parts of its error.
struct Answer {
  Interval log_delta{-std::numeric_limits<double>::infinity(), 0};
  double cut = 0;       ///< what moving far losses to infinity may have added, relative to delta
  double rounding = 0;  ///< of transforms, relative to delta
  double alias = 0;     ///< what folding may have added, relative to delta
  double slope = -1;    ///< of log delta in epsilon, roughly
  [[nodiscard]] double width() const;
  [[nodiscard]] double middle() const { return 0.5 * (log_delta.lo + log_delta.hi); }
};

/// One direction of a composition on one lattice: the laws on it and the last transform. Finer lattices are made of it by `refine`.
/// What it does depends on the questions asked of it and on nothing else; its work is counted, not timed. A copy is independent.
class Grid {
 public:
  /// `parts` must outlive the grid.
  Grid(const Parts& parts, Direction direction, Tolerance tolerance);

  /// The first, coarse lattice, evenly read. False if even that one cannot index the sum.
  [[nodiscard]] bool start();
  /// Reads delta off the last transform if that one is good at this epsilon, off a new one otherwise.
  [[nodiscard]] Answer look(double epsilon);
  /// Reads delta off the last transform, come what may.
  [[nodiscard]] Answer read(double epsilon) const;
  /// A lattice better suited to what was just answered: wider, or finer where it matters. False if nothing is left to gain.
  [[nodiscard]] bool refine(const Answer& answer);
  /// An epsilon whose log delta is about this.
  [[nodiscard]] double guess_epsilon(double log_delta) const { return outline_->epsilon_of(log_delta); }

  /// Of the sum, as far as losses are kept apart from infinity.
  [[nodiscard]] double largest_loss() const;
  /// What has been spent so far, in units of about a microsecond.
  [[nodiscard]] double work() const { return work_; }
  /// What was just answered, and on which lattice. [tilted-fft]
  [[nodiscard]] Evaluation evaluation(Direction direction, double epsilon, const Answer& answer) const;

 private:
  struct Range {
    double low;
    double high;
  };
  [[nodiscard]] Range range(const Loss& loss) const;
  [[nodiscard]] double finest_step() const;
  [[nodiscard]] double points_affordable() const;
  [[nodiscard]] double points_of_even(double step) const;
  [[nodiscard]] Points points(std::size_t i, const Spacing& spacing) const;
  [[nodiscard]] std::optional<Points> exact_points(std::size_t i) const;
  [[nodiscard]] std::vector<Spacing> even() const;
  void count_readings(double readings);
  void find_ranges();
  void find_corners();
  [[nodiscard]] double nearest_cells(double least) const;
  void set_step(double wanted);
  void discretise(const std::vector<Spacing>& spacings);
  void compose(const Tilt& tilt, unsigned log2_size);

  const Parts* parts_;
  Direction direction_;
  Tolerance tolerance_;
  double runs_ = 0;
  unsigned log2_limit_;
  double tail_ = 1e-16;  // what may be moved to infinity, over all runs
  std::vector<Range> ranges_;
  std::optional<double> corner_;       // a number of which all corners and atoms are multiples
  std::vector<double> other_corners_;  // that are not
  bool all_atoms_ = false;             // nothing but atoms, and all on such a lattice
  Tilt tilt_;                          // of the last transform
  double step_ = 0;
  double points_ = 0;  // read by the last discretisation
  double price_;       // of reading one
  double work_ = 0;
  std::vector<Factor> factors_;
  std::optional<Outline> outline_;
  std::shared_ptr<const ComposedPair> composed_;
};

}  // namespace tradeoff::lattice
