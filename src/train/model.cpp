// SPDX-License-Identifier: Apache-2.0
#include "train/model.h"

#include <algorithm>
#include <cmath>

#include "tradeoff/error.h"
#include "train/row_products.h"

namespace tradeoff::detail::train {
namespace {

using Index = Eigen::Index;

constexpr std::size_t most_weights = 50'000'000;
constexpr std::size_t filter_side = 5;
constexpr Index rows_evaluated = 1000;  // of an evaluation: keeps the activations in the cache
constexpr float unit = 1.F / activation_one;

Index index(std::size_t value) { return static_cast<Index>(value); }

/// Softmax minus the indicator of the label: the derivative of the cross entropy by the logits. Plain loops, so that the result of a row
/// does not depend on its position. [private-step]
Floats loss_derivative(Floats scores, std::span<const std::uint8_t> labels) {
  const auto classes = static_cast<std::size_t>(scores.cols());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    float* row = scores.data() + i * classes;
    float most = row[0], sum = 0;
    for (std::size_t k = 1; k < classes; ++k) most = std::max(most, row[k]);
    for (std::size_t k = 0; k < classes; ++k) sum += row[k] = std::exp(row[k] - most);
    for (std::size_t k = 0; k < classes; ++k) row[k] /= sum;
    row[labels[i]] -= 1;
  }
  return scores;
}

/// Values on the grid, including the column of the bias.
GridMatrix to_grid(const Floats& values) {
  GridMatrix found(values.rows(), values.cols() + 1);
  for (Index i = 0; i < values.rows(); ++i) {
    for (Index j = 0; j < values.cols(); ++j) found(i, j) = train::to_grid(values(i, j));
    found(i, values.cols()) = activation_one;
  }
  return found;
}

Floats times(const GridMatrix& inputs, const Eigen::Map<const Floats>& weights) {
  Floats product = multiply_rows(inputs, weights);
  product *= unit;
  return product;
}

Floats tanh_of(Floats values) {
  apply_tanh(values);
  return values;
}

void check(const ModelShape& shape) {
  const auto require = [](bool holds, const char* what) {
    if (!holds) throw DomainError(std::string("train: ") + what);
  };
  require(shape.inputs >= 1 && shape.classes >= 2 && shape.classes <= 256, "a model needs inputs and between 2 and 256 classes");
  require(shape.hidden <= 4096, "--hidden must be a whole number between 0 and 4096");
  require(shape.filters <= 256, "--filters must be a whole number between 0 and 256");
  require(shape.filters == 0 || shape.hidden == 0, "--filters and --hidden are two models; give one of them");
  require(
      shape.filters == 0 || (shape.image_rows >= 8 && shape.image_columns >= 8 && shape.image_rows * shape.image_columns == shape.inputs),
      "a convolution needs images of at least 8x8 pixels; use --features values");
}

}  // namespace

Model::Model(const ModelShape& shape) : shape_(shape) {
  check(shape);
  std::size_t offset = 0;
  const auto add = [&](std::size_t inputs, std::size_t outputs) {
    layers_.push_back({offset, inputs + 1, outputs});
    offset += (inputs + 1) * outputs;
    if (offset > most_weights) throw TooLargeError("train: a model of more than 50,000,000 weights");
  };
  if (shape.filters > 0) {
    add(filter_side * filter_side, shape.filters);
    add((places_down() / 2) * (places_across() / 2) * shape.filters, shape.classes);
  } else if (shape.hidden > 0) {
    add(shape.inputs, shape.hidden);
    add(shape.hidden, shape.classes);
  } else {
    add(shape.inputs, shape.classes);
  }
  weights_.assign(offset, 0.F);
}

void Model::initialise(noise::WordStream& words) {
  for (const Layer& layer : layers_) {
    const double reach = std::sqrt(3.0 / static_cast<double>(layer.rows - 1));  // uniform on [-reach, reach]: variance 1 / inputs
    for (std::size_t i = 0; i < (layer.rows - 1) * layer.columns; ++i)
      weights_[layer.offset + i] = static_cast<float>(reach * (static_cast<double>(words.next() >> 11) * 0x1p-52 - 1));
  }
}

Eigen::Map<const Floats> Model::matrix(std::size_t layer) const {
  return {weights_.data() + layers_[layer].offset, index(layers_[layer].rows), index(layers_[layer].columns)};
}

