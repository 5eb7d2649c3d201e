// SPDX-License-Identifier: Apache-2.0
#include "numeric/number_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <limits>

#include "numeric/arithmetic.h"
#include "numeric/conversions.h"
#include "numeric/floating_point_guard.h"
#include "numeric/rational.h"

namespace tradeoff::detail::numeric {
namespace {

constexpr double largest_double = std::numeric_limits<double>::max();
constexpr double smallest_double = std::numeric_limits<double>::denorm_min();

/// No double has more significant decimal digits than this (those of 2^-1074 * (2^53 - 1)).
constexpr int most_digits = 767;

[[nodiscard]] bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Removes the longest run of digits from the front.
[[nodiscard]] std::string_view take_digits(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  const auto run = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(run.size());
  return run;
}

[[nodiscard]] bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

/// The exponent part after `e`; saturates beyond `largest_magnitude`, which is refused anyway.
[[nodiscard]] std::optional<std::int64_t> take_exponent(std::string_view& text) {
  const bool negative = take(text, '-');
  if (!negative) (void)take(text, '+');
  const std::string_view run = take_digits(text);
  if (run.empty()) return std::nullopt;
  constexpr std::int64_t saturated = 100'000'000'000'000'000;
  std::int64_t exponent = 0;
  for (const char c : run) exponent = std::min(10 * exponent + (c - '0'), saturated);
  return negative ? -exponent : exponent;
}

/// Brings digits into canonical form; false if the magnitude is out of range.
[[nodiscard]] bool normalize(Decimal& decimal) {
  const auto first = decimal.digits.find_first_not_of('0');
  if (first == std::string::npos) {
    decimal = Decimal{};
    return true;
  }
  const auto last = decimal.digits.find_last_not_of('0');
  decimal.exponent += static_cast<std::int64_t>(decimal.digits.size() - 1 - last);
  decimal.digits.erase(last + 1);
  decimal.digits.erase(0, first);
  return -largest_magnitude <= decimal.magnitude() && decimal.magnitude() <= largest_magnitude;
}

/// Compares absolute values.
[[nodiscard]] std::strong_ordering compare_sizes(const Decimal& a, const Decimal& b) {
  if (a.is_zero() || b.is_zero()) return b.is_zero() <=> a.is_zero();
  if (const auto order = a.magnitude() <=> b.magnitude(); order != 0) return order;
  return a.digits.compare(b.digits) <=> 0;  // no leading or trailing zeros: the order of the texts is that of the fractions 0.digits
}

/// A double near a positive decimal; the caller checks the distance.
[[nodiscard]] double guess(const Decimal& decimal) {
  // Digits beyond `most_digits` can only decide "not equal"; a final 1 in their place decides the same.
  constexpr std::size_t kept = most_digits + 1;
  std::string text = decimal.digits.substr(0, kept);
  std::int64_t exponent = decimal.exponent;
  if (decimal.digits.size() > kept) {
    text += '1';
    exponent += static_cast<std::int64_t>(decimal.digits.size() - kept) - 1;
  }
  text += 'e';
  text += std::to_string(exponent);
  double value = 0;
  const auto result = numeric::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc{}) return decimal.magnitude() > 0 ? largest_double : 0;
  return std::min(value, largest_double);
}

/// An integer of at most 19 digits divided by a power of ten up to 10^22, as a plan writes a double: it is compared in 128 bits.
class Fraction {
 public:
  explicit Fraction(const Decimal& positive) {
    if (positive.digits.size() > 19 || positive.exponent < -22 || positive.exponent > 0) return;
    for (const char c : positive.digits) numerator_ = 10 * numerator_ + static_cast<Bits128>(c - '0');
    for (auto power = positive.exponent; power < 0; ++power) denominator_ *= 10;
  }

  /// The order of the double and the fraction: m 2^-s and n/d are ordered as m d and n 2^s. Empty if one of them needs more bits.
  [[nodiscard]] std::optional<std::strong_ordering> order_of(double value) const {
    if (numerator_ == 0 || !(value > 0)) return std::nullopt;
    int exponent = 0;
    const double mantissa = std::ldexp(std::frexp(value, &exponent), 53);
    const int shift = 53 - exponent;
    if (shift < 0 || shift > 127 || (numerator_ << static_cast<unsigned>(shift)) >> static_cast<unsigned>(shift) != numerator_)
      return std::nullopt;
    return static_cast<Bits128>(mantissa) * denominator_ <=> numerator_ << static_cast<unsigned>(shift);  // 53 and 74 bits
  }

