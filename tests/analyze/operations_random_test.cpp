// SPDX-License-Identifier: Apache-2.0
// Random finite pairs, including asymmetric ones and ones with outcomes that reveal everything, compared with brute force on their
// polygons: every operation on curves, by its trade-off function and by its profile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "support/matchers.h"
#include "support/random_pair.h"
#include "support/scale.h"
#include "tradeoff/analyze.h"
#include "tradeoff/operations.h"

// [curve-algebra] [group-privacy] [privacy-order] [tradeoff-functions] [blackwell-order] [tensor-composition]
namespace tradeoff::detail {
namespace {

using test::Encloses;

using Real = long double;
using Weights = std::vector<Real>;

/// A convex polygon from alpha = 0 to alpha = 1: a trade-off function by its vertices.
struct Polygon {
  struct Point {
    Real x, y;
  };
  std::vector<Point> points;

  [[nodiscard]] Real at(Real x) const {
    for (std::size_t i = 1; i < points.size(); ++i) {
      const auto [x0, y0] = points[i - 1];
      const auto [x1, y1] = points[i];
      if (x <= x1) return x1 > x0 ? y0 + (y1 - y0) * (x - x0) / (x1 - x0) : std::min(y0, y1);
    }
    return 0;
  }
  /// delta(e): the largest of 1 - f - e^e alpha.
  [[nodiscard]] Real delta(Real epsilon) const {
    Real best = 0;
    for (const auto& [x, y] : points) best = std::max(best, 1 - y - std::exp(epsilon) * x);
    return best;
  }
};

/// The lower hull of points, with the ends that every trade-off function has.
Polygon hull(std::vector<Polygon::Point> points) {
  points.push_back({0, 1});
  points.push_back({1, 0});
  std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return std::pair(a.x, a.y) < std::pair(b.x, b.y); });
  Polygon result;
  for (const auto& point : points) {
    auto& kept = result.points;
    if (!kept.empty() && point.x == kept.back().x) continue;
    while (kept.size() >= 2) {
      const auto &a = kept[kept.size() - 2], &b = kept.back();
      if ((b.y - a.y) * (point.x - a.x) < (point.y - a.y) * (b.x - a.x)) break;
      kept.pop_back();
    }
    kept.push_back(point);
  }
  return result;
}

Polygon inverse_of(const Polygon& f) {
  std::vector<Polygon::Point> points;
  for (const auto& [x, y] : f.points) points.push_back({y, x});
  return hull(points);
}

Polygon lower(const Polygon& f, const Polygon& g) {
  std::vector<Polygon::Point> points = f.points;
  points.insert(points.end(), g.points.begin(), g.points.end());
  return hull(points);
}

Polygon symmetric(const Polygon& f) { return lower(f, inverse_of(f)); }

/// The larger of two: the corners of both, and their crossings.
Polygon upper(const Polygon& f, const Polygon& g) {
  std::vector<Real> xs;
  for (const Polygon* one : {&f, &g})
    for (const auto& point : one->points) xs.push_back(point.x);
  std::sort(xs.begin(), xs.end());
  Polygon result;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if (i > 0) {
      const Real before = f.at(xs[i - 1]) - g.at(xs[i - 1]), after = f.at(xs[i]) - g.at(xs[i]);
      if (before * after < 0) {
        const Real x = xs[i - 1] + (xs[i] - xs[i - 1]) * before / (before - after);
        result.points.push_back({x, std::max(f.at(x), g.at(x))});
      }
    }
    result.points.push_back({xs[i], std::max(f.at(xs[i]), g.at(xs[i]))});
  }
  return result;
}

/// f_k = 1 - (1 - f)^(o k): its corners are where some iterate reaches a corner.
Polygon iterated(const Polygon& f, int k) {
  const auto power = [&](Real x) { return std::clamp(1 - f.at(x), Real(0), Real(1)); };
  std::vector<Real> corners;
  for (const auto& point : f.points) corners.push_back(point.x);
  std::vector<Real> all = corners, targets = corners;
  for (int i = 1; i < k; ++i) {  // the points that the power function maps to a corner of the iteration so far
    std::vector<Real> preimages;
    for (const Real target : targets) {
      Real low = 0, high = 1;
      for (int j = 0; j < 80; ++j) (power((low + high) / 2) < target ? low : high) = (low + high) / 2;
      preimages.push_back(high);
    }
    all.insert(all.end(), preimages.begin(), preimages.end());
    targets = preimages;
  }
  std::vector<Polygon::Point> points;
  for (const Real x : all) {
    Real y = x;
    for (int i = 0; i < k; ++i) y = power(y);
    points.push_back({x, 1 - y});
  }
  return hull(points);
}

