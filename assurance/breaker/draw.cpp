// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "support/random_plans.h"
#include "trial.h"

namespace tradeoff::detail::breaker {
namespace {

using test::PlanSource;

/// Every mechanism and operator of the language, with ordinary and extreme parameters.
class HostileSource {
 public:
  explicit HostileSource(std::uint64_t seed) : from_(seed) {}

  [[nodiscard]] Neighbours neighbours() const { return replace_one_ ? Neighbours::replace_one : Neighbours::add_remove; }
  [[nodiscard]] PlanSource& numbers() { return from_; }

  [[nodiscard]] std::string plan() {
    replace_one_ = from_.chance(0.2);
    std::string text = line();
    while (from_.chance(0.15)) text += "; " + (from_.chance(0.1) ? last_line_ : line());
    if (from_.chance(0.03)) text = "(" + text + ")" + repeat(2, 20);
    return text;
  }

 private:
  /// Mostly in the ordinary range, sometimes far outside, sometimes round, because round numbers produce ties and lattices.
  [[nodiscard]] std::string number(double low, double high, double least, double most) {
    const double kind = from_.uniform(0, 1);
    if (kind < 0.15) {
      for (const double round : {1.0, 0.5, 2.0, 0.1, 10.0, 0.01, 100.0, 1e-3})
        if (round >= least && round <= most && from_.chance(0.4)) return PlanSource::text(round);
    }
    return kind < 0.75 ? from_.number(low, high) : from_.number(least, most);
  }
  [[nodiscard]] std::string repeat(double low, double high) { return from_.repeat(low, high); }
  [[nodiscard]] int one_of(int count) { return std::min(count, 1 + static_cast<int>(from_.uniform(0, count))); }
  [[nodiscard]] std::string whole(double low, double high) { return std::to_string(from_.count(low, high)); }
  [[nodiscard]] std::string sensitivity() { return from_.chance(0.25) ? ", sensitivity=" + number(0.5, 2, 1e-5, 1e5) : ""; }

  /// One mechanism and how it is run. Most plans are cheap to answer, so that a run covers many; every kind occurs.
  [[nodiscard]] std::string line() {
    const double kind = from_.uniform(0, 1);
    std::string text;
    if (kind < 0.09)
      text = training();
    else if (kind < 0.21)
      text = (from_.chance(0.7) ? gaussian() : laplace()) + (from_.chance(0.1) ? operators() : "") + long_repeat();
    else if (kind < 0.98)
      text = finite() + operators() + short_repeat();
    else
      text = slow() + (from_.chance(0.3) ? operators() : "") + repeat(1, 4);
    return last_line_ = text;
  }
  /// Training runs of usual size, and a few extreme ones: rates down to 1e-9, steps up to 1e12.
  [[nodiscard]] std::string training() {
    if (replace_one_)
      return "gaussian(sigma=" + number(0.6, 10, 0.3, 100) + ") | sample(rate=" + from_.number(1e-3, 0.5) + ")" + repeat(60, 1e4);
    if (from_.chance(0.1))
      return (from_.chance(0.8) ? gaussian() : laplace()) + " | poisson(rate=" + from_.number(1e-9, 1) + ")" + repeat(1, 1e12);
    const double steps = from_.scale(60, from_.chance(0.2) ? 1e12 : 1e6), sigma = from_.scale(0.6, 10);
    const double rate = std::min(0.9, from_.scale(0.1, 4) * sigma / std::sqrt(steps));
    return "gaussian(sigma=" + PlanSource::text(sigma) + ") | poisson(rate=" + PlanSource::text(rate) + ") | repeat(" +
           std::to_string(std::llround(steps)) + ")";
  }
  [[nodiscard]] std::string long_repeat() { return from_.chance(0.3) ? repeat(1, 1e12) : repeat(1, 100); }
  [[nodiscard]] std::string short_repeat() {
    return from_.chance(0.02) ? repeat(1, 1e6) : from_.chance(0.15) ? repeat(1, 40) : repeat(1, 5);
  }
  [[nodiscard]] std::string operators() {
    const double kind = from_.uniform(0, 1);
    if (kind < 0.55) return "";
    if (kind < 0.8 && !replace_one_) return " | poisson(rate=" + number(0.01, 0.9, 1e-9, 1) + ")";
    if (kind < 0.8) return " | sample(size=" + whole(1, 10) + ", of=" + whole(10, 1000) + ")";
    if (kind < 0.86) return " | group(" + whole(1, 4) + ")";
    if (kind < 0.9 && !replace_one_) return " | invert()";
    if (kind < 0.93) return " | refine()";
    if (kind < 0.95 && replace_one_) return " | sample_with_replacement(draws=" + whole(1, 6) + ", of=" + whole(6, 100) + ")";
    return "";
  }

