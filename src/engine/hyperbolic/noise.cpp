// SPDX-License-Identifier: Apache-2.0
#include "engine/hyperbolic/noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "numeric/arithmetic.h"
#include "numeric/sum.h"

namespace tradeoff::detail::hyperbolic {
namespace {

using std::numbers::pi;
constexpr int lines_a_shift = 8;       // candidate lines are multiples of eta/8
constexpr std::size_t coarseness = 4;  // every fourth node suffices to compare paths
constexpr double dropped = 42;         // terms this far below the largest logarithm are bounded instead of summed
constexpr double quadrature = 46;      // 2 pi eta / h: the quadrature error is e^-46 of the integrals on the shifted lines
constexpr double branch_margin = 0.1;
constexpr double most_line_nodes = 5000;  // with more nodes another engine is cheaper
// Errors of l, of p (the contour point is rounded too) and of their product, in units of u (|p| + 1) (|l| + e / |1 + e^-|v||^2).
constexpr double table_units = 80;
// The slope of the ray on which a path may leave to the right: steeper than the outer boundary of the widest contour, tan 0.6 = 0.68, and
// below 1, where the Gaussian would not decay.
constexpr double ray_slope = 0.8;

double log_normal_constant(double mu) { return -std::log(mu * std::sqrt(2 * pi)); }

double rough_log_half_erfc(double z) {
  if (z < -5) return 0;
  return z < 5 ? std::log(std::erfc(z) / 2) : -z * z - std::log(2 * z * std::sqrt(pi)) - 0.5 / (z * z);
}

/// The rounding of a logarithm of this size and of the sum behind it.
double log_slack(double log) { return 1e-9 + 1e-12 * std::abs(log); }

/// Rounds down to 8 significant bits, so that multiples are exact.
double few_bits(double x) {
  int exponent = 0;
  const double mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::floor(mantissa * 256) / 256, exponent);
}

}  // namespace

RealNoise::RealNoise(double mu, double rate, bool remove, const std::optional<Window>& window, SampledBy sampling)
    : mu_(mu), mean_(std::log(rate) - (sampling == SampledBy::fixed ? 0 : std::log1p(-rate)) - mu * mu / 2) {
  const bool fixed = sampling == SampledBy::fixed;
  const double mean = mean_;
  // The remove direction tilts the distribution to the right, by up to mu^2 per unit of p; the add direction tilts it to the left, by
  // Gaussian deviations only.
  low_ = mean - (remove ? 12 : 45) * mu;
  double high = mean + (remove ? 250 * std::max(1.0, mu) * (mu < 0.5 ? mu : 1.0) + 12 * mu : 14 * mu);
  // Losses near 0 have a density of e^v / rate, which decays slowly, especially for large exponents.
  if (fixed) low_ = std::log(rate) - 56 - std::max(0.0, std::log(1e6 * rate));
  // Noise outside the window stays outside, except for exponents that no contour uses.
  if (window && window->side == Window::Side::bulk) high = std::min(high, std::max(mean, window->centre) + 40 * window->width);
  if (window && window->side == Window::Side::tail) low_ = std::max(low_, std::min(window->centre, high) - 12 * window->width);
  // Six digits of the trapezoidal rule; it only guides the search.
  step_ = std::max(std::min({0.6, 0.6 * mu, window ? window->width : infinity}), (high - low_) / 3000);
  const double log_rate = std::log(rate);
  const double constant = log_normal_constant(mu);
  for (double x = low_; x < high; x += step_) {
    log_ratio_.push_back(std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))));
    const double place = x - log_rate;
    const double beside = fixed ? std::log1p(std::exp(-std::abs(place))) : 0;
    const double z = fixed ? (std::max(place, 0.0) + beside) / mu + mu / 2 : (x - mean) / mu;
    log_density_.push_back(-z * z / 2 + (fixed ? std::min(place, 0.0) - beside : 0) + constant +
                           (window ? rough_log_half_erfc(window->argument(x, 0).real()) : 0));
  }
}

double RealNoise::log_transform(double p) const {
  // right of the mean of the tilted Gaussian the terms fall at least as fast as a Gaussian
  const double end = std::ceil((mean_ + std::max(p, 0.0) * mu_ * mu_ + 9 * mu_ - low_) / step_);
  const std::size_t count = end < static_cast<double>(log_ratio_.size()) ? static_cast<std::size_t>(std::max(end, 1.0)) : log_ratio_.size();
  const numeric::Exponents terms{log_density_.data(), {log_ratio_.data()}, {p}, 1, count};
  const double greatest = numeric::largest_exponent(terms);
  return greatest + std::log(numeric::sum_of_exponentials(terms, greatest) * step_);
}

