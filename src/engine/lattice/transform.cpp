// SPDX-License-Identifier: Apache-2.0
#include "engine/lattice/transform.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "numeric/arithmetic.h"
#include "numeric/fft.h"

namespace tradeoff::detail::lattice {
namespace {

using numeric::Complex;
using numeric::Fft;

// Covers every underflow, a hundred binary orders above the smallest normal double, and everything below the cut of tilted masses.
constexpr double underflow = 1e-280;
constexpr double negligible_mass = 1e-40;
// Tilted masses are scaled to a sum near 1. Closer to the ends of the range of doubles than this, their rounding would not be relative.
constexpr double least_sum = 1e-200;
// Sums of at most 2^23 non-negative terms in plain order lose less than this factor.
constexpr double sum_slack = 1 + 0x1p-29;

const Law& law_of(const Factor& factor, Side side) { return side == Side::above ? factor.pair.above : factor.pair.below; }

/// x to a whole power; each product has one rounding, so the result has times - 1 of them (each that of `*`).
template <typename Number>
Number whole_power(Number x, double times) {
  auto exponent = static_cast<std::uint64_t>(times);
  Number result = x;
  --exponent;
  for (; exponent != 0; exponent /= 2) {
    if (exponent % 2 == 1) result = result * x;
    x = x * x;
  }
  return result;
}

/// The tilted masses of one distribution, with a sum of about 1, added into the real or imaginary parts of a cyclic array.
struct Tilted {
  Interval log_moment;   // the logarithm of the factor that was divided out
  double norm = 0;       // Euclidean, of the folded masses
  double log_error = 0;  // relative error of every mass that is not negligible
  bool known = true;     // false if the masses left the range of doubles: then nothing follows from them
};

Tilted tilt_into(std::vector<Complex>& cyclic, const Law& law, Side side, double step, double tilt, double log_scale, std::int64_t centre) {
  const auto exponent = [&](std::size_t i) { return tilt * (step * static_cast<double>(law.index[i])); };
  std::vector<double> mass(law.mass.size());
  double sum = 0;
  for (std::size_t i = 0; i < mass.size(); ++i) sum += mass[i] = law.mass[i] * std::exp(exponent(i) - log_scale);
  if (mass.empty()) return {{-infinity, -infinity}};
  if (!(sum > least_sum && sum < 1 / least_sum)) return {Interval::whole(), 0, 0, false};
  const auto n = static_cast<std::int64_t>(cyclic.size());
  const double folds = 1 + static_cast<double>(law.index.back() - law.index.front()) / static_cast<double>(n);
  double largest_exponent = 0;
  for (std::size_t i = 0; i < mass.size(); ++i) {
    const double share = mass[i] / sum;
    if (share > negligible_mass) largest_exponent = std::max(largest_exponent, std::abs(exponent(i)));
    const std::int64_t shifted = (law.index[i] - centre) % n;
    Complex& entry = cyclic[static_cast<std::size_t>(shifted < 0 ? shifted + n : shifted)];
    (side == Side::above ? entry.re : entry.im) += share;
  }
  Tilted tilted;
  tilted.log_moment = Interval::exactly(log_scale) + log(Interval::exactly(sum));
  for (const Complex& entry : cyclic) tilted.norm += side == Side::above ? entry.re * entry.re : entry.im * entry.im;
  tilted.norm = std::sqrt(tilted.norm) * sum_slack;
  // exponent: 3 roundings of its own and 1 of the difference; exp 4, two products, a quotient, the folding.
  tilted.log_error = unit_roundoff * (10 + folds + 4 * (largest_exponent + std::abs(log_scale)));
  return tilted;
}

/// The product over all factors of their transforms to their powers, at one coefficient, and a bound of its error.
struct Coefficient {
  Complex product{1, 0};
  double bound = 1;   // product of (modulus + error)^times
  double weight = 0;  // sum of times / (modulus + error)^2
};

/// The state of one side before the inverse transform: a coefficient for each pair of opposite positions, and sums over the factors.
struct Spectrum {
  explicit Spectrum(std::size_t size) : coefficients(size / 2 + 1) {}

