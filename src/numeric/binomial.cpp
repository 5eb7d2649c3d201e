// SPDX-License-Identifier: Apache-2.0
#include "numeric/binomial.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "numeric/arithmetic.h"
#include "numeric/mills.h"

namespace tradeoff::detail::numeric {
namespace {

constexpr Interval enclosed_two_pi{6.283185307179586, 6.283185307179587};

/// log n! - (n log n - n + log(2 pi n) / 2) for n >= 1, from Stirling's series: its partial sums lie on both sides. [binomial-tail]
Interval stirling_error(std::uint64_t n) {
  Interval shift = Interval::exactly(0);
  for (; n < 32; ++n) {  // e(n) = e(n + 1) + (n + 1/2) log(1 + 1/n) - 1
    const Interval x = Interval::exactly(n);
    shift = shift + ((x + 0.5) * log1p(1.0 / x) - 1.0);
  }
  const Interval inverse = 1.0 / Interval::exactly(n);
  const Interval squared = square(inverse);
  const Interval above = inverse / 12.0 - inverse * squared / 360.0 + inverse * square(squared) / 1260.0;
  return shift + Interval{(above - inverse * square(squared) * squared / 1680.0).lo, above.hi};
}

/// (1 + e) log(1 + e) - e for e >= -1, without cancellation near 0. [binomial-tail]
Interval deviance(Interval e) {
  if (!(e.lo > -0.1 && e.hi < 0.1)) {
    const Interval ratio = 1.0 + e;
    const Interval product = ratio.hi <= 0 ? Interval::exactly(0) : ratio * log1p(e);
    return max(product - e, Interval::exactly(0));
  }
  // The series sum_{k >= 2} (-e)^k / (k (k - 1)). The terms after k are at most |e|^(k+1) / (k (k + 1) (1 - |e|)).
  const double size = std::max(std::abs(e.lo), std::abs(e.hi));
  const int terms = size < 1e-3 ? 7 : 18;  // what is left out, below 1e-18 of the first term, is added below
  Interval sum = Interval::exactly(0), power = Interval::exactly(1);
  for (int k = 2; k <= terms; ++k) {
    sum = sum + power / static_cast<double>(k * (k - 1));
    power = power * -e;
  }
  const double rest = up_by(std::pow(size, terms - 1), 8) / (terms * (terms + 1) * 0.9) * (1 + 1e-10);
  return square(e) * Interval{(sum - rest).lo, (sum + rest).hi};
}

/// The numbers of a binomial law with an exact rate q, kept in a form that does not cancel.
struct BinomialLaw {
  std::uint64_t trials;
  Interval mean;      // trials q
  Interval other;     // trials (1 - q)
  Interval odds;      // q / (1 - q)
  Interval distance;  // k - trials q for the k of the tail
};

/// P[K = k] for 0 < k < trials. [binomial-tail]
Interval inner_mass(const BinomialLaw& law, std::uint64_t k) {
  const Interval n = Interval::exactly(law.trials), x = Interval::exactly(k), y = Interval::exactly(law.trials - k);
  const Interval exponent = stirling_error(law.trials) - stirling_error(k) - stirling_error(law.trials - k) -
                            law.mean * deviance(law.distance / law.mean) - law.other * deviance(-law.distance / law.other);
  return clamp(sqrt(n / (enclosed_two_pi * x * y)) * exp(exponent), 0, 1);
}

/// P[K >= k] for 0 < k < trials, where k is not below the mean: the masses fall, and their ratios too. [binomial-tail]
Interval binomial_sum_above(const BinomialLaw& law, std::uint64_t k) {
  Interval term = inner_mass(law, k);
  Interval sum = term;
  constexpr std::uint64_t most_terms = 30'000'000;  // about 40 standard deviations of the longest supported law, less than a second
  for (std::uint64_t j = k; j < law.trials; ++j) {
    const Interval ratio = Interval::exactly(law.trials - j) / Interval::exactly(j + 1) * law.odds;
    term = term * ratio;
    sum = sum + term;
    const bool negligible = ratio.hi < 1 && (term.hi < 1e-290 || term.hi / (1 - ratio.hi) < 0x1p-60 * sum.hi);
    if (!negligible && j - k < most_terms) continue;
    // All later ratios are smaller: the rest is at most a geometric series.
    const Interval rest = ratio.hi < 1 ? term / (1.0 - ratio.hi) : Interval::exactly(1);
    return clamp({sum.lo, (sum + rest).hi}, 0, 1);
  }
  return clamp(sum, 0, 1);
}

Interval binomial_tail_at(std::uint64_t trials, double rate, std::uint64_t least) {
  if (least == 0) return Interval::exactly(1);
  if (least > trials || rate == 0) return Interval::exactly(0);
  if (rate == 1) return Interval::exactly(1);
  const Interval n = Interval::exactly(trials), q = Interval::exactly(rate);
  if (least == trials) return clamp(exp(n * log(q)), 0, 1);
  const double near = std::fma(-static_cast<double>(trials), rate, static_cast<double>(least));  // rounded once
  const Interval distance{next_down(near), next_up(near)};
  if (near >= 0) return binomial_sum_above({trials, n * q, n * (1.0 - q), q / (1.0 - q), distance}, least);
  // The complement: at most least - 1 successes are at least trials - least + 1 failures.
  if (least == 1) return clamp(1.0 - exp(n * log1p(-q)), 0, 1);
  return clamp(1.0 - binomial_sum_above({trials, n * (1.0 - q), n * q, (1.0 - q) / q, 1.0 - distance}, trials - least + 1), 0, 1);
}

}  // namespace

// [binomial-tail] The tail grows with the rate.
Interval binomial_tail(std::uint64_t trials, Interval rate, std::uint64_t least) {
  const double least_rate = std::clamp(rate.lo, 0.0, 1.0);
  const double most = std::clamp(rate.hi, 0.0, 1.0);
  return {binomial_tail_at(trials, least_rate, least).lo, binomial_tail_at(trials, most, least).hi};
}

namespace {

/// log n! - (n log n - n + log(2 pi n)/2), within 2e-14 for n >= 32.
double plain_stirling_error(double n) {
  const double inverse = 1 / n, squared = inverse * inverse;
  return inverse * (1.0 / 12 - squared * (1.0 / 360 - squared * (1.0 / 1260)));
}

constexpr double small_deviation = 0.1;

/// (1 + e) log(1 + e) - e, with a relative error below 3e-14, or 1e-15 and twice that of e for a small e.
double plain_deviance(double e) {
  if (std::abs(e) > small_deviation) return (1 + e) * std::log1p(e) - e;
  double sum = 0;
  for (int k = std::abs(e) < 1e-3 ? 7 : 18; k >= 2; --k) sum = 1.0 / (k * (k - 1)) - e * sum;
  return e * e * sum;
}

constexpr std::uint64_t fewest_of_a_kind = 32;  // for Stirling's series with three terms
constexpr double widest_rate = 1e-12;           // relative

/// P[K = k] in plain arithmetic with a bound of its relative error; empty where that does not hold. [binomial-tail]
std::optional<Interval> plain_mass(std::uint64_t trials, Interval rate, std::uint64_t k) {
  if (k < fewest_of_a_kind || trials - k < fewest_of_a_kind || !(rate.width() <= widest_rate * rate.lo * (1 - rate.hi)))
    return std::nullopt;
  const double n = static_cast<double>(trials), x = static_cast<double>(k), y = static_cast<double>(trials - k), q = middle_of(rate);
  const double distance = std::fma(-n, q, x), mean = n * q, other = n * (1 - q);
  const double cost = mean * plain_deviance(distance / mean) + other * plain_deviance(-distance / other);
  const bool is_small = std::abs(distance) <= 0.99 * small_deviation * std::min(mean, other);
  if (cost > 720) return Interval{0, 1e-300};
  if (!(cost < (is_small ? 600 : 50))) return std::nullopt;  // the relative error is below 1e-11, and nothing underflows
  constexpr double two_pi = 6.283185307179586;
  const double exponent = plain_stirling_error(n) - plain_stirling_error(x) - plain_stirling_error(y) - cost;
  const double value = std::sqrt(n / (two_pi * x * y)) * std::exp(exponent);
  // the derivatives of the logarithm by the rate are distance/(q (1-q)) and at most 2n/(q (1-q))^2
  const double width = rate.width() / (q * (1 - q)), moved = std::abs(distance) * width + n * width * width;
  const double error = 2e-13 + (is_small ? 4e-15 : 8e-14) * cost + moved;
  if (!(error < 1e-6)) return std::nullopt;
  return Interval{value * (1 - error), std::min(1.0, value * (1 + error))};
}

}  // namespace

Interval binomial_mass(std::uint64_t trials, Interval rate, std::uint64_t k) {
  if (k > trials) return Interval::exactly(0);
  const Interval n = Interval::exactly(trials), q = clamp(rate, 0, 1);
  if (k == 0) return clamp(exp(n * log1p(-q)), 0, 1);
  if (k == trials) return clamp(exp(n * log(q)), 0, 1);
  if (q.hi == 0 || q.lo == 1) return Interval::exactly(0);
  if (q.lo == 0 || q.hi == 1) return {0, 1};
  if (const auto plain = plain_mass(trials, q, k)) return *plain;
  const auto distance_from = [&](double end) { return std::fma(-static_cast<double>(trials), end, static_cast<double>(k)); };
  const Interval distance{next_down(distance_from(q.hi)), next_up(distance_from(q.lo))};
  return inner_mass({trials, n * q, n * (1.0 - q), q / (1.0 - q), distance}, k);
}

namespace {

constexpr std::uint64_t few_trials = 2000;  // up to here the series is summed: the integral has relative errors of about 100 / trials^2
constexpr std::uint64_t few_values = 200;   // and where few values follow
constexpr double falls_fast = 0.8;          // and where the first ratio is smaller: the series ends after about 200 terms
constexpr double near_end = 0.25;           // the bounds of the integrand are used up to here
const Interval root_of_half_pi{1.2533141373155002, 1.2533141373155003};

/// The masses after that of k, in units of it. Their ratios (n - j) / (j + 1) odds fall. [binomial-tail-ratio]
Interval ratio_by_series(std::uint64_t trials, Interval odds, std::uint64_t k) {
  Interval term = Interval::exactly(1), sum = Interval::exactly(0);
  for (std::uint64_t j = k; j < trials; ++j) {
    const Interval ratio = Interval::exactly(trials - j) * odds / Interval::exactly(j + 1);
    term = term * ratio;
    sum = sum + term;
    if (!(ratio.hi < 1) || !(term.hi < 0x1p-60 * sum.lo * (1 - ratio.hi))) continue;
    return {sum.lo, (sum + term * ratio / (1.0 - Interval::exactly(ratio.hi))).hi};
  }
  return sum;
}

/// Upper bounds of I_m, the integral of s^m exp(-a s - b s^2/2) over s >= 0, for m = 0 .. 8: m!/a^(m+1), and the moment without a.
std::array<double, 9> gaussian_moments_above(Interval a, Interval b) {
  std::array<double, 9> above{};
  Interval by_a = a.lo > 0 ? 1.0 / a : Interval::exactly(infinity);
  for (std::size_t m = 0; m <= 8; ++m) {
    if (m > 0) by_a = by_a * static_cast<double>(m) / a;
    above[m] = a.lo > 0 ? by_a.hi : infinity;
  }
  Interval even = root_of_half_pi / sqrt(b), odd = 1.0 / b;  // m = 0 and m = 1
  for (std::size_t m = 0; m <= 8; ++m) {
    Interval& moment = m % 2 == 0 ? even : odd;
    above[m] = std::min(above[m], moment.hi);
    moment = moment * static_cast<double>(m + 1) / b;
  }
  return above;
}

/// The integral of (1 - s)^k (1 + odds s)^(n-k-1) over 0 <= s <= 1. [binomial-tail-ratio]
Interval tail_integral(std::uint64_t trials, Interval odds, std::uint64_t k) {
  const Interval left = Interval::exactly(k), right = Interval::exactly(trials - k - 1);
  const Interval second = square(odds), third = second * odds, fourth = square(second);
  const Interval a = max(left - right * odds, Interval::exactly(0)), b = left + right * second;
  const Interval c3 = max(left - right * third, Interval::exactly(0)), c4 = left + right * fourth;
  const std::array<double, 9> above = gaussian_moments_above(a, b);
  const auto within = [&](Interval moment, std::size_t m) { return clamp(moment, 0, above[m]); };
  const Interval root = sqrt(b), x = a / root;
  // Mills falls in x.
  const Interval whole = within(Interval{around(mills({{x.hi, 0}, 0})).lo, around(mills({{x.lo, 0}, 0})).hi} / root, 0);
  const Interval first = within((1.0 - a * whole) / b, 1), two = within((whole - a * first) / b, 2);
  const Interval three = within((2.0 * first - a * two) / b, 3), four = within((3.0 * two - a * three) / b, 4);
  const Interval main = c3 * three / 3.0 + c4 * four / 4.0;
  const auto moment = [&](std::size_t m) { return Interval::exactly(above[m]); };
  const Interval squares = square(c3) * moment(6) / 9.0 + c3 * c4 * moment(7) / 6.0 + square(c4) * moment(8) / 16.0;
  const Interval end = Interval::exactly(near_end);
  const Interval beyond = exp(-a * end - b * square(end) / 2.0) / (a + b * end);
  const Interval rest = (c4 * moment(5) / 5.0 + c4 * moment(6) / 6.0) / (1.0 - square(end));
  return {std::max(0.0, (whole - main - rest - beyond).lo), std::min(above[0], (whole - main + squares / 2.0).hi)};
}

/// P[K > k] / P[K = k] as a series of falling ratios; what follows is at most geometric.
Interval fair_ratio_by_series(double trials, double k) {
  double term = 1, sum = 0, terms = 0;
  for (double j = k; j < trials; ++j) {
    const double ratio = (trials - j) / (j + 1);
    term *= ratio;
    sum += term;
    ++terms;
    if (!(ratio < 1)) continue;
    const double rest = term * ratio / (1 - ratio);
    if (rest < 1e-15 * sum) break;
  }
  const double error = 4 * terms * 0x1p-53 + 2e-15;  // two roundings of each factor and one of each sum; and the rest
  return {sum * (1 - error), sum * (1 + error)};
}

/// I_1/I_0, I_2/I_1, I_3/I_2, I_4/I_3 in units of b^(-1/2), I_m the integral of s^m exp(-as - bs^2/2), x = a/sqrt(b): the continued
/// fraction t_m = m/(x + t_(m+1)), from an upper and from a lower bound of a late one.
struct MomentRatios {
  std::array<double, 5> low{}, high{};
};
MomentRatios moment_ratios(double x) {
  const int first = 8 + static_cast<int>(120 / (x * x));
  double low = 0, high = (first + 1) / x;
  MomentRatios found;
  for (int m = first; m >= 1; --m) {
    const double next = m / (x + high);
    high = m / (x + low);
    low = next;
    if (m <= 4) found.low[static_cast<std::size_t>(m)] = low * (1 - 1e-14), found.high[static_cast<std::size_t>(m)] = high * (1 + 1e-14);
  }
  return found;
}

/// I_0, and enclosures of I_3 and I_4, each in units of its power of b.
struct Moments {
  double zeroth;  // with a relative error of 2e-15
  double third_low, third_high, fourth_low, fourth_high;
};
Moments moments_at(double x) {
  const double whole = mills({{x, 0}, 0}).value;
  if (x < 2) {  // I_(m+1) = m I_(m-1) - x I_m loses less than three digits
    const double first = 1 - x * whole, second = whole - x * first, third = 2 * first - x * second, fourth = 3 * second - x * third;
    constexpr double loss = 1e-12;
    return {whole, third * (1 - loss), third * (1 + loss), fourth * (1 - loss), fourth * (1 + loss)};
  }
  const MomentRatios t = moment_ratios(x);
  const double low = whole * t.low[1] * t.low[2] * t.low[3], high = whole * t.high[1] * t.high[2] * t.high[3];
  constexpr double slack = 1e-14;
  return {whole, low * (1 - slack), high * (1 + slack), low * t.low[4] * (1 - slack), high * t.high[4] * (1 + slack)};
}

/// P[K > k] / P[K = k] by the integral. [binomial-tail-ratio] with odds 1, where c3 = a and c4 = b.
Interval fair_ratio_by_integral(double trials, double k) {
  const double a = 2 * k - trials + 1, b = trials - 1, root = std::sqrt(b), x = a / root;
  const Moments at = moments_at(x);
  // at most m! / x^(m+1), and the moment for x = 0
  const auto most = [x](double by_x, double at_zero) { return std::min(by_x, at_zero) * (1 + 1e-12); };
  const double x2 = x * x, x4 = x2 * x2;
  const double fifth = most(120 / (x4 * x2), 8), sixth = most(720 / (x4 * x2 * x), 18.799712059732503),
               seventh = most(5040 / (x4 * x4), 48), eighth = most(40320 / (x4 * x4 * x), 131.59798441812753);
  // in units of 1/sqrt(b): a I_3 / 3 + b I_4 / 4 and so on
  const double per = 1 / b;
  const double main_low = (x * at.third_low / 3 + at.fourth_low / 4) * per, main_high = (x * at.third_high / 3 + at.fourth_high / 4) * per;
  const double squares = (x2 * sixth / 9 + x * seventh / 6 + eighth / 16) * per * per;
  constexpr double end = 0.25;
  const double rest = (fifth / (5 * root) + sixth / (6 * b)) * per / (1 - end * end);
  const double beyond = std::exp(-(a * end + b * end * end / 2)) / (x + root * end);
  constexpr double slack = 1e-13;  // of all roundings, and of the Mills ratio
  const double low = at.zeroth - main_high - rest - beyond, high = at.zeroth - main_low + squares / 2, scale = (trials - k) / root;
  return {std::max(0.0, (low - slack * at.zeroth) * scale), (high + slack * at.zeroth) * scale};
}

}  // namespace

// [binomial-tail-ratio]
Interval binomial_tail_ratio(std::uint64_t trials, Interval odds, std::uint64_t k) {
  if (k >= trials) return Interval::exactly(0);
  const Interval left = Interval::exactly(trials - k);
  const bool falls = (left * odds / Interval::exactly(k + 1)).hi < falls_fast;
  const bool by_series = trials <= few_trials || trials - k <= few_values || falls || k == 0;
  if (odds.lo == 1 && odds.hi == 1) {
    const double n = static_cast<double>(trials), x = static_cast<double>(k);
    return by_series ? fair_ratio_by_series(n, x) : fair_ratio_by_integral(n, x);
  }
  if (by_series) return ratio_by_series(trials, odds, k);
  return left * odds * tail_integral(trials, odds, k);
}

namespace {

/// The probability of the values first .. first + count - 1, from their first mass and the mass after their last. The logarithms of the
/// masses are concave: they lie above the chord, and below the tangents at both ends. [binomial-cells]
Interval mass_of_block(std::uint64_t trials, Interval rate, std::uint64_t first, std::uint64_t count, Interval start, Interval after) {
  if (count == 1) return start;
  if (first + count > trials) {  // no value follows: the last one is counted by itself
    const Interval last = binomial_mass(trials, rate, trials);
    return mass_of_block(trials, rate, first, count - 1, start, last) + last;
  }
  const Interval odds = rate / (1.0 - rate);
  const Interval n = Interval::exactly(count);
  const auto log_ratio_at = [&](std::uint64_t j) { return log(Interval::exactly(trials - j) * odds / Interval::exactly(j + 1)); };
  // The mean of a convex function is at least its value in the middle, and at most the mean of its ends.
  const Interval slope = log(after) - log(start);
  const double below = start.lo > 0 && after.lo > 0 ? (n * start * exp(slope * (n - 1.0) / (2.0 * n))).lo : 0;
  const std::uint64_t half = count / 2;
  const Interval front = Interval::exactly(half), back = Interval::exactly(count - half);
  const Interval rise = log_ratio_at(first), fall = log_ratio_at(first + count - 1);
  const Interval above = start * front * (1.0 + exp((front - 1.0) * rise)) / 2.0 + after * back * (exp(-fall) + exp(-back * fall)) / 2.0;
  return clamp({below, above.hi}, 0, 1);
}

/// At most this probability lies below `first` or above `last`. [binomial-cells]
double mass_outside(std::uint64_t trials, Interval rate, Interval odds, std::uint64_t first, std::uint64_t last) {
  Interval outside = Interval::exactly(0);
  if (first > 0) {
    const std::uint64_t k = first - 1;
    const Interval ratio = Interval::exactly(k) / (Interval::exactly(trials - k + 1) * odds);
    outside = outside + (ratio.hi < 1 ? binomial_mass(trials, rate, k) / (1.0 - ratio) : Interval::exactly(1));
  }
  if (last < trials) {
    const std::uint64_t k = last + 1;
    const Interval ratio = Interval::exactly(trials - k) * odds / Interval::exactly(k + 1);
    outside = outside + (ratio.hi < 1 ? binomial_mass(trials, rate, k) / (1.0 - ratio) : Interval::exactly(1));
  }
  return std::min(1.0, outside.hi);
}

/// The first values of the cells and the value after the last cell. They need not be optimal: every choice is proved.
std::vector<std::uint64_t> edges_of_cells(double mean, double deviation, std::uint64_t first, std::uint64_t last, std::size_t most) {
  std::vector<std::uint64_t> edges{first};
  const double values = static_cast<double>(last - first) + 1;
  constexpr double center = 6;  // standard deviations; outside of them lies a billionth of the probability
  const double fine = std::max(1.0, std::floor(2 * center * deviation / (0.8 * static_cast<double>(most))));
  const double coarse = std::max(fine, std::floor((values - 2 * center * deviation) / (0.2 * static_cast<double>(most))));
  for (std::uint64_t at = first; at <= last;) {
    const bool inside = std::abs(static_cast<double>(at) - mean) < center * deviation;
    const double step = values <= static_cast<double>(most) ? 1 : inside ? fine : coarse;
    at = std::min(last + 1, at + static_cast<std::uint64_t>(step));
    edges.push_back(at);
  }
  return edges;
}

}  // namespace

// [binomial-cells]
BinomialCells binomial_cells(std::uint64_t trials, Interval rate, std::size_t most) {
  rate = clamp(rate, 0, 1);
  if (rate.hi == 0 || trials == 0) return {{{0, 0, Interval::exactly(1)}}, 0};
  if (rate.lo == 1) return {{{trials, trials, Interval::exactly(1)}}, 0};
  const double n = static_cast<double>(trials), q = middle_of(rate), mean = n * q, deviation = std::sqrt(mean * (1 - q));
  const double reach = 14 * deviation + 60;  // beyond it lies less than 1e-40
  const auto first = static_cast<std::uint64_t>(std::max(0.0, std::floor(mean - reach)));
  const auto last = static_cast<std::uint64_t>(std::min(n, std::ceil(mean + reach)));
  const Interval odds = rate / (1.0 - rate);
  const std::vector<std::uint64_t> edges = edges_of_cells(mean, deviation, first, last, most);
  BinomialCells found{{}, mass_outside(trials, rate, odds, first, last)};
  Interval start = binomial_mass(trials, rate, first);
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    Interval mass = Interval::exactly(0);
    constexpr std::uint64_t pieces = 4;  // bounds of the mass of a cell are tighter than those of what is evaluated in it
    const std::uint64_t size = edges[i + 1] - edges[i], step = std::max<std::uint64_t>(1, (size + pieces - 1) / pieces);
    for (std::uint64_t at = edges[i]; at < edges[i + 1];) {
      const std::uint64_t next = std::min(edges[i + 1], at + step);
      const Interval after = binomial_mass(trials, rate, next);
      mass = mass + mass_of_block(trials, rate, at, next - at, start, after);
      start = after;
      at = next;
    }
    found.cells.push_back({edges[i], edges[i + 1] - 1, clamp(mass, 0, 1)});
  }
  return found;
}

}  // namespace tradeoff::detail::numeric
