// SPDX-License-Identifier: Apache-2.0
#include "engine/exact/sum.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <map>
#include <mutex>
#include <numbers>
#include <sstream>

#include "engine/saddle_point.h"
#include "loss/atoms.h"
#include "loss/evaluation.h"
#include "loss/work.h"
#include "numeric/arithmetic.h"
#include "numeric/root.h"

namespace tradeoff::detail {

namespace {

using numeric::add_down;
using numeric::add_up;
using numeric::up_by;

constexpr double tail_step = 1.2;          // slightly more than 2^(1/4): one tail bound covers all tilts in between
constexpr double most_windows = 1e6;       // windows of a tail bound: a fifth of a second
constexpr double order = 4;                // order of the smoothing: beyond the last window the integrand decreases like this power
constexpr double most_phase = 3;           // smoothing width times |s| at the nodes: its series then needs sixteen terms
constexpr double most_sum_work = 4e6;      // nodes times distributions: a fifth of a second
constexpr double work_of_law_node = 0.05;  // for each distribution, in the units of loss/work.h

double radius(Interval a) { return up_by(std::max(a.hi - middle_of(a), middle_of(a) - a.lo), 1); }

/// One finite distribution that occurs `times` times.
struct Factor {
  std::vector<Atom> atoms;
  double times = 1;
};

/// A distribution tilted by exp(c * loss) and normalised: weights at distances from the first atom.
struct TiltedFactor {
  double times = 1;
  double first_weight = 0;
  std::vector<double> weights;    // of the other atoms
  std::vector<double> distances;  // loss - first loss
  double weight_error = 0;        // absolute, of all weights together
  double distance_error = 0;      // absolute, of each distance
};

struct Cumulants {
  double log_mass = 0;
  double mean = 0;
  double variance = 0;
};

/// One direction of a composition.
class SumProfile {
 public:
  SumProfile(std::vector<Factor> factors, Interval infinite, double relative);

  [[nodiscard]] Interval log_finite_delta(double epsilon, Evaluation* account = nullptr) const;
  [[nodiscard]] Interval log_delta(Interval epsilon) const;
  [[nodiscard]] Interval infinite() const { return infinite_; }
  /// Encloses the least epsilon >= 0 at which delta without the infinite mass has this logarithm.
  [[nodiscard]] Interval epsilon(Interval log_wanted) const;

 private:
  [[nodiscard]] double guess_epsilon(double log_wanted) const;
  [[nodiscard]] double lowest_asked() const { return mean_ - 12 * deviation_ - 1; }
  [[nodiscard]] Cumulants cumulants(double tilt) const;
  [[nodiscard]] Interval log_transform(double tilt) const;
  [[nodiscard]] double saddle(double epsilon) const;
  [[nodiscard]] std::vector<TiltedFactor> tilted(double tilt) const;
  [[nodiscard]] double log_aliasing(double epsilon, double tilt, double period, Interval log_scale) const;

  /// A bound of the part beyond the last node, for every tilt up to `tilt`: the sum over windows of the bound on |transform| times width /
  /// t^2.
  struct Tail {
    double start = 0;
    double half_window = 0;
    double windows = 0;  // number of windows used
    double end = 0;      // beyond it only |transform| <= 1 is used
  };
  [[nodiscard]] const Tail& tail_for(double tilt) const;
  [[nodiscard]] Tail make_tail(double tilt) const;

  /// Two atoms of a distribution: the frequency and the amplitude of the oscillation of their transform's modulus.
  struct Wave {
    double turns = 0;        // distance / 2 pi
    double turns_error = 0;  // absolute
    double depth = 0;        // 4ab / (a + b), rounded down
    double times = 1;
  };
  [[nodiscard]] std::vector<Wave> waves_between(double low, double high) const;
  [[nodiscard]] static double window_bound(const std::vector<Wave>& waves, double at, double half_window);

  /// The smoothing width of delta: enough that the nodes beyond the last window are `share` of their size without smoothing.
  struct Smoothing {
    double width = 0;
    double share = 1;
  };
  [[nodiscard]] Smoothing smoothing(double tilt, const Tail& tail) const;

  /// The trapezoidal sums over the nodes up to the tail, in units of the value of M at 0, of delta smoothed by `width` and by twice that,
  /// and a bound of the rounding of each.
  struct Nodes {
    double sum = 0;
    double wider_sum = 0;
    double error = 0;
  };
  [[nodiscard]] Interval bracket_by_top_atom(double epsilon, double tilt) const;
  [[nodiscard]] Nodes sum_nodes(double epsilon, double tilt, double step, double last, double width) const;

