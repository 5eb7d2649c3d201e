// SPDX-License-Identifier: Apache-2.0
#include "audit/bet.h"

#include <algorithm>
#include <cmath>

#include "numeric/arithmetic.h"

namespace tradeoff::detail::audit {
namespace {

double relative_entropy(double a, double b) { return a * std::log(a / b) + (1 - a) * std::log((1 - a) / (1 - b)); }

/// The second coordinate of the point of the line that is nearest to (first, second) in relative entropy. An estimate: any point is valid.
double nearest_on_line(const Line& line, double first, double second) {
  double low = second, high = std::min((first - line.offset) / line.slope, 1 - 1e-9);
  for (int i = 0; i < 60; ++i) {
    const double q = low + (high - low) / 2, p = line.slope * q + line.offset;
    const bool before = line.slope * (first - p) / (p * (1 - p)) > (q - second) / (q * (1 - q));
    (before ? low : high) = q;
  }
  return low + (high - low) / 2;
}

}  // namespace

double Bet::factor(bool first, bool second) const {
  return numeric::multiply_down(first ? in_first : out_first, second ? in_second : out_second);
}

double rough_growth(const Line& line, double first, double second) {
  const double gap = first - line.slope * second - line.offset;
  if (!(gap > 0)) return 0;
  const double q = std::max(second, 1e-12), p = std::clamp(first, 1e-12, 1 - 1e-12);
  const double middle = std::min((p - line.offset) / line.slope, 1 - 1e-12);  // where only the second stream is informative
  const double squared = line.slope * line.slope;
  return std::min(gap * gap / (2 * (p * (1 - p) + squared * q * (1 - q))), middle > q ? relative_entropy(q, middle) : 0);
}

// [betting-audit]
Bet make_bet(const Line& line, double first, double second) {
  Bet bet{.line = line};
  first = std::clamp(first, 1e-12, 1 - 1e-12);
  second = std::clamp(second, 1e-12, 1 - 1e-12);
  if (!(first > line.slope * second + line.offset)) return bet;
  const double q = nearest_on_line(line, first, second);
  const double p = numeric::add_up(numeric::multiply_up(line.slope, q), line.offset);  // on the line or above it
  if (!(q > 0 && q < 1 && p < first)) return bet;
  const double most = std::min(1 / p, 1 / (line.slope * (1 - q))) * (1 - 1e-6);  // no factor is negative
  const double stake = coarse_below(std::min((first - p) / (p * (1 - p)), most));
  if (!(stake > 0x1p-400)) return bet;
  const double other = stake * line.slope;  // exact: 26 bits each
  const Interval c = Interval::exactly(stake), d = Interval::exactly(other), at = Interval::exactly(p), beside = Interval::exactly(q);
  bet.in_first = (1.0 + c * (1.0 - at)).lo;
  bet.out_first = (1.0 - c * at).lo;
  bet.in_second = (1.0 - d * (1.0 - beside)).lo;
  bet.out_second = (1.0 + d * beside).lo;
  if (!(bet.out_first >= 0 && bet.in_second >= 0)) return Bet{.line = line};
  bet.growth = first * std::log(bet.in_first) + (1 - first) * std::log(bet.out_first) + second * std::log(std::max(bet.in_second, 1e-300)) +
               (1 - second) * std::log(bet.out_second);
  return bet.growth > 0 ? bet : Bet{.line = line};
}

}  // namespace tradeoff::detail::audit
