// SPDX-License-Identifier: Apache-2.0
#include "plan/vocabulary.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tradeoff {
namespace {

// One entry a word. To add a mechanism to the language, add its entry here; its mathematics is registered where analyze() looks.
[[nodiscard]] std::vector<Word> make_vocabulary() {
  using enum Kind;
  using Parameters = std::vector<Parameter>;
  const auto source = [](auto name, auto meaning, Parameters parameters) {
    return Word{Role::source, name, meaning, std::move(parameters)};
  };
  // A valid norm for vectors is a theorem of its own: integer Gaussian noise with an l2 sensitivity would under-report. [discrete-gaussian]
  const auto noise = [](auto name, auto meaning, auto norm, Parameters parameters) {
    return Word{Role::source, name, meaning, std::move(parameters), Neighbours::unstated, norm};
  };
  const auto operation = [](auto name, auto meaning, Parameters parameters, Neighbours neighbours = Neighbours::unstated) {
    return Word{Role::operation, name, meaning, std::move(parameters), neighbours};
  };
  const auto tail = [](auto name, auto meaning, Parameters parameters) { return Word{Role::tail, name, meaning, std::move(parameters)}; };
  const Parameter sensitivity{"sensitivity", number, "how far one record can move the exact answer", "1"};
  const Parameter steps{"sensitivity", integer, "how far one record can move the exact answer, in steps of the grid", "1"};

  return {
      noise("gaussian", "Gaussian noise, l2 sensitivity", "l2", {{"sigma", number, "standard deviation of the noise"}, sensitivity}),
      noise("laplace", "Laplace noise, l1 sensitivity", "l1", {{"scale", number, "scale of the noise"}, sensitivity}),
      source("truncated_laplace", "Laplace noise restricted to [-bound, bound], on a single value",
             {{"scale", number, "scale of the noise"}, {"bound", number, "largest absolute value of the noise"}, sensitivity}),
      noise("discrete_gaussian", "Gaussian noise on the integers, l1 sensitivity", "l1",
            {{"sigma", number, "sigma of the noise, in steps of the grid"}, steps}),
      noise("discrete_laplace", "Laplace noise on the integers, l1 sensitivity", "l1",
            {{"scale", number, "scale of the noise, in steps of the grid"}, steps}),
      source("truncated_discrete_laplace", "Laplace noise on the integers -bound..bound, on a single value",
             {{"scale", number, "scale of the noise, in steps of the grid"},
              {"bound", integer, "largest absolute value of the noise"},
              steps}),
      source("randomized_response", "k-ary randomised response",
             {{"epsilon", number, "log of how much likelier the truth is than any other answer"},
              {"choices", integer, "number of possible answers", "2"}}),
      source("gdp", "anything known only to be mu-GDP", {{"mu", number, "the mu of Gaussian differential privacy"}}),
      source("dp", "anything known only to be (epsilon, delta)-DP",
             {{"epsilon", number, "the epsilon of the guarantee"}, {"delta", number, "the delta of the guarantee", "0"}}),
      source("constraints", "anything that satisfies all of these (epsilon, delta) at once",
             {{"points", pairs, "list of (epsilon, delta)"}}),
      source("mixture", "one of the sources, chosen by weight, the choice observed",
             {{"components", components, "list of (weight, source)"}}),
      source("strongest", "one mechanism for which each of these is a guarantee: the larger trade-off function",
             {{"guarantees", plans, "list of sources"}}),
      source("weakest", "one of these mechanisms, it is not known which: the smaller trade-off function, made convex",
             {{"mechanisms", plans, "list of sources"}}),
      source("pair", "a finite pair of distributions",
             {{"p", numbers, "probabilities with the record"}, {"q", numbers, "probabilities without the record"}}),
      source("rdp", "anything known only by Renyi divergences of some orders (lossy)",
             {{"points", pairs, "list of (order, divergence), each order above 1"}}),
      source("zcdp", "anything known only to be rho-zCDP (lossy)", {{"rho", number, "the rho of zero-concentrated privacy"}}),
      source("sqrt_log_family", "known only through sigma = a/epsilon * sqrt(log(b/delta))",
             {{"a", number, "the factor a"}, {"b", number, "the factor b"}, {"sigma", number, "the noise"}}),
      source("log_family", "known only through sigma = -c log(delta)/epsilon",
             {{"c", number, "the factor c"}, {"sigma", number, "the noise"}}),
      source("icea", "the invisibility cloak encoder of the shuffle model, for changes that keep the sum of all inputs",
             {{"users", integer, "number of users"}, {"messages", integer, "messages of each user"}}),
      source("profile", "a privacy profile of your own",
             {{"file", text, "table of epsilon, delta", "", 1},
              {"points", pairs, "list of (epsilon, delta)", "", 2},
              {"tail", tail_word, "what is known beyond the last point", "unknown"}}),
      source("curve", "a trade-off function of your own",
             {{"file", text, "table of alpha, beta", "", 1}, {"points", pairs, "list of (alpha, beta)", "", 2}}),

      operation("poisson", "each record takes part independently", {{"rate", number, "probability that a record takes part"}},
                Neighbours::add_remove),
      operation(
          "sample", "a fixed number of records, drawn without replacement",
          {{"size", integer, "records drawn", "", 1}, {"of", integer, "records there are", "", 1}, {"rate", number, "size / of", "", 2}},
          Neighbours::replace_one),
      operation("sample_with_replacement", "a fixed number of draws with replacement",
                {{"draws", integer, "number of draws"}, {"of", integer, "records there are"}}, Neighbours::replace_one),
      operation("repeat", "run again on the same data with fresh randomness", {{"times", integer, "how often it is run"}}),
      operation("group", "protection of a group of records; comes after any sampling", {{"size", integer, "records that change together"}}),
      operation("rectify", "clip to [low, high], then add Laplace((high - low)/epsilon)",
                {{"epsilon", number, "epsilon of the added noise"}, {"low", number, "least value"}, {"high", number, "largest value"}}),
      operation("invert", "the roles of both data sets exchanged: the inverse of the trade-off function", {}),
      operation("refine", "the tightest symmetric profile that the given one implies", {}),

      tail("unknown", "nothing is known: delta may stay at its last value", {}),
      tail("zero", "delta is zero beyond the last point", {}),
      tail("gaussian", "delta(epsilon) <= k exp(-epsilon^2 / (2 s^2)) beyond the last point",
           {{"k", number, "factor of the tail"}, {"s", number, "width of the tail"}}),
  };
}

/// Edit distance with swaps of adjacent letters; case does not count. Names are cut to 40 characters: no known name is longer.
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

/// What other libraries call things, and what they are called here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> synonyms{{
    {"normal", "gaussian"},
    {"geometric", "discrete_laplace"},
    {"rr", "randomized_response"},
    {"noise_multiplier", "sigma"},
    {"std", "sigma"},
    {"stddev", "sigma"},
    {"sample_rate", "rate"},
    {"sampling_rate", "rate"},
    {"q", "rate"},
    {"steps", "times"},
    {"compose", "repeat"},
    {"subsample", "sample"},
}};

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

}  // namespace tradeoff
