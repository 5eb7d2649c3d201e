// SPDX-License-Identifier: Apache-2.0
#include "engine/contour/contour.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <string>
#include <utility>

#include "engine/contour/line.h"
#include "engine/saddle_point.h"
#include "loss/evaluation.h"
#include "loss/mirrored_delta.h"
#include "loss/negligible.h"
#include "loss/question_scope.h"
#include "loss/work.h"
#include "numeric/arithmetic.h"
#include "transform/atoms_transform.h"

namespace tradeoff::detail {
namespace {

using Kernel = ContourLine::Kernel;

constexpr ContourLine::Accuracy line_accuracy{1e-13, 1e-13};  // rounding errors are about as large
constexpr double enough = 1e-11;                              // a line this accurate is not refined
constexpr double good = 1e-9;                                 // a line this accurate is not refined again,
constexpr double much_work = 1e6;                             // and neither is one that took this many nodes times points
constexpr int most_attempts = 6;                              // at one line, each with finer quadratures
constexpr int most_halvings = 4;                              // of the orders beyond the saddle point
constexpr double most_attempt_work = 2e7;                     // nodes times points after which no further attempt is made
constexpr double work_of_line = 200;                          // at least, in the units of loss/work.h
constexpr double work_of_product = 5e-3;                      // for one node and one point
constexpr double work_of_node = 0.03;                         // for evaluating one node
constexpr std::size_t most_lines = 48;                        // lines kept for later questions
constexpr std::size_t most_inherited = 8;                     // lines kept for questions about a longer plan
constexpr double far_below = 13;                              // a log delta this far below what is negligible is only bounded
constexpr double largest_order = 1e13;                        // for larger orders epsilon is close to the largest loss
constexpr double short_way = 1e-9;                            // largest relative loss of the tangent bound
constexpr double worth_moving = 1e-6;                         // do not reuse a line wider than this
// [contour-inversion] if the tilted distribution is this much wider, rare large losses determine the saddle
constexpr double many_times_wider = 3;
constexpr double crowded = 1.2;                  // a positive saddle is not used if it is within this many of its widths of the pole at 0
constexpr double longest_arc = 2.5;              // deviations of the loss: the polynomial follows a Gaussian to fifteen digits
constexpr std::size_t most_nodes_of_arc = 1024;  // with more the sum is slow, and has terms that no polynomial follows
constexpr double worst_arc = 1e-5;               // the relative error of an arc
constexpr double gap = 3.0;                      // a line is reused up to this many widths from the saddle: rounding grows by e^(gap^2/2)

}  // namespace

/// One direction: finds saddle points, keeps lines for the current question, answers in logarithms.
class ContourSide {
 public:
  ContourSide(ContourPlan plan, Citation inversion) : plan_(std::move(plan)), inversion_(std::move(inversion)) {}
  /// Inherits the lines of a shorter plan. Called before any question.
  void inherit(const ContourSide& shorter);

  [[nodiscard]] const ContourPlan& plan() const { return plan_; }
  /// How much of an answer that is negligible is wanted: its logarithm, or only that it is so small.
  enum class Smallest { exact, bounded };
  /// Encloses log H(e), H = E(1 - exp(e - L))+ over finite L, for every e >= 0 of the interval.
  [[nodiscard]] Interval log_profile(Interval epsilon, Smallest smallest) const;
  /// Encloses the e >= 0 at which log H(e) = target; needs H(0) > exp(target) to be tight.
  [[nodiscard]] Interval epsilon_of(Interval log_target) const;
  [[nodiscard]] std::optional<Interval> tail(double epsilon, Kernel kernel) const;
  /// Encloses log(1 - H - infinite mass) at an epsilon >= 0; empty if there is no line.
  [[nodiscard]] std::optional<Interval> log_complement(double epsilon) const;
  /// A straight line above log H, or below log(1 - H - infinite mass), on [start, end]; empty if there is none.
  [[nodiscard]] std::optional<LogLine> log_line(LineOf of, double start, double end) const;
  /// A polynomial that follows H, or its complement, from `start` on, to `end` or less far; empty if there is none. [contour-arc]
  [[nodiscard]] std::optional<Arc> arc(double start, double end) const;
  /// The evaluation at an epsilon >= 0; empty if there is no line.
  [[nodiscard]] std::optional<Evaluation> evaluation(Direction direction, double epsilon) const;

 private:
  struct Saddle {
    double order;
    double deviation;  // the deviation of the whole exponent, including the kernel
  };
  struct Known {
    std::shared_ptr<const ContourLine> line;
    double home = 0;             // the saddle point for which it was made,
    double place = 0;            // and the epsilon
    double width = infinity;     // the relative width where it was made
    ContourLine::Value value{};  // the value there
  };
  [[nodiscard]] const ContourMoments* rough(double order) const;
  /// Whether |phi| on the line through this order is next to its largest value again and again, so that a line has thousands of nodes.
  [[nodiscard]] bool recurs(double order) const;
  [[nodiscard]] std::optional<Saddle> saddle(double epsilon, bool strip) const;
  [[nodiscard]] std::optional<Saddle> saddle_of(double log_target, double& epsilon) const;
  struct Reading {
    std::shared_ptr<const ContourLine> line;  // null if the value need only be bounded
    ContourLine::Value value;
    std::optional<Saddle> saddle{};  // the saddle point, once it was searched for
  };
  [[nodiscard]] std::optional<Reading> by_known_line(double epsilon, Kernel kernel) const;
  [[nodiscard]] std::optional<Reading> read(double epsilon, Smallest smallest) const;
  [[nodiscard]] std::shared_ptr<const ContourLine> line(Saddle saddle, double epsilon) const;
  [[nodiscard]] std::shared_ptr<const ContourLine> inherited_line(Saddle saddle, double epsilon) const;
  [[nodiscard]] std::shared_ptr<const ContourLine> new_line(Saddle saddle, double epsilon) const;
  [[nodiscard]] Known best_line(Saddle saddle, double epsilon, double largest = infinity) const;
  [[nodiscard]] std::optional<Saddle> beside(Saddle saddle, double share) const;
  void keep(Known known) const;
  [[nodiscard]] Interval log_profile_locked(double epsilon, Smallest smallest = Smallest::exact) const;
  [[nodiscard]] Interval profile_by_line(double epsilon, Smallest smallest) const;
  [[nodiscard]] Interval log_of(const ContourLine::Value& value) const;
  [[nodiscard]] double log_chernoff_factor(double s) const;
  [[nodiscard]] double log_chernoff(const Saddle& saddle, double epsilon) const;
  [[nodiscard]] double complement_chernoff(double epsilon) const;
  [[nodiscard]] double chernoff_epsilon(const Saddle& saddle, double log_target) const;
  [[nodiscard]] Interval solve(double log_target) const;

