// SPDX-License-Identifier: Apache-2.0
// [parameter-calibration]
#include "tradeoff/calibrate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "numeric/number_text.h"
#include "plan/unknown.h"
#include "support/matchers.h"
#include "support/scale.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::IsTight;

Interval decimal(const nlohmann::json& text) { return numeric::enclose_decimal(text.get<std::string>()).value(); }

TEST(Calibrate, AnalyticGaussianToThirtyDigits) {
  for (const auto& entry : test::golden_group("f_dp.json", "gauss_sigma")) {
    const auto& in = entry["inputs"];
    SCOPED_TRACE(in.dump());
    const Guarantee target{decimal(in["eps"]), decimal(in["delta"])};
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
    const Guarantee target{Interval::exactly(test::golden_double(entry["eps"])), Interval::exactly(delta)};
    SCOPED_TRACE(entry.dump());
    const Calibration found = calibrate(parse("gdp(mu=?)"), target);
    EXPECT_FALSE(found.safe_end_is_hi);
    EXPECT_THAT(found.value, Encloses(entry["mu"].get<std::string>()));
    EXPECT_THAT(found.value, IsTight(1e-9));
  }
}

/// The safe end, printed and read again, meets the target; the other end is within the stated width.
TEST(Calibrate, ThePrintedSafeEndMeetsTheTarget) {
  const std::vector<std::pair<const char*, Target>> cases{
      {"gaussian(sigma=?)", Guarantee{Interval::exactly(1), Interval::exactly(1e-5)}},
      {"gaussian(sigma=?) | repeat(1000)", Guarantee{Interval::exactly(2), Interval::exactly(1e-9)}},
      {"laplace(scale=?)", Guarantee{Interval::exactly(1), Interval::exactly(0)}},
      {"laplace(scale=?, sensitivity=3)", Guarantee{Interval::exactly(0.5), Interval::exactly(1e-3)}},
      {"laplace(scale=?)", MuTarget{Interval::exactly(1)}},
      {"gaussian(sigma=?)", MuTarget{Interval::exactly(0.25)}},
      {"laplace(scale=?)", AdvantageTarget{Interval::exactly(0.1)}},
      {"gaussian(sigma=?)", AttackTarget{Interval::exactly(0.01), Interval::exactly(0.05)}},
      {"laplace(scale=?)", AttackTarget{Interval::exactly(0.01), Interval::exactly(0.05)}},
      {"gdp(mu=?)", AdvantageTarget{Interval::exactly(0.5)}},
      {"gaussian(sigma=1) | poisson(rate=?)", Guarantee{Interval::exactly(0.5), Interval::exactly(1e-5)}},
      {"gaussian(sigma=2, sensitivity=?)", Guarantee{Interval::exactly(0.5), Interval::exactly(1e-5)}},
  };
  for (const auto& [text, target] : cases) {
    SCOPED_TRACE(text);
    const Plan plan = parse(text);
    const Calibration found = calibrate(plan, target);
    EXPECT_THAT(found.value, IsTight(1e-9));
    const double safe = found.safe_end_is_hi ? found.value.hi : found.value.lo;
    const std::string typed = numeric::to_text_below(safe);
    const Curve curve = analyze(substitute(plan, Number{typed, numeric::enclose_decimal(typed).value()}));
    if (const auto* wanted = std::get_if<Guarantee>(&target)) {
      EXPECT_LE(curve.delta_at(wanted->epsilon).hi, wanted->delta.lo);
    } else if (const auto* advantage = std::get_if<AdvantageTarget>(&target)) {
      EXPECT_LE(curve.advantage().hi, advantage->advantage.lo);
    } else if (const auto* attack = std::get_if<AttackTarget>(&target)) {
      EXPECT_LE(curve.tpr_at(attack->fpr).hi, attack->tpr.lo);
    }
  }
}

