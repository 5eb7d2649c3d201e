// SPDX-License-Identifier: Apache-2.0
#include "engine/lattice/lattice.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <utility>

#include "engine/lattice/grid.h"
#include "loss/question_scope.h"
#include "numeric/arithmetic.h"

namespace tradeoff::detail {
namespace {

using lattice::Answer;
using lattice::Grid;

constexpr double patience = 1.5e6;                                              // work after which no finer lattice is started
constexpr std::size_t most_lattices_kept = lattice::has_little_memory ? 1 : 3;  // for later questions, of at most 50 MB each
constexpr int most_transforms = 4;                                              // transforms of one lattice
constexpr int most_steps = 8;                                                   // steps of the search for an epsilon on one lattice
constexpr double rough_parts = 64;                                              // with more parts a coarse lattice is slow

/// One direction of the composition, for one question.
class Scene {
 public:
  /// `of_epsilon` is the relative width of an epsilon that is narrow enough.
  Scene(const lattice::PartProfiles& profiles, Tolerance tolerance, Tolerance of_epsilon)
      : coarse_(profiles, tolerance), tolerance_(tolerance), of_epsilon_(of_epsilon) {}

  /// Encloses log delta(epsilon) of the composition.
  [[nodiscard]] Interval log_delta(double epsilon) {
    Interval best{-infinity, 0};  // valid whichever lattice gave it
    for (const Kept& kept : kept_) {
      const Answer answer = kept.grid.read(epsilon);
      const Interval both = intersect(best, answer.log_delta);
      if (both != best) record(kept.basis);
      best = both;
      // A lattice that was not tight where it was made need not be tight here.
      if (answer.width() <= (kept.width > tolerance_.relative ? 1.5 * kept.width : tolerance_.relative)) return best;
    }
    if (!started()) return best;
    return intersect(best, improved([&](Grid& grid) { return grid.look(epsilon); }, tolerance_.relative));
  }

  /// Encloses the epsilon >= 0 at which log delta falls to the target; an unknown end is 0 or infinite.
  [[nodiscard]] Interval epsilon(Interval log_target) {
    if (!started()) return {0, infinity};
    double epsilon = coarse_.guess_epsilon(log_target.lo), width = tolerance_.relative;
    const auto ask = [&](Grid& grid) {
      const Answer answer = approach(grid, epsilon, log_target.lo);
      // Where delta falls fast, a wider delta gives an epsilon that is narrow enough.
      constexpr double share = 0.25, widest = 1e-3;
      width =
          std::clamp(-share * of_epsilon_.relative * epsilon * answer.slope, tolerance_.relative, std::max(widest, tolerance_.relative));
      grid.aim_at(width);
      return answer;
    };
    (void)improved(ask, width);
    const Interval found = certified(kept_.back().grid, epsilon, log_target);
    if (width > tolerance_.relative) kept_.pop_back();  // too coarse for questions about delta
    return found;
  }

  /// An approximation of delta(epsilon) from the coarse lattice; empty if there is none.
  [[nodiscard]] std::optional<double> rough_delta(double epsilon) {
    const Unrecorded steering;
    if (!started()) return std::nullopt;
    if (!rough_) rough_ = coarse_;
    const Answer answer = rough_->look(epsilon);
    return answer.log_delta.lo > -infinity ? std::exp(answer.middle()) : std::exp(answer.log_delta.hi) / 2;
  }

  /// By the best lattice so far; empty if there is none.
  [[nodiscard]] std::optional<Evaluation> evaluation(Direction direction, double epsilon) {
    (void)log_delta(epsilon);
    const Kept* best = nullptr;
    Answer least;
    for (const Kept& kept : kept_) {
      const Answer answer = kept.grid.read(epsilon);
      if (best != nullptr && !(answer.width() < least.width())) continue;
      best = &kept;
      least = answer;
    }
    if (best == nullptr) return std::nullopt;
    record(best->basis);
    return best->grid.evaluation(direction, epsilon, least);
  }

 private:
  struct Kept {
    Grid grid;
    double width;     // where it was made
    Citations basis;  // the theorems of the evaluations of the parts
  };

  [[nodiscard]] bool started() {
    if (!tried_) coarse_basis_ = citations_of([this] { can_start_ = coarse_.start(); });
    tried_ = true;
    return can_start_;
  }

  /// Uses the coarse lattice, then finer ones until the answer has this width, which `ask` may change, or no improvement is possible; keeps
  /// the last one.
  /// Every question starts from the same lattice, so that a lattice does not depend on earlier questions.
  template <class Ask>
  [[nodiscard]] Interval improved(Ask&& ask, const double& width) {
    const Recording own;
    record(coarse_basis_);
    Grid grid = coarse_;
    const double begin = grid.work();
    Answer answer = ask(grid);
    Interval best = answer.log_delta;
    for (int idle = 0; idle < 2 && !(best.width() <= width) && grid.work() - begin < patience;) {
      if (!grid.refine(answer)) break;
      answer = ask(grid);
      const Interval both = intersect(best, answer.log_delta);
      idle = both.width() < 0.9 * best.width() || both.lo == -infinity ? 0 : idle + 1;
      best = both;
    }
    if (kept_.size() >= most_lattices_kept) kept_.erase(kept_.begin());
    kept_.push_back({std::move(grid), answer.width(), own.citations()});
    own.pass_on();
    return best;
  }