 private:
  Bits128 numerator_ = 0;  // 0 if the decimal is another number
  Bits128 denominator_ = 1;
};

[[nodiscard]] Interval enclose_exactly(const Decimal& positive) {
  if (positive.magnitude() > 309) return {largest_double, infinity};  // at least 1e309
  if (positive.magnitude() < -323) return {0, smallest_double};       // below 1e-324
  const Fraction fraction(positive);
  const auto order_of = [&](double value) {
    const auto quick = fraction.order_of(value);
    return quick ? *quick : compare(exact_decimal(value), positive);
  };
  double below = guess(positive);
  auto order = order_of(below);
  while (order > 0) order = order_of(below = next_down(below));
  while (true) {
    if (order == 0) return Interval::exactly(below);
    const double above = next_up(below);
    order = above == infinity ? std::strong_ordering::greater : order_of(above);
    if (order > 0) return {below, above};
    below = above;
  }
}

/// Up to 15 digits and a power of ten up to 22 are exact doubles, so one correctly directed operation gives the smallest interval.
[[nodiscard]] std::optional<Interval> enclose_short(const Decimal& decimal) {
  static constexpr std::array<double, 23> powers{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (decimal.digits.size() > 15 || decimal.exponent < -22 || decimal.exponent > 22) return std::nullopt;
  std::int64_t integer = 0;
  for (const char c : decimal.digits) integer = 10 * integer + (c - '0');
  const auto mantissa = static_cast<double>(integer);
  if (decimal.exponent == 0) return Interval::exactly(mantissa);
  const double power = powers[static_cast<std::size_t>(decimal.exponent < 0 ? -decimal.exponent : decimal.exponent)];
  if (decimal.exponent > 0) return Interval{multiply_down(mantissa, power), multiply_up(mantissa, power)};
  return Interval{divide_down(mantissa, power), divide_up(mantissa, power)};
}

enum class Side { below, above };

/// Rounds to at most `digits` significant digits, towards the given side.
[[nodiscard]] Decimal round_to(Decimal decimal, int digits, Side side) {
  const auto kept = static_cast<std::size_t>(digits);
  if (decimal.digits.size() <= kept) return decimal;
  const bool away_from_zero = decimal.negative == (side == Side::below);
  decimal.exponent += static_cast<std::int64_t>(decimal.digits.size() - kept);
  decimal.digits.resize(kept);
  if (away_from_zero) {  // the omitted digits are not all zero: the last digit of a canonical decimal never is
    const auto last = decimal.digits.find_last_not_of('9');
    const std::size_t nines_from = last == std::string::npos ? 0 : last + 1;
    std::fill(decimal.digits.begin() + static_cast<std::ptrdiff_t>(nines_from), decimal.digits.end(), '0');
    if (nines_from == 0) {
      decimal.digits.insert(0, 1, '1');
    } else {
      ++decimal.digits[last];
    }
  }
  (void)normalize(decimal);
  return decimal;
}

[[nodiscard]] Decimal shortest_decimal(double value) {
  std::array<char, 32> buffer{};
  const auto result = numeric::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return *read_decimal({buffer.data(), static_cast<std::size_t>(result.ptr - buffer.data())});
}

/// Whether a reader that rounds to nearest gets this double.
[[nodiscard]] bool reads_back(const std::string& text, double value) {
  double read = 0;
  const auto result = numeric::from_chars(text.data(), text.data() + text.size(), read);
  return result.ec == std::errc{} && read == value;
}

[[nodiscard]] std::string to_text(double value, int digits, Side side) {
  if (value != value) value = side == Side::below ? -infinity : infinity;  // NaN gives no bound
  if (value == infinity) return "inf";
  if (value == -infinity) return "-inf";
  const Decimal exact = exact_decimal(value);
  if (digits > 0) return to_string(round_to(exact, digits, side));
  const Decimal shortest = shortest_decimal(value);
  const auto order = compare(shortest, exact);
  if (side == Side::below ? order <= 0 : order >= 0) return to_string(shortest);
  std::string text = to_string(round_to(exact, 17, side));
  // 17 digits rounded to one side can be 0.9 units in the last place off and read as the neighbour; 18 always suffice.
  return reads_back(text, value) ? text : to_string(round_to(exact, 18, side));
}

}  // namespace

std::optional<Decimal> read_decimal(std::string_view text) {
  Decimal decimal;
  decimal.negative = take(text, '-');
  if (!decimal.negative) (void)take(text, '+');
  decimal.digits = take_digits(text);
  if (take(text, '.')) {
    const std::string_view fraction = take_digits(text);
    decimal.digits += fraction;
    decimal.exponent = -static_cast<std::int64_t>(fraction.size());
  }
  if (decimal.digits.empty()) return std::nullopt;
  if (take(text, 'e') || take(text, 'E')) {
    const auto exponent = take_exponent(text);
    if (!exponent) return std::nullopt;
    decimal.exponent += *exponent;
  }
  if (!text.empty() || !normalize(decimal)) return std::nullopt;
  return decimal;
}

std::optional<Quotient> read_quotient(std::string_view text) {
  const auto slash = text.find('/');
  auto numerator = read_decimal(text.substr(0, slash));
  if (!numerator) return std::nullopt;
  if (slash == std::string_view::npos) return Quotient{std::move(*numerator)};
  auto denominator = read_decimal(text.substr(slash + 1));
  if (!denominator || denominator->is_zero()) return std::nullopt;
  return Quotient{std::move(*numerator), std::move(*denominator)};
}

std::string to_string(const Decimal& decimal) {
  std::string text = decimal.negative ? "-" : "";
  const std::string& digits = decimal.digits;
  const std::int64_t magnitude = decimal.magnitude();
  if (decimal.is_integer() && magnitude <= 21) {
    text += digits;
    text.append(static_cast<std::size_t>(decimal.exponent), '0');
  } else if (magnitude > 0 && magnitude <= 21) {
    text += digits;
    text.insert(text.size() - static_cast<std::size_t>(-decimal.exponent), 1, '.');
  } else if (magnitude <= 0 && magnitude > -4) {
    text += "0.";
    text.append(static_cast<std::size_t>(-magnitude), '0');
    text += digits;
  } else {
    text += digits[0];
    if (digits.size() > 1) text.append(".").append(digits, 1);
    text.append("e").append(std::to_string(magnitude - 1));
  }
  return text;
}

std::string to_string(const Quotient& quotient) {
  std::string text = to_string(quotient.numerator);
  if (quotient.denominator != Decimal{false, "1", 0}) text.append("/").append(to_string(quotient.denominator));
  return text;
}

std::strong_ordering compare(const Decimal& a, const Decimal& b) {
  if (a.negative != b.negative) return b.negative <=> a.negative;
  return a.negative ? compare_sizes(b, a) : compare_sizes(a, b);
}

Decimal exact_decimal(double value) {
  std::array<char, most_digits + 16> buffer{};
  const auto result =
      numeric::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific, most_digits - 1);
  return *read_decimal({buffer.data(), static_cast<std::size_t>(result.ptr - buffer.data())});
}

