// SPDX-License-Identifier: Apache-2.0
#include "operators/allocation/replaced_law.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstring>
#include <numbers>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "loss/work.h"
#include "numeric/arithmetic.h"
#include "numeric/double_double.h"
#include "numeric/gauss_legendre.h"
#include "numeric/lanes.h"
#include "numeric/normal.h"
#include "numeric/sum.h"
#include "operators/allocation/laws.h"
#include "transform/nodes.h"

// Let w = s x - l/2 with x standard normal, psi(v) = E e^(iv sinh w), psi+-(v) = E e^(+-w + iv sinh w). The density times e^(l/2) is
// e^(-s^2/2)/(2 pi) times the real part of the integral of F = psi^n + (n - 1) psi^(n-2) psi+ psi- from v = 0 to infinity. The path goes
// from 0 down to -i order, where only the part of psi that comes from large w has an imaginary part, and from there parallel to the real
// line. [allocation-replaced-law] For single values of delta the integrand is -psi^n/v^2. [allocation-excess]
namespace tradeoff::detail::allocation {
namespace {

using std::numbers::pi;
using Complex = std::complex<double>;
using numeric::DoubleDouble;

constexpr std::size_t group_places = 32;  // that share the oscillations
constexpr std::size_t most_replaced_places = 40'000;
constexpr double replaced_step = 0.095;  // of the smoothing: two of them are as long as nodes of a transform may be
/// Points of all places: several seconds. With less noise a law is seldom reached by more.
double most_replaced_points(double s) { return s <= 4 ? 1.5e9 : 6e8; }
constexpr double steps_summed_less_one = 500;        // whose power of psi multiplies its error so that psi less 1 is summed
constexpr double underflow = 1e-290;                 // more than all exponentials that are rounded to 0 or to few digits add up to
constexpr double largest_share = 0.125;              // of an error in its value
constexpr double largest_range_share = 1e-8;         // the same where values are interpolated
constexpr double wanted_share = 1e-11;               // of the density, for every bound
constexpr double left_reach = 14, right_reach = 20;  // deviations
constexpr double bound_widened = 1.001;              // covers the rounding of bounds
constexpr double last_angle = 0.75 * pi;             // of w, where e^(order sinh w) falls
constexpr double bent_fall = 60;                     // of logarithms: what is left out beyond a bend
constexpr double bent_length = 0.8;                  // of its panels
constexpr int most_bent_panels = 12;
constexpr double root_of_two_pi = 2.5066282746310002;
constexpr double point_price = 4e-3;                                // microseconds of a point of the matrix, for all places of a group
constexpr std::array<double, 5> ellipses{1.5, 1.9, 2.4, 3.2, 5.0};  // sums of half axes, relative to the panel

double log_upper_tail(double x) { return log_tail_above(x); }

/// psi, psi+ and psi-, or bounds of them.
struct Three {
  double psi = 0, plus = 0, minus = 0;
  friend Three operator+(Three a, Three b) { return {a.psi + b.psi, a.plus + b.plus, a.minus + b.minus}; }
  friend Three operator*(double a, Three b) { return {a * b.psi, a * b.plus, a * b.minus}; }
};
Three smaller_of(Three a, Three b) { return {std::min(a.psi, b.psi), std::min(a.plus, b.plus), std::min(a.minus, b.minus)}; }
bool operator<=(const Three& a, const Three& b) { return a.psi <= b.psi && a.plus <= b.plus && a.minus <= b.minus; }
/// e to the power of a logarithm for psi and of what is to be added to it for the others.
Three exponentials(double log, double plus, double minus) { return {std::exp(log), std::exp(log + plus), std::exp(log + minus)}; }

/// log of a bound of |F|.
double log_integrand(const Three& at, double n) {
  return n * std::log(at.psi) + std::log1p((n - 1) * (at.plus / at.psi) * (at.minus / at.psi)) + 1e-6;
}

/// log of a bound of half the difference of two values of F, if psi and the others are at most `at` and differ by at most 2 `bent`.
double log_difference(const Three& at, const Three& bent, double n) {
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
double nearest_x(double left, double right, double s, Interval l) {
  const double x_left = (left + l.lo / 2) / s, x_right = (right + l.hi / 2) / s;
  return x_left > 0 ? x_left : x_right < 0 ? x_right : 0;
}

/// Bounds the error of the rule on a panel for phi(x) e^(iv sinh w), with the factors 1 and e^(+-w): for -Im v between two orders, and Re v
/// either 0 or, if `turned`, at least 0; for all losses l of an interval.
Three rule_error(const PlaceSummand& summand, const WPanel& panel, double s, Interval l, Interval orders, bool turned) {
  const double length = std::abs(panel.half);
  Three least{infinity, infinity, infinity};
  for (const double sum : ellipses) {
    const double along = length * (sum + 1 / sum) / 2, across = length * (sum - 1 / sum) / 2;
    const bool upright = panel.half.real() == 0;
    const double width = upright ? across : along, height = upright ? along : across;
    const double left = panel.centre.real() - width, right = panel.centre.real() + width;
    const double low = panel.centre.imag() - height, high = panel.centre.imag() + height;
    if (!(high <= pi && low >= -pi / 2) || (turned && low < 0)) continue;
    const double nearest = nearest_x(left, right, s, l), turn = std::max(std::abs(low), std::abs(high)) / s;
    const double most_cosine = low <= 0 ? 1 : std::cos(low), least_cosine = std::min(std::cos(low), std::cos(high));
    const double sinh_left = summand.of(left), sinh_right = summand.of(right);
    const auto [least_growth, growth] =
        std::minmax({sinh_left * most_cosine, sinh_left * least_cosine, sinh_right * most_cosine, sinh_right * least_cosine});
    const double raised = std::max({growth * orders.lo, growth * orders.hi, least_growth * orders.lo, least_growth * orders.hi});
    const double exponent = (turn * turn - nearest * nearest) / 2 + raised - 64 * std::log(sum);
    if (!(exponent < 500)) continue;
    const double factor = 4.3 * 0.4 * length / s / (1 - 1 / (sum * sum));
    const Three here = factor * exponentials(exponent, right, -left);
    least = {std::min(least.psi, here.psi), std::min(least.plus, here.plus), std::min(least.minus, here.minus)};
  }
  return least;
}

/// Where the path of w leaves the real line.
struct Bend {
  double u = 0;
  std::size_t panels = 0;  // of the real line before the one that it cuts; all of them, if it lies beyond
};

/// The largest value of grows cos(angle) + turns sin(angle) + angle^2/(2 s^2) between 0 and `last`, or a little more. Without the second
/// term the largest value is at an end: sin(angle)/angle falls.
double most_on_rise(double s, double grows, double turns, double last) {
  const auto raised = [&](double angle) { return angle * angle / (2 * s * s); };
  if (turns == 0) return std::max(grows, grows * std::cos(last) + raised(last));
  constexpr int cells = 48;
  double most = -infinity;
  for (int i = 0; i < cells; ++i) {
    const double from = last * i / cells, to = last * (i + 1) / cells,
                 sine = to < pi / 2     ? std::sin(to)
                        : from > pi / 2 ? std::sin(from)
                                        : 1;
    most = std::max(most, grows * std::cos(from) + turns * sine + raised(to));
  }
  return most;
}

/// What the path beyond a bend adds to |psi| at most, where -Im v <= order and Re v >= -behind: it rises to the angle `turn`, that of v or
/// more, and then runs parallel to the real line.
Three bent_bound(const PlaceSummand& summand, double s, double l, double u, double order, double behind, double turn) {
  if (!(u > 0)) return {infinity, infinity, infinity};
  const double x = (u + l / 2) / s, raised = turn * turn / (2 * s * s);
  const double rising = most_on_rise(s, order * summand.of(u), behind * summand.slope(u), turn) + std::log(0.4 * turn / s) - x * x / 2;
  const double beyond = raised + (behind > 0 ? std::hypot(order, behind) * std::exp(-u) / 2 : 0);
  if (!(rising < 500 && beyond < 1e5)) return {infinity, infinity, infinity};
  const Three first = exponentials(rising, u, -u);
  const double tail = std::exp(beyond + log_upper_tail(x)), shifted = std::exp(beyond + s * s / 2 - l / 2 + log_upper_tail(x - s));
  return bound_widened * (first + Three{tail, shifted, tail * std::exp(-u)});
}

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
TRADEOFF_CLONES void add_point(const double* real, const double* imaginary, std::span<const Complex> weights, std::size_t count,
                               double* sums) {
  using numeric::Lanes;
  for (std::size_t j = 0; j < count; j += numeric::lane_count) {
    Lanes a, b;
    std::memcpy(&a, real + j, sizeof a), std::memcpy(&b, imaginary + j, sizeof b);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      Lanes x, y;
      double *const to_real = sums + 2 * i * count + j, *const to_imaginary = to_real + count;
      std::memcpy(&x, to_real, sizeof x), std::memcpy(&y, to_imaginary, sizeof y);
      x += weights[i].real() * a - weights[i].imag() * b;
      y += weights[i].real() * b + weights[i].imag() * a;
      std::memcpy(to_real, &x, sizeof x), std::memcpy(to_imaginary, &y, sizeof y);
    }
  }
}

/// The same on the real line, where v is imaginary: everything is real.
TRADEOFF_CLONES void add_real_point(const double* growth, std::span<const double> weights, std::size_t count, double* sums) {
  using numeric::Lanes;
  for (std::size_t j = 0; j < count; j += numeric::lane_count) {
    Lanes a;
    std::memcpy(&a, growth + j, sizeof a);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      Lanes x;
      std::memcpy(&x, sums + 2 * i * count + j, sizeof x);
      x += weights[i] * a;
      std::memcpy(sums + 2 * i * count + j, &x, sizeof x);
    }
  }
}

/// Adds sums to others, and starts them again.
void move_sums(std::vector<double>& from, std::vector<double>& to) {
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

void Sheet::add(const WPanel& panel) {
  for_each_abscissa([&](double node, double weight) {
    const Complex w = panel.centre + node * panel.half;
    w_.push_back(w);
    place_.push_back(std::abs(w) + std::abs(panel.half));
    weight_.push_back(weight * panel.half / (s_ * root_of_two_pi));
    // At last_angle and on the real line the parts of sinh w are taken from those of its arguments.
    const double c = std::cos(w.imag()), d = std::sin(w.imag());
    sinh_.emplace_back(summand_.of(w.real()) * c, summand_.slope(w.real()) * d);
    const double up = std::exp(w.real());
    exp_.emplace_back(up * c, up * d);
    up_.push_back(up);
    const double growth = sinh_.back().real();
    most_.push_back(std::exp(growth * (growth > 0 ? orders_.hi : orders_.lo)));
  });
}

/// What is integrated: psi^n, where psi has the factor e^(-iv constant). [allocation-excess] [allocation-mean-law]
struct Integral {
  bool paired = false;   // F as above, for a replaced record
  bool pole = false;     // divided by -v^2: the expectation of the positive part of the sum, or of its opposite
  bool bounded = false;  // orders are negative, where e^(order summand) is bounded: the opposite, or a density left of the mean
};
constexpr Integral replaced_density{.paired = true};
constexpr Integral excess_integral{.pole = true};
constexpr Integral shortfall_integral{.pole = true, .bounded = true};
constexpr Integral density_right{};
constexpr Integral density_left{.bounded = true};

/// Where the law of w lies, and what the sum of summands is compared with: this times n constants.
struct Place {
  double l = 0;
  double scale = 1;
};

/// Places near each other, which share the points v and w and the oscillations e^(iv sinh w) at them.
class PlaceGroup {
 public:
  PlaceGroup(Integral integral, const PlaceSummand& summand, double s, double n, Place first, Place last, std::size_t intervals = 1);
  /// Whether more than bounds of the line is needed: not far in the tail.
  [[nodiscard]] bool needs_line() const { return line_used_; }
  [[nodiscard]] bool known() const { return known_; }
  /// What a place costs.
  [[nodiscard]] double points() const { return points_; }
  struct Value {
    double value = 0, error = infinity;
  };
  [[nodiscard]] Value at(Place place) const;
  /// The part of the error of a value that is left out, where no line is needed: the rest is analytic in the place.
  [[nodiscard]] double left_out(Place place) const {
    return bound_widened * factor(place) * (of_line(place).error + bound_widened * std::exp(between(before_jump_, place)));
  }
  /// The logarithm of a bound of that rest for places with imaginary parts of at most `height` < pi, times e^(slope (l - from)).
  [[nodiscard]] double log_most(double height, double slope, double from) const;

 private:
  [[nodiscard]] double factor(Place place) const {
    return integral_.paired ? std::exp(-s_ * s_ / 2) / (2 * pi) : integral_.pole ? 1 / pi : n_ * place.scale / (2 * pi);
  }
  /// log of the factor of F at an order, and of what 1/|v|^2 is at most where -Im v >= least.
  [[nodiscard]] double log_factor(Place place, double order) const { return -n_ * summand_.constant() * place.scale * order; }
  [[nodiscard]] double log_pole(double least) const { return integral_.pole ? -2 * std::log(std::abs(least)) : 0; }
  [[nodiscard]] bool is_bounded() const { return integral_.bounded; }
  /// Places of one law of w are told apart by their scales.
  [[nodiscard]] bool has_one_law() const { return ends_[0].l == ends_[1].l; }
  [[nodiscard]] Interval places() const { return {ends_[0].l, ends_[1].l}; }
  /// What the path beyond a bend adds; without a bend, what lies beyond all panels.
  [[nodiscard]] Three beyond(double l, double u, double order, double behind, double turn) const {
    if (!is_bounded()) return bent_bound(summand_, s_, l, u, order, behind, turn);
    const double x = (u + l / 2) / s_;
    return bound_widened *
           Three{std::exp(log_upper_tail(x)), std::exp(s_ * s_ / 2 - l / 2 + log_upper_tail(x - s_)), std::exp(log_upper_tail(x) - u)};
  }
  /// Bounds as above, without factors.
  [[nodiscard]] double log_product(Three at) const {
    if (!integral_.paired) at.plus = at.minus = 0;
    return log_integrand(at, n_);
  }
  [[nodiscard]] double log_product_difference(Three at, Three bent) const {
    if (!integral_.paired) at.plus = at.minus = bent.plus = bent.minus = 0;
    return log_difference(at, bent, n_);
  }
  /// At one place: the bend that minimises a function of the bounds of psi and of what lies beyond the bend, which are returned.
  struct Found {
    Bend bend;
    double cost = infinity;
    Three all, bent;
  };
  template <class Cost>
  [[nodiscard]] Found find_bend(double l, double order, Cost&& cost) const;
  [[nodiscard]] Found for_line(Place place, double order) const {
    // Among bends of the same quality the one beyond which less lies.
    return find_bend(place.l, order, [&](const Three& all, const Three& bent) {
      return log_product(all) + log_factor(place, order) + log_pole(order) + 1e-6 * std::max(-150.0, std::log(bent.psi / all.psi));
    });
  }
  [[nodiscard]] Found for_jump(Place place, double order) const {
    return find_bend(place.l, order, [&](const Three& all, const Three& bent) {
      return log_product_difference(all, bent) + log_factor(place, order) + log_pole(order);
    });
  }
  [[nodiscard]] double width(double l, double order, const Bend& bend) const {
    return 1 / std::sqrt(n_ * std::max(line_.spread(l, order, bend), 1e-300));
  }
  void choose_order(Place place);
  [[nodiscard]] double log_size(Place place) const;
  [[nodiscard]] bool reach_end();
  [[nodiscard]] bool place_line();
  [[nodiscard]] bool place_jump();
  void add_bent(Sheet& sheet, double u, double from, double low_order, const Three& allowed) const;

  /// Panels of v on the line: how long, and the sum of the half axes of their ellipses.
  struct LinePanels {
    double half = 0, sum = 0;
    std::size_t count = 0;
    double behind = 0, turn = 0;  // how far the first ellipse reaches
    RealLine::Bulk low, high;     // at the least and the largest order of the ellipses
  };
  [[nodiscard]] LinePanels line_panels(double half, double sum, std::size_t count) const;
  /// One of all panels; those far from 0 have an ellipse of their own.
  struct LongPanel {
    double centre = 0, half = 0, sum = 0;
  };
  [[nodiscard]] double log_long_error(Place place, double centre, double half, double sum) const;
  [[nodiscard]] bool choose_panels();
  [[nodiscard]] std::optional<LongPanel> long_panel(double from, double half) const;
  /// logs of bounds at a place: of the error of the rule on a panel of the line; of the integral beyond its end.
  [[nodiscard]] double log_line_error(Place place, const LinePanels& panels) const;
  [[nodiscard]] double log_beyond(Place place, double t, double angle) const;
  [[nodiscard]] bool find_far();
  /// A panel of orders below order_, on which F differs from its mirror by what lies beyond the bend.
  struct JumpEllipse {
    double log_rule = 0;
    double across = 0, turn = 0;
    RealLine::Bulk low, high;  // at its least and largest order
  };
  struct MassSheet {
    Sheet sheet;
    double end = 0, angle = 0;
  };
  [[nodiscard]] MassSheet mass_sheet(double u, double angle) const;
  /// Whether psi less 1 is the better sum: psi keeps its digits, and its power those of a small number.
  [[nodiscard]] bool is_near_one(double order, const Bend& bend) const {
    const auto near = [&](Place end) { return std::abs(std::log(line_.plain(end.l, order, bend).psi)) < 1; };
    return n_ >= steps_summed_less_one && near(ends_[0]) && near(ends_[1]);
  }
  [[nodiscard]] Sheet::Kind kind(bool turned, bool real, bool less_one) const {
    return {.turned = turned, .real = real, .less_one = less_one, .paired = integral_.paired};
  }
  struct JumpPanel {
    Interval orders;
    Bend bend;
    JumpEllipse ellipse;
    std::vector<double> log_error;  // of the rule
    std::vector<Sheet> sheets;      // the real line, and beyond the bend
    std::optional<MassSheet> mass;  // if the sums of the real line are less 1
    std::vector<double> order, weight;
  };
  [[nodiscard]] std::optional<JumpEllipse> jump_ellipse(Interval orders, const Bend& bend, double slack) const;
  [[nodiscard]] double log_jump(Place place, const RealLine::Bulk& bulk, double behind, double turn) const;
  [[nodiscard]] double log_jump_error(Place place, const JumpEllipse& ellipse) const;
  [[nodiscard]] double log_jump_before(Place place, const RealLine::Bulk& zero, const RealLine::Bulk& first) const;
  /// The logarithm of a bound at even places of the group; between two of them it exceeds the chord by at most `slack`.
  /// [allocation-replaced-law]
  using Bounds = std::vector<double>;
  template <class Bound>
  [[nodiscard]] Bounds at_anchors(Bound&& bound) const {
    Bounds bounds;
    for (std::size_t i = 0; i <= intervals_; ++i)
      bounds.push_back(std::max(-1e5, bound(anchor(static_cast<double>(i) / static_cast<double>(intervals_)))));
    return bounds;
  }
  [[nodiscard]] Place anchor(double share) const {
    if (share == 1) return ends_[1];
    return {ends_[0].l + share * (ends_[1].l - ends_[0].l), ends_[0].scale + share * (ends_[1].scale - ends_[0].scale)};
  }
  [[nodiscard]] double between(const Bounds& bounds, Place place) const {
    const bool one = has_one_law();
    if (one && ends_[0].scale == ends_[1].scale) return bounds.front();
    const double whole = one ? ends_[1].scale - ends_[0].scale : ends_[1].l - ends_[0].l,
                 from = one ? place.scale - ends_[0].scale : place.l - ends_[0].l, length = whole / static_cast<double>(intervals_),
                 at = std::clamp(from / length, 0.0, static_cast<double>(intervals_)),
                 below = std::min(std::floor(at), static_cast<double>(intervals_ - 1)), share = at - below;
    const double first = bounds[static_cast<std::size_t>(below)], last = bounds[static_cast<std::size_t>(below) + 1],
                 slack = (one ? 0 : n_ * length * length / (32 * s_ * s_)) + 1e-6;
    return first + share * (last - first) + slack;
  }
  void find_bounds();
  /// The integrand at a point, without the factor e^(-iv n constant scale).
  struct Term {
    double t = 0, order = 0;
    double log_size = 0, angle = 0;  // on the line
    double value = 0, error = 0;     // in units of e^log_size
  };
  [[nodiscard]] std::vector<Term> terms_of_line() const;
  [[nodiscard]] std::vector<Term> terms_of_jump(const JumpPanel& panel) const;
  struct Mass {
    Complex value;
    double error = 0;
  };
  [[nodiscard]] Mass mass_of(const MassSheet& mass, double l) const;
  struct OnLine;
  [[nodiscard]] OnLine on_line(double l) const;
  [[nodiscard]] Value paired(const OnLine& on, std::size_t j) const;
  [[nodiscard]] Value of_line(Place place) const;
  struct OnOrders;
  [[nodiscard]] OnOrders on_orders(double l, const JumpPanel& panel) const;
  [[nodiscard]] Value of_jump(double l, const JumpPanel& panel) const;
  [[nodiscard]] Value of_jumps(Place place) const;
  [[nodiscard]] Three beyond_sheet(double l, double u, double low_order) const;

  Integral integral_;
  PlaceSummand summand_;
  double s_, n_;
  RealLine line_;
  std::size_t intervals_;
  std::array<Place, 2> ends_;
  std::array<double, 2> log_allowed_{};
  bool known_ = false;
  double points_ = 0;
  double order_ = 0;
  Bend bend_;
  double end_ = 0, end_angle_ = 0;
  double far_ = infinity, log_far_ = 0;  // beyond far_ the integral of |psi|^n is at most e^log_far_
  bool line_used_ = true;                // otherwise a bound is enough
  LinePanels panels_;
  std::vector<LongPanel> long_panels_;
  double angle_ = 0;
  std::optional<Sheet> sheet_, bent_sheet_;
  std::optional<MassSheet> mass_;
  bool bent_used_ = false, less_one_ = false;
  std::vector<Complex> v_;
  std::vector<double> v_weight_;
  std::vector<JumpPanel> jump_;
  RealLine::Bulk jump_zero_, jump_first_;  // orders between these are left out
  RealLine::Bulk unused_line_;
  std::vector<Term> line_terms_, jump_terms_;              // which places of one law of w share
  Bounds beyond_end_, line_error_, unused_, before_jump_;  // of the line that is used or not, and of orders below all panels
};

template <class Cost>
PlaceGroup::Found PlaceGroup::find_bend(double l, double order, Cost&& cost) const {
  Found found;
  if (is_bounded()) {
    found.bend = {line_.end(), line_.count()};
    found.bent = beyond(l, found.bend.u, order, 0, 0);
    found.all = line_.plain(l, order, found.bend) + found.bent;
    found.cost = cost(found.all, found.bent);
    return found;
  }
  Three sum;
  const auto consider = [&](const Bend& bend) {
    const Three bent = bent_bound(summand_, s_, l, bend.u, order, 0, pi / 2), all = sum + bent;
    if (!(all.plus < infinity && bent.psi > 0)) return;
    if (const double here = cost(all, bent); here < found.cost) found = {bend, here, all, bent};
  };
  bool fits = true;
  line_.scan(l, order, [&](const Bend& bend, const Three& here) {
    const double x = (bend.u + l / 2) / s_;
    fits = order * summand_.of(bend.u) - x * x / 2 < 60;
    sum = here;
    if (fits && bend.u > 0.2 && line_.reaches(bend)) consider(bend);
    return fits;
  });
  if (!fits) return found;
  const double end = line_.end(), farthest = 2.2 + 30 * s_;
  for (double x = 1.1 * (end + l / 2); x < 1.1 * farthest; x *= 1.15)
    if (const double u = x - l / 2; u > 0.2 && order * summand_.of(u) - x * x / (2 * s_ * s_) < 60) consider({u, line_.count()});
  return found;
}

/// The least bound of |F|, or a little more: a line further from 0 has longer panels.
void PlaceGroup::choose_order(Place place) {
  // Where what lies beyond the bend matters, its bounds are poor.
  const auto cost = [&](double order) {
    const Found found = for_line(place, order);
    return n_ * found.bent.psi <= 2 * found.all.psi ? found.cost : infinity;
  };
  const double sign = is_bounded() ? -1 : 1;
  const double usual = summand_.falls ? std::sinh(place.l / 2 + s_) + s_ : summand_.of(s_ - place.l / 2);
  double best = 1e-4 / (summand_.falls ? std::sqrt(n_) * usual : std::max(std::sqrt(n_) * usual, n_)), least = cost(sign * best);
  int worse = 0;
  for (double order = 2 * best; worse < 4 && order < 1e12; order *= 2) {
    const double here = cost(sign * order);
    if (here < least)
      least = here, best = order, worse = 0;
    else
      ++worse;
  }
  for (double ratio = std::sqrt(2.0); ratio > 1.02; ratio = std::sqrt(ratio))
    for (const double order : {best / ratio, best * ratio})
      if (const double here = cost(sign * order); here < least) least = here, best = order;
  order_ = sign * best;
  while (cost(1.15 * order_) < least + 1) order_ *= 1.15;
}

/// About the logarithm of the integral.
double PlaceGroup::log_size(Place place) const {
  constexpr double loose = 4;  // of the bound of the jump
  const Found line = for_line(place, order_);
  double most = line.cost + std::log(width(place.l, order_, line.bend));
  if (is_bounded()) return most;
  int less = 0;
  for (double order = order_; less < 8; order /= 2) {
    const double here = for_jump(place, order).cost + std::log(order) - loose;
    if (here > most)
      most = here, less = 0;
    else
      ++less;
  }
  return most;
}

PlaceGroup::PlaceGroup(Integral integral, const PlaceSummand& summand, double s, double n, Place first, Place last, std::size_t intervals)
    : integral_(integral), summand_(summand), s_(s), n_(n), line_(summand, s, first.l, last.l), intervals_(intervals), ends_{first, last} {
  const Place middle = anchor(0.5);
  choose_order(middle);
  if (!(for_line(middle, order_).cost < infinity)) return;
  for (std::size_t i = 0; i < 2; ++i) log_allowed_[i] = log_size(ends_[i]) + std::log(wanted_share);
  // Where large values of one step are what matters, the line may be nearer to 0, so near that it just does not matter.
  for (double order = 1e-9 * order_; order < order_ && !is_bounded(); order *= 1.6) {
    bool negligible = true;
    for (std::size_t i = 0; i < 2; ++i) {
      const Found found = for_line(ends_[i], order);
      negligible = negligible && found.cost + std::log(30 * width(ends_[i].l, order, found.bend)) < log_allowed_[i] - 3;
    }
    if (!negligible) continue;
    order_ = order;
    line_used_ = false;
    break;
  }
  bend_ = for_line(ends_[0], order_).bend;  // where most lies beyond it
  known_ = reach_end() && place_line() && (is_bounded() || place_jump());
  if (!known_) return;
  find_bounds();
  if (integral_.paired) return;
  line_terms_ = terms_of_line();
  for (const JumpPanel& panel : jump_)
    for (const Term& term : terms_of_jump(panel)) jump_terms_.push_back(term);
}

void PlaceGroup::find_bounds() {
  beyond_end_ = at_anchors([&](Place place) { return log_beyond(place, end_, end_angle_); });
  if (line_used_)
    line_error_ = at_anchors([&](Place place) {
      double all = log_line_error(place, panels_) + std::log(static_cast<double>(panels_.count));
      for (const LongPanel& panel : long_panels_)
        if (panel.sum > 0) all = log_sum(all, log_long_error(place, panel.centre, panel.half, panel.sum));
      return all;
    });
  else
    unused_ = at_anchors([&](Place place) {
      const Three most = line_.at(place.l, unused_line_) + beyond(place.l, bend_.u, order_, 0, pi / 2);
      return log_product(most) + log_factor(place, order_) + log_pole(order_);
    });
  if (!is_bounded()) before_jump_ = at_anchors([&](Place place) { return log_jump_before(place, jump_zero_, jump_first_); });
}

/// What the integral beyond t is at most, on a path of w at this angle.
double PlaceGroup::log_beyond(Place place, double t, double angle) const {
  const double most = log_product(line_.falling(place.l, order_, t, angle, bend_));
  if (integral_.paired) return most - std::log(n_ * std::sin(angle));
  const double integral = integral_.pole ? most - std::log(t) : log_sum(most + std::log(std::max(t, far_)), log_far_);
  return integral + log_factor(place, order_);
}

/// log E e^(-p e^w) is concave in log p and at least -p E e^w: beyond a p with a small value it falls like a known power of p.
/// [allocation-mean-law]
bool PlaceGroup::find_far() {
  const double l = ends_[0].l, mean = std::exp(s_ * s_ / 2 - l / 2);
  const double wanted = std::min(log_allowed_[0] - log_factor(ends_[0], order_), log_allowed_[1] - log_factor(ends_[1], order_)) - 5;
  for (double t = std::max(4 * std::abs(order_), 1 / (n_ * mean)); t < 1e15; t *= 4)
    for (const double angle : {pi / 2, std::min(1.0, s_), std::min(0.3, s_ / 3)}) {
      const double p = (t * std::sin(angle) - order_ * std::cos(angle)) / 2;
      if (!(p > 0)) continue;
      const double raised = angle * angle / (2 * s_ * s_), log_most = std::log(line_.falling(l, order_, t, angle, bend_).psi) - raised;
      double power = 0;
      for (double nearer = 0.5; nearer > 1e-12; nearer /= 2) power = std::max(power, (-p * mean * nearer - log_most) / -std::log(nearer));
      power = power * (1 - 1e-9) - 1e-12 * std::abs(log_most);  // the rounding
      if (!(n_ * power > 2)) continue;
      log_far_ = n_ * (log_most + raised) + std::log(2 * p / (std::sin(angle) * (n_ * power - 1))) + 1e-6;
      far_ = t;
      if (log_far_ < wanted) return true;
    }
  return false;
}

/// The line ends where what lies beyond is negligible at both ends of the group.
bool PlaceGroup::reach_end() {
  if (!integral_.paired && !integral_.pole && !find_far()) return false;
  const Place middle = anchor(0.5);
  const auto fits = [&](double angle) {
    return log_beyond(ends_[0], end_, angle) < log_allowed_[0] - 2 && log_beyond(ends_[1], end_, angle) < log_allowed_[1] - 2;
  };
  end_ = 3 * width(middle.l, order_, bend_);
  end_angle_ = std::min(pi / 2, 3 * s_);
  for (; end_ < 1e12; end_ *= 1.25) {
    double least = log_beyond(middle, end_, end_angle_);
    for (const double factor : {1 / 1.3, 1.3})
      for (double angle = factor * end_angle_; angle > 1e-6 && angle <= pi / 2; angle *= factor) {
        const double here = log_beyond(middle, end_, angle);
        if (!(here < least || least == infinity)) break;
        least = here, end_angle_ = angle;
      }
    if (least < log_allowed_[0] + 20 && fits(end_angle_)) return true;
  }
  return false;
}

PlaceGroup::LinePanels PlaceGroup::line_panels(double half, double sum, std::size_t count) const {
  const double across = half * (sum - 1 / sum) / 2, behind = half * ((sum + 1 / sum) / 2 - 1), low = order_ - across;
  return {half,
          sum,
          count,
          behind,
          pi / 2 + std::atan2(behind, low),
          line_.bulk(places(), low, bend_),
          line_.bulk(places(), order_ + across, bend_)};
}

// All bounds of F and of its difference are sums of products of moments of e^(order sinh w): they are log-convex in the order, and largest
// at one of two ends.
double PlaceGroup::log_line_error(Place place, const LinePanels& panels) const {
  double most = -infinity;
  for (const RealLine::Bulk* end : {&panels.low, &panels.high})
    most = std::max(most, log_factor(place, end->order) +
                              log_product(line_.at(place.l, *end) + beyond(place.l, bend_.u, end->order, panels.behind, panels.turn)));
  return most + log_pole(is_bounded() ? panels.high.order : panels.low.order) +
         std::log(4.3 * panels.half / (1 - 1 / (panels.sum * panels.sum))) - 64 * std::log(panels.sum);
}

void PlaceGroup::add_bent(Sheet& sheet, double u, double from, double low_order, const Three& allowed) const {
  for (double low = from; low < last_angle;) {
    const double high = std::min({last_angle, low + pi / 4, low > 0 ? 2.5 * low : last_angle});
    sheet.add_fine({{u, (low + high) / 2}, {0, (high - low) / 2}}, allowed);
    low = high;
  }
  for (int i = 0; i < most_bent_panels && low_order * summand_.of(u) * std::cos(last_angle) > -bent_fall; ++i, u += bent_length)
    sheet.add_fine({{u + bent_length / 2, last_angle}, bent_length / 2}, allowed);
}

/// What lies beyond the points that follow a bend.
Three PlaceGroup::beyond_sheet(double l, double u, double low_order) const {
  for (int i = 0; i < most_bent_panels && low_order * summand_.of(u) * std::cos(last_angle) > -bent_fall; ++i) u += bent_length;
  const double x = (u + l / 2) / s_;
  const double exponent = last_angle * last_angle / (2 * s_ * s_) + low_order * summand_.of(u) * std::cos(last_angle);
  const double tail = std::exp(exponent + log_upper_tail(x)), shifted = std::exp(exponent + s_ * s_ / 2 - l / 2 + log_upper_tail(x - s_));
  return {tail, shifted, tail * std::exp(-u)};
}

/// A bound of the error of the rule on a panel far from 0: on its ellipse |psi| is at most what it is at the least real part and one of the
/// two orders.
double PlaceGroup::log_long_error(Place place, double centre, double half, double sum) const {
  const double across = half * (sum - 1 / sum) / 2, least = centre - half * (sum + 1 / sum) / 2;
  const double low = order_ - across, high = order_ + across;
  double best = infinity;
  for (const double angle : {0.3 * end_angle_, end_angle_, std::min(pi / 2, s_)}) {
    if (summand_.falls && least * std::sin(angle) + low * std::cos(angle) < 0) continue;
    const bool bent = RealLine::needs_bend(high, least, angle);
    double most = -infinity;
    for (const double order : {low, high})
      most = std::max(most, log_factor(place, order) + log_product(line_.falling(place.l, order, least, angle, bend_, bent)));
    best = std::min(best, most);
  }
  const double pole = integral_.pole ? -2 * std::log(least) : 0;
  return best + pole + std::log(4.3 * half / (1 - 1 / (sum * sum))) - 64 * std::log(sum);
}

/// Panels of the same length near 0, and longer ones further away.
bool PlaceGroup::choose_panels() {
  constexpr std::size_t most_panels = 64;
  const auto fits = [&](auto&& log_error, double slack) {
    return log_error(ends_[0]) < log_allowed_[0] - slack && log_error(ends_[1]) < log_allowed_[1] - slack;
  };
  for (const double share : {0.6, 0.45, 0.3, 0.2, 0.12, 0.07, 0.04, 0.02, 0.01})
    for (const double sum : ellipses) {
      const double count = std::ceil(end_ / (4 * share * std::abs(order_) / (sum - 1 / sum))), half = end_ / (2 * count);
      if (!(half > panels_.half)) continue;
      const LinePanels panels = line_panels(half, sum, static_cast<std::size_t>(count));
      if (fits([&](Place place) { return log_line_error(place, panels); }, std::log(count))) panels_ = panels;
    }
  if (panels_.count == 0) return false;
  const bool few = panels_.count <= 4;
  panels_.count = 0;
  for (double from = 0, half = panels_.half; from < end_; from += 2 * long_panels_.back().half) {
    if (long_panels_.size() == most_panels) return false;
    const auto longer = few || from == 0 ? std::nullopt : long_panel(from, half);
    if (!longer) ++panels_.count;
    long_panels_.push_back(longer.value_or(LongPanel{from + panels_.half, panels_.half, 0}));
    half = long_panels_.back().half;
  }
  return true;
}

/// A panel from here that is longer than those near 0, of about this half length.
std::optional<PlaceGroup::LongPanel> PlaceGroup::long_panel(double from, double half) const {
  for (const double factor : {2.0, 1.4, 1.0, 0.7, 0.5}) {
    const double here = std::min({factor * half, 1.5 * from, (end_ - from) / 2});
    if (!(here > panels_.half)) break;
    for (const double sum : {2.0, 3.0}) {
      const auto fits = [&](std::size_t i) { return log_long_error(ends_[i], from + here, here, sum) < log_allowed_[i] - 3; };
      if (fits(1) && fits(0)) return LongPanel{from + here, here, sum};
    }
  }
  return std::nullopt;
}

bool PlaceGroup::place_line() {
  if (!line_used_) {
    unused_line_ = line_.bulk(places(), order_, bend_);
    return true;
  }
  if (!choose_panels()) return false;
  for (const LongPanel& panel : long_panels_)
    for_each_abscissa([&](double node, double weight) {
      v_.emplace_back(panel.centre + panel.half * node, -order_);
      v_weight_.push_back(panel.half * weight);
    });
  angle_ = std::min(pi / 4, 1.2 * s_);
  less_one_ = is_near_one(order_, bend_);
  sheet_.emplace(summand_, s_, places(), Interval::exactly(order_), kind(true, false, less_one_));
  const double small = 1e-2 * wanted_share / n_;
  const Three allowed = small * smaller_of(line_.plain(ends_[0].l, order_, bend_), line_.plain(ends_[1].l, order_, bend_));
  for (const Place& end : ends_) bent_used_ = bent_used_ || !(beyond(end.l, bend_.u, order_, 0, pi / 2) <= allowed);
  if (bent_used_ && !line_.reaches(bend_)) return false;
  line_.for_each_panel(bend_, angle_, [&](const WPanel& panel) { sheet_->add_needed(panel, allowed); });
  sheet_->oscillate(v_);
  points_ += static_cast<double>(v_.size() * sheet_->points());
  if (!bent_used_) return true;
  bent_sheet_.emplace(summand_, s_, places(), Interval::exactly(order_), kind(true, false, false));
  if (less_one_) mass_ = mass_sheet(bend_.u, angle_);
  add_bent(*bent_sheet_, bend_.u, angle_, order_, allowed);
  bent_sheet_->oscillate(v_);
  points_ += static_cast<double>(v_.size() * bent_sheet_->points());
  return true;
}

/// A bound of half the difference of F and its mirror at an order, and `behind` beside it.
double PlaceGroup::log_jump(Place place, const RealLine::Bulk& bulk, double behind, double turn) const {
  const Three bent = bent_bound(summand_, s_, place.l, bulk.bend.u, bulk.order, behind, turn);
  return log_factor(place, bulk.order) + log_product_difference(line_.at(place.l, bulk) + bent, bent);
}

double PlaceGroup::log_jump_error(Place place, const JumpEllipse& ellipse) const {
  return ellipse.log_rule + log_pole(ellipse.low.order) +
         std::max(log_jump(place, ellipse.low, ellipse.across, ellipse.turn), log_jump(place, ellipse.high, ellipse.across, ellipse.turn));
}

/// One with small errors at both ends of the group, if there is one.
std::optional<PlaceGroup::JumpEllipse> PlaceGroup::jump_ellipse(Interval orders, const Bend& bend, double slack) const {
  constexpr double log_cancelled = 35;  // with roundings of 1e-14, less than 1e-9 remains
  const double centre = middle_of(orders), half = orders.width() / 2;
  for (const double sum : ellipses) {
    const double low = centre - half * (sum + 1 / sum) / 2, high = centre + half * (sum + 1 / sum) / 2, across = half * (sum - 1 / sum) / 2;
    if (!(low > 0)) continue;
    const double log_rule = std::log(4.3 * half / (1 - 1 / (sum * sum))) - 64 * std::log(sum);
    const JumpEllipse ellipse{log_rule, across, pi / 2 + std::atan2(across, low), line_.bulk(places(), low, bend),
                              line_.bulk(places(), high, bend)};
    bool fits = true;
    for (std::size_t i = 0; i < 2 && fits; ++i) {
      // Roundings beyond the bend are those of the largest order, for all orders.
      const Three bent = bent_bound(summand_, s_, ends_[i].l, bend.u, orders.hi, 0, pi / 2);
      const auto at = [&](double order) {
        return log_factor(ends_[i], order) + log_product_difference(line_.plain(ends_[i].l, order, bend) + bent, bent);
      };
      const double rounded = std::max(at(orders.lo), at(orders.hi)) + log_pole(orders.lo);
      fits =
          log_jump_error(ends_[i], ellipse) < log_allowed_[i] + slack && rounded + std::log(half) < log_allowed_[i] + slack + log_cancelled;
    }
    if (fits) return ellipse;
  }
  return std::nullopt;
}

/// A bound of the integral of the difference up to an order.
double PlaceGroup::log_jump_before(Place place, const RealLine::Bulk& zero, const RealLine::Bulk& first) const {
  if (!integral_.pole) return std::log(first.order) + std::max(log_jump(place, zero, 0, pi / 2), log_jump(place, first, 0, pi / 2));
  const double l = place.l;
  // Each order has its own bend, where order times the summand is `rise`; with them the bound has an integral over 1/order^2.
  const double rise = std::max(1.0, pi * pi / (8 * s_ * s_));
  const double u = summand_.inverse(rise / first.order) - 1e-9, x = (u + l / 2) / s_, half = s_ * s_ / 2;
  if (!(u > 0.1)) return infinity;
  const double most = std::max((line_.at(l, zero) + bent_bound(summand_, s_, l, first.bend.u, 0, 0, pi / 2)).psi,
                               (line_.at(l, first) + bent_bound(summand_, s_, l, first.bend.u, first.order, 0, pi / 2)).psi);
  const double up = half - l / 2 + log_upper_tail(x - s_), down = half + l / 2 + log_upper_tail(x + s_);
  const double slopes = (summand_.falls ? log_sum(up, down) : up) - std::numbers::ln2;
  const double bent = rise + std::log(pi / 2 + 1) - std::log(rise);
  return std::log(n_) + (n_ - 1) * std::log(most) + bent + slopes + 1e-6;
}

bool PlaceGroup::place_jump() {
  constexpr std::size_t most_jump_panels = 24;
  for (double from = order_;;) {
    const Bend first = for_jump(ends_[0], from).bend;
    jump_zero_ = line_.bulk(places(), 0, first);
    jump_first_ = line_.bulk(places(), from, first);
    if (log_jump_before(ends_[0], jump_zero_, jump_first_) < log_allowed_[0] &&
        log_jump_before(ends_[1], jump_zero_, jump_first_) < log_allowed_[1])
      return true;
    if (jump_.size() == most_jump_panels) return false;
    bool placed = false;
    for (const double ratio : {12.0, 8.0, 5.0, 3.0, 2.0, 1.5, 1.2, 1.1}) {
      const Interval orders{from / ratio, from};
      const Bend bend = for_jump(ends_[0], from / std::sqrt(ratio)).bend;
      if (bend.panels == 0 || !line_.reaches(bend)) continue;
      // A short panel may be less good.
      const auto ellipse = jump_ellipse(orders, bend, ratio > 1.2 ? 0 : 9);
      if (!ellipse) continue;
      JumpPanel panel{orders, bend, *ellipse, at_anchors([&](Place place) { return log_jump_error(place, *ellipse); }), {}, {}, {}, {}};
      std::vector<Complex> v;
      for_each_abscissa([&](double node, double weight) {
        panel.order.push_back(middle_of(orders) + orders.width() / 2 * node);
        panel.weight.push_back(orders.width() / 2 * weight);
        v.emplace_back(0, -panel.order.back());
      });
      const bool less_one = is_near_one(orders.hi, bend);
      if (less_one) panel.mass = mass_sheet(bend.u, 0);
      Sheet real(summand_, s_, places(), orders, kind(false, true, less_one)),
          bent(summand_, s_, places(), orders, kind(false, false, false));
      // The imaginary part is about that of the path beyond the bend for the least order.
      const Three of_real =
          wanted_share / n_ * smaller_of(line_.plain(ends_[0].l, orders.lo, bend), line_.plain(ends_[1].l, orders.lo, bend));
      const Three of_bent = 1e-3 * wanted_share *
                            smaller_of(bent_bound(summand_, s_, ends_[0].l, bend.u, orders.lo, 0, pi / 2),
                                       bent_bound(summand_, s_, ends_[1].l, bend.u, orders.lo, 0, pi / 2));
      line_.for_each_panel(bend, 0, [&](const WPanel& one) { real.add_needed(one, of_real); });
      add_bent(bent, bend.u, 0, orders.lo, of_bent);
      real.oscillate(v);
      bent.oscillate(v);
      points_ += static_cast<double>(v.size()) * (0.5 * static_cast<double>(real.points()) + static_cast<double>(bent.points()));
      panel.sheets.push_back(std::move(real));
      panel.sheets.push_back(std::move(bent));
      jump_.push_back(std::move(panel));
      from = orders.lo;
      placed = true;
      break;
    }
    if (!placed) return false;
  }
}

/// For E(1; beyond a bend), on the line at this angle: psi is 1 less this, and what is summed of e^z - 1 and beyond the bend.
PlaceGroup::MassSheet PlaceGroup::mass_sheet(double u, double angle) const {
  constexpr double reach = 9;  // deviations
  const double panel = 1.5 * std::min(pi / 4, s_);
  const double first = std::max(0.0, (u + ends_[0].l / 2) / s_), last = std::hypot((u + ends_[1].l / 2) / s_, reach);
  const double count = std::min(200.0, std::ceil((last - first) * s_ / panel)),
               negligible = 1e-3 * unit_roundoff * std::exp(log_upper_tail(last));
  MassSheet mass{Sheet(summand_, s_, places(), Interval::exactly(0), {}), u + count * panel, angle};
  for (int i = 0; i < static_cast<int>(count); ++i)
    mass.sheet.add_fine({{u + panel * (i + 0.5), angle}, panel / 2}, {std::max(negligible, 1e-40), infinity, infinity});
  mass.sheet.oscillate(std::vector<Complex>(numeric::lane_count));
  return mass;
}

PlaceGroup::Mass PlaceGroup::mass_of(const MassSheet& mass, double l) const {
  std::vector<double> sums;
  const Sheet::Errors errors = mass.sheet.sum(l, sums);
  const double rest = std::exp(mass.angle * mass.angle / (2 * s_ * s_) + log_upper_tail((mass.end + l / 2) / s_));
  return {{sums[0], sums[numeric::lane_count]}, errors.at(0, 0).psi + bound_widened * rest};
}

/// psi, psi+ and psi- on the line, and bounds of their errors.
struct PlaceGroup::OnLine {
  std::vector<double> sums, bent;
  Sheet::Errors errors, bent_errors;
  Three rule;
  std::size_t count = 0;
  Complex less;  // of psi, if it is less 1

  [[nodiscard]] Complex of(std::size_t i, std::size_t j) const {
    Complex sum(sums[2 * i * count + j], sums[(2 * i + 1) * count + j]);
    if (!bent.empty()) sum += Complex(bent[2 * i * count + j], bent[(2 * i + 1) * count + j]);
    return i == 0 ? sum - less : sum;
  }
  [[nodiscard]] Three doubts(double v, double of_v) const {
    const Three doubt = rule + errors.at(v, of_v);
    return bent.empty() ? doubt : doubt + bent_errors.at(v, of_v);
  }
};

PlaceGroup::OnLine PlaceGroup::on_line(double l) const {
  OnLine on;
  on.errors = sheet_->sum(l, on.sums);
  const double raised = std::exp(angle_ * angle_ / (2 * s_ * s_));
  on.rule = 2 * line_.before(l, angle_, order_);
  if (bent_used_) {
    on.bent_errors = bent_sheet_->sum(l, on.bent);
    on.rule = on.rule + beyond_sheet(l, bend_.u, order_);
  } else {
    on.rule = on.rule + (is_bounded() ? raised : 1) * beyond(l, bend_.u, order_, 0, pi / 2) + raised * line_.gap(l, order_, bend_);
  }
  if (mass_) {
    const Mass mass = mass_of(*mass_, l);
    on.less = mass.value;
    on.rule.psi += mass.error;
  } else if (less_one_) {
    const double end = line_.reaches(bend_) ? bend_.u : line_.end();
    on.rule.psi += bound_widened * raised * std::exp(log_upper_tail((end + l / 2) / s_));
  }
  on.count = v_.size();
  return on;
}

namespace {

/// The logarithm of a modulus and the angle of psi, and how much the logarithm may change.
struct PolarPsi {
  /// From psi, or from psi less 1.
  PolarPsi(Complex sum, double doubt, bool is_less_one) {
    const Complex psi = is_less_one ? 1.0 + sum : sum;
    // Near 1 the logarithm is known relative to itself, otherwise like the sum with 1.
    const bool near = is_less_one && std::abs(sum) < 0.25;
    angle = std::arg(psi);
    log_size = near ? std::log1p(2 * sum.real() + std::norm(sum)) / 2 : std::log(std::abs(psi));
    size = std::exp(log_size);
    const double of_sum = near ? 4 * std::abs(sum) : is_less_one ? (1 + std::abs(sum)) / size : 1;
    const double rounding = unit_roundoff * 16 * (std::min(std::abs(log_size), 700.0) + std::abs(angle) + of_sum);
    growth = std::log1p(doubt / size) + rounding;
    log_most = std::log(size + doubt) + rounding;
  }
  double log_size = 0, size = 0, angle = 0, growth = 0, log_most = 0;
};

}  // namespace

/// psi^n, or -psi^n/v^2, with the weights of the rule.
std::vector<PlaceGroup::Term> PlaceGroup::terms_of_line() const {
  std::vector<Term> terms;
  if (!line_used_) return terms;
  const OnLine on = on_line(ends_[0].l);
  for (std::size_t j = 0; j < on.count; ++j) {
    const double of_v = 2 * (v_[j].real() + std::abs(order_) + panels_.half);
    const PolarPsi psi(on.of(0, j), on.doubts(1.01 * std::abs(v_[j]), of_v).psi, less_one_);
    const double weight = integral_.pole ? v_weight_[j] / std::norm(v_[j]) : v_weight_[j];
    const double turn = integral_.pole ? pi - 2 * std::arg(v_[j]) : 0, changed = n_ * psi.growth;
    Term term{v_[j].real(), order_, n_ * (changed < 1 ? psi.log_size : psi.log_most), n_ * psi.angle + turn, weight, 0};
    term.error = weight * (changed < 1 ? std::expm1(changed) : 2) + (60 * weight) * unit_roundoff;
    terms.push_back(term);
  }
  return terms;
}

/// The integral of Re F along the line.
PlaceGroup::Value PlaceGroup::of_line(Place place) const {
  const double after = bound_widened * std::exp(between(beyond_end_, place));
  if (!line_used_) return {0, bound_widened * end_ * std::exp(between(unused_, place)) + after};
  numeric::CompensatedSum sum;
  double error = 0;
  if (!integral_.paired) {
    const double drift = n_ * summand_.constant() * place.scale;
    for (const Term& term : line_terms_) {
      const double size = std::exp(term.log_size - drift * order_);
      sum.add(size * term.value * std::cos(term.angle - drift * term.t));
      error += size * (term.error + 12 * unit_roundoff * (8 + std::abs(term.angle) + drift * (std::abs(order_) + term.t)) * term.value);
    }
  } else {
    const OnLine on = on_line(place.l);
    for (std::size_t j = 0; j < on.count; ++j) {
      const auto [value, doubt] = paired(on, j);
      sum.add(v_weight_[j] * value);
      error += v_weight_[j] * doubt;
    }
  }
  const Interval found = sum.enclosure();
  error += 0.5 * (found.hi - found.lo) + after + std::exp(between(line_error_, place));
  return {middle_of(found), bound_widened * error};
}

/// Re F at a point of the line.
PlaceGroup::Value PlaceGroup::paired(const OnLine& on, std::size_t j) const {
  const Complex product = on.of(1, j) * on.of(2, j);
  const Three doubts = on.doubts(1.01 * std::abs(v_[j]), 2 * (std::abs(v_[j].real()) + std::abs(order_) + panels_.half));
  const PolarPsi psi(on.of(0, j), doubts.psi, less_one_);
  const double plus = std::abs(on.of(1, j)), minus = std::abs(on.of(2, j));
  const auto power = [&](double times) { return times > 0 ? std::exp(times * psi.log_size) : 1.0; };
  // How much a power of psi may change.
  const auto change = [&](double times) {
    if (!(times > 0)) return 0.0;
    return times * psi.growth < 1 ? power(times) * std::expm1(times * psi.growth) : std::exp(times * psi.log_most);
  };
  const double first = power(n_), others = power(n_ - 2), turn = (n_ - 2) * psi.angle;
  const double second = (n_ - 1) * others * (product.real() * std::cos(turn) - product.imag() * std::sin(turn));
  const double sizes = (n_ - 1) * plus * minus;
  const double changes = change(n_) + sizes * change(n_ - 2) +
                         (n_ - 1) * (others + change(n_ - 2)) * (doubts.plus * (minus + doubts.minus) + plus * doubts.minus);
  return {first * std::cos(n_ * psi.angle) + second, changes + 60 * unit_roundoff * (first + sizes * others)};
}

namespace {

/// A factor of F at an imaginary v: its imaginary part is small, and has an error of its own.
struct Factor {
  double real, imaginary, real_doubt, imaginary_doubt;
  [[nodiscard]] double size() const { return std::hypot(std::abs(real) + real_doubt, std::abs(imaginary) + imaginary_doubt); }
  [[nodiscard]] double turned() const { return std::abs(imaginary) + imaginary_doubt; }
};

/// The imaginary part of F, times an exponential, and a bound of its error: derivatives by the real parts of factors are imaginary parts of
/// products, which are at most the sum over the factors of the imaginary part of one times the moduli of the others.
std::pair<double, double> imaginary_part(const Factor& psi, const Factor& plus, const Factor& minus, double n, double log_factor) {
  const double log_size = std::log(std::hypot(psi.real, psi.imaginary)), angle = std::atan2(psi.imaginary, psi.real);
  const double real = plus.real * minus.real - plus.imaginary * minus.imaginary,
               imaginary = plus.real * minus.imaginary + plus.imaginary * minus.real;
  const double turn = (n - 2) * angle;
  const double value = std::exp(n * log_size + log_factor) * std::sin(n * angle) +
                       (n - 1) * std::exp((n - 2) * log_size + log_factor) * (imaginary * std::cos(turn) + real * std::sin(turn));
  // In units of the modulus of psi to the power n.
  const double size = psi.size(), log_most = std::log(size), unit = std::exp(n * log_most + log_factor);
  const double m = psi.turned() / size, p = plus.size() / size, q = minus.size() / size, mp = plus.turned() / size,
               mq = minus.turned() / size;
  const double dr = psi.real_doubt / size, dm = psi.imaginary_doubt / size;
  const double pairs = mp * q + p * mq, product = p * q;
  double error = n * ((n - 1) * m * dr + dm);
  error +=
      (n - 1) * ((n - 2) * (((n - 3) * m * product + pairs) * dr + product * dm) + ((n - 2) * m * q + mq) * plus.real_doubt / size +
                 q * plus.imaginary_doubt / size + ((n - 2) * m * p + mp) * minus.real_doubt / size + p * minus.imaginary_doubt / size);
  const double terms = n * m + (n - 1) * ((n - 2) * m * product + pairs);
  error += 40 * unit_roundoff * (1 + n * std::abs(log_most)) * (1 + n * m) * terms;
  return {value, bound_widened * unit * error};
}

}  // namespace

/// psi, psi+ and psi- at the orders of a panel, as factors of F.
struct PlaceGroup::OnOrders {
  std::vector<double> real, bent;
  Three of_real, of_bent;
  std::size_t count = 0;
  double one = 0;  // of psi, if its sum is less 1

  [[nodiscard]] Factor factor(std::size_t i, std::size_t j) const {
    const auto doubt = [&](const Three& three) { return i == 0 ? three.psi : i == 1 ? three.plus : three.minus; };
    const double main = real[2 * i * count + j] + bent[2 * i * count + j] + (i == 0 ? one : 0);
    return {main, bent[(2 * i + 1) * count + j], doubt(of_real) + 2 * unit_roundoff * std::abs(main), doubt(of_bent)};
  }
};

PlaceGroup::OnOrders PlaceGroup::on_orders(double l, const JumpPanel& panel) const {
  OnOrders on;
  const Sheet::Errors real_errors = panel.sheets[0].sum(l, on.real), bent_errors = panel.sheets[1].sum(l, on.bent);
  const double most = panel.orders.hi;
  on.of_bent = bent_errors.at(most, 2 * most) + beyond_sheet(l, panel.bend.u, panel.orders.lo);
  on.of_real = real_errors.at(most, 2 * most) + 2 * line_.before(l, 0, most) + on.of_bent;
  if (panel.mass) {
    const Mass mass = mass_of(*panel.mass, l);
    on.one = 1 - mass.value.real();
    on.of_real.psi += mass.error;
  }
  on.count = panel.order.size();
  return on;
}

/// The integral of Im F over the orders of a panel.
PlaceGroup::Value PlaceGroup::of_jump(double l, const JumpPanel& panel) const {
  const OnOrders on = on_orders(l, panel);
  numeric::CompensatedSum sum;
  double error = 0;
  for (std::size_t j = 0; j < panel.order.size(); ++j) {
    const auto [value, doubt] = imaginary_part(on.factor(0, j), on.factor(1, j), on.factor(2, j), n_, 0);
    sum.add(panel.weight[j] * value);
    error += panel.weight[j] * (doubt + unit_roundoff * 8 * std::abs(value));
  }
  const Interval found = sum.enclosure();
  return {middle_of(found), bound_widened * (error + 0.5 * (found.hi - found.lo))};
}

/// Im psi^n, or Im psi^n/order^2, with the weights of the rule.
std::vector<PlaceGroup::Term> PlaceGroup::terms_of_jump(const JumpPanel& panel) const {
  const OnOrders on = on_orders(ends_[0].l, panel);
  std::vector<Term> terms;
  for (std::size_t j = 0; j < panel.order.size(); ++j) {
    const Factor none{0, 0, 0, 0}, psi = on.factor(0, j);
    const double log_size = n_ * std::log(psi.size());
    const auto [value, doubt] = imaginary_part(psi, none, none, n_, -log_size);
    const double order = panel.order[j], weight = integral_.pole ? panel.weight[j] / (order * order) : panel.weight[j];
    // The exponent has roundings of its own.
    const double rounding = unit_roundoff * (8 + 4 * std::abs(log_size)) * std::abs(value);
    terms.push_back({0, order, log_size, 0, weight * value, weight * (doubt + rounding)});
  }
  return terms;
}

/// The integrals of Im F over all orders.
PlaceGroup::Value PlaceGroup::of_jumps(Place place) const {
  Value all{0, bound_widened * std::exp(between(before_jump_, place))};
  for (const JumpPanel& panel : jump_) {
    all.error += bound_widened * std::exp(between(panel.log_error, place));
    if (!integral_.paired) continue;
    const Value one = of_jump(place.l, panel);
    all = {all.value + one.value, all.error + one.error + 2 * unit_roundoff * std::abs(all.value)};
  }
  if (integral_.paired) return all;
  const double drift = n_ * summand_.constant() * place.scale;
  numeric::CompensatedSum sum;
  double error = 0;
  for (const Term& term : jump_terms_) {
    const double down = drift * term.order, size = std::exp(term.log_size - down);
    sum.add(size * term.value);
    error += size * (term.error + unit_roundoff * (8 + 12 * down) * std::abs(term.value));
  }
  const Interval found = sum.enclosure();
  return {middle_of(found), all.error + bound_widened * (error + 0.5 * (found.hi - found.lo))};
}

PlaceGroup::Value PlaceGroup::at(Place place) const {
  Value all = of_line(place);
  if (!is_bounded()) {
    const Value jumps = of_jumps(place);
    all = {all.value + jumps.value, all.error + jumps.error + 2 * unit_roundoff * std::abs(all.value)};
  }
  const double value = factor(place) * all.value;
  return {value, bound_widened * (factor(place) * all.error + 12 * unit_roundoff * std::abs(value))};
}

/// With l + ib for the place, |e^(y sinh w)| on the real line of x is that of the order y cos(b/2); beyond the bend the path of x rises by
/// b/2 more. [allocation-replaced-law]
double PlaceGroup::log_most(double height, double slope, double from) const {
  const double turn = (pi + height) / 2, raised = turn * turn / (2 * s_ * s_);
  double most = -infinity;
  for (const JumpPanel& panel : jump_) {
    double largest = -infinity;
    for (const double order : {panel.orders.lo * std::cos(height / 2), panel.orders.hi}) {
      const RealLine::Bulk bulk = line_.bulk(places(), order, panel.bend);
      const Bounds bounds = at_anchors([&](Place place) {
        const double u = panel.bend.u, x = (u + place.l / 2) / s_;
        const Three rise = exponentials(order * summand_.of(u) + raised + std::log(0.4 * turn / s_) - x * x / 2, u, -u);
        const double tail = std::exp(raised + log_upper_tail(x));
        const Three beyond{tail, std::exp(raised + s_ * s_ / 2 - place.l / 2 + log_upper_tail(x - s_)), tail * std::exp(-u)};
        const Three bent = bound_widened * (rise + beyond);
        return log_product_difference(line_.at(place.l, bulk) + bent, bent) + slope * (place.l - from);
      });
      largest = std::max(largest, *std::max_element(bounds.begin(), bounds.end()));
    }
    most = log_sum(most, largest + std::log(panel.orders.width()));
  }
  const double length = (ends_[1].l - ends_[0].l) / static_cast<double>(intervals_), slack = n_ * length * length / (32 * s_ * s_);
  return most + slack + std::log(factor(ends_[0])) + 1e-6;
}

}  // namespace

namespace {

/// The expectation of the positive part of the sum of the summands at a place, or of its opposite.
Interval excess_at(Integral integral, const PlaceSummand& summand, double s, double n, double place) {
  const PlaceGroup group(integral, summand, s, n, {place}, {place});
  Work::count(point_price * group.points());
  if (!group.known()) return {0, infinity};
  const auto [value, error] = group.at({place});
  if (!(error < infinity && std::abs(value) < infinity)) return {0, infinity};
  const Interval found = Interval{value - error, value + error} + Interval{-underflow, underflow};
  return found.hi > 0 ? clamp(found, 0, infinity) : Interval{0, infinity};
}

}  // namespace

Interval replaced_epoch_delta(Interval mu, double steps, double epsilon) {
  const auto at = [&](double s) {
    return exp(Interval::exactly(epsilon) / 2.0 - square(Interval::exactly(s)) / 2.0) *
           excess_at(excess_integral, PlaceSummand{true}, s, steps, epsilon);
  };
  const Interval above = at(mu.hi), below = mu.lo == mu.hi ? above : at(mu.lo);
  return Interval{std::min(below.lo, above.hi), above.hi} * (Interval::exactly(2) / Interval::exactly(steps));
}

Interval removed_epoch_delta(Interval mu, double steps, double epsilon) {
  // A smaller place is a smaller epsilon, at which delta is larger.
  const auto place = [&](double s) { return 2.0 * Interval::exactly(epsilon) + square(Interval::exactly(s)); };
  const Interval above = excess_at(excess_integral, PlaceSummand{false}, mu.hi, steps, place(mu.hi).lo),
                 below = excess_at(excess_integral, PlaceSummand{false}, mu.lo, steps, place(mu.lo).hi);
  const Interval factor = exp(Interval::exactly(epsilon)) * (Interval::exactly(2) / Interval::exactly(steps));
  return factor * Interval{std::min(below.lo, above.hi), above.hi};
}

Interval added_epoch_delta(Interval mu, double steps, double epsilon) {
  // The place is that of -epsilon: a larger place is a smaller epsilon, at which delta is larger.
  const auto place = [&](double s) { return square(Interval::exactly(s)) - 2.0 * Interval::exactly(epsilon); };
  const Interval above = excess_at(shortfall_integral, PlaceSummand{false}, mu.hi, steps, place(mu.hi).hi),
                 below = excess_at(shortfall_integral, PlaceSummand{false}, mu.lo, steps, place(mu.lo).lo);
  return Interval{std::min(below.lo, above.hi), above.hi} * (Interval::exactly(2) / Interval::exactly(steps));
}

ReplacedLaw::ReplacedLaw(double s, double steps) : s_(s), steps_(steps), step_(short_step(replaced_step * 2 * s / std::sqrt(steps))) {}

void ReplacedLaw::reach(std::size_t places) {
  const std::size_t wanted = std::min(places, most_replaced_places);
  for (std::size_t i = 0; i < work_.size() && (i == 0 || ends_of_groups_[i - 1] < wanted); ++i)
    Work::count(work_[i]);  // as if this question had made it
  while (value_.size() < wanted && !ended_) {
    const std::uint64_t begin = Work::now();
    make_group();
    work_.push_back(Work::since(begin));
    ends_of_groups_.push_back(value_.size());
  }
}

namespace {

/// An analytic function on an interval, from its values at Chebyshev's places, the zeros of a polynomial of this degree.
/// [allocation-replaced-law]
class ChebyshevFit {
 public:
  static constexpr std::size_t degree = 26;
  static constexpr double sum_of_axes = 4;     // of the ellipse of the bound, relative to the half length
  static constexpr double lebesgue_bound = 4;  // 1 + (2/pi) log(degree), or more
  ChebyshevFit(double from, double to) : middle_((from + to) / 2), half_((to - from) / 2) {}

