// SPDX-License-Identifier: Apache-2.0
// [sparse-vector], [sparse-vector-gaussian], [sparse-vector-witness], [profile-nodes]
#include "mechanism/sparse_vector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "loss/atoms.h"
#include "mechanism/profile_nodes.h"
#include "mechanism/stopping_game.h"
#include "numeric/arithmetic.h"
#include "support/matchers.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;

SparseVector laplace_vector(double threshold_scale, double query_scale, std::uint64_t positives = 1, Movement movement = Movement::any) {
  return {.threshold_scale = Interval::exactly(threshold_scale),
          .query_scale = Interval::exactly(query_scale),
          .positives = positives,
          .movement = movement};
}

double survival(SparseNoise noise, double t) {
  if (noise == SparseNoise::gaussian) return 0.5 * std::erfc(t / std::sqrt(2.0));
  if (noise == SparseNoise::exponential) return t <= 0 ? 1 : std::exp(-t);
  return t > 0 ? 0.5 * std::exp(-t) : 1 - 0.5 * std::exp(t);
}
double density(SparseNoise noise, double t) {
  if (noise == SparseNoise::gaussian) return std::exp(-t * t / 2) / std::sqrt(2 * M_PI);
  if (noise == SparseNoise::exponential) return t < 0 ? 0 : std::exp(-t);
  return 0.5 * std::exp(-std::abs(t));
}

/// The probability of every string of answers to a stream, by the midpoint rule over the noise of the threshold.
std::map<std::vector<bool>, double> answers(const SparseVector& vector, const std::vector<double>& queries) {
  std::map<std::vector<bool>, double> law;
  constexpr double step = 0.04;
  const double b1 = vector.threshold_scale.lo, b2 = vector.query_scale.lo;
  for (double r = -25 + step / 2; r < 25; r += step) {
    std::map<std::vector<bool>, double> here{{{}, density(vector.noise, r) * step}};
    for (const double query : queries) {
      std::map<std::vector<bool>, double> next;
      for (const auto& [string, mass] : here) {
        if (static_cast<std::uint64_t>(std::count(string.begin(), string.end(), true)) == vector.positives) {
          next[string] += mass;
          continue;
        }
        const double above = survival(vector.noise, (r * b1 - query) / b2);
        std::vector<bool> yes = string, no = string;
        yes.push_back(true);
        no.push_back(false);
        next[yes] += mass * above;
        next[no] += mass * (1 - above);
      }
      here = std::move(next);
    }
    for (const auto& [string, mass] : here) law[string] += mass;
  }
  return law;
}

double divergence(const std::map<std::vector<bool>, double>& p, const std::map<std::vector<bool>, double>& q, double epsilon) {
  double sum = 0;
  for (const auto& [string, mass] : p) {
    const auto other = q.find(string);
    sum += std::max(0.0, mass - std::exp(epsilon) * (other == q.end() ? 0 : other->second));
  }
  return sum;
}

// The witnesses of the golden file, in both orders: the remark on _002 says that the other order is stronger.
TEST(SparseVector, UpperEndsAreAboveGoldenWitnesses) {
  for (const auto& entry : test::golden_group("selection.json", "sparse_vector_witness")) {
    const auto& in = entry["inputs"];
    SCOPED_TRACE(in.dump());
    const auto number = [&](const char* name) { return std::stod(in[name].get<std::string>()); };
    const SparseVector vector = laplace_vector(number("threshold_scale"), number("query_scale"), in["positives"].get<std::uint64_t>());
    const LossPointer loss = sparse_vector_above(vector);
    const Interval found = loss->delta(Direction::remove, Interval::exactly(number("e")));
    const double golden = std::stod(entry["value"].get<std::string>());
    EXPECT_GE(found.hi, golden);
    std::vector<double> before, after;
    for (std::size_t i = 0; i < in["queries"].size(); ++i) {
      before.push_back(std::stod(in["queries"][i].get<std::string>()));
      after.push_back(before.back() + std::stod(in["change"][i].get<std::string>()));
    }
    const auto p = answers(vector, before), q = answers(vector, after);
    EXPECT_NEAR(divergence(p, q, number("e")), golden, 1e-4);
    EXPECT_GE(found.hi, divergence(q, p, number("e")));
    EXPECT_GE(loss->delta(Direction::add, Interval::exactly(number("e"))).hi, divergence(q, p, number("e")));
  }
}

