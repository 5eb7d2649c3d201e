// SPDX-License-Identifier: Apache-2.0
#include "engine/hyperbolic/factor.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "numeric/arithmetic.h"
#include "numeric/normal.h"

namespace tradeoff::detail::hyperbolic {
namespace {

// [bent-split] Larger numbers of steps in the tail are bounded, not summed. 10^7 over 48 is a finite double.
constexpr std::uint32_t most_tail_steps = 48;

LogValue logarithm(const Polar& value) {
  const double relative = std::exp(value.log_error - value.log_modulus);
  const double rounding = 8 * unit_roundoff * (std::abs(value.log_modulus) + std::abs(value.phase) + 4);
  if (relative < 0.5) return {value.log_modulus, value.phase, -std::log1p(-relative) * (1 + 1e-9) + rounding, true};
  return {std::max(value.log_modulus, value.log_error) + std::log(2.0), 0, rounding, false};
}

/// log(e^a + e^b); an unknown summand counts as an error of its own size.
LogValue sum_of(LogValue a, LogValue b) {
  const double scale = std::max(a.real, b.real);
  Complex sum = 0;
  double error = 0;
  double size = 0;
  for (const LogValue& one : {a, b}) {
    const double modulus = std::exp(one.real - scale);
    size += modulus;
    if (one.known) sum += Complex(modulus * std::cos(one.phase), modulus * std::sin(one.phase));
    error +=
        modulus * (one.known ? std::expm1(one.error + 4 * unit_roundoff * (std::abs(one.real) + std::abs(scale) + std::abs(one.phase) + 4))
                             : std::exp(one.error) * (1 + 1e-9));
  }
  const double modulus = std::abs(sum);
  const double relative = error * (1 + 1e-9) / modulus;
  const double rounding = 8 * unit_roundoff * (std::abs(scale) + 8);
  if (!(scale < infinity)) return {infinity, 0, rounding, false};
  if (!(relative < 0.5)) return {scale + std::log(size + error), 0, rounding, false};
  return {scale + std::log(modulus), std::atan2(sum.imag(), sum.real()), -std::log1p(-relative) * (1 + 1e-9) + rounding, true};
}

/// [fixed-size-subsampling] log of (1 - rate)(1 - 2 Q(x > 0)): the mass with loss 0.
Interval log_neither(const SubsampledSteps& steps) {
  if (steps.sampling != SampledBy::fixed) return Interval::exactly(0);
  const Interval half = steps.mu_interval() / 2.0;
  return log((1.0 - steps.rate_interval()) * (normal_cdf(half) - normal_cdf(-half)));
}

}  // namespace

std::optional<RealNoise> mirror_noise(const SubsampledSteps& steps) {
  if (steps.sampling != SampledBy::fixed) return std::nullopt;
  return RealNoise(steps.mu, steps.rate, false, std::nullopt, SampledBy::fixed);
}

Cut::Cut(const SubsampledSteps& steps, double centre, double width)
    : bulk{centre, width, Window::Side::bulk},
      tail{centre, width, Window::Side::tail},
      bulk_noise(steps.mu, steps.rate, steps.remove, bulk, steps.sampling),
      tail_noise(steps.mu, steps.rate, steps.remove, tail, steps.sampling),
      mirror_noise(hyperbolic::mirror_noise(steps)) {}

StepFactor::StepFactor(const SubsampledSteps& steps, const RealNoise& whole, const RealNoise* mirror)
    : steps_(&steps), whole_(&whole), mirror_(mirror), log_neither_(log_neither(steps)) {}

StepFactor::StepFactor(const SubsampledSteps& steps, std::shared_ptr<const Cut> cut, TailSteps count)
    : steps_(&steps), log_neither_(log_neither(steps)), cut_(std::move(cut)) {
  if (cut_->mirror_noise) mirror_ = &*cut_->mirror_noise;
  any_ = count == TailSteps::any;
  if (any_) return;
  const auto times = static_cast<std::uint32_t>(steps.times);
  first_ = count == TailSteps::none ? 0 : (count == TailSteps::one ? 1 : 2);
  const std::uint32_t last = count == TailSteps::more ? std::min(times, most_tail_steps) : first_;
  more_ = last < times && count == TailSteps::more;
  for (std::uint32_t k = first_; k <= last; ++k) log_binomials_.push_back(log_binomial(times, k).value);
}

// Each further term is at most times e^(tail - bulk) / (k + 1) of the one before; if that ratio is at most a half, they add up to at most
// twice the first.
double StepFactor::omitted_share(double bulk, double tail) const {
  if (!more_) return 0;
  const double ratio = steps_->times * std::exp(tail - bulk) / (most_tail_steps + 1);
  return ratio <= 0.5 ? 2 * ratio * (1 + 1e-9) : infinity;
}

double StepFactor::combine(double bulk, double tail) const {
  const double omitted = omitted_share(bulk, tail);
  if (any_ || !(omitted <= 1))
    return steps_->times * (std::max(bulk, tail) + std::log1p(std::exp(-std::abs(bulk - tail))) + 1e-15 * std::abs(bulk));
  double greatest = -infinity;
  const auto log_term = [&](std::size_t i) {
    const double k = first_ + static_cast<double>(i);
    // 0 steps contribute nothing even if the logarithm is infinite
    return log_binomials_[i] + (k < steps_->times ? (steps_->times - k) * bulk : 0) + (k > 0 ? k * tail : 0);
  };
  for (std::size_t i = 0; i < log_binomials_.size(); ++i) greatest = std::max(greatest, log_term(i));
  if (!(std::abs(greatest) < infinity)) return greatest;
  double sum = 0;
  for (std::size_t i = 0; i < log_binomials_.size(); ++i) sum += std::exp(log_term(i) - greatest);
  sum += omitted * std::exp(log_term(log_binomials_.size() - 1) - greatest);
  return greatest + std::log(sum);
}

// The binomial coefficients are accurate to 2.2 k + 8 log units: below 4 units per step, included in the error of the logarithm.
LogValue StepFactor::combine(LogValue bulk, LogValue tail) const {
  if (any_) {
    const LogValue sum = sum_of(bulk, tail);
    return {steps_->times * sum.real, steps_->times * sum.phase, steps_->times * sum.error, sum.known};
  }
  const double bound = combine(bulk.real, tail.real);
  const double size = steps_->times * (std::abs(bulk.real) + std::abs(tail.real) + std::abs(bulk.phase) + std::abs(tail.phase) + 8);
  LogValue unknown{bound, 0, steps_->times * (bulk.error + tail.error) + 16 * unit_roundoff * size + 1e-12, false};
  const double omitted = omitted_share(bulk.real - bulk.error, tail.real + tail.error);
  if (!(bulk.known && (tail.known || first_ + log_binomials_.size() == 1) && omitted <= 1)) return unknown;
  Complex sum = 0;
  double error = 0;
  for (std::size_t i = 0; i < log_binomials_.size(); ++i) {
    const double k = first_ + static_cast<double>(i);
    const double modulus = std::exp(log_binomials_[i] + (steps_->times - k) * bulk.real + (k > 0 ? k * tail.real : 0) - bound);
    const double phase = (steps_->times - k) * bulk.phase + (k > 0 ? k * tail.phase : 0);
    sum += Complex(modulus * std::cos(phase), modulus * std::sin(phase));
    const double doubt = (steps_->times - k) * bulk.error + (k > 0 ? k * tail.error : 0) + 16 * unit_roundoff * size;
    error += modulus * std::expm1(doubt);
    if (i + 1 == log_binomials_.size()) error += omitted * modulus * std::exp(doubt);
  }
  const double modulus = std::abs(sum);
  const double relative = error * (1 + 1e-9) / modulus;
  if (!(relative < 0.5)) return unknown;
  return {bound + std::log(modulus), std::atan2(sum.imag(), sum.real()),
          -std::log1p(-relative) * (1 + 1e-9) + 8 * unit_roundoff * (std::abs(bound) + 8), true};
}

// [sampled-plane]
double StepFactor::with_rest(double positive, double negative) const {
  const double greatest = std::max({positive, negative, log_neither_.hi});
  if (!(std::abs(greatest) < infinity)) return infinity;
  return greatest + std::log(std::exp(positive - greatest) + std::exp(negative - greatest) + std::exp(log_neither_.hi - greatest));
}

double StepFactor::log_real(double s) const {
  const double p = real_exponent(s);
  double first = (cut_ ? cut_->bulk_noise : *whole_).log_transform(p);
  if (mirror_ != nullptr) first = with_rest(first, mirror_->log_transform(-s));
  return cut_ ? combine(first, cut_->tail_noise.log_transform(p)) : steps_->times * first;
}

void StepFactor::prepare(double low, double high, double margin, bool remainder) {
  planes_.clear();
  const auto widened = [&](Range first, Range second) {
    // A hyperbolic contour tilts the distribution further to the right, so that side gets the wider margin.
    return Range{std::min(first.low, second.low) - (1 + 2 * margin) * steps_->mu,
                 std::max(first.high, second.high) + (2 + 4 * margin) * steps_->mu + 0.3};
  };
  const auto add = [&](const RealNoise& noise, const std::optional<Window>& window) {
    Range range = widened(noise.range(real_exponent(low)), noise.range(real_exponent(high)));
    // Where the contour is flatter than a ray, a line must extend to where the Gaussian alone decays.
    if (window) range.high = std::max(range.high, std::log(steps_->rate) + 1.25 * steps_->mu * steps_->mu * real_exponent(high));
    if (remainder) range = NoisePlane::remainder_range(steps_->mu, steps_->rate, range);
    planes_.emplace_back(steps_->mu_interval(), steps_->rate_interval(), range, window, steps_->sampling);
  };
  if (mirror_ != nullptr)
    mirror_plane_.emplace(steps_->mu_interval(), steps_->rate_interval(), widened(mirror_->range(-low), mirror_->range(-high)),
                          std::nullopt, SampledBy::fixed);
  if (!cut_) return add(*whole_, std::nullopt);
  add(cut_->bulk_noise, cut_->bulk);
  add(cut_->tail_noise, cut_->tail);
}

double StepFactor::log_majorant(std::span<const Complex> hull) {
  std::array<Complex, 3> points;
  for (std::size_t k = 0; k < hull.size(); ++k) {
    points[k] = steps_->remove ? Complex(1 + hull[k].real(), hull[k].imag()) : Complex(-hull[k].real(), hull[k].imag());
  }
  const std::span<const Complex> exponents(points.data(), hull.size());
  double first = planes_[0].log_majorant(exponents);
  if (mirror_plane_) {
    std::array<Complex, 3> mirrored;
    for (std::size_t k = 0; k < hull.size(); ++k) mirrored[k] = Complex(-hull[k].real(), hull[k].imag());
    first = with_rest(first, mirror_plane_->log_majorant({mirrored.data(), hull.size()})) + 1e-9;
  }
  if (!cut_) return steps_->times * first;
  const bool none = first_ == 0 && !any_;
  return combine(first, none ? 0 : planes_[1].log_majorant(exponents)) + 1e-9;
}

LogValue StepFactor::evaluate(Complex s) {
  const Complex p = steps_->remove ? Complex(1 + s.real(), s.imag()) : -s;
  LogValue first = logarithm(planes_[0].evaluate(p));
  if (mirror_plane_) {
    const LogValue neither{log_neither_.lo, 0, log_neither_.width(), true};
    first = sum_of(first, sum_of(neither, logarithm(mirror_plane_->evaluate(-s))));
  }
  if (!cut_) return {steps_->times * first.real, steps_->times * first.phase, steps_->times * first.error, first.known};
  return combine(first, first_ == 0 && !any_ ? LogValue{} : logarithm(planes_[1].evaluate(p)));
}

Interval StepFactor::variance() const { return square(steps_->rate_interval()) * expm1(square(steps_->mu_interval())); }

namespace {

/// log(1 + x) - x, and a bound of its rounding; |x| <= 1/2.
Plain log_remainder(Complex x) {
  const double size = std::abs(x);
  if (size > 0.1) {
    const Complex log(std::log1p(2 * x.real() + std::norm(x)) / 2, std::atan2(x.imag(), 1 + x.real()));
    return {log - x, 40 * unit_roundoff * size};
  }
  Complex power = x;
  Complex sum = 0;
  for (double k = 2; k < 20; ++k) {  // 0.1^20 is below the rounding of the first term
    power *= -x;
    sum += power / k;
  }
  return {sum, 64 * unit_roundoff * size * size};
}

}  // namespace

// [bent-remainder] M = 1 + x, x = X + V s(s+1)/2. For small x the part V s(s+1)/2 cancels exactly; otherwise the logarithm is computed
// directly.
Plain StepFactor::evaluate_remainder(Complex s) {
  const Complex p = steps_->remove ? Complex(1 + s.real(), s.imag()) : -s;
  const Plain third = planes_[0].evaluate_remainder(p);
  const Interval all = variance();
  const double size = std::abs(s) * (std::abs(s) + 1);
  const Complex second = (all.lo + all.width() / 2) / 2 * (s * (s + 1.0));
  const double second_error = all.width() * size + 40 * unit_roundoff * std::abs(second);
  const Complex x = third.value + second;
  const double doubt = third.error + second_error + 2 * unit_roundoff * std::abs(x);
  const double times = steps_->times;
  if (std::abs(x) + doubt <= 0.5) {
    const Plain rest = log_remainder(x);
    return {times * (third.value + rest.value),
            times * (2 * third.error + 2 * (std::abs(x) + doubt) * (second_error + 2 * unit_roundoff * std::abs(x)) + rest.error +
                     4 * unit_roundoff * (std::abs(third.value) + std::abs(rest.value)) + second_error)};
  }
  const double modulus = std::abs(1.0 + x);
  if (!(doubt < 0.5 * modulus)) return {0, infinity};
  const Complex log(std::log(modulus), std::atan2(x.imag(), 1 + x.real()));
  return {times * (log - second),
          times * (1.5 * doubt / modulus + second_error + 16 * unit_roundoff * (std::abs(log) + std::abs(second) + 4))};
}

double StepFactor::real_remainder(double s) const {
  const double third = whole_->remainder(real_exponent(s), steps_->rate);
  const Interval all = variance();
  const double second = all.lo * s * (s + 1) / 2;
  const double x = third + second;
  return steps_->times * (std::abs(x) < 0.1 ? third + log_remainder(x).value.real() : std::log1p(x) - second);
}

std::uint64_t StepFactor::work() const {
  std::uint64_t total = mirror_plane_ ? mirror_plane_->work() : 0;
  for (const NoisePlane& plane : planes_) total += plane.work();
  return total;
}

}  // namespace tradeoff::detail::hyperbolic
