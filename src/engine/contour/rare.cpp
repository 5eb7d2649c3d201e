// SPDX-License-Identifier: Apache-2.0
#include "engine/contour/rare.h"

#include <array>
#include <memory>
#include <utility>

#include "engine/contour/split_line.h"
#include "loss/evaluation.h"
#include "loss/gaussian_profile.h"
#include "loss/negligible.h"
#include "loss/question_scope.h"
#include "loss/work.h"

// [rare-losses]
namespace tradeoff::detail {
namespace {

using rare::Kinds;
using rare::log_add;
using rare::RareKind;
using rare::SplitLine;
using rare::SplitPlan;
using rare::SplitSaddle;
using rare::Windows;

constexpr double most_rare_rate = 5e-2;    // of large losses that are inverted: for larger rates the other contours are as good
constexpr double most_participations = 3;  // expected, of all steps: with more, many small losses decide
constexpr double most_capped_rate = 0.3, most_capped_participations = 300;  // the same below upper windows: other contours find nothing
constexpr double most_gap = 32;                // log of an integrand over the estimate of delta by one step, which may be far below delta
constexpr std::size_t most_kinds = 16;         // of steps
constexpr double good_rare_width = 1e-10;      // lines this accurate are used again
constexpr double usable_width = 1e-3;          // lines less accurate are of no use
constexpr double first_log_probability = -60;  // of noise beyond a far window
constexpr double nearer = 0.6;                 // of the way to a far window: noise beyond it must not decide
constexpr double least_log_delta = -600;

/// An approximation of the deviation of the sum of all losses.
double deviation_of(const Kinds& kinds) {
  double variance = 0;
  for (const RareKind& kind : kinds) variance += kind.times * kind.rate * kind.rate * std::expm1(std::min(kind.mu * kind.mu, 60.0));
  return std::sqrt(variance);
}

/// Both parts of delta near one epsilon, each inverted or bounded.
class RareLines {
 public:
  struct Value {
    Interval log_delta{-infinity, 0};
    double slope = 0;  ///< of log delta, approximate
    double width = infinity;
    double nodes = 0, truncation = 0, alias = 0, bound = 0;  ///< errors relative to delta
  };
  /// Null if no window separates large losses from the others.
  /// `log_one_step` is about log of the part of delta for which one step has a large loss.
  [[nodiscard]] static std::shared_ptr<const RareLines> make(const Kinds& kinds, double epsilon, double log_one_step,
                                                             const RareAccuracy& accuracy);
  [[nodiscard]] Value at(double epsilon) const;
  [[nodiscard]] double home() const { return home_; }
  /// The width of the value there: other lines are hardly better.
  [[nodiscard]] double width_at_home() const { return width_at_home_; }
  [[nodiscard]] const std::vector<std::shared_ptr<const SplitLine>>& lines() const { return lines_; }

 private:
  [[nodiscard]] bool by_far_window(const Kinds& kinds, const RareAccuracy& accuracy);
  [[nodiscard]] bool by_large_losses(const Kinds& kinds, const RareAccuracy& accuracy);
  [[nodiscard]] bool below_upper_windows(const Kinds& kinds, const RareAccuracy& accuracy);
  [[nodiscard]] bool by_both(const Kinds& kinds, const RareAccuracy& accuracy);
  [[nodiscard]] bool bound_bulk(const SplitPlan& plan, double log_wanted);

