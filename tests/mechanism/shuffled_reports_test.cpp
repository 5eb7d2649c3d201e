// SPDX-License-Identifier: Apache-2.0
// [shuffled-reports] [lattice-pair]
#include "mechanism/shuffled_reports.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "mechanism/randomized_response.h"
#include "mechanism/words.h"
#include "numeric/arithmetic.h"
#include "plan/arguments.h"
#include "support/matchers.h"
#include "tradeoff/analyze.h"
#include "tradeoff/calibrate.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;

std::string spelled(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

TEST(ShuffledReports, ClonePairHasTheGoldenProfile) {
  for (const auto& entry : test::golden_group("selection.json", "shuffle_clone")) {
    const auto& in = entry["inputs"];
    const LossPointer loss =
        shuffled_loss(clone_law(test::golden_interval(in["epsilon0"]), in["users"].get<std::uint64_t>()), ComposedBy::pair_above);
    const Interval found = loss->delta(Direction::remove, test::golden_interval(in["e"]));
    EXPECT_THAT(found, Encloses(entry["value"].get<std::string>())) << entry["id"];
    EXPECT_LE(found.hi, std::stod(entry["value"].get<std::string>()) * 1.0001) << entry["id"];
  }
}

TEST(ShuffledReports, BlanketPairHasTheGoldenProfile) {
  for (const auto& entry : test::golden_group("selection.json", "shuffle_krr")) {
    const auto& in = entry["inputs"];
    const ReportLaw law =
        blanket_law(test::golden_interval(in["epsilon0"]), in["users"].get<std::uint64_t>(), in["choices"].get<std::uint64_t>());
    const Interval found = shuffled_loss(law, ComposedBy::pair_above)->delta(Direction::remove, test::golden_interval(in["e"]));
    EXPECT_THAT(found, Encloses(entry["value"].get<std::string>())) << entry["id"];
    EXPECT_LE(found.width(), 1e-11 * found.hi) << entry["id"];
  }
}

TEST(ShuffledReports, AnswersContainTheGoldenUpperEnds) {
  for (const auto& entry : test::golden_group("selection.json", "shuffle_clone")) {
    const auto& in = entry["inputs"];
    const Curve curve = analyze(parse("shuffled_reports(epsilon=" + spelled(in["epsilon0"]) + ", users=" + spelled(in["users"]) + ")"));
    const double truth = std::stod(entry["value"].get<std::string>());
    const Interval found = curve.delta_at(test::golden_interval(in["e"]));
    EXPECT_GE(found.hi, truth) << entry["id"];
    EXPECT_LE(found.hi, truth * 1.0001) << entry["id"];
    EXPECT_LE(found.lo, truth) << entry["id"];
    EXPECT_GT(found.lo, 0) << entry["id"];
  }
}

// Fewer clones hide less: each report is a clone with chance exp(-epsilon0) only, which another proof gives.
TEST(ShuffledReports, AnswersAreBelowTheWeakerPair) {
  for (const auto& entry : test::golden_group("selection.json", "shuffle_clone_weak")) {
    const auto& in = entry["inputs"];
    const Curve curve = analyze(parse("shuffled_reports(epsilon=" + spelled(in["epsilon0"]) + ", users=" + spelled(in["users"]) + ")"));
    EXPECT_LE(curve.delta_at(test::golden_interval(in["e"])).hi, std::stod(entry["value"].get<std::string>())) << entry["id"];
  }
}

// The sum over all cells at sizes at which differences of log-gamma functions lose their digits; values of the checked prototype.
TEST(ShuffledReports, ABillionUsersAreAnsweredToFourDigits) {
  const auto upper = [](const char* plan, double epsilon) { return analyze(parse(plan)).delta_at(Interval::exactly(epsilon)).hi; };
  const auto expect_near = [](double found, double below, double above) {
    EXPECT_GE(found, below);
    EXPECT_LE(found, above * 1.001);
  };
  expect_near(upper("shuffled_reports(1, 1e9)", 2e-4), 1.927026e-12, 1.927081e-12);
  expect_near(upper("shuffled_reports(4, 1e9)", 1e-3), 8.26656e-8, 8.26714e-8);
  expect_near(upper("shuffled_reports(10, 1e9)", 0.02), 2.443237e-6, 2.443394e-6);
  expect_near(upper("shuffled_reports(4, 1e6)", 0.02), 9.5117e-5, 9.51171e-5);
}

// Shuffling is post-processing: no epsilon exceeds that of one report, even where hardly any clone hides it.
TEST(ShuffledReports, NoEpsilonExceedsThatOfOneReport) {
  for (const char* const epsilon : {"0.5", "20", "37", "50", "499"}) {
    const std::string plan = std::string("shuffled_reports(") + epsilon + ", 1e9";
    EXPECT_LE(analyze(parse(plan + ")")).epsilon_at(1e-6).hi, std::stod(epsilon));
    EXPECT_LE(analyze(parse(plan + ", randomizer=randomized_response, choices=4)")).epsilon_at(1e-6).hi, std::stod(epsilon));
  }
}

/// The profile of the counts of answers by randomised response, for given values of the other users, by the sum over all their answers.
double delta_by_enumeration(double epsilon0, std::uint64_t choices, const std::vector<std::uint64_t>& others, double epsilon) {
  const double p = 1 / (std::exp(epsilon0) + static_cast<double>(choices) - 1);
  std::map<std::vector<int>, std::pair<double, double>> laws;
  std::vector<std::uint64_t> answers(others.size() + 1, 0);
  for (;;) {
    double with = 1;
    std::vector<int> counts(choices, 0);
    for (std::size_t i = 0; i < others.size(); ++i) {
      with *= answers[i] == others[i] ? p * std::exp(epsilon0) : p;
      ++counts[answers[i]];
    }
    ++counts[answers.back()];
    auto& [first, second] = laws[counts];
    first += with * (answers.back() == 0 ? p * std::exp(epsilon0) : p);
    second += with * (answers.back() == 1 ? p * std::exp(epsilon0) : p);
    std::size_t place = 0;
    while (place < answers.size() && ++answers[place] == choices) answers[place++] = 0;
    if (place == answers.size()) break;
  }
  double delta = 0;
  for (const auto& [counts, masses] : laws) delta += std::max(0.0, masses.first - std::exp(epsilon) * masses.second);
  return delta;
}

TEST(ShuffledReports, NoInputOfTheOthersExceedsTheBound) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 60; ++trial) {
    const std::uint64_t choices = 2 + static_cast<std::uint64_t>(trial) % 3;
    const double epsilon0 = std::uniform_real_distribution<double>(0.2, 3)(random),
                 epsilon = epsilon0 * std::uniform_real_distribution<double>(0, 1)(random);
    std::vector<std::uint64_t> others(1 + static_cast<std::size_t>(trial % 4));
    for (auto& value : others) value = std::uniform_int_distribution<std::uint64_t>(0, choices - 1)(random);
    const double reached = delta_by_enumeration(epsilon0, choices, others, epsilon);
    const Interval local = Interval::exactly(epsilon0), at = Interval::exactly(epsilon);
    const double blanket =
        shuffled_loss(blanket_law(local, others.size() + 1, choices), ComposedBy::pair_above)->delta(Direction::remove, at).hi;
    const double clones = shuffled_loss(clone_law(local, others.size() + 1), ComposedBy::pair_above)->delta(Direction::remove, at).hi;
    EXPECT_LE(reached, blanket * (1 + 1e-12) + 1e-15);
    EXPECT_LE(blanket, clones * (1 + 1e-9));
  }
}

