// SPDX-License-Identifier: Apache-2.0
#include "operators/allocation/summand.h"

#include <array>
#include <cmath>
#include <numbers>

#include "numeric/arithmetic.h"
#include "numeric/normal.h"
#include "numeric/root.h"

namespace tradeoff::detail::allocation {
namespace {

struct Node {
  double place;
  double weight;
};
// Gauss-Legendre rules on [0, 1], each number rounded to nearest.
constexpr std::array<Node, 3> three_points{
    {{0.11270166537925831, 0.2777777777777778}, {0.5, 0.4444444444444444}, {0.8872983346207417, 0.2777777777777778}}};
constexpr std::array<Node, 5> five_points{{{0.046910077030668004, 0.11846344252809454},
                                           {0.23076534494715845, 0.23931433524968324},
                                           {0.5, 0.28444444444444444},
                                           {0.7692346550528415, 0.23931433524968324},
                                           {0.95308992296933200, 0.11846344252809454}}};
constexpr double remainder_error = 2e-13;  // of both rules, relative to the share, within the limits below [allocation-laws]
constexpr double five_point_limit = 0.1;
constexpr double five_point_cells = 82;
constexpr double three_point_limit = 0.0032;
constexpr double three_point_cells = 2600;

Interval positive_part(Interval a) { return {std::max(a.lo, 0.0), std::max(a.hi, 0.0)}; }

}  // namespace

Summand::Summand(double s, double kappa)
    : s_(s),
      kappa_(kappa),
      product_(4 * kappa * std::exp(-s * s)),
      exact_product_(Interval::exactly(4.0) * Interval::exactly(kappa) * exp(-square(Interval::exactly(s)))),
      mode_(0) {
  const auto falls = [this](double z) {
    const double x = value(z);
    return z / s_ + (kappa_ == 0 ? 1 : x / spread(x)) > 0;
  };
  mode_ = value(numeric::bisect(falls, {-s_ - 1, s_ + 1}, 60).before);
}

double Summand::value(double z) const {
  const double half = s_ * s_ / 2;
  return std::exp(s_ * z - half) - (kappa_ == 0 ? 0 : kappa_ * std::exp(-s_ * z - half));
}

double Summand::spread(double x) const { return kappa_ == 0 ? x : std::sqrt(x * x + product_); }

double Summand::normal(double x) const {
  if (kappa_ == 0) return x > 0 ? std::log(x) / s_ + s_ / 2 : -infinity;
  if (x >= 0) return std::log((x + spread(x)) / 2) / s_ + s_ / 2;
  return -(std::log((spread(x) - x) / (2 * kappa_)) / s_ + s_ / 2);
}

double Summand::density(double x) const {
  if (kappa_ == 0 && !(x > 0)) return 0;
  const double z = normal(x);
  return std::exp(-z * z / 2) / (std::numbers::pi * std::numbers::sqrt2 * std::numbers::inv_sqrtpi * s_ * spread(x));
}

// z = l/s + s/2 has an absolute error of at most 8 u (|l|/s + s/2), which is 8 u (|z| + s) at most, and -z^2/2 one of |z| times that; a
// rounding of x moves z by u x / (s spread) and the logarithm of the density by (|z|/s + 1) u; 30 u for the rest.
double Summand::relative_error(double x) const {
  const double z = std::abs(normal(x));
  if (!(z < infinity)) return 1;
  return unit_roundoff * (8 * z * (z + s_) + 4 * z / s_ + 4 * z + 40);
}

double Summand::slope(double x) const {
  if (kappa_ == 0) return -(normal(x) / s_ + 1) / x;
  const double d = spread(x);
  return -(normal(x) / s_ + x / d) / d;
}

Interval Summand::exact_normal(double x) const {
  const Interval at = Interval::exactly(x), s = Interval::exactly(s_);
  if (kappa_ == 0) return x > 0 ? log(at) / s + s / 2.0 : Interval::exactly(-infinity);
  const Interval d = sqrt(square(at) + exact_product_);
  if (x >= 0) return log((at + d) / 2.0) / s + s / 2.0;
  return -(log((d - at) / (2.0 * Interval::exactly(kappa_))) / s + s / 2.0);
}

Interval Summand::below(double x) const { return normal_cdf(exact_normal(x)); }
Interval Summand::above(double x) const { return normal_cdf(-exact_normal(x)); }

Interval Summand::put(double x) const {
  if (kappa_ == 0 && !(x > 0)) return Interval::exactly(0);
  const Interval z = exact_normal(x), s = Interval::exactly(s_);
  Interval value = Interval::exactly(x) * normal_cdf(z) - normal_cdf(z - s);
  if (kappa_ != 0) value = value + Interval::exactly(kappa_) * normal_cdf(z + s);
  return positive_part(value);
}

Interval Summand::call(double x) const {
  if (kappa_ == 0 && !(x > 0)) return 1.0 - Interval::exactly(x);
  const Interval z = exact_normal(x), s = Interval::exactly(s_);
  Interval value = normal_cdf(s - z) - Interval::exactly(x) * normal_cdf(-z);
  if (kappa_ != 0) value = value - Interval::exactly(kappa_) * normal_cdf(-z - s);
  return positive_part(value);
}

Summand::Shares Summand::exact_shares(double from, double h) const {
  const double to = from + h;  // h is short: exact on the lattice at 0, otherwise one rounding
  const Interval width = Interval::exactly(to) - Interval::exactly(from);
  if (normal(from + h / 2) < 0) {
    const Interval rise = (put(to) - put(from)) / width;
    return {positive_part(rise - below(from)), positive_part(below(to) - rise)};
  }
  const Interval fall = (call(from) - call(to)) / width;
  return {positive_part(above(from) - fall), positive_part(fall - above(to))};
}

Summand::Shares Summand::shares(double from, double h) const {
  const double middle = from + h / 2, d = spread(middle);
  const double steepness = d > 0 ? h / d * std::max(std::abs(normal(middle)) / s_ + 1, 1 / s_) : infinity;
  if (!(steepness <= five_point_limit && d >= five_point_cells * h)) return exact_shares(from, h);
  const auto sum = [&](const auto& nodes) {
    double left = 0, right = 0;
    for (const Node& node : nodes) {
      const double mass = node.weight * density(std::fma(node.place, h, from));
      left += mass * (1 - node.place);
      right += mass * node.place;
    }
    const double error = 2 * relative_error(middle) + remainder_error;
    const auto around = [&](double share) { return Interval{h * share * (1 - error), h * share * (1 + error)}; };
    return Shares{around(left), around(right)};
  };
  if (steepness <= three_point_limit && d >= three_point_cells * h) return sum(three_points);
  return sum(five_points);
}

}  // namespace tradeoff::detail::allocation
