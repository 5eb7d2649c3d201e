// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tradeoff/curve.h"
#include "tradeoff/interval.h"

namespace tradeoff::detail::report {

/// Writes one JSON value on one line. An end of an interval is printed as a decimal that reads back as exactly the same double and, read as
/// an exact decimal, still encloses it; an infinite end is the string "inf" or "-inf". The output is always valid JSON in valid UTF-8, even
/// if a message contains other bytes.
class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);

  JsonWriter& text(std::string_view value);
  /// The shortest decimal that reads back as the same double.
  JsonWriter& number(double value);
  JsonWriter& integer(std::uint64_t value);
  JsonWriter& boolean(bool value) { return raw(value ? "true" : "false"); }
  JsonWriter& null() { return raw("null"); }
  /// Text that is already JSON.
  JsonWriter& raw(std::string_view json);

  /// `{"lo": x, "hi": y}`, and also `"log10"` if given.
  JsonWriter& interval(Interval value, const std::optional<Interval>& log10 = std::nullopt);
  /// `[{"theorem": ..., "detail": ...}, ...]`.
  JsonWriter& steps(const std::vector<Step>& steps);

  [[nodiscard]] const std::string& str() const { return out_; }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& end_of_interval(double value, const std::string& outward);
  void separate();
  void quote(std::string_view value);

  std::string out_;
  bool after_value_ = false;  // a comma is due before the next key or element
};

}  // namespace tradeoff::detail::report