TEST(ShuffledReports, WitnessesAreReached) {
  for (const std::size_t others : {1U, 3U, 5U}) {
    const std::vector<std::uint64_t> third(others, 2), second(others, 1);
    for (const double epsilon : {0.0, 0.3, 0.8}) {
      const Interval local = Interval::exactly(1.3), at = Interval::exactly(epsilon);
      const auto witness = [&](std::uint64_t choices) {
        return shuffled_loss(witness_law(local, others + 1, choices), ComposedBy::pair_below)->delta(Direction::remove, at);
      };
      EXPECT_NEAR(witness(3).lo, delta_by_enumeration(1.3, 3, third, epsilon), 1e-12);
      EXPECT_LE(witness(4).lo, delta_by_enumeration(1.3, 4, third, epsilon) + 1e-12);
      const double one = delta_by_enumeration(1.3, 2, second, epsilon);
      const std::vector<std::uint64_t> first(others, 0);
      const double average = (one + delta_by_enumeration(1.3, 2, first, epsilon)) / 2;
      EXPECT_NEAR(binary_witness(local, others + 1)->delta(Direction::remove, at).lo, average, 1e-12);
    }
  }
}

TEST(ShuffledReports, WitnessesComeCloseForAnyNumberOfUsers) {
  for (const char* const users : {"1000", "1e5", "1e7", "1e9"})
    for (const char* const kind : {"0.5", "0.5, randomizer=randomized_response", "2, randomizer=randomized_response", "1",
                                   "2, randomizer=randomized_response, choices=20"}) {
      const std::string text = std::string(kind);
      const std::size_t comma = std::min(text.find(','), text.size());
      const Curve curve = analyze(parse("shuffled_reports(" + text.substr(0, comma) + ", " + users + text.substr(comma) + ")"));
      const Interval epsilon = curve.epsilon_at(1e-7);
      EXPECT_GT(epsilon.lo, 0.7 * epsilon.hi) << kind << " " << users;
    }
}

