// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arb.h>
#include <gmock/gmock.h>
#include <gmp.h>
#include <mpfr.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tradeoff/interval.h"

namespace tradeoff {

/// Failure messages show every bit of an interval.
inline void PrintTo(const Interval& interval, std::ostream* out) {
  const auto before = out->precision(17);
  *out << "[" << interval.lo << ", " << interval.hi << "]";
  out->precision(before);
}

}  // namespace tradeoff

namespace tradeoff::detail::test {

/// A true value to compare an interval with: a number read exactly from a decimal, or a pair of bounds.
class Truth {
 public:
  Truth(double value) : Truth(Interval::exactly(value)) {}  // NOLINT: implicit by design, so that Encloses takes any of them
  Truth(int value) : Truth(static_cast<double>(value)) {}   // NOLINT: a literal 0 would else be a pointer as well
  Truth(Interval bounds) : text_(describe(bounds)) {        // NOLINT
    if (!(bounds.lo <= bounds.hi)) throw std::invalid_argument("not an interval: " + text_);
    set(bounds.lo, below_infinite_, mpq_below_);
    set(bounds.hi, above_infinite_, mpq_above_);
  }
  Truth(const char* decimal) : Truth(std::string(decimal)) {}  // NOLINT
  Truth(const std::string& decimal) : text_(decimal) {         // NOLINT
    mpq_inits(mpq_below_, mpq_above_, nullptr);
    if (decimal == "inf" || decimal == "-inf") {
      below_infinite_ = above_infinite_ = decimal == "inf" ? 1 : -1;
    } else {
      parse(decimal);
      mpq_set(mpq_above_, mpq_below_);
    }
  }
  /// The ball's two bounds, exact: containing a ball of radius far below one unit in the last place is containing its centre.
  Truth(const arb_struct* ball) : text_(describe(ball)) {  // NOLINT
    mpq_inits(mpq_below_, mpq_above_, nullptr);
    mpfr_t below, above;
    mpfr_inits2(4096, below, above, nullptr);
    arb_get_interval_mpfr(below, above, ball);
    set(below, below_infinite_, mpq_below_);
    set(above, above_infinite_, mpq_above_);
    mpfr_clears(below, above, nullptr);
  }
  Truth(const Truth& other) : text_(other.text_), below_infinite_(other.below_infinite_), above_infinite_(other.above_infinite_) {
    mpq_inits(mpq_below_, mpq_above_, nullptr);
    mpq_set(mpq_below_, other.mpq_below_);
    mpq_set(mpq_above_, other.mpq_above_);
  }
  Truth& operator=(const Truth&) = delete;
  ~Truth() { mpq_clears(mpq_below_, mpq_above_, nullptr); }

  /// Some number between the bounds of the true value lies in the interval; for a single number, that one does.
  [[nodiscard]] bool is_in(Interval interval) const {
    return interval.lo <= interval.hi && compare(interval.lo, above_infinite_, mpq_above_) <= 0 &&
           compare(interval.hi, below_infinite_, mpq_below_) >= 0;
  }
  [[nodiscard]] bool is_below(Interval interval) const { return compare(interval.lo, above_infinite_, mpq_above_) > 0; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  static std::string describe(Interval bounds) {
    std::ostringstream out;
    PrintTo(bounds, &out);
    return out.str();
  }
  static std::string describe(const arb_struct* ball) {
    char* digits = arb_get_str(ball, 30, 0);
    std::string text(digits);
    flint_free(digits);
    return text;
  }
  static void set(double value, int& infinite, mpq_t rational) {
    mpq_init(rational);
    infinite = std::isinf(value) ? (value > 0 ? 1 : -1) : 0;
    if (infinite == 0) mpq_set_d(rational, value);
  }
  static void set(mpfr_t value, int& infinite, mpq_t rational) {
    if (mpfr_nan_p(value) != 0) throw std::invalid_argument("the truth is not a number");
    infinite = mpfr_inf_p(value) != 0 ? mpfr_sgn(value) : 0;
    // Exponents beyond any double decide the comparison already, and would make the rational huge.
    if (infinite == 0 && mpfr_zero_p(value) == 0 && mpfr_get_exp(value) > 2000) infinite = mpfr_sgn(value);
    if (infinite == 0 && mpfr_zero_p(value) == 0 && mpfr_get_exp(value) < -4000) mpfr_set_ui_2exp(value, 1, -4000, MPFR_RNDN);
    if (infinite == 0) mpfr_get_q(rational, value);
  }
  static int compare(double value, int infinite, const mpq_t rational) {
    if (std::isinf(value) && infinite == (value > 0 ? 1 : -1)) return 0;
    if (infinite != 0) return -infinite;
    if (std::isinf(value)) return value > 0 ? 1 : -1;
    mpq_t exact;
    mpq_init(exact);
    mpq_set_d(exact, value);
    const int order = mpq_cmp(exact, rational);
    mpq_clear(exact);
    return order;
  }
  void parse(const std::string& decimal) {
    const auto exponent_at = decimal.find_first_of("eE");
    std::string digits = decimal.substr(0, exponent_at);
    // Beyond the range of doubles only the sign matters, and an exact power would fill the memory.
    constexpr double beyond = 5000;
    const double given = exponent_at == std::string::npos ? 0 : std::stod(decimal.substr(exponent_at + 1));
    auto exponent = static_cast<long>(std::fmax(-beyond, std::fmin(given, beyond)));
    if (const auto point = digits.find('.'); point != std::string::npos) {
      exponent -= static_cast<long>(digits.size() - point - 1);
      digits.erase(point, 1);
    }
    if (!digits.empty() && digits.front() == '+') digits.erase(0, 1);
    mpz_t power;
    mpz_init(power);
    mpz_ui_pow_ui(power, 10, static_cast<unsigned long>(std::labs(exponent)));
    if (mpz_set_str(mpq_numref(mpq_below_), digits.c_str(), 10) != 0) throw std::invalid_argument("not a decimal: " + decimal);
    if (exponent >= 0) {
      mpz_mul(mpq_numref(mpq_below_), mpq_numref(mpq_below_), power);
    } else {
      mpz_set(mpq_denref(mpq_below_), power);
    }
    mpq_canonicalize(mpq_below_);
    mpz_clear(power);
  }

  std::string text_;
  int below_infinite_ = 0;
  int above_infinite_ = 0;
  mpq_t mpq_below_;
  mpq_t mpq_above_;
};

class EnclosesMatcher {
 public:
  using is_gtest_matcher = void;
  explicit EnclosesMatcher(Truth truth) : truth_(std::move(truth)) {}