TEST(Calibrate, CountsAreWhole) {
  const Calibration found = calibrate(parse("gaussian(sigma=10) | repeat(?)"), Guarantee{Interval::exactly(1), Interval::exactly(1e-5)});
  EXPECT_FALSE(found.safe_end_is_hi);
  EXPECT_EQ(found.value.lo, found.value.hi);
  const auto delta_after = [](double steps) {
    return analyze(parse("gaussian(sigma=10) | repeat(" + numeric::to_text_below(steps) + ")")).delta_at(1);
  };
  EXPECT_LE(delta_after(found.value.lo).hi, 1e-5);
  EXPECT_GT(delta_after(found.value.lo + 1).lo, 1e-5);
}

TEST(Calibrate, RefusesInvalidTargets) {
  const Guarantee target{Interval::exactly(1), Interval::exactly(1e-5)};
  EXPECT_THROW((void)calibrate(parse("gaussian(sigma=1)"), target), ParseError);
  EXPECT_THROW((void)calibrate(parse("gaussian(sigma=?, sensitivity=?)"), target), ParseError);
  EXPECT_THROW((void)calibrate(parse("gaussian(sigma=?)"), Guarantee{Interval::exactly(1), Interval::exactly(0)}), DomainError);
  EXPECT_THROW((void)calibrate(parse("gaussian(sigma=?)"), Guarantee{Interval::exactly(-1), Interval::exactly(0.1)}), DomainError);
  EXPECT_THROW((void)calibrate(parse("gaussian(sigma=?)"), AttackTarget{Interval::exactly(0.1), Interval::exactly(0.05)}), DomainError);
}

/// A target given as an interval leaves counts that neither certainly meet it nor certainly fail: both ends come from its ends.
TEST(Calibrate, AnUncertainTargetLeavesAnIntervalOfCounts) {
  const Plan plan = parse("gaussian(sigma=10) | repeat(?)");
  const auto found = [&](Interval delta) { return calibrate(plan, Guarantee{Interval::exactly(1), delta}).value; };
  const Interval wide = found({1e-6, 1e-5});
  EXPECT_EQ(wide.lo, found(Interval::exactly(1e-6)).lo);
  EXPECT_EQ(wide.hi, found(Interval::exactly(1e-5)).hi);
  EXPECT_GT(wide.hi, wide.lo + 1);
}

TEST(Calibrate, WhereEveryValueMeetsTheTargetTheRangeIsTheAnswer) {
  // One record in ten is sampled: even without noise the advantage is 0.1.
  const Calibration noise = calibrate(parse("laplace(scale=?) | poisson(rate=0.1)"), AdvantageTarget{Interval::exactly(0.5)});
  EXPECT_TRUE(noise.safe_end_is_hi);
  EXPECT_EQ(noise.value.lo, 0);
  EXPECT_LT(noise.value.hi, 1e-290);
  const Calibration rate = calibrate(parse("gaussian(sigma=10) | poisson(rate=?)"), AdvantageTarget{Interval::exactly(0.5)});
  EXPECT_EQ(rate.value, Interval::exactly(1));
  const Calibration budget = calibrate(parse("dp(epsilon=?) | poisson(rate=0.1)"), AdvantageTarget{Interval::exactly(0.5)});
  EXPECT_EQ(budget.value.hi, std::numeric_limits<double>::infinity());
}

TEST(Calibrate, SaysThatAPlanIsTooLarge) {
  EXPECT_THROW((void)calibrate(parse("laplace(scale=3) | sample_with_replacement(draws=20000, of=30000); gaussian(sigma=?)"),
                               AdvantageTarget{Interval::exactly(0.1)}),
               TooLargeError);
}

TEST(Calibrate, RefusesWhereNoValueMeetsTheTarget) {
  EXPECT_THROW((void)calibrate(parse("gdp(mu=2); gdp(mu=?)"), AdvantageTarget{Interval::exactly(0.1)}), DomainError);
  EXPECT_THROW((void)calibrate(parse("truncated_laplace(scale=1, bound=?)"), AdvantageTarget{Interval::exactly(0.1)}), UnsupportedError);
}

