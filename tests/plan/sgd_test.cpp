// SPDX-License-Identifier: Apache-2.0
#include "tradeoff/sgd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/assumed_poisson.h"
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

/// A rate is never lowered by more than the rounding of the double it is.
TEST(Sgd, ARateIsAQuotient) {
  const auto of = [](const std::string& rate, std::optional<std::uint64_t> examples = {}, Sampling sampling = Sampling::poisson) {
    const BatchOfRate found = batch_of_rate(read_number(rate), examples, sampling);
    return std::pair(found.batch, found.examples);
  };
  using Sizes = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(of("0.004", 60000), Sizes(240, 60000));
  EXPECT_EQ(of("0.00426666666667", 60000), Sizes(256, 60000)) << "256/60000, printed with few digits";
  EXPECT_EQ(of("256/60000"), Sizes(8, 1875));
  EXPECT_EQ(of("0.01"), Sizes(1, 100));
  EXPECT_EQ(of("1"), Sizes(1, 1));
  EXPECT_EQ(of("1e-12"), Sizes(1, 1'000'000'000'000));
  EXPECT_EQ(of("1e-15"), Sizes(1, 1'000'000'000'000)) << "rounded up";
  EXPECT_EQ(of("0.2e-1/0.4"), Sizes(1, 20));
  for (std::uint64_t batches = 2; batches < 3000; batches += 7) {
    const Number printed = exact_number(1.0 / static_cast<double>(batches));
    EXPECT_EQ(of(printed.text), Sizes(1, batches)) << printed.text;
    EXPECT_EQ(of(printed.text, 7919), batches == 7919 ? Sizes(1, 7919) : Sizes(1, batches));
  }
  for (double rate = 0.9; rate > 1e-9; rate *= 0.77) {
    const auto [batch, examples] = of(exact_number(rate).text);
    EXPECT_LE(examples, 1'000'000'000'000U);
    EXPECT_GE(static_cast<double>(batch) / static_cast<double>(examples), rate * (1 - 1e-15)) << rate;
    EXPECT_LE(static_cast<double>(batch) / static_cast<double>(examples), rate * (1 + 1e-15) + 1e-12) << rate;
  }
  EXPECT_THROW(of("0"), DomainError);
  EXPECT_THROW(of("1.5"), DomainError);
  EXPECT_THROW(of("0.5", 0), DomainError);
  EXPECT_THROW(of("0.5", {}, Sampling::fixed), DomainError);
  EXPECT_THROW(of("1/235", 60000, Sampling::shuffled), DomainError);
}

SgdRun run_of(const char* noise, Sampling sampling) { return {noise, 256, 60000, read_number("60"), {}, sampling, Neighbours::unstated}; }

/// The noise multiplier has one unit: under replace-one neighbours the same noise has half the effect.
TEST(Sgd, TheSensitivityFollowsTheNeighbours) {
  EXPECT_EQ(to_plan(run_of("1.1", Sampling::poisson)).plan, "gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)");
  EXPECT_EQ(to_plan(run_of("1.1", Sampling::fixed)).plan,
            "gaussian(sigma=1.1, sensitivity=2) | sample(size=256, of=60000) | repeat(14063)");
  EXPECT_EQ(to_plan(run_of("1.1", Sampling::shuffled)).plan, "gaussian(sigma=1.1) | shuffle(batches=235, passes=60)");
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
  EXPECT_THAT(wrong([](SgdRun& run) {
                run.sampling = Sampling::fixed;
                run.neighbours = Neighbours::zero_out;
              }),
              HasSubstr("neighbours = zero-out is not allowed; it must be replace-one for fixed batches"));
  EXPECT_THAT(wrong([](SgdRun& run) {
                run.sampling = Sampling::shuffled;
                run.neighbours = Neighbours::add_remove;
              }),
              HasSubstr("it must be zero-out or replace-one for shuffled batches"));
  EXPECT_THROW(static_cast<void>(read_sampling("loader")), DomainError);
}

