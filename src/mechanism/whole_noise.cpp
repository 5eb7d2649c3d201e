// SPDX-License-Identifier: Apache-2.0
#include "mechanism/whole_noise.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "loss/atoms.h"
#include "loss/tail.h"
#include "loss/whole_gaussian.h"
#include "mechanism/finite.h"
#include "numeric/arithmetic.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

constexpr double least_weight = 1e-280;    // relative to the largest: products of fewer than 1e8 ratios stay far from underflow
constexpr double longest_table = 600'000;  // outcomes

Interval total_of(const WholeNoise& noise) {
  Interval total = noise.before + noise.after;
  for (const Interval& weight : noise.weights) total = total + weight;
  return total;
}

}  // namespace

// [whole-noise] With the record the output is y, without it y - shift: the outcome y has the weights of y and y + shift, and its loss rises
// with y. What the table does not decide is a loss between its last one and the steepest, or an infinite one.
LossPointer whole_noise_loss(const WholeNoise& noise, std::uint64_t shift, std::string key, Citations origin, std::optional<Tail> tail) {
  const Interval none = Interval::exactly(0);
  if (shift == 0) return finite_loss(make_atoms({{none, Interval::exactly(1)}}, none, none, true), std::move(key), std::move(origin));
  const Interval total = total_of(noise);
  const std::size_t count = noise.weights.size(), moved = static_cast<std::size_t>(std::min<std::uint64_t>(shift, count));
  const auto share = [&](Interval weight) { return clamp(weight / total, 0, 1); };
  std::vector<Atom> atoms;
  for (std::size_t i = 0; i + moved < count; ++i)
    atoms.push_back({log(noise.weights[i] / noise.weights[i + moved]), share(noise.weights[i])});
  Interval last = none, first = none;  // outcomes that are not in the table without the record, and with it
  for (std::size_t i = count - moved; i < count; ++i) last = last + noise.weights[i];
  for (std::size_t i = 0; i < moved; ++i) first = first + noise.weights[i];
  if (noise.steepest) {
    const Interval most = Interval::exactly(shift) * *noise.steepest;
    const Interval known = atoms.empty() ? -most : atoms.back().loss, other = atoms.empty() ? most : atoms.front().loss;
    atoms.push_back({{std::min(known.lo, most.hi), most.hi}, share(last + noise.after)});
    atoms.push_back({{-most.hi, std::max(other.hi, -most.hi)}, share(noise.before)});
    return finite_loss(make_atoms(std::move(atoms), none, none, noise.symmetric), std::move(key), std::move(origin));
  }
  // Beyond the end of a table that leaves nothing out, the loss is infinite; otherwise it may be.
  const bool ends_after = noise.after.hi == 0, ends_before = noise.before.hi == 0;
  const Interval infinite = share(ends_after ? last : Interval{0, (last + noise.after).hi});
  const Interval other = share(ends_before ? first : Interval{0, (first + noise.before).hi});
  if (!ends_before && !atoms.empty()) atoms.push_back({atoms.front().loss, Interval{0, share(noise.before).hi}});
  return finite_loss(make_atoms(std::move(atoms), infinite, other, noise.symmetric), std::move(key), std::move(origin), std::move(tail));
}

// [skellam-noise] Beyond the table probabilities fall at least like a power of the last ratio, and the outcome at which the loss is e grows
// like exp(e / shift), so at least like its parabola.
std::optional<Tail> skellam_tail(const WholeNoise& noise, Interval variance, std::uint64_t shift) {
  if (shift == 0) return std::nullopt;
  const Interval moved = Interval::exactly(shift), last = Interval::exactly(noise.weights.size() / 2);
  const Interval fall = log(noise.weights[noise.weights.size() - 2] / noise.weights.back());
  if (!(fall.lo > 0)) return std::nullopt;
  const Interval start = 1.0 + 2.0 * (last + moved + 1.0) / variance;  // e^(e / shift) where the outcome is the first beyond the table
  const Interval from = moved * log(start), growth = variance / (2.0 * moved) * start;
  const double width = (1.0 / sqrt(fall * growth / moved)).hi;
  const Interval bend = 1.0 / (2.0 * square(Interval::exactly(width))), steep = Interval::exactly((fall * growth).lo);
  const Interval slope = 2.0 * bend * from - steep;
  const Interval factor = log(Interval::exactly((noise.after / total_of(noise)).hi)) + steep * from - bend * square(from);
  Tail tail = gaussian_tail(factor.hi, Interval::exactly(width), from.hi);
  tail.largest = LargestLoss::unbounded();
  tail.gaussian->slope = slope.hi;
  tail.limit = Interval::exactly(0);
  return tail;
}

