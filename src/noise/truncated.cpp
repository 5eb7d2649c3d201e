// SPDX-License-Identifier: Apache-2.0
#include "noise/truncated.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>

#include "noise/coin.h"
#include "noise/drawn_sources.h"
#include "noise/secret.h"
#include "numeric/arithmetic.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::noise {

Truncated::Truncated(const GridNoise& whole, std::uint64_t bound)
    : whole_(whole), bound_(bound), rounded_(whole.law() == Law::rounded_laplace), exponential_(Law::rounded_laplace, Dyadic{1, 0}) {}

bool Truncated::keeps(std::uint64_t count, WordStream& words) const {
  const std::uint64_t word = words.next();
  const Interval exponent = Interval::exactly(static_cast<double>(count)) / ((rounded_ ? 2 : 1) * whole_.scale().value());
  if (const auto near = near_exponential(exponential_.data(), word)) {
    if (near->value - near->error > exponent.hi) return true;
    if (near->value + near->error < exponent.lo) return false;
  }
  LazyUniform uniform(word >> 1, 63, words);
  const auto shift = static_cast<std::size_t>(whole_.scale().exponent) - (rounded_ ? 1 : 0);
  return uniform.decide([&](const LazyUniform& known) {
    return below_exponential_tail(known, Enclosure::quotient(Natural(count) << shift, whole_.scale().numerator, known.bits() + 64));
  });
}

// [laplace-samplers] For discrete noise the weight of k is exp(-|k| / scale). Rounded noise uses half cells: the j-th from 0 has the weight
// exp(-j / (2 scale)) and rounds to the magnitude (j + 1) / 2.
std::int64_t Truncated::draw_narrow(WordStream& words) const {
  for (;;) {
    const auto j = static_cast<std::int64_t>(uniform_below(2 * bound_ + 1, words)), centre = static_cast<std::int64_t>(bound_);
    const std::int64_t point = j - centre;
    const bool negative = rounded_ && (words.next() & 1) != 0;
    if (!keeps(static_cast<std::uint64_t>(rounded_ ? j : std::abs(point)), words)) continue;
    if (!rounded_) return point;
    return negative ? -((j + 1) / 2) : (j + 1) / 2;
  }
}

void Truncated::draw(WordStream& source, std::span<std::int64_t> values) const {
  if (static_cast<double>(bound_) >= whole_.scale().value()) return draw_wide(source, values);
  BufferedStream words(source);
  for (std::int64_t& value : values) value = draw_narrow(words);
}

void Truncated::draw_wide(WordStream& words, std::span<std::int64_t> values) const {
  std::array<std::int64_t, most_words> drawn;
  while (!values.empty()) {
    const std::size_t count = std::min(values.size(), most_words);
    whole_.draw(words, std::span(drawn).first(count));
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
      values[kept] = drawn[i];
      kept += static_cast<std::uint64_t>(drawn[i] < 0 ? -drawn[i] : drawn[i]) <= bound_ ? 1 : 0;
    }
    values = values.subspan(kept);
  }
  wipe(drawn.data(), sizeof drawn);
}

// [truncation-bound] delta >= a^(bound + 1 - shift) (1 - a^shift) / (1 + a - 2 a^(bound + 1)), a = exp(-1/scale).
std::uint64_t least_truncation_bound(Interval scale, std::uint64_t shift, Interval delta) {
  const auto excess = [&](std::uint64_t bound) {  // an upper bound of the mass at infinite loss
    const Interval inverse = 1.0 / scale;
    const auto power = [&](std::uint64_t n) { return exp(-(inverse * static_cast<double>(n))); };
    const auto rest = [&](std::uint64_t n) { return -expm1(-(inverse * static_cast<double>(n))); };
    return (power(bound + 1 - shift) * rest(shift) / (rest(bound + 1) + power(1) * rest(bound))).hi;
  };
  constexpr std::uint64_t most = 1'000'000'000'000;  // the limit of the plan language
  std::uint64_t low = shift, high = shift;           // invariant: every bound below `low` is too small
  if (!(delta.lo > 0 && shift >= 1 && shift < most)) throw DomainError("truncation: delta must be above 0 and the sensitivity at least 1");
  while (!(excess(high) <= delta.lo)) {
    low = high + 1;
    high = 2 * high;
    if (high > most) throw TooLargeError("truncation: no bound up to " + std::to_string(most) + " meets delta");
  }
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (excess(middle) <= delta.lo) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return high;
}

// [grid-release] The continuous distribution, truncated half a step beyond the last point, and rounded.
DrawnLaw Truncated::drawn_law() const {
  return {rounded_ ? drawn_truncated_laplace : drawn_truncated_discrete_laplace, whole_.scale(), bound_,
          static_cast<double>(bound_) + (rounded_ ? 0.5 : 0)};
}

namespace {

DrawnNoise draw_truncated_laplace(const NoiseRequest& request) {
  request.require_one_column();
  const Arguments& arguments = request.arguments();
  const double steps = std::ceil((arguments.positive("bound") / step_of(request.grid("scale"))).hi);
  if (!(steps < 0x1p50)) arguments.refuse("bound", arguments.written("bound").text, "below 2^50 steps of the grid");
  const GridNoise whole(Law::rounded_laplace, request.real_scale("scale"));
  return request.on_reals("scale", std::make_shared<Truncated>(whole, static_cast<std::uint64_t>(steps)), Interval::exactly(1));
}

DrawnNoise draw_truncated_discrete_laplace(const NoiseRequest& request) {
  request.require_one_column();
  const std::uint64_t bound = request.arguments().count("bound", 1, most_times);
  return request.on_integers(std::make_shared<Truncated>(GridNoise(Law::discrete_laplace, request.integer_scale("scale")), bound));
}

}  // namespace

constexpr DrawnSource drawn_truncated_laplace{
    .name = "truncated_laplace", .scale = "scale", .law = "rounded truncated laplace", .make = draw_truncated_laplace};
constexpr DrawnSource drawn_truncated_discrete_laplace{
    .name = "truncated_discrete_laplace", .scale = "scale", .law = "truncated discrete laplace", .make = draw_truncated_discrete_laplace};

}  // namespace tradeoff::detail::noise
