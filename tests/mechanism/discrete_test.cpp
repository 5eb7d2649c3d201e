// SPDX-License-Identifier: Apache-2.0
// [discrete-laplace], [discrete-gaussian]
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "loss/atoms.h"
#include "mechanism/discrete_gaussian.h"
#include "mechanism/discrete_laplace.h"
#include "numeric/arithmetic.h"
#include "support/matchers.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::IsTight;

TEST(DiscreteGaussian, GoldenProfiles) {
  for (const auto& entry : test::golden_group("f_dp.json", "dgauss_delta")) {
    const auto& in = entry["inputs"];
    SCOPED_TRACE(in.dump());
    const LossPointer loss = discrete_gaussian(test::golden_interval(in["sigma"]), in["Delta"].get<std::uint64_t>());
    const Interval found = loss->delta(Direction::remove, test::golden_interval(in["eps"]));
    EXPECT_THAT(found, Encloses(entry["value"].get<std::string>()));
    EXPECT_THAT(found, IsTight(1e-9));
  }
}

TEST(DiscreteGaussian, KeepsItsLogarithmWhereDoublesEnd) {
  struct Case {
    double sigma;
    std::uint64_t shift;
    double epsilon;
    const char* log_delta;  // direct sums at 50 digits
  };
  for (const Case& one : {Case{5, 1, 16, "-3206.450382460044731454533"}, Case{5, 1, 8.0625, "-821.9098671106302092651462"},
                          Case{2, 3, 100.25, "-2213.503365957128542610674"}, Case{0.5, 1, 1000, "-125000.3854861175137243232"},
                          Case{30, 2, 7.5, "-6338.50797910673739511632"}, Case{1, 1, 38.25, "-724.4276300880012807823026"}}) {
    const LossPointer loss = discrete_gaussian(Interval::exactly(one.sigma), one.shift);
    const Interval found = loss->log_delta(Direction::remove, Interval::exactly(one.epsilon));
    EXPECT_THAT(found, Encloses(one.log_delta)) << one.epsilon;
    EXPECT_THAT(found, IsTight(1e-12)) << one.epsilon;
    const GaussianTail model = *loss->tail().gaussian;
    const double bound = model.log_factor + model.slope * one.epsilon - one.epsilon * one.epsilon / (2 * model.width * model.width);
    EXPECT_LE(found.lo, bound);
  }
}

TEST(DiscreteGaussian, HasTheTailAndTheMomentsOfItsModel) {
  for (const double sigma : {0.3, 1.0, 4.0}) {
    for (const std::uint64_t shift : {1u, 3u}) {
      const LossPointer loss = discrete_gaussian(Interval::exactly(sigma), shift);
      const Tail tail = loss->tail();
      for (double e = tail.gaussian->from; e < 12 * tail.gaussian->width; e += 0.37 * tail.gaussian->width) {
        const double bound =
            tail.gaussian->log_factor + tail.gaussian->slope * e - e * e / (2 * tail.gaussian->width * tail.gaussian->width);
        EXPECT_LE(loss->log_delta(Direction::remove, Interval::exactly(e)).lo, bound) << sigma << " " << shift << " at " << e;
      }
      const Atoms* atoms = loss->atoms(Direction::remove);
      for (const double order : {0.1, 0.5, 1.0, 3.0, 7.3}) {
        Interval moment = Interval::exactly(0);
        for (const Atom& atom : atoms->finite) moment = moment + atom.mass * exp(order * atom.loss);
        const double bound = std::exp(tail.moment_mu * tail.moment_mu * order * (order + 1) / 2);
        EXPECT_LE(moment.lo, bound * (1 + 1e-12)) << sigma << " " << shift << " order " << order;
      }
    }
  }
}

TEST(DiscreteLaplace, GoldenProfiles) {
  for (const auto& entry : test::golden_group("f_dp.json", "dlap_delta")) {
    const auto& in = entry["inputs"];
    SCOPED_TRACE(in.dump());
    const LossPointer loss = discrete_laplace(1.0 / test::golden_interval(in["a"]), in["Delta"].get<std::uint64_t>());
    const Interval found = loss->delta(Direction::remove, test::golden_interval(in["eps"]));
    EXPECT_THAT(found, Encloses(entry["value"].get<std::string>()));
    EXPECT_THAT(found, IsTight(1e-9));
  }
}

