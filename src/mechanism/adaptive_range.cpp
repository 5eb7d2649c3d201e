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
#include "mechanism/choices_gaussian.h"
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
};

StepWeights step_weights(double h, std::size_t cells, bool upper) {
  StepWeights weights;
  const auto part = [h](std::size_t of) { return Interval::exactly(static_cast<double>(of)) * h; };
  const auto pick = [upper](Interval value) { return upper ? std::min(1.0, value.hi) : std::max(0.0, value.lo); };
  const Interval whole = -expm1(-part(cells));
  for (std::size_t i = 0; i <= cells; ++i) {
    const Interval t = part(i), rest = part(cells - i);
    weights.p.push_back(i == cells ? 0 : pick(expm1(-rest) / -whole));
    weights.r.push_back(i == 0 ? 0 : pick(exp(-rest) * (-expm1(-t) / whole)));
  }
  return weights;
}

/// V(-m h) = below_zero[m] + share[m] V(m h).
struct Mirror {
  std::vector<double> below_zero, share;
};

Mirror mirror(double h, std::size_t cells, bool upper) {
  Mirror found;
  for (std::size_t m = 0; m <= cells; ++m) {
    const Interval t = Interval::exactly(static_cast<double>(m)) * h, below_zero = -expm1(-t), share = exp(-t);
    found.below_zero.push_back(upper ? std::min(1.0, below_zero.hi) : std::max(0.0, below_zero.lo));
    found.share.push_back(upper ? std::min(1.0, share.hi) : std::max(0.0, share.lo));
  }
  return found;
}

/// The nodes of a row at which the cells far from the best t are evaluated; between them their bound is a chord.
constexpr std::array<std::size_t, per_vector> far_nodes{0, 24, 40, row_length};
static_assert(per_vector == 4, "a vector has one lane for each of the nodes");

/// The factors of cells of t, by their width in steps: of the falls near and far in `b` of the theorem, rounded up and down.
struct CellFactors {
  std::vector<double> near;                // (e^(m h) - 1) / (4 (1 - e^-range)) for cells of m steps
  std::vector<double> far;                 // e^-range times the same
  std::array<double, row_length> chord{};  // how far a node of a row is on the chord between the far nodes around it
};

CellFactors cell_factors(double h, std::size_t cells) {
  CellFactors factors;
  const auto part = [h](std::size_t of) { return Interval::exactly(static_cast<double>(of)) * h; };
  const Interval whole = -expm1(-part(cells)), other = exp(-part(cells));
  for (std::size_t m = 0; m <= cells; ++m) {
    const Interval factor = expm1(part(m)) / (4.0 * whole);
    factors.near.push_back(factor.hi * (1 + 0x1p-50));  // 8 u: of a difference, its product and a sum
    factors.far.push_back(std::max(0.0, (factor * other).lo) * (1 - 0x1p-50));
  }
  for (std::size_t piece = 0; piece + 1 < per_vector; ++piece)
    for (std::size_t node = far_nodes[piece]; node < far_nodes[piece + 1]; ++node)
      factors.chord[node] = (expm1(part(node - far_nodes[piece])) / expm1(part(far_nodes[piece + 1] - far_nodes[piece]))).lo;
  return factors;
}

/// A cell of t with its ends' values, for the nodes of one vector.
struct CellEnd {
  HalfLanes near, far, value;
};

inline void load(CellEnd& end, const double* here, std::size_t cells, std::size_t at, const StepWeights& weights) {
  load(end.near, here - at);
  load(end.far, here - at + cells);
  end.value = weights.p[at] * end.near + weights.r[at] * end.far;
}

/// [bounded-range-adaptive] On a cell of t, with chords for V: g <= (1-s) g1 + s g2 + 4 b s (1-s), s in [0, 1]. The largest value inside is
/// high + (b - size/4)^2 / b where size = high - low < 4 b; a wide cell is far from the best t, where high + b - size/4 is as good.
inline void raise(HalfLanes& best, const CellEnd& one, const CellEnd& other, double near_factor, double far_factor, bool wide) {
  const HalfLanes b = (other.near - one.near) * near_factor - (other.far - one.far) * far_factor;
  const HalfLanes high = other.value > one.value ? other.value : one.value, low = other.value > one.value ? one.value : other.value;
  const HalfLanes excess = b - 0.25 * (high - low);
  const HalfLanes bound = high + (wide ? excess : excess > 0 ? excess * excess / b : HalfLanes{});
  best = high > best ? high : best;
  best = bound > best ? bound : best;
}

