// SPDX-License-Identifier: Apache-2.0
#include "transform/subsampled_transform.h"

#include <acb_calc.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "mechanism/truncated_laplace.h"
#include "numeric/arithmetic.h"
#include "operators/subsampled.h"
#include "support/matchers.h"
#include "support/transform_witness.h"
#include "transform/subsampled_nodes.h"

// [subsampled-transform]
namespace tradeoff::detail {
namespace {

using test::Ball;
using test::ComplexBall;
using test::witness_bits;

/// A base by its noise: Q is noise around 0, P noise around `shift`; scale 1.
struct Noise {
  bool gaussian;
  double shift;  // mu, or epsilon0
  double bound;  // of the noise, infinite if it is whole
};

/// One integral over a stretch of noise, of density(z) w(z)^power, w = 1 - rate + rate exp(slope z + constant).
struct Stretch {
  bool gaussian;
  double slope, constant, rate;
  acb_t power;
};

int integrand(acb_ptr out, const acb_t z, void* data, slong order, slong bits) {
  const auto* stretch = static_cast<const Stretch*>(data);
  ComplexBall x, w, density;
  Ball slope(stretch->slope), constant(stretch->constant), rate(stretch->rate);
  acb_mul_arb(x.get(), z, slope.get(), bits);
  acb_add_arb(x.get(), x.get(), constant.get(), bits);
  acb_exp(w.get(), x.get(), bits);
  acb_sub_ui(w.get(), w.get(), 1, bits);
  acb_mul_arb(w.get(), w.get(), rate.get(), bits);
  acb_add_ui(w.get(), w.get(), 1, bits);
  acb_log_analytic(w.get(), w.get(), order != 0, bits);
  acb_mul(w.get(), w.get(), stretch->power, bits);
  if (stretch->gaussian) {
    acb_mul(density.get(), z, z, bits);
    acb_mul_2exp_si(density.get(), density.get(), -1);
    acb_sub(w.get(), w.get(), density.get(), bits);
  } else {
    acb_sub(w.get(), w.get(), z, bits);
  }
  acb_exp(out, w.get(), bits);
  return 0;
}

/// E_Q[w^(p + it)] of the sampled pair, over finite losses, directly from the noise: Laplace noise has constant loss on either side of the
/// two centres; truncated noise leaves an interval that only Q can produce.
class NoiseWitness {
 public:
  NoiseWitness(Noise noise, double rate, SampledBy sampling) : noise_(noise), rate_(rate), sampling_(sampling) {}

  [[nodiscard]] ComplexBall moment(double power, double t) const {
    if (sampling_ == SampledBy::poisson) return part(power, t, false);
    // The half with positive loss with its mass, its mirror image with w times the mass, and the rest at loss 0.
    ComplexBall sum = part(power, t, true);
    const ComplexBall mirror = part(1 - power, -t, true), zero = part(0, 0, true), one = part(1, 0, true);
    acb_add(sum.get(), sum.get(), mirror.get(), witness_bits);
    acb_sub(sum.get(), sum.get(), zero.get(), witness_bits);
    acb_sub(sum.get(), sum.get(), one.get(), witness_bits);
    const Ball all = finite();
    acb_add_arb(sum.get(), sum.get(), all.get(), witness_bits);
    return sum;
  }
  /// 1 - rate * mass that only Q can produce: the P-mass of finite losses.
  [[nodiscard]] Ball finite() const {
    Ball lost = alone(), rate(rate_), one(1);
    arb_mul(lost.get(), lost.get(), rate.get(), witness_bits);
    arb_sub(one.get(), one.get(), lost.get(), witness_bits);
    return one;
  }

