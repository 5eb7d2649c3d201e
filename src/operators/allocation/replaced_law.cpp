// SPDX-License-Identifier: Apache-2.0
#include "operators/allocation/replaced_law.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <numbers>

#include "loss/work.h"
#include "numeric/arithmetic.h"
#include "numeric/gauss_legendre.h"
#include "numeric/lanes.h"
#include "numeric/sum.h"
#include "operators/allocation/laws.h"
#include "transform/nodes.h"

// Let w = s x - l/2 with x standard normal, psi(v) = E e^(iv sinh w), psi+-(v) = E e^(+-w + iv sinh w). The density times e^(l/2) is
// e^(-s^2/2)/(2 pi) times the integral over v > 0 of Re F, F = psi^n + (n - 1) psi^(n-2) psi+ psi-. [allocation-replaced-law]
namespace tradeoff::detail::allocation {
namespace {

using std::numbers::pi;

constexpr std::size_t group_places = 24;  // that share the oscillations
constexpr double most_replaced_places = 4000;
constexpr double most_replaced_points = 2.5e8;  // points of all places: about three seconds
constexpr double largest_share = 0.125;         // of an error in its value
constexpr double more_share = 0.3;              // of the places whose errors are small: how many more are asked for
constexpr double line_exponent = 48;            // the rule in w errs by e^-48
constexpr double line_reach = 11;               // deviations
constexpr double cell_length_of_bounds = 0.2, bounds_reach = 14;
constexpr double large_oscillation = 0.4;
constexpr double small_part = 1e-16;           // of the largest density, for every bound of the rule in v
constexpr double few_steps_of_replaced = 300;  // with more, a bound of psi that falls with v is of no use near the axis
constexpr double bound_widened = 1.001;        // covers the rounding of bounds
constexpr std::array<double, 8> ellipses{1.2, 1.35, 1.5, 1.8, 2.2, 3.0, 4.2, 6.0};  // sums of half axes, relative to the panel
constexpr double point_price = 4e-3;  // microseconds of a point of the matrix, for all places of a group

double upper_tail_of(double x) { return 0.5 * std::erfc(x / std::numbers::sqrt2); }

/// n, s and l of one place, and the cells of x in which psi is bounded.
class PlaceBounds {
 public:
  PlaceBounds(double s, double l, bool mirrored);

  /// Bounds of |psi|, |psi+|, |psi-|.
  struct Moduli {
    double log_psi = 0, plus = 0, minus = 0;
  };
  /// On Im w = angle, where |e^(iv sinh w)| <= e^(-rate cosh w); all three bounds fall like e^-rate.
  [[nodiscard]] Moduli on_line(double rate, double angle) const;
  /// At all complex v with -height <= Im v <= 0, at an argument of at most `turn` (if it is below pi/2).
  [[nodiscard]] Moduli near_axis(double height, double turn) const;

