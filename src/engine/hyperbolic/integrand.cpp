// SPDX-License-Identifier: Apache-2.0
#include "engine/hyperbolic/integrand.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "numeric/arithmetic.h"

// [bent-contour]
namespace tradeoff::detail::hyperbolic {
namespace {

double magnitude(Interval x) { return std::max(std::abs(x.lo), std::abs(x.hi)); }

/// The logarithm of a sum of exponentials of very different size.
double log_sum(std::span<const double> logs) {
  const double greatest = *std::max_element(logs.begin(), logs.end());
  if (!(std::abs(greatest) < infinity)) return greatest;
  double sum = 0;
  for (const double x : logs) sum += std::exp(x - greatest);
  return greatest + std::log(sum);
}

/// The smallest rectangle around the points.
struct Box {
  double left = infinity, right = -infinity, bottom = infinity, top = 0;
  explicit Box(std::span<const Complex> hull) {
    for (const Complex& s : hull) {
      left = std::min(left, s.real());
      right = std::max(right, s.real());
      bottom = std::min(bottom, s.imag());
      top = std::max(top, s.imag());
    }
  }
  [[nodiscard]] double distance(double real_point) const {
    return std::hypot(std::max({0.0, left - real_point, real_point - right}), bottom) * (1 - 1e-12);
  }
};

}  // namespace

Integrand::Integrand(const Expansion& expansion, std::vector<StepFactor> factors, Offset offset, double epsilon)
    : Integrand(expansion, std::move(factors), std::vector<Offset>{offset}) {
  epsilon_ = epsilon;
  taken_variance_ = expansion_.variance;
  for (const StepFactor& factor : factors_) taken_variance_ += factor.times() * middle_of(factor.variance());
}

double Integrand::log_real(double s) const {
  if (taken_variance_ > 0) return real_remainder(s);
  double common = expansion_.variance * s * (s + 1) / 2 + expansion_.log_factor.lo - std::log(s) - std::log1p(s);
  for (const StepFactor& factor : factors_) common += factor.log_real(s);
  std::vector<double> term_logs;
  for (const BreakTerm& term : expansion_.terms) {
    // The lower term of truncated noise is negative for small s; a saddle point is chosen by its absolute value.
    term_logs.push_back(std::log(std::abs(middle_of(term.at_zero) + 2 * s * middle_of(term.constant)) / (2 * s + 1)));
  }
  std::vector<double> logs;
  for (const Offset& offset : offsets_) {
    const Summand& summand = expansion_.summands[offset.summand];
    double log = summand.log_coefficient + s * offset.y;
    for (std::size_t a = 0; a < term_logs.size(); ++a) {
      if (summand.powers[a] != 0) log += summand.powers[a] * term_logs[a];
    }
    logs.push_back(log);
  }
  return common + log_sum(logs);
}

bool Integrand::move_to(const std::vector<Offset>& offsets, double epsilon) {
  const bool same = std::equal(offsets.begin(), offsets.end(), offsets_.begin(), offsets_.end(),
                               [](const Offset& a, const Offset& b) { return a.summand == b.summand; });
  if (same) offsets_ = offsets;
  epsilon_ = epsilon;
  return same;
}

void Integrand::prepare(double low, double high, double margin) {
  earlier_work_ = work();
  common_factors_.clear();
  factor_bounds_.clear();
  log_remainders_.clear();
  for (StepFactor& factor : factors_) factor.prepare(low, high, margin, taken_variance_ > 0);
}

std::uint64_t Integrand::work() const {
  std::uint64_t total = earlier_work_;
  for (const StepFactor& factor : factors_) total += factor.work();
  return total;
}

// Each factor is bounded on the hull separately. On a ray only bounds that decrease with Im s may be used. Each sum of logarithms includes
// 64 units of the sum of its absolute values: its own roundings and those of the points of the hull.
double Integrand::log_bound(std::span<const Complex> hull, bool ray) {
  const Box box(hull);
  const Bound factors = factor_bound(hull);
  double common = expansion_.log_factor.hi + factors.log;
  double size = std::abs(expansion_.log_factor.hi) + factors.size;
  if (expansion_.variance > 0) {  // Re s(s+1) = (x + 1/2)^2 - 1/4 - y^2
    const double x = std::max(std::abs(box.left + 0.5), std::abs(box.right + 0.5));
    const double half = expansion_.variance / 2;
    const double total = x * x + 0.25 + box.bottom * box.bottom;
    common += half * (x * x - 0.25 - box.bottom * box.bottom) + expansion_.variance_error * total;
    size += half * total;
  }
  const double pole = 2 * box.distance(-0.5);
  std::vector<double> term_logs;
  for (const BreakTerm& term : expansion_.terms) {
    const double spread = magnitude(term.constant) + magnitude(term.residue) / pole;
    const double left = magnitude(term.at_zero + 2.0 * box.left * term.constant);
    const double right = magnitude(term.at_zero + 2.0 * box.right * term.constant);
    const double direct = std::hypot(std::max(left, right), 2 * box.top * magnitude(term.constant)) / pole;
    term_logs.push_back(std::log(ray ? spread : std::min(spread, direct)) + 1e-12);
  }
  std::vector<double> logs;
  for (const Offset& offset : offsets_) {
    const Summand& summand = expansion_.summands[offset.summand];
    const double linear = std::max(box.left * offset.y, box.right * offset.y);
    double log = summand.log_coefficient + linear;
    double own_size = std::abs(summand.log_coefficient) + std::abs(linear);
    double error = summand.log_coefficient_error + offset.y_error * std::max(std::abs(box.left), std::abs(box.right));
    for (std::size_t a = 0; a < term_logs.size(); ++a) {
      if (summand.powers[a] == 0) continue;
      log += summand.powers[a] * term_logs[a];
      own_size += summand.powers[a] * std::abs(term_logs[a]);
    }
    logs.push_back(log + error + 64 * unit_roundoff * own_size);
  }
  const double kernel = ray ? 0 : std::log(box.distance(0)) + std::log(box.distance(-1));
  const double log = common + log_sum(logs) + 64 * unit_roundoff * size + 1e-9;
  if (!(taken_variance_ > 0)) return log - kernel;
  const std::array<double, 2> both{log, log_taken_bound(hull)};
  return log_sum(both) - kernel + 1e-9;
}

double Integrand::log_taken_bound(std::span<const Complex> hull) const {
  const Box box(hull);
  const double x = std::max(std::abs(box.left + 0.5), std::abs(box.right + 0.5));
  const double half = taken_variance_ / 2;
  const double total = half * (x * x + 0.25 + box.bottom * box.bottom);
  const double linear = -epsilon_ * box.left;
  return half * (x * x - 0.25 - box.bottom * box.bottom) + linear + 64 * unit_roundoff * (total + std::abs(linear)) + 1e-9;
}

std::size_t Integrand::Hash::operator()(const Complex& s) const {
  const std::hash<double> hash;
  return hash(s.real()) + 0x9e3779b97f4a7c15U * hash(s.imag());
}

std::size_t Integrand::Hash::operator()(const Hull& hull) const {
  std::size_t result = 0;
  for (const Complex& s : hull) result = 31 * result + (*this)(s);
  return result;
}

Integrand::Bound Integrand::factor_bound(std::span<const Complex> hull) {
  Hull key{-1.0, -1.0, -1.0};
  std::copy(hull.begin(), hull.end(), key.begin());
  const auto known = factor_bounds_.find(key);
  if (known != factor_bounds_.end()) return known->second;
  Bound bound{0, 0};
  for (StepFactor& factor : factors_) {
    const double log = factor.log_majorant(hull);
    bound.log += log;
    bound.size += std::abs(log);
  }
  factor_bounds_.emplace(key, bound);
  return bound;
}

const LogValue& Integrand::common_factor(Complex s) {
  const auto known = common_factors_.find(s);
  if (known != common_factors_.end()) return known->second;
  return common_factors_.emplace(s, find_common_factor(s)).first->second;
}

// s itself has up to 16 units of rounding error; each line below includes it, multiplied by the derivative of its logarithm.
LogValue Integrand::find_common_factor(Complex s) {
  const double x = s.real();
  const double y = s.imag();
  LogValue total{middle_of(expansion_.log_factor), 0, expansion_.log_factor.width(), true};
  double size = std::abs(total.real);
  for (StepFactor& factor : factors_) {
    const LogValue value = factor.evaluate(s);
    total.real += value.real;
    total.phase += value.phase;
    total.error += value.error;
    total.known = total.known && value.known;
    size += std::abs(value.real) + std::abs(value.phase);
  }
  if (expansion_.variance > 0) {
    const double half = expansion_.variance / 2;
    total.real += half * (x * (x + 1) - y * y);
    total.phase += half * (2 * x + 1) * y;
    const double moved = std::abs(x) * (std::abs(x) + 1) + y * y + (2 * std::abs(x) + 1) * std::abs(y);
    total.error += (expansion_.variance_error + 40 * unit_roundoff * expansion_.variance) * moved;
  }
  const double near = std::hypot(x + 1, y);
  total.real -= std::log(std::hypot(x, y)) + std::log(near);
  total.phase -= std::atan2(y, x) + std::atan2(y, x + 1);
  size += std::abs(std::log(std::hypot(x, y))) + std::abs(std::log(near)) + 8;
  total.error += unit_roundoff * (8 * size + 20 * (std::hypot(x, y) + 1) / near + 40);
  return total;
}

LogValue Integrand::term_logarithm(const BreakTerm& term, Complex s) const {
  const double at_zero = middle_of(term.at_zero);
  const double constant = middle_of(term.constant);
  const double real = at_zero + 2 * constant * s.real();
  const double imaginary = 2 * constant * s.imag();
  const double modulus = std::hypot(real, imaginary);
  const double pole_real = 2 * s.real() + 1;
  const double pole_imaginary = 2 * s.imag();
  const double pole = std::hypot(pole_real, pole_imaginary);
  const double size = std::hypot(s.real(), s.imag());
  const double uncertain = term.at_zero.width() + 2 * term.constant.width() * size;
  const double slack = uncertain + 24 * unit_roundoff * (std::abs(at_zero) + 2 * std::abs(constant) * size);
  LogValue result{std::log(modulus) - std::log(pole), std::atan2(imaginary, real) - std::atan2(pole_imaginary, pole_real), 0, true};
  result.error = unit_roundoff * (24 * (2 * size + 1) / pole + 8 * (std::abs(std::log(modulus)) + std::abs(std::log(pole)) + 8));
  if (slack < 0.5 * modulus) {
    result.error += 1.5 * slack / modulus;
  } else {
    result.known = false;
    result.real = std::log(modulus + slack) - std::log(pole);
  }
  return result;
}

// If the remainder of the logarithm is less accurate than this, the logarithm itself may be better.
constexpr double fine_enough = 1e-12;

// [bent-remainder] The variance as a double differs from the sum over the factors by one rounding per kind of step.
const Plain& Integrand::log_remainder(Complex s) {
  const auto known = log_remainders_.find(s);
  if (known != log_remainders_.end()) return known->second;
  Plain total;
  for (StepFactor& factor : factors_) {
    const Plain one = factor.evaluate_remainder(s);
    total.value += one.value;
    total.error += one.error + 2 * unit_roundoff * std::abs(total.value);
  }
  if (!(total.error < fine_enough)) {
    const Plain direct = log_difference(s);
    if (direct.error < total.error) total = direct;
  }
  const double size = std::abs(s) * (std::abs(s) + 1);
  total.error += (expansion_.variance_error + unit_roundoff * (static_cast<double>(factors_.size()) + 2) * taken_variance_) * size;
  return log_remainders_.emplace(s, total).first->second;
}

Plain Integrand::log_difference(Complex s) {
  LogValue sum{middle_of(expansion_.log_factor), 0, expansion_.log_factor.width(), true};
  double size = std::abs(sum.real);
  for (StepFactor& factor : factors_) {
    const LogValue value = factor.evaluate(s);
    sum.real += value.real;
    sum.phase += value.phase;
    sum.error += value.known ? value.error : infinity;
    size += std::abs(value.real) + std::abs(value.phase);
  }
  const Summand& summand = expansion_.summands[offsets_.front().summand];
  const double position = summand.position.value();
  const Complex taken = (taken_variance_ - expansion_.variance) / 2 * (s * (s + 1.0));
  const double length = std::abs(s);
  size += length * std::abs(position) + std::abs(taken);
  return {Complex(sum.real + s.real() * position, sum.phase + s.imag() * position) - taken,
          sum.error + length * summand.position_error + unit_roundoff * (64 * size + 64)};
}

Sample Integrand::sample_remainder(Complex s, double log_scale) {
  const Plain& rest = log_remainder(s);
  const double x = s.real();
  const double y = s.imag();
  const double size = std::abs(s);
  const double half = taken_variance_ / 2;
  const double real = half * (x * (x + 1) - y * y) - x * epsilon_ - std::log(size) - std::log(std::hypot(x + 1, y)) - log_scale;
  const double phase = half * (2 * x + 1) * y - y * epsilon_ - std::atan2(y, x) - std::atan2(y, x + 1);
  const double magnitudes = taken_variance_ * size * (size + 1) + 2 * size * epsilon_ + std::abs(std::log(size)) +
                            std::abs(std::log(std::hypot(x + 1, y))) + std::abs(log_scale) + 8;
  const double a = rest.value.real();
  const double b = rest.value.imag();
  const double growth = std::exp(a);
  const double half_sine = std::sin(b / 2);
  const Complex difference(std::expm1(a) * std::cos(b) - 2 * half_sine * half_sine, growth * std::sin(b));
  const double prefactor = std::exp(real);
  const Complex turn(std::cos(phase), std::sin(phase));
  const double modulus = std::abs(difference);
  const double doubt = rest.error + 4 * unit_roundoff * (std::abs(a) + std::abs(b));
  Sample result{prefactor * difference * turn, 0, prefactor * modulus};
  result.error =
      prefactor * (growth * std::expm1(doubt) + modulus * std::expm1(unit_roundoff * (60 * magnitudes + 20)) +
                   10 * unit_roundoff * (std::abs(std::expm1(a)) + std::min(2.0, b * b / 2) + growth * std::min(1.0, std::abs(b))));
  if (!(result.error < infinity) || doubt > 0.5) {  // only a bound is known
    const double bound = prefactor * (growth * std::exp(doubt) + 1);
    result = {0, bound < infinity ? bound : infinity, bound < infinity ? bound : infinity};
  }
  result.error *= 1 + 1e-9;
  return result;
}

double Integrand::real_remainder(double s) const {
  double rest = 0;
  for (const StepFactor& factor : factors_) rest += factor.real_remainder(s);
  const double log = rest > 30 ? rest : std::log(std::abs(std::expm1(rest)));
  return log + taken_variance_ * s * (s + 1) / 2 - s * epsilon_ - std::log(s) - std::log1p(s);
}

Sample Integrand::sample(Complex s, double log_scale) {
  if (taken_variance_ > 0) return sample_remainder(s, log_scale);
  const LogValue& common = common_factor(s);
  std::vector<LogValue> terms;
  for (const BreakTerm& term : expansion_.terms) terms.push_back(term_logarithm(term, s));
  const double size = std::hypot(s.real(), s.imag());
  Sample result;
  for (const Offset& offset : offsets_) {
    const Summand& summand = expansion_.summands[offset.summand];
    double real = common.real - log_scale + summand.log_coefficient + s.real() * offset.y;
    double phase = common.phase + s.imag() * offset.y;
    bool known = common.known;
    double error = common.error + summand.log_coefficient_error + size * offset.y_error;
    double magnitudes = std::abs(common.real) + std::abs(log_scale) + std::abs(common.phase) + std::abs(summand.log_coefficient) +
                        2 * size * std::abs(offset.y);
    for (std::size_t a = 0; a < terms.size(); ++a) {
      const double power = summand.powers[a];
      if (power == 0) continue;
      real += power * terms[a].real;
      phase += power * terms[a].phase;
      error += power * terms[a].error;
      known = known && terms[a].known;
      magnitudes += power * (std::abs(terms[a].real) + std::abs(terms[a].phase));
    }
    error += unit_roundoff * (20 * magnitudes + 2 * static_cast<double>(terms.size()) * magnitudes + 20);
    if (known && error < 0.5) {
      const double modulus = std::exp(real);
      result.value += Complex(modulus * std::cos(phase), modulus * std::sin(phase));
      result.modulus += modulus;
      result.error += modulus * std::expm1(error) * (1 + 1e-9);
    } else {
      const double bound = std::exp(real + error + 1e-9);
      result.modulus += bound;
      result.error += bound;
    }
  }
  return result;
}

}  // namespace tradeoff::detail::hyperbolic
