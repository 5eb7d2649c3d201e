// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "plan/vocabulary.h"
#include "streams.h"
#include "tradeoff/version.h"
#include "verb.h"

// Prints the manual page from the tables that the help texts use.
namespace tradeoff::detail::cli {
namespace {

/// Escapes text for roff: no text is read as a command, and hyphens can be copied.
std::string escaped(std::string_view text) {
  std::string safe;
  bool line_starts = true;
  for (const char c : text) {
    if (line_starts && (c == '.' || c == '\'')) safe += "\\&";
    line_starts = c == '\n';
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else if (c == '`') {
      safe += "\\(ga";
    } else if (c == '\'') {
      safe += "\\(aq";
    } else if (c == '^') {
      safe += "\\(ha";
    } else if (c == '~') {
      safe += "\\(ti";
    } else {
      safe += c;
    }
  }
  return safe;
}

/// The description of a verb, then its examples. Lines that start with spaces are kept as they are.
std::string manual_of(std::string_view manual) {
  std::string text;
  bool verbatim = false;
  for (std::size_t from = 0; from <= manual.size();) {
    const std::size_t end = std::min(manual.find('\n', from), manual.size());
    const std::string_view line = manual.substr(from, end - from);
    const bool indented = line.rfind("  ", 0) == 0;
    if (indented != verbatim) text += indented ? ".EX\n" : ".EE\n";
    verbatim = indented;
    text += line.empty() ? ".PP\n" : escaped(line) + "\n";
    from = end + 1;
  }
  return verbatim ? text + ".EE\n" : text;
}

std::string option_of(const Option& option) {
  std::string text = ".TP\n\\fB\\-\\-" + escaped(option.name) + "\\fR";
  if (!option.is_flag) text += " \\fI" + escaped(option.placeholder) + "\\fR";
  text += "\n" + escaped(option.help);
  if (!option.alias.empty()) text += "; also \\fB\\-\\-" + escaped(option.alias) + "\\fR";
  if (!option.choices.empty()) {
    text += " (one of";
    for (const std::string_view choice : option.choices) text += " \\fB" + escaped(choice) + "\\fR";
    text += ")";
  }
  return text + (option.required ? "; required\n" : "\n");
}

std::string section_of(const Verb& verb) {
  std::string text = ".SS \"tradeoff " + escaped(verb.name) + (verb.takes_plan ? " PLAN" : "") + "\"\n" + manual_of(verb.manual);
  for (const Option& option : verb.options) text += option_of(option);
  return text;
}

std::string words_of(Role role) {
  std::string text;
  for (const Word& word : vocabulary())
    if (word.role == role) text += ".TP\n\\fB" + escaped(usage(word)) + "\\fR\n" + escaped(word.meaning) + "\n";
  return text;
}

}  // namespace

ExitCode run_man(const Verb&, const Options&) {
  std::string text = ".TH TRADEOFF 1 \"\" \"tradeoff " TRADEOFF_VERSION
                     "\" \"User Commands\"\n"
                     ".SH NAME\ntradeoff \\- a differential\\-privacy accountant with proved bounds\n"
                     ".SH SYNOPSIS\n\\fBtradeoff\\fR \\fIVERB\\fR [\\fIOPTIONS\\fR] [\\fIPLAN\\fR]\n"
                     ".SH DESCRIPTION\nA plan states what is run on people\\(aqs data. Every answer about it is an interval that "
                     "contains the true value, rounding included. The end that may be claimed comes first. A plan is given as its text, as "
                     "\\fB@file\\fR, or as \\fB\\-\\fR "
                     "for standard input.\n"
                     ".SH \"OPTIONS OF EVERY VERB WITH A PLAN\"\n";
  for (const Option& option : plan_options()) text += option_of(option);
  text += ".TP\n\\fB\\-\\-json\\fR\nanswer in JSON\n.TP\n\\fB\\-\\-quiet\\fR\nprint only the bound\n";
  text += ".SH VERBS\n";
  for (const Verb& verb : verbs()) text += section_of(verb);
  text += ".SH \"SOURCES OF A PLAN\"\n" + words_of(Role::source) + ".SH \"OPERATORS OF A PLAN\"\n" + words_of(Role::operation);
  text +=
      ".SH \"EXIT STATUS\"\n.TP\n0\ndone\n.TP\n1\na check failed\n.TP\n2\nbad usage\n.TP\n3\nbad input\n.TP\n4\nundecided\n"
      ".SH ENVIRONMENT\nNo colours are used, so \\fBNO_COLOR\\fR changes nothing. Work that takes longer than a second shows a line on "
      "standard "
      "error if that is a terminal; \\fBTERM=dumb\\fR and \\fB\\-\\-quiet\\fR turn it off.\n";
  write_out(text);
  return ExitCode::done;
}

}  // namespace tradeoff::detail::cli
