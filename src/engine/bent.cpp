// SPDX-License-Identifier: Apache-2.0
#include "engine/bent.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <mutex>
#include <numbers>

#include "engine/bent_contour.h"
#include "engine/bent_expansion.h"
#include "engine/bent_integrand.h"
#include "numeric/arithmetic.h"

namespace tradeoff {
namespace {

using bent::Estimate;
using bent::Expansion;
using bent::Extended;
using bent::Integrand;
using bent::Opening;
using bent::RealNoise;
using bent::Saddle;
using bent::TailSteps;

// About 0.15 s of exponentials: past that the answer is a Chernoff bound.
constexpr std::uint64_t most_work = 20'000'000;
// Saddle points are looked for up to here; near the largest loss of a bounded one they grow without limit.
constexpr double most_saddle_unbounded = 1e6;
constexpr double most_saddle_bounded = 1e18;

// [bent-split] Where F at its saddle exceeds delta by more logarithms than this, one contour cannot reach 1e-6 of it, and the split with
// its three is tried first. Rates above `small_rate` rarely need it, so there it is tried only after a failure.
constexpr double most_gap = 11.5;
constexpr double small_rate = 0.05;
constexpr double most_split_times = 1000;
// [bent-split] The tail of the noise begins this many deviations above its mean: e^-8 of the steps are in it. From this many steps on,
// turning the bulk too costs more than the cut.
constexpr double cut_place = 4;
constexpr double many_steps = 60;

/// One direction at one end of the parameters: everything that does not depend on epsilon.
struct Side {
  Expansion expansion;

  explicit Side(Expansion expanded) : expansion(std::move(expanded)) {}
  [[nodiscard]] const std::vector<RealNoise>& real_noise() const {
    std::call_once(noise_made_, [this] {  // most plans of many steps never ask
      for (const auto& steps : expansion.subsampled) real_noise_.emplace_back(steps.mu, steps.rate, steps.remove);
    });
    return real_noise_;
  }
  [[nodiscard]] std::vector<bent::StepFactor> factors() const {
    std::vector<bent::StepFactor> result;
    for (std::size_t i = 0; i < real_noise().size(); ++i) result.emplace_back(expansion.subsampled[i], real_noise()[i]);
    return result;
  }
  [[nodiscard]] double most_saddle() const { return expansion.unbounded_above() ? most_saddle_unbounded : most_saddle_bounded; }

