// SPDX-License-Identifier: Apache-2.0
// [exact-composition] [atom-kernel] [multi-constraint-composition] [meet-in-the-middle] [sum-inversion]: golden values, explicit products
// of distributions, laws, and the faults of published code.
#include "engine/exact/exact.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "engine/exact/sum.h"
#include "engine/exact/table.h"
#include "engine/product_oracle.h"
#include "loss/evaluation.h"
#include "mechanism/constraints.h"
#include "mechanism/pair.h"
#include "mechanism/randomized_response.h"
#include "numeric/arithmetic.h"
#include "support/matchers.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

using test::Ball;
using test::Distribution;
using test::Encloses;
using test::golden_interval;
using test::IsTight;
using test::read_golden;

LossPointer constraints_from(const nlohmann::json& list) {
  std::vector<Guarantee> constraints;
  for (const auto& one : list) {
    if (one.is_array()) {
      constraints.push_back({golden_interval(one[0]), golden_interval(one[1])});
    } else {
      constraints.push_back({golden_interval(one["eps"]), golden_interval(one["delta"])});
    }
  }
  return std::make_shared<ConstraintsLoss>(constraints);
}

LossPointer dp(Interval epsilon, Interval delta) { return std::make_shared<ConstraintsLoss>(std::vector<Guarantee>{{epsilon, delta}}); }

void expect_profile(const Loss& loss, const nlohmann::json& expected, double width) {
  for (const auto& point : expected.at("delta")) {
    const Interval delta = loss.delta(Direction::remove, golden_interval(point["eps"]));
    EXPECT_THAT(delta, Encloses(point["delta"].get<std::string>())) << point;
    EXPECT_TRUE(delta.width() <= 1e-15 || ::testing::Value(delta, IsTight(width))) << point << delta.lo << " " << delta.hi;
  }
  if (!expected.contains("tradeoff")) return;
  for (const auto& point : expected.at("tradeoff")) {
    const Interval beta = *loss.closed_beta(Direction::remove, golden_interval(point["alpha"]));
    EXPECT_THAT(beta, Encloses(point["beta"].get<std::string>())) << point;
    EXPECT_TRUE(beta.width() <= 1e-15 || ::testing::Value(beta, IsTight(width))) << point << beta.lo << " " << beta.hi;
  }
}

Parts parts_from(const nlohmann::json& test) {
  const auto& inputs = test["inputs"];
  Parts parts;
  if (test["kind"] == "heterogeneous_composition") {
    for (const auto& group : inputs["groups"]) {
      const auto count = group["count"].get<std::uint64_t>();
      if (count > 0) parts.push_back({dp(golden_interval(group["eps"]), golden_interval(group["delta"])), count});
    }
  } else {
    parts.push_back({constraints_from(inputs["constraints"]), inputs["k"].get<std::uint64_t>()});
  }
  return parts;
}

TEST(ExactComposition, EnclosesTheGoldenCompositions) {
  const auto golden = read_golden("multiple_constraints.json");
  int cases = 0;
  for (const auto& test : golden["cases"]) {
    if (test["kind"] != "heterogeneous_composition" && test["kind"] != "multi_constraint_composition") continue;
    SCOPED_TRACE(test["id"].get<std::string>());
    const LossPointer composed = compose_exactly(parts_from(test), {});
    ASSERT_NE(composed, nullptr);
    expect_profile(*composed, test["expected"], 1e-10);
    ++cases;
  }
  EXPECT_EQ(cases, 43);
}

TEST(ExactComposition, ListsTheGoldenCorners) {
  int cases = 0;
  const auto golden = read_golden("multiple_constraints.json");
  for (const auto& test : golden["cases"]) {
    if (!test["expected"].contains("pairs")) continue;
    SCOPED_TRACE(test["id"].get<std::string>());
    const auto corners = *compose_exactly(parts_from(test), {})->guarantees(Direction::remove);
    for (const auto& pair : test["expected"]["pairs"]) {
      const test::Truth slope(pair[0].get<std::string>());
      const auto corner = std::find_if(corners.begin(), corners.end(), [&](const Guarantee& one) { return slope.is_in(one.epsilon); });
      ASSERT_NE(corner, corners.end()) << pair;
      EXPECT_THAT(corner->delta, Encloses(pair[1].get<std::string>())) << pair;
      EXPECT_TRUE(corner->delta.width() <= 1e-14 || ::testing::Value(corner->delta, IsTight(1e-10)));
    }
    EXPECT_EQ(corners.size(), test["expected"]["pairs"].size());
    ++cases;
  }
  EXPECT_EQ(cases, 4);
}

