// SPDX-License-Identifier: Apache-2.0
// [thresholded-counts] [partition-selection]
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "numeric/arithmetic.h"
#include "operators/partition_selection.h"
#include "support/matchers.h"
#include "tradeoff/analyze.h"
#include "tradeoff/calibrate.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;

Direction direction_of(const nlohmann::json& in) { return in["direction"] == "remove" ? Direction::remove : Direction::add; }

void expect_golden(const char* group, double width) {
  for (const auto& entry : test::golden_group("selection.json", group)) {
    const Curve curve = analyze(parse(entry["plan"].get<std::string>()));
    const Interval found = curve.delta_at(test::golden_interval(entry["inputs"]["e"]), direction_of(entry["inputs"]));
    EXPECT_THAT(found, Encloses(entry["value"].get<std::string>())) << entry["id"];
    EXPECT_LE(found.width(), width * found.hi) << entry["id"];
  }
}

TEST(Threshold, GaussianNoiseHasTheGoldenProfile) { expect_golden("threshold_gaussian", 1e-11); }
TEST(Threshold, LaplaceNoiseHasTheGoldenProfile) { expect_golden("threshold_laplace", 1e-11); }
TEST(PartitionSelection, BestRuleHasTheGoldenProfile) { expect_golden("partition_optimal", 1e-7); }

Interval delta(const std::string& plan, double epsilon, Direction direction) {
  return analyze(parse(plan)).delta_at(Interval::exactly(epsilon), direction);
}

/// A law of a noisy count on the integers, hidden below the threshold: the probability to be hidden, and of every shown value.
std::vector<double> censored(const std::vector<double>& noise, int reach, int count, int threshold) {
  std::vector<double> law(1 + noise.size() + 80, 0);
  for (int z = -reach; z <= reach; ++z) {
    const int value = count + z;
    const double mass = noise[static_cast<std::size_t>(z + reach)];
    if (count == 0 || value < threshold)
      law[0] += mass;
    else
      law[1 + static_cast<std::size_t>(value + reach)] += mass;
  }
  return law;
}

double hockey_stick(const std::vector<double>& p, const std::vector<double>& q, double epsilon) {
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) sum += std::max(0.0, p[i] - std::exp(epsilon) * q[i]);
  return sum;
}

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> both;
  for (const double x : a)
    for (const double y : b) both.push_back(x * y);
  return both;
}

std::vector<double> discrete_noise(bool gaussian, double scale, int reach) {
  std::vector<double> law;
  double sum = 0;
  for (int z = -reach; z <= reach; ++z) {
    law.push_back(gaussian ? std::exp(-z * z / (2 * scale * scale)) : std::exp(-std::abs(z) / scale));
    sum += law.back();
  }
  for (double& mass : law) mass /= sum;
  return law;
}

// Every count and every mix of new, old and partly used partitions of one user; the counts that reach the bound are far above the
// threshold.
TEST(Threshold, DiscreteNoiseIsTheWorstOfAllCounts) {
  for (const bool gaussian : {true, false}) {
    const double scale = gaussian ? 1.5 : 0.8;
    const int reach = gaussian ? 14 : 30, threshold = 5;
    const auto noise = discrete_noise(gaussian, scale, reach);
    const auto law = [&](int count) { return censored(noise, reach, count, threshold); };
    const std::string name = gaussian ? "discrete_gaussian" : "discrete_laplace";
    const std::string plan = "threshold(noise=" + name + ", scale=" + (gaussian ? "1.5" : "0.8") + ", above=5, contribution=2";
    for (const double epsilon : {-0.5, 0.0, 0.4, 1.0, 2.5}) {
      double remove = 0, add = 0;
      for (int others = 0; others < 40; ++others)
        for (int own = 1; own <= 2; ++own) {
          remove = std::max(remove, hockey_stick(law(others + own), law(others), epsilon));
          add = std::max(add, hockey_stick(law(others), law(others + own), epsilon));
        }
      EXPECT_NEAR(delta(plan + ")", epsilon, Direction::remove).hi, remove, 1e-9) << name << " " << epsilon;
      EXPECT_NEAR(delta(plan + ")", epsilon, Direction::add).hi, add, 1e-9) << name << " " << epsilon;
      double both = 0;
      for (const int first : {0, 1, 4, 25})
        for (const int second : {0, 3, 25})
          both = std::max(both, hockey_stick(product(law(first + 2), law(second + 2)), product(law(first), law(second)), epsilon));
      EXPECT_NEAR(delta(plan + ", partitions=2)", epsilon, Direction::remove).hi, both, 1e-9) << name << " " << epsilon;
    }
  }
}

