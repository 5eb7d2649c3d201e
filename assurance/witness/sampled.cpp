// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "law.h"
#include "tradeoff/error.h"

// Densities on a Poisson sample: the loss is L = log(1 - r + r exp(l)), and the transform is the integral of q(l) (1 - r + r exp(l))^(s +
// 1). It is a sum over quadrature nodes plus a proved error, so along a line of equidistant s each node costs one multiplication.
namespace tradeoff::detail::witness {
namespace {

constexpr double wanted = 45;          // nats by which quadrature and truncation errors stay below the transform: 3e-20, relative
constexpr double most_products = 3e8;  // a few seconds

/// The integrand at one node for u = 0, its loss, both for Re s = c.
struct Node {
  Real value;
  Real loss;
};

using Wide = long double;

/// The middle of a ball, correct to a unit or so in the last place.
Wide wide(const Real& ball) {
  const double head = ball.middle();
  return static_cast<Wide>(head) + static_cast<Wide>((ball - Real(head)).middle());
}
Real ball(Wide value) {
  const auto head = static_cast<double>(value);
  return Real(head) + Real(static_cast<double>(value - static_cast<Wide>(head)));
}

/// A little more than the largest |Im s| of the line.
double reach_of(const Real& step, std::size_t count) { return step.upper() * static_cast<double>(count - 1) * (1 + 1e-12); }

/// Sums node values times exp(i k step loss), k = 0 .. count - 1, and widens each sum by `error`.
/// The sums run in plain floating point, scaled to a total of 1, with a bound on all roundings: that is forty times as fast as balls.
std::vector<Complex> rotate(const std::vector<Node>& nodes, const Real& step, std::size_t count, const Real& error) {
  if (static_cast<double>(nodes.size()) * static_cast<double>(count) > most_products)
    throw UnsupportedError("witness: the plan needs more quadrature nodes than it affords");
  constexpr std::size_t fresh = 64;  // a rotation is computed anew from a ball this often
  Real total;
  for (const Node& node : nodes) total += node.value;
  if (count == 1) {
    std::vector<Complex> alone{Complex(total)};
    alone.front().add_error(error);
    return alone;
  }
  std::vector<Wide> real(count);
  std::vector<Wide> imaginary(count);
  for (const Node& node : nodes) {
    const Wide weight = wide(node.value / total);
    const Real angle = step * node.loss;
    const Complex turn = exp(Complex(Real(0), angle));
    const Wide turn_real = wide(turn.real());
    const Wide turn_imaginary = wide(turn.imaginary());
    for (std::size_t block = 0; block < count; block += fresh) {
      const Complex start = exp(Complex(Real(0), angle * Real(block)));
      Wide x = wide(start.real());
      Wide y = wide(start.imaginary());
      for (std::size_t k = block; k < std::min(count, block + fresh); ++k) {
        real[k] += weight * x;
        imaginary[k] += weight * y;
        const Wide turned = x * turn_real - y * turn_imaginary;
        y = x * turn_imaginary + y * turn_real;
        x = turned;
      }
    }
    // Angles lose bits as k grows; at any affordable count the loss is far below the precision.
    const Real last = angle * Real(count - 1);
    if (!(Real(0x1p-70) - (last.top() - last.bottom())).positive()) throw UnsupportedError("witness: an angle is lost");
  }
  // In units of half an epsilon and relative to a total of 1: a start errs by 2, each of 63 turns by 2.3 for the product and 2 for the
  // turn itself, weight and product by 3; then one for each addition. The balls' own radii and underflows are far below one unit.
  const double unit = static_cast<double>(std::numeric_limits<Wide>::epsilon()) / 2;
  const double roundings = (static_cast<double>(nodes.size()) + 300) * 1.1 * unit;
  const Real doubt = (total * Real(roundings) + error).top();
  std::vector<Complex> sums;
  for (std::size_t k = 0; k < count; ++k) {
    sums.emplace_back(total * ball(real[k]), total * ball(imaginary[k]));
    sums.back().add_error(doubt);
  }
  return sums;
}

/// |1 - r + r exp(l + i t)|^(c+1) is at most this times its value at t = 0, for |t| <= turn < pi: |a + b exp(it)| lies between
/// (a + b) cos(t/2) and a + b.
Real turning_factor(const Real& c, const Real& turn) {
  const Real exponent = max(-(c + 1), Real(0));
  return exp(-exponent * log(cos(turn / 2)));
}

/// |arg(1 - r + r exp(l + i t))| <= t b/(1 - r + b cos t) for |t| <= turn <= pi/2, b = r exp(l): the tangent bounds the angle.
Real turning_angle(const Real& rate, const Real& largest_l, const Real& turn) {
  const Real b = rate * exp(largest_l);
  return turn * b / (Real(1) - rate + b * cos(turn));
}

/// The threshold e in units of the base's likelihood ratio: P - exp(e) Q = r (A - t B).
Real inner_ratio(const Real& e, const Real& rate) { return (exp(e) - 1 + rate) / rate; }

/// Nodes and weights of the Gauss-Legendre rule on [-1, 1].
struct GaussRule {
  static constexpr unsigned long size = 48;
  std::vector<Real> nodes;
  std::vector<Real> weights;