TEST(ExactComposition, EnclosesTheGoldenBoundsOfSmoothCurves) {
  int cases = 0;
  const auto check = [&](const nlohmann::json& expected, const nlohmann::json& constraints, std::uint64_t times) {
    expect_profile(*compose_exactly({{constraints_from(constraints), times}}, {}), expected, 1e-9);
    ++cases;
  };
  const auto golden = read_golden("multiple_constraints.json");
  for (const auto& test : golden["cases"]) {
    SCOPED_TRACE(test["id"].get<std::string>());
    if (test["kind"] == "kfold_bounds_of_smooth_f") {
      for (const char* side : {"below_published", "below_area_optimal", "above"})
        check(test["expected"][side], test["expected"][side]["constraints"], test["inputs"]["k"]);
    } else if (test["kind"] == "laplace_lattice_bounds") {
      check(test["expected"]["below"], test["expected"]["below"]["constraints"], test["inputs"]["k"]);
    }
  }
  EXPECT_EQ(cases, 13);
}

Interval golden_epsilon(const nlohmann::json& value) {
  if (!value.get<std::string>().starts_with("1/sqrt(")) return golden_interval(value);
  return 1 / sqrt(Interval::exactly(std::stod(value.get<std::string>().substr(7))));
}

TEST(ExactComposition, EnclosesGoldenRandomisedResponse) {
  for (const auto& test : test::golden_group("f_dp.json", "rr_delta")) {
    const auto& in = test["inputs"];
    const auto loss = compose_exactly({{dp(golden_epsilon(in["eps"]), Interval::exactly(0)), in["n"].get<std::uint64_t>()}}, {});
    const Interval delta = loss->delta(Direction::remove, golden_interval(in["t"]));
    EXPECT_THAT(delta, Encloses(test["value"].get<std::string>())) << test;
    EXPECT_TRUE(delta.width() < 1e-300 || ::testing::Value(delta, IsTight(1e-11))) << test;
  }
  for (const auto& test : test::golden_group("f_dp.json", "rr_f")) {
    const auto& in = test["inputs"];
    const auto loss = compose_exactly({{dp(golden_epsilon(in["eps"]), Interval::exactly(0)), in["n"].get<std::uint64_t>()}}, {});
    const Interval beta = *loss->closed_beta(Direction::remove, golden_interval(in["alpha"]));
    EXPECT_THAT(beta, Encloses(test["value"].get<std::string>())) << test;
    EXPECT_THAT(beta, IsTight(1e-11)) << test;
  }
  for (const auto& test : test::golden_group("f_dp.json", "rr_delta_eps_delta")) {
    const auto& in = test["inputs"];
    const auto loss = compose_exactly({{dp(golden_interval(in["eps"]), golden_interval(in["delta"])), in["n"].get<std::uint64_t>()}}, {});
    EXPECT_THAT(loss->delta(Direction::remove, golden_interval(in["t"])), Encloses(test["value"].get<std::string>())) << test;
  }
  for (const auto& test : test::golden_group("f_dp.json", "rr_het")) {
    Parts parts;
    for (const auto& epsilon : test["inputs"]["eps"]) parts.push_back({dp(golden_interval(epsilon), Interval::exactly(0)), 1});
    const Interval delta = compose_exactly(parts, {})->delta(Direction::remove, golden_interval(test["inputs"]["t"]));
    EXPECT_THAT(delta, Encloses(test["value"].get<std::string>())) << test;
    EXPECT_THAT(delta, IsTight(1e-12)) << test;
  }
}

/// A mechanism under test with its pair written out.
struct Known {
  LossPointer loss;
  Distribution pair;
};

