// SPDX-License-Identifier: Apache-2.0
#include "engine/exact/counted.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "engine/epsilon_search.h"
#include "engine/saddle_point.h"
#include "loss/atoms.h"
#include "loss/evaluation.h"
#include "loss/mirrored_delta.h"
#include "loss/question_scope.h"
#include "numeric/arithmetic.h"
#include "numeric/minimize.h"
#include "numeric/root.h"

// [count-sums]
namespace tradeoff::detail {
namespace {

using exact::CountedPart;
using exact::CountedParts;
using exact::Counts;

constexpr double most_size = 4e7, quick_size = 4e4;  // as `counts_size` measures them; few of many rare values occur together

}  // namespace

std::optional<CountedSide> counted_side(const std::vector<FiniteRuns>& all) {
  CountedSide side;
  Interval kept = Interval::exactly(0), largest = Interval::exactly(0), slack = Interval::exactly(0);
  double reach = 0, widest = 0, values = 0;
  for (const auto& [atoms, runs] : all) {
    const auto count = static_cast<double>(runs);
    const Interval times = Interval::exactly(count);
    kept = kept + times * log1p(-atoms->infinite);
    slack = slack - times * log1p(-Interval::exactly(atoms->slack));
    if (atoms->finite.empty()) return std::nullopt;
    CountedPart one{{}, {}, atoms->infinite, runs, 0};
    double size = 0;
    for (const Atom& atom : atoms->finite) {
      one.losses.push_back(middle_of(atom.loss));
      one.masses.push_back(atom.mass);
      one.radius =
          std::max({one.radius, numeric::up_by(atom.loss.hi - one.losses.back(), 2), numeric::up_by(one.losses.back() - atom.loss.lo, 2)});
      size = std::max(size, std::abs(one.losses.back()));
      if (!(atom.mass.lo > 0)) return std::nullopt;
    }
    largest = largest + times * Interval::exactly(atoms->finite.front().loss.hi);
    side.shift += count * one.radius;
    reach += count * size;
    values += static_cast<double>(one.losses.size());
    widest = std::max(widest, atoms->finite.front().loss.hi - atoms->finite.back().loss.lo);
    side.parts.push_back(std::move(one));
  }
  if (side.parts.empty() || !(widest > 0)) return std::nullopt;
  constexpr double largest_tilt = 60;
  side.largest = largest.hi;
  side.infinite = -expm1(kept);
  side.slack = slack.hi;
  side.most_order = largest_tilt / widest;
  // in long double a loss is a sum of as many products as there are values, and so is its distance to epsilon
  side.shift = numeric::up_by(side.shift, 16) + (64 + 4 * values) * exact::wide_unit * reach;
  return side;
}

namespace {

class CountedLoss final : public Loss, public ClosedForms, public Evaluable {
 public:
  CountedLoss(std::array<CountedSide, 2> sides, const Parts& parts, const exact::CountAccuracy& accuracy)
      : sides_(std::move(sides)),
        accuracy_(accuracy),
        symmetric_(are_symmetric(parts)),
        tail_(tail_of(parts)),
        laws_(citations_of_laws(parts)) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    return delta_by_logarithm(*this, direction, epsilon);
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    if (epsilon.lo < 0) return log(delta(direction, epsilon));
    const QuestionScope question;
    cite();
    record(sums());
    const Interval above = at(direction, epsilon.lo).log_delta;
    return epsilon.lo == epsilon.hi ? above : Interval{at(direction, epsilon.hi).log_delta.lo, above.hi};
  }
  [[nodiscard]] bool symmetric() const override { return symmetric_; }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override { return side(direction).infinite; }
  [[nodiscard]] Tail tail() const override { return tail_; }
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.closed_forms = this, .evaluable = this, .cost = Cost::engine};
  }
  /// [profile-inversion]
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override {
    const double finite = delta.hi - side(direction).infinite.hi;
    if (!(finite > 0)) return std::nullopt;
    const QuestionScope question;
    constexpr double error_of_guess = 0.01;
    return epsilon_by_values(*this, direction, delta, guess(side(direction), std::log(finite)), error_of_guess);
  }
  [[nodiscard]] std::optional<Test> test_at(Direction direction, double epsilon) const override;
  void cite() const override { record(laws_); }
  void evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const override;

 private:
  static constexpr double good_width = 1e-10;  // sums this accurate are used again
  static constexpr double least_order = 1e-3;

  struct Known {
    std::array<std::vector<std::shared_ptr<const Counts>>, 2> counts;
    std::array<bool, 2> too_many{};
  };
  struct Answer {
    Interval log_delta{-infinity, 0};
    std::shared_ptr<const Counts> counts{};
  };
  [[nodiscard]] static const Citation& sums() {
    static const Citation citation("count-sums", "how often each loss occurs: probable counts, and one of them by sums over rows",
                                   Method::exact);
    return citation;
  }
  [[nodiscard]] const CountedSide& side(Direction direction) const { return sides_[direction == Direction::add ? 1 : 0]; }
  [[nodiscard]] static double saddle(const CountedSide& side, double epsilon);
  [[nodiscard]] static double guess(const CountedSide& side, double log_delta);
  [[nodiscard]] static Answer bounded(const CountedSide& side, const std::shared_ptr<const Counts>& counts, double epsilon);
  [[nodiscard]] Answer at(Direction direction, double epsilon) const;

  std::array<CountedSide, 2> sides_;  // of the two directions
  exact::CountAccuracy accuracy_;
  bool symmetric_;
  Tail tail_;
  Citations laws_;
  std::uint64_t number_ = QuestionScope::new_owner();
};

