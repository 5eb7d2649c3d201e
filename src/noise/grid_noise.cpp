// SPDX-License-Identifier: Apache-2.0
#include "noise/grid_noise.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>

#include "noise/drawn_sources.h"
#include "noise/noise_table.h"
#include "noise/secret.h"
#include "numeric/arithmetic.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::noise {
namespace {

constexpr std::size_t series_guard_bits = 64;  // more than the roundings of the series cost

/// The verdict for a tail probability of at most 2^-exponent with exponent > bits(): it is below every number that has a one among its
/// bits. This avoids long series.
bool is_far(const LazyUniform& uniform, const Natural& exponent) { return exponent > Natural(uniform.bits()); }
std::optional<bool> judge_far(const LazyUniform& uniform) { return uniform.starts_with_zeros() ? std::nullopt : std::optional(false); }

/// V < erfc(z / sqrt 2), tested as (1 - V)^2 pi exp(z^2) > 2 series(z)^2: no quotient, no root, no cancellation. [slow-decision]
std::optional<bool> below_normal_tail(const LazyUniform& uniform, const Enclosure& z) {
  const Enclosure square = z * z;
  const Natural exponent = square.below >> (z.precision + 1);  // the tail is at most exp(-z^2/2) <= 2^-(z^2/2)
  if (is_far(uniform, exponent)) return judge_far(uniform);
  const Enclosure rest = complement(uniform.cell(z.precision)), series = normal_series(z);
  const Enclosure left = rest * rest * pi(z.precision) * exponential(square), right = series * series * 2;
  if (certainly_less(right, left)) return true;
  if (certainly_less(left, right)) return false;
  return std::nullopt;
}

/// V < 2 a^m / (1 + a) with a = exp(-y), tested as V (exp(y) + 1) exp(m y) < 2 exp(y). [slow-decision]
std::optional<bool> below_discrete_tail(const LazyUniform& uniform, const Enclosure& y, std::uint64_t m) {
  const Enclosure power = y * m;
  const Natural doubled = power.below >> power.precision;  // the tail is at most 2 exp(-m y) <= 2^(1 - m y)
  if (doubled > Natural(1) && is_far(uniform, doubled - 1)) return judge_far(uniform);
  const Enclosure at_one = exponential(y), one = Enclosure::integer(1, y.precision);
  const Enclosure left = uniform.cell(y.precision) * (at_one + one) * exponential(power), right = at_one * 2;
  if (certainly_less(left, right)) return true;
  if (certainly_less(right, left)) return false;
  return std::nullopt;
}

/// Floor of 2^64 scale ln(2 / (1 + exp(-1/scale))), by bisection with exact comparisons: c is below it if and only if exp(c/scale)
/// (exp(1/scale) + 1) < 2 exp(1/scale).
std::uint64_t discrete_offset(Dyadic scale) {
  constexpr std::size_t precision = 64 + 128;
  const auto inverse_times = [&](const Natural& value) {  // value / scale
    return Enclosure::quotient(value << static_cast<std::size_t>(scale.exponent), scale.numerator, precision);
  };
  const Enclosure at_one = exponential(inverse_times(1));
  const Enclosure left_factor = at_one + Enclosure::integer(1, precision), right = at_one * 2;
  std::uint64_t below = 0;
  for (std::uint64_t bit = 1ULL << 63; bit != 0; bit >>= 1) {
    Enclosure power = inverse_times(below | bit);  // then divided by 2^64
    power = {power.below >> 64, (power.above >> 64) + 1, precision};
    if (certainly_less(exponential(power) * left_factor, right)) below |= bit;
  }
  return below;
}

}  // namespace

// [slow-decision] Tested as V exp(z) < 1.
std::optional<bool> below_exponential_tail(const LazyUniform& uniform, const Enclosure& z) {
  const Natural exponent = z.below >> z.precision;
  if (is_far(uniform, exponent)) return judge_far(uniform);
  const Enclosure left = uniform.cell(z.precision) * exponential(z), one = Enclosure::integer(1, z.precision);
  if (certainly_less(left, one)) return true;
  if (certainly_less(one, left)) return false;
  return std::nullopt;
}

