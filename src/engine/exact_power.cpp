// SPDX-License-Identifier: Apache-2.0
#include "engine/exact_power.h"

#include <algorithm>
#include <cmath>

#include "engine/exact_axes.h"

namespace tradeoff::exact {

using numeric::up_by;

namespace {

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

}  // namespace

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

}  // namespace tradeoff::exact
