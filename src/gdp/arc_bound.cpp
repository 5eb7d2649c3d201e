// SPDX-License-Identifier: Apache-2.0
#include "gdp/arc_bound.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "loss/gaussian_profile.h"
#include "loss/recording.h"
#include "numeric/arithmetic.h"

namespace tradeoff::detail {
namespace {

constexpr std::size_t degrees = Arc::size;
constexpr int most_cells = 2000;  // more are needed only where the difference is next to 0 almost everywhere

/// The polynomial with these values at the Chebyshev points of [-1, 1], as a sum of Chebyshev polynomials.
class ChebyshevSum {
 public:
  explicit ChebyshevSum(const std::array<double, degrees>& values) {
    static const std::array<double, 4 * degrees> cosines = [] {
      std::array<double, 4 * degrees> table{};
      for (std::size_t i = 0; i < table.size(); ++i) table[i] = std::cos(static_cast<double>(i) * std::numbers::pi / (2.0 * degrees));
      return table;
    }();
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    for (std::size_t k = 0; k < degrees; ++k) {
      double sum = 0;
      for (std::size_t i = 0; i < degrees; ++i) sum += values[i] * cosines[k * (2 * i + 1) % (4 * degrees)];
      terms_[k] = sum * (k == 0 ? 1.0 : 2.0) / degrees;
    }
    // each cosine errs by at most 10 units, each of the sums by their number more, and all are added
    error_ = 2 * (degrees + 16) * degrees * unit_roundoff * largest;
    for (std::size_t k = 0; k < degrees; ++k) {
      const auto degree = static_cast<double>(k);
      bend_ += std::abs(terms_[k]) * degree * degree * (degree * degree - 1) / 3 * (1 + 1e-9);
      error_ += 16 * unit_roundoff * std::abs(terms_[k]) * (degree + 1) * (degree + 1) * (degree + 1);
    }
  }

  struct Value {
    double value = 0, slope = 0;
  };
  [[nodiscard]] Value at(double x) const {
    double before = 1, here = x;         // T_(k-1), T_k
    double slope_before = 0, slope = 1;  // U_(k-2), U_(k-1): the derivative of T_k is k U_(k-1)
    Value sum{terms_[0] + terms_[1] * x, terms_[1]};
    for (std::size_t k = 2; k < degrees; ++k) {
      const double next = 2 * x * here - before, next_slope = 2 * x * slope - slope_before;
      before = here, here = next;
      slope_before = slope, slope = next_slope;
      sum.value += terms_[k] * here;
      sum.slope += terms_[k] * static_cast<double>(k) * slope;
    }
    return sum;
  }
  /// A bound of the second derivative on [-1, 1].
  [[nodiscard]] double bend() const { return bend_; }
  /// A bound of the errors of the terms and of `value` and `slope`, each.
  [[nodiscard]] double error() const { return error_; }