GridNoise::GridNoise(Law law, Dyadic scale) : law_(law), scale_(scale) {
  const double value = scale.value();
  if (!(value >= smallest_scale && value <= largest_scale))
    throw DomainError("release: a noise scale of " + std::to_string(value) +
                      " grid steps is not allowed; it must be between 2^-6 and 2^45; "
                      "choose another grid");
  while (scale_.exponent < 4) {  // so that the shifts below are not negative
    scale_.numerator <<= 1;
    ++scale_.exponent;
  }
  prepare_scalar();
  prepare_eight_wide();
}

void GridNoise::prepare_scalar() {
  const bool normal = law_ == Law::rounded_gaussian;
  data_.quantile = normal ? Quantile::normal : Quantile::exponential;
  data_.numerator = scale_.numerator;
  data_.shift = scale_.exponent - (64 - (normal ? NormalTable::scale : ExponentialTable::scale));
  const Wide offset = law_ == Law::discrete_laplace ? Wide{discrete_offset(scale_)} : Wide{1} << 63;
  const Natural log_2(table::log_2_words[0], table::log_2_words[1]);
  const auto known = static_cast<std::size_t>(normal ? NormalTable::octaves : ExponentialTable::octaves);
  for (std::size_t octave = 0; octave < 64; ++octave) {
    data_.offsets[octave] = offset;
    if (!normal) {  // -ln V = octave * ln 2 + ln(2/m)
      const Natural part = (log_2 * scale_.numerator * octave) >> (64 + static_cast<std::size_t>(scale_.exponent));
      data_.offsets[octave] += (static_cast<Wide>((part >> 64).low_word()) << 64) | part.low_word();
    }
    if (octave >= known) continue;
    const std::uint64_t units = normal ? table::normal_errors[octave] : table::exponential_errors[octave];
    // One unit each for the floors of this product and of the scaled value, two for the offset, two in reserve. [integer-inversion]
    const Wide error = ((static_cast<Wide>(units) * scale_.numerator) >> data_.shift) + 6;
    if (error >= Wide{1} << 62) continue;
    data_.errors[octave] = static_cast<std::uint64_t>(error);
    data_.limits[octave] = ~0ULL - 2 * data_.errors[octave];
  }
}

void GridNoise::prepare_eight_wide() {
  const int up = std::countl_zero(scale_.numerator) - 12;  // shifts to exactly 52 bits
  data_.numerator_52 = up >= 0 ? scale_.numerator << up : scale_.numerator >> -up;
  const int exponent = scale_.exponent + up;
  data_.fraction_bits = exponent + (data_.quantile == Quantile::normal ? 7 : 3);
  data_.eight_wide = data_.fraction_bits >= 2 && data_.fraction_bits <= 60;
  if (!data_.eight_wide) return;
  for (std::size_t octave = 0; octave < 64; ++octave)
    data_.offsets_64[octave] = static_cast<std::uint64_t>(data_.offsets[octave] >> (64 - data_.fraction_bits));
}

std::optional<bool> GridNoise::judge(const LazyUniform& uniform, std::uint64_t m) const {
  const std::size_t precision = uniform.bits() + series_guard_bits;
  const auto exponent = static_cast<std::size_t>(scale_.exponent);
  if (law_ == Law::discrete_laplace)
    return below_discrete_tail(uniform, Enclosure::quotient(Natural(1) << exponent, scale_.numerator, precision), m);
  // (m - 1/2) / scale
  const Enclosure z = Enclosure::quotient(Natural(2 * m - 1) << (exponent - 1), scale_.numerator, precision);
  return law_ == Law::rounded_gaussian ? below_normal_tail(uniform, z) : below_exponential_tail(uniform, z);
}

