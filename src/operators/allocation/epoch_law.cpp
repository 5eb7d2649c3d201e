// SPDX-License-Identifier: Apache-2.0
#include "operators/allocation/epoch_law.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "numeric/arithmetic.h"

// [allocation-epochs]
namespace tradeoff::detail::allocation {
namespace {

constexpr double node_share = 0.19;    // of g: copies of the transform are then below e^-32 for two epochs and more
constexpr double alias_slack = 0.01;   // of logarithms: further copies, and the copies in the node sums
constexpr double node_roundings = 40;  // of a weight, in units of roundoff

double upper_tail(double x) { return 0.5 * std::erfc(x / std::numbers::sqrt2); }

}  // namespace

EpochLaw::EpochLaw(std::shared_ptr<const EpochDensity> density, Interval ends)
    : density_(std::move(density)),
      first_end_(std::max(ends.lo, density_->first_end())),
      last_end_(std::min(ends.hi, density_->last_end())) {
  const double g = density_->smoothing();
  while (2 * static_cast<double>(stride_) * density_->step() <= node_share * g) stride_ *= 2;
  step_ = static_cast<double>(stride_) * density_->step();
  noise_ = event_noise * g;
  variance_ = g * g * event_noise * event_noise / (1 + event_noise * event_noise) * (1 - 1e-9);
  below_ = weighed(Part::below);
  above_ = weighed(Part::above);
  // Whichever is known better: the probability of the event, or of what lies outside.
  const TruncatedPair::Probabilities inside = weighed(Part::inside);
  event_ = {intersect(inside.p, clamp(1.0 - below_.p - above_.p, 0, 1)), intersect(inside.q, clamp(1.0 - below_.q - above_.q, 0, 1))};
  log_ratio_ = intersect(log_mean_inside(), log(event_.p) - log(event_.q));
  add_nodes();
  unit_error_ = std::max(std::exp(log_error(0, 0)), std::exp(log_error(1, 0)));
}

/// How likely noise takes this loss to a part.
double EpochLaw::share(double place, Part part) const {
  const double a = (place - first_end_) / noise_, b = (last_end_ - place) / noise_;
  if (part == Part::inside) return a < b ? upper_tail(-a) - upper_tail(b) : upper_tail(-b) - upper_tail(a);
  return upper_tail(part == Part::below ? a : b);
}

/// Probabilities by the rule on the places: the law of every part has the same smoothness, and its copies are negligible.
TruncatedPair::Probabilities EpochLaw::weighed(Part part) const {
  double q = 0, p = 0, q_doubt = 0, p_doubt = 0;
  const double roundings = node_roundings + static_cast<double>(density_->place().size() / stride_);  // of the sums, too
  for (std::size_t i = 0; i < density_->place().size(); i += stride_) {
    const double l = density_->place()[i], mass = share(l, part) * step_ * std::exp(density_->log_density()[i]), tilt = std::exp(l);
    const double away = part == Part::inside ? std::min({0.0, l - first_end_, last_end_ - l}) / noise_ : 0;
    const double doubt = density_->error()[i] + unit_roundoff * (roundings + 8 * away * away);
    q += mass, q_doubt += mass * doubt;
    p += mass * tilt, p_doubt += mass * tilt * (doubt + density_->place_error());
  }
  const double copies = 4 * std::exp(-0.5 * variance_ * std::pow(2 * std::numbers::pi / step_, 2));
  const auto around = [&](double value, double doubt, double rest) {
    const double error = 1.01 * doubt + copies * value;
    return clamp(Interval{value - error, value + error + rest * (1 + 1e-6)}, 0, 1);
  };
  const EpochDensity::Rest &before = density_->before(), &beyond = density_->beyond();
  if (part == Part::inside) return {around(p, p_doubt, before.mean + beyond.mean), around(q, q_doubt, before.mass + beyond.mass)};
  const EpochDensity::Rest& rest = part == Part::below ? before : beyond;
  return {around(p, p_doubt, rest.mean), around(q, q_doubt, rest.mass)};
}

/// log of the mean of w in the event. Errors of the density cancel as far as w is the same everywhere.
Interval EpochLaw::log_mean_inside() const {
  double q = 0, p = 0, doubt = 0;
  const auto each = [&](auto&& add) {
    for (std::size_t i = 0; i < density_->place().size(); i += stride_)
      add(share(density_->place()[i], Part::inside) * std::exp(density_->log_density()[i]), std::exp(density_->place()[i]),
          density_->error()[i]);
  };
  each([&](double mass, double tilt, double) { q += mass, p += mass * tilt; });
  const double mean = p / q;
  each([&](double mass, double tilt, double error) { doubt += mass * std::abs(tilt - mean) * (error + node_roundings * unit_roundoff); });
  const double rest =
      (density_->before().mean + density_->beyond().mean) / (p * step_) + (density_->before().mass + density_->beyond().mass) / (q * step_);
  const double copies = 8 * std::exp(-0.5 * variance_ * std::pow(2 * std::numbers::pi / step_, 2));
  const double sums = 4 * unit_roundoff * static_cast<double>(density_->place().size() / stride_ + 8);
  const double error = 1.05 * doubt / p + sums + 1.01 * density_->place_error() + copies + 1.01 * rest;
  return Interval::exactly(std::log(mean)) + Interval{-error, error};
}

void EpochLaw::add_nodes() {
  const Interval log_mass = log(event_.q);
  shift_ = -middle_of(log_ratio_);
  const double loss_error = density_->place_error() + log_ratio_.width(), log_scale = std::log(step_) - middle_of(log_mass);
  for (std::size_t i = 0; i < density_->place().size(); i += stride_) {
    const double l = density_->place()[i], inside = std::log(share(l, Part::inside));
    if (!(inside > -700)) continue;
    const double nearest = std::min({0.0, (l - first_end_) / noise_, (last_end_ - l) / noise_});
    const double log_weight = log_scale + density_->log_density()[i] + inside, loss = l + shift_;
    nodes_.loss.push_back(loss);
    nodes_.loss_error.push_back(loss_error + unit_roundoff * (std::abs(loss) + std::abs(shift_)));
    nodes_.loss_tail.push_back(exponential_tail(loss));
    nodes_.log_weight.push_back(log_weight);
    nodes_.log_weight_error.push_back(density_->error()[i] + log_mass.width() +
                                      unit_roundoff * (node_roundings + 4 * std::abs(log_weight) + 8 * nearest * nearest));
    nodes_.weight.push_back(std::exp(log_weight));
  }
}

double EpochLaw::log_moment(double power) const {
  constexpr std::size_t most_kept = 64;
  const std::lock_guard guard(lock_);
  if (const auto known = moments_.find(power); known != moments_.end()) return known->second;
  if (moments_.size() >= most_kept) moments_.clear();
  double top = -infinity, sum = 0;
  for (std::size_t i = 0; i < nodes_.loss.size(); ++i) top = std::max(top, nodes_.log_weight[i] + power * nodes_.loss[i]);
  for (std::size_t i = 0; i < nodes_.loss.size(); ++i)
    sum += std::exp(nodes_.log_weight[i] + nodes_.log_weight_error[i] + power * nodes_.loss[i] - top);
  return moments_[power] = top + std::log(sum);
}

/// E(w^power; beyond the places, in the event): the density is bounded, and the probability of the event is at most e^(-x^2/2)/2 at x
/// deviations of the noise from its end. Nodes that are left out add at most the integral and one term.
double EpochLaw::log_beyond(double power, bool left) const {
  const double end = left ? first_end_ : last_end_, last = left ? density_->place().front() : density_->place().back();
  const double side = left ? -1 : 1, pull = side * power * noise_, from = side * (last - end) / noise_ - pull;
  const double integral = power * end + 0.5 * pull * pull + std::log(noise_) + log_root_two_pi + log_tail_above(from);
  const double term = power * last - 0.5 * (from + pull) * (from + pull) + std::log(step_);
  const double log_density = (left ? density_->before() : density_->beyond()).log_density - std::log(event_.q.lo) + power * shift_;
  return log_density + std::numbers::ln2 + (from > 0 ? log_sum(integral, term) : infinity);
}

double EpochLaw::log_error(double power, double t, const Sum&) const {
  const double turn = 2 * std::numbers::pi / step_, distance = turn - t;
  const double copies = std::numbers::ln2 - (distance > 0.5 * turn ? 0.5 * variance_ * distance * distance : 0);
  const double bound = log_sum(log_moment(power) + copies + alias_slack, log_sum(log_beyond(power, true), log_beyond(power, false)));
  return bound + bound_slack + bound_relative_slack * std::abs(bound);
}

double EpochLaw::log_moment_above_event(double order) const {
  double sum = std::log(density_->beyond().mass) - order * density_->place().back();
  for (std::size_t i = 0; i < density_->place().size(); i += stride_) {
    const double l = density_->place()[i], lost = share(l, Part::above);
    if (lost > 0) sum = log_sum(sum, std::log(step_ * lost) + density_->log_density()[i] + density_->error()[i] - order * l);
  }
  return sum + alias_slack;
}

namespace {

class EpochTilt final : public NodeTilt {
 public:
  EpochTilt(const EpochLaw& law, double power, int sign, double negligible)
      : NodeTilt(law, power, sign, negligible), variance_(law.variance()) {}