 private:
  double s_, l_;
  std::vector<double> x_, mass_, rise_, sinh_, growth_;  // ends of cells; mass of the cell before; E(sinh w; below); e^w
};

PlaceBounds::PlaceBounds(double s, double l, bool mirrored) : s_(s), l_(mirrored ? -l : l) {
  const double half = s * s / 2, end = bounds_reach + s;
  const auto count = static_cast<std::size_t>(std::ceil(2 * end * std::max(1.0, s) / cell_length_of_bounds));
  const double up = 0.5 * std::exp(half - l_ / 2), down = 0.5 * std::exp(half + l_ / 2);
  for (std::size_t i = 0; i <= count; ++i) {
    const double x = -end + 2 * end * static_cast<double>(i) / static_cast<double>(count), w = s * x - l_ / 2;
    mass_.push_back(i == 0          ? upper_tail_of(-x)
                    : x_.back() < 0 ? upper_tail_of(-x) - upper_tail_of(-x_.back())
                                    : upper_tail_of(x_.back()) - upper_tail_of(x));
    x_.push_back(x);
    rise_.push_back(up * upper_tail_of(s - x) - down * upper_tail_of(-s - x));
    sinh_.push_back(std::sinh(w));
    growth_.push_back(std::exp(w));
  }
}

PlaceBounds::Moduli PlaceBounds::on_line(double rate, double angle) const {
  const double scale = angle * angle / (2 * s_ * s_);
  double psi = 4 * upper_tail_of(bounds_reach), plus = 0, minus = 0;
  double here = 0, before = 0;
  for (std::size_t i = 0; i < x_.size(); ++i) {
    const double cosh = 0.5 * (growth_[i] + 1 / growth_[i]);
    here = std::exp(-rate * (cosh - 1));
    if (i > 0) {
      const double fall = sinh_[i - 1] < 0 && sinh_[i] > 0 ? 1 : std::max(here, before);
      psi += mass_[i] * fall;
      plus += mass_[i] * fall * growth_[i];
      minus += mass_[i] * fall / growth_[i - 1];
    }
    before = here;
  }
  // Beyond the cells, where cosh w >= 1.
  const double rest = 4 * upper_tail_of(bounds_reach) * std::exp(s_ * s_ / 2);
  const double size = std::exp(scale - rate);
  return {std::log(psi) + scale - rate, size * (plus + rest * std::exp(-l_ / 2)), size * (minus + rest * std::exp(l_ / 2))};
}

// The path is the real line up to an end of a cell, from there up to the argument of v, and then parallel to the real line; or all x
// beyond the cells are left out.
PlaceBounds::Moduli PlaceBounds::near_axis(double height, double turn) const {
  const double half = s_ * s_ / 2, rest = 4 * upper_tail_of(bounds_reach) * std::exp(half + std::abs(l_) / 2);
  double psi = infinity, plus = infinity, minus = infinity;
  double sum = (1 + height) * rest, sum_plus = rest, sum_minus = rest, before = 0;
  const double turned = turn < pi / 2 ? turn * turn / (2 * s_ * s_) : infinity;
  for (std::size_t i = 0; i < x_.size(); ++i) {
    const double y = height * sinh_[i];
    if (y > 600) break;
    const double power = std::exp(y), here = std::abs(y) < 1e-3 ? 0.5 * y * y * (1 + std::abs(y)) : power - 1 - y;
    if (i > 0) {
      sum += mass_[i] * std::max(before, here);
      const double most = mass_[i] * std::max(1.0, power);
      sum_plus += most * growth_[i];
      sum_minus += most / growth_[i - 1];
    }
    before = here;
    double bent = 0, bent_plus = 0, bent_minus = 0;
    if (i + 1 < x_.size()) {
      const double x = x_[i], exponent = turned - x * x / 2 + 0.5 * height * growth_[i];
      if (!(x > 0 && exponent < 300)) continue;
      const double rising = turn / s_ * 0.4 * std::exp(exponent), across = std::exp(turned) * upper_tail_of(x);
      bent = rising + across;
      bent_plus = rising * growth_[i] + std::exp(turned + half - l_ / 2) * upper_tail_of(x - s_);
      bent_minus = bent / growth_[i];
    }
    psi = std::min(psi, std::max(1.0, 1 + height * rise_[i] + sum) + bent);
    plus = std::min(plus, sum_plus + bent_plus);
    minus = std::min(minus, sum_minus + bent_minus);
  }
  return {std::log(psi), plus, minus};
}

/// psi^n + (n - 1) psi^(n-2) psi+ psi-, of bounds.
double bound_of_integrand(const PlaceBounds::Moduli& at, double n) {
  const double exponent = n * at.log_psi, less = (n - 2) * at.log_psi;
  if (!(exponent < 300 && less < 300)) return infinity;
  return bound_widened * (std::exp(exponent) + (n - 1) * std::exp(less) * at.plus * at.minus);
}

struct VPanel {
  double centre, half, sum;  // the sum of the half axes of the ellipse
};

/// Bounds for one place in both orientations.
class TwoSides {
 public:
  TwoSides(double s, double n, double l) : n_(n), sides_{PlaceBounds(s, l, false), PlaceBounds(s, l, true)} {}

