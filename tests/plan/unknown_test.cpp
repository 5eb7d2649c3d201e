// SPDX-License-Identifier: Apache-2.0
#include "plan/unknown.h"

#include <gtest/gtest.h>

#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

void expect_place(const char* text, Role role, const char* call, const char* parameter, std::size_t offset) {
  const UnknownPlace place = find_unknown(parse(text));
  EXPECT_EQ(place.role, role) << text;
  EXPECT_EQ(place.call, call) << text;
  EXPECT_EQ(place.parameter, parameter) << text;
  EXPECT_EQ(place.offset, offset) << text;
}

TEST(FindUnknown, NamesTheCallAndTheParameter) {
  expect_place("gaussian(sigma=?) | repeat(3)", Role::source, "gaussian", "sigma", 15);
  expect_place("gdp(1); gdp(1) | repeat(?)", Role::operation, "repeat", "times", 24);
  expect_place("(gdp(1); laplace(?)) | repeat(2)", Role::source, "laplace", "scale", 17);
  expect_place("mixture([(0.5, gdp(1)), (0.5, (gdp(?) | repeat(2)))])", Role::source, "gdp", "mu", 35);
  expect_place("constraints([(1, ?)])", Role::source, "constraints", "points", 17);
  expect_place("profile(points=[(1, 0.1)], tail=gaussian(k=1, s=?))", Role::tail, "gaussian", "s", 48);
}

TEST(FindUnknown, RefusesNoneAndSeveral) {
  EXPECT_EQ(count_unknowns(parse("gdp(1)")), 0U);
  EXPECT_EQ(count_unknowns(parse("gdp(?) | repeat(?)")), 2U);
  EXPECT_THROW((void)find_unknown(parse("gdp(1)")), ParseError);
  try {
    (void)find_unknown(parse("gdp(?) | repeat(?)"));
    FAIL();
  } catch (const ParseError& error) {
    EXPECT_EQ(error.offset(), 16U);
  }
}

TEST(Substitute, PutsTheNumberInPlace) {
  for (const char* text :
       {"gaussian(sigma=?) | repeat(3)", "(gdp(?)) | repeat(2)", "mixture([(0.5, gdp(1)), (0.5, (gdp(1) | poisson(?)))])",
        "pair([0.5, ?], [1])", "profile(f, tail=gaussian(?, 2))"}) {
    std::string expected = text;
    expected.replace(expected.find('?'), 1, "1/3");
    EXPECT_EQ(substitute(parse(text), read_number("1/3")), parse(expected)) << text;
  }
}

}  // namespace
}  // namespace tradeoff::detail
