// SPDX-License-Identifier: Apache-2.0
#include "engine/moments/renyi_sum.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "engine/moments/best_order.h"
#include "engine/moments/log_moment.h"
#include "loss/recording.h"
#include "mechanism/renyi_bound.h"
#include "numeric/arithmetic.h"
#include "numeric/minimize.h"

namespace tradeoff::detail {
namespace {

/// The divergences found for a question, by s = order - 1.
struct KeptCumulants {
  struct Digits {
    std::unordered_map<double, Interval> remove;
    std::unordered_map<double, Interval> add;
  };
  Digits usual, few;
  int last_step = 0;  // of the ladder of orders for lines
};

/// [renyi-curve] Encloses the logarithm of the moment of one run. A profile below that of a Gaussian, or a largest loss, bounds it as well.
Interval cumulant_of(const Loss& loss, Direction direction, double s, double steps, MomentDigits digits) {
  Interval found{0, infinity};
  if (loss.cost() != Cost::engine) found = log_moment(loss, direction, s, steps, digits);  // an engine would take seconds at every order
  const Tail tail = loss.tail();
  const double mu = std::min({tail.gdp_mu, tail.moment_mu, tail.zero_from});
  if (!(mu < infinity)) return found;
  const double by_mu = (square(Interval::exactly(mu)) * Interval::exactly(s) * (Interval::exactly(s) + 1.0) / 2.0).hi;
  return {std::min(found.lo, by_mu), std::min(found.hi, by_mu)};
}

}  // namespace

RenyiSum::RenyiSum(Parts parts) : parts_(std::move(parts)) {
  for (const Part& part : parts_) {
    steps_ += static_cast<double>(part.times);
    symmetric_ = symmetric_ && part.loss->symmetric();
    const RenyiBound* const stated = part.loss->capabilities(Direction::remove).renyi_bound;
    const std::vector<double> corners = stated != nullptr ? stated->corners() : std::vector<double>{};
    if (!corners.empty()) end_ = std::min(end_, corners.back());
    corners_.insert(corners_.end(), corners.begin(), corners.end());
  }
  std::erase_if(corners_, [this](double s) { return s > end_; });
  constexpr std::size_t most_corners = 64;  // of which each costs an evaluation
  if (corners_.size() > most_corners) corners_ = {end_};
}

Interval RenyiSum::cumulant(Direction direction, double s, MomentDigits digits) const {
  const QuestionScope question;
  auto& all = QuestionScope::state_of<KeptCumulants>(number_);
  auto& kept = digits == MomentDigits::few ? all.few : all.usual;
  const bool add = direction == Direction::add && !symmetric_;
  auto& known = add ? kept.add : kept.remove;
  const auto place = known.find(s);
  if (place != known.end()) return place->second;
  const Unrecorded divergences_cite_their_laws;
  Interval sum = Interval::exactly(0);
  for (const Part& part : parts_) {
    const Interval one = cumulant_of(*part.loss, add ? Direction::add : Direction::remove, s, steps_, digits);
    sum = sum + Interval::exactly(static_cast<double>(part.times)) * one;
    if (sum.hi == infinity) break;
  }
  return known.emplace(s, sum).first->second;
}

/// K(s) - s epsilon + s log s - (1 + s) log(1 + s).
Interval RenyiSum::exponent(Direction direction, double s, double epsilon, MomentDigits digits) const {
  const Interval point = Interval::exactly(s), sum = cumulant(direction, s, digits);
  if (sum.hi == infinity) return {-infinity, infinity};
  return sum - point * epsilon - point * log1p(1.0 / point) - log1p(point);
}

/// Every order is valid; corners of stated bounds are tried too, because a search ends beside them.
template <class Convert>
RenyiSum::Best RenyiSum::best_of(Convert&& convert) const {
  const BestOrder searched = best_order_of([&](double order) { return convert(order - 1); });
  Best best{searched.value, searched.order - 1};
  for (const double s : corners_)
    if (const Interval value = convert(s); value.hi <= best.value.hi) best = {value, s};
  return best;
}

/// A lower bound of the exponent at every order, from divergences near s. [renyi-conversion]
double RenyiSum::least_exponent(Direction direction, double s, double epsilon) const {
  if (s >= end_) return below_at_the_end(direction, epsilon);
  return std::max(below_by_chords(direction, s, epsilon), below_by_lines(direction, s, epsilon));
}

/// Near the largest order known, with two points before it of which the first has the larger exponent: beyond both the exponent lies above
/// their extended chord, between them above that of the second point and the end, and before them above the first value.
double RenyiSum::below_at_the_end(Direction direction, double epsilon) const {
  double best = -infinity;
  for (const double share : {1e-6, 1e-4, 1e-2}) {
    const double near = end_ * (1 - share), far = end_ * (1 - 2 * share);
    const Interval first = exponent(direction, far, epsilon), second = exponent(direction, near, epsilon),
                   last = exponent(direction, end_, epsilon);
    if (!(first.lo >= second.hi && first.hi < infinity && last.hi < infinity)) continue;
    const Interval low = Interval::exactly(second.lo), between = near - Interval::exactly(far), beyond = Interval::exactly(end_) - near;
    const Interval falls = (first.hi - low) / between, rises = max((last.hi - low) / beyond, Interval::exactly(0));
    best = std::max(best, std::min((low - falls * beyond).lo, (low - rises * between).lo));
  }
  return best;
}

/// The exponent is convex in s. Between a, s, c with the least value in the middle, it is above the extended chords of the other side. The
/// nearest a and c lose least, but there the values must be known well; the exponent bends at least as much as its entropy.
double RenyiSum::below_by_chords(Direction direction, double s, double epsilon) const {
  const Interval middle = exponent(direction, s, epsilon);
  for (const double share : {1e-6, 1e-5, 1e-4, 1e-2}) {
    if (share < 1e-4 && !(middle.width() < bend_near(direction, s, epsilon) * share * share / 8)) continue;
    const double left = s * (1 - share), right = std::min(s * (1 + share), end_);
    const Interval before = exponent(direction, left, epsilon), after = exponent(direction, right, epsilon);
    if (!(before.lo >= middle.hi && after.lo >= middle.hi && after.hi < infinity && before.hi < infinity)) continue;
    const Interval low = Interval::exactly(middle.lo), to_left = s - Interval::exactly(left), to_right = Interval::exactly(right) - s;
    return std::min((low - (after.hi - low) * to_left / to_right).lo, (low - (before.hi - low) * to_right / to_left).lo);
  }
  return -infinity;
}

/// About s^2 times the second derivative of the exponent. For searches only.
double RenyiSum::bend_near(Direction direction, double s, double epsilon) const {
  constexpr double share = 1e-3;
  const double before = middle_of(exponent(direction, s * (1 - share), epsilon)), here = middle_of(exponent(direction, s, epsilon)),
               after = middle_of(exponent(direction, s * (1 + share), epsilon));
  return (after - 2 * here + before) / (share * share);
}

/// A better order near s: the least point of a parabola, twice, if divergences have the digits. For searches only.
double RenyiSum::nearer_order(Direction direction, double s, double epsilon) const {
  if (!corners_.empty()) return s;  // the exponent is not smooth
  for (const double share : {1e-3, 3e-5}) {
    const Interval before = exponent(direction, s * (1 - share), epsilon), here = exponent(direction, s, epsilon),
                   after = exponent(direction, s * (1 + share), epsilon);
    const double bend = middle_of(after) - 2 * middle_of(here) + middle_of(before);
    if (!(bend > 100 * (before.width() + here.width() + after.width()))) return s;
    const double move = 0.5 * (middle_of(before) - middle_of(after)) / bend;
    if (!(std::abs(move) < 1)) return s;
    s *= 1 + share * move;
  }
  return s;
}

/// K is convex: right of s it is above the extended chord from the left, left of s above that from the right. Over all orders s B plus the
/// rest of the exponent is at least log(1 - e^(epsilon - B)).
double RenyiSum::below_by_lines(Direction direction, double s, double epsilon) const {
  const Interval here = cumulant(direction, s), point = Interval::exactly(s);
  if (!(here.hi < infinity)) return -infinity;
  double best = -infinity;
  for (const double share : {1e-4, 1e-2, 0.5}) {
    const Interval left = Interval::exactly(s * (1 - share)), right = Interval::exactly(s * (1 + share));
    const Interval below = cumulant(direction, left.lo), above = cumulant(direction, right.lo);
    if (!(above.hi < infinity)) continue;
    const Interval low = Interval::exactly(here.lo);
    const double from_left = ((low - below.hi) / (point - left)).lo, from_right = ((above.hi - low) / (right - point)).hi;
    const auto least = [&](double slope) {
      const Interval fall = Interval::exactly(slope) - epsilon;
      if (!(fall.lo > 0)) return -infinity;
      return (low - slope * point + (fall.lo > 1 ? log1p(-exp(-fall)) : log(-expm1(-fall)))).lo;
    };
    best = std::max(best, std::min(least(from_left), least(from_right)));
  }
  return best;
}

/// Near the best order, less 1, if that is small: Newton steps in log s, where K'(s) - log(1 + 1/s) reaches epsilon. 0 if it is not small.
double RenyiSum::small_order(Direction direction, double epsilon) const {
  constexpr double first = 0x1p-20, largest = 0.5, least = 1e-250;  // the last is where sums of doubles still have all digits
  double s = first;
  for (int i = 0; i < 16; ++i) {
    const Interval before = cumulant(direction, 0.5 * s), here = cumulant(direction, s), after = cumulant(direction, 1.5 * s);
    if (!(after.hi < infinity)) return 0;
    const double slope = (middle_of(after) - middle_of(before)) / s;
    const double bend = std::max(0.0, 4 * (middle_of(after) - 2 * middle_of(here) + middle_of(before)) / s);  // s K''(s)
    const double step = (std::log1p(1 / s) + epsilon - slope) / (bend + 1 / (1 + s));
    const double next = std::clamp(s * std::exp(std::clamp(step, -600.0, 10.0)), least, 2 * largest);
    if (!(std::abs(next - s) > 1e-7 * s)) break;
    s = next;
  }
  return s < largest ? s : 0;
}

/// The best conversion near an order is what it gives there; where the divergences of small orders are known to few digits, larger orders
/// may prove more from below.
Interval RenyiSum::near_order(Direction direction, double s, double epsilon) const {
  constexpr double not_small = 1e-3;
  const Interval here = exponent(direction, s, epsilon);
  const double above = std::min(0.0, here.hi);
  double below = least_exponent(direction, s, epsilon);
  for (double order = 100 * s; s < not_small && order < not_small && !(below > above - 1e-12 * -above); order *= 100)
    below = std::max(below, below_by_lines(direction, order, epsilon));
  return {std::min(below, above), above};
}

/// Whether a part has infinite losses: then every divergence is infinite, and no order gives anything.
bool RenyiSum::reveals(Direction direction) const {
  return std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
    const bool stated = part.loss->capabilities(direction).renyi_bound != nullptr;
    return part.times > 0 && !stated && part.loss->infinite_mass(direction).lo > 0;
  });
}

