// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <vector>

#include "plan/did_you_mean.h"
#include "report/json.h"
#include "streams.h"
#include "tradeoff/error.h"
#include "verb.h"

namespace tradeoff::detail::cli {
namespace {

/// A page of docs/theory: its id, its title and the source of the theorem. CMake fills the table from the pages.
struct Theorem {
  std::string_view id;
  std::string_view title;
  std::string_view source;
};

constexpr Theorem theorems[] = {
#include "theorems.inc"
};

/// The pages whose id or title contains the word, or all pages.
std::vector<Theorem> matching(const std::vector<std::string>& words) {
  std::vector<Theorem> found;
  for (const Theorem& theorem : theorems) {
    const auto holds = [&theorem](const std::string& word) {
      return theorem.id.find(word) != std::string_view::npos || theorem.title.find(word) != std::string_view::npos;
    };
    if (std::all_of(words.begin(), words.end(), holds)) found.push_back(theorem);
  }
  return found;
}

std::string to_json(const std::vector<Theorem>& shown) {
  report::JsonWriter out;
  out.begin_array();
  for (const Theorem& theorem : shown)
    out.begin_object().key("id").text(theorem.id).key("title").text(theorem.title).key("source").text(theorem.source).end_object();
  return out.end_array().str() + "\n";
}

std::string to_lines(const std::vector<Theorem>& shown) {
  std::size_t width = 0;
  for (const Theorem& theorem : shown) width = std::max(width, theorem.id.size());
  std::string text;
  for (const Theorem& theorem : shown) {
    text += std::string(theorem.id) + std::string(width + 2 - theorem.id.size(), ' ') + std::string(theorem.title) + "\n";
    if (shown.size() == 1)
      text += "\nSource: " + std::string(theorem.source) + "\nStatement, proof and rounding: theory/" + std::string(theorem.id) +
              ".md in the documentation\n";
  }
  return text;
}

}  // namespace

ExitCode run_theorems(const Verb&, const Options& options) {
  const std::vector<Theorem> shown = matching(options.further);
  if (shown.empty()) {
    std::vector<std::string_view> ids;
    for (const Theorem& theorem : theorems) ids.push_back(theorem.id);
    throw DomainError("theorems: none is called '" + options.further.front().substr(0, 40) + "'" +
                      did_you_mean(options.further.front(), ids));
  }
  write_out(options.json ? to_json(shown) : to_lines(shown));
  return ExitCode::done;
}

}  // namespace tradeoff::detail::cli
