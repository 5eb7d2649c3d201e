// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "loss/moment_bound.h"
#include "operators/worst_profile.h"

namespace tradeoff::detail {

inline constexpr double smallest_plain_delta = 1e-290;  ///< below, delta has lost digits that its logarithm still has

/// A symmetric profile that caches its values. A bound that is the minimum of several profiles is kept as a list, because each of them is
/// convex in e^e and their minimum need not be.
class MeasuredProfile {
 public:
  explicit MeasuredProfile(const Loss& loss);

  struct Value {
    Interval delta;
    Interval log_delta;
    Interval log_complement;  ///< log(1 - delta); used where delta is above a half
  };
  /// The value of each of the profiles at epsilon.
  [[nodiscard]] const std::vector<Value>& at(double epsilon);
  [[nodiscard]] bool is_known(double epsilon) const { return values_.contains(epsilon); }
  [[nodiscard]] Interval delta(double epsilon);
  /// An upper bound of the transform at epsilon 0.
  [[nodiscard]] double mu_at_zero();
  [[nodiscard]] Interval infinite_mass() const;
  [[nodiscard]] std::size_t evaluations() const { return values_.size(); }
  /// Every epsilon evaluated so far.
  [[nodiscard]] std::vector<double> points() const;

  /// Whether the corners of the profile are known: between neighbouring ones it is straight in e^e. [chord-bound]
  [[nodiscard]] bool has_corners() const { return corner_step_ > 0; }
  [[nodiscard]] bool is_bounded() const { return zero_from_ < Tail::nothing; }
  /// About the corner that is nearest to a point and lies between two others; empty if there is none.
  [[nodiscard]] std::optional<double> corner_near(double at, double start, double end) const;

  /// A straight line on the safe side of the logarithm of one of the profiles, on [start, end].
  [[nodiscard]] std::optional<LogLine> line(std::size_t profile, LineOf of, double start, double end) const {
    return sources_[profile].profile.log_line(of, start, end);
  }
  /// Polynomials that follow the profile from `start` on, which lies below the larger of them; of a single profile only. [contour-arc]
  [[nodiscard]] std::vector<Arc> arcs(double start, double end) const {
    return sources_.size() == 1 ? sources_.front().profile.arcs(start, end) : std::vector<Arc>{};
  }
  /// A straight line above the logarithm of the profile, from divergences. [divergence-line]
  [[nodiscard]] std::optional<LogLine> divergence_line(double start, double end) const { return whole_.divergence_line(start, end); }
  /// A straight line above the logarithm of the profile, from its moments alone. [moment-bound]
  [[nodiscard]] std::optional<LogLine> line_by_moments(double start, double end) const;
  /// The mu of the Gaussian part of one of the profiles. [gaussian-part]
  [[nodiscard]] std::optional<Interval> gaussian_part(std::size_t profile) const { return sources_[profile].gaussian_part; }
  /// How the profile falls by its Gaussian part, beside which the losses are bounded: the slope and the width of a model that any value of
  /// the profile completes. [gaussian-part]
  [[nodiscard]] std::optional<GaussianTail> fall() const;
  /// That model, with the value at `from`.
  [[nodiscard]] GaussianTail completed(GaussianTail fall, double from);
  /// The moments of the pair; null if nothing is known about them.
  [[nodiscard]] const MomentBound* moments() const { return moments_.get(); }

 private:
  struct Source {
    Profile profile;
    std::optional<Interval> gaussian_part;
    double beside = 0;
  };

  Profile whole_;
  std::vector<Source> sources_;
  std::optional<GaussianTail> model_;  // bounds the profile from above where its own enclosure underflows
  std::shared_ptr<const MomentBound> moments_;
  double corner_step_ = 0, first_corner_ = 0;  // of a single profile
  double zero_from_ = Tail::nothing;           // of a single profile; a minimum may jump to 0, and the profiles that it is made of do not
  std::map<double, std::vector<Value>> values_;
};

}  // namespace tradeoff::detail
