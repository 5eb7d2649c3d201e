// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "loss/loss.h"
#include "mechanism/families.h"

namespace tradeoff::detail {

/// How a user's own profile continues beyond its last row.
struct StatedTail {
  enum class Kind { unknown, zero, gaussian };
  Kind kind = Kind::unknown;
  Interval factor;  ///< k and s of a Gaussian tail: delta(e) <= k exp(-e^2 / (2 s^2))
  Interval width;
};

/// A user's own privacy profile: the mechanism is (epsilon, delta)-DP for every row, in both orders of a neighbouring pair. Epsilon must be
/// at least 0 and increasing, delta not increasing and convex in e^epsilon; otherwise it throws a DomainError that names the row. `tail`
/// states what is known beyond the last row: `unknown`, `zero` if the last delta is 0, or `gaussian`.
[[nodiscard]] LossPointer profile_loss(const std::vector<std::pair<Interval, Interval>>& rows, const StatedTail& tail);

/// The smaller of the bound by the rows and the stated tail. In general no pair of distributions has this profile: refine it before
/// composing.
class TailedProfile final : public Loss {
 public:
  TailedProfile(LossPointer rows, std::shared_ptr<const FamilyLoss> beyond) : parts_{std::move(rows), std::move(beyond)} {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override;
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override;
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Capabilities capabilities(Direction) const override { return {.pair_and_bound = &parts_, .is_pair = false}; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  [[nodiscard]] Tail tail() const override { return parts_.bound->tail(); }
  [[nodiscard]] std::string key() const override;
  void cite() const override;

 private:
  PairAndBound parts_;  // the rows, and the stated tail
};

}  // namespace tradeoff::detail
