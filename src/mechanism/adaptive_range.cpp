// SPDX-License-Identifier: Apache-2.0
#include "mechanism/adaptive_range.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "loss/key.h"
#include "loss/mirrored_delta.h"
#include "numeric/arithmetic.h"
#include "numeric/lanes.h"

namespace tradeoff::detail {
namespace {

using numeric::HalfLanes;

constexpr std::size_t row_length = 64;  // nodes that share one list of cells
constexpr std::size_t per_vector = numeric::lane_count / 2;
constexpr double up_factor = 1 + 0x1p-48;  // 32 u: the operations of one step need at most 16
constexpr double down_factor = 1 - 0x1p-48;
constexpr double underflow_margin = 1e-305;  // far above what underflow can lose

// By reference: a vector that is returned would have another calling convention on every processor.
inline void load(HalfLanes& lanes, const double* from) { std::memcpy(&lanes, from, sizeof lanes); }
inline void store(double* to, const HalfLanes& lanes) { std::memcpy(to, &lanes, sizeof lanes); }

/// The values of a step in one direction of rounding. `p[i]`, `r[i]` are the chances of the losses t and t - range, t = i h, in the
/// two-point law that is the worst with the largest loss t.
struct StepWeights {
  std::vector<double> p, r;
  std::vector<double> below_zero, share;  // V(-m h) = below_zero[m] + share[m] V(m h)
};

StepWeights step_weights(double range, std::size_t cells, bool upper) {
  StepWeights weights;
  const Interval whole = -expm1(Interval::exactly(-range));
  const auto pick = [upper](Interval value) { return upper ? std::min(1.0, value.hi) : std::max(0.0, value.lo); };
  for (std::size_t i = 0; i <= cells; ++i) {
    const auto part = [&](std::size_t of) { return Interval::exactly(static_cast<double>(of)) * range / static_cast<double>(cells); };
    const Interval t = part(i), rest = part(cells - i);
    weights.p.push_back(i == cells ? 0 : pick(expm1(-rest) / -whole));
    weights.r.push_back(i == 0 ? 0 : pick(exp(-rest) * (-expm1(-t) / whole)));
    weights.below_zero.push_back(pick(-expm1(-t)));
    weights.share.push_back(pick(exp(-t)));
  }
  return weights;
}

/// A list of cells of t and their factors, for one row of nodes.
struct CellFactors {
  std::vector<double> bend;  // (e^(m h) - 1) / (4 (1 - e^-range)), rounded up, for cells of m steps
  double other;              // e^-range, rounded down
};

/// [bounded-range-adaptive] On a cell of t, with chords for V: g <= (1-s) g1 + s g2 + 4 bend s (1-s), s in [0, 1]. `from` points at the
/// first node of the row, in the values above of the last step.
TRADEOFF_CLONES void raise_row(const double* from, std::size_t cells, const int* ends, std::size_t count, const StepWeights& weights,
                               const CellFactors& factors, double* to) {
  const double steeper = 1 + 0x1p-50, flatter = factors.other * (1 - 0x1p-50);  // 8 u: of two differences and their products
  for (std::size_t offset = 0; offset < row_length; offset += per_vector) {
    const double* const here = from + offset;
    HalfLanes near, far, next_near, next_far;
    load(near, here);  // t = 0
    load(far, here + cells);
    HalfLanes value = near, best = near;
    for (std::size_t c = 1; c < count; ++c) {
      const auto end = static_cast<std::size_t>(ends[c]);
      const std::size_t width = end - static_cast<std::size_t>(ends[c - 1]);
      const bool wide = width > 1;
      const double bend = factors.bend[width];
      load(next_near, here - end);
      load(next_far, here - end + cells);
      const HalfLanes next_value = weights.p[end] * next_near + weights.r[end] * next_far;
      const HalfLanes raised = bend * ((next_near - near) * steeper - (next_far - far) * flatter);
      const HalfLanes change = next_value - value;
      const HalfLanes size = change < 0 ? -change : change, top = change > 0 ? next_value : value;
      // The largest value inside is top + (raised - size/4)^2 / raised where size < 4 raised; far from the best t that excess is not
      // positive.
      const HalfLanes excess = raised - 0.25 * size;
      const HalfLanes bound = excess > 0 ? top + (wide ? excess : excess * excess / raised) : top;
      best = bound > best ? bound : best;
      near = next_near;
      far = next_far;
      value = next_value;
    }
    store(to + offset, best * up_factor + underflow_margin);
  }
}

/// The best of some t on the grid, each of which an adversary may choose.
TRADEOFF_CLONES void reach_row(const double* from, std::size_t cells, const int* choices, std::size_t count, const StepWeights& weights,
                               double* to) {
  for (std::size_t offset = 0; offset < row_length; offset += per_vector) {
    const double* const here = from + offset;
    HalfLanes best, near, far;
    load(best, here);
    for (std::size_t c = 0; c < count; ++c) {
      const auto i = static_cast<std::size_t>(choices[c]);
      load(near, here - i);
      load(far, here - i + cells);
      const HalfLanes value = weights.p[i] * near + weights.r[i] * far;
      best = value > best ? value : best;
    }
    best = best * down_factor - underflow_margin;
    store(to + offset, best > 0 ? best : HalfLanes{});
  }
}

/// Values at the nodes -cells, ..., last, with room for a row and a step beyond.
class Nodes {
 public:
  Nodes(std::size_t cells, std::size_t largest, bool upper)
      : cells_(cells), upper_(upper), values_(2 * cells + largest + 2 * row_length + 1) {}
  [[nodiscard]] double* at_zero() { return values_.data() + cells_; }
  [[nodiscard]] const double* at_zero() const { return values_.data() + cells_; }

