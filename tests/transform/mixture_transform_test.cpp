// SPDX-License-Identifier: Apache-2.0
#include "transform/mixture_transform.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "numeric/arithmetic.h"
#include "support/matchers.h"
#include "support/transform_witness.h"
#include "transform/mixture_nodes.h"
#include "transform/raised_path.h"

// [mixture-transform] [raised-path]
namespace tradeoff::detail {
namespace {

using test::Ball;
using test::ComplexBall;
using test::Encloses;
using test::witness_bits;

struct Case {
  double mu, rate;
  std::uint64_t ahead, behind;
  double power;
};
const Case cases[] = {{1, 0.0625, 4, 0, 3.5},  {1, 0.0625, 4, 0, -6}, {0.5, 0.25, 3, 2, 2.5},
                      {0.5, 0.25, 3, 2, -1.5}, {1.25, 0.01, 1, 1, 5}, {0.75, 0.125, 2, 3, 0.5},
                      {0.25, 0.5, 8, 0, 4.0},  {2, 0.02, 2, 0, -9},   {0.125, 0.01, 1, 0, 3}};

/// E_Q[w^(p + it) l^k] by a trapezoidal rule with far more nodes than the engine uses, without rewriting. mu and rate are exactly the
/// doubles.
class MixtureWitness {
 public:
  explicit MixtureWitness(const Case& one) {
    const double reach = std::abs(one.power) + 2, right = 15 + reach * one.mu * static_cast<double>(one.ahead);
    const double left = -15 - reach * one.mu * static_cast<double>(one.behind);
    const double largest = std::max(1.0, one.mu * static_cast<double>(std::max(one.ahead, one.behind)));
    const double step = std::exp2(std::floor(std::log2(0.03125 / largest)));  // a power of 2: every x is exact
    Ball scale(step), pi;
    arb_const_pi(pi.get(), witness_bits);
    arb_mul_2exp_si(pi.get(), pi.get(), 1);
    arb_sqrt(pi.get(), pi.get(), witness_bits);
    arb_div(scale.get(), scale.get(), pi.get(), witness_bits);
    arb_log(scale.get(), scale.get(), witness_bits);
    for (double x = std::floor(left / step) * step; x < right; x += step) {
      Ball weight(x), behind = log_side(one, -x, one.behind), loss = log_side(one, x, one.ahead);
      arb_mul(weight.get(), weight.get(), weight.get(), witness_bits);
      arb_mul_2exp_si(weight.get(), weight.get(), -1);
      arb_sub(weight.get(), scale.get(), weight.get(), witness_bits);
      arb_add(weight.get(), weight.get(), behind.get(), witness_bits);
      arb_sub(loss.get(), loss.get(), behind.get(), witness_bits);
      log_weights_.push_back(weight);
      losses_.push_back(loss);
    }
  }

  [[nodiscard]] ComplexBall moment(double power, double t) const {
    ComplexBall sum, term;
    Ball p(power), y(t);
    for (std::size_t j = 0; j < losses_.size(); ++j) {
      arb_mul(acb_realref(term.get()), p.get(), losses_[j].get(), witness_bits);
      arb_add(acb_realref(term.get()), acb_realref(term.get()), log_weights_[j].get(), witness_bits);
      arb_mul(acb_imagref(term.get()), y.get(), losses_[j].get(), witness_bits);
      acb_exp(term.get(), term.get(), witness_bits);
      acb_add(sum.get(), sum.get(), term.get(), witness_bits);
    }
    return sum;
  }

