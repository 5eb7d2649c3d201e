// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/hyperbolic/window.h"
#include "numeric/lane_loops.h"
#include "tradeoff/interval.h"
#include "transform/subsampled_nodes.h"

// J(p) = E (1 + e^V)^p, V normal with mean m = logit(rate) - mu^2/2 and deviation mu: the transform of a subsampled Gaussian step, for
// complex p, by quadrature on lines V = x + i theta. [noise-plane], [log-convex-majorant] For a sample of fixed size I(p) = E[w^p; w > 1]
// is used instead, with another density of v = log(w - 1) on the same lines. [sampled-plane]
namespace tradeoff::detail::hyperbolic {

using Complex = std::complex<double>;

/// A complex number exp(log_modulus + i phase) and a bound exp(log_error) of its error.
struct Polar {
  double log_modulus = 0;
  double phase = 0;
  double log_error = 0;
};

/// A complex number and a bound of its error.
struct Plain {
  Complex value;
  double error = 0;
};

struct Range {
  double low;
  double high;
};

/// (1 + z)^p - 1 - p z - p (p - 1) z^2 / 2 where |p z| and |z| are at most a half, by its series. [bent-remainder]
[[nodiscard]] Complex third_order(Complex p, Complex z);

/// A fast approximation of J on the real axis, for choosing saddle points and node ranges.
class RealNoise {
 public:
  RealNoise(double mu, double rate, bool remove, const std::optional<Window>& window = std::nullopt,
            SampledBy sampling = SampledBy::poisson);
  [[nodiscard]] double log_transform(double p) const;
  /// E[w^p - 1 - p (w - 1) - p (p - 1) (w - 1)^2 / 2] with w = (1 - rate)(1 + e^V).
  [[nodiscard]] double remainder(double p, double rate) const;
  /// Where the tilted density is within e^-42 of its maximum.
  [[nodiscard]] Range range(double p) const;

 private:
  double mu_;
  double mean_;
  double low_;
  double step_;
  std::vector<double> log_ratio_;  // log(1 + e^v)
  std::vector<double> log_density_;
};

/// A proved enclosure of J(p) for exponents whose mass lies in `range`; with a window, only the part of the noise inside the window.
class NoisePlane {
 public:
  NoisePlane(Interval mu, Interval rate, Range range, const std::optional<Window>& window = std::nullopt,
             SampledBy sampling = SampledBy::poisson);
  /// The range widened for `evaluate_remainder`: at the ends the powers are bounded separately, not their difference.
  [[nodiscard]] static Range remainder_range(double mu, double rate, Range range);
  /// X(p) = E[w^p - 1 - p (w - 1) - p (p - 1) (w - 1)^2 / 2], w = (1 - rate)(1 + e^V): the transform without its mean and variance terms.
  /// Without a window. [bent-remainder]
  [[nodiscard]] Plain evaluate_remainder(Complex p);
  /// J(p) with an error bound (infinite if the node range is too short). Any p.
  [[nodiscard]] Polar evaluate(Complex p);
  /// log of a bound of |J| on the convex hull of the points, Im p >= 0; infinite if the node range is too short.
  /// At a single point it also bounds |J| at every point above it.
  [[nodiscard]] double log_majorant(std::span<const Complex> hull);
  /// The number of exponentials computed so far.
  [[nodiscard]] std::uint64_t work() const { return work_; }

 private:
  /// What bounds the integrand at nodes.
  struct Bounds {
    std::vector<double> log_ceiling;  // bounds log_density, with a curvature that is known
    std::vector<double> log_modulus;  // Re l, l = log(1 + e^v)
    std::vector<double> argument;     // Im l
    std::vector<double> curvature;    // increase over the chord per unit of |p| + 1, including the error of l
  };
  struct Line : Bounds {
    double theta = 0;
    std::vector<double> log_density;
    std::vector<double> phase;
    std::vector<double> error;         // of log_density and phase together
    std::vector<double> reach;         // bounds |l|, and the error of l in units of rounding
    Bounds coarse;                     // at some of the nodes
    double greatest_slope = 1;         // sup of |l'| beyond the right end
    double left_slope = 0;             // sup of |l'| beyond the left end
    bool right_slope_positive = true;  // Re l' >= 0 beyond the right end
  };
  struct Shifted {
    const Line* line;
    double sign;  // -1: the mirror image of the line
  };

