// SPDX-License-Identifier: Apache-2.0
// Amounts are whole numbers of units: costs are rounded up, caps down, and nothing else is lost.
#include "ledger/amount.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tradeoff::detail::ledger {
namespace {

using testing::Eq;
using testing::Optional;

TEST(Amount, RoundsToTheSafeSide) {
  EXPECT_THAT(to_units(read_number("0.01"), 12, Round::up), Optional(Eq(10'000'000'000)));
  EXPECT_THAT(to_units(read_number("0.01"), 12, Round::down), Optional(Eq(10'000'000'000)));
  EXPECT_THAT(to_units(read_number("1/3"), 12, Round::up), Optional(Eq(333'333'333'334)));
  EXPECT_THAT(to_units(read_number("1/3"), 12, Round::down), Optional(Eq(333'333'333'333)));
  EXPECT_THAT(to_units(1e-300, 12, Round::up), Optional(Eq(1)));
  EXPECT_THAT(to_units(1e-300, 12, Round::down), Optional(Eq(0)));
  EXPECT_THAT(to_units(0.1, 18, Round::up), Optional(Eq(100'000'000'000'000'006)));
  EXPECT_THAT(to_units(0.0, 12, Round::up), Optional(Eq(0)));
  EXPECT_THAT(to_units(5e-324, 12, Round::up), Optional(Eq(1)));
}

TEST(Amount, RefusesWhatDoesNotFit) {
  EXPECT_EQ(to_units(std::numeric_limits<double>::infinity(), 12, Round::up), std::nullopt);
  EXPECT_EQ(to_units(std::nan(""), 12, Round::up), std::nullopt);
  EXPECT_EQ(to_units(-1.0, 12, Round::up), std::nullopt);
  EXPECT_EQ(to_units(5e6, 12, Round::up), std::nullopt);
  EXPECT_EQ(to_units(read_number("1e30"), 12, Round::up), std::nullopt);
  EXPECT_THAT(to_units(4e6, 12, Round::up), Optional(Eq(most_units)));
}

TEST(Amount, IsPrintedExactly) {
  EXPECT_EQ(to_decimal(10'000'000'000, 12), "0.01");
  EXPECT_EQ(to_decimal(0, 12), "0");
  EXPECT_EQ(to_decimal(1'000'000'000'001, 12), "1.000000000001");
  EXPECT_EQ(to_decimal(most_units, 12), "4000000");
}

}  // namespace
}  // namespace tradeoff::detail::ledger
