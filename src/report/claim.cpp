// SPDX-License-Identifier: Apache-2.0
#include "report/claim.h"

#include <algorithm>
#include <cmath>

#include "numeric/arithmetic.h"
#include "numeric/number_text.h"

namespace tradeoff::detail::report {
namespace {

constexpr int least_claim_digits = 4;     // digits of a quoted number, however wide its interval is
constexpr int most_claim_digits = 6;      // more digits help no decision
constexpr int digits_beyond_short = 10;   // of a bound that lies just beyond a decimal of six digits
constexpr int least_interval_digits = 7;  // digits for a comparison
constexpr int most_interval_digits = 12;  // more digits help no reader; JSON has all of them
constexpr int digits_of_a_double = 17;    // enough to print any double exactly
constexpr double tiny = 1e-300;           // below, doubles lose digits

/// The number of significant digits that shows the difference of the ends to `more` digits.
int digits_to_show(Interval value, int more, int least, int most) {
  const double size = std::max(std::abs(value.lo), std::abs(value.hi));
  const double ratio = value.width() / size;
  if (ratio == 0) return most;
  if (!(ratio > 0 && ratio < 1)) return least;
  return std::clamp(more + static_cast<int>(-std::floor(std::log10(ratio))), least, most);
}

/// The decimal that both ends are equal to; empty if they differ or have too many digits.
std::string exact_text(Interval value) {
  if (value.lo != value.hi) return {};
  std::string below = numeric::to_text_below(value.lo, digits_of_a_double);
  return below == numeric::to_text_above(value.hi, digits_of_a_double) ? below : std::string();
}

/// Whether the safe end exceeds a decimal of six digits by next to nothing. Rounding it outward to six digits would add a whole step:
/// 0.990001 for a bound of 0.99000000000001.
bool is_just_beyond(Interval value, SafeEnd safe) {
  constexpr double nothing = 1e-10, narrow = 1e-9;  // fractions of the bound
  const double end = safe == SafeEnd::hi ? value.hi : value.lo;
  if (!std::isfinite(end) || !(value.width() <= narrow * std::abs(end))) return false;
  const auto nearest = numeric::enclose_decimal(safe == SafeEnd::hi ? numeric::to_text_below(end, most_claim_digits)
                                                                    : numeric::to_text_above(end, most_claim_digits));
  return nearest && std::abs(end - nearest->lo) <= nothing * std::abs(end);
}

std::string text_of_exponent(Interval log10, SafeEnd safe) {
  return safe == SafeEnd::lo && log10.lo == -infinity ? "0" : "10^" + safe_end(log10, safe, least_interval_digits);
}

std::string proof_of_exponent(Interval log10) {
  return log10.lo == -infinity ? "between 0 and " + text_of_exponent(log10, SafeEnd::hi) : "exponent " + between(log10);
}

std::string claimed(const Claim& claim) {
  return report::claimed(claim.value, claim.safe, claim.exact.empty() ? claim.bound : claim.exact);
}

}  // namespace

std::string between(Interval value) {
  if (const std::string exact = exact_text(value); !exact.empty()) return "exactly " + exact;
  const int digits = digits_to_show(value, 2, least_interval_digits, most_interval_digits);
  return "between " + numeric::to_text_below(value.lo, digits) + " and " + numeric::to_text_above(value.hi, digits);
}

std::string proof_of(const Claim& claim) {
  if (std::isinf(claim.value.lo) && claim.value.lo > 0)
    return "no finite " + claim.quantity + " holds" + (claim.instead.empty() ? "" : "; " + claim.instead);
  return claim.exact.empty() ? between(claim.value) : "exactly " + claim.exact;
}

std::string safe_end(Interval value, SafeEnd safe, int digits) {
  return safe == SafeEnd::hi ? numeric::to_text_above(value.hi, digits) : numeric::to_text_below(value.lo, digits);
}

std::string claimed(Interval value, SafeEnd safe) {
  const std::string exact = exact_text(value);
  if (!exact.empty()) return exact;
  const int digits = digits_to_show(value, 1, least_claim_digits, most_claim_digits);
  return digits == most_claim_digits ? claimed_briefly(value, safe) : safe_end(value, safe, digits);
}

// A quotient is claimed by its decimal expansion.
std::string claimed(Interval value, SafeEnd safe, const std::string& exact) {
  const bool decimal = !exact.empty() && exact.size() <= digits_of_a_double && exact.find('/') == std::string::npos;
  return decimal ? exact : claimed(value, safe);
}

std::string claimed_briefly(Interval value, SafeEnd safe) {
  return safe_end(value, safe, is_just_beyond(value, safe) ? digits_beyond_short : most_claim_digits);
}

std::string to_text(const Claim& claim, const Style& style) {
  const char* relation = claim.safe == SafeEnd::hi ? " <= " : " >= ";
  const bool by_exponent = claim.log10 && std::isfinite(claim.log10->hi);
  std::string line = std::string(style.indent, ' ') + claim.quantity + relation;
  line += by_exponent ? text_of_exponent(*claim.log10, claim.safe) : claimed(claim);
  if (!claim.condition.empty()) line += " " + claim.condition;
  if (style.quiet) return line + "\n";
  const std::string below = "\n" + std::string(style.indent + 4, ' ');
  line += below + (by_exponent ? proof_of_exponent(*claim.log10) : proof_of(claim));
  if (!style.remark.empty()) line += below + style.remark;
  return line + "\n";
}

std::optional<Interval> log10_if_tiny(Interval value, const std::optional<Interval>& natural_log) {
  if (!(value.hi < tiny && value.lo >= 0)) return std::nullopt;
  const Interval ln10 = log(Interval::exactly(10));
  if (natural_log) return *natural_log / ln10;
  if (value.hi == 0) return Interval{-infinity, -infinity};
  return log(value) / ln10;
}

}  // namespace tradeoff::detail::report