  /// Of the integral beyond v.
  [[nodiscard]] double beyond(double v, double angle) const {
    return bound_of_integrand(sides_[0].on_line(v * std::sin(angle), angle), n_) / (n_ * std::sin(angle));
  }
  /// Of the error of the rule on a panel.
  [[nodiscard]] double error(const VPanel& panel) const {
    const double wide = panel.half * (panel.sum + 1 / panel.sum) / 2, height = panel.half * (panel.sum - 1 / panel.sum) / 2;
    const double left = panel.centre - wide, turn = left > 0 ? std::atan2(height, left) : pi;
    PlaceBounds::Moduli most;
    for (const PlaceBounds& side : sides_) {
      // Where Im v has the other sign, w and -w change places.
      const PlaceBounds::Moduli one = side.near_axis(height, turn);
      const bool swapped = &side == &sides_[1];
      most.log_psi = std::max(most.log_psi, one.log_psi);
      most.plus = std::max(most.plus, swapped ? one.minus : one.plus);
      most.minus = std::max(most.minus, swapped ? one.plus : one.minus);
    }
    double bound = bound_of_integrand(most, n_);
    if (left > 0 && n_ < few_steps_of_replaced)
      for (const double angle : {pi / 2, (turn + pi / 2) / 2})
        bound = std::min(bound, bound_of_integrand(sides_[0].on_line(left * std::sin(angle - turn), angle), n_));
    return 4.3 * panel.half * bound * std::exp(-64 * std::log(panel.sum)) / (1 - 1 / (panel.sum * panel.sum));
  }

 private:
  double n_;
  std::array<PlaceBounds, 2> sides_;
};

/// Sums over w, for all v.
struct Sums {
  explicit Sums(std::size_t count) : values(9 * count) {}
  [[nodiscard]] const double* row(std::size_t i) const { return values.data() + i * (values.size() / 9); }
  std::vector<double> values;  // psi, psi+ and psi-, real and imaginary parts; then the errors of all three
};

/// The weight of a point w in psi, psi+ and psi-, and those of the errors.
struct PointWeights {
  std::array<double, 2> plain, plus, minus;
  std::array<double, 3> doubts;
};

/// Adds one point w to the sums. `oscillations` are the rows of the point: real and imaginary parts and errors, of both kinds.
TRADEOFF_CLONES void add_point(const std::array<const double*, 6>& oscillations, const PointWeights& weights, std::size_t count,
                               double* sums) {
  using numeric::Lanes;
  constexpr std::size_t lanes = numeric::lane_count;
  const auto& [m_real, m_imaginary, e_real, e_imaginary, m_error, e_error] = oscillations;
  for (std::size_t j = 0; j < count; j += lanes) {
    Lanes a, b, c, d, e, f;
    std::memcpy(&a, m_real + j, sizeof a), std::memcpy(&b, m_imaginary + j, sizeof b), std::memcpy(&c, e_real + j, sizeof c);
    std::memcpy(&d, e_imaginary + j, sizeof d), std::memcpy(&e, m_error + j, sizeof e), std::memcpy(&f, e_error + j, sizeof f);
    const std::array<Lanes, 9> terms{weights.plain[0] * a - weights.plain[1] * b,
                                     weights.plain[0] * b + weights.plain[1] * a,
                                     weights.plus[0] * c - weights.plus[1] * d,
                                     weights.plus[0] * d + weights.plus[1] * c,
                                     weights.minus[0] * c - weights.minus[1] * d,
                                     weights.minus[0] * d + weights.minus[1] * c,
                                     weights.doubts[0] * e,
                                     weights.doubts[1] * f,
                                     weights.doubts[2] * f};
    for (std::size_t i = 0; i < terms.size(); ++i) {
      Lanes sum;
      std::memcpy(&sum, sums + i * count + j, sizeof sum);
      sum += terms[i];
      std::memcpy(sums + i * count + j, &sum, sizeof sum);
    }
  }
}

/// Places near each other, which share the points v and w and the oscillations e^(iv sinh w) at them.
class PlaceGroup {
 public:
  PlaceGroup(double s, double n, double first, double last);
  [[nodiscard]] bool known() const { return !v_.empty(); }
  /// What a place costs.
  [[nodiscard]] double points() const { return static_cast<double>(v_.size() * w_.size()); }
  struct Value {
    double value = 0, error = infinity;
  };
  [[nodiscard]] Value at(double l) const;

 private:
  [[nodiscard]] bool place_v(const TwoSides& near, const TwoSides& far);
  void place_w(double first, double last);
  void oscillate();
  /// The roundings of a sum over w, by blocks of 16.
  [[nodiscard]] double sum_units() const { return 18 + static_cast<double>(w_.size()) / 16; }
  [[nodiscard]] double allowed() const { return small_part * 2 * pi * std::exp(s_ * s_ / 2) * std::sqrt(n_) / (5 * s_); }

