// SPDX-License-Identifier: Apache-2.0
#include "engine/compose.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "engine/adaptive_block.h"
#include "engine/average.h"
#include "engine/contour/cells.h"
#include "engine/contour/contour.h"
#include "engine/contour/cut.h"
#include "engine/contour/rare.h"
#include "engine/contour/remainder.h"
#include "engine/contour/truncated.h"
#include "engine/counted_average.h"
#include "engine/density/density.h"
#include "engine/disclosure.h"
#include "engine/draws.h"
#include "engine/exact/counted.h"
#include "engine/exact/exact.h"
#include "engine/exact/lazy_exact.h"
#include "engine/fallback_chain.h"
#include "engine/hyperbolic/hyperbolic.h"
#include "engine/lattice/lattice.h"
#include "engine/moments/renyi_sum.h"
#include "loss/negligible.h"
#include "mechanism/gaussian.h"
#include "numeric/arithmetic.h"

namespace tradeoff::detail {
namespace {

/// [gaussian-composition] All plain Gaussians of a plan are merged into one, with mu the root of the sum of squares. Without any: perfect
/// privacy. If each bounds the contribution of a record, so does the merged one: the squares of the norms add as well. [clip-norm]
Parts merge_gaussians(Parts parts) {
  Interval squares = Interval::exactly(0);
  Parts others;
  Part last_gaussian;
  std::uint64_t gaussians = 0;
  bool clipped = true;
  Citations own;  // of those that rest on a theorem of their own
  for (Part& part : parts) {
    if (const auto mu = part.loss->gaussian_mu()) {
      if (part.loss->key().empty()) {
        const Citations more = citations_of([&] { part.loss->cite(); });
        own.insert(own.end(), more.begin(), more.end());
      }
      squares = squares + Interval::exactly(static_cast<double>(part.times)) * square(*mu);
      gaussians += part.times;
      clipped = clipped && part.loss->capabilities(Direction::remove).clipped;
      last_gaussian = part;
    } else {
      others.push_back(std::move(part));
    }
  }
  if (gaussians == 1 && (squares.hi > 0 || others.empty()))
    others.push_back(last_gaussian);  // its own mu, without squaring and taking the root
  else if (squares.hi > 0 || others.empty()) {
    Citations origin = {
        Citation("gaussian-composition", gaussians == 0 ? "nothing is run: mu is 0"
                                                        : std::to_string(gaussians) + " Gaussian steps are one: the squares of mu add")};
    clipped = clipped && gaussians > 0;
    origin.insert(origin.end(), own.begin(), own.end());
    if (clipped) origin.emplace_back("clip-norm", "the squares of the clip norms add");
    others.push_back({gaussian_loss(sqrt(squares), std::move(origin), clipped ? GaussianOf::clipped_sums : GaussianOf::curve), 1});
  }
  return others;
}

/// The mu of the Gaussian part of a composition whose Gaussians are merged. [gaussian-part]
std::optional<Interval> gaussian_part_of(const Parts& parts) {
  for (const Part& part : parts)
    if (const auto mu = part.loss->gaussian_mu(); mu && mu->lo > 0) return sqrt(Interval::exactly(static_cast<double>(part.times))) * *mu;
  return std::nullopt;
}

/// The effective number of steps of a plan for a straight contour: a subsampled step counts in proportion to its sampling rate, and less if
/// one sampled step has a large loss (measured).
double steps_that_count(const Parts& parts) {
  double steps = 0;
  for (const Part& part : parts) {
    const auto points = part.loss->break_points(Direction::remove, ParameterEnd::worse);
    double share = 1;
    if (const auto sampled = points ? points->sampled : std::nullopt)
      share = std::min(1.0, 85 * sampled->rate * std::exp(-sampled->mu * sampled->mu / 4));
    steps += share * static_cast<double>(part.times);
  }
  return steps;
}

/// Minus the logarithm of the part of the transform that does not decay, by the samples of fixed size alone: each has an atom at loss 0,
/// which is small where there is much noise.
double decay_beside_atoms(const Parts& parts) {
  double sum = 0;
  for (const Part& part : parts) {
    const auto points = part.loss->break_points(Direction::remove, ParameterEnd::worse);
    const auto sampled = points ? points->sampled : std::nullopt;
    if (!sampled || sampled->sampling != SampledBy::fixed) continue;
    sum -= static_cast<double>(part.times) * std::log((1 - sampled->rate) * std::erf(sampled->mu / std::sqrt(8.0)));
  }
  return sum;
}
constexpr double enough_decay = 45;  // e^-30 is needed; the density beside the atoms decays, too

/// From about 60 steps on, the transform decays fast enough for a straight contour to need few nodes; with fewer steps the hyperbolic
/// contour is tried first. The choice affects speed only: the other contour is the fallback if the first is not tight.
bool straight_contour_first(const Parts& parts) {
  constexpr double many_steps = 60;
  constexpr double many_of_any_kind = 200;  // for any sampling rate: rounding limits both contours, and the straight one is faster
  if (decay_beside_atoms(parts) >= enough_decay) return true;
  double all = 0;
  for (const Part& part : parts) all += static_cast<double>(part.times);
  return all >= many_of_any_kind || steps_that_count(parts) >= many_steps;
}

/// The contours to try; the lattice is the fallback. The choice affects speed and width only.
struct ApplicableContours {
  bool straight = true;
  bool bent = true;
};

/// Samples of fixed size have an atom at loss 0, for which a straight contour needs too many nodes: unless there are many effective steps
/// it fails after a tenth of a second. For few steps with a small rate and much noise, a lattice is faster than the hyperbolic contour,
/// which may fail as well. All this was measured.
ApplicableContours applicable_contours(const Parts& parts) {
  constexpr double few_steps = 12;
  constexpr double much_noise = 0.4, small_rate = 2e-3;
  constexpr std::uint64_t few_samples = 30;
  bool only_samples = true, only_small = true;
  for (const Part& part : parts) {
    const auto points = part.loss->break_points(Direction::remove, ParameterEnd::worse);
    const auto sampled = points ? points->sampled : std::nullopt;
    only_samples = only_samples && sampled && sampled->sampling == SampledBy::fixed;
    only_small = only_samples && only_small && sampled->mu <= much_noise && sampled->rate <= small_rate && part.times <= few_samples;
  }
  return {!only_samples || steps_that_count(parts) >= few_steps || decay_beside_atoms(parts) >= enough_decay, !only_small};
}

/// How a plan of Poisson-sampled Gaussians alone is best inverted. The choice affects speed only; all of it was measured.
struct SampledGaussians {
  double largest_mu = 0;
  double steps = 0;
  double participations = 0;  ///< of a record, expected
  double tail = 0;  ///< the order of the saddle point, in units of the order from which on one rare large loss outweighs all others
};

std::optional<SampledGaussians> sampled_gaussians(const Parts& parts) {
  SampledGaussians found;
  double variance = 0, least_limit = infinity;
  for (const Part& part : parts) {
    const auto points = part.loss->break_points(Direction::remove, ParameterEnd::worse);
    const auto sampled = points ? points->sampled : std::nullopt;
    if (!sampled || sampled->sampling != SampledBy::poisson || points->gaussian_mu > 0 || !points->terms.empty()) return std::nullopt;
    const double square = std::min(sampled->mu * sampled->mu, 60.0), times = static_cast<double>(part.times);
    found.largest_mu = std::max(found.largest_mu, sampled->mu);
    found.steps += times;
    found.participations += times * sampled->rate;
    variance += times * sampled->rate * sampled->rate * std::expm1(square);
    least_limit = std::min(least_limit, -2 * std::log(sampled->rate) / square);
  }
  constexpr double deviations = 5;  // of an epsilon from 0
  found.tail = deviations / std::sqrt(variance) / least_limit;
  return found;
}

/// The contours of a plan, best first.
std::vector<EnginePath> contours_in_order(const Parts& parts, LossPointer straight, LossPointer bent) {
  const auto sampled = sampled_gaussians(parts);
  if (!sampled) {
    if (bent == nullptr || straight_contour_first(parts)) return {{std::move(straight)}, {std::move(bent)}};
    return {{std::move(bent)}, {std::move(straight), Speed::slow}};  // thousands of nodes
  }
  constexpr double many_steps = 25, very_many_steps = 1000, small_mu = 0.3, large_mu = 1.4;
  LossPointer split = compose_by_rare_losses(parts);
  const bool many_participations = sampled->steps >= 200 && sampled->participations >= 1;
  const double most_tail = sampled->largest_mu <= small_mu ? 2 : sampled->steps >= very_many_steps ? 8 : 4.5;
  if (many_participations || (sampled->steps >= many_steps && sampled->tail <= most_tail)) {
    const Speed speed = sampled->steps >= very_many_steps ? Speed::slow : Speed::quick;  // tenths of a second for a few more digits
    return {{std::move(straight)}, {std::move(split)}, {std::move(bent), speed}};
  }
  std::vector<EnginePath> paths{{std::move(split)}, {std::move(bent)}, {std::move(straight), Speed::slow}};
  if (sampled->largest_mu > small_mu && sampled->largest_mu < large_mu) std::swap(paths[0], paths[1]);
  return paths;
}

/// With many steps whose loss is drawn from a density the transform decays, and contours are quicker than powers of the density. With fewer
/// the contours need many nodes. This was measured.
std::vector<EnginePath> with_powers(const Parts& parts, LossPointer powers, std::vector<EnginePath> contours) {
  constexpr double many_steps = 32;
  const bool contours_first = continuous_steps(parts) >= many_steps;
  for (EnginePath& contour : contours)
    if (!contours_first) contour.speed = Speed::slow;
  contours.insert(contours_first ? contours.end() : contours.begin(), {std::move(powers)});
  return contours;
}

/// Few losses from densities beside atoms: the transform decays too slowly for the other contours, unless the bent one applies. The
/// limit is that of `with_powers`; it affects speed only.
void add_remainder(const Parts& parts, std::vector<EnginePath>& contours) {
  constexpr double many_losses = 32;
  const auto losses = losses_from_densities(parts);
  if (!losses || *losses >= many_losses) return;
  const bool bends = std::all_of(parts.begin(), parts.end(),
                                 [](const Part& part) { return part.loss->capabilities(Direction::remove).break_points != nullptr; });
  LossPointer remainder = bends ? nullptr : compose_by_remainder(parts);
  if (remainder == nullptr) return;
  for (EnginePath& contour : contours) contour.speed = Speed::slow;
  contours.insert(contours.begin(), {std::move(remainder)});
}

const ContourLoss* contours_of(const Composition* composition) {
  if (composition == nullptr || composition->contour == nullptr) return nullptr;
  return composition->contour->capabilities(Direction::remove).contours;
}

/// A list this short takes a few milliseconds (measured) and gives every corner of the curve.
bool is_quick(const ExactSize& exact) { return exact.fits && exact.way == ExactWay::list && exact.terms <= 5e5 && exact.atoms <= 2e4; }

/// Far out slow engines have nothing to add: Renyi divergences show that delta is below all doubles. [renyi-conversion]
std::function<std::optional<double>(Direction, double, AtMost)> far_bound_of(const Parts& parts) {
  return [sum = std::make_shared<const RenyiSum>(parts)](Direction direction, double epsilon, AtMost wanted) {
    return sum->log_delta_if_at_most(Negligible::log_of_doubles, direction, epsilon, wanted);
  };
}

/// One mechanism on a lattice, many times: tens of microseconds for any number of steps. Null for other parts.
LossPointer fold(const Parts& parts, const ExactSize& exact, Tolerance tolerance) {
  LossPointer folded = compose_by_folded_contour(parts);
  if (folded == nullptr || parts.front().times == 1) return nullptr;
  std::vector<EnginePath> paths{{std::move(folded)}};
  if (exact.way == ExactWay::list) paths.push_back({compose_exactly_when_asked(parts, tolerance), Speed::slow});
  paths.push_back({compose_by_lattice(parts, tolerance), Speed::slow});
  return fallback_chain(std::move(paths), [parts] { return tail_of(parts); }, tolerance, {.far_bound = far_bound_of(parts)});
}

/// A contour is as fast for losses whose transform decays or is known in closed form. The others have none, or one that decays slowly.
bool is_slow_to_invert(const Parts& parts) {
  return std::any_of(parts.begin(), parts.end(), [](const Part& part) {
    const Capabilities known = part.loss->capabilities(Direction::remove);
    const bool inverted = known.atoms != nullptr || known.gaussian_mu || known.transform != nullptr || known.break_points != nullptr;
    return !inverted || known.zcdp_rho;
  });
}

bool all_have_atoms(const Parts& parts) {
  return std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.loss->atoms(Direction::remove) != nullptr; });
}

