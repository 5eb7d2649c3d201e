// SPDX-License-Identifier: Apache-2.0
// Laws of every loss, for all kinds of nesting: at infinite epsilon, at the ends of the trade-off function, in both directions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "curve/curve_state.h"
#include "numeric/arithmetic.h"
#include "operators/group.h"
#include "support/matchers.h"
#include "support/random_plans.h"
#include "support/scale.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"

// [two-directions] [group-privacy] [tail-model]
namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::PlanSource;

constexpr std::array directions{Direction::remove, Direction::add};
constexpr std::array all_directions{Direction::worst, Direction::remove, Direction::add};

Curve curve(const std::string& plan, Neighbours neighbours = Neighbours::unstated) { return analyze(parse(plan), neighbours); }

void expect_overlap(Interval one, Interval other, const std::string& what) {
  EXPECT_LE(one.lo, other.hi) << what;
  EXPECT_GE(one.hi, other.lo) << what;
}

/// delta decreases to the infinite mass, and equals it beyond every finite loss.
void expect_limit(const Curve& asked, Direction direction, const std::string& plan) {
  constexpr double far = 690;          // beyond every finite loss of these plans, except with negligible probability
  constexpr double negligible = 1e-9;  // probability of a loss beyond that
  const Interval at_infinity = asked.delta_at(Interval::exactly(infinity), direction);
  const Interval there = asked.delta_at(Interval::exactly(far), direction);
  EXPECT_LE(at_infinity.lo, there.hi) << plan;
  EXPECT_GE(at_infinity.hi + negligible, there.lo) << plan;
  const Interval beta = asked.beta_at(Interval::exactly(0), direction);
  expect_overlap(beta, 1.0 - at_infinity, plan + " at alpha 0");
  EXPECT_THAT(asked.beta_at(Interval::exactly(1), direction), Encloses(Interval::exactly(0))) << plan;
}

/// The statements of a loss agree with its profile.
void expect_honest(const Loss& loss, const std::string& plan) {
  for (const Direction direction : directions) {
    expect_overlap(loss.infinite_mass(direction), loss.delta(direction, Interval::exactly(infinity)), plan);
    expect_overlap(exp(loss.log_delta(direction, Interval::exactly(infinity))), loss.delta(direction, Interval::exactly(infinity)), plan);
    EXPECT_THAT(loss.delta(direction, Interval::exactly(-infinity)), Encloses(Interval::exactly(1))) << plan;
  }
  for (const double epsilon : {0.0, 0.7, 2.0}) {
    const Interval remove = loss.delta(Direction::remove, Interval::exactly(epsilon)),
                   add = loss.delta(Direction::add, Interval::exactly(epsilon));
    if (loss.symmetric()) expect_overlap(remove, add, plan);
    const Interval scale = exp(Interval::exactly(epsilon));
    const Interval mirror = 1.0 - scale + scale * loss.delta(Direction::add, Interval::exactly(-epsilon));  // the same pair swapped
    if (loss.is_pair()) expect_overlap(remove, mirror, plan + " at epsilon " + std::to_string(epsilon));
  }
}

TEST(Nested, DeltaAtInfinityIsTheLimitAndTheDirectionsAgreeWithTheSymmetryOfTheLoss) {
  PlanSource source(190);
  for (int trial = 0; trial < test::scaled(120); ++trial) {
    const PlanSource::Samples samples = source.samples();
    const std::string plan = trial % 20 == 0 ? source.group(samples) : source.nested(trial % 10 == 1 ? 2 : 1, samples);
    const Curve asked = curve(plan);
    for (const Direction direction : all_directions) expect_limit(asked, direction, plan);
    expect_honest(*loss_of(asked), plan);
    if (!loss_of(asked)->symmetric()) continue;
    for (const double epsilon : {0.0, 0.3, 1.5})
      expect_overlap(asked.delta_at(Interval::exactly(epsilon), Direction::remove),
                     asked.delta_at(Interval::exactly(epsilon), Direction::add), plan);
  }
}

// min(e^-5 (e - 1)/(2 (1 - e^-5)), 0.02), then after sampling and repetition, to 30 digits.
TEST(Nested, EveryOperatorKeepsTheInfiniteMass) {
  const std::string strongest = "strongest([truncated_laplace(scale=1, bound=5), dp(epsilon=0.5, delta=0.02)])";
  EXPECT_THAT(curve(strongest).delta_at(infinity), Encloses("0.00582811547801980369743545673285"));
  EXPECT_THAT(exp(curve(strongest).log_delta_at(Interval::exactly(infinity))), Encloses("0.00582811547801980369743545673285"));
  EXPECT_THAT(curve(strongest + " | sample_with_replacement(draws=1, of=5)").beta_at(0.0), Encloses("0.998834376904396039260512908653"));
  EXPECT_THAT(curve("weakest([(" + strongest + "), laplace(scale=1)]) | repeat(2)").beta_at(0.0),
              Encloses("0.988377735973985526610084177355"));
}

TEST(Nested, RefinedGroupsAnswerAlikeInBothDirections) {
  const std::string group = "(gaussian(sigma=1) | poisson(rate=0.1) | group(2))";
  const Interval half = Interval::exactly(0.5);
  const Interval worst = curve(group).delta_at(half);
  EXPECT_GT(worst.lo, 0.0145);
  for (const Direction direction : directions) {
    EXPECT_THAT(curve(group + " | refine()").delta_at(half, direction), Encloses(worst));
    EXPECT_THAT(curve(group + " | invert()").delta_at(half, direction),
                Encloses(curve(group).delta_at(half, direction == Direction::add ? Direction::remove : Direction::add)));
    EXPECT_THAT(curve("mixture([(1, " + group + ")])").delta_at(half, direction), Encloses(worst));
    EXPECT_THAT(curve("weakest([" + group + ", dp(epsilon=0)])").delta_at(half, direction), Encloses(worst));
  }
}

