// SPDX-License-Identifier: Apache-2.0
#include "engine/hyperbolic/hyperbolic.h"

#include <acb.h>
#include <acb_hypgeom.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "engine/contour/cells.h"
#include "engine/hyperbolic/evaluate.h"
#include "engine/hyperbolic/expansion.h"
#include "engine/hyperbolic/factor.h"
#include "engine/hyperbolic/integrand.h"
#include "engine/hyperbolic/noise.h"
#include "engine/hyperbolic/path.h"
#include "engine/hyperbolic/window.h"
#include "engine/kernel_integral.h"
#include "engine/lattice/lattice.h"
#include "loss/evaluation.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "numeric/arithmetic.h"
#include "operators/subsampled.h"
#include "operators/subsampled_gaussian.h"
#include "support/matchers.h"

// [break-point-expansion], [noise-plane], [log-convex-majorant], [bent-contour], [bent-split], [bent-remainder], [sampled-plane]
namespace tradeoff::detail {
namespace {

using hyperbolic::Complex;
using test::Encloses;
using test::golden_group;
using test::golden_interval;
using test::IsTight;

/// A loss known only by its expansion at the two ends of its parameters.
class ExpandedLoss final : public Loss, public BreakPoints {
 public:
  ExpandedLoss(BreakExpansion worse, BreakExpansion better, bool symmetric)
      : worse_(std::move(worse)), better_(std::move(better)), symmetric_(symmetric) {}
  [[nodiscard]] Interval delta(Direction, Interval) const override { return {0, 1}; }
  [[nodiscard]] bool symmetric() const override { return symmetric_; }
  [[nodiscard]] Capabilities capabilities(Direction) const override { return {.break_points = this}; }
  [[nodiscard]] std::optional<BreakExpansion> expansion(Direction, ParameterEnd end) const override {
    return end == ParameterEnd::worse ? worse_ : better_;
  }

 private:
  BreakExpansion worse_, better_;
  bool symmetric_;
};

class ShapelessLoss final : public Loss {
 public:
  [[nodiscard]] Interval delta(Direction, Interval) const override { return {0, 1}; }
  [[nodiscard]] bool symmetric() const override { return true; }
};

BreakExpansion sampled_factor(double mu, double rate) { return {.sampled = SampledGaussianFactor{SampledBy::poisson, mu, rate}}; }

Part laplace(Interval epsilon0, std::uint64_t times) {
  return {std::make_shared<ExpandedLoss>(laplace_break_points(epsilon0.hi), laplace_break_points(epsilon0.lo), true), times};
}
Part randomized_response(Interval epsilon, std::uint64_t times, double choices = 2) {
  return {std::make_shared<ExpandedLoss>(randomized_response_break_points(epsilon.hi, choices),
                                         randomized_response_break_points(epsilon.lo, choices), true),
          times};
}
Part subsampled(Interval sigma, Interval rate, std::uint64_t times) {
  const Interval mu = 1.0 / sigma;
  return {std::make_shared<ExpandedLoss>(sampled_factor(mu.hi, rate.hi), sampled_factor(mu.lo, rate.lo), false), times};
}
Part gaussian(double mu, std::uint64_t times) {
  return {std::make_shared<ExpandedLoss>(BreakExpansion{.gaussian_mu = mu}, BreakExpansion{.gaussian_mu = mu}, true), times};
}

Direction direction_of(const nlohmann::json& one) {
  return one.at("inputs").at("direction") == "remove" ? Direction::remove : Direction::add;
}

TEST(BreakPoints, MassesAddUpToOne) {
  for (const BreakExpansion& points :
       {laplace_break_points(0.7), truncated_laplace_break_points(0.7, Interval::exactly(3)), randomized_response_break_points(1.2, 2),
        randomized_response_break_points(1.2, 7), dp_break_points(0.3, Interval::exactly(1e-3))}) {
    Interval total = points.infinite_mass;
    Interval other = Interval::exactly(0);  // E_Q[1; dP > 0 finite ratio] = M(-1)
    for (const BreakTerm& term : points.terms) {
      total = total + term.at_zero;
      other = other + exp(Interval::exactly(-term.position)) * (term.constant - term.residue);
    }
    EXPECT_THAT(total, Encloses(1.0));
    EXPECT_THAT(total, IsTight(1e-14));
    EXPECT_THAT(other + points.infinite_mass, Encloses(1.0));  // symmetric pairs: Q has the same mass where P has none
  }
}

/// A sum over nodes of e^(-z^2/2), z of deviation mu, becomes a mean: times step / (mu sqrt(2 pi)).
void scale_to_mean(acb_t sum, double step, double mu, slong bits) {
  arb_t root, factor;
  arb_init(root), arb_init(factor);
  arb_const_pi(root, bits);
  arb_mul_2exp_si(root, root, 1);
  arb_sqrt(root, root, bits);
  arb_set_d(factor, mu);
  arb_mul(root, root, factor, bits);
  arb_set_d(factor, step);
  arb_div(factor, factor, root, bits);
  acb_mul_arb(sum, sum, factor, bits);
  arb_clear(root), arb_clear(factor);
}

/// J(p) = E (1 + e^V)^p by the trapezoidal rule in 200-bit balls, far finer than needed.
void exact_transform(acb_t result, double mu, double rate, Complex p) {
  constexpr slong bits = 200;
  acb_t exponent, term;
  arb_t x, mean, h, w;
  acb_init(exponent), acb_init(term);
  arb_init(x), arb_init(mean), arb_init(h), arb_init(w);
  arb_set_d(mean, rate);
  arb_set_d(w, -rate);
  arb_log1p(w, w, bits);
  arb_log(mean, mean, bits);
  arb_sub(mean, mean, w, bits);
  arb_set_d(w, mu);
  arb_mul(w, w, w, bits);
  arb_mul_2exp_si(w, w, -1);
  arb_sub(mean, mean, w, bits);
  const double step = std::min(0.015, mu / 20);  // far below the period 2 pi / (|p| l') of the integrand
  const double centre = std::log(rate / (1 - rate)) - mu * mu / 2;
  const double low = centre - (14 + 3 * std::sqrt(std::abs(p))) * mu;
  const double high = centre + 14 * mu + std::max(0.0, p.real()) * mu * mu + 3 * std::sqrt(std::abs(p)) * mu;
  acb_zero(result);
  for (double at = std::floor(low / step); at * step < high; ++at) {
    arb_set_d(x, at);
    arb_set_d(h, step);
    arb_mul(x, x, h, bits);
    arb_exp(w, x, bits);
    arb_log1p(w, w, bits);
    acb_set_d_d(exponent, p.real(), p.imag());
    acb_mul_arb(exponent, exponent, w, bits);
    arb_sub(w, x, mean, bits);
    arb_set_d(h, mu);
    arb_div(w, w, h, bits);
    arb_mul(w, w, w, bits);
    arb_mul_2exp_si(w, w, -1);
    acb_sub_arb(exponent, exponent, w, bits);
    acb_exp(term, exponent, bits);
    acb_add(result, result, term, bits);
  }
  scale_to_mean(result, step, mu, bits);
  acb_clear(exponent), acb_clear(term);
  arb_clear(x), arb_clear(mean), arb_clear(h), arb_clear(w);
}

double log_modulus(const acb_t z) {
  arb_t modulus;
  arb_init(modulus);
  acb_abs(modulus, z, 200);
  arb_log(modulus, modulus, 200);
  const double result = arf_get_d(arb_midref(modulus), ARF_RND_NEAR);
  arb_clear(modulus);
  return result;
}

TEST(NoisePlane, ValuesAndMajorantsHoldAtRandomExponents) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> uniform(0, 1);
  int useful = 0;
  for (int k = 0; k < 30; ++k) {
    const double mu = std::exp(-1.5 + 2.3 * uniform(random));
    const double rate = std::exp(-7 * uniform(random)) * 0.7;
    const double real = k % 2 == 0 ? 1 + 12 * uniform(random) : -std::exp(7 * uniform(random));
    const hyperbolic::RealNoise fast(mu, rate, real > 0);
    // Every third range is too short and every third frequency too high: then the error bound must be large.
    hyperbolic::Range range = fast.range(real);
    const double cut = k % 3 == 0 ? 0.35 * uniform(random) * (range.high - range.low) : 0;
    hyperbolic::NoisePlane plane(Interval::exactly(mu), Interval::exactly(rate), {range.low + cut, range.high - cut});
    const Complex p(real, std::abs(real) * (k % 3 == 1 ? 15 : 3) * uniform(random));
    const hyperbolic::Polar found = plane.evaluate(p);
    acb_t truth, difference;
    acb_init(truth), acb_init(difference);
    exact_transform(truth, mu, rate, p);
    const double log_scale = log_modulus(truth);
    // The computed value in balls, from its polar form.
    acb_set_d_d(difference, found.log_modulus, found.phase);
    acb_exp(difference, difference, 200);
    acb_sub(difference, difference, truth, 200);
    const double log_difference = log_modulus(difference);
    // The rounding of the polar form to doubles is not part of the error bound.
    const double digits = 4e-16 * (1 + std::abs(found.log_modulus) + std::abs(found.phase)) * std::exp(found.log_modulus);
    EXPECT_FALSE(log_difference >= std::log(std::exp(found.log_error) + digits) + 1e-12)
        << log_difference << " " << found.log_error << " " << mu << " " << rate << " " << p;
    useful += found.log_error < log_scale - 20;
    if (std::isfinite(log_scale)) {  // otherwise even 200 bits cancel
      EXPECT_GE(plane.log_majorant({&p, 1}), log_scale);
      const std::array<Complex, 3> triangle{p, p + Complex(0.3, 0.1), p + Complex(0.1, 0.4)};
      EXPECT_GE(plane.log_majorant(triangle), log_scale);
    }
    acb_clear(truth), acb_clear(difference);
  }
  EXPECT_GE(useful, 15);
}

/// M(p) - 1 - p (p - 1) V / 2 in balls, from J(p).
void exact_remainder(acb_t result, double mu, double rate, Complex p) {
  constexpr slong bits = 200;
  acb_t exponent, power;
  arb_t w, variance;
  acb_init(exponent), acb_init(power), arb_init(w), arb_init(variance);
  exact_transform(result, mu, rate, p);
  acb_set_d_d(exponent, p.real(), p.imag());
  arb_set_d(w, -rate);
  arb_log1p(w, w, bits);
  acb_mul_arb(power, exponent, w, bits);
  acb_exp(power, power, bits);
  acb_mul(result, result, power, bits);
  arb_set_d(w, mu);
  arb_mul(w, w, w, bits);
  arb_expm1(variance, w, bits);
  arb_set_d(w, rate);
  arb_mul(variance, variance, w, bits);
  arb_mul(variance, variance, w, bits);
  arb_mul_2exp_si(variance, variance, -1);
  acb_sub_ui(power, exponent, 1, bits);
  acb_mul(power, power, exponent, bits);
  acb_mul_arb(power, power, variance, bits);
  acb_sub(result, result, power, bits);
  acb_sub_ui(result, result, 1, bits);
  acb_clear(exponent), acb_clear(power), arb_clear(w), arb_clear(variance);
}

// [bent-remainder] At rates where the transform differs from 1 in the twelfth digit only, on contours and off them; every third range is
// too short.
TEST(NoisePlane, RemainderHoldsAtRandomExponents) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  int useful = 0;
  for (int k = 0; k < 40; ++k) {
    const double mu = std::exp(-1.6 + 1.8 * uniform(random));
    const double rate = std::exp(-10 * uniform(random)) * 0.05;
    const double angle = 1.57 * std::sqrt(uniform(random));
    const Complex p = 1.0 + std::polar(std::exp(1 + 4 * uniform(random)), angle);
    const hyperbolic::RealNoise fast(mu, rate, true);
    hyperbolic::Range range = fast.range(std::min(p.real(), 1 - std::log(rate) / (mu * mu)));
    range = hyperbolic::NoisePlane::remainder_range(mu, rate, {range.low, range.high + 6 * mu});
    const double cut = k % 3 == 0 ? 0.3 * uniform(random) * (range.high - range.low) : 0;
    hyperbolic::NoisePlane plane(Interval::exactly(mu), Interval::exactly(rate), {range.low + cut, range.high - cut});
    const hyperbolic::Plain found = plane.evaluate_remainder(p);
    acb_t truth, difference;
    acb_init(truth), acb_init(difference);
    exact_remainder(truth, mu, rate, p);
    acb_set_d_d(difference, found.value.real(), found.value.imag());
    acb_sub(difference, difference, truth, 200);
    EXPECT_FALSE(log_modulus(difference) > std::log(found.error)) << k << " " << mu << " " << rate << " " << p;
    useful += std::log(found.error) < log_modulus(truth) - 15;
    acb_clear(truth), acb_clear(difference);
  }
  EXPECT_GE(useful, 12);
}

