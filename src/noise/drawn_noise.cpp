// SPDX-License-Identifier: Apache-2.0
#include "noise/drawn_noise.h"

#include <string>
#include <utility>

#include "noise/drawn_sources.h"
#include "numeric/arithmetic.h"
#include "plan/vocabulary.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::noise {
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

Argument argument(std::string_view name, double value) { return {std::string(name), {exact_number(value), 0}}; }

}  // namespace

void NoiseRequest::require_one_column() const {
  if (terms_.columns != 1) throw UnsupportedError("release: " + call_.name + " is accounted for single values, not for rows of several");
}

int NoiseRequest::grid(std::string_view scale) const {
  if (terms_.grid_exponent) return checked_grid(*terms_.grid_exponent);
  return checked_grid(std::ilogb(arguments_.positive(scale).hi) - default_fineness);
}

Dyadic NoiseRequest::real_scale(std::string_view scale) const {
  return Dyadic::at_least((arguments_.positive(scale) / step_of(grid(scale))).hi);
}

DrawnNoise NoiseRequest::on_reals(std::string_view scale, std::shared_ptr<const Sampler> sampler, Interval width) const {
  if (arguments_.has("clip"))
    throw UnsupportedError("release: " + call_.name +
                           " with clip describes clipped gradients; state sensitivity, how far one record can move the value");
  const Interval plain = arguments_.non_negative("sensitivity") / step_of(grid(scale));
  const bool exact = terms_.inputs == Inputs::on_grid || terms_.aggregate != Aggregate::none;
  return {std::move(sampler), grid(scale), exact ? plain.hi : (plain + rounding_per_value * width).hi, false};
}

Dyadic NoiseRequest::integer_scale(std::string_view scale) const { return Dyadic::at_least(arguments_.positive(scale).hi); }

DrawnNoise NoiseRequest::on_integers(std::shared_ptr<const Sampler> sampler) const {
  const auto sensitivity = static_cast<double>(arguments_.count("sensitivity", 0, most_times));
  return {std::move(sampler), checked_grid(terms_.grid_exponent.value_or(0)), sensitivity, true};
}

const DrawnSource* find_drawn_source(std::string_view name) {
  for (const DrawnSource* source : drawn_sources)
    if (source->name == name) return source;
  return nullptr;
}

const DrawnSource& drawn_source(std::string_view name) {
  const DrawnSource* found = find_drawn_source(name);
  if (found == nullptr)
    throw UnsupportedError("release: " + std::string(name) +
                           " says what is guaranteed, not which noise to add; nothing can be drawn for it");
  return *found;
}

DrawnNoise make_noise(const Call& source, const ReleaseTerms& terms) { return drawn_source(source.name).make(NoiseRequest(source, terms)); }

Call charged_source(const DrawnNoise& noise) {
  const DrawnLaw law = noise.sampler->drawn_law();
  Call call{std::string(law.source.name), {argument(law.source.scale, law.scale.value())}, 0};
  if (law.choices != 0) {
    call.arguments.push_back(argument("choices", static_cast<double>(law.choices)));
    return call;
  }
  if (law.bound != 0) call.arguments.push_back(argument("bound", law.charged_bound));
  call.arguments.push_back(argument("sensitivity", noise.sensitivity));
  return call;
}

DrawnMechanism describe(const DrawnNoise& noise) {
  const DrawnLaw law = noise.sampler->drawn_law();
  const Dyadic scale = law.scale.numerator == 0 ? Dyadic{} : Dyadic::at_least(law.scale.value());  // in lowest terms
  const Word* word = vocabulary().find(Role::source, law.source.name);
  return {std::string(law.source.law), noise.grid_exponent,     scale.numerator, scale.exponent,
          noise.sensitivity,           std::string(word->norm), law.bound,       law.choices};
}

}  // namespace tradeoff::detail::noise
