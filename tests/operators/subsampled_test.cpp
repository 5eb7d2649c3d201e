// SPDX-License-Identifier: Apache-2.0
// [poisson-subsampling], [fixed-size-subsampling], [two-directions]
#include "operators/subsampled.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "mechanism/finite.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "mechanism/pair.h"
#include "mechanism/randomized_response.h"
#include "mechanism/truncated_laplace.h"
#include "numeric/arithmetic.h"
#include "support/matchers.h"
#include "tradeoff/analyze.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;

struct RandomPair {
  std::vector<double> p;
  std::vector<double> q;
};

// Sampling keeps the slack of a finite distribution.
TEST(Subsampled, KeepsTheSlackOfAFiniteLaw) {
  const Interval loss = Interval::exactly(1), mass = Interval::exactly(0.5), nothing = Interval::exactly(0);
  Atoms law =
      make_atoms({{loss, mass / (1.0 + exp(-loss)) * 2.0}, {-loss, mass * 2.0 * exp(-loss) / (1.0 + exp(-loss))}}, nothing, nothing, true);
  law.slack = 0.125;
  const LossPointer base = finite_loss(law, "", {Citation("canonical-constraints", "")}, std::nullopt);
  const PoissonLoss poisson(base, Interval::exactly(0.5));
  const SampledLoss sampled(base, Interval::exactly(0.5));
  for (const Direction direction : {Direction::remove, Direction::add}) {
    EXPECT_EQ(poisson.atoms(direction)->slack, 0.125);
    EXPECT_EQ(sampled.atoms(direction)->slack, 0.125);
  }
}

/// Entries are multiples of 2^-20 that sum to 1, zeros included, so that they are exact doubles.
std::vector<double> random_distribution(std::mt19937_64& random, std::size_t size) {
  std::vector<std::uint64_t> cuts{0, 1 << 20};
  for (std::size_t i = 1; i < size; ++i) cuts.push_back(random() % ((1 << 20) + 1));
  std::sort(cuts.begin(), cuts.end());
  std::vector<double> masses;
  for (std::size_t i = 0; i < size; ++i) masses.push_back(static_cast<double>(cuts[i + 1] - cuts[i]) * 0x1p-20);
  if (random() % 3 == 0) {
    masses[1] += masses[0];
    masses[0] = 0;
  }
  return masses;
}

double hockey_stick(const std::vector<double>& p, const std::vector<double>& q, double epsilon) {
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) sum += std::max(0.0, p[i] - std::exp(epsilon) * q[i]);
  return sum;
}

std::vector<double> mixed(const std::vector<double>& a, const std::vector<double>& b, double rate) {
  std::vector<double> result;
  for (std::size_t i = 0; i < a.size(); ++i) result.push_back(rate * a[i] + (1 - rate) * b[i]);
  return result;
}

LossPointer loss_of(const RandomPair& pair) {
  std::vector<Interval> p;
  std::vector<Interval> q;
  for (std::size_t i = 0; i < pair.p.size(); ++i) {
    p.push_back(Interval::exactly(pair.p[i]));
    q.push_back(Interval::exactly(pair.q[i]));
  }
  return pair_loss(p, q);
}

TEST(Poisson, MatchesTheExplicitMixtureInBothDirectionsAtEveryEpsilon) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t size = 2 + random() % 4;
    const RandomPair base{random_distribution(random, size), random_distribution(random, size)};
    const double rate = std::ldexp(static_cast<double>(1 + random() % 255), -8);
    const PoissonLoss loss(loss_of(base), Interval::exactly(rate));
    const std::vector<double> with = mixed(base.p, base.q, rate);
    for (const double epsilon : {-3.0, -1.0, -0.3, -0.01, 0.0, 0.01, 0.2, 1.0, 3.0, 40.0}) {
      const double remove = hockey_stick(with, base.q, epsilon);
      const double add = hockey_stick(base.q, with, epsilon);
      EXPECT_THAT(loss.delta(Direction::remove, Interval::exactly(epsilon)), Encloses(Interval{remove - 1e-13, remove + 1e-13})) << rate;
      EXPECT_THAT(loss.delta(Direction::add, Interval::exactly(epsilon)), Encloses(Interval{add - 1e-13, add + 1e-13})) << rate;
      EXPECT_LT(loss.delta(Direction::remove, Interval::exactly(epsilon)).width(), 1e-12);
    }
  }
}