// E (1 + e^V) = 1 / (1 - rate). Half of it lies beyond the last node, where the integrand only starts to decay.
TEST(NoisePlane, TheErrorIncludesThePartBeyondTheNodes) {
  hyperbolic::NoisePlane plane(Interval::exactly(4), Interval::exactly(0.5), {-40, 8.3});
  const Complex one(1, 0);
  const hyperbolic::Polar found = plane.evaluate(one);
  EXPECT_LT(std::exp(found.log_modulus), 1.7);
  EXPECT_GE(std::exp(found.log_modulus) + std::exp(found.log_error), 2);
  EXPECT_GE(plane.log_majorant({&one, 1}), std::log(2.0));
}

// The phase changes quickly: the rounding of the exponents dominates the error.
TEST(NoisePlane, TheErrorIncludesTheRoundingOfLargeExponents) {
  for (const double imaginary : {100.0, 200.0, 300.0}) {
    const Complex p(-40, imaginary);
    const hyperbolic::RealNoise fast(1, 0.1, false);
    hyperbolic::NoisePlane plane(Interval::exactly(1), Interval::exactly(0.1), fast.range(p.real()));
    const hyperbolic::Polar found = plane.evaluate(p);
    acb_t truth, difference;
    acb_init(truth), acb_init(difference);
    exact_transform(truth, 1, 0.1, p);
    acb_set_d_d(difference, found.log_modulus, found.phase);
    acb_exp(difference, difference, 200);
    acb_sub(difference, difference, truth, 200);
    EXPECT_LE(log_modulus(difference), found.log_error + 1e-12) << p;
    EXPECT_LT(found.log_error, found.log_modulus - 15) << p;
    acb_clear(truth), acb_clear(difference);
  }
}

