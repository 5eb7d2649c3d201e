// SPDX-License-Identifier: Apache-2.0
#include "operators/allocation/laws.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "numeric/arithmetic.h"
#include "numeric/root.h"

// [allocation-laws]
namespace tradeoff::detail::allocation {
namespace {

constexpr double steepest = 0.7;  // the largest change of the logarithm of the density over a step of the contracted law
constexpr std::int64_t most_cells = 0x1p23;
constexpr std::size_t hull_points = 12;  // lattice points beside the atom whose masses come from a hull
constexpr double top_part = 0.75;        // of a step, between the last atom of a restricted law and its top

/// The total of masses rounded outward.
Interval total_of(const std::vector<double>& masses) {
  double sum = 0;
  for (const double mass : masses) sum += mass;
  return {sum * (1 - 1e-9), sum * (1 + 1e-9)};  // 2^23 roundings
}

void push(lattice::Law& law, std::int64_t index, double mass) {
  if (!(mass > 0)) return;
  law.index.push_back(index);
  law.mass.push_back(mass);
}

}  // namespace

double short_step(double h) {
  int exponent = 0;
  const double mantissa = std::frexp(h, &exponent);
  return std::ldexp(std::floor(std::ldexp(mantissa, 10)), exponent - 10);
}

LatticeLaw spread_law(const Summand& summand, double h, const Cut& cut) {
  const auto first = static_cast<std::int64_t>(std::floor(cut.low / h));
  const auto last = static_cast<std::int64_t>(std::ceil(cut.high / h));
  LatticeLaw result;
  if (!(last > first && last - first < most_cells)) return result;
  std::vector<double> masses(static_cast<std::size_t>(last - first) + 1);
  const auto at = [&](std::int64_t j) { return h * static_cast<double>(j); };
  for (std::int64_t j = first; j < last; ++j) {
    const Summand::Shares shares = summand.shares(at(j), h);
    const auto place = static_cast<std::size_t>(j - first);
    masses[place] += shares.left.hi;
    masses[place + 1] += shares.right.hi;
  }
  const double below = summand.below(at(first)).hi;
  if (!cut.for_puts) masses.front() += below;
  if (!cut.restricted) masses.back() += summand.above(at(last)).hi;
  if (cut.for_puts && first > 0) push(result.law, 0, below);
  if (cut.for_puts && first <= 0) masses.front() += below;
  for (std::size_t i = 0; i < masses.size(); ++i)
    push(result.law, first + static_cast<std::int64_t>(i), masses[i] * (1 + 2 * unit_roundoff));
  result.law.finite_total = total_of(result.law.mass);
  result.top = at(last);
  return result;
}

namespace {

/// The interval around the sharp part of the density whose mass is moved to its mean, so that the density changes little over a step
/// outside. Empty if there is none below `high`.
struct Centre {
  double high = 0;  // everything below belongs to it
};

std::optional<Centre> find_centre(const Summand& summand, double h, const Cut& cut) {
  constexpr int samples = 1500;
  const double from = std::max(-36.0, summand.normal(cut.low)), to = std::min(36.0, summand.normal(cut.high));
  if (!(from < to)) return std::nullopt;
  const auto z_of = [&](int i) { return from + (to - from) * i / samples; };
  const auto is_steep = [&](double z) {
    const double x = summand.value(z);
    return !(h * std::abs(summand.slope(x)) <= steepest);
  };
  int lowest = -1, highest = -1;
  for (int i = 0; i <= samples; ++i) {
    if (!is_steep(z_of(i))) continue;
    if (lowest < 0) lowest = i;
    highest = i;
  }
  if (highest < 0) return Centre{summand.value(from)};
  if (highest == samples) return std::nullopt;  // the upper tail is steep
  const Centre centre{summand.value(z_of(highest + 1))};
  // A sharp part inside would need lattice points on both sides of its mean; only a summand that is bounded below has none on the left.
  if (lowest > 0 && summand.kappa() != 0) return std::nullopt;
  return centre;
}

/// Masses that contract one summand, from a minorant of its put or call function at lattice points.
class Contraction {
 public:
  Contraction(const Summand& summand, double h, const Cut& cut, Centre centre) : summand_(summand), h_(h), cut_(cut), centre_(centre) {}

