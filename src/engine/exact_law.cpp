// SPDX-License-Identifier: Apache-2.0
#include "engine/exact_law.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "numeric/arithmetic.h"

namespace tradeoff::exact {

namespace {

using numeric::add_up;
using numeric::up_by;

Wide middle(Interval a) { return (static_cast<Wide>(a.lo) + static_cast<Wide>(a.hi)) / 2; }
/// Distance from the middle to either end, with room for the rounding of the middle.
double radius(Interval a) { return up_by((a.hi - a.lo) / 2 + std::max(std::abs(a.lo), std::abs(a.hi)) * wide_unit, 2); }
/// Half the width of log a, a > 0: the log error of taking its middle.
double log_radius(Interval a) { return a.lo > 0 ? up_by((a.hi - a.lo) / a.lo, 4) + 2 * wide_unit : infinity; }

double largest_loss(const Law& law) {
  return law.points.empty() ? 0 : std::max(std::abs(law.points.front().loss), std::abs(law.points.back().loss));
}

/// A direction in which a loss can step. Two-sided: +loss and -loss with these odds. One-sided: only +loss (which may be negative).
struct Axis {
  Interval loss;
  Interval weight;
  bool two_sided = false;
  Wide odds = 0;         // mass at +loss over mass at -loss
  double odds_error = 0;  // log error of the odds
};

/// A finite law as steps: two-sided axes first come from losses that occur with both signs; a loss of 0 is kept apart.
struct Axes {
  std::vector<Axis> two_sided;
  std::vector<Axis> one_sided;
  std::optional<Interval> zero;
};

Axis make_two_sided(const Atom& up, const Atom& down, bool mirrored) {
  Axis axis{up.loss, up.mass + down.mass, true, 0, 0};
  const Wide loss = middle(up.loss);
  if (mirrored && loss < 11000) {
    // The odds are exp(loss) exactly; libm is trusted to 8 units of long double (tests compare it with MPFR).
    axis.odds = std::exp(loss);
    axis.odds_error = add_up(radius(up.loss), 16 * wide_unit);
    return axis;
  }
  const bool flip = up.mass.hi < down.mass.hi;  // odds of at least 1: the grid keeps the likelier half
  if (flip) axis.loss = -axis.loss;
  const Interval odds = flip ? down.mass / up.mass : up.mass / down.mass;
  axis.odds = middle(odds);
  axis.odds_error = log_radius(odds);
  return axis;
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

/// Number of points (integer vectors that k steps can reach) and of terms (ways to count the outcomes) of a law given by axes.
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
  // Rows that are made for one use cost a division an entry; where a law has one two-sided axis that is all the work.
  return {reach[times], axes.two_sided.size() == 1 ? 8 * terms : terms};
}

/// Counts split one after the other by binomial rows with odds weight / (all later weights).
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

/// Rows of one odds for every count that is asked for, kept for the next use unless there is none.
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

/// The dense grid of net counts x >= 0 with |x|_1 <= budget and |x|_1 = budget (mod 2). Negative counts follow from the mirror rule of
/// an axis, mass(-x) = mass(x) * odds^-x. Rows along the last axis are contiguous, their places looked up by the other coordinates.
class Grid {
 public:
  Grid(std::size_t axes, std::uint64_t budget) : axes_(axes), budget_(budget), width_(budget + 1) {
    std::size_t boxes = 1;
    for (std::size_t i = 1; i < axes; ++i) boxes *= width_;
    place_.assign(boxes, 0);
    std::size_t next = 0;
    for_each_row([&](std::size_t box, std::uint64_t left, const std::vector<std::uint64_t>&) {
      place_[box] = next;
      next += left / 2 + 1;
    });
    cells_.assign(next, 0);
  }

  [[nodiscard]] std::size_t step_box(std::size_t box, std::uint64_t x) const { return box * width_ + x; }

  /// Adds weight * (upper half of the row), `count` draws on the last axis, where `left` of the budget remains there.
  void add(std::size_t box, std::uint64_t left, std::uint64_t count, Wide weight, const BinomialRow& row) {
    const std::uint64_t first = std::max((count + 1) / 2, row.first);  // x = 2a - count >= 0
    Wide* cell = cells_.data() + place_[box] + (2 * first - count - left % 2) / 2;
    for (std::size_t i = first - row.first; i < row.mass.size(); ++i) *cell++ += weight * row.mass[i];
  }

