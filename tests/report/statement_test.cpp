// SPDX-License-Identifier: Apache-2.0
// The privacy statement for plans of every shape, and for plans that cannot be ordered.
#include "report/statement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "report/margin.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::report {
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

// [matrix-mechanism] [capped-poisson] What the user promises is part of the statement.
TEST(Statement, StatesThePromisesOfThePlan) {
  const std::vector<std::string> matrix =
      sampling_assumed(parse("matrix(sigma=1, kind=prefix, steps=90, participations=3, separation=30)"));
  ASSERT_EQ(matrix.size(), 1U);
  EXPECT_EQ(
      matrix[0],
      "In `matrix`, a record takes part in at most 3 steps, any two of them at least 30 apart; which steps these are does not depend on "
      "the data.");
  EXPECT_THAT(sampling_assumed(parse("matrix(sigma=1, kind=prefix, steps=9)"))[0], HasSubstr("at most 1 step;"));
  EXPECT_THAT(sampling_assumed(parse("matrix(sigma=1, kind=prefix, steps=9, participations=2, separation=4, pattern=every)"))[0],
              HasSubstr("each 4 steps after the one before"));
  const std::vector<std::string> capped = sampling_assumed(parse("gaussian(1) | poisson(0.1, of=50, at_most=8)"));
  ASSERT_EQ(capped.size(), 3U);
  EXPECT_THAT(
      capped[1],
      HasSubstr("at most 8 records; of more drawn records so many are kept, uniformly at random. The larger data set has exactly 50"));
  EXPECT_THAT(sampling_assumed(parse("gaussian(1) | poisson(0.1, of=50, of_is=at_most, at_most=8)"))[1],
              HasSubstr("by a rule that does not look at the data. The larger data set has at most 50"));
  EXPECT_THAT(sampling_assumed(parse("gaussian(1) | cyclic(groups=2, rate=0.1, steps=4)"))[0], HasSubstr("In `cyclic`"));
}

TEST(Statement, WarnsOfShufflingUnlessThePlanShuffles) {
  EXPECT_THAT(sampling_assumed(parse("gaussian(1) | poisson(0.1)")).back(), HasSubstr("A loader that shuffles"));
  EXPECT_EQ(sampling_assumed(parse("gaussian(1) | shuffle(batches=10)")).back(), "Which records were drawn stays secret.");
  EXPECT_THAT(sampling_assumed(parse("gaussian(1) | shuffle(batches=10); gaussian(1) | poisson(0.1)")).back(),
              HasSubstr("A loader that shuffles"));
}

TEST(Statement, NamesTheUnitThatEveryLineProtects) {
  const auto records = [](const char* plan) { return records_protected(parse(plan)); };
  EXPECT_EQ(records("gaussian(1)"), 1U);
  EXPECT_EQ(records("gaussian(1) | group(3)"), 3U);
  EXPECT_EQ(records("gaussian(4) | group(2); laplace(1)"), 1U);
  EXPECT_EQ(records("gaussian(4) | group(2); laplace(1) | group(3)"), 2U);
  EXPECT_EQ(records("(gaussian(4) | group(2); laplace(1) | group(3)) | group(5)"), 10U);
  EXPECT_EQ(records("((gaussian(4) | group(2)) | repeat(2); laplace(1)) | group(5)"), 5U);
  EXPECT_EQ(records("mixture([(0.5, (gaussian(1) | group(2))), (0.5, gaussian(2))])"), 1U);
  EXPECT_EQ(records("mixture([(0.5, (gaussian(1) | group(2))), (0.5, (gaussian(2) | group(4)))]) | group(3)"), 6U);
  EXPECT_EQ(records("strongest([(dp(1) | group(2)), dp(2)])"), 1U);
  EXPECT_EQ(records("weakest([(dp(1) | group(2)), (dp(2) | group(2))])"), 2U);
  EXPECT_EQ(records("gaussian(1) | group(1000000000000) | group(1000000000000)"), std::uint64_t{1} << 62U);

  const auto page = [](const char* plan) { return to_markdown(to_document({statement_of(parse(plan))})); };
  EXPECT_THAT(page("gaussian(4) | group(2); laplace(1)"), HasSubstr(", for one record of the data."));
  EXPECT_THAT(page("gaussian(4) | group(2); laplace(1)"), HasSubstr("Someone who is in more than one record:"));
  EXPECT_THAT(page("gaussian(4) | group(2); laplace(1) | group(3)"), HasSubstr(", for any 2 records of the data together."));
  EXPECT_THAT(page("gaussian(4) | group(2); laplace(1) | group(3)"), HasSubstr("Someone who is in more than 2 records:"));
}