  /// Lines and saddles found for one question or for a shorter plan.
  struct Findings {
    std::shared_ptr<const ContourMoments> rough;
    std::vector<Known> lines;  // newest last
    double last_order = 1;
    double recurrence = ContourLine::Accuracy{}.recurrence;  // of new lines
  };
  /// The state of the current question: starts as a copy of the inherited state, without the lines.
  struct Kept {
    std::optional<Findings> findings;
  };
  [[nodiscard]] Findings& findings() const {
    auto& kept = QuestionScope::state_of<Kept>(number_).findings;
    if (!kept) kept = Findings{inherited_.rough, {}, inherited_.last_order};
    return *kept;
  }

  ContourPlan plan_;
  Citation inversion_;
  std::uint64_t number_ = QuestionScope::new_owner();  // identifies the state of a question
  Findings inherited_;                                 // of shorter plans
  mutable std::mutex mutex_;                           // guards `latest_`
  mutable Findings latest_;                            // the last lines made by any question; a longer plan inherits them
};

const ContourMoments* ContourSide::rough(double order) const {
  auto& known = findings().rough;
  if (known == nullptr || order > known->reach().largest) {
    std::unique_ptr<const ContourMoments> wider;
    for (const double largest : {std::max(24.0, 2.5 * order), std::max(2.0, 1.5 * order), 1.1 * order})
      if (wider == nullptr) wider = ContourMoments::prepare(plan_, {-1, largest, 1, 0, true, 0, 0});
    if (wider == nullptr) return nullptr;
    known = std::move(wider);
  }
  return known.get();
}

bool ContourSide::recurs(double order) const {
  constexpr double enough_decay = 30;  // of the logarithm
  const ContourMoments* moments = rough(std::max(order, 0.0));
  if (moments == nullptr || plan_.gaussian.lo > 0) return false;
  double least = 0;
  const auto tilts = moments->tilt(order);
  for (std::size_t i = 0; i < tilts.size(); ++i)
    least -= plan_.items[i].times * std::log(std::min(tilts[i]->decay(0.5).atoms, tilts[i]->modulus_after(infinity)));
  return least < enough_decay;
}

/// The minimum of K(c) - c eps - log|c| - log(c+1), strictly convex on c > 0 and on (-1, 0). Guides the search only.
std::optional<ContourSide::Saddle> ContourSide::saddle(double epsilon, bool strip) const {
  double low = strip ? -1 : 0, high = strip ? 0 : infinity, c = strip ? -0.5 : findings().last_order;
  for (int i = 0; i < 100; ++i) {
    const ContourMoments* moments = rough(c);
    if (moments == nullptr) return std::nullopt;
    const Cumulant k = moments->cumulant(c);
    const double derivative = k.mean - epsilon - 1 / c - 1 / (c + 1);
    const double curvature = k.variance + 1 / (c * c) + 1 / ((c + 1) * (c + 1));
    (derivative > 0 ? high : low) = c;
    const double next = c - derivative / curvature;
    const double scale = strip ? std::min(-c, c + 1) : c;
    if (std::abs(next - c) < 1e-2 * std::min(scale, 1 / std::sqrt(curvature))) {
      if (!strip) findings().last_order = c;
      return Saddle{c, std::sqrt(curvature)};
    }
    if (next > low && next < high && (strip || next < 4 * c))
      c = next;
    else
      c = high < infinity ? (strip || low == 0 ? 0.5 * (low + high) : std::sqrt(low * high)) : 4 * c;
    if (c > largest_order || !(std::abs(c) > 1e-9)) break;
  }
  return std::nullopt;
}

/// The saddle point whose epsilon has about this log H, by the saddle-point approximation; and that epsilon.
std::optional<ContourSide::Saddle> ContourSide::saddle_of(double log_target, double& epsilon) const {
  double low = 0, high = infinity, c = findings().last_order;
  for (int i = 0; i < 100; ++i) {
    const ContourMoments* moments = rough(c);
    if (moments == nullptr) return std::nullopt;
    const Cumulant k = moments->cumulant(c);
    const SaddlePoint here = saddle_point(c, k.value, k.mean, k.variance);
    epsilon = here.epsilon;
    const double excess = here.log_delta - log_target;
    if (std::abs(excess) < 0.03) {
      findings().last_order = c;
      return Saddle{c, std::sqrt(here.curvature)};
    }
    (excess > 0 ? low : high) = c;
    const double next = c + excess / (c * here.curvature);
    if (next > low && next < high && next < 4 * c)
      c = next;
    else
      c = high < infinity ? (low > 0 ? std::sqrt(low * high) : high / 4) : 4 * c;
    if (c > largest_order || c < 1e-9) break;
  }
  return std::nullopt;
}

namespace {

double relative_width(const ContourLine::Value& value) {
  const double width = value.below / value.value;
  return value.value > 0 && width < infinity ? width : infinity;  // NaN must not pass
}

}  // namespace

void ContourSide::inherit(const ContourSide& shorter) {
  const std::scoped_lock lock(shorter.mutex_);
  const Findings& latest = shorter.latest_;
  if (latest.rough != nullptr) inherited_.rough = ContourMoments::prepare(plan_, latest.rough->reach(), latest.rough.get());
  inherited_.last_order = latest.last_order;
  inherited_.lines = shorter.inherited_.lines;
  inherited_.lines.insert(inherited_.lines.end(), latest.lines.begin(), latest.lines.end());
  if (inherited_.lines.size() > most_inherited) inherited_.lines.erase(inherited_.lines.begin(), inherited_.lines.end() - most_inherited);
}

void ContourSide::keep(Known known) const {
  Findings& mine = findings();
  {
    const std::scoped_lock lock(mutex_);
    if (latest_.lines.size() >= most_inherited) latest_.lines.erase(latest_.lines.begin());
    latest_.lines.push_back(known);
    latest_.rough = mine.rough;
    latest_.last_order = mine.last_order;
  }
  if (mine.lines.size() >= most_lines) mine.lines.erase(mine.lines.begin());
  mine.lines.push_back(std::move(known));
}

/// The value on the nearest line, if the line is near enough and nearly as narrow here as where it was made. Most questions need no search.
std::optional<ContourSide::Reading> ContourSide::by_known_line(double epsilon, Kernel kernel) const {
  const Known* nearest = nullptr;
  double least = gap;
  for (const Known& known : findings().lines) {
    if (known.line->order() < 0) continue;
    const auto [widths, saddle, deviation] = known.line->distance_to(epsilon);
    if (!(widths < least) || !(saddle * deviation > crowded)) continue;
    nearest = &known;
    least = widths;
  }
  if (nearest == nullptr) return std::nullopt;
  const ContourLine::Value value = nearest->line->at(epsilon, kernel);
  Work::count(work_of_node * static_cast<double>(nearest->line->nodes()));
  if (!(relative_width(value) <= std::max(enough, 3 * nearest->width))) return std::nullopt;
  return Reading{nearest->line, value};
}

std::shared_ptr<const ContourLine> ContourSide::line(Saddle saddle, double epsilon) const {
  for (const Known& known : findings().lines) {
    const double away = std::abs(known.home - saddle.order) * saddle.deviation;
    if (away > gap || (known.line->order() > 0) != (saddle.order > 0)) continue;
    // Reuses a line made for this point; a line made nearby must be nearly as narrow here as there.
    const bool same_place = std::abs(known.place - epsilon) <= 1e-3 * epsilon;
    if (away < 0.05 && (same_place || known.home == known.line->order())) return known.line;
    if (known.width <= worth_moving && relative_width(known.line->at(epsilon)) <= std::max(enough, 3 * known.width)) return known.line;
  }
  if (auto found = inherited_line(saddle, epsilon)) return found;
  return new_line(saddle, epsilon);
}

/// A line of a shorter plan, if it is as narrow as a new one. [longer-plan]
std::shared_ptr<const ContourLine> ContourSide::inherited_line(Saddle saddle, double epsilon) const {
  for (auto shorter = inherited_.lines.rbegin(); shorter != inherited_.lines.rend(); ++shorter) {
    const double order = shorter->line->order();
    if (std::abs(order - saddle.order) * saddle.deviation > gap || (order > 0) != (saddle.order > 0)) continue;
    auto line = shorter->line->extended(plan_);
    if (line == nullptr) continue;
    const ContourLine::Value value = line->at(epsilon);
    if (!(relative_width(value) <= std::max(enough, 3 * shorter->width))) continue;
    keep({line, order, epsilon, shorter->width, value});  // keeps the original width, so that losses do not accumulate
    return line;
  }
  return nullptr;
}

/// [contour-inversion] A smaller order, at which the tilted distribution is much narrower: at the saddle point a rare large loss dominates
/// the many small ones.
std::optional<ContourSide::Saddle> ContourSide::beside(Saddle saddle, double share) const {
  const ContourMoments* moments = saddle.order > 0 ? rough(saddle.order) : nullptr;
  if (moments == nullptr) return std::nullopt;
  const double order = share * saddle.order;
  const Cumulant k = moments->cumulant(order);
  const double deviation = std::sqrt(k.variance + 1 / (order * order) + 1 / ((order + 1) * (order + 1)));
  if (!(many_times_wider * deviation < saddle.deviation)) return std::nullopt;
  return Saddle{order, deviation};
}

std::shared_ptr<const ContourLine> ContourSide::new_line(Saddle saddle, double epsilon) const {
  Known best;
  if (const auto lower = beside(saddle, 0.7)) {
    best = best_line(*lower, epsilon, saddle.order);
    const auto higher = best.width > good && best.width < 1e-2 ? beside(saddle, 0.85) : std::nullopt;
    if (higher) {
      Known other = best_line(*higher, epsilon, saddle.order);
      if (other.width < best.width) best = std::move(other);
    }
  }
  if (!(best.width < 1e-2)) {
    Known at_saddle = best_line(saddle, epsilon);
    if (best.line == nullptr || at_saddle.width < best.width) best = std::move(at_saddle);
  }
  if (best.line == nullptr) return nullptr;
  best.home = saddle.order;
  keep(best);
  return best.line;
}

ContourSide::Known ContourSide::best_line(Saddle saddle, double epsilon, double largest) const {
  Known best;
  TransformRange reach{-1, 0, 1, 0, false, saddle.order, 8.5 / saddle.deviation};
  if (saddle.order > 0) {
    reach.least = 0;
    reach.largest = std::min(saddle.order + 15 / saddle.deviation, largest) + 1e-9;
  }
  const ContourMoments* steering = rough(std::max(saddle.order, 0.0));
  if (steering == nullptr) return best;
  reach.longest = steering->fading_time(saddle.order, reach.longest, line_accuracy.truncation);
  ContourLine::Accuracy accuracy = line_accuracy;
  accuracy.recurrence = findings().recurrence;
  double work = 0;
  for (int attempt = 0; attempt < most_attempts && work < most_attempt_work; ++attempt) {
    auto moments = ContourMoments::prepare(plan_, reach);
    // At much larger orders rare large losses decide, and take too many points.
    for (int i = 0; moments == nullptr && saddle.order > 0 && i < most_halvings; ++i) {
      reach.largest = saddle.order + 0.5 * (reach.largest - saddle.order);
      moments = ContourMoments::prepare(plan_, reach);
    }
    if (moments == nullptr) break;
    auto built = std::make_shared<const ContourLine>(*moments, *steering, saddle.order, epsilon, accuracy);
    if (built->hopeless()) return {};
    const ContourLine::Value value = built->at(epsilon);
    const double width = relative_width(value), before = best.width;
    if (best.line == nullptr || width < best.width) best = {built, saddle.order, epsilon, width, value};
    const auto products = static_cast<double>(built->nodes() * built->points());
    work += products;
    Work::count(work_of_line + work_of_product * products);
    const bool exhausted = built->exhausted() && value.truncation >= value.nodes;
    const bool blind = built->blind() && value.truncation >= value.nodes;  // a march that ended early and cost nothing needs no finer one
    if (exhausted || width <= enough || (width <= good && (attempt > 0 || work > much_work)) ||
        (before < infinity && reach.effort > 0 && !(width < 0.5 * before) && !blind))
      break;
    // Finer quadratures help if the nodes are coarse or the march stopped early: first up to the t that was reached, then further.
    // Where they do not resolve the largest orders, the alias bound uses smaller ones.
    const bool unresolved = saddle.order > 0 && width > good && !(value.alias <= std::max(value.truncation, value.nodes));
    if (unresolved) reach.largest = saddle.order + 0.5 * (reach.largest - saddle.order);
    if (attempt == 0 && built->last_time() > 1.5 * reach.longest)
      reach.longest = built->last_time();
    else if (!unresolved)
      ++reach.effort;
  }
  return best;
}

/// An upper bound of log kappa(s) + K(s): H(e) is at most its exponential times exp(-s e), for every s > 0.
double ContourSide::log_chernoff_factor(double s) const {
  const auto moments = ContourMoments::prepare(plan_, {s, s, 1, 0, false, 0, 0});
  if (moments == nullptr) return infinity;
  const double kappa = s * std::log(s) - (1 + s) * std::log1p(s), cumulant = moments->cumulant_above(s);
  const double bound = kappa + cumulant + 1e-13 * (1 + std::abs(kappa) + std::abs(cumulant));
  return bound < infinity ? bound : infinity;
}

double ContourSide::log_chernoff(const Saddle& saddle, double epsilon) const {
  double best = 0;
  for (double s = saddle.order; s > 0 && s > 1e-3 * saddle.order; s /= 4) {
    const double bound = log_chernoff_factor(s) - s * epsilon + 1e-13 * s * std::abs(epsilon);
    if (bound < best) best = bound;
  }
  return best;
}

/// An upper bound of 1 - delta = E min(1, exp(e - L)), which is at most exp(K(s) - s e) for every s in [-1, 0].
double ContourSide::complement_chernoff(double epsilon) const {
  const auto moments = ContourMoments::prepare(plan_, {-1, 0, 1, 0, false, -0.5, 0});
  if (moments == nullptr) return 1;
  double best = 0;
  for (const double s : {-0.5, -0.25, -0.75, -0.05, -0.95}) {
    const double bound = moments->cumulant_above(s) - s * epsilon;
    const double raised = bound + 1e-13 * (1 + std::abs(bound) + std::abs(epsilon));
    if (raised < best) best = raised;
  }
  return std::max(std::exp(best) * (1 + 1e-9), std::numeric_limits<double>::min());  // never 0: 1 - delta is positive
}

double ContourSide::chernoff_epsilon(const Saddle& saddle, double log_target) const {
  double best = infinity;
  for (double s = saddle.order; s > 0 && s > 1e-3 * saddle.order; s /= 4) {
    const double bound = (log_chernoff_factor(s) - log_target + 1e-13 * (1 + std::abs(log_target))) / s * (1 + 1e-13);
    if (bound < best) best = std::max(bound, 0.0);
  }
  return best;
}

/// The answer of one line; NaN becomes no answer.
Interval ContourSide::log_of(const ContourLine::Value& value) const {
  const Interval whole = log1p(-plan_.infinite_mass);  // H <= 1 - infinite mass
  const Interval bracket{value.value - value.below, value.value + value.above};
  if (!(bracket.hi > 0) || !(bracket.hi < infinity) || !(value.above < value.value)) return {-infinity, whole.hi};
  const double below = bracket.lo > 0 ? (value.base + log(Interval::exactly(bracket.lo * (1 - 8 * 0x1p-53)))).lo : -infinity;
  return min({below, (value.base + log(Interval::exactly(bracket.hi * (1 + 8 * 0x1p-53)))).hi}, whole);
}

// [contour-inversion] H is convex in e^epsilon: over a step as short as the rounding of a decimal, the tangent at the near end is as tight
// as another sum at the far end.
Interval ContourSide::log_profile(Interval epsilon, Smallest smallest) const {
  const QuestionScope question;
  if (epsilon.lo == epsilon.hi) return log_profile_locked(epsilon.lo, smallest);
  if (auto found = by_known_line(epsilon.lo, Kernel::profile); found && epsilon.hi < plan_.largest_loss) {
    ContourLine::Value& value = found->value;
    const double fall = std::expm1(epsilon.hi - epsilon.lo) * value.fall * std::exp(value.base.width()) * (1 + 1e-12);
    if (fall <= short_way * value.value) {
      value.below += fall;
      return log_of(value);
    }
  }
  return {log_profile_locked(epsilon.hi, smallest).lo, log_profile_locked(epsilon.lo, smallest).hi};
}

Interval ContourSide::log_profile_locked(double epsilon, Smallest smallest) const {
  if (epsilon >= plan_.largest_loss) return Interval::exactly(-infinity);
  const Interval found = profile_by_line(epsilon, smallest);
  if (found.lo > -1 || found.hi < -1) return found;  // accurate enough, or delta is not close to 1
  // If the plan reveals nearly everything, no saddle point is in range, but Chernoff's bound of the complement applies.
  const Interval nearly_all = 1.0 - Interval::exactly(complement_chernoff(epsilon)) - plan_.infinite_mass;
  if (!(nearly_all.lo > 0.5)) return found;
  return {std::max(found.lo, std::min(found.hi, log(nearly_all).lo)), found.hi};
}

std::optional<ContourSide::Reading> ContourSide::read(double epsilon, Smallest smallest) const {
  if (auto known = by_known_line(epsilon, Kernel::profile)) return known;
  auto found = saddle(epsilon, false);
  if (!found) return std::nullopt;
  const double far = smallest == Smallest::bounded ? std::log(Negligible::delta()) - far_below : -infinity;
  if (rough(found->order)->cumulant(found->order).value - found->order * epsilon < far) return Reading{nullptr, {}, found};
  // Far below the mean delta is close to 1 and the positive saddle point is close to the pole; compute the complement instead.
  const bool strip = found->order * found->deviation < crowded;
  if (strip) {
    if (const auto other = saddle(epsilon, true)) found = other;
  }
  const auto contour = line(*found, epsilon);
  if (contour == nullptr) return std::nullopt;
  return Reading{contour, contour->at(epsilon), found};
}

Interval ContourSide::profile_by_line(double epsilon, Smallest smallest) const {
  const Interval whole = log1p(-plan_.infinite_mass);  // H <= 1 - infinite mass
  const Interval wide{-infinity, whole.hi};
  const auto found = read(epsilon, smallest);
  if (found && found->line == nullptr) return {-infinity, std::min(whole.hi, log_chernoff(*found->saddle, epsilon))};
  if (!found) return {-infinity, std::min(whole.hi, log_chernoff({1, 1}, epsilon))};  // any order gives a bound
  const ContourLine::Value& value = found->value;
  const Interval bracket{value.value - value.below, value.value + value.above};
  if (found->line->order() < 0) {
    if (!(bracket.hi < infinity) || !(bracket.lo > -infinity)) return wide;
    // H + infinite mass = 1 - complement.
    const Interval complement = exp(value.base) * max(bracket, Interval::exactly(0));
    return min(log(1.0 - complement - plan_.infinite_mass), whole);
  }
  const Interval answer = log_of(value);
  if (answer.lo > -infinity || !found->saddle) return answer;
  return {-infinity, std::min(answer.hi, log_chernoff(*found->saddle, epsilon))};
}

Interval ContourSide::epsilon_of(Interval log_target) const {
  const QuestionScope question;
  if (log_target.lo == log_target.hi) return solve(log_target.lo);
  const Interval from_above = solve(log_target.hi), from_below = solve(log_target.lo);
  return {std::min(from_above.lo, from_below.lo), std::max(from_above.hi, from_below.hi)};
}

// [contour-epsilon] H decreases: the sign of a proved value at an end proves that end. All earlier values only guide the search.
Interval ContourSide::solve(double log_target) const {
  const auto zero = [&] { return log_profile_locked(0).hi <= log_target; };
  double epsilon = 0;
  const auto found = saddle_of(log_target, epsilon);
  if (!found) {  // no saddle point in range: any order gives a bound
    double best = plan_.largest_loss;
    for (double order = 1e-3; order < largest_order; order *= 100) best = std::min(best, chernoff_epsilon({order, 1}, log_target));
    return {0, best};
  }
  Interval answer{0, plan_.largest_loss};
  if (!(epsilon > 0)) {
    if (zero()) return Interval::exactly(0);
    epsilon = 0;
  }
  // Where log delta falls fast, a wider delta gives as narrow an epsilon.
  constexpr double share = 1e-10, least = 1e-10, most = 1e-8;
  findings().recurrence = std::clamp(share * found->order * epsilon, least, most);
  auto contour = line(*found, epsilon);
  // [contour-inversion] With rare large losses the saddle-point approximation is far too large, and so is that epsilon.
  for (int i = 0; i < 8 && (contour == nullptr || !(relative_width(contour->at(epsilon)) < 0.1)); ++i) {
    epsilon *= 0.6;
    const auto nearer = saddle(epsilon, false);
    contour = nearer && beside(*nearer, 0.7) ? line(*nearer, epsilon) : nullptr;
    if (contour == nullptr) break;
  }
  findings().recurrence = least;
  if (contour == nullptr || !(relative_width(contour->at(epsilon)) < 0.1))
    return {0, std::min(answer.hi, chernoff_epsilon(*found, log_target))};
  double slope = found->order, width = 0.1;
  const auto approach = [&] {
    // This epsilon was tried already. log delta is neither convex nor concave, and on a lattice it has kinks, so a Newton step may be too
    // long.
    double low = -1, high = infinity;
    for (int i = 0; i < 40; ++i) {
      const ContourLine::Value value = contour->at(epsilon);
      if (!(value.value > 0)) break;
      slope = -value.slope / value.value;
      width = relative_width(value);
      const double excess = 0.5 * (value.base.lo + value.base.hi) + std::log(value.value) - log_target;
      (excess > 0 ? low : high) = epsilon;
      const double next = std::clamp(epsilon + excess / slope, 0.0, answer.hi);
      if (!(std::abs(next - epsilon) > 2e-15 * std::abs(epsilon) + 1e-14 / slope)) break;
      epsilon = next > low && next < high ? next : 0.5 * (std::max(low, 0.0) + std::min(high, answer.hi));
    }
  };
  approach();
  for (int i = 0; i < 4 && !(width <= good); ++i) {  // the line was made for another epsilon
    const double before = epsilon;
    const auto here = saddle(epsilon, false);
    const auto nearer = here ? line(*here, epsilon) : nullptr;
    if (nearer == nullptr || nearer == contour || !(relative_width(nearer->at(epsilon)) < width)) break;
    contour = nearer;
    approach();
    if (std::abs(epsilon - before) < 1e-3 * before) break;
  }
  if (epsilon == 0 && zero()) return Interval::exactly(0);
  const double margin = std::max(1.05 * width / std::abs(slope), 2e-15 * epsilon + 1e-300);
  for (const double factor : {1.0, 4.0, 64.0, 1e4, 1e6})
    if (const double e = epsilon + factor * margin; e < answer.hi && log_of(contour->at(e)).hi <= log_target) {
      answer.hi = e;
      break;
    }
  for (const double factor : {1.0, 4.0, 64.0, 1e4, 1e6})
    if (const double e = epsilon - factor * margin; e > 0 && log_of(contour->at(e)).lo > log_target) {
      answer.lo = e;
      break;
    }
  if (answer.hi == plan_.largest_loss) answer.hi = std::min(answer.hi, chernoff_epsilon(*found, log_target));
  return answer;
}

std::optional<Interval> ContourSide::tail(double epsilon, Kernel kernel) const {
  const QuestionScope question;
  if (epsilon >= plan_.largest_loss) return Interval::exactly(0);
  auto known = by_known_line(epsilon, kernel);
  if (!known) {
    const auto found = saddle(epsilon, false);
    if (!found) return std::nullopt;
    const auto contour = line(*found, epsilon);
    if (contour == nullptr) return std::nullopt;
    known = {contour, contour->at(epsilon, kernel)};
  }
  const ContourLine::Value& value = known->value;
  const Interval bracket{value.value - value.below, value.value + value.above};
  if (!(bracket.lo > -infinity) || !(bracket.hi < infinity)) return std::nullopt;
  const Interval shift = kernel == Kernel::false_positive ? Interval::exactly(-epsilon) : Interval::exactly(0);
  return clamp(exp(value.base + shift) * max(bracket, Interval::exactly(0)) * Interval{1 - 1e-15, 1 + 1e-15}, 0, 1);
}

// [contour-inversion] On the strip -1 < order < 0 the sum is the complement itself.
std::optional<Interval> ContourSide::log_complement(double epsilon) const {
  const QuestionScope question;
  if (epsilon >= plan_.largest_loss) return plan_.log_survival;
  const auto found = saddle(epsilon, true);
  const auto contour = found ? line(*found, epsilon) : nullptr;
  if (contour == nullptr || !(contour->order() < 0)) return std::nullopt;
  const ContourLine::Value value = contour->at(epsilon);
  const Interval bracket{value.value - value.below, value.value + value.above};
  if (!(bracket.lo > 0) || !(bracket.hi < infinity)) return std::nullopt;
  return min(value.base + log(bracket * Interval{1 - 1e-15, 1 + 1e-15}), plan_.log_survival);
}

std::optional<LogLine> ContourSide::log_line(LineOf of, double start, double end) const {
  const QuestionScope question;
  const bool strip = of == LineOf::complement;
  if (!strip && start >= plan_.largest_loss) return LogLine{-infinity, -infinity};
  const double middle = end < plan_.largest_loss ? start + (end - start) / 2 : start;  // beyond the largest loss there is no saddle point
  if (!strip)
    if (const auto known = by_known_line(middle, Kernel::profile)) return known->line->log_line(start, end);
  const auto found = saddle(middle, strip);
  if (!found || (!strip && found->order * found->deviation < crowded) || recurs(found->order)) return std::nullopt;
  const auto contour = line(*found, middle);
  return contour != nullptr ? contour->log_line(start, end) : std::nullopt;
}

// [contour-arc]
std::optional<Arc> ContourSide::arc(double start, double end) const {
  const QuestionScope question;
  if (!(end <= plan_.largest_loss) || plan_.lattice) return std::nullopt;
  const auto at_start = saddle(start, false);
  const ContourMoments* moments = at_start ? rough(at_start->order) : nullptr;
  if (moments == nullptr || recurs(at_start->order)) return std::nullopt;
  double length = std::min(end - start, longest_arc * std::sqrt(moments->cumulant(at_start->order).variance));
  std::optional<Arc> best;
  double best_width = infinity;
  for (int attempt = 0; attempt < 3; ++attempt, length /= 2) {
    const auto found = read(start + length / 2, Smallest::exact);
    if (!found || found->line == nullptr) break;
    if (found->line->nodes() > most_nodes_of_arc) break;
    const auto arc = found->line->arc(start, length < end - start ? start + length : end);
    if (!arc) break;
    Work::count(work_of_node * static_cast<double>(Arc::size * found->line->nodes()));
    const double width = arc->error / *std::min_element(arc->values.begin(), arc->values.end());
    if (!(width >= 0 && width < 0.1 * best_width)) break;  // a shorter arc is as wide
    best = arc;
    best_width = width;
    if (width <= enough) break;
  }
  return best_width <= worst_arc ? best : std::nullopt;
}

// [contour-inversion] The effect of the errors of the line on log delta, each relative to the lower end of delta.
std::optional<Evaluation> ContourSide::evaluation(Direction direction, double epsilon) const {
  const QuestionScope question;
  const auto found = epsilon < plan_.largest_loss ? read(epsilon, Smallest::exact) : std::nullopt;
  if (!found) return std::nullopt;
  const auto& [line, value, saddle] = *found;
  const Interval bracket{value.value - value.below, value.value + value.above};
  if (!(bracket.lo > -infinity) || !(bracket.hi < infinity)) return std::nullopt;
  const Interval log_part = value.base + log(max(bracket, Interval::exactly(0)));
  const Interval infinite = plan_.infinite_mass;
  const Interval log_delta = line->order() < 0 ? log(max(1.0 - exp(log_part), Interval::exactly(0)))
                             : infinite.hi > 0 ? log_add_exp(log_part, log(infinite))
                                               : log_part;
  const double scale = std::exp(value.base.hi - log_delta.lo) * (1 + 1e-12);
  const double moments = -std::expm1(-value.base.width()) * std::max(bracket.lo, 0.0);
  return balanced({inversion_.step().theorem,
                   direction,
                   epsilon,
                   log_delta,
                   {{"nodes", line->nodes()}, {"quadrature points", line->points()}, {"march points", line->march()}},
                   {{"order", line->order()}, {"step", line->step()}},
                   {{"alias", value.alias * scale},
                    {"truncation", value.truncation * scale},
                    {"nodes", value.nodes * scale},
                    {"moments", moments * scale}}},
                  "");
}

class ContourLoss final : public Loss, public ClosedForms, public Evaluable {
 public:
  ContourLoss(ContourPlan remove, ContourPlan add, const Parts& parts, bool symmetric)
      : inversion_(citation_of(parts, remove.lattice.has_value())),
        laws_(citations_of_laws(parts)),
        remove_(std::move(remove), inversion_),
        add_(std::move(add), inversion_),
        symmetric_(symmetric),
        slack_(slack_of(parts)) {}
  void inherit(const ContourLoss& shorter) {
    remove_.inherit(shorter.remove_);
    if (!symmetric_ && !shorter.symmetric_) add_.inherit(shorter.add_);
  }

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    if (epsilon.lo < 0) return {delta_at(direction, epsilon.hi).lo, delta_at(direction, epsilon.lo).hi};
    return clamp(exp(log_delta_beyond_zero(direction, epsilon, Smallest::bounded)), 0, 1);
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    if (epsilon.lo < 0) return {log_delta_at(direction, epsilon.hi).lo, log_delta_at(direction, epsilon.lo).hi};
    return log_delta_beyond_zero(direction, epsilon, Smallest::exact);
  }
  [[nodiscard]] bool symmetric() const override { return symmetric_; }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override { return side(direction).plan().infinite_mass; }
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override;
  [[nodiscard]] std::optional<Test> test_at(Direction direction, double epsilon) const override;
  [[nodiscard]] std::optional<Interval> log_complement(Direction direction, double epsilon) const override {
    record_inversion();
    return slack_ > 0 ? std::nullopt : side(direction).log_complement(epsilon);
  }
  [[nodiscard]] std::optional<LogLine> log_line(LineOf of, Direction direction, double start, double end) const override;
  [[nodiscard]] std::optional<Arc> arc(Direction direction, double start, double end) const override;
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.closed_forms = this, .evaluable = this, .contours = this, .lattice = remove_.plan().lattice, .cost = Cost::engine};
  }
  void cite() const override { record(laws_); }
  void evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const override;
  [[nodiscard]] Interval log_finite(Direction direction, Interval epsilon) const {
    record_inversion();
    const Interval finite = side(direction).log_profile(epsilon, Smallest::exact);
    return slack_ > 0 ? Interval{(Interval::exactly(finite.lo) - Interval::exactly(slack_)).lo, finite.hi} : finite;
  }

 private:
  [[nodiscard]] const ContourSide& side(Direction direction) const { return direction == Direction::add && !symmetric_ ? add_ : remove_; }
  using Smallest = ContourSide::Smallest;
  [[nodiscard]] Interval log_delta_beyond_zero(Direction direction, Interval epsilon, Smallest smallest) const;
  [[nodiscard]] Interval log_delta_at(Direction direction, double epsilon) const {
    return epsilon < 0 ? log(mirrored(direction, epsilon)) : log_delta_beyond_zero(direction, Interval::exactly(epsilon), Smallest::exact);
  }
  [[nodiscard]] Interval delta_at(Direction direction, double epsilon) const {
    if (epsilon < 0) return mirrored(direction, epsilon);
    return clamp(exp(log_delta_beyond_zero(direction, Interval::exactly(epsilon), Smallest::bounded)), 0, 1);
  }
  [[nodiscard]] Interval mirrored(Direction direction, double epsilon) const {
    return mirrored_delta(epsilon, delta_at(opposite(direction), -epsilon));
  }

  [[nodiscard]] static Citation citation_of(const Parts& parts, bool folded);
  [[nodiscard]] static double slack_of(const Parts& parts);
  /// All answers below use the theorems of the parts and of the inversion.
  void record_inversion() const {
    record(laws_);
    record(inversion_);
  }

  Citation inversion_;
  Citations laws_;
  ContourSide remove_;
  ContourSide add_;
  bool symmetric_;
  double slack_;  // delta may be smaller by the exponential of this
};

