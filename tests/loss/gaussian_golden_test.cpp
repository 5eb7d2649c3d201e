// SPDX-License-Identifier: Apache-2.0
// The Gaussian profile and its inverses against 30-digit truth. [gaussian-profile]
#include <gtest/gtest.h>

#include "loss/gaussian_profile.h"
#include "support/matchers.h"

namespace tradeoff::detail::test {
namespace {

using ::testing::AllOf;

constexpr double tight = 1e-12;

std::string text(const nlohmann::json& one, const char* name) { return one.at(name).get<std::string>(); }

TEST(GaussianGolden, Delta) {
  for (const auto& one : golden_group("gdp_bridge.json", "delta_mu")) {
    SCOPED_TRACE(one.dump());
    const double mu = golden_double(one.at("mu"));
    const double epsilon = golden_double(one.at("eps"));
    EXPECT_THAT(gaussian_delta(mu, epsilon), AllOf(Encloses(text(one, "delta")), IsTight(tight)));
    // If delta is 1 to 30 digits the table has 0; the logarithm is then minus the complement, to twice as many digits.
    const std::string log_delta = text(one, "ln_delta") == "0.0" ? "-" + text(one, "one_minus_delta") : text(one, "ln_delta");
    EXPECT_THAT(log_gaussian_delta(mu, epsilon), AllOf(Encloses(log_delta), IsTight(tight)));
    EXPECT_THAT(gaussian_complement(mu, epsilon), AllOf(Encloses(text(one, "one_minus_delta")), IsTight(tight)));
  }
}

TEST(GaussianGolden, Mu) {
  for (const auto& one : golden_group("gdp_bridge.json", "mu_gdp")) {
    SCOPED_TRACE(one.dump());
    const double epsilon = golden_double(one.at("eps"));
    if (one.contains("one_minus_delta")) {
      const Interval complement = Interval::exactly(golden_double(one.at("one_minus_delta")));
      EXPECT_THAT(gaussian_mu_of_complement(Interval::exactly(epsilon), complement), AllOf(Encloses(text(one, "mu")), IsTight(tight)));
      continue;
    }
    const double delta = golden_double(one.at("delta"));
    EXPECT_THAT(gaussian_mu(epsilon, delta), AllOf(Encloses(text(one, "mu")), IsTight(tight)));
    const Interval log_delta = log(Interval::exactly(delta));
    EXPECT_THAT(gaussian_mu_of_log(Interval::exactly(epsilon), log_delta), Encloses(text(one, "mu")));
  }
}

TEST(GaussianGolden, Epsilon) {
  for (const auto& one : golden_group("gdp_bridge.json", "eps_gdp")) {
    SCOPED_TRACE(one.dump());
    const double mu = golden_double(one.at("mu"));
    const double delta = golden_double(one.at("delta"));
    EXPECT_THAT(gaussian_epsilon(mu, delta), AllOf(Encloses(text(one, "eps")), IsTight(tight)));
    EXPECT_THAT(gaussian_epsilon_of_log(Interval::exactly(mu), log(Interval::exactly(delta))), Encloses(text(one, "eps")));
  }
}

TEST(GaussianGolden, ExactDecimalInputs) {
  // Here a decimal means its exact value, so the inputs are intervals one unit wide and their conditioning adds to the width.
  constexpr double conditioned = 1e-11;
  for (const auto& one : golden_group("f_dp.json", "gdp_delta")) {
    SCOPED_TRACE(one.dump());
    const auto& in = one.at("inputs");
    EXPECT_THAT(gaussian_delta(golden_interval(in.at("mu")), golden_interval(in.at("eps"))),
                AllOf(Encloses(text(one, "value")), IsTight(conditioned)));
  }
  for (const auto& one : golden_group("f_dp.json", "gdp_eps")) {
    SCOPED_TRACE(one.dump());
    const auto& in = one.at("inputs");
    EXPECT_THAT(gaussian_epsilon(golden_interval(in.at("mu")), golden_interval(in.at("delta"))),
                AllOf(Encloses(text(one, "value")), IsTight(conditioned)));
  }
  for (const auto& one : golden_group("f_dp.json", "gmu")) {
    SCOPED_TRACE(one.dump());
    const auto& in = one.at("inputs");
    EXPECT_THAT(gaussian_beta(golden_interval(in.at("mu")), golden_interval(in.at("alpha"))),
                AllOf(Encloses(text(one, "value")), IsTight(conditioned)));
  }
  for (const auto& one : golden_group("f_dp.json", "gauss_sigma")) {
    SCOPED_TRACE(one.dump());
    const auto& in = one.at("inputs");
    EXPECT_THAT(1 / gaussian_mu(golden_interval(in.at("eps")), golden_interval(in.at("delta"))),
                AllOf(Encloses(text(one, "value")), IsTight(tight)));
  }
}

}  // namespace
}  // namespace tradeoff::detail::test
