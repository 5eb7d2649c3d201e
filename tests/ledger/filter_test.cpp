// SPDX-License-Identifier: Apache-2.0
// [gdp-filter] [renyi-filter] [pure-filter] [approximate-filter] Prices and caps are on the safe side of values computed in another way,
// and the sequences that break a filter of composed curves are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "ledger/currency.h"
#include "loss/gaussian_profile.h"
#include "numeric/arithmetic.h"
#include "place.h"
#include "tradeoff/analyze.h"
#include "tradeoff/calibrate.h"
#include "tradeoff/limit.h"

namespace tradeoff::detail::test {
namespace {

using ledger::read_currency;
using testing::HasSubstr;

ledger::Price price(const char* currency, const char* plan, std::int64_t usual = 0) {
  const ledger::AccountCurrency found = read_currency(currency);
  const Plan parsed = parse(plan);
  return found.row->measure({parsed, Neighbours::add_remove, std::nullopt, usual, found.order});
}
double charged(const char* currency, const char* plan) { return static_cast<double>(price(currency, plan).amount) * 1e-12; }

ledger::Cap cap(const char* currency, const StatedCap& stated) {
  const ledger::AccountCurrency found = read_currency(currency);
  return found.row->cap(stated, found.order);
}

TEST(Price, OfGaussianNoiseIsExact) {
  EXPECT_EQ(price("gdp", "gaussian(sigma=10)").amount, 10'000'000'000);
  EXPECT_EQ(price("gdp", "gaussian(sigma=10) | repeat(100)").amount, 1'000'000'000'000);
  EXPECT_EQ(price("gdp", "gdp(0.3); (gaussian(2, 1) | repeat(3)) | repeat(2)").amount, 1'590'000'000'000);
  EXPECT_EQ(price("zcdp", "gaussian(sigma=10)").amount, 5'000'000'000);
  EXPECT_EQ(price("zcdp", "zcdp(rho=0.25) | repeat(2)").amount, 500'000'000'000);
  EXPECT_EQ(price("gdp", "gaussian(sigma=3)").amount, 111'111'111'112);
  EXPECT_EQ(price("pure", "laplace(scale=2) | repeat(5)").amount, 2'500'000'000'000);
}

// Fifty queries of randomised response with epsilon 0.2: charged together they cost a third less than one by one.
TEST(Price, OfABatchIsLessThanThatOfItsSteps) {
  EXPECT_NEAR(charged("gdp", "dp(0.2) | repeat(50)"), 2.02, 0.01);
  EXPECT_NEAR(50 * charged("gdp", "dp(0.2)"), 3.14, 0.01);
}

TEST(Price, OfSampledTrainingUsesSlackByItself) {
  const char* training = "gaussian(sigma=1) | poisson(rate=0.01) | repeat(100)";
  const ledger::Price alone = price("gdp", training), slack = price("gdp", training, 1'000'000'000'000);
  EXPECT_NEAR(static_cast<double>(alone.amount) * 1e-12, 100, 0.1);
  EXPECT_EQ(alone.slack, 0);
  EXPECT_LT(slack.amount, alone.amount / 2);
  EXPECT_GE(slack.slack, 1'000'000'000'000);
  EXPECT_LE(slack.slack, 1'001'000'000'000);
}

TEST(Price, RefusesPlansWithoutOne) {
  const auto message = [](const char* currency, const char* plan) -> std::string {
    try {
      static_cast<void>(price(currency, plan));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message("gdp", "dp(1, 1e-6)"), HasSubstr("not mu-GDP for any mu"));
  EXPECT_THAT(message("zcdp", "dp(1, 1e-6)"), HasSubstr("zCDP"));
  EXPECT_THAT(message("pure", "gaussian(1)"), HasSubstr("(epsilon, 0)-DP"));
  EXPECT_THAT(message("rdp(8)", "dp(1, 1e-6)"), HasSubstr("Renyi"));
  EXPECT_THAT(message("gdp", "gaussian(1) | sample(size=1, of=10)"), HasSubstr("neighbours"));
  EXPECT_THAT(message("gdp", "gaussian(sigma=?)"), HasSubstr("?"));
  EXPECT_THAT(message("gdp", "gaussian(sigma=1e-9)"), HasSubstr("more than any account can hold"));
}

// The prices of rdp and approximate beside the formulas of their pages.
TEST(Price, FollowsTheFormulas) {
  EXPECT_NEAR(charged("rdp(8)", "gaussian(2)"), 8.0 / 2 / 4, 1e-9);
  EXPECT_NEAR(charged("approximate", "laplace(2)"), 0.25, 1e-11);
  const double epsilon = gaussian_epsilon(0.5, 1e-8).hi;
  const ledger::Price gaussian = price("approximate", "gaussian(2)", 10'000'000'000);
  EXPECT_NEAR(static_cast<double>(gaussian.amount) * 1e-12, epsilon * epsilon, 1e-6);
  EXPECT_EQ(gaussian.slack, 10'000'000'000);
}

TEST(Cap, IsRoundedDown) {
  EXPECT_EQ(cap("gdp", mu_cap("1")).amount, 1'000'000'000'000);
  EXPECT_EQ(cap("gdp", mu_cap("1/3")).amount, 111'111'111'111);
  StatedCap rho;
  rho.rho = read_number("0.5");
  EXPECT_EQ(cap("gdp", rho).amount, 1'000'000'000'000);
  EXPECT_EQ(cap("zcdp", rho).amount, 500'000'000'000);
}

// What the cap guarantees, by the accountant itself, is what was asked for; and no much larger cap would do.
TEST(Cap, KeepsTheStatedGuarantee) {
  for (const auto& [epsilon, delta] : {std::pair("1", "1e-5"), std::pair("0.1", "1e-6"), std::pair("8", "1e-3"), std::pair("3", "0.01")}) {
    for (const char* currency : {"gdp", "zcdp", "rdp(16)", "approximate"}) {
      if (std::string(currency) == "rdp(16)" && std::string(epsilon) == "0.1") continue;  // this order leaves no budget
      const ledger::AccountCurrency row = read_currency(currency);
      const ledger::Cap found = cap(currency, pair_cap(epsilon, delta));
      const auto delta_of = [&](ledger::Units amount) {
        return analyze(parse(row.row->guarantee(amount, found.slack, row.order)), Neighbours::add_remove).delta_at(read_number(epsilon));
      };
      EXPECT_LE(delta_of(found.amount).hi, read_number(delta).value.hi * (1 + 1e-9)) << currency << " " << epsilon << " " << delta;
      EXPECT_GT(delta_of(found.amount + found.amount / 50).hi, read_number(delta).value.lo) << currency << " " << epsilon << " " << delta;
    }
  }
}

TEST(Cap, ThatDoesNotFitTheCurrencyIsRefused) {
  EXPECT_THROW(static_cast<void>(cap("zcdp", mu_cap("1"))), DomainError);
  EXPECT_THROW(static_cast<void>(cap("pure", pair_cap("1", "1e-5"))), DomainError);
  EXPECT_THROW(static_cast<void>(cap("gdp", StatedCap{})), DomainError);
  EXPECT_THROW(static_cast<void>(cap("gdp", mu_cap("0"))), DomainError);
  EXPECT_THROW(static_cast<void>(cap("gdp", mu_cap("1e9"))), DomainError);
  EXPECT_THROW(static_cast<void>(cap("gdp", mu_cap("1e-9"))), DomainError);
  EXPECT_THROW(static_cast<void>(cap("gdp", pair_cap("1", "0"))), DomainError);
  EXPECT_THROW(static_cast<void>(cap("approximate", pair_cap("-1", "1e-5"))), DomainError);
  EXPECT_THROW(static_cast<void>(read_currency("euro")), DomainError);
  EXPECT_THROW(static_cast<void>(read_currency("rdp(1)")), DomainError);
  EXPECT_THROW(static_cast<void>(read_currency("rdp")), DomainError);
}

// A filter that composes the curves along the path would accept each of these second steps; an analyst who chooses among them after the
// first output gets up to twice the delta of the budget. This ledger accepts none of them.
TEST(Filter, RefusesTheSequencesThatBreakAFilterOfCurves) {
  struct Case {
    const char *mu, *epsilon, *delta;
  };
  for (const Case& one :
       {Case{"1", "1", "0.30"}, Case{"1", "2", "0.10"}, Case{"1", "3", "0.01"}, Case{"0.5", "1", "0.01"}, Case{"0.5", "2", "1e-5"}}) {
    const Target target = Guarantee{read_number(one.epsilon).value, read_number(one.delta).value};
    const std::string first = "gdp(mu=" + std::string(one.mu) + ")";
    for (const char* second : {"randomized_response(epsilon=?)", "gdp(mu=?)", "dp(epsilon=0, delta=?)"}) {
      const Calibration largest = calibrate(parse(first + "\n" + second), target, Neighbours::add_remove);
      std::string step = second;
      step.replace(step.find('?'), 1, largest.printed);
      for (const char* currency : {"gdp", "approximate", "zcdp"}) {
        Place place("sqlite");
        Ledger ledger = place.open();
        ledger.create(account("a", pair_cap(one.epsilon, one.delta), currency));
        bool both = true;
        for (const std::string& plan : {first, step}) {
          try {
            ledger.spend({{"a"}, plan, plan});
          } catch (const BudgetError&) {
            both = false;
          } catch (const DomainError&) {  // no price in this currency
            both = false;
          }
        }
        EXPECT_FALSE(both) << first << ", " << step << " at epsilon " << one.epsilon << " in " << currency;
      }
    }
  }
}

/// The best attack of an analyst who spends a budget of squared mu adaptively, by brute force over a coarse game: after each output it
/// chooses between a Gaussian step and randomised response, each within what is left.
double best_delta(double left, double epsilon, int steps) {
  if (steps == 0 || left <= 1e-12) return epsilon >= 0 ? 0 : 1 - std::exp(epsilon);
  double best = 0;
  for (const double share : {0.3, 1.0}) {
    const double mu = std::sqrt(left * share);
    double rest = 0;  // Gaussian step on a grid, rounded towards less delta: probabilities of bins, loss at the bin
    const int bins = 24;
    for (int i = 0; i < bins; ++i) {
      const double low = i == 0 ? -40 : -3 + 7.0 * i / bins, high = i + 1 == bins ? 40 : -3 + 7.0 * (i + 1) / bins;
      const auto normal = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
      const double p = normal(high - mu) - normal(low - mu), q = normal(high) - normal(low);
      if (p > 1e-300 && q > 1e-300) rest += p * best_delta(left * (1 - share), epsilon - std::log(p / q), steps - 1);
    }
    best = std::max(best, rest);
    const double high = 0.5 * std::erfc(-mu / 2 / std::sqrt(2.0));  // randomised response with this mu answers truly with chance Phi(mu/2)
    const double loss = std::log(high / (1 - high));
    best = std::max(best, high * best_delta(left * (1 - share), epsilon - loss, steps - 1) +
                              (1 - high) * best_delta(left * (1 - share), epsilon + loss, steps - 1));
  }
  return best;
}

TEST(Filter, NoAdaptiveAnalystGetsMoreThanTheCap) {
  for (const double epsilon : {0.0, 0.5, 1.0, 2.0}) {
    const double found = best_delta(1, epsilon, 3), allowed = gaussian_delta(1, epsilon).hi;
    EXPECT_LE(found, allowed + 1e-9) << epsilon;
    EXPECT_GE(found, allowed * 0.6) << epsilon;  // the game is not trivial
  }
}

}  // namespace
}  // namespace tradeoff::detail::test
