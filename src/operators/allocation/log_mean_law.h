// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "operators/allocation/mean_tails.h"

namespace tradeoff::detail::allocation {

/// The density of log((Y_1 + ... + Y_n)/n) at the places index * step, index = first, first + 1, ...; Y = exp(s z - s^2/2) independent, z
/// standard normal. Every value is within error * density + exp(log_floor) of the density, with the error of its block.
/// [allocation-doubling]
struct LogMeanLaw {
  static constexpr std::size_t block = 32;  ///< values with a common exponent and a common error

  double steps = 1;  ///< n
  double step = 0;   ///< a power of 2, so that places are exact
  std::int64_t first = 0;
  std::vector<double> mantissa;
  std::vector<int> exponent;  ///< of 2, for every block
  std::vector<double> error;  ///< for every block
  double log_floor = 0;

  [[nodiscard]] std::size_t size() const { return mantissa.size(); }
  [[nodiscard]] double place(std::size_t i) const { return step * static_cast<double>(first + static_cast<std::int64_t>(i)); }
  /// The logarithm of a value; its rounding is not part of the errors.
  [[nodiscard]] double log_density(std::size_t i) const;
};

/// What is wanted of a law: places from low to high, at most `step` apart.
struct LawRange {
  double low = 0;
  double high = 0;
  double step = 0;
};

/// The law of n steps from those of its halves, their halves, and so on. Empty if it would have too many points.
[[nodiscard]] LogMeanLaw log_mean_law(double s, std::uint64_t steps, const MeanTails& tails, const LawRange& range);

}  // namespace tradeoff::detail::allocation
