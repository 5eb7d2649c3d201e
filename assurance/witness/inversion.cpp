// SPDX-License-Identifier: Apache-2.0
#include "inversion.h"

#include <cmath>

#include "tradeoff/error.h"

namespace tradeoff::detail::witness {
namespace {

constexpr double wanted_relative = 1e-6;  // the default accuracy of the library; usually the result has 1e-7
constexpr double most_nodes = 300'000;    // tens of seconds

/// The two factors of one part at one s: its point masses and its density.
template <class Number>
struct Factor {
  Number atoms;
  Number density;
  unsigned long times;
};

/// prod (A + D)^T, without the terms that have no or one factor D if `split`.
template <class Number>
Number combine(const std::vector<Factor<Number>>& factors, bool split) {
  Number whole(Real(1));
  for (const auto& factor : factors) whole *= power(factor.atoms + factor.density, factor.times);
  if (!split) return whole;
  Number none(Real(1));
  for (const auto& factor : factors) none *= power(factor.atoms, factor.times);
  whole = whole - none;
  for (const auto& chosen : factors) {
    Number one = Number(Real(chosen.times)) * chosen.density * power(chosen.atoms, chosen.times - 1);
    for (const auto& other : factors)
      if (&other != &chosen) one *= power(other.atoms, other.times);
    whole = whole - one;
  }
  return whole;
}

/// The three positions of the line: right of 0, between -1 and 0, left of -1. The integral gives the call, the call minus E(0), the put.
enum class Strip { right, middle, left };

double place(Strip strip, double t) {
  switch (strip) {
    case Strip::right:
      return std::exp(t);
    case Strip::middle:
      return -1 / (1 + std::exp(t));
    case Strip::left:
      break;
  }
  return -1 - std::exp(t);
}

struct InversionLine {
  Strip strip;
  double c;
  double height;  ///< log of the integrand at u = 0
};

double log_height(const Transform& transform, const Real& e, double c) {
  const Real value = log(transform.at(Real(c))) - Real(c) * e - log(abs(Real(c) * (Real(c) + 1)));
  const double height = value.middle();
  return std::isfinite(height) && value.finite() ? height : std::numeric_limits<double>::infinity();
}

/// The minimum of the integrand on the real axis within a strip; any point would be valid.
InversionLine lowest(const Transform& transform, const Real& e, Strip strip) {
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double a = -7;
  double b = 6;
  double x = b - golden * (b - a);
  double y = a + golden * (b - a);
  double at_x = log_height(transform, e, place(strip, x));
  double at_y = log_height(transform, e, place(strip, y));
  while (b - a > 0.05) {
    if (at_x < at_y) {
      b = y;
      y = std::exchange(x, y - golden * (y - a));
      at_y = at_x;
      at_x = log_height(transform, e, place(strip, x));
    } else {
      a = x;
      x = std::exchange(y, x + golden * (b - x));
      at_x = at_y;
      at_y = log_height(transform, e, place(strip, y));
    }
  }
  return at_x < at_y ? InversionLine{strip, place(strip, x), at_x} : InversionLine{strip, place(strip, y), at_y};
}

InversionLine choose_line(const Transform& transform, const Real& e) {
  const WithPrecision coarse(64);
  InversionLine best = lowest(transform, e, Strip::right);
  for (const Strip strip : {Strip::middle, Strip::left}) {
    const InversionLine other = lowest(transform, e, strip);
    if (other.height < best.height) best = other;
  }
  if (!std::isfinite(best.height)) throw UnsupportedError("witness: no line of integration found");
  return best;
}

/// The integrals of the modulus along parallel lines, which bound the error of a trapezoid sum of spacing h.
class Aliasing {
 public:
  Aliasing(const Transform& transform, const Real& e, const InversionLine& line) {
    const WithPrecision coarse(96);
    for (const double sign : {1.0, -1.0}) {
      const double room = sign > 0 ? distance_above(line) : distance_below(line);
      for (const double part : {0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.96}) {
        // Towards a pole up to it; otherwise as far as a power of 50 of the distance scale.
        const double shift = std::isfinite(room) ? room * part : (1 + std::abs(line.c)) * std::pow(50, 2 * part - 1);
        const Real sigma = Real(line.c) + Real(sign * shift);
        const Real modulus = transform.at(sigma) * exp(-sigma * e) / (Real(2) * sqrt(abs(sigma * (sigma + 1))));
        if (modulus.finite()) (sign > 0 ? above_ : below_).push_back({Real(shift), modulus.top()});
      }
    }
  }

