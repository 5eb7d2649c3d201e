// SPDX-License-Identifier: Apache-2.0
#include "plan/vocabulary.h"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <utility>

#include "plan/neighbours.h"

namespace tradeoff::detail {
namespace {

/// The properties that every word must have, because other code relies on them.
void check_word(const Word& word) {
  constexpr std::size_t most_parameters = 31;  // the parser keeps one bit per parameter
  const auto refuse = [&](const char* why) { throw std::invalid_argument("vocabulary: " + std::string(word.name) + " " + why); };
  if (word.name.empty() || word.meaning.empty()) refuse("needs a name and a meaning");
  if (word.parameters.size() > most_parameters) refuse("has more than 31 parameters");
  constexpr double largest_whole = 0x1p53;  // beyond, not every whole number is a double
  for (const Parameter& one : word.parameters)
    if (one.kind == Kind::integer && !(one.range.least >= 0 && one.range.most <= largest_whole)) refuse("has an integer without a range");
  for (const Parameter& one : word.parameters)
    if ((one.kind == Kind::choice) != !one.choices.empty()) refuse("needs `choices` for a choice, and only for one");
  if ((word.role == Role::source) != (word.make != nullptr)) refuse("needs `make` if it is a source, and only then");
  if ((word.role == Role::tail) != (word.tail != nullptr)) refuse("needs `tail` if it is a tail, and only then");
  if ((word.role == Role::law) != (word.law != nullptr)) refuse("needs `law` if it is a law of runs, and only then");
  const int ways = (word.apply != nullptr ? 1 : 0) + (word.times != nullptr ? 1 : 0) + (word.expand != nullptr ? 1 : 0) +
                   (word.select != nullptr ? 1 : 0);
  if (ways != (word.role == Role::operation ? 1 : 0))
    refuse("needs `apply`, `times`, `expand` or `select` if it is an operator, and only then");
  const bool monotone =
      std::all_of(word.parameters.begin(), word.parameters.end(), [](const Parameter& one) { return one.effect.monotone; });
  if (monotone != (word.noise == nullptr)) refuse("needs `noise` if privacy is not monotone in a parameter, and only then");
}

/// Edit distance with swaps of adjacent letters, ignoring case. Names are cut to 40 characters; no known name is longer.
[[nodiscard]] std::size_t distance(std::string_view a, std::string_view b) {
  constexpr std::size_t longest = 40;
  a = a.substr(0, longest);
  b = b.substr(0, longest);
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  const auto same = [&](char c, char d) { return lower(c) == lower(d); };
  std::array<std::array<std::size_t, longest + 1>, longest + 1> table{};
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
        continue;
      }
      const std::size_t substituted = table[i - 1][j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, substituted});
      const bool swapped = i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]);
      if (swapped) table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
    }
  }
  return table[a.size()][b.size()];
}

/// What other libraries call arguments and options, and what they are called here. Synonyms of words stand in their rows.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> synonyms{{
    {"noise_multiplier", "sigma"},
    {"std", "sigma"},
    {"stddev", "sigma"},
    {"sample_rate", "rate"},
    {"sampling_rate", "rate"},
    {"q", "rate"},
    {"steps", "times"},
}};

[[nodiscard]] std::string usage_of_form(const Word& word, int form) {
  std::string text(word.name);
  text += '(';
  for (const Parameter& parameter : word.parameters) {
    if (parameter.form != 0 && parameter.form != form) continue;
    if (text.back() != '(') text += ", ";
    const bool in_brackets = parameter.optional && parameter.form == 0;
    text.append(in_brackets ? "[" : "").append(parameter.name);
    if (!parameter.fallback.empty()) text.append("=").append(parameter.fallback);
    if (in_brackets) text += ']';
  }
  return text += ')';
}

}  // namespace

Vocabulary::Vocabulary(std::vector<Word> words) : words_(std::move(words)) {
  for (const Word& word : words_) {
    check_word(word);
    if (find(word.role, word.name) != &word) throw std::invalid_argument("vocabulary: " + std::string(word.name) + " is there already");
  }
}

Vocabulary Vocabulary::with(Word word) const {
  std::vector<Word> words = words_;
  words.push_back(std::move(word));
  return Vocabulary(std::move(words));
}

const Word* Vocabulary::find(Role role, std::string_view name) const {
  for (const Word& word : words_) {
    if (word.role == role && word.name == name) return &word;
  }
  return nullptr;
}

bool holds_plans(const Word& word) {
  return std::any_of(word.parameters.begin(), word.parameters.end(),
                     [](const Parameter& parameter) { return parameter.kind == Kind::plans || parameter.kind == Kind::components; });
}

const Parameter* find_parameter(const Word& word, std::string_view name) {
  for (const Parameter& parameter : word.parameters) {
    if (parameter.name == name) return &parameter;
  }
  return nullptr;
}

std::vector<std::string_view> choices_of(const Parameter& parameter) {
  std::vector<std::string_view> words;
  for (std::string_view rest = parameter.choices; !rest.empty();) {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    words.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return words;
}

std::string relations_of(const Word& word) {
  std::string text;
  for (std::size_t i = 0; i < word.neighbours.size(); ++i)
    text.append(i == 0 ? "" : i + 1 < word.neighbours.size() ? ", " : " or ").append(to_word(word.neighbours[i]));
  return text;
}

bool default_holds(const Word& word, const Call& call, const Parameter& parameter) {
  if (parameter.fallback.empty()) return false;
  return std::none_of(call.arguments.begin(), call.arguments.end(), [&](const Argument& argument) {
    const Parameter* const given = find_parameter(word, argument.name);
    return given != nullptr && (given == &parameter || (parameter.form != 0 && given->form != 0 && given->form != parameter.form));
  });
}

std::string usage(const Word& word) {
  if (word.role == Role::tail && word.parameters.empty()) return std::string(word.name);
  int forms = 0;
  for (const Parameter& parameter : word.parameters) forms = std::max(forms, parameter.form);
  std::string text = usage_of_form(word, forms == 0 ? 0 : 1);
  for (int form = 2; form <= forms; ++form) text.append(" or ").append(usage_of_form(word, form));
  return text;
}

std::string_view nearest_name(std::string_view misspelt, std::span<const std::string_view> names) {
  for (const auto& [written, meant] : synonyms) {
    if (written == misspelt && std::find(names.begin(), names.end(), meant) != names.end()) return meant;
  }
  constexpr std::size_t shortest = 2, longest = 40, shortest_beginning = 3;
  if (misspelt.size() < shortest || misspelt.size() > longest) return {};
  std::string_view nearest;
  std::size_t fewest = std::max<std::size_t>(1, misspelt.size() / 3) + 1;
  for (const std::string_view name : names) {
    const std::size_t edits = distance(misspelt, name);
    if (edits < fewest) {
      fewest = edits;
      nearest = name;
    }
  }
  if (!nearest.empty() || misspelt.size() < shortest_beginning) return nearest;
  for (const std::string_view name : names) {
    if (name.starts_with(misspelt)) return name;
  }
  return {};
}

}  // namespace tradeoff::detail
