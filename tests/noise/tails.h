// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arb.h>
#include <arb_hypgeom.h>

#include <cstdint>
#include <string>
#include <utility>

#include "noise/grid_noise.h"

namespace tradeoff::test {

/// An Arb ball that cleans up after itself.
class Ball {
 public:
  static constexpr slong precision = 400;
  Ball() { arb_init(ball_); }
  Ball(double value) : Ball() { arb_set_d(ball_, value); }  // NOLINT
  Ball(const Ball& other) : Ball() { arb_set(ball_, other.ball_); }
  Ball& operator=(const Ball& other) {
    arb_set(ball_, other.ball_);
    return *this;
  }
  ~Ball() { arb_clear(ball_); }
  static Ball integer(std::uint64_t value) {
    Ball result;
    arb_set_ui(result.ball_, value);
    return result;
  }
  [[nodiscard]] arb_ptr get() { return ball_; }
  [[nodiscard]] arb_srcptr get() const { return ball_; }
  [[nodiscard]] double middle() const { return arf_get_d(arb_midref(ball_), ARF_RND_NEAR); }
  [[nodiscard]] Ball scaled(slong bits) const {
    Ball result;
    arb_mul_2exp_si(result.ball_, ball_, bits);
    return result;
  }
  /// The integer part, which must be certain.
  [[nodiscard]] std::string floor_text() const {
    Ball low;
    arb_floor(low.ball_, ball_, precision);
    fmpz_t integer;
    fmpz_init(integer);
    const bool unique = arb_get_unique_fmpz(integer, low.ball_) != 0;
    char* digits = fmpz_get_str(nullptr, 16, integer);
    std::string text = unique ? digits : "";
    flint_free(digits);
    fmpz_clear(integer);
    return text;
  }
  friend Ball operator+(const Ball& a, const Ball& b) { return apply(arb_add, a, b); }
  friend Ball operator-(const Ball& a, const Ball& b) { return apply(arb_sub, a, b); }
  friend Ball operator*(const Ball& a, const Ball& b) { return apply(arb_mul, a, b); }
  friend Ball operator/(const Ball& a, const Ball& b) { return apply(arb_div, a, b); }
  friend bool operator<=(const Ball& a, const Ball& b) { return arb_le(a.ball_, b.ball_) != 0; }
  friend Ball exp(const Ball& a) {
    Ball result;
    arb_exp(result.ball_, a.ball_, precision);
    return result;
  }

 private:
  template <class Operation>
  static Ball apply(Operation operation, const Ball& a, const Ball& b) {
    Ball result;
    operation(result.ball_, a.ball_, b.ball_, precision);
    return result;
  }
  arb_t ball_;
};

/// P(|K| >= m) for the law on the integers, by Arb's own functions.
inline Ball tail(noise::Law law, double scale, std::uint64_t m) {
  if (m == 0) return 1;
  const Ball steps = Ball::integer(m), s = scale;
  if (law == noise::Law::discrete_laplace) return Ball(2) * exp(Ball(0) - steps / s) / (Ball(1) + exp(Ball(-1) / s));
  const Ball z = (steps - Ball(0.5)) / s;
  if (law == noise::Law::rounded_laplace) return exp(Ball(0) - z);
  Ball root, result;
  arb_sqrt_ui(root.get(), 2, Ball::precision);
  const Ball argument = z / root;
  arb_hypgeom_erfc(result.get(), argument.get(), Ball::precision);
  return result;
}

}  // namespace tradeoff::test
