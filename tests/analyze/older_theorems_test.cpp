// SPDX-License-Identifier: Apache-2.0
// Covers [older-theorems] and [divergence-line].
#include "analyze/older_theorems.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "curve/curve_state.h"
#include "engine/compose.h"
#include "engine/moments/renyi_sum.h"
#include "loss/gaussian_profile.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "mechanism/renyi_bound.h"
#include "numeric/arithmetic.h"
#include "operators/duality.h"
#include "support/matchers.h"
#include "tradeoff/analyze.h"
#include "tradeoff/compare.h"
#include "tradeoff/gdp.h"
#include "tradeoff/limit.h"
#include "tradeoff/operations.h"

namespace tradeoff::detail {
namespace {

/// The brute-force minimum over orders of the conversion of s (s + 1) rho plus n Laplace divergences.
double brute_log_delta(double rho, double laplace, double times, double epsilon) {
  double best = 0;
  for (double log_s = -24; log_s < 8; log_s += 1e-4) {
    const double s = std::exp(log_s);
    const double one = laplace * s + std::log(((s + 1) + s * std::exp(-(2 * s + 1) * laplace)) / (2 * s + 1));
    best = std::min(best, rho * s * (s + 1) + times * one - s * epsilon + s * std::log(s) - (1 + s) * std::log1p(s));
  }
  return best;
}

TEST(RenyiSum, IsTheBestConversion) {
  const RenyiSum sum({{zcdp_bound(Interval::exactly(0.4)), 3}, {std::make_shared<LaplaceLoss>(Interval::exactly(0.25)), 10}});
  for (const double epsilon : {2.0, 6.0, 12.0}) {
    const Interval found = sum.log_delta(Direction::remove, epsilon);
    const double expected = brute_log_delta(1.2, 0.25, 10, epsilon);
    EXPECT_NEAR(found.hi, expected, 1e-7) << epsilon;
    EXPECT_LE(found.lo, expected + 1e-9) << epsilon;
    EXPECT_LE(found.width(), 1e-6) << epsilon;
    const Interval back = sum.epsilon(Direction::remove, found);
    EXPECT_NEAR(back.hi, epsilon, 1e-6);
    EXPECT_LE(back.lo, back.hi);
    EXPECT_LE(back.width(), 1e-5 * epsilon);
  }
}

// Gaussian noise and zCDP together have the divergences of zCDP with a larger rho, whose best order is known in closed form. Far below the
// mean loss the best order is close to 1, and the bound close to 1: 1 - delta keeps its digits.
TEST(RenyiSum, IsTightFarBelowTheMean) {
  for (const double rho : {0.3, 2.0, 20.0, 400.0}) {
    const double mu = std::sqrt(0.5 * rho);
    const RenyiSum sum({{zcdp_bound(Interval::exactly(0.375 * rho)), 2}, {gaussian_loss(Interval::exactly(mu)), 1}});
    const Interval half = square(Interval::exactly(mu)) / 2.0, whole = Interval::exactly(0.75 * rho) + half;
    const LossPointer bound = zcdp_bound(whole);
    for (const double share : {0.0, 0.1, 0.5, 0.9, 1.0, 1.5}) {
      const double epsilon = share * rho;
      const Interval expected = dynamic_cast<const FamilyLoss&>(*bound).log_value(Interval::exactly(epsilon));
      const Interval found = sum.log_delta(Direction::remove, epsilon);
      EXPECT_LE(found.lo, expected.hi) << rho << " " << epsilon;
      EXPECT_GE(found.hi, expected.lo) << rho << " " << epsilon;
      EXPECT_LE(found.width(), 1e-7 * -found.hi + 1e-200) << rho << " " << epsilon;
      if (share == 1.5) {
        EXPECT_LE(found.width(), 1e-10 * (1 - found.hi)) << rho << " " << epsilon;
      }
    }
  }
}

// The same with divergences of quadratures and atoms, by brute force over orders.
TEST(RenyiSum, IsTightFarBelowTheMeanOfLaplaceNoise) {
  const RenyiSum sum({{zcdp_bound(Interval::exactly(0.4)), 3}, {std::make_shared<LaplaceLoss>(Interval::exactly(0.25)), 400}});
  for (const double epsilon : {0.0, 1.0, 5.0, 9.0}) {
    const Interval found = sum.log_delta(Direction::remove, epsilon);
    const double expected = brute_log_delta(1.2, 0.25, 400, epsilon);
    EXPECT_LE(found.lo, expected * (1 - 1e-9)) << epsilon;
    EXPECT_GE(found.hi, expected * (1 + 1e-6)) << epsilon;
    EXPECT_LE(found.width(), 1e-7 * -found.hi) << epsilon;
  }
}

// With infinite losses every divergence is infinite: nothing is converted, and the composed pair is the answer at both ends.
/// The profile of n binary responses, by the sum over the counts.
double brute_responses(int n, double epsilon0, double epsilon) {
  double sum = 0;
  for (int k = 0; k <= n; ++k) {
    const double loss = (2 * k - n) * epsilon0;
    if (!(loss > epsilon)) continue;
    const double log_mass =
        std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) + k * epsilon0 - n * std::log1p(std::exp(epsilon0));
    sum += std::exp(log_mass) * -std::expm1(epsilon - loss);
  }
  return std::log(sum);
}

TEST(DivergenceLine, IsAboveTheSumOfAllResponses) {
  const Curve curve = analyze(parse("randomized_response(epsilon=0.5) | repeat(40)"));
  for (const double start : {0.0, 0.1, 1.0, 3.0, 7.0, 15.0})
    for (const double length : {0.0, 0.01, 0.5, 3.0}) {
      const auto line = loss_of(curve)->divergence_line(Direction::remove, start, start + length);
      ASSERT_TRUE(line) << start;
      for (const double share : {0.0, 0.3, 0.8, 1.0}) {
        const double truth = brute_responses(40, 0.5, start + share * length);
        const double above = line->at_start + share * (line->at_end - line->at_start);
        EXPECT_GE(above, truth - 1e-9) << start << " " << length << " " << share;
        EXPECT_LE(above, truth + (length == 0 ? 4 : infinity)) << start;  // at a point not much is lost
      }
    }
}

TEST(DivergenceLine, IsAboveWhatEnginesSay) {
  for (const char* plan : {"laplace(scale=0.8) | poisson(rate=0.1) | repeat(20); laplace(scale=2)",
                           "gaussian(sigma=2) | poisson(rate=0.2) | repeat(9); laplace(scale=3) | repeat(2)",
                           "zcdp(rho=0.02) | poisson(rate=0.1) | repeat(12); gaussian(sigma=2) | poisson(rate=0.2)"}) {
    const Curve curve = analyze(parse(plan));
    for (const Direction direction : {Direction::remove, Direction::add})
      for (const double start : {0.0, 0.3, 1.0}) {
        const auto line = loss_of(curve)->divergence_line(direction, start, start + 0.5);
        ASSERT_TRUE(line) << plan;
        for (const double share : {0.0, 0.5, 1.0}) {
          const double below = loss_of(curve)->log_delta(direction, Interval::exactly(start + 0.5 * share)).lo;
          EXPECT_GE(line->at_start + share * (line->at_end - line->at_start), below) << plan << " at " << start;
        }
      }
  }
}

TEST(DivergenceLine, NeedsFiniteLosses) {
  const Curve curve = analyze(parse("dp(epsilon=0.1, delta=1e-9) | repeat(3); laplace(scale=3)"));
  EXPECT_FALSE(loss_of(curve)->divergence_line(Direction::remove, 1, 2));
  const Curve finite = analyze(parse("laplace(scale=2); laplace(scale=3)"));
  EXPECT_FALSE(loss_of(finite)->divergence_line(Direction::remove, 1, infinity));
  EXPECT_FALSE(loss_of(finite)->divergence_line(Direction::remove, std::nan(""), 2));
}

TEST(OlderTheorems, InfiniteLossesBesideStatedDivergences) {
  const Curve curve = analyze(parse("dp(epsilon=0.2, delta=1e-7) | repeat(12); zcdp(rho=0.004); gaussian(sigma=2)"));
  for (const double epsilon : {0.0, 0.5, 1.5}) {
    const Interval found = curve.delta_at(epsilon);
    EXPECT_LE(found.width(), 1e-6 * found.hi) << epsilon;
    EXPECT_GT(found.lo, 1.1e-6) << epsilon;
  }
  EXPECT_LE(curve.epsilon_at(1e-5).width(), 1e-6);
}

// Far below the mean loss delta is close to 1 and beta tiny; both keep their digits beside stated divergences.
TEST(OlderTheorems, StatedDivergencesFarBelowTheMean) {
  const Curve curve = analyze(parse("randomized_response(epsilon=0.11, choices=3) | repeat(6553); zcdp(rho=0.1); gaussian(sigma=0.7)"));
  const Interval delta = curve.delta_at(0.5), beta = curve.beta_at(0.05);
  EXPECT_GT(delta.lo, 0.99);
  EXPECT_LE(delta.width(), 1e-9);
  EXPECT_GT(beta.lo, 0);
  EXPECT_LE(beta.width(), 1e-6 * beta.hi);
}

// A composition of which nothing is known: only the older theorems speak.
class Unknown final : public Loss, public ClosedForms {
 public:
  [[nodiscard]] Interval delta(Direction, Interval) const override { return {0, 1}; }
  [[nodiscard]] Interval log_delta(Direction, Interval) const override { return {-std::numeric_limits<double>::infinity(), 0}; }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction, Interval) const override {
    return Interval{0, std::numeric_limits<double>::infinity()};
  }
  [[nodiscard]] Capabilities capabilities(Direction) const override { return {.closed_forms = this, .cost = Cost::engine}; }
  [[nodiscard]] Tail tail() const override { return {}; }
};

