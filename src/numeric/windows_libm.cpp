// SPDX-License-Identifier: Apache-2.0
// Functions of the C library that mingw-w64 gets wrong by more than libm_bounds.h allows (sin, cos, fma), or takes from msvcrt.dll, which
// differs from one Windows to the next (tan, atan, sinh, cosh, tanh, hypot). They are defined under their own names, so that all of our
// code gets them without a change; the linker prefers them to those of the system. `./test windows` compares them with MPFR.
// [outward-rounding]
#if defined(__MINGW32__) && defined(__x86_64__)

#include <immintrin.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "numeric/conversions.h"

namespace {

using tradeoff::detail::numeric::bit_cast;
__extension__ using Bits128 = unsigned __int128;

/// The bits of 2/pi after the point: enough for the largest double.
constexpr std::array<std::uint64_t, 20> two_over_pi = {0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
                                                       0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
                                                       0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
                                                       0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
                                                       0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};
constexpr long double half_pi = 1.57079632679489661923132169163975144L;

/// |x| = quadrant * pi/2 + rest with |rest| <= pi/4; the quadrant is taken modulo 4.
struct Turn {
  unsigned quadrant;
  long double rest;
};

/// |x| 2/pi modulo 4 is the product of the 53 bits of x with four words of 2/pi: the words before them add multiples of 4, those after
/// them less than 2^-138. No double is nearer than 2^-62 to a multiple of pi/2, so the rest is accurate to 2^-64 of its size or better.
Turn reduce(double x) {
  const double size = std::abs(x);
  if (size < 0.785) return {0, size};
  const std::uint64_t bits = bit_cast<std::uint64_t>(size);
  const int exponent = static_cast<int>(bits >> 52) - 1075;
  const std::uint64_t mantissa = (bits & 0xfffffffffffffULL) | 0x10000000000000ULL;
  const int first = exponent < 2 ? 0 : (exponent - 2) / 64;
  std::array<std::uint64_t, 6> product{};  // the lowest word first, and a word of zeros above the product
  Bits128 carry = 0;
  for (int i = 0; i < 4; ++i) {
    carry += static_cast<Bits128>(mantissa) * two_over_pi[static_cast<std::size_t>(first + 3 - i)];
    product[static_cast<std::size_t>(i)] = static_cast<std::uint64_t>(carry);
    carry >>= 64;
  }
  product[4] = static_cast<std::uint64_t>(carry);
  const int point = 64 * (first + 4) - exponent;  // the place of the bit 1 of the value
  const auto word_at = [&](int place) {           // 64 bits from this place on
    const auto word = static_cast<std::size_t>(place / 64);
    const int shift = place % 64;
    return shift == 0 ? product[word] : product[word] >> shift | product[word + 1] << (64 - shift);
  };
  auto quadrant = static_cast<unsigned>(point < 320 ? word_at(point) & 3U : 0U);
  Bits128 fraction = static_cast<Bits128>(word_at(point - 64)) << 64 | word_at(point - 128);
  const bool above_half = fraction >> 127 != 0;
  if (above_half) ++quadrant, fraction = -fraction;
  const long double rest = static_cast<long double>(fraction) * 0x1p-128L * half_pi;
  return {quadrant & 3U, above_half ? -rest : rest};
}

// The processor's own functions are accurate to 64 bits for |x| <= pi/4.
long double small_sine(long double x) {
  __asm__("fsin" : "+t"(x));
  return x;
}
long double small_cosine(long double x) {
  __asm__("fcos" : "+t"(x));
  return x;
}

double sine_of(const Turn& turn) {
  const long double value = turn.quadrant % 2 == 0 ? small_sine(turn.rest) : small_cosine(turn.rest);
  return static_cast<double>(turn.quadrant < 2 ? value : -value);
}

[[nodiscard]] bool has_fma() {
  static const bool found = __builtin_cpu_supports("fma") != 0;
  return found;
}

}  // namespace

extern "C" {

double sin(double x) {
  if (!std::isfinite(x)) return x - x;
  const double value = sine_of(reduce(x));
  return std::signbit(x) ? -value : value;
}

double cos(double x) {
  if (!std::isfinite(x)) return x - x;
  Turn turn = reduce(x);
  turn.quadrant = (turn.quadrant + 1) & 3U;
  return sine_of(turn);
}

void sincos(double x, double* sine, double* cosine) {  // compilers join a sine and a cosine into this
  *sine = sin(x);
  *cosine = cos(x);
}

double tan(double x) {
  double sine = 0, cosine = 0;
  sincos(x, &sine, &cosine);
  return sine / cosine;
}

double atan(double x) { return std::atan2(x, 1.0); }  // whose own is accurate

double sinh(double x) {
  const long double less = expm1l(std::abs(static_cast<long double>(x)));  // its exponents do not overflow
  const auto value = static_cast<double>((less + less / (less + 1)) / 2);
  return std::signbit(x) ? -value : value;
}

double cosh(double x) {
  const long double power = expl(std::abs(static_cast<long double>(x)));
  return static_cast<double>((power + 1 / power) / 2);
}

double tanh(double x) {
  if (std::abs(x) > 30) return std::copysign(1.0, x);
  const long double less = expm1l(2 * static_cast<long double>(x));
  return static_cast<double>(less / (less + 2));
}

double _hypot(double x, double y) { return static_cast<double>(sqrtl(static_cast<long double>(x) * x + static_cast<long double>(y) * y)); }

double hypot(double x, double y) { return _hypot(x, y); }

/// By the instruction: mingw-w64's own rounds twice. Processors have it since 2013.
__attribute__((target("fma"))) double fma(double a, double b, double c) {
  if (!has_fma()) {
    std::fputs("tradeoff for Windows needs a processor with FMA instructions\n", stderr);
    std::abort();
  }
  return _mm_cvtsd_f64(_mm_fmadd_sd(_mm_set_sd(a), _mm_set_sd(b), _mm_set_sd(c)));
}

}  // extern "C"

#endif
