// SPDX-License-Identifier: Apache-2.0
// [finite-pair] The digits of printed claims: exact decimals where the numbers of the plan determine them, otherwise at most six, or ten
// just beyond a short decimal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "run_command.h"

namespace tradeoff::detail::test {
namespace {

using testing::HasSubstr;
using testing::Not;

using Words = std::vector<std::string>;

std::string text_of(const Words& words) {
  const Outcome run = run_command(words);
  EXPECT_EQ(run.code, 0) << words.front() << " " << words.back() << "\n" << run.err;
  return run.out;
}

TEST(Digits, AreExactWhereThePlanDeterminesTheNumber) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"epsilon", "--delta", "0", "dp(epsilon=0.1) | repeat(3)"}, "epsilon <= 0.3 at"},
      {{"epsilon", "--delta", "1e-5", "dp(epsilon=0.3, delta=1e-5)"}, "epsilon <= 0.3 at"},
      {{"delta", "--epsilon", "1", "dp(epsilon=1, delta=1e-5)"}, "delta <= 1e-5 at"},
      {{"delta", "--epsilon", "7", "dp(epsilon=1, delta=1e-5)"}, "delta <= 1e-5 at"},
      {{"compare", "--delta", "0", "laplace(scale=20) | repeat(50)"}, "basic               2.5 "},
      {{"compare", "--delta", "0", "laplace(scale=20) | repeat(50)"}, "epsilon <= 2.5 at"},
      {{"compare", "--delta", "0.01", "dp(epsilon=0.05) | repeat(50)"}, "loss_tail           0.9 "},
      {{"renyi", "--order", "2", "laplace(scale=20) | repeat(50)"}, "rho <= 0.0625 of"},
      {{"renyi", "--order", "32", "gaussian(sigma=0.1)"}, "Renyi divergence <= 1600 at"},
      {{"mu", "gaussian(sigma=0.1)"}, "mu <= 10\n"},
      {{"mu", "gdp(mu=0.3) | group(2)"}, "mu <= 0.6\n"},
      {{"mu", "gdp(mu=0.3)"}, "mu <= 0.3 with slack 1e-15"},
      {{"moments", "gdp(mu=0.3)"}, "kl <= 0.045 the"},
      {{"moments", "gdp(mu=0.3)"}, "kappa2 <= 0.092025 its"},
      {{"divergences", "gdp(mu=0.3)"}, "kl <= 0.045 the"},
      {{"advantage", "curve(points=[(0, 0.9), (0.1, 0.7), (0.5, 0.2), (0.9, 0), (1, 0)])"}, "advantage <= 0.3\n"},
      {{"advantage", "pair(p=[1/3, 2/3], q=[0.2, 0.8])"}, "exactly 2/15"},
      {{"delta", "--epsilon", "0", "pair(p=[0.1, 0.9], q=[0.2, 0.8])"}, "delta <= 0.1 at"},
      {{"divergences", "curve(points=[(0, 1), (0.3, 0.3), (1, 0)])"}, "total variation <= 0.4 the"},
      {{"beta", "--alpha", "0.1", "curve(points=[(0, 0.9), (0.1, 0.7), (0.5, 0.2), (1, 0)])"}, "beta >= 0.7 at"},
      {{"beta", "--alpha", "0.15", "pair(p=[0.2, 0.3, 0.5], q=[0.5, 0.3, 0.2])"}, "beta >= 0.625 at"},
      {{"beta", "--alpha", "0.15", "--direction", "remove", "curve(points=[(0, 0.9), (0.1, 0.7), (0.5, 0.2), (1, 0)])"}, "exactly 0.6375"},
      {{"beta", "--alpha", "0", "dp(epsilon=1, delta=0.1)"}, "beta >= 0.9 at"},
      {{"tpr", "--fpr", "0.2",
        "strongest([curve(points=[(0, 0.9), (0.1, 0.7), (0.5, 0.2), (1, 0)]), pair(p=[0.25, 0.75], q=[0.75, 0.25])])"},
       "tpr <= 0.5 at"},
      {{"beta", "--alpha", "0.15",
        "weakest([curve(points=[(0, 0.9), (0.1, 0.7), (0.5, 0.2), (1, 0)]), pair(p=[0.25, 0.75], q=[0.75, 0.25])])"},
       "beta >= 0.51 at"},
      {{"posterior", "--prior", "0.4", "pair(p=[0.2, 0.3, 0.5], q=[0.5, 0.3, 0.2])"}, "guess <= 0.68 at"},
      {{"posterior", "--prior", "0.4", "pair(p=[0.2, 0.3, 0.5], q=[0.5, 0.3, 0.2])"}, "posterior <= 0.625 at"},
      {{"divergences", "pair(p=[0.2, 0.3, 0.5], q=[0.5, 0.3, 0.2])"}, "chi-square <= 0.63 the"},
      {{"delta", "--epsilon", "inf", "curve(points=[(0, 0.9), (0.1, 0.7), (0.5, 0.2), (1, 0)])"}, "delta <= 0.1 at"},
      {{"epsilon", "--delta", "0.1", "curve(points=[(0, 0.9), (0.1, 0.7), (0.5, 0.2), (1, 0)])"}, "epsilon <= 0.693148 at"},
      {{"check", "--epsilon", "0", "--delta", "0.3", "pair(p=[0.2, 0.3, 0.5], q=[0.5, 0.3, 0.2])"}, "certainly within the budget"},
      {{"guarantees", "--direction", "remove", "pair(p=[0.2, 0.3, 0.5], q=[0.5, 0.3, 0.2])"}, "epsilon <= 0   delta <= 0.3\n"},
      {{"guarantees", "dp(epsilon=0, delta=0.3)"}, "epsilon <= 0   delta <= 0.3\n"},
      {{"advantage", "mixture([(0.5, pair(p=[0.1, 0.9], q=[0.3, 0.7])), (0.5, dp(epsilon=0, delta=0.1))])"}, "advantage <= 0.15\n"},
      {{"risk", "pair(p=[0.1, 0.9], q=[0.3, 0.7])"}, "factor on the odds <= 3 except"},
      {{"risk", "pair(p=[0.1, 0.9], q=[0.3, 0.7])"}, "<= 0.003 of 1000"},
      {{"posterior", "--prior", "0.5", "pair(p=[0.1, 0.9], q=[0.3, 0.7])"}, "posterior <= 0.75 at prior = 0.5, except"},
      {{"posterior", "--prior", "0.1", "dp(epsilon=0.5, delta=0.01)"}, "guess <= 0.901 at"},
      {{"compare", "--delta", "0.1", "strongest([dp(epsilon=1), dp(epsilon=0.5, delta=0.1)])"}, "epsilon <= 0.5 at"},
      {{"guarantees", "strongest([dp(epsilon=1), dp(epsilon=0.5, delta=0.1)])"}, "epsilon <= 0.5   delta <= 0.1\n"},
      {{"guarantees", "dp(epsilon=0.1) | repeat(3)"}, "epsilon <= 0.3   delta <= 0\n"},
      {{"report", "curve(points=[(0, 1), (0.2, 0.4), (1, 0)])"}, "membership_inference_advantage: 0.4\n"},
      {{"check", "--epsilon", "1", "--delta", "1e-5", "dp(epsilon=1, delta=1e-5)"}, "delta <= 1e-5 at"},
      {{"gdpt", "--epsilon", "0.3", "gaussian(sigma=0.1)"}, "mu <= 10 at"},
      {{"clt", "gaussian(sigma=0.1)"}, "mu <= 10 by"},
      {{"compare", "--delta", "0.01", "discrete_gaussian(sigma=10)"}, "loss_tail           0.235 "},
      {{"guarantees", "discrete_gaussian(sigma=10)"}, "epsilon <= 3.605   delta"},
      {{"posterior", "--prior", "0.1", "laplace(scale=1) | sample(rate=0.1)"}, "guess <= 0.9 at"},
      {{"report", "laplace(scale=3)"}, "| prior 0.01 | 0.99 | exactly 0.99 |"},
      {{"renyi", "--order", "2", "dp(epsilon=0.1) | group(3)"}, "rho <= 0.045 of"},
      {{"guarantees", "dp(epsilon=0.1, delta=1e-6) | repeat(3)"}, "epsilon <= 0.3   delta"},
      {{"guarantees", "dp(epsilon=0.3, delta=1e-6)"}, "epsilon <= 0.3   delta <= 1e-6\n"},
      {{"report", "laplace(scale=20) | repeat(50)"}, "| ρ | 0.0625 |"},
      {{"report", "laplace(scale=20) | repeat(50)"}, "rho_zcdp: 0.0625\n"},
      {{"report", "dp(epsilon=0.1) | repeat(3)"}, "| ε at δ = 0 | 0.3 |"},
      {{"report", "gaussian(sigma=0.1)"}, "| μ | 10 |"},
      {{"calibrate", "--epsilon", "2.5", "--delta", "0", "laplace(scale=?) | repeat(50)"}, "scale = 20 meets"},
      {{"calibrate", "--epsilon", "1", "--delta", "0", "dp(epsilon=?) | repeat(10)"}, "epsilon = 0.1 meets"},
      {{"calibrate", "--epsilon", "1", "--delta", "0", "discrete_laplace(scale=?) | repeat(7)"}, "scale = 7 meets"},
      {{"calibrate", "--epsilon", "0.1", "--delta", "1e-6", "dp(epsilon=0.1, delta=?)"}, "delta = 1e-6 meets"},
      {{"calibrate", "--epsilon", "0.1", "--delta", "1e-6", "dp(epsilon=?, delta=1e-6)"}, "epsilon = 0.1 meets"},
      {{"calibrate", "--epsilon", "0.9999999999999999", "--delta", "0", "dp(epsilon=?) | repeat(10)"}, "epsilon = 0.09999999999 meets"},
      {{"calibrate", "--mu", "1", "gaussian(sigma=?) | repeat(4)"}, "sigma = 2 meets"},
      {{"calibrate", "--mu", "0.3", "gdp(mu=?) | repeat(4)"}, "mu = 0.15 meets"},
      {{"calibrate", "--mu", "0.3", "gaussian(sigma=?)"}, "sigma = 3.333334 meets"},
  };
  for (const auto& [words, expected] : cases) EXPECT_THAT(text_of(words), HasSubstr(expected)) << words.front() << " " << words.back();
}

