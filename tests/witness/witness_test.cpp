// SPDX-License-Identifier: Apache-2.0
#include "witness.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "support/random_plans.h"
#include "support/scale.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"

// The library and the witness answer the same questions by different methods; their intervals must overlap.
namespace tradeoff::detail::test {
namespace {

using witness::Real;
using witness::Witness;

constexpr std::uint64_t seed = 20240607;
constexpr double documented_delta = 1e-15;  // below, plain doubles are too coarse for relative widths here
constexpr double witness_width = 1e-2;      // the required accuracy of the witness; usually it is 1e-7

constexpr double infinite = std::numeric_limits<double>::infinity();

struct Family {
  const char* name;
  int plans;
  std::function<std::string(PlanSource&)> draw;
  double width = 1e-5;      ///< relative, of the library's delta; it states 1e-6 except in corner cases
  bool ask_epsilon = true;  ///< false where the library takes seconds to find one
};

std::ostream& operator<<(std::ostream& out, const Family& family) { return out << family.name; }

const char* name_of(Direction direction) {
  return direction == Direction::remove ? "remove" : direction == Direction::add ? "add" : "worst";
}

class Overlap : public testing::TestWithParam<Family> {
 protected:
  static Real exactly(double value) {
    const witness::WithPrecision more(640);
    return witness::exact(exact_number(value));
  }

  /// Both answers to delta(epsilon), which must overlap and must be narrow.
  void compare_delta(const Curve& curve, const Witness& slow, double epsilon, Direction direction) {
    SCOPED_TRACE(std::string(name_of(direction)) + " epsilon = " + PlanSource::text(epsilon));
    const Interval ours = curve.delta_at(Interval::exactly(epsilon), direction);
    const Real truth = slow.delta(exactly(epsilon), direction);
    EXPECT_LE(ours.lo, truth.upper());
    EXPECT_GE(ours.hi, truth.lower());
    if (truth.lower() < documented_delta) return;
    EXPECT_LE((ours.hi - ours.lo) / ours.hi, GetParam().width) << ours.lo << " " << ours.hi;
    EXPECT_LE((truth.upper() - truth.lower()) / truth.upper(), witness_width);
  }

