// SPDX-License-Identifier: Apache-2.0
#include "train/features.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "tradeoff/error.h"

namespace tradeoff::detail::train {
namespace {

constexpr std::size_t cell = 4;
constexpr std::size_t directions = 8;
constexpr float feature_norm = 5;  // the norm of the features of a record; larger ones are clipped more, smaller ones slow down learning

struct Shape {
  std::size_t rows, columns;
  [[nodiscard]] std::size_t cells_across() const { return (columns + cell - 1) / cell; }
  [[nodiscard]] std::size_t cells_down() const { return (rows + cell - 1) / cell; }
};

void add_histograms(const std::int16_t* image, Shape shape, std::span<float> sums) {
  const auto at = [&](std::size_t row, std::size_t column) -> float {  // 0 outside, where row or column has wrapped around
    return row < shape.rows && column < shape.columns ? static_cast<float>(image[row * shape.columns + column]) : 0.F;
  };
  for (std::size_t row = 0; row < shape.rows; ++row)
    for (std::size_t column = 0; column < shape.columns; ++column) {
      const float across = at(row, column + 1) - at(row, column - 1), down = at(row + 1, column) - at(row - 1, column);
      if (across == 0 && down == 0) continue;
      const float size = std::sqrt(across * across + down * down);
      const float turn = (std::atan2(down, across) / std::numbers::pi_v<float> + 1) * (directions / 2.F);  // 0..8
      const float whole = std::floor(turn);
      const std::size_t bin = static_cast<std::size_t>(whole) % directions;
      float* histogram = &sums[((row / cell) * shape.cells_across() + column / cell) * directions];
      histogram[bin] += size * (1 - (turn - whole));
      histogram[(bin + 1) % directions] += size * (turn - whole);
    }
}

}  // namespace

Examples orientation_histograms(const Examples& images) {
  const Shape shape{images.image_rows, images.image_columns};
  if (shape.rows == 0) throw DomainError("train: orientation features are of images; use --features values");
  const std::size_t width = shape.cells_down() * shape.cells_across() * directions;
  Examples found;
  found.classes = images.classes;
  found.labels = images.labels;
  found.inputs.resize(images.inputs.rows(), static_cast<Eigen::Index>(width + 1));
  std::vector<float> sums(width);
  for (Eigen::Index i = 0; i < images.inputs.rows(); ++i) {
    std::fill(sums.begin(), sums.end(), 0.F);
    add_histograms(images.inputs.row(i).data(), shape, sums);
    float total = 0;  // the squared feature_norm of the square roots
    for (const float sum : sums) total += sum;
    const float scale = total > 0 ? feature_norm / std::sqrt(total) : 0;
    for (std::size_t j = 0; j < width; ++j) found.inputs(i, static_cast<Eigen::Index>(j)) = to_grid(std::sqrt(sums[j]) * scale);
    found.inputs(i, static_cast<Eigen::Index>(width)) = activation_one;
  }
  return found;
}

}  // namespace tradeoff::detail::train
