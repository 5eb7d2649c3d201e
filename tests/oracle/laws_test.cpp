// SPDX-License-Identifier: Apache-2.0
// Laws of every accountant, on random plans of ordinary size; the breaker tests them on extreme plans (docs/breaker.md).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "checks.h"
#include "support/random_plans.h"
#include "support/scale.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::breaker {
namespace {

using test::PlanSource;

/// One line of any kind, and how it may be run.
std::string line(PlanSource& source) {
  switch (source.count(1, 6)) {
    case 1:
      return source.gaussian() + source.repeat(1, 50);
    case 2:
      return source.laplace() + source.repeat(1, 60);
    case 3:
      return "gaussian(sigma=" + source.number(0.6, 8) + ")" + source.poisson(0.01, 0.3) + " | repeat(" +
             std::to_string(source.count(100, 3000)) + ")";
    case 4:
      return source.truncated_laplace() + source.repeat(1, 10);
    default:
      return source.finite() + source.repeat(1, 20);
  }
}

/// A plan to which the law may apply.
std::string plan(PlanSource& source, const std::string& law) {
  if (law == "coarsening") return source.pair() + source.repeat(1, 4);
  if (law == "sampling") return (source.chance(0.5) ? source.gaussian() : source.finite()) + source.poisson(0.01, 0.9);
  if (law == "scaling") return (source.chance(0.5) ? source.gaussian() : source.laplace()) + source.repeat(1, 20);
  if (law == "groups")
    return source.chance(0.5) ? source.laplace() : source.chance(0.5) ? "gdp(mu=" + source.number(0.05, 2) + ")" : source.finite();
  if (law == "samplers") {
    const std::string step = "gaussian(sigma=" + source.number(0.5, 4) + ") | poisson(rate=" + source.number(0.01, 0.5) + ")";
    return source.chance(0.5) ? step : step + " | repeat(7)";
  }
  if (law == "sparse_vector") return "laplace(scale=" + source.number(0.5, 4) + ")";
  if (law == "aggregation") return "discrete_laplace(scale=" + source.number(0.5, 4) + ")";
  if (law == "choices") return "randomized_response(epsilon=" + source.number(0.1, 1) + ")" + source.repeat(1, 6);
  if (law == "keys") return (source.chance(0.5) ? "gaussian(sigma=" : "laplace(scale=") + source.number(0.5, 4) + ")";
  if (law == "allocations") return "gaussian(sigma=" + source.number(0.7, 4) + ")";
  std::string text = line(source);
  if (law == "order") text += "; " + line(source);
  while (source.chance(0.25)) text += "; " + line(source);
  return text;
}

class Laws : public testing::TestWithParam<std::string> {};

TEST_P(Laws, HoldOnOrdinaryPlans) {
  const Check& law = find_check(GetParam());
  PlanSource source(1 + std::string(law.name).size());
  int spoke = 0;
  const int plans = test::scaled(GetParam() == "allocations" ? 3 : 30);  // an allocation takes a second
  for (int trial = 0; trial < plans; ++trial) {
    Trial asked;
    asked.plan = parse(plan(source, law.name));
    asked.tolerance = 1e-6;
    asked.epsilon = rounded(source.chance(0.2) ? 0 : source.scale(0.1, 5));
    asked.delta = rounded(source.scale(1e-10, 1e-2));
    asked.alpha = rounded(source.uniform(0.01, 0.99));
    Examination exam(asked, library());
    SCOPED_TRACE(to_text(asked));
    EXPECT_NO_THROW(spoke += law.run(exam) ? 1 : 0);
  }
  EXPECT_GT(4 * spoke, plans);
}

std::vector<std::string> all_laws() {
  std::vector<std::string> all;
  for (const Check& law : laws()) all.emplace_back(law.name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Every, Laws, testing::ValuesIn(all_laws()), [](const auto& law) { return law.param; });

}  // namespace
}  // namespace tradeoff::detail::breaker
