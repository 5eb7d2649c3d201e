// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "numeric/arithmetic.h"
#include "numeric/conversions.h"

// The searches for a root, or for the place where a monotone condition changes:
//   increasing_root       certified; from a guess, by enclosures of an increasing function. Its domain may be the whole line, and it goes
//                         on to neighbouring doubles, because a value there is cheap. [monotone-root]
//   narrow_bracket        certified; from a bracket, by verdicts, which may be expensive and come from any comparison. It stops at a few
//                         units in the last place.
//   bisect, bisect_ratio  from a bracket, by a plain condition: for what steers a search, or where the condition is a proof.
namespace tradeoff::detail::numeric {

/// Doubles in order, as integers: neighbours differ by one, so bisection ends after 64 steps for any magnitudes.
[[nodiscard]] inline std::int64_t ordinal(double x) {
  const auto bits = bit_cast<std::int64_t>(x);
  return bits >= 0 ? bits : std::numeric_limits<std::int64_t>::min() - bits;
}
[[nodiscard]] inline double double_of(std::int64_t ordinal_number) {
  return bit_cast<double>(ordinal_number >= 0 ? ordinal_number : std::numeric_limits<std::int64_t>::min() - ordinal_number);
}
/// A double between a and b in the order of doubles: the arithmetic mean if they are of similar size, otherwise the middle of the
/// exponents.
[[nodiscard]] inline double middle(double a, double b) {
  if (a > 0 && b < 4 * a) return a + (b - a) / 2;
  if (b < 0 && a > 4 * b) return a + (b - a) / 2;
  const std::int64_t low = ordinal(a);
  const std::int64_t high = ordinal(b);
  return double_of((low & high) + ((low ^ high) >> 1));  // floor of the mean, without overflow
}

/// The range in which an increasing function may take a value in the target: certainly below it at `below`, certainly above it at `above`
/// (unless they are ends of the domain), undecided from `first` to `last` if `undecided`.
template <class Enclose>
class RootSearch {
 public:
  RootSearch(Enclose& enclose, Interval target, Interval domain)
      : enclose_(enclose), target_(target), below_(domain.lo), above_(domain.hi) {}

  /// Evaluates x and returns its side: -1 below, +1 above, 0 undecided.
  int place(double x) {
    const Interval value = enclose_(x);
    const double middle_value = value.lo + (value.hi - value.lo) / 2;
    if (value.hi < target_.lo) {
      below_ = x;
      value_below_ = middle_value;
      return -1;
    }
    if (value.lo > target_.hi) {
      above_ = x;
      value_above_ = middle_value;
      return 1;
    }
    first_ = undecided_ ? std::min(first_, x) : x;
    last_ = undecided_ ? std::max(last_, x) : x;
    undecided_ = true;
    return 0;
  }

  /// Moves from x towards `direction`, `growth` times as far each time, until the side changes or the domain ends.
  void walk(double x, int direction, double step, double growth) {
    const auto beyond = [&](double at) { return direction > 0 ? at >= above_ : at <= below_; };
    for (;; step *= growth) {
      const double next = x + direction * step;
      x = next != x ? next : direction > 0 ? next_up(x) : next_down(x);
      if (beyond(x) || place(x) == direction) return;
      if (!walks_through_ && undecided_) return;
    }
  }

  /// Bisects, with a secant step in between, until an undecided point or two neighbours are found.
  void narrow() {
    for (int i = 0; i < 200 && !undecided_; ++i) {
      double x = middle(below_, above_);
      const double target_value = target_.lo + (target_.hi - target_.lo) / 2;
      const double secant = below_ + (above_ - below_) * ((target_value - value_below_) / (value_above_ - value_below_));
      if (i % 3 != 2 && below_ < secant && secant < above_) x = secant;
      if (x <= below_ || x >= above_) return;
      place(x);
    }
  }

  Interval solve(double guess) {
    const Interval domain{below_, above_};
    const double least = std::numeric_limits<double>::denorm_min();
    const int side = place(guess);
    if (side != 0) walk(guess, -side, std::max(std::abs(guess) * 0x1p-48, least), 16);
    if (!undecided_) narrow();
    if (undecided_) {
      walks_through_ = true;
      walk(first_, -1, std::max(std::abs(first_) * 0x1p-51, least), 2);
      walk(last_, 1, std::max(std::abs(last_) * 0x1p-51, least), 2);
    }
    // No value inside the domain: returns the nearer end.
    if (below_ == domain.lo && std::abs(domain.lo) < infinity && enclose_(domain.lo).lo > target_.hi) return Interval::exactly(domain.lo);
    if (above_ == domain.hi && std::abs(domain.hi) < infinity && enclose_(domain.hi).hi < target_.lo) return Interval::exactly(domain.hi);
    return {below_, above_};
  }

