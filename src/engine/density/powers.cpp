// SPDX-License-Identifier: Apache-2.0
#include "engine/density/powers.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "numeric/arithmetic.h"
#include "numeric/gauss_legendre.h"

// [density-powers]
namespace tradeoff::detail::density {
namespace {

using std::numbers::pi;

constexpr std::size_t most_nodes = 34;     // the rule of 32 points integrates their products with the density
constexpr std::size_t most_powers = 110;   // continuous steps that are convolved
constexpr double most_products = 5e8;      // of all convolutions
constexpr double negligible_atom = 1e-26;  // of a power of the atoms, relative to the largest
constexpr double largest_rho = 10, least_rho = 1.2;
constexpr double smaller_ellipse = 0.82;  // the density grows less on smaller ellipses, and so does rounding
constexpr std::size_t most_parts = 64;
constexpr double share_of_distance = 0.75;  // to the singularity of the density, that an ellipse covers

/// The sum of the half axes of the ellipse that extends this far beyond [0, 1].
double ellipse_reaching(double distance) {
  const double s = 1 + 2 * distance;
  return std::min(largest_rho, s + std::sqrt(s * s - 1));
}
double half_width(double rho) { return 0.25 * (rho + 1 / rho); }
double half_height(double rho) { return 0.25 * (rho - 1 / rho); }

/// The distance of the singularity w = 1 - rate from the cell, in units of the cell.
double distance_of_singularity(const Step& step) {
  double least = infinity;
  if (!(step.rate < 1)) return least;
  for (const Piece& piece : step.pieces) {
    const double place = (std::log1p(-step.rate) - piece.start) / piece.slope;
    least = std::min(least, place < 0 ? -place : place - 1);
  }
  return least;
}

double tilted_exponent(const Piece& piece, double order) { return piece.exponent + (piece.slope > 0 ? order : -order); }

/// log of a bound of w^exponent (w - 1 + rate)^(-3/2) on the ellipse around a cell.
double log_largest(const Step& step, const Piece& piece, double exponent, double rho) {
  const double a = piece.start + piece.slope * (0.5 - half_width(rho)), b = piece.start + piece.slope * (0.5 + half_width(rho));
  const double low = std::min(a, b), turned = std::cos(half_height(rho) * std::abs(piece.slope));
  const double distance = std::exp(low) * turned - (1 - step.rate);
  if (!(distance > 0)) return infinity;
  return std::max(exponent * a, exponent * b) - 1.5 * std::log(distance) + 1e-9 * (1 + std::abs(exponent * a) + std::abs(exponent * b));
}

/// How much larger the tilted density may be on the ellipse around a cell than on the cell, at most; its logarithm.
double log_growth(const Step& step, double order, double rho) {
  double growth = 0;
  for (const Piece& piece : step.pieces) {
    const double exponent = tilted_exponent(piece, order), end = piece.start + piece.slope;
    const auto at = [&](double l) { return exponent * l - 1.5 * std::log(std::expm1(l) + step.rate); };
    growth = std::max(growth, log_largest(step, piece, exponent, rho) - std::max(at(piece.start), at(end)));
  }
  return growth;
}

/// Cells and polynomials: parts of a step of the lattice, the ellipse on which the density is bounded, and the number of nodes.
struct Grid {
  std::size_t parts = 1;
  double rho = 2;
  std::size_t nodes = 0;
};

/// The coarsest cells for which few nodes suffice: the error is 4 rho^(1 - nodes)/(rho - 1) times the bound on the ellipse.
std::optional<Grid> grid_for(const Step& given, double order, double accuracy) {
  for (std::size_t parts = 1; parts <= most_parts; parts *= 2) {
    const Step step = refined(given, parts);
    Grid best{parts, 2, most_nodes + 1};
    for (double rho = ellipse_reaching(share_of_distance * distance_of_singularity(step)); rho > least_rho; rho *= 0.85) {
      if (!(half_height(rho) * step.step < 1)) continue;  // arg w stays below 1
      const double count = 2 + (std::log(8 / (accuracy * (rho - 1))) + 2 * log_growth(step, order, rho)) / std::log(rho);
      if (count < static_cast<double>(best.nodes)) best = {parts, rho, static_cast<std::size_t>(std::max(8.0, std::ceil(count)))};
    }
    if (best.nodes <= most_nodes) return best;
  }
  return std::nullopt;
}

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> sum(a.size() + b.size() - 1, 0.0);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) sum[i + j] += a[i] * b[j];
  return sum;
}

