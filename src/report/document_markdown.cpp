// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "report/document.h"
#include "report/label.h"
#include "report/terminal_plot.h"

namespace tradeoff::detail::report {
namespace {

/// Escapes characters that Markdown would interpret, except inside `code`.
std::string escaped(const std::string& text) {
  std::string safe;
  bool in_code = false;
  for (const char c : printable(text)) {
    if (c == '`') in_code = !in_code;
    if (!in_code && (c == '*' || c == '_' || c == '<' || c == '[' || c == '\\' || c == '#')) safe += '\\';
    safe += c;
  }
  return safe;
}

/// A bar ends a cell, even inside code.
std::string cell_of(const std::string& text) {
  std::string safe;
  for (const char c : escaped(text)) {
    if (c == '|') safe += '\\';
    safe += c;
  }
  return safe;
}

/// A fence longer than every run of backquotes inside.
std::string fence_for(const std::string& text) {
  std::size_t longest = 2, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(longest + 1, '`');
}

std::string fenced(const std::string& given, const std::string& language) {
  const std::string text = printable_lines(given), fence = fence_for(text);
  return fence + language + "\n" + text + (text.empty() || text.back() != '\n' ? "\n" : "") + fence + "\n";
}

struct MarkdownWriter {
  std::string operator()(const Heading& block) const { return "## " + escaped(block.text) + "\n"; }
  std::string operator()(const Appendix& block) const { return "# " + escaped(block.title) + "\n"; }
  std::string operator()(const Paragraph& block) const { return escaped(block.text) + "\n"; }
  std::string operator()(const Highlight& block) const { return "> **" + escaped(block.text) + "**\n"; }
  std::string operator()(const Listing& block) const {
    std::string text;
    for (const std::string& item : block.items) text += "- " + escaped(item) + "\n";
    return text;
  }
  std::string operator()(const Table& block) const {
    std::string text;
    for (std::size_t i = 0; i < block.rows.size(); ++i) {
      text += "|";
      for (const std::string& cell : block.rows[i]) text += " " + cell_of(cell) + " |";
      text += "\n";
      if (i > 0) continue;
      text += "|";
      for (std::size_t k = 0; k < block.rows[i].size(); ++k) text += "---|";
      text += "\n";
    }
    return text;
  }
  std::string operator()(const Verbatim& block) const { return fenced(block.text, block.language); }
  std::string operator()(const Gallery& block) const {
    std::string text;
    for (const Figure& figure : block.figures)
      for (const Picture& panel : figure.panels) text += (text.empty() ? "" : "\n") + fenced(to_terminal(panel), "text");
    return text;
  }
};

}  // namespace

std::string as_code(const std::string& text) {
  std::string clean = printable(text);
  std::replace(clean.begin(), clean.end(), '`', '\'');
  return "`" + clean + "`";
}

std::string to_markdown(const Document& document) {
  std::string text = "# " + escaped(document.title) + "\n";
  for (const Block& block : document.blocks) text += "\n" + std::visit(MarkdownWriter{}, block);
  return text;
}

}  // namespace tradeoff::detail::report
