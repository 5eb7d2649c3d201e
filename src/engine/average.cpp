// SPDX-License-Identifier: Apache-2.0
#include "engine/average.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/epsilon_search.h"
#include "engine/exact/exact.h"
#include "loss/atoms.h"
#include "loss/evaluation.h"
#include "loss/work.h"
#include "numeric/arithmetic.h"

namespace tradeoff::detail {
namespace {

constexpr double most_averaged = 1500;       // atoms: each takes a value of the profile, a microsecond
constexpr double most_averaged_terms = 5e6;  // to list them: ten milliseconds
constexpr double nearly_underflow = 1e-280;  // below it sums are formed in logarithms
constexpr double work_of_value = 1;          // of the profile, in the units of loss/work.h

// [averaged-profile]
class AveragedLoss final : public Loss, public ClosedForms, public Evaluable {
 public:
  AveragedLoss(LossPointer listed, LossPointer other, const Parts& parts)
      : listed_(std::move(listed)), other_(std::move(other)), tail_(tail_of(parts)), laws_(citations_of_laws(parts)) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    cite();
    record(average());
    return average_of(direction, epsilon);
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    cite();
    record(average());
    const Interval found = average_of(direction, epsilon);
    if (found.lo > nearly_underflow) return log(found);
    const Unrecorded inside;
    const Atoms& atoms = law(direction);
    Interval sum = log(law(direction).infinite);
    for (const Atom& atom : atoms.finite) sum = log_add_exp(sum, log(atom.mass) + other_->log_delta(direction, epsilon - atom.loss));
    return min(lowered(sum, atoms.slack), Interval::exactly(0));
  }
  [[nodiscard]] bool symmetric() const override { return listed_->symmetric() && other_->symmetric(); }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override {
    return clamp(1.0 - (1.0 - law(direction).infinite) * (1.0 - other_->infinite_mass(direction)), 0, 1);
  }
  [[nodiscard]] Tail tail() const override { return tail_; }
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.closed_forms = this, .evaluable = this, .cost = Cost::engine};
  }
  /// [profile-inversion]
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override {
    return epsilon_by_values(*this, direction, delta);
  }
  [[nodiscard]] std::optional<Test> test_at(Direction direction, double epsilon) const override {
    const auto found = averaged_test(direction, epsilon);
    if (found) {
      cite();
      record(average());
    }
    return found;
  }
  void cite() const override { record(laws_); }
  void evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const override {
    Evaluation one = whole_evaluation(*this, direction, epsilon);
    one.counts = {{"atoms", law(direction).finite.size()}};
    found.push_back(balanced(std::move(one), "atoms"));
  }

 private:
  [[nodiscard]] static const Citation& average() {
    static const Citation citation("averaged-profile", "the profile of one run, averaged over the exact losses of all others",
                                   Method::exact);
    return citation;
  }
  [[nodiscard]] const Atoms& law(Direction direction) const { return *listed_->atoms(direction); }

  /// P(L > e) and Q(L > e) are averages over the atoms, too; under Q they are weighted by their probabilities there.
  [[nodiscard]] std::optional<Test> averaged_test(Direction direction, double epsilon) const {
    const Atoms& atoms = law(direction);
    if (atoms.slack > 0) return std::nullopt;
    const Unrecorded inside;
    Test sum{Interval::exactly(0), atoms.infinite};
    for (const Atom& atom : atoms.finite) {
      const Interval there = epsilon - atom.loss;
      const auto low = other_->test_at(direction, there.lo), high = there.lo == there.hi ? low : other_->test_at(direction, there.hi);
      if (!low || !high) return std::nullopt;
      const Interval accused{high->false_positive.lo, low->false_positive.hi}, found{high->true_positive.lo, low->true_positive.hi};
      sum.false_positive = sum.false_positive + atom.mass * exp(-atom.loss) * accused;
      sum.true_positive = sum.true_positive + atom.mass * found;
    }
    Work::count(2 * work_of_value * static_cast<double>(atoms.finite.size()));
    return Test{clamp(sum.false_positive, 0, 1), clamp(sum.true_positive, 0, 1)};
  }

  [[nodiscard]] Interval average_of(Direction direction, Interval epsilon) const {
    const Unrecorded inside;
    const Atoms& atoms = law(direction);
    Interval sum = law(direction).infinite;
    for (const Atom& atom : atoms.finite) sum = sum + atom.mass * other_->delta(direction, epsilon - atom.loss);
    Work::count(work_of_value * static_cast<double>(atoms.finite.size()));
    const Interval least = sum * (1.0 - Interval::exactly(atoms.slack));
    return clamp(Interval{least.lo, sum.hi}, 0, 1);
  }
  [[nodiscard]] static Interval lowered(Interval log_delta, double slack) {
    return slack > 0 ? Interval{(log_delta + log1p(-Interval::exactly(slack))).lo, log_delta.hi} : log_delta;
  }

  LossPointer listed_;
  LossPointer other_;
  Tail tail_;
  Citations laws_;
};

}  // namespace

LossPointer compose_by_average(const Parts& parts, Tolerance tolerance) {
  Parts finite;
  LossPointer other;
  for (const Part& part : parts) {
    if (part.loss->atoms(Direction::remove) != nullptr && part.loss->atoms(Direction::add) != nullptr) {
      finite.push_back(part);
      continue;
    }
    if (other != nullptr || part.times != 1 || part.loss->cost() != Cost::formula) return nullptr;
    other = part.loss;
  }
  if (other == nullptr || finite.empty()) return nullptr;
  const ExactSize size = exact_size(finite);
  if (size.way != ExactWay::list || !(size.atoms <= most_averaged) || !(size.terms <= most_averaged_terms)) return nullptr;
  LossPointer listed = compose_exactly(finite, tolerance);
  if (listed->atoms(Direction::remove) == nullptr || listed->atoms(Direction::add) == nullptr) return nullptr;
  return std::make_shared<const AveragedLoss>(std::move(listed), std::move(other), parts);
}

LossPointer averaged_over(LossPointer finite, LossPointer other) {
  const Parts both{{finite, 1}, {other, 1}};
  return std::make_shared<const AveragedLoss>(std::move(finite), std::move(other), both);
}

}  // namespace tradeoff::detail
