// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <span>
#include <vector>

#include "loss/work.h"
#include "numeric/arithmetic.h"
#include "numeric/double_double.h"
#include "numeric/gauss_legendre.h"
#include "numeric/normal.h"
#include "numeric/sum.h"
#include "operators/allocation/laws.h"
#include "transform/nodes.h"

// Let w = s x - l/2 with x standard normal, psi(v) = E e^(iv sinh w), psi+-(v) = E e^(+-w + iv sinh w). The density times e^(l/2) is
// e^(-s^2/2)/(2 pi) times the real part of the integral of F = psi^n + (n - 1) psi^(n-2) psi+ psi- from v = 0 to infinity. The path goes
// from 0 down to -i order, where only the part of psi that comes from large w has an imaginary part, and from there parallel to the real
// line. [allocation-replaced-law] For single values of delta the integrand is -psi^n/v^2. [allocation-excess]
namespace tradeoff::detail::allocation {

using std::numbers::pi;
using Complex = std::complex<double>;
using numeric::DoubleDouble;

inline constexpr double steps_summed_less_one = 500;        // whose power of psi multiplies its error so that psi less 1 is summed
inline constexpr double underflow = 1e-290;                 // more than all exponentials that are rounded to 0 or to few digits add up to
inline constexpr double wanted_share = 1e-11;               // of the density, for every bound
inline constexpr double left_reach = 14, right_reach = 20;  // deviations
inline constexpr double bound_widened = 1.001;              // covers the rounding of bounds
inline constexpr double last_angle = 0.75 * pi;             // of w, where e^(order sinh w) falls
inline constexpr double bent_fall = 60;                     // of logarithms: what is left out beyond a bend
inline constexpr double bent_length = 0.8;                  // of its panels
inline constexpr int most_bent_panels = 12;
inline constexpr double root_of_two_pi = 2.5066282746310002;
inline constexpr double point_price = 4e-3;  // microseconds of a point of the matrix, for all places of a group
inline constexpr std::array<double, 5> ellipses{1.5, 1.9, 2.4, 3.2, 5.0};  // sums of half axes, relative to the panel

inline double log_upper_tail(double x) { return log_tail_above(x); }

/// psi, psi+ and psi-, or bounds of them.
struct Three {
  double psi = 0, plus = 0, minus = 0;
  friend Three operator+(Three a, Three b) { return {a.psi + b.psi, a.plus + b.plus, a.minus + b.minus}; }
  friend Three operator*(double a, Three b) { return {a * b.psi, a * b.plus, a * b.minus}; }
};
inline Three smaller_of(Three a, Three b) { return {std::min(a.psi, b.psi), std::min(a.plus, b.plus), std::min(a.minus, b.minus)}; }
inline bool operator<=(const Three& a, const Three& b) { return a.psi <= b.psi && a.plus <= b.plus && a.minus <= b.minus; }
/// e to the power of a logarithm for psi and of what is to be added to it for the others.
inline Three exponentials(double log, double plus, double minus) { return {std::exp(log), std::exp(log + plus), std::exp(log + minus)}; }

/// log of a bound of |F|.
inline double log_integrand(const Three& at, double n) {
  return n * std::log(at.psi) + std::log1p((n - 1) * (at.plus / at.psi) * (at.minus / at.psi)) + 1e-6;
}

/// log of a bound of half the difference of two values of F, if psi and the others are at most `at` and differ by at most 2 `bent`.
inline double log_difference(const Three& at, const Three& bent, double n) {
  const double per_psi = bent.psi / at.psi, product = (at.plus / at.psi) * (at.minus / at.psi);
  const double share =
      n * per_psi + (n - 1) * ((n - 2) * per_psi * product + (bent.plus * at.minus + at.plus * bent.minus) / (at.psi * at.psi));
  return n * std::log(at.psi) + std::log(share) + 1e-6;
}

/// What is summed: sinh w, or (e^w - 1)/2. The constant is part of the factor of F.
struct PlaceSummand {
  bool falls = true;  // with -w: there is a second exponential

