// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tradeoff/curve.h"
#include "tradeoff/plan.h"

// DP-SGD in the terms of training libraries, and the plan it corresponds to.
namespace tradeoff {

/// How batches are drawn; each method has its own theorem. Poisson is the default everywhere.
enum class Sampling { poisson, fixed, shuffled };

/// "poisson", "fixed" or "shuffled".
[[nodiscard]] const char* to_word(Sampling sampling);
/// Throws DomainError for any other word.
[[nodiscard]] Sampling read_sampling(const std::string& word);
/// The neighbouring relation that the theorem for this sampling needs.
[[nodiscard]] Neighbours neighbours_of(Sampling sampling);

/// The number of steps of so many passes over the data: ceil(epochs * examples / batch), computed exactly. Throws DomainError that names
/// the value unless epochs > 0, 1 <= batch <= examples <= 1e12, and there are at most 1e12 steps.
[[nodiscard]] std::uint64_t steps_of_epochs(const Number& epochs, std::uint64_t batch, std::uint64_t examples);

/// A DP-SGD run.
struct SgdRun {
  /// The standard deviation of the noise on the sum of clipped gradients, divided by the clipping norm; "?" to solve for it.
  std::string noise_multiplier;
  std::uint64_t batch = 0;     ///< examples in a batch, on average for Poisson sampling
  std::uint64_t examples = 0;  ///< number of examples in the data
  std::optional<Number> epochs;
  std::optional<std::uint64_t> steps;  ///< instead of epochs
  Sampling sampling = Sampling::poisson;
  Neighbours neighbours = Neighbours::unstated;  ///< unstated: the relation that the sampling needs
};

/// The run as a plan, with the remarks that belong to it.
struct SgdPlan {
  std::string plan;
  std::string unit;    ///< the unit of the noise multiplier, and the sigma it gives
  std::string remark;  ///< the meaning of the sampling
  Neighbours neighbours = Neighbours::unstated;
};

/// One step: Gaussian noise on a sum of clipped values. Replacing a record moves the sum by up to twice the clipping norm, so the
/// sensitivity is 2 under replace-one neighbours and 1 under add-remove neighbours.
[[nodiscard]] std::string noisy_sum(const std::string& noise_multiplier, Neighbours neighbours);

/// Throws DomainError for values out of range and for a neighbouring relation that no theorem for this sampling covers.
[[nodiscard]] SgdPlan to_plan(const SgdRun& run);

}  // namespace tradeoff