TEST(NoisePlane, HoldsWhereNodesAreFarApartForTheFrequency) {
  const double mu = 3.0173024643473902, rate = 0.0038609893910869688;
  const Complex p(4.5951313609136353, 77.857209740650248);
  hyperbolic::NoisePlane plane(Interval::exactly(mu), Interval::exactly(rate), hyperbolic::RealNoise(mu, rate, true).range(p.real()));
  const hyperbolic::Polar found = plane.evaluate(p);
  acb_t truth, difference;
  acb_init(truth), acb_init(difference);
  exact_transform(truth, mu, rate, p);
  acb_set_d_d(difference, found.log_modulus, found.phase);
  acb_exp(difference, difference, 200);
  acb_sub(difference, difference, truth, 200);
  EXPECT_LE(log_modulus(difference), found.log_error);
  acb_clear(truth), acb_clear(difference);
}

// A plane for an interval of parameters is valid for both ends.
TEST(NoisePlane, TheErrorIncludesTheWidthOfTheParameters) {
  const auto value = [](hyperbolic::Polar x) { return std::polar(std::exp(x.log_modulus), x.phase); };
  for (const Complex p : {Complex(3, 0), Complex(-20, 5), Complex(0.5, 12)}) {
    const hyperbolic::Range range{-30, 12};
    const auto check = [&](Interval mu, Interval rate) {
      hyperbolic::NoisePlane both(mu, rate, range);
      const hyperbolic::Polar found = both.evaluate(p);
      for (const double end_mu : {mu.lo, mu.hi})
        for (const double end_rate : {rate.lo, rate.hi}) {
          hyperbolic::NoisePlane end(Interval::exactly(end_mu), Interval::exactly(end_rate), range);
          EXPECT_LE(std::abs(value(end.evaluate(p)) - value(found)), std::exp(found.log_error) * 1.000001) << p;
        }
    };
    check({1, 1 + 1e-7}, Interval::exactly(0.2));
    check(Interval::exactly(1), {0.2, 0.2 + 1e-7});
  }
}

/// I(p) = E[w^p; w > 1] of a sample of fixed size by the trapezoidal rule in 200-bit balls, in v = log(w - 1).
void exact_sampled_transform(acb_t result, double mu, double rate, Complex p) {
  constexpr slong bits = 200;
  acb_t exponent, term;
  arb_t v, loss, ratio, h, w;
  acb_init(exponent), acb_init(term);
  arb_init(v), arb_init(loss), arb_init(ratio), arb_init(h), arb_init(w);
  const double step = std::min(0.02, mu / 20);
  const double low = std::log(rate) - 45 - std::log1p(rate * std::abs(p));
  const double high = std::log(rate) + 14 * mu + 2 + std::max(0.0, p.real()) * mu * mu + 3 * std::sqrt(std::abs(p)) * mu;
  acb_zero(result);
  for (double at = std::floor(low / step); at * step < high; ++at) {
    arb_set_d(v, at);
    arb_set_d(h, step);
    arb_mul(v, v, h, bits);
    arb_exp(w, v, bits);
    arb_set_d(ratio, rate);
    arb_div(ratio, w, ratio, bits);
    arb_log1p(loss, ratio, bits);  // of the base
    arb_log1p(w, w, bits);
    acb_set_d_d(exponent, p.real(), p.imag());
    acb_mul_arb(exponent, exponent, w, bits);
    arb_set_d(h, mu);
    arb_div(w, loss, h, bits);
    arb_mul_2exp_si(h, h, -1);
    arb_add(w, w, h, bits);
    arb_mul(w, w, w, bits);
    arb_mul_2exp_si(w, w, -1);
    acb_sub_arb(exponent, exponent, w, bits);
    acb_exp(term, exponent, bits);
    arb_add_ui(w, ratio, 1, bits);
    arb_div(w, ratio, w, bits);  // d loss / d v
    acb_mul_arb(term, term, w, bits);
    acb_add(result, result, term, bits);
  }
  scale_to_mean(result, step, mu, bits);
  acb_clear(exponent), acb_clear(term);
  arb_clear(v), arb_clear(loss), arb_clear(ratio), arb_clear(h), arb_clear(w);
}

// [sampled-plane] On contours and off them, for losses of either sign; every third range is too short at one end.
TEST(SampledPlane, ValuesAndMajorantsHoldAtRandomExponents) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  int useful = 0;
  for (int k = 0; k < 36; ++k) {
    const double mu = std::exp(-1.6 + 2.3 * uniform(random));
    const double rate = std::exp(-9 * uniform(random)) * 0.7;
    const bool positive = k % 2 == 0;
    const double real = positive ? 1 + 12 * uniform(random) : -std::exp(7 * uniform(random)) / rate * 0.1;
    const hyperbolic::RealNoise fast(mu, rate, positive, std::nullopt, SampledBy::fixed);
    hyperbolic::Range range = fast.range(real);
    if (k % 3 == 0) (k % 4 < 2 ? range.low : range.high) += (k % 4 < 2 ? 0.5 : -0.2) * uniform(random) * (range.high - range.low);
    hyperbolic::NoisePlane plane(Interval::exactly(mu), Interval::exactly(rate), range, std::nullopt, SampledBy::fixed);
    const Complex p(real, std::abs(real) * (k % 3 == 1 ? 15 : 3) * uniform(random));
    const hyperbolic::Polar found = plane.evaluate(p);
    acb_t truth, difference;
    acb_init(truth), acb_init(difference);
    exact_sampled_transform(truth, mu, rate, p);
    const double log_scale = log_modulus(truth);
    acb_set_d_d(difference, found.log_modulus, found.phase);
    acb_exp(difference, difference, 200);
    acb_sub(difference, difference, truth, 200);
    const double digits = 4e-16 * (1 + std::abs(found.log_modulus) + std::abs(found.phase)) * std::exp(found.log_modulus);
    EXPECT_FALSE(log_modulus(difference) >= std::log(std::exp(found.log_error) + digits) + 1e-12)
        << log_modulus(difference) << " " << found.log_error << " " << mu << " " << rate << " " << p;
    useful += found.log_error < log_scale - 20;
    EXPECT_GE(plane.log_majorant({&p, 1}), log_scale);
    const std::array<Complex, 3> triangle{p, p + Complex(0.3, 0.1), p + Complex(0.1, 0.4)};
    EXPECT_GE(plane.log_majorant(triangle), log_scale);
    acb_clear(truth), acb_clear(difference);
  }
  EXPECT_GE(useful, 18);
}

// [sampled-plane] Nodes that start after a tenth of the small losses, or end before the tail.
TEST(SampledPlane, TheErrorIncludesThePartBeyondTheNodes) {
  const double mu = 0.5, rate = 0.01;
  for (const hyperbolic::Range range : {hyperbolic::Range{-17, 8}, hyperbolic::Range{-60, -3}}) {
    for (const Complex p : {Complex(3, 0), Complex(-5, 0), Complex(20, 0)}) {
      hyperbolic::NoisePlane plane(Interval::exactly(mu), Interval::exactly(rate), range, std::nullopt, SampledBy::fixed);
      acb_t truth;
      acb_init(truth);
      exact_sampled_transform(truth, mu, rate, p);
      const double value = std::exp(log_modulus(truth));
      acb_clear(truth);
      const hyperbolic::Polar found = plane.evaluate(p);
      EXPECT_LE(std::abs(std::exp(found.log_modulus) - value), std::exp(found.log_error) + 1e-15 * value) << p;
      EXPECT_GE(plane.log_majorant({&p, 1}), std::log(value)) << p;
    }
  }
}

