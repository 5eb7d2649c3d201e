// SPDX-License-Identifier: Apache-2.0
// Draws with replacement, compared with the enumeration of all samples and with the group profiles. Covers [replacement-subsampling].
#include "operators/with_replacement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <vector>

#include "curve/curve_state.h"
#include "mechanism/laplace.h"
#include "numeric/arithmetic.h"
#include "support/matchers.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::IsTight;

/// The law of (sum over `draws` records drawn with replacement) + noise on the integers, records 0 or 1.
std::map<int, double> law(const std::vector<int>& records, int draws, const std::function<double(int)>& noise, int reach) {
  std::map<int, double> found;
  const auto count = static_cast<int>(records.size());
  int samples = 1;
  for (int i = 0; i < draws; ++i) samples *= count;
  for (int sample = 0; sample < samples; ++sample) {
    int sum = 0;
    for (int i = 0, rest = sample; i < draws; ++i, rest /= count) sum += records[static_cast<std::size_t>(rest % count)];
    for (int y = -reach; y <= reach; ++y) found[sum + y] += noise(y) / samples;
  }
  return found;
}

double hockey_stick(const std::map<int, double>& p, const std::map<int, double>& q, double epsilon) {
  double total = 0;
  for (const auto& [outcome, mass] : p) {
    const auto other = q.find(outcome);
    total += std::max(0.0, mass - std::exp(epsilon) * (other == q.end() ? 0.0 : other->second));
  }
  return total;
}

// Draws that are bounded instead of iterated bound the tail from above only: 20 draws cannot need more than 20 mu of Laplace(1).
TEST(WithReplacement, AnUpperBoundGivesNoLowerLimit) {
  const Curve curve = analyze(parse("weakest([gaussian(sigma=1), laplace(scale=1)]) | sample_with_replacement(draws=20, of=1000)"));
  EXPECT_LE(loss_of(curve)->tail().limit.lo, 20.6012799524886775);
}

struct Noise {
  const char* plan;
  std::function<double(int)> weight;
};

TEST(WithReplacement, CoversEverySampleWrittenOut) {
  const std::vector<Noise> noises = {{"discrete_laplace(scale=2)", [](int y) { return std::tanh(0.25) * std::exp(-std::abs(y) / 2.0); }},
                                     {"discrete_gaussian(sigma=1.5)", [](int y) {
                                        double total = 0;
                                        for (int i = -60; i <= 60; ++i) total += std::exp(-i * i / 4.5);
                                        return std::exp(-y * y / 4.5) / total;
                                      }}};
  for (const Noise& noise : noises) {
    for (const int draws : {1, 2, 3}) {
      const Curve curve = analyze(parse(std::string(noise.plan) + " | sample_with_replacement(" + std::to_string(draws) + ", 4)"));
      for (const std::vector<int>& with : {std::vector<int>{1, 0, 0, 0}, std::vector<int>{1, 1, 0, 1}, std::vector<int>{1, 1, 1, 1}}) {
        std::vector<int> without = with;
        without[0] = 0;
        const auto p = law(with, draws, noise.weight, 60), q = law(without, draws, noise.weight, 60);
        for (const double e : {0.0, 0.05, 0.2, 0.4, 0.8}) {
          EXPECT_LE(hockey_stick(p, q, e), curve.delta_at(e).hi + 1e-12) << noise.plan << " " << draws << " at " << e;
          EXPECT_LE(hockey_stick(q, p, e), curve.delta_at(e).hi + 1e-12) << noise.plan << " " << draws << " at " << e;
        }
      }
    }
  }
}

TEST(WithReplacement, OneDrawIsASampleOfOne) {
  for (const char* base :
       {"laplace(1)", "gaussian(2)", "randomized_response(1)", "dp(1, 1e-6)", "truncated_laplace(1, 8)", "discrete_gaussian(2)"}) {
    const Curve with = analyze(parse(std::string(base) + " | sample_with_replacement(1, 10)"));
    const Curve without = analyze(parse(std::string(base) + " | sample(1, 10)"));
    for (const double e : {-0.5, 0.0, 0.01, 0.1, 0.5}) EXPECT_THAT(with.delta_at(e), Encloses(without.delta_at(e))) << base << " at " << e;
  }
}