 private:
  static Ball log_side(const Case& one, double x, std::uint64_t count) {
    Ball sum(0), rate(one.rate), rest(1), mu(one.mu);
    arb_sub(rest.get(), rest.get(), rate.get(), witness_bits);
    for (std::uint64_t k = 0; k <= count; ++k) {
      Ball term, power, exponent(x), shift;
      arb_bin_uiui(term.get(), count, k, witness_bits);
      arb_pow_ui(power.get(), rate.get(), k, witness_bits);
      arb_mul(term.get(), term.get(), power.get(), witness_bits);
      arb_pow_ui(power.get(), rest.get(), count - k, witness_bits);
      arb_mul(term.get(), term.get(), power.get(), witness_bits);
      arb_mul_ui(shift.get(), mu.get(), k, witness_bits);
      arb_mul_2exp_si(power.get(), shift.get(), -1);
      arb_sub(exponent.get(), exponent.get(), power.get(), witness_bits);
      arb_mul(exponent.get(), exponent.get(), shift.get(), witness_bits);
      arb_exp(exponent.get(), exponent.get(), witness_bits);
      arb_mul(term.get(), term.get(), exponent.get(), witness_bits);
      arb_add(sum.get(), sum.get(), term.get(), witness_bits);
    }
    arb_log(sum.get(), sum.get(), witness_bits);
    return sum;
  }
  std::vector<Ball> log_weights_;
  std::vector<Ball> losses_;
};

MixturePair pair_of(const Case& one) { return {Interval::exactly(one.mu), Interval::exactly(one.rate), one.ahead, one.behind}; }

/// log |sum_j W_j w_j^(p + it) - E_Q[w^(p + it)]|, the sum over the engine's nodes in high precision.
double log_true_error(const MixtureNodes& nodes, const Case& one, double t, const ComplexBall& truth) {
  ComplexBall sum, term;
  Ball p(one.power), y(t);
  for (std::size_t j = 0; j < nodes.nodes().loss.size(); ++j) {
    Ball loss(nodes.nodes().loss[j]), weight(nodes.nodes().log_weight[j]);
    arb_mul(acb_realref(term.get()), p.get(), loss.get(), witness_bits);
    arb_add(acb_realref(term.get()), acb_realref(term.get()), weight.get(), witness_bits);
    arb_mul(acb_imagref(term.get()), y.get(), loss.get(), witness_bits);
    acb_exp(term.get(), term.get(), witness_bits);
    acb_add(sum.get(), sum.get(), term.get(), witness_bits);
  }
  acb_sub(sum.get(), sum.get(), truth.get(), witness_bits);
  return std::log(std::hypot(sum.real(), sum.imaginary()));
}

// Panels that are too wide for these t, and a range that is cut short, have visible errors: the bound must include them.
TEST(MixtureNodes, BoundsCoarseRulesAndShortRanges) {
  double nearest = -infinity;
  for (const Case& one : cases) {
    const MixtureWitness witness(one);
    const MixturePair pair = pair_of(one);
    for (const double accuracy : {-2.0, 2.0, 8.0}) {
      const MixtureNodes nodes(pair, {one.power, one.power, one.power, 0, accuracy, 1});
      ASSERT_FALSE(nodes.nodes().loss.empty());
      for (const double t : {0.0, 1.0, 5.0, 40.0, 130.0}) {
        const ComplexBall moment = witness.moment(one.power, t);
        const double truth = log_true_error(nodes, one, t, moment);
        EXPECT_LE(truth, nodes.log_error(one.power, t)) << one.mu << " " << one.power << " " << t << " " << accuracy;
        nearest = std::max(nearest, truth - nodes.log_error(one.power, t));
      }
    }
  }
  EXPECT_GT(nearest, -6) << "no rule erred visibly, so nothing was tested";
}

// [raised-path] The bound lies above the truth and above what follows, also where the path has few cells and short ends, and falls faster
// than the variation of the density over t.
TEST(RaisedPath, BoundsMomentsFarOut) {
  int useful = 0;
  for (const Case& one : cases) {
    const MixtureWitness witness(one);
    const MixturePair pair = pair_of(one);
    const double reach = std::abs(one.power) + 1, right = 12 + reach * one.mu * static_cast<double>(one.ahead),
                 left = -12 - reach * one.mu * static_cast<double>(one.behind);
    const double level = std::log(witness.moment(one.power, 0).real());
    double furthest = 0;
    for (const auto& [low, high] : {std::pair{left, right}, {left / 4, right / 4}, {-0.5, 0.25}}) {
      const RaisedPath path(pair, low, high);
      double before = infinity;
      for (const double t : {0.01, 1.0, 5.0, 20.0, 40.0, 80.0, 130.0}) {
        const ComplexBall truth = witness.moment(one.power, t);
        const double bound = path.log_moment_after(one.power, t);
        EXPECT_GE(bound, std::log(std::hypot(truth.real(), truth.imaginary()))) << one.mu << " " << one.power << " " << t << " " << low;
        EXPECT_LE(bound, before) << "it holds for all later times";
        before = bound;
        if (low == left && t <= 80) furthest = std::max(furthest, level - bound);
      }
    }
    if (furthest > 4) ++useful;
  }
  EXPECT_GE(useful, 5) << "the others decay slowly: rare large losses, or a small shift";
  const MixturePair pair = pair_of(cases[0]);
  const RaisedPath path(pair, -10, 20);
  for (const double t : {0.0, -1.0, infinity, std::nan("")}) EXPECT_EQ(path.log_moment_after(2, t), infinity) << t;
  EXPECT_EQ(path.log_moment_after(std::nan(""), 1), infinity);
  EXPECT_LT(path.log_moment_after(2, 1e300), -50);
}

TEST(MixtureTransform, HoldsTheTruth) {
  for (const Case& one : cases) {
    const MixtureWitness witness(one);
    const MixturePair pair = pair_of(one);
    const Direction direction = one.power < 0 ? Direction::add : Direction::remove;
    const int sign = one.power < 0 ? -1 : 1;
    const double order = one.power < 0 ? -one.power : one.power - 1;
    const auto transform = mixture_transform(pair, direction);
    ASSERT_NE(transform, nullptr);
    const auto moments = transform->prepare({order, order, 1e5, 0, false, order, 60});
    ASSERT_NE(moments, nullptr);
    const auto tilt = moments->tilt(order);
    const ComplexBall at_0 = witness.moment(one.power, 0);
    Ball log_moment;
    arb_log(log_moment.get(), acb_realref(at_0.get()), witness_bits);
    const Interval found = tilt->log_moment();
    EXPECT_LE(test::distance(0.5 * (found.lo + found.hi), log_moment), 0.5 * (found.hi - found.lo) + 2e-16 * std::abs(found.hi)) << one.mu;
    EXPECT_LT(found.hi - found.lo, 1e-12 * (0.1 + std::abs(found.hi))) << one.mu << " " << one.power;
    EXPECT_GE(moments->log_moment_above(order), found.lo);
    for (const double t : {0.01, 0.3, 2.0, 11.0, 60.0, 130.0}) {
      const ComplexBall truth = characteristic(witness.moment(one.power, t), at_0, t, tilt->centre(), sign);
      CharacteristicValue value;
      tilt->characteristic_function({&t, 1}, {&value, 1});
      const double off = std::hypot(1 + value.real_less_one - truth.real(), value.imaginary - truth.imaginary());
      EXPECT_LE(off, value.error + 1e-15) << one.mu << " " << one.power << " " << t;
      EXPECT_LT(value.error, t <= 60 ? 1e-7 : infinity) << one.mu << " " << one.power << " " << t;
      const double modulus = std::hypot(truth.real(), truth.imaginary());
      EXPECT_LE(modulus, tilt->modulus_above(t) + 1e-15) << one.mu << " " << t;
      for (const double wanted : {0.99, 0.5, 0.01}) {
        const Decay decay = tilt->decay(wanted);
        EXPECT_LE(modulus, decay.atoms + decay.variation / t + 1e-15) << one.mu << " " << one.power << " " << t;
        EXPECT_LE(modulus, decay.whole_variation / t + 1e-15);
        EXPECT_LT(decay.atoms, wanted);
      }
    }
  }
}

// The variation of the density by small steps from the formula: the bound lies above it, and not far above.
TEST(MixtureNodes, BoundsTheVariation) {
  for (const Case& one : cases) {
    const MixturePair pair = pair_of(one);
    const MixtureNodes nodes(pair, {one.power, one.power, one.power, 1, 36, 1});
    const auto density = [&](double x) {
      const auto ahead = pair.ahead.rough(x), behind = pair.behind.rough(-x);
      return std::exp(one.power * ahead.log_density + (1 - one.power) * behind.log_density - 0.5 * x * x - log_root_two_pi) /
             (one.mu * (ahead.mean + behind.mean));
    };
    const double right = 12 + std::max(0.0, one.power) * one.mu * static_cast<double>(one.ahead);
    const double left = -12 - (std::max(0.0, 1 - one.power) * static_cast<double>(one.behind) + 1) * one.mu;
    double variation = 0, last = 0;
    for (double x = left; x <= right; x += 1e-3) {
      const double here = density(x);
      variation += std::abs(here - last);
      last = here;
    }
    const auto cuts = nodes.cuts(one.power);
    ASSERT_FALSE(cuts.empty());
    EXPECT_EQ(cuts.back().log_mass_left, -infinity);
    EXPECT_GE(cuts.back().log_variation_right, std::log(variation) - 1e-3) << one.mu << " " << one.power;
    EXPECT_LE(cuts.back().log_variation_right, std::log(variation) + 1) << one.mu << " " << one.power;
    for (std::size_t i = 0; i + 1 < cuts.size(); i += 7) {  // from the jump at the cut on
      double right_variation = density(cuts[i].place);
      last = right_variation;
      for (double x = cuts[i].place; x <= right; x += 1e-2) {
        right_variation += std::abs(density(x) - last);
        last = density(x);
      }
      EXPECT_GE(cuts[i].log_variation_right, std::log(right_variation) - 1e-3) << one.mu << " " << cuts[i].place;
    }
  }
}

TEST(MixtureTransform, IsNotOfferedForWideOrLargeParameters) {
  const auto transform = [](Interval mu, Interval rate, std::uint64_t count) {
    const MixturePair pair(mu, rate, count, 0);
    return mixture_transform(pair, Direction::remove) != nullptr;
  };
  const Interval one = Interval::exactly(1), tenth = Interval::exactly(0.1);
  EXPECT_TRUE(transform(one, tenth, 4));
  EXPECT_FALSE(transform({1, 1.001}, tenth, 4));
  EXPECT_FALSE(transform(one, {0.1, 0.11}, 4));
  EXPECT_FALSE(transform(one, Interval::exactly(1 - 1e-7), 4));
  EXPECT_FALSE(transform(one, tenth, 1001));
  EXPECT_FALSE(transform(Interval::exactly(101), tenth, 2));
}

}  // namespace
}  // namespace tradeoff::detail
