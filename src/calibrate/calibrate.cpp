// SPDX-License-Identifier: Apache-2.0
#include "tradeoff/calibrate.h"

#include <array>
#include <cmath>

#include "numeric/arithmetic.h"
#include "numeric/bracket.h"
#include "numeric/number_text.h"
#include "numeric/usual_arithmetic.h"
#include "plan/unknown.h"
#include "tradeoff/error.h"
#include "tradeoff/gdp.h"

namespace tradeoff {
namespace {

/// Which way a parameter helps, and whether it is a count.
struct Effect {
  std::string_view parameter;
  bool more_is_safer;
  bool whole;
  double largest;  ///< the largest value that makes sense
};

// Every parameter that may be a `?`. A larger value of the first kind hides more, of the second reveals more.
constexpr std::array effects{
    Effect{"sigma", true, false, 1e300},  Effect{"scale", true, false, 1e300}, Effect{"sensitivity", false, false, 1e300},
    Effect{"rate", false, false, 1},      Effect{"times", false, true, 1e12},  Effect{"mu", false, false, 1e300},
    Effect{"epsilon", false, false, 1e6}, Effect{"delta", false, false, 1},    Effect{"draws", false, true, 1e12},
    Effect{"rho", false, false, 1e300},
};

/// How far a curve is from its target: negative when it certainly meets it, positive when it certainly does not.
struct Margin {
  bool meets = false;
  bool fails = false;
  double excess = 0;  ///< a smooth measure of the distance, only used to choose the next trial
  double doubt = 0;   ///< how far it may be off
};

Margin compare(Interval value, Interval target) {
  const double doubt = value.width() / (value.lo + value.hi) + target.width() / (target.lo + target.hi);
  return {value.hi <= target.lo, value.lo > target.hi, std::log(value.hi + value.lo) - std::log(target.lo + target.hi), doubt};
}

Margin measure(const Curve& curve, const EpsilonDeltaTarget& target) {
  if (target.delta.lo < 1e-290) {
    const Interval log_delta = curve.log_delta_at(target.epsilon);
    const Interval wanted = log(target.delta);
    return {log_delta.hi <= wanted.lo, log_delta.lo > wanted.hi, log_delta.hi - wanted.hi, log_delta.width() + wanted.width()};
  }
  return compare(curve.delta_at(target.epsilon), target.delta);
}
Margin measure(const Curve& curve, const AdvantageTarget& target) { return compare(curve.advantage(), target.advantage); }
Margin measure(const Curve& curve, const AttackTarget& target) { return compare(curve.tpr_at(target.fpr), target.tpr); }
Margin measure(const Curve& curve, const MuTarget& target) {
  return compare(measure_mu(curve).mu, target.mu);  // infinite where no mu is certain
}

void require(bool holds, const char* what, const char* allowed) {
  if (!holds) throw DomainError(std::string("target: ") + what + " must be " + allowed);
}
void check(const EpsilonDeltaTarget& target) {
  require(target.epsilon.lo >= 0 && target.epsilon.hi < infinity, "epsilon", "0 or above, and finite");
  require(target.delta.lo >= 0 && target.delta.hi < 1, "delta", "at least 0 and below 1");
}
void check(const AdvantageTarget& target) {
  require(target.advantage.lo > 0 && target.advantage.hi < 1, "advantage", "strictly between 0 and 1");
}
void check(const AttackTarget& target) {
  require(target.fpr.lo >= 0 && target.fpr.hi < 1, "fpr", "at least 0 and below 1");
  require(target.tpr.lo > target.fpr.hi && target.tpr.hi < 1, "tpr", "above fpr and below 1");
}
void check(const MuTarget& target) { require(target.mu.lo > 0 && target.mu.hi < infinity, "mu", "above 0 and finite"); }

/// The plan with its `?` replaced, measured against the target. Each trial is made with the enclosure of the printed decimal, so that
/// the safe end still meets the target when a reader types it back in.
class Trial {
 public:
  Trial(const Plan& plan, const Target& target, Neighbours neighbours, Tolerance tolerance)
      : plan_(plan), target_(target), neighbours_(neighbours), tolerance_(tolerance) {}
  [[nodiscard]] Margin at(double value) const {
    const std::string text = numeric::to_text_below(value);
    const Number number{text, numeric::enclose_decimal(text).value_or(Interval::exactly(value))};
    const Curve curve = analyze(substitute(plan_, number), neighbours_, tolerance_);
    return std::visit([&curve](const auto& target) { return measure(curve, target); }, target_);
  }