  /// Receives every point with its mass, all signs.
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

/// [multi-constraint-composition] The k-fold law of a mixture of two-point steps (and of standing still), by multinomial counts.
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

  /// Appends the points of `draws` draws, scaled and moved.
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

/// The weights in the order in which counts are split: each one-sided axis, then all the rest together.
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

/// Bound on the log error of a mass of the k-fold law: odds, rows, products and sums [atom-kernel].
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
  // Rows cost 8 units a draw and level, the mirror rule 2; a cell adds at most `terms` products of 2 * levels factors.
  return up_by(k * (2 * odds + 2 * splits) + (10 * k * levels + 8 * levels + terms) * wide_unit * 1.01, 64);
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
  double step = 0;
  for (const Axis& axis : axes.two_sided) step = std::max(step, radius(axis.loss));
  for (const Axis& axis : axes.one_sided) step = std::max(step, radius(axis.loss));
  law.shift = up_by(static_cast<double>(times) * step + largest_loss(law) * 0x1.1p-53, 8);
  law.jitter = law.shift;
  law.spread = axes_spread(axes, times, terms);
  // Whatever was left out: a cell, a share or a row entry below smallest_mass each; there are at most 16 (terms + draws) of them.
  law.lost = 16 * static_cast<Wide>(terms + static_cast<double>(times) + 1) * smallest_mass;
  return law;
}

/// Products of dense coefficient lists, all non-negative.
std::vector<Wide> convolve(const std::vector<Wide>& a, const std::vector<Wide>& b) {
  std::vector<Wide> sum(a.size() + b.size() - 1, 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == 0) continue;
    for (std::size_t j = 0; j < b.size(); ++j) sum[i + j] += a[i] * b[j];
  }
  return sum;
}

/// A law on integer multiples of a step: coefficients from the smallest loss up.
struct LatticePart {
  Wide lowest = 0;
  Wide step = 0;
  std::vector<Wide> mass;
  double shift = 0;     // of one draw
  double log_error = 0;  // of one mass
};

std::optional<LatticePart> lattice_part(const Atoms& atoms) {
  std::vector<Interval> gaps;
  if (atoms.finite.size() < 2) return std::nullopt;
  const Atom& bottom = atoms.finite.back();
  for (const Atom& atom : atoms.finite) {
    const Wide gap = middle(atom.loss) - middle(bottom.loss);
    const double uncertain = radius(atom.loss) + radius(bottom.loss);
    if (&atom != &bottom) gaps.push_back({static_cast<double>(gap) - uncertain, static_cast<double>(gap) + uncertain});
  }
  const auto lattice = common_lattice(gaps);
  if (!lattice) return std::nullopt;
  LatticePart part{middle(bottom.loss), lattice->step, std::vector<Wide>(static_cast<std::size_t>(lattice->multiples.front()) + 1, 0), 0, 0};
  Wide total = 0;
  for (std::size_t i = 0; i < atoms.finite.size(); ++i) {
    const Atom& atom = atoms.finite[i];
    const std::int64_t multiple = &atom == &bottom ? 0 : lattice->multiples[i];
    part.mass[static_cast<std::size_t>(multiple)] += middle(atom.mass);
    total += middle(atom.mass);
    const Wide misfit = std::abs(middle(atom.loss) - part.lowest - static_cast<Wide>(multiple) * part.step);
    part.shift = std::max(part.shift, up_by(static_cast<double>(misfit) + radius(atom.loss), 8));
    part.log_error = std::max(part.log_error, log_radius(atom.mass));
  }
  for (Wide& mass : part.mass) mass /= total;
  part.log_error = up_by(2 * part.log_error + static_cast<double>(atoms.finite.size() + 2) * wide_unit, 4);
  return part;
}

Size lattice_size(const LatticePart& part, std::uint64_t times) {
  const double length = static_cast<double>(part.mass.size() - 1) * static_cast<double>(times) + 1;
  return {length, length * length / 2};
}

Law power_by_lattice(const LatticePart& part, std::uint64_t times) {
  std::vector<Wide> result{1};
  std::vector<Wide> base = part.mass;
  double roundings = 0;  // log error of a cell from products and sums, in units
  double base_roundings = 0;
  for (std::uint64_t left = times; left != 0; left >>= 1) {
    if ((left & 1) != 0) {
      roundings += base_roundings + static_cast<double>(std::min(result.size(), base.size()) + 1);
      result = convolve(result, base);
    }
    if (left > 1) {
      base_roundings = 2 * base_roundings + static_cast<double>(base.size() + 1);
      base = convolve(base, base);
    }
  }
  Law law;
  const Wide lowest = part.lowest * static_cast<Wide>(times);
  for (std::size_t i = result.size(); i-- > 0;)
    if (result[i] >= smallest_mass) law.points.push_back({static_cast<double>(lowest + static_cast<Wide>(i) * part.step), result[i]});
  law.shift = up_by(static_cast<double>(times) * part.shift + largest_loss(law) * 0x1.1p-53, 8);
  law.jitter = law.shift;
  law.spread = up_by(static_cast<double>(times) * part.log_error + roundings * wide_unit * 1.01, 8);
  law.lost = 64 * static_cast<Wide>(result.size()) * static_cast<Wide>(result.size()) * smallest_mass;
  return law;
}

/// Joins runs of points whose losses lie within twice the jitter of the first of the run, and drops what is too small to keep.
void join_close(Law& law) {
  std::vector<Point>& points = law.points;
  if (points.empty()) return;
  const double tolerance = 2 * law.jitter;
  std::size_t kept = 0;
  std::size_t longest = 1;
  std::size_t run = 1;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[kept].loss - points[i].loss <= tolerance) {
      points[kept].mass += points[i].mass;
      longest = std::max(longest, ++run);
    } else {
      points[++kept] = points[i];
      run = 1;
    }
  }
  points.resize(kept + 1);
  law.lost += static_cast<Wide>(points.size()) * smallest_mass;
  std::erase_if(points, [](const Point& point) { return point.mass < smallest_mass; });
  if (longest == 1) return;
  law.shift = up_by(law.shift + tolerance, 2);
  law.spread = up_by(law.spread + static_cast<double>(longest) * wide_unit * 1.01, 2);
}

