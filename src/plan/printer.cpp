// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "plan/lexer.h"
#include "plan/vocabulary.h"
#include "tradeoff/plan.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

namespace {

class Printer {
 public:
  explicit Printer(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  void print(const Plan& plan, const char* separator) {
    bool first = true;
    for (const Line& line : plan.lines) {
      if (!first) text_ += separator;
      first = false;
      print(line);
    }
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void print(const Line& line) {
    if (const auto* call = std::get_if<Call>(&line.source)) {
      print(*call);
    } else {
      print_in_parentheses(std::get<Plan>(line.source));
    }
    for (const Call& call : line.operators) {
      text_ += " | ";
      print(call);
    }
  }

  void print_in_parentheses(const Plan& plan) {
    text_ += '(';
    print(plan, "; ");
    text_ += ')';
  }

  void print(const Call& call) {
    text_ += call.name;
    text_ += '(';
    // A single count or list is printed without its name: repeat(10), constraints([...]).
    const bool bare = call.arguments.size() == 1 && goes_without_name(call.name);
    for (const Argument& argument : call.arguments) {
      if (text_.back() != '(') text_ += ", ";
      if (!bare) text_.append(argument.name).append("=");
      print(argument.value);
    }
    text_ += ')';
  }

  /// Words with one parameter have different names in all roles, so the role need not be known.
  [[nodiscard]] bool goes_without_name(const std::string& name) const {
    for (const Word& word : vocabulary_) {
      if (word.name == name && word.parameters.size() == 1 && word.parameters[0].kind != Kind::number &&
          word.parameters[0].kind != Kind::law_word)
        return true;
    }
    return false;
  }

  void print(const Value& value) {
    std::visit([this](const auto& content) { print(content); }, value.content);
  }
  void print(const Number& number) { text_ += number.text; }
  void print(const Unknown&) { text_ += '?'; }
  void print(const std::string& text) { text_ += quote(text); }
  void print(const Tuple& tuple) { print_items(tuple.items, '(', ')'); }
  void print(const List& list) { print_items(list.items, '[', ']'); }

  /// As a value, a single call needs no parentheses.
  void print(const Plan& plan) {
    const bool lone = plan.lines.size() == 1 && plan.lines[0].operators.empty() && std::holds_alternative<Call>(plan.lines[0].source);
    if (lone) {
      print(plan.lines[0]);
    } else {
      print_in_parentheses(plan);
    }
  }

  void print_items(const std::vector<Value>& items, char open, char close) {
    text_ += open;
    for (const Value& item : items) {
      if (&item != &items.front()) text_ += ", ";
      print(item);
    }
    text_ += close;
  }

  const Vocabulary& vocabulary_;
  std::string text_;
};

}  // namespace

std::string detail::to_string(const Plan& plan, const Vocabulary& vocabulary) {
  Printer printer(vocabulary);
  printer.print(plan, "\n");
  return printer.take();
}

std::string to_string(const Plan& plan) { return to_string(plan, vocabulary()); }

std::string point_at(std::string_view text, std::size_t offset) {
  constexpr std::size_t reach = 38;  // bytes on either side: fits 80 columns with an indent
  offset = std::min(offset, text.size());
  const auto is_continuation = [&](std::size_t i) { return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U; };
  std::size_t start = offset;
  while (start > 0 && text[start - 1] != '\n' && offset - start < reach) --start;
  while (is_continuation(start)) ++start;
  std::size_t end = std::min(text.find('\n', offset), text.size());
  if (end - offset > reach) end = offset + reach;
  while (end < text.size() && is_continuation(end)) ++end;
  std::string shown;
  std::string caret;
  for (std::size_t i = start; i < end; ++i) {
    const bool control = static_cast<unsigned char>(text[i]) < 0x20 || text[i] == 0x7F;
    shown += control ? ' ' : text[i];  // a tab or an escape sequence must not move the caret
    if (i < offset && !is_continuation(i)) caret += ' ';
  }
  return shown + "\n" + caret + "^";
}

}  // namespace tradeoff
