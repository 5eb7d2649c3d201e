// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "loss/loss.h"

namespace tradeoff {

/// One enclosure of log delta at one epsilon, as one theorem found it, with everything it is made of. It stands for itself: what other
/// paths know, and that no probability exceeds 1, is not used.
struct Evaluation {
  std::string theorem;
  Direction direction = Direction::remove;  ///< remove or add
  double epsilon = 0;
  Interval log_delta{};
  std::vector<std::pair<std::string, std::uint64_t>> counts{};  ///< nodes, points, atoms: what was summed
  std::vector<std::pair<std::string, double>> settings{};       ///< order of the line, step, tilt: where it was summed
  /// Bounds of the errors, relative to the lower end of delta. Together they are at most exp(width of log_delta) - 1.
  std::vector<std::pair<std::string, double>> errors{};
};

/// What an engine offers besides answers.
class Evaluable {
 public:
  Evaluable() = default;
  Evaluable(const Evaluable&) = delete;
  Evaluable& operator=(const Evaluable&) = delete;
  virtual ~Evaluable() = default;
  /// Adds how delta(epsilon) is enclosed, and records the theorems of what it adds. An epsilon below 0 may be answered by the other
  /// direction at -epsilon. [two-directions]
  virtual void evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const = 0;
};

/// Of any loss: the engine's own account, or its enclosure as a whole.
[[nodiscard]] std::vector<Evaluation> evaluations_of(const Loss& loss, Direction direction, double epsilon);

/// The enclosure of a loss as a whole, under the last theorem that its reading records, no error told apart yet.
[[nodiscard]] Evaluation whole_evaluation(const Loss& loss, Direction direction, double epsilon);

/// Makes the promise about the sum of the errors true: what they leave of the width is added under this name (if it is not empty), and
/// where they overlap the enclosure is stated as wide as they say.
[[nodiscard]] Evaluation balanced(Evaluation evaluation, const std::string& remainder);

}  // namespace tradeoff
