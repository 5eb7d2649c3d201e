// SPDX-License-Identifier: Apache-2.0
#include "numeric/double_double.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <random>

namespace tradeoff::detail::numeric {
namespace {

/// A number of 400 bits: enough for every sum, product and quotient below to be far more exact than a double-double.
class Exact {
 public:
  Exact() { mpfr_init2(value_, 400); }
  explicit Exact(DoubleDouble a) : Exact() {
    mpfr_set_d(value_, a.high, MPFR_RNDN);
    mpfr_add_d(value_, value_, a.low, MPFR_RNDN);
  }
  Exact(const Exact&) = delete;
  Exact& operator=(const Exact&) = delete;
  ~Exact() { mpfr_clear(value_); }

  [[nodiscard]] mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

double relative_error(DoubleDouble found, Exact& truth) {
  Exact difference(found);
  mpfr_sub(difference.get(), difference.get(), truth.get(), MPFR_RNDN);
  if (mpfr_zero_p(difference.get()) != 0) return 0;
  mpfr_div(difference.get(), difference.get(), truth.get(), MPFR_RNDN);
  return std::abs(mpfr_get_d(difference.get(), MPFR_RNDN));
}

class Operands {
 public:
  DoubleDouble next() {
    const double high =
        (uniform_(random_) < 0.5 ? -1 : 1) * std::ldexp(1 + uniform_(random_), static_cast<int>(40 * uniform_(random_)) - 20);
    return two_sum(high, high * 0x1p-53 * (2 * uniform_(random_) - 1));
  }
  /// Agrees with -a in about as many leading bits as a random number says, up to all of the high part.
  DoubleDouble nearly_opposite(DoubleDouble a) {
    const double high = -a.high * (1 + std::ldexp(uniform_(random_), -static_cast<int>(60 * uniform_(random_))));
    return two_sum(high, high * 0x1p-53 * (2 * uniform_(random_) - 1));
  }

 private:
  std::mt19937_64 random_{1};
  std::uniform_real_distribution<double> uniform_{0, 1};
};

constexpr double square_of_unit = unit_roundoff * unit_roundoff;
constexpr double third_order = 1 + 1e-12;  // what the stated bounds leave out

using Truth = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

double error_of(DoubleDouble found, Truth truth, DoubleDouble a, DoubleDouble b) {
  Exact left(a), right(b), result;
  truth(result.get(), left.get(), right.get(), MPFR_RNDN);
  return relative_error(found, result);
}

TEST(DoubleDoubleTest, EachOperationIsWithinItsStatedBound) {
  Operands operands;
  for (int i = 0; i < 20'000; ++i) {
    const DoubleDouble a = operands.next(), b = i % 2 == 0 ? operands.next() : operands.nearly_opposite(a);
    const DoubleDouble whole{b.high, 0};
    ASSERT_LE(error_of(a + b.high, mpfr_add, a, whole), 2 * third_order * square_of_unit);
    ASSERT_LE(error_of(a + b, mpfr_add, a, b), 3 * third_order * square_of_unit);
    ASSERT_LE(error_of(a - b, mpfr_sub, a, b), 3 * third_order * square_of_unit);
    ASSERT_LE(error_of(a * b, mpfr_mul, a, b), 5 * third_order * square_of_unit);
    ASSERT_LE(error_of(a / b.high, mpfr_div, a, whole), 4 * third_order * square_of_unit);
    ASSERT_LE(error_of(a / b, mpfr_div, a, b), 6 * third_order * square_of_unit);
  }
  static_assert(6 * third_order * square_of_unit < double_double_error);
}

TEST(DoubleDoubleTest, ASumBoundsItsRounding) {
  Operands operands;
  for (int i = 0; i < 20'000; ++i) {
    const DoubleDouble a = operands.next(), b = i % 2 == 0 ? operands.next() : operands.nearly_opposite(a);
    double error = 0;
    Exact found(add(a, b, error)), left(a), right(b);
    mpfr_add(left.get(), left.get(), right.get(), MPFR_RNDN);
    mpfr_sub(found.get(), found.get(), left.get(), MPFR_RNDN);
    ASSERT_LE(std::abs(mpfr_get_d(found.get(), MPFR_RNDA)), error);
  }
}

TEST(DoubleDoubleTest, ASumKnowsWhetherItIsExact) {
  double error = 0;
  const DoubleDouble tie = add(DoubleDouble{3, 0} * DoubleDouble{0.1, 0}, {-0.30000000000000004, 0}, error);
  EXPECT_EQ(error, 0);
  EXPECT_NE(tie.value(), 0);  // three times the double 0.1 is not the double 0.3...04
  (void)add({1, 0x1p-60}, {0x1p-130, 0}, error);
  EXPECT_GT(error, 0);
}

TEST(DoubleDoubleTest, LogOfComplementIsWithinItsStatedBound) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int k = 0; k < 2000; ++k) {
    const double x = k % 2 == 0 ? uniform(random) : std::exp(-40 * uniform(random));
    if (!(x > 0 && x < 1)) continue;
    Exact truth(DoubleDouble{-x, 0});
    mpfr_log1p(truth.get(), truth.get(), MPFR_RNDN);
    EXPECT_LT(relative_error(log_of_complement(x), truth), log_of_complement_error) << x;
  }
}

TEST(DoubleDoubleTest, ComplementOfExpIsWithinItsStatedBound) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> uniform(0, 0.5);
  for (int k = 0; k < 2000; ++k) {
    const double high = k % 2 == 0 ? uniform(random) : std::exp(-80 * uniform(random)) / 2;
    const DoubleDouble x = fast_two_sum(high, high * (uniform(random) - 0.25) * 0x1p-53);
    Exact truth(-x);
    mpfr_expm1(truth.get(), truth.get(), MPFR_RNDN);
    mpfr_neg(truth.get(), truth.get(), MPFR_RNDN);
    EXPECT_LT(relative_error(complement_of_exp(x), truth), complement_of_exp_error) << high;
  }
}

}  // namespace
}  // namespace tradeoff::detail::numeric