  std::vector<Factor> factors_;
  Interval infinite_;
  double relative_;
  Interval highest_ = Interval::exactly(0);  // sum of the largest losses
  double mean_ = 0;
  double deviation_ = 0;
  mutable std::mutex lock_;
  mutable std::map<int, Tail> tails_;
};

SumProfile::SumProfile(std::vector<Factor> factors, Interval infinite, double relative)
    : factors_(std::move(factors)), infinite_(infinite), relative_(relative) {
  for (const Factor& factor : factors_) highest_ = highest_ + Interval::exactly(factor.times) * factor.atoms.front().loss;
  const Cumulants plain = cumulants(0);
  mean_ = plain.mean;
  deviation_ = std::sqrt(plain.variance);
}

/// log E exp(c L) and its first two derivatives, as plain doubles: they only guide choices.
Cumulants SumProfile::cumulants(double tilt) const {
  Cumulants sum;
  for (const Factor& factor : factors_) {
    const double top = tilt * middle_of(factor.atoms.front().loss);
    double mass = 0;
    double first = 0;
    double second = 0;
    for (const Atom& atom : factor.atoms) {
      const double loss = middle_of(atom.loss);
      const double weight = middle_of(atom.mass) * std::exp(tilt * loss - top);
      mass += weight;
      first += weight * loss;
      second += weight * loss * loss;
    }
    sum.log_mass += factor.times * (top + std::log(mass));
    sum.mean += factor.times * first / mass;
    sum.variance += factor.times * std::max(0.0, second / mass - (first / mass) * (first / mass));
  }
  return sum;
}

Interval SumProfile::log_transform(double tilt) const {
  Interval sum = Interval::exactly(0);
  const Interval c = Interval::exactly(tilt);
  for (const Factor& factor : factors_) {
    const double top = tilt * middle_of(factor.atoms.front().loss);
    Interval mass = Interval::exactly(0);
    for (const Atom& atom : factor.atoms) mass = mass + atom.mass * exp(c * atom.loss - top);
    sum = sum + factor.times * (top + log(mass));
  }
  return sum;
}

/// The positive zero of the derivative of log M(c) - c epsilon - log c (c + 1), which is increasing.
double SumProfile::saddle(double epsilon) const {
  double low = 0;
  double high = 1 / deviation_;
  const auto slope = [&](double c) { return cumulants(c).mean - epsilon - 1 / c - 1 / (c + 1); };
  for (int i = 0; i < 60 && slope(high) < 0; ++i) {
    low = high;
    high *= 2;
  }
  // Three digits suffice: any c > 0 is valid.
  return numeric::bisect_ratio([&](double c) { return !(slope(c) < 0); }, {low, high}, 12).beyond;
}

std::vector<TiltedFactor> SumProfile::tilted(double tilt) const {
  std::vector<TiltedFactor> result;
  result.reserve(factors_.size());
  for (const Factor& factor : factors_) {
    TiltedFactor tilted_factor;
    tilted_factor.times = factor.times;
    const Interval top = factor.atoms.front().loss;
    Interval total = Interval::exactly(0);
    std::vector<Interval> weights;
    for (const Atom& atom : factor.atoms) {
      weights.push_back(atom.mass * exp(Interval::exactly(tilt) * (atom.loss - top)));
      total = total + weights.back();
    }
    for (std::size_t a = 0; a < weights.size(); ++a) {
      const Interval weight = weights[a] / total;
      tilted_factor.weight_error = add_up(tilted_factor.weight_error, radius(weight));
      if (a == 0) {
        tilted_factor.first_weight = middle_of(weight);
        continue;
      }
      const Interval distance = factor.atoms[a].loss - top;
      tilted_factor.weights.push_back(middle_of(weight));
      tilted_factor.distances.push_back(middle_of(distance));
      tilted_factor.distance_error = std::max(tilted_factor.distance_error, radius(distance));
    }
    result.push_back(std::move(tilted_factor));
  }
  return result;
}

/// For each distribution the pair of atoms that makes the transform smallest away from 0, valid for all tilts between the two.
std::vector<SumProfile::Wave> SumProfile::waves_between(double low, double high) const {
  std::vector<Wave> waves;
  const std::vector<TiltedFactor> lows = tilted(low);
  const std::vector<TiltedFactor> highs = tilted(high);
  for (std::size_t i = 0; i < lows.size(); ++i) {
    // A weight is log-concave in the tilt, so over an interval its minimum is at an end. Index 0 is the first atom.
    const auto weight = [&](std::size_t a) {
      const double at_low = a == 0 ? lows[i].first_weight : lows[i].weights[a - 1];
      const double at_high = a == 0 ? highs[i].first_weight : highs[i].weights[a - 1];
      return std::max(0.0, std::min(at_low - lows[i].weight_error, at_high - highs[i].weight_error));
    };
    const auto place = [&](std::size_t a) { return a == 0 ? 0.0 : lows[i].distances[a - 1]; };
    const std::size_t atoms = lows[i].weights.size() + 1;
    std::size_t heaviest = 0;
    for (std::size_t a = 1; a < atoms; ++a)
      if (weight(a) > weight(heaviest)) heaviest = a;
    Wave best;
    for (std::size_t a = 0; a < atoms; ++a) {
      const double product = weight(a) * weight(heaviest);
      if (a == heaviest || !(product > 0)) continue;
      const double depth = 4 * product / (weight(a) + weight(heaviest)) * (1 - 16 * unit_roundoff);
      if (depth <= best.depth) continue;
      const double turns = std::abs(place(a) - place(heaviest)) / (2 * std::numbers::pi);
      best = {turns, turns * 16 * unit_roundoff + lows[i].distance_error, depth, lows[i].times};
    }
    if (best.depth > 0) waves.push_back(best);
  }
  return waves;
}

/// [sum-inversion] Bound on |M(c + it)| / M(c) over a window of t: two atoms a, b of a law at distance D give
/// |phi|^2 <= 1 - 4ab/(a+b) sin^2(D t / 2), and sin(pi d) >= 3d - 4d^3 at the distance d of D t / 2 pi from the integers.
double SumProfile::window_bound(const std::vector<Wave>& waves, double at, double half_window) {
  double square = 1;
  double exponent = 0;
  for (const Wave& wave : waves) {
    const double turns = wave.turns * at;
    // The distance to the integers, minus what the window (slightly wider, so that rounded windows leave no gaps) and rounding may change.
    const double near = std::abs(turns - std::nearbyint(turns)) - wave.turns * half_window * 1.001 - at * wave.turns_error;
    if (near <= 0) continue;
    const double sine = near * (3 - 4 * near * near);
    const double loss = wave.depth * sine * sine;
    if (wave.times == 1) {
      square *= 1 - loss;
    } else {
      exponent += wave.times * loss;
    }
    if (square < 1e-36 || exponent > 80) break;  // the square of the rounding errors of the nodes
  }
  return std::sqrt(square) * std::exp(-exponent / 2) * (1 + 1e-10) + 1e-300;
}

/// The windows beyond the nodes, and the required number of nodes.
SumProfile::Tail SumProfile::make_tail(double tilt) const {
  std::vector<Wave> waves = waves_between(tilt / tail_step, tilt);
  double fastest = 0;
  for (const Wave& wave : waves) fastest = std::max(fastest, wave.turns);
  // Distributions with large amplitudes first, because they are the quickest to help.
  std::sort(waves.begin(), waves.end(), [](const Wave& a, const Wave& b) { return a.depth * a.times > b.depth * b.times; });
  const Cumulants local = cumulants(tilt);
  const double deviation = std::sqrt(local.variance);
  Tail tail;
  tail.start = 9 / deviation;  // exp(-81/2): below the rounding of doubles if the sum is close to normal there
  tail.half_window = 0.04 / fastest;
  // The rest beyond `end` is 1 / (pi end), compared with the main term 1 / (c (c + 1) deviation sqrt(2 pi)).
  const double share = tilt * (tilt + 1) * deviation;
  // Smoothing by w costs about w^2 (c+1)^2 / 8; the rest is then divided by (w end / order)^order.
  const double narrow = std::sqrt(0.4 * relative_) / (tilt + 1);
  const double wanted = std::min(8 * share / relative_, 10 * order / narrow);
  const double least = std::max(4 * tail.start, 8 * tail.half_window);  // so that 2 / end bounds the part beyond
  tail.end = std::max(least, std::min(wanted, tail.start + most_windows * 2 * tail.half_window));
  std::vector<double> windows;
  for (double at = tail.start + tail.half_window; at < tail.end; at += 2 * tail.half_window) {
    const double from = at - tail.half_window;
    windows.push_back(window_bound(waves, at, tail.half_window) * 2.01 * tail.half_window / (from * from));
  }
  // From far to near: as many windows as the accuracy allows are bounded; the nodes of the others are summed.
  const double bearable = 0.02 * relative_ / share;
  const double node_step = 2 * std::numbers::pi * tilt / 60;  // about the spacing of the nodes
  const double most_start = most_sum_work / static_cast<double>(factors_.size()) * node_step;
  std::size_t first = windows.size();
  while (first > 0 && (tail.windows + windows[first - 1] <= bearable || 2 * tail.half_window * static_cast<double>(first) > most_start))
    tail.windows += windows[--first];
  tail.start += 2 * tail.half_window * static_cast<double>(first);
  tail.windows *= 1 + 1e-9;
  return tail;
}

const SumProfile::Tail& SumProfile::tail_for(double tilt) const {
  // One bound covers all tilts between two quarter powers of 2, with a margin for the rounding of the logarithm.
  const int step = static_cast<int>(std::ceil(4 * std::log2(tilt)));
  const std::lock_guard guard(lock_);
  const auto place = tails_.find(step);
  if (place != tails_.end()) return place->second;
  return tails_.emplace(step, make_tail(std::exp2(step / 4.0) * 1.001)).first->second;
}

/// The other terms of the Poisson sum: e^{c n X} delta(epsilon + n X) <= M(c') e^{-c' epsilon} e^{-(c' - c) n X} for n > 0 and any c' > c,
/// and <= e^{-c |n| X} for n < 0. Relative to exp(log_scale), as a logarithm.
double SumProfile::log_aliasing(double epsilon, double tilt, double period, Interval log_scale) const {
  const Interval low = -Interval::exactly(tilt) * period;
  const Interval from_left = low - log1mexp(low) - log_scale;
  Interval from_right = Interval::exactly(-infinity);
  if (epsilon + period < highest_.hi) {
    from_right = Interval::exactly(infinity);
    for (const double factor : {1.25, 1.5, 2.0, 3.0}) {
      const double other = tilt * factor;
      const Interval decay = -(Interval::exactly(other) - tilt) * period;
      const Interval bound = log_transform(other) - Interval::exactly(other) * epsilon + decay - log1mexp(decay) - log_scale;
      from_right = min(from_right, bound);
    }
  }
  return log_add_exp(from_left, from_right).hi;
}

SumProfile::Smoothing SumProfile::smoothing(double tilt, const Tail& tail) const {
  const double share = tilt * (tilt + 1) * deviation_;
  const double wanted = 0.05 * relative_ * tail.end / (4 * share);
  const double most = most_phase / (tilt + 34 + tail.start);
  if (!(wanted < 1) || !(order / tail.end < most)) return {};
  const double width = std::min(most / 2, order / tail.end * std::pow(wanted, -1 / order));
  return {width, std::pow(order / (width * tail.end), order) * (1 + 1e-9)};
}

/// [sum-inversion] E (1 + width U)^(-s), where U is the mean of four uniform numbers of [-1, 1], by its series; for (|s| + 34) width below
/// `most_phase` the omitted terms are less than 1e-24.
std::complex<double> smoothing_factor(std::complex<double> s, double width) {
  // E U^2, E U^4, ... rounded to nearest; odd moments are 0.
  constexpr std::array<double, 16> moments{0x1.5555555555555p-4,  0x1.3333333333333p-6,  0x1.9e79e79e79e7ap-8,  0x1.60b60b60b60b6p-9,
                                           0x1.5d1745d1745d1p-10, 0x1.8012012012012p-11, 0x1.c8e38e38e38e4p-12, 0x1.2090909090909p-12,
                                           0x1.7e4171905c641p-13, 0x1.0725adfdc896bp-13, 0x1.7612ebf7187cbp-14, 0x1.112222eefbbc9p-14,
                                           0x1.98215ac056b01p-15, 0x1.3708e74862de7p-15, 0x1.e25a787e1f87ep-16, 0x1.7bc1f1f782094p-16};
  std::complex<double> sum = 1, term = 1;
  for (std::size_t n = 0; n < moments.size(); ++n) {
    const double k = 2 * static_cast<double>(n);
    term *= (s + k) * (s + (k + 1)) * (width * width / ((k + 1) * (k + 2)));
    sum += term * moments[n];
  }
  return sum;
}

SumProfile::Nodes SumProfile::sum_nodes(double epsilon, double tilt, double step, double last, double width) const {
  Work::count(work_of_law_node * last / step * static_cast<double>(factors_.size()));
  const std::vector<TiltedFactor> factors = tilted(tilt);
  Interval offset = -Interval::exactly(epsilon);
  double factor_count = 64;
  double weight_error = 0;
  double phase_error = 0;  // per unit of t
  for (std::size_t i = 0; i < factors.size(); ++i) {
    offset = offset + factors_[i].times * factors_[i].atoms.front().loss;
    factor_count += factors[i].times * static_cast<double>(factors[i].weights.size() + 1);
    weight_error += factors[i].times * factors[i].weight_error;
    double reach = 0;
    for (const double distance : factors[i].distances) reach = std::max(reach, std::abs(distance));
    phase_error += factors[i].times * (factors[i].distance_error + 4 * unit_roundoff * reach);
  }
  const double base = middle_of(offset);
  phase_error += radius(offset) + 4 * unit_roundoff * std::abs(base);

  double sizes = 1 / (tilt * (tilt + 1)) / 2;  // half of the node at 0; the others come in conjugate pairs
  Nodes nodes{sizes * smoothing_factor(tilt, width).real(), sizes * smoothing_factor(tilt, 2 * width).real(), 0};
  for (double k = 1; k * step <= last; ++k) {
    const double t = k * step;
    std::complex<double> value = std::polar(1.0, t * base);
    for (const TiltedFactor& factor : factors) {
      std::complex<double> phi = factor.first_weight;
      for (std::size_t a = 0; a < factor.weights.size(); ++a) phi += std::polar(factor.weights[a], t * factor.distances[a]);
      value *= factor.times == 1 ? phi : std::pow(phi, factor.times);
    }
    const std::complex<double> at(tilt, t), kernel = 1.0 / (at * (at + 1.0));
    nodes.sum += (value * kernel * smoothing_factor(at, width)).real();
    nodes.wider_sum += (value * kernel * smoothing_factor(at, 2 * width)).real();
    nodes.error += std::abs(kernel) * (weight_error + t * phase_error);
    sizes += std::abs(kernel);
  }
  // Factors have modulus at most 1, so their absolute errors add: 16 units for each polar form, product and power.
  nodes.error = up_by((nodes.error + sizes * 16 * factor_count * unit_roundoff) * (1 + 1e-9), 8);
  return nodes;
}

/// [sum-inversion] The lower bound comes from the atom of the largest losses alone, the upper bound is Chernoff's (1 - e^-x)+ <= e^(c x)
/// c^c / (1+c)^(1+c). Both are tight if that atom is the only one above epsilon.
Interval SumProfile::bracket_by_top_atom(double epsilon, double tilt) const {
  Interval log_mass = Interval::exactly(0);
  for (const Factor& factor : factors_) log_mass = log_mass + factor.times * log(factor.atoms.front().mass);
  const Interval distance = max(highest_ - epsilon, Interval::exactly(0));
  double above = 0;
  for (const double share : {0.25, 0.4, 0.5, 0.6, 1.0}) {
    const Interval c = Interval::exactly(share * tilt);
    const Interval bound = log_transform(share * tilt) - c * epsilon - log1p(c) - c * log1p(1.0 / c);
    if (bound.hi < above) above = bound.hi;
  }
  return {std::min(above, (log_mass + log(-expm1(-distance))).lo), above};
}

/// [sum-inversion] delta without the infinite mass at one point: the lower bound is the smoothed value, the upper bound is twice that minus
/// the value smoothed twice as wide.
Interval SumProfile::log_finite_delta(double epsilon, Evaluation* account) const {
  if (epsilon >= highest_.hi) return Interval::exactly(-infinity);
  // Far below the mean delta is 1 up to its tail: the lower bound at a larger epsilon holds here too.
  epsilon = std::max(epsilon, lowest_asked());
  const double tilt = saddle(epsilon);
  const Interval log_scale = log_transform(tilt) - Interval::exactly(tilt) * epsilon;
  const Tail& tail = tail_for(tilt);
  // Next to the largest loss all but one atom of the tilted distribution is lost in rounding, and the transform does not decay.
  if (!(tail.start < infinity && tail.end < infinity && tail.half_window < infinity)) return bracket_by_top_atom(epsilon, tilt);
  const Smoothing smooth = smoothing(tilt, tail);
  // Aliases are e^-45 of the scale; there are at least eight nodes.
  const double period = std::max((45 + std::max(0.0, -log_scale.lo)) / tilt, 16 * std::numbers::pi / tail.start);
  const double step = 2 * std::numbers::pi / period;
  const Nodes nodes = sum_nodes(epsilon, tilt, step, tail.start, smooth.width);
  // The effect of the smoothing on the bounds: (1 - 2w)^-c for the modulus and for the aliases, whose orders go up to 3c; (1 + 2w)^4
  // beyond.
  const double inflation = std::pow(1 - 2 * smooth.width, -3 * tilt) * std::pow(1 + 2 * smooth.width, order) * (1 + 1e-9);
  const double beyond = tail.windows * (1 + step / (2 * tail.half_window)) + 2 / tail.end * smooth.share;
  const double rest = up_by((nodes.error + inflation * beyond / step) * (1 + 1e-9), 8);
  const Interval spacing = Interval::exactly(step) * (1 + Interval{-8 * unit_roundoff, 8 * unit_roundoff});
  const Interval around_pi{std::numbers::pi, numeric::next_up(std::numbers::pi)};
  const auto sum = [&](double value, double doubt) { return (Interval::exactly(value) + Interval{-doubt, doubt}) * spacing / around_pi; };
  const double aliasing = inflation * exp(Interval::exactly(log_aliasing(epsilon, tilt, period * (1 - 1e-12), log_scale))).hi;
  const double above = sum(nodes.sum, rest).hi;
  const double below = sum(2 * nodes.sum - nodes.wider_sum, 3 * rest).lo;
  const Interval total{add_down(below, -up_by(2 * aliasing, 1)), above};
  if (account != nullptr) {
    const double share = step / std::numbers::pi / std::max(total.lo, 0.0);
    account->counts = {{"nodes", static_cast<std::uint64_t>(tail.start / step)}};
    account->settings = {{"tilt", tilt}, {"step", step}, {"smoothing width", smooth.width}};
    account->errors = {{"nodes", nodes.error * share},
                       {"truncation", inflation * beyond / step * share},
                       {"alias", aliasing / std::max(total.lo, 0.0)},
                       {"smoothing", std::max(nodes.wider_sum - nodes.sum, 0.0) * share}};
  }
  return min(log_scale + log(max(total, Interval::exactly(0))), Interval::exactly(0));
}

Interval SumProfile::log_delta(Interval epsilon) const {
  const Interval above = log_finite_delta(epsilon.lo);
  const Interval below = epsilon.lo == epsilon.hi ? above : log_finite_delta(epsilon.hi);
  const Interval finite{below.lo, epsilon.lo < lowest_asked() ? 0.0 : above.hi};
  return min(log_add_exp(finite, log(infinite_)), Interval::exactly(0));
}

/// By the saddle-point approximation, which decreases as the tilt increases.
double SumProfile::guess_epsilon(double log_wanted) const {
  double epsilon = 0;
  const auto falls_below = [&](double c) {
    const Cumulants k = cumulants(c);
    const SaddlePoint here = saddle_point(c, k.log_mass, k.mean, k.variance);
    epsilon = here.epsilon;
    return !(here.log_delta > log_wanted);
  };
  (void)numeric::bisect_ratio(falls_below, {1e-6 / deviation_, 1e9 / deviation_}, 50);
  return std::max(0.0, epsilon);
}

/// [profile-inversion] The two ends are proved; all earlier values only guide the search. It uses few evaluations, because each takes a
/// tenth of a second.
Interval SumProfile::epsilon(Interval log_wanted) const {
  Interval found{0, highest_.hi};
  double guess = guess_epsilon(log_wanted.lo), margin = 0;
  const auto ask = [&](double at) {
    const Interval value = log_finite_delta(at);
    if (value.hi <= log_wanted.lo && at >= lowest_asked()) found.hi = std::min(found.hi, at);
    if (value.lo > log_wanted.hi) found.lo = std::max(found.lo, at);
    return value;
  };
  for (int i = 0; i < 6; ++i) {
    const Interval value = ask(guess);
    if (guess == 0 && found.hi == 0) return found;
    const double steepness = std::max(saddle(guess), 1e-9);
    const double move = value.lo > -infinity ? (value.lo / 2 + value.hi / 2 - log_wanted.lo) / steepness : 0;
    margin = (value.lo > -infinity ? value.hi - value.lo : 1.0) / steepness + 16 * unit_roundoff * guess;
    if (!(std::abs(move) > margin / 4)) break;
    guess = std::clamp(guess + move, 0.0, highest_.hi);
  }
  for (double factor = 1; factor < 1e4 && !(found.hi <= guess + factor * margin); factor *= 3) ask(guess + factor * margin);
  for (double factor = 1; factor < 1e4 && factor * margin < guess && !(found.lo >= guess - factor * margin); factor *= 3)
    ask(guess - factor * margin);
  return found;
}

class SumLoss final : public Loss, public ClosedForms, public Evaluable {
 public:
  SumLoss(const Parts& parts, bool symmetric, double relative)
      : symmetric_(symmetric),
        tail_(tail_of(parts)),
        remove_(make(parts, Direction::remove, relative)),
        citations_(citations_of_laws(parts)) {
    citations_.emplace_back("sum-inversion", std::to_string(parts.size()) + " distinct finite laws, too many atoms to list", Method::exact);
    if (!symmetric) add_ = make(parts, Direction::add, relative);
    for (const Part& part : parts) {
      slack_ = add_up(slack_, -2 * static_cast<double>(part.times) * std::log1p(-part.loss->atoms(Direction::remove)->slack));
    }
  }
  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override { return exp(log_delta(direction, epsilon)); }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    record(citations_);
    const Interval log = profile(direction).log_delta(epsilon);
    return {add_down(log.lo, -slack_), log.hi};
  }
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override {
    record(citations_);
    const Interval infinite = infinite_mass(direction);
    if (delta.hi < infinite.lo) return Interval::exactly(infinity);
    if (!(delta.lo > infinite.hi)) return std::nullopt;
    // Roughly known masses may lower delta by their slack.
    const Interval high = delta.hi * exp(Interval::exactly(slack_)) - infinite;
    return profile(direction).epsilon({log(delta - infinite).lo, log(high).hi});
  }
  [[nodiscard]] bool symmetric() const override { return symmetric_; }
  [[nodiscard]] Capabilities capabilities(Direction) const override { return {.closed_forms = this, .evaluable = this}; }
  [[nodiscard]] Tail tail() const override { return tail_; }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override { return profile(direction).infinite(); }
  void cite() const override { record(citations_); }
  void evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const override {
    Evaluation one = whole_evaluation(*this, direction, epsilon);
    const double share = std::exp(profile(direction).log_finite_delta(epsilon, &one).lo - one.log_delta.lo);
    for (auto& [name, error] : one.errors) error *= share;  // relative to all of delta, including the infinite mass
    found.push_back(balanced(std::move(one), "masses"));
  }