/// Beside many runs of finite losses the transform of one run of a formula does not decay, or slowly, so that its profile is averaged over
/// the counts of all others first; a composition of several others, whose values take longer, before the lattice. A Gaussian decays fast.
/// [averaged-counts]
void add_counted_average(const Parts& parts, Tolerance tolerance, std::vector<EnginePath>& paths) {
  const auto is_beside = [](const Part& part) { return part.loss->atoms(Direction::remove) == nullptr; };
  const auto others = std::count_if(parts.begin(), parts.end(), is_beside);
  const auto first = std::find_if(parts.begin(), parts.end(), is_beside);
  if (parts.size() == 1 || (others == 1 && first->loss->gaussian_mu())) return;
  struct Once {
    std::once_flag made;
    LossPointer loss;
  };
  const auto compose_others = [tolerance, once = std::make_shared<Once>()](Parts beside) {  // both averages are of the same others
    std::call_once(once->made, [&] { once->loss = compose(std::move(beside), tolerance).loss; });
    return once->loss;
  };
  if (averages_a_formula(parts)) {
    paths.insert(paths.begin(), {compose_by_counted_average(parts, compose_others)});
    return;
  }
  paths.push_back({compose_by_counted_average(parts, compose_others, {.quick = true}), Speed::quick, false});
  if (others > 0) paths.push_back({compose_by_counted_average(parts, compose_others), Speed::slow});  // a list is as quick
}