  std::vector<Coefficient> coefficients;
  Interval log_scale = Interval::exactly(0);
  double log_input_error = 0;
  double weighted_error = 0;  // sum of times * error^2
  double roundings = 0;       // of any `bound`, relative
  bool known = true;

  /// Slots 0 and 1 are the positions 0 and 1; slot 2^(b-1) + 1 + t is the position 2^b + t, t < 2^(b-1).
  [[nodiscard]] static std::size_t place(std::size_t slot) {
    if (slot < 2) return slot;
    const std::size_t half = std::bit_floor(slot - 1);
    return 2 * half + (slot - 1 - half);
  }
  [[nodiscard]] static double multiplicity(std::size_t slot) { return slot < 2 ? 1 : 2; }

  void multiply(std::size_t slot, Complex z, double times, double error) {
    Coefficient& coefficient = coefficients[slot];
    const double modulus = std::sqrt(z.re * z.re + z.im * z.im) * (1 + 4 * unit_roundoff) + error;
    coefficient.product = coefficient.product * whole_power(z, times);
    coefficient.bound *= whole_power(modulus, times);
    coefficient.weight += times / (modulus * modulus);
  }

  void count(const Tilted& tilted, double times, double error) {
    known = known && tilted.known;
    if (!known) return;
    log_scale = log_scale + Interval::exactly(times) * tilted.log_moment;
    log_input_error += times * tilted.log_error * (1 + 1e-9);
    weighted_error += times * error * error * (1 + 1e-9);
    roundings += 8 * unit_roundoff * times;
  }
};

using Spectra = std::array<Spectrum, 2>;  // above, below

/// Tilts both distributions of a factor, transforms them as one complex array, and multiplies their powers into the spectra.
void multiply_in(Spectra& spectra, const Factor& factor, const Moment& moment, double step, double tilt, std::int64_t centre,
                 const Fft& fft) {
  std::vector<Complex> cyclic(fft.size());
  const Tilted above = tilt_into(cyclic, factor.pair.above, Side::above, step, tilt, moment.log, centre);
  const Tilted below = tilt_into(cyclic, factor.pair.below, Side::below, step, tilt, moment.log, centre);
  fft.forward(cyclic.data());
  // One more rounding in the split, sqrt(5) u for every product of a power and of the running product, counted as an error of the base.
  const double norm = std::hypot(above.norm, below.norm) * std::sqrt(static_cast<double>(fft.size()));
  const double error = (fft.relative_error() + 6 * unit_roundoff) * norm * (1 + 1e-9) + underflow + negligible_mass * 0x1p23;
  for (std::size_t slot = 0; slot < spectra[0].coefficients.size(); ++slot) {
    const std::size_t place = Spectrum::place(slot);
    const Complex here = cyclic[place], there = conjugate(cyclic[Fft::opposite(place)]);
    const Complex sum = here + there, difference = here - there;
    spectra[0].multiply(slot, {sum.re / 2, sum.im / 2}, factor.times, error);
    spectra[1].multiply(slot, {difference.im / 2, -difference.re / 2}, factor.times, error);
  }
  spectra[0].count(above, factor.times, error);
  spectra[1].count(below, factor.times, error);
}

/// The inverse transform of above + i below, still multiplied by the length, and the Euclidean norm of its input.
struct Packed {
  std::vector<Complex> law;
  double norm = 0;
};

Packed invert(const Spectra& spectra, const Fft& fft) {
  Packed packed{std::vector<Complex>(fft.size())};
  double square = 0;
  for (std::size_t slot = 0; slot < spectra[0].coefficients.size(); ++slot) {
    const Complex a = spectra[0].coefficients[slot].product, b = spectra[1].coefficients[slot].product;
    const std::size_t place = Spectrum::place(slot);
    packed.law[place] = {a.re - b.im, a.im + b.re};                  // a + i b
    packed.law[Fft::opposite(place)] = {a.re + b.im, -a.im + b.re};  // conj(a) + i conj(b)
    square += Spectrum::multiplicity(slot) * (a.re * a.re + a.im * a.im + b.re * b.re + b.im * b.im);
  }
  packed.norm = std::sqrt(square) * sum_slack;
  fft.inverse(packed.law.data());
  return packed;
}

/// An upper bound of sum of times * log sum_j mass_j exp(s j step).
double log_moment_above(std::span<const Factor> factors, Side side, const Outline& outline, double step, double s) {
  Interval total = Interval::exactly(0);
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const Law& law = law_of(factors[f], side);
    const double shift = outline.moment_of(f, s).log;
    double sum = 0, largest_exponent = std::abs(shift);
    for (std::size_t i = 0; i < law.mass.size(); ++i) {
      const double exponent = s * (step * static_cast<double>(law.index[i]));
      largest_exponent = std::max(largest_exponent, std::abs(exponent));
      sum += law.mass[i] * std::exp(exponent - shift);
    }
    const double inflated = sum * sum_slack * (1 + unit_roundoff * (16 + 8 * largest_exponent)) + underflow;
    total = total + Interval::exactly(factors[f].times) * (Interval::exactly(shift) + log(Interval::exactly(inflated)));
  }
  return total.hi;
}

/// Total masses and the largest finite loss of the sum.
void set_masses(Composed& composed, std::span<const Factor> factors, Side side) {
  Interval log_total = Interval::exactly(0), log_finite_share = Interval::exactly(0);
  composed.finite_total = composed.infinite_total = Interval::exactly(0);
  for (const Factor& factor : factors) {
    const Law& law = law_of(factor, side);
    const Interval times = Interval::exactly(factor.times), infinite = Interval::exactly(law.infinite);
    const Interval total = law.finite_total + infinite;
    if (!(total.lo > 0)) return;  // an empty distribution: nothing is known of the sum, all totals stay 0
    log_total = log_total + times * log(total);
    log_finite_share = log_finite_share + times * log1p(-(infinite / total));
    if (!law.index.empty()) composed.top += static_cast<std::int64_t>(factor.times) * law.index.back();
  }
  composed.finite_total = exp(log_total + log_finite_share);
  composed.infinite_total = exp(log_total) * max(-expm1(log_finite_share), Interval::exactly(0));
}

/// Error terms of one side from its spectrum; [tilted-fft] has the derivation.
void set_errors(Composed& composed, const Spectrum& spectrum, double inverse_error, double packed_norm) {
  double square_sum = 0;
  for (std::size_t slot = 0; slot < spectrum.coefficients.size(); ++slot) {
    const Coefficient& coefficient = spectrum.coefficients[slot];
    square_sum += Spectrum::multiplicity(slot) * coefficient.bound * coefficient.bound * coefficient.weight;
  }
  const auto size = static_cast<double>(composed.law.size());
  composed.entry_error = std::sqrt(spectrum.weighted_error * square_sum) / size * sum_slack * std::exp(spectrum.roundings) + underflow;
  composed.norm_error = inverse_error * packed_norm / std::sqrt(size) * sum_slack + underflow;
  composed.log_input_error = spectrum.log_input_error;
  composed.log_scale = spectrum.log_scale;
  composed.known = spectrum.known;
}

/// The cell around which a distribution is placed, so that it wraps as little as possible. Any cell is valid. A mean out of range (then the
/// masses are too, and the result is unknown) must not overflow the sum of all centres.
std::int64_t centre_cell(double mean_cells, double times) {
  constexpr double far = 0x1p60;
  return std::abs(mean_cells) * times < far ? std::llround(mean_cells) : 0;
}

}  // namespace

