// SPDX-License-Identifier: Apache-2.0
#include "plan/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "numeric/number_text.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

using testing::HasSubstr;

Value number(const std::string& text) { return {Number{text, *numeric::enclose_decimal(text)}}; }
Call gaussian(Value sigma) { return {"gaussian", {{"sigma", std::move(sigma)}}}; }
Call repeat(const std::string& times) { return {"repeat", {{"times", number(times)}}}; }

/// The error is of this kind, and its message names the call, the argument, its value and what is allowed.
template <typename Refusal, typename Read>
void expect_refused(const Call& call, Read read, const std::string& message) {
  try {
    (void)read(Arguments(call));
    FAIL() << "not refused: " << message;
  } catch (const Refusal& refusal) {
    EXPECT_THAT(refusal.what(), HasSubstr(message));
  }
}

TEST(Arguments, AreReadAsWrittenOrFromTheVocabulary) {
  const Call call = gaussian(number("0.1"));
  const Arguments arguments(call);
  EXPECT_TRUE(arguments.has("sigma"));
  EXPECT_FALSE(arguments.has("sensitivity"));
  const Interval sigma = arguments.positive("sigma");
  EXPECT_LT(sigma.lo, sigma.hi) << "a tenth is no double: it must be enclosed";
  EXPECT_EQ(arguments.positive("sensitivity"), Interval::exactly(1));
  EXPECT_EQ(arguments.written("sigma").text, "0.1");
}

TEST(Arguments, RefuseNumbersOutOfRange) {
  const auto positive = [](const Arguments& of) { return of.positive("sigma"); };
  const auto non_negative = [](const Arguments& of) { return of.non_negative("sigma"); };
  const auto probability = [](const Arguments& of) { return of.probability("sigma"); };
  expect_refused<DomainError>(gaussian(number("0")), positive, "gaussian: sigma = 0 is not allowed; it must be above 0");
  expect_refused<DomainError>(gaussian(number("-1e-300")), non_negative, "gaussian: sigma = -1e-300 is not allowed; it must be 0 or above");
  expect_refused<DomainError>(gaussian(number("1.00000000000000000001")), probability, "it must be between 0 and 1");
  expect_refused<DomainError>(gaussian({Unknown{}}), positive, "sigma = ? can only be calibrated");
  expect_refused<DomainError>(gaussian({std::string("wide")}), positive, "it must be a number");
  expect_refused<DomainError>({"gaussian", {}}, positive, "gaussian: sigma is missing");
}

TEST(Arguments, CountsAreWholeAndWithinTheirLimits) {
  const auto count = [](const Arguments& of) { return of.count("times", 1, 1000); };
  EXPECT_EQ(count(Arguments(repeat("1e3"))), 1000U);
  EXPECT_EQ(count(Arguments(repeat("1"))), 1U);
  expect_refused<DomainError>(repeat("0"), count, "a whole number of at least 1");
  expect_refused<DomainError>(repeat("2.5"), count, "times = 2.5 is not allowed");
  expect_refused<DomainError>(repeat("2.00000000000000000000001"), count, "is not allowed");
  expect_refused<TooLargeError>(repeat("1001"), count, "at most 1000 is supported");
}

TEST(Arguments, ListsHoldNumbersOrPairs) {
  const List numbers{{number("1"), number("2")}};
  const List pairs{{{Tuple{{number("1"), number("0.5")}}}}};
  const Call plain{"curve", {{"points", {numbers}}}};
  const Call paired{"curve", {{"points", {pairs}}}};
  EXPECT_EQ(Arguments(plain).numbers("points").size(), 2U);
  ASSERT_EQ(Arguments(paired).pairs("points").size(), 1U);
  EXPECT_EQ(Arguments(paired).pairs("points").front().second.text, "0.5");
  EXPECT_THROW((void)Arguments(plain).pairs("points"), DomainError);
  EXPECT_THROW((void)Arguments(paired).numbers("points"), DomainError);
}

TEST(Arguments, WordsAreNotNumbers) {
  const auto word = [](const Arguments& of) { return of.word("file"); };
  EXPECT_EQ(word(Arguments({"curve", {{"file", {std::string("table.csv")}}}})), "table.csv");
  expect_refused<DomainError>({"curve", {{"file", number("1")}}}, word, "curve: file = that is not allowed; it must be a word or a string");
}

TEST(Arguments, OfSourcesAreHeldToTheirLimits) {
  const auto analysed = [](const Call& call) { return [&](const Arguments&) { return analyze(Plan{{{call, {}}}}); }; };
  const Call wide{"discrete_gaussian", {{"sigma", number("10000.5")}}};
  expect_refused<TooLargeError>(wide, analysed(wide), "discrete_gaussian: sigma above 10000");
}

}  // namespace
}  // namespace tradeoff::detail
