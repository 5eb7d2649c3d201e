// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arb.h>
#include <arb_hypgeom.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <ostream>
#include <span>
#include <vector>

#include "support/scale.h"

namespace tradeoff::detail::test {

/// A law that is symmetric about 0, by P(|K| >= m).
using Tail = std::function<double(std::uint64_t)>;

inline Tail rounded_gaussian_tail(double sigma) {
  return [=](std::uint64_t m) { return m == 0 ? 1 : std::erfc((static_cast<double>(m) - 0.5) / sigma / std::sqrt(2.0)); };
}
inline Tail rounded_laplace_tail(double scale) {
  return [=](std::uint64_t m) { return m == 0 ? 1 : std::exp(-(static_cast<double>(m) - 0.5) / scale); };
}
inline Tail discrete_laplace_tail(double scale) {
  return [=](std::uint64_t m) { return m == 0 ? 1 : 2 * std::exp(-static_cast<double>(m) / scale) / (1 + std::exp(-1 / scale)); };
}
inline Tail truncated_tail(const Tail& whole, std::uint64_t bound) {
  const double cut = whole(bound + 1);
  return [=](std::uint64_t m) { return m > bound ? 0 : (whole(m) - cut) / (1 - cut); };
}
inline Tail discrete_gaussian_tail(double sigma) {
  std::vector<double> sums{0};
  for (int m = static_cast<int>(12 * sigma) + 12; m >= 0; --m)
    sums.push_back(sums.back() + (m == 0 ? 1 : 2) * std::exp(-m / sigma * m / sigma / 2));
  std::reverse(sums.begin(), sums.end());
  return [sums](std::uint64_t m) { return m < sums.size() ? sums[m] / sums[0] : 0; };
}

/// P(X >= x) for a chi-square variable.
inline double chi_square_p(double x, double freedom) {
  arb_t s, z, p;
  arb_init(s);
  arb_init(z);
  arb_init(p);
  arb_set_d(s, freedom / 2);
  arb_set_d(z, x / 2);
  arb_hypgeom_gamma_upper(p, s, z, 1, 128);
  const double result = std::clamp(arf_get_d(arb_midref(p), ARF_RND_NEAR), 0.0, 1.0);
  arb_clear(s);
  arb_clear(z);
  arb_clear(p);
  return result;
}
/// Two-sided, for a count of `n` trials with probability `p`; by the normal or the Poisson approximation.
inline double count_p(double count, double n, double p) {
  const double mean = n * p;
  if (mean < 1e-9) return count == 0 ? 1 : 0;
  if (mean > 100) return std::erfc(std::abs(count - mean) / std::sqrt(2 * mean * (1 - p)));
  const double at_least = count == 0 ? 1 : 1 - chi_square_p(2 * mean, 2 * count);  // P(Poisson >= count)
  const double at_most = chi_square_p(2 * mean, 2 * (count + 1));
  return std::min(1.0, 2 * std::min(at_least, at_most));
}

/// The p-values of one sample.
struct Verdicts {
  double law;           ///< chi-square on cells of the magnitudes
  double symmetry;      ///< as many below zero as above, and in the tails as well
  double zero;          ///< the count of zeros
  double tails;         ///< counts beyond 3, 4 and 5 standard deviations
  double independence;  ///< chi-square on pairs of successive draws
  [[nodiscard]] double smallest() const { return std::min({law, symmetry, zero, tails, independence}); }
  friend std::ostream& operator<<(std::ostream& out, const Verdicts& v) {
    return out << "law " << v.law << " symmetry " << v.symmetry << " zero " << v.zero << " tails " << v.tails << " independence "
               << v.independence;
  }
};

inline double chi_square_of(std::span<const double> counts, std::span<const double> expected) {
  double sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) sum += (counts[i] - expected[i]) * (counts[i] - expected[i]) / expected[i];
  return chi_square_p(sum, static_cast<double>(counts.size() - 1));
}

