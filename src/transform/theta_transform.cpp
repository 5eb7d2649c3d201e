// SPDX-License-Identifier: Apache-2.0
#include "transform/theta_transform.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "numeric/arithmetic.h"
#include "numeric/double_double.h"
#include "transform/nodes.h"

// [theta-transform] M(s) = exp(v s (s+1) / 2) theta(s d) / theta(0), theta(a) = sum_n q^(n^2) exp(2 pi i n a), with d the shift,
// v = d^2/sigma^2 and q = exp(-2 pi^2 sigma^2), which is below 3e-9 because sigma is at least 1.
namespace tradeoff::detail {
namespace {

using std::numbers::pi;
constexpr double least_sigma = 1;
constexpr double most_sigma_width = 1e-12;  // relative, of sigma
constexpr double most_images = 1e6;         // after so many periods the phase is unknown
constexpr double forgotten_near = 1e-60;    // a bound of the terms n >= 3 before the first of these, q^9 and its factors
constexpr double forgotten_far = 1e-50;     // a bound of the terms three and more images away: exp(-(5 pi sigma)^2 / 2) each
constexpr double near = 1;                  // up to this sqrt(v) t, 1 - phi is computed without cancellation
constexpr double all_images = 2.1;          // the factor of the bound of |phi| by its images, from sqrt(v) t = 2 on
constexpr double images_start = 2;

struct ThetaLaw {
  double shift = 1;
  double sigma = 1;         // approximately
  double variance = 1;      // v, approximately
  double width = 0;         // relative error of v and sigma
  double log_nome = 0;      // log q, approximately
  double nome_above = 0;    // an upper bound of q
  Interval exact_variance;  // encloses v
  Interval nome;            // encloses q
};

/// order times shift, minus the nearest integer: within 2u of the exact value.
double phase_fraction(double order, double shift) {
  const numeric::DoubleDouble product = numeric::two_product(order, shift);
  return (product.high - std::nearbyint(product.high)) + product.low;
}

Interval log_moment_of(const ThetaLaw& law, double order) {
  const double sine = std::sin(pi * phase_fraction(order, law.shift));
  const Interval squared{std::max(0.0, sine * sine - 24 * unit_roundoff), std::min(1.0, sine * sine + 24 * unit_roundoff)};
  const Interval fourth = Interval{0, 2} * square(square(law.nome));  // all terms n >= 2
  const Interval ratio = 4.0 * (law.nome * squared + fourth) / (1.0 + 2.0 * law.nome + 2.0 * fourth);
  const Interval c = Interval::exactly(order);
  return law.exact_variance * (c * (c + 1.0)) / 2.0 + log1p(-ratio);
}

class ThetaTilt final : public TiltedLoss {
 public:
  ThetaTilt(const ThetaLaw& law, double order)
      : law_(law),
        log_moment_(log_moment_of(law, order)),
        centre_(law.variance * (order + 0.5)),
        fraction_(phase_fraction(order, law.shift)) {
    const Interval away = law.exact_variance * (Interval::exactly(order) + 0.5) - centre_;
    bias_ = std::max(std::abs(away.lo), std::abs(away.hi));
    const double q = law.nome_above;
    theta_ = 1 + 2 * std::exp(law.log_nome) * std::cos(2 * pi * fraction_);
    theta_error_ = 8 * unit_roundoff +
                   4 * q * (40 * unit_roundoff + 12 * unit_roundoff * std::abs(law.log_nome) + 2 * law.width * std::abs(law.log_nome)) +
                   4 * q * q;
    // The variance is v + d^2 (log theta)'', and the mean differs from v (order + 1/2) by d (log theta)'.
    const double d = law.shift, drift = bias_ + 12.7 * d * q;
    deviation_ = std::sqrt(law.exact_variance.hi + 79.1 * d * d * q + drift * drift) * (1 + 1e-9);
  }