Interval ContourLoss::log_delta_beyond_zero(Direction direction, Interval epsilon, Smallest smallest) const {
  const Interval infinite = infinite_mass(direction);
  cite();
  if (epsilon.lo == infinity) return log(infinite);
  record(inversion_);
  const Interval finite = side(direction).log_profile(epsilon, smallest);
  const Interval all = min(infinite.hi > 0 ? log_add_exp(finite, log(infinite)) : finite, Interval::exactly(0));
  return slack_ > 0 ? Interval{(Interval::exactly(all.lo) - Interval::exactly(slack_)).lo, all.hi} : all;
}

std::optional<Interval> ContourLoss::closed_epsilon(Direction direction, Interval delta) const {
  record_inversion();
  const Interval infinite = infinite_mass(direction);
  const auto solve = [&](double target) -> Interval {
    if (target >= 1) return Interval::exactly(0);
    if (target < infinite.lo) return Interval::exactly(infinity);
    const Interval finite = Interval::exactly(target) - infinite;
    if (!(finite.lo > 0)) return {0, infinity};
    return side(direction).epsilon_of(log(finite));
  };
  if (delta.lo == delta.hi && slack_ == 0) return solve(delta.lo);
  const double raised = slack_ > 0 ? (Interval::exactly(delta.hi) * exp(Interval::exactly(slack_))).hi : delta.hi;
  return Interval{solve(raised).lo, solve(delta.lo).hi};
}

