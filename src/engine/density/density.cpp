// SPDX-License-Identifier: Apache-2.0
#include "engine/density/density.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

#include "engine/epsilon_search.h"
#include "loss/evaluation.h"
#include "loss/mirrored_delta.h"
#include "loss/question_scope.h"
#include "loss/work.h"
#include "numeric/arithmetic.h"
#include "numeric/gauss_legendre.h"
#include "numeric/minimize.h"
#include "numeric/root.h"

// [density-powers]
namespace tradeoff::detail {
namespace {

using density::Accuracy;
using density::Powers;
using density::Step;

constexpr double most_continuous = 60;  // expected continuous steps

/// An approximation of log E e^(order L), and of the share of the density in it.
struct TiltedMass {
  double log_moment, continuous;
};
TiltedMass tilted_mass(const Step& step, double order) {
  const double top = step.offset + step.step * static_cast<double>(step.pieces.size());
  double atoms = 0, mass = 0;
  for (std::size_t j = 0; j < step.atoms.size(); ++j)
    atoms += step.atoms[j] * std::exp(order * (step.offset + step.step * static_cast<double>(j) - top));
  for (const density::Piece& piece : step.pieces)
    for_each_abscissa([&](double place, double weight) {
      const double l = piece.start + piece.slope * 0.5 * (1 + place), loss = piece.slope > 0 ? l : -l;
      mass += 0.5 * weight * step.coefficient * step.step *
              std::exp(order * (loss - top) + piece.exponent * l - 1.5 * std::log(std::expm1(l) + step.rate));
    });
  return {std::log(atoms + mass) + order * top, mass / (atoms + mass)};
}

class DensityLoss final : public Loss, public ClosedForms, public Evaluable {
 public:
  DensityLoss(std::array<Step, 2> steps, const Part& part, const Accuracy& accuracy)
      : steps_(std::move(steps)),
        times_(part.times),
        symmetric_(part.loss->symmetric()),
        accuracy_(accuracy),
        tail_(tail_of({part})),
        laws_(citations_of_laws({part})) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    return delta_by_logarithm(*this, direction, epsilon);
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    if (epsilon.lo < 0) return log(delta(direction, epsilon));
    const QuestionScope question;
    cite();
    record(powers());
    const Interval above = at(direction, epsilon.lo).log_delta;
    return epsilon.lo == epsilon.hi ? above : Interval{at(direction, epsilon.hi).log_delta.lo, above.hi};
  }
  [[nodiscard]] bool symmetric() const override { return symmetric_; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  [[nodiscard]] Tail tail() const override { return tail_; }
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override {
    if (!(delta.lo > 0)) return std::nullopt;
    const QuestionScope question;
    constexpr double error_of_guess = 0.01;
    return epsilon_by_values(*this, direction, delta, guess(steps_[direction == Direction::add ? 1 : 0], std::log(delta.hi)),
                             error_of_guess);
  }
  /// Powers for another epsilon are often accurate enough.
  [[nodiscard]] std::optional<double> rough_delta(Direction direction, double epsilon) const override {
    constexpr double rough = 1e-4;
    if (epsilon < 0) {
      const auto mirrored = rough_delta(opposite(direction), -epsilon);
      return mirrored ? std::optional(middle_of(mirrored_delta(Interval::exactly(epsilon), Interval::exactly(*mirrored)))) : std::nullopt;
    }
    const QuestionScope question;
    const Interval found = at(direction, epsilon, rough).log_delta;
    return found.hi == -infinity ? std::optional(0.0) : found.width() <= rough ? std::optional(std::exp(middle_of(found))) : std::nullopt;
  }
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.closed_forms = this, .evaluable = this, .cost = Cost::engine};
  }
  void cite() const override { record(laws_); }
  void evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const override;

 private:
  static constexpr double good_width = 1e-10;  // powers this accurate are used again,
  static constexpr double as_good = 3;         // or almost as accurate as where they were made
  static constexpr double least_tilt = 1e-3;
  static constexpr double largest_tilt = 30;  // times the step of the lattice; with more the cells are too fine

  /// Powers, and the width of the answer for which they were made.
  struct Made {
    std::shared_ptr<const Powers> powers;
    double width = 0;
  };
  struct Known {
    std::array<std::vector<Made>, 2> powers;
  };
  struct Answer {
    Interval log_delta{-infinity, 0};
    std::shared_ptr<const Powers> powers{};
    Powers::Value above{}, below{};
  };
  [[nodiscard]] static const Citation& powers() {
    static const Citation citation("density-powers", "the atoms of all runs listed, the powers of the density between them as polynomials",
                                   Method::exact);
    return citation;
  }
  [[nodiscard]] double largest_loss(const Step& step) const {
    return static_cast<double>(times_) * (step.offset + step.step * static_cast<double>(step.pieces.size()));
  }
  [[nodiscard]] double saddle(const Step& step, double epsilon) const;
  [[nodiscard]] double guess(const Step& step, double log_delta) const;
  [[nodiscard]] Answer bounded(const Step& step, const std::shared_ptr<const Powers>& powers, double epsilon) const;
  [[nodiscard]] Answer at(Direction direction, double epsilon, double wanted_width = good_width) const;

  std::array<Step, 2> steps_;  // of the two directions
  std::uint64_t times_;
  bool symmetric_;
  Accuracy accuracy_;
  Tail tail_;
  Citations laws_;
  std::uint64_t number_ = QuestionScope::new_owner();
};

/// The minimum of log E e^(cL) - c epsilon - log c (c + 1). Guides only.
double DensityLoss::saddle(const Step& step, double epsilon) const {
  const auto exponent = [&](double x) {
    const double c = std::exp(x);
    return static_cast<double>(times_) * tilted_mass(step, c).log_moment - c * epsilon - x - std::log1p(c);
  };
  return std::exp(numeric::golden_section(exponent, std::log(least_tilt), std::log(largest_tilt / step.step), 0.02).best);
}

