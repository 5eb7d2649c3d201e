// SPDX-License-Identifier: Apache-2.0
#include "training.h"

#include <cmath>

#include "numeric/number_text.h"
#include "tradeoff/error.h"

namespace tradeoff::cli {
namespace {

void require(bool holds, const char* option, const char* allowed) {
  if (!holds) throw DomainError(std::string(option) + " must be " + allowed);
}

std::string whole(double value) { return numeric::to_text_below(value); }

}  // namespace

TrainingPlan to_plan(const Training& training) {
  const auto is_count = [](double value) { return value >= 1 && value <= 1e12 && std::floor(value) == value; };
  require(is_count(training.examples), "--examples", "a whole number of at least 1");
  require(is_count(training.batch) && training.batch <= training.examples, "--batch", "a whole number between 1 and --examples");
  require(training.epochs > 0 && training.epochs <= 1e9, "--epochs", "above 0");
  const std::string steps = whole(std::ceil(training.epochs * training.examples / training.batch));
  const std::string noise = training.noise_multiplier;
  if (training.sampling == Sampling::poisson) {
    require(training.neighbours != Neighbours::replace_one, "--neighbours",
            "add-remove for Poisson sampling: no theorem for replace-one is implemented");
    return {
        "gaussian(sigma=" + noise + ") | poisson(rate=" + whole(training.batch) + "/" + whole(training.examples) + ") | repeat(" + steps +
            ")",
        "Every example joins each batch independently. One record added or removed changes the clipped sum by at most the clipping norm, "
        "so sigma is the noise multiplier.",
        Neighbours::add_remove};
  }
  require(training.neighbours != Neighbours::add_remove, "--neighbours", "replace-one for batches of a fixed size");
  // Replacing a record changes the sum by twice the clipping norm: half the noise multiplier in the units of a step.
  if (training.sampling == Sampling::fixed)
    return {
        "gaussian(sigma=" + noise + ", sensitivity=2) | sample(size=" + whole(training.batch) + ", of=" + whole(training.examples) +
            ") | repeat(" + steps + ")",
        "Each batch is a fresh sample of fixed size without replacement. One record replaced changes the clipped sum by up to twice the "
        "clipping norm, hence sensitivity 2.",
        Neighbours::replace_one};
  return {
      "gaussian(sigma=" + noise + ", sensitivity=2) | repeat(" + whole(std::ceil(training.epochs)) + ")",
      "Shuffled batches: no amplification by sampling is claimed, because no theorem for it is implemented. Every record is in one batch "
      "of each epoch, so an epoch costs one step.",
      Neighbours::replace_one};
}

}  // namespace tradeoff::cli