// log(e^x + constant) is convex in x, so the line of H gives one of H and the infinite mass.
std::optional<LogLine> ContourLoss::log_line(LineOf of, Direction direction, double start, double end) const {
  if (of == LineOf::complement && slack_ > 0) return std::nullopt;
  const auto finite = side(direction).log_line(of, start, end);
  const Interval infinite = infinite_mass(direction);
  if (!finite) return finite;
  record_inversion();
  static const Citation line("contour-log-line", "between two points the sum over the nodes is held by its second derivative");
  record(line);
  const auto both = [&](double finite_log) {
    return infinite.hi > 0 && of == LineOf::delta ? log_add_exp(Interval::exactly(finite_log), log(infinite)).hi : finite_log;
  };
  return LogLine{both(finite->at_start), both(finite->at_end)};
}

std::optional<Arc> ContourLoss::arc(Direction direction, double start, double end) const {
  if (slack_ > 0 || infinite_mass(direction).hi > 0) return std::nullopt;
  auto found = side(direction).arc(start, end);
  if (!found) return found;
  record_inversion();
  static const Citation follows("contour-arc", "between two points the sum over the nodes is followed by a polynomial");
  record(follows);
  return found;
}

std::optional<Loss::Test> ContourLoss::test_at(Direction direction, double epsilon) const {
  if (epsilon < 0) {  // the loss of one order is minus the loss of the other, with the two distributions exchanged
    const auto other = test_at(opposite(direction), -epsilon);
    if (!other || infinite_mass(direction).hi > 0 || infinite_mass(opposite(direction)).hi > 0) return std::nullopt;
    return Test{1.0 - other->true_positive, 1.0 - other->false_positive};
  }
  record_inversion();
  const auto power = side(direction).tail(epsilon, Kernel::true_positive), size = side(direction).tail(epsilon, Kernel::false_positive);
  if (!power || !size) return std::nullopt;
  const Interval doubt{-slack_, slack_};
  return Test{clamp(*size + doubt, 0, 1), clamp(*power + infinite_mass(direction) + doubt, 0, 1)};
}