TEST(Threshold, VeryHighIsThePlainMechanismAndVeryLowRevealsNewKeys) {
  for (const double epsilon : {0.0, 0.5, 2.0}) {
    const Interval plain = delta("gaussian(2, 3)", epsilon, Direction::remove);
    EXPECT_THAT(delta("threshold(gaussian, 2, 1e6, 9)", epsilon, Direction::remove), Encloses(plain));
    EXPECT_THAT(delta("threshold(gaussian, 2, 1e6, 9)", epsilon, Direction::add), Encloses(plain));
    EXPECT_GE(delta("threshold(gaussian, 2, -1e6, 9)", epsilon, Direction::remove).lo, 1 - 1e-12);
    const Interval two = delta("laplace(2) | repeat(2)", epsilon, Direction::remove);
    EXPECT_NEAR(delta("threshold(laplace, 2, 1e6, 2)", epsilon, Direction::add).hi, two.hi, 1e-9);
  }
}

TEST(Threshold, TheTwoDirectionsDiffer) {
  const std::string plan = "threshold(gaussian, 1, 6)";
  EXPECT_THAT(delta(plan, 6, Direction::remove), Encloses("0.0000002866515718791939116737523"));
  EXPECT_LT(delta(plan, 6, Direction::add).hi, 3e-9);
}

TEST(Threshold, AHigherThresholdAndFewerPartitionsCostNoMore) {
  for (const char* noise : {"gaussian", "laplace", "discrete_gaussian", "discrete_laplace"})
    for (const Direction direction : {Direction::remove, Direction::add}) {
      const auto at = [&](const std::string& rest) {
        return delta("threshold(" + std::string(noise) + ", 2, " + rest + ")", 0.7, direction);
      };
      EXPECT_LE(at("9").lo, at("7").hi * (1 + 1e-12));
      EXPECT_LE(at("9, 2").lo, at("9, 3").hi * (1 + 1e-9));
      EXPECT_LE(at("9, 2, 1").lo, at("9, 2, 2").hi * (1 + 1e-9));
    }
}

// More noise may reveal more: a new key passes the threshold more often.
TEST(Threshold, MoreNoiseMayRevealMore) {
  EXPECT_GT(delta("threshold(gaussian, 3, 6)", 4, Direction::remove).lo, delta("threshold(gaussian, 1, 6)", 4, Direction::remove).hi);
}

TEST(Threshold, ThresholdIsCalibrated) {
  const Guarantee target{Interval::exactly(1), Interval::exactly(1e-6)};
  const Calibration found = calibrate(parse("threshold(laplace, 2, ?)"), target);
  const std::string plan = "threshold(laplace, 2, " + found.printed + ")";
  EXPECT_LE(delta(plan, 1, Direction::worst).hi, 1e-6);
  EXPECT_GT(delta("threshold(laplace, 2, 26)", 1, Direction::worst).lo, 1e-6);
}

TEST(Threshold, Composes) {
  const auto epsilon_of = [](const std::string& plan) { return analyze(parse(plan)).epsilon_at(Interval::exactly(1e-5)); };
  const Interval one = epsilon_of("threshold(gaussian, 4, 30)"), four = epsilon_of("threshold(gaussian, 4, 30) | repeat(4)");
  EXPECT_GT(four.lo, one.lo);
  // Without new keys it would be Gaussian noise with half the scale.
  const Interval plain = epsilon_of("gaussian(2)");
  EXPECT_GE(four.hi, plain.lo);
  EXPECT_LE(four.hi, plain.hi * 1.01);
}

