// SPDX-License-Identifier: Apache-2.0
// Every method compared with the exact answer: Table 1 of Liu, Sun, Jiang and Kong, and the laws of a comparison. Covers
// [classical-composition], [classical-gaussian], [classical-sampling].
#include "tradeoff/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/matchers.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

using nlohmann::json;
using test::Encloses;
using test::IsTight;
using testing::HasSubstr;

const MethodRow& row_of(const Comparison& comparison, const std::string& method) {
  for (const MethodRow& row : comparison.rows)
    if (row.method == method) return row;
  throw std::invalid_argument("no row " + method);
}

TEST(Compare, TableOneWithTheCorrectedOptimalRow) {
  const json table = test::read_golden("gdp_bridge.json")["table_1"];
  const Plan pure = parse("dp(epsilon=0.2000000000000000111022302462515654) | repeat(50)");  // the double that the table means
  const Plan laplace = parse("laplace(scale=1, sensitivity=0.2000000000000000111022302462515654) | repeat(50)");
  for (const json& cell : table["cells"]) {
    const Interval delta = Interval::exactly(test::golden_double(cell["delta"]));
    const Comparison found = compare_methods(pure, delta);
    for (const auto& [method, column] : {std::pair{"exact", "Optimal"},
                                         {"kairouz", "Optimal"},
                                         {"loss_pair", "Optimal"},
                                         {"basic", "Basic"},
                                         {"advanced", "Advanced"},
                                         {"rdp", "RDP"},
                                         {"gdp", "GDP"},
                                         {"gdp_summary", "GDP_summary"}}) {
      const MethodRow& row = row_of(found, method);
      EXPECT_EQ(row.kind, RowKind::bound) << method << ": " << row.remark;
      EXPECT_THAT(row.epsilon, Encloses(cell[column].get<std::string>())) << method;
      EXPECT_THAT(row.epsilon, IsTight(1e-8)) << method;
    }
    EXPECT_EQ(found.best, "exact");
    EXPECT_THAT(found.epsilon, Encloses(cell["Optimal"].get<std::string>()));
    EXPECT_THAT(row_of(compare_methods(laplace, delta, Neighbours::unstated, {}, {"gdp"}), "gdp").epsilon,
                Encloses(cell["GDP_Lap"].get<std::string>()));
  }
}

// A stated bound may imply more than it says: then another method would answer another plan.
TEST(Compare, AnswersThePlanAsItIsStated) {
  const Plan stated = parse("sqrt_log_family(a=1, b=1.25, sigma=2)"), refined = parse("sqrt_log_family(a=1, b=1.25, sigma=2) | refine()");
  const Comparison found = compare_methods(stated, Interval::exactly(0.4)), implied = compare_methods(refined, Interval::exactly(0.4));
  EXPECT_EQ(found.epsilon.hi, analyze(stated).epsilon_at(0.4).hi);
  EXPECT_THAT(row_of(found, "gdp").remark, HasSubstr("| refine()"));
  EXPECT_THAT(found.warnings, testing::Contains(HasSubstr("| refine()")));
  EXPECT_EQ(row_of(implied, "gdp").kind, RowKind::bound);
  EXPECT_GE(row_of(implied, "gdp").epsilon.hi, implied.epsilon.lo);
}

