// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "tradeoff/interval.h"
#include "tradeoff/plan.h"
#include "tradeoff/provenance.h"

namespace tradeoff {

/// Which change of one record the plan protects against.
enum class Neighbours { unstated, add_remove, replace_one, zero_out };

/// Which ordered pair is asked about: `remove` is (with the record, without it), `add` the reverse, `worst` the one with the larger loss.
enum class Direction { worst, remove, add };

/// The same pair with its two data sets exchanged.
[[nodiscard]] constexpr Direction opposite(Direction direction) {
  return direction == Direction::worst ? Direction::worst : direction == Direction::add ? Direction::remove : Direction::add;
}

/// Target width of an answer; it may be wider.
struct Tolerance {
  double relative = 1e-6;  ///< the default is far smaller than any decision needs, and still quick to reach
};

/// Best membership guess at a prior, and the largest posterior any output can cause.
struct Posterior {
  Interval accuracy;
  Interval largest;
};

namespace detail {
struct CurveState;  // src/curve/curve_state.h: private
}

/// The argument of a question: a number, an interval that contains it, or the exact number of a plan (`read_number`).
class Level {
 public:
  Level(double value) : value_(Interval::exactly(value)) {}                // NOLINT(google-explicit-constructor): a parameter type
  Level(Interval value) : value_(value) {}                                 // NOLINT(google-explicit-constructor)
  Level(const Number& number) : value_(number.value), number_(&number) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] Interval value() const { return value_; }
  /// The exact number, or null. The caller owns it.
  [[nodiscard]] const Number* number() const { return number_; }

 private:
  Interval value_;
  const Number* number_ = nullptr;
};

/// What a plan guarantees. Immutable, cheap to copy, safe to share between threads. Every answer is a proved enclosure. `explained` (in
/// tradeoff/provenance.h) returns how an answer was computed. Every question takes a level and an optional direction.
class Curve {
 public:
  /// The least delta such that the plan is (epsilon, delta)-DP; any real epsilon, and +infinity for the mass at infinite loss.
  [[nodiscard]] Interval delta_at(Level epsilon, Direction = Direction::worst) const;
  /// The natural logarithm of `delta_at`, for values of delta too small for a double.
  [[nodiscard]] Interval log_delta_at(Level epsilon, Direction = Direction::worst) const;
  /// The least epsilon >= 0 such that the plan is (epsilon, delta)-DP. If delta is an exact number and the plan itself states a guarantee
  /// for it, that guarantee is the answer.
  [[nodiscard]] Interval epsilon_at(Level delta, Direction = Direction::worst) const;
  /// The least epsilon at delta = 0 as an exact number, if the numbers of the plan determine it: the sum of the largest losses, in both
  /// directions. Empty for other plans, and for curves that were not made from a plan.
  [[nodiscard]] std::optional<Number> pure_epsilon() const;
  /// The trade-off function: least type II error of a test whose type I error is alpha. With a direction, T(Q, P): null Q, alternative P.
  [[nodiscard]] Interval beta_at(Level alpha, Direction = Direction::worst) const;
  /// Largest true-positive rate of an attack with this false-positive rate.
  [[nodiscard]] Interval tpr_at(Level fpr, Direction = Direction::worst) const;
  /// Total variation: the largest (true-positive rate - false-positive rate) of any attack.
  [[nodiscard]] Interval advantage(Direction = Direction::worst) const;
  /// The best membership guess at this prior, and the largest posterior that any output can cause. With a direction, the prior and the
  /// posterior are those of the first data set of the pair: with the record for `remove`, without it for `add`.
  [[nodiscard]] Posterior posterior_at(Level prior, Direction = Direction::worst) const;

  /// Whether the exact numbers of the plan give this guarantee or a stronger one. If so, the guarantee holds even where rounding widens
  /// `delta_at` beyond it.
  [[nodiscard]] bool states(const Number& epsilon, const Number& delta) const;

  [[nodiscard]] Neighbours neighbours() const;
  [[nodiscard]] Tolerance tolerance() const;

 private:
  friend struct detail::CurveState;
  explicit Curve(std::shared_ptr<const detail::CurveState> state) : state_(std::move(state)) {}

  std::shared_ptr<const detail::CurveState> state_;
};

}  // namespace tradeoff
