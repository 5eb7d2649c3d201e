// SPDX-License-Identifier: Apache-2.0
#include "operators/allocation/log_mean_law.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <utility>

#include "loss/work.h"
#include "numeric/arithmetic.h"
#include "numeric/double_double.h"
#include "numeric/lanes.h"
#include "operators/allocation/density_bounds.h"
#include "operators/allocation/interpolation.h"
#include "transform/nodes.h"

// [allocation-doubling]
namespace tradeoff::detail::allocation {
namespace {

using numeric::DoubleDouble;

constexpr double step_share = 0.05;        // of the smoothing of a sum: the largest step of its halves
constexpr double small_exponent = 37;      // the rule in r errs by about e^-37, relative
constexpr double floor_exponent = 6;       // at the ends of a law, what is unknown is about e^-6 of the density
constexpr double floor_growth = 12;        // by which the logarithm of what is unknown may grow from the halves to the sum
constexpr double most_points = 1 << 18;    // of one law
constexpr double term_roundings = 12;      // of weights, products and their sums, in units of roundoff
constexpr double sum_roundings = 8;        // of the sum over r and its scale
constexpr double gaussian_roundings = 16;  // of a Gaussian density
constexpr double tap_price = 5e-4;         // microseconds of a tap
constexpr double widened = 1 + 1e-9;       // covers the rounding of bounds
constexpr double log_widened = 1e-9;
constexpr std::size_t block = LogMeanLaw::block;

double power_of_two_below(double x) {
  int exponent = 0;
  (void)std::frexp(x, &exponent);
  return std::ldexp(1.0, exponent - 1);
}

/// 1 - exp(-x), x >= 0.
DoubleDouble complement_of_exp(double x) {
  if (x > 80) return {1, 0};
  int halvings = 0;
  for (; x > 0.5; ++halvings) x /= 2;
  DoubleDouble value = numeric::complement_of_exp({x, 0});
  for (; halvings > 0; --halvings) value = value * (DoubleDouble{2, 0} - value);
  return value;
}

/// log((m + n exp(-r)) / (m + n)).
DoubleDouble log_mean_of_shares(double m, double n, double r) {
  const DoubleDouble x = DoubleDouble{r >= 0 ? n : m, 0} / (m + n) * complement_of_exp(std::abs(r));
  if (!(x.high > 0)) return {0, 0};
  const DoubleDouble logarithm = numeric::log_of_complement(x.high) + -(x.low / (1 - x.high));
  return r >= 0 ? logarithm : logarithm + -r;
}

/// product[i] = a[i] b[i] scale; returns the largest.
TRADEOFF_CLONES double multiply(const double* a, const double* b, double scale, std::size_t count, double* product) {
  double largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    product[i] = a[i] * b[i] * scale;
    largest = product[i] > largest ? product[i] : largest;
  }
  return largest;
}

/// Adds sum_t weight[t] product[stride i + t] to the compensated sums, and `doubt` times it to the others.
TRADEOFF_CLONES void add_interpolated(const double* product, const double* weight, double doubt, std::size_t count, std::size_t stride,
                                      double* sum, double* carry, double* doubts) {
  for (std::size_t i = 0; i < count; ++i) {
    const double* p = product + i * stride;
    const double a = (weight[0] * p[0] + weight[1] * p[1]) + (weight[2] * p[2] + weight[3] * p[3]);
    const double b = (weight[4] * p[4] + weight[5] * p[5]) + (weight[6] * p[6] + weight[7] * p[7]);
    const double c = (weight[8] * p[8] + weight[9] * p[9]) + (weight[10] * p[10] + weight[11] * p[11]);
    const double d = (weight[12] * p[12] + weight[13] * p[13]) + (weight[14] * p[14] + weight[15] * p[15]);
    const double term = (a + b) + (c + d), next = sum[i] + term, back = next - sum[i];
    carry[i] += (sum[i] - (next - back)) + (term - back);
    sum[i] = next;
    doubts[i] += doubt * term;
  }
}

/// The rule in r for a sum of m and n steps: its step, a multiple of that of the halves, and its error alias (f(l) + f(l + shift)).
struct Rule {
  double turn = 0;
  double shift = 0;
  double log_alias = 0;
};

/// The longest step whose error is as small as wanted where the density of the sum falls by at most `slope`.
Rule choose_rule(double s, double m, double n, double slope, double step) {
  const double most = std::max(m, n), square = s * s / (m + n);
  const auto growth = [&](double height, double shift) { return height * height * most / (2 * s * s) + shift * shift / (8 * square); };
  double longest = 0, best = 0;
  for (double height = 1e-3 * std::sqrt(square); height < 2.8; height *= 1.1) {
    const double shift = -std::log(std::cos(height / 2));
    const double turn = 2 * std::numbers::pi * height / (small_exponent + growth(height, shift) + slope * shift);
    if (turn > longest) longest = turn, best = height;
  }
  Rule rule;
  rule.turn = std::max(2.0, 2 * std::floor(longest / (2 * step))) * step;  // even: then half of r is on the lattice as well
  rule.shift = -std::log(std::cos(best / 2)) * widened;
  rule.log_alias =
      std::numbers::ln2 + growth(best, rule.shift) - std::log(std::expm1(2 * std::numbers::pi * best / rule.turn)) + log_widened;
  return rule;
}

/// What is asked of a law, and the rule by which its halves make it.
struct Request {
  LawRange range;
  Rule rule;
  double guard = 0;              // beyond the range, points bound their neighbours
  double log_floor = -infinity;  // errors of this size do no harm
};
/// By the number of steps: one, or two neighbours.
using Level = std::map<std::uint64_t, Request>;

/// The law of m + n steps from those of m and n, which have the same step h. With r = x - y, l = log((m e^x + n e^y)/(m + n)), its density
/// is the integral over r of a(x) b(y) along l = const. The rule in r uses multiples of h, so that a(x) b(x - r) is known at all x on the
/// lattice, and is interpolated at x = l - log((m + n e^-r)/(m + n)).
class Combination {
 public:
  Combination(double s, const MeanTails& tails, const LogMeanLaw& a, const LogMeanLaw& b, const Request& request)
      : s_(s), tails_(tails), a_(a), b_(b), request_(request), rule_(request.rule), g_(s / std::sqrt(a.steps + b.steps)) {
    const double step = request.range.step;
    law_.steps = a.steps + b.steps;
    law_.step = step;
    phases_ = step < a.step ? static_cast<std::size_t>(a.step / step) : 1;
    stride_ = step > a.step ? static_cast<std::size_t>(step / a.step) : 1;
  }

