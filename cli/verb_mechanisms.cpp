// SPDX-License-Identifier: Apache-2.0
#include "plan/vocabulary.h"
#include "report/claim.h"
#include "report/json.h"
#include "report/label.h"
#include "streams.h"
#include "tradeoff/version.h"
#include "verb.h"

namespace tradeoff::detail::cli {
namespace {

const char* to_word(Role role) {
  switch (role) {
    case Role::source:
      return "source";
    case Role::operation:
      return "operator";
    case Role::tail:
      return "tail";
    case Role::law:
      break;
  }
  return "law";
}

std::string to_json() {
  report::JsonWriter out;
  out.begin_array();
  for (const Word& word : vocabulary()) {
    out.begin_object().key("name").text(word.name).key("role").text(to_word(word.role)).key("usage").text(usage(word));
    out.key("meaning")
        .text(word.meaning)
        .key("neighbours")
        .text(word.neighbours.empty() ? "unstated" : relations_of(word))
        .key("arguments")
        .begin_array();
    for (const Parameter& parameter : word.parameters) {
      out.begin_object().key("name").text(parameter.name).key("meaning").text(parameter.meaning);
      if (!parameter.fallback.empty()) out.key("default").text(parameter.fallback);
      if (parameter.optional) out.key("optional").boolean(true);
      if (parameter.kind == Kind::choice) {
        out.key("choices").begin_array();
        for (const std::string_view choice : choices_of(parameter)) out.text(choice);
        out.end_array();
      }
      out.end_object();
    }
    out.end_array().end_object();
  }
  return out.end_array().str() + "\n";
}

/// Breaks a long usage between arguments, so that a line has at most 80 columns.
std::string folded(const std::string& usage) {
  constexpr std::size_t most = 78;
  std::string text;
  std::size_t column = 0;
  for (std::size_t from = 0; from < usage.size();) {
    const std::size_t comma = usage.find(", ", from);
    const std::string piece = usage.substr(from, comma == std::string::npos ? std::string::npos : comma + 2 - from);
    if (column + piece.size() > most && column > 0) {
      while (text.ends_with(' ')) text.pop_back();
      text += "\n         ";
      column = 9;
    }
    text += piece;
    column += piece.size();
    from += piece.size();
  }
  return text;
}

std::string to_lines(Role role, const char* title) {
  std::string text = std::string(title) + "\n";
  for (const Word& word : vocabulary()) {
    if (word.role != role) continue;
    const std::string neighbours = word.neighbours.empty() ? "" : " (" + relations_of(word) + " neighbours)";
    text += "  " + folded(usage(word)) + "\n      " + report::wrapped(std::string(word.meaning) + neighbours, 6, 6);
  }
  return text;
}

}  // namespace

ExitCode run_mechanisms(const Verb&, const Options& options) {
  write_out(options.json ? to_json()
                         : to_lines(Role::source, "What can be run on the data:") + "\n" +
                               to_lines(Role::operation, "What can follow it after a |:") + "\n" +
                               to_lines(Role::tail, "How a profile continues beyond its last point:") + "\n" +
                               to_lines(Role::law, "How many runs best_of selects from:"));
  return ExitCode::done;
}

ExitCode run_version(const Verb&, const Options& options) {
  write_out(options.json ? "{\"name\":\"tradeoff\",\"version\":\"" TRADEOFF_VERSION "\"}\n" : "tradeoff " TRADEOFF_VERSION "\n");
  return ExitCode::done;
}

}  // namespace tradeoff::detail::cli
