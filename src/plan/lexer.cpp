// SPDX-License-Identifier: Apache-2.0
#include "plan/lexer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

/// The size limit of a plan: a longer text is a mistake or an attack.
constexpr std::size_t longest_text = std::size_t{64} << 20;

[[nodiscard]] bool is_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
[[nodiscard]] bool is_word(char c) { return is_letter(c) || is_digit(c); }

[[nodiscard]] bool is_plain_word(std::string_view text) {
  return !text.empty() && is_letter(text.front()) && std::all_of(text.begin(), text.end(), is_word);
}

[[nodiscard]] unsigned byte(std::string_view text, std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; }

/// The length of the UTF-8 sequence that starts here; 0 if it is not valid (overlong forms, surrogates and values above U+10FFFF included).
[[nodiscard]] std::size_t sequence_length(std::string_view text, std::size_t i) {
  const unsigned first = byte(text, i);
  const unsigned second = byte(text, i + 1);
  const auto continues = [&](std::size_t k) { return (byte(text, i + k) & 0xC0U) == 0x80U; };
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool allowed = (first != 0xE0 || second >= 0xA0) && (first != 0xED || second < 0xA0);
    return allowed && continues(1) && continues(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool allowed = (first != 0xF0 || second >= 0x90) && (first != 0xF4 || second < 0x90);
    return allowed && continues(1) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

/// Characters that people type, and what to write in a plan instead.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> plain_characters{{
    {"\xCF\x83", "sigma"},
    {"\xCE\xB5", "epsilon"},
    {"\xCE\xB4", "delta"},
    {"\xCE\xBC", "mu"},
    {"\xC2\xB5", "mu"},
    {"\xCF\x81", "rho"},
    {"%", "0.01 for 1%"},
    {"'", "a text in double quotes"},
    {"\xE2\x80\x9C", "a text in plain double quotes"},
    {"\xE2\x80\x9D", "a text in plain double quotes"},
}};

/// The characters after a backslash, and their meaning.
constexpr std::array<std::pair<char, char>, 5> escapes{{{'n', '\n'}, {'t', '\t'}, {'r', '\r'}, {'"', '"'}, {'\\', '\\'}}};

/// The escaped character; 0 if there is no such escape.
[[nodiscard]] char unescaped(char letter) {
  for (const auto& [escape, meant] : escapes) {
    if (escape == letter) return meant;
  }
  return 0;
}

}  // namespace

void check_characters(std::string_view text) {
  if (text.size() > longest_text) throw ParseError("the plan is longer than 64 MiB", longest_text);
  if (text.starts_with("\xEF\xBB\xBF")) throw ParseError("the plan starts with a byte order mark; save it as plain UTF-8", 0);
  for (std::size_t i = 0; i < text.size();) {
    if (byte(text, i) - 1U < 0x7FU) {  // ASCII except NUL
      ++i;
      continue;
    }
    if (text[i] == 0) throw ParseError("the plan holds a NUL byte", i);
    const std::size_t length = sequence_length(text, i);
    if (length == 0) throw ParseError("the plan holds a byte that is not UTF-8", i);
    i += length;
  }
}

Lexer::Lexer(std::string_view text) : text_(text) { scan(); }

Token Lexer::take() {
  const Token taken = next_;
  scan();
  return taken;
}

void Lexer::skip_separators(bool semicolons_too) {
  while (next_.kind == Token::Kind::separator && (semicolons_too || next_.text == "\n")) scan();
}

void Lexer::skip_blanks() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '#') {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++position_;
    } else {
      return;
    }
  }
}

void Lexer::finish(Token::Kind kind, std::size_t end) {
  next_ = {kind, text_.substr(position_, end - position_), position_};
  position_ = end;
}

void Lexer::scan() {
  skip_blanks();
  if (position_ == text_.size()) return finish(Token::Kind::end, position_);
  const char c = text_[position_];
  if (c == '\n' || c == ';') return finish(Token::Kind::separator, position_ + 1);
  if (is_letter(c)) {
    std::size_t end = position_ + 1;
    while (end < text_.size() && is_word(text_[end])) ++end;
    return finish(Token::Kind::name, end);
  }
  if (is_digit(c) || c == '.' || c == '-' || c == '+') return scan_number();
  if (c == '"') return scan_string();
  if (std::string_view("()[],=|/?").find(c) != std::string_view::npos) return finish(Token::Kind::symbol, position_ + 1);
  if (byte(text_, position_) < 0x20 || c == 0x7F) throw ParseError("unexpected control character", position_);
  const std::string_view found = text_.substr(position_, sequence_length(text_, position_));
  std::string message = "unexpected character '" + std::string(found) + "'";
  for (const auto& [written, plain] : plain_characters) {
    if (written == found) message.append("; write ").append(plain);
  }
  throw ParseError(message, position_);
}

/// Takes all characters that could belong to one number; read_decimal decides whether it is one.
void Lexer::scan_number() {
  std::size_t end = position_ + 1;
  while (end < text_.size()) {
    const bool sign_of_exponent = (text_[end] == '-' || text_[end] == '+') && (text_[end - 1] == 'e' || text_[end - 1] == 'E');
    if (!is_word(text_[end]) && text_[end] != '.' && !sign_of_exponent) break;
    ++end;
  }
  finish(Token::Kind::number, end);
}

void Lexer::scan_string() {
  std::size_t end = position_ + 1;
  for (; end < text_.size() && text_[end] != '"' && text_[end] != '\n'; ++end) {
    if (text_[end] != '\\') continue;
    ++end;
    if (end == text_.size()) break;
    if (unescaped(text_[end]) == 0) throw ParseError("unknown escape; only \\\" \\\\ \\n \\t \\r are known", end - 1);
  }
  if (end >= text_.size() || text_[end] != '"') throw ParseError("this string has no closing quote on its line", position_);
  finish(Token::Kind::string, end + 1);
}

std::string unquote(const Token& token) {
  std::string plain;
  for (std::size_t i = 1; i + 1 < token.text.size(); ++i) {
    plain += token.text[i] == '\\' ? unescaped(token.text[++i]) : token.text[i];
  }
  return plain;
}

std::string quote(std::string_view text) {
  if (is_plain_word(text)) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    const auto escape = std::find_if(escapes.begin(), escapes.end(), [&](const auto& pair) { return pair.second == c; });
    if (escape == escapes.end()) {
      quoted += c;
    } else {
      quoted.append(1, '\\').append(1, escape->first);
    }
  }
  return quoted += '"';
}

std::string describe(const Token& token) {
  if (token.kind == Token::Kind::end) return "the end of the plan";
  if (token.text == "\n") return "the end of the line";
  if (token.kind == Token::Kind::string) return "a string";
  constexpr std::size_t shown = 40;  // an error message is one line
  return "'" + std::string(token.text.substr(0, shown)) + (token.text.size() > shown ? "...'" : "'");
}

}  // namespace tradeoff::detail
