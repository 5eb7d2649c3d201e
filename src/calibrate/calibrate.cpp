// SPDX-License-Identifier: Apache-2.0
#include "tradeoff/calibrate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "calibrate/scan.h"
#include "calibrate/trial.h"
#include "loss/recording.h"
#include "loss/rough.h"
#include "numeric/floating_point_guard.h"
#include "numeric/number_text.h"
#include "numeric/root.h"
#include "plan/unknown.h"
#include "plan/vocabulary.h"
#include "tradeoff/error.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

namespace {

/// The parameter that the `?` stands for. Throws UnsupportedError if it cannot be calibrated.
const Parameter& calibrated_parameter(const Plan& plan) {
  const UnknownPlace place = find_unknown(plan);
  const Word* word = vocabulary().find(place.role, place.call);
  const Parameter* parameter = word == nullptr ? nullptr : find_parameter(*word, place.parameter);
  if (parameter == nullptr || !parameter->effect.known)
    throw UnsupportedError("calibrate: " + place.call + "(" + place.parameter + "=?) cannot be calibrated");
  // [capped-poisson] A larger rate fills more batches, and a full batch may tell less.
  if (place.call == "poisson" && place.parameter == "rate" && to_string(plan).find("at_most=") != std::string::npos)
    throw UnsupportedError("calibrate: poisson(rate=?) with at_most cannot be calibrated, because privacy need not fall with the rate");
  return *parameter;
}

/// A decimal of six digits between ends that share seven, if there is one. An exact boundary often is such a decimal, and no bisection ends
/// there.
std::optional<Number> short_decimal(Interval ends) {
  constexpr int digits = 6;
  if (!(ends.hi < infinity && ends.width() <= 1e-7 * ends.hi)) return std::nullopt;
  Number decimal = read_number(numeric::to_text_below(ends.hi, digits));
  return ends.lo <= decimal.value.lo ? std::optional(std::move(decimal)) : std::nullopt;
}

/// Moves the safe end to a short decimal that meets the targets, and prints that one. True if there is one.
bool settle_on_short_decimal(const Trial& trial, Calibration& found) {
  const std::optional<Number> decimal = short_decimal(found.value);
  if (!decimal || !trial.at(decimal->text).meets) return false;
  (found.safe_end_is_hi ? found.value.hi : found.value.lo) = found.safe_end_is_hi ? decimal->value.hi : decimal->value.lo;
  found.printed = decimal->text;
  return true;
}

/// The safe end with as few digits as still meet the targets, but at least seven, and ten beyond a short decimal; a count with all its
/// digits.
std::string print_safely(const Trial& trial, const Calibration& found, bool whole) {
  constexpr int usual = 7, beyond_short = 10, most = 17;
  for (int digits = short_decimal(found.value) ? beyond_short : usual; digits < most && !whole; ++digits) {
    std::string text =
        found.safe_end_is_hi ? numeric::to_text_above(found.value.hi, digits) : numeric::to_text_below(found.value.lo, digits);
    if (trial.at(text).meets) return text;
  }
  return numeric::to_text_below(found.safe_end_is_hi ? found.value.hi : found.value.lo);  // this value was verified
}

/// The largest value of a parameter: 1 for a probability, otherwise none.
double end_of(const Effect& effect) { return effect.largest <= 1 ? effect.largest : std::numeric_limits<double>::infinity(); }

/// The largest whole number that meets the target, as [proved to meet it, largest that is not proved to fail].
Interval search_count(const Trial& trial, const Effect& effect) {
  const auto judge = [&](double n) { return trial.at(n); };
  double meets = 0;
  double fails = effect.largest + 1;
  for (double n = 1; n <= effect.largest; n *= 2) {
    const Outcome margin = judge(n);
    if (margin.meets) meets = n;
    if (margin.fails) {
      fails = n;
      break;
    }
  }
  if (meets == 0 && !judge(0).meets) throw DomainError("calibrate: even 0 does not meet the target");
  double undecided_low = fails;
  while (undecided_low - meets > 1) {
    const double middle = std::floor((meets + undecided_low) / 2);
    if (judge(middle).meets)
      meets = middle;
    else
      undecided_low = middle;
  }
  double last = undecided_low - 1;
  if (fails > effect.largest) return {meets, end_of(effect)};
  while (fails - last > 1) {
    const double middle = std::floor((last + fails) / 2);
    if (judge(middle).fails)
      fails = middle;
    else
      last = middle;
  }
  return {meets, last};
}

/// Moves a proved end towards an undecided one as far as it stays proved.
template <class Certain>
double farthest_certain(const Certain& certain, double end, double beyond) {
  return numeric::bisect([&](double x) { return !certain(x); }, {end, beyond}, 40).before;
}

/// The width of the logarithm of the value at which the search stops: that of the last digits, unless trials are slow or fewer digits are
/// requested than usual.
double settled_width(const Trial& trial) {
  constexpr double slow = 2000, slower = 30'000;  // in the units of loss/work.h
  const double relative = trial.tolerance().relative;
  if (is_rough(trial.tolerance())) return relative / 4;
  return trial.most_work() > slower ? 1e-3 * relative : trial.most_work() > slow ? 1e-5 * relative : 0;
}

/// Two logarithms of values, and what is known there.
struct Ends {
  double low, high;
  numeric::Verdict at_low, at_high;