/// The minimum of log E e^(cL) - c epsilon - log c (c + 1). Guides only.
double CountedLoss::saddle(const CountedSide& side, double epsilon) {
  const auto exponent = [&](double x) {
    const double c = std::exp(x);
    return log_moment(side.parts, c).value - c * epsilon - x - std::log1p(c);
  };
  return std::exp(
      numeric::golden_section(exponent, std::log(std::min(least_order, 0.1 * side.most_order)), std::log(side.most_order), 0.02).best);
}

/// An epsilon at which delta is about e^log_delta, by the saddle-point approximation.
double CountedLoss::guess(const CountedSide& side, double log_delta) {
  double epsilon = 0;
  const auto is_smaller = [&](double x) {
    const double c = std::exp(x);
    const auto moment = log_moment(side.parts, c);
    const SaddlePoint there = saddle_point(c, moment.value, moment.mean, moment.variance);
    epsilon = there.epsilon;
    return there.log_delta <= log_delta;
  };
  (void)numeric::bisect(is_smaller, {std::log(std::min(least_order, 0.1 * side.most_order)), std::log(side.most_order)}, 30);
  return std::clamp(epsilon, 1e-4 * side.largest, side.largest);
}

/// The logarithm of a sum of Counts, which counts losses above an epsilon: with all its factors.
Interval log_of_counts(const Counts& counts, double epsilon, double sum) { return counts.log_scale(epsilon) + log(Interval::exactly(sum)); }

/// Losses are known up to an error, and delta falls with epsilon.
CountedLoss::Answer CountedLoss::bounded(const CountedSide& side, const std::shared_ptr<const Counts>& counts, double epsilon) {
  const double below = numeric::add_down(epsilon, -side.shift), above = numeric::add_up(epsilon, side.shift), c = counts->order();
  const double most_gain = std::exp(c * std::log(c) - (c + 1) * std::log1p(c)) * (1 + 1e-6);  // of e^(-cx) (1 - e^-x)
  const double most = counts->at(below).profile * std::exp(counts->spread()) * (1 + 1e-14) + counts->omitted() * most_gain,
               least = counts->at(above).profile * std::exp(-counts->spread()) * (1 - 1e-14);
  if (!(least >= 0 && most < infinity)) return {{-infinity, 0}, counts};
  const Interval certain = log(side.infinite);
  return {{log_add_exp(certain, log_of_counts(*counts, above, least)).lo - side.slack * (1 + 1e-9),
           std::min(0.0, log_add_exp(certain, log_of_counts(*counts, below, most)).hi)},
          counts};
}

