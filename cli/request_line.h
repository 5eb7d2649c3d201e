// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ask/request.h"

namespace tradeoff::cli {

/// One line of JSON as it was read, before its question is known. Numbers stay text: they are exact decimals.
struct RequestLine {
  struct Member {
    std::string name;  ///< a member of an object is `object.member`, as in `target.epsilon`
    std::string text;
    std::size_t offset = 0;  ///< where it stands in the line
    bool is_string = false;
  };

  std::string id = "null";  ///< JSON, given back as it came
  std::vector<Member> members;

  [[nodiscard]] const Member* find(std::string_view name) const {
    for (const Member& member : members) {
      if (member.name == name) return &member;
    }
    return nullptr;
  }
};

/// Reads one line of JSON. On a fault throws RequestError of kind `parse`, after filling in `line.id` if it could be read.
/// Refused: what is not JSON, duplicate keys, nesting deeper than 64, NUL, a byte order mark, numbers like 1e400.
void read_line(std::string_view text, RequestLine& line);

/// The request that the line makes: its question by the name in `ask`, and its members as fields.
[[nodiscard]] ask::Request to_request(const RequestLine& line, ask::CurveCache& curves);

}  // namespace tradeoff::cli