/// The cells `first` to `last` of a list of their ends.
struct CellList {
  const int* ends;
  std::size_t first, last;
};

/// The largest value at the far nodes over some cells of t, joined to what is known.
TRADEOFF_CLONES void raise_far(const double* from, std::size_t cells, CellList list, const StepWeights& weights, const CellFactors& factors,
                               double* far) {
  const auto at = [&](CellEnd& end, int index) {
    const double* const near_first = from - index;
    for (std::size_t i = 0; i < per_vector; ++i) {
      end.near[i] = near_first[far_nodes[i]];
      end.far[i] = near_first[far_nodes[i] + cells];
    }
    end.value = weights.p[static_cast<std::size_t>(index)] * end.near + weights.r[static_cast<std::size_t>(index)] * end.far;
  };
  HalfLanes best;
  load(best, far);
  CellEnd one, other;
  at(one, list.ends[list.first]);
  for (std::size_t c = list.first + 1; c <= list.last; ++c) {
    const auto width = static_cast<std::size_t>(list.ends[c] - list.ends[c - 1]);
    at(other, list.ends[c]);
    raise(best, one, other, factors.near[width], factors.far[width], width > 1);
    one = other;
  }
  store(far, best);
}

/// `from` points at the first node of the row, in the values above of the last step. `far` is a bound for all other cells at the far nodes.
TRADEOFF_CLONES void raise_row(const double* from, std::size_t cells, CellList list, const StepWeights& weights, const CellFactors& factors,
                               const double* far, double* to) {
  std::size_t part = 0;
  for (std::size_t offset = 0; offset < row_length; offset += 2 * per_vector) {  // two vectors share the indices
    if (offset == far_nodes[part + 1]) ++part;
    const double *const left = from + offset, *const right = left + per_vector;
    CellEnd a, b, next_a, next_b;
    load(a, left, cells, static_cast<std::size_t>(list.ends[list.first]), weights);
    load(b, right, cells, static_cast<std::size_t>(list.ends[list.first]), weights);
    HalfLanes best_a, best_b;
    load(best_a, factors.chord.data() + offset);
    load(best_b, factors.chord.data() + offset + per_vector);
    best_a = far[part] + best_a * (far[part + 1] - far[part]);
    best_b = far[part] + best_b * (far[part + 1] - far[part]);
    best_a = a.value > best_a ? a.value : best_a;
    best_b = b.value > best_b ? b.value : best_b;
    for (std::size_t c = list.first + 1; c <= list.last; ++c) {
      const auto end = static_cast<std::size_t>(list.ends[c]);
      const std::size_t width = end - static_cast<std::size_t>(list.ends[c - 1]);
      const double near_factor = factors.near[width], far_factor = factors.far[width];
      load(next_a, left, cells, end, weights);
      load(next_b, right, cells, end, weights);
      raise(best_a, a, next_a, near_factor, far_factor, width > 1);
      raise(best_b, b, next_b, near_factor, far_factor, width > 1);
      a = next_a;
      b = next_b;
    }
    store(to + offset, best_a * up_factor + underflow_margin);
    store(to + offset + per_vector, best_b * up_factor + underflow_margin);
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
  void extend(const Mirror& images, std::size_t last, bool complete, std::size_t needed) {
    double* const zero = at_zero();
    const double beyond = upper_ && !complete ? zero[last] : 0;
    std::fill(zero + last + 1, zero + needed + cells_ + row_length + 1, beyond);
    const double factor = upper_ ? 1 + 0x1p-50 : 1 - 0x1p-50;  // 8 u: a product and a sum
    for (std::size_t m = 1; m <= cells_; ++m)
      zero[-static_cast<std::ptrdiff_t>(m)] = (images.below_zero[m] + images.share[m] * zero[m]) * factor;
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
  std::size_t first_near = 0, last_near = 0;  // ends; the cells between them are near the best t

  explicit RowPlan(int widest) : widest_(widest) {}

  void make(int a, int b, int cells, int margin) {
    if (a == a_ && b == b_ && margin == margin_) return;  // as for the row before
    a_ = a;
    b_ = b;
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
    first_near = 0;
    last_near = ends.size() - 1;
    while (ends[first_near + 1] <= windows[0].first - far_distance) ++first_near;
    while (ends[last_near - 1] >= windows[apart ? 1 : 0].second + far_distance) --last_near;
  }

 private:
  static constexpr int far_distance = 16;  // at which the chord of the far cells is below the best t (measured)
  static constexpr int growth = 2;         // the width of a cell over its distance; with 3 the bounds above are wider (measured)

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
  int a_ = -1, b_ = -1, margin_ = 1;
};

constexpr double widest_loss = 0.2;  // of a cell: the chords of wider ones are too far from a profile

/// How many uses of each range are left. Digit 0, that of the most uses, counts the slabs; the others number the states of a slab.
class Counts {
 public:
  explicit Counts(const std::vector<UsesOfRange>& all) : all_(all), left_(all.size(), 0) {}

  [[nodiscard]] std::uint64_t of(std::size_t range) const { return left_[range]; }
  /// All uses.
  [[nodiscard]] Counts whole() const {
    Counts counts(all_);
    for (std::size_t k = 0; k < all_.size(); ++k) counts.left_[k] = all_[k].uses;
    return counts;
  }
  [[nodiscard]] std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t one : left_) sum += one;
    return sum;
  }
  /// How far back in its slab the state with one use less is. Not for range 0.
  [[nodiscard]] std::size_t stride(std::size_t range) const {
    std::size_t product = 1;
    for (std::size_t k = 1; k < range; ++k) product *= all_[k].uses + 1;
    return product;
  }
  /// The next state, slab by slab. False after the last.
  bool next() {
    for (std::size_t k = 1; k < left_.size(); ++k) {
      if (left_[k]++ < all_[k].uses) return true;
      left_[k] = 0;
    }
    return left_[0]++ < all_[0].uses;
  }
  void add_one(std::size_t range, int sign) { left_[range] += static_cast<std::uint64_t>(sign); }

  /// The losses that matter: up to `depth` standard deviations above the mean, which are at most those of losses of +-range/2.
  [[nodiscard]] double window(double depth) const {
    double largest = 0, squares = 0, widest = 0;
    for (std::size_t k = 0; k < left_.size(); ++k) {
      const auto uses = static_cast<double>(left_[k]);
      largest += uses * all_[k].range.hi;
      squares += uses * all_[k].range.hi * all_[k].range.hi;
      widest = std::max(widest, all_[k].range.hi);
    }
    return std::min(largest, 0.5 * depth * std::sqrt(squares) + 0.125 * squares + widest);
  }

 private:
  const std::vector<UsesOfRange>& all_;
  std::vector<std::uint64_t> left_;
};

