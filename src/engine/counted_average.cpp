// SPDX-License-Identifier: Apache-2.0
#include "engine/counted_average.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "engine/contour/line.h"
#include "engine/epsilon_search.h"
#include "engine/exact/counted.h"
#include "engine/exact/power.h"
#include "engine/fallback_chain.h"
#include "engine/moments/renyi_sum.h"
#include "loss/evaluation.h"
#include "loss/mirrored_delta.h"
#include "loss/negligible.h"
#include "loss/question_scope.h"
#include "loss/work.h"
#include "numeric/arithmetic.h"
#include "numeric/root.h"

// [averaged-counts]
namespace tradeoff::detail {
namespace {

constexpr std::size_t most_counts_listed = 60'000;   // counts; each takes a value of the profile, a microsecond if it is a formula
constexpr double most_expected = 1e5;                // before the least probable are left out
constexpr double most_expected_of_engine = 3e4;      // if a value may take tens of microseconds; most are trivial
constexpr double most_cells = 5e3;                   // of sums on a lattice: a convolution of tens of milliseconds
constexpr double small_share = 1e-11;                // what is left out may be this share of an answer
constexpr double most_doubt = 1e-5;                  // of a slow value: other engines know the average as well
constexpr double widest = 3e-9;                      // of a quick answer, relative: otherwise it is the last one
constexpr double quick_work = 6e4, most_work = 3e6;  // for one question, in the units of loss/work.h
constexpr double least_work = 20;                    // of a value: searches for its line are not counted elsewhere
constexpr double most_quick = 4e3;                   // sums
constexpr double slow_value = 3e4;                   // in the units of loss/work.h
constexpr double share_of_doubt = 1e-12;             // of an answer: the widths of terms that matter little, all together
constexpr double work_of_count = 1;                  // of the profile, in the units of loss/work.h
/// What is left out at most, about. An answer uses the first level that is small small_share for it.
constexpr std::array<double, 7> omitted_levels{1e-16, 1e-21, 1e-30, 1e-50, 1e-100, 1e-180, 1e-280};

constexpr std::size_t deepest = omitted_levels.size(), deepest_of_engine = 3;

/// One direction of the finite losses at one level.
struct ListedSide {
  struct One {
    exact::Wide loss;
    double mass;
  };
  std::vector<One> counts;
  double shift = 0;          // every exact loss is within this of the listed one
  double spread = 0;         // exact masses are within these factors e^(+-spread)
  double omitted = 0;        // the probability of what is not listed, under P
  double omitted_other = 0;  // and under Q
  Interval infinite = Interval::exactly(0);
  std::vector<One> bins;  // the same in few values, for searches
  // Right of the first the profile of the others is at most `omitted`, and left of minus the second its mirror is.
  double right = infinity, left = infinity;
};

/// The mean loss of each bin, with its mass.
std::vector<ListedSide::One> binned(const std::vector<ListedSide::One>& counts) {
  constexpr std::size_t bins = 64;
  const auto [low, high] = std::minmax_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.loss < b.loss; });
  const exact::Wide width = (high->loss - low->loss) / bins;
  std::vector<ListedSide::One> found(bins, {0, 0});
  for (const auto& [loss, mass] : counts) {
    const auto bin = width > 0 ? static_cast<std::size_t>((loss - low->loss) / width) : 0;
    ListedSide::One& one = found[std::min(bin, bins - 1)];
    one.loss += static_cast<exact::Wide>(mass) * loss;
    one.mass += mass;
  }
  std::erase_if(found, [](const ListedSide::One& one) { return !(one.mass > 0); });
  for (ListedSide::One& one : found) one.loss /= static_cast<exact::Wide>(one.mass);
  return found;
}

/// The finite losses of one direction: those with few counts, and those whose sums are listed cell by cell, because they are multiples of a
/// step and many counts have the same sum.
struct FiniteSide {
  struct OnLattice {
    Atoms atoms;
    std::uint64_t times;
  };
  CountedSide whole;
  exact::CountedParts counted;
  std::vector<OnLattice> on_lattice;
  double expected = 1;  // sums
  double left_out = 0;  // the probability that some run has a value that is left out
};

