// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "plan/vocabulary.h"
#include "tradeoff/error.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The message of parse for an invalid text.
struct Complaint {
  std::string message = "(no error)";
  std::size_t offset = 0;
};
Complaint complaint_about(std::string_view text) {
  try {
    (void)parse(text);
    return {};
  } catch (const ParseError& error) {
    return {error.what(), error.offset()};
  }
}

/// The message must contain `part`, and its offset must be where `marked` has a `^` (which is not part of the plan).
void expect_complaint(std::string marked, const std::string& part) {
  const auto offset = marked.find('^');
  ASSERT_NE(offset, std::string::npos);
  marked.erase(offset, 1);
  const Complaint complaint = complaint_about(marked);
  EXPECT_THAT(complaint.message, HasSubstr(part)) << marked;
  EXPECT_EQ(complaint.offset, offset) << marked << ": " << complaint.message;
  EXPECT_THAT(complaint.message, Not(HasSubstr("\n"))) << "an error is one line";
}

const Call& source_of(const Line& line) { return std::get<Call>(line.source); }
const Number& number_of(const Value& value) { return std::get<Number>(value.content); }

std::string canonical(std::string_view text) { return to_string(parse(text)); }

TEST(Parse, ReadsTheExampleOfTheManual) {
  const std::string text =
      "gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14062)\n"
      "laplace(scale=2)    | repeat(50)\n";
  const Plan plan = parse(text);
  ASSERT_EQ(plan.lines.size(), 2U);
  const Call& gaussian = source_of(plan.lines[0]);
  EXPECT_EQ(gaussian.name, "gaussian");
  ASSERT_EQ(gaussian.arguments.size(), 1U);
  EXPECT_EQ(gaussian.arguments[0].name, "sigma");
  EXPECT_EQ(number_of(gaussian.arguments[0].value).text, "1.1");
  EXPECT_EQ(gaussian.arguments[0].value.offset, 15U);
  ASSERT_EQ(plan.lines[0].operators.size(), 2U);
  const Call& poisson = plan.lines[0].operators[0];
  EXPECT_EQ(poisson.offset, 22U);
  EXPECT_EQ(number_of(poisson.arguments[0].value).text, "256/60000");
  EXPECT_TRUE(number_of(poisson.arguments[0].value).value.contains(256.0 / 60000));
  EXPECT_EQ(plan.lines[0].operators[1].arguments[0].name, "times");
  EXPECT_EQ(number_of(plan.lines[0].operators[1].arguments[0].value).value, Interval::exactly(14062));
  EXPECT_EQ(source_of(plan.lines[1]).offset, 62U);
}

TEST(Parse, ReadsEverySourceAndOperatorOfTheManual) {
  for (const char* text : {"gaussian(1, 2)",
                           "laplace(1, sensitivity=2)",
                           "truncated_laplace(1, 5, 1)",
                           "discrete_gaussian(sigma=2.5, sensitivity=3)",
                           "discrete_laplace(2)",
                           "truncated_discrete_laplace(2, 10)",
                           "randomized_response(1)",
                           "randomized_response(epsilon=1, choices=4)",
                           "gdp(0.5)",
                           "dp(1)",
                           "dp(1, 1e-5)",
                           "constraints([(1, 1e-5), (2, 1e-7)])",
                           "mixture([(0.3, gaussian(1)), (0.7, (laplace(1) | repeat(2)))])",
                           "pair(p=[0.5, 0.5], q=[0.25, 3/4])",
                           "sqrt_log_family(a=1, b=2, sigma=3)",
                           "log_family(c=1, sigma=3)",
                           "icea(users=100, messages=4)",
                           "profile(\"my profile.csv\")",
                           "profile(points=[(0, 0.5)], tail=zero)",
                           "profile(file=table, tail=gaussian(1, 2))",
                           "curve(\"c.csv\")",
                           "curve(points=[(0, 1), (1, 0)])",
                           "gdp(1) | poisson(0.1)",
                           "gdp(1) | sample(10, 100)",
                           "gdp(1) | sample(rate=0.1)",
                           "gdp(1) | sample_with_replacement(10, of=100)",
                           "gdp(1) | repeat(3)",
                           "gdp(1) | group(2)",
                           "gdp(1) | rectify(1, -1, 1)",
                           "gdp(1) | refine()"}) {
    EXPECT_EQ(complaint_about(text).message, "(no error)") << text;
    const Plan plan = parse(text);
    EXPECT_EQ(parse(to_string(plan)), plan) << text;
  }
}

