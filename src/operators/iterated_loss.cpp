// SPDX-License-Identifier: Apache-2.0
#include "operators/iterated_loss.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "loss/mirrored_delta.h"
#include "loss/work.h"
#include "numeric/arithmetic.h"
#include "operators/group.h"
#include "transform/group_transform.h"
#include "transform/iterated_curve.h"
#include "transform/iterated_table.h"
#include "transform/subsampled_transform.h"

namespace tradeoff::detail {
namespace {

constexpr double work_of_step = 8;         // of a chain, in the units of loss/work.h
constexpr double work_of_table = 0.5;      // of a value from the table
constexpr double smallest_known = 1e-280;  // of a value from the table: smaller ones lose their digits
constexpr double smallest_level = -600;    // its logarithm, for plain sums: e^loss times what underflows would not be small
const Interval nothing = Interval::exactly(0);

// [group-transform]
class IteratedLoss final : public Loss, public ClosedForms {
 public:
  IteratedLoss(LossPointer base, const SampledCurve& curve, std::size_t size)
      : base_(std::move(base)),
        curve_(curve, size),
        table_(curve_),
        transform_(group_transform(curve_)),
        iteration_("group-privacy", std::to_string(size) + " records: the trade-off function iterated; " + what_iteration_is) {
    for (const IteratedCurve::Piece& piece : curve_.pieces())
      if (piece.is_constant()) {
        const double loss = curve_.along(piece, middle_of(hull(piece.from, piece.to))).loss;
        corners_.push_back(loss);
        if (loss > 0) corners_.push_back(-loss);
      }
  }

