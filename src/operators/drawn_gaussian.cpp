// SPDX-License-Identifier: Apache-2.0
#include "operators/drawn_gaussian.h"

#include "engine/compose.h"
#include "mechanism/gaussian.h"
#include "numeric/arithmetic.h"
#include "operators/gaussian_mixture.h"
#include "operators/mixture.h"
#include "operators/subsampled_gaussian.h"

namespace tradeoff::detail {

LossPointer nothing_seen() { return compose({}, {}).loss; }

LossPointer drawn_gaussian(Interval mu, Interval rate, bool clipped, Neighbours neighbours) {
  if (mu.hi == 0 || rate.hi == 0) return nothing_seen();
  if (rate.lo >= 1) return gaussian_loss(mu);
  if (neighbours != Neighbours::replace_one) return subsampled_gaussian(mu, rate);
  static const Citation antipodal("poisson-replace-one", "a record and its replacement pull in opposite directions; clipped contributions");
  static const Citation shown("poisson-replace-one", "whether the record was drawn is shown, because only a distance is known");
  if (clipped) return gaussian_mixture(mu / 2.0, rate, 1, 1, {antipodal});
  return mixture_loss({{rate, gaussian_loss(mu, {shown})}, {clamp(1.0 - rate, 0, 1), nothing_seen()}});
}

}  // namespace tradeoff::detail
