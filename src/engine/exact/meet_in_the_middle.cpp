// SPDX-License-Identifier: Apache-2.0
#include "engine/exact/meet_in_the_middle.h"

#include <cmath>

#include "engine/exact/wide_math.h"
#include "loss/work.h"
#include "numeric/arithmetic.h"

namespace tradeoff::detail::exact {

using numeric::up_by;

Halves::Halves(Law one, Law other, Masses masses) : one_(std::move(one)), other_(std::move(other), Masses{}), masses_(masses) {
  highest_ = numeric::add_up(one_.highest, other_.law().highest);
  const double reach = std::abs(one_.points.front().loss) + std::abs(one_.points.back().loss) + std::abs(other_.law().points.front().loss) +
                       std::abs(other_.law().points.back().loss);
  // Thresholds are computed in long double; a threshold beyond all losses is decided regardless of its rounding.
  shift_ = up_by(one_.shift + other_.law().shift + reach * 4 * wide_unit, 16);
  spread_ = up_by(one_.spread + other_.spread() + (static_cast<double>(one_.points.size()) + 32) * wide_unit * 1.01, 16);
  lost_ = one_.lost + other_.law().lost;
}

double Halves::points() const { return static_cast<double>(one_.points.size()) * static_cast<double>(other_.law().points.size()); }

Ends Halves::finite_delta(Interval epsilon) const {
  if (!(spread_ < 1)) return {0, 1};
  if (epsilon.lo >= highest_) return {0, 0};
  Work::count(0.1 * static_cast<double>(one_.points.size()));
  const Wide above = other_.gain_with(one_.points, numeric::add_down(epsilon.lo, -shift_));
  const Wide below = other_.gain_with(one_.points, numeric::add_up(epsilon.hi, shift_));
  return {below * shrink(spread_) * static_cast<Wide>(masses_.finite.lo),
          (above * enlarge(spread_) + lost_) * static_cast<Wide>(masses_.finite.hi) * enlarge(0)};
}

Interval Halves::delta(Interval epsilon) const { return delta_from(finite_delta(epsilon), masses_); }

Interval Halves::log_delta(Interval epsilon) const { return log_delta_from(finite_delta(epsilon), masses_); }

Interval Halves::log_complement(double epsilon) const {
  if (!(spread_ < 1)) return {-infinity, 0};
  Work::count(0.1 * static_cast<double>(one_.points.size()));
  const Wide below = other_.rest_with(one_.points, numeric::add_down(epsilon, -shift_)),
             above = other_.rest_with(one_.points, numeric::add_up(epsilon, shift_));
  return log_complement_from({below * shrink(spread_), above * enlarge(spread_) + lost_}, masses_);
}

Loss::Test Halves::test(double epsilon) const {
  if (!(spread_ < 1)) return {{0, 1}, {0, 1}};
  const Table::Tails most = other_.tails_with(one_.points, numeric::add_down(epsilon, -shift_));
  const Table::Tails least = other_.tails_with(one_.points, numeric::next_up(numeric::add_up(epsilon, shift_)));
  const double error = up_by(spread_ + shift_, 2);
  const Wide lowest = static_cast<Wide>(one_.lowest) + static_cast<Wide>(other_.law().lowest);
  const Wide other_lost = lost_ == 0 ? 0 : lost_ * wide_exp(std::max<Wide>(0, -lowest) * 1.0001L + 1);
  const auto ends = [&](Wide low, Wide high, double relative, Wide lost) {
    const Interval finite = masses_.finite * Interval{outward_down(low * shrink(relative)), outward_up(high * enlarge(relative) + lost)};
    return finite + Interval{-masses_.slack, masses_.slack};
  };
  return {clamp(ends(least.accused, most.accused, error, other_lost), 0, 1),
          clamp(ends(least.detected, most.detected, spread_, lost_) + masses_.infinite, 0, 1)};
}

}  // namespace tradeoff::detail::exact
