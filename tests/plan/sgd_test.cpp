// SPDX-License-Identifier: Apache-2.0
#include "tradeoff/sgd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

using testing::HasSubstr;

/// In whole numbers: a/b passes over n examples in batches of m are the ceiling of a n / (b m) steps. Many of these quotients are whole,
/// where a rounding error would add a step.
TEST(Sgd, EpochsToStepsIsExact) {
  for (std::uint64_t top = 1; top <= 30; ++top)
    for (const auto& [spelled, bottom] : {std::pair{"/10", 10U}, {"/3", 3U}, {"", 1U}, {"e-2", 100U}})
      for (std::uint64_t examples = 1; examples <= 30; examples += 3)
        for (std::uint64_t batch = 1; batch <= examples; ++batch) {
          const std::string epochs = std::to_string(top) + spelled;
          EXPECT_EQ(steps_of_epochs(read_number(epochs), batch, examples), (top * examples + bottom * batch - 1) / (bottom * batch))
              << epochs << " of " << examples << " by " << batch;
        }
  EXPECT_EQ(steps_of_epochs(read_number("0.3"), 1, 10), 3U);
  EXPECT_EQ(steps_of_epochs(read_number("0.30000000000000000000000000000000000001"), 1, 10), 4U);
  EXPECT_EQ(steps_of_epochs(read_number("1"), 1, 1'000'000'000'000), 1'000'000'000'000U);
  EXPECT_EQ(steps_of_epochs(read_number("0.7"), 999'999'999'999, 1'000'000'000'000), 1U);
  EXPECT_EQ(steps_of_epochs(read_number("1e-300"), 1, 10), 1U);
}

SgdRun run_of(const char* noise, Sampling sampling) { return {noise, 256, 60000, read_number("60"), {}, sampling, Neighbours::unstated}; }

/// The noise multiplier has one unit: under replace-one neighbours the same noise has half the effect.
TEST(Sgd, TheSensitivityFollowsTheNeighbours) {
  EXPECT_EQ(to_plan(run_of("1.1", Sampling::poisson)).plan, "gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)");
  EXPECT_EQ(to_plan(run_of("1.1", Sampling::fixed)).plan,
            "gaussian(sigma=1.1, sensitivity=2) | sample(size=256, of=60000) | repeat(14063)");
  EXPECT_EQ(to_plan(run_of("1.1", Sampling::shuffled)).plan, "gaussian(sigma=1.1, sensitivity=2) | repeat(60)");
  EXPECT_EQ(to_plan(run_of("?", Sampling::poisson)).plan, "gaussian(sigma=?) | poisson(rate=256/60000) | repeat(14063)");
  EXPECT_THAT(to_plan(run_of("1.1", Sampling::fixed)).unit, HasSubstr("standard deviation of the noise"));
  EXPECT_EQ(SgdRun{}.sampling, Sampling::poisson);
  SgdRun counted = run_of("2", Sampling::fixed);
  counted.epochs.reset();
  counted.steps = 7;
  EXPECT_EQ(to_plan(counted).plan, "gaussian(sigma=2, sensitivity=2) | sample(size=256, of=60000) | repeat(7)");
}

std::string complaint_of(const SgdRun& run) {
  try {
    return to_plan(run).plan;
  } catch (const DomainError& error) {
    return error.what();
  }
}

TEST(Sgd, InvalidValuesAreRefusedByName) {
  const auto wrong = [](auto change) {
    SgdRun run = run_of("1.1", Sampling::poisson);
    change(run);
    return complaint_of(run);
  };
  EXPECT_THAT(wrong([](SgdRun& run) { run.batch = 60001; }), HasSubstr("batch = 60001 is not allowed"));
  EXPECT_THAT(wrong([](SgdRun& run) { run.examples = 0; }), HasSubstr("examples = 0 is not allowed"));
  EXPECT_THAT(wrong([](SgdRun& run) { run.epochs = read_number("0"); }), HasSubstr("epochs = 0 is not allowed"));
  EXPECT_THAT(wrong([](SgdRun& run) { run.epochs = read_number("-1"); }), HasSubstr("epochs = -1 is not allowed"));
  EXPECT_THAT(wrong([](SgdRun& run) { run.epochs = read_number("1e300"); }), HasSubstr("at most 1e12 steps"));
  EXPECT_THAT(wrong([](SgdRun& run) { run.steps = 5; }), HasSubstr("either epochs or steps"));
  EXPECT_THAT(wrong([](SgdRun& run) { run.noise_multiplier = "0"; }), HasSubstr("noise multiplier = 0 is not allowed"));
  EXPECT_THAT(wrong([](SgdRun& run) { run.neighbours = Neighbours::replace_one; }), HasSubstr("neighbours = replace-one is not allowed"));
  EXPECT_THAT(wrong([](SgdRun& run) {
                run.sampling = Sampling::shuffled;
                run.steps = 5;
                run.epochs.reset();
              }),
              HasSubstr("state epochs instead of steps"));
  EXPECT_THROW(static_cast<void>(read_sampling("loader")), DomainError);
}

}  // namespace
}  // namespace tradeoff::detail