TEST(Parse, PutsArgumentsIntoTheOrderOfTheVocabularyUnderTheirNames) {
  EXPECT_EQ(canonical("gaussian(sensitivity=2, sigma=1)"), "gaussian(sigma=1, sensitivity=2)");
  EXPECT_EQ(parse("gaussian(sensitivity=2, sigma=1)"), parse("gaussian(1, 2)"));
  EXPECT_EQ(parse("gdp(1) | rectify(high=3, low=2, epsilon=1)"), parse("gdp(1) | rectify(1, 2, 3)"));
  EXPECT_EQ(parse("gdp(1) | rectify(1, high=3, low=2)"), parse("gdp(1) | rectify(1, 2, 3)"));
}

TEST(Parse, DistinguishesPlans) {
  EXPECT_NE(parse("gaussian(1)"), parse("gaussian(2)"));
  EXPECT_NE(parse("gaussian(1)"), parse("laplace(1)"));
  EXPECT_NE(parse("gaussian(1)"), parse("gaussian(1, 1)"));
  EXPECT_NE(parse("gaussian(1)"), parse("gaussian(?)"));
  EXPECT_NE(parse("gdp(1) | repeat(2)"), parse("gdp(1) | group(2)"));
  EXPECT_NE(parse("gdp(1)"), parse("gdp(1); gdp(1)"));
  EXPECT_NE(parse("(gdp(1))"), parse("gdp(1)"));
  EXPECT_EQ(parse("  gdp( 1.0 ) "), parse("gdp(mu=1e0)"));  // offsets and spelling do not matter
}

TEST(Parse, SeparatesLinesByNewlinesAndSemicolons) {
  const Plan plan = parse("gdp(1)\ngdp(2)");
  for (const char* text :
       {"gdp(1);gdp(2)", "\n\n;gdp(1) ;;\n; gdp(2);\n", "gdp(1)\r\ngdp(2)\r\n", "# first\ngdp(1) # one\n# two\ngdp(2) #"}) {
    EXPECT_EQ(parse(text), plan) << text;
  }
  EXPECT_EQ(to_string(plan), "gdp(mu=1)\ngdp(mu=2)");
}

TEST(Parse, ContinuesALineAtAPipeAndWithinBrackets) {
  const Plan plan = parse("constraints([(1, 0.1), (2, 0.01)]) | repeat(3) | group(2)");
  EXPECT_EQ(parse("constraints(\n [ (1 ,\n 0.1) # comment\n , (2, 0.01)\n]\n)\n\n  | repeat(\n3\n) |\n group(2)\n"), plan);
}

TEST(Parse, ReadsPlansInParentheses) {
  const Plan plan = parse("(gdp(1) | repeat(2); gdp(2)) | repeat(3)");
  ASSERT_EQ(plan.lines.size(), 1U);
  EXPECT_EQ(std::get<Plan>(plan.lines[0].source), parse("gdp(1) | repeat(2)\ngdp(2)"));
  EXPECT_EQ(parse("(\n gdp(1) | repeat(2)\n gdp(2)\n) | repeat(3)"), plan);
  EXPECT_EQ(to_string(plan), "(gdp(mu=1) | repeat(2); gdp(mu=2)) | repeat(3)");
}

TEST(Parse, ReadsComponentsOfAMixture) {
  const Plan plan = parse("mixture([(1/3, gdp(1)), (2/3, (gdp(2) | repeat(2); dp(1)))])");
  const auto& components = std::get<List>(source_of(plan.lines[0]).arguments[0].value.content).items;
  ASSERT_EQ(components.size(), 2U);
  const auto& second = std::get<Tuple>(components[1].content).items;
  EXPECT_EQ(number_of(second[0]).text, "2/3");
  EXPECT_EQ(std::get<Plan>(second[1].content), parse("gdp(2) | repeat(2); dp(1)"));
  EXPECT_EQ(parse("mixture([(1, (gdp(1)))])"), parse("mixture([(1, gdp(1))])"));
}

TEST(Parse, TakesEitherBracketForListsAndPairs) {
  EXPECT_EQ(parse("constraints(((1, 0.1), (2, 0.01)))"), parse("constraints([[1, 0.1], [2, 0.01]])"));
}