double RealNoise::remainder(double p, double rate) const {
  double sum = 0;
  for (std::size_t j = 0; j < log_ratio_.size(); ++j) {
    const double x = low_ + static_cast<double>(j) * step_;
    const double z = (1 - rate) * std::exp(x) - rate;
    if (std::abs(p * z) <= 0.5 && std::abs(z) <= 0.5) {
      sum += std::exp(log_density_[j]) * third_order(p, z).real();
    } else {
      sum += std::exp(log_density_[j] + p * (log_ratio_[j] + std::log1p(-rate))) -
             std::exp(log_density_[j]) * (1 + p * z * (1 + (p - 1) * z / 2));
    }
  }
  return sum * step_;
}

Range RealNoise::range(double p) const {
  if (log_ratio_.empty()) return {-infinity, infinity};  // the window starts beyond the noise: no plane can use this
  double greatest = -infinity;
  for (std::size_t j = 0; j < log_ratio_.size(); ++j) greatest = std::max(greatest, log_density_[j] + p * log_ratio_[j]);
  std::size_t first = 0;
  std::size_t last = log_ratio_.size() - 1;
  while (log_density_[first] + p * log_ratio_[first] < greatest - dropped) ++first;
  while (log_density_[last] + p * log_ratio_[last] < greatest - dropped) --last;
  return {low_ + static_cast<double>(first) * step_, low_ + static_cast<double>(last) * step_};
}

NoisePlane::NoisePlane(Interval all_mu, Interval rate, Range range, const std::optional<Window>& window, SampledBy sampling)
    : mu_(all_mu.lo), mu_doubt_(all_mu.width() / all_mu.lo), rate_(rate), sampling_(sampling), window_(window) {
  const double mu = mu_;
  const bool fixed = sampling == SampledBy::fixed;
  const Interval mean = fixed ? log(rate) : log(rate) - log1p(-rate) - square(all_mu) / 2.0;
  mean_ = mean.lo - (fixed ? mu * mu / 2 : 0);
  mean_error_ = mean.width();
  log_rate_ = mean.lo;
  log_constant_ = log_normal_constant(mu);
  const double widest = mu < 0.3 ? 0.5 : 0.625;
  shift_ = window ? few_bits(std::min({widest, 4 * window->width, 1.25 * mu_})) : widest;  // its multiples by eighths are exact
  step_ = few_bits(std::min(2 * pi * shift_ / quadrature, (mu < 0.3 ? 0.35 : 0.4) * mu));
  bulge_ = 1.000001 * step_ * step_ / 8 * ((fixed ? 0 : 1 / (mu * mu)) + (window ? 1 / (window->width * window->width) : 0));
  // Beyond these ends the Gaussian, or the window, alone makes the integrand decay.
  if (window) range = {std::min(range.low, window->centre - 6 * window->width), std::max(range.high, window->centre + 6 * window->width)};
  if (!window || window->side == Window::Side::bulk) range.low = std::min(range.low, mean_ - 6 * mu - (fixed ? 8 : 0));
  if (fixed) range.high = std::max(range.high, log_rate_ + 3.0 + step_);
  // Rays need a small e^-x at the right end; for a tiny mu too many nodes would be needed up to there.
  if (mu >= 0.05) range.high = std::max(range.high, 3.0 + step_);
  if (!((range.high - range.low) / step_ < most_line_nodes && std::abs(range.low) / step_ < 1e8)) return;  // not usable
  first_ = static_cast<int>(std::floor(range.low / step_));
  count_ = static_cast<int>(std::ceil(range.high / step_)) - first_ + 1;
  const double ray_start = std::max(3.0, window ? window->centre + 1.001 * ray_slope * pi : 0);
  const int ray_node = static_cast<int>(std::ceil(ray_start / step_)) - first_;
  if (ray_node >= 2 && ray_node < count_) ray_node_ = static_cast<std::size_t>(ray_node);
  const int last = static_cast<int>((pi - branch_margin) / (shift_ / lines_a_shift));
  for (int multiple : {0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 21, 24, 28, 32, 36, 40, 44, 54, 66, 80}) {
    if (multiple <= last) candidates_.push_back(multiple);
  }
  lines_.resize(static_cast<std::size_t>(last) + 1);
}

const NoisePlane::Line& NoisePlane::line(int multiple) {
  auto& place = lines_[static_cast<std::size_t>(multiple)];
  if (!place) place = make_line(multiple * (shift_ / lines_a_shift));
  return *place;
}

NoisePlane::Shifted NoisePlane::shifted(int multiple) { return {&line(std::abs(multiple)), multiple < 0 ? -1.0 : 1.0}; }

