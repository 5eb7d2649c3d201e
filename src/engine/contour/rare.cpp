// SPDX-License-Identifier: Apache-2.0
#include "engine/contour/rare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "engine/hyperbolic/window.h"
#include "loss/evaluation.h"
#include "loss/question_scope.h"
#include "loss/work.h"
#include "numeric/arithmetic.h"
#include "numeric/normal.h"
#include "transform/characteristic_function.h"
#include "transform/nodes.h"

// [rare-losses]
namespace tradeoff::detail {
namespace {

using std::numbers::pi;
using Complex = std::complex<double>;

constexpr double most_rare_rate = 1e-2;        // for larger rates the other contours are as good
constexpr double most_participations = 3;      // expected, of all steps: with more, many small losses decide
constexpr double least_distance = 25;          // of epsilon from 0, in deviations of the sum of the small losses
constexpr std::size_t most_kinds = 16;         // of steps
constexpr double node_reach = 10.5;            // deviations of the noise that the nodes cover beyond the tilted means: e^-55
constexpr double window_reach = 25;            // beyond this argument of erfc a weight is left to the bound of what lies outside
constexpr double most_points = 4000;           // of one quadrature
constexpr double most_time = 4e4;              // of a node
constexpr std::size_t most_line_nodes = 4000;  // of the sum over t
constexpr double good_rare_width = 1e-10;      // a line this accurate is used again

/// One kind of step: N(0,1) against (1 - rate) N(0,1) + rate N(mu,1), run `times` times.
struct RareKind {
  double mu, rate, relative_mu, relative_rate, times;
};

double log_add(double a, double b) { return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b))); }

/// log of the supremum of (1 - e^-x) e^-sx over x > 0.
double log_kernel_bound(double s) { return s <= 0 ? 0 : s * std::log(s) - (1 + s) * std::log1p(s); }

double log_expm1_of(double x) { return x > 40 ? x : std::log(std::expm1(x)); }

double few_bits_below(double x, int bits) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::floor(std::ldexp(fraction, bits)), exponent - bits);
}

/// A complex number and a bound of its error.
struct Enclosed {
  Complex value;
  double error = 0;
};

/// The two parts of a step: noise z gets the weight Phi(-(z - centre)/width) in the bulk and the rest in the tail. Quadrature by the
/// trapezoidal rule in z, with error bounds by lines parallel to the axis. [rare-losses]
class SplitStep {
 public:
  enum class Share { bulk, tail };

  SplitStep(const RareKind& kind, double centre, double width, double largest_power, double step);

  [[nodiscard]] bool usable() const { return !loss_.empty(); }
  [[nodiscard]] double step() const { return step_; }
  /// An upper bound of log E[weight w^power], and an approximation of it; the bulk less 1 and the tail, in plain doubles.
  [[nodiscard]] double log_moment_above(Share share, double power) const;
  [[nodiscard]] double bulk_less_one(double power) const;
  [[nodiscard]] double log_tail(double power) const;
  /// log of a bound of |E[tail w^(power + iy)]| for every y >= t.
  [[nodiscard]] double log_tail_beyond(double power, double t) const;
  /// log of a bound of the quadrature error of E[weight w^(power + iy)] for every |y| <= t.
  [[nodiscard]] double log_missed(Share share, double power, double t) const;

  /// E[bulk w^(power + it)] - 1, by the nodes on the axis.
  class BulkTilt {
   public:
    BulkTilt(const SplitStep& step, double power, double longest);
    [[nodiscard]] Enclosed at(double t) const;
    [[nodiscard]] std::size_t points() const { return weight_.size(); }
    [[nodiscard]] double missed() const { return missed_; }

   private:
    double power_, missed_;
    std::vector<double> weight_, loss_;
    double constant_ = 0, linear_ = 0;                                 // the value at t = 0, and the first moment
    double constant_error_ = 0, linear_error_ = 0, square_error_ = 0;  // of 1, P and P^2, P = power + t
  };
  /// E[tail w^(power + it)] e^-log_scale at t = 0, step, 2 step, ..., by nodes above the axis: there the phases decay, and the quadrature
  /// error is the same for every t >= 0.
  class TailTilt {
   public:
    TailTilt(const SplitStep& step, double power, double time_step);
    /// The value at the next t.
    [[nodiscard]] Enclosed next();
    [[nodiscard]] double log_scale() const { return log_scale_; }
    [[nodiscard]] std::size_t points() const { return loss_.size(); }

   private:
    static constexpr std::size_t fresh_every = 16;
    double time_step_;
    std::size_t count_ = 0;
    double log_scale_ = -infinity;
    std::vector<Complex> weight_, loss_;
    std::vector<double> real_, imaginary_, turn_real_, turn_imaginary_;
    double constant_error_ = 0, linear_error_ = 0;
  };

 private:
  struct Ends {
    std::size_t first, last;  // nodes, the last included
  };
  [[nodiscard]] double loss_at(double z) const;
  [[nodiscard]] double argument_at(std::size_t end, double height) const;
  [[nodiscard]] Ends ends(Share share) const { return share == Share::bulk ? Ends{0, bulk_last_} : Ends{tail_first_, loss_.size() - 1}; }
  [[nodiscard]] double edge(std::size_t end) const { return (static_cast<double>(first_ + static_cast<std::int64_t>(end)) - 0.5) * step_; }
  /// log of a bound of the weight at height y above the part [left, right] of the axis.
  [[nodiscard]] double log_weight_above(Share share, double left, double right, double height) const;
  /// log of a bound of the integral of the modulus at a height, beyond the nodes; without phases.
  [[nodiscard]] double log_outside(Share share, double power, double height) const;
  /// log of a bound of the integral over the cells; the phase contributes exp(turn * arg w), at the end of a cell where that is larger.
  [[nodiscard]] double log_cells(Share share, double power, double turn, double height) const;
  /// log of a bound of the quadrature error of the tail on the line at this height, for every t >= 0.
  [[nodiscard]] double log_missed_above(double power, double height) const;
  struct LossAbove {
    Complex loss;
    double error;
  };
  [[nodiscard]] LossAbove loss_above(double x, double height) const;

  double mu_, rate_, relative_mu_, relative_rate_, centre_, width_, step_;
  std::int64_t first_ = 0;
  std::size_t bulk_last_ = 0, tail_first_ = 0;
  double lost_ = 0, lost_error_ = 0;  // E[tail weight] under Q
  double largest_height_;
  std::vector<double> loss_, loss_error_, bulk_weight_, tail_, log_weight_, bulk_error_, tail_error_;  // at the nodes; errors relative
  std::vector<double> edge_loss_, edge_ratio_;                                                         // between them
};