  /// The mirror images left of 0, and the last value (or 0) beyond `last` up to `needed`.
  void extend(const StepWeights& weights, std::size_t last, bool complete, std::size_t needed) {
    double* const zero = at_zero();
    const double beyond = upper_ && !complete ? zero[last] : 0;
    std::fill(zero + last + 1, zero + needed + cells_ + row_length + 1, beyond);
    const double factor = upper_ ? 1 + 0x1p-50 : 1 - 0x1p-50;  // 8 u: a product and a sum
    for (std::size_t m = 1; m <= cells_; ++m)
      zero[-static_cast<std::ptrdiff_t>(m)] = (weights.below_zero[m] + weights.share[m] * zero[m]) * factor;
  }

 private:
  std::size_t cells_;
  bool upper_;
  std::vector<double> values_;
};

/// Finds the best t of a node, roughly: what it finds affects how tight the bounds are, not whether they hold.
class BestChoice {
 public:
  BestChoice(const double* node, const StepWeights& weights)
      : node_(node), weights_(weights), cells_(static_cast<int>(weights.p.size()) - 1) {}

  [[nodiscard]] int near(int start) const {
    int best = start;
    double value = at(best);
    for (const int sign : {1, -1})
      for (int i = best + sign; i >= 0 && i <= cells_ && at(i) > value; i += sign) {
        best = i;
        value = at(i);
      }
    return best;
  }
  /// Of a coarse list, and of the best t of choices that are fixed in advance for all `steps` left at the node of this index.
  [[nodiscard]] int anywhere(int start, std::size_t index, std::uint64_t steps) const {
    constexpr std::uint64_t most_fixed = 48;
    const int coarse = std::max(1, cells_ / 16);
    std::array<std::pair<double, int>, 3> best{};  // the three best
    const auto consider = [&](int i) {
      std::pair<double, int> found{at(i), i};
      for (auto& one : best)
        if (found.first > one.first) std::swap(found, one);
    };
    consider(start);
    for (int i = 0; i <= cells_; i += coarse) consider(i);
    for (std::uint64_t falls = 1; falls <= std::min(steps, most_fixed); ++falls)  // t = (e + falls * range) / (steps + 1)
      consider(std::min(cells_, static_cast<int>((index + falls * static_cast<std::size_t>(cells_)) / (steps + 1))));
    std::pair<double, int> highest{0, start};
    for (const auto& one : best) {
      const int top = near(climbed(one.second, coarse / 2));
      highest = std::max(highest, {at(top), top});
    }
    return highest.second;
  }