// [sampled-plane] A plane for an interval of parameters is valid for both ends.
TEST(SampledPlane, TheErrorIncludesTheWidthOfTheParameters) {
  const auto value = [](hyperbolic::Polar x) { return std::polar(std::exp(x.log_modulus), x.phase); };
  for (const Complex p : {Complex(3, 0), Complex(-20, 5), Complex(0.5, 12)}) {
    const hyperbolic::Range range{-60, 12};
    const auto check = [&](Interval mu, Interval rate) {
      hyperbolic::NoisePlane both(mu, rate, range, std::nullopt, SampledBy::fixed);
      const hyperbolic::Polar found = both.evaluate(p);
      for (const double end_mu : {mu.lo, mu.hi})
        for (const double end_rate : {rate.lo, rate.hi}) {
          hyperbolic::NoisePlane end(Interval::exactly(end_mu), Interval::exactly(end_rate), range, std::nullopt, SampledBy::fixed);
          EXPECT_LE(std::abs(value(end.evaluate(p)) - value(found)), std::exp(found.log_error) * 1.000001) << p;
        }
    };
    check({1, 1 + 1e-7}, Interval::exactly(0.2));
    check(Interval::exactly(1), {0.2, 0.2 + 1e-7});
  }
}

Part sampled(double sigma, double rate, std::uint64_t times) {
  return {std::make_shared<SampledLoss>(gaussian_loss(Interval::exactly(1) / Interval::exactly(sigma)), Interval::exactly(rate)), times};
}

// [sampled-plane] One step has a closed profile, in either direction and at either sign of epsilon.
TEST(HyperbolicContourOfFixedSizeSamples, OneStepMatchesItsClosedProfile) {
  int tight = 0;
  int all = 0;
  for (const double sigma : {0.5, 4.0}) {
    for (const double rate : {0.001, 0.4}) {
      const Part part = sampled(sigma, rate, 1);
      const auto loss = compose_by_hyperbolic_contour({part}, {});
      EXPECT_TRUE(loss->symmetric());
      for (const double epsilon : {-0.3, 0.0, 0.01, 2.0}) {
        for (const Direction direction : {Direction::remove, Direction::add}) {
          if (epsilon == 0 && direction == Direction::add) continue;
          const Interval found = loss->log_delta(direction, Interval::exactly(epsilon));
          EXPECT_THAT(found, Encloses(part.loss->log_delta(direction, Interval::exactly(epsilon))))
              << sigma << " " << rate << " " << epsilon;
          ++all;
          tight += found.width() <= 1e-6;
        }
      }
    }
  }
  EXPECT_GE(tight, all * 6 / 10) << "of " << all;
}

// [sampled-plane] True values by composing step by step in the space of losses: Gauss rules on panels that shrink towards 0 and epsilon,
// profiles stored as Chebyshev series on panels of log epsilon; two resolutions agree to the digits shown.
TEST(HyperbolicContourOfFixedSizeSamples, FewStepsMatchStepByStepIntegration) {
  const auto check = [](double sigma, double rate, std::uint64_t times, double epsilon, const char* truth, double width = 1e-6) {
    const auto loss = compose_by_hyperbolic_contour({sampled(sigma, rate, times)}, {});
    const Interval delta = loss->delta(Direction::remove, Interval::exactly(epsilon));
    EXPECT_THAT(delta, Encloses(truth)) << sigma << " " << rate << " " << times;
    EXPECT_THAT(delta, IsTight(width)) << sigma << " " << rate << " " << times;
  };
  check(1, 0.001, 2, 0.0125, "1.003628867244e-05");
  check(1, 0.001, 2, 0.140625, "1.034130916305e-09");
  check(0.5, 0.001, 2, 0.515625, "1.001426506500e-05");
  check(0.5, 0.001, 2, 4.375, "1.024443560823e-09");
  check(0.5, 0.0001, 3, 0.015625, "9.047167468200e-06");
  check(0.5, 0.0001, 3, 1.5, "1.069357072990e-09");
  check(1, 0.01, 3, 0.25, "1.473902264322e-05");
  check(2, 0.001, 4, 0.003, "9.882393628907e-06");
  check(2, 0.001, 4, 0.01, "1.990140053050e-09", 1e-5);  // a corner: rounding
}

// [sampled-plane] Two engines with independent bounds, on random plans.
TEST(HyperbolicContourOfFixedSizeSamples, AgreesWithTheLattice) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int k = 0; k < 8; ++k) {
    const double sigma = 0.5 * std::exp(2.3 * uniform(random));
    const double rate = 0.5 * std::exp(-6 * uniform(random));
    const auto times = static_cast<std::uint64_t>(2 * std::exp(3.5 * uniform(random)));
    const Parts parts{sampled(sigma, rate, times)};
    const auto lattice = compose_by_lattice(parts, {1e-4});
    const double epsilon = lattice->closed_epsilon(Direction::remove, Interval::exactly(std::pow(10, -2 - 6 * uniform(random))))->hi;
    const Interval expected = lattice->log_delta(Direction::remove, Interval::exactly(epsilon));
    const Interval found = compose_by_hyperbolic_contour(parts, {})->log_delta(Direction::remove, Interval::exactly(epsilon));
    EXPECT_LE(found.lo, expected.hi) << sigma << " " << rate << " " << times << " " << epsilon;
    EXPECT_GE(found.hi, expected.lo) << sigma << " " << rate << " " << times << " " << epsilon;
    EXPECT_LE(found.width(), 1e-5) << sigma << " " << rate << " " << times << " " << epsilon;
  }
}

// [sampled-plane] Together with break terms and a plain Gaussian; and epsilon from delta.
TEST(HyperbolicContourOfFixedSizeSamples, MixedPlansAndEpsilon) {
  const Parts parts{sampled(1, 0.01, 5), {std::make_shared<LaplaceLoss>(Interval::exactly(0.25)), 2}};
  const auto loss = compose_by_hyperbolic_contour(parts, {});
  ASSERT_NE(loss, nullptr);
  const auto lattice = compose_by_lattice(parts, {});
  for (const double epsilon : {0.3, 1.0}) {
    const Interval expected = lattice->log_delta(Direction::remove, Interval::exactly(epsilon));
    const Interval found = loss->log_delta(Direction::remove, Interval::exactly(epsilon));
    EXPECT_LE(found.lo, expected.hi);
    EXPECT_GE(found.hi, expected.lo);
    EXPECT_LE(found.width(), 1e-6);
  }
  const Interval epsilon = *loss->closed_epsilon(Direction::remove, Interval::exactly(1e-6));
  EXPECT_LE(epsilon.width(), 1e-6 * epsilon.hi);
  EXPECT_GE(lattice->delta(Direction::remove, Interval::exactly(epsilon.lo)).hi, 1e-6);
  EXPECT_LE(lattice->delta(Direction::remove, Interval::exactly(epsilon.hi)).lo, 1e-6);
}

// For parameters that are intervals the upper bound uses the worse end and the lower bound the better end.
TEST(HyperbolicContourOfFixedSizeSamples, WideParametersAreEnclosed) {
  const Interval rate{0.01, 0.0101};
  const Part wide{std::make_shared<SampledLoss>(gaussian_loss(Interval::exactly(1)), rate), 3};
  const Interval found = compose_by_hyperbolic_contour({wide}, {})->delta(Direction::remove, Interval::exactly(0.25));
  EXPECT_THAT(found, Encloses(compose_by_hyperbolic_contour({sampled(1, 0.01, 3)}, {})->delta(Direction::remove, Interval::exactly(0.25))));
  EXPECT_THAT(found,
              Encloses(compose_by_hyperbolic_contour({sampled(1, 0.0101, 3)}, {})->delta(Direction::remove, Interval::exactly(0.25))));
}