TEST(Parse, ReadsTails) {
  const auto tail_of = [](const char* text) { return source_of(parse(text).lines[0]).arguments.back().value.content; };
  EXPECT_EQ(std::get<std::string>(tail_of("profile(f, tail=zero)")), "zero");
  EXPECT_EQ(std::get<std::string>(tail_of("profile(f, tail=unknown)")), "unknown");
  const Plan gaussian = std::get<Plan>(tail_of("profile(f, tail=gaussian(1, 2))"));
  EXPECT_EQ(source_of(gaussian.lines[0]).arguments[0].name, "k");  // not the source of the same name
  EXPECT_EQ(source_of(gaussian.lines[0]).arguments[1].name, "s");
}

TEST(Parse, AcceptsTheUnknownWhereverANumberMayStand) {
  for (const char* text : {"gaussian(?)", "gdp(1) | repeat(?)", "constraints([(?, 0.1)])", "mixture([(?, gdp(1))])", "pair([?], [1])",
                           "profile(points=[(1, ?)], tail=gaussian(?, 2))"}) {
    EXPECT_EQ(parse(canonical(text)), parse(text)) << text;
  }
}

TEST(Parse, TakesIntegersHoweverTheyAreWritten) {
  EXPECT_EQ(canonical("gdp(1) | repeat(1e3)"), "gdp(mu=1) | repeat(1000)");
  EXPECT_EQ(canonical("gdp(1) | repeat(20.0)"), "gdp(mu=1) | repeat(20)");
  EXPECT_EQ(canonical("gdp(1) | repeat(9007199254740993)"), "gdp(mu=1) | repeat(9007199254740993)");
  EXPECT_EQ(canonical("gdp(1) | repeat(-3)"), "gdp(mu=1) | repeat(-3)");  // the parser does not check the range
}

TEST(Parse, KeepsNumbersExactly) {
  EXPECT_EQ(canonical("gaussian(0.10)"), "gaussian(sigma=0.1)");
  EXPECT_EQ(parse("gaussian(0.10)"), parse("gaussian(+1e-1)"));
  EXPECT_EQ(canonical("gdp(1) | poisson(256.0 / 6e4)"), "gdp(mu=1) | poisson(rate=256/60000)");
  EXPECT_NE(parse("gdp(1/3)"), parse("gdp(0.3333333333333333)"));
  const Plan tiny = parse("gdp(1e-400)");
  EXPECT_EQ(number_of(source_of(tiny.lines[0]).arguments[0].value).value, (Interval{0, 4.9406564584124654e-324}));
  EXPECT_EQ(canonical("gdp(1e-400)"), "gdp(mu=1e-400)");
}

TEST(Parse, UnderstandsStrings) {
  const Plan plan = parse(R"(profile("a \"b\"\\\t\n\r #;|é"))");
  EXPECT_EQ(std::get<std::string>(source_of(plan.lines[0]).arguments[0].value.content), "a \"b\"\\\t\n\r #;|é");
  EXPECT_EQ(parse(to_string(plan)), plan);
  EXPECT_EQ(canonical("profile(\"plain\")"), "profile(file=plain)");
  EXPECT_EQ(canonical("profile(\"\")"), "profile(file=\"\")");
}

TEST(ParseErrors, NameTheNearestWordAndListTheKnownOnes) {
  expect_complaint("^gausian(1)", "unknown source 'gausian': did you mean 'gaussian'? Known: gaussian, laplace,");
  expect_complaint("^laplcae(1)", "did you mean 'laplace'?");
  expect_complaint("gdp(1) | ^repaet(3)", "unknown operator 'repaet': did you mean 'repeat'?");
  expect_complaint("gaussian(^sgima=1)", "unknown argument 'sgima' of gaussian: did you mean 'sigma'? Known: sigma, sensitivity");
  expect_complaint("profile(f, tail=^gausian(1,2))", "unknown tail 'gausian': did you mean 'gaussian'? Known: unknown, zero, gaussian");
  expect_complaint("^repeat(3)", "'repeat' is an operator");
  expect_complaint("gdp(1) | ^gdp(1)", "'gdp' is a source");
  expect_complaint("gdp(1) | refine(^x=1)", "refine takes no arguments");
  expect_complaint("^Gaussian(1)", "did you mean 'gaussian'?");
  expect_complaint("^GAUSSIAN(1)", "did you mean 'gaussian'?");
}

