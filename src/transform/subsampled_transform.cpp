// SPDX-License-Identifier: Apache-2.0
#include "transform/subsampled_transform.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numeric/arithmetic.h"
#include "transform/laplace_transform.h"
#include "transform/zcdp_transform.h"

namespace tradeoff::detail {
namespace {

/// [subsampled-transform] The loss is sign * (l - shift), where l is the loss of the nodes.
class SubsampledTilt final : public NodeTilt {
 public:
  SubsampledTilt(const SubsampledNodes& nodes, double order, double power, int sign, double negligible)
      : NodeTilt(nodes, power, sign, negligible),
        order_(order),
        shift_(sign > 0 ? -nodes.shift() : nodes.shift()),
        decay_{std::min(1.0, relative(nodes.log_atoms(power))), relative(nodes.log_variation(power)), infinity,
               nodes.lists_atoms() ? 0.0 : 1.0} {
    if (decay_.atoms == 0) decay_.whole_variation = decay_.variation;
    atoms_ = nodes.tilted_atoms(power, NodeTilt::log_moment().lo);
  }

  [[nodiscard]] Interval log_moment() const override { return NodeTilt::log_moment() + Interval::exactly(order_) * shift_; }
  [[nodiscard]] double centre() const override { return NodeTilt::centre() + shift_.lo; }
  void characteristic_function(std::span<const double> times, std::span<CharacteristicValue> values) const override {
    NodeTilt::characteristic_function(times, values);
    if (shift_.hi == 0 && shift_.lo == 0) return;
    const double centre_error = shift_.width() + unit_roundoff * std::abs(centre());
    for (std::size_t k = 0; k < times.size(); ++k) values[k].error += 1.01 * times[k] * centre_error;
  }
  [[nodiscard]] double modulus_above(double t) const override {
    CharacteristicValue value;
    characteristic_function({&t, 1}, {&value, 1});
    const double seen = std::hypot(1 + value.real_less_one, value.imaginary) + value.error + 1e-12;
    const double bound = (std::min(decay_.atoms, atoms_above(t)) + decay_.variation / t) * (1 + 1e-9);
    return std::min(seen < 1 ? seen : 1, bound < 1 ? bound : 1);
  }
  [[nodiscard]] Decay decay(double) const override { return decay_; }

 private:
  /// A bound of |E exp(itL)| over the atoms alone, which oscillates where the density has decayed.
  [[nodiscard]] double atoms_above(double t) const {
    double cosine = 0, sine = 0, error = 0;
    for (const auto& [mass, loss, loss_error, doubt] : atoms_) {
      const double phase = t * loss;
      cosine += mass * std::cos(phase);
      sine += mass * std::sin(phase);
      error += mass * (doubt + t * loss_error + 8 * unit_roundoff * (1 + std::abs(phase)));
    }
    return std::hypot(cosine, sine) + error;
  }

  double order_;
  Interval shift_;
  Decay decay_;
  std::vector<SubsampledNodes::TiltedAtom> atoms_;
};

class SubsampledMoments final : public Moments {
 public:
  SubsampledMoments(std::unique_ptr<const SubsampledNodes> nodes, Direction direction, double steps)
      : nodes_(std::move(nodes)), sign_(direction == Direction::add ? -1 : 1), negligible_(1e-18 / steps) {}

  [[nodiscard]] Cumulant cumulant(double order) const override {
    const Cumulant plain = nodes_->cumulant(power(order));
    const double shift = -sign_ * nodes_->shift().lo;
    return {plain.value + order * shift, sign_ * plain.mean + shift, plain.variance};
  }
  [[nodiscard]] double log_moment_above(double order) const override {
    const Interval shift = sign_ > 0 ? -nodes_->shift() : nodes_->shift();
    return (Interval::exactly(nodes_->log_moment_above(power(order))) + Interval::exactly(order) * shift).hi;
  }
  [[nodiscard]] std::unique_ptr<const TiltedLoss> tilt(double order) const override {
    return std::make_unique<SubsampledTilt>(*nodes_, order, power(order), sign_, negligible_);
  }

 private:
  [[nodiscard]] double power(double order) const { return sign_ > 0 ? 1 + order : -order; }

  std::unique_ptr<const SubsampledNodes> nodes_;
  int sign_;
  double negligible_;
};

class SubsampledTransform final : public Transform {
 public:
  SubsampledTransform(SampledBase base, Interval rate, SampledBy sampling, Direction direction)
      : base_(base), rate_(rate), sampling_(sampling), direction_(direction) {}