 private:
  mutable std::once_flag noise_made_;
  mutable std::vector<RealNoise> real_noise_;
};

/// log delta, and an uncertified derivative of it for the search of an epsilon.
struct LogDelta {
  Interval bounds;
  double slope = 0;
};

struct Offsets {
  std::vector<Integrand::Offset> left;
  std::vector<Integrand::Offset> right;
  double log_ties = -infinity;  // bounds the part of summands whose break may be either side of epsilon
};

/// |constant| + |residue|: the total variation of the measure whose transform a term is.
double log_variation(const Expansion& expansion, const bent::Summand& summand) {
  double log = summand.log_coefficient + summand.log_coefficient_error;
  for (std::size_t a = 0; a < expansion.terms.size(); ++a) {
    const auto size = [](Interval x) { return std::max(std::abs(x.lo), std::abs(x.hi)); };
    log += summand.powers[a] * (std::log(size(expansion.terms[a].constant) + size(expansion.terms[a].residue)) + 1e-12);
  }
  return log;
}

// [break-point-expansion] Breaks above epsilon bend to the left. The others bend to the right; if every loss is bounded they close there
// and are exactly 0, and a break within its own rounding of epsilon counts for at most its distance times its variation.
Offsets sort_summands(const Expansion& expansion, double epsilon) {
  Offsets offsets;
  const bool unbounded = expansion.unbounded_above();
  for (std::size_t j = 0; j < expansion.summands.size(); ++j) {
    const bent::Summand& summand = expansion.summands[j];
    double error = summand.position_error;
    const Extended distance = bent::add(summand.position, {-epsilon, 0}, error);
    const double y = distance.value();
    const Integrand::Offset offset{j, y, error + std::abs(y) * 0x1p-53};
    if (unbounded) {
      (y > 0 ? offsets.left : offsets.right).push_back(offset);
    } else if (y > error) {
      offsets.left.push_back(offset);
    } else if (y >= -error && error > 0) {
      const double log = log_variation(expansion, summand) + std::log(2 * error) + 1e-9;
      offsets.log_ties = std::max(offsets.log_ties, log) + std::log(2.0);
    }
  }
  return offsets;
}

/// log of the supremum of (1 - e^-x) e^-sx over x > 0.
double log_kappa(double s) {
  const double log = -std::log1p(s) - s * std::log1p(1 / s);
  return log + 1e-12 * (1 + std::abs(log));
}

/// [bent-contour] The whole transform on the positive axis bounds delta: the answer where no contour certifies.
double log_chernoff(const Side& side, double epsilon) {
  std::vector<Integrand::Offset> all;
  for (std::size_t j = 0; j < side.expansion.summands.size(); ++j) {
    double error = side.expansion.summands[j].position_error;
    const double y = bent::add(side.expansion.summands[j].position, {-epsilon, 0}, error).value();
    all.push_back({j, y, error + std::abs(y) * 0x1p-53});
  }
  Integrand integrand(side.expansion, side.factors(), std::move(all));
  const double s = bent::find_saddle(integrand, side.most_saddle()).place;
  integrand.prepare(s, s, 4);
  const double bound = integrand.log_ray_bound(s) + log_kappa(s);
  return bound <= 0 ? bound : 0;
}

struct Total {
  Interval log_value = Interval::whole();
  double log_slope = 0;
  bool tight = false;
};

/// The sum of estimates, each known to its own scale.
Total add_up(const std::vector<Estimate>& estimates, double log_ties, double tolerance) {
  double scale = log_ties;
  for (const Estimate& estimate : estimates) {
    if (std::isnan(estimate.log_scale) || std::isnan(estimate.value) || std::isnan(estimate.error)) return {};  // nothing is known
    scale = std::max(scale, estimate.log_scale);
  }
  if (scale == -infinity) return {{-infinity, -infinity}, 0, true};
  double below = 0;
  double above = std::exp(log_ties - scale);
  double slope = 0;
  for (const Estimate& estimate : estimates) {
    const double weight = std::exp(estimate.log_scale - scale);
    if (weight == 0 && estimate.error < infinity) {  // far below the rest: its bound is all that counts
      above += 0x1p-1000;
      below -= 0x1p-1000;
      continue;
    }
    below += weight * (estimate.value - estimate.error) - 8 * 0x1p-53 * weight * std::abs(estimate.value);
    above += weight * (estimate.value + estimate.error) + 8 * 0x1p-53 * weight * std::abs(estimate.value);
    slope += weight * estimate.slope;
  }
  const Interval scaled{below > 0 ? below : 0, above > 0 ? above : 0};
  const Interval log_value = Interval::exactly(scale) + log(scaled);
  return {{log_value.lo, above < infinity ? log_value.hi : infinity}, slope / std::max(above, 1e-300), above - below <= tolerance * below};
}

/// log delta and its slope by saddle points alone: the Gaussian that touches F there. Nothing is certain; a search starts from it.
struct Rough {
  double log_delta = -infinity;
  double slope = 0;

