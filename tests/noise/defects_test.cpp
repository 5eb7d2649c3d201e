// SPDX-License-Identifier: Apache-2.0
// Faults that other exact samplers have had, inserted on purpose: the tests of distribution_test.cpp must detect every one of them with the
// usual number of draws. [rounded-gaussian-sampler] [laplace-samplers] [exact-choices]
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "noise/discrete_gaussian.h"
#include "noise/grid_noise.h"
#include "noise/replay.h"
#include "noise/statistics.h"
#include "noise/truncated.h"

namespace tradeoff::detail::test {
namespace {

using noise::Dyadic;
using noise::GridNoise;
using noise::Law;
using Sample = std::vector<std::int64_t>;

struct Defect {
  std::string name;
  Tail claimed;
  std::function<Sample(ReplayForTests&)> draw;
};

constexpr std::size_t count = 4'000'000;

Sample sample_of(const GridNoise& law, ReplayForTests& words, std::size_t n = count) {
  Sample values(n);
  law.draw(words, values);
  return values;
}
GridNoise gaussian(double sigma) { return {Law::rounded_gaussian, Dyadic::at_least(sigma)}; }
GridNoise laplace(double scale) { return {Law::discrete_laplace, Dyadic::at_least(scale)}; }

/// Magnitude and sign drawn separately from a one-sided geometric distribution, so that zero occurs in two ways.
Sample zero_twice(ReplayForTests& words) {
  Sample values;
  for (std::size_t i = 0; i < count; ++i) {
    const double v = (static_cast<double>(words.next() >> 11) + 0.5) * 0x1p-53;
    const auto m = static_cast<std::int64_t>(std::floor(-10 * std::log(v)));
    values.push_back((words.next() & 1) != 0 ? -m : m);
  }
  return values;
}

/// Each decision about the uniform number uses a copy, which continues with its own bits. Slow, but so wrong that few draws suffice.
Sample copied_lazy_number(ReplayForTests& words) {
  const GridNoise law = gaussian(4);
  Sample values;
  for (int i = 0; i < 6000; ++i) {
    const std::uint64_t word = words.next();
    const auto ask = [&] {
      noise::LazyUniform copy(word >> 62, 2, words);
      return law.magnitude(copy, 2);
    };
    const std::int64_t m = std::max(ask(), ask());  // "at least m" was answered by one copy, "at most m" by another
    values.push_back((word & 1) != 0 ? -m : m);
  }
  return values;
}

/// Ten bits of the uniform number, and a new one if these do not decide.
Sample redrawn_instead_of_continued(ReplayForTests& words) {
  std::vector<std::int64_t> decided(1 << 10, -1);
  EmptyStream none;
  const GridNoise law = gaussian(20);
  for (std::uint64_t prefix = 0; prefix < decided.size(); ++prefix) {
    noise::LazyUniform uniform(prefix, 10, none);
    try {
      decided[prefix] = law.magnitude(uniform, 10);
    } catch (const OutOfBits&) {
      continue;
    }
  }
  Sample values;
  while (values.size() < count) {
    const std::uint64_t word = words.next();
    if (const std::int64_t m = decided[word >> 54]; m >= 0) values.push_back((word & 1) != 0 ? -m : m);
  }
  return values;
}

Sample changed(const GridNoise& law, ReplayForTests& words, const std::function<std::int64_t(std::int64_t, std::size_t)>& change) {
  Sample values = sample_of(law, words);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = change(values[i], i);
  return values;
}

/// A distribution that is not symmetric is compared through its magnitude: index k of {0..9} by a byte modulo 10.
Tail uniform_tail(double size) {
  return [=](std::uint64_t m) { return std::max(0.0, 1 - static_cast<double>(m) / size); };
}

std::vector<Defect> defects() {
  const auto truncated = [](std::uint64_t bound) {
    return [bound](ReplayForTests& words) {
      Sample values(count);
      noise::Truncated(laplace(10), bound).draw(words, values);
      return values;
    };
  };
  return {
      {"zero counted twice", discrete_laplace_tail(10), zero_twice},
      {"bound off by one, too small", truncated_tail(discrete_laplace_tail(10), 60), truncated(59)},
      {"bound off by one, too large", truncated_tail(discrete_laplace_tail(10), 60), truncated(61)},
      {"copied lazy number", rounded_gaussian_tail(4), copied_lazy_number},
      {"undecided number drawn again", rounded_gaussian_tail(20), redrawn_instead_of_continued},
      {"sigma squared for sigma", rounded_gaussian_tail(4), [](ReplayForTests& words) { return sample_of(gaussian(16), words); }},
      {"scale one per cent too small", rounded_gaussian_tail(10), [](ReplayForTests& words) { return sample_of(gaussian(9.9), words); }},
      {"floor instead of rounding", rounded_gaussian_tail(4),
       [](ReplayForTests& words) { return changed(gaussian(4 * 64), words, [](std::int64_t k, std::size_t) { return k >> 6; }); }},
      {"truncation towards zero instead of rounding", rounded_laplace_tail(8),
       [](ReplayForTests& words) {
         return changed({Law::rounded_laplace, Dyadic::at_least(512)}, words, [](std::int64_t k, std::size_t) { return k / 64; });
       }},
      {"sign never drawn", discrete_laplace_tail(10),
       [](ReplayForTests& words) { return changed(laplace(10), words, [](std::int64_t k, std::size_t) { return std::abs(k); }); }},
      {"sign taken from the magnitude", rounded_gaussian_tail(4),
       [](ReplayForTests& words) {
         return changed(gaussian(4), words, [](std::int64_t k, std::size_t) { return (k & 1) != 0 ? std::abs(k) : -std::abs(k); });
       }},
      {"one side heavier by half a per cent", rounded_gaussian_tail(4),
       [](ReplayForTests& words) {
         return changed(gaussian(4), words, [&](std::int64_t k, std::size_t) { return words.next() % 200 == 0 ? std::abs(k) : k; });
       }},
      {"tail cut at four standard deviations", rounded_gaussian_tail(1024),
       [](ReplayForTests& words) {
         return changed(gaussian(1024), words, [](std::int64_t k, std::size_t) { return std::abs(k) > 4096 ? k / 2 : k; });
       }},
      {"word used twice", rounded_gaussian_tail(4),
       [](ReplayForTests& words) {
         Sample values = sample_of(gaussian(4), words);
         for (std::size_t i = 1; i < values.size(); i += 500) values[i] = values[i - 1];
         return values;
       }},
      {"rounded Laplace for discrete Laplace", discrete_laplace_tail(2),
       [](ReplayForTests& words) { return sample_of({Law::rounded_laplace, Dyadic::at_least(2)}, words); }},
      {"rounded Gaussian for discrete Gaussian", discrete_gaussian_tail(0.75),
       [](ReplayForTests& words) { return sample_of(gaussian(0.75), words); }},
      {"modulo bias", uniform_tail(10),
       [](ReplayForTests& words) {
         Sample values;
         for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<std::int64_t>((words.next() & 0xff) % 10));
         return values;
       }},
  };
}

TEST(Defects, AreAllDetected) {
#if defined(TRADEOFF_SANITIZED)
  GTEST_SKIP() << "a statement about statistics at full size, not about memory";
#endif
  ReplayForTests words(20261115);
  int seen = 0;
  for (const Defect& defect : defects()) {
    const Verdicts verdicts = examine(defect.draw(words), defect.claimed);
    const double p = defect.name == "modulo bias" ? verdicts.law : verdicts.smallest();
    EXPECT_LT(p, threshold) << defect.name << ": " << verdicts;
    seen += p < threshold ? 1 : 0;
  }
  EXPECT_GE(seen, 12);
}

// The leak of textbook noise: added to 0, a double-precision Laplace variable has bits far below those that it can have when added to 1.
// The event "a bit below 2^-53" has probability about a quarter for 0 and zero for 1.
TEST(FloatAttack, BreaksTextbookNoiseAndNotOurs) {
  const auto has_low_bits = [](double y) { return std::ldexp(y, 53) != std::floor(std::ldexp(y, 53)); };
  std::mt19937_64 random(1);
  std::exponential_distribution<double> exponential(1);
  std::array<int, 2> betrayed{};
  for (int i = 0; i < 200'000; ++i)
    for (const int x : {0, 1}) {
      const double noise = exponential(random) * ((random() & 1) != 0 ? -1 : 1);
      betrayed.at(static_cast<std::size_t>(x)) += has_low_bits(x + noise) ? 1 : 0;
    }
  EXPECT_GT(betrayed[0], 10'000);  // more than e^8 times as often as for 1, where epsilon = 1 was claimed
  EXPECT_LT(betrayed[1], 3);

  // Ours on a grid of 2^-20: every output is a multiple of the step, for both inputs; in 10^7 draws no output reveals the input.
  const GridNoise law(Law::rounded_laplace, Dyadic::at_least(0x1p20));
  ReplayForTests words(2);
  int off_grid = 0;
  Sample values(1 << 16);
  for (int block = 0; block < 153; ++block) {
    law.draw(words, values);
    for (const std::int64_t k : values) {
      const double y = static_cast<double>(k + (block % 2) * 0x100000) * 0x1p-20;
      off_grid += std::ldexp(y, 20) != std::floor(std::ldexp(y, 20)) ? 1 : 0;
    }
  }
  EXPECT_EQ(off_grid, 0);
}

}  // namespace
}  // namespace tradeoff::detail::test
