// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "loss/mirrored_delta.h"
#include "mechanism/finite.h"
#include "numeric/arithmetic.h"
#include "numeric/plain_text.h"
#include "operators/best_of_bound.h"
#include "operators/best_of_witness.h"
#include "operators/drawn_gaussian.h"
#include "operators/mixture.h"
#include "operators/runs_law.h"
#include "operators/words.h"
#include "plan/arguments.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

using LawPointer = std::shared_ptr<const RunsLaw>;

/// So many runs are shown with this probability, or fewer.
struct ShownRuns {
  LossPointer all;
  double probability;  // an upper bound
};

/// Revealing every run instead of the best: numbers of runs are grouped, and each group counts as its largest number.
struct Baseline {
  std::vector<ShownRuns> groups;
  double rest = 1;  // probability of more runs than the last group has
};

// [best-of-runs] Selecting is post-processing of all runs and their number.
Baseline shown_runs(const RunsLaw& law, const std::function<LossPointer(std::uint64_t)>& runs) {
  constexpr std::uint64_t most_shown = 256;
  constexpr double little = 1e-4;  // beyond it the rest decides, and this bound is not needed for large numbers of runs
  Baseline found;
  if (law.phi(Interval::exactly(0)).hi == 0 && law.most() > 0 && law.probability(law.most()).lo == 1)
    return {{{runs(law.most()), 1}}, 0};  // always the same number
  if (law.mean().lo > static_cast<double>(most_shown) / 2) return found;
  Interval below = law.probability(0);
  std::uint64_t from = 1;
  for (std::uint64_t to = 1; to <= most_shown; to = std::max(to + 1, to + to / 2)) {
    const std::uint64_t end = law.most() > 0 ? std::min(to, law.most()) : to;
    Interval inside = Interval::exactly(0);
    for (std::uint64_t k = from; k <= end; ++k) inside = inside + law.probability(k);
    if (inside.hi > 0) found.groups.push_back({runs(end), inside.hi});
    below = below + inside;
    from = end + 1;
    found.rest = end == law.most() ? 0 : std::clamp((1.0 - below).hi, 0.0, 1.0);
    if (found.rest <= little) break;
  }
  return found;
}

/// delta of revealing all runs, or anything above `enough`.
double shown_delta(const Baseline& baseline, Direction direction, double epsilon, double enough) {
  double sum = baseline.rest;
  for (auto group = baseline.groups.rbegin(); group != baseline.groups.rend() && sum < enough; ++group)
    sum = numeric::add_up(sum, numeric::multiply_up(group->probability, group->all->delta(direction, Interval::exactly(epsilon)).hi));
  return sum;
}

Citation citation_of(const RunsLaw& law) {
  numeric::PlainText text;
  text << "only the run with the best score is shown; the number of runs is " << law.words() << " (mean " << law.mean().hi
       << "), public and independent of the data";
  return {"best-of-runs", text.str()};
}

/// The corners of the lower hull of a profile, in x = e^epsilon.
struct ProfilePoint {
  double epsilon;  // minus infinity for x = 0
  Interval x;
  double delta;
};

std::vector<ProfilePoint> lower_hull(std::vector<ProfilePoint> points) {
  std::sort(points.begin(), points.end(), [](const ProfilePoint& a, const ProfilePoint& b) { return a.epsilon < b.epsilon; });
  std::vector<ProfilePoint> kept;
  const auto slope = [](const ProfilePoint& from, const ProfilePoint& to) {
    return (Interval::exactly(to.delta) - from.delta) / (to.x - from.x);
  };
  for (const ProfilePoint& point : points) {
    if (!kept.empty() && !(point.delta < kept.back().delta)) continue;
    while (kept.size() >= 2 && !(slope(kept[kept.size() - 2], kept.back()).hi < slope(kept.back(), point).lo)) kept.pop_back();
    kept.push_back(point);
  }
  return kept;
}

/// The pair whose profile is linear in e^epsilon between these corners, from (0, 1) on, and constant beyond the last: minus the slope is
/// Q(L > epsilon).
Atoms atoms_of_hull(const std::vector<ProfilePoint>& corners) {
  std::vector<Atom> finite;
  Interval steeper = Interval::exactly(0);  // slopes are negative; from the right
  Interval first = Interval::exactly(0);
  for (std::size_t i = corners.size(); i-- > 1;) {
    const Interval slope = (Interval::exactly(corners[i].delta) - corners[i - 1].delta) / (corners[i].x - corners[i - 1].x);
    finite.push_back({Interval::exactly(corners[i].epsilon), clamp((steeper - slope) * corners[i].x, 0, 1)});
    steeper = first = slope;
  }
  const double last = corners.back().delta;
  return make_atoms(std::move(finite), Interval::exactly(last), clamp(1.0 + first, 0, 1), false);
}

