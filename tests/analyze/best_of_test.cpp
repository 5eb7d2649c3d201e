// SPDX-License-Identifier: Apache-2.0
// [best-of-runs]
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "mechanism/pair.h"
#include "numeric/arithmetic.h"
#include "operators/best_of_bound.h"
#include "operators/runs_law.h"
#include "plan/arguments.h"
#include "support/matchers.h"
#include "support/scale.h"
#include "tradeoff/analyze.h"
#include "tradeoff/builder.h"
#include "tradeoff/calibrate.h"
#include "tradeoff/error.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::golden_group;
using test::IsTight;
using testing::HasSubstr;

std::shared_ptr<const RunsLaw> law(const std::string& text) {
  const Plan plan = parse("gdp(1) | best_of(runs=" + text + ")");
  return law_of(Arguments(plan.lines.front().operators.front()), "runs");
}

Curve curve_of(const std::string& plan, Neighbours neighbours = Neighbours::add_remove) { return analyze(parse(plan), neighbours); }

std::string refusal(const std::string& plan) {
  try {
    (void)analyze(parse(plan)).delta_at(1);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

const std::vector<std::string>& laws() {
  static const std::vector<std::string> all{"poisson(mean=3)",
                                            "poisson(mean=10)",
                                            "poisson_positive(mean=2)",
                                            "geometric(mean=5)",
                                            "negative_binomial(shape=0.5, success=0.1)",
                                            "negative_binomial(shape=-0.5, success=0.05)",
                                            "logarithmic(success=0.1)",
                                            "binomial(trials=8, chance=0.5)",
                                            "exactly(4)",
                                            "pmf([0.25, 0, 0.5, 0.25])"};
  return all;
}

TEST(RunsLaw, DerivativesAndProbabilitiesBelongToThePhi) {
  for (const std::string& text : laws()) {
    SCOPED_TRACE(text);
    const auto one = law(text);
    EXPECT_THAT(one->phi(Interval::exactly(1)), Encloses(1.0));
    EXPECT_THAT(one->phi(Interval::exactly(0)), Encloses(one->probability(0)));
    EXPECT_THAT(one->slope(Interval::exactly(0)), Encloses(middle_of(one->probability(1))));
    double sum = 0, mean = 0;
    for (std::uint64_t k = 0; k <= 300; ++k) {
      const double probability = middle_of(one->probability(k));
      sum += probability;
      mean += static_cast<double>(k) * probability;
    }
    EXPECT_NEAR(sum, 1, 1e-5);
    EXPECT_NEAR(mean, middle_of(one->mean()), 1e-3);
    for (const double s : {0.1, 0.5, 0.9}) {
      constexpr double h = 1e-5;
      const auto at = [&](double place) { return middle_of(one->phi(Interval::exactly(place))); };
      EXPECT_NEAR((at(s + h) - at(s - h)) / (2 * h), middle_of(one->slope(Interval::exactly(s))), 1e-6 * (1 + middle_of(one->mean())));
      EXPECT_NEAR((at(s + h) - 2 * at(s) + at(s - h)) / (h * h), middle_of(one->curvature(Interval::exactly(s))),
                  1e-3 * (1 + middle_of(one->mean())));
      EXPECT_THAT(one->slope(Interval::exactly(s)), IsTight(1e-12));
    }
  }
}

TEST(RunsLaw, TheGeometricLawIsTheNegativeBinomialOfShapeOne) {
  const auto one = law("geometric(mean=4)"), other = law("negative_binomial(shape=1.0000000001, success=0.25)");
  for (const double s : {0.0, 0.3, 1.0})
    EXPECT_NEAR(middle_of(one->slope(Interval::exactly(s))), middle_of(other->slope(Interval::exactly(s))), 1e-7);
}

TEST(BestOf, TheUpperEndIsNearTheGoldenBound) {
  for (const auto& one : golden_group("selection.json", "best_of_upper")) {
    SCOPED_TRACE(one["id"].get<std::string>());
    const double value = std::stod(one["value"].get<std::string>()), epsilon = std::stod(one["inputs"]["e"].get<std::string>());
    const Interval found = curve_of(one["plan"]).delta_at(epsilon);
    EXPECT_LE(found.hi, 1.01 * value);
    EXPECT_GE(found.hi, 0.99 * value);  // it cannot be far below the bound of the theorem without being wrong
    EXPECT_LE(found.lo, found.hi);
  }
}

/// The law of the golden cases, whose parameters are those of the generating function.
std::string golden_law(const nlohmann::json& inputs) {
  const std::string name = inputs["runs"];
  std::string text = name + "(";
  if (name == "geometric") return "geometric(success=" + inputs["parameters"][0].get<std::string>() + ")";
  for (const auto& one : inputs["parameters"]) text += (text.back() == '(' ? "" : ", ") + one.get<std::string>();
  return text + ")";
}

TEST(BestOf, TheUpperEndIsAboveEveryGoldenOrder) {
  for (const auto& one : golden_group("selection.json", "best_of_witness")) {
    SCOPED_TRACE(one["id"].get<std::string>());
    const auto& inputs = one["inputs"];
    const auto list = [](const nlohmann::json& values) {
      std::string text = "[";
      for (const auto& value : values) text += (text.size() > 1 ? ", " : "") + value.get<std::string>();
      return text + "]";
    };
    const std::string plan = "pair(p=" + list(inputs["p"]) + ", q=" + list(inputs["q"]) + ") | best_of(runs=" + golden_law(inputs) + ")";
    const double value = std::stod(one["value"].get<std::string>());
    const Interval found = curve_of(plan).delta_at(std::stod(inputs["e"].get<std::string>()), Direction::remove);
    EXPECT_GE(found.hi, value);
    EXPECT_LE(found.lo, found.hi);
  }
}

/// delta of the best of N runs for one order of the outcomes of a finite pair, lowest rank first.
double delta_of_order(const std::vector<double>& p, const std::vector<double>& q, const std::vector<std::size_t>& order,
                      const RunsLaw& runs, double epsilon) {
  const auto phi = [&](double s) { return middle_of(runs.phi(Interval::exactly(std::clamp(s, 0.0, 1.0)))); };
  double sum = phi(0) * std::max(0.0, -std::expm1(epsilon)), u = 0, v = 0;
  for (const std::size_t i : order) {
    sum += std::max(0.0, phi(u + p[i]) - phi(u) - std::exp(epsilon) * (phi(v + q[i]) - phi(v)));
    u += p[i];
    v += q[i];
  }
  return sum;
}

std::vector<double> random_law(std::mt19937& random, std::size_t size, bool with_zero) {
  std::vector<double> masses;
  std::exponential_distribution<double> draw;
  for (std::size_t i = 0; i < size; ++i) masses.push_back(draw(random));
  if (with_zero) masses[random() % size] = 0;
  const double sum = std::accumulate(masses.begin(), masses.end(), 0.0);
  for (double& mass : masses) mass = std::round(mass / sum * 1e6) / 1e6;
  masses.back() = std::round((1 - std::accumulate(masses.begin(), masses.end() - 1, 0.0)) * 1e6) / 1e6;
  return masses;
}

// Every order of the outcomes of random finite pairs, outcomes of one side alone included, both directions, negative epsilon too.
TEST(BestOf, NoOrderOfAFinitePairExceedsTheUpperEnd) {
  std::mt19937 random(7);
  const int trials = test::scaled(24);
  for (int trial = 0; trial < trials; ++trial) {
    const std::size_t size = 2 + random() % 3;
    const std::vector<double> p = random_law(random, size, trial % 3 == 1), q = random_law(random, size, trial % 3 == 2);
    if (*std::min_element(p.begin(), p.end()) < 0 || *std::min_element(q.begin(), q.end()) < 0) continue;
    const std::string& text = laws()[static_cast<std::size_t>(trial) % laws().size()];
    const auto runs = law(text);
    std::vector<plan::Amount> p_written(p.begin(), p.end()), q_written(q.begin(), q.end());
    const Curve curve = curve_of(plan::pair(p_written, q_written).text() + " | best_of(runs=" + text + ")");
    for (const double epsilon : {-1.0, 0.0, 0.4, 1.2, 3.0})
      for (const Direction direction : {Direction::remove, Direction::add}) {
        SCOPED_TRACE(text + " " + plan::pair(p_written, q_written).text() + " " + std::to_string(epsilon));
        std::vector<std::size_t> order(size);
        std::iota(order.begin(), order.end(), 0);
        double truth = 0;
        const auto& first = direction == Direction::remove ? p : q;
        const auto& second = direction == Direction::remove ? q : p;
        do truth = std::max(truth, delta_of_order(first, second, order, *runs, epsilon));
        while (std::next_permutation(order.begin(), order.end()));
        const Interval found = curve.delta_at(epsilon, direction);
        EXPECT_GE(found.hi, truth - 1e-12);
        EXPECT_LE(found.lo, found.hi);
        // The outcomes are listed, so no order divides one of them. A constant score shows one run, if there is one.
        double one_run = 0;
        for (std::size_t i = 0; i < size; ++i) one_run += std::max(0.0, first[i] - std::exp(epsilon) * second[i]);
        const double some = 1 - middle_of(runs->phi(Interval::exactly(0)));
        one_run = some * one_run + (1 - some) * std::max(0.0, -std::expm1(epsilon));
        EXPECT_NEAR(found.lo, std::max(truth, one_run), 1e-9);
      }
  }
}

// The curve w of each direction: exchanged, the two would be wrong.
TEST(BestOf, TheSmallestOtherProbabilityHasTheRightDirection) {
  const LossPointer base = pair_loss({Interval::exactly(0.5), Interval::exactly(0.5)}, {Interval::exactly(1), Interval::exactly(0)});
  const auto runs = law("poisson(mean=10)");
  const SelectionBound remove(*base, Direction::remove, *runs), add(*base, Direction::add, *runs);
  for (const double u : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    EXPECT_NEAR(remove.least_other(u), std::max(0.0, 2 * u - 1), 1e-9) << u;
    EXPECT_NEAR(add.least_other(u), u / 2, 1e-9) << u;
    EXPECT_LE(remove.least_other(u), std::max(0.0, 2 * u - 1));
    EXPECT_LE(add.least_other(u), u / 2);
  }
}

TEST(BestOf, OneRunIsThePlanItself) {
  const std::string base = "gaussian(1) | poisson(0.1) | repeat(20)";
  const Curve plain = curve_of(base);
  for (const std::string one :
       {"exactly(1)", "geometric(mean=1)", "pmf([0, 1])", "binomial(trials=1, chance=1)", "negative_binomial(2, 1)"}) {
    const Curve tuned = curve_of(base + " | best_of(runs=" + one + ")");
    for (const double epsilon : {-0.5, 0.0, 1.0, 3.0}) EXPECT_EQ(tuned.delta_at(epsilon), plain.delta_at(epsilon)) << one;
    EXPECT_EQ(tuned.epsilon_at(1e-5), plain.epsilon_at(1e-5)) << one;
  }
}

TEST(BestOf, ShowingAllRunsIsNeverBetter) {
  for (const int runs : {2, 5, 20})
    for (const std::string base : {"gdp(1)", "laplace(scale=2)", "dp(0.5, 1e-6)"}) {
      const Curve best = curve_of(base + " | best_of(runs=exactly(" + std::to_string(runs) + "))");
      const Curve all = curve_of(base + " | repeat(" + std::to_string(runs) + ")");
      for (const double epsilon : {0.0, 0.5, 2.0, 5.0})
        EXPECT_LE(best.delta_at(epsilon).hi, all.delta_at(epsilon).hi * (1 + 1e-9)) << base << runs;
    }
}

TEST(BestOf, MoreRunsCostNoLess) {
  double before = 0;
  for (const std::string mean : {"0.5", "1", "3", "10", "100", "1000"}) {
    const double epsilon = curve_of("gdp(0.5) | best_of(runs=poisson(mean=" + mean + "))").epsilon_at(1e-5).hi;
    EXPECT_GE(epsilon, before) << mean;
    before = epsilon;
  }
}

// [largest-loss] Geometric runs: at most 3 times one run. Poisson runs: epsilon + mean tanh(epsilon / 2).
TEST(BestOf, APureBaseStaysPure) {
  const Interval geometric = curve_of("dp(1, 0) | best_of(runs=geometric(mean=1000))").epsilon_at(0);
  EXPECT_LE(geometric.hi, 3.001);
  EXPECT_GE(geometric.hi, 2.9);
  const Interval poisson = curve_of("dp(0.2, 0) | best_of(runs=poisson(mean=10))").epsilon_at(0);
  const double truth = 0.2 + 10 * std::tanh(0.1);
  EXPECT_GE(poisson.hi, truth);
  EXPECT_LE(poisson.hi, truth * 1.0005);
  EXPECT_LE(curve_of("dp(0.01, 0) | best_of(runs=exactly(3))").epsilon_at(0).hi, 0.03 * (1 + 1e-9));
}

// A table of selection by a lattice of orders of a 0.2-DP base, Poisson(10): 7.928e-4 at epsilon 1.
TEST(BestOf, TheEndsHoldAKnownWorstCase) {
  const Interval found = curve_of("dp(0.2, 0) | best_of(runs=poisson(mean=10))").delta_at(1);
  EXPECT_GE(found.hi, 7.928e-4);
  EXPECT_LE(found.hi, 2.4e-3);
  EXPECT_LE(found.lo, 7.9281e-4);
  EXPECT_GE(found.lo, 7e-4);
}

// Ends of a prototype in plain arithmetic: the bound with all readings of the base, and an order with finely cut slices.
TEST(BestOf, BothEndsAreThoseOfTheTable) {
  struct Row {
    std::string plan;
    double epsilon, lower, upper;
  };
  const std::vector<Row> rows{{"gdp(1) | best_of(runs=poisson(mean=10))", 8, 1.9868e-5, 1.9916e-5},
                              {"gdp(1) | best_of(runs=poisson(mean=10))", 9.5, 1.33443e-8, 1.33445e-8},
                              {"gdp(1) | best_of(runs=geometric(mean=10))", 6, 6.507e-5, 6.523e-5},
                              {"gdp(1) | best_of(runs=logarithmic(success=0.05))", 6, 3.6566e-6, 3.658e-6},
                              {"gdp(1) | best_of(runs=poisson(mean=10))", 6, 1.04e-2, 1.6e-2},
                              {"gdp(0.25) | best_of(runs=poisson(mean=100))", 8, 3.0e-10, 4.8e-9},
                              {"dp(0.2, 0) | best_of(runs=poisson(mean=10))", 1, 7.928e-4, 2.29e-3}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.plan + " " + std::to_string(row.epsilon));
    const Interval found = curve_of(row.plan).delta_at(row.epsilon);
    EXPECT_GE(found.lo, row.lower * 0.9997);
    EXPECT_LE(found.hi, row.upper * 1.0003);
    EXPECT_GE(found.hi, row.lower * (1 - 1e-4));  // the table has four digits
    EXPECT_LE(found.lo, row.upper);
  }
}

/// The largest delta over all orders of many small slices of two outcomes: a path from (0, 0), step by step.
double best_path(double p, double q, const RunsLaw& runs, double epsilon, std::size_t slices) {
  const auto phi = [&](double s) { return middle_of(runs.phi(Interval::exactly(std::clamp(s, 0.0, 1.0)))); };
  const double x = std::exp(epsilon), n = static_cast<double>(slices);
  std::vector<double> with(slices + 1), next(slices + 1);
  const auto at = [&](std::size_t i, std::size_t j) {  // i slices of the first outcome, j of the second are passed
    const double one = static_cast<double>(i) / n, other = static_cast<double>(j) / n;
    return std::pair(phi(p * one + (1 - p) * other), phi(q * one + (1 - q) * other));
  };
  for (std::size_t i = 0; i <= slices; ++i) {
    for (std::size_t j = 0; j <= slices; ++j) {
      const auto [u, v] = at(i, j);
      double best = i == 0 && j == 0 ? 0 : -1;
      const auto step = [&](std::size_t before_i, std::size_t before_j, double so_far) {
        const auto [u0, v0] = at(before_i, before_j);
        best = std::max(best, so_far + std::max(0.0, u - u0 - x * (v - v0)));
      };
      if (i > 0) step(i - 1, j, with[j]);
      if (j > 0) step(i, j - 1, next[j - 1]);
      next[j] = best;
    }
    std::swap(with, next);
  }
  return with[slices];
}

// A mechanism that is 0.2-DP may have many outcomes of each loss. Orders of slices are all that an order can be, up to the width of a
// slice.
TEST(BestOf, TheLowerEndIsReachedByAnOrder) {
  for (const std::string text : {"poisson(mean=10)", "geometric(mean=5)", "exactly(4)", "binomial(trials=8, chance=0.5)"})
    for (const double base : {0.2, 1.4}) {
      const auto runs = law(text);
      const double q = 1 / (1 + std::exp(base)), p = 1 - q;
      const std::string plan = "dp(" + std::to_string(base) + ", 0) | best_of(runs=" + text + ")";
      for (const double epsilon : {0.0, 0.5, 1.0, 1.5}) {
        SCOPED_TRACE(plan + " " + std::to_string(epsilon));
        const double truth = best_path(p, q, *runs, epsilon, 120);
        const Interval found = curve_of(plan).delta_at(epsilon);
        EXPECT_LE(found.lo, truth * 1.002 + 1e-9);
        EXPECT_GE(found.hi, truth);
        EXPECT_GE(found.lo, 0.8 * truth - 1e-9);
      }
    }
}

// The values of a tuned training run, upper ends of a prototype with 13,600 readings of the base.
TEST(BestOf, ATunedTrainingRun) {
  const std::string base = "gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14062) | best_of(runs=";
  const auto epsilon = [&](const std::string& runs) { return curve_of(base + runs + ")").epsilon_at(1e-5); };
  const Interval geometric = epsilon("geometric(mean=10)"), poisson = epsilon("poisson(mean=10)"),
                 series = epsilon("logarithmic(success=0.05)");
  EXPECT_NEAR(geometric.hi, 3.550, 0.006);
  EXPECT_NEAR(poisson.hi, 4.503, 0.006);
  EXPECT_NEAR(series.hi, 3.189, 0.006);
  for (const Interval& found : {geometric, poisson, series}) EXPECT_THAT(found, IsTight(5e-4));
}

TEST(BestOf, ItComposesAndRepeats) {
  const Curve once = curve_of("gdp(0.5) | best_of(runs=geometric(mean=3))"),
              twice = curve_of("gdp(0.5) | best_of(runs=geometric(mean=3)) | repeat(2)");
  const Curve beside = curve_of("gdp(0.5) | best_of(runs=geometric(mean=3)); laplace(scale=1)");
  for (const double epsilon : {0.5, 1.0, 2.0}) {
    EXPECT_GT(twice.delta_at(epsilon).hi, once.delta_at(epsilon).hi);
    EXPECT_LE(twice.delta_at(2 * epsilon).hi, 2 * once.delta_at(epsilon).hi * (1 + 1e-9));  // basic composition, one event each
    EXPECT_GT(beside.delta_at(epsilon).hi, once.delta_at(epsilon).hi);
    EXPECT_LE(twice.delta_at(epsilon).lo, twice.delta_at(epsilon).hi);
  }
  // The pair in a composition has the hull of the bound: close to it, and not below.
  const Curve alone = curve_of("gdp(0.5) | best_of(runs=geometric(mean=3)); gdp(0)");
  for (const double epsilon : {-1.0, 0.0, 0.7, 2.0, 4.0}) {
    EXPECT_GE(alone.delta_at(epsilon, Direction::remove).hi, once.delta_at(epsilon, Direction::remove).lo);
    EXPECT_LE(alone.delta_at(epsilon, Direction::remove).hi, 1.02 * once.delta_at(epsilon, Direction::remove).hi + 1e-9);
  }
}

// A lower end in a composition belongs to one order of the outcomes.
TEST(BestOf, TwoSelectionsFromBelowAreOneOrder) {
  const std::vector<double> p{0.2, 0.3, 0.5}, q{0.4, 0.3, 0.3};
  const auto runs = law("exactly(5)");
  const Curve twice = curve_of("pair(p=[0.2, 0.3, 0.5], q=[0.4, 0.3, 0.3]) | best_of(runs=exactly(5)) | repeat(2)");
  for (const double epsilon : {0.0, 0.5, 1.0, 2.0}) {
    double worst = 0;
    std::vector<std::size_t> order{0, 1, 2};
    do {
      std::vector<double> one, other;
      double u = 0, v = 0;
      for (const std::size_t i : order) {
        one.push_back(std::pow(u + p[i], 5) - std::pow(u, 5));
        other.push_back(std::pow(v + q[i], 5) - std::pow(v, 5));
        u += p[i];
        v += q[i];
      }
      double sum = 0;
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) sum += std::max(0.0, one[i] * one[j] - std::exp(epsilon) * other[i] * other[j]);
      worst = std::max(worst, sum);
    } while (std::next_permutation(order.begin(), order.end()));
    EXPECT_GE(twice.delta_at(epsilon, Direction::remove).hi, worst - 1e-12);
    EXPECT_LE(twice.delta_at(epsilon, Direction::remove).lo, worst + 1e-12);
  }
}

