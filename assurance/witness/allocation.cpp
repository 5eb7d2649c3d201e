// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>

#include "law.h"
#include "tradeoff/error.h"

// One epoch of random allocation: one of T outputs, drawn uniformly, is N(s, 1), the others are N(0, 1). With S the sum of T independent
// Y = exp(s x - s^2/2), x normal, the likelihood ratio is S/T.
//
// E (k - S)+ is the integral of exp(zk) F(z)^T / z^2 / (2 pi i) over Re z = c > 0, F(z) = E exp(-zY), here by the trapezoidal sum of step
// h. By Poisson summation the sum is that of exp(-cy) E (k + y - S)+ over y = 2 pi m/h: m = 0 is the wanted term; those with m < 0 are 0,
// since 2 pi/h >= k; those with m > 0 are non-negative and at most exp(-cy) (k + y).
//
// With the path of x moved down by a/s, F(z) is the integral of phi(x - ia/s) exp(-z exp(sx - s^2/2 - ia)), at most exp(a^2/(2 s^2))
// F(Re(z exp(-ia))): this bounds F(c + iv) for all v >= t by its value at t. Within b of the path the integrand is at most phi(x)
// exp((a/s + b)^2/2), as long as |arg z - a| + bs <= pi/2, so that the trapezoidal sum over x of step g errs by at most
// 2 exp((a/s + b)^2/2)/(exp(2 pi b/g) - 1).
namespace tradeoff::detail::witness {
namespace {

constexpr double quarter_turn = std::numbers::pi / 2;

[[noreturn]] void give_up(const char* why) { throw UnsupportedError(std::string("witness: an allocation ") + why + " is not supported"); }

Real argument(const Complex& z) {
  Real result;
  acb_arg(result.get(), z.get(), precision);
  return result;
}

/// A number of 12 bits near a positive one, so that its multiples are exact.
Real simple(double value) {
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return {std::ldexp(std::round(std::ldexp(mantissa, 12)), exponent - 12)};
}

class AllocationDensity final : public Density {
 public:
  AllocationDensity(const Real& mu, unsigned long steps)
      : s_(mu), rough_s_(mu.middle()), steps_(steps), count_(static_cast<double>(steps)) {}

  [[nodiscard]] std::vector<Complex> along(const Real&, const Real&, std::size_t) const override { give_up("beside other mechanisms"); }
  [[nodiscard]] std::function<Real(const Real&)> decay(const Real&) const override { give_up("beside other mechanisms"); }

  /// A call is the put plus T - k, so a small one needs more bits.
  [[nodiscard]] Real read(Side side, const Real& e) const override {
    constexpr double enough = 1e-9;
    Real value;
    for (const slong bits : {72, 128, 256, 512}) {
      const WithPrecision own(bits);
      const Real k = Real(steps_) * exp(e);
      value = max(put(k) + (side == Side::put ? Real(0) : Real(steps_) - k), Real(0)) / Real(steps_);
      if ((value.top() * Real(enough) - (value.top() - value.bottom())).positive()) break;
    }
    return value;
  }

 private:
  /// F(z) for Re z > 0 to about 2^-bits.
  [[nodiscard]] Complex transform(const Complex& z, double bits) const {
    const Real turn = argument(z);
    const double rough_b = std::min(6.0, 0.98 * quarter_turn / rough_s_);
    const Real b(rough_b), a(std::max(0.0, turn.middle() + rough_b * rough_s_ - 0.985 * quarter_turn));
    if (!(Real::pi() / 2 - abs(turn - a) - b * s_).positive()) give_up("of such noise");
    const Real down = a / s_, grown = (down + b) * (down + b) / 2;
    const double nats = bits * std::numbers::ln2 + grown.upper();
    const Real g = simple(2 * std::numbers::pi * rough_b / (nats + 1));
    const long points = std::lround(std::ceil((std::sqrt(2 * nats) + 2) / g.lower()));
    const Complex factor = z * exp(Complex(-(s_ * s_) / 2, -a));
    Complex total;
    for (long j = -points; j <= points; ++j) {
      const Real x = g * Real(j);
      const Complex place(x, -down);
      total += exp(Complex(Real(0)) - factor * Complex(exp(s_ * x)) - place * place / Complex(Real(2)));
    }
    const Real beyond = Real(2) * exp(down * down / 2) * normal_above(g * Real(points));
    const Real error = Real(2) * exp(grown) / (exp(Real(2) * Real::pi() * b / g) - 1) + beyond;
    total = total * Complex(g / sqrt(Real(2) * Real::pi()));
    total.add_error(error.top());
    return total;
  }

