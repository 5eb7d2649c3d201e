// SPDX-License-Identifier: Apache-2.0
#include "figures/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <set>

#include "figures/parts.h"
#include "report/svg.h"
#include "support/matchers.h"
#include "support/xml.h"

namespace tradeoff::detail::report {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

const Recipe& find(std::string_view name) {
  for (const Recipe& one : recipes()) {
    if (one.name == name) return one;
  }
  throw std::invalid_argument("no such figure");
}

/// The series of a panel that has this label.
const Series& labelled(const Picture& picture, const std::string& label) {
  for (const Series& one : picture.series) {
    if (one.label.find(label) != std::string::npos) return one;
  }
  throw std::invalid_argument("no such series: " + label);
}

/// Whether the first series is nowhere certainly above the second; both have the same points.
void expect_below(const Series& low, const Series& high) {
  ASSERT_EQ(low.spots.size(), high.spots.size());
  for (std::size_t i = 0; i < low.spots.size(); ++i) {
    ASSERT_EQ(low.spots[i].x, high.spots[i].x);
    EXPECT_LE(low.spots[i].y.lo, high.spots[i].y.hi) << low.label << " above " << high.label << " at " << low.spots[i].x;
  }
}

TEST(Figures, HaveNamesForFilesAndSayWhatTheyShow) {
  std::set<std::string_view> names;
  for (const Recipe& one : recipes()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    for (const char c : one.name) EXPECT_TRUE(std::islower(static_cast<unsigned char>(c)) != 0 || c == '-') << one.name;
    EXPECT_FALSE(one.title.empty() || one.source.empty() || one.shows.empty()) << one.name;
  }
  EXPECT_GE(names.size(), 16U);
}

TEST(Figures, AreAllOnThePage) {
  const std::string page = gallery(recipes());
  for (const Recipe& one : recipes()) {
    const std::string name(one.name);
    EXPECT_THAT(page, HasSubstr("](" + name + ".svg)"));
    EXPECT_THAT(page, HasSubstr("    tradeoff figures " + name + "\n"));
    EXPECT_THAT(page, HasSubstr(std::string(one.shows)));
  }
}

TEST(Figures, OfConstraintsKeepTheirOrder) {
  for (const Picture& panel : draw(find("constraints-double")).panels) {
    const Series& exact = labelled(panel, "both, exactly");
    for (const char* weaker : {"(0.4, 0)-DP alone", "(0.15, 0.05)-DP alone", "intersection", "total variation"})
      expect_below(labelled(panel, weaker), exact);
    expect_below(labelled(panel, "(0.4, 0)-DP alone"), labelled(panel, "intersection"));
  }
  for (const Picture& panel : draw(find("constraints-gaussian")).panels) expect_below(labelled(panel, "below"), labelled(panel, "above"));
  const Picture mixture = draw(find("constraints-mixture")).panels.front();
  // At alpha = 0 the mixture has lost half of what the second mechanism reveals.
  EXPECT_THAT(labelled(mixture, "by a fair coin").spots.front().y, test::Encloses(0.875));
}

// [gdp-transform] The numbers of the paper, as corrected: G(0) of the three examples.
TEST(Figures, OfTransformsStartWhereThePaperSays) {
  const std::vector<Picture> panels = draw(find("bridge-transforms")).panels;
  EXPECT_NEAR(labelled(panels[0], "Laplace").spots.front().y.hi, 1.800905, 1e-6);
  EXPECT_NEAR(labelled(panels[0], "SGD").spots.front().y.hi, 1.856357, 1e-6);
  EXPECT_NEAR(labelled(panels[0], "ICEA").spots.front().y.hi, 2.278599, 1e-6);
}

// The staircases enclose the transform at every point between their steps.
TEST(Figures, OfStaircasesEncloseTheCurve) {
  const Picture panel = draw(find("bridge-transforms")).panels[1];
  const auto at = [](const Series& steps, double x) {
    Interval value = steps.spots.front().y;
    for (const Spot& spot : steps.spots) {
      if (spot.x <= x) value = spot.y;
    }
    return value;
  };
  for (const char* width : {"d = 1", "d = 0.25"}) {
    const Series &above = labelled(panel, std::string("G⁺, ") + width), &below = labelled(panel, std::string("G⁻, ") + width);
    for (const Spot& spot : labelled(panel, "SGD").spots) {
      EXPECT_LE(at(below, spot.x).lo, spot.y.hi);
      EXPECT_GE(at(above, spot.x).hi, spot.y.lo);
    }
  }
}

TEST(Figures, OfMethodsReproduceTheTable) {
  const Picture panel = draw(find("bridge-methods")).panels.front();
  const auto at = [&panel](const char* label) {
    for (const Spot& spot : labelled(panel, label).spots) {
      if (std::abs(spot.x / 1e-3 - 1) < 1e-9) return spot.y.hi;
    }
    return 0.0;
  };
  EXPECT_NEAR(at("exactly"), 4.7311, 1e-4);
  EXPECT_NEAR(at("the whole by its μ"), 4.8708, 1e-4);
  EXPECT_NEAR(at("each run by its μ"), 6.4686, 1e-4);
  EXPECT_NEAR(at("Laplace"), 6.0907, 1e-4);
  EXPECT_NEAR(at("advanced"), 7.4705, 1e-4);
  EXPECT_NEAR(at("basic"), 9.9990, 1e-4);
}

TEST(Figures, OfTenRunsHaveTheNumbersOfThePaper) {
  const Picture panel = draw(find("fdp-composition")).panels[1];
  const Series &exact = labelled(panel, "exactly"), &pair = labelled(panel, "best pair");
  EXPECT_THAT(pair.label, HasSubstr("(2.89, 0.001)-DP"));
  EXPECT_THAT(labelled(panel, "an estimate").label, HasSubstr("μ ≈ 1"));
  EXPECT_THAT(exact.spots.front().y, test::Encloses(1.0));
}

TEST(Figures, OfTrainingShowWhatLimitAndAccountantMiss) {
  for (const Picture& panel : draw(find("fdp-training-profiles")).panels) {
    const auto at_end = [&panel](const char* label) { return labelled(panel, label).spots.back().y; };
    EXPECT_LT(at_end("limit theorem").hi, at_end("certified").lo);  // it claims more privacy than there is
    EXPECT_GT(at_end("accountant").lo, at_end("certified").hi);     // it claims less privacy than there is
  }
}

TEST(Figures, OfSamplingKeepTheirOrder) {
  const std::vector<Picture> panels = draw(find("fdp-sampling")).panels;
  ASSERT_THAT(panels, SizeIs(2));
  expect_below(labelled(panels[0], "C_p(f)"), labelled(panels[0], "p f + (1 - p) Id"));
  expect_below(labelled(panels[0], "without sampling"), labelled(panels[0], "C_p(f)"));
  expect_below(labelled(panels[1], "classical theorem: ("), labelled(panels[1], "C_p(f)"));
}

}  // namespace
}  // namespace tradeoff::detail::report