  void add(const Integrand& integrand, Saddle saddle) {
    const double away = 0.05 * saddle.place;
    const double bend =
        (integrand.log_real(saddle.place + away) + integrand.log_real(saddle.place - away) - 2 * saddle.log_value) / (away * away);
    const double log_value = saddle.log_value - 0.5 * std::log(2 * std::numbers::pi * std::max(bend, 1e-300));
    if (std::abs(log_value) < infinity) add({log_value, -saddle.place});
  }
  void add(Rough other) {
    const double before = log_delta;
    const double greater = std::max(before, other.log_delta);
    if (greater == -infinity) return;
    log_delta = greater + std::log1p(std::exp(std::min(before, other.log_delta) - greater));
    slope = slope * std::exp(before - log_delta) + other.slope * std::exp(other.log_delta - log_delta);
  }
};

/// [bent-split] Where one saddle point lies e^9 or more above the sum of those of the parts, its digits are lost: split the first kind.
struct SplitChoice {
  std::shared_ptr<const bent::Cut> cut;
  double log_value = infinity;  // the largest saddle value of the parts
};

constexpr std::array<TailSteps, 3> all_tail_steps{TailSteps::none, TailSteps::one, TailSteps::more};

std::vector<bent::StepFactor> split_factors(const Side& side, const std::shared_ptr<const bent::Cut>& cut, TailSteps count) {
  std::vector<bent::StepFactor> factors;
  factors.emplace_back(side.expansion.subsampled.front(), cut, count);
  for (std::size_t i = 1; i < side.real_noise().size(); ++i) factors.emplace_back(side.expansion.subsampled[i], side.real_noise()[i]);
  return factors;
}

bool may_split(const Side& side, const std::vector<Integrand::Offset>& offsets) {
  return !offsets.empty() && !side.expansion.subsampled.empty() && side.expansion.subsampled.front().remove &&
         side.expansion.subsampled.front().times <= most_split_times;
}

/// The best of a dozen windows below the noise at which one step alone reaches epsilon.
SplitChoice choose_split(const Side& side, const std::vector<Integrand::Offset>& offsets) {
  const bent::SubsampledSteps& steps = side.expansion.subsampled.front();
  double nearest = infinity;
  for (const Integrand::Offset& offset : offsets) nearest = std::min(nearest, std::abs(offset.y));
  nearest += std::log1p(-steps.rate) * (steps.times - 1);  // the other steps at their least loss
  const double mean = std::log(steps.rate) - std::log1p(-steps.rate) - steps.mu * steps.mu / 2;
  const double top = nearest > 30 ? nearest : std::log(std::expm1(std::max(nearest, 1e-12)));
  SplitChoice best;
  for (const double width : {0.25 * steps.mu, 0.5 * steps.mu}) {
    for (const double place : {0.45, 0.65, 0.8, 0.88, 0.94, 0.98}) {
      if (!(top > mean)) continue;
      const auto cut = std::make_shared<const bent::Cut>(steps, mean + place * (top - mean), width);
      double largest = -infinity;
      for (const TailSteps count : all_tail_steps) {
        if (count == TailSteps::more && steps.times < 2) continue;
        const Integrand integrand(side.expansion, split_factors(side, cut, count), offsets);
        largest = std::max(largest, bent::find_saddle(integrand, side.most_saddle(), 0.2).log_value);
        if (largest >= best.log_value) break;
      }
      if (largest < best.log_value) best = {cut, largest};
    }
  }
  return best;
}

/// What the three parts amount to.
Rough rough_split(const Side& side, const SplitChoice& split, const std::vector<Integrand::Offset>& offsets) {
  Rough rough;
  for (const TailSteps count : all_tail_steps) {
    const Integrand part(side.expansion, split_factors(side, split.cut, count), offsets);
    rough.add(part, bent::find_saddle(part, side.most_saddle()));
  }
  return rough;
}

/// A part of delta: an integrand on a contour of its own, or one so small that its Chernoff bound is enough.
struct Piece {
  Integrand integrand;
  Opening opening;
  bent::Contour contour = {};
  double chernoff_place = 0;  // not 0: only bounded, by the transform at this point
};

/// Pieces and what was found of them.
struct Drawing {
  std::vector<Piece> pieces;
  std::vector<Estimate> estimates;

