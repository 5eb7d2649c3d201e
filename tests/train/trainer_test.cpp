// SPDX-License-Identifier: Apache-2.0
// Whole runs: they learn, their certificate is the accountant's, they can be interrupted. [private-step]
#include "train/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "small_run.h"
#include "support/scale.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"
#include "train/audit_bounds.h"
#include "train/certificate.h"
#include "train/checkpoint.h"

namespace tradeoff::detail::test {
namespace {

using testing::HasSubstr;
using train::Examples;
using train::FixedSizeBatches;
using train::PoissonBatches;
using train::Progress;
using train::Trainer;
using train::TrainingTerms;

Progress run(Trainer& trainer) {
  while (!trainer.is_done()) trainer.step();
  return trainer.progress();
}

TEST(Trainer, Learns) {
  const Examples examples = random_examples(2000, 6, 1), test = random_examples(500, 6, 2);
  for (const train::Batches& batches : {train::Batches(FixedSizeBatches(200, 2000)), train::Batches(PoissonBatches(200, 2000))}) {
    ReplayForTests words(3);
    TrainingTerms terms = small_terms(batches, examples, 0, "1", 300);
    terms.learning_rate = 2;
    Trainer trainer(terms, examples, words);
    EXPECT_LT(train::evaluate(trainer.averaged_model(), test).accuracy, 0.7);
    static_cast<void>(run(trainer));
    EXPECT_GT(train::evaluate(trainer.averaged_model(), test).accuracy, 0.85);
  }
}

TEST(Trainer, LearnsWithAConvolution) {
  Examples examples = random_images(600, 12, 12, 1);
  for (std::size_t i = 0; i < examples.size(); ++i) {  // stripes that lie down or stand up
    examples.labels[i] %= 2;
    for (Eigen::Index pixel = 0; pixel < 144; ++pixel) {
      const bool bright = (examples.labels[i] == 0 ? pixel / 12 : pixel % 12) % 4 < 2;
      std::int16_t& value = examples.inputs(static_cast<Eigen::Index>(i), pixel);
      value = static_cast<std::int16_t>(value / 4 + (bright ? 512 : 0));
    }
  }
  TrainingTerms terms = small_terms(FixedSizeBatches(100, 600), examples, 0, "0.5", 60);
  terms.shape = {144, 4, 0, 3, 12, 12};
  terms.learning_rate = 1;
  ReplayForTests words(3);
  Trainer trainer(terms, examples, words);
  static_cast<void>(run(trainer));
  EXPECT_GT(train::evaluate(trainer.averaged_model(), examples).accuracy, 0.85);
  EXPECT_EQ(trainer.tally().zeroed, 0U);
}

/// The batches of real steps, as sets of bits. Every record has its own value, and almost no noise is added, so the changed rows of the
/// weights show who took part.
std::vector<std::uint64_t> batches_of(const train::Batches& batches, std::size_t records, int steps) {
  Examples examples;
  examples.classes = 2;
  examples.inputs.setZero(static_cast<Eigen::Index>(records), static_cast<Eigen::Index>(records + 1));
  for (Eigen::Index i = 0; i < examples.inputs.rows(); ++i) examples.inputs(i, i) = 8 * train::activation_one;
  for (std::size_t i = 0; i < records; ++i) examples.labels.push_back(static_cast<std::uint8_t>(i % 2));
  constexpr double moved = 1e-5;  // by a record, times its clipped gradient; small enough that nothing is learnt
  const auto size = static_cast<double>(std::visit([](const auto& one) { return one.size(); }, batches));
  TrainingTerms terms = small_terms(batches, examples, 0, "0.001", static_cast<std::uint64_t>(steps));
  terms.clip = read_number("1");
  terms.learning_rate = moved * size;
  ReplayForTests words(12);
  const std::vector<float> zeros(train::Model(terms.shape).weights().size());
  Trainer trainer(Progress{terms, 0, zeros, zeros, {}}, examples, words);
  std::vector<std::uint64_t> found;
  while (!trainer.is_done()) {
    const std::vector<float> before = trainer.progress().weights;
    trainer.step();
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < records; ++i)
      if (std::abs(trainer.progress().weights[2 * i] - before[2 * i]) > static_cast<float>(moved / 4)) bits |= std::uint64_t{1} << i;
    found.push_back(bits);
  }
  return found;
}

// Pairs of records, within a step and from one step to the next: as frequent as independent draws give.
TEST(Trainer, DrawsAFreshBatchInEveryStep) {
  constexpr std::size_t records = 24;
  constexpr int steps = 20'000;
  for (const bool fixed : {true, false}) {
    const train::Batches batches = fixed ? train::Batches(FixedSizeBatches(6, records)) : train::Batches(PoissonBatches(6, records));
    const std::vector<std::uint64_t> drawn = batches_of(batches, records, steps);
    int together = 0, again = 0, sizes = 0;
    std::vector<int> joined(records);
    for (int t = 0; t < steps; ++t) {
      const std::uint64_t bits = drawn[static_cast<std::size_t>(t)], last = t > 0 ? drawn[static_cast<std::size_t>(t) - 1] : 0;
      const auto has = [](std::uint64_t set, int record) { return (set >> record & 1U) != 0; };
      for (std::size_t i = 0; i < records; ++i) joined[i] += has(bits, static_cast<int>(i)) ? 1 : 0;
      together += has(bits, 3) && has(bits, 17) ? 1 : 0;
      again += has(bits, t % 24) && has(last, t % 24) ? 1 : 0;
      sizes += __builtin_popcountll(bits) == 6 ? 1 : 0;
    }
    const auto expect = [](int found, double chance, const char* what) {  // a false alarm once in 5e8
      const train::Range range = train::count_range(steps, {chance * (1 - 1e-9), std::min(1.0, chance * (1 + 1e-9))}, 1e-9);
      EXPECT_GE(found, range.least) << what;
      EXPECT_LE(found, range.most) << what;
    };
    for (const int count : joined) expect(count, 0.25, "a record joins");
    expect(together, fixed ? 6.0 * 5 / (24 * 23) : 1.0 / 16, "two records join");
    expect(again, 1.0 / 16, "a record joins twice");
    if (fixed) {
      EXPECT_EQ(sizes, steps);
    } else {
      expect(sizes, 0.18525714, "six join");  // C(24, 6) 3^18 / 4^24
    }
  }
}

// The members of a batch are secret, because the guarantee depends on it: after the step nothing of them is left in the trainer's memory.
TEST(Trainer, WipesItsBatches) {
  const Examples examples = random_examples(30, 4, 1);
  const std::size_t* batch_seen = nullptr;
  std::size_t size = 0;
  std::vector<train::Factors>* factors_seen = nullptr;
  const train::RecordSource source{30, [&](const train::Model& model, const train::Batch& batch, std::vector<train::Factors>& factors) {
                                     batch_seen = batch.data();
                                     size = batch.size();
                                     factors_seen = &factors;
                                     const auto rows = static_cast<Eigen::Index>(size);
                                     model.gradients(examples.inputs.topRows(rows), std::span(examples.labels).first(size), factors);
                                   }};
  for (const train::Batches& batches : {train::Batches(FixedSizeBatches(10, 30)), train::Batches(PoissonBatches(10, 30))}) {
    ReplayForTests words(5);
    Trainer trainer(small_terms(batches, examples, 3), source, words);
    trainer.step();
    ASSERT_GT(size, 0U);
    EXPECT_TRUE(std::all_of(batch_seen, batch_seen + size, [](std::size_t record) { return record == 0; }));
    for (const train::Factors& layer : *factors_seen) {
      EXPECT_TRUE(layer.inputs.isZero());
      EXPECT_TRUE(layer.deltas.isZero());
    }
  }
}

TEST(Trainer, TheDrawnPlanHasTheStatedNoise) {
  const Examples examples = random_examples(50, 3, 1);
  const TrainingTerms fixed = small_terms(FixedSizeBatches(5, 50), examples, 0, "1.3"),
                      poisson = small_terms(PoissonBatches(5, 50), examples, 0, "1.3");
  const train::DrawnStep a = train::drawn_step(fixed), b = train::drawn_step(poisson);
  EXPECT_EQ(a.sensitivity, 2 * a.grid.bound());
  EXPECT_EQ(b.sensitivity, b.grid.bound());
  for (const train::DrawnStep& drawn : {a, b}) {  // in clipping norms: never less noise than stated, and hardly more
    EXPECT_GE(drawn.scale.value(), 1.3 * static_cast<double>(drawn.grid.bound()));
    EXPECT_LE(drawn.scale.value(), 1.3 * static_cast<double>(drawn.grid.bound()) * (1 + 0x1p-50));
  }
  EXPECT_EQ(train::stated_plan(fixed, 7), "gaussian(sigma=1.3, sensitivity=2) | sample(size=5, of=50) | repeat(7)");
  EXPECT_EQ(train::stated_plan(poisson, 7), "gaussian(sigma=1.3) | poisson(rate=5/50) | repeat(7)");
}

TEST(Certificate, IsTheAccountantsAnswerAboutTheDrawnPlan) {
  const Examples examples = random_examples(50, 3, 1);
  TrainingTerms terms = small_terms(FixedSizeBatches(256, 60000), examples, 0, "2.6", 3516);
  const train::RunGuarantee found = train::guarantee_of(terms, 3516, {"1e-5", "1e-7"});
  const Curve curve = analyze(parse(found.drawn)), stated = analyze(parse(found.stated));
  ASSERT_EQ(found.guarantees.size(), 2U);
  EXPECT_NEAR(found.guarantees[0].epsilon.hi, curve.epsilon_at(read_number("1e-5").value).hi, 1e-9);
  EXPECT_NEAR(found.guarantees[0].epsilon.hi, stated.epsilon_at(1e-5).hi, 1e-8);
  EXPECT_EQ(curve.neighbours(), Neighbours::replace_one);
  EXPECT_NEAR(found.limit->value(), 0.2847, 2e-4);  // Corollary 4 of Dong, Roth and Su
  EXPECT_NEAR(found.advantage.hi, curve.advantage().hi, 1e-9);
  ASSERT_EQ(found.mu_with_slack.size(), 2U);
  EXPECT_GT(found.mu_with_slack[1].mu.hi, found.mu_with_slack[0].mu.lo);
  terms.batches = PoissonBatches(256, 60000);
  terms.noise = read_number("1.3");
  const train::RunGuarantee poisson = train::guarantee_of(terms, 3516, {"1e-5"});
  EXPECT_EQ(poisson.curve->neighbours(), Neighbours::add_remove);
  EXPECT_NEAR(poisson.limit->value(), 0.2273, 2e-4);
  EXPECT_EQ(train::guarantee_of(terms, 0, {"1e-5"}).guarantees[0].epsilon, Interval::exactly(0));
  EXPECT_NEAR(train::epsilon_so_far(terms, 3516, "1e-5").hi, poisson.guarantees[0].epsilon.hi, 1e-9);
}

Targets targets(const Target& target) { return {{target, {}}}; }

TEST(Certificate, TargetsAreMetByTheLeastNoise) {
  const Examples examples = random_examples(50, 3, 1);
  for (const train::Batches& batches : {train::Batches(FixedSizeBatches(10, 1000)), train::Batches(PoissonBatches(10, 1000))}) {
    TrainingTerms terms = small_terms(batches, examples, 0, "1", 200);
    const auto curve = [&](const Number& noise, double factor) {
      terms.noise = exact_number(noise.value.lo * factor);
      return analyze(parse(train::drawn_plan(terms, 200)));
    };
    const Interval delta = read_number("1e-5").value;
    const Number noise = train::calibrated_noise(terms, targets(Guarantee{Interval::exactly(1), delta}));
    EXPECT_LE(curve(noise, 1).delta_at(1.0).hi, 1e-5);
    EXPECT_GT(curve(noise, 0.999).delta_at(1.0).lo, 1e-5);
    const Number quiet = train::calibrated_noise(terms, targets(AdvantageTarget{Interval::exactly(0.05)}));
    EXPECT_LE(curve(quiet, 1).advantage().hi, 0.05);
    EXPECT_GT(curve(quiet, 0.999).advantage().lo, 0.05);
    if (std::holds_alternative<PoissonBatches>(batches)) continue;  // the search is the same, and takes long
    const Number slack = train::calibrated_noise(terms, targets(MuTarget{Interval::exactly(0.25), delta}));
    EXPECT_LE(measure_mu(curve(slack, 1), {delta}).with_slack[0].mu.hi, 0.25);
    EXPECT_GT(measure_mu(curve(slack, 0.999), {delta}).with_slack[0].mu.lo, 0.25);
  }
  const TrainingTerms terms = small_terms(FixedSizeBatches(10, 1000), examples, 0);
  EXPECT_THROW(static_cast<void>(train::calibrated_noise(terms, targets(AdvantageTarget{Interval::exactly(0)}))), DomainError);
  EXPECT_THROW(static_cast<void>(train::calibrated_noise(terms, {})), DomainError);
}

// A target that noise of 1/2 and of 1/4 already meets: the search continues below.
TEST(Certificate, WeakTargetsAreMetByLittleNoise) {
  const Examples examples = random_examples(50, 3, 1);
  TrainingTerms terms = small_terms(FixedSizeBatches(1, 2), examples, 0, "1", 1);
  const Number noise = train::calibrated_noise(terms, targets(Guarantee{Interval::exactly(20), Interval::exactly(1e-3)}));
  EXPECT_LT(noise.value.hi, 0.5);
  const auto delta = [&](double factor) {
    terms.noise = exact_number(noise.value.lo * factor);
    return analyze(parse(train::drawn_plan(terms, 1))).delta_at(20.0);
  };
  EXPECT_LE(delta(1).hi, 1e-3);
  EXPECT_GT(delta(0.999).lo, 1e-3);
}

TEST(Checkpoint, IsReadBackBitByBit) {
  const Examples examples = random_examples(30, 4, 1);
  ReplayForTests words(4);
  Trainer trainer(small_terms(PoissonBatches(7, 31), examples, 3, "0.7", 20), examples, words);
  for (int i = 0; i < 5; ++i) trainer.step();
  const std::string text = train::to_text(trainer.progress());
  const Progress read = train::read_progress(text);
  EXPECT_EQ(train::to_text(read), text);
  EXPECT_EQ(read.weights, trainer.progress().weights);
  EXPECT_EQ(read.average, trainer.progress().average);
  EXPECT_EQ(read.steps_done, 5U);
  EXPECT_EQ(train::stated_plan(read.terms, 20), train::stated_plan(trainer.progress().terms, 20));
}

TEST(Checkpoint, DamageIsDetected) {
  const Examples examples = random_examples(30, 4, 1);
  ReplayForTests words(4);
  const Trainer trainer(small_terms(FixedSizeBatches(7, 30), examples, 0), examples, words);
  const std::string text = train::to_text(trainer.progress());
  EXPECT_THROW(static_cast<void>(train::read_progress("")), DomainError);
  EXPECT_THROW(static_cast<void>(train::read_progress("hello")), DomainError);
  for (int i = 0; i < 200; ++i) {
    std::string damaged = text;
    damaged[words.next() % text.size()] ^= static_cast<char>(1U << words.next() % 8);
    EXPECT_THROW(static_cast<void>(train::read_progress(damaged)), DomainError);
    EXPECT_THROW(static_cast<void>(train::read_progress(text.substr(0, words.next() % text.size()))), DomainError);
  }
}

// Poisson batches keep no state between steps, so the same words give the same run.
TEST(Resume, EqualsTheUninterruptedRun) {
  const Examples examples = random_examples(80, 5, 9);
  const TrainingTerms terms = small_terms(PoissonBatches(8, 80), examples, 4, "1", 40);
  ReplayForTests words(6), again(6);
  Trainer whole(terms, examples, words);
  const Progress uninterrupted = run(whole);
  Trainer first(terms, examples, again);
  for (int i = 0; i < 17; ++i) first.step();
  Trainer second(train::read_progress(train::to_text(first.progress())), examples, again);
  const Progress resumed = run(second);
  EXPECT_EQ(resumed.weights, uninterrupted.weights);
  EXPECT_EQ(resumed.average, uninterrupted.average);
  EXPECT_EQ(resumed.steps_done, 40U);
  // The same budget, charged once: the guarantee is a function of this text.
  EXPECT_EQ(train::drawn_plan(resumed.terms, resumed.steps_done), train::drawn_plan(uninterrupted.terms, uninterrupted.steps_done));
}

TEST(Resume, HasTheSameLawForBatchesOfFixedSize) {
  const Examples examples = random_examples(40, 2, 9);
  const int runs = static_cast<int>(600 * std::max(0.3, test_scale()));
  std::vector<double> whole, resumed;
  ReplayForTests words(15);
  TrainingTerms terms = small_terms(FixedSizeBatches(4, 40), examples, 0, "0.3", 12);
  terms.learning_rate = 1;
  Trainer start(terms, examples, words);  // the same first weights for all
  for (int i = 0; i < runs; ++i) {
    Trainer one(start.progress(), examples, words);
    whole.push_back(static_cast<double>(run(one).weights[1]));
    Trainer first(start.progress(), examples, words);
    for (int t = 0; t < 6; ++t) first.step();
    Trainer second(train::read_progress(train::to_text(first.progress())), examples, words);
    resumed.push_back(static_cast<double>(run(second).weights[1]));
  }
  std::sort(whole.begin(), whole.end());
  std::sort(resumed.begin(), resumed.end());
  double distance = 0;  // Kolmogorov and Smirnov
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const auto below = std::upper_bound(resumed.begin(), resumed.end(), whole[i]) - resumed.begin();
    distance = std::max(distance, std::abs(static_cast<double>(i + 1) - static_cast<double>(below)) / runs);
  }
  EXPECT_LT(distance * std::sqrt(runs / 2.0), 2.2);  // exceeded with chance 1.2e-4
}

