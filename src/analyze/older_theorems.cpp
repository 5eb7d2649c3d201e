// SPDX-License-Identifier: Apache-2.0
#include "analyze/older_theorems.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "analyze/berry_esseen.h"
#include "curve/curve_state.h"
#include "engine/compose.h"
#include "engine/moments/renyi_sum.h"
#include "loss/forwarding_loss.h"
#include "loss/gaussian_profile.h"
#include "loss/negligible.h"
#include "loss/question_scope.h"
#include "loss/recording.h"
#include "mechanism/constraints.h"
#include "mechanism/renyi_bound.h"
#include "numeric/arithmetic.h"
#include "operators/duality.h"
#include "operators/loss_moments.h"
#include "operators/refine.h"
#include "tradeoff/error.h"
#include "tradeoff/gdp.h"

namespace tradeoff::detail {
namespace {

constexpr double narrow_with_slow_parts = 1e-4;  // one guarantee of a part that needs an engine is a slow search, and loses more than this
constexpr std::size_t most_stated = 16;          // parts that are stated by one guarantee each; more would take long to compose

/// Each part by one (epsilon, delta), where `share` of `delta` is divided equally among the runs that have no largest loss. Empty if some
/// part has no finite epsilon there. [classical-composition]
std::optional<Parts> one_guarantee_each(const Parts& parts, double delta, double share) {
  Interval floors = Interval::exactly(0), sharers = Interval::exactly(0);
  for (const Part& part : parts) {
    const Interval times = Interval::exactly(static_cast<double>(part.times));
    floors = floors + times * Profile(*part.loss, Direction::worst).infinite_mass();
    if (!(part.loss->tail().zero_from < infinity)) sharers = sharers + times;
  }
  // Slightly below the equal share, so that the sum certainly stays within delta.
  const double each = sharers.hi > 0 ? std::max(0.0, ((delta - floors) * share / sharers).lo) * (1 - 1e-12) : 0;
  Parts stated;
  for (const Part& part : parts) {
    const Profile profile(*part.loss, Direction::worst);
    const double zero_from = part.loss->tail().zero_from;
    const double at = zero_from < infinity ? 0 : std::min(1.0, (profile.infinite_mass() + each).hi);
    const Interval epsilon = zero_from < infinity ? Interval::exactly(zero_from) : invert_profile(profile, Interval::exactly(at));
    if (!(epsilon.hi < infinity)) return std::nullopt;
    const Guarantee one{Interval::exactly(epsilon.hi), Interval::exactly(at)};
    stated.push_back({std::make_shared<ConstraintsLoss>(std::vector<Guarantee>{one}), part.times});
  }
  return stated;
}

/// The mu to which those of the parts compose, with a slack, and the largest mu that a part needs.
struct ComposedMu : GdpPair {
  NeededMu largest;
};

/// Each part by its mu and a slack: the probability of an infinite loss and an equal share of half of the rest of `delta`; without a slack
/// where `delta` is 0. The mu of the whole, and its slack. Empty if some part has no finite mu. [slack-pair]
std::optional<ComposedMu> composed_mu(const Parts& parts, double delta, Tolerance tolerance) {
  Interval floors = Interval::exactly(0), runs = Interval::exactly(0);
  std::vector<Interval> masses;
  for (const Part& part : parts) {
    const Interval times = Interval::exactly(static_cast<double>(part.times));
    masses.push_back(Profile(*part.loss, Direction::worst).infinite_mass());
    floors = floors + times * masses.back();
    runs = runs + times;
  }
  // Without a slack an infinite loss is excluded by the finite mu itself: the mass of a truncated table is known only up to rounding.
  if (delta > 0 ? !(floors.hi < delta) : floors.lo > 0) return std::nullopt;
  const double share = delta > 0 ? ((delta - floors) / (2.0 * runs)).lo : 0;
  if (delta > 0 && !(share > 0)) return std::nullopt;  // delta is among the smallest doubles
  Interval squares = Interval::exactly(0), log_kept = Interval::exactly(0);
  NeededMu largest;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Interval times = Interval::exactly(static_cast<double>(parts[i].times));
    const Interval slack = Interval::exactly(delta > 0 ? numeric::add_up(masses[i].hi, share) : 0);
    const Curve alone = curve_from(parts[i].loss, Neighbours::unstated, tolerance);
    const GdpPair pair = measure_mu(alone, {slack}).with_slack.front();
    if (!(pair.mu.hi < infinity)) return std::nullopt;
    squares = squares + times * square(pair.mu);
    if (pair.mu.lo > largest.mu) largest = {pair.mu.lo, pair.at_epsilon};
    log_kept = log_kept + times * log1p(-pair.slack);
  }
  return ComposedMu{{sqrt(squares), clamp(-expm1(log_kept), 0, 1), 0}, largest};
}

void cite_pairs(const Loss& composed) {
  static const Citation pairs("slack-pair", "each part by its mu and a slack: the squares of mu add, and so do the slacks at most");
  composed.cite();
  record(pairs);
}

/// The mu of a composition by the mu of each part, found at the first question that it may decide. [slack-pair]
class MuOfParts {
 public:
  MuOfParts(const Loss& composed, Parts alone, Tolerance tolerance) : composed_(composed), alone_(std::move(alone)), tolerance_(tolerance) {
    for (const Part& part : alone_) runs_ += part.times;
  }