SplitStep::SplitStep(const RareKind& kind, double centre, double width, double largest_power, double step)
    : mu_(kind.mu),
      rate_(kind.rate),
      relative_mu_(kind.relative_mu),
      relative_rate_(kind.relative_rate),
      centre_(centre),
      width_(width),
      step_(few_bits_below(step, 10)) {
  largest_height_ = std::min(0.95 * pi / mu_, 6.0);
  const double low = -node_reach, high = std::max(centre + 12 * width, largest_power * mu_ + node_reach);
  if (!((high - low) / step_ < most_points) || !(std::abs(centre) < 1e6)) return;
  first_ = std::llround(std::floor(low / step_));
  const auto count = static_cast<std::size_t>(std::llround(std::ceil(high / step_)) - first_ + 1);
  const double log_step = std::log(step_) - log_root_two_pi, odds = (1 - rate_) / rate_, root = width * std::numbers::sqrt2;
  tail_first_ = count;
  for (std::size_t j = 0; j < count; ++j) {
    const double z = static_cast<double>(first_ + static_cast<std::int64_t>(j)) * step_;  // exact, and so is z^2
    const double exponent = mu_ * (z - 0.5 * mu_), loss = loss_at(z);
    const double share = 1 / (1 + odds * std::exp(-exponent)), drift = std::abs(std::expm1(-loss));
    // [node-quadrature] The rounding of l and the width of the parameters.
    double error = share * (2.01 * unit_roundoff * std::abs(exponent) + kind.relative_mu * std::abs(mu_ * (z - mu_)));
    if (exponent <= large_exponent)
      error += (9.1 * unit_roundoff + kind.relative_rate) * drift + 8.1 * unit_roundoff * std::abs(loss);
    else
      error += kind.relative_rate + unit_roundoff * (4.1 * std::abs(std::log(rate_)) + 2.1 * (std::abs(exponent) + std::abs(loss)) + 1);
    loss_.push_back(loss);
    loss_error_.push_back(1.05 * error);
    const double x = (z - centre_) / root, log_weight = log_step - 0.5 * z * z;
    log_weight_.push_back(log_weight);
    bulk_weight_.push_back(0.5 * std::erfc(x) * std::exp(log_weight));
    tail_.push_back(0.5 * std::erfc(-x));
    // The argument x errs by 3u|x|, erfc(x) for x > 0 therefore by 3u (2x^2 + 1) of itself or less.
    const double common = unit_roundoff * (1.1 * std::abs(log_weight) + 6 * (1 + std::abs(log_step)) + 16);
    bulk_error_.push_back(common + unit_roundoff * (x > 0 ? 8 * x * x + 4 : 4));
    tail_error_.push_back(common + unit_roundoff * (x < 0 ? 8 * x * x + 4 : 4));
    if (x < window_reach) bulk_last_ = j;
    if (x > -window_reach && tail_first_ == count) tail_first_ = j;
  }
  for (std::size_t j = 0; j <= count; ++j) {
    edge_loss_.push_back(loss_at(edge(j)));
    edge_ratio_.push_back(rate_ * std::exp(std::min(300.0, mu_ * (edge(j) - 0.5 * mu_))));
  }
  // Under Q, E Phi((z - centre)/width) = Phi(-centre/sqrt(1 + width^2)).
  const Interval lost = normal_cdf(-Interval::exactly(centre_) / sqrt(Interval::exactly(1) + square(Interval::exactly(width_))));
  lost_ = middle_of(lost);
  lost_error_ = lost.width();
}

double SplitStep::loss_at(double z) const {
  const double exponent = mu_ * (z - 0.5 * mu_);
  if (exponent <= large_exponent) return std::log1p(rate_ * std::expm1(exponent));
  return exponent + std::log(rate_) + std::log1p((1 - rate_) / rate_ * std::exp(-exponent));
}

/// arg w at this height above an edge.
double SplitStep::argument_at(std::size_t end, double height) const {
  const double theta = mu_ * height, r = edge_ratio_[end];
  return std::atan2(r * std::sin(theta), 1 - rate_ + r * std::cos(theta));
}

// [bent-split] |erfc(x + iy)/2| is at most e^(y^2 - x^2)/2 for x >= 0 and 1 + e^(y^2 - x^2)/2 for x < 0.
double SplitStep::log_weight_above(Share share, double left, double right, double height) const {
  const double root = width_ * std::numbers::sqrt2, y = height / root;
  double near = (left - centre_) / root, far = (right - centre_) / root;  // arguments of erfc, from the larger weight to the smaller
  if (share == Share::tail) near = -std::exchange(far, -near);
  const double least = near > 0 ? near : far < 0 ? -far : 0;
  const double log_bump = y * y - least * least - std::log(2.0);
  return near >= 0 ? log_bump : log_add(0, log_bump);
}

// The Gaussian falls at least at the rate of its last edge, the window adds to that, and l' is between 0 and mu.
double SplitStep::log_outside(Share share, double power, double height) const {
  const auto [first, last] = ends(share);
  const double left = edge(first), right = edge(last + 1), lift = 0.5 * height * height - log_root_two_pi;
  const double window = share == Share::bulk && right > centre_ ? (right - centre_) / (width_ * width_) : 0;
  const double right_rate = right + window - power * mu_, left_rate = -left;
  // where the weight of the tail starts far to the right, its fall to the left is what counts
  const double fall = share == Share::tail && left < centre_ ? (centre_ - left) / (width_ * width_) : 0;
  const double left_total = left_rate + fall;
  if (!(right_rate > 0) || !(left_total > 0)) return infinity;
  const double above =
      lift - 0.5 * right * right + power * edge_loss_[last + 1] + log_weight_above(share, right, infinity, height) - std::log(right_rate);
  const double below =
      lift - 0.5 * left * left + power * edge_loss_[first] + log_weight_above(share, -infinity, left, height) - std::log(left_total);
  return log_add(above, below);
}

