// SPDX-License-Identifier: Apache-2.0
// The audit of steps: tight for the trainer's own steps, and an alarm for every fault that an outsider can detect. [step-audit]
#include "train/audit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "small_run.h"
#include "support/scale.h"
#include "train/audit_bounds.h"

namespace tradeoff::detail::test {
namespace {

using train::AuditResult;
using train::Batch;
using train::Examples;
using train::Factors;
using train::FixedSizeBatches;
using train::PoissonBatches;
using train::TrainingTerms;

std::uint64_t audit_steps(double usual) { return static_cast<std::uint64_t>(usual * std::max(0.2, test_scale())); }

std::vector<TrainingTerms> both(std::size_t hidden, const char* noise = "1.3") {
  const Examples examples = random_examples(100, 3, 1);
  return {small_terms(FixedSizeBatches(8, 100), examples, hidden, noise), small_terms(PoissonBatches(8, 100), examples, hidden, noise)};
}

std::string text_of(const AuditResult& result) {
  std::string text;
  for (const train::AuditCheck& check : result.checks)
    text += check.name + ": " + std::to_string(check.found) + " in [" + std::to_string(check.least) + ", " + std::to_string(check.most) +
            "]" + (check.alarms() ? " ALARM\n" : "\n");
  return text;
}

double log_binomial(unsigned trials, unsigned k, double p) {
  return std::lgamma(trials + 1.0) - std::lgamma(k + 1.0) - std::lgamma(trials - k + 1.0) + k * std::log(p) +
         (k == trials ? 0 : (trials - k) * std::log1p(-p));
}
double tail(unsigned trials, double p, unsigned from, unsigned to) {
  double sum = 0;
  for (unsigned k = from; k <= to; ++k) sum += std::exp(log_binomial(trials, k, p));
  return sum;
}

TEST(AuditBounds, SuccessRatesAreBelowTheExactBinomialBound) {
  EXPECT_EQ(train::success_rate_below(0, 100, 0.001), 0);
  for (const auto& [right, trials] : {std::pair{60U, 100U}, {100U, 100U}, {1U, 100U}, {550U, 1000U}}) {
    const double p = train::success_rate_below(right, trials, 0.001);
    EXPECT_LE(tail(trials, p, right, trials), 0.001 * (1 + 1e-9)) << right;
    EXPECT_GE(tail(trials, p, right, trials), 0.00001) << right;  // and not far below it
  }
}

TEST(AuditBounds, CountsLeaveTheirRangeWithTheStatedChanceAtMost) {
  for (const double p : {0.001, 0.1, 0.5, 0.9, 0.999})
    for (const unsigned trials : {50U, 1000U}) {
      const train::Range range = train::count_range(trials, Interval::exactly(p), 0.001);
      const auto least = static_cast<unsigned>(range.least), most = static_cast<unsigned>(range.most);
      if (least > 0) {
        EXPECT_LE(tail(trials, p, 0, least - 1), 0.001 * (1 + 1e-9)) << p;
      }
      if (most < trials) {
        EXPECT_LE(tail(trials, p, most + 1, trials), 0.001 * (1 + 1e-9)) << p;
      }
      if (p == 0.5) {
        EXPECT_LT(range.most - range.least, 5 * std::sqrt(trials));
      }
    }
}

TEST(AuditBounds, NormsLeaveTheirRangeWithTheStatedChanceAtMost) {
  for (const unsigned pairs : {1U, 5U, 100U}) {  // an even number of squares: a tail of the chi-square law is one of a Poisson law
    const train::Range range = train::norm_range(2 * pairs, 0.01);
    const auto above = [&](double norm) {
      double sum = 0;
      for (unsigned k = 0; k < pairs; ++k) sum += std::exp(-norm * norm / 2 + k * std::log(norm * norm / 2) - std::lgamma(k + 1.0));
      return sum;
    };
    EXPECT_LE(above(range.most), 0.01);
    if (range.least > 0) {
      EXPECT_LE(1 - above(range.least), 0.01);
    }
  }
  const train::Range many = train::norm_range(1e8, 1e-4);
  EXPECT_NEAR(many.least, 1e4, 5);
  EXPECT_NEAR(many.most, 1e4, 5);
}

TEST(AuditBounds, SpreadsAreThoseOfBruteForce) {
  const auto choose = [](double n, double k) { return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1)); };
  for (const bool independent : {false, true}) {
    double expected = 0;
    for (int k = 0; k <= 16; ++k) {
      const double weight = independent ? choose(16, k) / 65536 : choose(16, k) * choose(16, 16 - k) / choose(32, 16);
      const double shift = 0.7 * (k - 8);
      expected += weight * 0.5 * (std::erf((2 - shift) / std::sqrt(2)) - std::erf((-2 - shift) / std::sqrt(2)));
    }
    const Interval found = train::spread_chance(16, independent, Interval::exactly(0.7), Interval::exactly(2));
    EXPECT_NEAR(found.lo, expected, 1e-9);
    EXPECT_NEAR(found.hi, expected, 1e-9);
  }
}

