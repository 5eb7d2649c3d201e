// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/lattice/pair.h"

// The laws of a composition, grouped into a few thousand cells: finds tilts, transform lengths and the places where a profile is to be
// read closely, in microseconds. What it says decides how tight an answer is and what it costs, never whether it is valid. [tilted-fft]
namespace tradeoff::lattice {

/// A pair of laws and how often it is run.
struct Factor {
  Pair pair;
  double times = 1;    // a whole number
  bool exact = false;  // its atoms lie on the lattice: no finer reading makes it better
};

/// log of sum_j mass_j exp(s j step), times the number of runs, with two derivatives in s.
struct Moment {
  double log = 0;
  double mean = 0;
  double variance = 0;
};

/// The exponential weight under which the sum is computed, where to apply Chernoff's bound to the copies of the law that folding adds on
/// either side, and the period at which these copies weigh as little as asked.
struct Tilt {
  double value = 0;
  double saddle = 0;  ///< where the exponent is least: the law tilted so shows which losses decide
  double left = 0;
  double right = 0;
  double period = 0;
};

/// How closely the profile of one part should be read: near loss[i] at distances of about width[i].
struct Spacing {
  std::vector<double> loss;
  std::vector<double> width;
};

class Outline {
 public:
  Outline(std::span<const Factor> factors, double step);

  [[nodiscard]] Moment moment(double s) const;
  /// The moment of factor `i` alone, run once.
  [[nodiscard]] Moment moment_of(std::size_t i, double s) const;
  /// The tilt that needs the shortest period for delta(epsilon) among those that cost few digits: near the saddle point, positive, or in
  /// (-1, 0) if epsilon is below the mean loss. The copies are to weigh exp(log_share) of the answer.
  [[nodiscard]] Tilt tilt(double epsilon, double log_share) const;
  /// An epsilon >= 0 at which log delta is about this, by the saddle point value.
  [[nodiscard]] double epsilon_of(double log_delta) const;

  /// The mean square of the cell widths under the tilted laws, over all runs: the relative doubt about delta is about proportional to it.
  [[nodiscard]] double doubt(const Tilt& tilt) const;
  /// The same if the profiles were read as `spacings` says.
  [[nodiscard]] double doubt(const Tilt& tilt, std::span<const Spacing> spacings) const;
  /// For every part the spacing that makes the doubt `wanted` with the fewest points, no width below `floor` and at most `budget` points.
  [[nodiscard]] std::vector<Spacing> spacing(const Tilt& tilt, double wanted, double floor, double budget) const;

 private:
  struct Group {
    double loss;
    double mass;
    double extent;  // how much of the line its cells cover
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
  /// Weights of the groups of one part under the tilt, and their mean with those at the saddle point; either sums to 1.
  [[nodiscard]] static std::vector<double> tilted(const Grouped& part, double tilt);
  [[nodiscard]] static std::vector<double> importance(const Grouped& part, const Tilt& tilt);

  std::vector<Grouped> parts_;
};

}  // namespace tradeoff::lattice
