// SPDX-License-Identifier: Apache-2.0
#include "transform/zcdp_transform.h"

#include <acb_calc.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mechanism/renyi_bound.h"
#include "numeric/arithmetic.h"
#include "operators/refine.h"
#include "support/matchers.h"
#include "support/transform_witness.h"

// [zcdp-transform]
namespace tradeoff::detail {
namespace {

using test::Ball;
using test::ComplexBall;
using test::witness_bits;

/// One half of the losses: density b(s) w(s)^power with w = 1 - rate + rate e^x(s), or a(s) w(s)^power with e^-x(s).
struct Half {
  bool positive;
  double rho, rate;
  acb_t power;
};

int half_integrand(acb_ptr out, const acb_t s, void* data, slong order, slong bits) {
  const auto* half = static_cast<const Half*>(data);
  ComplexBall root, log_s, log_next, x, w, exponent;
  Ball rho(half->rho), rate(half->rate);
  acb_log_analytic(log_s.get(), s, order != 0, bits);
  acb_add_ui(root.get(), s, 1, bits);
  acb_log_analytic(log_next.get(), root.get(), order != 0, bits);
  acb_add(x.get(), root.get(), s, bits);
  acb_mul_arb(x.get(), x.get(), rho.get(), bits);
  acb_add(x.get(), x.get(), log_s.get(), bits);
  acb_sub(x.get(), x.get(), log_next.get(), bits);
  if (!half->positive) acb_neg(x.get(), x.get());
  if (half->rate < 1) {
    acb_exp(w.get(), x.get(), bits);
    acb_sub_ui(w.get(), w.get(), 1, bits);
    acb_mul_arb(w.get(), w.get(), rate.get(), bits);
    acb_add_ui(w.get(), w.get(), 1, bits);
    acb_log_analytic(w.get(), w.get(), order != 0, bits);
  } else {
    acb_set(w.get(), x.get());
  }
  acb_mul(w.get(), w.get(), half->power, bits);
  if (!half->positive) acb_set(root.get(), s);
  acb_mul(exponent.get(), root.get(), root.get(), bits);
  acb_mul_arb(exponent.get(), exponent.get(), rho.get(), bits);
  acb_sub(w.get(), w.get(), exponent.get(), bits);
  acb_exp(w.get(), w.get(), bits);
  acb_mul(w.get(), w.get(), root.get(), bits);
  acb_mul_arb(w.get(), w.get(), rho.get(), bits);
  acb_mul_2exp_si(out, w.get(), 1);
  return 0;
}

/// E_Q[w^(p + it)] by integrals over s from s0 on, in Arb.
class ZcdpWitness {
 public:
  ZcdpWitness(double rho, double rate, SampledBy sampling) : rho_(rho), rate_(rate), sampling_(sampling) {
    double low = 0, high = 100 / std::sqrt(rho);
    for (int i = 0; i < 2000 && high - low > 0; ++i) {  // exp(-rho s^2) + exp(-rho (s+1)^2) = 1
      const double middle = low + (high - low) / 2;
      if (middle <= low || middle >= high) break;
      (-std::expm1(-rho * middle * middle) > std::exp(-rho * (middle + 1) * (middle + 1)) ? high : low) = middle;
    }
    start_ = Ball(high);
    for (int i = 0; i < 6; ++i) newton();
  }

  [[nodiscard]] ComplexBall moment(double power, double t) const {
    ComplexBall sum = half(true, power, t);
    const bool fixed = sampling_ == SampledBy::fixed;
    const ComplexBall other = fixed ? half(true, 1 - power, -t) : half(false, power, t);
    acb_add(sum.get(), sum.get(), other.get(), witness_bits);
    if (!fixed) return sum;
    Ball rest = power_of(0), rate(rate_), one(1);  // (1 - rate)(2 exp(-rho s0^2) - 1)
    arb_mul_2exp_si(rest.get(), rest.get(), 1);
    arb_sub_ui(rest.get(), rest.get(), 1, witness_bits);
    arb_sub(one.get(), one.get(), rate.get(), witness_bits);
    arb_mul(rest.get(), rest.get(), one.get(), witness_bits);
    acb_add_arb(sum.get(), sum.get(), rest.get(), witness_bits);
    return sum;
  }

