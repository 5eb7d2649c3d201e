// SPDX-License-Identifier: Apache-2.0
// Coins, indices and subsets by complete enumeration and against Arb. [exact-choices]
#include "noise/coin.h"

#include <gtest/gtest.h>

#include <vector>

#include "noise/replay.h"
#include "noise/tails.h"

namespace tradeoff::detail::test {
namespace {

using noise::Coin;
using noise::Dyadic;

// Every prefix of 9 bits once: heads <= p <= heads + undecided.
void expect_probability(const Coin& coin, const Ball& p) {
  constexpr int bits = 9;
  EmptyStream none;
  int heads = 0, open = 0;
  for (std::uint64_t prefix = 0; prefix < 1U << bits; ++prefix) {
    noise::LazyUniform uniform(prefix, bits, none);
    try {
      heads += coin.toss(uniform) ? 1 : 0;
    } catch (const OutOfBits&) {
      ++open;
    }
  }
  EXPECT_LE(open, 1);
  EXPECT_TRUE(Ball(heads).scaled(-bits) <= p);
  EXPECT_TRUE(p <= Ball(heads + open).scaled(-bits));
}

Ball logistic(double epsilon, double others) { return Ball(1) / (Ball(1) + Ball(others) * exp(Ball(-epsilon))); }

TEST(Coin, HasItsExactProbability) {
  expect_probability(Coin::rational(256, 60000), Ball(256) / Ball(60000));
  expect_probability(Coin::rational(1, 2), 0.5);
  expect_probability(Coin::rational(0, 7), 0);
  expect_probability(Coin::rational(7, 7), 1);
  for (const double epsilon : {0.0, 0.001, 0.7, 1.0, 5.0, 40.0})
    for (const double others : {1.0, 3.0, 1000.0})
      expect_probability(Coin::logistic(epsilon == 0 ? Dyadic{} : Dyadic::at_most(epsilon), static_cast<std::uint64_t>(others)),
                         logistic(epsilon == 0 ? 0 : Dyadic::at_most(epsilon).value(), others));
}

// The deciding word and its neighbours: below the 64 bits of p the coin is true, above it is false, equal needs the next word.
TEST(Coin, DecidesByTheFirstWordThatDiffers) {
  ReplayForTests random(9);
  for (int i = 0; i < 40; ++i) {
    const double epsilon = static_cast<double>(random.next() % 8'000'000) * 1e-6 + 1e-3;
    const Dyadic exact = Dyadic::at_most(epsilon);
    const Coin coin = Coin::logistic(exact, 2);
    std::string digits = logistic(exact.value(), 2).scaled(128).floor_text();
    digits.insert(0, 32 - digits.size(), '0');
    const std::uint64_t first = std::stoull(digits.substr(0, 16), nullptr, 16), second = std::stoull(digits.substr(16), nullptr, 16);
    const auto toss = [&](std::uint64_t a, std::uint64_t b) {
      ReplayForTests words(std::vector<std::uint64_t>{a, b});
      return coin.toss(words);
    };
    EXPECT_TRUE(toss(first - 1, 0));
    EXPECT_FALSE(toss(first + 1, 0));
    EXPECT_TRUE(toss(first, second - 1));
    EXPECT_FALSE(toss(first, second + 1));
  }
}

// The rejected words are exactly those that would make small indices likelier.
TEST(Index, IsUnbiased) {
  const std::uint64_t size = (1ULL << 63) + 1;  // 2^64 = size + (size - 2): only the first `size` words may count
  ReplayForTests words(std::vector<std::uint64_t>{size, ~0ULL, size - 1});
  EXPECT_EQ(noise::uniform_below(size, words), size - 1);
  ReplayForTests small(std::vector<std::uint64_t>{~0ULL, 5});  // 2^64 = 1 modulo 3: the last word is rejected
  EXPECT_EQ(noise::uniform_below(3, small), 2U);
  ReplayForTests power(std::vector<std::uint64_t>{~0ULL});
  EXPECT_EQ(noise::uniform_below(4, power), 3U);
  EXPECT_EQ(noise::uniform_below(1, power), 0U);
}

TEST(Subset, HoldsTheEnds) {
  ReplayForTests words(1);
  EXPECT_TRUE(noise::fixed_subset(0, 5, words).empty());
  EXPECT_EQ(noise::fixed_subset(5, 5, words), (std::vector<std::uint64_t>{0, 1, 2, 3, 4}));
  EXPECT_TRUE(noise::bernoulli_subset(Coin::rational(0, 1), 100, words).empty());
  EXPECT_EQ(noise::bernoulli_subset(Coin::rational(1, 1), 100, words).size(), 100U);
}

}  // namespace
}  // namespace tradeoff::detail::test
