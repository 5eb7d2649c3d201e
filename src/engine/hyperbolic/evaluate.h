// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "engine/hyperbolic/expansion.h"
#include "engine/hyperbolic/integrand.h"
#include "engine/hyperbolic/path.h"
#include "numeric/arithmetic.h"

// delta at one epsilon after another, by the first contour that proves it tightly. [bent-contour], [bent-split], [bent-remainder]
namespace tradeoff::detail::hyperbolic {

/// One direction at one end of the parameters: everything that does not depend on epsilon.
struct Side {
  Expansion expansion;

  explicit Side(Expansion expanded) : expansion(std::move(expanded)) {}
  /// The noise of each kind of subsampled step on the real axis; most plans of many steps never use it.
  [[nodiscard]] const std::vector<RealNoise>& real_noise() const;
  [[nodiscard]] std::vector<StepFactor> factors() const;
  [[nodiscard]] StepFactor factor(std::size_t kind) const;
  /// Saddle points are searched up to here; near the largest loss of a bounded mechanism they grow without limit.
  [[nodiscard]] double most_saddle() const { return expansion.unbounded_above() ? 1e6 : 1e18; }

 private:
  mutable std::once_flag noise_made_;
  mutable std::vector<RealNoise> real_noise_;
  mutable std::vector<std::optional<RealNoise>> mirror_noise_;  // of samples of fixed size
};

/// The components of the width of an answer, relative to the lower end of the integrated part of delta.
struct Doubt {
  std::uint64_t nodes = 0;
  double contours = 0;  ///< discretisation and truncation
  double rounding = 0;
  double ties = 0;  ///< summands whose break may be on either side of epsilon
};

/// log delta, and an approximation of its derivative for the search of an epsilon.
struct LogDelta {
  Interval bounds;
  double slope = 0;
  bool tight = false;  ///< within the tolerance
  Interval finite{};   ///< log of the bounds by the contours alone, for the finite losses
  Doubt doubt{};       ///< the components of their width
};

/// Approximations of log delta and its slope by saddle points: the Gaussian that touches F there. A search starts from them.
struct Rough {
  double log_delta = -infinity;
  double slope = 0;

  void add(const Integrand& integrand, Saddle saddle);
  void add(Rough other);
};

/// The summands of an expansion at an epsilon, grouped by the side of their break.
struct Offsets {
  std::vector<Integrand::Offset> left;
  std::vector<Integrand::Offset> right;
  double log_ties = -infinity;  ///< bounds the part of summands whose break may be on either side of epsilon
};

/// A part of delta: an integrand on its own contour, or one so small that its Chernoff bound suffices.
struct Piece {
  Integrand integrand;
  Opening opening;
  Contour contour = {};
  double chernoff_place = 0;  ///< if not 0: only bounded, by the transform at this point
};

/// Parts and their estimates.
struct Drawing {
  std::vector<Piece> pieces;
  std::vector<Estimate> estimates;

  void add(Piece piece, const Estimate& estimate);
};

/// The sum of estimates.
struct Total {
  Interval log_value = Interval::whole();
  double log_slope = 0;
  bool tight = false;
  Doubt doubt{};
};

/// A window at which the first kind of step is split, and the largest saddle-point value of the parts.
struct SplitChoice {
  std::shared_ptr<const Cut> cut;
  double log_value = infinity;
};

/// Answers for one side. The contours of earlier answers nearby are tried first: on their nodes F is known except for its exponential
/// factor, so that a nearby epsilon is cheap.
class Evaluator {
 public:
  /// Keeps a reference to the side.
  Evaluator(const Side& side, Tolerance tolerance);
  /// To the tolerance if possible. Earlier contours are reused if the width of the logarithm is at most `enough`, or nearly what it is
  /// where they were made.
  [[nodiscard]] LogDelta at(double epsilon, double enough = 0);
  [[nodiscard]] Rough rough(double epsilon);
  /// An upper bound of log delta over finite losses: the transform on the real axis.
  [[nodiscard]] double log_chernoff(double epsilon) const;
  [[nodiscard]] const Side& side() const { return side_; }

 private:
  /// The ways to integrate the terms whose break lies below epsilon.
  enum class Way {
    whole,     ///< one contour for the whole distribution
    cut,       ///< one contour, with separate paths for the bulk and the tail of the noise
    split,     ///< one contour each for no, one and more steps in the tail
    remainder  ///< one contour for the difference from the Gaussian of the same variance
  };
  struct Known {
    double epsilon;
    double width;  // of log delta there
    std::vector<Piece> pieces;
  };
  [[nodiscard]] Total again(Known& nearest, const Offsets& offsets, double epsilon);
  [[nodiscard]] Total anew(const Offsets& offsets, double epsilon);
  [[nodiscard]] std::vector<Way> ways(const std::vector<Integrand::Offset>& offsets, double epsilon, Saddle saddle);
  [[nodiscard]] Drawing draw(Way way, const std::vector<Integrand::Offset>& offsets, double epsilon, Saddle saddle, double log_floor);
  /// The split for this epsilon, or one that was chosen for a nearby epsilon.
  [[nodiscard]] const SplitChoice& split_at(const std::vector<Integrand::Offset>& offsets, double epsilon);

  const Side& side_;
  double tolerance_;
  double inner_;              // the accuracy that the contours aim at
  std::vector<Known> known_;  // newest last
  SplitChoice split_;
  double split_epsilon_ = 0;
};

}  // namespace tradeoff::detail::hyperbolic
