// SPDX-License-Identifier: Apache-2.0
// Draws plans and looks for wrong answers of the library. See docs/breaker.md.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "run.h"
#include "support/scale.h"
#include "tradeoff/error.h"

namespace {

using namespace tradeoff;
using namespace tradeoff::detail;
using namespace tradeoff::detail::breaker;

constexpr const char* help = R"(usage: assurance/breaker/run [OPTION...]
Draws random plans, hostile ones included, and holds the library's answers against witnesses, bounds and laws.
  --plans N      how many (1000)
  --seed S       which; the same seed draws the same plans (1)
  --first I      begin with plan number I of the seed (0)
  --only CHECK   this check alone, on every plan
  --minutes M    stop after M minutes
  --limit T      processor seconds that a plan may take (2)
  --results FILE write a line after every 500 plans, skip those that FILE has, and report on all of FILE
  --list         name the checks
Exit code: 0 nothing is broken, 1 something is, 2 bad usage.
Example: assurance/breaker/run --plans 100000 --seed 7 --results build/breaker.txt
)";

struct Command {
  Settings settings;
  std::string results;
  bool list = false;
};

Command read_arguments(const std::vector<std::string>& words) {
  Command command;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--list") {
      command.list = true;
      continue;
    }
    if (i + 1 == words.size()) throw DomainError(word + " needs a value, or is not known");
    const std::string& value = words[++i];
    if (word == "--plans")
      command.settings.plans = std::stoull(value);
    else if (word == "--seed")
      command.settings.seed = std::stoull(value);
    else if (word == "--first")
      command.settings.first = std::stoull(value);
    else if (word == "--only")
      command.settings.only = &find_check(value);
    else if (word == "--minutes")
      command.settings.minutes = std::stod(value);
    else if (word == "--limit")
      command.settings.seconds_per_plan = std::stod(value);
    else if (word == "--results")
      command.results = value;
    else
      throw DomainError(word + " is not known");
  }
  return command;
}

/// A line is appended by a single write, because another process may write to the same file.
void append(const std::string& path, const std::string& line) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  const bool written = file >= 0 && write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  if (file >= 0) close(file);
  if (!written) throw std::runtime_error("cannot write " + path);
}

/// The counts in the file for ranges with this seed; `has` states whether one of them is exactly this range.
Counts counts_in(const std::string& path, const Settings& wanted, bool& has) {
  Counts sum;
  has = false;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    Settings settings;
    Counts counts;
    if (!read_line(line, settings, counts) || settings.seed != wanted.seed) continue;
    has = has || (settings.first == wanted.first && settings.plans == wanted.plans);
    sum.add(counts);
  }
  return sum;
}

int run(const Command& command) {
  constexpr std::uint64_t range = 500;
  Settings settings = command.settings;
  std::cout << "seed " << settings.seed << ", plans " << settings.first << " to " << settings.first + settings.plans - 1 << "\n"
            << std::flush;
  Counts sum;
  const std::uint64_t last = settings.first + settings.plans;
  for (std::uint64_t first = settings.first; first < last; first += range) {
    settings.first = first;
    settings.plans = std::min(range, last - first);
    bool done = false;
    if (!command.results.empty()) (void)counts_in(command.results, settings, done);
    if (done) continue;
    const Counts counts = try_plans(settings, library());
    sum.add(counts);
    if (!command.results.empty() && counts.plans == settings.plans) append(command.results, to_line(settings, counts));
    std::cerr << "plans to " << first + counts.plans << " of " << last << ": " << sum.broken() << " broken\n";
    if (counts.plans < settings.plans) break;  // the time is used up
  }
  bool ignored = false;
  if (!command.results.empty()) sum = counts_in(command.results, settings, ignored);
  std::cout << report(sum, settings.seed);
  return sum.broken() == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const std::vector<std::string> words(arguments + 1, arguments + count);
    if (!words.empty() && (words[0] == "--help" || words[0] == "-h")) {
      std::cout << help;
      return 0;
    }
    Command command = read_arguments(words);
    if (command.list) {
      for (const Check& check : checks())
        std::cout << check.name << " (" << check.laws << "; " << 100 * check.share << " % of plans): " << check.claim << "\n";
      return 0;
    }
    command.settings.plans = static_cast<std::uint64_t>(std::max(1.0, static_cast<double>(command.settings.plans) * test::test_scale()));
    return run(command);
  } catch (const std::exception& error) {
    std::cerr << "breaker: " << error.what() << "\n" << help;
    return 2;
  }
}