TEST(Calibrate, FindsTheSmallestNoiseWhereMoreNoiseMayFail) {
  const auto found = [](const char* plan, double epsilon, double delta) {
    return calibrate(parse(plan), Guarantee{Interval::exactly(epsilon), Interval::exactly(delta)});
  };
  const Calibration gaussian = found("discrete_gaussian(sigma=?)", 4, 0.025);  // 0.36 meets it, 0.38 does not, 0.602 does
  EXPECT_FALSE(gaussian.is_monotone);
  EXPECT_LT(gaussian.value.hi, 0.36);
  EXPECT_THAT(gaussian.value, IsTight(1e-9));
  const Calibration laplace = found("truncated_laplace(scale=?, bound=4)", 0.8, 0.03);  // 1.25 meets it, no large scale does
  EXPECT_LT(laplace.value.hi, 1.25);
  // Seven digits, rounded up, are 1.648722, which does not meet it.
  const Calibration printed = found("truncated_laplace(scale=?, bound=4)", 0.6065306597126334, 0.04042963913302481);
  EXPECT_LE(analyze(parse("truncated_laplace(bound=4, scale=" + printed.printed + ")")).delta_at(0.6065306597126334).hi,
            0.04042963913302481);
  EXPECT_THAT(laplace.value, IsTight(1e-9));
  EXPECT_THROW((void)found("truncated_laplace(scale=?, bound=4)", 0.8, 1e-9), DomainError);
  EXPECT_TRUE(calibrate(parse("gaussian(sigma=?)"), AdvantageTarget{Interval::exactly(0.1)}).is_monotone);
}

/// Plans with a `?`, over every source and operator that has one.
std::vector<std::string> plans_with_unknown() {
  std::vector<std::string> plans = {"gaussian(sigma=2, sensitivity=?)",
                                    "laplace(scale=2, sensitivity=?)",
                                    "discrete_laplace(scale=3, sensitivity=?)",
                                    "discrete_gaussian(sigma=4, sensitivity=?)",
                                    "truncated_laplace(scale=2, bound=5, sensitivity=?)",
                                    "truncated_discrete_laplace(scale=3, bound=9, sensitivity=?)",
                                    "laplace(scale=1) | poisson(rate=?)",
                                    "gaussian(sigma=1) | sample(rate=?)",
                                    "randomized_response(epsilon=0.1) | repeat(?)",
                                    "laplace(scale=3) | sample_with_replacement(draws=?, of=10)",
                                    "gaussian(sigma=0.5) | rectify(epsilon=?, low=0, high=1)",
                                    "dp(epsilon=0.05, delta=?)"};
  const char* const sources[] = {"gaussian(sigma=?)",
                                 "laplace(scale=?)",
                                 "discrete_laplace(scale=?, sensitivity=2)",
                                 "discrete_gaussian(sigma=?)",
                                 "discrete_gaussian(sigma=?, sensitivity=3)",
                                 "truncated_laplace(scale=?, bound=4)",
                                 "truncated_laplace(scale=?, bound=1.2, sensitivity=2)",
                                 "truncated_discrete_laplace(scale=?, bound=5)",
                                 "truncated_discrete_laplace(scale=?, bound=2, sensitivity=3)",
                                 "randomized_response(epsilon=?, choices=3)",
                                 "gdp(mu=?)",
                                 "dp(epsilon=?, delta=0.001)",
                                 "zcdp(rho=?)",
                                 "sqrt_log_family(a=1, b=2, sigma=?)",
                                 "log_family(c=1, sigma=?)"};
  for (const char* source : sources)
    for (const char* operators : {"", " | poisson(rate=0.3)", " | group(2)"}) plans.push_back(source + std::string(operators));
  for (const char* finite :
       {"discrete_gaussian(sigma=?)", "truncated_discrete_laplace(scale=?, bound=5)", "randomized_response(epsilon=?)"})
    plans.push_back(std::string("mixture([(0.5, (") + finite + " | repeat(2))), (0.5, dp(0))]); dp(epsilon=0.1)");
  return plans;
}

