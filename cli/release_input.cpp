// SPDX-License-Identifier: Apache-2.0
#include "release_input.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "ask/request.h"
#include "numeric/number_text.h"
#include "report/label.h"
#include "streams.h"

namespace tradeoff::detail::cli {
namespace {

constexpr std::size_t most_bytes = 1'000'000'000;

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// The nearest double of a decimal, or nothing if the text is not a decimal. Too large values become the largest double.
std::optional<double> nearest_double(std::string_view text, bool exact, const std::optional<Bounds>& clipped_to = std::nullopt) {
  constexpr double largest = std::numeric_limits<double>::max();
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool beyond = error == std::errc::result_out_of_range;  // `value` is then 0 with libstdc++, infinite or 0 with libc++
  if (end != text.data() + text.size() || text.empty() || (!beyond && (error != std::errc() || !std::isfinite(value)))) return std::nullopt;
  if (!exact && !beyond) return value;
  const auto enclosed = numeric::enclose_decimal(text);
  if (!enclosed) return std::nullopt;
  const bool clipped = clipped_to && (enclosed->hi <= clipped_to->low || enclosed->lo >= clipped_to->high);
  if (exact && enclosed->lo != enclosed->hi && !clipped) return std::nullopt;
  if (beyond) value = std::abs(enclosed->lo) < 1 ? 0 : enclosed->lo < 0 ? -largest : largest;
  return value;
}

[[noreturn]] void refuse(std::uint64_t line, const std::string& what) {
  throw ask::RequestError("parse", "values, line " + std::to_string(line) + ": " + what + "; nothing was released", "values", 0);
}

constexpr std::size_t longest_label = 200;  // bytes; as in a statement

/// Takes the label off the row, with its quotation marks.
std::string take_label(std::string_view& row, std::uint64_t line) {
  std::size_t end = 0;
  if (row.front() == '"')
    for (end = row.find('"', 1); end != std::string_view::npos && row.substr(end + 1, 1) == "\""; end = row.find('"', end + 2)) {
    }
  if (end != std::string_view::npos) end = row.find(',', end);
  if (end == std::string_view::npos) refuse(line, "with --labels a row is LABEL,VALUE; a label with a comma is in quotation marks");
  const std::string label(trimmed(row.substr(0, end)));
  if (label.size() > longest_label || report::printable(label) != label)
    refuse(line, "a label is at most 200 bytes of UTF-8 without control characters");
  row.remove_prefix(end + 1);
  return label;
}

/// A header is printed as it is, so what could be a value is refused there.
bool has_digit(std::string_view row) { return row.find_first_of("0123456789") != std::string_view::npos; }

}  // namespace

Table read_table_of_values(std::string_view text, bool exact, const std::optional<Bounds>& clipped_to, Layout layout) {
  Table table;
  for (std::uint64_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view row = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (row.empty()) continue;
    if (layout.header && table.header.empty()) {
      if (has_digit(row)) refuse(line, "with --header the first line names the columns; it must not contain a digit");
      if (report::printable(std::string(row)) != row) refuse(line, "the header is UTF-8 without control characters");
      table.header = row;
      continue;
    }
    if (layout.labels) table.labels.push_back(take_label(row, line));
    std::uint64_t columns = 0;
    for (bool more = true; more; ++columns) {
      const std::size_t comma = row.find(',');
      const std::string_view cell = trimmed(row.substr(0, comma));
      more = comma != std::string_view::npos;
      if (more) row.remove_prefix(comma + 1);
      const auto value = nearest_double(cell, exact, clipped_to);
      if (!value)
        refuse(line, "'" + std::string(cell.substr(0, 40)) + "' is not a finite decimal" + (exact ? " that is exact in binary" : "") +
                         "; a row is decimals separated by commas");
      table.values.push_back(*value);
    }
    if (table.rows > 0 && columns != table.columns)
      refuse(line, std::to_string(columns) + " values where other rows have " + std::to_string(table.columns));
    table.columns = columns;
    ++table.rows;
  }
  return table;
}

std::vector<KeyRow> read_keys(std::string_view text) {
  std::vector<KeyRow> rows;
  for (std::uint64_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view rest = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (rest.empty()) continue;
    std::vector<std::string_view> cells;
    for (bool more = true; more;) {
      const std::size_t comma = rest.find(',');
      cells.push_back(trimmed(rest.substr(0, comma)));
      more = comma != std::string_view::npos;
      if (more) rest.remove_prefix(comma + 1);
    }
    if (cells.size() < 2 || cells.size() > 3 || cells[0].empty() || cells[1].empty())
      refuse(line, "a row is `user,key` or `user,key,count`");
    if (cells[0].find('"') != std::string_view::npos || cells[1].find('"') != std::string_view::npos)
      refuse(line, "cells in quotation marks are not supported; use names without commas and quotation marks");
    KeyRow row{std::string(cells[0]), std::string(cells[1]), 1};
    if (cells.size() == 3) {
      const auto [last, error] = std::from_chars(cells[2].data(), cells[2].data() + cells[2].size(), row.count);
      if (error != std::errc() || last != cells[2].data() + cells[2].size() || row.count == 0)
        refuse(line, "the count '" + std::string(cells[2].substr(0, 40)) + "' is not a whole number of at least 1");
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string read_all_input() {
  std::string text;
  std::array<char, 65536> buffer{};
  while (const std::size_t count = read_in(buffer.data(), buffer.size())) {
    text.append(buffer.data(), count);
    if (text.size() > most_bytes) throw InputError("standard input: more than 1 GB of values");
  }
  return text;
}

int read_grid(std::string_view text) {
  int exponent = 0;
  if (text.substr(0, 2) == "2^") {
    const std::string_view digits = text.substr(2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (error == std::errc() && end == digits.data() + digits.size() && std::abs(exponent) <= 200) return exponent;
  } else if (const auto step = nearest_double(text, true); step && *step > 0 && std::frexp(*step, &exponent) == 0.5) {
    return exponent - 1;
  }
  throw ask::RequestError(
      "domain", "grid = " + std::string(text.substr(0, 40)) + " is not allowed; it must be a power of two such as 1, 0.25 or 2^-20", "grid",
      0);
}

double read_double(std::string_view field, const std::string& text) {
  const auto value = nearest_double(text, false);
  if (!value)
    throw ask::RequestError("parse", std::string(field) + " = " + text.substr(0, 40) + " is not a finite decimal", std::string(field), 0);
  return *value;
}

}  // namespace tradeoff::detail::cli