  /// Whether other questions than mu ask for it: the mu of a single run is that of its profile, and many distinct parts take long.
  [[nodiscard]] bool is_asked() const { return runs_ > 1 && alone_.size() <= most_stated; }
  /// No mu is below this: that of each part at epsilon 0.
  [[nodiscard]] Interval mu_below() const {
    std::call_once(looked_, [this] {
      const Unrecorded in_advance;
      Interval squares = Interval::exactly(0);
      for (const Part& part : alone_) {
        const Interval none = Interval::exactly(0), advantage = refine(part.loss)->delta(Direction::remove, none);
        squares = squares + Interval::exactly(static_cast<double>(part.times)) * square(gaussian_mu(none, clamp(advantage, 0, 1)));
      }
      below_ = sqrt(squares).lo;
    });
    return Interval::exactly(below_);
  }
  [[nodiscard]] std::optional<Interval> mu_in_advance() const {
    if (runs_ <= 1) return std::nullopt;
    std::call_once(measured_, [this] { steps_ = citations_of([this] { known_ = composed_mu(alone_, 0, tolerance_); }); });
    return known_ ? std::optional(known_->mu) : std::nullopt;
  }
  /// What one of the parts needs.
  [[nodiscard]] std::optional<NeededMu> needed() const { return mu_in_advance() ? std::optional(known_->largest) : std::nullopt; }
  void cite() const {
    record(steps_);
    cite_pairs(composed_);
  }
  [[nodiscard]] std::optional<Interval> mu() const {
    const auto known = mu_in_advance();
    if (known) cite();
    return known;
  }

