// SPDX-License-Identifier: Apache-2.0
#include "operators/best_of_witness.h"

#include <algorithm>
#include <cmath>
#include <map>

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

/// Thresholds at which neither probability jumps by much, and small probabilities fall by less than a factor.
std::vector<LevelSet> sets_of_tests(const Loss& base, Direction direction) {
  constexpr std::size_t most = 160;
  constexpr double jump = 0.02, factor = 3, smallest = 1e-16;
  std::map<double, LevelSet, std::greater<>> found;
  const auto take = [&](double epsilon) {
    const auto test = base.test_at(direction, epsilon);
    if (test) found.emplace(epsilon, LevelSet{clamp(test->true_positive, 0, 1), clamp(test->false_positive, 0, 1)});
    return test.has_value();
  };
  for (const double epsilon : {0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0, 8.0, -8.0, 16.0, -16.0})
    if (!take(epsilon)) return {};
  for (bool more = true; more && found.size() < most;) {
    std::vector<double> next;
    for (auto high = found.begin(), low = std::next(high); low != found.end(); ++high, ++low) {
      const LevelSet &few = high->second, &many = low->second;
      const double step = many.with_record.lo - few.with_record.hi;
      const bool rare = many.with_record.lo > smallest && many.with_record.lo > factor * few.with_record.hi;
      if ((step > jump || many.without_record.lo - few.without_record.hi > jump || rare) && high->first - low->first > 1e-6)
        next.push_back((high->first + low->first) / 2);
    }
    more = !next.empty();
    for (const double epsilon : next)
      if (found.size() < most) take(epsilon);
  }
  std::vector<LevelSet> sets;
  for (const auto& [epsilon, set] : found) sets.push_back(set);
  return sets;
}

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

std::vector<LevelSet> level_sets(const Loss& base, Direction direction) {
  const Atoms* const atoms = base.atoms(direction);
  constexpr std::size_t few = 400;
  const bool listed = atoms != nullptr && atoms->slack == 0 && atoms->finite.size() <= few;
  std::vector<LevelSet> sets = listed ? sets_of_atoms(*atoms) : sets_of_tests(base, direction);
  if (!sets.empty()) sets.push_back({Interval::exactly(1), Interval::exactly(1)});
  return sets;
}

