// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/lattice/pair.h"

// The distributions of a composition, grouped into a few thousand cells. It finds tilts, transform lengths and the regions where a profile
// must be evaluated closely, in microseconds. It affects how tight an answer is and what it costs, never whether it is valid. [tilted-fft]
namespace tradeoff::detail::lattice {

/// A pair of distributions and its number of runs.
struct Factor {
  Pair pair;
  double times = 1;    // a whole number
  bool exact = false;  // its atoms lie on the lattice: a finer lattice does not improve it
};

/// log of sum_j mass_j exp(s j step), times the number of runs, with two derivatives in s.
struct Moment {
  double log = 0;
  double mean = 0;
  double variance = 0;
};

/// The exponential weight under which the sum is computed, the orders at which Chernoff's bound is applied to the copies that folding adds
/// on either side, and the period at which these copies are as small as requested.
struct Tilt {
  double value = 0;
  double saddle = 0;  ///< the minimum of the exponent: the distribution with this tilt shows which losses matter
  double left = 0;
  double right = 0;
  double period = 0;
};

/// How closely the profile of one part should be evaluated: near loss[i] at distances of about width[i].
struct Spacing {
  std::vector<double> loss;
  std::vector<double> width;
};

class Outline {
 public:
  Outline(std::span<const Factor> factors, double step);

  [[nodiscard]] Moment moment(double s) const;
  /// The moment of factor `i` alone, for one run.
  [[nodiscard]] Moment moment_of(std::size_t i, double s) const;
  /// The tilt with the shortest period for delta(epsilon) among those that cost few digits: near the saddle point, positive, or in (-1, 0)
  /// if epsilon is below the mean loss. The copies may be at most exp(log_share) of the answer.
  [[nodiscard]] Tilt tilt(double epsilon, double log_share) const;
  /// An epsilon >= 0 at which log delta is about this, by the saddle-point approximation.
  [[nodiscard]] double epsilon_of(double log_delta) const;

  /// The mean square of the cell widths under the tilted distributions, over all runs; the relative error of delta is about proportional to
  /// it.
  [[nodiscard]] double doubt(const Tilt& tilt) const;
  /// The same if the profiles were evaluated at `spacings`.
  [[nodiscard]] double doubt(const Tilt& tilt, std::span<const Spacing> spacings) const;
  /// For every part the spacing that makes the error `wanted` with the fewest points, with no width below `floor` and at most `budget`
  /// points.
  [[nodiscard]] std::vector<Spacing> spacing(const Tilt& tilt, double wanted, double floor, double budget) const;

 private:
  struct Group {
    double loss;
    double mass;
    double extent;  // the length covered by its cells
    double square;  // mean square of its cell widths
  };
  struct Grouped {
    std::vector<Group> groups;
    double times;
    double low, high;  // the least and the largest loss
    bool exact;
  };
  [[nodiscard]] double saddle(double epsilon, double low, double high) const;
  [[nodiscard]] Tilt with_period(double tilt, double epsilon, double log_target) const;
  /// The weights of the groups of one part under the tilt, and their mean with those at the saddle point; both sum to 1.
  [[nodiscard]] static std::vector<double> tilted(const Grouped& part, double tilt);
  [[nodiscard]] static std::vector<double> importance(const Grouped& part, const Tilt& tilt);

  std::vector<Grouped> parts_;
};

}  // namespace tradeoff::detail::lattice
