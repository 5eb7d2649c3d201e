// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "noise/replay.h"
#include "train/trainer.h"

// Small data, small models and replayable random words, shared by the tests of training.
namespace tradeoff::detail::test {

/// Records of random values in [-1, 1]; the label is the quadrant of the first two values, so that there is something to learn.
inline train::Examples random_examples(std::size_t records, std::size_t width, std::uint64_t seed) {
  ReplayForTests words(seed);
  train::Examples examples;
  examples.classes = 4;
  examples.inputs.resize(static_cast<Eigen::Index>(records), static_cast<Eigen::Index>(width + 1));
  for (Eigen::Index i = 0; i < examples.inputs.rows(); ++i) {
    for (Eigen::Index j = 0; j < static_cast<Eigen::Index>(width); ++j)
      examples.inputs(i, j) = static_cast<std::int16_t>(static_cast<std::int64_t>(words.next() % 2049) - 1024);
    examples.inputs(i, static_cast<Eigen::Index>(width)) = train::activation_one;
    examples.labels.push_back(static_cast<std::uint8_t>((examples.inputs(i, 0) > 0 ? 1 : 0) + (examples.inputs(i, 1) > 0 ? 2 : 0)));
  }
  return examples;
}

/// The same as images of this many rows and columns.
inline train::Examples random_images(std::size_t records, std::size_t rows, std::size_t columns, std::uint64_t seed) {
  train::Examples examples = random_examples(records, rows * columns, seed);
  examples.image_rows = rows;
  examples.image_columns = columns;
  return examples;
}

inline train::TrainingTerms small_terms(const train::Batches& batches, const train::Examples& examples, std::size_t hidden,
                                        const char* noise = "1.3", std::uint64_t steps = 100) {
  return {batches, read_number(noise), read_number("1.5"), steps, 0.25, "values", {examples.width(), examples.classes, hidden, 0, 0, 0}, 0};
}

/// The factors of the gradients of some records under random weights.
inline std::vector<train::Factors> random_factors(const train::Model& model, const train::Examples& examples) {
  std::vector<train::Factors> factors;
  model.gradients(examples.inputs, examples.labels, factors);
  return factors;
}

}  // namespace tradeoff::detail::test
