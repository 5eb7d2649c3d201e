// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "noise/dyadic.h"
#include "noise/words.h"

namespace tradeoff::detail::noise {

struct DrawnSource;  // noise/drawn_noise.h

/// The distribution of a sampler, in steps of the grid. The accountant charges for this, so the sampler itself states it.
struct DrawnLaw {
  const DrawnSource& source;
  Dyadic scale;
  std::uint64_t bound = 0;    ///< of truncated noise
  double charged_bound = 0;   ///< the same for the accountant
  std::uint64_t choices = 0;  ///< of answers that are categories
};

/// Draws exactly from a distribution on the integers, given ideal random words.
class Sampler {
 public:
  virtual ~Sampler() = default;
  virtual void draw(WordStream& words, std::span<std::int64_t> values) const = 0;
  [[nodiscard]] virtual DrawnLaw drawn_law() const = 0;

 protected:
  Sampler() = default;
  Sampler(const Sampler&) = default;
  Sampler& operator=(const Sampler&) = default;
};

}  // namespace tradeoff::detail::noise