  [[nodiscard]] std::string gaussian() {
    return from_.chance(0.85) ? "gaussian(sigma=" + number(0.6, 10, 1e-4, 1e6) + sensitivity() + ")"
                              : "gdp(mu=" + number(0.05, 3, 1e-9, 50) + ")";
  }
  [[nodiscard]] std::string laplace() { return "laplace(scale=" + number(0.5, 20, 0.02, 1e6) + sensitivity() + ")"; }
  /// All regimes: everything revealed (2 bound <= sensitivity), no flank, flanks, hardly truncated.
  [[nodiscard]] std::string truncated_laplace() {
    const double scale = std::stod(number(0.3, 5, 1e-2, 1e3));
    const double kind = from_.uniform(0, 1);
    const std::string bound = kind < 0.1    ? from_.number(0.1, 0.5)
                              : kind < 0.3  ? from_.number(0.5, 1)
                              : kind < 0.35 ? "1"
                                            : from_.number(1, 1 + 40 * scale);
    return "truncated_laplace(scale=" + PlanSource::text(scale) + ", bound=" + bound + ")";
  }
  [[nodiscard]] std::string finite() {
    switch (one_of(12)) {
      case 1:
        return "randomized_response(epsilon=" + number(0.02, 3, 1e-9, 40) + ", choices=" + whole(2, from_.chance(0.2) ? 1e6 : 20) + ")";
      case 2:
        return "dp(epsilon=" + number(0.02, 2, 1e-9, 40) + (from_.chance(0.7) ? ", delta=" + number(1e-10, 1e-2, 1e-300, 0.9) : "") + ")";
      case 3:
        return "discrete_laplace(scale=" + number(0.5, 20, 0.05, 200) + ", sensitivity=" + whole(1, 6) + ")";
      case 4:
        return "truncated_discrete_laplace(scale=" + number(0.5, 10, 0.1, 100) + ", bound=" + whole(1, 60) +
               ", sensitivity=" + whole(1, 4) + ")";
      case 5:
        return "discrete_gaussian(sigma=" + number(0.5, 10, 0.2, 30) + ", sensitivity=" + whole(1, 4) + ")";
      case 6:
        return constraints();
      case 7:
        return pair();
      case 8:
        return profile();
      case 9:
        return curve();
      case 10:
        return truncated_laplace();
      case 11:
        return "dp(epsilon=" + number(0.02, 2, 1e-9, 40) + ")";
      default:
        return from_.finite();
    }
  }
  /// Distributions that only the lattice can compose, or that contain others. A bound that is not the profile of a pair is refined, because
  /// the laws are about pairs.
  [[nodiscard]] std::string slow() {
    switch (one_of(11)) {
      case 9:
      case 10:
        return nested();
      case 11:
        return from_.group(samples());
      case 1: {
        const long share = from_.count(1, 99);
        return "mixture([(" + PlanSource::text(static_cast<double>(share) / 100) + ", " + simple() + "), (" +
               PlanSource::text(static_cast<double>(100 - share) / 100) + ", " + simple() + ")])";
      }
      case 2:
        return "strongest([" + simple() + ", " + simple() + "])";
      case 3:
        return "weakest([" + simple() + ", " + simple() + "])";
      case 4:
        return "zcdp(rho=" + number(1e-3, 1, 1e-9, 50) + ") | refine()";
      case 5:
        return "sqrt_log_family(a=1, b=1.25, sigma=" + number(1, 10, 0.1, 100) + ") | refine()";
      case 6:
        return "log_family(c=1, sigma=" + number(1, 20, 0.1, 100) + ") | refine()";
      case 7:
        return simple() + " | rectify(epsilon=" + number(0.5, 5, 0.01, 30) + ", low=0, high=1)";
      default:
        return truncated_laplace();
    }
  }
  [[nodiscard]] PlanSource::Samples samples() const {
    return replace_one_ ? PlanSource::Samples::fixed_size : PlanSource::Samples::poisson;
  }
  /// Nested operators and lists.
  [[nodiscard]] std::string nested() {
    const std::string plan = "(" + from_.nested(2, samples()) + ")";
    return plan.find("rectify") == std::string::npos ? plan : plan + " | refine()";
  }
  [[nodiscard]] std::string simple() {
    return from_.chance(0.4) ? gaussian() : from_.chance(0.3) ? laplace() : from_.chance(0.5) ? pair() : constraints();
  }

