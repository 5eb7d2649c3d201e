// SPDX-License-Identifier: Apache-2.0
#include "report/label.h"

#include <algorithm>
#include <array>

namespace tradeoff::detail::report {

std::string printable(const std::string& text) {
  std::string clean;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t size = byte < 0x80                   ? 1
                             : byte >= 0xC2 && byte < 0xE0 ? 2
                             : (byte & 0xF0U) == 0xE0      ? 3
                             : byte >= 0xF0 && byte < 0xF5 ? 4
                                                           : 0;
    unsigned code = size == 1 ? byte : size == 0 ? 0 : byte & (0xFFU >> (size + 1));
    bool whole = size != 0 && i + size <= text.size();
    for (std::size_t k = 1; whole && k < size; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      whole = (next & 0xC0U) == 0x80;
      code = (code << 6U) | (next & 0x3FU);
    }
    static constexpr std::array<unsigned, 5> least = {0, 0, 0x80, 0x800, 0x10000};  // longer encodings of the same character are not UTF-8
    const bool surrogate = code >= 0xD800 && code < 0xE000;
    const bool control = code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0xFFFE || code == 0xFFFF;
    if (whole && code >= least[size] && code < 0x110000 && !surrogate && !control) {
      clean.append(text, i, size);
      i += size;
    } else {
      clean += byte == '\n' || byte == '\t' ? ' ' : '?';
      ++i;
    }
  }
  return clean;
}

std::string printable_lines(const std::string& text) {
  std::string clean;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    clean += printable(text.substr(from, end - from)) + (end < text.size() ? "\n" : "");
    from = end + 1;
  }
  return clean;
}

std::size_t length_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
}

std::string shortened(const std::string& text, std::size_t most) {
  if (length_of(text) <= most) return text;
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80 && ++characters == std::max<std::size_t>(most, 1))
      return text.substr(0, i) + "…";
  }
  return text;
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t used) {
  constexpr std::size_t terminal_columns = 80;
  std::string lines;
  std::size_t column = used;
  bool line_is_empty = true;
  for (std::size_t at = text.find_first_not_of(" \n"); at != std::string_view::npos; at = text.find_first_not_of(" \n", at)) {
    const std::string_view word = text.substr(at, text.find_first_of(" \n", at) - at);
    const std::size_t length = length_of(std::string(word));
    at += word.size();
    if (!line_is_empty && column + 1 + length > terminal_columns) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
      line_is_empty = true;
    }
    lines.append(line_is_empty ? "" : " ").append(word);
    column += length + (line_is_empty ? 0 : 1);
    line_is_empty = false;
  }
  return lines + "\n";
}

}  // namespace tradeoff::detail::report
