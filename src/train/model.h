// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "noise/words.h"
#include "train/examples.h"

namespace tradeoff::detail::train {

/// The gradient of every example at one layer, in factors: example i contributes the sum over its positions p of inputs(i p, :)^T deltas(i
/// p, :). A dense layer has one position, so its norm is a product of two norms. [per-example-norm]
struct Factors {
  std::size_t positions = 1;
  GridMatrix inputs;  ///< in units of 1/activation_one; the last column is 1 for the bias
  Floats deltas;
};

/// The architecture of a classifier.
struct ModelShape {
  std::size_t inputs = 0;  ///< values of a record, without the bias
  std::size_t classes = 0;
  std::size_t hidden = 0;   ///< units of a hidden layer; 0 for none
  std::size_t filters = 0;  ///< filters of a convolution of 5x5 pixels with stride 2, averaged over 2x2 positions; 0 for none
  std::size_t image_rows = 0;
  std::size_t image_columns = 0;
  friend bool operator==(const ModelShape&, const ModelShape&) = default;
};

/// A dense classifier with at most one hidden layer (tanh), or a convolution (tanh, mean over 2x2) and a dense layer. All weights are in
/// one vector, layer by layer; each layer is a matrix with a row for every input and one for the bias.
class Model {
 public:
  /// The position of a layer in the vector of weights.
  struct Layer {
    std::size_t offset, rows, columns;
  };
  /// All weights are 0. Throws DomainError for an invalid shape.
  explicit Model(const ModelShape& shape);
  /// Weights that do not depend on data: uniform, with a variance that keeps activations in range.
  void initialise(noise::WordStream& words);

  [[nodiscard]] Floats logits(const GridMatrix& inputs) const;
  /// The factors of the gradient of the cross entropy of each example, layer by layer.
  void gradients(const GridMatrix& inputs, std::span<const std::uint8_t> labels, std::vector<Factors>& factors) const;

  [[nodiscard]] const ModelShape& shape() const { return shape_; }
  [[nodiscard]] const std::vector<Layer>& layers() const { return layers_; }
  [[nodiscard]] std::vector<float>& weights() { return weights_; }
  [[nodiscard]] const std::vector<float>& weights() const { return weights_; }

 private:
  [[nodiscard]] Eigen::Map<const Floats> matrix(std::size_t layer) const;
  /// The inputs of the last layer; for a convolution `patches` and `maps` are kept for the backward pass.
  [[nodiscard]] GridMatrix last_inputs(const GridMatrix& inputs, GridMatrix& patches, Floats& activations) const;
  [[nodiscard]] std::size_t places_down() const { return (shape_.image_rows - 5) / 2 + 1; }
  [[nodiscard]] std::size_t places_across() const { return (shape_.image_columns - 5) / 2 + 1; }

  ModelShape shape_;
  std::vector<Layer> layers_;
  std::vector<float> weights_;
};

/// The quality of a model on records that are not protected.
struct Score {
  double loss = 0;  ///< mean cross entropy
  double accuracy = 0;
};
/// The most likely class of a record, and its probability by the model.
struct Prediction {
  std::size_t label = 0;
  double probability = 0;
};
[[nodiscard]] std::vector<Prediction> predict(const Model& model, const Examples& examples);

[[nodiscard]] Score evaluate(const Model& model, const Examples& examples);

}  // namespace tradeoff::detail::train