 private:
  const Loss& composed_;
  Parts alone_;
  Tolerance tolerance_;
  std::uint64_t runs_ = 0;
  mutable std::once_flag looked_, measured_;
  mutable double below_ = 0;
  mutable std::optional<ComposedMu> known_;
  mutable Citations steps_;  // by which the mu of the parts are known
};

/// [older-theorems]
class OlderTheorems final : public ForwardingLoss {
 public:
  OlderTheorems(LossPointer composed, Parts parts, Parts alone, Tolerance tolerance, bool divergences_stated)
      : composed_(std::move(composed)),
        pair_{composed_.get()},
        divergences_(parts),
        tolerance_(tolerance),
        narrow_(tolerance.relative),
        divergences_stated_(divergences_stated) {
    if (divergences_stated) stated_ = parts;
    for (Part& part : parts) {
      if (!part.loss->is_pair()) part.loss = refine(std::move(part.loss));
      if (part.loss->cost() != Cost::formula) narrow_ = std::max(narrow_, narrow_with_slow_parts);
    }
    pairs_ = std::move(parts);
    alone_ = alone.empty() ? pairs_ : std::move(alone);
    for (const Part& part : alone_) points_known_ = points_known_ || !part.loss->is_pair();
  }

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    const RecordedSince own;
    const Interval found = composed_->delta(direction, epsilon);
    if (epsilon.hi == infinity) return found;  // only the mass at infinite loss is left, which bounds do not know
    if (!is_smaller_known() && (found.width() <= narrow_ * found.hi || found.hi <= Negligible::delta())) return found;
    const Interval better = improved(own, log(found), -infinity, [&] { return log_delta_above(direction, epsilon, found.hi); });
    return at_least_a_part(better == log(found) ? found : clamp(exp(better), 0, 1), direction, epsilon);
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    const RecordedSince own;
    const Interval found = composed_->log_delta(direction, epsilon);
    if (epsilon.hi == infinity) return found;
    if (!is_smaller_known() && (found.width() <= narrow_ || found.hi <= Negligible::log_of_doubles)) return found;
    return improved(own, found, -infinity, [&] { return log_delta_above(direction, epsilon, exp(Interval::exactly(found.hi)).hi); });
  }
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override {
    const RecordedSince own;
    std::optional<Interval> known = composed_->closed_epsilon(direction, delta);
    if (!known && is_smaller_known()) known = invert_profile(Profile(*composed_, direction), delta);
    if (!known) return known;
    const Interval found = *known;
    const bool tight = found.hi == 0 || (found.hi < infinity && found.width() <= narrow_ * found.hi);
    // The pair that takes the place of a list of points has a mass at infinite loss, which the list itself may not have.
    const bool infinite = found.lo == infinity && !points_known_;
    if ((!is_smaller_known() && tight) || infinite || !(delta.lo > 0)) return known;
    return improved(own, found, 0, [&] { return epsilon_above(direction, delta); });
  }
  /// The test of the pair need not be one of the mechanisms that stated divergences cover.
  [[nodiscard]] std::optional<Test> test_at(Direction direction, double epsilon) const override {
    return divergences_stated_ ? std::nullopt : ForwardingLoss::test_at(direction, epsilon);
  }
  [[nodiscard]] std::optional<Interval> closed_beta(Direction direction, Interval alpha) const override {
    return divergences_stated_ ? std::nullopt : ForwardingLoss::closed_beta(direction, alpha);
  }
  [[nodiscard]] std::optional<Interval> closed_mu() const override {
    return divergences_stated_ ? std::nullopt : ForwardingLoss::closed_mu();
  }
  [[nodiscard]] std::optional<Interval> mu_above() const override {
    const auto known = gaussian_composition(0);
    return known ? std::optional(known->mu) : std::nullopt;
  }
  [[nodiscard]] std::optional<NeededMu> mu_below() const override {
    const auto known = gaussian_composition(0);
    return known ? std::optional(known->largest) : std::nullopt;
  }
  [[nodiscard]] std::optional<LogLine> divergence_line(Direction direction, double start, double end) const override {
    return divergences_.line(direction, start, end);
  }
  [[nodiscard]] std::optional<Interval> log_complement(Direction direction, double epsilon) const override {
    if (!divergences_stated_) return ForwardingLoss::log_complement(direction, epsilon);
    const Interval pair = composed_->log_complement(direction, epsilon), conversion = divergences_.log_delta(direction, epsilon);
    const Interval rest = log(max(-expm1(conversion), Interval::exactly(0)));
    record(smaller_bound());
    return max(pair, rest);
  }
  [[nodiscard]] std::optional<std::vector<Guarantee>> guarantees(Direction direction) const override {
    return divergences_stated_ ? std::nullopt : ForwardingLoss::guarantees(direction);
  }
  [[nodiscard]] std::optional<double> rough_delta(Direction direction, double epsilon) const override {
    std::optional<double> rough = ForwardingLoss::rough_delta(direction, epsilon);
    if (!divergences_stated_ || !rough) return rough;
    const Unrecorded steers;
    const Interval at = Interval::exactly(epsilon);
    rough = std::min(*rough, exp(divergences_.log_delta(direction, epsilon)).hi);
    for (const auto& known : mu_of_stated(*rough))
      rough = std::min(*rough, (known.slack + (1.0 - known.slack) * gaussian_delta(known.mu, at)).hi);
    return rough;
  }
  [[nodiscard]] Tail tail() const override {
    Tail tail = composed_->tail();
    // A mass at infinite loss makes every divergence infinite, so that the pair alone decides.
    const auto is_revealed = [this](Direction direction) { return composed_->infinite_mass(direction).lo > 0; };
    if (!divergences_stated_ || is_revealed(Direction::remove) || is_revealed(Direction::add)) return tail;
    // The largest losses are kept: a conversion of divergences is never 0.
    const auto is_zcdp = [](const Part& part) {
      const RenyiBound* bound = part.loss->capabilities(Direction::remove).renyi_bound;
      return bound == nullptr || bound->rho().has_value();
    };
    if (!std::all_of(stated_.begin(), stated_.end(), is_zcdp)) tail.limit.lo = 0;
    return tail;
  }
  [[nodiscard]] Capabilities capabilities(Direction direction) const override {
    if (!divergences_stated_) {
      Capabilities known = ForwardingLoss::capabilities(direction);
      known.closed_forms = this;  // for mu
      return known;
    }
    return {.closed_forms = this, .minimum_of = pair_, .cost = Cost::engine, .is_pair = false};
  }
  [[nodiscard]] std::string key() const override { return {}; }

