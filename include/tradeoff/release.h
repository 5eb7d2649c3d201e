// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tradeoff/error.h"

namespace tradeoff {

/// The operating system gave no randomness. Nothing was released.
class RandomnessError final : public Error {
 public:
  using Error::Error;
  [[nodiscard]] const char* kind() const noexcept override { return "randomness"; }
};

}  // namespace tradeoff