  [[nodiscard]] Interval log_moment() const override { return log_moment_; }
  [[nodiscard]] double centre() const override { return centre_; }
  [[nodiscard]] double deviation_above() const override { return deviation_; }
  void characteristic_function(std::span<const double> times, std::span<CharacteristicValue> values) const override {
    for (std::size_t k = 0; k < times.size(); ++k)
      values[k] = std::sqrt(law_.variance) * times[k] < near ? near_zero(times[k]) : far_out(times[k]);
  }
  [[nodiscard]] double modulus_above(double t) const override {
    CharacteristicValue value;
    characteristic_function({&t, 1}, {&value, 1});
    return std::hypot(1 + value.real_less_one, value.imaginary) + value.error;
  }
  [[nodiscard]] double modulus_beyond(double t) const override;
  [[nodiscard]] Decay decay(double) const override { return {1, 0, infinity}; }
  [[nodiscard]] std::size_t size() const override { return 1; }

 private:
  [[nodiscard]] CharacteristicValue near_zero(double t) const;
  [[nodiscard]] CharacteristicValue far_out(double t) const;

  ThetaLaw law_;
  Interval log_moment_;
  double centre_;
  double fraction_;   // of the order times the shift
  double bias_ = 0;   // how far v (order + 1/2) may be from the centre
  double theta_ = 1;  // theta(order times shift)
  double theta_error_ = 0;
  double deviation_ = 0;
};

/// phi - 1 = (e^x - 1) + e^x (theta((c + it) d) / theta(cd) - 1), x = -v t^2 / 2; every term is of second order in t or tiny.
CharacteristicValue ThetaTilt::near_zero(double t) const {
  const double x = -0.5 * law_.variance * t * t, turn = 2 * pi * t * law_.shift;
  double real = 0, imaginary = 0, error = 0;
  for (const double n : {1.0, 2.0}) {
    const double log_weight = n * n * law_.log_nome, angle = 2 * pi * n * fraction_, y = n * turn;
    const double up = std::exp(log_weight + y), down = std::exp(log_weight - y), middle = std::exp(log_weight);
    const double half = std::sinh(0.5 * std::min(y, 1.0));
    const double even = y < 1 ? 4 * middle * half * half : up + down - 2 * middle;
    const double odd = y < 1 ? 2 * middle * std::sinh(y) : up - down;
    real += even * std::cos(angle);
    imaginary -= odd * std::sin(angle);
    const double size = y < 1 ? even + odd : 2 * (up + down + middle);
    error += size * ((60 + 16 * n) * unit_roundoff + (12 * unit_roundoff + 2 * law_.width) * (std::abs(log_weight) + y));
  }
  const double grown = std::exp(x), size = (std::abs(real) + std::abs(imaginary)) / theta_;
  CharacteristicValue value{std::expm1(x) + grown * real / theta_, grown * imaginary / theta_, 0};
  value.error = 1.01 * (std::abs(x) * (law_.width + 6 * unit_roundoff) + 12 * unit_roundoff * std::abs(std::expm1(x)) + error +
                        size * (theta_error_ + 12 * unit_roundoff)) +
                bias_ * t + 4 * unit_roundoff * (std::abs(value.real_less_one) + std::abs(value.imaginary)) + forgotten_near;
  return value;
}

/// phi theta(cd) = sum_n exp(-(sqrt(v) t - 2 pi sigma n)^2 / 2) exp(-2 pi i n c d): sums the images around the nearest one.
CharacteristicValue ThetaTilt::far_out(double t) const {
  const double place = std::sqrt(law_.variance) * t, period = 2 * pi * law_.sigma, nearest = std::nearbyint(place / period);
  if (!(nearest < most_images)) return {-1, 0, 1};  // only |phi| <= 1 is known
  double real = 0, imaginary = 0, error = 0;
  for (double n = nearest - 2; n <= nearest + 2; ++n) {
    const double y = place - period * n, doubt = (8 * unit_roundoff + law_.width) * (place + period * std::abs(n));
    const double term = std::exp(-0.5 * y * y), angle = 2 * pi * n * fraction_;
    real += term * std::cos(angle);
    imaginary -= term * std::sin(angle);
    error += std::exp(-0.5 * y * y + std::abs(y) * doubt) *
             ((std::abs(y) + doubt) * doubt + unit_roundoff * (2 * y * y + 32 + 20 * std::abs(n)));
  }
  real /= theta_;
  imaginary /= theta_;
  return {real - 1, imaginary,
          1.01 * error + (std::abs(real) + std::abs(imaginary)) * (theta_error_ + 8 * unit_roundoff) + bias_ * t + 2 * unit_roundoff +
              forgotten_far};
}

// [theta-transform] Up to sqrt(v) t = 2 the bound e^(-x^2/2) (1 + Q(x)) decreases; from there to the middle of the period 2.1 e^(-x^2/2)
// does.
double ThetaTilt::modulus_beyond(double t) const {
  const double x = std::sqrt(law_.exact_variance.lo) * t * (1 - 8 * unit_roundoff), q = law_.nome_above;
  if (x > pi * law_.sigma * (1 + 1e-9)) return 1;  // not within half a period
  const auto beyond = [&](double start) { return all_images * std::exp(-0.5 * start * start) / (1 - 3 * q) * (1 + 1e-9); };
  if (x >= images_start) return std::min(1.0, beyond(x));
  const double grown =
      std::exp(law_.log_nome * (1 - 2 * law_.width - 8 * unit_roundoff) + 2 * pi * law_.sigma * (1 + law_.width) * x) + 3 * q;
  const double before = std::exp(-0.5 * x * x) * (1 + grown * (1 + 1e-6) / (1 - 3 * q)) * (1 + 8 * unit_roundoff);
  return std::min(1.0, std::max(before, beyond(images_start)));
}

class ThetaMoments final : public Moments {
 public:
  explicit ThetaMoments(const ThetaLaw& law) : law_(law) {}
  [[nodiscard]] Cumulant cumulant(double order) const override {
    const double d = law_.shift, q = std::exp(law_.log_nome), angle = 2 * pi * phase_fraction(order, d), v = law_.variance;
    return {v * order * (order + 1) / 2 - 2 * q * (1 - std::cos(angle)), v * (order + 0.5) - 4 * pi * d * q * std::sin(angle),
            v - 8 * pi * pi * d * d * q * std::cos(angle)};
  }
  [[nodiscard]] double log_moment_above(double order) const override { return log_moment_of(law_, order).hi; }
  [[nodiscard]] std::unique_ptr<const TiltedLoss> tilt(double order) const override { return std::make_unique<ThetaTilt>(law_, order); }