TEST(Statement, ListsTheGuaranteesThatItAssumes) {
  const auto items = [](const char* plan) { return not_covered(statement_of(parse(plan))); };
  for (const char* plan : {"dp(1)", "gdp(1)", "zcdp(0.1)", "rdp([(2, 0.1)])", "weakest([zcdp(0.1), gdp(1)])", "icea(10, 100)"})
    EXPECT_THAT(items(plan), testing::Contains(HasSubstr("they are taken as given"))) << plan;
  EXPECT_THAT(items("gaussian(1)"), testing::Not(testing::Contains(HasSubstr("they are taken as given"))));
}

TEST(Statement, CommandIsQuotedForAShell) {
  const Statement one = make_statement({"Dr. O'Neil; $(rm x)", "one patient", read_number("1e-6"), "1e-4"},
                                       parse("profile(file=\"it's\", tail=zero)"), curve_of("dp(epsilon=1)"));
  EXPECT_EQ(command_for({one, statement_of(parse("dp(1)"))}),
            "tradeoff report --delta 1e-6 --relative 1e-4 --unit 'one patient' --title 'Dr. O'\\''Neil; $(rm x)' --compare 'dp(epsilon=1)' "
            "'profile(file=\"it'\\''s\", tail=zero)'");
}

TEST(Statement, OmitsWarningsForTheCaller) {
  for (const char* plan :
       {"gaussian(sigma=0.1)", "dp(epsilon=1, delta=1e-5)", "laplace(1) | poisson(0.5)", "truncated_laplace(scale=1, bound=5)"}) {
    std::string text = to_markdown(to_document({make_statement({}, parse(plan), curve_of(plan))}));
    text.erase(text.find("## How to check"), text.find("# Appendix") - text.find("## How to check"));  // the one command on the page
    for (const char* word : {"--", "epsilon_max", "group(k)", "rectify", "query", "mu above 6"}) {
      if (std::string(word) == "--") {
        EXPECT_THAT(text, testing::Not(testing::ContainsRegex("--[a-z]"))) << plan;
      } else {
        EXPECT_THAT(text, testing::Not(HasSubstr(word))) << plan;
      }
    }
  }
  EXPECT_THAT(neighbours_sentence(Neighbours::unstated), HasSubstr("NOT STATED"));
}

TEST(Statement, WarnsOfALargeMuOnlyIfNoPairIsBetter) {
  Statement statement = statement_of(parse("dp(epsilon=1)"));
  const auto page = [&] { return to_markdown(to_document({statement})); };
  for (MuRow& row : statement.mus) row.mu = Interval::exactly(7);
  EXPECT_THAT(page(), HasSubstr("A μ above 6 is almost no protection."));
  statement.mus.back().mu = Interval::exactly(0.6);
  EXPECT_THAT(page(), testing::Not(HasSubstr("almost no protection")));
  EXPECT_THAT(page(), testing::Not(HasSubstr("far tail")));
  statement.gaussian.at_epsilon = std::numeric_limits<double>::infinity();
  EXPECT_THAT(page(), HasSubstr("The far tail alone sets the μ with slack 0."));
}