/// What stands in a plan for each way to draw batches, under each relation.
TEST(Sgd, EverySamplerHasItsOwnWord) {
  const auto plan = [](Sampling sampling, Neighbours neighbours, auto change) {
    SgdRun run{"0.6", 1, 1000, read_number("2"), {}, sampling, neighbours};
    change(run);
    return to_plan(run).plan;
  };
  const auto same = [](SgdRun&) {};
  const auto reused = [](SgdRun& run) { run.reuse = true; };
  EXPECT_EQ(plan(Sampling::poisson, Neighbours::replace_one, same), "gaussian(sigma=0.6, clip=1) | poisson(rate=1/1000) | repeat(2000)");
  EXPECT_EQ(plan(Sampling::poisson, Neighbours::zero_out, same), "gaussian(sigma=0.6) | poisson(rate=1/1000) | repeat(2000)");
  EXPECT_EQ(plan(Sampling::shuffled, Neighbours::unstated, same), "gaussian(sigma=0.6) | shuffle(batches=1000, passes=2)");
  EXPECT_EQ(plan(Sampling::shuffled, Neighbours::replace_one, reused),
            "gaussian(sigma=0.6, clip=1) | shuffle(batches=1000, passes=2, reuse=true)");
  EXPECT_EQ(plan(Sampling::allocated, Neighbours::unstated, same), "gaussian(sigma=0.6) | allocate(steps=1000) | repeat(2)");
  EXPECT_EQ(plan(Sampling::allocated, Neighbours::unstated, reused), "gaussian(sigma=0.6) | allocate(steps=1000, passes=2)");
  EXPECT_EQ(plan(Sampling::cyclic, Neighbours::unstated, [](SgdRun& run) { run.groups = 10; }),
            "gaussian(sigma=0.6) | cyclic(groups=10, rate=10/1000, steps=2000)");
  // With a record added or removed the number of examples is no public number.
  const auto capped = [](SgdRun& run) { run.at_most = 7; };
  EXPECT_EQ(plan(Sampling::poisson, Neighbours::add_remove, capped),
            "gaussian(sigma=0.6) | poisson(rate=1/1000, of=1000, of_is=at_most, at_most=7) | repeat(2000)");
  EXPECT_EQ(plan(Sampling::poisson, Neighbours::zero_out, capped),
            "gaussian(sigma=0.6) | poisson(rate=1/1000, of=1000, at_most=7) | repeat(2000)");
  EXPECT_EQ(plan(Sampling::poisson, Neighbours::add_remove, [](SgdRun& run) { run.at_most = 1000; }),
            "gaussian(sigma=0.6) | poisson(rate=1/1000) | repeat(2000)");
  EXPECT_EQ(plan(Sampling::poisson, Neighbours::unstated, [](SgdRun& run) { run.per_user = 4; }),
            "gaussian(sigma=0.6) | poisson(rate=1/1000, examples=4) | repeat(2000)");
}

/// An epoch that is not finished counts as a whole one, and the remark says so.
TEST(Sgd, APartOfAnEpochIsCountedAsOne) {
  SgdRun run{"1", 256, 60000, read_number("2.5"), {}, Sampling::shuffled, Neighbours::unstated};
  EXPECT_THAT(to_plan(run).plan, HasSubstr("shuffle(batches=235, passes=3)"));
  EXPECT_THAT(to_plan(run).remark, HasSubstr("counted as 3 whole epochs"));
  run.epochs.reset();
  run.steps = 236;
  EXPECT_THAT(to_plan(run).plan, HasSubstr("passes=2"));
  run.steps = 470;
  EXPECT_THAT(to_plan(run).plan, HasSubstr("passes=2"));
  EXPECT_EQ(to_plan(run).remark.find("counted"), std::string::npos);
}

TEST(Sgd, SeveralReleasesOnOneBatchAreOneStep) {
  SgdRun run = run_of("2", Sampling::poisson);
  run.layers = 4;
  EXPECT_EQ(to_plan(run).plan, "gaussian(sigma=2) | repeat(4) | poisson(rate=256/60000) | repeat(14063)");
  EXPECT_EQ(release_noise(run).total.lo, 1);
  run.count_noise = read_number("10");
  EXPECT_EQ(to_plan(run).plan,
            "(gaussian(sigma=2) | repeat(4); gaussian(sigma=10, sensitivity=1/2)) | poisson(rate=256/60000) | repeat(14063)");
  EXPECT_THAT(to_plan(run).releases, HasSubstr("-1/2 or 1/2"));
  run.neighbours = Neighbours::replace_one;
  run.further_noise_multipliers = {read_number("7")};
  EXPECT_EQ(to_plan(run).plan,
            "(gaussian(sigma=2, clip=1) | repeat(4); gaussian(sigma=10, clip=1/2); gaussian(sigma=7, clip=1)) | poisson(rate=256/60000) | "
            "repeat(14063)");
  run.sampling = Sampling::fixed;
  run.layers = 1;
  EXPECT_THAT(to_plan(run).plan, HasSubstr("(gaussian(sigma=2, sensitivity=2); gaussian(sigma=10, sensitivity=1); "));
}