// The clone chance is proved for one randomiser that all users share.
TEST(ShuffledReports, RandomisersThatDifferCannotBeStated) {
  for (const char* const plan : {"shuffled_reports(epsilon=[1, 2], users=2)", "shuffled_reports(epsilon=1, users=2, randomizer=own)",
                                 "shuffled_reports(epsilon=1, users=2, clone_chance=0.5)"})
    EXPECT_THROW((void)parse(plan), Error) << plan;
  const Plan plan = parse("shuffled_reports(epsilon=1, users=100)");
  const Arguments arguments(std::get<Call>(plan.lines.front().source));
  EXPECT_NE(shuffled_reports_word().promise(arguments).find("All of them use the same randomiser"), std::string::npos);
}

TEST(ShuffledReports, OneUserIsTheLocalMechanism) {
  const Curve one = analyze(parse("shuffled_reports(1.5, 1)")), local = analyze(parse("randomized_response(1.5)"), Neighbours::replace_one);
  for (const double epsilon : {0.0, 0.7, 1.4, 1.6})
    EXPECT_EQ(one.delta_at(Interval::exactly(epsilon)), local.delta_at(Interval::exactly(epsilon)));
  const Curve nothing = analyze(parse("shuffled_reports(0, 100)"));
  EXPECT_EQ(nothing.delta_at(Interval::exactly(0)).hi, 0);
}

TEST(ShuffledReports, MoreUsersAndASmallerEpsilonCostNoMore) {
  const auto upper = [](double epsilon0, std::uint64_t users, double epsilon) {
    return shuffled_loss(clone_law(Interval::exactly(epsilon0), users), ComposedBy::pair_above)
        ->delta(Direction::remove, Interval::exactly(epsilon))
        .hi;
  };
  for (const double epsilon : {0.01, 0.1, 0.5}) {
    for (const std::uint64_t users : {2U, 17U, 400U, 30000U, 1000000U}) {
      EXPECT_LE(upper(2, 2 * users, epsilon), upper(2, users, epsilon) * 1.001 + 1e-40);
      EXPECT_LE(upper(1, users, epsilon), upper(2, users, epsilon) * 1.001 + 1e-40);
    }
  }
}

TEST(ShuffledReports, ProfileObeysTheLawsOfASymmetricPair) {
  for (const std::uint64_t users : {3U, 200U, 100000U}) {
    const LossPointer loss = shuffled_loss(blanket_law(Interval::exactly(1), users, 5), ComposedBy::pair_above);
    Interval before = Interval::exactly(1);
    for (const double epsilon : {-2.0, -0.5, -0.01, 0.0, 0.01, 0.5, 1.0, 2.0}) {
      const Interval here = loss->delta(Direction::add, Interval::exactly(epsilon));
      EXPECT_LE(here.lo, before.hi);
      EXPECT_GE(here.hi, std::max(0.0, -std::expm1(epsilon)));
      before = here;
    }
    EXPECT_EQ(loss->delta(Direction::remove, Interval::exactly(1)).hi, 0);
    EXPECT_EQ(loss->delta(Direction::remove, Interval::exactly(-infinity)).hi, 1);
    EXPECT_EQ(loss->delta(Direction::remove, Interval::exactly(infinity)).hi, 0);
  }
}

