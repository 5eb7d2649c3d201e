// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "mechanism/finite.h"
#include "mechanism/sparse_vector.h"
#include "mechanism/test_polygon.h"
#include "numeric/arithmetic.h"
#include "numeric/normal.h"

// A stream of queries that shows how much a sparse vector reveals at least. [sparse-vector-witness]
namespace tradeoff::detail {
namespace {

/// `many` queries at one level; if all are below, up to `positives` queries at another one, until an answer is below. Levels are those with
/// the record, relative to the threshold; without it they are moved.
struct Stream {
  double many = 0;
  double low = 0, high = 0;
  double low_move = 0, high_move = 0;
};

/// log P(noise >= t), in units of the scale; 1 - P is the same at -t for symmetric noise.
Interval log_survival(SparseNoise noise, Interval t) {
  const auto at = [&](double x) {
    const Interval point = Interval::exactly(x);
    if (noise == SparseNoise::gaussian) return log_normal_cdf(-point);
    if (noise == SparseNoise::exponential) return x <= 0 ? Interval::exactly(0) : -point;
    return x >= 0 ? -point - log(Interval::exactly(2)) : log1p(-(exp(point) / 2.0));
  };
  return {at(t.hi).lo, at(t.lo).hi};
}
Interval log_distribution(SparseNoise noise, Interval t) {
  if (noise != SparseNoise::exponential) return log_survival(noise, -t);
  const auto at = [](double x) { return x > 0 ? log1mexp(-Interval::exactly(x)) : Interval::exactly(-infinity); };
  return {at(t.lo).lo, at(t.hi).hi};
}

/// The logarithm of the density of the noise of the threshold, in units of its scale.
Interval log_density(SparseNoise noise, double t) {
  const Interval point = Interval::exactly(t);
  if (noise == SparseNoise::gaussian) return log(normal_density(point));
  if (noise == SparseNoise::exponential) return t < 0 ? Interval::exactly(-infinity) : -point;
  return -Interval::exactly(std::abs(t)) - log(Interval::exactly(2));
}

/// Nodes for the noise of the threshold, in units of its scale: dense in the middle.
std::vector<double> threshold_nodes(SparseNoise noise, int count) {
  const double reach = noise == SparseNoise::gaussian ? 13 : 45;  // beyond, the noise has a probability below 1e-18
  std::vector<double> nodes;
  for (int i = noise == SparseNoise::exponential ? 0 : -count; i <= count; ++i)
    nodes.push_back(reach * std::sinh(6.0 * i / count) / std::sinh(6.0));
  return nodes;
}
double beyond_nodes(SparseNoise noise) {
  return noise == SparseNoise::gaussian ? 2 * normal_cdf(-13.0).hi : exp(Interval::exactly(-45.0)).hi;
}

/// (e^d - 1)/d.
Interval mean_growth(Interval d) {
  const auto at = [](double x) {
    const Interval point = Interval::exactly(x);
    if (std::abs(x) > 1e-4) return expm1(point) / point;
    return 1.0 + point / 2.0 + Interval{0, 1e-8};  // d^2/4 at most
  };
  return {at(d.lo).lo, at(d.hi).hi};
}

/// The logarithms of the three factors of the integrand at the nodes.
struct Factors {
  std::vector<double> nodes;  // in units of the scale of the threshold
  std::vector<Interval> density, low, high;
};

Factors factors_of(const SparseVector& vector, const Stream& stream, bool with_record, int count) {
  Factors factors{threshold_nodes(vector.noise, count), {}, {}, {}};
  const Interval low = Interval::exactly(stream.low) + (with_record ? 0 : stream.low_move);
  const Interval high = Interval::exactly(stream.high) + (with_record ? 0 : stream.high_move);
  for (const double t : factors.nodes) {
    const Interval threshold = t * vector.threshold_scale;
    factors.density.push_back(log_density(vector.noise, t));
    factors.low.push_back(stream.many == 0 ? Interval::exactly(0)
                                           : stream.many * log_distribution(vector.noise, (threshold - low) / vector.query_scale));
    factors.high.push_back(log_survival(vector.noise, (threshold - high) / vector.query_scale));
  }
  return factors;
}

/// [sparse-vector-witness] The probability that all of the first block are below and at least `least` of the second block are above. The
/// integrand is log-concave: a chord of its logarithm is a lower bound between its ends and an upper bound beyond them.
Interval chance_of(const SparseVector& vector, const Factors& factors, double least) {
  const std::vector<double>& t = factors.nodes;
  std::vector<Interval> value(t.size());
  for (std::size_t i = 0; i < t.size(); ++i)
    value[i] = factors.density[i] + factors.low[i] + (least == 0 ? Interval::exactly(0) : least * factors.high[i]);
  const auto width = [&](std::size_t i) { return Interval::exactly(t[i + 1]) - t[i]; };
  Interval sum{0, beyond_nodes(vector.noise)};
  for (std::size_t i = 0; i + 1 < t.size(); ++i) {
    const Interval w = width(i);
    double low = 0, high = infinity;
    if (value[i].lo > -infinity && value[i + 1].lo > -infinity) {
      const Interval from = Interval::exactly(value[i].lo);
      low = (w * exp(from) * mean_growth(value[i + 1].lo - from)).lo;
    }
    if (i > 0 && value[i - 1].lo > -infinity && value[i].hi > -infinity) {
      const Interval slope = (Interval::exactly(value[i].hi) - value[i - 1].lo) / width(i - 1);
      high = (w * exp(Interval::exactly(value[i].hi)) * mean_growth(slope * w)).hi;
    }
    if (i + 2 < t.size() && value[i + 2].lo > -infinity && value[i + 1].hi > -infinity) {
      const Interval slope = (Interval::exactly(value[i + 1].hi) - value[i + 2].lo) / width(i + 1);
      high = std::min(high, (w * exp(Interval::exactly(value[i + 1].hi)) * mean_growth(slope * w)).hi);
    }
    const double top =
        t[i] < 0 && t[i + 1] > 0 ? log_density(vector.noise, 0).hi : std::max(factors.density[i].hi, factors.density[i + 1].hi);
    const Interval most = Interval::exactly(top) + factors.low[i + 1].hi + (least == 0 ? 0 : (least * factors.high[i]).hi);
    high = std::min(high, (w * exp(Interval::exactly(most.hi))).hi);
    sum = sum + Interval{std::max(low, 0.0), high};
  }
  return clamp(sum, 0, 1);
}

/// An event: its probability with the record and without it.
struct Event {
  Interval with_record, without;
};

/// The events "at least so many of the second block", for a choice of numbers.
std::vector<Event> events_of(const SparseVector& vector, const Stream& stream, int nodes, std::size_t count) {
  const Factors with = factors_of(vector, stream, true, nodes), without = factors_of(vector, stream, false, nodes);
  std::vector<Event> events;
  const double most = static_cast<double>(vector.positives);
  double before = -1;
  for (std::size_t i = 0; i <= count; ++i) {
    const double least = std::round(most * static_cast<double>(i) / static_cast<double>(count));
    if (least == before) continue;
    before = least;
    events.push_back({chance_of(vector, with, least), chance_of(vector, without, least)});
  }
  return events;
}

/// How much the events reveal at epsilon, in either order or in both.
double strength(const std::vector<Event>& events, double epsilon, bool ordered) {
  double remove = 0, add = 0;
  const double factor = std::exp(epsilon);
  for (const auto& [p, q] : events) {
    const double a = middle_of(p), b = middle_of(q);
    remove = std::max({remove, a - factor * b, 1 - a - factor * (1 - b)});
    add = std::max({add, b - factor * a, 1 - b - factor * (1 - a)});
  }
  return ordered ? std::max(remove, add) : (remove + add) / 2;
}

/// How both blocks may move.
std::vector<std::pair<double, double>> moves_of(const SparseVector& vector) {
  const double far = vector.sensitivity.lo;
  switch (vector.movement) {
    case Movement::any:
      return {{far, -far}, {0, -far}};
    case Movement::rising:
      return {{0, -far}, {-far, -far}};
    case Movement::falling:
      return {{0, far}, {far, far}};
    case Movement::either:
      break;
  }
  return {{far, 0}, {0, -far}, {far, far}};
}

/// A search on few nodes; what it finds is evaluated with bounds afterwards.
Stream strong_stream(const SparseVector& vector, double epsilon, bool ordered) {
  constexpr int few_nodes = 20;
  constexpr std::size_t few_events = 4;
  const double unit = vector.query_scale.hi;
  const double most = vector.queries == 0 ? infinity : static_cast<double>(vector.queries) - static_cast<double>(vector.positives);
  Stream best;
  double found = -1;
  for (const auto& [low_move, high_move] : moves_of(vector))
    for (const double many : {0.0, 4.0, 20.0, 100.0}) {
      if (many > std::max(most, 0.0)) continue;
      for (const double low : {-2.0, -0.5, 0.5})
        for (const double high : {-1.0, 0.0, 1.0}) {
          if (many == 0 && low > -2) continue;
          const Stream stream{many, low * unit, high * unit, low_move, high_move};
          const double here = strength(events_of(vector, stream, few_nodes, few_events), epsilon, ordered);
          if (here > found) found = here, best = stream;
        }
    }
  return best;
}

std::vector<TestPoint> tests_of(const std::vector<Event>& events) {
  std::vector<TestPoint> points;
  for (const auto& [p, q] : events) {
    points.emplace_back(q.hi, p.lo);
    points.emplace_back(std::min(1.0, numeric::add_up(1, -q.lo)), std::max(0.0, numeric::add_down(1, -p.hi)));
  }
  return polygon_over(std::move(points));
}

}  // namespace

LossPointer sparse_vector_witness(const SparseVector& given, double share, bool ordered) {
  SparseVector vector = given;
  if (vector.queries > 0) vector.positives = std::min(vector.positives, vector.queries);  // no more answers than queries
  constexpr int many_nodes = 200;
  constexpr std::size_t many_events = 12;
  const Interval none = Interval::exactly(0);
  Citations origin{{"sparse-vector-witness", "lower ends: one explicit stream of queries; what any other stream reveals is not covered"}};
  if (vector.sensitivity.hi == 0) return finite_loss(make_atoms({{none, Interval::exactly(1)}}, none, none, true), {}, std::move(origin));
  const double losses = vector.noise == SparseNoise::gaussian ? 3 : 1;  // times a shift: a strong but common loss
  const double epsilon = share * losses *
                         (vector.threshold_shift().hi +
                          static_cast<double>(vector.noise == SparseNoise::gaussian ? 1 : vector.positives) * vector.query_shift().hi);
  const Stream stream = strong_stream(vector, std::min(epsilon, 500.0), ordered);
  const std::vector<TestPoint> tests = tests_of(events_of(vector, stream, many_nodes, many_events));
  if (ordered) return finite_loss(atoms_of_polygon(tests), {}, std::move(origin));
  return finite_loss(vector.directed() ? symmetric_atoms_of_polygon(tests) : either_order(atoms_of_polygon(tests)), {}, std::move(origin));
}

}  // namespace tradeoff::detail