  double s_, n_;
  double angle_ = 0, h_ = 0;  // of the line of w
  double end_ = 0, end_angle_ = 0;
  std::vector<VPanel> panels_;
  double before_ = 0;  // v between 0 and here is left out
  std::vector<double> v_, v_weight_, v_doubt_, w_;
  std::vector<bool> plain_;  // v is so large that most z are
  // For every w, all v: e^z - 1 - z (or e^z where `plain_`) and e^z, z = iv sinh(w + i angle); bounds of their errors, in units of
  // roundoff.
  std::vector<double> m_real_, m_imaginary_, e_real_, e_imaginary_, m_error_, e_error_;
};

PlaceGroup::PlaceGroup(double s, double n, double first, double last) : s_(s), n_(n) {
  if (!place_v(TwoSides(s, n, first), TwoSides(s, n, last))) {
    v_.clear();
    return;
  }
  place_w(first, last);
  for (const double v : v_) plain_.push_back(v * std::hypot(std::sin(angle_), std::sinh(first / 2)) > large_oscillation);
  oscillate();
}

/// Chosen for the ends of the group; every place has its own bounds.
bool PlaceGroup::place_v(const TwoSides& near, const TwoSides& far) {
  constexpr double most_v_panels = 60;
  const auto beyond = [&](double v, double angle) { return std::max(near.beyond(v, angle), far.beyond(v, angle)); };
  end_ = 0.5 / (std::sqrt(n_) * std::sinh(s_) * std::exp(s_ * s_));
  double best = infinity;
  for (; !(best <= 0.2 * allowed()); end_ *= 1.3) {
    if (!(end_ < 1e9)) return false;
    best = infinity;
    for (double angle = pi / 2; angle > 1e-5; angle /= 1.5)
      if (const double here = beyond(end_, angle); here < best) best = here, end_angle_ = angle;
  }
  end_ = short_step(end_);  // few bits: the panels meet
  before_ = 0.1 * allowed() / (1 + n_ * std::exp(s_ * s_));
  for (double to = end_; to > before_;) {
    double share = 1, error = infinity;
    VPanel found{};
    while (!(error <= 0.02 * allowed())) {
      const double from = share == 1 ? 0 : short_step(to * (1 - share));
      error = infinity;
      for (const double sum : ellipses) {
        const VPanel panel{(from + to) / 2, (to - from) / 2, sum};
        if (const double here = std::max(near.error(panel), far.error(panel)); here < error) error = here, found = panel;
      }
      share *= share > 0.95 ? 0.97 : 0.85;
      if (!(share > 1e-6)) return false;
    }
    panels_.push_back(found);
    if (static_cast<double>(panels_.size()) > most_v_panels) return false;
    to = found.centre - found.half;
    if (!(to > 1e-14 * found.centre)) to = 0, before_ = 0;
  }
  if (before_ > 0) before_ = std::min(before_, panels_.back().centre - panels_.back().half);
  for (const VPanel& panel : panels_)
    for_each_abscissa([&](double node, double weight) {
      v_.push_back(panel.centre + panel.half * node);
      v_doubt_.push_back(2.2 * panel.half);  // of the abscissa and its product, in units of roundoff
      v_weight_.push_back(panel.half * weight);
    });
  return true;
}

/// The line Im w = angle, along which |e^(iv sinh w)| <= 1 up to twice the angle and down to 0.
void PlaceGroup::place_w(double first, double last) {
  angle_ = std::min(pi / 2, 1.2 * s_) * (1 - 1e-9);
  h_ = short_step(2 * pi * angle_ / (line_exponent + 2 * angle_ * angle_ / (s_ * s_)));
  const double reach = s_ * (line_reach + s_);
  for (double k = std::floor((-last / 2 - reach) / h_); k * h_ <= -first / 2 + reach + h_; ++k) w_.push_back(k * h_);
}

void PlaceGroup::oscillate() {
  const std::size_t count = v_.size(), all = count * w_.size();
  Work::count(point_price * static_cast<double>(all));
  for (std::vector<double>* one : {&m_real_, &m_imaginary_, &e_real_, &e_imaginary_, &m_error_, &e_error_}) one->resize(all);
  const double sine_of_angle = std::sin(angle_), cosine_of_angle = std::cos(angle_), sums = sum_units();
  for (std::size_t k = 0; k < w_.size(); ++k) {
    const double falls = std::cosh(w_[k]) * sine_of_angle, turns = std::sinh(w_[k]) * cosine_of_angle, size = std::hypot(falls, turns);
    for (std::size_t j = 0; j < count; ++j) {
      const std::size_t at = k * count + j;
      const double p = -v_[j] * falls, q = v_[j] * turns, modulus = v_[j] * size, doubt = (8 * v_[j] + v_doubt_[j]) * size;
      const double shrunk = std::exp(p);
      const double real = shrunk * std::cos(q), imaginary = shrunk * std::sin(q);
      e_real_[at] = real, e_imaginary_[at] = imaginary;
      e_error_[at] = shrunk * (doubt + 5 + sums);
      if (plain_[j]) {
        m_real_[at] = real, m_imaginary_[at] = imaginary, m_error_[at] = e_error_[at];
      } else if (modulus < 0.5) {  // z^2/2 (1 + z/3 (1 + z/4 (...)))
        double x = 1, y = 0;
        for (int i = 15; i > 2; --i) {
          const double next = 1 + (p * x - q * y) / i;
          y = (p * y + q * x) / i, x = next;
        }
        const double square_real = (p - q) * (p + q) / 2, square_imaginary = p * q;
        m_real_[at] = square_real * x - square_imaginary * y, m_imaginary_[at] = square_real * y + square_imaginary * x;
        m_error_[at] = modulus * doubt + modulus * modulus * (8 + 0.6 * sums);
      } else {
        m_real_[at] = (real - 1) - p, m_imaginary_[at] = imaginary - q;
        m_error_[at] = (1 + shrunk) * doubt + (1 + shrunk + modulus) * (8 + sums);
      }
    }
  }
}

PlaceGroup::Value PlaceGroup::at(double l) const {
  const std::size_t count = v_.size();
  const TwoSides bounds(s_, n_, l);
  Sums total(count), part(count);
  const double scale = h_ / (s_ * 2.5066282746310002), raised = angle_ * angle_ / (2 * s_ * s_), sums = sum_units();
  const double cosine_of_angle = std::cos(angle_), sine_of_angle = std::sin(angle_);
  for (std::size_t k = 0, taken = 0; k < w_.size(); ++k) {
    const double x = (w_[k] + l / 2) / s_;
    if (std::abs(x) <= line_reach + s_ + h_ / s_) {
      const double phase = -angle_ * x / s_, size = scale * std::exp(raised - x * x / 2), up = std::exp(w_[k]);
      const double a = size * std::cos(phase), b = size * std::sin(phase);
      const double pa = up * (a * cosine_of_angle - b * sine_of_angle), pb = up * (a * sine_of_angle + b * cosine_of_angle);
      const double na = (a * cosine_of_angle + b * sine_of_angle) / up, nb = (b * cosine_of_angle - a * sine_of_angle) / up;
      // Errors of the weight, in units of roundoff; those of the oscillations contain `sums` times their modulus.
      const double doubt = size * (1 + (16 + 4 * x * x + 6 * std::abs(phase) + 4 * raised) / sums);
      const std::size_t at = k * count;
      add_point({&m_real_[at], &m_imaginary_[at], &e_real_[at], &e_imaginary_[at], &m_error_[at], &e_error_[at]},
                {{a, b}, {pa, pb}, {na, nb}, {doubt, up * doubt, doubt / up}}, count, part.values.data());
      ++taken;
    }
    if (taken == 16 || k + 1 == w_.size()) {
      for (std::size_t i = 0; i < total.values.size(); ++i) total.values[i] += part.values[i], part.values[i] = 0;
      taken = 0;
    }
  }
  // The rule in w, and its points that are left out; relative to the moments.
  const double moment = std::exp(s_ * s_ / 2), plus_moment = moment * std::exp(-l / 2), minus_moment = moment * std::exp(l / 2);
  const double rule =
      bound_widened * ((std::exp(4 * raised) + 1) / std::expm1(2 * pi * angle_ / h_) + 20 * std::exp(raised) * upper_tail_of(line_reach));
  const double drift = -moment * std::sinh(l / 2);
  numeric::CompensatedSum sum;
  double error = 0;
  for (std::size_t j = 0; j < count; ++j) {
    const double v = v_[j], linear = plain_[j] ? 0 : drift, a = total.row(0)[j], b = v * linear + total.row(1)[j];
    double doubt = unit_roundoff * (total.row(6)[j] + (12 * v + v_doubt_[j]) * std::abs(linear) + 4 * std::abs(b)) +
                   rule * (2 + v * (plus_moment + minus_moment));
    const double plus_doubt = unit_roundoff * total.row(7)[j] + rule * plus_moment,
                 minus_doubt = unit_roundoff * total.row(8)[j] + rule * minus_moment;
    // Near 1 the logarithm of the modulus is known better than the modulus.
    const double psi = plain_[j] ? a : 1 + a, above_one = 2 * a + (a * a + b * b);
    const bool near_one = !plain_[j] && above_one > -0.5;
    const double log_size = near_one ? 0.5 * std::log1p(above_one) : std::log(std::hypot(psi, b)), size = std::exp(log_size),
                 angle = std::atan2(b, psi);
    doubt += unit_roundoff * (near_one ? 12 * (std::abs(a) + a * a + b * b) : 8 * (1 + std::abs(a)));
    const double rounding = unit_roundoff * 16 * (std::min(std::abs(log_size), 700.0) + std::abs(angle));
    const double growth = std::log1p(doubt / size) + rounding, high = std::log(size + doubt) + rounding;
    const auto power = [&](double times) { return times > 0 ? std::exp(times * log_size) : 1.0; };
    // How much a power of the modulus may change.
    const auto change = [&](double times) {
      if (!(times > 0)) return 0.0;
      return times * growth < 1 ? power(times) * std::expm1(times * growth) : std::exp(times * high);
    };
    const double p = total.row(2)[j], q = total.row(3)[j], x = total.row(4)[j], y = total.row(5)[j];
    const double real = p * x - q * y, imaginary = p * y + q * x, plus = std::hypot(p, q), minus = std::hypot(x, y);
    const double first = power(n_), others = power(n_ - 2), turn = (n_ - 2) * angle;
    const double second = (n_ - 1) * others * (real * std::cos(turn) - imaginary * std::sin(turn)), sizes = (n_ - 1) * plus * minus;
    sum.add(v_weight_[j] * (first * std::cos(n_ * angle) + second));
    const double doubts = change(n_) + sizes * change(n_ - 2) +
                          (n_ - 1) * (others + change(n_ - 2)) * (plus_doubt * (minus + minus_doubt) + plus * minus_doubt);
    error += v_weight_[j] * (doubts + 60 * unit_roundoff * (first + sizes * others));
  }
  const Interval found = sum.enclosure();
  error += 0.5 * (found.hi - found.lo) + bounds.beyond(end_, end_angle_) + before_ * (1 + n_ * std::exp(s_ * s_)) +
           16 * end_ * n_ * n_ * std::exp(s_ * s_) * upper_tail_of(bounds_reach);
  for (const VPanel& panel : panels_) error += bounds.error(panel);
  const double factor = std::exp(-s_ * s_ / 2) / (2 * pi), value = factor * middle_of(found);
  return {value, bound_widened * (factor * error + 8 * unit_roundoff * std::abs(value))};
}

}  // namespace

ReplacedLaw replaced_law(double s, double steps, double step, std::size_t more) {
  ReplacedLaw law;
  double points = 0;
  for (std::size_t from = 0; static_cast<double>(from) < most_replaced_places; from += group_places) {
    const PlaceGroup group(s, steps, step * static_cast<double>(from), step * static_cast<double>(from + group_places - 1));
    points += static_cast<double>(group_places) * group.points();
    if (!group.known() || points > most_replaced_points) return {};
    for (std::size_t i = from; i < from + group_places; ++i) {
      const auto [value, error] = group.at(step * static_cast<double>(i));
      if (!(error < infinity)) return {};
      law.value.push_back(value);
      law.error.push_back(error);
      if (law.good == i && error <= largest_share * value) law.good = i + 1;
      if (static_cast<double>(i + 1) >= (1 + more_share) * static_cast<double>(law.good) + static_cast<double>(more)) return law;
    }
  }
  return {};
}

}  // namespace tradeoff::detail::allocation