  [[nodiscard]] Interval delta(Direction, Interval epsilon) const override {
    base_->cite();
    record(iteration_);
    if (epsilon.lo == epsilon.hi) return at(epsilon.lo);
    return {at(epsilon.hi).lo, at(epsilon.lo).hi};
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    const Interval plain = delta(direction, epsilon);
    if (plain.lo > 1e-290 || epsilon.lo < 0 || epsilon.hi == infinity) return log(plain);
    if (epsilon.lo == epsilon.hi) return log_at(epsilon.lo);
    return {log_at(epsilon.hi).lo, log_at(epsilon.lo).hi};
  }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return curve_.infinite_mass(); }
  [[nodiscard]] Tail tail() const override { return group_tail(base_->tail(), curve_.size()); }
  [[nodiscard]] std::optional<Interval> closed_beta(Direction, Interval alpha) const override {
    base_->cite();
    record(iteration_);
    return Interval{beta_at(alpha.hi).lo, beta_at(alpha.lo).hi};
  }
  [[nodiscard]] std::optional<Test> test_at(Direction, double epsilon) const override {
    base_->cite();
    record(iteration_);
    const Test found = test_beyond_zero(std::abs(epsilon));
    if (epsilon >= 0) return found;
    return Test{clamp(1.0 - found.true_positive, 0, 1), clamp(1.0 - found.false_positive, 0, 1)};
  }
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.transform = transform_.get(), .closed_forms = this, .corners = corners_};
  }
  void cite() const override {
    base_->cite();
    record(iteration_);
  }
  [[nodiscard]] std::string key() const override { return group_key(*base_, curve_.size()); }

 private:
  using Chain = IteratedCurve::Chain;

  [[nodiscard]] Chain chain(double log_alpha) const {
    Work::count(work_of_step * static_cast<double>(curve_.size()));
    return curve_.chain({true, Interval::exactly(log_alpha)});
  }
  [[nodiscard]] static Interval sum(const std::vector<Interval>& losses) {
    Interval total = nothing;
    for (const Interval loss : losses) total = total + loss;
    return total;
  }

  /// About the level at which the loss is epsilon >= 0; the loss falls with the level. For searches.
  [[nodiscard]] double level_of(double epsilon) const {
    double high = curve_.log_middle(), low = high;
    double at_low = 0;
    for (double step = 1; !(at_low > epsilon) && low > -1e15; step *= 2) at_low = curve_.rough_loss(low -= step).loss;
    double v = low;
    for (int i = 0; i < 100 && high - low > 1e-15 * std::abs(low); ++i) {
      const auto [loss, slope] = curve_.rough_loss(v);
      Work::count(work_of_step);
      (loss > epsilon ? low : high) = v;
      const double next = v - (loss - epsilon) / slope;
      if (std::abs(next - v) <= 1e-15 * std::abs(v)) break;
      v = next > low && next < high ? next : 0.5 * (low + high);
    }
    return v;
  }

  /// [group-privacy] delta(e_k) + e^(e_k) delta(e_(k-1)) + ...
  [[nodiscard]] Interval nested(const std::vector<Interval>& losses) const {
    const Unrecorded known;
    Interval total = nothing;
    for (const Interval loss : losses) total = base_->delta(Direction::remove, loss) + exp(loss) * total;
    return total;
  }

  [[nodiscard]] Interval at(double epsilon) const {
    if (epsilon == infinity) return infinite_mass(Direction::remove);
    if (epsilon < 0) return mirrored_delta(epsilon, at(-epsilon));
    const Interval least = infinite_mass(Direction::remove);
    if (epsilon >= curve_.largest_loss()) return least;
    if (const auto known = table_.delta(epsilon); known && known->lo > smallest_known) {
      Work::count(work_of_table);
      return max(*known, Interval::exactly(least.lo));
    }
    const double level = level_of(epsilon);
    if (level < smallest_level) return clamp(max(exp(log_at(epsilon)), Interval::exactly(least.lo)), 0, 1);
    const Chain found = chain(level);
    // From below the tangent at this level, from above losses whose sum is at most epsilon.
    const Interval reached = sum(found.losses), point = Interval::exactly(epsilon);
    const double lo = (nested(found.losses) + exp(Interval::exactly(level) + point) * expm1(reached - point)).lo;
    return {std::clamp(lo, least.lo, 1.0), std::clamp(above(found.losses, epsilon), std::max(lo, least.lo), 1.0)};
  }
  [[nodiscard]] double above(std::vector<Interval> losses, double epsilon) const {
    Interval others = nothing;
    for (std::size_t i = 1; i < losses.size(); ++i) {
      losses[i] = Interval::exactly(middle_of(losses[i]));
      others = others + losses[i];
    }
    losses.front() = Interval::exactly((Interval::exactly(epsilon) - others).lo);
    return nested(losses).hi;
  }

  /// The same in logarithms. From below delta at a loss that is at least epsilon.
  [[nodiscard]] Interval log_at(double epsilon) const {
    const auto nested_log = [&](const std::vector<Interval>& losses) {
      const Unrecorded known;
      Interval total = Interval::exactly(-infinity);
      for (const Interval loss : losses) total = log_add_exp(base_->log_delta(Direction::remove, loss), loss + total);
      return total;
    };
    if (epsilon >= curve_.largest_loss()) return log(infinite_mass(Direction::remove));
    double level = level_of(epsilon);
    Chain found = chain(level);
    std::vector<Interval> adjusted = found.losses;
    Interval others = nothing;
    for (std::size_t i = 1; i < adjusted.size(); ++i) {
      adjusted[i] = Interval::exactly(middle_of(adjusted[i]));
      others = others + adjusted[i];
    }
    adjusted.front() = Interval::exactly((Interval::exactly(epsilon) - others).lo);
    double lo = -infinity;
    for (double step = 1e-14; step < 1e-3; step *= 16) {
      if (sum(found.losses).lo >= epsilon) {
        lo = nested_log(found.losses).lo;
        break;
      }
      found = chain(level -= step * std::abs(level));
    }
    return {lo, std::max(lo, std::min(0.0, nested_log(adjusted).hi))};
  }

  [[nodiscard]] Interval beta_at(double alpha) const {
    if (alpha <= 0) return clamp(1.0 - curve_.infinite_mass(), 0, 1);
    if (alpha >= 1) return nothing;
    Level<Interval> level{true, log(Interval::exactly(alpha))};
    if (alpha > 0.5) level = {false, log(1.0 - Interval::exactly(alpha))};
    const Level<Interval> end = curve_.chain(level).end;
    Work::count(2 * work_of_step * static_cast<double>(curve_.size()));
    const Interval mass = clamp(exp(end.log_mass), 0, 1);
    return end.left ? clamp(1.0 - mass, 0, 1) : mass;
  }

  /// Levels at which the loss is certainly above and certainly below epsilon bound the threshold.
  [[nodiscard]] Test test_beyond_zero(double epsilon) const {
    Test found{nothing, infinite_mass(Direction::remove)};
    if (epsilon > curve_.largest_loss()) return found;
    const auto power = [](const Level<Interval>& end) {
      const Interval mass = clamp(exp(end.log_mass), 0, 1);
      return end.left ? mass : clamp(1.0 - mass, 0, 1);
    };
    const double level = level_of(epsilon), size = 1e-15 * (1 + std::abs(level));
    found.false_positive = found.true_positive = {0, 1};
    for (double away = 0; away < 1e18 * size; away = away == 0 ? size : 8 * away) {
      const Chain there = chain(level - away);
      if (!(sum(there.losses).lo > epsilon)) continue;
      found.false_positive.lo = exp(Interval::exactly(level - away)).lo;
      found.true_positive.lo = power(there.end).lo;
      break;
    }
    for (double away = 0; level + away < 0; away = away == 0 ? size : 8 * away) {
      const Chain there = chain(level + away);
      if (!(sum(there.losses).hi < epsilon)) continue;
      found.false_positive.hi = exp(Interval::exactly(level + away)).hi;
      found.true_positive.hi = power(there.end).hi;
      break;
    }
    return found;
  }

  LossPointer base_;
  IteratedCurve curve_;
  IteratedTable table_;
  std::unique_ptr<const Transform> transform_;
  Citation iteration_;
  std::vector<double> corners_;
};

/// The curve of the base, if it is known in closed form.
std::optional<SampledCurve> curve_of(const Loss& base) {
  const Capabilities known = base.capabilities(Direction::remove);
  const bool sampled = known.sampled && known.sampled->sampling == SampledBy::fixed;
  const Loss& inner = sampled ? *known.sampled->base : base;
  const Interval rate = sampled ? known.sampled->rate : Interval::exactly(1);
  SampledCurve curve{inner.capabilities(Direction::remove).zcdp_rho, {}, rate};
  if (!curve.rho) {
    const auto found = sampled_base(inner);
    if (!found) return std::nullopt;
    curve.base = *found;
  }
  return IteratedCurve::is_known(curve) ? std::optional(curve) : std::nullopt;
}

}  // namespace

LossPointer iterated_loss(const LossPointer& base, std::size_t size) {
  const auto curve = base->symmetric() ? curve_of(*base) : std::nullopt;
  return curve ? std::make_shared<IteratedLoss>(base, *curve, size) : nullptr;
}

}  // namespace tradeoff::detail
