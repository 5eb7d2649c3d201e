// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <vector>

#include "engine/lattice/lattice.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "numeric/fft.h"
#include "operators/subsampled.h"

// The lattice without caches: discretisation, transforms and one certified delta to relative width 1e-6.
namespace tradeoff::detail {
namespace {

void certify(benchmark::State& state, const Parts& parts, Direction direction, double epsilon) {
  double width = 0;
  for (auto _ : state) {
    const Interval found = compose_by_lattice(parts, {1e-6})->log_delta(direction, Interval::exactly(epsilon));
    width = found.width();
    benchmark::DoNotOptimize(width);
  }
  state.counters["width"] = width;
}

void training_steps(benchmark::State& state) {
  const LossPointer step = std::make_shared<PoissonLoss>(gaussian_loss(Interval::exactly(1)), Interval::exactly(0.01));
  const bool remove = state.range(1) == 0;
  certify(state, {{step, static_cast<std::uint64_t>(state.range(0))}}, remove ? Direction::remove : Direction::add, remove ? 0.5 : 0.01);
}
BENCHMARK(training_steps)->ArgsProduct({{2, 10, 100, 1000}, {0, 1}})->Unit(benchmark::kMillisecond)->Iterations(1);

void laplace_steps(benchmark::State& state) {
  const LossPointer step = std::make_shared<LaplaceLoss>(Interval::exactly(0.5));
  certify(state, {{step, static_cast<std::uint64_t>(state.range(0))}}, Direction::remove, 1);
}
BENCHMARK(laplace_steps)->Arg(3)->Arg(30)->Unit(benchmark::kMillisecond)->Iterations(1);

void mixed_sequence(benchmark::State& state) {
  const LossPointer gaussian = gaussian_loss(Interval::exactly(1));
  const LossPointer laplace = std::make_shared<LaplaceLoss>(Interval::exactly(0.7));
  const LossPointer sampled = std::make_shared<SampledLoss>(gaussian, Interval::exactly(0.25));
  certify(state, {{gaussian, 1}, {laplace, 3}, {sampled, 2}}, Direction::remove, 1);
}
BENCHMARK(mixed_sequence)->Unit(benchmark::kMillisecond)->Iterations(1);

void forward_transform(benchmark::State& state) {
  const numeric::Fft fft(static_cast<unsigned>(state.range(0)));
  std::vector<numeric::Complex> x(fft.size());
  for (auto _ : state) {
    x[1] = {1, 0.5};
    fft.forward(x.data());
    benchmark::DoNotOptimize(x.data());
  }
}
BENCHMARK(forward_transform)->Arg(14)->Arg(18)->Arg(20)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tradeoff::detail
