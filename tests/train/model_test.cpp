// SPDX-License-Identifier: Apache-2.0
// Gradients of single examples, and their norms. [per-example-norm]
#include "train/model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "small_run.h"
#include "tradeoff/error.h"
#include "train/row_products.h"
#include "train/step.h"

namespace tradeoff::detail::test {
namespace {

using train::Examples;
using train::Factors;
using train::Model;

struct Case {
  const char* name;
  Examples examples;
  train::ModelShape shape;
};

std::vector<Case> cases() {
  const Examples table = random_examples(12, 9, 3), pictures = random_images(6, 12, 14, 4);
  return {{"linear", table, {9, 4, 0, 0, 0, 0}},
          {"dense", table, {9, 4, 7, 0, 0, 0}},
          {"convolution", pictures, {168, 4, 0, 3, 12, 14}},
          {"dense on images", pictures, {168, 4, 5, 0, 12, 14}}};
}

/// The whole gradient of one example, entry by entry, from the factors.
std::vector<double> explicit_gradient(const std::vector<Factors>& factors, std::size_t example) {
  std::vector<double> gradient;
  for (const Factors& layer : factors) {
    const auto first = static_cast<Eigen::Index>(example * layer.positions), count = static_cast<Eigen::Index>(layer.positions);
    const Eigen::MatrixXd product = layer.inputs.middleRows(first, count).cast<double>().transpose() *
                                    layer.deltas.middleRows(first, count).cast<double>() / static_cast<double>(train::activation_one);
    for (Eigen::Index i = 0; i < product.rows(); ++i)
      for (Eigen::Index j = 0; j < product.cols(); ++j) gradient.push_back(product(i, j));
  }
  return gradient;
}

double loss_of(const Model& model, const Examples& examples, std::size_t example) {
  const auto one = static_cast<Eigen::Index>(example);
  const Eigen::VectorXd scores = model.logits(examples.inputs.middleRows(one, 1)).row(0).cast<double>();
  return std::log((scores.array() - scores.maxCoeff()).exp().sum()) + scores.maxCoeff() - scores(examples.labels[example]);
}

TEST(Gradients, AreTheDerivativesOfTheLoss) {
  for (const Case& one : cases()) {
    ReplayForTests words(11);
    Model model(one.shape);
    model.initialise(words);
    const std::vector<double> gradient = explicit_gradient(random_factors(model, one.examples), 2);
    ASSERT_EQ(gradient.size(), model.weights().size());
    // Activations change in steps, so only a long distance shows the slope: it is compared with the mean over many weights.
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < gradient.size(); i += 1 + gradient.size() / 300) {
      constexpr float step = 0.05F;
      Model up = model, down = model;
      up.weights()[i] += step;
      down.weights()[i] -= step;
      const double slope = (loss_of(up, one.examples, 2) - loss_of(down, one.examples, 2)) / (2 * static_cast<double>(step));
      difference += (slope - gradient[i]) * (slope - gradient[i]);
      size += gradient[i] * gradient[i];
    }
    EXPECT_LE(std::sqrt(difference), 0.03 * std::sqrt(size)) << one.name;
  }
}

TEST(Norms, InClosedFormAreThoseOfTheExplicitGradients) {
  for (const Case& one : cases()) {
    ReplayForTests words(12);
    Model model(one.shape);
    model.initialise(words);
    const std::vector<Factors> factors = random_factors(model, one.examples);
    const std::vector<double> norms = train::gradient_norms(factors);
    ASSERT_EQ(norms.size(), one.examples.size());
    for (std::size_t i = 0; i < norms.size(); ++i) {
      double sum = 0;
      for (const double entry : explicit_gradient(factors, i)) sum += entry * entry;
      EXPECT_NEAR(norms[i], std::sqrt(sum), 1e-9 * norms[i]) << one.name;
      EXPECT_GT(norms[i], 0);
    }
  }
}

// The contribution of a record must not depend on its batch, to the last bit: otherwise one more record would change all others.
// [private-step]
TEST(Gradients, OfARecordDoNotDependOnItsPosition) {
  for (const Case& one : cases()) {
    ReplayForTests words(13);
    Model model(one.shape);
    model.initialise(words);
    const std::vector<Factors> all = random_factors(model, one.examples);
    for (std::size_t skipped = 0; skipped < one.examples.size(); ++skipped) {
      Examples fewer = one.examples;  // without one of them: the later ones move up
      fewer.labels.erase(fewer.labels.begin() + static_cast<std::ptrdiff_t>(skipped));
      fewer.inputs.resize(static_cast<Eigen::Index>(fewer.labels.size()), one.examples.inputs.cols());
      for (std::size_t i = 0; i < fewer.size(); ++i)
        fewer.inputs.row(static_cast<Eigen::Index>(i)) = one.examples.inputs.row(static_cast<Eigen::Index>(i + (i >= skipped ? 1 : 0)));
      const std::vector<Factors> some = random_factors(model, fewer);
      for (std::size_t layer = 0; layer < all.size(); ++layer) {
        const auto positions = static_cast<Eigen::Index>(all[layer].positions);
        for (std::size_t i = 0; i < fewer.size(); ++i) {
          const Eigen::Index here = static_cast<Eigen::Index>(i) * positions,
                             there = static_cast<Eigen::Index>(i + (i >= skipped ? 1 : 0)) * positions;
          ASSERT_TRUE(some[layer].deltas.middleRows(here, positions) == all[layer].deltas.middleRows(there, positions)) << one.name;
          ASSERT_TRUE(some[layer].inputs.middleRows(here, positions) == all[layer].inputs.middleRows(there, positions)) << one.name;
        }
      }
    }
  }
}

TEST(RowProducts, AreTheSameAtEveryLevel) {
  ReplayForTests words(14);
  for (const auto& [rows, columns, outputs] : {std::tuple{7, 5, 3}, {4, 40, 32}, {9, 3, 29}}) {
    train::GridMatrix left(rows, columns);
    train::Floats weights(columns, outputs);
    for (Eigen::Index i = 0; i < left.size(); ++i)
      left.data()[i] = static_cast<std::int16_t>(static_cast<std::int64_t>(words.next() % 65535) - 32767);
    for (Eigen::Index i = 0; i < weights.size(); ++i)
      weights.data()[i] = static_cast<float>(static_cast<double>(words.next()) * 0x1p-64 - 0.5);
    const Eigen::Map<const train::Floats> map(weights.data(), columns, outputs);
    train::Floats portable = train::multiply_rows(left, map, noise::Level::portable), best = train::multiply_rows(left, map);
    EXPECT_TRUE(portable == best);
    EXPECT_LE((portable - left.cast<float>() * weights).norm(), 1e-5F * portable.norm());
    portable *= 1e-4F;
    best = portable;
    const train::Floats exact = portable.array().tanh();
    train::apply_tanh(portable, noise::Level::portable);
    train::apply_tanh(best);
    EXPECT_TRUE(portable == best);
    EXPECT_LE((portable - exact).cwiseAbs().maxCoeff(), 2e-4F);
  }
}

TEST(Model, BadShapesAreRefused) {
  EXPECT_THROW(Model({0, 2, 0, 0, 0, 0}), DomainError);
  EXPECT_THROW(Model({5, 1, 0, 0, 0, 0}), DomainError);
  EXPECT_THROW(Model({5, 2, 5000, 0, 0, 0}), DomainError);
  EXPECT_THROW(Model({5, 2, 3, 3, 0, 0}), DomainError);
  EXPECT_THROW(Model({392, 10, 0, 8, 0, 0}), DomainError);  // features are no image
  EXPECT_THROW(Model({49, 10, 0, 8, 7, 7}), DomainError);
  EXPECT_EQ(Model({392, 10, 32, 0, 0, 0}).weights().size(), 12906U);
}

TEST(Model, ScoresAreOfTheArgmax) {
  const Examples examples = random_examples(50, 3, 8);
  Model model({3, 4, 0, 0, 0, 0});
  EXPECT_NEAR(train::evaluate(model, examples).loss, std::log(4.0), 1e-6);
  // Weights that encode the labels: bit 0 from the first value, bit 1 from the second.
  for (std::size_t k = 0; k < 4; ++k) {
    model.weights()[k] = (k & 1) != 0 ? 50.F : -50.F;
    model.weights()[4 + k] = (k & 2) != 0 ? 50.F : -50.F;
  }
  EXPECT_EQ(train::evaluate(model, examples).accuracy, 1);
}

}  // namespace
}  // namespace tradeoff::detail::test