TEST(BestOf, ItBindsToItsLine) {
  const Curve line = curve_of("gdp(1); gdp(0.5) | best_of(runs=exactly(2))"),
              all = curve_of("(gdp(1); gdp(0.5)) | best_of(runs=exactly(2))");
  EXPECT_LT(line.epsilon_at(1e-5).hi, all.epsilon_at(1e-5).hi);
}

TEST(BestOf, CalibrationFindsTheNoiseAndTheMean) {
  const Target target = Guarantee{Interval::exactly(3), Interval::exactly(1e-5)};
  const Calibration noise = calibrate(parse("gaussian(sigma=?) | best_of(runs=geometric(mean=10))"), target);
  const double epsilon = curve_of("gaussian(sigma=" + noise.printed + ") | best_of(runs=geometric(mean=10))").epsilon_at(1e-5).hi;
  EXPECT_LE(epsilon, 3);
  EXPECT_GE(epsilon, 2.95);
  const Calibration mean = calibrate(parse("gdp(0.3) | best_of(runs=poisson(mean=?))"), target);
  EXPECT_LE(curve_of("gdp(0.3) | best_of(runs=poisson(mean=" + mean.printed + "))").epsilon_at(1e-5).hi, 3);
}

TEST(BestOf, RefusalsSayWhatToWrite) {
  EXPECT_THAT(refusal("gdp(1) | best_of(runs=10)"), HasSubstr("write exactly(10)"));
  EXPECT_THAT(refusal("gdp(1) | best_of(runs=uniform(10))"), HasSubstr("unknown law of the number of runs 'uniform'"));
  EXPECT_THAT(refusal("gdp(1) | grid_search(10)"), HasSubstr("write repeat(k)"));
  for (const char* law : {"grid", "grid_search"})
    EXPECT_THAT(refusal(std::string("gdp(1) | best_of(runs=") + law + "(10))"), HasSubstr("write repeat(k)"));
  EXPECT_THAT(refusal("gdp(1) | tune(10)"), HasSubstr("did you mean 'best_of'"));
  EXPECT_THAT(refusal("gdp(1) | best_of(runs=pmf([0.1, 0.2, 0.6]))"), HasSubstr("add up to 0.9; they must add up to exactly 1"));
  EXPECT_EQ(refusal("gdp(1) | best_of(runs=pmf([1/3, 1/3, 1/3]))"), "accepted");
  EXPECT_THAT(refusal("gdp(1) | best_of(runs=pmf([1]))"), HasSubstr("at least one run"));
  EXPECT_THAT(refusal("gdp(1) | best_of(runs=pmf([-0.5, 1.5]))"), HasSubstr("between 0 and 1"));
  EXPECT_THAT(refusal("gdp(1) | best_of(runs=poisson(mean=0))"), HasSubstr("mean = 0 is not allowed; it must be above 0"));
  EXPECT_THAT(refusal("gdp(1) | best_of(runs=geometric(0.1))"), HasSubstr("write geometric(success=0.1)"));
  EXPECT_THAT(refusal("gdp(1) | best_of(runs=negative_binomial(shape=-1, success=0.1))"), HasSubstr("shape = -1"));
  EXPECT_THAT(refusal("gdp(1) | best_of(runs=negative_binomial(shape=1, success=0))"), HasSubstr("success = 0"));
  EXPECT_THAT(refusal("gdp(1) | best_of(runs=exactly(0))"), HasSubstr("at least 1"));
  EXPECT_THAT(refusal("gdp(1) | best_of(runs=exactly(2.5))"), HasSubstr("integer"));
  EXPECT_THAT(refusal("gdp(1) | best_of()"), HasSubstr("best_of needs runs"));
}

