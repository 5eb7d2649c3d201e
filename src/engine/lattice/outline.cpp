// SPDX-License-Identifier: Apache-2.0
#include "engine/lattice/outline.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "engine/saddle_point.h"
#include "numeric/arithmetic.h"
#include "numeric/root.h"

namespace tradeoff::detail::lattice {
namespace {

constexpr std::size_t most_groups = 2048;  // of one part
constexpr std::size_t all_groups = 16384;  // over all parts: a moment then takes a fifth of a millisecond
constexpr int bisections = 50;

}  // namespace

Outline::Outline(std::span<const Factor> factors, double step) {
  const std::size_t group_count = std::clamp<std::size_t>(all_groups / factors.size(), 16, most_groups);
  for (const Factor& factor : factors) {
    const Law& law = factor.pair.above;
    const std::size_t size = law.mass.size(), at_once = size / group_count + 1;
    const auto loss = [&](std::size_t i) { return step * static_cast<double>(law.index[i]); };
    Grouped grouped{{}, factor.times, size > 0 ? loss(0) : 0, size > 0 ? loss(size - 1) : 0, factor.exact};
    for (std::size_t from = 0; from < size; from += at_once) {
      Group group{0, 0, 0, 0};
      for (std::size_t i = from; i < std::min(from + at_once, size); ++i) {
        const double width = (loss(std::min(i + 1, size - 1)) - loss(i > 0 ? i - 1 : 0)) / 2;
        group.loss += law.mass[i] * loss(i);
        group.mass += law.mass[i];
        group.extent += width;
        group.square += law.mass[i] * width * width;
      }
      if (!(group.mass > 1e-300)) continue;  // below rounding errors
      group.loss /= group.mass;
      group.square /= group.mass;
      grouped.groups.push_back(group);
    }
    parts_.push_back(std::move(grouped));
  }
}

Moment Outline::moment_of(std::size_t i, double s) const {
  double shift = -infinity;
  for (const Group& group : parts_[i].groups) shift = std::max(shift, s * group.loss + std::log(group.mass));
  if (!(shift > -infinity)) return {};
  double total = 0, first = 0, second = 0;
  for (const Group& group : parts_[i].groups) {
    const double weight = group.mass * std::exp(s * group.loss - shift);
    total += weight;
    first += weight * group.loss;
    second += weight * group.loss * group.loss;
  }
  const double mean = first / total;
  return {shift + std::log(total), mean, std::max(0.0, second / total - mean * mean)};
}

Moment Outline::moment(double s) const {
  Moment sum;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Moment one = moment_of(i, s);
    sum.log += parts_[i].times * one.log;
    sum.mean += parts_[i].times * one.mean;
    sum.variance += parts_[i].times * one.variance;
  }
  return sum;
}

/// The zero between low and high of the derivative of K(c) - c epsilon - log|c (c + 1)|, which is convex on either side of 0.
double Outline::saddle(double epsilon, double low, double high) const {
  const auto rises = [&](double c) { return moment(c).mean - epsilon - 1 / c - 1 / (c + 1) > 0; };
  if (low > 0) return numeric::bisect_ratio(rises, {low, high}, bisections).before;
  const auto [before, beyond] = numeric::bisect(rises, {low, high}, bisections);
  return (before + beyond) / 2;
}

Tilt Outline::with_period(double tilt, double epsilon, double log_target) const {
  const auto exponent = [&](double s) { return moment(s).log - s * epsilon; };
  Tilt best{tilt, tilt, 0, 0, 0};
  double left_length = infinity, right_length = infinity;
  const double floor = tilt > 0 ? 0 : -1;
  for (const double share : {0.0, 0.25, 0.5, 0.75}) {
    const double s = floor + share * (tilt - floor);
    const double length = (exponent(s) - log_target) / (tilt - s);
    if (length < left_length) left_length = length, best.left = s;
  }
  for (const double share : {0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 2.0, 5.0}) {
    if (tilt < 0 && share > 1) break;
    const double s = tilt + share * std::abs(tilt);
    const double length = (exponent(s) - log_target) / (s - tilt);
    if (length < right_length) right_length = length, best.right = s;
  }
  best.period = std::max({left_length, right_length, 0.0});
  return best;
}

Tilt Outline::tilt(double epsilon, double log_share) const {
  // The saddle-point approximation of the value that the copies must be small against.
  const auto log_target = [&](double at) {
    const Moment here = moment(at);
    const double spread = std::sqrt(2 * std::numbers::pi * (here.variance + 1 / (at * at)));
    return here.log - at * epsilon - std::log(std::abs(at * (at + 1)) * spread) + log_share;
  };
  const double highest = saddle(epsilon, 0x1p-20, 0x1p20), target = log_target(highest);  // far beyond any useful tilt on either side
  // For heavy upper tails: a tilt below the saddle point moves the copies on the right away; each share costs only a few digits.
  Tilt best = with_period(highest, epsilon, target);
  for (const double share : {0.9, 0.8, 0.7, 0.6, 0.5}) {
    const Tilt one = with_period(share * highest, epsilon, target);
    if (one.period < best.period) best = one;
  }
  best.saddle = highest;
  if (moment(0).mean <= epsilon) return best;
  const double inside = saddle(epsilon, -1, 0);
  const Tilt inner = with_period(inside, epsilon, log_target(inside));
  return inner.period < best.period ? inner : best;
}