TEST(Poisson, FiniteLawsStayFinite) {
  std::mt19937_64 random(5);
  for (int trial = 0; trial < 100; ++trial) {
    const std::size_t size = 2 + random() % 4;
    const LossPointer base = loss_of({random_distribution(random, size), random_distribution(random, size)});
    const PoissonLoss loss(base, Interval::exactly(0.375));
    for (const Direction direction : {Direction::remove, Direction::add}) {
      ASSERT_NE(loss.atoms(direction), nullptr);
      for (const double epsilon : {-1.0, -0.2, 0.0, 0.1, 0.4, 2.0, infinity}) {
        const Interval from_atoms = delta_of(*loss.atoms(direction), Interval::exactly(epsilon));
        EXPECT_THAT(from_atoms, Encloses(loss.delta(direction, Interval::exactly(epsilon))));
        EXPECT_LT(from_atoms.width(), 1e-13);
      }
    }
  }
}

TEST(Sampled, FiniteLawsStayFinite) {
  for (const double rate : {0.01, 0.5, 0.9}) {
    const LossPointer base = randomized_response(Interval::exactly(1.25), 4);
    const SampledLoss loss(base, Interval::exactly(rate));
    for (const double epsilon : {-1.0, -0.2, 0.0, 0.005, 0.1, 0.4, 2.0}) {
      const Interval from_atoms = delta_of(*loss.atoms(Direction::remove), Interval::exactly(epsilon));
      EXPECT_THAT(from_atoms, Encloses(loss.delta(Direction::remove, Interval::exactly(epsilon))));
      EXPECT_LT(from_atoms.width(), 1e-13);
    }
  }
}

// exp(loss) overflows: the masses under Q are those of the mirror image. The truth is rate * 1 up to exp(-800).
TEST(Poisson, LossesBeyondTheLargestExponential) {
  for (const char* epsilon : {"800", "1e5", "1e300", "1e308"}) {
    const Curve curve = analyze(parse(std::string("dp(epsilon=") + epsilon + ") | poisson(rate=0.25)"));
    const Interval delta = curve.delta_at(1.0);
    EXPECT_THAT(delta, Encloses(0.25)) << epsilon;
    const bool exact = read_number(epsilon).value.hi < 1e6;  // an exact sum loses the digits of larger losses
    EXPECT_LE(delta.width(), exact ? 1e-9 : 1.0) << epsilon;
    const Interval found = curve.epsilon_at(1e-5), largest = read_number(epsilon).value;
    EXPECT_LE(found.lo, largest.hi) << epsilon;
    EXPECT_LE(found.hi, largest.hi) << epsilon;
  }
}

TEST(Poisson, InfiniteMassBecomesAFiniteAtomInTheAddDirection) {
  // Truncated Laplace at scale 1, bound 2, sensitivity 1, rate 0.1: dropping the atom at -log(0.9) would give 0 here.
  const auto base = std::make_shared<TruncatedLaplaceLoss>(Interval::exactly(1), Interval::exactly(2));
  const PoissonLoss loss(base, Interval::exactly(0.1));
  EXPECT_NEAR(loss.delta(Direction::add, Interval::exactly(0.1)).lo, 7.19e-4, 1e-6);
  EXPECT_EQ(loss.infinite_mass(Direction::add), Interval::exactly(0));
  EXPECT_GT(loss.infinite_mass(Direction::remove).lo, 0);
}

TEST(Poisson, SamplingNeverIncreasesDelta) {
  const LossPointer base = gaussian_loss(Interval::exactly(1.3));
  for (const double rate : {1e-9, 1e-3, 0.2, 0.9, 0.999999}) {
    const PoissonLoss loss(base, Interval::exactly(rate));
    for (const double epsilon : {-2.0, 0.0, 0.5, 5.0, 50.0}) {
      for (const Direction direction : {Direction::remove, Direction::add})
        EXPECT_LE(loss.delta(direction, Interval::exactly(epsilon)).lo, base->delta(direction, Interval::exactly(epsilon)).hi);
      EXPECT_THAT(loss.log_delta(Direction::remove, Interval::exactly(std::abs(epsilon))),
                  Encloses(log(loss.delta(Direction::remove, Interval::exactly(std::abs(epsilon))))));
    }
  }
}

