// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "engine/contour/contour.h"
#include "engine/contour/line.h"
#include "engine/exact/exact.h"
#include "engine/hyperbolic/integrand.h"
#include "engine/hyperbolic/path.h"
#include "engine/kernel_integral.h"
#include "engine/lattice/transform.h"
#include "mechanism/constraints.h"
#include "mechanism/gaussian.h"
#include "numeric/arithmetic.h"
#include "operators/subsampled_gaussian.h"
#include "support/matchers.h"

// Error terms that rarely decide an answer, each in a case where it does: at corners made for it, or compared with its theoretical minimum.
// Every test here detects a fault of assurance/mutation/faults.toml that complete answers do not show.
namespace tradeoff::detail {
namespace {

constexpr double unit = 0x1p-53;

// [contour-inversion] A sum of n terms in plain order may be off by n units of its size. An order near the pole makes many nodes.
TEST(Bounds, AContourIncludesTheRoundingOfItsSum) {
  ContourPlan plan;
  plan.gaussian = Interval::exactly(1);
  plan.largest_loss = infinity;
  plan.steps = 1;
  const double order = 0.02, epsilon = 0.125;
  const auto moments = ContourMoments::prepare(plan, {0, order + 6, 1, 0, false, order, 0});
  const ContourLine line(*moments, *moments, order, epsilon, {1e-13, 1e-13});
  const auto value = line.at(epsilon);
  ASSERT_GT(line.nodes(), 500U);
  EXPECT_GE(value.nodes, static_cast<double>(line.nodes()) * unit * value.value);
}

// [contour-propagation] For one step with a Gaussian the error at a node is that of phi itself, however small phi is.
TEST(Bounds, AContourOfOneStepIncludesTheErrorOfEveryNode) {
  const LossPointer loss = subsampled_gaussian(Interval::exactly(4), Interval::exactly(0.5));
  ContourPlan plan;
  plan.items.push_back({loss, {loss, loss->transform(Direction::remove)}, 1});
  const double variance = 0.25;
  plan.gaussian = Interval::exactly(variance);
  plan.steps = 2;
  plan.largest_loss = infinity;
  const double order = 0.5, epsilon = 2;
  const auto moments = ContourMoments::prepare(plan, {0, order + 6, 1, -1, false, order, 0});
  ASSERT_NE(moments, nullptr);
  const ContourLine line(*moments, *moments, order, epsilon, {1e-6, 1e-3});
  const auto value = line.at(epsilon);
  const auto tilts = moments->tilt(order);
  // The nodes before any were left out fill blocks of 8 up to 32 and of 16 from there on.
  const double step = line.last_time() / static_cast<double>((line.nodes() + 15) / 16 * 16);
  double least = 0;
  for (std::size_t k = 1; k <= line.nodes(); ++k) {
    const double t = static_cast<double>(k) * step;
    CharacteristicValue found;
    tilts[0]->characteristic_function({&t, 1}, {&found, 1});
    least += 2 * std::min(found.error, 1.0) * std::exp(-variance * t * t / 2) / (std::hypot(order, t) * std::hypot(order + 1, t));
  }
  EXPECT_GE(value.nodes, 0.9 * least * step / (2 * std::numbers::pi));
}

/// A thousand subsampled steps on coarse or fine quadratures.
struct ManySteps {
  explicit ManySteps(int effort, double longest) {
    plan.items.push_back({loss, {loss, loss->transform(Direction::remove)}, steps});
    plan.steps = steps;
    plan.largest_loss = infinity;
    moments = ContourMoments::prepare(plan, {0, order + 6, 1, effort, false, order, longest});
  }
  [[nodiscard]] CharacteristicValue at(double t) const {
    CharacteristicValue found;
    moments->tilt(order)[0]->characteristic_function({&t, 1}, {&found, 1});
    return found;
  }
  [[nodiscard]] static double modulus(const CharacteristicValue& found) { return std::hypot(1 + found.real_less_one, found.imaginary); }
  [[nodiscard]] static double kernel(double t) { return 1 / (std::hypot(order, t) * std::hypot(order + 1, t)); }

