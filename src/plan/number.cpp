// SPDX-License-Identifier: Apache-2.0
#include "plan/number.h"

#include <cmath>

#include "numeric/floating_point_guard.h"
#include "tradeoff/error.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

numeric::Decimal detail::read_decimal_at(std::string_view text, std::size_t offset) {
  auto decimal = numeric::read_decimal(text);
  if (decimal) return std::move(*decimal);
  constexpr std::size_t shown = 40;  // an error message is one line
  const std::string written(text.substr(0, shown));
  throw ParseError("'" + written + "' is not a finite decimal number such as 14062, 0.5 or 1e-5", offset);
}

Number detail::make_number(const numeric::Quotient& quotient, std::size_t offset) {
  if (quotient.denominator.is_zero()) throw ParseError("division by zero", offset);
  const Interval value = enclose(quotient);
  if (!std::isfinite(value.lo) || !std::isfinite(value.hi)) throw ParseError("the number is beyond 1.7976931348623157e308", offset);
  return {to_string(quotient), value};
}

Number read_number(std::string_view text) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return read_number(text); });

  const auto slash = text.find('/');
  numeric::Quotient quotient{read_decimal_at(text.substr(0, slash), 0)};
  if (slash != std::string_view::npos) quotient.denominator = read_decimal_at(text.substr(slash + 1), slash + 1);
  return make_number(quotient, 0);
}

Number exact_number(double value) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return exact_number(value); });

  if (!std::isfinite(value)) throw DomainError("exact_number: the value must be finite");
  return {to_string(numeric::exact_decimal(value)), Interval::exactly(value)};
}

}  // namespace tradeoff