Citation ContourLoss::citation_of(const Parts& parts, bool folded) {
  std::uint64_t times = 0;
  for (const Part& part : parts) times += part.times;
  const std::string size = std::to_string(parts.size()) + " distinct mechanisms, " + std::to_string(times) + " steps: ";
  if (folded) return {"folded-contour", size + "Laplace inversion over one period of the lattice, every error term added", Method::contour};
  return {"contour-inversion", size + "Laplace inversion through the saddle point, every error term added", Method::contour};
}

double ContourLoss::slack_of(const Parts& parts) {
  Interval slack = Interval::exactly(0);
  for (const Part& part : parts)
    if (const Atoms* atoms = part.loss->transform(Direction::remove) == nullptr ? part.loss->atoms(Direction::remove) : nullptr)
      slack = slack - Interval::exactly(static_cast<double>(part.times)) * log1p(-Interval::exactly(atoms->slack));
  return slack.hi;
}

void ContourLoss::evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const {
  if (epsilon < 0) return evaluate(opposite(direction), -epsilon, found);  // [two-directions]
  if (auto one = side(direction).evaluation(direction, epsilon)) {
    if (slack_ > 0) {
      one->log_delta.lo = (Interval::exactly(one->log_delta.lo) - Interval::exactly(slack_)).lo;
      for (auto& [name, error] : one->errors) error *= std::exp(slack_) * (1 + 1e-15);
      one->errors.emplace_back("masses", std::expm1(slack_) * (1 + 1e-9));
      one = balanced(std::move(*one), "");
    }
    record_inversion();
    found.push_back(std::move(*one));
  }
}

