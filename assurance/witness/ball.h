// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <acb.h>
#include <acb_hypgeom.h>
#include <arb.h>
#include <arb_hypgeom.h>

#include <limits>
#include <string>
#include <utility>

// Arb balls as values: a Real or Complex is a set that contains the exact number, and every operation preserves that.
namespace tradeoff::detail::witness {

/// Bits of every operation. Enough for relative errors far below the requested ones; raised where closed forms cancel.
inline thread_local slong precision = 128;

/// Sets another precision until the end of the scope.
class WithPrecision {
 public:
  explicit WithPrecision(slong bits) : before_(std::exchange(precision, bits)) {}
  ~WithPrecision() { precision = before_; }
  WithPrecision(const WithPrecision&) = delete;
  WithPrecision& operator=(const WithPrecision&) = delete;

 private:
  slong before_;
};

class Real {
 public:
  Real() { arb_init(ball_); }
  Real(double value) : Real() { arb_set_d(ball_, value); }          // NOLINT: a double is an exact ball
  Real(int value) : Real() { arb_set_si(ball_, value); }            // NOLINT
  Real(long value) : Real() { arb_set_si(ball_, value); }           // NOLINT
  Real(unsigned long value) : Real() { arb_set_ui(ball_, value); }  // NOLINT
  Real(const Real& other) : Real() { arb_set(ball_, other.ball_); }
  Real(Real&& other) noexcept : Real() { arb_swap(ball_, other.ball_); }
  ~Real() { arb_clear(ball_); }
  Real& operator=(const Real& other) {
    arb_set(ball_, other.ball_);
    return *this;
  }
  Real& operator=(Real&& other) noexcept {
    arb_swap(ball_, other.ball_);
    return *this;
  }

  /// The exact decimal, rounded once at the current precision.
  [[nodiscard]] static Real decimal(const std::string& text) {
    Real result;
    if (arb_set_str(result.ball_, text.c_str(), precision) != 0) arb_indeterminate(result.ball_);
    return result;
  }
  [[nodiscard]] static Real pi() {
    Real result;
    arb_const_pi(result.ball_, precision);
    return result;
  }
  /// Everything between the two balls.
  [[nodiscard]] static Real hull(const Real& a, const Real& b) {
    Real result;
    arb_union(result.ball_, a.ball_, b.ball_, precision);
    return result;
  }
  /// [-radius, radius].
  [[nodiscard]] static Real error(const Real& radius) { return hull(-radius, radius); }

  [[nodiscard]] arb_ptr get() { return ball_; }
  [[nodiscard]] arb_srcptr get() const { return ball_; }

  /// A double at or below (above) every element; infinite if the ball is not finite.
  [[nodiscard]] double lower() const { return end(false); }
  [[nodiscard]] double upper() const { return end(true); }
  [[nodiscard]] double middle() const { return arf_get_d(arb_midref(ball_), ARF_RND_NEAR); }
  /// The upper (lower) end as a ball of its own.
  [[nodiscard]] Real top() const {
    Real result;
    arb_get_ubound_arf(arb_midref(result.ball_), ball_, precision);
    return result;
  }
  [[nodiscard]] Real bottom() const {
    Real result;
    arb_get_lbound_arf(arb_midref(result.ball_), ball_, precision);
    return result;
  }
  [[nodiscard]] bool positive() const { return arb_is_positive(ball_) != 0; }
  [[nodiscard]] bool negative() const { return arb_is_negative(ball_) != 0; }
  [[nodiscard]] bool finite() const { return arb_is_finite(ball_) != 0; }

  friend Real operator-(const Real& a) {
    Real result;
    arb_neg(result.ball_, a.ball_);
    return result;
  }
  friend Real operator+(const Real& a, const Real& b) { return apply(arb_add, a, b); }
  friend Real operator-(const Real& a, const Real& b) { return apply(arb_sub, a, b); }
  friend Real operator*(const Real& a, const Real& b) { return apply(arb_mul, a, b); }
  friend Real operator/(const Real& a, const Real& b) { return apply(arb_div, a, b); }
  Real& operator+=(const Real& b) { return *this = *this + b; }
  Real& operator*=(const Real& b) { return *this = *this * b; }

  friend Real min(const Real& a, const Real& b) { return apply(arb_min, a, b); }
  friend Real max(const Real& a, const Real& b) { return apply(arb_max, a, b); }
  friend Real exp(const Real& a) { return apply(arb_exp, a); }
  friend Real log(const Real& a) { return apply(arb_log, a); }
  friend Real sqrt(const Real& a) { return apply(arb_sqrt, a); }
  friend Real cos(const Real& a) { return apply(arb_cos, a); }
  friend Real abs(const Real& a) {
    Real result;
    arb_abs(result.ball_, a.ball_);
    return result;
  }
  friend Real power(const Real& a, unsigned long n) {
    Real result;
    arb_pow_ui(result.ball_, a.ball_, n, precision);
    return result;
  }
  /// The upper tail of the standard normal law.
  friend Real normal_above(const Real& x) {
    Real result;
    const Real scaled = x / sqrt(Real(2));
    arb_hypgeom_erfc(result.ball_, scaled.ball_, precision);
    return result / 2;
  }

