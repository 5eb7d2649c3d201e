// SPDX-License-Identifier: Apache-2.0
#include "engine/contour.h"

#include <gtest/gtest.h>

#include "mechanism/gaussian.h"
#include "mechanism/subsampled_gaussian.h"
#include "numeric/arithmetic.h"
#include "numeric/gaussian.h"
#include "support/matchers.h"

// [contour-inversion] [contour-alias] [contour-truncation] [contour-march] [contour-propagation] [contour-epsilon]
namespace tradeoff {
namespace {

using test::Encloses;
using test::golden_group;
using test::golden_interval;
using test::IsTight;

Direction direction_of(const nlohmann::json& inputs) {
  return inputs.at("direction") == "add" ? Direction::add : Direction::remove;
}

/// The symmetric rows of the golden file speak of another pair.
bool directed(const nlohmann::json& inputs) { return inputs.at("direction") == "remove" || inputs.at("direction") == "add"; }

Interval rate_of(const nlohmann::json& inputs) {
  const auto text = inputs.at("q").get<std::string>();
  const auto slash = text.find('/');
  if (slash == std::string::npos) return golden_interval(inputs.at("q"));
  return Interval::exactly(std::stod(text.substr(0, slash))) / Interval::exactly(std::stod(text.substr(slash + 1)));
}

LossPointer training_run(const nlohmann::json& inputs) {
  const Interval mu = 1.0 / golden_interval(inputs.at("sigma"));
  return compose_by_contour({{subsampled_gaussian(mu, rate_of(inputs)), inputs.at("T").get<std::uint64_t>()}}, {});
}

TEST(Contour, HoldsGoldenDeltas) {
  for (const auto& one : golden_group("f_dp.json", "dpsgd_delta")) {
    const auto& inputs = one.at("inputs");
    if (!directed(inputs)) continue;
    const auto loss = training_run(inputs);
    const Interval delta = loss->delta(direction_of(inputs), golden_interval(inputs.at("eps")));
    EXPECT_THAT(delta, Encloses(one.at("value").get<std::string>())) << one.at("id");
    EXPECT_THAT(delta, IsTight(1e-10)) << one.at("id");
  }
}

TEST(Contour, HoldsGoldenEpsilons) {
  for (const auto& one : golden_group("f_dp.json", "dpsgd_eps")) {
    const auto& inputs = one.at("inputs");
    if (!directed(inputs)) continue;
    const auto epsilon = training_run(inputs)->closed_epsilon(direction_of(inputs), golden_interval(inputs.at("delta")));
    ASSERT_TRUE(epsilon.has_value());
    EXPECT_THAT(*epsilon, Encloses(one.at("value").get<std::string>())) << one.at("id");
    EXPECT_THAT(*epsilon, IsTight(1e-11)) << one.at("id");
  }
}

TEST(Contour, HoldsGoldenTests) {
  for (const auto& one : golden_group("f_dp.json", "dpsgd_tradeoff")) {
    const auto& inputs = one.at("inputs");
    const Interval epsilon = golden_interval(inputs.at("eps"));
    if (!directed(inputs) || epsilon.lo != epsilon.hi) continue;  // a test is asked for at a double
    const auto test = training_run(inputs)->test_at(direction_of(inputs), epsilon.lo);
    ASSERT_TRUE(test.has_value()) << one.at("id");
    EXPECT_THAT(test->false_positive, Encloses(one.at("value").at("alpha").get<std::string>())) << one.at("id");
    EXPECT_THAT(test->true_positive, Encloses(one.at("value").at("one_minus_beta").get<std::string>())) << one.at("id");
    EXPECT_THAT(test->false_positive, IsTight(1e-9)) << one.at("id");
    EXPECT_THAT(test->true_positive, IsTight(1e-9)) << one.at("id");
  }
}

}  // namespace
}  // namespace tradeoff