// [bent-contour] With Gaussian noise delta is positive at every epsilon: an exponent that overflows does not prove 0.
TEST(HyperbolicContour, NeverClaimsThatDeltaIsZero) {
  for (const double steps : {2.0, 1000.0})
    for (const double epsilon : {1e10, 1e100, 1e300, 1e308}) {
      const auto loss = compose_by_hyperbolic_contour(
          {{subsampled_gaussian(Interval::exactly(1), Interval::exactly(0.01)), static_cast<std::uint64_t>(steps)}}, {1e-6});
      EXPECT_GT(loss->log_delta(Direction::remove, Interval::exactly(epsilon)).hi, -infinity) << epsilon;
      EXPECT_GT(loss->delta(Direction::remove, Interval::exactly(epsilon)).hi, 0) << epsilon;
    }
}

// Nothing oscillates here, so the truncated part is as large as its bound.
TEST(HyperbolicContour, TheErrorIncludesTheTruncation) {
  for (const double y : {-0.01, 0.0, 0.01, 0.3}) {
    for (const double place : {0.3, 1.0, 4.0}) {
      for (const double tolerance : {0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4}) {
        const hyperbolic::Estimate found = test::kernel_integral(y, place, tolerance);
        const double truth = y > 0 ? -std::expm1(-y) : 0;
        EXPECT_LE(std::abs(found.value * std::exp(found.log_scale) - truth), found.error * std::exp(found.log_scale))
            << y << " " << place << " " << tolerance;
      }
    }
  }
}

// [bent-split] An unknown tail counts with its bound.
TEST(StepFactor, AnUnknownTailIsNotLeftOut) {
  const hyperbolic::SubsampledSteps steps{0.5, 0.01, 1, true, 0, 0};
  const double mean = std::log(0.01 / 0.99) - 0.125;
  const auto cut = std::make_shared<const hyperbolic::Cut>(steps, mean + 0.25, 0.25);
  for (const Complex s : {Complex(1, 0), Complex(1, 30), Complex(1, 200), Complex(1, 1000), Complex(1, 4000), Complex(25, 0),
                          Complex(30, 0), Complex(35, 0), Complex(38, 0)}) {
    hyperbolic::StepFactor factor(steps, cut, hyperbolic::TailSteps::any);
    factor.prepare(1, 1, 0);  // far from the last ones, whose tail is unknown
    const hyperbolic::LogValue found = factor.evaluate(s);
    hyperbolic::NoisePlane whole(Interval::exactly(0.5), Interval::exactly(0.01), {mean - 6, s.real() > 1 ? 40.0 : 8.0});
    const hyperbolic::Polar truth = whole.evaluate(1.0 + s);
    const double known =
        found.known ? std::abs(std::polar(std::exp(found.real), found.phase) - std::polar(std::exp(truth.log_modulus), truth.phase))
                    : std::exp(truth.log_modulus);
    const double allowed = found.known ? std::exp(found.real) * std::expm1(found.error) : std::exp(found.real + found.error);
    EXPECT_FALSE(known > allowed + std::exp(truth.log_error) + 1e-15) << s;  // a bound that is NaN claims nothing
  }
}

TEST(Window, LogHalfErfcIsWithinItsBound) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  acb_t truth;
  acb_init(truth);
  for (int k = 0; k < 5000; ++k) {
    Complex z(uniform(random) * std::exp(3.5 * uniform(random)), uniform(random) * std::exp(3.5 * uniform(random)));
    if (k % 5 == 0) z = {1e-3 * z.real(), std::round(2 * z.imag()) / 2};  // on the poles of the trapezoidal rule
    if (std::abs(z.imag()) > 20) continue;
    const hyperbolic::LogHalfErfc found = hyperbolic::log_half_erfc(z);
    ASSERT_LT(found.error, 1e-9) << z;
    acb_set_d_d(truth, z.real(), z.imag());
    acb_hypgeom_erfc(truth, truth, 300);
    acb_mul_2exp_si(truth, truth, -1);
    acb_log(truth, truth, 300);
    const double real = arf_get_d(arb_midref(acb_realref(truth)), ARF_RND_NEAR);
    const double turns = (found.phase - arf_get_d(arb_midref(acb_imagref(truth)), ARF_RND_NEAR)) / (2 * M_PI);
    const double phase = (turns - std::round(turns)) * 2 * M_PI;
    EXPECT_LE(std::hypot(found.real - real, phase), found.error + 4e-16 * (1 + std::abs(found.phase))) << z;
  }
  acb_clear(truth);
}

// The two windows add up to the whole, and each value lies below its majorant.
TEST(Window, BulkAndTailAddUp) {
  const double mu = 0.5;
  const double rate = 0.001;
  for (const double width : {0.12, 0.3}) {
    const hyperbolic::Window bulk{-4, width, hyperbolic::Window::Side::bulk};
    const hyperbolic::Window tail{-4, width, hyperbolic::Window::Side::tail};
    for (const Complex p : {Complex(3, 0), Complex(20, 7), Complex(8, 60)}) {
      const hyperbolic::RealNoise fast(mu, rate, true);
      hyperbolic::NoisePlane whole(Interval::exactly(mu), Interval::exactly(rate), fast.range(p.real()));
      hyperbolic::NoisePlane low(Interval::exactly(mu), Interval::exactly(rate),
                                 hyperbolic::RealNoise(mu, rate, true, bulk).range(p.real()), bulk);
      hyperbolic::NoisePlane high(Interval::exactly(mu), Interval::exactly(rate),
                                  hyperbolic::RealNoise(mu, rate, true, tail).range(p.real()), tail);
      const auto value = [](hyperbolic::Polar x) { return std::polar(std::exp(x.log_modulus), x.phase); };
      const hyperbolic::Polar a = whole.evaluate(p), b = low.evaluate(p), c = high.evaluate(p);
      const double allowed = std::exp(a.log_error) + std::exp(b.log_error) + std::exp(c.log_error) + 1e-14 * std::exp(a.log_modulus);
      EXPECT_LE(std::abs(value(a) - value(b) - value(c)), allowed);
      EXPECT_LT(allowed, 1e-6 * std::exp(a.log_modulus));
      EXPECT_GE(low.log_majorant({&p, 1}), b.log_modulus - std::exp(b.log_error - b.log_modulus));
      EXPECT_GE(high.log_majorant({&p, 1}), std::log(std::exp(c.log_modulus) - std::exp(c.log_error)));
    }
  }
}

// One step has a closed profile; small rates need the split, and negative epsilons the mirror.
TEST(HyperbolicContour, OneStepMatchesItsClosedProfile) {
  int tight = 0;
  int all = 0;
  for (const double mu : {0.25, 2.0}) {
    for (const double rate : {0.001, 0.4}) {
      const PoissonLoss closed(gaussian_loss(Interval::exactly(mu)), Interval::exactly(rate));
      const Part part{std::make_shared<ExpandedLoss>(sampled_factor(mu, rate), sampled_factor(mu, rate), false), 1};
      const auto loss = compose_by_hyperbolic_contour({part}, {});
      for (const double epsilon : {-0.3, 0.01, 2.0}) {
        for (const Direction direction : {Direction::remove, Direction::add}) {
          const Interval truth = closed.log_delta(direction, Interval::exactly(epsilon));
          const Interval found = loss->log_delta(direction, Interval::exactly(epsilon));
          EXPECT_THAT(found, Encloses(truth)) << mu << " " << rate << " " << epsilon;
          ++all;
          tight += found.hi - found.lo <= 1e-6 || found.hi == -infinity;
        }
      }
    }
  }
  EXPECT_GE(tight, all * 8 / 10) << "of " << all;
}

