// SPDX-License-Identifier: Apache-2.0
#include "loss/atoms.h"

#include <gtest/gtest.h>

#include "numeric/arithmetic.h"
#include "support/ball.h"
#include "support/matchers.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

using test::Ball;
using test::Encloses;
using test::IsTight;

const std::vector<Interval> p{Interval::exactly(0.5), Interval::exactly(0.25), Interval::exactly(0.25), Interval::exactly(0)};
const std::vector<Interval> q{Interval::exactly(0.125), Interval::exactly(0.25), Interval::exactly(0), Interval::exactly(0.625)};

TEST(Atoms, OfAPairAreItsLogRatios) {
  const Atoms atoms = atoms_of_pair(p, q);
  ASSERT_EQ(atoms.finite.size(), 2U);
  EXPECT_TRUE(test::holds(atoms.finite.front().loss, log(Ball(4))));
  EXPECT_EQ(atoms.finite.front().mass, Interval::exactly(0.5));
  EXPECT_EQ(atoms.finite.back().loss, Interval::exactly(0));
  EXPECT_EQ(atoms.infinite, Interval::exactly(0.25));
  EXPECT_EQ(atoms.other_infinite, Interval::exactly(0.625));
}

TEST(Atoms, GiveTheProfileInBothDirections) {
  Ball::precision = 200;
  const Atoms atoms = atoms_of_pair(p, q);
  for (const double at : {-2.0, -0.5, 0.0, 0.3, 1.0, 1.38, 1.39, 5.0}) {
    const auto truth = [&](const std::vector<Interval>& a, const std::vector<Interval>& b) {
      Ball sum(0);
      for (std::size_t i = 0; i < a.size(); ++i) {
        const Ball gain = Ball(a[i].lo) - exp(Ball(at)) * Ball(b[i].lo);
        if (arb_is_positive(gain.get()) != 0) sum = sum + gain;
      }
      return sum;
    };
    EXPECT_TRUE(test::holds(delta_of(atoms, Interval::exactly(at)), truth(p, q))) << at;
    EXPECT_TRUE(test::holds(delta_of(swapped(atoms), Interval::exactly(at)), truth(q, p))) << at;
    EXPECT_TRUE(test::holds(log_delta_of(atoms, Interval::exactly(at)), log(truth(p, q)))) << at;
    EXPECT_THAT(delta_of(atoms, Interval::exactly(at)), IsTight(1e-14));
  }
  EXPECT_EQ(delta_of(atoms, Interval::exactly(infinity)), atoms.infinite);
  EXPECT_EQ(delta_of(atoms, Interval::exactly(-infinity)).hi, 1);
}

TEST(Atoms, EncloseEveryEpsilonOfAnInterval) {
  const Atoms atoms = atoms_of_pair(p, q);
  const Interval wide = delta_of(atoms, {0.2, 0.9});
  for (const double at : {0.2, 0.5, 0.9}) EXPECT_THAT(wide, Encloses(delta_of(atoms, Interval::exactly(at))));
  EXPECT_LT(wide.lo, delta_of(atoms, Interval::exactly(0.85)).lo);
  EXPECT_GT(wide.hi, delta_of(atoms, Interval::exactly(0.25)).hi);
}

TEST(Atoms, AllowForSlackBelowOnly) {
  Atoms atoms = atoms_of_pair(p, q);
  const Interval sure = delta_of(atoms, Interval::exactly(0));
  atoms.slack = 0.125;
  const Interval loose = delta_of(atoms, Interval::exactly(0));
  EXPECT_EQ(loose.hi, sure.hi);
  EXPECT_LE(loose.lo, 0.875 * sure.lo);
}

TEST(Atoms, AreSortedAndJoined) {
  const Interval third{0.33, 0.34};
  const Atoms atoms = make_atoms({{Interval::exactly(-1), third},
                                  {Interval::exactly(2), third},
                                  {Interval::exactly(-1), third},
                                  {Interval::exactly(5), Interval::exactly(0)}},
                                 Interval::exactly(0), Interval::exactly(0), false);
  ASSERT_EQ(atoms.finite.size(), 2U);
  EXPECT_EQ(atoms.finite.front().loss, Interval::exactly(2));
  EXPECT_THAT(atoms.finite.back().mass, Encloses(Interval{0.66, 0.68}));
}

TEST(Atoms, RefuseWhatIsNoDistribution) {
  const std::vector<Interval> half{Interval::exactly(0.5), Interval::exactly(0.25)};
  EXPECT_THROW((void)atoms_of_pair(half, half), DomainError);
  EXPECT_THROW((void)atoms_of_pair({Interval::exactly(1)}, half), DomainError);
  EXPECT_THROW((void)atoms_of_pair({}, {}), DomainError);
  EXPECT_THROW((void)atoms_of_pair({Interval::exactly(1.5), Interval::exactly(-0.5)}, {Interval::exactly(0.5), Interval::exactly(0.5)}),
               DomainError);
  EXPECT_THROW((void)make_atoms({{Interval::exactly(infinity), Interval::exactly(1)}}, Interval::exactly(0), Interval::exactly(0), false),
               DomainError);
}

}  // namespace
}  // namespace tradeoff::detail
