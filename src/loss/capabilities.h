// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loss/arc.h"
#include "loss/break_points.h"
#include "loss/recording.h"
#include "loss/whole_gaussian.h"
#include "tradeoff/curve.h"
#include "tradeoff/guarantee.h"
#include "tradeoff/interval.h"

// What an engine may use of a loss besides its profile. docs/adr/0012 gives the reasons.
namespace tradeoff::detail {

struct Bracket;     // operators/bracketed.h: a mechanism that lies between known pairs
class ContourLoss;  // engine/contour: a composition whose contours a longer plan can reuse
class Evaluable;    // loss/evaluation.h: a description of how delta was enclosed
class Loss;
class Transform;     // loss/transform.h: the moment generating function of the loss
class Truncation;    // loss/truncation.h: a pair that has a transform only on events of nearly full probability
struct Atoms;        // loss/atoms.h: a finite law of the loss
struct GroupSides;   // operators/group.h: a group of records, with mixed changes and with one kind of change
struct MatrixNoise;  // mechanism/matrix.h: noise correlated over the steps of a run
struct MixturePair;  // transform/mixture_pair.h: a mixture of shifted Gaussians against another
struct RenyiBound;   // mechanism/renyi_bound.h: stated bounds on Renyi divergences
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

/// A straight line, by its values at the two ends of an interval of epsilon.
struct LogLine {
  double at_start = 0;
  double at_end = 0;
};
/// What it bounds: log delta from above, or log(1 - delta) from below.
enum class LineOf { delta, complement };

/// A lower bound of mu, and the epsilon at which a profile needs it.
struct NeededMu {
  double mu = 0;
  double at_epsilon = 0;
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
  /// A mu for which older theorems prove the pair mu-GDP, for measurements that are wide.
  [[nodiscard]] virtual std::optional<Interval> mu_above() const { return std::nullopt; }
  /// A mu that the whole needs, because one of its parts does at this epsilon.
  [[nodiscard]] virtual std::optional<NeededMu> mu_below() const { return std::nullopt; }
  /// A threshold test; it bounds the trade-off function from above.
  [[nodiscard]] virtual std::optional<LikelihoodRatioTest> test_at(Direction, double /*epsilon*/) const { return std::nullopt; }
  /// The corners (e, delta(e)), e >= 0, between which delta is linear in exp(e), if the composed distribution is finite.
  [[nodiscard]] virtual std::optional<std::vector<Guarantee>> guarantees(Direction) const { return std::nullopt; }
  /// Encloses log(1 - delta(epsilon)), epsilon >= 0, where delta is close to 1 and subtraction would lose all digits.
  [[nodiscard]] virtual std::optional<Interval> log_complement(Direction, double /*epsilon*/) const { return std::nullopt; }
  /// A straight line on the safe side of a logarithm, for 0 <= start <= epsilon <= end. [contour-log-line]
  [[nodiscard]] virtual std::optional<LogLine> log_line(LineOf, Direction, double /*start*/, double /*end*/) const { return std::nullopt; }
  /// A straight line above log delta on [start, end], 0 <= start <= end, from divergences: quick even where a value is slow.
  /// [divergence-line]
  [[nodiscard]] virtual std::optional<LogLine> divergence_line(Direction, double /*start*/, double /*end*/) const { return std::nullopt; }
  /// A polynomial that follows the profile from `start` >= 0 on, to `end` or less far. [contour-arc]
  [[nodiscard]] virtual std::optional<Arc> arc(Direction, double /*start*/, double /*end*/) const { return std::nullopt; }
  /// An approximation of delta(epsilon) for searches; it proves nothing. For losses whose proved answer is slow.
  [[nodiscard]] virtual std::optional<double> rough_delta(Direction, double /*epsilon*/) const { return std::nullopt; }

 protected:
  ~ClosedForms() = default;
};

/// The profile at many points together, for losses whose evaluations share most of their work.
class BatchProfile {
 public:
  BatchProfile() = default;
  BatchProfile(const BatchProfile&) = delete;
  BatchProfile& operator=(const BatchProfile&) = delete;

  /// The widths to aim at: an enclosure that has either of them is narrow enough.
  struct Width {
    double relative = 0;
    double absolute = 0;
  };
  /// Encloses delta at every point, as Loss::delta does. `out` has the size of `epsilon`.
  virtual void deltas(Direction direction, std::span<const double> epsilon, Width width, std::span<Interval> out) const = 0;

 protected:
  ~BatchProfile() = default;
};

/// For a loss that is answered by its own profile if it stands alone: the loss that is composed instead of it, a finite pair or one that is
/// faster. It encloses the pair, or, if the loss is above (below) a mechanism that is known only by such bounds, it lies above (below) it
/// too. [lattice-pair]
class ComposedForm {
 public:
  ComposedForm() = default;
  ComposedForm(const ComposedForm&) = delete;
  ComposedForm& operator=(const ComposedForm&) = delete;
  [[nodiscard]] virtual LossPointer composed_form() const = 0;

 protected:
  ~ComposedForm() = default;
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

/// A mechanism with several pairs, of which each use may have another one, chosen after all earlier outcomes are known: so many uses are
/// one pair. [adaptive-block]
class AdaptiveUses {
 public:
  AdaptiveUses() = default;
  AdaptiveUses(const AdaptiveUses&) = delete;
  AdaptiveUses& operator=(const AdaptiveUses&) = delete;
  virtual ~AdaptiveUses() = default;

