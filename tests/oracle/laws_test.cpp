// SPDX-License-Identifier: Apache-2.0
// Laws that every accountant obeys, on random plans over wide ranges: what theory says about two answers holds between their intervals.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "support/matchers.h"
#include "support/random_plans.h"
#include "support/scale.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"
#include "tradeoff/limit.h"
#include "tradeoff/operations.h"

namespace tradeoff {
namespace {

using test::PlanSource;

/// One line of any kind, and how it may be run.
std::string line(PlanSource& source) {
  switch (source.count(1, 6)) {
    case 1:
      return source.gaussian() + source.repeat(1, 50);
    case 2:
      return source.laplace() + source.repeat(1, 60);
    case 3:
      return "gaussian(sigma=" + source.number(0.6, 8) + ")" + source.poisson(1e-3, 0.3) + " | repeat(" +
             std::to_string(source.count(100, 3000)) + ")";
    case 4:
      return source.truncated_laplace() + source.repeat(1, 30);
    default:
      return source.finite() + source.repeat(1, 40);
  }
}

std::string plan(PlanSource& source) {
  std::string text = line(source);
  while (source.chance(0.35)) text += "; " + line(source);
  return text;
}

Curve curve(const std::string& text) { return analyze(parse(text), Neighbours::add_remove); }

/// The two enclose the same number.
void expect_meet(Interval one, Interval other, const std::string& what) {
  EXPECT_LE(one.lo, other.hi) << what;
  EXPECT_LE(other.lo, one.hi) << what;
}

constexpr double deltas[] = {1e-2, 1e-6, 1e-10};
constexpr double epsilons[] = {-1, 0, 0.1, 0.5, 1, 2, 5};

TEST(Laws, ProfilesFallWithinTheirRange) {
  PlanSource source(1);
  for (int trial = 0; trial < test::scaled(40); ++trial) {
    const std::string text = plan(source);
    const Curve found = curve(text);
    double before = 1;
    for (const double epsilon : epsilons) {
      const Interval delta = found.delta_at(epsilon);
      EXPECT_LE(0, delta.lo) << text;
      EXPECT_LE(delta.lo, delta.hi) << text;
      EXPECT_LE(delta.hi, 1) << text;
      EXPECT_LE(delta.lo, before) << text << " at " << epsilon;
      EXPECT_GE(delta.hi, -std::expm1(epsilon) - 1e-15) << text << " at " << epsilon;
      before = delta.hi;
    }
    double larger = 0;
    for (const double delta : deltas) {
      const Interval epsilon = found.epsilon_at(delta);
      EXPECT_LE(epsilon.lo, epsilon.hi) << text;
      EXPECT_GE(epsilon.hi, larger) << text;
      larger = epsilon.lo;
      if (epsilon.hi < 500) {
        EXPECT_LE(found.delta_at(epsilon.hi).lo, delta) << text;
      }
    }
  }
}

// f <= 1 - alpha, non-increasing, convex; and every point of it is a bound of the profile.
TEST(Laws, TradeOffFunctionsAreConvexAndDualToProfiles) {
  PlanSource source(2);
  for (int trial = 0; trial < test::scaled(15); ++trial) {
    const std::string text = plan(source);
    const Curve found = curve(text);
    std::vector<Interval> betas;
    constexpr double step = 0.125;
    for (int i = 0; i <= 8; ++i) betas.push_back(found.beta_at(i * step));
    for (std::size_t i = 0; i < betas.size(); ++i) {
      const double alpha = static_cast<double>(i) * step;
      EXPECT_LE(betas[i].lo, 1 - alpha + 1e-15) << text;
      if (i > 0) {
        EXPECT_LE(betas[i].lo, betas[i - 1].hi) << text;
      }
      if (i > 0 && i + 1 < betas.size()) {
        EXPECT_LE(betas[i].lo, (betas[i - 1].hi + betas[i + 1].hi) / 2 + 1e-15) << text;
      }
      for (const double epsilon : {0.0, 0.5, 2.0})
        EXPECT_GE(found.delta_at(epsilon).hi, 1 - std::exp(epsilon) * alpha - betas[i].hi - 1e-14) << text << " at " << epsilon;
    }
  }
}

TEST(Laws, MoreIsNeverMorePrivate) {
  PlanSource source(3);
  for (int trial = 0; trial < test::scaled(20); ++trial) {
    const double sigma = source.scale(0.7, 5), rate = source.scale(1e-3, 0.3);
    const long steps = source.count(150, 3000);
    const auto run = [](double noise, double share, long times) {
      return curve("gaussian(sigma=" + PlanSource::text(noise) + ") | poisson(rate=" + PlanSource::text(share) + ") | repeat(" +
                   std::to_string(times) + ")");
    };
    const Curve base = run(sigma, rate, steps);
    for (const double delta : deltas) {
      const Interval epsilon = base.epsilon_at(delta);
      EXPECT_LE(epsilon.lo, run(sigma, rate, steps + 1).epsilon_at(delta).hi) << sigma << " " << rate << " " << steps;
      EXPECT_LE(epsilon.lo, run(sigma, 1.1 * rate, steps).epsilon_at(delta).hi) << sigma << " " << rate << " " << steps;
      EXPECT_LE(run(1.1 * sigma, rate, steps).epsilon_at(delta).lo, epsilon.hi) << sigma << " " << rate << " " << steps;
    }
  }
}

TEST(Laws, SamplingAmplifiesAndEndsWhereItShould) {
  PlanSource source(4);
  for (int trial = 0; trial < test::scaled(20); ++trial) {
    const std::string text = source.chance(0.5) ? source.gaussian() : source.chance(0.5) ? source.laplace() : source.finite();
    const Curve whole = curve(text), part = curve(text + source.poisson(0.01, 0.9));
    const Curve all = curve(text + " | poisson(rate=1)"), none = curve(text + " | poisson(rate=0)");
    for (const double epsilon : {0.0, 0.3, 1.0}) {
      EXPECT_LE(part.delta_at(epsilon).lo, whole.delta_at(epsilon).hi) << text;
      expect_meet(all.delta_at(epsilon), whole.delta_at(epsilon), text);
      EXPECT_EQ(none.delta_at(epsilon).hi, 0) << text;
    }
  }
}

TEST(Laws, CompositionIsCommutativeAndAssociative) {
  PlanSource source(5);
  for (int trial = 0; trial < test::scaled(10); ++trial) {
    const std::string one = line(source), two = line(source), three = line(source);
    const std::string text = one + "; " + two + "; " + three;
    const Curve whole = curve(text), turned = curve(three + "; " + one + "; " + two);
    const Curve nested = product({curve(one), curve(two + "; " + three)});
    const Interval epsilon = whole.epsilon_at(1e-6);
    expect_meet(epsilon, turned.epsilon_at(1e-6), text);
    expect_meet(epsilon, nested.epsilon_at(1e-6), text);
  }
}

TEST(Laws, RepetitionsMultiply) {
  PlanSource source(6);
  for (int trial = 0; trial < test::scaled(12); ++trial) {
    const std::string text = source.chance(0.5) ? source.laplace() : source.finite();
    const Curve six = curve(text + " | repeat(6)"), nested = curve(text + " | repeat(2) | repeat(3)");
    const Curve listed = curve(text + "; " + text + " | repeat(4); " + text);
    for (const double epsilon : {0.0, 0.5, 2.0}) {
      const Interval delta = six.delta_at(epsilon);
      EXPECT_EQ(delta, nested.delta_at(epsilon)) << text;
      EXPECT_EQ(delta, listed.delta_at(epsilon)) << text;
      EXPECT_EQ(delta, curve(text + " | repeat(6)").delta_at(epsilon)) << text << ": the same twice";
    }
  }
}

TEST(Laws, OnlyTheRatioOfNoiseAndSensitivityCounts) {
  PlanSource source(7);
  for (int trial = 0; trial < test::scaled(20); ++trial) {
    const double sigma = source.scale(0.5, 20), factor = std::ldexp(1, static_cast<int>(source.count(1, 8)) - 4);
    for (const std::string name : {"gaussian(sigma=", "laplace(scale="}) {
      const auto text = [&](double by) {
        std::ostringstream out;
        out.precision(17);
        out << name << sigma * by << ", sensitivity=" << by << ")";
        return out.str();
      };
      for (const double epsilon : {0.0, 0.7, 3.0})
        expect_meet(curve(text(1)).delta_at(epsilon), curve(text(factor)).delta_at(epsilon), text(factor));
    }
  }
}

TEST(Laws, GroupsGrow) {
  PlanSource source(8);
  for (int trial = 0; trial < test::scaled(8); ++trial) {
    const std::string text = source.chance(0.5) ? source.laplace() : source.finite();
    const Curve one = curve(text), two = curve(text + " | group(2)"), three = curve(text + " | group(3)");
    const std::string mu = source.number(0.05, 2);
    const Curve grouped_gaussian = curve("gdp(mu=" + mu + ") | group(4)"),
                larger = curve("gdp(mu=" + PlanSource::text(4 * std::stod(mu)) + ")");
    for (const double epsilon : {0.0, 0.5, 2.0}) {
      EXPECT_LE(one.delta_at(epsilon).lo, two.delta_at(epsilon).hi) << text;
      EXPECT_LE(two.delta_at(epsilon).lo, three.delta_at(epsilon).hi) << text;
      EXPECT_NEAR(grouped_gaussian.delta_at(epsilon).hi, larger.delta_at(epsilon).hi, 1e-3) << mu;  // four digits of 4 mu
    }
  }
}

// Outcomes that are told apart no longer tell less.
TEST(Laws, PostProcessingLosesNothing) {
  PlanSource source(9);
  for (int trial = 0; trial < test::scaled(40); ++trial) {
    std::array<long, 4> p{}, q{};
    for (auto* row : {&p, &q})
      for (long left = 1000, i = 0; i < 4; ++i)
        (*row)[static_cast<std::size_t>(i)] = i == 3 ? left : source.count(1, 300), left -= (*row)[static_cast<std::size_t>(i)];
    const auto share = [](long count) { return PlanSource::text(static_cast<double>(count) / 1000); };
    const auto fine = [&](const std::array<long, 4>& row) {
      return "[" + share(row[0]) + ", " + share(row[1]) + ", " + share(row[2]) + ", " + share(row[3]) + "]";
    };
    const auto coarse = [&](const std::array<long, 4>& row) {
      return "[" + share(row[0]) + ", " + share(row[1] + row[2]) + ", " + share(row[3]) + "]";
    };
    const std::string text = "pair(p=" + fine(p) + ", q=" + fine(q) + ") | repeat(3)";
    const Curve whole = curve(text), merged = curve("pair(p=" + coarse(p) + ", q=" + coarse(q) + ") | repeat(3)");
    for (const Direction direction : {Direction::remove, Direction::add})
      for (const double epsilon : {-0.5, 0.0, 0.4, 1.0})
        EXPECT_LE(merged.delta_at(Interval::exactly(epsilon), direction).lo, whole.delta_at(Interval::exactly(epsilon), direction).hi)
            << text;
  }
}

TEST(Laws, MixturesLieBetweenTheirParts) {
  PlanSource source(10);
  for (int trial = 0; trial < test::scaled(12); ++trial) {
    const Curve one = curve(source.laplace()), other = curve(source.gaussian());
    const Curve mixed = mixture({{Interval::exactly(0.375), one}, {Interval::exactly(0.625), other}});
    for (const double epsilon : {0.0, 0.5, 2.0}) {
      const Interval a = one.delta_at(epsilon), b = other.delta_at(epsilon), found = mixed.delta_at(epsilon);
      EXPECT_LE(std::min(a.lo, b.lo), found.hi);
      EXPECT_LE(found.lo, std::max(a.hi, b.hi));
    }
  }
}

// What other theorems certify is never below the truth: our lower end may not exceed it.
TEST(Laws, OtherTheoremsAreNeverBelow) {
  PlanSource source(11);
  for (int trial = 0; trial < test::scaled(15); ++trial) {
    const std::string text = line(source);
    const Curve found = curve(text);
    const RenyiCurve renyi = renyi_curve(parse(text), Neighbours::add_remove);
    for (const double delta : {1e-3, 1e-8}) {
      const Interval epsilon = found.epsilon_at(delta);
      EXPECT_LE(epsilon.lo, renyi.epsilon_at(Interval::exactly(delta)).value.hi) << text;
      try {
        EXPECT_LE(epsilon.lo, berry_esseen(parse(text), Neighbours::add_remove).epsilon_at(Interval::exactly(delta)).hi) << text;
      } catch (const UnsupportedError&) {
        // The theorem does not speak of this plan.
      }
    }
  }
}

}  // namespace
}  // namespace tradeoff
