// SPDX-License-Identifier: Apache-2.0
#include "audit/one_run.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "loss/gaussian_profile.h"
#include "numeric/arithmetic.h"
#include "numeric/binomial.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::audit {
namespace {

constexpr double epsilon_step = 0x1p-8;  // of the search for an epsilon that is refuted in spite of delta
constexpr double most_epsilon = 30;      // more canaries than e^30 would be needed to show more
const Interval enclosed_pi{3.141592653589793, 3.1415926535897936};

void check(Guesses guesses) {
  if (guesses.canaries == 0 || guesses.made == 0 || guesses.made > guesses.canaries || guesses.right > guesses.made)
    throw DomainError("guesses: " + std::to_string(guesses.right) + " right of " + std::to_string(guesses.made) + " about " +
                      std::to_string(guesses.canaries) + " canaries is not possible; at least one guess is needed");
  if (guesses.canaries > 100'000'000) throw TooLargeError("canaries: at most 100000000 are allowed");
}

/// The probability q = e^epsilon / (1 + e^epsilon) of a right answer by randomised response.
Interval truth_rate(double epsilon) { return 1.0 / (1.0 + exp(Interval::exactly(-epsilon))); }

/// What delta adds to the binomial tail; falls with epsilon. [one-run-audit]
double added_by_delta(Guesses guesses, double epsilon, double delta) {
  if (delta == 0) return 0;
  const Interval rate = truth_rate(epsilon), miss = 1.0 - rate, made = Interval::exactly(guesses.made);
  const Interval spread = miss + sqrt(enclosed_pi * miss * (made - 1.0) / (2.0 * rate));
  const Interval guessed = min(made * miss, spread), abstained = Interval::exactly(guesses.canaries - guesses.made) * miss;
  return (delta * (abstained + guessed)).hi;
}

/// An upper bound of the probability of so many right guesses under (epsilon, delta)-DP. [one-run-audit]
double chance_above(Guesses guesses, double epsilon, double delta) {
  const double tail = numeric::binomial_tail(guesses.made, truth_rate(epsilon), guesses.right).hi;
  return std::min(1.0, numeric::add_up(tail, added_by_delta(guesses, epsilon, delta)));
}

/// The least probability in one data set of an event that has probability at least y in a neighbouring one. [one-run-audit]
double least_partner(const std::vector<Line>& lines, double y) {
  double most = 0;
  for (const Line& line : lines) {
    most = std::max(most, numeric::divide_down(numeric::add_down(y, -line.offset), line.slope));
    const double rest = numeric::multiply_up(line.slope, numeric::add_up(1, -y));
    most = std::max(most, numeric::add_down(numeric::add_down(1, -line.offset), -rest));
  }
  return most;
}

/// Whether the lines allow that `right` or more guesses are right with probability `chance`: whether the other numbers of right guesses
/// can be so rare that all probabilities sum to 1. All roundings make the sum smaller. [one-run-audit]
bool allows(Guesses guesses, const std::vector<Line>& lines, double chance) {
  const auto canaries = static_cast<double>(guesses.canaries), made = static_cast<double>(guesses.made);
  double tail = chance;  // P(at least i are right), for the i of the loop plus one
  double above = 0;      // the sum of the tails of all larger numbers
  for (std::uint64_t i = guesses.right; i-- > 0;) {
    const double right_share =
        numeric::divide_down(numeric::add_down(numeric::multiply_down(static_cast<double>(i + 1), tail), above), canaries);
    const double wrong_share = least_partner(lines, right_share);
    above = numeric::add_down(above, tail);
    const double needed =
        numeric::divide_down(numeric::add_down(numeric::multiply_down(canaries, wrong_share), above), made - static_cast<double>(i));
    tail = std::max(tail, needed);
    if (tail > 1) return false;
  }
  return true;
}

std::vector<Line> gaussian_lines(double mu) {
  std::vector<Line> lines;
  for (double epsilon = 0; epsilon <= 12; epsilon += 0.125) lines.push_back(line_at(epsilon, gaussian_delta(mu, epsilon).hi));
  return lines;
}

}  // namespace

