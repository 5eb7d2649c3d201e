// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "engine/bent_expansion.h"
#include "engine/bent_factor.h"

// F(s) = sum_j C_j exp(s y_j) prod A(s) / (s (s+1)) over some of the summands of an expansion: what a contour integrates.
// [bent-contour]
namespace tradeoff::bent {

/// A value and a bound on its error, both already divided by exp(log_scale).
struct Sample {
  Complex value;
  double error = 0;
  double modulus = 0;  ///< an upper estimate of |value|
};

class Integrand {
 public:
  /// A summand and the distance of its position from epsilon.
  struct Offset {
    std::size_t summand;
    double y;
    double y_error;
  };
  Integrand(const Expansion& expansion, std::vector<StepFactor> factors, std::vector<Offset> offsets)
      : expansion_(expansion), factors_(std::move(factors)), offsets_(std::move(offsets)) {}

  /// log F on the positive real axis, fast and uncertified.
  [[nodiscard]] double log_real(double s) const;
  /// Prepares the noise planes for contours that cross the real axis between the two points.
  void prepare(double low, double high, double margin);
  /// log of a bound of |F| on the hull of at most three points with Im >= 0.
  [[nodiscard]] double log_bound(std::span<const Complex> hull) { return log_bound(hull, false); }
  /// log of a bound of |s (s+1) F| at the point and on the vertical ray above it.
  [[nodiscard]] double log_ray_bound(Complex s) { return log_bound({&s, 1}, true); }
  /// F(s) exp(-log_scale).
  [[nodiscard]] Sample sample(Complex s, double log_scale);
  [[nodiscard]] std::uint64_t work() const;

 private:
  [[nodiscard]] double log_bound(std::span<const Complex> hull, bool ray);
  [[nodiscard]] LogValue common_factor(Complex s);
  [[nodiscard]] LogValue term_logarithm(const BreakTerm& term, Complex s) const;

  const Expansion& expansion_;
  std::vector<StepFactor> factors_;
  std::vector<Offset> offsets_;
  std::uint64_t earlier_work_ = 0;
};

}  // namespace tradeoff::bent
