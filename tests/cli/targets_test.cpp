// SPDX-License-Identifier: Apache-2.0
// Every verb that takes targets checks a plan against all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "run_command.h"

namespace tradeoff::detail::test {
namespace {

using testing::HasSubstr;

Outcome sgd(std::vector<std::string> more) {
  std::vector<std::string> arguments = {"sgd", "--batch", "256", "--examples", "60000", "--delta", "1e-5", "--quiet"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_command(arguments);
}

TEST(Targets, ARunOfTrainingIsRefusedUnlessItMeetsAllOfThem) {
  const std::vector<std::string> run = {"--noise-multiplier", "1.1", "--epochs", "60"};  // epsilon 2.382, mu 0.581 with slack 1e-5
  const auto with = [&](std::vector<std::string> targets) {
    targets.insert(targets.begin(), run.begin(), run.end());
    return sgd(targets);
  };
  EXPECT_EQ(with({}).code, 0);
  EXPECT_EQ(with({"--epsilon", "2.4", "--mu", "0.6", "--slack", "1e-5", "--advantage", "0.23"}).code, 0);
  const Outcome refused = with({"--epsilon", "2.3"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, HasSubstr("the target epsilon = 2.3, delta = 1e-5 is not met"));
  EXPECT_EQ(with({"--epsilon", "2.4", "--advantage", "0.2"}).code, 1);
  EXPECT_EQ(with({"--epsilon", "2.4", "--mu", "0.6"}).code, 1);
  EXPECT_EQ(with({"--slack", "1e-5"}).code, 3);
}

TEST(Targets, TheNoiseOfARunIsFound) {
  const Outcome found = sgd({"--epsilon", "2", "--steps", "100", "--json"});
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_THAT(found.out, HasSubstr("repeat(100)"));
  EXPECT_THAT(found.out, HasSubstr("Sampling: poisson"));
  EXPECT_THAT(found.out, HasSubstr("Noise multiplier: standard deviation of the noise on the sum of clipped gradients / clipping norm"));
  EXPECT_EQ(sgd({"--steps", "100"}).code, 3);
  EXPECT_THAT(sgd({"--noise-multiplier", "1", "--epochs", "60,000"}).err, HasSubstr("--epochs = 60,000 is not a number"));
  EXPECT_THAT(sgd({"--noise-multiplier", "1", "--epochs", "1", "--steps", "1"}).err, HasSubstr("either epochs or steps"));
}

TEST(Targets, CalibrationMeetsAllOfThem) {
  const Outcome both = run_command({"calibrate", "--epsilon", "1", "--delta", "1e-5", "--mu", "0.2", "gaussian(sigma=?)", "--quiet"});
  EXPECT_EQ(both.out, "sigma = 5 meets epsilon = 1, delta = 1e-5 and mu = 0.2\n");
  const Outcome slack =
      run_command({"calibrate", "--mu", "0.3", "--slack", "1e-5", "gaussian(sigma=?) | poisson(rate=0.01) | repeat(100)"});
  EXPECT_EQ(slack.code, 0) << slack.err;
  EXPECT_THAT(slack.out, HasSubstr("add-remove neighbours"));
  EXPECT_EQ(run_command({"calibrate", "--slack", "0.1", "gaussian(sigma=?)"}).code, 3);
}

/// 0.60653066 is the smallest value rounded up to eight digits; seven digits do not suffice.
TEST(Targets, ThePrintedValuePassesTheCheck) {
  for (const auto& [plan, epsilon, delta] : {std::tuple{"truncated_laplace(bound=4, scale=", "0.6065306597126334", "0.04042963913302481"},
                                             {"discrete_gaussian(sigma=", "1.3591409142295227", "0.1604424278043515"},
                                             {"discrete_gaussian(sigma=", "4", "0.025"},
                                             {"truncated_laplace(bound=4, scale=", "0.8", "0.03"}}) {
    SCOPED_TRACE(plan + std::string(epsilon));
    const Outcome found = run_command({"calibrate", "--epsilon", epsilon, "--delta", delta, plan + std::string("?)"), "--quiet"});
    ASSERT_EQ(found.code, 0) << found.err;
    const std::size_t start = found.out.find("= ") + 2;
    const std::string printed = found.out.substr(start, found.out.find(" meets") - start);
    EXPECT_EQ(run_command({"check", "--epsilon", epsilon, "--delta", delta, plan + printed + ")"}).code, 0) << printed;
  }
  const Outcome told = run_command({"calibrate", "--epsilon", "4", "--delta", "0.025", "discrete_gaussian(sigma=?)"});
  EXPECT_THAT(told.out, HasSubstr("a larger one need not"));
}

}  // namespace
}  // namespace tradeoff::detail::test