/// Masses on a lattice from an index on; what was dropped at both ends.
struct Masses {
  std::vector<double> values;
  std::size_t start = 0;
  double dropped = 0;

  void trim() {
    const double least = negligible_atom * *std::max_element(values.begin(), values.end());
    std::size_t first = 0, last = values.size();
    while (last > first + 1 && values[last - 1] < least) dropped += values[--last];
    while (first + 1 < last && values[first] < least) dropped += values[first++];
    values = {values.begin() + static_cast<std::ptrdiff_t>(first), values.begin() + static_cast<std::ptrdiff_t>(last)};
    start += first;
  }
};

Masses times(const Masses& a, const Masses& b) {
  Masses sum{product(a.values, b.values), a.start + b.start, a.dropped + b.dropped};  // each has total mass at most 1
  sum.trim();
  return sum;
}

Masses power(Masses base, std::uint64_t exponent) {
  Masses result{{1.0}, 0, 0};
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result = times(result, base);
    if (exponent > 1) base = times(base, base);
  }
  return result;
}

/// cos(pi m / (2n)) to 4 u: the angle is reduced by whole numbers.
double cosine_of_steps(std::size_t m, std::size_t n) {
  m %= 4 * n;
  if (m > 2 * n) m = 4 * n - m;
  const auto angle = [n](std::size_t steps) { return pi * static_cast<double>(steps) / (2 * static_cast<double>(n)); };
  if (m > n) return -cosine_of_steps(2 * n - m, n);
  return 2 * m > n ? std::sin(angle(n - m)) : std::cos(angle(m));
}

}  // namespace

CellBasis::CellBasis(std::size_t count) {
  const auto n = static_cast<double>(count);
  for (std::size_t k = 0; k < count; ++k) {
    const double angle = pi * (static_cast<double>(k) + 0.5) / n;
    nodes_.push_back(0.5 - 0.5 * std::cos(angle));
    barycentric_.push_back((k % 2 == 0 ? 1 : -1) * std::sin(angle));
  }
  for (std::size_t j = 0; j < count; ++j)
    for (std::size_t k = 0; k < count; ++k)
      coefficients_.push_back((j == 0 ? 1 : 2) / n * cosine_of_steps(j * (2 * count - 2 * k - 1), count));
}

void CellBasis::lagrange(double u, double* out) const {
  const std::size_t n = count();
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const double distance = u - nodes_[k];
    if (distance == 0) {
      std::fill(out, out + n, 0.0);
      out[k] = 1;
      return;
    }
    out[k] = barycentric_[k] / distance;
    sum += out[k];
  }
  for (std::size_t k = 0; k < n; ++k) out[k] /= sum;
}

// A Chebyshev polynomial is at most rho^j on the ellipse.
PerEllipse CellBasis::bounds(const double* values, const PerEllipse& rhos) const {
  constexpr std::size_t lanes = 8;
  const std::size_t n = count();
  double size = 0;
  for (std::size_t k = 0; k < n; ++k) size += std::abs(values[k]);
  // Of every coefficient: each sum has n/8 terms, then three; a product and its factor, at most 2/n, have 7 roundings.
  const double rounding = (static_cast<double>(n / lanes) + 14) * unit_roundoff * 2 / static_cast<double>(n) * size;
  PerEllipse sums{}, scales;
  scales.fill(1);
  for (std::size_t j = 0; j < n; ++j) {
    std::array<double, lanes> parts{};
    for (std::size_t k = 0; k < n; ++k) parts[k % lanes] += coefficients_[j * n + k] * values[k];
    const double coefficient = ((parts[0] + parts[1]) + (parts[2] + parts[3])) + ((parts[4] + parts[5]) + (parts[6] + parts[7]));
    for (std::size_t i = 0; i < rhos.size(); ++i) {
      sums[i] += (std::abs(coefficient) + rounding) * scales[i];
      scales[i] *= rhos[i];
    }
  }
  for (double& sum : sums) sum *= 1 + 1e-9;
  return sums;
}

