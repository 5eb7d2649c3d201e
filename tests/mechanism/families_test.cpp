// SPDX-License-Identifier: Apache-2.0
// Covers [naive-profile].
#include "mechanism/families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mechanism/profile.h"
#include "numeric/arithmetic.h"
#include "support/matchers.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

using nlohmann::json;
using test::Encloses;
using test::golden_double;
using test::IsTight;

Interval number(const json& value) {
  return value == "sqrt(2)" ? Interval{1.4142135623730949, 1.4142135623730952} : Interval::exactly(golden_double(value));
}

LossPointer family(const json& golden) {
  const json& in = golden["params"];
  if (golden["family"] == "icea")
    return icea(static_cast<std::uint64_t>(golden_double(in["n"])), static_cast<std::uint64_t>(golden_double(in["m"])));
  if (golden["family"] == "C*log(1/delta)/eps") return log_family(Interval::exactly(1), number(in["sigma_over_C"]));
  return sqrt_log_family(number(in["A"]), number(in["B"]), number(in["sigma"]));
}

TEST(Families, NaiveProfilesAsGolden) {
  for (const json& golden : test::golden_group("gdp_bridge.json", "refined_profile")) {
    const LossPointer loss = family(golden);
    EXPECT_FALSE(loss->is_pair());
    for (const json& value : golden["values"]) {
      const Interval delta = loss->delta(Direction::remove, Interval::exactly(golden_double(value["eps"])));
      EXPECT_THAT(delta, Encloses(value["naive"].get<std::string>())) << golden["family"] << " " << value["eps"];
      EXPECT_THAT(delta, IsTight(1e-11)) << golden["family"] << " " << value["eps"];
    }
  }
}

TEST(Families, ConvexityChangesAtTheStatedEpsilon) {
  for (const double scale : {0.2, 1.0, 3.0}) {
    const auto loss = sqrt_log_family(Interval::exactly(scale), Interval::exactly(0.9), Interval::exactly(1));
    const auto& bound = dynamic_cast<const FamilyLoss&>(*loss);
    const double middle = bound.convex_from().lo;
    const auto second_difference = [&](double e) {  // in x = e^e
      const double x = std::exp(e), h = 1e-3 * x;
      const auto at = [&](double y) { return bound.delta(Direction::remove, Interval::exactly(std::log(y))).lo; };
      return at(x - h) - 2 * at(x) + at(x + h);
    };
    EXPECT_LT(second_difference(0.9 * middle), 0) << scale;
    EXPECT_GT(second_difference(1.1 * middle), 0) << scale;
  }
}

TEST(Families, TailsFollowFromTheEquations) {
  const auto sqrt_log = sqrt_log_family(Interval::exactly(2), Interval::exactly(1), Interval::exactly(2));
  EXPECT_THAT(sqrt_log->tail().limit, Encloses("0.70710678118654752440"));
  EXPECT_EQ(log_family(Interval::exactly(1), Interval::exactly(10))->tail().kind, TailKind::exponential);
  EXPECT_EQ(icea(4, 20)->tail().kind, TailKind::polynomial);
}

TEST(Families, MirrorBelowZeroAndNothingAtInfinity) {
  const auto loss = log_family(Interval::exactly(1), Interval::exactly(3));
  const Interval there = loss->delta(Direction::remove, Interval::exactly(0.5));
  EXPECT_THAT(loss->delta(Direction::add, Interval::exactly(-0.5)), Encloses(1.0 - exp(Interval::exactly(-0.5)) * (1.0 - there)));
  EXPECT_EQ(loss->delta(Direction::remove, Interval::exactly(infinity)).lo, 0);
  EXPECT_THAT(loss->log_delta(Direction::remove, Interval::exactly(1000)), Encloses(-3000));
}

TEST(Profile, ContinuesWithItsStatedTail) {
  const auto at = [](double value) { return Interval::exactly(value); };
  const std::vector<std::pair<Interval, Interval>> rows{{at(0), at(0.25)}, {at(1), at(0.0625)}};
  const LossPointer tailed = profile_loss(rows, {StatedTail::Kind::gaussian, at(1), at(0.5)});
  ASSERT_TRUE(tailed->tail().gaussian.has_value());
  EXPECT_EQ(tailed->tail().kind, TailKind::gaussian);
  EXPECT_EQ(tailed->tail().gaussian->width, 0.5);
  EXPECT_THAT(tailed->tail().limit, Encloses(0.5));  // e / sqrt(-2 log delta) of exp(-e^2 / (2 s^2)) is s
  EXPECT_THAT(tailed->log_delta(Direction::add, at(3)), Encloses(-18.0));
  EXPECT_EQ(profile_loss(rows, {})->tail().gaussian.has_value(), false);
  try {
    (void)profile_loss(rows, {StatedTail::Kind::zero, {}, {}});
    FAIL() << "a profile jumped to zero";
  } catch (const DomainError& refusal) {
    EXPECT_THAT(refusal.what(), testing::HasSubstr("tail = zero needs a last delta of 0"));
    EXPECT_THAT(refusal.what(), testing::HasSubstr("row 2"));
  }
}

}  // namespace
}  // namespace tradeoff::detail
