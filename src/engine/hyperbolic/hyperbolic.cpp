// SPDX-License-Identifier: Apache-2.0
#include "engine/hyperbolic/hyperbolic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "engine/hyperbolic/evaluate.h"
#include "loss/evaluation.h"
#include "loss/mirrored_delta.h"
#include "loss/negligible.h"
#include "loss/question_scope.h"
#include "numeric/arithmetic.h"

namespace tradeoff::detail {
namespace {

using hyperbolic::Evaluator;
using hyperbolic::Expansion;
using hyperbolic::Integrand;
using hyperbolic::LogDelta;
using hyperbolic::Rough;
using hyperbolic::Side;

class BentLoss final : public Loss, public ClosedForms, public Evaluable {
 public:
  using Sides = std::array<std::array<std::shared_ptr<const Side>, 2>, 2>;  // [direction][end]
  BentLoss(Sides sides, Citations laws, bool symmetric, Tolerance tolerance)
      : sides_(std::move(sides)), symmetric_(symmetric), tolerance_(tolerance), laws_(std::move(laws)), inversion_(inversion()) {}

  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    if (epsilon.lo < 0) return log(delta(direction, epsilon));
    cite();
    record(inversion_);
    const QuestionScope question;
    Evaluator& worse = evaluator(direction, ParameterEnd::worse);
    Evaluator& better = evaluator(direction, ParameterEnd::better);
    const Interval above = at(worse, epsilon.lo);
    return &worse == &better && epsilon.lo == epsilon.hi ? above : Interval{at(better, epsilon.hi).lo, above.hi};
  }

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    const auto from_zero = [&](Interval e) {
      if (const auto bound = negligible_bound(direction, e.lo)) return Interval{0, *bound};
      return clamp(exp(log_delta(direction, e)), 0, 1);
    };
    if (epsilon.lo >= 0) return from_zero(epsilon);
    if (epsilon.hi < 0) return mirrored(direction, epsilon);
    return {from_zero(Interval::exactly(epsilon.hi)).lo, mirrored(direction, Interval::exactly(epsilon.lo)).hi};
  }

  [[nodiscard]] bool symmetric() const override { return symmetric_; }

  [[nodiscard]] Interval infinite_mass(Direction direction) const override {
    return hull(side(direction, ParameterEnd::worse).expansion.infinite_mass,
                side(direction, ParameterEnd::better).expansion.infinite_mass);
  }

  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override;
  [[nodiscard]] std::optional<double> rough_delta(Direction direction, double epsilon) const override {
    if (!std::isfinite(epsilon)) return std::nullopt;
    const QuestionScope question;
    const bool below = epsilon < 0;
    const double log_delta = evaluator(below ? opposite(direction) : direction, ParameterEnd::worse).rough(std::abs(epsilon)).log_delta;
    const double found = std::min(1.0, std::exp(log_delta) + middle_of(infinite_mass(below ? opposite(direction) : direction)));
    return below ? rough_mirrored_delta(epsilon, found) : found;
  }

  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.closed_forms = this, .evaluable = this, .cost = Cost::engine};
  }
  void cite() const override { record(laws_); }
  void evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const override;

 private:
  [[nodiscard]] Citations inversion() const {
    const Expansion& expansion = side(Direction::remove, ParameterEnd::worse).expansion;
    Citations used{{"break-point-expansion",
                    std::to_string(expansion.summands.size()) + " summands, " + std::to_string(expansion.subsampled.size()) +
                        " kinds of subsampled Gaussian step",
                    Method::contour}};
    if (std::any_of(expansion.subsampled.begin(), expansion.subsampled.end(),
                    [](const auto& kind) { return kind.sampling == SampledBy::fixed; }))
      used.emplace_back("sampled-plane",
                        "samples of fixed size: positive losses, negative losses and the mass of loss 0, each with its error",
                        Method::contour);
    if (!expansion.subsampled.empty())
      used.emplace_back("log-convex-majorant", "bounds the transform on the boundary of each contour's strip", Method::contour);
    used.emplace_back("bent-contour", "each side of epsilon on its own hyperbola; discretisation, truncation and rounding bounded",
                      Method::contour);
    return used;
  }
  [[nodiscard]] const Side& side(Direction direction, ParameterEnd end) const {
    return *sides_[direction == Direction::add ? 1 : 0][end == ParameterEnd::better ? 1 : 0];
  }
  /// An upper bound of delta if that is negligible.
  [[nodiscard]] std::optional<double> negligible_bound(Direction direction, double epsilon) const {
    constexpr double margin = 3;  // the saddle-point approximation is better than this
    if (!(epsilon < infinity) || !(Negligible::delta() > Negligible::least)) return std::nullopt;
    const QuestionScope question;
    Evaluator& worse = evaluator(direction, ParameterEnd::worse);
    if (!(worse.rough(epsilon).log_delta < std::log(Negligible::delta()) - margin)) return std::nullopt;
    const double bound = exp(Interval::exactly(worse.log_chernoff(epsilon))).hi;
    if (!(bound <= Negligible::delta())) return std::nullopt;
    cite();
    record(inversion_);
    return (Interval::exactly(bound) + worse.side().expansion.infinite_mass).hi;
  }
  /// Keeps the contours of the current question.
  [[nodiscard]] Evaluator& evaluator(Direction direction, ParameterEnd end) const {
    const Side& one = side(direction, end);
    return QuestionScope::state_of<Kept>(number_).evaluators.try_emplace(&one, one, tolerance_).first->second;
  }
  [[nodiscard]] static Interval at(Evaluator& one, double epsilon) {
    return epsilon == infinity ? log(one.side().expansion.infinite_mass) : one.at(epsilon).bounds;
  }
  [[nodiscard]] Interval mirrored(Direction direction, Interval epsilon) const {
    if (epsilon.hi == -infinity) return Interval::exactly(1);
    return mirrored_delta(epsilon, delta(opposite(direction), -epsilon));
  }

  struct Kept {
    std::map<const Side*, Evaluator> evaluators;
  };

  Sides sides_;
  bool symmetric_;
  Tolerance tolerance_;
  Citations laws_;
  Citations inversion_;
  std::uint64_t number_ = QuestionScope::new_owner();  // identifies the state of a question
};