  /// The largest spacing whose error is at most `error`, approximately.
  [[nodiscard]] double spacing(const Real& error) const {
    const auto largest = [&](const std::vector<Shifted>& lines) {
      double best = 0;
      for (const auto& [shift, modulus] : lines)
        best = std::max(best, 6.28 * shift.middle() / log(Real(1) + Real(2) * modulus / error).upper());
      return best;
    };
    return std::min(largest(above_), largest(below_));
  }

  /// |h sum - integral|/(2 pi) <= N/(exp(2 pi a/h) - 1) for a line at distance a on each side, N the integral of the modulus there.
  [[nodiscard]] Real bound(const Real& h) const {
    const auto least = [&](const std::vector<Shifted>& lines) {
      Real best;
      bool first = true;
      for (const auto& [shift, modulus] : lines) {
        const Real here = (modulus / (exp(Real(2) * Real::pi() * shift / h) - 1)).top();
        if (first || here.upper() < best.upper() || (best - here).positive()) best = here;
        first = false;
      }
      if (first) throw UnsupportedError("witness: no parallel line bounds the sum");
      return best;
    };
    return least(above_) + least(below_);
  }

 private:
  struct Shifted {
    Real shift;
    Real modulus;
  };
  static double distance_above(const InversionLine& line) {
    if (line.strip == Strip::right) return std::numeric_limits<double>::infinity();
    return line.strip == Strip::middle ? -line.c : -1 - line.c;
  }
  static double distance_below(const InversionLine& line) {
    if (line.strip == Strip::left) return std::numeric_limits<double>::infinity();
    return line.strip == Strip::middle ? 1 + line.c : line.c;
  }

  std::vector<Shifted> above_;
  std::vector<Shifted> below_;
};

/// The integral along the line by the trapezoid rule, with all its errors.
class LineIntegral {
 public:
  LineIntegral(const Transform& transform, const Real& e, const InversionLine& line)
      : transform_(transform), e_(e), c_(line.c), aliasing_(transform, e, line), decay_(transform.decay(c_)) {}

  [[nodiscard]] Real height() const { return transform_.at(c_) * exp(-c_ * e_) / abs(c_ * (c_ + 1)); }

  [[nodiscard]] Real value(const Real& error) const {
    const double spacing = aliasing_.spacing(error);
    if (!(spacing > 0)) throw UnsupportedError("witness: the integrand is too narrow");
    const Real h(spacing);
    const double nodes = std::ceil(reach(error) / spacing) + 2;
    if (!(nodes < most_nodes)) throw UnsupportedError("witness: the integral needs more nodes than it affords");
    const auto count = static_cast<std::size_t>(nodes);
    const std::vector<Complex> values = transform_.along(c_, h, count);
    Real sum;
    Rotation turn(-h * e_);
    for (std::size_t k = 0; k < count; ++k, turn.advance()) {
      const Complex s(c_, h * Real(k));
      const Real term = (values[k] * turn.value() / (s * (s + Complex(Real(1))))).real();
      sum += k == 0 ? term : term * 2;
    }
    const Real integral = sum * exp(-c_ * e_) * h / (Real(2) * Real::pi());
    const Real all = (tail(h * Real(count - 1)) + aliasing_.bound(h)).top();
    return integral + Real::error(all);
  }

 private:
  /// What the terms beyond u contribute: |s (s + 1)| >= u^2, and the bound falls, so a sum is at most an integral.
  [[nodiscard]] Real tail(const Real& u) const { return decay_(u) * exp(-c_ * e_) / (Real::pi() * u); }

  [[nodiscard]] double reach(const Real& error) const {
    const WithPrecision coarse(64);
    double u = 0.01;
    while (!(error - tail(Real(u))).positive()) {
      u *= 1.15;
      if (u > 1e7) throw UnsupportedError("witness: the transform decays too slowly");
    }
    return u;
  }