/// An epsilon at which delta is about e^log_delta, by the saddle-point approximation.
double DensityLoss::guess(const Step& step, double log_delta) const {
  const double n = static_cast<double>(times_), largest = largest_loss(step);
  double epsilon = 0;
  const auto is_smaller = [&](double x) {
    const double c = std::exp(x), h = 0.02 * c;
    const double below = tilted_mass(step, c - h).log_moment, here = tilted_mass(step, c).log_moment,
                 above = tilted_mass(step, c + h).log_moment;
    epsilon = n * (above - below) / (2 * h) - 1 / c - 1 / (1 + c);
    const double curvature = n * (above - 2 * here + below) / (h * h) + 1 / (c * c) + 1 / ((1 + c) * (1 + c));
    return n * here - c * epsilon - x - std::log1p(c) - 0.5 * std::log(2 * std::numbers::pi * curvature) <= log_delta;
  };
  (void)numeric::bisect(is_smaller, {std::log(least_tilt), std::log(largest_tilt / step.step)}, 30);
  return std::clamp(epsilon, 1e-4 * largest, largest);
}

/// Losses are known up to an error, and delta falls with epsilon.
DensityLoss::Answer DensityLoss::bounded(const Step& step, const std::shared_ptr<const Powers>& powers, double epsilon) const {
  const double n = static_cast<double>(times_);
  const double shift = n * step.loss_error * (1 + 1e-9) + 8 * unit_roundoff * (std::abs(epsilon) + n * (std::abs(step.offset) + step.step));
  Answer answer{{-infinity, 0}, powers, powers->at(epsilon - shift), powers->at(epsilon + shift)};
  const auto& [high, low] = std::pair(answer.above, answer.below);
  const double most = high.value + high.polynomials + high.rounding + high.omitted, least = low.value - low.polynomials - low.rounding;
  if (most < infinity && most >= 0) answer.log_delta.hi = std::min(0.0, (high.scale + log(Interval::exactly(most))).hi);
  if (least > 0) answer.log_delta.lo = (low.scale + log(Interval::exactly(least))).lo;
  return answer;
}

DensityLoss::Answer DensityLoss::at(Direction direction, double epsilon, double wanted_width) const {
  const bool add = direction == Direction::add;
  const Step& step = steps_[add ? 1 : 0];
  const double largest = largest_loss(step);
  if (epsilon > largest + 2 * static_cast<double>(times_) * step.loss_error + 16 * unit_roundoff * largest)
    return {Interval::exactly(-infinity)};
  auto& known = QuestionScope::state_of<Known>(number_).powers[add ? 1 : 0];
  Answer best;
  for (const auto& [one, width] : known) {
    Work::count(50 + 0.02 * static_cast<double>(one->cells() * one->convolved()));
    Answer here = bounded(step, one, epsilon);
    if (here.log_delta.width() <= std::max(wanted_width, as_good * width)) return here;
    if (here.log_delta.width() < best.log_delta.width() || best.powers == nullptr) best = std::move(here);
  }
  const auto made = Powers::make(step, times_, saddle(step, epsilon), accuracy_);
  if (made == nullptr) return best;
  const auto products = static_cast<double>(made->cells() * made->convolved()) * static_cast<double>(made->nodes() * made->nodes());
  Work::count(500 + 1e-3 * products);
  Answer here = bounded(step, made, epsilon);
  known.push_back({made, here.log_delta.width()});
  return best.powers == nullptr || here.log_delta.width() < best.log_delta.width() ? here : best;
}

void DensityLoss::evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const {
  if (epsilon < 0) return evaluate(opposite(direction), -epsilon, found);  // [two-directions]
  const QuestionScope question;
  const Answer answer = at(direction, epsilon);
  cite();
  record(powers());
  Evaluation one{"density-powers", direction, epsilon, answer.log_delta};
  if (answer.powers != nullptr) {
    one.counts = {{"convolved", answer.powers->convolved()}, {"cells", answer.powers->cells()}, {"nodes", answer.powers->nodes()}};
    one.settings = {{"order", answer.powers->order()}};
    const Powers::Value& low = answer.below;
    const double least = std::max(low.value - low.polynomials - low.rounding, 1e-300);
    one.errors = {{"polynomials", 2 * low.polynomials / least}, {"rounding", 2 * low.rounding / least}, {"omitted", low.omitted / least}};
  }
  found.push_back(balanced(std::move(one), "losses"));
}

}  // namespace

double continuous_steps(const Parts& parts) {
  double steps = 0;
  for (const Part& part : parts)
    if (const auto step = density::step_of(*part.loss, Direction::remove))
      steps += static_cast<double>(part.times) * tilted_mass(*step, 0).continuous;
  return steps;
}

LossPointer compose_by_density_powers(const Parts& parts, const Accuracy& accuracy) {
  if (parts.size() != 1 || parts.front().times == 0) return nullptr;
  const Part& part = parts.front();
  const auto remove = density::step_of(*part.loss, Direction::remove), add = density::step_of(*part.loss, Direction::add);
  if (!remove || !add) return nullptr;
  const double share = std::max(tilted_mass(*remove, 0).continuous, tilted_mass(*add, 0).continuous);
  if (!(static_cast<double>(part.times) * share <= most_continuous) || !(share < 1 - 1e-6)) return nullptr;
  if (!Powers::has_grid(*remove, accuracy) || !Powers::has_grid(*add, accuracy)) return nullptr;
  return std::make_shared<const DensityLoss>(std::array{*remove, *add}, part, accuracy);
}

}  // namespace tradeoff::detail
