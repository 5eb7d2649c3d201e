// SPDX-License-Identifier: Apache-2.0
// Transforms of mixtures, against sums of atoms and against closed forms of Gaussians.
#include "transform/weighted_transform.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "loss/atoms.h"
#include "numeric/arithmetic.h"
#include "transform/atoms_transform.h"

// [mixed-transform]
namespace tradeoff::detail {
namespace {

const TransformRange reach{-1, 3, 10, 0, false, 0.7, 20};

/// Two losses, +-b, as randomised response has them.
Atoms two_atoms(double b) {
  const Interval loss = Interval::exactly(b), mass = 1.0 / (1.0 + exp(-loss)), none = Interval::exactly(0);
  return make_atoms({{loss, mass}, {-loss, 1.0 - mass}}, none, none, true);
}

std::complex<double> characteristic(const TiltedLoss& tilt, double t, double& error) {
  CharacteristicValue value;
  tilt.characteristic_function({&t, 1}, {&value, 1});
  error = value.error;
  return {1 + value.real_less_one, value.imaginary};
}

TEST(WeightedTransform, AtomsAreTheUnionOfTheComponents) {
  const Interval quarter = Interval::exactly(0.25);
  const Atoms one = two_atoms(0.5), other = two_atoms(2), none = make_atoms({{Interval::exactly(0), Interval::exactly(1)}}, {}, {}, true);
  const auto mixed = mixed_transform(
      {{quarter, atoms_transform(one)}, {quarter, atoms_transform(other)}, {Interval::exactly(0.5), atoms_transform(none)}});
  ASSERT_NE(mixed, nullptr);
  std::vector<Atom> all;
  for (const Atoms* atoms : {&one, &other})
    for (const Atom& atom : atoms->finite) all.push_back({atom.loss, quarter * atom.mass});
  all.push_back({Interval::exactly(0), Interval::exactly(0.5)});
  const auto whole = atoms_transform(make_atoms(std::move(all), Interval::exactly(0), Interval::exactly(0), true));
  ASSERT_NE(whole, nullptr);
  const auto found = mixed->prepare(reach), expected = whole->prepare(reach);
  for (const double order : {-0.5, 0.3, 1.0, 2.5}) {
    EXPECT_NEAR(found->cumulant(order).value, expected->cumulant(order).value, 1e-13);
    EXPECT_NEAR(found->cumulant(order).mean, expected->cumulant(order).mean, 1e-12);
    EXPECT_NEAR(found->cumulant(order).variance, expected->cumulant(order).variance, 1e-12);
    const auto tilt = found->tilt(order), truth = expected->tilt(order);
    EXPECT_LE(tilt->log_moment().lo, truth->log_moment().hi);
    EXPECT_GE(tilt->log_moment().hi, truth->log_moment().lo);
    EXPECT_GE(found->log_moment_above(order), truth->log_moment().lo);
    const double variance = expected->cumulant(order).variance;
    EXPECT_GE(tilt->deviation_above(), std::sqrt(variance) * (1 - 1e-12)) << "a bound of the deviation";
    EXPECT_LE(tilt->deviation_above(), std::sqrt(variance) * 1.001 + 1e-6) << "and a tight one";
    for (const double t : {1e-3, 0.1, 1.0, 7.0, 100.0}) {
      double error = 0, known = 0;
      const std::complex<double> value = characteristic(*tilt, t, error), true_value = characteristic(*truth, t, known);
      const std::complex<double> turned = true_value * std::polar(1.0, t * (truth->centre() - tilt->centre()));
      EXPECT_LE(std::abs(value - turned), error + known + 1e-15 * (1 + t)) << order << ' ' << t;
      EXPECT_LE(error, 1e-11 * (1 + t));
      EXPECT_GE(tilt->modulus_above(t), std::abs(value) - error);
    }
  }
}

TEST(WeightedTransform, GaussiansHaveClosedForms) {
  const double weights[] = {0.75, 0.25}, mus[] = {0.5, 3};
  const auto mixed = mixed_transform({{Interval::exactly(weights[0]), gaussian_transform(Interval::exactly(mus[0]))},
                                      {Interval::exactly(weights[1]), gaussian_transform(Interval::exactly(mus[1]))}});
  ASSERT_NE(mixed, nullptr);
  const auto moments = mixed->prepare(reach);
  for (const double c : {-0.4, 0.7, 2.0}) {
    const auto tilt = moments->tilt(c);
    const auto moment = [&](std::complex<double> s) {  // of both components at a complex order
      std::complex<double> sum = 0;
      for (const int i : {0, 1}) sum += weights[i] * std::exp(mus[i] * mus[i] * s * (s + 1.0) / 2.0);
      return sum;
    };
    EXPECT_NEAR(0.5 * (tilt->log_moment().lo + tilt->log_moment().hi), std::log(moment(c).real()), 1e-13 * (1 + c * c * 10));
    for (const double t : {1e-2, 0.3, 1.0, 4.0}) {
      double error = 0;
      const std::complex<double> value = characteristic(*tilt, t, error);
      const std::complex<double> truth = moment({c, t}) / moment(c) * std::polar(1.0, -t * tilt->centre());
      EXPECT_LE(std::abs(value - truth), error + 1e-13) << c << ' ' << t;
      EXPECT_LE(error, 1e-11);
      const Decay decay = tilt->decay(1e-3);
      EXPECT_GE(decay.atoms + decay.variation / t, std::abs(truth));
      EXPECT_GE(decay.whole_variation / t, std::abs(truth));
      EXPECT_GE(tilt->modulus_above(t), std::abs(truth));
    }
    double mean = 0, square = 0;
    for (const int i : {0, 1}) {
      const double share = weights[i] * std::exp(mus[i] * mus[i] * c * (c + 1) / 2) / moment(c).real(), m = mus[i] * mus[i] * (c + 0.5);
      mean += share * m;
      square += share * (mus[i] * mus[i] + m * m);
    }
    EXPECT_GE(tilt->deviation_above(), std::sqrt(square - mean * mean) * (1 - 1e-9));
  }
}

TEST(WeightedTransform, InfiniteMassIsLeftOut) {
  const Interval part = Interval::exactly(0.125), none = Interval::exactly(0);
  const Atoms revealing = make_atoms({{none, 1.0 - part}}, part, part, true),
              silent = make_atoms({{none, Interval::exactly(1)}}, none, none, true);
  const auto mixed =
      mixed_transform({{Interval::exactly(0.5), atoms_transform(revealing)}, {Interval::exactly(0.5), atoms_transform(silent)}});
  ASSERT_NE(mixed, nullptr);
  EXPECT_DOUBLE_EQ(mixed->infinite_mass().hi, 0.0625);
  EXPECT_NEAR(mixed->prepare(reach)->tilt(0.5)->log_moment().hi, 0, 1e-14) << "the finite loss is 0";
}

TEST(WeightedTransform, IsRefusedWhereAWeightIsNotKnown) {
  EXPECT_EQ(mixed_transform({{Interval{0.2, 0.3}, gaussian_transform(Interval::exactly(1))},
                             {Interval{0.7, 0.8}, gaussian_transform(Interval::exactly(2))}}),
            nullptr);
  EXPECT_EQ(mixed_transform({{Interval::exactly(1), nullptr}}), nullptr);
}

}  // namespace
}  // namespace tradeoff::detail
