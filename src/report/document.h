// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "report/picture.h"

// A page of text, tables and pictures that can be written as Markdown or as HTML. In running text `code` is in backquotes.
namespace tradeoff::detail::report {

struct Heading {
  std::string text;
};
/// What follows is for those who check; it starts a new page in print.
struct Appendix {
  std::string title;
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
/// Text to be copied verbatim; `language` may be empty.
struct Verbatim {
  std::string text;
  std::string language;
};
/// Pictures side by side if there is room; Markdown shows them as characters.
struct Gallery {
  std::vector<Figure> figures;
};

using Block = std::variant<Heading, Appendix, Paragraph, Highlight, Listing, Table, Verbatim, Gallery>;

struct Document {
  std::string title;
  std::vector<Block> blocks;
};

/// Makes untrusted text safe for running text: removes control characters and backquotes.
[[nodiscard]] std::string as_code(const std::string& text);

[[nodiscard]] std::string to_markdown(const Document& document);
/// A self-contained file: no scripts, fonts or links. Light or dark by the reader's preference; light in print.
[[nodiscard]] std::string to_html(const Document& document);

}  // namespace tradeoff::detail::report