  /// delta just below and just above the library's epsilon must lie on both sides of the delta asked for.
  void compare_epsilon(const Curve& curve, const Witness& slow, double delta) {
    SCOPED_TRACE("delta = " + PlanSource::text(delta));
    const Interval epsilon = curve.epsilon_at(delta);
    if (epsilon.hi < infinite) {
      EXPECT_LE(slow.delta(exactly(epsilon.hi)).lower(), delta) << epsilon.lo << " " << epsilon.hi;
    }
    if (epsilon.lo > 0 && epsilon.lo < infinite) {
      EXPECT_GE(slow.delta(exactly(epsilon.lo)).upper(), delta) << epsilon.lo << " " << epsilon.hi;
    }
  }
};

/// An epsilon at which delta is neither 0 nor 1, rounded so that it is no special point; delta is raised above the infinite mass.
double inner_epsilon(const Curve& curve, double& delta, PlanSource& source) {
  if (!(curve.epsilon_at(delta).hi < 1e6)) delta = (1 + curve.delta_at(infinite).hi) / 2;
  return std::stod(PlanSource::text(curve.epsilon_at(delta).lo * source.uniform(0.8, 0.99)));
}

TEST_P(Overlap, LibraryAndWitnessAgree) {
  const Family& family = GetParam();
  PlanSource source(seed);
  RecordProperty("seed", std::to_string(seed));
  const int plans = scaled(family.plans);
  int beyond_reach = 0;
  for (int number = 0; number < plans + beyond_reach && beyond_reach <= 1 + plans / 5; ++number) {
    const std::string text = family.draw(source);
    double delta = source.scale(1e-9, 0.2);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", plan " + std::to_string(number) + ": " + text);
    try {
      const Plan plan = parse(text);
      const Curve curve = analyze(plan, Neighbours::add_remove);
      const Witness slow(plan, Neighbours::add_remove);
      const double epsilon = family.ask_epsilon ? inner_epsilon(curve, delta, source) : std::stod(source.number(0.5, 3));
      compare_delta(curve, slow, epsilon, Direction::remove);
      compare_delta(curve, slow, epsilon, Direction::add);
      if (number % 4 == 0) compare_delta(curve, slow, -epsilon / 2, Direction::remove);
      if (number % 3 == 0 && family.ask_epsilon) compare_epsilon(curve, slow, delta);
    } catch (const DomainError& error) {
      ADD_FAILURE() << error.what();
    } catch (const UnsupportedError& error) {
      EXPECT_EQ(std::string(error.what()).rfind("witness: ", 0), 0U) << error.what();
      ++beyond_reach;
    }
  }
  EXPECT_LE(beyond_reach, 1 + plans / 5);
}

const Family families[] = {
    {"gaussian", 12, [](PlanSource& s) { return s.gaussian() + s.repeat(1, 1000) + "; " + s.gaussian(); }},
    {"laplace", 20, [](PlanSource& s) { return s.laplace() + s.repeat(1, 40); }},
    {"two_laplace", 12, [](PlanSource& s) { return s.laplace() + s.repeat(1, 8) + "; " + s.laplace() + s.repeat(1, 8); }},
    {"truncated_laplace", 16, [](PlanSource& s) { return s.truncated_laplace() + s.repeat(1, 12); }},
    {"finite", 30, [](PlanSource& s) { return s.finite() + s.repeat(1, 12); }},
    {"two_finite", 14, [](PlanSource& s) { return s.finite() + s.repeat(1, 4) + "; " + s.finite() + s.repeat(1, 3); }},
    {"sampled_finite", 16, [](PlanSource& s) { return s.constraints() + s.poisson(1e-3, 0.9) + s.repeat(1, 12); }},
    {"sampled_gaussian", 24,
     [](PlanSource& s) { return "gaussian(sigma=" + s.number(0.6, 10) + ")" + s.poisson(0.01, 0.9) + s.repeat(2, 60); }},
    {"training", 14,
     [](PlanSource& s) { return "gaussian(sigma=" + s.number(0.7, 10) + ")" + s.poisson(0.005, 0.2) + s.repeat(100, 10000); }},
    {"cyclic", 8,
     [](PlanSource& s) {
       return "gaussian(sigma=" + s.number(0.7, 5) + ", clip=1) | cyclic(rate=" + s.number(0.02, 0.5) +
              ", groups=" + std::to_string(s.count(1, 5)) + ", steps=" + std::to_string(s.count(20, 400)) + ")";
     }},
    {"allocation", 10,
     [](PlanSource& s) {
       return "gaussian(sigma=" + s.number(1, 6) + ") | allocate(steps=" + std::to_string(s.count(8, 200)) +
              ", passes=" + std::to_string(s.count(1, 2)) + ")";
     }},
    {"sampled_laplace", 6,
     [](PlanSource& s) { return "laplace(scale=" + s.number(0.6, 1.2) + ")" + s.poisson(0.5, 0.9) + s.repeat(6, 16); }, 1e-3, false},
    {"choice", 10, [](PlanSource& s) { return "exponential(epsilon=" + s.number(0.1, 4) + ")"; }},
    {"choice_and_others", 10,
     [](PlanSource& s) { return "exponential(epsilon=" + s.number(0.2, 3) + "); " + s.laplace() + "; " + s.gaussian(); }},
    {"gaussian_and_laplace", 14, [](PlanSource& s) { return s.gaussian() + "; " + s.laplace() + s.repeat(1, 20); }},
    {"sampled_and_finite", 14,
     [](PlanSource& s) {
       return "gaussian(sigma=" + s.number(0.7, 5) + ")" + s.poisson(0.03, 0.5) + s.repeat(10, 200) + "; " + s.response();
     }},
    {"sampled_and_gaussian", 12,
     [](PlanSource& s) {
       return "gaussian(sigma=" + s.number(0.7, 5) + ")" + s.poisson(0.01, 0.5) + s.repeat(1, 100) + "; " + s.gaussian();
     }},
};

TEST(Witness, AnswersWhereAContourGivesNoBound) {
  const Plan plan = parse("truncated_laplace(scale=0.9, bound=2.006) | repeat(3)");
  const Interval ours = analyze(plan).delta_at(0);
  const Real truth = Witness(plan).delta(Real(0));
  EXPECT_LE(ours.lo, truth.upper());
  EXPECT_GE(ours.hi, truth.lower());
  // more steps never increase privacy
  EXPECT_GT(truth.lower(), analyze(parse("truncated_laplace(scale=0.9, bound=2.006)")).delta_at(0).lo);
}

TEST(Witness, AgreesFarInTheTail) {
  const Plan plan = parse("gaussian(sigma=1) | poisson(rate=0.01) | repeat(1000)");
  const Interval ours = analyze(plan).log_delta_at(Interval::exactly(30));
  const Real truth = log(Witness(plan).delta(Real(30)));
  EXPECT_LT(truth.upper(), -100);
  EXPECT_LE(ours.lo, truth.upper());
  EXPECT_GE(ours.hi, truth.lower());
  EXPECT_LE(truth.upper() - truth.lower(), 1e-5);
}

/// A wrong direction, sigma for sigma squared, or a rate off by a thousandth must be detected.
TEST(Witness, ContradictsSeededFaults) {
  const Interval ours =
      analyze(parse("gaussian(sigma=1.2) | poisson(rate=0.1) | repeat(20)")).delta_at(Interval::exactly(0.5), Direction::remove);
  const auto contradicts = [&](const char* plan, Direction direction) {
    const Real other = Witness(parse(plan)).delta(Real(0.5), direction);
    return ours.lo > other.upper() || ours.hi < other.lower();
  };
  EXPECT_FALSE(contradicts("gaussian(sigma=1.2) | poisson(rate=0.1) | repeat(20)", Direction::remove));
  EXPECT_TRUE(contradicts("gaussian(sigma=1.2) | poisson(rate=0.1) | repeat(20)", Direction::add));
  EXPECT_TRUE(contradicts("gaussian(sigma=1.44) | poisson(rate=0.1) | repeat(20)", Direction::remove));
  EXPECT_TRUE(contradicts("gaussian(sigma=1.2) | poisson(rate=0.1001) | repeat(20)", Direction::remove));
  EXPECT_TRUE(contradicts("gaussian(sigma=1.2) | poisson(rate=0.1) | repeat(19)", Direction::remove));
}

TEST(Witness, ContradictsOtherAllocations) {
  const Interval ours =
      analyze(parse("gaussian(1.5) | allocate(50)"), Neighbours::add_remove).delta_at(Interval::exactly(0.25), Direction::remove);
  const auto contradicts = [&](const char* plan, Direction direction) {
    const Real other = Witness(parse(plan), Neighbours::add_remove).delta(Real(0.25), direction);
    return ours.lo > other.upper() || ours.hi < other.lower();
  };
  EXPECT_FALSE(contradicts("gaussian(1.5) | allocate(50)", Direction::remove));
  EXPECT_TRUE(contradicts("gaussian(1.5) | allocate(50)", Direction::add));
  EXPECT_TRUE(contradicts("gaussian(1.5) | allocate(51)", Direction::remove));
  EXPECT_TRUE(contradicts("gaussian(1.501) | allocate(50)", Direction::remove));
  EXPECT_TRUE(contradicts("gaussian(1.5) | allocate(50, passes=2)", Direction::remove));
}

// What it has no means for it refuses by name.
TEST(Witness, RefusesSamplersOfWhichOnlyBoundsAreKnown) {
  const auto refused = [](const char* plan, Neighbours neighbours = Neighbours::add_remove) -> std::string {
    try {
      return "answered " + std::to_string(Witness(parse(plan), neighbours).delta(Real(0.5)).middle());
    } catch (const UnsupportedError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refused("gaussian(1) | shuffle(10)", Neighbours::zero_out),
            "witness: shuffle, of which only bounds are known, is not supported");
  EXPECT_EQ(refused("gaussian(1) | allocate(steps=10, times=2)"),
            "witness: allocate with times above 1, of which only bounds are known, is not supported");
  EXPECT_EQ(refused("gaussian(1) | allocate(10) | repeat(2)"), "witness: an allocation beside other mechanisms is not supported");
  EXPECT_EQ(refused("gaussian(1) | poisson(rate=0.1, examples=2)"), "witness: poisson with several examples of a user is not supported");
  EXPECT_EQ(refused("gaussian(1) | poisson(rate=0.1, of=100, at_most=12)"),
            "witness: poisson with a cap that batches reach, of which only bounds are known, is not supported");
  EXPECT_EQ(refused("gaussian(1, clip=1) | allocate(10)", Neighbours::replace_one).rfind("witness: directed mechanisms", 0), 0U);
}

INSTANTIATE_TEST_SUITE_P(Witness, Overlap, testing::ValuesIn(families), [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace tradeoff::detail::test
