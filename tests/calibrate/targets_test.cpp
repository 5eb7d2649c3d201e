// SPDX-License-Identifier: Apache-2.0
#include "tradeoff/targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tradeoff/analyze.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

using testing::HasSubstr;

Targets read(const std::map<std::string, std::string, std::less<>>& stated) {
  return read_targets(
      [&](std::string_view word) {
        const auto found = stated.find(word);
        return found == stated.end() ? std::nullopt : std::optional(found->second);
      },
      "--");
}

std::string complaint_of(const std::map<std::string, std::string, std::less<>>& stated) {
  try {
    static_cast<void>(read(stated));
  } catch (const DomainError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Check, IsYesOrNoOnlyWhereItIsCertain) {
  const Curve gaussian = analyze(parse("gaussian(sigma=1)"));  // delta(1) = 0.1269367...
  EXPECT_EQ(check(gaussian, 1, 0.127).within, Met::yes);
  EXPECT_EQ(check(gaussian, 1, 0.126).within, Met::no);
  EXPECT_EQ(check(gaussian, 1, gaussian.delta_at(1)).within, Met::undecided);
  EXPECT_EQ(check(gaussian, 1, 0.127).delta, gaussian.delta_at(1));
  EXPECT_EQ(check(gaussian, 1, 1).within, Met::yes);
  EXPECT_EQ(check(gaussian, 50, 1e-300).within, Met::yes) << "delta itself is smaller than a double can be";
  EXPECT_EQ(check(gaussian, 1, 0).within, Met::no);
  EXPECT_EQ(check(analyze(parse("laplace(scale=1)")), 1, 0).within, Met::yes);
  EXPECT_THROW((void)check(gaussian, -1, 0.1), DomainError);
  EXPECT_THROW((void)check(gaussian, 1, 1.5), DomainError);
}

TEST(Check, AcceptsAGuaranteeThatThePlanStates) {
  const Curve stated = analyze(parse("dp(0.1, 1e-5)"));
  EXPECT_EQ(check(stated, read_number("0.1"), read_number("0.00001")).within, Met::yes);
  EXPECT_EQ(check(stated, read_number("0.1"), read_number("0.0000099")).within, Met::no);
}

TEST(Targets, AWordWithoutItsPartnerIsAnError) {
  EXPECT_EQ(complaint_of({{"epsilon", "1"}}), "--epsilon needs --delta");
  EXPECT_EQ(complaint_of({{"delta", "1e-5"}}), "--delta needs --epsilon");
  EXPECT_EQ(complaint_of({{"slack", "1e-5"}, {"epsilon", "1"}, {"delta", "0"}}), "--slack needs --mu");
  EXPECT_EQ(complaint_of({{"fpr", "0.1"}}), "--fpr needs --tpr");
  EXPECT_EQ(complaint_of({{"tpr", "0.1"}}), "--tpr needs --fpr");
  EXPECT_TRUE(read({}).empty());
}

TEST(Targets, ValuesOutOfRangeAreNamed) {
  EXPECT_THAT(complaint_of({{"epsilon", "-1"}, {"delta", "0.1"}}), HasSubstr("--epsilon = -1 is not allowed"));
  EXPECT_THAT(complaint_of({{"epsilon", "1"}, {"delta", "1.5"}}), HasSubstr("--delta = 1.5 is not allowed"));
  EXPECT_THAT(complaint_of({{"mu", "nan"}}), HasSubstr("--mu = nan is not allowed"));
  EXPECT_THAT(complaint_of({{"mu", "0"}}), HasSubstr("mu must be above 0"));
  EXPECT_THAT(complaint_of({{"advantage", "1"}}), HasSubstr("advantage must be strictly between 0 and 1"));
}

/// In any order: one unmet target is enough to refuse.
TEST(Targets, EveryStatedTargetMustBeMet) {
  const Curve curve = analyze(parse("gaussian(sigma=2)"));  // mu is 0.5, the advantage 0.197
  const std::map<std::string, std::string, std::less<>> met = {{"epsilon", "3"},     {"delta", "1e-5"}, {"mu", "0.5000001"},
                                                               {"advantage", "0.2"}, {"fpr", "0.01"},   {"tpr", "0.04"}};
  EXPECT_EQ(meets(curve, read(met)), Met::yes);
  EXPECT_NO_THROW(require_met(curve, read(met)));
  for (const auto& [word, value] :
       {std::pair{"epsilon", "0.1"}, {"delta", "1e-15"}, {"mu", "0.49"}, {"advantage", "0.1"}, {"tpr", "0.02"}}) {
    SCOPED_TRACE(word);
    auto missed = met;
    missed[word] = value;
    EXPECT_EQ(meets(curve, read(missed)), Met::no);
    EXPECT_THROW(require_met(curve, read(missed)), UnmetError);
  }
}

TEST(Targets, AnUndecidedTargetIsNotMet) {
  const Curve curve = analyze(parse("gaussian(sigma=3)"));
  const Targets mu = read({{"mu", "1/3"}});  // the exact value; no enclosure can be below it
  EXPECT_EQ(meets(curve, mu), Met::undecided);
  EXPECT_THROW(require_met(curve, mu), UnmetError);
}

TEST(Targets, AMuMayHaveASlack) {
  const Curve curve = analyze(parse("gaussian(sigma=1) | poisson(rate=0.01) | repeat(100)"));
  EXPECT_EQ(meets(curve, read({{"mu", "0.3"}, {"slack", "1e-5"}})), Met::yes);
  EXPECT_EQ(meets(curve, read({{"mu", "0.3"}})), Met::no);
  EXPECT_EQ(to_string(read({{"mu", "0.3"}, {"slack", "1e-5"}, {"advantage", "0.1"}})), "mu = 0.3, slack = 1e-5 and advantage = 0.1");
}

/// 0.1 is not a double: only the text of the plan shows that (0.1, 0.1) holds at (0.1, 0.1).
TEST(Targets, AGuaranteeThatThePlanStatesIsMet) {
  EXPECT_EQ(meets(analyze(parse("dp(epsilon=0.1, delta=0.1)")), read({{"epsilon", "0.1"}, {"delta", "0.1"}})), Met::yes);
}

}  // namespace
}  // namespace tradeoff::detail