TEST(BestOf, TheEndsOfTheRangesAnswer) {
  for (const std::string base :
       {"gdp(0)", "gdp(30)", "gdp(1e-6)", "dp(0, 0)", "dp(0, 1)", "dp(50, 0)", "laplace(scale=1e6)", "pair([1, 0], [0, 1])"})
    for (const std::string runs :
         {"poisson(mean=1e-9)", "poisson(mean=1e6)", "geometric(mean=1e9)", "exactly(1000000)", "binomial(5, 0.1)"}) {
      SCOPED_TRACE(base + " " + runs);
      const Curve curve = curve_of(base + " | best_of(runs=" + runs + ")");
      for (const double epsilon : {-2.0, 0.0, 1.0, 40.0}) {
        const Interval delta = curve.delta_at(epsilon);
        EXPECT_TRUE(delta.lo >= 0 && delta.lo <= delta.hi && delta.hi <= 1);
      }
    }
}

TEST(BestOf, PrintsAndBuilds) {
  const Plan tuned = parse("gdp(1) | best_of(runs=poisson(mean=10))");
  EXPECT_EQ(to_string(tuned), "gdp(mu=1) | best_of(runs=poisson(mean=10))");
  EXPECT_EQ(plan::gdp(1).best_of(plan::Runs::poisson(10)).text(), to_string(tuned));
  EXPECT_EQ(to_string(plan::gdp(1).best_of(plan::Runs::pmf({0, "1/2", "1/2"})).plan()), "gdp(mu=1) | best_of(runs=pmf([0, 1/2, 1/2]))");
}

}  // namespace
}  // namespace tradeoff::detail