  /// Moves epsilon to where this lattice has the target; guides the search only. A new transform is made only if epsilon moved far.
  [[nodiscard]] static Answer approach(Grid& grid, double& epsilon, double target) {
    Answer answer;
    for (int transform = 0; transform < most_transforms; ++transform) {
      answer = grid.look(epsilon);
      const double from = epsilon;
      for (int i = 0; i < most_steps; ++i) {
        const double excess = (answer.log_delta.lo > -infinity ? answer.middle() : answer.log_delta.hi) - target;
        if (!(std::abs(excess) > 0.05 * answer.width()) || (epsilon == 0 && excess < 0)) break;
        epsilon = std::max(0.0, epsilon - excess / answer.slope);
        answer = grid.read(epsilon);
      }
      if (!(std::abs((epsilon - from) * answer.slope) > 0.1)) break;
    }
    return answer;
  }

  /// [profile-inversion] delta decreases: a proved value at an end proves that end.
  [[nodiscard]] static Interval certified(Grid& grid, double epsilon, Interval log_target) {
    Interval found{0, infinity};
    const Answer here = grid.look(epsilon);
    if (epsilon == 0 && here.log_delta.hi <= log_target.lo) return Interval::exactly(0);
    const double margin = (here.width() < infinity ? here.width() : 1.0) / -here.slope + 0x1p-50 * epsilon + 1e-300;
    // Near epsilon the transform is reused; far away a few new ones are made.
    const auto answer = [&](double end, double factor) { return factor < 100 ? grid.read(end) : grid.look(end); };
    for (double factor = 0.6; found.hi == infinity && factor < 1e6; factor *= factor < 100 ? 1.5 : 10)
      if (const double end = epsilon + factor * margin; answer(end, factor).log_delta.hi <= log_target.lo) found.hi = end;
    for (double factor = 0.6; found.lo == 0 && factor < 1e6 && factor * margin < epsilon; factor *= factor < 100 ? 1.5 : 10)
      if (const double end = epsilon - factor * margin; answer(end, factor).log_delta.lo > log_target.hi) found.lo = end;
    if (found.lo == 0 || found.hi == infinity) search_ends(grid, log_target, found);
    return found;
  }

  /// If the guess failed: tries ends within some share of the largest sum of losses.
  static void search_ends(Grid& grid, Interval log_target, Interval& found) {
    const double top = grid.largest_loss();
    for (const double share : {1 + 1e-9, 1 - 1e-11, 1 - 1e-8, 1 - 1e-5, 1 - 1e-3, 0.99, 0.9, 0.7, 0.5, 0.3, 0.1, 0.01, 1e-4}) {
      if (!(share * top < found.hi) || !(share * top > found.lo)) continue;
      const Interval value = grid.look(share * top).log_delta;
      if (value.hi <= log_target.lo) found.hi = share * top;
      if (value.lo <= log_target.hi) continue;
      found.lo = share * top;
      return;
    }
  }

  Grid coarse_;                // never used directly, only copied
  Citations coarse_basis_;     // the theorems of its evaluations
  std::optional<Grid> rough_;  // a copy for approximations
  Tolerance tolerance_, of_epsilon_;
  bool tried_ = false;
  bool can_start_ = false;
  std::vector<Kept> kept_;  // newest last
};

class LatticeLoss final : public Loss, public ClosedForms, public Evaluable {
 public:
  LatticeLoss(const Parts& parts, Tolerance tolerance)
      : parts_(parts), symmetric_(are_symmetric(parts)), laws_(citations_of_laws(parts)), wanted_(tolerance), tolerance_(tolerance) {
    // Profiles that are evaluated at many points together come from transforms of their own, and a finer lattice costs seconds. Where delta
    // is small it changes by several times as much as epsilon, relatively.
    constexpr double finest_delta = 1e-3, finest_epsilon = 1e-3;
    epsilon_tolerance_ = tolerance_;
    for (const Part& part : parts_) {
      const Capabilities known = part.loss->capabilities(Direction::remove);
      for (Tolerance* const one : {&tolerance_, &epsilon_tolerance_}) one->relative = std::max(one->relative, known.own_width);
      if (known.batch == nullptr) continue;
      tolerance_.relative = std::max(tolerance_.relative, finest_delta);
      epsilon_tolerance_.relative = std::max(epsilon_tolerance_.relative, finest_epsilon);
    }
  }

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    return clamp(exp(log_delta(direction, epsilon)), 0, 1);
  }

  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    if (epsilon.lo == epsilon.hi) return bounds(direction, epsilon.lo);
    return {bounds(direction, epsilon.hi).lo, bounds(direction, epsilon.lo).hi};
  }

