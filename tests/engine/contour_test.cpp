// SPDX-License-Identifier: Apache-2.0
#include "engine/contour/contour.h"

#include <gtest/gtest.h>

#include "engine/density/density.h"
#include "engine/exact/exact.h"
#include "engine/lattice/lattice.h"
#include "loss/atoms.h"
#include "loss/gaussian_profile.h"
#include "mechanism/discrete_gaussian.h"
#include "mechanism/finite.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "mechanism/randomized_response.h"
#include "mechanism/truncated_laplace.h"
#include "numeric/arithmetic.h"
#include "operators/subsampled.h"
#include "operators/subsampled_gaussian.h"
#include "support/matchers.h"

// [contour-inversion] [subsampled-transform] [contour-alias] [contour-truncation] [contour-march] [contour-propagation] [contour-epsilon]
// [contour-recurrence] [contour-log-line]
namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::golden_group;
using test::golden_interval;
using test::IsTight;

Direction direction_of(const nlohmann::json& inputs) { return inputs.at("direction") == "add" ? Direction::add : Direction::remove; }

/// The symmetric rows of the golden file are about another pair.
bool directed(const nlohmann::json& inputs) { return inputs.at("direction") == "remove" || inputs.at("direction") == "add"; }

Interval rate_of(const nlohmann::json& inputs) {
  const auto text = inputs.at("q").get<std::string>();
  const auto slash = text.find('/');
  if (slash == std::string::npos) return golden_interval(inputs.at("q"));
  return Interval::exactly(std::stod(text.substr(0, slash))) / Interval::exactly(std::stod(text.substr(slash + 1)));
}

LossPointer training_run(const nlohmann::json& inputs) {
  const Interval mu = 1.0 / golden_interval(inputs.at("sigma"));
  return compose_by_contour({{subsampled_gaussian(mu, rate_of(inputs)), inputs.at("T").get<std::uint64_t>()}}, {});
}

TEST(Contour, HoldsGoldenDeltas) {
  for (const auto& one : golden_group("f_dp.json", "dpsgd_delta")) {
    const auto& inputs = one.at("inputs");
    if (!directed(inputs)) continue;
    const auto loss = training_run(inputs);
    const Interval delta = loss->delta(direction_of(inputs), golden_interval(inputs.at("eps")));
    EXPECT_THAT(delta, Encloses(one.at("value").get<std::string>())) << one.at("id");
    EXPECT_THAT(delta, IsTight(1e-10)) << one.at("id");
  }
}

/// C_q of a Gaussian, the symmetric rows.
LossPointer symmetric_run(const nlohmann::json& inputs) {
  const Interval mu = 1.0 / golden_interval(inputs.at("sigma"));
  return compose_by_contour({{std::make_shared<SampledLoss>(gaussian_loss(mu), rate_of(inputs)), inputs.at("T").get<std::uint64_t>()}}, {});
}

TEST(Contour, HoldsGoldenRunsOnSamplesOfFixedSize) {
  int rows = 0;
  for (const char* group : {"dpsgd_delta", "dpsgd_eps"})
    for (const auto& one : golden_group("f_dp.json", group)) {
      const auto& inputs = one.at("inputs");
      if (directed(inputs)) continue;
      const auto loss = symmetric_run(inputs);
      const Interval found = inputs.contains("eps") ? loss->delta(Direction::remove, golden_interval(inputs.at("eps")))
                                                    : *loss->closed_epsilon(Direction::remove, golden_interval(inputs.at("delta")));
      EXPECT_THAT(found, Encloses(one.at("value").get<std::string>())) << one.at("id");
      EXPECT_THAT(found, IsTight(1e-10)) << one.at("id");
      ++rows;
    }
  EXPECT_GT(rows, 10);
}