  GaussRule() {
    for (unsigned long k = 0; k < size; ++k) {
      Real node;
      Real weight;
      arb_hypgeom_legendre_p_ui_root(node.get(), weight.get(), size, k, 192);
      nodes.push_back(node);
      weights.push_back(weight);
    }
  }
};

/// Gauss-Legendre panels that cover [from, to], each halved until its error is below `tolerance`.
/// `integrand(x)` gives a node; `modulus(x, y)` bounds the integrand, at all u asked for, over real parts in x and imaginary parts up to y.
template <class Integrand, class Modulus>
class Panels {
 public:
  Panels(Integrand integrand, Modulus modulus, const Real& tolerance)
      : integrand_(std::move(integrand)), modulus_(std::move(modulus)), tolerance_(tolerance) {}

  void cover(const Real& middle, const Real& half) {
    // A rule of n points is exact to degree 2n - 1, so on [-1, 1] it errs by at most 4 E, where E = 2 M/((rho - 1) rho^(2n-1)) is how
    // well polynomials approximate a function bounded by M on the ellipse rho. For rho = 3 its half axes are 5/3 and 4/3.
    const Real reach = half * 5 / 3;
    const Real error =
        Real(4) * half * modulus_(Real::hull(middle - reach, middle + reach), half * 4 / 3) / power(Real(3), 2 * GaussRule::size - 1);
    if (!(tolerance_ - error).positive()) {
      if (++halvings_ > most_halvings) throw UnsupportedError("witness: the quadrature needs more panels than it affords");
      cover(middle - half / 2, half / 2);
      cover(middle + half / 2, half / 2);
      return;
    }
    static const GaussRule rule;
    for (std::size_t j = 0; j < rule.nodes.size(); ++j) {
      nodes.push_back(integrand_(middle + half * rule.nodes[j]));
      nodes.back().value *= half * rule.weights[j];
    }
    error_ = (error_ + error).top();
  }
  [[nodiscard]] const Real& error() const { return error_; }

  std::vector<Node> nodes;

 private:
  static constexpr int most_halvings = 10'000;
  Integrand integrand_;
  Modulus modulus_;
  Real tolerance_;
  Real error_;
  int halvings_ = 0;
};

class SampledGaussianDensity final : public Density {
 public:
  SampledGaussianDensity(const Real& mu, const Real& rate) : mu_(mu), rate_(rate) {}

  /// The trapezoid rule over the noise x, for real s: analytic for |Im x| < pi/mu.
  [[nodiscard]] Real at(const Real& c) const override {
    const double steepness = std::max(1.0, -(c.middle() + 1));  // a negative power costs steepness (mu b)^2/8 nats
    const double half_width = std::min(std::sqrt(2 * wanted), std::min(2.0, std::sqrt(8 * 20 / steepness)) / mu_.upper());
    const double spacing = 6.28 * half_width / (half_width * half_width / 2 + wanted + 25);
    const Window window = window_of(c);
    const Real eta(spacing);
    const long first = std::lround(std::floor(-window.left / spacing));
    const long last = std::lround(std::ceil(window.right / spacing));
    Real total;
    for (long j = first; j <= last; ++j) total += node(c, eta * Real(j)).value;
    total *= eta;
    const Real cut = tails(c, eta * Real(-first), eta * Real(last));
    // Strip theorem: the error is at most 2 N/(exp(2 pi b/eta) - 1), where N bounds the integral of the modulus on both edges of the
    // strip, here relative to the transform: the Gaussian grows by exp(b^2/2), a negative power by the turning.
    const Real b(half_width);
    const Real growth = exp(b * b / 2) * turning_factor(c, mu_ * b);
    const Real relative = (Real(2) * growth / (exp(Real(2) * Real::pi() * b / eta) - 1)).top();
    if (!(relative.upper() < 0.5)) throw UnsupportedError("witness: the quadrature of the sampled Gaussian does not converge");
    const Real largest = (total + cut) / (Real(1) - relative);
    return total + Real::error((relative * largest + cut).top());
  }

