// SPDX-License-Identifier: Apache-2.0
// [random-allocation] [allocation-replace-one] [allocation-blocks] [cyclic-poisson]
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "tradeoff/analyze.h"
#include "tradeoff/plan.h"

// The mechanism itself: delta is an integral of max(p - e^epsilon q, 0) over the outputs of all steps, by the trapezoidal rule.
namespace tradeoff::detail {
namespace {

constexpr double reach = 8.5;

/// Sums f over a grid of `dimensions` noisy outputs without the record, weighted by their density.
double integral(int dimensions, double sigma, double step, const std::function<double(const std::array<double, 4>&)>& f) {
  std::vector<double> places, weights;
  for (double z = -reach; z <= reach; z += step) {
    places.push_back(sigma * z);
    weights.push_back(std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi) * step);
  }
  std::array<double, 4> x{};
  const std::function<double(int)> sum = [&](int dimension) -> double {
    if (dimension == dimensions) return f(x);
    double total = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      x[static_cast<std::size_t>(dimension)] = places[i];
      total += weights[i] * sum(dimension + 1);
    }
    return total;
  };
  return sum(0);
}

/// The likelihood ratio of an output x of noise around `shift` and around 0.
double ratio(double x, double shift, double sigma) { return std::exp((shift * x - shift * shift / 2) / (sigma * sigma)); }

/// E max(a + b Y, 0) for a lognormal Y of mean 1: the last step in closed form.
double last_step(double a, double b, double sigma) {
  if (a >= 0) return a + b;
  const double z = sigma * std::log(-a / b) + 1 / (2 * sigma);
  return b * 0.5 * std::erfc((z - 1 / sigma) / std::numbers::sqrt2) + a * 0.5 * std::erfc(z / std::numbers::sqrt2);
}

void expect_encloses(const std::string& plan, Neighbours neighbours, double epsilon, Direction direction, double truth, double error,
                     double width) {
  const Interval found = analyze(parse(plan), neighbours).delta_at(epsilon, direction);
  EXPECT_LE(found.lo, truth + error) << plan << " at " << epsilon;
  EXPECT_GE(found.hi, truth - error) << plan << " at " << epsilon;
  EXPECT_LE(found.hi - found.lo, width * found.hi) << plan << " at " << epsilon;
}

TEST(SamplerBruteForce, OneOfThreeSteps) {
  for (const double sigma : {0.8, 1.3})
    for (const double epsilon : {0.1, 1.0}) {
      const double growth = std::exp(epsilon);
      const double remove = integral(2, sigma, 0.01, [&](const std::array<double, 4>& x) {
        return last_step((ratio(x[0], 1, sigma) + ratio(x[1], 1, sigma)) / 3 - growth, 1.0 / 3, sigma);
      });
      const double meet = integral(2, sigma, 0.01, [&](const std::array<double, 4>& x) {  // E (W - 1/growth)+
        return last_step((ratio(x[0], 1, sigma) + ratio(x[1], 1, sigma)) / 3 - 1 / growth, 1.0 / 3, sigma);
      });
      const double add = 1 - growth + growth * meet;  // E (1 - growth W)+ = growth (E (W - 1/growth)+ + 1/growth - 1)
      const std::string plan = "gaussian(" + std::to_string(sigma) + ") | allocate(3)";
      expect_encloses(plan, Neighbours::add_remove, epsilon, Direction::remove, remove, 5e-7, 1e-6);
      expect_encloses(plan, Neighbours::zero_out, epsilon, Direction::add, add, 5e-7, 1e-6);
    }
}

TEST(SamplerBruteForce, OneOfThreeStepsReplaced) {
  for (const double epsilon : {0.2, 1.2}) {
    const double sigma = 1.1, growth = std::exp(epsilon);
    const double truth = integral(3, sigma, 0.08, [&](const std::array<double, 4>& x) {
      double difference = 0;
      for (std::size_t t = 0; t < 3; ++t) difference += ratio(x[t], 1, sigma) - growth * ratio(x[t], -1, sigma);
      return std::max(0.0, difference / 3);
    });
    expect_encloses("gaussian(1.1, clip=1) | allocate(3)", Neighbours::replace_one, epsilon, Direction::worst, truth, 1e-3 * truth, 1e-6);
  }
}

TEST(SamplerBruteForce, TwoEpochsOfTwoSteps) {
  for (const double epsilon : {0.3, 1.5}) {
    const double sigma = 1.2, growth = std::exp(epsilon);
    // Three steps on the grid, the fourth in closed form.
    const double truth = integral(3, sigma, 0.1, [&](const std::array<double, 4>& x) {
      const double first = (ratio(x[0], 1, sigma) + ratio(x[1], 1, sigma)) / 2;
      return last_step(first * ratio(x[2], 1, sigma) / 2 - growth, first / 2, sigma);
    });
    expect_encloses("gaussian(1.2) | allocate(2) | repeat(2)", Neighbours::add_remove, epsilon, Direction::remove, truth, 1e-5 * truth,
                    2e-6);
  }
}

TEST(SamplerBruteForce, TwoOfFourSteps) {
  for (const double epsilon : {0.3, 1.5}) {
    const double sigma = 1.2, growth = std::exp(epsilon);
    const double truth = integral(3, sigma, 0.1, [&](const std::array<double, 4>& x) {
      const double a = ratio(x[0], 1, sigma), b = ratio(x[1], 1, sigma), c = ratio(x[2], 1, sigma);
      return last_step((a * b + a * c + b * c) / 6 - growth, (a + b + c) / 6, sigma);
    });
    const Interval found =
        analyze(parse("gaussian(1.2) | allocate(4, times=2)"), Neighbours::add_remove).delta_at(epsilon, Direction::remove);
    EXPECT_LE(found.lo, truth) << epsilon;
    EXPECT_GE(found.hi, truth) << epsilon;
  }
}

// Two groups, three steps: the first group has two of them. The output of the other step tells nothing.
TEST(SamplerBruteForce, CyclicGroups) {
  const double sigma = 0.9, rate = 0.3;
  for (const double epsilon : {0.2, 1.0}) {
    const double growth = std::exp(epsilon);
    for (const Direction direction : {Direction::remove, Direction::add}) {
      const double truth = integral(2, sigma, 0.02, [&](const std::array<double, 4>& x) {
        const double w = (1 - rate + rate * ratio(x[0], 1, sigma)) * (1 - rate + rate * ratio(x[1], 1, sigma));
        return direction == Direction::remove ? std::max(0.0, w - growth) : std::max(0.0, 1 - growth * w);
      });
      expect_encloses("gaussian(0.9) | cyclic(groups=2, rate=0.3, steps=3)", Neighbours::add_remove, epsilon, direction, truth,
                      2e-4 * truth, 1e-6);
    }
  }
}

}  // namespace
}  // namespace tradeoff::detail
