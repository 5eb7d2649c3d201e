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
#include "loss/question_scope.h"
#include "loss/transform.h"
#include "numeric/arithmetic.h"
#include "transform/atoms_transform.h"
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

/// Many values, of which the outermost are rare: those of sampled noise on the integers.
const Atoms* long_law(const Loss& loss, Direction direction) {
  constexpr std::size_t many = 12;
  const Capabilities known = loss.capabilities(direction);
  const bool fits = known.transform == nullptr && known.atoms != nullptr && known.atoms->finite.size() >= many && known.atoms->slack == 0;
  return fits ? known.atoms : nullptr;
}

bool is_cut(const Loss& loss) {
  return sampled_zcdp(loss).has_value() || (long_law(loss, Direction::remove) && long_law(loss, Direction::add));
}

/// How much of either distribution is left out at the end of the largest losses, and at that of the smallest.
struct Rare {
  double top = 0, bottom = 0;
};

/// How many of the largest losses are left out: above 0 a loss is at most as probable under Q.
std::size_t left_out_above(const Atoms& atoms, double rare) {
  std::size_t count = 0;
  Interval end = Interval::exactly(0);
  for (; count + 1 < atoms.finite.size() && atoms.finite[count].loss.lo >= 0; ++count) {
    end = end + atoms.finite[count].mass;
    if (!(end.hi <= rare)) break;
  }
  return count;
}

/// The same of the smallest: below 0 a loss is at most as probable under P.
std::size_t left_out_below(const Atoms& atoms, double rare) {
  std::size_t count = 0;
  Interval end = Interval::exactly(0);
  for (; count + 1 < atoms.finite.size(); ++count) {
    const std::size_t place = atoms.finite.size() - 1 - count;
    end = end + mass_under_q(atoms, place);
    if (!(atoms.finite[place].loss.hi <= 0) || !(end.hi <= rare)) break;
  }
  return count;
}

/// Without the largest and the smallest losses.
Atoms without_ends(const Atoms& atoms, const Rare& rare) {
  const std::size_t first = left_out_above(atoms, rare.top), size = atoms.finite.size(),
                    last = std::max(first + 1, size - left_out_below(atoms, rare.bottom));
  Atoms inside{{}, atoms.infinite, atoms.other_infinite, atoms.mirrored && size - last == first, atoms.slack};
  Interval left_out = Interval::exactly(0), left_out_under_q = left_out;
  for (std::size_t i = 0; i < size; ++i) {
    if (i >= first && i < last) {
      inside.finite.push_back(atoms.finite[i]);
      continue;
    }
    left_out = left_out + atoms.finite[i].mass;
    left_out_under_q = left_out_under_q + mass_under_q(atoms, i);
  }
  inside.infinite.hi = std::min(1.0, (inside.infinite + left_out).hi);
  inside.other_infinite.hi = std::min(1.0, (inside.other_infinite + left_out_under_q).hi);
  return inside;
}

/// A loss without rare values, for a contour alone.
class CutLoss final : public Loss {
 public:
  CutLoss(LossPointer whole, const SampledZcdp& law, double rare)
      : whole_(std::move(whole)),
        remove_(cut_zcdp_transform(law.rho, law.rate, law.sampling, Direction::remove, rare)),
        add_(cut_zcdp_transform(law.rho, law.rate, law.sampling, Direction::add, rare)) {}
  CutLoss(LossPointer whole, const Rare& rare)
      : whole_(std::move(whole)),
        remove_(atoms_transform(without_ends(*long_law(*whole_, Direction::remove), rare))),
        add_(atoms_transform(without_ends(*long_law(*whole_, Direction::add), rare))) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override { return whole_->delta(direction, epsilon); }
  [[nodiscard]] bool symmetric() const override { return whole_->symmetric(); }
  [[nodiscard]] Capabilities capabilities(Direction direction) const override {
    return {.transform = direction == Direction::add ? add_.get() : remove_.get()};
  }
  void cite() const override { whole_->cite(); }

 private:
  LossPointer whole_;
  std::shared_ptr<const Transform> remove_, add_;
};