struct Pair {
  Weights p, q;
  std::string plan;

  /// T(Q, P): outcomes by falling likelihood ratio.
  [[nodiscard]] Polygon tradeoff() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < p.size(); ++i)
      if (p[i] > 0 || q[i] > 0) order.push_back(i);  // an outcome of probability 0 on both sides could be anywhere
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] * q[b] > p[b] * q[a]; });
    std::vector<Polygon::Point> points;
    Real x = 0, y = 1;
    for (const std::size_t i : order) points.push_back({x += q[i], y -= p[i]});
    for (auto& point : points) point = {std::clamp(point.x, Real(0), Real(1)), std::clamp(point.y, Real(0), Real(1))};
    return hull(points);
  }
};

Pair random_pair(std::mt19937_64& random) {
  const test::RandomPair drawn = test::random_pair(random, test::ZeroWeights::rarely);
  return {drawn.probabilities<Real>(0), drawn.probabilities<Real>(1), drawn.plan};
}

Pair joined(const Pair& a, Real weight, const Pair& b) {
  Pair both;
  for (const auto& [pair, share] : {std::pair(&a, weight), std::pair(&b, 1 - weight)})
    for (std::size_t i = 0; i < pair->p.size(); ++i) {
      both.p.push_back(share * pair->p[i]);
      both.q.push_back(share * pair->q[i]);
    }
  return both;
}

Pair multiplied(const Pair& a, const Pair& b) {
  Pair both;
  for (std::size_t i = 0; i < a.p.size(); ++i)
    for (std::size_t j = 0; j < b.p.size(); ++j) {
      both.p.push_back(a.p[i] * b.p[j]);
      both.q.push_back(a.q[i] * b.q[j]);
    }
  return both;
}

/// Both directions of the true curve lie in the answers, and the answers are tight.
void expect_agreement(const Curve& curve, Direction direction, const Polygon& truth, const std::string& what, double tight = 1e-8) {
  for (const double epsilon : {-0.8, 0.0, 0.45, 1.3, 3.0}) {
    const Interval found = curve.delta_at(Interval::exactly(epsilon), direction);
    const auto expected = static_cast<double>(truth.delta(epsilon));
    EXPECT_LE(found.lo, expected + 1e-14) << what << " delta at " << epsilon;
    EXPECT_GE(found.hi, expected - 1e-14) << what << " delta at " << epsilon;
    EXPECT_LE(found.width(), tight) << what << " delta at " << epsilon;
  }
  for (const double alpha : {0.03125, 0.25, 0.5, 0.875}) {
    const Interval found = curve.beta_at(Interval::exactly(alpha), direction);
    const auto expected = static_cast<double>(truth.at(alpha));
    EXPECT_LE(found.lo, expected + 1e-14) << what << " beta at " << alpha;
    EXPECT_GE(found.hi, expected - 1e-14) << what << " beta at " << alpha;
    EXPECT_LE(found.width(), tight) << what << " beta at " << alpha;
  }
}

Curve curve(const std::string& plan, Neighbours neighbours = Neighbours::unstated) { return analyze(parse(plan), neighbours); }

TEST(RandomPairs, EveryOperationAgainstBruteForce) {
  std::mt19937_64 random(20261115);
  for (int trial = test::scaled(60); trial > 0; --trial) {
    const Pair a = random_pair(random), b = random_pair(random);
    SCOPED_TRACE(a.plan + "  " + b.plan);
    const Polygon f = a.tradeoff(), g = b.tradeoff();
    const std::string both = "[" + a.plan + ", " + b.plan + "]";
    expect_agreement(curve(a.plan), Direction::remove, f, "pair");
    expect_agreement(curve(a.plan), Direction::add, inverse_of(f), "pair, the other way");
    expect_agreement(curve(a.plan + " | invert()"), Direction::remove, inverse_of(f), "inverse");
    expect_agreement(curve(a.plan), Direction::worst, symmetric(f), "worst of both");
    expect_agreement(curve(a.plan + " | refine()"), Direction::worst, symmetric(f), "symmetrised");
    expect_agreement(curve("weakest(" + both + ")"), Direction::remove, lower(f, g), "weakest");
    expect_agreement(curve("weakest(" + both + ")"), Direction::worst, symmetric(lower(f, g)), "weakest, worst");
    expect_agreement(curve("strongest(" + both + ")"), Direction::worst, upper(symmetric(f), symmetric(g)), "strongest");
    expect_agreement(curve("mixture([(0.25, " + a.plan + "), (0.75, " + b.plan + ")])", Neighbours::add_remove), Direction::remove,
                     joined(a, 0.25L, b).tradeoff(), "mixture");
    expect_agreement(curve(a.plan + "; " + b.plan, Neighbours::add_remove), Direction::remove, multiplied(a, b).tradeoff(), "product");
    const Pair everything{{1, 0}, {0, 1}, ""}, nothing{{1}, {1}, ""};
    expect_agreement(curve(a.plan + "; dp(epsilon=0, delta=0.125)"), Direction::remove,
                     multiplied(a, joined(everything, 0.125L, nothing)).tradeoff(), "beside f_{0,d}");
  }
}

