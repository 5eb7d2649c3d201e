// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loss/break_points.h"
#include "loss/recording.h"
#include "loss/tail.h"
#include "tradeoff/curve.h"
#include "tradeoff/interval.h"

namespace tradeoff {

struct Atoms;     // loss/atoms.h: a finite law of the loss
class Transform;  // loss/transform.h: the moment generating function of the loss

/// Every finite loss is a multiple of the step or, with `odd_half_steps`, an odd multiple of half the step.
struct LossLattice {
  Interval step;
  bool odd_half_steps = false;
};

/// The pair is (epsilon, delta)-DP and touches that line.
struct Guarantee {
  Interval epsilon;
  Interval delta;
};

/// What stands behind one reading of a profile.
enum class Cost {
  formula,  ///< a formula or a short sum
  engine,   ///< an engine, which may take milliseconds
  search,   ///< a search over readings of another profile
};

/// One ordered pair of distributions, (P, Q) = (with the record, without it), seen through the privacy loss L = log dP/dQ.
/// A mechanism is a Loss, and so is whatever is built from losses: composition, subsampling, mixture, group, refinement.
/// `direction` is never `worst` here: `remove` reads (P, Q), `add` reads (Q, P). The profile must hold for every real epsilon, both
/// directions.
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

  /// About delta(epsilon): steers searches and certifies nothing. Where an answer is slow, a coarse one stands for it.
  [[nodiscard]] virtual double rough_delta(Direction direction, double epsilon) const;

  /// Both directions have the same profile, so the loss may stand for either order of any neighbouring pair.
  [[nodiscard]] virtual bool symmetric() const = 0;

  /// P(L = +infinity) in the given direction.
  [[nodiscard]] virtual Interval infinite_mass(Direction direction) const;

  /// What is certain about delta for large epsilon. By default what the atoms, the mass at infinity or an exact Gaussian tell.
  [[nodiscard]] virtual Tail tail() const;

  /// Some pair of distributions has this very profile. False for an upper bound, which must be refined before it is composed or sampled.
  [[nodiscard]] virtual bool is_pair() const { return true; }

  /// If the profile is the pointwise minimum of profiles of symmetric pairs: those. Empty otherwise.
  [[nodiscard]] virtual std::vector<const Loss*> minimum_of() const { return {}; }

  /// Closed forms where a mechanism has them; the generic inversions of curve/ are used otherwise.
  [[nodiscard]] virtual std::optional<Interval> closed_epsilon(Direction, Interval /*delta*/) const { return std::nullopt; }
  [[nodiscard]] virtual std::optional<Interval> closed_beta(Direction, Interval /*alpha*/) const { return std::nullopt; }

  /// The least mu for which the pair is mu-GDP, where it is known exactly.
  [[nodiscard]] virtual std::optional<Interval> closed_mu() const { return gaussian_mu(); }

  /// Encloses (Q(L > e), P(L > e)) at the point e: a test that some attacker can run. Used by the dual from above.
  struct Test {
    Interval false_positive;
    Interval true_positive;
  };
  [[nodiscard]] virtual std::optional<Test> test_at(Direction, double /*epsilon*/) const { return std::nullopt; }

  /// Losses at which a law that is not finite has atoms, as far as it knows: a lattice through them is a better one.
  [[nodiscard]] virtual std::vector<double> corners(Direction) const { return {}; }

  /// The law of L if it is finite; null otherwise.
  [[nodiscard]] virtual const Atoms* atoms(Direction) const { return nullptr; }
  /// The lattice that holds all finite losses, if there is one and it is known. [folded-contour]
  [[nodiscard]] virtual std::optional<LossLattice> lattice() const { return std::nullopt; }
  /// The transform of L if the contour engine can use it; null otherwise.
  [[nodiscard]] virtual const Transform* transform(Direction) const { return nullptr; }
  /// The break-point expansion of the transform of L, for the bent contour; nothing otherwise.
  [[nodiscard]] virtual std::optional<BreakPoints> break_points(Direction, ParameterEnd) const { return std::nullopt; }
  /// mu if the pair is exactly N(0,1) against N(mu,1).
  [[nodiscard]] virtual std::optional<Interval> gaussian_mu() const { return std::nullopt; }

  /// The corners (e, delta(e)), e >= 0, between which delta is linear in exp(e), if the pair was composed point by point.
  [[nodiscard]] virtual std::optional<std::vector<Guarantee>> guarantees(Direction) const { return std::nullopt; }

  /// What one reading of the profile costs, at most.
  [[nodiscard]] virtual Cost cost() const { return Cost::formula; }

  /// Records the theorems that the law of the pair rests on: for code that uses the law by its atoms, its transform, its break points, its
  /// Gaussian parameter or its mass at infinity. The profile, the tests and the closed forms record by themselves what they use.
  virtual void cite() const {}

  /// Losses with equal non-empty keys share an enclosure of their law and are merged before any numerics; see make_key.
  [[nodiscard]] virtual std::string key() const { return {}; }
};

using LossPointer = std::shared_ptr<const Loss>;

}  // namespace tradeoff