// [noise-plane] l(v) = log(1 + e^v) on the line, continued from the right: e = exp(-|x|) never overflows.
std::unique_ptr<NoisePlane::Line> NoisePlane::make_line(double theta) const {
  auto result = std::make_unique<Line>();
  Line& line = *result;
  const auto n = static_cast<std::size_t>(count_);
  line.theta = theta;
  for (auto* column :
       {&line.log_modulus, &line.argument, &line.log_density, &line.phase, &line.error, &line.log_ceiling, &line.reach, &line.curvature}) {
    column->resize(n);
  }
  const double cosine = std::cos(theta);
  const double sine = std::sin(theta);
  const double cell_growth = std::exp(step_);
  for (std::size_t j = 0; j < n; ++j) {
    const double x = (first_ + static_cast<int>(j)) * step_;
    const double e = std::exp(-std::abs(x));
    const double real = e * cosine;
    const double imaginary = x > 0 ? -e * sine : e * sine;
    const double growth = 2 * real + e * e;  // |1 + e^-+v|^2 - 1
    const double half_log = std::log1p(growth) / 2;
    const double angle = std::atan2(imaginary, 1 + real);
    line.log_modulus[j] = x > 0 ? x + half_log : half_log;
    line.argument[j] = x > 0 ? theta + angle : angle;
    if (sampling_ == SampledBy::fixed)
      set_sampled_density(line, j, x);
    else
      set_gaussian_density(line, j, x);
    if (window_) apply_window(line, j, x);
    // [noise-plane] another mean is a shift of v and of the window: an error of l of |l'| times that of the mean
    const double slope = (x > 0 ? 1 : e) / std::sqrt(1 + growth);
    line.reach[j] = std::abs(line.log_modulus[j]) + std::abs(line.argument[j]) + e / (1 + growth) +
                    1.001 * slope * mean_error_ / (table_units * unit_roundoff);
    const double nearest = std::min(1.0, e * cell_growth);  // e at the point of the two neighbouring cells where |l''| is largest
    line.curvature[j] =
        1.000001 * step_ * step_ / (16 * ((nearest + 1 / nearest) / 2 + cosine)) + table_units * unit_roundoff * line.reach[j];
  }
  for (std::size_t j = 0; j < n; j += coarseness) {
    line.coarse.log_ceiling.push_back(line.log_ceiling[j]);
    line.coarse.log_modulus.push_back(line.log_modulus[j]);
    line.coarse.argument.push_back(line.argument[j]);
    line.coarse.curvature.push_back(line.curvature[j]);
  }
  const double left = first_ * step_;
  const double right = (first_ + count_ - 1) * step_;
  const double everywhere = (cosine >= 0 ? 1 : 1 / sine) * 1.000001;  // |1 + w e^(-i theta)| >= 1 or >= sin(theta)
  line.greatest_slope = right > 0 && cosine < 0 ? std::min(everywhere, 1.000001 / -std::expm1(-right)) : everywhere;
  line.right_slope_positive = cosine >= 0 || right >= 0;
  const double w = std::exp(left);  // |l'| = w / |1 + w e^(i theta)| grows with w up to 1
  line.left_slope = left <= 0 ? 1.000001 * w / std::sqrt((1 + w * cosine) * (1 + w * cosine) + w * w * sine * sine) : everywhere;
  return result;
}

void NoisePlane::set_gaussian_density(Line& line, std::size_t j, double x) const {
  const double lift = line.theta * line.theta / (2 * mu_ * mu_);
  const double constant = log_constant_;
  const double z = (x - mean_) / mu_;
  line.log_density[j] = -z * z / 2 + lift + constant;
  line.phase[j] = -z * line.theta / mu_;
  // [log-convex-majorant] the roundings of the table entries, as counted on the theory page
  const double exponents = z * z / 2 + lift + std::abs(line.phase[j]) + 1;
  line.error[j] = 16 * unit_roundoff * (exponents + std::abs(constant)) + 2.001 * mu_doubt_ * exponents;
  line.log_ceiling[j] = line.log_density[j] + line.error[j];
}

namespace {

/// log(1 + e^v) at v = x + i theta, and its components: e = e^-|x| and |1 + e^-+v|^2.
struct Softplus {
  double real;
  double imaginary;
  double e;
  double size;
  double log_real;  // of the logistic function e^v / (1 + e^v)
  double log_imaginary;
};

Softplus softplus(double x, double theta) {
  const double e = std::exp(-std::abs(x));
  const double real = e * std::cos(theta);
  const double imaginary = (x > 0 ? -e : e) * std::sin(theta);
  const double growth = 2 * real + e * e;
  const double half_log = std::log1p(growth) / 2;
  const double angle = std::atan2(imaginary, 1 + real);
  if (x > 0) return {x + half_log, theta + angle, e, 1 + growth, -half_log, -angle};
  return {half_log, angle, e, 1 + growth, x - half_log, theta - angle};
}

/// The largest |logistic(x + i theta)|^2 within `across` of x, where cos theta is at least `cosine`.
double largest_logistic(double x, double across, double cosine) {
  const double least = std::min(std::exp(-x - across), 1e150);  // further away it is negligible, and squares would overflow
  const double t = std::clamp(-cosine, least, std::max(least, std::exp(-x + across)));  // |1 + t e^(-i theta)| is least there
  return 1.000001 / (1 + 2 * t * cosine + t * t);
}

}  // namespace

