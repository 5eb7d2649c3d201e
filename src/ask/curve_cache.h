// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "tradeoff/curve.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail::ask {

/// Caches the curves of the most recent plans, so that many questions about one plan cost one analysis. The key of a plan includes the rows
/// of its files; a changed file makes a different plan.
class CurveCache {
 public:
  /// Returns `analyze(parse(plan), ...)` or throws what that throws. Errors are not cached.
  [[nodiscard]] std::shared_ptr<const Curve> find(std::string_view plan, Neighbours neighbours, Tolerance tolerance);

 private:
  struct Entry {
    Plan plan;  // with the rows of its files
    std::size_t bytes;
    Neighbours neighbours;
    double relative;
    std::shared_ptr<const Curve> curve;
  };
  static constexpr std::size_t entry_limit = 32;        // with more plans in turn than this, each question costs an analysis
  static constexpr std::size_t byte_limit = 16U << 20;  // bytes of plan text and tables, so that hostile plans cannot exhaust the memory

  std::list<Entry> entries_;  // the most recently used one first
  std::size_t bytes_ = 0;
};

}  // namespace tradeoff::detail::ask
