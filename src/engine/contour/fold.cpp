// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/contour/line.h"
#include "numeric/arithmetic.h"

// [folded-contour] The losses lie on a lattice of step b, so the transform is periodic, and the sum over all nodes of a line is a sum over
// the nodes of one period with the kernels of a geometric series. Nodes are omitted only where a proved bound allows it.
namespace tradeoff::detail {
namespace {

using std::numbers::pi;
constexpr std::size_t block = 16;                 // nodes evaluated together
constexpr std::size_t most_folded_nodes = 40000;  // with more nodes the line is abandoned
constexpr double enough_steps = 20;               // steps of a plan; with fewer the march makes no progress
constexpr double most_multiples = 0x1p50;         // multiples of the step that doubles distinguish
constexpr double largest_doubt = 1e-9;            // error of a lattice point; with more the answer is the trivial one

/// 1 - exp(-a - i angle), a real of any sign: for a > 0 each part is a sum of two numbers without cancellation.
std::complex<double> one_minus_exp(double a, double angle) {
  const double shrunk = std::exp(-a), half = std::sin(0.5 * angle);
  return {-std::expm1(-a) + 2 * shrunk * half * half, shrunk * std::sin(angle)};
}

}  // namespace

/// Makes the window an odd number of lattice steps.
void ContourLine::fold_step(const LossLattice& lattice, double window) {
  Fold fold;
  fold.lattice = lattice;
  fold.step = 0.5 * (lattice.step.lo + lattice.step.hi);
  fold.doubt = lattice.step.width() / fold.step + 2 * unit_roundoff;
  fold.nodes = std::max(3.0, 2 * std::floor(0.5 * window / fold.step) + 1);
  if (fold.nodes * fold.step < window) fold.nodes += 2;
  if (!(fold.nodes < most_multiples)) return;
  const double b = fold.step, c = std::abs(order_);
  fold.kernel_error = (100 + 40 * std::exp(0.5 * b)) * unit_roundoff + (4 + 2 * c * b + 2 * b) * (fold.doubt + 4 * unit_roundoff);
  step_ = 2 * pi / (fold.nodes * b);
  window_ = fold.nodes * lattice.step.lo * (1 - 8 * unit_roundoff);
  time_error_ = fold.doubt + 8 * unit_roundoff;
  fold_ = std::move(fold);
}

ContourLine::FoldedKernels ContourLine::folded_kernels(double node) const {
  const double b = fold_->step, angle = 2 * pi * (node / fold_->nodes);
  const std::complex<double> first = one_minus_exp(order_ * b, angle), second = one_minus_exp((order_ + 1) * b, angle);
  const std::complex<double> both = 1.0 / (first * second);
  return {both, std::polar(std::exp(-order_ * b), -angle) * both, 1.0 / first, 1.0 / second};
}

// Nodes are summed until the rest of the half period is proved to be small, by a bound of the distribution or by a march; in the worst case
// all are summed.
void ContourLine::sum_folded(const ContourPlan& plan, const Tilts& tilts, double accuracy) {
  const double c = std::abs(order_), scale = deviation_;
  const double need = -std::log(accuracy) + 4 + std::log1p(c * scale) + std::log1p((c + 1) * scale) + std::log1p(scale / fold_->step);
  const double half = 0.5 * (fold_->nodes - 1), middle = pi / fold_->step * (1 + 1e-9);
  std::vector<double> times;
  for (const ContourPlan::Item& item : plan.items) times.push_back(item.times);
  double until = 0;
  while (static_cast<double>(nodes_.size()) < half) {
    if (nodes_.size() >= most_folded_nodes || static_cast<double>(nodes_.size() * points_) >= most_line_work) return close_folded(infinity);
    add_nodes(plan, tilts, static_cast<std::size_t>(std::min(static_cast<double>(block), half - static_cast<double>(nodes_.size()))));
    last_time_ = nodes_.back().t;
    if (!(nodes_.back().modulus < std::exp(-need)) || last_time_ < until) continue;
    double log_level = 0;
    for (std::size_t i = 0; i < tilts.size(); ++i)
      log_level += plan.items[i].times * std::log(tilts[i]->modulus_beyond(last_time_ * (1 - time_error_)));
    if (log_level <= -need) return close_folded(std::exp(log_level * (1 - 1e-12)));
    if (plan.steps < enough_steps) continue;
    until = march_from({tilts, times, last_time_, middle, need, false});
    if (until == infinity) return close_folded(std::exp(-need));
  }
}

/// |phi| <= level at every remaining node, fewer than in one period; the kernels decrease up to the middle of the period.
void ContourLine::close_folded(double level) {
  const FoldedKernels last = folded_kernels(static_cast<double>(nodes_.size()));
  for (std::size_t i = 0; i < last.size(); ++i) fold_->truncation[i] = level * std::abs(last[i]) * (1 + 1e-9 + 2 * fold_->kernel_error);
}

/// The part of the sum over nodes that all questions share.
void ContourLine::gather_folded() {
  Fold& fold = *fold_;
  const FoldedKernels at_zero = folded_kernels(0);
  for (std::size_t i = 0; i < at_zero.size(); ++i) {
    fold.first[i] = at_zero[i].real();
    fold.errors[i] = {std::abs(fold.first[i]), std::abs(fold.first[i]) * fold.kernel_error, 0, 2 * std::abs(fold.first[i])};
    fold.terms[i].assign(2 * numeric::lane_count * ((nodes_.size() + numeric::lane_count - 1) / numeric::lane_count), 0);
  }
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    const auto& [t, modulus, argument, growth, upper] = nodes_[k];
    const FoldedKernels kernels = folded_kernels(static_cast<double>(k + 1));
    const std::complex<double> phi = std::polar(2 * modulus, argument);
    const double r = growth + 4 * unit_roundoff * std::abs(argument) + turn_error + fold.kernel_error;
    const bool known = r < 0.5;
    const std::size_t place = k / numeric::lane_count * 2 * numeric::lane_count + k % numeric::lane_count;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const std::complex<double> term = phi * kernels[i];
      fold.terms[i][place] = term.real();
      fold.terms[i][place + numeric::lane_count] = term.imag();
      const double size = 2 * std::abs(kernels[i]);
      ErrorSums& sums = fold.errors[i];
      sums.size += size * modulus;
      sums.whole += size * (modulus + upper) * (1 + fold.kernel_error);
      sums.fixed += size * (known ? modulus * r * (1 + r) : (modulus + upper) * (1 + fold.kernel_error));
      if (known) sums.moving += size * modulus * t * (1 + r);
    }
  }
}