 private:
  ThetaLaw law_;
};

class ThetaTransform final : public Transform {
 public:
  explicit ThetaTransform(const ThetaLaw& law) : law_(law) {}
  [[nodiscard]] Interval infinite_mass() const override { return Interval::exactly(0); }
  [[nodiscard]] double largest_loss() const override { return infinity; }
  [[nodiscard]] std::unique_ptr<const Moments> prepare(const TransformRange&) const override {
    return std::make_unique<ThetaMoments>(law_);
  }

 private:
  ThetaLaw law_;
};

}  // namespace

std::shared_ptr<const Transform> theta_transform(Interval sigma, double shift) {
  if (!(sigma.lo >= least_sigma) || !(sigma.width() <= most_sigma_width * sigma.lo) || !(shift > 0)) return nullptr;
  const Interval circle{pi, numeric::next_up(pi)};
  ThetaLaw law;
  law.shift = shift;
  law.exact_variance = square(Interval::exactly(shift) / sigma);
  law.sigma = 0.5 * (sigma.lo + sigma.hi);
  law.variance = 0.5 * (law.exact_variance.lo + law.exact_variance.hi);
  law.width = law.exact_variance.width() / law.variance + 4 * unit_roundoff;
  law.nome = exp(-2.0 * square(circle * sigma));
  law.log_nome = -2 * (pi * law.sigma) * (pi * law.sigma);
  law.nome_above = law.nome.hi;
  return std::make_shared<const ThetaTransform>(law);
}

}  // namespace tradeoff::detail