TEST(OlderTheorems, AnswerWhereNoEngineDoes) {
  const Parts parts{{std::make_shared<LaplaceLoss>(Interval::exactly(0.1)), 40}, {gaussian_loss(Interval::exactly(0.5)), 2}};
  const LossPointer bounded = never_worse(std::make_shared<Unknown>(), parts, {});
  const LossPointer truth = compose(parts, {}).loss;
  for (const double epsilon : {0.5, 1.0, 3.0, 5.0}) {
    const Interval found = bounded->delta(Direction::remove, Interval::exactly(epsilon));
    const Interval exact = truth->delta(Direction::remove, Interval::exactly(epsilon));
    EXPECT_GE(found.hi, exact.lo) << epsilon;
    EXPECT_LE(found.hi, std::min(1.0, 12 * exact.hi)) << epsilon;  // the price of a conversion by one order
    EXPECT_LE(found.lo, exact.hi) << epsilon;
    EXPECT_GE(found.lo, gaussian_delta(0.5, epsilon).lo) << epsilon;  // at least what one of the Gaussians reveals
    EXPECT_GT(found.lo, 0);
  }
  const auto epsilon = bounded->closed_epsilon(Direction::remove, Interval::exactly(1e-5));
  ASSERT_TRUE(epsilon);
  const Interval exact = invert_profile(Profile(*truth, Direction::remove), Interval::exactly(1e-5));
  EXPECT_GE(epsilon->hi, exact.lo);
  EXPECT_LE(epsilon->hi, 1.15 * exact.hi);
}

