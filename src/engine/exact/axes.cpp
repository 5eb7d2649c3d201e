// SPDX-License-Identifier: Apache-2.0
#include "engine/exact/axes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <new>
#include <numeric>

#include "engine/exact/wide_math.h"
#include "numeric/conversions.h"

namespace tradeoff::detail::exact {

using numeric::add_up;
using numeric::up_by;

namespace {

Axis make_two_sided(const Atom& up, const Atom& down, bool mirrored) {
  Axis axis{up.loss, up.mass + down.mass, true, 0, 0};
  const Wide loss = middle(up.loss);
  if (mirrored && loss < 11000) {
    // The odds are exactly exp(loss); libm is assumed accurate to 8 units of long double (tests compare it with MPFR).
    axis.odds = wide_exp(loss);
    axis.odds_error = add_up(radius(up.loss), 16 * wide_unit);
    return axis;
  }
  const bool flip = up.mass.hi < down.mass.hi;  // odds of at least 1: the grid stores the likelier half
  if (flip) axis.loss = -axis.loss;
  const Interval odds = flip ? down.mass / up.mass : up.mass / down.mass;
  axis.odds = middle(odds);
  axis.odds_error = log_radius(odds);
  return axis;
}

/// Splits counts one after the other by binomial rows with odds weight / (all later weights).
struct Splitter {
  Wide odds = 0;
  double odds_error = 0;
};

std::vector<Splitter> make_splitters(const std::vector<Interval>& weights) {
  std::vector<Splitter> splitters(weights.size());
  Interval later = Interval::exactly(0);
  for (std::size_t i = weights.size(); i-- > 0;) {
    if (later.hi > 0) {
      const Interval odds = weights[i] / later;
      splitters[i] = {middle(odds), log_radius(odds)};
    }
    later = later + weights[i];
  }
  return splitters;
}

/// The rows of one odds for every count in use; kept for the next use, if there is one.
class Rows {
 public:
  Rows(Wide odds, std::uint64_t most, bool keep) : odds_(odds), rows_(keep ? most + 1 : 1) {}
  const BinomialRow& operator()(std::uint64_t count) {
    const bool keep = rows_.size() > 1;
    BinomialRow& row = rows_[keep ? count : 0];
    if (!keep || row.mass.empty()) row = binomial_row(count, odds_);
    return row;
  }

 private:
  Wide odds_;
  std::vector<BinomialRow> rows_;
};

constexpr std::uint64_t most_boxes = 0xffff'ffff;  // tens of gigabytes

/// The dense grid of net counts x >= 0 with |x|_1 <= budget and |x|_1 = budget (mod 2). Negative counts follow from the mirror rule of an
/// axis, mass(-x) = mass(x) * odds^-x. Rows along the last axis are contiguous; the other coordinates give their position.
class Grid {
 public:
  Grid(std::size_t axes, std::uint64_t budget) : axes_(axes), budget_(budget), width_(budget + 1) {
    std::uint64_t boxes = 1;
    for (std::size_t i = 1; i < axes; ++i) {
      boxes *= width_;
      if (boxes > most_boxes) throw std::bad_alloc();  // before the product or a size of 32 bits overflows
    }
    place_.assign(numeric::to_size(boxes), 0);
    std::size_t next = 0;
    for_each_row([&](std::size_t box, std::uint64_t left, const std::vector<std::uint64_t>&) {
      place_[box] = next;
      next += left / 2 + 1;
    });
    cells_.assign(next, 0);
  }

  [[nodiscard]] std::size_t step_box(std::size_t box, std::uint64_t x) const { return box * width_ + x; }

  /// Adds weight * (upper half of the row) for `count` draws on the last axis, where `left` is the remaining budget.
  void add(std::size_t box, std::uint64_t left, std::uint64_t count, Wide weight, const BinomialRow& row) {
    const std::uint64_t first = std::max((count + 1) / 2, row.first);  // x = 2a - count >= 0
    Wide* cell = cells_.data() + place_[box] + (2 * first - count - left % 2) / 2;
    for (std::size_t i = first - row.first; i < row.mass.size(); ++i) *cell++ += weight * row.mass[i];
  }

  /// Visits every point with its mass, for all signs.
  template <typename Receive>
  void for_each_point(const std::vector<std::vector<Wide>>& mirror, const Receive& receive) const {
    std::vector<std::int64_t> x(axes_, 0);
    for_each_row([&](std::size_t box, std::uint64_t left, const std::vector<std::uint64_t>& head) {
      for (std::uint64_t i = 0; i <= left / 2; ++i) {
        for (std::size_t axis = 0; axis + 1 < axes_; ++axis) x[axis] = static_cast<std::int64_t>(head[axis]);
        x.back() = static_cast<std::int64_t>(2 * i + left % 2);
        with_signs(0, x, cells_[place_[box] + i], mirror, receive);
      }
    });
  }

