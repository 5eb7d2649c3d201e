// SPDX-License-Identifier: Apache-2.0
#include "operators/duality.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "loss/negligible.h"
#include "loss/work.h"
#include "numeric/arithmetic.h"
#include "numeric/minimize.h"
#include "numeric/root.h"
#include "operators/bracketed.h"

namespace tradeoff::detail {
namespace {

// Below this value a double has fewer significant digits, so comparisons use logarithms.
constexpr double smallest_plain_delta = 1e-290;

/// Compares the profile with a target. A comparison is decided only if the enclosures do not overlap.
class Comparison {
 public:
  Comparison(const Profile& profile, Interval target) : profile_(profile), target_(target), logarithmic_(target.lo < smallest_plain_delta) {
    if (logarithmic_) target_ = log(target);
  }
  /// "before" where delta is certainly larger than the target, "after" where it is certainly at most the target.
  [[nodiscard]] numeric::Verdict at(double epsilon) {
    const Recording own(Recording::When::if_wanted);
    const Interval point = Interval::exactly(epsilon);
    const Interval value = logarithmic_ ? profile_.log_delta(point) : profile_.delta(point);
    if (!own.citations().empty()) bases_.emplace_back(epsilon, own.citations());
    const bool before = value.lo > target_.hi, after = value.hi <= target_.lo;
    if (logarithmic_) return {before, after, (value.lo + value.hi) / 2 - (target_.lo + target_.hi) / 2, value.width() + target_.width()};
    const double sum = value.lo + value.hi, target_sum = target_.lo + target_.hi;
    return {before, after, std::log(sum / target_sum), value.width() / sum + target_.width() / target_sum};
  }

  /// The values at both ends prove the answer; the values between them only guided the search.
  [[nodiscard]] Interval proved(Interval answer) const {
    static const Citation inversion("profile-inversion", "each end of epsilon is proved by the value of the profile there");
    for (const auto& [epsilon, basis] : bases_)
      if (epsilon == answer.lo || epsilon == answer.hi) record(basis);
    record(inversion);
    return answer;
  }

