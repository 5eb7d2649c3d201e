// SPDX-License-Identifier: Apache-2.0
#include "engine/contour/cut.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "engine/contour/contour.h"
#include "loss/evaluation.h"
#include "loss/mirrored_delta.h"
#include "loss/transform.h"
#include "numeric/arithmetic.h"
#include "transform/zcdp_transform.h"

// [cut-contour]
namespace tradeoff::detail {
namespace {

constexpr int digits_of_level = 2, highest_cut = 150;
constexpr int most_cuts = 4;  // that one answer tries

/// What zCDP implies, on a sample.
struct SampledZcdp {
  Interval rho, rate;
  SampledBy sampling;
};
std::optional<SampledZcdp> sampled_zcdp(const Loss& loss) {
  const Capabilities known = loss.capabilities(Direction::remove);
  if (!known.sampled || known.transform == nullptr) return std::nullopt;
  const auto rho = known.sampled->base->capabilities(Direction::remove).zcdp_rho;
  return rho ? std::optional(SampledZcdp{*rho, known.sampled->rate, known.sampled->sampling}) : std::nullopt;
}

/// A loss without rare values, for a contour alone.
class CutLoss final : public Loss {
 public:
  CutLoss(LossPointer whole, const SampledZcdp& law, double rare)
      : whole_(std::move(whole)),
        remove_(cut_zcdp_transform(law.rho, law.rate, law.sampling, Direction::remove, rare)),
        add_(cut_zcdp_transform(law.rho, law.rate, law.sampling, Direction::add, rare)) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override { return whole_->delta(direction, epsilon); }
  [[nodiscard]] bool symmetric() const override { return whole_->symmetric(); }
  [[nodiscard]] Capabilities capabilities(Direction direction) const override {
    return {.transform = direction == Direction::add ? add_.get() : remove_.get()};
  }
  void cite() const override { whole_->cite(); }

 private:
  LossPointer whole_;
  std::unique_ptr<const Transform> remove_, add_;
};

class CutContour final : public Loss, public ClosedForms, public Evaluable {
 public:
  CutContour(const Parts& parts, double left_out) : parts_(parts), left_out_(left_out), symmetric_(are_symmetric(parts)) {
    for (const Part& part : parts)
      if (sampled_zcdp(*part.loss)) runs_ += static_cast<double>(part.times);
  }

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    return delta_by_logarithm(*this, direction, epsilon);
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    if (epsilon.lo < 0) return log(delta(direction, epsilon));
    if (epsilon.lo == infinity) return log(infinite_mass(direction));
    record_cut();
    return answer(direction, epsilon).log_delta;
  }
  [[nodiscard]] bool symmetric() const override { return symmetric_; }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override { return infinite_mass_of(parts_, direction); }
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.closed_forms = this, .evaluable = this, .cost = Cost::engine};
  }
  void cite() const override {
    for (const Part& part : parts_) part.loss->cite();
  }
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override {
    if (!(delta.lo > 0)) return std::nullopt;
    record_cut();
    return contour(level_for(std::log(delta.lo)))->closed_epsilon(direction, delta);
  }
  [[nodiscard]] std::optional<Test> test_at(Direction direction, double epsilon) const override;
  void evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const override;

 private:
  static void record_cut() {
    static const Citation citation("cut-contour", "the rarest large losses are left out and counted apart", Method::contour);
    record(citation);
  }
  struct Answer {
    Interval log_delta{-infinity, 0};
    int level = 1;
  };
  /// The probability that a loss of a level is left out, all runs together.
  [[nodiscard]] static double rare_at(int level) { return std::pow(10.0, -digits_of_level * level); }
  [[nodiscard]] int level_for(double log_delta) const {
    const double digits = -(log_delta + std::log(left_out_)) / std::numbers::ln10;
    return std::clamp(static_cast<int>(std::ceil(digits / digits_of_level)), 1, highest_cut);
  }
  [[nodiscard]] LossPointer contour(int level) const;
  [[nodiscard]] Answer answer(Direction direction, Interval epsilon) const;

  Parts parts_;
  double left_out_;
  bool symmetric_;
  double runs_ = 0;  // that are cut
  mutable std::mutex lock_;
  mutable std::map<int, LossPointer> contours_;  // by level; for later questions
};

LossPointer CutContour::contour(int level) const {
  const std::lock_guard guard(lock_);
  LossPointer& known = contours_[level];
  if (known == nullptr) {
    Parts cut = parts_;
    for (Part& part : cut)
      if (const auto law = sampled_zcdp(*part.loss)) part.loss = std::make_shared<const CutLoss>(part.loss, *law, rare_at(level) / runs_);
    known = compose_by_contour(cut);
  }
  return known;
}

CutContour::Answer CutContour::answer(Direction direction, Interval epsilon) const {
  constexpr double usual_delta = 1e-6;
  Answer found{{-infinity, 0}, level_for(std::log(usual_delta))};
  for (int i = 0; i < most_cuts; ++i) {
    found.log_delta = intersect(found.log_delta, contour(found.level)->log_delta(direction, epsilon));
    const int needed = found.log_delta.lo > -infinity ? level_for(found.log_delta.lo) : 3 * found.level;
    if (needed <= found.level || needed > highest_cut) break;
    found.level = needed;
  }
  return found;
}

/// What is left out is between nothing and all of it in both probabilities; the contour has counted it in one of them.
std::optional<Loss::Test> CutContour::test_at(Direction direction, double epsilon) const {
  if (epsilon < 0) return std::nullopt;
  const LossPointer inside = contour(answer(direction, Interval::exactly(epsilon)).level);
  auto found = inside->test_at(direction, epsilon);
  if (!found) return std::nullopt;
  record_cut();
  const double rare = std::max(inside->infinite_mass(direction).hi, inside->infinite_mass(opposite(direction)).hi);
  found->false_positive = clamp(found->false_positive + Interval{0, rare}, 0, 1);
  return found;
}

void CutContour::evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const {
  if (epsilon < 0) return evaluate(opposite(direction), -epsilon, found);  // [two-directions]
  const Answer here = answer(direction, Interval::exactly(epsilon));
  record_cut();
  for (Evaluation& one : evaluations_of(*contour(here.level), direction, epsilon)) {
    one.log_delta = here.log_delta;
    found.push_back(balanced(std::move(one), "left out"));
  }
}

}  // namespace

LossPointer compose_by_cut_contour(const Parts& parts, double left_out) {
  if (std::none_of(parts.begin(), parts.end(), [](const Part& part) { return sampled_zcdp(*part.loss).has_value(); })) return nullptr;
  // With fewer runs the transform decays too slowly: measured. A sample of fixed size has an atom at loss 0.
  constexpr std::uint64_t least_runs = 3, least_fixed = 8;
  std::uint64_t runs = 0;
  bool fixed = false;
  for (const Part& part : parts) {
    const auto law = sampled_zcdp(*part.loss);
    runs += part.times;
    fixed = fixed || (law && law->sampling == SampledBy::fixed);
  }
  if (runs < (fixed ? least_fixed : least_runs)) return nullptr;
  for (const Part& part : parts) {
    const Capabilities known = part.loss->capabilities(Direction::remove), other = part.loss->capabilities(Direction::add);
    const bool transforms = known.transform != nullptr && other.transform != nullptr,
               atoms = known.atoms != nullptr && other.atoms != nullptr;
    if (!known.gaussian_mu && !transforms && !atoms) return nullptr;
  }
  return std::make_shared<const CutContour>(parts, left_out);
}

}  // namespace tradeoff::detail
