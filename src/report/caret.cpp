// SPDX-License-Identifier: Apache-2.0
#include "report/caret.h"

#include <algorithm>

namespace tradeoff::report {
namespace {

constexpr std::size_t reach = 50;  // bytes shown on either side: with the indent it fits a wide terminal

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

std::string point_at(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  const std::size_t newline_before = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  const std::size_t line_begin = newline_before == std::string_view::npos ? 0 : newline_before + 1;
  const std::size_t line_end = std::min(text.find('\n', offset), text.size());
  std::size_t begin = offset - line_begin > reach ? offset - reach : line_begin;
  while (begin < offset && continues_character(text[begin])) ++begin;
  std::size_t end = line_end - offset > reach ? offset + reach : line_end;
  while (end > offset && end < line_end && continues_character(text[end])) --end;

  std::string shown;
  std::string padding;
  for (std::size_t i = begin; i < end; ++i) {
    const bool control = static_cast<unsigned char>(text[i]) < 0x20 || text[i] == 0x7F;
    shown += control ? ' ' : text[i];
    if (i < offset && !continues_character(text[i])) padding += ' ';
  }
  return "  " + shown + "\n  " + padding + "^\n";
}

}  // namespace tradeoff::report