TEST(Compare, NoBoundLiesBelowTheTruth) {
  for (const char* text :
       {"gaussian(sigma=1) | poisson(rate=0.01) | repeat(1000)", "gaussian(sigma=20)", "gaussian(2); laplace(1); dp(0.5, 1e-7) | repeat(3)",
        "gaussian(4) | sample(10, 100) | repeat(3)", "randomized_response(0.5) | repeat(7)", "laplace(0.5) | poisson(0.3)",
        "dp(1, 1e-6) | poisson(0.1) | repeat(20)", "truncated_laplace(scale=1, bound=12)", "discrete_gaussian(3) | repeat(4)",
        "pair(p=[0.7, 0.3], q=[0.4, 0.6]) | repeat(5)", "constraints([(0.2, 1e-3), (1, 1e-7)]) | repeat(4)",
        "mixture([(0.5, gaussian(1)), (0.5, laplace(1))])", "sqrt_log_family(2, 1, 2) | refine() | poisson(0.2)"}) {
    const Plan plan = parse(text);
    // The Renyi divergences of the last two are integrals of the profile, which take seconds.
    std::vector<std::string> methods = comparison_methods();
    if (std::string_view(text).starts_with("mixture") || std::string_view(text).starts_with("sqrt_log")) std::erase(methods, "rdp_orders");
    const Comparison found = compare_methods(plan, Interval::exactly(1e-4), Neighbours::unstated, {}, methods);
    const Interval truth = analyze(plan).epsilon_at(1e-4);
    EXPECT_GE(found.epsilon.hi, truth.lo) << text;
    EXPECT_LE(found.epsilon.hi, truth.hi) << text;
    for (const MethodRow& row : found.rows) {
      EXPECT_LE(row.epsilon.lo, row.epsilon.hi);
      EXPECT_FALSE(row.remark.empty());
      EXPECT_GE(row.kind == RowKind::bound ? row.epsilon.hi : truth.lo, truth.lo) << text << " by " << row.method;
      EXPECT_LE(row.kind == RowKind::at_least ? row.epsilon.lo : truth.hi, truth.hi) << text << " by " << row.method;
    }
  }
}

TEST(Compare, EstimatesAreLabelledAndNeverTheAnswer) {
  const Comparison pure = compare_methods(parse("dp(0.2) | repeat(50)"), Interval::exactly(1e-4));
  EXPECT_EQ(row_of(pure, "clt").kind, RowKind::estimate);
  EXPECT_NEAR(row_of(pure, "clt").epsilon.lo, 5.77272, 1e-4);  // mu = sqrt 2
  // The Edgeworth estimate lies below the exact value there, and so does the plain limit for training.
  EXPECT_LT(row_of(pure, "edgeworth").epsilon.hi, pure.epsilon.lo);
  EXPECT_THAT(pure.warnings, testing::Contains(HasSubstr("edgeworth is below the truth")));
  const Comparison training = compare_methods(parse("gaussian(1) | poisson(0.01) | repeat(1000)"), Interval::exactly(1e-5));
  EXPECT_NEAR(row_of(training, "clt").epsilon.lo, 1.61771, 1e-4);
  EXPECT_NEAR(training.epsilon.hi, 1.82824, 1e-4);
  EXPECT_EQ(training.best, "exact");
  EXPECT_THAT(training.warnings, testing::Contains(HasSubstr("clt is below the truth")));
  EXPECT_EQ(row_of(training, "rdp_orders").kind, RowKind::bound);
  EXPECT_GT(row_of(training, "rdp_orders").epsilon.lo, training.epsilon.hi);
  EXPECT_EQ(row_of(compare_methods(parse("gaussian(10) | repeat(4)"), Interval::exactly(1e-5)), "zcdp").kind, RowKind::bound);
  EXPECT_EQ(row_of(compare_methods(parse("dp(0.002) | repeat(100000)"), Interval::exactly(0.3), Neighbours::unstated, {}, {"berry_esseen"}),
                   "berry_esseen")
                .kind,
            RowKind::bound);
}