 private:
  const Plan& plan_;
  const Target& target_;
  Neighbours neighbours_;
  Tolerance tolerance_;
};

/// The largest whole number that meets the target, as [certainly meets, certainly the last that might].
Interval search_count(const Trial& trial, const Effect& effect) {
  const auto judge = [&](double n) { return trial.at(n); };
  double meets = 0;
  double fails = effect.largest + 1;
  for (double n = 1; n <= effect.largest; n *= 2) {
    const Margin margin = judge(n);
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
  while (fails - last > 1) {
    const double middle = std::floor((last + fails) / 2);
    if (judge(middle).fails)
      fails = middle;
    else
      last = middle;
  }
  return {meets, last};
}

/// The change between values that fail and values that meet the target, searched in the logarithm of the value.
Interval search_value(const Trial& trial, const Effect& effect) {
  const auto judge = [&](double log_value) {
    const Margin margin = trial.at(std::min(std::exp(log_value), effect.largest));
    return effect.more_is_safer ? numeric::Verdict{margin.fails, margin.meets, margin.excess, margin.doubt}
                                : numeric::Verdict{margin.meets, margin.fails, -margin.excess, margin.doubt};
  };
  const double top = std::log(effect.largest);
  constexpr double bottom = -690;  // 1e-300
  const double start = std::min(0.0, top);
  const numeric::Verdict at_start = judge(start);
  double low = start, high = start;
  numeric::Verdict at_low = at_start, at_high = at_start;
  for (double step = 0.5; !at_low.before; step *= 2) {
    if (low <= bottom) {
      if (!effect.more_is_safer) throw DomainError("calibrate: no positive value meets the target");
      return {0, std::exp(low)};
    }
    if (at_low.after) {
      high = low;
      at_high = at_low;
    }
    low = std::max(low - step, bottom);
    at_low = judge(low);
  }
  for (double step = 0.5; !at_high.after; step *= 2) {
    if (high >= top) {
      if (effect.more_is_safer) throw DomainError("calibrate: no finite value meets the target");
      return {std::exp(low), effect.largest};
    }
    if (at_high.before) {
      low = high;
      at_low = at_high;
    }
    high = std::min(high + step, top);
    at_high = judge(high);
  }
  const Interval found = numeric::narrow_bracket(judge, low, at_low, high, at_high);
  return {std::min(std::exp(found.lo), effect.largest), std::min(std::exp(found.hi), effect.largest)};
}

}  // namespace

// [parameter-calibration] Privacy is monotone in the parameter, so one certain answer on each side of the change proves the interval.
Calibration calibrate(const Plan& plan, const Target& target, Neighbours neighbours, Tolerance tolerance) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return calibrate(plan, target, neighbours, tolerance); });

  std::visit([](const auto& wanted) { check(wanted); }, target);
  const UnknownPlace place = find_unknown(plan);
  for (const Effect& effect : effects) {
    if (effect.parameter != place.parameter) continue;
    const Trial trial(plan, target, neighbours, tolerance);
    return {effect.whole ? search_count(trial, effect) : search_value(trial, effect), effect.more_is_safer};
  }
  throw UnsupportedError("calibrate: " + place.call + "(" + place.parameter + "=?) cannot be calibrated");
}

}  // namespace tradeoff
