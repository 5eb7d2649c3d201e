// SPDX-License-Identifier: Apache-2.0
#include "plan/table_file.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>

#include "numeric/number_text.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

// The size limit of a table: a measured curve is smaller, and a larger file would only fill the memory.
constexpr std::uintmax_t most_bytes = 64ULL << 20;

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::string field;
  for (const char c : line + " ") {
    if (c == '#') break;
    if (c == ',' || c == ';' || c == '\t' || c == ' ' || c == '\r') {
      if (!field.empty()) fields.push_back(std::exchange(field, {}));
    } else {
      field += c;
    }
  }
  if (!field.empty()) fields.push_back(field);
  return fields;
}

std::optional<Number> read_number(const std::string& text) {
  const auto quotient = numeric::read_quotient(text);
  if (!quotient) return std::nullopt;
  return Number{numeric::to_string(*quotient), numeric::enclose(*quotient)};
}

}  // namespace

namespace {

/// Calls its argument for each line that holds anything, with its number and its fields.
void for_each_line(const std::string& path, const std::function<void(std::size_t number, const std::vector<std::string>& fields)>& use) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) throw DomainError("file: \"" + path + "\" is not a file that can be read");
  if (std::filesystem::file_size(path, failure) > most_bytes) throw TooLargeError("file: \"" + path + "\" is larger than 64 MiB");
  std::ifstream in(path);
  if (!in) throw DomainError("file: \"" + path + "\" cannot be opened");
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number)
    if (const std::vector<std::string> fields = fields_of(line); !fields.empty()) use(number, fields);
}

[[noreturn]] void refuse_line(const std::string& path, std::size_t number, const std::string& why) {
  throw DomainError("file: \"" + path + "\", line " + std::to_string(number) + ": " + why);
}

}  // namespace

std::vector<std::pair<Number, Number>> read_table(const std::string& path) {
  std::vector<std::pair<Number, Number>> rows;
  for_each_line(path, [&](std::size_t number, const std::vector<std::string>& fields) {
    const auto first = read_number(fields.front());
    if (!first && rows.empty() && number == 1) return;  // column names
    const auto second = fields.size() == 2 ? read_number(fields.back()) : std::nullopt;
    if (!first || !second) refuse_line(path, number, "two numbers are expected");
    rows.emplace_back(*first, *second);
  });
  if (rows.empty()) throw DomainError("file: \"" + path + "\" holds no rows");
  return rows;
}

std::vector<Number> read_lower_triangle(const std::string& path) {
  constexpr std::size_t most_rows = 2000;  // two million numbers
  std::vector<Number> entries;
  std::size_t rows = 0, columns = 0;  // columns: of every row, or 0 if row i has i + 1 numbers
  for_each_line(path, [&](std::size_t number, const std::vector<std::string>& fields) {
    if (rows == most_rows) throw TooLargeError("file: \"" + path + "\" holds a matrix of more than 2000 rows");
    if (rows == 0 && fields.size() > 1) columns = fields.size();
    const std::size_t expected = columns > 0 ? columns : rows + 1;
    if (fields.size() != expected || rows + 1 > expected)
      refuse_line(path, number,
                  "row " + std::to_string(rows + 1) + " of a square matrix, or of its lower triangle, must hold " +
                      std::to_string(expected) + " numbers, and there must be as many rows");
    for (std::size_t column = 0; column < fields.size(); ++column) {
      const auto entry = read_number(fields[column]);
      if (!entry) refuse_line(path, number, "\"" + fields[column] + "\" is not a number");
      if (column <= rows) {
        entries.push_back(*entry);
      } else if (!(entry->value.lo == 0 && entry->value.hi == 0)) {
        refuse_line(path, number,
                    "entry " + std::to_string(column + 1) + " of row " + std::to_string(rows + 1) +
                        " lies above the diagonal and must be 0: a step may use only what is known before it. Without an "
                        "order of the steps nothing is proved; release the matrix at once as gaussian(sigma, sensitivity)");
      }
    }
    ++rows;
  });
  if (rows == 0) throw DomainError("file: \"" + path + "\" holds no rows");
  if (columns > 0 && rows != columns)
    throw DomainError("file: \"" + path + "\" holds " + std::to_string(rows) + " rows of " + std::to_string(columns) +
                      " numbers; the matrix must be square");
  return entries;
}

std::vector<std::pair<Interval, Interval>> rows_of(const Arguments& arguments) {
  std::vector<std::pair<Interval, Interval>> values;
  for (const auto& [first, second] : arguments.has("file") ? read_table(arguments.word("file")) : arguments.pairs("points"))
    values.emplace_back(first.value, second.value);
  return values;
}

}  // namespace tradeoff::detail
