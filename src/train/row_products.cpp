// SPDX-License-Identifier: Apache-2.0
#include "train/row_products.h"

#include <algorithm>
#include <array>

namespace tradeoff::detail::train {
namespace {

template <class Left>
struct Product {
  const Left* left;
  const float* weights;
  float* out;
  std::size_t rows, columns, outputs;
};

/// One row for `lanes` outputs from `first` on; the sums stay in registers and are accumulated in the order of the columns.
template <std::size_t lanes, class Left>
TRADEOFF_INLINE void multiply_strip(const Product<Left>& product, std::size_t row, std::size_t first) {
  std::array<float, lanes> sums{};
  const Left* left = product.left + row * product.columns;
  const float* weights = product.weights + first;
  for (std::size_t j = 0; j < product.columns; ++j, weights += product.outputs) {
    const auto value = static_cast<float>(left[j]);
    for (std::size_t k = 0; k < lanes; ++k) sums[k] += value * weights[k];
  }
  std::copy_n(sums.data(), lanes, product.out + row * product.outputs + first);
}

template <class Left>
TRADEOFF_INLINE void multiply_all(const Product<Left>& product) {
  for (std::size_t row = 0; row < product.rows; ++row) {
    std::size_t first = 0;
    for (; first + 32 <= product.outputs; first += 32) multiply_strip<32>(product, row, first);
    for (; first + 8 <= product.outputs; first += 8) multiply_strip<8>(product, row, first);
    for (; first < product.outputs; ++first) multiply_strip<1>(product, row, first);
  }
}

/// Lambert's continued fraction, truncated after seven terms and limited to 1, which it would exceed.
TRADEOFF_INLINE void tanh_all(float* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const float x = values[i] < -5 ? -5.F : values[i] > 5 ? 5.F : values[i], square = x * x;
    const float above = x * (135135.F + square * (17325.F + square * (378.F + square)));
    const float below = 135135.F + square * (62370.F + square * (3150.F + square * 28.F)), found = above / below;
    values[i] = found < -1 ? -1.F : found > 1 ? 1.F : found;
  }
}

#if defined(__x86_64__) && !defined(TRADEOFF_PORTABLE)
TRADEOFF_AVX2 void multiply_with_avx2(const Product<std::int16_t>& product) { multiply_all(product); }
TRADEOFF_AVX2 void multiply_with_avx2(const Product<float>& product) { multiply_all(product); }
TRADEOFF_AVX2 void tanh_with_avx2(float* values, std::size_t count) { tanh_all(values, count); }
#endif

template <class Left>
Floats multiply(const Left* left, Eigen::Index rows, Eigen::Index columns, const float* weights, Eigen::Index outputs, noise::Level level) {
  Floats found(rows, outputs);
  const Product<Left> product{
      left, weights, found.data(), static_cast<std::size_t>(rows), static_cast<std::size_t>(columns), static_cast<std::size_t>(outputs)};
#if defined(__x86_64__) && !defined(TRADEOFF_PORTABLE)
  if (level != noise::Level::portable) {
    multiply_with_avx2(product);
    return found;
  }
#endif
  static_cast<void>(level);
  multiply_all(product);
  return found;
}

}  // namespace

Floats multiply_rows(const GridMatrix& left, const Eigen::Map<const Floats>& weights, noise::Level level) {
  return multiply(left.data(), left.rows(), left.cols(), weights.data(), weights.cols(), level);
}

Floats multiply_rows(const Floats& left, const Floats& weights, noise::Level level) {
  return multiply(left.data(), left.rows(), left.cols(), weights.data(), weights.cols(), level);
}

void apply_tanh(Floats& values, noise::Level level) {
  const auto count = static_cast<std::size_t>(values.size());
#if defined(__x86_64__) && !defined(TRADEOFF_PORTABLE)
  if (level != noise::Level::portable) return tanh_with_avx2(values.data(), count);
#endif
  static_cast<void>(level);
  tanh_all(values.data(), count);
}

}  // namespace tradeoff::detail::train
