// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <sstream>
#include <string>

// Random plans with parameters over wide ranges, the same on every machine for a seed.
namespace tradeoff::test {

class PlanSource {
 public:
  explicit PlanSource(std::uint64_t seed) : bits_(seed) {}

  [[nodiscard]] double uniform(double low, double high) { return low + (high - low) * static_cast<double>(bits_() >> 11) * 0x1p-53; }
  /// Uniform in the logarithm.
  [[nodiscard]] double scale(double low, double high) { return std::exp(uniform(std::log(low), std::log(high))); }
  [[nodiscard]] long count(double low, double high) { return std::lround(scale(low, high)); }
  [[nodiscard]] bool chance(double probability) { return uniform(0, 1) < probability; }
  /// Four digits: what is written is what is meant.
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

 private:
  std::mt19937_64 bits_;
};

}  // namespace tradeoff::test
