// SPDX-License-Identifier: Apache-2.0
// The three distributions by inversion, compared word by word with Arb. [rounded-gaussian-sampler] [laplace-samplers] [integer-inversion]
// [lazy-decision] [slow-decision] [certified-quantile-table]
#include "noise/grid_noise.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "noise/replay.h"
#include "noise/tails.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::test {
namespace {

using noise::Dyadic;
using noise::GridNoise;
using noise::Law;
using noise::Level;

struct Case {
  Law law;
  double scale;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Law law : {Law::rounded_gaussian, Law::rounded_laplace, Law::discrete_laplace})
    for (const double scale : {0.02, 0.37109375, 4.0, 10.1, 1048576.0, 1234567.890625, 0x1p40}) all.push_back({law, scale});
  return all;
}

class EachLaw : public testing::TestWithParam<Case> {
 protected:
  [[nodiscard]] double scale() const { return noise_.scale().value(); }
  [[nodiscard]] Ball tail_at(std::uint64_t m) const { return tail(noise_.law(), scale(), m); }
  GridNoise noise_{GetParam().law, Dyadic::at_least(GetParam().scale)};
  ReplayForTests words_{17};
};
INSTANTIATE_TEST_SUITE_P(Scales, EachLaw, testing::ValuesIn(cases()));

/// Words near a boundary of the distribution: the 63 bits of P(|K| >= m), shifted by a power of two.
std::uint64_t word_near_boundary(const Ball& boundary, ReplayForTests& random) {
  const std::string digits = boundary.scaled(63).floor_text();
  std::uint64_t cell = digits.empty() ? random.next() >> 1 : std::stoull(digits, nullptr, 16);
  const std::uint64_t off = 1ULL << (random.next() % 45);
  cell = (random.next() & 1) != 0 ? cell + off : cell - off;
  if (random.next() % 8 == 0) cell += random.next() % 3 - 1;
  return (cell << 1) | (random.next() & 1);
}

// A decided magnitude m is right for every continuation: the cell of V lies between P(|K| >= m + 1) and P(|K| >= m).
TEST_P(EachLaw, WhatTheTablesDecideIsTrueForEveryContinuation) {
  int decided = 0;
  for (int i = 0; i < 1500; ++i) {
    std::uint64_t word = words_.next() >> (i % 3 == 0 ? words_.next() % 45 : 0);
    if (i % 2 == 1) {
      const double spread = noise_.law() == Law::rounded_gaussian ? 5 : 12;
      const double at = 1 + spread * scale() * static_cast<double>(words_.next() >> 11) * 0x1p-53;
      word = word_near_boundary(tail_at(static_cast<std::uint64_t>(at)), words_);
    }
    std::int64_t value = 0;
    if (!noise::decide_word(noise_.data(), word, value)) continue;
    ++decided;
    const auto m = static_cast<std::uint64_t>(value < 0 ? -value : value);
    if (m != 0) {
      ASSERT_EQ(value < 0, (word & 1) != 0);
    }
    ASSERT_TRUE(Ball::integer((word >> 1) + 1).scaled(-63) <= tail_at(m)) << std::hex << word;
    ASSERT_TRUE(tail_at(m + 1) <= Ball::integer(word >> 1).scaled(-63)) << std::hex << word;
  }
  EXPECT_GT(decided, GetParam().scale > 0x1p30 ? 500 : 1000);
}