 private:
  Enclose& enclose_;
  Interval target_;
  double below_, above_;
  double value_below_ = -infinity, value_above_ = infinity;
  double first_ = 0, last_ = 0;
  bool undecided_ = false;
  bool walks_through_ = false;  // continues over undecided points to their end
};

/// Encloses every x in `domain` at which an increasing function takes a value in `target`; constant parts are enclosed completely.
/// `enclose(x)` encloses the function at x; it may be wide but not NaN. An end of the result that is not an end of the domain was verified:
/// there the function is certainly below (above) the target. A target beyond the whole domain gives the nearer end. With a good guess it
/// takes about ten evaluations, in the worst case some hundreds. For a decreasing function negate the enclosure and the target.
/// [monotone-root]
template <class Enclose>
[[nodiscard]] Interval increasing_root(Enclose&& enclose, Interval target, double guess, Interval domain) {
  constexpr double largest = std::numeric_limits<double>::max();
  if (!(guess >= domain.lo)) guess = domain.lo;  // also for NaN
  guess = std::clamp(std::min(guess, domain.hi), -largest, largest);
  return RootSearch<std::remove_reference_t<Enclose>>(enclose, target, domain).solve(guess);
}

/// What is known at a point about the position at which a monotone condition changes.
struct Verdict {
  bool before = false;  ///< the change certainly lies above the point
  bool after = false;   ///< the change certainly lies at or below the point
  double excess = 0;    ///< roughly proportional to the distance from the change, positive before it; it only guides the search
  double doubt = 0;     ///< the error of the excess, if known; it only guides the search
};

/// Moves `certain`, at which the side is known (`side` is 1 for before, -1 for after), towards the undecided point `inside`, by secants of
/// the excess less its error, to a distance of at most `close`. Returns the last point that was certain.
template <class Judge>
[[nodiscard]] double edge_of_doubt(Judge&& judge, double inside, const Verdict& there, double certain, const Verdict& here, double side,
                                   double close = 0) {
  const auto surplus = [side](const Verdict& verdict) { return side * verdict.excess - verdict.doubt; };
  double low = surplus(there), high = surplus(here);
  for (int i = 0; i < 16 && std::abs(certain - inside) > std::max(1e-9 * std::abs(certain), close); ++i) {
    const double share = low < 0 && high > 0 && i % 3 != 2 ? std::clamp(-low / (high - low) + 1e-3, 1e-3, 0.9) : 0.5;
    const double at = inside + share * (certain - inside);
    const Verdict verdict = judge(at);
    const bool known = side > 0 ? verdict.before : verdict.after;
    (known ? certain : inside) = at;
    (known ? high : low) = surplus(verdict);
  }
  return certain;
}

/// Encloses the change of a monotone condition between `low`, which is certainly before it, and `high`, which is certainly after it. Both
/// ends of the result are certain in the same sense. `judge(x)` is called at most about 150 times; its values at the ends are given. It
/// stops at this width, if not before.
template <class Judge>
[[nodiscard]] Interval narrow_bracket(Judge&& judge, double low, const Verdict& at_low, double high, const Verdict& at_high,
                                      double enough = 0) {
  // Points closer than a few units in the last place are treated as equal.
  double resolution = enough;  // or what the doubts allow, if not all digits are wanted
  const auto settled = [&resolution](double a, double b) { return !(b - a > std::max(8e-16 * std::abs(b), resolution)); };
  double low_excess = at_low.excess, high_excess = at_high.excess;
  bool low_tells = at_low.doubt < infinity, high_tells = at_high.doubt < infinity;  // otherwise a secant through it says nothing
  double slope = (high_excess - low_excess) / (high - low);
  double middle = high, width = high - low;
  Verdict verdict;
  int last_side = 0;
  for (int i = 0; i < 100 && !settled(low, high); ++i) {
    const double secant = low + (high - low) * (low_excess / (low_excess - high_excess));
    // After three steps that do not halve the bracket it bisects once; a long search only bisects.
    bool halve = i > 40 || !low_tells || !high_tells;
    if (i % 4 == 3) {
      halve = halve || high - low > 0.5 * width;
      width = high - low;
    }
    middle = !halve && secant > low && secant < high ? secant : low + (high - low) / 2;
    // A little beyond the expected change, seen from the nearer end, so that both ends come close to it.
    if (!halve)
      middle = middle - low < high - middle ? std::min(middle + resolution / 4, high - (high - low) / 4)
                                            : std::max(middle - resolution / 4, low + (high - low) / 4);
    verdict = judge(middle);
    if (!verdict.before && !verdict.after) break;
    // Anderson and Bjorck: if one end stays, its excess is reduced by the slope that the moving end shows, so that the secant method does
    // not stall.
    const double share = 1 - verdict.excess / (verdict.before ? low_excess : high_excess);
    const double cut = share > 0 ? share : 0.5;
    slope = (verdict.excess - (verdict.before ? low_excess : high_excess)) / (middle - (verdict.before ? low : high));
    if (enough > 0 && verdict.doubt < 0.01 * std::abs(verdict.excess)) resolution = std::max(enough, 5 * verdict.doubt / std::abs(slope));
    if (verdict.before) {
      low = middle;
      low_excess = verdict.excess;
      low_tells = verdict.doubt < infinity;
      if (last_side > 0) high_excess *= cut;
      last_side = 1;
    } else {
      high = middle;
      high_excess = verdict.excess;
      high_tells = verdict.doubt < infinity;
      if (last_side < 0) low_excess *= cut;
      last_side = -1;
    }
  }
  if (enough > 0 && settled(low, high)) return {low, high};
  // The change lies near an undecided point: approach it from both sides, starting at the distance that its error suggests and doubling the
  // distance until a point is decided.
  const double smallest = 4e-16 * std::abs(middle) + 1e-300;
  const auto first_step = [&](double doubt) {
    const double step = 1.2 * doubt / std::abs(slope);
    return step > smallest && step < 0.25 * (high - low) ? step : smallest;  // also for NaN
  };
  if (const double doubtful = verdict.doubt / std::abs(slope); doubtful > 0.02 * (high - low) && doubtful < 10 * (high - low)) {
    const double close = enough > 0 ? 0.1 * doubtful : 0;  // if not all digits are wanted
    return {edge_of_doubt(judge, middle, verdict, low, {.excess = low_excess}, 1, close),
            edge_of_doubt(judge, middle, verdict, high, {.excess = high_excess}, -1, close)};
  }
  const double up = first_step(verdict.doubt + verdict.excess), down = first_step(verdict.doubt - verdict.excess);
  for (double step = up; middle > low && middle + step < high; step *= 2)
    if (judge(middle + step).after) high = middle + step;
  for (double step = down; middle < high && middle - step > low; step *= 2)
    if (judge(middle - step).before) low = middle - step;
  return {low, high};
}
template <class Judge>
[[nodiscard]] Interval narrow_bracket(Judge&& judge, double low, double high) {
  return narrow_bracket(judge, low, judge(low), high, judge(high));
}

/// The two sides of the change of a monotone condition: it is false at `before` and true at `beyond`.
struct Sides {
  double before = 0;
  double beyond = 0;
};

/// Halves the distance between the sides `steps` times, or until it is at most `width`; `before` may be the larger one. What it returns is
/// as certain as what the condition says.
template <class Condition>
[[nodiscard]] Sides bisect(Condition&& condition, Sides sides, int steps, double width = 0) {
  for (int i = 0; i < steps && std::abs(sides.beyond - sides.before) > width; ++i) {
    const double between = (sides.before + sides.beyond) / 2;
    (condition(between) ? sides.beyond : sides.before) = between;
  }
  return sides;
}
/// The same for 0 <= before < beyond by geometric means, until the ratio of the sides is at most `ratio`; half of `beyond` while `before`
/// is 0.
template <class Condition>
[[nodiscard]] Sides bisect_ratio(Condition&& condition, Sides sides, int steps, double ratio = 1) {
  for (int i = 0; i < steps && sides.beyond > sides.before * ratio; ++i) {
    const double between = sides.before == 0 ? sides.beyond / 2 : std::sqrt(sides.before * sides.beyond);
    (condition(between) ? sides.beyond : sides.before) = between;
  }
  return sides;
}

}  // namespace tradeoff::detail::numeric
