// SPDX-License-Identifier: Apache-2.0
#include "train/audit.h"

#include <cmath>

#include "numeric/arithmetic.h"
#include "numeric/normal.h"
#include "tradeoff/error.h"

namespace tradeoff::train {
namespace {

constexpr double error_chance = 0.001;
constexpr float canary_size = 1e6F;          // in deltas: every clipping norm is far exceeded
constexpr std::int16_t canary_input = 8192;  // 8: without clipping the integers themselves would show it, even at their largest

/// The canary as one more row of the last layer; the layers before it get a row of zeros.
void plant(std::vector<Factors>& factors, float delta) {
  for (Factors& layer : factors) {
    const auto more = static_cast<Eigen::Index>(layer.positions);
    layer.inputs.conservativeResize(layer.inputs.rows() + more, Eigen::NoChange);
    layer.deltas.conservativeResize(layer.deltas.rows() + more, Eigen::NoChange);
    layer.inputs.bottomRows(more).setZero();
    layer.deltas.bottomRows(more).setZero();
  }
  Factors& last = factors.back();
  last.inputs(last.inputs.rows() - 1, 0) = canary_input;
  last.deltas(last.deltas.rows() - 1, 0) = delta;
}

/// Relative entropy of coins with chances a and b, 0 < b < 1.
Interval relative_entropy(Interval a, double b) {
  const Interval other = 1 - Interval::exactly(b);
  const Interval first = a.lo > 0 ? a * log(a / b) : Interval::exactly(0),
                 second = a.hi < 1 ? (1 - a) * log((1 - a) / other) : Interval::exactly(0);
  return first + second;
}

/// A run with a canary in every batch.
class Audit {
 public:
  Audit(const TrainingTerms& terms, const Examples& examples, noise::WordStream& words, const AuditedStep& step)
      : terms_(terms),
        drawn_(drawn_step(terms)),
        examples_(examples),
        words_(words),
        step_(step),
        model_(terms.shape),
        others_(drawn_.grid, model_, drawn_.scale),
        place_(model_.layers().back().offset) {
    check(terms);
    model_.initialise(words);
  }

  /// One step; whether the canary's secret was guessed.
  bool guess() {
    const bool fixed = std::holds_alternative<FixedSizeBatches>(terms_.batches);
    if (auto* batches = std::get_if<FixedSizeBatches>(&terms_.batches)) {
      batches->draw(words_, batch_);
      batch_.pop_back();  // the canary takes this one's place
    } else {
      std::get<PoissonBatches>(terms_.batches).draw(words_, batch_, examples_.size());
    }
    find_gradients();
    const std::int64_t known = others_.clipped_sum(factors_)[place_];
    const bool secret = (words_.next() >> 63) != 0;
    if (secret || fixed) plant(factors_, secret ? canary_size : -canary_size);
    const std::vector<std::int64_t>& sum = step_(factors_);
    const double seen = static_cast<double>(sum[place_] - known), middle = fixed ? 0 : static_cast<double>(drawn_.grid.bound()) / 2;
    learn(sum);
    return (seen > middle) == secret;
  }

 private:
  void find_gradients() {
    GridMatrix inputs(static_cast<Eigen::Index>(batch_.size()), examples_.inputs.cols());
    std::vector<std::uint8_t> labels;
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      inputs.row(static_cast<Eigen::Index>(i)) = examples_.inputs.row(static_cast<Eigen::Index>(batch_[i]));
      labels.push_back(examples_.labels[batch_[i]]);
    }
    model_.gradients(inputs, labels, factors_);
  }
  void learn(const std::vector<std::int64_t>& sum) {
    const std::uint64_t divisor = std::visit([](const auto& batches) { return batches.size(); }, terms_.batches);
    const auto rate = static_cast<float>(std::ldexp(terms_.learning_rate / static_cast<double>(divisor), drawn_.grid.exponent()));
    for (std::size_t i = 0; i < sum.size(); ++i) model_.weights()[i] -= rate * static_cast<float>(sum[i]);
  }

  TrainingTerms terms_;
  DrawnStep drawn_;
  const Examples& examples_;
  noise::WordStream& words_;
  const AuditedStep& step_;
  Model model_;
  PrivateStep others_;
  std::size_t place_;  // the weight that the canary pulls at
  Batch batch_;
  std::vector<Factors> factors_;
};

}  // namespace

double success_rate_below(std::uint64_t right, std::uint64_t trials, double chance) {
  if (right == 0) return 0;
  const Interval found = Interval::exactly(static_cast<double>(right)) / static_cast<double>(trials);
  const double needed = (-log(Interval::exactly(chance))).hi;
  const auto excludes = [&](double p) { return (relative_entropy(found, p) * static_cast<double>(trials)).lo >= needed; };
  double below = 0x1p-60, above = found.lo;
  if (!excludes(below)) return 0;
  for (int i = 0; i < 200 && above - below > 1e-12 * above; ++i) {
    const double middle = below + (above - below) / 2;
    (excludes(middle) ? below : above) = middle;
  }
  return below;
}

AuditResult audit(const TrainingTerms& terms, const Examples& examples, std::uint64_t steps, noise::WordStream& words,
                  const AuditedStep& step, const std::function<void(std::uint64_t)>& tell) {
  if (steps < 1) throw DomainError("train: an audit needs at least one step");
  Audit run(terms, examples, words, step);
  AuditResult result;
  result.steps = steps;
  for (std::uint64_t i = 0; i < steps; ++i) {
    result.right += run.guess() ? 1 : 0;
    if (tell && i % 1000 == 999) tell(i + 1);
  }
  const double rate = success_rate_below(result.right, steps, error_chance);
  // [step-audit] A guess of a mu-GDP step is right with chance at most Phi(mu/2).
  result.mu_below = rate > 0.5 ? 2 * normal_quantile(rate).lo : 0;
  const DrawnStep drawn = drawn_step(terms);
  result.promised = Interval::exactly(static_cast<double>(drawn.sensitivity)) / drawn.scale.value();
  return result;
}

AuditResult audit(const TrainingTerms& terms, const Examples& examples, std::uint64_t steps, noise::WordStream& words,
                  const std::function<void(std::uint64_t)>& tell) {
  const DrawnStep drawn = drawn_step(terms);
  PrivateStep step(drawn.grid, Model(terms.shape), drawn.scale);
  return audit(terms, examples, steps, words, AuditedStep([&](const std::vector<Factors>& factors) -> const std::vector<std::int64_t>& {
                 return step.noisy_sum(factors, words);
               }),
               tell);
}

}  // namespace tradeoff::train