  void add(Piece piece, const Estimate& estimate) {
    pieces.push_back(std::move(piece));
    estimates.push_back(estimate);
  }
};

/// log of what is known of the total so far: errors are judged against it.
double log_floor_of(const std::vector<Estimate>& estimates) {
  double log_floor = -infinity;
  for (const Estimate& estimate : estimates) {
    if (estimate.value > estimate.error) log_floor = std::max(log_floor, estimate.log_scale + std::log(estimate.value));
  }
  return log_floor;
}

/// A positive part lies between 0 and its Chernoff bound.
Estimate bounded_only(Integrand& integrand, double place) {
  const double log_bound = integrand.log_ray_bound(place) + log_kappa(place);
  return {.log_scale = log_bound, .value = 0.5, .error = 0.5 + 1e-9, .slope = 0, .nodes = 1};
}

/// That is enough if it is far below what is known already.
std::optional<Estimate> negligible(Integrand& integrand, Saddle saddle, double tolerance, double log_floor) {
  const double log_chernoff = saddle.log_value + std::log(saddle.place) + std::log1p(saddle.place) + log_kappa(saddle.place);
  if (!(log_chernoff < log_floor + std::log(tolerance))) return std::nullopt;
  integrand.prepare(saddle.place, saddle.place, 4);
  const Estimate estimate = bounded_only(integrand, saddle.place);
  if (!(estimate.log_scale < log_floor + std::log(2 * tolerance))) return std::nullopt;
  return estimate;
}

void integrate(Drawing& drawing, Piece piece, Saddle saddle, double tolerance, double log_floor, std::uint64_t work) {
  const Estimate estimate = bent::integrate(piece.integrand, piece.opening, saddle, tolerance, log_floor, work);
  piece.contour = estimate.contour;
  drawing.add(std::move(piece), estimate);
}

Drawing integrate_split(const Side& side, const SplitChoice& split, const std::vector<Integrand::Offset>& offsets, double tolerance,
                        double log_floor) {
  struct Part {
    Integrand integrand;
    Saddle saddle;
  };
  std::vector<Part> parts;
  for (const TailSteps count : all_tail_steps) {
    if (count == TailSteps::more && side.expansion.subsampled.front().times < 2) continue;
    Integrand integrand(side.expansion, split_factors(side, split.cut, count), offsets);
    const Saddle saddle = bent::find_saddle(integrand, side.most_saddle());
    parts.push_back({std::move(integrand), saddle});
  }
  std::vector<Part*> by_size;
  for (Part& part : parts) by_size.push_back(&part);
  std::sort(by_size.begin(), by_size.end(), [](const Part* a, const Part* b) { return a->saddle.log_value > b->saddle.log_value; });
  const bool positive = std::all_of(side.expansion.terms.begin(), side.expansion.terms.end(),
                                    [](const BreakTerm& term) { return term.residue.lo >= 0 && term.constant.lo >= 0; });
  Drawing drawing;
  for (Part* part : by_size) {
    const double floor = std::max(log_floor, log_floor_of(drawing.estimates));
    std::optional<Estimate> bounded;
    if (positive) bounded = negligible(part->integrand, part->saddle, tolerance, floor);
    Piece piece{std::move(part->integrand), Opening::right, {}, bounded ? part->saddle.place : 0};
    if (bounded)
      drawing.add(std::move(piece), *bounded);
    else
      integrate(drawing, std::move(piece), part->saddle, tolerance, floor, most_work / 2);
  }
  return drawing;
}

/// [bent-split] The whole law on one contour, bulk and tail of the noise on paths of their own: for large exponents only the tail must be
/// turned, where there is little of it. Left of the saddle there is room before the tail rises.
Drawing integrate_cut(const Side& side, const std::vector<Integrand::Offset>& offsets, double tolerance, double log_floor) {
  const bent::SubsampledSteps& steps = side.expansion.subsampled.front();
  const double mean = std::log(steps.rate) - std::log1p(-steps.rate) - steps.mu * steps.mu / 2;
  const double width = steps.mu < 0.6 ? steps.mu : steps.mu / 2;
  const auto cut = std::make_shared<const bent::Cut>(steps, mean + cut_place * steps.mu, width);
  Integrand integrand(side.expansion, split_factors(side, cut, TailSteps::any), offsets);
  const Saddle saddle = bent::find_crossing(integrand, bent::find_saddle(integrand, side.most_saddle()));
  Drawing drawing;
  integrate(drawing, {std::move(integrand), Opening::right}, saddle, tolerance, log_floor, most_work);
  return drawing;
}

/// The ways to integrate the terms whose break lies below epsilon.
enum class Way {
  whole,  ///< one contour for the whole law
  cut,    ///< one contour, but bulk and tail of the noise each on a path of its own
  split   ///< a contour each for no, one and more steps in the tail
};

/// In the order of promise: the next only if one does not certify. `total_with` takes what a way has drawn.
template <class TotalWith>
Total right_total(const Side& side, const std::vector<Integrand::Offset>& offsets, double tolerance, double log_floor,
                  TotalWith&& total_with) {
  Integrand whole(side.expansion, side.factors(), offsets);
  const Saddle saddle = bent::find_saddle(whole, side.most_saddle());
  SplitChoice split;
  std::vector<Way> ways{Way::whole};
  if (may_split(side, offsets)) {
    const bent::SubsampledSteps& steps = side.expansion.subsampled.front();
    if (steps.rate < small_rate) split = choose_split(side, offsets);
    const double log_delta = split.cut ? rough_split(side, split, offsets).log_delta : saddle.log_value;
    ways = {Way::whole, Way::cut, Way::split};
    if (steps.rate < small_rate && steps.times >= many_steps) ways = {Way::cut, Way::whole, Way::split};
    if (log_delta < saddle.log_value - most_gap) ways = {Way::split, Way::cut, Way::whole};
  }
  Total best;
  for (const Way way : ways) {
    Drawing drawing;
    if (way == Way::whole) {
      integrate(drawing, {std::move(whole), Opening::right}, saddle, tolerance, log_floor, most_work / 2);
    } else if (way == Way::cut) {
      drawing = integrate_cut(side, offsets, tolerance, log_floor);
    } else {
      if (!split.cut) split = choose_split(side, offsets);
      if (!split.cut) continue;
      drawing = integrate_split(side, split, offsets, tolerance, log_floor);
    }
    const Total total = total_with(std::move(drawing));
    if (total.tight) return total;
    if (total.log_value.width() < best.log_value.width()) best = total;
  }
  return best;
}

/// Answers for one side at one epsilon after another. The contours of the last answer are tried first: F on their nodes is known there
/// but for its exponential, so that an epsilon nearby costs next to nothing.
class Evaluator {
 public:
  Evaluator(const Side& side, Tolerance tolerance)
      : side_(side), tolerance_(tolerance.relative), inner_(std::clamp(0.01 * tolerance.relative, 1e-12, 1e-4)) {}

