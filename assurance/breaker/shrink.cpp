// SPDX-License-Identifier: Apache-2.0
#include "shrink.h"

#include <vector>

#include "rewrite.h"

namespace tradeoff::detail::breaker {
namespace {

std::vector<Trial> simpler_trials(const Trial& trial) {
  std::vector<Trial> found;
  for (Plan& plan : simpler(trial.plan)) {
    found.push_back(trial);
    found.back().plan = std::move(plan);
  }
  for (double Trial::* number : {&Trial::epsilon, &Trial::delta, &Trial::alpha}) {
    for (const int digits : {1, 2, 3}) {
      const double value = rounded(trial.*number, digits);
      if (value == trial.*number) break;
      found.push_back(trial);
      found.back().*number = value;
    }
  }
  return found;
}

}  // namespace

Trial shrunk(Trial trial, const std::function<bool(const Trial&)>& fails, int attempts) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (Trial& candidate : simpler_trials(trial)) {
      if (attempts-- <= 0) return trial;
      if (!fails(candidate)) continue;
      trial = std::move(candidate);
      smaller = true;
      break;
    }
  }
  return trial;
}

}  // namespace tradeoff::detail::breaker
