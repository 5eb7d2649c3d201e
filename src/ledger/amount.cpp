// SPDX-License-Identifier: Apache-2.0
#include "ledger/amount.h"

#include <cmath>

#include "numeric/number_text.h"

namespace tradeoff::detail::ledger {

std::optional<Units> to_units(const numeric::Decimal& value, int places, Round round) {
  if (value.negative) return value.is_zero() ? std::optional<Units>(0) : std::nullopt;
  const std::int64_t shift = value.exponent + places;
  const auto size = static_cast<std::int64_t>(value.digits.size());
  if (size + shift > 19) return std::nullopt;  // at least 1e19 units
  std::string digits = value.digits;
  bool is_cut = false;
  if (shift >= 0)
    digits.append(static_cast<std::size_t>(shift), '0');
  else {
    const std::int64_t kept = size + shift;
    is_cut = !value.is_zero();  // a canonical decimal ends with a digit that is not 0
    digits = kept > 0 ? digits.substr(0, static_cast<std::size_t>(kept)) : "0";
  }
  std::uint64_t units = 0;
  for (const char digit : digits) units = units * 10 + static_cast<std::uint64_t>(digit - '0');
  if (is_cut && round == Round::up) ++units;
  if (units > static_cast<std::uint64_t>(most_units)) return std::nullopt;
  return static_cast<Units>(units);
}

std::optional<Units> to_units(double value, int places, Round round) {
  if (!(value >= 0 && value < 1e19)) return std::nullopt;
  return to_units(numeric::exact_decimal(value), places, round);
}

std::optional<Units> to_units(const numeric::Rational& value, int places, Round round) {
  numeric::Bits128 scaled = value.numerator;
  for (int i = 0; i < places; ++i)
    if (__builtin_mul_overflow(scaled, numeric::Bits128{10}, &scaled)) return std::nullopt;
  numeric::Bits128 units = scaled / value.denominator;
  if (round == Round::up && scaled % value.denominator != 0) ++units;
  if (units > static_cast<numeric::Bits128>(most_units)) return std::nullopt;
  return static_cast<Units>(units);
}

std::optional<Units> to_units(const Number& value, int places, Round round) {
  const auto quotient = numeric::read_quotient(value.text);
  if (quotient && quotient->denominator == numeric::Decimal{false, "1", 0}) return to_units(quotient->numerator, places, round);
  if (quotient)
    if (const auto exact = numeric::exact_rational(*quotient))
      if (const auto units = to_units(*exact, places, round)) return units;
  return to_units(round == Round::up ? value.value.hi : value.value.lo, places, round);
}

std::string to_decimal(Units units, int places) {
  return numeric::to_string(*numeric::read_decimal(std::to_string(units) + "e-" + std::to_string(places)));
}

}  // namespace tradeoff::detail::ledger