  [[nodiscard]] LogDelta at(double epsilon) {
    const Offsets offsets = sort_summands(side_.expansion, epsilon);
    Total total = again(offsets);
    if (!total.tight) total = anew(offsets);
    if (!total.tight) total.log_value = intersect(total.log_value, {-infinity, log_chernoff(side_, epsilon)});
    const Interval infinite = side_.expansion.infinite_mass;
    const Interval with_infinite = infinite.hi > 0 ? log_add_exp(total.log_value, log(infinite)) : total.log_value;
    return {clamp(with_infinite, -infinity, 0), total.log_slope};
  }

 private:
  /// On the contours of the last answer. Not tight if there are none, or none for these summands.
  [[nodiscard]] Total again(const Offsets& offsets) {
    if (drawn_.empty()) return {};
    std::vector<Estimate> estimates;
    for (Piece& piece : drawn_) {
      if (!piece.integrand.move_to(piece.opening == Opening::left ? offsets.left : offsets.right)) return {};
      estimates.push_back(piece.chernoff_place > 0 ? bounded_only(piece.integrand, piece.chernoff_place)
                                                   : bent::integrate_on(piece.integrand, piece.opening, piece.contour, inner_, most_work));
    }
    return add_up(estimates, offsets.log_ties, tolerance_);
  }

  [[nodiscard]] Total anew(const Offsets& offsets) {
    drawn_.clear();
    Drawing left;
    if (!offsets.left.empty()) {
      Integrand integrand(side_.expansion, side_.factors(), offsets.left);
      const Saddle saddle = bent::find_saddle(integrand, side_.most_saddle());
      integrate(left, {std::move(integrand), Opening::left}, saddle, inner_, -infinity, most_work);
    }
    const auto total_with = [&](Drawing right) {
      right.estimates.insert(right.estimates.end(), left.estimates.begin(), left.estimates.end());
      const Total total = add_up(right.estimates, offsets.log_ties, tolerance_);
      if (total.tight) drawn_ = std::move(right.pieces);
      return total;
    };
    const Total total =
        offsets.right.empty() ? total_with({}) : right_total(side_, offsets.right, inner_, log_floor_of(left.estimates), total_with);
    if (total.tight) std::move(left.pieces.begin(), left.pieces.end(), std::back_inserter(drawn_));
    return total;
  }