 private:
  const Profile& profile_;
  Interval target_;
  bool logarithmic_;
  std::vector<std::pair<double, Citations>> bases_;  // the theorems of each value
};

// [profile-inversion] delta is non-increasing: a certain "above" at a proves epsilon > a, a certain "at most" at b proves epsilon <= b.
Interval search_epsilon(const Profile& profile, Interval delta) {
  if (const auto closed = profile.closed_epsilon(delta)) {
    if (closed->hi < infinity || closed->lo == infinity) return *closed;
    return {closed->lo, std::max(closed->lo, profile.epsilon_above(delta))};
  }
  const Interval at_infinity = profile.infinite_mass();
  if (at_infinity.lo > delta.hi) {
    profile.cite();
    return Interval::exactly(infinity);
  }
  Comparison comparison(profile, delta);
  numeric::Verdict at_low = comparison.at(0);
  if (at_low.after) return comparison.proved(Interval::exactly(0));
  double low = 0;
  double high = 1;
  // From 2^19 on a finite epsilon is of little use: the exponent doubles, if values are cheap, and then the tail decides.
  constexpr double large = 0x1p19, largest = std::numeric_limits<double>::max();
  const double last = profile.cost() == Cost::formula ? largest : large;
  for (bool more = true; more; high = high < large ? 2 * high : std::min(high * high, largest)) {
    more = high < last;
    const numeric::Verdict verdict = comparison.at(high);
    if (verdict.after) {
      const Interval found =
          comparison.proved(numeric::narrow_bracket([&](double e) { return comparison.at(e); }, low, at_low, high, verdict));
      if (high <= large) return found;
      return {found.lo, std::max(found.lo, std::min(found.hi, profile.epsilon_above(delta)))};
    }
    if (verdict.before) {
      low = high;
      at_low = verdict;
    }
  }
  return comparison.proved({low, std::max(low, profile.epsilon_above(delta))});
}

}  // namespace

Interval invert_profile(const Profile& profile, Interval delta) {
  if (const Bracket* const bracket = profile.bracket())  // [bracketed-pair]
    return bracket->grown([&](const Loss& loss) { return invert_profile(Profile(loss, profile.direction()), delta); });
  if (delta.hi > 0) return search_epsilon(profile, delta);
  const Interval largest = profile.largest_loss();  // [largest-loss]
  // Also a sum beyond all doubles is known; a search would find no more.
  const bool known = largest.lo > 0 && (largest.hi < infinity || largest.lo >= std::numeric_limits<double>::max());
  const Interval found = known ? largest : search_epsilon(profile, delta);
  if (known || largest.hi < found.hi) profile.cite_largest_loss();
  return min(found, Interval::exactly(largest.hi));
}

namespace {

/// What a search for the supremum is for: beta, to the accuracy of beta, or the power 1 - beta of the test, to the accuracy of the power.
/// The latter is searched for as beta - 1.
enum class Wanted { beta, power };

double least_of(Wanted wanted) { return wanted == Wanted::power ? -1 : 0; }

/// The function of epsilon whose supremum is beta: 1 - delta(e) - e^e alpha, written so that it does not cancel for e < 0; or 1 less,
/// written so that it does not cancel for e > 0.
class Objective {
 public:
  Objective(const Profile& profile, Interval alpha, Wanted wanted = Wanted::beta) : Objective(profile, alpha, 1.0 - alpha, wanted) {}
  Objective(const Profile& profile, Interval alpha, Interval complement, Wanted wanted = Wanted::beta)
      : profile_(profile), alpha_(alpha), complement_(complement), power_(wanted == Wanted::power) {}
  /// Its absolute error may be `error`.
  [[nodiscard]] Interval at(double epsilon, double error) const {
    Work::count(0.5);  // work of a formula; slower code counts its own work
    const Negligible rest(epsilon >= 0 ? error : error * std::exp(-epsilon));
    const Interval point = Interval::exactly(epsilon);
    if (epsilon >= 0) {
      const Interval line = profile_.delta(point) + exp(point) * alpha_;
      return power_ ? -line : 1.0 - line;
    }
    const Interval line = exp(point) * (complement_ - profile_.swapped_delta(-point));
    return power_ ? line - 1.0 : line;
  }
  /// The same as a plain approximation.
  [[nodiscard]] double rough(double epsilon) const {
    const Negligible rest(1e-12);
    if (epsilon >= 0) return (power_ ? 0 : 1) - profile_.rough_delta(epsilon) - std::exp(epsilon) * alpha_.lo;
    return std::exp(epsilon) * (complement_.hi - profile_.rough_swapped_delta(-epsilon)) - (power_ ? 1 : 0);
  }

  [[nodiscard]] double rough_delta_at_zero() const { return profile_.rough_delta(0); }
  [[nodiscard]] bool of_power() const { return power_; }

