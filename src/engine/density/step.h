// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "loss/loss.h"

// [density-powers]
namespace tradeoff::detail::density {

/// On one cell of a lattice: log w = start + slope u for 0 <= u <= 1, and the density in u is
/// coefficient w^exponent (w - 1 + rate)^(-3/2) |slope|, before any tilt.
struct Piece {
  double start;
  double slope;  ///< positive where the loss is log w, negative where it is minus that
  double exponent;
};

/// The loss of one step in one direction under P: a density between the points offset + j step, 0 <= j <= pieces, and atoms at every
/// `stride`-th of them.
struct Step {
  double offset = 0;
  double step = 0;
  std::size_t stride = 1;
  double rate = 1;
  double coefficient = 0;
  std::vector<double> atoms;
  std::vector<Piece> pieces;
  double loss_error = 0;    ///< of every loss, absolute: the rounding of the lattice and the width of the parameters
  double weight_error = 0;  ///< of every mass and density, relative
};

/// Laplace noise, whole or sampled, and what has the same kind of loss. Empty for any other loss.
[[nodiscard]] std::optional<Step> step_of(const Loss& loss, Direction direction);

/// The same law on a lattice with `parts` points for one.
[[nodiscard]] Step refined(const Step& step, std::size_t parts);

}  // namespace tradeoff::detail::density