TEST_P(EachLaw, EveryLevelGivesTheSameValues) {
  std::vector<std::int64_t> portable(100'003), other(portable.size());
  ReplayForTests first(5);
  noise_.draw(first, portable, Level::portable);
  for (const Level level : {Level::avx2, Level::avx512}) {
    if (level > noise::best_level()) continue;
    ReplayForTests second(5);
    noise_.draw(second, other, level);
    EXPECT_EQ(portable, other);
  }
}

// Bits that agree with a boundary for 191 bits and then lie on one side of it: the slow path must find the side.
TEST_P(EachLaw, UndecidedNumbersAreContinuedUntilTheyAreDecided) {
  const double most = noise_.law() == Law::rounded_gaussian ? 6 : 20;
  for (int i = 0; i < 12; ++i) {
    const auto m = 1 + static_cast<std::uint64_t>(most * scale() * static_cast<double>(words_.next() >> 11) * 0x1p-53);
    std::string digits = tail_at(m).scaled(191).floor_text();
    if (digits.empty() || tail_at(m).middle() < 0x1p-60) continue;
    digits.insert(0, 48 - digits.size(), '0');  // 192 bits, the first of them 0
    const bool below = i % 2 == 0;
    std::vector<std::uint64_t> parts;
    for (std::size_t k = 0; k < 3; ++k) parts.push_back(std::stoull(digits.substr(16 * k, 16), nullptr, 16));
    if (below) {  // one unit of 2^-191 down
      for (std::size_t k = 3; k-- > 0;)
        if (parts[k]-- != 0) break;
    } else {
      for (std::size_t k = 3; k-- > 0;)
        if (++parts[k] != 0) break;
    }
    ReplayForTests rest({parts[1], parts[2]});
    const std::int64_t found = noise_.decide_slowly(parts[0] << 1, static_cast<std::int64_t>(m), rest);
    ASSERT_EQ(found, static_cast<std::int64_t>(below ? m : m - 1)) << i;
  }
}

TEST_P(EachLaw, SlowPathAgreesWithTheTables) {
  for (int i = 0; i < 60; ++i) {
    const std::uint64_t word = words_.next();
    std::int64_t value = 0;
    if (!noise::decide_word(noise_.data(), word, value)) continue;
    const std::int64_t wrong_guess = value / 2 + static_cast<std::int64_t>(words_.next() % 7);
    ASSERT_EQ(noise_.decide_slowly(word, wrong_guess, words_), value);
  }
}

// Every prefix of 11 bits once: decided mass <= P(|K| = m) <= decided mass + undecided mass, for every m.
TEST(Enumeration, OfATinySourceGivesTheExactLaw) {
#if defined(TRADEOFF_SANITIZED)
  constexpr int bits = 9;  // the sanitizers make long numbers slow
#else
  constexpr int bits = 11;
#endif
  for (const Case& one : {Case{Law::rounded_gaussian, 4.0}, Case{Law::rounded_laplace, 2.5}, Case{Law::discrete_laplace, 2.5}}) {
    const GridNoise noise(one.law, Dyadic::at_least(one.scale));
    std::map<std::int64_t, int> decided;
    int undecided = 0;
    EmptyStream none;
    for (std::uint64_t prefix = 0; prefix < 1U << bits; ++prefix) {
      noise::LazyUniform uniform(prefix, bits, none);
      try {
        ++decided[noise.magnitude(uniform, 3)];
      } catch (const OutOfBits&) {
        ++undecided;
      }
    }
    EXPECT_LT(undecided, 60);
    EXPECT_GT(decided.size(), 8U);
    for (const auto& [m, count] : decided) {
      const Ball mass =
          tail(one.law, one.scale, static_cast<std::uint64_t>(m)) - tail(one.law, one.scale, static_cast<std::uint64_t>(m) + 1);
      EXPECT_TRUE(Ball(count).scaled(-bits) <= mass) << m;
      EXPECT_TRUE(mass <= Ball(count + undecided).scaled(-bits)) << m;
    }
  }
}

TEST(Scale, IsRoundedUpAndHeldInRange) {
  for (const double value : {1.1, 0.3, 12345.678, 1048576.0}) {
    EXPECT_GE(Dyadic::at_least(value).value(), value);
    EXPECT_LE(Dyadic::at_least(value).value(), value * (1 + 0x1p-51));
    EXPECT_LE(Dyadic::at_most(value).value(), value);
    EXPECT_LT(Dyadic::at_least(value).numerator, 1ULL << 52);
  }
  for (const double value : {0.0001, 0x1p50}) EXPECT_THROW(GridNoise(Law::rounded_gaussian, Dyadic::at_least(value)), DomainError) << value;
}

}  // namespace
}  // namespace tradeoff::detail::test
