// SPDX-License-Identifier: Apache-2.0
#include "engine/exact/table.h"

#include <algorithm>
#include <cmath>

#include "engine/exact/wide_interval.h"
#include "engine/exact/wide_math.h"
#include "numeric/arithmetic.h"

namespace tradeoff::detail::exact {

using numeric::next_up;
using numeric::up_by;

namespace {

/// A level so small that masses near it are rounded by more than a fraction of themselves, as one below and as one above it.
Wide level_below(Wide level) { return level < smallest_mass ? 0 : level; }
Wide level_above(Wide level) { return level > 0 ? std::max(level, smallest_mass) : level; }

}  // namespace

Interval delta_from(Ends finite, const Masses& masses) {
  const Interval total = masses.infinite + Interval{outward_down(finite.lo), outward_up(finite.hi)};
  return clamp(Interval{(total * exp(Interval::exactly(-masses.slack))).lo + 0.0, total.hi}, 0, 1);  // avoids a negative zero
}

Interval log_delta_from(Ends finite, const Masses& masses) {
  const Wide lo = (finite.lo + static_cast<Wide>(masses.infinite.lo)) * shrink(masses.slack);
  const Wide hi = (finite.hi + static_cast<Wide>(masses.infinite.hi)) * enlarge(0);
  return min(log_of(lo, hi), Interval::exactly(0));
}

Interval log_complement_from(Ends rest, const Masses& masses) {
  const Wide lo = rest.lo * static_cast<Wide>(masses.finite.lo) * shrink(0);
  const Wide hi = (rest.hi * static_cast<Wide>(masses.finite.hi) + static_cast<Wide>(masses.slack)) * enlarge(0);
  return min(log_of(lo, hi), Interval::exactly(0));
}

Table::Table(Law law, Masses masses) : law_(std::move(law)), masses_(masses) {
  const std::size_t count = law_.points.size();
  gain_.resize(count);
  weight_.resize(count);
  Wide gain = 0;
  Wide weight = 0;
  for (std::size_t j = 0; j < count; ++j) {
    if (j > 0) {
      const Wide gap = static_cast<Wide>(law_.points[j - 1].loss) - static_cast<Wide>(law_.points[j].loss);
      const Wide share = -wide_expm1(-gap);
      gain += weight * share;
      weight *= share < 0.5L ? 1 - share : wide_exp(-gap);
    }
    weight += law_.points[j].mass;
    gain_[j] = gain;
    weight_[j] = weight;
  }
  // [atom-kernel] 16 units for libm, 8 for the operations of a step, and the rounded gaps add up to the range of the losses.
  const double range = count == 0 ? 0 : law_.points.front().loss - law_.points.back().loss;
  other_lost_ = law_.lost == 0 ? 0 : law_.lost * wide_exp(std::max<Wide>(0, -static_cast<Wide>(law_.lowest)) * 1.0001L + 1);
  spread_ = up_by(law_.spread + (24 * static_cast<double>(count + 2) + range) * wide_unit * 1.01, 16);
}

std::size_t Table::count_from(double epsilon) const {
  const auto above = [&](const Point& point) { return point.loss >= epsilon; };
  const auto place = std::partition_point(law_.points.begin(), law_.points.end(), above);
  return static_cast<std::size_t>(place - law_.points.begin());
}

Wide Table::gain(double epsilon) const {
  const std::size_t above = count_from(epsilon);
  if (above == 0) return 0;
  const Wide distance = static_cast<Wide>(law_.points[above - 1].loss) - static_cast<Wide>(epsilon);
  return gain_[above - 1] + weight_[above - 1] * -wide_expm1(-distance);
}

Wide Table::gain_with(const std::vector<Point>& points, double epsilon) const {
  Wide sum = 0;
  std::size_t above = 0;  // points of the table at or above the threshold, which decreases as the other loss increases
  for (std::size_t i = points.size(); i-- > 0;) {
    const Wide threshold = static_cast<Wide>(epsilon) - static_cast<Wide>(points[i].loss);
    while (above < law_.points.size() && static_cast<Wide>(law_.points[above].loss) >= threshold) ++above;
    if (above == 0) continue;
    const Wide distance = static_cast<Wide>(law_.points[above - 1].loss) - threshold;
    sum += points[i].mass * (gain_[above - 1] + weight_[above - 1] * -wide_expm1(-distance));
  }
  return sum;
}

Table::Tails Table::tails_with(const std::vector<Point>& points, double epsilon) const {
  Tails sum;
  std::size_t above = 0;
  for (std::size_t i = points.size(); i-- > 0;) {
    const Wide loss = points[i].loss;
    while (above < law_.points.size() && static_cast<Wide>(law_.points[above].loss) + loss >= static_cast<Wide>(epsilon)) ++above;
    if (above == 0) continue;
    sum.detected += points[i].mass * (gain_[above - 1] + weight_[above - 1]);
    sum.accused += points[i].mass * weight_[above - 1] * wide_exp(-loss - static_cast<Wide>(law_.points[above - 1].loss));
  }
  return sum;
}

Wide Table::rest(std::size_t above, Wide epsilon) const {
  if (above == 0) return miss_.front() + law_.points.front().mass;
  return miss_[above - 1] + weight_[above - 1] * wide_exp(epsilon - static_cast<Wide>(law_.points[above - 1].loss));
}

Wide Table::rest_with(const std::vector<Point>& points, double epsilon) const {
  sum_from_below();
  Wide sum = 0;
  std::size_t above = 0;
  for (std::size_t i = points.size(); i-- > 0;) {
    const Wide threshold = static_cast<Wide>(epsilon) - static_cast<Wide>(points[i].loss);
    while (above < law_.points.size() && static_cast<Wide>(law_.points[above].loss) >= threshold) ++above;
    sum += points[i].mass * rest(above, threshold);
  }
  return sum;
}

// [atom-kernel] It increases with epsilon, so the upper end is evaluated at epsilon + shift.
Interval Table::log_complement(double epsilon) const {
  if (law_.points.empty() || !(spread_ < 1)) return {-infinity, 0};
  sum_from_below();
  const auto at = [this](double e) { return rest(count_from(e), static_cast<Wide>(e)); };
  const Wide below = at(numeric::add_down(epsilon, -law_.shift)), above = at(numeric::add_up(epsilon, law_.shift));
  return log_complement_from({below * shrink(spread_), above * enlarge(spread_) + law_.lost}, masses_);
}

/// delta without the infinite mass: the upper end is evaluated at epsilon.lo - shift, the lower one at epsilon.hi + shift [atom-kernel].
Ends Table::finite_delta(Interval epsilon) const {
  if (!(spread_ < 1)) return {0, 1};  // the masses are unknown
  const Wide above = gain(numeric::add_down(epsilon.lo, -law_.shift));
  const Wide below = gain(numeric::add_up(epsilon.hi, law_.shift));
  if (epsilon.lo >= law_.highest) return {0, 0};
  return {below * shrink(spread_) * static_cast<Wide>(masses_.finite.lo),
          (above * enlarge(spread_) + law_.lost) * static_cast<Wide>(masses_.finite.hi) * enlarge(0)};
}

double Table::inverse_gain(Wide value) const {
  if (law_.points.empty()) return -infinity;
  if (!(value > 0)) return law_.points.front().loss;
  const auto place = std::partition_point(gain_.begin() + 1, gain_.end(), [&](Wide gain) { return gain <= value; });
  const auto j = static_cast<std::size_t>(place - gain_.begin()) - 1;
  const Wide share = std::min<Wide>(1, (value - gain_[j]) / weight_[j]);
  return static_cast<double>(static_cast<Wide>(law_.points[j].loss) + wide_log1p(-share));
}

/// Candidates come from the inverse of the kernel; the result is checked against `delta`, in doubling steps.
double Table::epsilon_above(double target) const {
  if (!(target >= masses_.infinite.lo)) return infinity;
  const Wide finite = (static_cast<Wide>(target) - static_cast<Wide>(masses_.infinite.hi)) / static_cast<Wide>(masses_.finite.hi);
  double candidate = std::max(0.0, inverse_gain((finite - law_.lost) * shrink(spread_)) + law_.shift);
  for (double step = std::max(candidate, 1e-3) * 0x1p-52; step < 1e300; step *= 2) {
    if (delta(Interval::exactly(candidate)).hi <= target) return candidate;
    candidate += step;
  }
  return infinity;
}

double Table::epsilon_below(double target) const {
  const Wide finite = (static_cast<Wide>(target) - static_cast<Wide>(masses_.infinite.lo)) / static_cast<Wide>(masses_.finite.lo);
  double candidate = inverse_gain(finite * enlarge(spread_)) - law_.shift;
  for (double step = std::max(std::abs(candidate), 1e-3) * 0x1p-52; candidate > 0; step *= 2) {
    if (delta(Interval::exactly(candidate)).lo > target) return candidate;
    candidate -= step;
  }
  return 0;
}

Interval Table::epsilon(Interval target) const {
  // If delta is below the infinite mass, there is no epsilon.
  if (target.hi < masses_.infinite.lo * static_cast<double>(shrink(masses_.slack))) return Interval::exactly(infinity);
  const double lo = epsilon_below(target.hi);
  return {lo, std::max(lo, epsilon_above(target.lo))};
}

void Table::sum_from_below() const {
  std::call_once(summed_, [this] {
    const std::size_t count = law_.points.size();
    miss_.assign(count, 0);
    accept_.assign(count, 0);
    for (std::size_t j = count; j-- > 1;) {
      const Point& point = law_.points[j];
      miss_[j - 1] = miss_[j] + point.mass;
      accept_[j - 1] = accept_[j] + point.mass * wide_exp(-static_cast<Wide>(point.loss));
    }
  });
}

/// Q(L >= loss) of the point with this index.
Wide Table::false_positive(std::size_t last) const { return weight_[last] * wide_exp(-static_cast<Wide>(law_.points[last].loss)); }

Wide Table::miss_when_rejecting(Wide allowed) const {
  // Every loss has a chance under Q, even where its double is 0.
  if (!(allowed > 0)) return miss_.front() + law_.points.front().mass;

  std::size_t low = 0;  // number of points that are rejected completely
  for (std::size_t high = law_.points.size(); low < high;) {
    const std::size_t middle = (low + high) / 2;
    (false_positive(middle) <= allowed ? low : high) = false_positive(middle) <= allowed ? middle + 1 : middle;
  }
  if (low == law_.points.size()) return 0;
  const Point& point = law_.points[low];
  const Wide rest = (false_positive(low) - allowed) * wide_exp(static_cast<Wide>(point.loss));
  return miss_[low] + std::min(rest, point.mass);
}

Wide Table::miss_when_accepting(Wide wanted) const {
  if (wanted <= 0) return 0;
  const auto place = std::partition_point(accept_.begin(), accept_.end(), [&](Wide accepted) { return accepted > wanted; });
  const auto j = static_cast<std::size_t>(place - accept_.begin());
  const Point& point = law_.points[j];
  return miss_[j] + std::min(point.mass, (wanted - accept_[j]) * wide_exp(static_cast<Wide>(point.loss)));
}

/// [atom-kernel] A test with level alpha under the exact Q has level at most alpha * exp(error) under the listed one, and vice versa.
Interval Table::beta_by_rejection(Interval alpha) const {
  const double error = up_by(spread_ + law_.shift, 2);
  const Wide allowed_more = level_above(static_cast<Wide>(alpha.hi) / static_cast<Wide>(masses_.finite.lo) * enlarge(error));
  const Wide allowed_less = level_below(static_cast<Wide>(alpha.lo) / static_cast<Wide>(masses_.finite.hi) * shrink(error));
  // Losses of log(1/alpha) and more together have a level of at most alpha, however uncertain they are.
  const std::size_t surely = alpha.lo > 0 ? count_from(numeric::add_up((-log(Interval::exactly(alpha.lo))).hi, law_.shift)) : 0;
  const Wide missed = surely > 0 ? std::min(miss_[surely - 1], miss_when_rejecting(allowed_less)) : miss_when_rejecting(allowed_less);
  return {outward_down(miss_when_rejecting(allowed_more) * shrink(spread_) * static_cast<Wide>(masses_.finite.lo)),
          outward_up((missed * enlarge(spread_) + law_.lost) * static_cast<Wide>(masses_.finite.hi))};
}

/// The same from the other end, for alpha near 1, where beta is far smaller than the rounding of sums near alpha.
Interval Table::beta_by_acceptance(Interval alpha) const {
  const double error = up_by(spread_ + law_.shift, 2);
  const Interval accepted = max(1 - alpha - masses_.other_infinite, Interval::exactly(0));
  const Wide wanted_less =
      level_below((static_cast<Wide>(accepted.lo) / static_cast<Wide>(masses_.finite.hi) - other_lost_) * shrink(error));
  const Wide wanted_more = level_above(static_cast<Wide>(accepted.hi) / static_cast<Wide>(masses_.finite.lo) * enlarge(error));
  return {outward_down(miss_when_accepting(wanted_less) * shrink(spread_) * static_cast<Wide>(masses_.finite.lo)),
          outward_up((miss_when_accepting(wanted_more) * enlarge(spread_) + law_.lost) * static_cast<Wide>(masses_.finite.hi))};
}

Interval Table::beta(Interval alpha) const {
  alpha = clamp(alpha, 0, 1);
  if (law_.points.empty()) return Interval::exactly(0);
  if (!(spread_ < 1)) return {0, 1};
  sum_from_below();
  Interval beta = beta_by_rejection(alpha);
  if (other_lost_ < 1) beta = intersect(beta, beta_by_acceptance(alpha));
  const Interval most = min(1 - alpha, 1 - masses_.infinite);
  return clamp(min(Interval{beta.lo, numeric::add_up(beta.hi, masses_.slack)}, {most.hi, most.hi}), 0, 1);
}

Loss::Test Table::test(double epsilon) const {
  if (!(spread_ < 1)) return {{0, 1}, {0, 1}};
  const std::size_t most = count_from(numeric::add_down(epsilon, -law_.shift));
  const std::size_t least = count_from(next_up(numeric::add_up(epsilon, law_.shift)));
  const double error = up_by(spread_ + law_.shift, 2);
  const auto detected = [&](std::size_t count) { return count == 0 ? Wide{0} : gain_[count - 1] + weight_[count - 1]; };
  const auto accused = [&](std::size_t count) { return count == 0 ? Wide{0} : false_positive(count - 1); };
  const auto ends = [&](Wide low, Wide high, double relative, Wide lost) {
    const Interval finite = masses_.finite * Interval{outward_down(low * shrink(relative)), outward_up(high * enlarge(relative) + lost)};
    return finite + Interval{-masses_.slack, masses_.slack};
  };
  return {clamp(ends(accused(least), accused(most), error, other_lost_), 0, 1),
          clamp(ends(detected(least), detected(most), spread_, law_.lost) + masses_.infinite, 0, 1)};
}

std::vector<Interval> Table::corners() const {
  std::vector<Interval> corners;
  for (const Point& point : law_.points) {
    const Interval loss = Interval::exactly(point.loss) + Interval{-law_.shift, law_.shift};
    if (loss.hi < 0) break;
    corners.push_back(max(loss, Interval::exactly(0)));
  }
  return corners;
}

}  // namespace tradeoff::detail::exact