TEST(HyperbolicContour, EpsilonIsEnclosedAndTight) {
  const auto loss =
      compose_by_hyperbolic_contour({subsampled(Interval::exactly(1), Interval::exactly(0.1), 3), laplace(Interval::exactly(0.5), 2)}, {});
  for (const double epsilon : {0.25, 1.5, 6.0}) {
    const Interval delta = loss->delta(Direction::remove, Interval::exactly(epsilon));
    const auto found = loss->closed_epsilon(Direction::remove, delta);
    ASSERT_TRUE(found.has_value());
    EXPECT_THAT(*found, Encloses(epsilon));
    EXPECT_THAT(*found, IsTight(1e-5));
  }
}

// A search for epsilon computes its contours once and reuses them; an answer on new contours must agree on both sides.
TEST(HyperbolicContour, EpsilonAgreesWithFreshContours) {
  for (const double sigma : {0.5, 1.0, 2.0}) {
    for (const double rate : {0.2, 0.01, 0.001}) {
      const auto loss =
          compose_by_hyperbolic_contour({subsampled(Interval::exactly(1) / Interval::exactly(sigma), Interval::exactly(rate), 5)}, {});
      for (const Direction direction : {Direction::remove, Direction::add}) {
        const auto found = loss->closed_epsilon(direction, Interval::exactly(1e-6));
        ASSERT_TRUE(found.has_value());
        EXPECT_THAT(*found, IsTight(1e-6)) << sigma << " " << rate;
        EXPECT_GE(loss->log_delta(direction, Interval::exactly(found->lo)).hi, std::log(1e-6));
        EXPECT_LE(loss->log_delta(direction, Interval::exactly(found->hi)).lo, std::log(1e-6));
      }
    }
  }
}

// Cached values of the factors at one epsilon are used for another; the summands must be the same.
TEST(HyperbolicContour, AReusedContourIsValid) {
  const auto expansion =
      hyperbolic::expand({subsampled(Interval::exactly(1), Interval::exactly(0.1), 4)}, Direction::remove, ParameterEnd::worse);
  ASSERT_TRUE(expansion.has_value());
  const hyperbolic::SubsampledSteps& steps = expansion->subsampled.front();
  const hyperbolic::RealNoise fast(steps.mu, steps.rate, true);
  const auto offset = [&](double epsilon) {
    return hyperbolic::Integrand::Offset{0, expansion->summands[0].position.value() - epsilon, 1e-17};
  };
  const auto fresh = [&](double epsilon) {
    std::vector<hyperbolic::StepFactor> factors;
    factors.emplace_back(steps, fast);
    return hyperbolic::Integrand(*expansion, std::move(factors), {offset(epsilon)});
  };
  hyperbolic::Integrand moved = fresh(1);
  const hyperbolic::Estimate first =
      hyperbolic::integrate(moved, hyperbolic::Opening::right, hyperbolic::find_saddle(moved, 1e6), 1e-8, -infinity, 1 << 24);
  ASSERT_TRUE(moved.move_to({offset(1.05)}, 1.05));
  const hyperbolic::Estimate second = hyperbolic::integrate_on(moved, hyperbolic::Opening::right, first.contour, 1e-8, 1 << 24);
  hyperbolic::Integrand other = fresh(1.05);
  const hyperbolic::Estimate truth =
      hyperbolic::integrate(other, hyperbolic::Opening::right, hyperbolic::find_saddle(other, 1e6), 1e-8, -infinity, 1 << 24);
  const double scale = std::exp(second.log_scale - truth.log_scale);
  EXPECT_NEAR(second.value * scale, truth.value, second.error * scale + truth.error);
  EXPECT_LT(second.error, 1e-6 * second.value);
  // Far away the same contour is still valid, but wide.
  ASSERT_TRUE(moved.move_to({offset(4)}, 4));
  const hyperbolic::Estimate far = hyperbolic::integrate_on(moved, hyperbolic::Opening::right, first.contour, 1e-8, 1 << 24);
  hyperbolic::Integrand there = fresh(4);
  const hyperbolic::Estimate far_truth =
      hyperbolic::integrate(there, hyperbolic::Opening::right, hyperbolic::find_saddle(there, 1e6), 1e-8, -infinity, 1 << 24);
  const double far_scale = std::exp(far.log_scale - far_truth.log_scale);
  EXPECT_NEAR(far.value * far_scale, far_truth.value, far.error * far_scale + far_truth.error);
  EXPECT_FALSE(moved.move_to({}, 4));
}

// Values cached for one epsilon must not be used for summands that only another epsilon has.
TEST(HyperbolicContour, AnswersDoNotDependOnEarlierOnes) {
  for (const Parts& parts : {Parts{laplace(Interval::exactly(0.5), 3)},
                             Parts{subsampled(Interval::exactly(1), Interval::exactly(0.1), 2), laplace(Interval::exactly(1), 2)},
                             Parts{subsampled(Interval::exactly(2), Interval::exactly(0.001), 4)}}) {
    auto expansion = hyperbolic::expand(parts, Direction::remove, ParameterEnd::worse);
    ASSERT_TRUE(expansion.has_value());
    const hyperbolic::Side side(std::move(*expansion));
    hyperbolic::Evaluator remembering(side, {});
    for (const double epsilon : {4.0, 0.3, 1.5, 0.31, 1.2, 0.002, 0.0021, 3.0}) {
      const Interval found = remembering.at(epsilon, 1e-5).bounds;
      const Interval fresh = hyperbolic::Evaluator(side, {}).at(epsilon).bounds;
      EXPECT_LE(found.lo, fresh.hi) << epsilon;
      EXPECT_GE(found.hi, fresh.lo) << epsilon;
    }
  }
}

// Far beyond the noise there is still an answer, and it is small.
TEST(HyperbolicContour, HugeEpsilonsAreAnswered) {
  for (const double rate : {0.01, 1e-4}) {
    const auto loss = compose_by_hyperbolic_contour({subsampled(Interval::exactly(1), Interval::exactly(rate), 10)}, {});
    for (const double epsilon : {50.0, 700.0}) {
      const Interval found = loss->log_delta(Direction::remove, Interval::exactly(epsilon));
      EXPECT_LE(found.lo, found.hi) << epsilon;
      EXPECT_LT(found.hi, -100) << epsilon;
    }
  }
}

// Close to the largest loss of the direction add, contours open far to the left, where the integrand would increase on a straight path in
// the noise plane.
TEST(HyperbolicContour, NearTheLargestLossIsTight) {
  for (const std::uint64_t times : {2U, 5U}) {
    const auto loss = compose_by_hyperbolic_contour({subsampled(Interval::exactly(0.5), Interval::exactly(0.01), times)}, {});
    const auto found = loss->closed_epsilon(Direction::add, Interval::exactly(1e-8));
    ASSERT_TRUE(found.has_value());
    EXPECT_THAT(*found, IsTight(1e-8));
  }
}

