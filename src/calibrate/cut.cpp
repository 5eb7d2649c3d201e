// SPDX-License-Identifier: Apache-2.0
#include "calibrate/cut.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "numeric/arithmetic.h"
#include "numeric/number_text.h"
#include "plan/arguments.h"

namespace tradeoff {
namespace {

/// The sums of exp(-i^2 / (2 sigma^2)) over i >= j, for j = 0, 1, ... until the rest is negligible; a geometric series bounds the rest,
/// because the ratios of consecutive terms decrease.
std::vector<Interval> gaussian_sums(double sigma) {
  const Interval scale = 2.0 * square(Interval::exactly(sigma));
  const auto weight = [&](double i) { return exp(-square(Interval::exactly(i)) / scale); };
  const double last = std::ceil(10 * sigma) + 2;  // exp(-50) is negligible for any cut
  const Interval ratio = exp(-(2 * Interval::exactly(last) + 3.0) / scale);
  Interval sum{0, (weight(last + 1) / (1.0 - ratio)).hi};
  std::vector<Interval> sums(static_cast<std::size_t>(last) + 2);
  sums.back() = sum;
  for (double i = last; i >= 0; --i) sums[static_cast<std::size_t>(i)] = sum = sum + weight(i);
  return sums;
}

constexpr double unit = 1e18;  // probabilities are whole multiples of 1e-18, so that their sum is exactly 1

Value probability(std::uint64_t multiple) { return {read_number(std::to_string(multiple) + "e-18"), 0}; }

Value list(std::uint64_t a, std::uint64_t b, std::uint64_t c) { return {List{{probability(a), probability(b), probability(c)}}, 0}; }

}  // namespace

CutNoise::CutNoise(const Call& source)
    : law_(source.name == "truncated_laplace"            ? Tails::Law::continuous
           : source.name == "truncated_discrete_laplace" ? Tails::Law::discrete
                                                         : Tails::Law::gaussian),
      sensitivity_(Arguments(source).non_negative("sensitivity")),
      bound_(law_ == Tails::Law::gaussian ? Interval::exactly(infinity) : Arguments(source).positive("bound")) {}

CutNoise::Tails CutNoise::tails(double scale) const {
  Tails tails;
  tails.law_ = law_;
  tails.scale_ = Interval::exactly(scale);
  tails.bound_ = bound_;
  if (law_ != Tails::Law::gaussian || scale == 0) return tails;
  // below, only the first weight is a nonzero double: the sums lie between those of no noise and those of this scale
  constexpr double least = 0.02;
  tails.sums_ = gaussian_sums(std::max(scale, least));
  if (scale < least)
    for (std::size_t i = 0; i < tails.sums_.size(); ++i) tails.sums_[i].lo = i == 0 ? 1 : 0;
  return tails;
}

Interval CutNoise::Tails::at(double reach) const {
  if (reach > bound_.hi || scale_.hi == 0) return Interval::exactly(0);                                      // scale 0 means no noise
  const auto mass = [&](Interval length) { return -expm1(-(max(length, Interval::exactly(0)) / scale_)); };  // 1 - e^(-length/scale)
  const Interval from = exp(-(Interval::exactly(reach) / scale_));
  if (law_ != Law::gaussian) {
    const bool whole = law_ == Law::discrete;
    const Interval top = from * mass(whole ? bound_ + 1.0 - reach : bound_ - reach);
    const Interval all = whole ? mass(bound_ + 1.0) + exp(-(1.0 / scale_)) * mass(bound_) : 2.0 * mass(bound_);
    return all.lo > 0 ? clamp(top / all, 0, 0.5) : Interval{0, 0.5};
  }
  const std::size_t index = static_cast<std::size_t>(std::min(reach, static_cast<double>(sums_.size() - 1)));
  const Interval sum = reach <= static_cast<double>(sums_.size() - 1) ? sums_[index] : Interval{0, sums_.back().hi};
  return clamp(sum / (sums_[0] + sums_[1]), 0, 0.5);
}

std::vector<double> CutNoise::cuts(double scale, const Targets& targets) const {
  const double s = sensitivity_.lo;
  // the middle, the peak of Laplace noise, and the point from which on everything is revealed
  std::vector<double> wanted = {s / 2, 0, s - bound_.lo};
  for (const StatedTarget& target : targets)  // the point where the loss is epsilon
    if (const auto* pair = std::get_if<EpsilonDeltaTarget>(&target.target))
      wanted.insert(wanted.begin(),
                    law_ == Tails::Law::gaussian ? s / 2 - pair->epsilon.lo * scale * scale / s : (s - pair->epsilon.lo * scale) / 2);
  for (const double part : {0.6, 0.3, 1.0, 1.5, 2.0, 3.0, 4.0}) wanted.push_back(s / 2 - part * scale);
  const bool whole = law_ != Tails::Law::continuous;
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
  const bool whole = law_ != Tails::Law::continuous;
  const double after = whole ? cut + 1 : cut;  // the complement of "below" starts here
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

}  // namespace tradeoff