 private:
  template <class Operation>
  static Real apply(Operation operation, const Real& a, const Real& b) {
    Real result;
    operation(result.ball_, a.ball_, b.ball_, precision);
    return result;
  }
  template <class Operation>
  static Real apply(Operation operation, const Real& a) {
    Real result;
    operation(result.ball_, a.ball_, precision);
    return result;
  }
  [[nodiscard]] double end(bool above) const {
    if (!finite()) return above ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
    arf_t bound;
    arf_init(bound);
    above ? arb_get_ubound_arf(bound, ball_, 64) : arb_get_lbound_arf(bound, ball_, 64);
    const double value = arf_get_d(bound, above ? ARF_RND_CEIL : ARF_RND_FLOOR);
    arf_clear(bound);
    return value;
  }

  arb_t ball_;
};

class Complex {
 public:
  Complex() { acb_init(ball_); }
  Complex(const Real& real, const Real& imaginary = {}) : Complex() { acb_set_arb_arb(ball_, real.get(), imaginary.get()); }  // NOLINT
  Complex(const Complex& other) : Complex() { acb_set(ball_, other.ball_); }
  Complex(Complex&& other) noexcept : Complex() { acb_swap(ball_, other.ball_); }
  ~Complex() { acb_clear(ball_); }
  Complex& operator=(const Complex& other) {
    acb_set(ball_, other.ball_);
    return *this;
  }
  Complex& operator=(Complex&& other) noexcept {
    acb_swap(ball_, other.ball_);
    return *this;
  }

  [[nodiscard]] acb_ptr get() { return ball_; }
  [[nodiscard]] acb_srcptr get() const { return ball_; }
  [[nodiscard]] Real real() const {
    Real result;
    arb_set(result.get(), acb_realref(ball_));
    return result;
  }
  [[nodiscard]] Real imaginary() const {
    Real result;
    arb_set(result.get(), acb_imagref(ball_));
    return result;
  }
  /// The same set, larger by a square of this half side.
  void add_error(const Real& radius) {
    arb_add_error(acb_realref(ball_), radius.get());
    arb_add_error(acb_imagref(ball_), radius.get());
  }

  friend Complex operator+(const Complex& a, const Complex& b) { return apply(acb_add, a, b); }
  friend Complex operator-(const Complex& a, const Complex& b) { return apply(acb_sub, a, b); }
  friend Complex operator*(const Complex& a, const Complex& b) { return apply(acb_mul, a, b); }
  friend Complex operator/(const Complex& a, const Complex& b) { return apply(acb_div, a, b); }
  Complex& operator+=(const Complex& b) { return *this = *this + b; }
  Complex& operator*=(const Complex& b) { return *this = *this * b; }
  friend Complex exp(const Complex& a) {
    Complex result;
    acb_exp(result.ball_, a.ball_, precision);
    return result;
  }
  /// sinh(a)/a, entire.
  friend Complex sinhc(const Complex& a) {
    Complex turned;
    acb_mul_onei(turned.ball_, a.ball_);
    Complex result;
    acb_sinc(result.ball_, turned.ball_, precision);
    return result;
  }
  friend Complex power(const Complex& a, unsigned long n) {
    Complex result;
    acb_pow_ui(result.ball_, a.ball_, n, precision);
    return result;
  }

 private:
  template <class Operation>
  static Complex apply(Operation operation, const Complex& a, const Complex& b) {
    Complex result;
    operation(result.ball_, a.ball_, b.ball_, precision);
    return result;
  }

  acb_t ball_;
};

/// exp(i k angle) for k = 0, 1, 2, ...: one multiplication each, computed anew now and then because repeated multiplication of rectangles
/// makes them grow like 2^(k/2).
class Rotation {
 public:
  explicit Rotation(const Real& angle) : angle_(angle), step_(exp(Complex(Real(0), angle))), value_(Real(1)) {}
  [[nodiscard]] const Complex& value() const { return value_; }
  void advance() {
    constexpr unsigned long fresh = 16;  // 8 bits lost at most
    if (++count_ % fresh == 0)
      value_ = exp(Complex(Real(0), angle_ * Real(count_)));
    else
      acb_mul(value_.get(), value_.get(), step_.get(), precision);
  }

 private:
  Real angle_;
  Complex step_;
  Complex value_;
  unsigned long count_ = 0;
};

}  // namespace tradeoff::detail::witness