/// A law without values that are so improbable that all runs together hardly have one; adds the probability of these.
Atoms probable_values(const Atoms& all, std::uint64_t times, double rare, double& left_out) {
  if (all.infinite.hi > 0.5) return all;  // the finite values are rare themselves
  const double count = static_cast<double>(times), least = rare / (count * static_cast<double>(all.finite.size()));
  Atoms kept{{}, all.infinite, all.other_infinite, false, all.slack};
  for (const Atom& atom : all.finite)
    if (atom.mass.hi < least)
      left_out = numeric::up_by(left_out + 2 * count * atom.mass.hi, 4);  // of the finite ones, which are half at least
    else
      kept.finite.push_back(atom);
  return kept;
}

/// Empty if some law is not known well enough. What is left out is a small share of the level.
std::optional<FiniteSide> finite_side(const Parts& finite, Direction direction, double level) {
  constexpr double many_counts = 500, saved = 2, rare = 1e-4;
  FiniteSide side;
  std::vector<Atoms> laws;
  for (const Part& part : finite) {
    const Atoms* atoms = part.loss->atoms(direction);
    if (atoms == nullptr) return std::nullopt;
    laws.push_back(probable_values(*atoms, part.times, rare * level, side.left_out));
  }
  std::vector<FiniteRuns> runs;
  for (std::size_t i = 0; i < laws.size(); ++i) runs.push_back({&laws[i], finite[i].times});
  auto whole = counted_side(runs);
  if (!whole || whole->slack > 0) return std::nullopt;
  side.whole = *std::move(whole);
  for (std::size_t i = 0; i < laws.size(); ++i) {
    const double counts = exact::counts_listed({side.whole.parts[i]});
    const double cells = counts > many_counts ? exact::lattice_cells(laws[i], finite[i].times) : infinity;
    const bool is_shorter = saved * cells < counts && cells <= most_cells;
    if (is_shorter)
      side.on_lattice.push_back({std::move(laws[i]), finite[i].times});
    else
      side.counted.push_back(side.whole.parts[i]);
    side.expected *= is_shorter ? cells : counts;
  }
  return side;
}

/// The sums of both, without those that are less probable than `least`. False if there are too many.
bool combine(exact::CountList& list, const exact::Law& law, double least) {
  std::vector<exact::Counted> points;
  double omitted = 0;
  for (const exact::Counted& one : list.points)
    for (const exact::Point& other : law.points) {
      const double mass = one.mass * static_cast<double>(other.mass);
      if (mass < least)
        omitted += mass;
      else
        points.push_back({one.loss + static_cast<exact::Wide>(other.loss), mass});
      if (points.size() > most_counts_listed) return false;
    }
  list.points = std::move(points);
  list.spread += law.spread + 4 * unit_roundoff;
  list.omitted = (list.omitted + omitted + static_cast<double>(law.lost)) * (1 + 1e-6);
  return true;
}

std::optional<ListedSide> listed_side(const Parts& finite, Direction direction, double level) {
  const auto side = finite_side(finite, direction, level);
  if (!side) return std::nullopt;
  // Few of the counts that are left out are as probable as the least probable of those that are listed.
  const exact::CountAccuracy accuracy{1e-3 * level, 1e-4 * level};
  auto list = exact::list_counts(side->counted, accuracy, most_counts_listed);
  if (!list) return std::nullopt;
  double shift = side->whole.shift;
  for (const auto& [atoms, times] : side->on_lattice) {
    const auto law = exact::lattice_power(atoms, times, accuracy.mass);
    if (!law || !combine(*list, *law, accuracy.mass)) return std::nullopt;
    shift = numeric::up_by(shift + law->shift, 2);
  }
  // The listed probabilities are those of runs without the values that are left out.
  ListedSide listed{{}, shift, list->spread + 2 * side->left_out, list->omitted + 2 * side->left_out, 1, side->whole.infinite, {}};
  if (!(listed.spread < 0.1)) return std::nullopt;  // very many runs: their probabilities are not known
  Interval other = Interval::exactly(0);
  const Interval doubt = exp(Interval{-listed.spread, listed.spread}) * (1.0 - side->whole.infinite);
  for (const auto& [loss, mass] : list->points) {
    listed.counts.push_back({loss, mass});
    const auto near = static_cast<double>(loss);
    const double radius = shift + unit_roundoff * std::abs(near);
    other = other + Interval::exactly(mass) * doubt * exp(-Interval{numeric::add_down(near, -radius), numeric::add_up(near, radius)});
  }
  std::stable_sort(listed.counts.begin(), listed.counts.end(), [](const auto& a, const auto& b) { return a.mass > b.mass; });
  listed.omitted_other = std::clamp(numeric::next_up(1 - other.lo), 0.0, 1.0);
  listed.bins = binned(listed.counts);
  return listed;
}

