// SPDX-License-Identifier: Apache-2.0
#include "engine/contour/truncated.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "engine/contour/contour.h"
#include "loss/evaluation.h"
#include "loss/question_scope.h"
#include "loss/transform.h"
#include "loss/truncation.h"
#include "numeric/arithmetic.h"
#include "transform/atoms_transform.h"

// [truncated-contour]
namespace tradeoff::detail {
namespace {

constexpr int highest_level = 50;                           // 10^-300
constexpr int most_levels = 6;                              // for one question
constexpr double unseen = 1e-10;                            // what a level may lose, relative to delta
constexpr double narrow_enough = 1e-9;                      // a narrower log delta needs no other level
constexpr double window_ratio = 1.15;                       // of neighbouring ends of events
constexpr double own_deviations = 4, other_deviations = 6;  // from epsilon to the end of the events
constexpr std::size_t most_kept_events = 256;
constexpr int most_search_steps = 16;  // for an epsilon

const Truncation* truncation_of(const Part& part) { return part.loss->capabilities(Direction::remove).truncation; }

/// log of an upper bound of E_Q e^(-order L), which is at least 0.
double log_fall(const Part& part, double order) {
  if (const auto mu = part.loss->gaussian_mu())
    return (square(*mu) * (Interval::exactly(order) * (Interval::exactly(order) + 1.0) / 2.0)).hi;
  const Transform* transform = part.loss->transform(Direction::add);
  std::shared_ptr<const Transform> of_atoms;
  if (transform == nullptr) of_atoms = atoms_transform(*part.loss->atoms(Direction::add)), transform = of_atoms.get();
  const auto moments = transform != nullptr ? transform->prepare({order, order, 1, 0, false, 0, 0}) : nullptr;
  // An infinite loss of the other direction is a loss of -infinity here.
  if (moments == nullptr || part.loss->infinite_mass(Direction::add).hi > 0) return infinity;
  return std::max(0.0, moments->log_moment_above(order));
}

/// The composition of the parts on events. Outside, some loss is too large, or too small.
class OnEvents {
 public:
  /// The events have these ends, or reach as far as is known. Null if a part is not known on an event.
  [[nodiscard]] static std::shared_ptr<const OnEvents> make(const Parts& parts, int level, Interval ends);

  /// Encloses log delta at an epsilon >= 0.
  [[nodiscard]] Interval log_delta(Direction direction, double epsilon) const;
  [[nodiscard]] std::optional<Loss::Test> test_at(Direction direction, double epsilon) const;
  [[nodiscard]] const Loss& contour() const { return *contour_; }
  [[nodiscard]] Interval epsilon_inside(Direction direction, double epsilon) const {
    return direction == Direction::remove ? Interval::exactly(epsilon) + shift_ : Interval::exactly(epsilon) - shift_;
  }
  [[nodiscard]] Interval log_event(Direction direction) const { return direction == Direction::remove ? log_p_ : log_q_; }
  /// The deviations of the loss under Q: of one part that is truncated, and of all others together.
  struct Deviations {
    double own = 0, others = 0;
  };
  [[nodiscard]] Deviations deviations() const;

 private:
  struct Run {
    std::shared_ptr<const TruncatedPair> pair;  // null if the whole part is used
    Part part;                                  // inside its event
  };
  void find_bounds();
  [[nodiscard]] double log_fall_of(const Run& run, double order) const;
  struct Chernoff {
    double order, log_moment;
  };
  /// An upper bound of Q(some loss is too large, the sum is at most x).
  [[nodiscard]] double above_but_less(double x) const;
  /// P and Q of the losses that the direction counts (too large for remove, too small for add), of the others, and how much of either is on
  /// the wrong side of epsilon.
  struct Outside {
    TruncatedPair::Probabilities beyond, behind;
    double beyond_q = 0, behind_p = 0;
  };
  [[nodiscard]] Outside outside(Direction direction, double epsilon) const;

