// SPDX-License-Identifier: Apache-2.0
// The privacy statement: what it says about plans of every shape, and about plans that cannot be ordered.
#include "report/statement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tradeoff/analyze.h"

namespace tradeoff::report {
namespace {

using testing::HasSubstr;

Curve curve_of(const char* plan) { return analyze(parse(plan)); }

/// Of a cheap curve: the plan is only described.
Statement statement_of(const Plan& plan) { return make_statement({}, plan, curve_of("dp(epsilon=1)")); }

TEST(Statement, FindsSamplingInsideOfSources) {
  const Plan plan = parse("mixture([(0.5, gaussian(1)), (0.5, (gaussian(2) | poisson(0.1)))]); strongest([(dp(1) | sample(1, 2)), dp(2)])");
  const std::vector<std::string> sentences = sampling_assumed(plan);
  ASSERT_EQ(sentences.size(), 3U);
  EXPECT_THAT(sentences[0], HasSubstr("In `poisson`"));
  EXPECT_THAT(sentences[1], HasSubstr("In `sample`"));
  EXPECT_THAT(sampling_assumed(parse("mixture([(0.5, gaussian(1)), (0.5, gaussian(2))])")).front(), HasSubstr("None"));
}

TEST(Statement, WritesParametersOfEveryKind) {
  const std::string text = to_markdown(to_document({statement_of(
      parse("pair(p=[0.75, 0.25], q=[0.5, 0.5]); mixture([(0.5, laplace(1)), (0.5, laplace(2))]); (dp(1); dp(2)) | repeat(3); "
            "profile(file=table, tail=zero); gaussian(sigma=?)"))}));
  for (const char* part : {"`p = [0.75, 0.25]` probabilities with the record", "`q = [0.5, 0.5]`",
                           "`components = [(0.5, laplace(scale=1)), (0.5, laplace(scale=2))]`", "all of these", "`file = table`",
                           "`tail = zero`", "`sigma = ?`", "`times = 3`"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(Statement, SaysWhatIsKnownOfAMuWithoutSlack) {
  Statement statement = statement_of(parse("dp(epsilon=1)"));
  const auto text = [&] { return to_markdown(to_document({statement})); };
  EXPECT_THAT(text(), HasSubstr("The whole curve is that of Gaussian noise or better"));
  statement.gaussian.verdict = GdpVerdict::undecided;
  EXPECT_THAT(text(), HasSubstr("It is not known whether some μ covers the whole curve"));
  statement.gaussian.verdict = GdpVerdict::not_gdp;
  EXPECT_THAT(text(), HasSubstr("No μ covers the whole curve"));
}

TEST(Statement, OrdersPlansOnlyWhereTheOrderIsCertain) {
  const Statement first = statement_of(parse("dp(epsilon=1)"));
  const auto row = [&](const char* one, const char* other) {
    Statement a = first, b = first;
    a.curve = curve_of(one);
    b.curve = curve_of(other);
    const std::string text = to_markdown(to_document({a, b}));
    const std::size_t at = text.find("| at least as private as A |");
    return text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_THAT(row("dp(1)", "dp(0.5)"), HasSubstr("| yes |"));
  EXPECT_THAT(row("dp(0.5)", "dp(1)"), HasSubstr("| no |"));
  // Below everywhere it was looked at, but no tail of either says that it stays so.
  EXPECT_THAT(row("mixture([(0.5, gdp(1)), (0.5, gdp(2))])", "gdp(0.5)"), HasSubstr("| undecided |"));
  EXPECT_THAT(row("dp(1) | poisson(0.5)", "dp(1) | sample(1, 2)"), HasSubstr("| not comparable |"));
}

}  // namespace
}  // namespace tradeoff::report