class RandomPlan {
 public:
  explicit RandomPlan(unsigned seed) : random_(seed) {}

  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
  int whole(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  Known constraints() {
    std::vector<Guarantee> list;
    std::vector<std::pair<Ball, Ball>> balls;
    for (int i = whole(1, 3); i > 0; --i) {
      const double epsilon = whole(0, 5) == 0 ? 0 : uniform(0, 2);
      const double delta = whole(0, 2) == 0 ? 0 : uniform(0, 0.4);
      list.push_back({Interval::exactly(epsilon), Interval::exactly(delta)});
      balls.emplace_back(Ball(epsilon), Ball(delta));
    }
    return {std::make_shared<ConstraintsLoss>(list), test::pair_of_constraints(balls)};
  }

  Known response() {
    const double epsilon = uniform(0, 2);
    const int choices = whole(2, 5);
    const Ball truth = exp(Ball(epsilon)) / (exp(Ball(epsilon)) + Ball(choices - 1));
    const Ball lie = Ball(1) / (exp(Ball(epsilon)) + Ball(choices - 1));
    return {randomized_response(Interval::exactly(epsilon), static_cast<std::uint64_t>(choices)),
            {{truth, lie}, {lie, truth}, {lie * Ball(choices - 2), lie * Ball(choices - 2)}}};
  }

  /// Masses are sixteenths, so that they sum to 1 exactly and some ratios coincide.
  Known finite_pair() {
    const auto draw = [&] {
      std::vector<int> counts(4, 0);
      for (int i = 0; i < 16; ++i) ++counts[static_cast<std::size_t>(whole(0, 3))];
      return counts;
    };
    const auto p = draw();
    const auto q = draw();
    std::vector<Interval> p_masses;
    std::vector<Interval> q_masses;
    Distribution pair;
    for (std::size_t i = 0; i < p.size(); ++i) {
      p_masses.push_back(Interval::exactly(p[i] / 16.0));
      q_masses.push_back(Interval::exactly(q[i] / 16.0));
      pair.push_back({Ball(p[i] / 16.0), Ball(q[i] / 16.0)});
    }
    return {pair_loss(p_masses, q_masses), pair};
  }

  Known any() {
    switch (whole(0, 2)) {
      case 0:
        return constraints();
      case 1:
        return response();
      default:
        return finite_pair();
    }
  }

 private:
  std::mt19937 random_;
};

void expect_as_written_out(const Loss& loss, Direction direction, const Distribution& pair, RandomPlan& random) {
  for (int i = 0; i < 6; ++i) {
    const double epsilon = i == 0 ? 0 : random.uniform(-3, 5);
    const Interval delta = loss.delta(direction, Interval::exactly(epsilon));
    EXPECT_TRUE(test::holds(delta, test::delta_of(pair, Ball(epsilon)))) << ::testing::PrintToString(delta) << " at " << epsilon;
    EXPECT_TRUE(delta.width() < 1e-14 || ::testing::Value(delta, IsTight(1e-9))) << ::testing::PrintToString(delta) << " at " << epsilon;
    const double alpha = i == 0 ? 0 : i == 1 ? 1 : random.uniform(0, 1);
    if (const auto beta = loss.closed_beta(direction, Interval::exactly(alpha))) {
      EXPECT_TRUE(test::holds(*beta, test::beta_of(pair, Ball(alpha)))) << ::testing::PrintToString(*beta) << " at " << alpha;
      EXPECT_TRUE(beta->width() < 1e-12) << ::testing::PrintToString(*beta) << " at " << alpha;
    }
    const double target = random.uniform(0, 0.5);
    if (const auto least = loss.closed_epsilon(direction, Interval::exactly(target)); least && least->hi < infinity) {
      EXPECT_FALSE(test::certainly_less(Ball(target), test::delta_of(pair, Ball(least->hi)))) << target;
      EXPECT_TRUE(least->lo == 0 || !test::certainly_less(test::delta_of(pair, Ball(least->lo)), Ball(target))) << target;
      EXPECT_LE(least->width(), 1e-9 * (1 + least->hi)) << target;
    }
  }
}

TEST(ExactComposition, EqualsExplicitProductsOfRandomPlans) {
  Ball::precision = 200;
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomPlan random(seed);
    Parts parts;
    Distribution product{{Ball(1), Ball(1)}};
    while (product.size() < 200) {
      const Known known = random.any();
      const int times = random.whole(1, 3);
      if (static_cast<double>(product.size()) * std::pow(static_cast<double>(known.pair.size()), times) > 4000) break;
      parts.push_back({known.loss, static_cast<std::uint64_t>(times)});
      product = test::multiply(product, test::power(known.pair, times));
    }
    if (parts.empty()) continue;
    const LossPointer composed = compose_exactly(parts, {});
    ASSERT_NE(composed, nullptr);
    expect_as_written_out(*composed, Direction::remove, product, random);
    expect_as_written_out(*composed, Direction::add, test::swapped(product), random);
  }
}

// --- laws ---

TEST(ExactComposition, DoesNotDependOnOrderOrGrouping) {
  const LossPointer a = dp(Interval::exactly(0.7), Interval::exactly(1e-5));
  const LossPointer b = dp(Interval::exactly(0.31), Interval::exactly(0));
  const LossPointer c = std::make_shared<ConstraintsLoss>(
      std::vector<Guarantee>{{Interval::exactly(1.1), Interval::exactly(0)}, {Interval::exactly(0.31), Interval::exactly(0.1)}});
  const LossPointer all = compose_exactly({{a, 3}, {b, 4}, {c, 2}}, {});
  const LossPointer shuffled = compose_exactly({{c, 1}, {b, 1}, {a, 3}, {c, 1}, {b, 3}}, {});
  const LossPointer nested = compose_exactly({{compose_exactly({{a, 3}, {b, 4}}, {}), 1}, {c, 2}}, {});
  for (const double epsilon : {-2.0, 0.0, 0.4, 1.3, 3.9}) {
    const Interval expected = all->delta(Direction::remove, Interval::exactly(epsilon));
    EXPECT_THAT(shuffled->delta(Direction::remove, Interval::exactly(epsilon)), Encloses(expected));
    EXPECT_THAT(nested->delta(Direction::remove, Interval::exactly(epsilon)), Encloses(expected));
    EXPECT_THAT(expected, IsTight(1e-11));
  }
}

TEST(ExactComposition, MirrorsSymmetricProfiles) {
  const LossPointer loss = compose_exactly(
      {{dp(Interval::exactly(0.7), Interval::exactly(1e-3)), 5}, {dp(Interval::exactly(0.2), Interval::exactly(0)), 9}}, {});
  for (const double epsilon : {0.1, 0.5, 1.7, 4.4, 5.3, 6.0}) {
    const Interval delta = loss->delta(Direction::remove, Interval::exactly(epsilon));
    const Interval mirrored = 1 - exp(Interval::exactly(-epsilon)) * (1 - delta);
    EXPECT_THAT(loss->delta(Direction::remove, Interval::exactly(-epsilon)), Encloses(mirrored));
  }
}

