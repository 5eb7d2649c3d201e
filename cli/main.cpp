// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <list>
#include <new>

#include "nearest.h"
#include "numeric/floating_point_guard.h"
#include "progress.h"
#include "report/caret.h"
#include "report/label.h"
#include "request.h"
#include "streams.h"
#include "tradeoff/error.h"
#include "tradeoff/version.h"
#include "verb.h"

namespace tradeoff::cli {
namespace {

constexpr const char* introduction =
    "tradeoff: a privacy accountant whose answers are proofs.\n"
    "A plan says what is run on people's data; every answer about it is an interval that is certain to hold.\n";
constexpr const char* plan_help = "the plan: its text, @file, or - for standard input";
constexpr const char* help_ending =
    "A plan is lines of `source(...) | operator(...)`, e.g. 'gaussian(sigma=40) | repeat(100)'; see `tradeoff mechanisms`.\n"
    "`tradeoff VERB --help` shows the options of a verb and examples.\n\n"
    "Exit codes: 0 done, 1 a check that fails, 2 bad usage, 3 bad input, 4 undecided.";

ExitCode complain(ExitCode code, const std::string& message, const std::string& more = {}) {
  write_error("tradeoff: " + report::printable_lines(message) + "\n" + report::printable_lines(more));
  return code;
}

/// One verb as CLI11 knows it, and what was typed for it.
struct Command {
  const Verb* verb = nullptr;
  CLI::App* app = nullptr;
  Options options;
  std::list<std::pair<const Option*, std::string>> typed;  // addresses must stay: CLI11 writes through them

  void add(std::span<const Option> known) {
    for (const Option& option : known) {
      auto& slot = typed.emplace_back(&option, "");
      if (option.is_flag) {
        app->add_flag("--" + std::string(option.name))->description(std::string(option.help));
        continue;
      }
      if (option.is_repeatable) {
        app->add_option("--" + std::string(option.name), options.further, std::string(option.help))
            ->type_name(std::string(option.placeholder))
            ->allow_extra_args(false);
        continue;
      }
      auto* added = app->add_option("--" + std::string(option.name), slot.second, std::string(option.help));
      added->type_name(std::string(option.placeholder))->required(option.required);
      if (!option.choices.empty())
        added->check(CLI::IsMember(std::vector<std::string>(option.choices.begin(), option.choices.end())))->type_name("");
    }
  }

  void build(CLI::App& root) {
    app = root.add_subcommand(std::string(verb->name), std::string(verb->summary));
    app->footer(std::string(verb->manual));
    if (verb->takes_plan) app->add_option("plan", options.plan, plan_help)->required(!verb->plan_may_be_absent)->type_name("PLAN");
    if (!verb->further.empty()) {
      const std::string name(verb->further.substr(0, verb->further.find(':')));
      app->add_option(name, options.further, std::string(verb->further.substr(name.size() + 2)))->type_name("");
    }
    add(verb->options);
    if (verb->takes_plan) add(plan_options());
    app->add_flag("--json", options.json, "answer in JSON");
    app->add_flag("--quiet", options.quiet, "the claim alone, without how it was found");
  }

  [[nodiscard]] bool given(const Option& option) const { return app->get_option("--" + std::string(option.name))->count() > 0; }

  ExitCode run() {
    for (auto& [option, value] : typed) {
      if (!option->is_repeatable && given(*option)) options.values.emplace_back(option, value);
    }
    if (verb->takes_plan && !options.plan.empty()) options.plan = read_plan_argument(options.plan);
    const bool waits_for_typing = (verb->name == "query" || verb->name == "release") && ::isatty(STDIN_FILENO) == 1;
    const Progress progress(!options.quiet && !waits_for_typing);
    return run_guarded();
  }