// [sampled-plane] log D = -Z^2/2 + log logistic(xi) - log(mu sqrt(2 pi)), Z = (log(1 + e^xi) + mu^2/2) / mu, xi = v - log rate.
void NoisePlane::set_sampled_density(Line& line, std::size_t j, double x) const {
  const double place = x - log_rate_;
  const Softplus loss = softplus(place, line.theta);
  const double constant = log_constant_;
  const double z = (loss.real + mu_ * mu_ / 2) / mu_;
  const double y = loss.imaginary / mu_;
  line.log_density[j] = (y - z) * (y + z) / 2 + loss.log_real + constant;
  line.phase[j] = -z * y + loss.log_imaginary;
  // Roundings and errors, as counted on the theory page: of sums, of log(1 + e^xi), of xi, of mu.
  const double size = std::hypot(z, y);
  const double parts = size * size + std::abs(loss.log_real) + std::abs(loss.log_imaginary) + std::abs(constant) + std::abs(place) + 1;
  const double loss_error = 48 * unit_roundoff * (std::abs(loss.real) + std::abs(loss.imaginary) + loss.e / loss.size);
  const double slope = (size / mu_ * (place > 0 ? 1 : loss.e) + (place > 0 ? loss.e : 1)) / std::sqrt(loss.size);
  line.error[j] = 16 * unit_roundoff * parts + (size / mu_ + 1) * loss_error +
                  4 * unit_roundoff * slope * (std::abs(x) + std::abs(log_rate_)) + 2.001 * mu_doubt_ * (size * size + mu_ * size + 1);
  const double bulge = step_ * step_ / 8 * sampled_curvature(x, line.theta, step_, step_, std::cos(line.theta) - 1e-12);
  line.log_ceiling[j] = line.log_density[j] + line.error[j] + bulge;
}

double NoisePlane::sampled_curvature(double x, double theta, double across, double length, double cosine) const {
  const double place = x - log_rate_;
  const Softplus loss = softplus(place, theta);
  const double logistic = largest_logistic(place, across, cosine);
  const double nearest = std::max(0.0, std::abs(place) - across);
  const double product = 1 / (2 * (std::cosh(nearest) + cosine));  // |logistic (1 - logistic)|
  const double z = (std::hypot(loss.real, loss.imaginary) + mu_ * mu_ / 2 + length * std::sqrt(logistic)) / mu_;
  return 1.000001 * (logistic / (mu_ * mu_) + (z / mu_ + 1) * product);
}

// [sampled-plane] The slope of log |D| is at least 1 - |logistic| (|Z| / mu + 1), everywhere left of the first node.
double NoisePlane::sampled_left_fall(const Line& line) const {
  const double place = first_ * step_ - log_rate_;
  const double logistic = std::sqrt(largest_logistic(place - 350, 350, std::cos(line.theta) - 1e-12));
  const double e = std::exp(place);
  const double loss = e < 0.5 ? 1.000001 * -std::log1p(-e) : std::max(place, 0.0) + 1 + std::log(logistic + 1) + line.theta;
  return 1 - 1.000001 * logistic * ((loss / mu_ + mu_ / 2) / mu_ + 1) - 1e-9;
}

// [sampled-plane] Right of xi = 3 the slope of log |D| is that of the Gaussian up to this difference.
double NoisePlane::sampled_wobble(const Line& line, double right, double slope) const {
  const double place = right - log_rate_;
  if (!(place >= 3 - 1e-9)) return infinity;
  const double away = 1.000001 / std::expm1(place);  // |1 - logistic|, |log(1 + e^-xi)|
  const double z = (place + line.theta + away + 1 + mu_ * mu_ / 2) / mu_;
  return away * ((1 + slope) / (mu_ * mu_) + std::hypot(1, slope) * (z / mu_ + 1)) * (1 + 1e-9);
}

// [bent-split] |erfc(z)/2| <= e^(y^2-x^2)/2 for x >= 0 and <= 1 + e^(y^2-x^2)/2 for x < 0; the second derivatives of both logarithms are at
// least -1/width^2. The second bound is used up to one step beyond 0, so that no cell uses both.
void NoisePlane::apply_window(Line& line, std::size_t j, double x) const {
  const Complex z = window_->argument(x, line.theta);
  const LogHalfErfc weight = log_half_erfc(z);
  line.log_density[j] += weight.real;
  line.phase[j] += weight.phase;
  // The argument has a few roundings; |d log erfc(z)| <= 2 (|z| + 1) |dz| on the right, 2 |e^(-z^2) / erfc(z)| |dz| on the left. An unknown
  // phase is an error of twice the bound.
  const double argument_error = 16 * unit_roundoff * (std::abs(x) + std::abs(window_->centre) + line.theta) / window_->width;
  const double steepness = z.real() >= 0 ? 2 * (std::abs(z) + 1) : std::exp(z.imag() * z.imag() - z.real() * z.real() - weight.real);
  const double weight_error = weight.error + steepness * argument_error;
  line.error[j] += weight_error < 2 ? weight_error : 2;
  const double exponent = (z.imag() * z.imag() - z.real() * z.real()) + 4 * (std::abs(z) + 1) * argument_error;
  const bool beyond = z.real() >= step_ / (window_->width * 1.4);
  line.log_ceiling[j] += (beyond ? exponent - std::log(2.0) : (exponent > 600 ? exponent : std::log1p(std::exp(exponent) / 2))) + 1e-12;
}

