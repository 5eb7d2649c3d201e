// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <vector>

// The discrete Fourier transform of a power-of-two length, with a proved rounding bound: every operation is fixed, so the bound is a
// theorem about this file and not a measurement. [fft-rounding]
namespace tradeoff::detail::numeric {

struct Complex {
  double re = 0;
  double im = 0;
};

[[nodiscard]] inline Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
[[nodiscard]] inline Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
/// Relative error at most sqrt(5) units of roundoff (Brent, Percival, Zimmermann 2007); no special handling of infinities.
[[nodiscard]] inline Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
[[nodiscard]] inline Complex conjugate(Complex a) { return {a.re, -a.im}; }

class Fft {
 public:
  explicit Fft(unsigned log2_size);

  [[nodiscard]] std::size_t size() const { return std::size_t{1} << log2_size_; }

  /// x_j -> sum_j x_j exp(-2 pi i j k / n); the coefficient k is stored at the bit-reversed position of k.
  void forward(Complex* x) const;
  /// The inverse from that order, without the division by n.
  void inverse(Complex* x) const;

  /// The error of either transform of x is at most this times the Euclidean norm of the exact transform (numbers below 2^-960 add less than
  /// 2^-900 to each entry).
  [[nodiscard]] double relative_error() const { return stage_error * log2_size_; }

  /// The position of the coefficient -k if k is at `place`: every bit below the leading one is flipped.
  [[nodiscard]] static std::size_t opposite(std::size_t place) { return place < 2 ? place : place ^ (std::bit_floor(place) - 1); }

 private:
  // One butterfly commits u (sum), 0.71 u (twiddle) and sqrt(5) u (product), 3.95 u together; 4.05 u also covers the squares of these
  // and the compounding over 64 stages.
  static constexpr double stage_error = 4.05 * 0x1p-53;

  unsigned log2_size_;
  std::vector<Complex> roots_;  // roots_[h + k] = exp(-pi i k / h), k < h, for every power of two h below the size
};

}  // namespace tradeoff::detail::numeric