TEST(Contour, HoldsGoldenEpsilons) {
  for (const auto& one : golden_group("f_dp.json", "dpsgd_eps")) {
    const auto& inputs = one.at("inputs");
    if (!directed(inputs)) continue;
    const auto epsilon = training_run(inputs)->closed_epsilon(direction_of(inputs), golden_interval(inputs.at("delta")));
    ASSERT_TRUE(epsilon.has_value());
    EXPECT_THAT(*epsilon, Encloses(one.at("value").get<std::string>())) << one.at("id");
    EXPECT_THAT(*epsilon, IsTight(1e-11)) << one.at("id");
  }
}

TEST(Contour, HoldsGoldenTests) {
  for (const auto& one : golden_group("f_dp.json", "dpsgd_tradeoff")) {
    const auto& inputs = one.at("inputs");
    const Interval epsilon = golden_interval(inputs.at("eps"));
    if (!directed(inputs) || epsilon.lo != epsilon.hi) continue;  // a test is evaluated at a double
    const auto test = training_run(inputs)->test_at(direction_of(inputs), epsilon.lo);
    ASSERT_TRUE(test.has_value()) << one.at("id");
    EXPECT_THAT(test->false_positive, Encloses(one.at("value").at("alpha").get<std::string>())) << one.at("id");
    EXPECT_THAT(test->true_positive, Encloses(one.at("value").at("one_minus_beta").get<std::string>())) << one.at("id");
    EXPECT_THAT(test->false_positive, IsTight(1e-9)) << one.at("id");
    EXPECT_THAT(test->true_positive, IsTight(1e-9)) << one.at("id");
  }
}

// A plain Gaussian has a closed profile, from delta next to 1 (the strip) to far below any double, every real epsilon.
TEST(Contour, AgreesWithTheGaussianProfile) {
  for (const double mu : {0.25, 1.0, 4.0, 12.0}) {
    const auto loss = compose_by_contour({{gaussian_loss(Interval::exactly(mu)), 1}}, {});
    for (double e = -3 * mu - 2; e < mu * mu / 2 + 30 * mu; e += 0.37 + mu) {
      const Interval epsilon = Interval::exactly(e), truth = log_gaussian_delta(Interval::exactly(mu), epsilon);
      const Interval answer = loss->log_delta(Direction::remove, epsilon);
      EXPECT_THAT(answer, Encloses(truth)) << mu << " " << e;
      EXPECT_LE(answer.width(), 1e-9) << mu << " " << e;
    }
    for (const double delta : {0.3, 1e-5, 1e-50, 1e-300}) {
      const auto epsilon = loss->closed_epsilon(Direction::add, Interval::exactly(delta));
      ASSERT_TRUE(epsilon.has_value());
      EXPECT_THAT(*epsilon, Encloses(gaussian_epsilon(Interval::exactly(mu), Interval::exactly(delta)))) << mu << " " << delta;
      EXPECT_LE(epsilon->width(), 1e-9 * (1 + epsilon->hi)) << mu << " " << delta;
    }
  }
}

// One step has a closed profile too; for few steps the answer may be wide, but it is valid.
TEST(Contour, HoldsOneAndTwoSteps) {
  const LossPointer step = subsampled_gaussian(Interval::exactly(1), Interval::exactly(0.25));
  const auto once = compose_by_contour({{step, 1}}, {});
  for (const Direction direction : {Direction::remove, Direction::add})
    for (const double e : {-0.5, 0.0, 0.1, 0.25, 1.0, 3.0})
      EXPECT_THAT(once->delta(direction, Interval::exactly(e)), Encloses(step->delta(direction, Interval::exactly(e)))) << e;
  for (const auto& one : golden_group("f_dp.json", "dpsgd2_delta")) {
    const auto& inputs = one.at("inputs");
    EXPECT_THAT(training_run(inputs)->delta(direction_of(inputs), golden_interval(inputs.at("eps"))),
                Encloses(one.at("value").get<std::string>()));
  }
}