 private:
  [[nodiscard]] const Loss& base() const override { return *composed_; }
  /// Whether a bound may be smaller than a tight answer by the composed pair.
  [[nodiscard]] bool is_smaller_known() const { return divergences_stated_ || points_known_; }
  /// The parts as they are composed, and as they are answered alone where that may be smaller.
  [[nodiscard]] std::vector<const Parts*> known_forms() const {
    return points_known_ ? std::vector<const Parts*>{&pairs_, &alone_} : std::vector<const Parts*>{&pairs_};
  }
  [[nodiscard]] static const Citation& smaller_bound() {
    static const Citation smallest("older-theorems", "the smallest of several valid bounds");
    return smallest;
  }

  /// Intersects an enclosure with bounds; only the upper end of a bound proves something, unless divergences are stated. The answer is then
  /// the smaller of the two, with the smaller of their lower ends. What does not improve the answer is not
  /// recorded; `trivial` is a lower end that needs no proof.
  template <class Bounds>
  [[nodiscard]] Interval improved(const RecordedSince& since, Interval found, double trivial, Bounds&& bounds) const {
    const Citations before = since.take_out();
    const RecordedSince own;
    const Interval bound = bounds();
    const Citations after = own.take_out();
    const bool above = bound.hi < found.hi;
    const bool below = divergences_stated_ && bound.lo < found.lo;
    if (!above || found.lo > trivial) record(before);
    if (above || below) {
      record(after);
      record(smaller_bound());
    }
    if (divergences_stated_) return {std::min(found.lo, bound.lo), std::min(found.hi, bound.hi)};
    if (bound.hi < found.lo && points_known_) return Interval::exactly(bound.hi);
    if (bound.hi < found.lo) return {bound.lo, found.hi};  // disjoint enclosures would mean a defect: claim only their hull
    return {found.lo, std::min(found.hi, bound.hi)};
  }

  /// [older-theorems] A composition reveals at least as much as each of its parts, and no sum of divergences certifies less. For wide
  /// enclosures only.
  [[nodiscard]] Interval at_least_a_part(Interval found, Direction direction, Interval epsilon) const {
    if (found.width() <= tolerance_.relative * found.hi || pairs_.size() > most_stated) return found;
    static const Citation smaller("older-theorems", "a composition reveals at least as much as one of its parts");
    double least = found.lo;
    for (const Part& part : pairs_) {
      if (part.loss->cost() != Cost::formula) continue;
      const RecordedSince own;
      const double alone = part.loss->delta(direction, epsilon).lo;
      if (alone > least)
        least = alone;
      else
        static_cast<void>(own.take_out());
    }
    if (!(least > found.lo)) return found;
    record(smaller);
    return {std::min(least, found.hi), found.hi};
  }

