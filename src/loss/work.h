// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tradeoff::detail {

/// Budgets count work instead of time, so that no answer depends on the clock, the load or other threads. The code that does the work
/// counts it, in units of about a microsecond on one processor. The unit was measured once; the counts are the same on every machine.
/// [profile-bracket]
class Work {
 public:
  /// Counted in whole parts of a unit: sums are exact, so the work of a question does not depend on earlier counts.
  static void count(double units) { done_ += static_cast<std::uint64_t>((units < most ? units : most) * parts); }
  /// The current count of this thread, for `since`.
  [[nodiscard]] static std::uint64_t now() { return done_; }
  /// The work counted on this thread since then, in units.
  [[nodiscard]] static double since(std::uint64_t begin) { return static_cast<double>(done_ - begin) / parts; }

 private:
  static constexpr double parts = 0x1p20;
  static constexpr double most = 0x1p40;  // limit of a single count: two weeks
  static inline constinit thread_local std::uint64_t done_ = 0;
};

}  // namespace tradeoff::detail
