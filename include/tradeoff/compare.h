// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "tradeoff/curve.h"
#include "tradeoff/plan.h"

namespace tradeoff {

/// What a row of a comparison is. Only a `bound` may be claimed.
enum class RowKind {
  bound,     ///< a theorem covers the plan: its epsilon is a guarantee
  estimate,  ///< an approximation that may lie on either side of the truth
  at_least,  ///< no smaller epsilon is possible
  refused,   ///< the method's theorem does not cover the plan
};

/// One method's epsilon for a plan. `epsilon` encloses what the method says, infinite where it was refused.
struct MethodRow {
  std::string method;
  RowKind kind = RowKind::refused;
  Interval epsilon{0, std::numeric_limits<double>::infinity()};
  std::string remark;  ///< what was done, or why it was refused
};

/// Every method's epsilon at one delta. `epsilon` encloses the truth: from the exact row below, from the least of all bounds above.
struct Comparison {
  std::vector<MethodRow> rows;
  std::string best;  ///< the method whose bound is the least
  Interval epsilon;
  std::vector<std::string> warnings;
};

/// The names of all methods, in the order of the rows.
[[nodiscard]] const std::vector<std::string>& comparison_methods();

/// The epsilon of the plan at this delta by every method, or by those named. Throws DomainError for an unknown method, a delta outside
/// [0, 1], and what `analyze` throws. A method that fails is a row that says why. [classical-composition]
[[nodiscard]] Comparison compare_methods(const Plan& plan, Interval delta, Neighbours neighbours = Neighbours::unstated,
                                         Tolerance tolerance = {}, const std::vector<std::string>& methods = {});

}  // namespace tradeoff