 private:
  static std::unique_ptr<SumProfile> make(const Parts& parts, Direction direction, double relative) {
    std::vector<Factor> factors;
    Interval kept = Interval::exactly(0);
    for (const Part& part : parts) {
      const Atoms& atoms = *part.loss->atoms(direction);
      const double times = static_cast<double>(part.times);
      kept = kept + times * log1p(-atoms.infinite);
      factors.push_back({atoms.finite, times});
    }
    return std::make_unique<SumProfile>(std::move(factors), -expm1(kept), relative);
  }
  [[nodiscard]] const SumProfile& profile(Direction direction) const { return direction == Direction::add && add_ ? *add_ : *remove_; }

  bool symmetric_;
  Tail tail_;
  std::unique_ptr<SumProfile> remove_;
  std::unique_ptr<SumProfile> add_;
  Citations citations_;
  double slack_ = 0;
};

}  // namespace

LossPointer compose_by_inversion(const Parts& parts, Tolerance tolerance) {
  for (const Part& part : parts) {
    const Atoms* atoms = part.loss->atoms(Direction::remove);
    if (atoms == nullptr || atoms->finite.empty()) return nullptr;
  }
  const bool symmetric = are_symmetric(parts);
  return std::make_shared<SumLoss>(parts, symmetric, tolerance.relative);
}

}  // namespace tradeoff::detail