TEST(ParseErrors, SuggestOurWordForThatOfAnotherLibrary) {
  expect_complaint("^normal(1)", "did you mean 'gaussian'?");
  expect_complaint("gaussian(^noise_multiplier=1)", "did you mean 'sigma'?");
  expect_complaint("gdp(1) | poisson(^sample_rate=0.1)", "did you mean 'rate'?");
  expect_complaint("gdp(1) | ^compose(2)", "did you mean 'repeat'?");
  expect_complaint("gaussian(^sens=1)", "did you mean 'sensitivity'?");
}

TEST(ParseErrors, SuggestNothingThatIsFarAway) {
  expect_complaint("^zzz(1)", "unknown source 'zzz'. Known: gaussian, laplace,");
  expect_complaint("gaussian(^x=1)", "unknown argument 'x' of gaussian. Known: sigma, sensitivity");
  expect_complaint("^plan(1)", "unknown source 'plan'. Known:");
}

TEST(ParseErrors, StateTheCorrectSpelling) {
  expect_complaint("gdp(1) | repeat(14,^063)", "too many arguments: repeat(times); write numbers without thousands separators");
  expect_complaint("gaussian(sigma=2^,)", "nothing follows this comma; remove it");
  expect_complaint("gaussian(sigma=^sqrt(2))", "found 'sqrt'; write a decimal or a quotient: 0.5, 1e-5, 256/60000");
  expect_complaint("gaussian(^σ=2)", "unexpected character 'σ'; write sigma");
  expect_complaint("gaussian(sigma=1^%)", "unexpected character '%'; write 0.01 for 1%");
  expect_complaint("profile(^“a.csv”)", "write a text in plain double quotes");
}

TEST(ParseErrors, CountArguments) {
  expect_complaint("gaussian(^)", "gaussian needs sigma: gaussian(sigma, sensitivity=1)");
  expect_complaint("gaussian(sensitivity=1^)", "gaussian needs sigma");
  expect_complaint("gaussian(1, 2, 3, ^4)", "too many arguments: gaussian(sigma, sensitivity=1)");
  expect_complaint("gdp(1) | refine(^1)", "too many arguments: refine()");
  expect_complaint("gaussian(1, ^sigma=2)", "gaussian has the argument 'sigma' twice");
  expect_complaint("gaussian(sigma=1, ^sigma=1)", "twice");
  expect_complaint("gaussian(sigma=1, ^2)", "without a name");
  expect_complaint("gdp(1) | sample(10^)", "sample needs of: sample(size, of) or sample(rate)");
  expect_complaint("gdp(1) | sample(^)", "sample needs size");
  expect_complaint("gdp(1) | sample(10, rate=^0.1)", "rate does not go with the other arguments");
  expect_complaint("gdp(1) | sample(10, 20, ^0.1)", "rate does not go with the other arguments");
  expect_complaint("profile(^)", "profile(file, tail=unknown) or profile(points, tail=unknown)");
  expect_complaint("curve(f, points=^[(0,1)])", "points does not go");
}

TEST(ParseErrors, CheckKinds) {
  expect_complaint("gaussian(^\"1\")", "expected a number for sigma, found a string");
  expect_complaint("gaussian(^[1])", "expected a number for sigma, found '['");
  expect_complaint("gaussian(^gdp(1))", "expected a number for sigma, found 'gdp'");
  expect_complaint("gaussian(^)", "needs sigma");
  expect_complaint("gaussian(sigma=^)", "expected a number for sigma, found ')'");
  expect_complaint("gaussian(1,^)", "expected a number for sensitivity, found ')'");
  expect_complaint("gdp(1) | repeat(^1.5)", "times must be an integer, found '1.5'");
  expect_complaint("gdp(1) | repeat(^6/2)", "times must be an integer, not a quotient");
  expect_complaint("constraints(^1)", "expected a list [...] for points, found '1'");
  expect_complaint("constraints([^1])", "expected a pair (..., ...) in points");
  expect_complaint("constraints([^(1, 2, 3)])", "each item of points has two parts");
  expect_complaint("constraints([^(1)])", "each item of points has two parts");
  expect_complaint("constraints([^])", "expected a pair");
  expect_complaint("pair([^], [1])", "expected a number for p, found ']'");
  expect_complaint("constraints([(1, 2^])", "expected ',' or ')' in points, found ']'");
  expect_complaint("constraints([(1, 2)^)", "expected ',' or ']' in points, found ')'");
  expect_complaint("mixture([(1, ^2)])", "expected a source");
  expect_complaint("mixture([(1, gdp(1) ^| repeat(2))])", "stands in parentheses");
  expect_complaint("profile(^1)", "expected a string");
  expect_complaint("profile(f, tail=^1)", "expected a tail");
}

