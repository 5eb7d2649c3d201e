// SPDX-License-Identifier: Apache-2.0
#include "audit/rate.h"

#include "numeric/arithmetic.h"
#include "numeric/binomial.h"

namespace tradeoff::detail::audit {
namespace {

/// The logarithm of the wealth of a bettor against the probability p: a constant, and n times a relative entropy. [rate-sequence]
class MixtureWealth {
 public:
  MixtureWealth(Count earlier, Count later) : later_(later) {
    const std::uint64_t samples = earlier.samples + later.samples, hits = earlier.hits + later.hits;
    center_ = (static_cast<double>(hits) + 0.5) / (static_cast<double>(samples) + 1);
    const Interval at = Interval::exactly(center_);
    const Interval before = Interval::exactly(earlier.samples + 1) * numeric::binomial_mass(earlier.samples, at, earlier.hits);
    const Interval after = Interval::exactly(samples + 1) * numeric::binomial_mass(samples, at, hits);
    at_center_ = log(before) - log(after);
  }
  [[nodiscard]] double center() const { return center_; }
  /// A lower bound of the logarithm at p, 0 < p < 1.
  [[nodiscard]] double below(double p) const {
    const Interval chance = Interval::exactly(p), at = Interval::exactly(center_);
    const Interval hits = Interval::exactly(later_.hits) * log(at / chance);
    const Interval misses = Interval::exactly(later_.samples - later_.hits) * log((1.0 - at) / (1.0 - chance));
    return (at_center_ + hits + misses).lo;
  }

 private:
  Count later_;
  double center_ = 0.5;
  Interval at_center_{};
};

}  // namespace

// [rate-sequence]
Interval rate_range(Count earlier, Count later, double error) {
  if (later.samples == 0) return {0, 1};
  const MixtureWealth wealth(earlier, later);
  const double needed = (-log(Interval::exactly(error))).hi;
  const double share = static_cast<double>(later.hits) / static_cast<double>(later.samples);
  const auto excluded = [&](double p) { return p > 0 && p < 1 && wealth.below(p) >= needed; };
  Interval found{0, 1};
  // The wealth falls up to the share of hits and grows after it. Every end that is taken was excluded on its side of the share.
  double inside = share;
  for (int i = 0; i < 60 && found.lo < inside; ++i) {
    const double p = found.lo + (inside - found.lo) / 2;
    (excluded(p) && p < share ? found.lo : inside) = p;
  }
  inside = share;
  for (int i = 0; i < 60 && inside < found.hi; ++i) {
    const double p = inside + (found.hi - inside) / 2;
    (excluded(p) && p > share ? found.hi : inside) = p;
  }
  return found;
}

}  // namespace tradeoff::detail::audit
