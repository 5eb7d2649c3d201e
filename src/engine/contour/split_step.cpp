// SPDX-License-Identifier: Apache-2.0
#include "engine/contour/split_step.h"

#include <utility>

#include "engine/hyperbolic/window.h"
#include "numeric/normal.h"
#include "transform/characteristic_function.h"
#include "transform/nodes.h"

// [rare-losses]
namespace tradeoff::detail::rare {
namespace {

using std::numbers::pi;

constexpr double node_reach = 10.5;    // deviations of the noise that the nodes cover beyond the tilted means: e^-55
constexpr double window_reach = 25;    // beyond this argument of erfc a weight is left to the bound of what lies outside
constexpr double most_points = 4000;   // of one quadrature
constexpr double least_height = 0.02;  // of a line above the axis, in deviations of the noise

/// log of a bound of the mean of exp(-z^2/2) on a cell: the chord where it is convex, the middle where it is concave.
double log_gaussian_cell(double left, double right) {
  const double near = left > 0 ? left : right < 0 ? right : 0, far = std::max(std::abs(left), std::abs(right));
  if (std::abs(near) >= 1) return -0.5 * near * near + std::log1p(0.5 * std::expm1(0.5 * (near * near - far * far))) + 1e-12;
  const double middle = 0.5 * (left + right);
  return far <= 1 ? -0.5 * middle * middle + 1e-12 : -0.5 * near * near;
}

}  // namespace

double few_bits_below(double x, int bits) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::floor(std::ldexp(fraction, bits)), exponent - bits);
}

SplitStep::SplitStep(const RareKind& kind, NoiseWindow window, std::optional<NoiseWindow> upper, double largest_power, double step)
    : mu_(kind.mu),
      rate_(kind.rate),
      relative_mu_(kind.relative_mu),
      relative_rate_(kind.relative_rate),
      centre_(window.centre),
      width_(window.width),
      step_(few_bits_below(step, 10)),
      upper_(upper) {
  largest_height_ = std::min(0.95 * pi / mu_, 6.0);
  // Below an upper window of width v a power moves the noise by at most power mu v^2.
  const double tilted = largest_power * mu_ + node_reach;
  const double capped = upper ? upper->centre + largest_power * mu_ * upper->width * upper->width + 12 * upper->width : infinity;
  const double low = -node_reach, high = std::max(centre_ + 12 * width_, std::min(tilted, capped));
  if (!((high - low) / step_ < most_points) || !(std::abs(centre_) < 1e6)) return;
  first_ = std::llround(std::floor(low / step_));
  const auto count = static_cast<std::size_t>(std::llround(std::ceil(high / step_)) - first_ + 1);
  const double log_step = std::log(step_) - log_root_two_pi, odds = (1 - rate_) / rate_, root = width_ * std::numbers::sqrt2;
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
    if (upper_) {
      const double y = (z - upper_->centre) / (upper_->width * std::numbers::sqrt2);
      tail_.back() *= 0.5 * std::erfc(y);
      tail_error_.back() += unit_roundoff * (y > 0 ? 8 * y * y + 6 : 6);
    }
    if (x < window_reach) bulk_last_ = j;
    if (x > -window_reach && tail_first_ == count) tail_first_ = j;
  }
  for (std::size_t j = tail_first_; j < count; ++j) log_tail_weight_.push_back(log_weight_[j] + std::log(tail_[j]));
  for (std::size_t j = 0; j <= count; ++j) {
    edge_loss_.push_back(loss_at(edge(j)));
    edge_ratio_.push_back(rate_ * std::exp(std::min(300.0, mu_ * (edge(j) - 0.5 * mu_))));
    log_gaussian_.push_back(log_gaussian_cell(edge(j), edge(j + 1)));
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
  // arguments of erfc, from the larger weight to the smaller
  const auto log_window = [height](double near, double far, double root) {
    const double y = height / root, least = near > 0 ? near : far < 0 ? -far : 0, log_bump = y * y - least * least - std::numbers::ln2;
    if (near >= 0) return log_bump;
    return log_bump < -40 ? 1e-15 : log_add(0, log_bump);
  };
  const double root = width_ * std::numbers::sqrt2, near = (left - centre_) / root, far = (right - centre_) / root;
  if (share == Share::bulk) return log_window(near, far, root);
  const double above = log_window(-far, -near, root);
  if (!upper_) return above;
  const double upper_root = upper_->width * std::numbers::sqrt2;
  return above + log_window((left - upper_->centre) / upper_root, (right - upper_->centre) / upper_root, upper_root);
}

