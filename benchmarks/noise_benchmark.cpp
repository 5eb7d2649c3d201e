// SPDX-License-Identifier: Apache-2.0
// How fast exact noise is, next to what others draw, and whether the visible step of a release tells anything by its time.
//   noise_benchmark --benchmark_filter=gaussian      items_per_second is draws per second on one core
// Throughput is measured at each instruction level, generator included; `release_step` reports the correlation of time and |noise|.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <vector>

#include "noise/coin.h"
#include "noise/discrete_gaussian.h"
#include "noise/grid_noise.h"
#include "noise/release_step.h"
#include "noise/secure_stream.h"
#include "noise/truncated.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace tradeoff::detail::noise {
namespace {

constexpr std::size_t batch = 8192;  // the output fits in the cache, as in training a model layer by layer

void count(benchmark::State& state) {
  state.SetItemsProcessed(static_cast<std::int64_t>(static_cast<std::size_t>(state.iterations()) * batch));
}

void words(benchmark::State& state, Level level) {
  if (level > best_level()) return state.SkipWithError("this processor does not have it");
  ChaChaStream stream(system_entropy, level);
  std::vector<std::uint64_t> drawn(batch);
  for ([[maybe_unused]] auto _ : state) {
    stream.fill(drawn);
    benchmark::DoNotOptimize(drawn.data());
  }
  count(state);
}

void grid_noise(benchmark::State& state, Law law, Level level) {
  if (level > best_level()) return state.SkipWithError("this processor does not have it");
  ChaChaStream stream(system_entropy, level);
  const GridNoise noise(law, Dyadic::at_least(1.1 * 0x1p20));
  std::vector<std::int64_t> values(batch);
  for ([[maybe_unused]] auto _ : state) {
    noise.draw(stream, values, level);
    benchmark::DoNotOptimize(values.data());
  }
  count(state);
}

template <class Sampler>
void sampler(benchmark::State& state, const Sampler& noise) {
  SecureStream stream;
  std::vector<std::int64_t> values(batch);
  for ([[maybe_unused]] auto _ : state) {
    noise.draw(stream, values);
    benchmark::DoNotOptimize(values.data());
  }
  count(state);
}

/// The naive implementation; neither exact nor unpredictable.
void standard_library(benchmark::State& state) {
  std::mt19937_64 generator(1);
  std::normal_distribution<double> normal(0, 1.1 * 0x1p20);
  std::vector<std::int64_t> values(batch);
  for ([[maybe_unused]] auto _ : state) {
    for (std::int64_t& value : values) value = std::llround(normal(generator));
    benchmark::DoNotOptimize(values.data());
  }
  count(state);
}

/// The exact discrete Laplace of Canonne, Kamath and Steinke for an integer scale, with machine integers and our generator.
class ByRejection {
 public:
  ByRejection(WordStream& stream, std::uint64_t scale) : words_(stream), scale_(scale) {}
  std::int64_t draw() {
    for (;;) {
      const std::uint64_t u = uniform_below(scale_, words_);
      if (!exponential_coin(u, scale_)) continue;
      std::uint64_t v = 0;
      while (exponential_coin(1, 1)) ++v;
      const auto magnitude = static_cast<std::int64_t>(u + scale_ * v);
      const bool negative = (words_.next() & 1) != 0;
      if (negative && magnitude == 0) continue;  // or zero would be drawn twice as often
      return negative ? -magnitude : magnitude;
    }
  }

