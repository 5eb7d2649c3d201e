// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tradeoff/curve.h"
#include "tradeoff/plan.h"

// DP-SGD in the terms of training libraries, and its plan.
namespace tradeoff {

/// How batches are drawn; the theorems differ. Poisson is the default everywhere.
enum class Sampling { poisson, fixed, shuffled };

/// "poisson", "fixed" or "shuffled".
[[nodiscard]] const char* to_word(Sampling sampling);
/// Throws DomainError for any other word.
[[nodiscard]] Sampling read_sampling(const std::string& word);
/// The neighbouring relation of the theorem about this sampling.
[[nodiscard]] Neighbours neighbours_of(Sampling sampling);

/// ceil(epochs * examples / batch), exactly: the steps of so many passes over the data. Throws DomainError that names the value unless
/// epochs are above 0, 1 <= batch <= examples <= 1e12, and the steps at most 1e12.
[[nodiscard]] std::uint64_t steps_of_epochs(const Number& epochs, std::uint64_t batch, std::uint64_t examples);

/// A run of private gradient descent.
struct SgdRun {
  /// The standard deviation of the noise on the sum of clipped gradients, divided by the clipping norm; "?" if it is to be found.
  std::string noise_multiplier;
  std::uint64_t batch = 0;     ///< examples in a batch, on average for Poisson sampling
  std::uint64_t examples = 0;  ///< in the data
  std::optional<Number> epochs;
  std::optional<std::uint64_t> steps;  ///< instead of epochs
  Sampling sampling = Sampling::poisson;
  Neighbours neighbours = Neighbours::unstated;  ///< unstated: those that the sampling needs
};

/// What the run is as a plan, and what has to be said about it.
struct SgdPlan {
  std::string plan;
  std::string unit;    ///< what the noise multiplier is divided by, and what that makes of sigma
  std::string remark;  ///< what the sampling means
  Neighbours neighbours = Neighbours::unstated;
};

/// One step: Gaussian noise on a sum of clipped values. Replacing a record moves the sum by up to twice the clipping norm, so that
/// the sensitivity is 2 there, and 1 where a record is added or removed.
[[nodiscard]] std::string noisy_sum(const std::string& noise_multiplier, Neighbours neighbours);

/// Throws DomainError for values out of range and for neighbours that the sampling has no theorem for.
[[nodiscard]] SgdPlan to_plan(const SgdRun& run);

}  // namespace tradeoff
