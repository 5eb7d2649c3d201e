// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "loss/tail.h"

namespace tradeoff::detail {

inline constexpr Interval log_sqrt_two_pi{0.91893853320467266, 0.91893853320467281};

/// Upper bounds of the moments of a composition, from what is known about the tails of its parts: E exp(l L) <= exp(above(l)) for every l >
/// 0, in both directions. [moment-bound]
class MomentBound {
 public:
  /// Adds so many runs of a part. False if nothing is known about its moments.
  [[nodiscard]] bool add(const Tail& tail, std::uint64_t runs);

  [[nodiscard]] double above(double order) const;
  /// log delta(e) <= this at e = 0, and it falls with slope `order` in e. [renyi-conversion]
  [[nodiscard]] double log_chernoff(double order) const;
  /// An order at which that line is about the lowest at epsilon.
  [[nodiscard]] double order_near(double epsilon) const;
  /// The Gaussian model that follows from the bounds at all orders from `least` on. [tail-composition]
  [[nodiscard]] GaussianTail model_from(double least) const;
  /// The model at an order that suits most uses.
  [[nodiscard]] GaussianTail model() const;
  /// The root of the sum of the squares of all widths: no model is narrower.
  [[nodiscard]] double width() const;

 private:
  bool add(const MomentBound& other, double times);

  /// Largest loss `size`: E exp(lL) <= exp(min(l size, l (l + 1) size^2/2)).
  struct Pure {
    double size, times;
  };
  /// E exp(lL) <= (1 - rate + rate exp(mu^2 l/2))^(l + 1) + l rate; a Gaussian has rate 1 and no second term.
  struct Sampled {
    double mu, rate, times;
  };
  /// By the integral of a profile that is at most `largest`, and below its model beyond `tail.from`.
  struct Modelled {
    GaussianTail tail;
    double largest, times;
  };
  [[nodiscard]] static Interval log_moment(const Pure& part, Interval order);
  [[nodiscard]] static Interval log_moment(const Sampled& part, Interval order);
  [[nodiscard]] static Interval log_moment(const Modelled& part, Interval order);

  Interval squares_ = Interval::exactly(0);  // of the mu of Gaussian parts
  std::vector<Pure> pure_;
  std::vector<Sampled> sampled_;
  std::vector<Modelled> modelled_;
};

}  // namespace tradeoff::detail