void RenyiSum::cite() const {
  static const Citation sum("renyi-curve", "divergences of the parts add");
  static const Citation conversion("renyi-conversion", "the best conversion over all orders");
  record(citations_of_laws(parts_));
  record(sum);
  record(conversion);
}

Interval RenyiSum::log_delta(Direction direction, double epsilon) const {
  const QuestionScope question;
  if (!std::isfinite(epsilon)) return {-infinity, 0};
  if (reveals(direction)) return Interval::exactly(0);
  const Best best = best_of([&](double s) { return exponent(direction, s, epsilon); });
  constexpr double small = 1.0 / 32;  // where the search for the best order may have ended before it
  Interval found{-infinity, 0};
  if (best.value.hi < 0) {
    const double s = nearer_order(direction, best.s, epsilon), above = std::min(best.value.hi, exponent(direction, s, epsilon).hi);
    found = {std::min(least_exponent(direction, s, epsilon), above), above};
  }
  if (!(found.lo > -infinity) || best.s < small)
    if (const double s = small_order(direction, epsilon); s > 0) found = intersect(found, near_order(direction, s, epsilon));
  if (found.hi < 0 || found.lo > -infinity) cite();
  return found;
}

std::optional<double> RenyiSum::log_delta_if_at_most(double most, Direction direction, double epsilon, AtMost wanted) const {
  const QuestionScope question;
  if (!std::isfinite(epsilon) || reveals(direction)) return std::nullopt;
  constexpr double largest = 1 << 18;
  double least = infinity, best = 1;
  const auto attempt = [&](double s) {
    const double above = exponent(direction, s, epsilon, MomentDigits::few).hi;
    if (above < least) best = s;
    least = std::min(least, above);
    return above;
  };
  const auto is_enough = [&] { return wanted == AtMost::first && least <= most; };
  for (double s = 1; s <= largest && !is_enough(); s *= 2)
    if (const double before = least; attempt(s) > before && before < infinity) break;  // convex: larger orders give less
  if (!(2 * least <= most)) return std::nullopt;  // convex, and about 0 at 0: no order between two of them gives twice as much
  constexpr double near = 0.02;                   // of the logarithm of the order: the bound is least there
  if (!is_enough()) {
    const double middle = std::log(best), half = std::log(2.0);
    (void)numeric::golden_section([&](double log_order) { return attempt(std::exp(log_order)); }, middle - half, middle + half, near);
    least = std::min(least, exponent(direction, best, epsilon).hi);  // with all digits
  }
  if (!(least <= most)) return std::nullopt;
  cite();
  return least;
}

