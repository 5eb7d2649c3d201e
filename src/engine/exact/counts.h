// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/exact/law.h"
#include "tradeoff/interval.h"

// [count-sums]
namespace tradeoff::detail::exact {

/// Runs of one finite loss in one direction. Every exact loss is within `radius` of the number given here.
struct CountedPart {
  std::vector<double> losses;
  std::vector<Interval> masses;  ///< under P
  Interval infinite;             ///< P(L = +infinity); all masses add up to 1
  std::uint64_t times = 1;
  double radius = 0;
};
using CountedParts = std::vector<CountedPart>;

/// The same under the weight e^(order L): the rarest loss first, and the odds of each loss against all later ones.
struct TiltedPart {
  std::vector<double> losses;
  std::vector<double> odds;   ///< of all but the last
  std::vector<double> error;  ///< of their logarithms
  std::uint64_t times = 1;
};

/// A list of counts: the sum of their losses and their probability.
struct Counted {
  Wide loss;
  double mass;
};

/// What is left out. Every choice is valid; the defaults give more than twelve digits.
struct CountAccuracy {
  double share = 1e-21;  ///< counts whose probability is below this share of the largest of their row
  double mass = 1e-22;   ///< lists of counts that are less probable
};

/// log E_P(e^(order L); L finite) of all runs, without error bounds, and its slope and curvature in the order.
struct LogMoment {
  double value = 0, mean = 0, variance = 0;
};
[[nodiscard]] LogMoment log_moment(const CountedParts& parts, double order);

/// About how many numbers are stored and summed without a tilt.
[[nodiscard]] double counts_size(const CountedParts& parts);

/// Lists of counts of all runs without a tilt: their losses and their probabilities among the finite losses.
struct CountList {
  std::vector<Counted> points;
  double spread = 0;   ///< the exact masses are within these factors e^(+-spread)
  double omitted = 0;  ///< the probability of what is not listed
};
/// Empty if there would be more than `most`, or if a mass is not known well enough. [averaged-counts]
[[nodiscard]] std::optional<CountList> list_counts(const CountedParts& parts, const CountAccuracy& accuracy, std::size_t most);

/// About how many counts of all runs are probable.
[[nodiscard]] double counts_listed(const CountedParts& parts);

/// The losses of all runs under the weight e^(order L), normalised: how often each value occurs is counted, and the counts that matter are
/// listed, but for those of the two likeliest values of one part. Their binomial probabilities are rows, summed from the top.
class Counts {
 public:
  /// Null if there would be too many counts, or a mass is not known well enough.
  [[nodiscard]] static std::shared_ptr<const Counts> make(const CountedParts& parts, double order, const CountAccuracy& accuracy);

  /// Sums over the losses L > epsilon that are listed, x = L - epsilon, weighed by their tilted probabilities.
  struct Sums {
    double profile = 0;   ///< of e^(-order x) (1 - e^-x)
    double detected = 0;  ///< of e^(-order x)
    double accused = 0;   ///< of e^(-(order + 1) x)
  };
  [[nodiscard]] Sums at(double epsilon) const;

  [[nodiscard]] double order() const { return order_; }
  /// E(e^(order (L - epsilon)); L finite): the factor of the sums.
  [[nodiscard]] Interval log_scale(double epsilon) const;
  /// The sums are within these factors e^(+-spread) of the exact ones of the counts that are listed.
  [[nodiscard]] double spread() const { return spread_; }
  /// The tilted probability of the counts that are not listed.
  [[nodiscard]] double omitted() const { return omitted_; }
  /// The number of lists of counts that are summed.
  [[nodiscard]] std::size_t terms() const { return rows_.size() * points_.size(); }

 private:
  /// Sums over the counts of the likelier of two values, given all other counts of its part, from each count on.
  struct Row {
    Wide lowest;  // loss at the first count
    double mass;
    std::size_t begin, size;  // in sums_
  };
  struct RowSum {
    double profile, accused;
  };
  Counts() = default;
  void add_row(const TiltedPart& part, const Counted& others, std::uint64_t left);

  double order_ = 0;
  CountAccuracy accuracy_;
  Interval log_moment_{};
  Wide step_ = 0;  // between the losses of a row
  std::vector<Row> rows_;
  std::vector<RowSum> sums_;
  std::vector<Counted> points_;  // of all other parts
  double spread_ = 0;
  double omitted_ = 0;
};

}  // namespace tradeoff::detail::exact