std::span<const NoisePlane::Exit> NoisePlane::exits(std::span<const Complex> hull) const {
  static constexpr std::array<Exit, 2> both{Exit::straight, Exit::ray};
  const bool useful = std::any_of(hull.begin(), hull.end(), [](const Complex& p) { return p.real() > 0 && p.imag() > 0; });
  return {both.data(), ray_node_ > 0 && useful ? 2UL : 1UL};
}

// A margin of 1e-9 on each side covers the roundings of these few operations.
double NoisePlane::right_rate(const Line& line, Complex p, Exit exit) const {
  const double right = (first_ + static_cast<int>(length(exit)) - 1) * step_;
  const double a = p.real();
  const double variance = mu_ * mu_;
  const double lost = sampling_ == SampledBy::fixed ? sampled_wobble(line, right, exit == Exit::ray ? ray_slope : 0) : 0;
  if (exit == Exit::straight) {
    const double growth = a > 0 ? a * line.greatest_slope : (line.right_slope_positive ? 0 : -a * line.greatest_slope);
    const double window =
        window_ && window_->side == Window::Side::bulk ? (right - window_->centre) / (window_->width * window_->width) : 0;
    return ((right - mean_) / variance + window) * (1 - 1e-9) - growth * (1 + 1e-9) - 1e-9 - lost;
  }
  const double wobble = std::abs(p) * std::hypot(1, ray_slope) / std::expm1(right);  // |l' - 1| <= 1 / (e^x - 1)
  const double gain = (right - mean_ - ray_slope * line.theta) / variance + ray_slope * p.imag();
  return gain - 1e-9 * std::abs(gain) - (a + wobble) - 1e-9 * (std::abs(a) + wobble + p.imag() + 1) - lost;
}

double NoisePlane::left_rate(const Line& line, Complex p) const {
  const double left = first_ * step_;
  const double window = window_ && window_->side == Window::Side::tail ? (window_->centre - left) / (window_->width * window_->width) : 0;
  const double fall = (sampling_ == SampledBy::fixed ? sampled_left_fall(line) : (mean_ - left) / (mu_ * mu_)) + window;
  return fall - 1e-9 * std::abs(fall) - std::abs(p) * line.left_slope * (1 + 1e-9) - 1e-9;
}

numeric::Exponents NoisePlane::bounds(const Bounds& columns, double sign, Complex p, std::size_t count) {
  return {columns.log_ceiling.data(),
          {columns.log_modulus.data(), columns.argument.data(), columns.curvature.data()},
          {p.real(), -p.imag() * sign, std::abs(p) + 1},
          3,
          count};
}

double NoisePlane::coarse_maximum(Shifted shifted, Complex p, Exit exit) const {
  const double inside =
      numeric::largest_exponent(bounds(shifted.line->coarse, shifted.sign, p, (length(exit) + coarseness - 1) / coarseness));
  return std::max(inside, log_bound_at(shifted, p, length(exit) - 1));  // if it increases, its maximum is at the end
}

double NoisePlane::log_bound_at(Shifted shifted, Complex p, std::size_t node) const {
  const Line& line = *shifted.line;
  return line.log_ceiling[node] + p.real() * line.log_modulus[node] - p.imag() * shifted.sign * line.argument[node] +
         (std::abs(p) + 1) * line.curvature[node] + bulge_;
}

// [log-convex-majorant] The integral of the modulus along the line, by chords of the logarithm on each cell.
double NoisePlane::log_interior(Shifted shifted, Complex p, Exit exit) {
  const double scale = coarse_maximum(shifted, p, exit);
  const double sum = numeric::sum_of_exponentials(bounds(*shifted.line, shifted.sign, p, length(exit)), scale);
  work_ += length(exit);
  return scale + std::log(sum * step_) + bulge_ + log_slack(scale);
}

double NoisePlane::tails(const Line& line, Complex p, Exit exit, double log_scale) const {
  const double left = left_rate(line, p);
  const double right = right_rate(line, p, exit);
  if (!(left > 0 && right > 0)) return infinity;
  const double stretch = exit == Exit::ray ? std::hypot(1, ray_slope) : 1;
  return (std::exp(log_bound_at({&line, 1}, p, 0) - log_scale) / left +
          std::exp(log_bound_at({&line, 1}, p, length(exit) - 1) - log_scale) / right * stretch) *
         (1 + 1e-9);
}

