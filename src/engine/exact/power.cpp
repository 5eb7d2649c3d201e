// SPDX-License-Identifier: Apache-2.0
#include "engine/exact/power.h"

#include <algorithm>
#include <cmath>

#include "engine/exact/axes.h"
#include "engine/exact/wide_math.h"

namespace tradeoff::detail::exact {

using numeric::up_by;

namespace {

/// Products of dense lists of non-negative coefficients.
std::vector<Wide> convolve(const std::vector<Wide>& a, const std::vector<Wide>& b) {
  std::vector<Wide> sum(a.size() + b.size() - 1, 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == 0) continue;
    for (std::size_t j = 0; j < b.size(); ++j) sum[i + j] += a[i] * b[j];
  }
  return sum;
}

/// A distribution on integer multiples of a step: coefficients from the smallest loss up.
struct LatticePart {
  Wide lowest = 0;
  Wide step = 0;
  std::vector<Wide> mass;
  double shift = 0;      // the shift of one draw
  double log_error = 0;  // the log error of one mass
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
  const auto cells = static_cast<std::size_t>(lattice->multiples.front()) + 1;
  LatticePart part{middle(bottom.loss), lattice->step, std::vector<Wide>(cells, 0), 0, 0};
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

/// Above this many multiplications the far ends of the distribution are cut off: each omitted cell is below 2^-1200 and counted as lost, so
/// delta is relatively accurate down to 1e-300 only.
constexpr double most_uncut_terms = 1e8;
constexpr Wide cut_off = 0x1p-1200L;

/// The variance of one draw, in cells.
double variance_of(const LatticePart& part) {
  Wide mean = 0;
  Wide second = 0;
  for (std::size_t i = 0; i < part.mass.size(); ++i) {
    mean += part.mass[i] * static_cast<Wide>(i);
    second += part.mass[i] * static_cast<Wide>(i) * static_cast<Wide>(i);
  }
  return static_cast<double>(second - mean * mean);
}

/// The approximate number of cells above the cut after `times` draws, by Bernstein's inequality.
double cells_above_cut(const LatticePart& part, double times) {
  const double variance = variance_of(part) * times;
  const double exponent = 850;  // slightly more than 1200 log 2
  const double jump = static_cast<double>(part.mass.size()) * exponent / 3;
  return 2 * (jump + std::sqrt(jump * jump + 2 * exponent * variance)) + 2;
}

struct LatticePlan {
  Size size;
  bool cut = false;
};

LatticePlan plan_lattice(const LatticePart& part, std::uint64_t times) {
  const double draws = static_cast<double>(times);
  const double length = static_cast<double>(part.mass.size() - 1) * draws + 1;
  const LatticePlan whole{{length, length * length / 2}, false};
  if (whole.size.terms <= most_uncut_terms) return whole;
  const double cells = std::min(length, cells_above_cut(part, draws));
  return {{cells, cells * cells}, true};
}

/// Coefficients from the smallest loss up, with their error bounds.
struct Polynomial {
  std::vector<Wide> mass;
  std::uint64_t first = 0;  // index of the first coefficient
  double roundings = 0;     // log error from products and sums, in units
  Wide lost = 0;
  double draws = 0;
};

/// Cells at either end that are below `least` for each draw are left out; 0 keeps all.
Polynomial multiply(const Polynomial& a, const Polynomial& b, Wide least) {
  Polynomial product{convolve(a.mass, b.mass), a.first + b.first,
                     a.roundings + b.roundings + static_cast<double>(std::min(a.mass.size(), b.mass.size()) + 1), a.lost + b.lost,
                     a.draws + b.draws};
  if (!(least > 0)) return product;
  const Wide limit = least * static_cast<Wide>(product.draws);
  const auto kept = [limit](Wide mass) { return mass >= limit; };
  const auto begin = std::find_if(product.mass.begin(), product.mass.end(), kept);
  const auto end = std::find_if(product.mass.rbegin(), product.mass.rend(), kept).base();
  if (begin == product.mass.end()) return {{}, 0, product.roundings, 1, product.draws};
  product.lost += static_cast<Wide>(product.mass.size() - static_cast<std::size_t>(end - begin)) * limit * (1 + 0x1p-20L);
  product.first += static_cast<std::uint64_t>(begin - product.mass.begin());
  product.mass = std::vector<Wide>(begin, end);
  return product;
}

/// Without cells whose mass is below `least` for each draw.
Law power_by_lattice(const LatticePart& part, std::uint64_t times, Wide least) {
  Polynomial result{{1}, 0, 0, 0, 0};
  Polynomial base{part.mass, 0, 0, 0, 1};
  for (std::uint64_t left = times; left != 0; left >>= 1) {
    if ((left & 1) != 0) result = multiply(result, base, least);
    if (left > 1) base = multiply(base, base, least);
  }
  Law law;
  const Wide lowest = part.lowest * static_cast<Wide>(times);
  for (std::size_t i = result.mass.size(); i-- > 0;) {
    if (result.mass[i] < smallest_mass) continue;
    law.points.push_back({static_cast<double>(lowest + static_cast<Wide>(result.first + i) * part.step), result.mass[i]});
  }
  // Sums are computed in long double; no term exceeds the largest total.
  const Wide longest = std::abs(part.lowest) + part.step * static_cast<Wide>(part.mass.size());
  law.shift = up_by(static_cast<double>(times) * (part.shift + static_cast<double>(longest) * 0x1.1p-53), 8);
  law.jitter = law.shift;
  law.spread = up_by(static_cast<double>(times) * part.log_error + result.roundings * wide_unit * 1.01, 8);
  const Wide cells = static_cast<Wide>(result.mass.size());
  law.lost = result.lost + 64 * cells * cells * smallest_mass;
  return law;
}

/// Drops atoms whose mass is too small for relative accuracy in double, and adds an upper bound of their mass to `dropped`.
Atoms without_specks(const Atoms& atoms, Wide& dropped) {
  Atoms kept = atoms;
  std::erase_if(kept.finite, [&](const Atom& atom) {
    const bool speck = atom.mass.hi < 1e-250 && !(atom.mass.hi - atom.mass.lo <= 1e-9 * atom.mass.lo);
    if (speck) dropped += static_cast<Wide>(atom.mass.hi);
    return speck;
  });
  return kept;
}

Wide least_of(const LatticePart& part, std::uint64_t times) {
  return plan_lattice(part, times).cut ? cut_off / static_cast<Wide>(times) : 0;
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

/// By repeated squaring of lists: for distributions with many losses without a common step.
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

/// The method with the fewest multiplications.
PowerPlan plan_power(const Atoms& atoms, std::uint64_t times) {
  const double count = static_cast<double>(atoms.finite.size());
  if (times == 1) return {PowerWay::once, {count, count}};
  const Axes axes = axes_of(atoms);
  const bool few = axes.two_sided.size() <= 4 && axes.one_sided.size() <= 8;
  PowerPlan best{PowerWay::axes, few ? axes_size(axes, times) : Size{infinity, infinity}};
  if (best.size.points <= static_cast<double>(times) + 1 && best.size.fits()) return best;
  if (const auto part = lattice_part(atoms)) {
    const Size size = plan_lattice(*part, times).size;
    if (size.terms < best.size.terms) best = {PowerWay::lattice, size};
  }
  if (!few && count * static_cast<double>(times) < 1e7) {
    const double half = axes_size(axes, times / 2).points;
    const Size size{axes_size(axes, times).points, 10 * half * half * (times % 2 == 1 ? count : 1)};
    if (size.terms < best.size.terms) best = {PowerWay::products, size};
  }
  return best;
}

/// Whether a mass may have been too small to keep. Every intermediate sum and product is the probability of some outcomes, so it is at
/// least that of one outcome: the smallest mass to the power of the number of draws.
bool law_is_cut(const Atoms& atoms, PowerWay way, std::uint64_t times) {
  if (way == PowerWay::lattice && plan_lattice(*lattice_part(atoms), times).cut) return true;
  double smallest = 1;
  for (const Atom& atom : atoms.finite) smallest = std::min(smallest, atom.mass.lo);
  const double reach = static_cast<double>(wide_log(smallest_mass));
  return !(smallest > 0) || static_cast<double>(times) * std::log(smallest) < 0.99 * reach;
}

}  // namespace

Size power_size(const Atoms& atoms, std::uint64_t times) { return plan_power(atoms, times).size; }

Law power(const Atoms& all, std::uint64_t times) {
  Wide dropped = 0;
  const Atoms atoms = without_specks(all, dropped);
  const PowerPlan plan = plan_power(atoms, times);
  Law law = plan.way == PowerWay::once      ? list_once(atoms)
            : plan.way == PowerWay::lattice ? power_by_lattice(*lattice_part(atoms), times, least_of(*lattice_part(atoms), times))
            : plan.way == PowerWay::axes    ? power_by_axes(axes_of(atoms), times, plan.size.terms)
                                            : power_by_products(atoms, times);
  join_close(law);
  const double count = static_cast<double>(times);
  if (plan.way != PowerWay::products && !law_is_cut(atoms, plan.way, times)) law.lost = 0;
  law.lost += dropped * static_cast<Wide>(count);
  law.highest = numeric::multiply_up(all.finite.front().loss.hi, count);
  law.lowest = numeric::multiply_down(all.finite.back().loss.lo, count);
  return law;
}

// [averaged-counts]
std::optional<Law> lattice_power(const Atoms& all, std::uint64_t times, Wide least) {
  Wide dropped = 0;
  const auto part = lattice_part(without_specks(all, dropped));
  if (!part) return std::nullopt;
  const double count = static_cast<double>(times);
  Law law = power_by_lattice(*part, times, least / static_cast<Wide>(count));
  law.lost += dropped * static_cast<Wide>(count);
  law.highest = numeric::multiply_up(all.finite.front().loss.hi, count);
  law.lowest = numeric::multiply_down(all.finite.back().loss.lo, count);
  return law;
}

double lattice_cells(const Atoms& all, std::uint64_t times) {
  Wide dropped = 0;
  const auto part = lattice_part(without_specks(all, dropped));
  if (!part) return infinity;
  constexpr double deviations = 20;
  constexpr Wide probable = 1e-20L;
  const double count = static_cast<double>(times), size = static_cast<double>(part->mass.size());
  const auto is_probable = [](Wide mass) { return mass >= probable; };
  const auto begin = std::find_if(part->mass.begin(), part->mass.end(), is_probable);
  const auto end = std::find_if(part->mass.rbegin(), part->mass.rend(), is_probable).base();
  const auto once = static_cast<double>(end - begin);
  return std::min((size - 1) * count + 1, 2 * once + deviations * std::sqrt(variance_of(*part) * count));
}

}  // namespace tradeoff::detail::exact
