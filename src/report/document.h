// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "report/picture.h"

// A page of text, tables and pictures, said once; it is written as Markdown or as HTML. In running text `code` stands in backquotes.
namespace tradeoff::report {

struct Heading {
  std::string text;
};
struct Paragraph {
  std::string text;
};
/// A sentence that the page emphasises.
struct Highlight {
  std::string text;
};
struct Listing {
  std::vector<std::string> items;
};
/// The first row names the columns.
struct Table {
  std::vector<std::vector<std::string>> rows;
};
/// Text to be copied as it is; `language` may be empty.
struct Verbatim {
  std::string text;
  std::string language;
};
/// Pictures side by side where there is room; a picture in Markdown is drawn with characters.
struct Gallery {
  std::vector<Figure> figures;
};

using Block = std::variant<Heading, Paragraph, Highlight, Listing, Table, Verbatim, Gallery>;

struct Document {
  std::string title;
  std::vector<Block> blocks;
};

/// Text of strangers as it may stand in running text: without control characters and backquotes.
[[nodiscard]] std::string as_code(const std::string& text);

[[nodiscard]] std::string to_markdown(const Document& document);
/// One file that needs no other: no scripts, no fonts, no links. Light or dark as the reader prefers, light on paper.
[[nodiscard]] std::string to_html(const Document& document);

}  // namespace tradeoff::report
