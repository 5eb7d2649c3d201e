// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "engine/moments/renyi_sum.h"
#include "loss/loss.h"

namespace tradeoff::detail {

/// An engine takes milliseconds, or up to a second.
enum class Speed { quick, slow };

/// While it exists on a thread, chains ask slow engines only where they come first: an answer may be wider, and is as valid.
class QuickEnginesOnly {
 public:
  explicit QuickEnginesOnly(bool wanted) : before_(wanted_) { wanted_ = wanted_ || wanted; }
  ~QuickEnginesOnly() { wanted_ = before_; }
  QuickEnginesOnly(const QuickEnginesOnly&) = delete;
  QuickEnginesOnly& operator=(const QuickEnginesOnly&) = delete;
  [[nodiscard]] static bool wanted() { return wanted_; }

 private:
  static inline constinit thread_local bool wanted_ = false;
  bool before_;
};

/// A composition by one engine; null if the engine cannot do it.
struct EnginePath {
  LossPointer loss;
  Speed speed = Speed::quick;
  bool has_tests = true;  ///< false if its tests and its approximations would take as long as its profile
};

struct ChainFacts {
  double far = 0;                           ///< a delta up to this size is left to the first engine, however wide its answer is
  std::optional<Interval> gaussian_part{};  ///< the mu of the Gaussian part of the composition, if it has one
  /// Bounds log delta at an epsilon above 0 where the bound is below all doubles; empty elsewhere. Asked after the first engine.
  std::function<std::optional<double>(Direction, double, AtMost)> far_bound{};
};

/// The same composition by several engines, best first. A question goes to the next engine only while the answer is wider than requested,
/// to a quick engine while it has fewer than nine digits, unless fewer than usual are requested; every answer is valid, so they are
/// intersected. `tail` returns the tail of the composition; it is called at most once.
[[nodiscard]] LossPointer fallback_chain(std::vector<EnginePath> paths, std::function<Tail()> tail, Tolerance tolerance,
                                         const ChainFacts& facts = {});

}  // namespace tradeoff::detail
