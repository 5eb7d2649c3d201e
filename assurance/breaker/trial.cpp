// SPDX-License-Identifier: Apache-2.0
#include "trial.h"

#include <charconv>
#include <cmath>
#include <map>
#include <sstream>

#include "tradeoff/error.h"

namespace tradeoff::detail::breaker {

double rounded(double value, int digits) {
  if (!std::isfinite(value)) return value;
  std::ostringstream out;
  out.precision(digits);
  out << value;
  return std::strtod(out.str().c_str(), nullptr);
}

std::string to_text(const Trial& trial) {
  std::ostringstream out;
  out.precision(17);
  const auto shortest = [](double value) {
    char text[32];
    return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
  };
  out << "epsilon=" << shortest(trial.epsilon) << " delta=" << shortest(trial.delta) << " alpha=" << shortest(trial.alpha)
      << " tolerance=" << shortest(trial.tolerance)
      << " neighbours=" << (trial.neighbours == Neighbours::replace_one ? "replace-one" : "add-remove") << " : ";
  std::string plan = to_string(trial.plan);
  for (char& letter : plan)
    if (letter == '\n') letter = ';';
  return out.str() + plan;
}

Trial read_trial(const std::string& text) {
  const auto colon = text.find(" : ");
  if (colon == std::string::npos) throw DomainError("a trial is written QUESTION : PLAN");
  Trial trial;
  trial.plan = parse(text.substr(colon + 3));
  const std::map<std::string, double*> numbers{
      {"epsilon", &trial.epsilon}, {"delta", &trial.delta}, {"alpha", &trial.alpha}, {"tolerance", &trial.tolerance}};
  std::istringstream words(text.substr(0, colon));
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    const std::string name = word.substr(0, equals), value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (const auto number = numbers.find(name); number != numbers.end())
      *number->second = std::strtod(value.c_str(), nullptr);
    else if (name == "neighbours" && (value == "add-remove" || value == "replace-one"))
      trial.neighbours = value == "replace-one" ? Neighbours::replace_one : Neighbours::add_remove;
    else
      throw DomainError("a trial's question has no '" + word + "'");
  }
  return trial;
}

}  // namespace tradeoff::detail::breaker