  [[nodiscard]] std::vector<Complex> along(const Real& c, const Real& step, std::size_t count) const override {
    const Real largest_u(reach_of(step, count));
    const auto modulus = [&](const Real& x, const Real& y) {
      const Real turn = mu_ * y;
      if (!(Real(1.5) - turn).positive()) return Real(std::numeric_limits<double>::infinity());
      const Real angle = turning_angle(rate_, (mu_ * x - mu_ * mu_ / 2).top(), turn);
      return node(c, x).value.top() * exp(y * y / 2 + largest_u * angle) * turning_factor(c, turn);
    };
    Panels panels([&](const Real& x) { return node(c, x); }, modulus, at(c) * exp(Real(-wanted)) / 100);
    const Window window = window_of(c);
    const Real left(window.left);
    const Real right(window.right);
    panels.cover((right - left) / 2, (right + left) / 2);
    return rotate(panels.nodes, step, count, (panels.error() + tails(c, left, right)).top());
  }

  [[nodiscard]] std::function<Real(const Real&)> decay(const Real& c) const override;

  [[nodiscard]] Real read(Side side, const Real& e) const override {
    const WithPrecision more(closed_form_bits);
    const Real ratio = inner_ratio(e, rate_);
    if (!ratio.positive()) {
      if (ratio.negative()) return side == Side::call ? Real(1) - exp(e) : Real(0);
      return side == Side::call ? Real::hull(Real(1) - exp(e), Real(1) - exp(e) + rate_ * ratio.top())
                                : Real::hull(Real(0), rate_ * ratio.top());
    }
    const Real sign = side == Side::call ? 1 : -1;
    const Real x = log(ratio) / mu_;
    return sign * rate_ * (normal_above(sign * (x - mu_ / 2)) - ratio * normal_above(sign * (x + mu_ / 2)));
  }

 private:
  struct Window {
    double left;
    double right;
  };

  /// The range in which the tilted density matters, with a margin that covers factors up to rate^(c+1).
  [[nodiscard]] Window window_of(const Real& c) const {
    const double exponent = c.middle() + 1;
    const double shade = std::abs(exponent) * std::max(-std::log(rate_.lower()), -std::log1p(-rate_.upper()));
    const double margin = std::sqrt(2 * (wanted + 10 + shade));
    return {margin, margin + std::max(0.0, exponent * mu_.middle())};
  }

  [[nodiscard]] Real base(const Real& x) const { return exp(mu_ * x - mu_ * mu_ / 2); }

  [[nodiscard]] Node node(const Real& c, const Real& x) const {
    const Real loss = log(Real(1) - rate_ + rate_ * base(x));
    return {exp((c + 1) * loss - x * x / 2) / sqrt(Real(2) * Real::pi()), loss};
  }

  /// Bounds the integral beyond -left and right, and the sum over further nodes. There the integrand is at most phi(x) exp(m x) with
  /// m = max(0, (c+1) mu), or phi(x) on the left, times (1 - r)^(c+1) if that power is negative, and falls outwards.
  [[nodiscard]] Real tails(const Real& c, const Real& left, const Real& right) const {
    const Real exponent = c + 1;
    const Real m = max(exponent, Real(0)) * mu_;
    const Real factor = exp(min(exponent, Real(0)) * log(Real(1) - rate_)) / sqrt(Real(2) * Real::pi());
    const Real above = exp(m * right - right * right / 2) / (right - m);
    const Real below = exp(-left * left / 2) / left;
    return factor * (above + below);
  }