// The Gaussian falls at least at the rate of its last edge, the window adds to that, and l' is between 0 and mu. As long as w^p may still
// rise faster than that, cells with the larger end of every factor.
double SplitStep::log_right_of(Share share, double right, double power, double height) const {
  double total = -infinity, length = step_;
  for (;;) {
    const auto fall = [right](double centre, double width) { return right > centre ? (right - centre) / (width * width) : 0; };
    const double window = share == Share::bulk ? fall(centre_, width_) : upper_ ? fall(upper_->centre, upper_->width) : 0;
    const double rate = right + window - power * mu_;
    if (rate > 0)
      return log_add(total,
                     -0.5 * right * right + power * loss_at(right) + log_weight_above(share, right, infinity, height) - std::log(rate));
    if (!(right < 1e6)) return infinity;
    const double next = right + length, near = right > 0 ? right : next < 0 ? next : 0;
    total = log_add(total, -0.5 * near * near + power * loss_at(next) + log_weight_above(share, right, next, height) + std::log(length));
    right = next;
    length *= 1.1;
  }
}

double SplitStep::log_outside(Share share, double power, double height) const {
  const auto [first, last] = ends(share);
  const double left = edge(first), lift = 0.5 * height * height - log_root_two_pi;
  // where the weight of the tail starts far to the right, its fall to the left is what counts
  const double fall = share == Share::tail && left < centre_ ? (centre_ - left) / (width_ * width_) : 0;
  const double left_rate = fall - left;
  if (!(left_rate > 0)) return infinity;
  const double below =
      -0.5 * left * left + power * edge_loss_[first] + log_weight_above(share, -infinity, left, height) - std::log(left_rate);
  return lift + log_add(log_right_of(share, edge(last + 1), power, height), below);
}

const SplitStep::Raised& SplitStep::raised(Share share, double height, bool phases) const {
  const auto [first, last] = ends(share);
  auto found = std::find_if(raised_.begin(), raised_.end(), [&](const Raised& one) { return one.share == share && one.height == height; });
  if (found == raised_.end()) {
    Raised one{share, height, {}, {}};
    one.log_size.reserve(last - first + 1);
    for (std::size_t j = first; j <= last; ++j)
      one.log_size.push_back(log_gaussian_[j] + log_weight_above(share, edge(j), edge(j + 1), height));
    raised_.push_back(std::move(one));
    found = raised_.end() - 1;
  }
  if (phases && found->argument.empty())
    for (std::size_t j = first; j <= last + 1; ++j) found->argument.push_back(argument_at(j, height));
  return *found;
}

double SplitStep::log_cells(Share share, double power, double turn, double height) const {
  const auto [first, last] = ends(share);
  const Raised& cells = raised(share, height, turn != 0);
  double largest = -infinity;
  std::vector<double> logs(last - first + 1);
  for (std::size_t j = 0; j < logs.size(); ++j) {
    double log = cells.log_size[j] + power * edge_loss_[first + j + 1];
    if (turn != 0) log += turn * cells.argument[turn > 0 ? j + 1 : j] * (turn > 0 ? 1 + 1e-9 : 1 - 1e-9);
    logs[j] = log;
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
    const double height = part * std::min(largest_height_, 8 * narrowest(share)), decay = 2 * pi * height / step_ * (1 - 1e-12);
    const double lines = std::log(2.0) + log_cells(share, power, t, height) - log_expm1_of(decay);
    if (!(lines < best)) continue;
    // A side: arg w is at most mu y, and at most r/(1 - q - r) times that; so the exponent is at most linear in y, and largest at an end.
    const double lift = 0.5 * height * height - log_root_two_pi + std::log(2 * height);
    const auto side = [&](std::size_t end) {
      const double z = edge(end), ratio = edge_ratio_[end], rest = 1 - rate_ - ratio;
      const double turned = t * mu_ * height * (rest > ratio ? ratio / rest * (1 + 1e-9) : 1);
      return std::max(0.0, turned - decay) + lift - 0.5 * z * z + power * edge_loss_[end] + log_weight_above(share, z, z, height);
    };
    const double all = log_add(lines, log_add(side(first), side(last + 1)));
    best = std::min(best, all);
  }
  const double all = log_add(best, log_outside(share, power, 0));
  return all + bound_slack + bound_relative_slack * std::abs(all);
}

