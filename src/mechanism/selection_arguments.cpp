// SPDX-License-Identifier: Apache-2.0
#include "mechanism/selection_arguments.h"

#include "numeric/arithmetic.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

bool is_monotone(const Arguments& arguments) { return arguments.has("monotone") && arguments.choice("monotone") == "true"; }

}  // namespace

// [bounded-range-profile]
Interval shift_of_utilities(const Arguments& arguments, const WordContext& context) {
  const Interval sensitivity = arguments.number("sensitivity");
  if (!is_monotone(arguments)) return 2.0 * sensitivity;
  if (context.neighbours() == Neighbours::replace_one)
    arguments.refuse("monotone", "true",
                     "false for replace-one neighbours: a replaced record may raise one utility and lower another. State add-remove if "
                     "records are only added or removed");
  return sensitivity;
}

std::optional<numeric::Rational> exact_shift_of_utilities(const Arguments& arguments) {
  return product(arguments.exact("sensitivity"), is_monotone(arguments) ? 1 : 2);
}

std::optional<numeric::Rational> product_of(const std::optional<numeric::Rational>& a, const std::optional<numeric::Rational>& b) {
  if (b && b->numerator == 0) return a ? b : a;  // no quotient has a divisor of 0
  return ratio(a, ratio(numeric::Rational{1, 1}, b));
}

}  // namespace tradeoff::detail
