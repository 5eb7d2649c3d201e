// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <thread>

#include "engine/contour/cells.h"
#include "engine/contour/contour.h"
#include "engine/exact/exact.h"
#include "engine/exact/sum.h"
#include "engine/hyperbolic/hyperbolic.h"
#include "engine/lattice/lattice.h"
#include "mechanism/constraints.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "numeric/arithmetic.h"
#include "operators/subsampled_gaussian.h"

// Many threads may question every composition at once: its caches are guarded, and all answers are valid. ./test thread builds this with
// the thread sanitizer.
namespace tradeoff::detail {
namespace {

LossPointer guarantee(double epsilon) {
  return std::make_shared<ConstraintsLoss>(std::vector<Guarantee>{{Interval::exactly(epsilon), Interval::exactly(1e-6)}});
}

Parts guarantees(int count) {
  Parts parts;
  for (int i = 0; i < count; ++i) parts.push_back({guarantee(0.2 + 0.01 * i), 1});
  return parts;
}

/// Asks from several threads, some for delta and some for other quantities; the answers of all threads must overlap.
void ask_at_once(const LossPointer& loss) {
  ASSERT_NE(loss, nullptr);
  struct Answers {
    std::vector<Interval> deltas;
    std::vector<Interval> epsilons;
  };
  std::vector<Answers> found(4);
  std::vector<std::thread> threads;
  for (Answers& answers : found)
    threads.emplace_back([&] {
      for (const double epsilon : {0.25, 0.5, 1.0}) {
        for (const Direction direction : {Direction::remove, Direction::add})
          answers.deltas.push_back(loss->delta(direction, Interval::exactly(epsilon)));
        if (const auto test = loss->test_at(Direction::remove, epsilon)) answers.deltas.push_back(test->true_positive);
        if (const auto beta = loss->closed_beta(Direction::remove, Interval::exactly(0.1))) answers.deltas.push_back(*beta);
      }
      if (const auto epsilon = loss->closed_epsilon(Direction::remove, Interval::exactly(1e-3))) answers.epsilons.push_back(*epsilon);
    });
  for (std::thread& thread : threads) thread.join();
  for (const Answers& answers : found) {
    for (std::size_t i = 0; i < answers.deltas.size(); ++i) {
      EXPECT_LE(answers.deltas[i].lo, found[0].deltas[i].hi);
      EXPECT_LE(found[0].deltas[i].lo, answers.deltas[i].hi);
    }
    for (std::size_t i = 0; i < answers.epsilons.size(); ++i) {
      EXPECT_LE(answers.epsilons[i].lo, found[0].epsilons[i].hi);
      EXPECT_LE(found[0].epsilons[i].lo, answers.epsilons[i].hi);
    }
  }
}

const LossPointer training = subsampled_gaussian(Interval::exactly(1), Interval::exactly(0.125));

TEST(Threads, AskAContour) { ask_at_once(compose_by_contour({{training, 200}})); }
TEST(Threads, AskAHyperbolicContour) { ask_at_once(compose_by_hyperbolic_contour({{training, 2}}, {1e-3})); }
TEST(Threads, AskCells) { ask_at_once(compose_by_cells({{training, 2}}, {1e-2})); }
TEST(Threads, AskAList) { ask_at_once(compose_exactly(guarantees(6), {})); }
TEST(Threads, AskTwoHalves) { ask_at_once(compose_exactly(guarantees(26), {})); }
TEST(Threads, AskAnInversion) { ask_at_once(compose_by_inversion(guarantees(40), {1e-2})); }
TEST(Threads, AskALattice) { ask_at_once(compose_by_lattice({{std::make_shared<LaplaceLoss>(Interval::exactly(0.5)), 3}}, {1e-2})); }

}  // namespace
}  // namespace tradeoff::detail