/// The step of one range on the grid.
struct RangeStep {
  RangeStep(Interval h, std::size_t cells_of_range)
      : cells(cells_of_range),
        high(step_weights(h.hi, cells, true)),
        low(step_weights(h.lo, cells, false)),
        factors(cell_factors(h.hi, cells)),
        plan(std::max(1, static_cast<int>(std::min(static_cast<double>(cells), widest_loss / h.hi)))) {}

  std::size_t cells;
  StepWeights high, low;
  CellFactors factors;
  RowPlan plan;
};

/// The profile of one state.
struct State {
  Nodes above, below;
  std::vector<std::vector<int>> hints;  // for each range, the best t at the first node of every row
  std::size_t last = 0;
};

/// [bounded-range-adaptive] [adaptive-block]
class TableMaker {
 public:
  TableMaker(std::vector<UsesOfRange> all, const RangeGrid& grid, double depth)
      : all_(std::move(all)), grid_(grid), depth_(depth), at_(all_) {
    for (const std::size_t cells : grid.cells) steps_.emplace_back(grid.h, cells);
    widest_ = *std::max_element(grid.cells.begin(), grid.cells.end());
    high_mirror_ = mirror(grid.h.hi, widest_, true);
    low_mirror_ = mirror(grid.h.lo, widest_, false);
  }