  static constexpr double steps = 1000, order = 6, epsilon = 1.5;
  LossPointer loss = subsampled_gaussian(Interval::exactly(1), Interval::exactly(0.0078125));
  ContourPlan plan;
  std::unique_ptr<const ContourMoments> moments;
};

// [contour-propagation] The error of a power is at least T |phi|^(T-1) times that of phi.
TEST(Bounds, AContourOfManyStepsIncludesTheErrorOfEachStep) {
  const ManySteps run(-1, 0);
  const ContourLine line(*run.moments, *run.moments, ManySteps::order, ManySteps::epsilon, {1e-13, 1e-6});
  const double step = line.last_time() / std::ceil(static_cast<double>(line.nodes()) / 8) / 8;
  double least = 0;
  for (std::size_t k = 1; k <= line.nodes(); ++k) {
    const double t = static_cast<double>(k) * step;
    const CharacteristicValue found = run.at(t);
    least += 2 * ManySteps::steps * std::pow(ManySteps::modulus(found), ManySteps::steps - 1) * found.error * ManySteps::kernel(t);
  }
  EXPECT_GE(line.at(ManySteps::epsilon).nodes, 0.5 * least * step / (2 * std::numbers::pi));
}

// [contour-truncation] The truncation term must be at least the modulus of the next nodes.
TEST(Bounds, ATruncationCoversTheNextNodes) {
  const ManySteps run(0, 30);
  for (const double accuracy : {1e-2, 1e-4, 1e-6}) {
    const ContourLine line(*run.moments, *run.moments, ManySteps::order, ManySteps::epsilon, {1e-13, accuracy});
    const double count = static_cast<double>(line.nodes()), step = line.last_time() / count;
    double left_out = 0;
    for (double k = count + 1; k <= count + 4; ++k)
      left_out += 2 * std::pow(ManySteps::modulus(run.at(k * step)), ManySteps::steps) * ManySteps::kernel(k * step);
    EXPECT_GE(line.at(ManySteps::epsilon).truncation, left_out * step / (2 * std::numbers::pi)) << accuracy;
  }
}

// [tilted-fft] An error of the masses is an error of every value computed from them; the same holds for the errors of both transforms.
TEST(Bounds, ALatticeIncludesEveryErrorOfItsDistribution) {
  lattice::Law law;
  law.index = {-3, 0, 4};
  law.mass = {0.25, 0.5, 0.25};
  law.finite_total = Interval::exactly(1);
  const std::vector<lattice::Factor> factors{{{law, law}, 3}};
  const double step = 0.25, epsilon = 0.5, doubt = 1e-4;
  const lattice::Outline outline(factors, step);
  const lattice::Composed exact = lattice::compose_tilted(factors, step, outline, {1, 1, 0, 3, 0}, 9).above;
  const auto found = [&](const lattice::Composed& composed) { return lattice::read(composed, epsilon).log_finite; };
  ASSERT_LT(found(exact).width(), 1e-9);
  lattice::Composed doubtful = exact;
  doubtful.log_input_error = doubt;
  EXPECT_LE(found(doubtful).lo, found(exact).hi - doubt);
  EXPECT_GE(found(doubtful).hi, found(exact).lo + doubt);
  for (double lattice::Composed::* const error : {&lattice::Composed::entry_error, &lattice::Composed::norm_error}) {
    doubtful = exact;
    doubtful.*error = doubt;
    lattice::Composed moved = exact;  // an error of this size at the most important position
    const auto n = static_cast<std::int64_t>(exact.law.size());
    const auto at = static_cast<std::size_t>(((4 - exact.origin) % n + n) % n);
    for (const double sign : {-1.0, 1.0}) {
      moved.law[at] = exact.law[at] + sign * doubt;
      EXPECT_LE(found(doubtful).lo, found(moved).hi);
      EXPECT_GE(found(doubtful).hi, found(moved).lo);
    }
  }
}

// [dominating-pair] A dominating distribution has at least the whole mass, a dominated one at most.
TEST(Bounds, ALatticePairIsRoundedOutward) {
  for (const double mu : {0.25, 1.0, 3.0}) {
    lattice::Points points{0.125, {}};
    for (std::int64_t i = -200; i <= 200; ++i) points.index.push_back(i);
    const lattice::Pair pair = lattice::discretise(*gaussian_loss(Interval::exactly(mu)), Direction::remove, points);
    EXPECT_GE((pair.above.finite_total + pair.above.infinite).lo, 1) << mu;
    EXPECT_LE((pair.below.finite_total + pair.below.infinite).hi, 1) << mu;
  }
}

// [atom-kernel] Listed losses are rounded sums. Within a few doubles of the largest one their rounding is as large as the distance to it.
TEST(Bounds, AListIncludesTheRoundingOfItsLosses) {
  const auto guarantee = [](double epsilon) {
    return std::make_shared<ConstraintsLoss>(std::vector<Guarantee>{{Interval::exactly(epsilon), Interval::exactly(0)}});
  };
  for (const double one : {0.7, 0.37, 1.3}) {
    for (const double other : {0.3, 0.77, 0.013}) {
      constexpr std::uint64_t times = 60;
      const LossPointer loss = compose_exactly({{guarantee(one), times}, {guarantee(other), times}}, {});
      const long double top = 60.0L * static_cast<long double>(one) + 60.0L * static_cast<long double>(other);  // exact in 64 bits
      const Interval log_mass = -60.0 * (log1p(exp(Interval::exactly(-one))) + log1p(exp(Interval::exactly(-other))));
      double epsilon = static_cast<double>(top);
      for (int below = 0; below < 12; ++below) {
        epsilon = std::nextafter(epsilon, 0.0);
        const auto distance = static_cast<double>(top - static_cast<long double>(epsilon));  // exact: a few bits
        const Interval truth = exp(log_mass) * -expm1(Interval::exactly(-distance));
        EXPECT_THAT(loss->delta(Direction::remove, Interval::exactly(epsilon)), test::Encloses(truth))
            << one << " " << other << " " << below;
      }
    }
  }
}

// [contour-inversion] A trillion steps reveal nearly everything: the complement is below every double, but not 0.
TEST(Bounds, AComplementThatUnderflowsIsNotZero) {
  const LossPointer step = subsampled_gaussian(Interval::exactly(1), Interval::exactly(0.5));
  const Interval found = compose_by_contour({{step, 1'000'000'000'000}})->log_delta(Direction::remove, Interval::exactly(50));
  EXPECT_LT(found.lo, 0);
  EXPECT_GT(found.lo, -1e-9);
}

// [bent-contour] With more nodes on the same contour only the roundings of their sum increase.
TEST(Bounds, AHyperbolicContourIncludesTheRoundingOfItsSum) {
  const hyperbolic::Estimate few = test::kernel_integral(0.3, 1, 1e-3), many = test::kernel_integral(0.3, 1, 1e-12);
  ASSERT_GT(many.nodes, 2 * few.nodes);
  EXPECT_GE(many.rounding - few.rounding, 0.5 * (many.nodes - few.nodes) * unit * std::abs(many.value));
}

}  // namespace
}  // namespace tradeoff::detail