// [bent-remainder] Where the Chernoff bound exceeds delta by many digits: two steps compared with cells, which use no transform, and a plan
// with a plain Gaussian compared with the lattice.
TEST(HyperbolicContour, DeepInTheTailOfSmallRates) {
  const auto check = [](double mu, double rate, std::uint64_t times, double epsilon) {
    const Parts parts{{subsampled_gaussian(Interval::exactly(mu), Interval::exactly(rate)), times}};
    const Interval found = compose_by_hyperbolic_contour(parts, {})->log_delta(Direction::remove, Interval::exactly(epsilon));
    const LossPointer other = times == 2 ? compose_by_cells(parts, {}) : compose_by_lattice(parts, {});
    const Interval known = other->log_delta(Direction::remove, Interval::exactly(epsilon));
    EXPECT_LE(found.lo, known.hi) << mu << " " << rate << " " << times;
    EXPECT_GE(found.hi, known.lo) << mu << " " << rate << " " << times;
    EXPECT_THAT(found, IsTight(1e-6)) << mu << " " << rate << " " << times;
    EXPECT_LT(known.width(), 1e-2) << mu << " " << rate << " " << times;
  };
  check(1, 1e-4, 2, 0.009195);
  check(1, 1e-4, 2, 0.03571);
  check(0.5, 1e-3, 2, 0.009448);
  check(0.5, 1e-4, 30, 0.001572);
  check(0.2, 1e-3, 30, 0.005373);
}

// Laplace steps have a largest loss; from it on delta is exactly the infinite mass.
TEST(HyperbolicContour, TiesAndTheFarEndAreExact) {
  const auto pure = compose_by_hyperbolic_contour({laplace(Interval::exactly(0.5), 4)}, {});
  EXPECT_EQ(pure->delta(Direction::add, Interval::exactly(2)), Interval::exactly(0));
  EXPECT_EQ(pure->delta(Direction::add, Interval::exactly(3)), Interval::exactly(0));
  EXPECT_THAT(pure->delta(Direction::add, Interval::exactly(1)), IsTight(1e-6));  // a break lies on epsilon
  EXPECT_THAT(pure->delta(Direction::add, Interval::exactly(0)), IsTight(1e-6));
  const BreakExpansion cut = truncated_laplace_break_points(1, Interval::exactly(5));
  const auto truncated = compose_by_hyperbolic_contour({{std::make_shared<ExpandedLoss>(cut, cut, true), 3}}, {});
  const Interval mass = truncated->infinite_mass(Direction::remove);
  EXPECT_THAT(mass, IsTight(1e-14));
  EXPECT_THAT(truncated->delta(Direction::remove, Interval::exactly(infinity)), Encloses(mass));
  EXPECT_THAT(truncated->delta(Direction::remove, Interval::exactly(3)), Encloses(mass));
}

// A wider parameter can only widen the answer, and a worse one only raise it.
TEST(HyperbolicContour, ParametersAreTakenAtTheirEnds) {
  const auto wide = compose_by_hyperbolic_contour({subsampled({0.9, 1.1}, {0.09, 0.11}, 4)}, {});
  const auto narrow = compose_by_hyperbolic_contour({subsampled(Interval::exactly(1), Interval::exactly(0.1), 4)}, {});
  for (const Direction direction : {Direction::remove, Direction::add}) {
    const Interval outer = wide->delta(direction, Interval::exactly(0.2));
    const Interval inner = narrow->delta(direction, Interval::exactly(0.2));
    EXPECT_LT(outer.lo, inner.lo);
    EXPECT_GT(outer.hi, inner.hi);
  }
}

TEST(HyperbolicContour, RefusesLossesWithoutAnExpansion) {
  EXPECT_EQ(compose_by_hyperbolic_contour({{std::make_shared<ShapelessLoss>(), 2}}, {}), nullptr);
  EXPECT_EQ(compose_by_hyperbolic_contour({}, {}), nullptr);
  EXPECT_EQ(compose_by_hyperbolic_contour({laplace(Interval::exactly(1), 1'000'000)}, {}), nullptr);
}

TEST(HyperbolicContour, ComposedLaplaceMatchesGolden) {
  for (const auto& one : golden_group("f_dp.json", "lap_comp")) {
    const auto& in = one.at("inputs");
    const auto loss = compose_by_hyperbolic_contour({laplace(golden_interval(in.at("mu")), in.at("n").get<std::uint64_t>())}, {});
    ASSERT_NE(loss, nullptr);
    const Interval delta = loss->delta(Direction::remove, golden_interval(in.at("t")));
    EXPECT_THAT(delta, Encloses(one.at("value").get<std::string>())) << one.at("id");
    EXPECT_THAT(delta, IsTight(1e-6)) << one.at("id");
  }
}

TEST(HyperbolicContour, TwoSubsampledStepsMatchGolden) {
  for (const auto& one : golden_group("f_dp.json", "dpsgd2_delta")) {
    const auto& in = one.at("inputs");
    const auto loss = compose_by_hyperbolic_contour({subsampled(golden_interval(in.at("sigma")), golden_interval(in.at("q")), 2)}, {});
    const Interval delta = loss->delta(direction_of(one), golden_interval(in.at("eps")));
    EXPECT_THAT(delta, Encloses(one.at("value").get<std::string>())) << one.at("id");
    EXPECT_THAT(delta, IsTight(1e-6)) << one.at("id");
  }
}

TEST(HyperbolicContour, OneSubsampledStepMatchesGolden) {
  for (const auto& one : golden_group("f_dp.json", "sub_gauss_1")) {
    const auto& in = one.at("inputs");
    const auto loss = compose_by_hyperbolic_contour({subsampled(golden_interval(in.at("sigma")), golden_interval(in.at("q")), 1)}, {});
    for (const Direction direction : {Direction::remove, Direction::add}) {
      const Interval delta = loss->delta(direction, golden_interval(in.at("eps")));
      EXPECT_THAT(delta, Encloses(one.at("value").at(direction == Direction::remove ? "remove" : "add").get<std::string>()))
          << one.at("id");
    }
  }
}

TEST(HyperbolicContour, ManySubsampledStepsMatchGolden) {
  int tight = 0;
  for (const auto& one : golden_group("f_dp.json", "dpsgd_delta")) {
    const auto& in = one.at("inputs");
    if (in.at("T").get<std::uint64_t>() > 1000 || (in.at("direction") != "remove" && in.at("direction") != "add")) continue;
    const auto loss =
        compose_by_hyperbolic_contour({subsampled(golden_interval(in.at("sigma")), golden_interval(in.at("q")), in.at("T"))}, {});
    const Interval delta = loss->delta(direction_of(one), golden_interval(in.at("eps")));
    EXPECT_THAT(delta, Encloses(one.at("value").get<std::string>())) << one.at("id");
    tight += delta.width() <= 1e-6 * delta.hi;
  }
  EXPECT_GT(tight, 0);
}

// Small rates over many steps, where the bulk of the noise and its tail need different paths: a vertical line of 500 to 200,000 nodes in
// 64-bit mantissas, two spacings agreeing to 14 digits.
TEST(HyperbolicContour, SmallRatesMatchALongVerticalLine) {
  const auto check = [](double sigma, double rate, double epsilon, const char* truth) {
    const auto loss = compose_by_hyperbolic_contour({subsampled(Interval::exactly(sigma), Interval::exactly(rate), 100)}, {});
    const Interval delta = loss->delta(Direction::remove, Interval::exactly(epsilon));
    EXPECT_THAT(delta, Encloses(truth)) << sigma << " " << rate;
    EXPECT_THAT(delta, IsTight(1e-6)) << sigma << " " << rate;
  };
  check(0.5, 1e-5, 0.00390625, "1.05604385586e-05");
  check(1, 1e-5, 1.5e-4, "1.08022659943e-05");
  check(2, 1e-4, 9.375e-4, "1.08493144722e-05");
  check(4, 1e-3, 0.0048828125, "3.0617856317349217e-05");
}

