// SPDX-License-Identifier: Apache-2.0
// The step that adds noise to data: clipping in integers, exact sums, exact noise. [private-step]
#include "train/step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "noise/natural.h"
#include "small_run.h"
#include "support/scale.h"
#include "tradeoff/error.h"
#include "train/outer_products.h"

namespace tradeoff::detail::test {
namespace {

using noise::Dyadic;
using train::ClipGrid;
using train::Examples;
using train::Factors;
using train::Model;
using train::PrivateStep;

using noise::Wide;

Wide squared_norm(const std::vector<std::int64_t>& values) {
  Wide sum = 0;
  for (const std::int64_t value : values)
    sum += static_cast<Wide>(static_cast<std::uint64_t>(std::abs(value))) * static_cast<std::uint64_t>(std::abs(value));
  return sum;
}
Wide square(std::uint64_t value) { return static_cast<Wide>(value) * value; }

std::vector<std::int64_t> difference(std::vector<std::int64_t> a, const std::vector<std::int64_t>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}

Interval number(const char* text) { return read_number(text).value; }

TEST(ClipGrid, HoldsTheNormFromBelow) {
  for (const char* clip : {"1", "1.5", "0.1", "1e-6", "1000000", "0.3333333333", "32767", "32768"}) {
    const ClipGrid grid(number(clip));
    const double bound = std::ldexp(static_cast<double>(grid.bound()), grid.exponent());
    EXPECT_LE(bound, number(clip).hi) << clip;
    EXPECT_GE(bound, number(clip).lo * (1 - 0x1p-23)) << clip;
    EXPECT_LE(std::ldexp(number(clip).hi, grid.delta_bits()), 32767) << clip;
    EXPECT_LT(grid.bound(), std::uint64_t{1} << 25) << clip;
  }
  for (const char* clip : {"0", "1e-7", "1e7"}) EXPECT_THROW(ClipGrid(number(clip)), DomainError) << clip;
}

/// Models of every kind with gradients far above and far below the clipping norm.
struct Setting {
  Examples examples;
  Model model;
  float scale;
};
std::vector<Setting> settings() {
  std::vector<Setting> found;
  ReplayForTests words(21);
  for (const float scale : {1e-3F, 1.F, 30.F, 1e6F}) {
    for (const std::size_t hidden : {0U, 6U}) {
      found.push_back({random_examples(40, 11, 31), Model({11, 4, hidden, 0, 0, 0}), scale});
      found.back().model.initialise(words);
    }
    found.push_back({random_images(10, 12, 13, 32), Model({156, 4, 0, 3, 12, 13}), scale});
    found.back().model.initialise(words);
  }
  return found;
}

std::vector<Factors> scaled_factors(const Setting& setting) {
  std::vector<Factors> factors = random_factors(setting.model, setting.examples);
  for (Factors& layer : factors) layer.deltas *= setting.scale;
  return factors;
}

/// The factors of one example alone.
std::vector<Factors> only(const std::vector<Factors>& factors, std::size_t example) {
  std::vector<Factors> found = factors;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const auto first = static_cast<Eigen::Index>(example * factors[i].positions), count = static_cast<Eigen::Index>(factors[i].positions);
    found[i].inputs = factors[i].inputs.middleRows(first, count).eval();
    found[i].deltas = factors[i].deltas.middleRows(first, count).eval();
  }
  return found;
}

TEST(Clipping, NoContributionExceedsTheNormAsAnInteger) {
  for (const Setting& setting : settings()) {
    const ClipGrid grid(number("1.5"));
    PrivateStep step(grid, setting.model, Dyadic::at_least(1e6));
    const std::vector<Factors> factors = scaled_factors(setting);
    const std::vector<double> norms = train::gradient_norms(factors);
    for (std::size_t i = 0; i < setting.examples.size(); ++i) {
      const Wide found = squared_norm(step.clipped_sum(only(factors, i)));
      EXPECT_LE(found, square(grid.bound()));
      // Nothing is lost except by truncation to the grid: deltas of 15 bits and more.
      const double kept = std::sqrt(static_cast<double>(found)) / std::ldexp(1.0, -grid.exponent());
      EXPECT_NEAR(kept, std::min(norms[i], 1.5), 0.01 * std::min(norms[i], 1.5) + 0.002);
    }
    EXPECT_EQ(step.tally().zeroed, 0U);
  }
}

TEST(Clipping, TheSumIsThatOfTheContributionsWhateverTheOrder) {
  for (const Setting& setting : settings()) {
    PrivateStep step(ClipGrid(number("1.5")), setting.model, Dyadic::at_least(1e6));
    const std::vector<Factors> factors = scaled_factors(setting);
    std::vector<std::int64_t> sum(setting.model.weights().size());
    for (std::size_t i = setting.examples.size(); i-- > 0;) {
      const std::vector<std::int64_t>& one = step.clipped_sum(only(factors, i));
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += one[k];
    }
    EXPECT_EQ(step.clipped_sum(factors), sum);
  }
}

TEST(Clipping, GradientsThatAreNotFiniteContributeNothingAndAreCounted) {
  const Examples examples = random_examples(9, 5, 7);
  Model model({5, 4, 3, 0, 0, 0});
  ReplayForTests words(3);
  model.initialise(words);
  const std::vector<Factors> good = random_factors(model, examples);
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    std::vector<Factors> factors = good;
    factors[1].deltas(4, 2) = bad;
    PrivateStep step(ClipGrid(number("1")), model, Dyadic::at_least(1e6));
    const std::vector<std::int64_t> with = step.clipped_sum(factors);
    EXPECT_EQ(step.tally().zeroed, 1U);
    const std::vector<std::int64_t> missing = difference(step.clipped_sum(good), with);
    EXPECT_EQ(step.clipped_sum(only(good, 4)), missing);
    EXPECT_EQ(squared_norm(step.clipped_sum(only(factors, 4))), Wide{0});
    EXPECT_EQ(step.tally().zeroed, 2U);
  }
}