double SplitStep::log_cells(Share share, double power, double turn, double height) const {
  const auto [first, last] = ends(share);
  double largest = -infinity;
  std::vector<double> logs;
  logs.reserve(last - first + 1);
  for (std::size_t j = first; j <= last; ++j) {
    const double left = edge(j), right = edge(j + 1), near = left > 0 ? left : right < 0 ? right : 0;
    double log = -0.5 * near * near + power * edge_loss_[j + 1] + log_weight_above(share, left, right, height);
    if (turn != 0) log += turn * argument_at(turn > 0 ? j + 1 : j, height) * (turn > 0 ? 1 + 1e-9 : 1 - 1e-9);
    logs.push_back(log);
    largest = std::max(largest, log);
  }
  double sum = 0;
  for (const double log : logs)
    if (log > largest - 60) sum += std::exp(log - largest);
  sum += static_cast<double>(logs.size()) * 1e-26;
  return largest + std::log(sum * step_) + 0.5 * height * height - log_root_two_pi;
}

// [node-quadrature] The rectangle: two lines, two sides, and what lies outside.
double SplitStep::log_missed(Share share, double power, double t) const {
  const auto [first, last] = ends(share);
  double best = infinity;
  for (const double part : {1.0, 0.7, 0.5, 0.35, 0.25}) {
    const double height = part * std::min(largest_height_, 8 * width_), decay = 2 * pi * height / step_ * (1 - 1e-12);
    const double lines = std::log(2.0) + log_cells(share, power, t, height) - log_expm1_of(decay);
    if (!(lines < best)) continue;
    // A side: arg w is at most mu y, and the exponent is convex in y, so it is largest at an end.
    const double growth = std::max(0.0, t * mu_ * height - decay), lift = 0.5 * height * height - log_root_two_pi + std::log(2 * height);
    const auto side = [&](std::size_t end) {
      const double z = edge(end);
      return growth + lift - 0.5 * z * z + power * edge_loss_[end] + log_weight_above(share, z, z, height);
    };
    const double all = log_add(lines, log_add(side(first), side(last + 1)));
    best = std::min(best, all);
  }
  const double all = log_add(best, log_outside(share, power, 0));
  return all + bound_slack + bound_relative_slack * std::abs(all);
}

double SplitStep::log_tail_beyond(double power, double t) const {
  double best = infinity;
  for (const double part : {1.0, 0.6, 0.36, 0.2}) {
    const double height = part * std::min(largest_height_, 8 * width_);
    best = std::min(best, log_add(log_cells(Share::tail, power, -t, height), log_outside(Share::tail, power, height)));
  }
  return best + bound_slack + bound_relative_slack * std::abs(best);
}

double SplitStep::log_moment_above(Share share, double power) const {
  const auto [first, last] = ends(share);
  const auto& error = share == Share::bulk ? bulk_error_ : tail_error_;
  double largest = -infinity;
  for (std::size_t j = first; j <= last; ++j) largest = std::max(largest, (share == Share::bulk ? 0 : log_weight_[j]) + power * loss_[j]);
  if (share == Share::bulk) largest = 0;
  double sum = 0;
  for (std::size_t j = first; j <= last; ++j)
    sum += share == Share::bulk ? bulk_weight_[j] * std::exp(power * (loss_[j] + loss_error_[j]) + error[j] - largest)
                                : tail_[j] * std::exp(log_weight_[j] + power * (loss_[j] + loss_error_[j]) + error[j] - largest);
  const double rounding =
      (static_cast<double>(last - first) + 40) * unit_roundoff * 2 + 4 * unit_roundoff * (std::abs(largest) + power * edge_loss_.back());
  const double log = largest + std::log(sum) + rounding;
  return log_add(log, log_missed(share, power, 0)) + 8 * unit_roundoff * (1 + std::abs(log));
}

double SplitStep::bulk_less_one(double power) const {
  double sum = 0;
  for (std::size_t j = 0; j <= bulk_last_; ++j) sum += bulk_weight_[j] * std::expm1(power * loss_[j]);
  return sum - lost_;
}

double SplitStep::log_tail(double power) const {
  double largest = -infinity, sum = 0;
  for (std::size_t j = tail_first_; j < loss_.size(); ++j) largest = std::max(largest, log_weight_[j] + power * loss_[j]);
  for (std::size_t j = tail_first_; j < loss_.size(); ++j) {
    const double log = log_weight_[j] + power * loss_[j] - largest;
    if (log > -60) sum += tail_[j] * std::exp(log);
  }
  return largest + std::log(sum);
}

SplitStep::BulkTilt::BulkTilt(const SplitStep& step, double power, double longest)
    : power_(power), missed_(std::exp(step.log_missed(Share::bulk, power, longest)) + std::exp(step.log_missed(Share::bulk, 0, 0))) {
  const auto count = static_cast<double>(step.bulk_last_ + 1);
  double size = 0, dropped = 0;
  for (std::size_t j = 0; j <= step.bulk_last_; ++j) {
    const double loss = step.loss_[j], error = step.loss_error_[j], weight = step.bulk_weight_[j];
    const double growth = std::expm1(power * loss), tilted = weight * (1 + growth), most = weight * std::max(1.0, 1 + growth);
    const double largest = most * (power + longest) * std::abs(loss);  // of the difference from 1, at every t
    if (largest < 1e-24) {
      dropped += largest;
      continue;
    }
    constant_ += weight * growth;
    size += std::abs(weight * growth);
    linear_ += tilted * loss;
    weight_.push_back(tilted);
    loss_.push_back(loss);
    const double doubt = most * (error + ((count + 64) * unit_roundoff + step.bulk_error_[j]) * std::abs(loss));
    linear_error_ += doubt;
    square_error_ += doubt * std::abs(loss) * (1 + power * std::abs(loss));
  }
  while (weight_.size() % oscillation_lanes != 0) {
    weight_.push_back(0);
    loss_.push_back(0);
  }
  constant_ -= step.lost_;
  constant_error_ = missed_ + 1.1 * dropped + step.lost_error_ + 4 * unit_roundoff * (size + step.lost_);
}

Enclosed SplitStep::BulkTilt::at(double t) const {
  const OscillationSum sum = sum_oscillations(weight_.data(), loss_.data(), weight_.size(), t);
  const double order = power_ + t;
  return {Complex(constant_ + sum.cosine, t * linear_ + sum.sine),
          1.1 * (constant_error_ + order * (linear_error_ + order * square_error_))};
}

/// e^z - 1.
Complex exp_less_one(Complex z) {
  const double half = std::sin(0.5 * z.imag()), growth = std::exp(z.real());
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half * half, growth * std::sin(z.imag())};
}
/// log(1 + z) off the negative axis.
Complex log_one_plus(Complex z) { return {0.5 * std::log1p(2 * z.real() + std::norm(z)), std::atan2(z.imag(), 1 + z.real())}; }

