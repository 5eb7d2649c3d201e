// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "numeric/arithmetic.h"

namespace tradeoff::detail::numeric {

/// Neumaier's compensated sum of doubles, with a bound of its error: one unit in the last place of the sum plus a second-order part of the
/// sum of magnitudes, even for millions of terms. [compensated-sum]
class CompensatedSum {
 public:
  void add(double term) {
    const double sum = sum_ + term;
    correction_ += two_sum_error(sum_, term, sum);
    sum_ = sum;
    magnitude_ += std::abs(term);
    count_ += 1;
  }

  /// Encloses the exact sum of the terms.
  [[nodiscard]] Interval enclosure() const {
    const double bound = error();
    if (!(bound < infinity)) return Interval::whole();  // an intermediate sum overflowed
    return Interval::exactly(sum_) + Interval::exactly(correction_) + Interval{-bound, bound};
  }
  /// Encloses the exact sum if each term t has a relative error of at most `relative_error`.
  [[nodiscard]] Interval enclosure(double relative_error) const {
    const double bound = multiply_up(add_up(magnitude_, error()), relative_error);
    return enclosure() + Interval{-bound, bound};
  }

 private:
  /// The rounding errors of all additions are summed in `correction_`; only the rounding of that second sum is lost. The k-th partial sum
  /// is at most the magnitude, so each of its n terms is at most 2^-53 of it, and n additions lose 2^-53 n times their total.
  [[nodiscard]] double error() const {
    const double unit = count_ * 0x1p-52;
    return unit * (unit * magnitude_);
  }

  double sum_ = 0;
  double correction_ = 0;
  double magnitude_ = 0;
  double count_ = 0;
};

}  // namespace tradeoff::detail::numeric
