// SPDX-License-Identifier: Apache-2.0
#include "loss/budgeted_profile.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "loss/forwarding_loss.h"
#include "loss/mirrored_delta.h"
#include "loss/question_scope.h"
#include "loss/work.h"
#include "numeric/arithmetic.h"

namespace tradeoff::detail {
namespace {

constexpr std::size_t most_points = 8192;  // points kept: 1 MB
constexpr double closest = 0x1p-20;        // minimal distance of two points, relative to 1 + epsilon
constexpr double farthest = 0x1p12;        // cells beyond this epsilon are not halved

/// The relative width that is accepted without another evaluation, after so much work beyond `passed_on`: 1e-6 at first, ten times as much
/// for each half million units, a tenth after two and a half millions.
double tolerated(double work) { return std::pow(10, 2e-6 * work - 6); }

/// log delta at one epsilon, and its theorems.
struct Reading {
  Interval log_delta;
  std::shared_ptr<const Citations> basis;
};

/// The known values of log delta at some epsilons >= 0, and the bounds that follow between them. [profile-bracket]
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

  /// Records the theorems of the answer.
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
    return {std::min(found.lo, found.hi), found.hi};  // rounding alone can make them cross
  }

  /// The epsilon whose evaluation narrows the answer most: a missing end, the middle of the cell, or epsilon itself if the cell is too
  /// narrow.
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
  // slopes use points 1, 2, 4, ... 32 places away: between close points the rounding hides the slope
  static constexpr int most_strides = 6;

  /// (e^e - e^a)/(e^b - e^a) for a < e < b: the position of e in the cell, computed without overflow.
  [[nodiscard]] static Interval share(Interval a, Interval e, Interval b) {
    return clamp(exp(e - b) * (expm1(a - e) / expm1(a - b)), 0, 1);
  }

  /// A convex function lies below the chord.
  [[nodiscard]] static double chord(const Points::value_type& left, const Points::value_type& right, double epsilon) {
    const double above_left = left.second.log_delta.hi;
    if (above_left == -infinity) return -infinity;
    const Interval t = share(Interval::exactly(left.first), Interval::exactly(epsilon), Interval::exactly(right.first));
    const Interval fall = exp(Interval::exactly(right.second.log_delta.hi) - above_left);
    return (above_left + log(1.0 - t + t * min(fall, Interval::exactly(1)))).hi;
  }

  /// A convex function lies above an extended chord: here chords through the left end of the cell and a point further left.
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
  /// The same with chords through the right end of the cell and a point further right.
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

  Points points_;  // sorted by epsilon
};

/// The state kept for one question.
struct Kept {
  double spent = 0;  // work of all evaluations
  Readings remove;
  Readings add;
  std::shared_ptr<const Citations> last_basis = std::make_shared<const Citations>();  // most evaluations use the same theorems
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
      return mirrored_delta(e, delta_at(kept, opposite(direction), -e));
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
  /// Questions that the loss answers by its own search are passed on within the budget; afterwards the caller searches the stored values.
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
  [[nodiscard]] std::optional<Interval> log_complement(Direction direction, double epsilon) const override {
    const QuestionScope question;
    Kept& kept = kept_for_question();
    if (!passes_on(kept)) return std::nullopt;
    return counted(kept, [&] { return base_->log_complement(direction, epsilon); });
  }
  [[nodiscard]] std::optional<LogLine> log_line(LineOf of, Direction direction, double start, double end) const override {
    const QuestionScope question;
    Kept& kept = kept_for_question();
    if (!passes_on(kept)) return std::nullopt;
    return counted(kept, [&] { return base_->log_line(of, direction, start, end); });
  }
  [[nodiscard]] std::optional<Arc> arc(Direction direction, double start, double end) const override {
    const QuestionScope question;
    Kept& kept = kept_for_question();
    if (!passes_on(kept)) return std::nullopt;
    return counted(kept, [&] { return base_->arc(direction, start, end); });
  }
  /// Not passed on: it evaluates every corner, which can exceed any budget.
  [[nodiscard]] std::optional<std::vector<Guarantee>> guarantees(Direction) const override { return std::nullopt; }

 private:
  [[nodiscard]] const Loss& base() const override { return *base_; }
  [[nodiscard]] Kept& kept_for_question() const { return QuestionScope::state_of<Kept>(is_unrecorded() ? steering_ : proving_); }
  /// The theorems are recorded even if nobody records now, because a later answer may cite them; except within an `Unrecorded`.
  [[nodiscard]] static Recording::When wanted() { return is_unrecorded() ? Recording::When::if_wanted : Recording::When::always; }
  [[nodiscard]] bool passes_on(const Kept& kept) const { return kept.spent < budget_.passed_on; }
  [[nodiscard]] Readings& readings(Kept& kept, Direction direction) const {
    return direction == Direction::add && !base_->symmetric() ? kept.add : kept.remove;
  }

  template <class Ask>
  [[nodiscard]] static auto counted(Kept& kept, Ask&& ask) -> decltype(ask()) {
    constexpr double least = 0.1;  // the least work counted for an evaluation
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
    // A value that underflowed is not stored: its logarithm, computed directly, is a better bound.
    if (found.lo > 0) readings(kept, direction).keep(epsilon, {log(found), basis_of(kept, own)});
    return found;
  }

  /// The recorded theorems; the list is shared with the last evaluation if both are equal.
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

  /// The answer from the stored values, after more evaluations if the answer is too wide.
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
      last = true;  // values as wide as this cannot improve the answer
      found = intersect(found, used(read(kept, direction, epsilon)));
    }
    record(bracket);
    return found;
  }

  LossPointer base_;
  ReadingBudget budget_;
  // The state of the question. Values that only steer a search have their own budget, so that the proof keeps all of its own.
  std::uint64_t proving_ = QuestionScope::new_owner();
  std::uint64_t steering_ = QuestionScope::new_owner();
};

}  // namespace

LossPointer budgeted(LossPointer base, ReadingBudget budget) {
  if (base->capabilities(Direction::remove).keeps_readings) return base;
  if (!base->is_pair()) return base;  // a bound need not be convex, so nothing is known between its evaluations
  return std::make_shared<BudgetedLoss>(std::move(base), budget);
}

}  // namespace tradeoff::detail