 private:
  [[nodiscard]] int climbed(int best, int widest) const {
    for (int step = widest; step > 0; step /= 2)
      for (const int i : {best - step, best + step})
        if (i >= 0 && i <= cells_ && at(i) > at(best)) best = i;
    return best;
  }
  [[nodiscard]] double at(int i) const {
    const auto k = static_cast<std::size_t>(i);
    return weights_.p[k] * node_[-i] + weights_.r[k] * node_[cells_ - i];
  }
  const double* node_;
  const StepWeights& weights_;
  int cells_;
};

/// The cells of t for a row of nodes whose best t are `a` at the first and `b` at the last: cells of one step near them, and wider ones at
/// a distance, where the loss of value is larger than what a wide cell adds.
class RowPlan {
 public:
  std::vector<int> ends;
  std::vector<int> choices;

  explicit RowPlan(int widest) : widest_(widest) {}

  void make(int a, int b, int cells, int margin) {
    margin_ = margin;
    ends.clear();
    choices.clear();
    if (a > b) std::swap(a, b);
    const bool apart = b - a > 2 * static_cast<int>(row_length);
    const std::array<std::pair<int, int>, 2> windows{{{a - margin, apart ? a + margin : b + margin}, {b - margin, b + margin}}};
    int reached = 0;
    ends.push_back(0);
    for (std::size_t w = 0; w < (apart ? 2 : 1); ++w) {
      const int low = std::clamp(windows[w].first, reached, cells), high = std::clamp(windows[w].second, reached, cells);
      widen_until(low, w == 0 ? reached : (reached + low) / 2, reached);
      for (int i = low; i <= high; ++i) {
        add(i);
        choices.push_back(i);
      }
      reached = high;
    }
    widen_from(reached, cells);
  }

 private:
  static constexpr int growth = 2;  // the width of a cell over its distance; with 3 the bounds above are wider (measured)

  /// The next end of a cell, by its distance from a window.
  [[nodiscard]] int wider(int distance) const { return distance + std::clamp(growth * (distance + margin_), 1, widest_); }

  /// From `reached` to `low`: growing up to `middle`, then falling.
  void widen_until(int low, int middle, int reached) {
    if (middle > reached) widen_from(reached, middle);
    std::vector<int> back;
    for (int distance = wider(0); low - distance > middle; distance = wider(distance)) back.push_back(low - distance);
    add(middle);
    for (auto i = back.rbegin(); i != back.rend(); ++i) add(*i);
    add(low);
  }
  void widen_from(int from, int to) {
    for (int distance = wider(0); from + distance < to; distance = wider(distance)) add(from + distance);
    add(to);
  }
  void add(int end) {
    if (end > ends.back()) ends.push_back(end);
  }

  int widest_;
  int margin_ = 1;
};

/// The nodes that matter after so many steps, in steps of one range: up to `depth` standard deviations above the mean of the loss, which is
/// at most that of losses of +-range/2.
double window_in_ranges(double range, double step, double depth) {
  return std::min(step, 0.5 * depth * std::sqrt(step) + 0.125 * range * step + 1);
}

constexpr double widest_loss = 0.2;  // of a cell: the chords of wider ones are too far from a profile

class TableMaker {
 public:
  TableMaker(Interval range, std::uint64_t steps, std::size_t cells, double depth)
      : range_(range),
        steps_(steps),
        cells_(cells),
        depth_(depth),
        high_(step_weights(range.hi, cells, true)),
        low_(step_weights(range.lo, cells, false)),
        plan_(std::max(1, static_cast<int>(static_cast<double>(cells) * std::min(1.0, widest_loss / range.hi)))) {
    const Interval h = Interval::exactly(range.hi) / static_cast<double>(cells), whole = -expm1(Interval::exactly(-range.hi));
    factors_.other = std::max(0.0, exp(Interval::exactly(-range.hi)).lo);
    for (std::size_t m = 0; m <= cells; ++m) factors_.bend.push_back((expm1(static_cast<double>(m) * h) / (4.0 * whole)).hi);
  }

