// SPDX-License-Identifier: Apache-2.0
#include "engine/layered.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "mechanism/evaluation.h"
#include "numeric/arithmetic.h"

namespace tradeoff {
namespace {

class LayeredLoss final : public Loss, public Evaluable {
 public:
  LayeredLoss(std::vector<LossPointer> paths, std::function<Tail()> tail, Tolerance tolerance)
      : paths_(std::move(paths)), find_tail_(std::move(tail)), tolerance_(tolerance) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    // Below the smallest plain doubles relative width has no meaning; the logarithm is asked for there.
    return first_tight(
        {0, 1}, [&](const Loss& path) { return path.delta(direction, epsilon); },
        [this](Interval found) { return found.width() <= tolerance_.relative * found.hi || found.hi < 1e-290; });
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    return first_tight(
        {-infinity, 0}, [&](const Loss& path) { return path.log_delta(direction, epsilon); },
        [this](Interval found) { return found.width() <= tolerance_.relative || found.hi == -infinity; });
  }
  /// The last path is the lattice, whose coarsest form is quicker than any certified answer.
  [[nodiscard]] double rough_delta(Direction direction, double epsilon) const override {
    return paths_.back()->rough_delta(direction, epsilon);
  }
  [[nodiscard]] bool symmetric() const override { return paths_.front()->symmetric(); }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override { return paths_.front()->infinite_mass(direction); }
  [[nodiscard]] Tail tail() const override {
    std::call_once(tail_found_, [this] { tail_ = find_tail_(); });
    return tail_;
  }
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override {
    const Interval anything{0, infinity};
    const Interval found = first_tight(
        anything, [&](const Loss& path) { return path.closed_epsilon(direction, delta).value_or(anything); },
        [this](Interval known) { return is_tight(known); });
    if (is_tight(found) || found.lo == infinity || infinite_mass(direction).lo > delta.hi)
      return max(found, at_least_infinite(direction, delta));
    return narrowed(direction, delta, found);
  }
  [[nodiscard]] std::optional<Test> test_at(Direction direction, double epsilon) const override {
    for (const LossPointer& path : paths_)
      if (const auto test = path->test_at(direction, epsilon)) return test;
    return std::nullopt;
  }
  [[nodiscard]] std::optional<std::vector<Guarantee>> guarantees(Direction direction) const override {
    for (const LossPointer& path : paths_)
      if (auto corners = path->guarantees(direction)) return corners;
    return std::nullopt;
  }
  void explain(std::vector<Step>& steps) const override { paths_.front()->explain(steps); }
  /// Of the paths that an answer would have been made of.
  void evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const override {
    (void)first_tight(
        {-infinity, 0},
        [&](const Loss& path) {
          const std::vector<Evaluation> more = evaluations_of(path, direction, epsilon);
          found.insert(found.end(), more.begin(), more.end());
          return path.log_delta(direction, Interval::exactly(epsilon));
        },
        [this](Interval known) { return known.width() <= tolerance_.relative || known.hi == -infinity; });
  }

 private:
  [[nodiscard]] bool is_tight(Interval epsilon) const {
    return epsilon.hi < infinity && (epsilon.hi == 0 || epsilon.width() <= tolerance_.relative * epsilon.hi);
  }
  [[nodiscard]] Interval at_least_infinite(Direction direction, Interval delta) const {
    return Interval::exactly(infinite_mass(direction).lo > delta.hi ? infinity : 0);
  }

  /// Closes in on epsilon by the profile of all engines. Only so many questions are asked of it, because the last engine may take a
  /// second for each: what is left is a wider interval. [profile-inversion]
  [[nodiscard]] Interval narrowed(Direction direction, Interval delta, Interval known) const {
    const Interval target = log(delta);
    int questions = 10;
    double low_excess = infinity;
    double high_excess = -infinity;
    const auto ask = [&](double epsilon) {
      const Interval value = log_delta(direction, Interval::exactly(epsilon));
      const double excess = (value.lo + value.hi) / 2 - (target.lo + target.hi) / 2;
      --questions;
      // An end that stays while the other moves has its excess halved, so that the secant does not creep.
      if (value.lo > target.hi) {
        if (low_excess < infinity) high_excess /= 2;
        known.lo = epsilon;
        low_excess = excess;
        return true;
      }
      if (value.hi <= target.lo) {
        if (high_excess > -infinity) low_excess /= 2;
        known.hi = epsilon;
        high_excess = excess;
        return true;
      }
      questions -= 4;  // undecided: the enclosures are as wide as what is left
      return false;
    };
    if (known.lo == 0 && (!ask(0) || known.hi == 0)) return known;
    for (double step = std::max(1.0, 2 * known.lo); known.hi == infinity && questions > 0; step *= 4) ask(step);
    while (questions > 0 && known.hi < infinity && !is_tight(known)) {
      const double share = low_excess / (low_excess - high_excess);
      const double guess = known.lo + (known.hi - known.lo) * (share > 0.01 && share < 0.99 ? share : 0.5);
      ask(guess);
    }
    return known;
  }

  template <class Ask, class IsTight>
  [[nodiscard]] Interval first_tight(Interval known, Ask&& ask, IsTight&& is_tight) const {
    for (const LossPointer& path : paths_) {
      const Interval answer = ask(*path);
      const Interval both{std::max(answer.lo, known.lo), std::min(answer.hi, known.hi)};
      known = both.lo <= both.hi ? both : hull(answer, known);  // disjoint enclosures would mean a defect: claim no more than either
      if (is_tight(known)) break;
    }
    return known;
  }

  std::vector<LossPointer> paths_;
  std::function<Tail()> find_tail_;
  mutable std::once_flag tail_found_;
  mutable Tail tail_;
  Tolerance tolerance_;
};

}  // namespace

LossPointer layered_loss(std::vector<LossPointer> paths, std::function<Tail()> tail, Tolerance tolerance) {
  std::erase(paths, nullptr);
  return std::make_shared<LayeredLoss>(std::move(paths), std::move(tail), tolerance);
}

}  // namespace tradeoff
