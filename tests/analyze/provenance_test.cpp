// SPDX-License-Identifier: Apache-2.0
#include "tradeoff/provenance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "curve/cached_profile.h"
#include "curve/curve_state.h"
#include "loss/budgeted_profile.h"
#include "loss/evaluation.h"
#include "loss/question_scope.h"
#include "loss/work.h"
#include "support/random_plans.h"
#include "tradeoff/analyze.h"

namespace tradeoff::detail {
namespace {

using test::PlanSource;

bool has_page(const std::string& theorem) {
  static const std::filesystem::path theory = std::filesystem::path(TRADEOFF_GOLDEN_DIR).parent_path().parent_path() / "docs" / "theory";
  return std::filesystem::exists(theory / (theorem + ".md"));
}

std::set<std::string> theorems_of(const std::vector<Step>& steps) {
  std::set<std::string> found;
  for (const Step& step : steps) found.insert(step.theorem);
  return found;
}

/// Cheap plans of all kinds: single mechanisms, sampled ones, compositions, and operators around them.
std::string random_plan(PlanSource& random) {
  const auto source = [&] {
    switch (random.count(1, 5)) {
      case 1:
        return random.gaussian();
      case 2:
        return random.laplace();
      case 3:
        return random.truncated_laplace();
      default:
        return random.finite();
    }
  };
  std::string line = source();
  if (random.chance(0.4)) line += random.poisson(0.01, 0.9);
  if (random.chance(0.5)) line += random.repeat(1, 300);
  if (random.chance(0.2)) return "dp(0, " + random.number(1e-9, 1e-3) + "); " + line;
  if (random.chance(0.02)) return line + "; " + random.response();
  if (random.chance(0.1)) return "mixture([(0.25, " + source() + "), (0.75, " + random.gaussian() + ")])";
  if (random.chance(0.1)) return random.gaussian() + " | group(" + std::to_string(random.count(2, 5)) + ")";
  return line;
}

/// Two significant digits, so that lattices are cheap too.
constexpr Tolerance coarse{1e-2};

// The theorems of all evaluations are among the steps, every step was recorded by this computation and has a page, and asking again gives
// the same bits and the same steps.
TEST(Provenance, OfRandomPlansNamesTheCodeThatRan) {
  PlanSource random(20261116);
  for (int i = 0; i < 1000; ++i) {
    const std::string plan = random_plan(random);
    const Curve curve = analyze(parse(plan), Neighbours::unstated, coarse);
    const double epsilon = random.scale(1e-2, 3);
    const auto ask = [&] { return explained([&] { return curve.delta_at(epsilon); }); };
    const auto found = ask();
    ASSERT_FALSE(found.steps.empty()) << plan;
    for (const Step& step : found.steps) ASSERT_TRUE(has_page(step.theorem)) << plan << ": " << step.theorem;
    if (found.method == Method::lattice && i % 8 != 0) continue;  // the others are quick
    const auto again = ask();
    ASSERT_EQ(found.value, again.value) << plan << " at " << epsilon;
    ASSERT_EQ(found.method, again.method) << plan;
    ASSERT_EQ(theorems_of(found.steps), theorems_of(again.steps)) << plan;
    std::vector<Evaluation> evaluations;
    const Provenance ran = provenance_of([&] {
      for (const Direction direction : {Direction::remove, Direction::add})
        for (Evaluation& one : evaluations_of(*loss_of(curve), direction, epsilon)) evaluations.push_back(std::move(one));
    });
    for (const Evaluation& one : evaluations) ASSERT_TRUE(theorems_of(ran.steps).contains(one.theorem)) << plan << ": " << one.theorem;
  }
}

TEST(Provenance, NamesTheEngineThatAnswered) {
  // The contours are tried first and are too wide here.
  const Curve sampled = analyze(parse("laplace(scale=0.2) | poisson(rate=0.01) | repeat(100)"));
  const auto found = explained([&] { return sampled.delta_at(3); });
  EXPECT_EQ(found.method, Method::lattice);
  const std::set<std::string> theorems = theorems_of(found.steps);
  for (const char* used : {"laplace-profile", "poisson-subsampling", "tensor-composition", "tilted-fft", "two-directions"})
    EXPECT_TRUE(theorems.contains(used)) << used;
  const auto of = [](const char* plan, auto&& ask) {
    const Curve curve = analyze(parse(plan));
    return explained([&] { return ask(curve); });
  };
  const auto delta = [](const Curve& curve) { return curve.delta_at(0.5); };
  EXPECT_EQ(of("gaussian(sigma=1)", delta).method, Method::closed_form);
  EXPECT_EQ(of("randomized_response(epsilon=0.2) | repeat(20)", delta).method, Method::exact);
  EXPECT_EQ(of("gaussian(sigma=1) | poisson(rate=0.01) | repeat(1000)", delta).method, Method::contour);
  const auto folded = of("discrete_gaussian(sigma=50) | repeat(100)", delta);
  EXPECT_TRUE(theorems_of(folded.steps).contains("folded-contour"));
  EXPECT_FALSE(theorems_of(folded.steps).contains("contour-inversion"));
}

TEST(Provenance, OfAnAnswerBelongsToThatAnswer) {
  const Curve curve = analyze(parse("dp(1, 1e-5)"));
  const auto epsilon = explained([&] { return curve.epsilon_at(read_number("1e-5")); });
  EXPECT_EQ(epsilon.value.hi, 1);
  const auto searched = explained([] { return analyze(parse("laplace(scale=1) | poisson(rate=0.5)")).epsilon_at(1e-2); });
  EXPECT_TRUE(theorems_of(searched.steps).contains("profile-inversion"));
  const auto read = explained([] { return analyze(parse("laplace(scale=1) | poisson(rate=0.5)")).delta_at(0.1); });
  EXPECT_FALSE(theorems_of(read.steps).contains("profile-inversion"));
  const auto dual = explained([] { return analyze(parse("laplace(scale=1) | poisson(rate=0.5)")).beta_at(0.1); });
  EXPECT_TRUE(theorems_of(dual.steps).contains("profile-duality"));
}

TEST(Provenance, OfAnInnerQuestionIsPartOfTheOuterOne) {
  const Curve curve = analyze(parse("gaussian(sigma=1)"));
  Provenance inner;
  const Provenance outer = provenance_of([&] { inner = provenance_of([&] { (void)curve.delta_at(1); }); });
  EXPECT_EQ(theorems_of(inner.steps), theorems_of(outer.steps));
  EXPECT_TRUE(provenance_of([] {}).steps.empty());
}

// An additional probability of revealing everything does not change the description of the engine.
TEST(Provenance, AChanceOfRevealingKeepsTheErrorTerms) {
  const std::string training = "gaussian(sigma=1) | poisson(rate=0.01) | repeat(1000)";
  const Curve alone = analyze(parse(training)), beside = analyze(parse("dp(0, 1e-3); " + training));
  const auto one = evaluations_of(*loss_of(alone), Direction::remove, 1), other = evaluations_of(*loss_of(beside), Direction::remove, 1);
  ASSERT_EQ(one.size(), other.size());
  ASSERT_FALSE(one.empty());
  EXPECT_EQ(one.front().theorem, other.front().theorem);
  EXPECT_EQ(one.front().counts, other.front().counts);
  for (const auto& [name, error] : one.front().errors)
    EXPECT_TRUE(std::any_of(other.front().errors.begin(), other.front().errors.end(), [&](const auto& term) {
      return term.first == name && term.second <= error;
    })) << name;
  const Interval delta = beside.delta_at(Interval::exactly(1), Direction::remove), log_delta = other.front().log_delta;
  EXPECT_LE(log_delta.lo, std::log(delta.hi));
  EXPECT_GE(log_delta.hi, std::log(delta.lo));
}

const std::vector<std::string>& slow_and_quick_plans() {
  static const std::vector<std::string> plans = {
      "gaussian(sigma=1) | poisson(rate=0.01) | repeat(1000)",
      "laplace(scale=1) | poisson(rate=0.1) | repeat(2)",
      "gaussian(sigma=1) | poisson(rate=0.01) | repeat(10)",
      "(gaussian(sigma=3) | poisson(rate=0.1); laplace(scale=3)) | poisson(rate=0.3)",
  };
  return plans;
}

/// Every question about every plan, in this order or backwards.
std::vector<Interval> answers(bool backwards) {
  std::vector<Interval> found;
  for (const std::string& plan : slow_and_quick_plans()) {
    const Curve curve = analyze(parse(plan), Neighbours::unstated, coarse);
    const std::vector<std::function<Interval()>> questions = {[&] { return curve.delta_at(0.3); }, [&] { return curve.epsilon_at(1e-4); },
                                                              [&] { return curve.delta_at(1); }, [&] { return curve.epsilon_at(1e-2); },
                                                              [&] { return curve.delta_at(0.31); }};
    std::vector<Interval> of_plan(questions.size());
    for (std::size_t i = 0; i < questions.size(); ++i) {
      const std::size_t k = backwards ? questions.size() - 1 - i : i;
      of_plan[k] = questions[k]();
    }
    found.insert(found.end(), of_plan.begin(), of_plan.end());
  }
  return found;
}

TEST(SameAnswer, DoesNotDependOnEarlierQuestionsOrOtherThreads) {
  const std::vector<Interval> idle = answers(false);
  EXPECT_EQ(answers(true), idle) << "backwards";
  std::atomic<bool> stop = false;
  std::vector<std::jthread> busy;
  for (int i = 0; i < 2; ++i)
    busy.emplace_back([&] {
      const Curve other = analyze(parse("gaussian(sigma=1.5) | poisson(rate=0.02) | repeat(500)"));
      while (!stop) (void)other.delta_at(0.5);
    });
  EXPECT_EQ(answers(false), idle) << "under load";
  stop = true;
}

TEST(SameAnswer, OfOneCurveOnManyThreads) {
  const Curve curve = analyze(parse("gaussian(sigma=1) | poisson(rate=0.01) | repeat(1000)"));
  const auto all = [&] {
    std::vector<Interval> found;
    for (int i = 0; i < 20; ++i) found.push_back(curve.delta_at(0.1 * i));
    return found;
  };
  const std::vector<Interval> alone = all();
  std::vector<std::vector<Interval>> together(4);
  {
    std::vector<std::jthread> threads;
    for (auto& one : together) threads.emplace_back([&] { one = all(); });
  }
  for (const auto& one : together) EXPECT_EQ(one, alone);
}

// Questions that are answered together share their work: the bits may differ, and both answers are valid.
TEST(SameAnswer, InAListOverlapsTheAnswerAlone) {
  for (const std::string& plan : slow_and_quick_plans()) {
    const Curve curve = analyze(parse(plan), Neighbours::unstated, coarse);
    std::vector<Interval> alone, together;
    for (const double epsilon : {0.1, 0.3, 0.35, 1.0}) alone.push_back(curve.delta_at(epsilon));
    {
      const QuestionScope list;
      for (const double epsilon : {0.1, 0.3, 0.35, 1.0}) together.push_back(curve.delta_at(epsilon));
    }
    for (std::size_t i = 0; i < alone.size(); ++i)
      EXPECT_TRUE(alone[i].lo <= together[i].hi && together[i].lo <= alone[i].hi) << plan << " " << i;
  }
}

/// With its theorems or without, alone or in a list after another question.
Interval answer_of(const Curve& curve, const std::function<Interval(const Curve&)>& question, bool recorded, bool in_a_list) {
  const auto ask = [&](const Curve& asked) {
    if (!recorded) return question(asked);
    const auto found = explained([&] { return question(asked); });
    EXPECT_FALSE(found.steps.empty());
    return found.value;
  };
  if (!in_a_list) return ask(curve);
  const QuestionScope list;
  const Curve together = cached_curve(curve);
  (void)together.delta_at(0.1);
  return ask(together);
}

/// [profile-bracket] The bits are the same with and without recorded theorems, even if the evaluations exceed the budget of an operator's
/// base: first on a new curve, then on the same curve again.
void expect_same_with_theorems(const std::string& plan, const std::function<Interval(const Curve&)>& question, bool recorded_first,
                               bool in_a_list) {
  const Curve curve = analyze(parse(plan), Neighbours::unstated, coarse);
  const std::uint64_t begin = Work::now();
  const Interval first = answer_of(curve, question, recorded_first, in_a_list);
  EXPECT_GT(Work::since(begin), budget_of_part.passed_on) << plan;
  EXPECT_EQ(answer_of(curve, question, !recorded_first, in_a_list), first) << plan;
}

TEST(SameAnswer, WithTheoremsOfASampledComposition) {
  for (const bool in_a_list : {false, true})
    expect_same_with_theorems(
        "(zcdp(rho=0.02) | poisson(rate=0.05) | repeat(3); laplace(scale=3)) | poisson(rate=0.3)",
        [](const Curve& curve) { return curve.beta_at(0.1); }, !in_a_list, in_a_list);
}

TEST(SameAnswer, WithTheoremsOfASampledRun) {
  expect_same_with_theorems(
      "(zcdp(rho=0.01) | poisson(rate=0.05) | repeat(4)) | poisson(rate=0.5)", [](const Curve& curve) { return curve.beta_at(0.1); }, false,
      false);
}

TEST(SameAnswer, WithTheoremsOfAGroup) {
  expect_same_with_theorems(
      "(zcdp(rho=0.05) | poisson(rate=0.1) | repeat(5)) | group(2)", [](const Curve& curve) { return curve.epsilon_at(1e-2); }, true, true);
}

}  // namespace
}  // namespace tradeoff::detail