TEST(SparseVector, NoStreamExceedsTheBound) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> level(-4, 4), size(0, 1);
  for (const Movement movement : {Movement::any, Movement::rising, Movement::falling, Movement::either})
    for (const SparseNoise noise : {SparseNoise::laplace, SparseNoise::exponential, SparseNoise::gaussian}) {
      SparseVector vector = laplace_vector(1, 1.5, 2, movement);
      vector.noise = noise;
      vector.queries = noise == SparseNoise::gaussian ? 5 : 0;
      const LossPointer loss = sparse_vector_above(vector);
      for (int trial = 0; trial < 6; ++trial) {
        std::vector<double> with(5), without(5);
        for (std::size_t i = 0; i < with.size(); ++i) {
          const double far = trial % 2 == 0 ? 1 : size(random);
          const double move = movement == Movement::rising                        ? -far
                              : movement == Movement::falling || (trial % 3 == 0) ? far
                              : size(random) < 0.5                                ? far
                                                                                  : -far;
          with[i] = level(random);
          without[i] = with[i] + (movement == Movement::either ? (trial % 2 == 0 ? far : -far) : move);
        }
        const auto p = answers(vector, with), q = answers(vector, without);
        for (const double epsilon : {-0.7, 0.0, 0.2, 0.6, 1.3, 2.0}) {
          EXPECT_GE(loss->delta(Direction::remove, Interval::exactly(epsilon)).hi, divergence(p, q, epsilon) - 2e-4);
          EXPECT_GE(loss->delta(Direction::add, Interval::exactly(epsilon)).hi, divergence(q, p, epsilon) - 2e-4);
        }
      }
    }
}

// Many low queries that fall with the record: without the direction the bound of the queries alone is exceeded.
TEST(SparseVector, AFlagWithoutDirectionWouldBeTooSmall) {
  SparseVector falling = laplace_vector(1, 4, 1, Movement::falling);
  const LossPointer loss = sparse_vector_above(falling);
  double reached = 0;  // by the number of the first answer above, or none; the queries are at -9 with the record and at -8 without it
  std::vector<double> p(61), q(61);
  constexpr double step = 0.01;
  for (double r = -40 + step / 2; r < 40; r += step) {
    double with = density(SparseNoise::laplace, r) * step, without = with;
    for (std::size_t i = 0; i < 60; ++i) {
      const double above = survival(SparseNoise::laplace, (r + 9) / 4), other = survival(SparseNoise::laplace, (r + 8) / 4);
      p[i] += with * above;
      q[i] += without * other;
      with *= 1 - above;
      without *= 1 - other;
    }
    p[60] += with;
    q[60] += without;
  }
  for (std::size_t i = 0; i <= 60; ++i) reached += std::max(0.0, p[i] - std::exp(0.3) * q[i]);
  EXPECT_NEAR(reached, 0.0260, 1e-3);
  EXPECT_GE(loss->delta(Direction::remove, Interval::exactly(0.3)).hi, reached);
  EXPECT_EQ(loss->delta(Direction::add, Interval::exactly(0.2500001)).hi, 0);
  const LossPointer rising = sparse_vector_above(laplace_vector(1, 4, 1, Movement::rising));
  EXPECT_GE(rising->delta(Direction::add, Interval::exactly(0.3)).hi, reached);
  EXPECT_EQ(rising->delta(Direction::remove, Interval::exactly(0.2500001)).hi, 0);
}