  [[nodiscard]] double place(std::size_t k) const { return middle_ + half_ * node(k); }
  [[nodiscard]] double beyond() const { return half_ * ((sum_of_axes + 1 / sum_of_axes) / 2 - 1); }
  [[nodiscard]] double height() const { return half_ * (sum_of_axes - 1 / sum_of_axes) / 2; }
  std::array<double, degree> value{};

  [[nodiscard]] double at(double place) const {
    const double x = (place - middle_) / half_;
    double sum = 0, weights = 0;
    for (std::size_t k = 0; k < degree; ++k) {
      const double distance = x - node(k);
      if (distance == 0) return value[k];
      const double weight = (k % 2 == 0 ? 1 : -1) * std::sin(angle(k)) / distance;
      sum += weight * value[k], weights += weight;
    }
    return sum / weights;
  }
  /// Of the interpolation, if the function is at most this on the ellipse; of the rounding of places and of the sums.
  [[nodiscard]] double error(double most) const {
    const double largest =
        std::abs(*std::max_element(value.begin(), value.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
    const double of_places = 32 * unit_roundoff * (1 + (std::abs(middle_) + half_) / half_) * most;
    return 4 * most * std::pow(sum_of_axes, 1 - static_cast<double>(degree)) / (sum_of_axes - 1) + lebesgue_bound * of_places +
           (1000 * lebesgue_bound) * unit_roundoff * largest;
  }

 private:
  [[nodiscard]] static double angle(std::size_t k) { return (static_cast<double>(k) + 0.5) * pi / static_cast<double>(degree); }
  [[nodiscard]] static double node(std::size_t k) { return std::cos(angle(k)); }
  double middle_, half_;
};

}  // namespace

/// Places where one large step is what matters, from a few of them. Whether there are any.
bool ReplacedLaw::add_range(double length) {
  const auto count = static_cast<std::size_t>(length / step_);
  if (count < 4 * ChebyshevFit::degree) return false;
  const std::size_t from = value_.size();
  const double first = step_ * static_cast<double>(from), last = first + step_ * static_cast<double>(count - 1),
               middle = (first + last) / 2;
  ChebyshevFit fit(first, last);
  const double low = first - fit.beyond(), high = last + fit.beyond();
  // Bounds between anchors exceed the chord by n d^2/(32 s^2).
  const auto intervals = static_cast<std::size_t>(std::ceil((high - low) * std::sqrt(steps_ / 16) / s_)) + 1;
  if (!(low > 0)) return false;
  const PlaceGroup group(replaced_density, PlaceSummand{}, s_, steps_, {low}, {high}, intervals);
  points_ += static_cast<double>(ChebyshevFit::degree) * group.points();
  if (!group.known() || group.needs_line()) return false;
  // Times e^(slope (l - middle)) the values are of one size.
  const double slope = std::log(group.at({first}).value / group.at({last}).value) / (last - first);
  if (!(std::abs(slope) < 1e3)) return false;
  const auto tilt = [&](double l) { return std::exp(slope * (l - middle)); };
  double doubt = 0;
  for (std::size_t k = 0; k < ChebyshevFit::degree; ++k) {
    const auto [value, error] = group.at({fit.place(k)});
    fit.value[k] = value * tilt(fit.place(k));
    doubt = std::max(doubt, error * tilt(fit.place(k)));
  }
  doubt = ChebyshevFit::lebesgue_bound * doubt + fit.error(std::exp(group.log_most(fit.height(), slope, middle)));
  std::vector<double> values, errors;
  for (std::size_t i = from; i < from + count; ++i) {
    const double l = step_ * static_cast<double>(i), value = fit.at(l) / tilt(l);
    const double error = bound_widened * doubt / tilt(l) + group.left_out({l}) + 1e-12 * std::abs(value);
    if (!(value > 0 && error <= largest_range_share * value)) return false;
    values.push_back(value), errors.push_back(error);
  }
  value_.insert(value_.end(), values.begin(), values.end());
  error_.insert(error_.end(), errors.begin(), errors.end());
  return true;
}

void ReplacedLaw::make_group() {
  for (const double length : {1.0, 0.5})
    if (far_ && range_fails_ < 3 && add_range(length)) {
      range_fails_ = 0;
      return;
    }
  if (far_) ++range_fails_;
  // Where one large step is what matters, more places may share their points: the path hardly changes from one to the next.
  constexpr double longest = 0.6;
  std::size_t parts = 1;
  while (far_ && parts < most_parts_ && 2 * static_cast<double>(parts * group_places) * step_ <= longest) parts *= 2;
  const std::size_t from = value_.size(), places = parts * group_places;
  const PlaceGroup group(replaced_density, PlaceSummand{}, s_, steps_, {step_ * static_cast<double>(from)},
                         {step_ * static_cast<double>(from + places - 1)}, parts);
  points_ += static_cast<double>(places) * group.points();
  far_ = !group.needs_line();
  ended_ = points_ > most_replaced_points(s_);
  for (std::size_t i = from; i < from + places && !ended_; ++i) {
    const auto [value, error] = group.known() ? group.at({step_ * static_cast<double>(i)}) : PlaceGroup::Value{};
    if (!(value > 0 && error <= largest_share * value)) {
      ended_ = parts == 1;
      most_parts_ = 1;  // once more, with shorter groups
      return;
    }
    value_.push_back(value);
    error_.push_back(error);
  }
}

namespace {

/// About where log((Y_1 + ... + Y_n)/n) lies if no Y is so large that one of n is seldom larger.
struct Bulk {
  Bulk(double s, double n) {
    double z = 0;  // at which P is about 2/n
    while (std::erfc(z / std::numbers::sqrt2) * n > 4) z += 0.01;
    const auto normal = [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); };
    const double mean = normal(z - s);
    centre = std::log(mean);
    deviation = std::min(1.0, std::sqrt(std::max(std::exp(s * s) * normal(z - 2 * s) - mean * mean, s * s * mean * mean / 4) / n) / mean);
  }
  double centre = 0, deviation = 0;
};

/// Values of the density of log((Y_1 + ... + Y_n)/n) from the bulk outwards.
class MeanWalk {
 public:
  MeanWalk(double s, double n, double step, const Bulk& bulk, bool right)
      : s_(s), n_(n), step_(step), integral_(right ? density_right : density_left), sign_(right ? 1 : -1) {
    length_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(usual_reach * bulk.deviation / step));
  }

