// SPDX-License-Identifier: Apache-2.0
#include "transform/raised_path.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "numeric/arithmetic.h"
#include "transform/nodes.h"

// [raised-path]
namespace tradeoff::detail {
namespace {

constexpr double widest_raised_cell = 0.125;
constexpr double most_raised_cells = 1000;                         // wider cells are valid, too
constexpr double largest_height = 9;                               // from here on |phi(x + iy)| grows by more than is gained
constexpr double right_angle = std::numbers::pi / 2 * (1 - 1e-9);  // of count mu y: below it all terms lie in one quadrant
constexpr double raised_power_slack = 1e-12;                       // relative error of |u| in plain doubles, times the power

}  // namespace

RaisedPath::RaisedPath(const MixturePair& pair, double low, double high)
    : pair_(pair),
      low_(low),
      high_(high),
      cell_((high - low) / std::clamp(std::ceil((high - low) / widest_raised_cell), 1.0, most_raised_cells)),
      mu_(middle_of(pair.mu)),
      ahead_count_(static_cast<double>(pair.ahead.count())),
      behind_count_(static_cast<double>(pair.behind.count())),
      height_(std::min(largest_height, right_angle / (mu_ * std::max(ahead_count_, behind_count_)))) {}

const std::vector<RaisedPath::End>& RaisedPath::ends() const {
  std::call_once(found_ends_, [this] {
    const auto cells = static_cast<std::size_t>(std::lround((high_ - low_) / cell_));
    for (std::size_t i = 0; i <= cells; ++i) {
      const double x = i < cells ? low_ + static_cast<double>(i) * cell_ : high_;
      ends_.push_back({x, pair_.ahead.rough(x, 0).log_modulus, pair_.behind.rough(-x, 0).log_modulus});
    }
  });
  return ends_;
}

const std::vector<RaisedPath::Raised>& RaisedPath::raised(std::size_t height) const {
  std::call_once(found_raised_[height], [&] {
    for (const End& end : ends()) {
      const MixtureSide::Polar ahead = pair_.ahead.rough(end.x, shares[height] * height_),
                               behind = pair_.behind.rough(-end.x, shares[height] * height_);
      raised_[height].push_back({ahead.log_modulus, behind.log_modulus, ahead.argument, behind.argument});
    }
  });
  return raised_[height];
}

// [raised-path] Beyond the cells: |u| <= u(Re x), |v| <= v(Re x), and neither is below its weight of N(0, 1).
double RaisedPath::log_tails(double power) const {
  const auto tail = [&](double p, const MixtureSide& own, double own_count, double other, const MixtureSide& beside, double x) {
    const double q = 1 - p, slope = std::max(p, 0.0) * own_count * mu_, shifted = 0.5 * slope * slope - slope * x;
    const double front = p * (p >= 0 ? own.rough(x, 0).log_modulus : own.log_weight(0).lo);
    const double back = q * (q >= 0 ? other : beside.log_weight(0).lo);
    return front + back + shifted + log_tail_above(x - slope) +
           bound_relative_slack * (std::abs(front) + std::abs(back) + slope * slope + std::abs(slope * x)) + bound_slack;
  };
  const double right = tail(power, pair_.ahead, ahead_count_, pair_.behind.rough(-high_, 0).log_modulus, pair_.behind, high_);
  const double left = tail(1 - power, pair_.behind, behind_count_, pair_.ahead.rough(low_, 0).log_modulus, pair_.ahead, -low_);
  return log_sum(left, right) + raised_power_slack * std::abs(power);
}

// [raised-path] On a cell the terms with a positive power, at height 0, exceed the larger of their end values by at most length^2/8; |u|
// and arg u grow with x, those of v fall.
double RaisedPath::log_moment_at(std::size_t height, double power, double t) const {
  const std::vector<End>& real = ends();
  const std::vector<Raised>& above = raised(height);
  const double up = std::max(power, 0.0), down = std::max(1 - power, 0.0), y = shares[height] * height_;
  const auto value = [&](const End& end) {
    const double ahead = up * end.ahead, behind = down * end.behind;
    return ahead + behind - 0.5 * end.x * end.x + bound_relative_slack * (std::abs(ahead) + std::abs(behind) + end.x * end.x);
  };
  double largest = -infinity, left = value(real.front());
  std::vector<double> cells;
  cells.reserve(real.size());
  for (std::size_t i = 0; i + 1 < real.size(); ++i) {
    const double right = value(real[i + 1]);
    const double least = std::min(power, 0.0) * above[i].ahead + std::min(1 - power, 0.0) * above[i + 1].behind;
    const double turned = (above[i].ahead_argument + above[i + 1].behind_argument) * (1 - bound_relative_slack);
    cells.push_back(std::max(left, right) + least + bound_relative_slack * std::abs(least) - t * turned);
    largest = std::max(largest, cells.back());
    left = right;
  }
  double sum = 0;
  for (const double cell : cells) sum += std::exp(cell - largest);
  const double rise = 0.5 * y * y + cell_ * cell_ / 8 + raised_power_slack * std::abs(power) + bound_slack;
  return log_sum(largest + std::log(sum * cell_) - log_root_two_pi, log_tails(power)) + rise;
}

double RaisedPath::log_moment_after(double power, double t) const {
  if (!(t > 0 && t < infinity && std::abs(power) < infinity)) return infinity;
  double best = infinity;
  for (std::size_t height = 0; height < shares.size(); ++height) {
    const double bound = log_moment_at(height, power, t);
    if (!(bound < best)) break;  // it falls with the height, then rises
    best = bound;
  }
  return best;
}

}  // namespace tradeoff::detail
