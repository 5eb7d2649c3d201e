// SPDX-License-Identifier: Apache-2.0
#include "operators/best_of_witness.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "numeric/arithmetic.h"

namespace tradeoff::detail {
namespace {

/// A probability of an event of the best of N runs: at least `with` if the record is there, at most `without` if it is not.
struct SelectedEvent {
  double without;
  double with;
};

std::vector<LevelSet> sets_of_atoms(const Atoms& atoms) {
  std::vector<LevelSet> sets{{atoms.infinite, Interval::exactly(0)}};
  for (const Atom& atom : atoms.finite) {
    const LevelSet& last = sets.back();
    sets.push_back({clamp(last.with_record + atom.mass, 0, 1), clamp(last.without_record + atom.mass * exp(-atom.loss), 0, 1)});
  }
  return sets;
}

/// The tests {L > e} that are read from a loss, refined where they matter for an order.
class TestReader {
 public:
  TestReader(const Loss& base, Direction direction) : base_(base), direction_(direction) {
    const bool slow = base.cost() != Cost::formula;
    most_ = slow ? 360 : 1200;
    jump_ = slow ? 0.01 : 0.003;
    factor_ = slow ? 1.2 : 1.1;
  }

  /// Thresholds at which neither probability jumps by much, and small probabilities fall by less than a factor.
  [[nodiscard]] std::vector<LevelSet> read() {
    if (!take(0)) return {};
    reach_out(1);
    reach_out(-1);
    for (bool more = true; more && found_.size() < most_;) {
      const std::vector<double> next = gaps();
      more = !next.empty();
      for (const double epsilon : next)
        if (found_.size() < most_) take(epsilon);
    }
    std::vector<LevelSet> sets;
    for (const auto& [epsilon, set] : found_) sets.push_back(set);
    return sets;
  }

 private:
  static constexpr double smallest = 1e-20;

  bool take(double epsilon) {
    const auto test = base_.test_at(direction_, epsilon);
    if (test) found_.emplace(epsilon, LevelSet{clamp(test->true_positive, 0, 1), clamp(test->false_positive, 0, 1)});
    return test.has_value();
  }
  /// Doubles epsilon until hardly anything is left beyond it.
  void reach_out(double sign) {
    for (double epsilon = 0.5; epsilon <= 512 && take(sign * epsilon); epsilon *= 2) {
      const LevelSet& set = sign > 0 ? found_.begin()->second : std::prev(found_.end())->second;
      if (sign > 0 ? set.with_record.hi < smallest : set.without_record.lo > 1 - 1e-12) break;
    }
  }
  [[nodiscard]] std::vector<double> gaps() const {
    std::vector<double> next;
    for (auto high = found_.begin(), low = std::next(high); low != found_.end(); ++high, ++low) {
      const LevelSet &few = high->second, &many = low->second;
      const double step = many.with_record.lo - few.with_record.hi, other = many.without_record.lo - few.without_record.hi;
      const bool rare = many.with_record.lo > smallest && many.with_record.lo > factor_ * few.with_record.hi;
      if ((step > jump_ || other > jump_ || rare) && high->first - low->first > 1e-6) next.push_back((high->first + low->first) / 2);
    }
    return next;
  }