/// The hockey-stick divergence of a distribution on the integers from its shift, term by term.
double brute_force(const std::function<double(int)>& law, int shift, double epsilon) {
  double sum = 0;
  for (int y = -400; y <= 400; ++y) sum += std::max(0.0, law(y) - std::exp(epsilon) * law(y - shift));
  return sum;
}

TEST(TruncatedDiscreteLaplace, EveryRegimeAgreesWithBruteForce) {
  for (const auto& [scale, bound, shift] :
       {std::tuple{2.0, 9, 1}, {2.0, 9, 4}, {0.5, 3, 3}, {4.0, 3, 5}, {4.0, 3, 6}, {4.0, 3, 7}, {1.0, 8, 0}}) {
    double total = 0;
    for (int y = -bound; y <= bound; ++y) total += std::exp(-std::abs(y) / scale);
    const auto law = [&](int y) { return std::abs(y) <= bound ? std::exp(-std::abs(y) / scale) / total : 0; };
    const LossPointer loss =
        truncated_discrete_laplace(Interval::exactly(scale), static_cast<std::uint64_t>(bound), static_cast<std::uint64_t>(shift));
    for (const double epsilon : {-2.0, -0.1, 0.0, 0.3, 0.9, 1.7, 6.0, 50.0}) {
      const Interval found = loss->delta(Direction::add, Interval::exactly(epsilon));
      EXPECT_NEAR(found.lo, brute_force(law, shift, epsilon), 1e-13) << scale << " " << bound << " " << shift << " " << epsilon;
      EXPECT_NEAR(found.hi, found.lo, 1e-13);
    }
  }
}

TEST(Discrete, LawsHaveMassOne) {
  for (const LossPointer& loss : {discrete_laplace(Interval::exactly(3), 5), truncated_discrete_laplace(Interval::exactly(3), 10, 4),
                                  truncated_discrete_laplace(Interval::exactly(3), 4, 6), discrete_gaussian(Interval::exactly(2.5), 3),
                                  discrete_gaussian(Interval::exactly(0.3), 1)}) {
    const Atoms& atoms = *loss->atoms(Direction::remove);
    Interval under_p = atoms.infinite;
    Interval under_q = atoms.other_infinite;
    for (const Atom& atom : atoms.finite) {
      under_p = under_p + atom.mass;
      under_q = under_q + atom.mass * exp(-atom.loss);
    }
    EXPECT_THAT(under_p, Encloses(1.0));
    EXPECT_THAT(under_q, Encloses(1.0));
    EXPECT_LT(under_p.width(), 1e-12);
  }
}

TEST(Discrete, SensitivityZeroIsPerfectPrivacy) {
  for (const LossPointer& loss : {discrete_laplace(Interval::exactly(3), 0), discrete_gaussian(Interval::exactly(2.5), 0)}) {
    const Atoms& atoms = *loss->atoms(Direction::remove);
    ASSERT_EQ(atoms.finite.size(), 1U);
    EXPECT_EQ(atoms.finite[0].loss, Interval::exactly(0));
    EXPECT_EQ(loss->infinite_mass(Direction::add), Interval::exactly(0));
    for (const Direction direction : {Direction::remove, Direction::add}) {
      EXPECT_THAT(loss->delta(direction, Interval::exactly(0)), Encloses(0.0));
      EXPECT_LE(loss->delta(direction, Interval::exactly(0)).hi, 1e-15);
      EXPECT_EQ(loss->delta(direction, Interval::exactly(0.5)), Interval::exactly(0));
    }
  }
  EXPECT_NE(discrete_laplace(Interval::exactly(3), 0)->key(), discrete_laplace(Interval::exactly(3), 1)->key());
}

}  // namespace
}  // namespace tradeoff::detail
