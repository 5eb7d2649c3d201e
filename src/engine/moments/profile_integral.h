// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "loss/tail.h"
#include "tradeoff/interval.h"

// Expectations of functions of the privacy loss, as integrals of the privacy profile. [profile-integral]
//   E_P g(L) = g(0) + integral over t > 0 of (g' + g'')(t) delta(t) + (g' + g'')(-t) exp(-t) swapped_delta(t)
namespace tradeoff::detail {

/// log delta(t) <= log_factor - rate t for every t >= 0, from a moment of the loss. [renyi-conversion]
struct ExponentialTail {
  double log_factor = 0;
  double rate = 0;
};

/// A profile on t >= 0 that caches its values, and the proved bounds of its tail.
class ProfileSamples {
 public:
  ProfileSamples(std::function<Interval(double)> log_delta, Tail tail, std::vector<ExponentialTail> exponential = {})
      : log_delta_(std::move(log_delta)), tail_(tail), exponential_(std::move(exponential)) {}
  [[nodiscard]] Interval log_delta(double t);
  [[nodiscard]] const Tail& tail() const { return tail_; }
  /// The logarithm of a bound of the integral of t^k exp(rate t) delta(t) from `from` on, for every k <= highest; infinite if there is
  /// none.
  [[nodiscard]] double log_tail(double from, double rate, std::size_t highest) const;
  [[nodiscard]] bool has_tail(double rate) const;

 private:
  std::function<Interval(double)> log_delta_;
  Tail tail_;
  std::vector<ExponentialTail> exponential_;
  std::unordered_map<double, Interval> known_;
};

/// The integrals of t^k exp(rate t) delta(t), k = 0..highest, from 0 to `end` (infinity: to the end of the profile), each as exp(log_scale)
/// times the enclosure.
struct ProfileIntegrals {
  double log_scale = 0;
  std::vector<Interval> powers;
};

/// The effort: refinement stops at this relative gap or after this many points.
struct IntegralEffort {
  double relative = 1e-9;
  std::size_t points = 20000;
};

/// The same from the tail bounds alone.
[[nodiscard]] double log_tail_integral(const Tail& tail, double from, double rate, std::size_t highest);

/// delta is convex in exp(t): on a cell it lies below its chord and above the extended chords of the neighbours. An upper end is infinite
/// if no bound on the tail is proved.
[[nodiscard]] ProfileIntegrals integrate_profile(ProfileSamples& profile, double rate, std::size_t highest, double end,
                                                 const IntegralEffort& effort);

}  // namespace tradeoff::detail
