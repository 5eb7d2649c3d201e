// SPDX-License-Identifier: Apache-2.0
// Exact composition at relevant sizes: builds the distribution and asks for one delta.
#include <benchmark/benchmark.h>

#include <random>

#include "engine/exact/exact.h"
#include "mechanism/constraints.h"

namespace tradeoff::detail {
namespace {

LossPointer constraints(std::vector<Guarantee> list) { return std::make_shared<ConstraintsLoss>(std::move(list)); }
Interval point(double value) { return Interval::exactly(value); }

void compose(benchmark::State& state, const Parts& parts, double epsilon) {
  for (auto _ : state) {
    const LossPointer loss = compose_exactly(parts, Tolerance{1e-4});
    benchmark::DoNotOptimize(loss->delta(Direction::remove, point(epsilon)));
  }
}

/// A thousand mechanisms of each of two kinds: a million atoms.
void heterogeneous(benchmark::State& state) {
  const auto times = static_cast<std::uint64_t>(state.range(0));
  compose(state, {{constraints({{point(0.0123), point(0)}}), times}, {constraints({{point(0.0501), point(1e-8)}}), times}}, 1);
}
BENCHMARK(heterogeneous)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

/// Two constraints at once, k times.
void two_constraints(benchmark::State& state) {
  const auto times = static_cast<std::uint64_t>(state.range(0));
  compose(state, {{constraints({{point(1.2345), point(0)}, {point(0.6), point(0.2)}}), times}}, 10);
}
BENCHMARK(two_constraints)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

/// Three constraints at once, k times.
void three_constraints(benchmark::State& state) {
  const auto times = static_cast<std::uint64_t>(state.range(0));
  compose(state, {{constraints({{point(1.5), point(0)}, {point(0.91234), point(0.05)}, {point(0.35), point(0.2)}}), times}}, 10);
}
BENCHMARK(three_constraints)->Arg(30)->Arg(100)->Unit(benchmark::kMillisecond);

/// Distinct random epsilons: 20 are listed, 40 are two lists, thousands need the transform.
void distinct(benchmark::State& state) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> epsilon(0, 0.1);
  Parts parts;
  double variance = 0;
  for (int i = 0; i < state.range(0); ++i) {
    const double one = epsilon(random);
    variance += one * one;
    parts.push_back({constraints({{point(one), point(1e-10)}}), 1});
  }
  compose(state, parts, variance / 2 + 4 * std::sqrt(variance));
}
BENCHMARK(distinct)->Arg(20)->Arg(40)->Arg(500)->Arg(5000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tradeoff::detail