  [[nodiscard]] AdaptiveTable make() {
    std::size_t slab = 1;
    for (std::size_t k = 1; k < all_.size(); ++k) slab *= all_[k].uses + 1;
    const Counts whole = at_.whole();
    const std::size_t largest = last_node(whole);
    const State empty = empty_state(largest);
    std::vector<State> states(slab, empty);
    State next = empty;
    extend(states[0]);  // V_0(x) = max(0, 1 - x), 0 at the nodes
    for (std::size_t index = 0; at_.next();) {
      index = index + 1 == slab ? 0 : index + 1;
      next.last = last_node(at_);
      bool first = true;
      for (std::size_t k = 0; k < all_.size(); ++k)
        if (at_.of(k) > 0) {
          use(k, k == 0 ? states[index] : states[index - at_.stride(k)], next, states[index].hints[k], first);
          first = false;
        }
      std::swap(states[index].above, next.above);
      std::swap(states[index].below, next.below);
      states[index].last = next.last;
      extend(states[index]);
    }
    const State& end = states[slab - 1];
    const auto values = [&](const Nodes& nodes) { return std::vector<double>(nodes.at_zero(), nodes.at_zero() + end.last + 1); };
    return {grid_.h, values(end.above), values(end.below), end.last == whole_node(whole)};
  }

 private:
  [[nodiscard]] State empty_state(std::size_t largest) const {
    State state{Nodes(widest_, largest, true), Nodes(widest_, largest, false), {}, 0};
    for (const std::size_t cells : grid_.cells) state.hints.emplace_back(largest / row_length + 2, static_cast<int>(cells / 2));
    return state;
  }
  [[nodiscard]] std::size_t whole_node(const Counts& counts) const {
    std::size_t sum = 0;
    for (std::size_t k = 0; k < all_.size(); ++k) sum += static_cast<std::size_t>(counts.of(k)) * grid_.cells[k];
    return sum;
  }
  [[nodiscard]] std::size_t last_node(const Counts& counts) const {
    return std::min(static_cast<std::size_t>(std::ceil(counts.window(depth_) / grid_.h.lo)), whole_node(counts));
  }
  /// As far as the states with one more use need it.
  void extend(State& state) {
    std::size_t needed = state.last;
    const bool complete = state.last == whole_node(at_);
    for (std::size_t k = 0; k < all_.size(); ++k)
      if (at_.of(k) < all_[k].uses) {
        at_.add_one(k, 1);
        needed = std::max(needed, last_node(at_));
        at_.add_one(k, -1);
      }
    state.above.extend(high_mirror_, state.last, complete, needed);
    state.below.extend(low_mirror_, state.last, complete, needed);
  }

  /// Joins the value of a use of range k to the next state.
  void use(std::size_t k, const State& from, State& next, std::vector<int>& hints, bool first) {
    RangeStep& step = steps_[k];
    const std::uint64_t uses = at_.total();
    const bool anywhere = uses <= 100 || uses % 16 == 0 || at_.of(0) <= 1;  // with many uses to go the best t changes little
    find_choices(step, from.above, hints, anywhere, next.last);
    std::array<double, row_length> above{}, below{};
    for (std::size_t start = 0; start <= next.last; start += row_length) {
      const std::size_t row = start / row_length;
      step.plan.make(hints[row], hints[row + 1], static_cast<int>(step.cells), 2 + static_cast<int>(row_length / (2 * uses + 2)));
      double *const to_above = next.above.at_zero() + start, *const to_below = next.below.at_zero() + start;
      raise_from(step, from.above.at_zero() + start, uses, first ? to_above : above.data());
      reach_row(from.below.at_zero() + start, step.cells, step.plan.choices.data(), step.plan.choices.size(), step.low,
                first ? to_below : below.data());
      if (first) continue;
      for (std::size_t i = 0; i < row_length; ++i) {
        to_above[i] = std::max(to_above[i], above[i]);
        to_below[i] = std::max(to_below[i], below[i]);
      }
    }
  }