  Real mu_;
  Real rate_;
};

/// A polynomial in x and w = r exp(l)/(1 - r + r exp(l)), negative powers of w allowed.
using Polynomial = std::map<std::pair<int, int>, Real>;

/// Repeated partial integration. With F the integrand at u = 0 and L' = mu w, the transform is the integral of F R_n exp(iuL) times
/// (i/u)^n, where R_0 = 1 and F R_{n+1} = (F R_n / L')'. So |D| <= u^-n times the integral of F |R_n|.
Polynomial next_factor(const Polynomial& r, const Real& mu, const Real& c) {
  Polynomial next;
  for (const auto& [powers, a] : r) {
    const auto [i, j] = powers;
    const Real scaled = a / mu;
    // (x^i w^j)' = i x^(i-1) w^j + j mu x^i w^j (1 - w), and the logarithmic derivative of F/L' is -x + (c+2) mu w - mu.
    if (i > 0) next[{i - 1, j - 1}] += scaled * Real(i);
    if (j != 0) {
      next[{i, j - 1}] += scaled * mu * Real(j);
      next[{i, j}] += -(scaled * mu * Real(j));
    }
    next[{i + 1, j - 1}] += -scaled;
    next[{i, j}] += scaled * mu * (c + 2);
    next[{i, j - 1}] += -(scaled * mu);
  }
  return next;
}

Real evaluate(const Polynomial& r, const Real& x, const Real& w) {
  Real sum;
  for (const auto& [powers, a] : r) {
    const auto [i, j] = powers;
    const Real w_power = j >= 0 ? power(w, static_cast<unsigned long>(j)) : Real(1) / power(w, static_cast<unsigned long>(-j));
    sum += a * power(x, static_cast<unsigned long>(i)) * w_power;
  }
  return sum;
}

/// A bound m + v/u^n on |D(c + iu)|.
struct DecayTerm {
  Real constant;
  Real factor;
  unsigned long order;
};

std::function<Real(const Real&)> SampledGaussianDensity::decay(const Real& c) const {
  constexpr int highest_order = 5;  // beyond, the factors grow faster than the powers of u help
  const WithPrecision coarse(96);
  const Window narrow = window_of(c);
  const double left = narrow.left + highest_order * mu_.upper() + 4;
  const double right = narrow.right + 4;
  constexpr std::size_t panels = 1200;  // width about 0.03: the sign of F R_n is certain on most panels
  const double width = (left + right) / static_cast<double>(panels);
  const auto weight_at = [&](const Real& x) {
    const Real grown = rate_ * base(x);
    return grown / (Real(1) - rate_ + grown);
  };
  std::vector<Real> edges;
  std::vector<Node> edge_nodes;
  std::vector<Real> edge_weights;
  std::vector<Real> values;   // F over each panel
  std::vector<Real> weights;  // w over each panel
  for (std::size_t k = 0; k <= panels; ++k) {
    edges.push_back(Real(-left) + Real(width) * Real(k));
    edge_nodes.push_back(node(c, edges.back()));
    edge_weights.push_back(weight_at(edges.back()));
  }
  for (std::size_t k = 0; k < panels; ++k) {
    weights.push_back(Real::hull(edge_weights[k], edge_weights[k + 1]));  // w grows with x
    values.push_back(node(c, Real::hull(edges[k], edges[k + 1])).value);
  }
  // Beyond the panels: |x|^i <= i! exp(|x|), 1/w <= exp(-l)/r on the left and 1/r on the right; the rest as in tails().
  const Real exponent = c + 1;
  const Real m = max(exponent, Real(0)) * mu_;
  const Real shade = exp(min(exponent, Real(0)) * log(Real(1) - rate_)) / sqrt(Real(2) * Real::pi());
  const auto beyond = [&](const Polynomial& r) {
    Real sum;
    double factorial[2 * highest_order + 1] = {1};
    for (int i = 1; i <= 2 * highest_order; ++i) factorial[i] = factorial[i - 1] * i;
    for (const auto& [powers, a] : r) {
      const int j = std::max(0, -powers.second);
      const Real scale = shade * abs(a) * Real(factorial[powers.first]) / power(rate_, static_cast<unsigned long>(j));
      const Real slope_left = Real(j) * mu_ + 1;
      const Real slope_right = m + 1;
      const Real x_left(left);
      const Real x_right(right);
      sum += scale * exp(slope_left * x_left + Real(j) * mu_ * mu_ / 2 - x_left * x_left / 2) / (x_left - slope_left);
      sum += scale * exp(slope_right * x_right - x_right * x_right / 2) / (x_right - slope_right);
    }
    return sum;
  };
  std::vector<DecayTerm> terms;
  Polynomial before{{{0, 0}, Real(1)}};
  for (unsigned long order = 1; order <= highest_order; ++order) {
    const Polynomial r = next_factor(before, mu_, c);
    // The variation of F R_{n-1}/L': a difference where F R_n keeps its sign, width times supremum elsewhere.
    std::vector<Real> ends;
    for (std::size_t k = 0; k < edges.size(); ++k)
      ends.push_back(edge_nodes[k].value * evaluate(before, edges[k], edge_weights[k]) / (mu_ * edge_weights[k]));
    std::vector<Real> above(edges.size());  // the variation beyond each edge
    above.back() = beyond(r).top();
    for (std::size_t k = panels; k-- > 0;) {
      const Real slope = evaluate(r, Real::hull(edges[k], edges[k + 1]), weights[k]);
      const bool monotone = slope.positive() || slope.negative();
      above[k] = (above[k + 1] + (monotone ? abs(ends[k + 1] - ends[k]) : Real(width) * abs(values[k] * slope))).top();
    }
    terms.push_back({Real(0), above.front(), order});
    if (order == 1) {
      // Only the part above x is integrated by parts; the part below is bounded by its mass.
      Real mass = tails(c, Real(left), Real(right));
      for (std::size_t k = 0; k < panels; ++k) {
        mass += Real(width) * values[k];
        if (k % 12 == 0) terms.push_back({mass.top(), (above[k + 1] + ends[k + 1]).top(), 1});
      }
    }
    before = r;
  }
  return [terms](const Real& u) {
    Real best;
    bool first = true;
    for (const DecayTerm& term : terms) {
      const Real bound = (term.constant + term.factor / power(u, term.order)).top();
      if (first || bound.upper() < best.upper()) best = bound;
      first = false;
    }
    return best;
  };
}

class SampledExponentialDensity final : public Density {
 public:
  SampledExponentialDensity(const Real& k, const Real& m, const Real& rate) : k_(k), m_(m), rate_(rate) {}

