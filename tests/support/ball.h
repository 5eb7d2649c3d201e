// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arb.h>
#include <arb_hypgeom.h>

#include <cstdint>
#include <string>

#include "tradeoff/interval.h"

// Arb balls as values, and the normal distribution computed with them: the oracle of the tests. The formulas are the textbook ones,
// including cancellation; enough bits make them accurate.
namespace tradeoff::detail::test {

class Ball {
 public:
  Ball() { arb_init(ball_); }
  Ball(double value) : Ball() { arb_set_d(ball_, value); }  // NOLINT: a double is an exact ball
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
  [[nodiscard]] arb_struct* get() { return ball_; }
  [[nodiscard]] const arb_struct* get() const { return ball_; }
  [[nodiscard]] long accurate_bits() const { return arb_rel_accuracy_bits(ball_); }
  [[nodiscard]] double middle() const { return arf_get_d(arb_midref(ball_), ARF_RND_NEAR); }
  [[nodiscard]] Ball scaled(slong bits) const {
    Ball result;
    arb_mul_2exp_si(result.ball_, ball_, bits);
    return result;
  }
  /// The integer part in hexadecimal, which must be certain.
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
  friend bool operator<=(const Ball& a, const Ball& b) { return arb_le(a.ball_, b.ball_) != 0; }

  /// Bits used by the functions below.
  static inline long precision = 400;

 private:
  arb_t ball_;
};

inline Ball operator+(const Ball& a, const Ball& b) {
  Ball c;
  arb_add(c.get(), a.get(), b.get(), Ball::precision);
  return c;
}
inline Ball operator-(const Ball& a, const Ball& b) {
  Ball c;
  arb_sub(c.get(), a.get(), b.get(), Ball::precision);
  return c;
}
inline Ball operator*(const Ball& a, const Ball& b) {
  Ball c;
  arb_mul(c.get(), a.get(), b.get(), Ball::precision);
  return c;
}
inline Ball operator/(const Ball& a, const Ball& b) {
  Ball c;
  arb_div(c.get(), a.get(), b.get(), Ball::precision);
  return c;
}
inline Ball operator-(const Ball& a) { return Ball(0) - a; }
inline Ball exp(const Ball& a) {
  Ball c;
  arb_exp(c.get(), a.get(), Ball::precision);
  return c;
}
inline Ball log(const Ball& a) {
  Ball c;
  arb_log(c.get(), a.get(), Ball::precision);
  return c;
}
inline Ball log1p(const Ball& a) {
  Ball c;
  arb_log1p(c.get(), a.get(), Ball::precision);
  return c;
}
inline Ball sqrt(const Ball& a) {
  Ball c;
  arb_sqrt(c.get(), a.get(), Ball::precision);
  return c;
}
inline Ball pi() {
  Ball c;
  arb_const_pi(c.get(), Ball::precision);
  return c;
}

inline Ball cdf(const Ball& x) {
  Ball c = -x / sqrt(Ball(2));
  arb_hypgeom_erfc(c.get(), c.get(), Ball::precision);
  return c / Ball(2);
}
inline Ball density(const Ball& x) { return exp(-x * x / Ball(2)) / sqrt(Ball(2) * pi()); }
inline Ball delta(const Ball& mu, const Ball& epsilon) {
  const Ball c = epsilon / mu;
  const Ball h = mu / Ball(2);
  return cdf(h - c) - exp(epsilon) * cdf(-h - c);
}
inline Ball complement(const Ball& mu, const Ball& epsilon) {
  const Ball c = epsilon / mu;
  const Ball h = mu / Ball(2);
  return cdf(c - h) + exp(epsilon) * cdf(-h - c);
}

/// Uses the smaller of the two logarithms, so that a value close to 1 does not need thousands of bits.
inline Ball log_delta(double mu, double epsilon) {
  return epsilon < mu * mu / 2 ? log1p(-complement(mu, epsilon)) : log(delta(mu, epsilon));
}
inline Ball log_complement(double mu, double epsilon) {
  return epsilon < mu * mu / 2 ? log(complement(mu, epsilon)) : log1p(-delta(mu, epsilon));
}

/// Repeats a computation with more and more bits until its relative accuracy is far beyond a double's; false if it never is.
template <class Compute>
[[nodiscard]] bool precisely(Ball& result, Compute compute) {
  for (Ball::precision = 192; Ball::precision <= 6144; Ball::precision *= 2) {
    result = compute();
    if (result.accurate_bits() >= 80 || arb_is_zero(result.get()) != 0) return true;
  }
  return false;
}

/// The interval may hold the number in the ball.
[[nodiscard]] inline bool holds(Interval interval, const Ball& truth) {
  if (!(interval.lo <= interval.hi)) return false;
  const Ball low(interval.lo);
  const Ball high(interval.hi);
  return arb_gt(low.get(), truth.get()) == 0 && arb_lt(high.get(), truth.get()) == 0;
}
[[nodiscard]] inline bool certainly_less(const Ball& a, const Ball& b) { return arb_lt(a.get(), b.get()) != 0; }

}  // namespace tradeoff::detail::test