TEST(SparseVector, ProfileOfTheNote) {
  struct Case {
    double threshold_scale, query_scale;
    std::uint64_t positives;
    double epsilon, below, above;
  };
  // the bounds of the note are those of a coarser grid
  for (const Case& one :
       {Case{2, 4, 1, 0.6, 0.0990, 0.0998}, Case{1 / 0.3, 40, 20, 0.78, 2.5e-3, 2.71e-3}, Case{1 / 0.3, 100, 50, 1.04, 1.2e-8, 1.8e-8}}) {
    const LossPointer loss = sparse_vector_above(laplace_vector(one.threshold_scale, one.query_scale, one.positives));
    const Interval found = loss->delta(Direction::remove, Interval::exactly(one.epsilon));
    EXPECT_GT(found.hi, one.below);
    EXPECT_LT(found.hi, one.above);
  }
}

/// The value of the game by plain iteration from below on a fine grid, in doubles.
std::vector<double> iterated_game(double shift, int positives, int steps, std::vector<double>& nodes) {
  const double h = shift / steps;
  const int first = -(positives + 4) * steps, last = positives * steps;
  nodes.clear();
  for (int i = first; i <= last; ++i) nodes.push_back(std::exp(i * h));
  const auto read = [&](const std::vector<double>& values, double x) {
    if (x >= nodes.back()) return 0.0;
    if (x <= nodes.front()) return 1 - x;  // from below
    const auto place =
        static_cast<std::size_t>(std::min<double>(std::floor((std::log(x) - first * h) / h), static_cast<double>(nodes.size() - 2)));
    const double share = (x - nodes[place]) / (nodes[place + 1] - nodes[place]);
    return (1 - share) * values[place] + share * values[place + 1];
  };
  std::vector<double> before;
  for (const double x : nodes) before.push_back(std::max(0.0, 1 - x));
  for (int j = 1; j <= positives; ++j) {
    std::vector<double> values = before;
    for (int round = 0; round < 60; ++round)
      for (std::size_t i = values.size(); i-- > 0;)
        for (int k = 0; k <= 16; ++k) {
          const double a = -shift * k / 16.0, p = survival(SparseNoise::laplace, a), other = survival(SparseNoise::laplace, a + shift);
          values[i] =
              std::max(values[i], p * read(before, nodes[i] * other / p) + (1 - p) * read(values, nodes[i] * (1 - other) / (1 - p)));
        }
    before = values;
  }
  return before;
}

TEST(StoppingGame, LiesJustAbovePlainIteration) {
  for (const auto& [shift, positives] : {std::pair{0.5, 1}, {0.5, 2}, {0.2, 3}, {2.0, 1}}) {
    std::vector<double> nodes;
    const std::vector<double> values = iterated_game(shift, positives, 24, nodes);
    const ProfileGrid game = laplace_game(shift, static_cast<std::uint64_t>(positives), 1000);
    const auto at = [&](double x) {
      const double place = std::log(x) / game.step - static_cast<double>(game.first);
      const auto i = static_cast<std::size_t>(std::max(0.0, std::floor(place)));
      return i + 1 < game.delta.size() ? game.delta[i] : 0.0;  // the node on the left: the value falls
    };
    for (std::size_t i = static_cast<std::size_t>(4 * 24); i < nodes.size(); i += 7) {
      EXPECT_GE(at(nodes[i]), values[i] - 5e-4) << shift << " " << positives << " " << nodes[i];  // its chords lie above too
      EXPECT_LE(at(nodes[i]), values[i] * 1.02 + 4e-3) << shift << " " << positives << " " << nodes[i];
    }
  }
}

// [sparse-vector] Long runs of answers below keep the value above 1 - x, however small x is.
TEST(StoppingGame, StaysAboveTheLineOfPerfectPrivacy) {
  const ProfileGrid game = laplace_game(0.5, 1, 1000);
  const double x = std::exp(game.step * static_cast<double>(game.first));
  EXPECT_GT(game.delta.front(), 1 - x + 1e-4);
  const LossPointer rising = sparse_vector_above(laplace_vector(0.02, 2, 1, Movement::rising));
  // 60 raised queries in a row: H_x > 1 - x far to the left, which is `add` at large epsilon
  EXPECT_GT(rising->delta(Direction::add, Interval::exactly(2)).hi, 1e-4);
}

