// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "loss/gaussian_profile.h"
#include "support/matchers.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"
#include "tradeoff/limit.h"

// [central-limit]
namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::golden_group;

// An estimate must not convert to a bound.
static_assert(!std::is_convertible_v<Estimate, Interval> && !std::is_constructible_v<Interval, Estimate>);
static_assert(!std::is_convertible_v<Estimate, double> && !std::is_convertible_v<double, Estimate>);

double number(const nlohmann::json& value) { return value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>(); }

TEST(CentralLimit, SamplingFormulasWithExactCounts) {
  for (const auto& one : golden_group("f_dp.json", "clt_mu")) {
    const auto& inputs = one.at("inputs");
    const double rate = number(inputs.at("m")) / number(inputs.at("n"));
    const double steps = number(inputs.at("epochs")) / rate;
    const double mu = 1 / number(inputs.at("sigma"));
    const Estimate uniform = uniform_sampling_limit(mu, rate, steps);
    const Estimate poisson = poisson_sampling_limit(mu, rate, steps);
    EXPECT_NEAR(uniform.value(), number(one.at("value").at("mu_uniform_cor4")), 1e-12);
    EXPECT_NEAR(poisson.value(), number(one.at("value").at("mu_poisson")), 1e-12);
    CentralLimit limit;
    limit.mu = uniform;
    EXPECT_NEAR(limit.epsilon_at(1e-5).value(), number(one.at("value").at("eps_uniform_at_1e_5")), 1e-10);
    limit.mu = poisson;
    EXPECT_NEAR(limit.epsilon_at(1e-5).value(), number(one.at("value").at("eps_poisson_at_1e_5")), 1e-10);
  }
}

TEST(CentralLimit, PlansOfSampledGaussians) {
  for (const auto& one : golden_group("f_dp.json", "clt_mu_q")) {
    const auto& inputs = one.at("inputs");
    const std::string rate = inputs.at("q").get<std::string>();
    const std::string head = "gaussian(sigma=" + inputs.at("sigma").get<std::string>() + ") | ";
    const std::string steps = " | repeat(" + inputs.at("T").dump() + ")";
    const CentralLimit uniform = central_limit(parse(head + "sample(rate=" + rate + ")" + steps));
    const CentralLimit poisson = central_limit(parse(head + "poisson(rate=" + rate + ")" + steps));
    EXPECT_NEAR(uniform.mu.value(), number(one.at("value").at("mu_uniform_cor4")), 1e-12);
    EXPECT_NEAR(poisson.mu.value(), number(one.at("value").at("mu_poisson")), 1e-12);
    // Erratum: the printed constant sqrt(2c) instead of sqrt(2) c is a different number.
    const double c = number(inputs.at("q")) * std::sqrt(number(inputs.at("T")));
    const double printed = uniform.mu.value() / (std::sqrt(2.0) * c) * std::sqrt(2 * c);
    EXPECT_GT(std::abs(printed - uniform.mu.value()), 0.1 * uniform.mu.value());
  }
}

TEST(CentralLimit, ErrsBothWays) {
  // The table of the CLT compared with exact composition: the Poisson limit is too small, Corollary 4 errs on either side.
  const std::string head = "gaussian(sigma=1) | ";
  const double poisson = central_limit(parse(head + "poisson(rate=0.01) | repeat(1000)")).epsilon_at(1e-5).value();
  EXPECT_NEAR(poisson, 1.61771, 1e-5);
  EXPECT_LT(poisson, 0.9 * analyze(parse(head + "poisson(rate=0.01) | repeat(1000)")).epsilon_at(1e-5).lo);
  EXPECT_NEAR(central_limit(parse(head + "sample(rate=0.01) | repeat(1000)")).epsilon_at(1e-5).value(), 2.17581, 1e-5);
  EXPECT_NEAR(central_limit(parse("gaussian(sigma=2) | sample(rate=0.02) | repeat(5000)")).epsilon_at(1e-5).value(), 3.81435, 1e-5);
}

