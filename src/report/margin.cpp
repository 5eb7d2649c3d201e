// SPDX-License-Identifier: Apache-2.0
#include "report/margin.h"

#include <array>
#include <cmath>
#include <string_view>

#include "numeric/arithmetic.h"
#include "plan/arguments.h"

namespace tradeoff::detail::report {
namespace {

constexpr double gaussian_factor = 1.959964;  // P(|N(0, 1)| > this) < 5 %; the quantile is 1.9599639845...
constexpr double laplace_factor = 2.995733;   // exp(-this) < 5 %; log 20 is 2.9957322735...

double upward(double a, double b) { return std::nextafter(a * b, infinity); }

double gaussian(Interval sigma) { return upward(sigma.hi, gaussian_factor); }
double laplace(Interval scale) { return upward(scale.hi, laplace_factor); }
/// P(X >= m + 1) <= P(N(0, sigma^2) >= m) for whole m: the tail of the discrete law is that of the normal law one step further in.
double discrete_gaussian(Interval sigma) { return std::ceil(gaussian(sigma)); }
/// P(|X| > m) = 2 p^(m + 1) / (1 + p) <= exp(-m / scale) with p = exp(-1 / scale), because 2p <= 1 + p.
double discrete_laplace(Interval scale) { return std::ceil(laplace(scale)); }

struct Noise {
  std::string_view source;
  std::string_view scale;
  double (*margin)(Interval);
};

// Cutting off the tails makes the noise smaller.
constexpr std::array<Noise, 6> noises = {{{"gaussian", "sigma", gaussian},
                                          {"laplace", "scale", laplace},
                                          {"truncated_laplace", "scale", laplace},
                                          {"discrete_gaussian", "sigma", discrete_gaussian},
                                          {"discrete_laplace", "scale", discrete_laplace},
                                          {"truncated_discrete_laplace", "scale", discrete_laplace}}};

}  // namespace

std::optional<AddedNoise> added_noise(const Plan& plan) {
  if (plan.lines.size() != 1) return std::nullopt;
  const Line& line = plan.lines.front();
  const auto* call = std::get_if<Call>(&line.source);
  if (call == nullptr) return std::nullopt;
  AddedNoise found;
  double releases = 1;
  for (const Call& operation : line.operators) {
    if (operation.name == "repeat")
      releases *= Arguments(operation).number("times").lo;
    else if (operation.name != "group")
      return std::nullopt;
  }
  constexpr double very_many = 1e15;
  found.releases = static_cast<std::uint64_t>(std::min(releases, very_many));
  for (const Noise& one : noises) {
    if (one.source != call->name) continue;
    found.margin = one.margin(Arguments(*call).number(one.scale));
    return found;
  }
  return std::nullopt;
}

}  // namespace tradeoff::detail::report
