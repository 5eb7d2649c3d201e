// SPDX-License-Identifier: Apache-2.0
#include "command_line.h"

#include <CLI/CLI.hpp>
#include <cctype>
#include <filesystem>
#include <list>
#include <new>
#include <optional>
#include <utility>

#include "ask/request.h"
#include "help.h"
#include "numeric/floating_point_guard.h"
#include "plan/did_you_mean.h"
#include "progress.h"
#include "report/caret.h"
#include "report/json.h"
#include "report/label.h"
#include "streams.h"
#include "system.h"
#include "tradeoff/error.h"
#include "tradeoff/version.h"
#include "verb.h"

namespace tradeoff::detail::cli {
namespace {

/// An error: its kind as in the answers of `query`, and the offset in the plan, if it is about a place in it.
struct Fault {
  std::string_view kind;
  std::string message;
  std::optional<std::size_t> at = {};
};

/// Prints an error as text on standard error; with --json also as JSON on standard output, where answers are expected.
ExitCode complain(ExitCode code, bool json, const Fault& fault, const std::string& more = {}) {
  write_error("tradeoff: " + report::printable_lines(fault.message) + "\n" + report::printable_lines(more));
  if (json) {
    report::JsonWriter out;
    out.begin_object().key("error").begin_object().key("kind").text(fault.kind).key("message").text(fault.message);
    if (fault.at) out.key("at").integer(*fault.at);
    write_out(out.end_object().end_object().str() + "\n");
  }
  return code;
}

/// The error text if the word is not one of the choices of the option; empty otherwise.
std::string complaint_about(const Option& option, const std::string& given) {
  std::string known;
  for (const std::string_view choice : option.choices) {
    if (given == choice) return {};
    known.append(known.empty() ? "" : ", ").append(choice);
  }
  return "'" + given.substr(0, 40) + "' is not one of " + known;
}

/// Whether the argument is the name of an existing file. A file is read only if it is written as @file.
bool names_a_file(const std::string& argument) {
  std::error_code ignored;
  return !argument.empty() && argument.front() != '@' && std::filesystem::is_regular_file(argument, ignored);
}

/// Whether the argument is written like the name of a file: plan.txt, plans/survey.
bool looks_like_a_file(std::string_view argument) {
  return !argument.starts_with('@') && argument.find_first_of("./") != std::string_view::npos &&
         argument.find_first_of("()|;#=\n ") == std::string_view::npos;
}

/// Whether the plan has more than blanks and comments.
bool has_words(std::string_view plan) {
  for (std::size_t at = 0; (at = plan.find_first_not_of(" \t\r\n;", at)) != std::string_view::npos; at = plan.find('\n', at))
    if (plan[at] != '#') return true;
  return false;
}

/// One verb as a CLI11 application, and the arguments typed for it.
struct Command {
  const Verb* verb = nullptr;
  CLI::App* app = nullptr;
  Options options;
  std::string plan_argument;                               // as typed: a plan, @file or -
  std::list<std::pair<const Option*, std::string>> typed;  // a list, because CLI11 writes through the addresses of its elements

  void add(std::span<const Option> known) {
    for (const Option& option : known) {
      auto& slot = typed.emplace_back(&option, "");
      const std::string names = "--" + std::string(option.name) + (option.alias.empty() ? "" : ",--" + std::string(option.alias));
      if (option.is_flag) {
        app->add_flag(names);
        continue;
      }
      if (option.is_repeatable) {
        app->add_option(names, options.further)->type_name(std::string(option.placeholder))->allow_extra_args(false);
        continue;
      }
      auto* added = app->add_option(names, slot.second);
      added->type_name(std::string(option.placeholder))->required(option.required);
      if (!option.choices.empty()) added->check([&option](const std::string& given) { return complaint_about(option, given); });
    }
  }

