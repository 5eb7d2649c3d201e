// SPDX-License-Identifier: Apache-2.0
#include "operators/partition_selection.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "engine/compose.h"
#include "loss/atoms.h"
#include "loss/key.h"
#include "mechanism/adaptive_choice.h"
#include "mechanism/finite.h"
#include "numeric/arithmetic.h"
#include "operators/words.h"
#include "plan/arguments.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

constexpr std::size_t most_counts = 1'000'000;  // keep probabilities of a rule
constexpr std::uint64_t most_kept_partitions = 10'000;

/// A test: its false positive rate and its power.
struct TestPoint {
  Interval q;
  Interval p;
};

double mid(Interval a) { return a.lo + (a.hi - a.lo) / 2; }

/// Whether b lies above the line from a to c by more than rounding explains. Edges between points that are on one line would be so short
/// that their losses are not known.
bool lies_above(const TestPoint& a, const TestPoint& b, const TestPoint& c) {
  const double slope = (mid(c.p) - mid(a.p)) / (mid(c.q) - mid(a.q));
  const double height = (mid(b.p) - mid(a.p)) - slope * (mid(b.q) - mid(a.q));
  const double doubt = std::max({a.p.width(), b.p.width(), c.p.width()}) + slope * std::max({a.q.width(), b.q.width(), c.q.width()});
  return height > 4 * doubt + 4 * unit_roundoff * (mid(b.p) + slope * mid(b.q));
}

/// The corners of the concave hull of the tests, from the steepest to the flattest; nothing is proved about the corners left out.
std::vector<TestPoint> corners_of_tests(std::vector<TestPoint> points) {
  std::sort(points.begin(), points.end(),
            [](const TestPoint& a, const TestPoint& b) { return mid(a.q) != mid(b.q) ? mid(a.q) < mid(b.q) : mid(a.p) > mid(b.p); });
  std::vector<TestPoint> hull;
  for (const TestPoint& point : points) {
    if (!hull.empty() && !(point.q.lo > hull.back().q.hi && point.p.lo > hull.back().p.hi)) continue;  // not certainly another corner
    while (hull.size() >= 2 && !lies_above(hull[hull.size() - 2], hull.back(), point)) hull.pop_back();
    hull.push_back(point);
  }
  return hull;
}

/// How far any test may lie above the polygon through the corners.
double excess_of(const std::vector<TestPoint>& points, const std::vector<TestPoint>& corners) {
  double excess = 0;
  for (const TestPoint& point : points) {
    const auto next = std::find_if(corners.begin(), corners.end(), [&](const TestPoint& corner) { return mid(corner.q) >= mid(point.q); });
    Interval reached = corners.back().p;
    if (next != corners.end()) reached = next->p;
    if (next != corners.end() && next != corners.begin() && mid(next->q) > mid(point.q)) {
      const TestPoint& before = *(next - 1);
      reached = before.p + (next->p - before.p) * ((point.q - before.q) / (next->q - before.q));
    }
    const bool is_corner = next != corners.end() && next->q == point.q && next->p == point.p;
    if (!is_corner) excess = std::max(excess, (point.p - reached).hi);
  }
  return excess;
}

/// [partition-selection] The worst of all numbers of users, without the rounding of a polygon; compositions use the polygon.
class PartitionLoss final : public Loss, public ComposedForm {
 public:
  PartitionLoss(std::vector<Interval> keep, LossPointer polygon) : keep_(std::move(keep)), polygon_(std::move(polygon)) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    cite();
    const Interval x = exp(epsilon), none = Interval::exactly(0);
    Interval worst = max(1.0 - x, none), before = none;
    for (const Interval& now : keep_) {
      const Interval p = direction == Direction::remove ? now : before, q = direction == Direction::remove ? before : now;
      worst = max(worst, max(p - x * q, none) + max((1.0 - p) - x * (1.0 - q), none));
      before = now;
    }
    return min(worst, Interval::exactly(1));
  }
  [[nodiscard]] bool symmetric() const override { return false; }
  [[nodiscard]] Tail tail() const override { return polygon_->tail(); }
  [[nodiscard]] Capabilities capabilities(Direction) const override { return {.composed_form = this}; }
  [[nodiscard]] LossPointer composed_form() const override { return polygon_; }
  [[nodiscard]] std::string key() const override { return polygon_->key(); }
  void cite() const override { polygon_->cite(); }

 private:
  std::vector<Interval> keep_;
  LossPointer polygon_;
};

}  // namespace

