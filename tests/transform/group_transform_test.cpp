// SPDX-License-Identifier: Apache-2.0
#include "transform/group_transform.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "numeric/arithmetic.h"
#include "support/matchers.h"
#include "transform/group_nodes.h"
#include "transform/subsampled_transform.h"

// [group-transform]
namespace tradeoff::detail {
namespace {

using test::golden_interval;

SampledCurve curve_of(const std::string& kind, const char* decimal, const char* rate) {
  const Interval parameter = golden_interval(decimal);
  SampledCurve curve{{}, {}, golden_interval(rate)};
  if (kind == "zcdp")
    curve.rho = parameter;
  else
    curve.base = *sampled_base(*(kind == "gdp" ? gaussian_loss(parameter) : std::make_shared<LaplaceLoss>(1.0 / parameter)));
  return curve;
}

/// E_Q[w^(p + it)].
struct Moment {
  const char* kind;
  const char* parameter;
  const char* rate;
  std::size_t size;
  double power, t;
  double real, imaginary;
};

// By mpmath with 32 digits: h iterated from its definition, and integrals over the levels by other panels of 48 points or more; with power
// 0 they give 1 to 25 digits.
const std::vector<Moment> moments{
    {"gdp", "1", "0.01", 3, 2, 0, 1.00258354069289303, 0},
    {"gdp", "1", "0.01", 3, 1.5, 7, 0.953354438232105695, 0.0108305244357079979},
    {"gdp", "1", "0.01", 3, 2, 30, 0.710104936892326241, 0.0121111716904593817},
    {"gdp", "0.8", "0.3", 2, 2, 0, 1.55960011018003027, 0},
    {"gdp", "0.8", "0.3", 2, 1.5, 7, 0.261965212376341145, 0.0156022578934934193},
    {"gdp", "0.8", "0.3", 2, 2, 30, 0.170991530729532774, 0.0038861709259739514},
    {"laplace", "2", "0.1", 2, 2, 0, 1.01066068318147237, 0},
    {"laplace", "2", "0.1", 2, 4, 0, 1.06478067128038177, 0},
    {"laplace", "2", "0.1", 2, 1.5, 7, 0.757575610279455048, 0.0656358110139127033},
    {"laplace", "2", "0.1", 2, 2, 30, -0.323826452351335089, -0.0629344216161847129},
    {"laplace", "1.5", "0.5", 3, 2, 0, 2.01443533412389694, 0},
    {"laplace", "1.5", "0.5", 3, 4, 0, 15.8400118963421467, 0},
    {"laplace", "1.5", "0.5", 3, 1.5, 7, -0.146434662177139556, 0.579668490260884541},
    {"laplace", "1.5", "0.5", 3, 2, 30, -1.18385262204909042, -0.422258297322889018},
    {"zcdp", "0.1", "0.1", 3, 2, 0, 1.04824335079579838, 0},
    {"zcdp", "0.1", "0.1", 3, 4, 0, 1.3544860891896428, 0},
    {"zcdp", "0.1", "0.1", 3, 1.5, 7, 0.403887355508557622, 0.0816794740019140545},
    {"zcdp", "0.1", "0.1", 3, 2, 30, 0.113540169149582741, -0.00513856446280901992},
    {"zcdp", "0.5", "0.4", 2, 2, 0, 10.3793381250783404, 0},
    {"zcdp", "0.5", "0.4", 2, 1.5, 7, -0.051452004009282202, 0.0434340962544996447},
    {"zcdp", "0.5", "0.4", 2, 2, 30, 0.167275191105765277, -0.0138810791299886493},
};

const Moment& whole_moment(const Moment& one) {
  return *std::find_if(moments.begin(), moments.end(), [&](const Moment& other) {
    return other.t == 0 && other.power == 2 && std::string(other.kind) == one.kind && std::string(other.rate) == one.rate;
  });
}

TEST(GroupTransform, HoldsIntegralsOverTheLevels) {
  for (const Moment& one : moments) {
    SCOPED_TRACE(::testing::Message() << one.kind << " " << one.parameter << " " << one.rate << " " << one.power << " " << one.t);
    const IteratedCurve curve(curve_of(one.kind, one.parameter, one.rate), one.size);
    const auto transform = group_transform(curve);
    ASSERT_NE(transform, nullptr);
    EXPECT_EQ(transform->infinite_mass().hi, 0);
    const auto prepared = transform->prepare({0, one.power, 1e3, 0, false, one.power - 1, std::max(one.t, 1.0)});
    ASSERT_NE(prepared, nullptr);
    const auto tilt = prepared->tilt(one.power - 1);
    if (one.t == 0) {
      const Interval enlarged = hull(tilt->log_moment(), {tilt->log_moment().lo - 1e-16, tilt->log_moment().hi + 1e-16});  // 18 digits
      EXPECT_THAT(enlarged, test::Encloses(log(Interval::exactly(one.real))));
      EXPECT_LT(tilt->log_moment().width(), 1e-13 + 1e-12 * std::abs(std::log(one.real)));
      EXPECT_GE(prepared->log_moment_above(one.power - 1) + 1e-16, std::log(one.real));
      EXPECT_LE(prepared->log_moment_above(one.power - 1), std::log(one.real) + 1e-9);
      continue;
    }
    CharacteristicValue value;
    tilt->characteristic_function({&one.t, 1}, {&value, 1});
    // phi(t) M e^(it centre) is the moment.
    const double size = one.power == 2 ? whole_moment(one).real : std::exp(middle_of(tilt->log_moment()));
    const std::complex<double> found =
        std::complex<double>(1 + value.real_less_one, value.imaginary) * std::polar(size, one.t * tilt->centre());
    EXPECT_LE(std::abs(found - std::complex<double>(one.real, one.imaginary)), size * (value.error + 4e-15));
    EXPECT_LT(value.error, 1e-9);
    const double modulus = std::hypot(one.real, one.imaginary) / size;
    const Decay decay = tilt->decay(0.5);
    EXPECT_LE(modulus, tilt->modulus_above(one.t));
    EXPECT_LE(modulus, decay.atoms + decay.variation / one.t);
  }
}

// The masses and the first moment of every law are 1: the whole of what the pieces, the atoms, the mirror images and the rest hold.
TEST(GroupTransform, HasMassOne) {
  struct Row {
    const char* kind;
    const char* parameter;
    const char* rate;
  };
  for (const Row& row : {Row{"gdp", "1", "0.01"}, Row{"gdp", "3", "0.9"}, Row{"gdp", "0.1", "1e-4"}, Row{"gdp", "0.5", "1"},
                         Row{"laplace", "5", "0.05"}, Row{"laplace", "0.2", "0.3"}, Row{"laplace", "1", "1"}, Row{"zcdp", "0.1", "0.1"},
                         Row{"zcdp", "0.003", "0.5"}, Row{"zcdp", "0.5", "1"}})
    for (const std::size_t size : {2U, 3U, 5U, 8U}) {
      SCOPED_TRACE(::testing::Message() << row.kind << " " << row.parameter << " " << row.rate << " " << size);
      const IteratedCurve curve(curve_of(row.kind, row.parameter, row.rate), size);
      if (curve.pieces().empty()) continue;
      const GroupNodes nodes(curve, {0, 3, 1.5, 3, 40, 1e3, false});
      double sum = 0, first = 0, error = 0;
      for (std::size_t j = 0; j < nodes.nodes().loss.size(); ++j) {
        const double one = nodes.nodes().weight[j], other = std::exp(nodes.nodes().log_weight[j] + nodes.nodes().loss[j]);
        sum += one;
        first += other;
        error += (one + other) * (nodes.nodes().log_weight_error[j] + nodes.nodes().loss_error[j]);
      }
      if (nodes.nodes().loss.empty()) continue;  // too many panels
      EXPECT_NEAR(sum, 1, nodes.unit_error() + error + 1e-14);
      EXPECT_NEAR(first, 1, nodes.unit_error() + error + 1e-14);
      EXPECT_LT(nodes.unit_error() + error, 1e-12);
    }
}

// The values on discs hold the values at complex points that the differences of real points imply, and the proved values at real points.
TEST(IteratedCurve, DiscsHoldThePointsInside) {
  for (const auto& [kind, parameter, rate] :
       {std::tuple{"gdp", "1", "0.05"}, std::tuple{"laplace", "1.5", "0.4"}, std::tuple{"zcdp", "0.1", "0.2"}})
    for (const std::size_t size : {2U, 3U, 6U}) {
      const IteratedCurve curve(curve_of(kind, parameter, rate), size);
      for (const IteratedCurve::Piece& piece : curve.pieces()) {
        if (piece.is_constant()) continue;
        const double from = piece.from.hi, to = std::min(piece.to.lo, from + 3), centre = 0.5 * (from + to);
        for (const double radius : {0.4 * (to - from), 0.1 * (to - from)}) {
          const auto disc = curve.along(piece, Disc{centre, radius});
          for (const double share : {-1.0, -0.5, 0.0, 0.3, 1.0}) {
            const double x = centre + share * radius * (1 - 1e-9), step = 1e-6 * radius;
            const auto point = curve.along(piece, Interval::exactly(x));
            const auto holds = [&](Disc all, Interval value, const char* what) {
              EXPECT_LE(value.lo, all.centre + all.radius) << what << kind << size << " " << x;
              EXPECT_GE(value.hi, all.centre - all.radius) << what << kind << size << " " << x;
            };
            holds(disc.loss, point.loss, "loss ");
            holds(disc.log_density, point.log_density, "density ");
            holds(disc.gain, point.gain, "gain ");
            const double inside = x - std::copysign(step, x - centre);
            const Interval slope = (curve.along(piece, Interval::exactly(inside)).loss - point.loss) / (Interval::exactly(inside) - x);
            holds(disc.loss_slope, slope, "slope ");
            EXPECT_NEAR(curve.along(piece, x).loss, middle_of(point.loss), 1e-8 * (1 + std::abs(point.loss.hi)));
          }
        }
      }
    }
}

// The pieces meet, and the loss does not grow from one to the next.
TEST(IteratedCurve, PiecesCoverTheLevelsUpToTheMiddle) {
  for (const auto& [kind, parameter, rate] : {std::tuple{"gdp", "1", "0.05"}, std::tuple{"laplace", "1.5", "0.4"},
                                              std::tuple{"zcdp", "0.1", "0.2"}, std::tuple{"gdp", "4", "0.5"}})
    for (const std::size_t size : {2U, 3U, 6U}) {
      const IteratedCurve curve(curve_of(kind, parameter, rate), size);
      ASSERT_FALSE(curve.pieces().empty());
      double before = infinity, level = -infinity;
      for (const IteratedCurve::Piece& piece : curve.pieces()) {
        const double first = piece.is_steep() ? piece.to.lo : piece.from.hi, last = piece.is_steep() ? piece.from.hi : piece.to.lo;
        if (first < infinity && first > 0) {
          EXPECT_NEAR(middle_of(curve.log_level(piece, first)), level, 1e-9);
          const double loss = curve.along(piece, first).loss;
          EXPECT_LE(loss, before + 1e-8);
        }
        before = curve.along(piece, last).loss;
        level = middle_of(curve.log_level(piece, last));
      }
      EXPECT_NEAR(level, curve.log_middle(), 1e-9);
      EXPECT_NEAR(before, 0, 1e-8);
    }
}

}  // namespace
}  // namespace tradeoff::detail
