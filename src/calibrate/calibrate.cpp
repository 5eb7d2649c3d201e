// SPDX-License-Identifier: Apache-2.0
#include "tradeoff/calibrate.h"

#include <array>
#include <cmath>

#include "calibrate/margin.h"
#include "numeric/arithmetic.h"
#include "numeric/bracket.h"
#include "numeric/number_text.h"
#include "numeric/usual_arithmetic.h"
#include "plan/unknown.h"
#include "tradeoff/error.h"

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

/// What a trial says about all targets together.
struct Outcome {
  bool meets = true;   ///< certainly each of them
  bool fails = false;  ///< certainly not one of them
  double excess = -infinity;
  double doubt = 0;
};

/// The plan with its `?` replaced, held against the targets. Each trial is made with the enclosure of a printed decimal, so that the safe
/// end still meets the targets when a reader types it back in.
class Trial {
 public:
  Trial(const Plan& plan, const Targets& targets, Neighbours neighbours, Tolerance tolerance)
      : plan_(plan), targets_(targets), neighbours_(neighbours), tolerance_(tolerance) {}
  [[nodiscard]] Outcome at(double value) const { return at(numeric::to_text_below(value)); }
  [[nodiscard]] Outcome at(const std::string& text) const {
    const Curve curve = analyze(substitute(plan_, read_number(text)), neighbours_, tolerance_);
    Outcome all;
    for (const StatedTarget& target : targets_) {
      const Margin margin = margin_of(curve, target.target);
      all.meets = all.meets && margin.meets();
      all.fails = all.fails || margin.fails();
      if (all.excess >= margin.excess()) continue;
      all.excess = margin.excess();
      all.doubt = margin.doubt();
    }
    return all;
  }

 private:
  const Plan& plan_;
  const Targets& targets_;
  Neighbours neighbours_;
  Tolerance tolerance_;
};

/// The safe end with as few digits as still meet the targets, seven at least.
std::string print_safely(const Trial& trial, const Calibration& found) {
  constexpr int usual = 7, most = 17;
  for (int digits = usual; digits < most; ++digits) {
    std::string text =
        found.safe_end_is_hi ? numeric::to_text_above(found.value.hi, digits) : numeric::to_text_below(found.value.lo, digits);
    if (trial.at(text).meets) return text;
  }
  return numeric::to_text_below(found.safe_end_is_hi ? found.value.hi : found.value.lo);  // which was verified
}

/// The largest whole number that meets the target, as [certainly meets, certainly the last that might].
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
    const Outcome margin = trial.at(std::min(std::exp(log_value), effect.largest));
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
Calibration calibrate(const Plan& plan, const Targets& targets, Neighbours neighbours, Tolerance tolerance) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return calibrate(plan, targets, neighbours, tolerance); });

  if (targets.empty()) throw DomainError("calibrate: state a target: epsilon and delta, mu, advantage, or fpr and tpr");
  for (const StatedTarget& target : targets) check(target.target);
  const UnknownPlace place = find_unknown(plan);
  for (const Effect& effect : effects) {
    if (effect.parameter != place.parameter) continue;
    const Trial trial(plan, targets, neighbours, tolerance);
    Calibration found{effect.whole ? search_count(trial, effect) : search_value(trial, effect), effect.more_is_safer, {}};
    found.printed = print_safely(trial, found);
    return found;
  }
  throw UnsupportedError("calibrate: " + place.call + "(" + place.parameter + "=?) cannot be calibrated");
}

Calibration calibrate(const Plan& plan, const Target& target, Neighbours neighbours, Tolerance tolerance) {
  return calibrate(plan, Targets{{target, {}}}, neighbours, tolerance);
}

}  // namespace tradeoff