// [partition-selection] pi_(n+1) = min(e^eps pi_n + delta, 1 - e^-eps (1 - pi_n - delta), 1).
std::vector<Interval> optimal_keep(Interval epsilon, Interval delta) {
  const Interval grow = exp(epsilon), shrink = exp(-epsilon);
  std::vector<Interval> keep;
  Interval last = Interval::exactly(0);
  while (last.lo < 1) {
    if (keep.size() >= most_counts)
      throw TooLargeError("partition_selection: more than " + std::to_string(most_counts) +
                          " users are needed until a key is kept surely; raise epsilon or delta");
    last = min(min(grow * last + delta, 1.0 - shrink * (1.0 - last - delta)), Interval::exactly(1));
    keep.push_back(last);
  }
  return keep;
}

namespace {

/// The outcomes for one partition with n + 1 and with n users: kept or not.
void add_tests(std::vector<TestPoint>& points, Interval before, Interval now) {
  points.push_back({before, now});
  points.push_back({1.0 - before, 1.0 - now});
}

/// The pair with all these tests is the polygon around them.
LossPointer polygon_around(std::vector<TestPoint> points, const std::string& key, std::size_t probabilities) {
  points.insert(points.begin(), {{Interval::exactly(0), Interval::exactly(0)}, {Interval::exactly(1), Interval::exactly(1)}});
  const std::vector<TestPoint> corners = corners_of_tests(points);
  const Interval hidden{0, excess_of(points, corners)};
  std::vector<Atom> finite;
  for (std::size_t i = 1; i < corners.size(); ++i) {
    const Interval p = max(corners[i].p - corners[i - 1].p, Interval::exactly(0)),
                   q = max(corners[i].q - corners[i - 1].q, Interval::exactly(0));
    finite.push_back({log(p / q), p});
  }
  return finite_loss(
      make_atoms(std::move(finite), clamp(corners.front().p + hidden, 0, 1), max(1.0 - corners.back().q, Interval::exactly(0)), false), key,
      {Citation("partition-selection", "a key is kept or not, with " + std::to_string(probabilities) + " probabilities")});
}

/// The pairs of some numbers of other users, for lower ends: none, the number with the largest change, and the one with the largest ratio
/// of the probabilities to drop the key.
std::vector<LossPointer> pairs_of_counts(const std::vector<Interval>& keep, const std::string& key) {
  const auto before = [&](std::size_t n) { return n == 0 ? Interval::exactly(0) : keep[n - 1]; };
  const auto change = [&](std::size_t n) { return std::abs(mid(keep[n]) - mid(before(n))); };
  const auto ratio = [&](std::size_t n) { return (1 - mid(before(n))) / (1 - mid(keep[n])); };
  std::vector<std::size_t> counts{0, 0, 0};
  for (std::size_t n = 0; n < keep.size(); ++n) {
    if (change(n) > change(counts[1])) counts[1] = n;
    if (keep[n].hi < 1 && (!(keep[counts[2]].hi < 1) || ratio(n) > ratio(counts[2]))) counts[2] = n;
  }
  std::vector<LossPointer> pairs;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (std::find(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(i), counts[i]) !=
        counts.begin() + static_cast<std::ptrdiff_t>(i))
      continue;
    std::vector<TestPoint> points;
    add_tests(points, before(counts[i]), keep[counts[i]]);
    pairs.push_back(polygon_around(std::move(points), key + " users " + std::to_string(counts[i]), 2));
  }
  return pairs;
}

}  // namespace

