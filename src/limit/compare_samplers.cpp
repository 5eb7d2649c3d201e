// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "loss/question_scope.h"
#include "numeric/floating_point_guard.h"
#include "tradeoff/analyze.h"
#include "tradeoff/compare.h"
#include "tradeoff/error.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

namespace {

SamplerRow row_of(std::string name, const SgdRun& stated, Sampling sampling, Neighbours neighbours) {
  SgdRun run = stated;
  run.sampling = sampling;
  run.neighbours = neighbours;
  run.reuse = false;
  run.groups.reset();
  run.at_most.reset();
  return {std::move(name), std::move(run)};
}

/// A largest batch that is rarely reached: 4 standard deviations of the batch above its mean.
std::uint64_t usual_cap(std::uint64_t batch) {
  return batch + static_cast<std::uint64_t>(std::ceil(4 * std::sqrt(static_cast<double>(batch))));
}

/// Every sampler, the strongest claims first.
std::vector<SamplerRow> samplers_of(const SgdRun& run) {
  std::vector<SamplerRow> rows = {row_of("poisson", run, Sampling::poisson, Neighbours::add_remove),
                                  row_of("poisson", run, Sampling::poisson, Neighbours::replace_one),
                                  row_of("poisson, capped", run, Sampling::poisson, Neighbours::zero_out),
                                  row_of("cyclic", run, Sampling::cyclic, Neighbours::add_remove),
                                  row_of("allocated", run, Sampling::allocated, Neighbours::add_remove),
                                  row_of("allocated, draw reused", run, Sampling::allocated, Neighbours::add_remove),
                                  row_of("fixed", run, Sampling::fixed, Neighbours::replace_one),
                                  row_of("shuffled", run, Sampling::shuffled, Neighbours::zero_out),
                                  row_of("shuffled, order reused", run, Sampling::shuffled, Neighbours::zero_out),
                                  row_of("shuffled", run, Sampling::shuffled, Neighbours::replace_one)};
  rows[2].run.at_most = run.at_most ? *run.at_most : usual_cap(run.batch);
  constexpr std::uint64_t usual_groups = 10;
  rows[3].run.groups =
      run.groups ? *run.groups : std::clamp<std::uint64_t>(run.examples / std::max<std::uint64_t>(run.batch, 1), 1, usual_groups);
  rows[5].run.reuse = rows[8].run.reuse = true;
  return rows;
}

}  // namespace

std::vector<SamplerRow> compare_samplers(const SgdRun& run, const Number& delta, Tolerance tolerance) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return compare_samplers(run, delta, tolerance); });

  SgdRun checked = run;
  checked.sampling = Sampling::poisson;
  checked.neighbours = Neighbours::unstated;
  checked.reuse = false;
  checked.groups.reset();
  static_cast<void>(to_plan(checked));  // what is wrong with the run itself is no property of a sampler
  std::vector<SamplerRow> rows = samplers_of(run);
  for (SamplerRow& row : rows) {
    try {
      row.training = to_plan(row.run);
      row.curve = analyze(parse(row.training->plan), row.training->neighbours, tolerance);
      row.epsilon = row.curve->epsilon_at(delta);
    } catch (const Error& error) {
      row.refused = error.what();
      row.training.reset();
      row.curve.reset();
    }
  }
  return rows;
}

}  // namespace tradeoff
