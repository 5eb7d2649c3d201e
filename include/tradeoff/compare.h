// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tradeoff/curve.h"
#include "tradeoff/plan.h"
#include "tradeoff/sgd.h"

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

/// One way to draw the batches of a training run.
struct SamplerRow {
  std::string sampler;  ///< "poisson", "shuffled, order reused"
  SgdRun run;
  std::optional<SgdPlan> training = {};  ///< empty if it was refused
  std::optional<Curve> curve = {};       ///< likewise
  Interval epsilon{0, std::numeric_limits<double>::infinity()};
  std::string refused = {};  ///< why; otherwise empty
};

/// The same training run with its batches drawn in every way that is accounted for, at this delta. The sampling, the neighbours and `reuse`
/// of the run are not used. A largest batch and a number of groups that are not stated are chosen: 4 standard deviations above the mean,
/// and 10 or as many as fill a batch. A sampler that is refused states the reason. Throws DomainError for values out of range.
[[nodiscard]] std::vector<SamplerRow> compare_samplers(const SgdRun& run, const Number& delta, Tolerance tolerance = {});

}  // namespace tradeoff
