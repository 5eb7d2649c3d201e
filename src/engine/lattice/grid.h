// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/lattice/outline.h"
#include "engine/lattice/part_profile.h"
#include "engine/lattice/transform.h"
#include "engine/part.h"
#include "loss/evaluation.h"

namespace tradeoff::detail::lattice {

/// WebAssembly: a page may use 160 MB. Its lattices are smaller, and its answers a little wider.
inline constexpr bool has_little_memory = sizeof(void*) == 4;

/// log delta at a point from one lattice, and the components of its error.
struct Answer {
  Interval log_delta{-std::numeric_limits<double>::infinity(), 0};
  double cut = 0;       ///< a bound of the increase by moving far losses to infinity, relative to delta
  double rounding = 0;  ///< of transforms, relative to delta
  double alias = 0;     ///< a bound of the increase by folding, relative to delta
  double slope = -1;    ///< of log delta in epsilon, roughly
  [[nodiscard]] double width() const;
  [[nodiscard]] double middle() const { return 0.5 * (log_delta.lo + log_delta.hi); }
};

/// One direction of a composition on one lattice: its distributions and the last transform. `refine` makes a finer lattice from it. Its
/// behaviour depends only on the questions asked; its work is counted, not timed. A copy is independent.
class Grid {
 public:
  /// `profiles` must outlive the grid.
  Grid(const PartProfiles& profiles, Tolerance tolerance);

  /// Makes the first, coarse, even lattice. False if even that one cannot index the sum.
  [[nodiscard]] bool start();
  /// delta from the last transform if that one is accurate at this epsilon, otherwise from a new one.
  [[nodiscard]] Answer look(double epsilon);
  /// delta from the last transform in any case.
  [[nodiscard]] Answer read(double epsilon) const;
  /// Makes a lattice better suited to the last answer: wider, or finer where it matters. False if no improvement is possible.
  [[nodiscard]] bool refine(const Answer& answer);
  /// The width of log delta to aim at from now on.
  void aim_at(double width) { tolerance_.relative = width; }
  /// An epsilon whose log delta is about this.
  [[nodiscard]] double guess_epsilon(double log_delta) const { return outline_->epsilon_of(log_delta); }

  /// The largest finite loss of the sum on the lattice.
  [[nodiscard]] double largest_loss() const;
  /// The work so far, in units of about a microsecond.
  [[nodiscard]] double work() const { return work_; }
  /// The last answer, and its lattice. [tilted-fft]
  [[nodiscard]] Evaluation evaluation(Direction direction, double epsilon, const Answer& answer) const;

 private:
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

  const PartProfiles* profiles_;
  const Parts* parts_;
  Direction direction_;
  Tolerance tolerance_;
  double runs_ = 0;
  unsigned log2_limit_;
  double tail_ = 1e-16;  // the mass that may be moved to infinity, over all runs
  std::vector<Range> ranges_;
  std::optional<double> corner_;       // a number of which all corners and atoms are multiples
  std::vector<double> other_corners_;  // those that are not
  bool all_atoms_ = false;             // all distributions are finite and lie on such a lattice
  Tilt tilt_;                          // of the last transform
  double step_ = 0;
  double points_ = 0;  // evaluated by the last discretisation
  double price_;       // of one evaluation
  double work_ = 0;
  BatchProfile::Width value_width_;  // of values of profiles that are evaluated at many points together
  std::vector<Factor> factors_;
  std::optional<Outline> outline_;
  std::shared_ptr<const ComposedPair> composed_;
};

}  // namespace tradeoff::detail::lattice
