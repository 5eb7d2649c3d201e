// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tradeoff/interval.h"

// Weights exp(-y^2/(2 variance)) on the integers, and how close they come to a Gaussian density.
namespace tradeoff::detail {

struct Tail;  // loss/tail.h

/// A pair that is discrete Gaussian noise with this sigma, moved by `shift`, a whole number. Its runs, with the same neighbour each time,
/// are a pair of their sum.
struct WholeGaussian {
  Interval sigma;
  double shift = 1;
  double distance = 0;  ///< the probabilities are those of such noise up to factors whose logarithm is at most this
};

/// The largest relative deviation of a sum of Gaussian weights over the integers from the integral, for any centre.
/// [discrete-gaussian-sum]
[[nodiscard]] double ripple(Interval variance);
/// The weights of a sum of discrete Gaussians are those of one discrete Gaussian times a factor between 1 - this and e^this.
/// [discrete-gaussian-sum]
[[nodiscard]] double deviation_of_sum(Interval sigma, std::uint64_t terms);

/// The logarithm of the factor after normalising; infinite if the deviation is not small. [whole-gaussian-mu]
[[nodiscard]] double distance_of(double deviation);

/// Lowers the `gdp_mu` of a composition that has so many runs of these noises, and beside them mechanisms that are together `beside`-GDP;
/// 0 if there are none. [whole-gaussian-mu]
void lower_gdp_mu(Tail& tail, const std::vector<std::pair<WholeGaussian, std::uint64_t>>& noises, double beside);

}  // namespace tradeoff::detail
