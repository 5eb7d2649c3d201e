// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tradeoff::detail::train {

/// Activations as integers: `activation_one` stands for 1. [private-step]
using GridMatrix = Eigen::Matrix<std::int16_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// 2^-10: finer than a pixel value, and coarse enough that a norm of 31 is still a 16-bit integer.
inline constexpr int activation_bits = 10;
inline constexpr std::int16_t activation_one = 1 << activation_bits;
inline constexpr std::int16_t largest_activation = 32767;

/// The nearest grid value, clipped to the range; NaN becomes 0.
[[nodiscard]] inline std::int16_t to_grid(float value) {
  const float scaled = value * static_cast<float>(activation_one);
  if (!(scaled > -32767.F)) return scaled <= -32767.F ? std::int16_t{-largest_activation} : std::int16_t{0};
  return scaled < 32767.F ? static_cast<std::int16_t>(scaled < 0 ? scaled - 0.5F : scaled + 0.5F) : largest_activation;
}

/// Records ready for a model: one row each, the last column is 1 for the bias. The values of a row are a fixed function of its record.
struct Examples {
  GridMatrix inputs;
  std::vector<std::uint8_t> labels;
  std::size_t classes = 0;
  std::size_t image_rows = 0;  ///< 0 if the values are not an image
  std::size_t image_columns = 0;

  [[nodiscard]] std::size_t size() const { return labels.size(); }
  [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(inputs.cols()) - 1; }
};

}  // namespace tradeoff::detail::train