ComposedPair compose_tilted(std::span<const Factor> factors, double step, const Outline& outline, const Tilt& tilt, unsigned log2_size) {
  const Fft fft(log2_size);
  Spectra spectra{Spectrum(fft.size()), Spectrum(fft.size())};
  std::int64_t origin = 0;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const Moment moment = outline.moment_of(f, tilt.value);
    const std::int64_t centre = centre_cell(moment.mean / step, factors[f].times);
    origin += static_cast<std::int64_t>(factors[f].times) * centre;
    multiply_in(spectra, factors[f], moment, step, tilt.value, centre, fft);
  }
  const Packed packed = invert(spectra, fft);
  ComposedPair result;
  for (const Side side : {Side::above, Side::below}) {
    const bool is_above = side == Side::above;
    Composed& composed = is_above ? result.above : result.below;
    composed.tilt = tilt.value;
    composed.step = step;
    composed.origin = origin;
    composed.law.reserve(fft.size());
    for (const Complex& entry : packed.law) composed.law.push_back((is_above ? entry.re : entry.im) / static_cast<double>(fft.size()));
    // Packing rounds once: less than one unit, counted as two.
    set_errors(composed, spectra[is_above ? 0 : 1], fft.relative_error() + 2 * unit_roundoff, packed.norm);
    set_masses(composed, factors, side);
    composed.left = {tilt.left, log_moment_above(factors, side, outline, step, tilt.left)};
    composed.right = {tilt.right, log_moment_above(factors, side, outline, step, tilt.right)};
  }
  return result;
}