bool GridNoise::reaches(LazyUniform& uniform, std::uint64_t m) const {
  return uniform.decide([&](const LazyUniform& known) { return judge(known, m); });
}

std::int64_t GridNoise::magnitude(LazyUniform& uniform, std::int64_t guess) const {
  // Doubles the distance from the guess until the answer is bracketed, then bisects. The verdicts are consistent: they concern the same
  // number.
  std::uint64_t low = 0, high = static_cast<std::uint64_t>(guess < 0 ? -guess : guess) + 1, step = 1;
  if (high > 1 && !reaches(uniform, high - 1)) {
    --high;
    while (high > step && !reaches(uniform, high - step)) {
      high -= step;
      step *= 2;
    }
    low = high > step ? high - step : 0;
  } else {
    low = high - 1;
    while (reaches(uniform, high)) {
      low = high;
      high += step;
      step *= 2;
    }
  }
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (reaches(uniform, middle) ? low : high) = middle;
  }
  return static_cast<std::int64_t>(low);
}

std::int64_t GridNoise::decide_slowly(std::uint64_t word, std::int64_t guess, WordStream& words) const {
  LazyUniform uniform(word >> 1, 63, words);
  const std::int64_t found = magnitude(uniform, guess);
  return (word & 1) != 0 ? -found : found;
}

void GridNoise::draw(WordStream& words, std::span<std::int64_t> values, Level level) const {
  const Kernel kernel = level == Level::avx512 && data_.eight_wide ? eight_wide_kernel(data_.quantile) : kernel_for(data_.quantile, level);
  std::array<std::uint64_t, most_words> drawn;
  std::array<std::uint16_t, most_words + 1> undecided;
  while (!values.empty()) {
    const std::size_t count = std::min(values.size(), most_words);
    words.fill(std::span(drawn).first(count));
    const std::size_t left = kernel(data_, drawn.data(), count, values.data(), undecided.data());
    for (std::size_t i = 0; i < left; ++i) {
      const std::size_t at = undecided[i];
      values[at] = decide_slowly(drawn[at], values[at], words);
    }
    values = values.subspan(count);
  }
  wipe(drawn.data(), sizeof drawn);
}

DrawnLaw GridNoise::drawn_law() const {
  switch (law_) {
    case Law::rounded_gaussian:
      return {drawn_gaussian, scale_};
    case Law::rounded_laplace:
      return {drawn_laplace, scale_};
    case Law::discrete_laplace:
      break;
  }
  return {drawn_discrete_laplace, scale_};
}

namespace {

DrawnNoise draw_gaussian(const NoiseRequest& request) {
  const Interval width = sqrt(Interval::exactly(static_cast<double>(request.terms().columns)));
  return request.on_reals("sigma", std::make_shared<GridNoise>(Law::rounded_gaussian, request.real_scale("sigma")), width);
}

DrawnNoise draw_laplace(const NoiseRequest& request) {
  const Interval width = Interval::exactly(static_cast<double>(request.terms().columns));
  return request.on_reals("scale", std::make_shared<GridNoise>(Law::rounded_laplace, request.real_scale("scale")), width);
}

DrawnNoise draw_discrete_laplace(const NoiseRequest& request) {
  return request.on_integers(std::make_shared<GridNoise>(Law::discrete_laplace, request.integer_scale("scale")));
}

}  // namespace

constexpr DrawnSource drawn_gaussian{.name = "gaussian", .scale = "sigma", .law = "rounded gaussian", .make = draw_gaussian};
constexpr DrawnSource drawn_laplace{.name = "laplace", .scale = "scale", .law = "rounded laplace", .make = draw_laplace};
constexpr DrawnSource drawn_discrete_laplace{
    .name = "discrete_laplace", .scale = "scale", .law = "discrete laplace", .make = draw_discrete_laplace};

}  // namespace tradeoff::detail::noise