TEST(OlderTheorems, UseOneGuaranteeOfEachPart) {
  // For these the optimal composition of one guarantee per part is the composition itself.
  const Parts parts{{std::make_shared<LaplaceLoss>(Interval::exactly(3)), 1}};
  const LossPointer bounded = never_worse(std::make_shared<Unknown>(), parts, {});
  const Interval delta = bounded->delta(Direction::remove, Interval::exactly(3));
  EXPECT_EQ(delta.hi, 0);
  EXPECT_EQ(bounded->closed_epsilon(Direction::remove, Interval::exactly(1e-300))->hi, 3);
}

// A rare huge loss spoils divergences and mu, and one guarantee per part is far from the Gaussian that it is otherwise.
TEST(OlderTheorems, UseMuWithASlackOfEachPart) {
  const std::string plan = "mixture([(0.999, gdp(mu=0.3)), (0.001, gdp(mu=30))])";
  const Curve step = analyze(parse(plan));
  const LossPointer bounded = never_worse(std::make_shared<Unknown>(), {{loss_of(step), 20}}, {});
  const double delta = 0.3;
  const GdpPair pair = measure_mu(step, {Interval::exactly(delta / 40)}).with_slack.front();
  const Interval whole = -expm1(20.0 * log1p(-pair.slack));
  const Interval expected = gaussian_epsilon(pair.mu * sqrt(Interval::exactly(20)), (delta - whole) / (1.0 - whole));
  const auto epsilon = bounded->closed_epsilon(Direction::remove, Interval::exactly(delta));
  ASSERT_TRUE(epsilon);
  EXPECT_LE(epsilon->hi, expected.hi * (1 + 1e-6));
  EXPECT_GE(epsilon->hi, analyze(parse(plan + " | repeat(20)")).epsilon_at(delta).lo);
  const Interval found = bounded->delta(Direction::remove, Interval::exactly(expected.hi));
  EXPECT_LE(found.hi, 1.5 * delta);  // slacks of a delta nearby
}