  double home_ = 0, log_one_step_ = -infinity;
  double width_at_home_ = infinity;
  std::vector<std::shared_ptr<const SplitLine>> lines_;
  double log_rest_ = -infinity;                   // a bound of the runs with large losses, if they are not inverted
  double bulk_order_ = 0, log_bulk_ = -infinity;  // Chernoff's bound of the runs without, the same
};

/// The saddle point of the runs without large losses.
SplitSaddle bulk_saddle(const SplitPlan& plan, double epsilon) {
  const double deviation = deviation_of(plan.kinds());
  return find_saddle(plan, SplitLine::Of::bulk, epsilon, 0.02 / (1 + deviation), 3 * (epsilon / deviation + 20) / deviation + 3);
}

/// [rare-losses] Noise beyond the windows is so unlikely that its probability bounds it. Only where noise below them decides.
bool RareLines::by_far_window(const Kinds& kinds, const RareAccuracy& accuracy) {
  const bool coarse = accuracy.bulk > 1e-6;
  double log_probability = coarse ? std::log(accuracy.bulk) - 8 : first_log_probability, power = 1;
  for (int attempt = 0; attempt < 3; ++attempt) {
    Windows windows = far_windows(kinds, log_probability, power);
    const SplitPlan plan(kinds, windows, 1, accuracy);
    if (!plan.usable()) return false;
    const SplitSaddle saddle = bulk_saddle(plan, home_);
    const double log_delta = saddle.log_integral();
    if (!(saddle.curvature > 0) || !(log_delta > least_log_delta) || !(log_delta < 1)) return false;
    log_rest_ = plan.log_probability();
    const bool negligible = log_rest_ < log_delta + std::log(accuracy.bulk);
    if (!negligible || !(power > 1.2 * saddle.order)) {  // windows for this order and this delta
      if (!negligible) log_probability = log_delta + std::log(accuracy.bulk) - 3;
      power = 1 + 1.5 * saddle.order;
      continue;
    }
    for (auto& window : windows) window.centre *= nearer;
    const SplitPlan within(kinds, windows, 1, accuracy);
    if (!coarse && (!within.usable() || !(bulk_saddle(within, home_).log_value > saddle.log_value - 0.5))) return false;
    auto line = SplitLine::make(plan, SplitLine::Of::bulk, home_, saddle, log_delta, accuracy);
    if (line == nullptr) return false;
    lines_.push_back(std::move(line));
    return true;
  }
  return false;
}

/// The orders among which the saddle point of large losses lies: it is about the slope of the density of one large loss near epsilon. Empty
/// if large losses are not rare.
struct Rareness {
  double rate, participations;
};
std::optional<double> largest_tilt(const Kinds& kinds, double epsilon, Rareness most = {most_rare_rate, most_participations}) {
  double guess = infinity, participations = 0;
  for (const RareKind& kind : kinds) {
    if (kind.rate > most.rate) return std::nullopt;
    participations += kind.times * kind.rate;
    guess = std::min(guess, std::max(0.1, (noise_at(kind, epsilon) - kind.mu) / (kind.mu * -std::expm1(-epsilon))));
  }
  if (!(participations <= most.participations)) return std::nullopt;
  return 2 * guess + 5;
}

/// A split at this share of epsilon, over which the weight of w - 1 + rate falls so many times; narrow enough for an order of the runs
/// without large losses.
struct Cut {
  double share, falls;
  [[nodiscard]] Windows windows(const Kinds& kinds, double epsilon, double order) const {
    return windows_at(kinds, share * epsilon, std::log(std::expm1(epsilon) / std::expm1(share * epsilon)) / falls, 1 + order);
  }
};

/// The saddle point of large losses. A heavy tail keeps it far below the slope of the density, and a larger range needs more points. Empty
/// if no range is usable.
std::optional<SplitSaddle> first_rare_saddle(const Kinds& kinds, const Windows& windows, double epsilon, double most,
                                             const RareAccuracy& accuracy) {
  std::optional<SplitSaddle> found;
  for (const double limit : {10.0, 40.0, most}) {
    const double range = std::min(limit, most);
    const SplitPlan plan(kinds, windows, 1 + range, accuracy);
    if (!plan.usable()) break;
    found = find_saddle(plan, SplitLine::Of::rare, epsilon, 0.05, range);
    if (found->order < 0.8 * range || range == most) break;
  }
  return found;
}

/// Chernoff's bound of the runs without large losses, if it is below exp(log_wanted).
bool RareLines::bound_bulk(const SplitPlan& plan, double log_wanted) {
  const auto bound = [&](double s, double log_moment) { return log_moment + rare::log_kernel_bound(s) - s * home_; };
  double least = infinity, best = 0;
  for (double s = -0.8 * log_wanted / home_; s < -8 * log_wanted / home_; s *= 1.15) {
    const double here = bound(s, plan.log_bulk(s));
    if (here < least) {
      least = here;
      best = s;
    } else if (here > least + 1) {
      break;
    }
  }
  if (!(least < log_wanted)) return false;
  const double log_moment = plan.log_bulk_above(best);
  if (!(bound(best, log_moment) < log_wanted)) return false;
  bulk_order_ = best;
  log_bulk_ = log_moment;
  return true;
}

/// Large losses are inverted; the others are bounded, because epsilon is far beyond their sum.
bool RareLines::by_large_losses(const Kinds& kinds, const RareAccuracy& accuracy) {
  auto most = largest_tilt(kinds, home_);
  if (!most) return false;
  std::vector<Cut> cuts{{0.35, 8}, {0.25, 9}, {0.25, 12}, {0.15, 10}, {0.15, 14}, {0.1, 12}, {0.06, 14}};
  if (accuracy.bulk > 1e-6) cuts.insert(cuts.begin(), {{0.97, 0.5}, {0.9, 2}, {0.6, 3}});
  std::optional<SplitSaddle> first;
  for (const Cut& cut : cuts) {
    if (!first) {
      first = first_rare_saddle(kinds, cut.windows(kinds, home_, 0), home_, *most, accuracy);
      if (!first) continue;
      if (!(std::abs(first->log_integral()) < -least_log_delta) || !(first->curvature > 0) || first->order > 0.9 * *most) return false;
      most = std::min(*most, 3 * first->order + 3);
    }
    const double wanted = first->log_integral() + std::log(accuracy.bulk);
    const SplitPlan plan(kinds, cut.windows(kinds, home_, -1.2 * wanted / home_), 1 + *most, accuracy);
    if (!plan.usable()) continue;
    if (!bound_bulk(plan, wanted)) continue;
    const SplitSaddle saddle = find_saddle(plan, SplitLine::Of::rare, home_, 0.5 * first->order, std::min(*most, 2 * first->order));
    auto line = SplitLine::make(plan, SplitLine::Of::rare, home_, saddle, saddle.log_integral(), accuracy);
    if (line == nullptr) return false;
    lines_.push_back(std::move(line));
    return true;
  }
  return false;
}

/// The same where noise far beyond epsilon would decide at every useful order, but never occurs: it is left out, and its probability
/// bounds it.
bool RareLines::below_upper_windows(const Kinds& kinds, const RareAccuracy& accuracy) {
  const auto most = largest_tilt(kinds, home_, {most_capped_rate, most_capped_participations});
  if (!most || !(log_one_step_ > least_log_delta)) return false;
  const double wanted = log_one_step_ + std::log(accuracy.bulk);
  const Windows uppers = upper_windows(kinds, wanted - 3, 1 + *most);
  for (const Cut& cut : {Cut{0.6, 7}, {0.5, 8}, {0.35, 8}, {0.25, 9}, {0.15, 10}}) {
    const SplitPlan plan(kinds, cut.windows(kinds, home_, -1.2 * wanted / home_), 1 + *most, accuracy, uppers);
    if (!plan.usable() || !bound_bulk(plan, wanted)) continue;
    log_rest_ = plan.log_left_out();
    const SplitSaddle saddle = find_saddle(plan, SplitLine::Of::rare, home_, 0.05, *most);
    if (!(saddle.curvature > 0) || !(saddle.log_value < log_one_step_ + most_gap)) return false;
    auto line = SplitLine::make(plan, SplitLine::Of::rare, home_, saddle, log_one_step_, accuracy);
    if (line == nullptr) return false;
    lines_.push_back(std::move(line));
    return true;
  }
  return false;
}

/// Both parts are inverted, at the cut where both integrands are least: rounding errors are proportional to them. The order of the smaller
/// losses may be below their saddle point as long as their integrand is smaller than delta: a window that is narrow enough for a large
/// order makes long lines.
bool RareLines::by_both(const Kinds& kinds, const RareAccuracy& accuracy) {
  const auto most = largest_tilt(kinds, home_);
  if (!most) return false;
  double least = infinity, log_delta = 0;
  std::optional<SplitPlan> best;
  SplitSaddle rare{}, bulk{};
  for (const Cut& cut : {Cut{0.8, 8}, {0.6, 8}, {0.6, 4}, {0.45, 8}, {0.45, 4}, {0.35, 8}, {0.25, 9}}) {
    const auto about = first_rare_saddle(kinds, cut.windows(kinds, home_, 0), home_, *most, accuracy);
    if (!about || !(about->order < 0.9 * *most)) continue;
    const double largest_order = std::min(*most, 3 * about->order + 3), log_large = about->log_integral();
    const auto small_at = [&](const SplitPlan& plan) {
      return below_saddle(plan, SplitLine::Of::bulk, home_, bulk_saddle(plan, home_), log_large);
    };
    const SplitPlan first(kinds, cut.windows(kinds, home_, 0), 1 + largest_order, accuracy);
    if (!first.usable()) continue;
    SplitPlan plan(kinds, cut.windows(kinds, home_, 1.5 * small_at(first).order), 1 + largest_order, accuracy);
    if (!plan.usable()) continue;
    const SplitSaddle large = find_saddle(plan, SplitLine::Of::rare, home_, 0.05, largest_order), small = small_at(plan);
    if (!(large.curvature > 0 && small.curvature > 0)) continue;
    const double largest = std::max(large.log_value, small.log_value);
    if (!(largest < least)) continue;
    least = largest;
    log_delta = log_add(large.log_integral(), bulk_saddle(plan, home_).log_integral());
    rare = large;
    bulk = small;
    best = std::move(plan);
  }
  if (!best || !(log_delta > least_log_delta)) return false;
  for (const auto& [part, saddle] : {std::pair{SplitLine::Of::bulk, bulk}, {SplitLine::Of::rare, rare}}) {
    auto line = SplitLine::make(*best, part, home_, saddle, log_delta, accuracy);
    if (line == nullptr) {
      lines_.clear();
      return false;
    }
    lines_.push_back(std::move(line));
  }
  return true;
}

std::shared_ptr<const RareLines> RareLines::make(const Kinds& kinds, double epsilon, double log_one_step, const RareAccuracy& accuracy) {
  std::shared_ptr<const RareLines> best;
  double width = infinity;
  for (const auto way : {&RareLines::by_far_window, &RareLines::by_large_losses, &RareLines::below_upper_windows, &RareLines::by_both}) {
    if (!(epsilon > 0) && way != &RareLines::by_far_window) break;
    auto lines = std::make_shared<RareLines>();
    lines->home_ = epsilon;
    lines->log_one_step_ = log_one_step;
    if (!((*lines).*way)(kinds, accuracy)) continue;
    const double here = lines->width_at_home_ = lines->at(epsilon).width;
    if (here < width) {
      width = here;
      best = std::move(lines);
    }
    if (width <= std::max(good_rare_width, 30 * accuracy.bulk)) break;
  }
  return best;
}

RareLines::Value RareLines::at(double epsilon) const {
  Value value;
  Interval sum = Interval::exactly(0);
  double slope = 0, middle = 0;
  std::vector<SplitLine::Value> parts;
  for (const auto& line : lines_) parts.push_back(line->at(epsilon));
  const double reference = parts.front().scale.lo;
  for (const SplitLine::Value& part : parts) {
    if (!(part.above() < infinity)) return {};
    const Interval scale = exp(part.scale - Interval::exactly(reference));
    const double low = std::max(0.0, part.below() * (1 - 8 * unit_roundoff)), high = part.above() * (1 + 8 * unit_roundoff);
    if (!(high >= 0)) return {};
    sum = sum + scale * Interval{low, high};
    middle += middle_of(scale) * part.value;
    slope += middle_of(scale) * part.slope;
    value.nodes += middle_of(scale) * part.nodes;
    value.truncation += middle_of(scale) * part.truncation;
    value.alias += middle_of(scale) * part.alias;
  }
  double log_bound = log_rest_;
  if (log_bulk_ > -infinity) {
    const double rounding = 64 * unit_roundoff * (1 + std::abs(log_bulk_) + bulk_order_ * epsilon + 8 * (bulk_order_ + 1));
    const double log_bulk = log_bulk_ + rare::log_kernel_bound(bulk_order_) - bulk_order_ * epsilon + rounding;
    log_bound = log_bound > -infinity ? log_add(log_bound, log_bulk) + 1e-12 : log_bulk;
  }
  value.bound = log_bound > -infinity ? exp(Interval::exactly(log_bound) - Interval::exactly(reference)).hi : 0;
  const Interval all = Interval::exactly(reference) + log(Interval{sum.lo, numeric::add_up(sum.hi, value.bound)});
  value.log_delta = {all.lo, std::min(0.0, all.hi)};
  if (!(middle > 0) || !(value.log_delta.lo <= value.log_delta.hi)) return {};
  value.slope = slope / middle;
  value.width = value.log_delta.width();
  for (double* part : {&value.nodes, &value.truncation, &value.alias, &value.bound}) *part /= std::max(sum.lo, 1e-300);
  return value;
}

class RareLoss final : public Loss, public ClosedForms, public Evaluable {
 public:
  RareLoss(Kinds kinds, const Parts& parts, const RareAccuracy& accuracy)
      : kinds_(std::move(kinds)), parts_(parts), accuracy_(accuracy), laws_(citations_of_laws(parts)) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    for (const double level : {Negligible::log_of_doubles, std::log(Negligible::delta())})
      if (const auto bound = log_bound_below(level, direction, epsilon.lo)) return {0, exp(Interval::exactly(*bound)).hi};
    return clamp(exp(log_delta(direction, epsilon)), 0, 1);
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    if (direction != Direction::remove || !(epsilon.lo >= 0) || epsilon.hi == infinity) return {-infinity, 0};
    const QuestionScope question;
    cite();
    record(split());
    Interval above = value_at(epsilon.lo).log_delta;
    if (!(above.width() < infinity))
      if (const auto bound = log_bound_below(Negligible::log_of_doubles, direction, epsilon.lo)) above.hi = std::min(above.hi, *bound);
    return epsilon.lo == epsilon.hi ? above : Interval{value_at(epsilon.hi).log_delta.lo, above.hi};
  }
  [[nodiscard]] bool symmetric() const override { return false; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override;
  [[nodiscard]] std::optional<double> rough_delta(Direction direction, double epsilon) const override {
    if (direction != Direction::remove || !(epsilon >= 0) || epsilon == infinity) return std::nullopt;
    const QuestionScope question;
    return std::min(1.0, std::exp(rough_saddle(epsilon).log_integral()) + by_one_step(epsilon));
  }
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.closed_forms = this, .evaluable = this, .cost = Cost::engine};
  }
  void cite() const override { record(laws_); }
  void evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const override;

