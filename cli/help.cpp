// SPDX-License-Identifier: Apache-2.0
#include "help.h"

#include <algorithm>
#include <array>
#include <vector>

#include "plan/did_you_mean.h"
#include "report/label.h"
#include "streams.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::cli {

namespace {

constexpr std::size_t column_of_verbs = 16;    // where the summary of a verb starts
constexpr std::size_t column_of_options = 27;  // where the help of an option starts

struct GroupTitle {
  Group group;
  std::string_view title;
};
constexpr std::array<GroupTitle, 5> group_titles = {{{Group::ask, "Ask about a plan"},
                                                     {Group::calibrate, "Calibrate and train"},
                                                     {Group::publish, "Publish"},
                                                     {Group::theory, "Theory"},
                                                     {Group::tools, "Tools"}}};

constexpr std::string_view introduction =
    "tradeoff: a differential-privacy accountant with proved bounds.\n"
    "\n"
    "A plan states what is run on people's data. Every answer about it is an interval\n"
    "that contains the true value, rounding included.\n"
    "\n"
    "Usage: tradeoff VERB [OPTIONS] [PLAN]\n";
constexpr std::string_view help_ending =
    "A plan is lines of `source(...) | operator(...)`, for example\n"
    "'gaussian(sigma=40) | repeat(100)'; `tradeoff mechanisms` lists the words.\n"
    "`tradeoff VERB --help` shows the options of a verb and examples.\n"
    "\n"
    "Exit codes: 0 done, 1 a check failed, 2 bad usage, 3 bad input, 4 undecided.\n";

/// Prints a name and its meaning. The meaning starts in the given column, on its own line if the name is too long.
std::string entry(const std::string& name, std::string_view meaning, std::size_t column) {
  std::string text = "  " + name;
  if (text.size() + 2 > column) {
    text += "\n" + std::string(column, ' ');
  } else {
    text.resize(column, ' ');
  }
  return text + report::wrapped(meaning, column, column);
}

/// Paragraphs are set in lines of at most 80 columns. Lines that start with two blanks stay as they are.
std::string set_manual(std::string_view manual) {
  std::string text, paragraph;
  const auto finish = [&] {
    if (!paragraph.empty()) text += report::wrapped(paragraph, 0, 0);
    paragraph.clear();
  };
  for (std::size_t from = 0; from < manual.size();) {
    const std::size_t end = std::min(manual.find('\n', from), manual.size());
    const std::string_view line = manual.substr(from, end - from);
    from = end + 1;
    if (!line.empty() && !line.starts_with("  ")) {
      paragraph.append(line).append(" ");
      continue;
    }
    finish();
    text.append(line).append("\n");
  }
  finish();
  return text;
}

std::string list_of(std::span<const std::string_view> words, std::string_view between) {
  std::string text;
  for (const std::string_view word : words) text.append(text.empty() ? "" : between).append(word);
  return text;
}

std::string entry_of(const Option& option) {
  std::string name = "--" + std::string(option.name);
  if (!option.choices.empty()) {
    name += " " + list_of(option.choices, "|");
  } else if (!option.is_flag) {
    name += " " + std::string(option.placeholder);
  }
  std::string meaning(option.help);
  if (!option.alias.empty()) meaning += "; also --" + std::string(option.alias);
  if (option.required) meaning += "; required";
  return entry(name, meaning, column_of_options);
}

}  // namespace

const Verb* find_verb(std::string_view name) {
  for (const Verb& verb : verbs()) {
    if (verb.name == name) return &verb;
  }
  return nullptr;
}

std::string unknown_verb(std::string_view given) {
  std::vector<std::string_view> names;
  for (const Verb& verb : verbs()) names.push_back(verb.name);
  const std::string meant = did_you_mean(given, names);
  return "unknown verb '" + std::string(given.substr(0, 40)) + "'" +
         (meant.empty() ? "; see tradeoff --help" : meant + " See tradeoff --help.");
}

std::string help() {
  std::string text(introduction);
  for (const GroupTitle& each : group_titles) {
    text.append("\n").append(each.title).append(":\n");
    for (const Verb& verb : verbs()) {
      if (verb.group == each.group) text += entry(std::string(verb.name), verb.summary, column_of_verbs);
    }
  }
  return text.append("\n").append(help_ending);
}

std::string help_of(const Verb& verb) {
  const std::string_view further = verb.further.substr(0, verb.further.find(':'));
  std::string usage = "Usage: tradeoff " + std::string(verb.name) + " [OPTIONS]";
  if (verb.takes_plan) usage += verb.plan_may_be_absent ? " [PLAN]" : " PLAN";
  if (!further.empty()) usage += " [" + std::string(further) + "...]";
  const std::size_t examples = std::min(verb.manual.find("Examples:\n"), verb.manual.size());
  std::string text = "tradeoff " + std::string(verb.name) + ": " + std::string(verb.summary) + "\n\n" + usage + "\n\n";
  text += set_manual(verb.manual.substr(0, examples));
  if (verb.takes_plan) text += entry("PLAN", plan_help, column_of_options);
  if (!further.empty()) text += entry(std::string(further), verb.further.substr(further.size() + 2), column_of_options);
  for (const Option& option : verb.options) text += entry_of(option);
  if (verb.takes_plan) {
    for (const Option& option : plan_options()) text += entry_of(option);
  }
  text += entry("--json", json_help, column_of_options) + entry("--quiet", quiet_help, column_of_options) +
          entry("-h, --help", "print this help", column_of_options);
  return text + "\n" + set_manual(verb.manual.substr(examples));
}

std::string example_of(const Verb& verb) {
  constexpr std::string_view heading = "Examples:\n  ";
  const std::size_t at = verb.manual.find(heading);
  if (at == std::string_view::npos) return {};
  const std::string_view examples = verb.manual.substr(at + heading.size());
  return std::string(examples.substr(0, examples.find('\n')));
}

ExitCode run_help(const Verb&, const Options& options) {
  if (options.further.empty()) {
    write_out(help());
    return ExitCode::done;
  }
  const Verb* verb = find_verb(options.further.front());
  if (verb == nullptr) throw DomainError(unknown_verb(options.further.front()));
  write_out(help_of(*verb));
  return ExitCode::done;
}

std::string with_wrapped_list(const std::string& message) {
  static constexpr std::string_view label = " Known: ";
  const std::size_t start = message.rfind(label);
  if (start == std::string::npos) return message;
  std::string text = message.substr(0, start) + " Known:\n    " + report::wrapped(message.substr(start + label.size()), 4, 4);
  text.pop_back();  // the caller ends the last line
  return text;
}

}  // namespace tradeoff::detail::cli