  std::vector<Run> runs_;
  LossPointer contour_;
  Interval log_p_ = Interval::exactly(0), log_q_ = Interval::exactly(0);  // of all events
  Interval shift_ = Interval::exactly(0);                                 // from the loss to that inside
  TruncatedPair::Probabilities above_, below_;                            // at least one of them
  std::vector<Chernoff> above_bounds_;
};

std::shared_ptr<const OnEvents> OnEvents::make(const Parts& parts, int level, Interval ends) {
  auto made = std::make_shared<OnEvents>();
  Parts inside;
  const Interval zero = Interval::exactly(0);
  TruncatedPair::Probabilities not_above{zero, zero}, not_below{zero, zero};  // logarithms
  for (const Part& part : parts) {
    Run run{nullptr, part};
    if (const Truncation* truncation = truncation_of(part)) {
      run.pair = truncation->truncated(level, ends);
      if (run.pair == nullptr) return nullptr;
      run.part.loss = run.pair->inside();
      const auto event = run.pair->event(), above = run.pair->above(), below = run.pair->below();
      if (!(event.p.lo > 0 && event.q.lo > 0)) return nullptr;
      const Interval times = Interval::exactly(static_cast<double>(part.times));
      made->log_p_ = made->log_p_ + times * log(event.p);
      made->log_q_ = made->log_q_ + times * log(event.q);
      made->shift_ = made->shift_ - times * run.pair->log_ratio();
      not_above = {not_above.p + times * log1p(-above.p), not_above.q + times * log1p(-above.q)};
      not_below = {not_below.p + times * log1p(-below.p), not_below.q + times * log1p(-below.q)};
    }
    inside.push_back(run.part);
    made->runs_.push_back(std::move(run));
  }
  const auto some = [](Interval log_none) { return clamp(-expm1(log_none), 0, 1); };
  made->above_ = {some(not_above.p), some(not_above.q)};
  made->below_ = {some(not_below.p), some(not_below.q)};
  made->contour_ = compose_by_contour(inside);
  if (made->contour_ == nullptr) return nullptr;
  made->find_bounds();
  return made;
}

OnEvents::Deviations OnEvents::deviations() const {
  double own = 0, all = 0;
  for (const Run& run : runs_) {
    double variance = 0;
    if (const auto mu = run.part.loss->gaussian_mu())
      variance = mu->hi * mu->hi;
    else if (const Transform* transform = run.part.loss->transform(Direction::add))
      if (const auto moments = transform->prepare({0, 1, 1, 0, true, 0, 0})) variance = moments->cumulant(0).variance;
    all += static_cast<double>(run.part.times) * variance;
    if (run.pair != nullptr) own = std::max(own, variance);
  }
  return {std::sqrt(own), std::sqrt(std::max(0.0, all - own))};
}

/// The same for one run whose loss is not too small: inside its event, or too large.
double OnEvents::log_fall_of(const Run& run, double order) const {
  const double inside = log_fall(run.part, order);
  if (run.pair == nullptr) return inside;
  const auto event = run.pair->event();
  const double moved = (log(event.q) - Interval::exactly(order) * run.pair->log_ratio()).hi;
  return std::max(0.0, log_add_exp(Interval::exactly(inside + moved), Interval::exactly(run.pair->log_moment_above_event(order))).hi);
}

/// One of the losses that are too large, and all the others.
void OnEvents::find_bounds() {
  const auto [own, others] = deviations();
  for (double order = 0.1 / (own + others); order < 200 / own; order *= 1.4) {
    double sum = -infinity;
    for (const Run& one : runs_) {
      if (one.pair == nullptr) continue;
      double log_moment = one.pair->log_moment_above_event(order) + std::log(static_cast<double>(one.part.times));
      for (const Run& other : runs_) {
        const double times = static_cast<double>(other.part.times) - (&other == &one ? 1 : 0);
        if (times > 0) log_moment += times * log_fall_of(other, order);
      }
      sum = std::max(sum, log_moment) + std::log1p(std::exp(-std::abs(sum - log_moment)));
    }
    above_bounds_.push_back({order, sum + 1e-9 * (1 + std::abs(sum))});
  }
}

// With a loss that is too small, any other one may be too large.
double OnEvents::above_but_less(double x) const {
  double least = 0;
  for (const auto& [order, log_moment] : above_bounds_) least = std::min(least, log_moment + order * x + 1e-12 * (1 + std::abs(order * x)));
  return std::min(above_.q.hi, (exp(Interval::exactly(least)) + above_.q * below_.q).hi);
}

OnEvents::Outside OnEvents::outside(Direction direction, double epsilon) const {
  const bool remove = direction == Direction::remove;
  const double less = above_but_less(remove ? epsilon : -epsilon);
  if (remove) return {above_, below_, less, below_.p.hi};
  // In the other order P and Q change places.
  return {{below_.q, below_.p}, {above_.q, above_.p}, below_.p.hi, less};
}

/// Beyond the events the hockey stick is P - e^epsilon Q, and more by e^epsilon Q(on the wrong side of epsilon); behind them it is at most
/// P(on the wrong side).
Interval OnEvents::log_delta(Direction direction, double epsilon) const {
  const Interval inside = contour_->log_delta(direction, epsilon_inside(direction, epsilon)) + log_event(direction);
  const Outside rest = outside(direction, epsilon);
  const Interval factor = exp(Interval::exactly(epsilon)), linear = rest.beyond.p - factor * rest.beyond.q;
  const double above = std::min(rest.beyond.p.hi, (linear + factor * Interval::exactly(rest.beyond_q)).hi);
  const Interval beyond{std::max(0.0, std::min(linear.lo, above)), std::max(0.0, above)};
  return min(log_add_exp(inside, log(beyond + Interval{0, rest.behind_p})), Interval::exactly(0));
}

std::optional<Loss::Test> OnEvents::test_at(Direction direction, double epsilon) const {
  const Interval point = epsilon_inside(direction, epsilon);
  const auto low = contour_->test_at(direction, point.lo), high = contour_->test_at(direction, point.hi);
  if (!low || !high) return std::nullopt;
  const Outside rest = outside(direction, epsilon);
  const Interval factor = exp(Interval::exactly(epsilon));
  // Q on the wrong side behind the events is less than e^-epsilon P there, and P beyond them less than e^epsilon Q.
  const Interval beyond_q = rest.beyond.q - Interval{0, rest.beyond_q}, beyond_p = rest.beyond.p - factor * Interval{0, rest.beyond_q};
  const Interval behind_p{0, rest.behind_p}, behind_q = Interval{0, rest.behind_p} / factor;
  const auto both = [](Interval a, Interval b) { return Interval{std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; };
  const Interval size = exp(log_event(opposite(direction))) * both(low->false_positive, high->false_positive);
  const Interval power = exp(log_event(direction)) * both(low->true_positive, high->true_positive);
  return Loss::Test{clamp(size + max(beyond_q, Interval::exactly(0)) + behind_q, 0, 1),
                    clamp(power + max(beyond_p, Interval::exactly(0)) + behind_p, 0, 1)};
}

class TruncatedContour final : public Loss, public ClosedForms, public Evaluable {
 public:
  explicit TruncatedContour(const Parts& parts) : parts_(parts), symmetric_(are_symmetric(parts)) {
    for (const Part& part : parts)
      if (truncation_of(part) != nullptr) runs_ += static_cast<double>(part.times);
  }

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    return clamp(exp(log_delta(direction, epsilon)), 0, 1);
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    const QuestionScope question;
    if (epsilon.lo == epsilon.hi) return at(direction, epsilon.lo);
    return {at(direction, epsilon.hi).lo, at(direction, epsilon.lo).hi};
  }
  [[nodiscard]] bool symmetric() const override { return symmetric_; }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override { return infinite_mass_of(parts_, direction); }
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.closed_forms = this, .evaluable = this, .cost = Cost::engine};
  }
  void cite() const override {
    for (const Part& part : parts_) part.loss->cite();
  }

  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override;
  [[nodiscard]] std::optional<double> rough_delta(Direction direction, double epsilon) const override {
    const Unrecorded steering;
    const Interval found = delta(direction, Interval::exactly(epsilon));
    return found.lo > 0 ? std::sqrt(found.lo * found.hi) : found.hi / 2;
  }
  [[nodiscard]] std::optional<Test> test_at(Direction direction, double epsilon) const override {
    if (epsilon < 0) {  // the loss of one order is minus the loss of the other, with the two distributions exchanged
      const auto other = test_at(opposite(direction), -epsilon);
      if (!other || infinite_mass(direction).hi > 0 || infinite_mass(opposite(direction)).hi > 0) return std::nullopt;
      return Test{1.0 - other->true_positive, 1.0 - other->false_positive};
    }
    const QuestionScope question;
    const auto events = answer(direction, epsilon).events;
    return events != nullptr ? events->test_at(direction, epsilon) : std::nullopt;
  }
  void evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const override;

