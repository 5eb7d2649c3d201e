// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "engine/contour/rare.h"
#include "engine/contour/split_step.h"

// [rare-losses]
namespace tradeoff::detail::rare {

using Kinds = std::vector<RareKind>;
using Share = SplitStep::Share;

using Windows = std::vector<NoiseWindow>;

/// The noise that gives this loss.
[[nodiscard]] double noise_at(const RareKind& kind, double loss);
/// All steps split at one loss, with one width in units of log(w - 1 + rate); narrower where w^power would be large beyond them.
[[nodiscard]] Windows windows_at(const Kinds& kinds, double loss, double width, double power);
/// Windows beyond which no step has noise, but with about this probability over all steps; so narrow that w^power is small beyond them.
[[nodiscard]] Windows far_windows(const Kinds& kinds, double log_probability, double power);

/// Windows above which no step has noise, but with about this probability over all steps; narrow for powers up to the largest.
[[nodiscard]] Windows upper_windows(const Kinds& kinds, double log_probability, double largest_power);

/// All steps of a plan, split by windows: the runs without large losses (all steps in the bulk) and the runs with large losses.
class SplitPlan {
 public:
  /// Without upper windows every loss above the windows is large; with them the runs with noise above both are left out.
  SplitPlan(const Kinds& kinds, Windows windows, double largest_power, const RareAccuracy& accuracy, Windows uppers = {});

  [[nodiscard]] const Kinds& kinds() const { return kinds_; }
  [[nodiscard]] const std::vector<SplitStep>& steps() const { return steps_; }
  [[nodiscard]] bool usable() const;
  /// The bulk of a kind at t = 0, step, 2 step, ... with nodes that are fine enough for all t up to the longest: on the axis, or above it
  /// where no nodes on the axis follow the phases.
  using Bulk = std::variant<SplitStep::BulkTilt, SplitStep::RaisedBulk>;
  [[nodiscard]] std::optional<Bulk> fine_bulk(std::size_t kind, double power, double time_step, double longest) const;

  /// Approximations of log of E[e^(order L)] over the runs with and over the runs without large losses.
  [[nodiscard]] double log_rare(double order) const;
  [[nodiscard]] double log_bulk(double order) const;
  /// Upper bounds of log of E[e^(order L)] over the runs with one large loss, with more, and with any number of them.
  struct RareMoments {
    double one, more, any;
  };
  [[nodiscard]] RareMoments rare_above(double order) const;
  /// An upper bound of log of E[e^(order L)] over the runs without large losses.
  [[nodiscard]] double log_bulk_above(double order) const;
  /// Bounds of log |transform| beyond t on the line through the order.
  [[nodiscard]] double log_rare_beyond(double order, double t) const;
  [[nodiscard]] double log_bulk_beyond(double order, double t) const;
  /// An upper bound of log of the probability of noise above the windows; of the runs that are left out.
  [[nodiscard]] double log_probability() const { return log_probability_above(windows_); }
  [[nodiscard]] double log_left_out() const { return uppers_.empty() ? -infinity : log_probability_above(uppers_); }

 private:
  [[nodiscard]] double log_probability_above(const Windows& windows) const;
  [[nodiscard]] std::optional<NoiseWindow> upper(std::size_t kind) const {
    return uppers_.empty() ? std::nullopt : std::optional(uppers_[kind]);
  }

  Kinds kinds_;
  Windows windows_, uppers_;
  RareAccuracy accuracy_;
  std::vector<SplitStep> steps_;
};

}  // namespace tradeoff::detail::rare
