// SPDX-License-Identifier: Apache-2.0
#include "noise/drawn_noise.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "numeric/arithmetic.h"
#include "plan/arguments.h"
#include "plan/vocabulary.h"
#include "tradeoff/error.h"

namespace tradeoff::noise {
namespace {

constexpr int default_fineness = 20;  // a step of 2^-20 of the noise scale: finer than any use needs, and one random word per draw suffices

int checked_grid(int exponent) {
  if (exponent < -200 || exponent > 200)
    throw DomainError("release: grid = 2^" + std::to_string(exponent) + " is not allowed; it must be between 2^-200 and 2^200");
  return exponent;
}

/// The largest change of the difference of two rows by rounding, per coordinate: half a step each, and an eighth each for reading a decimal
/// as a double, because 2^-53 of at most 2^50 steps is an eighth. [grid-release]
constexpr double rounding_per_value = 1.25;

/// Turns a source of the plan into the noise to be drawn. For real noise, scale and sensitivity are in the units of the data.
/// [grid-release]
class Maker {
 public:
  Maker(const Call& call, const ReleaseTerms& terms) : call_(call), arguments_(call), terms_(terms) {}

  [[nodiscard]] DrawnNoise gaussian() const {
    const Interval width = sqrt(Interval::exactly(static_cast<double>(terms_.columns)));
    return real("sigma", GridNoise(Law::rounded_gaussian, real_scale("sigma")), width);
  }
  [[nodiscard]] DrawnNoise laplace() const {
    const Interval width = Interval::exactly(static_cast<double>(terms_.columns));
    return real("scale", GridNoise(Law::rounded_laplace, real_scale("scale")), width);
  }
  [[nodiscard]] DrawnNoise truncated_laplace() const {
    one_column();
    const double steps = std::ceil((arguments_.positive("bound") / step_of(grid("scale"))).hi);
    if (!(steps < 0x1p50)) arguments_.refuse("bound", arguments_.written("bound").text, "below 2^50 steps of the grid");
    const GridNoise whole(Law::rounded_laplace, real_scale("scale"));
    return real("scale", Truncated(whole, static_cast<std::uint64_t>(steps)), Interval::exactly(1));
  }
  [[nodiscard]] DrawnNoise discrete_laplace() const { return integer(GridNoise(Law::discrete_laplace, integer_scale("scale"))); }
  [[nodiscard]] DrawnNoise truncated_discrete_laplace() const {
    one_column();
    const std::uint64_t bound = arguments_.count("bound", 1, most_times);
    return integer(Truncated(GridNoise(Law::discrete_laplace, integer_scale("scale")), bound));
  }
  [[nodiscard]] DrawnNoise discrete_gaussian() const { return integer(DiscreteGaussian(integer_scale("sigma"))); }
  [[nodiscard]] DrawnNoise randomized_response() const {
    one_column();
    const Interval epsilon = arguments_.non_negative("epsilon");
    if (!(epsilon.hi <= Coin::largest_epsilon)) arguments_.refuse("epsilon", arguments_.written("epsilon").text, "at most 512");
    const std::uint64_t choices = arguments_.count("choices", 2, most_times);
    if (terms_.grid_exponent.value_or(0) != 0) throw DomainError("release: randomised response has no grid; its answers are 0, 1, 2, ...");
    return {Response(epsilon.lo > 0 ? Dyadic::at_most(epsilon.lo) : Dyadic{}, choices), 0, 1, true};
  }

 private:
  [[nodiscard]] int grid(std::string_view name) const {
    if (terms_.grid_exponent) return checked_grid(*terms_.grid_exponent);
    return checked_grid(std::ilogb(arguments_.positive(name).hi) - default_fineness);
  }
  [[nodiscard]] Dyadic real_scale(std::string_view name) const {
    return Dyadic::at_least((arguments_.positive(name) / step_of(grid(name))).hi);
  }
  [[nodiscard]] Dyadic integer_scale(std::string_view name) const { return Dyadic::at_least(arguments_.positive(name).hi); }
  void one_column() const {
    if (terms_.columns != 1) throw UnsupportedError("release: " + call_.name + " is accounted for single values, not for rows of several");
  }
  /// The sensitivity in steps, including the rounding of a row, where the given number is the norm of (1, ..., 1).
  [[nodiscard]] DrawnNoise real(std::string_view scale_name, const Sampler& sampler, Interval width) const {
    const Interval plain = arguments_.non_negative("sensitivity") / step_of(grid(scale_name));
    const bool exact = terms_.inputs == Inputs::on_grid || terms_.aggregate != Aggregate::none;
    return {sampler, grid(scale_name), exact ? plain.hi : (plain + rounding_per_value * width).hi, false};
  }
  /// Scale and sensitivity are already in steps.
  [[nodiscard]] DrawnNoise integer(const Sampler& sampler) const {
    const auto sensitivity = static_cast<double>(arguments_.count("sensitivity", 0, most_times));
    return {sampler, checked_grid(terms_.grid_exponent.value_or(0)), sensitivity, true};
  }