// [best-of-runs] The upper bound, point by point.
class BestOfAbove final : public Loss, public StandIn {
 public:
  BestOfAbove(LossPointer base, LawPointer law, Baseline baseline)
      : base_(std::move(base)), law_(std::move(law)), baseline_(std::move(baseline)), citation_(citation_of(*law_)) {
    basis_ = citations_of([&] {
      remove_.emplace(*base_, Direction::remove, *law_);
      if (!base_->symmetric()) add_.emplace(*base_, Direction::add, *law_);
    });
  }

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    record(basis_);
    record(citation_);
    const double high = at(direction, epsilon.lo), low = epsilon.hi == epsilon.lo ? high : at(direction, epsilon.hi);
    const Interval found{std::min(low, high), high};
    // The profile is convex, so it lies below the hull of the bound as well. With a slow base the hull takes seconds.
    return high > 0 && base_->cost() == Cost::formula ? min(found, pair()->delta(direction, epsilon)) : found;
  }
  [[nodiscard]] bool symmetric() const override { return base_->symmetric(); }
  /// An outcome of infinite loss is among the runs with probability 1 - phi(1 - its probability).
  [[nodiscard]] Interval infinite_mass(Direction direction) const override {
    const double one_run = base_->infinite_mass(direction).hi;
    if (one_run == 0) return Interval::exactly(0);
    const double none = law_->phi(Interval::exactly(std::clamp(numeric::add_down(1, -one_run), 0.0, 1.0))).lo;
    return {0, std::min((1.0 - Interval::exactly(none)).hi, numeric::multiply_up(law_->mean().hi, one_run))};
  }
  [[nodiscard]] Tail tail() const override {
    const LargestLoss one = base_->tail().largest;
    const auto of = [&](double largest, Direction direction) {
      if (!(largest < infinity)) return largest;
      const double all = law_->most() > 0 ? (Interval::exactly(law_->most()) * largest).hi : infinity;
      return std::min(all, numeric::add_up(largest, bound(direction).excess()));
    };
    const LargestLoss largest{{0, of(one.remove.hi, Direction::remove)}, {0, of(one.add.hi, Direction::add)}};
    return largest.worse().hi < infinity ? pure_tail(largest) : Tail{};
  }
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.stand_in = this, .cost = std::max(base_->cost(), Cost::engine), .is_pair = false};
  }
  void cite() const override {
    base_->cite();
    record(citation_);
  }
  /// The hull of values at many points; between them the chords lie above every convex profile. Each direction has its own values.
  [[nodiscard]] LossPointer pair() const override {
    std::call_once(pair_made_, [this] { pair_ = make_pair(); });
    return pair_;
  }

 private:
  [[nodiscard]] const SelectionBound& bound(Direction direction) const { return direction == Direction::add && add_ ? *add_ : *remove_; }

  [[nodiscard]] double at(Direction direction, double epsilon) const {
    ReadProfile profile(*base_, direction);
    if (epsilon == infinity) return infinite_mass(direction).hi;
    if (epsilon == -infinity) return 1;
    if (epsilon >= 0) return value(direction, epsilon, profile);
    ReadProfile other(*base_, opposite(direction));
    return mirrored_delta(epsilon, Interval::exactly(value(opposite(direction), -epsilon, other))).hi;
  }
  [[nodiscard]] double value(Direction direction, double epsilon, ReadProfile& profile) const {
    const double selected = bound(direction).delta(epsilon, profile);
    return std::min(selected, shown_delta(baseline_, direction, epsilon, selected));
  }

  [[nodiscard]] LossPointer make_pair() const {
    const Unrecorded in_advance;
    const bool slow = base_->cost() != Cost::formula;
    std::vector<ProfilePoint> points{{-infinity, Interval::exactly(0), 1}};
    for (const Direction direction : {Direction::remove, Direction::add}) {
      ReadProfile profile(*base_, direction);
      if (slow) profile.tabulate(1.0 / 32);
      const Tail known = tail();
      const double end = direction == Direction::add ? known.largest.add.hi : known.largest.remove.hi;
      double before = 2;
      const auto take = [&](double epsilon) {
        const double here = epsilon == end ? 0 : std::min(value(direction, epsilon, profile), before);
        before = here;
        if (direction == Direction::remove) points.push_back({epsilon, exp(Interval::exactly(epsilon)), here});
        if (direction == Direction::add && epsilon > 0)
          points.push_back({-epsilon, exp(Interval::exactly(-epsilon)), mirrored_delta(-epsilon, Interval::exactly(here)).hi});
      };
      const double step = slow ? 1.0 / 32 : 1.0 / 64;
      for (double epsilon = 0; epsilon < std::min(end, 200.0); epsilon += step * (1 + epsilon / 4)) {
        take(epsilon);
        if (before < 1e-30) break;
      }
      if (end < 200) take(end);
    }
    Citations origin = citations_of([this] { cite(); });
    origin.emplace_back("best-of-runs", "in a composition: the pair whose profile is the hull of the bound at many points");
    return finite_loss(atoms_of_hull(lower_hull(std::move(points))), {}, std::move(origin));
  }

  LossPointer base_;
  LawPointer law_;
  Baseline baseline_;
  Citation citation_;
  Citations basis_;
  std::optional<SelectionBound> remove_, add_;  // one of them serves both directions of a symmetric base
  mutable std::once_flag pair_made_;
  mutable LossPointer pair_;
};

