// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <acb.h>
#include <arb.h>

#include <cmath>
#include <memory>
#include <vector>

#include "support/ball.h"

namespace tradeoff::detail::test {

/// Bits of every operation here.
inline constexpr slong witness_bits = 200;

/// |value - exact| as a double, rounded to nearest: far below the bounds it is compared with.
[[nodiscard]] inline double distance(double value, const Ball& truth) {
  Ball difference(value);
  arb_sub(difference.get(), difference.get(), truth.get(), witness_bits);
  return std::abs(difference.middle());
}

class ComplexBall {
 public:
  ComplexBall() { acb_init(value_); }
  ComplexBall(const ComplexBall& other) : ComplexBall() { acb_set(value_, other.value_); }
  ComplexBall& operator=(const ComplexBall& other) {
    acb_set(value_, other.value_);
    return *this;
  }
  ~ComplexBall() { acb_clear(value_); }
  [[nodiscard]] acb_ptr get() { return value_; }
  [[nodiscard]] acb_srcptr get() const { return value_; }
  [[nodiscard]] double real() const { return arf_get_d(arb_midref(acb_realref(value_)), ARF_RND_NEAR); }
  [[nodiscard]] double imaginary() const { return arf_get_d(arb_midref(acb_imagref(value_)), ARF_RND_NEAR); }

 private:
  acb_t value_;
};

/// The moments E_Q[w^(p + it)] of the Poisson-sampled Gaussian by plain sums over many more nodes than the engine uses, and over a wide
/// range, without centring or rewriting. mu and rate are exactly the doubles.
class SubsampledGaussianWitness {
 public:
  SubsampledGaussianWitness(double mu, double rate, double left, double right, double step) {
    Ball constant;
    arb_const_pi(constant.get(), witness_bits);
    arb_mul_2exp_si(constant.get(), constant.get(), 1);
    arb_sqrt(constant.get(), constant.get(), witness_bits);
    Ball log_step(step);
    arb_div(log_step.get(), log_step.get(), constant.get(), witness_bits);
    arb_log(log_step.get(), log_step.get(), witness_bits);
    for (long i = static_cast<long>(std::floor(left / step)); static_cast<double>(i) * step < right; ++i) {
      Ball z(step), square, exponent(mu), half(mu), w;
      arb_mul_si(z.get(), z.get(), i, witness_bits);
      arb_mul(square.get(), z.get(), z.get(), witness_bits);
      arb_mul_2exp_si(square.get(), square.get(), -1);
      arb_sub(square.get(), log_step.get(), square.get(), witness_bits);
      arb_mul_2exp_si(half.get(), half.get(), -1);
      arb_sub(z.get(), z.get(), half.get(), witness_bits);
      arb_mul(exponent.get(), exponent.get(), z.get(), witness_bits);
      arb_expm1(w.get(), exponent.get(), witness_bits);
      Ball q(rate);
      arb_mul(w.get(), w.get(), q.get(), witness_bits);
      arb_log1p(w.get(), w.get(), witness_bits);
      log_weights_.push_back(square);
      losses_.push_back(w);
    }
  }

  /// E_Q[w^(p + it) l^k].
  [[nodiscard]] ComplexBall moment(double power, double t, int k = 0) const {
    ComplexBall sum, term;
    Ball factor, p(power), y(t);
    for (std::size_t j = 0; j < losses_.size(); ++j) {
      arb_mul(acb_realref(term.get()), p.get(), losses_[j].get(), witness_bits);
      arb_add(acb_realref(term.get()), acb_realref(term.get()), log_weights_[j].get(), witness_bits);
      arb_mul(acb_imagref(term.get()), y.get(), losses_[j].get(), witness_bits);
      acb_exp(term.get(), term.get(), witness_bits);
      arb_pow_ui(factor.get(), losses_[j].get(), static_cast<ulong>(k), witness_bits);
      acb_mul_arb(term.get(), term.get(), factor.get(), witness_bits);
      acb_add(sum.get(), sum.get(), term.get(), witness_bits);
    }
    return sum;
  }

 private:
  std::vector<Ball> log_weights_;
  std::vector<Ball> losses_;
};

/// phi(t) = moment(p, t)/moment(p, 0) exp(-+ i t centre): what a tilted law answers, `sign` = -1 for the loss -l.
[[nodiscard]] inline ComplexBall characteristic(const ComplexBall& at_t, const ComplexBall& at_0, double t, double centre, int sign) {
  ComplexBall value, turn;
  acb_div(value.get(), at_t.get(), at_0.get(), witness_bits);
  if (sign < 0) acb_conj(value.get(), value.get());
  Ball angle(-t), c(centre);
  arb_mul(angle.get(), angle.get(), c.get(), witness_bits);
  arb_sin_cos(acb_imagref(turn.get()), acb_realref(turn.get()), angle.get(), witness_bits);
  acb_mul(value.get(), value.get(), turn.get(), witness_bits);
  return value;
}

}  // namespace tradeoff::detail::test
