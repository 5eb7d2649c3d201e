// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "noise/instruction.h"

namespace tradeoff {

/// Behind a Certificate: what is drawn, and what it guarantees.
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
