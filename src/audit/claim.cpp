// SPDX-License-Identifier: Apache-2.0
#include "audit/claim.h"

#include <algorithm>
#include <cmath>

#include "numeric/arithmetic.h"

namespace tradeoff::detail::audit {
namespace {

constexpr int coarse_bits = 26;            // two factors of 26 bits have a product of 52
constexpr std::size_t many_lines = 64;     // the gap between neighbouring lines costs below 1e-3 of the rate of growth
constexpr double largest_epsilon = 40;     // events of probability e^-40 are not seen in samples
constexpr double negligible_delta = 1e-9;  // lines beyond decide nothing that samples can show

std::vector<double> epsilons_of(const Curve& curve, Direction direction) {
  const double revealed = curve.delta_at(infinity, direction).hi, pure = curve.epsilon_at(0.0, direction).hi;
  const double near = curve.epsilon_at(std::min(1.0, std::max(negligible_delta, revealed * (1 + 1e-4))), direction).hi;
  const double last = std::min({pure, near, largest_epsilon});
  std::vector<double> found;
  for (std::size_t i = 0; i <= many_lines; ++i) found.push_back(last * static_cast<double>(i) / static_cast<double>(many_lines));
  if (pure < largest_epsilon) found.push_back(pure);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<Line> lines_of(const Curve& curve, Direction direction) {
  std::vector<Line> lines;
  for (const double epsilon : epsilons_of(curve, direction)) {
    const Line line = line_at(epsilon, curve.delta_at(epsilon, direction).hi);
    if (line.offset < 1) lines.push_back(line);
  }
  return lines;
}

}  // namespace

double coarse_above(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::ceil(std::ldexp(fraction, coarse_bits)), exponent - coarse_bits);
}

double coarse_below(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::floor(std::ldexp(fraction, coarse_bits)), exponent - coarse_bits);
}

// [betting-audit]
Line line_at(double epsilon, double delta) {
  return {epsilon, coarse_above(exp(Interval::exactly(epsilon)).hi), std::clamp(delta, 0.0, 1.0)};
}

Claim claim_of(const Curve& curve, Direction direction) {
  Claim claim;
  claim.lines[0] = lines_of(curve, direction);
  claim.lines[1] = direction == Direction::worst ? claim.lines[0] : lines_of(curve, opposite(direction));
  return claim;
}

}  // namespace tradeoff::detail::audit
