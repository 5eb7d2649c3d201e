// SPDX-License-Identifier: Apache-2.0
// The hull of a rectified mechanism: against the hull of many points, as a profile, and composed.
// Covers [guarantee-hull], [clip-and-rectify], [naive-profile].
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "numeric/arithmetic.h"
#include "support/matchers.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"
#include "tradeoff/gdp.h"
#include "tradeoff/research.h"

namespace tradeoff::detail {
namespace {

using test::Encloses;
using test::IsTight;

constexpr const char* rectified[] = {"icea(4, 20) | rectify(5, 0, 1)", "icea(4, 20) | rectify(10, -1, 1)",
                                     "icea(4, 20) | rectify(2, 0, 1)", "sqrt_log_family(2, 1, 2) | rectify(3, 0, 1)",
                                     "gaussian(1) | rectify(3, 0, 1)", "log_family(1, 2) | rectify(4, 0, 1)",
                                     "dp(1, 0.05) | rectify(2, 0, 1)"};

double delta_above(const Curve& curve, double e) { return curve.delta_at(e).hi; }

/// The lower convex hull, in e^e, of the values at many points and their mirrors, as a simple program computes it.
std::vector<std::pair<double, double>> hull_of_points(const Curve& curve, double last) {
  std::vector<std::pair<double, double>> hull;
  constexpr int count = 4000;  // so that the ends of the profiles are among the points
  for (int i = -count; i <= count; ++i) {
    const double e = last * i / count;
    const std::pair<double, double> next{std::exp(e), curve.delta_at(e).hi};
    const auto turns = [&] {
      const auto &a = hull[hull.size() - 2], &b = hull.back();
      return (b.second - a.second) * (next.first - a.first) >= (next.second - a.second) * (b.first - a.first);
    };
    while (hull.size() >= 2 && turns()) hull.pop_back();
    hull.push_back(next);
  }
  return hull;
}

double value_at(const std::vector<std::pair<double, double>>& hull, double x) {
  for (std::size_t i = 1; i < hull.size(); ++i)
    if (x <= hull[i].first) {
      const double share = (x - hull[i - 1].first) / (hull[i].first - hull[i - 1].first);
      return hull[i - 1].second + share * (hull[i].second - hull[i - 1].second);
    }
  return 0;
}

TEST(HullOfTwo, IsTheHullOfManyPoints) {
  for (const char* plan : rectified) {
    const Curve least = analyze(parse(plan)), hull = analyze(parse(std::string(plan) + " | refine()"));
    const auto points = hull_of_points(least, 10);
    for (double e = -3; e < 5.5; e += 0.23) {
      const Interval found = hull.delta_at(e);
      const double plain = value_at(points, std::exp(e));
      EXPECT_LE(found.lo, plain + 1e-12) << plan << " at " << e;  // the hull of the points lies slightly above the true one
      EXPECT_NEAR(found.hi, plain, 2e-5) << plan << " at " << e;
      EXPECT_LE(found.hi, delta_above(least, e) + 1e-15) << plan << " at " << e;
      EXPECT_LE(found.width(), 1e-6) << plan << " at " << e;
    }
  }
}

TEST(HullOfTwo, SaysMoreThanTheMinimum) {
  const GdpMeasurement least = measure_mu(analyze(parse("icea(4, 20) | rectify(10, 0, 1)")));
  const GdpMeasurement hull = measure_mu(analyze(parse("icea(4, 20) | rectify(10, 0, 1) | refine()")));
  EXPECT_THAT(least.mu, Encloses("3.29314569551709009256631485234"));
  EXPECT_LT(hull.mu.hi, 3.0728);
  EXPECT_THAT(hull.mu, IsTight(1e-7));
  for (const char* plan : rectified) {
    const Interval before = measure_mu(analyze(parse(plan))).mu, after = measure_mu(analyze(parse(std::string(plan) + " | refine()"))).mu;
    EXPECT_LE(after.lo, before.hi) << plan;
    EXPECT_LT(after.hi, before.hi * (1 + 1e-6)) << plan;
  }
}

TEST(HullOfTwo, ItsTradeOffFunctionIsTheLargerOfBoth) {
  const Curve hull = analyze(parse("icea(4, 20) | rectify(5, 0, 1) | refine()"));
  const Curve base = analyze(parse("icea(4, 20) | refine()")), noise = analyze(parse("laplace(scale=1, sensitivity=5)"));
  for (const double alpha : {1e-4, 0.01, 0.1, 0.3, 0.5, 0.9})
    EXPECT_THAT(hull.beta_at(alpha), Encloses(max(base.beta_at(alpha), noise.beta_at(alpha)))) << alpha;
}

TEST(HullOfTwo, Composes) {
  const Curve once = analyze(parse("icea(4, 20) | rectify(5, 0, 1)"));
  const Curve twice = analyze(parse("icea(4, 20) | rectify(5, 0, 1) | repeat(2)"));
  // The same through a list of its points: a chord between neighbours lies slightly above the hull, and so does their composition.
  std::string points;
  const Curve hull = analyze(parse("icea(4, 20) | rectify(5, 0, 1) | refine()"));
  for (int i = 0; i <= 50; ++i) {
    const double e = 5.0 * i / 50;
    points += (i > 0 ? ", (" : "(") + exact_number(e).text + ", " + exact_number(hull.delta_at(e).hi).text + ")";
  }
  const Curve listed = analyze(parse("constraints([" + points + "]) | repeat(2)"));
  for (const double e : {3.0}) {
    EXPECT_LE(twice.delta_at(e).lo, listed.delta_at(e).hi) << e;
    EXPECT_NEAR(twice.delta_at(e).hi, listed.delta_at(e).hi, 4e-3) << e;
    EXPECT_GE(twice.delta_at(e).hi, once.delta_at(e).lo) << e;
    EXPECT_THAT(twice.delta_at(e), IsTight(1e-4)) << e;
  }
  EXPECT_EQ(twice.delta_at(10.1).hi, 0);
  // Poisson samples and mixtures accept it too.
  const std::string family = "sqrt_log_family(2, 1, 2) | rectify(3, 0, 1)";
  EXPECT_LT(analyze(parse(family + " | poisson(0.1)")).delta_at(1).hi, 0.1 * analyze(parse(family)).delta_at(1).hi);
  EXPECT_LT(analyze(parse("mixture([(0.5, gdp(1)), (0.5, (icea(4, 20) | rectify(5, 0, 1)))])")).delta_at(5).hi, 0.001);
}

TEST(StatedTail, CertifiesAMuThatTheRowsAloneCannot) {
  const std::string rows = "profile(points=[(0, 0.3), (1, 0.1), (2, 0.02)]";
  EXPECT_EQ(measure_mu(analyze(parse(rows + ")"))).verdict, GdpVerdict::undecided);
  const Curve stated = analyze(parse(rows + ", tail=gaussian(1, 0.8))")),
              hull = analyze(parse(rows + ", tail=gaussian(1, 0.8)) | refine()"));
  const GdpMeasurement found = measure_mu(stated);
  EXPECT_EQ(found.verdict, GdpVerdict::gdp);
  EXPECT_EQ(found.tail.kind, "gaussian");
  EXPECT_THAT(found.mu, IsTight(1e-8));
  // The stated bound is unchanged; the hull lies below it, is above no guarantee, and determines mu.
  const auto points = hull_of_points(stated, 10);
  for (double e = 0; e < 8; e += 0.17) {
    const double tail = std::exp(-e * e / 1.28);
    EXPECT_NEAR(stated.delta_at(e).hi, e < 2 ? hull.delta_at(e).hi : std::min(0.02, tail), 1e-9) << e;
    EXPECT_NEAR(hull.delta_at(e).hi, value_at(points, std::exp(e)), 2e-5) << e;
    EXPECT_LE(hull.delta_at(e).hi, stated.delta_at(e).hi + 1e-15) << e;
    EXPECT_LE(gdp_transform_at(hull, Interval::exactly(e)).lo, found.mu.hi) << e;
  }
  EXPECT_NEAR(stated.log_delta_at(Interval::exactly(60)).hi, -3600 / 1.28, 1e-6);
  EXPECT_THAT(hull.log_delta_at(Interval::exactly(60)), Encloses(stated.log_delta_at(Interval::exactly(60))));
  const GdpMeasurement twice = measure_mu(analyze(parse(rows + ", tail=gaussian(1, 0.8)) | repeat(2)")));
  EXPECT_EQ(twice.verdict, GdpVerdict::gdp);
  EXPECT_LE(twice.mu.lo, std::sqrt(2.0) * found.mu.hi);
}

TEST(StatedTail, IsCheckedLikeEverythingElse) {
  EXPECT_THROW((void)analyze(parse("profile(points=[(0, 0.3)], tail=gaussian(0, 1))")), DomainError);
  EXPECT_THROW((void)analyze(parse("profile(points=[(0, 0.3)], tail=gaussian(1, -1))")), DomainError);
  EXPECT_THROW((void)parse("profile(points=[(0, 0.3)], tail=gaussian(1))"), ParseError);
  EXPECT_THROW((void)parse("profile(points=[(0, 0.3)], tail=laplace(1))"), ParseError);
  // A last delta of 0 needs no tail.
  EXPECT_EQ(measure_mu(analyze(parse("profile(points=[(0, 0.3), (2, 0)], tail=gaussian(1, 1))"))).tail.kind, "zero");
  // A wide stated tail adds nothing to the rows until far out.
  const Curve wide = analyze(parse("profile(points=[(0, 0.3), (1, 0.1)], tail=gaussian(5, 20)) | refine()"));
  EXPECT_NEAR(wide.delta_at(2).hi, 0.1, 0.005);
  EXPECT_EQ(measure_mu(wide).verdict, GdpVerdict::gdp);
}

TEST(Rectify, TakesPublicNumbersOnly) {
  EXPECT_THROW((void)parse("icea(4, 20) | rectify(epsilon=2, low=min(data), high=1)"), ParseError);
  EXPECT_THROW((void)parse("icea(4, 20) | rectify(epsilon=2, low=\"smallest\", high=1)"), ParseError);
  EXPECT_THROW((void)PublicBox::chosen_without_data({}), DomainError);
  EXPECT_THROW((void)PublicBox::chosen_without_data({{1, 1}}), DomainError);
  EXPECT_THROW((void)PublicBox::chosen_without_data({{0, std::numeric_limits<double>::infinity()}}), DomainError);
  EXPECT_THROW((void)PublicBox::chosen_without_data({{0, std::nan("")}}), DomainError);
  const PublicBox box = PublicBox::chosen_without_data({{0, 1}, {-1, 1}, {0, 0.5}});
  EXPECT_THAT(box.l1_diameter(), Encloses(3.5));
  EXPECT_THAT(box.rectifying_scale(Interval::exactly(2)), Encloses(1.75));
  EXPECT_THROW((void)box.rectifying_scale(Interval::exactly(0)), DomainError);
}

// The profile of a rectified vector: every coordinate clipped to its side, noise of the l1 diameter over epsilon on each.
TEST(Rectify, VectorsByTheirL1Diameter) {
  // Two coordinates that move across their whole sides: the sum of both Laplace losses is at most epsilon, and the scalar bound covers it.
  const PublicBox box = PublicBox::chosen_without_data({{0, 1}, {0, 3}});
  const double epsilon = 2, scale = box.rectifying_scale(Interval::exactly(epsilon)).hi;
  const Curve both = analyze(parse("laplace(scale=" + exact_number(scale).text + "); laplace(scale=" + exact_number(scale / 3).text + ")"));
  const Curve bound = analyze(parse("laplace(scale=1, sensitivity=2)"));
  for (const double e : {0.0, 0.3, 1.0, 1.9, 2.1}) EXPECT_LE(both.delta_at(e).lo, bound.delta_at(e).hi + 1e-12) << e;
}

}  // namespace
}  // namespace tradeoff::detail