/// With the same noise and no gradients, each move is that of plain descent plus a part of the last move.
TEST(Trainer, MomentumRepeatsAPartOfTheLastMove) {
  const Examples examples = random_examples(20, 3, 1);
  const auto moves = [&](double momentum) {
    ReplayForTests words(5);
    TrainingTerms terms = small_terms(PoissonBatches(5, 20), examples, 0, "1", 4);
    terms.momentum = momentum;
    Trainer trainer(terms,
                    {0,
                     [](const train::Model& model, const train::Batch&, std::vector<train::Factors>& factors) {
                       factors.resize(model.layers().size());
                       for (std::size_t i = 0; i < factors.size(); ++i) {
                         factors[i].inputs.resize(0, static_cast<Eigen::Index>(model.layers()[i].rows));
                         factors[i].deltas.resize(0, static_cast<Eigen::Index>(model.layers()[i].columns));
                       }
                     }},
                    words);
    std::vector<std::vector<float>> weights{trainer.progress().weights};
    while (!trainer.is_done()) {
      trainer.step();
      weights.push_back(trainer.progress().weights);
    }
    return weights;
  };
  const auto plain = moves(0), heavy = moves(0.5);
  for (std::size_t i = 0; i < plain[0].size(); ++i) {
    float last = 0;
    for (std::size_t t = 1; t < plain.size(); ++t) {
      const float expected = 0.5F * last + plain[t][i] - plain[t - 1][i], found = heavy[t][i] - heavy[t - 1][i];
      EXPECT_NEAR(found, expected, 1e-4);
      last = found;
    }
  }
}