 private:
  [[nodiscard]] static const Citation& split() {
    static const Citation citation("rare-losses", "runs with and without large losses, split by a smooth window, each inverted or bounded",
                                   Method::contour);
    return citation;
  }
  /// Lines of the current question, and places where none were found.
  struct Kept {
    std::vector<std::shared_ptr<const RareLines>> lines;
    int failures = 0;
    std::optional<SplitPlan> far;  // for approximations
  };
  [[nodiscard]] std::shared_ptr<const RareLines> lines(double epsilon) const {
    Kept& kept = QuestionScope::state_of<Kept>(number_);
    if (kept.failures >= most_failures) return nullptr;
    auto made = RareLines::make(kinds_, epsilon, log_one_step(epsilon), accuracy_);
    double products = 0;
    if (made != nullptr)
      for (const auto& line : made->lines()) products += static_cast<double>(line->nodes() * line->points());
    Work::count(500 + 4e-3 * products);
    if (made != nullptr)
      kept.lines.push_back(made);
    else
      ++kept.failures;
    return made;
  }
  [[nodiscard]] RareLines::Value value_at(double epsilon) const {
    const RareLines* nearest = nullptr;
    for (const auto& one : QuestionScope::state_of<Kept>(number_).lines)
      if (nearest == nullptr || std::abs(one->home() - epsilon) < std::abs(nearest->home() - epsilon)) nearest = one.get();
    if (nearest != nullptr) {
      const double enough = std::abs(nearest->home() - epsilon) <= 3 * near_home * epsilon ? 1.5 * nearest->width_at_home() : 0;
      if (const RareLines::Value value = nearest->at(epsilon); value.width < std::max(good_rare_width, enough)) return value;
    }
    const auto made = lines(epsilon);
    return made != nullptr ? made->at(epsilon) : RareLines::Value{};
  }
  [[nodiscard]] double guess_epsilon(double delta) const;
  /// One step has a large loss: the sum of the profiles of the steps. An approximation.
  [[nodiscard]] double log_one_step(double epsilon) const {
    const Unrecorded guess;
    double sum = -infinity;
    for (const Part& part : parts_) {
      const double log = part.loss->log_delta(Direction::remove, Interval::exactly(epsilon)).hi + std::log(static_cast<double>(part.times));
      sum = sum > -infinity ? log_add(sum, log) : log;
    }
    return sum;
  }
  [[nodiscard]] double by_one_step(double epsilon) const { return std::exp(log_one_step(epsilon)); }
  [[nodiscard]] SplitSaddle rough_saddle(double epsilon) const {
    auto& plan = QuestionScope::state_of<Kept>(number_).far;
    if (!plan) plan.emplace(kinds_, far_windows(kinds_, first_log_probability, 1), 1, accuracy_);
    return plan->usable() ? bulk_saddle(*plan, epsilon) : SplitSaddle{1, -infinity, 1};
  }
  [[nodiscard]] std::optional<double> log_bound_below(double level, Direction direction, double epsilon) const;

