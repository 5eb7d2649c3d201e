// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

// The success of an attacker against a finite mechanism, by brute force in plain doubles. Independent of the library.
namespace tradeoff::detail::test {

/// The probabilities of the outputs of a mechanism with the record and without it.
struct FinitePair {
  std::vector<double> p;
  std::vector<double> q;

  void add(double with, double without) {
    p.push_back(with);
    q.push_back(without);
  }
  [[nodiscard]] std::size_t size() const { return p.size(); }
};

inline FinitePair exchanged(const FinitePair& pair) { return {pair.q, pair.p}; }

/// The outputs, the most informative ones first.
inline std::vector<std::size_t> by_ratio(const FinitePair& pair) {
  std::vector<std::size_t> order(pair.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return pair.p[a] * pair.q[b] > pair.p[b] * pair.q[a]; });
  return order;
}

/// The largest true-positive rate of a test with this false-positive rate: Neyman and Pearson, randomised at the last output.
inline double best_rate(const FinitePair& pair, double false_positives) {
  double found = 0, left = false_positives;
  for (const std::size_t i : by_ratio(pair)) {
    if (pair.q[i] > 0 && pair.q[i] >= left) return found + pair.p[i] * (left / pair.q[i]);
    found += pair.p[i];
    left -= pair.q[i];
  }
  return 1;
}

inline double total_variation(const FinitePair& pair) {
  double sum = 0;
  for (std::size_t i = 0; i < pair.size(); ++i) sum += std::max(0.0, pair.p[i] - pair.q[i]);
  return sum;
}

/// The accuracy of the best guess if the record is present with probability `prior`.
inline double best_accuracy(const FinitePair& pair, double prior) {
  double right = 0;
  for (std::size_t i = 0; i < pair.size(); ++i) right += std::max(prior * pair.p[i], (1 - prior) * pair.q[i]);
  return right;
}

/// The posterior after the most informative output, ignoring probabilities up to `noise` as rounding errors.
inline double largest_posterior(const FinitePair& pair, double prior, double noise = 0) {
  double largest = 0;
  for (std::size_t i = 0; i < pair.size(); ++i)
    if (pair.p[i] > noise) largest = std::max(largest, prior * pair.p[i] / (prior * pair.p[i] + (1 - prior) * pair.q[i]));
  return largest;
}

/// The probability that an output multiplies the odds of the record by more than `factor`, with the record present.
inline double chance_of_more_than(const FinitePair& pair, double factor) {
  double sum = 0;
  for (std::size_t i = 0; i < pair.size(); ++i)
    if (pair.p[i] > factor * pair.q[i]) sum += pair.p[i];
  return sum;
}

/// The largest factor that is exceeded with a probability above this one; 1 if there is none.
inline double odds_factor_of(const FinitePair& pair, double chance) {
  double sum = 0;
  for (const std::size_t i : by_ratio(pair)) {
    sum += pair.p[i];
    if (sum > chance) return pair.q[i] > 0 ? pair.p[i] / pair.q[i] : std::numeric_limits<double>::infinity();
  }
  return 1;
}

/// The probability of picking the right one of `people` in the best mechanism made of a test of the pair: the output is a name, the right
/// one if the test rejects, any other with equal probability. Without the person all names are equally likely. [naming-chance]
inline double naming_without(const FinitePair& pair, double people) { return best_rate(pair, 1 / people); }

/// The same if the data sets of two people are neighbours of each other: the test has the false-positive rate (1 - s)/(people - 1).
inline double naming_with_each_other(const FinitePair& pair, double people) {
  double low = 1 / people, high = 1;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (best_rate(pair, (1 - middle) / (people - 1)) >= middle ? low : high) = middle;
  }
  return low;
}

/// Two mechanisms composed.
inline FinitePair both(const FinitePair& one, const FinitePair& other) {
  FinitePair product;
  for (std::size_t i = 0; i < one.size(); ++i)
    for (std::size_t j = 0; j < other.size(); ++j) product.add(one.p[i] * other.p[j], one.q[i] * other.q[j]);
  return product;
}

/// A random channel applied to the output.
template <class Random>
FinitePair through_a_channel(const FinitePair& pair, std::size_t outputs, Random& random) {
  std::uniform_real_distribution<double> uniform(0, 1);
  FinitePair told{std::vector<double>(outputs, 0.0), std::vector<double>(outputs, 0.0)};
  for (std::size_t i = 0; i < pair.size(); ++i) {
    std::vector<double> share(outputs);
    for (double& one : share) one = std::pow(uniform(random), 4);  // most outputs go to one place
    const double all = std::accumulate(share.begin(), share.end(), 1e-300);
    for (std::size_t k = 0; k < outputs; ++k) {
      told.p[k] += pair.p[i] * share[k] / all;
      told.q[k] += pair.q[i] * share[k] / all;
    }
  }
  return told;
}

/// Reveals only whether the output is among the most informative ones with this total probability, randomised at the last one: the least
/// private mechanism at this probability that a channel can make of the pair. [odds-factor]
inline FinitePair told_if_telling(const FinitePair& pair, double chance) {
  double with = 0, without = 0;
  for (const std::size_t i : by_ratio(pair)) {
    const double share = pair.p[i] > 0 ? std::clamp((chance - with) / pair.p[i], 0.0, 1.0) : 0;
    with += share * pair.p[i];
    without += share * pair.q[i];
    if (share < 1) break;
  }
  FinitePair told;
  told.add(with, without);
  told.add(1 - with, 1 - without);
  return told;
}

/// The lower convex hull of points (alpha, beta) on or above a trade-off function, (0, 1) and (1, 0): it lies above the function, which is
/// convex. T(q, p) of the result.
inline FinitePair polygon(std::vector<std::pair<double, double>> points) {
  points.emplace_back(0, 1);
  points.emplace_back(1, 0);
  std::sort(points.begin(), points.end());
  std::vector<std::pair<double, double>> hull;
  for (const auto& point : points) {
    const auto above_chord = [&] {
      const auto& [a, b] = hull[hull.size() - 2];
      return (hull.back().second - b) * (point.first - a) >= (point.second - b) * (hull.back().first - a);
    };
    while (hull.size() > 1 && above_chord()) hull.pop_back();
    if (hull.empty() || point.first > hull.back().first) hull.push_back(point);
  }
  FinitePair pair;
  double alpha = 0, beta = 1;
  for (const auto& [a, b] : hull) {
    pair.add(std::max(0.0, beta - b), std::max(0.0, a - alpha));
    alpha = a;
    beta = b;
  }
  return pair;
}

}  // namespace tradeoff::detail::test