// [bent-contour] Parameters that are intervals have two ends: the upper bound comes from the worse one, the lower bound from the better
// one.
void BentLoss::evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const {
  if (epsilon < 0)  // [two-directions]
    return evaluate(opposite(direction), -epsilon, found);
  cite();
  record(inversion_);
  Evaluation whole{"bent-contour", direction, epsilon, Interval::whole()};
  std::uint64_t nodes = 0;
  hyperbolic::Doubt largest;
  for (const ParameterEnd end : {ParameterEnd::worse, ParameterEnd::better}) {
    const Side& one = side(direction, end);
    Evaluator evaluator(one, tolerance_);
    const LogDelta value = evaluator.at(epsilon);
    const Interval infinite = one.expansion.infinite_mass;
    const Interval log_delta = infinite.hi > 0 ? log_add_exp(value.finite, log(infinite)) : value.finite;
    const double share = std::exp(value.finite.lo - log_delta.lo) * (1 + 1e-12);
    largest.contours = std::max(largest.contours, value.doubt.contours * share);
    largest.rounding = std::max(largest.rounding, value.doubt.rounding * share);
    largest.ties = std::max(largest.ties, value.doubt.ties * share);
    nodes += value.doubt.nodes;
    if (end == ParameterEnd::worse) whole.log_delta = log_delta;
    if (end == ParameterEnd::better) whole.log_delta.lo = std::min(whole.log_delta.lo, log_delta.lo);
    if (&side(direction, ParameterEnd::better) == &one) break;
  }
  whole.counts = {{"nodes", nodes}, {"summands", side(direction, ParameterEnd::worse).expansion.summands.size()}};
  whole.errors = {{"contours", largest.contours}, {"rounding", largest.rounding}, {"ties", largest.ties}};
  found.push_back(balanced(std::move(whole), "rest"));
}

/// [bent-contour] Proved answers at trial epsilons narrow the enclosure of epsilon.
class EpsilonSearch {
 public:
  EpsilonSearch(Evaluator& worse, Evaluator& better, Interval log_delta, Tolerance tolerance)
      : worse_(worse), better_(better), target_(log_delta), tolerance_(tolerance) {}

  [[nodiscard]] Interval run() {
    double epsilon = start();
    double margin = 0;
    for (int k = 0; k < 12 && failures_ < most_failures; ++k) {  // Newton on log delta, within the proved bracket
      const LogDelta value = probe(worse_, epsilon);
      const double centre = value.bounds.lo > -infinity ? (value.bounds.lo + value.bounds.hi) / 2 : value.bounds.hi;
      const double steepness = value.slope < 0 ? -value.slope : 1;
      const double move = (centre - target_.lo) / steepness;
      margin = (value.bounds.width() + finer * tolerance_.relative) / steepness + 4 * 0x1p-52 * epsilon;
      const double next = epsilon + move;
      if (!(std::abs(move) > 0.25 * margin)) break;
      if (next <= 0 && !above_zero_) {
        if (probe(worse_, 0).bounds.hi <= target_.lo) return Interval::exactly(0);
        above_zero_ = true;
        epsilon /= 8;
      } else {
        epsilon = next > found_.lo && next < found_.hi ? next : bisect(epsilon);
      }
    }
    widen(epsilon, margin);
    return found_;
  }

 private:
  // A proved end lies this share of the tolerance beyond the width of delta.
  static constexpr double finer = 2e-4;
  // Each failure costs as much as a whole successful search; other engines may do better.
  static constexpr int most_failures = 2;