TEST(ExactComposition, OfTotalVariationIsTheKnownTheorem) {
  // eta and (epsilon, 0): runs are epsilon-randomised response with probability eta (e^epsilon + 1) / (e^epsilon - 1), else nothing.
  const double epsilon = 0.8;
  const double eta = 0.2;
  const LossPointer both = std::make_shared<ConstraintsLoss>(
      std::vector<Guarantee>{{Interval::exactly(epsilon), Interval::exactly(0)}, {Interval::exactly(0), Interval::exactly(eta)}});
  const LossPointer composed = compose_exactly({{both, 6}}, {});
  Ball::precision = 200;
  const Ball odds = exp(Ball(epsilon));
  const Ball weight = Ball(eta) * (odds + Ball(1)) / (odds - Ball(1));
  const Distribution one{{weight * odds / (odds + Ball(1)), weight / (odds + Ball(1))},
                         {weight / (odds + Ball(1)), weight * odds / (odds + Ball(1))},
                         {Ball(1) - weight, Ball(1) - weight}};
  RandomPlan random(1);
  expect_as_written_out(*composed, Direction::remove, test::power(one, 6), random);
}

// --- faults of published code, each a regression ---

TEST(ExactComposition, KeepsTheSlopeZero) {
  // A ceiling of a rounded quotient would lose it at these counts.
  for (const std::uint64_t times : {5U, 7U, 10U}) {
    const LossPointer loss = compose_exactly({{constraints_from(nlohmann::json::parse(R"([["1.2","0"],["0.6","0.2"]])")), times}}, {});
    EXPECT_TRUE(loss->guarantees(Direction::remove)->back().epsilon.contains(0)) << times;
  }
}

TEST(ExactComposition, JoinsSlopesThatAreEqualAsDecimals) {
  const LossPointer loss = compose_exactly({{constraints_from(nlohmann::json::parse(R"([["1.2","0"],["0.6","0.2"]])")), 50}}, {});
  EXPECT_EQ(loss->guarantees(Direction::remove)->size(), 101U);  // 0, 0.6, ..., 60
  const LossPointer mixed =
      compose_exactly({{dp(golden_interval("0.6"), Interval::exactly(0)), 10}, {dp(golden_interval("0.2"), Interval::exactly(0)), 10}}, {});
  EXPECT_EQ(mixed->guarantees(Direction::remove)->size(), 21U);  // 0, 0.4, ..., 8
}

/// A law as it is listed, and one that it may stand for: losses within the shift, masses within the spread, an atom that is not listed.
struct ListedAndTrue {
  exact::Law listed;
  std::vector<std::pair<double, double>> atoms;  // loss and mass, in decreasing order of loss
  double infinite = 0, other_infinite = 1;       // P(L = inf), Q(L = -inf)
};
ListedAndTrue any_law(std::mt19937_64& random, double scale, double shift) {
  std::uniform_real_distribution<double> uniform(0, 1);
  ListedAndTrue law;
  const std::size_t count = 1 + random() % 5;
  const double spread = uniform(random) < 0.5 ? 0 : 0.01, lost = uniform(random) < 0.5 ? 0 : 0.02;
  for (std::size_t i = 0; i < count; ++i) law.listed.points.push_back({scale * uniform(random), (0.9L * uniform(random)) / count});
  const auto falling = [](const exact::Point& a, const exact::Point& b) { return a.loss > b.loss; };
  std::sort(law.listed.points.begin(), law.listed.points.end(), falling);
  law.listed.shift = shift;
  law.listed.spread = spread;
  law.listed.lost = lost;
  law.listed.highest = scale + shift;
  const auto either = [&](double most) { return most * (2 * uniform(random) - 1); };
  for (const exact::Point& point : law.listed.points)
    law.atoms.emplace_back(std::max(0.0, point.loss + either(shift)), static_cast<double>(point.mass) * std::exp(either(spread)));
  law.atoms.emplace_back(scale * uniform(random), lost * uniform(random));
  std::sort(law.atoms.begin(), law.atoms.end(), std::greater<>());
  double finite = 0;
  for (const auto& [loss, mass] : law.atoms) {
    finite += mass;
    law.other_infinite -= mass * std::exp(-loss);
  }
  law.infinite = 1 - finite;
  return law;
}

/// The Neyman-Pearson test of a list: reject from the largest loss on while its mass under Q lasts.
double least_miss(const std::vector<std::pair<double, double>>& atoms, double alpha) {
  double missed = 0;
  for (const auto& [loss, mass] : atoms) {
    const double accused = mass * std::exp(-loss), rejected = alpha <= 0 ? 0 : accused <= alpha ? 1 : alpha / accused;
    missed += mass * (1 - rejected);
    alpha -= std::min(alpha, accused);
  }
  return missed;
}