 private:
  using Events = std::shared_ptr<const OnEvents>;
  struct Answer {
    Interval log_delta{-infinity, 0};
    Events events;
  };
  static void record_truncation() {
    static const Citation citation("truncated-contour", "rare losses outside events of nearly full probability are counted apart",
                                   Method::contour);
    record(citation);
  }

  [[nodiscard]] Interval at(Direction direction, double epsilon) const;
  [[nodiscard]] Answer answer(Direction direction, double epsilon) const;
  [[nodiscard]] int level_for(double log_delta) const;
  [[nodiscard]] Events events_for(Direction direction, double epsilon, int level) const;
  [[nodiscard]] Events events(int level, std::optional<int> window, Interval ends) const;
  [[nodiscard]] double guess_epsilon(Direction direction, double log_target, int level) const;
  [[nodiscard]] Interval solved(Direction direction, Interval log_target, int level, double guess) const;

  struct Kept {
    std::set<int> levels;  // whose work was counted for this question
  };

  Parts parts_;
  bool symmetric_;
  double runs_ = 0;  // of truncated parts
  std::uint64_t number_ = QuestionScope::new_owner();
  mutable std::mutex lock_;
  mutable std::map<std::pair<int, std::optional<int>>, Events> events_;  // by level and window; for later questions
};