// [best-of-runs] The lower bound: explicit orders of the outcomes of the base, and a single run.
class BestOfBelow final : public Loss, public StandIn {
 public:
  BestOfBelow(LossPointer base, LawPointer law)
      : base_(std::move(base)),
        law_(std::move(law)),
        some_run_(clamp(1.0 - law_->phi(Interval::exactly(0)), 0, 1)),
        citation_(citation_of(*law_)) {
    basis_ = citations_of([&] {
      const LevelSets levels = level_sets(*base_, Direction::remove);
      if (levels.sets.empty()) return;
      remove_.emplace(levels, *law_);
      if (!base_->symmetric()) add_.emplace(level_sets(*base_, Direction::add), *law_);
      rising_ = best_of_rising_losses(levels.sets, *law_);
    });
  }

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    record(basis_);
    record(citation_);
    const auto ends = [&](double e) {
      const Interval point = Interval::exactly(e);
      Interval found = some_run_ * base_->delta(direction, point);
      if (e < 0) found = found + (1.0 - some_run_) * max(-expm1(point), Interval::exactly(0));
      if (remove_) found = max(found, by_orders(direction, e));
      return clamp(found, 0, 1);
    };
    const Interval low = ends(epsilon.hi);
    return {low.lo, epsilon.lo == epsilon.hi ? low.hi : ends(epsilon.lo).hi};
  }
  [[nodiscard]] bool symmetric() const override { return base_->symmetric(); }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override { return delta(direction, Interval::exactly(infinity)); }
  [[nodiscard]] Tail tail() const override { return {}; }
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.stand_in = this, .cost = std::max(base_->cost(), Cost::engine), .is_pair = false};
  }
  void cite() const override {
    base_->cite();
    record(citation_);
  }
  /// One order for all epsilons: a pair below each of several orders would not be below any one of them.
  [[nodiscard]] LossPointer pair() const override {
    Citations origin = citations_of([this] { cite(); });
    origin.emplace_back("best-of-runs", "in a composition, from below: outcomes of larger loss score higher");
    if (rising_) return finite_loss(*rising_, {}, std::move(origin));
    if (some_run_.lo == 1) return base_;
    return mixture_loss({{some_run_, base_}, {clamp(1.0 - some_run_, 0, 1), nothing_seen()}});
  }

 private:
  [[nodiscard]] Interval by_orders(Direction direction, double epsilon) const {
    const auto value = [&](Direction which, double at) {
      return Interval::exactly((which == Direction::add && add_ ? *add_ : *remove_).delta(at));
    };
    if (epsilon >= 0) return value(direction, epsilon);
    if (epsilon == -infinity) return Interval::exactly(1);
    return mirrored_delta(epsilon, value(opposite(direction), -epsilon));
  }

  LossPointer base_;
  LawPointer law_;
  Interval some_run_;  // Pr(N >= 1)
  Citation citation_;
  Citations basis_;
  std::optional<OrderWitness> remove_, add_;  // one of them serves both directions of a symmetric base
  std::optional<Atoms> rising_;
};

LossPointer select_best_of(const Arguments& arguments, const std::function<LossPointer(std::uint64_t)>& runs, const WordContext& context) {
  const LawPointer law = law_of(arguments, "runs");
  const LossPointer base = runs(1);
  if (law->is_single()) return base;
  return context.bracket([&] { return std::make_shared<BestOfAbove>(base, law, shown_runs(*law, runs)); },
                         {[&] { return std::make_shared<BestOfBelow>(base, law); }});
}

std::string promise_of_best_of(const Arguments& arguments) {
  numeric::PlainText text;
  const LawPointer law = law_of(arguments, "runs");
  text
      << "In `best_of`, the number of runs is " << law->words() << ", with mean " << law->mean().hi
      << "; it is drawn independently of the data and never shown, nor can it be told from running times or log files. Every run draws its "
         "settings afresh from one fixed public law (a grid that is walked once does not), and the plan covers every setting. Noise, "
         "samples and batches are fresh in every run. The score of a run is computed from its output alone, or its cost is part of the "
         "plan. No run is stopped early; a failed run counts as a run with the worst score and is not repeated. Only the output of the "
         "best run is shown.";
  return text.str();
}

}  // namespace

Word best_of_word() {
  return {.role = Role::operation,
          .name = "best_of",
          .meaning = "run a random number of times, show the run with the best score only",
          .parameters = {{"runs", Kind::law_word, "law of the number of runs"}},
          .synonyms = {{"repeat_and_select"}, {"select"}, {"tune"}, {"random_search"}, {"grid_search", grid_is_not_random}},
          .promise = promise_of_best_of,
          .select = select_best_of};
}

}  // namespace tradeoff::detail