namespace {

/// The kernel e^{-tilt x} (1 - e^{-x}) of delta for x > 0, or for a tilt in (-1, 0) e^{-tilt x} min(1, e^{-x}), summed over one residue
/// class of the period: two exponentials in the x of the class that lies in (0, period].
struct Exponential {
  double rate;
  double log_factor;
  double factor;
};

std::array<Exponential, 2> folded_kernel(double tilt, double period) {
  const double outer = -1 / std::expm1(-(tilt + 1) * period);
  if (tilt > 0) return {{{tilt, 0, -1 / std::expm1(-tilt * period)}, {tilt + 1, 0, -outer}}};
  return {{{tilt + 1, 0, outer}, {tilt, tilt * period, -1 / std::expm1(tilt * period)}}};
}

struct Sum {
  double value = 0;
  double error = 0;
};

/// The sum over the period of distribution * kernel, with x from `start` in steps; blocks of 64 share their exponentials.
Sum kernel_sum(const Composed& composed, double start, std::int64_t start_index) {
  constexpr std::size_t block = 64;
  const auto n = static_cast<std::int64_t>(composed.law.size());
  const auto kernel = folded_kernel(composed.tilt, composed.period());
  std::array<std::array<double, block>, 2> decay{};
  for (std::size_t i = 0; i < block; ++i) {
    for (std::size_t e = 0; e < 2; ++e) decay[e][i] = std::exp(-kernel[e].rate * (composed.step * static_cast<double>(i)));
  }
  double value = 0, blocks = 0, magnitude = 0, total = 0, parts = 0, square = 0;
  for (std::int64_t from = 0; from < n; from += static_cast<std::int64_t>(block)) {
    const double x = start + composed.step * static_cast<double>(from);
    const double first = kernel[0].factor * std::exp(kernel[0].log_factor - kernel[0].rate * x);
    const double second = kernel[1].factor * std::exp(kernel[1].log_factor - kernel[1].rate * x);
    double block_value = 0, block_magnitude = 0;
    const auto count = static_cast<std::size_t>(std::min<std::int64_t>(static_cast<std::int64_t>(block), n - from));
    for (std::size_t i = 0; i < count; ++i) {
      const double one = first * decay[0][i], two = second * decay[1][i];
      const double weight = one + two;
      const double mass = composed.law[static_cast<std::size_t>((start_index + from + static_cast<std::int64_t>(i)) & (n - 1))];
      block_value += mass * weight;
      block_magnitude += std::abs(mass) * (std::abs(one) + std::abs(two));
      total += std::abs(weight);
      parts += std::abs(one) + std::abs(two);
      square += weight * weight;
    }
    // Each exponential: 4 u, 4 for the table, 12 for the factor, products, and its argument (at most 745 before it is 0) with 3 roundings.
    const double farthest = composed.tilt > 0 ? x + composed.step * static_cast<double>(block) : composed.period();
    const double arguments = std::min(745.0, (1 + std::abs(composed.tilt)) * farthest);
    magnitude += block_magnitude * (100 + 8 * arguments);
    value += block_value;
    blocks += std::abs(block_value);
  }
  const double rounding = unit_roundoff * (magnitude + blocks * (std::floor(static_cast<double>(n) / 64) + 1)) * sum_slack + underflow;
  // The weights themselves are accurate to (100 + 8 * 745) u of |one| + |two|, less than 1e-12 of it.
  const double doubt = 1e-12 * parts;
  const double transform = (composed.entry_error * (total + doubt) + composed.norm_error * (std::sqrt(square) + doubt)) * sum_slack;
  return {value, (rounding + transform) * (1 + 1e-9)};
}

/// log of an upper bound of sum over k >= 1 of exp(log_moment - s epsilon - k |s - tilt| period): the copies on one side.
double log_alias(const Composed& composed, const Composed::Chernoff& chernoff, double epsilon) {
  const double decay = std::abs(chernoff.s - composed.tilt) * composed.period() * (1 - 1e-12);
  const Interval exponent = Interval::exactly(chernoff.log_moment) - Interval::exactly(chernoff.s) * Interval::exactly(epsilon);
  if (!(decay > 0)) return infinity;
  return (exponent - decay - log1mexp(Interval::exactly(-decay))).hi;
}

}  // namespace