bool collect(const Parts& parts, Direction direction, ContourPlan& plan) {
  Interval largest = Interval::exactly(0);
  for (const Part& part : parts) {
    const Interval times = Interval::exactly(static_cast<double>(part.times));
    if (part.times == 0) continue;
    if (part.times > (std::uint64_t{1} << 53)) return false;
    if (const auto mu = part.loss->gaussian_mu()) {
      if (!(mu->hi < infinity)) return false;
      plan.gaussian = plan.gaussian + times * square(*mu);
      if (mu->hi > 0) largest = Interval::exactly(infinity);
      plan.steps += times.lo;
      continue;
    }
    std::shared_ptr<const Transform> transform(part.loss, part.loss->transform(direction));  // lives as long as the loss
    if (const Atoms* atoms = part.loss->atoms(direction); transform == nullptr && atoms != nullptr) transform = atoms_transform(*atoms);
    if (transform == nullptr) return false;
    plan.items.push_back({part.loss, transform, times.lo});
    plan.steps += times.lo;
    plan.log_survival = plan.log_survival + times * log1p(-transform->infinite_mass());
    largest = largest + times * Interval::exactly(transform->largest_loss());
  }
  plan.infinite_mass = clamp(-expm1(plan.log_survival), 0, 1);
  plan.largest_loss = largest.hi;
  return plan.steps > 0;
}

