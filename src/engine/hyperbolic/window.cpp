// SPDX-License-Identifier: Apache-2.0
#include "engine/hyperbolic/window.h"

#include <cmath>
#include <numbers>

#include "numeric/arithmetic.h"

// [bent-split]
namespace tradeoff::detail::hyperbolic {
namespace {

using Complex = std::complex<double>;
using std::numbers::pi;
constexpr double spacing = 0.5;  // of the trapezoidal rule: its error is e^-38 of the Gaussian integral
constexpr int terms = 14;        // e^-t^2 < e^-45 beyond

struct Scaled {
  Complex value;
  double error;
};

Complex quotient(Complex a, Complex b) {
  const double norm = b.real() * b.real() + b.imag() * b.imag();
  return {(a.real() * b.real() + a.imag() * b.imag()) / norm, (a.imag() * b.real() - a.real() * b.imag()) / norm};
}

/// exp(z^2) erfc(z) for Re z >= 0: (z / pi) times the integral of exp(-t^2) / (t^2 + z^2), by the trapezoidal rule and the residue of the
/// pole at t = i z. The nodes are multiples of the spacing, or halfway between them, whichever are further from the pole.
Scaled scaled_erfc(Complex z) {
  const double place = std::abs(z.imag()) / spacing;
  const bool halfway = std::abs(place - std::round(place)) < 0.25;
  const Complex square(z.real() * z.real() - z.imag() * z.imag(), 2 * z.real() * z.imag());
  Complex sum = 0;
  double modulus = 0;
  for (int n = 0; n < terms; ++n) {
    const double t = (n + (halfway ? 0.5 : 0)) * spacing;
    const double weight = (n == 0 && !halfway ? 1 : 2) * std::exp(-t * t);
    // t^2 + z^2 = (z + i t)(z - i t): the factors are accurate near the pole
    const Complex term = quotient(weight, Complex(z.real(), z.imag() + t) * Complex(z.real(), z.imag() - t));
    sum += term;
    modulus += std::abs(term);
  }
  const double size = std::abs(z);
  Scaled result{z * sum * (spacing / pi), 40 * unit_roundoff * size * modulus * (spacing / pi)};
  if (z.real() < pi / spacing) {
    const double exponent = 2 * pi / spacing * z.real();
    const double angle = 2 * pi / spacing * z.imag();
    const double sign = halfway ? 1 : -1;
    // 2 e^{z^2} / (1 -+ e^{2 pi z / spacing}), multiplied through by e^{-2 pi z / spacing}
    const double decay = std::exp(-exponent);
    const Complex denominator(decay * std::cos(angle) + sign, -decay * std::sin(angle));
    const double growth = std::exp(square.real() - exponent);
    const double turn = square.imag() - angle;
    const Complex correction = quotient(Complex(2 * growth * std::cos(turn), 2 * growth * std::sin(turn)), denominator);
    result.value += correction;
    result.error += std::abs(correction) * unit_roundoff *
                    (40 + 8 * (std::abs(square.real()) + std::abs(square.imag()) + exponent + std::abs(angle)) +
                     8 * (1 + std::abs(angle)) / std::abs(denominator));
  }
  // The lines Im t = +-Y of the quadrature error stay 1/2 away from the poles and lie within 1 of pi / spacing.
  result.error += 4 * size * std::exp(-38.0);
  return result;
}

}  // namespace

LogHalfErfc log_half_erfc(Complex z) {
  const bool right = z.real() >= 0;
  const Complex y = right ? z : -z;
  const Scaled scaled = scaled_erfc(y);
  const double real = y.imag() * y.imag() - y.real() * y.real();
  const double phase = -2 * y.real() * y.imag();
  const double rounding = unit_roundoff * 8 * (y.imag() * y.imag() + y.real() * y.real() + 2 * std::abs(phase) + 1);
  const double modulus = std::abs(scaled.value);
  if (right) {
    const double relative = scaled.error / modulus;
    if (!(relative < 0.5)) return {real, 0, infinity};
    return {real + std::log(modulus) - std::log(2.0), phase + std::atan2(scaled.value.imag(), scaled.value.real()),
            1.5 * relative + rounding + 20 * unit_roundoff};
  }
  // erfc(z) / 2 = 1 - erfc(-z) / 2
  if (real > 600) return {real, 0, infinity};  // only the bound 1 + e^real / 2 < e^real is returned
  const double half = std::exp(real) / 2;
  const double turn = phase + std::atan2(scaled.value.imag(), scaled.value.real());
  const Complex rest(1 - half * modulus * std::cos(turn), -half * modulus * std::sin(turn));
  const double absolute = half * (scaled.error * 1.5 + modulus * (rounding + 20 * unit_roundoff)) + 4 * unit_roundoff;
  const double left = std::abs(rest);
  if (!(absolute < 0.5 * left)) return {std::log1p(half * (modulus + scaled.error)), 0, infinity};
  return {std::log(left), std::atan2(rest.imag(), rest.real()), 1.5 * absolute / left + 20 * unit_roundoff};
}

}  // namespace tradeoff::detail::hyperbolic