template <class Kernel>
std::vector<double> CellBasis::weights(double from, Kernel&& kernel) const {
  std::vector<double> sum(count(), 0.0), at(count());
  const double half = 0.5 * (1 - from);
  for_each_abscissa([&](double place, double weight) {
    const double v = from + half * (1 + place);
    lagrange(v, at.data());
    const double factor = half * weight * kernel(v);
    for (std::size_t k = 0; k < at.size(); ++k) sum[k] += factor * at[k];
  });
  return sum;
}

double Powers::piece_at(std::size_t piece, double u) const {
  const double l = pieces_[piece].start + pieces_[piece].slope * u;
  return std::exp(log_factor_[piece] + pieces_[piece].exponent * l - 1.5 * std::log(std::expm1(l) + rate_));
}

/// The weight e^(order L), and all masses divided by their sum.
void Powers::tilt(const Step& step) {
  pieces_ = step.pieces;
  std::vector<double> logs;
  double sum = 0, mass = 0;
  // in units of the weight at the largest loss
  const double top = offset_ + step_ * static_cast<double>(step.pieces.size());
  for (std::size_t j = 0; j < step.atoms.size(); ++j)
    sum += step.atoms[j] * std::exp(order_ * (offset_ + step_ * static_cast<double>(j * stride_) - top));
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    pieces_[i].exponent = tilted_exponent(pieces_[i], order_);
    log_factor_.push_back(std::log(step.coefficient * step_) - order_ * top);
    for_each_abscissa([&](double place, double weight) { mass += 0.5 * weight * piece_at(i, 0.5 * (1 + place)); });
  }
  const double all = sum + mass;
  continuous_ = mass / all;
  log_moment_ = std::log(all) + order_ * top;
  for (std::size_t j = 0; j < step.atoms.size(); ++j)
    atoms_.push_back(step.atoms[j] * std::exp(order_ * (offset_ + step_ * static_cast<double>(j * stride_) - top)) / sum);
  for (double& factor : log_factor_) factor -= std::log(mass);
}

void Powers::make_kernels(const Step& step) {
  const std::size_t n = basis_.count();
  std::vector<double> at(n);
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    Kernel kernel{std::vector<double>(n * n, 0.0), std::vector<double>(n * n, 0.0)};
    for (std::size_t e = 0; e < rhos_.size(); ++e)
      kernel.largest[e] = std::exp(log_factor_[i] + log_largest(step, pieces_[i], pieces_[i].exponent, rhos_[e]));
    for (std::size_t t = 0; t < n; ++t) {
      const double u = basis_.node(t);
      double absolute = 0;
      for_each_abscissa([&](double place, double weight) {
        const double share = 0.5 * (1 + place), here = 0.5 * weight * u * piece_at(i, u * (1 - share)),
                     next = 0.5 * weight * (1 - u) * piece_at(i, 1 - (1 - u) * share);
        basis_.lagrange(u * share, at.data());
        for (std::size_t k = 0; k < n; ++k) {
          kernel.here[t * n + k] += here * at[k];
          absolute += here * std::abs(at[k]);
        }
        basis_.lagrange(u + (1 - u) * share, at.data());
        for (std::size_t k = 0; k < n; ++k) {
          kernel.next[t * n + k] += next * at[k];
          absolute += next * std::abs(at[k]);
        }
      });
      kernel.norm = std::max(kernel.norm, absolute);
    }
    kernels_.push_back(std::move(kernel));
  }
}

