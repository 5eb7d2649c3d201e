// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tradeoff/plan.h"
#include "train/batches.h"
#include "train/model.h"
#include "train/step.h"

namespace tradeoff::detail::train {

/// Everything about a run that is public and fixed before the data are read.
struct TrainingTerms {
  Batches batches = FixedSizeBatches(1, 1);
  Number noise;             ///< standard deviation of the noise on the sum of clipped gradients, divided by the clipping norm
  Number clip;              ///< the norm to which every gradient of a record is clipped
  std::uint64_t steps = 0;  ///< of the whole run
  double learning_rate = 0;
  std::string features = "values";
  ModelShape shape;
  double momentum = 0;  ///< of heavy-ball descent: a step moves the weights by the released sum plus this part of the last move
};

/// The allowed range of the noise, in clipping norms.
inline constexpr double smallest_noise = 1e-3, largest_noise = 1e6;

/// Throws DomainError that names the option for a term out of range.
void check(const TrainingTerms& terms);

/// The exact parameters of a step, in steps of the grid. [private-step]
struct DrawnStep {
  ClipGrid grid;
  std::uint64_t sensitivity;  ///< the sensitivity of the clipped sum
  noise::Dyadic scale;        ///< the scale of the noise: the stated noise times the clipping norm, rounded up
};
[[nodiscard]] DrawnStep drawn_step(const TrainingTerms& terms);

/// The plan of the first `steps` steps, as stated and as drawn.
[[nodiscard]] std::string stated_plan(const TrainingTerms& terms, std::uint64_t steps);
[[nodiscard]] std::string drawn_plan(const TrainingTerms& terms, std::uint64_t steps);
[[nodiscard]] Neighbours neighbours_of(const TrainingTerms& terms);

/// A run between two steps. All of it may be published under the certificate of its steps; it contains nothing else about the data.
struct Progress {
  TrainingTerms terms;
  std::uint64_t steps_done = 0;
  std::vector<float> weights;
  std::vector<float> average;     ///< the running average of the weights: the final model
  std::vector<float> velocity{};  ///< the decaying sum of the releases, with momentum; otherwise empty
};

/// What a step needs from the records. A run computes the gradients of its model; an audit chooses them.
struct RecordSource {
  std::size_t records = 0;
  /// Writes the gradients of these records, layer by layer. A gradient depends only on its record and on the weights.
  std::function<void(const Model& model, const Batch& batch, std::vector<Factors>& factors)> gradients;
};

/// Private gradient descent, one step at a time. Batches and noise are drawn from `words`, which is the secure stream except in tests.
class Trainer {
 public:
  /// Starts a new run. Throws DomainError if the terms and the examples do not fit.
  Trainer(const TrainingTerms& terms, const Examples& examples, noise::WordStream& words);
  /// Continues a run; the finished steps are not repeated.
  Trainer(Progress progress, const Examples& examples, noise::WordStream& words);
  /// The same with other gradients. Batches, clipping, noise and weights are as in a run on examples. [step-audit]
  Trainer(const TrainingTerms& terms, RecordSource source, noise::WordStream& words);

  /// Does one more step; `is_done` must be false.
  void step();
  [[nodiscard]] bool is_done() const { return progress_.steps_done >= progress_.terms.steps; }
  [[nodiscard]] const Progress& progress() const { return progress_; }
  /// The running average of the weights, a function of what the steps released.
  [[nodiscard]] Model averaged_model() const;
  [[nodiscard]] const Tally& tally() const { return step_.tally(); }

 private:
  Trainer(Progress progress, RecordSource source, noise::WordStream& words);
  void draw_batch();
  /// Overwrites the data that reveal who was in the batch.
  void forget_batch();

  Progress progress_;
  RecordSource source_;
  noise::WordStream& words_;
  Model model_;
  PrivateStep step_;
  Batch batch_;
  std::vector<Factors> factors_;
};

}  // namespace tradeoff::detail::train
