// SPDX-License-Identifier: Apache-2.0
#include "transform/laplace_transform.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <utility>
#include <vector>

#include "mechanism/laplace.h"
#include "mechanism/randomized_response.h"
#include "mechanism/truncated_laplace.h"
#include "numeric/arithmetic.h"
#include "support/matchers.h"
#include "support/transform_witness.h"
#include "transform/atoms_transform.h"

// [laplace-transform] [atoms-transform]
namespace tradeoff::detail {
namespace {

using test::Ball;
using test::ComplexBall;

/// M(c + it) of the whole Laplace loss, [(s+1) e^(s e0) + s e^(-(s+1) e0)] / (2s + 1), in 200 bits.
ComplexBall laplace_moment(double e0, double c, double t) {
  ComplexBall s, first, second, sum;
  acb_set_d_d(s.get(), c, t);
  Ball length(e0);
  acb_mul_arb(first.get(), s.get(), length.get(), test::witness_bits);
  acb_add_ui(second.get(), s.get(), 1, test::witness_bits);
  acb_mul_arb(second.get(), second.get(), length.get(), test::witness_bits);
  acb_neg(second.get(), second.get());
  acb_exp(first.get(), first.get(), test::witness_bits);
  acb_exp(second.get(), second.get(), test::witness_bits);
  acb_mul(second.get(), second.get(), s.get(), test::witness_bits);
  acb_add_ui(sum.get(), s.get(), 1, test::witness_bits);
  acb_mul(first.get(), first.get(), sum.get(), test::witness_bits);
  acb_add(first.get(), first.get(), second.get(), test::witness_bits);
  acb_mul_2exp_si(sum.get(), s.get(), 1);
  acb_add_ui(sum.get(), sum.get(), 1, test::witness_bits);
  acb_div(first.get(), first.get(), sum.get(), test::witness_bits);
  return first;
}

double distance(const CharacteristicValue& value, const ComplexBall& truth) {
  Ball real(1), shift(value.real_less_one), imaginary(value.imaginary);
  arb_add(real.get(), real.get(), shift.get(), test::witness_bits);
  arb_sub(real.get(), real.get(), acb_realref(truth.get()), test::witness_bits);
  arb_sub(imaginary.get(), imaginary.get(), acb_imagref(truth.get()), test::witness_bits);
  return std::hypot(real.middle(), imaginary.middle());
}

TEST(LaplaceTransform, HoldsItsClosedForm) {
  for (const double e0 : {0.0078125, 0.125, 1.0, 5.0})
    for (const double c : {0.25, 2.0, 20.0}) {
      const auto transform = laplace_transform(Interval::exactly(e0));
      const auto moments = transform.prepare({0, c + 1, 1e6, 0, false, c, 1});
      ASSERT_NE(moments, nullptr);
      const auto tilt = moments->tilt(c);
      const ComplexBall at_0 = laplace_moment(e0, c, 0);
      Ball log_moment;
      arb_log(log_moment.get(), acb_realref(at_0.get()), test::witness_bits);
      EXPECT_THAT(tilt->log_moment(), test::Encloses(log_moment.get())) << e0 << " " << c;
      EXPECT_LE(tilt->log_moment().width(), 1e-12 * log_moment.middle()) << e0 << " " << c;
      EXPECT_GE(moments->log_moment_above(c), log_moment.middle());
      const Decay decay = tilt->decay(0.5);
      for (const double t : {0.1, 3.0, 50.0, 2000.0}) {
        CharacteristicValue value;
        tilt->characteristic_function({&t, 1}, {&value, 1});
        const ComplexBall at_t = laplace_moment(e0, c, t), truth = test::characteristic(at_t, at_0, t, tilt->centre(), 1);
        EXPECT_LE(distance(value, truth), value.error) << e0 << " " << c << " " << t;
        EXPECT_LE(value.error, 1e-11 * (1 + t * e0));
        const double modulus = std::hypot(truth.real(), truth.imaginary());
        EXPECT_LE(modulus, tilt->modulus_above(t) * (1 + 1e-14));
        EXPECT_LE(modulus, decay.atoms + decay.variation / t + 1e-15);
        EXPECT_LE(0.5 * (1 - modulus * modulus), 0.5 * std::pow(t * tilt->deviation_above(), 2) + 1e-15);
      }
    }
}

// Beyond the orders that it was prepared for, the quadrature is inaccurate, and its error bound must show that.
TEST(LaplaceTransform, BoundsTheErrorOfACoarseQuadrature) {
  const auto moments = laplace_transform(Interval::exactly(5)).prepare({0, 0.5, 1, 0, false, 0, 0});
  const ComplexBall at_0 = laplace_moment(5, 7, 0);
  Ball truth;
  arb_log(truth.get(), acb_realref(at_0.get()), test::witness_bits);
  const Interval answer = moments->tilt(7)->log_moment();
  EXPECT_THAT(answer, test::Encloses(truth.get()));
  EXPECT_GT(answer.width(), 1e-9);
  EXPECT_EQ(moments->tilt(15)->log_moment().hi, infinity);
}

// The transform at real orders determines the distribution: its value at s = -1 and at s = 0 is 1, and the mean is the divergence.
TEST(LaplaceTransform, TruncatedLawsAreNormalised) {
  for (const double e0 : {0.25, 1.0, 3.0})
    for (const double reach : {0.55 * e0, 0.8 * e0, 2 * e0, 10.0}) {
      const auto transform = truncated_laplace_transform(Interval::exactly(e0), Interval::exactly(reach));
      const TruncatedLaplaceLoss loss(Interval::exactly(e0), Interval::exactly(reach));
      EXPECT_THAT(transform.infinite_mass(), test::Encloses(loss.infinite_mass(Direction::remove))) << e0 << " " << reach;
      EXPECT_THAT(Interval::exactly(transform.largest_loss()), test::Encloses(Interval{0, loss.largest_loss().hi * (1 + 1e-15)}));
      const auto moments = transform.prepare({-1, 3, 1, 0, false, 1, 1});
      ASSERT_NE(moments, nullptr);
      EXPECT_NEAR(moments->cumulant(0).value, 0, 1e-13);
      EXPECT_NEAR(moments->cumulant(-1).value, 0, 1e-13);
      // delta(0) = infinite mass + E (1 - e^-L)+ is half the first absolute difference; check it against the profile by the mean of
      // e^(-L/2): M(-1/2) = sum of sqrt(P Q) over the overlap, divided by the finite mass.
      const double a = std::exp(-reach), b = transform.largest_loss(),
                   finite = 1 - 0.5 * (transform.infinite_mass().lo + transform.infinite_mass().hi);
      const double outside = reach > e0 ? std::exp(-e0 / 2) - a * std::exp(e0 / 2) : 0;  // both atoms give the same
      const double overlap = (b * std::exp(-e0 / 2) / 2 + outside) / (1 - a);
      EXPECT_NEAR(std::exp(moments->cumulant(-0.5).value), overlap / finite, 1e-12) << e0 << " " << reach;
    }
}

TEST(LaplaceTransform, DeclinesWideParameters) {
  EXPECT_EQ(laplace_transform({1, 1.01}).prepare({0, 1, 1, 0, false, 0, 0}), nullptr);
  EXPECT_EQ(laplace_transform(Interval::exactly(500)).prepare({0, 1, 1, 0, false, 0, 0}), nullptr);
}

TEST(AtomsTransform, IsTheFiniteSum) {
  const LossPointer loss = randomized_response(Interval::exactly(0.75), 5);
  ASSERT_NE(loss->atoms(Direction::remove), nullptr);
  const auto transform = atoms_transform(*loss->atoms(Direction::remove));
  ASSERT_NE(transform, nullptr);
  const double top = std::exp(0.75) / (std::exp(0.75) + 4), bottom = 1 / (std::exp(0.75) + 4), rest = 1 - top - bottom;
  const auto moments = transform->prepare({0, 4, 1, 0, false, 0, 0});
  for (const double c : {0.5, 2.0}) {
    const auto tilt = moments->tilt(c);
    const double moment = top * std::exp(0.75 * c) + bottom * std::exp(-0.75 * c) + rest;
    EXPECT_NEAR(tilt->log_moment().lo, std::log(moment), 1e-14);
    EXPECT_LE(tilt->log_moment().width(), 1e-13);
    for (const double t : {0.5, 4.0, 100.0}) {
      CharacteristicValue value;
      tilt->characteristic_function({&t, 1}, {&value, 1});
      const std::complex<double> truth = (top * std::exp(std::complex<double>(0.75 * c, 0.75 * t)) +
                                          bottom * std::exp(std::complex<double>(-0.75 * c, -0.75 * t)) + rest) /
                                         moment * std::exp(std::complex<double>(0, -t * tilt->centre()));
      EXPECT_LE(std::abs(truth - std::complex<double>(1 + value.real_less_one, value.imaginary)), value.error + 1e-14 * (1 + t));
    }
    EXPECT_EQ(tilt->decay(0.5).atoms, 1);
  }
}

// A mass that may be 0 is taken from above; under a tilt that it dominates nothing is known.
TEST(AtomsTransform, MassesThatAreNotKnown) {
  const double top = 1 / (1 + std::exp(-0.5));
  const Interval high = Interval::exactly(0.5), upper = 1.0 / (1.0 + exp(-high)), far = Interval::exactly(5), little{0, 1e-12};
  const auto transform = atoms_transform(make_atoms({{high, upper}, {-high, 1.0 - upper}, {far, little}, {-far, little * exp(-far)}},
                                                    Interval::exactly(0), Interval::exactly(0), true));
  ASSERT_NE(transform, nullptr);
  const auto moments = transform->prepare({0, 30, 1, 0, false, 0, 0});
  for (const double c : {0.5, 2.0, 4.0, 5.0, 20.0}) {
    const double without = top * std::exp(0.5 * c) + (1 - top) * std::exp(-0.5 * c), with = without + 1e-12 * std::exp(5 * c);
    const Interval found = moments->tilt(c)->log_moment();
    EXPECT_LE(found.lo, std::log(without) + 1e-14) << c;
    EXPECT_GE(found.hi, std::log(with) - 1e-14) << c;
    EXPECT_GE(moments->log_moment_above(c), std::log(with) - 1e-14) << c;
    if (c < 3) {
      EXPECT_LT(found.width(), 1e-4) << c;
    }
  }
}

// P reveals a tenth of its outcomes and Q another share: both are divided by what is left.
TEST(AtomsTransform, InfiniteLossesOfBothOrdersMayDiffer) {
  const Interval high = Interval::exactly(0.5), low = Interval::exactly(-0.25), half = Interval::exactly(0.5), rest = Interval{0.4, 0.4};
  const Interval other = 1.0 - half * exp(-high) - rest * exp(-low);
  const auto transform = atoms_transform(make_atoms({{high, half}, {low, rest}}, 1.0 - half - rest, other, false));
  ASSERT_NE(transform, nullptr);
  EXPECT_NEAR(transform->infinite_mass().hi, 0.1, 1e-15);
  const auto moments = transform->prepare({0, 4, 1, 0, false, 0, 0});
  for (const double c : {-0.5, 0.5, 3.0}) {
    const auto tilt = moments->tilt(c);
    const double moment = (0.5 * std::exp(0.5 * c) + 0.4 * std::exp(-0.25 * c)) / 0.9;
    EXPECT_NEAR(tilt->log_moment().lo, std::log(moment), 1e-13) << c;
    EXPECT_LE(tilt->log_moment().width(), 1e-12);
    EXPECT_NEAR(moments->log_moment_above(c), std::log(moment), 1e-9);
    EXPECT_NEAR(moments->cumulant(c).mean, (0.25 * std::exp(0.5 * c) - 0.1 * std::exp(-0.25 * c)) / (0.9 * moment), 1e-12);
    for (const double t : {0.5, 4.0}) {
      CharacteristicValue value;
      tilt->characteristic_function({&t, 1}, {&value, 1});
      const std::complex<double> truth =
          (0.5 * std::exp(std::complex<double>(0.5 * c, 0.5 * t)) + 0.4 * std::exp(std::complex<double>(-0.25 * c, -0.25 * t))) /
          (0.9 * moment) * std::exp(std::complex<double>(0, -t * tilt->centre()));
      EXPECT_LE(std::abs(truth - std::complex<double>(1 + value.real_less_one, value.imaginary)), value.error + 1e-14 * (1 + t));
    }
  }
  EXPECT_EQ(atoms_transform(make_atoms({{high, Interval::exactly(0.25)}}, Interval::exactly(0.75), Interval::exactly(0), false)), nullptr);
}

// Far out the phase of a rare large loss is not computed: what it may be is an error, and the others are known.
TEST(AtomsTransform, KnowsTheOthersWhereAPhaseIsTooLarge) {
  const double rare = 1e-12, high = 0.27, low = -0.31, far = 50, mass = 0.2;
  const double least = (mass + rare - mass * std::exp(-high) - rare * std::exp(-far)) / std::expm1(-low), rest = 1 - mass - least - rare;
  const std::vector<std::pair<double, double>> law{{far, rare}, {high, mass}, {0, rest}, {low, least}};
  std::vector<Atom> atoms;
  for (const auto& [loss, weight] : law) atoms.push_back({Interval::exactly(loss), Interval::exactly(weight)});
  const auto transform = atoms_transform(make_atoms(std::move(atoms), Interval::exactly(0), Interval::exactly(0), false));
  ASSERT_NE(transform, nullptr);
  const double order = 0.125, t = 1e6;
  const auto moments = transform->prepare({0, 1, 1, 0, false, order, 1});
  const auto tilt = moments->tilt(order);
  std::complex<long double> truth = 0;
  long double total = 0;
  for (const auto& [loss, weight] : law) {
    const long double tilted = weight * std::exp(static_cast<long double>(order) * loss);
    total += tilted;
    truth += tilted * std::polar(1.0L, static_cast<long double>(t) * (static_cast<long double>(loss) - tilt->centre()));
  }
  truth /= total;
  CharacteristicValue value;
  tilt->characteristic_function({&t, 1}, {&value, 1});
  const double away = static_cast<double>(std::abs(std::complex<long double>(1.0L + value.real_less_one, value.imaginary) - truth));
  EXPECT_LE(away, value.error);
  EXPECT_LE(value.error, 1e-6);
  EXPECT_GT(away, 1e-11) << "the rare loss is not in the sum";
}

}  // namespace
}  // namespace tradeoff::detail
