// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "engine/compose.h"
#include "engine/contour/contour.h"
#include "engine/contour/line.h"
#include "engine/exact/exact.h"
#include "engine/exact/lazy_exact.h"
#include "loss/atoms.h"
#include "mechanism/discrete_gaussian.h"
#include "mechanism/finite.h"
#include "mechanism/pair.h"
#include "mechanism/randomized_response.h"
#include "numeric/arithmetic.h"
#include "operators/group.h"
#include "support/matchers.h"
#include "transform/atoms_transform.h"
#include "transform/theta_transform.h"

// [folded-contour] [theta-transform]
namespace tradeoff::detail {
namespace {

using test::IsTight;

LossPointer fold(LossPointer loss, std::uint64_t times) { return compose_by_folded_contour({{std::move(loss), times}}); }

/// The distribution of the sum by convolution in long double, and delta by its definition: about 1e-16 relative, computed independently.
class Convolved {
 public:
  Convolved(long double sigma, int shift, int times) : step_(shift / (sigma * sigma)) {
    const int reach = static_cast<int>(std::ceil(16 * sigma)) + 16 * shift;  // the mass beyond is below 1e-55
    std::vector<long double> one;
    long double total = 0;
    for (int y = -reach; y <= reach; ++y) total += one.emplace_back(std::exp(-static_cast<long double>(y) * y / (2 * sigma * sigma)));
    for (long double& mass : one) mass /= total;
    masses_ = one;
    for (int i = 1; i < times; ++i) {
      std::vector<long double> next(masses_.size() + one.size() - 1);
      for (std::size_t a = 0; a < masses_.size(); ++a)
        for (std::size_t b = 0; b < one.size(); ++b) next[a + b] += masses_[a] * one[b];
      masses_ = std::move(next);
    }
    first_ = times * (0.5L * shift + static_cast<long double>(reach));  // the loss of outcome -reach each time, in steps
  }
  [[nodiscard]] long double loss(std::size_t place) const { return step_ * (first_ - static_cast<long double>(place)); }
  [[nodiscard]] long double delta(long double epsilon) const {
    long double sum = 0;
    for (std::size_t i = masses_.size(); i-- > 0;)
      if (loss(i) > epsilon) sum -= masses_[i] * std::expm1(epsilon - loss(i));
    return sum;
  }
  [[nodiscard]] long double tail(long double epsilon, bool other) const {
    long double sum = 0;
    for (std::size_t i = masses_.size(); i-- > 0;)
      if (loss(i) > epsilon) sum += masses_[i] * (other ? std::exp(-loss(i)) : 1);
    return sum;
  }

