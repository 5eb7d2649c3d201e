// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loss/loss.h"
#include "loss/whole_gaussian.h"

namespace tradeoff::detail {

/// A log-concave distribution on the integers, as weights that need not add up to 1. [whole-noise]
struct WholeNoise {
  std::vector<Interval> weights;                    ///< of consecutive integers
  Interval before = Interval::exactly(0);           ///< the weight of all smaller integers
  Interval after = Interval::exactly(0);            ///< the weight of all larger integers
  std::optional<Interval> steepest = std::nullopt;  ///< a bound on |log of the ratio of neighbouring weights|, if there is one
  bool symmetric = true;                            ///< the weights are their own mirror image
};

/// The losses of an integer that is moved by `shift` and hidden by the noise. [whole-noise]
[[nodiscard]] LossPointer whole_noise_loss(const WholeNoise& noise, std::uint64_t shift, std::string key, Citations origin,
                                           std::optional<Tail> tail = std::nullopt);
/// What is known beyond the table of Skellam noise. [skellam-noise]
[[nodiscard]] std::optional<Tail> skellam_tail(const WholeNoise& noise, Interval variance, std::uint64_t shift);
/// The discrete Gaussian that is near the sum of so many, moved by 1; empty if none is near. [discrete-gaussian-sum]
[[nodiscard]] std::optional<WholeGaussian> near_sum(Interval sigma, std::uint64_t terms);
/// What is known far out of noise near a discrete Gaussian. [discrete-gaussian-sum]
[[nodiscard]] Tail tail_near(const WholeGaussian& noise);

/// A symmetric distribution by the ratios of weight y + 1 to weight y, y = 0, 1, ..., which fall with y. The table ends where weights
/// underflow, or at its last ratio.
[[nodiscard]] WholeNoise noise_of_ratios(const std::vector<Interval>& ratios);

/// Difference of two Poisson variables of this variance in all. [skellam-noise]
[[nodiscard]] WholeNoise skellam_noise(Interval variance);
/// Sum of so many discrete Laplace variables. [discrete-laplace-sum]
[[nodiscard]] WholeNoise discrete_laplace_sum(Interval scale, std::uint64_t terms);
/// Successes in so many trials. [binomial-noise]
[[nodiscard]] WholeNoise binomial_noise(std::uint64_t trials, Interval chance, bool symmetric);
/// Sum of so many discrete Gaussian variables, listed up to at least this number of standard deviations. Throws TooLargeError where neither
/// way is open. [discrete-gaussian-sum]
[[nodiscard]] WholeNoise discrete_gaussian_sum(Interval sigma, std::uint64_t terms, double deviations = 36);

}  // namespace tradeoff::detail