// Many small losses, a large delta: the limit theorem with its error term is closer than conversions and than mu of each part.
TEST(OlderTheorems, UseTheLimitTheorem) {
  const std::string plan = "laplace(scale=1000) | repeat(1000000)";
  const LossPointer bounded =
      never_worse(std::make_shared<Unknown>(), {{std::make_shared<LaplaceLoss>(Interval::exactly(0.001)), 1000000}}, {});
  const BerryEsseen limit = berry_esseen(parse(plan));
  const Curve truth = analyze(parse(plan));
  for (const double delta : {0.05, 0.2}) {
    const auto [epsilon, explanation] = [&] {
      const auto found = explained([&] { return bounded->closed_epsilon(Direction::remove, Interval::exactly(delta)); });
      return std::pair(found.value, found.steps);
    }();
    ASSERT_TRUE(epsilon);
    EXPECT_LE(epsilon->hi, limit.epsilon_at(Interval::exactly(delta)).hi * (1 + 1e-9));
    EXPECT_GE(epsilon->hi, truth.epsilon_at(delta).lo);
    EXPECT_TRUE(std::any_of(explanation.begin(), explanation.end(), [](const Step& step) { return step.theorem == "berry-esseen"; }));
    const Interval found = bounded->delta(Direction::remove, Interval::exactly(1));
    EXPECT_LE(found.hi, limit.delta_at(Interval::exactly(1)).hi * (1 + 1e-9));
    EXPECT_GE(found.hi, truth.delta_at(1).lo);
  }
}

// The largest loss of a list of atoms is far out, so that its mu is wide; the mu of each part is smaller.
TEST(OlderTheorems, BoundTheMuOfAList) {
  const GdpMeasurement one = measure_mu(analyze(parse("discrete_laplace(scale=0.1, sensitivity=4)")));
  const GdpMeasurement many = measure_mu(analyze(parse("discrete_laplace(scale=0.1, sensitivity=4) | repeat(3)")));
  EXPECT_LE(many.mu.hi, one.mu.hi * std::sqrt(3.0) * (1 + 1e-9));
  EXPECT_LE(many.mu.lo, many.mu.hi);
  EXPECT_GE(many.mu.hi, one.mu.lo);
}

// The probability of an infinite loss is known up to rounding only; the finite mu of one run excludes one.
TEST(OlderTheorems, BoundTheMuOfATruncatedTable) {
  for (const auto& [source, times] : {std::pair{"discrete_gaussian(sigma=0.2279)", 17}, {"discrete_gaussian(sigma=5, sensitivity=3)", 2}}) {
    const GdpMeasurement one = measure_mu(analyze(parse(source)));
    const GdpMeasurement many = measure_mu(analyze(parse(source + (" | repeat(" + std::to_string(times) + ")"))));
    EXPECT_LE(many.mu.hi, one.mu.hi * std::sqrt(times) * (1 + 1e-9)) << source;
    EXPECT_GE(many.mu.hi, one.mu.lo) << source;
  }
}

// The pair that a sum of divergences implies needs a larger mu than the pairs of the parts need together.
TEST(OlderTheorems, BoundTheMuOfStatedDivergences) {
  const Interval one = measure_mu(analyze(parse("zcdp(rho=0.0274)"))).mu;
  const GdpMeasurement many = measure_mu(analyze(parse("zcdp(rho=0.0274) | repeat(1000)")), {Interval::exactly(1e-5)});
  EXPECT_LE(many.mu.hi, one.hi * std::sqrt(1000.0) * (1 + 1e-12));
  EXPECT_GE(many.mu.hi, one.lo * std::sqrt(1000.0) * (1 - 1e-12));
  EXPECT_LE(many.with_slack.front().mu.hi, many.mu.hi);
  EXPECT_LE(many.with_slack.front().mu.lo, many.with_slack.front().mu.hi);
  const Interval sum = measure_mu(analyze(parse("zcdp(rho=0.05)"))).mu,
                 split = measure_mu(analyze(parse("zcdp(rho=0.025) | repeat(2)"))).mu;
  EXPECT_LE(split.hi, sum.hi * (1 + 1e-12));
}