  /// Two to five pairs: epsilon decreases while delta increases.
  [[nodiscard]] std::string constraints() { return "constraints([" + falling(from_.count(2, 5), 1e-12) + "])"; }
  [[nodiscard]] std::string falling(long count, double least_delta) {
    double epsilon = std::stod(number(0.5, 3, 1e-3, 30)), delta = from_.scale(least_delta, 1e-2);
    std::string text;
    for (long i = 0; i < count; ++i) {
      text += (i == 0 ? "(" : ", (") + PlanSource::text(epsilon) + ", " + PlanSource::text(delta) + ")";
      epsilon *= from_.uniform(0.2, 0.9);
      delta = std::min(1.0, delta + from_.scale(1e-4, 0.1));
    }
    return text;
  }
  [[nodiscard]] std::string pair() {
    const long outcomes = from_.count(2, 6);
    const auto row = [&] {
      std::vector<long> parts;
      for (long i = 0; i < outcomes; ++i) parts.push_back(from_.chance(0.12) ? 0 : from_.count(1, from_.chance(0.2) ? 100000 : 1000));
      if (std::accumulate(parts.begin(), parts.end(), 0L) == 0) parts.front() = 1;
      const long sum = std::accumulate(parts.begin(), parts.end(), 0L);
      std::string text = "[";
      for (const long part : parts) text += (text.size() == 1 ? "" : ", ") + std::to_string(part) + "/" + std::to_string(sum);
      return text + "]";
    };
    const std::string p = row();
    return "pair(p=" + p + ", q=" + row() + ")";
  }
  /// Growing steps, and deltas that fall by more than half each time: convex in exp(epsilon).
  [[nodiscard]] std::string profile() {
    const bool ends = from_.chance(0.5);
    std::string text;
    double epsilon = 0, delta = from_.uniform(0.2, 0.9), step = std::stod(number(0.2, 1, 0.01, 5));
    const auto add = [&](double height) {
      text += (text.empty() ? "(" : ", (") + PlanSource::text(epsilon) + ", " + PlanSource::text(height) + ")";
    };
    for (long i = 0, count = from_.count(2, 6); i < count; ++i) {
      add(delta);
      epsilon += step *= from_.uniform(1, 1.5);
      delta *= from_.uniform(0.05, 0.4);
    }
    if (ends) add(0);
    return "profile(points=[" + text + "], tail=" + (ends ? "zero" : "unknown") + ")";
  }
  /// A convex polygon from (0, b) to (1, 0) below 1 - alpha.
  [[nodiscard]] std::string curve() {
    double alpha = 0, beta = from_.chance(0.5) ? 1 : from_.uniform(0.6, 1);
    std::string text = "(0, " + PlanSource::text(beta) + ")";
    double slope = -from_.scale(3, 100);
    while (slope < -1) {  // the last piece, to (1, 0), is less steep than the diagonal
      const double reach = from_.uniform(0.1, 0.6) * beta / -slope;
      alpha = rounded(alpha + reach), beta = rounded(beta + slope * reach);
      if (alpha + beta >= 0.999 || beta <= 0.001) break;
      text += ", (" + PlanSource::text(alpha) + ", " + PlanSource::text(beta) + ")";
      slope *= from_.uniform(0.1, 0.6);
    }
    return "curve(points=[" + text + ", (1, 0)])";
  }

  PlanSource from_;
  bool replace_one_ = false;
  std::string last_line_;
};

/// Seeds of neighbouring plans are unrelated (the finaliser of SplitMix64).
std::uint64_t mixed(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

}  // namespace

Trial draw(std::uint64_t seed, std::uint64_t index) {
  HostileSource source(mixed(seed, index));
  const std::string text = source.plan();
  PlanSource& numbers = source.numbers();
  Trial trial;
  trial.plan = parse(text);
  trial.neighbours = source.neighbours();
  trial.delta = rounded(numbers.chance(0.7) ? numbers.scale(1e-12, 0.2) : numbers.chance(0.5) ? numbers.scale(1e-300, 0.5) : 0.5);
  trial.epsilon = rounded(numbers.chance(0.1) ? 0 : numbers.scale(1e-4, 20));
  trial.alpha = rounded(numbers.chance(0.7) ? numbers.uniform(0, 1) : numbers.scale(1e-12, 1));
  trial.tolerance = numbers.chance(0.3) ? 1e-6 : 1e-3;
  return trial;
}

}  // namespace tradeoff::detail::breaker