  void build(CLI::App& root) {
    app = root.add_subcommand(std::string(verb->name));
    if (verb->takes_plan) app->add_option("plan", options.plan)->required(!verb->plan_may_be_absent);
    if (!verb->further.empty()) {
      app->add_option(std::string(verb->further.substr(0, verb->further.find(':'))), options.further);
    }
    add(verb->options);
    if (verb->takes_plan) add(plan_options());
    app->add_flag("--json", options.json);
    app->add_flag("--quiet", options.quiet);
  }

  [[nodiscard]] bool given(const Option& option) const { return app->get_option("--" + std::string(option.name))->count() > 0; }

  ExitCode run() {
    for (auto& [option, value] : typed) {
      if (!option->is_repeatable && given(*option)) options.values.emplace_back(option, value);
    }
    plan_argument = options.plan;
    if (verb->takes_plan && !options.plan.empty()) options.plan = read_plan_argument(options.plan);
    const bool waits_for_typing = (verb->name == "query" || verb->name == "release") && ::isatty(STDIN_FILENO) != 0;
    const Progress progress(!options.quiet && !waits_for_typing);
    return run_guarded();
  }

  /// Runs the verb. An error in the plan is printed with a caret under its position.
  ExitCode run_guarded() {
    const auto refuse = [&](ExitCode code, const Fault& fault, const std::string& more = {}) {
      return complain(code, options.json, fault, more);
    };
    try {
      return verb->run(*verb, options);
    } catch (const ask::RequestError& error) {
      return refuse(ExitCode::bad_input, {error.kind(), with_wrapped_list(error.what())});
    } catch (const ParseError& error) {
      if (names_a_file(plan_argument))
        return refuse(ExitCode::bad_input, {"parse", "plan: " + plan_argument + " is a file; to read it, write @" + plan_argument});
      const std::string& plan = options.plan;
      if (looks_like_a_file(plan_argument))
        return refuse(ExitCode::bad_input,
                      {"parse", "plan: " + plan_argument + " is no plan, and there is no such file; a plan in a file is written @FILE"});
      return refuse(ExitCode::bad_input, {"parse", with_wrapped_list(std::string("plan: ") + error.what()), error.offset()},
                    has_words(plan) ? report::indented_point(plan, error.offset()) : "");
    } catch (const UnmetError& error) {
      return refuse(ExitCode::check_failed, {error.kind(), error.what()});
    } catch (const Error& error) {
      const bool lacks_budget = std::string_view(error.kind()) == "budget";  // of a ledger
      return refuse(lacks_budget ? ExitCode::check_failed : ExitCode::bad_input, {error.kind(), error.what()});
    }
  }
};

/// Every option name that the verb accepts.
std::vector<std::string_view> names_of_options(const Verb& verb) {
  std::vector<std::string_view> names = {"json", "quiet", "help"};
  const auto add = [&](std::span<const Option> options) {
    for (const Option& option : options) {
      names.push_back(option.name);
      if (!option.alias.empty()) names.push_back(option.alias);
    }
  };
  add(verb.options);
  if (verb.takes_plan) add(plan_options());
  return names;
}

/// The verb's own option that starts with this letter, if there is exactly one; empty otherwise.
std::string_view only_option_with(char letter, const Verb& verb) {
  std::string_view found;
  for (const Option& option : verb.options) {
    if (option.name.front() != letter) continue;
    if (!found.empty()) return {};
    found = option.name;
  }
  return found;
}

/// The error text for the first option that the verb does not have; empty if it has all of them.
std::string unknown_option(const Verb& verb, const std::vector<std::string>& arguments) {
  const std::vector<std::string_view> names = names_of_options(verb);
  const std::string whose(verb.name), ending = "; see tradeoff " + whose + " --help";
  bool is_value = false;  // true if the argument is the value of the option before it
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    const bool after_option = std::exchange(is_value, false);
    if (argument.size() == 2 && argument.front() == '-' && std::isalpha(static_cast<unsigned char>(argument[1])) != 0 && argument != "-h" &&
        !after_option) {
      const std::string_view meant = only_option_with(argument[1], verb);
      return whose + " has no option " + argument + (meant.empty() ? ending : "; did you mean '--" + std::string(meant) + "'?");
    }
    if (argument.rfind("--", 0) != 0) continue;
    is_value = argument.find('=') == std::string::npos;
    const std::string name = argument.substr(2, argument.find('=') - 2);
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::string meant = did_you_mean(name, names, "--");
    return whose + " has no option --" + name.substr(0, 40) + (meant.empty() ? ending : meant);
  }
  return {};
}

/// The errors of CLI11 in our own wording.
std::string complaint_of(const CLI::ParseError& error, const Verb* verb) {
  const std::string seen = verb == nullptr ? "tradeoff --help" : "tradeoff " + std::string(verb->name) + " --help";
  std::string message = error.what();
  const std::string unexpected = "The following argument was not expected: ";
  if (message.rfind(unexpected, 0) == 0) message = "unexpected argument '" + message.substr(unexpected.size()) + "'";
  if (verb != nullptr && message == "plan is required") message += ", for example: " + example_of(*verb);
  return message + "; see " + seen;
}

bool asks_for_json(const std::vector<std::string>& arguments) {
  return std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
}

ExitCode run(int count, char** values, const std::vector<std::string>& arguments) {
  const bool json = asks_for_json(arguments);
  const auto misused = [json](const std::string& message) { return complain(ExitCode::bad_usage, json, {"usage", message}); };
  const Verb* chosen = arguments.empty() ? nullptr : find_verb(arguments.front());
  if (!arguments.empty() && chosen == nullptr) {
    const std::string& first = arguments.front();
    if (first.rfind('-', 0) != 0) return misused(unknown_verb(first));
    if (first != "-h" && first != "--help" && first != "--version")
      return misused("a verb comes first, then its options: tradeoff epsilon --delta 1e-5 PLAN; see tradeoff --help");
  }
  if (chosen != nullptr) {
    if (const std::string complaint = unknown_option(*chosen, arguments); !complaint.empty()) return misused(complaint);
  }

  CLI::App app("", "tradeoff");
  app.allow_windows_style_options(false);  // there, too, /name is a file
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", "tradeoff " TRADEOFF_VERSION);
  Command command;  // only the chosen verb is described to CLI11: the others would cost more time than most answers
  command.verb = chosen;
  if (chosen != nullptr) command.build(app);
  try {
    app.parse(count, values);
  } catch (const CLI::CallForHelp&) {
    write_out(chosen == nullptr ? help() : help_of(*chosen));
    return ExitCode::done;
  } catch (const CLI::CallForVersion&) {
    write_out("tradeoff " TRADEOFF_VERSION "\n");
    return ExitCode::done;
  } catch (const CLI::ParseError& error) {
    return misused(complaint_of(error, chosen));
  }
  if (chosen != nullptr && command.app->parsed()) return command.run();
  write_error(help());
  return ExitCode::bad_usage;
}

int run_or_complain(int count, char** values) {
  reserve_standard_streams();
  prepare_standard_streams();
  const std::vector<std::string> arguments(values + std::min(count, 1), values + count);
  try {
    return run(count, values, arguments);
  } catch (const std::bad_alloc&) {
    return complain(ExitCode::bad_input, false, {"too_large", "not enough memory"});
  } catch (const OutputError& error) {  // standard output cannot be written
    return complain(ExitCode::bad_input, false, {"output", error.what()});
  } catch (const std::exception& error) {  // InputError among them
    return complain(ExitCode::bad_input, asks_for_json(arguments), {"input", error.what()});
  }
}

}  // namespace

int run_command_line(int count, char** values) {
  const auto run_it = [&] { return run_or_complain(count, values); };
  // A shared library loaded with the program may have changed the floating-point mode.
  return numeric::arithmetic_is_usual() ? run_it() : numeric::in_usual_arithmetic(run_it);
}

}  // namespace tradeoff::detail::cli
