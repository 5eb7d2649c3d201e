// SPDX-License-Identifier: Apache-2.0
#include "text.h"

#include <array>
#include <charconv>
#include <cmath>

#include "numeric/number_text.h"

namespace tradeoff::python {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& written, const std::string& allowed) {
  constexpr std::size_t shown = 40;  // a message quotes a value, not a megabyte of it
  const std::string quoted = written.size() <= shown ? written : written.substr(0, shown) + "...";
  throw DomainError(name + " = " + quoted + " is not allowed; it must be " + allowed);
}

}  // namespace

Interval read_argument(const char* name, const std::string& text) {
  const auto quotient = numeric::read_quotient(text);
  if (!quotient) refuse(name, text, "a finite decimal number");
  const Interval value = numeric::enclose(*quotient);
  if (!(std::isfinite(value.lo) && std::isfinite(value.hi))) refuse(name, text, "within 1.7976931348623157e308");
  return value;
}

Interval enclose_shortest(const char* name, double value) {
  std::array<char, 32> buffer{};  // the shortest decimal of a double has at most 24 characters
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  const auto enclosed = std::isfinite(value) ? numeric::enclose_decimal(text) : std::nullopt;
  if (!enclosed) refuse(name, std::string(text), "a finite number");
  return *enclosed;
}

Neighbours read_neighbours(const std::string& word) {
  if (word.empty()) return Neighbours::unstated;
  if (word == "add-remove") return Neighbours::add_remove;
  if (word == "replace-one") return Neighbours::replace_one;
  refuse("neighbours", word, "one of add-remove, replace-one");
}

const char* to_word(Neighbours neighbours) {
  if (neighbours == Neighbours::unstated) return "";
  return neighbours == Neighbours::add_remove ? "add-remove" : "replace-one";
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

}  // namespace tradeoff::python