TEST(Statement, KeepsControlCharactersOut) {
  const Statement one =
      make_statement({"a\x1b[31m\xc2\x9b", "u\x07", {}, {}}, parse("profile(file=\"a\xc2\x9b\", tail=zero)"), curve_of("dp(epsilon=1)"));
  for (const std::string& text : {to_markdown(to_document({one})), to_html(to_document({one})), to_json({one})}) {
    EXPECT_EQ(text.find_first_of("\x1b\x07"), std::string::npos);
    EXPECT_TRUE(text.front() == '{' || text.find("\xc2\x9b") == std::string::npos);  // JSON is read by programs
  }
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

TEST(Statement, StatesTheMuWithoutSlack) {
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
  // Below at every tested point, but neither tail proves that it stays below.
  EXPECT_THAT(row("mixture([(0.5, gdp(1)), (0.5, gdp(2))])", "gdp(0.5)"), HasSubstr("| undecided |"));
  EXPECT_THAT(row("dp(1) | poisson(0.5)", "dp(1) | sample(1, 2)"), HasSubstr("| not comparable |"));
}

TEST(Statement, PutsWhatAReaderNeedsBeforeTheIntervals) {
  const Statement one = make_statement({}, parse("laplace(scale=2)"), curve_of("laplace(scale=2)"));
  const std::string text = to_markdown(to_document({one}));
  std::size_t before = 0;
  for (const char* part : {"Certified: ", "In plain words", "## What is protected", "## In numbers", "## What was run",
                           "## What is not covered", "## How to check", "# Appendix", "## ε and δ", "## Risk", "## Method"}) {
    const std::size_t at = text.find(part);
    ASSERT_NE(at, std::string::npos) << part;
    EXPECT_GT(at, before) << part;
    before = at;
  }
  EXPECT_EQ(text.substr(0, text.find("# Appendix")).find("between "), std::string::npos);  // no interval in front
  EXPECT_THAT(text, HasSubstr("| ε at δ = 0 | 0.5 | pure differential privacy"));
  EXPECT_THAT(text, HasSubstr("| ρ | 0.125 | zero-concentrated"));  // epsilon^2 / 2
}

TEST(Statement, StatesRhoOnlyWhereOneIsKnown) {
  const auto rho = [](const char* plan) { return make_statement({}, parse(plan), curve_of(plan)).rho; };
  ASSERT_TRUE(rho("gaussian(sigma=2) | repeat(8)"));
  EXPECT_EQ(*rho("gaussian(sigma=2) | repeat(8)"), Interval::exactly(1));  // 8 / (2 sigma^2)
  EXPECT_FALSE(rho("dp(epsilon=1, delta=1e-6)"));
  EXPECT_FALSE(rho("gaussian(sigma=2) | poisson(rate=0.1)"));
}

TEST(Statement, ShowsPublishedValuesWithTheirMargin) {
  Context context;
  context.date = "2026-11-17";
  context.contact = "privacy@agency.example";
  context.values = {{"North | South", "12"}, {"West", "3"}};
  context.released = "counts.csv";
  const Curve curve = analyze(parse("discrete_laplace(scale=2)"), Neighbours::add_remove);
  EXPECT_THROW((void)make_statement(context, parse("discrete_laplace(scale=2)"), curve), DomainError);  // one run for two values
  context.disjoint = true;
  const Statement one = make_statement(context, parse("discrete_laplace(scale=2)"), curve);
  const std::string text = to_markdown(to_document({one}));
  EXPECT_THAT(text, HasSubstr("Published: 2026-11-17. Contact: privacy@agency.example."));
  EXPECT_THAT(text, HasSubstr("| North \\| South | 12 | ± 6 |"));
  EXPECT_THAT(text, HasSubstr("Every row is about different people"));
  EXPECT_THAT(text, HasSubstr("--released counts.csv --rows disjoint"));
  EXPECT_THAT(to_json({one}), HasSubstr("\"margin_of_error_95\":6"));
  // A record that is replaced may change two rows.
  EXPECT_THROW((void)make_statement(context, parse("discrete_laplace(scale=2)"), curve_of("discrete_laplace(scale=2)")), DomainError);
  EXPECT_THROW((void)make_statement(context, parse("gaussian(1) | poisson(0.1)"), analyze(parse("gaussian(1) | poisson(0.1)"))),
               DomainError);
  context.disjoint = false;
  const Plan twice = parse("discrete_laplace(scale=2) | repeat(2)");
  EXPECT_THAT(to_markdown(to_document({make_statement(context, twice, analyze(twice))})), HasSubstr("accounts for all of them together"));
}

/// The probability of |X| > m for the discrete laws, summed; for the continuous ones in closed form.
TEST(Margin, CoversAtLeast95Of100) {
  for (const double scale : {0.1, 0.5, 1.0, 2.0, 7.3, 40.0}) {
    const std::string text = std::to_string(scale);
    const auto margin = [&](const char* source) { return added_noise(parse(std::string(source) + "(" + text + ")"))->margin; };
    EXPECT_LE(std::erfc(margin("gaussian") / scale / std::sqrt(2.0)), 0.05);
    EXPECT_GE(std::erfc(0.999 * margin("gaussian") / scale / std::sqrt(2.0)), 0.05);
    EXPECT_LE(std::exp(-margin("laplace") / scale), 0.05);
    EXPECT_GE(std::exp(-0.999 * margin("laplace") / scale), 0.05);
    for (const char* law : {"discrete_laplace", "discrete_gaussian"}) {
      const bool normal = std::string(law) == "discrete_gaussian";
      double all = 0, beyond = 0, beyond_less = 0;
      for (int x = -2000; x <= 2000; ++x) {
        const double mass = normal ? std::exp(-x * x / (2 * scale * scale)) : std::exp(-std::abs(x) / scale);
        all += mass;
        if (std::abs(x) > margin(law)) beyond += mass;
        if (std::abs(x) > margin(law) - 3) beyond_less += mass;
      }
      EXPECT_LE(beyond, 0.05 * all) << law << scale;
      EXPECT_GE(beyond_less, 0.05 * all) << law << scale;  // at most three steps too wide
    }
  }
  EXPECT_FALSE(added_noise(parse("gaussian(1); laplace(1)")));
  EXPECT_FALSE(added_noise(parse("gaussian(1) | poisson(0.1)")));
  EXPECT_FALSE(added_noise(parse("dp(1)")));
  EXPECT_EQ(added_noise(parse("laplace(1) | repeat(3) | repeat(4)"))->releases, 12U);
}

}  // namespace
}  // namespace tradeoff::detail::report
