// SPDX-License-Identifier: Apache-2.0
#include "loss/whole_gaussian.h"

#include <algorithm>

#include "loss/tail.h"
#include "numeric/arithmetic.h"

namespace tradeoff::detail {
namespace {

constexpr double least_variance = 2;           // the bound of the steps is proved from here on
constexpr double most_distance = 1e-2;         // of logarithms: up to here quantiles move by at most 1.3 times as much
constexpr double most_runs = 0x1p53;           // a whole number that is a double
constexpr double pi = 3.14159265358979323846;  // rounded down by 1.3e-16, so that exp(-pi^2 ...) is rounded up

/// The noise of all runs together: a discrete Gaussian with this variance, times a factor whose logarithm is at most `distance`.
struct SumOfRuns {
  Interval shift, variance;
  double distance;
};
SumOfRuns sum_of(const WholeGaussian& noise, std::uint64_t runs) {
  const Interval count = Interval::exactly(runs);
  const double of_sum = static_cast<double>(runs) <= most_runs ? distance_of(deviation_of_sum(noise.sigma, runs)) : infinity;
  const double distance = numeric::add_up(of_sum, (count * Interval::exactly(noise.distance)).hi);
  return {count * noise.shift, count * square(noise.sigma), distance};
}

/// By how much a mu grows if all probabilities and their complements change by factors with at most this logarithm.
double growth_of_mu(double distance) { return distance <= most_distance ? numeric::multiply_up(2.6, distance) : infinity; }

/// The largest step u between neighbouring quantiles has u^2 (1 - u^2/12) <= 1/variance.
double mu_alone(const SumOfRuns& sum) {
  if (!(sum.variance.lo >= least_variance)) return infinity;
  const Interval step = sqrt(2.0 / (sum.variance * (1.0 + sqrt(1.0 - 1.0 / (3.0 * sum.variance)))));
  return numeric::add_up((sum.shift * step).hi, growth_of_mu(sum.distance));
}

/// Of both together. Given the loss of both, the noise is a discrete Gaussian with a smaller variance.
double mu_of_both(const SumOfRuns& sum, double beside) {
  const Interval others = square(Interval::exactly(beside)), own = square(sum.shift) / sum.variance, all = others + own;
  const double uneven = beside > 0 && beside < infinity ? ripple(sum.variance * (others / all)) : infinity;
  if (!(uneven < 0.5)) return infinity;
  const Interval distance = Interval::exactly(sum.distance) + log1p(Interval::exactly(uneven)) - log1p(-Interval::exactly(uneven));
  return numeric::add_up(sqrt(all).hi, growth_of_mu(distance.hi));
}

}  // namespace

double ripple(Interval variance) {
  const Interval first = exp(-2.0 * square(Interval::exactly(pi)) * variance);
  return (2.0 * first / (1.0 - first)).hi;
}

double deviation_of_sum(Interval sigma, std::uint64_t terms) {
  constexpr std::uint64_t first_terms = 200;
  double sum = 0;
  for (std::uint64_t k = 1; k < std::min(terms, first_terms); ++k)
    sum = numeric::add_up(sum, ripple(square(sigma) * (Interval::exactly(k) / Interval::exactly(k + 1))));
  if (terms > first_terms)
    sum = (sum + Interval::exactly(terms - first_terms) *
                     Interval::exactly(ripple(square(sigma) * (Interval::exactly(first_terms) / Interval::exactly(first_terms + 1)))))
              .hi;
  return sum;
}

double distance_of(double deviation) {
  return deviation < 0.5 ? (Interval::exactly(deviation) - log1p(-Interval::exactly(deviation))).hi : infinity;
}

// [whole-gaussian-mu]
void lower_gdp_mu(Tail& tail, const std::vector<std::pair<WholeGaussian, std::uint64_t>>& noises, double beside) {
  double mu = beside;
  for (const auto& [noise, runs] : noises) {
    const SumOfRuns sum = sum_of(noise, runs);
    mu = std::min(mu_of_both(sum, mu), sqrt(square(Interval::exactly(mu)) + square(Interval::exactly(mu_alone(sum)))).hi);
  }
  if (!(mu < tail.gdp_mu)) return;
  static const Citation origin("whole-gaussian-mu",
                               "sums of discrete Gaussian noise are Gaussian-DP, hardly worse than the same Gaussian noise");
  tail.gdp_mu = mu;
  tail.gdp_origin = origin;
  tail.kind = TailKind::gdp;
  if (noises.size() == 1 && beside == 0)  // half a step of the loss
    tail.gdp_near = noises.front().first.shift / (2 * square(noises.front().first.sigma)).hi;
}

}  // namespace tradeoff::detail