  [[nodiscard]] AdaptiveTable make() {
    const std::size_t largest = last_node(steps_);
    Nodes above(cells_, largest, true), below(cells_, largest, false);
    Nodes next_above = above, next_below = below;
    above.at_zero()[0] = below.at_zero()[0] = 0;  // V_0(x) = max(0, 1 - x)
    hints_.assign(largest / row_length + 2, static_cast<int>(cells_ / 2));
    std::size_t last = 0;
    for (std::uint64_t step = 1; step <= steps_; ++step) {
      const std::size_t next = last_node(step);
      above.extend(high_, last, last == (step - 1) * cells_, next);
      below.extend(low_, last, last == (step - 1) * cells_, next);
      find_choices(above, step, next);
      for (std::size_t start = 0; start <= next; start += row_length) {
        const std::size_t block = start / row_length;
        plan_.make(hints_[block], hints_[block + 1], static_cast<int>(cells_), 2 + static_cast<int>(row_length / (2 * step + 2)));
        raise_row(above.at_zero() + start, cells_, plan_.ends.data(), plan_.ends.size(), high_, factors_, next_above.at_zero() + start);
        reach_row(below.at_zero() + start, cells_, plan_.choices.data(), plan_.choices.size(), low_, next_below.at_zero() + start);
      }
      std::swap(above, next_above);
      std::swap(below, next_below);
      last = next;
    }
    const auto values = [&](const Nodes& nodes) { return std::vector<double>(nodes.at_zero(), nodes.at_zero() + last + 1); };
    return {cells_, values(above), values(below), last == steps_ * cells_};
  }

 private:
  [[nodiscard]] std::size_t last_node(std::uint64_t step) const {
    const double nodes = std::ceil(window_in_ranges(range_.hi, static_cast<double>(step), depth_) * static_cast<double>(cells_));
    return std::min(static_cast<std::size_t>(nodes), static_cast<std::size_t>(step) * cells_);
  }

  void find_choices(const Nodes& above, std::uint64_t step, std::size_t last) {
    const bool wide = step <= 100 || step % 16 == 0;  // with many steps to go the best t changes little from step to step
    for (std::size_t start = 0; start <= last + row_length; start += row_length) {
      const std::size_t node = std::min(start, last);
      const BestChoice choice(above.at_zero() + node, high_);
      int& hint = hints_[start / row_length];
      hint = wide ? choice.anywhere(hint, node, step) : choice.near(hint);
    }
  }

  Interval range_;
  std::uint64_t steps_;
  std::size_t cells_;
  double depth_;
  StepWeights high_, low_;
  CellFactors factors_;
  std::vector<int> hints_;  // the best t at the first node of every row
  RowPlan plan_;
};

}  // namespace

AdaptiveTable adaptive_table(Interval range, std::uint64_t steps, std::size_t cells, double depth) {
  return TableMaker(range, steps, cells, depth).make();
}

namespace {

constexpr double node_budget = 9e7;                       // nodes of all steps: about a second
constexpr double quick_budget = 1.5e7;                    // the same for a grid that is finer than enough
constexpr double usual_depth = 8.5;                       // standard deviations; delta is then about 1e-17
constexpr double whole_depth = 38;                        // delta is then about 1e-300
constexpr std::size_t most_cells = 8192;                  // of one range: the bounds then differ by less than 1e-7
constexpr std::size_t enough_cells = 860;                 // a finer grid is worth less than a deeper one
constexpr std::size_t fewest_cells = 4;                   // with fewer, the product of the pairs is as good
constexpr double most_range = 300;                        // beyond it a cell is too wide to be of use
constexpr double wide_values = 1e-3;                      // relative width near the last node, where the deeper table is better
constexpr std::uint64_t most_steps_of_table = 1'000'000;  // far more than the budget allows

std::size_t cells_within_budget(Interval range, std::uint64_t steps, double depth) {
  if (!(range.hi <= most_range) || steps > most_steps_of_table) return 0;
  double ranges = 0;
  for (std::uint64_t step = 1; step <= steps; ++step) ranges += window_in_ranges(range.hi, static_cast<double>(step), depth);
  const auto cells = [&](double nodes) { return std::min(most_cells, static_cast<std::size_t>(nodes / ranges)); };
  return std::max(cells(quick_budget), std::min(enough_cells, cells(node_budget)));
}

/// Bounds of the profile between and beyond the nodes of a table: the profile is convex in e^epsilon. [bounded-range-adaptive]
class TableProfile {
 public:
  TableProfile(Interval range, AdaptiveTable table) : range_(range), table_(std::move(table)) {}

