// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace tradeoff::detail::test {

/// A pair of distributions on a few outcomes, given by small whole weights, and the same pair as a plan.
struct RandomPair {
  std::array<std::vector<int>, 2> weights;  ///< with the record, without it
  std::string plan;

  /// The probabilities with the record (0) or without it (1).
  template <class Real>
  [[nodiscard]] std::vector<Real> probabilities(std::size_t side) const {
    std::vector<Real> found;
    const int total = std::accumulate(weights.at(side).begin(), weights.at(side).end(), 0);
    for (const int weight : weights.at(side)) found.push_back(static_cast<Real>(weight) / static_cast<Real>(total));
    return found;
  }
};

/// How often an outcome has probability 0 on one side, so that it reveals everything. With `rarely`, no outcome has probability 0 on both.
enum class ZeroWeights { often, rarely };

inline RandomPair random_pair(std::mt19937_64& random, ZeroWeights zeros) {
  std::uniform_int_distribution<int> sizes(2, 6), draws(0, 20);
  const auto size = static_cast<std::size_t>(sizes(random));
  RandomPair pair;
  std::array<std::string, 2> text;
  for (std::size_t side = 0; side < 2; ++side) {
    std::vector<int>& weights = pair.weights.at(side);
    int total = 0;
    while (total == 0) {
      weights.assign(size, 0);
      for (int& weight : weights) {
        weight = draws(random);
        if (zeros == ZeroWeights::rarely && draws(random) > 2 && weight == 0) weight = 1;
        total += weight;
      }
    }
    for (const int weight : weights)
      text.at(side) += (text.at(side).empty() ? "" : ",") + std::to_string(weight) + "/" + std::to_string(total);
  }
  for (std::size_t i = 0; i < size; ++i)
    if (zeros == ZeroWeights::rarely && pair.weights[0][i] == 0 && pair.weights[1][i] == 0) return random_pair(random, zeros);
  pair.plan = "pair(p=[" + text[0] + "], q=[" + text[1] + "])";
  return pair;
}

}  // namespace tradeoff::detail::test
