// SPDX-License-Identifier: Apache-2.0
#include "calibrate/cut.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "numeric/arithmetic.h"
#include "numeric/number_text.h"
#include "plan/arguments.h"

namespace tradeoff::detail {
namespace {

constexpr double unit = 1e18;  // probabilities are whole multiples of 1e-18, so that their sum is exactly 1

Value probability(std::uint64_t multiple) { return {read_number(std::to_string(multiple) + "e-18"), 0}; }

Value list(std::uint64_t a, std::uint64_t b, std::uint64_t c) { return {List{{probability(a), probability(b), probability(c)}}, 0}; }

}  // namespace

CutNoise::CutNoise(const Call& source)
    : noise_(vocabulary().find(Role::source, source.name)->noise(Arguments(source))),
      sensitivity_(Arguments(source).non_negative("sensitivity")) {}

CutNoise::Tails CutNoise::tails(double scale) const { return {scale == 0 ? nullptr : noise_.tail(scale), noise_.bound.hi}; }

Interval CutNoise::Tails::at(double reach) const {
  if (reach > bound_ || tail_ == nullptr) return Interval::exactly(0);
  return clamp(tail_(reach), 0, 0.5);
}

std::vector<double> CutNoise::cuts(double scale, const Targets& targets) const {
  const double s = sensitivity_.lo;
  // the middle, the peak of Laplace noise, and the point from which on everything is revealed
  std::vector<double> wanted = {s / 2, 0, s - noise_.bound.lo};
  for (const StatedTarget& target : targets)  // the point where the loss is epsilon
    if (const auto* pair = std::get_if<Guarantee>(&target.target))
      wanted.insert(wanted.begin(), noise_.output_of_loss(s, scale, pair->epsilon.lo));
  for (const double part : {0.6, 0.3, 1.0, 1.5, 2.0, 3.0, 4.0}) wanted.push_back(s / 2 - part * scale);
  const bool whole = noise_.whole;
  for (double j = 1; whole && j <= 3; ++j) wanted.push_back(std::ceil(s / 2) - 1 - j);
  std::vector<double> found;
  for (double cut : wanted) {
    // On the integers a cut j means x <= j; it must not overlap its mirror image x >= s - j.
    if (whole) cut = std::min(std::ceil(cut), std::ceil(s / 2)) - 1;
    cut = std::min(cut, whole ? cut : s / 2);
    if (std::abs(cut) <= 1e15 && std::find(found.begin(), found.end(), cut) == found.end()) found.push_back(cut);
  }
  return found;
}

// [parameter-calibration] p is the smallest probability of an output below the cut, q the largest probability of one beyond its mirror
// image.
std::optional<Call> CutNoise::weaker_pair(const Tails& low, const Tails& high, double cut) const {
  const double after = noise_.whole ? cut + 1 : cut;  // the complement of "below" starts here
  const double p = after > 0 ? (1.0 - high.at(after)).lo : low.at(-cut).lo;
  const double mirrored = std::max(0.0, (Interval::exactly(sensitivity_.lo) - cut).lo);  // exact on the integers
  const double q = high.at(mirrored).hi;
  if (!(p > 0 && q < p)) return std::nullopt;
  auto first = static_cast<std::uint64_t>(std::floor(numeric::multiply_down(p, unit)));
  const auto third = static_cast<std::uint64_t>(std::ceil(numeric::multiply_up(q, unit)));
  first = std::min(first, static_cast<std::uint64_t>(unit) - third);
  if (first <= third) return std::nullopt;
  const std::uint64_t rest = static_cast<std::uint64_t>(unit) - first - third;
  return Call{"pair", {{"p", list(first, rest, third)}, {"q", list(third, rest, first)}}, 0};
}

}  // namespace tradeoff::detail