TEST(ParseErrors, ListTheWordsOfAChoice) {
  expect_complaint("gaussian(1) | shuffle(10, reuse=^yes)", "reuse must be false or true, found 'yes'");
  expect_complaint("matrix(sigma=1, steps=4, kind=^squareroot)",
                   "kind must be tree, square_root, prefix or blt, found 'squareroot'; did you mean 'square_root'?");
  expect_complaint("gaussian(1) | shuffle(10, reuse=^1)", "expected a string");
}

TEST(ParseErrors, CheckNumbers) {
  for (const char* text : {"^inf", "^-inf", "^Infinity", "^nan", "^NaN", "^+nan", "^-Infinity"}) {
    expect_complaint("gaussian(" + std::string(text) + ")", "sigma must be a finite number");
  }
  for (const char* text : {"^1_000", "^0x10", "^1.2.3", "^1e", "^--1", "^1e1000000000", "^1e-99999999999999999999", "^-", "^.", "^1f"}) {
    expect_complaint("gaussian(" + std::string(text) + ")", "is not a finite decimal number");
  }
  for (const char* text : {"^1e400", "^-1e400", "^1.7976931348623158e308", "^1e300/1e-300", "^1/1e-400"}) {
    expect_complaint("gaussian(" + std::string(text) + ")", "the number is beyond 1.7976931348623157e308");
  }
  expect_complaint("gaussian(1/^0)", "division by zero");
  expect_complaint("gaussian(1/^-0e5)", "division by zero");
  expect_complaint("gaussian(1/^?)", "expected a number after '/'");
  expect_complaint("gaussian(1/2^/3)", "expected ',' or ')' in gaussian, found '/'");
  expect_complaint("gaussian(1 ^2)", "expected ',' or ')' in gaussian, found '2'");
  expect_complaint(
      "gaussian(^\xE2\x88\x92"
      "1)",
      "unexpected character '\xE2\x88\x92'");
}

TEST(ParseErrors, CheckTheShapeOfLines) {
  expect_complaint("^", "the plan is empty");
  expect_complaint(" \n;; # nothing\n^", "the plan is empty");
  expect_complaint("(^)", "the plan is empty");
  expect_complaint("gaussian^", "expected '(' after gaussian, found the end of the plan");
  expect_complaint("gaussian^\n(1)", "expected '(' after gaussian, found the end of the line");
  expect_complaint("gaussian(1^", "expected ',' or ')' in gaussian, found the end of the plan");
  expect_complaint("gaussian(1^; gdp(1)", "found ';'");
  expect_complaint("gaussian(1)^)", "expected '|', ';' or a new line, found ')'");
  expect_complaint("gaussian(1) ^laplace(1)", "expected '|', ';' or a new line, found 'laplace'");
  expect_complaint("(gaussian(1)^", "expected '|', ';', a new line or ')', found the end of the plan");
  expect_complaint("(gaussian(1) ^]", "expected '|', ';', a new line or ')', found ']'");
  expect_complaint("^| repeat(3)", "expected a source such as gaussian(sigma=1), found '|'");
  expect_complaint("gdp(1) |^", "expected an operator such as repeat(10), found the end of the plan");
  expect_complaint("gdp(1) | ^(repeat(2))", "expected an operator");
  expect_complaint("^1", "expected a source");
  expect_complaint("^?", "expected a source");
  expect_complaint("gdp(1) ^$ 2", "unexpected character '$'");
  expect_complaint("gdp(1)^\x01", "unexpected control character");
  expect_complaint("profile(^\"abc)", "no closing quote");
  expect_complaint("profile(^\"abc\n\")", "no closing quote");
  expect_complaint("profile(^\"abc\\", "no closing quote");
  expect_complaint("profile(\"a^\\x\")", "unknown escape");
}

