// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "loss/break_points.h"
#include "tradeoff/curve.h"
#include "tradeoff/guarantee.h"
#include "tradeoff/interval.h"

// What an engine may use of a loss besides its profile. docs/adr/0012 gives the reasons.
namespace tradeoff::detail {

class ContourLoss;  // engine/contour: a composition whose contours a longer plan can reuse
class Evaluable;    // loss/evaluation.h: a description of how delta was enclosed
class Loss;
class Transform;    // loss/transform.h: the moment generating function of the loss
struct Atoms;       // loss/atoms.h: a finite law of the loss
struct GroupSides;  // operators/group.h: a group of records, with mixed changes and with one kind of change
struct RenyiBound;  // mechanism/renyi_bound.h: stated bounds on Renyi divergences
using LossPointer = std::shared_ptr<const Loss>;

/// Every finite loss is a multiple of the step or, with `odd_half_steps`, an odd multiple of half the step.
struct LossLattice {
  Interval step;
  bool odd_half_steps = false;
};

/// Encloses (Q(L > e), P(L > e)) at a point e: the error rates of a threshold test.
struct LikelihoodRatioTest {
  Interval false_positive;
  Interval true_positive;
};

/// The cost of one evaluation of a profile.
enum class Cost {
  formula,  ///< a formula or a short sum
  engine,   ///< an engine, which may take milliseconds
  search,   ///< a search over evaluations of another profile
};

/// Questions that a loss answers better than a search over its profile. Each may return nothing; then the generic search answers.
class ClosedForms {
 public:
  ClosedForms() = default;
  ClosedForms(const ClosedForms&) = delete;
  ClosedForms& operator=(const ClosedForms&) = delete;

  [[nodiscard]] virtual std::optional<Interval> closed_epsilon(Direction, Interval /*delta*/) const { return std::nullopt; }
  [[nodiscard]] virtual std::optional<Interval> closed_beta(Direction, Interval /*alpha*/) const { return std::nullopt; }
  /// The least mu for which the pair is mu-GDP, if it is known exactly. An exactly Gaussian pair need not implement this.
  [[nodiscard]] virtual std::optional<Interval> closed_mu() const { return std::nullopt; }
  /// A threshold test; it bounds the trade-off function from above.
  [[nodiscard]] virtual std::optional<LikelihoodRatioTest> test_at(Direction, double /*epsilon*/) const { return std::nullopt; }
  /// The corners (e, delta(e)), e >= 0, between which delta is linear in exp(e), if the composed distribution is finite.
  [[nodiscard]] virtual std::optional<std::vector<Guarantee>> guarantees(Direction) const { return std::nullopt; }
  /// An approximation of delta(epsilon) for searches; it proves nothing. For losses whose proved answer is slow.
  [[nodiscard]] virtual std::optional<double> rough_delta(Direction, double /*epsilon*/) const { return std::nullopt; }

 protected:
  ~ClosedForms() = default;
};

/// The shape of a symmetric bound that need not be the profile of a pair, for e >= 0; `refined` uses it. [naive-profile]
class BoundShape {
 public:
  BoundShape() = default;
  BoundShape(const BoundShape&) = delete;
  BoundShape& operator=(const BoundShape&) = delete;

  /// Minus the derivative of the logarithm of the bound, before the bound is cut at 1.
  [[nodiscard]] virtual Interval relative_drop(Interval epsilon) const = 0;
  /// The bound is 1 up to this epsilon.
  [[nodiscard]] virtual Interval start() const = 0;
  /// As a function of e^e, the uncut bound is concave before this epsilon and convex after it; 0 if it is convex everywhere.
  [[nodiscard]] virtual Interval convex_from() const = 0;

 protected:
  ~BoundShape() = default;
};

/// A bound that is the minimum of a symmetric pair's profile and of a bound with a known shape.
struct PairAndBound {
  LossPointer pair;
  LossPointer bound;
};

/// The finite losses have atoms at +largest and -largest and the density `density` * exp(l/2) between them: Laplace noise, whole or
/// truncated. `atom` is the mass at +largest. Masses and density are conditional on a finite loss. Both directions agree.
struct LaplaceShape {
  Interval largest;
  Interval atom;
  Interval density;
  Interval infinite;  ///< mass of infinite losses
};

/// The loss is another loss on a random sample of the records.
struct SampledFrom {
  const Loss* base = nullptr;
  Interval rate;
  SampledBy sampling = SampledBy::poisson;
};

/// What is known of a loss in one direction besides its profile. Every field is optional; an empty field means unknown. Pointers live as
/// long as the loss. A decorator that keeps the distribution passes all fields on (ForwardingLoss); one that changes it starts from an
/// empty object.
struct Capabilities {
  /// The distribution of L if it is finite.
  const Atoms* atoms = nullptr;
  /// The transform of L if the contour engine can use it.
  const Transform* transform = nullptr;
  /// The break-point expansion of the transform of L, for the hyperbolic contour.
  const BreakPoints* break_points = nullptr;
  const ClosedForms* closed_forms = nullptr;
  const Evaluable* evaluable = nullptr;
  const BoundShape* bound_shape = nullptr;
  const PairAndBound* pair_and_bound = nullptr;
  const RenyiBound* renyi_bound = nullptr;
  const GroupSides* group_sides = nullptr;
  const LaplaceShape* laplace_shape = nullptr;
  const ContourLoss* contours = nullptr;
  /// Losses at which a distribution that is not finite has atoms; a lattice that contains them gives tighter bounds.
  std::span<const double> corners{};
  /// The symmetric pairs whose pointwise minimum the profile is; or one pair, not necessarily symmetric, that bounds it from above.
  std::span<const Loss* const> minimum_of{};
  /// mu if the pair is exactly N(0,1) against N(mu,1).
  std::optional<Interval> gaussian_mu{};
  /// epsilon0 if the pair is exactly that of Laplace noise with largest loss epsilon0.
  std::optional<Interval> laplace_epsilon{};
  /// The lattice that contains all finite losses. [folded-contour]
  std::optional<LossLattice> lattice{};
  std::optional<SampledFrom> sampled{};
  /// The largest finite loss, for a distribution that also has infinite losses and is not a list of atoms.
  std::optional<Interval> largest_finite_loss{};
  /// The largest epsilon of a list of stated guarantees.
  std::optional<Interval> last_guarantee{};
  /// The largest cost of one evaluation of the profile.
  Cost cost = Cost::formula;
  /// True if the profile belongs to a pair of distributions. False for an upper bound, which must be refined before it is composed or
  /// sampled.
  bool is_pair = true;
  /// No loss has positive probability, so P(L > l) and P(L < l) are complements.
  bool atomless = false;
  /// The loss already keeps its evaluations for the current question within a budget.
  bool keeps_readings = false;
};

}  // namespace tradeoff::detail
