// SPDX-License-Identifier: Apache-2.0
// The audit of steps: close to the truth on sound code, and a finger on three usual faults. [step-audit]
#include "train/audit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "small_run.h"
#include "support/scale.h"
#include "train/step.h"

namespace tradeoff::test {
namespace {

using train::AuditResult;
using train::Examples;
using train::Factors;
using train::FixedSizeBatches;
using train::PoissonBatches;
using train::TrainingTerms;

std::vector<train::Batches> both() { return {FixedSizeBatches(8, 100), PoissonBatches(8, 100)}; }

std::uint64_t audit_steps() { return static_cast<std::uint64_t>(200'000 * std::max(0.1, test_scale())); }

TEST(SuccessRate, IsBelowTheExactBinomialBound) {
  EXPECT_EQ(train::success_rate_below(0, 100, 0.001), 0);
  for (const auto& [right, trials] : {std::pair{60U, 100U}, {100U, 100U}, {1U, 100U}, {550U, 1000U}}) {
    const double p = train::success_rate_below(right, trials, 0.001);
    double tail = 0;
    for (unsigned k = right; k <= trials; ++k)
      tail += std::exp(std::lgamma(trials + 1.0) - std::lgamma(k + 1.0) - std::lgamma(trials - k + 1.0) + k * std::log(p) +
                       (k == trials ? 0 : (trials - k) * std::log1p(-p)));
    EXPECT_LE(tail, 0.001 * (1 + 1e-9)) << right;
    EXPECT_GE(tail, 0.00001) << right;  // and not far below it
  }
}

TEST(Audit, ComesCloseToThePromiseAndNotAboveIt) {
  const Examples examples = random_examples(100, 3, 1);
  for (const train::Batches& batches : both())
    for (const char* noise : {"1.3", "0.7"}) {
      ReplayForTests words(8);
      const TrainingTerms terms = small_terms(batches, examples, 0, noise);
      const AuditResult found = train::audit(terms, examples, audit_steps(), words);
      EXPECT_NEAR(found.promised.hi, 1 / read_number(noise).value.lo, 1e-9);
      EXPECT_LE(found.mu_below, found.promised.lo);
      EXPECT_GE(found.mu_below, (test_scale() >= 1 ? 0.95 : 0.85) * found.promised.hi);
      EXPECT_FALSE(found.exposes());
    }
}

/// A step that is put together from the same parts with one fault.
AuditResult audit_mutant(const TrainingTerms& terms, const Examples& examples, double noise_factor, bool clips) {
  ReplayForTests words(9);
  const train::DrawnStep drawn = train::drawn_step(terms);
  const train::Model model(terms.shape);
  const noise::Dyadic scale = noise::Dyadic::at_least(drawn.scale.value() * noise_factor);
  train::PrivateStep sound(drawn.grid, model, scale);
  const noise::GridNoise law(noise::Law::rounded_gaussian, scale);
  std::vector<std::int64_t> sum;
  return train::audit(terms, examples, audit_steps() / 10, words,
                      train::AuditedStep([&](const std::vector<Factors>& factors) -> const std::vector<std::int64_t>& {
                        if (clips) return sound.noisy_sum(factors, words);
                        sum.assign(model.weights().size(), 0);  // one layer: gradients as they are
                        law.draw(words, sum);
                        const Eigen::MatrixXd gradient = factors[0].inputs.cast<double>().transpose() * factors[0].deltas.cast<double>();
                        for (Eigen::Index i = 0; i < gradient.rows(); ++i)
                          for (Eigen::Index j = 0; j < gradient.cols(); ++j)
                            sum[static_cast<std::size_t>(i * gradient.cols() + j)] +=
                                std::llround(std::ldexp(gradient(i, j), drawn.grid.delta_bits()));
                        return sum;
                      }));
}

TEST(Audit, ExposesMutants) {
  const Examples examples = random_examples(100, 3, 1);
  for (const train::Batches& batches : both()) {
    const TrainingTerms terms = small_terms(batches, examples, 0, "1.3");
    EXPECT_FALSE(audit_mutant(terms, examples, 1, true).exposes());
    EXPECT_TRUE(audit_mutant(terms, examples, 1, false).exposes()) << "no clipping";
    EXPECT_TRUE(audit_mutant(terms, examples, 0.5, true).exposes()) << "half the noise";
    EXPECT_TRUE(audit_mutant(terms, examples, 1 / 8.0, true).exposes()) << "noise divided by the batch size";
  }
}

}  // namespace
}  // namespace tradeoff::test
