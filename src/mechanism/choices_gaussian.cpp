// SPDX-License-Identifier: Apache-2.0
#include "mechanism/choices_gaussian.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "mechanism/gaussian.h"
#include "numeric/arithmetic.h"

namespace tradeoff::detail {
namespace {

double largest_range(const std::vector<UsesOfRange>& all) {
  double largest = 0;
  for (const UsesOfRange& one : all) largest = std::max(largest, one.range.hi);
  return largest;
}

}  // namespace

double uses_that_count(const std::vector<UsesOfRange>& all) {
  double count = 0;
  const double largest = largest_range(all);
  for (const UsesOfRange& one : all) count += static_cast<double>(one.uses) * (one.range.hi / largest) * (one.range.hi / largest);
  return count;
}

double excess_of_choices_gaussian(const std::vector<UsesOfRange>& all) {
  const double count = uses_that_count(all), largest = largest_range(all);
  return (3 + std::log1p(count)) / count + largest * largest / 24;  // the second term: choices have a smaller mean loss than its pair
}

// [choices-gaussian] mu^2 = S + 3 w + w log((S + w)/w), with w = r^2/4 for the largest range and S the sum over all uses.
LossPointer choices_gaussian(const std::vector<UsesOfRange>& all, const Citations& origin) {
  constexpr double most_range = 5.6;  // w is at most 8
  const double largest = largest_range(all);
  if (!(largest > 0 && largest <= most_range)) return nullptr;
  const Interval widest = square(Interval::exactly(largest)) / 4.0;
  Interval sum = Interval::exactly(0);
  std::uint64_t uses = 0;
  for (const UsesOfRange& one : all) {
    sum = sum + Interval::exactly(one.uses) * square(Interval::exactly(one.range.hi)) / 4.0;
    uses += one.uses;
  }
  const double mu = sqrt(sum + widest * (3.0 + log1p(sum / widest))).hi;
  Citations cited = origin;
  cited.emplace_back("choices-gaussian", std::to_string(uses) + " adaptive choices of bounded range: upper ends by a Gaussian pair");
  return gaussian_loss(Interval::exactly(mu), std::move(cited));
}

}  // namespace tradeoff::detail