  /// Whether there are values near epsilon >= 0, or the profile is 0 there.
  [[nodiscard]] bool covers(double epsilon) const { return table_.complete || epsilon < place(last(), range_.lo).lo; }

  /// A loss near the last node.
  [[nodiscard]] double end() const { return place(last(), range_.lo).lo; }

  [[nodiscard]] double above(double epsilon) const {
    const auto [left, right] = around(epsilon, range_.hi);
    const double high = table_.above[left];
    if (right == left) return high;
    if (right > last() && !table_.complete) return high;
    const double low = right > last() ? 0 : table_.above[right];
    const Interval from = place(left, range_.hi);
    const Interval share = expm1(Interval::exactly(epsilon) - from) / expm1(place(right, range_.hi) - from);
    return std::min(high, (high - Interval::exactly(std::clamp(share.lo, 0.0, 1.0)) * std::max(0.0, high - low)).hi);
  }

  [[nodiscard]] double below(double epsilon) const {
    const auto [left, right] = around(epsilon, range_.lo);
    double best = right <= last() ? table_.below[right] : 0;
    if (right == left) return best;
    const Interval at = Interval::exactly(epsilon), here = place(left, range_.lo);
    for (const std::size_t reach : {std::size_t{2}, std::size_t{16}}) {
      if (left >= reach + 1) {  // the chord on the left, extended to the right
        const Interval ratio = expm1(at - here) / -expm1(place(left - reach, range_.lo) - here);
        const Interval fall = Interval::exactly(at_node_of_below(left - reach)) - table_.below[left];
        best = std::max(best, (table_.below[left] - fall * max(ratio, Interval::exactly(0))).lo);
      }
      if (right + reach <= last()) {  // the chord on the right, extended to the left
        const Interval there = place(right, range_.lo);
        const Interval ratio = -expm1(at - there) / expm1(place(right + reach, range_.lo) - there);
        const Interval fall = Interval::exactly(table_.below[right]) - at_node_of_below(right + reach);
        best = std::max(best, (table_.below[right] + fall * max(ratio, Interval::exactly(0))).lo);
      }
    }
    return best;
  }

 private:
  [[nodiscard]] std::size_t last() const { return table_.above.size() - 1; }
  [[nodiscard]] Interval place(std::size_t node, double range) const {
    return Interval::exactly(static_cast<double>(node)) * range / static_cast<double>(table_.cells);
  }
  /// The node at or left of epsilon >= 0, and the one at or right of it; beyond the table both ends are at most last + 1.
  [[nodiscard]] std::pair<std::size_t, std::size_t> around(double epsilon, double range) const {
    const double guess = std::min(epsilon / range * static_cast<double>(table_.cells), static_cast<double>(last()));
    auto left = static_cast<std::size_t>(std::max(0.0, std::floor(guess)));
    while (left > 0 && place(left, range).hi > epsilon) --left;
    std::size_t right = left;
    while (right <= last() && place(right, range).lo < epsilon) ++right;
    return {left, right};
  }
  /// An upper bound of the profile at a node > 0 of the values below, whose place differs from that of the values above by rounding.
  [[nodiscard]] double at_node_of_below(std::size_t node) const {
    const double high = table_.above[node - 1], here = table_.above[node];
    const double h = range_.hi / static_cast<double>(table_.cells);
    const double share = static_cast<double>(node) * ((range_.hi - range_.lo) / range_.lo) * (1 + h) * (1 + 1e-9) + 1e-15;
    return here + std::min(1.0, share) * std::max(0.0, high - here) * (1 + 1e-9);
  }

  Interval range_;
  AdaptiveTable table_;
};

/// [bounded-range-adaptive] The tables are computed when they are needed first: one for usual values of delta, and one for tiny ones.
class AdaptiveRangeLoss final : public Loss, public ClosedForms {
 public:
  AdaptiveRangeLoss(Interval range, std::uint64_t steps, Citations origin)
      : range_(range), steps_(steps), largest_(Interval::exactly(static_cast<double>(steps)) * range), origin_(std::move(origin)) {
    origin_.emplace_back("adaptive-block",
                         std::to_string(steps) + " uses of one adaptive mechanism are one pair, whatever runs between them");
    origin_.emplace_back(
        "bounded-range-adaptive",
        std::to_string(steps) + " steps of equal range, each chosen after all earlier outcomes: their worst case on a grid");
  }

