// SPDX-License-Identifier: Apache-2.0
// The acceptance of the discrete Gaussian's proposals against Arb, and its moments. [discrete-gaussian-sampler]
#include "noise/discrete_gaussian.h"

#include <gtest/gtest.h>

#include <cmath>

#include "noise/replay.h"
#include "noise/tails.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::test {
namespace {

using noise::DiscreteGaussian;
using noise::Dyadic;

Ball acceptance(double sigma, std::int64_t k) {
  const Ball variance = Ball(sigma) * Ball(sigma), t = std::floor(sigma) + 1;
  const Ball distance = Ball(std::abs(static_cast<double>(k))) - variance / t;
  return exp(Ball(0) - distance * distance / (variance * Ball(2)));
}

TEST(DiscreteGaussian, KeepsProposalsWithTheExactProbability) {
  ReplayForTests random(11);
  for (const double sigma : {0.75, 3.7, 100.25, 9999.5}) {
    const DiscreteGaussian law(Dyadic::at_least(sigma));
    const double exact = Dyadic::at_least(sigma).value();
    for (int i = 0; i < 300; ++i) {
      const auto k = static_cast<std::int64_t>(6 * sigma * static_cast<double>(random.next() >> 11) * 0x1p-53);
      const std::string digits = acceptance(exact, k).scaled(127).floor_text();
      if (digits.empty()) continue;
      std::string padded = digits;
      padded.insert(0, 32 - digits.size(), '0');
      const std::uint64_t first = std::stoull(padded.substr(0, 16), nullptr, 16), second = std::stoull(padded.substr(16), nullptr, 16);
      const auto keeps = [&](std::uint64_t cell, std::uint64_t next) {
        ReplayForTests words(std::vector<std::uint64_t>{next});
        return law.keeps(k, cell << 1, words);
      };
      if (second == 0 || second == ~0ULL) continue;
      EXPECT_TRUE(keeps(first, second - 1)) << sigma << " " << k;
      EXPECT_FALSE(keeps(first, second + 1)) << sigma << " " << k;
      const std::uint64_t off = 1ULL << (random.next() % 40);
      if (first > off) {
        EXPECT_TRUE(keeps(first - off, 0));
      }
      if (first + off < 1ULL << 63) {
        EXPECT_FALSE(keeps(first + off, 0));
      }
    }
  }
}

TEST(DiscreteGaussian, RefusesScalesOutOfRange) {
  EXPECT_THROW(DiscreteGaussian(Dyadic::at_least(0.001)), DomainError);
  EXPECT_THROW(DiscreteGaussian(Dyadic::at_least(1e8)), DomainError);
}

}  // namespace
}  // namespace tradeoff::detail::test