TEST(RandomPairs, SamplesAndGroupsAgainstBruteForce) {
  std::mt19937_64 random(7);
  for (int trial = test::scaled(25); trial > 0; --trial) {
    const Pair a = random_pair(random);
    SCOPED_TRACE(a.plan);
    const Polygon f = a.tradeoff(), worst = symmetric(f);
    std::vector<Polygon::Point> thinned;  // p f + (1 - p) Id
    for (const auto& [x, y] : worst.points) thinned.push_back({x, 0.25L * y + 0.75L * (1 - x)});
    expect_agreement(curve(a.plan + " | sample(rate=0.25)"), Direction::worst, symmetric(hull(thinned)), "C_p");
    Pair poisson = a;
    for (std::size_t i = 0; i < a.p.size(); ++i) poisson.p[i] = 0.25L * a.p[i] + 0.75L * a.q[i];
    expect_agreement(curve(a.plan + " | poisson(rate=0.25)"), Direction::remove, poisson.tradeoff(), "Poisson");
    expect_agreement(curve(a.plan + " | poisson(rate=0.25)"), Direction::add, inverse_of(poisson.tradeoff()), "Poisson, add");
    for (const int k : {2, 3}) {
      const Curve group = curve(a.plan + " | group(" + std::to_string(k) + ")");
      expect_agreement(group, Direction::remove, iterated(f, k), "group, removals");
      expect_agreement(group, Direction::add, iterated(inverse_of(f), k), "group, additions");
      // If rounding hides a corner of the symmetric distribution, it is iterated from its profile: valid, but sometimes wide.
      expect_agreement(group, Direction::worst, iterated(worst, k), "group, mixed", 1);
    }
  }
}

// A mixed group is worse than either kind alone: remove one record, then add another.
TEST(RandomPairs, TheWorstGroupCoversMixedChanges) {
  std::mt19937_64 random(8);
  for (int trial = test::scaled(10); trial > 0; --trial) {
    const Pair a = random_pair(random);
    const Polygon f = a.tradeoff(), back = inverse_of(f);
    const Curve group = curve(a.plan + " | group(2)");
    for (const double alpha : {0.1, 0.4}) {
      const Real mixed = back.at(std::clamp(1 - f.at(alpha), Real(0), Real(1)));
      EXPECT_LE(group.beta_at(alpha).lo, static_cast<double>(mixed) + 1e-12) << a.plan;
    }
  }
}

TEST(RandomPairs, OrderAgainstBruteForce) {
  std::mt19937_64 random(9);
  int decided = 0, trials = test::scaled(80);
  for (int trial = 0; trial < trials; ++trial) {
    const Pair a = random_pair(random), b = random_pair(random);
    const Polygon f = symmetric(a.tradeoff()), g = symmetric(b.tradeoff());
    Real least = 1;
    for (const Polygon* one : {&f, &g})
      for (const auto& point : one->points) least = std::min(least, f.at(point.x) - g.at(point.x));
    const OrderAnswer answer = at_least_as_private(curve(a.plan), curve(b.plan));
    decided += answer.verdict != Order::undecided ? 1 : 0;
    if (least > 1e-12L) {
      EXPECT_NE(answer.verdict, Order::no) << a.plan << b.plan;
    }
    if (least < -1e-12L) {
      EXPECT_NE(answer.verdict, Order::yes) << a.plan << b.plan;
    }
    if (answer.alpha) {
      EXPECT_LT(f.at(*answer.alpha), g.at(*answer.alpha) + 1e-12L);
    }
    // Post-processing never reduces privacy: outcomes are joined at random.
    Pair joint{Weights(2, 0), Weights(2, 0), ""};
    for (std::size_t i = 0; i < a.p.size(); ++i) {
      joint.p[i % 2] += a.p[i];
      joint.q[i % 2] += a.q[i];
    }
    const Polygon processed = joint.tradeoff(), whole = a.tradeoff();
    for (const auto& point : whole.points) EXPECT_GE(processed.at(point.x), point.y - 1e-15L);
  }
  EXPECT_GT(decided, trials / 2);
}

}  // namespace
}  // namespace tradeoff::detail