  /// Appends the values at places from + sign * i, i < count, as far as they are known.
  void fill(std::int64_t from, std::int64_t count, std::vector<double>& value, std::vector<double>& error);

 private:
  static constexpr double usual_reach = 4;    // of a group, in deviations of the mean: a line is then as good at its ends as in its middle
  static constexpr double good_share = 1e-9;  // of an error in its value
  static constexpr double good_share_per_step = 1e-13;  // roundings of one step count as often
  static constexpr int most_failures = 3;
  static constexpr double most_points = 4e7;  // of all groups: about two seconds
  static constexpr double longest = 4;        // of a group: where one large step is what matters
  static constexpr std::size_t anchors = 16;

  [[nodiscard]] std::int64_t add_group(std::int64_t from, std::int64_t count, std::vector<double>& value, std::vector<double>& error);

  double s_, n_, step_;
  Integral integral_;
  std::int64_t sign_, length_;
  bool far_ = false;
  double points_ = 0;
};

/// Appends the first values of a group as far as they are good, and returns how many.
std::int64_t MeanWalk::add_group(std::int64_t from, std::int64_t count, std::vector<double>& value, std::vector<double>& error) {
  const double first = step_ * static_cast<double>(from), last = step_ * static_cast<double>(from + sign_ * (count - 1));
  // w = s x - l/2 has the mean -s^2/2 - middle: e^w is Y e^-middle. The rounding of l moves the middle, whose digits are kept.
  const DoubleDouble square = numeric::two_product(s_, s_);
  const double l = square.high + (first + last);
  const DoubleDouble middle = (DoubleDouble{l, 0} + -square) / 2.0;
  const auto place = [&](double x) {
    const DoubleDouble beyond = -middle + x;
    return Place{l, std::exp(beyond.high) * (1 + beyond.low)};
  };
  const PlaceGroup group(integral_, PlaceSummand{false}, s_, n_, place(std::min(first, last)), place(std::max(first, last)), anchors);
  far_ = !group.needs_line();
  points_ += group.points();
  const double most = count > 1 ? good_share + n_ * good_share_per_step : largest_share;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto [here, doubt] = group.known() ? group.at(place(step_ * static_cast<double>(from + sign_ * i))) : PlaceGroup::Value{};
    if (!(here > 0 && doubt + underflow <= most * here)) return i;
    value.push_back(here);
    error.push_back(doubt + underflow);
  }
  return count;
}

void MeanWalk::fill(std::int64_t from, std::int64_t count, std::vector<double>& value, std::vector<double>& error) {
  const auto most = static_cast<std::int64_t>(longest / step_);
  for (std::int64_t done = 0, failures = 0; done < count;) {
    const std::int64_t wanted = std::min(length_, count - done), found = add_group(from + sign_ * done, wanted, value, error);
    done += found;
    if (found == wanted)
      length_ = std::max(length_, std::min(most, far_ ? 2 * length_ : length_ + length_ / 4));
    else
      length_ = std::max(found, (wanted + 1) / 2);
    failures = found > 0 ? 0 : failures + 1;
    if (failures > most_failures || points_ > most_points || (found == 0 && wanted == 1)) return;
  }
}

}  // namespace

MeanDensity mean_density(double s, double steps, const LawRange& range) {
  const Bulk bulk(s, steps);
  const auto index = [&](double place) { return static_cast<std::int64_t>(std::floor(place / range.step)); };
  const std::int64_t first = index(range.low), last = index(range.high) + 1, centre = std::clamp(index(bulk.centre), first, last);
  std::vector<double> left, left_error;
  MeanWalk(s, steps, range.step, bulk, false).fill(centre, centre - first + 1, left, left_error);
  MeanDensity density{range.step,
                      centre + 1 - static_cast<std::int64_t>(left.size()),
                      {left.rbegin(), left.rend()},
                      {left_error.rbegin(), left_error.rend()}};
  if (density.first == first) MeanWalk(s, steps, range.step, bulk, true).fill(centre + 1, last - centre, density.value, density.error);
  return density;
}

}  // namespace tradeoff::detail::allocation
