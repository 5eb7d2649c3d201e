// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "plan/vocabulary.h"
#include "tradeoff/interval.h"

namespace tradeoff::detail {

inline constexpr const char* grid_is_not_random =
    "a grid that is walked once is not a random search: its runs are not drawn independently, so best_of does not hold; "
    "write repeat(k) for a grid of k settings, which pays for every run";

/// The law of a random number N of runs, through its generating function phi(s) = E s^N. All derivatives of phi are at least 0 on [0, 1],
/// so each of the functions below rises. Arguments lie within [0, 1]; results are enclosures. [best-of-runs]
class RunsLaw {
 public:
  RunsLaw() = default;
  RunsLaw(const RunsLaw&) = delete;
  RunsLaw& operator=(const RunsLaw&) = delete;
  virtual ~RunsLaw() = default;

  [[nodiscard]] virtual Interval phi(Interval s) const = 0;
  /// The first and the second derivative of phi.
  [[nodiscard]] virtual Interval slope(Interval s) const = 0;
  [[nodiscard]] virtual Interval curvature(Interval s) const = 0;
  /// Pr(N = runs).
  [[nodiscard]] virtual Interval probability(std::uint64_t runs) const = 0;
  /// The largest number of runs that is possible; 0 if there is none.
  [[nodiscard]] virtual std::uint64_t most() const { return 0; }
  /// The law in words: "geometric with mean 10: at least 1 run".
  [[nodiscard]] virtual std::string words() const = 0;

  /// E N = phi'(1).
  [[nodiscard]] Interval mean() const { return slope(Interval::exactly(1)); }
  /// Certainly one run.
  [[nodiscard]] virtual bool is_single() const { return false; }
};

/// The law that the argument `name` of a call states.
[[nodiscard]] std::shared_ptr<const RunsLaw> law_of(const Arguments& arguments, std::string_view name);

}  // namespace tradeoff::detail