// [rare-losses] The derivative of l in the exponent is r/w; expm1, log1p and the width of the parameters.
SplitStep::LossAbove SplitStep::loss_above(double x, double height) const {
  const Complex exponent(mu_ * (x - 0.5 * mu_), mu_ * height);
  const double doubt = 3 * unit_roundoff * std::abs(exponent) + relative_mu_ * mu_ * std::hypot(x - mu_, height);
  if (exponent.real() <= large_exponent) {
    const Complex less_one = rate_ * exp_less_one(exponent), loss = log_one_plus(less_one);
    const double modulus = std::abs(1.0 + less_one), drift = std::abs(less_one) / modulus;
    return {loss, 1.05 * (rate_ * std::exp(exponent.real()) / modulus * doubt + (24 * unit_roundoff + relative_rate_) * drift +
                          12 * unit_roundoff * std::abs(loss))};
  }
  const Complex rest = (1 - rate_) / rate_ * std::exp(-exponent), loss = exponent + std::log(rate_) + log_one_plus(rest);
  return {loss, 1.05 * (doubt + relative_rate_ +
                        unit_roundoff * (8 * std::abs(std::log(rate_)) + 8 * std::abs(exponent) + 8 * std::abs(loss) + 8))};
}

// [rare-losses] The rectangle of the rule between the axis and twice the height; arg w >= 0 there, so that every t >= 0 only helps.
double SplitStep::log_missed_above(double power, double height) const {
  const auto [first, last] = ends(Share::tail);
  const double decay = 2 * pi * height / step_ * (1 - 1e-12);
  const double lines = log_add(log_cells(Share::tail, power, 0, 0), log_cells(Share::tail, power, 0, 2 * height)) - log_expm1_of(decay);
  const double lift = 2 * height * height - log_root_two_pi + std::log(2 * height);
  const auto side = [&](std::size_t end) {
    const double z = edge(end);
    return lift - 0.5 * z * z + power * edge_loss_[end] + log_weight_above(Share::tail, z, z, 2 * height) + std::log(2.0);
  };
  const double all = log_add(log_add(lines, log_outside(Share::tail, power, height)), log_add(side(first), side(last + 1)));
  return all + bound_slack + bound_relative_slack * std::abs(all);
}

SplitStep::TailTilt::TailTilt(const SplitStep& step, double power, double time_step) : time_step_(time_step) {
  const double height = few_bits_below(std::min(3 * step.width_, 0.47 * step.largest_height_), 10),
               root = step.width_ * std::numbers::sqrt2;
  const double log_step = std::log(step.step_) - log_root_two_pi;
  struct Point {
    double log, phase, error;
    LossAbove loss;
  };
  std::vector<Point> points;
  for (std::size_t j = step.tail_first_; j < step.loss_.size(); ++j) {
    const double x = static_cast<double>(step.first_ + static_cast<std::int64_t>(j)) * step.step_;
    const LossAbove loss = step.loss_above(x, height);
    const auto window = hyperbolic::log_half_erfc({(step.centre_ - x) / root, -height / root});
    const double square = 0.5 * (x * x - height * height), tilt = power * loss.loss.real(), turn = power * loss.loss.imag();
    // The argument of erfc errs by 3u of itself, and |d log erfc| is at most 2|z| + 2 there.
    const double argument = std::hypot(x - step.centre_, height) / root;
    const double error = window.error + 3 * unit_roundoff * argument * (2 * argument + 2) + power * loss.error +
                         4 * unit_roundoff *
                             (std::abs(log_step) + std::abs(square) + std::abs(tilt) + std::abs(window.real) + std::abs(x * height) +
                              std::abs(turn) + std::abs(window.phase) + 4);
    points.push_back({log_step - square + window.real + tilt, -x * height + window.phase + turn, error, loss});
    log_scale_ = std::max(log_scale_, points.back().log);
  }
  const auto count = static_cast<double>(points.size());
  for (const Point& point : points) {
    const double modulus = std::exp(point.log - log_scale_);
    if (modulus < 1e-22 || !(point.error < 0.1)) {
      constant_error_ += modulus * (1 + 1e-6) * (point.error < 0.1 ? 1 : 2);
      continue;
    }
    weight_.push_back({modulus * std::cos(point.phase), modulus * std::sin(point.phase)});
    loss_.push_back(point.loss.loss);
    // the phases are turned up to `fresh_every` times, 8 units each
    constant_error_ +=
        modulus * (1.05 * point.error + unit_roundoff * (count + 40 + 8 * fresh_every + 4 * (std::abs(point.log) + std::abs(log_scale_))));
    linear_error_ += modulus * (1.05 * point.loss.error + 4 * unit_roundoff * std::abs(point.loss.loss));
  }
  constant_error_ += std::exp(step.log_missed_above(power, height) - log_scale_);
  real_.resize(weight_.size());
  imaginary_.resize(weight_.size());
  for (const Complex& loss : loss_) {
    const Complex turn = std::exp(Complex(-time_step_ * loss.imag(), time_step_ * loss.real()));
    turn_real_.push_back(turn.real());
    turn_imaginary_.push_back(turn.imag());
  }
}

Enclosed SplitStep::TailTilt::next() {
  const double t = static_cast<double>(count_) * time_step_;
  if (count_ % fresh_every == 0) {
    for (std::size_t j = 0; j < weight_.size(); ++j) {
      const Complex value = weight_[j] * std::exp(Complex(-t * loss_[j].imag(), t * loss_[j].real()));
      real_[j] = value.real();
      imaginary_[j] = value.imag();
    }
  } else {
    for (std::size_t j = 0; j < real_.size(); ++j) {
      const double real = real_[j] * turn_real_[j] - imaginary_[j] * turn_imaginary_[j];
      imaginary_[j] = real_[j] * turn_imaginary_[j] + imaginary_[j] * turn_real_[j];
      real_[j] = real;
    }
  }
  ++count_;
  double real = 0, imaginary = 0;
  for (std::size_t j = 0; j < real_.size(); ++j) {
    real += real_[j];
    imaginary += imaginary_[j];
  }
  return {Complex(real, imaginary), 1.1 * (constant_error_ + t * linear_error_)};
}

using Kinds = std::vector<RareKind>;
using Share = SplitStep::Share;

/// Where all steps are split: at one loss, with one width in units of log(w - 1 + rate).
struct SplitPlace {
  double loss, width;
};