  const Side& side_;
  double tolerance_;
  double inner_;
  std::vector<Piece> drawn_;
};

class BentLoss final : public Loss {
 public:
  using Sides = std::array<std::array<std::shared_ptr<const Side>, 2>, 2>;  // [direction][end]
  BentLoss(Sides sides, bool symmetric, Tolerance tolerance) : sides_(std::move(sides)), symmetric_(symmetric), tolerance_(tolerance) {}

  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    if (epsilon.lo < 0) return log(delta(direction, epsilon));
    const Side& worse = side(direction, ParameterEnd::worse);
    const Side& better = side(direction, ParameterEnd::better);
    if (epsilon.lo == epsilon.hi && &worse == &better) return at(worse, epsilon.lo);
    return {at(better, epsilon.hi).lo, at(worse, epsilon.lo).hi};
  }

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    const auto from_zero = [&](Interval e) { return clamp(exp(log_delta(direction, e)), 0, 1); };
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

  void explain(std::vector<Step>& steps) const override {
    const Expansion& expansion = side(Direction::remove, ParameterEnd::worse).expansion;
    steps.push_back({"break-point-expansion", std::to_string(expansion.summands.size()) + " summands, " +
                                                  std::to_string(expansion.subsampled.size()) + " kinds of subsampled Gaussian step"});
    steps.push_back({"bent-contour", "each side of epsilon on its own hyperbola; discretisation, truncation and rounding bounded"});
    if (!expansion.subsampled.empty())
      steps.push_back({"log-convex-majorant", "bounds the transform on the boundary of each contour's strip"});
  }

 private:
  [[nodiscard]] const Side& side(Direction direction, ParameterEnd end) const {
    return *sides_[direction == Direction::add ? 1 : 0][end == ParameterEnd::better ? 1 : 0];
  }
  [[nodiscard]] Interval at(const Side& one, double epsilon) const {
    if (epsilon == infinity) return log(one.expansion.infinite_mass);
    return Evaluator(one, tolerance_).at(epsilon).bounds;
  }
  /// delta(e) = 1 - exp(e) + exp(e) delta'(-e), delta' being the other direction.
  [[nodiscard]] Interval mirrored(Direction direction, Interval epsilon) const {
    if (epsilon.hi == -infinity) return Interval::exactly(1);
    const Direction other = direction == Direction::add ? Direction::remove : Direction::add;
    const Interval reversed = delta(other, -epsilon);
    return clamp(exp(epsilon) * reversed - expm1(epsilon), 0, 1);
  }

  Sides sides_;
  bool symmetric_;
  Tolerance tolerance_;
};

Rough rough_log_delta(const Side& side, double epsilon) {
  const Offsets offsets = sort_summands(side.expansion, epsilon);
  Rough rough;
  for (const auto* set : {&offsets.left, &offsets.right}) {
    if (set->empty()) continue;
    const Integrand whole(side.expansion, side.factors(), *set);
    const Saddle saddle = bent::find_saddle(whole, side.most_saddle());
    SplitChoice split;
    if (set == &offsets.right && may_split(side, *set) && side.expansion.subsampled.front().rate < small_rate)
      split = choose_split(side, *set);
    if (!(split.log_value < saddle.log_value)) {
      rough.add(whole, saddle);
      continue;
    }
    rough.add(rough_split(side, split, *set));
  }
  return rough;
}

/// Certified answers at trial epsilons, narrowing the one that is asked for.
class EpsilonSearch {
 public:
  EpsilonSearch(const Side& worse, const Side& better, Interval log_delta, Tolerance tolerance)
      : side_(worse), worse_(worse, tolerance), target_(log_delta), tolerance_(tolerance) {
    if (&worse != &better) own_better_.emplace(better, tolerance);
  }

