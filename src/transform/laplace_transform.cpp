// SPDX-License-Identifier: Apache-2.0
#include "transform/laplace_transform.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include "numeric/arithmetic.h"
#include "numeric/gauss_legendre.h"
#include "transform/nodes.h"

namespace tradeoff::detail {
namespace {

// The bounds below assume parameters at most this wide.
constexpr double most_relative_width = 1e-12;

constexpr double most_panels = 64;

// log of 2^(2n+1) n!^4 / ((2n+1) (2n)!^3), n = 32, rounded up: the constant of the error term on [-1, 1].
constexpr double log_error_constant = -248.39;

/// Atoms and Gauss-Legendre nodes of the distribution under Q: 1/2 mass at -b and so on. [laplace-transform]
class LaplaceNodes final : public NodeLaw {
 public:
  LaplaceNodes(Interval largest, Interval atom, Interval density, int panels)
      : largest_(0.5 * (largest.lo + largest.hi)),
        atom_(0.5 * (atom.lo + atom.hi)),
        coefficient_(0.5 * (density.lo + density.hi)),
        width_(relative_width(largest) + relative_width(atom) + relative_width(density) + 4 * unit_roundoff),
        panels_(panels) {
    if (atom_ > 0) add(-largest_, atom_);
    const double half = largest_ / panels_;
    for (int panel = 0; panel < panels_; ++panel)
      for_each_abscissa([&](double node, double weight) {
        const double loss = half * ((2 * panel + 1 - panels_) + node);
        add(loss, half * coefficient_ * weight * std::exp(-0.5 * loss));
      });
    if (atom_ > 0) add(largest_, atom_ * std::exp(-largest_));
  }

  // On a panel of half length k the error is C f^(2n)(xi) for the real and for the imaginary part of f(x) = k g exp(k (p - 1/2 + it) x +
  // ...).
  [[nodiscard]] double log_error(double power, double t, const Sum&) const override {
    const double real = std::abs(power - 0.5) * largest_, size = std::hypot(real, t * largest_) / panels_;
    return 0.4 + log_error_constant + 64 * std::log(size * (1 + 1e-9)) + std::log(largest_ * coefficient_) + real + 1e-6;
  }
  [[nodiscard]] double unit_error() const override { return 1e-60 + std::exp(std::max(log_error(0, 0, {0}), log_error(1, 0, {0}))); }

  [[nodiscard]] double largest() const { return largest_; }
  [[nodiscard]] double atom() const { return atom_; }
  [[nodiscard]] double coefficient() const { return coefficient_; }
  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] int panels() const { return panels_; }

 private:
  void add(double loss, double weight) {
    nodes_.weight.push_back(weight);
    nodes_.log_weight.push_back(std::log(weight));
    nodes_.log_weight_error.push_back((16 * unit_roundoff + 2 * width_) * (1 + largest_) +
                                      4 * unit_roundoff * std::abs(nodes_.log_weight.back()));
    nodes_.loss.push_back(loss);
    nodes_.loss_error.push_back(std::abs(loss) * (3 * unit_roundoff + width_) + 2 * unit_roundoff * largest_ / panels_);
    nodes_.loss_tail.push_back(exponential_tail(loss));
  }

  double largest_;
  double atom_;
  double coefficient_;  // of exp(l/2) in the density under P
  double width_;        // relative, of all parameters
  int panels_;
};

/// [laplace-transform]
class LaplaceTilt final : public NodeTilt {
 public:
  LaplaceTilt(const LaplaceNodes& nodes, double order) : NodeTilt(nodes, 1 + order, 1, 0), nodes_(nodes), order_(order) {}

  void characteristic_function(std::span<const double> times, std::span<CharacteristicValue> values) const override {
    if (times.back() * nodes_.largest() < node_limit * nodes_.panels()) return NodeTilt::characteristic_function(times, values);
    for (std::size_t k = 0; k < times.size(); ++k) values[k] = closed_form(times[k]);
  }
  [[nodiscard]] double modulus_above(double t) const override {
    const CharacteristicValue value = closed_form(t);
    return std::hypot(1 + value.real_less_one, value.imaginary) + value.error;
  }
  // The density e^((c+1/2) l) is monotone between its two jumps: its variation is twice its maximum.
  [[nodiscard]] Decay decay(double) const override {
    const double b = nodes_.largest(), scale = std::exp(-log_moment().lo) * (1 + 1e-9);
    const double atoms = nodes_.atom() * (std::exp(order_ * b) + std::exp(-(1 + order_) * b)) * scale;
    const double variation = 2 * nodes_.coefficient() * std::exp(std::abs(order_ + 0.5) * b) * scale;
    return {std::min(1.0, atoms), variation, nodes_.atom() > 0 ? infinity : variation, 0};
  }

