// SPDX-License-Identifier: Apache-2.0
#include "mechanism/bracketed.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "numeric/arithmetic.h"

namespace tradeoff {
namespace {

constexpr double hurried = 3.5;            // seconds of reading after the unhurried ones
constexpr std::size_t most_points = 8192;  // remembered: 1 MB
constexpr double closest = 0x1p-20;        // nearer points tell nothing new, relative to 1 + epsilon
constexpr double farthest = 0x1p12;        // beyond it a cell is not halved any more

/// The relative width that is not worth another reading after so many hurried seconds: 1e-6 at first, ten times as much with each half
/// second, a tenth after two and a half.
double tolerated(double seconds) { return std::pow(10, 2 * seconds - 6); }

Direction opposite(Direction direction) { return direction == Direction::add ? Direction::remove : Direction::add; }

/// What is known of log delta at some epsilons >= 0, and what follows in between. [profile-bracket]
class Readings {
 public:
  using Points = std::map<double, Interval>;

  void keep(double epsilon, Interval log_delta) {
    const auto after = points_.lower_bound(epsilon);
    const double near = closest * (1 + epsilon);
    if (after != points_.end() && after->first - epsilon < near) return;
    if (after != points_.begin() && epsilon - std::prev(after)->first < near) return;
    if (points_.size() < most_points) points_.emplace_hint(after, epsilon, log_delta);
  }

  [[nodiscard]] Interval at(double epsilon) const {
    const auto right = points_.lower_bound(epsilon);
    if (right != points_.end() && right->first == epsilon) return right->second;
    Interval found{-infinity, 0};
    if (right != points_.begin()) {
      const auto left = std::prev(right);
      found.hi = std::min(left->second.hi, right == points_.end() ? infinity : chord(*left, *right, epsilon));
      found.lo = from_left(left, epsilon);
    }
    if (right != points_.end()) found.lo = std::max({found.lo, right->second.lo, from_right(right, epsilon)});
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
    if (left.second.hi == -infinity) return -infinity;
    const Interval t = share(Interval::exactly(left.first), Interval::exactly(epsilon), Interval::exactly(right.first));
    const Interval fall = exp(Interval::exactly(right.second.hi) - left.second.hi);
    return (left.second.hi + log(1.0 - t + t * min(fall, Interval::exactly(1)))).hi;
  }

  /// Above every chord drawn on: through the point on the left and others left of it.
  [[nodiscard]] double from_left(Place end, double epsilon) const {
    const double value = end->second.lo;
    if (!(value > -infinity)) return -infinity;
    const Interval run = expm1(Interval::exactly(epsilon) - end->first);
    double best = -infinity;
    Place other = end;
    for (int stride = 0, step = 1; stride < most_strides; ++stride, step *= 2) {
      for (int i = 0; i < step && other != points_.begin(); ++i) --other;
      if (other == end) break;
      const Interval steepness = expm1(Interval::exactly(other->second.hi) - value) / -expm1(Interval::exactly(other->first) - end->first);
      const Interval left = 1.0 - max(steepness, Interval::exactly(0)) * run;
      if (left.lo > 0) best = std::max(best, (value + log(left)).lo);
      if (other == points_.begin()) break;
    }
    return best;
  }
  /// And through the point on the right and others right of it.
  [[nodiscard]] double from_right(Place end, double epsilon) const {
    const double value = end->second.lo;
    if (!(value > -infinity)) return -infinity;
    const Interval run = -expm1(Interval::exactly(epsilon) - end->first);
    double best = value;
    Place other = end;
    for (int stride = 0, step = 1; stride < most_strides; ++stride, step *= 2) {
      for (int i = 0; i < step && other != points_.end(); ++i) ++other;
      if (other == points_.end()) break;
      const Interval fall = -expm1(Interval::exactly(other->second.hi) - value);
      const Interval steepness = max(fall, Interval::exactly(0)) / expm1(Interval::exactly(other->first) - end->first);
      best = std::max(best, (value + log1p(steepness * run)).lo);
    }
    return best;
  }