/// The largest delta of two uses, each with one of these tables, the second chosen after the outcome of the first.
double worst_of_two(const std::vector<std::pair<std::vector<double>, std::vector<double>>>& tables, double epsilon) {
  double worst = 0;
  for (const auto& [p, q] : tables) {
    double value = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      double next = 0;
      for (const auto& [r, s] : tables) {
        double sum = 0;
        for (std::size_t k = 0; k < r.size(); ++k) sum += std::max(0.0, p[i] * r[k] - std::exp(epsilon) * q[i] * s[k]);
        next = std::max(next, sum);
      }
      value += next;
    }
    worst = std::max(worst, value);
  }
  return worst;
}

// The worst table differs from epsilon to epsilon, so the product of the worst profiles is above every real composition: only upper ends
// may come from it.
TEST(Threshold, LowerEndsOfCompositionsAreReached) {
  const int reach = 30, threshold = 4;
  const auto noise = discrete_noise(false, 1, reach);
  std::vector<std::pair<std::vector<double>, std::vector<double>>> tables, exchanged;
  for (const int others : {0, 1, 2, 4, 8, 40}) {
    tables.emplace_back(censored(noise, reach, others + 1, threshold), censored(noise, reach, others, threshold));
    exchanged.emplace_back(tables.back().second, tables.back().first);
  }
  const Curve twice = analyze(parse("threshold(discrete_laplace, 1, 4) | repeat(2)"));
  const double epsilon = 0.5, remove = worst_of_two(tables, epsilon), add = worst_of_two(exchanged, epsilon);
  const Interval found = twice.delta_at(epsilon, Direction::remove);
  EXPECT_THAT(found, Encloses(Interval{remove - 1e-9, remove + 1e-9}));
  EXPECT_GE(found.lo, 0.5 * remove);
  EXPECT_THAT(twice.delta_at(epsilon, Direction::add), Encloses(Interval{add - 1e-9, add + 1e-9}));
}

// Two partitions of one user with all pairs of counts, and two releases with one partition each.
TEST(PartitionSelection, LowerEndsOfCompositionsAreReached) {
  for (const std::vector<double>& keep : std::vector<std::vector<double>>{{0.1, 0.3, 0.9}, {0.001, 0.01, 0.2, 0.7, 0.9}, {0.4, 1}}) {
    std::string list;
    std::vector<std::pair<std::vector<double>, std::vector<double>>> tables, exchanged;
    double before = 0;
    for (const double now : keep) {
      list += (list.empty() ? "" : ", ") + std::to_string(now);
      tables.push_back({{now, 1 - now}, {before, 1 - before}});
      exchanged.emplace_back(tables.back().second, tables.back().first);
      before = now;
    }
    for (const double epsilon : {0.0, 0.4, 1.5}) {
      double fixed_remove = 0, fixed_add = 0;
      for (const auto& [p, q] : tables)
        for (const auto& [r, s] : tables) {
          fixed_remove = std::max(fixed_remove, hockey_stick(product(p, r), product(q, s), epsilon));
          fixed_add = std::max(fixed_add, hockey_stick(product(q, s), product(p, r), epsilon));
        }
      const auto holds = [&](const std::string& rest, Direction direction, double truth) {
        EXPECT_THAT(delta("partition_selection(keep=[" + list + "]" + rest, epsilon, direction),
                    Encloses(Interval{truth - 1e-9, truth + 1e-9}))
            << list << rest << " " << epsilon;
      };
      holds(", partitions=2)", Direction::remove, fixed_remove);
      holds(", partitions=2)", Direction::add, fixed_add);
      holds(") | repeat(2)", Direction::remove, worst_of_two(tables, epsilon));
      holds(") | repeat(2)", Direction::add, worst_of_two(exchanged, epsilon));
    }
  }
}

