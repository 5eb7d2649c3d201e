// SPDX-License-Identifier: Apache-2.0
#include "operators/allocation/mean_density.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "loss/work.h"
#include "operators/allocation/place_group.h"

namespace tradeoff::detail::allocation {
namespace {

/// About where log((Y_1 + ... + Y_n)/n) lies if no Y is so large that one of n is seldom larger.
struct Bulk {
  Bulk(double s, double n) {
    double z = 0;  // at which P is about 2/n
    while (std::erfc(z / std::numbers::sqrt2) * n > 4) z += 0.01;
    const auto normal = [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); };
    const double mean = normal(z - s);
    centre = std::log(mean);
    deviation = std::min(1.0, std::sqrt(std::max(std::exp(s * s) * normal(z - 2 * s) - mean * mean, s * s * mean * mean / 4) / n) / mean);
  }
  double centre = 0, deviation = 0;
};

/// Values of the density of log((Y_1 + ... + Y_n)/n) from the bulk outwards.
class MeanWalk {
 public:
  MeanWalk(double s, double n, double step, const Bulk& bulk, bool right)
      : s_(s), n_(n), step_(step), integral_(right ? density_right : density_left), sign_(right ? 1 : -1) {
    length_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(usual_reach * bulk.deviation / step));
  }

  /// Appends the values at places from + sign * i, i < count, as far as they are known.
  void fill(std::int64_t from, std::int64_t count, std::vector<double>& value, std::vector<double>& error);

 private:
  static constexpr double usual_reach = 4;    // of a group, in deviations of the mean: a line is then as good at its ends as in its middle
  static constexpr double good_share = 1e-9;  // of an error in its value
  static constexpr double good_share_per_step = 1e-13;  // roundings of one step count as often
  static constexpr int most_failures = 3;
  static constexpr double most_points = 4e7;  // of all groups: about two seconds
  static constexpr double longest = 4;        // of a group: where one large step is what matters
  static constexpr std::size_t anchors = 16;

  [[nodiscard]] std::int64_t add_group(std::int64_t from, std::int64_t count, std::vector<double>& value, std::vector<double>& error);

  double s_, n_, step_;
  Integral integral_;
  std::int64_t sign_, length_;
  bool far_ = false;
  double points_ = 0;
};

/// Appends the first values of a group as far as they are good, and returns how many.
std::int64_t MeanWalk::add_group(std::int64_t from, std::int64_t count, std::vector<double>& value, std::vector<double>& error) {
  const double first = step_ * static_cast<double>(from), last = step_ * static_cast<double>(from + sign_ * (count - 1));
  // w = s x - l/2 has the mean -s^2/2 - middle: e^w is Y e^-middle. The rounding of l moves the middle, whose digits are kept.
  const DoubleDouble square = numeric::two_product(s_, s_);
  const double l = square.high + (first + last);
  const DoubleDouble middle = (DoubleDouble{l, 0} + -square) / 2.0;
  const auto place = [&](double x) {
    const DoubleDouble beyond = -middle + x;
    return Place{l, std::exp(beyond.high) * (1 + beyond.low)};
  };
  const PlaceGroup group(integral_, PlaceSummand{false}, s_, n_, place(std::min(first, last)), place(std::max(first, last)), anchors);
  far_ = !group.needs_line();
  points_ += group.points();
  const double most = count > 1 ? good_share + n_ * good_share_per_step : largest_share;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto [here, doubt] = group.known() ? group.at(place(step_ * static_cast<double>(from + sign_ * i))) : PlaceGroup::Value{};
    if (!(here > 0 && doubt + underflow <= most * here)) return i;
    value.push_back(here);
    error.push_back(doubt + underflow);
  }
  return count;
}

void MeanWalk::fill(std::int64_t from, std::int64_t count, std::vector<double>& value, std::vector<double>& error) {
  const auto most = static_cast<std::int64_t>(longest / step_);
  for (std::int64_t done = 0, failures = 0; done < count;) {
    const std::int64_t wanted = std::min(length_, count - done), found = add_group(from + sign_ * done, wanted, value, error);
    done += found;
    if (found == wanted)
      length_ = std::max(length_, std::min(most, far_ ? 2 * length_ : length_ + length_ / 4));
    else
      length_ = std::max(found, (wanted + 1) / 2);
    failures = found > 0 ? 0 : failures + 1;
    if (failures > most_failures || points_ > most_points || (found == 0 && wanted == 1)) return;
  }
}

}  // namespace

MeanDensity mean_density(double s, double steps, const LawRange& range) {
  const Bulk bulk(s, steps);
  const auto index = [&](double place) { return static_cast<std::int64_t>(std::floor(place / range.step)); };
  const std::int64_t first = index(range.low), last = index(range.high) + 1, centre = std::clamp(index(bulk.centre), first, last);
  std::vector<double> left, left_error;
  MeanWalk(s, steps, range.step, bulk, false).fill(centre, centre - first + 1, left, left_error);
  MeanDensity density{range.step,
                      centre + 1 - static_cast<std::int64_t>(left.size()),
                      {left.rbegin(), left.rend()},
                      {left_error.rbegin(), left_error.rend()}};
  if (density.first == first) MeanWalk(s, steps, range.step, bulk, true).fill(centre + 1, last - centre, density.value, density.error);
  return density;
}

}  // namespace tradeoff::detail::allocation