TEST(Audit, LowerBoundIsCloseToTheStatedMuAndNotAboveIt) {
  for (const char* noise : {"1.3", "0.7"})
    for (const TrainingTerms& terms : both(0, noise)) {
      ReplayForTests words(8);
      const AuditResult found = train::audit(terms, audit_steps(100'000), words);
      const double reach =
          std::holds_alternative<FixedSizeBatches>(terms.batches) ? 2 : 1;  // clipping norms that a record moves the sum by
      EXPECT_NEAR(found.promised.hi, reach / read_number(noise).value.lo, 1e-9);
      EXPECT_LE(found.mu_below, found.promised.lo);
      EXPECT_GE(found.mu_below, (test_scale() >= 1 ? 0.92 : 0.8) * found.promised.hi);
      EXPECT_FALSE(found.exposes()) << text_of(found);
    }
}

TEST(Audit, FindsNothingInTheTrainersSteps) {
  for (const std::size_t hidden : {0U, 6U})
    for (const TrainingTerms& terms : both(hidden)) {
      ReplayForTests words(10);
      const AuditResult found = train::audit(terms, audit_steps(20'000), words);
      EXPECT_FALSE(found.exposes()) << text_of(found);
    }
  TrainingTerms images = both(0)[1];
  images.shape = {144, 4, 0, 3, 12, 12};
  for (const char* clip : {"0.00001", "1.5", "1000"}) {
    images.clip = read_number(clip);
    ReplayForTests words(11);
    const AuditResult found = train::audit(images, 1000, words);
    EXPECT_FALSE(found.exposes()) << text_of(found);
  }
}

/// The possible faults of a step.
enum class Fault {
  none,
  no_noise,
  noise_over_1024,
  quiet_first_layer,
  quiet_last_layer,
  one_quiet_weight,
  same_noise_every_step,
  same_noise_every_other_step,
  same_noise_for_all_weights,
  same_noise_for_both_layers,
  half_the_noise,
  twice_the_noise,
  noise_a_tenth_too_small,
  divided_by_actual_size,
  no_clipping,
  clipped_by_layer,
  whole_data_as_batch,
  always_the_same_batch,
  shuffled_batches,
  other_sampling,
};

/// A separate trainer in double precision, with one fault.
class FaultyRun final : public train::AuditedRun {
 public:
  FaultyRun(const TrainingTerms& terms, train::RecordSource source, noise::WordStream& words, Fault fault)
      : terms_(terms),
        source_(std::move(source)),
        words_(words),
        fault_(fault),
        model_(terms.shape),
        scale_(train::drawn_step(terms).scale),
        unit_(std::ldexp(1.0, train::drawn_step(terms).grid.exponent())),
        noise_(noise::Law::rounded_gaussian, scale_),
        last_(model_.weights().size()) {
    model_.initialise(words);
  }
  [[nodiscard]] const std::vector<float>& weights() const override { return model_.weights(); }
  void step() override {
    draw_batch();
    source_.gradients(model_, batch_, factors_);
    std::vector<double> sum = clipped_sum();
    add_noise(sum);
    const auto size = std::visit([](const auto& batches) { return batches.size(); }, terms_.batches);
    const double divisor = static_cast<double>(fault_ == Fault::divided_by_actual_size ? std::max<std::size_t>(1, batch_.size()) : size);
    for (std::size_t i = 0; i < sum.size(); ++i) model_.weights()[i] -= static_cast<float>(terms_.learning_rate / divisor * sum[i]);
    ++steps_;
  }

 private:
  void draw_batch() {
    const auto [size, of] = std::visit([](const auto& batches) { return std::pair(batches.size(), batches.of()); }, terms_.batches);
    bool fixed = std::holds_alternative<FixedSizeBatches>(terms_.batches);
    if (fault_ == Fault::other_sampling) fixed = !fixed;
    if (fault_ == Fault::always_the_same_batch && steps_ > 0) return;
    if (fault_ == Fault::shuffled_batches && steps_ % 2 == 1 && 2 * size == of) {
      Batch others;
      for (std::size_t i = 0; i < of; ++i)
        if (std::find(batch_.begin(), batch_.end(), i) == batch_.end()) others.push_back(i);
      batch_ = others;
    } else if (fault_ == Fault::whole_data_as_batch) {
      batch_.clear();
      for (std::size_t i = 0; i < of; ++i) batch_.push_back(i);
    } else if (fixed) {
      FixedSizeBatches(size, of).draw(words_, batch_);
    } else {
      PoissonBatches(size, of).draw(words_, batch_, source_.records);
    }
  }
  /// One example's gradient, with the part of each layer in its place.
  [[nodiscard]] std::vector<double> gradient_of(std::size_t example) const {
    std::vector<double> found(model_.weights().size());
    for (std::size_t l = 0; l < factors_.size(); ++l)
      for (std::size_t p = 0; p < factors_[l].positions; ++p)
        for (std::size_t i = 0; i < model_.layers()[l].rows; ++i)
          for (std::size_t j = 0; j < model_.layers()[l].columns; ++j) {
            const auto row = static_cast<Eigen::Index>(example * factors_[l].positions + p);
            found[model_.layers()[l].offset + i * model_.layers()[l].columns + j] +=
                static_cast<double>(factors_[l].inputs(row, static_cast<Eigen::Index>(i))) / train::activation_one *
                static_cast<double>(factors_[l].deltas(row, static_cast<Eigen::Index>(j)));
          }
    return found;
  }
  /// Scales a part of a gradient to the clipping norm, or to 100 of them.
  void clip(std::span<double> part) const {
    double norm = 0;
    for (const double value : part) norm += value * value;
    norm = std::sqrt(norm);
    const double bound = terms_.clip.value.lo * (fault_ == Fault::no_clipping ? 100 : 1);
    for (double& value : part) value *= norm > bound ? bound / norm : 1;
  }
  [[nodiscard]] std::vector<double> clipped_sum() const {
    std::vector<double> sum(model_.weights().size());
    for (std::size_t example = 0; example < batch_.size(); ++example) {
      if (factors_.back().deltas.row(static_cast<Eigen::Index>(example)).isZero()) continue;
      std::vector<double> gradient = gradient_of(example);
      if (fault_ == Fault::clipped_by_layer)
        for (const train::Model::Layer& layer : model_.layers())
          clip(std::span(gradient).subspan(layer.offset, layer.rows * layer.columns));
      else
        clip(gradient);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += gradient[i];
    }
    return sum;
  }
  [[nodiscard]] double factor(std::size_t weight) const {
    const std::size_t second = model_.layers().back().offset;
    switch (fault_) {
      case Fault::no_noise:
        return 0;
      case Fault::noise_over_1024:
        return 1.0 / 1024;
      case Fault::quiet_first_layer:
        return weight < model_.layers().front().rows * model_.layers().front().columns ? 0 : 1;
      case Fault::quiet_last_layer:
        return weight >= second ? 0 : 1;
      case Fault::one_quiet_weight:
        return weight == 5 ? 0 : 1;
      case Fault::half_the_noise:
        return 0.5;
      case Fault::twice_the_noise:
        return 2;
      case Fault::noise_a_tenth_too_small:
        return 0.9;
      default:
        return 1;
    }
  }
  void add_noise(std::vector<double>& sum) {
    const bool again = fault_ == Fault::same_noise_every_step || (fault_ == Fault::same_noise_every_other_step && steps_ % 2 == 1);
    if (!again || steps_ == 0) noise_.draw(words_, last_);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      std::size_t from = i;
      if (fault_ == Fault::same_noise_for_all_weights) from = 0;
      if (fault_ == Fault::same_noise_for_both_layers && i >= model_.layers().back().offset) from = i - model_.layers().back().offset;
      sum[i] += factor(i) * unit_ * static_cast<double>(last_[from]);
    }
  }

  TrainingTerms terms_;
  train::RecordSource source_;
  noise::WordStream& words_;
  Fault fault_;
  train::Model model_;
  noise::Dyadic scale_;
  double unit_;
  noise::GridNoise noise_;
  std::vector<std::int64_t> last_;
  Batch batch_;
  std::vector<Factors> factors_;
  std::uint64_t steps_ = 0;
};

AuditResult audit_faulty(const TrainingTerms& terms, std::uint64_t steps, Fault fault) {
  ReplayForTests words(9);
  return train::audit(terms, steps, words, [&](const TrainingTerms& run, train::RecordSource source, noise::WordStream& stream) {
    return std::make_unique<FaultyRun>(run, std::move(source), stream, fault);
  });
}

TEST(Audit, DetectsEveryFault) {
  for (const TrainingTerms& terms : both(6)) {
    const bool fixed = std::holds_alternative<FixedSizeBatches>(terms.batches);
    if (fixed && test_scale() < 1) continue;
    const AuditResult sound = audit_faulty(terms, 6'000, Fault::none);
    EXPECT_FALSE(sound.exposes()) << text_of(sound);
    for (int fault = 1; fault <= static_cast<int>(Fault::other_sampling); ++fault) {
      if (static_cast<Fault>(fault) == Fault::divided_by_actual_size && fixed) continue;  // the same number
      const AuditResult found = audit_faulty(terms, 6'000, static_cast<Fault>(fault));
      EXPECT_TRUE(found.exposes()) << (fixed ? "fixed" : "poisson") << ", fault " << fault << "\n" << text_of(found);
    }
  }
}

// [one-run-audit]

/// A run with 256 weights, hence 256 canaries (or 200 of 200 records), that a sound trainer gives little away about.
std::vector<TrainingTerms> with_many_weights(const char* fixed = "2.6", const char* poisson = "1.3") {
  const Examples examples = random_examples(200, 63, 2);
  return {small_terms(FixedSizeBatches(20, 200), examples, 0, fixed, 50), small_terms(PoissonBatches(20, 200), examples, 0, poisson, 50)};
}

TEST(Audit, OneRunWithCanariesBoundsTheRunBelowItsCertificate) {
  for (const TrainingTerms& terms : with_many_weights()) {
    ReplayForTests words(12);
    const AuditResult found = train::audit(terms, 100, words);
    EXPECT_EQ(found.whole.steps, 50U);
    EXPECT_EQ(found.whole.shown.best.canaries, std::holds_alternative<FixedSizeBatches>(terms.batches) ? 200U : 256U);
    EXPECT_NEAR(static_cast<double>(found.whole.included), static_cast<double>(found.whole.shown.best.canaries) / 2, 45);
    EXPECT_LE(found.whole.shown.epsilon_below, found.whole.certified.lo);
    EXPECT_FALSE(found.whole.is_refuted);
    EXPECT_GT(found.whole.shown.best.right, found.whole.shown.best.made / 2);  // the canaries are seen at all
  }
}

TEST(Audit, OneRunWithCanariesRefutesItsPlan) {
  for (const TrainingTerms& terms : with_many_weights("5.2", "2.6"))
    for (const Fault fault : {Fault::no_noise, Fault::whole_data_as_batch}) {
      const AuditResult found = audit_faulty(terms, 100, fault);
      EXPECT_TRUE(found.whole.is_refuted) << static_cast<int>(fault) << ": " << found.whole.shown.best.right << " of "
                                          << found.whole.shown.best.made << ", " << found.whole.shown.chance << ", " << found.whole.plan;
      EXPECT_TRUE(found.exposes());
    }
  AuditResult nothing_else;
  nothing_else.promised = Interval::exactly(1);
  EXPECT_FALSE(nothing_else.exposes());
  nothing_else.whole.is_refuted = true;
  EXPECT_TRUE(nothing_else.exposes());
}

TEST(Audit, OneRunOfHonestTrainersIsNotRefuted) {
  const TrainingTerms terms = with_many_weights()[1];
  double least = 1;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    ReplayForTests words(100 + seed);
    const AuditResult found = train::audit(terms, 100, words);
    EXPECT_FALSE(found.whole.is_refuted);
    least = std::min(least, found.whole.shown.chance);
  }
  EXPECT_GT(least, 1e-3);  // the bound of the probability of so many right guesses is small as seldom as it says
}

}  // namespace
}  // namespace tradeoff::detail::test
