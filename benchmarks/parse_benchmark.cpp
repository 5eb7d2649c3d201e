// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "numeric/number_text.h"
#include "tradeoff/plan.h"

// Target: a typical plan in less than 3 microseconds, so that 100,000 queries spend at most 0.3 s on reading plans.
namespace {

constexpr const char* training = "gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14062)";

void parse_one_source(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(tradeoff::parse("gaussian(sigma=1.1)"));
}
BENCHMARK(parse_one_source);

void parse_training_run(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(tradeoff::parse(training));
}
BENCHMARK(parse_training_run);

void print_training_run(benchmark::State& state) {
  const tradeoff::Plan plan = tradeoff::parse(training);
  for (auto _ : state) benchmark::DoNotOptimize(to_string(plan));
}
BENCHMARK(print_training_run);

void read_short_number(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(tradeoff::detail::numeric::enclose_decimal("0.00427"));
}
BENCHMARK(read_short_number);

void read_long_number(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(tradeoff::detail::numeric::enclose_decimal("3.14159265358979323846e-100"));
}
BENCHMARK(read_long_number);

void print_number_outward(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(tradeoff::detail::numeric::to_text_below(2.3816904831));
    benchmark::DoNotOptimize(tradeoff::detail::numeric::to_text_above(2.3816904831));
  }
}
BENCHMARK(print_number_outward);

}  // namespace