double rule_delta(const std::vector<double>& keep, double epsilon, bool remove) {
  double worst = std::max(0.0, -std::expm1(epsilon)), before = 0;
  for (const double now : keep) {
    const double p = remove ? now : before, q = remove ? before : now, x = std::exp(epsilon);
    worst = std::max(worst, std::max(0.0, p - x * q) + std::max(0.0, (1 - p) - x * (1 - q)));
    before = now;
  }
  return worst;
}

TEST(PartitionSelection, AnyRuleIsTheWorstOfItsSteps) {
  const std::string plan = "partition_selection(keep=[0.01, 0.2, 0.15, 0.6, 0.9, 0.85])";
  const std::vector<double> keep{0.01, 0.2, 0.15, 0.6, 0.9, 0.85};
  for (const double epsilon : {-1.0, -0.2, 0.0, 0.3, 0.9, 2.0, 5.0})
    for (const bool remove : {true, false})
      EXPECT_NEAR(delta(plan, epsilon, remove ? Direction::remove : Direction::add).hi, rule_delta(keep, epsilon, remove), 1e-12)
          << epsilon;
}

TEST(PartitionSelection, BestRuleMeetsItsGuaranteeAndNoMore) {
  for (const auto& [epsilon, chance] : {std::pair{"1", "1e-5"}, {"0.1", "1e-6"}, {"3", "0.01"}, {"0.01", "1e-4"}}) {
    const std::string plan = std::string("partition_selection(") + epsilon + ", " + chance + ")";
    const Interval found = delta(plan, std::stod(epsilon), Direction::worst);
    EXPECT_NEAR(found.hi, std::stod(chance), 1e-12);
    EXPECT_LE(found.lo, std::stod(chance) * (1 + 1e-9));
    EXPECT_LE(found.width(), 1e-11);
    const std::vector<Interval> keep = optimal_keep(Interval::exactly(std::stod(epsilon)), Interval::exactly(std::stod(chance)));
    EXPECT_EQ(keep.back().lo, 1);
    for (std::size_t i = 1; i < keep.size(); ++i) EXPECT_GE(keep[i].hi, keep[i - 1].lo);
  }
}

TEST(PartitionSelection, SeveralPartitionsAreSeveralRules) {
  for (const double epsilon : {0.5, 1.5, 3.0}) {
    const Interval two = delta("partition_selection(1, 1e-5, partitions=2)", epsilon, Direction::remove);
    const Interval repeated = delta("partition_selection(1, 1e-5) | repeat(2)", epsilon, Direction::remove);
    EXPECT_NEAR(two.hi, repeated.hi, 1e-10);
  }
}

TEST(Threshold, BadInputIsRefusedWithAReason) {
  const auto refused = [](const char* plan, const char* part, Neighbours neighbours = Neighbours::unstated) {
    try {
      static_cast<void>(analyze(parse(plan), neighbours));
      ADD_FAILURE() << plan;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  refused("threshold(cauchy, 1, 5)", "noise");
  refused("threshold(gaussian, 0, 5)", "scale = 0");
  refused("threshold(gaussian, 1, 5, 0)", "partitions = 0");
  refused("threshold(laplace, 1, 5, 65)", "partitions = 65");
  refused("threshold(gaussian, 1, 5, contribution=0)", "contribution = 0");
  refused("threshold(discrete_gaussian, 1, 5, contribution=1.5)", "contribution = 1.5");
  refused("threshold(gaussian, 1, 5)", "needs add-remove", Neighbours::replace_one);
  refused("threshold(gaussian, 1, 5); gaussian(1) | poisson(0.1)", "protects users, but");
  refused("threshold(gaussian, 1, 5) | group(2)", "protects users, but");
  refused("partition_selection(1, 0)", "delta = 0");
  refused("partition_selection(keep=[0.5, 1.5])", "1.5");
  refused("partition_selection(keep=[])", "keep");
  refused("partition_selection(0, 1e-9)", "users are needed");
}

}  // namespace
}  // namespace tradeoff::detail