 private:
  template <typename Receive>
  void for_each_row(const Receive& receive) const {
    std::vector<std::uint64_t> head(axes_ - 1, 0);
    visit_rows(0, 0, budget_, head, receive);
  }
  template <typename Receive>
  void visit_rows(std::size_t axis, std::size_t box, std::uint64_t left, std::vector<std::uint64_t>& head, const Receive& receive) const {
    if (axis + 1 == axes_) return receive(box, left, head);
    for (std::uint64_t value = 0; value <= left; ++value) {
      head[axis] = value;
      visit_rows(axis + 1, step_box(box, value), left - value, head, receive);
    }
  }
  template <typename Receive>
  void with_signs(std::size_t axis, std::vector<std::int64_t>& x, Wide mass, const std::vector<std::vector<Wide>>& mirror,
                  const Receive& receive) const {
    if (mass < smallest_mass) return;
    if (axis == axes_) return receive(x, mass);
    with_signs(axis + 1, x, mass, mirror, receive);
    if (x[axis] == 0) return;
    const Wide share = mirror[axis][static_cast<std::size_t>(x[axis])];
    x[axis] = -x[axis];
    with_signs(axis + 1, x, mass * share, mirror, receive);
    x[axis] = -x[axis];
  }

  std::size_t axes_;
  std::uint64_t budget_;
  std::size_t width_;
  std::vector<std::size_t> place_;
  std::vector<Wide> cells_;
};

/// [multi-constraint-composition] The k-fold distribution of a mixture of two-point steps (and of steps of loss 0), by multinomial counts.
class MixturePower {
 public:
  MixturePower(const Axes& axes, std::uint64_t times) : axes_(axes) {
    std::vector<Interval> weights;
    for (const Axis& axis : axes.two_sided) weights.push_back(axis.weight);
    const bool keep = weights.size() > 1;
    for (const Splitter& splitter : make_splitters(weights)) count_rows_.emplace_back(splitter.odds, times, keep);
    for (const Axis& axis : axes.two_sided) {
      step_rows_.emplace_back(axis.odds, times, keep);
      std::vector<Wide>& powers = mirror_.emplace_back(times + 1, Wide{1});
      for (std::uint64_t x = 1; x <= times; ++x) powers[x] = powers[x - 1] / axis.odds;
    }
    if (axes.zero) {
      Interval moving = Interval::exactly(0);
      for (const Interval weight : weights) moving = moving + weight;
      zero_odds_ = make_splitters({*axes.zero, moving}).front().odds;
    }
  }

  /// Appends the points of `draws` draws, scaled and shifted.
  void append(std::uint64_t draws, Wide weight, Wide offset, std::vector<Point>& points) {
    if (axes_.two_sided.empty()) {
      points.push_back({static_cast<double>(offset), weight});
      return;
    }
    append_parity(draws, draws, weight, offset, points);
    if (axes_.zero && draws > 0) append_parity(draws, draws - 1, weight, offset, points);
  }

 private:
  void append_parity(std::uint64_t draws, std::uint64_t budget, Wide weight, Wide offset, std::vector<Point>& points) {
    Grid grid(axes_.two_sided.size(), budget);
    if (axes_.zero) {
      const BinomialRow still = binomial_row(draws, zero_odds_);
      for (std::size_t i = 0; i < still.mass.size(); ++i) {
        const std::uint64_t moving = draws - (still.first + i);
        if (moving <= budget && (budget - moving) % 2 == 0) fill(grid, 0, moving, weight * still.mass[i], 0, budget);
      }
    } else {
      fill(grid, 0, draws, weight, 0, budget);
    }
    grid.for_each_point(mirror_, [&](const std::vector<std::int64_t>& x, Wide mass) {
      Wide loss = offset;
      for (std::size_t i = 0; i < x.size(); ++i) loss += static_cast<Wide>(x[i]) * middle(axes_.two_sided[i].loss);
      points.push_back({static_cast<double>(loss), mass});
    });
  }