/// Puts the sums over counts before the contours where they are as fast, after them where they take longer.
void add_counts(const Parts& parts, std::vector<EnginePath>& contours) {
  CountedComposition counted = compose_by_counts(parts);
  if (counted.loss == nullptr) return;
  contours.insert(counted.quick ? contours.begin() : contours.end(), {std::move(counted.loss)});
}

/// A longer list takes tens of milliseconds or more; then sums over counts, a contour and averages are tried first. The list answers where
/// they are not narrow, and gives the corners of the curve.
LossPointer long_list(const Parts& parts, const ExactSize& exact, Tolerance tolerance) {
  if (is_quick(exact)) return compose_exactly(parts, tolerance);
  std::vector<EnginePath> paths;
  if (exact.way == ExactWay::list) {
    if (LossPointer contour = compose_by_contour(parts, nullptr)) paths.push_back({std::move(contour)});
    add_counts(parts, paths);
  } else if (CountedComposition counted = compose_by_counts(parts); counted.quick) {
    paths.push_back({std::move(counted.loss)});
  }
  add_counted_average(parts, tolerance, paths);
  std::erase_if(paths, [](const EnginePath& path) { return path.loss == nullptr; });
  if (paths.empty()) return compose_exactly(parts, tolerance);
  paths.push_back({compose_exactly_when_asked(parts, tolerance), Speed::slow});
  return fallback_chain(std::move(paths), [parts] { return tail_of(parts); }, tolerance);
}

