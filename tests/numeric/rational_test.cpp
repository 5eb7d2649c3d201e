// SPDX-License-Identifier: Apache-2.0
#include "numeric/rational.h"

#include <gmp.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <random>
#include <string>

#include "numeric/number_text.h"

namespace tradeoff::detail::numeric {
namespace {

std::optional<Rational> rational(const std::string& text) { return exact_rational(*read_quotient(text)); }
std::string text_of(const std::optional<Rational>& value) { return value ? to_string(to_quotient(*value)) : "none"; }

TEST(Rational, ReadsDecimalsAndQuotientsExactly) {
  EXPECT_EQ(text_of(rational("0")), "0");
  EXPECT_EQ(text_of(rational("0/7")), "0");
  EXPECT_EQ(text_of(rational("2.50")), "2.5");
  EXPECT_EQ(text_of(rational("1410/5.15")), "28200/103");
  EXPECT_EQ(text_of(rational("6/3")), "2");
  EXPECT_EQ(text_of(rational("1/8")), "0.125");
  EXPECT_EQ(text_of(rational("1e-5")), "1e-5");
  EXPECT_EQ(text_of(rational("12e30")), "1.2e31");
  EXPECT_EQ(text_of(rational("1e-38")), "1e-38");
  EXPECT_EQ(text_of(rational("340282366920938463463374607431768211455")), "3.40282366920938463463374607431768211455e38");
}

TEST(Rational, GivesUpInsteadOfOverflowing) {
  EXPECT_EQ(rational("-1"), std::nullopt);
  EXPECT_EQ(rational("1e39"), std::nullopt);
  EXPECT_EQ(rational("1e-39"), std::nullopt);
  EXPECT_EQ(rational("1e999999"), std::nullopt);
  EXPECT_EQ(rational("340282366920938463463374607431768211456"), std::nullopt);
  const auto largest = rational("340282366920938463463374607431768211455");
  EXPECT_EQ(sum(largest, rational("1")), std::nullopt);
  EXPECT_EQ(product(largest, 2), std::nullopt);
  EXPECT_EQ(ratio(rational("1"), rational("0")), std::nullopt);
  EXPECT_EQ(ratio(largest, rational("1/3")), std::nullopt);
  EXPECT_EQ(sum(std::nullopt, rational("1")), std::nullopt);
  EXPECT_EQ(text_of(product(largest, 0)), "0");
  EXPECT_EQ(text_of(ratio(largest, largest)), "1");
}

TEST(Rational, WritesAQuotientWhereADecimalIsTooLong) {
  EXPECT_EQ(text_of(rational("1/3")), "1/3");
  EXPECT_EQ(text_of(ratio(rational("1"), rational("1267650600228229401496703205376"))), "1/1.267650600228229401496703205376e30");  // 2^100
}

/// The same operations by GMP.
class Reference {
 public:
  Reference(std::uint64_t numerator, std::uint64_t denominator) : Reference() {
    mpq_set_ui(value_, numerator, denominator);
    mpq_canonicalize(value_);
  }
  Reference() { mpq_init(value_); }
  ~Reference() { mpq_clear(value_); }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
  [[nodiscard]] mpq_ptr get() { return value_; }
  [[nodiscard]] bool equals(const std::optional<Rational>& other) const {
    if (!other) return false;
    const auto equal = [](mpz_srcptr big, Bits128 small) {
      mpz_t copy;
      mpz_init(copy);
      const std::uint64_t words[2] = {static_cast<std::uint64_t>(small >> 64U), static_cast<std::uint64_t>(small)};
      mpz_import(copy, 2, 1, sizeof(std::uint64_t), 0, 0, words);
      const bool same = mpz_cmp(big, copy) == 0;
      mpz_clear(copy);
      return same;
    };
    return equal(mpq_numref(value_), other->numerator) && equal(mpq_denref(value_), other->denominator);
  }

 private:
  mpq_t value_;
};

TEST(Rational, AgreesWithGmp) {
  std::mt19937_64 random(21);
  const auto draw = [&random](int bits) { return (random() >> static_cast<unsigned>(64 - bits)) + 1; };
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t a = draw(1 + i % 60), b = draw(1 + i % 59), c = draw(1 + i % 58), d = draw(1 + i % 57), times = draw(30);
    const auto one = rational(std::to_string(a) + "/" + std::to_string(b)), other = rational(std::to_string(c) + "/" + std::to_string(d));
    Reference first(a, b), second(c, d), result, count(times, 1);
    ASSERT_TRUE(first.equals(one) && second.equals(other));
    EXPECT_EQ(compare(*one, *other) < 0, mpq_cmp(first.get(), second.get()) < 0);
    EXPECT_EQ(compare(*one, *other) == 0, mpq_equal(first.get(), second.get()) != 0);
    mpq_add(result.get(), first.get(), second.get());
    EXPECT_TRUE(result.equals(sum(one, other)));
    mpq_mul(result.get(), first.get(), count.get());
    EXPECT_TRUE(result.equals(product(one, times)));
    mpq_div(result.get(), first.get(), second.get());
    EXPECT_TRUE(result.equals(ratio(one, other)));
    mpq_mul(result.get(), first.get(), second.get());
    EXPECT_TRUE(result.equals(product(one, other)));
  }
}

TEST(Rational, FindsTheRootsOfSquares) {
  std::mt19937_64 random(22);
  for (int i = 0; i < 500; ++i) {
    const std::uint64_t a = random() >> static_cast<unsigned>(i % 64), b = (random() >> static_cast<unsigned>(i % 61)) | 1;
    const auto one = ratio(Rational{a, 1}, Rational{b, 1});
    const auto square = product(one, one);
    if (square) {
      EXPECT_EQ(root(square), one) << a << "/" << b;
    }
    const auto more = sum(square, ratio(Rational{1, 1}, Rational{static_cast<Bits128>(b) * b, 1}));
    if (more && a > 0) {
      EXPECT_EQ(root(more), std::nullopt) << "(a^2 + 1)/b^2 is no square: " << a << "/" << b;
    }
  }
  EXPECT_EQ(root(rational("0")), rational("0"));
  EXPECT_EQ(root(rational("0.01")), rational("0.1"));
  EXPECT_EQ(root(rational("2")), std::nullopt);
  EXPECT_EQ(root(rational("1/2")), std::nullopt);
  const Bits128 largest = (Bits128{1} << 64U) - 1;
  EXPECT_EQ(root(Rational{largest * largest, 1}), (Rational{largest, 1}));
  EXPECT_EQ(root(Rational{~Bits128{0}, 1}), std::nullopt);
}

TEST(Rational, ComparesWithoutOverflow) {
  const auto below = rational("340282366920938463463374607431768211453/340282366920938463463374607431768211454");
  const auto above = rational("340282366920938463463374607431768211454/340282366920938463463374607431768211455");
  EXPECT_EQ(compare(*below, *above), std::strong_ordering::less);
  EXPECT_EQ(compare(*above, *below), std::strong_ordering::greater);
  EXPECT_EQ(compare(*above, *above), std::strong_ordering::equal);
  EXPECT_EQ(compare(*rational("0"), *below), std::strong_ordering::less);
}

}  // namespace
}  // namespace tradeoff::detail::numeric
