// SPDX-License-Identifier: Apache-2.0
#include "mechanism/vocabulary.h"

#include <algorithm>
#include <array>
#include <limits>

namespace tradeoff {
namespace {

// One line a word. To add a mechanism to the language, add its line here; its mathematics is registered where analyze() looks.
[[nodiscard]] std::vector<Word> make_vocabulary() {
  using enum Role;
  using enum Kind;
  const Parameter sensitivity{"sensitivity", number, "1", "how far one record can move the exact answer"};
  const Parameter steps{"sensitivity", integer, "1", "how far one record can move the exact answer, in steps of the grid"};
  const auto add_remove = Neighbours::add_remove;
  const auto replace_one = Neighbours::replace_one;
  return {
      {source, "gaussian", {{"sigma", number, "", "standard deviation of the noise"}, sensitivity}, "Gaussian noise, l2 sensitivity"},
      {source, "laplace", {{"scale", number, "", "scale of the noise"}, sensitivity}, "Laplace noise, l1 sensitivity"},
      {source, "truncated_laplace",
       {{"scale", number, "", "scale of the noise"}, {"bound", number, "", "largest absolute value of the noise"}, sensitivity},
       "Laplace noise restricted to [-bound, bound]"},
      {source, "discrete_gaussian", {{"sigma", number, "", "sigma of the noise, in steps of the grid"}, steps},
       "Gaussian noise on the integers"},
      {source, "discrete_laplace", {{"scale", number, "", "scale of the noise, in steps of the grid"}, steps},
       "Laplace noise on the integers"},
      {source, "truncated_discrete_laplace",
       {{"scale", number, "", "scale of the noise, in steps of the grid"},
        {"bound", integer, "", "largest absolute value of the noise"},
        steps},
       "Laplace noise on the integers -bound..bound"},
      {source, "randomized_response",
       {{"epsilon", number, "", "logarithm of the odds of the truth"}, {"choices", integer, "2", "number of possible answers"}},
       "k-ary randomised response"},
      {source, "gdp", {{"mu", number, "", "the mu of Gaussian differential privacy"}}, "anything known only to be mu-GDP"},
      {source, "dp", {{"epsilon", number, "", "the epsilon of the guarantee"}, {"delta", number, "0", "the delta of the guarantee"}},
       "anything known only to be (epsilon, delta)-DP"},
      {source, "constraints", {{"points", pairs, "", "list of (epsilon, delta)"}},
       "anything that satisfies all of these (epsilon, delta) at once"},
      {source, "mixture", {{"components", components, "", "list of (weight, source)"}},
       "one of the sources, chosen by weight, the choice observed"},
      {source, "pair", {{"p", numbers, "", "probabilities with the record"}, {"q", numbers, "", "probabilities without the record"}},
       "a finite pair of distributions"},
 
           {source, "sqrt_log_family",
       {{"a", number, "", "the factor a"}, {"b", number, "", "the factor b"}, {"sigma", number, "", "the noise"}},
       "known only through sigma = a/epsilon * sqrt(log(b/delta))"},
      {source, "log_family", {{"c", number, "", "the factor c"}, {"sigma", number, "", "the noise"}},
       "known only through sigma = -c log(delta)/epsilon"},
      {source, "icea", {{"users", integer, "", "number of users"}, {"messages", integer, "", "messages of each user"}},
       "the invisibility cloak encoder of the shuffle model"},
      {source, "profile",
       {{"file", text, "", "table of epsilon, delta", 1},
        {"points", pairs, "", "list of (epsilon, delta)", 2},
        {"tail", tail_word, "unknown", "what is known beyond the last point"}},
       "a privacy profile of your own"},
      {source, "curve", {{"file", text, "", "table of alpha, beta", 1}, {"points", pairs, "", "list of (alpha, beta)", 2}},
       "a trade-off function of your own"},

      {operation, "poisson", {{"rate", number, "", "probability that a record takes part"}},
       "each record takes part independently", add_remove},
      {operation, "sample",
       {{"size", integer, "", "records drawn", 1}, {"of", integer, "", "records there are", 1}, {"rate", number, "", "size / of", 2}},
       "a fixed number of records, drawn without replacement", replace_one},
      {operation, "sample_with_replacement", {{"draws", integer, "", "number of draws"}, {"of", integer, "", "records there are"}},
       "a fixed number of draws with replacement", replace_one},
      {operation, "repeat", {{"times", integer, "", "how often it is run"}}, "run again on the same data with fresh randomness"},
      {operation, "group", {{"size", integer, "", "records that change together"}}, "protection of a group of records"},
      {operation, "rectify",
       {{"epsilon", number, "", "epsilon of the added noise"}, {"low", number, "", "least value"}, {"high", number, "", "largest value"}},
       "clip to [low, high], then add Laplace((high - low)/epsilon)"},
      {operation, "refine", {}, "the tightest symmetric profile that the given one implies"},

      {tail, "unknown", {}, "nothing is known: delta may stay at its last value"},
      {tail, "zero", {}, "delta is zero beyond the last point"},
      {tail, "gaussian", {{"k", number, "", "factor of the tail"}, {"s", number, "", "width of the tail"}},
       "delta(epsilon) <= k exp(-epsilon^2 / (2 s^2)) beyond the last point"},
  };
}

/// Edit distance with swaps of neighbours, on names cut to what any known name could be near to.
[[nodiscard]] std::size_t distance(std::string_view a, std::string_view b) {
  constexpr std::size_t longest = 40;
  a = a.substr(0, longest);
  b = b.substr(0, longest);
  std::array<std::array<std::size_t, longest + 1>, longest + 1> table{};
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
        continue;
      }
      const std::size_t substituted = table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, substituted});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
    }
  }
  return table[a.size()][b.size()];
}

[[nodiscard]] std::string usage_of_form(const Word& word, int form) {
  std::string text(word.name);
  text += '(';
  for (const Parameter& parameter : word.parameters) {
    if (parameter.form != 0 && parameter.form != form) continue;
    if (text.back() != '(') text += ", ";
    text += parameter.name;
    if (!parameter.fallback.empty()) text.append("=").append(parameter.fallback);
  }
  return text += ')';
}

}  // namespace

std::span<const Word> vocabulary() {
  static const std::vector<Word> words = make_vocabulary();
  return words;
}

const Word* find_word(Role role, std::string_view name) {
  for (const Word& word : vocabulary()) {
    if (word.role == role && word.name == name) return &word;
  }
  return nullptr;
}

const Parameter* find_parameter(const Word& word, std::string_view name) {
  for (const Parameter& parameter : word.parameters) {
    if (parameter.name == name) return &parameter;
  }
  return nullptr;
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
  std::string_view nearest;
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (const std::string_view name : names) {
    const std::size_t edits = distance(misspelt, name);
    if (edits < fewest) {
      fewest = edits;
      nearest = name;
    }
  }
  return nearest;
}

}  // namespace tradeoff
