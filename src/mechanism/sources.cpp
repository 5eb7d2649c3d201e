// SPDX-License-Identifier: Apache-2.0
#include "mechanism/sources.h"

#include <array>

#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "mechanism/truncated_laplace.h"
#include "numeric/arithmetic.h"

namespace tradeoff {
namespace {

// Noise of a mechanism relative to its sensitivity; a sensitivity of 0 is perfect privacy.
LossPointer gaussian(const Arguments& arguments) {
  return gaussian_loss(arguments.non_negative("sensitivity") / arguments.positive("sigma"));
}

LossPointer laplace(const Arguments& arguments) {
  return std::make_shared<LaplaceLoss>(arguments.non_negative("sensitivity") / arguments.positive("scale"));
}

LossPointer truncated_laplace(const Arguments& arguments) {
  const Interval scale = arguments.positive("scale");
  return std::make_shared<TruncatedLaplaceLoss>(arguments.non_negative("sensitivity") / scale, arguments.positive("bound") / scale);
}

LossPointer gdp(const Arguments& arguments) { return gaussian_loss(arguments.non_negative("mu")); }

struct Entry {
  std::string_view name;
  SourceFactory make;
};

// Adding a mechanism: its file in this folder, its word in vocabulary.cpp, its line here, its test.
constexpr std::array sources{
    Entry{"gaussian", gaussian},
    Entry{"laplace", laplace},
    Entry{"truncated_laplace", truncated_laplace},
    Entry{"gdp", gdp},
};

}  // namespace

SourceFactory find_source(std::string_view name) {
  for (const Entry& entry : sources)
    if (entry.name == name) return entry.make;
  return nullptr;
}

}  // namespace tradeoff