TEST(Contour, HoldsGoldenLaplaceCompositions) {
  for (const auto& one : golden_group("f_dp.json", "lap_comp")) {
    const auto& inputs = one.at("inputs");
    const auto loss =
        compose_by_contour({{std::make_shared<LaplaceLoss>(golden_interval(inputs.at("mu"))), inputs.at("n").get<std::uint64_t>()}}, {});
    EXPECT_THAT(loss->delta(Direction::remove, golden_interval(inputs.at("t"))), Encloses(one.at("value").get<std::string>()))
        << one.at("id");
  }
}

Parts mixture() {
  return {{std::make_shared<LaplaceLoss>(Interval::exactly(0.5)), 10},
          {subsampled_gaussian(Interval::exactly(1), Interval::exactly(0.0078125)), 1000},
          {gaussian_loss(Interval::exactly(0.25)), 1},
          {std::make_shared<TruncatedLaplaceLoss>(Interval::exactly(0.125), Interval::exactly(20)), 20},
          {randomized_response(Interval::exactly(0.25), 2), 5}};
}

// The order of the parts and the grouping of equal steps change only the last digits.
TEST(Contour, CommutesAndAssociates) {
  Parts parts = mixture(), reversed(parts.rbegin(), parts.rend()), split = parts;
  split[1].times = 400;
  split.push_back({parts[1].loss, 600});
  const auto whole = compose_by_contour(parts, {}), other = compose_by_contour(reversed, {}), grouped = compose_by_contour(split, {});
  for (const Direction direction : {Direction::remove, Direction::add})
    for (const double e : {0.0, 1.0, 4.0, 20.0}) {
      const Interval answer = whole->log_delta(direction, Interval::exactly(e));
      EXPECT_LE(answer.width(), 1e-9);
      EXPECT_THAT(other->log_delta(direction, Interval::exactly(e)), Encloses(answer));
      EXPECT_THAT(grouped->log_delta(direction, Interval::exactly(e)), Encloses(answer));
    }
}

// Two copies of a Gaussian with half the variance: the composition is known exactly.
TEST(Contour, MergesTheGaussiansOfAList) {
  const LossPointer step = subsampled_gaussian(Interval::exactly(1), Interval::exactly(0.0078125));
  const auto one = compose_by_contour({{step, 500}, {gaussian_loss(Interval::exactly(0.5)), 4}}, {});
  const auto other = compose_by_contour({{step, 500}, {gaussian_loss(Interval::exactly(1)), 1}}, {});
  for (const double e : {0.5, 3.0, 9.0})
    EXPECT_THAT(one->log_delta(Direction::remove, Interval::exactly(e)),
                Encloses(other->log_delta(Direction::remove, Interval::exactly(e))));
}

TEST(Contour, KeepsTheInfiniteMassApart) {
  const Interval e0 = Interval::exactly(0.125), reach = Interval::exactly(4);
  const LossPointer step = std::make_shared<TruncatedLaplaceLoss>(e0, reach);
  const auto loss = compose_by_contour({{step, 40}, {gaussian_loss(Interval::exactly(1)), 1}}, {});
  const Interval infinite = loss->infinite_mass(Direction::remove);
  EXPECT_THAT(infinite, Encloses(-expm1(40.0 * log1p(-step->infinite_mass(Direction::remove)))));
  EXPECT_THAT(loss->delta(Direction::remove, Interval::exactly(infinity)), Encloses(infinite));
  EXPECT_GE(loss->delta(Direction::remove, Interval::exactly(60)).lo, infinite.lo * (1 - 1e-12));
  EXPECT_EQ(loss->closed_epsilon(Direction::remove, Interval::exactly(infinite.lo / 2))->lo, infinity);
}

/// Reveals everything with probability `mass`, nothing otherwise.
class AllOrNothing final : public Loss {
 public:
  explicit AllOrNothing(double mass)
      : mass_(Interval::exactly(mass)), atoms_(make_atoms({{Interval::exactly(0), 1.0 - mass_}}, mass_, mass_, true)) {}
  [[nodiscard]] Interval delta(Direction, Interval epsilon) const override { return max(mass_, mass_ - (1.0 - mass_) * expm1(epsilon)); }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Capabilities capabilities(Direction) const override { return {.atoms = &atoms_}; }