/// All steps of a plan, split at one place.
class SplitPlan {
 public:
  SplitPlan(const Kinds& kinds, SplitPlace place, double largest_power, const RareAccuracy& accuracy)
      : kinds_(kinds), accuracy_(accuracy), loss_(place.loss) {
    for (const RareKind& kind : kinds_) {
      const double centre = noise_at(kind, place.loss), width = std::min(place.width / kind.mu, 1.5);
      const double step = std::min({0.2, 0.25 / kind.mu, 0.39 * width}) * accuracy_.coarseness;
      steps_.emplace_back(kind, centre, width, largest_power, step);
      centres_.push_back(centre);
      widths_.push_back(width);
    }
  }
  /// The bulk of a kind with nodes that are fine enough for all t up to the longest.
  [[nodiscard]] std::optional<SplitStep::BulkTilt> fine_bulk(std::size_t kind, double power, double longest) const {
    const RareKind& one = kinds_[kind];
    const double wanted = accuracy_.quadrature / one.times;
    // the phases at the window turn at most this fast
    const double turns = longest * one.mu * (1 - std::exp(-loss_)) * 1.6;
    for (double fineness = std::min(1.0, 2 * pi / (turns + 20 / widths_[kind]) / steps_[kind].step() * accuracy_.coarseness);;
         fineness *= 0.7) {
      const SplitStep finer(one, centres_[kind], widths_[kind], 1, steps_[kind].step() * fineness);
      if (!finer.usable()) return std::nullopt;
      SplitStep::BulkTilt tilt(finer, power, longest);
      if (tilt.missed() < wanted) return tilt;
    }
  }
  /// The noise that gives this loss.
  [[nodiscard]] static double noise_at(const RareKind& kind, double loss) {
    const double odds = loss > 30 ? loss : std::log(std::expm1(loss) + kind.rate);
    return (odds - std::log(kind.rate)) / kind.mu + kind.mu / 2;
  }

  [[nodiscard]] const Kinds& kinds() const { return kinds_; }
  [[nodiscard]] const std::vector<SplitStep>& steps() const { return steps_; }
  [[nodiscard]] bool usable() const {
    return std::all_of(steps_.begin(), steps_.end(), [](const SplitStep& step) { return step.usable(); });
  }
  /// An approximation of log of E[e^(order L)] over the runs with large losses.
  [[nodiscard]] double log_rare(double order) const {
    double bulk = 0, tail = 0;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const double less_one = steps_[i].bulk_less_one(1 + order);
      bulk += kinds_[i].times * std::log1p(less_one);
      tail += kinds_[i].times * std::log1p(std::exp(steps_[i].log_tail(1 + order)) / (1 + less_one));
    }
    return bulk + log_expm1_of(tail);
  }
  /// An approximation of log of E[e^(order L)] over the runs without large losses.
  [[nodiscard]] double log_bulk(double order) const {
    double bulk = 0;
    for (std::size_t i = 0; i < steps_.size(); ++i) bulk += kinds_[i].times * std::log1p(steps_[i].bulk_less_one(1 + order));
    return bulk;
  }
  /// Upper bounds of log of E[e^(order L)] over the runs with one large loss, with more, and with any number of them.
  struct RareMoments {
    double one, more, any;
  };
  [[nodiscard]] RareMoments rare_above(double order) const {
    double all = 0, bulks = 0, tails = -infinity, shares = -infinity;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const double bulk = steps_[i].log_moment_above(Share::bulk, 1 + order), tail = steps_[i].log_moment_above(Share::tail, 1 + order);
      const double whole = log_add(bulk, tail), n = kinds_[i].times, log_n = std::log(n);
      all += n * whole + (n * 16 + 8) * unit_roundoff * (1 + std::abs(whole));
      bulks += n * bulk + (n * 16 + 8) * unit_roundoff * (1 + std::abs(bulk));
      shares = log_add(shares, log_n + tail - whole);
      tails = log_add(tails, log_n + tail - bulk);
    }
    return {bulks + tails + 1e-9, all + 2 * shares - std::log(2.0) + 1e-9, all + shares + 1e-9};
  }
  /// An upper bound of log of E[e^(order L)] over the runs without large losses.
  [[nodiscard]] double log_bulk_above(double order) const {
    double all = 0;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const double bulk = steps_[i].log_moment_above(Share::bulk, 1 + order);
      all += kinds_[i].times * bulk + (kinds_[i].times * 8 + 4) * unit_roundoff * (1 + std::abs(bulk));
    }
    return all + 1e-9;
  }
  /// A bound of log |transform| beyond t on the line through the order.
  [[nodiscard]] double log_rare_beyond(double order, double t) const {
    double all = 0, tails = -infinity;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const double bulk = steps_[i].log_moment_above(Share::bulk, 1 + order), tail = steps_[i].log_moment_above(Share::tail, 1 + order);
      const double whole = log_add(bulk, tail);
      all += kinds_[i].times * whole + (kinds_[i].times * 16 + 8) * unit_roundoff * (1 + std::abs(whole));
      tails = log_add(tails, std::log(kinds_[i].times) + steps_[i].log_tail_beyond(1 + order, t) - whole);
    }
    return all + tails + 1e-9;
  }

 private:
  Kinds kinds_;
  RareAccuracy accuracy_;
  double loss_;
  std::vector<double> centres_, widths_;
  std::vector<SplitStep> steps_;
};

/// The sum over the nodes of one vertical line, for answers near one epsilon.
class RareLine {
 public:
  struct Value {
    Interval log_delta{-infinity, 0};
    double slope = 0;  ///< of log delta, approximate
    double width = infinity;
    double nodes = 0, truncation = 0, alias = 0, bulk = 0;  ///< errors relative to delta
  };
  /// Null if no window separates the large losses from the others.
  [[nodiscard]] static std::shared_ptr<const RareLine> make(const Kinds& kinds, double epsilon, const RareAccuracy& accuracy);
  [[nodiscard]] Value at(double epsilon) const;
  [[nodiscard]] double home() const { return home_; }
  [[nodiscard]] double order() const { return order_; }
  [[nodiscard]] double step() const { return step_; }
  [[nodiscard]] std::size_t nodes() const { return terms_.size(); }
  [[nodiscard]] std::size_t points() const { return points_; }

 private:
  struct Chernoff {
    double order, log_moment;
  };
  void choose_step(const SplitPlan& plan, double log_wanted, double curvature);
  [[nodiscard]] bool sum(const SplitPlan& plan, double longest);