TEST(Resume, KeepsTheMomentum) {
  const Examples examples = random_examples(80, 3, 1);
  TrainingTerms terms = small_terms(PoissonBatches(8, 80), examples, 4, "1", 10);
  terms.momentum = 0.9;
  ReplayForTests whole(9), parts(9);
  Trainer one(terms, examples, whole), two(terms, examples, parts);
  for (int i = 0; i < 4; ++i) two.step();
  Trainer rest(train::read_progress(train::to_text(two.progress())), examples, parts);
  const Progress expected = run(one), found = run(rest);
  EXPECT_EQ(found.weights, expected.weights);
  EXPECT_EQ(found.velocity, expected.velocity);
  terms.momentum = 1;
  EXPECT_THROW(check(terms), DomainError);
}

TEST(Trainer, TermsThatDoNotFitAreRefused) {
  const Examples examples = random_examples(30, 4, 1);
  ReplayForTests words(1);
  const TrainingTerms good = small_terms(FixedSizeBatches(5, 30), examples, 0);
  const auto refused = [&](const TrainingTerms& terms) { EXPECT_THROW(Trainer(terms, examples, words), DomainError); };
  TrainingTerms terms = good;
  terms.batches = FixedSizeBatches(5, 29);
  refused(terms);
  terms = good;
  terms.noise = read_number("0");
  refused(terms);
  terms = good;
  terms.clip = read_number("0");
  refused(terms);
  terms = good;
  terms.learning_rate = std::nan("");
  refused(terms);
  terms = good;
  terms.shape.inputs = 5;
  refused(terms);
  terms = good;
  terms.steps = 0;
  refused(terms);
}

TEST(Trainer, WeightsOfAnotherModelAreRefused) {
  const Examples examples = random_examples(30, 4, 1);
  ReplayForTests words(1);
  const Progress good = Trainer(small_terms(FixedSizeBatches(5, 30), examples, 0), examples, words).progress();
  for (const bool average : {false, true}) {
    Progress progress = good;
    (average ? progress.average : progress.weights).pop_back();
    try {
      const Trainer trainer(progress, examples, words);
      FAIL() << "not refused";
    } catch (const DomainError& refusal) {
      EXPECT_THAT(refusal.what(), HasSubstr("the number of weights does not fit the model"));
    }
  }
}

}  // namespace
}  // namespace tradeoff::detail::test