/// 1/total^2 = 1/gradients^2 + 1/(2 count)^2, in both directions: 1/3^2 + 1/4^2 = (5/12)^2.
TEST(Sgd, AdaptiveClippingSplitsTheNoise) {
  SgdRun run = run_of("3", Sampling::poisson);
  run.count_noise = read_number("2");
  EXPECT_LE(release_noise(run).total.lo, 2.4);
  EXPECT_GE(release_noise(run).total.hi, 2.4);
  EXPECT_LT(release_noise(run).total.hi - release_noise(run).total.lo, 1e-14);
  run.noise_multiplier = "2.4";
  run.noise_is_total = true;
  EXPECT_LE(release_noise(run).gradients.lo, 3);
  EXPECT_GE(release_noise(run).gradients.hi, 3);
  EXPECT_EQ(to_plan(run).plan, "gaussian(sigma=2.4) | poisson(rate=256/60000) | repeat(14063)");
  run.noise_multiplier = "4";
  EXPECT_THAT(complaint_of(run), HasSubstr("total noise multiplier = 4 is not allowed"));
}

TEST(Sgd, CorrelatedNoiseStatesWhoTakesPartWhen) {
  SgdRun run{"2", 100, 10000, read_number("3"), {}, Sampling::shuffled, Neighbours::unstated};
  run.matrix = "kind=square_root";
  EXPECT_EQ(to_plan(run).plan, "matrix(sigma=2, kind=square_root, steps=300, participations=3, clip=1)");
  run.reuse = true;
  EXPECT_EQ(to_plan(run).plan, "matrix(sigma=2, kind=square_root, steps=300, participations=3, separation=100, pattern=every, clip=1)");
  run.reuse = false;
  run.sampling = Sampling::cyclic;
  run.groups = 3;
  run.matrix = "coefficients=[1, 0.5, 0.25]";
  run.neighbours = Neighbours::replace_one;
  EXPECT_EQ(to_plan(run).plan,
            "matrix(sigma=2, coefficients=[1, 0.5, 0.25], steps=300, clip=1) | cyclic(groups=3, rate=300/10000, steps=300, by=position)");
  run.sampling = Sampling::poisson;
  run.groups.reset();
  EXPECT_THAT(complaint_of(run), HasSubstr("no amplification by poisson sampling is proved"));
}

TEST(Sgd, WhatIsNotProvedIsRefused) {
  const auto wrong = [](Sampling sampling, auto change) {
    SgdRun run = run_of("1.1", sampling);
    change(run);
    return complaint_of(run);
  };
  EXPECT_THAT(wrong(Sampling::fixed, [](SgdRun& run) { run.per_user = 2; }), HasSubstr("accounted for with poisson batches only"));
  EXPECT_THAT(wrong(Sampling::allocated, [](SgdRun& run) { run.at_most = 300; }), HasSubstr("accounted for with poisson batches only"));
  EXPECT_THAT(wrong(Sampling::poisson, [](SgdRun& run) { run.groups = 3; }), HasSubstr("accounted for with cyclic batches only"));
  EXPECT_THAT(wrong(Sampling::cyclic, [](SgdRun&) {}), HasSubstr("cyclic batches need groups"));
  EXPECT_THAT(wrong(Sampling::cyclic, [](SgdRun& run) { run.groups = 235; }), HasSubstr("from 1 to examples / batch = 234"));
  EXPECT_THAT(wrong(Sampling::poisson, [](SgdRun& run) { run.reuse = true; }), HasSubstr("reuse is for shuffled and allocated"));
  EXPECT_THAT(wrong(Sampling::poisson,
                    [](SgdRun& run) {
                      run.per_user = 2;
                      run.at_most = 300;
                    }),
              HasSubstr("displace each other"));
  EXPECT_THAT(wrong(Sampling::poisson, [](SgdRun& run) { run.layers = 0; }), HasSubstr("layers = 0 is not allowed"));
}

/// What a Poisson accountant takes the plan for: the same rate, as many steps.
TEST(AssumedPoisson, EverySamplerBecomesPoisson) {
  const auto assumed = [](const char* text) {
    const auto plan = assumed_poisson(parse(text));
    return plan ? to_string(*plan) : std::string("none");
  };
  EXPECT_EQ(assumed("gaussian(1) | poisson(0.01) | repeat(10)"), "none");
  EXPECT_EQ(assumed("gaussian(1) | poisson(rate=0.01, of=1000, at_most=20) | repeat(10)"),
            "gaussian(sigma=1) | poisson(rate=0.01) | repeat(10)");
  EXPECT_EQ(assumed("(gaussian(2) | poisson(rate=0.5, of=9, at_most=2)) | repeat(3)\nlaplace(1)"),
            "(gaussian(sigma=2) | poisson(rate=0.5)) | repeat(3)\nlaplace(scale=1)");
  EXPECT_EQ(assumed("gaussian(0.6) | shuffle(batches=1000, passes=3)"), "gaussian(sigma=0.6) | poisson(rate=1/1000) | repeat(3000)");
  EXPECT_EQ(assumed("gaussian(1) | allocate(steps=100, times=2) | repeat(5)"),
            "gaussian(sigma=1) | poisson(rate=2/100) | repeat(100) | repeat(5)");
}

}  // namespace
}  // namespace tradeoff::detail
