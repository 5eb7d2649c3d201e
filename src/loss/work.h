// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tradeoff {

/// Budgets count work, so that no answer depends on the clock, the load or other threads. The code that does the work counts it, in units
/// of about a microsecond on one processor: only the scale is measured, the count is the same everywhere. [profile-bracket]
class Work {
 public:
  static void count(double units) { done_ += units; }
  /// What this thread has counted so far.
  [[nodiscard]] static double done() { return done_; }

 private:
  static inline constinit thread_local double done_ = 0;
};

}  // namespace tradeoff