  /// Where the bound of phi is smaller than the error of the sum, the bound is all that is used.
  void characteristic_function(std::span<const double> times, std::span<CharacteristicValue> values) const override {
    NodeTilt::characteristic_function(times, values);
    for (std::size_t i = 0; i < times.size(); ++i)
      if (const double bound = modulus_after(times[i]); !(values[i].error < bound)) values[i] = {-1, 0, bound};
  }
  [[nodiscard]] double modulus_above(double t) const override {
    const CharacteristicValue value = oscillation(t, 0.1);
    const double seen = std::hypot(1 + value.real_less_one, value.imaginary) + value.error + 1e-12;
    return std::min(seen < 1 ? seen : 1, modulus_after(t));
  }
  [[nodiscard]] double modulus_after(double t) const override { return std::min(1.0, std::exp(-0.5 * variance_ * t * t) * (1 + 1e-9)); }
  /// x exp(-x^2/2) is at most exp(-1/2).
  [[nodiscard]] Decay decay(double) const override {
    const double variation = std::exp(-0.5) / std::sqrt(variance_) * (1 + 1e-9);
    return {0, variation, variation};
  }

 private:
  double variance_;
};

class EpochMoments final : public Moments {
 public:
  EpochMoments(std::shared_ptr<const EpochLaw> law, Direction direction, double steps)
      : law_(std::move(law)), sign_(direction == Direction::add ? -1 : 1), negligible_(1e-18 / steps) {}