Target random_target(std::mt19937_64& words) {
  const auto uniform = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(words); };
  const double kind = uniform(0, 4), fpr = uniform(0, 0.3);
  if (kind < 2) return Guarantee{Interval::exactly(uniform(0.2, 4)), Interval::exactly(std::exp(uniform(-7, -1)))};
  if (kind < 3) return AdvantageTarget{Interval::exactly(uniform(0.05, 0.9))};
  return AttackTarget{Interval::exactly(fpr), Interval::exactly(uniform(fpr + 0.05, 0.95))};
}

std::string describe(const Target& target) {
  const auto numbers = [](Interval a, Interval b) { return numeric::to_text_below(a.lo) + ", " + numeric::to_text_below(b.lo); };
  if (const auto* pair = std::get_if<Guarantee>(&target)) return "epsilon, delta = " + numbers(pair->epsilon, pair->delta);
  if (const auto* attack = std::get_if<AttackTarget>(&target)) return "fpr, tpr = " + numbers(attack->fpr, attack->tpr);
  return "advantage = " + numeric::to_text_below(std::get<AdvantageTarget>(target).advantage.lo);
}

/// The law of calibration: the printed text meets the target, and no tested value beyond the other end does.
TEST(Calibrate, ThePrintedTextMeetsTheTargetAndNothingBeyondTheIntervalDoes) {
  std::mt19937_64 words(19);
  int answered = 0;
  for (const std::string& text : plans_with_unknown()) {
    const Plan plan = parse(text);
    const bool may_fail_above = text.find("discrete_gaussian(sigma=?") == 0 || text.find("truncated") == 0;
    for (int round = 0; round < test::scaled(may_fail_above && text.find('|') == std::string::npos ? 12 : 1); ++round) {
      const Target target = random_target(words);
      const auto met = [&](const std::string& value) { return meets(analyze(substitute(plan, read_number(value))), target); };
      Calibration found;
      try {
        found = calibrate(plan, target);
      } catch (const DomainError&) {  // no value meets it
        for (int i = 0; may_fail_above && i <= 60; ++i)
          EXPECT_NE(met(numeric::to_text_below(std::exp(0.1 * (i - 30)), 17)), Met::yes)
              << text << ", " << describe(target) << " at exp(" << 0.1 * (i - 30) << ")";
        continue;
      }
      ++answered;
      SCOPED_TRACE(text + ": " + found.printed + ", " + describe(target));
      EXPECT_EQ(met(found.printed), Met::yes);
      const double safe = found.safe_end_is_hi ? found.value.hi : found.value.lo;
      EXPECT_NEAR(std::stod(found.printed), safe, 1e-6 * safe);
      EXPECT_EQ(found.safe_end_is_hi ? std::stod(found.printed) >= safe : std::stod(found.printed) <= safe, true);
      const bool whole = text.find("repeat(?)") != std::string::npos || text.find("draws=?") != std::string::npos ||
                         (text.find("discrete") != std::string::npos && !found.safe_end_is_hi);
      for (int i = 1; i <= 24; ++i) {
        double value = found.safe_end_is_hi ? found.value.lo * std::exp(-0.003 * i * i) : found.value.hi * std::exp(0.003 * i * i);
        if (whole) value = found.value.hi + i;
        if (!(value > 1e-200) || std::isinf(value) || (text.find("rate=?") != std::string::npos && value > 1) ||
            (text.find("delta=?") != std::string::npos && value > 1))
          break;
        EXPECT_NE(met(numeric::to_text_below(value, 17)), Met::yes) << "at " << value;
      }
    }
  }
  EXPECT_GT(answered, test::scaled(60));
}

}  // namespace
}  // namespace tradeoff::detail