TEST(Compare, StatesWhyAMethodDoesNotApply) {
  const auto refusal = [](const char* plan, const std::string& method, double delta = 1e-5) {
    const MethodRow row = row_of(compare_methods(parse(plan), Interval::exactly(delta), Neighbours::unstated, {}, {method}), method);
    EXPECT_EQ(row.kind, RowKind::refused) << plan << " by " << method;
    return row.remark;
  };
  EXPECT_THAT(refusal("dp(1.5) | repeat(2)", "rdp"), HasSubstr("epsilon <= 1"));
  EXPECT_THAT(refusal("dp(1) | repeat(20)", "rdp"), HasSubstr("log(1/delta)"));
  EXPECT_THAT(refusal("dp(0.1, 1e-9)", "rdp"), HasSubstr("pure"));
  EXPECT_THAT(refusal("dp(1, 1e-7)", "gdp"), HasSubstr("not Gaussian-DP"));
  EXPECT_THAT(refusal("profile(points=[(0, 0.3), (1, 0.1)])", "gdp", 0.2), HasSubstr("tail"));
  EXPECT_THAT(refusal("laplace(1)", "subsampling"), HasSubstr("sampling"));
  EXPECT_THAT(refusal("laplace(1)", "analytic_gaussian"), HasSubstr("Gaussian"));
  EXPECT_THAT(refusal("gaussian(1)", "gaussian_classical"), HasSubstr("epsilon < 1"));
  EXPECT_THAT(refusal("gaussian(1)", "gaussian_simple"), HasSubstr("epsilon <= 1"));
  EXPECT_THAT(refusal("dp(1); dp(2)", "kairouz"), HasSubstr("differ"));
  EXPECT_THAT(refusal("dp(1) | repeat(2)", "murtagh_vadhan"), HasSubstr("alike"));
  EXPECT_THAT(refusal("dp(1, 1e-3) | repeat(2)", "basic"), HasSubstr("reveal everything"));
  EXPECT_THAT(refusal("gaussian(1)", "basic", 0), HasSubstr("delta"));
}

TEST(Compare, WarnsWhereTheConversionLosesThePureCap) {
  const Comparison found = compare_methods(parse("dp(0.5) | repeat(7)"), Interval::exactly(1e-4));
  EXPECT_NEAR(row_of(found, "gdp").epsilon.hi, 6.98, 0.01);
  EXPECT_NEAR(row_of(found, "basic").epsilon.hi, 3.4999, 1e-4);
  ASSERT_FALSE(found.warnings.empty());
  EXPECT_THAT(found.warnings.front(), HasSubstr("basic"));
}

TEST(Compare, SamplingEqualsTheExactStepAndItsRateIsRead) {
  // One step: the theorem at one epsilon is the profile itself, and both ways to write the sample agree.
  for (const char* plan : {"laplace(1) | sample(rate=0.25)", "laplace(1) | sample(size=25, of=100)"}) {
    const Comparison found = compare_methods(parse(plan), Interval::exactly(0), Neighbours::unstated, {}, {"exact", "subsampling"});
    EXPECT_THAT(row_of(found, "subsampling").epsilon, Encloses(row_of(found, "exact").epsilon));
  }
}

TEST(Compare, SharesDeltaWhereNoiseHasNoLastLoss) {
  const Comparison found = compare_methods(parse("discrete_gaussian(5) | repeat(4)"), Interval::exactly(1e-5));
  const Comparison continuous = compare_methods(parse("gaussian(5) | repeat(4)"), Interval::exactly(1e-5));
  EXPECT_NEAR(row_of(found, "basic").epsilon.hi, row_of(continuous, "basic").epsilon.hi, 0.02);
  EXPECT_THAT(row_of(found, "basic").remark, HasSubstr("shared"));
}

TEST(Compare, RefusesBadQuestions) {
  EXPECT_THROW((void)compare_methods(parse("gdp(1)"), Interval::exactly(1.5)), DomainError);
  EXPECT_THROW((void)compare_methods(parse("gdp(1)"), Interval::exactly(0.1), Neighbours::unstated, {}, {"bazic"}), DomainError);
  EXPECT_THROW((void)compare_methods(parse("laplace(1) | sample(1, 2)"), Interval::exactly(0.1), Neighbours::add_remove), DomainError);
}

TEST(Compare, LinesOfTheSameMechanismCountAsRunsOfIt) {
  const std::vector<std::string> methods{"basic", "advanced", "kairouz", "rdp"};
  const Comparison lines =
      compare_methods(parse("laplace(4); laplace(4); laplace(4)"), Interval::exactly(1e-4), Neighbours::unstated, {}, methods);
  const Comparison repeated = compare_methods(parse("laplace(4) | repeat(3)"), Interval::exactly(1e-4), Neighbours::unstated, {}, methods);
  for (const std::string& method : methods) {
    EXPECT_EQ(row_of(lines, method).kind, RowKind::bound) << method << ": " << row_of(lines, method).remark;
    EXPECT_EQ(row_of(lines, method).epsilon, row_of(repeated, method).epsilon) << method;
  }
}

}  // namespace
}  // namespace tradeoff::detail
