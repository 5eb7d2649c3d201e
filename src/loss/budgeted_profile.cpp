// SPDX-License-Identifier: Apache-2.0
#include "loss/budgeted_profile.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "loss/forwarding_loss.h"
#include "loss/question_scope.h"
#include "loss/work.h"
#include "numeric/arithmetic.h"

namespace tradeoff {
namespace {

constexpr std::size_t most_points = 8192;  // remembered: 1 MB
constexpr double closest = 0x1p-20;        // nearer points tell nothing new, relative to 1 + epsilon
constexpr double farthest = 0x1p12;        // beyond it a cell is not halved any more

/// The relative width that is not worth another reading after so much work beyond what is passed on: 1e-6 at first, ten times as much with
/// each half million, a tenth after two and a half millions.
double tolerated(double work) { return std::pow(10, 2e-6 * work - 6); }

/// log delta at one epsilon, and what it rests on.
struct Reading {
  Interval log_delta;
  std::shared_ptr<const Citations> basis;
};

/// What is known of log delta at some epsilons >= 0, and what follows in between. [profile-bracket]
class Readings {
 public:
  using Points = std::map<double, Reading>;

  void keep(double epsilon, const Reading& reading) {
    const auto after = points_.lower_bound(epsilon);
    const double near = closest * (1 + epsilon);
    if (after != points_.end() && after->first - epsilon < near) return;
    if (after != points_.begin() && epsilon - std::prev(after)->first < near) return;
    if (points_.size() < most_points) points_.emplace_hint(after, epsilon, reading);
  }

  /// Records what the answer rests on.
  [[nodiscard]] Interval at(double epsilon) const {
    const auto right = points_.lower_bound(epsilon);
    if (right != points_.end()) record(*right->second.basis);
    if (right != points_.end() && right->first == epsilon) return right->second.log_delta;
    Interval found{-infinity, 0};
    if (right != points_.begin()) {
      const auto left = std::prev(right);
      record(*left->second.basis);
      found.hi = std::min(left->second.log_delta.hi, right == points_.end() ? infinity : chord(*left, *right, epsilon));
      found.lo = from_left(left, epsilon);
    }
    if (right != points_.end()) found.lo = std::max({found.lo, right->second.log_delta.lo, from_right(right, epsilon)});
    return {std::min(found.lo, found.hi), found.hi};  // they cross by rounding alone
  }

  /// Where a reading says most about epsilon: an end that is missing, or the middle of its cell; epsilon itself where that is too narrow.
  [[nodiscard]] double next(double epsilon) const {
    const auto right = points_.lower_bound(epsilon);
    if (points_.size() >= most_points) return epsilon;
    if (right == points_.begin()) return 0;
    const double low = std::prev(right)->first;
    if (right == points_.end()) return low < farthest ? std::max(1.0, 2 * low) : epsilon;
    const double middle = low + (right->first - low) / 2;
    return right->first - low > 4 * closest * (1 + epsilon) ? middle : epsilon;
  }

 private:
  using Place = Points::const_iterator;
  static constexpr int most_strides = 6;  // to points 1, 2, 4, ... 32 further on: too near a point has no slope for all the rounding

  /// (e^e - e^a)/(e^b - e^a) for a < e < b: how far e is along the cell, without overflow.
  [[nodiscard]] static Interval share(Interval a, Interval e, Interval b) {
    return clamp(exp(e - b) * (expm1(a - e) / expm1(a - b)), 0, 1);
  }

  /// Convex: below the chord.
  [[nodiscard]] static double chord(const Points::value_type& left, const Points::value_type& right, double epsilon) {
    const double above_left = left.second.log_delta.hi;
    if (above_left == -infinity) return -infinity;
    const Interval t = share(Interval::exactly(left.first), Interval::exactly(epsilon), Interval::exactly(right.first));
    const Interval fall = exp(Interval::exactly(right.second.log_delta.hi) - above_left);
    return (above_left + log(1.0 - t + t * min(fall, Interval::exactly(1)))).hi;
  }

