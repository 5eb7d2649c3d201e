// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "ball.h"

// The distribution of a privacy loss L = log(P/Q) in the remove direction: point masses, a density, and the outcomes of only one side.
namespace tradeoff::detail::witness {

/// Closed forms cancel down to the answer; answers above 1e-100 keep 300 bits.
inline constexpr slong closed_form_bits = 640;

/// The two integrals of a loss distribution at a threshold e: E_P (1 - exp(e - L))+ and E_P (exp(e - L) - 1)+.
enum class Side { call, put };

/// A part of a distribution that has a density, by its transform D(s) = integral of exp(s l) over its P mass.
class Density {
 public:
  virtual ~Density() = default;
  /// D(c) for real c.
  [[nodiscard]] virtual Real at(const Real& c) const { return along(c, Real(1), 1).front().real(); }
  /// D(c + i k step) for k = 0 .. count - 1.
  [[nodiscard]] virtual std::vector<Complex> along(const Real& c, const Real& step, std::size_t count) const = 0;
  /// A function b of u > 0 with |D(c + iv)| <= b(u) for all v >= u.
  [[nodiscard]] virtual std::function<Real(const Real&)> decay(const Real& c) const = 0;
  /// The integral at the threshold e, in closed form.
  [[nodiscard]] virtual Real read(Side side, const Real& e) const = 0;
};
using DensityPointer = std::shared_ptr<const Density>;

/// N(mu, 1) against N(0, 1).
[[nodiscard]] DensityPointer gaussian_density(const Real& mu);
/// P density k exp(l/2) for the loss l in [-m, m].
[[nodiscard]] DensityPointer exponential_density(const Real& k, const Real& m);
/// The same two on a Poisson sample of this rate, strictly between 0 and 1.
[[nodiscard]] DensityPointer sampled_gaussian_density(const Real& mu, const Real& rate);
[[nodiscard]] DensityPointer sampled_exponential_density(const Real& k, const Real& m, const Real& rate);
/// One step of this many, drawn uniformly, shows N(mu, 1), the others N(0, 1). It has no transforms: it is read alone.
[[nodiscard]] DensityPointer allocation_density(const Real& mu, unsigned long steps);

/// The position of a point mass: an integer multiple of each unit of the plan. Equal positions merge without comparing balls.
using Place = std::map<std::size_t, long>;

/// Point masses under P. `units` belong to the plan as a whole.
class Atoms {
 public:
  void add(const Place& place, const Real& mass) { masses_[place] += mass; }
  [[nodiscard]] const std::map<Place, Real>& masses() const { return masses_; }
  [[nodiscard]] bool empty() const { return masses_.empty(); }
  [[nodiscard]] static Real loss(const Place& place, const std::vector<Real>& units);

 private:
  std::map<Place, Real> masses_;
};

/// All sums of an atom of each; throws UnsupportedError beyond a size that takes minutes.
[[nodiscard]] Atoms convolve(const Atoms& a, const Atoms& b);
[[nodiscard]] Atoms convolve_power(const Atoms& atoms, unsigned long times);

/// One mechanism, run `times` times.
struct Part {
  Atoms atoms;
  DensityPointer density;  ///< null if all of it is atoms
  Real gaussian_mu;        ///< mu of a plain Gaussian, which is composed and sampled in closed form; 0 otherwise
  Real exponential_k;      ///< of an exponential density: its factor and its reach; 0 otherwise
  Real exponential_m;
  Real revealed;  ///< P mass that Q cannot produce
  Real excluded;  ///< Q mass that P cannot produce
  unsigned long times = 1;
  bool chosen = false;  ///< one of several pairs, chosen by an adversary; this is the pair that dominates them
};

}  // namespace tradeoff::detail::witness