 private:
  long double step_;
  long double first_ = 0;
  std::vector<long double> masses_;
};

void expect_close(Interval found, long double truth, double width, const std::string& where) {
  EXPECT_LE(static_cast<long double>(found.lo), truth * (1 + 1e-15L)) << where;
  EXPECT_GE(static_cast<long double>(found.hi), truth * (1 - 1e-15L)) << where;
  EXPECT_THAT(found, IsTight(width)) << where;
}

TEST(Folded, HoldsConvolutionsOfDiscreteGaussians) {
  std::mt19937_64 random(20);  // NOLINT: the same questions every time
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int i = 0; i < 40; ++i) {
    const double sigma = std::exp(2.3 * uniform(random));
    const int shift = i % 3 == 0 ? 1 + static_cast<int>(2 * uniform(random) * sigma) : 1;
    const int times = 2 + static_cast<int>(5 * uniform(random));
    const Convolved truth(sigma, shift, times);
    const auto loss =
        fold(discrete_gaussian(Interval::exactly(sigma), static_cast<std::uint64_t>(shift)), static_cast<std::uint64_t>(times));
    ASSERT_NE(loss, nullptr);
    const double mu = shift * std::sqrt(times) / sigma;
    for (const double share : {0.0, 0.1, 1.0, 3.0, 6.0}) {
      const double epsilon = share * mu * uniform(random) + (share > 1 ? mu * mu / 2 : 0);
      const std::string where = "sigma " + std::to_string(sigma) + " shift " + std::to_string(shift) + " times " + std::to_string(times) +
                                " epsilon " + std::to_string(epsilon);
      expect_close(loss->delta(Direction::remove, Interval::exactly(epsilon)), truth.delta(epsilon), 1e-11, where);
      const auto found = loss->test_at(Direction::remove, epsilon);
      ASSERT_TRUE(found) << where;
      expect_close(found->true_positive, truth.tail(epsilon, false), 1e-10, where);
      expect_close(found->false_positive, truth.tail(epsilon, true), 1e-10, where);
    }
  }
}

// At a lattice point, and a few roundings next to it, both neighbouring formulas hold.
TEST(Folded, HoldsOnThePointsOfTheLattice) {
  for (const double sigma : {1.0, 1.3, 3.0, 7.7}) {
    const Convolved truth(sigma, 1, 3);
    const auto loss = fold(discrete_gaussian(Interval::exactly(sigma), 1), 3);
    for (int j = 0; j < 12; ++j) {
      const double point = (j + 0.5) / (sigma * sigma);
      for (const double epsilon : {point * (1 - 4e-16), point, point * (1 + 4e-16), point * (1 - 1e-12), point * (1 + 1e-12)})
        expect_close(loss->delta(Direction::remove, Interval::exactly(epsilon)), truth.delta(epsilon), 1e-11, std::to_string(epsilon));
    }
  }
}

TEST(Folded, FindsEpsilonDownToTinyDeltas) {
  for (const double sigma : {1.0, 4.0, 90.0, 1000.0})
    for (const std::uint64_t times : {std::uint64_t{2}, std::uint64_t{37}, std::uint64_t{1000000}}) {
      const auto loss = fold(discrete_gaussian(Interval::exactly(sigma), 1), times);
      for (const double delta : {0.5, 1e-3, 1e-10, 1e-100}) {
        const auto epsilon = loss->closed_epsilon(Direction::remove, Interval::exactly(delta));
        ASSERT_TRUE(epsilon);
        if (epsilon->hi == 0) continue;
        EXPECT_THAT(*epsilon, IsTight(1e-10)) << sigma << " " << times << " " << delta;
        EXPECT_GE(loss->log_delta(Direction::remove, Interval::exactly(epsilon->lo)).hi, std::log(delta) - 1e-13);
        EXPECT_LE(loss->log_delta(Direction::remove, Interval::exactly(epsilon->hi)).lo, std::log(delta) + 1e-13);
      }
    }
}

// For a large sigma the lattice is so fine that the noise is nearly Gaussian, and never better.
TEST(Folded, ApproachesTheGaussian) {
  const double mu = std::sqrt(1e4) / 1000;
  const auto loss = fold(discrete_gaussian(Interval::exactly(1000), 1), 10000);
  const auto normal = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  for (const double epsilon : {0.01, 0.2, 0.4}) {
    const double smooth = normal(-epsilon / mu + mu / 2) - std::exp(epsilon) * normal(-epsilon / mu - mu / 2);
    const Interval delta = loss->delta(Direction::remove, Interval::exactly(epsilon));
    EXPECT_THAT(delta, IsTight(1e-11));
    EXPECT_NEAR(delta.hi / smooth, 1, 1e-6);
  }
}

TEST(Folded, HoldsExactCompositionsOfResponsesAndGuarantees) {
  for (const std::uint64_t choices : {std::uint64_t{2}, std::uint64_t{5}})
    for (const double epsilon0 : {0.01, 0.5, 3.0})
      for (const std::uint64_t times : {std::uint64_t{2}, std::uint64_t{15}, std::uint64_t{400}}) {
        const Parts parts{{randomized_response(Interval::exactly(epsilon0), choices), times}};
        const auto exact = compose_exactly(parts, {});
        const auto folded = compose_by_folded_contour(parts);
        ASSERT_NE(folded, nullptr);
        for (const double share : {0.0, 0.03, 0.21, 0.5, 0.9, 0.999}) {
          const double epsilon = share * epsilon0 * static_cast<double>(times);
          const Interval one = exact->log_delta(Direction::remove, Interval::exactly(epsilon));
          const Interval other = folded->log_delta(Direction::remove, Interval::exactly(epsilon));
          EXPECT_LE(one.lo, other.hi) << choices << " " << epsilon0 << " " << times << " " << share;
          EXPECT_GE(one.hi, other.lo) << choices << " " << epsilon0 << " " << times << " " << share;
        }
      }
}

// The losses of a group lie on the lattice of one record.
TEST(Folded, HoldsGroups) {
  for (const std::uint64_t choices : {2U, 8U})
    for (const std::uint64_t size : {2U, 3U})
      for (const std::uint64_t times : {6U, 7U}) {
        const LossPointer group = group_loss(randomized_response(Interval::exactly(0.3), choices), size);
        const LossPointer folded = fold(group, times), exact = compose_exactly({{group, times}}, {});
        ASSERT_NE(folded, nullptr);
        for (const double epsilon : {0.0, 0.4, 1.1, 2.9}) {
          const Interval found = folded->delta(Direction::remove, Interval::exactly(epsilon)),
                         truth = exact->delta(Direction::remove, Interval::exactly(epsilon));
          EXPECT_LE(found.lo, truth.hi) << choices << ' ' << size << ' ' << times << ' ' << epsilon;
          EXPECT_GE(found.hi, truth.lo) << choices << ' ' << size << ' ' << times << ' ' << epsilon;
          EXPECT_THAT(found, IsTight(1e-9)) << choices << ' ' << size << ' ' << times << ' ' << epsilon;
        }
      }
}

// [theta-transform] Against the sum over the outcomes, at real orders and on vertical lines.
TEST(ThetaTransform, HoldsTheSumOverAllOutcomes) {
  constexpr long double pi = std::numbers::pi_v<long double>;
  for (const double sigma : {1.0, 1.25, 2.0, 6.0})
    for (const double shift : {1.0, 3.0}) {
      const auto transform = theta_transform(Interval::exactly(sigma), shift);
      ASSERT_NE(transform, nullptr);
      const auto moments = transform->prepare({});
      for (const double order : {-0.5, 0.0, 0.3, 1.0, 2.45, 9.1}) {
        const auto tilt = moments->tilt(order);
        const auto sum = [&](double t) {  // of exp((order + it) L), the phase of the centre taken away
          long double real = 0, imaginary = 0, total = 0;
          const int reach = static_cast<int>(30 * sigma + 12 * shift * (1 + std::abs(order)));
          for (int y = -reach; y <= reach; ++y) {
            const long double l = shift * (shift / 2 - y) / (static_cast<long double>(sigma) * sigma);
            const long double weight = std::exp(-static_cast<long double>(y) * y / (2.0L * sigma * sigma));
            total += weight;
            real += weight * std::exp(order * l) * std::cos(t * (l - tilt->centre()));
            imaginary += weight * std::exp(order * l) * std::sin(t * (l - tilt->centre()));
          }
          return std::pair{real / total, imaginary / total};
        };
        const long double moment = sum(0).first;
        const long double log_moment = std::log(moment);
        EXPECT_LE(static_cast<long double>(tilt->log_moment().lo), log_moment + 1e-17L);
        EXPECT_GE(static_cast<long double>(tilt->log_moment().hi), log_moment - 1e-17L);
        EXPECT_LE(tilt->log_moment().width(), 1e-14 * (1 + std::abs(tilt->log_moment().hi)));
        EXPECT_GE(static_cast<long double>(moments->log_moment_above(order)), log_moment - 1e-17L);
        const auto half = static_cast<double>(pi * sigma * sigma / shift);
        for (const double share : {1e-4, 1e-2, 0.1, 0.3, 0.7, 0.97, 1.0, 1.4, 2.0}) {
          const double t = share * half;
          const auto [real, imaginary] = sum(t);
          CharacteristicValue found;
          tilt->characteristic_function({&t, 1}, {&found, 1});
          EXPECT_LE(std::abs(1.0L + found.real_less_one - real / moment), found.error + 4e-18L) << sigma << " " << order << " " << share;
          EXPECT_LE(std::abs(found.imaginary - imaginary / moment), found.error + 4e-18L) << sigma << " " << order << " " << share;
          EXPECT_LE(found.error, 1e-12);
          EXPECT_GE(tilt->modulus_above(t), static_cast<double>(std::hypot(real, imaginary) / moment) - 1e-15);
          if (share > 1) {
            EXPECT_EQ(tilt->modulus_beyond(t), 1);
            continue;
          }
          for (int k = 0; k <= 10; ++k) {  // nothing up to the middle of the period is larger
            const auto [there, aside] = sum(t + k * (half - t) / 10);
            EXPECT_GE(tilt->modulus_beyond(t), static_cast<double>(std::hypot(there, aside) / moment) - 1e-15);
          }
        }
        const double furthest = 1e9 * half;
        EXPECT_EQ(tilt->modulus_above(furthest), 1);
      }
    }
}

TEST(ThetaTransform, NeedsASigmaThatIsKnownAndLarge) {
  EXPECT_EQ(theta_transform(Interval::exactly(0.9), 1), nullptr);
  EXPECT_EQ(theta_transform({1, 1.1}, 1), nullptr);
}

// The terms of the error budget one by one: each is made so large that omitting it would be visible.

/// A plan that owns its loss.
struct FoldedPlan {
  FoldedPlan(double sigma, std::uint64_t times) : loss(discrete_gaussian(Interval::exactly(sigma), 1)) {
    plan.items.push_back({loss, {loss, loss->transform(Direction::remove)}, static_cast<double>(times)});
    plan.steps = static_cast<double>(times);
    plan.largest_loss = infinity;
    plan.lattice = LossLattice{loss->lattice()->step, times % 2 != 0};
  }
  [[nodiscard]] ContourLine::Value at(double order, double epsilon, ContourLine::Accuracy accuracy, ContourLine::Kernel kernel) const {
    const auto moments = ContourMoments::prepare(plan, {0, order + 6, 1, 0, false, order, 0});
    return ContourLine(*moments, *moments, order, epsilon, accuracy).at(epsilon, kernel);
  }
  LossPointer loss;
  ContourPlan plan;
};

/// Value minus true value, in units of exp(base).
long double excess_of(const ContourLine::Value& value, long double truth) {
  return value.value - std::exp(std::log(truth) - 0.5L * (value.base.lo + static_cast<long double>(value.base.hi)));
}

TEST(Folded, AliasErrorIsBounded) {
  const FoldedPlan plan(3, 2);
  const Convolved truth(3, 1, 2);
  for (const double epsilon : {0.5, 1.0}) {
    const auto value = plan.at(4.5 * epsilon, epsilon, {1e-2, 1e-13}, ContourLine::Kernel::profile);
    const long double excess = excess_of(value, truth.delta(epsilon));
    EXPECT_GT(excess, 2 * (value.nodes + value.truncation)) << "too small to be seen";
    EXPECT_LE(excess, value.below);
  }
}

TEST(Folded, TruncationIsBounded) {
  const FoldedPlan plan(8, 2);
  const Convolved truth(8, 1, 2);
  bool seen = false;
  for (const double epsilon : {0.05, 0.13, 0.2, 0.31}) {
    const auto value = plan.at(25 * epsilon + 6, epsilon, {1e-13, 3}, ContourLine::Kernel::profile);
    const long double excess = excess_of(value, truth.delta(epsilon));
    seen = seen || std::abs(excess) > 2 * (value.nodes + value.alias);
    EXPECT_LE(excess, value.below);
    EXPECT_LE(-excess, value.above);
  }
  EXPECT_TRUE(seen) << "too small to be seen";
}

// The lattice step is known to 2e-11 only, the true value at one end: nodes, kernels and positions are all off by half of that.
TEST(Folded, TheErrorIncludesAnUncertainStep) {
  for (const double sigma : {1.0, 3.0})
    for (const double epsilon : {0.0, 0.3, 1.1, 2.02, 3.4}) {
      FoldedPlan plan(sigma, 2);
      plan.plan.lattice->step.hi *= 1 + 2e-11;
      const Convolved truth(sigma, 1, 2);
      for (const auto kernel : {ContourLine::Kernel::profile, ContourLine::Kernel::true_positive}) {
        const auto value = plan.at(0.5 * sigma * sigma * epsilon + 1, epsilon, {1e-13, 1e-13}, kernel);
        const bool profile = kernel == ContourLine::Kernel::profile;
        const long double delta = profile ? truth.delta(epsilon) : truth.tail(epsilon, false);
        EXPECT_GE(std::exp(static_cast<long double>(value.base.hi)) * (value.value + value.above), delta) << sigma << " " << epsilon;
        EXPECT_LE(std::exp(static_cast<long double>(value.base.lo)) * (value.value - value.below), delta) << sigma << " " << epsilon;
        EXPECT_LE(value.above, 1e-6 * value.value);
      }
    }
}

// Just below an atom with nearly all the mass, delta is the distance to it: the position of the atom must not be treated as exact.
TEST(Folded, TheErrorIncludesAnUncertainPosition) {
  const double width = 4e-13;
  const auto folded = fold(discrete_gaussian({1.5 - width, 1.5 + width}, 10), 1);
  ASSERT_NE(folded, nullptr);
  for (const double distance : {1e-4, 1e-3, 1e-2})
    for (const double sigma : {1.5 - width, 1.5 + width}) {
      const double epsilon = 10 * (5.0 + 30) / 2.25 - distance;
      const Interval truth = discrete_gaussian(Interval::exactly(sigma), 10)->log_delta(Direction::remove, Interval::exactly(epsilon));
      const Interval found = folded->log_delta(Direction::remove, Interval::exactly(epsilon));
      EXPECT_LE(found.lo, truth.hi) << distance;
      EXPECT_GE(found.hi, truth.lo) << distance;
    }
}

// Nothing is claimed if no line is possible: the step is too fine, the position too far, or there are too many nodes.
TEST(Folded, ReturnsATrivialBoundIfItCannotProveMore) {
  FoldedPlan fine(3, 2);
  fine.plan.lattice->step = Interval::exactly(1e-20);
  EXPECT_EQ(fine.at(2, 0.5, {1e-13, 1e-13}, ContourLine::Kernel::profile).above, infinity);
  EXPECT_EQ(FoldedPlan(3, 2).at(2, 1e18, {1e-13, 1e-13}, ContourLine::Kernel::profile).above, infinity);
  const LossPointer response = randomized_response(Interval::exactly(0.01), 2);
  FoldedPlan plan(3, 2);
  plan.plan.items = {{response, atoms_transform(*response->atoms(Direction::remove)), 2}};
  plan.plan.lattice = response->lattice();
  EXPECT_EQ(plan.at(1e-6, 0.001, {1e-13, 1e-13}, ContourLine::Kernel::profile).above, infinity);
}

TEST(Folded, AListMadeLaterIsTheList) {
  const Parts parts{{randomized_response(Interval::exactly(0.5), 5), 20}};
  const auto later = compose_exactly_when_asked(parts, {}), now = compose_exactly(parts, {});
  EXPECT_EQ(later->symmetric(), now->symmetric());
  EXPECT_EQ(later->delta(Direction::remove, Interval::exactly(1)), now->delta(Direction::remove, Interval::exactly(1)));
  EXPECT_EQ(later->log_delta(Direction::remove, Interval::exactly(1)), now->log_delta(Direction::remove, Interval::exactly(1)));
  EXPECT_EQ(later->closed_epsilon(Direction::remove, Interval::exactly(0.01)),
            now->closed_epsilon(Direction::remove, Interval::exactly(0.01)));
}

TEST(Folded, IsForOneMechanismOnALattice) {
  const LossPointer noise = discrete_gaussian(Interval::exactly(4), 1), other = discrete_gaussian(Interval::exactly(5), 1);
  EXPECT_EQ(compose_by_folded_contour({{noise, 2}, {other, 2}}), nullptr);
  EXPECT_EQ(fold(pair_loss({Interval::exactly(0.25), Interval::exactly(0.75)}, {Interval::exactly(0.5), Interval::exactly(0.5)}), 3),
            nullptr);
}

// If a list of atoms would be long, the folded contour answers, and the list is made only for its corners.
TEST(Folded, IsChosenWhereAListWouldBeLong) {
  const auto theorem_of = [](const Composition& composition) {
    return provenance_of([&] { (void)composition.loss->delta(Direction::remove, Interval::exactly(0.1)); }).steps.back().theorem;
  };
  EXPECT_EQ(theorem_of(compose({{discrete_gaussian(Interval::exactly(1), 1), 2}}, {})), "exact-composition");
  const Composition folded = compose({{discrete_gaussian(Interval::exactly(5), 1), 3}}, {});
  EXPECT_EQ(theorem_of(folded), "folded-contour");
  const auto corners = folded.loss->guarantees(Direction::remove);
  ASSERT_TRUE(corners);
  for (std::size_t i = 0; i < corners->size(); i += 50) {
    const auto& [epsilon, delta] = (*corners)[i];
    const Interval found = folded.loss->delta(Direction::remove, epsilon);
    EXPECT_TRUE(found.lo <= delta.hi && delta.lo <= found.hi);
  }
  EXPECT_EQ(theorem_of(compose({{discrete_gaussian(Interval::exactly(50), 1), 100}}, {})), "folded-contour");
}

// Two opposite losses lie on a lattice, whoever lists them, and so does a group of them.
TEST(Folded, TwoOppositeLossesAreALattice) {
  const LossPointer one = finite_loss(*randomized_response(Interval::exactly(0.375), 2)->atoms(Direction::remove), "", {});
  for (const LossPointer& loss : {one, group_loss(one, 3)}) {
    const LossPointer folded = fold(loss, 51);
    ASSERT_NE(folded, nullptr);
    const LossPointer exact = compose_exactly({{loss, 51}}, {});
    for (const double epsilon : {0.0, 1.0, 6.0}) {
      const Interval found = folded->log_delta(Direction::remove, Interval::exactly(epsilon)),
                     truth = exact->log_delta(Direction::remove, Interval::exactly(epsilon));
      EXPECT_LE(found.lo, truth.hi) << epsilon;
      EXPECT_GE(found.hi, truth.lo) << epsilon;
      EXPECT_LE(found.width(), 1e-10) << epsilon;
    }
  }
}

}  // namespace
}  // namespace tradeoff::detail