template <class Cost>
NoisePlane::Path NoisePlane::cheapest(std::span<const Complex> hull, Places& places, Cost cost) {
  Path best;
  double least = infinity;
  work_ += static_cast<std::uint64_t>(count_);  // the candidates together cost about one line of exponentials
  for (const Exit exit : exits(hull)) {
    std::size_t& place = places[exit == Exit::ray ? 1 : 0];
    const auto at = [&](std::size_t candidate) { return cost(candidates_[candidate], exit); };
    double here = at(place);
    if (!(here < infinity)) {
      for (std::size_t candidate = 0; candidate < candidates_.size(); ++candidate) {
        const double there = at(candidate);
        if (there < here) here = there, place = candidate;
      }
    } else {
      for (const int turn : {1, -1}) {
        for (bool better = true; better;) {
          const std::size_t next = place + static_cast<std::size_t>(turn);  // before the first: beyond the last
          const double there = next < candidates_.size() ? at(next) : infinity;
          better = there < here;
          if (better) here = there, place = next;
        }
      }
    }
    if (here < least) {
      least = here;
      best = {candidates_[place], exit};
    }
  }
  return best;
}

NoisePlane::Path NoisePlane::best_path(std::span<const Complex> hull) {
  return cheapest(hull, majorant_places_, [&](int multiple, Exit exit) {
    const Shifted candidate = shifted(multiple);
    double maximum = -infinity;
    for (const Complex& p : hull) {
      const double right = right_rate(*candidate.line, p, exit);
      if (!(left_rate(*candidate.line, p) > 0 && right > 0)) return infinity;
      const double beyond = log_bound_at(candidate, p, length(exit) - 1) - std::log(std::min(1.0, right));
      maximum = std::max({maximum, coarse_maximum(candidate, p, exit), beyond});
    }
    return maximum;
  });
}

NoisePlane::Path NoisePlane::best_quadrature_path(Complex p) {
  return cheapest({&p, 1}, quadrature_places_, [&](int multiple, Exit exit) {
    if (multiple + lines_a_shift >= static_cast<int>(lines_.size())) return infinity;
    const double right = right_rate(line(multiple), p, exit);
    if (!(right > 0)) return infinity;
    const double beyond = log_bound_at(shifted(multiple), p, length(exit) - 1) - std::log(right);
    const double beside =
        std::max(coarse_maximum(shifted(multiple - lines_a_shift), p, exit), coarse_maximum(shifted(multiple + lines_a_shift), p, exit));
    return std::max({beside - quadrature, beyond, log_short_sides(multiple, p, exit)});
  });
}

double NoisePlane::log_majorant(std::span<const Complex> hull) {
  if (count_ == 0) return infinity;
  const auto [multiple, exit] = best_path(hull);  // one path for all points
  const Line& chosen = line(multiple);
  double greatest = -infinity;
  for (const Complex& p : hull) {
    const double interior = log_interior({&chosen, 1}, p, exit);
    greatest = std::max(greatest, interior + std::log1p(tails(chosen, p, exit, interior)));
  }
  return greatest;
}

// [noise-plane] The short sides of the rectangle around the nodes: on each the logarithm of the integrand is a chord plus a curvature term.
double NoisePlane::log_short_sides(int multiple, Complex p, Exit exit) {
  const std::size_t n = length(exit);
  const double fall = 2 * pi * shift_ / step_ * (1 - 1e-12);
  const double flattest = std::cos((multiple + lines_a_shift) * (shift_ / lines_a_shift)) - 1e-12;
  const auto at_end = [&](Shifted line, bool right) {
    return right ? std::max(log_bound_at(line, p, n - 1), log_bound_at(line, p, n - 2))
                 : std::max(log_bound_at(line, p, 0), log_bound_at(line, p, 1));
  };
  double greatest = -infinity;
  for (const bool right : {false, true}) {
    const double x = (right ? first_ + static_cast<int>(n) - 1 : first_) * step_;
    const double nearest = std::max(0.0, std::abs(x) - step_);
    // [sampled-plane] the logarithm of a Gaussian is convex in Im v; that of the other density is neither convex nor concave
    const double theta = multiple * (shift_ / lines_a_shift);
    const double bend =
        sampling_ == SampledBy::fixed ? shift_ * shift_ / 8 * sampled_curvature(x, theta, step_, step_ + shift_, flattest) : 0;
    const double bulge = std::abs(p) * shift_ * shift_ / (16 * (std::cosh(nearest) + flattest)) * 1.000001 + bend;
    const double centre = at_end(shifted(multiple), right);
    for (const int side : {-lines_a_shift, lines_a_shift}) {
      greatest = std::max(greatest, std::max(centre, at_end(shifted(multiple + side), right) - fall) + bulge);
    }
  }
  return greatest + std::log(4 * shift_) + log_slack(greatest);
}

