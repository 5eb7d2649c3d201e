// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rapidcheck.h>

#include <string>
#include <vector>

#include "plan/vocabulary.h"
#include "tradeoff/plan.h"

// Random plans drawn from the vocabulary itself, so that a new word is tested at once.
namespace tradeoff::detail::random_plan {

[[nodiscard]] inline int pick(int low, int high) { return *rc::gen::inRange(low, high + 1); }
[[nodiscard]] inline bool chance(int percent) { return pick(1, 100) <= percent; }

[[nodiscard]] inline std::string digits(int most) {
  std::string text;
  for (int i = pick(1, most); i > 0; --i) text += static_cast<char>('0' + pick(0, 9));
  return text;
}

[[nodiscard]] inline std::string integer_text() {
  return (chance(10) ? "-" : "") + digits(12) + (chance(20) ? "e" + std::to_string(pick(0, 9)) : "");
}

[[nodiscard]] inline std::string decimal_text() {
  std::string text = chance(20) ? "-" : "";
  text += digits(20);
  if (chance(50)) text += "." + digits(20);
  if (chance(30)) text += "e" + std::to_string(pick(-330, 260));
  return text;
}

[[nodiscard]] inline Value number_value(Kind kind) {
  if (chance(10)) return {Unknown{}, 0};
  if (kind == Kind::integer) return {read_number(integer_text()), 0};
  if (chance(20)) return {read_number(digits(9) + "/1" + digits(9)), 0};
  return {read_number(decimal_text()), 0};
}

[[nodiscard]] inline std::string text_value() {
  static const std::vector<std::string> pieces{"a",  "Z", "_", "0", " ", "\"", "\\", "\n", "\t",
                                               "\r", "#", ";", "|", "/", "é",  "€",  "?",  "="};
  std::string text;
  for (int i = pick(0, 12); i > 0; --i) text += pieces[static_cast<std::size_t>(pick(0, static_cast<int>(pieces.size()) - 1))];
  return text;
}

[[nodiscard]] Plan plan(int depth);
[[nodiscard]] Call call(Role role, int depth);

[[nodiscard]] inline const Word& word(Role role, bool with_parameters) {
  std::vector<const Word*> candidates;
  for (const Word& candidate : vocabulary()) {
    if (candidate.role == role && !(with_parameters && candidate.parameters.empty())) candidates.push_back(&candidate);
  }
  return *candidates[static_cast<std::size_t>(pick(0, static_cast<int>(candidates.size()) - 1))];
}

[[nodiscard]] inline Plan lone(Call only) {
  Plan result;
  result.lines.push_back({std::move(only), {}});
  return result;
}

/// A nested plan; a simple one at the largest depth.
[[nodiscard]] inline Plan part(int depth) { return depth <= 0 ? lone({"gdp", {{"mu", number_value(Kind::number)}}, 0}) : plan(depth - 1); }

[[nodiscard]] inline Value value(const Parameter& parameter, int depth) {
  const Kind kind = parameter.kind;
  const auto list = [&](auto item) {
    List result;
    for (int i = pick(1, 4); i > 0; --i) result.items.push_back(item());
    return Value{std::move(result), 0};
  };
  switch (kind) {
    case Kind::number:
    case Kind::integer:
      return number_value(kind);
    case Kind::numbers:
      return list([] { return number_value(Kind::number); });
    case Kind::pairs:
      return list([] { return Value{Tuple{{number_value(Kind::number), number_value(Kind::number)}}, 0}; });
    case Kind::components:
      return list([&] { return Value{Tuple{{number_value(Kind::number), {part(depth), 0}}}, 0}; });
    case Kind::plans:
      return list([&] { return Value{part(depth), 0}; });
    case Kind::text:
      return {text_value(), 0};
    case Kind::choice: {
      const auto choices = choices_of(parameter);
      return {std::string(choices[static_cast<std::size_t>(pick(0, static_cast<int>(choices.size()) - 1))]), 0};
    }
    case Kind::tail_word:
      if (chance(60)) return {std::string(chance(50) ? "unknown" : "zero"), 0};
      return {lone(call(Role::tail, depth)), 0};
    case Kind::law_word:
      return {lone(call(Role::law, depth)), 0};
  }
  return {};
}

[[nodiscard]] inline Call call(Role role, int depth) {
  const Word& chosen = word(role, role == Role::tail);
  int forms = 0;
  for (const Parameter& parameter : chosen.parameters) forms = std::max(forms, parameter.form);
  const int form = forms == 0 ? 0 : pick(1, forms);
  Call result{std::string(chosen.name), {}, 0};
  for (const Parameter& parameter : chosen.parameters) {
    if (parameter.form != 0 && parameter.form != form) continue;
    if (!parameter.fallback.empty() && chance(50)) continue;
    result.arguments.push_back({std::string(parameter.name), value(parameter, depth)});
  }
  return result;
}

[[nodiscard]] inline Plan plan(int depth) {
  Plan result;
  for (int lines = pick(1, 3); lines > 0; --lines) {
    Line line;
    if (depth > 0 && chance(20)) {
      line.source = plan(depth - 1);
    } else {
      line.source = call(Role::source, depth);
    }
    for (int operators = pick(0, 3); operators > 0; --operators) line.operators.push_back(call(Role::operation, depth));
    result.lines.push_back(std::move(line));
  }
  return result;
}

}  // namespace tradeoff::detail::random_plan