/// A loss that has another form for compositions is asked itself only if it stands alone. [lattice-pair]
Parts in_composed_form(Parts parts) {
  if (is_one_step(parts)) return parts;
  for (Part& part : parts)
    if (const ComposedForm* form = part.loss->capabilities(Direction::remove).composed_form) part.loss = form->composed_form();
  return parts;
}

}  // namespace

Parts merge_equal(Parts parts) {
  Parts merged;
  std::unordered_map<std::string, std::size_t> places;
  for (Part& part : parts) {
    if (part.times == 0) continue;
    const std::string key = part.loss->key();
    const auto place = key.empty() ? places.end() : places.find(key);
    if (place != places.end()) {
      merged[place->second].times += part.times;
      continue;
    }
    if (!key.empty()) places.emplace(key, merged.size());
    merged.push_back(std::move(part));
  }
  return merged;
}

// The cheapest method first: closed forms, short lists of atoms, a folded contour, longer lists, then contours, then the lattice, which
// accepts any loss.
Composition compose(Parts parts, Tolerance tolerance, const Composition* shorter) {
  parts = merge_equal(std::move(parts));
  const Parts all = parts;
  parts = merge_equal(in_composed_form(with_one_block(std::move(parts))));
  const ExactSize exact = parts.empty() ? ExactSize{} : exact_size(parts);
  if (!is_quick(exact))
    if (auto folded = fold(parts, exact, tolerance)) return {std::move(folded), all};
  if (exact.fits) return {long_list(parts, exact, tolerance), all};
  const Interval revealed = split_off_disclosure(parts);
  parts = merge_gaussians(std::move(parts));
  if (is_one_step(parts)) return {disclosure_loss(parts.front().loss, revealed), all};
  if (auto truncated = compose_by_truncated_contour(parts)) {
    constexpr Tolerance narrow{1e-2};  // a lattice of such parts is slow, and seldom narrower
    constexpr double far = 1e-30;
    std::vector<EnginePath> both{{std::move(truncated)}, {compose_by_lattice(parts, tolerance), Speed::slow}};
    return {disclosure_loss(fallback_chain(std::move(both), [parts] { return tail_of(parts); }, narrow, {.far = far}), revealed), all};
  }
  if (auto averaged = is_slow_to_invert(parts) ? compose_by_average(parts, tolerance) : nullptr) {
    std::vector<EnginePath> both{{std::move(averaged)}, {compose_by_lattice(parts, tolerance), Speed::slow}};
    LossPointer layered =
        fallback_chain(std::move(both), [parts] { return tail_of(parts); }, tolerance, {.gaussian_part = gaussian_part_of(parts)});
    return {disclosure_loss(std::move(layered), revealed), all};
  }
  const ApplicableContours chances = applicable_contours(parts);
  const LossPointer contour = chances.straight ? compose_by_contour(parts, contours_of(shorter)) : nullptr;
  std::vector<EnginePath> paths =
      contours_in_order(parts, contour, chances.bent ? compose_by_hyperbolic_contour(parts, tolerance) : nullptr);
  if (LossPointer cut = compose_by_cut_contour(parts)) {
    // What a contour of atoms alone leaves open without their rarest values, it does not settle with them.
    if (all_have_atoms(parts))
      for (EnginePath& path : paths) path.speed = Speed::slow;
    paths.insert(paths.begin(), {std::move(cut)});
  }
  if (LossPointer draws = compose_by_draws(parts)) paths.insert(paths.begin(), {std::move(draws)});
  add_remainder(parts, paths);
  if (LossPointer powers = compose_by_density_powers(parts)) paths = with_powers(parts, std::move(powers), std::move(paths));
  add_counts(parts, paths);
  add_counted_average(parts, tolerance, paths);
  paths.push_back({compose_by_cells(parts, tolerance), Speed::slow});
  paths.push_back({compose_by_lattice(parts, tolerance), Speed::slow});
  LossPointer layered = fallback_chain(std::move(paths), [parts] { return tail_of(parts); }, tolerance,
                                       {.gaussian_part = gaussian_part_of(parts), .far_bound = far_bound_of(parts)});
  return {disclosure_loss(std::move(layered), revealed), all, contour};
}

}  // namespace tradeoff::detail