  [[nodiscard]] double of(double u) const { return falls ? std::sinh(u) : std::exp(u) / 2; }
  /// Its derivative.
  [[nodiscard]] double slope(double u) const { return falls ? std::cosh(u) : std::exp(u) / 2; }
  [[nodiscard]] double second() const { return falls ? 1 : 0; }
  [[nodiscard]] double constant() const { return falls ? 0 : 0.5; }
  [[nodiscard]] double inverse(double x) const { return falls ? std::asinh(x) : std::log(2 * x); }
};

/// A panel of the rule of Gauss and Legendre, parallel to one of the axes of w.
struct WPanel {
  Complex centre, half;
};

/// The least |x| for w between two places, or 0.
inline double nearest_x(double left, double right, double s, Interval l) {
  const double x_left = (left + l.lo / 2) / s, x_right = (right + l.hi / 2) / s;
  return x_left > 0 ? x_left : x_right < 0 ? x_right : 0;
}

/// Bounds the error of the rule on a panel for phi(x) e^(iv sinh w), with the factors 1 and e^(+-w): for -Im v between two orders, and Re v
/// either 0 or, if `turned`, at least 0; for all losses l of an interval.
Three rule_error(const PlaceSummand& summand, const WPanel& panel, double s, Interval l, Interval orders, bool turned);

/// Where the path of w leaves the real line.
struct Bend {
  double u = 0;
  std::size_t panels = 0;  // of the real line before the one that it cuts; all of them, if it lies beyond
};

/// What the path beyond a bend adds to |psi| at most, where -Im v <= order and Re v >= -behind: it rises to the angle `turn`, that of v or
/// more, and then runs parallel to the real line.
Three bent_bound(const PlaceSummand& summand, double s, double l, double u, double order, double behind, double turn);

/// Panels on the real line of w, for a group of places.
class RealLine {
 public:
  RealLine(const PlaceSummand& summand, double s, double first, double last) : summand_(summand), s_(s) {
    length_ = 2.2 * std::min(pi / 4, 1.2 * s);
    begin_ = -last / 2 - s * (left_reach + s);
    const double end = -first / 2 + s * (right_reach + s);
    count_ = static_cast<std::size_t>(std::ceil((end - begin_) / length_));
    for (std::size_t i = 0; i < count_; ++i)
      for_each_abscissa([&](double node, double weight) {
        u_.push_back(centre(i) + length_ / 2 * node);
        weight_.push_back(length_ / 2 * weight / (s * root_of_two_pi));
        sinh_.push_back(summand.of(u_.back()));
        exp_.push_back(std::exp(u_.back()));
      });
  }

  [[nodiscard]] double end() const { return boundary(count_); }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] double boundary(std::size_t i) const { return begin_ + length_ * static_cast<double>(i); }
  [[nodiscard]] double centre(std::size_t i) const { return begin_ + length_ * (static_cast<double>(i) + 0.5); }
  [[nodiscard]] bool reaches(const Bend& bend) const { return bend.panels < count_; }
  /// The panels before a bend, the last one cut there.
  template <class Visit>
  void for_each_panel(const Bend& bend, double angle, Visit&& visit) const {
    for (std::size_t i = 0; i < bend.panels; ++i) visit(WPanel{{centre(i), angle}, length_ / 2});
    if (reaches(bend)) visit(WPanel{{(boundary(bend.panels) + bend.u) / 2, angle}, (bend.u - boundary(bend.panels)) / 2});
  }
  /// Calls visit(term, sinh w, e^w) at the points of the rule: terms add up to E(e^exponent(sinh w, e^w); w <= bend).
  template <class Exponent, class Visit>
  void for_each_term(double l, const Bend& bend, Exponent&& exponent, Visit&& visit) const {
    const auto at = [&](double u, double weight, double sinh, double exp) {
      const double x = (u + l / 2) / s_;
      visit(weight * std::exp(exponent(sinh, exp) - x * x / 2), sinh, exp);
    };
    for (std::size_t k = 0; k < 32 * bend.panels; ++k) at(u_[k], weight_[k], sinh_[k], exp_[k]);
    if (!reaches(bend)) return;
    const double from = boundary(bend.panels), half = (bend.u - from) / 2;
    for_each_abscissa([&](double node, double weight) {
      const double u = from + half * (1 + node);
      at(u, half * weight / (s_ * root_of_two_pi), summand_.of(u), std::exp(u));
    });
  }

