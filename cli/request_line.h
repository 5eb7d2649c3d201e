// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ask/request.h"

namespace tradeoff::detail::cli {

/// One line of JSON as it was read, before its question is known. Numbers stay text: they are exact decimals.
struct RequestLine {
  struct Member {
    std::string name;  ///< a member of an object is `object.member`, as in `target.epsilon`
    std::string text;
    std::size_t offset = 0;  ///< byte offset in the line
    bool is_string = false;
  };

  std::string id = "null";  ///< JSON text, repeated unchanged in the answer
  std::vector<Member> members;

  [[nodiscard]] const Member* find(std::string_view name) const {
    for (const Member& member : members) {
      if (member.name == name) return &member;
    }
    return nullptr;
  }
};

/// Reads one line of JSON. On an error it throws RequestError of kind `parse`, after setting `line.id` if that could be read. It refuses
/// invalid JSON, duplicate keys, nesting deeper than 64, NUL, a byte order mark, and numbers like 1e400.
void read_line(std::string_view text, RequestLine& line);

/// Makes a request from the line: the name in `ask` selects the question, the other members become its fields.
[[nodiscard]] ask::Request to_request(const RequestLine& line, ask::CurveCache& curves);

}  // namespace tradeoff::detail::cli
