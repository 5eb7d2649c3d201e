// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "tradeoff/curve.h"

namespace tradeoff::detail::cli {

/// Measures the time of an answer and appends it to the method: "add-remove neighbours; closed form, 0.6 ms".
class Stopwatch {
 public:
  [[nodiscard]] std::string remark(Neighbours neighbours, const std::string& method) const;

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace tradeoff::detail::cli
