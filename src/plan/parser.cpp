// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "numeric/floating_point_guard.h"
#include "plan/lexer.h"
#include "plan/number.h"
#include "plan/vocabulary.h"
#include "tradeoff/error.h"
#include "tradeoff/plan.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

namespace {

/// Limit of nested brackets: far more than a person writes, far less than the stack allows.
constexpr int deepest_nesting = 64;
/// Limit of calls and values in one plan: keeps 64 MiB of "1,1,1,..." within about half a gigabyte.
constexpr int most_values = 4'000'000;

[[nodiscard]] std::string joined(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

/// `what` names the unknown thing: "unknown source 'gausian'". `meant` is the known name that it stands for, if one is certain.
[[noreturn]] void fail_unknown(const std::string& what, const Token& token, std::span<const std::string_view> known,
                               std::string_view meant = {}) {
  const std::string nearest(meant.empty() ? nearest_name(token.text, known) : meant);
  throw ParseError(what + (nearest.empty() ? "." : ": did you mean '" + nearest + "'?") + " Known: " + joined(known), token.offset);
}

[[nodiscard]] std::string_view name_of(Role role) {
  switch (role) {
    case Role::source:
      return "source";
    case Role::operation:
      return "operator";
    case Role::tail:
      return "tail";
    case Role::law:
      break;
  }
  return "law of the number of runs";
}

[[noreturn]] void fail_unknown_word(const Vocabulary& vocabulary, Role role, const Token& token) {
  if (role == Role::source && vocabulary.find(Role::operation, token.text) != nullptr) {
    throw ParseError(describe(token) + " is an operator: it follows a source and '|'", token.offset);
  }
  if (role == Role::operation && vocabulary.find(Role::source, token.text) != nullptr) {
    throw ParseError(describe(token) + " is a source: it starts a line, nothing is piped into it", token.offset);
  }
  std::vector<std::string_view> known;
  std::string_view meant;
  for (const Word& word : vocabulary) {
    if (word.role != role) continue;
    known.push_back(word.name);
    for (const Synonym& synonym : word.synonyms) {
      if (synonym.written != token.text) continue;
      if (!synonym.advice.empty()) throw ParseError(std::string(synonym.advice), token.offset);
      meant = word.name;
    }
  }
  fail_unknown("unknown " + std::string(name_of(role)) + " " + describe(token), token, known, meant);
}

[[noreturn]] void fail_unknown_parameter(const Word& word, const Token& token) {
  for (const Synonym& synonym : word.synonyms)  // `name=` stands for an argument that the word cannot take
    if (!synonym.written.empty() && synonym.written.back() == '=' && synonym.written.substr(0, synonym.written.size() - 1) == token.text)
      throw ParseError(std::string(synonym.advice), token.offset);
  if (word.parameters.empty()) throw ParseError(std::string(word.name) + " takes no arguments", token.offset);
  std::vector<std::string_view> known;
  known.reserve(word.parameters.size());
  for (const Parameter& parameter : word.parameters) known.push_back(parameter.name);
  fail_unknown("unknown argument " + describe(token) + " of " + std::string(word.name), token, known);
}

[[noreturn]] void fail_expected(const std::string& what, const Token& found) {
  throw ParseError("expected " + what + ", found " + describe(found), found.offset);
}

/// A call whose arguments are being read.
struct CallUnderWay {
  const Word& word;
  Call call;
  unsigned given = 0;  ///< bit i is set if parameter i has its argument
  bool named = false;  ///< an argument was given by name

  [[nodiscard]] bool has(std::size_t parameter) const { return (given >> parameter & 1U) != 0; }
};

/// The parameter with this name.
[[nodiscard]] const Parameter& named_parameter(const CallUnderWay& under_way, const Token& name) {
  const Parameter* parameter = find_parameter(under_way.word, name.text);
  if (parameter == nullptr) fail_unknown_parameter(under_way.word, name);
  if (under_way.has(static_cast<std::size_t>(parameter - under_way.word.parameters.data()))) {
    throw ParseError(under_way.call.name + " has the argument " + describe(name) + " twice", name.offset);
  }
  return *parameter;
}

/// Whether three digits follow a comma, as in 14,063.
[[nodiscard]] bool looks_like_thousands(const Token& token) {
  return token.kind == Token::Kind::number && token.text.size() == 3 &&
         token.text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// The parameter for an argument without a name.
[[nodiscard]] const Parameter& next_parameter(const CallUnderWay& under_way, const Token& at) {
  if (under_way.named) throw ParseError("an argument without a name cannot follow one with a name", at.offset);
  const std::size_t position = under_way.call.arguments.size();
  if (position == under_way.word.parameters.size()) {
    const bool separated = position > 0 && looks_like_thousands(at);
    throw ParseError("too many arguments: " + usage(under_way.word) + (separated ? "; write numbers without thousands separators" : ""),
                     at.offset);
  }
  return under_way.word.parameters[position];
}

/// Every required parameter of the form in use must be given, and none of another form.
void check_complete(const CallUnderWay& under_way, std::size_t end) {
  const auto& parameters = under_way.word.parameters;
  int form = 0;
  for (std::size_t i = 0, k = 0; i < parameters.size(); ++i) {
    if (!under_way.has(i)) continue;
    const Argument& argument = under_way.call.arguments[k++];
    if (parameters[i].form == 0) continue;
    if (form != 0 && form != parameters[i].form) {
      throw ParseError(argument.name + " does not go with the other arguments: " + usage(under_way.word), argument.value.offset);
    }
    form = parameters[i].form;
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const bool omissible = parameters[i].optional || !parameters[i].fallback.empty();
    const bool needed = !omissible && (parameters[i].form == 0 || form == 0 || parameters[i].form == form);
    if (needed && !under_way.has(i)) {
      throw ParseError(under_way.call.name + " needs " + std::string(parameters[i].name) + ": " + usage(under_way.word), end);
    }
  }
}

[[nodiscard]] bool says_not_finite(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  std::string lower;
  for (const char c : text.substr(0, 10)) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return lower == "inf" || lower == "infinity" || lower == "nan";
}

/// A recursive-descent parser. The kind of the parameter decides how a value is read, so brackets are never ambiguous.
class Parser {
 public:
  Parser(std::string_view text, const Vocabulary& vocabulary) : lexer_(text), vocabulary_(vocabulary) {}

  Plan whole_plan() {
    Plan plan = read_plan();
    if (lexer_.peek().kind != Token::Kind::end) fail_expected("'|', ';' or a new line", lexer_.peek());
    return plan;
  }

 private:
  /// Counts one level of brackets.
  class Level {
   public:
    Level(int& depth, const Token& open) : depth_(depth) {
      if (depth_ == deepest_nesting) throw ParseError("more than 64 brackets within each other", open.offset);
      ++depth_;
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --depth_; }

   private:
    int& depth_;
  };

  void count(const Token& at) {
    if (++values_ > most_values) throw ParseError("more than 4 million calls and values in one plan", at.offset);
  }

  /// Within brackets a new line is a blank.
  const Token& peek_inside() {
    lexer_.skip_newlines();
    return lexer_.peek();
  }
  Token take_inside() {
    lexer_.skip_newlines();
    return lexer_.take();
  }

  Plan read_plan();
  Plan read_plan_in_parentheses(const Token& open);
  Line read_line();
  bool take_pipe();
  Call read_call(Role role, const Token& name);
  void read_argument(CallUnderWay& under_way);
  Value read_value(const Parameter& parameter, const Token& first);
  Value read_number_value(const Parameter& parameter, const Token& first);
  Value read_source(const Token& first);
  Value read_text(const Parameter& parameter, const Token& first);
  Value read_choice(const Parameter& parameter, const Token& first);
  Value read_tail(const Token& first);
  Value read_law(const Parameter& parameter, const Token& first);
  Value read_pair(const Parameter& parameter, const Token& open);
  template <class ReadItem>
  std::vector<Value> read_items(const Parameter& parameter, const Token& open, ReadItem read_item);

  Lexer lexer_;
  const Vocabulary& vocabulary_;
  int depth_ = 0;
  int values_ = 0;
};

Plan Parser::read_plan() {
  Plan plan;
  lexer_.skip_separators();
  while (lexer_.peek().kind != Token::Kind::end && !(depth_ > 0 && lexer_.peek().is(')'))) {
    plan.lines.push_back(read_line());
    if (lexer_.peek().kind != Token::Kind::separator) break;
    lexer_.skip_separators();
  }
  if (plan.lines.empty()) throw ParseError("the plan is empty; write a source, for example gaussian(sigma=2)", lexer_.peek().offset);
  return plan;
}

Plan Parser::read_plan_in_parentheses(const Token& open) {
  const Level level(depth_, open);
  Plan plan = read_plan();
  if (!lexer_.peek().is(')')) fail_expected("'|', ';', a new line or ')'", lexer_.peek());
  lexer_.take();
  return plan;
}

Line Parser::read_line() {
  Line line;
  const Token first = lexer_.take();
  if (first.kind == Token::Kind::name) {
    line.source = read_call(Role::source, first);
  } else if (first.is('(')) {
    line.source = read_plan_in_parentheses(first);
  } else {
    fail_expected("a source such as gaussian(sigma=1)", first);
  }
  while (take_pipe()) {
    lexer_.skip_newlines();
    const Token name = lexer_.take();
    if (name.kind != Token::Kind::name) fail_expected("an operator such as repeat(10)", name);
    line.operators.push_back(read_call(Role::operation, name));
  }
  return line;
}

/// A line may continue below: no line starts with `|`.
bool Parser::take_pipe() {
  if (!lexer_.peek().is('|')) {
    if (lexer_.peek().text != "\n") return false;
    Lexer ahead = lexer_;
    ahead.skip_newlines();
    if (!ahead.peek().is('|')) return false;
    lexer_ = ahead;
  }
  lexer_.take();
  return true;
}

Call Parser::read_call(Role role, const Token& name) {
  count(name);
  const Word* word = vocabulary_.find(role, name.text);
  if (word == nullptr) fail_unknown_word(vocabulary_, role, name);
  if (!lexer_.peek().is('(')) fail_expected("'(' after " + std::string(name.text), lexer_.peek());
  const Level level(depth_, lexer_.take());
  CallUnderWay under_way{*word, {std::string(name.text), {}, name.offset}};
  if (!peek_inside().is(')')) {
    under_way.call.arguments.reserve(word->parameters.size());
    read_argument(under_way);
    while (peek_inside().is(',')) {
      const Token comma = lexer_.take();
      if (under_way.named && peek_inside().is(')')) throw ParseError("nothing follows this comma; remove it", comma.offset);
      read_argument(under_way);
    }
  }
  if (!lexer_.peek().is(')')) fail_expected("',' or ')' in " + under_way.call.name, lexer_.peek());
  check_complete(under_way, lexer_.peek().offset);
  lexer_.take();
  return std::move(under_way.call);
}

void Parser::read_argument(CallUnderWay& under_way) {
  Token first = take_inside();
  const Parameter* parameter = nullptr;
  if (first.kind == Token::Kind::name && peek_inside().is('=')) {
    parameter = &named_parameter(under_way, first);
    under_way.named = true;
    lexer_.take();
    first = take_inside();
  } else {
    parameter = &next_parameter(under_way, first);
  }
  Value value = read_value(*parameter, first);
  const auto index = static_cast<unsigned>(parameter - under_way.word.parameters.data());
  const int before = std::popcount(under_way.given & ((1U << index) - 1));  // arguments are stored in the order of the vocabulary
  auto& arguments = under_way.call.arguments;
  arguments.insert(arguments.begin() + before, Argument{std::string(parameter->name), std::move(value)});
  under_way.given |= 1U << index;
}

Value Parser::read_value(const Parameter& parameter, const Token& first) {
  switch (parameter.kind) {
    case Kind::number:
    case Kind::integer:
      return read_number_value(parameter, first);
    case Kind::numbers:
      return {List{read_items(parameter, first, [&](const Token& item) { return read_number_value(parameter, item); })}, first.offset};
    case Kind::pairs:
    case Kind::components:
      return {List{read_items(parameter, first, [&](const Token& item) { return read_pair(parameter, item); })}, first.offset};
    case Kind::plans:
      return {List{read_items(parameter, first, [&](const Token& item) { return read_source(item); })}, first.offset};
    case Kind::text:
      return read_text(parameter, first);
    case Kind::choice:
      return read_choice(parameter, first);
    case Kind::tail_word:
      return read_tail(first);
    case Kind::law_word:
      return read_law(parameter, first);
  }
  throw std::logic_error("a kind without a reader");
}

Value Parser::read_number_value(const Parameter& parameter, const Token& first) {
  count(first);
  const std::string name(parameter.name);
  if (first.is('?')) return {Unknown{}, first.offset};
  if (says_not_finite(first.text)) {
    const bool bounds = parameter.effect.known && !parameter.effect.more_is_safer;
    throw ParseError(name + " must be a finite number, found " + describe(first) + ". It states: " + std::string(parameter.meaning) +
                         (bounds ? "; without a bound nothing is guaranteed" : ""),
                     first.offset);
  }
  if (first.kind == Token::Kind::name) {
    throw ParseError(
        "expected a number for " + name + ", found " + describe(first) + "; write a decimal or a quotient: 0.5, 1e-5, 256/60000",
        first.offset);
  }
  if (first.kind != Token::Kind::number) fail_expected("a number for " + name, first);
  numeric::Quotient quotient{read_decimal_at(first.text, first.offset)};
  if (peek_inside().is('/')) {
    lexer_.take();
    const Token second = take_inside();
    if (second.kind != Token::Kind::number) fail_expected("a number after '/'", second);
    quotient.denominator = read_decimal_at(second.text, second.offset);
    if (quotient.denominator.is_zero()) throw ParseError("division by zero", second.offset);
    if (parameter.kind == Kind::integer) throw ParseError(name + " must be an integer, not a quotient", first.offset);
  }
  if (parameter.kind == Kind::integer && !quotient.numerator.is_integer()) {
    throw ParseError(name + " must be an integer, found " + describe(first), first.offset);
  }
  return {make_number(quotient, first.offset), first.offset};
}

template <class ReadItem>
std::vector<Value> Parser::read_items(const Parameter& parameter, const Token& open, ReadItem read_item) {
  if (!open.is('[') && !open.is('(')) fail_expected("a list [...] for " + std::string(parameter.name), open);
  const char close = open.is('[') ? ']' : ')';
  const Level level(depth_, open);
  std::vector<Value> items;
  items.push_back(read_item(take_inside()));
  while (peek_inside().is(',')) {
    lexer_.take();
    items.push_back(read_item(take_inside()));
  }
  if (!lexer_.peek().is(close)) fail_expected(std::string("',' or '") + close + "' in " + std::string(parameter.name), lexer_.peek());
  lexer_.take();
  return items;
}

Value Parser::read_pair(const Parameter& parameter, const Token& open) {
  if (!open.is('[') && !open.is('(')) fail_expected("a pair (..., ...) in " + std::string(parameter.name), open);
  bool first = true;
  auto items = read_items(parameter, open, [&](const Token& item) {
    const bool second_is_source = parameter.kind == Kind::components && !first;
    first = false;
    return second_is_source ? read_source(item) : read_number_value(parameter, item);
  });
  if (items.size() != 2) throw ParseError("each item of " + std::string(parameter.name) + " has two parts", open.offset);
  return {Tuple{std::move(items)}, open.offset};
}

Value Parser::read_source(const Token& first) {
  if (first.is('(')) return {read_plan_in_parentheses(first), first.offset};
  if (first.kind != Token::Kind::name) fail_expected("a source such as gaussian(sigma=1)", first);
  Plan plan;
  plan.lines.push_back({read_call(Role::source, first), {}});
  if (peek_inside().is('|')) throw ParseError("a source with operators stands in parentheses here", lexer_.peek().offset);
  return {std::move(plan), first.offset};
}

Value Parser::read_text(const Parameter& parameter, const Token& first) {
  count(first);
  if (first.kind == Token::Kind::name) return {std::string(first.text), first.offset};
  if (first.kind != Token::Kind::string) fail_expected("a string \"...\" for " + std::string(parameter.name), first);
  return {unquote(first), first.offset};
}

Value Parser::read_choice(const Parameter& parameter, const Token& first) {
  Value value = read_text(parameter, first);
  const std::string& word = std::get<std::string>(value.content);
  const std::vector<std::string_view> choices = choices_of(parameter);
  if (std::find(choices.begin(), choices.end(), word) != choices.end()) return value;
  std::string message = std::string(parameter.name) + " must be ";
  for (std::size_t i = 0; i < choices.size(); ++i) message.append(i == 0 ? "" : i + 1 < choices.size() ? ", " : " or ").append(choices[i]);
  message += ", found " + describe(first);
  if (const std::string_view meant = nearest_name(word, choices); !meant.empty())
    message.append("; did you mean '").append(meant).append("'?");
  throw ParseError(message, first.offset);
}

Value Parser::read_tail(const Token& first) {
  if (first.kind != Token::Kind::name) fail_expected("a tail: unknown, zero or gaussian(k, s)", first);
  const Word* word = vocabulary_.find(Role::tail, first.text);
  if (word != nullptr && word->parameters.empty()) return {std::string(first.text), first.offset};
  Plan plan;
  plan.lines.push_back({read_call(Role::tail, first), {}});
  return {std::move(plan), first.offset};
}

Value Parser::read_law(const Parameter& parameter, const Token& first) {
  if (first.kind == Token::Kind::number)
    throw ParseError("expected a law for " + std::string(parameter.name) + ", found " + describe(first) +
                         "; for a fixed number write exactly(" + std::string(first.text) +
                         "), for a random one geometric(mean=" + std::string(first.text) + ")",
                     first.offset);
  if (first.kind != Token::Kind::name) fail_expected("a law such as geometric(mean=10) for " + std::string(parameter.name), first);
  Plan plan;
  plan.lines.push_back({read_call(Role::law, first), {}});
  return {std::move(plan), first.offset};
}

}  // namespace

Plan detail::parse(std::string_view text, const Vocabulary& vocabulary) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return parse(text, vocabulary); });

  check_characters(text);
  return Parser(text, vocabulary).whole_plan();
}

Plan parse(std::string_view text) { return parse(text, vocabulary()); }

}  // namespace tradeoff