TEST(SparseVector, IsBelowItsLargestLossAndMonotone) {
  const auto delta = [](const SparseVector& vector, double epsilon) {
    return sparse_vector_above(vector)->delta(Direction::remove, Interval::exactly(epsilon)).hi;
  };
  for (const double epsilon : {0.0, 0.3, 0.9}) {
    const double pure = 0.5 + 3 * 2 / 4.0;
    EXPECT_LE(delta(laplace_vector(2, 4, 3), epsilon),
              std::expm1(pure - epsilon) / (std::exp(-epsilon) + std::exp(pure - epsilon)) + 1e-12);
    EXPECT_LE(delta(laplace_vector(2, 4, 2), epsilon), delta(laplace_vector(2, 4, 3), epsilon) + 1e-6);
    EXPECT_LE(delta(laplace_vector(2, 5, 3), epsilon), delta(laplace_vector(2, 4, 3), epsilon) + 1e-6);
    EXPECT_LE(delta(laplace_vector(3, 4, 3), epsilon), delta(laplace_vector(2, 4, 3), epsilon) + 1e-6);
    EXPECT_LE(delta(laplace_vector(2, 4, 3, Movement::either), epsilon), delta(laplace_vector(2, 4, 3), epsilon) + 1e-6);
  }
  EXPECT_EQ(sparse_vector_above(laplace_vector(2, 4, 3))->delta(Direction::remove, Interval::exactly(2.0000001)).hi, 0);
}

TEST(SparseVector, EveryScaleHasAnAnswer) {
  for (const auto& [threshold, query, positives] :
       {std::tuple{1e-4, 1.0, 1}, {1.0, 1e-4, 1}, {1e-9, 1e9, 3}, {1e9, 1e-2, 2}, {1e7, 1e7, 10000}, {0.5, 1e3, 400}}) {
    const LossPointer loss = sparse_vector_above(laplace_vector(threshold, query, static_cast<std::uint64_t>(positives)));
    double before = 1;
    for (const double epsilon : {0.0, 1e-6, 0.01, 0.5, 3.0, 100.0}) {
      const double here = loss->delta(Direction::remove, Interval::exactly(epsilon)).hi;
      EXPECT_GE(here, 0);
      EXPECT_LE(here, before + 1e-12);
      before = here;
    }
  }
  SparseVector nothing = laplace_vector(1, 1);
  nothing.sensitivity = Interval::exactly(0);
  EXPECT_LE(sparse_vector_above(nothing)->delta(Direction::remove, Interval::exactly(0)).hi, 1e-15);
}

TEST(SparseVectorGaussian, MoreQueriesRevealMore) {
  double before = 0;
  for (const std::uint64_t queries : {1, 2, 10, 100, 1000}) {
    SparseVector vector = laplace_vector(2, 4);
    vector.noise = SparseNoise::gaussian;
    vector.queries = queries;
    const double here = sparse_vector_above(vector)->delta(Direction::remove, Interval::exactly(0.5)).hi;
    EXPECT_GE(here, before - 1e-4);
    before = here;
  }
  EXPECT_LT(before, 1);
}

TEST(SparseVectorWitness, LiesBelowTheBoundAndReachesSomething) {
  for (const Movement movement : {Movement::any, Movement::rising, Movement::falling, Movement::either})
    for (const SparseNoise noise : {SparseNoise::laplace, SparseNoise::exponential, SparseNoise::gaussian})
      for (const bool ordered : {true, false}) {
        SparseVector vector = laplace_vector(2, 4, 2, movement);
        vector.noise = noise;
        vector.queries = noise == SparseNoise::gaussian ? 30 : 0;
        const LossPointer above = sparse_vector_above(vector), below = sparse_vector_witness(vector, 0.25, ordered);
        double most = 0;
        for (const Direction direction : {Direction::remove, Direction::add})
          for (const double epsilon : {-0.5, 0.0, 0.2, 0.4, 0.8}) {
            const Interval reached = below->delta(direction, Interval::exactly(epsilon));
            EXPECT_LE(reached.lo, above->delta(direction, Interval::exactly(epsilon)).hi);
            if (epsilon == 0) most = std::max(most, reached.lo);
          }
        EXPECT_GT(most, !ordered && vector.directed() ? 0 : 0.005);
        EXPECT_TRUE(ordered || below->symmetric());
      }
}