/// Ends of cells on the magnitudes: about `wanted` of them, each expected at least ten times in n draws.
inline std::vector<std::uint64_t> cell_starts(const Tail& tail, double n, double wanted) {
  std::vector<std::uint64_t> starts{0};
  const double least = std::max(10 / n, 1 / wanted);
  while (tail(starts.back()) > 2 * least) {
    const double target = tail(starts.back()) - least;
    std::uint64_t low = starts.back(), high = low + 1;
    while (tail(high) > target) high = low + 2 * (high - low);
    while (high - low > 1) {
      const std::uint64_t middle = low + (high - low) / 2;
      (tail(middle) > target ? low : high) = middle;
    }
    if (tail(high) < 10 / n) break;
    starts.push_back(high);
  }
  return starts;
}

inline Verdicts examine(std::span<const std::int64_t> sample, const Tail& tail) {
  const auto n = static_cast<double>(sample.size());
  const auto starts = cell_starts(tail, n, 400);
  const auto coarse = cell_starts(tail, n, 6);
  std::vector<double> counts(starts.size()), expected(starts.size());
  for (std::size_t i = 0; i < starts.size(); ++i) expected[i] = n * (tail(starts[i]) - (i + 1 < starts.size() ? tail(starts[i + 1]) : 0));
  const std::size_t kinds = 2 * coarse.size();
  std::vector<double> pairs(kinds * kinds), single(kinds);
  double above = 0, below = 0;
  std::size_t last = kinds;
  const auto cell_of = [](const std::vector<std::uint64_t>& from, std::uint64_t m) {
    return static_cast<std::size_t>(std::upper_bound(from.begin(), from.end(), m) - from.begin()) - 1;
  };
  std::vector<std::uint64_t> far;
  std::vector<double> beyond(3);
  double variance = 0;
  for (const std::int64_t k : sample.first(std::min<std::size_t>(sample.size(), 100'000)))
    variance += static_cast<double>(k) * static_cast<double>(k);
  variance /= static_cast<double>(std::min<std::size_t>(sample.size(), 100'000));
  for (const int times : {3, 4, 5}) far.push_back(static_cast<std::uint64_t>(std::ceil(times * std::sqrt(variance))));
  for (const std::int64_t k : sample) {
    const auto m = static_cast<std::uint64_t>(k < 0 ? -k : k);
    ++counts[cell_of(starts, m)];
    above += k > 0 ? 1 : 0;
    below += k < 0 ? 1 : 0;
    const std::size_t kind = 2 * cell_of(coarse, m) + (k < 0 ? 1 : 0);
    ++single[kind];
    if (last < kinds) ++pairs[last * kinds + kind];
    last = kind;
    for (std::size_t i = 0; i < 3; ++i) beyond[i] += m >= far[i] ? 1 : 0;
  }
  Verdicts verdicts{};
  verdicts.law = chi_square_of(counts, expected);
  verdicts.symmetry = std::erfc(std::abs(above - below) / std::sqrt(2 * (above + below)));
  verdicts.zero = count_p(n - above - below, n, 1 - tail(1));
  verdicts.tails = 1;
  for (std::size_t i = 0; i < 3; ++i) verdicts.tails = std::min(verdicts.tails, count_p(beyond[i], n, tail(far[i])));
  double sum = 0;
  for (std::size_t a = 0; a < kinds; ++a)
    for (std::size_t b = 0; b < kinds; ++b)
      if (const double mean = single[a] * single[b] / n; mean > 0)
        sum += (pairs[a * kinds + b] - mean) * (pairs[a * kinds + b] - mean) / mean;
  const auto occupied = static_cast<double>(std::count_if(single.begin(), single.end(), [](double x) { return x > 0; }));
  verdicts.independence = chi_square_p(sum, (occupied - 1) * (occupied - 1));
  return verdicts;
}

/// Draws per sample: 4 million by default; TRADEOFF_TEST_SCALE=25 makes it 1e8, 250 makes it 1e9.
inline std::size_t draws() { return static_cast<std::size_t>(4e6 * test_scale()); }

/// The significance level: a false alarm about once in a hundred thousand runs of the whole suite.
inline constexpr double threshold = 1e-7;

}  // namespace tradeoff::detail::test