// [atom-kernel] Losses so large that their chance under Q is no double, and so uncertain that no level is known by its factor.
TEST(ExactTable, EnclosesTypeTwoErrorsOfUncertainLosses) {
  std::mt19937_64 random(41);
  for (int i = 0; i < 2000; ++i) {
    const double scale = std::pow(10, static_cast<double>(random() % 9)), shift = scale * std::array{0.0, 1e-3, 0.1}[random() % 3];
    const ListedAndTrue law = any_law(random, scale, shift);
    const auto near = [](double value) { return Interval{std::max(0.0, value - 1e-15), value + 1e-15}; };
    const exact::Table table(law.listed, {near(law.infinite), near(law.other_infinite), {1, 1}, 0});
    for (const double alpha : {0.0, 1e-300, 1e-9, 0.01, 0.5, 0.99}) {
      const Interval beta = table.beta(Interval::exactly(alpha));
      EXPECT_THAT((Interval{beta.lo - 1e-12, beta.hi + 1e-12}), Encloses(least_miss(law.atoms, alpha)))
          << "scale " << scale << ", shift " << shift << ", alpha " << alpha << ", " << i;
    }
  }
}

TEST(ExactTable, KnowsThatALevelOfZeroRejectsNoFiniteLoss) {
  exact::Law law;
  law.points = {{1e308, 1}};
  law.shift = 1e292;
  law.highest = law.lowest = 1e308;
  EXPECT_THAT(exact::Table(law, {{0, 0}, {1, 1}, {1, 1}, 0}).beta(Interval::exactly(0)), AllOf(Encloses(1), IsTight(1e-12)));
  // Losses above log(1/alpha) are rejected together, however uncertain they are.
  law.points = {{1e6, 0.75L}, {0, 0.25L}};
  law.shift = 1e5;
  law.highest = 1.1e6;
  law.lowest = 0;
  const exact::Table table(law, {{0, 0}, {0.75, 0.75}, {1, 1}, 0});
  EXPECT_LE(table.beta(Interval::exactly(1e-300)).hi, 0.25 + 1e-12);
  EXPECT_THAT(table.beta(Interval::exactly(0)), AllOf(Encloses(1), IsTight(1e-12)));
}

TEST(ExactComposition, AnswersForHugeLosses) {
  // 20 + 20 mechanisms of epsilon 20: sums of losses pass 709, where exp of a double overflows.
  const LossPointer loss =
      compose_exactly({{dp(Interval::exactly(20), Interval::exactly(0)), 20}, {dp(Interval::exactly(20.5), Interval::exactly(0)), 20}}, {});
  Ball::precision = 4000;
  const auto response = [](double epsilon) {
    const Ball odds = exp(Ball(epsilon));
    return Distribution{{odds / (odds + Ball(1)), Ball(1) / (odds + Ball(1))}, {Ball(1) / (odds + Ball(1)), odds / (odds + Ball(1))}};
  };
  // Only the count of heads of each kind matters: binomials by repeated multiplication, like outcomes joined.
  const auto counted = [&](double epsilon) {
    Distribution law{{Ball(1), Ball(1)}};
    for (int i = 0; i < 20; ++i) {
      Distribution next(law.size() + 1, {Ball(0), Ball(0)});
      for (std::size_t j = 0; j < law.size(); ++j) {
        for (std::size_t s = 0; s < 2; ++s) {
          next[j + s].p = next[j + s].p + law[j].p * response(epsilon)[s].p;
          next[j + s].q = next[j + s].q + law[j].q * response(epsilon)[s].q;
        }
      }
      law = next;
    }
    return law;
  };
  const Distribution pair = test::multiply(counted(20), counted(20.5));
  for (const double epsilon : {0.0, 400.0, 730.0, 808.0, 809.9}) {
    const Interval delta = loss->delta(Direction::remove, Interval::exactly(epsilon));
    EXPECT_TRUE(test::holds(delta, test::delta_of(pair, Ball(epsilon)))) << epsilon;
    EXPECT_THAT(delta, IsTight(1e-11)) << epsilon;
  }
  for (const double alpha : {1e-300, 1e-12, 0.3}) {
    const Interval beta = *loss->closed_beta(Direction::remove, Interval::exactly(alpha));
    EXPECT_TRUE(test::holds(beta, test::beta_of(pair, Ball(alpha)))) << alpha;
  }
  Ball::precision = 200;
}

TEST(ExactComposition, EnclosesDeltaFarBelowTheSmallestDouble) {
  // The largest loss of 1200 responses is 120; just below it delta is about e^-830 of nothing but the top atom.
  const double epsilon = 0.1;
  const std::uint64_t times = 1200;
  const LossPointer loss = compose_exactly({{dp(Interval::exactly(epsilon), Interval::exactly(0)), times}}, {});
  Ball::precision = 400;
  const double at = 119.9;
  const Ball top = Ball(static_cast<double>(times)) * Ball(epsilon);
  const Ball log_mass = -Ball(static_cast<double>(times)) * log1p(exp(-Ball(epsilon)));
  const Ball truth = log_mass + log(Ball(1) - exp(Ball(at) - top));
  const Interval log_delta = loss->log_delta(Direction::remove, Interval::exactly(at));
  EXPECT_TRUE(test::holds(log_delta, truth)) << ::testing::PrintToString(log_delta) << " " << test::to_double(truth);
  EXPECT_LE(log_delta.width(), 1e-9);
  EXPECT_EQ(loss->delta(Direction::remove, Interval::exactly(at)).lo, 0);
  EXPECT_EQ(loss->delta(Direction::remove, Interval::exactly(121)), Interval::exactly(0));
  Ball::precision = 200;
}