 private:
  /// exp(-rho (s0 + move)^2).
  [[nodiscard]] Ball power_of(unsigned move) const {
    Ball square = start_, rho(rho_);
    arb_add_ui(square.get(), square.get(), move, witness_bits);
    arb_mul(square.get(), square.get(), square.get(), witness_bits);
    arb_mul(square.get(), square.get(), rho.get(), witness_bits);
    arb_neg(square.get(), square.get());
    arb_exp(square.get(), square.get(), witness_bits);
    return square;
  }
  void newton() {
    Ball value = power_of(0), slope = value;
    const Ball other = power_of(1);
    Ball next = start_, rho(rho_);
    arb_add(value.get(), value.get(), other.get(), witness_bits);
    arb_sub_ui(value.get(), value.get(), 1, witness_bits);
    arb_mul(slope.get(), slope.get(), start_.get(), witness_bits);  // s A + (s + 1) B, times 2 rho
    arb_add_ui(next.get(), next.get(), 1, witness_bits);
    arb_mul(next.get(), next.get(), other.get(), witness_bits);
    arb_add(slope.get(), slope.get(), next.get(), witness_bits);
    arb_mul(slope.get(), slope.get(), rho.get(), witness_bits);
    arb_mul_2exp_si(slope.get(), slope.get(), 1);
    arb_div(value.get(), value.get(), slope.get(), witness_bits);
    arb_add(start_.get(), start_.get(), value.get(), witness_bits);
    arb_get_mid_arb(start_.get(), start_.get());
  }
  [[nodiscard]] ComplexBall half(bool positive, double power, double t) const {
    ComplexBall sum, part, from, to;
    Half integrand{positive, rho_, rate_, {}};
    acb_init(integrand.power);
    acb_set_d_d(integrand.power, power, t);
    mag_t tolerance;
    mag_init(tolerance);
    mag_set_d(tolerance, 1e-40);
    const double width = std::sqrt(0.5 / rho_), end = std::max(0.0, std::abs(power) + 1) + 16 * width;
    acb_set_arb(from.get(), start_.get());
    for (double step = std::max(2 * start_.middle(), 1e-12 * width);; step *= 4) {  // the integrand has a logarithm at 0
      acb_set_d(to.get(), std::min(step, end));
      acb_calc_integrate(part.get(), half_integrand, &integrand, from.get(), to.get(), 90, tolerance, nullptr, 160);
      acb_add(sum.get(), sum.get(), part.get(), witness_bits);
      if (step >= end) break;
      acb_set(from.get(), to.get());
    }
    mag_clear(tolerance);
    acb_clear(integrand.power);
    return sum;
  }

