// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "loss/atoms.h"
#include "tradeoff/interval.h"

// What the contour engine asks of a loss L in one direction: its moment generating function M(s) = E_P[exp(sL) | L finite],
// on the real axis and on vertical lines. Real parts of s are called orders. [contour-inversion]
namespace tradeoff::detail {

/// log M and its first two derivatives at an order: plain doubles for searches; they prove nothing.
struct Cumulant {
  double value = 0;
  double mean = 0;
  double variance = 0;
};

/// phi(t) = E_c exp(i t (L - centre)) under the tilted distribution: within `error` of 1 + real_less_one + i imaginary.
struct CharacteristicValue {
  double real_less_one = 0;
  double imaginary = 0;
  double error = 0;
};

/// |phi(t)| <= atoms + variation / t and, where the law has a density, |phi(t)| <= whole_variation / t; for every t > 0.
/// Without the atoms that `Transform::atoms` lists, the transform of the law is at most rest + variation / t. [contour-remainder]
struct Decay {
  double atoms = 1;
  double variation = 0;
  double whole_variation = 0;  ///< infinite if the law has atoms
  double rest = 1;
};

/// N(v)^2 = (1 - |phi(v)|^2)/2 is at most v^2 deviation^2 / 2 + 2 tail, for every v. [contour-march]
struct Spread {
  double deviation = 0;
  double tail = 0;
};

/// The finite part of the loss under the weight exp(cL)/M(c). Immutable, so thread-safe.
class TiltedLoss {
 public:
  TiltedLoss() = default;
  TiltedLoss(const TiltedLoss&) = delete;
  TiltedLoss& operator=(const TiltedLoss&) = delete;
  virtual ~TiltedLoss() = default;

  /// Encloses log M(c).
  [[nodiscard]] virtual Interval log_moment() const = 0;
  /// The centre used by `CharacteristicValue`: near the mean, and exactly a double.
  [[nodiscard]] virtual double centre() const = 0;
  /// An upper bound of the standard deviation of the tilted loss.
  [[nodiscard]] virtual double deviation_above() const = 0;
  /// Several such bounds: for small v one without a tail term is best, for large v one with a small deviation.
  [[nodiscard]] virtual std::vector<Spread> spreads() const { return {{deviation_above(), 0}}; }
  /// phi at each t >= 0 of an increasing list.
  virtual void characteristic_function(std::span<const double> times, std::span<CharacteristicValue> values) const = 0;
  /// An upper bound of |phi(t)| for t beyond that list; it may be less tight.
  [[nodiscard]] virtual double modulus_above(double t) const = 0;
  /// An upper bound of |phi| at t and at every later time, beside `decay`. 1 if none is known.
  [[nodiscard]] virtual double modulus_after(double /*t*/) const { return 1; }
  /// Another such bound, which takes longer. [raised-path]
  [[nodiscard]] virtual double raised_modulus_after(double /*t*/) const { return 1; }
  /// For a distribution on a lattice: an upper bound of |phi| from t to the middle of its period. 1 if none is known.
  [[nodiscard]] virtual double modulus_beyond(double /*t*/) const { return 1; }
  /// A decay bound that falls to `wanted` (in (0,1)) as early as possible.
  [[nodiscard]] virtual Decay decay(double wanted) const = 0;
  /// The number of points that represent the distribution, for certificates.
  [[nodiscard]] virtual std::size_t size() const = 0;
};

/// The planned use: orders between `least` and `largest` for this many steps, and phi at `order` up to about `longest`. Each increment of
/// `effort` requests more accuracy; a `rough` evaluator is for searches only.
struct TransformRange {
  double least = 0;
  double largest = 1;
  double steps = 1;
  int effort = 0;
  bool rough = false;
  double order = 0;
  double longest = 0;
};

/// The moment generating function, prepared for a range of orders.
class Moments {
 public:
  Moments() = default;
  Moments(const Moments&) = delete;
  Moments& operator=(const Moments&) = delete;
  virtual ~Moments() = default;

  [[nodiscard]] virtual Cumulant cumulant(double order) const = 0;
  /// A certified upper bound of log M(order).
  [[nodiscard]] virtual double log_moment_above(double order) const = 0;
  [[nodiscard]] virtual std::unique_ptr<const TiltedLoss> tilt(double order) const = 0;
};

/// The transform of one direction of one mechanism. Independent of any plan, and small.
class Transform {
 public:
  Transform() = default;
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;
  virtual ~Transform() = default;

  /// P(L = +infinity); M does not include it.
  [[nodiscard]] virtual Interval infinite_mass() const = 0;
  /// An upper bound of the finite losses; infinite if there is none.
  [[nodiscard]] virtual double largest_loss() const = 0;
  /// Atoms of the law of a finite loss under P, not necessarily all of them.
  [[nodiscard]] virtual std::vector<Atom> atoms() const { return {}; }
  /// Null if the transform cannot be evaluated over this range.
  [[nodiscard]] virtual std::unique_ptr<const Moments> prepare(const TransformRange& reach) const = 0;
};

}  // namespace tradeoff::detail
