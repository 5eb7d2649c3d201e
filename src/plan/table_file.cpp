// SPDX-License-Identifier: Apache-2.0
#include "plan/table_file.h"

#include <filesystem>
#include <fstream>
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

std::vector<std::pair<Number, Number>> read_table(const std::string& path) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) throw DomainError("file: \"" + path + "\" is not a file that can be read");
  if (std::filesystem::file_size(path, failure) > most_bytes) throw TooLargeError("file: \"" + path + "\" is larger than 64 MiB");
  std::ifstream in(path);
  if (!in) throw DomainError("file: \"" + path + "\" cannot be opened");
  std::vector<std::pair<Number, Number>> rows;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    const std::vector<std::string> fields = fields_of(line);
    if (fields.empty()) continue;
    const auto first = read_number(fields.front());
    if (!first && rows.empty() && number == 1) continue;  // column names
    const auto second = fields.size() == 2 ? read_number(fields.back()) : std::nullopt;
    if (!first || !second) throw DomainError("file: \"" + path + "\", line " + std::to_string(number) + ": two numbers are expected");
    rows.emplace_back(*first, *second);
  }
  if (rows.empty()) throw DomainError("file: \"" + path + "\" holds no rows");
  return rows;
}

std::vector<std::pair<Interval, Interval>> rows_of(const Arguments& arguments) {
  std::vector<std::pair<Interval, Interval>> values;
  for (const auto& [first, second] : arguments.has("file") ? read_table(arguments.word("file")) : arguments.pairs("points"))
    values.emplace_back(first.value, second.value);
  return values;
}

}  // namespace tradeoff::detail
