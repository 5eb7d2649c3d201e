// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <vector>

namespace tradeoff::detail::test {

namespace detail {

/// Whether every & of the text begins one of the entities that XML has by itself.
inline bool has_known_entities(const std::string& text) {
  for (std::size_t at = text.find('&'); at != std::string::npos; at = text.find('&', at + 1)) {
    bool known = false;
    for (const char* entity : {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"})
      known = known || text.compare(at, std::string(entity).size(), entity) == 0;
    if (!known) return false;
  }
  return true;
}

/// The name of the element if the inside of a start tag is well formed: name, then name="value" without < in it.
inline std::string element_name(const std::string& tag) {
  const auto is_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == ':'; };
  std::size_t i = 0;
  while (i < tag.size() && is_name(tag[i])) ++i;
  const std::string name = tag.substr(0, i);
  while (i < tag.size()) {
    if (tag[i++] != ' ') return {};
    const std::size_t start = i;
    while (i < tag.size() && is_name(tag[i])) ++i;
    if (i == start || tag.compare(i, 2, "=\"") != 0) return {};
    const std::size_t end = tag.find('"', i + 2);
    if (end == std::string::npos || tag.substr(i, end - i).find('<') != std::string::npos) return {};
    i = end + 1;
  }
  return name;
}

}  // namespace detail

/// Checks the part of XML that we write: one root, tags that close in order, quoted attributes, known entities, no control characters.
inline testing::AssertionResult is_well_formed(const std::string& xml) {
  std::vector<std::string> open;
  bool closed_root = false;
  for (std::size_t at = 0; at < xml.size();) {
    if (static_cast<unsigned char>(xml[at]) < 0x20 && xml[at] != '\n') return testing::AssertionFailure() << "control character at " << at;
    if (xml[at] == '>') return testing::AssertionFailure() << "stray > at " << at;
    if (xml[at] != '<') {
      if (open.empty() && xml[at] != '\n') return testing::AssertionFailure() << "text outside the root at " << at;
      ++at;
      continue;
    }
    std::size_t end = at;  // a > inside quotes does not end the tag
    for (bool quoted = false; end < xml.size() && (quoted || xml[end] != '>'); ++end) quoted = quoted != (xml[end] == '"');
    if (end == xml.size()) return testing::AssertionFailure() << "unfinished tag at " << at;
    std::string tag = xml.substr(at + 1, end - at - 1);
    if (closed_root) return testing::AssertionFailure() << "a second root: " << tag;
    if (tag[0] == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return testing::AssertionFailure() << "closes what is not open: " << tag;
      open.pop_back();
      closed_root = open.empty();
    } else {
      const bool empty = tag.back() == '/';
      if (empty) tag.pop_back();
      const std::string name = detail::element_name(tag);
      if (name.empty()) return testing::AssertionFailure() << "malformed tag: " << tag;
      if (!empty) open.push_back(name);
    }
    at = end + 1;
  }
  if (!open.empty() || !closed_root) return testing::AssertionFailure() << "not closed";
  if (!detail::has_known_entities(xml)) return testing::AssertionFailure() << "unknown entity";
  return testing::AssertionSuccess();
}

}  // namespace tradeoff::detail::test
