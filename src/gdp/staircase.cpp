// SPDX-License-Identifier: Apache-2.0
#include "gdp/staircase.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>

#include "loss/gaussian_profile.h"
#include "numeric/arithmetic.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

constexpr double most_steps = 1e6;  // a comparison would cost too much

/// Whether delta lies above delta_mu(epsilon): possibly, and certainly.
bool may_exceed(double delta, double mu, double epsilon) { return !(gaussian_delta(mu, epsilon).lo >= delta); }
bool certainly_exceeds(double delta, double mu, double epsilon) { return gaussian_delta(mu, epsilon).hi < delta; }

}  // namespace

// [staircase-bound] delta_mu(epsilon) increases with mu: it is at most the wanted delta at every kept lower end, and at least that at every
// kept upper end.
Interval bisect_mu(double epsilon, double delta, double width) {
  if (delta <= 0) return Interval::exactly(0);
  if (delta >= 1) return Interval::exactly(infinity);
  double below = 0, above = 10;
  while (may_exceed(delta, above, epsilon)) above *= 2;
  while (above - below > width) {
    const double middle = below + (above - below) / 2;
    if (!(middle > below && middle < above)) break;
    const Interval there = gaussian_delta(middle, epsilon);
    if (there.hi <= delta)
      below = middle;
    else if (there.lo >= delta)
      above = middle;
    else
      break;  // rounding hides the side: the bracket cannot be narrowed further
  }
  return {below, above};
}

// [staircase-bound]
Measured measure_by_staircase(MeasuredProfile& profile, double last, double width, bool skip_known) {
  const double wanted = std::ceil(std::sqrt(8 * 3.1415926535897932) * last / width) + 1;
  if (!(wanted <= most_steps))
    throw TooLargeError("this width needs " + std::to_string(wanted) + " steps; at most 1000000 are taken, so ask for a larger width");
  const auto steps = static_cast<std::size_t>(wanted);
  std::vector<std::size_t> order(steps);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::minstd_rand random(1);  // fixed seed: the order affects cost only
  if (skip_known)
    for (std::size_t i = steps; i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  const auto place = [&](std::size_t i) { return i == steps ? last : last * (static_cast<double>(i) / static_cast<double>(steps)); };
  const double bracket = width / 4;  // both ends of the answer need one
  Measured found{bisect_mu(0, profile.delta(0).lo, bracket), 1};
  double known_above = found.mu.hi;  // the root behind the lower end; near-maximal steps are tested against it
  found.mu.hi = 0;
  for (const std::size_t i : order) {
    const double low = place(i), high = place(i + 1);
    const double largest = profile.delta(low).hi, least = profile.delta(high).lo;
    if (!skip_known || may_exceed(largest, found.mu.hi, high)) {
      found.mu.hi = std::max(found.mu.hi, bisect_mu(high, largest, bracket).hi);
      ++found.searches;
    }
    if (!skip_known || certainly_exceeds(least, known_above, low)) {
      const Interval root = bisect_mu(low, least, bracket);
      found.mu.lo = std::max(found.mu.lo, root.lo);
      known_above = std::max(known_above, root.hi);
      ++found.searches;
    }
  }
  found.mu.hi = std::max(found.mu.hi, found.mu.lo);
  return found;
}

// [staircase-bound] delta <= delta(u) = delta_m(v) <= delta_m on [u, v]: the whole step is proved for m.
Measured measure_by_marching(MeasuredProfile& profile, double last, double width) {
  Measured found{Interval::exactly(0), 0};
  const auto transform = [&](double at) {
    ++found.searches;
    return gaussian_mu(Interval::exactly(at), profile.delta(at));
  };
  constexpr int scanned = 32;
  Interval best = Interval::exactly(0);
  for (int i = 0; i <= scanned; ++i) best = max(best, transform(last * i / scanned));
  double candidate = best.hi + width;
  double at = 0;
  for (double step = 0; at < last; ++step) {
    if (!(step < most_steps)) throw TooLargeError("marching needs more than 1000000 steps for this width");
    const double next = gaussian_epsilon(Interval::exactly(candidate), Interval::exactly(profile.delta(at).hi)).lo;
    ++found.searches;
    if (next > at) {
      at = next;
      continue;
    }
    best = max(best, transform(at));
    candidate = std::max(numeric::next_up(candidate), best.hi + width);
  }
  found.mu = {best.lo, candidate};
  return found;
}

}  // namespace tradeoff::detail