  /// An enclosure of the best of the bounds on log delta, for every epsilon of the interval.
  [[nodiscard]] Interval log_delta_above(Direction direction, Interval epsilon, double delta) const {
    const QuestionScope question;
    Interval best = divergences_.log_delta(direction, epsilon.lo);
    if (epsilon.hi != epsilon.lo) best.lo = divergences_.log_delta(direction, epsilon.hi).lo;
    if (divergences_stated_) {
      for (const auto& known : mu_of_stated(exp(Interval::exactly(best.hi)).hi))
        best = min(best, log(known.slack + (1.0 - known.slack) * gaussian_delta(known.mu, epsilon)));
      return best;
    }
    const auto use = [&](double bound) { best = min(best, Interval::exactly(bound)); };
    const Tail tail = tail_of(pairs_);
    if (epsilon.lo >= tail.zero_from || (epsilon.lo >= 0 && tail.gdp_mu < infinity)) {
      cite_tail(tail);
      use(epsilon.lo >= tail.zero_from ? -infinity : log_gaussian_delta(Interval::exactly(tail.gdp_mu), Interval::exactly(epsilon.lo)).hi);
    }
    if (!(epsilon.lo >= 0 && delta > 0 && best.hi > -infinity)) return best;
    const Interval at = Interval::exactly(epsilon.lo);
    const auto compare_at = [&](double about) {
      for (const Parts* parts : known_forms())
        if (const auto known = stated_composition(*parts, about, 0.5, epsilon.lo)) use(known->log_delta(direction, at).hi);
      for (const double share : {0.0, slack_near(about)})
        if (const auto known = gaussian_composition(share))
          use(log(known->slack + (1.0 - known->slack) * gaussian_delta(Interval::exactly(known->mu.hi), at)).hi);
    };
    if (const auto limit = limit_theorem(delta)) use(log(limit->delta_at(at)).hi);
    // The shares of delta need a guess of it.
    if (const double about = std::min(delta, exp(Interval::exactly(best.hi)).hi); about < 1)
      compare_at(about);
    else
      for (const double any : {0.5, 0x1p-7, 0x1p-20}) compare_at(any);
    // A smaller bound is a better guess.
    constexpr int most_rounds = 30;
    double before = 0;
    for (int i = 0; points_known_ && i < most_rounds && best.hi < 0 && before - best.hi > tolerance_.relative; ++i) {
      before = best.hi;
      if (const auto known = stated_composition(alone_, exp(Interval::exactly(best.hi)).hi, 0.5, epsilon.lo))
        use(known->log_delta(direction, at).hi);
    }
    return best;
  }

  [[nodiscard]] Interval epsilon_above(Direction direction, Interval delta) const {
    const QuestionScope question;
    Interval best = divergences_.epsilon(direction, log(delta));
    if (divergences_stated_) {
      for (const auto& known : mu_of_stated(delta.lo)) {
        const Interval left = clamp((delta - known.slack) / (1.0 - known.slack), 0, 1);
        if (left.lo > 0) best = min(best, gaussian_epsilon(known.mu, left));
      }
      return best;
    }
    const auto use = [&](double bound) { best = min(best, Interval::exactly(bound)); };
    const Tail tail = tail_of(pairs_);
    if (tail.zero_from < infinity || tail.gdp_mu < infinity) {
      cite_tail(tail);
      use(tail.zero_from);
      if (tail.gdp_mu < infinity) use(gaussian_epsilon(Interval::exactly(tail.gdp_mu), Interval::exactly(delta.lo)).hi);
    }
    for (const Parts* parts : known_forms())
      for (const double share : {0.5, 1.0})
        if (const auto known = stated_composition(*parts, delta.lo, share, best.hi))
          use(invert_profile(Profile(*known, direction), Interval::exactly(delta.lo)).hi);
    for (const double slack : {0.0, delta.lo})
      if (const auto known = gaussian_composition(slack)) {
        const Interval left = clamp((Interval::exactly(delta.lo) - known->slack) / (1.0 - known->slack), 0, 1);
        if (left.lo > 0) use(gaussian_epsilon(Interval::exactly(known->mu.hi), Interval::exactly(left.lo)).hi);
      }
    if (const auto limit = limit_theorem(delta.lo)) use(limit->epsilon_at(Interval::exactly(delta.lo)).hi);
    return best;
  }

