// SPDX-License-Identifier: Apache-2.0
#include "text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "numeric/arithmetic.h"
#include "numeric/number_text.h"
#include "plan/neighbours.h"

namespace tradeoff::detail::python {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& written, const std::string& allowed) {
  constexpr std::size_t shown = 40;  // a message quotes only the start of a long value
  const std::string quoted = written.size() <= shown ? written : written.substr(0, shown) + "...";
  throw DomainError(name + " = " + quoted + " is not allowed; it must be " + allowed);
}

/// Whether the decimal, which rounds to `value`, lies below (-1), on (0) or above it (1); empty if that needs longer numbers. For digits *
/// 10^-power with power up to 22, which is an exact double, the product value * 10^power is exact in two doubles.
std::optional<int> side_of_decimal(std::string_view text, double value) {
  const std::size_t letter = text.find('e');
  std::int64_t digits = 0;
  int power = 0;
  for (const char c : text.substr(0, letter)) {
    if (c >= '0' && c <= '9') digits = 10 * digits + (c - '0');
  }
  const std::size_t point = text.find('.');
  const std::size_t start = text[letter + 1] == '+' ? letter + 2 : letter + 1;
  std::from_chars(text.data() + start, text.data() + text.size(), power);
  power = static_cast<int>(point == std::string_view::npos ? 0 : letter - point - 1) - power;
  if (power < 0 || power > 22) return std::nullopt;
  static constexpr std::array<double, 23> powers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const double scaled = std::abs(value) * powers[static_cast<std::size_t>(power)];
  const double rest = std::fma(std::abs(value), powers[static_cast<std::size_t>(power)], -scaled);
  const auto rounded = static_cast<double>(digits);
  // Both differences are exact: of neighbouring doubles of one size, and of integers far below 2^53.
  const double beyond = (rounded - scaled) + static_cast<double>(digits - static_cast<std::int64_t>(rounded));
  const int outward = beyond > rest ? 1 : beyond < rest ? -1 : 0;
  return value < 0 ? -outward : outward;
}

/// The value and its neighbour on this side.
Interval beside(double value, int side) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (side == 0) return Interval::exactly(value);
  return side > 0 ? Interval{value, std::nextafter(value, infinity)} : Interval{std::nextafter(value, -infinity), value};
}

}  // namespace

Interval read_argument(const char* name, const std::string& text) {
  const auto quotient = numeric::read_quotient(text);
  if (!quotient) refuse(name, text, "a finite decimal number");
  const Interval value = numeric::enclose(*quotient);
  if (!(std::isfinite(value.lo) && std::isfinite(value.hi))) refuse(name, text, "within 1.7976931348623157e308");
  return value;
}

Interval enclose_nearby(const char* name, double value) {
  const double size = std::abs(value), scaled = size * 1024;
  // A multiple of 1/1024 below 10^5 has at most 15 digits, so it is its own shortest decimal; near 0 neighbours are relatively far apart.
  if (!(size > 1e-300 && size < 1e300) || (size < 1e5 && scaled == std::trunc(scaled))) return enclose_shortest(name, value);
  return {numeric::next_down(value), numeric::next_up(value)};
}

Interval enclose_shortest(const char* name, double value) {
  std::array<char, 32> buffer{};  // the shortest decimal of a double has at most 24 characters
  char* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific).ptr;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  if (!std::isfinite(value)) refuse(name, std::string(text), "a finite number");
  if (const auto side = side_of_decimal(text, value)) return beside(value, *side);
  return *numeric::enclose_decimal(text);
}

Targets stated_targets(const Texts& stated) {
  const auto text_of = [&](std::string_view word) {
    const auto found = stated.find(std::string(word));
    return found == stated.end() ? std::nullopt : std::optional(found->second);
  };
  return read_targets(text_of, "");
}

Neighbours read_neighbours(const std::string& word) {
  if (word.empty()) return Neighbours::unstated;
  for (const auto& [name, value] : neighbours_words)
    if (word == name) return value;
  refuse("neighbours", word, all_neighbours_words());
}

const char* neighbours_word(Neighbours neighbours) {
  return neighbours == Neighbours::unstated ? "" : tradeoff::detail::to_word(neighbours);
}

Direction read_direction(const std::string& word) {
  if (word == "worst") return Direction::worst;
  if (word == "remove") return Direction::remove;
  if (word == "add") return Direction::add;
  refuse("direction", word, "one of worst, remove, add");
}

Tolerance read_relative(const std::string& text) {
  const double relative = read_argument("relative", text).hi;
  if (!(relative > 0 && relative <= 1)) refuse("relative", text, "above 0 and at most 1");
  return {relative};
}

}  // namespace tradeoff::detail::python
