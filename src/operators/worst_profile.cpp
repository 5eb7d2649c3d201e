// SPDX-License-Identifier: Apache-2.0
#include "operators/worst_profile.h"

#include <algorithm>
#include <cmath>

#include "loss/gaussian_profile.h"
#include "loss/mirrored_delta.h"
#include "loss/recording.h"
#include "numeric/arithmetic.h"
#include "operators/bracketed.h"
#include "operators/group.h"

namespace tradeoff::detail {

const Loss& Profile::asked(const Loss& loss, Direction direction) {
  const GroupSides* sides = group_sides_of(loss);
  if (sides == nullptr) return loss;
  return direction == Direction::worst ? *sides->mixed : *sides->one_kind;
}

namespace {

const Citation& worse_of_both() {
  static const Citation citation("two-directions", "the worse of both directions at each epsilon");
  return citation;
}

}  // namespace

// [two-directions] The larger of both directions at epsilon >= 0; below 0 its mirror.
Interval Profile::worst_delta(Interval epsilon) const {
  const Interval at = epsilon.lo >= 0 ? epsilon : -epsilon;
  const Interval worse = max(loss_.delta(Direction::remove, at), loss_.delta(Direction::add, at));
  record(worse_of_both());
  return epsilon.lo >= 0 ? worse : mirrored_delta(epsilon, worse);
}

Interval Profile::delta(Interval epsilon) const {
  if (bracket_ != nullptr) return bracket_->grown([&](const Loss& loss) { return Profile(loss, direction_).delta(epsilon); });
  if (one_sided()) return loss_.delta(side(), epsilon);
  if (epsilon.lo >= 0 || epsilon.lo == epsilon.hi) return worst_delta(epsilon);
  return {worst_delta(Interval::exactly(epsilon.hi)).lo, worst_delta(Interval::exactly(epsilon.lo)).hi};
}

Interval Profile::log_delta(Interval epsilon) const {
  if (bracket_ != nullptr) return bracket_->grown([&](const Loss& loss) { return Profile(loss, direction_).log_delta(epsilon); });
  if (one_sided()) return loss_.log_delta(side(), epsilon);
  if (epsilon.lo < 0) return log(delta(epsilon));
  const Interval worse = max(loss_.log_delta(Direction::remove, epsilon), loss_.log_delta(Direction::add, epsilon));
  record(worse_of_both());
  return worse;
}

Interval Profile::log_complement(double epsilon) const {
  if (bracket_ != nullptr) return bracket_->fallen([&](const Loss& loss) { return Profile(loss, direction_).log_complement(epsilon); });
  if (one_sided()) return loss_.log_complement(side(), epsilon);
  const Interval worse = min(loss_.log_complement(Direction::remove, epsilon), loss_.log_complement(Direction::add, epsilon));
  record(worse_of_both());
  return worse;
}

std::optional<LogLine> Profile::log_line(LineOf of, double start, double end) const {
  if (bracket_ != nullptr) return std::nullopt;
  if (one_sided()) return loss_.log_line(of, side(), start, end);
  const auto remove = loss_.log_line(of, Direction::remove, start, end), add = loss_.log_line(of, Direction::add, start, end);
  if (!remove || !add) return std::nullopt;
  record(worse_of_both());
  const auto safe = [of](double a, double b) { return of == LineOf::delta ? std::max(a, b) : std::min(a, b); };
  return LogLine{safe(remove->at_start, add->at_start), safe(remove->at_end, add->at_end)};
}

std::optional<LogLine> Profile::divergence_line(double start, double end) const {
  if (bracket_ != nullptr) return std::nullopt;
  if (one_sided()) return loss_.divergence_line(side(), start, end);
  const auto remove = loss_.divergence_line(Direction::remove, start, end), add = loss_.divergence_line(Direction::add, start, end);
  if (!remove || !add) return std::nullopt;
  record(worse_of_both());
  return LogLine{std::max(remove->at_start, add->at_start), std::max(remove->at_end, add->at_end)};
}

std::vector<Arc> Profile::arcs(double start, double end) const {
  if (bracket_ != nullptr) return {};
  if (one_sided()) {
    auto only = loss_.arc(side(), start, end);
    return only ? std::vector{*std::move(only)} : std::vector<Arc>{};
  }
  auto remove = loss_.arc(Direction::remove, start, end);
  if (!remove) return {};
  auto add = loss_.arc(Direction::add, start, remove->end);
  if (!add) return {};
  record(worse_of_both());
  return {*std::move(remove), *std::move(add)};
}

Interval Profile::swapped_delta(Interval epsilon) const {
  if (direction_ == Direction::worst || loss_.symmetric()) return delta(epsilon);
  return loss_.delta(opposite(direction_), epsilon);
}

double Profile::rough_delta(double epsilon) const {
  const Unrecorded steering;
  if (one_sided()) return loss_.rough_delta(side(), epsilon);
  const double at = std::abs(epsilon);
  const double worse = std::max(loss_.rough_delta(Direction::remove, at), loss_.rough_delta(Direction::add, at));
  return epsilon >= 0 ? worse : rough_mirrored_delta(epsilon, worse);
}

double Profile::rough_swapped_delta(double epsilon) const {
  const Unrecorded steering;
  if (direction_ == Direction::worst || loss_.symmetric()) return rough_delta(epsilon);
  return loss_.rough_delta(opposite(direction_), epsilon);
}

Interval Profile::infinite_mass() const {
  if (one_sided()) return loss_.infinite_mass(side());
  return max(loss_.infinite_mass(Direction::remove), loss_.infinite_mass(Direction::add));
}

Interval Profile::largest_loss() const {
  const Unrecorded nothing;  // the caller records the theorems
  const Tail tail = loss_.tail();
  const LargestLoss& largest = tail.largest;
  // [largest-loss] Where e / sqrt(-2 log delta(e)) stays above 0, delta is positive for every e.
  const bool here = !one_sided() || loss_.symmetric() || (side() == Direction::remove && tail.limit.hi < infinity);
  if (here && tail.limit.lo > 0) return Interval::exactly(infinity);
  if (!one_sided()) return largest.worse();
  return side() == Direction::add ? largest.add : largest.remove;
}

void Profile::cite_largest_loss() const {
  static const Citation largest("largest-loss", "delta is 0 from the largest loss on, and the largest losses add up");
  loss_.cite();
  record(largest);
}

// [tail-model]
double Profile::epsilon_above(Interval delta) const {
  static const Citation below_gaussian("tail-model", "delta is at most that of a Gaussian pair");
  const Tail tail = loss_.tail();
  const double largest = largest_loss().hi;
  const bool has_mu = tail.gdp_mu < infinity && delta.lo > 0;
  const double by_mu = has_mu ? gaussian_epsilon(Interval::exactly(tail.gdp_mu), Interval::exactly(delta.lo)).hi : infinity;
  if (largest <= by_mu && largest < infinity) cite_largest_loss();
  if (by_mu < largest) {
    loss_.cite();
    if (tail.gdp_origin) record(*tail.gdp_origin);
    record(below_gaussian);
  }
  return std::min(largest, by_mu);
}

/// Whether the epsilon of the other direction is certainly at most this one, known without a search: beyond its largest loss delta is 0.
/// [largest-loss]
bool Profile::add_is_smaller(double epsilon, Interval delta) const {
  double largest = infinity;
  {
    const Unrecorded in_advance;
    largest = loss_.infinite_mass(Direction::add).hi > 0 ? infinity : loss_.tail().largest.add.hi;
  }
  if (!(largest <= epsilon) || !(delta.lo >= 0)) return false;
  cite_largest_loss();
  return true;
}

std::optional<Interval> Profile::closed_epsilon(Interval delta) const {
  if (one_sided()) return loss_.closed_epsilon(side(), delta);
  const auto remove = loss_.closed_epsilon(Direction::remove, delta);
  if (remove && remove->lo == infinity) {  // nothing is worse
    record(worse_of_both());
    return remove;
  }
  if (remove && remove->lo > 0 && add_is_smaller(remove->lo, delta)) {
    record(worse_of_both());
    return remove;
  }
  const auto add = loss_.closed_epsilon(Direction::add, delta);
  if (!remove || !add) return std::nullopt;
  record(worse_of_both());
  return max(*remove, *add);
}

std::optional<Interval> Profile::closed_beta(Interval alpha) const {
  if (one_sided()) return loss_.closed_beta(side(), alpha);
  return std::nullopt;
}

// [two-directions] The symmetric curve lies below those of both directions and of their mirrors, so every test of these is an upper bound.
std::optional<Loss::Test> Profile::test_at(double epsilon) const {
  if (one_sided()) return loss_.test_at(side(), epsilon);
  const Interval at = Interval::exactly(std::abs(epsilon));
  const bool remove = loss_.delta(Direction::remove, at).hi >= loss_.delta(Direction::add, at).hi;
  record(worse_of_both());
  const auto test = loss_.test_at(remove ? Direction::remove : Direction::add, std::abs(epsilon));
  if (!test || epsilon >= 0) return test;
  return Loss::Test{clamp(1.0 - test->true_positive, 0, 1), clamp(1.0 - test->false_positive, 0, 1)};
}

}  // namespace tradeoff::detail