double SplitStep::log_beyond(Share share, double power, double t) const {
  double best = infinity;
  for (double height = largest_height_; height > least_height; height *= 0.7) {
    const double here = log_add(log_cells(share, power, -t, height), log_outside(share, power, height));
    if (here > best) break;  // convex in the height, but for the cells
    best = here;
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
  if (!(sum > 1e-280)) return infinity;  // the terms that matter may have underflowed
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
  for (std::size_t j = tail_first_; j < loss_.size(); ++j)
    largest = std::max(largest, log_tail_weight_[j - tail_first_] + power * loss_[j]);
  for (std::size_t j = tail_first_; j < loss_.size(); ++j) {
    const double log = log_tail_weight_[j - tail_first_] + power * loss_[j] - largest;
    if (log > -60) sum += std::exp(log);
  }
  return largest + std::log(sum);
}

SplitStep::BulkTilt::BulkTilt(const SplitStep& step, double power, double time_step, double longest)
    : power_(power),
      time_step_(time_step),
      missed_(std::exp(step.log_missed(Share::bulk, power, longest)) + std::exp(step.log_missed(Share::bulk, 0, 0))) {
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

Enclosed SplitStep::BulkTilt::next() {
  const double t = static_cast<double>(count_++) * time_step_;
  const OscillationSum sum = sum_oscillations(weight_.data(), loss_.data(), weight_.size(), t);
  const double order = power_ + t;
  return {Complex(constant_ + sum.cosine, t * linear_ + sum.sine),
          1.1 * (constant_error_ + order * (linear_error_ + order * square_error_))};
}

Complex exp_less_one(Complex z) {
  const double half = std::sin(0.5 * z.imag()), growth = std::exp(z.real());
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half * half, growth * std::sin(z.imag())};
}

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
double SplitStep::log_missed_above(Share share, double power, double height) const {
  const auto [first, last] = ends(share);
  const double decay = 2 * pi * height / step_ * (1 - 1e-12);
  const double lines = log_add(log_cells(share, power, 0, 0), log_cells(share, power, 0, 2 * height)) - log_expm1_of(decay);
  const double lift = 2 * height * height - log_root_two_pi + std::log(2 * height);
  const auto side = [&](std::size_t end) {
    const double z = edge(end);
    return lift - 0.5 * z * z + power * edge_loss_[end] + log_weight_above(share, z, z, 2 * height) + std::log(2.0);
  };
  const double all = log_add(log_add(lines, log_outside(share, power, height)), log_add(side(first), side(last + 1)));
  return all + bound_slack + bound_relative_slack * std::abs(all);
}

SplitStep::NodeAbove SplitStep::node_above(Share share, std::size_t j, double height) const {
  const double x = static_cast<double>(first_ + static_cast<std::int64_t>(j)) * step_, root = width_ * std::numbers::sqrt2;
  const double log_step = std::log(step_) - log_root_two_pi, square = 0.5 * (x * x - height * height), away = (x - centre_) / root;
  const auto window =
      share == Share::tail ? hyperbolic::log_half_erfc({-away, -height / root}) : hyperbolic::log_half_erfc({away, height / root});
  // The argument of erfc errs by 3u of itself, and |d log erfc| is at most 2|z| + 2 there.
  const double argument = std::hypot(x - centre_, height) / root;
  NodeAbove node{log_step - square + window.real, -x * height + window.phase, 0, loss_above(x, height)};
  node.error = window.error + 3 * unit_roundoff * argument * (2 * argument + 2) +
               4 * unit_roundoff *
                   (std::abs(log_step) + std::abs(square) + std::abs(window.real) + std::abs(x * height) + std::abs(window.phase) + 4);
  if (share == Share::tail && upper_) {
    const double upper_root = upper_->width * std::numbers::sqrt2, beyond = x - upper_->centre;
    const auto upper = hyperbolic::log_half_erfc({beyond / upper_root, height / upper_root});
    const double upper_argument = std::hypot(beyond, height) / upper_root;
    node.log += upper.real;
    node.phase += upper.phase;
    node.error += upper.error + 3 * unit_roundoff * upper_argument * (2 * upper_argument + 2) +
                  4 * unit_roundoff * (std::abs(upper.real) + std::abs(upper.phase));
  }
  return node;
}

// v = weight (w^P - 1) is turned: v' = v e^(ihl) + weight (e^(ihl) - 1), so that every error is proportional to |P l|.
SplitStep::RaisedBulk::RaisedBulk(const SplitStep& step, double power, double time_step, double longest)
    : power_(power), time_step_(time_step), lost_(step.lost_) {
  const double height = few_bits_below(std::min(3 * step.width_, 0.47 * step.largest_height_), 10);
  missed_ = std::exp(step.log_missed_above(Share::bulk, power, height)) + std::exp(step.log_missed_above(Share::bulk, 0, height));
  const auto count = static_cast<double>(step.bulk_last_ + 1);
  double dropped = 0;
  for (std::size_t j = 0; j <= step.bulk_last_; ++j) {
    const NodeAbove node = step.node_above(Share::bulk, j, height);
    const Complex loss = node.loss.loss;
    const double size = std::abs(loss), modulus = std::exp(node.log), most = modulus * std::exp(std::max(0.0, power * loss.real()));
    const double largest = most * (power + longest) * size;  // of |v|, at every t
    if (largest < 1e-24 || !(node.error < 0.1)) {
      dropped += largest * 1.2;
      continue;
    }
    weight_.push_back({modulus * std::cos(node.phase), modulus * std::sin(node.phase)});
    loss_.push_back(loss);
    // 34 units for a value that is computed anew, as many for all moves since, and 12 for each turn
    const double units = count + 80 + fresh_every * (12 + 4 * time_step * size) + 4 * std::abs(node.log);
    linear_error_ += most * (1.05 * node.loss.error + (1.05 * node.error + units * unit_roundoff) * size);
    const Complex exponent(-time_step * loss.imag(), time_step * loss.real()), turn = std::exp(exponent),
                                                                               move = weight_.back() * exp_less_one(exponent);
    turn_real_.push_back(turn.real());
    turn_imaginary_.push_back(turn.imag());
    move_real_.push_back(move.real());
    move_imaginary_.push_back(move.imag());
  }
  real_.resize(weight_.size());
  imaginary_.resize(weight_.size());
  constant_error_ = missed_ + 1.1 * dropped + step.lost_error_ + 4 * unit_roundoff * lost_;
}

Enclosed SplitStep::RaisedBulk::next() {
  const double t = static_cast<double>(count_) * time_step_;
  if (count_ % fresh_every == 0) {
    for (std::size_t j = 0; j < weight_.size(); ++j) {
      const Complex value = weight_[j] * exp_less_one(Complex(power_, t) * loss_[j]);
      real_[j] = value.real();
      imaginary_[j] = value.imag();
    }
  } else {
    for (std::size_t j = 0; j < real_.size(); ++j) {
      const double real = real_[j] * turn_real_[j] - imaginary_[j] * turn_imaginary_[j] + move_real_[j];
      imaginary_[j] = real_[j] * turn_imaginary_[j] + imaginary_[j] * turn_real_[j] + move_imaginary_[j];
      real_[j] = real;
    }
  }
  ++count_;
  double real = 0, imaginary = 0;
  for (std::size_t j = 0; j < real_.size(); ++j) {
    real += real_[j];
    imaginary += imaginary_[j];
  }
  return {Complex(real - lost_, imaginary), 1.1 * (constant_error_ + (power_ + t) * linear_error_)};
}

SplitStep::TailTilt::TailTilt(const SplitStep& step, double power, double time_step) : time_step_(time_step) {
  const double height = few_bits_below(std::min(3 * step.narrowest(Share::tail), 0.47 * step.largest_height_), 10);
  std::vector<NodeAbove> points;
  for (std::size_t j = step.tail_first_; j < step.loss_.size(); ++j) {
    NodeAbove node = step.node_above(Share::tail, j, height);
    const double tilt = power * node.loss.loss.real(), turn = power * node.loss.loss.imag();
    node.log += tilt;
    node.phase += turn;
    node.error += power * node.loss.error + 4 * unit_roundoff * (std::abs(tilt) + std::abs(turn));
    points.push_back(node);
    log_scale_ = std::max(log_scale_, node.log);
  }
  const auto count = static_cast<double>(points.size());
  for (const NodeAbove& point : points) {
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
  constant_error_ += std::exp(step.log_missed_above(Share::tail, power, height) - log_scale_);
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

}  // namespace tradeoff::detail::rare
