// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tradeoff::detail {

/// The tokens of a plan. `separator` is a newline or a semicolon; the other symbols stand for themselves.
struct Token {
  enum class Kind { name, number, string, symbol, separator, end };
  Kind kind = Kind::end;
  std::string_view text;   ///< as written, quotes included
  std::size_t offset = 0;  ///< of its first byte in the plan

  [[nodiscard]] bool is(char symbol) const { return kind == Kind::symbol && text.front() == symbol; }
};

/// Refuses text that no plan may contain: more than 64 MiB, a byte order mark, NUL, bytes that are not UTF-8. Throws ParseError.
void check_characters(std::string_view text);

/// Splits a text, which must outlive it, into tokens, with one token of lookahead. Blanks and comments are skipped.
class Lexer {
 public:
  explicit Lexer(std::string_view text);

  [[nodiscard]] const Token& peek() const { return next_; }
  Token take();
  /// Moves past newlines and, if asked, semicolons.
  void skip_newlines() { skip_separators(false); }
  void skip_separators(bool semicolons_too = true);

 private:
  void skip_blanks();
  void scan();
  void scan_number();
  void scan_string();
  void finish(Token::Kind kind, std::size_t end);

  std::string_view text_;
  std::size_t position_ = 0;
  Token next_;
};

/// The text of a quoted token without quotes and escapes.
[[nodiscard]] std::string unquote(const Token& token);
/// The text itself if it is a plain word, otherwise in quotes.
[[nodiscard]] std::string quote(std::string_view text);

/// The name of a token in an error message: 'text', or `the end of the plan`.
[[nodiscard]] std::string describe(const Token& token);

}  // namespace tradeoff::detail