/// The significant digits of a printed number.
std::size_t significant(const std::string& number) {
  std::string digits;
  for (const char c : number.substr(0, number.find('e')))
    if (c >= '0' && c <= '9') digits += c;
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (number.find('.') == std::string::npos) digits.erase(digits.find_last_not_of('0') + 1);
  return digits.size();
}

/// Claims have at most six digits, or ten just beyond a decimal of six, or those of an exact number. Lines with proofs have more.
void expect_short_claims(const Words& words) {
  static const std::regex claim("(?:<=|>=) ([0-9][0-9.]*(?:e-?[0-9]+)?)");
  std::istringstream lines(text_of(words));
  for (std::string line; std::getline(lines, line);)
    for (std::sregex_iterator i(line.begin(), line.end(), claim), end; i != end; ++i) {
      const std::string number = (*i)[1];
      EXPECT_LE(significant(number), 10U) << words.front() << " " << words.back() << ": " << line;
      const bool beyond = significant(number) > 6;
      const std::string digits = std::regex_replace(number.substr(0, number.find('e')), std::regex("[.]|^[0.]+"), "");
      if (beyond) {
        EXPECT_TRUE(std::regex_search(digits, std::regex("0000[0-9]?$|9999[0-9]?$|0001$"))) << line;
      }
    }
}