class CutContour final : public Loss, public ClosedForms, public Evaluable {
 public:
  CutContour(const Parts& parts, double left_out) : parts_(parts), left_out_(left_out), symmetric_(are_symmetric(parts)) {
    for (const Part& part : parts) {
      if (is_cut(*part.loss)) runs_ += static_cast<double>(part.times);
      const Atoms *remove = part.loss->atoms(Direction::remove), *add = part.loss->atoms(Direction::add);
      finite_ = finite_ && remove != nullptr && add != nullptr && !(remove->slack > 0) && !sampled_zcdp(*part.loss);
    }
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
    const LossPointer inside = contour(level_for(std::log(delta.lo)));
    return inside != nullptr ? inside->closed_epsilon(direction, delta) : std::nullopt;
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
  /// What is left out, as levels, and a part of which there is one run less; -1 for none.
  struct Cut {
    int top = 1, bottom = 1, less = -1;
    friend auto operator<=>(const Cut&, const Cut&) = default;
  };
  /// The probability that a loss of a level is left out, all runs together.
  [[nodiscard]] static double rare_at(int level) { return std::pow(10.0, -digits_of_level * level); }
  [[nodiscard]] int level_for(double log_delta) const {
    const double digits = -(log_delta + std::log(left_out_)) / std::numbers::ln10;
    return std::clamp(static_cast<int>(std::ceil(digits / digits_of_level)), 1, highest_cut);
  }
  [[nodiscard]] LossPointer contour(int level) const { return contour(Cut{level, level, -1}); }
  [[nodiscard]] LossPointer contour(const Cut& cut) const;
  [[nodiscard]] Answer answer(Direction direction, Interval epsilon) const;
  [[nodiscard]] Interval with_one_rare(Direction direction, double epsilon, double log_least) const;
  [[nodiscard]] Interval rare_sum(Direction direction, double epsilon, const Cut& cut, double negligible) const;

  Parts parts_;
  double left_out_;
  bool symmetric_;
  double runs_ = 0;     // that are cut
  bool finite_ = true;  // all laws, with known masses
  mutable std::mutex lock_;
  mutable std::map<Cut, LossPointer> contours_;  // for later questions
};

LossPointer CutContour::contour(const Cut& cut) const {
  const std::lock_guard guard(lock_);
  LossPointer& known = contours_[cut];
  if (known == nullptr) {
    Parts inside = parts_;
    if (cut.less >= 0) --inside[static_cast<std::size_t>(cut.less)].times;
    const double top = rare_at(cut.top) / runs_, bottom = rare_at(cut.bottom) / runs_;
    for (Part& part : inside)
      if (const auto law = sampled_zcdp(*part.loss))
        part.loss = std::make_shared<const CutLoss>(part.loss, *law, top);
      else if (is_cut(*part.loss))
        part.loss = std::make_shared<const CutLoss>(part.loss, Rare{top / 2, bottom / 2});
    std::erase_if(inside, [](const Part& part) { return part.times == 0; });
    known = compose_by_contour(inside);
  }
  return known;
}

CutContour::Answer CutContour::answer(Direction direction, Interval epsilon) const {
  constexpr double usual_delta = 1e-6;
  constexpr int many_levels = 6;
  const QuestionScope question;
  Answer found{{-infinity, 0}, level_for(std::log(usual_delta))};
  for (int i = 0; i < most_cuts; ++i) {
    const LossPointer inside = contour(found.level);
    if (inside != nullptr) found.log_delta = intersect(found.log_delta, inside->log_delta(direction, epsilon));
    const bool nothing = !(found.log_delta.lo > -infinity);
    const int needed = nothing ? 3 * found.level : level_for(found.log_delta.lo);
    if (needed <= found.level || needed > highest_cut) break;
    // Far out a single large loss decides, and no contour follows those of all runs.
    if (i == 0 && finite_ && epsilon.lo == epsilon.hi && (nothing || needed > found.level + many_levels)) {
      const Interval far = with_one_rare(direction, epsilon.lo, found.log_delta.lo);
      found.log_delta = intersect(found.log_delta, far);
      if (far.lo > -infinity || nothing) break;
    }
    found.level = needed;
  }
  return found;
}

// [cut-contour] Losses that are rare enough never occur twice: each alone beside all others.
Interval CutContour::with_one_rare(Direction direction, double epsilon, double log_least) const {
  const Interval anything{-infinity, 0};
  {
    const Unrecorded steering;  // a composition reveals at least as much as each of its parts
    for (const Part& part : parts_) log_least = std::max(log_least, part.loss->log_delta(direction, Interval::exactly(epsilon)).lo);
  }
  if (!(log_least > -infinity)) return anything;
  const auto level_of = [](double log_rare) { return static_cast<int>(std::ceil(-log_rare / std::numbers::ln10 / digits_of_level)); };
  const double left_out = log_least + std::log(left_out_);
  const Cut cut{std::max(1, level_of(0.5 * left_out)), std::max(1, level_of(left_out)), -1};
  const LossPointer inside = cut.bottom <= highest_cut ? contour(cut) : nullptr;
  if (inside == nullptr) return anything;
  const Interval none = exp(log_finite_delta(*inside->capabilities(direction).contours, direction, Interval::exactly(epsilon)));
  const Interval one = rare_sum(direction, epsilon, cut, std::exp(left_out));
  const double twice = rare_at(cut.top) * rare_at(cut.top), bottom = rare_at(cut.bottom);
  const Interval all = none + one + infinite_mass(direction) + Interval{0, (twice + bottom) * (1 + 1e-9)};
  return min(log(all), Interval::exactly(0));
}

/// The sum over the losses left out at the top, each of which occurs in exactly one run.
Interval CutContour::rare_sum(Direction direction, double epsilon, const Cut& cut, double negligible) const {
  Interval sum = Interval::exactly(0);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Atoms* atoms = is_cut(*parts_[i].loss) ? long_law(*parts_[i].loss, direction) : nullptr;
    if (atoms == nullptr) continue;
    const LossPointer others = contour({cut.top, cut.bottom, static_cast<int>(i)});
    const std::size_t count = left_out_above(*atoms, rare_at(cut.top) / runs_ / 2);
    const Interval times = Interval::exactly(static_cast<double>(parts_[i].times));
    double before = 1;  // the share of the loss before, which is larger
    for (std::size_t a = 0; a < count; ++a) {
      const Interval mass = times * atoms->finite[a].mass, left = Interval::exactly(epsilon) - atoms->finite[a].loss;
      if (a > 0 && !(atoms->finite[a].loss.hi <= atoms->finite[a - 1].loss.lo)) before = 1;  // which of the two is larger is not known
      Interval share{0, before};
      if (others != nullptr && mass.hi > negligible / static_cast<double>(count)) {
        const ContourLoss& contour = *others->capabilities(direction).contours;
        // Below 0 what is left out is negligible beside 1 - e^left.
        share = left.lo >= 0 ? exp(log_finite_delta(contour, direction, left))
                             : others->delta(direction, left) - Interval{0, 2 * rare_at(cut.top) + 2 * rare_at(cut.bottom)};
      }
      share = clamp(share, 0, before);
      before = share.hi;
      sum = sum + mass * share;
      constexpr double useless = 1e-3;  // of what is known
      if (!(mass.hi * share.width() <= std::max(useless * sum.lo, negligible))) return {0, 1};
    }
  }
  return sum;
}