  /// Bounds log |F(c + iv)| for every v >= t: the best of a few turns of the path.
  [[nodiscard]] Real log_far(const Real& c, const Real& t) const {
    constexpr int turns = 16;
    Real best;
    for (int share = 0; share < turns; ++share) {
      const Real a = Real::pi() / 2 * Real(share) / Real(turns), real = c * cos(a) + t * cos(Real::pi() / 2 - a);
      const Real bound =
          a * a / (Real(2) * s_ * s_) + log(transform(Complex(real), 60 + static_cast<double>(precision) / count_).real().top());
      best = min(best, bound);  // F is at most 1
    }
    return best;
  }

  [[nodiscard]] double log_size(double c, double bits) const { return count_ * log(transform(Complex(Real(c)), bits).real()).middle(); }

  /// c k right of the saddle point of exp(ck) F(c)^T / c^2, where digits are lost but fewer nodes are needed; only a choice.
  [[nodiscard]] double best_tilt(double k) const {
    std::vector<std::pair<double, double>> heights;
    double least = std::numeric_limits<double>::infinity();
    for (int j = -4; j < 24; ++j) {
      const double tilt = std::pow(1.5, j), height = tilt + log_size(tilt / k, 90) - 2 * std::log(tilt);
      heights.emplace_back(tilt, height);
      least = std::min(least, height);
    }
    double best = heights.front().first;
    for (const auto& [tilt, height] : heights)
      if (height <= least + 0.2 * static_cast<double>(precision)) best = std::max(best, tilt);
    return best;
  }

  /// E (k - S)+.
  [[nodiscard]] Real put(const Real& k) const {
    constexpr double most_nodes = 8000;
    const auto bits = static_cast<double>(precision);
    const double nats = bits * std::numbers::ln2, rough_k = k.middle();
    const Real c = simple(best_tilt(rough_k) / rough_k);
    const Real h = simple(std::min(2 * std::numbers::pi * c.middle() / nats, 6.2 / rough_k));
    const double size = log_size(c.middle(), 60);
    double end = h.middle();
    while (count_ * log_far(c, Real(end)).upper() > size - nats) {
      end *= 1.4;
      if (!(end / h.middle() < most_nodes)) give_up("whose transform falls off so slowly");
    }
    const long count = std::lround(std::ceil(end / h.middle()));
    const double more = bits + 10 + std::log2(count_) + std::max(0.0, -1.45 * size / count_);
    Real total;
    for (long j = 0; j <= count; ++j) {
      const Complex z(c, h * Real(j));
      const Real wave = (exp(Complex(Real(0), h * Real(j) * k)) * power(transform(z, more), steps_) / (z * z)).real();
      total += j == 0 ? wave / 2 : wave;
    }
    // The sum of h/v^2 beyond v is below 1/v.
    const Real cut = exp(Real(steps_) * log_far(c, h * Real(count)) + c * k) / (Real::pi() * h * Real(count));
    const Real period = Real(2) * Real::pi() / h, ratio = exp(-c * period);
    if (!(period - k).positive()) give_up("whose step is too long");
    const Real alias = k * ratio / (Real(1) - ratio) + period * ratio / ((Real(1) - ratio) * (Real(1) - ratio));
    return max(total * h / Real::pi() * exp(c * k) + Real::error(cut.top()) - Real::hull(Real(0), alias.top()), Real(0));
  }

  Real s_;
  double rough_s_;
  unsigned long steps_;
  double count_;
};

}  // namespace

DensityPointer allocation_density(const Real& mu, unsigned long steps) { return std::make_shared<AllocationDensity>(mu, steps); }

}  // namespace tradeoff::detail::witness
