// SPDX-License-Identifier: Apache-2.0
#include "numeric/number_text.h"

#include <gmpxx.h>
#include <gtest/gtest.h>
#include <mpfr.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <string>

#include "numeric/arithmetic.h"
#include "support/doubles.h"

namespace tradeoff::detail::numeric {
namespace {

/// The decimal read by MPFR and rounded to double in one direction. Never through a wider format: that would round twice.
double read_by_mpfr(const std::string& text, mpfr_rnd_t rounding) {
  // The double format has fewer bits below 2^-1022; MPFR is told so by its exponent range and mpfr_subnormalize.
  const mpfr_exp_t old_min = mpfr_get_emin();
  const mpfr_exp_t old_max = mpfr_get_emax();
  mpfr_set_emin(-1073);
  mpfr_set_emax(1024);
  mpfr_t x;
  mpfr_init2(x, 53);
  char* end = nullptr;
  const int ternary = mpfr_strtofr(x, text.c_str(), &end, 10, rounding);
  EXPECT_EQ(*end, '\0') << text;
  mpfr_subnormalize(x, ternary, rounding);
  const double value = mpfr_get_d(x, rounding);
  mpfr_clear(x);
  mpfr_set_emin(old_min);
  mpfr_set_emax(old_max);
  return value;
}

void expect_smallest_interval(const std::string& text) {
  const auto interval = enclose_decimal(text);
  ASSERT_TRUE(interval) << text;
  EXPECT_EQ(interval->lo, read_by_mpfr(text, MPFR_RNDD)) << text;
  EXPECT_EQ(interval->hi, read_by_mpfr(text, MPFR_RNDU)) << text;
}

/// The exact sign of decimal - value, by rational arithmetic.
int exact_sign(const std::string& text, double value) {
  const auto decimal = read_decimal(text);
  EXPECT_TRUE(decimal) << text;
  mpq_class exact(mpz_class(decimal->digits));
  mpz_class power;
  mpz_ui_pow_ui(power.get_mpz_t(), 10, static_cast<unsigned long>(std::abs(decimal->exponent)));
  exact = decimal->exponent < 0 ? mpq_class(exact / mpq_class(power)) : mpq_class(exact * mpq_class(power));
  if (decimal->negative) exact = -exact;
  return cmp(exact, mpq_class(value));
}

double random_double(std::mt19937_64& random) {
  while (true) {
    const auto value = std::bit_cast<double>(random());
    if (std::isfinite(value)) return value;
  }
}

std::string random_decimal(std::mt19937_64& random) {
  const auto up_to = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n + 1)); };
  std::string text = up_to(3) == 0 ? "-" : "";
  const int digits = 1 + (up_to(9) == 0 ? up_to(900) : up_to(24));
  const int point = up_to(digits);
  for (int i = 0; i < digits; ++i) {
    if (i == point) text += '.';
    text += static_cast<char>('0' + up_to(9));
  }
  const int range = up_to(2) == 0 ? 340 : 25;
  return text + "e" + std::to_string(up_to(2 * range) - range);
}

TEST(ReadDecimal, TakesEveryOrdinarySpelling) {
  for (const char* text : {"0.1", ".1", "+.1", "1e-1", "0.10", "10E-2", "00.1", "+1.e-1"}) {
    const auto decimal = read_decimal(text);
    ASSERT_TRUE(decimal) << text;
    EXPECT_EQ(*decimal, (Decimal{false, "1", -1})) << text;
    EXPECT_EQ(to_string(*decimal), "0.1") << text;
  }
  for (const char* text : {"0", "-0", "0.000", "0e5", "-0e-99999999999999999999999", "+.0"})
    EXPECT_EQ(read_decimal(text), Decimal{}) << text;
  EXPECT_EQ(read_decimal("5."), (Decimal{false, "5", 0}));
  EXPECT_EQ(read_decimal("-1200"), (Decimal{true, "12", 2}));
}

