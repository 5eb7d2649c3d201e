// SPDX-License-Identifier: Apache-2.0
// Writes src/noise/noise_table.inc: integer polynomials for the two quantile functions that the samplers invert, each with an error
// bound proved here in ball arithmetic (Arb). docs/theory/certified-quantile-table.md has the proof; a test of tests/noise runs this
// program again and compares byte for byte.
//
//   make_noise_table > src/noise/noise_table.inc
//
// normal:       z = Q(v), v = erfc(z / sqrt 2); row (octave e, j): v = 2^-(e+1) (1 + (j + u) / 64), 0 <= u < 1
// exponential:  ln(2/m), m = 1 + (j + u) / 64;  row j
// A row is a polynomial in t = 1 - u; all derivatives of both functions alternate in sign, so its coefficients are non-negative.
#include <arb.h>
#include <arb_hypgeom.h>
#include <flint/fmpz.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr slong precision = 320;
constexpr int series_order = 22;  // the remainder of the Taylor series is then far below one unit
constexpr int row_bits = 6;
constexpr int rows = 1 << row_bits;
constexpr int degree = 7;  // eight coefficients fill one cache line
constexpr int normal_octaves = 40;
constexpr int exponential_octaves = 56;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "make_noise_table: %s\n", what);
  std::exit(1);
}

class Ball {
 public:
  Ball() { arb_init(ball_); }
  Ball(slong value) : Ball() { arb_set_si(ball_, value); }  // NOLINT: numbers in formulas
  Ball(const Ball& other) : Ball() { arb_set(ball_, other.ball_); }
  Ball& operator=(const Ball& other) {
    arb_set(ball_, other.ball_);
    return *this;
  }
  ~Ball() { arb_clear(ball_); }

  [[nodiscard]] static Ball from_double(double value) {
    Ball result;
    arb_set_d(result.ball_, value);
    return result;
  }
  [[nodiscard]] Ball scaled(slong power_of_two) const {
    Ball result;
    arb_mul_2exp_si(result.ball_, ball_, power_of_two);
    return result;
  }
  [[nodiscard]] arb_ptr get() { return ball_; }
  [[nodiscard]] arb_srcptr get() const { return ball_; }
  [[nodiscard]] double middle() const { return arf_get_d(arb_midref(ball_), ARF_RND_NEAR); }
  /// An upper bound of |x| for every x of the ball.
  [[nodiscard]] double above() const {
    arf_t bound;
    arf_init(bound);
    arb_get_abs_ubound_arf(bound, ball_, 64);
    const double result = arf_get_d(bound, ARF_RND_UP);
    arf_clear(bound);
    return result;
  }

  friend Ball operator+(const Ball& a, const Ball& b) { return apply(arb_add, a, b); }
  friend Ball operator-(const Ball& a, const Ball& b) { return apply(arb_sub, a, b); }
  friend Ball operator*(const Ball& a, const Ball& b) { return apply(arb_mul, a, b); }
  friend Ball operator/(const Ball& a, const Ball& b) { return apply(arb_div, a, b); }

 private:
  template <class Operation>
  static Ball apply(Operation operation, const Ball& a, const Ball& b) {
    Ball result;
    operation(result.ball_, a.ball_, b.ball_, precision);
    return result;
  }
  arb_t ball_;
};

Ball two_tails(const Ball& z) {  // erfc(z / sqrt 2)
  Ball root;
  arb_sqrt_ui(root.get(), 2, precision);
  const Ball argument = z / root;
  Ball result;
  arb_hypgeom_erfc(result.get(), argument.get(), precision);
  return result;
}

Ball twice_density(const Ball& z) {  // 2 phi(z)
  Ball power = (z * z).scaled(-1);
  arb_neg(power.get(), power.get());
  arb_exp(power.get(), power.get(), precision);
  Ball root;
  arb_const_pi(root.get(), precision);
  root = root.scaled(1);
  arb_sqrt(root.get(), root.get(), precision);
  return (power / root).scaled(1);
}

/// z with two_tails(z) = v: Newton from the guess, then proved by the sign of the difference on both sides.
Ball quantile(const Ball& v, double guess) {
  if (arb_is_one(v.get())) return {};
  Ball z = Ball::from_double(guess);
  for (int i = 0; i < 60; ++i) {
    const Ball step = (two_tails(z) - v) / twice_density(z);
    z = z + step;
    mag_zero(arb_radref(z.get()));
    if (arf_cmpabs_2exp_si(arb_midref(step.get()), -260) < 0) break;
  }
  const Ball radius = Ball(1).scaled(-240);
  if (!arb_gt(two_tails(z - radius).get(), v.get()) || !arb_lt(two_tails(z + radius).get(), v.get())) fail("quantile not certified");
  arb_add_error_2exp_si(z.get(), -240);
  return z;
}