/// What is averaged: a formula, or a composition that is made when it is first asked.
struct Beside {
  std::function<LossPointer()> compose;
  std::size_t levels;
  double coarse;
  double most_work;                               // for one question
  bool quick;                                     // only quick engines are asked for the others
  std::shared_ptr<const RenyiSum> divergences{};  // of the pairs that are averaged; null for formulas and stated divergences
};

class CountedAverage final : public Loss, public ClosedForms, public Evaluable {
 public:
  CountedAverage(const Parts& parts, Parts finite, Beside beside)
      : finite_(std::move(finite)),
        beside_(std::move(beside)),
        symmetric_(are_symmetric(parts)),
        infinite_{infinite_mass_of(parts, Direction::remove), infinite_mass_of(parts, Direction::add)},
        tail_(tail_of(parts)),
        laws_(citations_of_laws(parts)) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    record_average();
    return whole(direction, epsilon);
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    record_average();
    return log(whole(direction, epsilon));
  }
  [[nodiscard]] bool symmetric() const override { return symmetric_; }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override { return infinite_[direction == Direction::add ? 1 : 0]; }
  [[nodiscard]] Tail tail() const override { return tail_; }
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.closed_forms = this, .evaluable = this, .cost = Cost::engine};
  }
  /// [profile-inversion]
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override {
    if (!(delta.lo > infinite_mass(direction).hi)) return std::nullopt;
    const QuestionScope question;
    const auto guess = rough_epsilon(direction, delta.hi);
    constexpr double error_of_guess = 0.01;
    return guess ? epsilon_by_values(*this, direction, delta, *guess, error_of_guess) : epsilon_by_values(*this, direction, delta);
  }
  [[nodiscard]] std::optional<double> rough_delta(Direction direction, double epsilon) const override;
  [[nodiscard]] std::optional<Test> test_at(Direction direction, double epsilon) const override;
  void cite() const override { record(laws_); }
  void evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const override;

 private:
  struct Started {
    std::array<std::size_t, 2> level{};
    double spent = 0;      // on the others, by this question
    double roughly = 0;    // the same for approximations
    bool gave_up = false;  // they take too long, or are not known well
  };
  struct Average {
    Interval delta{0, 1};
    std::shared_ptr<const ListedSide> side{};
  };
  void record_average() const {
    static const Citation citation("averaged-counts", "a profile averaged over how often each of the other losses occurs", Method::exact);
    record(laws_);
    record(citation);
  }
  /// delta, also at the ends of the line.
  [[nodiscard]] Interval whole(Direction direction, Interval epsilon) const {
    if (epsilon.lo == infinity) return infinite_mass(direction);
    if (epsilon.hi == -infinity) return Interval::exactly(1);
    if (std::isfinite(epsilon.lo) && std::isfinite(epsilon.hi)) return clamp(average(direction, epsilon).delta, 0, 1);
    return {epsilon.hi == infinity ? infinite_mass(direction).lo : whole(direction, Interval::exactly(epsilon.hi)).lo,
            epsilon.lo == -infinity ? 1 : whole(direction, Interval::exactly(epsilon.lo)).hi};
  }
  /// Null if there are too many counts at this level.
  [[nodiscard]] std::shared_ptr<const ListedSide> side(Direction direction, std::size_t level) const;
  [[nodiscard]] Average average(Direction direction, Interval epsilon) const;
  [[nodiscard]] double reach(Direction direction, double negligible) const;
  [[nodiscard]] Interval profile(const ListedSide& side, Direction direction, Interval epsilon) const;
  [[nodiscard]] std::optional<double> rough_epsilon(Direction direction, double delta) const;
  [[nodiscard]] std::optional<Interval> sum(const ListedSide& side, Direction direction, Interval epsilon) const;

  /// The composition of all parts that are not finite.
  [[nodiscard]] const Loss& other() const {
    std::call_once(composed_, [this] { other_ = beside_.compose(); });
    return *other_;
  }

  Parts finite_;
  Beside beside_;
  mutable std::once_flag composed_;
  mutable LossPointer other_;
  bool symmetric_;
  std::array<Interval, 2> infinite_;
  Tail tail_;
  Citations laws_;
  struct Kept {
    bool known = false;
    std::shared_ptr<const ListedSide> side{};
  };
  std::uint64_t number_ = QuestionScope::new_owner();
  mutable std::mutex lock_;
  mutable std::array<std::array<Kept, omitted_levels.size()>, 2> sides_;
};