// [one-run-audit]
double epsilon_below(Guesses guesses, double delta, double error) {
  check(guesses);
  if (!(delta >= 0 && delta <= 1)) throw DomainError("delta must lie between 0 and 1");
  double epsilon = 0, above = most_epsilon;
  for (int i = 0; i < 40; ++i) {  // where the tail alone is small enough
    const double middle = epsilon + (above - epsilon) / 2;
    (chance_above(guesses, middle, 0) <= error ? epsilon : above) = middle;
  }
  for (; epsilon > 0; epsilon -= epsilon_step)
    if (chance_above(guesses, epsilon, delta) <= error) return epsilon;
  return 0;
}

double chance_above(Guesses guesses, const std::vector<Line>& lines) {
  check(guesses);
  if (guesses.right == 0) return 1;
  double refused = 1, allowed = 0;
  for (const Line& line : lines) refused = std::min(refused, chance_above(guesses, line.epsilon, line.offset));
  if (allows(guesses, lines, refused)) return refused;
  for (int i = 0; i < 60 && refused > 1e-15 && refused - allowed > 1e-3 * refused; ++i) {
    const double middle = allowed == 0 ? refused / 8 : (refused + allowed) / 2;
    (allows(guesses, lines, middle) ? allowed : refused) = middle;
  }
  return refused;
}

double mu_below(Guesses guesses, double error) {
  check(guesses);
  const auto refuted = [&](double mu) {
    const std::vector<Line> lines = gaussian_lines(mu);
    const auto by_line = [&](const Line& line) { return chance_above(guesses, line.epsilon, line.offset) <= error; };
    return guesses.right > 0 && (!allows(guesses, lines, error) || std::any_of(lines.begin(), lines.end(), by_line));
  };
  double below = 0, above = 8;
  for (int i = 0; i < 16; ++i) {
    const double mu = below + (above - below) / 2;
    (refuted(mu) ? below : above) = mu;
  }
  return below;
}

std::vector<std::uint64_t> numbers_of_guesses(std::uint64_t canaries) {
  std::vector<std::uint64_t> found;
  for (std::uint64_t made = canaries; made >= fewest_canaries || made == canaries; made /= 2) {
    found.push_back(made);
    if (made == 0) break;
  }
  return found;
}

Guesses guess(const std::vector<Canary>& canaries, std::uint64_t made) {
  std::vector<std::uint32_t> order(canaries.size());
  std::iota(order.begin(), order.end(), 0U);
  std::mt19937_64 words(20230515);  // any fixed seed: the order of rows with equal scores
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[words() % i]);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return canaries[a].score > canaries[b].score; });
  const std::uint64_t positive = made - made / 2, negative = made / 2;
  Guesses found{canaries.size(), made, 0};
  for (std::uint64_t i = 0; i < positive; ++i) found.right += canaries[order[i]].included ? 1U : 0U;
  for (std::uint64_t i = 0; i < negative; ++i) found.right += canaries[order[order.size() - 1 - i]].included ? 0U : 1U;
  return found;
}

std::vector<Guesses> guess_all(const std::vector<Canary>& canaries) {
  std::vector<Guesses> trials;
  for (const std::uint64_t made : numbers_of_guesses(canaries.size())) trials.push_back(guess(canaries, made));
  return trials;
}

OneRun judge_one_run(const std::vector<Guesses>& trials, const std::vector<Line>& lines, double delta, double error) {
  OneRun found{.best = trials.at(0)};
  const double count = static_cast<double>(trials.size()), share = numeric::divide_down(error, count);
  for (const Guesses& guesses : trials) {
    const double chance = std::min(1.0, numeric::multiply_up(chance_above(guesses, lines), count));
    if (chance < found.chance) {
      found.chance = chance;
      found.best = guesses;
    }
    found.epsilon_below = std::max(found.epsilon_below, epsilon_below(guesses, delta, share));
    found.mu_below = std::max(found.mu_below, mu_below(guesses, share));
  }
  return found;
}

}  // namespace tradeoff::detail::audit