TEST(ParseErrors, RefuseInvalidText) {
  using namespace std::string_literals;
  EXPECT_EQ(complaint_about("\xEF\xBB\xBFgdp(1)").offset, 0U);
  EXPECT_THAT(complaint_about("\xEF\xBB\xBFgdp(1)").message, HasSubstr("byte order mark"));
  EXPECT_EQ(complaint_about("gdp(1)\0"s).offset, 6U);
  EXPECT_THAT(complaint_about("gdp(1)\0"s).message, HasSubstr("NUL"));
  for (const char* bad :
       {"\x80", "\xC0\xAF", "\xC3(", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF0\x80\x80\xAF", "\xF4\x90\x80\x80", "\xFF", "\xE2\x82"}) {
    const Complaint complaint = complaint_about("gdp(1) # " + std::string(bad));
    EXPECT_EQ(complaint.offset, 9U);
    EXPECT_THAT(complaint.message, HasSubstr("not UTF-8"));
  }
  EXPECT_EQ(parse("gdp(1) # é€\xF0\x9F\x99\x82"), parse("gdp(1)"));
}

TEST(ParseErrors, LimitNesting) {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '(') + "gdp(1)" + std::string(static_cast<std::size_t>(depth), ')');
  };
  const Plan deepest = parse(nested(63));
  EXPECT_EQ(parse(to_string(deepest)), deepest);
  EXPECT_EQ(complaint_about(nested(64)).offset, 67U);
  EXPECT_THAT(complaint_about(nested(64)).message, HasSubstr("64 brackets"));
  EXPECT_EQ(complaint_about(std::string(1 << 20, '(')).offset, 64U);
  EXPECT_EQ(complaint_about("constraints(" + std::string(1 << 20, '[')).offset, 14U);
}

// Quadratic behaviour would take hours and fail the test.
TEST(ParseErrors, LimitSizeAndStayFast) {
  EXPECT_THAT(complaint_about(std::string((std::size_t{64} << 20) + 1, ' ')).message, HasSubstr("64 MiB"));
  EXPECT_THAT(complaint_about(std::string(8 << 20, 'a') + "(1)").message, HasSubstr("unknown source 'aaaa"));
  EXPECT_LT(complaint_about(std::string(8 << 20, 'a') + "(1)").message.size(), 500U);
  EXPECT_THAT(complaint_about("gdp(" + std::string(8 << 20, '9') + ")").message, HasSubstr("beyond"));
  EXPECT_THAT(complaint_about("gdp(1" + std::string(8 << 20, '_') + ")").message, HasSubstr("is not a finite decimal"));
  EXPECT_THAT(complaint_about("gdp(1)" + std::string(8 << 20, '\n') + "x").message, HasSubstr("unknown source"));
  std::string alternating = "gdp(1)";
  for (int i = 0; i < 200'000; ++i) alternating += "\n;";
  EXPECT_EQ(parse(alternating).lines.size(), 1U);
}

TEST(PointAt, PutsACaretUnderTheFault) {
  EXPECT_EQ(point_at("gdp(1)\ngausian(1)\ngdp(2)", 7), "gausian(1)\n^");
  EXPECT_EQ(point_at("gdp(x)", 4), "gdp(x)\n    ^");
  EXPECT_EQ(point_at("gdp(1", 5), "gdp(1\n     ^");
  EXPECT_EQ(point_at("gdp(1", 99), "gdp(1\n     ^");
  EXPECT_EQ(point_at("", 0), "\n^");
  EXPECT_EQ(point_at("\té x", 4), " é x\n   ^");
  const std::string far = point_at(std::string(10'000, 'a') + "!" + std::string(10'000, 'b'), 10'000);
  EXPECT_LT(far.size(), 200U);
  EXPECT_EQ(far[far.size() - far.find('\n') - 2], '!');
}

TEST(ReadNumber, ReadsDecimalsAndQuotientsAndNothingElse) {
  EXPECT_EQ(read_number("0.10").text, "0.1");
  EXPECT_EQ(read_number("256/6e4").text, "256/60000");
  for (const char* text : {"", "?", "1/0", "1/", "/1", "1/2/3", "inf", "1e400", " 1"})
    EXPECT_THROW((void)read_number(text), ParseError) << text;
  EXPECT_EQ(exact_number(0.1).value, Interval::exactly(0.1));
  EXPECT_EQ(exact_number(0.1).text, "0.1000000000000000055511151231257827021181583404541015625");
  EXPECT_EQ(read_number(exact_number(0.1).text).value, Interval::exactly(0.1));
  EXPECT_THROW((void)exact_number(1 / 0.0), DomainError);
  EXPECT_THROW((void)exact_number(0 / 0.0), DomainError);
}

}  // namespace
}  // namespace tradeoff::detail
