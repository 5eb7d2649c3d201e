// SPDX-License-Identifier: Apache-2.0
#include "calibrate/scan.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "calibrate/cut.h"
#include "calibrate/summed.h"
#include "loss/work.h"
#include "numeric/arithmetic.h"
#include "numeric/number_text.h"
#include "numeric/root.h"
#include "plan/unknown.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

constexpr double smallest = 1e-100;  // its square is a double; discrete Gaussian noise needs that
constexpr double narrow = 1e-10;     // relative width of a range that is not worth excluding
constexpr double settled = 1e-12;    // relative width at which the search for the first excluded range stops

/// Proves that no value in a range of noise scales meets the targets.
class Exclusion {
 public:
  explicit Exclusion(const Trial& trial)
      : trial_(trial),
        noise_(*find_unknown_source(trial.plan())),
        sum_(SummedNoise::of(trial.plan())),
        run_(sum_ ? std::nullopt : SummedNoise::one_run_of(trial.plan())),
        neighbours_(neighbours_of(trial.plan(), trial.neighbours())) {}

  /// Whether the sum of all runs, or the law of each, bounds short ranges tightly.
  [[nodiscard]] bool is_tight() const { return sum_ || run_; }

  /// Whether that takes no more than a sum over outcomes.
  [[nodiscard]] bool is_quick() const { return sum_ ? sum_->is_alone() : !run_; }

  /// Whether it is proved that no value of [low, high] meets the targets, or of (0, high] if low is 0. [parameter-calibration]
  [[nodiscard]] bool holds(double low, double high) {
    return holds_by_sum(low, high) || (low > 0 && holds_by_run(low, high)) || ((low == 0 || !is_tight()) && holds_by_cut(low, high));
  }

  [[nodiscard]] bool is_summed() const { return sum_.has_value(); }

  /// The largest value such that one cut proves that no smaller value meets the targets; 0 if there is none.
  [[nodiscard]] double from_zero(double largest) {
    double low = 0, high = 1;
    if (holds(0, high)) {
      for (; high < largest && holds(0, std::min(4 * high, largest)); high *= 4) low = high;
      low = high;
      if (high >= largest) return largest;
      high *= 4;
    } else {
      constexpr int attempts = 30;  // down to 1e-18
      int i = 0;
      for (low = high / 4; i < attempts && !holds(0, low); ++i) {
        high = low;
        low /= 4;
      }
      if (i == attempts) return 0;
    }
    while (high - low > (is_tight() ? coarse : settled) * high) {
      const double middle = low + (high - low) / 2;
      (holds(0, middle) ? low : high) = middle;
    }
    return low;
  }

 private:
  static constexpr double coarse = 0.1;  // short ranges follow

  [[nodiscard]] bool holds_by_sum(double low, double high) {
    if (!sum_) return false;
    const LossPointer weaker = sum_->weaker_loss(low, high, trial_.targets(), !sum_->is_alone() || !only_guarantees());
    return weaker != nullptr && trial_.of([&](Tolerance) { return sum_->weaker_curve(weaker, neighbours_, trial_.tolerance()); }).fails;
  }
  [[nodiscard]] bool holds_by_run(double low, double high) {
    constexpr double least_noise = 0.05;  // with less, all outcomes but one are too rare to tell anything
    if (!run_ || low < least_noise) return false;
    const std::optional<Call> weaker = run_->weaker_source(low, high, trial_.targets());
    return weaker && trial_.of(replace_unknown_source(trial_.plan(), *weaker)).fails;
  }
  [[nodiscard]] bool only_guarantees() const {
    return std::all_of(trial_.targets().begin(), trial_.targets().end(),
                       [](const StatedTarget& target) { return std::holds_alternative<Guarantee>(target.target); });
  }
  [[nodiscard]] bool holds_by_cut(double low, double high) {
    const CutNoise::Tails at_low = noise_.tails(low), at_high = noise_.tails(high);
    const std::vector<double> cuts = noise_.cuts(high, trial_.targets());
    const auto tells = [&](std::size_t i) {
      const std::optional<Call> weaker = noise_.weaker_pair(at_low, at_high, cuts[i]);
      return weaker && trial_.of(replace_unknown_source(trial_.plan(), *weaker)).fails;
    };
    if (best_ < cuts.size() && tells(best_)) return true;
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      if (i == best_ || !tells(i)) continue;
      best_ = i;
      return true;
    }
    return false;
  }

  const Trial& trial_;
  CutNoise noise_;
  std::optional<SummedNoise> sum_;
  std::optional<SummedNoise> run_;  // where there is no `sum_`
  Neighbours neighbours_;
  std::size_t best_ = 0;  // the cut that succeeded last; it is tried first
};