// [folded-contour] The sums are for epsilon' = x - r with x a lattice point and r in [0, b]; epsilon is within `away` of epsilon'.
ContourLine::Value ContourLine::at_folded(double epsilon, Kernel kernel) const {
  const Fold& fold = *fold_;
  const double b = fold.step, c = order_, shift = fold.lattice.odd_half_steps ? 0.5 : 0;
  // At a lattice point H is the same from both sides; a test rejects beyond it.
  const double place = epsilon / b - shift, cell = kernel == Kernel::profile ? std::ceil(place) : std::floor(place) + 1;
  const Interval point = fold.lattice.step * Interval::exactly(cell + shift);
  const double x = 0.5 * (point.lo + point.hi), r = std::clamp(x - epsilon, 0.0, b);
  const Interval apart = point - Interval::exactly(epsilon) - Interval::exactly(r);
  const double away = std::max(std::abs(apart.lo), std::abs(apart.hi));
  Value result;
  result.base = cumulant_ - Interval::exactly(c) * point;
  if (!(std::abs(cell) < most_multiples) || !(away < largest_doubt)) {
    result.above = result.below = infinity;
    return result;
  }

  const double drift = mean_ - x;
  const double drift_error = mean_error_ + 2 * unit_roundoff * (std::abs(mean_) + std::abs(x)) + point.width() +
                             (time_error_ + 4 * unit_roundoff) * std::abs(drift);
  const auto phases = first_phases(drift);
  const double block_angle = static_cast<double>(numeric::lane_count) * (step_ * drift);
  const std::size_t blocks = fold.terms[0].size() / (2 * numeric::lane_count);
  const auto [both, later] = numeric::turned_sums({fold.terms[0].data(), fold.terms[1].data(), blocks, phases.data(), block_angle});
  const auto [upper, lower] = numeric::turned_sums({fold.terms[2].data(), fold.terms[3].data(), blocks, phases.data(), block_angle});
  const double furthest = nodes_.empty() ? 0 : nodes_.back().t * drift_error,
               rounding = (static_cast<double>(nodes_.size()) + 16) * unit_roundoff;
  const auto error_of = [&](std::size_t i) {
    const ErrorSums& sums = fold.errors[i];
    return (furthest < 0.5 ? (sums.fixed + drift_error * sums.moving) * (1 + furthest) : sums.whole) + rounding * sums.size;
  };
  const double scale = (c > 0 ? 1 : -1) / fold.nodes, shrunk = std::exp(-r);
  const double tail = shrunk * scale * (fold.first[3] + lower);  // e^epsilon' Q(L >= x)
  const double tail_nodes = shrunk * std::abs(scale) * error_of(3) * (1 + 1e-9), tail_truncation = shrunk * fold.truncation[3] * (1 + 1e-9);
  // A bound of the slope of H near epsilon: that of the bound e^(K(c) - c x), at the point before x if epsilon may lie below it.
  const bool before = !(r + 2 * away < fold.lattice.step.lo);
  result.fall = before ? std::max(1.0, std::exp(c * b)) * (1 + 1e-9) : 1;
  if (const double steepest = (std::abs(tail) + tail_nodes + tail_truncation) * (1 + 1e-9); !before && steepest < 1) result.fall = steepest;
  result.slope = -tail;

  if (kernel == Kernel::profile) {
    // (1 - e^-r) + e^-z (e^-r - e^-b) over the two denominators: avoids a difference of large sums.
    const double start = -std::expm1(-r), rest = -shrunk * std::expm1(r - b),
                 rest_error = 12 * unit_roundoff * rest + b * (fold.doubt + 4 * unit_roundoff);
    result.value = scale * (start * (fold.first[0] + both) + rest * (fold.first[1] + later));
    result.nodes = std::abs(scale) *
                   (start * error_of(0) + rest * error_of(1) + 16 * unit_roundoff * start * fold.errors[0].size +
                    rest_error * (fold.errors[1].size + error_of(1))) *
                   (1 + 1e-9);
    result.truncation = (start * fold.truncation[0] + (rest + rest_error) * fold.truncation[1]) * (1 + 1e-9);
    result.nodes += away * result.fall * std::exp(result.base.width()) * (1 + 1e-6);
  } else if (kernel == Kernel::true_positive) {
    result.value = scale * (fold.first[2] + upper);
    result.nodes = std::abs(scale) * error_of(2) * (1 + 1e-9);
    result.truncation = fold.truncation[2];
  } else {
    result.value = tail;
    result.nodes = tail_nodes + 4 * (away + 4 * unit_roundoff) * (std::abs(tail) + tail_nodes);
    result.truncation = tail_truncation;
  }
  result.alias = alias(c > 0 ? epsilon - 2 * away : epsilon + 2 * away, result.base, kernel);
  result.above = result.nodes + result.truncation;
  result.below = result.above + result.alias;
  return result;
}

}  // namespace tradeoff::detail