 private:
  const Profile& profile_;
  Interval alpha_;
  Interval complement_;
  bool power_;
};

/// The approximate maximum of that function, and the distance over which it changes.
struct Peak {
  double place = 0;
  double value = 0;
  double scale = 0;
};

/// The function is concave in e^e, so it has one maximum: steps from 0 uphill, each twice as long, pass it, and golden sections of
/// approximate values follow. Losses far beyond it, which are slow to evaluate, are not asked for. The result affects cost only.
Peak find_maximum(const Objective& objective, double largest) {
  const double upper = std::min(largest, 700.0);  // e^e overflows soon after
  const auto in_range = [&](double e) { return e >= -700 && e <= upper; };
  const double at_zero = objective.rough(0);
  double step = std::clamp(4 * objective.rough_delta_at_zero(), 1e-9, 0.5);  // of the size of the losses
  if (!(in_range(step) && objective.rough(step) > at_zero)) step = -step;
  double before = 0, best = 0, best_value = at_zero, next = step;
  while (in_range(next)) {
    const double value = objective.rough(next);
    if (!(value > best_value)) break;
    before = best;
    best = next;
    best_value = value;
    next += step *= 2;
  }
  if (best == 0) before = std::clamp(-step, -700.0, upper);
  next = std::clamp(next, -700.0, upper);
  const double low = std::min(before, next), high = std::max(before, next), scale = high - low;
  const double place = numeric::golden_section([&](double e) { return -objective.rough(e); }, low, high, 1e-3 * scale).best;
  return {place, objective.rough(place), scale};
}

/// [profile-duality] Encloses the supremum of a concave function of x = e^e from values at some points: it lies below the crossing of the
/// chords that are extended from both sides. The next value is computed where the crossing is highest.
class Supremum {
 public:
  Supremum(const Objective& objective, Interval largest_x) : objective_(objective), largest_x_(largest_x) {}

  [[nodiscard]] Interval run(Peak peak) {
    error_ = (objective_.of_power() ? 1e-12 : 1e-14) * std::abs(peak.value);  // a power may be small
    double spread = std::min(0.01 * (1 + std::abs(peak.place)), 0.05 * peak.scale);
    for (const double e : {peak.place - spread, peak.place, peak.place + spread}) take(e);
    double width = infinity;
    for (int idle = 0, asked = 3; idle < most_idle && asked < most_asked; ++asked) {
      const Bound highest = bound();
      const Interval best = largest();
      above_ = std::min(above_, highest.value);
      const double left = above_ - best.lo;
      if (!(left > 3 * best.width() + 1e-13 * std::abs(best.hi))) break;
      idle = left < 0.9 * width ? 0 : idle + 1;
      width = std::min(width, left);
      double next = highest.place;
      if (std::isinf(next)) {
        next = next < 0 ? points_.front().e - spread : points_.back().e + spread;
        spread *= 4;
      }
      if (!take(next)) break;
    }
    return {largest().lo, std::min(above_, bound().value)};
  }

 private:
  static constexpr int most_asked = 60;
  static constexpr int most_idle = 6;
  struct Point {
    double e;
    Interval x;
    Interval value;
  };
  struct Bound {
    double value;
    double place;  // the position; infinite if it is beyond all points
  };

  /// False if the value at the point is already known.
  bool take(double e) {
    const auto after = std::lower_bound(points_.begin(), points_.end(), e, [](const Point& point, double at) { return point.e < at; });
    if (after != points_.end() && after->e == e) return false;
    points_.insert(after, {e, exp(Interval::exactly(e)), objective_.at(e, error_)});
    return true;
  }
  [[nodiscard]] Interval largest() const {
    Interval best = points_.front().value;
    for (const Point& point : points_) best = max(best, point.value);
    return best;
  }
  /// The least slope at which a chord from some point on the other side reaches point i.
  [[nodiscard]] double rise_to(std::size_t i, bool from_left) const {
    double least = infinity;
    for (std::size_t j = from_left ? 0 : i + 1; j < (from_left ? i : points_.size()); ++j) {
      const Interval run = from_left ? points_[i].x - points_[j].x : points_[j].x - points_[i].x;
      if (run.lo > 0) least = std::min(least, ((points_[i].value - points_[j].value) / run).hi);
    }
    return least;
  }
  [[nodiscard]] static double up(double from, double slope, Interval run) {
    return slope > 0 ? (Interval::exactly(from) + Interval::exactly(slope) * max(run, Interval::exactly(0))).hi : from;
  }