 private:
  static constexpr double node_limit = 6;  // t b up to which 32 nodes resolve the phase on one panel

  [[nodiscard]] CharacteristicValue closed_form(double t) const {
    using Complex = std::complex<double>;
    const double b = nodes_.largest(), half = order_ + 0.5;
    const Complex s(order_, t), shifted(half, t);
    // The log moment is subtracted inside the exponents, so that they stay moderate.
    const double level = 0.5 * (log_moment().lo + log_moment().hi);
    const Complex up = std::exp(s * b - level), down = std::exp(-(s + 1.0) * b - level);
    const Complex density = nodes_.coefficient() * (std::exp(shifted * b - level) - std::exp(-shifted * b - level)) / shifted;
    const Complex value = (nodes_.atom() * (up + down) + density) * std::exp(Complex(0, -t * centre()));
    const double rounding = (64 * unit_roundoff + 8 * (2 * unit_roundoff + nodes_.width()) * (1 + std::abs(half) * b + t * b));
    return {value.real() - 1, value.imag(), rounding + (log_moment().hi - log_moment().lo)};
  }

  const LaplaceNodes& nodes_;
  double order_;
};

class LaplaceMoments final : public Moments {
 public:
  LaplaceMoments(Interval largest, Interval atom, Interval density, int panels) : nodes_(largest, atom, density, panels) {}
  [[nodiscard]] Cumulant cumulant(double order) const override { return nodes_.cumulant(1 + order); }
  [[nodiscard]] double log_moment_above(double order) const override { return nodes_.log_moment_above(1 + order); }
  [[nodiscard]] std::unique_ptr<const TiltedLoss> tilt(double order) const override { return std::make_unique<LaplaceTilt>(nodes_, order); }

 private:
  LaplaceNodes nodes_;
};

}  // namespace

std::vector<Atom> LaplaceTransform::atoms() const {
  if (!(shape_.atom.hi > 0)) return {};
  return {{shape_.largest, shape_.atom}, {-shape_.largest, shape_.atom * exp(-shape_.largest)}};
}

std::unique_ptr<const Moments> LaplaceTransform::prepare(const TransformRange& reach) const {
  const bool narrow = relative_width(shape_.largest) <= most_relative_width && relative_width(shape_.atom) <= most_relative_width &&
                      relative_width(shape_.density) <= most_relative_width;
  if (!narrow || !(shape_.largest.lo > 0) || !(shape_.largest.hi < 100)) return nullptr;  // beyond 100 the nodes cannot resolve the tilts
  // 32 points resolve e^(10 x) on [-1, 1] with an error far below rounding.
  const double panels = 1 + std::floor((std::max(std::abs(reach.largest), std::abs(reach.least)) + 1) * shape_.largest.hi / 10);
  if (!(panels <= most_panels)) return nullptr;
  return std::make_unique<LaplaceMoments>(shape_.largest, shape_.atom, shape_.density, static_cast<int>(panels));
}

LaplaceTransform laplace_transform(Interval epsilon0) {
  return LaplaceTransform({epsilon0, Interval::exactly(0.5), exp(-epsilon0 / 2.0) / 4.0, Interval::exactly(0)});
}

// The masses are those of [truncated-laplace-profile], divided by the mass of finite losses.
LaplaceTransform truncated_laplace_transform(Interval epsilon0, Interval reach) {
  const Interval end = exp(-reach), inside = -expm1(-reach);  // 1 - e^-reach
  if (reach.lo >= epsilon0.hi) {
    const Interval infinite = end * expm1(epsilon0) / (2.0 * inside), finite = 1.0 - infinite;
    const Interval atom = -expm1(epsilon0 - reach) / (2.0 * inside * finite);
    return LaplaceTransform({epsilon0, max(atom, Interval::exactly(0)), exp(-epsilon0 / 2.0) / (4.0 * inside * finite), infinite});
  }
  // The supports overlap on [epsilon0 - reach, reach] only: there are no atoms, and the density alone is normalised.
  const Interval largest = 2.0 * reach - epsilon0;
  const Interval finite = end * expm1(largest) / (2.0 * inside);
  return LaplaceTransform({largest, Interval::exactly(0), 0.5 / (expm1(largest / 2.0) - expm1(-largest / 2.0)), clamp(1.0 - finite, 0, 1)});
}

}  // namespace tradeoff::detail