  /// Above every chord drawn on: through the point on the left and others left of it.
  [[nodiscard]] double from_left(Place end, double epsilon) const {
    const double value = end->second.log_delta.lo;
    if (!(value > -infinity)) return -infinity;
    const Interval run = expm1(Interval::exactly(epsilon) - end->first);
    double best = -infinity;
    Place other = end;
    for (int stride = 0, step = 1; stride < most_strides; ++stride, step *= 2) {
      for (int i = 0; i < step && other != points_.begin(); ++i) --other;
      if (other == end) break;
      record(*other->second.basis);
      const Interval steepness =
          expm1(Interval::exactly(other->second.log_delta.hi) - value) / -expm1(Interval::exactly(other->first) - end->first);
      const Interval left = 1.0 - max(steepness, Interval::exactly(0)) * run;
      if (left.lo > 0) best = std::max(best, (value + log(left)).lo);
      if (other == points_.begin()) break;
    }
    return best;
  }
  /// And through the point on the right and others right of it.
  [[nodiscard]] double from_right(Place end, double epsilon) const {
    const double value = end->second.log_delta.lo;
    if (!(value > -infinity)) return -infinity;
    const Interval run = -expm1(Interval::exactly(epsilon) - end->first);
    double best = value;
    Place other = end;
    for (int stride = 0, step = 1; stride < most_strides; ++stride, step *= 2) {
      for (int i = 0; i < step && other != points_.end(); ++i) ++other;
      if (other == points_.end()) break;
      record(*other->second.basis);
      const Interval fall = -expm1(Interval::exactly(other->second.log_delta.hi) - value);
      const Interval steepness = max(fall, Interval::exactly(0)) / expm1(Interval::exactly(other->first) - end->first);
      best = std::max(best, (value + log1p(steepness * run)).lo);
    }
    return best;
  }

  Points points_;  // by epsilon
};

/// What is kept for one question.
struct Kept {
  double spent = 0;  // work of all readings
  Readings remove;
  Readings add;
  std::shared_ptr<const Citations> last_basis = std::make_shared<const Citations>();  // most readings rest on the same
};

class BudgetedLoss final : public ForwardingLoss {
 public:
  BudgetedLoss(LossPointer base, ReadingBudget budget) : base_(std::move(base)), budget_(budget) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    const QuestionScope question;
    Kept& kept = kept_for_question();
    const auto at = [&](double e) {
      if (std::isinf(e)) return at_infinity(direction, e);
      if (e >= 0) return delta_at(kept, direction, e);
      const Interval point = Interval::exactly(e);  // [two-directions]
      return clamp(-expm1(point) + exp(point) * delta_at(kept, opposite(direction), -e), 0, 1);
    };
    if (epsilon.lo == epsilon.hi) return at(epsilon.lo);
    return {at(epsilon.hi).lo, at(epsilon.lo).hi};
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    const QuestionScope question;
    if (epsilon.lo < 0 || epsilon.hi == infinity) return log(delta(direction, epsilon));
    Kept& kept = kept_for_question();
    const auto at = [&](double e) { return passes_on(kept) ? used(read(kept, direction, e)) : between(kept, direction, e); };
    if (epsilon.lo == epsilon.hi) return at(epsilon.lo);
    return {at(epsilon.hi).lo, at(epsilon.lo).hi};
  }
  [[nodiscard]] std::optional<double> rough_delta(Direction direction, double epsilon) const override {
    const QuestionScope question;
    const Unrecorded steering;
    Kept& kept = kept_for_question();
    if (passes_on(kept)) return counted(kept, [&] { return base_->rough_delta(direction, epsilon); });
    return middle_of_delta(*this, direction, epsilon);
  }
  [[nodiscard]] Capabilities capabilities(Direction direction) const override {
    Capabilities known = ForwardingLoss::capabilities(direction);
    known.closed_forms = this;
    known.keeps_readings = true;
    known.cost = std::max(Cost::engine, known.cost);
    return known;
  }
  /// Answers that are searches of their own are passed on within the budget; after that whoever asks searches the readings.
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override {
    const QuestionScope question;
    Kept& kept = kept_for_question();
    if (!passes_on(kept)) return std::nullopt;
    return counted(kept, [&] { return base_->closed_epsilon(direction, delta); });
  }
  [[nodiscard]] std::optional<Interval> closed_beta(Direction direction, Interval alpha) const override {
    const QuestionScope question;
    Kept& kept = kept_for_question();
    if (!passes_on(kept)) return std::nullopt;
    return counted(kept, [&] { return base_->closed_beta(direction, alpha); });
  }
  /// Not passed on: it reads every corner, which no budget covers.
  [[nodiscard]] std::optional<std::vector<Guarantee>> guarantees(Direction) const override { return std::nullopt; }

