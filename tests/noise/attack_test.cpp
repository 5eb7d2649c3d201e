// SPDX-License-Identifier: Apache-2.0
// Attacks on releases: no attack distinguishes the releases of two neighbours better than the certificate allows. [grid-release]
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "noise/carry_out.h"
#include "noise/certificate.h"
#include "noise/replay.h"
#include "tradeoff/release.h"

namespace tradeoff::detail::test {
namespace {

/// P(X >= count) for X binomial(n, p), by adding up.
double binomial_tail(int count, int n, double p) {
  if (count <= 0) return 1;
  double sum = 0;
  for (int k = count; k <= n; ++k)
    sum += std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) + k * std::log(p) + (n - k) * std::log1p(-p));
  return sum;
}

constexpr double chance_of_error = 1e-9;  // for each bound below

/// The exact bounds of Clopper and Pearson on a probability, by halving.
double probability_below(int count, int n) {
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (binomial_tail(count, n, middle) <= chance_of_error ? low : high) = middle;
  }
  return low;
}
double probability_above(int count, int n) { return 1 - probability_below(n - count, n); }

/// The attacker's view as one number: everything that was released, along the direction in which the neighbours differ.
double score(const std::vector<std::vector<double>>& rows, const std::vector<double>& direction) {
  double sum = 0;
  std::size_t at = 0;
  for (const auto& row : rows)
    for (const double value : row) sum += value * direction[std::min(at++, direction.size() - 1)];
  return sum;
}

struct Scene {
  const char* plan;
  ReleaseTerms terms;
  std::vector<double> without, with;  ///< the inputs of two neighbours
  std::vector<double> direction;      ///< of the released numbers
};

class Attacker {
 public:
  explicit Attacker(const Scene& scene)
      : scene_(scene), certificate_(certify(parse(scene.plan), scene.terms)), words_(11), source_(words_) {}

  /// Thresholds are learnt from some runs; their success is measured on other runs, with exact confidence, and compared with P(S) <=
  /// e^epsilon Q(S) + delta.
  void expect_certificate_survives() {
    std::vector<double> learnt = scores(scene_.with, training);
    std::sort(learnt.begin(), learnt.end());
    const std::vector<double> with = scores(scene_.with, trials), without = scores(scene_.without, trials);
    for (const double share : {0.1, 0.3, 0.5, 0.7, 0.9}) {
      const double threshold = learnt[static_cast<std::size_t>(share * training)];
      const auto above = [&](const std::vector<double>& all) {
        return static_cast<int>(std::count_if(all.begin(), all.end(), [&](double one) { return one >= threshold; }));
      };
      const double hit = probability_below(above(with), trials), alarm = probability_above(above(without), trials);
      for (const double epsilon : {0.0, 0.25, 0.5, 1.0, 2.0}) {
        const double allowed = std::exp(epsilon) * alarm + certificate_.curve().delta_at(epsilon).hi;
        EXPECT_LE(hit, allowed) << scene_.plan << " at epsilon " << epsilon << ", threshold at " << share;
      }
    }
  }

 private:
  static constexpr int training = 300, trials = 2000;

  std::vector<double> scores(const std::vector<double>& values, int count) {
    std::vector<double> found;
    for (int i = 0; i < count; ++i)
      found.push_back(score(noise::carry_out(detail::CertificateContent::of(certificate_).instructions, scene_.terms, values, source_),
                            scene_.direction));
    return found;
  }

  const Scene& scene_;
  Certificate certificate_;
  ReplayForTests words_;
  noise::WordSource source_;
};

TEST(Attack, OnRowsOfTheSameData) {
  ReleaseTerms rows;
  rows.grid_exponent = -4;
  rows.rows = 6;
  const auto all = [&](double value) { return std::vector<double>(rows.rows, value); };
  Attacker({"laplace(scale=1, sensitivity=100) | rectify(epsilon=1, low=0, high=100)", rows, all(0), all(100), {1}})
      .expect_certificate_survives();
  rows.rows = 40;
  Attacker({"gaussian(sigma=5, sensitivity=0.5)", rows, all(0), all(0.5), {1}}).expect_certificate_survives();
  Attacker({"gaussian(sigma=5, sensitivity=0.5) | repeat(40)", rows, all(0), all(0.5), {1}}).expect_certificate_survives();
  rows.rows = 2;
  Attacker({"gaussian(sigma=3); gaussian(sigma=2)", rows, {0, 0}, {1, 1}, {1, 2.25}}).expect_certificate_survives();
}

TEST(Attack, OnRowsOfDifferentPeople) {
  ReleaseTerms disjoint;
  disjoint.rows_are = Rows::disjoint;
  disjoint.rows = 3;
  Attacker({"gaussian(sigma=1)", disjoint, {5, 0, 2}, {5, 1, 2}, {0, 1, 0}}).expect_certificate_survives();
  Attacker({"randomized_response(epsilon=1, choices=3)", disjoint, {0, 1, 2}, {2, 1, 2}, {1, 0, 0}}).expect_certificate_survives();
}

TEST(Attack, OnVectors) {
  ReleaseTerms wide;
  wide.columns = 4;
  Attacker({"discrete_gaussian(sigma=2, sensitivity=4)", wide, {0, 0, 0, 0}, {1, 1, 1, 1}, {1, 1, 1, 1}}).expect_certificate_survives();
  Attacker({"discrete_laplace(scale=4, sensitivity=4)", wide, {0, 0, 0, 0}, {1, 1, 1, 1}, {1, 1, 1, 1}}).expect_certificate_survives();
  Attacker({"gaussian(sigma=2, sensitivity=2)", wide, {0, 0, 0, 0}, {1, 1, 1, 1}, {1, 1, 1, 1}}).expect_certificate_survives();
}

TEST(Attack, OnRecords) {
  ReleaseTerms records;
  records.neighbours = Neighbours::add_remove;
  records.bounds = Bounds{0, 10};
  records.aggregate = Aggregate::mean;
  records.rows = 2;
  const std::vector<double> few{1, 2, 3}, one_more{1, 2, 3, 10}, three_more{1, 2, 3, 10, 10, 10};
  Attacker({"gaussian(sigma=10, sensitivity=10); gaussian(sigma=2)", records, few, one_more, {1, 1}}).expect_certificate_survives();
  records.aggregate = Aggregate::sum;
  records.rows = 1;
  Attacker({"gaussian(sigma=2, sensitivity=10) | poisson(rate=1/4)", records, few, one_more, {1}}).expect_certificate_survives();
  Attacker({"gaussian(sigma=2, sensitivity=10) | poisson(rate=1/4) | group(3)", records, few, three_more, {1}})
      .expect_certificate_survives();
  records.neighbours = Neighbours::replace_one;
  Attacker({"laplace(scale=5, sensitivity=10) | sample(size=1, of=3)", records, few, {1, 2, 10}, {1}}).expect_certificate_survives();
}

}  // namespace
}  // namespace tradeoff::detail::test
