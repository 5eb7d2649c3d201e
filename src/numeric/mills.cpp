// SPDX-License-Identifier: Apache-2.0
#include "numeric/mills.h"

#include "numeric/conversions.h"
#include "numeric/mills_table.h"

// [normal-functions]
namespace tradeoff::detail::numeric {
namespace {

// Relative errors proved in docs/theory/normal-functions.md, with a margin.
constexpr double table_error = 4 * unit_roundoff;
constexpr double series_error = 6 * unit_roundoff;
constexpr double difference_error = 16 * unit_roundoff;
constexpr double density_error = 16 * unit_roundoff;

// From here on the asymptotic series is used: its 14 terms have an error of 0.01 * 2^-53.
constexpr double series_from = 16;
constexpr int series_terms = 14;
// (-1)^n (2n-1)!!, all exact.
constexpr double series[series_terms] = {1,       -1,      3,          -15,        105,           -945,          10395,
                                         -135135, 2027025, -34459425., 654729075., -13749310575., 316234143225., -7905853580625.};

/// The piece of the table that contains a point: its coefficients, centre and width.
struct Piece {
  const double* coefficients;
  double centre;
  double width;
};

Piece piece_at(double x) {
  if (x < 2) {
    const int index = static_cast<int>((x + 1) * 8);
    return {mills_table[index], (2 * index + 1) / 16.0 - 1, 0.125};
  }
  // An octave has sixteen pieces: the exponent and the four leading bits of the fraction number them.
  constexpr int first = 24;
  constexpr std::uint64_t two = 0x4000;
  const std::uint64_t leading = bit_cast<std::uint64_t>(x) >> 48;
  const double left = bit_cast<double>(leading << 48);
  const double centre = bit_cast<double>(leading << 48 | std::uint64_t{1} << 47);
  return {mills_table[first + static_cast<int>(leading - two)], centre, 2 * (centre - left)};
}

Approximation mills_from_table(const Precise& x) {
  constexpr int degree = 11;  // half a width from the centre this truncates below 0.02 * 2^-53
  const Piece piece = piece_at(x.high);
  const double e = (piece.centre - x.high) - x.low;
  double sum = piece.coefficients[degree];
  for (int n = degree - 1; n >= 0; --n) sum = sum * e + piece.coefficients[n];
  return {sum, table_error + 1.5 * x.error};
}

Approximation mills_from_series(const Precise& x) {
  const double inverse = 1 / x.high;
  const double v = inverse * inverse;
  double sum = series[series_terms - 1];
  for (int n = series_terms - 2; n >= 0; --n) sum = sum * v + series[n];
  return {sum * inverse, series_error + 1.5 * x.error * inverse};
}

/// The divided difference of the Taylor polynomial: (Mills(y) - Mills(z)) / mu for y and z on or next to one piece.
double slope_from_table(const Piece& piece, double e_y, double e_z) {
  double sum = piece.coefficients[mills_degree];
  double difference = 0;
  for (int n = mills_degree - 1; n >= 0; --n) {
    difference = difference * e_z + sum;
    sum = sum * e_y + piece.coefficients[n];
  }
  return difference;
}

/// The same from Mills(x) = S(1/x^2) / x for 16 <= y < z < 2 y.
double slope_from_series(double y, double z) {
  const double v_y = 1 / (y * y);
  const double v_z = 1 / (z * z);
  double sum = series[series_terms - 1];
  double difference = 0;
  for (int n = series_terms - 2; n >= 0; --n) {
    difference = difference * v_z + sum;
    sum = sum * v_y + series[n];
  }
  return (sum + (y + z) / y * v_z * difference) / (y * z);
}

}  // namespace

Approximation mills(const Precise& x) { return x.high < series_from ? mills_from_table(x) : mills_from_series(x); }

MillsDifference mills_difference(const Precise& y, const Precise& z, double mu) {
  const double place_error = std::max(y.error, z.error);
  if (y.high >= series_from) {
    if (mu < y.high) return {{slope_from_series(y.high, z.high), difference_error + 3 * place_error / y.high}, mu};
  } else {
    const Piece piece = piece_at(y.high);
    const double e_z = (piece.centre - z.high) - z.low;
    const double e_y = (piece.centre - y.high) - y.low;
    if (e_z >= -piece.width) return {{slope_from_table(piece, e_y, e_z), difference_error + 2 * place_error}, mu};
  }
  // Far enough apart: the subtraction loses at most seven bits, and the error bound includes them.
  const Approximation at_y = mills(y);
  const Approximation at_z = mills(z);
  const double difference = at_y.value - at_z.value;
  const double loss = at_y.value * at_y.relative_error + at_z.value * at_z.relative_error;
  return {{difference, 1.01 * (loss / difference + unit_roundoff)}, 1};
}

namespace {

/// x^2 without the square of x.low; the high part is x.high^2 rounded.
DoubleDouble square_of(const Precise& x) {
  const DoubleDouble square = two_product(x.high, x.high);
  return {square.high, square.low + 2 * x.high * x.low};
}

}  // namespace

Density density(const Precise& x) {
  constexpr double inverse_root_two_pi = 0.3989422804014327;
  if (std::abs(x.high) > 60) return {{0, density_error}, 0};  // exp(-1800) is far below the least double
  const double x_error = 1.01 * (std::abs(x.high) + 1) * x.error;
  const DoubleDouble square = square_of(x);
  const double correction = inverse_root_two_pi * (1 - square.low / 2);
  if (square.high > 1200) {
    const double half = std::exp(-square.high / 4);
    return {{half * correction, density_error + x_error}, half};
  }
  return {{std::exp(-square.high / 2) * correction, density_error + x_error}, 1};
}

LogDensity log_density(const Precise& x) {
  constexpr double log_root_two_pi = 0.9189385332046728;
  const DoubleDouble square = square_of(x);
  const double value = -square.high / 2 + (-square.low / 2 - log_root_two_pi);
  return {value, 4 * unit_roundoff * (std::abs(value) + 1) + 1.01 * (std::abs(x.high) + 1) * x.error};
}

}  // namespace tradeoff::detail::numeric