 private:
  /// Heads with probability exp(-numerator / denominator), at most 1 in the exponent.
  bool exponential_coin(std::uint64_t numerator, std::uint64_t denominator) {
    std::uint64_t k = 1;
    while (uniform_below(denominator * k, words_) < numerator) ++k;
    return k % 2 == 1;
  }
  BufferedStream words_;
  std::uint64_t scale_;
};

void by_rejection(benchmark::State& state) {
  SecureStream stream;
  ByRejection noise(stream, 1 << 20);
  std::vector<std::int64_t> values(batch);
  for ([[maybe_unused]] auto _ : state) {
    for (std::int64_t& value : values) value = noise.draw();
    benchmark::DoNotOptimize(values.data());
  }
  count(state);
}

std::uint64_t ticks() {
#if defined(__x86_64__)
  unsigned processor = 0;
  return __rdtscp(&processor);
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// Correlation of the time that one addition takes with |noise|, over a million draws; times above the 99th percentile (interrupts) are
/// left out.
void release_step(benchmark::State& state) {
  constexpr std::size_t draws = 1'000'000;
  SecureStream stream;
  std::vector<std::int64_t> noise(draws), value(1, 12345), sum(1);
  GridNoise(Law::rounded_gaussian, Dyadic::at_least(0x1p20)).draw(stream, noise);
  std::vector<double> times(draws);
  for ([[maybe_unused]] auto _ : state) {
    for (std::size_t i = 0; i < draws; ++i) {
      const std::uint64_t start = ticks();
      benchmark::DoNotOptimize(add_noise(value, std::span(noise).subspan(i, 1), sum));
      benchmark::ClobberMemory();
      times[i] = static_cast<double>(ticks() - start);
    }
  }
  std::vector<double> sorted = times;
  std::nth_element(sorted.begin(), sorted.begin() + draws / 100 * 99, sorted.end());
  const double cut = sorted[draws / 100 * 99];
  double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < draws; ++i) {
    if (times[i] > cut) continue;
    const double magnitude = std::abs(static_cast<double>(noise[i])) * 0x1p-20;
    n += 1;
    x += magnitude;
    y += times[i];
    xx += magnitude * magnitude;
    yy += times[i] * times[i];
    xy += magnitude * times[i];
  }
  state.counters["correlation"] = (xy - x * y / n) / std::sqrt((xx - x * x / n) * (yy - y * y / n));
  state.counters["mean_ticks"] = y / n;
}

BENCHMARK_CAPTURE(words, portable, Level::portable);
BENCHMARK_CAPTURE(words, avx2, Level::avx2);
BENCHMARK_CAPTURE(words, avx512, Level::avx512);
BENCHMARK_CAPTURE(grid_noise, rounded_gaussian_portable, Law::rounded_gaussian, Level::portable);
BENCHMARK_CAPTURE(grid_noise, rounded_gaussian_avx2, Law::rounded_gaussian, Level::avx2);
BENCHMARK_CAPTURE(grid_noise, rounded_gaussian_avx512, Law::rounded_gaussian, Level::avx512);
BENCHMARK_CAPTURE(grid_noise, rounded_laplace_portable, Law::rounded_laplace, Level::portable);
BENCHMARK_CAPTURE(grid_noise, rounded_laplace_avx2, Law::rounded_laplace, Level::avx2);
BENCHMARK_CAPTURE(grid_noise, rounded_laplace_avx512, Law::rounded_laplace, Level::avx512);
BENCHMARK_CAPTURE(grid_noise, discrete_laplace_portable, Law::discrete_laplace, Level::portable);
BENCHMARK_CAPTURE(grid_noise, discrete_laplace_avx2, Law::discrete_laplace, Level::avx2);
BENCHMARK_CAPTURE(grid_noise, discrete_laplace_avx512, Law::discrete_laplace, Level::avx512);
BENCHMARK_CAPTURE(sampler, truncated_discrete_laplace, Truncated(GridNoise(Law::discrete_laplace, Dyadic::at_least(10)), 140));
BENCHMARK_CAPTURE(sampler, discrete_gaussian, DiscreteGaussian(Dyadic::at_least(10.5)));
BENCHMARK_CAPTURE(sampler, randomised_response, Response(Dyadic::at_most(1), 2));
BENCHMARK(standard_library);
BENCHMARK(by_rejection);
BENCHMARK(release_step)->Iterations(1);

}  // namespace
}  // namespace tradeoff::detail::noise
