// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace tradeoff::detail {

/// While it exists on a thread, a delta up to this size need only be bounded from above, because the answer adds it to much larger numbers.
/// Engines may then skip the far tail of a loss, which costs most, and a larger delta need not be narrower than this. It affects how tight
/// a value is, never whether it is valid.
class Negligible {
 public:
  explicit Negligible(double delta) : before_(delta_) { delta_ = std::max(delta_, delta); }
  ~Negligible() { delta_ = before_; }
  Negligible(const Negligible&) = delete;
  Negligible& operator=(const Negligible&) = delete;

  /// Below the smallest normal doubles a relative width is meaningless.
  static constexpr double least = 1e-290;
  /// Below the logarithm of half the smallest double: a bound suffices, how far it is from the truth matters to nobody.
  static constexpr double log_of_doubles = -745.2;
  [[nodiscard]] static double delta() { return delta_; }

 private:
  static inline constinit thread_local double delta_ = least;
  double before_;
};

/// While it exists on a thread, the logarithm of a delta below all doubles need only be bounded, because it is only shown.
class BoundedLogarithms {
 public:
  BoundedLogarithms() : before_(enough_) { enough_ = true; }
  ~BoundedLogarithms() { enough_ = before_; }
  BoundedLogarithms(const BoundedLogarithms&) = delete;
  BoundedLogarithms& operator=(const BoundedLogarithms&) = delete;

  [[nodiscard]] static bool are_enough() { return enough_; }

 private:
  static inline constinit thread_local bool enough_ = false;
  bool before_;
};

}  // namespace tradeoff::detail
