// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "numeric/arithmetic.h"

// Roots of increasing functions that are known by enclosures. [monotone-root]
namespace tradeoff::numeric {

/// Doubles in order, as integers: neighbours differ by one, so bisection ends after 64 steps for any magnitudes.
[[nodiscard]] inline std::int64_t ordinal(double x) {
  const auto bits = std::bit_cast<std::int64_t>(x);
  return bits >= 0 ? bits : std::numeric_limits<std::int64_t>::min() - bits;
}
[[nodiscard]] inline double double_of(std::int64_t ordinal_number) {
  return std::bit_cast<double>(ordinal_number >= 0 ? ordinal_number : std::numeric_limits<std::int64_t>::min() - ordinal_number);
}
/// A double between a and b in the order of doubles: the arithmetic mean if they are of similar size, otherwise the middle of the
/// exponents.
[[nodiscard]] inline double middle(double a, double b) {
  if (a > 0 && b < 4 * a) return a + (b - a) / 2;
  if (b < 0 && a > 4 * b) return a + (b - a) / 2;
  const std::int64_t low = ordinal(a);
  const std::int64_t high = ordinal(b);
  return double_of((low & high) + ((low ^ high) >> 1));  // floor of the mean, without overflow
}

/// The range in which an increasing function may take a value in the target: certainly below it at `below`, certainly above it at `above`
/// (unless they are ends of the domain), undecided from `first` to `last` if `undecided`.
template <class Enclose>
class RootSearch {
 public:
  RootSearch(Enclose& enclose, Interval target, Interval domain)
      : enclose_(enclose), target_(target), below_(domain.lo), above_(domain.hi) {}

  /// Evaluates x and returns its side: -1 below, +1 above, 0 undecided.
  int place(double x) {
    const Interval value = enclose_(x);
    const double middle_value = value.lo + (value.hi - value.lo) / 2;
    if (value.hi < target_.lo) {
      below_ = x;
      value_below_ = middle_value;
      return -1;
    }
    if (value.lo > target_.hi) {
      above_ = x;
      value_above_ = middle_value;
      return 1;
    }
    first_ = undecided_ ? std::min(first_, x) : x;
    last_ = undecided_ ? std::max(last_, x) : x;
    undecided_ = true;
    return 0;
  }

  /// Moves from x towards `direction`, `growth` times as far each time, until the side changes or the domain ends.
  void walk(double x, int direction, double step, double growth) {
    const auto beyond = [&](double at) { return direction > 0 ? at >= above_ : at <= below_; };
    for (;; step *= growth) {
      const double next = x + direction * step;
      x = next != x ? next : direction > 0 ? next_up(x) : next_down(x);
      if (beyond(x) || place(x) == direction) return;
      if (!walks_through_ && undecided_) return;
    }
  }

  /// Bisects, with a secant step in between, until an undecided point or two neighbours are found.
  void narrow() {
    for (int i = 0; i < 200 && !undecided_; ++i) {
      double x = middle(below_, above_);
      const double target_value = target_.lo + (target_.hi - target_.lo) / 2;
      const double secant = below_ + (above_ - below_) * ((target_value - value_below_) / (value_above_ - value_below_));
      if (i % 3 != 2 && below_ < secant && secant < above_) x = secant;
      if (x <= below_ || x >= above_) return;
      place(x);
    }
  }

  Interval solve(double guess) {
    const Interval domain{below_, above_};
    const double least = std::numeric_limits<double>::denorm_min();
    const int side = place(guess);
    if (side != 0) walk(guess, -side, std::max(std::abs(guess) * 0x1p-48, least), 16);
    if (!undecided_) narrow();
    if (undecided_) {
      walks_through_ = true;
      walk(first_, -1, std::max(std::abs(first_) * 0x1p-51, least), 2);
      walk(last_, 1, std::max(std::abs(last_) * 0x1p-51, least), 2);
    }
    // No value inside the domain: returns the nearer end.
    if (below_ == domain.lo && std::abs(domain.lo) < infinity && enclose_(domain.lo).lo > target_.hi) return Interval::exactly(domain.lo);
    if (above_ == domain.hi && std::abs(domain.hi) < infinity && enclose_(domain.hi).hi < target_.lo) return Interval::exactly(domain.hi);
    return {below_, above_};
  }

 private:
  Enclose& enclose_;
  Interval target_;
  double below_, above_;
  double value_below_ = -infinity, value_above_ = infinity;
  double first_ = 0, last_ = 0;
  bool undecided_ = false;
  bool walks_through_ = false;  // continues over undecided points to their end
};

/// Encloses every x in `domain` at which an increasing function takes a value in `target`; constant parts are enclosed completely.
/// `enclose(x)` encloses the function at x; it may be wide but not NaN. An end of the result that is not an end of the domain was verified:
/// there the function is certainly below (above) the target. A target beyond the whole domain gives the nearer end. With a good guess it
/// takes about ten evaluations, in the worst case some hundreds. For a decreasing function negate the enclosure and the target.
/// [monotone-root]
template <class Enclose>
[[nodiscard]] Interval increasing_root(Enclose&& enclose, Interval target, double guess, Interval domain) {
  constexpr double largest = std::numeric_limits<double>::max();
  if (!(guess >= domain.lo)) guess = domain.lo;  // also for NaN
  guess = std::clamp(std::min(guess, domain.hi), -largest, largest);
  return RootSearch<std::remove_reference_t<Enclose>>(enclose, target, domain).solve(guess);
}

}  // namespace tradeoff::numeric
