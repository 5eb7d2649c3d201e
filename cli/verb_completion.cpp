// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <vector>

#include "plan/did_you_mean.h"
#include "streams.h"
#include "tradeoff/error.h"
#include "verb.h"

// Prints shell completions from the tables that the help texts use.
namespace tradeoff::detail::cli {
namespace {

constexpr Option json_option = {"json", "", "answer in JSON", false, {}, {}, true};
constexpr Option quiet_option = {"quiet", "", "print only the bound", false, {}, {}, true};
constexpr Option help_option = {"help", "", "what the verb does, its options and examples", false, {}, {}, true};

std::vector<Option> options_of(const Verb& verb) {
  std::vector<Option> all(verb.options.begin(), verb.options.end());
  if (verb.takes_plan) all.insert(all.end(), plan_options().begin(), plan_options().end());
  all.insert(all.end(), {json_option, quiet_option, help_option});
  return all;
}

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) text.append(text.empty() ? "" : " ").append(word);
  return text;
}

std::string names_of_verbs() {
  std::string text;
  for (const Verb& verb : verbs()) text.append(text.empty() ? "" : " ").append(verb.name);
  return text;
}

/// The words that may follow a verb: theorems, figures, verbs, shells.
std::vector<std::string_view> words_after(const Verb& verb) {
  if (verb.name == "theorems") return names_of_theorems();
  if (verb.name == "figures") return names_of_figures();
  if (verb.name == "completion") return {"bash", "zsh", "fish"};
  std::vector<std::string_view> names;
  if (verb.name == "help")
    for (const Verb& one : verbs()) names.push_back(one.name);
  return names;
}

/// The text with a backslash before each of these characters.
std::string with_backslashes(std::string_view text, std::string_view special) {
  std::string safe;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) safe += '\\';
    safe += c;
  }
  return safe;
}

/// The text quoted as one shell word.
std::string shell_quoted(std::string_view text) {
  std::string safe;
  for (const char c : text) safe += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + safe + "'";
}

std::string for_bash() {
  std::string choices, options;
  for (const Verb& verb : verbs()) {
    std::string names;
    for (const Option& option : options_of(verb)) {
      names.append(names.empty() ? "--" : " --").append(option.name);
      if (!option.choices.empty())
        choices += "    " + std::string(verb.name) + "/--" + std::string(option.name) + ") words=" + shell_quoted(joined(option.choices)) +
                   " ;;\n";
    }
    const std::vector<std::string_view> after = words_after(verb);
    options += "    " + std::string(verb.name) + ") options=" + shell_quoted(names);
    if (!after.empty()) options += "; words=${words:-" + shell_quoted(joined(after)) + "}";
    options += " ;;\n";
  }
  return "# bash completion for tradeoff: source it, or put it into the directory of bash-completion.\n"
         "_tradeoff() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} before=${COMP_WORDS[COMP_CWORD - 1]} words='' options=''\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    words=" +
         shell_quoted(names_of_verbs() + " --help --version") +
         "\n  fi\n"
         "  case $verb/$before in\n" +
         choices +
         "  esac\n"
         "  case $verb in\n" +
         options +
         "  esac\n"
         "  if [ \"$COMP_CWORD\" -gt 1 ] && [ \"${current#-}\" != \"$current\" ]; then words=$options; fi\n"
         "  if [ \"${current#@}\" != \"$current\" ]; then\n"
         "    mapfile -t COMPREPLY < <(compgen -P @ -f -- \"${current#@}\")\n"
         "  else\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
         "  fi\n"
         "}\n"
         "complete -o default -F _tradeoff tradeoff\n";
}

std::string for_zsh() {
  std::string list, cases;
  for (const Verb& verb : verbs()) {
    list += "    " + shell_quoted(std::string(verb.name) + ":" + with_backslashes(verb.summary, ":\\")) + "\n";
    cases += "    " + std::string(verb.name) + ") _arguments";
    for (const Option& option : options_of(verb)) {
      std::string spec = option.is_repeatable ? "*--" : "--";
      spec.append(option.name).append("[").append(with_backslashes(option.help, "[]:\\")).append("]");
      if (!option.is_flag) {
        const std::string values =
            option.choices.empty() ? (option.placeholder == "FILE" ? "_files" : " ") : "(" + joined(option.choices) + ")";
        spec.append(":").append(option.placeholder).append(":").append(values);
      }
      cases += " " + shell_quoted(spec);
    }
    const std::vector<std::string_view> after = words_after(verb);
    cases += after.empty() ? " '*:words:_files' ;;\n" : " '*:words:(" + joined(after) + ")' ;;\n";
  }
  return "#compdef tradeoff\n"
         "# zsh completion for tradeoff: put it as _tradeoff into a directory of $fpath.\n"
         "_tradeoff() {\n"
         "  local -a known\n"
         "  known=(\n" +
         list +
         "  )\n"
         "  if (( CURRENT == 2 )); then\n"
         "    _describe verb known\n"
         "    return\n"
         "  fi\n"
         "  local verb=$words[2]\n"
         "  shift words\n"
         "  (( CURRENT-- ))\n"
         "  case $verb in\n" +
         cases +
         "  esac\n"
         "}\n"
         "_tradeoff \"$@\"\n";
}

std::string for_fish() {
  std::string text = "# fish completion for tradeoff: put it as tradeoff.fish into ~/.config/fish/completions.\n";
  for (const Verb& verb : verbs()) {
    text += "complete -c tradeoff -n __fish_use_subcommand -f -a " + std::string(verb.name) + " -d " +
            shell_quoted(with_backslashes(verb.summary, "\\")) + "\n";
    if (const std::vector<std::string_view> after = words_after(verb); !after.empty())
      text += "complete -c tradeoff -n '__fish_seen_subcommand_from " + std::string(verb.name) + "' -f -a " + shell_quoted(joined(after)) +
              "\n";
    for (const Option& option : options_of(verb)) {
      text += "complete -c tradeoff -n '__fish_seen_subcommand_from " + std::string(verb.name) + "' -l " + std::string(option.name);
      if (!option.choices.empty()) text += " -x -a " + shell_quoted(joined(option.choices));
      if (option.choices.empty() && !option.is_flag) text += option.placeholder == "FILE" ? " -r" : " -x";
      text += " -d " + shell_quoted(with_backslashes(option.help, "\\")) + "\n";
    }
  }
  return text;
}

}  // namespace

ExitCode run_completion(const Verb&, const Options& options) {
  constexpr std::array<std::string_view, 3> shells = {"bash", "zsh", "fish"};
  const std::string shell = options.further.size() == 1 ? options.further.front() : "";
  if (shell == "bash") {
    write_out(for_bash());
  } else if (shell == "zsh") {
    write_out(for_zsh());
  } else if (shell == "fish") {
    write_out(for_fish());
  } else {
    throw DomainError("completion: name one shell: bash, zsh or fish" + (shell.empty() ? "" : did_you_mean(shell, shells)));
  }
  return ExitCode::done;
}

}  // namespace tradeoff::detail::cli
