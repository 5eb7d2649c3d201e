// SPDX-License-Identifier: Apache-2.0
// The older theorems compared with golden values and with their limits. Covers [classical-composition], [classical-gaussian],
// [classical-sampling].
#include "limit/classical.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "loss/gaussian_profile.h"
#include "numeric/arithmetic.h"
#include "support/matchers.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

using nlohmann::json;
using test::Encloses;
using test::golden_group;
using test::golden_interval;
using test::IsTight;

TEST(Classical, TableOne) {
  const json table = test::read_golden("gdp_bridge.json")["table_1"];
  const std::vector<StatedRuns> runs{{{Interval::exactly(0.2), Interval::exactly(0)}, 50}};
  for (const json& cell : table["cells"]) {
    const Interval delta = Interval::exactly(test::golden_double(cell["delta"]));
    EXPECT_THAT(basic_composition(runs, delta), Encloses(cell["Basic"].get<std::string>()));
    EXPECT_THAT(advanced_composition(runs, delta), Encloses(cell["Advanced"].get<std::string>()));
    EXPECT_THAT(renyi_corollary(Interval::exactly(0.2), 50, delta), Encloses(cell["RDP"].get<std::string>()));
    EXPECT_THAT(basic_composition(runs, delta), IsTight(1e-13));
    EXPECT_THAT(advanced_composition(runs, delta), IsTight(1e-13));
  }
}

TEST(Classical, WhatOneGuaranteeImplies) {
  for (const json& golden : golden_group("gdp_bridge.json", "theorem_2_1")) {
    const double from = test::golden_double(golden["eps0"]), delta = test::golden_double(golden["delta0"]),
                 at = test::golden_double(golden["eps"]), implied = test::golden_double(golden["delta"]);
    if (at >= from || implied >= 1) continue;
    const Interval wanted{std::nextafter(implied, 0), std::nextafter(implied, 1)};
    EXPECT_THAT(implied_epsilon(Interval::exactly(from), Interval::exactly(delta), wanted), Encloses(at)) << golden;
  }
  EXPECT_EQ(implied_epsilon(Interval::exactly(1), Interval::exactly(0.1), Interval::exactly(0.05)).lo, infinity);
  EXPECT_EQ(implied_epsilon(Interval::exactly(1), Interval::exactly(0.1), Interval::exactly(0.9)).hi, 0);
  EXPECT_EQ(implied_epsilon(Interval::exactly(1), Interval::exactly(0.1), Interval::exactly(0.1)), Interval::exactly(1));
  EXPECT_EQ(implied_epsilon(Interval::exactly(1), Interval::exactly(1), Interval::exactly(0.99)).lo,
            infinity);  // delta = 1 is no information
  EXPECT_EQ(implied_epsilon(Interval::exactly(1), Interval::exactly(1), Interval::exactly(1)), Interval::exactly(0));
  EXPECT_EQ(implied_epsilon(Interval::exactly(1), {0.1, 0.2}, Interval::exactly(0.15)).hi, infinity);  // undecided
}

TEST(Classical, RefusesPlansOutsideTheTheorems) {
  EXPECT_THROW((void)renyi_corollary(Interval::exactly(1.1), 2, Interval::exactly(1e-5)), DomainError);
  EXPECT_THROW((void)renyi_corollary(Interval::exactly(1), 12, Interval::exactly(1e-5)), DomainError);  // log(1/delta) = 11.5 < 12
  EXPECT_NO_THROW((void)renyi_corollary(Interval::exactly(1), 11, Interval::exactly(1e-5)));
  EXPECT_THROW((void)advanced_composition({{Interval::exactly(1), Interval::exactly(1e-6), 10}}, Interval::exactly(1e-5)), DomainError);
  EXPECT_THROW((void)advanced_composition({{Interval::exactly(1), Interval::exactly(0)}}, Interval::exactly(0)), DomainError);
  EXPECT_THROW((void)basic_composition({{Interval::exactly(1), Interval::exactly(1e-6), 11}}, Interval::exactly(1e-5)), DomainError);
  EXPECT_THROW((void)gaussian_epsilon_simple(Interval::exactly(1), Interval::exactly(1e-5)), DomainError);     // epsilon would be 6.6
  EXPECT_THROW((void)gaussian_epsilon_classical(Interval::exactly(1), Interval::exactly(1e-5)), DomainError);  // epsilon would be 4.8
  EXPECT_THROW((void)gaussian_epsilon_zero(Interval::exactly(0.1), Interval::exactly(0.04)), DomainError);
  EXPECT_THROW((void)gaussian_epsilon_simple(Interval::exactly(0.01), Interval::exactly(0)), DomainError);
  EXPECT_THROW((void)name_and_shame({0.5, 1.5}, 3), DomainError);
}

TEST(Classical, GaussianFormulas) {
  for (const json& golden : golden_group("f_dp.json", "gauss_classical")) {
    const double e = test::golden_double(golden["inputs"]["eps"]);
    const Interval delta = golden_interval(golden["inputs"]["delta"]);
    const Interval simple = 1.0 / Interval::exactly(test::golden_double(golden["value"]["sigma_thm57"]));
    const Interval classical = 1.0 / Interval::exactly(test::golden_double(golden["value"]["sigma_thm59"]));
    EXPECT_LE(gaussian_epsilon(simple, delta).hi, e);  // they are valid, and far from tight
    EXPECT_LE(gaussian_epsilon(classical, delta).hi, e);
    if (!(e < 1)) continue;  // at the boundary epsilon = 1 rounding decides whether the range is met
    EXPECT_NEAR(gaussian_epsilon_simple(simple, delta).hi, e, 1e-12) << golden;
    EXPECT_NEAR(gaussian_epsilon_classical(classical, delta).hi, e, 1e-12) << golden;
  }
}