TEST(ReadDecimal, RefusesEverythingElse) {
  for (const char* text : {"",
                           ".",
                           "-",
                           "+",
                           "e5",
                           ".e5",
                           "1e",
                           "1e+",
                           "1e-",
                           "1.2.3",
                           "1_000",
                           "1,5",
                           " 1",
                           "1 ",
                           "0x10",
                           "inf",
                           "nan",
                           "--1",
                           "+-1",
                           "1e5.5",
                           "1/2",
                           "1e1000000000",
                           "1e-1000000001",
                           "1e99999999999999999999999",
                           "1f",
                           "\xE2\x88\x92"
                           "1"}) {
    EXPECT_FALSE(read_decimal(text)) << text;
  }
}

TEST(ReadDecimal, CountsTheMagnitudeNotTheWrittenExponent) {
  EXPECT_TRUE(read_decimal("0.01e1000000000"));
  EXPECT_FALSE(read_decimal("100e999999999"));
}

TEST(DecimalText, IsPlainInTheMiddleAndScientificOutside) {
  const std::pair<const char*, const char*> cases[] = {{"14062", "14062"},
                                                       {"1e3", "1000"},
                                                       {"1e20", "100000000000000000000"},
                                                       {"1e21", "1e21"},
                                                       {"12e20", "1.2e21"},
                                                       {"0.0001", "0.0001"},
                                                       {"0.00001", "1e-5"},
                                                       {"0.000012", "1.2e-5"},
                                                       {"-1.50", "-1.5"},
                                                       {"123.456", "123.456"},
                                                       {"1e-400", "1e-400"},
                                                       {"-12e-9", "-1.2e-8"},
                                                       {"123456789012345678901.5", "123456789012345678901.5"},
                                                       {"0.5", "0.5"}};
  for (const auto& [text, canonical] : cases) EXPECT_EQ(to_string(*read_decimal(text)), canonical);
}

TEST(DecimalText, EqualNumbersHaveEqualSpellingsAndRoundTrip) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 5'000; ++i) {
    const auto decimal = read_decimal(random_decimal(random));
    ASSERT_TRUE(decimal);
    EXPECT_EQ(read_decimal(to_string(*decimal)), decimal);
    Decimal shifted = *decimal;
    shifted.digits += "000";
    shifted.exponent -= 3;
    EXPECT_EQ(read_decimal((shifted.negative ? "-" : "+") + shifted.digits + "e" + std::to_string(shifted.exponent)), decimal);
  }
}

TEST(Enclose, IsAPointForDoublesAndTwoNeighboursOtherwise) {
  EXPECT_EQ(enclose_decimal("0.5"), Interval::exactly(0.5));
  EXPECT_EQ(enclose_decimal("1e22"), Interval::exactly(1e22));
  EXPECT_EQ(enclose_decimal("-0"), Interval::exactly(0));
  EXPECT_EQ(enclose_decimal("0.1"), (Interval{next_down(0.1), 0.1}));  // the double 0.1 is above one tenth
  EXPECT_EQ(enclose_decimal("-0.1"), (Interval{-0.1, next_up(-0.1)}));
  EXPECT_EQ(enclose_decimal("9007199254740993"), (Interval{9007199254740992.0, 9007199254740994.0}));
}

TEST(Enclose, HoldsBelowTheSmallestAndBeyondTheLargestDouble) {
  EXPECT_EQ(enclose_decimal("1e-400"), (Interval{0, test::least_double}));
  EXPECT_EQ(enclose_decimal("-1e-999999999"), (Interval{-test::least_double, 0}));
  EXPECT_EQ(enclose_decimal("4.9406564584124654e-324"), (Interval{0, test::least_double}));
  EXPECT_EQ(enclose_decimal("4.9406564584124655e-324"), (Interval{test::least_double, 2 * test::least_double}));
  EXPECT_EQ(enclose_decimal("1e400"), (Interval{test::largest_double, infinity}));
  EXPECT_EQ(enclose_decimal("-1e309"), (Interval{-infinity, -test::largest_double}));
  EXPECT_EQ(enclose_decimal("1.797693134862315709e308"),
            (Interval{test::largest_double, infinity}));  // rounds to the largest, but is above it
  EXPECT_EQ(enclose_decimal(to_string(exact_decimal(test::largest_double))), Interval::exactly(test::largest_double));
}