  const Call& call_;
  Arguments arguments_;
  const ReleaseTerms& terms_;
};

/// The names of a distribution in the plan language and in text, and the name of its scale.
struct Words {
  const char* source;
  const char* scale;
  const char* law;
};

Words words_of(Law law) {
  switch (law) {
    case Law::rounded_gaussian:
      return {"gaussian", "sigma", "rounded gaussian"};
    case Law::rounded_laplace:
      return {"laplace", "scale", "rounded laplace"};
    case Law::discrete_laplace:
      break;
  }
  return {"discrete_laplace", "scale", "discrete laplace"};
}

Argument argument(std::string name, double value) { return {std::move(name), {exact_number(value), 0}}; }

/// Reads the distribution, the scale and the bound of a sampler.
struct Reading {
  Words words;
  Dyadic scale;
  std::uint64_t bound = 0;
  double charged_bound = 0;
  std::uint64_t choices = 0;
};

Reading read(const GridNoise& noise) { return {words_of(noise.law()), noise.scale()}; }
Reading read(const Truncated& noise) {
  // The continuous distribution, truncated half a step beyond the last point, and rounded. [grid-release]
  const bool rounded = noise.whole().law() == Law::rounded_laplace;
  const Words words = rounded ? Words{"truncated_laplace", "scale", "rounded truncated laplace"}
                              : Words{"truncated_discrete_laplace", "scale", "truncated discrete laplace"};
  return {words, noise.whole().scale(), noise.bound(), static_cast<double>(noise.bound()) + (rounded ? 0.5 : 0)};
}
Reading read(const DiscreteGaussian& noise) { return {{"discrete_gaussian", "sigma", "discrete gaussian"}, noise.sigma()}; }
Reading read(const Response& noise) {
  return {{"randomized_response", "epsilon", "randomised response"}, noise.epsilon(), 0, 0, noise.choices()};
}

Reading reading_of(const DrawnNoise& noise) {
  return std::visit([](const auto& sampler) { return read(sampler); }, noise.sampler);
}

}  // namespace

DrawnNoise make_noise(const Call& source, const ReleaseTerms& terms) {
  using Make = DrawnNoise (Maker::*)() const;
  struct Entry {
    std::string_view name;
    Make make;
  };
  static constexpr std::array entries{
      Entry{"gaussian", &Maker::gaussian},
      Entry{"laplace", &Maker::laplace},
      Entry{"truncated_laplace", &Maker::truncated_laplace},
      Entry{"discrete_laplace", &Maker::discrete_laplace},
      Entry{"truncated_discrete_laplace", &Maker::truncated_discrete_laplace},
      Entry{"discrete_gaussian", &Maker::discrete_gaussian},
      Entry{"randomized_response", &Maker::randomized_response},
  };
  const Maker maker(source, terms);
  for (const Entry& entry : entries)
    if (entry.name == source.name) return (maker.*entry.make)();
  throw UnsupportedError("release: " + source.name + " says what is guaranteed, not which noise to add; nothing can be drawn for it");
}

Call charged_source(const DrawnNoise& noise) {
  const Reading reading = reading_of(noise);
  Call call{reading.words.source, {argument(reading.words.scale, reading.scale.value())}, 0};
  if (reading.choices != 0) {
    call.arguments.push_back(argument("choices", static_cast<double>(reading.choices)));
    return call;
  }
  if (reading.bound != 0) call.arguments.push_back(argument("bound", reading.charged_bound));
  call.arguments.push_back(argument("sensitivity", noise.sensitivity));
  return call;
}

DrawnMechanism describe(const DrawnNoise& noise) {
  const Reading reading = reading_of(noise);
  const Dyadic scale = reading.scale.numerator == 0 ? Dyadic{} : Dyadic::at_least(reading.scale.value());  // in lowest terms
  const Word* word = vocabulary().find(Role::source, reading.words.source);
  return {reading.words.law, noise.grid_exponent,     scale.numerator, scale.exponent,
          noise.sensitivity, std::string(word->norm), reading.bound,   reading.choices};
}

}  // namespace tradeoff::noise