// The error of the rule of 32 points is at most 64/15 M rho^-64/(1 - rho^-2) on [-1, 1], M the bound on the ellipse.
double Powers::error_of_mass() const {
  double largest = 0;
  for (const Kernel& kernel : kernels_) largest += kernel.largest[0];
  return 3 * largest * std::pow(rhos_[0], -64) / (1 - 1 / (rhos_[0] * rhos_[0]));
}

double Powers::interpolation_factor(double rho) const { return 4 * std::pow(rho, 1 - static_cast<double>(basis_.count())) / (rho - 1); }

Powers::Density Powers::first() const {
  Density density;
  const std::size_t n = basis_.count();
  PerEllipse ellipse{};
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    for (std::size_t t = 0; t < n; ++t) density.values.push_back(piece_at(i, basis_.node(t)));
    for (std::size_t e = 0; e < rhos_.size(); ++e) ellipse[e] = std::max(ellipse[e], kernels_[i].largest[e]);
  }
  const double largest = *std::max_element(density.values.begin(), density.values.end());
  double interpolation = infinity;
  for (std::size_t e = 0; e < rhos_.size(); ++e) interpolation = std::min(interpolation, ellipse[e] * interpolation_factor(rhos_[e]));
  density.error = interpolation + value_error_ * largest;
  return density;
}

Powers::Density Powers::convolve(const Density& density) const {
  const std::size_t n = basis_.count(), cells = density.values.size() / n, more = pieces_.size();
  Density sum;
  sum.values.assign((cells + more) * n, 0.0);
  std::vector<PerEllipse> doubt(cells + more, PerEllipse{});  // of interpolation, in units of its factor; and of rounding
  std::vector<double> rounding(cells + more, 0.0);
  for (std::size_t j = 0; j < cells; ++j) {
    const double* const values = &density.values[j * n];
    const PerEllipse& bound = density.bounds[j];
    double largest = 0;
    for (std::size_t k = 0; k < n; ++k) largest = std::max(largest, std::abs(values[k]));
    for (std::size_t i = 0; i < more; ++i) {
      const Kernel& kernel = kernels_[i];
      double* const here = &sum.values[(i + j) * n];
      double* const next = here + n;
      for (std::size_t t = 0; t < n; ++t) {
        double a = 0, b = 0;
        for (std::size_t k = 0; k < n; ++k) {
          a += kernel.here[t * n + k] * values[k];
          b += kernel.next[t * n + k] * values[k];
        }
        here[t] += a;
        next[t] += b;
      }
      for (const std::size_t cell : {i + j, i + j + 1}) {
        for (std::size_t e = 0; e < rhos_.size(); ++e) doubt[cell][e] += bound[e] * kernel.largest[e];
        rounding[cell] += kernel.norm * largest;
      }
    }
  }
  PerEllipse factors;  // twice: the rule for the integral
  for (std::size_t e = 0; e < rhos_.size(); ++e) factors[e] = 2 * interpolation_factor(rhos_[e]) * (0.5 + half_width(rhos_[e]));
  double worst = 0;
  for (std::size_t cell = 0; cell < cells + more; ++cell) {
    double interpolation = infinity;
    for (std::size_t e = 0; e < rhos_.size(); ++e) interpolation = std::min(interpolation, factors[e] * doubt[cell][e]);
    worst = std::max(worst, interpolation + (2 * static_cast<double>(n + more) + 96) * unit_roundoff * rounding[cell]);
  }
  sum.error = density.error * (1 + 1e-9) + worst + value_error_ * density.largest * (1 + 1e-9);  // a convolution with a probability density
  return sum;
}