// [slack-pair] Every question about a sum of stated divergences uses the mu of the parts: N(mu, 1) against N(0, 1) in doubles.
TEST(OlderTheorems, EveryQuestionKnowsTheMuOfStatedDivergences) {
  const auto above = [](double x) { return std::erfc(x / std::sqrt(2.0)) / 2; };
  for (const std::string rest : {"", "; dp(epsilon=0.01)"}) {
    const Plan plan = parse("zcdp(rho=0.003) | repeat(1000)" + rest);
    const Curve curve = analyze(plan);
    const double mu = measure_mu(curve).mu.hi, more = 1 + 1e-9;
    EXPECT_LE(curve.advantage().hi, (1 - 2 * above(mu / 2)) * more) << rest;
    EXPECT_EQ(curve.advantage().hi, curve.delta_at(0).hi) << rest;
    EXPECT_LE(divergences_of(curve).total_variation.hi, curve.advantage().hi) << rest;
    EXPECT_LE(divergences_of(curve).kl.hi, mu * mu / 2 * more) << rest;
    for (const double epsilon : {0.0, 0.2, 1.0}) {
      const double gaussian = above(epsilon / mu - mu / 2) - std::exp(epsilon) * above(epsilon / mu + mu / 2);
      EXPECT_LE(curve.delta_at(epsilon).hi, gaussian * more) << rest << epsilon;
      EXPECT_LE(gdp_transform_at(curve, Interval::exactly(epsilon)).hi, mu * more) << rest << epsilon;
      EXPECT_LE(curve.epsilon_at(gaussian * more).hi, epsilon) << rest << epsilon;
    }
    // Phi(Phi^-1(1 - alpha) - mu) at alpha = 1 - Phi(z).
    for (const double z : {2.0, 0.5, -1.0}) EXPECT_GE(curve.beta_at(above(z)).lo, above(mu - z) * (1 - 1e-9)) << rest << z;
    for (const double delta : {1e-6, 0.1, 0.8})
      for (const MethodRow& row : compare_methods(plan, Interval::exactly(delta)).rows) {
        if (row.kind != RowKind::bound) continue;
        EXPECT_LE(curve.epsilon_at(delta).hi, row.epsilon.hi * (1 + 1e-6)) << row.method << rest << delta;
      }
  }
}

// The same with a slack, where a part reveals everything with a small probability.
TEST(OlderTheorems, EveryQuestionKnowsTheMuWithASlackOfStatedDivergences) {
  const Curve pure = analyze(parse("zcdp(rho=0.003) | repeat(1000); dp(epsilon=0.01)")),
              revealing = analyze(parse("zcdp(rho=0.003) | repeat(1000); dp(epsilon=0.01, delta=1e-9)"));
  EXPECT_LE(revealing.advantage().hi, pure.advantage().hi * (1 + 1e-4));
  EXPECT_GE(revealing.advantage().hi, pure.advantage().lo);
  EXPECT_LE(pure.beta_at(0.0228).lo, revealing.beta_at(0.0228).hi * (1 + 1e-3));
}

// delta is below 1 for every epsilon, however large rho is.
TEST(OlderTheorems, StatedDivergencesNeverReachOne) {
  for (const char* plan : {"zcdp(rho=1e308) | repeat(10)", "zcdp(rho=1e3) | repeat(10)", "rdp(points=[(2, 1000), (3, 3000)])"})
    for (const double epsilon : {0.0, 1.0, 1e300}) EXPECT_LT(analyze(parse(plan)).delta_at(epsilon).lo, 1) << plan << " " << epsilon;
  EXPECT_LT(analyze(parse("zcdp(rho=1e308) | repeat(10)")).delta_at(1e308).lo, 1);
  EXPECT_LT(zcdp_bound(Interval::exactly(1e5))->delta(Direction::remove, Interval::exactly(1)).lo, 1);
}