 private:
  [[nodiscard]] const Loss& base() const override { return *base_; }
  [[nodiscard]] Kept& kept_for_question() const { return QuestionScope::state_of<Kept>(is_unrecorded() ? steering_ : proving_); }
  /// Also while nobody records: a later answer may name what a reading rests on. Within an `Unrecorded` no answer does.
  [[nodiscard]] static Recording::When wanted() { return is_unrecorded() ? Recording::When::if_wanted : Recording::When::always; }
  [[nodiscard]] bool passes_on(const Kept& kept) const { return kept.spent < budget_.passed_on; }
  [[nodiscard]] Readings& readings(Kept& kept, Direction direction) const {
    return direction == Direction::add && !base_->symmetric() ? kept.add : kept.remove;
  }

  template <class Ask>
  [[nodiscard]] static auto counted(Kept& kept, Ask&& ask) -> decltype(ask()) {
    constexpr double least = 0.1;  // of any reading
    const std::uint64_t begin = Work::now();
    auto found = ask();
    kept.spent += least + Work::since(begin);
    return found;
  }

  [[nodiscard]] Interval at_infinity(Direction direction, double epsilon) const {
    base_->cite();
    return epsilon > 0 ? base_->infinite_mass(direction) : Interval::exactly(1);
  }

  [[nodiscard]] Interval delta_at(Kept& kept, Direction direction, double epsilon) const {
    if (!passes_on(kept)) return clamp(exp(between(kept, direction, epsilon)), 0, 1);
    const Recording own(wanted());
    const Interval found = counted(kept, [&] { return base_->delta(direction, Interval::exactly(epsilon)); });
    own.pass_on();
    // What underflowed has a logarithm that says more.
    if (found.lo > 0) readings(kept, direction).keep(epsilon, {log(found), basis_of(kept, own)});
    return found;
  }

  /// What was recorded, shared with the last reading if that rests on the same.
  [[nodiscard]] static std::shared_ptr<const Citations> basis_of(Kept& kept, const Recording& recording) {
    auto& last = kept.last_basis;
    if (*last != recording.citations()) last = std::make_shared<const Citations>(recording.citations());
    return last;
  }

  [[nodiscard]] Reading read(Kept& kept, Direction direction, double epsilon) const {
    const Recording own(wanted());
    const Interval log_delta = counted(kept, [&] { return base_->log_delta(direction, Interval::exactly(epsilon)); });
    const Reading found{min(log_delta, Interval::exactly(0)), basis_of(kept, own)};
    readings(kept, direction).keep(epsilon, found);
    return found;
  }
  [[nodiscard]] static Interval used(const Reading& reading) {
    record(*reading.basis);
    return reading.log_delta;
  }

  /// What the readings say, after some more of them where that is little.
  [[nodiscard]] Interval between(Kept& kept, Direction direction, double epsilon) const {
    static const Citation bracket("profile-bracket", "between its readings a profile is held by its chords");
    Readings& known = readings(kept, direction);
    const double& spent = kept.spent;
    Work::count(1);
    Interval found = known.at(epsilon);
    const auto is_wide = [&](Interval value) { return value.hi > -infinity && !(value.width() <= tolerated(spent - budget_.passed_on)); };
    for (bool last = false; !last && is_wide(found) && spent < budget_.in_all;) {
      const double place = known.next(epsilon);
      const Reading there = read(kept, direction, place);
      last = place == epsilon;
      found = intersect(found, last ? used(there) : known.at(epsilon));
      if (last || !is_wide(there.log_delta)) continue;
      last = true;  // readings as wide as this would not add up to more
      found = intersect(found, used(read(kept, direction, epsilon)));
    }
    record(bracket);
    return found;
  }

  LossPointer base_;
  ReadingBudget budget_;
  // What is kept for a question. What no answer names, as it steers a search, has a budget of its own: it leaves one to the proof.
  std::uint64_t proving_ = QuestionScope::new_owner();
  std::uint64_t steering_ = QuestionScope::new_owner();
};

}  // namespace

LossPointer budgeted(LossPointer base, ReadingBudget budget) {
  if (base->capabilities(Direction::remove).keeps_readings) return base;
  if (!base->is_pair()) return base;  // nothing is known between the readings of a bound that need not be convex
  return std::make_shared<BudgetedLoss>(std::move(base), budget);
}

}  // namespace tradeoff