// Where delta rounds to 1 the complement keeps its digits: a sum of binomial masses, in one list and in two.
TEST(ExactComposition, EnclosesTheComplementOfAPlanThatRevealsNearlyEverything) {
  const double epsilon = 1.12;
  const std::uint64_t times = 363;
  Ball::precision = 400;
  const Ball odds = exp(Ball(epsilon)), chance = odds / (Ball(1) + odds);
  const auto truth_at = [&](double at) {
    Ball sum(0), mass = exp(Ball(static_cast<double>(times)) * log1p(-chance));  // of no response with the positive loss
    for (std::uint64_t k = 0; k <= times; ++k) {
      const double surplus = 2 * static_cast<double>(k) - static_cast<double>(times);
      const double loss = surplus * epsilon;
      sum = sum + (loss < at ? mass : mass * exp(Ball(at) - Ball(surplus) * Ball(epsilon)));
      mass = mass * Ball(static_cast<double>(times - k)) / Ball(static_cast<double>(k + 1)) * odds;
    }
    return log(sum);
  };
  const LossPointer loss = compose_exactly({{dp(Interval::exactly(epsilon), Interval::exactly(0)), times}}, {});
  for (const double at : {0.0, 1.7, 30.0, 120.0, 180.0}) {
    const Interval found = loss->log_complement(Direction::remove, at);
    EXPECT_TRUE(test::holds(found, truth_at(at))) << at << ' ' << ::testing::PrintToString(found) << ' ' << test::to_double(truth_at(at));
    EXPECT_LE(found.width(), 1e-9) << at;
  }
  EXPECT_LT(loss->log_complement(Direction::remove, 0).hi, -37);  // 1 - delta is far below the rounding of delta
  Ball::precision = 200;
}

TEST(ExactComposition, IsValidNextToTheLargestLoss) {
  // Losses are rounded sums: at distance 1e-14 from the largest, a kernel that takes them as exact has a relative error of 1.
  const LossPointer loss =
      compose_exactly({{dp(golden_interval("0.7"), Interval::exactly(0)), 60}, {dp(golden_interval("0.3"), Interval::exactly(0)), 60}}, {});
  Ball::precision = 400;
  const Ball e7 = Ball(7) / Ball(10);
  const Ball e3 = Ball(3) / Ball(10);
  const Ball top = Ball(60) * (e7 + e3);
  const Ball mass = exp(-Ball(60) * (log1p(exp(-e7)) + log1p(exp(-e3))));
  for (const double distance : {1e-3, 1e-9, 1e-13, 1e-14}) {
    const double at = 60 - distance;
    const Interval delta = loss->delta(Direction::remove, Interval::exactly(at));
    EXPECT_TRUE(test::holds(delta, mass * (Ball(1) - exp(Ball(at) - top)))) << distance << " " << ::testing::PrintToString(delta);
  }
  EXPECT_THAT(loss->delta(Direction::remove, Interval::exactly(60 - 1e-3)), IsTight(1e-9));
  Ball::precision = 200;
}

TEST(ExactComposition, StaysTightNextToAnInactiveConstraint) {
  // The weight of the second constraint is about 1e-9 and known to seven digits only; then k-fold ratios of masses are useless.
  const double second = std::tanh(0.5) - 2.5e-10;
  const std::vector<Guarantee> list{{Interval::exactly(1), Interval::exactly(0)}, {Interval::exactly(0), Interval::exactly(second)}};
  const LossPointer loss = compose_exactly({{std::make_shared<ConstraintsLoss>(list), 4}}, {});
  Ball::precision = 300;
  const Distribution pair = test::power(test::pair_of_constraints({{Ball(1), Ball(0)}, {Ball(0), Ball(second)}}), 4);
  for (const double epsilon : {-1.0, 0.0, 0.5, 1.7, 3.3}) {
    const Interval delta = loss->delta(Direction::remove, Interval::exactly(epsilon));
    EXPECT_TRUE(test::holds(delta, test::delta_of(pair, Ball(epsilon)))) << epsilon;
    EXPECT_THAT(delta, IsTight(1e-10)) << epsilon;
  }
  Ball::precision = 200;
}

// --- sizes ---

Parts many(int count, double largest, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> epsilon(0, largest);
  Parts parts;
  for (int i = 0; i < count; ++i) parts.push_back({dp(Interval::exactly(epsilon(random)), Interval::exactly(i % 3 == 0 ? 1e-9 : 0)), 1});
  return parts;
}