std::optional<WholeGaussian> near_sum(Interval sigma, std::uint64_t terms) {
  const double distance = distance_of(deviation_of_sum(sigma, terms));
  if (!(distance < 0.5)) return std::nullopt;
  return WholeGaussian{sigma * sqrt(Interval::exactly(terms)), 1, distance};
}

// [discrete-gaussian-sum] A loss is off that of the discrete Gaussian by at most the distance, and so is the logarithm of a probability.
Tail tail_near(const WholeGaussian& noise) {
  const Interval mu = noise.shift / noise.sigma, off = Interval::exactly(noise.distance), squares = square(Interval::exactly(mu.hi));
  const Interval factor = off / 2.0 - squares / 8.0 - square(off) / (2.0 * squares);
  Tail tail = gaussian_tail(factor.hi, mu, (squares / 2.0 + off).hi);
  tail.largest = LargestLoss::unbounded();
  tail.gaussian->slope = (0.5 + off / squares).hi;
  lower_gdp_mu(tail, {{noise, 1}}, 0);
  return tail;
}

WholeNoise noise_of_ratios(const std::vector<Interval>& ratios) {
  std::vector<Interval> half{Interval::exactly(1)};
  std::size_t y = 0;
  for (; y < ratios.size() && half.back().hi > least_weight; ++y) half.push_back(half.back() * ratios[y]);
  // the ratios fall, so a geometric series with the last one bounds the rest
  const Interval ratio = y < ratios.size() ? ratios[y] : ratios.back();
  const Interval rest{0, (half.back() * ratio / (1.0 - ratio)).hi};
  WholeNoise noise{.weights = std::vector<Interval>(half.rbegin(), half.rend() - 1), .before = rest, .after = rest};
  noise.weights.insert(noise.weights.end(), half.begin(), half.end());
  return noise;
}

// [skellam-noise] Ratios of modified Bessel functions by their recurrence, from far out towards 0: every step makes the enclosure narrower.
WholeNoise skellam_noise(Interval variance) {
  const double deviation = std::sqrt(variance.hi);
  const auto reach = static_cast<std::size_t>(std::ceil(40 * deviation + 160));
  const std::size_t start = reach + static_cast<std::size_t>(std::ceil(deviation)) * 8 + 40;
  std::vector<Interval> ratios(reach);
  Interval ratio{0, 1};
  for (std::size_t y = start; y >= 1; --y) {
    ratio = min(1.0 / (2.0 * Interval::exactly(y) / variance + ratio), Interval::exactly(1));
    if (y <= reach) ratios[y - 1] = ratio;
  }
  return noise_of_ratios(ratios);
}

// [discrete-laplace-sum] The recurrence of the weights, from far out towards 0; there the ratio lies between r and 1.
WholeNoise discrete_laplace_sum(Interval scale, std::uint64_t terms) {
  const double b = scale.hi, n = static_cast<double>(terms);
  double reach = infinity;
  for (const double tilt : {0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9})  // where a bound on the tail underflows
    reach = std::min(reach, (-n * std::log1p(-tilt * tilt) + 660) * std::max(b, 0.25) / tilt);
  if (!(reach <= longest_table))
    throw TooLargeError("discrete_laplace_sum: so much noise spreads over more than 600000 grid steps; use a coarser grid");
  const auto length = static_cast<std::size_t>(std::ceil(reach));
  const std::size_t start = length + static_cast<std::size_t>(std::ceil(30 * b)) + 40;
  const Interval r = exp(-(1.0 / scale)), count = Interval::exactly(terms);
  std::vector<Interval> ratios(length);
  Interval ratio{r.lo, 1};
  for (std::size_t y = start; y >= 1; --y) {
    const Interval at = Interval::exactly(y);
    const Interval below = (1.0 + square(r)) * at - r * (at + 1.0 - count) * ratio;
    ratio = intersect(r * (at - 1.0 + count) / below, {r.lo, 1});
    if (y <= length) ratios[y - 1] = ratio;
  }
  WholeNoise noise = noise_of_ratios(ratios);
  noise.steepest = 1.0 / scale;
  return noise;
}

