// SPDX-License-Identifier: Apache-2.0
#include "engine/hyperbolic/path.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "numeric/arithmetic.h"
#include "numeric/minimize.h"

// [bent-contour]
namespace tradeoff::detail::hyperbolic {
namespace {

using std::numbers::pi;
constexpr int most_nodes = 4000;
constexpr double hopeless = 1e22;    // a boundary integral this far above the saddle-point value leaves no correct digits
constexpr double negligible = 1e-7;  // a boundary piece that does not affect the choice of the step

/// s(u) = centre + across cosh u + i up sinh u; `across` is negative if it opens to the left.
struct Hyperbola {
  double centre;
  double across;
  double up;

  [[nodiscard]] Complex point(double u) const {
    const double e = std::expm1(u);
    return {centre + across * (1 + e + 1 / (1 + e)) / 2, up * (e + e / (1 + e)) / 2};
  }
  [[nodiscard]] Complex derivative(double u) const {
    const double e = std::expm1(u);
    return {across * (e + e / (1 + e)) / 2, up * (1 + e + 1 / (1 + e)) / 2};
  }
  /// The image of the line Im u = y.
  [[nodiscard]] Hyperbola shifted(double y) const {
    return {centre, across * std::cos(y) - up * std::sin(y), across * std::sin(y) + up * std::cos(y)};
  }
  [[nodiscard]] double radius() const { return std::hypot(across, up); }
};

/// The integral of |F ds| along one boundary of the strip, from below to above, extended as far as needed. An arc lies in the triangle of
/// its ends and the intersection of its tangents. [log-convex-majorant]
class Boundary {
 public:
  Boundary(Integrand& integrand, Hyperbola curve, double first_step, double log_scale)
      : integrand_(integrand), curve_(curve), step_(first_step), log_scale_(log_scale) {}

  void extend_until_negligible() {
    while (u_ < 60 && total_ <= hopeless && !(last_ < negligible * total_)) advance();
  }
  void extend_to(double u) {
    while (u_ < u && total_ <= hopeless) advance();
  }
  [[nodiscard]] double total() const { return total_; }

 private:
  void advance() {
    const double next = u_ + step_;
    const Complex middle = curve_.point(u_ + step_ / 2);
    const double shrink = 1 / std::cosh(step_ / 2);
    const std::array<Complex, 3> triangle{curve_.point(u_), curve_.point(next),
                                          Complex(curve_.centre + (middle.real() - curve_.centre) * shrink, middle.imag() * shrink)};
    last_ = std::exp(integrand_.log_bound(triangle) - log_scale_) * std::abs(curve_.derivative(next)) * (1 + 1e-9);
    total_ += 2 * last_ * step_ * (1 + 1e-9);
    if (!(total_ <= hopeless)) total_ = infinity;  // NaN included
    u_ = next;
    if (u_ > 0.6) step_ = std::min(0.15, 1.15 * step_);
  }

  Integrand& integrand_;
  Hyperbola curve_;
  double step_;
  double log_scale_;
  double u_ = 0;
  double total_ = 0;
  double last_ = infinity;
};

/// One choice of strip: the hyperbola crosses the real axis at the saddle point, and its strip extends by `reach` to either side.
class Strip {
 public:
  Strip(Integrand& integrand, Opening opening, double place, double reach, double angle, double log_scale)
      : integrand_(integrand),
        log_scale_(log_scale),
        angle_(angle),
        curve_(bend(opening, place, reach, angle)),
        boundaries_{Boundary(integrand, curve_.shifted(-angle), first_step(angle), log_scale),
                    Boundary(integrand, curve_.shifted(angle), first_step(angle), log_scale)} {
    for (Boundary& boundary : boundaries_) boundary.extend_until_negligible();
  }
  [[nodiscard]] double boundary_total() const { return boundaries_[0].total() + boundaries_[1].total(); }

