// SPDX-License-Identifier: Apache-2.0
#include "engine/choose.h"

#include <unordered_map>
#include <utility>

#include "engine/exact.h"
#include "engine/revealing.h"
#include "mechanism/gaussian.h"
#include "numeric/arithmetic.h"
#include "tradeoff/error.h"

namespace tradeoff {
namespace {

/// Parts with the same law become one; a plan of a thousand equal lines costs one.
Parts merge_equal(Parts parts) {
  Parts merged;
  std::unordered_map<std::string, std::size_t> places;
  for (Part& part : parts) {
    if (part.times == 0) continue;
    const std::string key = part.loss->key();
    const auto place = key.empty() ? places.end() : places.find(key);
    if (place != places.end()) {
      merged[place->second].times += part.times;
      continue;
    }
    if (!key.empty()) places.emplace(key, merged.size());
    merged.push_back(std::move(part));
  }
  return merged;
}

/// [gaussian-composition] All plain Gaussians of a plan are one, with mu the root of the sum of squares. None at all: perfect privacy.
Parts merge_gaussians(Parts parts) {
  Interval squares = Interval::exactly(0);
  Parts others;
  Part last_gaussian;
  std::uint64_t gaussians = 0;
  for (Part& part : parts) {
    if (const auto mu = part.loss->gaussian_mu()) {
      squares = squares + Interval::exactly(static_cast<double>(part.times)) * square(*mu);
      gaussians += part.times;
      last_gaussian = part;
    } else {
      others.push_back(std::move(part));
    }
  }
  if (gaussians == 1) others.push_back(last_gaussian);  // its own mu, not the root of its square
  else if (squares.hi > 0 || others.empty()) others.push_back({gaussian_loss(sqrt(squares)), 1});
  return others;
}

}  // namespace

// Cheapest proof first: closed forms, then finite laws point by point, then numerics.
Composition compose(Parts parts, Tolerance tolerance) {
  parts = merge_equal(std::move(parts));
  if (exact_size(parts).fits && !parts.empty()) return {compose_exactly(parts, tolerance), "exact"};
  const Interval revealed = take_revealing(parts);
  parts = merge_gaussians(std::move(parts));
  if (parts.size() == 1 && parts.front().times == 1) return {revealing_loss(parts.front().loss, revealed), "closed form"};
  throw UnsupportedError("this plan needs numerical composition, which is not implemented yet");
}

}  // namespace tradeoff