// [divergence-line] The conversion at any order is a straight line in epsilon. Orders are taken from a ladder, so that lines of many
// intervals share their divergences.
std::optional<LogLine> RenyiSum::line(Direction direction, double start, double end) const {
  constexpr int first_stride = 8, last_step = 240;  // orders from 2^-60 to 2^60
  const QuestionScope question;
  if (!(start >= 0 && end < infinity) || reveals(direction)) return std::nullopt;
  const auto order_of = [](int step) { return std::exp2(0.25 * step); };
  const double middle = start + (end - start) / 2;
  const auto above = [&](int step, double epsilon) { return exponent(direction, order_of(step), epsilon, MomentDigits::few).hi; };
  const auto at = [&](int step) { return above(step, middle); };
  int best = QuestionScope::state_of<KeptCumulants>(number_).last_step;
  double least = at(best);
  for (int stride = first_stride; stride > 0; stride /= 2)
    for (const int way : {stride, -stride})
      for (int next = best + way; std::abs(next) <= last_step && at(next) < least; next += way) {
        best = next;
        least = at(next);
      }
  QuestionScope::state_of<KeptCumulants>(number_).last_step = best;
  if (!(least < infinity)) return std::nullopt;
  cite();
  return LogLine{above(best, start), above(best, end)};
}

/// The epsilon of the conversion of one order s + 1.
Interval RenyiSum::epsilon_at(Direction direction, double s, Interval log_delta) const {
  const Interval point = Interval::exactly(s), order = point + 1.0, sum = cumulant(direction, s);
  if (sum.hi == infinity) return {0, infinity};
  return max(sum / point + log1p(-1.0 / order) - (log_delta + log(order)) / point, Interval::exactly(0));
}

Interval RenyiSum::epsilon(Direction direction, Interval log_delta) const {
  const QuestionScope question;
  if (reveals(direction)) return Interval::exactly(infinity);
  const Best best = best_of([&](double s) { return epsilon_at(direction, s, log_delta); });
  if (!(best.value.hi < infinity)) return {0, infinity};
  cite();
  const double order = nearer_order(direction, best.s, best.value.hi);
  const double high = std::min(best.value.hi, epsilon_at(direction, order, log_delta).hi);
  // Below the best order's epsilon the bound must be proved to be above the target.
  double low = 0;
  for (double step = 1e-12; step < 1 && low == 0; step *= 4) {
    const double guess = high * (1 - step);
    if (least_exponent(direction, order, guess) > log_delta.hi) low = guess;
  }
  return {low, high};
}

}  // namespace tradeoff::detail