/// Repeats the same run on two data sets that differ in one record: at every step, with the current weights and the drawn batch, the two
/// sums differ by at most the sensitivity. [private-step]
template <class Batches>
void replay(Batches batches, const Examples& one, const Examples& other, bool removed) {
  const train::TrainingTerms terms = small_terms(batches, one, 5);
  const train::DrawnStep drawn = train::drawn_step(terms);
  Model model(terms.shape);
  ReplayForTests words(77);
  model.initialise(words);
  PrivateStep step(drawn.grid, model, drawn.scale), second(drawn.grid, model, drawn.scale);
  train::Batch batch;
  int different = 0;
  const int steps = static_cast<int>(1000 * std::max(0.2, test_scale()));
  for (int t = 0; t < steps; ++t) {
    if constexpr (std::is_same_v<Batches, train::FixedSizeBatches>)
      batches.draw(words, batch);
    else
      batches.draw(words, batch, one.size());
    const auto gradients = [&](const Examples& from, bool without_last) {
      Examples chosen = from;
      std::vector<std::size_t> kept;
      for (const std::size_t i : batch)
        if (!(without_last && i + 1 == one.size())) kept.push_back(i);
      chosen.inputs.resize(static_cast<Eigen::Index>(kept.size()), from.inputs.cols());
      chosen.labels.clear();
      for (std::size_t i = 0; i < kept.size(); ++i) {
        chosen.inputs.row(static_cast<Eigen::Index>(i)) = from.inputs.row(static_cast<Eigen::Index>(kept[i]));
        chosen.labels.push_back(from.labels[kept[i]]);
      }
      return random_factors(model, chosen);
    };
    const std::vector<Factors> factors = gradients(one, false);
    const std::vector<std::int64_t> moved = difference(step.clipped_sum(factors), second.clipped_sum(gradients(other, removed)));
    const Wide distance = squared_norm(moved);
    ASSERT_LE(distance, square(drawn.sensitivity)) << t;
    different += distance > 0 ? 1 : 0;
    const std::vector<std::int64_t>& noisy = step.noisy_sum(factors, words);
    for (std::size_t i = 0; i < noisy.size(); ++i)
      model.weights()[i] -= static_cast<float>(std::ldexp(0.25 / 20, drawn.grid.exponent()) * static_cast<double>(noisy[i]));
  }
  EXPECT_GT(different, steps / 10);
}

TEST(Replay, OneRecordMovesTheSumByAtMostTheSensitivity) {
  const Examples one = random_examples(60, 8, 41);
  Examples replaced = one;
  replaced.inputs.row(59).head(8).setConstant(-32767);  // as far as values go, and another label
  replaced.labels[59] = static_cast<std::uint8_t>((one.labels[59] + 2) % 4);
  replay(train::FixedSizeBatches(20, 60), one, replaced, false);
  replay(train::PoissonBatches(20, 60), one, one, true);
}

TEST(Step, DrawsFreshNoiseOfTheRightSize) {
  Model model({999, 4, 0, 0, 0, 0});  // 4000 weights
  const ClipGrid grid(number("1"));
  const Dyadic scale = Dyadic::at_least(3e7);
  PrivateStep step(grid, model, scale);
  const std::vector<Factors> nobody = random_factors(model, train::Examples{train::GridMatrix(0, 1000), {}, 4, 0, 0});
  ReplayForTests words(5);
  const std::vector<std::int64_t> first = step.noisy_sum(nobody, words), second = step.noisy_sum(nobody, words);
  double sum = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    sum += static_cast<double>(first[i]) * static_cast<double>(first[i]) + static_cast<double>(second[i]) * static_cast<double>(second[i]);
    EXPECT_NE(first[i], second[i]);
  }
  EXPECT_NEAR(std::sqrt(sum / 8000), scale.value(), 0.04 * scale.value());  // five standard deviations
}

TEST(OuterProducts, AreExactAtEveryLevelAndBlockSize) {
  ReplayForTests words(9);
  for (const auto& [rows, inputs, outputs] : {std::tuple{1U, 1U, 1U}, {7U, 5U, 3U}, {64U, 9U, 16U}, {65U, 3U, 33U}}) {
    std::vector<std::int16_t> left(rows * inputs), right(rows * outputs);
    for (auto* values : {&left, &right})
      for (std::int16_t& value : *values) value = static_cast<std::int16_t>(static_cast<std::int64_t>(words.next() % 65535) - 32767);
    std::vector<std::int64_t> expected(inputs * outputs, 5);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t j = 0; j < inputs; ++j)
        for (std::size_t k = 0; k < outputs; ++k) expected[j * outputs + k] += std::int64_t{left[r * inputs + j]} * right[r * outputs + k];
    for (const noise::Level level : {noise::Level::portable, noise::best_level()})
      for (const std::size_t at_once : {1U, 2U}) {
        std::vector<std::int64_t> sums(inputs * outputs, 5);
        train::add_outer_products({left.data(), rows, inputs}, {right.data(), rows, outputs}, at_once, sums, level);
        EXPECT_EQ(sums, expected);
      }
  }
}

}  // namespace
}  // namespace tradeoff::detail::test
