// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tradeoff/interval.h"
#include "tradeoff/plan.h"
#include "tradeoff/provenance.h"

namespace tradeoff {

/// Which change of one record the plan protects against.
enum class Neighbours { unstated, add_remove, replace_one };

/// Which ordered pair is asked about: `remove` is (with the record, without it), `add` the reverse, `worst` the less private of both.
enum class Direction { worst, remove, add };

/// Both data sets exchanged.
[[nodiscard]] constexpr Direction opposite(Direction direction) {
  return direction == Direction::worst ? Direction::worst : direction == Direction::add ? Direction::remove : Direction::add;
}

/// How tight an answer should be. A wider interval is still an answer.
struct Tolerance {
  double relative = 1e-6;  ///< wanted relative width: far below what a decision needs, far above what costs time
};

/// Best membership guess at a prior, and the largest posterior any output can cause.
struct Posterior {
  Interval accuracy;
  Interval largest;
};

class Loss;
struct Composition;

/// What a plan guarantees. Immutable, cheap to copy, safe to share between threads. Every answer is certain to hold. `explained` (in
/// tradeoff/provenance.h) tells how an answer was found.
class Curve {
 public:
  /// The least delta such that the plan is (epsilon, delta)-DP; any real epsilon, and +infinity for the mass at infinite loss.
  [[nodiscard]] Interval delta_at(Interval epsilon, Direction = Direction::worst) const;
  /// Natural logarithm of `delta_at`, for values that a double cannot hold.
  [[nodiscard]] Interval log_delta_at(Interval epsilon, Direction = Direction::worst) const;
  /// The least epsilon >= 0 such that the plan is (epsilon, delta)-DP.
  [[nodiscard]] Interval epsilon_at(Interval delta, Direction = Direction::worst) const;
  /// The same for the exact number: if the plan itself states a guarantee for this very delta, that is the answer.
  [[nodiscard]] Interval epsilon_at(const Number& delta, Direction = Direction::worst) const;
  /// The trade-off function: least type II error of a test whose type I error is alpha. With a direction, T(Q, P): null Q, alternative P.
  [[nodiscard]] Interval beta_at(Interval alpha, Direction = Direction::worst) const;
  /// Largest true-positive rate of an attack with this false-positive rate.
  [[nodiscard]] Interval tpr_at(Interval fpr, Direction = Direction::worst) const;
  /// Total variation: the largest (true-positive rate - false-positive rate) of any attack.
  [[nodiscard]] Interval advantage() const;
  [[nodiscard]] Posterior posterior_at(Interval prior) const;

  [[nodiscard]] Interval delta_at(double epsilon) const { return delta_at(Interval::exactly(epsilon)); }
  [[nodiscard]] Interval epsilon_at(double delta) const { return epsilon_at(Interval::exactly(delta)); }
  [[nodiscard]] Interval beta_at(double alpha) const { return beta_at(Interval::exactly(alpha)); }

  /// Whether the plan states this guarantee or a stronger one outright. Then it holds, whatever rounding makes of `delta_at`.
  [[nodiscard]] bool states(const Number& epsilon, const Number& delta) const;

  [[nodiscard]] Neighbours neighbours() const { return neighbours_; }
  [[nodiscard]] Tolerance tolerance() const { return tolerance_; }

  /// For the library's own use; the types behind it are private.
  Curve(std::shared_ptr<const Loss> loss, Neighbours neighbours, Tolerance tolerance, std::vector<WrittenGuarantee> stated = {},
        std::shared_ptr<const Composition> composition = nullptr);
  [[nodiscard]] const std::shared_ptr<const Loss>& loss() const { return loss_; }
  [[nodiscard]] const std::shared_ptr<const Composition>& composition() const { return composition_; }

 private:
  std::shared_ptr<const Loss> loss_;
  Neighbours neighbours_;
  Tolerance tolerance_;
  std::vector<WrittenGuarantee> stated_;
  std::shared_ptr<const Composition> composition_;  // what `extend` goes on from; null for a curve that no plan made
};

}  // namespace tradeoff