  /// The Berry-Esseen bound; empty if it certifies nothing at this delta. A first look with few digits shows that mostly.
  [[nodiscard]] std::optional<BerryEsseen> limit_theorem(double delta) const {
    if (pairs_.size() > most_stated || !all_formulas(pairs_)) return std::nullopt;
    // No third moment is below the cube of the deviation, so the error term of n runs is at least 0.56/sqrt(n).
    double runs = 0;
    for (const Part& part : pairs_) runs += static_cast<double>(part.times);
    if (!(delta * std::sqrt(runs) >= 0.56 * (1 - 1e-9))) return std::nullopt;
    const std::lock_guard lock(measuring_);
    const auto find = [&](const IntegralEffort& effort) -> std::optional<BerryEsseen> {
      const Unrecorded in_advance;
      try {
        return berry_esseen_of(pairs_, effort);
      } catch (const Error&) {
        return std::nullopt;  // no finite third moment
      }
    };
    if (!limit_floor_) {
      const auto rough = find(quick);
      limit_floor_ = rough ? rough->floor().lo : 1;
    }
    if (*limit_floor_ > delta || *limit_floor_ == 1) return std::nullopt;
    if (!limit_) limit_ = find(thorough);
    static const Citation used("berry-esseen", "the distance to the normal law is bounded by third moments");
    composed_->cite();
    record(used);
    return limit_;
  }

