// SPDX-License-Identifier: Apache-2.0
#include "curve/with_replacement.h"

#include <cmath>
#include <utility>
#include <vector>

#include "mechanism/constraints.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "numeric/arithmetic.h"
#include "tradeoff/error.h"

namespace tradeoff {
namespace {

Interval exactly(std::uint64_t value) { return Interval::exactly(static_cast<double>(value)); }

/// The base for inputs that differ in up to `size` records.
LossPointer group_of(const Loss& base, std::uint64_t size) {
  if (const auto mu = base.gaussian_mu()) return gaussian_loss(exactly(size) * *mu);
  if (const auto* laplace = dynamic_cast<const LaplaceLoss*>(&base))
    return std::make_shared<LaplaceLoss>(exactly(size) * laplace->epsilon0());
  const Tail tail = base.tail();
  if (tail.zero_from < infinity && size == 1) return nullptr;  // the base itself
  if (tail.zero_from < infinity) {
    const double epsilon = (exactly(size) * tail.zero_from).hi;
    return std::make_shared<ConstraintsLoss>(std::vector<Constraint>{{Interval::exactly(epsilon), Interval::exactly(0)}});
  }
  throw UnsupportedError(
      "sample_with_replacement: the group profiles of this mechanism are not known; Gaussian and Laplace noise and pure DP work");
}

// [replacement-subsampling] delta'(e) = sum_k C(m, k) n^-k (1 - 1/n)^(m-k) delta_k(log(1 + (e^e - 1)/w)), w = 1 - (1 - 1/n)^m; mirrored
// below 0.
class ReplacementLoss final : public Loss {
 public:
  struct Group {
    Interval log_weight;
    LossPointer loss;
  };

  ReplacementLoss(LossPointer base, std::uint64_t draws, std::uint64_t of) {
    const Interval log_kept = log1p(-1.0 / exactly(of));
    rate_ = of == 1 ? Interval::exactly(1) : -expm1(exactly(draws) * log_kept);
    Interval log_choose = Interval::exactly(0);
    for (std::uint64_t k = 1; k <= draws; ++k) {
      log_choose = log_choose + log(exactly(draws - k + 1)) - log(exactly(k));
      if (of == 1 && k < draws) continue;  // every draw is the one record
      const Interval weight = of == 1 ? Interval::exactly(0) : log_choose - exactly(k) * log(exactly(of)) + exactly(draws - k) * log_kept;
      LossPointer group = group_of(*base, k);
      groups_.push_back({weight, group ? std::move(group) : base});
    }
  }

  [[nodiscard]] Interval delta(Direction, Interval epsilon) const override { return {at(epsilon.hi).lo, at(epsilon.lo).hi}; }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    if (epsilon.lo < 0) return log(delta(direction, epsilon));
    return {log_at(epsilon.hi).lo, log_at(epsilon.lo).hi};
  }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  [[nodiscard]] Tail tail() const override { return sampled_tail(groups_.back().loss->tail(), rate_); }
  void explain(std::vector<Step>& steps) const override {
    groups_.front().loss->explain(steps);
    steps.push_back({"replacement-subsampling", std::to_string(groups_.size()) + " group profiles; replace-one neighbours"});
  }

 private:
  [[nodiscard]] Interval inner(double epsilon) const {
    if (epsilon == infinity) return Interval::exactly(infinity);
    const Interval point = Interval::exactly(epsilon);
    if (epsilon < 600) return log1p(expm1(point) / rate_);
    return point - log(rate_) + log1p(exp(-point) * (rate_ - 1.0));  // e^e would overflow soon
  }
  [[nodiscard]] Interval log_at(double epsilon) const {
    const Interval point = inner(epsilon);
    Interval sum = Interval::exactly(-infinity);
    for (const Group& group : groups_) sum = log_add_exp(sum, group.log_weight + group.loss->log_delta(Direction::remove, point));
    return min(sum, Interval::exactly(0));
  }
  [[nodiscard]] Interval at(double epsilon) const {
    const Interval point = inner(std::abs(epsilon));
    Interval sum = Interval::exactly(0);
    for (const Group& group : groups_) sum = sum + exp(group.log_weight) * group.loss->delta(Direction::remove, point);
    sum = clamp(sum, 0, 1);
    if (epsilon >= 0) return sum;
    return clamp(-expm1(Interval::exactly(epsilon)) + exp(Interval::exactly(epsilon)) * sum, 0, 1);
  }

  Interval rate_;
  std::vector<Group> groups_;
};

}  // namespace

LossPointer sample_with_replacement(const LossPointer& base, std::uint64_t draws, std::uint64_t of) {
  return std::make_shared<ReplacementLoss>(base, draws, of);
}

}  // namespace tradeoff