  double home_ = 0, order_ = 0, step_ = 0, window_ = 0;
  double log_scale_ = 0;                 // of the terms
  std::vector<Complex> terms_;           // transform over s(s+1) at t = k step, without e^(-s epsilon)
  double error_ = 0, moving_error_ = 0;  // of their sum: constant, and per unit of epsilon
  double size_ = 0;
  double log_truncation_ = infinity;  // in units of 1
  std::vector<Chernoff> left_, right_, more_, bulk_;
  std::size_t points_ = 0;
};

struct RareSaddle {
  double order, log_value, curvature;  // of log transform - order epsilon - log order (order + 1)
};

/// The minimum over the order, by golden section. Guides only.
RareSaddle rare_saddle(const SplitPlan& plan, double epsilon, double low, double high) {
  const auto exponent = [&](double c) { return plan.log_rare(c) - c * epsilon - std::log(c) - std::log1p(c); };
  const double golden = 0.6180339887498949;
  double a = low, b = high, x = b - golden * (b - a), y = a + golden * (b - a), fx = exponent(x), fy = exponent(y);
  for (int i = 0; i < 40 && b - a > 0.03 * a; ++i) {
    if (fx < fy) {
      b = y, y = x, fy = fx, x = b - golden * (b - a), fx = exponent(x);
    } else {
      a = x, x = y, fx = fy, y = a + golden * (b - a), fy = exponent(y);
    }
  }
  const double c = 0.5 * (a + b), away = 0.05 * c, here = exponent(c);
  return {c, here, (exponent(c + away) + exponent(c - away) - 2 * here) / (away * away)};
}

std::shared_ptr<const RareLine> RareLine::make(const Kinds& kinds, double epsilon, const RareAccuracy& accuracy) {
  // The slope of the density of one large loss near epsilon is about the order of the saddle point.
  double guess = infinity;
  for (const RareKind& kind : kinds)
    guess = std::min(guess, std::max(0.1, (SplitPlan::noise_at(kind, epsilon) - kind.mu) / (kind.mu * -std::expm1(-epsilon))));
  const double most = 2 * guess + 5;
  // E_Q[(w - 1)^2] over the losses below a quarter of epsilon is about rate^2 e^(mu^2) Phi(z - 2 mu).
  double variance = 0;
  for (const RareKind& kind : kinds) {
    const double cut = SplitPlan::noise_at(kind, 0.25 * epsilon) - 2 * kind.mu;
    variance += kind.times * std::exp(2 * std::log(kind.rate) + kind.mu * kind.mu) * 0.5 * std::erfc(-cut / std::numbers::sqrt2);
  }
  if (!(epsilon > least_distance * std::sqrt(variance))) return nullptr;
  auto line = std::make_shared<RareLine>();
  line->home_ = epsilon;
  std::optional<double> log_delta;
  RareSaddle saddle{};
  SplitPlace place{};
  bool found = false;
  using Candidate = std::pair<double, double>;
  std::vector<Candidate> candidates{{0.35, 8}, {0.25, 9}, {0.25, 12}, {0.15, 10}, {0.15, 14}, {0.1, 12}, {0.06, 14}};
  if (accuracy.bulk > 1e-6) candidates.insert(candidates.begin(), {{0.97, 0.5}, {0.9, 2}, {0.6, 3}});
  for (const auto& [share, falls] : candidates) {
    place = {share * epsilon, std::log(std::expm1(epsilon) / std::expm1(share * epsilon)) / falls};
    const SplitPlan plan(kinds, place, 1 + most, accuracy);
    if (!plan.usable()) return nullptr;
    if (!log_delta) {
      saddle = rare_saddle(plan, epsilon, 0.05, most);
      log_delta = saddle.log_value - 0.5 * std::log(2 * pi * std::max(saddle.curvature, 1e-300));
      if (!(std::abs(*log_delta) < 600) || !(saddle.curvature > 0) || saddle.order > 0.9 * most) return nullptr;
    }
    // [rare-losses] The part without large losses, by Chernoff's bound.
    const double wanted = *log_delta + std::log(accuracy.bulk);
    const auto bound = [&](double s, double log_moment) { return log_moment + log_kernel_bound(s) - s * epsilon; };
    double least = infinity, best = 0;
    for (double s = -0.8 * wanted / epsilon; s < -8 * wanted / epsilon; s *= 1.15) {
      const double here = bound(s, plan.log_bulk(s));
      if (here < least) {
        least = here;
        best = s;
      } else if (here > least + 1) {
        break;
      }
    }
    if (!(least < wanted)) continue;
    const double log_moment = plan.log_bulk_above(best);
    if (!(bound(best, log_moment) < wanted)) continue;
    line->bulk_.push_back({best, log_moment});
    found = true;
    break;
  }
  if (!found) return nullptr;
  const SplitPlan plan(kinds, place, 1 + most, accuracy);
  saddle = rare_saddle(plan, epsilon, 0.5 * saddle.order, std::min(most, 2 * saddle.order));
  log_delta = saddle.log_value - 0.5 * std::log(2 * pi * std::max(saddle.curvature, 1e-300));
  line->order_ = saddle.order;
  line->choose_step(plan, *log_delta + std::log(accuracy.alias), saddle.curvature);
  double longest = std::max(2 / std::sqrt(saddle.curvature), 40 / place.loss);
  const double wanted = *log_delta + std::log(accuracy.truncation) + saddle.order * epsilon;
  const auto truncation = [&](double t) { return plan.log_rare_beyond(saddle.order, t) - std::log(pi * t); };
  while (longest < most_time && truncation(longest) > wanted) longest *= 1.25;
  line->log_truncation_ = truncation(longest) + 1e-9;
  if (!(longest < most_time) || !(longest / line->step_ < static_cast<double>(most_line_nodes))) return nullptr;
  return line->sum(plan, longest) ? line : nullptr;
}

// [contour-alias] The transform of a positive measure: the same bounds, with its mass in place of 1.
void RareLine::choose_step(const SplitPlan& plan, double log_wanted, double curvature) {
  const double c = order_, epsilon = home_, target = log_wanted + c * epsilon;
  left_ = {{0, plan.rare_above(0).any}, {0.5 * c, plan.rare_above(0.5 * c).any}};
  for (const double ahead : {0.2, 0.4, 0.6, 0.9, 1.3, 1.8}) {
    const double order = c + ahead * std::min(c, 6 / std::sqrt(curvature));
    const auto [one, more, any] = plan.rare_above(order);
    right_.push_back({order, one});
    more_.push_back({order, more});
  }
  double window = std::sqrt(curvature);
  for (int i = 0; i < 70; ++i, window *= 1.1) {
    const auto least = [&](const std::vector<Chernoff>& bounds) {
      double best = infinity;
      for (const auto& [order, log] : bounds)
        best = std::min(best, log + log_kernel_bound(order) - (order - c) * epsilon - log_expm1_of(std::abs(order - c) * window));
      return best;
    };
    if (log_add(least(left_), log_add(least(right_), least(more_))) < target) break;
  }
  step_ = few_bits_below(2 * pi / window, 26);
  window_ = 2 * pi / step_ * (1 - 8 * unit_roundoff);
}

