// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "noise/carry_out.h"
#include "noise/coin.h"
#include "noise/discrete_gaussian.h"
#include "noise/grid_noise.h"
#include "noise/replay.h"
#include "noise/truncated.h"
#include "numeric/number_text.h"

namespace tradeoff::detail::test {

/// One elementary draw: the requested distribution, with its parameters in steps, and the result.
struct RecordedDraw {
  std::string law;      ///< a word of the plan language
  std::string scale;    ///< all digits
  std::string further;  ///< ", bound=..." or ", choices=..."
  std::vector<std::int64_t> noise;
};

struct RecordedChoice {
  noise::Sampling sampling;
  std::uint64_t population = 0;
  std::vector<std::uint64_t> chosen;
};

/// Draws like a release and records each draw.
class Recorder final : public noise::NoiseSource {
 public:
  explicit Recorder(std::uint64_t seed) : words_(seed), source_(words_) {}

  void draw(const noise::Sampler& sampler, std::span<std::int64_t> noise) override {
    source_.draw(sampler, noise);
    RecordedDraw draw = name(sampler);
    draw.noise.assign(noise.begin(), noise.end());
    draws.push_back(std::move(draw));
  }
  std::vector<std::uint64_t> choose(const noise::Sampling& sampling, std::uint64_t population) override {
    choices.push_back({sampling, population, source_.choose(sampling, population)});
    return choices.back().chosen;
  }

  std::vector<RecordedDraw> draws;
  std::vector<RecordedChoice> choices;

 private:
  static std::string text(double value) { return to_string(numeric::exact_decimal(value)); }
  /// The type of the sampler determines what is drawn, not its own description.
  static RecordedDraw name(const noise::Sampler& sampler) {
    if (const auto* law = dynamic_cast<const noise::GridNoise*>(&sampler)) return name(*law);
    if (const auto* law = dynamic_cast<const noise::Truncated*>(&sampler)) return name(*law);
    if (const auto* law = dynamic_cast<const noise::DiscreteGaussian*>(&sampler)) return name(*law);
    return name(dynamic_cast<const noise::Response&>(sampler));
  }
  static RecordedDraw name(const noise::GridNoise& law) {
    static constexpr const char* words[] = {"gaussian(sigma=", "laplace(scale=", "discrete_laplace(scale="};
    return {words[static_cast<int>(law.law())], text(law.scale().value()), "", {}};
  }
  static RecordedDraw name(const noise::Truncated& law) {
    const bool discrete = law.whole().law() == noise::Law::discrete_laplace;
    const double bound = static_cast<double>(law.bound()) + (discrete ? 0 : 0.5);
    return {discrete ? "truncated_discrete_laplace(scale=" : "truncated_laplace(scale=",
            text(law.whole().scale().value()),
            ", bound=" + text(bound),
            {}};
  }
  static RecordedDraw name(const noise::DiscreteGaussian& law) { return {"discrete_gaussian(sigma=", text(law.sigma().value()), "", {}}; }
  static RecordedDraw name(const noise::Response& law) {
    return {"randomized_response(epsilon=", text(law.epsilon().value()), ", choices=" + std::to_string(law.choices()), {}};
  }

  ReplayForTests words_;
  noise::WordSource source_;
};

}  // namespace tradeoff::detail::test