 private:
  Interval mass_;
  Atoms atoms_;
};

// delta = d + (1 - d) delta of the rest, where d is the probability that anything was revealed.
TEST(Contour, HandlesInfiniteLossesExactly) {
  const double mu = 1;
  const auto loss = compose_by_contour({{std::make_shared<AllOrNothing>(0.0625), 3}, {gaussian_loss(Interval::exactly(mu)), 1}}, {});
  ASSERT_NE(loss, nullptr);
  const Interval survival = power(Interval::exactly(0.9375), 3);
  for (const double e : {-1.0, 0.0, 0.3, 1.0, 4.0}) {
    const Interval truth = 1.0 - survival + survival * gaussian_delta(Interval::exactly(mu), Interval::exactly(e));
    EXPECT_THAT(loss->delta(Direction::remove, Interval::exactly(e)), Encloses(truth)) << e;
    EXPECT_THAT(loss->delta(Direction::remove, Interval::exactly(e)), IsTight(1e-10)) << e;
  }
  // If delta is close to 1 the strip is used, which includes the probability of a finite loss.
  const auto strong = compose_by_contour({{std::make_shared<AllOrNothing>(0.0625), 3}, {gaussian_loss(Interval::exactly(8)), 1}}, {});
  const Interval truth = 1.0 - survival + survival * gaussian_delta(Interval::exactly(8), Interval::exactly(1));
  EXPECT_THAT(strong->delta(Direction::remove, Interval::exactly(1)), Encloses(truth));
}

// A decimal is an interval: the answer holds at both its ends, also if a tangent bounds the second end.
TEST(Contour, HoldsOverAnIntervalOfEpsilon) {
  const Parts steps{{subsampled_gaussian(Interval::exactly(1), Interval::exactly(0.01)), 1000}};
  const auto run = compose_by_contour(steps), apart = compose_by_contour(steps);
  for (const double epsilon : {0.4, 1.8, 3.0})
    for (const Direction direction : {Direction::remove, Direction::add})
      for (const double way : {1e-15, 2e-11, 1e-6, 0.1}) {
        const double end = epsilon + way;
        (void)run->delta(direction, Interval::exactly(epsilon));  // so that a line is nearby
        const Interval range = run->delta(direction, {epsilon, end}), far = apart->delta(direction, Interval::exactly(end));
        EXPECT_LE(range.lo, far.hi) << epsilon << " + " << way;
        EXPECT_GE(range.lo, far.lo * (1 - 1e-11)) << epsilon << " + " << way;
        EXPECT_GE(range.hi, apart->delta(direction, Interval::exactly(epsilon)).lo);
      }
}

TEST(Contour, DecreasesInEpsilonAndMeetsItsOwnInverse) {
  const auto loss = compose_by_contour({{subsampled_gaussian(Interval::exactly(1), Interval::exactly(0.0078125)), 2000}}, {});
  for (const Direction direction : {Direction::remove, Direction::add}) {
    double before = infinity;
    for (double e = -2; e < 6; e += 0.25) {
      const Interval delta = loss->delta(direction, Interval::exactly(e));
      EXPECT_LE(delta.lo, before) << e;
      before = delta.hi;
    }
    for (const double delta : {1e-3, 1e-9, 1e-100, 1e-300}) {
      const Interval epsilon = *loss->closed_epsilon(direction, Interval::exactly(delta));
      EXPECT_LE(loss->delta(direction, Interval::exactly(epsilon.hi)).lo, delta);
      EXPECT_GE(loss->delta(direction, Interval::exactly(epsilon.lo)).hi, delta);
      EXPECT_LE(epsilon.width(), 1e-9 * (1 + epsilon.hi));
    }
  }
}