  /// The step at which the error from the boundaries is `wanted`.
  [[nodiscard]] double step_for(double wanted) const { return few_bits(2 * pi * angle_ / std::log1p(boundary_total() / wanted)); }
  /// The trapezoidal sum with this step, truncated at the error `wanted`, and its error bound.
  [[nodiscard]] Estimate sum(double step, double wanted, std::uint64_t most_work) {
    Estimate result{.log_scale = log_scale_, .value = 0, .error = 0, .slope = 0, .nodes = 0};
    double total_modulus = 0;
    double tail = infinity;
    int k = 0;
    for (;; ++k) {
      const Complex s = curve_.point(k * step);
      const Complex derivative = curve_.derivative(k * step);
      const Sample sample = integrand_.sample(s, log_scale_);
      const double weight = k == 0 ? 1 : 2;
      const double speed = std::abs(derivative) * weight;
      const Complex value = sample.value * derivative;
      result.value += weight * value.imag();
      result.slope -= weight * (value * s).imag();
      result.error += sample.error * speed;
      total_modulus += sample.modulus * speed;
      const bool small = sample.modulus * speed * (1 + 1 / step) < 0.1 * wanted;
      const bool exhausted = k >= most_nodes || integrand_.work() > most_work;
      if (exhausted || (k > 3 && k % 3 == 0 && small)) {
        tail = ray_tail((k + 0.5) * step);
        if (exhausted || tail < 0.3 * wanted) break;
      }
    }
    result.nodes = k + 1;
    result.error += unit_roundoff * (k + 40) * total_modulus;
    result.error *= step / (2 * pi);
    result.rounding = result.error;
    result.error += tail + discretisation(step, (k + 0.5) * step);
    result.error *= 1 + 1e-9;
    result.value *= step / (2 * pi);
    result.slope *= step / (2 * pi);
    return result;
  }

 private:
  static Hyperbola bend(Opening opening, double place, double reach, double angle) {
    const double up = reach / std::tan(angle);
    return opening == Opening::right ? Hyperbola{place - reach, reach, up} : Hyperbola{place + reach, -reach, up};
  }
  // The bound on an arc exceeds the maximum by at most the variation of log F over it: a fifth of the strip's reach keeps that below e.
  static double first_step(double angle) { return std::min(0.15, 0.2 * std::sin(angle)); }
  /// Rounds down to 20 significant bits, so that multiples are exact.
  static double few_bits(double x) {
    int exponent = 0;
    const double mantissa = std::frexp(x, &exponent);
    return std::ldexp(std::floor(mantissa * 0x1p20) * 0x1p-20, exponent);
  }

  /// Beyond the last node the contour goes straight up, where |s (s+1) F| decreases: both ends contribute at most its value over pi Im s.
  [[nodiscard]] double ray_tail(double u) {
    const Complex s = curve_.point(u);
    return std::exp(integrand_.log_ray_bound(s) - log_scale_) / (pi * s.imag()) * (1 + 1e-9);
  }

  /// The rectangle bound: the two long sides of the strip, cut at half a step beyond the last node, and its two short sides.
  [[nodiscard]] double discretisation(double step, double end) {
    for (Boundary& boundary : boundaries_) boundary.extend_to(end);
    const double rate = 2 * pi / step * (1 - 1e-12);
    const double sides = boundary_total() / std::expm1(rate * angle_);
    return (sides + short_side(rate, end, 1) + short_side(rate, end, -1)) / (2 * pi) * (1 + 1e-9);
  }

  /// Twice the integral of |F s'| / (1 + exp(rate y)) over u = end +- i y, y up to the strip's half width: an arc of an ellipse.
  [[nodiscard]] double short_side(double rate, double end, double sign) {
    const double speed = curve_.radius() * std::cosh(end) * (1 + 1e-9);
    const double piece = std::min(angle_, 2 / rate);
    double total = 0;
    for (double y = 0; y < angle_; y += piece) {
      const double next = std::min(angle_ * (1 + 1e-12), y + piece);
      const double half = (next - y) / 2;
      const Complex middle = curve_.shifted(sign * (y + half)).point(end);
      const std::array<Complex, 3> triangle{
          curve_.shifted(sign * y).point(end), curve_.shifted(sign * next).point(end),
          Complex(curve_.centre + (middle.real() - curve_.centre) / std::cos(half), middle.imag() / std::cos(half))};
      const double weight = (std::exp(-rate * y) - std::exp(-rate * next)) / rate;
      total += 2 * std::exp(integrand_.log_bound(triangle) - log_scale_) * speed * weight * (1 + 1e-9);
    }
    return total;
  }