TEST(CentralLimit, ManyGuarantees) {
  const CentralLimit limit = central_limit(parse("dp(epsilon=0.1, delta=1e-6) | repeat(100); dp(epsilon=0.2) | repeat(25); gdp(mu=1)"));
  EXPECT_NEAR(limit.mu.value(), std::sqrt(100 * 0.01 + 25 * 0.04 + 1), 1e-12);
  EXPECT_NEAR(limit.revealed.value(), -std::expm1(100 * std::log1p(-1e-6)), 1e-15);
  EXPECT_EQ(limit.epsilon_at(1e-5).value(), std::numeric_limits<double>::infinity());
  // Theorem 6 for noise without its own theorem.
  const CentralLimit laplace = central_limit(parse("laplace(scale=10) | repeat(100)"));
  const double exact = analyze(parse("laplace(scale=10) | repeat(100)")).epsilon_at(1e-3).hi;
  EXPECT_NEAR(laplace.epsilon_at(1e-3).value(), exact, 0.05 * exact);
  EXPECT_EQ(laplace.theorems, std::vector<std::string>{"Theorem 6"});
}

/// sup over alpha of |f(alpha) - G_1(alpha)|, by a scan and a zoom.
double distance_to_gaussian(const Curve& curve) {
  const auto distance = [&](double alpha) {
    const Interval f = curve.beta_at(alpha), g = gaussian_beta(1, alpha);
    return std::abs((f.lo + f.hi) / 2 - (g.lo + g.hi) / 2);
  };
  double best = 0, at = 0;
  for (double scale = 1.0 / 400, low = 0; scale > 1e-9; scale /= 20) {
    for (int i = 0; i <= 400; ++i) {
      const double alpha = std::min(1.0, low + i * scale);
      if (distance(alpha) > best) best = distance(at = alpha);
    }
    low = std::max(0.0, at - 10 * scale);
  }
  return best;
}

TEST(CentralLimit, FigureFiveAndTheRateOfTheoremEight) {
  const std::string root_tenth = "0.31622776601683793319988935444327185337195551393252";
  const auto fig5 = golden_group("f_dp.json", "fig5");
  const Curve ten = analyze(parse("dp(epsilon=" + root_tenth + ") | repeat(10)"));
  EXPECT_THAT(ten.epsilon_at(test::golden_interval(fig5[0].at("inputs").at("delta"))), Encloses(fig5[0].at("value").get<std::string>()));
  EXPECT_NEAR(distance_to_gaussian(ten), std::stod(fig5[1].at("value").at("sup").get<std::string>()), 1e-8);
  for (const auto& one : golden_group("f_dp.json", "thm8")) {
    const int n = one.at("inputs").at("n").get<int>();
    char epsilon[40];
    std::snprintf(epsilon, sizeof epsilon, "%.17g", 1 / std::sqrt(n));
    const Curve curve = analyze(parse("dp(epsilon=" + std::string(epsilon) + ") | repeat(" + std::to_string(n) + ")"));
    EXPECT_NEAR(n * distance_to_gaussian(curve), number(one.at("value")), 1e-6) << n;
  }
}

TEST(Edgeworth, DeltaNeverFallsBelowTheInfiniteMass) {  // [edgeworth-expansion] a former endless search
  EXPECT_EQ(edgeworth(parse("dp(0, 1e-5)")).epsilon_at(0).value(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(edgeworth(parse("dp(0, 1e-5)")).epsilon_at(1e-3).value(), 0);
}

TEST(Edgeworth, IsCloserThanTheLimit) {  // [edgeworth-expansion]
  for (const char* plan :
       {"gaussian(sigma=1) | poisson(rate=0.01) | repeat(1000)", "gaussian(sigma=2) | poisson(rate=0.02) | repeat(5000)",
        "dp(epsilon=0.1) | repeat(100)", "laplace(scale=5) | repeat(50)", "gaussian(sigma=2) | sample(rate=0.02) | repeat(500)"}) {
    const double exact = analyze(parse(plan)).epsilon_at(1e-3).hi;
    const double limit = central_limit(parse(plan)).epsilon_at(1e-3).value();
    const double refined = edgeworth(parse(plan)).epsilon_at(1e-3).value();
    EXPECT_LE(std::abs(refined - exact), std::abs(limit - exact) + 1e-3 * exact) << plan;
    EXPECT_NEAR(refined, exact, 0.03 * exact) << plan;
  }
  // A Gaussian is its own expansion.
  EXPECT_NEAR(edgeworth(parse("gdp(mu=1.5)")).epsilon_at(1e-4).value(), analyze(parse("gdp(mu=1.5)")).epsilon_at(1e-4).lo, 1e-9);
  EXPECT_NEAR(edgeworth(parse("dp(epsilon=0.1, delta=1e-4) | repeat(100)")).delta_at(2).value(),
              analyze(parse("dp(epsilon=0.1, delta=1e-4) | repeat(100)")).delta_at(2).lo, 1e-3);
}

}  // namespace
}  // namespace tradeoff::detail