CountedLoss::Answer CountedLoss::at(Direction direction, double epsilon) const {
  const bool add = direction == Direction::add;
  const CountedSide& one = sides_[add ? 1 : 0];
  if (epsilon > one.largest) {
    const Interval only = log(one.infinite);
    return {{only.lo - one.slack * (1 + 1e-9), std::min(0.0, only.hi)}};
  }
  auto& kept = QuestionScope::state_of<Known>(number_);
  auto& known = kept.counts[add ? 1 : 0];
  Answer best;
  const auto improve = [&](const std::shared_ptr<const Counts>& counts) {
    Answer here = bounded(one, counts, epsilon);
    if (best.counts == nullptr || here.log_delta.width() < best.log_delta.width()) best = std::move(here);
  };
  for (const auto& counts : known) {
    improve(counts);
    if (best.log_delta.width() <= good_width) return best;
  }
  constexpr std::size_t most_known = 24;
  const double order = saddle(one, epsilon);
  const bool is_new =
      std::none_of(known.begin(), known.end(), [&](const auto& counts) { return std::abs(counts->order() / order - 1) < 0.05; });
  if (!is_new || known.size() >= most_known || kept.too_many[add ? 1 : 0]) return best;
  const auto made = Counts::make(one.parts, order, accuracy_);
  if (made == nullptr) {
    kept.too_many[add ? 1 : 0] = true;
    return best;
  }
  known.push_back(made);
  improve(made);
  return best;
}

std::optional<Loss::Test> CountedLoss::test_at(Direction direction, double epsilon) const {
  const QuestionScope question;
  const CountedSide& one = side(direction);
  const double below = numeric::add_down(epsilon, -one.shift), above = numeric::next_up(numeric::add_up(epsilon, one.shift));
  if (one.slack > 0 || epsilon < 0 || epsilon > one.largest) return std::nullopt;
  const std::shared_ptr<const Counts> counts = at(direction, epsilon).counts;
  if (counts == nullptr) return std::nullopt;
  cite();
  record(sums());
  const Counts::Sums high = counts->at(below), low = counts->at(above);
  const auto between = [&](double least, double most, double error) {
    const double factor = std::exp(counts->spread() + error) * (1 + 1e-14);
    return Interval{exp(log_of_counts(*counts, above, least / factor)).lo,
                    exp(log_of_counts(*counts, below, most * factor + counts->omitted())).hi};
  };
  // Under Q every probability has the factor e^-L, and losses are known up to the shift.
  const Interval factor{exp(-Interval::exactly(above)).lo, exp(-Interval::exactly(below)).hi};
  return Test{clamp(between(low.accused, high.accused, one.shift) * factor, 0, 1),
              clamp(between(low.detected, high.detected, 0) + one.infinite, 0, 1)};
}

void CountedLoss::evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const {
  if (epsilon < 0) return evaluate(opposite(direction), -epsilon, found);  // [two-directions]
  const QuestionScope question;
  const Answer answer = at(direction, epsilon);
  cite();
  record(sums());
  Evaluation one{"count-sums", direction, epsilon, answer.log_delta};
  if (answer.counts != nullptr) {
    one.counts = {{"terms", answer.counts->terms()}};
    one.settings = {{"order", answer.counts->order()}};
    one.errors = {{"masses", 2 * answer.counts->spread()}};
  }
  found.push_back(balanced(std::move(one), "losses"));
}

}  // namespace

CountedComposition compose_by_counts(const Parts& parts, const exact::CountAccuracy& accuracy) {
  const auto side_of = [&](Direction direction) -> std::optional<CountedSide> {
    std::vector<FiniteRuns> all;
    for (const Part& part : parts) {
      const Atoms* atoms = part.loss->atoms(direction);
      if (atoms == nullptr) return std::nullopt;
      all.push_back({atoms, part.times});
    }
    return counted_side(all);
  };
  auto remove = side_of(Direction::remove), add = side_of(Direction::add);
  if (!remove || !add) return {};
  const double size = std::max(exact::counts_size(remove->parts), exact::counts_size(add->parts));
  if (!(size <= most_size)) return {};
  return {std::make_shared<const CountedLoss>(std::array{std::move(*remove), std::move(*add)}, parts, accuracy), size <= quick_size};
}

}  // namespace tradeoff::detail
