// SPDX-License-Identifier: Apache-2.0
#include "page_text.h"

#include <algorithm>

#include "report/label.h"

namespace tradeoff::detail::cli {
namespace {

/// `[text](address)` becomes `text`, and `**text**` becomes `text`.
std::string without_marks(std::string_view line) {
  std::string plain;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t middle = line[at] == '[' ? line.find("](", at) : std::string_view::npos;
    const std::size_t end = middle == std::string_view::npos ? middle : line.find(')', middle);
    if (end != std::string_view::npos && line.substr(at + 1, middle - at - 1).find('[') == std::string_view::npos) {
      plain.append(line.substr(at + 1, middle - at - 1));
      at = end + 1;
    } else if (line.substr(at, 2) == "**") {
      at += 2;
    } else {
      plain += line[at++];
    }
  }
  return plain;
}

/// The length of the mark that starts a list item, `* ` or `12. `; 0 if there is none.
std::size_t mark_of(std::string_view line) {
  if (line.starts_with("* ") || line.starts_with("- ")) return 2;
  const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  return digits > 0 && line.substr(digits, 2) == ". " ? digits + 2 : 0;
}

class Setter {
 public:
  void add(std::string_view line) {
    const std::size_t blanks = line.find_first_not_of(' ');
    if (blanks == std::string_view::npos) {
      finish();
      blank();
      return;
    }
    const std::string_view words = line.substr(blanks);
    if (words.starts_with("```")) {
      finish();
      is_code_ = !is_code_;
    } else if (is_code_) {
      text_.append("    ").append(line).append("\n");
    } else if (words.starts_with("#")) {
      finish();
      text_ += without_marks(words.substr(std::min(words.find_first_not_of("# "), words.size()))) + ":\n";
    } else if (words.starts_with("| ") && words.ends_with(" |")) {
      finish();
      text_ += "  " + report::wrapped(without_marks(words.substr(2, words.size() - 4)), 6, 2);
    } else if (words.starts_with("|--")) {
      return;
    } else if (blanks >= indent_ + 4) {  // a formula
      finish();
      text_ += std::string(indent_ + 4, ' ') + report::wrapped(words, indent_ + 8, indent_ + 4);
    } else if (const std::size_t mark = mark_of(words); mark > 0) {
      finish();
      if (blanks == 0) outer_ = mark;
      indent_ = blanks == 0 ? mark : outer_ + mark;
      text_ += std::string(indent_ - mark, ' ') + std::string(words.substr(0, mark));
      paragraph_ = words.substr(mark);
      is_item_ = true;
    } else {
      if (blanks == 0 && paragraph_.empty()) indent_ = 0;
      paragraph_.append(paragraph_.empty() ? "" : " ").append(words);
    }
  }

  std::string take() {
    finish();
    blank();
    return std::move(text_);
  }

 private:
  void finish() {
    if (paragraph_.empty()) return;
    text_ += (is_item_ ? "" : std::string(indent_, ' ')) + report::wrapped(without_marks(paragraph_), indent_, indent_);
    paragraph_.clear();
    is_item_ = false;
  }
  void blank() {
    if (!text_.empty() && !text_.ends_with("\n\n")) text_ += "\n";
  }

  std::string text_, paragraph_;
  std::size_t indent_ = 0;  // of the list item
  std::size_t outer_ = 0;   // of the list item around it
  bool is_item_ = false;    // the mark of the item is set already
  bool is_code_ = false;
};

}  // namespace

std::string set_page(std::string_view markdown) {
  Setter setter;
  for (std::size_t from = 0; from < markdown.size();) {
    const std::size_t end = std::min(markdown.find('\n', from), markdown.size());
    setter.add(markdown.substr(from, end - from));
    from = end + 1;
  }
  return setter.take();
}

}  // namespace tradeoff::detail::cli