// A stream has no more answers above than queries.
TEST(SparseVectorWitness, AsksNoMoreThanAllowed) {
  SparseVector one = laplace_vector(2, 4, 1);
  one.noise = SparseNoise::gaussian;
  one.queries = 1;
  SparseVector many = one;
  many.positives = 40;
  for (const double epsilon : {0.0, 0.2}) {
    const double reached = sparse_vector_witness(many, 0.25, true)->delta(Direction::remove, Interval::exactly(epsilon)).lo;
    EXPECT_EQ(reached, sparse_vector_witness(one, 0.25, true)->delta(Direction::remove, Interval::exactly(epsilon)).lo);
    EXPECT_LE(reached, sparse_vector_above(one)->delta(Direction::remove, Interval::exactly(epsilon)).hi);
  }
}

TEST(ProfileNodes, KeepsTheValuesOfAConvexList) {
  const std::vector<ProfileNode> remove{{0, 0.3}, {0.5, 0.1}, {1, 0}}, add{{0, 0.3}, {0.4, 0.15}, {2, 0.01}};
  const Atoms atoms = atoms_of_nodes(remove, add);
  for (const ProfileNode& node : remove) {
    EXPECT_THAT(delta_of(atoms, Interval::exactly(node.epsilon)), Encloses(node.delta));
    EXPECT_LT(delta_of(atoms, Interval::exactly(node.epsilon)).width(), 1e-14);
  }
  for (const ProfileNode& node : add) EXPECT_THAT(delta_of(swapped(atoms), Interval::exactly(node.epsilon)), Encloses(node.delta));
  EXPECT_THAT(delta_of(swapped(atoms), Interval::exactly(5)), Encloses(0.01));
  Interval total = atoms.infinite;
  for (const Atom& atom : atoms.finite) total = total + atom.mass;
  EXPECT_THAT(total, Encloses(1.0));
}

TEST(ProfileNodes, LeavesOutWhatTheOthersImply) {
  const Atoms atoms = symmetric_atoms_of_nodes({{0, 0.3}, {0.5, 0.29}, {1, 0}});
  EXPECT_TRUE(atoms.mirrored);
  EXPECT_LT(delta_of(atoms, Interval::exactly(0.5)).hi, 0.2);
  EXPECT_THAT(delta_of(atoms, Interval::exactly(0)), Encloses(0.3));
}

/// The law of W, the number of pairs with the first query above among so many pairs with different answers, by the midpoint rule; what is
/// missing is the chance that the stream ends before. `first` and `second` are the levels of both kinds.
std::vector<double> law_of_pairs(const SparseVector& vector, std::size_t pairs, double first, double second) {
  constexpr double step = 0.05;
  const double b1 = vector.threshold_scale.lo, b2 = vector.query_scale.lo;
  const auto positives = static_cast<std::size_t>(vector.positives);
  std::vector<double> law(pairs + 1, 0.0);
  for (double r = -25 + step / 2; r < 25; r += step) {
    const double p = survival(vector.noise, (r * b1 - first) / b2), q = survival(vector.noise, (r * b1 - second) / b2);
    const double some = 1 - (1 - p) * (1 - q), one = p * (1 - q) / some, other = q * (1 - p) / some, both = p * q / some;
    // by answers above so far, pairs that differ, and W; the last answer above ends the stream
    std::vector<std::vector<double>> now(pairs + 1, std::vector<double>(pairs + 1, 0.0));
    std::vector<std::vector<std::vector<double>>> at(positives + 2, now);
    at[0][0][0] = density(vector.noise, r) * step;
    for (std::size_t above = 0; above + 1 < positives; ++above)
      for (std::size_t differ = 0; differ < pairs; ++differ)
        for (std::size_t w = 0; w <= differ; ++w) {
          const double mass = at[above][differ][w];
          at[above + 1][differ + 1][w + 1] += mass * one;
          at[above + 1][differ + 1][w] += mass * other;
          at[above + 2][differ][w] += mass * both;
        }
    // complete with at most positives - 1 answers above; a pair whose second answer would be the last one is cut off in this test too
    for (std::size_t above = 0; above < positives; ++above)
      for (std::size_t w = 0; w <= pairs; ++w) law[w] += at[above][pairs][w];
  }
  return law;
}