  /// Uses of equal name have the same pairs to choose from, and form one block.
  [[nodiscard]] virtual std::string name() const = 0;
  /// The worst case over all ways to choose, of so many uses. Null if it is not known.
  [[nodiscard]] virtual LossPointer together(std::uint64_t uses) const = 0;
  /// Uses of one of several mechanisms.
  struct Share {
    const AdaptiveUses* of;
    std::uint64_t uses;
  };
  /// Whether a block of both may be known.
  [[nodiscard]] virtual bool joins(const AdaptiveUses& /*other*/) const { return false; }
  /// The worst case of uses of mechanisms that join this one, in every order, which may depend on the outcomes. Null if it is not known.
  [[nodiscard]] virtual LossPointer jointly(const std::vector<Share>& /*all*/) const { return nullptr; }
  /// About how much a block is better than the product of the pairs that dominate each use. It decides which block is formed.
  [[nodiscard]] virtual double gain(std::uint64_t uses) const = 0;
  /// One use for a group of records that change together, if that is known to be such a mechanism too; otherwise null.
  [[nodiscard]] virtual LossPointer of_group(std::uint64_t /*size*/) const { return nullptr; }
};

/// Noise on the integers that one record moves by a whole number: a group moves it by a multiple. [group-privacy]
class MovedNoise {
 public:
  MovedNoise() = default;
  MovedNoise(const MovedNoise&) = delete;
  MovedNoise& operator=(const MovedNoise&) = delete;

  /// The pair for so many records, with further theorems to name. Null if they move it too far.
  [[nodiscard]] virtual LossPointer moved(std::uint64_t times, Citations origin) const = 0;

 protected:
  ~MovedNoise() = default;
};

/// For a bound that is known point by point and is not the profile of one pair: the pair that takes its place in compositions and under
/// operators. A bound from above stands for a pair above it, a bound from below for a pair below it. [best-of-runs]
class StandIn {
 public:
  StandIn() = default;
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

  [[nodiscard]] virtual LossPointer pair() const = 0;

 protected:
  ~StandIn() = default;
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

/// One Gaussian N(0,1) against N(mu,1), or nothing; it is seen which.
struct DrawnGaussian {
  Interval chance;  ///< of the Gaussian
  Interval mu;
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
  /// For profiles of which many points cost little more than one.
  const BatchProfile* batch = nullptr;
  const Truncation* truncation = nullptr;
  const ComposedForm* composed_form = nullptr;
  const BoundShape* bound_shape = nullptr;
  const PairAndBound* pair_and_bound = nullptr;
  const StandIn* stand_in = nullptr;
  const RenyiBound* renyi_bound = nullptr;
  const MatrixNoise* matrix = nullptr;
  const GroupSides* group_sides = nullptr;
  const Bracket* bracket = nullptr;
  const LaplaceShape* laplace_shape = nullptr;
  const ContourLoss* contours = nullptr;
  const AdaptiveUses* adaptive = nullptr;
  const MovedNoise* moved = nullptr;
  /// Losses at which a distribution that is not finite has atoms; a lattice that contains them gives tighter bounds.
  std::span<const double> corners{};
  /// The symmetric pairs whose pointwise minimum the profile is; or one pair, not necessarily symmetric, that bounds it from above.
  std::span<const Loss* const> minimum_of{};
  /// mu if the pair is exactly N(0,1) against N(mu,1).
  std::optional<Interval> gaussian_mu{};
  /// The loss is the sum of an independent Gaussian loss with this mu > 0 and of another loss. [gaussian-part]
  std::optional<Interval> gaussian_part{};
  /// For a Gaussian pair: the norm of one record's contribution is bounded, by the whole shift under add-remove and zero-out neighbours and
  /// by half of it under replace-one neighbours. [clip-norm]
  bool clipped = false;
  /// For a Gaussian pair: it is that of Gaussian noise on a query, not only a guarantee with the curve of one. [sampled-group]
  bool gaussian_noise = false;
  /// The pair if it is one of Gaussian mixtures of noise, so that a group of records has such a pair too. [sampled-group]
  const MixturePair* mixture = nullptr;
  /// The pair if it is one of discrete Gaussian noise. [whole-gaussian-mu]
  std::optional<WholeGaussian> whole_gaussian{};
  /// epsilon0 if the pair is exactly that of Laplace noise with largest loss epsilon0.
  std::optional<Interval> laplace_epsilon{};
  /// rho if the pair is the symmetric one that rho-zCDP implies. [zcdp-transform]
  std::optional<Interval> zcdp_rho{};
  /// The lattice that contains all finite losses. [folded-contour]
  std::optional<LossLattice> lattice{};
  std::optional<SampledFrom> sampled{};
  /// Repeated, it is as many Gaussians as were drawn. [drawn-gaussians]
  std::optional<DrawnGaussian> drawn{};
  /// The largest finite loss, for a distribution that also has infinite losses and is not a list of atoms.
  std::optional<Interval> largest_finite_loss{};
  /// The largest epsilon of a list of stated guarantees.
  std::optional<Interval> last_guarantee{};
  /// About the relative width of the profile's own enclosures where delta is small: a composition need not be narrower.
  double own_width = 0;
  /// The largest cost of one evaluation of the profile.
  Cost cost = Cost::formula;
  /// True if the profile belongs to a pair of distributions. False for an upper bound, which must be refined before it is composed or
  /// sampled.
  bool is_pair = true;
  /// No loss has positive probability, so P(L > l) and P(L < l) are complements.
  bool atomless = false;
  /// A random order that all passes of a run share: a repetition would share it too, and nothing is proved for that. [shuffled-batches]
  bool shares_order = false;
  /// The loss already keeps its evaluations for the current question within a budget.
  bool keeps_readings = false;
};

}  // namespace tradeoff::detail
