// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "law.h"
#include "tradeoff/plan.h"

namespace tradeoff::witness {

/// A plan as the laws of its mechanisms, and the units their point masses are counted in.
struct Laws {
  std::vector<Part> parts;
  std::vector<Real> units;
  bool directed = false;  ///< whether the two directions may differ
  bool sampled = false;   ///< whether records are sampled, which speaks of records that are added or removed
};

/// The exact value of a number as it was written.
[[nodiscard]] Real exact(const Number& number);

/// Throws UnsupportedError for what the witness does not know. Checks no ranges: the plan is one that the library has accepted.
[[nodiscard]] Laws read(const Plan& plan);

}  // namespace tradeoff::witness
