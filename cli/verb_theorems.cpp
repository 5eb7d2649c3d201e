// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "page_text.h"
#include "plan/did_you_mean.h"
#include "report/json.h"
#include "report/label.h"
#include "streams.h"
#include "tradeoff/error.h"
#include "verb.h"

namespace tradeoff::detail::cli {
namespace {

/// A page of docs/theory: its id, its title, the source of the theorem, its statement and its assumptions. CMake fills the table from the
/// pages.
struct Theorem {
  std::string_view id;
  std::string_view title;
  std::string_view source;
  std::string_view statement;  ///< Markdown
};

constexpr Theorem theorems[] = {
#include "theorems.inc"
};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lower(std::string_view text) {
  std::string all(text);
  std::transform(all.begin(), all.end(), all.begin(), [](char c) { return lower(c); });
  return all;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether the text contains the word; a number at its end is not the beginning of a longer one.
bool contains(const std::string& text, const std::string& word) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool longer = is_digit(word.back()) && end < text.size() &&
                        (is_digit(text[end]) || (text[end] == '.' && end + 1 < text.size() && is_digit(text[end + 1])));
    if (!longer) return true;
  }
  return false;
}

/// Whether a source cites a statement: "theorem 7" is in "Theorems 6, 7, 8 and 11".
bool cites(const std::string& source, const std::string& word) {
  const std::size_t blank = word.find(' ');
  if (blank == std::string::npos || blank == 0 || blank + 1 >= word.size() || !is_digit(word[blank + 1])) return false;
  const std::string kind = word.substr(0, blank) + "s ", number = word.substr(blank + 1);
  for (std::size_t at = source.find(kind); at != std::string::npos; at = source.find(kind, at + 1)) {
    std::size_t end = at + kind.size();
    // The list of numbers ends at the first word that is neither a number nor "and".
    while (end < source.size()) {
      const std::size_t next = std::min(source.find(' ', end), source.size());
      const std::string item = source.substr(end, next - end);
      if (!is_digit(item.front()) && item != "and" && item.front() != '(') break;
      if (item.substr(0, item.find_first_not_of("0123456789.")) == number) return true;
      end = next + 1;
    }
  }
  return false;
}

/// The pages whose id, title or source contains every word, or all pages.
std::vector<Theorem> matching(const std::vector<std::string>& words) {
  std::vector<Theorem> found;
  for (const Theorem& theorem : theorems)
    if (words.size() == 1 && words.front() == theorem.id) return {theorem};
  for (const Theorem& theorem : theorems) {
    const std::string source = lower(theorem.source), shown = std::string(theorem.id) + "\n" + lower(theorem.title) + "\n" + source;
    const auto holds = [&](const std::string& given) {
      const std::string word = lower(given);
      return word.empty() || contains(shown, word) || cites(source, word);
    };
    if (std::all_of(words.begin(), words.end(), holds)) found.push_back(theorem);
  }
  return found;
}

/// Whether only the source of the theorem contains one of the words; then it is shown.
bool found_by_source(const Theorem& theorem, const std::vector<std::string>& words) {
  const std::string shown = std::string(theorem.id) + "\n" + lower(theorem.title);
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) { return shown.find(lower(word)) == std::string::npos; });
}

std::string to_json(const std::vector<Theorem>& shown) {
  report::JsonWriter out;
  out.begin_array();
  for (const Theorem& theorem : shown) {
    out.begin_object().key("id").text(theorem.id).key("title").text(theorem.title).key("source").text(theorem.source);
    if (shown.size() == 1) out.key("statement").text(theorem.statement);
    out.end_object();
  }
  return out.end_array().str() + "\n";
}

std::string to_lines(const std::vector<Theorem>& shown, const std::vector<std::string>& words) {
  std::size_t width = 0;
  for (const Theorem& theorem : shown) width = std::max(width, theorem.id.size());
  std::string text;
  for (const Theorem& theorem : shown) {
    text +=
        std::string(theorem.id) + std::string(width + 2 - theorem.id.size(), ' ') + report::wrapped(theorem.title, width + 2, width + 2);
    if (shown.size() > 1 && found_by_source(theorem, words)) text += "    " + report::wrapped(theorem.source, 4, 4);
    if (shown.size() == 1)
      text += "Source: " + report::wrapped(theorem.source, 8, 8) + "\n" + set_page(theorem.statement) + "Proof and rounding: theory/" +
              std::string(theorem.id) + ".md in the documentation\n";
  }
  return text;
}

}  // namespace

std::vector<std::string_view> names_of_theorems() {
  std::vector<std::string_view> ids;
  for (const Theorem& theorem : theorems) ids.push_back(theorem.id);
  return ids;
}

ExitCode run_theorems(const Verb&, const Options& options) {
  const std::vector<Theorem> shown = matching(options.further);
  if (shown.empty()) {
    throw DomainError("theorems: none has in its id, title or source '" + options.further.front().substr(0, 40) + "'" +
                      did_you_mean(options.further.front(), names_of_theorems()));
  }
  write_out(options.json ? to_json(shown) : to_lines(shown, options.further));
  return ExitCode::done;
}

}  // namespace tradeoff::detail::cli