double Outline::epsilon_of(double log_delta) const {
  // The saddle-point approximation decreases as the order increases, and so does delta.
  double epsilon = 0;
  const auto falls_below = [&](double order) {
    const Moment moments = moment(order);
    const SaddlePoint here = saddle_point(order, moments.log, moments.mean, moments.variance);
    epsilon = here.epsilon;
    return !(here.log_delta > log_delta);
  };
  (void)numeric::bisect_ratio(falls_below, {0x1p-20, 0x1p20}, bisections);
  return std::max(epsilon, 0.0);
}

std::vector<double> Outline::tilted(const Grouped& part, double tilt) {
  double shift = -infinity, total = 0;
  for (const Group& group : part.groups) shift = std::max(shift, tilt * group.loss + std::log(group.mass));
  std::vector<double> weights;
  for (const Group& group : part.groups) {
    weights.push_back(group.mass * std::exp(tilt * group.loss - shift));
    total += weights.back();
  }
  for (double& weight : weights) weight /= total;
  return weights;
}

std::vector<double> Outline::importance(const Grouped& part, const Tilt& tilt) {
  std::vector<double> weights = tilted(part, tilt.value);
  const std::vector<double> at_saddle = tilted(part, tilt.saddle);
  for (std::size_t g = 0; g < weights.size(); ++g) weights[g] = (weights[g] + at_saddle[g]) / 2;
  return weights;
}

double Outline::doubt(const Tilt& tilt) const {
  double sum = 0;
  for (const Grouped& part : parts_) {
    if (part.exact) continue;
    const std::vector<double> weights = importance(part, tilt);
    for (std::size_t g = 0; g < weights.size(); ++g) sum += part.times * weights[g] * part.groups[g].square;
  }
  return sum;
}

double Outline::doubt(const Tilt& tilt, std::span<const Spacing> spacings) const {
  double sum = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].exact) continue;
    const std::vector<double> weights = importance(parts_[i], tilt);
    for (std::size_t g = 0; g < weights.size(); ++g) sum += parts_[i].times * weights[g] * spacings[i].width[g] * spacings[i].width[g];
  }
  return sum;
}

std::vector<Spacing> Outline::spacing(const Tilt& tilt, double wanted, double floor, double budget) const {
  // The fewest points for a given mean square of widths: width proportional to (density of the tilted distribution)^(-1/3).
  const double ceiling = std::max(floor, 0.5 / (1 + std::abs(tilt.saddle)));  // beyond it the error is no longer of second order
  std::vector<std::vector<double>> weights;
  for (const Grouped& part : parts_) weights.push_back(importance(part, tilt));
  const auto width = [&](std::size_t i, std::size_t g, double scale) {
    const Group& group = parts_[i].groups[g];
    return std::clamp(scale * std::cbrt(std::max(group.extent, floor) / (parts_[i].times * weights[i][g] + 1e-30)), floor, ceiling);
  };
  const auto fits = [&](double scale) {
    double doubt = 0, points = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i].exact) continue;
      for (std::size_t g = 0; g < weights[i].size(); ++g) {
        const double here = width(i, g, scale);
        doubt += parts_[i].times * weights[i][g] * here * here;
        points += parts_[i].groups[g].extent / here;
      }
    }
    return doubt <= wanted || points > budget;
  };
  // From far below any step to far above any range.
  const double widest = numeric::bisect_ratio([&](double scale) { return !fits(scale); }, {1e-12, 1e6}, bisections).before;
  std::vector<Spacing> result;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Spacing spacing;
    for (std::size_t g = 0; g < weights[i].size(); ++g) {
      spacing.loss.push_back(parts_[i].groups[g].loss);
      spacing.width.push_back(width(i, g, widest));
    }
    if (!spacing.loss.empty()) spacing.loss.front() = parts_[i].low, spacing.loss.back() = std::max(parts_[i].low, parts_[i].high);
    // A wide cell next to a narrow one weakens the bound of the narrow one: widths change slowly.
    for (std::size_t g = 1; g < spacing.width.size(); ++g) {
      spacing.width[g] = std::min(spacing.width[g], spacing.width[g - 1] + (spacing.loss[g] - spacing.loss[g - 1]) / 2);
    }
    for (std::size_t g = spacing.width.size(); g-- > 1;) {
      spacing.width[g - 1] = std::min(spacing.width[g - 1], spacing.width[g] + (spacing.loss[g] - spacing.loss[g - 1]) / 2);
    }
    result.push_back(std::move(spacing));
  }
  return result;
}

}  // namespace tradeoff::detail::lattice