Reading read(const Composed& composed, double epsilon) {
  if (!composed.known) return {Interval::whole(), infinity, infinity};
  double index = std::floor(epsilon / composed.step) + 1;
  while (std::fma(index - 1, composed.step, -epsilon) > 0) --index;  // the first lattice point above epsilon, computed without rounding
  while (std::fma(index, composed.step, -epsilon) <= 0) ++index;
  if (index > static_cast<double>(composed.top) || composed.finite_total.hi <= 0) return {{-infinity, -infinity}};
  const double start = std::fma(index, composed.step, -epsilon);
  const auto n = static_cast<std::int64_t>(composed.law.size());
  const Sum sum = kernel_sum(composed, start, ((static_cast<std::int64_t>(index) - composed.origin) % n + n) % n);
  const Interval log_unit = composed.log_scale - Interval::exactly(composed.tilt) * Interval::exactly(epsilon);
  double alias = (exp(Interval::exactly(log_alias(composed, composed.left, epsilon)) - log_unit) +
                  exp(Interval::exactly(log_alias(composed, composed.right, epsilon)) - log_unit))
                     .hi;
  if (!(alias >= 0)) alias = infinity;
  const Interval input = exp(Interval{-composed.log_input_error, composed.log_input_error});
  Interval folded{0, infinity};  // used if the transforms overflowed
  if (sum.value + sum.error < infinity) {
    folded = Interval{std::max(0.0, sum.value - sum.error), std::max(0.0, sum.value + sum.error)} * input;
  }
  // The copies only add: the sum includes them, the exact value does not.
  const Interval scaled{std::max(0.0, (Interval::exactly(folded.lo) - alias).lo), folded.hi};
  const double unit = std::max(sum.value, underflow);
  const double rounding = (folded.hi - folded.lo) / unit, copies = alias / unit;
  if (composed.tilt > 0) return {log_unit + log(scaled), rounding, copies};
  // The wanted kernel is 1 - min(1, e^{-x}).
  const Interval complement = exp(log_unit + log(scaled)), finite = max(composed.finite_total - complement, Interval::exactly(0));
  const double share = complement.hi / std::max(finite.hi, underflow);
  return {log(finite), rounding * share, copies * share};
}

}  // namespace tradeoff::detail::lattice