  [[nodiscard]] Interval delta(Direction, Interval epsilon) const override {
    cite();
    if (epsilon.lo == epsilon.hi) return at(epsilon.lo);
    return {at(epsilon.hi).lo, at(epsilon.lo).hi};
  }
  /// By the table for usual values alone: a search among deltas would also ask far beyond it.
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction, Interval delta) const override {
    const TableProfile& usual = table(usual_, depth_of_usual());
    const double end = usual.end();
    if (!(delta.lo > 0 && bounds(usual, end).hi < delta.lo)) return std::nullopt;
    cite();
    const auto first_not = [end](auto&& still) {
      double low = 0, high = end;
      while (true) {
        const double middle = low + (high - low) / 2;
        if (!(middle > low && middle < high)) return std::pair(low, high);
        (still(middle) ? low : high) = middle;
      }
    };
    Interval found{0, 0};
    if (bounds(usual, 0).hi > delta.lo) found.hi = first_not([&](double e) { return bounds(usual, e).hi > delta.lo; }).second;
    if (bounds(usual, 0).lo > delta.hi) found.lo = first_not([&](double e) { return bounds(usual, e).lo > delta.hi; }).first;
    if (found.width() > wide_values * found.hi) return std::nullopt;
    return Interval{std::min(found.lo, found.hi), found.hi};
  }
  [[nodiscard]] Capabilities capabilities(Direction) const override { return {.closed_forms = this}; }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  [[nodiscard]] Tail tail() const override { return pure_tail({largest_, largest_}); }
  [[nodiscard]] std::string key() const override {
    return make_key("adaptive_range", {range_, Interval::exactly(static_cast<double>(steps_))});
  }
  void cite() const override { record(origin_); }

 private:
  [[nodiscard]] Interval at(double epsilon) const {
    if (epsilon == -infinity) return Interval::exactly(1);
    if (epsilon < 0) return mirrored_delta(epsilon, at(-epsilon));
    if (epsilon >= largest_.hi) return Interval::exactly(0);
    const TableProfile& usual = table(usual_, depth_of_usual());
    Interval found = bounds(usual, epsilon);
    if (!usual.covers(epsilon) || found.width() > wide_values * found.hi) {
      const Interval deeper = bounds(table(deep_, whole_depth), epsilon);
      found = {std::max(found.lo, deeper.lo), std::min(found.hi, deeper.hi)};
    }
    return found;
  }
  [[nodiscard]] static Interval bounds(const TableProfile& profile, double epsilon) {
    const double above = std::clamp(profile.above(epsilon), 0.0, 1.0);
    return {std::clamp(profile.below(epsilon), 0.0, above), above};
  }

  /// As deep as a fine grid can be.
  [[nodiscard]] double depth_of_usual() const {
    for (const double depth : {whole_depth, 2 * usual_depth})
      if (cells_within_budget(range_, steps_, depth) >= enough_cells) return depth;
    return usual_depth;
  }

  struct Once {
    std::once_flag flag;
    std::optional<TableProfile> profile;
  };
  [[nodiscard]] const TableProfile& table(Once& once, double depth) const {
    std::call_once(once.flag, [&] {
      const std::size_t cells = std::max(fewest_cells, cells_within_budget(range_, steps_, depth));
      once.profile.emplace(range_, adaptive_table(range_, steps_, cells, depth));
    });
    return *once.profile;
  }

  Interval range_;
  std::uint64_t steps_;
  Interval largest_;
  Citations origin_;
  mutable Once usual_, deep_;
};

}  // namespace

LossPointer adaptive_range_loss(Interval range, std::uint64_t steps, const Citations& origin) {
  const bool usable = range.lo > 0 && (range.hi - range.lo) <= 1e-9 * range.lo;
  if (!usable || cells_within_budget(range, steps, usual_depth) < fewest_cells) return nullptr;
  return std::make_shared<AdaptiveRangeLoss>(range, steps, origin);
}

}  // namespace tradeoff::detail
