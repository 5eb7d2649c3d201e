// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "loss/atoms.h"
#include "loss/loss.h"
#include "tradeoff/guarantee.h"

namespace tradeoff::detail {

/// The constraints that are not redundant, steepest first (epsilon decreasing, delta increasing), with the weights of the canonical pair:
/// with probability weights[i], which is announced, the pair is randomised response at active[i].epsilon; otherwise it reveals everything.
struct CanonicalConstraints {
  std::vector<Guarantee> active;
  std::vector<Interval> weights;
  std::vector<std::string> notes;  ///< one for each constraint that was dropped because the others imply it
  double slack = 0;                ///< weight of dropped constraints of which rounding hides whether they are redundant
};

/// [canonical-constraints] Throws DomainError for epsilon < 0 or delta outside [0, 1]. Without an active constraint nothing is guaranteed.
[[nodiscard]] CanonicalConstraints canonical_constraints(std::vector<Guarantee> constraints);

/// The distribution of the loss of the canonical pair: the least private mechanism that satisfies all the constraints.
[[nodiscard]] Atoms atoms_of(const CanonicalConstraints& constraints);

/// Any mechanism that is (epsilon, delta)-DP for each of the given pairs.
class ConstraintsLoss final : public Loss {
 public:
  /// `floor_is_meant`: the delta of the largest epsilon holds for every larger epsilon. Otherwise nothing is known beyond that epsilon.
  /// `origin`: the theorems behind the constraints, if they follow from another distribution.
  explicit ConstraintsLoss(std::vector<Guarantee> constraints, bool floor_is_meant = true, Citations origin = {});

  [[nodiscard]] Interval delta(Direction, Interval epsilon) const override {
    cite();
    return delta_of(atoms_, epsilon);
  }
  [[nodiscard]] Interval log_delta(Direction, Interval epsilon) const override {
    cite();
    return log_delta_of(atoms_, epsilon);
  }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return atoms_.infinite; }
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    const auto& active = canonical_.active;
    return {.atoms = &atoms_, .last_guarantee = active.empty() ? std::nullopt : std::optional(active.front().epsilon)};
  }
  [[nodiscard]] Tail tail() const override { return floor_is_meant_ || atoms_.infinite.hi == 0 ? Loss::tail() : Tail{}; }
  void cite() const override { record(citations_); }
  [[nodiscard]] std::string key() const override;

  [[nodiscard]] const CanonicalConstraints& canonical() const { return canonical_; }

 private:
  CanonicalConstraints canonical_;
  Atoms atoms_;
  bool floor_is_meant_;
  Citations citations_;
};

}  // namespace tradeoff::detail
