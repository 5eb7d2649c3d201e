// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/hyperbolic/expansion.h"
#include "engine/hyperbolic/factor.h"

// F(s) = sum_j C_j exp(s y_j) prod A(s) / (s (s+1)) over some of the summands of an expansion: the integrand of a contour. [bent-contour]
namespace tradeoff::detail::hyperbolic {

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
  /// The difference from the Gaussian of the same variance: (M(s) - exp(V s (s+1) / 2)) exp(-s epsilon) / (s (s+1)), for an expansion of
  /// subsampled and plain Gaussians only, where M is its whole transform. [bent-remainder]
  Integrand(const Expansion& expansion, std::vector<StepFactor> factors, Offset offset, double epsilon);

  /// The same summands at another epsilon; cached values of the factors stay valid. False if the summands differ.
  [[nodiscard]] bool move_to(const std::vector<Offset>& offsets, double epsilon);
  /// V: the variance of the Gaussian that is subtracted; 0 if none is.
  [[nodiscard]] double taken_variance() const { return taken_variance_; }
  /// A fast approximation of log F on the positive real axis.
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
  /// The points of a hull; the others are -1, a pole that no hull contains.
  using Hull = std::array<Complex, 3>;
  struct Hash {
    std::size_t operator()(const Complex& s) const;
    std::size_t operator()(const Hull& hull) const;
  };
  struct Bound {
    double log;
    double size;  // the sum of the absolute values of its factors
  };
  [[nodiscard]] double log_bound(std::span<const Complex> hull, bool ray);
  /// A bound of all factors of subsampled steps on the hull, cached.
  [[nodiscard]] Bound factor_bound(std::span<const Complex> hull);
  /// Everything in F that does not depend on the summand, cached.
  [[nodiscard]] const LogValue& common_factor(Complex s);
  [[nodiscard]] LogValue find_common_factor(Complex s);
  /// log M - V s (s+1) / 2, cached, and F from it.
  [[nodiscard]] const Plain& log_remainder(Complex s);
  /// The same as a difference of logarithms, which is better where it is large.
  [[nodiscard]] Plain log_difference(Complex s);
  [[nodiscard]] Sample sample_remainder(Complex s, double log_scale);
  [[nodiscard]] double real_remainder(double s) const;
  /// log of a bound of the subtracted Gaussian, including its exponential factor but not the kernel.
  [[nodiscard]] double log_taken_bound(std::span<const Complex> hull) const;
  [[nodiscard]] LogValue term_logarithm(const BreakTerm& term, Complex s) const;

  const Expansion& expansion_;
  std::vector<StepFactor> factors_;
  std::vector<Offset> offsets_;
  std::uint64_t earlier_work_ = 0;
  std::unordered_map<Complex, LogValue, Hash> common_factors_;
  std::unordered_map<Hull, Bound, Hash> factor_bounds_;
  double epsilon_ = 0;
  double taken_variance_ = 0;
  std::unordered_map<Complex, Plain, Hash> log_remainders_;
};

}  // namespace tradeoff::detail::hyperbolic
