// SPDX-License-Identifier: Apache-2.0
#include "numeric/lane_loops.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tradeoff::detail::numeric {
namespace {

double end_exponent(const Cells& cells, std::size_t j) {
  return cells.power * cells.modulus[j] + cells.t * cells.argument[j] - cells.square[j];
}

}  // namespace

TRADEOFF_CLONES TurnedSums turned_sums(const Turning& turning) {
  Lanes first_real, first_imaginary, profile_sum{}, fall_sum{};
  std::memcpy(&first_real, turning.first, sizeof first_real);
  std::memcpy(&first_imaginary, turning.first + lane_count, sizeof first_imaginary);
  Lanes real = first_real, imaginary = first_imaginary;
  const double turn_real = std::cos(turning.block_angle), turn_imaginary = std::sin(turning.block_angle);
  for (std::size_t block = 0; block < turning.blocks; ++block) {
    if (block % turns == 0 && block > 0) {
      const double angle = static_cast<double>(block) * turning.block_angle, cosine = std::cos(angle), sine = std::sin(angle);
      real = first_real * cosine - first_imaginary * sine;
      imaginary = first_real * sine + first_imaginary * cosine;
    }
    Lanes weight_real, weight_imaginary;
    std::memcpy(&weight_real, turning.profile + block * 2 * lane_count, sizeof weight_real);
    std::memcpy(&weight_imaginary, turning.profile + block * 2 * lane_count + lane_count, sizeof weight_imaginary);
    profile_sum += weight_real * real - weight_imaginary * imaginary;
    std::memcpy(&weight_real, turning.fall + block * 2 * lane_count, sizeof weight_real);
    std::memcpy(&weight_imaginary, turning.fall + block * 2 * lane_count + lane_count, sizeof weight_imaginary);
    fall_sum += weight_real * real - weight_imaginary * imaginary;
    const Lanes before = real;
    real = before * turn_real - imaginary * turn_imaginary;
    imaginary = before * turn_imaginary + imaginary * turn_real;
  }
  TurnedSums sums;
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    sums.profile += profile_sum[lane];
    sums.fall += fall_sum[lane];
  }
  return sums;
}

TRADEOFF_CLONES double largest_cell(const Cells& cells) {
  constexpr std::size_t half = lane_count / 2;
  std::size_t j = 0;
  HalfLanes most = HalfLanes{} - std::numeric_limits<double>::infinity();  // of each lane
  for (; j + half <= cells.count; j += half) {
    HalfLanes modulus, argument, square, curvature;
    std::memcpy(&modulus, cells.modulus + j, sizeof modulus);
    std::memcpy(&argument, cells.argument + j, sizeof argument);
    std::memcpy(&square, cells.square + j, sizeof square);
    std::memcpy(&curvature, cells.curvature + j, sizeof curvature);
    const HalfLanes left = cells.power * modulus + cells.t * argument - square;
    std::memcpy(&modulus, cells.modulus + j + 1, sizeof modulus);
    std::memcpy(&argument, cells.argument + j + 1, sizeof argument);
    std::memcpy(&square, cells.square + j + 1, sizeof square);
    const HalfLanes right = cells.power * modulus + cells.t * argument - square;
    const HalfLanes cell = (left > right ? left : right) + cells.bend * curvature;
    most = cell > most ? cell : most;
  }
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t lane = 0; lane < half; ++lane) largest = std::max(largest, most[lane]);
  for (; j < cells.count; ++j)
    largest = std::max(largest, std::max(end_exponent(cells, j), end_exponent(cells, j + 1)) + cells.bend * cells.curvature[j]);
  return largest;
}

}  // namespace tradeoff::detail::numeric