  Integrand& integrand_;
  double log_scale_;
  double angle_;
  Hyperbola curve_;
  std::array<Boundary, 2> boundaries_;
};

/// The distance from the saddle point within which F stays within e^3 of its minimum on the real axis; it excludes the pole at 0.
double find_reach(const Integrand& integrand, Saddle saddle) {
  const auto leaves = [&](double x) {
    return !(std::max(integrand.log_real(saddle.place + x), integrand.log_real(saddle.place - x)) - saddle.log_value <= 3);
  };
  double low = 0;
  double high = 0.6 * saddle.place;
  if (!leaves(high)) return high;
  for (int k = 0; k < 9; ++k) {
    const double x = k < 5 ? low + (high - low) / 4 : (low + high) / 2;
    (leaves(x) ? high : low) = x;
  }
  return std::max(low, 1e-4 * saddle.place);
}

}  // namespace

Saddle find_saddle(const Integrand& integrand, double most, double precision, double least) {
  // In -log s, because a tie goes to the right: where both values are infinite s is too large.
  const Interval around =
      numeric::golden_section([&](double x) { return integrand.log_real(std::exp(-x)); }, -std::log(most), -std::log(least), precision)
          .around;
  const double place = std::exp(-(around.lo + around.hi) / 2);
  return {place, integrand.log_real(place)};
}

Saddle find_crossing(const Integrand& integrand, Saddle saddle) {
  Saddle best = saddle;
  double least = infinity;
  for (const double share : {1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3}) {
    const Saddle here{share * saddle.place, integrand.log_real(share * saddle.place)};
    const double cost = here.log_value - std::log(find_reach(integrand, here));
    if (cost < least) {
      least = cost;
      best = here;
    }
  }
  return best;
}

Estimate integrate(Integrand& integrand, Opening opening, Saddle saddle, double tolerance, double log_floor, std::uint64_t most_work) {
  const double reach = find_reach(integrand, saddle);
  // The integral is about F at the saddle point times the width of the saddle point: that product is the scale of everything below.
  const double log_scale = saddle.log_value + std::log(reach);
  const double floor = std::exp(std::min(600.0, log_floor - log_scale));
  Estimate best{.log_scale = log_scale, .value = 0, .error = infinity, .slope = 0, .nodes = 0};
  for (const double margin : {1.0, 4.0}) {
    integrand.prepare(saddle.place - reach, saddle.place + reach, margin);
    for (const double angle : {0.3, 0.2, 0.12, 0.07, 0.04, 0.02}) {
      Strip strip(integrand, opening, saddle.place, reach, angle, log_scale);
      if (integrand.work() > most_work) return best;
      if (!(strip.boundary_total() <= hopeless)) continue;
      double wanted = 0.1 * tolerance;
      for (int attempt = 0; attempt < 2; ++attempt) {
        const double step = strip.step_for(wanted);
        Estimate estimate = strip.sum(step, wanted, most_work);
        estimate.contour = {saddle.place, reach, angle, step};
        if (estimate.error < best.error) best = estimate;
        const double known = std::max(estimate.value, floor);
        if (estimate.error <= std::max(20 * tolerance * known, 1.5 * estimate.rounding)) return best;
        if (!(strip.boundary_total() <= hopeless)) break;  // it increased beyond the last node
        wanted *= std::clamp(0.5 * known, 1e-12, 0.3);
      }
      if (integrand.work() > most_work) return best;
    }
    if (best.error < infinity) break;
  }
  return best;
}

Estimate integrate_on(Integrand& integrand, Opening opening, const Contour& contour, double tolerance, std::uint64_t most_work) {
  const double log_scale = integrand.log_real(contour.place) + std::log(contour.reach);
  Strip strip(integrand, opening, contour.place, contour.reach, contour.angle, log_scale);
  if (!(strip.boundary_total() <= hopeless)) return {.log_scale = log_scale, .error = infinity};
  Estimate estimate = strip.sum(contour.step, 0.1 * tolerance, most_work);
  estimate.contour = contour;
  return estimate;
}

}  // namespace tradeoff::detail::hyperbolic