  void fill(Grid& grid, std::size_t axis, std::uint64_t draws, Wide weight, std::size_t box, std::uint64_t left) {
    if (axis + 1 == axes_.two_sided.size()) return grid.add(box, left, draws, weight, step_rows_[axis](draws));
    const BinomialRow& counts = count_rows_[axis](draws);
    for (std::size_t i = 0; i < counts.mass.size(); ++i) {
      const std::uint64_t count = counts.first + i;
      const BinomialRow& steps = step_rows_[axis](count);
      for (std::uint64_t up = std::max((count + 1) / 2, steps.first); up < steps.first + steps.mass.size(); ++up) {
        const Wide share = weight * counts.mass[i] * steps.mass[up - steps.first];
        const std::uint64_t x = 2 * up - count;
        if (share > 0) fill(grid, axis + 1, draws - count, share, grid.step_box(box, x), left - x);
      }
    }
  }

  const Axes& axes_;
  std::vector<Rows> count_rows_;
  std::vector<Rows> step_rows_;
  std::vector<std::vector<Wide>> mirror_;  // odds^-x of each axis
  Wide zero_odds_ = 0;
};

/// The weights in the order in which counts are split: each one-sided axis, then all the others together.
std::vector<Interval> outer_weights(const Axes& axes) {
  std::vector<Interval> weights;
  for (const Axis& axis : axes.one_sided) weights.push_back(axis.weight);
  if (!axes.two_sided.empty() || axes.zero) {
    Interval rest = axes.zero.value_or(Interval::exactly(0));
    for (const Axis& axis : axes.two_sided) rest = rest + axis.weight;
    weights.push_back(rest);
  }
  return weights;
}

/// A bound of the log error of a mass of the k-fold distribution: odds, rows, products and sums [atom-kernel].
double axes_spread(const Axes& axes, std::uint64_t times, double terms) {
  const double k = static_cast<double>(times);
  double odds = 0;
  const auto include = [&odds](double error) { odds = std::max(odds, error); };
  std::vector<Interval> weights;
  for (const Axis& axis : axes.two_sided) {
    include(axis.odds_error);
    weights.push_back(axis.weight);
  }
  double splits = 0;
  const auto split = [&](const std::vector<Interval>& list) {
    for (const Splitter& splitter : make_splitters(list)) splits += splitter.odds != 0 ? splitter.odds_error : 0;
  };
  split(weights);
  split(outer_weights(axes));
  if (axes.zero) {
    Interval moving = Interval::exactly(0);
    for (const Interval weight : weights) moving = moving + weight;
    split({*axes.zero, moving});
  }
  const double levels = static_cast<double>(2 * weights.size() + axes.one_sided.size() + 3);
  // Rows cost 8 units per draw and level, the mirror rule 2; a cell adds at most `terms` products of 2 * levels factors.
  return up_by(k * (2 * odds + 2 * splits) + (10 * k * levels + 8 * levels + terms) * wide_unit * 1.01, 64);
}

}  // namespace

BinomialRow binomial_row(std::uint64_t count, Wide odds) {
  const Wide n = static_cast<Wide>(count);
  const Wide mean = odds > 1 ? n / (1 + 1 / odds) : n * odds / (1 + odds);
  const auto mode = std::min(count, static_cast<std::uint64_t>(std::max<Wide>(mean, 0)));
  std::vector<Wide> down;
  Wide value = 1;
  for (std::uint64_t a = mode; a > 0; --a) {
    value = value * (static_cast<Wide>(a) / static_cast<Wide>(count - a + 1)) / odds;
    if (value < smallest_mass) break;
    down.push_back(value);
  }
  BinomialRow row;
  row.first = mode - down.size();
  row.mass.assign(down.rbegin(), down.rend());
  row.mass.push_back(1);
  value = 1;
  for (std::uint64_t a = mode; a < count; ++a) {
    value = value * (static_cast<Wide>(count - a) / static_cast<Wide>(a + 1)) * odds;
    if (value < smallest_mass) break;
    row.mass.push_back(value);
  }
  const Wide total = std::accumulate(row.mass.begin(), row.mass.end(), Wide{0});
  for (Wide& mass : row.mass) mass /= total;
  return row;
}

Axes axes_of(const Atoms& atoms) {
  Axes axes;
  std::vector<bool> used(atoms.finite.size(), false);
  for (std::size_t i = 0; i < atoms.finite.size(); ++i) {
    if (used[i]) continue;
    const Atom& atom = atoms.finite[i];
    if (atom.loss == Interval::exactly(0)) {
      axes.zero = atom.mass;
      continue;
    }
    auto partner = std::partition_point(atoms.finite.begin() + static_cast<std::ptrdiff_t>(i) + 1, atoms.finite.end(),
                                        [&](const Atom& other) { return other.loss.lo > -atom.loss.hi; });
    while (partner != atoms.finite.end() && partner->loss.lo == -atom.loss.hi && partner->loss != -atom.loss) ++partner;
    if (partner == atoms.finite.end() || partner->loss != -atom.loss) {
      axes.one_sided.push_back({atom.loss, atom.mass, false, 0, 0});
    } else {
      used[static_cast<std::size_t>(partner - atoms.finite.begin())] = true;
      axes.two_sided.push_back(make_two_sided(atom, *partner, atoms.mirrored));
    }
  }
  return axes;
}

Size axes_size(const Axes& axes, std::uint64_t times) {
  const double k = static_cast<double>(times);
  const std::size_t outcomes = 2 * axes.two_sided.size() + axes.one_sided.size() + (axes.zero ? 1 : 0);
  if (outcomes <= 1) return {1, 1};
  const double free = static_cast<double>(outcomes) - 1;
  const double terms = std::exp(std::min(700.0, std::lgamma(k + free + 1) - std::lgamma(free + 1) - std::lgamma(k + 1)));
  if (axes.two_sided.size() == 1 && outcomes == 2) return {k + 1, k + 1};
  if (times > 100000) return {infinity, infinity};
  // reach[s]: points after s draws. Two-sided axes: vectors with |x|_1 = s have the generating function ((1 + t) / (1 - t))^axes.
  std::vector<double> reach(times + 1, 0.0);
  reach[0] = 1;
  for (std::size_t axis = 0; axis < axes.two_sided.size(); ++axis) {
    double before = 0;
    for (double& value : reach) {
      const double here = value;
      value = here + 2 * before;
      before += here;
    }
  }
  const std::size_t sums = axes.one_sided.size() + (axes.zero ? 1 : 0);
  if (!axes.two_sided.empty() && !axes.zero)
    for (std::uint64_t s = 2; s <= times; ++s) reach[s] += reach[s - 2];
  for (std::size_t sum = 0; sum < sums; ++sum) std::partial_sum(reach.begin(), reach.end(), reach.begin());
  // Rows for a single use cost one division per entry; for a distribution with one two-sided axis that is all the work.
  return {reach[times], axes.two_sided.size() == 1 ? 8 * terms : terms};
}

Law power_by_axes(const Axes& axes, std::uint64_t times, double terms) {
  Law law;
  MixturePower rest(axes, times);
  const bool has_rest = !axes.two_sided.empty() || axes.zero;
  const std::vector<Splitter> splitters = make_splitters(outer_weights(axes));
  const std::function<void(std::size_t, std::uint64_t, Wide, Wide)> descend = [&](std::size_t axis, std::uint64_t draws, Wide weight,
                                                                                  Wide offset) {
    if (axis == axes.one_sided.size()) return rest.append(draws, weight, offset, law.points);
    const Wide loss = middle(axes.one_sided[axis].loss);
    if (axis + 1 == splitters.size() && !has_rest) {
      law.points.push_back({static_cast<double>(offset + static_cast<Wide>(draws) * loss), weight});
      return;
    }
    const BinomialRow counts = binomial_row(draws, splitters[axis].odds);
    for (std::size_t i = 0; i < counts.mass.size(); ++i) {
      const std::uint64_t count = counts.first + i;
      const Wide share = weight * counts.mass[i];
      if (share >= smallest_mass) descend(axis + 1, draws - count, share, offset + static_cast<Wide>(count) * loss);
    }
  };
  descend(0, times, 1, 0);
  std::sort(law.points.begin(), law.points.end(), [](const Point& a, const Point& b) { return a.loss > b.loss; });
  double uncertain = 0;
  double longest = 0;
  for (const std::vector<Axis>* list : {&axes.two_sided, &axes.one_sided}) {
    for (const Axis& axis : *list) {
      uncertain = std::max(uncertain, radius(axis.loss));
      longest = std::max(longest, std::max(std::abs(axis.loss.lo), std::abs(axis.loss.hi)));
    }
  }
  // Sums of steps are computed in long double and rounded to double at the end; no term exceeds the largest total.
  law.shift = up_by(static_cast<double>(times) * (uncertain + longest * 0x1.1p-53), 8);
  law.jitter = law.shift;
  law.spread = axes_spread(axes, times, terms);
  // A bound of the omitted mass: a cell, a share or a row entry below smallest_mass each; there are at most 16 (terms + draws) of them.
  law.lost = 16 * static_cast<Wide>(terms + static_cast<double>(times) + 1) * smallest_mass;
  return law;
}

}  // namespace tradeoff::detail::exact
