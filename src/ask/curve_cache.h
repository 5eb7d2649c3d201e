// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "tradeoff/curve.h"
#include "tradeoff/plan.h"

namespace tradeoff::ask {

/// Remembers the curves of the plans last asked about, so that many questions about one plan cost one analysis. A plan is what it says,
/// the rows of its files included: a file that has changed makes it another plan.
class CurveCache {
 public:
  /// What `analyze(parse(plan), ...)` gives, or throws what that throws (a refusal is not remembered).
  [[nodiscard]] std::shared_ptr<const Curve> find(std::string_view plan, Neighbours neighbours, Tolerance tolerance);

 private:
  struct Entry {
    Plan plan;  // with the rows of its files
    std::size_t bytes;
    Neighbours neighbours;
    double relative;
    std::shared_ptr<const Curve> curve;
  };
  static constexpr std::size_t entry_limit = 32;        // a client that interleaves more plans than this pays the analysis again
  static constexpr std::size_t byte_limit = 16U << 20;  // of plan text and tables, so that hostile plans cannot fill the memory

  std::list<Entry> entries_;  // the last one used comes first
  std::size_t bytes_ = 0;
};

}  // namespace tradeoff::ask