TEST(Nested, RecordsAreSampledOneByOne) {
  for (const std::string sampled : {"poisson(rate=0.1)", "sample(rate=0.1)", "sample_with_replacement(draws=2, of=5)"}) {
    for (const std::string base :
         {"gaussian(sigma=1) | group(2)", "(gaussian(sigma=1) | group(2))",
          "(laplace(scale=1); (gaussian(sigma=1) | group(3)) | repeat(2))",
          "mixture([(0.5, laplace(scale=1)), (0.5, (laplace(scale=1) | group(2)))])",
          "strongest([(gdp(mu=1) | group(2)), dp(1)]) | refine()", "weakest([(gdp(mu=1) | group(2)), dp(1)]) | invert()"}) {
      try {
        (void)curve(base + " | " + sampled);
        ADD_FAILURE() << base;
      } catch (const UnsupportedError& error) {
        EXPECT_THAT(error.what(), ::testing::AllOf(::testing::HasSubstr("one by one"), ::testing::HasSubstr("| group(size)"))) << base;
      }
    }
    EXPECT_NO_THROW((void)curve("gaussian(sigma=1) | group(1) | " + sampled));
    EXPECT_NO_THROW((void)curve("gaussian(sigma=1) | " + sampled + " | group(2)"));
  }
}

// [two-directions] One step may see the replacement of a record in one order and the next step in the other.
TEST(Nested, UnstatedNeighboursAreAnsweredForTheWorseRelation) {
  const std::string pair = "pair(p=[0.1, 0.6, 0.01, 0.29], q=[0.01, 0.01, 0.01, 0.97])";
  const Interval three = Interval::exactly(3);
  EXPECT_GE(curve(pair + " | repeat(2)").delta_at(three).hi, 0.566495332153192760328521675038);  // one step reversed
  EXPECT_THAT(curve(pair + " | repeat(2)", Neighbours::add_remove).delta_at(three), Encloses("0.489948677846087"));
  PlanSource source(191);
  for (int trial = 0; trial < test::scaled(12); ++trial) {
    const std::string plan = trial % 6 == 0 ? source.group(PlanSource::Samples::none) : source.nested(2, PlanSource::Samples::none);
    const Curve unstated = curve(plan), removed = curve(plan, Neighbours::add_remove), replaced = curve(plan, Neighbours::replace_one);
    for (const double epsilon : {0.0, 0.4, 2.0}) {
      const double worse = std::max(removed.delta_at(epsilon).lo, replaced.delta_at(epsilon).lo);
      EXPECT_GE(unstated.delta_at(epsilon).hi, worse) << plan;
    }
  }
}

TEST(Nested, ALongerPlanIsTheWholePlanUnderUnstatedNeighbours) {
  PlanSource source(192);
  for (int trial = 0; trial < test::scaled(12); ++trial) {
    const std::string first = source.pair() + source.repeat(1, 3), second = source.chance(0.5) ? source.pair() : source.laplace();
    const Curve grown = extend(curve(first), parse(second)), whole = curve(first + "; " + second);
    for (const double epsilon : {0.0, 0.4, 2.0})
      for (const Direction direction : all_directions)
        expect_overlap(grown.delta_at(Interval::exactly(epsilon), direction), whole.delta_at(Interval::exactly(epsilon), direction),
                       first + "; " + second);
  }
}

// [naive-profile] The encoder outputs the exact sum.
TEST(Nested, TheInvisibilityCloakCoversChangesThatKeepTheSum) {
  EXPECT_NO_THROW((void)curve("icea(4, 20) | repeat(2)"));
  for (const Neighbours stated : {Neighbours::add_remove, Neighbours::replace_one})
    EXPECT_THROW((void)curve("icea(4, 20)", stated), DomainError);
  for (const char* plan : {"icea(4, 20) | poisson(rate=0.1)", "weakest([icea(4, 20), dp(1)]) | sample(rate=0.1)"})
    EXPECT_THROW((void)curve(plan), DomainError) << plan;
}

// Products of masses that underflow.
TEST(Nested, GroupsOfSampledLawsWithTinyMasses) {
  for (const std::string base : {"discrete_gaussian(sigma=1.11)", "discrete_gaussian(sigma=0.7)", "discrete_laplace(scale=0.02)"}) {
    const Curve group = curve(base + " | poisson(rate=0.0369) | group(3)");
    const Curve one = curve(base + " | poisson(rate=0.0369)");
    for (const double epsilon : {0.0, 0.5, 3.0}) {
      EXPECT_GE(group.delta_at(epsilon).hi, one.delta_at(epsilon).lo) << base;
      EXPECT_LE(group.delta_at(epsilon).lo, 1) << base;
    }
  }
}

// Losses of 1e300: the probability that some step samples the record.
TEST(Nested, HardlyAnyNoiseIsAnswered) {
  const Interval delta = curve("laplace(scale=1e-300) | poisson(rate=0.5) | repeat(3)").delta_at(0.0);
  EXPECT_THAT(delta, Encloses(Interval::exactly(0.875)));
}

// Merged bounds are not a pair until they are refined.
TEST(Nested, MergedRenyiBoundsAreRefinedBeforeAnOperator) {
  EXPECT_THAT(curve("(zcdp(rho=0.05) | repeat(2)) | poisson(rate=0.5)").delta_at(0.0), Encloses("0.129539196681042567717206319996"));
}

}  // namespace
}  // namespace tradeoff::detail
