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

/// What probabilities that a plan lists determine, if it lies in the enclosure. [finite-pair]
[[nodiscard]] std::string exact_advantage(const Plan& plan, Interval found);
[[nodiscard]] std::string exact_chi_square(const Plan& plan, Direction direction, Interval found);
/// The accuracy of the best guess at this prior, and the largest posterior.
[[nodiscard]] std::string exact_guess(const Plan& plan, const Number& prior, Interval found);
[[nodiscard]] std::string exact_posterior(const Plan& plan, const Number& prior, Interval found);
/// A factor on the odds that an output causes, and the posterior after it. [odds-factor]
[[nodiscard]] std::string exact_factor(const Plan& plan, Interval found);
[[nodiscard]] std::string exact_belief(const Plan& plan, const Number& prior, Interval found);
/// The same, or what a plan of one (epsilon, delta) says of a test of size 0. [canonical-constraints]
[[nodiscard]] std::string exact_beta(const Plan& plan, const Number& alpha, Direction direction, Interval found);
[[nodiscard]] std::string exact_tpr(const Plan& plan, const Number& fpr, Direction direction, Interval found);

/// A corner of the curve in a direction, by listed probabilities: delta, and epsilon if it is 0.
struct ExactCorner {
  std::string epsilon, delta;
};
[[nodiscard]] ExactCorner exact_corner(const Plan& plan, Direction direction, Interval epsilon, Interval delta);

/// What a plan of one (epsilon, delta) says of delta at this epsilon, and of epsilon at this delta; at epsilon 0 and infinity what listed
/// probabilities say. [canonical-constraints]
[[nodiscard]] std::string exact_delta(const Plan& plan, const Number& epsilon, Direction direction, Interval found);
[[nodiscard]] std::string exact_epsilon(const Plan& plan, const Number& delta, Interval found);

}  // namespace tradeoff::detail::report