  /// What lies left of the panels, up to an order >= 0 or, if the summand is bounded below, of any sign, on a line at this angle.
  [[nodiscard]] Three before(double l, double angle, double order) const {
    const double growth = summand_.falls ? 0 : std::max(0.0, order) * summand_.of(begin_);
    const double x = -(begin_ + l / 2) / s_, raised = angle * angle / (2 * s_ * s_) + growth, half = s_ * s_ / 2;
    return {std::exp(raised + log_upper_tail(x)), std::exp(raised + half - l / 2 + log_upper_tail(x + s_)),
            std::exp(raised + half + l / 2 + log_upper_tail(x - s_))};
  }
  /// Bounds of E(e^(order sinh w); w <= bend), with the factors 1 and e^(+-w): the errors of the rule are those of all places of an
  /// interval.
  struct Bulk {
    double order = 0;
    Bend bend;
    Three rule;
  };
  [[nodiscard]] Bulk bulk(Interval places, double order, const Bend& bend) const {
    Bulk bulk{order, bend, {}};
    for_each_panel(bend, 0, [&](const WPanel& panel) {
      bulk.rule = bulk.rule + rule_error(summand_, panel, s_, places, Interval::exactly(order), false);
    });
    return bulk;
  }
  [[nodiscard]] Three at(double l, const Bulk& bulk) const {
    return (1 + 1e-13) *
           ((1 + 1e-12) * plain(l, bulk.order, bulk.bend) + before(l, 0, bulk.order) + gap(l, bulk.order, bulk.bend) + bulk.rule);
  }
  /// The same between the last panel and a bend beyond it: the integrand falls, and then may rise.
  [[nodiscard]] Three gap(double l, double order, const Bend& bend) const {
    const double end = boundary(count_), x = (end + l / 2) / s_, to = (bend.u + l / 2) / s_;
    if (reaches(bend)) return {};
    if (!(order * s_ * summand_.slope(end) + s_ < x)) return {infinity, infinity, infinity};
    const double here = order * summand_.of(end) - x * x / 2, there = order * summand_.of(bend.u) - to * to / 2;
    return 0.4 * (to - x) * (exponentials(here, end, -end) + exponentials(there, bend.u, -bend.u));
  }
  /// The sums alone.
  [[nodiscard]] Three plain(double l, double order, const Bend& bend) const {
    Three sum;
    for_each_term(
        l, bend, [&](double sinh, double) { return order * sinh; },
        [&](double term, double, double exp) { sum.psi += term, sum.plus += term * exp, sum.minus += term / exp; });
    return sum;
  }
  /// Calls visit(u, sums) for some u from left to right, with the sums up to about u: for choices only.
  template <class Visit>
  void scan(double l, double order, Visit&& visit) const {
    constexpr std::size_t stops = 8;  // points
    Three sum;
    for (std::size_t k = 0; k < u_.size(); ++k) {
      const double x = (u_[k] + l / 2) / s_, term = weight_[k] * std::exp(order * sinh_[k] - x * x / 2);
      sum.psi += term, sum.plus += term * exp_[k], sum.minus += term / exp_[k];
      if (k % stops == stops - 1 && !visit(Bend{u_[k], k / 32}, sum)) return;
    }
    visit(Bend{boundary(count_), count_}, sum);
  }
  /// The variance of sinh w under the tilted law, for choices only.
  [[nodiscard]] double spread(double l, double order, const Bend& bend) const {
    double sum = 0, mean = 0, square = 0;
    for_each_term(
        l, bend, [&](double sinh, double) { return order * sinh; },
        [&](double term, double sinh, double) { sum += term, mean += term * sinh, square += term * sinh * sinh; });
    return square / sum - (mean / sum) * (mean / sum);
  }
  /// Bounds |psi| at v = t - i order on the line at this angle, which is at most pi/2: e^(-p e^w - q e^-w) if p >= 0, otherwise up to the
  /// bend and from there as in `bent_bound`. For larger t it is smaller by the factor e^(-(difference) sin(angle)) or more.
  [[nodiscard]] Three falling(double l, double order, double t, double angle, const Bend& bend) const {
    return falling(l, order, t, angle, bend, needs_bend(order, t, angle));
  }
  [[nodiscard]] static bool needs_bend(double order, double t, double angle) { return t * std::sin(angle) < order * std::cos(angle); }
  /// One of the two bounds: for v between two orders the same one is needed for both.
  [[nodiscard]] Three falling(double l, double order, double t, double angle, const Bend& bend, bool bent) const {
    const double p = (t * std::sin(angle) - order * std::cos(angle)) / 2,
                 q = summand_.second() * (t * std::sin(angle) + order * std::cos(angle)) / 2;
    const Bend to = bent ? bend : Bend{boundary(count_), count_};
    Three sum;
    for_each_term(
        l, to, [&](double, double exp) { return -p * exp - q / exp; },
        [&](double term, double, double exp) { sum.psi += term, sum.plus += term * exp, sum.minus += term / exp; });
    constexpr double sum_of_axes = 2;
    for_each_panel(to, 0, [&](const WPanel& panel) {
      const double length = panel.half.real(), across = length * (sum_of_axes - 1 / sum_of_axes) / 2,
                   along = length * (sum_of_axes + 1 / sum_of_axes) / 2;
      const double left = panel.centre.real() - along, right = panel.centre.real() + along;
      const double nearest = nearest_x(left, right, s_, Interval::exactly(l)), cosine = std::cos(across);
      const double exponent = (across * across / (s_ * s_) - nearest * nearest) / 2 -
                              (p < 0 ? p * std::exp(right) : p * cosine * std::exp(left)) - q * cosine * std::exp(-right) -
                              64 * std::log(sum_of_axes);
      sum = sum + (4.3 * 0.4 * 2 * length / s_) * exponentials(exponent, right, -left);
    });
    sum = (1 + 1e-12) * sum;
    const double raised = std::exp(angle * angle / (2 * s_ * s_)), half = s_ * s_ / 2;
    if (!bent) {
      const double x = (boundary(count_) + l / 2) / s_;
      const Three after{std::exp(log_upper_tail(x)), std::exp(half - l / 2 + log_upper_tail(x - s_)),
                        std::exp(half + l / 2 + log_upper_tail(x + s_))};
      return raised * (sum + std::exp(-2 * std::sqrt(p * q)) * (after + before(l, 0, order)));
    }
    const double u = bend.u, x = (u + l / 2) / s_, upright = pi * pi / (8 * s_ * s_);
    // On the rise the exponent falls and then may rise: (order sinh(u) sin(angle) + t cosh(u) cos(angle)) / angle falls.
    const double most = std::max(angle * angle / (2 * s_ * s_) - p * std::exp(u) - q * std::exp(-u), upright - t * summand_.slope(u));
    const double rising = most + std::log(0.4 * pi / (2 * s_)) - x * x / 2;
    const double beyond = upright - t * summand_.slope(u), tail = std::exp(beyond + log_upper_tail(x));
    const Three after{tail, std::exp(beyond + half - l / 2 + log_upper_tail(x - s_)), tail * std::exp(-u)};
    const double small = std::exp(-summand_.second() * t * std::sin(angle));
    return raised * (sum + small * (gap(l, std::max(0.0, order), bend) + before(l, 0, order))) + exponentials(rising, u, -u) +
           bound_widened * after;
  }

