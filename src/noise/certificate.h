// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "noise/instruction.h"

namespace tradeoff {

/// The content of a Certificate: the noise to be drawn, and its guarantee.
struct Certificate::Content {
  Plan plan;
  Plan drawn;
  ReleaseTerms terms;
  std::vector<noise::Instruction> instructions;
  std::vector<DrawnMechanism> mechanisms;
  Curve curve;
  std::optional<Interval> mu;
  std::vector<Point> guarantee;
  Provenance provenance;
};

}  // namespace tradeoff
