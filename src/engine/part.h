// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "loss/loss.h"
#include "loss/whole_gaussian.h"
#include "numeric/arithmetic.h"

namespace tradeoff::detail {

/// A distinct loss of a plan and its number of runs. Equal losses are merged before they reach an engine.
struct Part {
  LossPointer loss;
  std::uint64_t times = 1;
};
using Parts = std::vector<Part>;

[[nodiscard]] inline bool is_one_step(const Parts& parts) { return parts.size() == 1 && parts.front().times == 1; }

[[nodiscard]] inline bool are_symmetric(const Parts& parts) {
  return std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.loss->symmetric(); });
}

/// The probability of an infinite loss in some run.
[[nodiscard]] inline Interval infinite_mass_of(const Parts& parts, Direction direction) {
  Interval log_finite = Interval::exactly(0);
  for (const Part& part : parts)
    log_finite = log_finite + Interval::exactly(static_cast<double>(part.times)) * log1p(-part.loss->infinite_mass(direction));
  return clamp(-expm1(log_finite), 0, 1);
}

/// Records the theorems of the distributions of the parts, and of their composition.
[[nodiscard]] inline Citations citations_of_laws(const Parts& parts) {
  static const Citation product("tensor-composition", "all parts are run on the same data: their losses add");
  return citations_of([&] {
    std::uint64_t runs = 0;
    for (const Part& part : parts) {
      if (part.times == 0) continue;
      part.loss->cite();
      runs += part.times;
    }
    if (runs != 1) record(product);
  });
}

/// The tail of the composition of all parts. [tail-composition] [gaussian-part] [whole-gaussian-mu]
[[nodiscard]] inline Tail tail_of(const Parts& parts) {
  std::vector<std::pair<Tail, std::uint64_t>> tails;
  std::vector<std::pair<WholeGaussian, std::uint64_t>> noises;
  Interval beside = Interval::exactly(0), squares = Interval::exactly(0);  // the latter of the mu of all parts that are not in `noises`
  for (const Part& part : parts) {
    tails.emplace_back(part.loss->tail(), part.times);
    const Interval times = Interval::exactly(static_cast<double>(part.times));
    if (part.times > 0 && !part.loss->gaussian_mu()) beside = beside + times * tails.back().first.zero_from;
    if (const auto noise = part.loss->capabilities(Direction::remove).whole_gaussian; noise && part.times > 0)
      noises.emplace_back(*noise, part.times);
    else if (part.times > 0)
      squares = squares + times * square(Interval::exactly(tails.back().first.gdp_mu));
  }
  Tail whole = composed_tail(tails);
  whole.beside_gaussian = beside.hi;
  if (!noises.empty()) lower_gdp_mu(whole, noises, sqrt(squares).hi);
  return whole;
}

}  // namespace tradeoff::detail