  /// Runs the verb; a fault of the plan is shown where it stands.
  ExitCode run_guarded() {
    try {
      return verb->run(*verb, options);
    } catch (const RequestError& error) {
      return complain(ExitCode::bad_input, error.what());
    } catch (const ParseError& error) {
      return complain(ExitCode::bad_input, std::string("plan: ") + error.what(), report::indented_point(options.plan, error.offset()));
    } catch (const UnmetError& error) {
      return complain(ExitCode::check_failed, error.what());
    } catch (const Error& error) {
      return complain(ExitCode::bad_input, error.what());
    }
  }
};

const Verb* find_verb(std::string_view name) {
  for (const Verb& verb : verbs()) {
    if (verb.name == name) return &verb;
  }
  return nullptr;
}

std::string unknown_verb(const std::string& given) {
  std::vector<std::string_view> names;
  for (const Verb& verb : verbs()) names.push_back(verb.name);
  return "unknown verb '" + given.substr(0, 40) + "'" + did_you_mean(given, names) + " See tradeoff --help.";
}

/// The complaint about the first option that the verb does not have; empty if it has them all.
std::string unknown_option(const Verb& verb, const std::vector<std::string>& arguments) {
  std::vector<std::string_view> names = {"json", "quiet", "help"};
  for (const Option& option : verb.options) names.push_back(option.name);
  if (verb.takes_plan) {
    for (const Option& option : plan_options()) names.push_back(option.name);
  }
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    if (argument.rfind("--", 0) != 0) continue;
    const std::string name = argument.substr(2, argument.find('=') - 2);
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    return std::string(verb.name) + " has no option --" + name.substr(0, 40) + did_you_mean(name, names);
  }
  return {};
}

ExitCode run(int count, char** values) {
  const std::vector<std::string> arguments(values + std::min(count, 1), values + count);
  const Verb* chosen = arguments.empty() ? nullptr : find_verb(arguments.front());
  if (!arguments.empty() && chosen == nullptr && arguments.front().rfind('-', 0) != 0) {
    return complain(ExitCode::bad_usage, unknown_verb(arguments.front()));
  }
  if (chosen != nullptr) {
    if (const std::string complaint = unknown_option(*chosen, arguments); !complaint.empty())
      return complain(ExitCode::bad_usage, complaint);
  }

  CLI::App app(introduction, "tradeoff");
  app.require_subcommand(0, 1);
  app.footer(help_ending);
  app.set_version_flag("--version", "tradeoff " TRADEOFF_VERSION);
  std::list<Command> commands;
  for (const Verb& verb : verbs()) {
    Command& command = commands.emplace_back();
    command.verb = &verb;
    command.build(app);
  }
  try {
    app.parse(count, values);
  } catch (const CLI::CallForHelp&) {
    write_out(app.help() + "\n");
    return ExitCode::done;
  } catch (const CLI::CallForVersion&) {
    write_out("tradeoff " TRADEOFF_VERSION "\n");
    return ExitCode::done;
  } catch (const CLI::ParseError& error) {
    const std::string whose = chosen == nullptr ? "" : std::string(chosen->name) + " ";
    return complain(ExitCode::bad_usage, error.what() + std::string("; see tradeoff ") + whose + "--help");
  }
  for (Command& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  write_error(app.help() + "\n");
  return ExitCode::bad_usage;
}

int run_or_complain(int count, char** values) {
  reserve_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);  // a reader that has gone is an error of write, with a message and an exit code
  std::signal(SIGXFSZ, SIG_IGN);  // so is a file that may not grow any more
  try {
    return run(count, values);
  } catch (const std::bad_alloc&) {
    return complain(ExitCode::bad_input, "not enough memory");
  } catch (const std::exception& error) {  // InputError and OutputError among them
    return complain(ExitCode::bad_input, error.what());
  }
}

}  // namespace
}  // namespace tradeoff::cli

int main(int count, char** values) {
  const auto run = [&] { return tradeoff::cli::run_or_complain(count, values); };
  // A library that was loaded with us may have changed it.
  return tradeoff::numeric::arithmetic_is_usual() ? run() : tradeoff::numeric::in_usual_arithmetic(run);
}