/// Leaves out atoms whose mass is too small for a double to know it relatively; what they weigh at most is added to `dropped`.
Atoms without_specks(const Atoms& atoms, Wide& dropped) {
  Atoms kept = atoms;
  std::erase_if(kept.finite, [&](const Atom& atom) {
    const bool speck = atom.mass.hi < 1e-250 && !(atom.mass.hi - atom.mass.lo <= 1e-9 * atom.mass.lo);
    if (speck) dropped += static_cast<Wide>(atom.mass.hi);
    return speck;
  });
  return kept;
}

Law list_once(const Atoms& atoms) {
  Law law;
  Wide total = 0;
  double error = 0;
  for (const Atom& atom : atoms.finite) {
    law.points.push_back({static_cast<double>(middle(atom.loss)), middle(atom.mass)});
    total += middle(atom.mass);
    error = std::max(error, log_radius(atom.mass));
    law.shift = std::max(law.shift, radius(atom.loss));
  }
  for (Point& point : law.points) point.mass /= total;
  std::sort(law.points.begin(), law.points.end(), [](const Point& a, const Point& b) { return a.loss > b.loss; });
  law.shift = up_by(law.shift + largest_loss(law) * 0x1.1p-53, 8);
  law.jitter = law.shift;
  law.spread = up_by(2 * error + static_cast<double>(law.points.size() + 4) * wide_unit * 1.01, 8);
  return law;
}

/// By repeated squaring of lists: for laws with many losses that have no common step.
Law power_by_products(const Atoms& atoms, std::uint64_t times) {
  Law base = list_once(atoms);
  std::optional<Law> result;
  for (std::uint64_t left = times; left != 0; left >>= 1) {
    if ((left & 1) != 0) result = result ? product(*result, base) : base;
    if (left > 1) base = product(base, base);
  }
  return *std::move(result);
}

enum class PowerWay { once, axes, lattice, products };
struct PowerPlan {
  PowerWay way = PowerWay::once;
  Size size;
};