std::shared_ptr<const ListedSide> CountedAverage::side(Direction direction, std::size_t level) const {
  const std::lock_guard guard(lock_);
  Kept& kept = sides_[direction == Direction::add ? 1 : 0][level];
  if (!kept.known) {
    kept.known = true;
    if (auto made = listed_side(finite_, direction, beside_.coarse * omitted_levels[level])) {
      made->right = reach(direction, made->omitted);
      made->left = reach(opposite(direction), made->omitted);
      kept.side = std::make_shared<const ListedSide>(*std::move(made));
    }
  }
  return kept.side;
}

/// An epsilon from which on the profile of the others is at most this; it falls. Divergences are quicker than values far out.
double CountedAverage::reach(Direction direction, double negligible) const {
  constexpr double first = 1e-3, furthest = 1e4, step = 1.25;
  const Unrecorded inside;
  const QuestionScope question;
  const double wanted = log(Interval::exactly(negligible)).lo;
  for (double epsilon = first; beside_.divergences != nullptr && wanted < 0 && epsilon < furthest; epsilon *= step)
    if (beside_.divergences->log_delta_if_at_most(wanted, direction, epsilon, AtMost::first)) return epsilon;
  const Negligible small(negligible);
  double found = infinity;  // from far out: nearer values take longer
  for (double epsilon = furthest; epsilon > first && other().delta(direction, Interval::exactly(epsilon)).hi <= negligible; epsilon /= 2)
    found = epsilon;
  return found;
}

/// The profile of the others; far out only what bounds it.
Interval CountedAverage::profile(const ListedSide& side, Direction direction, Interval epsilon) const {
  if (epsilon.lo >= side.right) return {0, side.omitted};
  if (epsilon.hi <= -side.left) return mirrored_delta(epsilon, Interval{0, side.omitted});  // [two-directions]
  return other().delta(direction, epsilon);
}

/// epsilon less an exact loss near the listed one.
Interval beyond(Interval epsilon, exact::Wide loss, double shift) {
  const auto low = static_cast<double>(static_cast<exact::Wide>(epsilon.lo) - loss),
             high = static_cast<double>(static_cast<exact::Wide>(epsilon.hi) - loss);
  // the difference in long double is rounded less than its conversion
  const double radius = shift + 3 * unit_roundoff * std::max(std::abs(low), std::abs(high));
  return {numeric::add_down(low, -radius), numeric::add_up(high, radius)};
}

/// Where the profile of the others need not be asked, because it falls: where it is next to 0 and where it is next to 1.
struct Trivial {
  double right;                             // from here on it is at most what is omitted
  double left = -infinity, left_value = 0;  // up to here it is at least this

  [[nodiscard]] std::optional<Interval> value(Interval there, double omitted) const {
    if (there.lo >= right) return Interval{0, omitted};
    return there.hi <= left ? std::optional(Interval{left_value, 1}) : std::nullopt;
  }
  void learn(Interval there, Interval value, double omitted) {
    constexpr double next_to_one = 1 - 1e-14;
    if (value.hi <= omitted) right = std::min(right, there.lo);
    if (value.lo >= next_to_one && there.hi > left) {
      left = there.hi;
      left_value = value.lo;
    }
  }
};

/// All terms are positive, and the profile lies in [0, 1]. The likeliest counts come first: later terms need not be narrower than their
/// share of what is known already. Empty if it takes too long.
std::optional<Interval> CountedAverage::sum(const ListedSide& side, Direction direction, Interval epsilon) const {
  const Unrecorded inside;
  const auto count = static_cast<double>(side.counts.size());
  double& spent = QuestionScope::state_of<Started>(number_).spent;
  Work::count(work_of_count * count);
  std::uint64_t before = Work::now();
  double least = 0, most = 0;
  Trivial trivial{side.right};
  for (const auto& [loss, mass] : side.counts) {
    const double allowed = std::max(side.omitted, share_of_doubt * least / (count * mass));
    const Negligible small(allowed);
    const Interval there = beyond(epsilon, loss, side.shift);
    const QuickEnginesOnly quick(beside_.quick);
    const auto known = trivial.value(there, side.omitted);
    const Interval value = known ? *known : profile(side, direction, there);
    trivial.learn(there, value, side.omitted);
    least += mass * value.lo;
    most += mass * value.hi;
    const double work = Work::since(before);
    before = Work::now();
    spent += known ? 0 : std::max(work, least_work);
    if (spent > beside_.most_work) return std::nullopt;
    if ((work > slow_value || beside_.quick) && value.width() > std::max(allowed, most_doubt * value.hi)) return std::nullopt;
  }
  const Interval doubt =
      exp(Interval{-side.spread, side.spread}) * Interval{1 - 2 * (count + 4) * unit_roundoff, 1 + 2 * (count + 4) * unit_roundoff};
  constexpr double underflow = 1e-300;
  const Interval listed = Interval{std::max(0.0, least - underflow), most + underflow} * doubt;
  return side.infinite + (1.0 - side.infinite) * Interval{listed.lo, numeric::add_up(listed.hi, side.omitted)};
}

