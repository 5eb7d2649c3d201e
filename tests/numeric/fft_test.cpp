// SPDX-License-Identifier: Apache-2.0
#include "numeric/fft.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <memory>
#include <random>
#include <vector>

// [fft-rounding] The transform compared with a transform in 200 bits, against the proved bound and not a tolerance.
namespace tradeoff::detail::numeric {
namespace {

constexpr double unit_roundoff = 0x1p-53;

std::size_t reversed(std::size_t k, unsigned bits) {
  std::size_t result = 0;
  for (unsigned b = 0; b < bits; ++b) result |= (k >> b & 1) << (bits - 1 - b);
  return result;
}

std::vector<Complex> random_vector(std::size_t size, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<Complex> x(size);
  for (Complex& one : x) one = {normal(generator), std::exp(4 * normal(generator))};
  return x;
}

double norm(const std::vector<Complex>& x) {
  double sum = 0;
  for (const Complex& one : x) sum += one.re * one.re + one.im * one.im;
  return std::sqrt(sum);
}

/// exp(-2 pi i k / n) in long arithmetic.
class ExactRoot {
 public:
  ExactRoot(std::size_t k, std::size_t n) {
    mpfr_inits2(200, angle_, cosine, sine, nullptr);
    mpfr_const_pi(angle_, MPFR_RNDN);
    mpfr_mul_si(angle_, angle_, -2 * static_cast<long>(k % n), MPFR_RNDN);
    mpfr_div_ui(angle_, angle_, n, MPFR_RNDN);
    mpfr_sin_cos(sine, cosine, angle_, MPFR_RNDN);
  }
  ExactRoot(const ExactRoot&) = delete;
  ExactRoot& operator=(const ExactRoot&) = delete;
  ~ExactRoot() { mpfr_clears(angle_, cosine, sine, nullptr); }

 private:
  mpfr_t angle_;

 public:
  mpfr_t cosine;
  mpfr_t sine;
};

/// Euclidean distance between `computed` (bit-reversed) and the exact transform of x, correct to a few digits.
double distance_from_exact(const std::vector<Complex>& x, const std::vector<Complex>& computed, unsigned bits) {
  const std::size_t n = x.size();
  std::vector<std::unique_ptr<ExactRoot>> roots;
  for (std::size_t k = 0; k < n; ++k) roots.push_back(std::make_unique<ExactRoot>(k, n));
  mpfr_t re, im, term;
  mpfr_inits2(200, re, im, term, nullptr);
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const Complex found = computed[reversed(k, bits)];
    mpfr_set_d(re, -found.re, MPFR_RNDN);
    mpfr_set_d(im, -found.im, MPFR_RNDN);
    for (std::size_t j = 0; j < n; ++j) {
      const ExactRoot& root = *roots[j * k % n];
      mpfr_mul_d(term, root.cosine, x[j].re, MPFR_RNDN), mpfr_add(re, re, term, MPFR_RNDN);
      mpfr_mul_d(term, root.sine, x[j].im, MPFR_RNDN), mpfr_sub(re, re, term, MPFR_RNDN);
      mpfr_mul_d(term, root.sine, x[j].re, MPFR_RNDN), mpfr_add(im, im, term, MPFR_RNDN);
      mpfr_mul_d(term, root.cosine, x[j].im, MPFR_RNDN), mpfr_add(im, im, term, MPFR_RNDN);
    }
    sum += std::pow(mpfr_get_d(re, MPFR_RNDN), 2) + std::pow(mpfr_get_d(im, MPFR_RNDN), 2);
  }
  mpfr_clears(re, im, term, nullptr);
  return std::sqrt(sum);
}

TEST(Fft, StaysWithinItsProvedBound) {
  for (unsigned bits = 0; bits <= 9; ++bits) {
    const Fft fft(bits);
    const std::vector<Complex> x = random_vector(fft.size(), 7 + bits);
    std::vector<Complex> y = x;
    fft.forward(y.data());
    const double exact_norm = norm(x) * std::sqrt(static_cast<double>(fft.size()));
    const double error = distance_from_exact(x, y, bits);
    EXPECT_LE(error, fft.relative_error() * exact_norm + 1e-300) << fft.size();
    if (bits < 4) continue;
    EXPECT_GT(error, 0.01 * fft.relative_error() * exact_norm) << "the bound is far from sharp at " << fft.size();
  }
}

TEST(Fft, InverseUndoesForwardAtEverySize) {
  for (unsigned bits = 0; bits <= 17; ++bits) {
    const Fft fft(bits);
    const std::vector<Complex> x = random_vector(fft.size(), bits);
    std::vector<Complex> y = x;
    fft.forward(y.data());
    fft.inverse(y.data());
    for (std::size_t j = 0; j < y.size(); ++j) {
      y[j] = {y[j].re / static_cast<double>(fft.size()) - x[j].re, y[j].im / static_cast<double>(fft.size()) - x[j].im};
    }
    EXPECT_LE(norm(y), (2.001 * fft.relative_error() + 4 * unit_roundoff) * norm(x)) << fft.size();
  }
}

TEST(Fft, AnImpulseBecomesTheRoots) {
  // A unit impulse at place j transforms into the roots themselves: only the twiddles along one path are used.
  constexpr unsigned bits = 12;
  const Fft fft(bits);
  std::vector<Complex> x(fft.size());
  x[1] = {1, 0};
  fft.forward(x.data());
  for (std::size_t k = 0; k < fft.size(); ++k) {
    const ExactRoot exact(k, fft.size());
    const Complex found = x[reversed(k, bits)];
    const double error = std::hypot(found.re - mpfr_get_d(exact.cosine, MPFR_RNDN), found.im - mpfr_get_d(exact.sine, MPFR_RNDN));
    EXPECT_LE(error, fft.relative_error()) << k;
  }
}

TEST(Fft, OppositePlacesHoldConjugatesForRealInput) {
  constexpr unsigned bits = 10;
  const Fft fft(bits);
  std::vector<Complex> x = random_vector(fft.size(), 3);
  for (Complex& one : x) one.im = 0;
  const double scale = norm(x) * std::sqrt(static_cast<double>(fft.size()));
  fft.forward(x.data());
  for (std::size_t k = 0; k < fft.size(); ++k) {
    const std::size_t place = reversed(k, bits), opposite = reversed((fft.size() - k) % fft.size(), bits);
    ASSERT_EQ(Fft::opposite(place), opposite);
    EXPECT_LE(std::hypot(x[place].re - x[opposite].re, x[place].im + x[opposite].im), 2 * fft.relative_error() * scale);
  }
}

}  // namespace
}  // namespace tradeoff::detail::numeric
