// SPDX-License-Identifier: Apache-2.0
// [parameter-calibration]
#include "tradeoff/calibrate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "numeric/number_text.h"
#include "plan/unknown.h"
#include "support/matchers.h"
#include "tradeoff/error.h"

namespace tradeoff {
namespace {

using test::Encloses;
using test::IsTight;

Interval decimal(const nlohmann::json& text) { return numeric::enclose_decimal(text.get<std::string>()).value(); }

TEST(Calibrate, AnalyticGaussianToThirtyDigits) {
  for (const auto& entry : test::golden_group("f_dp.json", "gauss_sigma")) {
    const auto& in = entry["inputs"];
    SCOPED_TRACE(in.dump());
    const EpsilonDeltaTarget target{decimal(in["eps"]), decimal(in["delta"])};
    const Calibration found = calibrate(parse("gaussian(sigma=?)"), target);
    EXPECT_TRUE(found.safe_end_is_hi);
    EXPECT_THAT(found.value, Encloses(entry["value"].get<std::string>()));
    EXPECT_THAT(found.value, IsTight(1e-11));
  }
}

TEST(Calibrate, GdpMuIsTheMuOfTheGuarantee) {
  for (const auto& entry : test::golden_group("gdp_bridge.json", "mu_gdp")) {
    if (!entry.contains("delta")) continue;  // given by its complement
    const double delta = test::golden_double(entry["delta"]);
    const EpsilonDeltaTarget target{Interval::exactly(test::golden_double(entry["eps"])), Interval::exactly(delta)};
    SCOPED_TRACE(entry.dump());
    const Calibration found = calibrate(parse("gdp(mu=?)"), target);
    EXPECT_FALSE(found.safe_end_is_hi);
    EXPECT_THAT(found.value, Encloses(entry["mu"].get<std::string>()));
    EXPECT_THAT(found.value, IsTight(1e-9));
  }
}

/// The safe end, printed and typed in again, meets the target; the other end is within the stated width.
TEST(Calibrate, ThePrintedSafeEndMeetsTheTarget) {
  const std::vector<std::pair<const char*, Target>> cases{
      {"gaussian(sigma=?)", EpsilonDeltaTarget{Interval::exactly(1), Interval::exactly(1e-5)}},
      {"gaussian(sigma=?) | repeat(1000)", EpsilonDeltaTarget{Interval::exactly(2), Interval::exactly(1e-9)}},
      {"laplace(scale=?)", EpsilonDeltaTarget{Interval::exactly(1), Interval::exactly(0)}},
      {"laplace(scale=?, sensitivity=3)", EpsilonDeltaTarget{Interval::exactly(0.5), Interval::exactly(1e-3)}},
      {"laplace(scale=?)", MuTarget{Interval::exactly(1)}},
      {"gaussian(sigma=?)", MuTarget{Interval::exactly(0.25)}},
      {"laplace(scale=?)", AdvantageTarget{Interval::exactly(0.1)}},
      {"gaussian(sigma=?)", AttackTarget{Interval::exactly(0.01), Interval::exactly(0.05)}},
      {"laplace(scale=?)", AttackTarget{Interval::exactly(0.01), Interval::exactly(0.05)}},
      {"gdp(mu=?)", AdvantageTarget{Interval::exactly(0.5)}},
      {"gaussian(sigma=1) | poisson(rate=?)", EpsilonDeltaTarget{Interval::exactly(0.5), Interval::exactly(1e-5)}},
      {"gaussian(sigma=2, sensitivity=?)", EpsilonDeltaTarget{Interval::exactly(0.5), Interval::exactly(1e-5)}},
  };
  for (const auto& [text, target] : cases) {
    SCOPED_TRACE(text);
    const Plan plan = parse(text);
    const Calibration found = calibrate(plan, target);
    EXPECT_THAT(found.value, IsTight(1e-9));
    const double safe = found.safe_end_is_hi ? found.value.hi : found.value.lo;
    const std::string typed = numeric::to_text_below(safe);
    const Curve curve = analyze(substitute(plan, Number{typed, numeric::enclose_decimal(typed).value()}));
    if (const auto* wanted = std::get_if<EpsilonDeltaTarget>(&target)) {
      EXPECT_LE(curve.delta_at(wanted->epsilon).hi, wanted->delta.lo);
    } else if (const auto* advantage = std::get_if<AdvantageTarget>(&target)) {
      EXPECT_LE(curve.advantage().hi, advantage->advantage.lo);
    } else if (const auto* attack = std::get_if<AttackTarget>(&target)) {
      EXPECT_LE(curve.tpr_at(attack->fpr).hi, attack->tpr.lo);
    }
  }
}

TEST(Calibrate, CountsAreWhole) {
  const Calibration found =
      calibrate(parse("gaussian(sigma=10) | repeat(?)"), EpsilonDeltaTarget{Interval::exactly(1), Interval::exactly(1e-5)});
  EXPECT_FALSE(found.safe_end_is_hi);
  EXPECT_EQ(found.value.lo, found.value.hi);
  const auto delta_after = [](double steps) {
    return analyze(parse("gaussian(sigma=10) | repeat(" + numeric::to_text_below(steps) + ")")).delta_at(1);
  };
  EXPECT_LE(delta_after(found.value.lo).hi, 1e-5);
  EXPECT_GT(delta_after(found.value.lo + 1).lo, 1e-5);
}

TEST(Calibrate, RefusesWhatMakesNoSense) {
  const EpsilonDeltaTarget target{Interval::exactly(1), Interval::exactly(1e-5)};
  EXPECT_THROW((void)calibrate(parse("gaussian(sigma=1)"), target), ParseError);
  EXPECT_THROW((void)calibrate(parse("gaussian(sigma=?, sensitivity=?)"), target), ParseError);
  EXPECT_THROW((void)calibrate(parse("gaussian(sigma=?)"), EpsilonDeltaTarget{Interval::exactly(1), Interval::exactly(0)}), DomainError);
  EXPECT_THROW((void)calibrate(parse("gaussian(sigma=?)"), EpsilonDeltaTarget{Interval::exactly(-1), Interval::exactly(0.1)}), DomainError);
  EXPECT_THROW((void)calibrate(parse("gaussian(sigma=?)"), AttackTarget{Interval::exactly(0.1), Interval::exactly(0.05)}), DomainError);
}

/// A target known as an interval leaves counts that neither meet it for certain nor fail it: both ends are those of its ends.
TEST(Calibrate, AnUncertainTargetLeavesAnIntervalOfCounts) {
  const Plan plan = parse("gaussian(sigma=10) | repeat(?)");
  const auto found = [&](Interval delta) { return calibrate(plan, EpsilonDeltaTarget{Interval::exactly(1), delta}).value; };
  const Interval wide = found({1e-6, 1e-5});
  EXPECT_EQ(wide.lo, found(Interval::exactly(1e-6)).lo);
  EXPECT_EQ(wide.hi, found(Interval::exactly(1e-5)).hi);
  EXPECT_GT(wide.hi, wide.lo + 1);
}

TEST(Calibrate, WhereEveryValueMeetsTheTargetTheRangeIsTheAnswer) {
  // One record in ten is looked at: no noise at all still keeps the advantage at 0.1.
  const Calibration noise = calibrate(parse("laplace(scale=?) | poisson(rate=0.1)"), AdvantageTarget{Interval::exactly(0.5)});
  EXPECT_TRUE(noise.safe_end_is_hi);
  EXPECT_EQ(noise.value.lo, 0);
  EXPECT_LT(noise.value.hi, 1e-290);
  const Calibration rate = calibrate(parse("gaussian(sigma=10) | poisson(rate=?)"), AdvantageTarget{Interval::exactly(0.5)});
  EXPECT_EQ(rate.value, Interval::exactly(1));
}

TEST(Calibrate, RefusesWhereNoValueMeetsTheTarget) {
  EXPECT_THROW((void)calibrate(parse("gdp(mu=2); gdp(mu=?)"), AdvantageTarget{Interval::exactly(0.1)}), DomainError);
  EXPECT_THROW((void)calibrate(parse("truncated_laplace(scale=1, bound=?)"), AdvantageTarget{Interval::exactly(0.1)}), UnsupportedError);
}

}  // namespace
}  // namespace tradeoff
