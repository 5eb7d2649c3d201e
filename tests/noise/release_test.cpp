// SPDX-License-Identifier: Apache-2.0
// From plan to certificate to released values: the guarantee is that of the drawn noise, and nothing unsafe is released. [grid-release]
#include "tradeoff/release.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <array>
#include <cmath>
#include <type_traits>

#include "noise/digest.h"
#include "noise/release_step.h"
#include "noise/replay.h"
#include "noise/statistics.h"
#include "tradeoff/calibrate.h"

namespace tradeoff::detail::test {
namespace {

using testing::HasSubstr;

Release release_of(const std::string& plan, std::vector<double> values, ReleaseTerms terms = {}) {
  if (terms.aggregate == Aggregate::none) terms.rows = values.size() / terms.columns;
  return release(certify(parse(plan), terms), values);
}

TEST(Certificate, IsUsedOnceAndNeverCopied) {
  static_assert(!std::is_copy_constructible_v<Certificate> && !std::is_copy_assignable_v<Certificate>);
  static_assert(!std::is_invocable_v<decltype(release), Certificate&, std::span<const double>>);
  Certificate certificate = certify(parse("discrete_laplace(2)"), {});
  const std::vector<double> value{5};
  EXPECT_EQ(release(std::move(certificate), value).rows.size(), 1U);
  EXPECT_FALSE(certificate.is_valid());                                                  // NOLINT: that is the question
  EXPECT_THROW(static_cast<void>(release(std::move(certificate), value)), DomainError);  // NOLINT
}

TEST(Certificate, AccountsForWhatIsDrawn) {
  for (const char* text : {"gaussian(sigma=1.1)", "laplace(scale=0.3, sensitivity=2)", "discrete_laplace(scale=7.7, sensitivity=3)",
                           "truncated_laplace(scale=1.3, bound=20)", "truncated_discrete_laplace(scale=2, bound=30)",
                           "discrete_gaussian(sigma=3.3)", "randomized_response(epsilon=1.1, choices=5)"}) {
    const Certificate certificate = certify(parse(text), {});
    const Curve written = analyze(parse(text)), drawn = analyze(certificate.drawn_plan());
    const Interval as_written = written.epsilon_at(1e-6), as_drawn = drawn.epsilon_at(1e-6);
    EXPECT_EQ(certificate.curve().epsilon_at(1e-6), as_drawn) << text;
    EXPECT_NEAR(as_drawn.hi / as_written.hi, 1, 2e-5) << text;  // rounding to the grid costs very little
  }
  // The rounding of the inputs is charged, unless they are on the grid.
  ReleaseTerms exact;
  exact.inputs = Inputs::on_grid;
  EXPECT_GT(certify(parse("gaussian(sigma=4)"), {}).mu()->lo, 0.25);
  EXPECT_EQ(*certify(parse("gaussian(sigma=4)"), exact).mu(), Interval::exactly(0.25));
  ReleaseTerms wide;
  wide.columns = 100;
  EXPECT_GE(certify(parse("gaussian(sigma=4)"), wide).mu()->lo, 0.25 * (1 + 10 * 0x1p-18));
}

TEST(Certificate, ChargesEveryRow) {
  ReleaseTerms four;
  four.rows = 4;
  EXPECT_GE(certify(parse("gaussian(sigma=4)"), four).mu()->lo, 0.5);
  four.rows_are = Rows::disjoint;
  EXPECT_LE(certify(parse("gaussian(sigma=4)"), four).mu()->hi, 0.251);
  four.rows_are = Rows::composed;
  EXPECT_GE(certify(parse("gaussian(sigma=4) | repeat(9)"), four).mu()->lo, 0.75);  // all nine are charged
  EXPECT_THROW(static_cast<void>(certify(parse("gaussian(sigma=4) | repeat(3)"), four)), DomainError);
}

Targets targets_of(std::initializer_list<std::pair<std::string_view, std::string>> words) {
  return read_targets(
      [&](std::string_view word) {
        for (const auto& [name, text] : words)
          if (name == word) return std::optional(text);
        return std::optional<std::string>();
      },
      "");
}

// A stated target is proved to be met, or nothing is certified.
TEST(Certificate, MeetsEveryTarget) {
  const auto unmet = [](const char* plan, const Targets& targets, const ReleaseTerms& terms = {}) {
    EXPECT_THROW(static_cast<void>(certify(parse(plan), terms, targets)), UnmetError) << plan << ": " << to_string(targets);
  };
  ReleaseTerms exact, three;
  exact.inputs = three.inputs = Inputs::on_grid;
  three.rows = 3;
  const Targets loose = targets_of({{"epsilon", "1"}, {"delta", "1e-5"}}), mu = targets_of({{"mu", "1"}}),
                both = targets_of({{"mu", "1"}, {"epsilon", "0.1"}, {"delta", "1e-5"}});
  unmet("gaussian(sigma=0.01)", loose);
  unmet("gaussian(sigma=1)", mu);  // rounding costs a little
  unmet("gaussian(sigma=1)", mu, three);
  unmet("gaussian(sigma=1)", both, exact);
  unmet("gaussian(sigma=1)", targets_of({{"advantage", "0.3"}}));
  unmet("gaussian(sigma=1)", targets_of({{"fpr", "0.01"}, {"tpr", "0.05"}}));
  unmet("gaussian(sigma=1) | rectify(epsilon=1.5, low=0, high=10)", loose);
  EXPECT_EQ(certify(parse("gaussian(sigma=1)"), exact, mu).mu()->hi, 1);
  EXPECT_TRUE(certify(parse("gaussian(sigma=10)"), {}, loose).is_valid());
}

// The noise is solved for the charged plan: rows are counted once.
TEST(Certificate, FindsTheNoiseForWhatIsCharged) {
  ReleaseTerms one, three, disjoint, mean;
  three.rows = disjoint.rows = 3;
  disjoint.rows_are = Rows::disjoint;
  mean.rows = 2;
  mean.aggregate = Aggregate::mean;
  mean.neighbours = Neighbours::add_remove;
  mean.bounds = Bounds{0, 3};
  const Targets mu = targets_of({{"mu", "1"}});
  const auto found = [&](const char* plan, const ReleaseTerms& terms, const Targets& targets) {
    const Certificate certificate = certify(parse(plan), terms, targets);
    EXPECT_LE(certificate.mu()->hi, 1) << plan;
    EXPECT_LE(to_string(certificate.plan()).size(), std::string(plan).size() + 12) << "a short decimal";
    return certificate.mu()->hi;
  };
  EXPECT_GE(found("gaussian(sigma=?)", one, mu), 0.99999);
  EXPECT_GE(found("gaussian(sigma=?)", three, mu), 0.99999);
  EXPECT_GE(found("gaussian(sigma=?) | repeat(3)", three, mu), 0.99999);
  EXPECT_GE(found("gaussian(sigma=?) | repeat(5)", three, mu), 0.99999);
  EXPECT_GE(found("gaussian(sigma=?)", disjoint, mu), 0.99999);
  EXPECT_GE(found("gaussian(sigma=?, sensitivity=3); gaussian(sigma=10)", mean, mu), 0.99999);
  EXPECT_LE(found("gaussian(sigma=?)", one, targets_of({{"mu", "1"}, {"epsilon", "0.1"}, {"delta", "1e-5"}})), 0.04);
  const Certificate response = certify(parse("randomized_response(epsilon=?)"), {}, targets_of({{"epsilon", "1"}, {"delta", "0"}}));
  EXPECT_EQ(meets(response.curve(), Guarantee{Interval::exactly(1), Interval::exactly(0)}), Met::yes);
  EXPECT_THROW(static_cast<void>(certify(parse("gaussian(sigma=?)"), {})), DomainError);
  EXPECT_THROW(static_cast<void>(certify(parse("gaussian(1) | repeat(?)"), {}, mu)), UnsupportedError);
  EXPECT_THROW(static_cast<void>(certify(parse("gaussian(1, sensitivity=?)"), {}, mu)), UnsupportedError);
}

TEST(Digest, IsThatOfOpenSsl) {
  ReplayForTests random(1);
  for (const std::size_t size : {0U, 1U, 55U, 56U, 63U, 64U, 65U, 1000U}) {
    std::string bytes;
    for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(random.next());
    std::array<unsigned char, 32> expected{};
    EVP_Digest(bytes.data(), bytes.size(), expected.data(), nullptr, EVP_sha256(), nullptr);
    std::string digits;
    for (const unsigned char byte : expected) {
      digits += "0123456789abcdef"[byte >> 4];
      digits += "0123456789abcdef"[byte & 15];
    }
    EXPECT_EQ(noise::sha256(bytes), digits) << size;
    EXPECT_EQ(noise::sha256_plainly(bytes), digits) << size;
  }
}

TEST(Certificate, RefusesWhatCannotBeDrawn) {
  for (const char* text :
       {"gdp(mu=1)", "dp(1, 1e-6)", "gaussian(1) | poisson(0.1)", "gaussian(sigma=1e-300) ", "mixture([(1, gaussian(1))])"})
    EXPECT_ANY_THROW(static_cast<void>(certify(parse(text), {}))) << text;
  ReleaseTerms two;
  two.columns = 2;
  EXPECT_THROW(static_cast<void>(certify(parse("truncated_laplace(1, 10)"), two)), UnsupportedError);
  ReleaseTerms coarse;
  coarse.grid_exponent = 30;
  EXPECT_THROW(static_cast<void>(certify(parse("gaussian(sigma=1)"), coarse)), DomainError);
}

TEST(Release, RefusesUnsafeValues) {
  ReleaseTerms bounded;
  bounded.bounds = Bounds{0, 10};
  EXPECT_THROW(static_cast<void>(release_of("laplace(1)", {NAN})), DomainError);
  EXPECT_THROW(static_cast<void>(release_of("laplace(1)", {HUGE_VAL})), DomainError);
  EXPECT_THROW(static_cast<void>(release_of("laplace(1)", {1e30})), DomainError);
  EXPECT_THROW(static_cast<void>(release_of("laplace(1)", {11}, bounded)), DomainError);
  EXPECT_THROW(static_cast<void>(release_of("discrete_laplace(1)", {0.5})), DomainError);
  EXPECT_THROW(static_cast<void>(release_of("randomized_response(1, 3)", {3})), DomainError);
  EXPECT_THROW(static_cast<void>(release(certify(parse("laplace(1)"), {}), std::vector<double>{1, 2})), DomainError);
  bounded.clip = true;
  EXPECT_THROW(static_cast<void>(release_of("laplace(1)", {NAN}, bounded)), DomainError);
  EXPECT_LT(release_of("laplace(0.01)", {1e30}, bounded).rows[0][0], 11);
}

TEST(Release, StaysOnTheGridAndAroundTheValue) {
  const Release released = release_of("gaussian(sigma=3)", std::vector<double>(1000, 0.1));
  double sum = 0;
  for (const auto& row : released.rows) {
    EXPECT_EQ(std::ldexp(row[0], 19), std::round(std::ldexp(row[0], 19)));
    sum += row[0];
  }
  EXPECT_NEAR(sum / 1000, 0.1, 6 * 3 / std::sqrt(1000));
}

// The released values have the distribution that the certificate states.
TEST(Release, HasTheLawOfItsCertificate) {
  constexpr std::size_t count = 200'000;
  ReleaseTerms terms;
  terms.grid_exponent = 0;
  terms.inputs = Inputs::on_grid;
  terms.rows_are = Rows::disjoint;
  const auto check = [&](const char* plan, const Tail& tail) {
    std::vector<std::int64_t> noise;
    for (const auto& row : release_of(plan, std::vector<double>(count, 7), terms).rows)
      noise.push_back(static_cast<std::int64_t>(row[0]) - 7);
    EXPECT_GE(examine(noise, tail).smallest(), threshold) << plan;
  };
  check("gaussian(sigma=3)", rounded_gaussian_tail(3));
  check("laplace(scale=3)", rounded_laplace_tail(3));
  check("discrete_laplace(scale=3)", discrete_laplace_tail(3));
  check("truncated_discrete_laplace(scale=3, bound=9)", truncated_tail(discrete_laplace_tail(3), 9));
  check("truncated_laplace(scale=3, bound=8.5)", truncated_tail(rounded_laplace_tail(3), 9));
  check("discrete_gaussian(sigma=3)", discrete_gaussian_tail(3));
}

TEST(Release, OfRecordsNeverExceedsTheSensitivityOfThePlan) {
  ReleaseTerms terms;
  terms.aggregate = Aggregate::sum;
  terms.neighbours = Neighbours::add_remove;
  terms.bounds = Bounds{-3, 10};
  const std::vector<double> records{1, 2, 3, -2.5, 9.75};
  EXPECT_THROW(static_cast<void>(release_of("laplace(scale=1, sensitivity=9)", records, terms)), DomainError);
  EXPECT_NEAR(release_of("laplace(scale=1e-3, sensitivity=10)", records, terms).rows[0][0], 13.25, 0.1);
  terms.neighbours = Neighbours::replace_one;
  EXPECT_THROW(static_cast<void>(release_of("laplace(scale=1, sensitivity=10)", records, terms)), DomainError);
  EXPECT_NEAR(release_of("laplace(scale=1e-3, sensitivity=13)", records, terms).rows[0][0], 13.25, 0.1);
  terms.neighbours = Neighbours::add_remove;
  terms.aggregate = Aggregate::mean;
  terms.rows = 2;
  const Release mean = release_of("laplace(scale=1e-3, sensitivity=10); laplace(scale=1e-3)", records, terms);
  ASSERT_EQ(mean.rows.size(), 2U);
  EXPECT_NEAR(mean.rows[1][0], 5, 0.1);
  terms.neighbours = Neighbours::unstated;
  EXPECT_THROW(static_cast<void>(release_of("laplace(scale=1, sensitivity=99); laplace(1)", records, terms)), DomainError);
}

TEST(Release, SamplesRecordsAsThePlanSays) {
  ReleaseTerms terms;
  terms.aggregate = Aggregate::count;
  const std::vector<double> records(1000, 1);
  double sum = 0;
  for (int i = 0; i < 50; ++i) sum += release_of("laplace(scale=1e-3) | poisson(1/4)", records, terms).rows[0][0];
  EXPECT_NEAR(sum / 50, 250, 6 * std::sqrt(1000 * 0.25 * 0.75 / 50));
  EXPECT_NEAR(release_of("laplace(scale=1e-3) | sample(size=300, of=1000)", records, terms).rows[0][0], 300, 0.1);
  EXPECT_THROW(static_cast<void>(release_of("laplace(scale=1e-3) | sample(size=300, of=999)", records, terms)), DomainError);
}

// Clip and rectify: the noisy value is clipped to the bounds on the grid, and the second noise has scale range over epsilon.
TEST(Release, RectifiesOnTheGrid) {
  ReleaseTerms terms;
  terms.grid_exponent = 0;
  terms.inputs = Inputs::on_grid;
  const Certificate certificate = certify(parse("gaussian(sigma=20) | rectify(epsilon=8, low=-0.5, high=10.5)"), terms);
  const auto rectified = certificate.mechanisms()[0].rectified.value();
  EXPECT_EQ(rectified.low, 0);
  EXPECT_EQ(rectified.high, 10);
  EXPECT_EQ(std::ldexp(static_cast<double>(rectified.scale_numerator), -rectified.scale_exponent), 1.25);
  EXPECT_LE(certificate.guarantees()[0].epsilon.hi, 8.0000001);  // pure from epsilon on
  ASSERT_TRUE(certificate.mu());
  EXPECT_NEAR(certificate.mu()->hi, 0.05, 0.001);
  terms.rows_are = Rows::disjoint;
  double low = 0, high = 0;
  for (const auto& row : release_of("gaussian(sigma=1000) | rectify(epsilon=80, low=0, high=10)", std::vector<double>(2000, 5), terms).rows)
    (row[0] < 5 ? low : high) += 1;
  EXPECT_GT(low, 800);  // clipped to one end or the other nearly always
  EXPECT_GT(high, 800);
}

TEST(ReleaseStep, RefusesSumsBeyondTheGrid) {
  std::vector<std::int64_t> sums(1);
  const auto fits = [&](std::int64_t a, std::int64_t b) { return noise::add_noise(std::vector{a}, std::vector{b}, sums); };
  EXPECT_TRUE(fits(noise::largest_steps - 5, 4));
  EXPECT_FALSE(fits(noise::largest_steps - 5, 5));
  EXPECT_TRUE(fits(-noise::largest_steps + 5, -5));
  EXPECT_FALSE(fits(-noise::largest_steps + 5, -6));
  EXPECT_FALSE(fits(INT64_MAX, INT64_MAX));
  EXPECT_FALSE(fits(INT64_MIN, INT64_MIN + 100));
}

template <typename Refusal>
void expect_refused(const std::string& plan, const ReleaseTerms& terms, const std::string& message) {
  try {
    static_cast<void>(certify(parse(plan), terms));
    FAIL() << "not refused: " << plan;
  } catch (const Refusal& refusal) {
    EXPECT_THAT(refusal.what(), HasSubstr(message)) << plan;
  }
}

TEST(Certificate, NamesTheTermThatIsOutOfRange) {
  ReleaseTerms none, many, twisted, endless;
  none.rows = 0;
  many.rows = many.columns = 10'001;
  twisted.bounds = Bounds{1, 0};
  endless.bounds = Bounds{0, HUGE_VAL};
  for (const ReleaseTerms& terms : {none, many})
    expect_refused<TooLargeError>("laplace(1)", terms, "between 1 and 100000000 values can be released at once");
  for (const ReleaseTerms& terms : {twisted, endless})
    expect_refused<DomainError>("laplace(1)", terms, "bounds must be finite, the lower not above the upper");
}

TEST(Certificate, NamesThePlanThatAnAggregateNeeds) {
  ReleaseTerms terms;
  terms.neighbours = Neighbours::add_remove;
  terms.aggregate = Aggregate::count;
  expect_refused<DomainError>("laplace(1); laplace(1)", terms, "a sum or a count needs a plan of one line that is run once");
  expect_refused<DomainError>("laplace(1) | repeat(2)", terms, "a sum or a count needs a plan of one line that is run once");
  terms.aggregate = Aggregate::mean;
  terms.rows = 2;
  expect_refused<DomainError>("laplace(1)", terms, "a mean needs a plan of two lines, the first for the sum, the second for the count");
}

TEST(Certificate, NamesTheOperatorThatCannotBeDrawn) {
  ReleaseTerms pairs, counted, gridded;
  pairs.columns = 2;
  expect_refused<UnsupportedError>("gaussian(1) | rectify(1, 0, 10)", pairs, "rectify serves single numeric values, once");
  expect_refused<UnsupportedError>("gaussian(1) | rectify(1, 0, 10) | rectify(1, 0, 10)", {}, "rectify serves single numeric values, once");
  expect_refused<UnsupportedError>("randomized_response(1) | rectify(1, 0, 10)", {}, "rectify serves single numeric values, once");
  for (const char* range : {"3, 3", "4, 3", "0, 1e300"})
    expect_refused<DomainError>("gaussian(1) | rectify(1, " + std::string(range) + ")", {}, "at least a step and below 2^50 steps");
  expect_refused<UnsupportedError>("gaussian(1) | invert()", {}, "invert cannot be drawn");
  expect_refused<UnsupportedError>("(gaussian(1); laplace(1)) | repeat(2)", {}, "an operator on several lines at once cannot be drawn");
  gridded.grid_exponent = 3;
  expect_refused<DomainError>("randomized_response(1)", gridded, "randomised response has no grid");
  counted.aggregate = Aggregate::count;
  counted.neighbours = Neighbours::add_remove;
  for (const char* rate : {"1e-20", "0.12345678901234567"})
    expect_refused<DomainError>("laplace(1) | poisson(" + std::string(rate) + ")", counted,
                                "rate = " + std::string(rate) + " is not allowed; it must be a quotient of whole numbers below 2^53");
  expect_refused<UnsupportedError>("gaussian(1) | poisson(0.5, of=10, at_most=3)", counted, "leave at_most out");
  expect_refused<UnsupportedError>("gaussian(1) | poisson(0.5, examples=3)", counted, "leave examples out");
  expect_refused<UnsupportedError>("gaussian(1, clip=1)", counted, "state sensitivity");
  counted.neighbours = Neighbours::replace_one;
  expect_refused<UnsupportedError>("laplace(1) | sample(rate=0.5)", counted, "sample needs its size and the number of records");
}

TEST(Certificate, LinesInParenthesesAreDrawnOneByOne) {
  ReleaseTerms two;
  two.rows = 2;
  const Certificate nested = certify(parse("(discrete_laplace(2); discrete_laplace(3))"), two),
                    flat = certify(parse("discrete_laplace(2); discrete_laplace(3)"), two);
  EXPECT_EQ(nested.drawn_plan(), flat.drawn_plan());
  EXPECT_EQ(nested.guarantees()[1].epsilon, flat.guarantees()[1].epsilon);
  const Certificate one = certify(parse("(discrete_laplace(2)) | repeat(2)"), two);
  ASSERT_EQ(one.mechanisms().size(), 1U);
  EXPECT_EQ(one.mechanisms()[0].times, 2U);
}

TEST(Certificate, MovesIntoAnother) {
  Certificate one = certify(parse("discrete_laplace(2)"), {}), other = certify(parse("discrete_laplace(3)"), {});
  other = std::move(one);
  EXPECT_FALSE(one.is_valid());  // NOLINT: that is the question
  EXPECT_EQ(to_string(other.plan()), "discrete_laplace(scale=2)");
}

// Decimals and quotients of the same value give the same coin.
TEST(Release, ReadsRatesExactly) {
  ReleaseTerms terms;
  terms.aggregate = Aggregate::count;
  const std::vector<double> records(4000, 1);
  for (const char* rate : {"0.25", "2.5e-1", "1/4", "1e1/40"}) {
    const double found = release_of("laplace(scale=1e-3) | poisson(" + std::string(rate) + ")", records, terms).rows[0][0];
    EXPECT_NEAR(found, 1000, 6 * std::sqrt(4000 * 0.25 * 0.75)) << rate;
  }
  const double many = release_of("laplace(scale=1e-3) | poisson(1e1/16)", records, terms).rows[0][0];
  EXPECT_NEAR(many, 2500, 6 * std::sqrt(4000 * 0.625 * 0.375));
}

// The true answer with probability e^epsilon / (e^epsilon + k - 1), each other answer equally often, for every true answer. [exact-choices]
TEST(Release, OfRandomisedResponseHasItsLaw) {
  constexpr int count = 20'000;
  ReleaseTerms terms;
  terms.rows_are = Rows::disjoint;
  const double truthful = std::exp(1.0) / (std::exp(1.0) + 2);
  for (const int truth : {0, 2}) {
    std::array<int, 3> seen{};
    for (const auto& row : release_of("randomized_response(1, 3)", std::vector<double>(count, truth), terms).rows) {
      ASSERT_TRUE(row[0] == 0 || row[0] == 1 || row[0] == 2) << row[0];
      ++seen.at(static_cast<std::size_t>(row[0]));
    }
    for (int answer = 0; answer < 3; ++answer) {
      const double chance = answer == truth ? truthful : (1 - truthful) / 2;
      EXPECT_NEAR(seen.at(static_cast<std::size_t>(answer)), count * chance, 6 * std::sqrt(count * chance * (1 - chance))) << truth;
    }
  }
}

}  // namespace
}  // namespace tradeoff::detail::test