  // The best of the far t is convex in x, so that a chord bounds it.
  static void raise_from(const RangeStep& step, const double* from, std::uint64_t uses, double* to) {
    constexpr std::uint64_t few_uses = 32;  // after which profiles are smooth enough for chords
    const int* const ends = step.plan.ends.data();
    const std::size_t last = step.plan.ends.size() - 1;
    std::array<double, per_vector> far{};
    if (uses <= few_uses) return raise_row(from, step.cells, {ends, 0, last}, step.high, step.factors, far.data(), to);
    raise_far(from, step.cells, {ends, 0, step.plan.first_near}, step.high, step.factors, far.data());
    raise_far(from, step.cells, {ends, step.plan.last_near, last}, step.high, step.factors, far.data());
    raise_row(from, step.cells, {ends, step.plan.first_near, step.plan.last_near}, step.high, step.factors, far.data(), to);
  }

  void find_choices(const RangeStep& step, const Nodes& above, std::vector<int>& hints, bool anywhere, std::size_t last) const {
    for (std::size_t start = 0; start <= last + row_length; start += row_length) {
      const std::size_t node = std::min(start, last);
      const BestChoice choice(above.at_zero() + node, step.high);
      int& hint = hints[start / row_length];
      hint = anywhere ? choice.anywhere(hint, node, at_.total()) : choice.near(hint);
    }
  }

  std::vector<UsesOfRange> all_;
  RangeGrid grid_;
  double depth_;
  Counts at_;
  std::vector<RangeStep> steps_;
  std::size_t widest_ = 0;
  Mirror high_mirror_, low_mirror_;
};

}  // namespace

namespace {

/// The nearest numbers of 28 bits around it: their multiples up to 2^24 are exact.
Interval within_few_bits(Interval step) {
  const double unit = std::ldexp(1.0, std::ilogb(step.lo) - 27);
  return {std::floor(step.lo / unit) * unit, std::ceil(step.hi / unit) * unit};
}

}  // namespace

// The real numbers cells * h.hi are at least, and cells * h.lo at most, the ranges.
RangeGrid grid_of(const std::vector<UsesOfRange>& all, std::vector<std::size_t> cells) {
  Interval h{infinity, 0};
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Interval one = all[k].range / static_cast<double>(cells[k]);
    h = {std::min(h.lo, one.lo), std::max(h.hi, one.hi)};
  }
  return {within_few_bits(h), std::move(cells)};
}

AdaptiveTable adaptive_table(const std::vector<UsesOfRange>& all, const RangeGrid& grid, double depth) {
  return TableMaker(all, grid, depth).make();
}