namespace {

/// One side of the binomial weights, from the next one after the mode outward: k successes become k + 1, or k - 1.
struct Side {
  std::vector<Interval> weights;
  Interval rest = Interval::exactly(0);
};
Side binomial_side(std::uint64_t trials, std::uint64_t mode, Interval odds, bool upward) {
  Side side;
  Interval weight = Interval::exactly(1);
  for (std::uint64_t k = mode; upward ? k < trials : k > 0; upward ? ++k : --k) {
    const Interval ratio = upward ? Interval::exactly(trials - k) / Interval::exactly(k + 1) * odds
                                  : Interval::exactly(k) / Interval::exactly(trials - k + 1) / odds;
    if (weight.hi < least_weight) {
      side.rest = {0, (weight * ratio / (1.0 - ratio)).hi};  // the ratios fall
      return side;
    }
    weight = weight * ratio;
    side.weights.push_back(weight);
  }
  return side;
}

}  // namespace

// [binomial-noise]
WholeNoise binomial_noise(std::uint64_t trials, Interval chance, bool symmetric) {
  const Interval odds = chance / (1.0 - chance);
  const auto mode = std::min(trials, static_cast<std::uint64_t>(std::floor(static_cast<double>(trials) * middle_of(chance))));
  const Side lower = binomial_side(trials, mode, odds, false), upper = binomial_side(trials, mode, odds, true);
  WholeNoise noise{
      .weights = {lower.weights.rbegin(), lower.weights.rend()}, .before = lower.rest, .after = upper.rest, .symmetric = symmetric};
  noise.weights.push_back(Interval::exactly(1));
  noise.weights.insert(noise.weights.end(), upper.weights.begin(), upper.weights.end());
  return noise;
}