  /// Far from the change an enclosure may be too wide to decide. Halves the bracket until both ends are decided; keeps it if that fails.
  template <class Judge>
  void decide(const Judge& judge) {
    constexpr int attempts = 12;
    Ends inner = *this;
    for (int i = 0; i < attempts && !(inner.at_low.before && inner.at_high.after); ++i) {
      const double middle = inner.low + (inner.high - inner.low) / 2;
      const numeric::Verdict verdict = judge(middle);
      const bool is_low = verdict.before || (!verdict.after && !inner.at_low.before);
      (is_low ? inner.low : inner.high) = middle;
      (is_low ? inner.at_low : inner.at_high) = verdict;
    }
    if (inner.at_low.before && inner.at_high.after) *this = inner;
  }
};

/// The steps of a walk from a decided value to one on the other side of the change: a little further than the excess suggests, which is
/// about proportional to the distance, and at least twice as far each time where it suggests nothing. A step is at most a few times as long
/// as the one before: where the excess hardly changes it suggests too much, and far out answers may be slow.
class Steps {
 public:
  [[nodiscard]] double next(double at, const numeric::Verdict& verdict) {
    const double slope = last_at_ ? std::abs((verdict.excess - last_excess_) / (at - *last_at_)) : 1;
    const double distance = std::abs(verdict.excess) / std::clamp(slope, 0.05, 20.0);
    const bool tells = (verdict.before || verdict.after) && verdict.doubt < 0.5 * std::abs(verdict.excess) && std::abs(verdict.excess) < 12;
    last_at_ = tells ? std::optional(at) : std::nullopt;
    last_excess_ = verdict.excess;
    blind_ *= 2;
    const double step = tells ? std::min({1.03 * distance + 1e-3, longest, std::max(4 * last_step_, 0.5)}) : blind_ / 2;
    last_step_ = step;
    return step;
  }
  /// True once.
  [[nodiscard]] bool are_first_undecided() { return !std::exchange(undecided_, true); }

