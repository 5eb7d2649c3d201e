// SPDX-License-Identifier: Apache-2.0
#include "engine/fallback_chain.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <utility>

#include "loss/evaluation.h"
#include "loss/moment_bound.h"
#include "loss/negligible.h"
#include "loss/rough.h"
#include "numeric/arithmetic.h"

namespace tradeoff::detail {
namespace {

constexpr double narrow = 1e-9;  // about what a contour reaches

class FallbackChain final : public Loss, public ClosedForms, public Evaluable {
 public:
  FallbackChain(std::vector<EnginePath> paths, std::function<Tail()> tail, Tolerance tolerance, const ChainFacts& facts)
      : paths_(std::move(paths)), find_tail_(std::move(tail)), tolerance_(tolerance), facts_(facts) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    if (const auto far = negligible_delta(direction, epsilon)) return *far;
    return first_tight(
        {0, 1},
        [&](const EnginePath& path) {
          const auto far = far_bound(path, direction, epsilon, AtMost::first);
          return far ? Interval{0, std::numeric_limits<double>::denorm_min()} : path.loss->delta(direction, epsilon);
        },
        [this](Interval found, double width) {
          return found.width() <= std::max(width * found.hi, Negligible::delta()) || found.hi <= std::max(facts_.far, Negligible::delta());
        });
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    bool is_far = false;
    return first_tight(
        {-infinity, 0},
        [&](const EnginePath& path) {
          const bool may_be_far = path.speed == Speed::slow || BoundedLogarithms::are_enough();
          const auto far = may_be_far ? far_bound(path, direction, epsilon, AtMost::least) : std::nullopt;
          is_far = far.has_value();
          return far ? Interval{-infinity, *far} : path.loss->log_delta(direction, epsilon);
        },
        [&, is_tight = log_is_tight()](Interval found, double width) {
          const bool shown = BoundedLogarithms::are_enough() && found.hi <= Negligible::log_of_doubles;
          return is_far || shown || is_tight(found, width);
        });
  }
  /// A straight contour answers in less than a millisecond, other engines have approximations of their own. The last method is the lattice,
  /// whose coarsest form is faster than the other proved answers.
  [[nodiscard]] std::optional<double> rough_delta(Direction direction, double epsilon) const override {
    constexpr double near_enough = 1e-3;
    for (const EnginePath& path : paths_) {
      const Capabilities known = path.loss->capabilities(direction);
      if (known.contours != nullptr && path.speed == Speed::quick) {
        const Unrecorded steering;
        const Interval found = path.loss->delta(direction, Interval::exactly(epsilon));
        if (found.width() <= near_enough * found.hi || found.hi <= Negligible::delta()) return middle_of(found);
      }
      if (known.closed_forms != nullptr && path.has_tests)
        if (const auto found = known.closed_forms->rough_delta(direction, epsilon)) return found;
    }
    return std::nullopt;
  }
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.closed_forms = this,
            .evaluable = this,
            .gaussian_part = facts_.gaussian_part,
            .lattice = paths_.front().loss->lattice(),
            .cost = Cost::engine};
  }
  [[nodiscard]] bool symmetric() const override { return paths_.front().loss->symmetric(); }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override { return paths_.front().loss->infinite_mass(direction); }
  [[nodiscard]] Tail tail() const override {
    std::call_once(tail_found_, [this] { tail_ = find_tail_(); });
    return tail_;
  }
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override {
    if (infinite_mass(direction).lo > delta.hi) {
      cite();
      return Interval::exactly(infinity);
    }
    const Interval anything{0, infinity};
    const Known found = ask_in_turn(
        anything, [&](const EnginePath& path) { return path.loss->closed_epsilon(direction, delta).value_or(anything); }, is_tight);
    if (!is_tight(found.value, tolerance_.relative) && found.value.lo != infinity) return narrowed(direction, delta, found);
    found.record_ends();
    return found.value;
  }
  [[nodiscard]] std::optional<Test> test_at(Direction direction, double epsilon) const override {
    const Interval point = Interval::exactly(epsilon);
    for (const EnginePath& path : paths_) {
      if (path.speed == Speed::slow) break;
      if (!path.has_tests) continue;
      if (const auto test = path.loss->test_at(direction, epsilon)) return test;
      const Unrecorded steering;  // where the profile of a quick engine is tight, no slower test is needed
      if (const Interval found = path.loss->delta(direction, point); found.width() <= narrow * found.hi) break;
    }
    return std::nullopt;
  }
  /// The engines that know it, and the logarithm of 1 - delta, which is as good where delta is not close to 1; slow engines last.
  [[nodiscard]] std::optional<Interval> log_complement(Direction direction, double epsilon) const override {
    const double enough = is_rough(tolerance_) ? tolerance_.relative : narrow;
    Interval known{-infinity, 0};
    const auto ask = [&](Speed speed) {
      for (const EnginePath& path : paths_) {
        if (path.speed != speed || known.width() <= enough) continue;
        const ClosedForms* const forms = path.loss->capabilities(direction).closed_forms;
        if (const auto found = forms != nullptr ? forms->log_complement(direction, epsilon) : std::nullopt)
          known = intersect(known, *found);
      }
    };
    ask(Speed::quick);
    if (known.width() <= enough) return known;
    known = intersect(known, log1p(-clamp(delta(direction, Interval::exactly(epsilon)), 0, 1)));
    ask(Speed::slow);
    return known;
  }
  [[nodiscard]] std::optional<LogLine> log_line(LineOf of, Direction direction, double start, double end) const override {
    for (const EnginePath& path : paths_)
      if (const auto line = path.loss->log_line(of, direction, start, end)) return line;
    return std::nullopt;
  }
  [[nodiscard]] std::optional<Arc> arc(Direction direction, double start, double end) const override {
    for (const EnginePath& path : paths_)
      if (auto found = path.loss->arc(direction, start, end)) return found;
    return std::nullopt;
  }
  [[nodiscard]] std::optional<std::vector<Guarantee>> guarantees(Direction direction) const override {
    for (const EnginePath& path : paths_)
      if (auto corners = path.loss->guarantees(direction)) return corners;
    return std::nullopt;
  }
  /// All methods compose the same distributions.
  void cite() const override { paths_.back().loss->cite(); }
  /// The theorems of the methods that an answer uses.
  void evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const override {
    std::vector<std::vector<Evaluation>> by_path;
    const Known known = ask_in_turn(
        {-infinity, 0},
        [&](const EnginePath& path) {
          by_path.push_back(evaluations_of(*path.loss, direction, epsilon));
          return path.loss->log_delta(direction, Interval::exactly(epsilon));
        },
        log_is_tight());
    known.record_ends();
    for (std::size_t i = 0; i < by_path.size(); ++i)
      if (known.below.path == i || known.above.path == i) found.insert(found.end(), by_path[i].begin(), by_path[i].end());
  }

 private:
  /// Far out the moments of the parts show that delta is negligible; empty nearer. [moment-bound]
  [[nodiscard]] std::optional<Interval> negligible_delta(Direction direction, Interval epsilon) const {
    if (!(Negligible::delta() > Negligible::least) || !(epsilon.lo > 0)) return std::nullopt;
    if (paths_.front().loss->capabilities(direction).contours != nullptr) return std::nullopt;  // quicker than moments
    const auto moments = tail().moments;
    if (moments == nullptr || infinite_mass(direction).hi > 0) return std::nullopt;
    const double exponent = moments->order_near(epsilon.lo);
    const Interval above = exp(Interval::exactly(moments->log_chernoff(exponent)) - Interval::exactly(exponent) * epsilon.lo);
    if (!(above.hi <= Negligible::delta())) return std::nullopt;
    static const Citation bound("moment-bound", "the moments of the parts bound the profile");
    cite();
    record(bound);
    return Interval{0, above.hi};
  }
  /// Before any engine but the first is asked, or a slow one: the logarithm of a bound that is below all doubles. Its distance to the truth
  /// matters to nobody.
  [[nodiscard]] std::optional<double> far_bound(const EnginePath& path, Direction direction, Interval epsilon, AtMost wanted) const {
    const bool first = &path == &paths_.front() && path.speed == Speed::quick;
    const bool can_be_far = !first && facts_.far_bound != nullptr && epsilon.lo > 0;
    return can_be_far ? facts_.far_bound(direction, epsilon.lo, wanted) : std::nullopt;
  }

  /// The method that an end of an answer comes from, and the theorems it used that are not recorded yet; empty if the first method
  /// answered.
  struct End {
    std::optional<std::size_t> path{};
    std::shared_ptr<const Citations> basis{};
  };
  struct Known {
    Interval value;
    End below{};
    End above{};
    void record_ends() const {
      for (const auto& basis : {below.basis, above.basis})
        if (basis != nullptr) record(*basis);
    }
  };

  [[nodiscard]] static std::shared_ptr<const Citations> take_out(const RecordedSince& own) {
    Citations taken = own.take_out();
    return taken.empty() ? nullptr : std::make_shared<const Citations>(std::move(taken));
  }

  /// Of a logarithm the width is that of delta, or relative where delta is small. Below all doubles a bound is enough.
  [[nodiscard]] std::function<bool(Interval, double)> log_is_tight() const {
    return [far = std::max(std::log(facts_.far), Negligible::log_of_doubles)](Interval log_delta, double width) {
      constexpr double smallest = 700;
      return log_delta.width() <= width * std::max(1.0, -log_delta.hi / smallest) || log_delta.hi <= far;
    };
  }
  [[nodiscard]] static bool is_tight(Interval epsilon, double width) {
    return epsilon.hi < infinity && (epsilon.hi == 0 || epsilon.width() <= width * epsilon.hi);
  }

  /// Encloses epsilon by the profile of all engines. It evaluates the profile a limited number of times, because the last engine may take a
  /// second each time; then the interval is wider. [profile-inversion]
  [[nodiscard]] Interval narrowed(Direction direction, Interval delta, Known found) const {
    static const Citation inversion("profile-inversion", "epsilon is enclosed by the profile of all engines");
    Interval& known = found.value;
    const Interval target = log(delta);
    int questions = 10;
    double low_excess = infinity;
    double high_excess = -infinity;
    const auto ask = [&](double epsilon) {
      const RecordedSince own;
      const Interval value = log_delta(direction, Interval::exactly(epsilon));
      auto basis = take_out(own);
      const double excess = (value.lo + value.hi) / 2 - (target.lo + target.hi) / 2;
      --questions;
      // If one end stays while the other moves, its excess is halved, so that the secant method does not stall.
      if (value.lo > target.hi) {
        if (low_excess < infinity) high_excess /= 2;
        known.lo = epsilon;
        found.below = {std::nullopt, std::move(basis)};
        low_excess = excess;
        return true;
      }
      if (value.hi <= target.lo) {
        if (high_excess > -infinity) low_excess /= 2;
        known.hi = epsilon;
        found.above = {std::nullopt, std::move(basis)};
        high_excess = excess;
        return true;
      }
      questions -= 4;  // undecided: the enclosures are as wide as the bracket
      return false;
    };
    const bool begins = known.lo > 0 || (ask(0) && known.hi > 0);
    for (double step = std::max(1.0, 2 * known.lo); begins && known.hi == infinity && questions > 0; step *= 4) ask(step);
    while (begins && questions > 0 && known.hi < infinity && !is_tight(known, tolerance_.relative)) {
      const double share = low_excess / (low_excess - high_excess);
      const double guess = known.lo + (known.hi - known.lo) * (share > 0.01 && share < 0.99 ? share : 0.5);
      ask(guess);
    }
    found.record_ends();
    record(inversion);
    return known;
  }

  /// Whether no engine after this one would be asked, where `is_tight` judges the answer so far.
  template <class IsTight>
  [[nodiscard]] bool is_last_asked(std::size_t i, IsTight&& is_tight) const {
    if (i + 1 == paths_.size()) return is_tight(tolerance_.relative);
    const bool more = paths_[i + 1].speed == Speed::quick && !is_rough(tolerance_);
    return is_tight(more ? std::min(narrow, tolerance_.relative) : tolerance_.relative);
  }

  template <class Ask, class IsTight>
  [[nodiscard]] Known ask_in_turn(Interval known, Ask&& ask, IsTight&& is_tight) const {
    Known found{known};
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      if (i > 0 && paths_[i].speed == Speed::slow && QuickEnginesOnly::wanted()) break;
      const RecordedSince own;
      const Interval answer = ask(paths_[i]);
      const Interval before = found.value;
      const Interval both{std::max(answer.lo, before.lo), std::min(answer.hi, before.hi)};
      found.value = both.lo <= both.hi ? both : hull(answer, before);  // disjoint enclosures would mean a defect: claim only their hull
      const bool ends = is_last_asked(i, [&](double width) { return is_tight(found.value, width); }), below = found.value.lo != before.lo,
                 above = found.value.hi != before.hi;
      // if the answer comes from one method, everything is recorded already
      const auto basis = ends && below && above ? nullptr : take_out(own);
      if (below) found.below = {i, basis};
      if (above) found.above = {i, basis};
      if (ends) break;
    }
    return found;
  }

  /// Records the theorems of the methods from which the ends of the answer come.
  template <class Ask, class IsTight>
  [[nodiscard]] Interval first_tight(Interval known, Ask&& ask, IsTight&& is_tight) const {
    const Known found = ask_in_turn(known, std::forward<Ask>(ask), std::forward<IsTight>(is_tight));
    found.record_ends();
    return found.value;
  }

  std::vector<EnginePath> paths_;
  std::function<Tail()> find_tail_;
  mutable std::once_flag tail_found_;
  mutable Tail tail_;
  Tolerance tolerance_;
  ChainFacts facts_;
};

}  // namespace

LossPointer fallback_chain(std::vector<EnginePath> paths, std::function<Tail()> tail, Tolerance tolerance, const ChainFacts& facts) {
  std::erase_if(paths, [](const EnginePath& path) { return path.loss == nullptr; });
  return std::make_shared<FallbackChain>(std::move(paths), std::move(tail), tolerance, facts);
}

}  // namespace tradeoff::detail
