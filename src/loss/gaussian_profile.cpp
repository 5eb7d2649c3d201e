// SPDX-License-Identifier: Apache-2.0
#include "loss/gaussian_profile.h"

#include <optional>

#include "loss/mirrored_delta.h"
#include "numeric/double_double.h"
#include "numeric/mills.h"
#include "numeric/normal.h"
#include "numeric/root.h"

// [gaussian-profile]
namespace tradeoff::detail {
namespace {

using numeric::around;
using numeric::far_away;
using numeric::Precise;

constexpr double least_double = std::numeric_limits<double>::denorm_min();
constexpr double largest_double = std::numeric_limits<double>::max();
// Beyond this argument the density is below the least double.
constexpr double out_of_reach = 60;

/// y = epsilon/mu - mu/2 and z = epsilon/mu + mu/2 in double-double precision, for epsilon >= 0 and mu > 0. Even with cancellation the
/// error of y is at most 5 * 2^-53 |y| + 2^-499, so first-order error bounds in y hold. [gaussian-profile]
struct Place {
  Precise y;
  Precise z;
};

Precise sum_of(double a, double b, double low, double error) {
  const numeric::DoubleDouble sum = numeric::two_sum(a, b);
  if (!(std::abs(sum.high) <= largest_double)) return {{sum.high, 0}, 0};
  const double rest = sum.low + low;
  return {numeric::two_sum(sum.high, rest), error + 2 * unit_roundoff * std::abs(rest)};
}

Place place(double mu, double epsilon) {
  // Scales both; the quotient stays the same. Unscaled, the remainder of a tiny mu would underflow.
  const bool tiny = mu < 0x1p-500;
  const double divisor = tiny ? mu * 0x1p540 : mu;
  const double dividend = tiny ? epsilon * 0x1p540 : epsilon;
  const double quotient = dividend / divisor;
  if (!(quotient <= largest_double)) return {{{infinity, 0}, 0}, {{infinity, 0}, 0}};
  const double remainder = std::fma(-quotient, divisor, dividend) / divisor;
  const double error = 2 * unit_roundoff * std::abs(remainder) + 0x1p-500;  // the last term covers underflow
  return {sum_of(quotient, -mu / 2, remainder, error), sum_of(quotient, mu / 2, remainder, error)};
}

/// 1 - delta for y < -1.
Interval complement_on_left(const Place& at) {
  const numeric::Density density = numeric::density(at.y);
  const numeric::Approximation left = numeric::mills(-at.y);
  const numeric::Approximation right = numeric::mills(at.z);
  return numeric::around(density.value.value * (left.value + right.value) * density.tail,
                         density.value.relative_error + std::max(left.relative_error, right.relative_error));
}

/// delta for y >= -1.
Interval delta_on_right(const Place& at, double mu) {
  const numeric::Density density = numeric::density(at.y);
  const numeric::MillsDifference difference = numeric::mills_difference(at.y, at.z, mu);
  return numeric::around(density.value.value * difference.factor.value * difference.scale * density.tail,
                         density.value.relative_error + difference.factor.relative_error);
}

// The point functions below take 0 < mu < infinity and 0 <= epsilon < infinity.

Interval delta_at(double mu, double epsilon) {
  const Place at = place(mu, epsilon);
  if (at.y.high - at.y.error > out_of_reach) return {0, least_double};
  if (at.y.high + at.y.error < -out_of_reach) return {numeric::next_down(1), 1};
  if (at.y.high >= -1) return delta_on_right(at, mu);
  return 1 - complement_on_left(at);
}

Interval complement_at(double mu, double epsilon) {
  const Place at = place(mu, epsilon);
  if (at.y.high - at.y.error > out_of_reach) return {numeric::next_down(1), 1};
  if (at.y.high + at.y.error < -out_of_reach) return {0, least_double};
  if (at.y.high >= -1) return 1 - delta_on_right(at, mu);
  return complement_on_left(at);
}

Interval log_density_at(const Precise& y) {
  const numeric::LogDensity density = numeric::log_density(y);
  return {density.value - density.error, density.value + density.error};
}

Interval log_delta_at(double mu, double epsilon) {
  const Place at = place(mu, epsilon);
  if (at.y.high - at.y.error > far_away) return {-infinity, -far_away};
  if (at.y.high < -1) return log1p(-complement_at(mu, epsilon));
  const numeric::MillsDifference difference = numeric::mills_difference(at.y, at.z, mu);
  return log_density_at(at.y) + (log(around(difference.factor)) + log(Interval::exactly(difference.scale)));
}

Interval log_complement_at(double mu, double epsilon) {
  const Place at = place(mu, epsilon);
  if (at.y.high + at.y.error < -far_away) return {-infinity, -far_away};
  if (at.y.high >= -1) return log1p(-delta_at(mu, epsilon));
  const numeric::Approximation left = numeric::mills(-at.y);
  const numeric::Approximation right = numeric::mills(at.z);
  return log_density_at(at.y) + log(around(left) + around(right));
}

/// Evaluates a point function of the profile at any real epsilon and any mu in [0, infinity]; at the ends it returns the limits.
///   limit_without(e): the value at mu = 0, which is also the limit of large |epsilon|;  certain: the value at mu = infinity.
template <class Inside, class Without>
Interval everywhere(Inside inside, Without limit_without, Interval certain, double mu, double epsilon) {
  if (mu == infinity) return epsilon == infinity ? hull(limit_without(epsilon), certain) : certain;
  if (!(mu > 0) || std::abs(epsilon) == infinity) return limit_without(epsilon);
  return inside(mu, epsilon);
}

Interval any_delta_at(double mu, double epsilon) {
  return everywhere([](double m, double e) { return e >= 0 ? delta_at(m, e) : mirrored_delta(e, delta_at(m, -e)); },
                    [](double e) { return e >= 0 ? Interval::exactly(0) : -expm1(Interval::exactly(e)); }, Interval::exactly(1), mu,
                    epsilon);
}

Interval any_complement_at(double mu, double epsilon) {
  return everywhere([](double m, double e) { return e >= 0 ? complement_at(m, e) : exp(Interval::exactly(e)) * complement_at(m, -e); },
                    [](double e) { return e >= 0 ? Interval::exactly(1) : exp(Interval::exactly(e)); }, Interval::exactly(0), mu, epsilon);
}

Interval any_log_delta_at(double mu, double epsilon) {
  return everywhere(
      [](double m, double e) {
        if (e >= 0) return log_delta_at(m, e);
        // Near 1 the complement is accurate; near 0 the two terms of the mirror are.
        const Interval complement = any_complement_at(m, e);
        return complement.hi < 0.5 ? log1p(-complement) : log(any_delta_at(m, e));
      },
      [](double e) { return e >= 0 ? Interval::exactly(-infinity) : log1mexp(Interval::exactly(e)); }, Interval::exactly(0), mu, epsilon);
}

Interval any_log_complement_at(double mu, double epsilon) {
  return everywhere([](double m, double e) { return e >= 0 ? log_complement_at(m, e) : e + log_complement_at(m, -e); },
                    [](double e) { return Interval::exactly(std::min(e, 0.0)); }, Interval::exactly(-infinity), mu, epsilon);
}

/// The range of a function that increases in both arguments.
template <class Function>
Interval ends(Function at, Interval a, Interval b) {
  const Interval low = at(a.lo, b.lo);
  return a.lo == a.hi && b.lo == b.hi ? low : Interval{low.lo, at(a.hi, b.hi).hi};
}

/// delta over an interval of epsilon >= 0 that is as short as the rounding of a decimal. delta is convex with slope -phi(y) M(z), and M(z)
/// <= min(sqrt(pi/2), 1/z), so the tangent at the near end bounds it from below. Empty if that would widen the answer noticeably.
std::optional<Interval> delta_along_tangent(double mu, Interval epsilon) {
  const Place at = place(mu, epsilon.lo);
  if (!(at.y.high >= -1 && at.y.high < 30)) return std::nullopt;
  const numeric::Density density = numeric::density(at.y);
  const numeric::MillsDifference difference = numeric::mills_difference(at.y, at.z, mu);
  const Interval value = numeric::around(density.value.value * difference.factor.value * difference.scale * density.tail,
                                         density.value.relative_error + difference.factor.relative_error);
  const double fall = (epsilon.hi - epsilon.lo) * density.value.value * std::min(1.2534, 1 / at.z.high) * (1 + 1e-9);
  if (!(fall <= 0x1p-30 * value.lo)) return std::nullopt;
  return Interval{numeric::next_down(value.lo - fall), value.hi};
}

/// The range of a function that increases in mu and decreases in epsilon.
template <class Function>
Interval range(Function at, Interval mu, Interval epsilon) {
  return ends([&](double m, double minus) { return at(m, -minus); }, mu, -epsilon);
}

/// A level of delta in (0, 1) for the root finders: its two logarithms, approximately; Newton uses the more negative one.
struct Level {
  double log_delta;
  double log_complement;
  [[nodiscard]] bool is_low() const { return log_delta <= log_complement; }
};

/// Phi^-1(delta), approximately.
double quantile_of(const Level& level) {
  return level.is_low() ? middle_of(normal_quantile_of_log(level.log_delta)) : -middle_of(normal_quantile_of_log(level.log_complement));
}

/// log(delta / level) or log(level's complement / complement) at a point: increasing in mu, 0 at the root; and log phi(y) - log of the
/// same.
struct Residual {
  double value;
  double log_density_ratio;
};
Residual residual_at(double mu, double epsilon, const Level& level) {
  const double log_density = middle_of(log_density_at(place(mu, epsilon).y));
  if (level.is_low()) {
    const double log_delta = middle_of(log_delta_at(mu, epsilon));
    return {log_delta - level.log_delta, log_density - log_delta};
  }
  const double log_complement = middle_of(log_complement_at(mu, epsilon));
  return {level.log_complement - log_complement, log_density - log_complement};
}

/// Newton's method inside a bracket that the signs shrink; a step that leaves it halves it. `step(x)` is the Newton step at x.
template <class Step>
double newton(double x, double low, double high, Step step_at) {
  for (int i = 0; i < 60 && 0 < x && x <= largest_double; ++i) {
    const double step = step_at(x);
    (step > 0 ? low : high) = x;
    double next = x + step;
    if (!(low <= next && next <= high)) next = high == infinity ? 2 * x : numeric::middle(low, high);
    const bool converged = std::abs(next - x) <= 0x1p-50 * std::abs(next);
    x = next;
    if (converged) break;
  }
  return x;
}

/// mu_GDP approximately: log delta_mu is concave in mu, so Newton climbs from the lower bounds given by Phi(-y) and by epsilon = 0.
double guess_mu(double epsilon, const Level& level) {
  const double q = quantile_of(level);
  const double root = std::hypot(q, std::sqrt(2.0) * std::sqrt(epsilon));
  const double from_tail = q > 0 ? q + root : epsilon / ((root - q) / 2);
  const double from_zero = level.is_low() ? 2.5066282746310002 * std::exp(level.log_delta)
                                          : -2 * middle_of(normal_quantile_of_log(level.log_complement - 0.6931471805599453));
  const double start = std::max({from_tail, from_zero, least_double});
  return newton(start, 0, infinity, [&](double mu) {
    const Residual residual = residual_at(mu, epsilon, level);
    return -residual.value / std::exp(residual.log_density_ratio);
  });
}

/// eps_GDP approximately: log delta is concave in epsilon, so Newton descends from the upper bound given by Phi(-y).
double guess_epsilon(double mu, const Level& level) {
  const double start = std::min(mu * (mu / 2 - quantile_of(level)), largest_double);
  if (!(start > 0)) return 0;
  return newton(start, 0, infinity, [&](double epsilon) {
    const Residual residual = residual_at(mu, epsilon, level);
    return residual.value / (std::exp(residual.log_density_ratio) * numeric::mills(place(mu, epsilon).z).value);
  });
}

// The given quantity: delta, its logarithm or its complement. Each is compared with an enclosure of the same quantity, so that a conversion
// loses no digits; all are written as increasing in delta.

/// The quantity, and the function of (mu, epsilon) that encloses it.
struct Question {
  double value;
  Interval (*at)(double mu, double epsilon);
  Level level;
};
Interval minus_complement_at(double mu, double epsilon) { return -complement_at(mu, epsilon); }

Question ask_delta(double delta) {
  const Level level{std::log(delta), std::log1p(-delta)};
  if (delta > 0.5) return {-(1 - delta), minus_complement_at, level};  // exact difference
  return {delta, delta_at, level};
}
Question ask_log(double log_delta) { return {log_delta, log_delta_at, {log_delta, middle_of(log1mexp(Interval::exactly(log_delta)))}}; }
Interval minus_log_complement_at(double mu, double epsilon) { return -log_complement_at(mu, epsilon); }
Question ask_log_complement(double log_complement) {
  return {-log_complement, minus_log_complement_at, {middle_of(log1mexp(Interval::exactly(log_complement))), log_complement}};
}
Question ask_complement(double complement) { return {-complement, minus_complement_at, {std::log1p(-complement), std::log(complement)}}; }

Interval solve_mu(double epsilon, const Question& question) {
  if (epsilon == infinity) return Interval::exactly(infinity);
  return numeric::increasing_root([&](double mu) { return mu > 0 ? question.at(mu, epsilon) : Interval::exactly(-infinity); },
                                  Interval::exactly(question.value), guess_mu(epsilon, question.level), {0, infinity});
}

Interval solve_epsilon(double mu, const Question& question) {
  return numeric::increasing_root([&](double epsilon) { return -question.at(mu, epsilon); }, Interval::exactly(-question.value),
                                  guess_epsilon(mu, question.level), {0, infinity});
}

Interval mu_at(double epsilon, double delta) {
  if (delta <= 0) return Interval::exactly(0);
  if (delta >= 1) return Interval::exactly(infinity);
  return solve_mu(epsilon, ask_delta(delta));
}
Interval mu_of_log_at(double epsilon, double log_delta) {
  if (log_delta == -infinity) return Interval::exactly(0);
  if (log_delta >= 0) return Interval::exactly(infinity);
  return solve_mu(epsilon, ask_log(log_delta));
}
Interval mu_of_complement_at(double epsilon, double complement) {
  if (complement >= 1) return Interval::exactly(0);
  if (complement <= 0) return Interval::exactly(infinity);
  return solve_mu(epsilon, ask_complement(complement));
}
Interval mu_of_log_complement_at(double epsilon, double log_complement) {
  if (log_complement >= 0) return Interval::exactly(0);
  if (log_complement == -infinity) return Interval::exactly(infinity);
  return solve_mu(epsilon, ask_log_complement(log_complement));
}
/// For a negative epsilon the mirror turns the question into one about -epsilon and exp(-epsilon) times the complement.
Interval mirrored_mu_at(double epsilon, Interval complement) {
  const Interval mirrored = exp(Interval::exactly(-epsilon)) * complement;
  return {mu_of_complement_at(-epsilon, mirrored.hi).lo, mu_of_complement_at(-epsilon, mirrored.lo).hi};
}

}  // namespace

Interval gaussian_delta(Interval mu, Interval epsilon) {
  if (mu.lo == mu.hi && 0 < mu.lo && mu.hi < infinity && 0 <= epsilon.lo && epsilon.lo < epsilon.hi && epsilon.hi < infinity)
    if (const auto found = delta_along_tangent(mu.lo, epsilon)) return clamp(*found, 0, 1);
  return clamp(range(any_delta_at, mu, epsilon), 0, 1);
}
Interval log_gaussian_delta(Interval mu, Interval epsilon) { return min(range(any_log_delta_at, mu, epsilon), Interval::exactly(0)); }
Interval gaussian_complement(Interval mu, Interval epsilon) {
  return clamp(-range([](double m, double e) { return -any_complement_at(m, e); }, mu, epsilon), 0, 1);
}
Interval log_gaussian_complement(Interval mu, Interval epsilon) {
  return min(-range([](double m, double e) { return -any_log_complement_at(m, e); }, mu, epsilon), Interval::exactly(0));
}

void gaussian_delta(double mu, std::span<const double> epsilon, std::span<Interval> out) {
  for (std::size_t i = 0; i < epsilon.size(); ++i) out[i] = clamp(any_delta_at(mu, epsilon[i]), 0, 1);
}

// With R = M(z)/(M(y) - M(z)) the first derivative is -R and minus the second one R (1 + R) - 1/(mu (M(y) - M(z))). Far out the two terms
// cancel, so a point nearer by is used.
double gaussian_bend_below(double mu, double epsilon) {
  constexpr double furthest = 300;  // of y
  if (!(mu > 0 && mu < infinity)) return 0;
  const Place at = place(mu, std::min(epsilon, mu * (furthest + mu / 2)));
  if (!(at.y.high >= -1)) return 0;
  const numeric::MillsDifference difference = numeric::mills_difference(at.y, at.z, mu);
  const Interval divisor = around(difference.factor) * Interval::exactly(difference.scale);
  const Interval fall = around(numeric::mills(at.z)) / divisor;
  return std::max(0.0, (fall * (1.0 + fall) - 1.0 / (Interval::exactly(mu) * divisor)).lo);
}

Interval gaussian_mu(Interval epsilon, Interval delta) {
  return ends([](double e, double d) { return e >= 0 ? mu_at(e, d) : mirrored_mu_at(e, 1 - Interval::exactly(d)); }, epsilon, delta);
}
Interval gaussian_mu_of_log(Interval epsilon, Interval log_delta) {
  return ends(
      [](double e, double d) { return e >= 0 ? mu_of_log_at(e, d) : mirrored_mu_at(e, -expm1(Interval::exactly(std::min(d, 0.0)))); },
      epsilon, log_delta);
}
Interval gaussian_mu_of_complement(Interval epsilon, Interval complement) {
  return ends([](double e, double minus) { return e >= 0 ? mu_of_complement_at(e, -minus) : mirrored_mu_at(e, Interval::exactly(-minus)); },
              epsilon, -complement);
}
Interval gaussian_mu_of_log_complement(Interval epsilon, Interval log_complement) {
  return ends([](double e, double minus) { return mu_of_log_complement_at(e, -minus); }, epsilon, -log_complement);
}

Interval gaussian_epsilon(Interval mu, Interval delta) {
  return ends(
      [](double m, double minus) {
        const double d = -minus;
        if (d >= 1 || m <= 0) return Interval::exactly(0);
        if (d <= 0 || m == infinity) return Interval::exactly(infinity);
        return solve_epsilon(m, ask_delta(d));
      },
      mu, -delta);
}
Interval gaussian_epsilon_of_log(Interval mu, Interval log_delta) {
  return ends(
      [](double m, double minus) {
        const double d = -minus;
        if (d >= 0 || m <= 0) return Interval::exactly(0);
        if (d == -infinity || m == infinity) return Interval::exactly(infinity);
        return solve_epsilon(m, ask_log(d));
      },
      mu, -log_delta);
}

Interval gaussian_beta(Interval mu, Interval alpha) {
  // A finite shift of an infinite quantile leaves it infinite; mu = infinity separates even at alpha = 0.
  const Interval shift = clamp(mu, 0, largest_double);
  const Interval beta = normal_cdf(normal_quantile_of_complement(alpha) - shift);
  return {mu.hi == infinity ? 0 : beta.lo, beta.hi};
}
Interval gaussian_power(Interval mu, Interval alpha) {
  const Interval power = normal_cdf(normal_quantile(alpha) + clamp(mu, 0, largest_double));
  return {power.lo, mu.hi == infinity ? 1 : power.hi};
}
Interval gaussian_mu_of_test(Interval alpha, Interval beta) {
  const Interval sum = -normal_quantile(alpha) - normal_quantile(beta);
  return clamp(sum, 0, infinity);
}

}  // namespace tradeoff::detail
