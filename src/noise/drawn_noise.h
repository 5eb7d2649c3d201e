// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string_view>

#include "noise/sampler.h"
#include "plan/arguments.h"
#include "tradeoff/interval.h"
#include "tradeoff/plan.h"
#include "tradeoff/release.h"

namespace tradeoff::detail::noise {

/// Noise as it is drawn: an exact distribution on the multiples of 2^grid_exponent, and the sensitivity of the value it is added to.
struct DrawnNoise {
  std::shared_ptr<const Sampler> sampler;
  int grid_exponent = 0;
  double sensitivity = 0;  ///< in steps, including the rounding of the inputs
  bool integers = false;   ///< the noise is on the grid, so the values must be too
};

/// The call of a source and the terms of the release, read in steps of the grid. [grid-release]
class NoiseRequest {
 public:
  NoiseRequest(const Call& call, const ReleaseTerms& terms) : call_(call), arguments_(call), terms_(terms) {}

  [[nodiscard]] const Arguments& arguments() const { return arguments_; }
  [[nodiscard]] const ReleaseTerms& terms() const { return terms_; }
  /// Throws UnsupportedError for rows of several values.
  void require_one_column() const;

  // Of noise on the real numbers: scale and sensitivity are in the units of the data. `scale` names the argument.
  [[nodiscard]] int grid(std::string_view scale) const;
  [[nodiscard]] Dyadic real_scale(std::string_view scale) const;
  /// The sensitivity includes the rounding of a row; `width` is the norm of (1, ..., 1).
  [[nodiscard]] DrawnNoise on_reals(std::string_view scale, std::shared_ptr<const Sampler> sampler, Interval width) const;

  // Of noise on the integers: both are already in steps.
  [[nodiscard]] Dyadic integer_scale(std::string_view scale) const;
  [[nodiscard]] DrawnNoise on_integers(std::shared_ptr<const Sampler> sampler) const;

 private:
  const Call& call_;
  Arguments arguments_;
  const ReleaseTerms& terms_;
};

/// A source of the plan language that can be drawn. Each is defined at the end of the file that holds its sampler;
/// noise/drawn_sources.h lists them.
struct DrawnSource {
  std::string_view name;   ///< of the source
  std::string_view scale;  ///< its argument that sets the noise
  std::string_view law;    ///< the distribution that is drawn, as text
  /// Throws UnsupportedError and DomainError.
  DrawnNoise (*make)(const NoiseRequest& request);
  bool is_category = false;  ///< what is drawn is one of several choices: it can be neither clipped nor added to a sum
};

/// The source of this name, or null if it cannot be drawn.
[[nodiscard]] const DrawnSource* find_drawn_source(std::string_view name);

/// The same, if it must be drawn. Throws UnsupportedError.
[[nodiscard]] const DrawnSource& drawn_source(std::string_view name);

/// The noise that a source of the plan states. Throws UnsupportedError and DomainError. [grid-release]
[[nodiscard]] DrawnNoise make_noise(const Call& source, const ReleaseTerms& terms);

/// The source that the accountant charges for this noise, in steps. Distribution and scale are read from the sampler itself.
[[nodiscard]] Call charged_source(const DrawnNoise& noise);

/// The same as text: distribution, grid, exact scale.
[[nodiscard]] DrawnMechanism describe(const DrawnNoise& noise);

/// The largest number of runs, and the largest whole number in a plan.
inline constexpr std::uint64_t most_times = 1'000'000'000'000;

[[nodiscard]] inline Interval step_of(int grid_exponent) { return Interval::exactly(std::ldexp(1.0, grid_exponent)); }

}  // namespace tradeoff::detail::noise