Interval TruncatedContour::at(Direction direction, double epsilon) const {
  if (epsilon == infinity) return log(infinite_mass(direction));
  if (epsilon == -infinity) return Interval::exactly(0);
  if (epsilon < 0)
    return log(clamp(-expm1(Interval::exactly(epsilon)) + exp(Interval::exactly(epsilon) + at(opposite(direction), -epsilon)), 0,
                     1));  // [two-directions]
  return answer(direction, epsilon).log_delta;
}

/// The level at which little is lost against a delta.
int TruncatedContour::level_for(double log_delta) const {
  const double digits = (std::log(runs_) - std::log(unseen) - log_delta) / std::numbers::ln10;
  return std::clamp(static_cast<int>(std::ceil(digits / 6)), 1, highest_level);
}

/// The events of a level and a window. Those that are kept count the work of their level for every question.
TruncatedContour::Events TruncatedContour::events(int level, std::optional<int> window, Interval ends) const {
  const bool is_new = QuestionScope::state_of<Kept>(number_).levels.insert(level).second;
  const std::lock_guard guard(lock_);
  const auto known = events_.find({level, window});
  if (known == events_.end()) {
    if (events_.size() >= most_kept_events) events_.clear();
    return events_[{level, window}] = OnEvents::make(parts_, level, ends);
  }
  if (is_new)
    for (const Part& part : parts_)
      if (const Truncation* truncation = truncation_of(part)) (void)truncation->truncated(level, ends);
  return known->second;
}

/// In the remove direction events end beyond epsilon, so far that whatever the other losses are, a larger one exceeds it: then the order of
/// the contour is not limited by the heavy tail.
TruncatedContour::Events TruncatedContour::events_for(Direction direction, double epsilon, int level) const {
  const Events whole = events(level, std::nullopt, Interval::whole());
  if (direction == Direction::add || whole == nullptr) return whole;
  const auto [own, others] = whole->deviations();
  const double margin = own_deviations * own + other_deviations * others;
  const int window = static_cast<int>(std::ceil(std::log((epsilon + margin) / margin) / std::log(window_ratio)));
  const Events near = events(level, window, {-infinity, margin * std::pow(window_ratio, window)});
  return near != nullptr ? near : whole;
}

TruncatedContour::Answer TruncatedContour::answer(Direction direction, double epsilon) const {
  Answer found;
  int level = level_for(0);
  for (int i = 0; i < most_levels; ++i) {
    const Events events = events_for(direction, epsilon, level);
    if (events == nullptr) break;
    found.events = events;
    found.log_delta = intersect(found.log_delta, events->log_delta(direction, epsilon));
    if (found.log_delta.width() <= narrow_enough) break;
    const int needed = found.log_delta.lo > -infinity ? level_for(found.log_delta.lo) : std::min(highest_level, 2 * level + 2);
    if (needed <= level) break;
    level = needed;
  }
  if (found.events != nullptr) record_truncation();
  return found;
}

/// About the epsilon of a delta.
double TruncatedContour::guess_epsilon(Direction direction, double log_target, int level) const {
  const Unrecorded steering;
  const Events whole = events(level, std::nullopt, Interval::whole());
  const auto rough = whole != nullptr ? whole->contour().closed_epsilon(direction, exp(Interval::exactly(log_target))) : std::nullopt;
  return !rough ? 0 : rough->hi < infinity ? middle_of(*rough) : rough->lo;
}