// [density-powers] All terms are positive: 1 - e^-(x + s) = (1 - e^-x) + e^-x (1 - e^-s).
void Powers::finish(Density& density) const {
  const std::size_t n = basis_.count(), cells = density.values.size() / n;
  for (const double value : density.values) density.largest = std::max(density.largest, std::abs(value));
  for (std::size_t j = 0; j < cells; ++j) density.bounds.push_back(basis_.bounds(&density.values[j * n], rhos_));
  const std::vector<double> profile = basis_.weights(0, [&](double v) { return -std::exp(-order_ * step_ * v) * std::expm1(-step_ * v); });
  const std::vector<double> tilted = basis_.weights(0, [&](double v) { return std::exp(-(order_ + 1) * step_ * v); });
  density.profile.assign(cells + 1, 0.0);
  density.tilted.assign(cells + 1, 0.0);
  const double fall = std::exp(-order_ * step_), more = std::exp(-step_), rise = -std::expm1(-step_);
  for (std::size_t j = cells; j-- > 0;) {
    double x = 0, y = 0;
    for (std::size_t k = 0; k < n; ++k) {
      x += profile[k] * density.values[j * n + k];
      y += tilted[k] * density.values[j * n + k];
    }
    density.profile[j] = x + fall * (density.profile[j + 1] + rise * density.tilted[j + 1]);
    density.tilted[j] = y + fall * more * density.tilted[j + 1];
  }
}

/// The powers of the atoms, from the least to the largest: each is the one before, times the atoms of one step.
void Powers::find_atom_powers(std::size_t most) {
  const Masses atoms{atoms_, 0, 0};
  const auto runs = static_cast<std::uint64_t>(times_);
  std::vector<double> chance{std::exp(times_ * std::log1p(-continuous_))};
  for (std::size_t k = 0; k < most; ++k)
    chance.push_back(chance.back() * (times_ - static_cast<double>(k)) / static_cast<double>(k + 1) * (continuous_ / (1 - continuous_)));
  Masses law = power(atoms, runs - most);
  atom_powers_.resize(most + 1);
  atom_starts_.resize(most + 1);
  for (std::size_t k = most;; --k) {
    for (const double mass : law.values) atom_powers_[k].push_back(chance[k] * mass);
    atom_starts_[k] = law.start * stride_;
    omitted_ += chance[k] * law.dropped;
    if (k == 0) break;
    law = times(law, atoms);
  }
}

bool Powers::has_grid(const Step& step, const Accuracy& accuracy) { return grid_for(step, 0, accuracy.polynomials).has_value(); }

std::shared_ptr<const Powers> Powers::make(const Step& given, std::uint64_t times, double order, const Accuracy& accuracy) {
  const auto grid = grid_for(given, order, accuracy.polynomials);
  if (!grid) return nullptr;
  const Step step = refined(given, grid->parts);
  std::shared_ptr<Powers> powers(new Powers(grid->nodes));
  for (std::size_t e = 0; e < powers->rhos_.size(); ++e)
    powers->rhos_[e] = std::max(std::min(grid->rho, least_rho), grid->rho * std::pow(smaller_ellipse, e));
  powers->order_ = order;
  powers->times_ = static_cast<double>(times);
  powers->offset_ = step.offset;
  powers->step_ = step.step;
  powers->rate_ = step.rate;
  powers->stride_ = step.stride;
  powers->weight_error_ = step.weight_error;
  powers->value_error_ =
      (16 + 4 * (order + 2) * (std::abs(step.offset) + step.step * static_cast<double>(step.pieces.size()))) * unit_roundoff;
  powers->tilt(step);
  // Chernoff: P(at least k of n) <= exp(-n KL(k/n, p)) for k > np.
  const double n = powers->times_, p = powers->continuous_;
  const auto log_at_least = [&](double k) {
    if (k > n) return -infinity;
    if (!(k > n * p)) return 0.0;
    const double others = k < n ? (n - k) * std::log((n - k) / (n * (1 - p))) : 0;
    return -(k * std::log(k / (n * p)) + others) + 1e-9 * n;
  };
  if (!(p >= 0 && p < 1 - 1e-9)) return nullptr;
  std::size_t most = 0;
  while (static_cast<double>(most) < n && log_at_least(static_cast<double>(most) + 1) > std::log(accuracy.count)) ++most;
  const auto pieces = static_cast<double>(step.pieces.size()), count = static_cast<double>(most);
  if (most > most_powers || count * count * pieces * pieces * static_cast<double>(grid->nodes * grid->nodes) > most_products)
    return nullptr;
  powers->omitted_ = std::exp(log_at_least(static_cast<double>(most) + 1));
  powers->make_kernels(step);
  if (!(powers->error_of_mass() < 1e-10)) return nullptr;
  for (std::size_t k = 0; k < most; ++k) {
    powers->powers_.push_back(k == 0 ? powers->first() : powers->convolve(powers->powers_.back()));
    powers->finish(powers->powers_.back());
  }
  powers->find_atom_powers(most);
  return powers;
}