  bool MatchAndExplain(const Interval& interval, std::ostream* why) const {
    if (truth_.is_in(interval)) return true;
    if (why != nullptr) {
      if (!(interval.lo <= interval.hi)) {
        *why << "which is not an interval";
      } else {
        *why << "which lies entirely " << (truth_.is_below(interval) ? "above" : "below") << " the truth";
      }
    }
    return false;
  }
  void DescribeTo(std::ostream* out) const { *out << "encloses " << truth_.text(); }
  void DescribeNegationTo(std::ostream* out) const { *out << "does not enclose " << truth_.text(); }

 private:
  Truth truth_;
};

/// The interval contains the true value: a double, a decimal of any length (compared exactly), an Interval or an Arb ball (then they
/// overlap).
[[nodiscard]] inline ::testing::Matcher<const Interval&> Encloses(Truth truth) {
  return ::testing::Matcher<const Interval&>(EnclosesMatcher(std::move(truth)));
}

class IsTightMatcher {
 public:
  using is_gtest_matcher = void;
  explicit IsTightMatcher(double relative_width) : relative_width_(relative_width) {}

  bool MatchAndExplain(const Interval& interval, std::ostream* why) const {
    if (interval.lo == interval.hi) return true;
    const double magnitude = std::fmax(std::fabs(interval.lo), std::fabs(interval.hi));
    const double width = interval.hi - interval.lo;
    // Near zero no relative width can be reached: a few of the smallest steps are as tight as possible.
    const double allowed = relative_width_ * magnitude + 8 * std::numeric_limits<double>::denorm_min();
    if (std::isfinite(width) && width <= allowed) return true;
    if (why != nullptr) *why << "whose relative width is " << width / magnitude;
    return false;
  }
  void DescribeTo(std::ostream* out) const { *out << "has relative width at most " << relative_width_; }
  void DescribeNegationTo(std::ostream* out) const { *out << "has relative width above " << relative_width_; }

 private:
  double relative_width_;
};

/// hi - lo is at most `relative_width` times the larger magnitude of the two ends.
[[nodiscard]] inline ::testing::Matcher<const Interval&> IsTight(double relative_width) {
  return ::testing::Matcher<const Interval&>(IsTightMatcher(relative_width));
}

[[nodiscard]] inline nlohmann::json read_golden(const std::string& file) {
  std::ifstream in(std::string(TRADEOFF_GOLDEN_DIR) + "/" + file);
  if (!in) throw std::runtime_error("cannot open golden file " + file);
  return nlohmann::json::parse(in);
}

/// The cases of one group: gdp_bridge.json keeps them under the group's name, the other files in one list with a "group" field.
[[nodiscard]] inline nlohmann::json golden_group(const std::string& file, const std::string& group) {
  const nlohmann::json all = read_golden(file);
  if (all.contains(group)) return all.at(group).contains("cases") ? all.at(group).at("cases") : all.at(group);
  nlohmann::json cases = nlohmann::json::array();
  for (const auto& one : all.at("cases")) {
    if (one.at("group") == group) cases.push_back(one);
  }
  if (cases.empty()) throw std::runtime_error("no golden group " + group + " in " + file);
  return cases;
}

/// A golden input: the nearest double of a decimal string or of a JSON number.
[[nodiscard]] inline double golden_double(const nlohmann::json& value) {
  return value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>();
}

/// The same input where the file says that decimals are exact (f_dp.json, multiple_constraints.json): the two doubles around it.
[[nodiscard]] inline Interval golden_interval(const nlohmann::json& value) {
  if (!value.is_string()) return Interval::exactly(value.get<double>());
  const double nearest = golden_double(value);
  const Interval around{std::nextafter(nearest, -std::numeric_limits<double>::infinity()),
                        std::nextafter(nearest, std::numeric_limits<double>::infinity())};
  const Truth exact(value.get<std::string>());
  if (exact.is_in(Interval::exactly(nearest))) return Interval::exactly(nearest);
  return exact.is_in({around.lo, nearest}) ? Interval{around.lo, nearest} : Interval{nearest, around.hi};
}

}  // namespace tradeoff::detail::test
