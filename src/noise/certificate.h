// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "noise/instruction.h"
#include "noise/keys.h"
#include "tradeoff/release.h"

namespace tradeoff::detail {

/// The content of a Certificate: the noise to be drawn, and its guarantee.
struct CertificateContent {
  Plan plan;
  Plan drawn;
  ReleaseTerms terms;
  std::vector<noise::Instruction> instructions;
  std::optional<noise::KeyInstruction> keys;
  std::vector<DrawnMechanism> mechanisms;
  Curve curve;
  std::optional<Interval> mu;
  std::vector<Guarantee> guarantees;
  Provenance provenance;

  [[nodiscard]] static const CertificateContent& of(const Certificate& certificate) { return *certificate.content_; }
  [[nodiscard]] static Certificate make(CertificateContent content) {
    return Certificate(std::make_unique<CertificateContent>(std::move(content)));
  }
};

}  // namespace tradeoff::detail
