// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "loss/loss.h"

namespace tradeoff::detail {

/// A mechanism known only through an equation between its noise, epsilon and delta. Solved for delta, the equation gives a symmetric upper
/// bound min(1, exp(log_value(e))) of the profile. In general no pair of distributions has that profile: refine it before composing.
/// [naive-profile]
class FamilyLoss : public Loss, public BoundShape {
 public:
  /// The logarithm of the bound before it is cut at 1; decreasing; e >= 0. `start` is the epsilon at which it is 0, or 0.
  [[nodiscard]] virtual Interval log_value(Interval epsilon) const = 0;

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const final;
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const final;
  [[nodiscard]] bool symmetric() const final { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const final { return Interval::exactly(0); }
  [[nodiscard]] Capabilities capabilities(Direction) const override { return {.bound_shape = this, .is_pair = false}; }
};

/// sigma = a/epsilon sqrt(log(b/delta)): delta = b exp(-(sigma epsilon / a)^2).
[[nodiscard]] LossPointer sqrt_log_family(Interval a, Interval b, Interval sigma);
/// sigma = -c log(delta)/epsilon: delta = exp(-sigma epsilon / c).
[[nodiscard]] LossPointer log_family(Interval c, Interval sigma);
/// delta <= exp(log_factor - epsilon^2 / (2 width^2)) from `from` on, and 1 before: the stated tail of a user's own profile.
[[nodiscard]] std::shared_ptr<const FamilyLoss> gaussian_tail_family(Interval log_factor, Interval width, double from);
/// The invisibility cloak encoder, for changes of the inputs that keep their sum. Its source states: (epsilon, delta)-DP if messages > 10
/// log(users / (epsilon delta)), so delta = users exp(-messages/10) / epsilon.
[[nodiscard]] LossPointer icea(std::uint64_t users, std::uint64_t messages);

}  // namespace tradeoff::detail
