// SPDX-License-Identifier: Apache-2.0
#include "operators/allocation/density_bounds.h"

#include <algorithm>
#include <cmath>
#include <utility>

// [allocation-doubling]
namespace tradeoff::detail::allocation {

DensityBounds::DensityBounds(double s, double n, const MeanTails& tails, double first, double step, std::vector<double> values)
    : n_(n), g_(s / std::sqrt(n)), first_(first), step_(step), values_(std::move(values)) {
  constexpr double reach = 3.3;                    // in g: nothing further away is asked for
  const double spacing = std::min(1.5 * g_, 0.6);  // a line is good where exp(x) changes little
  for (double distance = 0; distance < reach * g_ + spacing; distance += spacing) left_.push_back(tails.line_below(first - distance));
  const double last = first + step * static_cast<double>(values_.size() - 1);
  for (std::size_t k = 0; k < right_.size(); ++k) {
    const double distance = static_cast<double>(k + 1) * right_distance - nearer;
    right_[k] = from_probability(tails.log_above(n, last + distance * g_), g_);
  }
}

DensityBounds::DensityBounds(double g, double first, double step, std::vector<double> values)
    : n_(1), g_(g), first_(first), step_(step), values_(std::move(values)) {
  right_.fill(from_probability(0, g_));
}

// A Gaussian is at most e^(t^2/6) times its mean over t deviations on either side.
double DensityBounds::from_probability(double log_probability, double g) {
  return std::min(-std::log(2.5 * g), log_probability - std::log(2 * nearer * g) + 0.01);
}

double DensityBounds::left_of_all(double index) const {
  double least = 0;
  for (const MeanTails::Line& line : left_) least = std::min(least, line.log_below(n_, first_ + index * step_ + nearer * g_));
  return from_probability(least, g_);
}

double DensityBounds::log_above(double index) const {
  const auto chord = [&](double left, double right, double share, double length) {
    return left + share * (right - left) + length * length / (8 * g_ * g_) + 1e-9 * (1 + std::abs(left));
  };
  if (index <= 0) return index == 0 ? values_.front() : left_of_all(index);
  const auto last = static_cast<double>(values_.size() - 1);
  if (index < last) {
    const double below = std::floor(index);
    const auto k = static_cast<std::size_t>(below);
    return chord(values_[k], values_[k + 1], index - below, step_);
  }
  const double length = right_distance * g_, beyond = (index - last) * step_ / length;
  if (beyond < 1) return chord(values_.back(), right_[0], beyond, length);
  return beyond < 2 ? chord(right_[0], right_[1], beyond - 1, length) : right_[1];
}

}  // namespace tradeoff::detail::allocation
