// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "loss/capabilities.h"
#include "tradeoff/interval.h"

namespace tradeoff::detail {

/// A pair (P, Q) on an event, and what lies outside of it. [truncated-contour]
class TruncatedPair {
 public:
  TruncatedPair() = default;
  TruncatedPair(const TruncatedPair&) = delete;
  TruncatedPair& operator=(const TruncatedPair&) = delete;
  virtual ~TruncatedPair() = default;

  /// The pair conditional on the event: two probability distributions, with transforms in both directions. Its loss is that of the pair
  /// plus log of Q(event) / P(event).
  [[nodiscard]] virtual LossPointer inside() const = 0;
  struct Probabilities {
    Interval p, q;
  };
  [[nodiscard]] virtual Probabilities event() const = 0;
  /// log of P(event) / Q(event).
  [[nodiscard]] virtual Interval log_ratio() const = 0;
  /// Of losses that are too large for the event, and too small.
  [[nodiscard]] virtual Probabilities above() const = 0;
  [[nodiscard]] virtual Probabilities below() const = 0;
  /// log of an upper bound of E_Q(e^(-order L); L is too large).
  [[nodiscard]] virtual double log_moment_above_event(double order) const = 0;
};

/// A pair whose tail is too heavy for a transform, but which has one on events of nearly full probability. An event is that the loss, with
/// some Gaussian noise added, lies between two ends. [truncated-contour]
class Truncation {
 public:
  Truncation() = default;
  Truncation(const Truncation&) = delete;
  Truncation& operator=(const Truncation&) = delete;

  /// The ends lie where the tails have about 10^-(6 level), or further inside if asked for. Null if that is not known.
  [[nodiscard]] virtual std::shared_ptr<const TruncatedPair> truncated(int level, Interval ends) const = 0;

 protected:
  ~Truncation() = default;
};

}  // namespace tradeoff::detail
