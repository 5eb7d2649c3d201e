// SPDX-License-Identifier: Apache-2.0
#include "operators/allocation/replaced_law.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "loss/work.h"
#include "operators/allocation/place_group.h"

namespace tradeoff::detail::allocation {
namespace {

constexpr std::size_t most_replaced_places = 40'000;
constexpr double replaced_step = 0.095;  // of the smoothing: two of them are as long as nodes of a transform may be
/// Points of all places: several seconds. With less noise a law is seldom reached by more.
double most_replaced_points(double s) { return s <= 4 ? 1.5e9 : 6e8; }
constexpr double largest_range_share = 1e-8;  // the same where values are interpolated

}  // namespace

namespace {

/// The expectation of the positive part of the sum of the summands at a place, or of its opposite.
Interval excess_at(Integral integral, const PlaceSummand& summand, double s, double n, double place) {
  const PlaceGroup group(integral, summand, s, n, {place}, {place});
  Work::count(point_price * group.points());
  if (!group.known()) return {0, infinity};
  const auto [value, error] = group.at({place});
  if (!(error < infinity && std::abs(value) < infinity)) return {0, infinity};
  const Interval found = Interval{value - error, value + error} + Interval{-underflow, underflow};
  return found.hi > 0 ? clamp(found, 0, infinity) : Interval{0, infinity};
}

}  // namespace

Interval replaced_epoch_delta(Interval mu, double steps, double epsilon) {
  const auto at = [&](double s) {
    return exp(Interval::exactly(epsilon) / 2.0 - square(Interval::exactly(s)) / 2.0) *
           excess_at(excess_integral, PlaceSummand{true}, s, steps, epsilon);
  };
  const Interval above = at(mu.hi), below = mu.lo == mu.hi ? above : at(mu.lo);
  return Interval{std::min(below.lo, above.hi), above.hi} * (Interval::exactly(2) / Interval::exactly(steps));
}

Interval removed_epoch_delta(Interval mu, double steps, double epsilon) {
  // A smaller place is a smaller epsilon, at which delta is larger.
  const auto place = [&](double s) { return 2.0 * Interval::exactly(epsilon) + square(Interval::exactly(s)); };
  const Interval above = excess_at(excess_integral, PlaceSummand{false}, mu.hi, steps, place(mu.hi).lo),
                 below = excess_at(excess_integral, PlaceSummand{false}, mu.lo, steps, place(mu.lo).hi);
  const Interval factor = exp(Interval::exactly(epsilon)) * (Interval::exactly(2) / Interval::exactly(steps));
  return factor * Interval{std::min(below.lo, above.hi), above.hi};
}

Interval added_epoch_delta(Interval mu, double steps, double epsilon) {
  // The place is that of -epsilon: a larger place is a smaller epsilon, at which delta is larger.
  const auto place = [&](double s) { return square(Interval::exactly(s)) - 2.0 * Interval::exactly(epsilon); };
  const Interval above = excess_at(shortfall_integral, PlaceSummand{false}, mu.hi, steps, place(mu.hi).hi),
                 below = excess_at(shortfall_integral, PlaceSummand{false}, mu.lo, steps, place(mu.lo).lo);
  return Interval{std::min(below.lo, above.hi), above.hi} * (Interval::exactly(2) / Interval::exactly(steps));
}

ReplacedLaw::ReplacedLaw(double s, double steps) : s_(s), steps_(steps), step_(short_step(replaced_step * 2 * s / std::sqrt(steps))) {}

void ReplacedLaw::reach(std::size_t places) {
  const std::size_t wanted = std::min(places, most_replaced_places);
  for (std::size_t i = 0; i < work_.size() && (i == 0 || ends_of_groups_[i - 1] < wanted); ++i)
    Work::count(work_[i]);  // as if this question had made it
  while (value_.size() < wanted && !ended_) {
    const std::uint64_t begin = Work::now();
    make_group();
    work_.push_back(Work::since(begin));
    ends_of_groups_.push_back(value_.size());
  }
}

namespace {

/// An analytic function on an interval, from its values at Chebyshev's places, the zeros of a polynomial of this degree.
/// [allocation-replaced-law]
class ChebyshevFit {
 public:
  static constexpr std::size_t degree = 26;
  static constexpr double sum_of_axes = 4;     // of the ellipse of the bound, relative to the half length
  static constexpr double lebesgue_bound = 4;  // 1 + (2/pi) log(degree), or more
  ChebyshevFit(double from, double to) : middle_((from + to) / 2), half_((to - from) / 2) {}

  [[nodiscard]] double place(std::size_t k) const { return middle_ + half_ * node(k); }
  [[nodiscard]] double beyond() const { return half_ * ((sum_of_axes + 1 / sum_of_axes) / 2 - 1); }
  [[nodiscard]] double height() const { return half_ * (sum_of_axes - 1 / sum_of_axes) / 2; }
  std::array<double, degree> value{};

