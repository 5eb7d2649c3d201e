// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "command_line.h"
#include "fuzz.h"
#include "light_plan.h"
#include "memory_streams.h"
#include "verb.h"

// The command line: one argument per line up to an empty line, then standard input. Every input ends with one of the documented exit codes.

namespace {

using tradeoff::detail::fuzz::require;

/// These run for seconds, and `train` keeps a lock file.
bool takes_long(const std::vector<std::string>& arguments) {
  constexpr std::array<std::string_view, 4> slow = {"train", "figures", "tour", "sgd"};
  const bool asks_for_help = std::find(arguments.begin(), arguments.end(), "--help") != arguments.end();
  return !asks_for_help && std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
    return std::find(slow.begin(), slow.end(), argument) != slow.end();
  });
}

bool is_light(std::string_view text) {
  const std::size_t mark = text.find('=');
  return tradeoff::detail::fuzz::is_light(text) &&
         (mark == std::string_view::npos || tradeoff::detail::fuzz::is_light(text.substr(mark + 1)));
}

bool are_light(const std::vector<std::string>& arguments, std::string_view input) {
  const bool much = std::any_of(arguments.begin(), arguments.end(), tradeoff::detail::fuzz::asks_much);
  if (much && !(tradeoff::detail::fuzz::is_very_light(input) &&
                std::all_of(arguments.begin(), arguments.end(), tradeoff::detail::fuzz::is_very_light)))
    return false;
  return std::all_of(arguments.begin(), arguments.end(), is_light);
}

bool is_light_input(std::string_view text) {
  if (!is_light(text)) return false;
  while (!text.empty())
    if (!tradeoff::detail::fuzz::is_light_request(tradeoff::detail::fuzz::take_until(text, "\n"))) return false;
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tradeoff::detail::fuzz::TimeLimit limit;
  std::string_view input = tradeoff::detail::fuzz::to_text(data, size);
  std::string_view lines = tradeoff::detail::fuzz::take_until(input, "\n\n");
  std::vector<std::string> arguments;
  while (!lines.empty()) arguments.emplace_back(tradeoff::detail::fuzz::take_until(lines, "\n").substr(0, 1000));
  for (std::string& argument : arguments) argument = argument.c_str();  // an argument ends at a NUL
  if (takes_long(arguments) || !is_light_input(input) || !are_light(arguments, input)) return 0;

  tradeoff::detail::fuzz::standard_input() = input;
  std::string name = "tradeoff";
  std::vector<char*> values = {name.data()};
  for (std::string& argument : arguments) values.push_back(argument.data());
  const int count = static_cast<int>(values.size());
  values.push_back(nullptr);
  const int code = tradeoff::detail::cli::run_command_line(count, values.data());
  require(code >= tradeoff::detail::cli::done && code <= tradeoff::detail::cli::undecided);
  return 0;
}