TEST(ExactComposition, ByHalvesEqualsTheList) {
  const Parts half = many(12, 0.5, 3);
  Parts all = half;
  const Parts other = many(12, 0.4, 4);
  all.insert(all.end(), other.begin(), other.end());
  EXPECT_EQ(exact_size(half).way, ExactWay::list);
  EXPECT_EQ(exact_size(all).way, ExactWay::halves);
  const LossPointer halves = compose_exactly(all, {});
  // The same composition from two nested lists is not available: compare with the transform and with a sum.
  const LossPointer one = compose_exactly(half, {});
  const LossPointer two = compose_exactly(other, {});
  for (const double epsilon : {-0.5, 0.0, 0.7, 2.0, 3.5}) {
    const Interval delta = halves->delta(Direction::remove, Interval::exactly(epsilon));
    // delta of a product is the mean of one delta at epsilon minus the other loss.
    Interval mean = one->infinite_mass(Direction::remove);
    for (const Atom& atom : one->atoms(Direction::remove)->finite)
      mean = mean + atom.mass * two->delta(Direction::remove, epsilon - atom.loss);
    EXPECT_THAT(delta, Encloses(mean));
    EXPECT_THAT(delta, IsTight(1e-10));
    const auto test = halves->test_at(Direction::remove, epsilon);
    const Interval gain = test->true_positive - exp(Interval::exactly(epsilon)) * test->false_positive;
    EXPECT_THAT(gain, Encloses(delta));
    EXPECT_THAT(exp(halves->log_delta(Direction::remove, Interval::exactly(epsilon))), Encloses(delta));
    const auto complement = halves->capabilities(Direction::remove).closed_forms->log_complement(Direction::remove, epsilon);
    ASSERT_TRUE(complement.has_value());
    EXPECT_THAT(1.0 - exp(*complement), Encloses(delta));
    EXPECT_LE(complement->width(), 1e-9);
  }
  EXPECT_TRUE(halves->symmetric());
  const Interval kept = (1.0 - one->infinite_mass(Direction::remove)) * (1.0 - two->infinite_mass(Direction::remove));
  EXPECT_THAT(halves->infinite_mass(Direction::remove), Encloses(1.0 - kept));
  EXPECT_EQ(halves->tail().kind, TailKind::floor);
}

// The description for certificates: the returned enclosure, and errors that add up to its width.
void expect_account(const Loss& loss, const std::string& theorem, const std::string& count, double epsilon) {
  for (const Direction direction : {Direction::remove, Direction::add}) {
    const std::vector<Evaluation> found = evaluations_of(loss, direction, epsilon);
    ASSERT_EQ(found.size(), 1U);
    const Evaluation& one = found.front();
    EXPECT_EQ(one.theorem, theorem);
    const Interval answered = loss.log_delta(direction, Interval::exactly(epsilon));
    EXPECT_LE(one.log_delta.lo, answered.lo);
    EXPECT_GE(one.log_delta.hi, answered.hi);
    ASSERT_EQ(one.counts.size(), 1U);
    EXPECT_EQ(one.counts.front().first, count);
    EXPECT_GT(one.counts.front().second, 0U);
    double sum = 0;
    for (const auto& [name, error] : one.errors) {
      EXPECT_GE(error, 0) << name;
      sum += error;
    }
    EXPECT_GT(sum, 0);
    EXPECT_LE(sum, std::expm1(one.log_delta.width()) * (1 + 1e-9) + 1e-14);
  }
}

TEST(ExactComposition, DescribesHalvesAndInversion) {
  const LossPointer halves = compose_exactly(many(24, 0.5, 3), {});
  expect_account(*halves, "meet-in-the-middle", "atoms", 0.7);
  EXPECT_EQ(evaluations_of(*halves, Direction::remove, 0.7).front().counts.front().second, std::uint64_t{1} << 24);
  const LossPointer inverted = compose_by_inversion(many(40, 0.3, 17), Tolerance{1e-3});
  expect_account(*inverted, "sum-inversion", "nodes", 0.5);
  EXPECT_TRUE(inverted->symmetric());
  EXPECT_EQ(inverted->tail().kind, TailKind::floor);
}

TEST(ExactComposition, ByInversionEnclosesMechanismsThatAreRunSeveralTimes) {
  Parts parts = many(20, 0.5, 21);
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i].times = 1 + i % 2;
  const LossPointer exact = compose_exactly(parts, {}), inverted = compose_by_inversion(parts, Tolerance{1e-3});
  for (const double epsilon : {0.0, 0.5, 2.0})
    EXPECT_THAT(inverted->delta(Direction::remove, Interval::exactly(epsilon)),
                Encloses(exact->delta(Direction::remove, Interval::exactly(epsilon))))
        << epsilon;
}