Interval enclose(const Decimal& decimal) {
  if (!arithmetic_is_usual()) return in_usual_arithmetic([&] { return enclose(decimal); });

  auto size = enclose_short(decimal);
  if (!size) {
    Decimal positive = decimal;
    positive.negative = false;
    size = enclose_exactly(positive);
  }
  return decimal.negative ? -*size : *size;
}

Interval enclose(const Quotient& quotient) {
  if (!arithmetic_is_usual()) return in_usual_arithmetic([&] { return enclose(quotient); });

  if (quotient.denominator == Decimal{false, "1", 0}) return enclose(quotient.numerator);
  return enclose(quotient.numerator) / enclose(quotient.denominator);
}

std::optional<Interval> enclose_decimal(std::string_view text) {
  const auto decimal = read_decimal(text);
  if (!decimal) return std::nullopt;
  return enclose(*decimal);
}

std::string to_text_below(double value, int digits) {
  if (!arithmetic_is_usual()) return in_usual_arithmetic([&] { return to_text_below(value, digits); });
  return to_text(value, digits, Side::below);
}
std::string to_text_above(double value, int digits) {
  if (!arithmetic_is_usual()) return in_usual_arithmetic([&] { return to_text_above(value, digits); });
  return to_text(value, digits, Side::above);
}

}  // namespace tradeoff::detail::numeric
