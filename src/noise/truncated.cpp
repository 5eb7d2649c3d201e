// SPDX-License-Identifier: Apache-2.0
#include "noise/truncated.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "noise/secret.h"
#include "numeric/arithmetic.h"
#include "tradeoff/error.h"

namespace tradeoff::noise {

void Truncated::draw(WordStream& words, std::span<std::int64_t> values) const {
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
  constexpr std::uint64_t most = 1'000'000'000'000;  // as the plan language allows
  std::uint64_t low = shift, high = shift;           // invariant: everything below `low` is too small
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

}  // namespace tradeoff::noise
