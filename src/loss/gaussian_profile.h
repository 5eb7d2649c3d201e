// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "numeric/arithmetic.h"

// The pair N(0,1) against N(mu,1): its privacy profile, its trade-off function G_mu, and their inverses. [gaussian-profile]
//   delta_mu(e) = Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu),     G_mu(a) = Phi(Phi^-1(1 - a) - mu)
// mu in [0, infinity] (clipped), every real epsilon, infinite ends included. All are free of cancellation; all enclose the truth for
// every choice of arguments in the given intervals, and none returns NaN.
namespace tradeoff::detail {

/// delta_mu(epsilon): increasing in mu, decreasing in epsilon.
[[nodiscard]] Interval gaussian_delta(Interval mu, Interval epsilon);
/// log delta_mu(epsilon), where delta itself underflows (mu = 1, epsilon = 1e100 included) and where it is next to 1.
[[nodiscard]] Interval log_gaussian_delta(Interval mu, Interval epsilon);
/// 1 - delta_mu(epsilon), to full relative accuracy where delta is next to 1.
[[nodiscard]] Interval gaussian_complement(Interval mu, Interval epsilon);
[[nodiscard]] Interval log_gaussian_complement(Interval mu, Interval epsilon);
/// The same at one mu and many epsilons; `out` has the size of `epsilon`.
void gaussian_delta(double mu, std::span<const double> epsilon, std::span<Interval> out);

/// A lower bound of minus the second derivative of log delta_mu, at every point from epsilon >= 0 on: it grows with epsilon.
/// [gaussian-part]
[[nodiscard]] double gaussian_bend_below(double mu, double epsilon);

/// mu_GDP: the mu with delta_mu(epsilon) = delta, for epsilon >= 0. 0 where delta <= 0, infinity where delta >= 1.
/// For a negative epsilon it is the least mu with delta_mu(epsilon) >= delta, 0 if delta <= 1 - exp(epsilon).
[[nodiscard]] Interval gaussian_mu(Interval epsilon, Interval delta);
[[nodiscard]] Interval gaussian_mu_of_log(Interval epsilon, Interval log_delta);
[[nodiscard]] Interval gaussian_mu_of_complement(Interval epsilon, Interval complement);
/// The same from log(1 - delta), epsilon >= 0.
[[nodiscard]] Interval gaussian_mu_of_log_complement(Interval epsilon, Interval log_complement);

/// eps_GDP: the smallest epsilon >= 0 with delta_mu(epsilon) <= delta; infinity if there is none (delta <= 0 < mu).
[[nodiscard]] Interval gaussian_epsilon(Interval mu, Interval delta);
[[nodiscard]] Interval gaussian_epsilon_of_log(Interval mu, Interval log_delta);

/// G_mu(alpha), the least type II error at type I error alpha (clipped to [0, 1]). G_mu is its own inverse.
[[nodiscard]] Interval gaussian_beta(Interval mu, Interval alpha);
/// 1 - G_mu(alpha) = Phi(mu + Phi^-1(alpha)), to full relative accuracy where the power is small.
[[nodiscard]] Interval gaussian_power(Interval mu, Interval alpha);
/// The mu with G_mu(alpha) = beta, 0 if beta >= 1 - alpha.
[[nodiscard]] Interval gaussian_mu_of_test(Interval alpha, Interval beta);

[[nodiscard]] inline Interval gaussian_delta(double mu, double epsilon) {
  return gaussian_delta(Interval::exactly(mu), Interval::exactly(epsilon));
}
[[nodiscard]] inline Interval log_gaussian_delta(double mu, double epsilon) {
  return log_gaussian_delta(Interval::exactly(mu), Interval::exactly(epsilon));
}
[[nodiscard]] inline Interval gaussian_complement(double mu, double epsilon) {
  return gaussian_complement(Interval::exactly(mu), Interval::exactly(epsilon));
}
[[nodiscard]] inline Interval gaussian_mu(double epsilon, double delta) {
  return gaussian_mu(Interval::exactly(epsilon), Interval::exactly(delta));
}
[[nodiscard]] inline Interval gaussian_epsilon(double mu, double delta) {
  return gaussian_epsilon(Interval::exactly(mu), Interval::exactly(delta));
}
[[nodiscard]] inline Interval gaussian_beta(double mu, double alpha) {
  return gaussian_beta(Interval::exactly(mu), Interval::exactly(alpha));
}
[[nodiscard]] inline Interval gaussian_power(double mu, double alpha) {
  return gaussian_power(Interval::exactly(mu), Interval::exactly(alpha));
}

}  // namespace tradeoff::detail