std::optional<Interval> TruncatedContour::closed_epsilon(Direction direction, Interval delta) const {
  if (!(delta.lo > 0)) return std::nullopt;
  const QuestionScope question;
  const Interval log_target = log(delta);
  int level = level_for(log_target.lo);
  while (level > 1 && events_for(direction, 0, level) == nullptr) --level;
  if (events_for(direction, 0, level) == nullptr) return std::nullopt;
  record_truncation();
  Interval found = solved(direction, log_target, level, guess_epsilon(direction, log_target.lo, level));
  // Events that reach further need not be better: what is known of their tails may be less than what lies outside of shorter ones.
  if (constexpr double narrow = 1e-6;
      symmetric_ && level > 1 && !(found.width() <= narrow * found.hi) && events_for(direction, 0, level - 1) != nullptr)
    found = intersect(found, solved(direction, log_target, level - 1, middle_of(found)));
  return found;
}

/// [contour-epsilon] delta decreases: a proved value at an end proves that end. All earlier values only guide the search.
Interval TruncatedContour::solved(Direction direction, Interval log_target, int level, double guess) const {
  Interval found{0, infinity};
  const auto value = [&](double epsilon) {
    const Events events = events_for(direction, epsilon, level);
    return events != nullptr ? events->log_delta(direction, epsilon) : Interval{-infinity, 0};
  };
  if (const Interval zero = value(0); zero.hi <= log_target.lo) return Interval::exactly(0);
  double epsilon = guess, slope = 0, width = infinity, before = 0, before_excess = 0;
  for (int i = 0; i < most_search_steps; ++i) {
    const Interval here = value(epsilon);
    if (!(here.lo > -infinity)) break;
    width = here.width() + log_target.width();
    const double excess = middle_of(here) - middle_of(log_target);
    if (i > 0 && epsilon != before) slope = (before_excess - excess) / (epsilon - before);
    if (!(slope > 0)) slope = std::max(1.0, -middle_of(log_target)) / std::max(epsilon, 1e-9);
    if (std::abs(excess) < 0.05 * width) break;
    before = std::exchange(epsilon, std::clamp(epsilon + excess / slope, 0.3 * epsilon, 3 * epsilon + 1e-12));
    before_excess = excess;
    if (std::abs(epsilon - before) < 4 * unit_roundoff * epsilon) break;
  }
  if (!(width < infinity)) return found;
  const double margin = 0.6 * width / slope + 4 * unit_roundoff * epsilon;
  for (double factor = 1; factor < 1e7 && found.hi == infinity; factor *= factor < 8 ? 1.5 : 8)
    if (const double end = epsilon + factor * margin; value(end).hi <= log_target.lo) found.hi = end;
  for (double factor = 1; factor < 1e7 && found.lo == 0 && factor * margin < epsilon; factor *= factor < 8 ? 1.5 : 8)
    if (const double end = epsilon - factor * margin; value(end).lo > log_target.hi) found.lo = end;
  return found;
}

/// The terms of the contour, and of what lies outside the events.
void TruncatedContour::evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const {
  if (epsilon < 0) return evaluate(opposite(direction), -epsilon, found);  // [two-directions]
  const QuestionScope question;
  const auto [log_delta, events] = answer(direction, epsilon);
  if (events == nullptr) return;
  for (Evaluation& one : evaluations_of(events->contour(), direction, middle_of(events->epsilon_inside(direction, epsilon)))) {
    const double share = std::exp(one.log_delta.lo + events->log_event(direction).lo - log_delta.lo);
    one.epsilon = epsilon;
    one.log_delta = log_delta;
    for (auto& [name, error] : one.errors) error *= share;
    found.push_back(balanced(std::move(one), "outside the events"));
  }
}

}  // namespace

LossPointer compose_by_truncated_contour(const Parts& parts) {
  if (std::none_of(parts.begin(), parts.end(), [](const Part& part) { return truncation_of(part) != nullptr; })) return nullptr;
  for (const Part& part : parts) {
    const Capabilities known = part.loss->capabilities(Direction::remove), other = part.loss->capabilities(Direction::add);
    const bool transforms = known.transform != nullptr && other.transform != nullptr,
               atoms = known.atoms != nullptr && other.atoms != nullptr;
    if (known.truncation == nullptr && !known.gaussian_mu && !transforms && !atoms) return nullptr;
  }
  return std::make_shared<TruncatedContour>(parts);
}

}  // namespace tradeoff::detail