TEST(ExactComposition, ByInversionEnclosesTheExactAnswer) {
  for (const auto& [count, largest] : {std::pair{30, 0.5}, std::pair{36, 0.1}}) {
    const Parts parts = many(count, largest, 9);
    const LossPointer exact = compose_exactly(parts, {});
    const LossPointer inverted = compose_by_inversion(parts, Tolerance{1e-3});
    for (const double epsilon : {-1.0, -0.1, 0.0, 0.2, 0.9, 2.5}) {
      const Interval truth = exact->delta(Direction::remove, Interval::exactly(epsilon));
      const Interval delta = inverted->delta(Direction::remove, Interval::exactly(epsilon));
      EXPECT_LE(delta.lo, truth.lo) << epsilon;
      EXPECT_GE(delta.hi, truth.hi) << epsilon;
    }
  }
}

// Smoothing makes the answer tight. Both sides must still be valid for the listed distribution, at its corners and between them.
TEST(ExactComposition, BySmoothedInversionIsTightAndHoldsTheExactAnswer) {
  for (const auto& [count, largest] : {std::pair{40, 0.3}, std::pair{36, 1.0}}) {
    const Parts parts = many(count, largest, 17);
    const LossPointer exact = compose_exactly(parts, {}), inverted = compose_by_inversion(parts, Tolerance{1e-3});
    double spread = 0;
    for (const Part& part : parts) spread += std::pow(part.loss->atoms(Direction::remove)->finite.front().loss.hi, 2);
    for (const double deviations : {0.0, 1.0, 2.5}) {
      const double epsilon = deviations * std::sqrt(spread);
      const Interval truth = exact->delta(Direction::remove, Interval::exactly(epsilon));
      const Interval delta = inverted->delta(Direction::remove, Interval::exactly(epsilon));
      EXPECT_THAT(delta, Encloses(truth)) << count << " " << epsilon;
      EXPECT_THAT(delta, IsTight(3e-3)) << count << " " << epsilon;
      const auto found = inverted->closed_epsilon(Direction::remove, truth);
      ASSERT_TRUE(found.has_value());
      EXPECT_LE(found->lo, epsilon);
      EXPECT_GE(found->hi, epsilon);
      EXPECT_LE(found->width(), 1e-2);
    }
  }
}

// Next to the largest sum of losses only one atom is above epsilon, so delta is known; the smoothing window is wider than that.
TEST(ExactComposition, BySmoothedInversionIsValidNextToTheLargestLoss) {
  Parts parts;
  Interval top = Interval::exactly(0), mass = Interval::exactly(1);
  for (int i = 0; i < 24; ++i) {
    const Interval epsilon = Interval::exactly(0.25 + 0.001 * i * std::sqrt(2.0));
    parts.push_back({dp(epsilon, Interval::exactly(0)), 1});
    top = top + epsilon;
    mass = mass / (1.0 + exp(-epsilon));
  }
  for (const double tolerance : {1e-1, 1e-3, 1e-6}) {
    const LossPointer inverted = compose_by_inversion(parts, Tolerance{tolerance});
    for (const double gap : {0.2, 1e-1, 1e-2, 1e-3, 1e-4, 1e-6}) {
      const Interval epsilon = Interval::exactly(top.lo - gap);
      EXPECT_THAT(inverted->delta(Direction::remove, epsilon), Encloses(mass * -expm1(epsilon - top))) << tolerance << " " << gap;
    }
  }
}

TEST(ExactComposition, OfAnyNumberOfDistinctMechanismsIsTight) {
  for (const int count : {50, 70, 100}) {
    const Parts parts = many(count, 0.3, 5);
    EXPECT_EQ(exact_size(parts).way, ExactWay::inversion);
    const LossPointer loss = compose_exactly(parts, {});
    const auto epsilon = loss->closed_epsilon(Direction::remove, loss->infinite_mass(Direction::remove) + 1e-6);
    ASSERT_TRUE(epsilon.has_value());
    EXPECT_THAT(*epsilon, IsTight(1e-5)) << count;
    EXPECT_THAT(loss->delta(Direction::remove, Interval::exactly(epsilon->lo)), IsTight(1e-4)) << count;
  }
}

TEST(ExactComposition, OfThousandsOfDistinctMechanismsIsTight) {
  const Parts parts = many(5000, 0.05, 11);
  EXPECT_EQ(exact_size(parts).way, ExactWay::inversion);
  const LossPointer loss = compose_exactly(parts, Tolerance{1e-4});
  const Interval near = loss->delta(Direction::remove, Interval::exactly(11.4));  // about 1e-6 above the infinite mass
  EXPECT_THAT(near, IsTight(1e-4));
  EXPECT_GT(near.lo, 1e-7);
  EXPECT_LT(near.hi, 1e-5);
}

TEST(ExactComposition, RefusesWhatIsTooLargeAtOnce) {
  const LossPointer three = std::make_shared<ConstraintsLoss>(std::vector<Guarantee>{{Interval::exactly(1.50001), Interval::exactly(0)},
                                                                                     {Interval::exactly(0.9), Interval::exactly(0.05)},
                                                                                     {Interval::exactly(0.35), Interval::exactly(0.2)}});
  EXPECT_THROW((void)compose_exactly({{three, 1'000'000'000'000}}, {}), TooLargeError);
  EXPECT_THROW((void)compose_exactly({{three, 5000}}, {}), TooLargeError);
}

}  // namespace
}  // namespace tradeoff::detail