TEST(Classical, BeyondItsRangeTheClassicalFormulaFails) {
  for (const json& golden : golden_group("f_dp.json", "gauss_classical_fail")) {
    const double delta = test::golden_double(golden["inputs"]["delta"]), first = test::golden_double(golden["value"]);
    const auto truth = [delta](double e) { return gaussian_delta(e / std::sqrt(2 * std::log(1.25 / delta)), e); };
    EXPECT_LT(truth(first * 0.999).hi, delta);
    EXPECT_GT(truth(first * 1.001).lo, delta);
  }
}

TEST(Classical, ZeroEpsilon) {
  for (const json& golden : golden_group("f_dp.json", "thm514")) {
    const Interval delta = golden_interval(golden["inputs"]["delta"]);
    EXPECT_EQ(gaussian_epsilon_zero(Interval::exactly((2.0 * delta).lo), delta).hi, 0);
    EXPECT_THAT(gaussian_delta(2.0 * delta, Interval::exactly(0)), Encloses(golden["value"]["true_delta"].get<std::string>()));
    EXPECT_LT(gaussian_delta(2.0 * delta, Interval::exactly(0)).hi, 0.798 * delta.hi);
    EXPECT_THAT(1.0 / gaussian_mu(Interval::exactly(0), delta), Encloses(golden["value"]["sigma_tight"].get<std::string>()));
  }
}

// Theorem 5.19: the printed condition admits noise that is too small for its conclusion.
TEST(Classical, TheNecessaryNoiseAsCorrected) {
  using std::numbers::pi;
  for (const json& golden : golden_group("f_dp.json", "thm519")) {
    const double e = test::golden_double(golden["inputs"]["eps"]);
    const Interval mu = sqrt(2.0 * golden_interval(golden["inputs"]["eps"]));
    const double bound = test::golden_double(golden["value"]["exact"]);
    EXPECT_THAT(gaussian_delta(mu, square(mu) / 2.0), Encloses(golden["value"]["exact"].get<std::string>()));
    EXPECT_NEAR(gaussian_epsilon_at_least(mu, Interval::exactly(bound * 0.999)).lo, e, 1e-12);
    EXPECT_THROW((void)gaussian_epsilon_at_least(mu, Interval::exactly(bound * 1.001)), DomainError);
  }
  const double printed = 0.5 - std::exp(-3.0) / std::sqrt(4 * pi);
  EXPECT_GT(printed, 0.4);                              // so (1, 0.4) satisfies the printed condition,
  EXPECT_LT(gaussian_delta(1 / 0.58724, 1.0).hi, 0.4);  // 0.58724 Delta is enough noise for it,
  EXPECT_LT(0.58724, 1 / std::sqrt(2.0));               // and less than the printed theorem requires
  EXPECT_LT(gaussian_epsilon(1 / 0.58724, 0.4).hi, 1);  // we return an epsilon below mu^2/2 = 1.45,
  EXPECT_THROW((void)gaussian_epsilon_at_least(Interval::exactly(1 / 0.58724), Interval::exactly(0.4)),
               DomainError);  // and refuse the lower bound
}

TEST(Classical, SamplingOneGuarantee) {
  for (const json& golden : golden_group("f_dp.json", "thm54")) {
    const json& in = golden["inputs"];
    const Guarantee found = amplified({golden_interval(in["eps"]), golden_interval(in["delta"])}, golden_interval(in["q"]));
    EXPECT_THAT(found.epsilon, Encloses(golden["value"]["eps"].get<std::string>()));
    EXPECT_THAT(found.delta, Encloses(golden["value"]["delta"].get<std::string>()));
    EXPECT_THAT(found.epsilon, IsTight(1e-13));
  }
  const Guarantee huge = amplified({Interval::exactly(800), Interval::exactly(0)}, Interval::exactly(0.5));
  EXPECT_THAT(huge.epsilon, Encloses(800 + std::log(0.5)));
}

TEST(Classical, NameAndShame) {
  for (const json& golden : golden_group("f_dp.json", "name_shame")) {
    const json& in = golden["inputs"];
    EXPECT_THAT(name_and_shame(golden_interval(in["delta"]), in["n"].get<std::uint64_t>()), Encloses(golden["value"].get<std::string>()));
    EXPECT_THAT(name_and_shame(golden_interval(in["delta"]), in["n"].get<std::uint64_t>()), IsTight(1e-12));
  }
  // It is (0, delta)-DP, so an (epsilon, delta) guarantee alone never excludes it.
  EXPECT_EQ(name_and_shame(Interval::exactly(1), 1), Interval::exactly(1));
  EXPECT_EQ(name_and_shame(Interval::exactly(0.1), 0), Interval::exactly(0));
  const Curve curve = analyze(parse("dp(epsilon=0, delta=0.25)"));
  EXPECT_THAT(curve.delta_at(0), Encloses(0.25));
  EXPECT_THAT(curve.delta_at(9), Encloses(0.25));
}

}  // namespace
}  // namespace tradeoff::detail