namespace {

constexpr double node_budget = 9e7;                        // nodes of all steps: less than a second
constexpr double quick_budget = 1.5e7;                     // the same for a grid that is finer than enough
constexpr double usual_depth = 8.5;                        // standard deviations; delta is then about 1e-17
constexpr double whole_depth = 38;                         // delta is then about 1e-300
constexpr std::size_t most_cells = 8192;                   // of one range: the bounds then differ by less than 1e-7
constexpr std::size_t enough_cells = 860;                  // a finer grid is worth less than a deeper one
constexpr std::size_t fewest_cells = 4;                    // with fewer, the product of the pairs is as good
constexpr double most_range = 300;                         // beyond it a cell is too wide to be of use
constexpr double wide_values = 1e-3;                       // relative width near the last node, where the deeper table is better
constexpr std::uint64_t most_states_of_table = 1'000'000;  // far more than the budget allows
constexpr double most_values = 8e6;                        // in the states of a slab: 128 MB
constexpr double most_misfit = 1e-4;                       // of ranges on a common grid; with more, products of pairs are as good

/// Cells of the widest range. The number of nodes of all states is inverse to the step of the grid.
std::size_t cells_within_budget(const std::vector<UsesOfRange>& all, double depth) {
  double states = 1, widest = 0;
  for (const UsesOfRange& one : all) {
    states *= static_cast<double>(one.uses) + 1;
    widest = std::max(widest, one.range.hi);
  }
  if (!(widest <= most_range) || states > static_cast<double>(most_states_of_table)) return 0;
  Counts at(all);
  double windows = 0, last = 0;
  while (at.next()) windows += last = at.window(depth);
  windows *= all.size() == 1 ? 1.0 : 2.0 * static_cast<double>(all.size());  // a node of several ranges takes longer (measured)
  const auto cells = [&](double nodes) { return std::min(most_cells, static_cast<std::size_t>(nodes * widest / windows)); };
  const double slab = states / (static_cast<double>(all[0].uses) + 1);
  return std::min(std::max(cells(quick_budget), std::min(enough_cells, cells(node_budget))),
                  static_cast<std::size_t>(std::min(1e9, most_values * widest / (2 * slab * last))));
}

/// About how far apart the variances of the bounds above and below are, relative (measured).
double width_of_variance(std::size_t cells) { return 1.4 / (static_cast<double>(cells) * static_cast<double>(cells)); }

/// The grid with at most so many cells of the widest range that fits all ranges best. Empty if none fits.
std::optional<RangeGrid> fitting_grid(const std::vector<UsesOfRange>& all, std::size_t most) {
  double widest = 0;
  for (const UsesOfRange& one : all) widest = std::max(widest, one.range.hi);
  std::optional<std::vector<std::size_t>> best;
  double least = most_misfit;
  for (std::size_t n = most; n >= std::max(fewest_cells, most / 2); --n) {
    std::vector<std::size_t> cells;
    double misfit = 0;
    for (const UsesOfRange& one : all) {
      const double exact = one.range.hi / widest * static_cast<double>(n), near = std::round(exact);
      cells.push_back(static_cast<std::size_t>(near));
      misfit = near >= fewest_cells ? std::max(misfit, std::abs(near - exact) / exact) : infinity;
    }
    if (misfit < 0.9 * least || (misfit <= least && !best)) {
      best = std::move(cells);
      least = misfit;
      if (misfit < 1e-12) break;
    }
  }
  if (!best) return std::nullopt;
  return grid_of(all, std::move(*best));
}

/// Bounds of the profile between and beyond the nodes of a table: the profile is convex in e^epsilon. [bounded-range-adaptive]
class TableProfile {
 public:
  explicit TableProfile(AdaptiveTable table) : table_(std::move(table)) {}

  /// Whether there are values near epsilon >= 0, or the profile is 0 there.
  [[nodiscard]] bool covers(double epsilon) const { return table_.complete || epsilon < place(last(), table_.h.lo); }

  /// A loss near the last node.
  [[nodiscard]] double end() const { return place(last(), table_.h.lo); }

  [[nodiscard]] double above(double epsilon) const {
    const auto [left, right] = around(epsilon, table_.h.hi);
    const double high = table_.above[left];
    if (right == left || (right > last() && !table_.complete)) return high;
    const double low = right > last() ? 0 : table_.above[right];
    const double share = std::min(1.0, growth(epsilon - place(left, table_.h.hi)) / growth(table_.h.hi) * down_factor);
    return std::min(high, (high - share * std::max(0.0, high - low)) * up_factor);
  }

  [[nodiscard]] double below(double epsilon) const {
    const auto [left, right] = around(epsilon, table_.h.lo);
    double best = right <= last() ? table_.below[right] : 0;
    if (right == left) return best;
    const double to_left = epsilon - place(left, table_.h.lo), to_right = place(right, table_.h.lo) - epsilon;
    for (const std::size_t reach : {std::size_t{2}, std::size_t{16}}) {
      const double length = place(reach, table_.h.lo);
      if (left >= reach + 1) {  // the chord on the left, extended to the right
        const double ratio = growth(to_left) / -growth(-length) * up_factor;
        const double fall = std::max(0.0, at_node_of_below(left - reach) - table_.below[left]) * up_factor;
        best = std::max(best, (table_.below[left] - fall * ratio) * down_factor);
      }
      if (right + reach <= last()) {  // the chord on the right, extended to the left
        const double ratio = -growth(-to_right) / growth(length) * down_factor;
        const double fall = (table_.below[right] - at_node_of_below(right + reach)) * down_factor;
        best = std::max(best, (table_.below[right] + std::max(0.0, fall) * ratio) * down_factor);
      }
    }
    return best;
  }