TEST(Digits, AreAtMostSixInClaims) {
  for (const char* plan : {"dp(epsilon=1, delta=1e-5)",
                           "dp(epsilon=0.1, delta=1e-6) | repeat(3)",
                           "dp(epsilon=0.05) | repeat(50)",
                           "laplace(scale=0.1)",
                           "laplace(scale=3)",
                           "gaussian(sigma=0.1)",
                           "gaussian(sigma=2) | repeat(4)",
                           "gdp(mu=0.3) | group(2)",
                           "zcdp(rho=0.01) | repeat(10)",
                           "rdp(points=[(2, 0.1), (8, 0.3)])",
                           "randomized_response(epsilon=0.7, choices=2) | repeat(10)",
                           "discrete_laplace(scale=5) | repeat(7)",
                           "discrete_gaussian(sigma=10)",
                           "truncated_laplace(scale=5, bound=40)",
                           "constraints([(1, 0), (0.5, 0.1)])",
                           "pair(p=[0.1, 0.9], q=[0.2, 0.8]) | repeat(3)",
                           "strongest([gdp(mu=0.5), dp(epsilon=0.3)])",
                           "dp(epsilon=0.1) | poisson(rate=0.1)",
                           "dp(epsilon=0.1) | group(3)",
                           "laplace(scale=10); gaussian(sigma=10)",
                           "gaussian(sigma=1) | poisson(rate=0.01) | repeat(1000)",
                           "dp(epsilon=0.3, delta=0.001); dp(epsilon=0.7, delta=0.002)",
                           "exponential(epsilon=0.2) | repeat(5)",
                           "curve(points=[(0, 0.9), (0.1, 0.7), (0.5, 0.2), (0.9, 0), (1, 0)])",
                           "laplace(scale=1) | sample(rate=0.1)"}) {
    expect_short_claims({"epsilon", "--delta", "0.01", plan});
    expect_short_claims({"delta", "--epsilon", "0.3", plan});
    expect_short_claims({"mu", plan});
    expect_short_claims({"beta", "--alpha", "0.05", plan});
    expect_short_claims({"tpr", "--fpr", "0.05", plan});
    expect_short_claims({"advantage", plan});
    expect_short_claims({"posterior", "--prior", "0.1", plan});
    expect_short_claims({"risk", plan});
  }
}

}  // namespace
}  // namespace tradeoff::detail::test
