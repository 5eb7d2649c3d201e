// SPDX-License-Identifier: Apache-2.0
#include "operators/group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "curve/curve_state.h"
#include "loss/atoms.h"
#include "loss/gaussian_profile.h"
#include "mechanism/constraints.h"
#include "mechanism/discrete_gaussian.h"
#include "mechanism/finite.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "mechanism/pair.h"
#include "mechanism/randomized_response.h"
#include "mechanism/renyi_bound.h"
#include "numeric/arithmetic.h"
#include "operators/refine.h"
#include "support/matchers.h"
#include "support/profile_only.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"
#include "tradeoff/gdp.h"

// [group-privacy]
namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::golden_group;
using test::golden_interval;
using test::IsTight;
using test::ProfileOnly;

LossPointer profile_alone(LossPointer base) { return std::make_shared<ProfileOnly>(std::move(base), test::Kept{.tail = true}); }

std::string text(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

TEST(Group, PureDp) {
  for (const auto& one : golden_group("f_dp.json", "group_eps")) {
    const auto& inputs = one.at("inputs");
    const Curve curve = analyze(parse("dp(epsilon=" + text(inputs.at("eps")) + ") | group(" + text(inputs.at("k")) + ")"));
    const Interval beta = curve.beta_at(golden_interval(inputs.at("alpha")));
    EXPECT_THAT(beta, Encloses(text(one.at("value")))) << one.at("id");
    EXPECT_THAT(beta, IsTight(1e-9)) << one.at("id");
  }
}

// [group-zcdp] rho is multiplied by the square of the size, and the bounds of all lines add.
TEST(Group, ZeroConcentrated) {
  for (const double delta : {1e-2, 1e-6, 1e-12}) {
    const Interval truth = analyze(parse("zcdp(rho=0.16)")).epsilon_at(delta);
    EXPECT_THAT(analyze(parse("zcdp(rho=0.01) | group(4)")).epsilon_at(delta), Encloses(truth)) << delta;
    const Interval sum = analyze(parse("zcdp(rho=0.51)")).epsilon_at(delta);
    const Interval lines = analyze(parse("zcdp(rho=0.01) | group(3) | repeat(5); zcdp(rho=0.06)")).epsilon_at(delta);
    EXPECT_THAT(lines, Encloses(sum)) << delta;
    EXPECT_THAT(lines, IsTight(1e-9)) << delta;
  }
}

// [group-zcdp] The iterated trade-off function of the refined pair is the same curve.
TEST(Group, ZeroConcentratedIsTheIteration) {
  const LossPointer iterated = group_loss(profile_alone(refine(zcdp_bound(Interval::exactly(0.05)))), 3);
  const Curve curve = analyze(parse("zcdp(rho=0.05) | group(3)"));
  for (const double epsilon : {2.0, 5.0})
    EXPECT_THAT(iterated->delta(Direction::remove, Interval::exactly(epsilon)), Encloses(curve.delta_at(epsilon))) << epsilon;
}

TEST(Group, ApproximateDp) {
  for (const auto& one : golden_group("f_dp.json", "group_fed")) {
    const auto& inputs = one.at("inputs");
    const std::string base = "dp(epsilon=" + text(inputs.at("eps")) + ", delta=" + text(inputs.at("delta")) + ")";
    const Curve curve = analyze(parse(base + " | group(" + text(inputs.at("k")) + ")"));
    const Interval beta = curve.beta_at(golden_interval(inputs.at("alpha")));
    EXPECT_THAT(beta, Encloses(text(one.at("value")))) << one.at("id");
    EXPECT_LT(beta.width(), 1e-9) << one.at("id");
  }
}

TEST(Group, NoiseSensitivityIsMultipliedByTheSize) {
  // Log-concave noise: k steps of size s are one of size ks; Gaussian and Laplace noise in closed form, discrete noise edge by edge.
  const auto same = [](const std::string& grouped, const std::string& shifted, double width) {
    const Curve one = analyze(parse(grouped)), other = analyze(parse(shifted));
    for (const double epsilon : {-0.5, 0.0, 0.3, 1.0, 2.5}) {
      EXPECT_THAT(one.delta_at(epsilon), Encloses(other.delta_at(epsilon))) << grouped << " " << epsilon;
      EXPECT_LE(one.delta_at(epsilon).width(), width) << grouped << " " << epsilon;
    }
  };
  same("gaussian(sigma=3) | group(4)", "gaussian(sigma=3, sensitivity=4)", 1e-13);
  same("laplace(scale=3) | group(4)", "laplace(scale=3, sensitivity=4)", 1e-13);
  same("discrete_laplace(scale=2) | group(3)", "discrete_laplace(scale=2, sensitivity=3)", 1e-10);
  same("discrete_gaussian(sigma=2) | group(3)", "discrete_gaussian(sigma=2, sensitivity=3)", 1e-10);
  same("skellam(variance=9) | group(4)", "skellam(variance=9, sensitivity=4)", 1e-12);
  same("binomial_noise(trials=100, clients=3) | group(2)", "binomial_noise(trials=100, clients=3, sensitivity=2)", 1e-12);
  same("discrete_gaussian_sum(sigma=1.14, clients=35) | group(4)", "discrete_gaussian_sum(sigma=1.14, clients=35, sensitivity=4)", 1e-9);
  same("discrete_laplace_sum(scale=2, clients=4, sensitivity=3) | group(2)", "discrete_laplace_sum(scale=2, clients=4, sensitivity=6)",
       1e-10);
  same("truncated_laplace(scale=1, bound=8) | group(2)", "truncated_laplace(scale=1, bound=8, sensitivity=2)", 1e-6);
}

// Noise on the integers is moved by a multiple: the same as its finite law iterated edge by edge, and as tight as one record.
TEST(Group, MovesNoiseOnTheIntegers) {
  for (const double sigma : {0.7, 1.38, 4.0})
    for (const std::uint64_t sensitivity : {1, 2})
      for (const std::uint64_t size : {2, 3, 5}) {
        const LossPointer one = discrete_gaussian(Interval::exactly(sigma), sensitivity), group = group_loss(one, size);
        const Atoms iterated = group_atoms(*one->atoms(Direction::remove), size);
        for (const double epsilon : {0.0, 0.4, 1.0, 3.0, 9.0}) {
          const Interval moved = group->delta(Direction::remove, Interval::exactly(epsilon));
          const Interval expected = delta_of(iterated, Interval::exactly(epsilon));
          EXPECT_TRUE(moved.lo <= expected.hi && expected.lo <= moved.hi) << sigma << " " << size << " " << epsilon;
        }
      }
  EXPECT_THAT(analyze(parse("discrete_gaussian(sigma=1.38) | group(5) | repeat(139)")).epsilon_at(1e-5), IsTight(1e-9));
  EXPECT_THAT(analyze(parse("discrete_gaussian(sigma=0.5) | group(5) | repeat(13)")).epsilon_at(1e-5), IsTight(1e-9));
}

TEST(Group, KeepsTheTail) {
  // Gaussian noise on the integers for three records is proved to be Gaussian-DP, and the tail bound stays above the profile.
  const Curve group = analyze(parse("discrete_gaussian(sigma=2) | group(3)"));
  const Tail tail = loss_of(group)->tail();
  ASSERT_TRUE(tail.gaussian || tail.gdp_mu < infinity);
  if (!tail.gaussian) return;
  const GaussianTail& model = *tail.gaussian;
  for (double e = model.from; e < model.from + 20; e += 0.7) {
    EXPECT_GE(model.log_factor + model.slope * e - e * e / (2 * model.width * model.width), group.log_delta_at(Interval::exactly(e)).lo);
  }
}

// delta_k(s) >= delta(s/k): the largest loss and the limit of the tail are multiples, not more and not less.
TEST(Group, MultipliesTheLimitAndTheLargestLoss) {
  for (const std::string base : {"gaussian(sigma=1.17) | sample(rate=0.09)", "laplace(scale=2) | sample(rate=0.3)",
                                 "dp(epsilon=0.5, delta=1e-4)", "gdp(mu=0.3) | poisson(rate=0.1)", "discrete_laplace(scale=3)"}) {
    const Curve one = analyze(parse(base));
    for (const int size : {2, 3}) {
      const Curve group = analyze(parse(base + " | group(" + std::to_string(size) + ")"));
      for (const double epsilon : {0.0, 0.1, 0.5, 1.0, 3.0})
        EXPECT_GE(group.delta_at(epsilon).hi, one.delta_at(epsilon / size).lo) << base << " " << size << " " << epsilon;
      const Tail tail = loss_of(group)->tail(), single = loss_of(one)->tail();
      EXPECT_GE(tail.limit.lo, size * single.limit.lo * (1 - 1e-15)) << base;
      EXPECT_GE(tail.limit.hi, size * single.limit.lo) << base;
      if (single.zero_from < infinity) {
        EXPECT_EQ(group.delta_at(single.largest.worse().hi * size * (1 + 1e-12)).hi, 0) << base;
        EXPECT_GT(group.delta_at(single.largest.worse().lo * size * (1 - 1e-6)).hi, 0) << base;
        EXPECT_NEAR(tail.largest.worse().lo, size * single.largest.worse().lo, 1e-12) << base;
      }
    }
  }
  // The supremum is the limit: two records of Gaussian noise.
  const Interval mu = measure_mu(analyze(parse("gaussian(sigma=1.17) | sample(rate=0.09) | group(2)"))).mu;
  EXPECT_THAT(mu, Encloses(2 / 1.17));
  EXPECT_LE(mu.width(), 1e-9);
  EXPECT_EQ(measure_mu(analyze(parse("dp(epsilon=0.5, delta=1e-4) | group(2)"))).verdict, GdpVerdict::not_gdp);
}

TEST(Group, FromTheProfileAlone) {
  for (const std::uint64_t size : {2U, 3U, 5U}) {
    const LossPointer gaussian = group_loss(profile_alone(gaussian_loss(Interval::exactly(0.4))), size);
    const LossPointer laplace = group_loss(profile_alone(std::make_shared<LaplaceLoss>(Interval::exactly(0.5))), size);
    const LossPointer stated = group_loss(
        profile_alone(std::make_shared<ConstraintsLoss>(std::vector<Guarantee>{{Interval::exactly(0.5), Interval::exactly(0.01)}})), size);
    const Curve exact = analyze(parse("dp(epsilon=0.5, delta=0.01) | group(" + std::to_string(size) + ")"));
    const double k = static_cast<double>(size);
    for (const double epsilon : {0.0, 0.2, 0.7, 1.4, 4.0}) {
      const Interval point = Interval::exactly(epsilon);
      const Interval by_gaussian = gaussian->delta(Direction::remove, point);
      EXPECT_THAT(by_gaussian, Encloses(gaussian_delta(0.4 * k, epsilon))) << size << " " << epsilon;
      EXPECT_THAT(by_gaussian, IsTight(1e-6)) << size << " " << epsilon;
      const Interval by_laplace = laplace->delta(Direction::remove, point);
      const double truth = std::max(0.0, -std::expm1((epsilon - 0.5 * k) / 2));
      EXPECT_THAT(by_laplace, Encloses(Interval{truth * (1 - 1e-13), truth * (1 + 1e-13)})) << size << " " << epsilon;
      EXPECT_LT(by_laplace.width(), 1e-6) << size << " " << epsilon;
      const Interval by_stated = stated->delta(Direction::remove, point);
      EXPECT_THAT(by_stated, Encloses(exact.delta_at(epsilon))) << size << " " << epsilon;
      EXPECT_LT(by_stated.width(), 1e-4) << size << " " << epsilon;
    }
    const Interval beta = *gaussian->closed_beta(Direction::remove, Interval::exactly(0.1));
    EXPECT_THAT(beta, Encloses(gaussian_beta(0.4 * k, 0.1)));
    EXPECT_THAT(beta, IsTight(1e-6));
  }
  // Far out the profile keeps its relative accuracy.
  const LossPointer gaussian = group_loss(profile_alone(gaussian_loss(Interval::exactly(0.4))), 2);
  const Interval far = gaussian->delta(Direction::remove, Interval::exactly(6));
  EXPECT_THAT(far, Encloses(gaussian_delta(0.8, 6)));
  EXPECT_THAT(far, IsTight(1e-4));
}

/// The definition, on plain doubles: h = 1 - f iterated.
double iterated(const Curve& curve, double alpha, int size) {
  double u = alpha;
  for (int i = 0; i < size; ++i) u = 1 - curve.beta_at(u).lo;
  return 1 - u;
}

TEST(Group, IsTheIterationOfTheTradeOffFunction) {
  for (const char* base : {"randomized_response(1, 3)", "constraints([(2, 0), (0.5, 0.05), (0, 0.2)])",
                           "dp(epsilon=1, delta=0.02) | repeat(3)", "laplace(scale=2) | sample(rate=0.3)"}) {
    const Curve curve = analyze(parse(base));
    for (const int size : {2, 3, 7}) {
      const Curve grouped = analyze(parse(std::string(base) + " | group(" + std::to_string(size) + ")"));
      for (const double alpha : {0.0, 0.003, 0.05, 0.2, 0.45})
        EXPECT_NEAR(grouped.beta_at(alpha).lo, iterated(curve, alpha, size), 2e-6) << base << " " << size << " " << alpha;
    }
  }
}

TEST(Group, CoversEveryMixOfAdditionsAndRemovals) {
  // P = with, Q = without; two records: both removed, both added, one of each. Chain rule: T(P0, P2)(a) >= g(1 - f(a)).
  const std::string base = "pair(p=[0.6, 0.3, 0.1], q=[0.2, 0.3, 0.5])";
  const Curve one = analyze(parse(base));
  const Curve two = analyze(parse(base + " | group(2)"));
  for (const Direction first : {Direction::remove, Direction::add}) {
    for (const Direction second : {Direction::remove, Direction::add}) {
      for (const double alpha : {0.0, 0.02, 0.1, 0.3, 0.6, 0.9}) {
        const Interval beta = one.beta_at(Interval::exactly(alpha), first);
        const Interval chained = one.beta_at(Interval{std::max(0.0, 1 - beta.hi), 1 - beta.lo}, second);
        EXPECT_LE(two.beta_at(alpha).lo, chained.hi) << alpha;
      }
    }
  }
}

TEST(Group, LaplaceIsTheLimitOfManySmallSteps) {
  // Proposition 7, and the erratum: for mu = 1 four steps are not yet within 0.005, five are.
  const auto distance = [](const std::string& mu, int size, double alpha) {
    const Curve steps = analyze(parse("dp(epsilon=" + mu + "/" + std::to_string(size) + ") | group(" + std::to_string(size) + ")"));
    const Curve limit = analyze(parse("laplace(scale=1, sensitivity=" + mu + ")"));
    return std::abs(steps.beta_at(alpha).lo - limit.beta_at(alpha).lo);
  };
  for (const auto& one : golden_group("f_dp.json", "group_sup")) {
    const std::string mu = text(one.at("inputs").at("mu"));
    const int size = one.at("inputs").at("k").get<int>();
    const double sup = std::stod(text(one.at("value").at("sup"))), at = std::stod(text(one.at("value").at("argmax")));
    EXPECT_NEAR(distance(mu, size, at), sup, 1e-9);
    for (int i = 1; i < 60; ++i) EXPECT_LE(distance(mu, size, i / 60.0), sup + 1e-9);
  }
  EXPECT_GT(distance("1", 4, 0.20681), 0.005);
  for (int i = 1; i < 100; ++i) EXPECT_LT(distance("1", 5, i / 100.0), 0.005);
}

TEST(Group, ComposesAndRefuses) {
  // The chain of a composition may mix the chains of its parts: grouping the parts first gives the same or a smaller delta.
  const Curve first = analyze(parse("dp(epsilon=0.3) | group(2) | repeat(4)"));
  const Curve last = analyze(parse("dp(epsilon=0.3) | repeat(4) | group(2)"));
  for (const double epsilon : {0.0, 0.5, 1.5}) EXPECT_LE(first.delta_at(epsilon).lo, last.delta_at(epsilon).hi);
  EXPECT_THAT(analyze(parse("dp(epsilon=0.3) | group(1)")).delta_at(0.1), Encloses(analyze(parse("dp(epsilon=0.3)")).delta_at(0.1)));
  EXPECT_THROW((void)analyze(parse("dp(epsilon=0.3) | group(0)")), DomainError);
  EXPECT_THROW((void)analyze(parse("truncated_laplace(scale=1, bound=8) | group(5000)")), TooLargeError);
  // delta after k records: delta (1 + e^eps + ... ) while it stays below the kink.
  const double expected = 1e-4 * (1 + std::exp(0.2) + std::exp(0.4));
  EXPECT_THAT(analyze(parse("dp(epsilon=0.2, delta=1e-4) | group(3)")).delta_at(Interval::exactly(INFINITY)),
              Encloses(Interval{expected * (1 - 1e-14), expected * (1 + 1e-14)}));
}

// Each evaluation of these is a search or a composition, and code that composes or inverts them evaluates thousands of times.
TEST(Group, ReportsTheCostOfASlowProfile) {
  EXPECT_EQ(loss_of(analyze(parse("log_family(c=1, sigma=2) | group(2)")))->cost(), Cost::search);
  EXPECT_EQ(loss_of(analyze(parse("(gaussian(sigma=3) | poisson(rate=0.1); laplace(scale=3)) | poisson(rate=0.3)")))->cost(), Cost::engine);
  EXPECT_EQ(loss_of(analyze(parse("laplace(scale=3) | poisson(rate=0.3)")))->cost(), Cost::formula);
}

// Additions and removals mixed: the logarithm and the mass at infinity are those of the same iteration.
TEST(Group, OfAnAsymmetricLossKeepsItsLogarithmAndItsInfiniteMass) {
  const LossPointer pair = pair_loss({Interval::exactly(0.5), Interval::exactly(0.375), Interval::exactly(0.125)},
                                     {Interval::exactly(0.75), Interval::exactly(0.25), Interval::exactly(0)});
  const LossPointer group = group_loss(pair, 2);
  EXPECT_FALSE(group->symmetric());  // with a direction the answer is for one kind of change only
  for (const double epsilon : {0.0, 0.3, 1.0}) {
    const Interval delta = group->delta(Direction::remove, Interval::exactly(epsilon));
    EXPECT_THAT(exp(group->log_delta(Direction::remove, Interval::exactly(epsilon))), Encloses(delta)) << epsilon;
  }
  // A single record is revealed with probability 1/8.
  const Interval floor = group->infinite_mass(Direction::remove);
  EXPECT_THAT(floor, Encloses(group->delta(Direction::remove, Interval::exactly(infinity))));
  EXPECT_GT(floor.lo, 0.125);
}

// The group of a directed finite mechanism is the iteration of its symmetric curve, by atoms; against the least of the dual form over a
// fine grid of splits.
TEST(Group, OfASampledResponseAgreesWithTheDualForm) {
  const Curve one = analyze(parse("randomized_response(epsilon=1.06, choices=20) | poisson(rate=0.2)"));
  const Curve two = analyze(parse("randomized_response(epsilon=1.06, choices=20) | poisson(rate=0.2) | group(2)"));
  const auto delta = [&](double e) {
    const Interval found = one.delta_at(std::abs(e));
    return e >= 0 ? found.hi : -std::expm1(e) + std::exp(e) * found.hi;
  };
  for (const double s : {0.0, 0.1, 0.3, 0.6}) {
    double least = 1;
    for (double e = -1; e <= 1; e += 1.0 / 1024) least = std::min(least, delta(e) + std::exp(e) * delta(s - e));
    const Interval found = two.delta_at(s);
    EXPECT_LE(found.lo, least * (1 + 1e-9)) << s;
    EXPECT_GE(found.hi, least - 2e-3) << s;
    EXPECT_THAT(found, IsTight(1e-9)) << s;
  }
}

// A law with slack stands for every mechanism whose delta is smaller by that factor at most: here for one that answers nothing at all
// with the probability of the slack. The group of the law must hold the group of that mechanism.
TEST(Group, SlackGrowsWithTheSize) {
  const double slack = 0.25;
  const Atoms whole = *randomized_response(Interval::exactly(1), 2)->atoms(Direction::remove);
  Atoms doubtful = whole;
  doubtful.slack = slack;
  std::vector<Atom> rarer{{Interval::exactly(0), Interval::exactly(slack)}};
  for (const Atom& atom : whole.finite) rarer.push_back({atom.loss, atom.mass * (1 - slack)});
  const LossPointer law = finite_loss(doubtful, "", {});
  const LossPointer mechanism = finite_loss(make_atoms(rarer, whole.infinite, whole.other_infinite, true), "", {});
  for (const std::uint64_t size : {2U, 3U})
    for (const double epsilon : {0.0, 0.5, 1.5}) {
      const Interval point = Interval::exactly(epsilon), found = group_loss(law, size)->delta(Direction::remove, point);
      const Interval truth = group_loss(mechanism, size)->delta(Direction::remove, point);
      EXPECT_LE(found.lo, truth.lo * (1 + 1e-12)) << size << ' ' << epsilon;
      EXPECT_GE(found.hi, truth.hi * (1 - 1e-12)) << size << ' ' << epsilon;
      EXPECT_GT(found.lo, 0.3 * found.hi) << size << ' ' << epsilon;
    }
}

}  // namespace
}  // namespace tradeoff::detail
