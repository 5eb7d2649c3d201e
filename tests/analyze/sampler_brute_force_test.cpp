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

// The mechanism itself: delta is an integral of max(p - e^epsilon q, 0) over the outputs of all steps, by the trapezoidal rule, the last of
// them in closed form.
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

/// E max(a + b exp(x/sigma^2 - v/2) - c exp(-x/sigma^2 - v/2), 0), v = 1/sigma^2, for b, c > 0: it grows with x.
double last_opposite_step(double a, double b, double c, double sigma) {
  const double s = 1 / sigma, product = c * std::exp(-s * s), root = std::sqrt(a * a + 4 * b * product);
  const double threshold = a > 0 ? 2 * product / (a + root) : (root - a) / (2 * b), z = std::log(threshold) / s + s / 2;
  const auto above = [](double y) { return std::erfc(y / std::numbers::sqrt2) / 2; };
  return a * above(z) + b * above(z - s) - c * above(z + s);
}

/// A draw of several steps, at an epsilon.
struct Draw {
  double sigma;
  int steps;
  int times;
  double epsilon;
  [[nodiscard]] std::string plan(const char* clip = "") const {
    return "gaussian(" + std::to_string(sigma) + clip + ") | allocate(steps=" + std::to_string(steps) + ", times=" + std::to_string(times) +
           ")";
  }
};

/// The ratios of all steps but the last: the sums of all products of `times` and of one less of them. The ratio of the drawn sets is the
/// first, plus the second times the ratio of the last step, over the number of sets.
struct Sums {
  double all = 0, but_one = 0;
  Sums(const Draw& draw, const std::array<double, 4>& x, double shift) {
    std::array<double, 5> sums{1};
    for (int t = 0; t + 1 < draw.steps; ++t)
      for (int k = draw.times; k > 0; --k)
        sums[static_cast<std::size_t>(k)] +=
            ratio(x[static_cast<std::size_t>(t)], shift, draw.sigma) * sums[static_cast<std::size_t>(k) - 1];
    all = sums[static_cast<std::size_t>(draw.times)], but_one = sums[static_cast<std::size_t>(draw.times) - 1];
  }
};

double number_of_sets(const Draw& draw) {
  double count = 1;
  for (int k = 0; k < draw.times; ++k) count *= static_cast<double>(draw.steps - k) / (k + 1);
  return count;
}
double step_of(const Draw& draw) { return draw.steps == 4 ? 0.15 : 0.03; }

double delta_by_grid(const Draw& draw, Direction direction) {
  const double growth = std::exp(draw.epsilon), sets = number_of_sets(draw);
  const double strike = sets * (direction == Direction::remove ? growth : 1 / growth);
  const double above = integral(draw.steps - 1, draw.sigma, step_of(draw), [&](const std::array<double, 4>& x) {
    const Sums sums(draw, x, 1);
    return last_step(sums.all - strike, sums.but_one, draw.sigma);
  });
  // E (1 - growth W)+ = growth (E (W - 1/growth)+ + 1/growth - 1)
  return direction == Direction::remove ? above / sets : 1 - growth + growth * above / sets;
}

double delta_by_grid_if_replaced(const Draw& draw) {
  const double growth = std::exp(draw.epsilon);
  const double above = integral(draw.steps - 1, draw.sigma, step_of(draw), [&](const std::array<double, 4>& x) {
    const Sums ahead(draw, x, 1), behind(draw, x, -1);
    return last_opposite_step(ahead.all - growth * behind.all, ahead.but_one, growth * behind.but_one, draw.sigma);
  });
  return above / number_of_sets(draw);
}

constexpr double grid_error = 1e-6;  // relative for large values, absolute otherwise

TEST(SamplerBruteForce, OneOfAFewSteps) {
  for (const Draw& draw :
       {Draw{0.8, 2, 1, 1.0}, {1.3, 2, 1, 0.1}, {0.8, 3, 1, 1.0}, {1.3, 3, 1, 0.1}, {2.5, 3, 1, 0.1}, {1.3, 4, 1, 0.3}}) {
    for (const Direction direction : {Direction::remove, Direction::add})
      for (const Neighbours neighbours : {Neighbours::add_remove, Neighbours::zero_out})
        expect_encloses(draw.plan(), neighbours, draw.epsilon, direction, delta_by_grid(draw, direction), grid_error, 1e-6);
    expect_encloses(draw.plan(", clip=1"), Neighbours::replace_one, draw.epsilon, Direction::worst, delta_by_grid_if_replaced(draw),
                    grid_error, 1e-5);
  }
}

// The pair above is not far: a block more or less, or one of another length, would be seen.
TEST(SamplerBruteForce, SeveralOfAFewSteps) {
  constexpr double width = 1, farthest = 1.2;
  for (const Draw& draw :
       {Draw{0.9, 3, 2, 1.5}, {2.0, 3, 2, 0.3}, {5.0, 3, 2, 0.05}, {1.2, 4, 2, 0.3}, {1.2, 4, 2, 1.5}, {1.5, 4, 3, 0.8}}) {
    for (const Direction direction : {Direction::remove, Direction::add})
      for (const Neighbours neighbours : {Neighbours::add_remove, Neighbours::zero_out}) {
        const double truth = delta_by_grid(draw, direction);
        expect_encloses(draw.plan(), neighbours, draw.epsilon, direction, truth, grid_error, width);
        EXPECT_LE(analyze(parse(draw.plan()), neighbours).delta_at(draw.epsilon, direction).hi, farthest * truth) << draw.plan();
      }
    const double truth = delta_by_grid_if_replaced(draw), of_half = draw.steps == 2 * draw.times ? 1e-9 : width;  // half the steps: exact
    expect_encloses(draw.plan(", clip=1"), Neighbours::replace_one, draw.epsilon, Direction::worst, truth, grid_error, of_half);
    EXPECT_LE(analyze(parse(draw.plan(", clip=1")), Neighbours::replace_one).delta_at(draw.epsilon).hi, farthest * truth) << draw.plan();
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
