// SPDX-License-Identifier: Apache-2.0
#include "operators/allocation/place_path.h"

#include <cstring>

#include "numeric/lanes.h"

namespace tradeoff::detail::allocation {

Three rule_error(const PlaceSummand& summand, const WPanel& panel, double s, Interval l, Interval orders, bool turned) {
  const double length = std::abs(panel.half);
  Three least{infinity, infinity, infinity};
  for (const double sum : ellipses) {
    const double along = length * (sum + 1 / sum) / 2, across = length * (sum - 1 / sum) / 2;
    const bool upright = panel.half.real() == 0;
    const double width = upright ? across : along, height = upright ? along : across;
    const double left = panel.centre.real() - width, right = panel.centre.real() + width;
    const double low = panel.centre.imag() - height, high = panel.centre.imag() + height;
    if (!(high <= pi && low >= -pi / 2) || (turned && low < 0)) continue;
    const double nearest = nearest_x(left, right, s, l), turn = std::max(std::abs(low), std::abs(high)) / s;
    const double most_cosine = low <= 0 ? 1 : std::cos(low), least_cosine = std::min(std::cos(low), std::cos(high));
    const double sinh_left = summand.of(left), sinh_right = summand.of(right);
    const auto [least_growth, growth] =
        std::minmax({sinh_left * most_cosine, sinh_left * least_cosine, sinh_right * most_cosine, sinh_right * least_cosine});
    const double raised = std::max({growth * orders.lo, growth * orders.hi, least_growth * orders.lo, least_growth * orders.hi});
    const double exponent = (turn * turn - nearest * nearest) / 2 + raised - 64 * std::log(sum);
    if (!(exponent < 500)) continue;
    const double factor = 4.3 * 0.4 * length / s / (1 - 1 / (sum * sum));
    const Three here = factor * exponentials(exponent, right, -left);
    least = {std::min(least.psi, here.psi), std::min(least.plus, here.plus), std::min(least.minus, here.minus)};
  }
  return least;
}

namespace {

/// The largest value of grows cos(angle) + turns sin(angle) + angle^2/(2 s^2) between 0 and `last`, or a little more. Without the second
/// term the largest value is at an end: sin(angle)/angle falls.
double most_on_rise(double s, double grows, double turns, double last) {
  const auto raised = [&](double angle) { return angle * angle / (2 * s * s); };
  if (turns == 0) return std::max(grows, grows * std::cos(last) + raised(last));
  constexpr int cells = 48;
  double most = -infinity;
  for (int i = 0; i < cells; ++i) {
    const double from = last * i / cells, to = last * (i + 1) / cells,
                 sine = to < pi / 2     ? std::sin(to)
                        : from > pi / 2 ? std::sin(from)
                                        : 1;
    most = std::max(most, grows * std::cos(from) + turns * sine + raised(to));
  }
  return most;
}

}  // namespace

Three bent_bound(const PlaceSummand& summand, double s, double l, double u, double order, double behind, double turn) {
  if (!(u > 0)) return {infinity, infinity, infinity};
  const double x = (u + l / 2) / s, raised = turn * turn / (2 * s * s);
  const double rising = most_on_rise(s, order * summand.of(u), behind * summand.slope(u), turn) + std::log(0.4 * turn / s) - x * x / 2;
  const double beyond = raised + (behind > 0 ? std::hypot(order, behind) * std::exp(-u) / 2 : 0);
  if (!(rising < 500 && beyond < 1e5)) return {infinity, infinity, infinity};
  const Three first = exponentials(rising, u, -u);
  const double tail = std::exp(beyond + log_upper_tail(x)), shifted = std::exp(beyond + s * s / 2 - l / 2 + log_upper_tail(x - s));
  return bound_widened * (first + Three{tail, shifted, tail * std::exp(-u)});
}

TRADEOFF_CLONES void add_point(const double* real, const double* imaginary, std::span<const Complex> weights, std::size_t count,
                               double* sums) {
  using numeric::Lanes;
  for (std::size_t j = 0; j < count; j += numeric::lane_count) {
    Lanes a, b;
    std::memcpy(&a, real + j, sizeof a), std::memcpy(&b, imaginary + j, sizeof b);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      Lanes x, y;
      double *const to_real = sums + 2 * i * count + j, *const to_imaginary = to_real + count;
      std::memcpy(&x, to_real, sizeof x), std::memcpy(&y, to_imaginary, sizeof y);
      x += weights[i].real() * a - weights[i].imag() * b;
      y += weights[i].real() * b + weights[i].imag() * a;
      std::memcpy(to_real, &x, sizeof x), std::memcpy(to_imaginary, &y, sizeof y);
    }
  }
}

TRADEOFF_CLONES void add_real_point(const double* growth, std::span<const double> weights, std::size_t count, double* sums) {
  using numeric::Lanes;
  for (std::size_t j = 0; j < count; j += numeric::lane_count) {
    Lanes a;
    std::memcpy(&a, growth + j, sizeof a);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      Lanes x;
      std::memcpy(&x, sums + 2 * i * count + j, sizeof x);
      x += weights[i] * a;
      std::memcpy(sums + 2 * i * count + j, &x, sizeof x);
    }
  }
}

void Sheet::add(const WPanel& panel) {
  for_each_abscissa([&](double node, double weight) {
    const Complex w = panel.centre + node * panel.half;
    w_.push_back(w);
    place_.push_back(std::abs(w) + std::abs(panel.half));
    weight_.push_back(weight * panel.half / (s_ * root_of_two_pi));
    // At last_angle and on the real line the parts of sinh w are taken from those of its arguments.
    const double c = std::cos(w.imag()), d = std::sin(w.imag());
    sinh_.emplace_back(summand_.of(w.real()) * c, summand_.slope(w.real()) * d);
    const double up = std::exp(w.real());
    exp_.emplace_back(up * c, up * d);
    up_.push_back(up);
    const double growth = sinh_.back().real();
    most_.push_back(std::exp(growth * (growth > 0 ? orders_.hi : orders_.lo)));
  });
}

}  // namespace tradeoff::detail::allocation
