// SPDX-License-Identifier: Apache-2.0
#include "loss/atoms_profile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "numeric/arithmetic.h"
#include "support/ball.h"

namespace tradeoff::detail {
namespace {

using test::Ball;

// The truth is the sum over all atoms by Arb: far and near losses, equal ones, masses down to the smallest doubles, and gaps of more than
// 800.
TEST(AtomsProfile, EnclosesTheSumOverAllAtoms) {
  Ball::precision = 300;
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int trial = 0; trial < 30; ++trial) {
    const int count = trial < 10 ? 3 : 200;
    const double reach = trial % 3 == 0 ? 2000 : trial % 3 == 1 ? 1e-3 : 8;
    std::vector<Atom> list;
    for (int i = 0; i < count; ++i) {
      const double mass = (trial % 5 == 0 ? std::exp(-700 * uniform(random)) : uniform(random)) / (2 * count);
      list.push_back({Interval::exactly(reach * (2 * uniform(random) - 1)), Interval::exactly(mass)});
      if (i % 7 == 0) list.push_back(list.back());
    }
    Atoms atoms = make_atoms(list, Interval::exactly(trial % 2 == 0 ? 0 : 1e-4), Interval::exactly(0), false);
    const AtomsProfile profile(atoms);
    for (int k = 0; k < 40; ++k) {
      const double at = k < 5 ? atoms.finite[static_cast<std::size_t>(k)].loss.lo : 1.1 * reach * (2 * uniform(random) - 1);
      Ball sum(atoms.infinite.lo);
      for (const Atom& atom : atoms.finite)
        if (atom.loss.lo > at) sum = sum + Ball(atom.mass.lo) * (Ball(1) - exp(Ball(at) - Ball(atom.loss.lo)));
      const Interval found = profile.delta(Interval::exactly(at));
      EXPECT_TRUE(test::holds(found, sum)) << trial << " at " << at;
      EXPECT_LE(found.width(), 4e-15 * found.hi + 3e-300) << trial << " at " << at;
    }
    EXPECT_EQ(profile.delta(Interval::exactly(infinity)), atoms.infinite);
  }
}

// Each end comes from its own end of losses, masses and epsilon, and the slack lowers the lower end alone.
TEST(AtomsProfile, AgreesWithTheSumForUncertainAtoms) {
  std::mt19937_64 random(6);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<Atom> list;
  for (int i = 0; i < 60; ++i) {
    const double loss = 4 * uniform(random) - 2, mass = uniform(random) / 80;
    list.push_back({{loss, std::ceil(10 * loss) / 10 + 0.1}, {mass, mass * 1.01}});  // many atoms share their upper end
  }
  Atoms atoms = make_atoms(list, {1e-5, 2e-5}, Interval::exactly(0), false);
  atoms.slack = 0.01;
  const AtomsProfile profile(atoms);
  for (double at = -2.5; at < 2.5; at += 0.05) {
    const Interval epsilon{at, at + 0.02}, sum = delta_of(atoms, epsilon), found = profile.delta(epsilon);
    EXPECT_NEAR(found.lo, sum.lo, 1e-13 * sum.lo) << at;
    EXPECT_NEAR(found.hi, sum.hi, 1e-13 * sum.hi) << at;
  }
}

}  // namespace
}  // namespace tradeoff::detail
