// SPDX-License-Identifier: Apache-2.0
#include "transform/gaussian_nodes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "numeric/arithmetic.h"
#include "operators/subsampled_gaussian.h"
#include "support/matchers.h"
#include "support/transform_witness.h"

// [node-quadrature] [contour-rounding] [loss-variation] [contour-march]
namespace tradeoff::detail {
namespace {

using test::Ball;
using test::ComplexBall;
using test::SubsampledGaussianWitness;

struct Case {
  double mu, rate, power;
};
const Case cases[] = {{1, 0.01, 7.5},  {1.25, 0.005, 4.6}, {1.6, 0.001, 3.5},  {0.125, 0.01, 3},
                      {0.5, 0.3, 2.5}, {1, 0.0625, -9},    {0.75, 0.002, -60}, {2, 0.02, -4}};

SubsampledGaussianWitness witness_of(const Case& one) {
  // A negative power saturates at w = 1 - rate, so it moves no mass to the far left.
  return {one.mu, one.rate, -15, std::max(0.0, one.power) * one.mu + 15, 0.04 / std::max(1.0, one.mu)};
}

GaussianNodes nodes_of(const Case& one, double accuracy, double shrink, double longest = 0) {
  return {
      Interval::exactly(one.mu), Interval::exactly(one.rate), {one.power - 1, one.power + 1, accuracy, shrink, one.power, longest, false}};
}

/// log |sum_j W_j w_j^(p + it) - E_Q[w^(p + it)]|, the sum over the engine's nodes in high precision.
double log_true_error(const GaussianNodes& nodes, const Case& one, double t, const ComplexBall& truth) {
  ComplexBall sum, term;
  Ball p(one.power), y(t);
  for (std::size_t j = 0; j < nodes.nodes().loss.size(); ++j) {
    Ball loss(nodes.nodes().loss[j]), weight(nodes.nodes().log_weight[j]);
    arb_mul(acb_realref(term.get()), p.get(), loss.get(), test::witness_bits);
    arb_add(acb_realref(term.get()), acb_realref(term.get()), weight.get(), test::witness_bits);
    arb_mul(acb_imagref(term.get()), y.get(), loss.get(), test::witness_bits);
    acb_exp(term.get(), term.get(), test::witness_bits);
    acb_add(sum.get(), sum.get(), term.get(), test::witness_bits);
  }
  acb_sub(sum.get(), sum.get(), truth.get(), test::witness_bits);
  return std::log(std::hypot(sum.real(), sum.imaginary()));
}

// A coarse rule has a visible error: the bound must include it, and be tight.
TEST(GaussianNodes, BoundCoarseQuadrature) {
  for (const Case& one : cases) {
    const SubsampledGaussianWitness witness = witness_of(one);
    const GaussianNodes nodes = nodes_of(one, 36, 2.2);
    ASSERT_FALSE(nodes.nodes().loss.empty());
    for (const double t : {0.0, 1.0, 5.0, 20.0}) {
      const double truth = log_true_error(nodes, one, t, witness.moment(one.power, t));
      EXPECT_LE(truth, nodes.log_error(one.power, t)) << one.mu << " " << one.power << " " << t;
    }
    const double truth = log_true_error(nodes, one, 0, witness.moment(one.power, 0));
    EXPECT_GT(truth, nodes.log_error(one.power, 0) - 30) << "the bound is far too large, or the rule did not err";
  }
}

// A range cut short misses its tails: the bound must include them.
TEST(GaussianNodes, BoundWhatTheRangeLeavesOut) {
  for (const Case& one : cases) {
    const SubsampledGaussianWitness witness = witness_of(one);
    const GaussianNodes nodes = nodes_of(one, 6, 0.3);
    for (const double t : {0.0, 2.0}) {
      const double truth = log_true_error(nodes, one, t, witness.moment(one.power, t));
      EXPECT_LE(truth, nodes.log_error(one.power, t)) << one.mu << " " << one.power;
      EXPECT_GT(truth, -25) << "nothing was left out, so nothing was tested";
    }
  }
}

// A cut through the bulk: the error comes from the sides of the rectangle.
TEST(GaussianNodes, BoundACutThroughTheBulk) {
  for (const Case& one : cases) {
    const GaussianNodes nodes = nodes_of(one, 36, 1), finer = nodes_of(one, 36, 0.0625);
    ASSERT_GT(finer.nodes().loss.size(), 8 * nodes.nodes().loss.size());
    for (const std::size_t count : {nodes.nodes().loss.size() / 3, nodes.nodes().loss.size() / 2}) {
      // The integral up to the cut by the finer rule: its own error at the cut is of second order in its step.
      const double edge = 0.5 * (nodes.nodes().loss[count - 1] + nodes.nodes().loss[count]);
      double coarse = 0, fine = 0;
      for (std::size_t j = 0; j < count; ++j) coarse += nodes.nodes().weight[j] * std::exp(one.power * nodes.nodes().loss[j]);
      for (std::size_t j = 0; j < finer.nodes().loss.size() && finer.nodes().loss[j] < edge; ++j)
        fine += finer.nodes().weight[j] * std::exp(one.power * finer.nodes().loss[j]);
      const double last = nodes.nodes().weight[count - 1] * std::exp(one.power * nodes.nodes().loss[count - 1]);
      EXPECT_LE(std::abs(coarse - fine), std::exp(nodes.log_error(one.power, 0, {count, false})) + 0.1 * last);
    }
  }
}

struct TiltOfCase {
  LossPointer loss;
  std::unique_ptr<const Moments> moments;
  std::unique_ptr<const TiltedLoss> tilt;
  int sign;
};
TiltOfCase tilt_of(const Case& one, double steps) {
  TiltOfCase result;
  result.loss = subsampled_gaussian(Interval::exactly(one.mu), Interval::exactly(one.rate));
  const Direction direction = one.power < 0 ? Direction::add : Direction::remove;
  const double order = one.power < 0 ? -one.power : one.power - 1;
  result.moments = result.loss->transform(direction)->prepare({0, order + 2, steps, 0, false, order, 20});
  result.tilt = result.moments->tilt(order);
  result.sign = one.power < 0 ? -1 : 1;
  return result;
}

TEST(GaussianTilt, HoldsItsMomentMeanAndDeviation) {
  for (const Case& one : cases) {
    const SubsampledGaussianWitness witness = witness_of(one);
    const TiltOfCase tilted = tilt_of(one, 1e7);
    const auto& tilt = *tilted.tilt;
    const ComplexBall zeroth = witness.moment(one.power, 0), first = witness.moment(one.power, 0, 1),
                      second = witness.moment(one.power, 0, 2);
    Ball log_moment, mean;
    arb_log(log_moment.get(), acb_realref(zeroth.get()), test::witness_bits);
    EXPECT_THAT(tilt.log_moment(), test::Encloses(log_moment.get())) << one.mu << " " << one.power;
    // The error is a multiple of u log M, not of u, as many steps require.
    EXPECT_LE(tilt.log_moment().width(), 600 * 0x1p-53 * std::abs(log_moment.middle())) << one.mu << " " << one.power;
    arb_div(mean.get(), acb_realref(first.get()), acb_realref(zeroth.get()), test::witness_bits);
    const auto errors = dynamic_cast<const NodeTilt&>(tilt).error_terms();
    const double deviation = std::sqrt(second.real() / zeroth.real() - mean.middle() * mean.middle());
    EXPECT_LE(distance(tilted.sign * tilt.centre(), mean), errors.linear) << one.mu << " " << one.power;
    EXPECT_LE(errors.linear, 1e-12 * deviation);
    EXPECT_GE(tilt.deviation_above(), deviation * (1 - 1e-12));
    EXPECT_LE(tilt.deviation_above(), deviation * (1 + 1e-6));
  }
}

TEST(GaussianTilt, HoldsItsOscillation) {
  std::mt19937_64 random(3);
  for (const Case& one : cases) {
    const SubsampledGaussianWitness witness = witness_of(one);
    const TiltOfCase tilted = tilt_of(one, 1e6);
    const ComplexBall at_0 = witness.moment(one.power, 0);
    for (int i = 0; i < 6; ++i) {
      const double t = std::uniform_real_distribution<double>(0.01, 25)(random);
      CharacteristicValue value;
      tilted.tilt->characteristic_function({&t, 1}, {&value, 1});
      const ComplexBall truth = test::characteristic(witness.moment(one.power, t), at_0, t, tilted.tilt->centre(), tilted.sign);
      Ball real(1), imaginary(value.imaginary), shift(value.real_less_one);
      arb_add(real.get(), real.get(), shift.get(), test::witness_bits);
      arb_sub(real.get(), real.get(), acb_realref(truth.get()), test::witness_bits);
      arb_sub(imaginary.get(), imaginary.get(), acb_imagref(truth.get()), test::witness_bits);
      EXPECT_LE(std::hypot(real.middle(), imaginary.middle()), value.error) << one.mu << " " << one.power << " " << t;
      EXPECT_LE(value.error, 1e-11 * t * t);
    }
  }
}

// Where t is large the error is a multiple of t, not of its square.
TEST(GaussianTilt, HoldsItsOscillationFarOut) {
  for (const Case& one : {cases[0], cases[1]}) {
    const SubsampledGaussianWitness witness{one.mu, one.rate, -15, one.power * one.mu + 15, 0.002};
    const auto loss = subsampled_gaussian(Interval::exactly(one.mu), Interval::exactly(one.rate));
    const auto moments = loss->transform(Direction::remove)->prepare({0, one.power + 1, 1, 0, false, one.power - 1, 600});
    ASSERT_NE(moments, nullptr);
    const auto tilt = moments->tilt(one.power - 1);
    const ComplexBall at_0 = witness.moment(one.power, 0);
    for (const double t : {150.0, 400.0}) {
      CharacteristicValue value;
      tilt->characteristic_function({&t, 1}, {&value, 1});
      const ComplexBall truth = test::characteristic(witness.moment(one.power, t), at_0, t, tilt->centre(), 1);
      Ball real(1), imaginary(value.imaginary), shift(value.real_less_one);
      arb_add(real.get(), real.get(), shift.get(), test::witness_bits);
      arb_sub(real.get(), real.get(), acb_realref(truth.get()), test::witness_bits);
      arb_sub(imaginary.get(), imaginary.get(), acb_imagref(truth.get()), test::witness_bits);
      EXPECT_LE(std::hypot(real.middle(), imaginary.middle()), value.error) << one.mu << " " << one.power << " " << t;
      EXPECT_LE(value.error, 1e-11 + 1e-13 * t) << one.mu << " " << one.power << " " << t;
    }
  }
}

TEST(GaussianTilt, BoundsTheModulusFarOut) {
  for (const Case& one : cases) {
    const SubsampledGaussianWitness witness = witness_of(one);
    const TiltOfCase tilted = tilt_of(one, 1000);
    const ComplexBall at_0 = witness.moment(one.power, 0);
    const Decay decay = tilted.tilt->decay(0.97);
    const auto spreads = tilted.tilt->spreads();
    for (const double t : {0.5, 3.0, 20.0, 45.0}) {
      const ComplexBall value = witness.moment(one.power, t);
      const double modulus = std::hypot(value.real(), value.imaginary()) / at_0.real();
      EXPECT_LE(modulus, tilted.tilt->modulus_above(t) * (1 + 1e-12)) << one.mu << " " << one.power << " " << t;
      EXPECT_LE(modulus, decay.atoms + decay.variation / t);
      EXPECT_LE(modulus, decay.whole_variation / t);
      for (const Spread& one_spread : spreads)
        EXPECT_LE(0.5 * (1 - modulus * modulus), 0.5 * t * t * one_spread.deviation * one_spread.deviation + 2 * one_spread.tail + 1e-15);
    }
  }
}

// Nodes made for an easier task have a visible error in log M; the enclosure must include it.
TEST(GaussianTilt, BoundsTheErrorOfACoarseQuadrature) {
  for (const Case& one : {cases[0], cases[1]}) {
    const SubsampledGaussianWitness witness = witness_of(one);
    const auto loss = subsampled_gaussian(Interval::exactly(one.mu), Interval::exactly(one.rate));
    const auto moments = loss->transform(Direction::remove)->prepare({0, one.power + 1, 1, -2, false, one.power - 1, 0});
    const Interval answer = moments->tilt(one.power - 1)->log_moment();
    Ball truth;
    const ComplexBall moment = witness.moment(one.power, 0);
    arb_log(truth.get(), acb_realref(moment.get()), test::witness_bits);
    EXPECT_THAT(answer, test::Encloses(truth.get())) << one.mu;
    EXPECT_GT(distance(0.5 * (answer.lo + answer.hi), truth), 1e-17) << "the rule did not err, so nothing was tested";
  }
}

/// A tilt that drops every node of small weight.
class CarelessTilt final : public NodeTilt {
 public:
  CarelessTilt(const NodeLaw& law, double power, double negligible) : NodeTilt(law, power, 1, negligible) {}
  [[nodiscard]] double modulus_above(double) const override { return 1; }
  [[nodiscard]] Decay decay(double) const override { return {}; }
};

// A range cut short misses the part outside; the bound of the deviation must include it.
TEST(GaussianTilt, BoundsItsDeviationOnAShortRange) {
  for (const Case& one : cases) {
    const SubsampledGaussianWitness witness = witness_of(one);
    const GaussianNodes nodes = nodes_of(one, 4, 1);
    const double mass = witness.moment(one.power, 0).real(), mean = witness.moment(one.power, 0, 1).real() / mass;
    const double variance = witness.moment(one.power, 0, 2).real() / mass - mean * mean;
    EXPECT_GE(CarelessTilt(nodes, one.power, 0).deviation_above(), std::sqrt(variance) * (1 - 1e-9)) << one.mu << " " << one.power;
  }
}

TEST(GaussianTilt, IncludesDroppedNodesInTheError) {
  const GaussianNodes nodes = nodes_of(cases[0], 40, 1, 30);
  const CarelessTilt all(nodes, cases[0].power, 0), some(nodes, cases[0].power, 1e-3);
  ASSERT_LT(some.size(), all.size());
  for (const double t : {0.5, 5.0, 30.0}) {
    CharacteristicValue whole, part;
    all.characteristic_function({&t, 1}, {&whole, 1});
    some.characteristic_function({&t, 1}, {&part, 1});
    const double away = std::hypot(whole.real_less_one - part.real_less_one, whole.imaginary - part.imaginary);
    EXPECT_LE(away, part.error);
    EXPECT_GT(away, whole.error) << "nothing of weight was dropped";
  }
}

// Parameters that are intervals: phi and log M at either end lie within the errors of those in between.
TEST(GaussianTilt, HoldsForEveryParameterInTheInterval) {
  const Interval mu{0.7, 0.7 * (1 + 0.8e-13)}, rate{0.1, 0.1 * (1 + 0.8e-13)};
  const double order = 3, t = 60;
  const TransformRange reach{0, order + 1, 1, 1, false, order, 1.5 * t};
  for (const bool vary_mu : {true, false}) {
    const auto loss = vary_mu ? subsampled_gaussian(mu, Interval::exactly(rate.lo)) : subsampled_gaussian(Interval::exactly(mu.lo), rate);
    const auto moments = loss->transform(Direction::remove)->prepare(reach);
    const auto tilt = moments->tilt(order);
    CharacteristicValue answer;
    tilt->characteristic_function({&t, 1}, {&answer, 1});
    for (const bool upper : {false, true}) {
      const auto exact = subsampled_gaussian(Interval::exactly(vary_mu && upper ? mu.hi : mu.lo),
                                             Interval::exactly(!vary_mu && upper ? rate.hi : rate.lo));
      const auto exact_moments = exact->transform(Direction::remove)->prepare(reach);
      const auto exact_tilt = exact_moments->tilt(order);
      CharacteristicValue truth;
      exact_tilt->characteristic_function({&t, 1}, {&truth, 1});
      const double turn = t * (exact_tilt->centre() - tilt->centre());  // to the same centre, tiny
      const double real = 1 + truth.real_less_one - turn * truth.imaginary, imaginary = truth.imaginary + turn * (1 + truth.real_less_one);
      const double away = std::hypot(1 + answer.real_less_one - real, answer.imaginary - imaginary);
      EXPECT_LE(away, answer.error + 1e-15) << vary_mu << upper;
      EXPECT_THAT(tilt->log_moment(), test::Encloses(exact_tilt->log_moment()));
      EXPECT_LT(exact_tilt->log_moment().width(), 0.5 * tilt->log_moment().width()) << "the parameters move nothing";
    }
  }
}

// An upper bound of the logarithm of a moment, for Chernoff bounds: never below the exact value, and close to it.
TEST(GaussianNodes, BoundMomentsFromAbove) {
  for (const Case& one : cases) {
    const SubsampledGaussianWitness witness = witness_of(one);
    const GaussianNodes nodes = nodes_of(one, 40, 1);
    Ball truth;
    const ComplexBall moment = witness.moment(one.power, 0);
    arb_log(truth.get(), acb_realref(moment.get()), test::witness_bits);
    const double above = nodes.log_moment_above(one.power);
    EXPECT_GE(above, truth.middle());
    EXPECT_LE(above, truth.middle() + 1e-11);
    EXPECT_GE(nodes_of(one, 4, 1).log_moment_above(one.power), truth.middle()) << "a range cut short lacks a part of the moment";
  }
}

}  // namespace
}  // namespace tradeoff::detail
