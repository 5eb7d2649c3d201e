// SPDX-License-Identifier: Apache-2.0
// The contour without caches: tables, lines and error bounds are computed anew for every answer, in both directions. Counters state the
// widths.
#include <benchmark/benchmark.h>

#include <array>
#include <cmath>

#include "engine/contour/contour.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "numeric/arithmetic.h"
#include "operators/subsampled_gaussian.h"

namespace tradeoff::detail {
namespace {

/// A decimal as the parser reads it.
Interval decimal(double value) { return {numeric::next_down(value), numeric::next_up(value)}; }

LossPointer step(double sigma, double rate) { return subsampled_gaussian(1.0 / decimal(sigma), decimal(rate)); }

void ask_epsilon(benchmark::State& state, const Parts& parts, double delta) {
  double width = 0;
  for (auto _ : state) {
    const LossPointer loss = compose_by_contour(parts, {});
    for (const Direction direction : {Direction::remove, Direction::add}) {
      const Interval epsilon = *loss->closed_epsilon(direction, Interval::exactly(delta));
      width = std::max(width, epsilon.width());
    }
  }
  state.counters["width"] = width;
}

/// Training runs; the argument is the power of ten of 1/delta.
void training(benchmark::State& state, double sigma, double rate, std::uint64_t steps) {
  ask_epsilon(state, {{step(sigma, rate), steps}}, std::pow(10, -static_cast<double>(state.range(0))));
}
BENCHMARK_CAPTURE(training, sigma_1_rate_0p01_1e3, 1, 0.01, 1000)->Arg(5)->Arg(15)->Arg(50)->Arg(300)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(training, sigma_0p8_rate_0p005_1e4, 0.8, 0.005, 10000)->Arg(5)->Arg(15)->Arg(50)->Arg(300)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(training, sigma_0p6_rate_0p001_1e5, 0.6, 0.001, 100000)
    ->Arg(5)
    ->Arg(15)
    ->Arg(50)
    ->Arg(300)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(training, sigma_10_rate_0p01_1e7, 10, 0.01, 10000000)->Arg(5)->Arg(15)->Arg(50)->Arg(300)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(training, sigma_2_rate_0p001_1e12, 2, 0.001, 1000000000000)->Arg(5)->Arg(300)->Unit(benchmark::kMicrosecond);

/// A thousand points of a profile, both directions, from a fresh object.
void curve(benchmark::State& state) {
  double width = 0;
  for (auto _ : state) {
    const LossPointer loss = compose_by_contour({{step(1, 0.01), 1000}}, {});
    for (int i = 0; i < 1000; ++i)
      for (const Direction direction : {Direction::remove, Direction::add})
        width = std::max(width, loss->log_delta(direction, Interval::exactly(0.005 * i)).width());
  }
  state.counters["width"] = width;
}
BENCHMARK(curve)->Unit(benchmark::kMillisecond);

/// A thousand different sampled Gaussians, three thousand steps.
void distinct(benchmark::State& state) {
  Parts parts;
  for (int i = 0; i < 1000; ++i)
    parts.push_back({step(0.8 + 1.2 * i / 1000, 0.002 + 0.008 * ((i * 37) % 1000) / 1000.0), 1 + static_cast<std::uint64_t>(i % 5)});
  ask_epsilon(state, parts, 1e-5);
}
BENCHMARK(distinct)->Unit(benchmark::kMillisecond);

/// 1000 Laplace (scale 5 to 50), 500 Gaussian (sigma 5 to 50), 100 sampled steps.
void mixture(benchmark::State& state) {
  Parts parts{{step(1, 0.01), 100}};
  for (int i = 0; i < 1000; ++i) parts.push_back({std::make_shared<LaplaceLoss>(1.0 / decimal(5 + 45.0 * i / 999)), 1});
  for (int i = 0; i < 500; ++i) parts.push_back({gaussian_loss(1.0 / decimal(5 + 45.0 * i / 499)), 1});
  ask_epsilon(state, parts, 1e-5);
}
BENCHMARK(mixture)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tradeoff::detail
