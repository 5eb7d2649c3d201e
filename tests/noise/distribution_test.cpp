// SPDX-License-Identifier: Apache-2.0
// Distribution, tails, symmetry and independence of the samplers with the randomness of the operating system, at 4 million draws each.
// `TRADEOFF_TEST_SCALE=25 build/release/tests/noise_test --gtest_filter=Distribution*` takes 1e8, 250 takes 1e9. [rounded-gaussian-sampler]
// [laplace-samplers] [discrete-gaussian-sampler] [exact-choices]
#include <gtest/gtest.h>

#include <vector>

#include "noise/coin.h"
#include "noise/discrete_gaussian.h"
#include "noise/grid_noise.h"
#include "noise/secure_stream.h"
#include "noise/statistics.h"
#include "noise/truncated.h"

namespace tradeoff::detail::test {
namespace {

using noise::Dyadic;
using noise::GridNoise;
using noise::Law;

/// Tests a sample; after a failure it tests again with four times the data, and prints both.
template <class Sampler>
void expect_law(const Sampler& sampler, const Tail& tail, std::size_t count = draws()) {
  noise::SecureStream words;
  std::vector<std::int64_t> sample(count);
  sampler.draw(words, sample);
  const Verdicts first = examine(sample, tail);
  if (first.smallest() >= threshold) return;
  sample.resize(4 * count);
  sampler.draw(words, sample);
  const Verdicts second = examine(sample, tail);
  EXPECT_GE(second.smallest(), threshold) << "first: " << first << "\nagain with four times the draws: " << second;
}

TEST(Distribution, RoundedGaussian) {
  expect_law(GridNoise(Law::rounded_gaussian, Dyadic::at_least(4)), rounded_gaussian_tail(4));
  expect_law(GridNoise(Law::rounded_gaussian, Dyadic::at_least(0x1p20)), rounded_gaussian_tail(0x1p20));
}
TEST(Distribution, RoundedLaplace) {
  expect_law(GridNoise(Law::rounded_laplace, Dyadic::at_least(2.5)), rounded_laplace_tail(2.5));
  expect_law(GridNoise(Law::rounded_laplace, Dyadic::at_least(0x1p20)), rounded_laplace_tail(0x1p20));
}
TEST(Distribution, DiscreteLaplace) {
  expect_law(GridNoise(Law::discrete_laplace, Dyadic::at_least(10)), discrete_laplace_tail(10));
  expect_law(GridNoise(Law::discrete_laplace, Dyadic::at_least(0.5)), discrete_laplace_tail(0.5));
}
TEST(Distribution, TruncatedDiscreteLaplace) {
  expect_law(noise::Truncated(GridNoise(Law::discrete_laplace, Dyadic::at_least(10)), 25), truncated_tail(discrete_laplace_tail(10), 25));
}
TEST(Distribution, DiscreteGaussian) {
  expect_law(noise::DiscreteGaussian(Dyadic::at_least(3.5)), discrete_gaussian_tail(3.5), draws() / 4);
  expect_law(noise::DiscreteGaussian(Dyadic::at_least(0.5)), discrete_gaussian_tail(0.5), draws() / 4);
}

/// Chi-square of counts against their expectation.
double counts_p(const std::vector<double>& counts, std::vector<double> probabilities) {
  double n = 0;
  for (const double count : counts) n += count;
  for (double& p : probabilities) p *= n;
  return chi_square_of(counts, probabilities);
}

TEST(Distribution, RandomisedResponse) {
  noise::SecureStream words;
  for (const std::uint64_t choices : {2U, 5U}) {
    std::vector<std::int64_t> shifts(draws() / 4);
    noise::Response(Dyadic::at_most(1.25), choices).draw(words, shifts);
    std::vector<double> counts(choices), probabilities(choices, 1 / (std::exp(1.25) + static_cast<double>(choices) - 1));
    probabilities[0] *= std::exp(1.25);
    for (const std::int64_t shift : shifts) ++counts.at(static_cast<std::size_t>(shift));
    EXPECT_GE(counts_p(counts, probabilities), threshold);
  }
}

TEST(Distribution, Subsets) {
  noise::SecureStream words;
  std::vector<double> fixed(10), sizes(6);  // the ten pairs out of five; the number of heads among five coins
  const noise::Coin coin = noise::Coin::rational(1, 3);
  for (int i = 0; i < 200'000; ++i) {
    const auto pair = noise::fixed_subset(2, 5, words);
    ASSERT_EQ(pair.size(), 2U);
    ASSERT_LT(pair[0], pair[1]);
    ++fixed.at(pair[1] * (pair[1] - 1) / 2 + pair[0]);
    ++sizes.at(noise::bernoulli_subset(coin, 5, words).size());
  }
  EXPECT_GE(counts_p(fixed, std::vector<double>(10, 0.1)), threshold);
  EXPECT_GE(counts_p(sizes, {32 / 243.0, 80 / 243.0, 80 / 243.0, 40 / 243.0, 10 / 243.0, 1 / 243.0}), threshold);
}

}  // namespace
}  // namespace tradeoff::detail::test