  [[nodiscard]] double at(double place) const {
    const double x = (place - middle_) / half_;
    double sum = 0, weights = 0;
    for (std::size_t k = 0; k < degree; ++k) {
      const double distance = x - node(k);
      if (distance == 0) return value[k];
      const double weight = (k % 2 == 0 ? 1 : -1) * std::sin(angle(k)) / distance;
      sum += weight * value[k], weights += weight;
    }
    return sum / weights;
  }
  /// Of the interpolation, if the function is at most this on the ellipse; of the rounding of places and of the sums.
  [[nodiscard]] double error(double most) const {
    const double largest =
        std::abs(*std::max_element(value.begin(), value.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
    const double of_places = 32 * unit_roundoff * (1 + (std::abs(middle_) + half_) / half_) * most;
    return 4 * most * std::pow(sum_of_axes, 1 - static_cast<double>(degree)) / (sum_of_axes - 1) + lebesgue_bound * of_places +
           (1000 * lebesgue_bound) * unit_roundoff * largest;
  }

 private:
  [[nodiscard]] static double angle(std::size_t k) { return (static_cast<double>(k) + 0.5) * pi / static_cast<double>(degree); }
  [[nodiscard]] static double node(std::size_t k) { return std::cos(angle(k)); }
  double middle_, half_;
};

}  // namespace

/// Places where one large step is what matters, from a few of them. Whether there are any.
bool ReplacedLaw::add_range(double length) {
  const auto count = static_cast<std::size_t>(length / step_);
  if (count < 4 * ChebyshevFit::degree) return false;
  const std::size_t from = value_.size();
  const double first = step_ * static_cast<double>(from), last = first + step_ * static_cast<double>(count - 1),
               middle = (first + last) / 2;
  ChebyshevFit fit(first, last);
  const double low = first - fit.beyond(), high = last + fit.beyond();
  // Bounds between anchors exceed the chord by n d^2/(32 s^2).
  const auto intervals = static_cast<std::size_t>(std::ceil((high - low) * std::sqrt(steps_ / 16) / s_)) + 1;
  if (!(low > 0)) return false;
  const PlaceGroup group(replaced_density, PlaceSummand{}, s_, steps_, {low}, {high}, intervals);
  points_ += static_cast<double>(ChebyshevFit::degree) * group.points();
  if (!group.known() || group.needs_line()) return false;
  // Times e^(slope (l - middle)) the values are of one size.
  const double slope = std::log(group.at({first}).value / group.at({last}).value) / (last - first);
  if (!(std::abs(slope) < 1e3)) return false;
  const auto tilt = [&](double l) { return std::exp(slope * (l - middle)); };
  double doubt = 0;
  for (std::size_t k = 0; k < ChebyshevFit::degree; ++k) {
    const auto [value, error] = group.at({fit.place(k)});
    fit.value[k] = value * tilt(fit.place(k));
    doubt = std::max(doubt, error * tilt(fit.place(k)));
  }
  doubt = ChebyshevFit::lebesgue_bound * doubt + fit.error(std::exp(group.log_most(fit.height(), slope, middle)));
  std::vector<double> values, errors;
  for (std::size_t i = from; i < from + count; ++i) {
    const double l = step_ * static_cast<double>(i), value = fit.at(l) / tilt(l);
    const double error = bound_widened * doubt / tilt(l) + group.left_out({l}) + 1e-12 * std::abs(value);
    if (!(value > 0 && error <= largest_range_share * value)) return false;
    values.push_back(value), errors.push_back(error);
  }
  value_.insert(value_.end(), values.begin(), values.end());
  error_.insert(error_.end(), errors.begin(), errors.end());
  return true;
}

void ReplacedLaw::make_group() {
  for (const double length : {1.0, 0.5})
    if (far_ && range_fails_ < 3 && add_range(length)) {
      range_fails_ = 0;
      return;
    }
  if (far_) ++range_fails_;
  // Where one large step is what matters, more places may share their points: the path hardly changes from one to the next.
  constexpr double longest = 0.6;
  std::size_t parts = 1;
  while (far_ && parts < most_parts_ && 2 * static_cast<double>(parts * group_places) * step_ <= longest) parts *= 2;
  const std::size_t from = value_.size(), places = parts * group_places;
  const PlaceGroup group(replaced_density, PlaceSummand{}, s_, steps_, {step_ * static_cast<double>(from)},
                         {step_ * static_cast<double>(from + places - 1)}, parts);
  points_ += static_cast<double>(places) * group.points();
  far_ = !group.needs_line();
  ended_ = points_ > most_replaced_points(s_);
  for (std::size_t i = from; i < from + places && !ended_; ++i) {
    const auto [value, error] = group.known() ? group.at({step_ * static_cast<double>(i)}) : PlaceGroup::Value{};
    if (!(value > 0 && error <= largest_share * value)) {
      ended_ = parts == 1;
      most_parts_ = 1;  // once more, with shorter groups
      return;
    }
    value_.push_back(value);
    error_.push_back(error);
  }
}

}  // namespace tradeoff::detail::allocation
