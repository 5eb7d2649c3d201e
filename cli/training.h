// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tradeoff/curve.h"

namespace tradeoff::cli {

/// How batches are drawn. The theorems differ, so this is asked for, never guessed.
enum class Sampling { poisson, fixed, shuffled };

/// A run of private gradient descent in the words of training libraries: the noise multiplier is the standard deviation of the noise
/// on the sum of clipped gradients, divided by the clipping norm.
struct Training {
  std::string noise_multiplier;  ///< as written: an exact decimal
  double batch = 0;
  double examples = 0;
  double epochs = 0;
  Sampling sampling = Sampling::poisson;
  Neighbours neighbours = Neighbours::unstated;  ///< unstated: the one the sampling speaks of
};

/// What the run is as a plan, and what has to be said about it.
struct TrainingPlan {
  std::string plan;
  std::string remark;
  Neighbours neighbours = Neighbours::unstated;
};

/// Throws DomainError for values out of range and for neighbours that the sampling has no theorem for.
[[nodiscard]] TrainingPlan to_plan(const Training& training);

}  // namespace tradeoff::cli