std::size_t Powers::cells() const { return powers_.empty() ? 0 : powers_.back().values.size() / basis_.count(); }

Powers::Value Powers::at(double epsilon) const {
  const double z = (epsilon - times_ * offset_) / step_, floor = std::floor(z), u = z - floor, c = order_;
  const std::size_t n = basis_.count();
  Value value;
  value.scale = Interval::exactly(times_) * Interval::exactly(log_moment_) - Interval::exactly(c) * Interval::exactly(epsilon);
  const auto kernel = [&](double distance) { return -std::exp(-c * step_ * distance) * std::expm1(-step_ * distance); };
  // no continuous step: atoms above epsilon
  for (std::size_t i = 0; i < atom_powers_[0].size(); ++i) {
    const double distance = static_cast<double>(atom_starts_[0] + i * stride_) - z;
    if (distance > 0) value.value += atom_powers_[0][i] * kernel(distance);
  }
  const std::vector<double> partial = basis_.weights(u, [&](double v) { return kernel(v - u); });
  const double next = std::exp(-c * step_ * (1 - u)), rise = -std::expm1(-step_ * (1 - u));
  // the rule of 32 points for the integrals of the last and the first cell
  const double rule = 20 * std::pow(rhos_[0], -64) / (1 - 1 / (rhos_[0] * rhos_[0])) * std::exp((c + 1) * step_ * half_width(rhos_[0])) *
                      c * (c + 1) * step_;
  double cells_sum = 0;
  for (std::size_t k = 1; k < atom_powers_.size(); ++k) {
    const Density& density = powers_[k - 1];
    const std::size_t cells = density.values.size() / n;
    double total = 0;
    for (std::size_t i = 0; i < atom_powers_[k].size(); ++i) {
      total += atom_powers_[k][i];
      const double first = floor - static_cast<double>(atom_starts_[k] + i * stride_);  // the cell of epsilon
      if (first >= static_cast<double>(cells)) continue;
      if (first < 0) {
        const double away = -first - u;
        value.value +=
            atom_powers_[k][i] * std::exp(-c * step_ * away) * (density.profile[0] - std::expm1(-step_ * away) * density.tilted[0]);
        continue;
      }
      const auto cell = static_cast<std::size_t>(first);
      double sum = next * (density.profile[cell + 1] + rise * density.tilted[cell + 1]);
      for (std::size_t m = 0; m < n; ++m) sum += partial[m] * density.values[cell * n + m];
      value.value += atom_powers_[k][i] * sum;
    }
    cells_sum += total * (density.error + (16 + static_cast<double>(n)) * unit_roundoff * density.largest +
                          rule * std::max_element(density.bounds.begin(), density.bounds.end())->front());  // by the largest ellipse
  }
  // the integral of the kernel over all distances, in units of the step
  const double whole = 1 / (c * (c + 1) * step_);
  value.polynomials = cells_sum * whole * (1 + 1e-6);
  const double powers = static_cast<double>(powers_.size()), length = static_cast<double>(atom_powers_[0].size() + cells());
  const double relative =
      std::expm1(times_ * (weight_error_ + value_error_ + 64 * unit_roundoff)) + (256 + 64 * powers + 16 * length) * unit_roundoff;
  value.rounding = (std::abs(value.value) + value.polynomials) * relative * (1 + 1e-6);
  value.omitted = omitted_ * std::exp(c * std::log(c) - (c + 1) * std::log1p(c)) * (1 + 1e-6);
  return value;
}

}  // namespace tradeoff::detail::density
