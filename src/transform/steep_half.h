// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <optional>

#include "numeric/arithmetic.h"
#include "numeric/disc.h"
#include "numeric/normal.h"
#include "transform/subsampled_nodes.h"

namespace tradeoff::detail {

/// A symmetric pair on a random sample, by its operator C_rate: Gaussian or Laplace noise, or what rho-zCDP implies.
struct SampledCurve {
  std::optional<Interval> rho;  ///< of zCDP
  SampledBase base;             ///< used without rho
  Interval rate;
};

template <class T>
[[nodiscard]] T number_from(Interval a);
template <>
[[nodiscard]] inline double number_from<double>(Interval a) {
  return middle_of(a);
}
template <>
[[nodiscard]] inline Interval number_from<Interval>(Interval a) {
  return a;
}
template <>
[[nodiscard]] inline Disc number_from<Disc>(Interval a) {
  return Disc::around(a);
}

[[nodiscard]] inline double centre_of(double a) { return a; }
[[nodiscard]] inline double centre_of(Interval a) { return middle_of(a); }
[[nodiscard]] inline double centre_of(Disc a) { return a.centre; }

/// The losses l > 0 of such a pair, by a parameter x that grows with the loss: the standardised output of a Gaussian, the loss of Laplace
/// noise, s of zCDP. One formula serves doubles (for searches), intervals (proved values) and discs (bounds of the analytic continuation).
/// [group-transform]
template <class T>
class SteepHalf {
 public:
  explicit SteepHalf(const SampledCurve& curve)
      : kind_(curve.rho       ? Kind::zcdp
              : curve.base.mu ? Kind::gaussian
                              : Kind::laplace),
        whole_(curve.rate == Interval::exactly(1)),
        rate_(number_from<T>(curve.rate)),
        log_rate_(number_from<T>(tradeoff::log(curve.rate))),
        odds_(number_from<T>((1.0 - curve.rate) / curve.rate)),
        parameter_(number_from<T>(curve.rho       ? *curve.rho
                                  : curve.base.mu ? *curve.base.mu
                                                  : curve.base.largest)) {
    if (kind_ == Kind::laplace) {
      const SampledBase& base = curve.base;
      density_ = number_from<T>(2.0 * base.coefficient);
      constant_ = number_from<T>(base.atom * tradeoff::exp(-base.largest) - 2.0 * base.coefficient * tradeoff::exp(-(base.largest / 2.0)));
      top_ = number_from<T>(base.missing + base.atom + 2.0 * base.coefficient * tradeoff::exp(base.largest / 2.0));
    }
  }

  /// The loss of the sampled pair, and its derivative.
  [[nodiscard]] T loss(T x) const;
  [[nodiscard]] T loss_slope(T x) const { return base_slope(x) * drawn(x); }
  /// log Q(X > x) and log P(X > x), infinite losses included, and their difference.
  [[nodiscard]] T log_false(T x) const;
  [[nodiscard]] T log_true(T x) const { return log_false(x) + gain(x); }
  [[nodiscard]] T gain(T x) const;
  /// Minus the derivatives of the two logarithms; what the second one is relative to the first one.
  [[nodiscard]] T false_hazard(T x) const;
  [[nodiscard]] T true_hazard(T x) const { return false_hazard(x) * hazard_ratio(x); }
  [[nodiscard]] T hazard_ratio(T x) const { return 1.0 / (1.0 + drawn(x) * excess(x)); }
  /// The derivative of the logarithm of the first hazard, and the derivative of that.
  [[nodiscard]] T hazard_bend(T x) const;
  [[nodiscard]] T bend_slope(T x) const;
  /// The logarithm of the density under Q, and its derivative.
  [[nodiscard]] T log_density(T x) const;
  [[nodiscard]] T density_slope(T x) const;
  /// About the parameter at which Q(X > x) is this, for searches.
  [[nodiscard]] double guess(double log_mass) const;
  /// log of a bound of the integral of exp(power * loss) under Q beyond x, for power >= 0; only for losses without a largest one.
  [[nodiscard]] double log_tail(double power, double x) const;

 private:
  enum class Kind { gaussian, laplace, zcdp };

  /// log(1 + rate (e^y - 1)).
  [[nodiscard]] T sampled(T y) const {
    using std::exp, std::expm1, std::log1p;
    if (whole_) return y;
    if (centre_of(y) <= large_exponent) return log1p(rate_ * expm1(y));
    return y + log_rate_ + log1p(odds_ * exp(-y));
  }
  [[nodiscard]] T base_loss(T x) const;
  [[nodiscard]] T base_slope(T x) const;
  /// The probability that the record was drawn, given the output.
  [[nodiscard]] T drawn(T x) const {
    using std::exp;
    return whole_ ? number_from<T>(Interval::exactly(1)) : 1.0 / (1.0 + odds_ * exp(-base_loss(x)));
  }
  /// P(X > x) of the base over its density, relative to the same of Q, less 1.
  [[nodiscard]] T excess(T x) const;
  /// log P(X > x) / Q(X > x) of the base.
  [[nodiscard]] T log_ratio(T x) const;

  Kind kind_;
  bool whole_;
  T rate_, log_rate_, odds_;
  T parameter_;               // mu, the largest loss or rho
  T density_{}, constant_{};  // of Laplace noise: Q(X > x) = constant + density e^(-x/2)
  T top_{};                   // of Laplace noise: P(X > x) = top - density e^(x/2)
};

extern template class SteepHalf<double>;
extern template class SteepHalf<Interval>;
extern template class SteepHalf<Disc>;

}  // namespace tradeoff::detail