// [partition-selection] With n + 1 and n users a key is kept with pi_(n+1) and pi_n: two tests, and their complements.
LossPointer partition_selection(const std::vector<Interval>& keep, const std::string& key) {
  std::vector<TestPoint> points;
  Interval before = Interval::exactly(0);
  for (const Interval& now : keep) {
    add_tests(points, before, now);
    before = now;
  }
  return std::make_shared<PartitionLoss>(keep, polygon_around(std::move(points), key, keep.size()));
}

namespace {

LossPointer make_partition_selection(const Arguments& arguments, const WordContext& context) {
  std::vector<Interval> keep;
  std::string key = "partition_selection";
  if (arguments.has("keep")) {
    for (const Number& number : arguments.numbers("keep")) {
      if (!(number.value.lo >= 0 && number.value.hi <= 1)) arguments.refuse("keep", number.text, "a list of probabilities between 0 and 1");
      keep.push_back(number.value);
      key += make_key(";", {number.value});
    }
    if (keep.empty()) arguments.refuse("keep", "[]", "a list of probabilities, for 1 user, 2 users and so on");
  } else {
    keep = optimal_keep(arguments.number("epsilon"), arguments.number("delta"));
    key = make_key(key, {arguments.number("epsilon"), arguments.number("delta")});
  }
  LossPointer one = partition_selection(keep, key);
  const std::uint64_t partitions = arguments.whole("partitions");
  const auto times = [partitions](const LossPointer& pair) { return compose({{pair, partitions}}, Tolerance{}).loss; };
  std::vector<WordContext::Maker> tables;
  for (const LossPointer& pair : pairs_of_counts(keep, key)) {
    if (partitions > 1)
      tables.emplace_back([=] { return times(pair); });
    else  // [adaptive-block] of one use and one partition the worst case is known
      tables.emplace_back([=] { return std::make_shared<AdaptiveChoice>(pair, std::make_shared<ChosenOnce>(key, one)); });
  }
  return context.bracket(
      [&]() -> LossPointer {
        if (partitions > 1) return times(one->capabilities(Direction::remove).composed_form->composed_form());
        return std::make_shared<AdaptiveChoice>(one, std::make_shared<ChosenOnce>(key, one));
      },
      tables);
}

std::string promise_of_selection(const Arguments& arguments) {
  const std::uint64_t partitions = arguments.whole("partitions");
  return "In `partition_selection`, a user counts in at most " + std::to_string(partitions) +
         (partitions == 1 ? " partition" : " partitions, and the rule is charged so many times") +
         ", after contributions are bounded by a rule that does not look at other users. A key is kept with a probability that depends on "
         "its number of distinct users alone, a key without users never, and nothing but the keys is released. A record of the data is a "
         "user, with all their rows.";
}

}  // namespace

Word partition_selection_word() {
  return {.role = Role::source,
          .name = "partition_selection",
          .meaning = "the keys of a table, each kept with a probability that grows with its users",
          .parameters = {{.name = "epsilon",
                          .kind = Kind::number,
                          .meaning = "epsilon of the best rule for one partition",
                          .range = range::non_negative,
                          .form = 1},
                         {.name = "delta",
                          .kind = Kind::number,
                          .meaning = "delta of this rule, above 0",
                          .range = {.least = 0, .most = 1, .excludes_least = true},
                          .form = 1},
                         {.name = "keep",
                          .kind = Kind::numbers,
                          .meaning = "own rule: probabilities for 1 user, 2 users, ...; the last for all more",
                          .form = 2},
                         {"partitions", Kind::integer, "partitions of one user, at most", range::whole(1, most_kept_partitions),
                          effect::riskier, "1"}},
          .neighbours = {Neighbours::add_remove},
          .promise = promise_of_selection,
          .make = make_partition_selection,
          .of_users = true};
}

}  // namespace tradeoff::detail