  [[nodiscard]] static bool all_formulas(const Parts& parts) {
    return std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.loss->cost() == Cost::formula; });
  }

  /// A search asks for many deltas: those of similar size share the slacks.
  [[nodiscard]] static double slack_near(double delta) { return std::exp2(std::floor(std::log2(delta))); }

  /// The composition of each part's mu with slacks for this delta, or without slack; empty if there is none. Measured once for each.
  [[nodiscard]] std::optional<ComposedMu> gaussian_composition(double delta) const {
    constexpr std::size_t most_kept = 64;
    const Parts& parts = all_formulas(alone_) ? alone_ : pairs_;
    if (parts.size() > most_stated || !all_formulas(parts)) return std::nullopt;
    const std::lock_guard lock(measuring_);
    auto found = measured_.find(delta);
    if (found == measured_.end()) {
      if (measured_.size() >= most_kept) measured_.clear();
      const Unrecorded in_advance;
      found = measured_.emplace(delta, composed_mu(parts, delta, tolerance_)).first;
    }
    if (found->second) cite_pairs(*composed_);
    return found->second;
  }

  /// The mu of several runs whose divergences are stated, and of the other parts; with slacks for this delta where there is none without.
  [[nodiscard]] std::vector<GdpPair> mu_of_stated(double delta) const {
    std::uint64_t runs = 0;
    for (const Part& part : alone_)
      if (part.loss->capabilities(Direction::remove).renyi_bound != nullptr) runs += part.times;
    if (runs < 2 || !all_formulas(alone_)) return {};  // a single run enters by its pair, which knows more than its mu
    if (const auto known = gaussian_composition(0)) return {*known};
    std::vector<GdpPair> all;
    for (const double share : {slack_near(std::min(delta, 0.5)), 0x1p-20, 0x1p-40})
      if (const auto known = share > 0 ? gaussian_composition(share) : std::nullopt) all.push_back(*known);
    return all;
  }

  /// The optimal composition of one guarantee per part; null if there is none.
  /// Null too if its losses mostly exceed `reach`, because then it says nothing there.
  [[nodiscard]] LossPointer stated_composition(const Parts& of, double delta, double share, double reach) const {
    if (of.size() > most_stated) return nullptr;
    static const Citation stated("classical-composition", "the optimal composition of one (epsilon, delta) per part");
    const RecordedSince own;
    auto parts = one_guarantee_each(of, delta, share);
    if (!parts || exceeds(*parts, reach)) {
      static_cast<void>(own.take_out());
      return nullptr;
    }
    record(stated);
    return compose(std::move(*parts), tolerance_).loss;
  }

  /// Whether the losses of randomised responses with these guarantees are above `reach` but for eight deviations.
  [[nodiscard]] static bool exceeds(const Parts& guarantees, double reach) {
    double mean = 0, variance = 0;
    for (const Part& part : guarantees) {
      const double epsilon = part.loss->capabilities(Direction::remove).last_guarantee.value_or(Interval::exactly(0)).hi;
      const double drift = std::tanh(epsilon / 2), times = static_cast<double>(part.times);
      mean += times * epsilon * drift;
      variance += times * epsilon * epsilon * (1 - drift * drift);
    }
    return mean - 8 * std::sqrt(variance) > reach;
  }

  void cite_tail(const Tail& tail) const {
    static const Citation tails("tail-composition", "the largest losses add, and so do the squares of mu");
    composed_->cite();
    if (tail.gdp_origin) record(*tail.gdp_origin);
    record(tails);
  }

  LossPointer composed_;
  std::array<const Loss*, 1> pair_;  // the composed pair, for operators
  Parts stated_;                     // the parts with their bounds on divergences, if some are stated
  Parts pairs_;
  Parts alone_;  // the parts as they are answered alone, where the tail of a loss may be known better than that of its composed form
  RenyiSum divergences_;
  Tolerance tolerance_;
  double narrow_;  // no older theorem is asked for an answer of this relative width
  bool divergences_stated_;
  bool points_known_ = false;  // a part is known point by point; a pair takes its place in the composition, and may be worse
  mutable std::mutex measuring_;
  mutable std::map<double, std::optional<ComposedMu>> measured_;  // by the delta whose slacks were used
  mutable std::optional<double> limit_floor_;                     // the least delta that the limit theorem may certify
  mutable std::optional<BerryEsseen> limit_;
};

/// The refinement of a bound, made at the first question that needs it.
class RefinedLater final : public ForwardingLoss {
 public:
  explicit RefinedLater(LossPointer bound) : bound_(std::move(bound)) {}

 private:
  [[nodiscard]] const Loss& base() const override {
    std::call_once(made_, [this] {
      const Unrecorded in_advance;
      refined_ = refine(bound_);
    });
    return *refined_;
  }

  LossPointer bound_;
  mutable std::once_flag made_;
  mutable LossPointer refined_;
};