bool RareLine::sum(const SplitPlan& plan, double longest) {
  const Kinds& kinds = plan.kinds();
  const double c = order_;
  const auto count = static_cast<std::size_t>(std::ceil(longest / step_));
  const double last = static_cast<double>(count) * step_;
  std::vector<SplitStep::BulkTilt> bulks;
  std::vector<SplitStep::TailTilt> tails;
  points_ = 0;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    tails.emplace_back(plan.steps()[i], 1 + c, step_);
    auto bulk = plan.fine_bulk(i, 1 + c, last);
    if (!bulk) return false;
    bulks.push_back(std::move(*bulk));
    points_ += bulks.back().points() + tails.back().points();
  }
  terms_.clear();
  error_ = moving_error_ = size_ = 0;
  for (std::size_t k = 0; k <= count; ++k) {
    const double t = static_cast<double>(k) * step_;
    Complex bulk = 0, rare = 0;
    double bulk_error = 0, rare_error = 0;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const Enclosed less_one = bulks[i].at(t), tail = tails[i].next();
      const double scale = std::exp(tails[i].log_scale()), n = kinds[i].times;
      if (!(std::abs(less_one.value) + less_one.error < 0.5)) return false;
      const Complex ratio = scale * tail.value / (1.0 + less_one.value);
      const double size = std::abs(ratio), apart = std::abs(1.0 + less_one.value) - less_one.error;
      const double doubt = scale * tail.error * (1 + 1e-9) / apart + size * (less_one.error / apart + 12 * unit_roundoff);
      if (!(size + doubt < 0.5)) return false;
      const Complex log_bulk = log_one_plus(less_one.value), log_ratio = log_one_plus(ratio);
      bulk += n * log_bulk;
      rare += n * log_ratio;
      bulk_error += n * (less_one.error / apart * 1.5 + 16 * unit_roundoff * std::abs(log_bulk));
      rare_error += n * (2.5 * doubt + 16 * unit_roundoff * std::abs(log_ratio));
    }
    if (k == 0) log_scale_ = bulk.real() + log_expm1_of(rare.real());
    const double real = bulk.real() - log_scale_, modulus = std::exp(real);
    const Complex turn(std::cos(bulk.imag()), std::sin(bulk.imag())), growth = exp_less_one(rare);
    const Complex kernel = 1.0 / (Complex(c, t) * Complex(c + 1, t));
    bulk_error += 8 * unit_roundoff * (std::abs(bulk.imag()) + std::abs(bulk.real()) + std::abs(log_scale_) + 8);
    rare_error += 8 * unit_roundoff * std::abs(rare);
    if (!(bulk_error + rare_error < 0.5)) return false;
    const Complex term = modulus * growth * turn * kernel * (k == 0 ? 1.0 : 2.0);
    const double share = modulus * std::abs(kernel) * (k == 0 ? 1 : 2);
    const double size = share * std::abs(growth);
    error_ += size * std::expm1(bulk_error) + share * std::exp(rare.real()) * std::expm1(rare_error) * std::exp(bulk_error) +
              32 * unit_roundoff * share * std::exp(std::max(0.0, rare.real())) * std::min(2.0, std::abs(rare));
    moving_error_ += size * 4 * unit_roundoff * t;
    size_ += size;
    terms_.push_back(term);
  }
  error_ *= 1 + 1e-9;
  return true;
}

RareLine::Value RareLine::at(double epsilon) const {
  const double c = order_;
  double sum = 0, slope = 0;
  for (std::size_t k = 0; k < terms_.size(); ++k) {
    const double t = static_cast<double>(k) * step_;
    const Complex turned = terms_[k] * Complex(std::cos(t * epsilon), -std::sin(t * epsilon));
    sum += turned.real();
    slope -= c * turned.real() - t * turned.imag();
  }
  Value value;
  const double scale = step_ / (2 * pi);
  const Interval base = Interval::exactly(log_scale_) - Interval::exactly(c) * Interval::exactly(epsilon);
  const auto relative = [&](double log) { return std::exp(log - base.lo) * (1 + 1e-9); };
  const auto least = [&](const std::vector<Chernoff>& bounds, bool alias) {
    double best = infinity;
    for (const auto& [order, log] : bounds) {
      const double away = alias ? log_expm1_of(std::abs(order - c) * (1 - 4 * unit_roundoff) * window_) : 0;
      const double bound = log + log_kernel_bound(order) - order * epsilon - away;
      best =
          std::min(best, bound + 64 * unit_roundoff * (1 + std::abs(log) + std::abs(order * epsilon) + std::abs(away) + 8 * (order + 1)));
    }
    return best;
  };
  const double main = scale * sum;
  value.nodes =
      scale * (error_ + moving_error_ * (epsilon + 1) + (static_cast<double>(terms_.size()) + 32) * unit_roundoff * size_) * (1 + 1e-9);
  value.truncation = relative(log_truncation_ - c * epsilon);
  value.alias = relative(least(left_, true)) + relative(least(right_, true)) + relative(least(more_, true));
  value.bulk = relative(least(bulk_, false));
  const double above = main + value.nodes + value.truncation + value.bulk, below = main - value.nodes - value.truncation - value.alias;
  if (!(above < infinity) || !(main > 0)) return {};
  value.log_delta.hi = std::min(0.0, (base + log(Interval::exactly(above * (1 + 8 * unit_roundoff)))).hi);
  if (below > 0) value.log_delta.lo = (base + log(Interval::exactly(below * (1 - 8 * unit_roundoff)))).lo;
  value.slope = slope / sum;
  value.width = value.log_delta.width();
  for (double* part : {&value.nodes, &value.truncation, &value.alias, &value.bulk}) *part /= std::max(below, 1e-300);
  return value;
}