  /// Every evaluation may move an end: the upper bound uses the worse side, the lower bound the better one.
  LogDelta probe(Evaluator& side, double epsilon) {
    // Near epsilon the relative change of delta is several times that of epsilon, so delta need not be as accurate.
    const LogDelta value = side.at(epsilon, 10 * tolerance_.relative);
    if (!(value.bounds.width() <= 10 * tolerance_.relative)) ++failures_;
    if (&side == &worse_ && value.bounds.hi <= target_.lo) found_.hi = std::min(found_.hi, epsilon);
    if (&side == &better_ && value.bounds.lo > target_.hi) found_.lo = std::max(found_.lo, epsilon);
    return value;
  }

  /// From the Chernoff epsilon downwards, by saddle points.
  [[nodiscard]] double start() const {
    double epsilon = chernoff_epsilon();
    for (int k = 0; k < 8; ++k) {
      const Rough rough = worse_.rough(epsilon);
      const double move = (rough.log_delta - target_.lo) / -rough.slope;
      if (!(std::abs(move) < infinity)) break;
      const double next = std::max(epsilon + move, epsilon / 4);
      const bool close = std::abs(next - epsilon) < 0.02 * epsilon;
      epsilon = next;
      if (close) break;
    }
    return std::max(epsilon, 1e-9);
  }

  /// An approximation of the minimum over s of (log M(s) + log kappa(s) - log delta) / s.
  [[nodiscard]] double chernoff_epsilon() const {
    const Side& side = worse_.side();
    std::vector<Integrand::Offset> all;
    for (std::size_t j = 0; j < side.expansion.summands.size(); ++j) all.push_back({j, side.expansion.summands[j].position.high, 0});
    const Integrand integrand(side.expansion, side.factors(), std::move(all));
    double best = infinity;
    for (double s = 1e-3; s < side.most_saddle(); s *= 1.3) {
      const double log_transform = integrand.log_real(s) + std::log(s) - s * std::log1p(1 / s);
      const double bound = (log_transform - target_.lo) / s;
      if (bound < best) best = bound;
    }
    return std::max(best, 1e-9);
  }

  [[nodiscard]] double bisect(double epsilon) const {
    return found_.hi < infinity ? (found_.lo + found_.hi) / 2 : std::max(2 * epsilon, 1e-6);
  }

  void widen(double epsilon, double margin) {
    const auto may_ask = [this](int k) { return k < 4 && failures_ < most_failures; };
    double more = margin;
    for (int k = 0; may_ask(k) && !(found_.hi <= epsilon + more); ++k, more *= 16) probe(worse_, epsilon + more);
    more = margin;
    for (int k = 0; may_ask(k) && !(found_.lo >= epsilon - more) && epsilon > more; ++k, more *= 16) probe(better_, epsilon - more);
  }

  Evaluator& worse_;
  Evaluator& better_;
  Interval target_;
  Tolerance tolerance_;
  Interval found_{0, infinity};
  bool above_zero_ = false;  // epsilon = 0 was tried and does not meet delta
  int failures_ = 0;
};

std::optional<Interval> BentLoss::closed_epsilon(Direction direction, Interval delta) const {
  if (!(delta.lo > 0)) return std::nullopt;
  const Interval infinite = infinite_mass(direction);
  cite();
  if (delta.hi < infinite.lo) return Interval::exactly(infinity);
  if (!(delta.lo > infinite.hi)) return std::nullopt;
  record(inversion_);
  const QuestionScope question;
  return EpsilonSearch(evaluator(direction, ParameterEnd::worse), evaluator(direction, ParameterEnd::better), log(delta), tolerance_).run();
}

/// Both ends of the parameters; the same object if they are equal.
bool expand_side(const Parts& parts, Direction direction, std::array<std::shared_ptr<const Side>, 2>& sides) {
  auto worse = hyperbolic::expand(parts, direction, ParameterEnd::worse);
  if (!worse) return false;
  sides[0] = sides[1] = std::make_shared<const Side>(std::move(*worse));
  const bool same = std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
    return hyperbolic::break_points_of(*part.loss, direction, ParameterEnd::worse) ==
           hyperbolic::break_points_of(*part.loss, direction, ParameterEnd::better);
  });
  if (same) return true;
  auto better = hyperbolic::expand(parts, direction, ParameterEnd::better);
  if (!better) return false;
  sides[1] = std::make_shared<const Side>(std::move(*better));
  return true;
}

}  // namespace

LossPointer compose_by_hyperbolic_contour(const Parts& parts, Tolerance tolerance) {
  BentLoss::Sides sides;
  if (parts.empty() || !expand_side(parts, Direction::remove, sides[0]) || !expand_side(parts, Direction::add, sides[1])) return nullptr;
  const bool symmetric = are_symmetric(parts);
  return std::make_shared<const BentLoss>(std::move(sides), citations_of_laws(parts), symmetric, tolerance);
}

}  // namespace tradeoff::detail