/// The way that takes the fewest multiplications.
PowerPlan plan_power(const Atoms& atoms, std::uint64_t times) {
  const double count = static_cast<double>(atoms.finite.size());
  if (times == 1) return {PowerWay::once, {count, count}};
  const Axes axes = axes_of(atoms);
  const bool few = axes.two_sided.size() <= 4 && axes.one_sided.size() <= 8;
  PowerPlan best{PowerWay::axes, few ? axes_size(axes, times) : Size{infinity, infinity}};
  if (best.size.points <= static_cast<double>(times) + 1 && best.size.fits()) return best;
  if (const auto part = lattice_part(atoms)) {
    const Size size = lattice_size(*part, times);
    if (size.terms < best.size.terms) best = {PowerWay::lattice, size};
  }
  if (!few && count * static_cast<double>(times) < 1e7) {
    const double half = axes_size(axes, times / 2).points;
    const Size size{axes_size(axes, times).points, 10 * half * half * (times % 2 == 1 ? count : 1)};
    if (size.terms < best.size.terms) best = {PowerWay::products, size};
  }
  return best;
}

/// Sorts a list that consists of sorted runs of the given length.
void merge_runs(std::vector<Point>& points, std::size_t run) {
  const auto greater = [](const Point& x, const Point& y) { return x.loss > y.loss; };
  const auto at = [&](std::size_t i) { return points.begin() + static_cast<std::ptrdiff_t>(std::min(i, points.size())); };
  std::vector<Point> buffer(run < points.size() ? points.size() : 0);
  for (std::size_t length = run; length < points.size(); length *= 2) {
    for (std::size_t start = 0; start < points.size(); start += 2 * length)
      std::merge(at(start), at(start + length), at(start + length), at(start + 2 * length),
                 buffer.begin() + static_cast<std::ptrdiff_t>(start), greater);
    points.swap(buffer);
  }
}

/// A product too large to be held before equal losses are joined: each half of the shorter law in turn, then both together.
Law product_in_halves(const Law& long_law, const Law& short_law) {
  const auto half = static_cast<std::ptrdiff_t>(short_law.points.size() / 2);
  Law part = short_law;
  part.points.resize(static_cast<std::size_t>(half));
  Law sum = product(long_law, part);
  part.points.assign(short_law.points.begin() + half, short_law.points.end());
  const Law rest = product(long_law, part);
  const std::size_t run = sum.points.size();
  sum.points.insert(sum.points.end(), rest.points.begin(), rest.points.end());
  std::inplace_merge(sum.points.begin(), sum.points.begin() + static_cast<std::ptrdiff_t>(run), sum.points.end(),
                     [](const Point& x, const Point& y) { return x.loss > y.loss; });
  sum.shift = std::max(sum.shift, rest.shift);
  sum.spread = std::max(sum.spread, rest.spread);
  sum.lost += rest.lost;
  join_close(sum);
  return sum;
}

/// The multiples of the step that the points are nearest to, and how far they are from them.
struct Cells {
  std::vector<std::int64_t> index;
  double misfit = 0;
};