// [bent-remainder] From the third on each term is at most half of the one before; the last summed term bounds the rest.
Complex third_order(Complex p, Complex z) {
  const auto times = [](Complex a, Complex b) {  // without the library's handling of infinities
    return Complex(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  };
  Complex term = times(times(p, z), times(times(p - 1.0, z), times(p - 2.0, z))) / 6.0;
  Complex sum = term;
  const double enough = 1e-36 * std::norm(term);
  for (double k = 3; k < 70 && std::norm(term) > enough; ++k) {
    term = times(term, times((p - k) / (k + 1), z));
    sum += term;
  }
  return sum;
}

Range NoisePlane::remainder_range(double mu, double rate, Range range) {
  const double mean = std::log(rate) - std::log1p(-rate) - mu * mu / 2;
  return {std::min(range.low, mean - 10 * mu), std::max(range.high, mean + 10 * mu + 2 * mu * mu)};
}

// [noise-plane] The trapezoidal rule on the line without its first and last node; its error is bounded by the rectangle around the others.
Polar NoisePlane::evaluate(Complex p) {
  if (count_ == 0) return {0, 0, infinity};
  const bool mirrored = p.imag() < 0;
  if (mirrored) p = std::conj(p);
  const auto [chosen, exit] = best_quadrature_path(p);
  const Line& line = this->line(chosen);
  const std::size_t n = length(exit);
  const double a = p.real();
  const double b = p.imag();
  if (n < 3) return {0, 0, infinity};
  const auto inner = [&](const std::vector<double>& column) { return column.data() + 1; };
  const numeric::Exponents exponents{inner(line.log_density), {inner(line.log_modulus), inner(line.argument)}, {a, -b}, 2, n - 2};
  const double greatest = numeric::largest_exponent(exponents);
  const numeric::PolarSum sum =
      numeric::sum_of_polar_terms({exponents,
                                   {inner(line.phase), {inner(line.argument), inner(line.log_modulus)}, {a, b}, 2, n - 2},
                                   greatest,
                                   inner(line.error),
                                   inner(line.reach)});
  work_ += 3 * n;
  const double rounding =
      1.001 * (sum.first + (std::abs(p) + 1) * table_units * unit_roundoff * sum.second + 26 * unit_roundoff * sum.modulus) +
      2e-26 * static_cast<double>(n);
  const double error = (rounding * step_ + path_error(chosen, p, exit, greatest)) * (1 + 1e-9);
  const double real = sum.real;
  const double imaginary = sum.imaginary;
  const double phase = std::atan2(imaginary, real);
  return {std::log(std::hypot(real, imaginary) * step_) + greatest, mirrored ? -phase : phase,
          std::log(error) + greatest + log_slack(greatest)};
}

// [noise-plane] The part beyond the inner nodes, and the quadrature error of the rectangle around them.
double NoisePlane::path_error(int chosen, Complex p, Exit exit, double log_scale) {
  const Line& line = this->line(chosen);
  const std::size_t n = length(exit);
  const auto half_cell = [&](std::size_t end, std::size_t inner) {
    return step_ / 2 * std::exp(std::max(log_bound_at({&line, 1}, p, end), log_bound_at({&line, 1}, p, inner)) - log_scale);
  };
  const double beyond = tails(line, p, exit, log_scale) + half_cell(0, 1) + half_cell(n - 1, n - 2);
  const double beside =
      std::max(log_interior(shifted(chosen - lines_a_shift), p, exit), log_interior(shifted(chosen + lines_a_shift), p, exit));
  return beyond + std::exp(beside - log_scale) * 2 / std::expm1(2 * pi * shift_ / step_ * (1 - 1e-12)) +
         std::exp(log_short_sides(chosen, p, exit) - log_scale);
}

// [bent-remainder] Uses the series where the powers almost cancel, and otherwise their difference, whose terms are then not small. Both
// include the roundings of p, of z and of the density, as counted on the theory page.
NoisePlane::Share NoisePlane::remainder_at(const Line& line, Complex turn, Complex p, std::size_t j) const {
  const double rate = rate_.lo;
  const double growth = std::exp((first_ + static_cast<int>(j)) * step_);
  const Complex z((1 - rate) * growth * turn.real() - rate, (1 - rate) * growth * turn.imag());
  const double doubt =
      (8 * unit_roundoff + 1.01 * mean_error_) * growth + (8 * unit_roundoff + 1.01 * rate_.width() / rate) * rate * (growth + 1);
  const double size = std::abs(p);
  const double reach = std::abs(z) + doubt;
  const double density = std::exp(line.log_density[j]);
  const Complex turned(density * std::cos(line.phase[j]), density * std::sin(line.phase[j]));
  if (size * reach <= 0.5 && reach <= 0.5) {
    const Complex value = turned * third_order(p, z);
    const double third = size * (size + 1) * (size + 2) / 6 * reach * reach;  // times reach: the leading term
    const double modulus = density * 2 * third * reach;
    return {value, modulus,
            modulus * (1.8 * line.error[j] + 4 * unit_roundoff) + density * (8 * third * doubt + 400 * unit_roundoff * third * reach)};
  }
  const double shift = std::log1p(-rate);
  const double a = p.real();
  const double b = p.imag();
  const double power = std::exp(line.log_density[j] + a * (line.log_modulus[j] + shift) - b * line.argument[j]);
  const double angle = line.phase[j] + a * line.argument[j] + b * (line.log_modulus[j] + shift);
  const Complex polynomial = 1.0 + p * z * (1.0 + (p - 1.0) * z / 2.0);
  const double magnitude = 1 + size * reach + size * (size + 1) * reach * reach / 2;
  const double power_error =
      line.error[j] + (size + 1) * (table_units * unit_roundoff * line.reach[j] - 2 * shift * (24 * unit_roundoff + rate_.width() / rate));
  return {Complex(power * std::cos(angle), power * std::sin(angle)) - turned * polynomial, power + density * magnitude,
          power * (power_error < 1 ? 1.8 * power_error : infinity) +
              density * (magnitude * (1.8 * line.error[j] + 80 * unit_roundoff) + (size + size * (size + 1) * reach) * doubt)};
}

double NoisePlane::polynomial_error(const Line& line, const Powers& powers, Exit exit) const {
  const std::size_t n = length(exit);
  const double variance = mu_ * mu_;
  const double left = first_ * step_;
  const double right = (first_ + static_cast<int>(n) - 1) * step_;
  const double stretch = exit == Exit::ray ? std::hypot(1, ray_slope) : 1;
  const double lean = exit == Exit::ray ? ray_slope * line.theta : 0;
  const auto density = [&](std::size_t end, std::size_t inner) {
    return std::exp(std::max(line.log_ceiling[end], line.log_ceiling[inner]) + bulge_);
  };
  const double last_short =
      std::exp(((line.theta + shift_) * (line.theta + shift_) - line.theta * line.theta) / (2 * variance) - quadrature);
  const double sides = 4 * shift_ * std::max(1.0, 1.001 * last_short);
  const double whole = std::exp((line.theta + shift_) * (line.theta + shift_) / (2 * variance) - quadrature);
  double total = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const auto power = static_cast<double>(k);
    const double left_rate = (mean_ - left) / variance - 1e-9;  // the powers only make it smaller there
    const double right_rate = ((right - lean - mean_) / variance - power) * (1 - 1e-9) - 1e-9;
    if (!(left_rate > 0 && right_rate > 0)) return infinity;
    const double at_left = density(0, 1) * std::exp(power * (left + step_));
    const double at_right = density(n - 1, n - 2) * std::exp(power * right);
    total += powers[k] * (at_left * (1 / left_rate + step_ + sides) + at_right * (stretch / right_rate + step_ + sides) +
                          2.001 * whole * std::exp(power * (mean_ + mean_error_) + power * power * variance / 2));
  }
  return total * (1 + 1e-6);
}