// What `refine` would lower is answered already; profiles that a plan states are answered as stated.
TEST(OlderTheorems, RefinementsOfStatedDivergencesChangeNothing) {
  for (const std::string plan : {"zcdp(rho=0.5)", "rdp(points=[(2, 1), (3, 1.5), (4, 2)])", "rdp(points=[(2, 1), (4, 2)])"}) {
    const Curve stated = analyze(parse(plan)), refined = analyze(parse(plan + " | refine()"));
    for (const double epsilon : {0.0, 0.01, 0.3, 1.0, 4.0, 30.0}) {
      EXPECT_LE(stated.delta_at(epsilon).hi, refined.delta_at(epsilon).hi) << plan << epsilon;
      EXPECT_GE(stated.delta_at(epsilon).hi, refined.delta_at(epsilon).lo) << plan << epsilon;
      EXPECT_LE(stated.log_delta_at(epsilon).hi, refined.log_delta_at(epsilon).hi) << plan << epsilon;
    }
    for (const double delta : {1e-9, 1e-2, 0.3, 0.9}) {
      EXPECT_LE(stated.epsilon_at(delta).hi, refined.epsilon_at(delta).hi * (1 + 1e-9)) << plan << delta;
      EXPECT_GE(stated.epsilon_at(delta).hi, refined.epsilon_at(delta).lo * (1 - 1e-9)) << plan << delta;
    }
  }
}

// In a composition a pair takes the place of a bound that is known point by point; the sum of the epsilons may be smaller.
TEST(OlderTheorems, UseTheBoundOfEachPartAlone) {
  const Plan plan = parse(
      "dp(epsilon=0.235, delta=2.17e-08) | best_of(runs=geometric(mean=3)); constraints([(0.874, 9.62e-08), (0.252, 0.000383)]) | "
      "rectify(epsilon=0.833, low=0, high=1)");
  const Interval epsilon = analyze(plan).epsilon_at(1e-6);
  EXPECT_LE(epsilon.lo, epsilon.hi);
  for (const MethodRow& row : compare_methods(plan, Interval::exactly(1e-6)).rows) {
    if (row.kind != RowKind::bound) continue;
    EXPECT_LE(epsilon.hi, row.epsilon.hi * (1 + 1e-6)) << row.method;
  }
  EXPECT_LE(analyze(plan).delta_at(epsilon.hi).hi, 1e-6 * (1 + 1e-6));
}

// A list of 9e8 atoms, whose masses are known within a factor.
TEST(OlderTheorems, BoundAListThatIsSummedRoughly) {
  const Plan plan = parse("pair(p=[0.05, 0.15, 0.8], q=[0.1, 0.2, 0.7]) | best_of(runs=geometric(mean=2)) | repeat(6)");
  const Interval epsilon = analyze(plan).epsilon_at(0.1);
  EXPECT_LE(epsilon.hi, 6 * 0.80747);  // six times the largest loss
  EXPECT_LE(epsilon.lo, epsilon.hi);
  EXPECT_LE(analyze(plan).delta_at(epsilon.hi).hi, 0.11);
}

TEST(OlderTheorems, UseThatAProfileIsConvex) {
  const std::string selection = "truncated_discrete_laplace(scale=0.632, bound=30) | best_of(runs=geometric(mean=7))";
  const Interval stated = analyze(parse(selection)).epsilon_at(0.01), refined = analyze(parse(selection + " | refine()")).epsilon_at(0.01);
  EXPECT_LE(stated.hi, refined.hi * (1 + 1e-9));
  EXPECT_LE(stated.lo, stated.hi);
}

// What is stated of a mechanism bounds its attacks by all that it implies.
TEST(OlderTheorems, AttacksOnStatedBounds) {
  for (const char* plan : {"zcdp(rho=0.5)", "rdp(points=[(2, 0.0629), (8, 1.82), (32, 6.23)]) | repeat(59)"}) {
    const Curve curve = analyze(parse(plan));
    for (const double delta : {1e-3, 0.1, 0.4}) {
      const double factor = std::exp(curve.epsilon_at(delta).hi);
      EXPECT_LE(curve.advantage().hi, (factor - 1 + 2 * delta) / (factor + 1) * (1 + 1e-9)) << plan << " " << delta;
    }
    EXPECT_EQ(curve.advantage().hi, curve.delta_at(0).hi) << plan;
    EXPECT_GE(curve.advantage().hi, curve.tpr_at(0.1).lo - 0.1) << plan;
  }
}