 private:
  PlaceSummand summand_;
  double s_, length_ = 0, begin_ = 0;
  std::size_t count_ = 0;
  std::vector<double> u_, weight_, sinh_, exp_;
};

/// Adds one point w to sums over v, of real and imaginary parts, one for each weight.
void add_point(const double* real, const double* imaginary, std::span<const Complex> weights, std::size_t count, double* sums);
/// The same on the real line, where v is imaginary: everything is real.
void add_real_point(const double* growth, std::span<const double> weights, std::size_t count, double* sums);

/// Adds sums to others, and starts them again.
inline void move_sums(std::vector<double>& from, std::vector<double>& to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i], from[i] = 0;
}

/// Points of a part of the path of w, and e^(iv sinh w) at them for some v, which places near each other share.
class Sheet {
 public:
  /// `turned`: v has a real part. `real`: on the real line, where v = -i order and sums are real. `less_one`: e^(iv sinh w) - 1 in place of
  /// e^(iv sinh w), for psi. `paired`: psi+ and psi- are summed too.
  struct Kind {
    bool turned = false, real = false, less_one = false, paired = false;
  };
  Sheet(const PlaceSummand& summand, double s, Interval places, Interval orders, Kind kind)
      : summand_(summand),
        s_(s),
        places_(places),
        orders_(orders),
        turned_(kind.turned),
        real_(kind.real),
        less_one_(kind.less_one),
        paired_(kind.paired) {}