// Extreme questions: a valid interval at once, never an exception, never NaN.
TEST(Contour, AnswersAtExtremeParameters) {
  struct Corner {
    double sigma, rate;
    std::uint64_t steps;
  };
  for (const Corner& corner : {Corner{0.05, 0.5, 1000},
                               {1e5, 1e-9, 1000000000000},
                               {0.3, 1e-6, 1000000},
                               {50, 1e-9, 10},
                               {1e5, 0.9, 1000000000000},
                               {1, 0.999, 100},
                               {0.05, 1e-9, 1000000000000},
                               {2, 1e-3, 1000000000000}}) {
    const auto loss = compose_by_contour(
        {{subsampled_gaussian(1.0 / Interval::exactly(corner.sigma), Interval::exactly(corner.rate)), corner.steps}}, {});
    ASSERT_NE(loss, nullptr);
    for (const Direction direction : {Direction::remove, Direction::add})
      for (const double delta : {1e-5, 1e-300}) {
        const Interval epsilon = *loss->closed_epsilon(direction, Interval::exactly(delta));
        EXPECT_LE(0, epsilon.lo);
        EXPECT_LE(epsilon.lo, epsilon.hi) << corner.sigma << " " << corner.rate;
        const Interval answer = loss->log_delta(direction, Interval::exactly(epsilon.lo));
        EXPECT_LE(answer.lo, answer.hi);
      }
  }
}

// Rare large losses dominate at the saddle point, and a line left of it is tighter. The true value is the same integral in balls of 1500
// bits, at another order.
TEST(Contour, IsTightDespiteRareLargeLosses) {
  struct Run {
    double sigma_lo, rate_lo, epsilon;
    std::uint64_t steps;
    double truth, width;
  };
  const auto decimal = [](double nearest) { return Interval{nearest * (1 - 0x1p-53), nearest * (1 + 0x1p-53)}; };
  for (const Run& run : {Run{1.0761, 0.000284034, 0.1618, 8556, 1.94712016824464678e-9, 1e-6},
                         Run{0.70838, 7.32744e-5, 1.7047, 87507, 6.7103084972481096e-13, 1e-6},
                         Run{2.0803, 2.5344e-5, 0.0147445, 272818, 3.5000152215320183e-5, 1e-9}}) {
    const LossPointer loss = compose_by_contour({{subsampled_gaussian(1.0 / decimal(run.sigma_lo), decimal(run.rate_lo)), run.steps}}, {});
    const Interval delta = loss->delta(Direction::remove, decimal(run.epsilon));
    EXPECT_THAT(delta, Encloses(decimal(run.truth)));
    EXPECT_THAT(delta, IsTight(run.width));
    const Interval epsilon = *loss->closed_epsilon(Direction::remove, Interval::exactly(run.truth));
    EXPECT_THAT(epsilon, Encloses(decimal(run.epsilon)));
    // at the saddle point itself 2e-4, and the guess of epsilon was off by a factor of four
    EXPECT_LE(epsilon.width(), 5e-8) << run.sigma_lo;
  }
}

// If no saddle point is in range, a Chernoff bound remains, and delta is never claimed to be 0.
TEST(Contour, DeltaStaysPositiveFarOut) {
  for (const LossPointer& loss : {compose_by_contour({{subsampled_gaussian(Interval::exactly(1), Interval::exactly(0.01)), 1000}}, {}),
                                  compose_by_folded_contour({{discrete_gaussian(Interval::exactly(5), 1), 100}})}) {
    ASSERT_NE(loss, nullptr);
    for (const double epsilon : {1e6, 1e300, 1e308}) {
      const Interval log_delta = loss->log_delta(Direction::remove, Interval::exactly(epsilon));
      EXPECT_LT(log_delta.hi, -300) << epsilon;
      EXPECT_GT(log_delta.hi, -infinity) << epsilon;
      EXPECT_GT(loss->delta(Direction::remove, Interval::exactly(epsilon)).hi, 0) << epsilon;
    }
  }
}