using Polynomial = std::vector<Ball>;

/// Coefficients in Chebyshev polynomials of [0,1]: t^k = 2^(1-2k) (binom(2k,k)/2 T_0 + sum_i binom(2k,k-i) T_i).
Polynomial to_chebyshev(const Polynomial& powers) {
  Polynomial result(powers.size());
  for (std::size_t k = 0; k < powers.size(); ++k) {
    for (std::size_t i = 0; i <= k; ++i) {
      fmpz_t binomial;
      fmpz_init(binomial);
      fmpz_bin_uiui(binomial, 2 * k, k - i);
      Ball weight;
      arb_set_fmpz(weight.get(), binomial);
      fmpz_clear(binomial);
      result[i] = result[i] + weight.scaled((i == 0 ? 0 : 1) - 2 * static_cast<slong>(k)) * powers[k];
    }
  }
  return result;
}

/// The first `degree` + 1 Chebyshev terms as powers of t.
Polynomial economise(const Polynomial& chebyshev) {
  std::vector<std::vector<slong>> basis(degree + 1, std::vector<slong>(degree + 1, 0));
  basis[0][0] = 1;
  basis[1] = {-1, 2};
  basis[1].resize(degree + 1);
  for (int k = 2; k <= degree; ++k)
    for (int i = 0; i <= degree; ++i) basis[k][i] = -2 * basis[k - 1][i] - basis[k - 2][i] + (i > 0 ? 4 * basis[k - 1][i - 1] : 0);
  Polynomial result(degree + 1);
  for (int k = 0; k <= degree; ++k)
    for (int i = 0; i <= degree; ++i) result[i] = result[i] + Ball(basis[k][i]) * chebyshev[k];
  return result;
}

struct Row {
  std::vector<std::uint64_t> coefficients;
  double error;  ///< of the polynomial on the whole row, in units of the constant coefficient
  double slope;  ///< bound of its derivative in t, same units
};

std::uint64_t nearest_word(const Ball& value) {
  fmpz_t integer;
  fmpz_init(integer);
  arf_get_fmpz(integer, arb_midref(value.get()), ARF_RND_NEAR);
  if (fmpz_sgn(integer) < 0) fmpz_zero(integer);
  if (fmpz_bits(integer) > 64) fail("a coefficient does not fit a word");
  const std::uint64_t result = fmpz_get_ui(integer);
  fmpz_clear(integer);
  return result;
}

/// Integer coefficients for a power series with the given remainder: c_0 in units of 2^-scale, the others in 2^-(scale + guard).
Row fit(const Polynomial& series, const Ball& remainder, int scale, int guard) {
  const Polynomial wanted = economise(to_chebyshev(series));
  Row row{{}, 0, 0};
  Polynomial difference = series;
  Ball slope, total;
  for (int k = 0; k <= degree; ++k) {
    const int unit = k == 0 ? scale : scale + guard;
    const std::uint64_t word = nearest_word(wanted[k].scaled(unit));
    row.coefficients.push_back(word);
    Ball integer;
    arb_set_ui(integer.get(), word);
    const Ball stored = integer.scaled(-unit);
    difference[k] = difference[k] - stored;
    if (k == 0) continue;
    slope = slope + Ball(k) * stored;
    total = total + integer;
  }
  if (!(total.above() < 0x1p64)) fail("Horner's rule may overflow");
  Ball error = remainder;
  for (const Ball& coefficient : to_chebyshev(difference)) {
    Ball magnitude;
    arb_abs(magnitude.get(), coefficient.get());
    error = error + magnitude;
  }
  row.error = error.scaled(scale).above();
  row.slope = slope.scaled(scale).above();
  if (!(row.slope <= 1.01 * std::ldexp(1.0, scale - row_bits))) fail("a row is steeper than the eight-wide evaluation allows for");
  return row;
}

/// Taylor series of Q about the right end of a row of the given width: (-1)^n Q^(n) = p_n(z) / (2 phi(z))^n, p_(n+1) = p_n' + n z p_n.
Row normal_row(const Ball& width, const Ball& right, const Ball& left, int scale, int guard) {
  const Ball at_right = width / twice_density(right), at_left = width / twice_density(left);
  Polynomial series{right};
  Polynomial p{Ball(1)};
  Ball power_right = 1, power_left = 1, factorial = 1, remainder;
  for (int n = 1; n <= series_order + 1; ++n) {
    const bool last = n == series_order + 1;  // the remainder: the derivative is largest at the left end
    power_right = power_right * at_right;
    power_left = power_left * at_left;
    factorial = factorial * Ball(n);
    Ball value;
    for (auto coefficient = p.rbegin(); coefficient != p.rend(); ++coefficient) value = value * (last ? left : right) + *coefficient;
    const Ball term = value * (last ? power_left : power_right) / factorial;
    if (last) {
      remainder = term;
    } else {
      series.push_back(term);
    }
    Polynomial next(p.size() + 1);
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (i > 0) next[i - 1] = next[i - 1] + Ball(static_cast<slong>(i)) * p[i];
      next[i + 1] = next[i + 1] + Ball(n) * p[i];
    }
    p = next;
  }
  return fit(series, remainder, scale, guard);
}