// Parameters that are one rounding wide add this width to the error once instead of being evaluated twice, and widen the answer little.
TEST(HyperbolicContour, AParameterOneRoundingWideCostsNoWidth) {
  const auto loss =
      compose_by_hyperbolic_contour({{subsampled_gaussian(1.0 / Interval::exactly(3), {0.01, std::nextafter(0.01, 1)}), 10}}, {});
  const auto ends = compose_by_hyperbolic_contour({subsampled(Interval::exactly(3), {0.01, std::nextafter(0.01, 1)}, 10)}, {});
  for (const Direction direction : {Direction::remove, Direction::add}) {
    const Interval delta = loss->delta(direction, Interval::exactly(0.03));
    const Interval apart = ends->delta(direction, Interval::exactly(0.03));
    EXPECT_THAT(delta, IsTight(1e-6));
    EXPECT_LE(delta.lo, apart.hi);
    EXPECT_GE(delta.hi, apart.lo);
  }
}

TEST(HyperbolicContour, RandomizedResponseMatchesGolden) {
  for (const auto& one : golden_group("f_dp.json", "rr_delta")) {
    const auto& in = one.at("inputs");
    if (in.at("eps").get<std::string>().find('/') != std::string::npos || in.at("n").get<std::uint64_t>() > 500) continue;
    const auto loss = compose_by_hyperbolic_contour({randomized_response(golden_interval(in.at("eps")), in.at("n"))}, {});
    const Interval delta = loss->delta(Direction::add, golden_interval(in.at("t")));
    EXPECT_THAT(delta, Encloses(one.at("value").get<std::string>())) << one.at("id");
  }
  for (const auto& one : golden_group("f_dp.json", "rr_het")) {
    Parts parts;
    for (const auto& epsilon : one.at("inputs").at("eps")) parts.push_back(randomized_response(golden_interval(epsilon), 1));
    if (parts.size() > 12) continue;
    const auto loss = compose_by_hyperbolic_contour(parts, {});
    ASSERT_NE(loss, nullptr);
    const Interval delta = loss->delta(Direction::add, golden_interval(one.at("inputs").at("t")));
    EXPECT_THAT(delta, Encloses(one.at("value").get<std::string>())) << one.at("id");
    EXPECT_THAT(delta, IsTight(1e-6)) << one.at("id");
  }
}

// 5 subsampled Gaussians (sigma 1, rate 0.1), one Gaussian (mu 0.5) and two Laplace: a vertical contour in 30-digit arithmetic.
TEST(HyperbolicContour, AMixedPlanMatchesThirtyDigitArithmetic) {
  const auto loss = compose_by_hyperbolic_contour(
      {subsampled(Interval::exactly(1), Interval::exactly(0.1), 5), gaussian(0.5, 1), laplace(Interval::exactly(1), 2)}, {});
  ASSERT_NE(loss, nullptr);
  EXPECT_FALSE(loss->symmetric());
  const auto check = [&](Direction direction, double epsilon, const char* truth) {
    const Interval delta = loss->delta(direction, Interval::exactly(epsilon));
    EXPECT_THAT(delta, Encloses(truth));
    EXPECT_THAT(delta, IsTight(1e-6));
  };
  check(Direction::remove, 0.125, "0.4788297311166162581923");
  check(Direction::remove, 1, "0.2755763346078147115655");
  check(Direction::remove, 3, "0.005564020942665726364792");
  check(Direction::add, 0.125, "0.4784274856474846086392");
  check(Direction::add, 1, "0.2745405119397036726892");
  check(Direction::add, 2, "0.07536274262822263081793");
}

// At small rates delta is steep near 0, so that Newton steps leave the proved bracket: the search must still enclose the exact value.
TEST(HyperbolicContour, EpsilonNextToZeroOfSmallRates) {
  const double mu = 1 / 0.3, rate = 1e-5;
  const LossPointer step = subsampled_gaussian(Interval::exactly(mu), Interval::exactly(rate));
  const auto loss = compose_by_hyperbolic_contour({{step, 1}}, {});
  for (const Direction direction : {Direction::remove, Direction::add})
    for (const double share : {0.9, 0.4}) {
      const double target = step->delta(direction, Interval::exactly(0)).lo * share;
      const auto found = loss->closed_epsilon(direction, Interval::exactly(target));
      ASSERT_TRUE(found.has_value());
      EXPECT_GE(step->delta(direction, Interval::exactly(found->lo)).hi, target) << share;
      EXPECT_LE(step->delta(direction, Interval::exactly(found->hi)).lo, target) << share;
    }
}

// Far from where the planes were prepared, F is nearly unknown: the result must contain that of a plane prepared there.
TEST(HyperbolicContour, ASampleFarFromItsPlanesIsOnlyABound) {
  const Parts parts{subsampled(Interval::exactly(1), Interval::exactly(0.01), 2)};
  const hyperbolic::Side side(*hyperbolic::expand(parts, Direction::remove, ParameterEnd::worse));
  const double epsilon = 0.5, y = side.expansion.summands.front().position.value() - epsilon;
  const hyperbolic::Integrand::Offset offset{0, y, 1e-15};
  hyperbolic::Integrand near(side.expansion, side.factors(), offset, epsilon), there(side.expansion, side.factors(), offset, epsilon);
  near.prepare(1, 1, 0);
  bool bounded = false;
  for (const double real : {3.0, 6.0, 12.0})
    for (const double imaginary : {0.0, 3.0}) {
      const Complex s(real, imaginary);
      there.prepare(real, real, 0);
      const double log_scale = there.log_real(real);
      const hyperbolic::Sample found = near.sample(s, log_scale), truth = there.sample(s, log_scale);
      EXPECT_FALSE(std::abs(found.value - truth.value) > found.error + truth.error) << s;
      EXPECT_LT(truth.error, 1e-3) << s;
      bounded = bounded || found.value == Complex(0);
    }
  EXPECT_TRUE(bounded);
}

// Positions that two doubles cannot represent have an error. A break that may be on either side of epsilon contributes its distance, and is
// reported.
TEST(HyperbolicContour, ABreakWithinItsRoundingOfEpsilonIsATie) {
  const double small = 0x1p-54, tiny = 0x1p-116;
  const auto response = [](double epsilon) { return randomized_response(Interval::exactly(epsilon), 1); };
  const auto tied = compose_by_hyperbolic_contour({laplace(Interval::exactly(1), 1), response(small), response(tiny), response(small)}, {});
  ASSERT_NE(tied, nullptr);
  const Interval found = tied->delta(Direction::remove, Interval::exactly(1)),
                 before = tied->delta(Direction::remove, Interval::exactly(0.5));
  // The largest loss exceeds 1 by 2 small + tiny at most.
  EXPECT_LE(found.lo, 0x1p-53);
  EXPECT_LE(found.hi, 0x1p-50);
  EXPECT_THAT(before,
              Encloses(LaplaceLoss(Interval::exactly(1)).delta(Direction::remove, Interval::exactly(0.5)) + Interval{-0x1p-60, 0x1p-60}));
  const std::vector<Evaluation> account = evaluations_of(*tied, Direction::remove, 1);
  ASSERT_EQ(account.size(), 1U);
  bool told = false;
  for (const auto& [name, error] : account.front().errors) told = told || (name == "ties" && error > 0);
  EXPECT_TRUE(told);
}

}  // namespace
}  // namespace tradeoff::detail
