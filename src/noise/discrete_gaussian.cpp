// SPDX-License-Identifier: Apache-2.0
#include "noise/discrete_gaussian.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "noise/drawn_sources.h"
#include "noise/secret.h"
#include "numeric/arithmetic.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::noise {
namespace {

constexpr double widest = 0x1p20;  // keeps every quantity below far inside 64 bits

Dyadic checked(Dyadic sigma) {
  if (!(sigma.value() >= smallest_scale && sigma.value() <= widest))
    throw DomainError("release: a discrete Gaussian of sigma = " + std::to_string(sigma.value()) +
                      " steps is not allowed; it must be between 2^-6 and 2^20");
  while (sigma.exponent < 1) {
    sigma.numerator <<= 1;
    ++sigma.exponent;
  }
  return sigma;
}

}  // namespace

DiscreteGaussian::DiscreteGaussian(Dyadic sigma)
    : sigma_(checked(sigma)),
      t_(static_cast<std::uint64_t>(std::floor(sigma.value())) + 1),
      proposal_(Law::discrete_laplace, Dyadic::at_least(static_cast<double>(t_))),
      exponential_(Law::rounded_laplace, Dyadic{1, 0}) {
  const Interval variance = square(Interval::exactly(sigma_.value()));
  centre_ = variance / static_cast<double>(t_);
  twice_variance_ = 2.0 * variance;
}

// [discrete-gaussian-sampler] -ln V exceeds the exponent if and only if V is below exp(-exponent).
std::optional<bool> DiscreteGaussian::keeps_surely(std::int64_t k, std::uint64_t word) const {
  const auto near = near_exponential(exponential_.data(), word);
  if (!near) return std::nullopt;
  const Interval exponent = square(Interval::exactly(std::abs(static_cast<double>(k))) - centre_) / twice_variance_;
  if (near->value - near->error > exponent.hi) return true;
  if (near->value + near->error < exponent.lo) return false;
  return std::nullopt;
}

/// V < exp(-g) with g = (|k| t 4^q - n^2)^2 / (2 n^2 t^2 4^q) for sigma = n 2^-q, tested as V exp(g) < 1.
std::optional<bool> DiscreteGaussian::judge(const LazyUniform& uniform, std::uint64_t magnitude) const {
  const std::size_t precision = uniform.bits() + 64, q = static_cast<std::size_t>(sigma_.exponent);
  const Natural n = sigma_.numerator;
  const Natural a = (Natural(magnitude) * t_) << (2 * q), b = n * n;
  const Natural difference = a > b ? a - b : b - a;
  // The floor of a quotient of a floor is the floor of the whole quotient.
  const Natural below = ((((difference * difference) << precision) / sigma_.numerator / sigma_.numerator / t_ / t_)) >> (2 * q + 1);
  const Enclosure g{below, below + 1, precision};
  if ((g.below >> precision) > Natural(uniform.bits())) return uniform.starts_with_zeros() ? std::nullopt : std::optional(false);
  const Enclosure left = uniform.cell(precision) * exponential(g), one = Enclosure::integer(1, precision);
  if (certainly_less(left, one)) return true;
  if (certainly_less(one, left)) return false;
  return std::nullopt;
}

bool DiscreteGaussian::keeps(std::int64_t k, std::uint64_t word, WordStream& words) const {
  if (const auto sure = keeps_surely(k, word)) return *sure;
  LazyUniform uniform(word >> 1, 63, words);
  const auto magnitude = static_cast<std::uint64_t>(k < 0 ? -k : k);
  return uniform.decide([&](const LazyUniform& known) { return judge(known, magnitude); });
}

void DiscreteGaussian::draw(WordStream& words, std::span<std::int64_t> values) const {
  std::array<std::int64_t, most_words> proposals;
  std::array<std::uint64_t, most_words> decisions;
  while (!values.empty()) {
    const std::size_t count = std::min(values.size(), most_words);
    proposal_.draw(words, std::span(proposals).first(count));
    words.fill(std::span(decisions).first(count));
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
      values[kept] = proposals[i];
      kept += keeps(proposals[i], decisions[i], words) ? 1 : 0;
    }
    values = values.subspan(kept);
  }
  wipe(proposals.data(), sizeof proposals);
  wipe(decisions.data(), sizeof decisions);
}

DrawnLaw DiscreteGaussian::drawn_law() const { return {drawn_discrete_gaussian, sigma_}; }

namespace {

DrawnNoise draw_discrete_gaussian(const NoiseRequest& request) {
  return request.on_integers(std::make_shared<DiscreteGaussian>(request.integer_scale("sigma")));
}

}  // namespace

constexpr DrawnSource drawn_discrete_gaussian{
    .name = "discrete_gaussian", .scale = "sigma", .law = "discrete gaussian", .make = draw_discrete_gaussian};

}  // namespace tradeoff::detail::noise
