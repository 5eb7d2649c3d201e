// SPDX-License-Identifier: Apache-2.0
#include "law.h"

// Densities whose transform is a closed form.
namespace tradeoff::detail::witness {
namespace {

class GaussianDensity final : public Density {
 public:
  explicit GaussianDensity(const Real& mu) : mu_(mu), square_(mu * mu) {}

  [[nodiscard]] std::vector<Complex> along(const Real& c, const Real& step, std::size_t count) const override {
    std::vector<Complex> values;
    for (std::size_t k = 0; k < count; ++k) {
      const Complex s(c, step * Real(k));
      values.push_back(exp(s * (s + Complex(Real(1))) * Complex(square_ / 2)));
    }
    return values;
  }
  [[nodiscard]] std::function<Real(const Real&)> decay(const Real& c) const override {
    return [this, c](const Real& u) { return exp((c * (c + 1) - u * u) * square_ / 2); };
  }
  [[nodiscard]] Real read(Side side, const Real& e) const override {
    const WithPrecision more(closed_form_bits);
    const Real sign = side == Side::call ? 1 : -1;
    return sign * (normal_above(sign * (e / mu_ - mu_ / 2)) - exp(e) * normal_above(sign * (e / mu_ + mu_ / 2)));
  }

 private:
  Real mu_;
  Real square_;
};

class ExponentialDensity final : public Density {
 public:
  ExponentialDensity(const Real& k, const Real& m) : k_(k), m_(m) {}

  [[nodiscard]] std::vector<Complex> along(const Real& c, const Real& step, std::size_t count) const override {
    std::vector<Complex> values;
    for (std::size_t n = 0; n < count; ++n)
      values.push_back(Complex(k_ * m_ * 2) * sinhc(Complex(c + Real(0.5), step * Real(n)) * Complex(m_)));
    return values;
  }
  [[nodiscard]] std::function<Real(const Real&)> decay(const Real& c) const override {
    const Real reach = (c + Real(0.5)) * m_;
    const Real factor = k_ * (exp(reach) + exp(-reach));
    return [factor](const Real& u) { return factor / u; };
  }
  [[nodiscard]] Real read(Side side, const Real& e) const override {
    const WithPrecision more(closed_form_bits);
    const Real from = max(min(e, m_), -m_);
    const Real gain = side == Side::call ? exp(m_ / 2) - exp(from / 2) : exp(-m_ / 2) - exp(from / 2);
    const Real cost = side == Side::call ? exp(-from / 2) - exp(-m_ / 2) : exp(-from / 2) - exp(m_ / 2);
    return Real(2) * k_ * (gain - exp(e) * cost);
  }

 private:
  Real k_;
  Real m_;
};

}  // namespace

DensityPointer gaussian_density(const Real& mu) { return std::make_shared<GaussianDensity>(mu); }
DensityPointer exponential_density(const Real& k, const Real& m) { return std::make_shared<ExponentialDensity>(k, m); }

}  // namespace tradeoff::detail::witness