  [[nodiscard]] const Line& line(int multiple);
  [[nodiscard]] std::unique_ptr<Line> make_line(double theta) const;
  void apply_window(Line& line, std::size_t node, double x) const;
  void set_gaussian_density(Line& line, std::size_t node, double x) const;
  /// [sampled-plane] The density of log(w - 1), w > 1.
  void set_sampled_density(Line& line, std::size_t node, double x) const;
  /// Bounds |(log density)''| within `across` of x and along paths of this length from x + i theta, where cosines are at least this one.
  [[nodiscard]] double sampled_curvature(double x, double theta, double across, double length, double cosine) const;
  /// The largest loss of decay rate of a density of log(w - 1), compared with a Gaussian, beyond the two ends.
  [[nodiscard]] double sampled_left_fall(const Line& line) const;
  [[nodiscard]] double sampled_wobble(const Line& line, double right, double slope) const;
  [[nodiscard]] Shifted shifted(int multiple);
  /// How a path ends at the right: along its line to the last node and beyond, or from an earlier node along a ray, if the integrand would
  /// not decay on a line.
  enum class Exit { straight, ray };
  /// The number of nodes before the exit.
  [[nodiscard]] std::size_t length(Exit exit) const { return exit == Exit::ray ? ray_node_ + 1 : static_cast<std::size_t>(count_); }
  /// The decay rates of the integrand beyond the two ends; not positive if it may not decay.
  [[nodiscard]] double left_rate(const Line& line, Complex p) const;
  [[nodiscard]] double right_rate(const Line& line, Complex p, Exit exit) const;
  /// An upper bound of the logarithm of the integrand on the cells beside a node.
  [[nodiscard]] double log_bound_at(Shifted line, Complex p, std::size_t node) const;
  /// log of a bound of the integral of the modulus between the first and the last node.
  [[nodiscard]] double log_interior(Shifted line, Complex p, Exit exit);
  /// Relative to exp(log_scale): bounds of the integral beyond the first and the last node.
  [[nodiscard]] double tails(const Line& line, Complex p, Exit exit, double log_scale) const;
  /// log of the part of the quadrature error that comes from the ends of the node range.
  [[nodiscard]] double log_short_sides(int multiple, Complex p, Exit exit);
  /// Bounds of the logarithm of the integrand at nodes, with the increase between them but without `bulge_`.
  [[nodiscard]] static numeric::Exponents bounds(const Bounds& columns, double sign, Complex p, std::size_t count);
  /// An approximation of the largest of them.
  [[nodiscard]] double coarse_maximum(Shifted line, Complex p, Exit exit) const;
  /// Bounds of |1 + p z + p (p - 1) z^2 / 2| by c_0 + c_1 e^x + c_2 e^2x, and a bound of the part of its integral that the quadrature on a
  /// line may miss.
  using Powers = std::array<double, 3>;
  [[nodiscard]] double polynomial_error(const Line& line, const Powers& powers, Exit exit) const;
  /// The contribution of one node to X(p), and its error; `turn` is exp(i theta).
  struct Share {
    Complex value;
    double modulus;
    double error;
  };
  [[nodiscard]] Share remainder_at(const Line& line, Complex turn, Complex p, std::size_t node) const;
  /// The error of J(p) on a path that does not come from the nodes, relative to exp(log_scale).
  [[nodiscard]] double path_error(int chosen, Complex p, Exit exit, double log_scale);
  /// A path, chosen by approximations: any choice is valid.
  struct Path {
    int multiple = 0;
    Exit exit = Exit::straight;
  };
  /// Where the last choice was among the candidates, for each exit.
  using Places = std::array<std::size_t, 2>;
  /// The path of least cost, downhill from the last choice: neighbouring points want neighbouring lines. If the last choice is of no use,
  /// all candidates are tried.
  template <class Cost>
  [[nodiscard]] Path cheapest(std::span<const Complex> hull, Places& places, Cost cost);
  [[nodiscard]] Path best_path(std::span<const Complex> hull);
  [[nodiscard]] Path best_quadrature_path(Complex p);
  /// A ray is used if some exponent has a positive real part, so that the integrand increases along a line.
  [[nodiscard]] std::span<const Exit> exits(std::span<const Complex> hull) const;

  double mu_;
  double mu_doubt_;  // the true mu exceeds mu by at most this share
  Interval rate_;
  SampledBy sampling_;
  std::optional<Window> window_;
  double mean_;
  double mean_error_;
  double log_rate_;      // approximate; its error is part of mean_error_
  double log_constant_;  // -log(mu sqrt(2 pi))
  double shift_;         // eta: the distance of the lines that bound the quadrature error
  double step_;          // h: few bits, so that nodes are exact
  double bulge_ = 0;     // the largest rise of the logarithm of the Gaussian, and of the window, above its chord on a cell
  int first_ = 0;
  int count_ = 0;                             // 0: the range has too many nodes, and nothing is proved
  std::size_t ray_node_ = 0;                  // 0: no node is far enough to the right
  std::vector<int> candidates_;               // in units of eta/8
  std::vector<std::unique_ptr<Line>> lines_;  // indexed by multiples of eta/8, made when needed
  Places majorant_places_{};
  Places quadrature_places_{};
  std::uint64_t work_ = 0;
};

}  // namespace tradeoff::detail::hyperbolic