TEST(Sampled, BoundsEveryMechanismOnSubsetsByEnumeration) {
  // Two of three records are sampled; the base reports one of three outcomes with a law that depends on the sampled pair.
  std::mt19937_64 random(11);
  for (int trial = 0; trial < 200; ++trial) {
    // laws[a][b]: output law on the sample {a, b}; records 0, 1, 2 are in the data, 3 replaces record 2.
    std::vector<double> laws[4][4];
    for (int a = 0; a < 4; ++a)
      for (int b = a + 1; b < 4; ++b) laws[a][b] = laws[b][a] = random_distribution(random, 3);
    const auto average = [&](int x, int y, int z) {
      std::vector<double> sum(3);
      for (std::size_t i = 0; i < 3; ++i) sum[i] = (laws[x][y][i] + laws[x][z][i] + laws[y][z][i]) / 3;
      return sum;
    };
    const auto with = average(0, 1, 2);
    const auto without = average(0, 1, 3);
    // Worst base profile over all samples of size two that differ in one record, both orders.
    const auto base_delta = [&](double epsilon) {
      double worst = 0;
      for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b)
          for (int c = 0; c < 4; ++c)
            if (a != b && a != c && b != c) worst = std::max(worst, hockey_stick(laws[a][b], laws[a][c], epsilon));
      return worst;
    };
    class Worst final : public Loss {
     public:
      explicit Worst(std::function<double(double)> delta) : delta_(std::move(delta)) {}
      [[nodiscard]] Interval delta(Direction, Interval epsilon) const override {
        return {delta_(epsilon.hi) - 1e-15, delta_(epsilon.lo) + 1e-15};
      }
      [[nodiscard]] bool symmetric() const override { return true; }

     private:
      std::function<double(double)> delta_;
    };
    const SampledLoss loss(std::make_shared<Worst>(base_delta), Interval::exactly(2) / Interval::exactly(3));
    for (const double epsilon : {0.0, 0.1, 0.5, 1.5}) {
      const double bound = loss.delta(Direction::remove, Interval::exactly(epsilon)).hi;
      EXPECT_GE(bound + 1e-12, hockey_stick(with, without, epsilon));
      EXPECT_GE(bound + 1e-12, hockey_stick(without, with, epsilon));
    }
  }
}

TEST(Symmetrized, TakesTheWorseOrderAndItsMirror) {
  const RandomPair pair{{0.75, 0.25, 0}, {0.25, 0.25, 0.5}};
  const LossPointer directed = loss_of(pair);
  const SymmetrizedLoss loss(directed);
  for (const double epsilon : {0.0, 0.4, 1.0, 3.0}) {
    const double worse = std::max(hockey_stick(pair.p, pair.q, epsilon), hockey_stick(pair.q, pair.p, epsilon));
    EXPECT_NEAR(loss.delta(Direction::remove, Interval::exactly(epsilon)).hi, worse, 1e-14);
    EXPECT_NEAR(loss.delta(Direction::add, Interval::exactly(-epsilon)).hi, 1 - std::exp(-epsilon) * (1 - worse), 1e-14);
  }
}

// Where the profile of the base becomes 0, the sampled profile does too, and its corner is exactly there.
TEST(Sampled, CornersMoveAsTheLargestLossDoes) {
  const SampledLoss loss(std::make_shared<LaplaceLoss>(Interval::exactly(2)), Interval::exactly(0.25));
  const std::span<const double> corners = loss.corners(Direction::remove);
  ASSERT_EQ(corners.size(), 1U);
  EXPECT_NEAR(corners[0], std::log(1 + 0.25 * (std::exp(2.0) - 1)), 1e-15);
  EXPECT_GT(loss.delta(Direction::remove, Interval::exactly(corners[0] - 1e-6)).lo, 0);
  EXPECT_LE(loss.delta(Direction::remove, Interval::exactly(corners[0] + 1e-12)).hi, 1e-12);
}

}  // namespace
}  // namespace tradeoff::detail
