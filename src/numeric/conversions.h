// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>

namespace tradeoff::detail::numeric {

/// A count as a size in memory. A count that no memory of this platform can hold (WebAssembly has 32 bits) throws like a failed allocation.
[[nodiscard]] constexpr std::size_t to_size(std::uint64_t count) {
  if constexpr (sizeof(std::size_t) < sizeof count) {
    if (count > std::numeric_limits<std::size_t>::max()) throw std::bad_alloc();
  }
  return static_cast<std::size_t>(count);
}

}  // namespace tradeoff::detail::numeric

// std::bit_cast, and std::from_chars and std::to_chars for double, also where the standard library lacks them (emscripten's, and libc++
// before 20, which compilers for Macs have). libc++ has them since 20, without the macro. All code of the library uses these names: every
// platform reads and writes the same text.
#if defined(__cpp_lib_bit_cast) && (defined(__cpp_lib_to_chars) || (defined(_LIBCPP_VERSION) && _LIBCPP_VERSION >= 200000))

namespace tradeoff::detail::numeric {
using std::bit_cast;
using std::from_chars;
using std::to_chars;
}  // namespace tradeoff::detail::numeric

#else

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>
#ifndef __EMSCRIPTEN__
#include <locale.h>
#endif
#ifdef __APPLE__
#include <xlocale.h>
#endif

// The C library of these platforms (musl, Apple's, glibc) converts exactly: `strtod` rounds to nearest, `snprintf` prints as many correct
// digits as asked for. tests/numeric/number_text_test.cpp runs there too (./test page).
namespace tradeoff::detail::numeric {

#ifdef __EMSCRIPTEN__
struct PlainLocale {};  // its locale is always "C"
#else
/// While it lives, `strtod` and `snprintf` of this thread know a decimal point, whatever locale the program around us has set.
class PlainLocale {
 public:
  PlainLocale() : before_(uselocale(plain())) {}
  ~PlainLocale() { uselocale(before_); }
  PlainLocale(const PlainLocale&) = delete;
  PlainLocale& operator=(const PlainLocale&) = delete;

 private:
  static locale_t plain() {
    static const locale_t made = newlocale(LC_ALL_MASK, "C", nullptr);
    if (made == nullptr) throw std::bad_alloc();
    return made;
  }

  locale_t before_;
};
#endif

template <typename To, typename From>
[[nodiscard]] constexpr To bit_cast(const From& from) noexcept {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

/// Reads a decimal as std::from_chars does: no sign `+`, no space before it, and of hexadecimal text the zero before the `x`.
inline std::from_chars_result from_chars(const char* first, const char* last, double& value) {
  std::string text(first, last);  // `strtod` needs a final NUL
  text.resize(std::min(text.size(), text.find_first_of("xX")));
  if (text.find_first_of("+ \t\n\v\f\r") == 0) return {first, std::errc::invalid_argument};
  [[maybe_unused]] const PlainLocale plain;
  char* end = nullptr;
  const double read = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) return {first, std::errc::invalid_argument};
  text.resize(static_cast<std::size_t>(end - text.c_str()));
  const char* const stop = first + text.size();
  const bool finite_text = text.find_first_of("0123456789") != std::string::npos;  // neither inf nor nan
  const bool zero_text = text.find_first_of("123456789") == std::string::npos || text.find_first_of("123456789") > text.find_first_of("eE");
  if (finite_text && (read > 1.7976931348623157e308 || read < -1.7976931348623157e308 || (read == 0 && !zero_text)))
    return {stop, std::errc::result_out_of_range};
  value = read;
  return {stop, std::errc{}};
}

/// Copies what `snprintf` wrote, if it fits.
inline std::to_chars_result copy_text(char* first, char* last, const std::string& text) {
  if (static_cast<std::size_t>(last - first) < text.size()) return {last, std::errc::value_too_large};
  return {text.copy(first, text.size()) + first, std::errc{}};
}

inline std::string printed(const char* form, int precision, double value) {
  [[maybe_unused]] const PlainLocale plain;
  std::string text(1200, '\0');  // the longest: 309 digits before the point, or 767 after it
  const int length = std::snprintf(text.data(), text.size(), form, precision, value);
  text.resize(static_cast<std::size_t>(length));
  return text;
}

inline std::to_chars_result to_chars(char* first, char* last, double value, std::chars_format format, int precision) {
  const char* const form = format == std::chars_format::fixed ? "%.*f" : format == std::chars_format::scientific ? "%.*e" : "%.*g";
  return copy_text(first, last, printed(form, precision, value));
}

/// The fewest digits that read back as the same double, in scientific notation.
inline std::string shortest_scientific(double value) {
  [[maybe_unused]] const PlainLocale plain;
  std::string text;
  for (int digits = 0; digits < 17; ++digits) {
    text = printed("%.*e", digits, value);
    if (std::strtod(text.c_str(), nullptr) == value) break;
  }
  return text;
}

/// The same digits without an exponent.
inline std::string shortest_fixed(double value, const std::string& scientific) {
  const std::size_t mark = scientific.find('e');
  const std::size_t point = scientific.find('.');
  const int fraction = point == std::string::npos ? 0 : static_cast<int>(mark - point) - 1;
  const int decimals = fraction - std::atoi(scientific.c_str() + mark + 1);
  return printed("%.*f", decimals > 0 ? decimals : 0, value);
}

inline std::to_chars_result to_chars(char* first, char* last, double value, std::chars_format) {  // `fixed`, the only one in use
  return copy_text(first, last, shortest_fixed(value, shortest_scientific(value)));
}

/// The shorter of both notations; without an exponent if they are equally long.
inline std::to_chars_result to_chars(char* first, char* last, double value) {
  const std::string scientific = shortest_scientific(value);
  if (scientific.find('e') == std::string::npos) return copy_text(first, last, scientific);  // inf and nan
  const std::string fixed = shortest_fixed(value, scientific);
  return copy_text(first, last, fixed.size() <= scientific.size() ? fixed : scientific);
}

}  // namespace tradeoff::detail::numeric

#endif
