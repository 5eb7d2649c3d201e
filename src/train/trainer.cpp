// SPDX-License-Identifier: Apache-2.0
#include "train/trainer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "numeric/arithmetic.h"
#include "tradeoff/error.h"
#include "tradeoff/sgd.h"

namespace tradeoff::detail::train {
namespace {

constexpr std::uint64_t most_steps = 1'000'000'000;

// The average covers this last share of the steps: long enough to reduce the noise, short enough to exclude the start.
constexpr double averaged_part = 0.15;

std::string times(std::uint64_t steps) { return " | repeat(" + std::to_string(steps) + ")"; }

template <class Ask>
auto of_batches(const TrainingTerms& terms, const Ask& ask) {
  return std::visit(ask, terms.batches);
}

Model initial_model(const TrainingTerms& terms, noise::WordStream& words) {
  Model model(terms.shape);
  model.initialise(words);
  return model;
}

/// The gradients of the model on these records.
RecordSource source_of(const Examples& examples) {
  return {examples.size(), [&examples](const Model& model, const Batch& batch, std::vector<Factors>& factors) {
            GridMatrix inputs(static_cast<Eigen::Index>(batch.size()), examples.inputs.cols());
            noise::SecretVector<std::uint8_t> labels(batch.size());
            for (std::size_t i = 0; i < batch.size(); ++i) {
              inputs.row(static_cast<Eigen::Index>(i)) = examples.inputs.row(static_cast<Eigen::Index>(batch[i]));
              labels[i] = examples.labels[batch[i]];
            }
            model.gradients(inputs, labels, factors);
            noise::wipe(inputs.data(), static_cast<std::size_t>(inputs.size()) * sizeof(std::int16_t));
          }};
}

Progress fresh_progress(const TrainingTerms& terms, noise::WordStream& words) {
  check(terms);
  const std::vector<float> weights = initial_model(terms, words).weights();
  return {terms, 0, weights, weights, std::vector<float>(terms.momentum > 0 ? weights.size() : 0)};
}

}  // namespace

void check(const TrainingTerms& terms) {
  const Interval noise = terms.noise.value;
  if (!(noise.hi >= smallest_noise && noise.lo <= largest_noise))
    throw DomainError("train: --noise = " + terms.noise.text + " is not allowed; it must be between 0.001 and 1000000 clipping norms");
  if (!(terms.learning_rate > 0 && terms.learning_rate <= 1e6))
    throw DomainError("train: --learning-rate must be above 0 and at most 1000000");
  if (!(terms.momentum >= 0 && terms.momentum < 1)) throw DomainError("train: --momentum must be at least 0 and below 1");
  if (terms.steps < 1 || terms.steps > most_steps) throw DomainError("train: the run must have between 1 and 1000000000 steps");
  static_cast<void>(drawn_step(terms));
}

DrawnStep drawn_step(const TrainingTerms& terms) {
  const ClipGrid grid(terms.clip.value);
  const std::uint64_t sensitivity = of_batches(terms, [&](const auto& batches) { return batches.sensitivity(grid); });
  return {grid, sensitivity, noise::Dyadic::at_least((terms.noise.value * static_cast<double>(grid.bound())).hi)};
}

std::string stated_plan(const TrainingTerms& terms, std::uint64_t steps) {
  const std::string operation = of_batches(terms, [](const auto& batches) { return batches.operation(); });
  return noisy_sum(terms.noise.text, neighbours_of(terms)) + " | " + operation + times(steps);
}

std::string drawn_plan(const TrainingTerms& terms, std::uint64_t steps) {
  const DrawnStep drawn = drawn_step(terms);
  const std::string operation = of_batches(terms, [](const auto& batches) { return batches.operation(); });
  return "gaussian(sigma=" + exact_number(drawn.scale.value()).text + ", sensitivity=" + std::to_string(drawn.sensitivity) + ") | " +
         operation + times(steps);
}

Neighbours neighbours_of(const TrainingTerms& terms) {
  return of_batches(terms, [](const auto& batches) { return batches.neighbours(); });
}

Trainer::Trainer(const TrainingTerms& terms, const Examples& examples, noise::WordStream& words)
    : Trainer(fresh_progress(terms, words), examples, words) {}

Trainer::Trainer(Progress progress, const Examples& examples, noise::WordStream& words)
    : Trainer(std::move(progress), source_of(examples), words) {
  const ModelShape& shape = progress_.terms.shape;
  if (shape.inputs != examples.width() || shape.classes != examples.classes)
    throw DomainError("train: the model takes " + std::to_string(shape.inputs) + " values and knows " + std::to_string(shape.classes) +
                      " classes, but the data has " + std::to_string(examples.width()) + " and " + std::to_string(examples.classes));
}

Trainer::Trainer(const TrainingTerms& terms, RecordSource source, noise::WordStream& words)
    : Trainer(fresh_progress(terms, words), std::move(source), words) {}

Trainer::Trainer(Progress progress, RecordSource source, noise::WordStream& words)
    : progress_(std::move(progress)),
      source_(std::move(source)),
      words_(words),
      model_(progress_.terms.shape),
      step_(drawn_step(progress_.terms).grid, model_, drawn_step(progress_.terms).scale) {
  check(progress_.terms);
  const auto* fixed = std::get_if<FixedSizeBatches>(&progress_.terms.batches);
  if (fixed != nullptr && fixed->of() != source_.records)
    throw DomainError("train: the run is about " + std::to_string(fixed->of()) + " records, but the data has " +
                      std::to_string(source_.records));
  if (progress_.weights.size() != model_.weights().size() || progress_.average.size() != model_.weights().size())
    throw DomainError("train: the number of weights does not fit the model");
  if (progress_.velocity.size() != (progress_.terms.momentum > 0 ? model_.weights().size() : 0))
    throw DomainError("train: the number of velocities does not fit the model");
  model_.weights() = progress_.weights;
}

void Trainer::draw_batch() {
  if (auto* fixed = std::get_if<FixedSizeBatches>(&progress_.terms.batches)) {
    fixed->draw(words_, batch_);
  } else {
    std::get<PoissonBatches>(progress_.terms.batches).draw(words_, batch_, source_.records);
  }
}

void Trainer::forget_batch() {
  noise::wipe(batch_.data(), batch_.size() * sizeof(Batch::value_type));
  for (Factors& layer : factors_) {
    noise::wipe(layer.inputs.data(), static_cast<std::size_t>(layer.inputs.size()) * sizeof(std::int16_t));
    noise::wipe(layer.deltas.data(), static_cast<std::size_t>(layer.deltas.size()) * sizeof(float));
  }
}

void Trainer::step() {
  draw_batch();
  source_.gradients(model_, batch_, factors_);
  const std::vector<std::int64_t>& sum = step_.noisy_sum(factors_, words_);
  forget_batch();
  // From here on everything is a function of the released values and of public numbers.
  const std::uint64_t divisor = of_batches(progress_.terms, [](const auto& batches) { return batches.size(); });
  const auto rate = static_cast<float>(std::ldexp(progress_.terms.learning_rate / static_cast<double>(divisor), step_.grid().exponent()));
  const double step_number = static_cast<double>(++progress_.steps_done);
  const auto weight_of_new =
      static_cast<float>(std::max(1 / step_number, 1 / std::max(1.0, averaged_part * static_cast<double>(progress_.terms.steps))));
  std::vector<float>& weights = model_.weights();
  const auto momentum = static_cast<float>(progress_.terms.momentum);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    auto move = static_cast<float>(sum[i]);
    if (momentum > 0) move = progress_.velocity[i] = momentum * progress_.velocity[i] + move;
    weights[i] -= rate * move;
    progress_.average[i] += weight_of_new * (weights[i] - progress_.average[i]);
  }
  progress_.weights = weights;
}

Model Trainer::averaged_model() const {
  Model model(progress_.terms.shape);
  model.weights() = progress_.average;
  return model;
}

}  // namespace tradeoff::detail::train
