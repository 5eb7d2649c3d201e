// SPDX-License-Identifier: Apache-2.0
#include "transform/zcdp_transform.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numeric/arithmetic.h"
#include "transform/zcdp_nodes.h"

namespace tradeoff::detail {
namespace {

constexpr double least_rho = 1e-12, largest_rho = 1e5;  // beyond them a pair reveals nothing or everything
constexpr double most_sampled_rho = 100;                // of a sampled step: more panels than are allowed
constexpr double most_zcdp_rate = 1 - 1e-6;             // nearer to 1 the bounds would need more digits of 1 - rate than a double has
constexpr double zcdp_width = 1e-12;                    // of rho and the rate, relative

/// [zcdp-transform]
class ZcdpTilt final : public NodeTilt {
 public:
  ZcdpTilt(const ZcdpNodes& nodes, double power, int sign, double negligible)
      : NodeTilt(nodes, power, sign, negligible),
        zcdp_(nodes),
        decay_{std::min(1.0, relative(nodes.log_atoms(power))), relative(nodes.log_variation(power)), infinity} {}

  [[nodiscard]] double modulus_above(double t) const override {
    CharacteristicValue value;
    characteristic_function({&t, 1}, {&value, 1});
    const double seen = std::hypot(1 + value.real_less_one, value.imaginary) + value.error + 1e-12;
    const double bound = (decay_.atoms + decay_.variation / t) * (1 + 1e-9);
    return std::min({seen < 1 ? seen : 1, bound < 1 ? bound : 1, modulus_after(t)});
  }
  [[nodiscard]] double modulus_after(double t) const override {
    const double bound = relative(zcdp_.log_moment_after(power(), t));
    return bound < 1 ? bound : 1;
  }
  [[nodiscard]] Decay decay(double) const override { return decay_; }

 private:
  const ZcdpNodes& zcdp_;
  Decay decay_;
};

class ZcdpMoments final : public Moments {
 public:
  ZcdpMoments(std::unique_ptr<const ZcdpNodes> nodes, Direction direction, double steps)
      : nodes_(std::move(nodes)), sign_(direction == Direction::add ? -1 : 1), negligible_(1e-18 / steps) {}

  [[nodiscard]] Cumulant cumulant(double order) const override {
    const Cumulant plain = nodes_->cumulant(power(order));
    return {plain.value, sign_ * plain.mean, plain.variance};
  }
  [[nodiscard]] double log_moment_above(double order) const override { return nodes_->log_moment_above(power(order)); }
  [[nodiscard]] std::unique_ptr<const TiltedLoss> tilt(double order) const override {
    return std::make_unique<ZcdpTilt>(*nodes_, power(order), sign_, negligible_);
  }

 private:
  [[nodiscard]] double power(double order) const { return sign_ > 0 ? 1 + order : -order; }

  std::unique_ptr<const ZcdpNodes> nodes_;
  int sign_;
  double negligible_;
};

class ZcdpTransform final : public Transform {
 public:
  ZcdpTransform(Interval rho, Interval rate, SampledBy sampling, Direction direction, const ZcdpNodes::Cut& cut)
      : rho_(rho), rate_(rate), sampling_(sampling), direction_(direction), cut_(cut) {}

  [[nodiscard]] Interval infinite_mass() const override { return {0, cut_.mass}; }
  [[nodiscard]] double largest_loss() const override {
    const bool bounded = sampling_ == SampledBy::poisson && direction_ == Direction::add && rate_.hi < 1;
    if (bounded) return (-log1p(-rate_)).hi;
    if (!(cut_.at < infinity)) return infinity;
    const Interval s = Interval::exactly(cut_.at), x = rho_ * (2.0 * s + 1.0) - log1p(1.0 / s);
    return log1p(rate_ * expm1(x)).hi;
  }
  [[nodiscard]] std::unique_ptr<const Moments> prepare(const TransformRange& reach) const override {
    const bool add = direction_ == Direction::add;
    const auto power = [&](double order) { return add ? -order : 1 + order; };
    // The error, multiplied by the number of steps, must stay below 1e-13; a search needs only one per cent. Each increment of effort
    // covers a longer t.
    const ZcdpNodes::Range range{
        power(add ? reach.largest : reach.least),    power(add ? reach.least : reach.largest),       power(reach.order),
        reach.longest * std::pow(1.5, reach.effort), std::log(reach.steps) + (reach.rough ? 8 : 36), reach.steps};
    auto nodes = std::make_unique<const ZcdpNodes>(rho_, rate_, sampling_, range, cut_);
    if (nodes->nodes().loss.empty()) return nullptr;
    return std::make_unique<ZcdpMoments>(std::move(nodes), direction_, reach.steps);
  }

 private:
  Interval rho_;
  Interval rate_;
  SampledBy sampling_;
  Direction direction_;
  ZcdpNodes::Cut cut_;
};

bool is_known(Interval a) { return a.lo > 0 && a.width() <= zcdp_width * a.lo; }

bool can_invert(Interval rho, Interval rate) {
  const bool whole = rate == Interval::exactly(1);
  if (!is_known(rho) || !is_known(rate) || !(rho.lo >= least_rho) || !(rho.hi <= (whole ? largest_rho : most_sampled_rho))) return false;
  return whole || rate.hi <= most_zcdp_rate;
}

/// [cut-contour] With A = P(base loss > x(s)) = exp(-rho s^2) and B = Q(base loss > x(s)) = exp(-rho (s + 1)^2) the losses beyond s have
/// the mass (1 - rate) B + rate A under P and B under Q; those of a sample of fixed size, with their mirror images, both masses together.
ZcdpNodes::Cut cut_at(Interval rho, Interval rate, SampledBy sampling, double rare) {
  const double middle = middle_of(rho);
  const auto where = [&](double share, double before) { return std::sqrt(std::max(0.0, std::log(share / rare)) / middle) - before; };
  const double s = std::max({where(2 * rate.hi, 0), where(4, 1), 2 * zcdp_start(rho).hi});
  const Interval at = Interval::exactly(s), base = exp(-(rho * square(at))), other = exp(-(rho * square(at + 1.0)));
  const Interval own = (1.0 - rate) * other + rate * base;
  return {s, sampling == SampledBy::fixed ? (own + other).hi : own.hi};
}

}  // namespace

std::unique_ptr<const Transform> zcdp_transform(Interval rho, Interval rate, SampledBy sampling, Direction direction) {
  if (!can_invert(rho, rate)) return nullptr;
  return std::make_unique<ZcdpTransform>(rho, rate, sampling, direction, ZcdpNodes::Cut{});
}

std::unique_ptr<const Transform> cut_zcdp_transform(Interval rho, Interval rate, SampledBy sampling, Direction direction, double rare) {
  if (!can_invert(rho, rate)) return nullptr;
  const bool bounded = sampling == SampledBy::poisson && direction == Direction::add;
  return std::make_unique<ZcdpTransform>(rho, rate, sampling, direction, bounded ? ZcdpNodes::Cut{} : cut_at(rho, rate, sampling, rare));
}

}  // namespace tradeoff::detail