// Below every normal double a bound is all that delta can say; its logarithm stays tight.
TEST(Contour, FarOutDeltaIsOnlyBounded) {
  const LossPointer step = subsampled_gaussian(Interval::exactly(0.5), Interval::exactly(0.1));
  const LossPointer composed = compose_by_contour({{step, 2000}});
  for (const Direction direction : {Direction::remove, Direction::add}) {
    double far = 1;
    while (!(composed->log_delta(direction, Interval::exactly(far)).hi < -700)) far += 2;
    const Interval found = composed->delta(direction, Interval::exactly(far));
    EXPECT_EQ(found.lo, 0);
    EXPECT_LT(found.hi, 1e-290);
    EXPECT_LT(composed->log_delta(direction, Interval::exactly(far)).width(), 1e-6);
    const Interval near = composed->delta(direction, Interval::exactly(1));
    EXPECT_LT(near.width(), 1e-9 * near.hi);
  }
}

// Both ends must be proved, not estimated: with so many steps the moments are known far less accurately than the sum over the nodes.
TEST(Contour, ProvesBothEndsOfAnEpsilon) {
  for (const double rate : {1e-5, 1e-3}) {
    const LossPointer loss =
        compose_by_contour({{subsampled_gaussian(Interval::exactly(0.01), Interval::exactly(rate)), 1'000'000'000'000}}, {});
    const Interval target = log(Interval::exactly(1e-5));
    const Interval epsilon = *loss->closed_epsilon(Direction::remove, Interval::exactly(1e-5));
    ASSERT_LT(epsilon.lo, epsilon.hi);
    EXPECT_LE(loss->log_delta(Direction::remove, Interval::exactly(epsilon.hi)).hi, target.hi) << rate;
    EXPECT_GE(loss->log_delta(Direction::remove, Interval::exactly(epsilon.lo)).lo, target.lo) << rate;
  }
}

// If 1 - delta is below the range of doubles there is no saddle point. Still 1 is never the lower end, because something stays hidden.
TEST(Contour, NeverClaimsThatEverythingIsRevealed) {
  const auto loss = compose_by_contour({{subsampled_gaussian(Interval::exactly(8), Interval::exactly(0.5)), 4000}}, {});
  for (const Direction direction : {Direction::remove, Direction::add}) {
    const Interval delta = loss->delta(direction, Interval::exactly(1));
    EXPECT_LT(delta.lo, 1);
    EXPECT_GT(delta.lo, 1 - 1e-12);
  }
}