TEST(WithReplacement, TakesAnyBaseTightly) {
  for (const char* plan :
       {"randomized_response(1) | sample_with_replacement(10, 100)", "dp(1, 1e-6) | sample_with_replacement(10, 100)",
        "discrete_laplace(2) | sample_with_replacement(30, 1000)", "laplace(1) | sample_with_replacement(5000, 100000)",
        "truncated_laplace(1, 10) | sample_with_replacement(3, 100)", "sqrt_log_family(2, 1, 2) | sample_with_replacement(2, 10)",
        "constraints([(0.5, 1e-3), (1, 1e-6)]) | sample_with_replacement(4, 50)"})
    for (const double e : {0.0, 0.5, 1.0}) EXPECT_THAT(analyze(parse(plan)).delta_at(e), IsTight(1e-4)) << plan << " at " << e;
}

TEST(WithReplacement, KeepsTheChanceOfRevealingEverything) {
  // Each draw of the record adds risk: it is drawn at all with probability 1 - (1 - 1/100)^10, and a group of k multiplies the infinite
  // mass.
  const Curve curve = analyze(parse("dp(0, 1e-6) | sample_with_replacement(10, 100)"));
  EXPECT_GT(curve.delta_at(5).lo, 0.0956 * 1e-6);
  EXPECT_LT(curve.delta_at(5).hi, 0.11 * 1e-6);
  EXPECT_THAT(curve.delta_at(Interval::exactly(std::numeric_limits<double>::infinity())), Encloses(curve.delta_at(5)));
}

TEST(WithReplacement, RefusesWhatWouldTakeTooLong) {
  EXPECT_THROW((void)analyze(parse("sqrt_log_family(2, 1, 2) | sample_with_replacement(1000, 9999)")), TooLargeError);
  EXPECT_THROW((void)analyze(parse("laplace(1) | sample_with_replacement(10001, 20000)")), TooLargeError);
}

TEST(WithReplacement, AnswersWhereExponentialsOverflow) {
  const Curve with = analyze(parse("gdp(40) | sample_with_replacement(1, 10)")), without = analyze(parse("gdp(40) | sample(1, 10)"));
  for (const double e : {599.0, 601.0, 700.0, 896.0, 1200.0}) EXPECT_THAT(with.delta_at(e), Encloses(without.delta_at(e))) << e;
  const Curve revealing = analyze(parse("dp(1, 1e-6) | sample_with_replacement(10, 100)"));
  EXPECT_EQ(loss_of(revealing)->infinite_mass(Direction::remove),
            loss_of(revealing)->delta(Direction::remove, Interval::exactly(infinity)));
}

/// A bounded loss without capabilities.
class BoundedAlone final : public Loss {
 public:
  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override { return laplace_.delta(direction, epsilon); }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  [[nodiscard]] Tail tail() const override { return zero_tail(1); }

 private:
  LaplaceLoss laplace_{Interval::exactly(1)};
};

// Groups too rare to matter are bounded by their largest loss: the answer still contains that of the same distribution in closed form.
TEST(WithReplacement, RareGroupsAreBounded) {
  const LossPointer bounded = sample_with_replacement(std::make_shared<BoundedAlone>(), 3, 100'000'000);
  const LossPointer closed = sample_with_replacement(std::make_shared<LaplaceLoss>(Interval::exactly(1)), 3, 100'000'000);
  for (const double e : {0.0, 1e-9, 2e-8}) {
    const Interval outer = bounded->delta(Direction::remove, Interval::exactly(e));
    const Interval inner = closed->delta(Direction::remove, Interval::exactly(e));
    EXPECT_TRUE(outer.lo <= inner.hi && inner.lo <= outer.hi) << e;
    EXPECT_THAT(outer, IsTight(1e-5)) << e;
  }
  EXPECT_GE(bounded->tail().zero_from, closed->tail().zero_from * (1 - 1e-9));
}

}  // namespace
}  // namespace tradeoff::detail