  static constexpr double near_home = 0.03;  // relative: lines of a nearer home are hardly better
  // Each costs a millisecond.
  static constexpr int most_failures = 3;

  Kinds kinds_;
  Parts parts_;
  RareAccuracy accuracy_;
  Citations laws_;
  std::uint64_t number_ = QuestionScope::new_owner();
};

/// Either one step has a large loss, so that the sum of the profiles of the steps counts, or the sum is nearly Gaussian.
double RareLoss::guess_epsilon(double delta) const {
  const Unrecorded guess;
  double low = 1e-12, high = 1e3;
  const double deviation = deviation_of(kinds_);
  for (int i = 0; i < 60 && high > 1.01 * low; ++i) {
    const double middle = std::sqrt(low * high);
    const double sum = std::exp(log_gaussian_delta(deviation, middle).hi) + by_one_step(middle);
    (sum > delta ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

/// [rare-losses] An upper bound of log delta if it is below a level: the probability of noise beyond the windows, and Chernoff's bound for
/// runs without such noise.
std::optional<double> RareLoss::log_bound_below(double level, Direction direction, double epsilon) const {
  constexpr double margin = 3;
  if (direction != Direction::remove || !(epsilon > 0) || epsilon == infinity) return std::nullopt;
  if (!(log_gaussian_delta(deviation_of(kinds_), epsilon).hi < level - margin) || !(log_one_step(epsilon) < level - margin))
    return std::nullopt;
  const double order = 1.5 * (margin - level) / epsilon;
  const SplitPlan plan(kinds_, far_windows(kinds_, level - margin, 1 + order), 1, accuracy_);
  if (!plan.usable()) return std::nullopt;
  const double bulk = plan.log_bulk_above(order) + rare::log_kernel_bound(order) - order * epsilon;
  const double bound = log_add(bulk + 1e-9 * (1 + std::abs(bulk) + order * epsilon), plan.log_probability()) + 1e-9;
  if (!(bound < level)) return std::nullopt;
  cite();
  record(split());
  return bound;
}

// H decreases: the sign of a proved value at an end proves that end; the search only guides.
std::optional<Interval> RareLoss::closed_epsilon(Direction direction, Interval delta) const {
  if (direction != Direction::remove || !(delta.lo > 0) || !(delta.hi < 0.1)) return std::nullopt;
  const QuestionScope question;
  const Interval target = log(delta);
  double epsilon = guess_epsilon(delta.lo), margin = 0;
  if (target.lo > log_gaussian_delta(deviation_of(kinds_), 0.0).lo - 1) {  // epsilon is near 0, or is 0
    const RareLines::Value at_zero = value_at(0);
    if (!(at_zero.width < usable_width)) return std::nullopt;
    if (at_zero.log_delta.hi <= target.lo) {
      cite();
      record(split());
      return Interval::exactly(0);
    }
  }
  std::shared_ptr<const RareLines> near;
  for (int i = 0; i < 12; ++i) {
    if (near == nullptr || std::abs(near->home() - epsilon) > near_home * epsilon) near = lines(epsilon);
    if (near == nullptr) return std::nullopt;
    const RareLines::Value value = near->at(epsilon);
    if (!(value.width < usable_width) || !(value.slope < 0)) return std::nullopt;
    const double move = (middle_of(value.log_delta) - middle_of(target)) / -value.slope;
    margin = (value.width + target.width()) / -value.slope + 4 * unit_roundoff * epsilon;
    if (!(std::abs(move) > 0.25 * margin)) break;
    epsilon = std::clamp(epsilon + move, 0.5 * epsilon, 2 * epsilon);
  }
  Interval found{0, infinity};
  for (const double factor : {1.05, 4.0, 64.0}) {
    if (const double e = epsilon + factor * margin; found.hi == infinity && near->at(e).log_delta.hi <= target.lo) found.hi = e;
    if (const double e = epsilon - factor * margin; found.lo == 0 && e > 0 && near->at(e).log_delta.lo > target.hi) found.lo = e;
  }
  cite();
  record(split());
  return found;
}

void RareLoss::evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const {
  if (direction != Direction::remove || !(epsilon >= 0)) return;
  const QuestionScope question;
  const auto made = lines(epsilon);
  if (made == nullptr) return;
  const RareLines::Value value = made->at(epsilon);
  if (!(value.width < infinity)) return;
  cite();
  record(split());
  std::uint64_t nodes = 0, points = 0;
  for (const auto& line : made->lines()) {
    nodes += line->nodes();
    points += line->points();
  }
  const SplitLine& first = *made->lines().front();
  found.push_back(balanced({"rare-losses",
                            direction,
                            epsilon,
                            value.log_delta,
                            {{"nodes", nodes}, {"quadrature points", points}},
                            {{"order", first.order()}, {"step", first.step()}},
                            {{"alias", value.alias}, {"truncation", value.truncation}, {"nodes", value.nodes}, {"bound", value.bound}}},
                           "rounding"));
}

}  // namespace

LossPointer compose_by_rare_losses(const Parts& parts, const RareAccuracy& accuracy) {
  Kinds kinds;
  if (parts.empty() || parts.size() > most_kinds) return nullptr;
  for (const Part& part : parts) {
    const auto points = part.loss->break_points(Direction::remove, ParameterEnd::worse);
    if (!points || !points->sampled || !points->terms.empty() || points->gaussian_mu > 0) return nullptr;
    if (points != part.loss->break_points(Direction::remove, ParameterEnd::better)) return nullptr;
    const SampledGaussianFactor& factor = *points->sampled;
    if (factor.sampling != SampledBy::poisson || part.times == 0) return nullptr;
    kinds.push_back({factor.mu, factor.rate, factor.mu_width / factor.mu + unit_roundoff, factor.rate_width / factor.rate + unit_roundoff,
                     static_cast<double>(part.times)});
  }
  return std::make_shared<const RareLoss>(std::move(kinds), parts, accuracy);
}

}  // namespace tradeoff::detail
