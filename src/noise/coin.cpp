// SPDX-License-Identifier: Apache-2.0
#include "noise/coin.h"

#include <algorithm>
#include <memory>

#include "noise/drawn_sources.h"
#include "numeric/arithmetic.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::noise {
namespace {

constexpr std::size_t coin_guard_bits = 64;

}  // namespace

// [exact-choices] The probability p is compared with a uniform number V without computing p: V d < n for a fraction, and V (exp(epsilon) +
// others) < exp(epsilon) for the logistic p = 1 / (1 + others exp(-epsilon)).
std::optional<bool> Coin::judge(const Enclosure& uniform) const {
  const std::size_t precision = uniform.precision;
  Enclosure left = uniform * denominator_, right = Enclosure::integer(numerator_, precision);
  if (kind_ == Kind::logistic) {
    const auto down = static_cast<std::size_t>(std::max(epsilon_.exponent, 0)),
               up = static_cast<std::size_t>(std::max(-epsilon_.exponent, 0));
    const Natural scaled = (Natural(epsilon_.numerator) << (precision + up)) >> down;
    const Enclosure power = exponential({scaled, scaled + 1, precision});
    left = uniform * (power + Enclosure::integer(numerator_, precision));
    right = power;
  }
  if (left.above <= right.below) return true;   // V is below the upper end of its cell
  if (left.below >= right.above) return false;  // equality has probability 0
  return std::nullopt;
}

Coin::Coin(Kind kind, Dyadic epsilon, std::uint64_t numerator, std::uint64_t denominator)
    : kind_(kind), epsilon_(epsilon), numerator_(numerator), denominator_(denominator) {
  // The number of 64-bit cells that lie wholly below the probability, by bisection: cell k does if and only if its upper end does. The
  // comparison is exact for a rational number; it terminates for exp(epsilon), which is irrational for a rational epsilon other than 0.
  const auto whole_cell_below = [&](std::uint64_t k) {
    for (std::size_t more = 2 * coin_guard_bits;; more *= 2) {
      const Natural end = (Natural(k) + 1) << more;
      if (const auto verdict = judge({end, end, 64 + more})) return *verdict;
    }
  };
  for (std::uint64_t bit = 1ULL << 63; bit != 0; bit >>= 1)
    if (whole_cell_below((threshold_ | bit) - 1)) threshold_ |= bit;
}

Coin Coin::rational(std::uint64_t numerator, std::uint64_t denominator) { return {Kind::rational, {}, numerator, denominator}; }

Coin Coin::logistic(Dyadic epsilon, std::uint64_t others) {
  if (epsilon.numerator == 0) return rational(1, others + 1);
  return {Kind::logistic, epsilon, others, 1};
}

bool Coin::toss(LazyUniform& uniform) const {
  return uniform.decide([&](const LazyUniform& known) { return judge(known.cell(known.bits() + coin_guard_bits)); });
}

bool Coin::toss(WordStream& words) const {
  const std::uint64_t word = words.next();
  if (word != threshold_) return word < threshold_;
  LazyUniform uniform(word, 64, words);
  return toss(uniform);
}

std::uint64_t uniform_below(std::uint64_t size, WordStream& words) {
  const std::uint64_t rest = (0 - size) % size;  // 2^64 modulo size
  for (;;) {
    const std::uint64_t word = words.next();
    if (word <= ~0ULL - rest) return word % size;  // the number of accepted words is a multiple of size
  }
}

void Response::draw(WordStream& source, std::span<std::int64_t> shifts) const {
  BufferedStream words(source);
  for (std::int64_t& shift : shifts) {
    // Both are always drawn, so that the time does not depend on which one is used.
    const bool keep = keep_.toss(words);
    const auto other = static_cast<std::int64_t>(1 + uniform_below(choices_ - 1, words));
    shift = other & -static_cast<std::int64_t>(!keep);
  }
}

std::vector<std::uint64_t> bernoulli_subset(const Coin& coin, std::uint64_t population, WordStream& source) {
  BufferedStream words(source);
  std::vector<std::uint64_t> chosen;
  for (std::uint64_t i = 0; i < population; ++i)
    if (coin.toss(words)) chosen.push_back(i);
  return chosen;
}

std::vector<std::uint64_t> fixed_subset(std::uint64_t size, std::uint64_t population, WordStream& source) {
  BufferedStream words(source);
  // Sequential selection: the next record is taken with probability (still needed) / (still to come).
  std::vector<std::uint64_t> chosen;
  for (std::uint64_t i = 0; i < population && chosen.size() < size; ++i)
    if (uniform_below(population - i, words) < size - chosen.size()) chosen.push_back(i);
  return chosen;
}

DrawnLaw Response::drawn_law() const { return {drawn_randomized_response, epsilon_, 0, 0, choices_}; }

namespace {

DrawnNoise draw_randomized_response(const NoiseRequest& request) {
  request.require_one_column();
  const Arguments& arguments = request.arguments();
  const Interval epsilon = arguments.non_negative("epsilon");
  if (!(epsilon.hi <= Coin::largest_epsilon)) arguments.refuse("epsilon", arguments.written("epsilon").text, "at most 512");
  const std::uint64_t choices = arguments.count("choices", 2, most_times);
  if (request.terms().grid_exponent.value_or(0) != 0)
    throw DomainError("release: randomised response has no grid; its answers are 0, 1, 2, ...");
  return {std::make_shared<Response>(epsilon.lo > 0 ? Dyadic::at_most(epsilon.lo) : Dyadic{}, choices), 0, 1, true};
}

}  // namespace

constexpr DrawnSource drawn_randomized_response{
    .name = "randomized_response", .scale = "epsilon", .law = "randomised response", .make = draw_randomized_response, .is_category = true};

}  // namespace tradeoff::detail::noise
