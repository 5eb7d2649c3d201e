// SPDX-License-Identifier: Apache-2.0
#include "engine/hyperbolic/evaluate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>
#include <optional>

#include "loss/gaussian_profile.h"
#include "loss/work.h"
#include "numeric/arithmetic.h"

namespace tradeoff::detail::hyperbolic {
namespace {

// About 0.15 s of exponentials; beyond that the answer is a Chernoff bound.
constexpr std::uint64_t most_contour_work = 20'000'000;
// [bent-split] If log F at its saddle point exceeds log delta by more than this, one contour cannot reach a relative accuracy of 1e-6, and
// the split into three contours is tried first. Rates above `small_rate` rarely need it; there it is tried only after a failure.
constexpr double most_gap = 11.5;
constexpr double small_rate = 0.05;
constexpr double most_split_times = 1e7;
// [bent-split] Below this value the tail starts where the noise does not yet cause a large loss, and the parts have no better saddle points
// (measured).
constexpr double least_split_epsilon = 0.05;
// [bent-split] The tail of the noise starts this many deviations above its mean: e^-8 of the steps are in it. From this many steps on,
// rotating the path of the bulk as well costs more than the cut.
constexpr double cut_place = 4;
constexpr double many_steps = 60;
// [bent-remainder] From this gap on, or for many steps, the difference from the Gaussian of the same variance is tried first. For a larger
// mu the square of dP/dQ is concentrated so far in the tail of the noise that the path does not cover it.
constexpr double remainder_gap = 7;
constexpr double most_remainder_mu = 1.2;
// Contours kept for other epsilons, about a megabyte each, if they are this accurate.
constexpr std::size_t most_known = 4;
constexpr double worth_keeping = 1e-3;
// Contours aim at this share of the tolerance: the number of nodes grows with the logarithm only.
constexpr double finer = 1e-4;
// A width of log delta that is not worth a new contour.
constexpr double narrow = 1e-10;

/// |constant| + |residue|: the total variation of the measure whose transform is the term.
double log_variation(const Expansion& expansion, const Summand& summand) {
  double log = summand.log_coefficient + summand.log_coefficient_error;
  for (std::size_t a = 0; a < expansion.terms.size(); ++a) {
    const auto size = [](Interval x) { return std::max(std::abs(x.lo), std::abs(x.hi)); };
    log += summand.powers[a] * (std::log(size(expansion.terms[a].constant) + size(expansion.terms[a].residue)) + 1e-12);
  }
  return log;
}

// [break-point-expansion] Contours of breaks above epsilon open to the left. The others open to the right; if every loss is bounded they
// are closed there and are exactly 0, and a break within its own rounding of epsilon contributes at most its distance times its variation.
Offsets sort_summands(const Expansion& expansion, double epsilon) {
  Offsets offsets;
  const bool unbounded = expansion.unbounded_above();
  for (std::size_t j = 0; j < expansion.summands.size(); ++j) {
    const Summand& summand = expansion.summands[j];
    double error = summand.position_error;
    const numeric::DoubleDouble distance = add(summand.position, {-epsilon, 0}, error);
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

/// The sum of estimates, each with its own scale.
Total add_up(const std::vector<Estimate>& estimates, double log_ties, double tolerance) {
  double scale = log_ties;
  for (const Estimate& estimate : estimates) {
    // Without a finite error nothing is known, whatever the scale is: that of a saddle point may be 0 because the transform overflowed.
    if (!(estimate.log_scale < infinity && estimate.error < infinity) || std::isnan(estimate.value)) return {};
    scale = std::max(scale, estimate.log_scale);
  }
  if (scale == -infinity) return {{-infinity, -infinity}, 0, true, {}};
  double below = 0;
  double above = std::exp(log_ties - scale);
  double slope = 0;
  Doubt doubt{0, 0, 0, above};
  for (const Estimate& estimate : estimates) {
    const double weight = std::exp(estimate.log_scale - scale);
    doubt.nodes += static_cast<std::uint64_t>(estimate.nodes);
    doubt.rounding += weight * std::min(estimate.rounding, estimate.error);
    doubt.contours += weight * std::max(estimate.error - estimate.rounding, 0.0);
    if (weight == 0) {  // far below the rest: only its bound matters
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
  for (double* part : {&doubt.contours, &doubt.rounding, &doubt.ties}) *part = *part / scaled.lo * (1 + 1e-12);
  return {{log_value.lo, above < infinity ? log_value.hi : infinity},
          slope / std::max(above, 1e-300),
          above - below <= tolerance * below,
          doubt};
}

constexpr std::array<TailSteps, 3> all_tail_steps{TailSteps::none, TailSteps::one, TailSteps::more};

std::vector<StepFactor> split_factors(const Side& side, const std::shared_ptr<const Cut>& cut, TailSteps count) {
  std::vector<StepFactor> factors;
  factors.emplace_back(side.expansion.subsampled.front(), cut, count);
  for (std::size_t i = 1; i < side.expansion.subsampled.size(); ++i) factors.push_back(side.factor(i));
  return factors;
}

bool may_split(const Side& side, const std::vector<Integrand::Offset>& offsets) {
  return !offsets.empty() && !side.expansion.subsampled.empty() && side.expansion.subsampled.front().remove &&
         side.expansion.subsampled.front().times <= most_split_times;
}

/// The best of a dozen windows below the noise at which a single step reaches epsilon; those next to a worse one are left out.
SplitChoice choose_split(const Side& side, const std::vector<Integrand::Offset>& offsets) {
  const SubsampledSteps& steps = side.expansion.subsampled.front();
  double nearest = infinity;
  for (const Integrand::Offset& offset : offsets) nearest = std::min(nearest, std::abs(offset.y));
  nearest += std::log1p(-steps.rate) * (steps.times - 1);  // the other steps at their smallest loss
  const double mean = std::log(steps.rate) - std::log1p(-steps.rate) - steps.mu * steps.mu / 2;
  const double top = nearest > 30 ? nearest : std::log(std::expm1(std::max(nearest, 1e-12)));
  SplitChoice best;
  if (!(top > mean)) return best;
  constexpr std::array<double, 6> places{0.45, 0.65, 0.8, 0.88, 0.94, 0.98};
  double width = 0;
  const auto is_better = [&](std::size_t place) {
    const auto cut = std::make_shared<const Cut>(steps, mean + places[place] * (top - mean), width);
    double largest = -infinity;
    for (const TailSteps count : all_tail_steps) {
      if (count == TailSteps::more && steps.times < 2) continue;
      const Integrand integrand(side.expansion, split_factors(side, cut, count), offsets);
      largest = std::max(largest, find_saddle(integrand, side.most_saddle(), 0.2).log_value);
      if (largest >= best.log_value) return false;
    }
    best = {cut, largest};
    return true;
  };
  std::size_t place = 3;
  for (const double share : {0.25, 0.5}) {
    width = share * steps.mu;
    const std::size_t first = place;
    (void)is_better(first);
    while (place + 1 < places.size() && is_better(place + 1)) ++place;
    if (place > first) continue;
    while (place > 0 && is_better(place - 1)) --place;
  }
  return best;
}

/// The sum of the three parts.
Rough rough_split(const Side& side, const SplitChoice& split, const std::vector<Integrand::Offset>& offsets) {
  Rough rough;
  for (const TailSteps count : all_tail_steps) {
    const Integrand part(side.expansion, split_factors(side, split.cut, count), offsets);
    rough.add(part, find_saddle(part, side.most_saddle()));
  }
  return rough;
}

/// The logarithm of the total known so far; errors are compared with it.
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

/// That suffices if it is far below the total known so far.
std::optional<Estimate> bound_if_negligible(Integrand& integrand, Saddle saddle, double tolerance, double log_floor) {
  const double log_chernoff = saddle.log_value + std::log(saddle.place) + std::log1p(saddle.place) + log_kappa(saddle.place);
  if (!(log_chernoff < log_floor + std::log(tolerance))) return std::nullopt;
  integrand.prepare(saddle.place, saddle.place, 4);
  const Estimate estimate = bounded_only(integrand, saddle.place);
  if (!(estimate.log_scale < log_floor + std::log(2 * tolerance))) return std::nullopt;
  return estimate;
}

void count(std::uint64_t exponentials) { Work::count(7.5e-3 * static_cast<double>(exponentials)); }

void integrate(Drawing& drawing, Piece piece, Saddle saddle, double tolerance, double log_floor, std::uint64_t work) {
  const Estimate estimate = integrate(piece.integrand, piece.opening, saddle, tolerance, log_floor, work);
  count(piece.integrand.work());
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
    const Saddle saddle = find_saddle(integrand, side.most_saddle());
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
    if (positive) bounded = bound_if_negligible(part->integrand, part->saddle, tolerance, floor);
    Piece piece{std::move(part->integrand), Opening::right, {}, bounded ? part->saddle.place : 0};
    if (bounded)
      drawing.add(std::move(piece), *bounded);
    else
      integrate(drawing, std::move(piece), part->saddle, tolerance, floor, most_contour_work / 2);
    if (!(drawing.estimates.back().error < infinity)) break;  // the others would not help
  }
  return drawing;
}

/// [bent-split] The whole distribution on one contour, with separate paths for the bulk and the tail of the noise: for large exponents only
/// the path of the tail must be rotated, and its mass is small. Left of the saddle point there is room before the tail increases.
Drawing integrate_cut(const Side& side, const std::vector<Integrand::Offset>& offsets, double tolerance, double log_floor) {
  const SubsampledSteps& steps = side.expansion.subsampled.front();
  const double mean = std::log(steps.rate) - std::log1p(-steps.rate) - steps.mu * steps.mu / 2;
  const double width = steps.mu < 0.6 ? steps.mu : steps.mu / 2;
  const auto cut = std::make_shared<const Cut>(steps, mean + cut_place * steps.mu, width);
  Integrand integrand(side.expansion, split_factors(side, cut, TailSteps::any), offsets);
  const Saddle saddle = find_crossing(integrand, find_saddle(integrand, side.most_saddle()));
  Drawing drawing;
  integrate(drawing, {std::move(integrand), Opening::right}, saddle, tolerance, log_floor, most_contour_work);
  return drawing;
}

/// [bent-remainder] The profile of the Gaussian that the remainder omits.
Estimate taken_gaussian(double variance, double epsilon) {
  const Interval log_delta = log_gaussian_delta(sqrt(Interval::exactly(variance)), Interval::exactly(epsilon));
  const double ratio = std::exp(log_delta.lo - log_delta.hi);
  const double away = 1e-4 * epsilon;
  const double slope = away > 0 ? (log_gaussian_delta(std::sqrt(variance), epsilon + away).hi - log_delta.hi) / away : 0;
  return {.log_scale = log_delta.hi, .value = (1 + ratio) / 2, .error = (1 - ratio) / 2 + 1e-15, .slope = slope, .nodes = 1};
}

/// The remainder is small near the poles, but its error bound is not, so the crossing stays near the saddle point of the whole.
Drawing integrate_remainder(const Side& side, const Integrand::Offset& offset, double epsilon, Saddle whole, double tolerance) {
  Integrand integrand(side.expansion, side.factors(), offset, epsilon);
  Drawing drawing;
  const Saddle saddle = find_saddle(integrand, side.most_saddle(), 0.01, std::max(3.0, 0.12 * whole.place));
  const Estimate gaussian = taken_gaussian(integrand.taken_variance(), epsilon);
  integrate(drawing, {std::move(integrand), Opening::right}, saddle, tolerance, gaussian.log_scale, most_contour_work / 2);
  drawing.estimates.push_back(gaussian);
  return drawing;
}

}  // namespace

const std::vector<RealNoise>& Side::real_noise() const {
  std::call_once(noise_made_, [this] {
    for (const auto& steps : expansion.subsampled) {
      real_noise_.emplace_back(steps.mu, steps.rate, steps.remove, std::nullopt, steps.sampling);
      mirror_noise_.push_back(mirror_noise(steps));
    }
  });
  return real_noise_;
}

StepFactor Side::factor(std::size_t kind) const {
  const RealNoise& whole = real_noise()[kind];
  return {expansion.subsampled[kind], whole, mirror_noise_[kind] ? &*mirror_noise_[kind] : nullptr};
}

std::vector<StepFactor> Side::factors() const {
  std::vector<StepFactor> result;
  for (std::size_t i = 0; i < expansion.subsampled.size(); ++i) result.push_back(factor(i));
  return result;
}

void Rough::add(const Integrand& integrand, Saddle saddle) {
  const double away = 0.05 * saddle.place;
  const double bend =
      (integrand.log_real(saddle.place + away) + integrand.log_real(saddle.place - away) - 2 * saddle.log_value) / (away * away);
  const double log_value = saddle.log_value - 0.5 * std::log(2 * std::numbers::pi * std::max(bend, 1e-300));
  if (std::abs(log_value) < infinity) add({log_value, -saddle.place});
}

void Rough::add(Rough other) {
  const double before = log_delta;
  const double greater = std::max(before, other.log_delta);
  if (greater == -infinity) return;
  log_delta = greater + std::log1p(std::exp(std::min(before, other.log_delta) - greater));
  slope = slope * std::exp(before - log_delta) + other.slope * std::exp(other.log_delta - log_delta);
}

void Drawing::add(Piece piece, const Estimate& estimate) {
  pieces.push_back(std::move(piece));
  estimates.push_back(estimate);
}

Evaluator::Evaluator(const Side& side, Tolerance tolerance)
    : side_(side), tolerance_(tolerance.relative), inner_(std::clamp(finer * tolerance.relative, 1e-12, 1e-4)) {}

/// [bent-contour] The transform on the positive axis bounds delta: the answer if no contour gives a proof.
double Evaluator::log_chernoff(double epsilon) const {
  std::vector<Integrand::Offset> all;
  for (std::size_t j = 0; j < side_.expansion.summands.size(); ++j) {
    double error = side_.expansion.summands[j].position_error;
    const double y = add(side_.expansion.summands[j].position, {-epsilon, 0}, error).value();
    all.push_back({j, y, error + std::abs(y) * 0x1p-53});
  }
  Integrand integrand(side_.expansion, side_.factors(), std::move(all));
  const double s = find_saddle(integrand, side_.most_saddle()).place;
  integrand.prepare(s, s, 4);
  const double bound = integrand.log_ray_bound(s) + log_kappa(s);
  return bound <= 0 ? bound : 0;
}

LogDelta Evaluator::at(double epsilon, double enough) {
  const Offsets offsets = sort_summands(side_.expansion, epsilon);
  Total total;
  if (!known_.empty()) {
    Known& nearest = *std::min_element(known_.begin(), known_.end(), [&](const Known& a, const Known& b) {
      return std::abs(a.epsilon - epsilon) < std::abs(b.epsilon - epsilon);
    });
    enough = std::max(enough, 3 * std::max(nearest.width, narrow));
    total = again(nearest, offsets, epsilon);
  }
  if (known_.empty() || !(total.log_value.width() <= enough)) total = anew(offsets, epsilon);
  const Interval finite = total.log_value;
  if (!total.tight) total.log_value = intersect(total.log_value, {-infinity, log_chernoff(epsilon)});
  // If losses are unbounded, delta is positive everywhere: an exponent below the range of doubles means a value below the least double, not
  // 0.
  if (side_.expansion.unbounded_above()) total.log_value.hi = std::max(total.log_value.hi, std::numeric_limits<double>::lowest());
  const Interval infinite = side_.expansion.infinite_mass;
  const Interval with_infinite = infinite.hi > 0 ? log_add_exp(total.log_value, log(infinite)) : total.log_value;
  return {clamp(with_infinite, -infinity, 0), total.log_slope, total.tight, finite, total.doubt};
}

Rough Evaluator::rough(double epsilon) {
  const Offsets offsets = sort_summands(side_.expansion, epsilon);
  Rough rough;
  for (const auto* set : {&offsets.left, &offsets.right}) {
    if (set->empty()) continue;
    const Integrand whole(side_.expansion, side_.factors(), *set);
    const Saddle saddle = find_saddle(whole, side_.most_saddle());
    const bool split = set == &offsets.right && may_split(side_, *set) && side_.expansion.subsampled.front().rate < small_rate;
    if (split && split_at(*set, epsilon).log_value < saddle.log_value)
      rough.add(rough_split(side_, split_, *set));
    else
      rough.add(whole, saddle);
  }
  return rough;
}

const SplitChoice& Evaluator::split_at(const std::vector<Integrand::Offset>& offsets, double epsilon) {
  if (!split_.cut || !(std::abs(epsilon - split_epsilon_) <= 0.5 * split_epsilon_)) {
    split_ = choose_split(side_, offsets);
    split_epsilon_ = epsilon;
  }
  return split_;
}

/// Uses all contours of an earlier answer. Nothing is known if there are none for these summands.
Total Evaluator::again(Known& nearest, const Offsets& offsets, double epsilon) {
  const auto covers = [&](Opening opening) {
    return std::any_of(nearest.pieces.begin(), nearest.pieces.end(), [&](const Piece& piece) { return piece.opening == opening; });
  };
  if ((!offsets.left.empty() && !covers(Opening::left)) || (!offsets.right.empty() && !covers(Opening::right))) return {};
  std::vector<Estimate> estimates;
  for (Piece& piece : nearest.pieces) {
    if (!piece.integrand.move_to(piece.opening == Opening::left ? offsets.left : offsets.right, epsilon)) return {};
    const std::uint64_t before = piece.integrand.work();
    const double taken = piece.integrand.taken_variance();
    if (taken > 0) estimates.push_back(taken_gaussian(taken, epsilon));
    estimates.push_back(piece.chernoff_place > 0 ? bounded_only(piece.integrand, piece.chernoff_place)
                                                 : integrate_on(piece.integrand, piece.opening, piece.contour, inner_, most_contour_work));
    count(piece.integrand.work() - before);
  }
  return add_up(estimates, offsets.log_ties, tolerance_);
}

/// The most promising way first.
std::vector<Evaluator::Way> Evaluator::ways(const std::vector<Integrand::Offset>& offsets, double epsilon, Saddle saddle) {
  if (!may_split(side_, offsets)) return {Way::whole};
  const SubsampledSteps& steps = side_.expansion.subsampled.front();
  if (steps.rate >= small_rate) return {Way::whole, Way::cut, Way::split};
  const SplitChoice& split = split_at(offsets, epsilon);
  const double gap = split.cut ? saddle.log_value - rough_split(side_, split, offsets).log_delta : 0;
  std::vector<Way> result{Way::whole, Way::cut};
  if (steps.times >= many_steps || gap > most_gap) result = {Way::cut, Way::whole};
  if (epsilon >= least_split_epsilon) result.insert(gap > most_gap ? result.begin() : result.end(), Way::split);
  const auto& kinds = side_.expansion.subsampled;
  const bool poisson = std::all_of(kinds.begin(), kinds.end(), [](const auto& kind) { return kind.sampling == SampledBy::poisson; });
  const bool only_gaussian = side_.expansion.terms.empty() && steps.mu <= most_remainder_mu && poisson;
  if (only_gaussian && (gap > remainder_gap || steps.times >= many_steps)) result.insert(result.begin(), Way::remainder);
  return result;
}

Drawing Evaluator::draw(Way way, const std::vector<Integrand::Offset>& offsets, double epsilon, Saddle saddle, double log_floor) {
  if (way == Way::remainder) return integrate_remainder(side_, offsets.front(), epsilon, saddle, inner_);
  if (way == Way::cut) return integrate_cut(side_, offsets, inner_, log_floor);
  if (way == Way::split) {
    const SplitChoice& split = split_at(offsets, epsilon);
    if (split.cut) return integrate_split(side_, split, offsets, inner_, log_floor);
  }
  Drawing drawing;
  integrate(drawing, {Integrand(side_.expansion, side_.factors(), offsets), Opening::right}, saddle, inner_, log_floor,
            most_contour_work / 2);
  return drawing;
}

Total Evaluator::anew(const Offsets& offsets, double epsilon) {
  Drawing left;
  if (!offsets.left.empty()) {
    Integrand integrand(side_.expansion, side_.factors(), offsets.left);
    const Saddle saddle = find_saddle(integrand, side_.most_saddle());
    integrate(left, {std::move(integrand), Opening::left}, saddle, inner_, -infinity, most_contour_work);
  }
  const Saddle saddle =
      offsets.right.empty() ? Saddle{} : find_saddle(Integrand(side_.expansion, side_.factors(), offsets.right), side_.most_saddle());
  Total best;
  std::vector<Piece> best_pieces;
  for (const Way way : offsets.right.empty() ? std::vector{Way::whole} : ways(offsets.right, epsilon, saddle)) {
    Drawing drawing;
    if (!offsets.right.empty()) drawing = draw(way, offsets.right, epsilon, saddle, log_floor_of(left.estimates));
    drawing.estimates.insert(drawing.estimates.end(), left.estimates.begin(), left.estimates.end());
    const Total total = add_up(drawing.estimates, offsets.log_ties, tolerance_);
    if (total.tight || total.log_value.width() < best.log_value.width()) {
      best = total;
      best_pieces = std::move(drawing.pieces);
    }
    if (total.tight) break;
  }
  if (!(best.log_value.width() <= worth_keeping) || best_pieces.size() + left.pieces.size() == 0) return best;
  std::move(left.pieces.begin(), left.pieces.end(), std::back_inserter(best_pieces));
  if (known_.size() == most_known) known_.erase(known_.begin());
  known_.push_back({epsilon, best.log_value.width(), std::move(best_pieces)});
  return best;
}

}  // namespace tradeoff::detail::hyperbolic