  /// Adds a panel, cut into parts until the rule is good enough.
  void add_fine(const WPanel& panel, const Three& allowed, int cuts = 4) {
    Three error = rule_error(summand_, panel, s_, places_, orders_, turned_);
    if (less_one_) error = error + rule_error(summand_, panel, s_, places_, Interval::exactly(0), turned_);
    if (cuts == 0 || error <= allowed) {
      rule_ = rule_ + error;
      return add(panel);
    }
    for (const double side : {-0.5, 0.5}) add_fine({panel.centre + side * panel.half, panel.half / 2.0}, allowed, cuts - 1);
  }
  /// The same, unless what the panel adds is negligible.
  void add_needed(const WPanel& panel, const Three& allowed) {
    Three most = panel_most(panel, orders_);
    if (less_one_) most = most + panel_most(panel, Interval::exactly(0));
    if (10 * most <= allowed)
      rule_ = rule_ + most;
    else
      add_fine(panel, allowed);
  }
  [[nodiscard]] std::size_t points() const { return w_.size(); }

  void oscillate(std::span<const Complex> v) {
    v_count_ = v.size();
    const std::size_t size = v_count_ * w_.size();
    real_part_.resize(size);
    imaginary_part_.resize(real_ ? 0 : size);
    for (std::size_t k = 0; k < w_.size(); ++k)
      for (std::size_t j = 0; j < v_count_; ++j) {
        const Complex z = Complex(-v[j].imag() * sinh_[k].real() - v[j].real() * sinh_[k].imag(),
                                  v[j].real() * sinh_[k].real() - v[j].imag() * sinh_[k].imag());
        oscillate_at(k * v_count_ + j, z);
      }
    Work::count(point_price * static_cast<double>(size));
  }

  /// Of the sums at any v: the rule and what is left out; roundings, in units of roundoff, of weights and, per modulus of v, of z.
  struct Errors {
    Three rule, weights, per_v;
    double weights_per_v = 0;  // for psi less 1: another bound of the first, |e^z - 1| <= |z| max(1, |e^z|)

