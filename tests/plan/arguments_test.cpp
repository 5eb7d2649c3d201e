// SPDX-License-Identifier: Apache-2.0
#include "plan/arguments.h"

#include <gtest/gtest.h>

#include "tradeoff/error.h"

namespace tradeoff {
namespace {

Call call_of(const char* text) { return std::get<Call>(parse(text).lines[0].source); }

TEST(Arguments, FallBackToTheVocabulary) {
  const Call call = call_of("gaussian(2.5)");
  EXPECT_EQ(number_argument(call, Role::source, "sigma").text, "2.5");
  EXPECT_EQ(number_argument(call, Role::source, "sensitivity").value, Interval::exactly(1));
  EXPECT_EQ(find_argument(call, "sensitivity"), nullptr);
  EXPECT_NE(find_argument(call, "sigma"), nullptr);
  EXPECT_EQ(count_argument(call_of("randomized_response(1)"), Role::source, "choices"), 2);
}

TEST(Arguments, RefuseWhatIsNoNumber) {
  EXPECT_THROW((void)number_argument(call_of("gaussian(?)"), Role::source, "sigma"), DomainError);
  EXPECT_THROW((void)number_argument(call_of("profile(f)"), Role::source, "file"), DomainError);
  EXPECT_THROW((void)number_argument(call_of("gaussian(1)"), Role::source, "sigmund"), DomainError);
  EXPECT_THROW((void)number_argument(Call{"gaussian", {}, 0}, Role::source, "sigma"), DomainError);
}

TEST(Arguments, CountFromZeroToTwoToThe53) {
  const auto users = [](const char* count) {
    return count_argument(call_of(("icea(" + std::string(count) + ", 1)").c_str()), Role::source, "users");
  };
  EXPECT_EQ(users("0"), 0);
  EXPECT_EQ(users("9007199254740992"), 9007199254740992);
  EXPECT_THROW((void)users("-1"), DomainError);
  EXPECT_THROW((void)users("9007199254740993"), TooLargeError);
  EXPECT_THROW((void)users("1e300"), TooLargeError);
  EXPECT_THROW((void)count_argument(call_of("gaussian(1.5)"), Role::source, "sigma"), DomainError);
}

}  // namespace
}  // namespace tradeoff
