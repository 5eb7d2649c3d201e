// SPDX-License-Identifier: Apache-2.0
#include "gdp/measured_profile.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "loss/gaussian_profile.h"
#include "loss/recording.h"
#include "numeric/arithmetic.h"

namespace tradeoff::detail {
namespace {

std::shared_ptr<const MomentBound> moments_of(const Tail& tail) {
  if (tail.moments != nullptr) return tail.moments;
  auto own = std::make_shared<MomentBound>();
  return own->add(tail, 1) ? own : nullptr;
}

}  // namespace

MeasuredProfile::MeasuredProfile(const Loss& loss) : whole_(loss, Direction::worst) {
  const auto source = [this](const Loss& one, const Tail& tail) {
    const auto part = one.capabilities(Direction::remove).gaussian_part;
    sources_.push_back({Profile(one, Direction::worst), part, part ? tail.beside_gaussian : infinity});
  };
  for (const Loss* part : loss.minimum_of()) source(*part, part->tail());
  const Tail tail = loss.tail();
  moments_ = moments_of(tail);
  if (sources_.size() <= 1) model_ = tail.gaussian;
  if (!sources_.empty()) return;
  source(loss, tail);
  zero_from_ = tail.zero_from;
  if (const auto lattice = loss.lattice(); lattice && lattice->step.lo > 0) {
    corner_step_ = middle_of(lattice->step);
    first_corner_ = lattice->odd_half_steps ? corner_step_ / 2 : 0;
  }
}

// [chord-bound] Corners are places to ask at: that the profile is straight between them is not used in any proof.
std::optional<double> MeasuredProfile::corner_near(double at, double start, double end) const {
  constexpr double same = 1e-12;  // relative: a corner is known up to rounding
  const double nearest = std::round((at - first_corner_) / corner_step_);
  for (const double step : {0.0, 1.0, -1.0})
    if (const double corner = first_corner_ + (nearest + step) * corner_step_; corner > start * (1 + same) && corner < end * (1 - same))
      return corner;
  return std::nullopt;
}

const std::vector<MeasuredProfile::Value>& MeasuredProfile::at(double epsilon) {
  const auto known = values_.find(epsilon);
  if (known != values_.end()) return known->second;
  const Interval point = Interval::exactly(epsilon);
  std::vector<Value> found;
  if (epsilon >= zero_from_) found.assign(sources_.size(), {Interval::exactly(0), Interval::exactly(-infinity), Interval::exactly(0)});
  for (const Source& source : sources_) {
    if (epsilon >= zero_from_) break;
    const Profile& profile = source.profile;
    Value value{clamp(profile.delta(point), 0, 1), {}, {-infinity, 0}};
    if (value.delta.hi > 0.5) value.log_complement = profile.log_complement(epsilon);
    value.log_delta = value.delta.lo < smallest_plain_delta ? min(profile.log_delta(point), Interval::exactly(0)) : log(value.delta);
    if (model_ && epsilon >= model_->from && epsilon < infinity) {
      const Interval bound = model_->log_factor + model_->slope * point - square(point / model_->width) / 2.0;
      value.log_delta = {std::min(value.log_delta.lo, bound.hi), std::min(value.log_delta.hi, bound.hi)};
      value.delta.hi = std::max(value.delta.lo, std::min(value.delta.hi, exp(Interval::exactly(bound.hi)).hi));
    }
    found.push_back(value);
  }
  return values_.emplace(epsilon, std::move(found)).first->second;
}

Interval MeasuredProfile::delta(double epsilon) {
  Interval least = Interval::exactly(1);
  for (const Value& value : at(epsilon)) least = min(least, value.delta);
  return least;
}

double MeasuredProfile::mu_at_zero() {
  double least = infinity;
  const Interval zero = Interval::exactly(0);
  for (const Value& value : at(0)) {
    const bool large = value.delta.hi > 0.5;
    least = std::min(least, (large ? gaussian_mu_of_log_complement(zero, value.log_complement) : gaussian_mu(zero, value.delta)).hi);
  }
  return least;
}

Interval MeasuredProfile::infinite_mass() const {
  Interval least = Interval::exactly(1);
  for (const Source& source : sources_) least = min(least, source.profile.infinite_mass());
  return least;
}

std::vector<double> MeasuredProfile::points() const {
  std::vector<double> points;
  for (const auto& [epsilon, value] : values_) points.push_back(epsilon);
  return points;
}

// [moment-bound] Chernoff's bound at any order is a straight line.
std::optional<LogLine> MeasuredProfile::line_by_moments(double start, double end) const {
  if (moments_ == nullptr) return std::nullopt;
  static const Citation bound("moment-bound", "far out the moments of the parts bound the profile");
  record(bound);
  const double order = moments_->order_near(start + (end - start) / 2);
  const Interval at_zero = Interval::exactly(moments_->log_chernoff(order)), slope = Interval::exactly(order);
  return LogLine{(at_zero - slope * start).hi, (at_zero - slope * end).hi};
}

// [gaussian-part] log delta(e) + e^2/(2 mu^2) has slope at most rest/mu^2 + 1/2 in e.
std::optional<GaussianTail> MeasuredProfile::fall() const {
  const Source& source = sources_.front();
  if (sources_.size() > 1 || !source.gaussian_part || !(source.beside < infinity)) return std::nullopt;
  const Interval mu = Interval::exactly(source.gaussian_part->hi);
  return GaussianTail{-infinity, (Interval::exactly(source.beside) / square(mu) + 0.5).hi, mu.hi, source.beside};
}

GaussianTail MeasuredProfile::completed(GaussianTail fall, double from) {
  static const Citation part("gaussian-part", "the Gaussian part bounds the fall of the profile beyond any epsilon");
  record(part);
  const Interval start = Interval::exactly(from);
  fall.log_factor = (at(from).front().log_delta.hi - fall.slope * start + square(start / fall.width) / 2.0).hi;
  fall.from = from;
  return fall;
}

}  // namespace tradeoff::detail
