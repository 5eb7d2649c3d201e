// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "checks.h"
#include "outcomes.h"
#include "support/finite_attack.h"

// The reported risks must hold for every mechanism that a plan covers. So finite mechanisms that it certainly covers are drawn, and
// brute-force attacks on them must not exceed the reported numbers. [odds-factor] [membership-posterior] [naming-chance]
namespace tradeoff::detail::breaker {
namespace {

using test::FinitePair;
using Random = std::mt19937_64;

constexpr double rounding = 1e-9;  // of the brute force, relatively
constexpr std::size_t most_outputs = 4000;

double normal(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }
double normal_point(double p) {
  double low = -40, high = 40;
  for (int i = 0; i < 80; ++i) (normal((low + high) / 2) < p ? low : high) = (low + high) / 2;
  return low;
}

/// A polygon between points of the trade-off function that the accountant itself reports, one of them the most informative test of a
/// probability just above the requested one.
FinitePair between_points(const Answers& answers, double chance, Random& random) {
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = random() % 3; i > 0; --i) {
    const double alpha = uniform(random) < 0.5 ? uniform(random) : std::pow(10, -6 * uniform(random));
    points.emplace_back(alpha, answers.beta(alpha).hi);
  }
  const double level = 1 - chance * (1 + 1e-5);
  points.emplace_back(answers.beta(level).hi, level);
  return test::polygon(points);
}

/// The distribution of one or two steps of a line, as far as first principles give it. A partition of the outputs reveals no more than the
/// outputs.
std::optional<FinitePair> own_law(const Plan& plan, Random& random) {
  const auto steps = events_of(plan);
  if (!steps || steps->empty()) return std::nullopt;
  const Steps& one = (*steps)[random() % steps->size()];
  FinitePair law;
  for (const Event& event : one.events) law.add(event.p, event.q);
  if (one.times >= 2 && law.size() * law.size() <= most_outputs) law = both(law, law);
  if (one.times < 1 || law.size() > most_outputs) return std::nullopt;
  return law;
}

/// Attacks the mechanism in every reported way.
void attack(Examination& exam, const Claims& claims, const ClaimsAt& at, const FinitePair& pair) {
  const auto require = [&](double reached, Interval claimed, const char* what) {
    exam.require_at_most(reached, claimed.hi * (1 + rounding) + 1e-12,
                         std::string("an attack on a covered mechanism keeps to the ") + what);
  };
  const double people = static_cast<double>(at.people);
  require(total_variation(pair), claims.advantage, "advantage");
  require(best_rate(pair, at.false_positives), claims.rate, "true-positive rate");
  require(best_accuracy(pair, at.prior), claims.accuracy, "accuracy");
  require(largest_posterior(pair, at.prior, 1e-6), claims.posterior, "posterior");
  const bool replaced = exam.trial().neighbours == Neighbours::replace_one;
  require(replaced ? naming_with_each_other(pair, people) : naming_without(pair, people), claims.naming, "chance of naming");
  exam.require_at_most(chance_of_more_than(pair, claims.odds.hi * (1 + rounding)), at.chance * (1 + rounding),
                       "the odds of a covered mechanism are multiplied by more with the stated chance only");
  if (!(claims.mu.hi < std::numeric_limits<double>::infinity())) return;
  for (const double level : {1e-4, 0.01, 0.3})
    exam.require_at_most(best_rate(pair, level),
                         (at.slack + (1 - at.slack) * normal(normal_point(level / (1 - at.slack)) + claims.mu.hi)) * (1 + rounding) + 1e-12,
                         "an attack on a covered mechanism keeps to mu and slack");
}

bool said_to_people(Examination& exam) {
  Random random(exam.pick(std::size_t{1} << 40U));
  std::uniform_real_distribution<double> uniform(0, 1);
  ClaimsAt at;
  at.false_positives = rounded(std::pow(10, -4 * uniform(random)));
  at.prior = rounded(0.01 + 0.98 * uniform(random));
  at.people = 2 + random() % 1000;
  at.chance = rounded(std::pow(10, -0.3 - 5 * uniform(random)));
  at.slack = random() % 8 == 0 ? 1e-5 : 0;  // needs its own search
  const Claims claims = exam.answers().claims(at);
  std::vector<FinitePair> covered = {between_points(exam.answers(), at.chance, random), between_points(exam.answers(), 0.5, random)};
  if (const auto law = own_law(exam.plan(), random)) {
    covered.push_back(*law);
    covered.push_back(told_if_telling(*law, std::min(1.0, at.chance * (1 + 1e-6))));
    covered.push_back(through_a_channel(*law, 2 + random() % 4, random));
  }
  for (const FinitePair& pair : covered) {
    attack(exam, claims, at, pair);
    attack(exam, claims, at, exchanged(pair));
  }
  return true;
}

constexpr Check all_sentences[] = {
    {"sentences", "b c", 0.05, said_to_people, "attacks on finite mechanisms that the plan covers reach no more than people are told"},
};

}  // namespace

std::span<const Check> sentences() { return all_sentences; }

}  // namespace tradeoff::detail::breaker