namespace {

constexpr double widest_sum = 10'000;           // standard deviation, in steps of the grid
constexpr double widest_convolution = 300;      // the same where the weights are added up term by term
constexpr double negligible_deviation = 1e-10;  // from a discrete Gaussian
constexpr double tolerable_deviation = 1e-2;

WholeNoise near_gaussian(Interval sigma, std::uint64_t terms, double deviation, double deviations) {
  const Interval variance = square(sigma) * Interval::exactly(terms);
  const Interval factor{numeric::add_down(1, -deviation), exp(Interval::exactly(deviation)).hi};
  const double reach = std::ceil(deviations * std::sqrt(variance.hi)) + 1;
  WholeNoise noise;
  const auto weight = [&](double y) { return exp(-square(Interval::exactly(y)) / (2.0 * variance)) * factor; };
  for (double y = -reach; y <= reach; ++y) noise.weights.push_back(weight(y));
  const Interval ratio = exp(-(Interval::exactly(2 * reach + 3) / (2.0 * variance)));
  noise.before = noise.after = {0, (weight(reach + 1) / (1.0 - ratio)).hi};
  return noise;
}

/// Positive numbers at -reach..reach, each within a relative error and `missing` of the weights of a distribution.
struct Table {
  std::vector<double> values;
  double error = 0;    // relative
  double missing = 0;  // absolute, from above only
  [[nodiscard]] double sum() const {
    double all = 0;
    for (const double value : values) all += value;
    return all * 1.000001;
  }
};

/// The convolution of two symmetric tables; values below `dropped` are left out. All terms are positive, so rounding errors are relative.
Table convolved(const Table& a, const Table& b, double dropped) {
  const std::int64_t reach_a = static_cast<std::int64_t>(a.values.size() / 2), reach_b = static_cast<std::int64_t>(b.values.size() / 2);
  const std::int64_t reach = reach_a + reach_b;
  std::vector<double> half;
  for (std::int64_t y = 0; y <= reach; ++y) {
    double sums[4] = {0, 0, 0, 0};
    const std::int64_t from = std::max(-reach_a, y - reach_b), to = std::min(reach_a, y + reach_b);
    const double* const left = a.values.data() + reach_a;
    const double* const right = b.values.data() + reach_b;
    std::int64_t x = from;
    for (; x + 3 <= to; x += 4)
      for (std::int64_t lane = 0; lane < 4; ++lane) sums[lane] += left[x + lane] * right[y - x - lane];
    for (; x <= to; ++x) sums[0] += left[x] * right[y - x];
    const double value = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    if (value < dropped && y > 0) break;
    half.push_back(value);
  }
  Table result{{half.rbegin(), half.rend()}, 0, 0};
  result.values.insert(result.values.end(), half.begin() + 1, half.end());
  const double terms = static_cast<double>(std::min(a.values.size(), b.values.size()));
  result.error = (a.error + b.error + a.error * b.error) + (terms / 4 + 8) * 0x1p-52;
  result.missing = (a.missing * b.sum() + b.missing * a.sum()) * 1.01 + 2 * dropped * static_cast<double>(reach + 2);
  return result;
}

/// The weights of a sum of so many terms, by repeated squaring. [discrete-gaussian-sum]
WholeNoise convolved_noise(Interval sigma, std::uint64_t terms, double deviations) {
  const double dropped = std::max(1e-270, 1e-25 * std::exp(-square(Interval::exactly(deviations)).hi / 2));
  const auto reach = static_cast<std::int64_t>(std::ceil(36 * sigma.hi)) + 1;
  const auto weight = [&](std::int64_t y) { return exp(-square(Interval::exactly(y) / sigma) / 2.0); };
  Table base;
  for (std::int64_t y = -reach; y <= reach; ++y) {
    const Interval here = weight(y);
    const bool known = here.lo > least_weight;  // the smallest doubles have a large relative error
    base.values.push_back(known ? here.lo + (here.hi - here.lo) / 2 : 0);
    if (known) base.error = std::max(base.error, (here.hi / here.lo - 1) * 1.01 + 0x1p-50);
    if (!known) base.missing += here.hi;
  }
  const Interval ratio = exp(-(Interval::exactly(2 * reach + 3) / square(sigma)) / 2.0);
  base.missing += 2 * (weight(reach + 1) / (1.0 - ratio)).hi;
  const double all = base.sum();  // a common factor changes nothing, and keeps powers from overflowing
  for (double& value : base.values) value /= all;
  base.missing = base.missing / all * 1.000001;
  base.error += 0x1p-52;
  Table result;
  for (std::uint64_t left = terms; left > 0; left /= 2) {
    if (left % 2 == 1) result = result.values.empty() ? base : convolved(result, base, dropped);
    if (left > 1) base = convolved(base, base, dropped);
  }
  // Values near the ends may be far too small because of what is missing: the table ends before them.
  const double kept = std::max(1e20 * result.missing, 1e20 * dropped);
  WholeNoise noise;
  Interval outside = Interval::exactly(0);
  const std::size_t middle = result.values.size() / 2;
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    const double value = result.values[i], high = value * (1 + result.error) * (1 + 0x1p-50) + result.missing;
    if (value > kept)
      noise.weights.push_back({std::max(0.0, value * (1 - result.error) * (1 - 0x1p-50)), high});
    else if (i < middle)
      outside = outside + Interval{0, high};
  }
  noise.before = noise.after = outside + Interval{0, result.missing};
  return noise;
}

}  // namespace

WholeNoise discrete_gaussian_sum(Interval sigma, std::uint64_t terms, double deviations) {
  const double spread = (sigma * sqrt(Interval::exactly(terms))).hi;
  if (spread > widest_sum)
    throw TooLargeError(
        "discrete_gaussian_sum: a standard deviation of the sum above 10000 grid steps is not supported; use a coarser grid");
  const double deviation = deviation_of_sum(sigma, terms);
  if (deviation <= negligible_deviation) return near_gaussian(sigma, terms, deviation, deviations);
  if (spread <= widest_convolution) return convolved_noise(sigma, terms, deviations);
  if (deviation <= tolerable_deviation) return near_gaussian(sigma, terms, deviation, deviations);
  throw TooLargeError(
      "discrete_gaussian_sum: so many clients with so little noise each are not supported (standard deviation of the sum above 300 grid "
      "steps); scale the values so that sigma of one client is at least 1");
}

}  // namespace tradeoff::detail