// [bent-remainder] The trapezoidal rule on the path of J(p): beyond the path each power is bounded separately; at the nodes they are
// combined.
Plain NoisePlane::evaluate_remainder(Complex p) {
  if (count_ == 0 || window_ || sampling_ == SampledBy::fixed || rate_.hi > 0.5) return {0, infinity};
  const bool mirrored = p.imag() < 0;
  if (mirrored) p = std::conj(p);
  const auto [chosen, exit] = best_quadrature_path(p);
  const Line& line = this->line(chosen);
  const std::size_t n = length(exit);
  // [compensated-sum] the roundings of the additions are within 2 u of the sum and 4 n^2 u^2 of the moduli
  numeric::CompensatedSum real_sum;
  numeric::CompensatedSum imaginary_sum;
  double modulus = 0;
  double rounding = 0;
  const Complex turn(std::cos(line.theta), std::sin(line.theta));
  for (std::size_t j = 1; j + 1 < n; ++j) {
    const Share share = remainder_at(line, turn, p, j);
    real_sum.add(share.value.real());
    imaginary_sum.add(share.value.imag());
    modulus += share.modulus;
    rounding += share.error;
  }
  work_ += 4 * n;
  const Complex sum(middle_of(real_sum.enclosure()), middle_of(imaginary_sum.enclosure()));
  const double size = std::abs(p);
  const double rate = rate_.hi;
  const double scale = std::exp(std::max(0.0, -p.real()) * -log1p(-rate_).lo);  // |(1 - rate)^p| at most
  const Powers powers{1 + size * rate + size * (size + 1) * rate * rate, size, size * (size + 1)};
  const double missed = path_error(chosen, p, exit, 0) * scale + polynomial_error(line, powers, exit);
  const double error = (step_ * (1.001 * rounding + 4 * unit_roundoff * modulus) + missed) * (1 + 1e-9);
  return {(mirrored ? std::conj(sum) : sum) * step_, error < infinity ? error : infinity};
}

}  // namespace tradeoff::detail::hyperbolic
