// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "mechanism/constraints.h"
#include "support/ball.h"

// Explicit finite pairs of distributions, multiplied outcome by outcome with hundreds of bits: no binomials, no integer sorting, no kernel.
// Slow and simple, so that it is easy to verify.
namespace tradeoff::detail::test {

struct Outcome {
  Ball p;
  Ball q;
};
using Distribution = std::vector<Outcome>;

inline Distribution multiply(const Distribution& a, const Distribution& b) {
  Distribution product;
  product.reserve(a.size() * b.size());
  for (const Outcome& x : a)
    for (const Outcome& y : b) product.push_back({x.p * y.p, x.q * y.q});
  return product;
}

inline Distribution power(const Distribution& one, int times) {
  Distribution result{{Ball(1), Ball(1)}};
  for (int i = 0; i < times; ++i) result = multiply(result, one);
  return result;
}

inline Distribution swapped(Distribution pair) {
  for (Outcome& outcome : pair) std::swap(outcome.p, outcome.q);
  return pair;
}

/// sup_E P(E) - e^epsilon Q(E).
inline Ball delta_of(const Distribution& pair, const Ball& epsilon) {
  const Ball factor = exp(epsilon);
  Ball sum(0);
  for (const Outcome& outcome : pair) {
    const Ball gain = outcome.p - factor * outcome.q;
    if (arb_is_negative(gain.get()) == 0) sum = sum + gain;
  }
  return sum;
}

inline double to_double(const Ball& ball) { return arf_get_d(arb_midref(ball.get()), ARF_RND_NEAR); }

/// The least type II error at type I error alpha, null q, alternative p: outcomes in the order of p/q, the last one randomised.
inline Ball beta_of(const Distribution& pair, const Ball& alpha) {
  std::vector<std::pair<Ball, Outcome>> ordered;  // -log(p/q)
  for (const Outcome& outcome : pair) {
    if (arb_is_zero(outcome.p.get()) != 0 || arb_is_zero(outcome.q.get()) != 0) continue;  // has no effect on either error
    ordered.emplace_back(log(outcome.q) - log(outcome.p), outcome);
  }
  std::sort(ordered.begin(), ordered.end(),
            [](const auto& a, const auto& b) { return arf_cmp(arb_midref(a.first.get()), arb_midref(b.first.get())) < 0; });
  Ball rejected(0);
  Ball accepted(0);
  for (const auto& [loss, outcome] : ordered) {
    const Ball room = alpha - rejected;
    rejected = rejected + outcome.q;
    if (arb_le(outcome.q.get(), room.get()) != 0) continue;
    const bool shared = arb_is_positive(room.get()) != 0;
    accepted = accepted + (shared ? outcome.p * (Ball(1) - room / outcome.q) : outcome.p);
  }
  return accepted;
}

/// The pair of a set of constraints from the polygon max over all lines, its corners found among all crossings of two lines.
inline Distribution pair_of_constraints(const std::vector<std::pair<Ball, Ball>>& constraints) {
  std::vector<std::pair<Ball, Ball>> lines{{Ball(0), Ball(0)}};  // slope, intercept
  for (const auto& [epsilon, delta] : constraints) {
    lines.emplace_back(-exp(epsilon), Ball(1) - delta);
    lines.emplace_back(-exp(-epsilon), (Ball(1) - delta) * exp(-epsilon));
  }
  std::vector<Ball> corners{Ball(0), Ball(1)};
  for (const auto& a : lines) {
    for (const auto& b : lines) {
      if (to_double(a.first - b.first) == 0) continue;
      const Ball x = (b.second - a.second) / (a.first - b.first);
      if (to_double(x) > 0 && to_double(x) < 1) corners.push_back(x);
    }
  }
  std::sort(corners.begin(), corners.end(), [](const Ball& a, const Ball& b) { return to_double(a) < to_double(b); });
  const auto height = [&](const Ball& x) {
    Ball best = lines.front().second;
    for (const auto& [slope, intercept] : lines) {
      const Ball value = slope * x + intercept;
      if (arb_gt(value.get(), best.get()) != 0) best = value;
    }
    return best;
  };
  Distribution pair{{Ball(1) - height(corners.front()), Ball(0)}};
  for (std::size_t i = 0; i + 1 < corners.size(); ++i) {
    if (to_double(corners[i + 1]) - to_double(corners[i]) <= 0) continue;
    pair.push_back({height(corners[i]) - height(corners[i + 1]), corners[i + 1] - corners[i]});
  }
  return pair;
}

}  // namespace tradeoff::detail::test
