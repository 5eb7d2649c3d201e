// SPDX-License-Identifier: Apache-2.0
// Few steps and mixed plans: one certified delta without caches.
#include <benchmark/benchmark.h>

#include "engine/contour/cells.h"
#include "engine/hyperbolic/hyperbolic.h"
#include "mechanism/laplace.h"
#include "mechanism/randomized_response.h"
#include "mechanism/truncated_laplace.h"
#include "operators/subsampled_gaussian.h"

namespace {

using namespace tradeoff;
using namespace tradeoff::detail;

Interval exactly(double x) { return Interval::exactly(x); }

void ask(benchmark::State& state, const Parts& parts, Direction direction, double epsilon) {
  double width = 0;
  for (auto _ : state) {
    const Interval log_delta = compose_by_hyperbolic_contour(parts, {})->log_delta(direction, exactly(epsilon));
    benchmark::DoNotOptimize(width = log_delta.hi - log_delta.lo);
  }
  state.counters["width"] = width;
}

void subsampled(benchmark::State& state) {
  const double rate = 1.0 / static_cast<double>(state.range(0));
  const auto steps = static_cast<std::uint64_t>(state.range(1));
  const auto direction = state.range(2) == 0 ? Direction::remove : Direction::add;
  const double epsilon = direction == Direction::remove ? 0.5 : 0.5 * static_cast<double>(steps) * rate;
  ask(state, {{subsampled_gaussian(exactly(1), exactly(rate)), steps}}, direction, epsilon);
}
BENCHMARK(subsampled)
    ->ArgNames({"one_in", "steps", "add"})
    ->ArgsProduct({{10, 100, 1000}, {2, 10, 100}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

void laplace(benchmark::State& state) {
  ask(state, {{std::make_shared<LaplaceLoss>(exactly(0.5)), static_cast<std::uint64_t>(state.range(0))}}, Direction::remove, 2);
}
BENCHMARK(laplace)->Arg(5)->Arg(50)->Unit(benchmark::kMillisecond);

void truncated_laplace(benchmark::State& state) {
  ask(state, {{std::make_shared<TruncatedLaplaceLoss>(exactly(1), exactly(8)), 5}}, Direction::remove, 2);
}
BENCHMARK(truncated_laplace)->Unit(benchmark::kMillisecond);

void mixed(benchmark::State& state) {
  const Parts parts{{subsampled_gaussian(exactly(0.5), exactly(0.01)), 10},
                    {std::make_shared<LaplaceLoss>(exactly(0.5)), 3},
                    {randomized_response(exactly(0.3), 2), 2}};
  ask(state, parts, Direction::remove, 1);
}
BENCHMARK(mixed)->Unit(benchmark::kMillisecond);

void epsilon_of_delta(benchmark::State& state) {
  const Parts parts{{subsampled_gaussian(exactly(1), exactly(0.01)), 10}};
  for (auto _ : state) benchmark::DoNotOptimize(compose_by_hyperbolic_contour(parts, {})->closed_epsilon(Direction::remove, exactly(1e-5)));
}
BENCHMARK(epsilon_of_delta)->Unit(benchmark::kMillisecond);

void two_step_cells(benchmark::State& state) {
  const Parts parts{{subsampled_gaussian(exactly(1), exactly(0.01)), 2}};
  for (auto _ : state) benchmark::DoNotOptimize(compose_by_cells(parts, {})->delta(Direction::remove, exactly(0.5)));
}
BENCHMARK(two_step_cells)->Unit(benchmark::kMillisecond);

}  // namespace