Cells cells_of(const Law& law, Wide step) {
  Cells cells;
  cells.index.reserve(law.points.size());
  for (const Point& point : law.points) {
    const Wide multiple = std::round(static_cast<Wide>(point.loss) / step);
    cells.index.push_back(static_cast<std::int64_t>(multiple));
    cells.misfit = std::max(cells.misfit, static_cast<double>(std::abs(static_cast<Wide>(point.loss) - multiple * step)));
  }
  return cells;
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

std::optional<Lattice> common_lattice(const std::vector<Interval>& values) {
  // Euclid's algorithm with nearest remainders; what it finds is verified below, so its tolerance is only a heuristic.
  Wide largest = 0;
  Wide step = 0;
  for (const Interval value : values) largest = std::max(largest, std::abs(middle(value)));
  if (!(largest > 0)) return std::nullopt;
  for (const Interval value : values) {
    Wide a = step;
    Wide b = std::abs(middle(value));
    while (b > largest * 1e-11L) {
      const Wide remainder = std::abs(a - b * std::round(a / b));
      a = b;
      b = remainder;
    }
    step = a;
  }
  const Wide most = std::round(largest / step);
  if (!(most <= 1e6L)) return std::nullopt;  // finer lattices are larger than any list
  Lattice lattice{largest / most, {}};
  for (const Interval value : values) {
    const Wide multiple = std::round(middle(value) / lattice.step);
    const Wide misfit = std::abs(middle(value) - multiple * lattice.step);
    if (std::abs(middle(value)) > 0 && multiple == 0) return std::nullopt;
    if (misfit > static_cast<Wide>(radius(value)) + largest * 0x1p-51L) return std::nullopt;
    lattice.multiples.push_back(static_cast<std::int64_t>(multiple));
  }
  return lattice;
}

Size power_size(const Atoms& atoms, std::uint64_t times) { return plan_power(atoms, times).size; }

Law power(const Atoms& all, std::uint64_t times) {
  Wide dropped = 0;
  const Atoms atoms = without_specks(all, dropped);
  const PowerPlan plan = plan_power(atoms, times);
  Law law = plan.way == PowerWay::once      ? list_once(atoms)
            : plan.way == PowerWay::lattice ? power_by_lattice(*lattice_part(atoms), times)
            : plan.way == PowerWay::axes    ? power_by_axes(axes_of(atoms), times, plan.size.terms)
                                            : power_by_products(atoms, times);
  join_close(law);
  const double count = static_cast<double>(times);
  law.lost += dropped * static_cast<Wide>(count);
  law.highest = numeric::multiply_up(all.finite.front().loss.hi, count);
  law.lowest = numeric::multiply_down(all.finite.back().loss.lo, count);
  return law;
}

Law lattice_product(const Law& a, const Law& b, Wide step) {
  const Law& long_law = a.points.size() >= b.points.size() ? a : b;
  const Law& short_law = a.points.size() >= b.points.size() ? b : a;
  const Cells inner = cells_of(long_law, step);
  const Cells outer = cells_of(short_law, step);
  const std::int64_t lowest = inner.index.back();
  std::vector<Wide> dense(static_cast<std::size_t>(inner.index.front() - lowest) + 1, 0);
  for (std::size_t i = 0; i < inner.index.size(); ++i) dense[static_cast<std::size_t>(inner.index[i] - lowest)] += long_law.points[i].mass;
  std::vector<Wide> sum(dense.size() + static_cast<std::size_t>(outer.index.front() - outer.index.back()), 0);
  for (std::size_t j = 0; j < outer.index.size(); ++j) {
    Wide* cell = sum.data() + (outer.index[j] - outer.index.back());
    for (const Wide mass : dense) *cell++ += short_law.points[j].mass * mass;
  }
  Law law;
  for (std::size_t i = sum.size(); i-- > 0;) {
    if (sum[i] < smallest_mass) continue;
    const auto multiple = static_cast<Wide>(static_cast<std::int64_t>(i) + lowest + outer.index.back());
    law.points.push_back({static_cast<double>(multiple * step), sum[i]});
  }
  law.shift = up_by(a.shift + b.shift + inner.misfit + outer.misfit + (largest_loss(a) + largest_loss(b)) * 0x1.1p-53, 8);
  law.jitter = law.shift;
  law.spread = up_by(a.spread + b.spread + static_cast<double>(short_law.points.size() + 2) * wide_unit * 1.01, 8);
  law.lost = a.lost + b.lost + 2 * static_cast<Wide>(sum.size()) * smallest_mass;
  law.highest = add_up(a.highest, b.highest);
  law.lowest = numeric::add_down(a.lowest, b.lowest);
  return law;
}

Law product(const Law& a, const Law& b) {
  const Law& long_law = a.points.size() >= b.points.size() ? a : b;
  const Law& short_law = a.points.size() >= b.points.size() ? b : a;
  if (static_cast<double>(a.points.size()) * static_cast<double>(b.points.size()) > most_points && short_law.points.size() > 1)
    return product_in_halves(long_law, short_law);
  std::vector<Point> points;
  points.reserve(long_law.points.size() * short_law.points.size());
  for (const Point& outer : short_law.points)
    for (const Point& inner : long_law.points) points.push_back({outer.loss + inner.loss, outer.mass * inner.mass});
  merge_runs(points, long_law.points.size());
  Law law;
  const double rounding = (largest_loss(a) + largest_loss(b)) * 0x1.1p-53;
  law.jitter = up_by(a.jitter + b.jitter + rounding, 8);
  law.shift = up_by(a.shift + b.shift + rounding, 8);
  law.spread = up_by(a.spread + b.spread + 2 * wide_unit, 8);
  law.lost = a.lost + b.lost;
  law.highest = add_up(a.highest, b.highest);
  law.lowest = numeric::add_down(a.lowest, b.lowest);
  law.points = std::move(points);
  join_close(law);
  return law;
}

}  // namespace tradeoff::exact