/// What is left out is between nothing and all of it in both probabilities; the contour has counted it in one of them.
std::optional<Loss::Test> CutContour::test_at(Direction direction, double epsilon) const {
  if (epsilon < 0) return std::nullopt;
  const LossPointer inside = contour(answer(direction, Interval::exactly(epsilon)).level);
  auto found = inside != nullptr ? inside->test_at(direction, epsilon) : std::nullopt;
  if (!found) return std::nullopt;
  record_cut();
  const double rare = std::max(inside->infinite_mass(direction).hi, inside->infinite_mass(opposite(direction)).hi);
  found->false_positive = clamp(found->false_positive + Interval{0, rare}, 0, 1);
  return found;
}

void CutContour::evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const {
  if (epsilon < 0) return evaluate(opposite(direction), -epsilon, found);  // [two-directions]
  const Answer here = answer(direction, Interval::exactly(epsilon));
  const LossPointer inside = contour(here.level);
  if (inside == nullptr) return;
  record_cut();
  for (Evaluation& one : evaluations_of(*inside, direction, epsilon)) {
    one.log_delta = here.log_delta;
    found.push_back(balanced(std::move(one), "left out"));
  }
}

}  // namespace

LossPointer compose_by_cut_contour(const Parts& parts, double left_out) {
  if (std::none_of(parts.begin(), parts.end(), [](const Part& part) { return is_cut(*part.loss); })) return nullptr;
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
