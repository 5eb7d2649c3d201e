// SPDX-License-Identifier: Apache-2.0
#include "plan/vocabulary.h"
#include "report/claim.h"
#include "report/json.h"
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
      break;
  }
  return "tail";
}

std::string to_json() {
  report::JsonWriter out;
  out.begin_array();
  for (const Word& word : vocabulary()) {
    out.begin_object().key("name").text(word.name).key("role").text(to_word(word.role)).key("usage").text(usage(word));
    out.key("meaning").text(word.meaning).key("neighbours").text(report::to_word(word.neighbours)).key("arguments").begin_array();
    for (const Parameter& parameter : word.parameters) {
      out.begin_object().key("name").text(parameter.name).key("meaning").text(parameter.meaning);
      if (!parameter.fallback.empty()) out.key("default").text(parameter.fallback);
      out.end_object();
    }
    out.end_array().end_object();
  }
  return out.end_array().str() + "\n";
}

std::string to_lines(Role role, const char* title) {
  std::string text = std::string(title) + "\n";
  for (const Word& word : vocabulary()) {
    if (word.role != role) continue;
    text += "  " + usage(word) + "\n      " + std::string(word.meaning);
    if (word.neighbours != Neighbours::unstated) text += std::string(" (") + report::to_word(word.neighbours) + " neighbours)";
    text += "\n";
  }
  return text;
}

}  // namespace

ExitCode run_mechanisms(const Verb&, const Options& options) {
  write_out(options.json ? to_json()
                         : to_lines(Role::source, "What can be run on the data:") + "\n" +
                               to_lines(Role::operation, "What can follow it after a |:") + "\n" +
                               to_lines(Role::tail, "How a profile continues beyond its last point:"));
  return ExitCode::done;
}

ExitCode run_version(const Verb&, const Options& options) {
  write_out(options.json ? "{\"name\":\"tradeoff\",\"version\":\"" TRADEOFF_VERSION "\"}\n" : "tradeoff " TRADEOFF_VERSION "\n");
  return ExitCode::done;
}

}  // namespace tradeoff::detail::cli
