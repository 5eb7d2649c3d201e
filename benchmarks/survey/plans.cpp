// SPDX-License-Identifier: Apache-2.0
#include "plans.h"

#include <cmath>
#include <cstdio>
#include <random>

namespace survey {
namespace {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : bits_(seed) {}

  [[nodiscard]] double uniform(double low, double high) { return low + (high - low) * static_cast<double>(bits_() >> 11) * 0x1p-53; }
  [[nodiscard]] double scale(double low, double high) { return std::exp(uniform(std::log(low), std::log(high))); }
  [[nodiscard]] long count(double low, double high) { return std::lround(scale(low, high)); }
  [[nodiscard]] bool chance(double probability) { return uniform(0, 1) < probability; }
  [[nodiscard]] int one_of(int kinds) { return static_cast<int>(uniform(0, kinds)); }

 private:
  std::mt19937_64 bits_;
};

/// Three digits: what is written is what is meant.
std::string text_of(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.3g", value);
  return buffer;
}

struct Source {
  std::string before, parameter, after;  ///< the text around the noise parameter, which is empty if there is none
};

Source draw_source(Draw& draw) {
  switch (draw.one_of(10)) {
    case 0:
    case 1:
    case 2:
      return {"gaussian(sigma=", text_of(draw.scale(0.5, 50)), ")"};
    case 3:
    case 4:
      return {"laplace(scale=", text_of(draw.scale(0.5, 50)), ")"};
    case 5:
      return draw.chance(0.5) ? Source{"discrete_gaussian(sigma=", text_of(draw.scale(0.5, 20)), ")"}
                              : Source{"discrete_laplace(scale=", text_of(draw.scale(0.5, 20)), ")"};
    case 6:
      return {"randomized_response(epsilon=" + text_of(draw.scale(0.05, 3)) + ", choices=" + std::to_string(draw.count(2, 50)) + ")", "",
              ""};
    case 7:
      return {"dp(epsilon=" + text_of(draw.scale(0.01, 1)) + ", delta=" + text_of(draw.scale(1e-12, 1e-7)) + ")", "", ""};
    case 8:
      return {"gdp(mu=" + text_of(draw.scale(0.02, 2)) + ")", "", ""};
    default:
      return {"zcdp(rho=" + text_of(draw.scale(1e-4, 0.5)) + ")", "", ""};
  }
}

DrawnPlan draw_plan(Draw& draw) {
  const int lines = draw.chance(0.6) ? 1 : draw.chance(0.6) ? 2 : 3;
  const std::string sampling = draw.chance(0.75) ? "poisson" : "sample";
  DrawnPlan plan;
  for (int i = 0; i < lines; ++i) {
    const Source source = draw_source(draw);
    std::string rest;
    if (draw.chance(0.4)) rest += " | " + sampling + "(rate=" + text_of(draw.scale(1e-4, 0.5)) + ")";
    if (draw.chance(0.125)) rest += " | group(" + std::to_string(draw.count(2, 5)) + ")";
    if (const long times = draw.count(1, 30000); times > 1) rest += " | repeat(" + std::to_string(times) + ")";
    const std::string between = i == 0 ? "" : "; ";
    plan.text += between + source.before + source.parameter + source.after + rest;
    if (i == 0 && source.parameter.empty()) continue;
    if (i == 0)
      plan.unknown = source.before + "?" + source.after + rest;
    else if (!plan.unknown.empty())
      plan.unknown += between + source.before + source.parameter + source.after + rest;
  }
  return plan;
}

}  // namespace

std::vector<DrawnPlan> draw_plans(std::uint64_t seed, int count) {
  Draw draw(seed);
  std::vector<DrawnPlan> plans;
  for (int i = 0; i < count; ++i) plans.push_back(draw_plan(draw));
  return plans;
}

}  // namespace survey
