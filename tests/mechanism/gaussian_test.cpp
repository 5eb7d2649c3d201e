// SPDX-License-Identifier: Apache-2.0
// The clip norm of Gaussian noise and the sensitivity that follows from it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tradeoff/analyze.h"
#include "tradeoff/error.h"

// [clip-norm]
namespace tradeoff {
namespace {

using ::testing::HasSubstr;

Interval delta(const std::string& plan, Neighbours neighbours) { return analyze(parse(plan), neighbours).delta_at(Interval::exactly(1)); }

TEST(ClipNorm, IsTheSensitivityAndTwiceItForAReplacedRecord) {
  for (const Neighbours same : {Neighbours::add_remove, Neighbours::zero_out})
    EXPECT_EQ(delta("gaussian(2, clip=3)", same), delta("gaussian(2, sensitivity=3)", same));
  EXPECT_EQ(delta("gaussian(2, clip=3)", Neighbours::replace_one), delta("gaussian(2, sensitivity=6)", Neighbours::replace_one));
  EXPECT_EQ(delta("gaussian(2)", Neighbours::replace_one), delta("gaussian(2, sensitivity=1)", Neighbours::replace_one));
}

template <class Error>
std::string refusal(const std::string& plan, Neighbours neighbours) {
  try {
    (void)analyze(parse(plan), neighbours);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(ClipNorm, NeedsNeighboursAndExcludesSensitivity) {
  EXPECT_THAT(refusal<DomainError>("gaussian(1, clip=1)", Neighbours::unstated), HasSubstr("state them, or write sensitivity"));
  EXPECT_THAT(refusal<ParseError>("gaussian(1, sensitivity=1, clip=1)", Neighbours::add_remove), HasSubstr("does not go with"));
  EXPECT_THAT(refusal<DomainError>("gaussian(1, clip=-1)", Neighbours::add_remove), HasSubstr("clip = -1 is not allowed"));
}

}  // namespace
}  // namespace tradeoff
