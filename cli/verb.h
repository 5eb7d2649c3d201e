// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The commands of the program. A new one needs a file verb_<name>.cpp, a declaration here and an entry in the table of verbs.cpp. A command
// that asks one question of src/ask under the same name needs the entry only.
namespace tradeoff::detail::cli {

/// Exit codes.
enum ExitCode : int {
  done = 0,
  check_failed = 1,
  bad_usage = 2,
  bad_input = 3,
  undecided = 4,
};

/// An option with a value: `--delta D`.
struct Option {
  std::string_view name;
  std::string_view placeholder;
  std::string_view help;
  bool required = false;
  std::string_view field = {};                     ///< the request field it sets, if its name differs from the option
  std::span<const std::string_view> choices = {};  ///< the words allowed, if it is not a number
  bool is_flag = false;                            ///< it has no value
  bool is_repeatable = false;                      ///< each use adds a word to `further`
  std::string_view alias = {};                     ///< another name that is accepted
};

/// The arguments typed after the verb.
struct Options {
  std::string plan;  ///< the text of the plan, wherever it was read from
  bool json = false;
  bool quiet = false;
  std::vector<std::pair<const Option*, std::string>> values;  ///< options that were given
  std::vector<std::string> further;                           ///< words after the plan, for verbs that accept them

  [[nodiscard]] const std::string* find(std::string_view name) const {
    for (const auto& [option, value] : values) {
      if (option->name == name) return &value;
    }
    return nullptr;
  }
};

/// The groups of the list of verbs.
enum class Group { ask, calibrate, publish, theory, tools };

struct Verb {
  Group group;
  std::string_view name;
  std::string_view summary;  ///< one line, for the list of verbs
  std::string_view manual;   ///< what it does, then examples
  bool takes_plan = true;
  std::span<const Option> options = {};
  ExitCode (*run)(const Verb&, const Options&) = nullptr;
  std::string_view further = {};    ///< the meaning of the words after the plan: "PLANS: more plans to compare with"
  bool plan_may_be_absent = false;  ///< the plan is optional
};

[[nodiscard]] std::span<const Verb> verbs();
/// Options of every verb that takes a plan: neighbours, direction, relative.
[[nodiscard]] std::span<const Option> plan_options();

/// The ids of all theorems, the names of all figures: words that may follow a verb.
[[nodiscard]] std::vector<std::string_view> names_of_theorems();
[[nodiscard]] std::vector<std::string_view> names_of_figures();

[[nodiscard]] ExitCode run_ask(const Verb& verb, const Options& options);
[[nodiscard]] ExitCode run_audit(const Verb& verb, const Options& options);
[[nodiscard]] ExitCode run_certify(const Verb& verb, const Options& options);
[[nodiscard]] ExitCode run_compare(const Verb& verb, const Options& options);
[[nodiscard]] ExitCode run_completion(const Verb& verb, const Options& options);
[[nodiscard]] ExitCode run_curve(const Verb& verb, const Options& options);
[[nodiscard]] ExitCode run_explain(const Verb& verb, const Options& options);
[[nodiscard]] ExitCode run_figures(const Verb& verb, const Options& options);
[[nodiscard]] ExitCode run_help(const Verb& verb, const Options& options);
[[nodiscard]] ExitCode run_ledger(const Verb& verb, const Options& options);
[[nodiscard]] ExitCode run_limit(const Verb& verb, const Options& options);
[[nodiscard]] ExitCode run_man(const Verb& verb, const Options& options);
[[nodiscard]] ExitCode run_mechanisms(const Verb& verb, const Options& options);
[[nodiscard]] ExitCode run_opinion(const Verb& verb, const Options& options);
[[nodiscard]] ExitCode run_order(const Verb& verb, const Options& options);
[[nodiscard]] ExitCode run_query(const Verb& verb, const Options& options);
[[nodiscard]] ExitCode run_release(const Verb& verb, const Options& options);
[[nodiscard]] ExitCode run_report(const Verb& verb, const Options& options);
[[nodiscard]] ExitCode run_sgd(const Verb& verb, const Options& options);
[[nodiscard]] ExitCode run_theorems(const Verb& verb, const Options& options);
[[nodiscard]] ExitCode run_tour(const Verb& verb, const Options& options);
[[nodiscard]] ExitCode run_train(const Verb& verb, const Options& options);
[[nodiscard]] ExitCode run_verify(const Verb& verb, const Options& options);
[[nodiscard]] ExitCode run_version(const Verb& verb, const Options& options);

}  // namespace tradeoff::detail::cli
