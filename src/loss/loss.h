// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loss/capabilities.h"
#include "loss/recording.h"
#include "loss/tail.h"
#include "tradeoff/curve.h"
#include "tradeoff/interval.h"

namespace tradeoff::detail {

/// One ordered pair of distributions, (P, Q) = (with the record, without it), described by the privacy loss L = log dP/dQ. A mechanism is a
/// Loss, and so is everything built from losses: composition, subsampling, mixture, group, refinement. `direction` is never `worst` here:
/// `remove` means (P, Q), `add` means (Q, P). The profile must hold for every real epsilon in both directions.
class Loss {
 public:
  Loss() = default;
  Loss(const Loss&) = delete;
  Loss& operator=(const Loss&) = delete;
  virtual ~Loss() = default;

  /// Encloses delta(e) = sup_E P(E) - exp(e) Q(E) for every real e in `epsilon` (ends may be infinite).
  [[nodiscard]] virtual Interval delta(Direction direction, Interval epsilon) const = 0;

  /// Natural logarithm of `delta`, where delta itself would underflow. By default the logarithm of `delta`.
  [[nodiscard]] virtual Interval log_delta(Direction direction, Interval epsilon) const;

  /// Both directions have the same profile, so the loss covers either order of a neighbouring pair.
  [[nodiscard]] virtual bool symmetric() const = 0;

  /// P(L = +infinity) in the given direction.
  [[nodiscard]] virtual Interval infinite_mass(Direction direction) const;

  /// What is proved about delta for large epsilon. By default this follows from the atoms, the mass at infinity or an exact Gaussian.
  [[nodiscard]] virtual Tail tail() const;

  /// What an engine may use besides the profile. By default nothing.
  [[nodiscard]] virtual Capabilities capabilities(Direction direction) const;

  /// Records the theorems behind the distribution of the pair. Code that uses atoms, the transform, break points, the Gaussian parameter or
  /// the mass at infinity must call it. The profile, the tests and the closed forms record their theorems themselves.
  virtual void cite() const {}

  /// Losses with equal non-empty keys share an enclosure of their distribution and are merged before any computation; see make_key.
  [[nodiscard]] virtual std::string key() const { return {}; }

  // Single capabilities; Capabilities describes each.
  using Test = LikelihoodRatioTest;
  [[nodiscard]] const Atoms* atoms(Direction direction) const { return capabilities(direction).atoms; }
  [[nodiscard]] const Transform* transform(Direction direction) const { return capabilities(direction).transform; }
  [[nodiscard]] std::optional<BreakExpansion> break_points(Direction direction, ParameterEnd end) const;
  [[nodiscard]] std::span<const double> corners(Direction direction) const { return capabilities(direction).corners; }
  /// That of the capabilities, or of two opposite losses.
  [[nodiscard]] std::optional<LossLattice> lattice() const;
  [[nodiscard]] std::optional<Interval> gaussian_mu() const { return capabilities(Direction::remove).gaussian_mu; }
  [[nodiscard]] std::span<const Loss* const> minimum_of() const { return capabilities(Direction::remove).minimum_of; }
  [[nodiscard]] bool is_pair() const { return capabilities(Direction::remove).is_pair; }
  [[nodiscard]] Cost cost() const { return capabilities(Direction::remove).cost; }
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const;
  [[nodiscard]] std::optional<Interval> closed_beta(Direction direction, Interval alpha) const;
  [[nodiscard]] std::optional<Interval> closed_mu() const;
  [[nodiscard]] std::optional<Interval> mu_above() const;
  [[nodiscard]] std::optional<NeededMu> mu_below() const;
  [[nodiscard]] std::optional<Test> test_at(Direction direction, double epsilon) const;
  [[nodiscard]] std::optional<std::vector<Guarantee>> guarantees(Direction direction) const;
  /// The closed form, or else the logarithm of 1 - delta.
  [[nodiscard]] Interval log_complement(Direction direction, double epsilon) const;
  [[nodiscard]] std::optional<LogLine> log_line(LineOf of, Direction direction, double start, double end) const;
  [[nodiscard]] std::optional<LogLine> divergence_line(Direction direction, double start, double end) const;
  [[nodiscard]] std::optional<Arc> arc(Direction direction, double start, double end) const;
  /// The approximation of the loss, or else the middle of the enclosure of delta.
  [[nodiscard]] double rough_delta(Direction direction, double epsilon) const;
};

/// The middle of the enclosure of delta(epsilon). It records nothing, because it only steers a search.
[[nodiscard]] double middle_of_delta(const Loss& loss, Direction direction, double epsilon);

}  // namespace tradeoff::detail