GridMatrix Model::last_inputs(const GridMatrix& inputs, GridMatrix& patches, Floats& activations) const {
  if (shape_.filters == 0) {
    activations = tanh_of(times(inputs, matrix(0)));
    return to_grid(activations);
  }
  const std::size_t down = places_down(), across = places_across(), places = down * across;
  patches.resize(inputs.rows() * index(places), index(filter_side * filter_side + 1));
  std::int16_t* out = patches.data();
  for (Index i = 0; i < inputs.rows(); ++i)
    for (std::size_t place = 0; place < places; ++place) {
      const std::int16_t* corner = inputs.row(i).data() + (place / across) * 2 * shape_.image_columns + (place % across) * 2;
      for (std::size_t row = 0; row < filter_side; ++row, out += filter_side)
        std::copy_n(corner + row * shape_.image_columns, filter_side, out);
      *out++ = activation_one;
    }
  activations = tanh_of(times(patches, matrix(0)));
  const std::size_t pooled_across = across / 2, pooled = (down / 2) * pooled_across;
  Floats means = Floats::Zero(inputs.rows(), index(pooled * shape_.filters));
  for (Index i = 0; i < inputs.rows(); ++i)
    for (std::size_t place = 0; place < pooled; ++place)
      for (std::size_t part = 0; part < 4; ++part) {
        const std::size_t row = 2 * (place / pooled_across) + part / 2, column = 2 * (place % pooled_across) + part % 2;
        means.row(i).segment(index(place * shape_.filters), index(shape_.filters)) +=
            0.25F * activations.row(i * index(places) + index(row * across + column));
      }
  return to_grid(means);
}

Floats Model::logits(const GridMatrix& inputs) const {
  if (layers_.size() == 1) return times(inputs, matrix(0));
  GridMatrix patches;
  Floats activations;
  return times(last_inputs(inputs, patches, activations), matrix(1));
}

void Model::gradients(const GridMatrix& inputs, std::span<const std::uint8_t> labels, std::vector<Factors>& factors) const {
  factors.resize(layers_.size());
  if (layers_.size() == 1) {
    factors[0].inputs = inputs;
    factors[0].deltas = loss_derivative(times(inputs, matrix(0)), labels);
    return;
  }
  Floats activations;
  factors[1].inputs = last_inputs(inputs, factors[0].inputs, activations);
  factors[1].deltas = loss_derivative(times(factors[1].inputs, matrix(1)), labels);
  const auto last = matrix(1);
  const Floats back = multiply_rows(factors[1].deltas, Floats(last.topRows(last.rows() - 1).transpose()));
  if (shape_.filters == 0) {
    factors[0].inputs = inputs;
    factors[0].deltas = back.array() * (1 - activations.array().square());
    return;
  }
  const std::size_t across = places_across(), places = places_down() * across, pooled_across = across / 2;
  factors[0].positions = places;
  Floats& deltas = factors[0].deltas;
  deltas.setZero(activations.rows(), activations.cols());
  for (Index i = 0; i < inputs.rows(); ++i)
    for (std::size_t place = 0; place < places; ++place) {
      const std::size_t row = place / across / 2, column = place % across / 2;
      if (row >= places_down() / 2 || column >= pooled_across) continue;  // an odd last row or column is not averaged
      const Index at = i * index(places) + index(place);
      deltas.row(at) = 0.25F * back.row(i).segment(index((row * pooled_across + column) * shape_.filters), index(shape_.filters)).array() *
                       (1 - activations.row(at).array().square());
    }
}

std::vector<Prediction> predict(const Model& model, const Examples& examples) {
  std::vector<Prediction> found;
  for (Index from = 0; from < examples.inputs.rows(); from += rows_evaluated) {
    const Index count = std::min(rows_evaluated, examples.inputs.rows() - from);
    const Floats scores = model.logits(examples.inputs.middleRows(from, count));
    for (Index i = 0; i < count; ++i) {
      Index best = 0;
      const float most = scores.row(i).maxCoeff(&best);
      found.push_back({static_cast<std::size_t>(best), 1 / static_cast<double>((scores.row(i).array() - most).exp().sum())});
    }
  }
  return found;
}

Score evaluate(const Model& model, const Examples& examples) {
  double loss = 0;
  std::size_t right = 0;
  for (Index from = 0; from < examples.inputs.rows(); from += rows_evaluated) {
    const Index count = std::min(rows_evaluated, examples.inputs.rows() - from);
    const Floats scores = model.logits(examples.inputs.middleRows(from, count));
    for (Index i = 0; i < count; ++i) {
      const std::uint8_t label = examples.labels[static_cast<std::size_t>(from + i)];
      Index best = 0;
      const float most = scores.row(i).maxCoeff(&best);
      right += best == label ? 1 : 0;
      loss += std::log((scores.row(i).array() - most).exp().sum()) + most - scores(i, label);
    }
  }
  const auto count = static_cast<double>(examples.size());
  return {loss / count, static_cast<double>(right) / count};
}

}  // namespace tradeoff::detail::train
