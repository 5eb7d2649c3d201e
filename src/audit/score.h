// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

// Functions of an output that tell the two streams apart. They are learned on earlier outputs and need no proof: an event that is a bad
// choice costs power, never validity. [betting-audit]
namespace tradeoff::detail::audit {

/// Rows of equal length, one after another.
struct Rows {
  std::size_t columns = 1;
  std::span<const double> values;

  [[nodiscard]] std::size_t size() const { return values.size() / columns; }
  [[nodiscard]] std::span<const double> row(std::size_t i) const { return values.subspan(i * columns, columns); }
  [[nodiscard]] Rows from(std::size_t first) const { return {columns, values.subspan(first * columns)}; }
  [[nodiscard]] Rows until(std::size_t end) const { return {columns, values.first(end * columns)}; }
};

/// Logarithms of likelihood ratios in bins of one number; a value that occurs often has a bin of its own.
struct Histogram {
  std::vector<double> ends;      ///< bin i holds the numbers above ends[i - 1] and up to ends[i]; the last bin has no end
  std::vector<double> log_odds;  ///< one more than the ends
  std::vector<bool> is_empty;    ///< no output was in the bin when it was learned

  [[nodiscard]] double at(double x) const;
};

class Score {
 public:
  /// The number itself, or the linear function of a vector that separates the two means best.
  [[nodiscard]] static Score linear(Rows with, Rows without);
  /// The sum over the coordinates of the log-odds of their bins.
  [[nodiscard]] static Score binned(Rows with, Rows without);
  /// The function of second degree, in coordinates of standard size, that separates the two means best: what only shows in how coordinates
  /// go together.
  [[nodiscard]] static Score quadratic(Rows with, Rows without);
  /// The log-odds of the place of the lowest bit that is set in any coordinate: what floating-point noise reveals.
  [[nodiscard]] static Score low_bits(Rows with, Rows without);

  [[nodiscard]] double at(std::span<const double> row) const;
  /// The event that the score is at least (or at most) this threshold, in words.
  [[nodiscard]] std::string describe(double threshold, bool above) const;
  /// Whether the score itself was learned, so that its rates on the same outputs are biased.
  [[nodiscard]] bool is_learned() const { return kind_ != Kind::identity; }

 private:
  enum class Kind { identity, linear, quadratic, binned, low_bits };
  explicit Score(Kind kind) : kind_(kind) {}

  Kind kind_;
  std::vector<double> weights_ = {};
  std::vector<double> centres_ = {}, sizes_ = {};  ///< of the coordinates of a quadratic score
  std::vector<Histogram> histograms_ = {};
};

}  // namespace tradeoff::detail::audit