  const Transform& transform_;
  Real e_;
  Real c_;
  Aliasing aliasing_;
  std::function<Real(const Real&)> decay_;
};

}  // namespace

Real Transform::at(const Real& c) const {
  std::vector<Factor<Real>> factors;
  for (const Part& part : laws_.parts) {
    Real atoms;
    for (const auto& [at, mass] : part.atoms.masses()) atoms += mass * exp(c * Atoms::loss(at, laws_.units));
    factors.push_back({atoms, part.density ? part.density->at(c) : Real(0), part.times});
  }
  return combine(factors, split_);
}

std::vector<Complex> Transform::along(const Real& c, const Real& step, std::size_t count) const {
  std::vector<std::vector<Factor<Complex>>> factors(count);
  for (const Part& part : laws_.parts) {
    const std::vector<Complex> density = part.density ? part.density->along(c, step, count) : std::vector<Complex>(count);
    std::vector<Complex> atoms(count);
    for (const auto& [at, mass] : part.atoms.masses()) {
      const Real loss = Atoms::loss(at, laws_.units);
      const Complex weight(mass * exp(c * loss));
      Rotation turn(step * loss);
      for (std::size_t k = 0; k < count; ++k, turn.advance()) atoms[k] += weight * turn.value();
    }
    for (std::size_t k = 0; k < count; ++k) factors[k].push_back({atoms[k], density[k], part.times});
  }
  std::vector<Complex> values;
  for (const auto& at_node : factors) values.push_back(combine(at_node, split_));
  return values;
}

std::function<Real(const Real&)> Transform::decay(const Real& c) const {
  struct Bounded {
    Factor<Real> factor;
    std::function<Real(const Real&)> decay;
  };
  std::vector<Bounded> parts;
  for (const Part& part : laws_.parts) {
    Real atoms;
    for (const auto& [at, mass] : part.atoms.masses()) atoms += mass * exp(c * Atoms::loss(at, laws_.units));
    if (part.density)
      parts.push_back({{atoms, part.density->at(c), part.times}, part.density->decay(c)});
    else
      parts.push_back({{atoms, Real(0), part.times}, nullptr});
  }
  return [parts, split = split_](const Real& u) {
    std::vector<Factor<Real>> factors;
    for (const Bounded& part : parts) {
      factors.push_back(part.factor);
      if (part.decay) factors.back().density = min(part.factor.density, part.decay(u));
    }
    return combine(factors, split).top();
  };
}

Real invert(const Transform& transform, Side side, const Real& e, const Real& beside) {
  const InversionLine line = choose_line(transform, e);
  const LineIntegral integral(transform, e, line);
  Real to_call;  // the correction that turns the integral into a call
  if (line.strip == Strip::middle) to_call = transform.at(Real(0));
  if (line.strip == Strip::left) to_call = transform.at(Real(0)) - exp(e) * transform.at(Real(-1));
  const Real to_side = side == Side::call ? to_call : to_call - transform.at(Real(0)) + exp(e) * transform.at(Real(-1));
  // Chernoff: (1 - exp(e - l))+ <= exp(c (l - e))/(c + 1) for c > 0, and the mirror image for c < -1. Beyond the largest loss only this is
  // used.
  const bool direct = line.strip == (side == Side::call ? Strip::right : Strip::left);
  const Real chernoff = (integral.height() * (side == Side::call ? Real(line.c) : Real(-1 - line.c))).top();
  if (direct && (max(beside, Real(1e-300)) * Real(wanted_relative / 100) - chernoff).positive()) return Real::hull(Real(0), chernoff);
  Real error = integral.height() * Real(3e-8);
  Real value;
  for (int attempt = 0; attempt < 4; ++attempt) {
    value = integral.value(error) + to_side;
    const Real whole = abs(value + beside);
    const Real goal = whole.bottom() * Real(wanted_relative);
    const Real doubt = value.top() - value.bottom();
    if ((goal - doubt).positive()) break;
    error = whole.bottom().positive() ? min(error / 10, goal / 10) : error * Real(1e-6);
  }
  return value;
}

}  // namespace tradeoff::detail::witness
