// SPDX-License-Identifier: Apache-2.0
#include "engine/fallback_chain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "loss/negligible.h"
#include "numeric/arithmetic.h"

namespace tradeoff::detail {
namespace {

/// A method that encloses every delta by the same interval, with its own theorem and a shared one.
class Path final : public Loss {
 public:
  Path(const std::string& name, Interval delta) : delta_(delta), own_(name, ""), shared_(common()) {}
  [[nodiscard]] Interval delta(Direction, Interval) const override {
    record(shared_);
    record(own_);
    return delta_;
  }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }

 private:
  static const Citation& common() {
    static const Citation citation("common", "");
    return citation;
  }
  Interval delta_;
  Citation own_;
  Citation shared_;
};

using Paths = std::vector<std::pair<std::string, Interval>>;

LossPointer chain_of(const Paths& paths) {
  std::vector<EnginePath> losses;
  for (const auto& [name, delta] : paths) losses.push_back({std::make_shared<Path>(name, delta), Speed::slow});
  return fallback_chain(std::move(losses), [] { return Tail{}; }, Tolerance{1e-3});
}

std::vector<std::string> theorems_of(const Provenance& provenance) {
  std::vector<std::string> found;
  for (const Step& step : provenance.steps) found.push_back(step.theorem);
  return found;
}

std::vector<std::string> named_by(const Paths& paths) {
  const LossPointer loss = chain_of(paths);
  return theorems_of(provenance_of([&] { (void)loss->delta(Direction::remove, Interval::exactly(1)); }));
}

using Names = std::vector<std::string>;

TEST(FallbackChain, NamesThePathsThatTheEndsComeFrom) {
  EXPECT_EQ(named_by({{"first", {0.5, 0.5001}}, {"second", {0.5, 0.50001}}}), (Names{"common", "first"})) << "the second is not asked";
  EXPECT_EQ(named_by({{"wide", {0, 1}}, {"tight", {0.5, 0.5001}}}), (Names{"common", "tight"}));
  EXPECT_EQ(named_by({{"wider", {0.1, 0.9}}, {"tight", {0.5, 0.5001}}}), (Names{"common", "tight"}));
  EXPECT_EQ(named_by({{"below", {0.5, 0.9}}, {"above", {0.1, 0.5001}}}), (Names{"common", "below", "above"}));
  EXPECT_EQ(named_by({{"above", {0.1, 0.5001}}, {"below", {0.5, 0.9}}}), (Names{"common", "below", "above"}));
  EXPECT_EQ(named_by({{"one", {0.1, 0.9}}, {"other", {0.2, 0.95}}, {"none", {0, 1}}}), (Names{"common", "other", "one"})) << "wide";
}

// Earlier records stay, even if a method that was not used for the answer used them too.
TEST(FallbackChain, LeavesWhatWasRecordedBefore) {
  const LossPointer before = chain_of({{"before", {0.5, 0.5001}}});
  const LossPointer loss = chain_of({{"wider", {0.1, 0.9}}, {"tight", {0.5, 0.5001}}});
  const auto ask_both = [&] {
    (void)before->delta(Direction::remove, Interval::exactly(1));
    (void)loss->delta(Direction::remove, Interval::exactly(1));
    (void)before->delta(Direction::remove, Interval::exactly(1));
  };
  EXPECT_EQ(theorems_of(provenance_of(ask_both)), (Names{"common", "before", "tight"}));
}

// Where a bound is below all doubles no engine but the first is asked, and not even that one if it is slow.
TEST(FallbackChain, AsksNoFurtherEngineBelowAllDoubles) {
  const double far = -1000, smallest = std::numeric_limits<double>::denorm_min();
  const auto chain = [&](Interval first, Speed speed) {
    std::vector<EnginePath> paths{{std::make_shared<Path>("first", first), speed},
                                  {std::make_shared<Path>("second", Interval{0.5, 0.5001})}};
    return fallback_chain(std::move(paths), [] { return Tail{}; }, Tolerance{1e-3}, {.far_bound = [&](Direction, double epsilon, AtMost) {
                            return epsilon > 2 ? std::optional(far) : std::nullopt;
                          }});
  };
  const Interval near = Interval::exactly(1), beyond = Interval::exactly(3);
  const LossPointer wide = chain({0, 1}, Speed::quick), slow = chain({0.5, 0.5}, Speed::slow), tight = chain({0.5, 0.5}, Speed::quick);
  EXPECT_EQ(wide->delta(Direction::remove, near), (Interval{0.5, 0.5001}));
  for (const LossPointer& one : {wide, slow}) {
    EXPECT_EQ(one->delta(Direction::remove, beyond), (Interval{0, smallest}));
    const BoundedLogarithms only_shown;
    EXPECT_EQ(one->log_delta(Direction::remove, beyond), (Interval{-infinity, far}));
  }
  EXPECT_EQ(wide->log_delta(Direction::remove, beyond), log(Interval{0.5, 0.5001}));  // a quick engine may know it
  EXPECT_EQ(tight->delta(Direction::remove, beyond), (Interval{0.5, 0.5}));
  const Names named = theorems_of(provenance_of([&] { (void)wide->delta(Direction::remove, beyond); }));
  EXPECT_EQ(std::count(named.begin(), named.end(), "second"), 0);
}

}  // namespace
}  // namespace tradeoff::detail
