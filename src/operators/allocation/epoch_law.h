// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "loss/loss.h"
#include "loss/transform.h"
#include "loss/truncation.h"
#include "operators/allocation/epoch_density.h"
#include "transform/nodes.h"

namespace tradeoff::detail::allocation {

/// The pair on the event that the loss with Gaussian noise added lies between two ends, conditional on it: the transform of this law decays
/// like a Gaussian, and the law has no heavy tail. Losses are those of the conditional pair. [allocation-epochs]
class EpochLaw final : public NodeLaw {
 public:
  /// The event reaches between these ends, at most to those of the density.
  EpochLaw(std::shared_ptr<const EpochDensity> density, Interval ends);

  [[nodiscard]] TruncatedPair::Probabilities event() const { return event_; }
  [[nodiscard]] TruncatedPair::Probabilities outside(bool left) const { return left ? below_ : above_; }
  /// log of P(event) / Q(event).
  [[nodiscard]] Interval log_ratio() const { return log_ratio_; }
  /// As in TruncatedPair.
  [[nodiscard]] double log_moment_above_event(double order) const;
  /// |phi(t)| <= exp(-t^2 variance / 2) for every tilt.
  [[nodiscard]] double variance() const { return variance_; }

  using NodeLaw::log_error;
  [[nodiscard]] double log_error(double power, double t, const Sum& sum) const override;
  [[nodiscard]] double unit_error() const override { return unit_error_; }

 private:
  enum class Part { inside, below, above };
  [[nodiscard]] double share(double place, Part part) const;
  [[nodiscard]] TruncatedPair::Probabilities weighed(Part part) const;
  [[nodiscard]] Interval log_mean_inside() const;
  void add_nodes();
  [[nodiscard]] double log_moment(double power) const;
  [[nodiscard]] double log_beyond(double power, bool left) const;

  std::shared_ptr<const EpochDensity> density_;
  std::size_t stride_ = 1;  // of the nodes among the places
  double step_ = 0;
  double first_end_, last_end_;
  double noise_;  // the deviation of the added noise
  double variance_;
  TruncatedPair::Probabilities event_, below_, above_;
  Interval log_ratio_;
  double shift_ = 0;  // from the loss to that of the conditional pair
  double unit_error_ = 1;
  mutable std::mutex lock_;
  mutable std::map<double, double> moments_;  // by power: every line asks for the same one many times
};

/// The transform of the law in one direction; no loss is infinite.
[[nodiscard]] std::unique_ptr<const Transform> epoch_transform(std::shared_ptr<const EpochLaw> law, Direction direction);

}  // namespace tradeoff::detail::allocation
