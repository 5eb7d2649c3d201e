// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <sstream>
#include <string>

// Random plans with parameters over wide ranges, the same on every machine for a seed.
namespace tradeoff::detail::test {

class PlanSource {
 public:
  explicit PlanSource(std::uint64_t seed) : bits_(seed) {}

  [[nodiscard]] double uniform(double low, double high) { return low + (high - low) * static_cast<double>(bits_() >> 11) * 0x1p-53; }
  /// Uniform in the logarithm.
  [[nodiscard]] double scale(double low, double high) { return std::exp(uniform(std::log(low), std::log(high))); }
  [[nodiscard]] long count(double low, double high) { return std::lround(scale(low, high)); }
  [[nodiscard]] bool chance(double probability) { return uniform(0, 1) < probability; }
  /// Four digits, so that the printed number is the exact one.
  [[nodiscard]] static std::string text(double value) {
    std::ostringstream out;
    out.precision(4);
    out << value;
    return out.str();
  }
  [[nodiscard]] std::string number(double low, double high) { return text(scale(low, high)); }

  [[nodiscard]] std::string gaussian() {
    const std::string sensitivity = chance(0.3) ? ", sensitivity=" + number(0.5, 2) : "";
    return chance(0.8) ? "gaussian(sigma=" + number(0.5, 20) + sensitivity + ")" : "gdp(mu=" + number(0.05, 3) + ")";
  }
  [[nodiscard]] std::string laplace() { return "laplace(scale=" + number(0.5, 20) + ")"; }
  [[nodiscard]] std::string truncated_laplace() {
    const double scale_value = scale(0.3, 5);
    return "truncated_laplace(scale=" + text(scale_value) + ", bound=" + number(0.6, 8 * scale_value) + ")";
  }
  [[nodiscard]] std::string finite() {
    switch (count(1, 7)) {
      case 1:
        return response();
      case 2:
        return "dp(epsilon=" + number(0.02, 2) + ", delta=" + number(1e-10, 1e-2) + ")";
      case 3:
        return "discrete_laplace(scale=" + number(0.5, 20) + ", sensitivity=" + std::to_string(count(1, 5)) + ")";
      case 4:
        return "truncated_discrete_laplace(scale=" + number(0.5, 10) + ", bound=" + std::to_string(count(2, 40)) +
               ", sensitivity=" + std::to_string(count(1, 3)) + ")";
      case 5:
        return "discrete_gaussian(sigma=" + number(0.5, 10) + ", sensitivity=" + std::to_string(count(1, 3)) + ")";
      case 6:
        return constraints();
      default:
        return pair();
    }
  }
  [[nodiscard]] std::string response() {
    return "randomized_response(epsilon=" + number(0.02, 3) + ", choices=" + std::to_string(count(2, 50)) + ")";
  }
  [[nodiscard]] std::string constraints() {
    const double first = scale(1e-6, 1e-3);
    const double second = first + scale(1e-3, 0.02);
    const double epsilon = uniform(0.5, 1.5);
    return "constraints([(" + text(epsilon) + ", " + text(first) + "), (" + text(epsilon * uniform(0.3, 0.9)) + ", " + text(second) + ")])";
  }
  [[nodiscard]] std::string pair() {
    const auto row = [this] {
      const long a = count(1, 400);
      const long b = count(1, 400);
      return "[" + std::to_string(a) + "/1000, " + std::to_string(b) + "/1000, " + std::to_string(1000 - a - b) + "/1000]";
    };
    const std::string p = row();
    return "pair(p=" + p + ", q=" + row() + ")";
  }
  [[nodiscard]] std::string repeat(double low, double high) {
    const long times = count(low, high);
    return times == 1 ? "" : " | repeat(" + std::to_string(times) + ")";
  }
  [[nodiscard]] std::string poisson(double low, double high) { return " | poisson(rate=" + number(low, high) + ")"; }

  /// Which sampling operators may occur. Those of one plan need the same neighbours.
  enum class Samples { none, poisson, fixed_size };
  /// Any of these.
  [[nodiscard]] Samples samples() { return static_cast<Samples>(count(1, 3.4) - 1); }

  /// One mechanism, or operators and lists around plans of smaller depth; every fourth may reveal everything.
  [[nodiscard]] std::string nested(int depth, Samples samples) {
    std::string plan = depth <= 0 || chance(0.2) ? mechanism() : around(depth - 1, samples);
    if (chance(0.3)) plan += operation(samples);
    return plan;
  }
  /// A group of records, which comes after all samples, of a mechanism that is sampled, mixed or repeated.
  [[nodiscard]] std::string group(Samples samples) {
    const std::string base = chance(0.5) ? revealing_pair() : finite();
    return base + operation(samples) + " | group(" + std::to_string(count(2, 3)) + ")";
  }
  [[nodiscard]] std::string mechanism() {
    switch (count(1, 6)) {  // small numbers are more likely
      case 1:
        return truncated_laplace();
      case 2:
        return "dp(epsilon=" + number(0.1, 2) + ", delta=" + number(1e-3, 0.1) + ")";
      case 3:
        return laplace();
      case 4:
        return gaussian();
      default:
        return chance(0.5) ? revealing_pair() : finite();
    }
  }
  /// Each side has an outcome that the other cannot have.
  [[nodiscard]] std::string revealing_pair() {
    const std::string only_p = chance(0.5) ? "1/100" : "0", only_q = chance(0.5) ? "3/100" : "0";
    const auto row = [&](const std::string& first, const std::string& second) {
      const long a = count(1, 400), left = 1000 - a - (first == "0" ? 0 : 10) - (second == "0" ? 0 : 30);
      return "[" + first + ", " + second + ", " + std::to_string(a) + "/1000, " + std::to_string(left) + "/1000]";
    };
    const std::string p = row(only_p, "0");
    return "pair(p=" + p + ", q=" + row("0", only_q) + ")";
  }

 private:
  [[nodiscard]] std::string operation(Samples samples) {
    if (samples == Samples::poisson && chance(0.5)) return poisson(0.02, 0.9);
    if (samples == Samples::fixed_size && chance(0.5)) {
      if (chance(0.5)) return " | sample(rate=" + number(0.02, 0.9) + ")";
      return " | sample_with_replacement(draws=" + std::to_string(count(1, 3)) + ", of=" + std::to_string(count(2, 20)) + ")";
    }
    switch (count(1, 5)) {
      case 1:
        return " | invert()";
      case 2:
        return " | refine()";
      case 3:
        return " | rectify(epsilon=" + number(0.5, 3) + ", low=0, high=1)";
      default:
        return " | repeat(2)";
    }
  }
  [[nodiscard]] std::string around(int depth, Samples samples) {
    const long shape = count(1, 7);
    const std::string first = nested(depth, samples);  // drawn in turn: operands of + have no defined order
    if (shape == 4) return "(" + first + "; " + mechanism() + ")";
    if (shape > 4) return "(" + first + ")" + operation(samples);
    const std::string second = nested(depth, samples);
    if (shape == 3) return "mixture([(3/10, (" + first + ")), (7/10, (" + second + "))])";
    return (shape == 1 ? "strongest([(" : "weakest([(") + first + "), (" + second + ")])";
  }

  std::mt19937_64 bits_;
};

}  // namespace tradeoff::detail::test
