// SPDX-License-Identifier: Apache-2.0
#include "operators/gaussian_mixture.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "loss/gaussian_profile.h"
#include "loss/key.h"
#include "numeric/arithmetic.h"
#include "numeric/normal.h"
#include "numeric/root.h"
#include "transform/mixture_pair.h"
#include "transform/mixture_transform.h"

namespace tradeoff::detail {
namespace {

constexpr double furthest_threshold = 1e100;  // of the search for a threshold, in standard deviations

/// The pair of a direction: (ahead, behind) for remove and, mirrored, (behind, ahead) for add.
struct Sides {
  const MixtureSide& ahead;
  const MixtureSide& behind;
  double mu;  // approximately

  [[nodiscard]] Interval loss(Interval x) const { return ahead.log_density(x) - behind.log_density(-x); }
  [[nodiscard]] double rough_loss(double x) const { return ahead.rough(x).log_density - behind.rough(-x).log_density; }

  /// The pair lies below N(0, 1) against N(this, 1). [gaussian-mixture-pair]
  [[nodiscard]] Interval largest_shift() const { return ahead.shift(ahead.count()) + behind.shift(behind.count()); }

  /// About the x at which the loss is epsilon, by Newton's method within a bracket: the loss increases with x.
  [[nodiscard]] double near_threshold(double epsilon, numeric::Sides bracket) const {
    double x = 0.5 * (bracket.before + bracket.beyond);
    for (int i = 0; i < 60; ++i) {
      const MixtureSide::Rough with = ahead.rough(x), without = behind.rough(-x);
      const double excess = with.log_density - without.log_density - epsilon;
      (excess > 0 ? bracket.beyond : bracket.before) = x;
      const double slope = mu * (with.mean + without.mean);
      const double newton = x - excess / slope;
      const double next = newton > bracket.before && newton < bracket.beyond ? newton : 0.5 * (bracket.before + bracket.beyond);
      if (!(std::abs(next - x) > 0x1p-50 * std::abs(x))) break;
      x = next;
    }
    return x;
  }

  /// Encloses the x at which the loss is epsilon; an end is infinite if there may be none that is nearer.
  [[nodiscard]] Interval threshold(double epsilon) const {
    numeric::Sides bracket{-1, 1};
    while (rough_loss(bracket.before) > epsilon && bracket.before > -furthest_threshold) bracket.before *= 4;
    while (rough_loss(bracket.beyond) < epsilon && bracket.beyond < furthest_threshold) bracket.beyond *= 4;
    const double guess = near_threshold(epsilon, bracket);
    const auto enclose = [this](double x) { return loss(Interval::exactly(x)); };
    const Interval domain{-furthest_threshold, furthest_threshold};
    const Interval x = numeric::increasing_root(enclose, Interval::exactly(epsilon), guess, domain);
    return {x.lo > domain.lo ? x.lo : -infinity, x.hi < domain.hi ? x.hi : infinity};
  }
};

/// delta is non-increasing in epsilon: the enclosure over an interval comes from its two ends.
template <class AtPoint>
Interval over_mixture(Interval epsilon, AtPoint&& at) {
  if (epsilon.lo == epsilon.hi) return at(epsilon.lo);
  return {at(epsilon.hi).lo, at(epsilon.lo).hi};
}

class GaussianMixtureLoss final : public Loss, public ClosedForms {
 public:
  GaussianMixtureLoss(Interval mu, Interval rate, std::uint64_t ahead, std::uint64_t behind, Citations origin, GaussianOf of)
      : pair_(mu, rate, ahead, behind),
        origin_(std::move(origin)),
        of_(of),
        remove_(mixture_transform(pair_, Direction::remove)),
        add_(mixture_transform(pair_, Direction::add)) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    GaussianMixtureLoss::cite();
    return over_mixture(epsilon, [&](double e) { return delta_at(sides(direction), e); });
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    GaussianMixtureLoss::cite();
    return over_mixture(epsilon, [&](double e) { return log_delta_at(sides(direction), e); });
  }
  [[nodiscard]] bool symmetric() const override { return pair_.ahead.count() == pair_.behind.count(); }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  [[nodiscard]] Tail tail() const override;
  [[nodiscard]] std::optional<Test> test_at(Direction direction, double epsilon) const override;
  [[nodiscard]] Capabilities capabilities(Direction direction) const override {
    return {.transform = (direction == Direction::add ? add_ : remove_).get(),
            .closed_forms = this,
            .mixture = of_ == GaussianOf::curve ? nullptr : &pair_,
            .atomless = true};
  }
  [[nodiscard]] std::string key() const override {
    return make_key("gaussian_mixture", {pair_.mu, pair_.rate, Interval::exactly(static_cast<double>(pair_.ahead.count())),
                                         Interval::exactly(static_cast<double>(pair_.behind.count()))});
  }
  void cite() const override {
    static const Citation pair("gaussian-mixture-pair",
                               "a mixture of shifted Gaussians against another; its profile is a sum of Gaussian profiles");
    record(origin_);
    record(pair);
  }

 private:
  [[nodiscard]] Sides sides(Direction direction) const {
    const double mu = middle_of(pair_.mu);
    return direction == Direction::add ? Sides{pair_.behind, pair_.ahead, mu} : Sides{pair_.ahead, pair_.behind, mu};
  }
  [[nodiscard]] static Interval delta_at(const Sides& sides, double epsilon);
  [[nodiscard]] static Interval log_delta_at(const Sides& sides, double epsilon);