  [[nodiscard]] Bound bound() const {
    const std::size_t last = points_.size() - 1;
    Bound highest{up(points_[0].value.hi, rise_to(0, false), points_[0].x), -infinity};
    const auto raise = [&](Bound other) {
      if (!(other.value <= highest.value)) highest = other;
    };
    raise({up(points_[last].value.hi, rise_to(last, true), largest_x_ - points_[last].x), infinity});
    for (std::size_t i = 0; i < last; ++i) raise(between(i));
    return highest;
  }
  /// Each line gives a bound at its far end, and both lines together give one at their crossing: left of it the line from the left is
  /// lower, right of it the line from the right is.
  [[nodiscard]] Bound between(std::size_t i) const {
    const Point& from = points_[i];
    const Point& to = points_[i + 1];
    const double left = rise_to(i, true), right = rise_to(i + 1, false), width = (to.x - from.x).hi;
    const auto from_left = [&](const Interval& run) { return left < infinity ? up(from.value.hi, left, run) : infinity; };
    const auto from_right = [&](const Interval& run) { return right < infinity ? up(to.value.hi, right, run) : infinity; };
    double share = 0.5;
    if (left > 0 && right > 0 && left + right < infinity)
      share = std::clamp((to.value.hi - from.value.hi + right * width) / (left + right) / width, 0.0, 1.0);
    const Interval whole = Interval::exactly(width), run = Interval::exactly(share) * whole;
    const double value = std::min({from_left(whole), from_right(whole), std::max(from_left(run), from_right(whole - run))});
    // The next chord from a point nearer to an end than this would improve little.
    return {value, from.e + (to.e - from.e) * std::clamp(share, 0.05, 0.95)};
  }