/// What is known only by bounds on its divergences: the smallest of the bounds that they imply. These are the conversion of the sum, its
/// refinement, and the Gaussian whose mu the parts' mu compose to. [older-theorems]
class StatedDivergences final : public ForwardingLoss {
 public:
  /// `alone` are the parts whose divergences were added; their mu is asked if there are several runs.
  StatedDivergences(LossPointer sum, Parts alone, Tolerance tolerance)
      : sum_(std::move(sum)),
        refined_(std::make_shared<RefinedLater>(sum_)),
        pair_{refined_.get()},
        gaussian_(*sum_, std::move(alone), tolerance) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    return smallest([&](const Loss& loss) { return loss.delta(direction, epsilon); }, [&](Interval) { return epsilon; },
                    [&](Interval mu) { return gaussian_delta(mu, epsilon); });
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    return smallest([&](const Loss& loss) { return loss.log_delta(direction, epsilon); }, [&](Interval) { return epsilon; },
                    [&](Interval mu) { return log_gaussian_delta(mu, epsilon); });
  }
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override {
    return smallest([&](const Loss& loss) { return invert_profile(Profile(loss, direction), delta); }, [](Interval found) { return found; },
                    [&](Interval mu) { return gaussian_epsilon(mu, delta); });
  }
  [[nodiscard]] std::optional<Interval> closed_beta(Direction, Interval) const override { return std::nullopt; }
  [[nodiscard]] std::optional<Interval> closed_mu() const override { return std::nullopt; }
  [[nodiscard]] std::optional<Interval> mu_above() const override { return gaussian_.mu(); }
  [[nodiscard]] std::optional<NeededMu> mu_below() const override { return gaussian_.needed(); }
  [[nodiscard]] std::optional<Test> test_at(Direction, double) const override { return std::nullopt; }
  [[nodiscard]] std::optional<std::vector<Guarantee>> guarantees(Direction) const override { return std::nullopt; }
  [[nodiscard]] std::optional<Interval> log_complement(Direction direction, double epsilon) const override {
    const Interval pair = refined_->log_complement(direction, epsilon);
    const auto mu = gaussian_.is_asked() ? gaussian_.mu() : std::nullopt;
    return mu ? max(pair, log_gaussian_complement(*mu, Interval::exactly(epsilon))) : pair;
  }
  [[nodiscard]] std::optional<double> rough_delta(Direction, double) const override { return std::nullopt; }
  [[nodiscard]] Capabilities capabilities(Direction direction) const override {
    Capabilities known = ForwardingLoss::capabilities(direction);
    known.closed_forms = this;
    known.evaluable = nullptr;
    known.bound_shape = nullptr;  // that of the conversion; the refined sum stands for the pair
    known.minimum_of = pair_;
    return known;
  }
  [[nodiscard]] std::string key() const override { return {}; }

 private:
  [[nodiscard]] const Loss& base() const override { return *sum_; }
  /// The smallest of an answer by the conversion, by its refinement and by the mu of the parts. Only what decides is recorded. `place` is
  /// the epsilon of the first answer.
  template <class Answer, class Place, class Implied>
  [[nodiscard]] Interval smallest(Answer&& answer, Place&& place, Implied&& implied) const {
    const RecordedSince own;
    Interval found = answer(*sum_);
    const auto use = [&](auto&& bound) {
      const Citations before = own.take_out();
      const Interval other = bound();
      if (other.hi >= found.hi) {
        if (other.lo >= found.lo) static_cast<void>(own.take_out());
        record(before);
      } else if (found.lo < other.lo) {
        record(before);
      }
      found = min(found, other);
    };
    if (may_be_refined(*sum_, place(found))) use([&] { return answer(*refined_); });
    if (!gaussian_.is_asked() || !(implied(gaussian_.mu_below()).lo < found.hi)) return found;
    if (const auto mu = gaussian_.mu_in_advance())
      use([&] {
        gaussian_.cite();
        return implied(*mu);
      });
    return found;
  }

  LossPointer sum_, refined_;
  std::array<const Loss*, 1> pair_;  // the refined sum, for operators
  MuOfParts gaussian_;
};

}  // namespace

LossPointer smallest_of_stated(LossPointer sum, Parts alone, Tolerance tolerance) {
  return std::make_shared<StatedDivergences>(std::move(sum), std::move(alone), tolerance);
}

LossPointer never_worse(LossPointer composed, Parts parts, Tolerance tolerance, Parts alone) {
  return std::make_shared<OlderTheorems>(std::move(composed), std::move(parts), std::move(alone), tolerance, false);
}

LossPointer smaller_of_pair_and_divergences(LossPointer composed, Parts parts, Parts alone, Tolerance tolerance) {
  return std::make_shared<OlderTheorems>(std::move(composed), std::move(parts), std::move(alone), tolerance, true);
}

}  // namespace tradeoff::detail
