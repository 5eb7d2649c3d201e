// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tradeoff/curve.h"
#include "tradeoff/plan.h"

// Numbers that the exact decimals of a plan determine, as decimals or quotients of integers. The text is empty where they do not.
namespace tradeoff::detail::report {

/// The rho of zero-concentrated DP, where `found` is an enclosure of it. [renyi-curve]
[[nodiscard]] std::string exact_rho(const Plan& plan, Interval found);
/// The mu of Gaussian noise, if it is rational. [gaussian-loss]
[[nodiscard]] std::string exact_mu(const Plan& plan, const Curve& curve);
/// The Renyi divergence of this order, where it is order * rho. [renyi-curve]
[[nodiscard]] std::string exact_divergence(const Plan& plan, const Number& order);
/// The first and second moment of the privacy loss of Gaussian noise. [loss-moments]
struct ExactMoments {
  std::string first, second;
};
[[nodiscard]] ExactMoments exact_moments(const Plan& plan, const Curve& curve);

/// A loss of the plan, where `found` encloses one that is attained and all losses are multiples of one number.
[[nodiscard]] std::string exact_loss(const Plan& plan, Interval found);

/// The largest advantage of an attack on a source that lists its probabilities. [finite-pair]
[[nodiscard]] std::string exact_advantage(const Plan& plan);

/// What a plan of one (epsilon, delta) says of delta at this epsilon, and of epsilon at this delta. [canonical-constraints]
[[nodiscard]] std::string exact_delta(const Plan& plan, const Number& epsilon);
[[nodiscard]] std::string exact_epsilon(const Plan& plan, const Number& delta);

}  // namespace tradeoff::detail::report