 private:
  /// Q-mass of exp(-|z|)/normaliser between two positive points.
  [[nodiscard]] Ball mass(double from, double to) const {
    Ball low(-from), high(-to);
    arb_exp(low.get(), low.get(), witness_bits);
    arb_exp(high.get(), high.get(), witness_bits);
    arb_sub(low.get(), low.get(), high.get(), witness_bits);
    const Ball total = normaliser();
    arb_div(low.get(), low.get(), total.get(), witness_bits);
    return low;
  }
  [[nodiscard]] Ball normaliser() const {
    Ball total(-noise_.bound);
    arb_exp(total.get(), total.get(), witness_bits);
    arb_sub_ui(total.get(), total.get(), 1, witness_bits);
    arb_mul_si(total.get(), total.get(), -2, witness_bits);
    return total;
  }
  [[nodiscard]] Ball alone() const {
    if (noise_.gaussian || std::isinf(noise_.bound)) return Ball(0);
    return mass(noise_.bound - noise_.shift, noise_.bound);
  }
  void add_constant(ComplexBall& sum, double loss, const Ball& weight, double power, double t) const {
    ComplexBall term;
    Ball w(loss), rate(rate_), p(power), y(t);
    arb_expm1(w.get(), w.get(), witness_bits);
    arb_mul(w.get(), w.get(), rate.get(), witness_bits);
    arb_log1p(w.get(), w.get(), witness_bits);
    arb_mul(acb_realref(term.get()), w.get(), p.get(), witness_bits);
    arb_mul(acb_imagref(term.get()), w.get(), y.get(), witness_bits);
    acb_exp(term.get(), term.get(), witness_bits);
    acb_mul_arb(term.get(), term.get(), weight.get(), witness_bits);
    acb_add(sum.get(), sum.get(), term.get(), witness_bits);
  }
  [[nodiscard]] ComplexBall part(double power, double t, bool favourable) const {
    ComplexBall sum, from, to;
    Stretch stretch{noise_.gaussian, noise_.gaussian ? noise_.shift : 2, noise_.gaussian ? 0 : -noise_.shift, rate_, {}};
    acb_init(stretch.power);
    acb_set_d_d(stretch.power, power, t);
    Ball normal;
    mag_t tolerance;
    mag_init(tolerance);
    mag_set_d(tolerance, 1e-26);
    double low = favourable ? noise_.shift / 2 : 0, high = noise_.shift;
    if (noise_.gaussian) {
      stretch.constant = -noise_.shift * noise_.shift / 2;
      high = 24 + noise_.shift * (std::abs(power) + 1);
      arb_const_pi(normal.get(), witness_bits);
      arb_mul_2exp_si(normal.get(), normal.get(), 1);
      arb_sqrt(normal.get(), normal.get(), witness_bits);
    } else {
      normal = normaliser();
    }
    acb_set_d(from.get(), low);
    acb_set_d(to.get(), high);
    acb_calc_integrate(sum.get(), integrand, &stretch, from.get(), to.get(), 80, tolerance, nullptr, 100);
    acb_div_arb(sum.get(), sum.get(), normal.get(), witness_bits);
    mag_clear(tolerance);
    acb_clear(stretch.power);
    if (noise_.gaussian) return sum;
    if (noise_.bound > noise_.shift) add_constant(sum, noise_.shift, mass(noise_.shift, noise_.bound), power, t);
    if (!favourable) {
      add_constant(sum, -noise_.shift, mass(0, noise_.bound - noise_.shift), power, t);
      if (std::isfinite(noise_.bound)) add_constant(sum, -2000, alone(), power, t);
    }
    return sum;
  }