  MixturePair pair_;
  Citations origin_;
  GaussianOf of_;
  std::unique_ptr<const Transform> remove_;
  std::unique_ptr<const Transform> add_;
};

/// Whether the loss is certainly above epsilon everywhere, so that delta = 1 - e^epsilon, or certainly below, so that delta = 0.
bool certainly_above(const Sides& sides, double epsilon) { return sides.behind.count() == 0 && epsilon <= sides.ahead.log_weight(0).lo; }
bool certainly_below(const Sides& sides, double epsilon) { return sides.ahead.count() == 0 && epsilon >= (-sides.behind.log_weight(0)).hi; }

// [gaussian-mixture-pair] With x the place where the loss is epsilon and e_k, f_k the log-likelihood ratios of N(k mu) and N(-k mu) against
// N(0,1) there, delta = sum_k a_k delta_{k mu}(e_k) + e^epsilon sum_k b_k e^{f_k} delta_{k mu}(-f_k): a sum without cancellation.
Interval GaussianMixtureLoss::delta_at(const Sides& sides, double epsilon) {
  if (epsilon == infinity || certainly_below(sides, epsilon)) return Interval::exactly(0);
  if (epsilon == -infinity) return Interval::exactly(1);
  const Interval point = Interval::exactly(epsilon), line = epsilon < 0 ? -expm1(point) : Interval::exactly(0);
  if (certainly_above(sides, epsilon)) return line;
  const Interval x = sides.threshold(epsilon);
  if (x.lo == -infinity && sides.behind.count() > 0) return {line.lo, 1};
  if (x.hi == infinity) return {line.lo, gaussian_delta(sides.largest_shift(), point).hi};
  Interval sum = Interval::exactly(0);
  for (std::size_t k = 1; k <= sides.ahead.count(); ++k)
    sum = sum + sides.ahead.weight(k) * gaussian_delta(sides.ahead.shift(k), sides.ahead.log_ratio(k, x));
  for (std::size_t k = 1; k <= sides.behind.count(); ++k) {
    const Interval ratio = sides.behind.log_ratio(k, -x), share = point + sides.behind.log_weight(k) + ratio;
    // In logarithms where the share overflows.
    sum = sum + (share.hi < 600 ? exp(share) * gaussian_delta(sides.behind.shift(k), -ratio)
                                : exp(share + log_gaussian_delta(sides.behind.shift(k), -ratio)));
  }
  return clamp(max(sum, line), 0, 1);
}

Interval GaussianMixtureLoss::log_delta_at(const Sides& sides, double epsilon) {
  if (epsilon < 0 || epsilon == infinity || certainly_below(sides, epsilon)) return log(delta_at(sides, epsilon));
  const Interval point = Interval::exactly(epsilon), x = sides.threshold(epsilon);
  if (x.lo == -infinity) return log(delta_at(sides, epsilon));
  if (x.hi == infinity) return {-infinity, log_gaussian_delta(sides.largest_shift(), point).hi};
  Interval sum = Interval::exactly(-infinity);
  for (std::size_t k = 1; k <= sides.ahead.count(); ++k)
    sum = log_add_exp(sum, sides.ahead.log_weight(k) + log_gaussian_delta(sides.ahead.shift(k), sides.ahead.log_ratio(k, x)));
  for (std::size_t k = 1; k <= sides.behind.count(); ++k) {
    const Interval ratio = sides.behind.log_ratio(k, -x);
    sum = log_add_exp(sum, point + sides.behind.log_weight(k) + ratio + log_gaussian_delta(sides.behind.shift(k), -ratio));
  }
  return min(sum, Interval::exactly(0));
}

// The pair is dominated by N(ahead mu) against N(-behind mu), because divergences are jointly convex; far out only the largest shift of P
// matters. [gaussian-mixture-pair]
Tail GaussianMixtureLoss::tail() const {
  const Interval ahead = Interval::exactly(static_cast<double>(pair_.ahead.count())) * pair_.mu;
  const Interval behind = Interval::exactly(static_cast<double>(pair_.behind.count())) * pair_.mu;
  Tail tail = gdp_tail(ahead + behind);
  tail.moment_mu = tail.gdp_mu;
  tail.limit = ahead;
  if (pair_.behind.count() == 0) tail.largest.add = -pair_.ahead.log_weight(0);
  return tail;
}

// The loss increases with x: L > epsilon is x > threshold.
std::optional<Loss::Test> GaussianMixtureLoss::test_at(Direction direction, double epsilon) const {
  cite();
  const Sides sides = this->sides(direction);
  const Interval none = Interval::exactly(0), all = Interval::exactly(1);
  if (epsilon == infinity || certainly_below(sides, epsilon)) return Test{none, none};
  if (epsilon == -infinity || certainly_above(sides, epsilon)) return Test{all, all};
  const Interval x = sides.threshold(epsilon);
  Test sum{none, none};
  for (std::size_t k = 0; k <= sides.ahead.count(); ++k)
    sum.true_positive = sum.true_positive + sides.ahead.weight(k) * normal_cdf(sides.ahead.shift(k) - x);
  for (std::size_t k = 0; k <= sides.behind.count(); ++k)
    sum.false_positive = sum.false_positive + sides.behind.weight(k) * normal_cdf(-sides.behind.shift(k) - x);
  return Test{clamp(sum.false_positive, 0, 1), clamp(sum.true_positive, 0, 1)};
}

}  // namespace

LossPointer gaussian_mixture(Interval mu, Interval rate, std::uint64_t ahead, std::uint64_t behind, Citations origin, GaussianOf of) {
  return std::make_shared<GaussianMixtureLoss>(mu, rate, ahead, behind, std::move(origin), of);
}

}  // namespace tradeoff::detail
