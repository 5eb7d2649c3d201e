// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tradeoff::numeric {

/// About where a function with one valley is least between low and high, to `precision`. A search, not a proof: whoever uses the place
/// certifies what it is used for.
template <class Function>
double golden_section(Function&& function, double low, double high, double precision) {
  constexpr double golden = 0.6180339887498949;
  double left = high - golden * (high - low), right = low + golden * (high - low);
  double left_value = function(left), right_value = function(right);
  while (high - low > precision && left < right) {  // the second: doubles go no closer
    if (left_value < right_value) {
      high = right;
      right = left;
      right_value = left_value;
      left = high - golden * (high - low);
      left_value = function(left);
    } else {
      low = left;
      left = right;
      left_value = right_value;
      right = low + golden * (high - low);
      right_value = function(right);
    }
  }
  return left_value < right_value ? left : right;
}

}  // namespace tradeoff::numeric
