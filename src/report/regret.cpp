// SPDX-License-Identifier: Apache-2.0
#include "report/regret.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "loss/question_scope.h"
#include "loss/recording.h"
#include "numeric/arithmetic.h"
#include "numeric/floating_point_guard.h"
#include "report/curve_table.h"

namespace tradeoff::detail::report {
namespace {

constexpr double wanted_width = 1e-4;     // regrets are quoted in thousandths
constexpr double wanted_relative = 0.01;  // and with two digits
constexpr std::size_t most_cells = 1000;  // beyond it the interval is wider
constexpr std::size_t first_cells = 64;   // enough to find every maximum early
constexpr double farthest = 700;          // exp overflows beyond

/// Both profiles at one epsilon.
struct Sample {
  double epsilon;
  Interval curve;
  Interval summary;
};

/// A bound of the regret between two samples: profiles decrease, 1 + exp increases.
struct Cell {
  Sample from;
  Sample to;
  double above;
};

/// [summary-regret] (delta_g - delta_f)(e) / (1 + exp(e)) for the given ends of both profiles.
Interval regret_at(Interval summary, Interval curve, double epsilon) { return (summary - curve) / (1.0 + exp(Interval::exactly(epsilon))); }

Cell cell_of(const Sample& from, const Sample& to) {
  const double above = regret_at({from.summary.hi, from.summary.hi}, {to.curve.lo, to.curve.lo}, from.epsilon).hi;
  return {from, to, std::max(above, 0.0)};
}

bool is_smaller(const Cell& a, const Cell& b) { return a.above < b.above; }

}  // namespace

// [summary-regret] Branch and bound over epsilon >= 0; beyond the last sample delta_f is not negative.
Interval regret_of(const Curve& curve, const Curve& summary) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return regret_of(curve, summary); });

  const QuestionScope question;
  static const Citation used("summary-regret", "what a summary by one number loses");
  record(used);
  const auto sample = [&](double epsilon) {
    const Interval at = Interval::exactly(epsilon);
    return Sample{epsilon, curve.delta_at(at), summary.delta_at(at)};
  };
  const double last = std::min(farthest, std::max(last_epsilon(curve, Direction::worst), last_epsilon(summary, Direction::worst)));
  std::vector<Cell> cells;
  double below = 0;
  Sample left = sample(0);
  below = std::max(below, regret_at(left.summary, left.curve, 0).lo);
  for (std::size_t i = 1; i <= first_cells; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(first_cells);
    const Sample right = sample(last * t * t);
    cells.push_back(cell_of(left, right));
    below = std::max(below, regret_at(right.summary, right.curve, right.epsilon).lo);
    left = right;
  }
  const double beyond = std::max(0.0, regret_at(left.summary, {0, 0}, left.epsilon).hi);
  std::make_heap(cells.begin(), cells.end(), is_smaller);
  while (cells.size() < most_cells && !(cells.front().above - below <= std::max(wanted_width, wanted_relative * below))) {
    std::pop_heap(cells.begin(), cells.end(), is_smaller);
    const Cell widest = cells.back();
    cells.pop_back();
    const Sample middle = sample(widest.from.epsilon + (widest.to.epsilon - widest.from.epsilon) / 2);
    below = std::max(below, regret_at(middle.summary, middle.curve, middle.epsilon).lo);
    for (const Cell& half : {cell_of(widest.from, middle), cell_of(middle, widest.to)}) {
      cells.push_back(half);
      std::push_heap(cells.begin(), cells.end(), is_smaller);
    }
  }
  const double above = std::max(cells.front().above, beyond);
  return {std::min(below, above), above};
}

}  // namespace tradeoff::detail::report
