// SPDX-License-Identifier: Apache-2.0
// Interval arithmetic against MPFR, over the whole range of doubles. [outward-rounding]
#include "numeric/arithmetic.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <random>
#include <vector>

#include "support/doubles.h"
#include "support/matchers.h"

namespace tradeoff::detail::test {
namespace {

/// Doubles of every magnitude and both signs: random bits, so that subnormals and the largest are as likely as any.
class Doubles {
 public:
  double any() {
    for (;;) {
      const double x = std::bit_cast<double>(random_());
      if (std::isfinite(x)) return x;
    }
  }
  double uniform(double low, double high) { return std::uniform_real_distribution<>(low, high)(random_); }
  double scale(double low, double high) { return std::pow(2, uniform(low, high)); }
  std::uint64_t bits() { return random_(); }

 private:
  std::mt19937_64 random_{7};
};

const std::vector<double> hard = {0.0,
                                  -0.0,
                                  test::least_double,
                                  -test::least_double,
                                  3 * test::least_double,
                                  0x1p-1022,
                                  -0x1p-1022,
                                  0x1.fffffffffffffp-1023,
                                  0x1p-960,
                                  0x1p-900,
                                  0x1p-538,
                                  0x1p-537,
                                  1,
                                  -1,
                                  std::nextafter(1, 0),
                                  std::nextafter(1, 2),
                                  1.0 / 3,
                                  3,
                                  0x1p53,
                                  0x1p511,
                                  0x1p512,
                                  1e300,
                                  test::largest_double,
                                  -test::largest_double};

/// The exact result of an operation, rounded down and up to doubles by MPFR, subnormals included.
template <class Operation>
Interval exact_bounds(Operation operation) {
  Interval bounds;
  mpfr_t result;
  mpfr_init2(result, 2300);  // enough for any sum, product or square of two doubles to be exact
  operation(result, MPFR_RNDD);
  bounds.lo = mpfr_get_d(result, MPFR_RNDD);
  operation(result, MPFR_RNDU);
  bounds.hi = mpfr_get_d(result, MPFR_RNDU);
  mpfr_clear(result);
  return bounds;
}

class Operand {
 public:
  explicit Operand(double value) {
    mpfr_init2(value_, 53);
    mpfr_set_d(value_, value, MPFR_RNDN);
  }
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;
  ~Operand() { mpfr_clear(value_); }
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

/// The computed interval covers the exact one and is at most one unit wider at each end.
void expect_outward(Interval computed, Interval exact, const char* what, double a, double b) {
  const bool covers = computed.lo <= exact.lo && computed.hi >= exact.hi;
  const bool close = computed.lo >= numeric::next_down(exact.lo) && computed.hi <= numeric::next_up(exact.hi);
  EXPECT_TRUE(covers && close) << what << " of " << ::testing::PrintToString(Interval{a, b}) << ": " << ::testing::PrintToString(computed)
                               << " against " << ::testing::PrintToString(exact);
}

void expect_operations(double a, double b) {
  Operand x(a);
  Operand y(b);
  const Interval left = Interval::exactly(a);
  const Interval right = Interval::exactly(b);
  expect_outward(left + right, exact_bounds([&](mpfr_ptr r, mpfr_rnd_t way) { mpfr_add(r, x.get(), y.get(), way); }), "sum", a, b);
  expect_outward(left - right, exact_bounds([&](mpfr_ptr r, mpfr_rnd_t way) { mpfr_sub(r, x.get(), y.get(), way); }), "difference", a, b);
  expect_outward(left * right, exact_bounds([&](mpfr_ptr r, mpfr_rnd_t way) { mpfr_mul(r, x.get(), y.get(), way); }), "product", a, b);
  if (b != 0)
    expect_outward(left / right, exact_bounds([&](mpfr_ptr r, mpfr_rnd_t way) { mpfr_div(r, x.get(), y.get(), way); }), "quotient", a, b);
  expect_outward(square(left), exact_bounds([&](mpfr_ptr r, mpfr_rnd_t way) { mpfr_sqr(r, x.get(), way); }), "square", a, a);
  if (a >= 0) expect_outward(sqrt(left), exact_bounds([&](mpfr_ptr r, mpfr_rnd_t way) { mpfr_sqrt(r, x.get(), way); }), "root", a, a);
}

TEST(Arithmetic, OperationsAtHardArguments) {
  for (const double a : hard) {
    for (const double b : hard) expect_operations(a, b);
  }
}

TEST(Arithmetic, OperationsAtRandomBits) {
  Doubles doubles;
  for (int i = 0; i < 20000; ++i) expect_operations(doubles.any(), doubles.any());
}

TEST(Arithmetic, OperationsThatAreNearlyExact) {
  Doubles doubles;
  for (int i = 0; i < 20000; ++i) {
    // Few significant bits: many results are exact, and must come out as points; sums cancel.
    const double a = std::ldexp(static_cast<double>(doubles.bits() % 2048), static_cast<int>(doubles.bits() % 2000) - 1050);
    const double b = a * static_cast<double>(doubles.bits() % 8) + static_cast<double>(doubles.bits() % 3);
    expect_operations(a, b);
    expect_operations(a, -b);
  }
  EXPECT_EQ(Interval::exactly(0.5) + Interval::exactly(0.25), Interval::exactly(0.75));
  EXPECT_EQ(Interval::exactly(3) * Interval::exactly(5), Interval::exactly(15));
  EXPECT_EQ(Interval::exactly(3) / Interval::exactly(4), Interval::exactly(0.75));
  EXPECT_EQ(sqrt(Interval::exactly(2.25)), Interval::exactly(1.5));
}

TEST(Arithmetic, InfinitiesNeverMakeNaN) {
  const std::vector<double> ends = {-infinity, -test::largest_double, -1, -0.0, 0, test::least_double, 1, test::largest_double, infinity};
  std::vector<Interval> intervals;
  for (const double low : ends) {
    for (const double high : ends) {
      if (low <= high) intervals.push_back({low, high});
    }
  }
  const auto sound = [](Interval x) { return x.lo <= x.hi; };  // false for NaN
  for (const Interval a : intervals) {
    for (const Interval f : {-a, square(a), sqrt(a), exp(a), expm1(a), log(a), log1p(a), tanh(a), log1mexp(a), power(a, 3), power(a, 0)}) {
      EXPECT_TRUE(sound(f)) << ::testing::PrintToString(a) << " gave " << ::testing::PrintToString(f);
    }
    for (const Interval b : intervals) {
      for (const Interval f : {a + b, a - b, a * b, a / b, max(a, b), min(a, b), hull(a, b), intersect(a, b), log_add_exp(a, b)}) {
        EXPECT_TRUE(sound(f)) << ::testing::PrintToString(a) << " with " << ::testing::PrintToString(b) << " gave "
                              << ::testing::PrintToString(f);
      }
    }
  }
}

TEST(Arithmetic, EveryPairOfMembersIsEnclosed) {
  Doubles doubles;
  const auto inside = [&](Interval a) { return std::clamp(a.lo + (a.hi - a.lo) * doubles.uniform(0, 1), a.lo, a.hi); };
  const auto interval = [&] {
    const double x = doubles.uniform(-4, 4);
    return Interval{x, x + doubles.uniform(0, 3)};
  };
  for (int i = 0; i < 20000; ++i) {
    const Interval a = interval();
    const Interval b = interval();
    const double x = inside(a);
    const double y = inside(b);
    EXPECT_TRUE((a * b).contains(x * y));
    EXPECT_TRUE(b.contains(0) || (a / b).contains(x / y));
    EXPECT_TRUE(square(a).contains(x * x));
    EXPECT_TRUE(power(a, 5).lo <= x * x * x * x * x * (1 + 1e-15) + 1e-300 || x < 0);
  }
}

// Elementary functions: the whole range of each, compared with MPFR at 120 bits.

using Reference = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

void expect_function(const char* name, Interval (*function)(Interval), Reference reference, double x, double width) {
  Operand argument(x);
  mpfr_t below, above;
  mpfr_inits2(120, below, above, nullptr);
  reference(below, argument.get(), MPFR_RNDD);
  reference(above, argument.get(), MPFR_RNDU);
  const Interval computed = function(Interval::exactly(x));
  // A number beyond the range of doubles is enclosed if the ends are the largest double and infinity.
  EXPECT_TRUE(computed.lo <= computed.hi && mpfr_cmp_d(below, computed.lo) >= 0 && mpfr_cmp_d(above, computed.hi) <= 0)
      << name << " at " << std::hexfloat << x << ": " << computed.lo << ", " << computed.hi;
  if (std::abs(computed.hi) < test::largest_double && std::abs(computed.lo) > 1e-300) {
    EXPECT_THAT(computed, IsTight(width)) << name << " at " << x;
  }
  mpfr_clears(below, above, nullptr);
}

int log1mexp_reference(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t) {
  mpfr_t wide;
  mpfr_init2(wide, 1400);
  mpfr_exp(wide, x, MPFR_RNDN);
  mpfr_ui_sub(wide, 1, wide, MPFR_RNDN);
  mpfr_log(result, wide, MPFR_RNDN);
  mpfr_clear(wide);
  return 0;
}

TEST(Arithmetic, ElementaryFunctionsOverTheirWholeRange) {
  Doubles doubles;
  const double tight = 0x1p-48;
  std::vector<double> arguments = hard;
  for (const double x :
       {709.7, 709.78, 709.79, 710.0, -708.4, -745.1, -745.2, -746.0, 36.7, -36.7, 1e-8, -1e-8, 0x1p-54, -0x1p-54, 0.6931471805599453})
    arguments.push_back(x);
  for (int i = 0; i < 2500; ++i) {
    arguments.push_back(doubles.any());
    arguments.push_back(doubles.uniform(-750, 720));
    arguments.push_back(doubles.uniform(-2, 2));
    arguments.push_back((i % 2 == 0 ? 1 : -1) * doubles.scale(-60, 2));
    arguments.push_back(1 + (i % 2 == 0 ? 1 : -1) * doubles.scale(-52, -2));
  }
  for (const double x : arguments) {
    expect_function("exp", exp, mpfr_exp, x, tight);
    expect_function("expm1", expm1, mpfr_expm1, x, tight);
    expect_function("tanh", tanh, mpfr_tanh, x, tight);
    if (x > 0) expect_function("log", log, mpfr_log, x, tight);
    if (x > -1) expect_function("log1p", log1p, mpfr_log1p, x, tight);
    if (x < 0 && x > -700 && x < -1e-200) expect_function("log1mexp", log1mexp, log1mexp_reference, x, 1e-14);
  }
}

TEST(Arithmetic, LogarithmOfASumOfExponentials) {
  Doubles doubles;
  for (int i = 0; i < 3000; ++i) {
    const double a = doubles.uniform(-1, 1) * doubles.scale(-10, 20);
    const double b = a + doubles.uniform(-1, 1) * doubles.scale(-30, 8);
    mpfr_t x, y;
    mpfr_inits2(300, x, y, nullptr);
    mpfr_set_d(x, b, MPFR_RNDN);
    mpfr_sub_d(x, x, a, MPFR_RNDN);
    mpfr_exp(x, x, MPFR_RNDN);
    mpfr_log1p(x, x, MPFR_RNDN);
    mpfr_set_d(y, a, MPFR_RNDN);
    mpfr_add(x, x, y, MPFR_RNDN);
    const Interval computed = log_add_exp(Interval::exactly(a), Interval::exactly(b));
    EXPECT_TRUE(mpfr_cmp_d(x, computed.lo) >= 0 && mpfr_cmp_d(x, computed.hi) <= 0) << a << " " << b;
    EXPECT_LE(computed.width(), 0x1p-46 * std::max({1.0, std::abs(a), std::abs(b)}));
    mpfr_clears(x, y, nullptr);
  }
}

TEST(Arithmetic, LogGammaStaysWithinItsTable) {
  Doubles doubles;
  for (int i = 0; i < 3000; ++i) {
    const double x = i % 2 == 0 ? doubles.uniform(0, 4) : doubles.scale(0, 60);
    if (x == 0) continue;
    Operand argument(x);
    mpfr_t truth;
    mpfr_init2(truth, 120);
    mpfr_lngamma(truth, argument.get(), MPFR_RNDN);
    const double unit = std::max(1.0, std::abs(mpfr_get_d(truth, MPFR_RNDN))) * 0x1p-52;
    mpfr_sub_d(truth, truth, std::lgamma(x), MPFR_RNDN);
    EXPECT_LE(std::abs(mpfr_get_d(truth, MPFR_RNDA)), numeric::libm_ulps::lgamma * unit / 2) << x;
    mpfr_clear(truth);
  }
}

TEST(Arithmetic, LibmStaysWithinItsTable) {
  // The table of numeric/libm_bounds.h is also used by plain double code: measures the raw functions.
  namespace ulps = numeric::libm_ulps;
  Doubles doubles;
  const auto expect_within = [](const char* name, double computed, Reference reference, double x, double allowed) {
    Operand argument(x);
    mpfr_t truth;
    mpfr_init2(truth, 120);
    reference(truth, argument.get(), MPFR_RNDN);
    const double unit = std::abs(mpfr_get_d(truth, MPFR_RNDN)) * 0x1p-52 + test::least_double;
    mpfr_sub_d(truth, truth, computed, MPFR_RNDN);
    EXPECT_LE(std::abs(mpfr_get_d(truth, MPFR_RNDA)), allowed * unit / 2)
        << name << " at " << std::hexfloat << x;  // twice as accurate as we assume
    mpfr_clear(truth);
  };
  for (int i = 0; i < 4000; ++i) {
    const double x = doubles.uniform(-6, 27);
    expect_within("erf", std::erf(x), mpfr_erf, x, ulps::erf);
    expect_within("erfc", std::erfc(x), mpfr_erfc, x, ulps::erfc);
    const double angle = doubles.uniform(-1, 1) * doubles.scale(-30, 20);
    expect_within("sin", std::sin(angle), mpfr_sin, angle, ulps::sin);
    expect_within("cos", std::cos(angle), mpfr_cos, angle, ulps::cos);
    const double quotient = doubles.uniform(-1, 1) * doubles.scale(-30, 30);
    expect_within("atan2", std::atan2(quotient, 1), mpfr_atan, quotient, ulps::atan2);
    const double e = doubles.uniform(-708, 709);
    expect_within("exp", std::exp(e), mpfr_exp, e, ulps::exp);
    const double positive = std::abs(doubles.any());
    if (positive > 0) expect_within("log", std::log(positive), mpfr_log, positive, ulps::log);
    const double small = doubles.uniform(-0.999, 4) * doubles.scale(-40, 0);
    expect_within("log1p", std::log1p(small), mpfr_log1p, small, ulps::log1p);
    expect_within("expm1", std::expm1(small), mpfr_expm1, small, ulps::expm1);
    expect_within("tanh", std::tanh(small), mpfr_tanh, small, ulps::tanh);
  }
}

}  // namespace
}  // namespace tradeoff::detail::test