  [[nodiscard]] LatticeLaw law();

 private:
  [[nodiscard]] double at(std::int64_t j) const { return std::fma(h_, static_cast<double>(j), origin_); }
  /// A bound of the density on the two cells beside lattice point j, from its values at lattice points.
  [[nodiscard]] double peak(std::int64_t j) const {
    const double left = at(j - 1), right = at(j + 1), mode = summand_.mode();
    if (left > mode) return density(left);
    if (right < mode) return density(right);
    return density(mode);
  }
  [[nodiscard]] double density(double x) const { return summand_.density(x) * (1 + summand_.relative_error(x)); }
  /// The value of the put or call function at x, whichever is used near the atom.
  [[nodiscard]] Interval option(double x) const { return by_calls_ ? summand_.call(x) : summand_.put(x); }
  /// A legal value of the minorant: chords between such values lie below the function.
  [[nodiscard]] double legal(std::int64_t j) const {
    return (option(at(j)) - Interval::exactly(h_) * Interval::exactly(h_) * peak(j) / 8.0 * (1 + 1e-14)).lo;
  }

  [[nodiscard]] bool place_atom();
  [[nodiscard]] bool hull_masses(std::int64_t first);

  const Summand& summand_;
  double h_;
  Cut cut_;
  Centre centre_;
  double origin_ = 0;
  bool by_calls_ = false;
  std::int64_t regular_from_ = 0;  // from here on the masses have a closed form
  double blur_ = 0;                // by how much the values before may be below their exact ones
  LatticeLaw result_;
};

/// The atom at the mean of the centre, rounded up to a short number.
bool Contraction::place_atom() {
  const double a = centre_.high;
  by_calls_ = summand_.normal(a) > 1;
  const Interval mass = summand_.below(a);
  if (!(mass.lo > 1e-290)) return false;
  const Interval mean = Interval::exactly(a) - summand_.put(a) / mass;
  const double unit = std::ldexp(h_, -20);
  origin_ = std::ceil(mean.hi / unit) * unit;
  return std::abs(origin_ / unit) < 0x1p43 && origin_ < a;
}

bool Contraction::hull_masses(std::int64_t first) {
  // The tangent of the function at the end of the centre bounds it from below; the minorant follows it up to the lattice point `first`.
  const double a = centre_.high;
  const Interval steepness = by_calls_ ? -summand_.above(a) : summand_.below(a);
  const Interval tangent = option(a) + steepness * (Interval::exactly(at(first)) - Interval::exactly(a));
  std::vector<std::int64_t> index{0, first};
  std::vector<double> value{by_calls_ ? (1.0 - Interval::exactly(summand_.kappa()) - Interval::exactly(origin_)).lo : 0.0, tangent.lo};
  if (!(tangent.lo <= legal(first))) return false;
  const double before = by_calls_ ? -1 : 0;  // the slope left of the atom
  const auto slope = [&](std::size_t i) { return (value[i + 1] - value[i]) / (h_ * static_cast<double>(index[i + 1] - index[i])); };
  const auto slope_error = [&](std::size_t i) {
    return unit_roundoff * (4 * std::abs(slope(i)) + 2 * (std::abs(value[i]) + std::abs(value[i + 1])) / h_);
  };
  for (std::size_t n = 1; n <= hull_points; ++n) {
    const std::int64_t j = first + static_cast<std::int64_t>(n);
    while (index.size() >= 2) {
      const std::size_t last = index.size() - 1;
      const double onward = (legal(j) - value[last]) / (h_ * static_cast<double>(j - index[last]));
      if (onward >= slope(last - 1)) break;
      index.pop_back();
      value.pop_back();
    }
    if (index.size() < 2) return false;
    index.push_back(j);
    value.push_back(legal(j));
    const Interval exact = option(at(j));
    blur_ = std::max(blur_, exact.width() + 4 * unit_roundoff * exact.hi + h_ * h_ * peak(j) * (summand_.relative_error(at(j)) + 1e-14));
  }
  const std::size_t last = index.size() - 1;
  if (index[last - 1] + 1 != index[last]) return false;
  push(result_.law, 0, slope(0) - before - slope_error(0) - 2 * unit_roundoff);
  for (std::size_t i = 1; i < last; ++i) push(result_.law, index[i], slope(i) - slope(i - 1) - slope_error(i) - slope_error(i - 1));
  regular_from_ = index[last];
  return true;
}

// q_j = p_j - (h/8)(M_{j-1} - 2 M_j + M_{j+1}): second differences of the call function lowered by h^2 M_j / 8.
LatticeLaw Contraction::law() {
  if (!place_atom()) return {};
  const double a = centre_.high;
  auto first = static_cast<std::int64_t>(std::ceil((a - origin_) / h_));
  bool found = false;
  for (int tries = 0; tries < 4 && !found; ++tries, ++first) {
    result_.law.index.clear();
    result_.law.mass.clear();
    blur_ = 0;
    found = first >= 1 && hull_masses(first);
  }
  if (!found) return {};
  const auto last = static_cast<std::int64_t>(cut_.restricted ? std::ceil((cut_.high - origin_) / h_ - top_part + 1e-9)
                                                              : std::floor((cut_.high - origin_) / h_));
  if (!(last > regular_from_ + 4 && last < most_cells)) return {};
  result_.origin = origin_;
  Summand::Shares shares = summand_.shares(at(regular_from_ - 1), h_);
  double before = peak(regular_from_ - 1), here = peak(regular_from_);
  const Interval top =
      cut_.restricted ? Interval::exactly(at(last)) + Interval::exactly(top_part) * Interval::exactly(h_) : Interval::exactly(0);
  for (std::int64_t j = regular_from_; j < last; ++j) {
    const Summand::Shares next = summand_.shares(at(j), h_);
    const double after = peak(j + 1), bend = h_ / 8 * ((before - here) + (after - here));
    const double error = h_ * here * (4 * summand_.relative_error(at(j)) + 1e-15);
    double mass = shares.right.lo + next.left.lo - bend - error;
    if (!(mass > 1e-3 * (shares.right.lo + next.left.lo)) && shares.right.hi + next.left.hi > 1e-300) return {};
    if (j < regular_from_ + 2) mass -= 2 * blur_ / h_;
    if (j == last - 1) {
      if (!cut_.restricted) {
        // Dropping the atoms from here on is legal in both orders if the slope before is at most that of the function, and the lowered
        // value of the call function is not negative.
        const bool flat = shares.right.lo - h_ / 8 * std::abs(before - here) * (1 + 1e-9) >= 0;
        if (!(flat && (summand_.call(at(j)) - Interval::exactly(h_) * Interval::exactly(h_) * here / 8.0 * (1 + 1e-9)).lo >= 0)) return {};
        // For calls what lies above moves down to here; its mass is at least that of the summand.
        if (!cut_.for_puts) push(result_.law, j, summand_.above(at(j)).lo * (1 - 1e-15));
        break;
      }
      // The value at the last point is lowered to 0, and the law ends `top_part` of a step above it.
      const double end = numeric::down_by(top.lo, 1);
      const auto rest = [&](std::int64_t i) {
        const Interval reach = Interval::exactly(end) - Interval::exactly(at(i));
        return summand_.call(at(i)) - summand_.call(end) - reach * summand_.above(end);
      };
      const Interval excess = rest(last) - Interval::exactly(h_) * Interval::exactly(h_) * after / 8.0 * Interval{1 - 1e-9, 1 + 1e-9};
      const double value = (rest(last - 1) - Interval::exactly(h_) * Interval::exactly(h_) * here / 8.0 * (1 + 1e-9)).lo;
      if (!(excess.lo >= 0 && value >= 0)) return {};
      mass -= excess.hi / h_ * (1 + 1e-15);
      if (!(mass > 0)) return {};
      push(result_.law, j, mass * (1 - 1e-15));
      push(result_.law, last, value / h_ * (1 - 1e-15));
      result_.top = end;
      break;
    }
    push(result_.law, j, mass * (1 - 1e-15));
    shares = next;
    before = here;
    here = after;
  }
  result_.law.finite_total = total_of(result_.law.mass);
  return result_;
}

}  // namespace

LatticeLaw contracted_law(const Summand& summand, double h, const Cut& cut) {
  const auto centre = find_centre(summand, h, cut);
  if (!centre) return {};
  return Contraction(summand, h, cut, *centre).law();
}

}  // namespace tradeoff::detail::allocation