/// A search asks for similar answers: it starts at the level of the last one.
CountedAverage::Average CountedAverage::average(Direction direction, Interval epsilon) const {
  const QuestionScope question;
  auto& started = QuestionScope::state_of<Started>(number_);
  std::size_t& start = started.level[direction == Direction::add ? 1 : 0];
  Average best;
  if (started.gave_up) return best;
  for (std::size_t level = start; level < beside_.levels; ++level) {
    const auto listed = side(direction, level);
    if (listed == nullptr) break;
    start = level;
    const auto found = sum(*listed, direction, epsilon);
    started.gave_up = !found.has_value();
    if (started.gave_up) break;
    best = {intersect(best.delta, *found), listed};
    started.gave_up = best.delta.width() > (beside_.quick ? widest : 1) * best.delta.hi && listed->omitted <= small_share * best.delta.lo;
    if (listed->omitted <= beside_.coarse * small_share * best.delta.lo || best.delta.hi <= Negligible::delta()) break;
    while (level + 2 < beside_.levels && omitted_levels[level + 1] > small_share * best.delta.lo) ++level;
  }
  return best;
}

/// A search asks for one epsilon many times, and the bins have two or three digits.
std::optional<double> CountedAverage::rough_delta(Direction direction, double epsilon) const {
  const QuestionScope question;
  auto& started = QuestionScope::state_of<Started>(number_);
  if (started.gave_up || started.roughly > quick_work) return std::nullopt;
  const auto listed = side(direction, 0);
  if (listed == nullptr || !std::isfinite(epsilon)) return std::nullopt;
  const Unrecorded steering;
  const QuickEnginesOnly quick(true);
  constexpr double rough = 1e-4;
  double sum = listed->infinite.hi;
  for (auto bin = listed->bins.rbegin(); bin != listed->bins.rend(); ++bin) {  // the largest losses first
    const std::uint64_t begin = Work::now();
    const Negligible small(std::max(listed->omitted, rough * sum / bin->mass));
    sum += bin->mass * profile(*listed, direction, Interval::exactly(epsilon - static_cast<double>(bin->loss))).hi;
    started.roughly += Work::since(begin);
    if (started.roughly > quick_work) return std::nullopt;
  }
  Work::count(work_of_count * static_cast<double>(listed->bins.size()));
  return std::min(sum, 1.0);
}

/// An epsilon at which delta is about this; empty if there is none that is positive.
std::optional<double> CountedAverage::rough_epsilon(Direction direction, double delta) const {
  constexpr double first = 1e-4, furthest = 1e6;
  const auto is_smaller = [&](double epsilon) { return rough_delta(direction, epsilon).value_or(0) <= delta; };
  double high = first;
  while (high < furthest && !is_smaller(high)) high *= 4;
  if (high == first || !(high < furthest)) return std::nullopt;
  return numeric::bisect(is_smaller, {high / 4, high}, 12).beyond;
}