  [[nodiscard]] Cumulant cumulant(double order) const override {
    const Cumulant plain = law_->cumulant(power(order));
    return {plain.value, sign_ * plain.mean, plain.variance};
  }
  [[nodiscard]] double log_moment_above(double order) const override { return law_->log_moment_above(power(order)); }
  [[nodiscard]] std::unique_ptr<const TiltedLoss> tilt(double order) const override {
    return std::make_unique<EpochTilt>(*law_, power(order), sign_, negligible_);
  }

 private:
  [[nodiscard]] double power(double order) const { return sign_ > 0 ? 1 + order : -order; }

  std::shared_ptr<const EpochLaw> law_;
  int sign_;
  double negligible_;
};

class EpochTransform final : public Transform {
 public:
  EpochTransform(std::shared_ptr<const EpochLaw> law, Direction direction) : law_(std::move(law)), direction_(direction) {}

  [[nodiscard]] Interval infinite_mass() const override { return Interval::exactly(0); }
  [[nodiscard]] double largest_loss() const override { return infinity; }
  [[nodiscard]] std::unique_ptr<const Moments> prepare(const TransformRange& reach) const override {
    return std::make_unique<EpochMoments>(law_, direction_, reach.steps);
  }

 private:
  std::shared_ptr<const EpochLaw> law_;
  Direction direction_;
};

}  // namespace

std::unique_ptr<const Transform> epoch_transform(std::shared_ptr<const EpochLaw> law, Direction direction) {
  return std::make_unique<EpochTransform>(std::move(law), direction);
}

}  // namespace tradeoff::detail::allocation
