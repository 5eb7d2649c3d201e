// SPDX-License-Identifier: Apache-2.0
#include "transform/mixture_transform.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numeric/arithmetic.h"
#include "transform/mixture_nodes.h"

namespace tradeoff::detail {
namespace {

class MixtureTilt final : public NodeTilt {
 public:
  MixtureTilt(const MixtureNodes& nodes, double power, int sign, double negligible)
      : NodeTilt(nodes, power, sign, negligible), mixture_(nodes) {
    for (const MixtureNodes::Cut& cut : nodes.cuts(power))
      cuts_.push_back({relative(cut.log_mass_left), relative(cut.log_variation_right), cut.log_mass_left == -infinity});
  }

  [[nodiscard]] double modulus_above(double t) const override {
    CharacteristicValue value;
    characteristic_function({&t, 1}, {&value, 1});
    double best = std::hypot(1 + value.real_less_one, value.imaginary) + value.error + 1e-12;
    for (const Cut& cut : cuts_) best = std::min(best, (cut.mass + cut.variation / t) * (1 + 1e-9));
    return best < 1 ? best : 1;
  }
  [[nodiscard]] double raised_modulus_after(double t) const override {
    const double bound = relative(mixture_.log_moment_after(power(), t));
    return bound < 1 ? bound : 1;
  }
  // [mixture-transform] The mass left of a cut counts as an atom. The cut is the one whose bound falls to `wanted` first.
  [[nodiscard]] Decay decay(double wanted) const override {
    Decay best{1, 0, infinity};
    double earliest = infinity;
    for (const Cut& cut : cuts_) {
      if (cut.whole) best.whole_variation = cut.variation;
      const double reached = cut.mass < wanted ? cut.variation / (wanted - cut.mass) : infinity;
      if (!(reached < earliest)) continue;
      earliest = reached;
      best.atoms = cut.mass;
      best.variation = cut.variation;
    }
    return best;
  }

 private:
  struct Cut {
    double mass;
    double variation;
    bool whole;
  };
  const MixtureNodes& mixture_;
  std::vector<Cut> cuts_;
};

class MixtureMoments final : public Moments {
 public:
  MixtureMoments(std::unique_ptr<const MixtureNodes> nodes, Direction direction, double steps)
      : nodes_(std::move(nodes)), sign_(direction == Direction::add ? -1 : 1), negligible_(1e-18 / steps) {}

  [[nodiscard]] Cumulant cumulant(double order) const override {
    const Cumulant plain = nodes_->cumulant(power(order));
    return {plain.value, sign_ * plain.mean, plain.variance};
  }
  [[nodiscard]] double log_moment_above(double order) const override { return nodes_->log_moment_above(power(order)); }
  [[nodiscard]] std::unique_ptr<const TiltedLoss> tilt(double order) const override {
    return std::make_unique<MixtureTilt>(*nodes_, power(order), sign_, negligible_);
  }

 private:
  [[nodiscard]] double power(double order) const { return sign_ > 0 ? 1 + order : -order; }

  std::unique_ptr<const MixtureNodes> nodes_;
  int sign_;
  double negligible_;
};

class MixtureTransform final : public Transform {
 public:
  MixtureTransform(const MixturePair& pair, Direction direction) : pair_(pair), direction_(direction) {}

  [[nodiscard]] Interval infinite_mass() const override { return Interval::exactly(0); }
  [[nodiscard]] double largest_loss() const override {
    return direction_ == Direction::remove || pair_.behind.count() > 0 ? infinity : (-pair_.ahead.log_weight(0)).hi;
  }
  [[nodiscard]] std::unique_ptr<const Moments> prepare(const TransformRange& reach) const override {
    const bool add = direction_ == Direction::add;
    const auto power = [&](double order) { return add ? -order : 1 + order; };
    // The error, multiplied by the number of steps, must stay below 1e-13; a search needs only one per cent. Each increment of effort
    // covers a longer t.
    const double accuracy = std::log(reach.steps) + (reach.rough ? 8 : 36);
    const MixtureNodes::Range range{power(add ? reach.largest : reach.least),
                                    power(add ? reach.least : reach.largest),
                                    power(reach.order),
                                    reach.longest * std::pow(1.5, reach.effort),
                                    accuracy,
                                    reach.steps};
    auto nodes = std::make_unique<const MixtureNodes>(pair_, range);
    if (nodes->nodes().loss.empty()) return nullptr;
    return std::make_unique<MixtureMoments>(std::move(nodes), direction_, reach.steps);
  }

 private:
  const MixturePair& pair_;
  Direction direction_;
};

}  // namespace

std::unique_ptr<const Transform> mixture_transform(const MixturePair& pair, Direction direction) {
  constexpr double most_rate = 1 - 1e-6;    // nearer to 1 the bounds would need more digits of 1 - rate than a double has
  constexpr double most_width = 1e-13;      // decimals and their quotients are far narrower; the bounds on the nodes assume it
  constexpr double most_shift = 200;        // of count * mu: the panels are shorter than the inverse of it
  constexpr std::size_t most_count = 1000;  // every node is a sum over the counts
  const auto narrow = [](Interval a) { return a.hi - a.lo <= most_width * a.lo; };
  const std::size_t count = std::max(pair.ahead.count(), pair.behind.count());
  if (!narrow(pair.mu) || !narrow(pair.rate) || !(pair.rate.hi <= most_rate) || count > most_count) return nullptr;
  if (!(pair.mu.hi * static_cast<double>(count) <= most_shift)) return nullptr;
  return std::make_unique<MixtureTransform>(pair, direction);
}

}  // namespace tradeoff::detail