/// Under Q the mass of a loss has the factor e^-loss.
std::optional<Loss::Test> CountedAverage::test_at(Direction direction, double epsilon) const {
  if (!std::isfinite(epsilon)) return std::nullopt;
  const QuestionScope question;
  const auto listed = side(direction, 0);
  if (listed == nullptr) return std::nullopt;
  const Unrecorded inside;
  Interval accused = Interval::exactly(0), detected = Interval::exactly(0);
  const Interval at = Interval::exactly(epsilon), zero = Interval::exactly(0);
  for (const auto& [loss, mass] : listed->counts) {
    const Interval there = beyond(at, loss, listed->shift);
    const auto low = other().test_at(direction, there.lo), high = other().test_at(direction, there.hi);
    if (!low || !high) return std::nullopt;
    const Interval weight = Interval::exactly(mass);
    detected = detected + weight * Interval{high->true_positive.lo, low->true_positive.hi};
    accused = accused + weight * exp(-beyond(zero, -loss, listed->shift)) * Interval{high->false_positive.lo, low->false_positive.hi};
  }
  Work::count(2 * work_of_count * static_cast<double>(listed->counts.size()));
  const Interval doubt = exp(Interval{-listed->spread, listed->spread}) * (1.0 - listed->infinite);
  const Test found{clamp(accused * doubt + Interval{0, listed->omitted_other}, 0, 1),
                   clamp(listed->infinite + detected * doubt + Interval{0, listed->omitted}, 0, 1)};
  return found;
}

void CountedAverage::evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const {
  Evaluation one = whole_evaluation(*this, direction, epsilon);
  record_average();
  if (const auto listed = average(direction, Interval::exactly(epsilon)).side) one.counts = {{"counts", listed->counts.size()}};
  found.push_back(balanced(std::move(one), "counts"));
}

}  // namespace

namespace {

/// The parts whose sums are listed, and the others: among these are finite laws with too many sums.
struct Partition {
  Parts listed, others;
  double expected = 1;  // sums
  [[nodiscard]] bool averages_a_formula() const { return is_one_step(others) && others.front().loss->cost() == Cost::formula; }
};

/// The number of sums of a part, in the direction that has more; infinite if it has no finite law.
double sums_of(const Part& part) {
  double most = 1;
  for (const Direction direction : {Direction::remove, Direction::add}) {
    const auto side = finite_side({part}, direction, omitted_levels.front());
    most = std::max(most, side ? side->expected : infinity);
  }
  return most;
}

/// Without one, a lattice answers for the part alone, and then for the whole plan in the same time.
bool has_contour(const Part& part) {
  ContourPlan remove, add;
  return collect({part}, Direction::remove, remove) && collect({part}, Direction::add, add);
}

/// The finite laws with the fewest sums, as many as may be listed together.
Partition partition_of(const Parts& parts) {
  Partition found;
  std::vector<std::pair<double, Part>> finite;
  for (const Part& part : parts)
    if (part.loss->atoms(Direction::remove) != nullptr && part.loss->atoms(Direction::add) != nullptr)
      finite.emplace_back(sums_of(part), part);
    else
      found.others.push_back(part);
  std::stable_sort(finite.begin(), finite.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const double most = found.averages_a_formula() ? most_expected : most_expected_of_engine;
  for (std::size_t i = 0; i < finite.size(); ++i) {
    const bool last = i + 1 == finite.size() && found.others.empty();
    const bool is_listed = found.expected * finite[i].first <= most && !last;
    if (is_listed) found.expected *= finite[i].first;
    if (!is_listed && !has_contour(finite[i].second)) return {};
    (is_listed ? found.listed : found.others).push_back(std::move(finite[i].second));
  }
  return found;
}

}  // namespace

LossPointer compose_by_counted_average(const Parts& parts, const std::function<LossPointer(Parts)>& compose_others,
                                       const CountedAverageAccuracy& accuracy) {
  const Partition split = partition_of(parts);
  const double work = std::min(accuracy.most_work, accuracy.quick ? quick_work : most_work);
  if (split.listed.empty() || split.others.empty() || (accuracy.quick && split.expected > most_quick)) return nullptr;
  if (split.averages_a_formula()) {
    const auto only = split.others.front().loss;
    return std::make_shared<const CountedAverage>(parts, split.listed,
                                                  Beside{[only] { return only; }, deepest, accuracy.coarse, work, accuracy.quick});
  }
  const bool stated = std::any_of(split.others.begin(), split.others.end(),
                                  [](const Part& part) { return part.loss->capabilities(Direction::remove).renyi_bound != nullptr; });
  return std::make_shared<const CountedAverage>(
      parts, split.listed,
      Beside{[compose_others, others = split.others] { return compose_others(others); }, deepest_of_engine, accuracy.coarse, work,
             accuracy.quick, stated ? nullptr : std::make_shared<const RenyiSum>(split.others)});
}

bool averages_a_formula(const Parts& parts) { return partition_of(parts).averages_a_formula(); }

}  // namespace tradeoff::detail
