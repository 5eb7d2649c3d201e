// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "loss/recording.h"
#include "tradeoff/analyze.h"
#include "tradeoff/targets.h"

namespace tradeoff {

/// What a trial says about all targets together.
struct Outcome {
  bool meets = true;   ///< certainly each of them
  bool fails = false;  ///< certainly not one of them
  double excess = 0;   ///< a smooth measure of the distance, positive where a target is missed: only to choose the next trial
  double doubt = 0;    ///< how far it may be off
};

/// The plan with its `?` replaced, held against the targets. Each trial is made with the enclosure of a printed decimal, so that what was
/// verified still meets the targets when a reader types it back in.
class Trial {
 public:
  Trial(const Plan& plan, const Targets& targets, Neighbours neighbours, Tolerance tolerance)
      : plan_(plan), targets_(targets), neighbours_(neighbours), tolerance_(tolerance) {}

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] const Targets& targets() const { return targets_; }

  /// With this decimal, and with the shortest decimal that reads back as this double.
  [[nodiscard]] Outcome at(const std::string& text) const;
  [[nodiscard]] Outcome at(double value) const;
  /// Records what the trials at these decimals rest on: the others only led to them.
  void record_proof(const std::vector<std::string>& decimals) const;
  /// With the `?` gone already. A plan that is too large neither meets nor fails.
  [[nodiscard]] Outcome of(const Plan& plan) const;
  /// What was said of a plan that was too large; empty if none was.
  [[nodiscard]] const std::string& too_large() const { return too_large_; }

 private:
  const Plan& plan_;
  const Targets& targets_;
  Neighbours neighbours_;
  Tolerance tolerance_;
  mutable std::string too_large_;
  mutable std::vector<std::pair<std::string, Citations>> bases_;  // what the trials at decimals rest on
};

}  // namespace tradeoff