  [[nodiscard]] Interval infinite_mass() const override {
    const bool lost = sampling_ == SampledBy::poisson && direction_ == Direction::add;  // it becomes the atom at -log(1 - rate)
    return lost ? Interval::exactly(0) : rate_ * base_.missing;
  }
  [[nodiscard]] double largest_loss() const override {
    if (sampling_ == SampledBy::fixed || direction_ == Direction::remove)
      return base_.mu ? infinity : log1p(rate_ * expm1(base_.largest)).hi;
    return (-log1p(base_.missing.hi > 0 ? -rate_ : rate_ * expm1(-base_.largest))).hi;
  }
  [[nodiscard]] std::vector<Atom> atoms() const override;
  [[nodiscard]] std::unique_ptr<const Moments> prepare(const TransformRange& reach) const override {
    const bool add = direction_ == Direction::add;
    const auto power = [&](double order) { return add ? -order : 1 + order; };
    // The error, multiplied by the number of steps, must stay below 1e-13; a search needs only one per cent. Each increment of effort
    // covers a longer t.
    const double accuracy = std::log(reach.steps) + (reach.rough ? 8 : 36);
    const SubsampledNodes::Range range{power(add ? reach.largest : reach.least),
                                       power(add ? reach.least : reach.largest),
                                       power(reach.order),
                                       reach.longest * std::pow(1.5, reach.effort),
                                       accuracy,
                                       reach.steps};
    auto nodes = std::make_unique<const SubsampledNodes>(base_, rate_, sampling_, range);
    if (nodes->nodes().loss.empty()) return nullptr;
    return std::make_unique<SubsampledMoments>(std::move(nodes), add ? Direction::add : Direction::remove, reach.steps);
  }

 private:
  SampledBase base_;
  Interval rate_;
  SampledBy sampling_;
  Direction direction_;
};

// [subsampled-transform] The loss of a record that was drawn with rate q is log(1 - q + q e^x).
std::vector<Atom> SubsampledTransform::atoms() const {
  std::vector<Atom> atoms;
  if (base_.missing.hi > 0) return atoms;
  const auto loss_of = [&](Interval x) { return log1p(rate_ * expm1(x)); };
  const auto add = [&](Interval loss, Interval mass) {  // of the removal, under Q
    if (!(mass.hi > 0)) return;
    const bool mirrored = sampling_ == SampledBy::poisson && direction_ == Direction::add;
    atoms.push_back(mirrored ? Atom{-loss, mass} : Atom{loss, mass * exp(loss)});
  };
  const Interval upper = base_.atom * exp(-base_.largest);
  if (!base_.mu) {
    add(loss_of(base_.largest), upper);
    add(sampling_ == SampledBy::poisson ? loss_of(-base_.largest) : -loss_of(base_.largest),
        sampling_ == SampledBy::poisson ? base_.atom : upper * exp(loss_of(base_.largest)));
  }
  if (sampling_ == SampledBy::fixed) add(Interval::exactly(0), max((1.0 - rate_) * neither(base_), Interval::exactly(0)));
  return atoms;
}

bool is_narrow(Interval a) { return a.hi - a.lo <= 1e-12 * a.hi; }  // decimals and their quotients are far narrower

}  // namespace

std::optional<SampledBase> sampled_base(const Loss& base) {
  if (const auto mu = base.gaussian_mu()) {
    if (!(mu->lo > 0) || !(mu->hi < 100) || !is_narrow(*mu)) return std::nullopt;
    return SampledBase{.mu = mu, .largest = Interval::exactly(infinity), .coefficient = Interval::exactly(0)};
  }
  const LaplaceShape* laplace = base.capabilities(Direction::remove).laplace_shape;
  if (laplace == nullptr) return std::nullopt;
  const Interval largest = laplace->largest, finite = 1.0 - laplace->infinite;
  const bool narrow = is_narrow(largest) && is_narrow(laplace->atom) && is_narrow(laplace->density);
  if (!narrow || !(largest.lo > 0) || !(largest.hi < 100) || !(finite.lo > 0)) return std::nullopt;
  return SampledBase{.mu = std::nullopt,
                     .largest = largest,
                     .atom = laplace->atom * finite,
                     .coefficient = laplace->density * finite,
                     .missing = laplace->infinite};
}

std::unique_ptr<const Transform> subsampled_transform(const Loss& base, Interval rate, SampledBy sampling, Direction direction) {
  constexpr double most_rate = 1 - 1e-6;  // nearer to 1 the bounds would need more digits of 1 - rate than a double has
  if (!(rate.lo > 0) || !(rate.hi <= most_rate) || !is_narrow(rate)) return nullptr;
  if (const auto rho = base.capabilities(Direction::remove).zcdp_rho) return zcdp_transform(*rho, rate, sampling, direction);
  auto known = sampled_base(base);
  if (!known || (known->mu && sampling == SampledBy::poisson)) return nullptr;
  return std::make_unique<SubsampledTransform>(*known, rate, sampling, direction);
}

}  // namespace tradeoff::detail