TEST(Enclose, SeesTheLastOfVeryManyDigits) {
  const std::string exact = to_string(exact_decimal(0x1.fffffffffffffp-1022));
  EXPECT_EQ(enclose_decimal(exact), Interval::exactly(0x1.fffffffffffffp-1022));
  const auto e = exact.find('e');
  const std::string above = exact.substr(0, e) + std::string(5'000, '0') + "1" + exact.substr(e);
  EXPECT_EQ(enclose_decimal(above), (Interval{0x1.fffffffffffffp-1022, 0x1p-1021}));
  EXPECT_EQ(enclose_decimal("1." + std::string(2'000'000, '0') + "1"), (Interval{1, next_up(1)}));
  EXPECT_EQ(enclose_decimal("0." + std::string(2'000'000, '9')), (Interval{next_down(1), 1}));
}

TEST(Enclose, IsTheSmallestIntervalAtRandomDecimals) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20'000; ++i) expect_smallest_interval(random_decimal(random));
}

TEST(Enclose, IsTheSmallestIntervalAtAndBesideDoubles) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 3'000; ++i) {
    Decimal exact = exact_decimal(random_double(random));
    expect_smallest_interval(to_string(exact));
    exact.digits.back() = static_cast<char>(exact.digits.back() == '9' ? '8' : exact.digits.back() + 1);
    expect_smallest_interval(to_string(exact));
  }
}

// What programs write: 15 to 20 digits of a double of ordinary size, and their neighbours.
TEST(Enclose, IsTheSmallestIntervalAtNumbersThatProgramsWrite) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> logarithm(-16, 37);
  for (int i = 0; i < 4'000; ++i) {
    const double value = std::exp(logarithm(random));
    std::array<char, 64> text{};
    for (int digits = 15; digits <= 20; ++digits) {
      std::snprintf(text.data(), text.size(), "%.*e", digits - 1, value);
      expect_smallest_interval(text.data());
      Decimal beside = *read_decimal(text.data());
      beside.digits.back() = static_cast<char>(beside.digits.back() == '9' ? '8' : beside.digits.back() + 1);
      expect_smallest_interval(to_string(beside));
    }
    expect_smallest_interval(to_string(exact_decimal(std::round(value))));
  }
}

TEST(Enclose, DividesOutward) {
  EXPECT_EQ(read_quotient("3"), (Quotient{{false, "3", 0}, {false, "1", 0}}));
  EXPECT_EQ(to_string(*read_quotient("256.0/6e4")), "256/60000");
  EXPECT_FALSE(read_quotient("1/0"));
  EXPECT_FALSE(read_quotient("1/2/3"));
  EXPECT_FALSE(read_quotient("/2"));
  EXPECT_FALSE(read_quotient("2/"));
  const Interval third = enclose(*read_quotient("1/3"));
  EXPECT_EQ(third.hi, next_up(third.lo));
  EXPECT_EQ(enclose(*read_quotient("1/4")), Interval::exactly(0.25));
  std::mt19937_64 random(4);
  for (int i = 0; i < 5'000; ++i) {
    const std::string a = std::to_string(random() % 1'000'000) + "e-3";
    const std::string b = std::to_string(1 + random() % 1'000'000) + "e-2";
    const Interval quotient = enclose(*read_quotient(a + "/" + b));
    const mpq_class truth = mpq_class(a.substr(0, a.find('e'))) / mpq_class(b.substr(0, b.find('e'))) / 10;
    EXPECT_LE(cmp(mpq_class(quotient.lo), truth), 0) << a << "/" << b;
    EXPECT_GE(cmp(mpq_class(quotient.hi), truth), 0) << a << "/" << b;
    EXPECT_LE(quotient.width(), 8e-16 * quotient.hi);
  }
}