  [[nodiscard]] std::optional<LogMeanLaw> law();

 private:
  /// A point of the rule in r. At each phase, a fraction of a step by which places are beyond the lattice of the halves, the shift of x
  /// from l is a whole number of steps and the weights of an interpolation.
  struct Turn {
    std::int64_t lag = 0;  // r in steps
    double times = 1;      // 2 if it also stands for -r
    struct Shift {
      std::int64_t whole = 0;
      double part = 0;
      std::array<double, taps> weights{};
      double doubt = 0;  // the sum of the moduli of the weights
    };
    std::vector<Shift> shifts;
  };

  void place_points();
  void add_turns();
  [[nodiscard]] double log_rough(double place) const;
  [[nodiscard]] static std::vector<double> largest_values(const LogMeanLaw& law);
  [[nodiscard]] static double largest_of(const std::vector<double>& largest, std::int64_t from, std::size_t count);
  [[nodiscard]] static double largest_beside(const std::vector<double>& largest, std::int64_t from, std::size_t count);
  void fill_block(std::size_t from);
  void fill_phase(std::size_t from, std::size_t phase, double tilt, double log_least);
  [[nodiscard]] double multiply_window(std::int64_t i, std::int64_t j, std::size_t count, int exponent, double* product) const;
  struct Omitted {
    double log_left = 0, log_right = 0;  // upper bounds, absolute
    double right_from = 0;               // the second one counts at places from here on
  };
  [[nodiscard]] Omitted omitted() const;
  [[nodiscard]] double log_above(std::size_t i, double distance) const {
    return bounds_->log_above(static_cast<double>(i - begin_) + distance / law_.step);
  }
  [[nodiscard]] double doubt_near(std::size_t i, double distance) const;
  struct Error {
    double known = 0;    // in proportion to the density
    double unknown = 0;  // the floor
  };
  [[nodiscard]] Error error_of(std::size_t i) const;
  [[nodiscard]] bool trim();
  [[nodiscard]] std::optional<LogMeanLaw> inner_law();

