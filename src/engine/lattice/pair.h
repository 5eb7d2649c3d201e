// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "loss/atoms_profile.h"
#include "loss/loss.h"
#include "tradeoff/interval.h"

namespace tradeoff::detail::lattice {

/// Non-negative masses at the losses index * step, index increasing, and at +infinity. Not normalised: a distribution that bounds another
/// in the hockey-stick order bounds it after any convolution, whatever their total masses. [dominating-pair]
struct Law {
  std::vector<std::int64_t> index;
  std::vector<double> mass;
  double infinite = 0;
  Interval finite_total;  ///< encloses the sum of `mass`
};

/// One loss in one direction between two distributions on the same lattice.
struct Pair {
  Law above;
  Law below;
};

/// The lattice points at which a profile is evaluated: some multiples of the step, dense where the distribution has mass. Increasing, at
/// least three, the first one negative, all below 2^31 in absolute value, neighbours at most 1/2 apart.
struct Points {
  double step = 0;
  std::vector<std::int64_t> index;
};

/// Encloses the loss between two distributions on the points. Evaluates the profile there and at one more point at either end; a profile
/// that evaluates many points together is asked for values of this relative width. `atoms`, if given, is the profile of the atoms of the
/// loss, and is evaluated instead. [dominating-pair] [dominated-pair]
[[nodiscard]] Pair discretise(const Loss& loss, Direction direction, const Points& points, BatchProfile::Width width = {1e-6, 0},
                              const AtomsProfile* atoms = nullptr);

}  // namespace tradeoff::detail::lattice
