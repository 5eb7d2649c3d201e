// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "figures/figures.h"
#include "output_file.h"
#include "plan/did_you_mean.h"
#include "progress.h"
#include "report/json.h"
#include "report/svg.h"
#include "streams.h"
#include "tradeoff/error.h"
#include "verb.h"

namespace tradeoff::detail::cli {
namespace {

std::vector<report::Recipe> chosen(const std::vector<std::string>& names) {
  if (names.empty()) return report::recipes();
  std::vector<report::Recipe> found;
  for (const std::string& name : names) {
    const auto& known = report::recipes();
    const auto recipe = std::find_if(known.begin(), known.end(), [&name](const report::Recipe& one) { return one.name == name; });
    if (recipe == known.end()) {
      throw DomainError("figures: there is no figure '" + name.substr(0, 40) + "'" + did_you_mean(name, names_of_figures()) +
                        "; tradeoff figures --list lists them");
    }
    found.push_back(*recipe);
  }
  return found;
}

std::string list_of(const std::vector<report::Recipe>& shown, bool json) {
  report::JsonWriter out;
  std::string text;
  out.begin_array();
  for (const report::Recipe& one : shown) {
    out.begin_object().key("name").text(one.name).key("title").text(one.title).key("source").text(one.source);
    out.key("shows").text(one.shows).end_object();
    text += std::string(one.name) + std::string(one.name.size() < 24 ? 24 - one.name.size() : 1, ' ') + std::string(one.title) + "\n";
  }
  return json ? out.end_array().str() + "\n" : text;
}

}  // namespace

std::vector<std::string_view> names_of_figures() {
  std::vector<std::string_view> names;
  for (const report::Recipe& one : report::recipes()) names.emplace_back(one.name);
  return names;
}

ExitCode run_figures(const Verb&, const Options& options) {
  const std::vector<report::Recipe> shown = chosen(options.further);
  if (options.find("list") != nullptr) {
    write_out(list_of(shown, options.json));
    return ExitCode::done;
  }
  const std::string* given = options.find("out");
  const std::string directory = given == nullptr ? "figures" : *given;
  make_directory(directory);
  std::vector<std::string> files;
  for (const report::Recipe& one : shown) {
    Progress::report(files.size(), shown.size());
    files.push_back(directory + "/" + std::string(one.name) + ".svg");
    write_file(files.back(), report::to_svg(report::draw(one)));
    if (!options.json && !options.quiet) write_out(files.back() + "\n");
  }
  if (options.further.empty()) {  // the page shows all figures, so it is written only when all are drawn
    files.push_back(directory + "/README.md");
    write_file(files.back(), report::gallery(shown));
    if (!options.json && !options.quiet) write_out(files.back() + "\n");
  }
  if (options.json) {
    report::JsonWriter out;
    out.begin_object().key("files").begin_array();
    for (const std::string& file : files) out.text(file);
    write_out(out.end_array().end_object().str() + "\n");
  }
  return ExitCode::done;
}

}  // namespace tradeoff::detail::cli
