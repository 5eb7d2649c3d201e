// SPDX-License-Identifier: Apache-2.0
#include "transform/steep_half.h"

#include <algorithm>
#include <numbers>
#include <type_traits>

#include "numeric/mills.h"

// [group-transform]
namespace tradeoff::detail {
namespace {

const Interval half_log_two_pi{log_root_two_pi - 2e-16, log_root_two_pi + 2e-16};
constexpr double disc_margin = 1 + 16 * unit_roundoff;

/// The Laplace transforms at x of the positive densities u^n exp(-u^2/2) and (e^(mu u) - 1) exp(-u^2/2), u > 0: the Mills ratio, minus its
/// derivative, its second derivative, and a difference of Mills ratios.
double mills_of(double x) {
  if (x >= -1) return numeric::mills(numeric::Precise{x}).value;
  return 0.5 * std::erfc(x * std::numbers::sqrt2 / 2) * std::exp(0.5 * x * x + log_root_two_pi);
}
Interval mills_of(Interval x) { return mills_ratio(x); }
template <class T>
T mills_slope(T x) {
  return 1.0 - x * mills_of(x);
}
template <class T>
T mills_curvature(T x) {
  return mills_of(x) - x * mills_slope(x);
}

/// A Laplace transform of a positive density on a disc: it deviates most on the left.
template <class Transform>
Disc transformed(Disc x, Transform&& transform) {
  const Interval here = transform(Interval::exactly(x.centre)),
                 left = transform(Interval::exactly(numeric::next_down(x.centre - x.radius)));
  return Disc::rounded(middle_of(here), left.hi - here.lo, middle_of(here));
}
Disc mills_of(Disc x) {
  return transformed(x, [](Interval z) { return mills_ratio(z); });
}
template <>
Disc mills_slope(Disc x) {
  return transformed(x, [](Interval z) { return mills_slope(z); });
}
template <>
Disc mills_curvature(Disc x) {
  return transformed(x, [](Interval z) { return mills_curvature(z); });
}
template <class T>
T mills_excess(T x, T mu) {
  return (mills_of(x - mu) - mills_of(x)) / mills_of(x);
}
template <>
Disc mills_excess(Disc x, Disc mu) {
  const Interval shift{mu.least(), mu.centre + mu.radius};
  return transformed(x, [&](Interval z) { return mills_ratio(z - shift) - mills_ratio(z); }) / mills_of(x);
}

double log_normal_tail(double x) {
  return x < 5 ? std::log(0.5 * std::erfc(x * std::numbers::sqrt2 / 2)) : std::log(mills_of(x)) - 0.5 * x * x - log_root_two_pi;
}
Interval log_normal_tail(Interval x) { return log_normal_cdf(-x); }
/// The derivative is minus the reciprocal of the Mills ratio.
Disc log_normal_tail(Disc x) {
  return Disc::around(log_normal_cdf(-x.centre)) + Disc{0, x.radius * (1.0 / mills_of(x)).largest() * disc_margin};
}

}  // namespace

template <class T>
T SteepHalf<T>::base_loss(T x) const {
  using std::log1p;
  switch (kind_) {
    case Kind::gaussian:
      return parameter_ * (x - parameter_ * 0.5);
    case Kind::laplace:
      return x;
    default:
      return parameter_ * (2.0 * x + 1.0) - log1p(1.0 / x);
  }
}

template <class T>
T SteepHalf<T>::base_slope(T x) const {
  switch (kind_) {
    case Kind::gaussian:
      return parameter_;
    case Kind::laplace:
      return number_from<T>(Interval::exactly(1));
    default:
      return 2.0 * parameter_ + 1.0 / (x * (1.0 + x));
  }
}

template <class T>
T SteepHalf<T>::log_false(T x) const {
  using std::exp, std::log;
  switch (kind_) {
    case Kind::gaussian:
      return log_normal_tail(x);
    case Kind::laplace:
      return log(constant_ + density_ * exp(x * -0.5));
    default:
      return -(parameter_ * ((x + 1.0) * (x + 1.0)));
  }
}

// On a disc the derivatives say more about the change than the formulas.
template <class T>
T SteepHalf<T>::loss(T x) const {
  if constexpr (std::is_same_v<T, Disc>)
    if (x.radius > 0) return loss(Disc{x.centre, 0}) + Disc{0, x.radius * loss_slope(x).largest() * disc_margin};
  return sampled(base_loss(x));
}

template <class T>
T SteepHalf<T>::gain(T x) const {
  if constexpr (std::is_same_v<T, Disc>)
    if (x.radius > 0) {
      const Disc slope = true_hazard(x) * drawn(x) * excess(x);  // the difference of the hazards
      return gain(Disc{x.centre, 0}) + Disc{0, x.radius * slope.largest() * disc_margin};
    }
  return sampled(log_ratio(x));
}

template <class T>
T SteepHalf<T>::false_hazard(T x) const {
  using std::exp;
  switch (kind_) {
    case Kind::gaussian:
      return 1.0 / mills_of(x);
    case Kind::laplace:
      return 0.5 / (1.0 + constant_ / density_ * exp(x * 0.5));
    default:
      return 2.0 * parameter_ * (x + 1.0);
  }
}

template <class T>
T SteepHalf<T>::excess(T x) const {
  using std::exp;
  switch (kind_) {
    case Kind::gaussian:
      return mills_excess(x, parameter_);
    case Kind::laplace:
      return (2.0 * top_ / density_ * exp(x * -0.5) - 2.0) * false_hazard(x) - 1.0;
    default:
      return 1.0 / x;
  }
}

template <class T>
T SteepHalf<T>::hazard_bend(T x) const {
  switch (kind_) {
    case Kind::gaussian:
      return mills_slope(x) / mills_of(x);
    case Kind::laplace:
      return false_hazard(x) - 0.5;
    default:
      return 1.0 / (x + 1.0);
  }
}

template <class T>
T SteepHalf<T>::bend_slope(T x) const {
  const T bend = hazard_bend(x);
  switch (kind_) {
    case Kind::gaussian:
      return bend * bend - mills_curvature(x) / mills_of(x);
    case Kind::laplace:
      return false_hazard(x) * bend;
    default:
      return -(bend * bend);
  }
}

template <class T>
T SteepHalf<T>::log_density(T x) const {
  using std::log;
  switch (kind_) {
    case Kind::gaussian:
      return x * x * -0.5 - number_from<T>(half_log_two_pi);
    case Kind::laplace:
      return log(density_ * 0.5) - x * 0.5;
    default:
      return log(2.0 * parameter_ * (x + 1.0)) - parameter_ * ((x + 1.0) * (x + 1.0));
  }
}

template <class T>
T SteepHalf<T>::density_slope(T x) const {
  switch (kind_) {
    case Kind::gaussian:
      return -x;
    case Kind::laplace:
      return number_from<T>(Interval::exactly(-0.5));
    default:
      return 1.0 / (x + 1.0) - 2.0 * parameter_ * (x + 1.0);
  }
}

template <class T>
T SteepHalf<T>::log_ratio(T x) const {
  using std::exp, std::log;
  switch (kind_) {
    case Kind::gaussian:
      return base_loss(x) + log(mills_of(x - parameter_)) - log(mills_of(x));
    case Kind::laplace:
      return log(top_ - density_ * exp(x * 0.5)) - log_false(x);
    default:
      return parameter_ * (2.0 * x + 1.0);
  }
}

template <class T>
double SteepHalf<T>::guess(double log_mass) const {
  switch (kind_) {
    case Kind::gaussian:
      return std::sqrt(-2 * log_mass);
    case Kind::laplace:
      return -2 * std::log(std::max(1e-300, std::exp(log_mass) - centre_of(constant_)) / centre_of(density_));
    default:
      return std::sqrt(-log_mass / centre_of(parameter_)) - 1;
  }
}

// [group-transform] The loss grows at most as fast as that of the base.
template <class T>
double SteepHalf<T>::log_tail(double power, double x) const {
  const double parameter = centre_of(parameter_), y = centre_of(base_loss(number_from<T>(Interval::exactly(x))));
  const double start = power * (centre_of(sampled(number_from<T>(Interval::exactly(y)))) - y), margin = bound_relative_slack;
  if (kind_ == Kind::gaussian) {
    const double level = 0.5 * power * (power - 1) * parameter * parameter, tail = log_tail_above(x - power * parameter);
    return start + level + tail + margin * (std::abs(start) + std::abs(level) + std::abs(tail) + power * (y + x)) + bound_slack;
  }
  const double distance = x + 1 - power;
  if (kind_ == Kind::laplace || !(distance > 0)) return infinity;
  const double up = parameter * power * (power - 1), down = parameter * distance * distance;
  return start + up - down + std::log((x + 1) / distance) + margin * (std::abs(start) + std::abs(up) + down + power * y) + bound_slack;
}

template class SteepHalf<double>;
template class SteepHalf<Interval>;
template class SteepHalf<Disc>;

}  // namespace tradeoff::detail
