// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "loss/loss.h"

namespace tradeoff::detail {

/// One enclosure of log delta at one epsilon by one theorem, with all its terms. It is independent: it does not use the bounds of other
/// methods, nor that a probability is at most 1.
struct Evaluation {
  std::string theorem;
  Direction direction = Direction::remove;  ///< remove or add
  double epsilon = 0;
  Interval log_delta{};
  std::vector<std::pair<std::string, std::uint64_t>> counts{};  ///< how many nodes, points or atoms were summed
  std::vector<std::pair<std::string, double>> settings{};       ///< parameters of the sum: order of the line, step, tilt
  /// Bounds of the errors, relative to the lower end of delta. Together they are at most exp(width of log_delta) - 1.
  std::vector<std::pair<std::string, double>> errors{};
};

/// An engine that can describe its computation.
class Evaluable {
 public:
  Evaluable() = default;
  Evaluable(const Evaluable&) = delete;
  Evaluable& operator=(const Evaluable&) = delete;
  virtual ~Evaluable() = default;
  /// Adds a description of how delta(epsilon) is enclosed and records its theorems. An epsilon below 0 may be answered by the other
  /// direction at -epsilon. [two-directions]
  virtual void evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const = 0;
};

/// For any loss: the engine's own description, or else the enclosure as a whole.
[[nodiscard]] std::vector<Evaluation> evaluations_of(const Loss& loss, Direction direction, double epsilon);

/// The enclosure of a loss as a whole, under the last theorem that its evaluation records, without separate error terms.
[[nodiscard]] Evaluation whole_evaluation(const Loss& loss, Direction direction, double epsilon);

/// Makes the errors add up to the stated width. The part of the width that they do not cover is added under this name (if it is not empty);
/// if they exceed the width, the stated enclosure is widened.
[[nodiscard]] Evaluation balanced(Evaluation evaluation, const std::string& remainder);

}  // namespace tradeoff::detail