  [[nodiscard]] std::vector<Complex> along(const Real& c, const Real& step, std::size_t count) const override {
    const Real largest_u(reach_of(step, count));
    const auto modulus = [&](const Real& l, const Real& turn) {
      if (!(Real(1.5) - turn).positive()) return Real(std::numeric_limits<double>::infinity());
      return node(c, l).value.top() * exp(largest_u * turning_angle(rate_, l.top(), turn)) * turning_factor(c, turn);
    };
    const Real scale = max(node(c, m_).value, node(c, -m_).value) * min(m_, Real(1) / (abs(c) + 2));  // about the transform at u = 0
    Panels panels([&](const Real& l) { return node(c, l); }, modulus, scale * exp(Real(-wanted)) / 100);
    panels.cover(Real(0), m_);
    return rotate(panels.nodes, step, count, panels.error());
  }

  /// In units of the loss the tilted density decreases, then increases (or only decreases), so its variation and its two jumps together are
  /// at most twice the sum of its end values.
  [[nodiscard]] std::function<Real(const Real&)> decay(const Real& c) const override {
    const auto end = [&](const Real& l) {
      const Real grown = rate_ * exp(l);
      return node(c, l).value * (Real(1) - rate_ + grown) / grown;
    };
    const Real factor = (Real(2) * (end(m_) + end(-m_))).top();
    return [factor](const Real& u) { return factor / u; };
  }

  [[nodiscard]] Real read(Side side, const Real& e) const override {
    const WithPrecision more(closed_form_bits);
    const Real from = log(max(min(inner_ratio(e, rate_), exp(m_)), exp(-m_)));
    const Real to = side == Side::call ? m_ : -m_;
    const Real constant = Real(1) - rate_ - exp(e);
    return Real(2) * k_ * (constant * (exp(-from / 2) - exp(-to / 2)) + rate_ * (exp(to / 2) - exp(from / 2)));
  }

 private:
  [[nodiscard]] Node node(const Real& c, const Real& l) const {
    const Real loss = log(Real(1) - rate_ + rate_ * exp(l));
    return {k_ * exp((c + 1) * loss - l / 2), loss};
  }

  Real k_;
  Real m_;
  Real rate_;
};

}  // namespace

DensityPointer sampled_gaussian_density(const Real& mu, const Real& rate) { return std::make_shared<SampledGaussianDensity>(mu, rate); }
DensityPointer sampled_exponential_density(const Real& k, const Real& m, const Real& rate) {
  return std::make_shared<SampledExponentialDensity>(k, m, rate);
}

}  // namespace tradeoff::detail::witness