LossPointer compose_by_contour(const Parts& parts, const ContourLoss* shorter) {
  ContourPlan remove, add;
  if (!collect(parts, Direction::remove, remove) || !collect(parts, Direction::add, add)) return nullptr;
  const bool symmetric = are_symmetric(parts);
  auto loss = std::make_shared<ContourLoss>(std::move(remove), std::move(add), parts, symmetric);
  if (shorter != nullptr) loss->inherit(*shorter);
  return loss;
}

Interval log_finite_delta(const ContourLoss& contour, Direction direction, Interval epsilon) {
  return contour.log_finite(direction, epsilon);
}

// [folded-contour] The losses of an even number of steps are multiples of the lattice step, even if a single step has odd multiples of its
// half.
LossPointer compose_by_folded_contour(const Parts& parts) {
  if (parts.size() != 1 || !parts.front().loss->symmetric()) return nullptr;
  const Part& part = parts.front();
  const auto lattice = part.loss->lattice();
  ContourPlan plan;
  if (!lattice || !(lattice->step.lo > 0) || !collect(parts, Direction::remove, plan)) return nullptr;
  plan.lattice = LossLattice{lattice->step, lattice->odd_half_steps && part.times % 2 != 0};
  return std::make_shared<ContourLoss>(plan, plan, parts, true);
}

}  // namespace tradeoff::detail