Row exponential_row(int j, int scale, int guard) {
  const Ball at_right = Ball(1) / Ball(rows + j + 1), at_left = Ball(1) / Ball(rows + j);
  Polynomial series{Ball(2 * rows) / Ball(rows + j + 1)};
  arb_log(series[0].get(), series[0].get(), precision);
  Ball power_right = 1, power_left = at_left;
  for (int n = 1; n <= series_order; ++n) {
    power_right = power_right * at_right;
    power_left = power_left * at_left;
    series.push_back(power_right / Ball(n));
  }
  return fit(series, power_left / Ball(series_order + 1), scale, guard);
}

/// The error of the evaluation: the polynomial, half a 63-bit cell and the last bit of t along the slope, one unit for the final shift and
/// one inner unit for each step of Horner's rule.
double evaluation_error(const Row& row, int octave, int guard) {
  const double cell = std::ldexp(1.0, octave + row_bits + 1 - 64) + 0x1p-64;
  return (row.error + row.slope * cell + 1 + degree * std::ldexp(1.0, -guard)) * (1 + 0x1p-40);
}

void print_row(const Row& row) {
  std::printf("    {{");
  for (const std::uint64_t word : row.coefficients) std::printf("0x%llx, ", static_cast<unsigned long long>(word));
  std::printf("}},\n");
}

void print_errors(const char* name, const std::vector<double>& errors) {
  std::printf("inline constexpr std::array<std::uint64_t, %zu> %s = {\n    ", errors.size(), name);
  for (const double error : errors) std::printf("%lluU, ", static_cast<unsigned long long>(std::ceil(error)));
  std::printf("\n};\n");
}

void print_normal() {
  constexpr int scale = 61, guard = row_bits + 3;
  std::vector<double> errors(normal_octaves, 0);
  std::printf("alignas(64) inline constexpr std::array<TableRow, %d> normal_rows = {{\n", normal_octaves * rows);
  double guess = 0;
  for (int octave = 0; octave < normal_octaves; ++octave) {
    std::vector<Row> found(rows);
    const Ball width = Ball(1).scaled(-(octave + 1) - row_bits);
    for (int j = rows - 1; j >= 0; --j) {  // from large v to small, so that each quantile starts the next
      const Ball right = quantile(width * Ball(rows + j + 1), guess);
      const Ball left = quantile(width * Ball(rows + j), right.middle() + (width / twice_density(right)).middle());
      guess = left.middle();
      found[j] = normal_row(width, right, left, scale, guard);
      errors[octave] = std::max(errors[octave], evaluation_error(found[j], octave, guard));
    }
    for (const Row& row : found) print_row(row);
  }
  std::printf("}};\n");
  print_errors("normal_errors", errors);
}

void print_exponential() {
  constexpr int scale = 63, guard = row_bits;
  std::vector<double> errors(exponential_octaves, 0);
  std::printf("alignas(64) inline constexpr std::array<TableRow, %d> exponential_rows = {{\n", rows);
  for (int j = 0; j < rows; ++j) {
    const Row row = exponential_row(j, scale, guard);
    print_row(row);
    for (int octave = 0; octave < exponential_octaves; ++octave)
      errors[octave] = std::max(errors[octave], evaluation_error(row, octave, guard));
  }
  std::printf("}};\n");
  print_errors("exponential_errors", errors);
}

void print_log_2() {
  Ball value;
  arb_const_log2(value.get(), precision);
  arb_floor(value.get(), value.scaled(128).get(), precision);
  fmpz_t integer;
  fmpz_init(integer);
  if (arb_get_unique_fmpz(integer, value.get()) == 0) fail("log 2 not certified");
  char* digits = fmpz_get_str(nullptr, 16, integer);
  const std::string text(digits);
  std::printf("inline constexpr std::array<std::uint64_t, 2> log_2_words = {0x%s, 0x%s};  // floor(2^128 ln 2), low word first\n",
              text.substr(text.size() - 16).c_str(), text.substr(0, text.size() - 16).c_str());
  flint_free(digits);
  fmpz_clear(integer);
}

}  // namespace

int main() {
  std::printf("// SPDX-License-Identifier: Apache-2.0\n// Written by tools/make_noise_table.cpp; do not edit.\n");
  print_log_2();
  print_exponential();
  print_normal();
  return 0;
}
