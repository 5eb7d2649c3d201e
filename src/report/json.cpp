// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "numeric/conversions.h"
#include "numeric/number_text.h"

namespace tradeoff::detail::report {
namespace {

/// The length of the well-formed UTF-8 sequence at the start of `bytes`; 0 if there is none. Overlong forms and surrogates are not
/// well-formed.
std::size_t utf8_length(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const auto continues = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return i < bytes.size() && byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool second = continues(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF);
    return second && continues(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool second = continues(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF);
    return second && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

void append_escaped(std::string& out, char c) {
  static constexpr std::string_view hex = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  const auto code = static_cast<unsigned char>(c);
  if (code >= 0x20 && code != 0x7F) {
    out += c;
    return;
  }
  out += "\\u00";
  out += hex[code >> 4];
  out += hex[code & 15];
}

}  // namespace

void JsonWriter::separate() {
  if (after_value_) out_ += ',';
  after_value_ = true;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  out_ += bracket;
  after_value_ = false;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  out_ += bracket;
  after_value_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  quote(name);
  out_ += ':';
  after_value_ = false;
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) {
  separate();
  quote(value);
  return *this;
}

namespace {

/// A character that is written as it is; most are.
constexpr auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };

}  // namespace

void JsonWriter::quote(std::string_view value) {
  out_ += '"';
  while (!value.empty()) {
    const std::size_t plain = static_cast<std::size_t>(std::find_if_not(value.begin(), value.end(), is_plain) - value.begin());
    out_ += value.substr(0, plain);
    value.remove_prefix(plain);
    if (value.empty()) break;
    const std::size_t length = utf8_length(value);
    if (length == 0) {
      out_ += "\xEF\xBF\xBD";  // U+FFFD, the replacement character
    } else if (length == 1) {
      append_escaped(out_, value.front());
    } else {
      out_ += value.substr(0, length);
    }
    value.remove_prefix(length == 0 ? 1 : length);
  }
  out_ += '"';
}

JsonWriter& JsonWriter::number(double value) {
  if (std::isinf(value)) return text(value > 0 ? "inf" : "-inf");
  std::array<char, 32> buffer{};  // the longest shortest form has 24 characters
  const auto end = numeric::to_chars(buffer.data(), buffer.data() + buffer.size(), value == 0 ? 0.0 : value).ptr;
  return raw({buffer.data(), static_cast<std::size_t>(end - buffer.data())});
}

JsonWriter& JsonWriter::end_of_interval(double value, const std::string& outward) {
  return std::isinf(value) ? text(outward) : raw(outward);
}

JsonWriter& JsonWriter::integer(std::uint64_t value) { return raw(std::to_string(value)); }

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

JsonWriter& JsonWriter::interval(Interval value, const std::optional<Interval>& log10) {
  if (!(value.lo <= value.hi)) value = Interval::whole();  // NaN proves nothing, and must not be printed
  begin_object().key("lo").end_of_interval(value.lo, numeric::to_text_below(value.lo));
  key("hi").end_of_interval(value.hi, numeric::to_text_above(value.hi));
  if (log10) key("log10").interval(*log10);
  return end_object();
}

JsonWriter& JsonWriter::steps(const std::vector<Step>& steps) {
  begin_array();
  for (const Step& step : steps) begin_object().key("theorem").text(step.theorem).key("detail").text(step.detail).end_object();
  return end_array();
}

}  // namespace tradeoff::detail::report