  const Objective& objective_;
  Interval largest_x_;
  std::vector<Point> points_;  // sorted by e
  double above_ = infinity;
  double error_ = 0;  // of a value that is accurate enough
};

/// A point of a threshold test: the supremum at alpha is at most `value`, which is beta, or beta - 1 if the power is wanted.
struct Achieved {
  double alpha;
  double value;
};

std::optional<Achieved> achieved_at(const Profile& profile, double epsilon, Wanted wanted) {
  const auto test = profile.test_at(epsilon);
  if (!test || !(test->false_positive.hi <= 1)) return std::nullopt;
  const Interval value = wanted == Wanted::power ? -test->true_positive : 1.0 - test->true_positive;
  return Achieved{test->false_positive.hi, value.hi};
}

// If the level of a threshold is within this relative distance of alpha, the loss is the square of the distance. Tests this far on both
// sides, relative to 1 + |threshold|, have levels on both sides of alpha, and their chord exceeds the curve by the square of that.
constexpr double close_enough = 1e-9;
constexpr double to_both_sides = 3e-8;

/// The approximate threshold whose test has level alpha; empty if there are no such tests or their levels jump over alpha.
std::optional<double> find_threshold(const Profile& profile, double alpha) {
  const Unrecorded steering;
  const auto excess = [&](double e) {
    const auto test = profile.test_at(e);
    return test ? std::log((test->false_positive.lo + test->false_positive.hi) / 2) - std::log(alpha) : std::nan("");
  };
  double low = 0;
  double low_excess = excess(0);
  if (std::isnan(low_excess)) return std::nullopt;
  // delta(0) is of the size of the losses: a first step beyond them would ask for tests of unlikely events.
  const double size = std::clamp(4 * middle_of(profile.delta(Interval::exactly(0))), 1e-9, 0.5);
  double step = low_excess > 0 ? size : -size;
  double high = low;
  double high_excess = low_excess;
  // Move outward with doubling steps until the level is passed; then use secants.
  for (int i = 0; i < 42 && std::abs(high) < 1500 && high_excess * low_excess > 0; ++i, step *= 2) {
    low = high;
    low_excess = high_excess;
    high += step;
    high_excess = excess(high);
  }
  if (!(high_excess * low_excess <= 0)) return std::nullopt;
  bool moved_low = false, moved_high = false;
  for (int i = 0; i < 40 && std::abs(high - low) > 1e-12 * (1 + std::abs(high)); ++i) {
    const double secant = low - low_excess * (high - low) / (high_excess - low_excess);
    const double middle = i % 8 == 7 || !(secant > std::min(low, high) && secant < std::max(low, high)) ? (low + high) / 2 : secant;
    const double middle_excess = excess(middle);
    if (std::isnan(middle_excess)) return std::nullopt;
    if (std::abs(middle_excess) < close_enough) return middle;
    // The method of Anderson and Bjorck.
    const bool moves_low = middle_excess * low_excess > 0;
    const double share = 1 - middle_excess / (moves_low ? low_excess : high_excess), cut = share > 0 ? share : 0.5;
    if (moves_low && moved_low) high_excess *= cut;
    if (!moves_low && moved_high) low_excess *= cut;
    (moves_low ? low : high) = middle;
    (moves_low ? low_excess : high_excess) = middle_excess;
    moved_low = moves_low;
    moved_high = !moves_low;
  }
  return (low + high) / 2;
}

/// The chord between two points of tests on both sides of alpha; a convex curve does not exceed it.
double chord(Achieved left, Achieved right, double alpha) {
  if (!(left.alpha <= alpha && alpha <= right.alpha)) return infinity;
  if (left.alpha == right.alpha) return std::min(left.value, right.value);
  const Interval share = (Interval::exactly(alpha) - left.alpha) / (Interval::exactly(right.alpha) - left.alpha);
  return (Interval::exactly(left.value) + clamp(share, 0, 1) * (Interval::exactly(right.value) - left.value)).hi;
}

/// The supremum from threshold tests: a lower bound from the threshold of level alpha, an upper bound from tests on both sides of it.
std::optional<Interval> found_by_tests(const Profile& profile, Interval alpha, Wanted wanted) {
  const auto middle = find_threshold(profile, alpha.lo);
  if (!middle) return std::nullopt;
  const double below =
      std::max(least_of(wanted), Objective(profile, alpha, wanted).at(*middle, wanted == Wanted::power ? 1e-12 * alpha.lo : 1e-16).lo);
  double above = infinity;
  for (double spread = to_both_sides * (1 + std::abs(*middle)); spread < 1 && above == infinity; spread *= 32) {
    const auto left = achieved_at(profile, *middle + spread, wanted);
    const auto right = achieved_at(profile, *middle - spread, wanted);
    if (left && right) above = std::min(above, chord(*left, *right, alpha.lo));
  }
  if (!(above < infinity)) return std::nullopt;
  return Interval{below, std::max(above, below)};
}

/// The supremum for every alpha of an interval as short as the rounding of a decimal, 0 < alpha < 1.
Interval supremum_near(const Profile& profile, Interval alpha, Wanted wanted) {
  const double least = least_of(wanted);
  // If the null distribution has this much mass where the alternative has none, a test at this level has no type II error.
  {
    const Recording own(Recording::When::if_wanted);
    if (profile.swapped_delta(Interval::exactly(infinity)).lo >= (1.0 - alpha).hi) {
      own.pass_on();
      return Interval::exactly(least);
    }
  }
  // Tests are quick, but their complement has only absolute accuracy; for tiny beta the profile is more accurate.
  Citations tests;
  const auto by_tests = [&] {
    const Recording own(Recording::When::if_wanted);
    const auto found = found_by_tests(profile, alpha, wanted);
    tests = own.citations();
    return found;
  }();
  if (by_tests && by_tests->width() <= 1e-9 * std::abs(by_tests->hi)) {
    record(tests);
    return *by_tests;
  }
  const Objective objective(profile, alpha, wanted);
  const Interval found = Supremum(objective, 1.0 / alpha).run(find_maximum(objective, -std::log(alpha.lo)));
  const double below = std::max(least, found.lo);
  const double most = wanted == Wanted::power ? -alpha.lo : (1.0 - alpha).hi;
  const Interval by_profile{below, std::max(below, std::min(most, found.hi))};
  const Interval both = by_tests ? intersect(by_profile, *by_tests) : by_profile;
  if (both != by_profile) record(tests);
  return both;
}

const Citation& duality() {
  static const Citation citation("profile-duality", "beta is the supremum over epsilon of 1 - delta - exp(epsilon) alpha");
  return citation;
}

Interval beta_at_point(const Profile& profile, double alpha) {
  if (alpha >= 1) return Interval::exactly(0);
  if (alpha == 0) profile.cite();
  return alpha == 0 ? clamp(1.0 - profile.infinite_mass(), 0, 1) : supremum_near(profile, Interval::exactly(alpha), Wanted::beta);
}

Interval power_at_point(const Profile& profile, double alpha) {
  if (alpha >= 1) return Interval::exactly(1);
  if (alpha == 0) profile.cite();
  return alpha == 0 ? clamp(profile.infinite_mass(), 0, 1) : -supremum_near(profile, Interval::exactly(alpha), Wanted::power);
}

/// Whether one search holds for all levels of the interval.
bool is_near(Interval alpha) {
  constexpr double few_roundings = 0x1p-50;
  return alpha.lo > 0 && alpha.hi < 1 && alpha.width() <= few_roundings * alpha.lo;
}

}  // namespace

// [profile-duality] beta(alpha) = sup over real e of 1 - delta(e) - e^e alpha; every e gives a bound from below.
Interval dual_beta(const Profile& profile, Interval alpha) {
  if (const Bracket* const bracket = profile.bracket())  // [bracketed-pair]
    return bracket->fallen([&](const Loss& loss) { return dual_beta(Profile(loss, profile.direction()), alpha); });
  if (const auto closed = profile.closed_beta(alpha)) return *closed;
  record(duality());
  if (is_near(alpha)) return supremum_near(profile, alpha, Wanted::beta);
  return {beta_at_point(profile, alpha.hi).lo, beta_at_point(profile, alpha.lo).hi};
}

// [profile-duality] 1 - beta = inf over e of delta(e) + e^e alpha; every e gives a bound from above.
Interval dual_power(const Profile& profile, Interval alpha) {
  if (const Bracket* const bracket = profile.bracket())  // [bracketed-pair]
    return bracket->grown([&](const Loss& loss) { return dual_power(Profile(loss, profile.direction()), alpha); });
  constexpr double all_digits = 1e-12;
  const auto closed = profile.closed_beta(alpha);
  const Interval known = closed ? 1.0 - *closed : Interval{0, 1};
  if (known.width() <= all_digits * known.lo) return known;
  static const Citation of_power("profile-duality", "1 - beta is the infimum over epsilon of delta + exp(epsilon) alpha");
  record(of_power);
  if (is_near(alpha)) return intersect(known, -supremum_near(profile, alpha, Wanted::power));
  return intersect(known, {power_at_point(profile, alpha.lo).lo, power_at_point(profile, alpha.hi).hi});
}

// [odds-factor] The same supremum with 1 - alpha given; if 1 - alpha is small, computing it from alpha would lose its digits.
Interval dual_beta_below_one(const Profile& profile, Interval complement) {
  if (const Bracket* const bracket = profile.bracket())  // [bracketed-pair]
    return bracket->fallen([&](const Loss& loss) { return dual_beta_below_one(Profile(loss, profile.direction()), complement); });
  if (profile.swapped_delta(Interval::exactly(infinity)).lo >= complement.hi) return Interval::exactly(0);
  record(duality());
  const Interval alpha = 1.0 - complement;
  const Objective objective(profile, alpha, complement);
  const Interval found = Supremum(objective, 1.0 / alpha).run(find_maximum(objective, -std::log(alpha.lo)));
  const double below = std::max(0.0, found.lo);
  return {below, std::max(below, std::min(complement.hi, found.hi))};
}

}  // namespace tradeoff::detail
