// SPDX-License-Identifier: Apache-2.0
// [count-sums]: explicit products of distributions, other engines, and parameters that are known only roughly.
#include "engine/exact/counted.h"

#include <gtest/gtest.h>

#include <random>

#include "engine/exact/exact.h"
#include "engine/product_oracle.h"
#include "loss/evaluation.h"
#include "mechanism/constraints.h"
#include "mechanism/pair.h"
#include "mechanism/randomized_response.h"
#include "numeric/arithmetic.h"
#include "operators/subsampled.h"
#include "support/matchers.h"

namespace tradeoff::detail {
namespace {

using test::Ball;
using test::Distribution;

constexpr Direction directions[] = {Direction::remove, Direction::add};

bool overlap(Interval a, Interval b) { return a.lo <= b.hi && b.lo <= a.hi; }

struct Known {
  LossPointer loss;
  Distribution pair;
};

/// Sixteenths on two to five outcomes; some outcomes are impossible on one side.
Known random_known(std::mt19937& random) {
  const auto size = static_cast<std::size_t>(std::uniform_int_distribution<int>(2, 5)(random));
  const auto draw = [&] {
    std::vector<int> counts(size, 0);
    for (int i = 0; i < 16; ++i) ++counts[std::uniform_int_distribution<std::size_t>(0, size - 1)(random)];
    return counts;
  };
  const auto p = draw(), q = draw();
  Known known;
  std::vector<Interval> p_masses, q_masses;
  for (std::size_t i = 0; i < size; ++i) {
    p_masses.push_back(Interval::exactly(p[i] / 16.0));
    q_masses.push_back(Interval::exactly(q[i] / 16.0));
    known.pair.push_back({Ball(p[i] / 16.0), Ball(q[i] / 16.0)});
  }
  known.loss = pair_loss(p_masses, q_masses);
  return known;
}

void expect_explicit(const exact::CountAccuracy& accuracy, double width) {
  Ball::precision = 200;
  int asked = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    Parts parts;
    Distribution product{{Ball(1), Ball(1)}};
    for (int i = 0; i < 3; ++i) {
      const Known known = random_known(random);
      const int times = std::uniform_int_distribution<int>(1, 4)(random);
      if (static_cast<double>(product.size()) * std::pow(static_cast<double>(known.pair.size()), times) > 2000) continue;
      parts.push_back({known.loss, static_cast<std::uint64_t>(times)});
      product = test::multiply(product, test::power(known.pair, times));
    }
    if (parts.empty()) continue;
    const LossPointer counted = compose_by_counts(parts, accuracy).loss;
    if (counted == nullptr) continue;
    for (const Direction direction : directions) {
      const Distribution pair = direction == Direction::remove ? product : test::swapped(product);
      for (const double epsilon : {0.0, 0.25, std::uniform_real_distribution(-2.0, 4.0)(random), 1.5, 3.0}) {
        const Interval delta = counted->delta(direction, Interval::exactly(epsilon));
        const Ball truth = test::delta_of(pair, Ball(epsilon));
        EXPECT_TRUE(test::holds(delta, truth)) << ::testing::PrintToString(delta) << " at " << epsilon;
        EXPECT_LE(delta.width(), width * delta.hi + 1e-14) << epsilon;
        ++asked;
      }
    }
  }
  EXPECT_GT(asked, 200);
}

TEST(CountSums, EqualExplicitProducts) { expect_explicit({}, 1e-11); }

// What is left out is counted: with next to nothing listed the answers are wide and still hold.
TEST(CountSums, HoldWithFewCountsListed) {
  expect_explicit({1e-2, 1e-3}, 1);
  expect_explicit({1e-21, 0.05}, 1);  // whole rows, few lists of the others
}

LossPointer sampled_dp(double epsilon, double delta, double rate) {
  return std::make_shared<PoissonLoss>(
      std::make_shared<ConstraintsLoss>(std::vector<Guarantee>{{Interval::exactly(epsilon), Interval::exactly(delta)}}),
      Interval::exactly(rate));
}

LossPointer sampled_response(double epsilon, int choices, double rate) {
  const double others = choices - 1, most = std::exp(epsilon) / (std::exp(epsilon) + others), least = 1 / (std::exp(epsilon) + others);
  const Interval rest = Interval::exactly(1) - Interval::exactly(most) - Interval::exactly(least);
  return std::make_shared<PoissonLoss>(
      pair_loss({Interval::exactly(most), Interval::exactly(least), rest}, {Interval::exactly(least), Interval::exactly(most), rest}),
      Interval::exactly(rate));
}

TEST(CountSums, AgreeWithTheList) {
  struct Case {
    Parts parts;
    double epsilon;
  };
  for (const Case& given : {Case{{{sampled_response(0.5, 10, 0.1), 300}}, 0.4}, Case{{{sampled_response(2, 3, 0.01), 200}}, 0.9},
                            Case{{{sampled_dp(0.3, 1e-9, 0.1), 250}}, 0.6}, Case{{{sampled_dp(1, 1e-6, 0.25), 40}}, 2.5},
                            Case{{{sampled_dp(0.5, 0, 0.2), 60}, {sampled_response(1, 5, 0.05), 30}}, 0.7}}) {
    const LossPointer counted = compose_by_counts(given.parts).loss, listed = compose_exactly(given.parts, {});
    ASSERT_NE(counted, nullptr);
    for (const Direction direction : directions)
      for (const double share : {0.0, 0.3, 1.0, 1.7, -0.4}) {
        const Interval epsilon = Interval::exactly(share * given.epsilon), found = counted->delta(direction, epsilon),
                       known = listed->delta(direction, epsilon);
        EXPECT_TRUE(overlap(found, known)) << ::testing::PrintToString(found) << ::testing::PrintToString(known);
        EXPECT_LE(found.width(), 1e-10 * found.hi);
        const auto one = counted->test_at(direction, epsilon.lo), other = listed->test_at(direction, epsilon.lo);
        if (epsilon.lo < 0) continue;
        ASSERT_TRUE(one && other);
        EXPECT_TRUE(overlap(one->false_positive, other->false_positive)) << epsilon.lo;
        EXPECT_TRUE(overlap(one->true_positive, other->true_positive)) << epsilon.lo;
        EXPECT_LE(one->true_positive.width(), 1e-10);
      }
  }
}

TEST(CountSums, AgreeWithALongList) {
  const Parts parts{{randomized_response(Interval::exactly(0.02), 2), 20000}};
  const LossPointer counted = compose_by_counts(parts).loss, listed = compose_exactly(parts, {});
  ASSERT_NE(counted, nullptr);
  for (const double epsilon : {0.5, 8.0, 16.0, 40.0}) {
    const Interval found = counted->log_delta(Direction::remove, Interval::exactly(epsilon)),
                   known = listed->log_delta(Direction::remove, Interval::exactly(epsilon));
    EXPECT_TRUE(overlap(found, known)) << epsilon << ::testing::PrintToString(found) << ::testing::PrintToString(known);
    EXPECT_LE(found.width(), 1e-9) << epsilon;
  }
}

// Probabilities that are known roughly: the answer holds those of every pair within.
TEST(CountSums, HoldEveryPairWithin) {
  const auto pair = [](double shift, double radius) {
    const auto about = [&](double mass) { return Interval{mass * (1 - radius), mass * (1 + radius)}; };
    return pair_loss({about(0.5 + shift), about(0.3 - shift), about(0.2)}, {about(0.25), about(0.35 - shift), about(0.4 + shift)});
  };
  const double radius = 2e-10;
  const LossPointer rough = compose_by_counts({{pair(0, radius), 40}}).loss;
  ASSERT_NE(rough, nullptr);
  for (const double shift : {-0.3 * radius, 0.3 * radius}) {
    const LossPointer one = compose_by_counts({{pair(shift, 0), 40}}).loss;
    for (const Direction direction : directions)
      for (const double epsilon : {0.5, 8.0, 20.0}) {
        const Interval within = one->log_delta(direction, Interval::exactly(epsilon)),
                       all = rough->log_delta(direction, Interval::exactly(epsilon));
        EXPECT_LE(all.lo, within.lo) << epsilon;
        EXPECT_GE(all.hi, within.hi) << epsilon;
      }
  }
}

TEST(CountSums, DescribeThemselves) {
  const LossPointer counted = compose_by_counts({{sampled_dp(0.3, 1e-9, 0.1), 250}}).loss;
  const auto found = evaluations_of(*counted, Direction::remove, 0.5);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front().theorem, "count-sums");
  EXPECT_LE(found.front().log_delta.width(), 1e-10);
}

TEST(CountSums, RefuseTooManyCounts) { EXPECT_EQ(compose_by_counts({{sampled_response(0.5, 10, 0.1), 100000000}}).loss, nullptr); }

}  // namespace
}  // namespace tradeoff::detail