class RareLoss final : public Loss, public ClosedForms, public Evaluable {
 public:
  RareLoss(Kinds kinds, const Parts& parts, const RareAccuracy& accuracy)
      : kinds_(std::move(kinds)), parts_(parts), accuracy_(accuracy), laws_(citations_of_laws(parts)) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    return clamp(exp(log_delta(direction, epsilon)), 0, 1);
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    if (direction != Direction::remove || !(epsilon.lo > 0) || epsilon.hi == infinity) return {-infinity, 0};
    const QuestionScope question;
    cite();
    record(split());
    const Interval above = value_at(epsilon.lo).log_delta;
    return epsilon.lo == epsilon.hi ? above : Interval{value_at(epsilon.hi).log_delta.lo, above.hi};
  }
  [[nodiscard]] bool symmetric() const override { return false; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override;
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.closed_forms = this, .evaluable = this, .cost = Cost::engine};
  }
  void cite() const override { record(laws_); }
  void evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const override;

 private:
  [[nodiscard]] static const Citation& split() {
    static const Citation citation("rare-losses", "runs with large losses, split off by a smooth window and inverted alone",
                                   Method::contour);
    return citation;
  }
  /// Lines of the current question.
  struct Kept {
    std::vector<std::shared_ptr<const RareLine>> lines;
  };
  [[nodiscard]] std::shared_ptr<const RareLine> line(double epsilon) const {
    auto made = RareLine::make(kinds_, epsilon, accuracy_);
    Work::count(500 + (made != nullptr ? 4e-3 * static_cast<double>(made->nodes() * made->points()) : 0));
    if (made != nullptr) QuestionScope::state_of<Kept>(number_).lines.push_back(made);
    return made;
  }
  [[nodiscard]] RareLine::Value value_at(double epsilon) const {
    const RareLine* nearest = nullptr;
    for (const auto& one : QuestionScope::state_of<Kept>(number_).lines)
      if (nearest == nullptr || std::abs(one->home() - epsilon) < std::abs(nearest->home() - epsilon)) nearest = one.get();
    if (nearest != nullptr && std::abs(nearest->home() - epsilon) < 0.2 * epsilon)
      if (const RareLine::Value value = nearest->at(epsilon); value.width < good_rare_width) return value;
    const auto made = line(epsilon);
    return made != nullptr ? made->at(epsilon) : RareLine::Value{};
  }

  Kinds kinds_;
  Parts parts_;
  RareAccuracy accuracy_;
  Citations laws_;
  std::uint64_t number_ = QuestionScope::new_owner();
};

// H decreases: the sign of a proved value at an end proves that end; the search only guides.
std::optional<Interval> RareLoss::closed_epsilon(Direction direction, Interval delta) const {
  if (direction != Direction::remove || !(delta.lo > 0) || !(delta.hi < 0.1)) return std::nullopt;
  const QuestionScope question;
  const Interval target = log(delta);
  // One step with a large loss: the sum of the profiles of the steps.
  double low = 1e-6, high = 1e3;
  {
    const Unrecorded guess;
    for (int i = 0; i < 40 && high > 1.01 * low; ++i) {
      const double middle = std::sqrt(low * high);
      double sum = 0;
      for (const Part& part : parts_)
        sum += static_cast<double>(part.times) * part.loss->delta(Direction::remove, Interval::exactly(middle)).hi;
      (sum > delta.lo ? low : high) = middle;
    }
  }
  double epsilon = std::sqrt(low * high), margin = 0;
  std::shared_ptr<const RareLine> line;
  for (int i = 0; i < 12; ++i) {
    if (line == nullptr || std::abs(line->home() - epsilon) > 0.03 * epsilon) line = this->line(epsilon);
    if (line == nullptr) return std::nullopt;
    const RareLine::Value value = line->at(epsilon);
    if (!(value.width < 0.1) || !(value.slope < 0)) return std::nullopt;
    const double move = (middle_of(value.log_delta) - middle_of(target)) / -value.slope;
    margin = (value.width + target.width()) / -value.slope + 4 * unit_roundoff * epsilon;
    if (!(std::abs(move) > 0.25 * margin)) break;
    epsilon = std::clamp(epsilon + move, 0.5 * epsilon, 2 * epsilon);
  }
  Interval found{0, infinity};
  for (const double factor : {1.05, 4.0, 64.0}) {
    if (const double e = epsilon + factor * margin; found.hi == infinity && line->at(e).log_delta.hi <= target.lo) found.hi = e;
    if (const double e = epsilon - factor * margin; found.lo == 0 && e > 0 && line->at(e).log_delta.lo > target.hi) found.lo = e;
  }
  cite();
  record(split());
  return found;
}

void RareLoss::evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const {
  if (direction != Direction::remove || !(epsilon > 0)) return;
  const QuestionScope question;
  const auto line = this->line(epsilon);
  if (line == nullptr) return;
  const RareLine::Value value = line->at(epsilon);
  if (!(value.width < infinity)) return;
  cite();
  record(split());
  found.push_back(
      balanced({"rare-losses",
                direction,
                epsilon,
                value.log_delta,
                {{"nodes", line->nodes()}, {"quadrature points", line->points()}},
                {{"order", line->order()}, {"step", line->step()}},
                {{"alias", value.alias}, {"truncation", value.truncation}, {"nodes", value.nodes}, {"small losses", value.bulk}}},
               "rounding"));
}

}  // namespace

LossPointer compose_by_rare_losses(const Parts& parts, const RareAccuracy& accuracy) {
  Kinds kinds;
  double participations = 0;
  if (parts.empty() || parts.size() > most_kinds) return nullptr;
  for (const Part& part : parts) {
    const auto points = part.loss->break_points(Direction::remove, ParameterEnd::worse);
    if (!points || !points->sampled || !points->terms.empty() || points->gaussian_mu > 0) return nullptr;
    if (points != part.loss->break_points(Direction::remove, ParameterEnd::better)) return nullptr;
    const SampledGaussianFactor& factor = *points->sampled;
    if (factor.sampling != SampledBy::poisson || factor.rate > most_rare_rate || part.times == 0) return nullptr;
    kinds.push_back({factor.mu, factor.rate, factor.mu_width / factor.mu + unit_roundoff, factor.rate_width / factor.rate + unit_roundoff,
                     static_cast<double>(part.times)});
    participations += kinds.back().times * factor.rate;
  }
  if (!(participations <= most_participations)) return nullptr;
  return std::make_shared<const RareLoss>(std::move(kinds), parts, accuracy);
}

}  // namespace tradeoff::detail