 private:
  std::array<double, degrees> terms_{};
  double bend_ = 0, error_ = 0;
};

struct Cell {
  double middle, radius;
};

/// Whether the polynomial is above `level` on a part of [-1, 1], its errors included: on a cell by its value, slope and second derivative.
bool is_above(const ChebyshevSum& sum, double level, Cell part) {
  std::vector<Cell> open{part};
  for (int cells = 0; !open.empty(); ++cells) {
    const auto [middle, radius] = open.back();
    open.pop_back();
    const auto [value, slope] = sum.at(middle);
    if (cells >= most_cells || !(value - 2 * sum.error() > level)) return false;
    const double fall = (std::abs(slope) + sum.error()) * radius + 0.5 * sum.bend() * radius * radius;
    if (value - 2 * sum.error() - fall * (1 + 1e-9) > level) continue;
    open.push_back({middle - radius / 2, radius / 2});
    open.push_back({middle + radius / 2, radius / 2});
  }
  return true;
}

/// The part between two points, in the coordinate of the polynomial; not smaller.
Cell cell_of(const Arc& arc, double start, double end) {
  const auto place = [&arc](double epsilon) { return (epsilon - arc.middle) / arc.half; };
  const double rounding = 8 * arc.misplaced / arc.half + 1e-15;
  const double low = std::max(place(start) - rounding, -1.0), high = std::min(place(end) + rounding, 1.0);
  return {low + (high - low) / 2, (high - low) / 2 * (1 + 1e-12)};
}

}  // namespace

// [arc-bound] Both delta_mu and the profile are followed by polynomials on the same points, so their difference is one too.
bool stays_below(const Arc& arc, double mu, double start, double end) {
  if (!(mu > 0 && mu < infinity)) return false;
  const bool complement = arc.order < 0;
  std::array<double, degrees> difference{};
  double doubt = 0;
  for (std::size_t i = 0; i < degrees; ++i) {
    const Interval at = Interval::exactly(arc.points[i]), m = Interval::exactly(mu);
    const Interval known = complement ? log_gaussian_complement(m, at) : log_gaussian_delta(m, at);
    const Interval gaussian = exp(known + Interval::exactly(arc.order) * at - arc.base);
    const Interval above = complement ? Interval::exactly(arc.values[i]) - gaussian : gaussian - Interval::exactly(arc.values[i]);
    if (!(above.hi < infinity) || !(above.lo > -infinity)) return false;
    difference[i] = above.lo + (above.hi - above.lo) / 2;
    doubt = std::max(doubt, above.hi - above.lo);
  }
  // The derivative of order n of exp(order e - base) delta_mu(e) is at most exp(K - base)/pi int t^(n-2) exp(-mu^2 t^2/2) dt over t > 0.
  constexpr auto n = static_cast<double>(degrees);
  const double log_size =
      (square(Interval::exactly(mu)) * (Interval::exactly(arc.order) * (arc.order + Interval::exactly(1))) / 2.0 - arc.base).hi;
  const double log_derivative =
      log_size - std::log(std::numbers::pi) + 0.5 * (n - 3) * std::numbers::ln2 + std::lgamma(0.5 * (n - 1)) - (n - 1) * std::log(mu);
  const double slope = std::exp(log_size) / (mu * std::sqrt(2 * std::numbers::pi) * std::max(std::abs(arc.order), std::abs(arc.order + 1)));
  const double level = arc.error + arc.error_of_derivative(log_derivative) + Arc::lebesgue * (doubt + slope * arc.misplaced * (1 + 1e-6));
  if (!(level < infinity) || !is_above(ChebyshevSum(difference), level * (1 + 1e-9), cell_of(arc, start, end))) return false;
  static const Citation bound("arc-bound", "a polynomial that follows the difference of two profiles has one sign between two points");
  record(bound);
  return true;
}

ArcPeak peak_of(const Arc& arc, double start, double end) {
  const Unrecorded steering;
  const auto transform = [&arc](double epsilon, double value) {
    const Interval at = Interval::exactly(epsilon),
                   log_value = Interval::exactly(arc.base - arc.order * epsilon + std::log(std::max(value, 1e-300)));
    return (arc.order < 0 ? gaussian_mu_of_log_complement(at, min(log_value, Interval::exactly(0)))
                          : gaussian_mu_of_log(at, min(log_value, Interval::exactly(0))))
        .lo;
  };
  const ChebyshevSum sum(arc.values);
  const auto at = [&](double epsilon) {
    return transform(epsilon, sum.at(std::clamp((epsilon - arc.middle) / arc.half, -1.0, 1.0)).value);
  };
  // the best of equal steps, then parabolas through the three best points
  constexpr int steps = 12;
  std::array<ArcPeak, steps + 1> seen{};
  for (int i = 0; i <= steps; ++i) {
    const double epsilon = i == steps ? end : start + (end - start) * i / steps;
    seen[static_cast<std::size_t>(i)] = {epsilon, at(epsilon)};
  }
  const auto best = std::max_element(seen.begin(), seen.end(), [](const ArcPeak& a, const ArcPeak& b) { return a.mu < b.mu; });
  if (best == seen.begin() || best + 1 == seen.end()) return *best;
  ArcPeak left = *(best - 1), peak = *best, right = *(best + 1);
  for (int i = 0; i < 8; ++i) {
    const double a = (peak.mu - left.mu) / (peak.epsilon - left.epsilon), b = (right.mu - peak.mu) / (right.epsilon - peak.epsilon);
    const double bend = (b - a) / (right.epsilon - left.epsilon);
    double next = 0.5 * (left.epsilon + peak.epsilon) - 0.5 * a / bend;
    if (!(next > left.epsilon && next < right.epsilon) || !(bend < 0) || next == peak.epsilon) break;
    const ArcPeak found{next, at(next)};
    if (found.mu > peak.mu) {
      (next > peak.epsilon ? left : right) = peak;
      peak = found;
    } else {
      (next > peak.epsilon ? right : left) = found;
    }
  }
  return peak;
}

}  // namespace tradeoff::detail
