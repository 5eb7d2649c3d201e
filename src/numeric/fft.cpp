// SPDX-License-Identifier: Apache-2.0
#include "numeric/fft.h"

#include <utility>

#include "numeric/double_double.h"

// [fft-rounding] The bound is proved for exactly this order of operations.
namespace tradeoff::detail::numeric {
namespace {

struct Turn {
  DoubleDouble cosine;
  DoubleDouble sine;
};

/// cos and sin of 2 pi * fraction for 0 <= fraction <= 1/8, by their series: 30 terms leave less than 1e-33.
Turn turn_of(double fraction) {
  constexpr DoubleDouble two_pi{6.283185307179586, 2.4492935982947064e-16};
  const DoubleDouble x = two_pi * DoubleDouble{fraction, 0};
  Turn turn{{1, 0}, {0, 0}};
  DoubleDouble term{1, 0};
  for (int k = 1; k <= 30; ++k) {
    term = term * x / k;
    DoubleDouble& sum = k % 2 == 0 ? turn.cosine : turn.sine;
    sum = k % 4 < 2 ? sum + term : sum - term;
  }
  return turn;
}

Turn operator*(const Turn& a, const Turn& b) { return {a.cosine * b.cosine - a.sine * b.sine, a.cosine * b.sine + a.sine * b.cosine}; }

/// exp(-2 pi i k / n) for 0 <= k <= n / 8, each part rounded from 100 bits: within 0.71 u of the exact value. The angle is split in two, so
/// that 2 sqrt(n / 8) series and n / 8 products suffice.
std::vector<Complex> first_octant(unsigned log2_size) {
  const std::size_t count = (std::size_t{1} << log2_size) / 8;
  const std::size_t fine_count = std::size_t{1} << (log2_size / 2);
  const double unit = 1 / static_cast<double>(std::size_t{1} << log2_size);
  std::vector<Turn> fine(fine_count);
  for (std::size_t k = 0; k < fine_count && k <= count; ++k) fine[k] = turn_of(static_cast<double>(k) * unit);
  std::vector<Complex> octant(count + 1);
  Turn coarse;
  for (std::size_t k = 0; k <= count; ++k) {
    if (k % fine_count == 0) coarse = turn_of(static_cast<double>(k) * unit);
    const Turn turn = coarse * fine[k % fine_count];
    octant[k] = {turn.cosine.value(), -turn.sine.value()};
  }
  return octant;
}

/// exp(-2 pi i k / n), 0 <= k < n / 2, from the first octant by symmetry, without further rounding.
Complex root(const std::vector<Complex>& octant, std::size_t k, std::size_t n) {
  if (k <= n / 8) return octant[k];
  if (k <= n / 4) {
    const Complex mirrored = octant[n / 4 - k];
    return {-mirrored.im, -mirrored.re};
  }
  const Complex turned = root(octant, k - n / 4, n);  // times -i
  return {turned.im, -turned.re};
}

/// The transform of two numbers, which is its own inverse up to a factor.
void transform_two(Complex* x) {
  const Complex a = x[0], b = x[1];
  x[0] = a + b;
  x[1] = a - b;
}

/// Two stages of a decimation in frequency at once, on a block of 4 q; then the four blocks of q, depth first, so that a block stays in
/// cache.
void forward_block(Complex* x, std::size_t size, const Complex* roots) {
  if (size == 1) return;
  if (size == 2) return transform_two(x);
  const std::size_t q = size / 4;
  const Complex* outer = roots + 2 * q;
  const Complex* inner = roots + q;
  for (std::size_t k = 0; k < q; ++k) {
    const Complex a = x[k] + x[k + 2 * q], b = x[k + q] + x[k + 3 * q];
    const Complex c = (x[k] - x[k + 2 * q]) * outer[k], d = (x[k + q] - x[k + 3 * q]) * outer[k + q];
    x[k] = a + b;
    x[k + q] = (a - b) * inner[k];
    x[k + 2 * q] = c + d;
    x[k + 3 * q] = (c - d) * inner[k];
  }
  for (std::size_t block = 0; block < 4; ++block) forward_block(x + block * q, q, roots);
}

/// The inverse stages of forward_block in the opposite order (decimation in time, conjugate roots).
void inverse_block(Complex* x, std::size_t size, const Complex* roots) {
  if (size == 1) return;
  if (size == 2) return transform_two(x);
  const std::size_t q = size / 4;
  for (std::size_t block = 0; block < 4; ++block) inverse_block(x + block * q, q, roots);
  const Complex* outer = roots + 2 * q;
  const Complex* inner = roots + q;
  for (std::size_t k = 0; k < q; ++k) {
    const Complex b = x[k + q] * conjugate(inner[k]), d = x[k + 3 * q] * conjugate(inner[k]);
    const Complex first = x[k] + b, second = x[k] - b;
    const Complex third = (x[k + 2 * q] + d) * conjugate(outer[k]), fourth = (x[k + 2 * q] - d) * conjugate(outer[k + q]);
    x[k] = first + third;
    x[k + 2 * q] = first - third;
    x[k + q] = second + fourth;
    x[k + 3 * q] = second - fourth;
  }
}

}  // namespace

Fft::Fft(unsigned log2_size) : log2_size_(log2_size), roots_(size()) {
  if (log2_size < 2) {
    for (Complex& one : roots_) one = {1, 0};
    return;
  }
  const std::size_t n = size();
  const std::vector<Complex> octant = log2_size == 2 ? std::vector<Complex>{{1, 0}} : first_octant(log2_size);
  for (std::size_t half = n / 2; half >= 1; half /= 2) {
    for (std::size_t k = 0; k < half; ++k) roots_[half + k] = root(octant, k * (n / 2 / half), n);
  }
}

void Fft::forward(Complex* x) const { forward_block(x, size(), roots_.data()); }
void Fft::inverse(Complex* x) const { inverse_block(x, size(), roots_.data()); }

}  // namespace tradeoff::detail::numeric
