// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "law.h"
#include "tradeoff/curve.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail::witness {

/// A plan as the distributions of its mechanisms, and the units of their point masses.
struct Laws {
  std::vector<Part> parts;
  std::vector<Real> units;
  bool directed = false;  ///< whether the two directions may differ
  bool sampled = false;   ///< whether records are sampled, which needs add-remove neighbours
};

/// The exact value of a number as it was written.
[[nodiscard]] Real exact(const Number& number);

/// Throws UnsupportedError for words that the witness does not know. Checks no ranges: the library has accepted the plan.
[[nodiscard]] Laws read(const Plan& plan, Neighbours neighbours);

}  // namespace tradeoff::detail::witness