  Points points_;  // by epsilon
};

class BracketedLoss final : public Loss {
 public:
  BracketedLoss(LossPointer base, double unhurried, ProcessorTime clock)
      : base_(std::move(base)), unhurried_(unhurried), clock_(std::move(clock)) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    const auto at = [&](double e) {
      if (std::isinf(e)) return e > 0 ? base_->infinite_mass(direction) : Interval::exactly(1);
      if (e >= 0) return delta_at(direction, e);
      const Interval point = Interval::exactly(e);  // [two-directions]
      return clamp(-expm1(point) + exp(point) * delta_at(opposite(direction), -e), 0, 1);
    };
    if (epsilon.lo == epsilon.hi) return at(epsilon.lo);
    return {at(epsilon.hi).lo, at(epsilon.lo).hi};
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    if (epsilon.lo < 0 || epsilon.hi == infinity) return log(delta(direction, epsilon));
    const auto at = [&](double e) {
      const std::lock_guard lock(mutex_);
      return spent_ < unhurried_ ? read(direction, e) : between(direction, e);
    };
    if (epsilon.lo == epsilon.hi) return at(epsilon.lo);
    return {at(epsilon.hi).lo, at(epsilon.lo).hi};
  }
  [[nodiscard]] double rough_delta(Direction direction, double epsilon) const override {
    {
      const std::lock_guard lock(mutex_);
      if (spent_ < unhurried_) return timed<double>([&] { return base_->rough_delta(direction, epsilon); });
    }
    return Loss::rough_delta(direction, epsilon);
  }
  [[nodiscard]] bool symmetric() const override { return base_->symmetric(); }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override { return base_->infinite_mass(direction); }
  [[nodiscard]] Tail tail() const override { return base_->tail(); }
  /// Answers that are searches of their own are passed on while there is time; after that whoever asks searches the readings.
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override {
    const std::lock_guard lock(mutex_);
    if (!(spent_ < unhurried_)) return std::nullopt;
    return timed<std::optional<Interval>>([&] { return base_->closed_epsilon(direction, delta); });
  }
  [[nodiscard]] std::optional<Interval> closed_beta(Direction direction, Interval alpha) const override {
    const std::lock_guard lock(mutex_);
    if (!(spent_ < unhurried_)) return std::nullopt;
    return timed<std::optional<Interval>>([&] { return base_->closed_beta(direction, alpha); });
  }
  [[nodiscard]] std::optional<Interval> closed_mu() const override { return base_->closed_mu(); }
  [[nodiscard]] std::optional<Test> test_at(Direction direction, double epsilon) const override {
    return base_->test_at(direction, epsilon);
  }
  [[nodiscard]] std::vector<double> corners(Direction direction) const override { return base_->corners(direction); }
  [[nodiscard]] std::string key() const override { return base_->key(); }
  void explain(std::vector<Step>& steps) const override {
    base_->explain(steps);
    steps.push_back({"profile-bracket", "read for a few seconds at most; between its readings a profile is held by its chords"});
  }

 private:
  [[nodiscard]] Readings& readings(Direction direction) const {
    return direction == Direction::add && !base_->symmetric() ? add_ : remove_;
  }

  template <class Answer, class Ask>
  [[nodiscard]] Answer timed(Ask&& ask) const {
    const double begin = clock_();
    const Answer found = ask();
    spent_ += clock_() - begin;
    return found;
  }

  [[nodiscard]] Interval delta_at(Direction direction, double epsilon) const {
    const std::lock_guard lock(mutex_);
    if (!(spent_ < unhurried_)) return clamp(exp(between(direction, epsilon)), 0, 1);
    const Interval found = timed<Interval>([&] { return base_->delta(direction, Interval::exactly(epsilon)); });
    if (found.lo > 0) readings(direction).keep(epsilon, log(found));  // what underflowed has a logarithm that says more
    return found;
  }

  [[nodiscard]] Interval read(Direction direction, double epsilon) const {
    const Interval found =
        timed<Interval>([&] { return min(base_->log_delta(direction, Interval::exactly(epsilon)), Interval::exactly(0)); });
    readings(direction).keep(epsilon, found);
    return found;
  }

  /// What the readings say, after some more of them where that is little.
  [[nodiscard]] Interval between(Direction direction, double epsilon) const {
    Readings& known = readings(direction);
    Interval found = known.at(epsilon);
    const auto is_wide = [this](Interval value) {
      return value.hi > -infinity && !(value.hi - value.lo <= tolerated(spent_ - unhurried_));
    };
    for (bool last = false; !last && is_wide(found) && spent_ < unhurried_ + hurried;) {
      const double place = known.next(epsilon);
      const Interval there = read(direction, place);
      last = place == epsilon;
      found = intersect(found, last ? there : known.at(epsilon));
      if (last || !is_wide(there)) continue;
      last = true;  // readings as wide as this would not add up to more
      found = intersect(found, read(direction, epsilon));
    }
    return found;
  }

  LossPointer base_;
  double unhurried_;
  ProcessorTime clock_;
  mutable std::mutex mutex_;
  mutable double spent_ = 0;  // seconds of reading
  mutable Readings remove_;
  mutable Readings add_;
};

}  // namespace

double processor_time() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

LossPointer bracketed(LossPointer base, double unhurried, ProcessorTime clock) {
  if (!base->is_pair()) return base;  // nothing is known between the readings of a bound that need not be convex
  return std::make_shared<BracketedLoss>(std::move(base), unhurried, std::move(clock));
}

}  // namespace tradeoff