 private:
  static constexpr double longest = 8;  // a factor of three thousand
  double blind_ = 0.5;
  double last_step_ = infinity;
  std::optional<double> last_at_;
  double last_excess_ = 0;
  bool undecided_ = false;
};

/// The boundary between values that fail and values that meet the target, searched in the logarithm of the value.
Interval search_value(const Trial& trial, const Effect& effect) {
  const auto value_at = [&](double log_value) { return std::min(std::exp(log_value), effect.largest); };
  const auto judge = [&](double log_value) {
    const Outcome found = trial.at(value_at(log_value));
    return effect.more_is_safer ? numeric::Verdict{found.fails, found.meets, found.excess, found.doubt}
                                : numeric::Verdict{found.meets, found.fails, -found.excess, found.doubt};
  };
  const double top = std::log(effect.largest);
  constexpr double bottom = -690;  // 1e-300
  const double first = std::min(0.0, top);
  const numeric::Verdict at_first = judge(first);
  Ends ends{first, first, at_first, at_first};
  auto& [low, high, at_low, at_high] = ends;
  for (Steps steps; !at_low.before && low > bottom;) {
    if (at_low.after) {
      high = low;
      at_high = at_low;
    }
    low = std::max(low - steps.next(low, at_low), bottom);
    at_low = judge(low);
    if (at_high.after && !at_low.after && !at_low.before && steps.are_first_undecided()) ends.decide(judge);
  }
  for (Steps steps; !at_high.after && high < top;) {
    if (at_high.before) {
      low = high;
      at_low = at_high;
    }
    high = std::min(high + steps.next(high, at_high), top);
    at_high = judge(high);
    if (at_low.before && !at_high.after && !at_high.before && steps.are_first_undecided()) ends.decide(judge);
  }
  if (at_low.before && at_high.after) {
    const Interval found = numeric::narrow_bracket(judge, low, at_low, high, at_high, settled_width(trial));
    return {value_at(found.lo), value_at(found.hi)};
  }
  // No value on one side is proved to fail: the safe end is the farthest value that is proved to meet the target.
  if (effect.more_is_safer && at_high.after)
    return {0, value_at(at_low.after ? low : farthest_certain([&](double x) { return judge(x).after; }, high, low))};
  if (!effect.more_is_safer && at_low.before)
    return {value_at(at_high.before ? high : farthest_certain([&](double x) { return judge(x).before; }, low, high)), end_of(effect)};
  throw DomainError(effect.more_is_safer ? "calibrate: no finite value meets the target" : "calibrate: no positive value meets the target");
}

}  // namespace

// [parameter-calibration] If privacy is monotone in the parameter, one proved answer on each side of the boundary proves the interval.
Calibration calibrate(const Plan& plan, const Targets& targets, Neighbours neighbours, Tolerance tolerance) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return calibrate(plan, targets, neighbours, tolerance); });

  if (targets.empty()) throw DomainError("calibrate: state a target: epsilon and delta, mu, advantage, or fpr and tpr");
  for (const StatedTarget& target : targets) validate(target.target);
  const Parameter& parameter = calibrated_parameter(plan);
  const bool whole = parameter.kind == Kind::integer;
  const Effect effect = parameter.effect.up_to(std::min(parameter.effect.largest, parameter.range.most));
  const Trial trial(plan, targets, neighbours, tolerance);
  Calibration found{{}, effect.more_is_safer, effect.monotone, {}};
  try {
    found.value = !effect.monotone ? scan_noise(trial, effect.largest) : whole ? search_count(trial, effect) : search_value(trial, effect);
  } catch (const DomainError&) {
    if (trial.too_large().empty()) throw;
    throw TooLargeError(trial.too_large());  // every value that meets the targets is too large to analyse
  }
  if (whole || !effect.monotone || !settle_on_short_decimal(trial, found)) found.printed = print_safely(trial, found, whole);
  static const Citation change("parameter-calibration", "each end is proved by the answer there");
  trial.record_proof({found.printed, numeric::to_text_below(found.value.lo), numeric::to_text_below(found.value.hi)});
  record(change);
  return found;
}

Calibration calibrate(const Plan& plan, const Target& target, Neighbours neighbours, Tolerance tolerance) {
  return calibrate(plan, Targets{{target, {}}}, neighbours, tolerance);
}

}  // namespace tradeoff