  [[nodiscard]] Interval run() {
    double epsilon = start();
    double margin = 0;
    for (int k = 0; k < 12; ++k) {  // Newton on log delta, safeguarded by what is certified
      const LogDelta value = probe(worse_, epsilon);
      const double centre = value.bounds.lo > -infinity ? (value.bounds.lo + value.bounds.hi) / 2 : value.bounds.hi;
      const double steepness = value.slope < 0 ? -value.slope : 1;
      const double move = (centre - target_.lo) / steepness;
      margin = (value.bounds.width() + 0.1 * tolerance_.relative) / steepness + 4 * 0x1p-52 * epsilon;
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
  [[nodiscard]] Evaluator& better() { return own_better_ ? *own_better_ : worse_; }

  /// Every evaluation may move an end: the upper bound of the worse side, the lower bound of the better one.
  LogDelta probe(Evaluator& side, double epsilon) {
    const LogDelta value = side.at(epsilon);
    if (&side == &worse_ && value.bounds.hi <= target_.lo) found_.hi = std::min(found_.hi, epsilon);
    if (&side == &better() && value.bounds.lo > target_.hi) found_.lo = std::max(found_.lo, epsilon);
    return value;
  }

  /// From the Chernoff epsilon down by saddle points.
  [[nodiscard]] double start() const {
    double epsilon = chernoff_epsilon();
    for (int k = 0; k < 6; ++k) {
      const Rough rough = rough_log_delta(side_, epsilon);
      const double move = (rough.log_delta - target_.lo) / -rough.slope;
      if (!(std::abs(move) < infinity)) break;
      const double next = std::max(epsilon + move, epsilon / 4);
      const bool close = std::abs(next - epsilon) < 0.01 * epsilon;
      epsilon = next;
      if (close) break;
    }
    return std::max(epsilon, 1e-9);
  }

  /// The minimum over s of (log M(s) + log kappa(s) - log delta) / s, uncertified.
  [[nodiscard]] double chernoff_epsilon() const {
    std::vector<Integrand::Offset> all;
    for (std::size_t j = 0; j < side_.expansion.summands.size(); ++j) all.push_back({j, side_.expansion.summands[j].position.high, 0});
    const Integrand integrand(side_.expansion, side_.factors(), std::move(all));
    double best = infinity;
    for (double s = 1e-3; s < side_.most_saddle(); s *= 1.3) {
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
    double more = margin;
    for (int k = 0; k < 4 && !(found_.hi <= epsilon + more); ++k, more *= 16) probe(worse_, epsilon + more);
    more = margin;
    for (int k = 0; k < 4 && !(found_.lo >= epsilon - more) && epsilon > more; ++k, more *= 16) probe(better(), epsilon - more);
  }

  const Side& side_;
  Evaluator worse_;
  std::optional<Evaluator> own_better_;
  Interval target_;
  Tolerance tolerance_;
  Interval found_{0, infinity};
  bool above_zero_ = false;  // 0 has been tried and is not enough
};

std::optional<Interval> BentLoss::closed_epsilon(Direction direction, Interval delta) const {
  if (!(delta.lo > 0)) return std::nullopt;
  const Interval infinite = infinite_mass(direction);
  if (delta.hi < infinite.lo) return Interval::exactly(infinity);
  if (!(delta.lo > infinite.hi)) return std::nullopt;
  return EpsilonSearch(side(direction, ParameterEnd::worse), side(direction, ParameterEnd::better), log(delta), tolerance_).run();
}

/// Both ends of the parameters; one and the same object where they agree.
bool expand_side(const Parts& parts, Direction direction, std::array<std::shared_ptr<const Side>, 2>& sides) {
  auto worse = bent::expand(parts, direction, ParameterEnd::worse);
  if (!worse) return false;
  sides[0] = sides[1] = std::make_shared<const Side>(std::move(*worse));
  const bool same = std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
    return bent::break_points_of(*part.loss, direction, ParameterEnd::worse) ==
           bent::break_points_of(*part.loss, direction, ParameterEnd::better);
  });
  if (same) return true;
  auto better = bent::expand(parts, direction, ParameterEnd::better);
  if (!better) return false;
  sides[1] = std::make_shared<const Side>(std::move(*better));
  return true;
}

}  // namespace

LossPointer compose_by_bent_contour(const Parts& parts, Tolerance tolerance) {
  BentLoss::Sides sides;
  if (parts.empty() || !expand_side(parts, Direction::remove, sides[0]) || !expand_side(parts, Direction::add, sides[1])) return nullptr;
  const bool symmetric = std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.loss->symmetric(); });
  return std::make_shared<const BentLoss>(std::move(sides), symmetric, tolerance);
}

}  // namespace tradeoff