namespace {

/// Sets between two level sets: part of the outcomes between them, by a coin. Small sets are cut more finely.
std::vector<LevelSet> with_shares(const std::vector<LevelSet>& sets) {
  constexpr double step = 1.0 / 96, factor = 1.5, smallest = 1e-18;
  std::vector<LevelSet> finer{{Interval::exactly(0), Interval::exactly(0)}};
  for (const LevelSet& next : sets) {
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
  constexpr std::size_t most = 220;
  if (finer.size() <= most) return finer;
  std::vector<LevelSet> thinned;
  for (std::size_t i = 0; i < most; ++i) thinned.push_back(finer[i * (finer.size() - 1) / (most - 1)]);
  return thinned;
}

Interval within_unit(double s) { return Interval::exactly(std::clamp(s, 0.0, 1.0)); }

// [best-of-runs] The outcomes of the larger set have the lowest ranks, and the smaller set has the highest ranks among them: the best of N
// runs lies in the smaller set with probability phi(u) - phi(u - p), which rises with u and with p, and lies between p phi'(u - p) and
// p phi'(u).
SelectedEvent selected(const LevelSet& large, const LevelSet& small, const RunsLaw& law) {
  const double u = large.with_record.lo, v = large.without_record.hi;
  const double p = std::min(small.with_record.lo, u), q = std::min(small.without_record.hi, v);
  const Interval by_phi = law.phi(within_unit(u)) - law.phi(within_unit(numeric::add_up(u, -p)));
  const Interval by_slope = Interval::exactly(p) * law.slope(within_unit(numeric::add_down(u, -p)));
  const Interval other_by_phi = law.phi(within_unit(v)) - law.phi(within_unit(numeric::add_down(v, -q)));
  const Interval other_by_slope = Interval::exactly(q) * law.slope(within_unit(v));
  return {std::clamp(std::min(other_by_phi.hi, other_by_slope.hi), 0.0, 1.0), std::clamp(std::max(by_phi.lo, by_slope.lo), 0.0, 1.0)};
}

/// phi'(u) and phi'(v) of every level set.
struct Slopes {
  std::vector<double> with, without;
};

/// [best-of-runs] The outcomes of the set `top`, in slices, are moved each to its own place in the order by falling likelihood ratio of all
/// others: to where phi'(u) - x r phi'(v) is largest. The event is that the best run lies in a slice that gains.
SelectedEvent spread_event(const std::vector<LevelSet>& sets, std::size_t top, double x, const Slopes& slopes, const RunsLaw& law) {
  const LevelSet& whole = sets[top];
  Interval before_p = Interval::exactly(0), before_q = Interval::exactly(0);
  Interval with = Interval::exactly(0), without = Interval::exactly(0);
  std::size_t place = top;
  for (std::size_t i = top; i-- > 0;) {  // from the slice of the smallest loss; larger losses stand higher
    const Interval p = max(sets[i + 1].with_record - sets[i].with_record, Interval::exactly(0));
    const Interval q = max(sets[i + 1].without_record - sets[i].without_record, Interval::exactly(0));
    const double ratio = p.hi > 0 ? x * q.hi / p.hi : 0;
    const auto gain = [&](std::size_t at) { return slopes.with[at] - ratio * slopes.without[at]; };
    while (place + 1 < sets.size() && gain(place + 1) >= gain(place)) ++place;
    const Interval u = sets[place].with_record - whole.with_record + before_p;
    const Interval v = sets[place].without_record - whole.without_record + before_q + q;
    const Interval gained = p * law.slope(within_unit(std::max(u.lo, before_p.lo)));
    const Interval lost = q * law.slope(within_unit(std::max(v.hi, (before_q + q).hi)));
    if (gained.lo > x * lost.hi) {
      with = with + Interval::exactly(gained.lo);
      without = without + Interval::exactly(lost.hi);
    }
    before_p = before_p + p;
    before_q = before_q + q;
  }
  return {std::clamp(without.hi, 0.0, 1.0), std::clamp(with.lo, 0.0, 1.0)};
}

void add_spread_events(const std::vector<LevelSet>& sets, const RunsLaw& law, std::vector<SelectedEvent>& events) {
  Slopes slopes;
  double largest = 1, most = 1;
  for (const LevelSet& set : sets) {
    slopes.with.push_back(law.slope(within_unit(set.with_record.lo)).lo);
    slopes.without.push_back(law.slope(within_unit(set.without_record.hi)).hi);
    if (slopes.without.back() > 0) largest = std::max(largest, slopes.with.back() / slopes.without.back());
    if (set.with_record.lo > 1e-12 && set.without_record.hi > 0) most = std::max(most, set.with_record.lo / set.without_record.hi);
  }
  constexpr int thresholds = 28;
  const double reach = std::min(std::log(largest) + std::log(most), 60.0);
  for (int k = 0; k < thresholds; ++k)
    for (std::size_t top = 1; top < sets.size(); top += 1 + sets.size() / 40)
      events.push_back(spread_event(sets, top, std::exp(reach * k / thresholds), slopes, law));
}

}  // namespace

Atoms witness_of_orders(const std::vector<LevelSet>& levels, const RunsLaw& law) {
  const std::vector<LevelSet> sets = with_shares(levels);
  std::vector<SelectedEvent> events;
  for (std::size_t large = 0; large < sets.size(); ++large)
    for (std::size_t small = 0; small <= large; ++small) events.push_back(selected(sets[large], sets[small], law));
  add_spread_events(sets, law, events);
  return atoms_of_corners(concave_hull(std::move(events)));
}

Atoms best_of_rising_losses(const std::vector<LevelSet>& sets, const RunsLaw& law) {
  std::vector<SelectedEvent> events;
  for (const LevelSet& set : sets) events.push_back(selected(sets.back(), set, law));
  return atoms_of_corners(concave_hull(std::move(events)));
}

}  // namespace tradeoff::detail