  Noise noise_;
  double rate_;
  SampledBy sampling_;
};

LossPointer base_of(const Noise& noise) {
  if (noise.gaussian) return gaussian_loss(Interval::exactly(noise.shift));
  if (std::isinf(noise.bound)) return std::make_shared<LaplaceLoss>(Interval::exactly(noise.shift));
  return std::make_shared<TruncatedLaplaceLoss>(Interval::exactly(noise.shift), Interval::exactly(noise.bound));
}

double distance(const CharacteristicValue& value, const ComplexBall& truth) {
  Ball real(1), shift(value.real_less_one), imaginary(value.imaginary);
  arb_add(real.get(), real.get(), shift.get(), witness_bits);
  arb_sub(real.get(), real.get(), acb_realref(truth.get()), witness_bits);
  arb_sub(imaginary.get(), imaginary.get(), acb_imagref(truth.get()), witness_bits);
  return std::hypot(real.middle(), imaginary.middle());
}

void hold(const Noise& noise, double rate, SampledBy sampling, Direction direction, double order) {
  SCOPED_TRACE(::testing::Message() << (noise.gaussian ? "gaussian " : "laplace ") << noise.shift << " bound " << noise.bound << " rate "
                                    << rate << (sampling == SampledBy::fixed ? " fixed" : " poisson") << " add "
                                    << (direction == Direction::add) << " order " << order);
  const NoiseWitness witness(noise, rate, sampling);
  const LossPointer base = base_of(noise);
  const auto transform = subsampled_transform(*base, Interval::exactly(rate), sampling, direction);
  ASSERT_NE(transform, nullptr);
  const double longest = 12 / std::sqrt(transform->prepare({0, order + 2, 1, 0, true, 0, 0})->cumulant(order).variance);
  const auto moments = transform->prepare({0, order + 2, 1e4, 0, false, order, longest});
  ASSERT_NE(moments, nullptr);
  const auto tilt = moments->tilt(order);
  const bool add = direction == Direction::add;
  const double power = add ? -order : 1 + order;
  const ComplexBall at_0 = witness.moment(power, 0);
  Ball log_moment, log_finite = witness.finite();
  arb_log(log_moment.get(), acb_realref(at_0.get()), witness_bits);
  arb_log(log_finite.get(), log_finite.get(), witness_bits);
  // Conditional on a finite loss: every loss is finite only under Poisson sampling in the add order.
  if (!(add && sampling == SampledBy::poisson)) arb_sub(log_moment.get(), log_moment.get(), log_finite.get(), witness_bits);
  EXPECT_THAT(tilt->log_moment(), test::Encloses(log_moment.get()));
  EXPECT_LE(tilt->log_moment().width(), 1e-12 * std::abs(log_moment.middle()) + 1e-14);
  EXPECT_GE(moments->log_moment_above(order), log_moment.middle());
  EXPECT_LE(moments->log_moment_above(order), log_moment.middle() + 1e-9);
  const Decay decay = tilt->decay(0.5);
  double largest_modulus_gap = 0;
  for (const double share : {1e-3, 0.1, 0.4, 1.0, 20.0}) {
    const double t = share * longest;
    CharacteristicValue value;
    tilt->characteristic_function({&t, 1}, {&value, 1});
    const ComplexBall at_t = witness.moment(power, t), truth = test::characteristic(at_t, at_0, t, tilt->centre(), add ? -1 : 1);
    EXPECT_LE(distance(value, truth), value.error) << t;
    EXPECT_LE(value.error, share <= 1 ? 1e-9 * std::pow(1 + t * tilt->deviation_above(), 2) : infinity) << t;
    const double modulus = std::hypot(truth.real(), truth.imaginary());
    EXPECT_LE(modulus, tilt->modulus_above(t) * (1 + 1e-13)) << t;
    EXPECT_LE(modulus, decay.atoms + decay.variation / t + 1e-15) << t;
    EXPECT_LE(0.5 * (1 - modulus * modulus), 0.5 * std::pow(t * tilt->deviation_above(), 2) + 1e-15) << t;
    largest_modulus_gap = std::max(largest_modulus_gap, tilt->modulus_above(t) - modulus);
  }
  EXPECT_LT(largest_modulus_gap, 1);
}

TEST(SubsampledTransform, HoldsIntegralsOverTheNoise) {
  const double whole = infinity;
  for (const Noise& noise :
       {Noise{false, 0.125, whole}, Noise{false, 1, whole}, Noise{false, 5, whole}, Noise{false, 1, 4}, Noise{false, 1, 1.0625}})
    for (const double rate : {0.0078125, 0.75})
      for (const double order : {0.25, 15.0}) {
        hold(noise, rate, SampledBy::poisson, Direction::remove, order);
        hold(noise, rate, SampledBy::poisson, Direction::add, order);
        hold(noise, rate, SampledBy::fixed, Direction::remove, order);
      }
}

TEST(SubsampledTransform, HoldsTheSymmetrisedGaussian) {
  for (const double mu : {0.0625, 1.0, 3.0})
    for (const double rate : {0.0078125, 0.75})
      for (const double order : {0.25, 15.0}) hold({true, mu, infinity}, rate, SampledBy::fixed, Direction::remove, order);
}

// The density of the loss by small steps from its formula, where the panels end before its second peak and where they hold it.
TEST(SubsampledNodes, BoundTheVariationBeyondTheirPanels) {
  const double mu = 1.5, rate = 1e-3;
  const SampledBase base{.mu = Interval::exactly(mu), .largest = Interval::exactly(infinity), .coefficient = Interval::exactly(0)};
  for (const double most : {1.0, 30.0}) {
    const SubsampledNodes nodes(base, Interval::exactly(rate), SampledBy::fixed, {0, most, 0.5, 1, 36, 1});
    ASSERT_FALSE(nodes.nodes().loss.empty());
    for (const double power : {-6.0, 0.0, 3.0, 20.0}) {
      const auto log_value = [&](double x, double p) {
        const double z = x / mu + 0.5 * mu;
        return -0.5 * z * z - log_root_two_pi - std::log(mu) - x - std::log(rate) + (p + 1) * std::log1p(rate * std::expm1(x));
      };
      double top = -infinity;
      for (double x = 0; x < 90; x += 0.01) top = std::max({top, log_value(x, power), log_value(x, 1 - power)});
      double variation = 0;
      for (const double p : {power, 1 - power}) {
        double last = std::exp(log_value(0, p) - top);
        for (double x = 0; x < 90; x += 0.01) {
          const double here = std::exp(log_value(x, p) - top);
          variation += std::abs(here - last);
          last = here;
        }
      }
      EXPECT_GE(nodes.log_variation(power), top + std::log(variation) - 1e-6) << most << " " << power;
      if (most > power + 1) {
        EXPECT_LE(nodes.log_variation(power), top + std::log(variation) + 3) << most << " " << power;
      }
    }
  }
}

TEST(SubsampledTransform, IsNullIfItsErrorsCannotBeBounded) {
  const auto laplace = base_of({false, 1, infinity}), gaussian = base_of({true, 1, infinity});
  EXPECT_EQ(subsampled_transform(*laplace, {0.1, 0.11}, SampledBy::poisson, Direction::remove), nullptr);
  EXPECT_EQ(subsampled_transform(*laplace, Interval::exactly(1), SampledBy::poisson, Direction::remove), nullptr);
  EXPECT_EQ(subsampled_transform(*gaussian, Interval::exactly(0.5), SampledBy::poisson, Direction::remove), nullptr);
  EXPECT_EQ(subsampled_transform(*base_of({true, 1000, infinity}), Interval::exactly(0.5), SampledBy::fixed, Direction::remove), nullptr);
}

}  // namespace
}  // namespace tradeoff::detail