  const Loss& base_;
  Direction direction_;
  std::size_t most_;
  double jump_, factor_;  // between two sets, absolute and relative
  std::map<double, LevelSet, std::greater<>> found_;
};

/// The corners of the least concave curve above the events, from (0, 0) to (1, 1). A corner is kept only if it certainly is one.
std::vector<SelectedEvent> concave_hull(std::vector<SelectedEvent> events) {
  constexpr double least = 1e-290;  // the ratio of smaller probabilities may overflow; a larger one without the record is a weaker event
  std::erase_if(events, [](const SelectedEvent& event) { return event.with < least; });
  for (SelectedEvent& event : events)
    if (event.without > 0) event.without = std::max(event.without, least);
  events.push_back({1, 1});
  std::sort(events.begin(), events.end(), [](const SelectedEvent& a, const SelectedEvent& b) {
    return a.without != b.without ? a.without < b.without : a.with > b.with;
  });
  std::vector<SelectedEvent> kept{{0, 0}};
  const auto slope = [](const SelectedEvent& from, const SelectedEvent& to) {
    return (Interval::exactly(to.with) - from.with) / (Interval::exactly(to.without) - from.without);
  };
  for (const SelectedEvent& event : events) {
    if (!(event.with > kept.back().with)) continue;
    if (event.without == kept.back().without) {
      kept.push_back(event);  // only at without = 0, where the first event is
      continue;
    }
    while (kept.size() >= 2 && kept[kept.size() - 2].without < kept.back().without &&
           !(slope(kept[kept.size() - 2], kept.back()).lo > slope(kept.back(), event).hi))
      kept.pop_back();
    kept.push_back(event);
  }
  if (kept.back().without < 1) kept.push_back({1, 1});
  return kept;
}

Atoms atoms_of_corners(const std::vector<SelectedEvent>& corners) {
  std::vector<Interval> p, q;
  for (std::size_t i = 1; i < corners.size(); ++i) {
    p.push_back(max(Interval::exactly(corners[i].with) - corners[i - 1].with, Interval::exactly(0)));
    q.push_back(max(Interval::exactly(corners[i].without) - corners[i - 1].without, Interval::exactly(0)));
  }
  return atoms_of_pair(p, q);
}

}  // namespace

LevelSets level_sets(const Loss& base, Direction direction) {
  const Capabilities known = base.capabilities(direction);
  const Atoms* const atoms = known.atoms;
  constexpr std::size_t few = 400;
  const bool listed = atoms != nullptr && atoms->slack == 0 && atoms->finite.size() <= few;
  LevelSets levels{listed ? sets_of_atoms(*atoms) : TestReader(base, direction).read(), !listed || known.last_guarantee.has_value()};
  if (!levels.sets.empty()) levels.sets.push_back({Interval::exactly(1), Interval::exactly(1)});
  return levels;
}

namespace {

/// Sets between two level sets: part of the outcomes between them, if they are divisible. Small sets are cut more finely.
std::vector<LevelSet> with_shares(const LevelSets& levels) {
  constexpr double step = 1.0 / 96, factor = 1.5, smallest = 1e-18;
  std::vector<LevelSet> finer{{Interval::exactly(0), Interval::exactly(0)}};
  for (const LevelSet& next : levels.sets) {
    if (!levels.divisible) {
      finer.push_back(next);
      continue;
    }
    const LevelSet last = finer.back();
    const Interval more = max(next.with_record - last.with_record, Interval::exactly(0));
    const Interval other = max(next.without_record - last.without_record, Interval::exactly(0));
    const auto take = [&](double share) {
      finer.push_back({clamp(last.with_record + more * share, 0, 1), clamp(last.without_record + other * share, 0, 1)});
    };
    for (double share = smallest / std::max(more.hi, smallest); share < 1;
         share = std::min(share * factor, share + step / std::max(more.hi, step)))
      if (more.hi * share > last.with_record.lo * (factor - 1) || more.hi * share >= step) take(share);
    finer.push_back(next);
  }
  return finer;
}

/// Some of the sets, for orders whose search looks at all pairs of slices.
std::vector<LevelSet> thinned(const std::vector<LevelSet>& sets) {
  constexpr double step = 1.0 / 80, factor = 1.6, smallest = 1e-7;
  constexpr std::size_t few = 160;
  if (sets.size() <= few) return sets;
  std::vector<LevelSet> kept{sets.front()};
  for (const LevelSet& set : sets) {
    const double p = set.with_record.hi, q = set.without_record.hi, last = kept.back().with_record.hi;
    if (p < smallest) continue;
    if (p > last + std::min(step, (factor - 1) * std::max(last, smallest)) || q > kept.back().without_record.hi + step) kept.push_back(set);
  }
  if (kept.back().with_record.lo < 1) kept.push_back(sets.back());
  return kept;
}

Interval within_unit(double s) { return Interval::exactly(std::clamp(s, 0.0, 1.0)); }

/// A difference of phi over a smaller probability, times the mean, cancels more than its slope varies.
constexpr double little = 1e-5;

/// At least phi(u + p) - phi(u): the probability that the best of N runs lies in a set of probability p, above outcomes of probability u.
/// It rises with u and with p, and phi is convex.
double chance_at_least(const RunsLaw& law, double u, double p) {
  u = std::clamp(u, 0.0, 1.0);
  if (p * law.mean().hi < little) return (Interval::exactly(p) * law.slope(Interval::exactly(u))).lo;
  const double end = std::clamp(numeric::add_down(u, p), u, 1.0);
  return std::max(0.0, (law.phi(Interval::exactly(end)) - law.phi(Interval::exactly(u))).lo);
}
/// At most phi(v + q) - phi(v). Both ends are moved together, so that a sum beyond 1 does not narrow it.
double chance_at_most(const RunsLaw& law, double v, double q) {
  const double end = std::clamp(numeric::add_up(v, q), 0.0, 1.0);
  if (q * law.mean().hi < little) return (Interval::exactly(q) * law.slope(Interval::exactly(end))).hi;
  const double start = std::clamp(numeric::add_down(end, -q), 0.0, 1.0);
  return (law.phi(Interval::exactly(end)) - law.phi(Interval::exactly(start))).hi;
}

/// A set of outcomes in an order: the probabilities of those below it, and its own.
struct Position {
  double below;
  double mass;
};

/// At least the positive part of the chance of the best run to lie there with the record, minus x times that without it.
double gain_at_least(const RunsLaw& law, Position with_record, Position without, double x) {
  const double cost = without.mass > 0 ? numeric::multiply_up(x, chance_at_most(law, without.below, without.mass)) : 0;
  if (!(cost < 1)) return 0;
  return std::max(0.0, numeric::add_down(chance_at_least(law, with_record.below, with_record.mass), -cost));
}

constexpr std::size_t most_permuted = 6;  // outcomes: 720 orders

}  // namespace

SlicedPair::SlicedPair(std::vector<LevelSet> all) : sets(std::move(all)) {
  const Interval none = Interval::exactly(0);
  for (std::size_t i = 0; i + 1 < sets.size(); ++i)
    slices.push_back(
        {max(sets[i + 1].with_record - sets[i].with_record, none), max(sets[i + 1].without_record - sets[i].without_record, none)});
}

OrderWitness::OrderWitness(const LevelSets& levels, const RunsLaw& law)
    : law_(law), fine_(with_shares(levels)), coarse_(thinned(fine_.sets)) {
  for (const LevelSet& set : fine_.sets) {
    slope_with_.push_back(middle_of(law.slope(within_unit(set.with_record.lo))));
    slope_without_.push_back(middle_of(law.slope(within_unit(set.without_record.hi))));
  }
  constexpr std::size_t few = 24;  // of which every set is tried
  double before = 0;
  for (std::size_t top = 1; top < coarse_.slices.size(); ++top) {
    const double p = coarse_.sets[top].with_record.hi;
    if (coarse_.slices.size() > few && p < 3 * before && p < before + 0.12)
      continue;  // sets of about these probabilities have about the same orders
    merges_.push_back(merge_of(top));
    before = p;
  }
}

double OrderWitness::delta(double epsilon) const {
  const double x = exp(Interval::exactly(epsilon)).hi;
  if (coarse_.slices.size() <= most_permuted) return best_of_all(x);
  double found = best_inserted(x);
  for (const Merge& merge : merges_) found = std::max(found, value(best_order(merge, x), x));
  return found;
}

/// The best order of few outcomes.
double OrderWitness::best_of_all(double x) const {
  std::vector<std::size_t> order(coarse_.slices.size());
  std::iota(order.begin(), order.end(), 0);
  double found = 0;
  do found = std::max(found, value(order, x));
  while (std::next_permutation(order.begin(), order.end()));
  return found;
}

/// For each slice the place in the order by falling likelihood ratio at which phi'(u) - x r phi'(v) is largest. Larger losses stand higher.
std::vector<OrderWitness::Place> OrderWitness::best_places(double x) const {
  std::vector<Place> places(fine_.slices.size());
  std::size_t place = 0;
  for (std::size_t i = fine_.slices.size(); i-- > 0;) {
    const double p = fine_.slices[i].with_record.hi, q = fine_.slices[i].without_record.hi;
    const double cost = p > 0 && q > 0 ? x * (q / p) : 0;
    double best = -infinity;
    for (std::size_t at = place; at < fine_.sets.size(); ++at) {
      const double gain = slope_with_[at] - cost * slope_without_[at];
      if (gain > best) best = gain, place = at;
    }
    places[i] = {place, best};
  }
  return places;
}

/// [best-of-runs] The slices of the set `top` are moved each to its own place in the order by falling likelihood ratio of all others. The
/// event is that the best run lies in a slice that gains.
double OrderWitness::inserted(std::size_t top, double x, const std::vector<Place>& places) const {
  const LevelSet& whole = fine_.sets[top];
  Interval before_p = Interval::exactly(0), before_q = Interval::exactly(0);
  double sum = 0;
  for (std::size_t i = top; i-- > 0;) {  // from the slice of the smallest loss
    const auto& [p, q] = fine_.slices[i];
    if (places[i].gain > 0) {
      const LevelSet& place = fine_.sets[std::max(places[i].set, top)];
      const double u = std::max((place.with_record - whole.with_record + before_p).lo, before_p.lo);
      const double v = std::max((place.without_record - whole.without_record + before_q).hi, before_q.hi);
      sum = numeric::add_down(sum, gain_at_least(law_, {u, p.lo}, {v, q.hi}, x));
    }
    before_p = before_p + p;
    before_q = before_q + q;
  }
  return std::clamp(sum, 0.0, 1.0);
}

/// If the decisive losses are rare, each slice has its own best place.
double OrderWitness::best_inserted(double x) const {
  const std::vector<Place> places = best_places(x);
  const std::size_t count = fine_.slices.size(), first = std::max<std::size_t>(1, count / 16);
  std::size_t best = count;
  double found = inserted(best, x, places);
  const auto consider = [&](std::size_t top) {
    if (top < 1 || top > count) return;
    const double here = inserted(top, x, places);
    if (here > found) found = here, best = top;
  };
  for (std::size_t top = 1; top < count; top += first) consider(top);
  for (std::size_t step = first / 2; step > 0; step /= 2) {
    const std::size_t around = best;
    consider(around + step);
    consider(around > step ? around - step : 0);
  }
  return found;
}

OrderWitness::Merge OrderWitness::merge_of(std::size_t top) const {
  Merge merge{top, {}, {}};
  const std::size_t others = coarse_.slices.size() - top;
  const auto phi = [this](Interval s) { return middle_of(law_.phi(within_unit(middle_of(s)))); };
  for (std::size_t i = 0; i <= top; ++i)  // the slices of the top by rising loss, the others by falling loss
    for (std::size_t j = 0; j <= others; ++j) {
      const LevelSet &left = coarse_.sets[top - i], &reached = coarse_.sets[top + j];
      merge.with_record.push_back(phi(reached.with_record - left.with_record));
      merge.without_record.push_back(phi(reached.without_record - left.without_record));
    }
  return merge;
}

/// The best way to merge the slices of the top, by rising loss, with all others, by falling loss: step by step, in plain arithmetic.
/// If the decisive losses are not rare, slices that are moved push each other.
std::vector<std::size_t> OrderWitness::best_order(const Merge& merge, double x) const {
  const std::size_t top = merge.top, others = coarse_.slices.size() - top, width = others + 1;
  std::vector<double> value(width, 0.0);  // of the row of so many slices of the top
  std::vector<bool> by_top((top + 1) * width);
  const auto gain = [&](std::size_t from, std::size_t to) {
    return std::max(0.0, merge.with_record[to] - merge.with_record[from] - x * (merge.without_record[to] - merge.without_record[from]));
  };
  for (std::size_t i = 0; i <= top; ++i)
    for (std::size_t j = 0; j <= others; ++j) {
      const std::size_t here = i * width + j;
      const double from_top = i > 0 ? value[j] + gain(here - width, here) : -1;
      const double from_other = j > 0 ? value[j - 1] + gain(here - 1, here) : -1;
      by_top[here] = from_top > from_other;
      if (here > 0) value[j] = std::max(from_top, from_other);
    }
  std::vector<std::size_t> order;
  for (std::size_t i = top, j = others; i + j > 0;) {
    if (by_top[i * width + j])
      order.push_back(top - i--);
    else
      order.push_back(top + --j);
  }
  std::reverse(order.begin(), order.end());
  return order;
}

/// [best-of-runs] The event is that the best run lies in a slice that gains, for coarse slices in this order from the bottom.
double OrderWitness::value(const std::vector<std::size_t>& order, double x) const {
  Interval u = Interval::exactly(0), v = Interval::exactly(0);
  double sum = 0;
  for (const std::size_t i : order) {
    const auto& [p, q] = coarse_.slices[i];
    sum = numeric::add_down(sum, gain_at_least(law_, {u.lo, p.lo}, {v.hi, q.hi}, x));
    u = u + p;
    v = v + q;
  }
  return std::clamp(sum, 0.0, 1.0);
}

Atoms best_of_rising_losses(const std::vector<LevelSet>& sets, const RunsLaw& law) {
  std::vector<SelectedEvent> events;
  for (const LevelSet& set : sets) {  // the best run avoids the set only if all runs do
    const double p = set.with_record.lo, q = set.without_record.hi;
    events.push_back({chance_at_most(law, numeric::add_down(1, -q), q), chance_at_least(law, numeric::add_up(1, -p), p)});
  }
  return atoms_of_corners(concave_hull(std::move(events)));
}

}  // namespace tradeoff::detail