  [[nodiscard]] std::optional<double> rough_delta(Direction direction, double epsilon) const override {
    const QuestionScope question;
    if (static_cast<double>(parts_.size()) <= rough_parts && std::isfinite(epsilon))
      if (const auto rough = scene(direction).rough_delta(epsilon)) return *rough;
    return std::nullopt;
  }

  [[nodiscard]] bool symmetric() const override { return symmetric_; }

  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override {
    const Interval infinite = infinite_mass(direction);
    const QuestionScope question;
    cite();
    if (delta.hi < infinite.lo) return Interval::exactly(infinity);
    if (!(delta.lo > infinite.hi)) return std::nullopt;
    record_lattice();
    return scene(direction, true).epsilon(log(delta));
  }

  [[nodiscard]] Interval infinite_mass(Direction direction) const override {
    Interval log_finite = Interval::exactly(0);
    for (const Part& part : parts_) {
      log_finite = log_finite + Interval::exactly(static_cast<double>(part.times)) * log1p(-part.loss->infinite_mass(direction));
    }
    return clamp(-expm1(log_finite), 0, 1);
  }

  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.closed_forms = this, .evaluable = this, .cost = Cost::engine};
  }
  void cite() const override { record(laws_); }

  void evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const override {
    const QuestionScope question;
    record_lattice();
    if (auto one = scene(direction).evaluation(direction, epsilon)) found.push_back(std::move(*one));
  }

 private:
  void record_lattice() const {
    static const Citations lattice{
        {"dominating-pair", "every profile joined by chords between the points of a common lattice, from above", Method::lattice},
        {"dominated-pair", "the same chords lowered by the largest gap that convexity allows, from below", Method::lattice},
        {"tilted-fft",
         "the laws on the lattice composed by transforms of their tilted masses; lattices are refined until an answer is tight",
         Method::lattice}};
    cite();
    record(lattice);
  }
  /// Made when the first question reaches the lattice; most plans are answered by other engines.
  class LazyProfiles {
   public:
    [[nodiscard]] const lattice::PartProfiles& of(const Parts& parts, Direction direction) const {
      std::call_once(made_, [&] { profiles_.emplace(parts, direction); });
      return *profiles_;
    }

   private:
    mutable std::once_flag made_;
    mutable std::optional<lattice::PartProfiles> profiles_;
  };
  struct Kept {
    std::optional<Scene> remove, add;
    std::optional<Scene> remove_epsilon, add_epsilon;  // if their tolerance is another one
  };
  /// The state of the current question.
  [[nodiscard]] Scene& scene(Direction direction, bool for_epsilon = false) const {
    Kept& kept = QuestionScope::state_of<Kept>(number_);
    const bool add = direction == Direction::add && !symmetric_, other = for_epsilon && epsilon_tolerance_.relative != tolerance_.relative;
    std::optional<Scene>& scene = other ? (add ? kept.add_epsilon : kept.remove_epsilon) : add ? kept.add : kept.remove;
    if (!scene)
      scene.emplace((add ? add_ : remove_).of(parts_, add ? Direction::add : Direction::remove), other ? epsilon_tolerance_ : tolerance_,
                    wanted_);
    return *scene;
  }

  [[nodiscard]] Interval bounds(Direction direction, double epsilon) const {
    const QuestionScope question;
    cite();
    if (epsilon == infinity) return log(infinite_mass(direction));
    if (epsilon == -infinity) return Interval::exactly(0);
    record_lattice();
    const Interval found = scene(direction).log_delta(epsilon);
    // A composition reveals at least as much as each of its parts, and no profile is below 1 - exp(epsilon).
    const Recording own(Recording::When::if_wanted);
    Interval least = log(Interval::exactly(epsilon < 0 ? (-expm1(Interval::exactly(epsilon))).lo : 0));
    for (const Part& part : parts_)
      if (part.loss->capabilities(direction).batch == nullptr)
        least = max(least, part.loss->log_delta(direction, Interval::exactly(epsilon)));
    if (least.lo > found.lo) own.pass_on();
    return {std::min(std::max(found.lo, least.lo), found.hi), found.hi};
  }

  Parts parts_;
  bool symmetric_;
  Citations laws_;
  Tolerance wanted_;                         // of answers, relative
  Tolerance tolerance_, epsilon_tolerance_;  // of delta on a lattice
  LazyProfiles remove_, add_;
  std::uint64_t number_ = QuestionScope::new_owner();  // identifies the state of a question
};

}  // namespace

LossPointer compose_by_lattice(const Parts& parts, Tolerance tolerance) { return std::make_shared<LatticeLoss>(parts, tolerance); }

}  // namespace tradeoff::detail