    /// Of psi and the others, for v of at most this modulus and roundings of v.
    [[nodiscard]] Three at(double v, double of_v) const {
      Three sum = rule + unit_roundoff * (weights + of_v * per_v);
      if (weights_per_v > 0) sum.psi = rule.psi + unit_roundoff * (std::min(weights.psi, v * weights_per_v) + of_v * per_v.psi);
      return sum;
    }
  };
  /// psi, psi+ and psi- at all v: real and imaginary parts.
  Errors sum(double l, std::vector<double>& sums) const {
    const std::size_t rows = 6 * v_count_;
    sums.assign(rows, 0);
    std::vector<double> part(rows, 0), parts(rows, 0);
    std::array<numeric::CompensatedSum, 4> ones;  // psi+ and psi- are not less 1
    Errors errors;
    const double of_sums = 34 + static_cast<double>(w_.size()) / 256;
    for (std::size_t k = 0; k < w_.size(); ++k) {
      const Complex x((w_[k].real() + l / 2) / s_, w_[k].imag() / s_);
      const double size = std::exp((x.imag() - x.real()) * (x.imag() + x.real()) / 2), turn = -x.real() * x.imag();
      const Complex plain = turn == 0 ? weight_[k] * size : weight_[k] * Complex(size * std::cos(turn), size * std::sin(turn));
      const Complex plus(plain.real() * exp_[k].real() - plain.imag() * exp_[k].imag(),
                         plain.real() * exp_[k].imag() + plain.imag() * exp_[k].real());
      const double up = up_[k], inverse = 1 / (up * up);
      const Complex turned(exp_[k].real() * inverse, -exp_[k].imag() * inverse);
      const Complex minus(plain.real() * turned.real() - plain.imag() * turned.imag(),
                          plain.real() * turned.imag() + plain.imag() * turned.real());
      const std::array<Complex, 3> weights{plain, plus, minus};
      const std::array<double, 3> real_weights{plain.real(), plus.real(), minus.real()};
      const std::size_t count = paired_ ? 3 : 1, at = k * v_count_;
      if (real_)
        add_real_point(&real_part_[at], std::span(real_weights).first(count), v_count_, part.data());
      else
        add_point(&real_part_[at], &imaginary_part_[at], std::span(weights).first(count), v_count_, part.data());
      if (less_one_ && paired_)
        for (std::size_t i = 0; i < 2; ++i) ones[2 * i].add(weights[i + 1].real()), ones[2 * i + 1].add(weights[i + 1].imag());
      // The point itself has a few roundings too.
      const double far = std::abs(x.real()) + std::abs(x.imag()), place = place_[k];
      const double modulus = std::abs(weight_[k]) * size * (less_one_ ? std::max(1.0, most_[k]) : most_[k]);
      const Three sizes{modulus, modulus * up, modulus / up};  // of e^z, and half of what e^z - 1 is at most
      const double roundings = 40 + of_sums + 4 * far * far + (4 + 2 * far) * place / s_;
      errors.weights = errors.weights + (less_one_ ? 2 * roundings : roundings) * sizes;
      if (less_one_) errors.weights_per_v += roundings * (std::abs(sinh_[k].real()) + std::abs(sinh_[k].imag())) * modulus;
      errors.per_v = errors.per_v + ((10 + 2 * place) * (std::abs(sinh_[k].real()) + std::abs(sinh_[k].imag()) + 1)) * sizes;
      if (k % 16 == 15) move_sums(part, parts);
      if (k % 256 == 255) move_sums(parts, sums);
    }
    move_sums(part, parts);
    move_sums(parts, sums);
    for (std::size_t i = 0; i < ones.size() && less_one_ && paired_; ++i) {
      const double one = middle_of(ones[i].enclosure());
      for (std::size_t j = 0; j < v_count_; ++j) sums[(i + 2) * v_count_ + j] += one;
    }
    errors.rule = rule_;
    return errors;
  }

 private:
  void add(const WPanel& panel);
  /// e^z at a point, or e^z - 1 without its cancellation.
  void oscillate_at(std::size_t at, Complex z) {
    if (!less_one_) {
      const double size = std::exp(z.real());
      real_part_[at] = real_ ? size : size * std::cos(z.imag());
      if (!real_) imaginary_part_[at] = size * std::sin(z.imag());
      return;
    }
    const double more = std::expm1(z.real()), sine = real_ ? 0 : std::sin(z.imag() / 2), versine = 2 * sine * sine;
    real_part_[at] = more * (1 - versine) - versine;
    if (!real_) imaginary_part_[at] = (more + 1) * 2 * sine * std::cos(z.imag() / 2);
  }
  /// A bound of the integral of the modulus over a panel, for Re v >= 0.
  [[nodiscard]] Three panel_most(const WPanel& panel, Interval orders) const {
    const double left = panel.centre.real() - panel.half.real(), right = panel.centre.real() + panel.half.real();
    const double low = panel.centre.imag() - panel.half.imag(), high = panel.centre.imag() + panel.half.imag();
    const double nearest = nearest_x(left, right, s_, places_), turn = high / s_;
    const double most = summand_.of(right), growth = most * std::cos(most > 0 ? low : high);
    const double raised = orders.hi < 0 ? 0 : growth * (growth > 0 ? orders.hi : orders.lo);
    const double exponent = (turn * turn - nearest * nearest) / 2 + raised;
    return (2 * 0.4 * std::abs(panel.half) / s_) * exponentials(exponent, right, -left);
  }

  PlaceSummand summand_;
  double s_;
  Interval places_, orders_;
  bool turned_, real_, less_one_, paired_;
  std::size_t v_count_ = 0;
  Three rule_;
  std::vector<Complex> w_, weight_, sinh_, exp_;
  std::vector<double> up_;     // |e^w|
  std::vector<double> place_;  // how large the numbers are of which w is a sum
  std::vector<double> most_;   // |e^(iv sinh w)|
  std::vector<double> real_part_, imaginary_part_;
};

}  // namespace tradeoff::detail::allocation
