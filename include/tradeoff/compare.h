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

/// The epsilon of one method for a plan. `epsilon` encloses the method's answer; it is infinite if the method was refused.
struct MethodRow {
  std::string method;
  RowKind kind = RowKind::refused;
  Interval epsilon{0, std::numeric_limits<double>::infinity()};
  std::string remark;  ///< what was done, or why it was refused
};

/// The epsilon of every method at one delta. `epsilon` encloses the truth: its lower end comes from the exact row, its upper end from the
/// smallest of all bounds.
struct Comparison {
  std::vector<MethodRow> rows;
  std::string best;  ///< the method with the smallest bound
  Interval epsilon;
  std::vector<std::string> warnings;
};

/// The names of all methods, in the order of the rows.
[[nodiscard]] const std::vector<std::string>& comparison_methods();

/// Computes the epsilon of the plan at this delta by every method, or by the named ones. Throws DomainError for an unknown method or a
/// delta outside [0, 1], and whatever `analyze` throws. If a method fails, its row states the reason. [classical-composition]
[[nodiscard]] Comparison compare_methods(const Plan& plan, Interval delta, Neighbours neighbours = Neighbours::unstated,
                                         Tolerance tolerance = {}, const std::vector<std::string>& methods = {});

}  // namespace tradeoff
