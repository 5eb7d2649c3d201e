// SPDX-License-Identifier: Apache-2.0
#include "memory_streams.h"

#include <algorithm>

#include "output_file.h"
#include "row_reader.h"
#include "streams.h"
#include "witness.h"

namespace tradeoff::detail::fuzz {

std::string& standard_input() {
  static std::string text;
  return text;
}

}  // namespace tradeoff::detail::fuzz

namespace tradeoff::detail::cli {

void reserve_standard_streams() {}
void write_out(std::string_view) {}
void write_error(std::string_view) noexcept {}
void write_beside(std::string_view, std::string_view) {}
void write_file(const std::string& path, std::string_view) {
  if (path.empty()) throw OutputError("cannot write a file without a name");
}
void write_private_file(const std::string& path, std::string_view text) { write_file(path, text); }
std::string target_of(const std::string& path) { return path; }
bool is_same_file(const std::string& one, const std::string& other) { return one == other; }
void write_result(const std::string*, std::string_view) {}
void make_directory(const std::string&) {}

std::size_t read_in(char* buffer, std::size_t capacity) {
  std::string& rest = fuzz::standard_input();
  const std::size_t count = std::min(capacity, rest.size());
  std::copy_n(rest.begin(), count, buffer);
  rest.erase(0, count);
  return count;
}

std::string read_plan_argument(const std::string& argument) {
  return argument == "-" || argument.starts_with('@') ? fuzz::standard_input() : argument;
}

Testimony ask_witness(std::string_view, const Options&, Interval) { return {}; }

std::unique_ptr<RowReader> read_rows_of_file(const std::string&, const std::string& option) { throw InputError(option + ": no file"); }
std::unique_ptr<RowReader> read_rows_of_command(const std::string&, const std::string& option, std::chrono::seconds) {
  throw InputError(option + ": no command");  // a fuzzer starts no programs
}

}  // namespace tradeoff::detail::cli
