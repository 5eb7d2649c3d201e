// SPDX-License-Identifier: Apache-2.0
// Integers of any size against GMP, series against Arb. [slow-decision]
#include "noise/enclosure.h"

#include <gmp.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "noise/replay.h"
#include "noise/tails.h"

namespace tradeoff::detail::test {
namespace {

using noise::Enclosure;
using noise::Natural;

std::string digits_of(Natural value) {
  std::string text;
  for (; !value.is_zero(); value = value >> 4) text.insert(text.begin(), "0123456789abcdef"[value.low_word() & 15]);
  return text.empty() ? "0" : text;
}

class Integer {
 public:
  Integer() { mpz_init(value_); }
  explicit Integer(const Natural& natural) { mpz_init_set_str(value_, digits_of(natural).c_str(), 16); }
  Integer(const Integer&) = delete;
  Integer& operator=(const Integer&) = delete;
  ~Integer() { mpz_clear(value_); }
  mpz_ptr get() { return value_; }
  [[nodiscard]] std::string text() const {
    char* digits = mpz_get_str(nullptr, 16, value_);
    std::string result(digits);
    free(digits);  // NOLINT
    return result;
  }

 private:
  mpz_t value_;
};

Natural random_natural(ReplayForTests& random) {
  Natural value;
  const std::uint64_t limbs = random.next() % 5;
  for (std::uint64_t i = 0; i < limbs; ++i) value = (value << 64) + (random.next() % 4 == 0 ? ~0ULL : random.next());
  return value >> (random.next() % 64);
}

TEST(Natural, ComputesAsGmpDoes) {
  ReplayForTests random(3);
  for (int i = 0; i < 3000; ++i) {
    const Natural a = random_natural(random), b = random_natural(random);
    const std::uint64_t word = random.next() | 1, shift = random.next() % 200;
    Integer x(a), y(b), z;
    mpz_add(z.get(), x.get(), y.get());
    ASSERT_EQ(digits_of(a + b), z.text());
    mpz_mul(z.get(), x.get(), y.get());
    ASSERT_EQ(digits_of(a * b), z.text());
    mpz_sub(z.get(), x.get(), y.get());
    mpz_abs(z.get(), z.get());
    ASSERT_EQ(digits_of(a >= b ? a - b : b - a), z.text());
    mpz_fdiv_q_ui(z.get(), x.get(), word);
    ASSERT_EQ(digits_of(a / word), z.text());
    mpz_mul_2exp(z.get(), x.get(), shift);
    ASSERT_EQ(digits_of(a << shift), z.text());
    mpz_fdiv_q_2exp(z.get(), x.get(), shift);
    ASSERT_EQ(digits_of(a >> shift), z.text());
    ASSERT_EQ(a < b, mpz_cmp(x.get(), y.get()) < 0);
    ASSERT_EQ(a == b, mpz_cmp(x.get(), y.get()) == 0);
  }
}

Ball to_ball(const Natural& value, std::size_t precision) {
  fmpz_t integer;
  fmpz_init(integer);
  fmpz_set_str(integer, digits_of(value).c_str(), 16);
  Ball result;
  arb_set_fmpz(result.get(), integer);
  fmpz_clear(integer);
  return result.scaled(-static_cast<slong>(precision));
}

/// Contains the exact value, and is no wider than some thousand roundings.
void expect_encloses(const Enclosure& found, const Ball& truth, double magnitude) {
  EXPECT_TRUE(to_ball(found.below, found.precision) <= truth);
  EXPECT_TRUE(truth <= to_ball(found.above, found.precision));
  const Ball width = to_ball(found.above - found.below, found.precision);
  EXPECT_LE(width.middle(), 2000 * magnitude * std::ldexp(1.0, -static_cast<int>(found.precision)));
}

TEST(Series, EncloseTheFunctionsOfArb) {
  ReplayForTests random(4);
  for (unsigned i = 0; i < 200; ++i) {
    const std::size_t precision = 127 + 64 * (i % 3);
    const double x = static_cast<double>(random.next() % 40'000'000) * 1e-6 * (i % 5 == 0 ? 1e-9 : 1);
    const Natural below = Natural(static_cast<std::uint64_t>(x * 0x1p32)) << (precision - 32);
    const Enclosure exact{below, below, precision};
    const Ball at = to_ball(below, precision);
    expect_encloses(exponential(exact), exp(at), std::exp(x) * (1 + x));
    if (x > 9) continue;
    // (Phi(x) - 1/2) / phi(x) = erf(x / sqrt 2) sqrt(pi / 2) exp(x^2 / 2)
    Ball root, erf, half_pi;
    arb_sqrt_ui(root.get(), 2, Ball::precision);
    const Ball scaled = at / root;
    arb_hypgeom_erf(erf.get(), scaled.get(), Ball::precision);
    arb_const_pi(half_pi.get(), Ball::precision);
    half_pi = half_pi.scaled(-1);
    arb_sqrt(half_pi.get(), half_pi.get(), Ball::precision);
    const Ball truth = erf * half_pi * exp((at * at).scaled(-1));
    expect_encloses(normal_series(exact), truth, (truth.middle() + 1) * (1 + x));
  }
  Ball pi;
  arb_const_pi(pi.get(), Ball::precision);
  for (const std::size_t precision : {64U, 127U, 300U}) expect_encloses(noise::pi(precision), pi, 1);
}

}  // namespace
}  // namespace tradeoff::detail::test