TEST(ExactDecimal, HasAllDigits) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 2'000; ++i) {
    const double value = random_double(random);
    EXPECT_EQ(exact_sign(to_string(exact_decimal(value)), value), 0);
  }
  EXPECT_EQ(exact_decimal(0x1.fffffffffffffp-1022).digits.size(), 767U);
  EXPECT_EQ(exact_decimal(-0.0), Decimal{});
}

TEST(Compare, OrdersByExactValue) {
  const char* increasing[] = {"-1e5", "-2", "-1.5", "-1e-400", "0", "1e-400", "0.1", "0.11", "0.9", "1", "1.00000000000000000001", "10"};
  for (std::size_t i = 0; i < std::size(increasing); ++i) {
    for (std::size_t j = 0; j < std::size(increasing); ++j) {
      EXPECT_EQ(compare(*read_decimal(increasing[i]), *read_decimal(increasing[j])), i <=> j) << increasing[i] << " " << increasing[j];
    }
  }
}

TEST(ToText, NeverClaimsMoreThanTheDoubleHolds) {
  std::mt19937_64 random(6);
  for (int i = 0; i < 6'000; ++i) {
    const double value = i % 2 == 0 ? random_double(random) : std::ldexp(static_cast<double>(random() >> 11), -50);
    for (const int digits : {0, 1, 2, 6, 17, 20}) {
      EXPECT_LE(exact_sign(to_text_below(value, digits), value), 0) << value << " " << digits;
      EXPECT_GE(exact_sign(to_text_above(value, digits), value), 0) << value << " " << digits;
    }
  }
}

TEST(ToText, IsAsTightAsItsDigits) {
  EXPECT_EQ(to_text_below(2.3816905, 7), "2.38169");
  EXPECT_EQ(to_text_above(2.3816905, 7), "2.381691");
  EXPECT_EQ(to_text_above(9.9999, 3), "10");
  EXPECT_EQ(to_text_below(-9.9999, 3), "-10");
  EXPECT_EQ(to_text_below(-1.25, 2), "-1.3");
  EXPECT_EQ(to_text_above(-1.25, 2), "-1.2");
  EXPECT_EQ(to_text_below(1234567, 3), "1230000");
  EXPECT_EQ(to_text_above(0.5, 3), "0.5");
  EXPECT_EQ(to_text_below(0), "0");
  EXPECT_EQ(to_text_above(-0.0), "0");
  EXPECT_EQ(to_text_below(0.1), "0.1");
  EXPECT_EQ(to_text_above(0.1), "0.10000000000000001");
}

TEST(ToText, WithoutDigitsReadsBackAsTheSameDouble) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const double value = i % 2 == 0 ? random_double(random) : std::ldexp(static_cast<double>(random() >> 11), -50);
    EXPECT_EQ(std::strtod(to_text_below(value).c_str(), nullptr), value);
    EXPECT_EQ(std::strtod(to_text_above(value).c_str(), nullptr), value);
  }
}

TEST(ToText, NamesInfinityAndGivesNoBoundForNotANumber) {
  EXPECT_EQ(to_text_below(infinity), "inf");
  EXPECT_EQ(to_text_above(infinity), "inf");
  EXPECT_EQ(to_text_below(-infinity), "-inf");
  EXPECT_EQ(to_text_below(std::numeric_limits<double>::quiet_NaN()), "-inf");
  EXPECT_EQ(to_text_above(std::numeric_limits<double>::quiet_NaN()), "inf");
}

}  // namespace
}  // namespace tradeoff::detail::numeric