// Shares of the smallest deltas round to 0 or below it.
TEST(OlderTheorems, TinyDeltasAreAnswered) {
  const Curve curve = analyze(parse("gdp(mu=0.0936) | poisson(rate=0.000835) | repeat(40)"));
  const LossPointer bounded = never_worse(std::make_shared<Unknown>(), {{loss_of(analyze(parse("gdp(mu=0.1)"))), 4}}, {});
  for (const double delta : {1e-310, 5e-324}) EXPECT_GT(bounded->closed_epsilon(Direction::remove, Interval::exactly(delta))->hi, 0);
  EXPECT_LE(curve.delta_at(0.5).lo, curve.delta_at(0.5).hi);
}

TEST(OlderTheorems, LeaveATightAnswerAlone) {
  const LossPointer pair = compose({{std::make_shared<LaplaceLoss>(Interval::exactly(0.5)), 3}}, {}).loss;
  const LossPointer bounded = never_worse(pair, {{std::make_shared<LaplaceLoss>(Interval::exactly(0.5)), 3}}, {});
  for (const double epsilon : {0.0, 0.4, 1.2})
    EXPECT_EQ(bounded->delta(Direction::remove, Interval::exactly(epsilon)), pair->delta(Direction::remove, Interval::exactly(epsilon)));
}

// The pair that zCDP implies has larger divergences than stated, so the sum of divergences is the better bound beside pure mechanisms.
TEST(OlderTheorems, StatedDivergencesAdd) {
  const auto epsilon = [](const char* plan) { return analyze(parse(plan), Neighbours::unstated, {1e-3}).epsilon_at(1e-5); };
  const Interval whole = epsilon("laplace(scale=20.8) | repeat(18); zcdp(rho=0.43) | repeat(1430)");
  EXPECT_GE(whole.hi, epsilon("zcdp(rho=0.43) | repeat(1430)").lo);
  EXPECT_LE(whole.hi, 780.1434);  // the sum of divergences at the best order
}

// The lattice, which shares nothing with the contours, gave these after seconds: few steps that hardly decay beside one that falls like
// 1/t, and a rho for which delta rounds to 1 at the touching point.
TEST(OlderTheorems, StatedDivergencesBesideFewSteps) {
  const auto expect = [](const std::string& plan, Interval lattice) {
    const Interval found = analyze(parse(plan)).epsilon_at(1e-5);
    EXPECT_LE(found.lo, lattice.hi) << plan;
    EXPECT_GE(found.hi, lattice.lo) << plan;
    EXPECT_LE(found.width(), 3e-7 * found.hi) << plan;
  };
  expect("laplace(scale=20.8) | repeat(18); zcdp(rho=11)", {32.16573221, 32.16573308});
  expect("laplace(scale=20.8) | repeat(18); zcdp(rho=20)", {48.78945211, 48.78945326});
  expect("laplace(scale=20.8) | repeat(18); zcdp(rho=100)", {165.6489268, 165.6489297});
  expect("laplace(scale=20.8) | repeat(18); zcdp(rho=0.43) | repeat(1430)", {780.1431555, 780.1431653});
}

// The pair of a list of points has a mass at infinite loss, 9e-4 here; the list alone is (33.18, 1e-6)-DP, and the Laplace step adds 1.
TEST(OlderTheorems, BasicCompositionReplacesAnInfiniteEpsilon) {
  const Interval found =
      analyze(parse("rdp([(2, 0.01), (8, 0.05), (32, 0.25)]) | repeat(1384) | best_of(runs=geometric(mean=10)); laplace(scale=1)"))
          .epsilon_at(1e-6);
  EXPECT_LE(found.hi, 34.1771);
  EXPECT_GE(found.hi, found.lo);
}

TEST(OlderTheorems, CurvesWithStatedDivergencesStillCompose) {
  const Curve one = analyze(parse("laplace(scale=4); zcdp(rho=0.01)")), other = analyze(parse("gaussian(sigma=5)"));
  const Interval product = tradeoff::product({one, other}).epsilon_at(1e-5),
                 whole = extend(one, parse("gaussian(sigma=5)")).epsilon_at(1e-5);
  EXPECT_GE(product.hi, whole.lo);  // the product uses the pair
}

}  // namespace
}  // namespace tradeoff::detail