// Compositions of finite pairs: the pair above lies above the profile, the pair below under it, and both are close to it.
TEST(LatticePair, LiesOnItsSideOfTheProfile) {
  for (const std::uint64_t users : {5U, 500U, 50000U}) {
    const auto both = [&](ComposedBy side) {
      const LossPointer loss = shuffled_loss(clone_law(Interval::exactly(1), users), side);
      return std::pair(loss, loss->capabilities(Direction::remove).composed_form->composed_form());
    };
    const auto [truth, above] = both(ComposedBy::pair_above);
    const auto [same, below] = both(ComposedBy::pair_below);
    for (int i = 0; i <= 40; ++i) {
      const Interval at = Interval::exactly(0.05 * i * 3 / std::sqrt(static_cast<double>(users)));
      const Interval exact = truth->delta(Direction::remove, at);
      EXPECT_GE(above->delta(Direction::remove, at).hi, exact.lo) << users << " " << at.lo;
      EXPECT_LE(below->delta(Direction::remove, at).lo, exact.hi) << users << " " << at.lo;
      EXPECT_LE(above->delta(Direction::remove, at).lo, exact.hi * 1.05 + 1e-12) << users << " " << at.lo;
      EXPECT_GE(below->delta(Direction::remove, at).hi, exact.lo * 0.95 - 1e-9) << users << " " << at.lo;
    }
  }
}

TEST(ShuffledReports, RoundsCompose) {
  const Interval delta = Interval::exactly(1e-6);
  const Interval one = analyze(parse("shuffled_reports(1, 10000)")).epsilon_at(delta);
  const Interval ten = analyze(parse("shuffled_reports(1, 10000) | repeat(10)")).epsilon_at(delta);
  EXPECT_GT(ten.lo, 2 * one.lo);
  EXPECT_LT(ten.hi, 4 * one.hi);
  EXPECT_LT(ten.hi / ten.lo, 1.3);
  // The composition of a single round by its finite pair agrees with the profile.
  const Interval beside = analyze(parse("shuffled_reports(1, 10000); dp(0, 0)")).epsilon_at(delta);
  EXPECT_NEAR(beside.hi, one.hi, 2e-3 * one.hi);
}

TEST(ShuffledReports, EpsilonIsCalibrated) {
  const Calibration found = calibrate(parse("shuffled_reports(?, 10000)"), Guarantee{Interval::exactly(1), Interval::exactly(1e-6)});
  const std::string plan = "shuffled_reports(" + found.printed + ", 10000)";
  EXPECT_LE(analyze(parse(plan)).epsilon_at(Interval::exactly(1e-6)).hi, 1);
}

TEST(ShuffledReports, BadInputIsRefusedWithAReason) {
  const auto refused = [](const char* plan, const char* part, Neighbours neighbours = Neighbours::unstated) {
    try {
      static_cast<void>(analyze(parse(plan), neighbours));
      ADD_FAILURE() << plan;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  refused("shuffled_reports(-1, 100)", "epsilon = -1");
  refused("shuffled_reports(501, 100)", "epsilon = 501");
  refused("shuffled_reports(1, 0)", "users = 0");
  refused("shuffled_reports(1, 1e10)", "users = 10000000000");
  refused("shuffled_reports(1, 100, choices=4)", "choices belongs to randomizer=randomized_response");
  refused("shuffled_reports(epsilon=1, delta=1e-6, users=100)", "a local randomiser with delta above 0 is not supported");
  refused("shuffled_reports(1, 100, randomized_response, 1)", "choices = 1");
  refused("shuffled_reports(1, 100)", "needs replace-one", Neighbours::add_remove);
  refused("shuffled_reports(1, 100); gaussian(1) | poisson(0.1)", "protects users, but", Neighbours::replace_one);
}

}  // namespace
}  // namespace tradeoff::detail