 private:
  // Multiples of the steps are exact, so each result is a few roundings and values of expm1 away from the truth, 32 units at most.
  static double growth(double length) { return std::expm1(length); }

  [[nodiscard]] std::size_t last() const { return table_.above.size() - 1; }
  [[nodiscard]] static double place(std::size_t node, double h) { return static_cast<double>(node) * h; }
  /// The node at or left of epsilon >= 0, and the one at or right of it; beyond the table both ends are at most last + 1.
  [[nodiscard]] std::pair<std::size_t, std::size_t> around(double epsilon, double h) const {
    auto left = static_cast<std::size_t>(std::max(0.0, std::floor(std::min(epsilon / h, static_cast<double>(last())))));
    while (left > 0 && place(left, h) > epsilon) --left;
    while (left < last() && place(left + 1, h) <= epsilon) ++left;
    return {left, place(left, h) < epsilon ? left + 1 : left};
  }
  /// An upper bound of the profile at a node > 0 of the values below, whose place differs from that of the values above.
  [[nodiscard]] double at_node_of_below(std::size_t node) const { return above(place(node, table_.h.lo)); }

  AdaptiveTable table_;
};

std::string in_words(const std::vector<UsesOfRange>& all) {
  std::uint64_t uses = 0;
  for (const UsesOfRange& one : all) uses += one.uses;
  const std::string steps = std::to_string(uses) + " steps of ";
  if (all.size() == 1) return steps + "equal range, each chosen after all earlier outcomes: their worst case on a grid";
  return steps + std::to_string(all.size()) + " ranges, each chosen after all earlier outcomes, in the worst order: on a grid";
}

/// [bounded-range-adaptive] The tables are computed when they are needed first: one for usual values of delta, and one for tiny ones.
class AdaptiveRangeLoss final : public Loss,
                                public ClosedForms,
                                public ComposedForm,
                                public std::enable_shared_from_this<AdaptiveRangeLoss> {
 public:
  AdaptiveRangeLoss(std::vector<UsesOfRange> all, Citations origin) : all_(std::move(all)), origin_(std::move(origin)) {
    std::uint64_t uses = 0;
    for (const UsesOfRange& one : all_) {
      largest_ = largest_ + Interval::exactly(static_cast<double>(one.uses)) * one.range;
      uses += one.uses;
    }
    origin_.emplace_back("adaptive-block", std::to_string(uses) + " uses of " +
                                               (all_.size() == 1 ? "one adaptive mechanism" : "adaptive mechanisms") +
                                               " are one pair, whatever runs between them");
    gaussian_ = choices_gaussian(all_, origin_);
    origin_.emplace_back("bounded-range-adaptive", in_words(all_));
    for (const double depth : {whole_depth, 2 * usual_depth})  // as deep as a fine grid can be
      if (depth_ == usual_depth && cells_within_budget(all_, depth) >= enough_cells) depth_ = depth;
  }

  [[nodiscard]] Interval delta(Direction, Interval epsilon) const override { return profile(epsilon, Depth::whole); }
  [[nodiscard]] LossPointer composed_form() const override { return std::make_shared<InComposition>(shared_from_this()); }
  /// By the table for usual values alone: a search among deltas would also ask far beyond it.
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction, Interval delta) const override {
    const TableProfile& usual = table(usual_, depth_);
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
  [[nodiscard]] Capabilities capabilities(Direction) const override { return {.closed_forms = this, .composed_form = this}; }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  [[nodiscard]] Tail tail() const override { return pure_tail({largest_, largest_}); }
  [[nodiscard]] std::string key() const override {
    std::string key;
    for (const UsesOfRange& one : all_) key += make_key("adaptive_range", {one.range, Interval::exactly(static_cast<double>(one.uses))});
    return key;
  }
  void cite() const override { record(origin_); }

 private:
  enum class Depth { usual, whole };

  /// The same without the table for tiny values, which few compositions need: there a Gaussian pair bounds it. [choices-gaussian]
  class InComposition final : public Loss {
   public:
    explicit InComposition(std::shared_ptr<const AdaptiveRangeLoss> block) : block_(std::move(block)) {}
    [[nodiscard]] Interval delta(Direction, Interval epsilon) const override { return block_->profile(epsilon, Depth::usual); }
    [[nodiscard]] bool symmetric() const override { return true; }
    [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
    [[nodiscard]] Tail tail() const override { return block_->tail(); }
    [[nodiscard]] Capabilities capabilities(Direction) const override { return {.own_width = block_->own_width()}; }
    [[nodiscard]] std::string key() const override { return block_->key(); }
    void cite() const override { block_->cite(); }

   private:
    std::shared_ptr<const AdaptiveRangeLoss> block_;
  };

  /// About five deviations above the mean; beside other lines a narrower one is not worth its time.
  [[nodiscard]] double own_width() const { return std::max(2e-6, 12 * width_of_variance(cells_within_budget(all_, depth_))); }
  [[nodiscard]] Interval profile(Interval epsilon, Depth depth) const {
    cite();
    if (epsilon.lo == epsilon.hi) return at(epsilon.lo, depth);
    return {at(epsilon.hi, depth).lo, at(epsilon.lo, depth).hi};
  }
  [[nodiscard]] Interval at(double epsilon, Depth depth) const {
    if (epsilon == -infinity) return Interval::exactly(1);
    if (epsilon < 0) return mirrored_delta(epsilon, at(-epsilon, depth));
    if (epsilon >= largest_.hi) return Interval::exactly(0);
    const TableProfile& usual = table(usual_, depth_);
    Interval found = bounds(usual, epsilon);
    if (usual.covers(epsilon) && found.width() <= wide_values * found.hi) return found;
    if (depth == Depth::usual) {
      if (gaussian_ == nullptr) return found;
      const double above = std::min(found.hi, gaussian_->delta(Direction::remove, Interval::exactly(epsilon)).hi);
      return {std::min(found.lo, above), above};
    }
    const Interval deeper = bounds(table(deep_, whole_depth), epsilon);
    return {std::max(found.lo, deeper.lo), std::min(found.hi, deeper.hi)};
  }
  [[nodiscard]] static Interval bounds(const TableProfile& profile, double epsilon) {
    const double above = std::clamp(profile.above(epsilon), 0.0, 1.0);
    return {std::clamp(profile.below(epsilon), 0.0, above), above};
  }

  /// There is one of the usual depth; a deeper one may be too coarse.
  [[nodiscard]] std::optional<RangeGrid> fitting_grid_for(double depth) const {
    if (auto grid = fitting_grid(all_, std::max(fewest_cells, cells_within_budget(all_, depth)))) return grid;
    return fitting_grid(all_, cells_within_budget(all_, usual_depth));
  }

  struct Once {
    std::once_flag flag;
    std::optional<TableProfile> profile;
  };
  [[nodiscard]] const TableProfile& table(Once& once, double depth) const {
    std::call_once(once.flag, [&] { once.profile.emplace(adaptive_table(all_, *fitting_grid_for(depth), depth)); });
    return *once.profile;
  }

  std::vector<UsesOfRange> all_;  // the one with the most uses first
  Interval largest_ = Interval::exactly(0);
  double depth_ = usual_depth;  // of the table for usual values
  Citations origin_;
  LossPointer gaussian_;  // above it; may be null
  mutable Once usual_, deep_;
};

}  // namespace

LossPointer adaptive_range_loss(std::vector<UsesOfRange> all, const Citations& origin) {
  for (const UsesOfRange& one : all)
    if (!(one.range.lo > 0 && (one.range.hi - one.range.lo) <= 1e-9 * one.range.lo)) return nullptr;
  std::stable_sort(all.begin(), all.end(), [](const UsesOfRange& one, const UsesOfRange& other) { return one.uses > other.uses; });
  const std::size_t cells = cells_within_budget(all, usual_depth);
  if (!fitting_grid(all, cells) || width_of_variance(cells) > excess_of_choices_gaussian(all)) return nullptr;
  return std::make_shared<AdaptiveRangeLoss>(std::move(all), origin);
}

}  // namespace tradeoff::detail
