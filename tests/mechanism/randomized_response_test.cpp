// SPDX-License-Identifier: Apache-2.0
// [randomized-response]
#include "mechanism/randomized_response.h"

#include <gtest/gtest.h>

#include <cmath>

#include "loss/atoms.h"
#include "numeric/arithmetic.h"
#include "support/matchers.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;

TEST(RandomizedResponse, ProfileMatchesTheClosedForm) {
  for (const auto& entry : test::golden_group("f_dp.json", "krr_delta")) {
    const auto& in = entry["inputs"];
    const LossPointer loss = randomized_response(test::golden_interval(in["eps"]), in["k"].get<std::uint64_t>());
    EXPECT_THAT(loss->delta(Direction::remove, test::golden_interval(in["t"])), Encloses(entry["value"].get<std::string>()));
  }
}

TEST(RandomizedResponse, LawHasMassOneUnderBothHypotheses) {
  for (const std::uint64_t choices : {2U, 3U, 1000U}) {
    for (const double epsilon : {0.0, 1e-9, 1.0, 30.0, 800.0}) {
      const LossPointer loss = randomized_response(Interval::exactly(epsilon), choices);
      Interval under_p = Interval::exactly(0);
      Interval under_q = Interval::exactly(0);
      for (const Atom& atom : loss->atoms(Direction::remove)->finite) {
        under_p = under_p + atom.mass;
        under_q = under_q + atom.mass * exp(-atom.loss);
      }
      EXPECT_THAT(under_p, Encloses(1.0)) << choices << " " << epsilon;
      EXPECT_THAT(under_q, Encloses(1.0)) << choices << " " << epsilon;
    }
  }
}

}  // namespace
}  // namespace tradeoff::detail
