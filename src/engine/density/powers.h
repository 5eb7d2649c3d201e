// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/density/step.h"
#include "tradeoff/interval.h"

// [density-powers]
namespace tradeoff::detail::density {

/// The accuracies to aim at. Every choice is valid; the defaults give twelve digits.
struct Accuracy {
  double polynomials = 3e-17;  ///< of the polynomials on the cells, relative to the largest value
  double count = 1e-16;        ///< of the runs with more continuous steps than are convolved
};

/// A number for each of the ellipses that bounds are tried on.
using PerEllipse = std::array<double, 4>;

/// Polynomials on the cell [0, 1], by their values at Chebyshev's points.
class CellBasis {
 public:
  explicit CellBasis(std::size_t count);
  [[nodiscard]] std::size_t count() const { return nodes_.size(); }
  [[nodiscard]] double node(std::size_t k) const { return nodes_[k]; }
  /// The values at u of the polynomials that are 1 at one node and 0 at the others.
  void lagrange(double u, double* out) const;
  /// Upper bounds of |p| on ellipses with foci 0 and 1 whose half axes, for foci at distance 2, add up to each rho.
  [[nodiscard]] PerEllipse bounds(const double* values, const PerEllipse& rhos) const;
  /// The weights of the integral of p(v) kernel(v) over [from, 1].
  template <class Kernel>
  [[nodiscard]] std::vector<double> weights(double from, Kernel&& kernel) const;

 private:
  std::vector<double> nodes_, barycentric_, coefficients_;
};

/// Many runs of one step under the weight e^(order L), normalised. A step whose loss is drawn from the density is called continuous; powers
/// of the density are polynomials on cells, and the losses of the other steps lie on the lattice.
class Powers {
 public:
  /// Whether few cells and nodes suffice for the density without a tilt.
  [[nodiscard]] static bool has_grid(const Step& step, const Accuracy& accuracy);
  /// Null if there would be too many cells or nodes.
  [[nodiscard]] static std::shared_ptr<const Powers> make(const Step& step, std::uint64_t times, double order, const Accuracy& accuracy);

  [[nodiscard]] double order() const { return order_; }
  /// E(1 - e^(epsilon - L))+ is in exp(scale) [value - polynomials - rounding, value + polynomials + rounding + omitted], for exact
  /// losses and weights.
  struct Value {
    Interval scale;
    double value = 0;
    double polynomials = 0;  ///< errors: of the polynomials,
    double rounding = 0;     ///< of sums and weights,
    double omitted = 0;      ///< and of the runs that are not convolved
  };
  [[nodiscard]] Value at(double epsilon) const;
  [[nodiscard]] std::size_t convolved() const { return powers_.size(); }
  [[nodiscard]] std::size_t cells() const;
  [[nodiscard]] std::size_t nodes() const { return basis_.count(); }

 private:
  /// A probability density on cells 0, 1, 2, ...: values at the nodes of each cell, a bound of its error at every point, and sums over all
  /// cells from one on: of e^(-order x)(1 - e^-x) and of e^(-(order + 1) x), x the distance from that cell.
  struct Density {
    std::vector<double> values;
    double error = 0;
    double largest = 0;
    std::vector<PerEllipse> bounds;  // of |density| on the ellipses around each cell
    std::vector<double> profile, tilted;
  };
  /// What a piece of the density does to a polynomial on a cell: the polynomials on the cell of the sum and on the next one.
  struct Kernel {
    std::vector<double> here, next;
    PerEllipse largest{};  // |density| on the ellipses
    double norm = 0;       // the largest sum of absolute values of a row of both
  };
  explicit Powers(std::size_t nodes) : basis_(nodes) {}
  void tilt(const Step& step);
  void make_kernels(const Step& step);
  /// A bound of how far the computed mass of the normalised density is from 1.
  [[nodiscard]] double error_of_mass() const;
  /// Of interpolation, in units of the bound on the ellipse.
  [[nodiscard]] double interpolation_factor(double rho) const;
  [[nodiscard]] Density first() const;
  [[nodiscard]] Density convolve(const Density& density) const;
  /// Finds what depends on the values.
  void finish(Density& density) const;
  void find_atom_powers(std::size_t most);
  [[nodiscard]] double piece_at(std::size_t piece, double u) const;

  CellBasis basis_;
  double order_ = 0;
  double times_ = 1;
  double offset_ = 0, step_ = 0, rate_ = 1, weight_error_ = 0, value_error_ = 0;
  std::size_t stride_ = 1;
  PerEllipse rhos_{};  // the largest first
  double log_moment_ = 0;
  double continuous_ = 0;  // probability of a continuous step
  std::vector<Piece> pieces_;
  std::vector<double> log_factor_;  // of each piece, tilted and normalised
  std::vector<Kernel> kernels_;
  std::vector<double> atoms_;  // tilted, normalised
  std::vector<Density> powers_;
  /// For 0, 1, 2, ... continuous steps: the law of the others on the lattice, times the probability of that number; and its first index.
  std::vector<std::vector<double>> atom_powers_;
  std::vector<std::size_t> atom_starts_;
  double omitted_ = 0;
};

}  // namespace tradeoff::detail::density
