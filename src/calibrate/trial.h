// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "loss/recording.h"
#include "tradeoff/analyze.h"
#include "tradeoff/targets.h"

namespace tradeoff::detail {

/// The result of a trial against all targets.
struct Outcome {
  bool meets = true;   ///< all targets are proved to be met
  bool fails = false;  ///< one target is proved to be missed
  double excess = 0;   ///< a smooth distance, positive if a target is missed; it only chooses the next trial
  double doubt = 0;    ///< the possible error of `excess`
};

/// Whether a rough answer is asked before a sharp one: no longer after one that did not decide and took more work than the sharp one that
/// followed, nor after several that did not decide, which are close to the targets.
class RoughFirst {
 public:
  [[nodiscard]] bool helps() const { return in_vain_ < most_in_vain; }
  void was_in_vain(double work, double work_of_sharp) { in_vain_ = work > work_of_sharp && work > slow ? most_in_vain : in_vain_ + 1; }

 private:
  static constexpr int most_in_vain = 3;
  static constexpr double slow = 2e4;  // in the units of loss/work.h
  int in_vain_ = 0;
};

/// Compares the plan, with a value for its `?`, with the targets. Each trial uses the enclosure of a printed decimal, so that the verified
/// value still meets the targets when a reader types it.
class Trial {
 public:
  Trial(const Plan& plan, const Targets& targets, Neighbours neighbours, Tolerance tolerance)
      : plan_(plan), targets_(targets), neighbours_(neighbours), tolerance_(tolerance) {}

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] const Targets& targets() const { return targets_; }
  [[nodiscard]] Tolerance tolerance() const { return tolerance_; }
  /// Of one trial so far, in the units of loss/work.h.
  [[nodiscard]] double most_work() const { return most_work_; }

  /// With this decimal; and with the shortest decimal that reads back as this double.
  [[nodiscard]] Outcome at(const std::string& text) const;
  [[nodiscard]] Outcome at(double value) const;
  /// Records the theorems of the trials at these decimals; the other trials only guided the search.
  void record_proof(const std::vector<std::string>& decimals) const;
  /// For a plan without a `?`. A plan that is too large neither meets nor fails. A rough answer is asked first: far from the targets it
  /// decides, and there slow engines are not needed.
  [[nodiscard]] Outcome of(const Plan& plan) const;
  /// The same for a curve that is made to this tolerance.
  [[nodiscard]] Outcome of(const std::function<Curve(Tolerance)>& make) const;
  [[nodiscard]] Neighbours neighbours() const { return neighbours_; }
  /// The error message of a plan that was too large; empty if there was none.
  [[nodiscard]] const std::string& too_large() const { return too_large_; }

 private:
  [[nodiscard]] Outcome of(const std::function<Curve(Tolerance)>& make, const Plan* plan, RoughFirst& rough_first) const;
  /// Exact numbers of the plan decide where enclosures do not.
  [[nodiscard]] Outcome of(const std::function<Curve(Tolerance)>& make, const Plan* plan, Tolerance tolerance) const;

  const Plan& plan_;
  const Targets& targets_;
  Neighbours neighbours_;
  Tolerance tolerance_;
  mutable std::string too_large_;
  mutable double most_work_ = 0;
  mutable RoughFirst rough_first_;
  mutable std::map<std::string, Outcome> known_;                  // of the trials at decimals
  mutable std::vector<std::pair<std::string, Citations>> bases_;  // the theorems of the trials at decimals
};

}  // namespace tradeoff::detail