  double s_;
  const MeanTails& tails_;
  const LogMeanLaw& a_;
  const LogMeanLaw& b_;
  const Request& request_;
  const Rule& rule_;
  double g_;  // the smoothing of the sum
  std::size_t phases_ = 1, stride_ = 1;
  std::vector<Turn> turns_;
  std::vector<double> largest_a_, largest_b_;
  LogMeanLaw law_;
  std::size_t inner_first_ = 0, inner_count_ = 0;  // the points that are asked for; the others bound their neighbours
  std::vector<double> tilt_;                       // of every block
  std::vector<double> log_skipped_, log_unknown_;  // of every block: upper bounds of the turns left out, and of the floors of the halves
  std::vector<double> doubt_;                      // of the halves and of rounding, relative
  std::vector<double> log_value_;
  std::vector<Error> errors_;
  std::size_t begin_ = 0, end_ = 0;  // of the points that are known
  bool cut_right_ = false;           // terms beyond the last place of a half were left out
  Omitted omitted_;
  std::optional<DensityBounds> bounds_;
};

void Combination::place_points() {
  const LawRange& range = request_.range;
  const auto below = [&](double x) {
    return static_cast<std::int64_t>(std::floor(x / (range.step * static_cast<double>(phases_)))) * static_cast<std::int64_t>(phases_);
  };
  // No point lies left of the first place at which both halves can be interpolated. [allocation-doubling]
  const double edge = std::max(a_.place(0), b_.place(0)) + static_cast<double>(taps / 2) * a_.step;
  law_.first = below(std::max(range.low - request_.guard, edge)) + static_cast<std::int64_t>(phases_);
  const std::int64_t inner = below(range.low), last = static_cast<std::int64_t>(std::ceil((range.high + request_.guard) / range.step));
  inner_first_ = static_cast<std::size_t>(std::max<std::int64_t>(0, inner - law_.first));
  inner_count_ = static_cast<std::size_t>(std::ceil((range.high - range.low) / range.step)) + phases_ + 1;
  law_.mantissa.assign(static_cast<std::size_t>(std::max<std::int64_t>(1, last - law_.first + 1)), 0);
  const std::size_t blocks = (law_.size() + block - 1) / block;
  law_.exponent.assign(blocks, 0);
  tilt_.assign(blocks, 0);
  doubt_.assign(law_.size(), 1);
  log_skipped_.assign(blocks, -infinity);
  log_unknown_.assign(blocks, -infinity);
}

void Combination::add_turns() {
  const double m = a_.steps, n = b_.steps, high = law_.place(law_.size() - 1);
  const bool same = &a_ == &b_;
  const auto lags = static_cast<std::int64_t>(rule_.turn / a_.step);
  // For large r, y is about l - r - log(m / (m + n)), and for large -r the same with x.
  const auto most = static_cast<std::int64_t>(std::ceil((high - b_.place(0) - std::log(m / (m + n))) / rule_.turn)) + 1;
  const auto least = static_cast<std::int64_t>(std::ceil((high - a_.place(0) - std::log(n / (m + n))) / rule_.turn)) + 1;
  for (std::int64_t k = same ? 0 : -least; k <= most; ++k) {
    Turn turn{k * lags, same && k > 0 ? 2.0 : 1.0, {}};
    const DoubleDouble shift = log_mean_of_shares(m, n, rule_.turn * static_cast<double>(k)),
                       steps{shift.high / a_.step, shift.low / a_.step};
    for (std::size_t phase = 0; phase < phases_; ++phase) {
      const DoubleDouble place = DoubleDouble{static_cast<double>(phase) / static_cast<double>(phases_), 0} - steps;
      const double whole = std::floor(place.value());
      const DoubleDouble part = place + -whole;  // in [0, 1], up to the last digit of a double-double
      turn.shifts.push_back({static_cast<std::int64_t>(whole), part.value(), interpolation_weights(part), 0});
      for (const double weight : turn.shifts.back().weights) turn.shifts.back().doubt += std::abs(weight);
    }
    turns_.push_back(std::move(turn));
  }
}

/// The logarithm of the density at a place, without interpolation: it steers only.
double Combination::log_rough(double place) const {
  const double at = place / a_.step;
  double sum = 0;
  int top = -1 << 30;
  for (const Turn& turn : turns_) {
    const auto& shift = turn.shifts.front();
    const std::int64_t i = std::llround(at + shift.part) + shift.whole - a_.first, j = i + a_.first - turn.lag - b_.first;
    if (i < 0 || j < 0 || i >= static_cast<std::int64_t>(a_.size()) || j >= static_cast<std::int64_t>(b_.size())) continue;
    const auto x = static_cast<std::size_t>(i), y = static_cast<std::size_t>(j);
    const int exponent = a_.exponent[x / block] + b_.exponent[y / block];
    const double term = turn.times * a_.mantissa[x] * b_.mantissa[y];
    if (exponent > top) sum = std::ldexp(sum, top - exponent), top = exponent;
    sum += std::ldexp(term, exponent - top);
  }
  return std::log(rule_.turn * sum) + top * std::numbers::ln2;
}

/// a[i + k] b[j + k] for k < count, over 2^exponent; returns the largest.
double Combination::multiply_window(std::int64_t i, std::int64_t j, std::size_t count, int exponent, double* product) const {
  double largest = 0;
  for (std::size_t done = 0; done < count;) {
    const std::size_t x = static_cast<std::size_t>(i) + done, y = static_cast<std::size_t>(j) + done;
    const std::size_t run = std::min({count - done, block - x % block, block - y % block});
    const int scale = std::min(a_.exponent[x / block] + b_.exponent[y / block] - exponent, 1000);
    largest =
        std::max(largest, multiply(&a_.mantissa[x], &b_.mantissa[y], scale < -1000 ? 0 : std::ldexp(1.0, scale), run, product + done));
    done += run;
  }
  return largest;
}

/// The largest values of the blocks of a law, and what may be missing there.
std::vector<double> Combination::largest_values(const LogMeanLaw& law) {
  std::vector<double> largest(law.exponent.size(), 1e-300);
  for (std::size_t i = 0; i < law.size(); ++i)
    largest[i / block] = std::max(largest[i / block], std::ldexp(law.mantissa[i], law.exponent[i / block]) + std::exp(law.log_floor));
  return largest;
}
double Combination::largest_of(const std::vector<double>& largest, std::int64_t from, std::size_t count) {
  const auto first = from / static_cast<std::int64_t>(block),
             last = (from + static_cast<std::int64_t>(count) - 1) / static_cast<std::int64_t>(block);
  return *std::max_element(largest.begin() + first, largest.begin() + last + 1);
}

/// The same with the blocks beside it: a point next to the block may need the errors of its points.
double Combination::largest_beside(const std::vector<double>& largest, std::int64_t from, std::size_t count) {
  const auto last = static_cast<std::int64_t>(largest.size()) - 1, size = static_cast<std::int64_t>(block);
  const std::int64_t first = std::max<std::int64_t>(0, from / size - 1),
                     end = std::min(last, (from + static_cast<std::int64_t>(count) - 1) / size + 1);
  return *std::max_element(largest.begin() + first, largest.begin() + end + 1);
}

void Combination::fill_block(std::size_t from) {
  const std::size_t last = std::min(from + block, law_.size()) - 1;
  const double left = law_.place(from), right = law_.place(last), beside = std::max(right - left, 8 * a_.step) / 2;
  const double middle = left + (right - left) / 2, before = log_rough(middle - beside), after = log_rough(middle + beside);
  const double slope = before > -infinity && after > -infinity ? (after - before) / (2 * beside) : 0;
  // Few bits, so that multiples of the tilt of a step are exact.
  const double tilt = std::ldexp(std::round(std::ldexp(std::clamp(slope * a_.step, -40.0, 40.0), 12)), -12);
  const double here = log_rough(middle);
  tilt_[from / block] = tilt / a_.step;
  law_.exponent[from / block] = here > -infinity ? static_cast<int>(std::floor(here / std::numbers::ln2)) : -1 << 20;
  for (std::size_t phase = 0; phase < phases_; ++phase) fill_phase(from, phase, tilt, std::min({before, here, after}));
}

void Combination::fill_phase(std::size_t from, std::size_t phase, double tilt, double log_least) {
  const std::size_t last = std::min(from + block, law_.size());
  const auto phases = static_cast<std::int64_t>(phases_), stride = static_cast<std::int64_t>(stride_);
  const std::size_t start = from + phase;  // the first place is a multiple of the phases, and so are blocks
  if (start >= last) return;
  const std::size_t count = (last - start + phases_ - 1) / phases_;
  const int exponent = law_.exponent[from / block];
  const std::int64_t origin = (law_.first + static_cast<std::int64_t>(from)) / phases * stride;  // in steps of the halves
  std::array<double, taps> tilts{}, weights{};
  for (std::size_t t = 0; t < taps; ++t) tilts[t] = std::exp(-tilt * (static_cast<double>(t) - static_cast<double>(taps_before)));
  std::array<double, block> sum{}, carry{}, doubts{};
  std::array<double, 64 * block + taps> product{};
  // A turn whose products are this small, all of them together, changes nothing.
  const double steepest = std::exp(8 * std::abs(tilt)) * 2 * weight_sum;
  const double allowed =
      std::exp(log_least - exponent * std::numbers::ln2 - 46) / (steepest * rule_.turn * static_cast<double>(turns_.size()));
  double skipped = 0, work = 0, moduli_a = 0, moduli_b = 0;  // of weights times the largest value of a window
  for (const Turn& turn : turns_) {
    const Turn::Shift& shift = turn.shifts[phase];
    // The window of point k is at origin + stride k + whole - 7 on the lattice, and so much later on those of the laws.
    const std::int64_t x = origin + shift.whole - static_cast<std::int64_t>(taps_before) - a_.first, y = x + a_.first - turn.lag - b_.first;
    const auto size_x = static_cast<std::int64_t>(a_.size()), size_y = static_cast<std::int64_t>(b_.size());
    const auto reach_back = std::max<std::int64_t>({0, -x, -y}), room = std::min(size_x - x, size_y - y) - static_cast<std::int64_t>(taps);
    const std::int64_t begin = (reach_back + stride - 1) / stride,
                       end = room < 0 ? 0 : std::min(static_cast<std::int64_t>(count), room / stride + 1);
    if (end < static_cast<std::int64_t>(count)) cut_right_ = true;
    if (begin >= end) continue;
    const auto left_out = static_cast<std::size_t>(begin), points = static_cast<std::size_t>(end - begin),
               length = (points - 1) * stride_ + taps;
    const std::int64_t i = x + begin * stride, j = y + begin * stride;
    const double largest = multiply_window(i, j, length, exponent, product.data());
    work += static_cast<double>(length);
    if (largest <= allowed) {
      skipped += turn.times * largest;
      continue;
    }
    const double scale = turn.times * std::exp(tilt * shift.part);
    double moduli = 0;
    for (std::size_t t = 0; t < taps; ++t) weights[t] = shift.weights[t] * tilts[t] * scale, moduli += std::abs(weights[t]);
    moduli_a += moduli * largest_of(largest_a_, i, length);
    moduli_b += moduli * largest_of(largest_b_, j, length);
    const double inherited = largest_beside(a_.error, i, length) + largest_beside(b_.error, j, length);
    const double doubt = shift.doubt * (inherited * (1 + 6 * inherited) + term_roundings * unit_roundoff);
    add_interpolated(product.data(), weights.data(), doubt, points, stride_, sum.data() + left_out, carry.data() + left_out,
                     doubts.data() + left_out);
    work += static_cast<double>(taps * points);
  }
  Work::count(tap_price * work);
  const double log_skipped = std::log(skipped * steepest * rule_.turn) + exponent * std::numbers::ln2 + log_widened;
  log_skipped_[from / block] = std::max(log_skipped_[from / block], log_skipped);
  const double log_floor = log_sum(std::log(moduli_a * rule_.turn) + b_.log_floor, std::log(moduli_b * rule_.turn) + a_.log_floor);
  log_unknown_[from / block] = std::max(log_unknown_[from / block], log_floor + log_widened);
  for (std::size_t k = 0; k < count; ++k) {
    law_.mantissa[start + k * phases_] = rule_.turn * (sum[k] + carry[k]);
    doubt_[start + k * phases_] = widened * doubts[k] / sum[k];
  }
}

/// The terms of the rule with x or y outside the places at which a half can be interpolated. There its density is at most e^(t^2/6) / (2 t
/// g) times the probability beyond, less t g, and the terms of the other half are summed: their places are at least a third of the turn
/// apart.
Combination::Omitted Combination::omitted() const {
  Omitted sum{-infinity, -infinity, infinity};
  for (const bool swapped : {false, true}) {
    const LogMeanLaw &cut = swapped ? b_ : a_, &other = swapped ? a_ : b_;
    const double g = s_ / std::sqrt(cut.steps), t = DensityBounds::nearer, other_g = s_ / std::sqrt(other.steps);
    const double margin = static_cast<double>(taps / 2) * cut.step, first = cut.place(0) + margin,
                 last = cut.place(cut.size() - 1) - margin;
    const double left = tails_.log_below(cut.steps, first + t * g) + std::log((3 + rule_.turn / (2 * t * g)) / (2.5 * other_g));
    const double right =
        cut_right_ ? tails_.log_above(cut.steps, last - t * g) + std::log((3 + rule_.turn / (2 * t * other_g)) / (2 * t * g)) : -infinity;
    sum.log_left = std::max(sum.log_left, left + std::numbers::ln2 + 0.01);
    sum.log_right = std::max(sum.log_right, right + std::numbers::ln2 + 0.01);
    sum.right_from = std::min(sum.right_from, last + std::log(cut.steps / law_.steps) - 2 * cut.step);  // l is at least this if x is beyond
  }
  return sum;
}

/// Bounds of the errors of the value of point i, relative to it, if the density is nowhere larger than its value.
Combination::Error Combination::error_of(std::size_t i) const {
  const double tilt = tilt_[i / block], here = log_value_[i], alias = std::exp(rule_.log_alias);
  const auto part = [&](double log) { return std::exp(std::min(700.0, log - here)); };
  // The rule in r at a distance, tilted: the density there and its alias.
  const auto rule = [&](double distance) {
    return (1 + alias) * part(log_above(i, distance) - tilt * distance) +
           alias * part(log_above(i, distance + rule_.shift) - tilt * distance);
  };
  // The mean of cosh(distance x) over the slopes x.
  const auto both = [&](double distance, auto&& of) {
    return std::exp(distance * distance / (2 * g_ * g_)) / 2 * (of(distance) + of(-distance));
  };
  const auto doubted = [&](double distance) { return doubt_near(i, distance) * rule(distance); };
  const double interpolated =
      both(static_cast<double>(taps / 2) * a_.step, doubted) + rest_factor * std::pow(a_.step / g_, 16) * both(rest_reach * g_, rule);
  const double aliased = alias * (1 + part(log_above(i, rule_.shift))) + part(log_skipped_[i / block]);
  const double unknown =
      part(omitted_.log_left) + (law_.place(i) >= omitted_.right_from ? part(omitted_.log_right) : 0) + part(log_unknown_[i / block]);
  return {widened * (interpolated + aliased + sum_roundings * unit_roundoff), widened * unknown};
}

/// The sum with doubts is log-convex as well, so the larger of two neighbours bounds their quotient up to the chords.
double Combination::doubt_near(std::size_t i, double distance) const {
  const double at = std::clamp(static_cast<double>(i) + distance / law_.step, static_cast<double>(begin_), static_cast<double>(end_ - 1));
  return std::max(doubt_[static_cast<std::size_t>(std::floor(at))], doubt_[static_cast<std::size_t>(std::ceil(at))]);
}

/// Keeps the points around the largest value whose errors are small. With e the largest relative error if the density were at most its
/// value everywhere, and q the largest quotient of the two, q <= 1 + e q.
bool Combination::trim() {
  constexpr double largest_error = 0.25;
  const std::size_t top = begin_ +
                          static_cast<std::size_t>(std::max_element(log_value_.begin() + static_cast<std::ptrdiff_t>(begin_),
                                                                    log_value_.begin() + static_cast<std::ptrdiff_t>(end_)) -
                                                   log_value_.begin()) -
                          begin_;
  const auto is_good = [&](std::size_t i) { return errors_[i].known + errors_[i].unknown < largest_error; };
  std::size_t from = top, to = top;
  while (from > begin_ && is_good(from - 1)) --from;
  while (to < end_ && is_good(to)) ++to;
  const bool same = from == begin_ && to == end_;
  begin_ = from, end_ = to;
  return same;
}

std::optional<LogMeanLaw> Combination::inner_law() {
  const std::size_t first = std::max(begin_, inner_first_), last = std::min(end_, inner_first_ + inner_count_);
  if (first >= last) return std::nullopt;
  LogMeanLaw inner{law_.steps, law_.step, law_.first + static_cast<std::int64_t>(first), {}, {}, {}, request_.log_floor};
  double largest = 0;
  for (std::size_t i = begin_; i < end_; ++i) largest = std::max(largest, errors_[i].known + errors_[i].unknown);
  const double quotient = 1 / (1 - largest);
  for (std::size_t i = first; i < last; ++i)
    inner.log_floor = std::max(inner.log_floor, log_value_[i] + std::log(quotient * errors_[i].unknown));
  for (std::size_t i = first; i < last; ++i) {
    const int exponent = law_.exponent[i / block];
    if (inner.size() % block == 0) inner.exponent.push_back(exponent), inner.error.push_back(0);
    // Errors where the density is small are left to the floor.
    const double error = quotient * errors_[i].known, known = error > std::exp(inner.log_floor - log_value_[i]) ? error : 0;
    inner.error.back() = std::max(inner.error.back(), known / (1 - std::min(0.5, known)) * widened);
    inner.mantissa.push_back(std::ldexp(law_.mantissa[i], exponent - inner.exponent.back()));
  }
  inner.log_floor += std::numbers::ln2;  // what was unknown, and errors that were left to it
  return inner;
}

std::optional<LogMeanLaw> Combination::law() {
  place_points();
  if (!(static_cast<double>(law_.size()) < most_points)) return std::nullopt;
  add_turns();
  largest_a_ = largest_values(a_), largest_b_ = largest_values(b_);
  for (std::size_t from = 0; from < law_.size(); from += block) fill_block(from);
  log_value_.reserve(law_.size());
  for (std::size_t i = 0; i < law_.size(); ++i) log_value_.push_back(law_.log_density(i));
  errors_.resize(law_.size());
  end_ = law_.size();
  omitted_ = omitted();
  for (bool done = false; !done && begin_ < end_; done = trim()) {
    bounds_.emplace(
        s_, law_.steps, tails_, law_.place(begin_), law_.step,
        std::vector(log_value_.begin() + static_cast<std::ptrdiff_t>(begin_), log_value_.begin() + static_cast<std::ptrdiff_t>(end_)));
    for (std::size_t i = begin_; i < end_; ++i) errors_[i] = error_of(i);
  }
  return inner_law();
}

/// The density of one step: Gaussian, with mean -s^2/2 and deviation s.
LogMeanLaw one_step(double s, const LawRange& range) {
  LogMeanLaw law{1, range.step, static_cast<std::int64_t>(std::floor(range.low / range.step)), {}, {}, {}, -infinity};
  const auto last = static_cast<std::int64_t>(std::ceil(range.high / range.step));
  law.mantissa.resize(static_cast<std::size_t>(last - law.first + 1));
  law.exponent.resize((law.size() + block - 1) / block);
  law.error.assign(law.exponent.size(), gaussian_roundings * unit_roundoff);
  const DoubleDouble half_square = numeric::two_product(s, s) / 2;
  constexpr DoubleDouble log_two{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
  for (std::size_t i = 0; i < law.size(); ++i) {
    const DoubleDouble z = (half_square + law.place(i)) / s, exponent = -(z * z) / 2;
    int& block_exponent = law.exponent[i / block];
    if (i % block == 0) block_exponent = static_cast<int>(std::floor(exponent.high / std::numbers::ln2));
    const DoubleDouble rest = exponent - DoubleDouble{static_cast<double>(block_exponent), 0} * log_two;
    law.mantissa[i] = std::exp(rest.high) * (1 + rest.low) / (s * 2.5066282746310002);
  }
  return law;
}

}  // namespace

double LogMeanLaw::log_density(std::size_t i) const { return std::log(mantissa[i]) + exponent[i / block] * std::numbers::ln2; }

namespace {

/// Chooses the rule for a law of n steps, and widens what is asked of its halves.
void ask_halves(double s, const MeanTails& tails, std::uint64_t size, Request& request, double step, Level& halves) {
  const std::uint64_t smaller = size / 2, larger = size - smaller;
  const auto n = static_cast<double>(size), least = static_cast<double>(smaller);
  const double g = s / std::sqrt(n), spare = 4 * std::max(step, request.range.step), inside = tails.log_below(n, request.range.low);
  request.rule = choose_rule(s, least, static_cast<double>(larger), std::sqrt(10 - 2 * inside) / g, step);
  request.guard = 8 * step + spare;
  const double low = request.range.low - request.guard, high = request.range.high + request.guard;
  // Outside the halves there is less than a part of the least density in the range, and less than the density beside it.
  const auto needed = [&](double in_range, double beside) { return std::min(in_range - floor_exponent, beside - 2) - floor_growth; };
  const double outside =
      std::min(needed(inside, tails.log_below(n, low)), needed(tails.log_above(n, request.range.high), tails.log_above(n, high)));
  for (const std::uint64_t half : {smaller, larger}) {
    const auto m = static_cast<double>(half);
    const double margin = DensityBounds::nearer * s / std::sqrt(m) + 10 * step, all = high + std::log(n / m);
    const LawRange wanted{std::min(tails.left_end(m, outside), low) - margin,
                          std::min(all, std::max(high, tails.right_end(m, outside))) + margin, step};
    const auto [place, is_new] = halves.try_emplace(half, Request{wanted, {}, 0, outside});
    if (is_new) continue;
    place->second.log_floor = std::min(place->second.log_floor, outside);
    place->second.range.low = std::min(place->second.range.low, wanted.low);
    place->second.range.high = std::max(place->second.range.high, wanted.high);
  }
}

}  // namespace

LogMeanLaw log_mean_law(double s, std::uint64_t steps, const MeanTails& tails, const LawRange& range) {
  std::vector<Level> levels{{{steps, {{range.low, range.high, power_of_two_below(range.step)}, {}, 0, -infinity}}}};
  while (levels.back().rbegin()->first > 1) {
    Level halves;
    const double step = power_of_two_below(step_share * s / std::sqrt(static_cast<double>(levels.back().rbegin()->first)));
    for (auto& [size, request] : levels.back())
      if (size > 1) ask_halves(s, tails, size, request, step, halves);
    for (const auto& [size, request] : halves)
      if (!((request.range.high - request.range.low) / step < most_points)) return {};
    levels.push_back(std::move(halves));
  }
  std::map<std::uint64_t, LogMeanLaw> laws;
  for (std::size_t k = levels.size(); k-- > 0;) {
    const std::map<std::uint64_t, LogMeanLaw> halves = std::exchange(laws, {});
    for (const auto& [size, request] : levels[k]) {
      std::optional<LogMeanLaw> law =
          size == 1 ? one_step(s, request.range) : Combination(s, tails, halves.at(size / 2), halves.at(size - size / 2), request).law();
      if (!law) return {};
      laws.emplace(size, std::move(*law));
    }
  }
  return std::move(laws.at(steps));
}

}  // namespace tradeoff::detail::allocation