TEST(Contour, KnowsWhenNearlyEverythingIsRevealed) {
  for (const LossPointer& step :
       {subsampled_gaussian(Interval::exactly(1), Interval::exactly(0.5)),
        LossPointer(std::make_shared<SampledLoss>(gaussian_loss(Interval::exactly(1)), Interval::exactly(0.5)))}) {
    const Interval found = compose_by_contour({{step, 1'000'000'000}}, {})->log_delta(Direction::remove, Interval::exactly(50));
    EXPECT_GE(found.lo, -1e-15);
    EXPECT_LT(found.lo, 0);
    EXPECT_EQ(found.hi, 0);
  }
}

TEST(Contour, DeclinesWhatHasNoTransform) {
  const auto sampled = std::make_shared<PoissonLoss>(std::make_shared<LaplaceLoss>(Interval::exactly(1)), Interval::exactly(0.5));
  const Parts parts{{std::make_shared<SymmetrizedLoss>(sampled), 100}};
  EXPECT_EQ(compose_by_contour(parts, {}), nullptr);
}

/// Encloses the same delta by both, and the contour's is narrow.
void expect_agreement(const LossPointer& contour, const LossPointer& other, double epsilon, double width) {
  ASSERT_NE(contour, nullptr);
  for (const Direction direction : {Direction::remove, Direction::add}) {
    const Interval found = contour->log_delta(direction, Interval::exactly(epsilon));
    const Interval truth = other->log_delta(direction, Interval::exactly(epsilon));
    EXPECT_LE(found.lo, truth.hi) << epsilon;
    EXPECT_GE(found.hi, truth.lo) << epsilon;
    EXPECT_LE(found.width(), width) << epsilon;
  }
}

// [contour-recurrence] Laws of atoms alone, on no common lattice, against the list of all sums.
TEST(Contour, AtomsAloneAgreeWithTheirList) {
  const LossPointer response = std::make_shared<PoissonLoss>(randomized_response(Interval::exactly(1.25), 5), Interval::exactly(0.3));
  const LossPointer other = randomized_response(Interval::exactly(0.4375), 3);
  for (const std::uint64_t times : {17U, 60U, 241U}) {
    const Parts parts{{response, times}, {other, 40}};
    const LossPointer contour = compose_by_contour(parts), exact = compose_exactly(parts, {});
    for (const double epsilon : {0.25, 3.0, 7.5}) expect_agreement(contour, exact, epsilon, 1e-3);
  }
}

// [contour-recurrence] Many stretches of nodes, with a march between them.
TEST(Contour, AtomsAloneAreNarrow) {
  const Parts parts{{randomized_response(Interval::exactly(0.0625), 17), 600}, {randomized_response(Interval::exactly(0.3), 6), 300}};
  const LossPointer contour = compose_by_contour(parts), exact = compose_exactly(parts, {});
  for (const double epsilon : {0.0, 2.0, 8.0, 15.0}) expect_agreement(contour, exact, epsilon, 1e-7);
  for (const double delta : {0.3, 1e-5, 1e-9}) {
    const auto found = contour->closed_epsilon(Direction::remove, Interval::exactly(delta)),
               truth = exact->closed_epsilon(Direction::remove, Interval::exactly(delta));
    EXPECT_LE(found->lo, truth->hi) << delta;
    EXPECT_GE(found->hi, truth->lo) << delta;
    EXPECT_LE(found->width(), 1e-8 * truth->hi) << delta;
  }
}

// [atoms-transform] A sampled discrete Gaussian has atoms whose mass is hardly a double.
TEST(Contour, SampledDiscreteGaussianAgreesWithTheLattice) {
  const LossPointer step = std::make_shared<PoissonLoss>(discrete_gaussian(Interval::exactly(4), 1), Interval::exactly(0.125));
  const Parts parts{{step, 200}};
  const LossPointer contour = compose_by_contour(parts), lattice = compose_by_lattice(parts, {1e-3});
  for (const double epsilon : {0.25, 2.0}) expect_agreement(contour, lattice, epsilon, 1e-7);
}

// A law with slack may stand for a mechanism that answers nothing with that probability, in every step.
TEST(Contour, SlackOfMassesLowersDelta) {
  const double slack = 1e-3;
  const Atoms whole = *randomized_response(Interval::exactly(0.75), 3)->atoms(Direction::remove);
  Atoms doubtful = whole;
  doubtful.slack = slack;
  std::vector<Atom> rarer{{Interval::exactly(0), Interval::exactly(slack)}};
  for (const Atom& atom : whole.finite) rarer.push_back({atom.loss, atom.mass * (1 - slack)});
  const LossPointer found = compose_by_contour({{finite_loss(doubtful, "", {}), 60}});
  const LossPointer truth = compose_exactly({{finite_loss(make_atoms(rarer, whole.infinite, whole.other_infinite, true), "", {}), 60}}, {});
  ASSERT_NE(found, nullptr);
  for (const double epsilon : {1.0, 6.0}) {
    const Interval point = Interval::exactly(epsilon);
    EXPECT_LE(found->log_delta(Direction::remove, point).lo, truth->log_delta(Direction::remove, point).lo) << epsilon;
    EXPECT_GE(found->log_delta(Direction::remove, point).hi, truth->log_delta(Direction::remove, point).hi) << epsilon;
    const Interval delta = truth->delta(Direction::remove, point);
    EXPECT_LE(found->closed_epsilon(Direction::remove, delta)->lo, epsilon);
    EXPECT_GE(found->closed_epsilon(Direction::remove, delta)->hi, epsilon);
  }
}

// [contour-log-line] Between two points the line stays on the safe side, and is near if they are.
TEST(Contour, LinesStayOnTheSafeSideBetweenTwoPoints) {
  const Parts parts{{std::make_shared<LaplaceLoss>(Interval::exactly(0.5)), 200}};
  const LossPointer loss = compose_by_contour(parts);
  ASSERT_NE(loss, nullptr);
  int lines = 0;
  for (const LineOf of : {LineOf::delta, LineOf::complement})
    for (const double start : {0.5, 2.0, 8.0, 20.0})
      for (const double length : {0.01, 0.3, 2.0}) {
        const auto line = loss->log_line(of, Direction::remove, start, start + length);
        if (!line) continue;
        ++lines;
        for (int i = 0; i <= 8; ++i) {
          const double share = i / 8.0, at = line->at_start + (line->at_end - line->at_start) * share, epsilon = start + length * share;
          const double value = of == LineOf::delta ? loss->log_delta(Direction::remove, Interval::exactly(epsilon)).lo
                                                   : loss->log_complement(Direction::remove, epsilon).hi;
          const double above = (of == LineOf::delta ? at - value : value - at);
          EXPECT_GE(above, -1e-12 * std::abs(value)) << epsilon;
          if (length == 0.01) {
            EXPECT_LE(above, 1e-3) << epsilon;
          }
        }
      }
  EXPECT_GE(lines, 12);
}

// [contour-recurrence] Atoms hold e^-16 of the mass, so |phi| is as large again and again; the powers of the density know the truth.
TEST(Contour, WhatRecursIsAtMostItsAtoms) {
  const Parts parts{{std::make_shared<LaplaceLoss>(Interval::exactly(0.5)), 70}};
  const LossPointer contour = compose_by_contour(parts), powers = compose_by_density_powers(parts);
  ASSERT_NE(contour, nullptr);
  ASSERT_NE(powers, nullptr);
  for (const double epsilon : {0.3, 2.0, 5.0, 11.0, 16.0}) {
    const Interval point = Interval::exactly(epsilon);
    const Interval found = contour->log_delta(Direction::remove, point), truth = powers->log_delta(Direction::remove, point);
    EXPECT_LE(found.lo, truth.hi) << epsilon;
    EXPECT_GE(found.hi, truth.lo) << epsilon;
    EXPECT_LE(found.width(), 1e-8) << epsilon;
    EXPECT_FALSE(contour->log_line(LineOf::delta, Direction::remove, epsilon, epsilon + 0.1)) << epsilon;  // as long as a value, or longer
  }
}

// [contour-arc] Arcs cover a profile from 0 on, on both sides of its middle.
TEST(Contour, ArcsFollowTheProfile) {
  const Parts parts{{std::make_shared<LaplaceLoss>(Interval::exactly(0.5)), 400}};
  const LossPointer loss = compose_by_contour(parts);
  ASSERT_NE(loss, nullptr);
  int above = 0, below = 0;
  for (double start = 0; start < 120;) {
    const auto arc = loss->arc(Direction::remove, start, 150);
    ASSERT_TRUE(arc) << start;
    ASSERT_GT(arc->end, start);
    (arc->order > 0 ? above : below)++;
    for (std::size_t i = 0; i < Arc::size; ++i) {
      const double epsilon = std::max(arc->points[i], 0.0);
      const double log_value = arc->base - arc->order * epsilon + std::log(arc->values[i]);
      const Interval known = arc->order > 0 ? loss->log_delta(Direction::remove, Interval::exactly(epsilon))
                                            : Interval::exactly(loss->log_complement(Direction::remove, epsilon).lo);
      EXPECT_NEAR(log_value, known.lo, 1e-9 * (1 + std::abs(known.lo))) << epsilon;
    }
    start = arc->end;
  }
  EXPECT_GE(above, 2);
  EXPECT_GE(below, 1);
}

}  // namespace
}  // namespace tradeoff::detail
