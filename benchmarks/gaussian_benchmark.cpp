// SPDX-License-Identifier: Apache-2.0
// The Gaussian profile: certified evaluations per second on one core.
#include <benchmark/benchmark.h>

#include <cmath>
#include <random>
#include <vector>

#include "loss/gaussian_profile.h"
#include "numeric/normal.h"

namespace tradeoff::detail {
namespace {

constexpr std::size_t points = 4096;

struct Inputs {
  std::vector<double> mu = std::vector<double>(points);
  std::vector<double> epsilon = std::vector<double>(points);
  std::vector<double> delta = std::vector<double>(points);

  Inputs() {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<> unit(0, 1);
    for (std::size_t i = 0; i < points; ++i) {
      mu[i] = std::pow(10, 3 * unit(random) - 2);
      epsilon[i] = std::abs(mu[i] * (mu[i] / 2 + 12 * unit(random) - 4));
      delta[i] = std::pow(10, -15 * unit(random));
    }
  }
};
const Inputs inputs;

template <class Evaluate>
void one_at_a_time(benchmark::State& state, Evaluate evaluate) {
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(evaluate(i));
    i = (i + 1) % points;
  }
  state.SetItemsProcessed(state.iterations());
}

void delta_one_at_a_time(benchmark::State& state) {
  one_at_a_time(state, [](std::size_t i) { return gaussian_delta(inputs.mu[i], inputs.epsilon[i]); });
}
BENCHMARK(delta_one_at_a_time);

void delta_batch(benchmark::State& state) {
  const double mu = 1.3;
  std::vector<double> epsilon(points);
  for (std::size_t i = 0; i < points; ++i) epsilon[i] = 12.0 * static_cast<double>(i) / points;
  std::vector<Interval> out(points);
  for (auto _ : state) {
    gaussian_delta(mu, epsilon, out);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(points));
}
BENCHMARK(delta_batch);

void log_delta(benchmark::State& state) {
  one_at_a_time(state, [](std::size_t i) { return log_gaussian_delta(inputs.mu[i], inputs.epsilon[i]); });
}
BENCHMARK(log_delta);

void mu_gdp(benchmark::State& state) {
  one_at_a_time(state, [](std::size_t i) { return gaussian_mu(inputs.epsilon[i], inputs.delta[i]); });
}
BENCHMARK(mu_gdp);

void epsilon_gdp(benchmark::State& state) {
  one_at_a_time(state, [](std::size_t i) { return gaussian_epsilon(inputs.mu[i], inputs.delta[i]); });
}
BENCHMARK(epsilon_gdp);

void quantile(benchmark::State& state) {
  one_at_a_time(state, [](std::size_t i) { return normal_quantile(inputs.delta[i]); });
}
BENCHMARK(quantile);

void cdf(benchmark::State& state) {
  one_at_a_time(state, [](std::size_t i) { return normal_cdf(-inputs.epsilon[i]); });
}
BENCHMARK(cdf);

}  // namespace
}  // namespace tradeoff::detail