  double rho_, rate_;
  SampledBy sampling_;
  Ball start_;
};

double gap_to(const CharacteristicValue& value, const ComplexBall& truth) {
  Ball real(1), shift(value.real_less_one), imaginary(value.imaginary);
  arb_add(real.get(), real.get(), shift.get(), witness_bits);
  arb_sub(real.get(), real.get(), acb_realref(truth.get()), witness_bits);
  arb_sub(imaginary.get(), imaginary.get(), acb_imagref(truth.get()), witness_bits);
  return std::hypot(real.middle(), imaginary.middle());
}

void hold(double rho, double rate, SampledBy sampling, Direction direction, double order) {
  SCOPED_TRACE(::testing::Message() << "rho " << rho << " rate " << rate << (sampling == SampledBy::fixed ? " fixed" : " poisson")
                                    << " add " << (direction == Direction::add) << " order " << order);
  const ZcdpWitness witness(rho, rate, sampling);
  const auto transform = zcdp_transform(Interval::exactly(rho), Interval::exactly(rate), sampling, direction);
  ASSERT_NE(transform, nullptr);
  EXPECT_EQ(transform->infinite_mass(), Interval::exactly(0));
  const double longest = 12 / std::sqrt(transform->prepare({0, order + 2, 1, 0, true, 0, 0})->cumulant(order).variance);
  const auto moments = transform->prepare({0, order + 2, 1e3, 0, false, order, longest});
  ASSERT_NE(moments, nullptr);
  const auto tilt = moments->tilt(order);
  const bool add = direction == Direction::add;
  const double power = add ? -order : 1 + order;
  const ComplexBall at_0 = witness.moment(power, 0);
  Ball log_moment;
  arb_log(log_moment.get(), acb_realref(at_0.get()), witness_bits);
  EXPECT_THAT(tilt->log_moment(), test::Encloses(log_moment.get()));
  EXPECT_LE(tilt->log_moment().width(), 4e-12 * std::abs(log_moment.middle()) + 2e-13 * (1 + order));
  EXPECT_GE(moments->log_moment_above(order), log_moment.middle());
  EXPECT_LE(moments->log_moment_above(order), log_moment.middle() + 1e-9);
  const Decay decay = tilt->decay(0.5);
  for (const double share : {1e-3, 0.1, 0.4, 1.0, 20.0}) {
    const double t = share * longest;
    CharacteristicValue value;
    tilt->characteristic_function({&t, 1}, {&value, 1});
    const ComplexBall at_t = witness.moment(power, t), truth = test::characteristic(at_t, at_0, t, tilt->centre(), add ? -1 : 1);
    EXPECT_LE(gap_to(value, truth), value.error) << t;
    EXPECT_LE(value.error, share <= 1 ? 1e-8 * std::pow(1 + t * tilt->deviation_above(), 2) : infinity) << t;
    const double modulus = std::hypot(truth.real(), truth.imaginary());
    EXPECT_LE(modulus, tilt->modulus_above(t) * (1 + 1e-13) + 1e-30) << t;  // the integrals have an absolute error
    EXPECT_LE(modulus, tilt->modulus_after(t) * (1 + 1e-13) + 1e-30) << t;
    EXPECT_LE(tilt->modulus_after(1.5 * t), tilt->modulus_after(t));
    EXPECT_LE(modulus, decay.atoms + decay.variation / t + 1e-15) << t;
    EXPECT_LE(0.5 * (1 - modulus * modulus), 0.5 * std::pow(t * tilt->deviation_above(), 2) + 1e-15) << t;
  }
}

TEST(ZcdpTransform, HoldsIntegralsOfTheWholePair) {
  for (const double rho : {0x1p-14, 0x1p-6, 0.5, 4.0, 40.0})
    for (const double order : {0.25, 6.0}) hold(rho, 1, SampledBy::poisson, Direction::remove, order);
  hold(0x1p-14, 1, SampledBy::poisson, Direction::remove, 300);
}

// Next to no privacy: the best order is small, and far out the transform falls like a power of rho t only.
TEST(ZcdpTransform, HoldsIntegralsOfALargeRho) {
  for (const double rho : {300.0, 1393.5}) hold(rho, 1, SampledBy::poisson, Direction::remove, 0.09375);
}

/// The logarithm of the moment of power p, 0 < p < 1, by the trapezoidal rule for u = log s. For a large rho the integrals begin at 0.
double log_small_moment(double rho, double p) {
  const auto half = [&](double q) {  // 2 rho (s + 1) (s/(1 + s))^q exp(-rho s^2 - 2 rho (1 - q) s), times exp(-rho (1 - q))
    double sum = 0;
    const double step = 1e-3;
    for (double u = -60; u < 3; u += step) {
      const double s = std::exp(u);
      sum += step * s * 2 * rho * (s + 1) * std::pow(s / (1 + s), q) * std::exp(-rho * s * s - 2 * rho * (1 - q) * s);
    }
    return std::log(sum) - rho * (1 - q);
  };
  const double one = half(p), other = half(1 - p), larger = std::max(one, other);
  return larger + std::log(std::exp(one - larger) + std::exp(other - larger));
}

// Between the powers 0 and 1 the moments of a large rho are tiny, and so is what the panels leave out at the low end.
TEST(ZcdpTransform, BoundsTinyMomentsFromAbove) {
  for (const double rho : {300.0, 1393.5, 2217.75}) {
    const auto transform = zcdp_transform(Interval::exactly(rho), Interval::exactly(1), SampledBy::poisson, Direction::remove);
    const auto moments = transform->prepare({-1, 0, 20, 0, false, -0.5, 0});
    ASSERT_NE(moments, nullptr);
    for (const double order : {-0.25, -0.5, -0.75}) {
      const double truth = log_small_moment(rho, 1 + order);
      EXPECT_GE(moments->log_moment_above(order), truth - 1e-6) << rho << ' ' << order;
      EXPECT_LE(moments->log_moment_above(order), truth + 2) << rho << ' ' << order;
    }
  }
}

TEST(ZcdpTransform, HoldsIntegralsOfSamples) {
  for (const double rho : {0x1p-10, 0.125})
    for (const double rate : {0x1p-7, 0.75})
      for (const double order : {0.25, 12.0}) {
        hold(rho, rate, SampledBy::poisson, Direction::remove, order);
        hold(rho, rate, SampledBy::poisson, Direction::add, order);
        hold(rho, rate, SampledBy::fixed, Direction::remove, order);
      }
}

// The law under test is that of the refined profile: delta = P(L > e) - e^e Q(L > e), with the masses exp(-rho s^2) and exp(-rho (s+1)^2).
TEST(ZcdpTransform, BelongsToTheRefinedProfile) {
  for (const double rho : {1e-3, 0.1, 3.0}) {
    const LossPointer pair = refine(zcdp_bound(Interval::exactly(rho)));
    ASSERT_NE(pair->transform(Direction::remove), nullptr);
    for (const double s : {3 / std::sqrt(rho), 6 / std::sqrt(rho)}) {
      const Interval point = Interval::exactly(s), x = rho * (2.0 * point + 1.0) - log1p(1.0 / point);
      const Interval above = exp(-(rho * square(point))), below = exp(-(rho * square(point + 1.0)));
      EXPECT_THAT(pair->delta(Direction::remove, x), test::Encloses(above - exp(x) * below)) << rho << " " << s;
      const auto test = pair->test_at(Direction::remove, middle_of(x));
      ASSERT_TRUE(test.has_value());
      EXPECT_NEAR(test->true_positive.lo, above.lo, 1e-9 * above.lo);
      EXPECT_NEAR(test->false_positive.lo, below.lo, 1e-9 * below.lo);
    }
    const auto inside = pair->test_at(Direction::remove, 0);
    ASSERT_TRUE(inside.has_value());
    EXPECT_THAT(inside->true_positive + inside->false_positive, test::Encloses(1.0)) << "no mass near 0";
    const auto left = pair->test_at(Direction::remove, -2 * rho - 6 * std::sqrt(rho)),
               right = pair->test_at(Direction::remove, 2 * rho + 6 * std::sqrt(rho));
    ASSERT_TRUE(left && right);
    EXPECT_THAT(left->true_positive, test::Encloses(1.0 - right->false_positive));
  }
}

TEST(ZcdpTransform, RefusesWhatItCannotResolve) {
  const Interval whole = Interval::exactly(1);
  EXPECT_EQ(zcdp_transform(Interval::exactly(0), whole, SampledBy::poisson, Direction::remove), nullptr);
  EXPECT_EQ(zcdp_transform({0.1, 0.2}, whole, SampledBy::poisson, Direction::remove), nullptr);
  EXPECT_EQ(zcdp_transform(Interval::exactly(1e9), whole, SampledBy::poisson, Direction::remove), nullptr);
  EXPECT_EQ(zcdp_transform(Interval::exactly(0.1), Interval::exactly(1 - 0x1p-30), SampledBy::poisson, Direction::remove), nullptr);
  EXPECT_LT(zcdp_transform(Interval::exactly(0.1), Interval::exactly(0.5), SampledBy::poisson, Direction::add)->largest_loss(), 0.7);
  EXPECT_EQ(zcdp_transform(Interval::exactly(0.1), Interval::exactly(0.5), SampledBy::poisson, Direction::remove)->largest_loss(),
            infinity);
}

}  // namespace
}  // namespace tradeoff::detail
