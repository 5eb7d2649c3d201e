// SPDX-License-Identifier: Apache-2.0
#include "loss/tail.h"

#include <algorithm>
#include <cmath>

#include "loss/gaussian_profile.h"
#include "loss/moment_bound.h"
#include "numeric/arithmetic.h"
#include "numeric/normal.h"

namespace tradeoff::detail {
namespace {

bool is_heavy(const Tail& tail) { return tail.limit.lo == infinity; }

TailKind kind_of(const Tail& tail) {
  if (tail.zero_from < infinity) return TailKind::zero;
  if (tail.gdp_mu < infinity) return TailKind::gdp;
  return tail.gaussian ? TailKind::gaussian : TailKind::unknown;
}

/// delta_mu(e) <= exp(-y^2/2) for y = e/mu - mu/2 >= 0.
GaussianTail gaussian_model(double mu) {
  return {(-square(Interval::exactly(mu)) / 8.0).hi, 0.5, mu, (square(Interval::exactly(mu)) / 2.0).hi};
}

/// A profile below that of a Gaussian has moments below those of the Gaussian.
double moments_of(const Tail& tail) { return std::min(tail.gdp_mu, tail.moment_mu); }

/// The Gaussian model of a tail, if the tail is known to be Gaussian or lighter.
std::optional<GaussianTail> model_of(const Tail& tail) {
  if (tail.gaussian) return tail.gaussian;
  if (tail.gdp_mu > 0 && tail.gdp_mu < infinity) return gaussian_model(tail.gdp_mu);
  return std::nullopt;
}

using TailParts = std::vector<std::pair<Tail, std::uint64_t>>;

/// Null if nothing is known about the moments of some part. [tail-composition]
std::shared_ptr<const MomentBound> moments_of_parts(const TailParts& parts) {
  auto bound = std::make_shared<MomentBound>();
  for (const auto& [tail, times] : parts)
    if (!bound->add(tail, times)) return nullptr;
  return bound;
}

}  // namespace

// [pure-dp-mu] For small epsilon the quantile is computed near 1/2, where it has full relative accuracy.
Interval pure_dp_mu(Interval epsilon) {
  const auto at = [](double e) {
    const Interval point = Interval::exactly(e);
    if (e == infinity) return Interval::exactly(infinity);
    if (e < 1) return gaussian_mu(Interval::exactly(0.0), tanh(point / 2.0));
    return -2.0 * normal_quantile_of_log(-point - log1p(exp(-point)));
  };
  return {at(std::max(epsilon.lo, 0.0)).lo, at(std::max(epsilon.hi, 0.0)).hi};
}

LargestLoss LargestLoss::unbounded() { return {Interval::exactly(infinity), Interval::exactly(infinity)}; }

Interval LargestLoss::worse() const { return max(remove, add); }

Tail zero_tail(double from) {
  Tail tail;
  tail.kind = TailKind::zero;
  tail.zero_from = from;
  tail.largest = {{0, from}, {0, from}};
  tail.gdp_mu = pure_dp_mu(Interval::exactly(from)).hi;
  tail.limit = Interval::exactly(0.0);
  return tail;
}

Tail pure_tail(LargestLoss largest) {
  Tail tail = zero_tail(largest.worse().hi);
  tail.largest = largest;
  return tail;
}

Tail gdp_tail(Interval mu) {
  Tail tail;
  tail.kind = TailKind::gdp;
  tail.gdp_mu = mu.hi;
  tail.limit = mu;
  if (mu.lo > 0) tail.largest = LargestLoss::unbounded();
  return tail;
}

Tail gaussian_tail(double log_factor, Interval width, double from) {
  Tail tail;
  tail.kind = TailKind::gaussian;
  tail.gaussian = GaussianTail{log_factor, 0, width.hi, from};
  tail.limit = width;
  return tail;
}

Tail heavy_tail(TailKind kind, LargestLoss largest) {
  Tail tail;
  tail.largest = largest;
  tail.kind = kind;
  tail.limit = Interval::exactly(infinity);
  return tail;
}

// [largest-loss] A loss l of the base becomes log(1 + rate (e^l - 1)) in the remove direction; in the add direction, where the base's
// loss is l, it becomes -log(1 + rate (e^-l - 1)). Both grow with l and with the rate.
LargestLoss poisson_largest(const LargestLoss& base, Interval rate) {
  constexpr double near_overflow = 700;  // e^l overflows after 709
  const auto remove = [](double l, double r) {
    const Interval loss = Interval::exactly(l), sampled = Interval::exactly(r);
    if (!(l > near_overflow && l < infinity)) return log1p(sampled * expm1(loss));
    return loss + log(sampled + (1.0 - sampled) * exp(-loss));  // the same without overflow
  };
  const auto add = [](double l, double r) { return -log1p(Interval::exactly(r) * expm1(Interval::exactly(-l))); };
  return {{std::max(remove(base.remove.lo, rate.lo).lo, 0.0), remove(base.remove.hi, rate.hi).hi},
          {std::max(add(base.add.lo, rate.lo).lo, 0.0), add(base.add.hi, rate.hi).hi}};
}

LargestLoss sampled_largest(const LargestLoss& base, Interval rate) {
  const LargestLoss both = poisson_largest({base.worse(), {}}, rate);
  return {both.remove, both.remove};
}

LargestLoss smaller(const LargestLoss& one, const LargestLoss& other) { return {min(one.remove, other.remove), min(one.add, other.add)}; }

Tail sampled_tail(const Tail& base, Interval rate, bool symmetric) {
  Tail tail = base;
  tail.largest = base.largest.as_bound();  // sampling lowers every loss
  tail.moments = nullptr;
  if (rate.hi == 0) return zero_tail(0);
  const Interval largest = Interval::exactly(std::min(rate.hi, 1.0));
  if (base.zero_from < infinity) {
    tail.zero_from = log1p(largest * expm1(Interval::exactly(base.zero_from))).hi;
    if (!(tail.zero_from <= base.zero_from)) tail.zero_from = base.zero_from;
    tail.gdp_mu = pure_dp_mu(Interval::exactly(tail.zero_from)).hi;
  }
  tail.gdp_near = Tail::nothing;
  // [moment-bound] Both directions lie below the remove direction of the sampled pair, or of the sampled Gaussian above it.
  if (symmetric || base.gdp_mu <= base.moment_mu) tail.moment_rate = (base.moment_rate * largest).hi;
  tail.largest_delta = (base.largest_delta * largest).hi;
  if (tail.gaussian) {
    // The inner epsilon is at least e + shift from `from` on, and the model decreases, so its value there is a bound.
    GaussianTail& model = *tail.gaussian;
    const Interval variance = square(Interval::exactly(model.width));
    model.from = std::max(model.from, (Interval::exactly(std::max(model.slope, 0.0)) * variance).hi);
    const Interval start = Interval::exactly(model.from);
    const Interval shift = Interval::exactly(std::max(0.0, log((1.0 + expm1(start) / largest) * exp(-start)).lo));
    model.log_factor = (model.log_factor + log(largest) + model.slope * shift - square(shift) / (2.0 * variance)).hi;
    model.slope = (model.slope - shift / variance).hi;
  }
  if (rate.lo == 0) tail.limit.lo = 0;
  return tail;
}

Tail mixed_tail(const std::vector<Tail>& components) {
  Tail mixed = zero_tail(0);
  mixed.moment_mu = 0;
  bool modelled = true;
  for (const Tail& tail : components)
    mixed.largest = {max(mixed.largest.remove, tail.largest.remove), max(mixed.largest.add, tail.largest.add)};
  for (const Tail& tail : components) {
    if (is_heavy(tail)) return heavy_tail(tail.kind, mixed.largest);
    mixed.limit = max(mixed.limit, tail.limit);
    mixed.gdp_mu = std::max(mixed.gdp_mu, tail.gdp_mu);
    if (tail.gdp_origin) mixed.gdp_origin = tail.gdp_origin;
    mixed.moment_mu = std::max(mixed.moment_mu, moments_of(tail));
    mixed.zero_from = std::max(mixed.zero_from, tail.zero_from);
    modelled = modelled && (tail.zero_from < infinity || model_of(tail));
  }
  if (modelled && !(mixed.zero_from < infinity)) {
    GaussianTail worst{-infinity, -infinity, 0, 0};
    for (const Tail& tail : components) {
      const GaussianTail model = tail.zero_from < infinity ? GaussianTail{-infinity, -infinity, 0, tail.zero_from} : *model_of(tail);
      worst = {std::max(worst.log_factor, model.log_factor), std::max(worst.slope, model.slope), std::max(worst.width, model.width),
               std::max(worst.from, model.from)};
    }
    mixed.gaussian = worst;
  }
  mixed.kind = kind_of(mixed);
  return mixed;
}

Tail composed_tail(const std::vector<std::pair<Tail, std::uint64_t>>& parts) {
  if (parts.size() == 1 && parts.front().second == 1) return parts.front().first;
  Tail whole = zero_tail(0);
  Interval squares = Interval::exactly(0.0), moments = Interval::exactly(0.0), lowest = Interval::exactly(0.0),
           highest = Interval::exactly(0.0), zero_from = Interval::exactly(0.0);
  for (const auto& [tail, times] : parts)
    if (times > 0)
      whole.largest = {whole.largest.remove + Interval::exactly(times) * tail.largest.remove,
                       whole.largest.add + Interval::exactly(times) * tail.largest.add};
  for (const auto& [tail, times] : parts) {
    if (times == 0) continue;
    if (is_heavy(tail)) return heavy_tail(tail.kind, whole.largest);  // composition cannot make a heavy tail lighter
    const Interval count = Interval::exactly(times);
    squares = squares + count * square(Interval::exactly(tail.gdp_mu));
    if (tail.gdp_origin) whole.gdp_origin = tail.gdp_origin;
    moments = moments + count * square(Interval::exactly(moments_of(tail)));
    lowest = lowest + count * square(Interval::exactly(tail.limit.lo));
    highest = highest + count * square(Interval::exactly(tail.limit.hi));
    zero_from = zero_from + count * tail.zero_from;
  }
  whole.zero_from = zero_from.hi;
  whole.gdp_mu = sqrt(squares).hi;
  whole.moment_mu = sqrt(moments).hi;
  whole.limit = {sqrt(lowest).lo, sqrt(highest).hi};
  if (whole.zero_from < infinity) whole.gdp_mu = std::min(whole.gdp_mu, pure_dp_mu(Interval::exactly(whole.zero_from)).hi);
  whole.moments = moments_of_parts(parts);
  if (!(whole.zero_from < infinity) && whole.moments != nullptr) whole.gaussian = whole.moments->model();
  whole.kind = kind_of(whole);
  return whole;
}

// [tail-certificate] log delta_mu(e) >= log phi(y) + log mu - log(z^2 + 3) with y, z = e/mu -+ mu/2. The excess of that over the model
// increases from `from` on if its derivative there, at least from (1/s^2 - 1/mu^2) + 1/2 - slope - 2/(from + mu^2/2), is not negative.
bool certifies(const GaussianTail& tail, double mu, double from) {
  if (!(from >= tail.from && from > 0 && mu >= tail.width && mu < infinity && from < infinity)) return false;
  const Interval e = Interval::exactly(from), m = Interval::exactly(mu), s = Interval::exactly(tail.width);
  const Interval curvature = max(1.0 / square(s) - 1.0 / square(m), Interval::exactly(0.0));
  const Interval derivative = e * curvature + 0.5 - tail.slope - 2.0 / (e + square(m) / 2.0);
  const Interval z = e / m + m / 2.0;
  // -y^2/2 + e^2/(2 s^2), computed without cancelling squares.
  const Interval quadratic = square(e) * curvature / 2.0 + e / 2.0 - square(m) / 8.0;
  const Interval margin = quadratic - log_sqrt_two_pi + log(m) - log(square(z) + 3.0) - tail.log_factor - tail.slope * e;
  return derivative.lo >= 0 && margin.lo >= 0;
}

}  // namespace tradeoff::detail