/// The state of a bracket at a value: `before` if the targets are missed, `after` if they are met.
numeric::Verdict verdict_of(const Outcome& outcome) { return {outcome.fails, outcome.meets, outcome.excess, outcome.doubt}; }

/// The first value above `low` that meets the targets, in growing steps, and the last value before it that does not.
struct Found {
  double meets;
  double before;
};
Found first_that_meets(const Trial& trial, double low, double largest) {
  if (low == 0 && trial.at(smallest).meets) return {smallest, 0};
  constexpr double far = 0.01;
  double before = low;
  double value = low > 0 ? low * (1 + settled) : 1e-6;
  for (double step = low > 0 ? settled : 0.02; value <= largest;) {
    const Outcome outcome = trial.at(value);
    if (outcome.meets) return {value, before};
    if (value >= largest) break;
    before = value;
    // Far from the targets the shortest steps are left out. Longer ones could miss a short range that meets them.
    if (outcome.fails && outcome.excess > far && outcome.doubt < 0.1 * outcome.excess) step = std::max(step, 1e-3);
    value = std::min(value * std::exp(std::min(step, 300.0)), largest);
    step *= low == 0 ? 1.03 : step < 1e-3 ? 1000 : 1.5;
  }
  throw DomainError("calibrate: no value was found that meets the targets; certainly none below " + numeric::to_text_below(low, 6) +
                    " does");
}

constexpr double slow = 2000;  // work of a trial, in the units of loss/work.h, from which on fewer digits are found

/// Moves the value that meets the targets down until the next value misses them.
Found closer(const Trial& trial, const Found& found) {
  if (found.before == 0) return found;
  const auto judge = [&](double log_value) { return verdict_of(trial.at(std::exp(log_value))); };
  const double low = std::log(found.before), high = std::log(found.meets);
  const numeric::Verdict at_low = judge(low), at_high = judge(high);
  if (!at_low.before || !at_high.after) return found;
  const Interval change = numeric::narrow_bracket(judge, low, at_low, high, at_high, trial.most_work() > slow ? 1e-7 : 0);
  return {std::exp(change.hi), std::exp(change.lo)};
}

}  // namespace

Interval scan_noise(const Trial& trial, double largest) {
  Exclusion exclusion(trial);
  double low = exclusion.from_zero(largest);
  Found found = closer(trial, first_that_meets(trial, low, largest));
  // The range between is excluded piece by piece, as far as possible: each is a share of what is left.
  constexpr int pieces = 400, searches = 3;
  // In the units of loss/work.h: beyond, fewer digits are found, and the search ends.
  const double little_work = 2e5, much_work = exclusion.is_quick() || exclusion.is_summed() ? 2e6 : 1e5;
  const std::uint64_t begin = Work::now();
  constexpr double least_share = 1.0 / 64;
  double share = exclusion.is_tight() ? 0.4 : 1;
  const auto enough = [&] {
    const double work = Work::since(begin);
    return work > much_work ? infinity : work > little_work ? 5e-7 : exclusion.is_quick() ? narrow : 100 * narrow;
  };
  for (int i = 0, searched = 1; i < pieces && found.before - low > enough() * low; ++i) {
    const double end = share < 1 ? low + share * (found.before - low) : found.before;
    if (exclusion.holds(low, end)) {
      low = end;
      share = std::min(1.15 * share, 1.0);
      continue;
    }
    share /= 2;
    if (!exclusion.is_tight() && !(share * (found.before - low) > 1e-9 * low)) break;
    if (!exclusion.is_tight() || share >= least_share) continue;
    // A smaller value may meet the targets.
    if (searched++ == searches) break;
    found = closer(trial, first_that_meets(trial, low, found.meets));
    share = 0.4;
  }
  return {low, found.meets};
}

}  // namespace tradeoff::detail