// The lower end is that of one of these streams, or below it.
TEST(SparseVector, PairsOfQueriesRevealWhatTheLowerEndStates) {
  for (const Movement movement : {Movement::any, Movement::rising})
    for (const auto& [b1, b2] : {std::pair{2.0, 4.0}, {0.7, 6.0}, {4.0, 3.0}}) {
      const SparseVector vector = laplace_vector(b1, b2, 9, movement);
      const LossPointer witness = sparse_vector_paired_queries(vector, true);
      const double move = movement == Movement::any ? 1 : 0;
      for (const double epsilon : {0.0, 0.2, 0.5}) {
        double most = 0;
        for (const double level : {0.0, 0.3, 0.8, 1.6})
          for (std::size_t pairs = 1; pairs < 9; ++pairs) {
            const double place = -level * b2 + (movement == Movement::any ? 0 : 0.5);
            const auto with = law_of_pairs(vector, pairs, place, place), without = law_of_pairs(vector, pairs, place - 1, place + move);
            double sum = 0;
            for (std::size_t w = 0; w <= pairs; ++w) sum += std::max(0.0, with[w] - std::exp(epsilon) * without[w]);
            most = std::max(most, sum);
          }
        const double found = witness->delta(Direction::remove, Interval::exactly(epsilon)).lo;
        EXPECT_LE(found, most + 1e-6) << b1 << " " << b2 << " " << epsilon;
        EXPECT_GE(found, epsilon < 0.3 ? 0.15 * most : 0) << b1 << " " << b2 << " " << epsilon;
      }
    }
}

// A long stream at low levels comes close to the choices of its limit. The first kind lies half a move above the second.
TEST(SparseVector, RareAnswersApproachChoices) {
  const SparseVector vector = laplace_vector(1, 2, 4);
  const LossPointer witness = sparse_vector_rare_answers(vector, 0.15, false);
  for (const double epsilon : {0.0, 0.3, 0.6}) {
    const auto with = law_of_pairs(laplace_vector(1, 2, 5), 4, -17, -18), without = law_of_pairs(laplace_vector(1, 2, 5), 4, -18, -17);
    double sum = 0;
    for (std::size_t w = 0; w <= 4; ++w) sum += std::max(0.0, with[w] - std::exp(epsilon) * without[w]);
    const Interval found = witness->delta(Direction::remove, Interval::exactly(epsilon));
    EXPECT_NEAR(found.lo, sum, 2e-3) << epsilon;
  }
}

TEST(SparseVector, ManyAnswersHaveLowerEndsThatGrow) {
  double before = 0;
  for (const std::uint64_t positives : {20, 50, 200, 1000}) {
    const SparseVector vector = laplace_vector(10.0 / 3, 40, positives);
    double found = 0;
    for (const LossPointer& witness : {sparse_vector_paired_queries(vector, true), sparse_vector_rare_answers(vector, 0.15, true)})
      found = std::max(found, witness->delta(Direction::remove, Interval::exactly(0.3)).lo);
    EXPECT_GT(found, before) << positives;
    EXPECT_LE(found, sparse_vector_above(vector)->delta(Direction::remove, Interval::exactly(0.3)).hi) << positives;
    before = found;
  }
  EXPECT_GT(before, 0.1);
}

}  // namespace
}  // namespace tradeoff::detail
